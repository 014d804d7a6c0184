"""Secrets as well-known files and outputs hold them, where no name stands before the value."""

from __future__ import annotations

import base64
import binascii
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator

from elision.secrets.in_data import Given
from elision.secrets.patterns import Window
from elision.secrets.plain_values import is_made, is_plain, is_prose

_NAMES = (
    r"[\w.:/-]{0,60}(?:passw(?:or)?d|passphrase|pass|pwd|secret|token|api[-_.]?key|access[-_.]?key|secret[-_.]?key)"
)
_Q = r"\\{0,7}[\"']"
_BESIDE = (
    # What stands for itself, and what only a value that looks like a secret is one for.
    re.compile(rf"<({_NAMES})(?:[ \t][^<>\n]{{0,80}})?>(?P<value>[^<>\s]{{3,400}})</", re.I),
    re.compile(
        rf"\b(?:name|key)(?:{_Q})?[ \t]{{0,4}}[:=][ \t]{{0,4}}(?:{_Q})?{_NAMES}(?:{_Q})?[\s,]{{1,40}}"
        rf"(?:{_Q}Type{_Q}[ \t]{{0,2}}:[ \t]{{0,2}}{_Q}\w{{1,20}}{_Q}[\s,]{{1,40}})?"
        rf"(?:{_Q})?value(?:{_Q})?[ \t]{{0,4}}[:=][ \t]{{0,4}}(?:{_Q})?(?P<value>[^\s\"'\\<>,]{{3,400}})",
        re.I,
    ),
    re.compile(
        rf"(?m)^[ \t]*(?:ENV|setenv|setx|set -\w{{1,3}})[ \t]{{1,4}}{_NAMES}"
        r"[ \t]{1,4}[\"']?(?P<value>[^\s\"'=]{3,400})",
        re.I,
    ),
)
_ALWAYS = (
    re.compile(
        r"(?:\bmachine\s{1,9}\S{1,200}|\bdefault)\s{1,9}login\s{1,9}\S{1,200}\s{1,9}password\s{1,9}(?P<value>\S{1,200})"
    ),
    re.compile(
        r"(?m)(?:^[ \t]*|//[^\s:\"']{1,200}(?::\d+/)?:)_(?:auth|password|authToken)"
        r"[ \t]{0,4}=[ \t]{0,4}(?P<value>[^\s\"'$]{4,400})"
    ),
    re.compile(r"(?m)^[ \t]*(?:requirepass|masterauth)[ \t]{1,4}(?P<value>\S{3,200})"),
    re.compile(
        r"(?i)\bIDENTIFIED(?:[ \t]WITH[ \t]\w{1,40})?[ \t]BY[ \t]{1,4}(?:PASSWORD[ \t])?"
        r"\\{0,3}[\"'](?P<value>[^\"'\n\\]{3,200})"
    ),
    re.compile(
        r"\"keyName\":\s{0,9}\"\w{1,20}\",\s{0,40}\"permissions\":\s{0,9}\"\w{1,20}\",\s{0,40}\"value\":\s{0,9}\"(?P<value>[\w+/=]{20,200})"
    ),
)
_LOGIN = re.compile(r"\\{0,7}\"auth\\{0,7}\":[ \t]{0,4}\\{0,7}\"(?P<value>[\w+/]{8,400}={0,2})\\{0,7}\"")
_COOKIES = re.compile(r"(?i)\b(?:set-)?cookie\\{0,7}[\"']?:[ \t]{0,4}\\{0,7}[\"']?(?P<cookies>[^\n\r\"']{1,4000})")
_COOKIE = re.compile(r"(?:\A|;[ \t]{0,4})[\w.-]{1,80}=(?P<value>[^;\s,]{8,3000})")
_ATTRIBUTE = re.compile(r"(?i);[ \t]{0,4}(?:path|domain|expires|max-age|samesite|httponly|secure)\b")
_MENTIONS = (
    *(
        "password",
        "passwd",
        "passphrase",
        "pass",
        "pwd",
        "secret",
        "token",
        "key",
        "cookie",
        "_auth",
        '"auth',
        "identified",
    ),
    "masterauth",
)
_KIND = re.compile(r"kind[\"']?:[ \t]{0,4}[\"']?(\w+)")
_BLOCK = re.compile(
    r"^(?P<indent>[ \t]*)(?:data|stringData):[ \t]*\n(?P<members>(?:(?P=indent)[ \t]+[\w.-]+:[^\n]*(?:\n|\Z))+)", re.M
)
_OBJECT = re.compile(r"\"(?:data|stringData)\":\s{0,40}\{(?P<members>[^{}]{1,20000})\}")
_MEMBER = re.compile(r"[\w.-]+[\"']?:[ \t]{0,4}[\"']?(?P<value>[^\s\"',]{2,})")
_APART = 4000


def file_secrets(window: Window) -> Iterator[Given]:
    """Yield the secrets of such files."""
    if not any(each in window.folded for each in _MENTIONS):
        return
    text, start, stop = window.text, window.start, window.stop
    for pattern, is_one, mentions in _FORMS:
        there = any(each in window.folded for each in mentions)
        for match in pattern.finditer(text, start, stop) if there else ():
            if not is_plain(match["value"]) and is_one(match["value"]):
                yield Given(*match.span("value"))
    for match in _COOKIES.finditer(text, start, stop) if "cookie" in window.folded else ():
        yield from _cookies(match)


def _is_no_word(value: str) -> bool:
    return not is_prose(value)


def _is_login(value: str) -> bool:
    try:
        return b":" in base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return False


_FORMS: tuple[tuple[re.Pattern[str], Callable[[str], bool], tuple[str, ...]], ...] = (
    *zip(_BESIDE, (is_made,) * 3, (("</",), ("value",), ("env", "setx", "set -")), strict=True),
    *zip(
        _ALWAYS,
        (_is_no_word,) * 5,
        (("login",), ("_auth", "_password"), ("requirepass", "masterauth"), ("identified",), ("keyname",)),
        strict=True,
    ),
    (_LOGIN, _is_login, ('auth"', "auth\\")),
)
"""Forms, what a value must be, and what a text must have so that one of them can match."""


def _cookies(match: re.Match[str]) -> Iterator[Given]:
    """Yield the values of cookies; what a server says of one is none."""
    first, last = match.span("cookies")
    attribute = _ATTRIBUTE.search(match.string, first, last)
    for cookie in _COOKIE.finditer(match.string[first : attribute.start() if attribute else last]):
        if is_made(cookie["value"]) and not is_plain(cookie["value"]):
            yield Given(first + cookie.start("value"), first + cookie.end("value"))


def data_of_secrets(text: str) -> Iterator[Given]:
    """Yield the values of Kubernetes' secrets."""
    if "Secret" not in text:
        return
    kinds = [(match.start(), match[1]) for match in _KIND.finditer(text)]
    for pattern in (_BLOCK, _OBJECT):
        for block in pattern.finditer(text):
            if _kind_at(kinds, block.start(), block.end()) == "Secret":
                for member in _MEMBER.finditer(text, *block.span("members")):
                    if not is_plain(member["value"]):
                        yield Given(*member.span("value"))


def _kind_at(kinds: list[tuple[int, str]], start: int, stop: int) -> str:
    """Return the kind of what a block is in: it stands near, before it or behind."""
    place = bisect_left(kinds, (start, ""))
    near = [(start - at if at < start else at - stop, kind) for at, kind in kinds[max(0, place - 1) : place + 2]]
    return min(((apart, kind) for apart, kind in near if 0 <= apart < _APART), default=(0, ""))[1]
