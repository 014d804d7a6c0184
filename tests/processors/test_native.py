"""``native``: the provider clears where it can, the same is done here where it cannot, and never both do."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from native_runs import CLAUDE, ELSEWHERE, edit_of, models_in_turn, native, searches, views
from scheduled_runs import breaks, cleared, requests, words

import elision
from elision import SentView
from elision.config import lint
from elision.testing import call, conversation, result

OPTIONS = "trigger_tokens: 2000, keep: 2, clear_at_least_tokens: 700"
CLEARING = {"type": "clear_tool_uses_20250919"}


def test_the_request_asks_with_the_providers_own_names_and_defaults() -> None:
    view = native().process(searches(90).messages(), model=CLAUDE)

    assert view.params == {
        "context_management": {
            "edits": [
                {
                    **CLEARING,
                    "trigger": {"type": "input_tokens", "value": 100_000},
                    "keep": {"type": "tool_uses", "value": 3},
                }
            ]
        },
        "extra_headers": {"anthropic-beta": "context-management-2025-06-27"},
    }


def test_every_option_is_handed_on() -> None:
    options = "trigger: 5000, keep: 1, clear_at_least: 900, exclude_tools: [grep, glob], clear_tool_inputs: [ls]"
    loaded = native(options, classification=None)

    assert edit_of(loaded.process(searches(90).messages(), model=CLAUDE)) == {
        **CLEARING,
        "trigger": {"type": "input_tokens", "value": 5000},
        "keep": {"type": "tool_uses", "value": 1},
        "clear_at_least": {"type": "input_tokens", "value": 900},
        "exclude_tools": ["glob", "grep"],
        "clear_tool_inputs": ["ls"],
    }


def test_all_arguments_can_go_too() -> None:
    view = native("clear_tool_inputs: true").process(searches(90).messages(), model=CLAUDE)

    assert edit_of(view)["clear_tool_inputs"] is True


@pytest.mark.parametrize(
    ("model", "dialect", "who"),
    [
        ("claude-sonnet-4-5", "openai", "provider"),
        ("anthropic/claude-opus-4-6", "anthropic", "provider"),
        ("bedrock/us.anthropic.claude-opus-5-5-v1:0", "anthropic", "provider"),
        ("bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", "openai", "elision"),
        ("claude-3-7-sonnet-latest", "anthropic", "elision"),
        ("openrouter/anthropic/claude-opus-5-5", "openai", "elision"),
        ("deepseek/deepseek-chat", "openai", "elision"),
        ("gpt-5.2", "openai", "elision"),
        ("gemini-3-pro", "gemini", "elision"),
        (None, "openai", "elision"),
    ],
)
def test_the_profile_and_the_dialect_say_who_clears(model: str | None, dialect: Any, who: str) -> None:
    run = searches(*[600] * 8, shape=dialect)
    view = native("trigger_tokens: 2000").process(run.request(), model=model)

    assert view.owner == view.as_dict()["owner"] == who
    assert (bool(view.params), bool(view.edits)) == ((True, False) if who == "provider" else (False, True))


def test_prefer_elision_clears_here_whatever_the_provider_has() -> None:
    view = native("prefer: elision, trigger_tokens: 2000").process(searches(*[600] * 8).messages(), model=CLAUDE)

    assert (view.owner, view.params, cleared(view)) == ("elision", {}, [0, 1, 2, 3, 4])


def as_clearing(messages: list[Any], options: str, model: str | None) -> list[SentView]:
    loaded = elision.loads(f"history_processors: [{{type: clear_tool_results, {options}}}]", archive="memory:")
    return views(loaded, messages, models=model or ELSEWHERE)


@pytest.mark.parametrize(
    "options",
    [
        OPTIONS,
        "trigger: 900",
        f"{OPTIONS}, exclude_tools: [glob]",
        f"{OPTIONS}, clear_tool_inputs: true",
        f"{OPTIONS}, clear_tool_inputs: [glob]",
    ],
)
@pytest.mark.parametrize(("prefer", "model"), [("provider", ELSEWHERE), ("elision", CLAUDE)])
def test_elsewhere_the_same_results_go_at_the_same_steps_as_with_clear_tool_results(
    options: str, prefer: str, model: str
) -> None:
    run = searches(*[250, 90, 400] * 6)
    for number in range(6):
        run = run.step(call("glob", pattern=f"*.{number}" * 200), result(words(300)))
        run = run.step(call("write_file", path=f"{number}.py"), result(words(300)))
    here = views(native(f"{options}, prefer: {prefer}"), run.messages(), models=model)
    there = as_clearing(run.messages(), options, model)

    assert [view.messages for view in here] == [view.messages for view in there]
    assert len(breaks(here)) > 1


@pytest.mark.parametrize("model", [CLAUDE, ELSEWHERE])
def test_a_session_a_fresh_process_and_a_restart_come_to_the_same(model: str) -> None:
    messages = searches(*[250, 90, 400] * 6).step(call("write_file"), result("done")).messages()
    loaded = native(OPTIONS)
    in_session = views(loaded, messages, models=model)
    asked = [len(view.history) for view in in_session]
    fresh = [native(OPTIONS).process(messages[:stop], model=model) for stop in asked]
    with loaded.session() as again:
        restarted = again.process(messages, model=model)

    assert [(view.messages, view.params) for view in in_session] == [(view.messages, view.params) for view in fresh]
    assert (restarted.messages, restarted.params) == (in_session[-1].messages, in_session[-1].params)


REMOVING = "{type: clear_tool_results, keep: 0, schedule: every_step}, {type: supersede, schedule: every_step}"


def test_while_the_provider_clears_no_other_processor_removes_anything() -> None:
    run = searches(*[300] * 4).step(call("read_file", path="a"), result(words(90)))
    messages = run.step(call("read_file", path="a"), result(words(90))).step("Done.").messages()
    view = native(beside=REMOVING).process(messages, model=CLAUDE)

    assert (view.owner, view.edits, view.messages) == ("provider", (), messages)
    assert {(each.processor, each.rule) for each in view.refusals} == {
        ("clear_tool_results", "one_owner"),
        ("supersede", "one_owner"),
    }
    assert native(beside=REMOVING).process(messages, model=ELSEWHERE).edits


def test_a_request_that_asks_for_context_editing_itself_is_refused() -> None:
    request = {**searches(90).request(), "model": CLAUDE, "context_management": {"edits": [CLEARING]}}
    with pytest.raises(elision.InputError, match=r"^request: context_management asks the provider"):
        native().process(request)
    theirs = native(owner="provider").process(request)

    assert (theirs.owner, theirs.params) == ("provider", {})


def test_a_chain_that_says_owner_elision_hands_nothing_over() -> None:
    view = native("trigger_tokens: 2000", owner="elision").process(searches(*[600] * 8).messages(), model=CLAUDE)

    assert (view.owner, view.params, cleared(view)) == ("elision", {}, [0, 1, 2, 3, 4])


def test_another_model_in_mid_run_undoes_nothing_and_both_go_on() -> None:
    messages = searches(*[600] * 15).messages()
    turns = models_in_turn((ELSEWHERE, 6), (CLAUDE, 4), (ELSEWHERE, 6))
    loaded = native("trigger_tokens: 2000")
    found = views(loaded, messages, models=turns)
    last = loaded.process(messages, model=ELSEWHERE)
    gone = [set(cleared(view)) for view in found]

    assert [view.owner for view in found] == models_in_turn(("elision", 6), ("provider", 4), ("elision", 6))
    assert all(before <= after for before, after in pairwise(gone))
    assert gone[5] == gone[9] == {0, 1}
    assert gone[-1] == set(range(12))
    assert last.messages == found[-1].messages


def test_a_fresh_process_between_two_models_comes_to_the_same_at_every_request() -> None:
    messages = searches(*[600] * 12).messages()
    turns = models_in_turn((ELSEWHERE, 6), (CLAUDE, 4), (ELSEWHERE, 3))
    loaded = native("trigger_tokens: 2000")
    with loaded.session() as session:
        for asked, model in zip(requests(messages), turns, strict=True):
            view, fresh = session.process(asked, model=model), loaded.process(asked, model=model)

            assert (view.messages, view.params) == (fresh.messages, fresh.params)


def test_what_other_processors_could_not_remove_goes_once_the_provider_no_longer_clears() -> None:
    messages = searches(*[600] * 9, pattern="a long word " * 99).messages()
    turns = models_in_turn((CLAUDE, 5), (ELSEWHERE, 5))
    clears = "{type: clear_tool_results, keep: 1, schedule: every_step, clear_tool_inputs: true}"
    found = views(native("trigger_tokens: 90000", beside=clears), messages, models=turns)

    assert [len(cleared(view)) for view in found] == [0, 0, 0, 0, 0, 4, 5, 6, 7, 8]


def test_options_that_cannot_be_are_told() -> None:
    (problem,) = lint("history_processors: [{type: native, trigger: 100, clear_at_least: 200}]", "chain.yaml")

    assert "clear_at_least_tokens is 200, more than trigger_tokens (100); make it smaller" in str(problem)


def test_a_run_with_steps_in_parallel_is_handed_over_as_it_is() -> None:
    run = conversation("anthropic").user("Go.")
    run = run.step(call("grep", pattern="a"), call("grep", pattern="b"), result(words(90)), result(words(90)))
    messages = run.messages()
    view = native("keep: 0, trigger_tokens: 10").process(messages, model=CLAUDE, dialect="anthropic")

    assert all(sent is given for sent, given in zip(view.messages, messages, strict=True))
