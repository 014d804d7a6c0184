"""The model server signs its thinking, and takes it back only as it gave it and where it gave it."""

from __future__ import annotations

from typing import Any

import pytest
from model_client import asked, post

from elision.testing import ModelServer, call, redacted_thinking, reply, thinking

BOUND = "claude-opus-5-5"
FREE = "claude-sonnet-4-5"
BETA = {"anthropic_beta": "thinking-binding-controls-2026-08-01"}
DROP = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
SCRIPT = [reply(thinking(f"Thought {number}."), call("ls", path=str(number))) for number in range(9)]


class Run:
    """A conversation that is sent back as it came, until a test changes it."""

    def __init__(self, server: ModelServer, model: str, **more: Any) -> None:
        self.server = server
        self.body: dict[str, Any] = {"model": model, "max_tokens": 100, "messages": [], **more}
        self.messages: list[Any] = self.body["messages"]
        self.messages.append({"role": "user", "content": "Go."})

    def step(self, **headers: str) -> Any:
        """Ask, take the answer in, and answer its calls."""
        answer = asked(self.server, "anthropic", self.body, **headers)
        self.messages.append({"role": "assistant", "content": answer["content"]})
        calls = [block["id"] for block in answer["content"] if block["type"] == "tool_use"]
        results = [{"type": "tool_result", "tool_use_id": each, "content": "a.py"} for each in calls]
        self.messages.append({"role": "user", "content": results or "Go on."})
        return answer

    def told(self, **headers: str) -> str:
        """Ask, and return what is wrong; nothing where all is well."""
        status, answer = post(self.server, "anthropic", self.body, **headers)
        return "" if status == 200 else answer["error"]["message"]


@pytest.mark.parametrize("model", [BOUND, FREE])
def test_thinking_that_goes_back_as_it_came_is_taken(model: str) -> None:
    with ModelServer(SCRIPT) as server:
        run = Run(server, model)
        for _ in range(4):
            run.step()

    assert server.invalid == []


@pytest.mark.parametrize("model", [BOUND, FREE])
def test_the_newest_step_needs_its_thinking_unchanged(model: str) -> None:
    with ModelServer(SCRIPT) as server:
        run = Run(server, model)
        run.step()
        run.step()
        content = run.messages[3]["content"]
        run.messages[3] = {"role": "assistant", "content": content[1:]}
        missing = run.told()
        run.messages[3] = {"role": "assistant", "content": [{**content[0], "thinking": "Other."}, *content[1:]]}
        altered = run.told()
        run.messages[3] = {"role": "assistant", "content": [{**content[0], "signature": "c2ln"}, *content[1:]]}
        forged = run.told()
        run.messages[3] = {"role": "assistant", "content": content}
        near = run.told()

    assert missing.startswith(
        "messages.3.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`"
    )
    assert "in the latest assistant message cannot be modified" in altered
    assert forged == "messages.3.content.0: Invalid `signature` in `thinking` block"
    assert near == ""
    assert [each.rule for each in server.invalid] == ["thinking"] * 3


def test_thinking_of_older_steps_may_go_where_it_is_not_bound() -> None:
    with ModelServer(SCRIPT) as server:
        run = Run(server, FREE)
        run.step()
        run.step()
        run.step()
        for place in (1, 3):
            run.messages[place]["content"] = run.messages[place]["content"][1:]

        assert run.told() == ""


def test_the_newest_step_needs_no_thinking_where_it_is_switched_off_or_none_was_given() -> None:
    with ModelServer([SCRIPT[0], reply(call("ls")), "ok", "ok"]) as server:
        run = Run(server, FREE)
        run.step()
        run.messages[1]["content"] = run.messages[1]["content"][1:]
        run.body["thinking"] = {"type": "disabled"}
        run.step()
        del run.body["thinking"]

        assert run.told() == ""


def test_a_step_that_is_not_of_this_server_needs_thinking_where_it_is_enabled() -> None:
    use = {"type": "tool_use", "id": "x", "name": "ls", "input": {}}
    with ModelServer() as server:
        run = Run(server, FREE, thinking={"type": "enabled", "budget_tokens": 1024})
        run.messages += [
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x"}]},
        ]
        enabled = run.told()
        run.body["thinking"] = {"type": "adaptive"}
        adaptive = run.told()

    assert "Expected `thinking`" in enabled
    assert adaptive == ""


def test_redacted_thinking_goes_back_with_its_data() -> None:
    with ModelServer([reply(redacted_thinking("sealed"), call("ls")), "ok"]) as server:
        run = Run(server, FREE)
        block = run.step()["content"][0]
        run.messages[1]["content"] = [{**block, "data": "other"}, *run.messages[1]["content"][1:]]
        forged = run.told()
        run.messages[1]["content"] = [block, *run.messages[1]["content"][1:]]
        near = run.told()

    assert forged == "messages.1.content.0: Invalid `data` in `redacted_thinking` block"
    assert near == ""


def result_of(run: Run, place: int, content: str) -> None:
    run.messages[place] = {"role": "user", "content": [{**run.messages[place]["content"][0], "content": content}]}


def test_newer_models_show_their_thinking_only_when_they_are_asked_to() -> None:
    with ModelServer([SCRIPT[0], SCRIPT[1], "ok"]) as server:
        run = Run(server, BOUND)
        omitted = run.step()["content"][0]
        run.body["thinking"] = {"type": "adaptive", "display": "summarized"}
        shown = run.step()["content"][0]
        said = run.told()

    assert (omitted["thinking"], shown["thinking"], said) == ("", "Thought 1.", "")
    assert omitted["signature"]


EDITS = {
    "an older result": lambda run: result_of(run, 2, "[cleared]"),
    "the task": lambda run: run.messages.__setitem__(0, {"role": "user", "content": "Stop."}),
    "the system prompt": lambda run: run.body.__setitem__("system", "Be brief."),
    "the tools": lambda run: run.body.__setitem__("tools", [{"name": "ls", "input_schema": {"type": "object"}}]),
    "a message that is new": lambda run: run.messages.__setitem__(slice(1, 1), [{"role": "user", "content": "Hi."}]),
    "thinking in the middle": lambda run: run.messages[3].__setitem__("content", run.messages[3]["content"][1:]),
}


@pytest.mark.parametrize("edit", EDITS)
def test_bound_thinking_is_refused_when_what_stands_before_it_changes(edit: str) -> None:
    with ModelServer(SCRIPT) as server:
        run, free = Run(server, BOUND), Run(server, FREE)
        for each in (run, free):
            for _ in range(3):
                each.step()
            EDITS[edit](each)
        bound = run.told()
        elsewhere = free.told()

    assert "Invalid `signature` in `thinking` block. The block is bound to a different conversation." in bound
    assert elsewhere == ""
    assert [each.rule for each in server.invalid] == ["bound_thinking"]


def test_bound_thinking_stands_when_breakpoints_move_or_thinking_goes_from_the_beginning() -> None:
    with ModelServer(SCRIPT) as server:
        run = Run(server, BOUND, system="Be brief.")
        for _ in range(3):
            run.step()
        run.body["system"] = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
        run.messages[1]["content"] = run.messages[1]["content"][1:]

        assert run.told() == ""


def test_thinking_after_an_edit_is_bound_to_what_was_sent() -> None:
    with ModelServer(SCRIPT) as server:
        run = Run(server, BOUND)
        run.step()
        run.messages[1]["content"] = run.messages[1]["content"][1:]
        run.messages.append({"role": "assistant", "content": "Well."})
        run.messages.append({"role": "user", "content": "Go on."})
        result_of(run, 2, "[cleared]")
        run.step()
        run.step()
        unchanged = run.told()
        result_of(run, 2, "a.py")
        back = run.told()

    assert unchanged == ""
    assert "bound to a different conversation" in back


def test_drop_block_leaves_out_what_an_edit_broke_and_says_which() -> None:
    with ModelServer(SCRIPT) as server:
        run = Run(server, BOUND)
        for _ in range(3):
            run.step()
        result_of(run, 2, "[cleared]")
        run.body["thinking"] = DROP
        answer = run.step(**BETA)
        later = run.step(**BETA)
        del run.body["thinking"]
        without = run.told()

    dropped = [(each["reason"], each["path"]) for each in answer["input_transformations"]]
    assert dropped == [("prefix_binding_mismatch", f"messages.{place}.content.0") for place in (3, 5)]
    assert later["input_transformations"] == answer["input_transformations"]
    assert "bound to a different conversation" in without


def test_thinking_of_another_model_is_left_out_without_an_error() -> None:
    with ModelServer(SCRIPT) as server:
        run = Run(server, "claude-sonnet-5-5")
        run.step()
        run.body["model"] = BOUND
        answer = run.step()

    assert [each["reason"] for each in answer["input_transformations"]] == ["model_binding_mismatch"]


def test_responses_want_reasoning_before_its_call_and_sealed_as_it_was() -> None:
    with ModelServer([reply(thinking("Hm."), call("ls")), "ok"]) as server:
        body = {"model": "gpt-5.2", "input": [{"role": "user", "content": "Go."}], "store": False}
        body["include"] = ["reasoning.encrypted_content"]
        reasoning, made = asked(server, "responses", body)["output"]
        output = {"type": "function_call_output", "call_id": made["call_id"], "output": "a.py"}
        told = []
        for items in (
            [made, output],
            [{**reasoning, "encrypted_content": "gAAA"}, made, output],
            [{key: made[key] for key in made if key != "id"}, output, reasoning],
            [reasoning, made, output],
        ):
            answer = post(server, "responses", {**body, "input": [*body["input"], *items]})[1]
            told.append((answer.get("error") or {}).get("message", ""))

    assert f"Item '{made['id']}' of type 'function_call' was provided without its required 'reasoning' item" in told[0]
    assert "could not be verified" in told[1]
    assert told[2].endswith("of type 'reasoning' was provided without its required following item.")
    assert told[3] == ""
