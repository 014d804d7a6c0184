"""``elision.check`` of chains whose processors wait for one schedule: who took a line out, and who lost it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import ClassVar, Literal

import pytest

import elision
from elision import Chain, CheckReport, Edit, Operation, Processor, Stage, View
from elision.registry import plugins

SCHEDULED = [name for name, kind in plugins().processors().items() if kind.scheduled]
TRIPLES = [
    ("clear_tool_results", "clear_thinking", "clear_tool_inputs"),
    ("clear_thinking", "clear_tool_inputs", "clear_tool_results"),
    ("supersede", "clear_tool_results", "clear_tool_inputs"),
    ("supersede", "recent_steps", "clear_tool_results"),
    ("recent_steps", "clear_tool_inputs", "supersede"),
    ("image_limit", "dedupe", "clear_tool_results"),
    ("clear_tool_inputs", "clear_tool_results", "truncate"),
    ("slim_json", "supersede", "recent_steps"),
]


def checked(*types: str, dialect: str = "anthropic") -> CheckReport:
    processors = ", ".join(f"{{type: {each}}}" for each in types)
    return elision.check(elision.loads(f"{{dialect: {dialect}, history_processors: [{processors}]}}"))


def said_of_removed(report: CheckReport) -> set[tuple[str, bool]]:
    """Who is said to have taken lines out, and whether a ref is named."""
    return {(fate.by.partition(" ")[0], bool(fate.ref)) for fate in report.fates if fate.state == "removed"}


@pytest.mark.parametrize("pair", [*itertools.permutations(SCHEDULED, 2), *TRIPLES], ids="+".join)
def test_what_comes_back_is_not_called_lost_and_whoever_took_it_is_named_with_its_ref(pair: tuple[str, ...]) -> None:
    report = checked(*pair)

    assert report.problems == ()
    assert said_of_removed(report) <= {(name, True) for name in pair}


def test_the_recommended_order_passes_in_every_dialect_and_each_removal_has_its_own_processor() -> None:
    report = elision.check(
        elision.loads("history_processors: [{type: supersede}, {type: clear_tool_results, keep: 4}]")
    )
    by = {(fate.of, fate.by) for fate in report.fates if fate.state == "removed" and fate.dialect == "anthropic"}

    assert report.passed
    assert by >= {("static", "supersede (supersede)"), ("recalled", "clear_tool_results (clear)")}


class Loses(Processor):
    """Blanks the middle of what one tool returned, under the name of another operation."""

    stage: ClassVar[Stage] = "history"
    operation: ClassVar[Operation] = "redact"
    scheduled: ClassVar[bool] = True

    type: Literal["loses"] = "loses"

    def plan(self, view: View) -> Iterator[Edit]:
        for observation in view.older_observations(keep_last=0):
            if observation.call and observation.call.name == "create_issue" and len(observation.text) > 200:
                yield observation.replace(f"{observation.text[:80]} … {observation.text[-80:]}")


class Harms(Processor):
    """Changes the host's message itself, which no edit says."""

    stage: ClassVar[Stage] = "history"
    operation: ClassVar[Operation] = "clear"

    type: Literal["harms"] = "harms"

    def plan(self, view: View) -> Iterator[Edit]:
        for message in view.history.messages:
            if isinstance(message.raw, dict) and "canary-receipt-middle" in str(message.raw.get("content")):
                message.raw["content"] = "nothing"
        return iter(())


def chains_with(guilty: Processor) -> Iterator[Chain]:
    """The processor alone, and at each place between others."""
    others = elision.loads("history_processors: [{type: supersede}, {type: clear_tool_results}]").processors
    yield Chain([guilty], dialect="openai")
    for at in range(len(others) + 1):
        yield Chain([*others[:at], guilty, *others[at:]], dialect="openai")


@pytest.mark.parametrize("place", range(4))
def test_a_processor_that_loses_something_is_named_alone_and_at_every_place_of_a_chain(place: int) -> None:
    report = elision.check(list(chains_with(Loses()))[place])
    lost = {(fate.of, fate.where, fate.by) for fate in report.fates if fate.state == "lost"}

    assert lost == {("receipt", "middle", "loses (redact)")}
    assert "the operation 'redact' takes out nothing but secrets" in report.problems[0]


@pytest.mark.parametrize("place", range(4))
def test_a_processor_that_harms_the_hosts_message_is_named_alone_and_at_every_place_of_a_chain(place: int) -> None:
    report = elision.check(list(chains_with(Harms()))[place])
    lost = {(fate.of, fate.by) for fate in report.fates if fate.state == "lost"}

    assert lost == {("receipt", "harms (clear)")}
    assert not report.passed
