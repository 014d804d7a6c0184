"""What ``native`` asks for reaches the provider through litellm, and what the provider says it did comes back."""

from __future__ import annotations

from typing import Any

import pytest
from forked import RunScript
from native_runs import CLAUDE, native, searches
from scheduled_runs import cleared, words

import elision
from elision import SentView
from elision.testing import call, result

OPTIONS = "trigger_tokens: 90000, keep: 4, clear_at_least_tokens: 5000, clear_tool_inputs: [grep]"
BEDROCK = "anthropic.claude-opus-5-5-v1:0"


def handed_over(shape: Any, model: str, **said: Any) -> tuple[SentView, list[Any]]:
    run = searches(*[90] * 3, shape=shape).step(call("git_commit", message="m"), result("ok"))
    view = native(OPTIONS, **said).process(run.request(), model=model)
    return view, view.messages


@pytest.fixture(scope="module")
def wire(with_litellm: RunScript) -> dict[str, dict[str, Any]]:
    """Return what litellm sent of each kind of request, and got back."""
    chat, messages = handed_over("openai", f"anthropic/{CLAUDE}"), handed_over("anthropic", f"anthropic/{CLAUDE}")
    invoke = handed_over("anthropic", f"bedrock/{BEDROCK}")
    compacting = native("compact_trigger_tokens: 120000", classification=None)
    responses = compacting.process(searches(*[90] * 3, shape="responses").request(), model="openai/gpt-5.2")
    bedrock = compacting.process(searches(90).request(), model=f"bedrock/{BEDROCK}")
    requests: dict[str, dict[str, Any]] = {
        "chat": {"call": "completion", "model": f"anthropic/{CLAUDE}", "messages": chat[1], **chat[0].params},
        "messages": {
            "call": "anthropic_messages",
            "model": f"anthropic/{CLAUDE}",
            "max_tokens": 90,
            "messages": messages[1],
            **messages[0].params,
        },
        "responses": {
            "call": "responses",
            "model": "openai/gpt-5.2",
            "input": responses.messages,
            **responses.params,
        },
        "converse": {
            "call": "converse",
            "model": BEDROCK,
            "messages": bedrock.messages,
            "context_management": bedrock.params["context_management"],
        },
    }
    asked = {"max_tokens": 90, "context_management": invoke[0].params["context_management"]}
    requests["invoke"] = {"call": "invoke", "model": BEDROCK, "messages": invoke[1], **asked}
    sent, *_ = with_litellm("litellm_wire.py", given=[*requests.values()])
    return dict(zip(requests, sent, strict=True))


ASKED = {
    "type": "clear_tool_uses_20250919",
    "trigger": {"type": "input_tokens", "value": 90_000},
    "keep": {"type": "tool_uses", "value": 4},
    "clear_at_least": {"type": "input_tokens", "value": 5_000},
    "exclude_tools": ["git_commit"],
    "clear_tool_inputs": ["grep"],
}


@pytest.mark.parametrize("kind", ["chat", "messages"])
def test_anthropic_is_asked_for_exactly_what_the_chain_says(wire: dict[str, Any], kind: str) -> None:
    sent = wire[kind]

    assert sent["path"] == "/v1/messages"
    assert sent["body"]["context_management"] == {"edits": [ASKED]}
    assert "context-management-2025-06-27" in sent["headers"]["anthropic-beta"]
    assert not {"betas", "extra_headers"} & sent["body"].keys()


@pytest.mark.parametrize("kind", ["chat", "messages"])
def test_every_result_goes_out_in_full(wire: dict[str, Any], kind: str) -> None:
    blocks = [block for message in wire[kind]["body"]["messages"] for block in message["content"]]
    results = [str(block["content"]) for block in blocks if isinstance(block, dict) and "tool_use_id" in block]

    assert [words(90) in text for text in results] == [True, True, True, False]


@pytest.mark.parametrize("kind", ["chat", "messages"])
def test_what_anthropic_says_it_did_can_be_recorded_as_litellm_gives_it_back(wire: dict[str, Any], kind: str) -> None:
    with native().session() as session:
        (edit,) = session.record(wire[kind]["response"])

    assert (edit.cleared_tool_uses, edit.cleared_input_tokens) == (8, 50_000)


def test_openai_is_asked_to_compact_over_responses(wire: dict[str, Any]) -> None:
    sent = wire["responses"]
    with native(classification=None).session() as session:
        (edit,) = session.record(sent["response"])

    assert sent["body"]["context_management"] == [{"type": "compaction", "compact_threshold": 120_000}]
    assert (edit.type, edit.id) == ("compaction", "cmp_1")


def test_bedrocks_converse_is_asked_for_nothing_that_litellm_would_leave_out(wire: dict[str, Any]) -> None:
    fields = wire["converse"]["body"]["additionalModelRequestFields"]

    assert [each["type"] for each in fields["context_management"]["edits"]] == ["compact_20260112"]


def test_bedrocks_invoke_keeps_all_that_is_asked_for_in_anthropics_dialect(wire: dict[str, Any]) -> None:
    assert wire["invoke"]["body"]["context_management"] == {"edits": [ASKED]}


def test_bedrocks_converse_has_no_context_editing_so_it_is_done_here() -> None:
    with pytest.warns(elision.ElisionWarning, match="cannot prefer the provider"):
        view = native("trigger_tokens: 500, keep: 1").process(
            searches(*[300] * 4).messages(), model=f"bedrock/{BEDROCK}"
        )

    assert (view.owner, view.params, cleared(view)) == ("elision", {}, [0, 1, 2])
