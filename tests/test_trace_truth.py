"""What a trace tells is what the views have, on generated and recorded runs, and what its page shows."""

from __future__ import annotations

import inspect
import json
import re
from typing import Any

import pytest
from doc_blocks import ROOT, blocks
from hypothesis import assume, given
from hypothesis import strategies as st
from shared_data import shared
from traced_runs import last

import elision
from elision import processor_types
from elision.registry import plugins
from elision.testing import DIALECT_OF, SHAPES, Shape, chains, histories, poisoned


def test_the_shipped_run_under_a_shipped_chain(sample_run: Any) -> None:
    trace = elision.trace(elision.load("last_n_polling"), sample_run, "4cc3db7")

    assert [(each.step, each.visible, each.recallable) for each in trace.places] == [
        (19, True, False),
        (42, False, True),
        (77, True, False),
    ]
    assert [refused.classes for refused in trace.refusals] == [("receipt",)]


CANARY = "CANARY-93b1"
BUILT_IN = sorted(name for name in processor_types() if plugins().owner("elision_processors", name) == "builtin")


def planted(message: Any) -> Any:
    """The message with a canary at the end of its text, if it has any."""
    for key in ("content", "output"):
        if isinstance(message.get(key), str):
            return {**message, key: f"{message[key]} {CANARY}"}
    parts = message.get("parts", ())
    if any("text" in part for part in parts):
        return {**message, "parts": [*parts, {"text": CANARY}]}
    return message


def sent(message: Any) -> int:
    """How often the canary stands in what is sent of a message."""
    return json.dumps({key: message.get(key) for key in ("content", "output", "parts")}).count(CANARY)


@pytest.mark.filterwarnings("ignore::elision.ElisionWarning")
@pytest.mark.parametrize("shape", SHAPES)
def test_what_the_places_tell_is_what_is_sent(shape: Shape) -> None:
    @given(
        st.one_of(histories(shape), poisoned(shape)),
        chains(types=BUILT_IN),
        st.sets(st.integers(0, 20), min_size=1, max_size=4),
    )
    def holds(messages: list[Any], chain: elision.Chain, positions: set[int]) -> None:
        given = [planted(each) if index in positions else each for index, each in enumerate(messages)]
        assume(any(map(sent, given)))
        trace = elision.trace(chain, given, CANARY, dialect=DIALECT_OF[shape])
        left = [
            [event.count for event in place.events if event.what != "refused" and event.stage != "archive"][-1]
            for place in trace.places
        ]

        assert sum(left) == trace.sent == sum(map(sent, chain.process(given, dialect=DIALECT_OF[shape]).messages))
        assert [count > 0 for count in left] == [place.visible for place in trace.places]

    holds()


def test_a_recorded_run_tells_the_same_as_its_views() -> None:
    path = shared("data", "sweagent", "marshmallow-1867_function_calling.traj")
    messages = json.loads(path.read_text(encoding="utf-8"))["history"]
    find = next(message["content"] for message in messages if message["role"] == "tool")[:30]
    chain = last(1, classification="none")
    trace = elision.trace(chain, messages, find)
    view = chain.process(messages, dialect=trace.dialect)

    assert trace.sent == sum(json.dumps(message["content"]).count(json.dumps(find)[1:-1]) for message in view.messages)


PAGE = (ROOT / "docs" / "trace.md").read_text(encoding="utf-8")


def test_the_program_on_its_page_prints_what_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    (program,), (shown,) = blocks(PAGE, "python"), blocks(PAGE, "text")
    exec(compile(program.text, "trace.md", "exec"), {})  # noqa: S102 (the page's own program)

    assert capsys.readouterr().out == shown.text


@pytest.mark.parametrize("record", [elision.Trace, elision.TracedPlace, elision.TraceEvent])
def test_everything_of_a_record_is_on_its_page(record: type) -> None:
    _, _, section = PAGE.partition(f"### `{record.__name__}`\n")
    rows = re.findall(r"^\| (`.*?) \|", section.partition("\n### ")[0], re.M)
    fields = {name for name in (*inspect.signature(record).parameters, *vars(record)) if not name.startswith("_")}

    assert {name for row in rows for name in re.findall(r"`(\w+)(?:\(\))?`", row)} >= fields
