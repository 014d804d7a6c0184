"""The JSON Schema of chain files, for editors: each form, made from the processors that are loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import AliasChoices, BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from elision.config.inner import TYPE, InnerChain
from elision.config.miniswe import MODEL, NAMED
from elision.config.options import ChainOptions
from elision.config.shape import AGENT, ATTEMPTS, CHAIN
from elision.registry import plugins

DRAFT = "https://json-schema.org/draft/2020-12/schema"
_PLACE = "#/$defs/"


def schema() -> dict[str, Any]:
    """Return the schema of a chain file in each of its forms, with the same order of keys each time."""
    offered = plugins().processors()
    models: list[type[BaseModel]] = [ChainOptions, InnerChain, *(offered[name] for name in sorted(offered))]
    names, made = models_json_schema(
        [(model, "validation") for model in models],
        schema_generator=_WithoutTitles,
        ref_template=_PLACE + "{model}",
    )
    definitions = dict(made["$defs"])
    for model in models:
        _add_aliases(model, definitions[names[model, "validation"]["$ref"].removeprefix(_PLACE)])
    options = definitions.pop(names[ChainOptions, "validation"]["$ref"].removeprefix(_PLACE))
    inner = names[InnerChain, "validation"]
    processors = {name: names[offered[name], "validation"] for name in sorted(offered)}
    definitions["processor"] = _one_of_types(processors)
    definitions["entry"] = _one_of_types(dict(sorted({**processors, TYPE: inner}.items())))
    definitions["chain"] = _list_of("processor")
    definitions["entries"] = _list_of("entry")
    _complete(definitions[inner["$ref"].removeprefix(_PLACE)])
    definitions["own"] = _own(options)
    definitions["sweagent"] = _sweagent()
    definitions["agent"] = _agent()
    definitions["miniswe"] = _miniswe()
    return {
        "$schema": DRAFT,
        "title": "Elision chain",
        "description": "A chain of history processors, or a SWE-agent or mini-swe-agent config that has one.",
        "type": "object",
        "if": {"properties": {MODEL: {"type": "object"}}, "required": [MODEL], "not": {"required": [CHAIN]}},
        "then": {"$ref": f"{_PLACE}miniswe"},
        "else": {
            "if": {"required": [AGENT], "not": {"required": [CHAIN]}},
            "then": {"$ref": f"{_PLACE}sweagent"},
            "else": {"$ref": f"{_PLACE}own"},
        },
        "$defs": {name: _ordered(definitions[name]) for name in sorted(definitions)},
    }


class _WithoutTitles(GenerateJsonSchema):
    """Leaves out the titles that only repeat the names of options."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 (the parent's signature)
        return False


def _add_aliases(model: type[BaseModel], definition: dict[str, Any]) -> None:
    """Say which other names an option has."""
    for name, field in model.model_fields.items():
        if isinstance(field.validation_alias, AliasChoices):
            for alias in field.validation_alias.choices[1:]:
                told = f"The same as {name}."
                definition["properties"][alias] = {**definition["properties"][name], "description": told}


def _list_of(definition: str) -> dict[str, Any]:
    return {
        "description": "History processors, run one after the other; an empty list sends the history as it is.",
        "items": {"$ref": f"{_PLACE}{definition}"},
        "type": "array",
    }


def _complete(inner: dict[str, Any]) -> None:
    """Say what the model of an inner chain leaves to be checked: its processors, and that it has one of two options."""
    options = inner["properties"]
    options["processors"]["anyOf"] = [{"$ref": f"{_PLACE}chain"}, {"type": "null"}]
    inner["oneOf"] = _one_given({"processors": "array", "chain": "string"})


def _one_given(kinds: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"properties": {name: {"type": kind}}, "required": [name]} for name, kind in kinds.items()]


def _one_of_types(references: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"description": "Name of the processor.", "enum": list(references)}},
        "allOf": [
            {"if": {"properties": {"type": {"const": name}}, "required": ["type"]}, "then": dict(reference)}
            for name, reference in references.items()
        ],
    }


def _own(options: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "additionalProperties": False,
        "description": "A chain in Elision's own form.",
        "properties": {CHAIN: {"$ref": f"{_PLACE}chain"}, **options["properties"]},
        "required": [CHAIN],
        "type": "object",
    }


def _sweagent() -> dict[str, Any]:
    attempts = {"items": {"$ref": f"{_PLACE}agent"}, "minItems": 1, "type": "array"}
    retry = {"not": {"required": [CHAIN]}, "properties": {ATTEMPTS: attempts}, "required": [ATTEMPTS]}
    agent = {
        "if": {"anyOf": [{"required": [ATTEMPTS]}, {"properties": {"type": {"const": "retry"}}, "required": ["type"]}]},
        "then": retry,
        "else": {"$ref": f"{_PLACE}agent"},
        "type": "object",
    }
    return {
        "description": "A SWE-agent config; all else in it is SWE-agent's.",
        "properties": {AGENT: agent},
        "required": [AGENT],
        "type": "object",
    }


def _agent() -> dict[str, Any]:
    return {
        "description": "An agent of a SWE-agent config; without a chain it has SWE-agent's default one.",
        "properties": {CHAIN: {"$ref": f"{_PLACE}entries"}},
        "type": "object",
    }


def _miniswe() -> dict[str, Any]:
    chain = {"description": "The chain's path, from the working directory, or its shipped name."}
    model = {
        "oneOf": _one_given({CHAIN: "array", NAMED: "string"}),
        "properties": {CHAIN: {"anyOf": [{"$ref": f"{_PLACE}chain"}, {"type": "null"}]}, NAMED: chain},
        "type": "object",
    }
    return {
        "description": "A mini-swe-agent config; all else in it is mini-swe-agent's.",
        "properties": {MODEL: model},
        "required": [MODEL],
        "type": "object",
    }


def _ordered(value: Any) -> Any:
    """Put keys in the order of their names, and the values of sets too, which have none of their own."""
    if isinstance(value, dict):
        ordered = {key: _ordered(value[key]) for key in sorted(value)}
        if ordered.get("uniqueItems") is True and isinstance(ordered.get("default"), list):
            ordered["default"] = sorted(ordered["default"])
        return ordered
    return [_ordered(item) for item in value] if isinstance(value, list) else value
