"""The tests of a chain file: recorded histories, and what must come of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any, NamedTuple, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, ValidationError, model_validator

from elision.config.entry import node_at
from elision.config.problems import Path, Problems, shown, suggestion
from elision.config.values import Entry, Reader, described, is_empty, is_list, is_mapping
from elision.config.wording import complaints
from elision.options import Options
from elision.registry import plugins

KEY = "tests"

Model = TypeVar("Model", bound=BaseModel)


class Expected(Options, BaseModel):
    """What must come of a recorded history."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    kept: list[str] = []
    """Ids of calls whose results are sent as they are."""
    cleared: list[str] = []
    """Ids of calls whose results are placeholders."""
    changed: list[str] = []
    """Ids of calls whose results are sent with other content, placeholders included."""
    dropped: list[str] = []
    """Ids of calls whose steps are left out."""
    contains: list[str] = []
    """Texts that stand in what is sent."""
    lacks: list[str] = []
    """Texts that do not."""
    tokens_below: PositiveInt | None = None
    """More tokens than are sent."""

    @model_validator(mode="after")
    def _says_something(self) -> Expected:
        if not self.model_dump(exclude_defaults=True):
            raise ValueError("a test that expects nothing tests nothing; add 'kept: [call_1]' or 'contains: [text]'")
        return self


class ChainTest(Options, BaseModel):
    """A recorded history, and what must come of it; `elision check` runs it."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, populate_by_name=True)

    history: str
    """File with the recorded history, from this file's folder."""
    from_: str | None = Field(default=None, alias="from")
    """Dialect of the file; found from its content if not given."""
    run: NonNegativeInt | None = None
    """Which run, where the file has several, from 0."""
    model: str | None = None
    """Model to count tokens for."""
    expect: Expected
    """What must come of it."""


def read_tests(entry: Entry, reader: Reader, problems: Problems) -> list[ChainTest]:
    """Return the tests; what is wrong with them is noted."""
    if not isinstance(entry.value, yaml.SequenceNode) or not is_list(entry.value):
        if not is_empty(entry.value):
            told = f"tests is {described(entry.value)}; it must be a list; begin each test with '- history:'"
            problems.add(entry.value, (KEY,), told)
        return []
    found = (_read(item, (KEY, index), reader, problems) for index, item in enumerate(entry.value.value))
    return [test for test in found if test is not None]


def _read(item: yaml.Node, path: Path, reader: Reader, problems: Problems) -> ChainTest | None:
    if not isinstance(item, yaml.MappingNode) or not is_mapping(item):
        problems.add(item, path, f"a test is a mapping, this is {described(item)}; write '- history: …'")
        return None
    entries = reader.entries(item, path)
    data = reader.readable(entries, path)
    if len(data) < len(entries):
        return None
    expected: Expected | None = _ANY
    if isinstance(data.get("expect"), dict):
        expected = _model(
            Expected, data["expect"], "expect", _Place(entries["expect"].value, (*path, "expect"), reader, problems)
        )
        # What is wrong within has been noted; the rest of the test is looked at all the same.
        data["expect"] = expected or _ANY
    test = _model(ChainTest, data, "a test", _Place(item, path, reader, problems))
    if test is None or expected is None:
        return None
    return _located(test, entries, path, problems)


_ANY = Expected(contains=["anything"])


class _Place(NamedTuple):
    """Where something is written, and who takes what is wrong with it."""

    node: yaml.Node
    path: Path
    reader: Reader
    problems: Problems


def _model(cls: type[Model], data: Mapping[str, Any], owner: str, place: _Place) -> Model | None:
    try:
        return cls.model_validate(data)
    except ValidationError as error:
        fields = {info.alias or name: info for name, info in cls.model_fields.items()}
        for found in complaints(error, data, owner, fields):
            node = node_at(place.node, found.at, place.reader, key=found.key)
            place.problems.add(node, (*place.path, *found.at), found.message)
        return None


def _located(test: ChainTest, entries: Mapping[str, Entry], path: Path, problems: Problems) -> ChainTest:
    """Return a test with the path of its history as seen from the working directory; warn if there is no such file."""
    dialects = [dialect.name for dialect in plugins().dialects()]
    if test.from_ is not None and test.from_ not in dialects:
        told = f"there is no dialect {shown(test.from_)}; {suggestion(test.from_, dialects, 'dialects are')}"
        problems.add(entries["from"].value, (*path, "from"), told)
    source = FilePath(problems.source)
    file = source.parent / test.history if source.is_file() else FilePath(test.history)
    if not file.is_file():
        # Where a chain is used, the histories of its tests need not be.
        told = f"there is no file {shown(test.history)}, so this test fails; correct the path, or remove the test"
        problems.add(entries["history"].value, (*path, "history"), told, "warning")
    return test.model_copy(update={"history": str(file)})
