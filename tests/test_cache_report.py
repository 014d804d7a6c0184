"""The cache report of a view: keys, breaks with their reasons, what a request reads, writes and costs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from scheduled_runs import reads, requests, sent, words

import elision
from elision import Chain, Edit, Processor, SentView, View
from elision.testing import call, conversation, result

CLAUDE = "claude-sonnet-4-5"
TOOLS = [{"name": "read_file", "input_schema": {}}, {"name": "write_file", "input_schema": {}}]


def chain(options: str = "keep: 2, schedule: {polling: 3}", *, plan: str = "plan: auto") -> Chain:
    return elision.loads(
        f"{{history_processors: [{{type: clear_tool_results, {options}}}, {{type: cache_control, {plan}}}], "
        "classification: none}",
        archive="memory:",
    )


def test_a_request_that_extends_the_one_before_has_no_break_and_reads_all_of_it() -> None:
    first, second = sent(chain("keep: 9"), reads(900, 900).messages()[:5], model=CLAUDE)[1:]

    assert (first.cache.breaks, second.cache.breaks) == ((), ())
    assert second.cache.read_tokens == first.cache.input_tokens
    assert second.cache.miss_tokens == 0


def test_a_break_names_the_first_message_that_changed_and_the_processors_that_changed_it() -> None:
    views = sent(chain(), reads(*[900] * 8).messages(), model=CLAUDE)
    found = {number: view.cache.breaks for number, view in enumerate(views) if view.cache.breaks}
    number, ((index, reason, processors),) = next(
        (number, [(each.index, each.reason, each.processors) for each in breaks]) for number, breaks in found.items()
    )
    before, now = views[number - 1].messages, views[number].messages

    assert reason == "edits of clear_tool_results"
    assert processors == ("clear_tool_results",)
    assert now[index]["content"] != before[index]["content"]
    assert [message["role"] for message in now[:index]] == [message["role"] for message in before[:index]]


@pytest.mark.parametrize(
    ("before", "now", "index", "reason"),
    [
        ({"system": "a"}, {"system": "b"}, 0, "the system prompt changed"),
        ({"tools": TOOLS}, {"tools": TOOLS[:1]}, 0, "the tools changed"),
        ({"tools": TOOLS}, {"tools": TOOLS[::-1]}, 0, "the tools came in another order; send view.tools"),
        ({"model": "gpt-4.1"}, {"model": "gpt-4o"}, 0, "the model changed from gpt-4.1 to gpt-4o"),
        ({"now": 0}, {"now": 9999}, 0, "the cache is cold: 9999 seconds since the request before"),
        ({"now": 0}, {"now": 200}, None, ""),
        ({"tools": TOOLS, "system": "a"}, {"tools": json.loads(json.dumps(TOOLS)), "system": "a"}, None, ""),
    ],
)
def test_a_break_says_what_leads_the_prefix_and_has_changed(
    before: dict[str, Any], now: dict[str, Any], index: int | None, reason: str
) -> None:
    messages = reads(900).messages()
    with chain().session() as session:
        session.process(messages[:1], **({"model": CLAUDE} | before))
        view = session.process(messages, **({"model": CLAUDE} | now))

    assert [(each.index, each.reason) for each in view.cache.breaks] == ([] if index is None else [(index, reason)])
    if index == 0:
        assert view.cache.read_tokens == 0


def test_a_history_that_the_host_has_rewritten_breaks_where_it_differs() -> None:
    messages = reads(900, 900).messages()
    other = [*messages[:3], {"role": "user", "content": "Something else."}]
    with chain().session() as session:
        session.process(messages, model=CLAUDE)
        view = session.process(other, model=CLAUDE)

    assert [(each.index, each.reason) for each in view.cache.breaks] == [(3, "the host rewrote its history")]


def test_marks_that_move_on_are_no_break() -> None:
    views = sent(chain("keep: 9", plan="last_n_messages: 2"), reads(50, 50, 50).messages(), model=CLAUDE)

    assert [view.cache.breaks for view in views] == [()] * len(views)


def test_a_view_read_late_reports_what_it_would_have_reported_at_once() -> None:
    messages = reads(*[700] * 9).messages()
    with chain().session() as session:
        at_once = [session.process(each, model=CLAUDE).cache.as_dict() for each in requests(messages)]
    late = [view.cache.as_dict() for view in reversed(sent(chain(), messages, model=CLAUDE))][::-1]

    assert late == at_once


def test_reading_the_report_at_each_step_looks_at_each_message_a_few_times_only() -> None:
    class Watched(dict[str, Any]):
        looks: ClassVar[int] = 0

        def items(self) -> Any:
            Watched.looks += 1
            return super().items()

    messages = [Watched(message) for message in reads(*[20] * 150).messages()]
    with chain().session() as session:
        for each in requests(messages):
            session.process(each, model=CLAUDE).cache.as_dict()

    assert Watched.looks <= 8 * len(messages)


@pytest.mark.parametrize(
    ("model", "note"),
    [
        ("gpt-4.1", "the cache of openai takes none (automatic)"),
        ("gpt-5.6", "the provider sets one itself"),
        ("gemini-3.1-pro-preview", "the cache of gemini takes none (automatic)"),
        (CLAUDE, ""),
        (None, ""),
    ],
)
def test_where_the_provider_takes_no_breakpoints_none_is_set_and_the_report_says_so(
    model: str | None, note: str
) -> None:
    view = chain().process(reads(20).messages(), model=model)

    assert ("cache_control" not in json.dumps(view.messages)) == bool(note)
    assert len(view.cache.notes) == bool(note)
    assert note in "".join(view.cache.notes)


def test_dollars_are_left_out_where_no_price_is_known_and_the_relative_cost_stands() -> None:
    found = chain().process(reads(900).messages(), model="a-model-that-nobody-knows").cache

    assert found.cost is None
    assert found.saved.dollars is None
    assert found.bill.relative > 0


class Reminds(Processor):
    """Put a note before the newest message."""

    stage: ClassVar[Any] = "request"
    type: str = "reminds"

    def plan(self, view: View) -> Iterator[Edit]:
        yield view.insert("Mind the tests.", before=next(iter(view.newest_messages())))


def test_what_we_write_into_the_history_is_task_state_and_leaves_the_live_window_alone() -> None:
    messages = [*reads(20, 20).messages(), {"role": "user", "content": "And?"}]
    plain, noted = Chain(archive="memory:").process(messages), Chain([Reminds()], archive="memory:").process(messages)

    assert len(noted.messages) == len(plain.messages) + 1
    assert noted.cache.keys.task_state != plain.cache.keys.task_state
    assert noted.cache.keys.live_window == plain.cache.keys.live_window


def test_system_and_tools_count_as_input_and_lead_what_is_read() -> None:
    messages = reads(20, 20).messages()
    with chain().session() as session:
        session.process(messages[:3], model=CLAUDE, system=words(3000), tools=TOOLS)
        found = session.process(messages, model=CLAUDE, system=words(3000), tools=TOOLS).cache

    assert found.read_tokens > 3000
    assert found.input_tokens > found.read_tokens


def test_a_longer_life_of_breakpoints_costs_more_to_write() -> None:
    messages = reads(2000).messages()
    short, long = (chain(plan=f"plan: auto, ttl: {ttl}").process(messages, model=CLAUDE).cache for ttl in ("5m", "1h"))

    assert (short.write_tokens, short.cost) == (long.write_tokens, pytest.approx(long.cost * 3.75 / 6))


def test_the_report_is_part_of_the_plain_data_and_of_what_apply_writes(tmp_path: Any) -> None:
    view: SentView = chain().process(reads(900).messages(), model=CLAUDE)
    found = json.loads(json.dumps(view.as_dict()))["cache"]

    assert found["after"]["input_tokens"] == view.cache.input_tokens
    assert found.keys() == {"keys", "breaks", "before", "after", "saved", "notes"}


def test_without_marks_nothing_is_cached_where_breakpoints_are_needed() -> None:
    views = sent(Chain(archive="memory:"), reads(2000, 2000).messages(), model=CLAUDE)

    assert [(view.cache.read_tokens, view.cache.write_tokens) for view in views] == [(0, 0)] * len(views)


def test_a_run_with_parallel_results_is_counted_message_by_message() -> None:
    run = conversation().user("Go on.")
    for number in range(4):
        calls = [call("read_file", path=f"{number}/{part}.py") for part in range(3)]
        run = run.step(*calls, *[result(words(400)) for _ in calls])
    views = sent(chain("keep: 99"), run.messages(), model=CLAUDE)

    assert [view.cache.input_tokens for view in views] == [view.tokens.after for view in views]


def test_the_report_says_that_nothing_is_cached_where_nobody_sets_a_breakpoint() -> None:
    bare = elision.loads('history_processors: [{type: clear_tool_results}]\narchive: "memory:"')
    messages = reads(20).messages()
    system = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    view = bare.process(messages, model=CLAUDE)

    assert "add cache_control with plan: auto to the chain" in "".join(view.cache.notes)
    assert (view.cache.read_tokens, view.cache.write_tokens) == (0, 0)
    assert [list(bare.process(messages, model=CLAUDE, system=system).cache.notes)] == [[]]
    assert [list(bare.process(messages, model=each).cache.notes) for each in ("gpt-4.1", None)] == [[], []]
