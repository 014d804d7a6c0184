"""A share of the sessions is live: which ones is told by their ids, or by what the user says first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from offload_runs import files, lines, offloading, quietly, searching
from shadow_runs import run, shadow

from elision import Chain


def test_a_session_is_told_by_its_id_and_stays_what_it_is_as_the_share_grows() -> None:
    names = [f"run-{number}" for number in range(100)]

    def switched_on(share: float) -> set[str]:
        chain = shadow(share=share)
        return {name for name in names if chain.session(name).process(run(1)).live}

    tenth, half = switched_on(0.1), switched_on(0.5)
    assert tenth < half
    assert tenth == switched_on(0.1)
    assert switched_on(0) == set()
    assert switched_on(1) == set(names)


def test_without_an_id_it_is_told_by_what_the_user_says_first_and_does_not_change_as_the_run_grows() -> None:
    chain = shadow(share=0.5)
    seen = set()
    for task in map("Task {}.".format, range(20)):
        messages = run(4, task=task)
        with chain.session() as session:
            found = [session.process(messages[:stop]).live for stop in range(1, len(messages) + 1, 2)]
        found += [chain.process(messages[:stop]).live for stop in range(1, len(messages) + 1, 2)]

        assert len(set(found)) == 1
        seen |= set(found)
    assert seen == {True, False}


def test_a_system_message_that_changes_with_each_request_does_not_move_a_session_to_the_other_side() -> None:
    chain = shadow(share=0.5)
    task = run(1, "openai")
    views = [chain.process([{"role": "system", "content": f"It is {hour} o'clock."}, *task]) for hour in range(24)]

    assert len({view.live for view in views}) == 1


def test_a_session_that_becomes_live_decides_anew_so_that_its_files_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chain = replace(offloading(), mode="shadow", share=0.5)
    before = next(word for word in "abcdefghijkl" if not _is_live(chain, word))
    after = next(word for word in "mnopqrstuvwx" if _is_live(chain, before, word))
    messages: list[Any] = [{"role": "user", "content": before}]
    with chain.session() as session:
        first = quietly(session, messages)
        messages += [{"role": "user", "content": after}, *searching(lines(3000)).messages()[1:]]
        second = quietly(session, messages)

    assert (first.live, second.live) == (False, True)
    assert len(files()) == 1


def _is_live(chain: Chain, *words: str) -> bool:
    return quietly(chain, [{"role": "user", "content": word} for word in words]).live
