"""What the model said beside text: the calls and the thinking of a view, read-only, with builders of edits."""

from __future__ import annotations

from dataclasses import replace

from elision.edits import Replace, Template
from elision.errors import ArchiveError
from elision.message import Thinking, ToolCall
from elision.overlay import content_at
from elision.pairing import result_of, step_at
from elision.parts import Observation, PartView
from elision.placeholders.inputs import LONGEST_POINTER, has_long_value, input_pointer, without_long_values

INPUTS = "inputs"
"""The template of pointers in arguments; its number is the threshold."""

_STAND_IN = "0123456789ab"


class SaidView(PartView):
    """A call or thinking."""

    __slots__ = ()

    @property
    def step(self) -> int:
        """Index of its step."""
        return step_at(self._view.history, self.address)

    @property
    def age(self) -> int:
        """Steps since; 0 in the newest step."""
        return self._view.moment.newest_step - self.step

    @property
    def stands(self) -> bool:
        """Whether it is in the view as it came: neither edited before nor left out with its step."""
        view = self._view
        return not view.overlay.is_dropped(self.step) and view.overlay.version(self.address) is None


class CallView(SaidView):
    """One call of a tool, whose arguments can be shortened."""

    __slots__ = ()

    @property
    def call(self) -> ToolCall:
        """The call as the stages before this one left it."""
        view = self._view
        (call,) = content_at(view.history, view.overlay, self.address, view.stage)
        assert isinstance(call, ToolCall)  # noqa: S101 (only calls stand where a call stood)
        return call

    @property
    def result(self) -> Observation | None:
        """The observation that answers it; ``None`` while there is none."""
        found = result_of(self._view.history, self.address)
        known = found is not None and found.address.position < self._view.moment.stop
        return Observation(self._view, found) if found is not None and known else None

    @property
    def elided(self) -> bool:
        """Whether values of its arguments have been removed."""
        return self._view.overlay.elided(self.address)

    def elide(self, threshold_chars: int = 500, *, reason: str = "") -> Replace:
        """Propose a pointer in place of each text in its arguments that has more than ``threshold_chars`` characters.

        Names of arguments, short values and the form of nested ones stay.
        """
        template = Template(INPUTS, threshold_chars)
        return Replace(self.address, (self.shortened(threshold_chars),), reason, elides=True, template=template)

    def shortened(self, threshold_chars: int) -> ToolCall:
        """Return the call with pointers for its long values, as things stand; itself where it has none."""
        view, call = self._view, self.call
        if not has_long_value(call.arguments, threshold_chars):
            return call
        ref, recall_tool = self._ref(), view.request.recall_tool

        def pointer(text: str) -> str:
            ours = len(text) <= LONGEST_POINTER and view.originals.is_ours(text)
            return text if ours else input_pointer(len(text), ref, recall_tool)

        new = without_long_values(call.arguments, threshold_chars, pointer)
        return call if new is call.arguments else replace(call, arguments=new, text="")

    def _ref(self) -> str:
        if self._view.waits:
            return _STAND_IN
        sealed = self._view.originals.sealed(self._view.history, self.address)
        return "" if isinstance(sealed, ArchiveError) else sealed.ref


class ThinkingView(SaidView):
    """A piece of the model's thinking, which can be removed."""

    __slots__ = ()

    @property
    def text(self) -> str:
        """Its text, as far as the provider shows it."""
        part = self._message.parts[self.address.part]
        return part.text if isinstance(part, Thinking) else ""

    def remove(self, *, reason: str = "") -> Replace:
        """Propose to leave it out."""
        return Replace(self.address, (), reason)
