"""JSON that is read and written again without a change to what it says: numbers stay as they are written."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from elision.message import has_surrogates

_LONGEST_READ = 16_000_000
"""Characters up to which a text is read as JSON: some seconds of work."""

_LONGEST_TRIED = 4_000_000
"""Characters up to which it is read only to see whether it is JSON; a longer one is judged by its ends."""


class Number(str):
    """A number as it is written."""

    __slots__ = ()


class NotPlainError(ValueError):
    """A text is no JSON, or would not come back as it was: names that occur twice, NaN."""


def parse_at(text: str, begin: int) -> tuple[Any, int]:
    """Read the JSON that begins at a place, and say where it ends, whatever follows.

    :class:`NotPlainError` is raised where it could not be written again as it was, or takes too long.
    """
    if len(text) > _LONGEST_READ:
        raise NotPlainError("it is too long to be read")
    try:
        return DECODER.raw_decode(text, begin)
    except (ValueError, RecursionError) as error:
        raise NotPlainError(str(error)) from None


def write(value: Any) -> str:
    """Write what :func:`parse_at` has read, without spaces."""
    match value:
        case Number():
            return str(value)
        case str():
            return json.dumps(value, ensure_ascii=has_surrogates(value))
        case dict():
            return f"{{{','.join(f'{write(name)}:{write(inner)}' for name, inner in value.items())}}}"
        case list():
            return f"[{','.join(map(write, value))}]"
        case _:
            return json.dumps(value)


def is_json(text: str) -> bool:
    """Whether a text is JSON, whatever is in it."""
    given = text.strip(" \t\r\n")
    if not given or (given[0], given[-1]) not in _ENDS:
        return bool(given) and given[0] in "-0123456789" and _reads(given)
    return len(given) > _LONGEST_TRIED or _reads(given)


def is_json_line(line: str) -> bool:
    """Whether a line is an object or a list of JSON."""
    return line.lstrip()[:1] in ("{", "[") and is_json(line)


def are_json_lines(text: str) -> bool:
    """Whether a text has lines, and the first and the last of them are JSON."""
    given = text.strip()
    first, last = given.find("\n"), given.rfind("\n")
    return first > 0 and is_json_line(given[:first]) and is_json_line(given[last:])


def _reads(text: str) -> bool:
    try:
        _ANY.decode(text)
    except RecursionError:
        return True
    except ValueError:
        return False
    return True


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NotPlainError("a name occurs twice in one object")
    return found


def _no_number(text: str) -> NoReturn:
    raise NotPlainError(f"{text} is no number in JSON")


_ENDS = {("{", "}"), ("[", "]"), ('"', '"')}
_ANY = json.JSONDecoder(parse_int=str, parse_float=str)
DECODER = json.JSONDecoder(parse_int=Number, parse_float=Number, parse_constant=_no_number, object_pairs_hook=_unique)
