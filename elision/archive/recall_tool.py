"""Recall as a tool for agents: its schema, and what answers a call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from elision.archive.archive import Archive
from elision.archive.recall import recall
from elision.errors import ElisionError, InputError, nearest

NAME = "recall"
_STYLES = ("openai", "responses", "anthropic", "gemini")
_ABOUT = (
    "Bring back the full output of an earlier tool call that was removed from this conversation. "
    "A placeholder names its ref. Ask for lines or a pattern where the output is long."
)
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "ref": {"type": "string", "description": "The ref that the placeholder names, for example 3f9a1c0b77de."},
        "lines": {"type": "string", "description": "Lines to bring back, counted from 1: 10:20, 10:, :20 or 7."},
        "grep": {"type": "string", "description": "A regular expression: only lines that match, with their numbers."},
        "record": {
            "type": "integer",
            "minimum": 1,
            "description": "One record of a list that is shown in brief, exactly as it was; counted from 1.",
        },
        "records": {"type": "string", "description": "A range of such records, counted from 1: 10:20, 10: or :20."},
        "page": {"type": "integer", "minimum": 1, "description": "Which page of a long output; the first if left out."},
    },
    "required": ["ref"],
    "additionalProperties": False,
}


def recall_tool_schema(style: str = "openai") -> dict[str, Any]:
    """Return the tool as requests have it: of ``openai`` (chat), ``responses``, ``anthropic`` or ``gemini``."""
    parameters = json.loads(json.dumps(_PARAMETERS))
    if style == "openai":
        return {"type": "function", "function": {"name": NAME, "description": _ABOUT, "parameters": parameters}}
    if style == "responses":
        return {"type": "function", "name": NAME, "description": _ABOUT, "parameters": parameters}
    if style == "gemini":
        return {"name": NAME, "description": _ABOUT, "parametersJsonSchema": parameters}
    if style == "anthropic":
        return {"name": NAME, "description": _ABOUT, "input_schema": parameters}
    raise InputError(f"recall tool: there is no style {style!r}; {nearest(style, _STYLES, what='styles')}")


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a call; ``failed`` if it only says what is wrong."""

    text: str
    failed: bool = False


def handle_recall(arguments: Mapping[str, Any] | str, archive: Archive | str | None = None) -> str:
    """Answer a model's call of the tool; what is wrong with it is said in the answer, and nothing is raised."""
    return answer(arguments, archive).text


def answer(arguments: Mapping[str, Any] | str, archive: Archive | str | None = None) -> Answer:
    """Answer a call as :func:`handle_recall` does, and say whether it failed."""
    try:
        given = _checked(arguments)
        found = recall(archive=archive, **given)
    except ElisionError as error:
        return Answer(f"recall: {error}", failed=True)
    except Exception as error:  # noqa: BLE001 (a tool of an agent must answer)
        return Answer(f"recall: it failed ({type(error).__name__}: {error})", failed=True)
    more = f"; for more: page={found.page + 1}" if found.page < found.pages else ""
    if not found.lines and found.total_lines:
        return Answer(f"recall: no line of {found.ref} matches; it has {found.total_lines:,} lines")
    return Answer(f"{found.text}\n[recall {found.ref}: {found.note}{more}]" if found.note else found.text)


def _checked(arguments: Mapping[str, Any] | str) -> dict[str, Any]:
    """Return the arguments of a call as :func:`recall` takes them, or say which one is wrong."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError) as error:
            raise InputError(f"the arguments are no JSON ({error}); give an object with 'ref'") from error
    if not isinstance(arguments, Mapping):
        raise InputError("the arguments are no object; give an object with 'ref'")
    known = _PARAMETERS["properties"]
    for name in arguments:
        if name not in known:
            raise InputError(f"there is no argument {name!r}; {nearest(str(name), known, what='arguments')}")
    given = {name: value for name, value in arguments.items() if value not in (None, "")}
    if "ref" not in given:
        raise InputError("'ref' is missing; give the one that the placeholder names")
    return {name: _value(name, value) for name, value in given.items()}


def _value(name: str, value: Any) -> Any:
    """Return an argument as it was meant, or say that it is of another type."""
    if name in ("lines", "records") and isinstance(value, int):
        value = str(value)
    if name == "record" and isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    wanted = int if _PARAMETERS["properties"][name]["type"] == "integer" else str
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise InputError(f"{name!r} must be {'a whole number' if wanted is int else 'a string'}, not {value!r:.80}")
    return value
