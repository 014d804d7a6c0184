"""What decisions rest on beside the history is recorded where it first held, so that all who ask decide alike."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, ClassVar, Literal, cast

import pytest
from scheduled_runs import cleared, reads, requests

import elision
from elision import (
    Archive,
    Chain,
    Edit,
    InputError,
    Operation,
    Processor,
    SentView,
    View,
    first_found,
    open_archive,
)
from elision.archive.sqlite import SqliteStore

CHEAP_WRITES = {"prices": {"input": 1.0, "cache_read": 0.9, "cache_write": 1.0}}
DEAR_WRITES = {"prices": {"input": 1.0, "cache_read": 0.02, "cache_write": 1.0}}
READ = [{"type": "function", "function": {"name": "read_file", "parameters": {}}}]
RUN = reads(*[600, 300, 900, 500, 400] * 5).messages()


@pytest.fixture
def archive() -> Archive:
    return open_archive("memory:", environ={})


def chain(archive: Archive, profile: Any = None, options: str = "keep: 1") -> Chain:
    (processor,) = elision.loads(f"history_processors: [{{type: clear_tool_results, {options}}}]").processors
    return Chain([processor], archive=archive, classification=None, profile=profile)


def run(chain: Chain, messages: Sequence[Any] = RUN, **said: Any) -> list[SentView]:
    with chain.session() as session:
        return [session.process(each, **said) for each in requests(messages)]


def sent(views: Sequence[SentView]) -> list[Any]:
    return [view.messages for view in views]


def test_a_step_with_nothing_new_records_nothing(archive: Archive) -> None:
    views = run(chain(archive, options="keep: 3, exclude_tools: [read_file]"), tools=READ)

    assert (len(views), archive.stats().facts) == (26, 1)


def test_a_clear_is_recorded_with_the_originals(archive: Archive) -> None:
    views = run(chain(archive, CHEAP_WRITES), tools=READ)
    clears = len({len(view.edits) for view in views}) - 1

    assert clears > 1
    assert archive.stats().facts <= 1 + clears


def test_a_worker_with_another_price_map_keeps_what_was_decided_before(archive: Archive) -> None:
    views = run(chain(archive, CHEAP_WRITES))
    for number, messages in enumerate(requests(RUN)):
        view = chain(archive, DEAR_WRITES).process(messages)

        assert view.messages == views[number].messages
    assert sent(run(chain(open_archive("memory:", environ={}), DEAR_WRITES))) != sent(views)


def test_a_new_price_map_holds_for_runs_that_begin_later(archive: Archive) -> None:
    lengths = [len(messages) for messages in requests(RUN)]
    run(chain(archive, CHEAP_WRITES), RUN[: lengths[9]])
    with chain(archive, DEAR_WRITES).session() as session:
        goes_on = [session.process(RUN[:stop]) for stop in lengths[9:]]
    nowhere = open_archive("memory:", environ={})

    assert sent(goes_on) == sent(run(chain(nowhere, CHEAP_WRITES)))[9:]
    assert sent(run(chain(archive, DEAR_WRITES), RUN[1:])) == sent(run(chain(nowhere, DEAR_WRITES), RUN[1:]))


def test_a_fallback_model_undoes_nothing_and_others_see_it(archive: Archive) -> None:
    made, models = chain(archive), ["gpt-4o"] * 12 + ["deepseek-v4-flash"] * 4 + ["gpt-4o"] * 4 + [None] * 6
    with made.session() as session:
        seen: list[int] = []
        for model, messages in zip(models, requests(RUN), strict=True):
            view = session.process(messages, model=model)

            assert made.process(messages, model=model).messages == view.messages
            assert set(seen) <= set(cleared(view))
            seen = cleared(view)
    assert seen


@pytest.mark.parametrize("again", [True, False])
def test_where_the_same_request_goes_to_another_model_first_its_cache_is_warm_at_the_next_step(
    archive: Archive, *, again: bool
) -> None:
    messages = list(requests(RUN))
    with chain(archive, options="keep: 5").session() as session:
        for each in messages[:8]:
            view = session.process(each, model="deepseek-v4-flash")
        if again:
            assert session.process(messages[7], model="claude-fable-5-1").messages == view.messages
        after = session.process(messages[8], model="claude-fable-5-1")

    assert (cleared(view), bool(cleared(after))) == ([], not again)


def test_runs_of_two_models_that_begin_alike_do_not_disturb_one_another(archive: Archive) -> None:
    alone = {
        model: sent(run(chain(open_archive("memory:", environ={})), model=model))
        for model in ("gpt-4o", "deepseek-v4-flash")
    }
    with chain(archive).session() as one, chain(archive).session() as other:
        for number, messages in enumerate(requests(RUN)):
            assert one.process(messages, model="gpt-4o").messages == alone["gpt-4o"][number]
            assert other.process(messages, model="deepseek-v4-flash").messages == alone["deepseek-v4-flash"][number]


def test_where_the_host_branches_its_history_the_facts_of_the_common_prefix_hold(archive: Archive) -> None:
    made = chain(archive)
    lengths = [len(messages) for messages in requests(RUN)]
    with made.session() as session:
        for number, stop in enumerate(lengths[:14]):
            session.process(RUN[:stop], model="gpt-4o" if number < 6 else "deepseek-v4-flash", now=1000.0 * number)
        branch = [*RUN[: lengths[8]], *RUN[lengths[12] :]]
        view = session.process(branch, model="deepseek-v4-flash", now=14_000.0)

    assert view.messages == made.process(branch, model="deepseek-v4-flash", now=14_000.0).messages


def test_where_nothing_is_kept_the_facts_live_as_long_as_the_session() -> None:
    messages = list(requests(RUN))
    with chain(open_archive("none", environ={})).session() as session:
        for number, each in enumerate(messages):
            view = session.process(each, model="gpt-4o" if number < 9 else "deepseek-v4-flash")

    assert (view.edits, view.failures) == ((), ())


def test_tools_that_go_change_no_placeholder_that_others_have_sent(archive: Archive) -> None:
    recall = elision.recall_tool_schema("openai")
    made = chain(archive, CHEAP_WRITES)
    with made.session() as session:
        for number, messages in enumerate(requests(RUN)):
            tools = [recall] if number < 12 else READ if number < 18 else []
            view = session.process(messages, tools=tools)

            assert made.process(messages, tools=tools).messages == view.messages
    assert cleared(view)
    assert view.unreachable


class Raced(SqliteStore):
    """A store that another process writes to just before this one does."""

    def __init__(self, folder: Path, before: Any) -> None:
        super().__init__(folder)
        self._before = before

    @contextmanager
    def transaction(self) -> Any:
        if (before := self._before) is not None:
            self._before = None
            before()
        with super().transaction() as writing:
            yield writing


def test_of_two_workers_that_decide_at_once_the_second_takes_over_what_the_first_has_recorded(tmp_path: Path) -> None:
    shared = open_archive(tmp_path, environ={})
    first: list[SentView] = []
    store = Raced(tmp_path, lambda: first.append(chain(shared, CHEAP_WRITES).process(RUN)))
    second = chain(Archive(store), DEAR_WRITES).process(RUN)

    assert second.messages == first[0].messages
    assert cleared(second)


def test_a_ledger_that_cannot_be_read_removes_nothing_and_says_so(tmp_path: Path) -> None:
    with open_archive(tmp_path, environ={}) as before:
        run(chain(before, CHEAP_WRITES))
    (tmp_path / "archive.db").write_bytes(b"no database" * 1000)
    with pytest.warns(elision.ElisionWarning, match="it is no database"):
        view = chain(open_archive(tmp_path, environ={}), CHEAP_WRITES).process(RUN)

    assert (view.edits, view.messages) == ((), RUN)


@pytest.mark.parametrize("now", ["noon", float("nan"), True])
def test_a_time_that_is_none_is_an_error(archive: Archive, now: Any) -> None:
    with pytest.raises(InputError, match=r"now: .* is no time; give seconds since the epoch"):
        chain(archive).process(RUN[:3], now=now)


GROWS = """
import json, sys
import elision
messages, asked = json.load(sys.stdin)
with elision.load(sys.argv[1], archive=sys.argv[2]).session() as session:
    for stop, model, now in asked:
        view = session.process(messages[:stop], model=model, now=now)
        sys.stdout.write(json.dumps([stop, model, now, view.messages]) + "\\n")
        sys.stdout.flush()
"""


@pytest.mark.parametrize("seed", range(3))
def test_after_a_kill_another_process_sends_what_the_killed_one_has_sent(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)  # noqa: S311 (no secrets here)
    config, model, now, asked = tmp_path / "chain.yaml", "gpt-4o", 0.0, []
    config.write_text("{history_processors: [{type: clear_tool_results, keep: 2}], classification: none}")
    messages = reads(*[chance.randrange(100, 1500) for _ in range(120)]).messages()
    for each in requests(messages):
        model = chance.choice(["gpt-4o", "gpt-5.2"]) if chance.random() < 0.1 else model
        now += chance.choice([10, 10, 10, 10, 4000])
        asked.append([len(each), model, now])
    command = [sys.executable, "-c", GROWS, str(config), str(tmp_path / "archive")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        cast(IO[str], process.stdin).write(json.dumps([messages, asked]))
        cast(IO[str], process.stdin).close()
        lines = [cast(IO[str], process.stdout).readline() for _ in range(chance.randrange(20, 100))]
        process.send_signal(signal.SIGKILL)
    told = [json.loads(line) for line in lines]
    goes_on = elision.load(config, archive=str(tmp_path / "archive"))
    for stop, name, at, view in told[::4]:
        assert goes_on.process(messages[:stop], model=name, now=at).messages == view
    assert goes_on.opened_archive.verify().clean


class Guesses(Processor):
    """Elides old results unless it ran out of time, as it seems to each process by itself."""

    operation: ClassVar[Operation] = "clear"

    type: Literal["guesses"] = "guesses"
    in_time: bool

    def plan(self, view: View) -> Iterator[Edit]:
        for observation in view.older_observations(1):
            if first_found(view, f"guesses {observation.text}", str(self.in_time)) == "True":
                yield observation.elide()


@pytest.mark.parametrize("first", [True, False])
def test_what_a_processor_found_first_holds_for_every_process(archive: Archive, *, first: bool) -> None:
    made = [Chain([Guesses(in_time=each)], archive=archive, classification=None) for each in (first, not first)]
    views = [run(each) for each in made]

    assert sent(views[0]) == sent(views[1])
    assert bool(cleared(views[0][-1])) == first
