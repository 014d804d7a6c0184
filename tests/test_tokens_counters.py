"""Plugins count for the models they know; each text is counted once, however often a history is read."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from importlib.metadata import entry_points
from itertools import count as numbers
from typing import Any

import pytest

import elision
from elision.registry import load_plugins
from elision.tokens import count_messages, count_part, count_text

NUMBERS = numbers()
LONG = "A line of a result that is longer than what is counted anew each time. " * 8


class Counting:
    """A plugin that counts characters, and writes down what it was asked; it fails on texts with ``fails`` in them."""

    def __init__(self, pattern: str, fails: str = "\0", answer: Any = None) -> None:
        self.pattern = pattern
        self.fails = fails
        self.answer = answer
        self.asked: list[str] = []

    @elision.hookimpl
    def elision_token_counters(self) -> dict[str, Callable[[str], int]]:
        """Offer the counter."""
        return {self.pattern: self.count}

    def count(self, text: str) -> Any:
        """Count characters."""
        self.asked.append(text)
        if self.fails in text:
            raise RuntimeError("no idea")
        return len(text) if self.answer is None else self.answer


@pytest.fixture
def offering(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let plugins be all that is installed besides Elision's own."""

    def offer(*offered: Counting) -> None:
        own = [point for point in entry_points(group="elision") if point.value.startswith("elision.")]
        loaded = load_plugins(own, {})
        for plugin in offered:
            loaded.manager.register(plugin, name=f"acme{next(NUMBERS)}")
        monkeypatch.setattr("elision.registry.plugins", lambda: loaded)

    return offer


def run(steps: int) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for step in range(steps):
        call = {"id": f"call_{step}", "type": "function", "function": {"name": "search", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"call_{step}", "content": f"{step} {LONG}"})
    return messages


def test_a_plugin_counts_for_the_models_that_its_glob_fits(offering: Callable[..., None]) -> None:
    offering(Counting("acme-*"))

    assert [count_text("hello world", model) for model in ("acme-1", "hosted/ACME-2", "other", None)] == [11, 11, 2, 2]


def test_the_most_exact_glob_counts(offering: Callable[..., None]) -> None:
    exact, wide = Counting("acme-mini-*", answer=5), Counting("acme-*")
    offering(wide, exact)

    assert [count_text("hello world", model) for model in ("acme-mini-1", "acme-1")] == [5, 11]


def test_two_counters_of_one_glob_are_an_error_naming_both_plugins(offering: Callable[..., None]) -> None:
    offering(Counting("acme-*"), Counting("ACME-*"))
    with pytest.raises(elision.PluginError) as error:
        count_text("hello", "acme-1")

    assert "both offer 'acme-*' through elision_token_counters; names are unique" in str(error.value)


def test_a_counter_that_raises_is_named_once_and_the_vocabulary_counts_in_its_place(
    offering: Callable[..., None],
) -> None:
    offering(Counting("acme-*", fails="bad"))
    with pytest.warns(elision.ElisionWarning) as told:
        counted = [count_text(text, "acme-1") for text in ("bad news", "more bad news", "good")]

    assert counted == [count_text("bad news", "other"), count_text("more bad news", "other"), 4]
    assert [str(each.message).partition(":")[2] for each in told] == [
        " its token counter 'acme-*' failed (RuntimeError: no idea); tiktoken counts in its place; mend it"
    ]


@pytest.mark.parametrize("answer", [-1, 2.5, "3"])
def test_an_answer_that_is_no_count_is_not_taken(offering: Callable[..., None], answer: Any) -> None:
    offering(Counting("acme-*", answer=answer))
    with pytest.warns(elision.ElisionWarning, match="which is no count"):
        counted = count_text("hello world", "acme-1")

    assert counted == count_text("hello world", "other")


def test_a_counter_is_never_given_half_a_character(offering: Callable[..., None]) -> None:
    plugin = Counting("acme-*")
    offering(plugin)
    count_text("a \ud800 b \ud83d\ude00", "acme-1")

    assert plugin.asked == ["a \ufffd b \U0001f600"]


def test_a_long_text_is_counted_once_in_a_process_however_often_it_comes(offering: Callable[..., None]) -> None:
    plugin = Counting("acme-*")
    offering(plugin)
    messages = run(20)
    for _ in range(5):
        count_messages([copy.deepcopy(messages)], "openai", "acme-1")
    long = [text for text in plugin.asked if len(text) > 200]

    assert sorted(long) == sorted(f"{step} {LONG}" for step in range(20))


def test_a_stateless_host_pays_for_the_new_text_of_each_request_only(offering: Callable[..., None]) -> None:
    plugin = Counting("acme-*")
    offering(plugin)
    chain = elision.loads("{history_processors: [{type: clear_tool_results, keep: 2}], classification: none}")
    messages = run(30)
    views = [chain.process(copy.deepcopy(messages[: 1 + 2 * step]), model="acme-1") for step in range(1, 31)]
    before = [view.tokens.before for view in views]
    originals = [text for text in plugin.asked if text.endswith(LONG)]

    assert sorted(before) == before
    assert sorted(originals) == sorted(f"{step} {LONG}" for step in range(30))


def test_no_byte_of_an_image_is_given_to_a_counter(offering: Callable[..., None]) -> None:
    from token_pictures import encoded, messages, png

    plugin = Counting("acme-*")
    offering(plugin)
    for dialect, message in messages(encoded(png(800, 600), 600_000)).items():
        count_messages([[message]], dialect, "acme-1")

    assert sum(map(len, plugin.asked)) == 0


def test_pathological_texts_reach_a_counter_once_and_whole(offering: Callable[..., None]) -> None:
    plugin = Counting("acme-*")
    offering(plugin)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        counted = [count_part(elision.Text(" " * 200_000), "acme-1") for _ in range(3)]

    assert counted == [200_000] * 3
    assert plugin.asked == [" " * 200_000]


def test_without_a_model_prices_of_the_users_own_do_not_change_what_is_counted() -> None:
    messages = [{"role": "user", "content": "A line of some length. " * 100}]
    counts = [
        elision.Chain([], archive="memory:", profile=profile).process(messages).tokens.before
        for profile in (None, {"prices": {"input": 1, "cache_read": 0.5}}, {"tokens": {"factor": 2}})
    ]

    assert counts[1] == counts[0]
    assert counts[2] == 2 * counts[0]
