"""What ``native`` may not leave to a provider, and what the provider says that it did."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from native_runs import CLAUDE, excluded, native, offering, searches

import elision
from elision import Chain
from elision.config import lint
from elision.testing import call, result

# Tools that are left alone whole.


def test_tools_of_which_any_result_is_protected_are_excluded_whole() -> None:
    run = searches(90).step(call("git_commit", message="m"), result("ok")).step(call("frob", x=1), result("?"))
    tools = offering(
        "grep", "read_file", "bash", "web_search", "web_fetch", "create_issue", "skill", "ask_user", "blub"
    )
    view = native("exclude_tools: [glob]").process(run.messages(), model=CLAUDE, tools=tools)

    assert excluded(view) == [
        "ask_user",  # input
        "bash",  # what a command does is known only when it is called
        "blub",  # unknown
        "create_issue",  # receipt
        "frob",
        "git_commit",
        "glob",  # named by the user
        "read_file",  # may read a SKILL.md
        "skill",
        "web_fetch",  # may send something
    ]


def test_where_every_tool_is_protected_results_are_cleared_here_and_that_is_said() -> None:
    run = searches(3000, 3000, 3000, 3000)
    loaded = native("trigger_tokens: 4000, keep: 1")
    with pytest.warns(elision.ElisionWarning, match="leaves nothing to the provider"):
        view = loaded.process(run.messages(), model=CLAUDE, tools=offering("bash", "read_file", "recall"))

    assert view.owner == "elision"
    assert not view.params
    assert [edit.processor for edit in view.edits] == ["native"] * 3


def test_one_protected_call_excludes_the_tool_from_then_on() -> None:
    run = searches(90).step(call("query", query="query { issues }"), result("ok"))
    later = run.step(call("query", query="mutation { close }"), result("ok")).step(call("query"), result("ok"))
    loaded = native(classification=SAYS_MORE)

    assert excluded(loaded.process(run.messages(), model=CLAUDE)) == []
    assert excluded(loaded.process(later.messages(), model=CLAUDE)) == ["query"]


SAYS_MORE = {
    "extends": "classes",
    "rules": [
        {"tool": ["grep", "query"], "class": "dynamic"},
        {"tool": "*", "arguments": {"query": {"regex": "^mutation"}}, "class": "receipt"},
    ],
}


def test_a_failed_call_excludes_its_tool_until_the_same_call_succeeds() -> None:
    failed = searches(90, shape="anthropic").step(call("grep", pattern="x("), result("no such", error=True))
    mended = failed.step(call("grep", pattern="x("), result("found"))
    tools = offering("grep", "glob")

    assert excluded(native().process(failed.request(), model=CLAUDE, tools=tools)) == ["grep"]
    assert excluded(native().process(mended.request(), model=CLAUDE, tools=tools)) == []


def test_what_a_tool_says_of_itself_counts() -> None:
    messages = searches(90).messages()
    tools = offering("frob", "blub")
    tools[0]["function"]["annotations"] = {"readOnlyHint": True}
    tools[1]["function"]["annotations"] = {"readOnlyHint": True, "destructiveHint": True}

    assert excluded(native().process(messages, model=CLAUDE, tools=tools)) == ["blub"]


def test_without_a_table_only_the_users_tools_are_excluded() -> None:
    tools = offering("grep", "bash", "frob")
    loaded = native("exclude_tools: [bash]", classification=None)

    assert excluded(loaded.process(searches(90).messages(), model=CLAUDE, tools=tools)) == ["bash"]


# Summaries of the provider's own.

PROTECTED = "state, receipt, skill, error, input, recalled, unknown"


def told(text: str) -> list[str]:
    return [str(problem) for problem in lint(text, "chain.yaml") if problem.severity == "error"]


@pytest.mark.parametrize(
    ("head", "options", "what"),
    [
        ("{model: gpt-5.2, dialect: responses", "", "prefer"),
        ("{model: gpt-5.2", "", "prefer"),
        ("{model: bedrock/anthropic.claude-opus-5-5-v1:0, dialect: openai", "", "prefer"),
        ("{model: claude-opus-5-5", ", compact_trigger_tokens: 150000", "compact"),
    ],
)
def test_a_summary_of_the_providers_own_is_an_error_where_the_table_protects_anything(
    head: str, options: str, what: str
) -> None:
    text = f"{head}, history_processors: [{{type: native{options}}}]}}"
    (line,) = told(text)

    assert f"({PROTECTED})" in line
    assert "history_processors[0]: native cannot" in line
    assert ("write prefer: elision" in line) == (what == "prefer")
    with pytest.raises(elision.ConfigError, match="native cannot"):
        elision.loads(text)
    assert told(text.replace("history_processors", "classification: none, history_processors")) == []
    if what == "prefer":
        assert told(text.replace("type: native", "type: native, prefer: elision")) == []


def test_a_chain_made_in_python_is_held_to_the_same() -> None:
    processor = elision.processor_types()["native"]()
    with pytest.raises(elision.ConfigError, match=r"processors\[0\]: native cannot prefer the provider"):
        Chain([processor], model="gpt-5.2")


def test_another_model_at_run_time_is_cleared_for_here_with_one_warning() -> None:
    run = searches(*[600] * 8, shape="responses")
    with native("trigger_tokens: 2000").session() as session:
        with pytest.warns(elision.ElisionWarning, match="native cannot prefer the provider") as caught:
            view = session.process(run.request(), model="gpt-5.2")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            session.process(run.request(), model="gpt-5.2")

    assert [str(each.message) for each in caught] == [*view.problems]
    assert (view.owner, view.params, bool(view.edits)) == ("elision", {}, True)


def test_without_a_table_the_provider_summarises_when_it_is_told_when() -> None:
    run = searches(*[600] * 8, shape="responses")
    asked, silent = (
        native(f"trigger_tokens: 2000{options}", classification=None).process(run.request(), model="gpt-5.2")
        for options in (", compact_trigger_tokens: 120000", "")
    )

    assert asked.params == {"context_management": [{"type": "compaction", "compact_threshold": 120_000}]}
    assert (asked.owner, asked.edits) == ("provider", ())
    assert (silent.owner, silent.params, bool(silent.edits)) == ("elision", {}, True)


def test_anthropic_is_asked_for_both_where_nothing_is_protected() -> None:
    view = native("compact_trigger_tokens: 150000", classification=None).process(searches(90).messages(), model=CLAUDE)

    assert [each["type"] for each in view.params["context_management"]["edits"]] == [
        "clear_tool_uses_20250919",
        "compact_20260112",
    ]
    assert view.params["extra_headers"]["anthropic-beta"] == "context-management-2025-06-27,compact-2026-01-12"


# What the provider says it did.

APPLIED = {"type": "clear_tool_uses_20250919", "cleared_tool_uses": 8, "cleared_input_tokens": 50_000}


@pytest.mark.parametrize(
    "response",
    [
        {"content": [], "context_management": {"applied_edits": [APPLIED]}},
        {"choices": [{"message": {"provider_specific_fields": {"context_management": {"applied_edits": [APPLIED]}}}}]},
    ],
    ids=["anthropic", "litellm"],
)
def test_edits_that_the_provider_made_are_in_the_report_of_the_session(response: Any) -> None:
    with native().session() as session:
        before = session.process(searches(90).messages(), model=CLAUDE)
        (edit,) = session.record(response)
        view = session.process(searches(90, 90).messages(), model=CLAUDE)

    assert (edit.type, edit.cleared_tool_uses, edit.cleared_input_tokens) == (APPLIED["type"], 8, 50_000)
    assert (before.native, view.native) == ((), (edit,))
    assert view.as_dict()["native"] == [edit._asdict()]


def test_what_was_recorded_is_in_the_report_of_a_fresh_process_that_shares_the_archive() -> None:
    loaded = native()
    first, second = searches(90).messages(), searches(90, 90).messages()
    with loaded.session() as session:
        session.process(first, model=CLAUDE)
        found = session.record({"context_management": {"applied_edits": [APPLIED]}})

    assert loaded.process(second, model=CLAUDE).native == found
    assert loaded.process(searches(80, 90).messages(), model=CLAUDE).native == ()


def test_summaries_that_the_provider_made_are_in_the_report_too() -> None:
    item = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"}
    with native(classification=None).session() as session:
        found = session.record({"output": [item, {"type": "message"}]})

    assert [(edit.type, edit.id) for edit in found] == [("compaction", "cmp_1")]


def test_a_response_without_edits_records_nothing_and_what_is_none_is_an_error() -> None:
    with native().session() as session:
        assert session.record({"context_management": {"applied_edits": None}, "choices": [None], "output": 3}) == ()
        with pytest.raises(elision.InputError, match=r"^response: a str; give the provider's response"):
            session.record("ok")
