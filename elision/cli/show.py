"""``elision show``: one processor, chain, table, profile, dialect, host or template in full."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import click

from elision.cli.output import print_json, show
from elision.errors import InputError, nearest

_WITH_KIND = 2


@click.command("show")
@click.argument("words", metavar="[KIND] NAME", nargs=-1, required=True)
@click.option("--attempt", metavar="N", type=click.IntRange(min=0), help="Chain to show, where a file has several.")
@click.option("--json", "json_", is_flag=True, help="Print JSON.")
def command(*, words: tuple[str, ...], attempt: int | None, json_: bool) -> None:
    """Explain a processor, chain, table, profile, dialect, host or template.

    A name that several kinds have is explained for each.  NAME can also be the file of a chain, which is shown with
    every default written out, or the name of a model: what its profile says of it, and what is assumed.  KIND
    (processor, chain, table, profile, dialect, host, template) leaves out the others.
    """
    if len(words) > _WITH_KIND or (len(words) == _WITH_KIND and words[0] not in _KINDS):
        meant = nearest(words[0], _KINDS, what="kinds") if len(words) == _WITH_KIND else f"kinds: {', '.join(_KINDS)}"
        raise click.UsageError(f"give one NAME, or KIND and NAME; {meant}")
    name = words[-1]
    found = _find(name, attempt, words[0] if len(words) == _WITH_KIND else None)
    if json_:
        print_json(found)
        return
    if len(found) > 1:
        *some, last = (f"a {kind}" for kind in found)
        show(f"# {name} is the name of {', '.join(some)} and {last}; elision show KIND {name} shows one\n")
    for number, (kind, entry) in enumerate(found.items()):
        if number:
            show("")
        if len(found) > 1:
            show(f"=== {kind} {name} ===\n")
        show(_TEXTS[kind](name, entry))


def _find(name: str, attempt: int | None, only: str | None) -> dict[str, Any]:
    """Return what bears the name, by kind, or what of one kind does."""
    from elision.cli import catalogue

    describe: Mapping[str, Callable[[str], Any]] = {
        "processors": catalogue.describe_processor,
        "chains": catalogue.describe_chain,
        "dialects": catalogue.describe_dialect,
        "hosts": catalogue.describe_host,
        "templates": catalogue.describe_template,
        "tables": catalogue.describe_table,
        "profiles": catalogue.describe_profile,
    }
    known = catalogue.names()
    describe = {kind: of for kind, of in describe.items() if only in (None, kind.removesuffix("s"))}
    found = {kind.removesuffix("s"): of(name) for kind, of in describe.items() if name in known[kind]}
    if found:
        return found
    if os.path.isfile(name) and only in (None, "chain", "table"):  # a name may be too long for Path.is_file
        as_table = only == "table"
        return {"table": describe["tables"](name)} if as_table else {"chain": catalogue.describe_chain(name, attempt)}
    if only == "profile" or (only is None and catalogue.fits_profile(name)):
        return {"model": catalogue.describe_model(name)}
    every = {each for kind in describe for each in known[kind]}
    raise InputError(f"{name}: there is nothing of this name, and no such file; {nearest(name, every)}")


def _processor_text(name: str, entry: dict[str, Any]) -> str:
    touches = ", ".join(entry["touches"]) or "tool results only"
    lines = [
        f"processor {name} (plugin {entry['plugin']})",
        f"stage: {entry['stage']}; operation: {entry['operation']}; touches: {touches}",
        "",
        entry["about"],
        "",
        "Options:" if entry["options"] else "It has no options.",
    ]
    for option in entry["options"]:
        default = "required" if option["required"] else f"default: {_shown(option['default'])}"
        lines.append(f"  {option['name']}: {option['type']} ({default})")
        if option["about"]:
            lines.append(f"      {option['about']}")
    return "\n".join(lines)


def _chain_text(name: str, entry: dict[str, Any]) -> str:
    import yaml

    return f"# chain {name}\n{yaml.safe_dump(entry, sort_keys=False, allow_unicode=True)}".rstrip()


def _table_text(name: str, entry: dict[str, Any]) -> str:
    classes = [
        f"{each}: {row['description']}\n    "
        + "; ".join(f"{operation} {cell}" for operation, cell in row["cells"].items())
        for each, row in entry["classes"].items()
    ]
    head = f"# table {name} (plugin {entry['plugin']}): {entry['about']}"
    return "\n".join([head, "", *classes, "", *entry["rules"]])


def _profile_text(name: str, entry: dict[str, Any]) -> str:
    import yaml

    head = f"# profile {name} (plugin {entry['plugin']}): {entry['about']}"
    keys = ("extends", "models", "providers", "home")
    said = {key: entry[key] for key in keys if entry[key]} | entry["sections"]
    if entry["variants"]:
        said["variants"] = [{key: value for key, value in each.items() if value} for each in entry["variants"]]
    return f"{head}\n{yaml.safe_dump(said, sort_keys=False, allow_unicode=True, width=1000)}".rstrip()


def _model_text(name: str, entry: dict[str, Any]) -> str:
    lines = [f"# model {name}: profile {entry['name']}"]
    for section in ("thinking", "order", "cache", "window", "images", "tokens", "prices", "native"):
        lines += ["", f"{section}:"]
        by_source: dict[str, list[str]] = {}
        for key, value in entry[section].items():
            source = entry["sources"].get(f"{section}.{key}", "computed" if section == "prices" else "")
            if value is not None and source:
                by_source.setdefault(source, []).append(f"  {key}: {_shown(value)}")
        for source, values in by_source.items():
            lines += [f"  # {source}", *values]
    assumed = [f"- {line}" for line in entry["assumed"]] or ["nothing"]
    return "\n".join([*lines, "", "assumed:", *assumed])


def _about_text(name: str, entry: dict[str, Any]) -> str:
    facts = "; ".join(f"{key}: {value}" for key, value in entry.items() if key != "about")
    return f"{name} ({facts})\n\n{entry['about']}"


def _template_text(name: str, entry: dict[str, Any]) -> str:
    return f"template {name} (plugin {entry['plugin']})\n\n{entry['source']}"


def _shown(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


_TEXTS: Mapping[str, Callable[[str, dict[str, Any]], str]] = {
    "processor": _processor_text,
    "chain": _chain_text,
    "table": _table_text,
    "profile": _profile_text,
    "model": _model_text,
    "dialect": _about_text,
    "host": _about_text,
    "template": _template_text,
}

_KINDS = tuple(kind for kind in _TEXTS if kind != "model")
