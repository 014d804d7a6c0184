from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import elision

Named = Callable[[str], elision.Dialect]
Read = Callable[[str, Sequence[Any]], elision.History]
MARK = {"type": "ephemeral"}
CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}, "index": 0}


def patched(dialect: Named, raw: Any, patch: elision.Patch) -> Any:
    reader = dialect("openai")
    return reader.patch(reader.parse(raw, elision.History(reader.wire)), patch)


def test_reasoning_calls_and_unknown_keys_stay_when_the_text_is_edited(dialect: Named) -> None:
    raw = {
        "role": "assistant",
        "content": "secret",
        "reasoning_content": "Hm.",
        "thinking_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": "sig=="}],
        "provider_specific_fields": {"refusal": None},
        "tool_calls": [CALL],
        "unknown": {"kept": True},
    }

    sent = patched(dialect, raw, elision.Patch(contents={1: (elision.Text("…"),)}))

    assert sent == {**raw, "content": "…"}
    assert sent["tool_calls"] is raw["tool_calls"]
    assert raw["content"] == "secret"


def test_only_the_edited_part_of_a_list_is_new(dialect: Named) -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}}
    raw = {"role": "user", "content": [{"type": "text", "text": "a", "kept": 1}, image, {"type": "input_audio"}]}

    sent = patched(dialect, raw, elision.Patch(contents={0: (elision.Text("b", raw["content"][0]),)}))

    assert sent["content"][0] == {"type": "text", "text": "b", "kept": 1}
    assert [sent["content"][n] is raw["content"][n] for n in (1, 2)] == [True, True]


def test_null_content_is_read_as_nothing_and_stays_null(dialect: Named, read: Read) -> None:
    raw = {"role": "assistant", "content": None, "tool_calls": [CALL]}

    (part,) = read("openai", [raw]).messages[0].parts

    assert part == elision.ToolCall("c1", "read", {"path": "a"}, CALL)
    assert patched(dialect, raw, elision.Patch(mark=True)) == raw


@pytest.mark.parametrize(
    ("raw", "marked"),
    [
        (
            {"role": "user", "content": "a"},
            {"role": "user", "content": [{"type": "text", "text": "a", "cache_control": MARK}]},
        ),
        (
            {"role": "tool", "tool_call_id": "c1", "content": "a"},
            {"role": "tool", "tool_call_id": "c1", "content": "a", "cache_control": MARK},
        ),
        (
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": " "}]},
            {
                "role": "user",
                "content": [{"type": "text", "text": "a", "cache_control": MARK}, {"type": "text", "text": " "}],
            },
        ),
        (
            {"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "thinking", "thinking": "b"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "a", "cache_control": MARK},
                    {"type": "thinking", "thinking": "b"},
                ],
            },
        ),
        ({"role": "user", "content": ""}, {"role": "user", "content": ""}),
    ],
    ids=["string", "tool", "blank text last", "thinking last", "nothing to mark"],
)
def test_a_breakpoint_goes_where_litellm_looks_for_it(raw: Any, marked: Any, dialect: Named) -> None:
    assert patched(dialect, raw, elision.Patch(mark=True)) == marked


def test_breakpoints_are_counted_and_taken_away_wherever_they_stand(dialect: Named, read: Read) -> None:
    part = {"type": "text", "text": "a"}
    raw = {"role": "user", "content": [{**part, "cache_control": MARK}], "cache_control": MARK}

    assert read("openai", [raw]).messages[0].marks == 2
    assert patched(dialect, raw, elision.Patch(mark=False)) == {"role": "user", "content": [part]}


@pytest.mark.filterwarnings("ignore:Item '.*' on TypedDict class:UserWarning")
def test_litellms_own_messages_are_read_and_copied_where_they_change(
    dialect: Named, read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    raw = litellm.Message(role="assistant", content="Reading.", tool_calls=[CALL])
    messages = [{"role": "user", "content": "Read a."}, raw, {"role": "tool", "tool_call_id": "c1", "content": "A"}]

    history = read("openai", messages)
    view = elision.Chain([]).process(messages)
    sent = patched(dialect, raw, elision.Patch(contents={0: (elision.Text("R."),)}))

    assert not history.poisoned
    assert view.messages[1] is raw
    assert (raw.content, sent.content) == ("Reading.", "R.")
    assert sent.tool_calls[0].function.name == "read"


def test_a_message_is_built_for_each_result_and_one_for_what_stands_beside(dialect: Named) -> None:
    parts = (elision.ToolResult("c1", (elision.Text("A"),)), elision.Text("Hurry."))

    assert dialect("openai").build(elision.Message("tool", "observation", parts, None)) == [
        {"role": "tool", "tool_call_id": "c1", "content": "A"},
        {"role": "user", "content": "Hurry."},
    ]
