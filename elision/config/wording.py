"""What is wrong with a processor's options, in plain words instead of the validator's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import AliasChoices, BaseModel, ValidationError
from pydantic.fields import FieldInfo

from elision.config.problems import Path, path_text, shown, suggestion

_ALLOWED = {
    "a whole number": ("int_type", "int_parsing", "int_from_float", "int_parsing_size"),
    "a number": ("float_type", "float_parsing", "decimal_type", "decimal_parsing"),
    "a finite number": ("finite_number",),
    "true or false": ("bool_type", "bool_parsing"),
    "text": ("string_type", "string_sub_type", "string_unicode"),
    "a list": ("list_type", "tuple_type", "set_type", "frozen_set_type"),
    "a mapping": ("dict_type", "mapping_type", "model_type", "dataclass_type", "model_attributes_type"),
    "greater than {gt}": ("greater_than",),
    "at least {ge}": ("greater_than_equal",),
    "less than {lt}": ("less_than",),
    "at most {le}": ("less_than_equal",),
    "a multiple of {multiple_of}": ("multiple_of",),
    "{expected}": ("literal_error", "enum"),
    "text of at least {min_length} characters": ("string_too_short",),
    "text of at most {max_length} characters": ("string_too_long",),
    "at least {min_length} long": ("too_short",),
    "at most {max_length} long": ("too_long",),
    "text that matches {pattern}": ("string_pattern_mismatch",),
}
_SHORT = re.compile(r"[A-Za-z_][\w-]{0,60}")
"""A text that YAML has in a list without quotes."""

_WORDS = {kind: words for words, kinds in _ALLOWED.items() for kind in kinds}


@dataclass(frozen=True, slots=True)
class Complaint:
    """One mistake: where it is within the options, and whether at the key there, or for want of one."""

    at: Path
    message: str
    key: bool = False
    missing: str = ""


def complaints(
    error: ValidationError, data: Mapping[str, Any], owner: str, fields: Mapping[str, FieldInfo]
) -> Iterator[Complaint]:
    """Say what is wrong with the options ``data`` of ``owner``, which has ``fields``."""
    wrong: dict[Path, list[Any]] = {}
    for detail in error.errors(include_url=False):
        at = _present(detail["loc"], data)
        if detail["type"] == "extra_forbidden":
            yield _unknown(at, owner, fields)
        elif detail["type"] == "missing":
            yield _missing(at, str(detail["loc"][-1]), owner)
        else:
            wrong.setdefault(at, []).append(detail)
    for at, details in wrong.items():
        yield Complaint(at, _wrong(at, details, fields))


def _present(location: Path, data: Any) -> Path:
    """Leave out the steps that are not in the data, which name branches of a union."""
    found: list[str | int] = []
    here = data
    for step in location:
        in_list = isinstance(here, list) and isinstance(step, int) and step < len(here)
        if in_list or (isinstance(here, Mapping) and step in here):
            found.append(step)
            here = here[step]
    return tuple(found)


def _unknown(at: Path, owner: str, fields: Mapping[str, FieldInfo]) -> Complaint:
    name = str(at[-1])
    if len(at) == 1:
        for option, field in fields.items():
            if isinstance(field.validation_alias, AliasChoices) and name in field.validation_alias.choices:
                return Complaint(at, f"{name} is another name of {option}, which stands here too; remove one", key=True)
        known = [option for option in fields if option != "type"]
        told = suggestion(name, known, "its options are") if known else "it has no options; remove it"
        return Complaint(at, f"{owner} has no option {shown(name)}; {told}", key=True)
    within = list(dict.fromkeys(_options_within(fields[str(at[0])].annotation))) if at[0] in fields else []
    told = suggestion(name, within, "its options are") if within else "correct or remove it"
    return Complaint(at, f"'{path_text(at[:-1])}' has no option {shown(name)}; {told}", key=True)


def _options_within(annotation: Any) -> Iterator[str]:
    """Yield the options of the models that an option's type is made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield from annotation.model_fields
    for inner in get_args(annotation):
        yield from _options_within(inner)


def _missing(at: Path, name: str, owner: str) -> Complaint:
    needing = f"{owner} needs the option" if not at else f"'{path_text(at)}' needs"
    return Complaint(at, f"{needing} '{name}'; add '{name}: …'", missing=name)


def _wrong(at: Path, details: list[Any], fields: Mapping[str, FieldInfo]) -> str:
    said = [
        str(detail["ctx"]["error"]) for detail in details if "error" in detail.get("ctx", {}) and _is_custom(detail)
    ]
    if said:
        return said[0] if ";" in said[0] else f"{said[0]}; correct it"
    allowed = list(dict.fromkeys(_allowed(detail) for detail in details))
    name = path_text(at) or "this"
    given = details[0]["input"]
    advice = _advice(fields.get(str(at[0])) if len(at) == 1 else None)
    if isinstance(given, str) and "a list" in allowed:
        advice = f"write {at[-1] if at else 'it'}: [{given}]" if _SHORT.fullmatch(given) else f"write [{shown(given)}]"
    return f"{name} is {shown(given)}; it must be {' or '.join(allowed)}; {advice}"


def _is_custom(detail: Any) -> bool:
    return detail["type"] in {"value_error", "assertion_error"}


def _allowed(detail: Any) -> str:
    words = _WORDS.get(detail["type"])
    return words.format(**detail.get("ctx", {})) if words else f"valid ({detail['msg']})"


def _advice(option: FieldInfo | None) -> str:
    if option is None or option.is_required():
        return "correct it"
    default = option.default
    if isinstance(default, str | int | float):
        return f"correct it, or leave it out for {shown(default)}"
    return "correct it or leave it out"
