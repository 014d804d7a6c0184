"""``summarize``: when a run has become long, a summary made from the originals takes the place of older steps."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from summary_runs import BODY, CONSTRAINT, begun, chain, last, loaded, reads, seen, sent, summaries, texts

import elision
from elision import SentView
from elision.testing import call, check_processor, result

WIRES: Any = ("openai", "anthropic", "responses", "gemini")
LOG = (
    "starting\n"
    + "step done\n" * 60
    + "ERROR at line 9: no such table\nran 41 tests in 3.2s\nprocess exited with code 1"
)


def first_summary(views: list[SentView]) -> int:
    return next(number for number, view in enumerate(views) if summaries(view))


@pytest.mark.parametrize("shape", WIRES)
def test_a_summary_stands_where_the_older_steps_stood_and_the_rest_stays(shape: Any) -> None:
    view = last(chain("trigger_steps: 8, keep_first_steps: 1, keep_last_steps: 3"), reads(begun(shape), 1, 8))

    assert len(summaries(view)) == 1
    assert [number for number in range(1, 9) if f"I read {number}.py." in texts(view)] == [1, 6, 7, 8]


def test_the_users_messages_stay_word_for_word() -> None:
    run = reads(reads(begun(), 1, 4).user("Leave config.py alone from now on."), 5, 9)
    view = last(chain("trigger_steps: 8, keep_last_steps: 2"), run)
    users = [message["content"] for message in view.messages if message["role"] == "user"]

    assert [text for text in users if not text.startswith("[")] == [
        f"Mend the loader. {CONSTRAINT}",
        "Leave config.py alone from now on.",
    ]


def test_digest_has_tool_status_exit_code_key_findings_ref_sha256_time_and_revision() -> None:
    run = begun().step(call("bash", command="make test"), result(LOG, timestamp="2026-05-01T10:00:00Z"))
    run = run.step(call("bash", command="git log -1"), result("commit 1f2e3d4c5b6a79881f2e\n" + "x\n" * 300))
    view = last(chain("trigger_steps: 5, keep_first_steps: 0, keep_last_steps: 2"), reads(run, 3, 6))
    (text,) = summaries(view)
    line = next(line for line in text.splitlines() if "make test" in line)
    dropped = next(edit for edit in view.edits if edit.action == "drop")

    assert 'bash(command="make test") -> error, exit code 1' in line
    assert "ERROR at line 9: no such table" in line
    assert "ran 41 tests in 3.2s" in line
    assert "time 2026-05-01T10:00:00Z" in line
    assert f"ref {dropped.ref}" in line
    assert "revision 1f2e3d4c5b6a79881f2e" in text


def test_receipts_skills_and_unknown_results_stay_whole_and_are_named() -> None:
    run = reads(begun(), 1, 2).step(call("create_issue", title="x"), result("Issue 991 was created"))
    view = last(chain("trigger_steps: 7, keep_first_steps: 0, keep_last_steps: 2"), reads(run, 4, 9))
    (text,) = summaries(view)

    assert 'step 3 (create_issue(title="x"))' in text
    assert "Issue 991 was created" in texts(view)


def test_every_original_comes_back_by_the_ref_in_the_summary() -> None:
    made = chain("trigger_steps: 8, keep_last_steps: 2")
    run = reads(begun(), 1, 8)
    view = last(made, run)
    dropped = [edit for edit in view.edits if edit.action == "drop"]

    assert dropped
    for edit in dropped:
        assert edit.ref in summaries(view)[0]
        assert made.opened_archive.get(edit.ref).content == run.messages()[edit.position : edit.position + 2]


def test_half_the_steps_with_the_head_kept() -> None:
    views = sent(
        chain("trigger_steps: 12, shrink_to_share: 0.5, keep_first_steps: 2, keep_last_steps: 1"), reads(begun(), 1, 30)
    )
    counts = [sum(message["role"] == "assistant" for message in view.messages) for view in views]

    assert counts[:12] == [*range(12)]
    assert counts[12] == 6
    assert max(counts[13:]) == 11
    assert all("I read 2.py." in texts(view) for view in views[2:])


@pytest.mark.parametrize(
    ("trigger", "at"),
    [
        ("trigger_steps: 9", 9),
        ("trigger_messages: 20", 9),
        ("trigger_tokens: 3200", 9),
        ("any_of: [{trigger_steps: 90}, {trigger_messages: 20}]", 9),
        ("all_of: [{trigger_messages: 20}, {trigger_steps: 11}]", 11),
        ("trigger_steps: 10, all_of: [{trigger_messages: 2}, {trigger_steps: 99}]", 10),
    ],
)
def test_triggers_combine(trigger: str, at: int) -> None:
    views = sent(chain(f"{trigger}, keep_last_steps: 2"), reads(begun(), 1, 14, BODY))

    assert first_summary(views) == at


@pytest.mark.parametrize(
    ("trigger", "share"),
    [
        ("trigger_share: 0.5, keep_last_steps: 2", 0.5),
        ("history_share: 0.4, keep_last_steps: 2", 0.4),
        ("window_left_share: 0.2, keep_last_steps: 2", 0.8),
        ("keep_last_steps: 2", 0.75),
    ],
)
def test_40_percent_of_history_under_20_percent_of_the_window_left_are_shares_of_the_models_window(
    trigger: str, share: float
) -> None:
    window = "profile: {window: {input_tokens: 10000}}"
    views = sent(chain(trigger, window), reads(begun(), 1, 30, BODY * 2))
    at = first_summary(views)

    assert 0.9 * views[at - 1].tokens.before < share * 10000 <= views[at].tokens.before


def test_between_two_summaries_each_view_extends_the_one_before() -> None:
    views = [view.messages for view in sent(chain("trigger_steps: 9, keep_last_steps: 2"), reads(begun(), 1, 40))]
    breaks = [number for number, (before, view) in enumerate(pairwise(views), 1) if view[: len(before)] != before]

    assert breaks == [9, 15, 21, 27, 33, 39]


def test_when_summaries_are_too_long_together_one_from_the_originals_takes_their_place() -> None:
    made = chain("trigger_steps: 9, keep_last_steps: 2, max_tokens: 600, max_total_tokens: 1500")
    views = sent(made, reads(begun(), 1, 40))
    counts = [len(summaries(view)) for view in views]
    at = next(number for number in range(1, len(counts)) if counts[number] < counts[number - 1])
    (merged,) = summaries(views[at])

    assert merged.startswith("[Summary of steps 2-")
    assert all(f"src/{number}.py" in merged or "read_file, ref" in merged for number in (2, 3))


def test_the_last_k_files_in_use_are_carried() -> None:
    view = last(chain("trigger_steps: 9, keep_last_steps: 1, carry_files: 3"), reads(begun(), 1, 9))
    standing = [number for number in range(1, 10) if f"I read {number}.py." in texts(view)]

    assert standing == [1, 7, 8, 9]


def test_the_users_must_keep_list_is_in_each_summary_whose_steps_had_it() -> None:
    run = reads(begun(), 1, 3).step(
        call("read_file", path="notes"), result(f"{BODY}the port is 8431, they say\n{BODY}")
    )
    view = last(chain("trigger_steps: 9, keep_last_steps: 2, must_keep: [the port is 8431, absent]"), reads(run, 5, 9))

    assert "the port is 8431" in summaries(view)[0]
    assert "absent" not in summaries(view)[0]


def test_failing_tests_names_and_rules_of_the_steps_stand_word_for_word() -> None:
    run = reads(begun(), 1, 2).step(
        "Ticket ABC-1234 says: do not change the wire format unless v2 is set.",
        call("bash", command="pytest"),
        result(BODY + "FAILED tests/test_loader.py::test_reads_twice - AssertionError\n" + BODY),
    )
    (text,) = summaries(last(chain("trigger_steps: 8, keep_last_steps: 2"), reads(run, 4, 9)))

    assert "Ticket ABC-1234 says: do not change the wire format unless v2 is set." in text
    assert "FAILED tests/test_loader.py::test_reads_twice" in text


def test_a_template_of_the_chains_own_still_holds_what_must_be_kept() -> None:
    run = reads(begun(), 1, 2).step("I must not use port 8431.", call("read_file", path="x"), result(BODY))
    options = "trigger_steps: 8, keep_last_steps: 2, template: 'In short, {{ first }} to {{ last }}.'"
    view = last(chain(options), reads(run, 4, 9))
    (text,) = (text for text in texts(view) if text.startswith("In short"))

    assert text.startswith("In short, 2 to 6.\nWord for word:\n")
    assert "- I must not use port 8431." in text


def test_what_redact_has_withheld_is_in_no_summary() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    run = begun().step(call("read_file", path=".env"), result(f"GITHUB_TOKEN={secret}\n{BODY}"))
    made = loaded("[{type: redact}, {type: summarize, trigger_steps: 6, keep_first_steps: 0, keep_last_steps: 2}]")
    view = last(made, reads(run, 2, 7))

    assert summaries(view)
    assert secret not in seen(view)


def test_processing_what_was_sent_changes_nothing() -> None:
    made = chain("trigger_steps: 9, keep_last_steps: 2")
    for view in sent(made, reads(begun(), 1, 20)):
        assert made.process(view.messages).messages == view.messages


def test_an_archive_that_keeps_nothing_is_named_and_nothing_goes() -> None:
    view = last(chain("trigger_steps: 8, keep_last_steps: 2", archive="none"), reads(begun(), 1, 9))

    assert view.messages == list(view.history)
    assert [refusal.rule for refusal in view.refusals] == ["archived_first"]


def test_a_pending_step_is_neither_summed_up_nor_broken() -> None:
    run = reads(begun(), 1, 8).step("I look.", call("read_file", path="late.py"))
    view = chain("trigger_steps: 8, keep_first_steps: 0, keep_last_steps: 1").process(run.messages())

    assert "I look." in texts(view)
    assert summaries(view)[0].startswith("[Summary of steps 1-7")


def test_ids_that_repeat_and_parallel_results_keep_their_pairs() -> None:
    run = begun()
    for number in range(12):
        calls = [call("read_file", path=f"{number}{side}", call_id=f"read_file:{at}") for at, side in enumerate("ab")]
        run = run.step(*calls, result(BODY), result(BODY))
    view = last(chain("trigger_steps: 8, keep_last_steps: 2"), run)

    assert summaries(view)
    assert sum(len(message.get("tool_calls") or ()) for message in view.messages) == sum(
        message["role"] == "tool" for message in view.messages
    )


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("trigger_steps: 3, keep_last_steps: 5", "trigger_steps \\(3\\) has to be more than"),
        ("summarizer: llm", "summarizer: llm asks a model; add 'model'"),
        ("target: 'a.b:c'", "summarizer: call and 'target' go together"),
        ("probe: true", "probe asks the model of the summarizer"),
        ("any_of: [{}]", "a condition needs a limit"),
        ("template: sumary", "did you mean 'summary'"),
        ("template: '{{ nothing }}'", "there is no variable 'nothing'"),
        ("template: '{{ goal }}'", "it gives no text"),
        ("summarizer: extract, background: true", "background is for a summarizer that asks a model"),
        ("prompt: '{% for %}'", "mend the Jinja syntax"),
        ("summarizer: call, target: 'summary_models:no'", "cannot be imported"),
    ],
)
def test_options_that_do_not_go_together_are_refused_when_the_chain_is_loaded(options: str, told: str) -> None:
    with pytest.raises((elision.ConfigError, ValueError), match=told):
        chain(options)


def test_the_contract() -> None:
    check_processor(
        elision.processor_types()["summarize"],
        max_examples=5,
        trigger_messages=5,
        keep_first_steps=0,
        keep_last_steps=1,
    )


@pytest.mark.parametrize(("keep_first", "keep_last", "fewest"), [(1, 5, 2), (1, 11, 4), (0, 2, 1), (3, 15, 6)])
def test_a_limit_just_above_the_steps_that_stay_sums_up_a_third_of_these_at_least(
    keep_first: int, keep_last: int, fewest: int
) -> None:
    options = f"trigger_steps: {keep_first + keep_last + 1}, keep_first_steps: {keep_first}"
    views = sent(chain(f"{options}, keep_last_steps: {keep_last}"), reads(begun(), 1, keep_first + keep_last + 20))
    gone = [sum(edit.action == "drop" for edit in view.edits) for view in views]
    rounds = [after - before for before, after in pairwise(gone) if after != before]

    assert len(rounds) >= 2
    assert min(rounds) >= fewest
