"""What a plugin's hooks give is checked by kind, and functions that look like hooks and are none are named."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import elision
from elision.registry import Plugins, load_plugins

Load = Callable[[str], Plugins]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """Load a plugin ``acme`` from its source."""
    monkeypatch.syspath_prepend(tmp_path)

    def loaded(source: str) -> Plugins:
        (tmp_path / "module_of_acme_answers.py").write_text(source, encoding="utf-8")
        return load_plugins([EntryPoint("acme", "module_of_acme_answers", "elision")], {})

    yield loaded
    sys.modules.pop("module_of_acme_answers", None)


@pytest.mark.parametrize(
    ("hook", "answer", "told"),
    [
        ("token_counters", "[len]", "gives a list, and has to give a mapping of a name to a function"),
        ("token_counters", "{'acme-*': 4}", "gives 'acme-*': 4, and has to give a mapping of a name to a function"),
        ("token_counters", "{'acme-[': len}", "offers 'acme-[', which is no glob: it is empty, or has a bracket"),
        ("token_counters", "{'acme-{a,b': len}", "offers 'acme-{a,b', which is no glob: it is empty, or has a bracket"),
        ("token_counters", "{'': len}", "offers '', which is no glob: it is empty, or has a bracket"),
        ("templates", "['x']", "gives a list, and has to give a mapping of a name to text"),
        ("tables", "{'x': b'rules'}", "gives 'x': b'rules', and has to give a mapping of a name to text"),
        ("profiles", "'models'", "gives a str, and has to give a mapping of a name to text"),
        ("hosts", "{1: 'x'}", "gives 1: 'x', and has to give a mapping of a name to text"),
        ("archives", "{'x': 'y'}", "gives 'x': 'y', and has to give a mapping of a name to a function"),
        ("processors", "elision.Processor", "gives the class Processor, and has to give a list"),
        ("dialects", "{'x': 'y'}", "gives a dict, and has to give a list"),
    ],
)
def test_an_answer_of_the_wrong_kind_is_an_error_that_names_the_plugin(
    load: Load, hook: str, answer: str, told: str
) -> None:
    found = load(f"import elision\n\n@elision.hookimpl\ndef elision_{hook}():\n    return {answer}\n")

    with pytest.raises(elision.PluginError) as caught:
        getattr(found, hook)()

    assert str(caught.value).startswith(f"plugin 'acme': elision_{hook} {told}")


def test_brackets_that_are_closed_are_a_glob(load: Load) -> None:
    found = load(
        "import elision\n\n@elision.hookimpl\ndef elision_token_counters():\n"
        "    return {'Acme-[12]': len, 'acme-{a,b}*': len, 'acme-[!]x]': len}\n"
    )

    assert list(found.token_counters()) == ["acme-[12]", "acme-{a,b}*", "acme-[!]x]"]


@pytest.mark.parametrize(
    ("name", "meant"), [("elision_processors", ""), ("elision_procesors", r" \(did you mean 'elision_processors'\?\)")]
)
def test_a_function_that_looks_like_a_hook_and_has_no_mark_is_warned_of(load: Load, name: str, meant: str) -> None:
    with pytest.warns(elision.ElisionWarning, match=f"plugin 'acme': {name}{meant} has no mark, so it is never called"):
        load(f"def {name}():\n    return []\n")


def test_what_is_marked_imported_or_no_function_is_not_warned_of(load: Load) -> None:
    source = """
from elision.hookspecs import elision_tables
from elision import hookimpl

elision_name = "acme"

class elision_like: ...

@hookimpl
def elision_processors():
    return []
"""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = load(source)

    assert dict(found.processors()) == {}
