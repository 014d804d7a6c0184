"""Faults of counting that users met in other systems; read where the folder is there."""

from __future__ import annotations

import copy
import json
from typing import Any

from shared_data import shared

import elision
from elision.profiles import profile_for
from elision.tokens import count_messages, count_part, count_text


def case(number: str) -> dict[str, Any]:
    (found,) = shared("bugcases").glob(f"{number}-*.json")
    return dict(json.loads(found.read_text(encoding="utf-8")))


def results(messages: list[dict[str, Any]]) -> list[str]:
    return [message["content"] for message in messages if message["role"] == "tool"]


def cleared(view: elision.SentView) -> int:
    return sum(edit.elides for edit in view.edits)


def clearing(tokens: int) -> elision.Chain:
    """A chain that clears all but the newest result once a request is over so many tokens."""
    return elision.loads(f"""
        history_processors:
          - {{type: clear_tool_results, keep: 1, schedule: {{trigger_tokens: {tokens}}}}}
        classification: none
    """)


def test_case_37_threshold_below_fixed_overhead() -> None:
    """No summary is made here; a clear whose trigger lies below the fixed size has nothing to clear and says nothing
    wrong. The fixed size is counted, so that it can be named beside the threshold."""
    found = case("37")
    (fixed,) = count_messages([found["messages"][:1]], "openai")
    chain = clearing(found["config"]["trigger_tokens"])
    views = [chain.process(copy.deepcopy(found["messages"])) for _ in range(10)]

    assert fixed > found["config"]["trigger_tokens"]
    assert all(view.messages == found["messages"] and not view.edits and not view.failures for view in views)
    assert {view.tokens.before for view in views} == {fixed + count_text("hi") + count_text("hello") + 5}


def test_case_40_stale_usage_after_compaction() -> None:
    """The trigger looks at the size of the new list; usage that was reported before a clear is nowhere looked at."""
    found = case("40")
    more = [{"role": "assistant", "content": "Done."}, {"role": "user", "content": "Thanks."}]
    session = clearing(found["config"]["trigger_tokens"]).session()
    after = session.process(found["messages"])
    later = session.process([*found["messages"], *more])

    assert after.tokens.before > found["config"]["trigger_tokens"] > after.tokens.after
    assert cleared(later) == cleared(after) > 0
    assert later.messages == [*after.messages, *more]


def test_case_43_special_token_text() -> None:
    found = case("43")
    (text,) = results(found["messages"])
    bare = text.replace("<|", "< |").replace("|>", "| >")
    view = elision.load("default").process(found["messages"])

    assert all(count_text(text, model) >= 20 for model in (None, "gpt-4o", "gpt-4", "claude-sonnet-4-5"))
    assert abs(count_text(text) - count_text(bare)) < 8
    assert results(view.messages) == [text]


def test_case_44_cjk_is_not_four_chars_per_token() -> None:
    """The second sentence is about offloading; here the same count decides that a clear is due."""
    found = case("44")
    (text,) = results(found["messages"])
    threshold = found["config"]["threshold_tokens"]
    more = copy.deepcopy(found["messages"][1:])
    more[0]["tool_calls"][0]["id"] = more[1]["tool_call_id"] = "lg2"
    view = clearing(2 * threshold).process([*found["messages"], *more], model="gpt-4")

    assert len(text) / 4 < threshold < count_text(text, "gpt-4")
    assert 0.75 < count_text(text, "deepseek-chat") / count_text(text, "gpt-4o") < 1.25
    assert cleared(view) == 1


def test_case_46_an_emoji_family_is_counted_wherever_the_text_is_cut() -> None:
    (text,) = results(case("46")["messages"])
    counted = [count_text(text[:limit]) for limit in range(1, 201)]

    assert all(0 < tokens <= 4 * limit for limit, tokens in enumerate(counted, 1))


def test_case_48_content_as_list_of_blocks_is_counted_block_by_block() -> None:
    found = case("48")
    blocks = next(m["content"] for m in found["messages"] if m["role"] == "tool" and isinstance(m["content"], list))
    message = next(m for m in found["messages"] if m.get("content") is blocks)
    (tokens,) = count_messages([[message]], "openai")

    assert tokens == sum(count_text(block["text"]) for block in blocks if block["type"] == "text")


def test_case_49_old_image_breaks_later_calls() -> None:
    """Each picture has the price of its size: one pixel is one token, and its base64 is never text."""
    found = case("49")
    image = next(
        block["content"][0]
        for message in found["messages"]
        for block in message["content"]
        if block["type"] == "tool_result"
    )
    (tokens,) = count_messages([[{"role": "user", "content": [image]}]], "anthropic", "claude-sonnet-4-5")
    url = f"data:image/png;base64,{image['source']['data']}"

    assert tokens == profile_for("claude-sonnet-4-5").images.cost(1, 1) == 1
    assert count_part(elision.Image(url), "claude-sonnet-4-5") == 1
