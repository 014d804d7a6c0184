from __future__ import annotations

import pytest

from elision import compile_regex, handle_recall, open_archive
from elision.archive import Entry
from elision.classification import load_table
from elision.errors import ConfigError

BOMBS = (
    "a{1000000000}",
    "((a{1000}){1000}){1000}",
    "a{20000000}",
    "(?R)",
    "(a{100}){400}",
    "[ab]{1000000}x",
    "(?:a|b){,99999999}",
)
HARMLESS = ("ERROR", r"\d{4}-\d{2}-\d{2}", "[0-9a-f]{64}", r"(\w+\s){3,8}end", r"\{100000\}", "[{9999999}]", "a{2,}")


@pytest.mark.parametrize("pattern", BOMBS)
def test_a_pattern_that_would_take_too_much_memory_is_refused_before_it_is_compiled(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"; (use|write) "):
        compile_regex(pattern)


@pytest.mark.parametrize("pattern", HARMLESS)
def test_what_people_write_is_compiled(pattern: str) -> None:
    assert compile_regex(pattern).pattern == pattern


@pytest.mark.parametrize("pattern", BOMBS)
def test_the_models_grep_is_answered_within_bounds(pattern: str) -> None:
    with open_archive("memory:", environ={}) as archive:
        (ref,) = archive.put_all([Entry(content="a line\n" * 10)])

        assert handle_recall({"ref": str(ref), "grep": pattern}, archive).startswith("recall: grep: ")


@pytest.mark.parametrize("pattern", BOMBS)
def test_a_table_with_such_a_pattern_is_an_error_at_its_place(pattern: str) -> None:
    rule = {"tool": "x", "arguments": {"q": {"regex": pattern}}, "class": "static"}
    with pytest.raises(ConfigError, match="regex"):
        load_table({"extends": "classes", "rules": [rule]})
