"""The name that is suggested for a misspelt one."""

from __future__ import annotations

import pytest

from elision.errors import closest, nearest

COMMANDS = ["apply", "lint", "list", "new", "schema", "show", "sweagent"]


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("lnit", COMMANDS, "lint"),
        ("litn", COMMANDS, "lint"),
        ("lsit", COMMANDS, "list"),
        ("LIST", COMMANDS, "list"),
        ("mini-swe-agent", ["default", "miniswe", "sweagent", "sweagent_default"], "miniswe"),
        ("last-n-observations", ["last_n_observations", "last_n_polling"], "last_n_observations"),
        ("Last N", ["last_n", "first_n"], "last_n"),
        ("lastn", ["default", "last_n_polling", "two_stage"], "last_n_polling"),
        ("observation", ["elision_processors", "observations"], "observations"),
    ],
)
def test_letters_that_changed_places_case_and_hyphens_do_not_hide_a_name(
    name: str, known: list[str], meant: str
) -> None:
    assert closest(name, known) == meant
    assert nearest(name, reversed(known)) == f"did you mean {meant!r}?"


@pytest.mark.parametrize("name", ["", "zzz", "-", "x" * 1_000_000])
def test_where_nothing_is_near_all_names_are_given(name: str) -> None:
    assert closest(name, COMMANDS) is None
    assert nearest(name, ["b", "a"], what="commands") == "commands: a, b"


def test_of_many_names_the_first_are_listed_with_an_ellipsis_and_their_number() -> None:
    names = [f"{number:04}" for number in range(1234)]
    told = nearest("zzz", names, what="calls")

    assert told == f"calls: {', '.join(names[:30])}, … (30 of 1,234)"
    assert nearest("zzz", names[:20], what="calls") == f"calls: {', '.join(names[:20])}"
