"""Which table is asked, what it says of a result with several classes, and who is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from guarded import planned
from table_runs import (
    LONG,
    RECEIPT,
    TOO_FAR,
    begun,
    cleared,
    clearing,
    read,
    refused,
    write,
)

import elision
from elision import Chain, ElisionWarning
from elision.registry import plugins
from elision.testing import Shape, call, result


@pytest.mark.parametrize(
    ("command", "may_go"),
    [
        ("cat a.py", True),
        ("cat a.py && git commit -m x", False),
        ("cat a.py; rm b.py", False),
        ("cat a.py > b.py", False),
        ("cat skills/pdf/SKILL.md", False),
        ("no-such-program", False),
        ("cat a.py | no-such-program", False),
        ("bash -c 'git push'", False),
        ("echo 'git push'", True),
        ("pytest -q", True),
        ("cat <<'EOF' > a.py\nx\nEOF", False),
    ],
)
def test_overlapping_facts_take_the_strictest(command: str, may_go: bool) -> None:
    run = begun().step(call("bash", command=command), result(LONG)).step(*read("a")).step("Done.")
    view = clearing().process(run.messages())

    assert cleared(view) == (["call_1", "call_2"] if may_go else ["call_2"])


def test_a_failed_write_is_error_and_receipt_and_a_failed_read_error_and_static() -> None:
    run = begun("anthropic").step(*write("a", error=True)).step(call("read_file", path="a"), result(LONG, error=True))
    view = Chain([planned(lambda view: [o.replace("x") for o in view.observations])]).process(
        run.step("Done.").messages(), dialect="anthropic"
    )

    assert [(each.classes, each.reason) for each in view.refusals] == [
        (("error", "receipt"), "class receipt: clear never"),
        (("error", "static"), "class error: clear only once the same call has succeeded later"),
    ]


def test_annotations_of_the_request_s_tools_classify_what_no_rule_knows() -> None:
    def tools(shape: Shape, **hints: bool) -> list[Any]:
        known = {"name": "frobnicate", "annotations": hints}
        return [{"type": "function", "function": known}] if shape == "openai" else [known]

    for shape in ("openai", "anthropic"):
        run = begun(shape).step(call("frobnicate"), result(LONG)).step("Done.")
        found = [
            clearing().process(run.messages(), tools=tools(shape, readOnlyHint=hint), dialect=shape)
            for hint in (True, False)
        ]

        assert [cleared(view) for view in found] == [["call_1"], []]
        assert refused(found[1]) == {"call_1": "class receipt: clear never"}


def test_result_text_never_decides_although_a_plugin_classifies() -> None:
    class Knows:
        @elision.hookimpl
        def elision_classify(self, call: Any, meta: Any) -> list[str] | None:
            assert set(meta) == {"status", "annotations"}
            return ["static"] if call.name == "frobnicate" else None

    knows = Knows()
    plugins().manager.register(knows)
    try:
        view = clearing().process(begun().step(call("frobnicate"), result(LONG)).step("Done.").messages())
    finally:
        plugins().manager.unregister(knows)

    assert cleared(view) == ["call_1"]


def test_classification_none_switches_the_table_off_and_nothing_else() -> None:
    run = begun().step(call("create_issue", title="x"), result(RECEIPT)).step(*read("a")).user("And?").step("Done.")
    chain = clearing(classification="none")
    view = chain.process(run.messages())
    away = Chain([planned(TOO_FAR, operation="drop")], classification="none").process(run.messages()[:4])

    assert cleared(view) == ["call_1", "call_2"]
    assert [edit.classes for edit in view.edits] == [(), ()]
    assert away.messages == run.messages()[:4]


def test_unknown_is_kept_and_every_report_says_how_many_tokens_that_costs() -> None:
    run = begun().step(call("frobnicate", level=1), result(LONG)).step(call("frob", level=2), result(LONG * 2))
    run = run.step(*read("a")).step("Done.")
    with pytest.warns(ElisionWarning, match=r"^some results of 'frobnicate' stay in the request: the table"):
        view = clearing().process(run.messages()[:-3])
    full = clearing().process(run.messages())
    from elision.tokens import count_text

    assert view.messages == run.messages()[:-3]
    assert full.unknown == (2, count_text(LONG) + count_text(LONG * 2), ("frob", "frobnicate"))
    assert full.as_dict()["unknown"] == {
        "results": 2,
        "tokens": count_text(LONG) + count_text(LONG * 2),
        "tools": ("frob", "frobnicate"),
    }
    assert "elision classify RUN --suggest" in full.note
    assert "\n" not in full.note
    assert Chain([]).process(run.messages()).unknown == full.unknown


def test_what_has_left_the_view_is_not_counted_as_unknown_that_is_sent() -> None:
    run = begun("sweagent").step(call("frobnicate"), result(LONG)).step(*read("a")).step(*read("b"))
    chain = elision.loads("agent: {history_processors: [{type: last_n_observations, n: 1}]}")
    view = chain.process(run.messages(), dialect="sweagent")

    assert [edit.tool for edit in view.edits] == ["frobnicate", "read_file"]
    assert view.unknown == (0, 0, ())


def test_a_table_is_found_by_its_path_from_the_chain_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "chains").mkdir()
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables/mine.yaml").write_text(
        "extends: default\nrules:\n  - {tool: frobnicate, class: static}\n", encoding="utf-8"
    )
    (tmp_path / "chains/chain.yaml").write_text(
        "history_processors: [{type: last_n_observations, n: 1}]\nclassification: ../tables/mine.yaml\n",
        encoding="utf-8",
    )
    run = begun().step(call("frobnicate"), result(LONG)).step(*read("a")).step("Done.")
    monkeypatch.chdir(tmp_path / "tables")
    view = elision.load(tmp_path / "chains/chain.yaml").process(run.messages())

    assert cleared(view) == ["call_1"]


# SWE-agent configs.

SWEAGENT = """
agent:
  history_processors:
    - {type: remove_regex, remove: ["clearing"]}
    - {type: last_n_observations, n: 1}
    - {type: call, target: "elision.testing.functions:shortened"}
"""


def test_for_sweagents_seven_types_no_table_is_asked_and_any_other_type_in_the_list_stays_behind_it() -> None:
    run = begun("sweagent").step(call("create_issue", title="x"), result(RECEIPT)).step(*read("a", LONG * 2))
    run = run.step(call("send_mail", to="b"), result(RECEIPT))
    view = elision.loads(SWEAGENT).process(run.messages(), dialect="sweagent")
    sweagents = {edit.tool for edit in view.edits if edit.processor == "last_n_observations"}
    ours = {(refusal.tool, refusal.rule) for refusal in view.refusals if refusal.processor == "call"}

    assert sweagents == {"create_issue", "read_file"}
    assert ("send_mail", "class_allows") in ours
    assert view.messages[-1]["content"] == run.messages()[-1]["content"]


def test_originals_of_a_sweagent_config_are_archived_all_the_same() -> None:
    with elision.open_archive("memory:") as archive:
        loaded = elision.loads("agent: {history_processors: [{type: last_n_observations, n: 1}]}")
        chain = Chain(loaded.processors, compat=loaded.compat, classification=loaded.table, archive=archive)
        run = begun("sweagent").step(call("create_issue", title="x"), result(RECEIPT)).step(*read("a"))
        view = chain.process(run.messages(), dialect="sweagent")

        assert [archive.get(edit.ref).content for edit in view.edits] == [RECEIPT]


# Hooks.


class Listener:
    """Writes down what the two listening hooks are told."""

    def __init__(self) -> None:
        self.applied: list[tuple[str, str]] = []
        self.refused: list[tuple[str, str, int]] = []

    @elision.hookimpl
    def elision_edit_applied(self, edit: elision.AppliedEdit, ref: str) -> None:
        self.applied.append((edit.call_id, ref))

    @elision.hookimpl
    def elision_edit_refused(self, refusal: elision.Refusal, rule: Any) -> None:
        self.refused.append((refusal.call_id, rule.name, rule.number))


@contextmanager
def listening() -> Iterator[Listener]:
    listener = Listener()
    plugins().manager.register(listener)
    try:
        yield listener
    finally:
        plugins().manager.unregister(listener)


def test_hooks_are_told_of_edits_with_their_ref_and_of_refusals_with_their_rule() -> None:
    run = begun().step(*read("a")).step(call("create_issue", title="x"), result(RECEIPT)).step("Done.")
    with listening() as heard, elision.open_archive("memory:") as archive:
        view = clearing(archive=archive).process(run.messages())

        assert heard.applied == [("call_1", view.edits[0].ref)]
        assert archive.get(heard.applied[0][1]).content == LONG
    assert ("call_2", "class_allows", 4) in heard.refused


def test_a_listener_is_told_of_an_edit_only_when_its_original_is_in_the_archive() -> None:
    run = begun().step(*read("a")).step("Done.")
    seen: list[Any] = []
    with elision.open_archive("memory:") as archive:

        class Reads:
            @elision.hookimpl
            def elision_edit_applied(self, edit: elision.AppliedEdit, ref: str) -> None:
                seen.append(archive.get(ref).content)

        reads = Reads()
        plugins().manager.register(reads)
        try:
            clearing(archive=archive).process(run.messages())
        finally:
            plugins().manager.unregister(reads)

    assert seen == [LONG]
