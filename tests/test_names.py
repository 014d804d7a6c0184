"""A processor is found everywhere under one name, and is documented in full where it is found."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from doc_blocks import ROOT, blocks, make_importable
from pydantic.fields import FieldInfo

import elision
from elision.registry import plugins

FILES = sorted(path.stem for path in (ROOT / "processors").glob("*.py") if path.stem != "__init__")
REFERENCE = (ROOT / "docs" / "processors.md").read_text(encoding="utf-8")


def built_in(name: str) -> type[elision.Processor]:
    return plugins().processors()[name]


def options(name: str) -> dict[str, FieldInfo]:
    fields = built_in(name).model_fields
    return {field.alias or option: field for option, field in fields.items() if option != "type"}


def section(name: str) -> str:
    """The part of the reference that is about one processor."""
    match = re.search(rf"^## `{name}`\n(.*?)(?=^## |\Z)", REFERENCE, re.M | re.S)
    return match[1] if match else ""


def test_each_file_in_processors_is_a_registered_type_and_the_other_way_round() -> None:
    registered = [
        name for name, cls in plugins().processors().items() if cls.__module__.startswith("elision.processors.")
    ]

    assert sorted(registered) == FILES


@pytest.mark.parametrize("name", FILES)
def test_class_file_and_type_have_the_same_name(name: str) -> None:
    found = built_in(name)

    assert found.__name__ == "".join(word.capitalize() for word in name.split("_"))
    assert found.__module__ == f"elision.processors.{name}"


@pytest.mark.parametrize("name", FILES)
def test_each_processor_has_its_own_test_file(name: str) -> None:
    assert (ROOT / "tests" / "processors" / f"test_{name}.py").is_file()


def test_each_test_file_of_a_processor_has_its_processor() -> None:
    tested = {path.stem.removeprefix("test_") for path in (ROOT / "tests" / "processors").glob("test_*.py")}

    assert tested - set(FILES) == set()


@pytest.mark.parametrize("name", FILES)
def test_the_docstring_says_what_it_does_costs_takes_and_leaves_alone(name: str) -> None:
    text = inspect.getdoc(built_in(name)) or ""
    first = text.split("\n\n")[0]

    assert re.fullmatch(r"[A-Z][^\n].*\.", first, re.S), first
    assert [word for word in ("Cost:", "Never touches", "Source") if word not in text] == []


@pytest.mark.parametrize("name", FILES)
def test_the_example_in_the_docstring_loads(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = blocks(inspect.getdoc(built_in(name)) or "", "yaml")
    make_importable(example.text, tmp_path, monkeypatch)
    chain = elision.loads(example.text)

    assert name in [processor.type_name for processor in chain.processors]


@pytest.mark.parametrize("name", FILES)
def test_each_option_is_described(name: str) -> None:
    assert [option for option, field in options(name).items() if not field.description] == []


@pytest.mark.parametrize("name", FILES)
def test_each_processor_declares_its_cost(name: str) -> None:
    assert vars(built_in(name)).get("cost")


@pytest.mark.parametrize("name", FILES)
def test_the_reference_has_a_section_with_an_example_and_the_cost(name: str) -> None:
    examples = [block.text for block in blocks(section(name), "yaml")]

    assert any(f"type: {name}" in example for example in examples)
    assert "**Cost:**" in section(name)


@pytest.mark.parametrize("name", FILES)
def test_the_reference_lists_every_option_with_its_default(name: str) -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+?) \|", section(name), re.M))

    assert {option: told(cell) for option, cell in rows.items()} == {
        option: default(field) for option, field in options(name).items()
    }


def told(cell: str) -> Any:
    return cell if cell == "required" else yaml.safe_load(cell.strip("`"))


def default(field: FieldInfo) -> Any:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if isinstance(value, frozenset | set):
        return sorted(value)
    return list(value) if isinstance(value, tuple) else value
