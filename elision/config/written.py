"""A processor as a chain file has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from elision.config.entry import option_name
from elision.processor import Processor


def as_written(processor: Processor) -> dict[str, Any]:
    """Return a processor as a chain file has it: every option, but for defaults that its other options rule out."""
    cls = type(processor)
    dumped = processor.model_dump()
    every = {option_name(name, field): plain(dumped[name]) for name, field in cls.model_fields.items()}
    names = {option_name(name, cls.model_fields[name]) for name in processor.model_fields_set | {"type"}}
    written = {name: value for name, value in every.items() if name in names}
    for name, value in every.items():
        if name not in written and _gives(cls, {**written, name: value}, dumped):
            written[name] = value
    return {name: written[name] for name in ("type", *every) if name in written}


def _gives(cls: type[Processor], options: Mapping[str, Any], dumped: Mapping[str, Any]) -> bool:
    """Whether options are those of a processor, and none that exclude each other."""
    try:
        return bool(cls.model_validate(options).model_dump() == dumped)
    except ValueError:
        return False


def plain(value: Any) -> Any:
    """Return plain data in a fixed order, fit for YAML and JSON."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value), key=str)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
