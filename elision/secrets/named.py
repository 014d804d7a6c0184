"""Secrets that are given by name: to options, variables, headers, in queries and in connection strings."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator

from elision.secrets.in_data import Given, Setting, is_in_data
from elision.secrets.plain_values import is_made, is_metavar, is_number, is_path, is_plain, is_prose

_LONGEST_NAME = 80
_NAME_CHARACTERS = f"{string.ascii_letters}{string.digits}_.-"
_TAIL = re.compile(
    r"(?:pass(?:word|wd|phrase|in|out)?|pwd|secret|token|key(?:_base|-data)?|credentials?)(?![\w-])", re.I
)
_PASSWORD = re.compile(
    r"(?:password|passwd|passphrase|pwd|credentials?|(?:^|[-_.])pass(?:in|out)?"
    r"|(?:db|store|key|user|root|admin|smtp|mail|mysql|redis|ftp|http|proxy)pass)$",
    re.I,
)
_KEY = re.compile(
    r"(?:secret|(?:^|[^a-z])token|(?:access|auth|api|bearer|refresh|session|bot|private|deploy|id|identity)token"
    r"|(?:api|access|secret|auth|private|account|storage|master|encryption|signing|license|client|deploy|app|shared)"
    r"[-_.]?key(?:_base|-data)?|accesskey|(?:^|[-_.])tls\.key)$",
    re.I,
)
_OTHER = re.compile(
    r"(?:^|[-_.])(?:eos|bos|pad|unk|sep|cls|mask|stop|start|starting|next|previous|page|image|max|min|per|num|special"
    r"|end|continuation|sync|csrf|xsrf|public|primary|foreign|sort|partition|cache|routing|object|group|index|hash)"
    r"[-_.]?(?:token|key)$|(?:existing|image[-_]?pull)[-_]?secret$"
    r"|(?:^|[-_.])(?:first|second|last|next|one|two|single|multi|per)[-_.]pass$",
    re.I,
)
_BESIDE_SECRETS = re.compile(
    r"(?:(?:existing|image[-_]?pull)[-_]?secret|secret[-_]?(?:name|key[-_]?ref|ref|arn|version)"
    r"|(?:key|token|secret|passw(?:or)?d)s?[-_](?:name|file|path|dir|env|alias|type|len|length|count|expiry|expires|ttl"
    r"|policy|min|max|version))$",
    re.I,
)
_REST_OF_NAME = re.compile(r"(?P<name>[\w-]{0,80})(?:[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?[^\s,\"']{0,400})?")
_HEADER = re.compile(
    r"(?:x-(?:[a-z0-9]+-)*(?:key|token|secret|password)|(?:private|job|deploy|auth|access)-token|(?:[a-z]+-)*api-?key"
    r"|(?:proxy-)?authorization|(?:[a-z]+[-_])?(?:access|refresh|id|auth|api|bearer|session)[-_]?token)",
    re.I,
)
_GIVEN = re.compile(
    r"(?P<close>\\{0,7}[\"'])?(?P<join>=|[ \t]{1,20}:?=[ \t]{1,4}|[ \t]{0,2}=>[ \t]{0,4}"
    r"|[ \t]{0,2}:[ \t]{0,4}|[ \t]{0,2},[ \t]{0,4}|[ \t]{1,8})"
    r"(?:(?P<quote>\\{0,7}[\"'`])(?P<quoted>(?:(?!(?P=quote))[^\n]){0,200})(?P=quote)"
    r"|(?P<value>(?:[^\s\"'`;|&<>()\\]|\\[^\s\"'nrt\\]){1,200}))"
)
_OF_AN_OPTION = re.compile(
    r"(?<![\w-])-{1,2}[A-Za-z](?:[^\s\"']{0,60}[=,](?:\\?[\"'])?|[\w.-]{0,40}[ \t]{1,4}(?:\\?[\"'])?)\Z"
)
_AFTER_A_PAIR = re.compile(r"\w=[^\s,;\"'()]{1,60}(?:[ \t]|;[ \t]?)\Z")
_ENDS_A_COMMAND = re.compile(r"[\"'`\\]|[ \t]*(?:\Z|[\n\r|;&)\]]|\\|-)")
_CODE = re.compile(r"[{}?]|=[^=]")
_CLOSERS = ",]}"
_SHORTEST_PASSWORD, _SHORTEST_KEY = 3, 6
_SHORTEST_OF_KEY = 16
_OF_FILES = ("id=", "type=", "src=")
"""How options begin that name a file with a secret: ``--secret id=…``."""


def named_secrets(text: str, stems: Iterable[int]) -> Iterator[Given]:
    """Yield the values that are given to names; ``stems`` says where the last word of such names may begin."""
    for stem in stems:
        tail = _TAIL.match(text, stem)
        given = _GIVEN.match(text, tail.end()) if tail else None
        if tail and given:
            first = _first_of_name(text, tail.start())
            found = _value(given)
            if found.start < found.stop and _is_secret(text, first, text[first : tail.end()], given, found):
                yield found


def names_another(text: str, first: int, last: int) -> int:
    """Return where the value ends that a name gives which has such a word and is for no secret; 0 for other names."""
    begin = _first_of_name(text, first)
    rest = _REST_OF_NAME.match(text, last)
    if rest is None or not _BESIDE_SECRETS.search(text, begin, rest.end("name")):
        return 0
    return max(rest.end(), last)


def _first_of_name(text: str, at: int) -> int:
    before = text[max(0, at - _LONGEST_NAME) : at]
    return at - len(before) + len(before.rstrip(_NAME_CHARACTERS))


def _value(given: re.Match[str]) -> Given:
    if given["quote"]:
        return Given(*given.span("quoted"))
    return Given(given.start("value"), given.start("value") + len(given["value"].rstrip(_CLOSERS)))


def _is_secret(text: str, first: int, name: str, given: re.Match[str], found: Given) -> bool:
    """Whether a name is one for secrets, in a form in which it is given one, and the value can be one."""
    join, value = given["join"], text[found.start : found.stop]
    quoted = bool(given["quote"])
    if not _fits(name, value, quoted=quoted):
        return False
    if _is_set(text, first, name, given, found):
        return True
    return is_made(value) and is_in_data(text, Setting(first, name, bool(given["close"]), join.strip(), quoted, found))


def _is_set(text: str, first: int, name: str, given: re.Match[str], found: Given) -> bool:
    """Whether it is a secret for the form in which it is given: that of a command, say."""
    join, value = given["join"], text[found.start : found.stop]
    join = join if join == "=" or "=" not in join else "to"
    join = join.strip()
    quoted, listed = bool(given["quote"]), join == ","
    if listed != bool(given["close"] and quoted) and join != ":":
        return False
    if not _is_given_to(text, first, name, join):
        return False
    if join == ":" and not quoted:
        # In code of one line, a name is followed by all that comes behind it.
        return not _CODE.search(value) and len(value.partition(",")[0]) >= _SHORTEST_KEY and _has_digit(value)
    if listed:
        return _has_digit(value)
    return bool(join or quoted) or _stands_alone(text, value, found.stop)


def _has_digit(value: str) -> bool:
    return any(map(str.isdigit, value)) and not value.startswith("-")


def _fits(name: str, value: str, *, quoted: bool) -> bool:
    """Whether a name is one for secrets, and a value can be one for it."""
    password = bool(_PASSWORD.search(name))
    if not (password or _KEY.search(name) or _is_variable_of_key(name, value)) or _OTHER.search(name):
        return False
    if is_plain(value, quoted=quoted) or is_path(value) or (name.startswith("-") and is_metavar(value)):
        return False
    if password:
        return len(value) >= _SHORTEST_PASSWORD
    return len(value) >= _SHORTEST_KEY and not is_number(value) and not value.startswith(_OF_FILES)


def _is_variable_of_key(name: str, value: str) -> bool:
    return name.isupper() and name.endswith("_KEY") and len(value) >= _SHORTEST_OF_KEY and is_made(value)


def _is_given_to(text: str, first: int, name: str, join: str) -> bool:
    """Whether it is the form of an option, a variable, a header, a query or a connection string."""
    if name.startswith("-"):
        return join in {"=", "", ","} and not name.startswith("---")
    before = text[max(0, first - _LONGEST_NAME) : first]
    if join == ":":
        return bool(_HEADER.fullmatch(name))
    if join != "=":
        return False
    if name.isupper() or before.endswith(("?", "&")):
        return not before.endswith(("$", "{"))
    return bool(_OF_AN_OPTION.search(before) or _AFTER_A_PAIR.search(before))


def _stands_alone(text: str, value: str, stop: int) -> bool:
    """Whether a value behind a blank is one, and no word of a sentence."""
    if is_prose(value) or value.startswith("-"):
        return False
    if not (value.isalpha() and value.islower()):
        return True
    return bool(_ENDS_A_COMMAND.match(text, stop, stop + 20))
