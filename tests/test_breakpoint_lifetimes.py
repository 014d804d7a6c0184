"""Cache breakpoints in an order that providers take: none behind a shorter one lives longer, none is too many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import pytest

from elision import loads
from elision.testing import call, conversation, result

FIVE, HOUR = {"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}
CHAINS = {
    "the newest": "{type: cache_control}",
    "many": "{type: cache_control, last_n_messages: 9}",
    "for an hour": "{type: cache_control, ttl: 1h}",
    "planned": "{type: cache_control, plan: auto}",
    "planned for an hour": "{type: cache_control, plan: auto, ttl: 1h}",
}
MODEL = "claude-sonnet-4-5"


def run_with(marks: Mapping[int, Any]) -> list[Any]:
    """Return a run of six steps in which the host has set breakpoints."""
    run = conversation("anthropic").user("Mend it.")
    for number in range(6):
        run = run.step("Now.", call("read_file", path=f"{number}.py"), result(f"line {number}\n" * 50))
    messages = run.messages()
    for position, mark in marks.items():
        content = messages[position]["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        messages[position] = {**messages[position], "content": [*blocks[:-1], {**blocks[-1], "cache_control": mark}]}
    return messages


def lifetimes(value: Any) -> Iterator[str]:
    """Yield how long each breakpoint lives, in order."""
    if isinstance(value, Mapping):
        if value.get("cache_control") is not None:
            yield value["cache_control"].get("ttl", "5m")
        value = [item for key, item in value.items() if key != "cache_control"]
    for item in value if isinstance(value, list) else ():
        yield from lifetimes(item)


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
@pytest.mark.parametrize("marks", [{12: HOUR}, {10: HOUR}, {0: HOUR, 12: FIVE}, {0: FIVE, 2: FIVE}, {}])
def test_no_breakpoint_behind_a_shorter_one_lives_longer_and_four_are_never_exceeded(
    chain: str, marks: Mapping[int, Any]
) -> None:
    loaded, messages = loads(f"history_processors: [{chain}]\narchive: 'memory:'"), run_with(marks)
    for beside, automatic in product([None, FIVE, HOUR], [None, FIVE, HOUR]):
        request: dict[str, Any] = {"model": MODEL, "messages": messages}
        request |= {"system": [{"type": "text", "text": "Be brief.", "cache_control": beside}]} if beside else {}
        request |= {"cache_control": automatic} if automatic and (automatic, beside) != (HOUR, FIVE) else {}
        view = loaded.process(request)
        last = [automatic.get("ttl", "5m")] if "cache_control" in request else []
        found = [*lifetimes(request.get("system")), *lifetimes(view.messages), *last]

        assert found == sorted(found), (beside, automatic)
        assert len(found) <= 4, (beside, automatic)


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_a_breakpoint_on_the_last_block_agrees_with_that_which_the_provider_sets_there(chain: str) -> None:
    request = {"model": MODEL, "messages": run_with({}), "cache_control": FIVE}
    view = loads(f"history_processors: [{chain}]\narchive: 'memory:'").process(request)

    assert [*lifetimes(view.messages[-1])] in ([], ["5m"])


def test_the_report_counts_on_the_breakpoint_that_the_provider_sets_by_itself() -> None:
    messages = run_with({})
    with loads("history_processors: []\narchive: 'memory:'").session() as session:
        session.process({"model": "claude-opus-5", "messages": messages[:-2], "cache_control": FIVE})
        view = session.process({"model": "claude-opus-5", "messages": messages, "cache_control": FIVE})

    assert view.cache.read_tokens > 0
