"""What decisions rest on beside the history, step by step: as the ledger has it, else as it is now.

What holds at a step is recorded there when it first holds, and when something is cleared there.  So a fold that is made
anew finds the facts of each step.  Where none is recorded, those of the step before hold on; only the newest step,
about which nobody can have decided before, is decided by what holds now.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from elision.applied import ProviderEdit
from elision.batch import Settled
from elision.history import History, Segment
from elision.ledger import Fact, Ledger, Prefixes, head_digest, key_of
from elision.moment import Request
from elision.overlay import Overlay
from elision.standing import annotations_of
from elision.tokens import count_beside, counting_of

if TYPE_CHECKING:
    from elision.profiles import Profile


class Times(NamedTuple):
    """When a request is made, and when the one before it was: seconds since the epoch, ``None`` where nobody knows.

    ``given`` says that the host gave the time, which is recorded then.
    """

    now: float | None = None
    last: float | None = None
    given: bool = False


UNTIMED = Times()


@dataclass(slots=True)
class _Present:
    """What holds now, and what it was made of."""

    fact: Fact
    profile: Profile
    system: Any
    tools: Any

    def of(self, request: Request, profile: Profile) -> bool:
        """Whether it is that of a request."""
        same_tools = self.tools is request.tools or self.tools == request.tools
        same_system = self.system is request.system or self.system == request.system
        return self.profile is profile and self.fact.model == request.model and same_system and same_tools


class Circumstances:
    """The facts of one growing history."""

    def __init__(self, history: History, ledger: Ledger) -> None:
        self.ledger = ledger
        self._prefixes = Prefixes(history)
        self._present: _Present | None = None
        self._model: str | None = None
        self._asked = False
        self._held: Fact | None = None
        self._last: int | None = None
        self._recorded: dict[int, Fact] = {}
        self._changes: set[int] = set()
        self._keys: dict[int, bytes] = {}
        self._found: dict[bytes, Fact] = {}
        self._newest: Segment | None = None
        self._times = UNTIMED
        self._settled: tuple[int, Fact] | None = None

    def begin(self, request: Request, fresh: Sequence[Segment], times: Times) -> str:
        """Take in a request with segments that have become complete; say why the ledger cannot be read, if so."""
        self._times = times
        present = self._take_in(request)
        steps = [segment for segment in fresh if segment.step is not None]
        self._newest = steps[-1] if steps else None
        of_another_model = self._asked and request.model != self._model
        self._asked, self._model = True, request.model
        present = present if self._held is None else present.priced_as(self._held)
        if of_another_model or (not steps and self._held and present.differs(self._held)):
            self._pin(present, of_another_model, sent_now=not steps)
        self._keys = {segment.stop: self._key("held", segment.stop) for segment in steps}
        self._found = self.ledger.look_up(list(self._keys.values()))
        if len(steps) > 1:
            stops = {self._key("settled", segment.stop): segment.stop for segment in steps}
            found = self.ledger.look_up(list(stops))
            self._settled = max(((stops[key], fact) for key, fact in found.items()), key=_first, default=None)
        return self.ledger.trouble

    def at(self, segment: Segment) -> Fact:
        """Return what holds at a segment; they are asked for in order, each once."""
        if segment.step is None:
            first = next(iter(self._found.values()), None)
            return self._held or first or self._known_present
        fact = self._found.get(self._keys[segment.stop])
        if fact is None and self._settled is not None and segment.stop == self._settled[0]:
            fact = replace(self._settled[1], kind="held", left=())
        if fact is not None:
            self._recorded[segment.stop] = fact
        elif self._held is None or (segment is self._newest and self._is_new(self._held)):
            cold = self._held is not None and self._is_cold(self._held)
            fact = self._known_present if self._held is None else self._known_present.priced_as(self._held)
            if cold or self._times.given:
                fact = replace(fact, cold=cold, at=self._times.now if self._times.given else None)
            self._write(segment.stop, fact)
        else:
            fact = self._held.lasting()
        if self._held is not None and fact is not self._held and fact.differs(self._held):
            self._changes.add(segment.stop)
        self._held, self._last = fact, segment.stop
        return fact

    def cleared(self) -> None:
        """Record what held where something was cleared, so that nothing can bring it back."""
        if self._held is not None and self._last is not None and self._last not in self._recorded:
            self._write(self._last, self._held)

    def changed_at(self, segment: Segment) -> bool:
        """Whether something else has held from this segment on."""
        return segment.stop in self._changes

    @property
    def changed(self) -> bool:
        """Whether something else has held since the run began."""
        return bool(self._changes)

    def settle(self, segment: Segment, overlay: Overlay, left: Settled) -> None:
        """Record the view up to here: when it is processed again, what was ``left`` in it is not to be done then.

        A view in which nothing was changed is the history itself, which is folded as it was.
        """
        prefix = self._prefixes.of_view(overlay, segment.stop)
        if prefix == self._prefixes.upto(segment.stop):
            return
        key = key_of("settled", prefix, self._model)
        meters = tuple((stage, steps, carried) for stage, (steps, carried) in left.items())
        held = self._held or self._known_present
        self.ledger.record(key, replace(held, kind="settled", left=meters, cold=False, at=None))

    def settled(self, segment: Segment) -> Settled | None:
        """Return what was left in the view that the history is up to here; empty before that, nothing behind it."""
        if self._settled is None or segment.stop > self._settled[0]:
            return None
        left = self._settled[1].left if segment.stop == self._settled[0] else ()
        return {stage: (steps, carried) for stage, steps, carried in left}

    def asked(self, fact: Fact, request: Request) -> Request:
        """Return a request as it was when a fact held."""
        present = self._known_present
        if fact is present or all(getattr(fact, name) == getattr(present, name) for name in _SHOWN):
            return request
        offered = None if fact.offered is None else frozenset(fact.offered)
        tools = [{"name": name, "annotations": dict(told)} for name, told in fact.annotations.items()]
        return replace(request, model=fact.model, tools=tools, offered=offered, recall_tool=fact.recall_tool)

    def prefix(self, stop: int) -> bytes:
        """Return the content hash of the first ``stop`` messages."""
        return self._prefixes.upto(stop)

    def note_applied(self, stop: int, edits: Sequence[ProviderEdit]) -> None:
        """Record what the provider did with the context of the request that had so many messages."""
        self.ledger.record(self._of_response(stop), Fact(kind="native", applied=tuple(tuple(each) for each in edits)))

    def applied(self, stops: Iterable[int]) -> Iterator[ProviderEdit]:
        """Yield what the ledger has of that, for requests that had so many messages each."""
        for fact in self.ledger.look_up([self._of_response(stop) for stop in stops]).values():
            yield from map(ProviderEdit._make, fact.applied)

    def _of_response(self, stop: int) -> bytes:
        return key_of("native", self._prefixes.upto(stop), None)

    @property
    def _known_present(self) -> Fact:
        assert self._present is not None  # noqa: S101 (begin)
        return self._present.fact

    def _key(self, kind: str, stop: int) -> bytes:
        return key_of(kind, self._prefixes.upto(stop), self._model)

    def _write(self, stop: int, fact: Fact) -> None:
        self._recorded[stop] = fact
        self.ledger.record(self._key("held", stop), fact)

    def _is_new(self, held: Fact) -> bool:
        present = self._known_present
        differs = present is not held and present.priced_as(held).differs(held)
        return self._times.given or differs or self._is_cold(held)

    def _is_cold(self, held: Fact) -> bool:
        """Whether the provider has nothing of this prefix any more: too late, or for another model or other tools."""
        assert self._present is not None  # noqa: S101 (begin)
        now, last, given = self._times
        if last is None and given:
            last = next((fact.at for fact in reversed(self._recorded.values()) if fact.at is not None), None)
        lasts = self._present.profile.cache.ttl[0].seconds
        late = now is not None and last is not None and now - last > lasts
        return late or self._present.fact.sent != held.sent

    def _pin(self, present: Fact, of_another_model: bool, *, sent_now: bool) -> None:
        """Record what held at the last step before it changes; for another model, all that held before that, too.

        Where the last step is sent again now, the cache is warm for what leads the request now.
        """
        if self._held is None or self._last is None:
            return
        before = dict(self._recorded) if of_another_model else {}
        last = before.pop(self._last, self._held)
        for stop, fact in before.items():
            self.ledger.record(self._key("held", stop), fact)
        if of_another_model or self._last not in self._recorded:
            self._held = replace(last, sent=present.sent) if sent_now else last
            self._write(self._last, self._held)

    def _take_in(self, request: Request) -> Fact:
        from elision.profiles.resolving import profile_for

        profile = profile_for(request.model)
        if self._present is None or not self._present.of(request, profile):
            self._present = _Present(_present(request, profile), profile, request.system, request.tools)
        return self._present.fact


_first = operator.itemgetter(0)

_SHOWN = ("model", "offered", "recall_tool", "annotations")
"""What processors and the table can see of it."""


def _present(request: Request, profile: Profile) -> Fact:
    base = profile.prices.base
    return Fact(
        model=request.model,
        read=base.cache_read,
        write=base.cache_write,
        tiers=tuple((tier.above_tokens, tier.rates.input / base.input) for tier in profile.prices.tiers if base.input),
        window_tokens=profile.window.input_tokens,
        counting=counting_of(request.model),
        beside=count_beside(request.system, request.tools, request.model),
        offered=None if request.offered is None else tuple(sorted(request.offered)),
        recall_tool=request.recall_tool,
        annotations=json.loads(json.dumps(annotations_of(request.tools), default=str)),
        sent=head_digest(request.model, request.system, request.tools),
    )
