"""Which values of names like ``password`` are no secrets: references, placeholders, types."""

from __future__ import annotations

import re

_STANDING_IN = (
    "required optional true false yes no on off none null nil undefined unset set empty missing invalid unknown "
    "str string text bytes bool boolean int integer number float object any secretstr "
    "file stdin stdout prompt env auto ask redacted hidden masked removed omitted filtered"
)
_IN_SENTENCES = (
    "option options flag flags argument arguments parameter parameters param value values is are was and or to for "
    "in with can may must should will would has have from as at by if when then than the a an via instead here too "
    "not only also that which it its this be but so of into before after name field header variable setting based"
)
_WORDS = frozenset([*_STANDING_IN.split(), "use strict"])
_PROSE = frozenset(_IN_SENTENCES.split())
_FILLED_IN = re.compile(
    r"\$(?:\w+|[({].*|\$.*)|<[^<>]+>.*|\{[^{}]*\}.*|\{\{.*|\{\w+|%[sdr]|%\w+%|%\(\w+\)\w?|`.*|\[[\w .:-]*\]?"
    r"|os\.environ/\w+"
)
"""What shells and templates put another value in for."""
_IN_CODE = re.compile(
    r"&.*|!\w+|\w+(?:\.\w+)*\[.*|[A-Za-z_]\w*(?:\.\w+)*\.\w*(?:pass|pwd|secret|token|key|credential)\w*", re.I
)
"""What stands for another value in code and in YAML."""
_SCHEME = re.compile(r"^(?:bearer|basic|token)\s+", re.I)
_MASK = re.compile(r"(?:[a-z]{2,4}[-_])?[*xX.#•_…?-]+")
_TYPE = re.compile(r"(?:Optional|Union|List|Sequence|Literal|Annotated)\[.*")
_PATH = re.compile(r"(?:~|\.{0,2})/[\w.@-]*(?:/[\w.@-]*)*")
_MIXED = re.compile(r"(?=[^/]*[0-9])(?=[^/]*[A-Z])[^/]{16}")
_YOURS = re.compile(r"(?:your|example|placeholder|insert)(?:[-_ ].*|$)", re.I)
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)*")
_JOINED = re.compile(r"\s*\+\s*[\w.()\[\]]+\s*\+\s*")
"""What stands between two pieces of a text that code joins."""
_VARIABLE = re.compile(r"[A-Z]+(?:_[A-Z]+)+")
_NAME = re.compile(r"[A-Za-z_]+(?:\.[A-Za-z_]+)*")
_STEM = re.compile(r"key|token|secret|pass|pwd|credential", re.I)
_PASSWORD_STEM = re.compile(r"pass|pwd|pw\b", re.I)
_OF_SELF = re.compile(r"\s*(?:self|this|cls)\.")
_OF_KEYS = re.compile(r"(?=\w*(?:key|token))[a-z]+(?:_[a-z]+)+|(?=\w*(?:Key|Token))[A-Z][A-Za-z]{4,40}")
_KIND_OF_DATA = re.compile(
    r"(?:u?int|float|bytes|str|string|char|varchar|sha|utf|base|md|vec|oauth|ed|hs|rs|es|v)[-_]?\d+\W*"
    r"|[\w./-]+\.(?:pem|key|crt|json|ya?ml|env|toml|txt|p12|py|js|ts|sh)",
    re.I,
)
_FILE = re.compile(r"[\w./-]+\.(?:pem|key|crt|json|ya?ml|env)")
_MADE = re.compile(r"(?=[^\d]*\d)(?=[^A-Za-z]*[A-Za-z])[^\s()]{6,}")
_METAVAR = re.compile(r"[A-Z][A-Z_-]*")


def is_plain(value: str, *, quoted: bool = False) -> bool:
    """Whether a value is plainly no secret, but a reference to one, a placeholder, a type or a word for it."""
    bare = _SCHEME.sub("", value.strip().rstrip(",;"))
    forms = (_FILLED_IN, _MASK, _YOURS, _JOINED) if quoted else (_FILLED_IN, _MASK, _YOURS, _JOINED, _IN_CODE, _TYPE)
    return not bare or bare.lower() in _WORDS or any(form.fullmatch(bare) for form in forms)


def is_path(value: str) -> bool:
    """Whether a value is the path of a file."""
    return bool(_PATH.fullmatch(value)) and not any(_MIXED.match(each) for each in value.split("/"))


def is_number(value: str) -> bool:
    """Whether a value is a number."""
    return bool(_NUMBER.fullmatch(value))


def is_metavar(value: str) -> bool:
    """Whether a value stands for one in a usage line: ``--token TOKEN``."""
    return bool(_METAVAR.fullmatch(value.rstrip("].,")))


def is_prose(value: str) -> bool:
    """Whether a value is a word of a sentence."""
    return value.lower().rstrip(".,:") in _PROSE


def is_name(value: str, line: str, *, quoted: bool) -> bool:
    """Whether a value is the name of a variable or of a type, as code gives one: ``api_key=api_key,``."""
    if quoted:
        return bool(_OF_KEYS.fullmatch(value) or (_VARIABLE.fullmatch(value) and _STEM.search(value))) or bool(
            value.count(".") > 1 and _NAME.fullmatch(value) and _STEM.search(value)
        )
    bare = value.rstrip(",;")
    if _FILE.fullmatch(bare):
        return True
    if not _NAME.fullmatch(bare):
        return is_number(bare) and not _PASSWORD_STEM.search(line)
    if "_" in bare.strip("_") and _STEM.search(bare):
        return True
    return line.rstrip().endswith(",") or bool(_OF_SELF.match(line))


def is_made(value: str) -> bool:
    """Whether a value looks as if it was made for a secret: in one piece, with letters and digits."""
    return bool(_MADE.fullmatch(value)) and not _KIND_OF_DATA.fullmatch(value)
