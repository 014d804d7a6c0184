"""``cache_control``: marks on the newest messages, on what can carry them, and nowhere else."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scheduled_runs import reads, sent, words
from wire_rules import bytes_of

import elision
from elision.testing import DIALECT_OF, Conversation, Shape, call, chains, conversation, histories, poisoned, result

MARK = {"type": "ephemeral"}
SCHEDULED = ("clear_tool_results", "dedupe", "image_limit", "recent_steps", "supersede", "last_n_observations")
SHARED: list[elision.Schedule] = ["every_step", elision.Polling(polling=2), "break_even"]
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
HISTORY: list[dict[str, Any]] = [
    {"role": "system", "content": "You are an agent."},
    {"role": "user", "content": "Fix it."},
    {"role": "assistant", "content": "ok", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "first"},
    {"role": "assistant", "content": "ok", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "second"},
    {"role": "user", "content": "And?"},
]


def marked(history: list[Any], options: str = "") -> list[int]:
    view = elision.loads(f"history_processors: [{{type: cache_control, {options}}}]").process(history)
    return [i for i, message in enumerate(view.messages) if "cache_control" in str(message)]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", [5, 6]),
        ("last_n_messages: 1", [6]),
        ("last_n_messages: 0", []),
        ("last_n_messages: 9", [1, 3, 5, 6]),
        ("last_n_messages_offset: 1", [3, 5]),
        ("last_n_messages_offset: 50", []),
        ("tagged_roles: [system]", [0]),
        ("tagged_roles: []", []),
    ],
)
def test_the_newest_messages_of_the_roles_are_marked(options: str, expected: list[int]) -> None:
    assert marked(HISTORY, options) == expected


def test_the_mark_stands_on_the_part_and_in_tool_messages_beside_the_content() -> None:
    view = elision.loads("history_processors: [{type: cache_control}]").process(HISTORY)

    assert view.messages[6]["content"] == [{"type": "text", "text": "And?", "cache_control": MARK}]
    assert view.messages[5]["cache_control"] == MARK
    assert view.messages[:5] == HISTORY[:5]


def test_the_mark_stands_on_the_last_part_that_can_carry_one() -> None:
    image = {"type": "image_url", "image_url": {"url": "u"}}
    content = [{"type": "text", "text": "see"}, image, {"type": "text", "text": "  "}]
    view = elision.loads("history_processors: [{type: cache_control}]").process([{"role": "user", "content": content}])

    assert view.messages[0]["content"] == [content[0], {**image, "cache_control": MARK}, content[2]]


@pytest.mark.parametrize("content", ["", " \n", None, [], [{"type": "text", "text": ""}]])
def test_a_message_without_text_is_passed_over(content: Any) -> None:
    history = [*HISTORY, {"role": "assistant", "content": "ok"}, {"role": "user", "content": content}]

    assert marked(history) == [5, 6]


def test_marks_of_the_host_are_taken_away_elsewhere_and_text_stays() -> None:
    system = {"role": "system", "content": [{"type": "text", "text": "sys", "cache_control": MARK}]}
    tool = {**HISTORY[3], "cache_control": MARK}
    history = [system, HISTORY[1], HISTORY[2], tool, *HISTORY[4:]]
    view = elision.loads("history_processors: [{type: cache_control}]").process(history)

    assert view.messages[0] == {"role": "system", "content": [{"type": "text", "text": "sys"}]}
    assert view.messages[3] == HISTORY[3]
    assert "cache_control" in history[3]


def test_marking_what_is_marked_changes_nothing() -> None:
    chain = elision.loads("history_processors: [{type: cache_control}]")
    once = chain.process(HISTORY).messages

    assert chain.process(once).messages == once


def test_marks_never_change_the_text_that_an_earlier_request_sent() -> None:
    chain = elision.loads("history_processors: [{type: cache_control}]")
    earlier, later = chain.process(HISTORY[:4]).messages, chain.process(HISTORY).messages

    assert later[:3] == HISTORY[:3]
    assert earlier[3]["content"] == HISTORY[3]["content"] == later[3]["content"]


AUTO = "plan: auto"
CLEARING = (
    "{history_processors: [{type: clear_tool_results, keep: 2, schedule: {polling: 3}}, "
    "{type: cache_control, plan: auto}], classification: none}"
)


def marks(messages: list[Any]) -> list[int]:
    return [place for place, message in enumerate(messages) if "cache_control" in str(message)]


def views_of(chain: elision.Chain, run: Conversation, **said: Any) -> list[elision.SentView]:
    return sent(chain, run.messages(), model="claude-sonnet-4-5", **said)


def test_with_plan_auto_the_head_and_the_newest_message_are_marked() -> None:
    assert marked(HISTORY, AUTO) == [1, 6]
    assert marked(HISTORY[:2], AUTO) == [1]
    assert marked(HISTORY[:1], AUTO) == []
    assert marked([], AUTO) == []


def test_the_head_ends_before_the_first_step_that_is_no_demonstration() -> None:
    run = conversation("sweagent").system("You fix bugs.").user("Look:", demo=True)
    run = (
        run.step("first", call("ls"), result("a.py"), demo=True)
        .user("Fix it.")
        .step("I look.", call("ls"), result("b"))
    )
    view = elision.loads(f"history_processors: [{{type: cache_control, {AUTO}}}]").process(run.messages())

    assert [message["role"] for message in view.messages[:-2]][marks(view.messages)[0]] == "user"
    assert len(marks(view.messages)) == 2


def test_one_mark_sits_on_the_last_surviving_boundary_on_the_step_of_a_clear() -> None:
    views = views_of(elision.loads(CLEARING, archive="memory:"), reads(*[400] * 12))
    for broken in [number for number, view in enumerate(views) if view.cache.breaks]:
        index = views[broken].cache.breaks[0].index
        surviving = [place for place in range(index) if views[broken].messages[place]["role"] in {"user", "tool"}]

        assert max(place for place in marks(views[broken].messages) if place < index) == surviving[-1]
    assert sum(bool(view.cache.breaks) for view in views) >= 3


def test_a_later_clear_finds_again_all_that_it_leaves_as_it_was() -> None:
    views = views_of(elision.loads(CLEARING, archive="memory:"), reads(*[400] * 16), system=words(4000))
    broken = [view for view in views if view.cache.breaks]

    for view in broken:
        (cut,) = view.cache.breaks
        left = [message for message in view.messages[: cut.index - 1] if message["role"] == "tool"]

        assert view.cache.read_tokens >= 4000 + 10 * len(left)


def test_the_newest_message_that_a_clear_has_changed_stays_marked_from_where_the_next_one_begins() -> None:
    views = views_of(elision.loads(CLEARING, archive="memory:"), reads(*[400] * 12))
    number = next(number for number, view in enumerate(views) if view.cache.breaks)
    changed = max(edit.position for edit in views[number].edits if edit.elides)

    assert changed in marks(views[number].messages)
    assert changed in marks(views[number + 1].messages)


def test_results_of_one_message_that_go_in_two_clears_leave_the_mark_before_it() -> None:
    run = conversation("anthropic").user("Go on.")
    for number in range(12):
        calls = [call("read_file", path=f"{number}/{part}.py") for part in range(3)]
        run = run.step(*calls, *[result(words(200)) for _ in calls])
    views = views_of(elision.loads(CLEARING, archive="memory:"), run)
    for view in views:
        for place in marks(view.messages)[1:-1]:
            results = [block for block in view.messages[place]["content"] if block["type"] == "tool_result"]

            assert all(str(block["content"]).startswith("[") for block in results)
    assert any(view.cache.breaks for view in views)


@pytest.mark.parametrize(("results", "bridged"), [(9, False), (10, True), (30, True)])
def test_after_a_step_that_is_longer_than_the_provider_looks_back_the_end_of_the_request_before_is_marked(
    results: int, bridged: bool
) -> None:
    many = [call("ls", path=str(number)) for number in range(results)]
    run = conversation("anthropic").user("Go on.").step(call("ls"), result("a"))
    run = run.step(*many, *[result("b") for _ in many])
    view = views_of(elision.loads(f"history_processors: [{{type: cache_control, {AUTO}}}]", archive="memory:"), run)[-1]

    assert marks(view.messages) == ([0, 2, 4] if bridged else [0, 4])


def test_a_tool_message_with_three_parallel_results_and_a_system_breakpoint_never_exceed_four() -> None:
    chain = elision.loads(CLEARING, archive="memory:")
    system = [{"type": "text", "text": "You fix bugs.", "cache_control": MARK}]
    tools = [{"name": "read_file", "input_schema": {}, "cache_control": MARK}]
    run = conversation("anthropic").user("Go on.")
    for number in range(12):
        calls = [call("read_file", path=f"{number}/{part}.py") for part in range(3)]
        run = run.step(*calls, *[result(words(200), cached=True) for _ in calls])
    counts = [str(view.messages).count("cache_control") for view in views_of(chain, run, system=system, tools=tools)]

    assert max(counts) == 2
    assert {str(view.messages).count("cache_control") for view in views_of(chain, run, system=system)} == {1, 2, 3}


def test_where_four_marks_stand_beside_the_messages_none_is_set_in_them() -> None:
    tools = [{"name": str(number), "input_schema": {}, "cache_control": MARK} for number in range(4)]
    chain = elision.loads(f"history_processors: [{{type: cache_control, {AUTO}}}]", archive="memory:")
    view = chain.process(HISTORY, tools=tools, dialect="openai")

    assert (marks(view.messages), view.refusals) == ([], ())


@pytest.mark.parametrize(
    ("options", "beside", "model", "mark"),
    [
        ("plan: auto", None, None, MARK),
        ("plan: auto, ttl: 5m", None, None, MARK),
        ("plan: auto, ttl: 1h", None, None, {**MARK, "ttl": "1h"}),
        ("ttl: 1h", None, None, {**MARK, "ttl": "1h"}),
        ("plan: auto, ttl: 1h", {**MARK, "ttl": "1h"}, None, {**MARK, "ttl": "1h"}),
        ("plan: auto, ttl: 1h", MARK, None, MARK),
        ("plan: auto, ttl: 1h", None, "qwen3-max", MARK),
    ],
)
def test_marks_live_as_long_as_asked_unless_one_before_them_or_the_provider_does_not(
    options: str, beside: Any, model: str | None, mark: Any
) -> None:
    chain = elision.loads(f"history_processors: [{{type: cache_control, {options}}}]", archive="memory:")
    system = [{"type": "text", "text": "sys", **({"cache_control": beside} if beside else {})}]
    view = chain.process(HISTORY, system=system, model=model, dialect="openai")

    assert view.messages[5 if "plan" not in options else 6]["role"] in {"tool", "user"}
    assert [view.messages[6]["content"][0]["cache_control"]] == [mark]


def test_a_host_that_marks_for_an_hour_keeps_it_unless_the_chain_says_otherwise() -> None:
    hour = {**MARK, "ttl": "1h"}
    history = [*HISTORY[:5], {**HISTORY[5], "cache_control": hour}, HISTORY[6]]
    found = {
        options: elision.loads(f"history_processors: [{{type: cache_control, {options}}}]", archive="memory:")
        .process(history)
        .messages[5]
        .get("cache_control")
        for options in ("", "ttl: 5m", "plan: auto")
    }

    assert found == {"": hour, "ttl: 5m": MARK, "plan: auto": MARK}


def test_a_plan_that_chooses_itself_takes_no_number_of_messages() -> None:
    with pytest.raises(elision.ConfigError, match="plan: auto chooses the messages itself; remove last_n_messages"):
        elision.loads("history_processors: [{type: cache_control, plan: auto, last_n_messages: 3}]")


def test_an_unknown_option_names_those_that_there_are() -> None:
    with pytest.raises(elision.ConfigError, match="did you mean 'plan'"):
        elision.loads("history_processors: [{type: cache_control, plam: auto}]")


@pytest.mark.parametrize("shape", ["openai", "anthropic", "sweagent"])
def test_with_plan_auto_a_session_and_a_fresh_process_set_the_same_marks(shape: Shape) -> None:
    @given(
        st.one_of(histories(shape), poisoned(shape)),
        chains(types=SCHEDULED),
        st.sampled_from(SHARED),
        st.floats(0, 1),
    )
    def holds(messages: list[Any], made: elision.Chain, schedule: elision.Schedule, share: float) -> None:
        marking = elision.loads(f"history_processors: [{{type: cache_control, {AUTO}}}]", archive="memory:")
        chain = elision.Chain((*made.processors, *marking.processors), archive="memory:", schedule=schedule)
        with chain.session() as session, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for stop in range(len(messages) + 1):
                view = session.process(messages[:stop], dialect=DIALECT_OF[shape]).messages

                assert str(view).count("'cache_control'") <= 4
                if stop in {int(share * len(messages)), len(messages)}:
                    fresh = chain.process(messages[:stop], dialect=DIALECT_OF[shape]).messages

                    assert bytes_of(view) == bytes_of(fresh)

    holds()
