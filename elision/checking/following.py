"""One chain followed through one conversation in one dialect, one request a step."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from elision.archive import Archive
from elision.archive.opening import trial_archive
from elision.chain import Chain
from elision.checking.script import ALWAYS_KEPT, Canary, Script
from elision.checking.taking import taker
from elision.convert import convert, parsed
from elision.dialect import Dialect, by_name
from elision.history import History, Paired
from elision.message import ToolResult, plain
from elision.moment import Moment, Request
from elision.registry import plugins
from elision.report import AppliedEdit, SentView
from elision.session import Session
from elision.standing import Standing
from elision.testing.parts import DIALECT_OF, Shape


@dataclass(frozen=True, slots=True)
class Gone:
    """A canary that a request goes without: which one (from 1), its view, and which processor took it out."""

    canary: Canary
    step: int
    stop: int
    view: SentView
    culprit: int


@dataclass(slots=True)
class Run:
    """A conversation in one dialect, with what is known of it; ``follow`` sends it step by step."""

    chain: Chain
    dialect: Dialect
    messages: list[Any]
    tools: list[dict[str, Any]]
    history: History
    paired: dict[str, Paired]
    """The observations with canaries, by what is planted in them."""
    standing: Standing
    proposed: set[str] = field(default_factory=set)
    requests: int = 0
    _prefixes: dict[int, tuple[Session, list[Any]]] = field(default_factory=dict)

    @property
    def stops(self) -> list[int]:
        """How many messages each request has."""
        return [*(step.start for step in self.history.steps), len(self.history)]

    def follow(self, canaries: Sequence[Canary]) -> tuple[list[Gone], SentView]:
        """Send each request; return the canaries that went, and the last view."""
        gone: list[Gone] = []
        left = list(canaries)
        given = self._given()
        with self.chain.session() as session:  # without an id, as in afresh: a summary names the session
            for step, stop in enumerate(self.stops, start=1):
                view = session.process(given[:stop], tools=self.tools, dialect=self.dialect.name)
                self.requests += 1
                self.proposed |= {edit.processor for edit in view.edits}
                self.proposed |= {refusal.processor for refusal in view.refusals}
                text, before = sent_text(view.messages), sent_text(self.messages[:stop])
                lost = [each for each in left if each.line in before and each.line not in text]
                culprits = self._culprits(lost, stop, view, session)
                left = [each for each in left if each not in lost]
                gone += [Gone(each, step, stop, view, culprits[each.line]) for each in lost]
        return gone, view

    def afresh(self) -> SentView:
        """Return the view of the whole conversation from a process that has not seen it."""
        chain = replace(self.chain, archive=in_memory(self.chain))
        return chain.process(self._given(), tools=self.tools, dialect=self.dialect.name)

    def ask_without_those_behind(self) -> None:
        """Ask once more those of whose edits none was to be seen: what stands behind them may take out all of it."""
        for index, processor in enumerate(self.chain.processors[:-1]):
            if processor.type_name not in self.proposed:
                chain = replace(
                    self.chain, processors=self.chain.processors[: index + 1], archive=in_memory(self.chain)
                )
                view = chain.process(self._given(), tools=self.tools, dialect=self.dialect.name)
                self.proposed |= {edit.processor for edit in view.edits}
                self.proposed |= {refusal.processor for refusal in view.refusals}

    def edit(self, gone: Gone) -> AppliedEdit | None:
        """Return the edit that took a canary out."""
        name = self.chain.processors[gone.culprit].type_name if self.chain.processors else ""
        paired = self.paired.get(gone.canary.of)
        step = self.history.steps[paired.step].start if paired else None
        here = [each for each in gone.view.edits if each.processor == name]
        for each in reversed(here):
            if paired and (each.position, each.part) == tuple(paired.address) and each.action in ("replace", "elide"):
                return each
        return next((each for each in here if each.action == "drop" and each.position == step), None)

    def advance(self, stop: int) -> int:
        """Let what is known of the observations be as of a request; return the newest step."""
        steps = sum(step.start < stop for step in self.history.steps)
        count = sum(paired.address.position < stop for paired in self.history.observations)
        self.standing.advance(Moment(stop, steps, count, count), self.request)
        return steps - 1

    @property
    def request(self) -> Request:
        """What each request carries besides messages."""
        return Request(tools=self.tools, model=self.chain.model)

    def _given(self) -> list[Any]:
        """Return the messages for one process, which may harm them."""
        return copy.deepcopy(self.messages)

    def _culprits(self, lost: Sequence[Canary], stop: int, view: SentView, session: Session) -> dict[str, int]:
        """Return for each canary that went the place of the processor that took it out.

        Where no edit did, it is the one after which it is no longer there.
        """
        found = {each.line: taker(each.line, self.history, view, session) for each in lost}
        return {
            line: self._first_without(line, stop) if culprit is None else culprit for line, culprit in found.items()
        }

    def _first_without(self, line: str, stop: int) -> int:
        last = len(self.chain.processors) - 1
        return next((index for index in range(last) if line not in self._after(index, stop)), max(last, 0))

    def _after(self, index: int, stop: int) -> str:
        """Return what would be sent if the chain ended with a processor."""
        if index not in self._prefixes:
            processors = self.chain.processors[: index + 1]
            chain = replace(self.chain, processors=processors, archive=in_memory(self.chain))
            self._prefixes[index] = chain.session(""), self._given()
        session, given = self._prefixes[index]
        return sent_text(session.process(given[:stop], tools=self.tools, dialect=self.dialect.name).messages)


_WINDOW_TOKENS = 165_000
"""The window where no model is named: a long conversation does not fit into it, what the table protects there does."""


def run_in(name: str, chain: Chain, script: Script, archive: Archive | None) -> Run:
    """Prepare a conversation in one dialect, for a chain with another archive."""
    dialects = plugins().dialects()
    dialect = by_name(dialects, name)
    shapes: dict[str, Shape] = {DIALECT_OF[shape]: shape for shape in reversed(tuple(DIALECT_OF))}
    messages = script.write(shapes.get(name, "openai"))
    if name not in shapes:
        messages = convert(messages, by_name(dialects, "openai"), dialect).messages
    history = parsed(messages, dialect)
    found = {each.of: paired for each in script.planted if (paired := _observation(history, each.of, script))}
    tried = replace(chain, archive=archive or in_memory(chain), profile=_profile(chain))
    return Run(tried, dialect, messages, script.tools(name), history, found, Standing(history, chain.table))


def _profile(chain: Chain) -> str | Path | Mapping[str, Any] | None:
    """Return what the chain says of its model, or where it says nothing, a window that suits the conversation."""
    if chain.model is not None or chain.profile is not None:
        return chain.profile
    return {"window": {"input_tokens": _WINDOW_TOKENS}}


def in_memory(chain: Chain) -> Archive:
    """Return an empty archive like the chain's that touches nothing."""
    own = chain.opened_archive
    return trial_archive(stored=own.stored, keeps=own.keeps)


def sent_text(messages: Sequence[Any]) -> str:
    """Return messages as they are sent."""
    return json.dumps(messages, ensure_ascii=False, default=repr)


def text_of(history: History, paired: Paired) -> str:
    """Return the text of an observation."""
    part = history.messages[paired.address.position].parts[paired.address.part]
    return plain(part.content) if isinstance(part, ToolResult) else ""


def _observation(history: History, name: str, script: Script) -> Paired | None:
    lines = [canary.line for canary in script.canaries() if canary.of == name]
    return next((each for each in history.observations if lines[0] in text_of(history, each)), None)


def is_always_kept(name: str) -> bool:
    """Whether the guard keeps it, whatever a table says."""
    return name in ALWAYS_KEPT
