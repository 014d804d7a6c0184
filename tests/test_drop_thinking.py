"""``on_bound_thinking: drop_thinking``: edits when the turn is over, and thinking that goes with them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from thinking_runs import (
    BOUND,
    WHY,
    answer,
    bound_at,
    cleared,
    clearing,
    dropped,
    refused,
    step,
    thoughts,
    turns,
)

import elision
from elision import Archive, ArchiveError, Chain, ElisionWarning
from elision.archive.sqlite import SqliteStore
from elision.archive.sqlite_writing import SqliteWriting
from elision.testing import Conversation, call, conversation, result, thinking


@pytest.mark.parametrize("shape", ["anthropic", "openai"])
def test_drop_thinking_clears_when_the_user_has_answered_a_final_answer(shape: Any) -> None:
    open_turn, answered = turns(shape, 4), answer(turns(shape, 4))
    closed = answered.user("And now?")
    view = clearing("drop_thinking").process(closed.messages())

    assert clearing("drop_thinking").process(open_turn.messages()).edits == ()
    assert clearing("drop_thinking").process(answered.messages()).edits == ()
    assert cleared(view) == [2, 4, 6]
    assert sorted(dropped(view)) == [3, 5, 7, 9]
    assert thoughts(view.messages[1]) == thoughts(closed.messages()[1])
    assert not any(thoughts(message) for message in view.messages[2:])
    assert {edit.processor for edit in view.edits} == {"clear_tool_results"}
    assert view.params == {}


def test_thinking_that_was_dropped_is_in_the_archive() -> None:
    closed = answer(turns("anthropic", 3)).user("And now?")
    chain = clearing("drop_thinking")
    view = chain.process(closed.messages())
    refs = {edit.position: edit.ref for edit in view.edits if edit.reason == WHY}

    assert {position: chain.opened_archive.get(ref).content for position, ref in refs.items()} == {
        position: thoughts(closed.messages()[position]) for position in (3, 5, 7)
    }


def test_after_a_turn_was_closed_thinking_goes_on_and_is_kept_until_the_next_one_is() -> None:
    run = turns("anthropic", 3, 3)
    chain = clearing("drop_thinking")
    view = chain.process(run.messages())
    positions = [at for at, message in enumerate(view.messages) if thoughts(message)]

    assert cleared(view) == [2, 4]
    assert positions == [1, 9, 11, 13]
    assert cleared(chain.process(answer(run).user("More.").messages())) == [2, 4, 6, 10, 12]


class FailsAtTimes(SqliteStore):
    """A store that takes nothing while its disk is full."""

    full = False

    @contextmanager
    def transaction(self) -> Iterator[SqliteWriting]:
        if self.full:
            raise ArchiveError("archive: the disk is full; make room")
        with super().transaction() as writing:
            yield writing


def test_with_an_archive_that_fails_both_the_edit_and_the_thinking_stay() -> None:
    closed = answer(turns("anthropic", 4)).user("And now?")
    store = FailsAtTimes(None)
    with clearing("drop_thinking", archive=Archive(store)).session() as session, warnings.catch_warnings():
        warnings.simplefilter("ignore", ElisionWarning)
        store.full = True
        failed = session.process(closed.messages())
        store.full = False
        later = session.process(step(closed, 7).messages())
        last = session.process(answer(step(closed, 7)).user("More.").messages())

    assert (failed.edits, failed.messages) == ((), closed.messages())
    assert later.edits == ()
    assert cleared(last) == [2, 4, 6, 8]
    assert sorted(dropped(last)) == [3, 5, 7, 9, 11, 13]


@pytest.mark.parametrize("name", ["last_n_observations", "closed_window"])
def test_processors_without_a_schedule_are_heard_when_the_turn_is_over(name: str) -> None:
    def window(run: Conversation, number: int) -> Conversation:
        shown = f"[File: a.py (9 lines total)]\n{number + 1}:{'x' * 90}\n"
        return run.step(thinking("Hm.", signature=f"s{number}"), call("open", path="a.py"), result(shown))

    run = conversation("openai").user("Go.")
    for number in range(4):
        run = window(run, number)
    options = {"last_n_observations": ", n: 1", "closed_window": ""}[name]
    loaded = elision.loads(
        f"{{history_processors: [{{type: {name}{options}}}], classification: none}}", archive="memory:"
    )
    chain = Chain(
        loaded.processors, classification=None, archive="memory:", model=BOUND, on_bound_thinking="drop_thinking"
    )
    with chain.session() as session:
        waiting = session.process(run.messages())
        made = session.process(answer(run).user("More.").messages())

    assert waiting.edits == ()
    assert ("bound_thinking", f"{bound_at(7)}: when the turn is over") in refused(waiting)
    assert [edit.position for edit in made.edits if edit.reason != WHY] == [2, 4, 6]
    assert sorted(dropped(made)) == [3, 5, 7, 9]
    assert refused(made) == set()


def test_an_open_call_keeps_the_turn_open() -> None:
    run = step(step(conversation("openai").user("Go."), 0), 1)
    run = run.step(thinking("Third.", signature="s"), call("bash", command="sleep 9"))
    closed = answer(run.user("Stop."), "Stopped.").user("And now?")

    assert clearing("drop_thinking").process(closed.messages()).edits == ()
