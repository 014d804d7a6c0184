"""What ``budget`` found for earlier requests is used again as long as it holds; a fresh process finds the same."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from types import FrameType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import elision
from elision import Chain, OverBudgetError, Session, registry
from elision.testing import Conversation, Shape, call, conversation, result
from elision.tokens.calibration import Calibration

MODEL = "gpt-4.1"
ALONE = "{type: budget, max_tokens: 1200}"
CHAINS = {
    "alone": ALONE,
    "among others": "{type: truncate, threshold_tokens: 300, head_chars: 300, tail_chars: 100}, "
    "{type: clear_tool_results, keep: 4, schedule: {trigger_tokens: 900, clear_at_least_tokens: 100}}, "
    f"{{type: supersede}}, {ALONE}, {{type: cache_control}}",
    "with a budget before it": f"{{type: budget, max_tokens: 1500}}, {ALONE}",
    "with steps that go": f"{{type: recent_steps, keep_last_steps: 5}}, {ALONE}",
}
TOOLS = {name: {"type": "function", "function": {"name": name}} for name in ("read_file", "bash", "write_file")}
OFFERED = [[TOOLS["read_file"]], [TOOLS["bash"]], [*TOOLS.values()], [elision.recall_tool_schema()], None]
DECIDING = ("elision.fitting", "elision.reductions", "elision.guard")
EVENTS = ["step"] * 10 + ["user", "tools", "late", "branch", "calibrate", "again"]


def chain(named: str, table: str = "default") -> Chain:
    return elision.loads(f"classification: {table}\nhistory_processors: [{CHAINS[named]}]", archive="memory:")


def told(run: Session, messages: list[Any], factor: float, **facts: Any) -> str:
    """What is sent and reported, or what is said where nothing is."""
    run.calibrations[MODEL] = Calibration(factor)
    try:
        view = run.process(messages, model=MODEL, **facts)
    except OverBudgetError as error:
        return str(error)
    return json.dumps(view.messages) + "\n".join(map(repr, [*view.edits, *view.refusals]))


@st.composite
def parts(draw: st.DrawFn, number: int) -> list[Any]:
    size = draw(st.sampled_from([3, 20, 60, 200]))
    calls = [
        (call("read_file", path=f"f{number % 5}"), result(f"{number}: a line\n" * size)),
        (call("bash", command="make"), result("made it\n" * size, error=bool(number % 3))),
        (call("write_file", path="w", content="x = 1\n" * size), result("ok")),
        (call("bash", command="git commit -m it"), result("[main 1] it")),
        (call("frobnicate"), result("frob\n" * size)),
    ]
    found = draw(st.lists(st.sampled_from(calls), min_size=1, max_size=2))
    said = draw(st.sampled_from([[], ["I look at it. " * size]]))
    return [*said, *(asked for asked, _ in found), *(answer for _, answer in found)]


def grown(run: Conversation, event: str, number: int, draw: Callable[..., Any]) -> Conversation:
    """A run after something has happened in it."""
    match event:
        case "step":
            return run.step(*draw(parts(number)))
        case "user":
            return run.user("And then? " * draw(st.integers(1, 60)))
        case "late":
            waiting = run.step(call("bash", call_id=f"late_{number}", command="make")).user("Wait.")
            return waiting.stray(result("made it\n" * 30, call_id=f"late_{number}"))
        case "branch":
            return replace(run, entries=run.entries[: draw(st.integers(1, len(run.entries)))])
    return run


@pytest.mark.filterwarnings("ignore::elision.ElisionWarning")
@pytest.mark.parametrize("shape", ["openai", "anthropic"])
@pytest.mark.parametrize("named", CHAINS)
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_whatever_happens_between_requests_a_session_sends_what_a_fresh_process_does(
    named: str, shape: Shape, data: st.DataObject
) -> None:
    made = chain(named, data.draw(st.sampled_from(["default", "none"])))
    session, messages, tools, factor = made.session(), list[Any](), None, 1.0
    run = conversation(shape).user("Go.")
    for number, event in enumerate(data.draw(st.lists(st.sampled_from(EVENTS), min_size=4, max_size=14))):
        run = grown(run, event, number, data.draw)
        tools = data.draw(st.sampled_from(OFFERED)) if event == "tools" and shape == "openai" else tools
        factor = data.draw(st.sampled_from([1.0, 1.02, 1.3])) if event == "calibrate" else factor
        before, messages = len(messages), run.messages()
        for stop in range(min(before + 1, len(messages)), len(messages) + 1):
            facts = {"tools": tools, "dialect": run.dialect}

            assert told(session, messages[:stop], factor, **facts) == told(
                made.session(), messages[:stop], factor, **facts
            )


def looked(session: Session, messages: list[Any]) -> int:
    """How often what decides a cut, and the guard, are asked for one request."""
    count = 0

    def note(frame: FrameType, event: str, _: Any) -> None:
        nonlocal count
        count += event == "call" and frame.f_globals.get("__name__", "").startswith(DECIDING)

    sys.setprofile(note)
    try:
        session.process(messages, model=MODEL)
    finally:
        sys.setprofile(None)
    return count


def asked_in_the_last_requests(steps: int) -> float:
    """The mean of 40 requests: with it cuts."""
    run = conversation().user("Go.")
    for number in range(steps):
        run = run.step("I look.", call("read_file", path=f"f{number}"), result(f"{number}: a line\n" * 20))
    messages, session = run.messages(), chain("alone").session()
    session.process(messages[:-80], model=MODEL)
    return sum(looked(session, messages[: stop + 2]) for stop in range(len(messages) - 80, len(messages), 2)) / 40


def test_a_request_of_a_long_session_asks_no_more_than_one_of_a_short_one() -> None:
    short, long = asked_in_the_last_requests(60), asked_in_the_last_requests(240)

    assert 0 < long <= 1.3 * short


def test_an_edit_that_stands_from_request_to_request_is_told_once() -> None:
    told_of: list[tuple[str, int]] = []

    class Listener:
        @elision.hookimpl
        def elision_edit_applied(self, edit: elision.AppliedEdit) -> None:
            told_of.append((edit.action, edit.position))

    listener, manager = Listener(), registry.plugins().manager
    manager.register(listener, "listener")
    try:
        run, session = conversation().user("Go."), chain("alone").session()
        for number in range(12):
            run = run.step(call("read_file", path=f"f{number}"), result(f"{number}: a line\n" * 20))
            session.process(run.messages(), model=MODEL)
    finally:
        manager.unregister(listener)

    assert len(told_of) == len(set(told_of)) >= 5
