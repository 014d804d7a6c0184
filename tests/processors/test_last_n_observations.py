"""``last_n_observations``: the last n observations stay, the task counts as one of them."""

from __future__ import annotations

from typing import Any

import pytest
from scheduled_runs import breaks, cleared, sent

import elision

LONG = "a result with some lines\nthat is long enough\nto be worth eliding; " + "it goes on and on. " * 5
ELIDED = "Old environment output: (3 lines omitted)"


def step(number: int, *names: str, content: Any = LONG) -> list[dict[str, Any]]:
    calls = [
        {"id": f"c{number}.{i}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        for i, name in enumerate(names or ("read_file",))
    ]
    results = [{"role": "tool", "tool_call_id": call["id"], "content": content} for call in calls]
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *results]


def history(*steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"role": "system", "content": "You are an agent."},
        {"role": "user", "content": "Fix it."},
        *(message for one in steps for message in one),
    ]


def kept(messages: list[Any], options: str) -> list[bool]:
    chain = elision.loads(f"history_processors: [{{type: last_n_observations, {options}}}]")
    view = chain.process(messages)
    return [m["content"] == LONG for m in view.messages if m["role"] == "tool"]


@pytest.mark.parametrize(
    ("steps", "n", "expected"),
    [
        (1, 1, [True]),
        (2, 1, [False, True]),
        (5, 2, [False, False, False, True, True]),
        (4, 4, [True, True, True, True]),
        (5, 4, [False, True, True, True, True]),
    ],
)
def test_the_last_n_stay(steps: int, n: int, expected: list[bool]) -> None:
    assert kept(history(*(step(i) for i in range(steps))), f"n: {n}") == expected


def test_with_polling_between_n_and_n_plus_polling_minus_one_stay() -> None:
    counts = [sum(kept(history(*(step(i) for i in range(steps))), "n: 3, polling: 4")) for steps in range(1, 30)]

    assert counts[:10] == [1, 2, 3, 4, 5, 6, 3, 4, 5, 6]
    assert set(counts[2:]) == {3, 4, 5, 6}


def test_between_two_rounds_of_polling_each_view_extends_the_one_before() -> None:
    chain = elision.loads("history_processors: [{type: last_n_observations, n: 3, polling: 4}]")
    views = [chain.process(history(*(step(i) for i in range(steps)))).messages for steps in range(1, 25)]
    breaks = [i for i in range(1, len(views)) if views[i][: len(views[i - 1])] != views[i - 1]]

    assert breaks == [6, 10, 14, 18, 22]


def test_the_task_is_never_elided() -> None:
    view = elision.loads("history_processors: [{type: last_n_observations, n: 1}]").process(
        history(*(step(i) for i in range(9)))
    )

    assert view.messages[1] == {"role": "user", "content": "Fix it."}


def test_parallel_results_are_told_apart_and_those_of_the_newest_step_stay() -> None:
    messages = history(step(0, "read_file", "ls", "grep"), step(1, "read_file", "ls", "grep"))

    assert kept(messages, "n: 2") == [False, False, False, True, True, True]


def test_tagged_observations_are_always_kept_or_always_removed() -> None:
    chain = elision.loads("""
        history_processors:
          - {type: tag_tool_call_observations, function_names: [ls], tags: [keep_output]}
          - {type: tag_tool_call_observations, function_names: [grep], tags: [remove_output]}
          - {type: last_n_observations, n: 3}
    """)
    messages = history(step(0, "ls"), step(1), step(2), step(3, "grep"), step(4))
    view = chain.process(messages)

    assert [m["content"] == LONG for m in view.messages if m["role"] == "tool"] == [True, False, True, False, True]


def test_what_is_tagged_both_ways_is_kept() -> None:
    chain = elision.loads("""
        history_processors:
          - {type: tag_tool_call_observations, function_names: [read_file], tags: [keep_output, remove_output]}
          - {type: last_n_observations, n: 1}
    """)
    messages = history(step(0), step(1), step(2))

    assert chain.process(messages).messages == messages


def test_images_are_counted_in_the_placeholder() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    content = [{"type": "text", "text": LONG}, image, image]
    view = elision.loads("history_processors: [{type: last_n_observations, n: 1, placeholder: sweagent}]").process(
        history(step(0, content=content), step(1))
    )

    assert view.messages[3]["content"] == f"{ELIDED} (2 images omitted)"


def test_the_placeholder_says_what_was_called_and_how_to_get_it_back() -> None:
    view = elision.loads("history_processors: [{type: last_n_observations, n: 1}]").process(history(step(0), step(1)))
    ref = view.edits[0].ref

    assert view.messages[3]["content"] == (
        f"[read_file(): {len(LONG)} chars, 3 lines removed; call it again to fetch it; ref {ref}]"
    )


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("sweagent", ELIDED),
        ("anthropic", "[Old tool result content cleared]"),
        ("'[{{ tool }}: {{ lines }} lines gone]'", "[read_file: 3 lines gone]"),
    ],
)
def test_the_placeholder_can_be_another_template_or_one_written_in_the_chain(template: str, text: str) -> None:
    chain = elision.loads(f"history_processors: [{{type: last_n_observations, n: 1, placeholder: {template}}}]")

    assert chain.process(history(step(0), step(1))).messages[3]["content"] == text


def test_a_placeholder_that_does_not_exist_does_not_load() -> None:
    with pytest.raises(elision.ConfigError, match=r"history_processors\[0\].*'compakt'.*'compact'"):
        elision.loads("history_processors: [{type: last_n_observations, n: 1, placeholder: compakt}]")


def test_in_a_sweagent_config_the_placeholder_is_sweagents() -> None:
    chain = elision.loads("agent: {history_processors: [{type: last_n_observations, n: 1}]}")
    view = chain.process(history(step(0), step(1)), dialect="openai")

    assert view.messages[3]["content"] == ELIDED


def test_what_the_table_keeps_stays_and_is_named() -> None:
    messages = history(step(0, "create_issue"), step(1, "read_file"), step(2, "read_file"))
    view = elision.loads("history_processors: [{type: last_n_observations, n: 1}]").process(messages)

    assert [edit.tool for edit in view.edits] == ["read_file"]
    assert [(r.tool, r.classes, r.rule) for r in view.refusals] == [("create_issue", ("receipt",), "class_allows")]


def test_results_without_content_are_left_alone() -> None:
    messages = history(step(0, content=None), step(1, content=""), step(2))
    view = elision.loads("history_processors: [{type: last_n_observations, n: 1}]").process(messages)

    assert view.edits == ()
    assert [message["content"] for message in view.messages if message["role"] == "tool"][:2] == ["(empty)", ""]


def test_a_placeholder_of_sweagent_s_is_left_as_it_is() -> None:
    messages = history(step(0, content="Old environment output: (77 lines omitted)"), step(1), step(2))
    view = elision.loads("history_processors: [{type: last_n_observations, n: 1}]").process(messages)

    assert view.messages[3] is messages[3]


def test_once_elided_an_observation_keeps_its_placeholder_in_a_chain_of_two() -> None:
    chain = elision.loads("history_processors: [{type: last_n_observations, n: 3}, {type: last_n_observations, n: 1}]")
    view = chain.process(history(*(step(i) for i in range(6))))

    results = [m["content"] for m in view.messages if m["role"] == "tool"]
    elided = f"[read_file(): {len(LONG)} chars, 3 lines removed; call it again to fetch it; ref {view.edits[0].ref}]"

    assert results == [*[elided] * 5, LONG]


def test_with_polling_auto_all_but_the_last_n_go_together_after_as_many_steps_as_cost_least() -> None:
    messages = history(*(step(i) for i in range(60)))
    rounds = {}
    for model in ("gpt-4o", "claude-sonnet-4-5", "deepseek/deepseek-v4-pro"):
        chain = elision.loads("history_processors: [{type: last_n_observations, n: 4, polling: auto}]")
        views = sent(chain, messages, model=model)
        rounds[model] = breaks(views)

        assert chain.process(messages, model=model).messages == views[-1].messages
        for number in rounds[model]:
            assert cleared(views[number]) == list(range(number - 4))
    waits = {model: found[-1] - found[-2] for model, found in rounds.items()}

    assert waits["gpt-4o"] < waits["claude-sonnet-4-5"] < waits["deepseek/deepseek-v4-pro"]


def test_polling_auto_does_as_much_in_a_sweagent_config_with_sweagents_own_sentence() -> None:
    chain = elision.loads("agent: {history_processors: [{type: last_n_observations, n: 4, polling: auto}]}")
    view = chain.process(history(*(step(i) for i in range(60))), dialect="openai")
    texts = [message["content"] for message in view.messages if message["role"] == "tool"]

    assert set(texts) == {LONG, ELIDED}
    assert texts[:40] == [ELIDED] * 40
