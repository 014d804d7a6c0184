"""The parts of a view: messages, steps, observations and texts, read-only, with builders of edits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

from elision.edits import Drop, Replace, Template
from elision.errors import ArchiveError
from elision.history import Address, Content, Image, Kind, Paired, Role, Step, Text, ToolCall, ToolResult, plain
from elision.overlay import content_at, original

if TYPE_CHECKING:
    from elision.view import View


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

        text = self.text
        return self._view.overlay.elided(self.address) or is_placeholder(text) or self._view.originals.is_ours(text)

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
        return step >= 0 and self._view.history.steps[step].open_at(self._view.moment.stop)

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
    def classes(self) -> frozenset[str]:
        """What the classification table says that it is; nothing where there is no table."""
        return self._view.standing.classes(self._paired)

    @property
    def superseded(self) -> bool:
        """Whether what it is about has been read or written again later."""
        return self._view.standing.superseded(self._paired)

    @property
    def resolved(self) -> bool:
        """Whether, after it failed, the same call has succeeded later."""
        return self._view.standing.resolved(self._paired)

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

    @property
    def ref(self) -> str:
        """The name that its original has in the archive; empty where it cannot be kept."""
        sealed = self._view.originals.sealed(self._view.history, self.address)
        return "" if isinstance(sealed, ArchiveError) else sealed.ref

    def elide(self, template: str = "compact", *, head_chars: int = 200, reason: str = "") -> Replace:
        """Propose a placeholder, made from a template: its name (``elision list templates``), or itself.

        ``head_chars`` is how much of the text a template may show.
        """
        source = Template(template, head_chars)
        return Replace(self.address, (Text(self.placeholder(source)),), reason, elides=True, template=source)

    def placeholder(self, template: Template) -> str:
        """Return the text of a placeholder for it, as things stand."""
        from elision.placeholders import PlaceholderFacts, render_placeholder

        view, call, text, ref = self._view, self.call, self.text, self.ref
        offered = view.request.offered
        path, version = self._skill(ref)
        facts = PlaceholderFacts(
            tool=call.name if call else "",
            arguments=call.arguments if call else None,
            text=text,
            chars=len(text),
            lines=self.lines,
            images=self.images,
            classes=self.classes,
            ref=ref,
            tool_offered=offered is None or (call is not None and call.name in offered),
            recall_tool=view.request.recall_tool,
            path=path,
            version=version,
        )
        return render_placeholder(template.source, facts, head_chars=template.head_chars)

    def _skill(self, ref: str) -> tuple[str, str]:
        """Return the path and version of a skill; its content names the version where the call does not."""
        call, table = self.call, self._view.standing.table
        if call is None or table is None or "skill" not in self.classes:
            return "", ""
        given = call.arguments.get("version") if isinstance(call.arguments, Mapping) else None
        return table.resource(call) or "", given if isinstance(given, str) and given else ref


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
        return self._view.history.wire.cache_breakpoints and any(
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
        return self._step.open_at(self._view.moment.stop)

    @property
    def observations(self) -> list[Observation]:
        """Its results, in the order of its calls."""
        view = self._view
        found = (view.history.paired[address] for address in self._step.results if address is not None)
        return [Observation(view, paired) for paired in found if paired.address.position < view.moment.stop]

    def drop(self, *, reason: str = "") -> Drop:
        """Propose to leave the whole step out."""
        return Drop(self._step.index, reason)
