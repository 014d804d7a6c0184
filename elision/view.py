"""What a processor sees and what it may propose.

A :class:`View` is a window over the history as the stages before this one left it.  Everything in it is read-only; the
builders (``observation.elide()``, ``step.drop()``, ``view.insert()`` …) make edits, and the engine decides.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from elision.edits import CacheBreakpoint, Drop, Insert, Replace, Tag
from elision.history import (
    Address,
    Content,
    History,
    Image,
    Kind,
    Message,
    Paired,
    Role,
    Step,
    Text,
    ToolCall,
    ToolResult,
    plain,
)
from elision.overlay import Overlay, content_at, original

if TYPE_CHECKING:
    from elision.edits import Edit
    from elision.hostside import HostSide


@dataclass(frozen=True, slots=True)
class Moment:
    """How far the history had come when the engine asked; ``earlier_*`` are the counts one segment before."""

    stop: int
    steps: int
    observations: int
    earlier_observations: int

    @property
    def newest_step(self) -> int:
        """Index of the step that the model has not answered yet (-1 before the first)."""
        return self.steps - 1


@dataclass(frozen=True, slots=True)
class Request:
    """What the request carries besides messages."""

    system: Any = None
    tools: Any = None
    model: str | None = None
    compat: str | None = None


@dataclass(slots=True)
class KeyIndex:
    """Where keys occur in the view, kept up to date message by message (see :meth:`View.index`)."""

    upto: int = 0
    by_key: dict[Hashable, dict[Address, None]] = field(default_factory=dict)
    keys_of: dict[Address, tuple[Hashable, ...]] = field(default_factory=dict)
    entered: tuple[Address, ...] = ()

    def put(self, address: Address, keys: Iterable[Hashable]) -> None:
        """Record the keys found at an address, in place of those recorded before."""
        for key in self.keys_of.pop(address, ()):
            self.by_key[key].pop(address, None)
        found = tuple(dict.fromkeys(keys))
        if found:
            self.keys_of[address] = found
            for key in found:
                self.by_key.setdefault(key, {})[address] = None


@dataclass(slots=True)
class Memory:
    """What the engine keeps for one ``history`` processor, so that each part is offered to it once."""

    offered_observations: int = 0
    offered_messages: int = 0
    deferred: dict[Address, None] = field(default_factory=dict)
    changed: list[int] = field(default_factory=list)
    own: list[int] = field(default_factory=list)
    index: KeyIndex = field(default_factory=KeyIndex)
    _read: dict[str, int] = field(default_factory=dict)

    def changed_since(self, reader: str) -> list[int]:
        """Return the positions that earlier stages changed since ``reader`` last asked."""
        start = self._read.get(reader, 0)
        self._read[reader] = len(self.changed)
        return list(dict.fromkeys(self.changed[start:]))

    def bookmark(self) -> tuple[int, int, dict[Address, None], dict[str, int]]:
        """Return what :meth:`rewind` needs to offer again what a failed plan was offered."""
        return self.offered_observations, self.offered_messages, dict(self.deferred), dict(self._read)

    def rewind(self, bookmark: tuple[int, int, dict[Address, None], dict[str, int]]) -> None:
        """Go back to a bookmark."""
        self.offered_observations, self.offered_messages, self.deferred, self._read = bookmark
        self.index = KeyIndex()


class PartView:
    """One editable part: a piece of text, or one tool result."""

    __slots__ = ("_message", "_view", "address")

    def __init__(self, view: View, address: Address) -> None:
        self._view = view
        self._message = view.history.messages[address.position]
        self.address = address

    @property
    def role(self) -> Role:
        """Who speaks: ``tool`` for results, else the role of the message."""
        return "tool" if self.is_result else self._message.role

    @property
    def is_result(self) -> bool:
        """Whether this is a tool result (an observation)."""
        return isinstance(self._message.parts[self.address.part], ToolResult)

    @property
    def demo(self) -> bool:
        """Whether it belongs to a demonstration."""
        return self._message.kind == "demo"

    @property
    def content(self) -> tuple[Content, ...]:
        """The content as the stages before this one left it."""
        view = self._view
        return content_at(view.history, view.overlay, self.address, view.stage)

    @property
    def original(self) -> tuple[Content, ...]:
        """The content as the host gave it."""
        return original(self._view.history, self.address)

    @property
    def text(self) -> str:
        """The text of the content; images have none."""
        return plain(self.content)

    @property
    def elided(self) -> bool:
        """Whether a placeholder stands here already, ours or SWE-agent's."""
        from elision.placeholders import is_placeholder

        return self._view.overlay.elided(self.address) or is_placeholder(self.text)

    def replace(self, content: str | Iterable[Content], *, reason: str = "") -> Replace:
        """Propose other content."""
        new = (Text(content),) if isinstance(content, str) else tuple(content)
        return Replace(self.address, new, reason)


class Observation(PartView):
    """One tool result with the call that it answers."""

    __slots__ = ("_paired",)

    def __init__(self, view: View, paired: Paired) -> None:
        super().__init__(view, paired.address)
        self._paired = paired

    @property
    def call(self) -> ToolCall | None:
        """The call that this answers; ``None`` for an orphan."""
        return self._paired.call

    @property
    def step(self) -> int:
        """Index of its step."""
        return self._paired.step

    @property
    def ordinal(self) -> int:
        """Its place among the observations."""
        return self._paired.ordinal

    @property
    def age(self) -> int:
        """Steps since it arrived; 0 in the newest step."""
        return self._view.moment.newest_step - self._paired.step

    @property
    def pending(self) -> bool:
        """Whether a call of its step still lacks its result."""
        step = self._paired.step
        return step >= 0 and is_open(self._view.history.steps[step], self._view.moment.stop)

    @property
    def tags(self) -> frozenset[str]:
        """Tags that the host or an earlier processor put on it."""
        return self._view.overlay.tags_of(self.address, self._message)

    @property
    def status(self) -> Literal["ok", "error"] | None:
        """What the host says of the result; ``None`` where it says nothing."""
        part = self._message.parts[self.address.part]
        return part.status if isinstance(part, ToolResult) else None

    @property
    def tokens(self) -> int:
        """Tokens of its text."""
        from elision.tokens import count_text

        return count_text(self.text, self._view.request.model)

    @property
    def lines(self) -> int:
        """Lines of its text."""
        return sum(len(part.text.splitlines()) for part in self.content if isinstance(part, Text))

    @property
    def images(self) -> int:
        """Images in it."""
        return sum(isinstance(part, Image) for part in self.content)

    def elide(self, template: str = "sweagent", *, reason: str = "") -> Replace:
        """Propose a placeholder, made from a template by its name (``elision list templates``)."""
        from elision.placeholders import render_placeholder

        return Replace(self.address, (Text(render_placeholder(template, self)),), reason, elides=True)


class MessageView:
    """One message of the view."""

    __slots__ = ("_view", "message", "position")

    def __init__(self, view: View, position: int) -> None:
        self._view = view
        self.position = position
        self.message = view.history.messages[position]

    @property
    def role(self) -> Role:
        """Who speaks."""
        return self.message.role

    @property
    def kind(self) -> Kind:
        """What the message is."""
        return self.message.kind

    @property
    def marks(self) -> int:
        """Cache breakpoints that the host has set in it."""
        return self.message.marks

    @property
    def can_be_marked(self) -> bool:
        """Whether it has something that can carry a cache breakpoint: an image, or text that is not blank."""
        return any(
            isinstance(piece, Image) or (isinstance(piece, Text) and bool(piece.text.strip()))
            for part in self.message.parts
            for piece in (part.content if isinstance(part, ToolResult) else (part,))
        )

    @property
    def parts(self) -> list[PartView]:
        """Its editable parts: texts and tool results."""
        return [
            self._view.part(Address(self.position, index))
            for index, part in enumerate(self.message.parts)
            if isinstance(part, Text | ToolResult)
        ]


class StepView:
    """One step of the view: an assistant message and the results of all its calls."""

    __slots__ = ("_step", "_view")

    def __init__(self, view: View, step: Step) -> None:
        self._view = view
        self._step = step

    @property
    def index(self) -> int:
        """Its place among the steps."""
        return self._step.index

    @property
    def age(self) -> int:
        """Steps since; 0 for the newest."""
        return self._view.moment.newest_step - self._step.index

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Its calls, in order."""
        return tuple(call for _, call in self._step.calls)

    @property
    def pending(self) -> bool:
        """Whether one of its calls lacks a result."""
        return is_open(self._step, self._view.moment.stop)

    @property
    def observations(self) -> list[Observation]:
        """Its results, in the order of its calls."""
        view = self._view
        found = (view.history.paired[address] for address in self._step.results if address is not None)
        return [Observation(view, paired) for paired in found if paired.address.position < view.moment.stop]

    def drop(self, *, reason: str = "") -> Drop:
        """Propose to leave the whole step out."""
        return Drop(self._step.index, reason)


class View:
    """The history as one processor finds it.

    Attributes ``history``, ``overlay`` and ``stage`` are the engine's; processors use the rest.
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
    ) -> None:
        self.history = history
        self.overlay = overlay
        self.moment = moment
        self.stage = stage
        self.window = window
        self.memory = memory or Memory()
        self.request = request or Request()
        self._host = host

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
        put_off = [history.paired[address] for address in self.memory.deferred]
        for paired in [*put_off, *fresh]:
            if paired.ordinal >= self.memory.offered_observations:
                self.memory.deferred.pop(paired.address, None)
                yield from self._offer(paired)

    def newest_messages(self) -> Iterator[MessageView]:
        """Yield the messages from the newest back."""
        for position in reversed(range(*self.window)):
            if not self._gone(position):
                yield MessageView(self, position)

    def marked_messages(self) -> list[MessageView]:
        """Return the messages in which the host has set cache breakpoints."""
        return [MessageView(self, position) for position in self.history.marked if position < self.moment.stop]

    @property
    def has_task(self) -> bool:
        """Whether the history begins with a task message."""
        task = self.history.task
        return task is not None and task < self.moment.stop

    def older_observations(self, keep_last: int) -> Iterator[Observation]:
        """Yield the observations outside the newest ``keep_last``, oldest first.

        Each is offered once, when it has become old; one whose edit was refused for a reason that may pass is offered
        again.  Placeholders and the results of the newest step are left out.
        """
        memory, history = self.memory, self.history
        for address in [*memory.deferred, *self._changed_results()]:
            paired = history.paired[address]
            if paired.ordinal < memory.offered_observations:
                memory.deferred.pop(address, None)
                yield from self._offer(paired)
        stop = self.moment.observations - max(keep_last, 0)
        while memory.offered_observations < stop:
            paired = history.observations[memory.offered_observations]
            if paired.step == self.moment.newest_step:
                break
            memory.offered_observations += 1
            yield from self._offer(paired)

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
        """Return the part at ``address``; an :class:`Observation` where a tool result stands."""
        paired = self.history.paired.get(address)
        return Observation(self, paired) if paired else PartView(self, address)

    def message(self, position: int) -> MessageView:
        """Return the message at ``position``."""
        return MessageView(self, position)

    def insert(
        self, text: str, *, before: MessageView, role: Literal["user", "system"] = "user", kind: Kind = "note"
    ) -> Insert:
        """Propose a message of our own before another one."""
        return Insert(before.position, role, text, kind)

    def tag(self, observation: Observation, *tags: str) -> Tag:
        """Propose tags for an observation."""
        return Tag(observation.address, frozenset(tags))

    def cache_breakpoint(self, message: MessageView, *, on: bool = True) -> CacheBreakpoint:
        """Propose to set a cache breakpoint at the end of a message, or with ``on=False`` to take it away."""
        return CacheBreakpoint(message.position, on)

    def host_messages(self) -> list[Any]:
        """Return the host's messages as they stand now; only ``request`` processors can ask."""
        if self._host is None:
            raise TypeError("only request processors see the host's messages")
        return [raw for _, raw in self._host.sent(self.overlay)]

    def edits_from(self, given: list[Any], returned: list[Any]) -> list[Edit]:
        """Return the edits that turn ``given`` (what :meth:`host_messages` gave, or a copy) into ``returned``."""
        if self._host is None:
            raise TypeError("only request processors see the host's messages")
        return self._host.edits_between(self.overlay, given, returned)

    @property
    def tools(self) -> Any:
        """Tool definitions of the request, in the host's shape."""
        return self.request.tools

    @property
    def model(self) -> str | None:
        """Model of the request."""
        return self.request.model

    @property
    def compat(self) -> str | None:
        """``sweagent`` where SWE-agent's own processors must give SWE-agent's own bytes."""
        return self.request.compat

    def _offer(self, paired: Paired) -> Iterator[Observation]:
        observation = Observation(self, paired)
        if not self.overlay.is_dropped(paired.step) and not observation.elided:
            yield observation

    def _changed_results(self) -> list[Address]:
        return [
            Address(position, index)
            for position in self.memory.changed_since("observations")
            for index, part in enumerate(self.history.messages[position].parts)
            if isinstance(part, ToolResult) and Address(position, index) not in self.history.demos
        ]

    def _gone(self, position: int) -> bool:
        step = self.history.step_of[position]
        return step is not None and self.overlay.is_dropped(step)


def is_open(step: Step, stop: int) -> bool:
    """Whether a call of ``step`` had no result yet when the history was ``stop`` messages long."""
    return any(address is None or address.position >= stop for address in step.results)


def arguments_of(call: ToolCall | None) -> Mapping[str, Any]:
    """Return the arguments of a call as a mapping; empty where they are not one."""
    return call.arguments if call is not None and not isinstance(call.arguments, str) else {}


__all__ = [
    "KeyIndex",
    "Memory",
    "Message",
    "MessageView",
    "Moment",
    "Observation",
    "PartView",
    "Request",
    "StepView",
    "View",
    "arguments_of",
    "is_open",
]
