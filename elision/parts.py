"""The parts of a view: messages, steps, observations and texts, read-only, with builders of edits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

from elision.attachments import attachments
from elision.edits import Pointer, Replace, Template, length
from elision.errors import ArchiveError
from elision.history import Paired
from elision.message import Address, Content, Image, Role, Text, ToolCall, ToolResult, only_content, plain
from elision.overlay import content_at, original
from elision.pairing import call_address

if TYPE_CHECKING:
    from elision.edits import Operation
    from elision.said import CallView
    from elision.view import View

_SURELY_LONGER = 1000
"""Characters over which a result is longer than its placeholder."""

_STAND_IN = '[read_file(path="src/package/module.py"): 12345 chars, 300 lines removed; recall 0123456789ab]'


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
        return only_content(content_at(view.history, view.overlay, self.address, view.stage))

    @property
    def original(self) -> tuple[Content, ...]:
        """The content as the host gave it."""
        return only_content(original(self._view.history, self.address))

    @property
    def text(self) -> str:
        """The text of the content; images have none."""
        return plain(self.content)

    @property
    def elided(self) -> bool:
        """Whether a placeholder stands here already, ours or SWE-agent's."""
        from elision.placeholders.sentence import is_placeholder

        if self._view.overlay.elided(self.address):
            return True
        text = self.text
        return is_placeholder(text) or self._view.originals.is_ours(text)

    @property
    def ref(self) -> str:
        """The name that its original has in the archive; empty where it cannot be kept."""
        sealed = self._view.originals.sealed(self._view.history, self.address)
        return "" if isinstance(sealed, ArchiveError) else sealed.ref

    @property
    def way_back(self) -> str:
        """How the model gets the original: ``recall 3f9a1c0b77de``; ``ref …`` where it is not known which tools it has.

        Nothing where it has no tool for it.
        """
        from elision.placeholders.wording import handle

        request = self._view.request
        return handle(request.recall_tool, self.ref, tools_known=request.offered is not None)

    def replace(self, content: str | Iterable[Content], *, reason: str = "") -> Replace:
        """Propose other content."""
        new = (Text(content),) if isinstance(content, str) else tuple(content)
        return Replace(self.address, new, reason)


class Observation(PartView):
    """One tool result with the call that it answers."""

    __slots__ = ("_paired",)

    def __init__(self, view: View, paired: Paired) -> None:
        self._view = view
        self._message = view.history.messages[paired.address.position]
        self.address = paired.address
        self._paired = paired

    @property
    def call(self) -> ToolCall | None:
        """The call that this answers; ``None`` for an orphan."""
        return self._paired.call

    @property
    def call_part(self) -> CallView | None:
        """The call as a part that can be edited; ``None`` where it is read from text, or signed by the provider."""
        from elision.said import CallView

        call = self._paired.call
        if call is None or call.raw is None or call.fixed:
            return None
        address = call_address(self._view.history, self._paired)
        return None if address is None else CallView(self._view, address)

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
    def brought_back(self) -> bool:
        """Whether its call has read an offloaded file, or recalled an original."""
        return self._view.standing.brought_back(self._paired, self._view.request.recall_tool)

    def allows(self, operation: Operation) -> bool:
        """Whether the classification table lets an operation be done to it now."""
        return self._view.standing.allows(operation, self._paired, self._view.moment.newest_step)

    def longer_than(self, tokens: int | None, chars: int | None = None) -> bool:
        """Whether its text has more than so many tokens, or characters; no more is counted than is needed."""
        from elision.reducing import Limit

        return Limit(tokens, chars, self._view.request.model).passed([self.text])

    @property
    def tokens(self) -> int:
        """Tokens of its text."""
        from elision.tokens import count_text

        return count_text(self.text, self._view.request.model)

    def saved(self, edit: Replace) -> int:
        """Tokens of its text that an edit of it would save."""
        from elision.tokens import count_text

        return self.tokens - count_text(plain(edit.content), self._view.request.model)

    @property
    def lines(self) -> int:
        """Lines of its text."""
        return _lines(self.content)

    @property
    def images(self) -> int:
        """Images in it."""
        return sum(isinstance(part, Image) for part in self.content)

    def elide(self, template: str = "compact", *, head_chars: int = 200, reason: str = "") -> Replace:
        """Propose a placeholder, made from a template: its name (``elision list templates``), or itself.

        ``head_chars`` is how much of the text a template may show.  Where the edit is to wait, a text of like length
        stands in for the placeholder, which is made when the edit is.
        """
        source = Template(template, head_chars)
        waits = self._view.waits and length(self.content) > _SURELY_LONGER + head_chars
        text = _STAND_IN if waits else self.placeholder(source)
        return Replace(self.address, (Text(text),), reason, elides=True, template=source)

    def offload(self, folder: str, *, head_lines: int = 10, tail_lines: int = 10, reason: str = "") -> Replace:
        """Propose that its text goes to a file in ``folder``, and a note stays: path, size, outline, head and tail.

        Images stay.  The file is written before the edit stands; its name is the hash of what is in it.
        """
        pointer = Pointer(folder, head_lines, tail_lines)
        return Replace(self.address, self.pointed(pointer), reason, elides=True, template=pointer)

    def pointed(self, pointer: Pointer) -> tuple[Content, ...]:
        """Return what stays of it where its text goes to a file, as things stand."""
        from elision.offloading import note_of

        beside = (part for part in self.content if not isinstance(part, Text))
        return Text(note_of(self, pointer, self._view)), *beside

    def placeholder(self, template: Template) -> str:
        """Return the text of a placeholder for it, as things stand."""
        from elision.placeholders import PlaceholderFacts, render_placeholder

        view, call, ref = self._view, self.call, self.ref
        whole, offered = self._whole, view.request.offered
        path, version = self._skill(ref)
        facts = PlaceholderFacts(
            tool=call.name if call else "",
            arguments=call.arguments if call else None,
            text=self.text,
            chars=len(plain(whole)),
            lines=_lines(whole),
            images=sum(isinstance(part, Image) for part in whole),
            files=sum(1 for _ in attachments(whole)),
            classes=self.classes,
            ref=ref,
            tool_offered=offered is None or (call is not None and call.name in offered),
            recall_tool=view.request.recall_tool,
            path=path,
            version=version,
        )
        return render_placeholder(template.source, facts, head_chars=template.head_chars)

    @property
    def _whole(self) -> tuple[Content, ...]:
        """What a placeholder gives the size of: the original of a text that was cut, else what stands here."""
        cut = length(self.original) > length(self.content) and self._view.compat is None
        return self.original if cut else self.content

    def _skill(self, ref: str) -> tuple[str, str]:
        """Return the path and version of a skill; its content names the version where the call does not."""
        call, table = self.call, self._view.standing.table
        if call is None or table is None or "skill" not in self.classes:
            return "", ""
        given = call.arguments.get("version") if isinstance(call.arguments, Mapping) else None
        return table.resource(call) or "", given if isinstance(given, str) and given else ref


def _lines(content: Iterable[Content]) -> int:
    return sum(len(part.text.splitlines()) for part in content if isinstance(part, Text))
