"""Texts of the history, made fit to stand in a summary: lines that tell something, and facts word for word."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from elision.placeholders.cleaning import shortened
from elision.reducing.bounds import sendable
from elision.summaries.statements import ends

LINE_CHARS = 160
"""Characters of a line that is quoted."""

_LAID_DOWN = re.compile(
    r"(?i)\b(?:never|must not|mustn't|must be|do not|don't|shall not|may not|not to be|not allowed|forbidden|unless|"
    r"may [^.;]{0,80}\b(?:once|only)|only (?:if|when|once|after|with the)|"
    r"exceptions? (?:is|are|for)|except (?:for|when|if|in|on)|niemals|verboten|"
    r"(?:darf|dürfen) [^.;]{0,60}\b(?:nie|nicht|nur|kein\w*)|jamais|interdit\w*|sauf si|nunca|"
    r"prohibid\w*|salvo que|proibid\w*|vietat\w*|nooit|nigdy|никогда|нельзя|запрещ\w*)(?!\w)|"
    r"不得|不要|禁止|切勿|严禁|嚴禁|しないこと|してはならない|금지|마십시오"
)
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
_FAILURES = re.compile(
    r"(?im)\b[1-9]\d* (?:tests? )?(?:failed|failures?|failing|errors?)\b|\b(?-i:FAILED)\b|^Traceback \("
)
_UNFIT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def identifiers_in(text: str) -> list[str]:
    """Return the ids, hashes and paths that a text names, each once."""
    return list(dict.fromkeys(match[0] for match in _IDENTIFIER.finditer(ends(text))))


def failing_tests(text: str) -> list[str]:
    """Return the tests that a text says have failed, each once."""
    return list(dict.fromkeys(match[1].strip() for match in _TEST.finditer(ends(text))))


def reads_as_passed(text: str) -> bool:
    """Whether nothing in what a run printed says that it, or a part of it, has failed."""
    return exit_code(text) in (None, 0) and not _FAILURES.search(ends(text)) and not failing_tests(text)


def exit_code(text: str) -> int | None:
    """Return the exit code that a text names at its beginning or at its end; ``None`` where it names none."""
    for piece in (text[-300:], text[:300]):
        if match := _EXIT.search(piece):
            return int(match[1])
    return None


def revision(text: str) -> str:
    """Return the hash of a file, or the commit, that a text names first."""
    match = _REVISION.search(ends(text))
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
        *_laid_down(lines),
        *[line for line in lines if _COUNT.search(line)][:2],
        *[line for line in lines if _MOMENT.search(line)][:1],
        lines[-1],
    ]
    return [line for line in dict.fromkeys(line_of(each) for each in wanted) if line]


def laid_down_in(text: str) -> list[str]:
    """Return lines that rule something out, at most two."""
    found = (line_of(line) for line in _laid_down([line.strip() for line in ends(text).splitlines()]))
    return list(dict.fromkeys(filter(None, found)))


def _laid_down(lines: Iterable[str]) -> list[str]:
    return list(islice((line for line in lines if _LAID_DOWN.search(line)), 2))


def line_of(text: str, limit: int = LINE_CHARS) -> str:
    """Return the beginning of a text as one line that can be sent."""
    return shortened(verbatim(" ".join(text[: 4 * limit].split())), limit)


def verbatim(text: str) -> str:
    """Return a text without what no wire accepts."""
    return sendable(_UNFIT.sub("", text))


def missing(facts: Iterable[str], text: str) -> list[str]:
    """Return the facts that a text does not hold word for word, each once; part of a longer name does not count."""
    return [fact for fact in dict.fromkeys(facts) if fact and not _holds(text, fact)]


def _holds(text: str, fact: str) -> bool:
    if fact not in text:
        return False
    before = r"(?<![\w/#-])" if _NAME_AT_ENDS.match(fact[0]) else ""
    after = r"(?![\w-]|[./]\w)" if _NAME_AT_ENDS.match(fact[-1]) else ""
    return re.search(f"{before}{re.escape(fact)}{after}", text) is not None


_NAME_AT_ENDS = re.compile(r"[\w/#]", re.ASCII)
