"""The tests that a chain file has: a recorded history, and what must come of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from elision.apply import Recorded, apply, gather
from elision.chain import Chain
from elision.checking.following import in_memory
from elision.checking.report import Outcome
from elision.convert import parsed
from elision.dialect import by_name
from elision.errors import ElisionError, InputError, nearest
from elision.history import History, Paired
from elision.message import ToolCall, texts_of
from elision.registry import plugins
from elision.report import SentView

if TYPE_CHECKING:
    from elision.config.tests_block import ChainTest, Expected


def outcomes(chain: Chain) -> Iterator[Outcome]:
    """Run the tests of a chain, with an archive in memory."""
    for index, test in enumerate(chain.tests):
        try:
            problems = tuple(_problems(chain, test))
        except ElisionError as error:
            problems = tuple(str(error).splitlines())
        yield Outcome(f"tests[{index}]", test.history, problems)


def _problems(chain: Chain, test: ChainTest) -> Iterator[str]:
    tried = replace(chain, archive=in_memory(chain))
    recorded = _recorded(test, None if chain.dialect == "auto" else chain.dialect)
    view = apply(tried, recorded, model=test.model).view
    history = parsed(recorded.run.messages, recorded.dialect)
    yield from (failure.told for failure in view.failures)
    yield from _of_calls(test.expect, history, view)
    yield from _of_texts(test.expect, view)
    below = test.expect.tokens_below
    if below is not None and view.tokens.after >= below:
        yield f"{view.tokens.after:,} tokens are sent (of {view.tokens.before:,}); expected fewer than {below:,}"


def _recorded(test: ChainTest, dialect: str | None) -> Recorded:
    if Path(test.history).is_dir():
        raise InputError("this is a folder; name a file in it")
    named = test.from_ or dialect
    if test.run is not None:
        return gather([test.history], number=test.run, dialect=named).runs[0]
    runs = gather([test.history], every=True, dialect=named).runs
    if len(runs) > 1:
        raise InputError(f"it has {len(runs)} runs; say which one with 'run: 0' to 'run: {len(runs) - 1}'")
    return runs[0]


def _of_calls(expected: Expected, history: History, view: SentView) -> Iterator[str]:
    known = [call.id for step in history.steps for _, call in step.calls if call.id]
    for state in ("kept", "cleared", "changed", "dropped"):
        for call_id in getattr(expected, state):
            if call_id not in known:
                yield f"{state}: there is no call {call_id!r} in this history; {_meant(call_id, known)}"
                continue
            for found, by in _states(call_id, history, view):
                if state not in found:
                    yield f"{call_id}: expected to be {state}, but it is {found[0]}{by}"


def _meant(call_id: str, known: Sequence[str]) -> str:
    told = nearest(call_id, dict.fromkeys(known), what="calls") if known else "its calls have no ids"
    return told if told.endswith("?") else f"{told}; correct it"


def _states(call_id: str, history: History, view: SentView) -> Iterator[tuple[list[str], str]]:
    """Yield what became of each call that has an id, the most telling word first, and who did it."""
    for step in history.steps:
        for (_, call), address in zip(step.calls, step.results, strict=True):
            if call.id != call_id:
                continue
            paired = history.paired[address] if address is not None else None
            yield _state(paired, step.start, view)


def _state(paired: Paired | None, start: int, view: SentView) -> tuple[list[str], str]:
    dropped = next((each for each in view.edits if each.action == "drop" and each.position == start), None)
    if dropped is not None:
        return ["dropped"], f" (by {dropped.processor})"
    edits = [
        each
        for each in view.edits
        if paired and (each.position, each.part) == tuple(paired.address) and each.action in ("replace", "elide")
    ]
    if not edits:
        refused = [each for each in view.refusals if paired and (each.position, each.part) == tuple(paired.address)]
        return ["kept"], f" ({refused[0].rule} refused {refused[0].processor}: {refused[0].reason})" if refused else ""
    cleared = any(each.elides or each.operation in ("clear", "supersede") for each in edits)
    return ["cleared", "changed"] if cleared else ["changed"], f" (by {edits[-1].processor})"


def _of_texts(expected: Expected, view: SentView) -> Iterator[str]:
    sent = "\n".join(_texts(parsed(view.messages, by_name(plugins().dialects(), view.dialect))))
    for text in expected.contains:
        if text not in sent:
            yield f"contains: {_short(text)} is not in what is sent"
    for text in expected.lacks:
        if text in sent:
            yield f"lacks: {_short(text)} is in what is sent"


def _texts(history: History) -> Iterable[str]:
    for message in history.messages:
        yield from texts_of(message.parts)
        for part in message.parts:
            if isinstance(part, ToolCall):
                given = part.arguments
                yield given if isinstance(given, str) else json.dumps(dict(given), ensure_ascii=False, default=str)


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:59]}…")
