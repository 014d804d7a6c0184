"""Runs with long results, a chain that offloads them, and what became of each."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import elision
from elision import Chain, SentView
from elision.testing import Conversation, call, conversation, result

FOLDER = ".elision/offloaded"
PATH = re.compile(r"offloaded to (\S+?);")
TOOLS = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("search", "read_file")]


def lines(count: int, name: str = "line") -> str:
    """Return a text of so many lines, some six tokens each."""
    return "".join(f"{name} {number} of the output\n" for number in range(count))


def searching(*texts: Any, shape: Any = "openai") -> Conversation:
    """Return a run of one step for each text, which a search has found."""
    run = conversation(shape).user("Search.")
    for number, text in enumerate(texts):
        run = run.step(call("search", q=str(number)), result(*(text if isinstance(text, tuple) else (text,))))
    return run.step("Done.")


def offloading(options: str = "threshold_tokens: 500", *, table: str = "default", archive: str = ".elision") -> Chain:
    """Return a chain of one ``offload``."""
    loaded = elision.loads(
        f"{{history_processors: [{{type: offload, {options}}}], classification: {table}}}", archive="none"
    )
    kept = elision.open_archive(archive, environ={})
    return Chain(loaded.processors, classification=loaded.table, archive=kept)


def quietly(chain: Chain | elision.Session, messages: Any, **said: Any) -> SentView:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", elision.ElisionWarning)
        return chain.process(messages, **said)


def results(view: SentView) -> list[Any]:
    return [message["content"] for message in view.messages if message["role"] == "tool"]


def paths(view: SentView) -> list[str]:
    """Return the paths that the notes in a view name."""
    return [path for text in map(str, results(view)) for path in PATH.findall(text)]


def files(folder: str = FOLDER) -> list[str]:
    """Return the names of all that is in the folder, but for what git is told."""
    found = Path(folder)
    return sorted(each.name for each in found.iterdir() if each.name != ".gitignore") if found.is_dir() else []
