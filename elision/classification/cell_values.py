"""Cells as they are written: ``allow``, ``never``, or bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from elision.classification.cells import ALLOW, CONDITIONS, NEVER, Cell
from elision.config.problems import shown, suggestion

_NAMED = {"allow": ALLOW, "never": NEVER}
_BOUNDS = ("after_steps", "max_tokens", "when")
_EXPECTED = "allow, never, or bounds such as {after_steps: 5}, {max_tokens: 20000}, {when: superseded}"


def read_cell(value: Any) -> Cell | str:
    """Return the cell that a value means, or what is wrong with it."""
    if isinstance(value, str) and value in _NAMED:
        return _NAMED[value]
    if not isinstance(value, Mapping) or not value:
        meant = suggestion(str(value), [*_NAMED], "")
        return f"a cell is {shown(value)}; it must be {_EXPECTED}; {meant if meant.endswith('?') else 'correct it'}"
    wrong = next((told for name, bound in value.items() if (told := _wrong(name, bound))), None)
    if wrong is not None:
        return wrong
    bounds = {name: value[name] for name in _BOUNDS if name in value}
    return Cell(allowed=True, **bounds)


def _wrong(name: str, bound: Any) -> str | None:
    if name not in _BOUNDS:
        return f"a cell has no bound {shown(name)}; {suggestion(str(name), [*_BOUNDS], 'bounds')}"
    if name == "when":
        known: list[str] = [*CONDITIONS]
        told = suggestion(str(bound), known, "it must be one of")
        return None if bound in known else f"when is {shown(bound)}; {told}"
    if isinstance(bound, bool) or not isinstance(bound, int) or bound < 1:
        return f"{name} is {shown(bound)}; it must be a whole number, at least 1; correct it"
    return None
