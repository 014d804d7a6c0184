"""The contract: every rule is broken by a bad processor and found, and the built-in processors keep them all."""

from __future__ import annotations

import itertools
import json
import re
import time
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
from pydantic import PrivateAttr, ValidationError

from elision import Address, Edit, Operation, Processor, Replace, Stage, Text, View, processor_types
from elision.testing import check_processor

COUNTER = itertools.count()
SEEN: set[str] = set()


class Careful(Processor):
    """Keeps only the last line of tracebacks in old observations."""

    operation: ClassVar[Operation] = "truncate"
    type: Literal["careful"] = "careful"
    keep_last: int = 2

    def plan(self, view: View) -> Iterator[Edit]:
        for observation in view.older_observations(keep_last=self.keep_last):
            if "Traceback" in observation.text:
                yield observation.replace(observation.text.rstrip().rsplit("\n", 1)[-1])


class Entry(Processor):
    stage: ClassVar[Stage] = "entry"
    operation: ClassVar[Operation] = "truncate"

    def plan(self, view: View) -> Iterable[Edit]:
        for observation in view.observations:
            if len(observation.text) > 100:
                yield observation.replace(self.shorter(observation.text))

    def shorter(self, text: str) -> str:
        raise NotImplementedError


class ChangesTheHostsMessages(Entry):
    def plan(self, view: View) -> Iterable[Edit]:
        for message in view.messages:
            message.message.raw["content"] = "mine"
        return []


class Raises(Entry):
    def plan(self, view: View) -> Iterable[Edit]:
        return [view.tag(observation, "x") for observation in view.observations if observation.call.arguments["path"]]  # type: ignore[union-attr,index]


class Counts(Entry):
    def shorter(self, text: str) -> str:
        return f"cleared, number {next(COUNTER)}"


class ReadsTheClock(Entry):
    def shorter(self, text: str) -> str:
        return f"cleared at {time.time_ns()}"


class Remembers(Entry):
    def plan(self, view: View) -> Iterable[Edit]:
        for observation in view.observations:
            if len(observation.text) > 100 and observation.text not in SEEN:
                SEEN.add(observation.text)
                yield observation.replace("seen")


class RemembersUntilItIsMadeAnew(Entry):
    _asked: list[int] = PrivateAttr(default_factory=list)

    def plan(self, view: View) -> Iterable[Edit]:
        self._asked.append(1)
        if len(self._asked) % 2:
            yield from super().plan(view)

    def shorter(self, text: str) -> str:
        return "even"


class DiffersFromItsTwin(Entry):
    _number: int = 0

    def model_post_init(self, context: Any) -> None:
        object.__setattr__(self, "_number", next(COUNTER))

    def shorter(self, text: str) -> str:
        return f"by number {self._number}"


class NoticesGrowth(Entry):
    stage: ClassVar[Stage] = "request"
    _last: list[int] = PrivateAttr(default_factory=lambda: [0])

    def plan(self, view: View) -> Iterable[Edit]:
        grown = 0 < self._last[0] < len(view.messages)
        self._last[0] = len(view.messages)
        if grown:
            yield from super().plan(view)

    def shorter(self, text: str) -> str:
        return "grown"


class Grows(Entry):
    def shorter(self, text: str) -> str:
        return f"{text} (end)"


class CutsInHalfEachTime(Entry):
    def shorter(self, text: str) -> str:
        return text[: len(text) // 2]


class PartsAStep(Entry):
    stage: ClassVar[Stage] = "request"

    def plan(self, view: View) -> Iterable[Edit]:
        given = view.host_messages()
        return view.edits_from(given, [message for message in given if message["role"] != "tool"])


class EditsTheUser(Entry):
    def plan(self, view: View) -> Iterable[Edit]:
        return [p.replace("") for m in view.messages if m.role == "user" for p in m.parts if not p.is_result]


class PointsNowhere(Entry):
    def plan(self, view: View) -> Iterable[Edit]:
        return [Replace(Address(10**6, 0), (Text(""),))]


class SaysNotWhatItDoes(Entry):
    operation: ClassVar[Operation] = "none"

    def shorter(self, text: str) -> str:
        return "short"


BAD = {
    ChangesTheHostsMessages: "input_untouched",
    Raises: "does_not_raise",
    Counts: "pure",
    ReadsTheClock: "pure",
    Remembers: "pure",
    RemembersUntilItIsMadeAnew: "pure",
    DiffersFromItsTwin: "deterministic",
    Grows: "never_grows",
    NoticesGrowth: "session_equals_stateless",
    CutsInHalfEachTime: "idempotent",
    PartsAStep: "step_is_atomic",
    EditsTheUser: "touches_declared",
    PointsNowhere: "within_reach",
    SaysNotWhatItDoes: "declares_operation",
}


@cache
def told_of(bad: type[Processor]) -> str:
    """Return what is said of a bad processor."""
    SEEN.clear()
    with pytest.raises(AssertionError) as caught:
        check_processor(bad)
    return str(caught.value)


@pytest.mark.parametrize(("bad", "rule"), BAD.items(), ids=lambda value: getattr(value, "__name__", value))
def test_a_bad_processor_is_found_and_the_rule_named(bad: type[Processor], rule: str) -> None:
    assert told_of(bad).startswith(f"{bad.__name__} breaks the contract: {rule}: ")


def test_the_message_ends_with_a_small_history() -> None:
    said = told_of(Grows)
    history = json.loads(said.split("smallest history (openai):\n")[1])

    assert re.search(r"it would put \d+ characters where it found \d+", said)
    assert len(history) <= 6


SHOWN: list[tuple[type[Processor], str, str, str]] = [
    (CutsInHalfEachTime, "sent first", "sent then", "leave it as it is"),
    (DiffersFromItsTwin, "by the first", "by the new one", "from the view and the options alone"),
    (Counts, "the first time", "the second time", "keeps no state"),
    (NoticesGrowth, "all at once", "step by step", "not from how often it is asked"),
]


@pytest.mark.parametrize(("bad", "one", "other", "asked"), SHOWN, ids=lambda value: getattr(value, "__name__", ""))
def test_where_views_are_compared_the_first_message_that_differs_is_shown(
    bad: type[Processor], one: str, other: str, asked: str
) -> None:
    told, place, *both = told_of(bad).split("\nsmallest history")[0].splitlines()
    before, after = (line.strip() for line in both)

    assert asked in told
    assert re.fullmatch(r"message \d+ of the view is the first that differs:", place)
    assert before.startswith(f"{one}: ")
    assert after.startswith(f"{other}: ")
    assert before.partition(": ")[2] != after.partition(": ")[2]
    assert max(len(before), len(after)) < 250


def test_a_careful_processor_keeps_the_contract() -> None:
    check_processor(Careful, max_examples=5, keep_last=1)


BUILT_IN: list[tuple[str, dict[str, Any]]] = [
    ("cache_control", {"last_n_messages": 3}),
    ("clear_tool_results", {"keep": 1, "placeholder": "head", "head_chars": 20}),
    ("closed_window", {}),
    ("default", {}),
    ("image_parsing", {}),
    ("last_n_observations", {"n": 2, "polling": 2}),
    ("remove_regex", {}),
    ("tag_tool_call_observations", {"function_names": {"bash"}}),
]


@pytest.mark.parametrize(("name", "options"), BUILT_IN, ids=[name for name, _ in BUILT_IN])
def test_the_built_in_processors_keep_the_contract(name: str, options: dict[str, Any]) -> None:
    check_processor(processor_types()[name], max_examples=5, **options)


class ElidesInItsOwnWords(Processor):
    operation: ClassVar[Operation] = "clear"
    type: Literal["elides_in_its_own_words"] = "elides_in_its_own_words"

    def plan(self, view: View) -> Iterator[Edit]:
        for observation in view.older_observations(keep_last=0):
            yield observation.elide("[{{ lines }} lines are gone]")


def test_a_placeholder_of_its_own_is_known_in_a_new_run_with_the_same_archive() -> None:
    check_processor(ElidesInItsOwnWords, max_examples=5)


def test_trying_a_processor_leaves_no_archive_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ELISION_ARCHIVE")
    monkeypatch.chdir(tmp_path)
    check_processor(ElidesInItsOwnWords, max_examples=2)

    assert list(tmp_path.iterdir()) == []


def test_wrong_options_are_told_at_once() -> None:
    with pytest.raises(ValidationError, match="keep_first"):
        check_processor(Careful, keep_first=1)
