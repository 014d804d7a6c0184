"""What a processor sees and what it may propose.

A :class:`View` is a window over the history as the stages before this one left it.  Everything in it is read-only; the
builders (``observation.elide()``, ``step.drop()``, ``view.insert()`` …) make edits, and the engine decides.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from elision import offers
from elision.binding import Binding
from elision.breakpoints import Breakpoints, breakpoints_for
from elision.cache.cuts import Cut
from elision.edits import CacheBreakpoint, Insert, Replace, Tag, Ttl
from elision.history import History, Paired
from elision.message import Address, Kind, Opaque, Thinking, ToolCall, ToolResult
from elision.moment import KeyIndex, Memory, Moment, Request
from elision.overlay import Overlay
from elision.pairing import step_at
from elision.parts import Observation, PartView
from elision.said import CallView, ThinkingView
from elision.wholes import MessageView, StepView

if TYPE_CHECKING:
    from elision.edits import Edit
    from elision.handover import Target
    from elision.hostside import HostSide
    from elision.originals import Originals
    from elision.profiles import Profile
    from elision.sizes import RequestSize
    from elision.standing import Standing


class View:
    """The history as one processor finds it.

    Attributes ``history``, ``overlay``, ``stage`` and ``waits`` (whether what is proposed waits for a schedule) are the
    engine's; processors use the rest.  ``size`` says how long the request is, to ``request`` processors that say
    ``weighs``; ``why_refused`` says why the guard would refuse an edit, and nothing where it would let it pass.
    """

    def __init__(
        self,
        history: History,
        overlay: Overlay,
        moment: Moment,
        *,
        stage: int | None,
        window: tuple[int, int],
        memory: Memory | None = None,
        request: Request | None = None,
        host: HostSide | None = None,
        standing: Standing,
        originals: Originals,
        waits: bool = False,
        cut: Cut | None = None,
        binding: Binding | None = None,
        size: RequestSize | None = None,
    ) -> None:
        self.history = history
        self.overlay = overlay
        self.moment = moment
        self.stage = stage
        self.window = window
        self.memory = memory or Memory()
        self.request = request or Request()
        self.originals = originals
        self.waits = waits
        self._cut = cut or Cut()
        self.binding = binding or Binding(history, overlay)
        self._standing = standing
        self._host = host
        self.size = size
        self.why_refused: Callable[[Edit], str] = lambda _: ""

    @property
    def standing(self) -> Standing:
        """What the table says of the observations so far."""
        self._standing.advance(self.moment, self.request)
        return self._standing

    @property
    def messages(self) -> list[MessageView]:
        """The messages in the window, oldest first: the whole history, or in ``entry`` processors the new ones."""
        return [MessageView(self, position) for position in range(*self.window) if not self._gone(position)]

    @property
    def steps(self) -> list[StepView]:
        """The steps in the window, oldest first, demonstrations left out."""
        start, stop = self.window
        return [
            StepView(self, step)
            for step in self.history.steps[: self.moment.steps]
            if start <= step.start < stop and not step.demo and not self.overlay.is_dropped(step.index)
        ]

    @cached_property
    def observations(self) -> list[Observation]:
        """The tool results in the window, oldest first, demonstrations left out."""
        start, stop = self.window
        if start:
            positions = range(start, stop)
            found = [
                self.history.paired[Address(position, index)]
                for position in positions
                for index, part in enumerate(self.history.messages[position].parts)
                if isinstance(part, ToolResult) and Address(position, index) not in self.history.demos
            ]
        else:
            found = self.history.observations[: self.moment.observations]
        return [Observation(self, paired) for paired in found if not self.overlay.is_dropped(paired.step)]

    @property
    def observation_count(self) -> int:
        """How many tool results there are so far, demonstrations left out."""
        return self.moment.observations

    def newly_arrived(self) -> Iterator[Observation]:
        """Yield the observations that have come in since the last moment, and older ones that are still put off."""
        history, moment = self.history, self.moment
        fresh = history.observations[moment.earlier_observations : moment.observations]
        put_off = [history.paired[address] for address in self.settled(self.memory.deferred)]
        for paired in [*put_off, *fresh]:
            if paired.ordinal >= self.memory.offered_observations:
                self.memory.deferred.pop(paired.address, None)
                yield from self.offer(paired)

    def newest_messages(self) -> Iterator[MessageView]:
        """Yield the messages from the newest back."""
        for position in reversed(range(*self.window)):
            if not self._gone(position):
                yield MessageView(self, position)

    def newest_markable(self, roles: Collection[str], *, upto: int | None = None) -> MessageView | None:
        """Return the newest message of these roles, up to a position, that can carry a cache breakpoint."""
        start, stop = self.window
        for position in range((stop if upto is None else min(stop, upto + 1)) - 1, start - 1, -1):
            if self.history.messages[position].role in roles and not self._gone(position):
                found = MessageView(self, position)
                if found.can_be_marked:
                    return found
        return None

    def blocks_between(self, before: MessageView, last: MessageView) -> int:
        """Return how many blocks of content there are after one message up to another, as the provider counts them."""
        between = range(before.position + 1, last.position + 1)
        return sum(len(self.history.messages[place].parts) or 1 for place in between if not self._gone(place))

    def marked_messages(self) -> list[MessageView]:
        """Return the messages in which the host has set cache breakpoints."""
        return [MessageView(self, position) for position in self.history.marked if position < self.moment.stop]

    @property
    def breakpoints(self) -> Breakpoints:
        """How many cache breakpoints the messages may have, and the places that matter for where they pay."""
        return breakpoints_for(self.history, self.moment, self.request, self._cut)

    @property
    def has_task(self) -> bool:
        """Whether the history begins with a task message."""
        task = self.history.task
        return task is not None and task < self.moment.stop

    def older_observations(
        self, keep_last: int, *, keep_steps: int = 1, only: Callable[[Observation], bool] | None = None
    ) -> Iterator[Observation]:
        """Yield the observations outside the newest ``keep_last`` and the newest ``keep_steps`` steps, oldest first.

        With ``only``, those that it lets pass, counted among themselves.  Each is offered once, when it has become old;
        one whose edit was refused for a reason that may pass is offered again.  Placeholders and the results of the
        newest step are left out.
        """
        for paired in offers.older_results(self, keep_last, keep_steps, only):
            yield from self.offer(paired)

    def older_calls(
        self, keep_last: int, *, keep_steps: int = 1, only: Callable[[Observation], bool] | None = None
    ) -> Iterator[CallView]:
        """Yield the calls whose results :meth:`older_observations` has, cleared ones too, each once.

        Calls that are read from text, or signed by the provider, are left out.  A processor asks for older calls or
        for older observations; an observation has its call at hand (``call_part``).
        """
        for paired in offers.older_results(self, keep_last, keep_steps, only):
            call = Observation(self, paired).call_part
            if call is not None and call.stands:
                yield call

    def older_thinking(self, keep_turns: int) -> Iterator[ThinkingView]:
        """Yield the thinking outside the newest ``keep_turns`` turns that have any, oldest first, each once.

        A turn is the steps from one user message to the next.  Demonstrations are left out.  Thinking whose removal was
        refused for a reason that may pass is offered again.
        """
        return offers.older_thinking(self, keep_turns)

    def newly_superseded(self) -> Iterator[Observation]:
        """Yield each observation once that has been read or written again later, when the table says so.

        One whose edit was refused for a reason that may pass is offered again.
        """
        return offers.superseded(self)

    def newly_repeated(self, key: Callable[[Observation], Hashable | None]) -> Iterator[Observation]:
        """Yield each observation once of which a newer one stands that has an equal ``key``; ``None`` equals nothing.

        One whose edit was refused for a reason that may pass is offered again.
        """
        return offers.repeated(self, key)

    def older_steps(self, keep_last: int, *, keep_first: int = 0) -> Iterator[StepView]:
        """Yield the steps outside the first ``keep_first`` and the newest ``keep_last``, oldest first, each once.

        Demonstrations are left out.  One whose edit was refused for a reason that may pass is offered again.
        """
        return offers.older_steps(self, keep_last, keep_first)

    @property
    def droppable_steps(self) -> int:
        """How many steps stand that the table would let go by now; demonstrations are left out."""
        return offers.droppable_steps(self)

    def older_images(
        self, keep: int | None, *, most: int | None = None, most_chars: int | None = None
    ) -> Iterator[tuple[Observation, int]]:
        """Yield the results whose images should go, the oldest first, and how many of the newest of each stay.

        At most ``keep`` images of results stay, and so many that the whole request has at most ``most``, whose URLs
        have at most ``most_chars`` characters.  A result is offered when more of its images should go, and again where
        its edit was refused for a reason that may pass.
        """
        return offers.older_images(self, keep, most, most_chars)

    def older_messages(self, keep_last: int) -> Iterator[MessageView]:
        """Yield the messages outside the newest ``keep_last``, each once, oldest first; changed ones again."""
        memory = self.memory
        changed = [position for position in memory.changed_since("messages") if position < memory.offered_messages]
        stop = self.moment.stop - max(keep_last, 0)
        fresh = range(memory.offered_messages, max(stop, memory.offered_messages))
        memory.offered_messages = fresh.stop
        for position in [*changed, *fresh]:
            if not self._gone(position):
                yield MessageView(self, position)

    def index(self, keys: Callable[[PartView], Iterable[Hashable]]) -> KeyIndex:
        """Keep an index of the parts by the keys that ``keys`` finds in each; every part is looked at once.

        ``index.entered`` lists what came in since the last call, ``index.by_key[key]`` all parts that have ``key``.
        """
        memory, index = self.memory, self.memory.index
        fresh = range(index.upto, self.moment.stop)
        touched = dict.fromkeys([*memory.own, *memory.changed_since("index")])
        memory.own.clear()
        positions = [*(position for position in touched if position < index.upto), *fresh]
        entered: list[Address] = []
        for position in positions:
            for part in MessageView(self, position).parts:
                index.put(part.address, () if self._gone(position) else keys(part))
                entered.append(part.address)
        index.upto = fresh.stop
        index.entered = tuple(entered)
        return index

    def part(self, address: Address) -> PartView:
        """Return the part at ``address``: an :class:`Observation`, :class:`CallView` or :class:`ThinkingView` there."""
        paired = self.history.paired.get(address)
        if paired is not None:
            return Observation(self, paired)
        part = self.history.messages[address.position].parts[address.part]
        kind = CallView if isinstance(part, ToolCall) else ThinkingView if isinstance(part, Thinking) else PartView
        return kind(self, address)

    def message(self, position: int) -> MessageView:
        """Return the message at ``position``."""
        return MessageView(self, position)

    def step(self, index: int) -> StepView:
        """Return the step of an index."""
        return StepView(self, self.history.steps[index])

    def insert(
        self, text: str, *, before: MessageView, role: Literal["user", "system"] = "user", kind: Kind = "note"
    ) -> Insert:
        """Propose a message of our own before another one."""
        return Insert(before.position, role, text, kind)

    def tag(self, observation: Observation, *tags: str) -> Tag:
        """Propose tags for an observation."""
        return Tag(observation.address, frozenset(tags))

    def cache_breakpoint(self, message: MessageView, *, on: bool = True, ttl: Ttl | None = None) -> CacheBreakpoint:
        """Propose to set a cache breakpoint at the end of a message, or with ``on=False`` to take it away."""
        return CacheBreakpoint(message.position, on, ttl=ttl)

    def host_messages(self) -> list[Any]:
        """Return the host's messages as they stand now; only ``request`` processors can ask."""
        if self._host is None:
            raise TypeError("only request processors see the host's messages")
        return [raw for _, raw in self._host.sent(self.overlay)]

    def edits_from(self, given: list[Any], returned: list[Any]) -> list[Edit]:
        """Return the edits that turn ``given`` (what :meth:`host_messages` gave, or a copy) into ``returned``."""
        if self._host is None:
            raise TypeError("only request processors see the host's messages")
        return [self._rebound(edit) for edit in self._host.edits_between(self.overlay, given, returned)]

    def _rebound(self, edit: Edit) -> Edit:
        """Put the host's own objects in place of equal copies in new content; what is new has none."""
        if not isinstance(edit, Replace):
            return edit
        stood = [part for part in self.part(edit.address).content if part.raw is not None]
        content = tuple(
            next((old for old in stood if old == part), part if isinstance(part, Opaque) else replace(part, raw=None))
            for part in edit.content
        )
        return replace(edit, content=content)

    @property
    def tools(self) -> Any:
        """Tool definitions of the request, in the host's shape."""
        return self.request.tools

    @property
    def model(self) -> str | None:
        """Model of the request."""
        return self.request.model

    @property
    def profile(self) -> Profile:
        """What the model demands and charges."""
        from elision.profiles.resolving import profile_for

        return profile_for(self.model)

    @property
    def dialect(self) -> str:
        """Name of the dialect of the request."""
        return self.request.dialect

    @property
    def target(self) -> Target:
        """Where the request goes, and the table that protects what is in it."""
        from elision.handover import Target

        return Target(self.model, self.dialect, self._standing.table)

    @property
    def handed_over(self) -> bool:
        """Whether the provider manages the context of this request because the chain leaves it to it."""
        return self.request.handed_over

    def protected_tools(self, operation: str) -> frozenset[str]:
        """Return the tools, offered or called so far, of which an operation may not be done to every result."""
        return self.standing.protected_tools(operation, self.moment, self.request)

    @property
    def compat(self) -> str | None:
        """``sweagent`` where SWE-agent's own processors must give SWE-agent's own bytes."""
        return self.request.compat

    def wake(self) -> None:
        """Put what was refused, and may be allowed by now, among what is offered again."""
        memory = self.memory
        if memory.waiting:
            changed = self.standing.changed
            for address in changed[memory.woken :]:
                if address in memory.waiting:
                    del memory.waiting[address]
                    memory.deferred[address] = None
            memory.woken = len(changed)

    def settled(self, deferred: Iterable[Address]) -> list[Address]:
        """Return the parts that were put off and need not be any longer: their step is complete and not the newest."""
        moment, history = self.moment, self.history
        return [
            address
            for address in deferred
            if (step := step_at(history, address)) != moment.newest_step
            and not history.steps[step].open_at(moment.stop)
        ]

    def offer(self, paired: Paired) -> Iterator[Observation]:
        """Yield an observation that stands in the view."""
        if self.stands(paired):
            yield Observation(self, paired)

    def stands(self, paired: Paired) -> bool:
        """Whether an observation is neither dropped nor elided."""
        return not self.overlay.is_dropped(paired.step) and not Observation(self, paired).elided

    def _gone(self, position: int) -> bool:
        step = self.history.step_of[position]
        return step is not None and self.overlay.is_dropped(step)
