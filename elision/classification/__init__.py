"""The classification table: what kind of thing a tool result is, and what may be done to it.

Classes come from controlled facts only: the tool's name, its arguments, its annotations, the status that the host set.
The text of a result is not even an input.
"""

from elision.classification.cells import Cell, Facts
from elision.classification.classes import OPERATIONS, ClassRow
from elision.classification.loading import lint_table, load_table
from elision.classification.rules import Reason, Rule
from elision.classification.table import Classification, Table, Verdict

__all__ = [
    "OPERATIONS",
    "Cell",
    "ClassRow",
    "Classification",
    "Facts",
    "Reason",
    "Rule",
    "Table",
    "Verdict",
    "lint_table",
    "load_table",
]
