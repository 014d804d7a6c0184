"""What is expected of the table, the archive and the ways back, as checks; docs/acceptance.md lists them."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from forked import Python
from guarded import Plan, planned

import elision
from elision import Chain, ElisionWarning, Operation, SentView, Stage, open_archive
from elision.testing import Conversation, call, conversation, result

LONG = "a line of some length that is worth clearing\n" * 12


def texts(view: SentView) -> list[str]:
    return [message["content"] for message in view.messages if message["role"] == "tool"]


@pytest.mark.parametrize("stage", ["entry", "history", "request"])
def test_processors_run_behind_one_table_that_every_stage_reads(stage: Stage) -> None:
    run = conversation().user("Go.").step(call("send_mail", to="ana"), result(LONG)).step("Sent.").user("And?")
    plan: Plan = lambda view: [o.replace("x") for o in view.observations]  # noqa: E731
    view = Chain([planned(plan, stage=stage, operation="truncate")]).process(run.messages())

    assert view.messages == run.messages()
    assert {(each.rule, each.classes) for each in view.refusals if each.reason.startswith("class")} == {
        ("class_allows", ("receipt",))
    }


THREE_LINES = "history_processors:\n  - type: last_n_observations\n    n: 3\n"
CUSTOM = """
import json, sys, warnings
warnings.simplefilter("always")
import elision
messages, told = json.load(sys.stdin), []
for name in sys.argv[1:]:
    view = elision.load(name).process(messages)
    told.append([view.tokens.after / view.tokens.before, view.note])
print(json.dumps(told))
"""


def custom_run(*names: str) -> list[Any]:
    run = conversation().system("You run the plant.").user("What is wrong?")
    for number in range(12):
        run = run.step(call(names[number % len(names)], unit=number), result(f"{number}: {LONG}"))
    return run.messages()


def first_use(python: Python, folder: Path, messages: list[Any], **chains: str) -> tuple[list[tuple[float, str]], str]:
    """Return what is left of the tokens and the note, chain by chain, and what was said on standard error."""
    for name, yaml in chains.items():
        (folder / f"{name}.yaml").write_text(yaml, encoding="utf-8")
    done = python(
        *("-c", CUSTOM, *(f"{name}.yaml" for name in chains)),
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "ELISION_ARCHIVE"},
        given=json.dumps(messages),
        check=True,
    )
    return json.loads(done.stdout), done.stderr


def test_install_a_three_line_yaml_and_one_chain_process_on_a_custom_agents_history_saves_tokens(
    tmp_path: Path, python: Python
) -> None:
    messages = custom_run("get_pressure", "read_valve", "list_alarms")
    ((left, note),), said = first_use(python, tmp_path, messages, chain=THREE_LINES)

    assert left < 0.6
    assert (note, said) == ("", "")
    with open_archive(tmp_path / ".elision", environ={}) as archive:
        assert archive.verify().clean
        assert len(list(archive.records())) == 9


def test_install_a_three_line_yaml_on_a_custom_agents_history_says_in_one_line_why_not_and_what_to_add(
    tmp_path: Path, python: Python
) -> None:
    (tmp_path / "rules.yaml").write_text(
        'extends: default\nrules:\n  - {tool: "{frobnicate,defenestrate}", class: dynamic}\n', encoding="utf-8"
    )
    (alone, with_rules, without_a_table), said = first_use(
        python,
        tmp_path,
        custom_run("frobnicate", "defenestrate"),
        alone=THREE_LINES,
        with_rules=f"{THREE_LINES}classification: rules.yaml\n",
        without_a_table=f"{THREE_LINES}classification: none\n",
    )

    assert alone[0] == 1.0
    assert alone[1] == (
        "some results of 'frobnicate', 'defenestrate' stay in the request: the table 'default' has no rule that knows "
        "them; elision classify RUN --suggest prints a table with rules to add, for a FILE that the chain names "
        "(classification: FILE); classification: none asks no table, so that receipts, skills and errors may go too"
    )
    assert said.count("ElisionWarning") == said.count(alone[1]) == 1
    for left, note in (with_rules, without_a_table):
        assert (left < 0.6, note) == (True, "")


CLASSES: dict[str, tuple[str, dict[str, Any], bool]] = {
    "static": ("read_file", {"path": "a.py"}, False),
    "dynamic": ("run_tests", {}, False),
    "receipt": ("create_order", {"item": 7}, False),
    "skill": ("load_skill", {"name": "deploy"}, False),
    "error": ("read_file", {"path": "missing.py"}, True),
    "input": ("ask_user", {"question": "Which?"}, False),
    "unknown": ("frobnicate", {}, False),
}
MAY_GO = {"static", "dynamic"}


def canary(name: str) -> str:
    """Return a result with an identifier at its head, middle and tail."""
    return f"{name}-head-4711\n{LONG}{name}-middle-4711\n{LONG}{name}-tail-4711"


def all_classes() -> Conversation:
    run = conversation("anthropic").user("Go.")
    for name, (tool, arguments, failed) in CLASSES.items():
        run = run.step(call(tool, **arguments), result(canary(name), error=failed))
    return run.step("Done.")


def survivors(messages: list[Any]) -> dict[str, list[str]]:
    """Return which canaries of each class stand in messages."""
    sent = json.dumps(messages)
    return {name: [place for place in ("head", "middle", "tail") if f"{name}-{place}-4711" in sent] for name in CLASSES}


EVERYWHERE = ["head", "middle", "tail"]


@pytest.mark.parametrize("operation", ["truncate", "slim", "clear", "supersede", "summarize", "budget"])
def test_static_dynamic_receipt_skill_error_or_partial_input_unknown_is_kept_result_text_never_decides(
    operation: Operation,
) -> None:
    plan: Plan = lambda view: [o.replace("x") for o in view.observations]  # noqa: E731
    view = Chain([planned(plan, operation=operation)]).process(all_classes().messages(), dialect="anthropic")

    assert {name for name, kept in survivors(view.messages).items() if not kept} == MAY_GO
    assert [(edit.tool, edit.classes) for edit in view.edits] == [
        ("read_file", ("static",)),
        ("run_tests", ("dynamic",)),
    ]
    assert {name for each in view.refusals for name in each.classes} >= set(CLASSES) - {"dynamic"}


def test_every_stage_agrees_what_truncation_spares_clearing_spares(tmp_path: Path) -> None:
    """One canary per class at head, middle and tail, through original, stored, replayed, after budget, sent."""
    truncate = planned(
        lambda view: [o.replace(o.text[:60]) for o in view.observations], stage="entry", operation="truncate"
    )
    clear = planned(lambda view: [o.elide() for o in view.older_observations(keep_last=0)], stage="history")
    budget = planned(lambda view: [o.replace("x") for o in view.observations], operation="budget")
    messages = all_classes().messages()
    spared = {name: EVERYWHERE for name in CLASSES if name not in MAY_GO}
    sent: dict[str, list[Any]] = {}
    with open_archive(tmp_path, environ={}) as archive:
        for name, processors in {"cut": [truncate], "cleared": [clear], "all": [truncate, clear, budget]}.items():
            with Chain(processors, archive=archive).session(name) as session:
                views = [session.process(messages[:stop], dialect="anthropic") for stop in range(1, len(messages) + 1)]
            sent[name] = views[-1].messages
            stored = {archive.get(edit.ref).content for edit in views[-1].edits}
            replayed = Chain(processors, archive=archive).process(messages, dialect="anthropic")

            assert stored == {canary(each) for each in MAY_GO}
            assert replayed.messages == views[-1].messages
    assert set(map(tuple, survivors(messages).values())) == {tuple(EVERYWHERE)}
    for name, seen in {name: survivors(each) for name, each in sent.items()}.items():
        assert {each: seen[each] for each in spared} == spared, name
    assert survivors(sent["cut"]) == spared | {each: ["head"] for each in MAY_GO}
    assert survivors(sent["all"]) == spared | {each: [] for each in MAY_GO}


def test_append_only_every_removed_original_comes_back_by_ref_equal_by_hash_parallel_results_keep_every_id_and_order(
    tmp_path: Path,
) -> None:
    batch = [call("read_file", path=f"{number}.py") for number in range(4)]
    run = conversation().user("Go.").step(*batch, *[result(f"{number}: {LONG}") for number in range(4)])
    messages = run.step(call("read_file", path="a"), result("x")).messages()
    chain = elision.loads("history_processors: [{type: last_n_observations, n: 1}]", archive=str(tmp_path))
    view = chain.process(messages)
    with open_archive(tmp_path, environ={}) as archive:
        kept = [archive.get(edit.ref) for edit in view.edits]
        before = [record.hash for record in archive.records()]
        chain.process([*messages, *run.step("On.").messages()[2:]])

        assert [each.content for each in kept] == [message["content"] for message in messages[2:6]]
        assert [each.ref.sha256 for each in kept] == [
            hashlib.sha256(message["content"].encode()).hexdigest() for message in messages[2:6]
        ]
        assert [record.hash for record in archive.records()][:4] == before
        assert archive.verify().clean
    assert [message.get("tool_call_id") for message in view.messages] == [m.get("tool_call_id") for m in messages]


def test_redacted_in_the_view_kept_in_the_archive_by_policy() -> None:
    """Encryption is a matter of the store: what a plugin's store does with the bytes that it is given."""
    key = "AKIA" + "QYLPMN5HFIQR7XYA"  # an example of a key that opens nothing
    run = conversation().user("Go.").step(call("read_file", path=".env"), result(f"aws_key = {key}\nok")).step("Done.")
    for stored, holds in (("none", True), ("secrets", False)):
        with open_archive("memory:", stored=stored) as archive:  # type: ignore[arg-type]
            redacts = elision.loads("history_processors: [{type: redact}]").processors
            view = Chain(redacts, archive=archive).process(run.messages())
            (ref,) = [edit.ref for edit in view.edits]

            assert key not in json.dumps(view.messages)
            assert key not in elision.recall(ref, archive=archive).text
            assert (key in elision.recall(ref, archive=archive, raw=True).text) is holds


def test_if_an_original_cannot_be_had_a_clear_statement_says_so_and_a_write_is_never_repeated_to_get_it_back() -> None:
    table = {"extends": "default", "classes": {"receipt": {"cells": {"clear": "allow"}}}}
    with open_archive("memory:", environ={}) as archive:
        chain = Chain(
            elision.loads("history_processors: [{type: last_n_observations, n: 1}]").processors,
            archive=archive,
            classification=table,
        )
        run = (
            conversation()
            .user("Go.")
            .step(call("create_order", item=7), result(LONG))
            .step(call("read_file", path="a"), result("x"))
        )
        offered = [elision.recall_tool_schema(), {"type": "function", "function": {"name": "create_order"}}]
        view = chain.process(run.messages(), tools=offered)
        (ref,) = [edit.ref for edit in view.edits]

        assert "again" not in texts(view)[0]
        assert f"recall {ref}" in texts(view)[0]
        archive.prune(older_than_days=0)
        with pytest.raises(elision.ArchiveError, match=rf"^memory:: the bytes of {ref} were pruned on .*\)$"):
            elision.recall(ref, archive=archive)
        answer = elision.handle_recall({"ref": ref}, archive)
        assert answer.startswith(f"recall: memory:: the bytes of {ref} were pruned")
        assert elision.handle_recall({"ref": "0" * 12}, archive).startswith("recall: memory:: there is no original")


def test_twenty_steps_in_a_row_converge_to_the_expected_size_and_parallel_calls_stay_traceable() -> None:
    """Each view holds three results in full; every older call can be told by its placeholder, and read back."""
    chain = elision.loads("history_processors: [{type: last_n_observations, n: 3}]", archive="memory:")
    run = conversation().user("Go.")
    sizes: list[int] = []
    with chain.session("run") as session:
        for number in range(20):
            both = [call("read_file", path=f"{number}{side}.py") for side in "ab"]
            run = run.step(*both, *[result(f"{number}{side}: {LONG}") for side in "ab"])
            view = session.process(run.messages())
            sizes.append(sum(len(text) for text in texts(view) if LONG in text))
    originals = {message["tool_call_id"]: message["content"] for message in run.messages() if "tool_call_id" in message}

    assert {round(size / len(f"0a: {LONG}")) for size in sizes[2:]} == {3}
    assert len(view.edits) == 37
    for edit, text in zip(view.edits, texts(view), strict=False):
        assert chain.opened_archive.get(edit.ref).content == originals[edit.call_id]
        assert f'read_file(path="{originals[edit.call_id].partition(":")[0]}.py")' in text


def test_unknown_costs_are_in_every_report_and_in_one_warning_of_a_run() -> None:
    chain = elision.loads(THREE_LINES, archive="memory:")
    messages = custom_run("frobnicate")
    with pytest.warns(ElisionWarning) as heard, chain.session() as session:
        views = [session.process(messages[:stop]) for stop in range(2, len(messages) + 1, 2)]

    assert len(heard) == 1
    assert views[-1].as_dict()["unknown"]["results"] == 12
