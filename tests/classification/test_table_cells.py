"""The strictest cell of all classes applies, and a bounded one only until its bound is met."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elision.classification import OPERATIONS, Cell, ClassRow, Facts, Table, load_table

CELLS = st.one_of(
    st.just(Cell()),
    st.just(Cell(allowed=True)),
    st.builds(
        Cell,
        allowed=st.just(True),
        after_steps=st.integers(0, 5),
        max_tokens=st.none() | st.integers(1, 100),
        when=st.sampled_from([None, "superseded", "resolved"]),
    ),
)
ROWS = st.dictionaries(st.sampled_from("abcdef"), CELLS, min_size=1)
FACTS = st.builds(
    Facts,
    age=st.integers(0, 6),
    superseded=st.booleans(),
    resolved=st.booleans(),
    tokens=st.integers(0, 120),
    newer_tokens=st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 120)),
)


def table_of(cells: Mapping[str, Cell]) -> Table:
    return Table("t", {name: ClassRow(name, cells={"clear": cell}) for name, cell in cells.items()}, ())


@given(ROWS, FACTS)
def test_an_edit_is_allowed_only_if_every_class_allows_it(cells: dict[str, Cell], facts: Facts) -> None:
    table = table_of(cells)
    alone = [table.verdict("clear", [name], facts) for name in cells]

    assert table.verdict("clear", cells, facts).allowed is all(verdict.allowed for verdict in alone)


@given(ROWS, FACTS)
def test_never_beats_bounds_and_is_what_is_reported(cells: dict[str, Cell], facts: Facts) -> None:
    verdict = table_of(cells).verdict("clear", cells, facts)
    forbidden = sorted(name for name, cell in cells.items() if not cell.allowed)

    assert verdict.lasting is bool(forbidden)
    if forbidden:
        assert verdict.reason == f"class {forbidden[0]}: clear never"


@given(ROWS, FACTS, st.sampled_from("abcdef"), CELLS)
def test_one_more_class_never_allows_more(cells: dict[str, Cell], facts: Facts, name: str, cell: Cell) -> None:
    table = table_of({name: cell, **cells})

    assert table.verdict("clear", {*cells, name}, facts).allowed <= table.verdict("clear", cells, facts).allowed


@given(st.sets(st.sampled_from(["static", "dynamic", "receipt", "skill", "error", "input", "unknown"]), min_size=1))
def test_the_built_in_classes_combine_to_the_strictest(classes: set[str]) -> None:
    table = load_table("default")
    resolved = Facts(age=100, superseded=True, resolved=True)
    kept = classes & {"receipt", "skill", "input", "unknown"}

    assert table.verdict("clear", classes, resolved).allowed is not bool(kept)
    assert table.verdict("clear", classes).allowed is not bool(kept | (classes & {"error"}))
    assert table.verdict("redact", classes).allowed


@pytest.mark.parametrize(
    ("operation", "classes", "facts", "reason", "lasting"),
    [
        ("clear", ["static", "receipt"], Facts(), "class receipt: clear never", True),
        ("truncate", ["skill"], Facts(), "class skill: truncate never", True),
        ("clear", ["error"], Facts(), "class error: clear only once the same call has succeeded later", False),
        ("offload", ["unknown"], Facts(), "class unknown: offload never", True),
        ("clear", ["nowhere"], Facts(), "class nowhere: clear never", True),
        (
            "clear",
            ["skill"],
            Facts(tokens=9_000, newer_tokens={"skill": 11_000}),
            "class skill: clear only the older results, where those of the class have more than 20,000 tokens",
            False,
        ),
    ],
)
def test_a_refusal_names_class_and_reason(
    operation: str, classes: list[str], facts: Facts, reason: str, lasting: bool
) -> None:
    verdict = load_table("default").verdict(operation, classes, facts)

    assert (verdict.allowed, verdict.reason, verdict.lasting) == (False, reason, lasting)


def test_a_class_over_its_budget_keeps_the_newest_and_gives_up_the_older() -> None:
    table = load_table("default")
    newest = Facts(tokens=50_000)
    older = Facts(tokens=9_000, newer_tokens={"skill": 11_001})

    assert not table.verdict("clear", ["skill"], newest).allowed
    assert table.verdict("clear", ["skill"], older).allowed


def test_an_age_bound_counts_steps() -> None:
    table = table_of({"a": Cell(allowed=True, after_steps=5)})

    assert (
        table.verdict("clear", ["a"], Facts(age=4)).reason == "class a: clear only after 5 steps; this is 4 steps old"
    )
    assert table.verdict("clear", ["a"], Facts(age=5)).allowed


def test_a_change_of_form_is_no_column_and_is_allowed() -> None:
    table = load_table("default")

    assert table.verdict("convert", ["receipt"]).allowed
    assert "convert" not in OPERATIONS


def test_the_classes_that_ship_have_a_cell_for_every_operation() -> None:
    rows = load_table("classes").classes

    assert list(rows) == ["static", "dynamic", "state", "receipt", "skill", "error", "input", "recalled", "unknown"]
    assert [name for name, row in rows.items() if set(row.cells) != set(OPERATIONS) or not row.description] == []
