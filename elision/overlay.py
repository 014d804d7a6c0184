"""The decisions taken so far, laid over the history; the history itself is never touched.

Every replacement is kept with the stage (place in the chain) that made it, so that a processor always sees what the
stages before it left, at every step, and never what a later one did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from elision.edits import CacheBreakpoint, Drop, Edit, Insert, Pointer, Replace, Tag, Template, Ttl
from elision.history import History
from elision.message import Address, Message, Piece, Text, Thinking, ToolCall, ToolResult


class Version(NamedTuple):
    """Content that one stage put in place."""

    stage: int
    content: tuple[Piece, ...]
    elided: bool
    template: Template | Pointer | None = None


@dataclass(slots=True)
class Overlay:
    """Replacements, dropped steps, inserted messages, tags and cache breakpoints, by place.

    ``parent`` holds the decisions that last; an overlay with a parent is good for one request.
    """

    parent: Overlay | None = None
    versions: dict[Address, list[Version]] = field(default_factory=dict)
    edited: dict[int, set[int]] = field(default_factory=dict)
    dropped: set[int] = field(default_factory=set)
    inserted: dict[int, list[Insert]] = field(default_factory=dict)
    keyed: dict[str, Insert] = field(default_factory=dict)
    tags: dict[Address, frozenset[str]] = field(default_factory=dict)
    marks: dict[int, bool] = field(default_factory=dict)
    ttls: dict[int, Ttl] = field(default_factory=dict)

    def version(self, address: Address, stage: int | None = None) -> Version | None:
        """Return what stands at ``address`` as stage number ``stage`` finds it (``None``: as it is sent)."""
        for version in reversed(self.versions.get(address, ())):
            if stage is None or version.stage <= stage:
                return version
        return self.parent.version(address, stage) if self.parent else None

    def elided(self, address: Address) -> bool:
        """Whether a placeholder stands at ``address``, whichever stage put it there."""
        version = self.version(address)
        return version is not None and version.elided

    def is_dropped(self, step: int | None) -> bool:
        """Whether a step is left out of the view."""
        return step in self.dropped or (self.parent is not None and self.parent.is_dropped(step))

    def restructures(self) -> bool:
        """Whether messages come in or go."""
        return bool(self.dropped or self.inserted) or (self.parent is not None and self.parent.restructures())

    def insertions(self) -> dict[int, list[Insert]]:
        """Return the messages to insert, by the position they go before."""
        merged = self.parent.insertions() if self.parent else {}
        for position, inserts in self.inserted.items():
            merged[position] = [*merged.get(position, ()), *inserts]
        return merged

    def tags_of(self, address: Address, message: Message) -> frozenset[str]:
        """Return the tags of an observation: the host's and those that processors added."""
        inherited = self.parent.tags_of(address, message) if self.parent else message.tags
        return inherited | self.tags.get(address, frozenset())

    def apply(self, edit: Edit, stage: int) -> bool:
        """Take an edit in; return whether later stages have worked on content that this changes."""
        match edit:
            case Replace():
                return self._replace(edit, stage)
            case Drop():
                self.dropped.add(edit.step)
            case Insert():
                self._insert(edit)
            case Tag():
                self.tags[edit.address] = self.tags.get(edit.address, frozenset()) | edit.tags
            case CacheBreakpoint():
                self.marks[edit.position] = edit.on
                if edit.ttl is not None:
                    self.ttls[edit.position] = edit.ttl
        return False

    def undoing(self, edit: Edit) -> Callable[[], None]:
        """Return what takes an edit back that is about to be applied."""
        match edit:
            case Replace(address=address):
                return partial(self._restore, address, list(self.versions.get(address, ())))
            case Drop(step=step):
                return partial(self.dropped.discard, step)
            case Insert():
                return partial(self._take_out, edit, [self.keyed[key] for key in edit.replaces if key in self.keyed])
            case _:
                raise TypeError(f"{type(edit).__name__} is not taken back: it removes nothing")

    def _insert(self, edit: Insert) -> None:
        for key in edit.replaces:
            if key in self.keyed:
                self._take_out(self.keyed[key])
        self._put(edit)

    def _put(self, edit: Insert) -> None:
        self.inserted.setdefault(edit.position, []).append(edit)
        if edit.key:
            self.keyed[edit.key] = edit

    def _take_out(self, edit: Insert, replaced: Iterable[Insert] = ()) -> None:
        here = self.inserted[edit.position]
        here.remove(edit)
        if not here:
            del self.inserted[edit.position]
        self.keyed.pop(edit.key, None)
        for each in replaced:
            self._put(each)

    def _restore(self, address: Address, versions: list[Version]) -> None:
        self.versions[address] = versions
        if not versions:
            del self.versions[address]
            self.edited[address.position].discard(address.part)

    def changes(self, position: int) -> dict[int, tuple[Piece, ...]]:
        """Return the new content of each changed part of the message at ``position``."""
        changed = self.parent.changes(position) if self.parent else {}
        for part in self.edited.get(position, ()):
            changed[part] = self.versions[Address(position, part)][-1].content
        return changed

    def _replace(self, edit: Replace, stage: int) -> bool:
        versions = self.versions.setdefault(edit.address, [])
        stale = any(version.stage > stage for version in versions)
        versions[:] = [version for version in versions if version.stage < stage]
        versions.append(Version(stage, edit.content, edit.elides, edit.template))
        self.edited.setdefault(edit.address.position, set()).add(edit.address.part)
        return stale


def original(history: History, address: Address) -> tuple[Piece, ...]:
    """Return the content that the host gave at ``address``; nothing where no edit can reach."""
    part = history.messages[address.position].parts[address.part]
    if isinstance(part, ToolResult):
        return part.content
    return (part,) if isinstance(part, Text | Thinking | ToolCall) else ()


def content_at(history: History, overlay: Overlay, address: Address, stage: int | None = None) -> tuple[Piece, ...]:
    """Return the content at ``address`` as ``stage`` finds it."""
    version = overlay.version(address, stage)
    return version.content if version else original(history, address)
