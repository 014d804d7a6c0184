"""``supersede``: what was read or written again later becomes a placeholder, and nothing else does."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from table_runs import LONG, begun, read, refused, step_by_step, write

import elision
from elision import SentView
from elision.testing import Conversation, call, check_processor, result

RERUN = call("run_tests"), result(LONG)


def chain(options: str = "schedule: every_step", more: str = "") -> elision.Chain:
    return elision.loads(f"history_processors: [{{type: supersede, {options}}}]\n{more}")


def elided(run: Conversation, **options: str) -> list[str]:
    return [edit.call_id for edit in chain(**options).process(run.messages(), dialect=run.dialect).edits]


def test_an_older_read_goes_when_the_same_is_read_again() -> None:
    run = begun().step(*read("a.py")).step(*read("b.py")).step(*read("a.py"))

    assert elided(run) == ["call_1"]


def test_an_older_read_goes_when_the_same_is_written() -> None:
    run = begun().step(*read("a.py")).step(*write("a.py")).step(*read("b.py"))

    assert elided(run) == ["call_1"]


def test_a_write_that_failed_leaves_the_read_standing() -> None:
    run = begun("anthropic").step(*read("a.py")).step(*write("a.py", error=True)).step(*read("b.py"))

    assert elided(run) == []


def test_a_reading_of_a_part_leaves_the_other_parts_standing() -> None:
    run = begun().step(*read("a.py", offset=1)).step(*read("a.py", offset=90)).step(*read("a.py", offset=1))

    assert elided(run) == ["call_1"]


def test_a_query_that_was_made_again_goes() -> None:
    run = begun().step(*RERUN).step(*RERUN).step(*RERUN)

    assert elided(run) == ["call_1", "call_2"]


def test_of_several_reads_in_one_step_the_older_go_one_step_later() -> None:
    run = begun().step(*read("a.py"), *read("a.py"))

    assert elided(run) == []
    assert elided(run.step(*read("b.py"))) == ["call_1"]


def test_the_placeholder_says_that_it_is_stale() -> None:
    run = begun().step(*read("a.py")).step(*read("a.py"))
    view = chain().process(run.messages())

    assert view.messages[3]["content"].startswith(
        '[read_file(path="a.py"): 405 chars, 9 lines removed; read or written'
    )


def test_what_was_written_stays_for_the_table_keeps_it() -> None:
    run = begun().step(call("write_file", path="a.py"), result(LONG)).step(*write("a.py")).step(*read("b.py"))
    view = chain().process(run.messages())

    assert view.edits == ()
    assert refused(view) == {"call_1": "class receipt: supersede never"}


def test_a_failed_read_goes_when_the_same_call_succeeds() -> None:
    failed = call("read_file", path="a.py"), result(LONG, error=True)
    run = begun("anthropic").step(*failed).step(*write("a.py")).step(*read("b.py"))

    assert elided(run) == []
    assert elided(run.step(*read("a.py")).step(*read("c.py"))) == ["call_1"]


def test_without_a_table_nothing_is_known_to_be_stale() -> None:
    run = begun().step(*read("a.py")).step(*read("a.py"))

    assert elided(run, more="classification: none") == []


def test_stale_results_wait_for_the_schedule_and_go_together() -> None:
    run = begun()
    for number in range(8):
        run = run.step(*read("a.py" if number % 2 else "b.py"))
    rounds = sorted({len(view.edits) for view in step_by_step(chain("schedule: {polling: 4}"), run)})

    assert rounds[0] == 0
    assert min(after - before for before, after in pairwise(rounds)) >= 2


def test_each_result_is_offered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    offered: list[Any] = []
    made = elision.Observation.elide
    monkeypatch.setattr(elision.Observation, "elide", lambda self, *a, **k: offered.append(1) or made(self, *a, **k))
    run = begun()
    for _ in range(60):
        run = run.step(call("write_file", path="a.py"), result(LONG))
    view: SentView = chain().process(run.messages())

    assert (len(view.edits), len(offered)) == (0, 59)


def test_it_keeps_the_contract() -> None:
    check_processor(elision.processor_types()["supersede"], max_examples=5, schedule="every_step")
