"""What a chain file says beside its processors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from elision.config.entry import node_at
from elision.config.problems import Problems, Severity, shown, suggestion
from elision.config.shape import AGENT, CHAIN
from elision.config.tests_block import KEY as TESTS
from elision.config.tests_block import ChainTest, read_tests
from elision.config.values import Entry, Reader
from elision.config.wording import complaints
from elision.errors import ConfigError
from elision.moment import OnBoundThinking
from elision.options import Options
from elision.registry import plugins
from elision.schedule import Schedule
from elision.shadow import Mode


class ChainOptions(Options, BaseModel):
    """The options of a chain file beside its processors."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    dialect: str = "auto"
    """Shape of the messages: the name of a dialect, or auto to detect it."""
    model: str | None = None
    """Model to count tokens for where the request names none."""
    on_error: Literal["skip", "raise"] = "skip"
    """When a processor raises: skip sends the request without its new edits, raise stops (for tests)."""
    compat: Literal["sweagent"] | None = None
    """sweagent gives SWE-agent's own processors SWE-agent's own bytes, as in a SWE-agent config."""
    classification: str | dict[str, Any] = "default"
    """Table that is asked about every edit: a name, a path (from this file's folder), its content, or none."""
    archive: str = ".elision"
    """Where originals go: a folder (from the working directory), memory:, a URL, or none: nothing may be removed."""
    stored_policy: Literal["none", "secrets", "full"] = "none"
    """What the archive leaves out of originals: nothing, secrets, or all of them."""
    owner: Literal["elision", "provider"] | None = None
    """Who manages the context where a request asks its provider to; such a request is an error without it."""
    schedule: Schedule = "break_even"
    """When processors that rewrite the cached prefix do so, all together; a processor's own schedule wins."""
    on_bound_thinking: OnBoundThinking | None = None
    """What happens where an edit would change what thinking is bound to (docs/guard.md, bound thinking)."""
    profile: str | dict[str, Any] | None = None
    """Values of your own for models: the name of a profile, a path (from this file's folder), or its content."""
    mode: Mode = "live"
    """shadow decides and reports everything, and sends the original; live sends what is decided."""
    share: Annotated[float, Field(ge=0, le=1, strict=True, allow_inf_nan=False)] | None = None
    """Share of the sessions that are live, the others being in shadow mode: by default all, or none in mode shadow."""
    tests: list[ChainTest] = []
    """Recorded histories, and what must come of them; `elision check` runs them."""


def read_options(entries: Mapping[str, Entry], reader: Reader, problems: Problems) -> ChainOptions:
    """Return the options; what is wrong with them is noted."""
    known = {name: entry for name, entry in entries.items() if name in ChainOptions.model_fields}
    for name in entries.keys() - known.keys():
        problems.add(entries[name].key, (name,), _unknown(name))
    tests = read_tests(known.pop(TESTS), reader, problems) if TESTS in known else []
    data = reader.readable(known, ())
    try:
        options = ChainOptions.model_validate(data)
    except ValidationError as error:
        wrong = set()
        for found in complaints(error, data, "a chain", ChainOptions.model_fields):
            name = str(found.at[0])
            node = node_at(known[name].value, found.at[1:], reader, key=found.key)
            problems.add(node, found.at, found.message)
            wrong.add(name)
        options = ChainOptions.model_validate({name: value for name, value in data.items() if name not in wrong})
    if "dialect" in known:
        _check_dialect(data.get("dialect"), known["dialect"], problems)
    if "archive" in known:
        _check_archive(options, known["archive"], problems)
    if "classification" in known:
        options = options.model_copy(update={"classification": _located(options.classification, problems.source)})
        _check_table(options, known["classification"], problems)
    if options.profile is not None and "profile" in known:
        options = options.model_copy(update={"profile": _located_profile(options.profile, problems.source)})
        _check_profile(options.profile, known["profile"], problems)
    return options.model_copy(update={"tests": tests})


def _check_archive(options: ChainOptions, entry: Entry, problems: Problems) -> None:
    from elision.archive import open_archive

    try:
        open_archive(options.archive, environ={})
    except ConfigError as error:
        for found in error.problems:
            problems.add(entry.value, ("archive",), found.message)


def _located(given: str | dict[str, Any], source: str) -> str | dict[str, Any]:
    """Return a table's path as seen from the working directory; names and tables themselves as they are."""
    if isinstance(given, dict) or given == "none" or given in plugins().tables() or not Path(source).is_file():
        return given
    return str(Path(source).parent / given)


def _located_profile(given: Any, source: str) -> Any:
    if isinstance(given, dict) or given in plugins().profiles() or not Path(source).is_file():
        return given
    return str(Path(source).parent / given)


def _check_profile(given: Any, entry: Entry, problems: Problems) -> None:
    from elision.profiles import lint_profile

    for found in lint_profile(given):
        if isinstance(given, str) and found.line:
            problems.include(entry.value, ("profile",), [found])
        else:
            within = f"{found.path}: " if found.path else ""
            problems.add(entry.value, ("profile",), f"{within}{found.message}")


def _check_table(options: ChainOptions, entry: Entry, problems: Problems) -> None:
    from elision.classification import lint_table

    table = options.classification
    if table == "none":
        return
    for found in lint_table(table):
        if isinstance(table, str) and found.line:
            problems.include(entry.value, ("classification",), [found])
        elif found.severity in ("error", "warning"):
            severity: Severity = "error" if found.severity == "error" else "warning"
            within = f"{found.path}: " if found.path else ""
            problems.add(entry.value, ("classification",), f"{within}{found.message}", severity)


def _check_dialect(name: object, entry: Entry, problems: Problems) -> None:
    if not isinstance(name, str) or name == "auto":
        return
    dialects = ["auto", *(dialect.name for dialect in plugins().dialects())]
    if name not in dialects:
        told = f"there is no dialect {shown(name)}; {suggestion(name, dialects, 'dialects are')}"
        problems.add(entry.value, ("dialect",), told)


def _unknown(name: str) -> str:
    if name == AGENT:
        return f"a file has either '{CHAIN}' or, as in a SWE-agent config, '{AGENT}'; remove one"
    options = [CHAIN, *ChainOptions.model_fields]
    return f"a chain has no option {shown(name)}; {suggestion(name, options, 'its options are')}"
