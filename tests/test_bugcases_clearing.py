"""Faults that users met in other systems, where results are cleared: cache, counts, parallel calls, repeated ids."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from itertools import pairwise
from typing import Any

import pytest
from anthropic_rules import blocks_of
from removed import lost
from scheduled_runs import breaks, requests
from shared_data import shared
from wire_rules import marks_in, wire_faults

import elision
from elision import Chain, SentView
from elision.config import lint

PATTERN = "history_processors: [{{type: clear_tool_results, {options}}}]\nclassification: none"


def case(number: str) -> dict[str, Any]:
    found = sorted(shared("bugcases").glob(f"{number}-*.json"))
    return dict(json.loads(found[0].read_text(encoding="utf-8")))


def clears(options: str) -> Chain:
    return elision.loads(PATTERN.format(options=options), archive="memory:")


def put_through(found: dict[str, Any], chain: Chain, **request: Any) -> list[SentView]:
    """Send a case step by step; the stored history stays, and all that is gone can be had."""
    messages = copy.deepcopy(found["messages"])
    with chain.session() as session:
        views = [session.process(each, dialect=found["style"], **request) for each in requests(found["messages"])]

    assert found["messages"] == messages
    for view in views:
        assert wire_faults(found["style"], view.messages) == []
        assert lost(view, chain.opened_archive) == {}
    assert chain.process(found["messages"], dialect=found["style"], **request).messages == views[-1].messages
    return views


def contents(view: SentView) -> list[Any]:
    return [message.get("content") for message in view.messages if message["role"] == "tool"]


@pytest.mark.parametrize("stop", [4, 3, 5])
def test_case_03_parallel_batch_split_by_stored_index(stop: int) -> None:
    """A clear is no cut: whatever it keeps, the batch stays whole.  Indexes of messages are stored nowhere."""
    found = case("03")
    keep = stop - 3
    view = put_through(found, clears(f"keep: {keep}, schedule: every_step, placeholder: anthropic"))[-1]

    assert [message.get("tool_call_id") for message in view.messages[2:4]] == ["p1", "p2"]


def test_case_06_partly_answered_parallel_batch_at_the_end() -> None:
    view = put_through(case("06"), clears("keep: 0, schedule: every_step"))[-1]

    assert contents(view)[0] == "wrote a"
    assert len(view.repairs) == 1
    assert [each.call_id for each in view.pending] == ["q2"]


def test_case_14_same_call_id_in_two_turns() -> None:
    """Pairing goes by place.  Ids are the host's: none is made unique here, where no wire asks for it."""
    found = case("14")
    chain = clears("keep: 1, schedule: every_step")
    first, second = contents(put_through(found, chain)[-1])
    both = clears("keep: 0, schedule: every_step")
    refs = [edit.ref for edit in put_through(found, both)[-1].edits]

    assert first.startswith('[read(p="a"): ')
    assert second == found["messages"][6]["content"]
    assert [both.opened_archive.get(ref).content[:4] for ref in refs] == ["AAAA", "BBBB"]
    assert len(set(refs)) == 2
    assert chain.process([*found["messages"], *found["messages"][4:8]]).messages[2]["content"] == first


def test_case_19_thinking_of_latest_turn_is_byte_equal() -> None:
    found = case("19")
    view = put_through(found, clears("keep: 1, schedule: every_step"))[-1]
    said = [message for message in found["messages"] if message["role"] == "assistant"]

    assert len(view.edits) == 1
    assert [message for message in view.messages if message["role"] == "assistant"] == said


@pytest.mark.parametrize("options", ["keep: 1", "keep: 0"])
def test_case_21_reasoning_content_on_tool_call_messages(options: str) -> None:
    """Results shorter than a placeholder stay; that a provider refuses the field is a matter of profiles."""
    found = case("21")
    for message in found["messages"]:
        if message["role"] == "tool":
            message["content"] *= 40
    view = put_through(found, clears(f"{options}, schedule: every_step"), model="deepseek-chat")[-1]
    said = [message for message in found["messages"] if message["role"] == "assistant"]
    bare = [{key: value for key, value in each.items() if key != "reasoning_content"} for each in found["messages"]]
    without = clears(options).process(bare, dialect="openai", model="deepseek-chat")

    assert len(view.edits) == 1
    assert [message for message in view.messages if message["role"] == "assistant"] == said
    assert view.tokens.before > without.tokens.before


def test_case_24_clear_to_a_low_watermark() -> None:
    found = case("24")
    views = put_through(found, clears("trigger_tokens: 6000, keep: 3, clear_at_least: 3000"))
    broken = breaks(views)
    saved = [view.tokens.before - view.tokens.after for view in views]

    assert broken
    assert all(later - earlier >= 2 for earlier, later in pairwise(broken))
    assert all(saved[number] - saved[number - 1] >= 3000 for number in broken)


ANOTHER_PROCESS = """
import json, sys
import elision
found = json.load(sys.stdin)
chain = elision.loads(sys.argv[1], archive="memory:")
print(json.dumps(chain.process(found["messages"], dialect=found["style"]).messages))
"""


def test_case_26_placeholder_bytes_are_stable() -> None:
    found = case("26")
    options = "trigger_tokens: 1, keep: 1"
    views = put_through(found, clears(options))
    seen: dict[int, set[str]] = {}
    for view in views:
        for place, content in enumerate(contents(view)):
            if content.startswith("["):
                seen.setdefault(place, set()).add(content)
    done = subprocess.run(
        [sys.executable, "-c", ANOTHER_PROCESS, PATTERN.format(options=options)],
        input=json.dumps(found),
        capture_output=True,
        text=True,
        check=True,
    )

    assert {place: len(texts) for place, texts in seen.items()} == dict.fromkeys(range(4), 1)
    assert json.loads(done.stdout) == views[-1].messages


@pytest.mark.parametrize("last_n", [1, 2, 6])
def test_case_27_cache_control_count_with_parallel_results(last_n: int) -> None:
    found = case("27")
    chain = elision.loads(
        "history_processors: [{type: clear_tool_results, keep: 0, schedule: every_step}, "
        f"{{type: cache_control, last_n_messages: {last_n}}}]",
        archive="memory:",
    )
    views = put_through(found, chain)

    for view in views:
        marked = [block for message in view.messages for block in blocks_of(message) if "cache_control" in block]
        assert marks_in(view.messages) <= 4
        assert all(block.get("type") != "thinking" and block.get("text", "x").strip() for block in marked)


def test_case_40_stale_usage_after_compaction() -> None:
    """The trigger looks at what is sent now; usage that a reply has reported is nowhere read."""
    found = case("40")
    for message in found["messages"]:
        if message["role"] == "assistant":
            message["usage"] = {"prompt_tokens": 90_000}
    chain = clears("trigger_tokens: 4000, keep: 1, clear_at_least: 1000")
    views = put_through(found, chain)
    more = [*found["messages"], {"role": "assistant", "content": "Done."}, {"role": "user", "content": "And?"}]
    with chain.session() as session:
        after = [session.process(each, dialect="openai") for each in (found["messages"], more)]

    assert breaks(views)
    assert all(later - earlier > 1 for earlier, later in pairwise(breaks(views)))
    assert breaks(after) == []


def test_case_41_last_batch_is_too_big_as_a_whole() -> None:
    """Clearing starts one step before the newest; the budget that cuts the newest step is another processor."""
    view = put_through(case("41"), clears("trigger_tokens: 6000, keep: 0"))[-1]

    assert view.edits == ()
    assert len(contents(view)) == 10


def test_case_44_cjk_is_not_four_chars_per_token() -> None:
    found = case("44")
    text = found["messages"][2]["content"]
    run = [*found["messages"], {"role": "assistant", "content": "好"}, {"role": "user", "content": "再?"}]
    more = [{"role": "assistant", "content": None, "tool_calls": found["messages"][1]["tool_calls"]}]
    request = [*run, *more, {"role": "tool", "tool_call_id": "lg", "content": "x"}]
    view = clears("trigger_tokens: 2300, keep: 0").process(request, dialect="openai")

    assert len(text) / 4 < 1000
    assert [edit.position for edit in view.edits] == [2]


def test_case_59_impossible_sizes_are_refused() -> None:
    """The types that its sketch names are none of ours: each is one line; ``condense`` has no options to look at."""
    told = [str(problem) for problem in lint(case("59")["config_yaml"], "chain.yaml") if problem.severity == "error"]
    ours = case("59")["config_yaml"].replace("clear_tool_result\n", "clear_tool_results\n")
    sizes = [str(problem) for problem in lint(ours, "chain.yaml") if "[1]" in problem.path]

    assert [line.partition(": history")[0] for line in told] == ["chain.yaml:3:8", "chain.yaml:4:11", "chain.yaml:8:11"]
    assert "did you mean 'clear_tool_results'?" in told[1]
    assert sizes == [
        (
            "chain.yaml:5:11: history_processors[1].keep: keep is -1; it must be at least 0; "
            "correct it, or leave it out for 3"
        ),
        (
            "chain.yaml:6:21: history_processors[1].clear_at_least: clear_at_least_tokens is 50000, more than "
            "trigger_tokens (1000); make it smaller"
        ),
    ]
