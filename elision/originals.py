"""Originals on their way into the archive: in it, durably, before they leave a view."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from operator import attrgetter, is_
from typing import TYPE_CHECKING, Any, NamedTuple

from elision.edits import Drop, Edit, Replace, arguments_text
from elision.errors import ArchiveError, ContentError
from elision.history import History
from elision.ledger import Ledger
from elision.message import Address, Image, Piece, Text, Thinking, ToolCall
from elision.overlay import original
from elision.summaries.background import Background

if TYPE_CHECKING:
    from elision.archive import Archive, Content, Entry, Sealed
    from elision.offloading import OffloadedFile

MARK = "cache_control"
"""The key of a cache breakpoint in what hosts give."""

MAX_PLACEHOLDER_CHARS = 4000
"""Longest text that can be a placeholder."""

MAX_ADDED_CHARS = 200_000
"""Longest text that can be a message of ours, such as a summary."""


class Owed(NamedTuple):
    """An edit that was taken back, and the processor that had proposed it, by its place in the chain."""

    stage: int
    edit: Edit


@dataclass(slots=True)
class Taken:
    """One edit that has been taken in, and that stands as soon as its ``entry`` is in the archive."""

    entry: Entry | None
    stand: Callable[[], None]
    undo: Callable[[], None]
    owed: Owed | None = None
    """What is to be proposed again where it has to be taken back; nothing where it stands in any case."""
    file: OffloadedFile | None = None
    """What is written to a file before it stands."""
    spoil: Callable[[str], None] | None = None
    """What takes it back, and says why, where the file cannot be written."""


@dataclass(slots=True)
class Originals:
    """What a run takes out of its views, and the archive that it goes to first."""

    archive: Archive
    session: str
    background: Background = field(default_factory=Background)
    """What is asked of models beside the requests."""
    ledger: Ledger = field(init=False)
    trouble: str = ""
    """Why the archive takes nothing in this request; empty while it does."""
    not_written: list[str] = field(default_factory=list)
    """Why files of this request could not be written."""
    taken: list[Taken] = field(default_factory=list)
    owed: list[Owed] = field(default_factory=list)
    """What was taken back because the archive failed, to be proposed again with the next request."""
    again: int = 0
    """How many of ``taken`` were owed."""
    failing: bool = False
    """Whether the last request could not be archived."""
    shadow: bool = False
    """Whether nothing of what is decided is sent, so that no file is written beside the archive."""
    texts: list[str] = field(default_factory=list)
    """Texts of ours that stand for nothing new: messages that were added, placeholders that were made anew."""
    _unwritten: list[Entry] = field(default_factory=list)
    _others: set[str] = field(default_factory=set)
    _sealed: dict[tuple[int, Address | int], Sealed | ArchiveError] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.archive)

    def begin(self) -> None:
        """Begin a request: what was wrong with the archive in the one before may be over."""
        self.trouble = ""
        self.not_written.clear()
        self._others.clear()
        self.ledger.begin()

    def why_not(self, history: History, edit: Replace | Drop) -> str:
        """Say why the original of what an edit removes cannot be archived; nothing where it can."""
        sealed = self.sealed(history, edit.address if isinstance(edit, Replace) else edit.step)
        return self.trouble or (str(sealed) if isinstance(sealed, ArchiveError) else "")

    def sealed(self, history: History, place: Address | int) -> Sealed | ArchiveError:
        """Return the original of a part, or of a step, with its ref, ready for the archive; or what is wrong."""
        key = (id(history), place)
        if self.trouble and key not in self._sealed:
            return ArchiveError(self.trouble)
        if key not in self._sealed:
            self._sealed[key] = self._seal(history, place)
        return self._sealed[key]

    def is_ours(self, text: str, *, most_chars: int = MAX_PLACEHOLDER_CHARS) -> bool:
        """Whether Elision wrote this text: it is known by its hash in the archive, never by its looks."""
        if self.trouble or not 0 < len(text) <= most_chars or text in self._others:
            return False
        try:
            ours = self.archive.is_ours(text)
        except ArchiveError as error:
            self.trouble = str(error)
            return False
        if not ours:
            self._others.add(text)
        return ours

    def put(self) -> bool:
        """Store what was taken, durably, and let it stand; take it back where that fails."""
        self._others.clear()
        if not (self.taken or self.texts or self.ledger.fresh or self._unwritten or self.trouble):
            self.failing = False
            self._sealed.clear()
            return True
        spoilt = self._without_file()
        taken, self.taken = self.taken, []
        if self.archive.keeps and not self.trouble:
            try:
                entries = [*self._unwritten, *filter(None, map(_entry_of, taken))]
                if entries or self.ledger.fresh:
                    self.archive.put_all(entries, facts=self.ledger.fresh)
                    self.ledger.written()
                if self.texts:
                    self.archive.remember(self.texts)
                self._unwritten, self.texts = [], []
            except ArchiveError as error:
                self.trouble = str(error)
        self.failing = bool(self.trouble or spoilt)
        self.owed += spoilt
        if self.trouble:
            self._unwritten += [each.entry for each in taken if each.entry is not None and each.undo is each.stand]
            back, again = (
                [each.owed for each in some if each.owed] for some in (taken[self.again :], taken[: self.again])
            )
            self.owed = [*again, *self.owed, *back]
        self.again = 0
        for each in reversed(taken) if self.trouble else taken:
            (each.undo if self.trouble else each.stand)()
        self._sealed.clear()
        return not self.trouble

    def _without_file(self) -> list[Owed]:
        """Write the files of what has been taken; take back what has none, and return what is owed of it."""
        if not any(map(_file_of, self.taken)):
            return []
        quiet = self.shadow or self.archive.on_trial
        whys = ["" if quiet else _why_not_written(each) for each in self.taken]
        spoilt = {place: (self.taken[place], why) for place, why in enumerate(whys) if why}
        for each, why in reversed(spoilt.values()):
            if each.spoil is not None:
                each.spoil(why)
        self.not_written += dict.fromkeys(why for _, why in spoilt.values())
        self.again -= sum(place < self.again for place in spoilt)
        self.taken = [each for place, each in enumerate(self.taken) if place not in spoilt]
        return [each.owed for each, _ in spoilt.values() if each.owed]

    def _seal(self, history: History, place: Address | int) -> Sealed | ArchiveError:
        try:
            content = step_content(history, place) if isinstance(place, int) else part_content(history, place)
            return self.archive.sealed(content)
        except ContentError as error:
            return error
        except ArchiveError as error:
            self.trouble = str(error)
            return error


_entry_of, _file_of = attrgetter("entry"), attrgetter("file")


def _why_not_written(taken: Taken) -> str:
    if taken.file is None:
        return ""
    from elision.offloading import write

    try:
        write(taken.file)
    except ArchiveError as error:
        return str(error)
    return ""


def part_content(history: History, address: Address) -> Content:
    """Return what the host gave at ``address``: its text, its parts as plain data, or the arguments of a call."""
    parts = original(history, address)
    if len(parts) == 1 and isinstance(parts[0], ToolCall):
        return parts[0].text or arguments_text(parts[0].arguments)
    if len(parts) == 1 and isinstance(parts[0], Thinking) and parts[0].raw is None:
        return parts[0].text
    if len(parts) == 1 and isinstance(parts[0], Text) and _is_bare(parts[0]):
        return parts[0].text
    return [_as_data(part) for part in parts]


def _is_bare(text: Text) -> bool:
    """Whether the host has nothing beside the text: citations and the like go with it."""
    return text.raw is None or (isinstance(text.raw, Mapping) and text.raw.keys() <= {"type", "text", MARK})


def step_content(history: History, step: int) -> Content:
    """Return the messages of a step as the host gave them, as plain data."""
    found = history.steps[step]
    return [_plain(message.raw) for message in history.messages[found.start : found.stop]]


def _as_data(part: Piece) -> Any:
    if part.raw is not None:
        return _plain(part.raw)
    match part:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Image(url=url):
            return {"type": "image_url", "image_url": {"url": url}}
        case Thinking() | ToolCall():
            return _plain(part)
        case _:
            return {"type": part.type}


def _plain(raw: Any) -> Any:
    """Return a host's object as plain data; the archive refuses what still is none."""
    if isinstance(raw, Mapping | str | list):
        return _unmarked(raw)
    if callable(getattr(raw, "model_dump", None)):
        return _unmarked(raw.model_dump(mode="json"))
    return asdict(raw) if is_dataclass(raw) and not isinstance(raw, type) else raw


def _unmarked(raw: Any) -> Any:
    """Return a message or a block as it is without cache breakpoints: hosts move these, and what is said is the same.

    For a breakpoint they make a list of one block of a text: that stands for the text.
    """
    if isinstance(raw, list):
        blocks = [_unmarked(block) for block in raw]
        return raw if all(map(is_, blocks, raw)) else blocks
    if not isinstance(raw, Mapping):
        return raw
    content = raw.get("content")
    inside = _text_or_blocks(_unmarked(content)) if isinstance(content, list) else content
    if inside is content and MARK not in raw:
        return raw
    kept = {key: value for key, value in raw.items() if key != MARK}
    return {**kept, "content": inside} if inside is not content else kept


def _text_or_blocks(blocks: list[Any]) -> Any:
    match blocks:
        case [{"type": "text", "text": str(text), **rest}] if not rest:
            return text
    return blocks
