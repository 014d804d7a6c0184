"""The messages and steps of a view, read-only, with builders of edits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision.edits import Drop
from elision.history import Step
from elision.message import Address, Image, Kind, Role, Text, ToolCall, ToolResult
from elision.originals import MAX_ADDED_CHARS
from elision.parts import Observation, PartView

if TYPE_CHECKING:
    from elision.view import View


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
    def tokens(self) -> int:
        """Tokens of it as it stands."""
        from elision.weights import tokens_at

        view = self._view
        return tokens_at(view.history, view.overlay, self.position, view.model)

    @property
    def stands(self) -> bool:
        """Whether it is in the view: its step has not been left out."""
        return not self._view.overlay.is_dropped(self._view.history.step_of[self.position])

    @property
    def ours(self) -> bool:
        """Whether it is a message that Elision has added, such as a summary, in a view that came back."""
        may_be = self.kind != "task" and len(self.message.parts) == 1
        part = self.message.parts[0] if may_be else None
        return isinstance(part, Text) and self._view.originals.is_ours(part.text, most_chars=MAX_ADDED_CHARS)

    @property
    def marks(self) -> int:
        """Cache breakpoints that the host has set in it."""
        return self.message.marks

    @property
    def can_be_marked(self) -> bool:
        """Whether it has something that can carry a cache breakpoint: an image, or text that is not blank."""
        if self._view.history.wire.cache_breakpoints:
            for part in self.message.parts:
                for piece in part.content if isinstance(part, ToolResult) else (part,):
                    text = piece.text if isinstance(piece, Text) else ""
                    if isinstance(piece, Image) or (text and not text.isspace()):
                        return True
        return False

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
    def stands(self) -> bool:
        """Whether it is among the steps of the view: not left out, and no demonstration."""
        return not self._step.demo and not self._view.overlay.is_dropped(self._step.index)

    @property
    def age(self) -> int:
        """Steps since; 0 for the newest."""
        return self._view.moment.newest_step - self._step.index

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Its calls, in order."""
        return tuple(call for _, call in self._step.calls)

    @property
    def messages(self) -> list[MessageView]:
        """Its messages: what the model said, then the results."""
        return [MessageView(self._view, position) for position in range(self._step.start, self._step.stop)]

    @property
    def tokens(self) -> int:
        """Tokens of it as it stands, without what the user says beside its results."""
        from elision.weights import step_tokens

        view = self._view
        return step_tokens(view.history, view.overlay, self._step, view.model)

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
