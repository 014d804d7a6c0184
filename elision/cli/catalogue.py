"""What the installed plugins offer, as plain data, by kind and name."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.abc import InspectLoader
from importlib.util import find_spec
from inspect import cleandoc
from math import isfinite
from typing import TYPE_CHECKING, Any

from elision.classification.classes import OPERATIONS
from elision.cli.offers import offers
from elision.config.entry import option_name
from elision.config.written import as_written, plain
from elision.errors import PluginError
from elision.registry import plugins

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from elision.processor import Processor


def names() -> dict[str, list[str]]:
    """Return the names of everything, by kind."""
    from elision.config import shipped_chains

    found = plugins()
    return {
        "processors": sorted(found.processors()),
        "dialects": [dialect.name for dialect in found.dialects()],
        "chains": sorted(shipped_chains()),
        "tables": sorted(found.tables()),
        "profiles": sorted(found.profiles()),
        "hosts": sorted(found.hosts()),
        "templates": [*sorted(found.templates()), *(_SUMMARIES + name for name in sorted(found.summary_templates()))],
        "plugins": [str(name) for name, plugin in found.manager.list_name_plugin() if plugin is not None],
    }


def rows(kind: str) -> list[dict[str, Any]]:
    """Return one row for each thing of a kind."""
    describe = _ROWS[kind]
    return [{"name": name, **describe(name)} for name in names()[kind]]


def _processor_row(name: str) -> dict[str, Any]:
    processor = plugins().processors()[name]
    return {
        "stage": processor.stage,
        "operation": processor.operation,
        "touches": sorted(processor.touches),
        "cost": processor.cost,
        "plugin": plugins().owner("elision_processors", name),
    }


def _dialect_row(name: str) -> dict[str, Any]:
    dialect = next(dialect for dialect in plugins().dialects() if dialect.name == name)
    return {
        "wire": "checked" if dialect.wire.checked else "file only",
        "about": first_line(dialect.__doc__),
        "plugin": plugins().owner("elision_dialects", name),
    }


def _chain_row(name: str) -> dict[str, Any]:
    import elision

    return {"processors": [processor.type_name for processor in elision.load(name).processors]}


def _table_row(name: str) -> dict[str, Any]:
    from elision.classification.loading import read

    found = read(name)
    return {
        "rules": len(found.table.rules),
        "about": found.description,
        "plugin": plugins().owner("elision_tables", name),
    }


def _profile_row(name: str) -> dict[str, Any]:
    from elision.profiles.loading import read

    chain = read(name)
    thinking, cache = (
        next((each.sections[section][key] for each in reversed(chain) if key in each.sections.get(section, {})), "")
        for section, key in (("thinking", "rule"), ("cache", "marks"))
    )
    return {
        "models": list(chain[-1].models),
        "thinking": thinking,
        "cache": cache,
        "about": chain[-1].description,
        "plugin": plugins().owner("elision_profiles", name),
    }


def _host_row(name: str) -> dict[str, Any]:
    return {"module": plugins().hosts()[name], "plugin": plugins().owner("elision_hosts", name)}


_SUMMARIES = "summaries/"
"""What stands before the names of summaries' templates in lists: those of placeholders have names of their own."""


def _template_row(name: str) -> dict[str, Any]:
    hook = "elision_summary_templates" if name.startswith(_SUMMARIES) else "elision_templates"
    return {
        "source": first_line(_template(name)),
        "plugin": plugins().owner(hook, name.removeprefix(_SUMMARIES)),
    }


def _template(name: str) -> str:
    known = plugins().summary_templates() if name.startswith(_SUMMARIES) else plugins().templates()
    return known[name.removeprefix(_SUMMARIES)]


def _plugin_row(name: str) -> dict[str, Any]:
    plugin = plugins().manager.get_plugin(name)
    module = getattr(plugin, "__name__", type(plugin).__name__)
    return {"module": module, "offers": offers(name, plugin), "about": first_line(plugin.__doc__)}


_ROWS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "processors": _processor_row,
    "dialects": _dialect_row,
    "chains": _chain_row,
    "tables": _table_row,
    "profiles": _profile_row,
    "hosts": _host_row,
    "templates": _template_row,
    "plugins": _plugin_row,
}

KINDS = tuple(_ROWS)


def describe_processor(name: str) -> dict[str, Any]:
    """Return what a processor does and its options."""
    processor = plugins().processors()[name]
    return {**_processor_row(name), "about": cleandoc(processor.__doc__ or ""), "options": _options(processor)}


def describe_dialect(name: str) -> dict[str, Any]:
    """Return what a dialect says of itself: the docstring of its module, or of its class."""
    dialect = next(dialect for dialect in plugins().dialects() if dialect.name == name)
    module = import_module(type(dialect).__module__)
    return {**_dialect_row(name), "about": cleandoc(module.__doc__ or dialect.__doc__ or "")}


def describe_chain(name: str, attempt: int | None = None) -> dict[str, Any]:
    """Return a chain with every default written out, its tests left out."""
    import elision
    from elision.config.check import check
    from elision.config.sources import text_of

    chain = elision.load(name, attempt=attempt)
    options = check(text_of(name), name).chains[attempt or 0].options
    effective = {
        "history_processors": [as_written(processor) for processor in chain.processors],
        **options.model_dump(mode="json", exclude={"tests"}),
    }
    return {key: value for key, value in effective.items() if value is not None}


def describe_table(name: str) -> dict[str, Any]:
    """Return a table with the classes and the rules that it extends."""
    from elision.classification import load_table

    table = load_table(name)
    classes = {
        row.name: {
            "description": row.description,
            "cells": {operation: str(row.cell(operation)) for operation in OPERATIONS},
        }
        for row in table.classes.values()
    }
    return {**_table_row(name), "classes": classes, "rules": [str(rule) for rule in table.rules]}


def describe_profile(name: str) -> dict[str, Any]:
    """Return what a profile says itself, without those that it extends."""
    from elision.profiles import load_profile

    found = load_profile(name)[-1]
    variants = [
        {"models": list(each.models), "providers": list(each.providers), **_sections(each.sections)}
        for each in found.variants
    ]
    return {
        **_profile_row(name),
        "extends": found.extends,
        "providers": list(found.providers),
        "home": found.home,
        "sections": _sections(found.sections),
        "variants": variants,
    }


def _sections(sections: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return sections as plain data, the source of each at its end."""
    return {
        name: plain(dict(sorted(given.items(), key=lambda item: item[0] == "source")))
        for name, given in sections.items()
    }


def describe_model(model: str) -> dict[str, Any]:
    """Return what holds for a model, where each value is from, and what is assumed."""
    from dataclasses import asdict, replace

    from elision.profiles import profile_for
    from elision.tokens.counters import plugged_counter

    found = profile_for(model)
    ratio = found.prices.write_over_read
    ratios = {"write_over_read": ratio if isfinite(ratio) else None, "known": found.prices.known}
    entry = asdict(replace(found, sources=dict(found.sources)))
    entry["prices"] = {**entry["prices"]["base"], "tiers": entry["prices"]["tiers"], **ratios}
    if plugged := plugged_counter(model):
        pattern, plugin = plugged
        entry["tokens"]["counter"] = pattern
        entry["sources"]["tokens.counter"] = f"plugin {plugin!r} counts (elision_token_counters); the rest stands in"
    return {key: list(value) if isinstance(value, tuple) else value for key, value in entry.items()}


def fits_profile(model: str) -> bool:
    """Whether a profile other than the default is for a model of this name."""
    from elision.profiles.resolving import chosen_for

    return chosen_for(model) != "default"


def describe_host(name: str) -> dict[str, Any]:
    """Return what the module of a host says of itself, without importing it: hosts import frameworks."""
    module = plugins().hosts()[name]
    try:
        spec = find_spec(module)
        source = spec.loader.get_source(module) if spec and isinstance(spec.loader, InspectLoader) else None
    except ImportError as error:
        raise PluginError(f"host {name!r}: {error}; mend or uninstall its plugin") from error
    about = ast.get_docstring(ast.parse(source)) if source else None
    return {**_host_row(name), "about": about or ""}


def describe_template(name: str) -> dict[str, Any]:
    """Return the source of a template."""
    return {**_template_row(name), "source": _template(name)}


def first_line(text: str | None) -> str:
    """Return the first line of a text, or nothing."""
    return (text or "").strip().partition("\n")[0]


def _options(processor: type[Processor]) -> list[dict[str, Any]]:
    schema = processor.model_json_schema()
    properties = schema.get("properties", {})
    return [
        {
            "name": option_name(name, field),
            "type": _words(properties.get(option_name(name, field), {})),
            "default": _default(field),
            "required": field.is_required(),
            "about": " ".join((field.description or "").split()),
        }
        for name, field in processor.model_fields.items()
        if name != "type"
    ]


def _default(field: FieldInfo) -> Any:
    return None if field.is_required() else plain(field.get_default(call_default_factory=True))


_BOUNDS = {"exclusiveMinimum": "> {}", "minimum": ">= {}", "exclusiveMaximum": "< {}", "maximum": "<= {}"}


def _words(schema: Mapping[str, Any]) -> str:
    """Say in words what a JSON Schema allows."""
    if "enum" in schema or "const" in schema:
        return " | ".join(str(value) for value in schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema:
        return " | ".join(_words(option) for option in schema["anyOf"])
    kind = str(schema.get("type", schema.get("$ref", "any").rpartition("/")[2]))
    if kind == "array":
        return f"list of {_words(schema.get('items', {}))}"
    bounds = [text.format(schema[key]) for key, text in _BOUNDS.items() if key in schema]
    return " ".join([kind, *bounds])
