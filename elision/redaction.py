"""Redaction: what of a text the model may see, or an archive may keep.

Secrets are found with detect-secrets: its patterns only, never its checks, which would send what they found over the
network.  What could not be scanned is withheld.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from elision.secrets.commands import command_secrets
from elision.secrets.files import data_of_secrets, file_secrets
from elision.secrets.named import named_secrets, names_another
from elision.secrets.patterns import OWN_PATTERNS, Window, kinds, values_of
from elision.secrets.plain_values import is_name, is_number, is_path, is_plain

Policy = Literal["none", "secrets", "full"]
"""From the mildest to the strictest."""

POLICIES: tuple[Policy, ...] = get_args(Policy)

SECONDS = 5.0
"""How long one content may be scanned; what is left then is withheld."""

_WINDOW = 8192
_OVERLAP = 1024
_BEFORE, _AFTER = 100, 300
"""Characters of a line around a name like ``password`` in which its value is looked for."""
_TOKEN = re.compile(r"[\w+/=.-]*")
_KEY_BLOCK = re.compile(
    r"-----BEGIN[ ][A-Z0-9 ]{0,40}PRIVATE[ ]KEY[A-Z ]{0,10}-----"
    r"(?:(?:(?!-----BEGIN).){0,20000}?-----END[ ][A-Z0-9 ]{0,40}PRIVATE[ ]KEY[A-Z ]{0,10}-----|[\w+/=\s\\:,|-]*)",
    re.S,
)
_PUTTY = re.compile(
    r"PuTTY-User-Key-File-(?:(?!\nPrivate-Lines:).){0,20000}?\nPrivate-Lines:[ ]\d+\r?\n[\w+/=\s]*", re.S
)
_REPEATED = 4
"""Characters of a value from which on it is looked for once more in its line."""
_KEY_END = re.compile(r"-----END[ ][A-Z0-9 ]{0,40}PRIVATE[ ]KEY")
_KEY_LINE = re.compile(r"[ \t>|+-]*(?:\d+[\t:-][ \t]*)?[A-Za-z0-9+/]{16,}={0,2}[ \t]*\r?")
_QUOTES = ("'", '"', "`")
_SETTING = re.compile(
    r"\s*(?:(?:[\w./-]{1,80}[:-])?\d{1,6}[\t:-]\s*)?(?:[;#>|]|[+*-](?=\s|\w*_))?\s*"
    r"(?:export\s+)?[\w.-]+\s*[=:]\s*[^\s()]+\s*"
)

_WITHHELD = re.compile(r"\[withheld by policy(?:: [\d,]{1,20} characters)?\]")
"""What is left of a text that has been withheld: there is nothing more in it."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text after redaction: the kinds of what was removed, and how many characters were withheld unscanned."""

    text: str
    removed: tuple[str, ...] = ()
    withheld: int = 0


class _Span(NamedTuple):
    start: int
    stop: int
    kind: str


class _OutOfTime(Exception):  # noqa: N818 (nothing that a user sees)
    """The scan has used up its time; ``at`` is how far it came."""

    def __init__(self, at: int) -> None:
        self.at = at


def strictest(policies: Iterable[str]) -> Policy:
    """Return the strictest of some policies; one that is not known counts as ``full``."""
    asked = set(policies)
    if asked <= {"none"}:
        return "none"
    return "secrets" if asked <= {"none", "secrets"} else "full"


def redact(text: str, policy: str, *, seconds: float = SECONDS, most: int | None = None) -> Redacted:
    """Return what ``policy`` leaves of a text; with ``full`` only its size is left.

    ``most`` is how far it was scanned when time ran out before: as far it is scanned now.
    """
    if policy == "none" or not text or _WITHHELD.fullmatch(text):
        return Redacted(text)
    if policy != "secrets":
        return Redacted(f"[withheld by policy: {_count(len(text))}]", ("all",))
    return _without_secrets(text, time.monotonic() + seconds, len(text) if most is None else min(most, len(text)))


def redact_content(content: T, policy: str, *, seconds: float = SECONDS) -> T:
    """Return what ``policy`` leaves of a text, or of JSON-able parts: every string in them is redacted for itself."""
    if policy == "none":
        return content
    deadline = time.monotonic() + seconds
    return _inner(content, policy, deadline)  # type: ignore[no-any-return]


def _inner(value: Any, policy: str, deadline: float) -> Any:
    if isinstance(value, str):
        if policy == "secrets" and value.startswith("data:"):
            return f"[withheld: {_count(len(value))} of data cannot be scanned for secrets]"
        return redact(value, policy, seconds=deadline - time.monotonic()).text
    if isinstance(value, Mapping):
        return {_inner(key, policy, deadline): _member(key, inner, policy, deadline) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [_inner(inner, policy, deadline) for inner in value]
    return value


def _member(key: object, value: Any, policy: str, deadline: float) -> Any:
    """Redact the value of a key, which can say that the value is a secret."""
    if policy == "secrets" and isinstance(key, str) and isinstance(value, str) and len(value) < _AFTER:
        line = f'{key}: "{value}"'
        if redact(line, policy, seconds=deadline - time.monotonic()).text.partition(": ")[2] != f'"{value}"':
            return "[removed: credential]"
    return _inner(value, policy, deadline)


def _without_secrets(text: str, deadline: float, most: int) -> Redacted:
    spans: list[_Span] = []
    scanned = most
    try:
        for block in (_KEY_BLOCK, _PUTTY):
            spans += (_Span(match.start(), match.end(), "Private Key") for match in block.finditer(text))
        spans += (_Span(first, last, "Private Key") for first, last in _ends_of_keys(text))
        spans += (_Span(*given, "credential") for given in data_of_secrets(text))
        for span in _scan(text, deadline, most):
            spans.append(span)
    except _OutOfTime as stop:
        scanned = stop.at
    except Exception as error:  # noqa: BLE001 (whatever fails in the scanner: nothing unscanned is shown)
        return Redacted(f"[withheld: {_count(len(text))}; the scan failed: {type(error).__name__}]", (), len(text))
    pieces, kinds = _pieces(text, spans, scanned)
    rest = len(text) - scanned
    if rest:
        pieces.append(f"[withheld: {_count(rest)} not scanned for secrets in time]")
    return Redacted("".join(pieces), tuple(kinds), rest)


def _ends_of_keys(text: str) -> Iterator[tuple[int, int]]:
    """Yield the lines before the end of a private key, whose beginning may not be there."""
    done = 0
    for match in _KEY_END.finditer(text):
        first = last = text.rfind("\n", done, match.start()) + 1
        while first > done and _KEY_LINE.fullmatch(text, begin := text.rfind("\n", done, first - 1) + 1, first - 1):
            first = begin
        done = match.end()
        if first < last:
            yield first, last


def _pieces(text: str, spans: list[_Span], stop: int) -> tuple[list[str], list[str]]:
    """Cut the spans out of ``text[:stop]``; what overlaps is cut out as one, and our own notes stay."""
    pieces: list[str] = []
    kinds: list[str] = []
    notes = [match.span() for match in _notes().finditer(text)] if spans else []
    at = 0
    for start, end, kind in sorted(spans):
        if start >= stop or end <= at or any(first <= start and end <= last for first, last in notes):
            continue
        if start >= at:
            pieces += text[at:start], f"[removed: {kind}]"
            kinds.append(kind)
        at = min(end, stop)
    pieces.append(text[at:stop])
    return pieces, kinds


def _scan(text: str, deadline: float, most: int) -> Iterator[_Span]:
    """Yield where secrets stand, window by window: a pattern that runs away does so in a few thousand characters."""
    for start in range(0, most, _WINDOW - _OVERLAP):
        _in_time(deadline, start)
        window = Window(text, start, min(len(text), start + _WINDOW))
        for kind, match, pattern in window.matches():
            own = pattern in OWN_PATTERNS
            group = (match.lastindex or 0) if own else 0
            value = match[group]
            if not (group and (is_plain(value) or is_path(value) or is_number(value))):
                yield _Span(match.start(group), _end_of_token(text, match), kind)
        yield from _credentials(window, deadline)
        yield from (_Span(*given, "credential") for given in named_secrets(text, window.stems()))
        yield from (_Span(*given, "credential") for given in command_secrets(window))
        yield from (_Span(*given, "credential") for given in file_secrets(window))


def _end_of_token(text: str, match: re.Match[str]) -> int:
    """Return where a token ends that a match may have covered in part."""
    end = match.end()
    if end > match.start() and _TOKEN.fullmatch(text, end - 1, end):
        rest = _TOKEN.match(text, end)
        return rest.end() if rest else end
    return end


def _credentials(window: Window, deadline: float) -> Iterator[_Span]:
    """Yield values that are given to names like ``password``."""
    text, done = window.text, window.start
    for first, last in window.words():
        if first < done:
            continue
        if another := names_another(text, first, last):
            done = another
            continue
        _in_time(deadline, window.start)
        begin = max(text.rfind("\n", 0, first) + 1, first - _BEFORE)
        newline = text.find("\n", last, last + _AFTER)
        done = newline if newline >= 0 else min(len(text), last + _AFTER)
        line = text[begin:done]
        # A line that is one setting needs no quotes around its value; code does.
        for value in values_of()(line, bool(_SETTING.fullmatch(line))):
            behind = line.find(value, last - begin)
            at = behind if behind >= 0 else line.find(value)
            quoted = line[at - 1 : at] in _QUOTES
            if is_plain(value, quoted=quoted) or is_path(value) or is_name(value, line, quoted=quoted):
                continue
            while at >= 0:
                end = at + len(value)
                cut = end == len(line) and _TOKEN.match(text, begin + end)
                yield _Span(begin + at, cut.end() if cut else begin + end, "credential")
                at = line.find(value, end) if len(value) >= _REPEATED else -1


def _in_time(deadline: float, at: int) -> None:
    if time.monotonic() > deadline:
        raise _OutOfTime(at)


@cache
def _notes() -> re.Pattern[str]:
    """Return a pattern of the notes that stand where something was removed."""
    return re.compile(rf"\[removed: (?:{'|'.join(map(re.escape, kinds()))})\]")


def _count(characters: int) -> str:
    return f"{characters:,} characters"
