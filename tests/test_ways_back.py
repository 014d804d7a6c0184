"""A placeholder names a way back that the request's tools really offer, and recalled results neither go nor loop."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from guarded import Plan, planned

import elision
from elision import Archive, Chain, InputError, SentView, open_archive
from elision.testing import Conversation, Shape, call, conversation, result

CLEAR_OLD: Plan = lambda view: [o.elide() for o in view.older_observations(keep_last=0)]  # noqa: E731
OFFLOAD: Plan = lambda view: [o.elide() for o in view.observations]  # noqa: E731
LONG = "".join(f"line {number} of the file\n" for number in range(20))
READ, RECALL, MCP = "read_file", "recall", "mcp__elision__recall"


def tools(shape: Shape, *names: str) -> list[Any]:
    """Return definitions of tools, as requests of this shape have them."""
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    if shape == "anthropic":
        return [{"name": name, "description": "…", "input_schema": schema} for name in names]
    return [{"type": "function", "function": {"name": name, "parameters": schema}} for name in names]


def reading(shape: Shape = "openai", count: int = 2) -> Conversation:
    run = conversation(shape).system("You are careful.").user("Read.")
    for number in range(count):
        run = run.step(call(READ, path=f"f{number}"), result(f"{number}: {LONG}"))
    return run


@pytest.fixture
def archive() -> Iterator[Archive]:
    with open_archive("memory:") as opened:
        yield opened


@pytest.fixture
def clearing(archive: Archive) -> Chain:
    return Chain([planned(CLEAR_OLD, stage="history")], archive=archive)


def result_texts(view: SentView) -> list[str]:
    found: list[str] = []
    for message in view.messages:
        blocks = message["content"] if isinstance(message["content"], list) else []
        found += [block["content"] for block in blocks if block.get("type") == "tool_result"]
        found += [message["content"]] if message["role"] == "tool" else []
    return found


WAYS: Sequence[tuple[tuple[str, ...], str]] = [
    ((READ,), "call it again to fetch it; ref {ref}"),
    ((READ, RECALL), "call it again to fetch it, or recall {ref}"),
    ((READ, MCP), f"call it again to fetch it, or {MCP} {{ref}}"),
    ((RECALL,), "recall {ref}"),
    (("bash", MCP), f"{MCP} {{ref}}"),
]


@pytest.mark.parametrize(("offered", "says"), WAYS)
@pytest.mark.parametrize("shape", ["openai", "anthropic"])
def test_a_placeholder_names_the_tool_or_recall_as_the_request_offers_them(
    shape: Shape, offered: tuple[str, ...], says: str, clearing: Chain
) -> None:
    run = reading(shape)
    view = clearing.process(run.messages(), tools=tools(shape, *offered), dialect=shape)
    ref = view.edits[0].ref

    assert result_texts(view)[0].endswith(f"; {says.format(ref=ref)}]")
    assert "0: line 3" not in str(view.messages)


@pytest.mark.parametrize("shape", ["openai", "anthropic"])
def test_a_placeholder_whose_tool_is_not_offered_when_it_is_made_or_when_the_tools_change_names_recall(
    shape: Shape, clearing: Chain
) -> None:
    messages = reading(shape, 3).messages()
    with clearing.session("run") as session:
        first = session.process(messages, tools=tools(shape, READ), dialect=shape)
        changed = session.process(messages, tools=tools(shape, "bash", RECALL), dialect=shape)
    made = clearing.process(messages, tools=tools(shape, "bash", RECALL), dialect=shape)
    refs = [edit.ref for edit in first.edits]

    assert [text.endswith("; call it again to fetch it; ref " + ref + "]") for text, ref in _pairs(first, refs)] == [
        True
    ] * 2
    assert [text.endswith(f" removed; recall {ref}]") for text, ref in _pairs(changed, refs)] == [True] * 2
    assert made.messages == changed.messages
    assert (changed.unreachable, first.unreachable) == ((), ())


def _pairs(view: SentView, refs: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(result_texts(view), refs, strict=False))


def test_a_placeholder_that_nothing_can_read_back_any_longer_stays_and_is_reported_as_unreachable(
    clearing: Chain,
) -> None:
    messages = reading(count=3).messages()
    with clearing.session("run") as session:
        first = session.process(messages, tools=tools("openai", READ))
        lost = session.process(messages, tools=tools("openai", "bash"))
        again = session.process(messages, tools=tools("openai", READ))

    assert lost.messages == first.messages == again.messages
    assert [(each.call_id, each.tool) for each in lost.unreachable] == [("call_1", READ), ("call_2", READ)]
    assert lost.as_dict()["unreachable"] == [
        {"step": step, "call_id": f"call_{step + 1}", "tool": READ} for step in range(2)
    ]
    assert again.unreachable == ()


def test_tools_that_change_but_offer_the_same_way_back_change_no_byte(clearing: Chain) -> None:
    messages = reading(count=3).messages()
    with clearing.session("run") as session:
        views = [
            session.process(messages, tools=tools("openai", *names)) for names in ((READ,), (READ, "bash"), (READ,))
        ]

    assert views[0].messages == views[1].messages == views[2].messages


def test_a_placeholder_that_was_made_anew_is_ours_too(clearing: Chain, archive: Archive) -> None:
    messages = reading(count=3).messages()
    with clearing.session("run") as session:
        session.process(messages, tools=tools("openai", READ))
        view = session.process(messages, tools=tools("openai", RECALL))
    again = clearing.process(view.messages, tools=tools("openai", RECALL))

    assert [archive.is_ours(text) for text in result_texts(view)] == [True, True, False]
    assert again.messages == view.messages


@pytest.mark.parametrize("offered", [[], ["bash"], ["bash", "write_file"]])
@pytest.mark.parametrize("shape", ["openai", "anthropic"])
def test_with_neither_the_tool_nor_recall_nothing_is_removed_and_the_refusal_says_what_to_offer(
    shape: Shape, offered: list[str], clearing: Chain
) -> None:
    messages = reading(shape).messages()
    view = clearing.process(messages, tools=tools(shape, *offered), dialect=shape)

    assert all(sent is held for sent, held in zip(view.messages, messages, strict=True))
    assert {(each.rule, each.reason) for each in view.refusals if each.call_id == "call_1"} == {
        ("way_back", "no tool of the request can bring it back: offer elision.recall_tool_schema()")
    }
    assert "offer elision.recall_tool_schema()" in view.note


def test_what_was_refused_for_want_of_a_way_back_is_removed_once_one_is_offered(clearing: Chain) -> None:
    messages = reading(count=3).messages()
    with clearing.session("run") as session:
        session.process(messages, tools=tools("openai", "bash"))
        view = session.process([*messages, {"role": "assistant", "content": "Go on."}], tools=tools("openai", RECALL))

    assert {edit.call_id for edit in view.edits} == {"call_1", "call_2", "call_3"}


def test_without_tool_definitions_in_the_request_the_placeholder_still_has_its_ref(clearing: Chain) -> None:
    view = clearing.process(reading().messages())

    assert view.edits[0].ref in result_texts(view)[0]


def test_a_receipt_never_says_that_it_could_be_called_again() -> None:
    table = {"extends": "default", "classes": {"receipt": {"cells": {"clear": "allow"}}}}
    chain = Chain([planned(CLEAR_OLD, stage="history")], classification=table)
    run = conversation().user("Go.").step(call("create_issue", title="x"), result(LONG)).step("Done.")
    for offered in (("create_issue",), ("create_issue", RECALL)):
        text = result_texts(chain.process(run.messages(), tools=tools("openai", *offered)))[0]

        assert "again" not in text


# What is recalled.


def recalling(archive: Archive, chain: Chain, later: int) -> tuple[Conversation, str]:
    """Return a run that recalls what was removed from it, with so many steps behind that."""
    run = reading(count=2)
    view = chain.process(run.messages(), tools=tools("openai", RECALL))
    ref = view.edits[0].ref
    run = run.step(call(RECALL, ref=ref), result(elision.handle_recall({"ref": ref}, archive)))
    for number in range(later):
        run = run.step(call(READ, path=f"g{number}"), result(f"g{number}: {LONG}"))
    return run, ref


@pytest.mark.parametrize("later", range(8))
def test_recalled_results_stay_for_5_steps_and_then_go_like_what_they_were_brought_from(
    later: int, clearing: Chain, archive: Archive
) -> None:
    run, ref = recalling(archive, clearing, later)
    view = clearing.process(run.messages(), tools=tools("openai", READ, RECALL))
    texts = result_texts(view)

    assert texts[2] == f"0: {LONG}" if later < 5 else f"recall {ref}" in texts[2]


@pytest.mark.parametrize("operation", ["offload", "truncate", "slim"])
def test_recalled_results_are_never_offloaded_or_cut(operation: Any, clearing: Chain, archive: Archive) -> None:
    run, _ = recalling(archive, clearing, later=9)
    for stage in ("entry", "request"):
        chain = Chain([planned(OFFLOAD, stage=stage, operation=operation)], archive=archive)
        view = chain.process(run.messages(), tools=tools("openai", READ, RECALL))

        assert result_texts(view)[2] == f"0: {LONG}"
        assert "class recalled" in next(each.reason for each in view.refusals if each.tool == RECALL)


def test_a_recalled_result_that_is_cleared_later_names_the_same_ref_and_does_not_loop(
    clearing: Chain, archive: Archive
) -> None:
    run, ref = recalling(archive, clearing, later=6)
    for _ in range(3):
        view = clearing.process(run.messages(), tools=tools("openai", READ, RECALL))
        assert {edit.ref for edit in view.edits if edit.tool == RECALL} == {ref}
        assert elision.recall(ref, archive=archive).text == f"0: {LONG}"
        run = run.step(call(RECALL, ref=ref), result(elision.handle_recall({"ref": ref}, archive)))
        for number in range(6):
            run = run.step(call(READ, path=f"h{number}"), result(f"h{number}: {LONG}"))


@pytest.mark.parametrize("name", [RECALL, MCP, "elision.recall"])
def test_the_recall_tool_is_known_under_the_names_that_hosts_give_it(name: str, archive: Archive) -> None:
    chain = Chain([planned(OFFLOAD, operation="offload")], archive=archive)
    run = conversation().user("Go.").step(call(name, ref="3f9a1c0b77de"), result(LONG)).step("Done.")

    assert result_texts(chain.process(run.messages())) == [LONG]


def test_a_placeholders_ref_given_to_recall_returns_the_exact_text(clearing: Chain, archive: Archive) -> None:
    view = clearing.process(reading().messages(), tools=tools("openai", RECALL))
    ref = result_texts(view)[0].rpartition("recall ")[2].rstrip("]")

    assert elision.handle_recall(json.dumps({"ref": ref}), archive) == f"0: {LONG}"


@pytest.mark.parametrize("chain_text", ["", "{type: redact}, "])
def test_a_placeholders_ref_given_to_the_mcp_tool_returns_the_exact_bytes_or_the_redacted_text(
    chain_text: str, tmp_path: Path
) -> None:
    pytest.importorskip("mcp", reason="mcp is not installed; pip install 'elision[mcp]'")
    import anyio
    from mcp import Client, StdioServerParameters, stdio_client

    key = "AKIA" + "QYLPMN5HFIQR7XYA"  # an example of a key that opens nothing
    original = f"aws_key = {key}\r\n\x1b[0m\tend\n\n{LONG}"
    run = (
        conversation()
        .user("Go.")
        .step(call(READ, path=".env"), result(original))
        .step(call(READ, path="b"), result("x"))
    )
    chain = elision.loads(
        f"history_processors: [{chain_text}{{type: last_n_observations, n: 1}}]", archive=str(tmp_path / "archive")
    )
    view = chain.process(run.messages(), tools=tools("openai", MCP))
    ref = result_texts(view)[0].rpartition(f"{MCP} ")[2].rstrip("]")
    command = ["-m", "elision", "mcp", "--archive", str(tmp_path / "archive")]
    server = StdioServerParameters(command=sys.executable, args=command, cwd=tmp_path)

    async def asked() -> Any:
        async with Client(stdio_client(server)) as client:
            return await client.call_tool("recall", {"ref": ref})

    (content,) = anyio.run(asked).content

    if chain_text:
        assert key not in content.text
        assert "aws_key = [removed: AWS Access Key]\r\n" in content.text
    else:
        assert content.text == original


# One owner (rule 11).

OWNED: dict[str, Any] = {
    "context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]},
    "truncation": "auto",
}


@pytest.mark.parametrize("key", OWNED)
@pytest.mark.parametrize("within", ["", "extra_body"])
def test_a_request_that_asks_its_provider_to_manage_the_context_is_an_error_unless_the_chain_says_who_owns_it(
    key: str, within: str, clearing: Chain, archive: Archive
) -> None:
    asked = {key: OWNED[key]}
    request = {**reading().request(), **({within: asked} if within else asked)}
    with pytest.raises(InputError, match=rf"^request: {within + '.' if within else ''}{key} asks the provider"):
        clearing.process(request)
    theirs = Chain(clearing.processors, archive=archive, owner="provider").process(request)
    ours = Chain(clearing.processors, archive=archive, owner="elision").process(request)

    assert theirs.messages == request["messages"]
    assert {each.rule for each in theirs.refusals if each.call_id == "call_1"} == {"one_owner"}
    assert [edit.call_id for edit in ours.edits] == ["call_1"]


@pytest.mark.parametrize(
    "asked", [{}, {"context_management": None}, {"context_management": {}}, {"truncation": "disabled"}]
)
def test_a_request_that_asks_its_provider_nothing_needs_no_owner(asked: dict[str, Any], clearing: Chain) -> None:
    for owner in (None, "provider"):
        chain = Chain(clearing.processors, archive=clearing.archive, owner=owner)

        assert [edit.call_id for edit in chain.process({**reading().request(), **asked}).edits] == ["call_1"]
