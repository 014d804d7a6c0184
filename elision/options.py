"""Options that take no boolean for a number: ``keep: yes`` is a slip, and would be 1."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import AliasChoices, BaseModel, PydanticUserError, TypeAdapter, ValidationError, model_validator


class Options(BaseModel):
    """Options of which none takes a boolean that does not ask for one."""

    @model_validator(mode="before")
    @classmethod
    def _ask_for_booleans(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or not any(isinstance(value, bool) for value in data.values()):
            return data
        misplaced = misplaced_booleans(cls, data)
        return {name: _Misplaced(value) if name in misplaced else value for name, value in data.items()}


def misplaced_booleans(cls: type[BaseModel], data: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of booleans that stand where a field of a class has no place for one."""
    fields = _fields(cls)
    given = [(name, value) for name, value in data.items() if isinstance(value, bool) and name in fields]
    return frozenset(name for name, value in given if not _fits(fields[name], value=value))


class _Misplaced:
    """Stands for a boolean, so that what a field takes in its place is told as for anything else."""

    def __init__(self, value: bool) -> None:
        self._value = value

    def __repr__(self) -> str:
        return "true" if self._value else "false"


def _fits(adapter: TypeAdapter[Any] | None, *, value: bool) -> bool:
    try:
        return adapter is None or adapter.validate_python(value, strict=True) is not None
    except (ValidationError, ValueError):
        return False


@cache
def _fields(cls: type[BaseModel]) -> Mapping[str, TypeAdapter[Any] | None]:
    """Return what validates each field, by each of its names."""
    found: dict[str, TypeAdapter[Any] | None] = {}
    for field, info in cls.model_fields.items():
        alias = info.validation_alias
        names = [name for name in alias.choices if isinstance(name, str)] if isinstance(alias, AliasChoices) else []
        names += [alias] if isinstance(alias, str) else []
        found |= dict.fromkeys([field, *names], _adapter(info.annotation))
    return found


def _adapter(annotation: Any) -> TypeAdapter[Any] | None:
    """Return what validates a type; nothing where it can only be validated with the rest of its class."""
    try:
        return TypeAdapter(annotation)
    except PydanticUserError:
        return None
