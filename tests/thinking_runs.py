"""Runs with thinking, and what providers demand of it: oracles that share no code with Elision."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from anthropic_rules import blocks_of
from hypothesis import strategies as st
from wire_rules import bytes_of, without_marks

import elision
from elision import Chain, ElisionWarning, SentView
from elision.testing import (
    Conversation,
    Shape,
    call,
    conversation,
    histories,
    image,
    redacted_thinking,
    result,
    thinking,
)

BOUND, NEWEST, TURNS, NONE = "claude-opus-5-5", "claude-sonnet-4-5", "deepseek-chat", "gpt-4o"
"""A model for each rule."""

DROP_BLOCK = {
    "thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}},
    "extra_headers": {"anthropic-beta": "thinking-binding-controls-2026-08-01"},
}


def step(run: Conversation, number: int, *, thinks: bool = True) -> Conversation:
    """Add a step that reads a file, with thinking of its own."""
    thoughts = [thinking(f"Now for {number}.", signature=f"sig{number}")] if thinks else []
    return run.step(*thoughts, call("read_file", path=f"src/{number}.py"), result(f"line {number} " * 200))


def answer(run: Conversation, words: str = "Done.") -> Conversation:
    """Add a step without calls, with thinking of its own."""
    return run.step(thinking(f"So: {words}", signature=f"sig of {words}"), words)


def turns(shape: Shape, *counts: int) -> Conversation:
    """Return turns of so many steps with a call each, and a final answer, but for the last one."""
    run = conversation(shape)
    for turn, count in enumerate(counts):
        run = answer(run, f"Answer {turn}.") if turn else run
        run = run.user(f"Task {turn}.")
        for number in range(count):
            run = step(run, 100 * turn + number)
    return run


def thoughts(message: Any) -> list[Any]:
    """Return the thinking of a message, as the host holds it."""
    if not isinstance(message, Mapping) or message.get("role") != "assistant":
        return []
    kinds = {"thinking", "redacted_thinking"}
    blocks = [block for block in blocks_of(message) if block.get("type") in kinds]
    said = message.get("reasoning_content")
    return [*blocks, *(message.get("thinking_blocks") or ()), *([said] if said else [])]


def without_thoughts(message: Any) -> Any:
    """Return a message without thinking and cache breakpoints, a text alone as a string."""
    found = {key: value for key, value in message.items() if key not in ("thinking_blocks", "reasoning_content")}
    if isinstance(found.get("content"), list):
        kinds = {"thinking", "redacted_thinking"}
        found["content"] = [block for block in found["content"] if block.get("type") not in kinds]
    return without_marks(found)


def unbound(views: Mapping[int, SentView], messages: Sequence[Any], stop: int) -> list[str]:
    """Return the thinking in a view that its provider would refuse: it was bound to another prefix.

    ``views`` has the view of each request, by the length of its history; thinking is told by its bytes.
    """
    made_at = {bytes_of(thought): at for at, message in enumerate(messages) for thought in thoughts(message)}
    view, faults = views[stop].messages, []
    for place, message in enumerate(view):
        for thought in thoughts(message)[:1]:
            then = views[made_at[bytes_of(thought)]].messages
            now = view[:place]
            same = bytes_of(list(map(without_thoughts, then))) == bytes_of(list(map(without_thoughts, now)))
            if not same or not _ends(_all_thoughts(then), _all_thoughts(now)):
                faults.append(bytes_of(thought))
    return faults


def changed_since(views: Mapping[int, SentView], messages: Sequence[Any], stop: int) -> list[str]:
    """Return the thinking in a view before which anything has changed since the request that it answered."""
    made_at = {bytes_of(thought): at for at, message in enumerate(messages) for thought in thoughts(message)}
    found = [
        (place, bytes_of(each[0])) for place, message in enumerate(views[stop].messages) if (each := thoughts(message))
    ]
    return [
        thought
        for place, thought in found
        if bytes_of(without_marks(views[stop].messages[:place]))
        != bytes_of(without_marks(views[made_at[thought]].messages))
    ]


def _ends(whole: list[str], end: list[str]) -> bool:
    return not end or whole[-len(end) :] == end


def _all_thoughts(messages: Iterable[Any]) -> list[str]:
    return [bytes_of(thought) for message in messages for thought in thoughts(message)]


def newest_thoughts(messages: Sequence[Any]) -> list[Any]:
    """Return the thinking of the newest step; that of an answer which the user has answered may go."""
    at = max((place for place, message in enumerate(messages) if message.get("role") == "assistant"), default=None)
    if at is None or (at + 1 < len(messages) and not calls_in(messages[at])):
        return []
    return thoughts(messages[at])


def calls_in(message: Any) -> bool:
    """Whether a message of the assistant has calls."""
    return bool(message.get("tool_calls")) or any(block.get("type") == "tool_use" for block in blocks_of(message))


def call_ids(message: Any) -> list[str]:
    """Return the ids of a message's calls."""
    blocks = [block for block in blocks_of(message) if block.get("type") == "tool_use"]
    return [str(each["id"]) for each in [*blocks, *(message.get("tool_calls") or ())]]


def with_model(made: Chain, model: str, policy: Any, **said: Any) -> Chain:
    """Return a chain for a model, with what it says of bound thinking."""
    given = {"classification": None, "archive": made.archive, "schedule": made.schedule, **said}
    return Chain(made.processors, model=model, on_bound_thinking=policy, **given)


WHY = "bound to what stood before it"


def clearing(policy: Any = None, model: str = BOUND, more: str = "", **said: Any) -> Chain:
    """Return a chain that clears all but the newest result, as soon as it can."""
    listed = f"{{type: clear_tool_results, keep: 1, schedule: every_step}}{more}"
    loaded = elision.loads(f"{{history_processors: [{listed}], classification: none}}", archive="memory:")
    given: dict[str, Any] = {"archive": loaded.archive, "classification": None, "model": model, **said}
    return Chain(loaded.processors, on_bound_thinking=policy, **given)


def quiet(chain: Chain, run: Conversation, **said: Any) -> SentView:
    """Process a run without a word."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ElisionWarning)
        return chain.process(run.messages(), **said)


def cleared(view: SentView) -> list[int]:
    """Return the positions of placeholders."""
    return [edit.position for edit in view.edits if edit.elides]


def dropped(view: SentView) -> list[int]:
    """Return the positions of thinking that went with an edit."""
    return [edit.position for edit in view.edits if edit.reason == WHY]


def refused(view: SentView) -> set[tuple[str, str]]:
    """Return what was refused: rule and reason."""
    return {(refusal.rule, refusal.reason) for refusal in view.refusals}


def bound_at(position: int, policy: str = "drop_thinking") -> str:
    """Return the reason of what waits behind thinking."""
    return f"thinking in message {position} is bound to what stands before it (on_bound_thinking: {policy})"


@st.composite
def thinking_runs(draw: st.DrawFn, shape: Shape) -> list[Any]:
    """Draw a run of turns whose steps think, each thought different from all others."""
    run, number = conversation(shape), 0
    for _ in range(draw(st.integers(1, 4))):
        run = run.user(f"Task {number}.")
        for _ in range(draw(st.integers(0, 4))):
            number += 1
            answered = [
                (call("read_file", path=f"{draw(st.integers(0, 2))}.py"), _result(draw, number))
                for _ in range(draw(st.integers(1, 2)))
            ]
            calls, results = zip(*answered, strict=True)
            run = run.step(*_thoughts(draw, number), *draw(_said), *calls, *results)
        if draw(st.booleans()):
            number += 1
            run = run.step(*_thoughts(draw, number), f"Answer {number}.")
    return run.messages()


_said = st.sampled_from([[], ["I look."]])


def _thoughts(draw: st.DrawFn, number: int) -> list[Any]:
    kind = draw(st.sampled_from(["none", "signed", "signed", "redacted", "both"]))
    signed, hidden = thinking(f"Thought {number}.", signature=f"sig{number}"), redacted_thinking(f"data{number}")
    return {"none": [], "signed": [signed], "redacted": [hidden], "both": [signed, hidden]}[kind]


def _result(draw: st.DrawFn, number: int) -> Any:
    words = draw(st.sampled_from(["the same words, over and over " * 20, f"line {number} " * 40, "ok"]))
    return result(words, image()) if draw(st.integers(0, 3)) == 0 else result(words)


@st.composite
def any_runs(draw: st.DrawFn, shape: Shape) -> list[Any]:
    """Draw a history of any kind in which each thought is different from all others."""
    messages = copy.deepcopy(draw(histories(shape)))
    for at, message in enumerate(messages):
        for number, thought in enumerate(thoughts(message)):
            if isinstance(thought, str):
                message["reasoning_content"] = f"{thought} {at}"
            else:
                key = "data" if thought["type"] == "redacted_thinking" else "signature"
                thought[key] = f"{thought[key]}{at}.{number}"
    return messages
