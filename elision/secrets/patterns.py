"""The patterns that secrets are found with, and what a text must have so that one of them can match."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

OWN = (
    (
        "Authorization Header",
        re.compile(
            r"(?i)\bauthorization\\{0,7}[\"']?\s{0,9}(?:[:=]|(?<=[\"']),|(?=[\"']))(?:\s|\\\s){0,9}\\{0,7}[\"']?"
            r"(?:bearer|basic|token|apikey)(?:\s|\\\s){1,9}([^\s\"'\\]+)"
        ),
    ),
    (
        "Authorization Header",
        re.compile(r"(?i)\bauthorization\\{0,7}[\"']?:[ \t]{0,4}\\{0,7}[\"']?((?=[a-z_+=~-]{0,60}\d)[\w+=~-]{12,})"),
    ),
    (
        "API Key",
        re.compile(
            r"\b(?=[AGdghlnswxy])(?:sk-(?:ant|proj|svcacct|or)-[\w-]{20,}|github_pat_\w{22,}|AIza[\w-]{35}|hf_[A-Za-z0-9]{30,}"
            r"|npm_[A-Za-z0-9]{36}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|do[opr]_v1_[0-9a-f]{64}"
            r"|whsec_[\w-]{24,}|lin_api_\w{32,}|GOCSPX-[\w-]{24,}|hv[sb]\.[\w-]{24,}|ya29\.[\w-]{23,}"
            r"|AGE-SECRET-KEY-1[A-Z0-9]{40,}|xapp-\d-[A-Za-z0-9-]{24,}|sk_(?:live|test)_[A-Za-z0-9]{20,})"
        ),
    ),
    (
        "Token",
        re.compile(
            r"(?m)^[ \t]*(?:export[ \t]+)?"
            r"[A-Z0-9_]{0,60}?(?:TOKENS?(?:_[A-Z0-9_]{1,60})?|_PAT)=[\"']?([^\s\"']{8,})"
        ),
    ),
    (
        "Basic Auth Credentials",
        re.compile(
            r"://(?:[^\s/?#\"'`<>@:${}]{0,80}:((?!\$)[^\s/?#\"'`<>{}\[\]]{2,200})"
            r"|((?=[A-Za-z_-]{0,60}\d)[\w-]{20,200}))@(?=[\w\[])"
        ),
    ),
    (
        "Private Key",
        re.compile(r"LS0tLS1CRUdJTiB(?:QUklW|SU0EgUFJ|FQyBQUkl|EU0EgUFJ|PUEVOU1NI|FTkNSWV)[\w+/=]*"),
    ),
    ("Signature", re.compile(r"(?i)[?&](?:sig|x-(?:amz|goog)-signature)=([\w%+/=-]{20,})")),
    (
        "Password Hash",
        re.compile(
            r"\$2[abxy]\$\d\d\$[\w./]{53}|\$(?:1|apr1)\$[\w./]{1,8}\$[\w./]{22}"
            r"|\$[56]\$(?:rounds=\d{1,9}\$)?[\w./]{1,16}\$[\w./]{43,86}|\$g?y\$[\w./]{1,8}\$[\w./]{1,86}\$[\w./]{43}"
            r"|\$argon2(?:id?|d)\$v=\d+\$[mtp=\d,]{5,40}\$[\w+/]{11,64}\$[\w+/]{16,128}"
            r"|\$scrypt\$[lnrp=\d,]{5,40}\$[\w+/]{11,64}\$[\w+/]{16,128}"
            r"|pbkdf2_sha(?:1|256|512)\$\d{1,9}\$\w{1,64}\$[\w+/=]{20,128}|\{S?SHA(?:256|512)?\}[\w+/]{27,128}={0,2}"
        ),
    ),
    (
        "Cookie",
        re.compile(
            r"(?m)^(?:[ ]{0,8}\d{1,6}\t)?(?:#HttpOnly_)?(?:localhost|\.?[\w-]{1,63}(?:\.[\w-]{1,63}){1,20})\t"
            r"(?:TRUE|FALSE)\t/[^\t\r\n]{0,500}\t(?:TRUE|FALSE)\t\d{1,12}\t[^\t\r\n]{1,200}\t([^\t\r\n]{4,4096})"
        ),
    ),
)
"""What detect-secrets has no pattern for."""

OWN_PATTERNS = frozenset(pattern for _, pattern in OWN)

_NOT_SECRET = {"Public IP (ipv4)"}
_READ_FOR = "1.5.0"
"""The version of detect-secrets whose patterns ``_NEEDS`` was read off; those of another one are all tried."""

_PASSES = ("key", "pwd", "pw", "pass", "token")


class _Need(NamedTuple):
    """What every match has: one of some texts, and so many word characters or hyphens in a row."""

    texts: tuple[str, ...] = ()
    run: int = 0


_NEEDS: Mapping[str, _Need] = {
    "AWS Access Key": _Need(("A3T", "ABIA", "ACCA", "AKIA", "ASIA", "aws")),
    "API Key": _Need(
        (
            *("sk-", "github_pat_", "AIza", "hf_", "npm_", "shpat_", "shpca_", "shppa_", "shpss_", "dop_v1_"),
            *(
                "doo_v1_",
                "dor_v1_",
                "whsec_",
                "lin_api_",
                "GOCSPX-",
                "hvs.",
                "hvb.",
                "ya29.",
                "AGE-SECRET-KEY-1",
                "xapp-",
            ),
            *("sk_live_", "sk_test_"),
        ),
        23,
    ),
    "Artifactory Credentials": _Need(("AKC", "AP"), 11),
    "Authorization Header": _Need(("authorization",)),
    "Azure Storage Account access key": _Need(("AccountKey=",)),
    "Basic Auth Credentials": _Need(("://",)),
    "Cloudant Credentials": _Need((*_PASSES, "cloudant"), 24),
    "Cookie": _Need(("\tTRUE\t", "\tFALSE\t")),
    "Discord Bot Token": _Need(("M", "N", "O"), 27),
    "GitHub Token": _Need(("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), 40),
    "GitLab Token": _Need(("gl", "GR1348941"), 22),
    "IBM COS HMAC Credentials": _Need(("secret",), 48),
    "IBM Cloud IAM Key": _Need(_PASSES, 44),
    "JSON Web Token": _Need(("eyJ",)),
    "Mailchimp Access Key": _Need(("-us",), 36),
    "NPM tokens": _Need((":_authToken",)),
    "OpenAI Token": _Need(("T3BlbkFJ",), 40),
    "Password Hash": _Need(
        (
            *("$1$", "$2a$", "$2b$", "$2x$", "$2y$", "$5$", "$6$", "$y$", "$gy$", "$apr1$", "$argon2", "$scrypt$"),
            *("pbkdf2_sha", "SHA}", "SHA256}", "SHA512}"),
        )
    ),
    "Private Key": _Need(("PRIVATE KEY", "PuTTY-User-Key-File", "LS0tLS1CRUdJTiB")),
    "PyPI Token": _Need(("pypi-",), 70),
    "SendGrid API Key": _Need(("SG.",), 43),
    "Slack Token": _Need(("xox", "hooks.slack.com")),
    "SoftLayer Credentials": _Need((*_PASSES, "api.softlayer.com"), 64),
    "Square OAuth Secret": _Need(("sq0csp-",)),
    "Stripe Access Key": _Need(("k_live_",), 32),
    "Telegram Bot Token": _Need((":",), 35),
    "Signature": _Need(("sig",)),
    "Token": _Need(("TOKEN", "_PAT")),
    "Twilio API Key": _Need(("AC", "SK"), 34),
}

_RUN = re.compile(r"[\w-]+")
_STEM = re.compile("key|pass|pwd|secret|contrase|token|credential")
_BEFORE_STEM, _AFTER_STEM = 9, 10
"""How far a word of detect-secrets reaches before and behind the stem in it."""


class Window:
    """A part of a text that is scanned, with what is known of it."""

    def __init__(self, text: str, start: int, stop: int) -> None:
        self.text, self.start, self.stop = text, start, stop
        self.cut = text[start:stop]
        self.folded = folded(self.cut)
        self._longest: int | None = None
        self._had: dict[tuple[_Need, bool], bool] = {}

    @property
    def longest(self) -> int:
        """The most word characters or hyphens in a row."""
        if self._longest is None:
            self._longest = max(map(len, _RUN.findall(self.cut)), default=0)
        return self._longest

    def stems(self) -> Iterator[int]:
        """Yield where in the text a stem of names for secrets begins."""
        return (self.start + match.start() for match in _STEM.finditer(self.folded))

    def words(self) -> Iterator[tuple[int, int]]:
        """Yield where words of detect-secrets for secrets begin and end."""
        done, words = 0, _words()
        for stem in _STEM.finditer(self.folded):
            first = max(done, stem.start() - _BEFORE_STEM)
            word = words.search(self.folded, first, stem.start() + _AFTER_STEM) if stem.end() > done else None
            if word:
                done = word.end()
                yield self.start + word.start(), self.start + word.end()

    def matches(self) -> Iterator[tuple[str, re.Match[str], re.Pattern[str]]]:
        """Yield what the patterns find here, with the kind of it."""
        for kind, pattern, need in _patterns():
            if need is None or self._has(need, fold=bool(pattern.flags & re.I)):
                for match in pattern.finditer(self.text, self.start, self.stop):
                    yield kind, match, pattern

    def _has(self, need: _Need, *, fold: bool) -> bool:
        if (need, fold) not in self._had:
            where = self.folded if fold else self.cut
            there = any((each.lower() if fold else each) in where for each in need.texts)
            self._had[need, fold] = there and (not need.run or self.longest >= need.run)
        return self._had[need, fold]


def folded(text: str) -> str:
    """Return a text of the same length in which what matches an ASCII letter in any case is that small letter."""
    small = text.lower()
    if text.isascii():
        return small
    if len(small) != len(text):
        small = text.replace("\u0130", "i").lower()
    return small.replace("\u0131", "i").replace("\u017f", "s")


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str], _Need | None], ...]:
    """Return the patterns of detect-secrets, and those that it lacks, with what they find and need."""
    from importlib.metadata import version

    known = version("detect-secrets") == _READ_FOR
    theirs = ((kind, pattern, _NEEDS.get(kind) if known else None) for kind, pattern in their_patterns())
    return (*theirs, *((kind, pattern, _NEEDS[kind]) for kind, pattern in OWN))


@cache
def their_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the patterns of detect-secrets with what they find."""
    shows = warnings.showwarning
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.plugins.base import RegexBasedDetector

    if warnings.showwarning is not shows:
        logging.captureWarnings(capture=False)  # detect-secrets takes the host's warnings into its log

    found: Mapping[str, Any] = get_mapping_from_secret_type_to_class()
    return tuple(
        (kind, pattern)
        for kind, detector in sorted(found.items())
        if issubclass(detector, RegexBasedDetector) and kind not in _NOT_SECRET
        for pattern in detector.denylist
    )


@cache
def kinds() -> tuple[str, ...]:
    """Return all kinds of what is removed."""
    return tuple(sorted({"credential", "Private Key", *(kind for kind, *_ in _patterns())}))


@cache
def _words() -> re.Pattern[str]:
    from detect_secrets.plugins import keyword

    return re.compile("|".join(keyword.DENYLIST))


@cache
def values_of() -> Callable[[str, bool], set[str]]:
    """Return what finds the values that a line gives to such words; a ``plain`` one needs no quotes around them."""
    from detect_secrets.plugins import keyword

    detector: Any = keyword.KeywordDetector()

    def values_in(line: str, plain: bool) -> set[str]:
        forms = keyword.CONFIG_DENYLIST_REGEX_TO_GROUP if plain else None
        return {value for value in detector.analyze_string(line, forms) if value}

    return values_in
