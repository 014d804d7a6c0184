"""``elision.check``: canaries of every class, followed from the original to what is sent and what is recalled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
from guarded import planned

import elision
from elision import Archive, Chain, CheckReport, Edit, Image, Operation, Processor, Replace, Stage, View
from elision.archive.content import Blob
from elision.archive.sqlite import SqliteStore
from elision.classification import load_table
from elision.config import shipped_chains
from elision.registry import plugins


def cut(view: View, tools: str = "") -> Iterator[Edit]:
    """Blank the middle of each result, of one tool or of all."""
    for observation in view.observations:
        if tools in (observation.call.name if observation.call else "") and len(observation.text) > 200:
            yield observation.replace(f"{observation.text[:80]} … {observation.text[-80:]}")


def lost(report: CheckReport) -> set[tuple[str, str]]:
    return {(fate.of, fate.where) for fate in report.fates if fate.state == "lost"}


def states(report: CheckReport, of: str) -> set[str]:
    return {fate.state for fate in report.fates if fate.of == of}


@cache
def checked(name: str) -> CheckReport:
    return elision.check(elision.load(name))


@pytest.mark.parametrize("name", list(shipped_chains()))
def test_every_shipped_chain_passes(name: str) -> None:
    report = checked(name)

    assert (report.problems, report.warnings) == ((), ())
    assert report.passed


def test_what_truncation_spares_clearing_spares_too() -> None:
    chain = elision.loads("""
        history_processors:
          - {type: remove_regex, remove: ["<diff>.*?</diff>"]}
          - type: closed_window
          - {type: last_n_observations, n: 3}
    """)
    report = elision.check(chain)

    for of in ("receipt", "skill", "error", "error, receipt", "input", "unknown", "task message", "open step"):
        assert states(report, of) == {"kept"}
    for of in ("static", "dynamic", "error, resolved"):
        assert states(report, of) == {"removed"}
    by = {(fate.where, fate.by) for fate in report.fates if fate.of == "static"}
    assert by == {
        ("head", "last_n_observations (clear)"),
        ("middle", "remove_regex (truncate)"),
        ("tail", "last_n_observations (clear)"),
    }
    assert report.passed


def test_a_processor_that_cuts_receipts_under_another_name_is_found() -> None:
    report = elision.check(Chain([planned(lambda view: cut(view, "create_issue"), stage="entry", operation="redact")]))

    assert lost(report) == {("receipt", "middle"), ("error, receipt", "middle")}
    (line, *_) = [line for line in report.problems if line.startswith("receipt")]
    ref = next(fate.ref for fate in report.fates if fate.of == "receipt" and fate.where == "middle")
    assert line == (
        "receipt, middle, step 5 (openai, anthropic): planned (redact) took it out: the operation 'redact' takes out "
        f"nothing but secrets; ref {ref}; declare what it does to a result (truncate, clear …), so that the table is "
        "asked"
    )
    assert not report.passed


def test_a_cut_that_is_passed_off_as_a_change_of_form_is_refused_so_that_nothing_is_lost() -> None:
    def picture(view: View) -> Iterator[Edit]:
        for edit in cut(view, "create_issue"):
            assert isinstance(edit, Replace)
            yield replace(edit, content=(*edit.content, Image("data:image/png;base64,iVBORw0KGgo=")))

    report = elision.check(Chain([planned(picture, stage="entry", operation="convert")]))

    assert not lost(report)
    assert report.passed


@pytest.mark.parametrize(("operation", "passes"), [("truncate", True), ("convert", True), ("redact", False)])
def test_the_middle_of_an_open_error_stays_whatever_its_processor_says_that_it_does(
    operation: Operation, passes: bool
) -> None:
    plan = planned(lambda view: cut(view, "run_tests"), stage="history", operation=operation)
    report = elision.check(Chain([plan]))

    assert (("error", "middle") in lost(report)) != passes
    assert report.passed == passes


def test_the_processor_that_did_it_is_named_among_others() -> None:
    def guilty(view: View) -> Iterable[Edit]:
        return cut(view, "load_skill")

    honest = elision.loads("history_processors: [{type: image_parsing}, {type: last_n_observations, n: 3}]").processors
    report = elision.check(Chain([honest[0], planned(guilty, stage="entry", operation="redact"), honest[1]]))

    assert {(fate.of, fate.by) for fate in report.fates if fate.state == "lost"} == {("skill", "planned (redact)")}


class LosesBytes(SqliteStore):
    """A store that keeps every record, and of each original half."""

    def blob(self, sha256: str) -> Blob | None:
        found = super().blob(sha256)
        return replace(found, data=found.data[: len(found.data) // 2]) if found else None


def test_an_archive_that_loses_bytes_is_found() -> None:
    report = elision.check(elision.load("last_n_observations"), archive=Archive(LosesBytes(None)))

    assert {of for of, _ in lost(report)} == {"static", "dynamic", "recalled", "error, resolved"}
    assert "it cannot be recalled (archive: " in report.problems[0]
    assert " is damaged (" in report.problems[0]


class ForgetsAll(SqliteStore):
    """A store that answers with an original that it was never given."""

    def blob(self, sha256: str) -> Blob | None:
        from elision.archive.content import compressed

        given = super().blob(sha256)
        other = Archive(SqliteStore(None)).sealed("something else")
        return compressed(other) if given else None


def test_an_archive_that_gives_back_other_bytes_is_found() -> None:
    report = elision.check(elision.load("last_n_observations"), archive=Archive(ForgetsAll(None)))

    assert "recalled bytes differ (sha256 " in report.problems[0]


def test_a_table_that_lets_receipts_go_is_warned_of_and_they_need_only_come_back() -> None:
    table = {"extends": "default", "classes": {"receipt": {"cells": {"clear": "allow"}}}}
    processors = elision.load("last_n_observations").processors
    report = elision.check(Chain(processors, classification=table))

    assert report.passed
    assert states(report, "receipt") == {"removed"}
    (warning,) = report.warnings
    assert warning == (
        "the table '<table>' lets 'clear' remove a receipt (allow): the only record that something was done; "
        "write 'never' there to keep it"
    )


def test_classes_of_the_users_own_are_tried_with_calls_that_their_rules_describe() -> None:
    table = {
        "extends": "default",
        "classes": {
            "order": {"cells": {"clear": "never"}},
            "chart": {"cells": {"clear": {"after_steps": 9}}},
            "ghost": {"cells": {"clear": "allow"}},
        },
        "rules": [
            {"tool": "shop_{buy,order}*", "arguments": {"{sku,item}": {"regex": r"^[A-Z]{2}\d+$"}}, "class": "order"},
            {"tool": "plot*", "annotations": {"readOnlyHint": True}, "class": "chart"},
        ],
    }
    report = elision.check(Chain(elision.load("last_n_observations").processors, classification=table))

    assert (states(report, "order"), states(report, "chart")) == ({"kept"}, {"removed"})
    (chart,), (static,) = (
        {fate.step for fate in report.fates if fate.of == name and fate.step} for name in ("chart", "static")
    )
    assert chart > static + 9
    assert "ghost: not tried: no rule leads to it" in report.notes
    assert report.passed


@pytest.mark.parametrize("name", list(plugins().tables()))
def test_of_each_table_that_ships_every_class_with_a_rule_is_tried(name: str) -> None:
    report = elision.check(Chain(elision.load("last_n_observations").processors, classification=name))
    table = load_table(name)
    given = {each for rule in table.rules for each in rule.classes}
    tried = {fate.of for fate in report.fates}

    assert given <= tried | {"error"}
    assert report.passed


def test_without_a_table_only_what_the_guard_keeps_must_be_kept() -> None:
    chain = Chain(elision.load("last_n_observations").processors, classification="none")
    report = elision.check(chain)

    assert report.passed
    assert states(report, "receipt") == {"removed"}
    assert report.notes[0] == ("classification: none: nothing must be kept but system prompt, task message, open step")


def test_in_a_sweagent_config_what_its_own_processors_remove_need_only_come_back() -> None:
    chain = elision.loads("agent: {history_processors: [{type: last_n_observations, n: 3}]}")
    report = elision.check(chain)

    assert report.passed
    assert report.dialects == ("openai", "anthropic", "sweagent")
    assert states(report, "receipt") == {"removed"}
    assert report.notes[0].startswith("compat: sweagent: these ask no table, ")


def test_with_archive_none_nothing_goes() -> None:
    chain = elision.loads("{history_processors: [{type: last_n_observations, n: 3}], archive: none}")
    report = elision.check(replace(chain, archive=elision.open_archive("none", environ={})))

    assert {fate.state for fate in report.fates} == {"kept"}
    assert {fate.by for fate in report.fates if fate.of == "static"} == {"archived_first refused last_n_observations"}


def test_the_task_must_be_kept_by_a_processor_that_may_touch_it_too() -> None:
    def shorten(view: View) -> Iterator[Edit]:
        for part in view.message(1 if view.message(0).role == "system" else 0).parts:
            yield part.replace(part.text[:20])

    plan = planned(shorten, stage="request", operation="truncate", touches=frozenset({"user"}))
    report = elision.check(Chain([plan]))

    assert {of for of, _ in lost(report)} == {"task message"}
    assert "took it out: the task message is always kept; " in report.problems[0]


def test_a_processor_that_never_proposed_an_edit_is_named() -> None:
    report = elision.check(Chain([planned(lambda _: [], operation="clear")]))

    assert report.passed
    (warning,) = report.warnings
    assert warning == (
        "planned never proposed an edit in this conversation, so nothing is known of it; "
        "add a history in which it does to 'tests:'"
    )


@pytest.mark.parametrize(
    "processor",
    [
        "{type: tag_tool_call_observations, function_names: [fetch_rates]}",
        r"{type: remove_regex, remove: ['DEBUG \[\d{4}\] .*?END', '(?i)trace: (?:on|off)+']}",
        "{type: last_n_observations, n: 20, polling: 15}",
        "{type: image_parsing}",
        "{type: redact}",
    ],
)
def test_the_conversation_has_what_a_processor_waits_for(processor: str) -> None:
    report = elision.check(elision.loads(f"history_processors: [{processor}]"))

    assert report.warnings == ()
    assert report.passed


def test_what_a_policy_withholds_is_said_and_is_not_lost() -> None:
    report = elision.check(elision.loads("history_processors: [{type: redact, policy: full}]"))

    assert report.passed
    assert states(report, "receipt") == {"withheld"}
    assert report.warnings == ("redact (redact) withholds whole results (policy full), whatever their class",)


def test_what_the_stored_policy_left_out_is_said_not_to_come_back() -> None:
    report = elision.check(
        replace(elision.load("last_n_observations"), archive=elision.open_archive("memory:", stored="full", environ={}))
    )

    assert report.passed
    assert report.warnings == (
        "stored_policy: full keeps nothing of an original, so what is removed does not come back",
    )


def test_a_processor_that_raises_fails_the_check() -> None:
    def broken(_: View) -> Iterable[Edit]:
        raise KeyError("tool")

    report = elision.check(Chain([planned(broken)]))

    assert report.problems[0] == (
        "openai: planned raised KeyError: 'tool'; its new edits are left out of the request "
        "(on_error: raise shows where)"
    )


class Forgetful(Processor):
    """Clears a result every other time that it is asked."""

    stage: ClassVar[Stage] = "request"
    operation: ClassVar[Operation] = "clear"
    asked: ClassVar[list[int]] = []

    type: Literal["forgetful"] = "forgetful"

    def plan(self, view: View) -> Iterator[Edit]:
        self.asked.append(0)
        for observation in view.observations[:1]:
            if len(self.asked) % 2:
                yield observation.elide()


def test_a_processor_that_keeps_state_fails_the_check() -> None:
    Forgetful.asked.clear()
    report = elision.check(Chain([Forgetful()], dialect="openai"))

    assert report.problems == (
        "openai: a fresh process sends another view of the same history: message 3 differs; plan must keep no state",
    )


def test_the_chains_own_archive_is_never_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ELISION_ARCHIVE")
    folder = tmp_path / "archive"
    report = elision.check(replace(elision.load("last_n_observations"), archive=elision.open_archive(folder)))

    assert report.passed
    assert not folder.exists()


def test_the_archive_that_is_named_is_tried(tmp_path: Path) -> None:
    folder = tmp_path / "tried"
    report = elision.check(elision.load("last_n_observations"), archive=str(folder))
    ref = next(fate.ref for fate in report.fates if fate.state == "removed")

    with elision.open_archive(folder, environ={}) as archive:
        assert "canary-" in elision.recall(ref, archive=archive).text
        assert archive.verify().clean


def test_a_chain_of_one_dialect_is_tried_in_that_one(chain: Any) -> None:
    report = elision.check(chain("{history_processors: [{type: last_n_observations, n: 3}], dialect: miniswe}"))

    assert (report.dialects, report.passed) == (("miniswe",), True)
    assert states(report, "error") == {"kept"}


def test_two_checks_find_the_same() -> None:
    assert elision.check(elision.load("default")) == checked("default")
