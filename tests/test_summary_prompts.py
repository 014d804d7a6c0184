"""Summaries that a model writes: what it is asked, how often, and what is added to its answer."""

from __future__ import annotations

import base64
import random
import re
from typing import Any

import pytest
import summary_models
from forked import RunScript
from summary_runs import BODY, begun, chain, last, reads, summaries

from elision.testing import Conversation, call, result
from elision.tokens import count_text


@pytest.fixture(autouse=True)
def _no_calls() -> None:
    summary_models.CALLS.clear()


def test_a_model_is_asked_once_for_the_same_and_what_has_to_be_there_is_added() -> None:
    run = reads(begun(), 1, 2).step("I must not use port 8431.", call("read_file", path="x"), result(BODY))
    made = chain("trigger_steps: 8, keep_last_steps: 2, summarizer: call, target: 'summary_models:good'")
    view = last(made, reads(run, 4, 9))
    (text,) = summaries(view)

    assert len(summary_models.CALLS) == 1
    assert "Goal: mend the loader" in text
    assert "what it gives as the next step may have been done there" in text
    assert "I must not use port 8431." in text
    assert "I must not use port 8431." in summary_models.CALLS[0]


@pytest.mark.parametrize("model", ["thinking", "begun_in_the_prompt"])
def test_thinking_in_front_of_an_answer_is_no_part_of_the_summary(model: str) -> None:
    made = chain(f"trigger_steps: 8, keep_last_steps: 2, summarizer: call, target: 'summary_models:{model}'")
    (text,) = summaries(last(made, reads(begun(), 1, 9)))

    assert "Goal: mend the loader" in text
    assert "Let me see" not in text
    assert "think>" not in text


def test_an_answer_that_is_thinking_alone_is_no_summary() -> None:
    made = chain("trigger_steps: 8, keep_last_steps: 2, summarizer: call, target: 'summary_models:only_thinking'")
    run = reads(begun(), 1, 9)
    view = last(made, run)

    assert not summaries(view)
    assert len(view.messages) == len(run.messages())
    assert "gave nothing" in view.failures[0].error


def test_the_prompt_is_cut_to_fit_and_the_history_stays() -> None:
    made = chain(
        "trigger_steps: 8, keep_last_steps: 2, summarizer: call, target: 'summary_models:good', max_input_tokens: 1000"
    )
    run: Conversation = reads(begun(), 1, 9, BODY * 40)
    last(made, run)

    assert len(summary_models.CALLS[0]) < 3 * 1000 * 1.5


@pytest.mark.parametrize(
    "said",
    [
        base64.b64encode(random.Random(1).randbytes(60_000)).decode(),  # noqa: S311
        "以前はそうだった。" * 9000,
        " ".join(map(str, range(40_000))),
    ],
    ids=["base64", "cjk", "numbers"],
)
def test_a_prompt_has_no_more_tokens_than_it_may_whatever_the_results_are(said: str) -> None:
    made = chain(
        "trigger_steps: 8, keep_last_steps: 2, summarizer: call, target: 'summary_models:good', max_input_tokens: 1000"
    )
    last(made, reads(begun(), 1, 9, said))

    assert 500 < count_text(summary_models.CALLS[0]) <= 1000


def test_a_prompt_about_many_short_steps_leaves_out_those_in_the_middle() -> None:
    made = chain(
        "trigger_steps: 90, keep_last_steps: 2, summarizer: call, target: 'summary_models:good', max_input_tokens: 1000"
    )
    made.process(reads(begun(), 1, 95, "a short line\n" * 20).messages())

    assert 500 < count_text(summary_models.CALLS[0]) <= 1000
    assert re.search(r"step 2, you: I read 2.py[^…]*", summary_models.CALLS[0])
    assert re.search(r"\n… \d{3} entries left out …\n", summary_models.CALLS[0])
    assert "step 88, you: I read 88.py" in summary_models.CALLS[0]


def test_a_prompt_of_the_chains_own_is_used() -> None:
    prompt = "Kurz, bitte: {{ transcript | join(' ') }}"
    made = chain(
        f"trigger_steps: 8, keep_last_steps: 2, summarizer: call, target: 'summary_models:good', prompt: \"{prompt}\""
    )
    last(made, reads(begun(), 1, 9))

    assert summary_models.CALLS[0].startswith("Kurz, bitte: step 2, you: I read 2.py.")


def test_what_a_probe_says_is_lacking_is_added_word_for_word() -> None:
    run = reads(begun(), 1, 2).step("I must not use port 8431.", call("read_file", path="x"), result(BODY))
    made = chain(
        "trigger_steps: 8, keep_last_steps: 2, summarizer: call, target: 'summary_models:forgetful', probe: true"
    )
    (text,) = summaries(last(made, reads(run, 4, 9)))

    assert len(summary_models.CALLS) == 2
    assert text.rsplit("Word for word:\n", 1)[1] == "- 2.py"


@pytest.fixture(scope="module")
def seen(with_litellm: RunScript) -> dict[str, Any]:
    return dict(with_litellm("litellm_summaries.py", ELISION_ARCHIVE="memory:")[0])


def test_a_model_is_asked_through_litellm_once_and_where_it_is_away_nothing_changes(seen: dict[str, Any]) -> None:
    assert "Done: seven files were read." in seen["good"]["summaries"][0]
    assert (seen["good"]["asked"], seen["good"]["failures"]) == (1, [])
    assert (seen["away"]["asked"], seen["away"]["unchanged"]) == (1, True)
    assert "InternalServerError" in seen["away"]["failures"][0]


def test_requests_go_on_while_litellm_waits_for_a_model_in_the_background(seen: dict[str, Any]) -> None:
    found = seen["meanwhile"]

    assert found["unchanged"] == [True, True]
    assert "Done: seven files were read." in found["summaries"][0]
    assert (found["asked"], found["invalid"]) == (1, 0)
