"""Rows of the table: classes, with a cell for each operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import get_args

from elision.classification.cells import NEVER, Cell
from elision.edits import Operation

OPERATIONS: tuple[str, ...] = tuple(name for name in get_args(Operation) if name not in {"convert", "none"})
"""The columns of the table; ``clear_inputs`` takes long values out of the arguments of the call, the others are about
its result."""

REMOVING = tuple(operation for operation in OPERATIONS if operation not in {"redact", "clear_inputs"})
"""Operations after which the text of a result, or a part of it, is gone from the view."""

QUERIES = frozenset({"static", "dynamic"})
"""Classes of what changed nothing."""

UNKNOWN = "unknown"
ERROR = "error"


@dataclass(frozen=True, slots=True)
class ClassRow:
    """One class; an operation without a cell is never allowed."""

    name: str
    description: str = ""
    cells: Mapping[str, Cell] = field(default_factory=dict)

    def cell(self, operation: str) -> Cell:
        """Return the cell of an operation."""
        return self.cells.get(operation, NEVER)
