"""Secrets in the options of programs whose option says nothing: ``curl -u``, ``mysql -p`` and the like."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import NamedTuple

from elision.secrets.in_data import Given
from elision.secrets.patterns import Window
from elision.secrets.plain_values import is_metavar, is_plain

_VALUE = (
    r"(?:(?P<quote>\\?[\"'])(?![ \t:,)\]}])(?P<quoted>(?:(?!(?P=quote))[^\n]){1,200})(?P=quote)"
    r"|(?P<value>(?:[^\s\"'`;|&<>()\\]|\\[^\s\"'nrt\\]){1,200}))"
)


class _Option(NamedTuple):
    """How a program takes a secret; with ``behind`` it is what stands behind that character."""

    pattern: re.Pattern[str]
    behind: str = ""


def _option(form: str, behind: str = "") -> _Option:
    return _Option(re.compile(rf"(?<=\s){form}{_VALUE}"), behind)


_USER = r"(?:-[sSfkLvigIjJlnNpqROa0-46#]*[uUa][ \t]{0,4}|--(?:(?:proxy-)?user|auth)[= \t]{1,4})"
_LOGIN = "(?:docker|podman|nerdctl|skopeo|buildah|oras|crane|helm registry|az) login"
_OPTIONS: Mapping[str, _Option | None] = {
    "curl|https?": _option(_USER, ":"),
    r"mysql\w{0,10}|mariadb[\w-]{0,10}": _option("-p"),
    rf"sshpass|mongo\w{{0,10}}|cqlsh|rabbitmqadmin|{_LOGIN}": _option("-p[= \t]{0,4}"),
    "redis-cli": _option("-a[ \t]{0,4}"),
    "sqlcmd|bcp|zip|unzip|ipmitool|mosquitto_(?:pub|sub)": _option("-P[ \t]{0,4}"),
    "ldap(?:search|add|modify|delete|whoami|passwd)": _option("-w[ \t]{0,4}"),
    "openssl": _option("pass:"),
    "smbclient|rpcclient": _option("-U[ \t]{0,4}", "%"),
    # What follows these is not for the program before.
    "docker|podman|kubectl|ssh|id|chown|install": None,
}
_PROGRAM = re.compile(
    r"(?<![\w.-])(?:" + "|".join(f"(?P<f{n}>{names})" for n, names in enumerate(_OPTIONS)) + r")(?:\.exe)?(?=\s)"
)
_BY_GROUP = {f"f{number}": option for number, option in enumerate(_OPTIONS.values())}
_END = re.compile(r"(?<!\\)(?:\n|\\n)|&&|\|\|?\s")
_MENTIONS = (
    *("curl", "http ", "https ", "mysql", "mariadb", "sshpass", "mongo", "cqlsh", "rabbitmqadmin", " login"),
    *("redis-cli", "sqlcmd", "bcp", "zip", "ipmitool", "mosquitto", "ldap", "openssl", "smbclient", "rpcclient"),
    *("sudo", "chpasswd", "--password-stdin"),
)
_FED = re.compile(
    rf"\b(?:echo|printf)[ \t]{{1,4}}(?:-\w{{1,3}}[ \t]{{1,4}})?{_VALUE}[ \t]{{0,4}}\|[ \t]{{0,4}}"
    r"(?:sudo[ \t][^\n|;&]{0,40}?-\w{0,3}S\b|(?:sudo[ \t]{1,4})?chpasswd\b|[^\n|;&]{1,120}?--password-stdin\b)"
)


def command_secrets(window: Window) -> Iterator[Given]:
    """Yield what stands in such options."""
    if not any(each in window.cut for each in _MENTIONS):
        return
    text, start, stop = window.text, window.start, window.stop
    for match in _FED.finditer(text, start, stop):
        yield from _secret(match)
    programs = list(_PROGRAM.finditer(text, start, stop))
    for program, following in zip_longest(programs, programs[1:]):
        option = _BY_GROUP[program.lastgroup or ""]
        if option is None:
            continue
        after = following.start() if following else stop
        end = _END.search(text, program.end(), after)
        for match in option.pattern.finditer(text, program.end(), end.start() if end else after):
            yield from _secret(match, option.behind)


def _secret(match: re.Match[str], behind: str = "") -> Iterator[Given]:
    group = "quoted" if match["quote"] else "value"
    start, stop = match.span(group)
    if behind:
        name, found, _ = match[group].partition(behind)
        start = start + len(name) + 1 if found else stop
    value = match.string[start:stop]
    if len(value) > 1 and not is_plain(value, quoted=group == "quoted") and not is_metavar(value):
        yield Given(start, stop)
