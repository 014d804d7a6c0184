"""``clear_tool_results``: old results become placeholders, all together, when the schedule comes due."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from scheduled_runs import breaks, chain, cleared, reads, sent, words

import elision
from elision import SentView
from elision.testing import call, conversation, image, result

TABLE = "history_processors: [{type: clear_tool_results, keep: 0}]\nschedule: every_step"


def last(options: str, messages: list[Any], **said: Any) -> SentView:
    """Return the last view of a run that is sent step by step, which is that of a fresh process too."""
    loaded = chain(options)
    view = sent(loaded, messages, **said)[-1]

    assert view.messages == loaded.process(messages, **said).messages
    return view


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("keep: 3", [0, 1, 2]),
        ("keep: 1", [0, 1, 2, 3, 4]),
        ("keep: 0", [0, 1, 2, 3, 4]),
        ("keep: 6", []),
        ("keep: 0, keep_steps: 2", [0, 1, 2, 3]),
        ("keep: 4, keep_steps: 2", [0, 1]),
        ("keep: 0, keep_steps: 9", []),
    ],
)
def test_the_newest_results_and_steps_stay_and_the_newest_step_always_does(options: str, expected: list[int]) -> None:
    view = last(f"{options}, schedule: every_step", reads(*[90] * 6).messages())

    assert cleared(view) == expected


def test_steps_are_kept_whole_however_many_results_they_have() -> None:
    run = conversation().user("Go on.")
    for _ in range(3):
        run = run.step(*[call("read_file")] * 3, *[result(words(90))] * 3)
    by_step, by_count = (
        cleared(last(f"{options}, schedule: every_step", run.messages()))
        for options in ("keep: 0, keep_steps: 2", "keep: 5")
    )

    assert by_step == [0, 1, 2]
    assert by_count == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("keep: 2", [0, 1, 2, 3]),
        ("keep: 2, exclude_tools: [search]", [0]),
        ("keep: 2, include_tools: [search]", [1]),
        ("keep: 0, include_tools: [search, read_file], exclude_tools: [search]", [0, 2, 4]),
        ("keep: 0, include_tools: []", []),
    ],
)
def test_results_of_excluded_tools_stay_and_do_not_count_for_keep(options: str, expected: list[int]) -> None:
    run = conversation().user("Go on.")
    for number in range(6):
        run = run.step(call("search" if number % 2 else "read_file"), result(words(90)))

    assert cleared(last(f"{options}, schedule: every_step", run.messages())) == expected


def test_nothing_is_cleared_below_the_trigger_and_all_that_is_old_at_it() -> None:
    messages = reads(*[100] * 12).messages()
    views = sent(chain("keep: 2, trigger_tokens: 1000"), messages)
    sizes = [view.tokens.before for view in views]
    first = next(number for number, view in enumerate(views) if cleared(view))

    assert sizes[first - 1] < 1000 <= sizes[first]
    assert cleared(views[first]) == list(range(first - 2))
    assert breaks(views) == [first]


def test_system_prompt_and_tools_count_for_the_trigger() -> None:
    messages = reads(*[100] * 4).messages()
    tools = [{"type": "function", "function": {"name": "read_file", "description": words(900), "parameters": {}}}]
    alone, beside = (last("keep: 1, trigger_tokens: 1000", messages, tools=each) for each in (None, tools))

    assert (cleared(alone), cleared(beside)) == ([], [0, 1, 2])


def test_the_trigger_can_be_a_share_of_the_models_window() -> None:
    messages = reads(*[3000] * 4).messages()
    views = {
        model: last("keep: 1, trigger_share: 0.5", messages, model=model) for model in ("gpt-4", "claude-sonnet-4-5")
    }

    assert {model: bool(cleared(view)) for model, view in views.items()} == {"gpt-4": True, "claude-sonnet-4-5": False}


def test_nothing_happens_at_the_trigger_unless_so_many_tokens_can_be_saved() -> None:
    messages = reads(*[100] * 20).messages()
    views = sent(chain("keep: 1, trigger_tokens: 500, clear_at_least_tokens: 400"), messages)
    broken = breaks(views)
    saved = [view.tokens.before - view.tokens.after for view in views]

    assert broken == [7, 13, 19]
    assert [saved[number] - saved[number - 1] >= 400 for number in broken] == [True, True, True]


ORDERS = {"oldest": [0, 1], "newest": [3, 4], "largest": [1, 2], "score": [0, 1]}


@pytest.mark.parametrize("order", ORDERS)
def test_a_round_stops_once_so_much_is_saved_and_order_says_which_went_first(order: str) -> None:
    messages = reads(100, 138, 112, 90, 82, 100, 100).messages()
    options = f"keep: 2, trigger_tokens: 740, clear_at_most_tokens: 112, order: {order}"

    assert cleared(last(options, messages)) == ORDERS[order]


def test_what_a_round_leaves_waits_for_the_next() -> None:
    messages = reads(*[100] * 10).messages()
    views = sent(chain("keep: 0, schedule: {polling: 4}, clear_at_most_tokens: 150"), messages)

    assert breaks(views) == [5, 9]
    assert [len(cleared(views[number])) for number in (4, 5, 8, 9)] == [0, 2, 2, 4]


def scored(*, task: str = "Go on.", again: str = "b.txt", failed: bool = False) -> list[int]:
    """Return which of two results of one size goes first: that of a.txt (0) or that of b.txt (1)."""
    run = conversation("anthropic").user(task)
    for path, bad in (("a.txt", False), ("b.txt", failed)):
        run = run.step(call("read_file", path=path), result(words(300), error=bad))
    run = run.step(call("write_file", path=again), result("ok")).step(call("run_tests"), result("ok"))
    options = "keep: 0, clear_at_most_tokens: 100, order: score, schedule: {polling: 3}"
    view = chain(options).process(run.messages(), dialect="anthropic")
    return [(edit.position - 2) // 2 for edit in view.edits]


def test_the_score_puts_first_what_was_used_longest_ago() -> None:
    assert scored(again="b.txt") == [0]
    assert scored(again="a.txt") == [1]


def test_the_score_keeps_what_the_user_named_and_what_failed() -> None:
    assert scored(task="Mend a.txt.", again="neither") == [1]
    assert scored(task="Mend b.txt.", again="neither") == [0]
    assert scored(again="neither.txt", failed=False, task="Mend a.txt.") == [1]
    assert scored(again="a.txt", failed=True) == [0]


def test_the_score_puts_first_what_can_be_fetched_again() -> None:
    run = conversation().user("Go on.")
    run = run.step(call("run_tests"), result(words(300))).step(call("read_file", path="a"), result(words(300)))
    run = run.step(call("read_file", path="b"), result("ok")).step(call("read_file", path="b"), result("ok"))
    loaded = elision.loads(
        "history_processors: [{type: clear_tool_results, keep: 0, clear_at_most_tokens: 100, order: score, "
        "schedule: {polling: 3}}]",
        archive="memory:",
    )

    assert [edit.tool for edit in loaded.process(run.messages()).edits] == ["read_file"]


def test_the_placeholder_can_show_a_flattened_head() -> None:
    text = "first line\nsecond line\n" + "x" * 500
    run = conversation().user("Go on.").step(call("read_file", path="a.py"), result(text)).step(call("ls"), result("a"))
    loaded = chain("keep: 0, schedule: every_step, placeholder: head, head_chars: 30")
    view = loaded.process(run.messages())
    (edit,) = view.edits

    assert view.messages[2]["content"] == (
        f'[read_file(path="a.py"): 523 chars, 3 lines removed; ref {edit.ref}; '
        'it began: "first line second line xxxxxx…"]'
    )
    assert loaded.opened_archive.get(edit.ref).content == text


def test_a_placeholder_that_cannot_be_rendered_does_not_load() -> None:
    with pytest.raises(elision.ConfigError, match="there is no variable 'nothing'"):
        chain("placeholder: '{{ nothing }}'")


def test_what_the_table_protects_stays_and_counts_for_keep() -> None:
    run = conversation().user("Go on.").step(call("create_order", item=7), result(words(90)))
    run = run.step(call("frobnicate"), result(words(90))).step(call("read_file"), result(words(90)))
    run = run.step("Done.")
    view = elision.loads(TABLE, archive="memory:").process(run.messages())

    assert [(edit.tool, edit.classes) for edit in view.edits] == [("read_file", ("static",))]
    assert {(each.tool, each.classes) for each in view.refusals} == {
        ("create_order", ("receipt",)),
        ("frobnicate", ("unknown",)),
    }


def test_a_step_with_an_open_call_is_not_cleared_and_is_reported_as_pending() -> None:
    both = [call("read_file", path="a"), call("read_file", path="b")]
    run = reads(90, 90).step(*both, result(words(90)))
    view = chain("keep: 0, schedule: every_step").process(run.messages())

    assert [each.call_id for each in view.pending] == ["call_4"]
    assert cleared(view) == [0]
    assert view.messages[6]["content"] == words(90)


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("every_step", list(range(2, 31))),
        ("{polling: 5}", [6, 11, 16, 21, 26]),
        ("{trigger_tokens: 2000}", [18, 30]),
        ("{trigger_tokens: 1000, clear_at_least_tokens: 700}", [11, 21]),
    ],
)
def test_between_two_rounds_each_request_extends_the_one_before_to_the_byte(schedule: str, expected: list[int]) -> None:
    views = sent(chain(f"keep: 1, schedule: {schedule}"), reads(*[100] * 30).messages())

    assert breaks(views) == expected


def test_break_even_clears_nothing_in_short_runs() -> None:
    views = sent(chain("keep: 3, schedule: break_even"), reads(*[300] * 6).messages())

    assert breaks(views) == []
    assert views[-1].edits == ()


def test_break_even_rewrites_seldom_where_the_cache_is_dear_to_write() -> None:
    messages = reads(*[300] * 60).messages()
    rounds = {
        model: len(breaks(sent(chain("keep: 3"), messages, model=model)))
        for model in ("qwen3-max", "gpt-4o", "claude-sonnet-4-5", "deepseek/deepseek-v4-pro")
    }

    assert list(rounds.values()) == sorted(rounds.values(), reverse=True)
    assert len(set(rounds.values())) == 4


def test_break_even_waits_no_longer_over_three_quarters_of_the_window() -> None:
    messages = reads(*[20_000] * 9).messages()
    views = sent(chain("keep: 3"), messages, model="claude-sonnet-4-5")
    first = next(number for number, view in enumerate(views) if cleared(view))

    assert views[first - 1].tokens.before <= 0.75 * 200_000 < views[first].tokens.before


def test_break_even_clears_with_every_step_where_nothing_is_cached() -> None:
    views = sent(chain("keep: 1"), reads(*[90] * 6).messages(), model="gpt-4")

    assert breaks(views) == [2, 3, 4, 5, 6]


def test_processors_that_keep_to_the_chains_schedule_break_together() -> None:
    text = """
        history_processors:
          - {type: clear_tool_results, keep: 2, include_tools: [read_file]}
          - {type: clear_tool_results, keep: 0, include_tools: [search]}
          - {type: clear_tool_results, keep: 0, include_tools: [ls], schedule: every_step}
        schedule: {polling: 6}
    """
    run = conversation().user("Go on.")
    for number in range(20):
        run = run.step(call(("read_file", "search", "ls")[number % 3]), result(words(90)))
    views = sent(elision.loads(text, archive="memory:"), run.messages())
    rounds = {
        tool: [
            number
            for number, (before, view) in enumerate(pairwise(views), 1)
            if tool in {edit.tool for edit in view.edits[len(before.edits) :]}
        ]
        for tool in ("read_file", "search", "ls")
    }

    assert rounds == {"read_file": [8, 14, 20], "search": [8, 14, 20], "ls": [4, 7, 10, 13, 16, 19]}


def test_what_has_been_cleared_is_skipped_and_processing_twice_changes_nothing() -> None:
    loaded = chain("keep: 1, schedule: every_step")
    view = loaded.process(reads(*[90] * 6).messages())
    again = loaded.process(view.messages)

    assert again.messages == view.messages
    assert again.edits == ()


def test_images_in_old_results_go_with_their_text() -> None:
    run = conversation("anthropic").user("Go on.").step(call("screenshot"), result(words(90), image()))
    run = run.step(call("ls"), result("a"))
    view = chain("keep: 0, schedule: every_step").process(run.messages(), dialect="anthropic")
    (block,) = view.messages[2]["content"]

    assert "image" not in str(block["content"]).replace("1 image", "")
    assert len(view.edits) == 1
