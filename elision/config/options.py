"""What a chain file says beside its processors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from elision.config.problems import Problems, shown, suggestion
from elision.config.shape import AGENT, CHAIN
from elision.config.values import Entry, Reader
from elision.config.wording import complaints
from elision.registry import plugins

NOT_YET = frozenset({"archive", "classification", "mode", "share", "tests"})
"""Options of chain files that this version does not know."""


class ChainOptions(BaseModel):
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


def read_options(entries: Mapping[str, Entry], reader: Reader, problems: Problems) -> ChainOptions:
    """Return the options; what is wrong with them is noted."""
    known = {name: entry for name, entry in entries.items() if name in ChainOptions.model_fields}
    for name in entries.keys() - known.keys():
        problems.add(entries[name].key, (name,), _unknown(name))
    data = reader.readable(known, ())
    try:
        options = ChainOptions.model_validate(data)
    except ValidationError as error:
        for found in complaints(error, data, "a chain", ChainOptions.model_fields):
            problems.add(known[str(found.at[0])].value, found.at, found.message)
        options = ChainOptions()
    if "dialect" in known:
        _check_dialect(data.get("dialect"), known["dialect"], problems)
    return options


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
    if name in NOT_YET:
        return f"a chain has no option '{name}' in this version; its options are: {', '.join(options)}; remove it"
    return f"a chain has no option {shown(name)}; {suggestion(name, options, 'its options are')}"
