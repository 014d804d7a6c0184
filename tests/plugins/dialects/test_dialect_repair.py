"""Poisoned histories go out mended, on the view only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import elision

Send = Callable[..., elision.SentView]
USER = {"role": "user", "content": "Do both."}


def call(ident: str, name: str = "write") -> dict[str, Any]:
    return {"id": ident, "type": "function", "function": {"name": name, "arguments": '{"path": "a"}'}}


def calls(*ids: str) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [call(ident) for ident in ids]}


def result(ident: str, text: str = "wrote a") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": ident, "content": text}


def uses(*ids: str, before: tuple[Any, ...] = ()) -> dict[str, Any]:
    blocks = [{"type": "tool_use", "id": ident, "name": "write", "input": {"path": "a"}} for ident in ids]
    return {"role": "assistant", "content": [*before, *blocks]}


def answer(ident: str, text: str = "wrote a", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": ident, "content": text, **more}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def faults(view: elision.SentView) -> list[str]:
    return [repair.fault for repair in view.repairs]


def test_a_dangling_call_gets_a_result_that_says_the_outcome_is_unknown(send: Send) -> None:
    stop = {"role": "user", "content": "Stop, wrong branch!"}

    view = send([USER, calls("d1"), stop])

    assert [message["role"] for message in view.messages] == ["user", "assistant", "tool", "user"]
    assert view.messages[2] == result(
        "d1", "The outcome of this call is unknown: its result is missing from the history."
    )
    assert view.messages[3] is stop
    assert faults(view) == ["dangling_call"]


def test_of_a_partly_answered_batch_only_the_open_call_gets_one(send: Send) -> None:
    receipt = result("q1")

    view = send([USER, calls("q1", "q2"), receipt])

    assert view.messages[2] is receipt
    assert [message["tool_call_id"] for message in view.messages[2:]] == ["q1", "q2"]
    assert faults(view) == ["dangling_call"]


@pytest.mark.parametrize("first", ["1 item saved", "Tool execution aborted"])
def test_the_real_receipt_wins_over_a_note_that_the_call_was_aborted(first: str, send: Send) -> None:
    notes = [first, "1 item saved" if first.startswith("Tool") else "Tool execution aborted"]

    view = send(
        [USER, calls("todo:1"), *(result("todo:1", note) for note in notes), {"role": "assistant", "content": "."}]
    )

    assert [message["content"] for message in view.messages if message["role"] == "tool"] == ["1 item saved"]
    assert [message["role"] for message in view.messages] == ["user", "assistant", "tool", "assistant"]


def test_a_result_whose_call_was_cut_away_is_left_out(send: Send) -> None:
    view = send([USER, result("c1"), calls("c2"), result("c2")])

    assert [message["role"] for message in view.messages] == ["user", "assistant", "tool"]
    assert faults(view) == ["orphan_result"]


def test_a_result_behind_a_user_message_is_moved_to_its_call(send: Send) -> None:
    word = {"role": "user", "content": "Hurry."}

    view = send([USER, calls("c1"), word, result("c1")])

    assert view.messages[2:] == [result("c1"), word]
    assert faults(view) == ["late_result"]


@pytest.mark.parametrize("later", [result("p1", "12 rows"), user(answer("p1", "12 rows"))], ids=["openai", "anthropic"])
def test_what_a_call_gave_after_it_was_pending_is_said_by_the_user(later: dict[str, Any], send: Send) -> None:
    pending = [calls("p1"), result("p1", "pending")] if later["role"] == "tool" else [uses("p1"), user(answer("p1"))]
    said = [{"role": "assistant", "content": "It runs."}, {"role": "user", "content": "What else?"}]

    view = send([USER, *pending, *said, {"role": "assistant", "content": "Nothing."}, later])

    assert view.messages[-1]["role"] == "user"
    assert "12 rows" in str(view.messages[-1])
    assert "write" in str(view.messages[-1])
    assert faults(view) == ["late_result"]
    assert send(view.messages).messages == view.messages


@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_comes_later_amid_the_results_of_other_calls_is_said_behind_them(place: int, send: Send) -> None:
    batch = [result("q1"), result("q2")]
    batch.insert(place, result("p1", "12 rows"))
    done = {"role": "assistant", "content": "Done."}

    view = send([USER, calls("p1"), result("p1", "pending"), calls("q1", "q2"), *batch, done])

    assert [message.get("tool_call_id") for message in view.messages[3:6]] == [None, "q1", "q2"]
    assert view.messages[6]["content"].endswith("12 rows")
    assert faults(view) == ["late_result"]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_anthropic_what_comes_later_amid_the_results_of_other_calls_is_said_behind_them(place: int, send: Send) -> None:
    batch = [answer("q1"), answer("q2")]
    batch.insert(place, answer("p1", "12 rows"))

    view = send([USER, uses("p1"), user(answer("p1", "pending")), uses("q1", "q2"), user(*batch)])

    assert [block["tool_use_id"] for block in view.messages[4]["content"]] == ["q1", "q2"]
    assert view.messages[5]["content"].endswith("12 rows")
    assert faults(view) == ["late_result"]


def test_anthropic_what_comes_later_with_a_text_beside_it_is_said_before_that(send: Send) -> None:
    later = user(answer("p1", "12 rows"), text("Go on."))

    view = send([USER, uses("p1"), user(answer("p1", "pending")), {"role": "assistant", "content": "."}, later])

    assert view.messages[4]["content"].endswith("12 rows")
    assert view.messages[5] == user(text("Go on."))
    assert faults(view) == ["late_result"]


@pytest.mark.parametrize("outcome", ["cancelled by the reviewer", "3 tests skipped, 12 passed", "boom"])
def test_how_a_pending_call_ended_is_said_whatever_came_of_it(outcome: str, send: Send) -> None:
    first, wait = user(answer("p1", "pending")), {"role": "assistant", "content": "I wait."}
    later = user(answer("p1", outcome, is_error=True))

    view = send([USER, uses("p1"), first, wait, later])

    assert outcome in str(view.messages[-1]["content"])
    assert faults(view) == ["late_result"]


def test_a_result_without_an_id_that_comes_later_is_known_by_its_tool(send: Send) -> None:
    def said(role: str, **part: Any) -> dict[str, Any]:
        return {"role": role, "parts": [part]}

    given = [
        said("user", functionResponse={"name": "write", "response": {"result": words}})
        for words in ("pending", "12 rows")
    ]
    begun = said("model", functionCall={"name": "write", "args": {}})

    view = send([said("user", text="Go."), begun, given[0], said("model", text="I wait."), given[1]])

    assert "12 rows" in view.messages[-1]["parts"][0]["text"]
    assert faults(view) == ["late_result"]


def test_the_same_result_sent_twice_is_sent_once(send: Send) -> None:
    history = [USER, calls("p1"), result("p1"), {"role": "assistant", "content": "Done."}, result("p1")]

    view = send(history)

    assert view.messages == history[:4]
    assert faults(view) == ["orphan_result"]


def test_anthropic_a_dangling_call_is_answered_in_the_very_next_message(send: Send) -> None:
    view = send([USER, uses("t1"), user(text("Stop!"))])

    assert view.messages[2]["content"][0]["tool_use_id"] == "t1"
    assert view.messages[2]["content"][0]["is_error"] is True
    assert view.messages[3] == user(text("Stop!"))
    assert faults(view) == ["dangling_call"]


def test_anthropic_results_in_two_user_messages_are_put_into_one_in_the_order_of_the_calls(send: Send) -> None:
    view = send([USER, uses("t1", "t2"), user(answer("t2", "two")), user(answer("t1", "one"), text("Hurry."))])

    assert view.messages[2:] == [user(answer("t1", "one"), answer("t2", "two"), text("Hurry."))]
    assert faults(view) == ["split_batch"]


def test_anthropic_text_before_the_results_goes_behind_them(send: Send) -> None:
    view = send([USER, uses("t1"), user(text("Here:"), answer("t1"))])

    assert view.messages[2:] == [user(answer("t1"), text("Here:"))]
    assert faults(view) == ["split_batch"]


@pytest.mark.parametrize("beside", [(), (text("Hurry."),)])
def test_anthropic_an_orphan_result_goes_and_what_stands_beside_it_stays(beside: tuple[Any, ...], send: Send) -> None:
    view = send(
        [USER, {"role": "assistant", "content": "Hm."}, user(answer("t0"), *beside), uses("t1"), user(answer("t1"))]
    )

    assert view.messages[2:] == [*([user(*beside)] if beside else []), uses("t1"), user(answer("t1"))]
    assert faults(view) == ["orphan_result"]


@pytest.mark.parametrize("notes", [("saved", "Tool execution aborted"), ("Tool execution aborted", "saved")])
def test_anthropic_a_call_is_answered_once(notes: tuple[str, str], send: Send) -> None:
    view = send(
        [USER, uses("t1"), user(*(answer("t1", note) for note in notes)), {"role": "assistant", "content": "."}]
    )

    assert view.messages[2] == user(answer("t1", "saved"))
    assert "orphan_result" in faults(view) or "late_result" in faults(view)


def test_anthropic_blank_text_is_left_out(send: Send) -> None:
    view = send([USER, uses("t1", before=(text("\n"),)), user(answer("t1"), text("")), {"role": "user", "content": ""}])

    assert view.messages[1:] == [uses("t1"), user(answer("t1")), {"role": "user", "content": "(empty)"}]
    assert faults(view) == ["blank_text"] * 3


def test_anthropic_no_message_is_left_with_thinking_at_its_end(send: Send) -> None:
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "sig=="}

    view = send([USER, {"role": "assistant", "content": [thinking, text(" ")]}, user(text("And?"))])

    assert view.messages[1]["content"] == [thinking, text("(empty)")]


@pytest.mark.parametrize(
    ("name", "content", "mended"),
    [
        ("openai", "a\ud83d", "a\ufffd"),
        ("openai", "\ud83d\ude00", "\U0001f600"),
        ("anthropic", [{"type": "text", "text": "a\ud83d"}], [{"type": "text", "text": "a\ufffd"}]),
    ],
)
def test_lone_surrogates_are_replaced_and_halves_joined(name: str, content: Any, mended: Any, send: Send) -> None:
    view = send([{"role": "user", "content": content}], name)

    assert view.messages == [{"role": "user", "content": mended}]
    assert faults(view) == ["surrogate"]


def test_a_mended_view_that_comes_back_is_left_as_it_is() -> None:
    long = "a line of the file\n" * 50
    chain = elision.loads(
        "history_processors: [{type: clear_tool_results, keep: 1}]\nschedule: every_step", archive="memory:"
    )
    later = [each for ident in ("r1", "r2", "r3") for each in (calls(ident), result(ident, long))]
    run = [USER, calls("q1", "q2"), result("q2", long), {"role": "user", "content": "Stop."}, *later]

    view = chain.process(run)

    assert faults(view) == ["dangling_call"]
    assert chain.process(view.messages).messages == view.messages


def test_what_a_chain_decided_holds_in_a_step_that_is_mended() -> None:
    messages = [
        USER,
        uses("t1"),
        user(text("The password is hunter2."), answer("t1", "hunter2 saved")),
        {"role": "assistant", "content": "Done."},
    ]
    chain = elision.loads(
        "classification: none\n"
        "history_processors:\n"
        "  - {type: remove_regex, remove: ['hunter2']}\n"
        "  - {type: cache_control, last_n_messages: 1}\n"
    )

    view = chain.process(messages, dialect="anthropic")

    assert "hunter2" not in str(view.messages)
    assert view.messages[2]["content"][0]["content"] == " saved"
    assert "cache_control" in view.messages[2]["content"][-1]
