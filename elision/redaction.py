"""Redaction: what of a text the model may see, or an archive may keep.

Secrets are found with detect-secrets: its patterns only, never its checks, which would send what they found over the
network.  What could not be scanned is withheld.
"""

from __future__ import annotations

import logging
import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple, TypeVar, get_args

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
_OWN = (
    (
        "Authorization Header",
        re.compile(r"(?i)\bauthorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token)\s+([^\s\"']+)"),
    ),
    ("API Key", re.compile(r"\bsk-(?:ant|proj|svcacct|or)-[\w-]{20,}|\bgithub_pat_\w{22,}|\bAIza[\w-]{35}")),
    ("Token", re.compile(r"(?m)^\s*(?:export\s+)?[A-Z0-9_]*TOKEN[A-Z0-9_]*=[\"']?([^\s\"']{8,})")),
)
"""What detect-secrets has no pattern for."""

_SETTING = re.compile(r"\s*(?:export\s+)?[\w.-]+\s*[=:]\s*[^\s()]+\s*")
_NOT_SECRET = {"Public IP (ipv4)"}

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
    if policy == "none" or not text:
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
        spans += (_Span(match.start(), match.end(), "Private Key") for match in _KEY_BLOCK.finditer(text))
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
    patterns = _patterns()
    for start in range(0, most, _WINDOW - _OVERLAP):
        _in_time(deadline, start)
        stop = min(len(text), start + _WINDOW)
        for kind, pattern in patterns:
            for match in pattern.finditer(text, start, stop):
                group = 1 if pattern.groups == 1 and kind in _OWN_KINDS and match[1] else 0
                yield _Span(match.start(group), _end_of_token(text, match), kind)
        yield from _credentials(text, start, stop, deadline)


def _end_of_token(text: str, match: re.Match[str]) -> int:
    """Return where a token ends that a match may have covered in part."""
    end = match.end()
    if end > match.start() and _TOKEN.fullmatch(text, end - 1, end):
        rest = _TOKEN.match(text, end)
        return rest.end() if rest else end
    return end


def _credentials(text: str, start: int, stop: int, deadline: float) -> Iterator[_Span]:
    """Yield values that are given to names like ``password``."""
    words, values_in = _keywords()
    done = start
    for word in words.finditer(text, start, stop):
        if word.start() < done:
            continue
        _in_time(deadline, start)
        begin = max(text.rfind("\n", 0, word.start()) + 1, word.start() - _BEFORE)
        newline = text.find("\n", word.end(), word.end() + _AFTER)
        done = newline if newline >= 0 else min(len(text), word.end() + _AFTER)
        line = text[begin:done]
        for value in values_in(line):
            at = line.find(value)
            while at >= 0:
                end = at + len(value)
                cut = end == len(line) and _TOKEN.match(text, begin + end)
                yield _Span(begin + at, cut.end() if cut else begin + end, "credential")
                at = line.find(value, end)


def _in_time(deadline: float, at: int) -> None:
    if time.monotonic() > deadline:
        raise _OutOfTime(at)


_OWN_KINDS = {kind for kind, _ in _OWN}


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the patterns of detect-secrets, and those that it lacks, with what they find."""
    shows = warnings.showwarning
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.plugins.base import RegexBasedDetector

    if warnings.showwarning is not shows:
        logging.captureWarnings(capture=False)  # detect-secrets takes the host's warnings into its log

    found: Mapping[str, Any] = get_mapping_from_secret_type_to_class()
    theirs = [
        (kind, pattern)
        for kind, detector in sorted(found.items())
        if issubclass(detector, RegexBasedDetector) and kind not in _NOT_SECRET
        for pattern in detector.denylist
    ]
    return (*theirs, *_OWN)


@cache
def _notes() -> re.Pattern[str]:
    """Return a pattern of the notes that stand where something was removed."""
    kinds = sorted({"credential", "Private Key", *(kind for kind, _ in _patterns())})
    return re.compile(rf"\[removed: (?:{'|'.join(map(re.escape, kinds))})\]")


@cache
def _keywords() -> tuple[re.Pattern[str], Callable[[str], set[str]]]:
    """Return a pattern for names like ``password``, and what finds the values that a line gives to them."""
    from detect_secrets.plugins import keyword

    detector: Any = keyword.KeywordDetector()

    def values_in(line: str) -> set[str]:
        # A line that is one setting needs no quotes around its value; code does.
        plain = keyword.CONFIG_DENYLIST_REGEX_TO_GROUP if _SETTING.fullmatch(line) else None
        return {value for value in detector.analyze_string(line, plain) if value}

    return re.compile("|".join(keyword.DENYLIST), re.I), values_in


def _count(characters: int) -> str:
    return f"{characters:,} characters"
