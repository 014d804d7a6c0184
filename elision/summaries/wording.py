"""Texts of the history, made fit to stand in a summary: lines that tell something, and facts word for word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from elision.placeholders.cleaning import shortened
from elision.reducing.bounds import sendable

LINE_CHARS = 160
"""Characters of a line that is quoted."""

RULE_CHARS = 400
"""Characters of a sentence that is kept word for word; a longer one is no rule but prose."""

_LOOKED_AT = 100_000
"""Characters at each end of a text that are looked through."""

_RULE = re.compile(
    r"(?i)\b(?:never|must(?:n't)?|do not|don't|cannot|can't|shall not|may not|not allowed|forbidden|unless|except"
    r"|only if|only when|always|exactly|no longer|keep in mind)\b"
)
_LAID_DOWN = re.compile(
    r"(?i)\b(?:never|must not|mustn't|must be|do not|don't|shall not|not allowed|forbidden|unless)\b"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_ERROR = re.compile(r"(?i)(?:error|exception|fatal|panic|traceback|\bfail(?:ed|ure|s)?)\b")
_COUNT = re.compile(
    r"(?i)\b\d[\d,.]*\s+(?:lines?|files?|tests?|passed|failed|errors?|warnings?|match(?:es)?|rows|records|items|total)\b"
)
_MOMENT = re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d)?")
_TEST = re.compile(r"(?m)(?:^|\s)((?:FAILED|ERROR)\s+\S+|--- FAIL: \S+|not ok \d+[^\n]{0,100})")
_IDENTIFIER = re.compile(
    r"(?<![\w./#-])(?:#\d{2,}|[A-Z][A-Z0-9]+-\d+|(?=[0-9a-f-]*\d)(?=[0-9a-f-]*[a-f])[0-9a-f]{7,40}(?:-[0-9a-f]{4,12})*"
    r"|(?:\.{0,2}/)?(?:[\w.-]+/)+[\w.-]*\w|[\w-]+\.(?:py|js|ts|go|rs|java|c|h|md|toml|ya?ml|json|sql|sh|txt|csv))(?![\w-])"
)
_EXIT = re.compile(r"(?i)\b(?:exit(?:ed)?(?:[ _-]?(?:with|code|status))*|return ?code)\b\W{0,3}(-?\d{1,3})\b")
_REVISION = re.compile(
    r"(?i)\b(?:commit|HEAD is now at|blob|revision|etag|sha256|sha1|md5)\b[\s:=\"'(]{1,3}([0-9a-f]{7,64})\b"
)
_UNFIT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, line by line."""
    for piece in _SENTENCE.split(ends(text)):
        if piece.strip():
            yield piece.strip()


def ends(text: str) -> str:
    """Return a text, of a long one its beginning and its end."""
    return text if len(text) <= 2 * _LOOKED_AT else f"{text[:_LOOKED_AT]}\n{text[-_LOOKED_AT:]}"


def rules_in(text: str) -> list[str]:
    """Return the sentences that lay something down, or rule something out, word for word."""
    return [each for each in sentences(text) if len(each) <= RULE_CHARS and _RULE.search(each)]


def identifiers_in(text: str) -> list[str]:
    """Return the ids, hashes and paths that a text names, each once."""
    return list(dict.fromkeys(match[0] for match in _IDENTIFIER.finditer(ends(text))))


def failing_tests(text: str) -> list[str]:
    """Return the tests that a text says have failed, each once."""
    return list(dict.fromkeys(match[1].strip() for match in _TEST.finditer(ends(text))))


def exit_code(text: str) -> int | None:
    """Return the exit code that a text names at its beginning or at its end; ``None`` where it names none."""
    for piece in (text[-300:], text[:300]):
        if match := _EXIT.search(piece):
            return int(match[1])
    return None


def revision(text: str) -> str:
    """Return the hash of a file, or the commit, that a text names first."""
    match = _REVISION.search(text[:_LOOKED_AT])
    return match[1] if match else ""


def findings_in(text: str) -> list[str]:
    """Return the lines that tell most: errors, counts, times, rules, the first line and the last."""
    lines = [line.strip() for line in ends(text).splitlines() if line.strip()]
    if not lines:
        return []
    errors = [line for line in lines if _ERROR.search(line)]
    wanted = [
        lines[0],
        *(errors if len(errors) <= 3 else [*errors[:2], errors[-1]]),
        *[line for line in lines if _LAID_DOWN.search(line)][:2],
        *[line for line in lines if _COUNT.search(line)][:2],
        *[line for line in lines if _MOMENT.search(line)][:1],
        lines[-1],
    ]
    return [line for line in dict.fromkeys(line_of(each) for each in wanted) if line]


def line_of(text: str, limit: int = LINE_CHARS) -> str:
    """Return the beginning of a text as one line that can be sent."""
    return shortened(verbatim(" ".join(text[: 4 * limit].split())), limit)


def verbatim(text: str) -> str:
    """Return a text without what no wire accepts."""
    return sendable(_UNFIT.sub("", text))


def missing(facts: Iterable[str], text: str) -> list[str]:
    """Return the facts that a text does not hold word for word, each once."""
    return [fact for fact in dict.fromkeys(facts) if fact and fact not in text]
