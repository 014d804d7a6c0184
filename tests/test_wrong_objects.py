"""What is given in Python in place of a chain, a processor or an option is refused in plain words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import elision

Truncate = elision.processor_types()["truncate"]


@pytest.mark.parametrize("given", [[{"type": "truncate"}], {"history_processors": []}, None, b"default", Truncate()])
def test_what_is_neither_name_nor_path_is_not_loaded(given: Any) -> None:
    with pytest.raises(elision.ConfigError, match="a chain is loaded by its name or path, this is of type"):
        elision.load(given)


@pytest.mark.parametrize("given", [None, {"history_processors": []}, Path("chain.yaml")])
def test_what_is_no_text_is_not_read_as_yaml(given: Any) -> None:
    with pytest.raises(elision.ConfigError, match="a chain is YAML text, this is of type"):
        elision.loads(given)


def test_each_object_in_a_chain_that_is_no_processor_is_named_with_its_place() -> None:
    wrong: list[Any] = [{"type": "truncate"}, Truncate(), "truncate", Truncate]
    with pytest.raises(elision.ConfigError) as caught:
        elision.Chain(wrong, archive="memory:")
    lines = str(caught.value).splitlines()

    assert [line.partition(", no processor; ")[0] for line in lines] == [
        "chain: processors[0]: this is of type dict",
        "chain: processors[2]: this is of type str",
        "chain: processors[3]: this is the class Truncate",
    ]
    assert all("elision.processor_types()['truncate']()" in line for line in lines)


@pytest.mark.parametrize("given", ["default", Truncate(), Truncate, None, {"type": "truncate"}])
def test_a_chain_takes_a_list_of_processors(given: Any) -> None:
    with pytest.raises(elision.ConfigError, match=r"chain: processors: this is .*; give a list of processors"):
        elision.Chain(given)


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ({"on_error": "rase"}, "on_error is 'rase'; it must be 'skip' or 'raise'"),
        ({"owner": "me"}, "owner is 'me'; it must be 'elision' or 'provider'"),
        ({"compat": "swe"}, "compat is 'swe'; it must be 'sweagent'"),
        ({"on_bound_thinking": "no"}, "on_bound_thinking is 'no'; it must be"),
        ({"model": 5}, "model is 5; it must be text"),
        ({"dialect": ["openai"]}, "dialect is a list; it must be text"),
        ({"classification": 5}, "classification is 5; it must be text or a mapping"),
        ({"profile": 5}, "profile is 5; it must be text or a mapping"),
        ({"archive": 5}, "archive is 5; it must be text"),
        ({"stored_policy": "some"}, "stored_policy is 'some'; it must be 'none', 'secrets' or 'full'"),
    ],
)
def test_an_option_of_a_chain_is_checked_in_python_as_in_a_file(option: Any, told: str) -> None:
    with pytest.raises(elision.ConfigError) as caught:
        elision.Chain([Truncate()], **option)

    assert f"chain: {next(iter(option))}: {told}" in str(caught.value)


def test_what_fails_when_a_processor_is_prepared_is_one_plain_line() -> None:
    class Picky(Truncate):  # type: ignore[misc, valid-type]
        def prepare(self) -> None:
            elision.check_template("compct")

    with pytest.raises(elision.ConfigError) as caught:
        elision.Chain([Picky()], archive="memory:")

    assert str(caught.value).startswith("chain: processors[0]: there is no placeholder template 'compct'; did you mean")
    assert "ConfigError" not in str(caught.value)


@pytest.mark.parametrize("given", ["default", None, Truncate()])
def test_what_is_no_chain_is_neither_checked_nor_traced(given: Any) -> None:
    with pytest.raises(elision.InputError, match=r"check: this is of type .*, no chain; give one, such as"):
        elision.check(given)
    with pytest.raises(elision.InputError, match=r"trace: this is of type .*, no chain; give one, such as"):
        elision.trace(given, [{"role": "user", "content": "Go."}], "Go")


@pytest.mark.parametrize("given", [None, 5, ["3f9a1c0b77de"]])
def test_what_is_no_ref_is_not_looked_for(given: Any) -> None:
    with pytest.raises(elision.ArchiveError, match="ref: this is of type"):
        elision.recall(given)


def test_a_chain_in_place_of_a_session_is_refused_in_plain_words() -> None:
    chain: Any = elision.Chain([Truncate()], archive="memory:")
    with pytest.raises(elision.InputError, match="session"):
        elision.completion("gpt-4.1", [{"role": "user", "content": "Go."}], session=chain)


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ({"tests": 5}, "tests: tests is 5; it must be a list"),
        ({"tests": None}, "tests: tests is empty; it must be a list"),
        ({"tests": "run.json"}, "tests: tests is 'run.json'; it must be a list"),
        ({"tests": [7]}, "tests[0]: tests[0] is 7; it must be a mapping"),
        ({"tests": [{"history": "a.json"}]}, "tests[0]: 'tests[0]' needs 'expect'"),
        ({"mode": {"shadow": True}}, "mode: mode is a mapping; it must be 'live' or 'shadow'"),
        ({"archive": {"folder": "x"}}, "archive: archive is a mapping; it must be text"),
        ({"model": {"name": "x"}}, "model: model is a mapping; it must be text"),
        ({"schedule": {"poling": 5}}, "schedule.poling: 'schedule' has no option 'poling'; did you mean 'polling'?"),
    ],
)
def test_an_option_of_the_wrong_kind_is_told_with_what_is_allowed(option: Any, told: str) -> None:
    with pytest.raises(elision.ConfigError) as caught:
        elision.Chain([Truncate()], **option)

    assert str(caught.value).startswith(f"chain: {told}")


def test_tests_of_a_chain_can_be_given_in_python_as_in_a_file() -> None:
    chain = elision.Chain([Truncate()], archive="memory:", tests=[{"history": "a.json", "expect": {"kept": ["c1"]}}])

    assert [each.expect.kept for each in chain.tests] == [["c1"]]


@pytest.mark.parametrize("given", ["x", True, 1.5, [0], {"attempt": 1}])
def test_an_attempt_that_is_no_number_is_told_with_what_is_allowed(given: Any) -> None:
    with pytest.raises(elision.ConfigError, match=r"attempt is .*; it must be a whole number from 0 up, or None"):
        elision.load("default", attempt=given)


@pytest.mark.parametrize("given", [5, True, ["x"], {}])
def test_an_archive_that_is_no_text_and_no_path_makes_no_folder(given: Any) -> None:
    for opening in (lambda: elision.load("default", archive=given), lambda: elision.open_archive(given)):
        with pytest.raises(elision.ConfigError, match="an archive is named by text or a path, this is of type"):
            opening()
