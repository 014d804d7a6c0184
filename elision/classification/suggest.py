"""Rules to add for what a table does not know, each with the class that its name suggests."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from elision.classification.census import Classified
from elision.classification.classes import ERROR
from elision.classification.rules import spellings
from elision.classification.shell_parts import parts_of
from elision.classification.table import Table
from elision.config.problems import one_line
from elision.message import ToolCall
from elision.shell import SimpleCommand

_QUERIES = frozenset(
    """
    get list search find query lookup retrieve describe check count fetch read view show inspect browse calculate
    compute analyze validate verify compare preview explain status test lint
    """.split()  # noqa: SIM905 (words, not code)
)
_ACTIONS = frozenset(
    """
    create update delete remove add set send post put patch submit publish book buy order pay refund cancel deploy
    release upload write insert upsert modify edit rename move copy assign approve reject close open merge revert
    rollback restart start stop enable disable schedule reserve register transfer invite grant revoke archive restore
    reply comment notify email place charge export import save store push commit kill
    """.split()  # noqa: SIM905 (words, not code)
)
_SUBCOMMANDS = frozenset({"git", "gh", "docker", "kubectl", "npm", "pnpm", "yarn", "bun", "cargo", "go", "pip", "aws"})
_PROGRAMS = ("./", "../", "/")
_INTERPRETERS = frozenset({"python", "python3", "node", "ruby", "perl", "php", "java", "bash", "sh", "make", "npx"})


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One rule to add; without a class where its name says nothing, or where rules know some of the tool's calls."""

    tool: str
    command: str | None
    argument: str
    suggested: str | None
    about: str
    observations: int
    tokens: int
    partly: bool = False
    """Whether rules know some of the tool's calls by their arguments."""

    def rule(self) -> dict[str, Any]:
        """Return the rule as it is written, with ``…`` for a class that is left to the user."""
        shell = (
            {} if self.command is None else {"shell": {"argument": self.argument, "commands": [_as_glob(self.command)]}}
        )
        arguments = {"arguments": {"…": {"regex": "…"}}} if self.partly else {}
        return {"tool": _as_glob(self.tool), **shell, **arguments, "class": self.suggested or "…"}

    def lines(self) -> Iterator[str]:
        """Yield the rule as YAML, as a comment where its class is left to the user."""
        prefix = "  " if self.suggested else "  # "
        plural = "" if self.observations == 1 else "s"
        yield f"  # {self.observations:,} observation{plural}, {self.tokens:,} tokens; {self.about}"
        yield f"{prefix}- tool: {_quoted(_as_glob(self.tool))}"
        if self.command is not None:
            yield f"{prefix}  shell: {{argument: {self.argument}, commands: [{_quoted(_as_glob(self.command))}]}}"
        if self.partly:
            yield f"{prefix}  arguments: {{…: {{regex: …}}}}"
        yield f"{prefix}  class: {self.suggested or '…'}"


def suggestions(observations: Iterable[Classified], table: Table) -> list[Suggestion]:
    """Return a rule for each tool and each program that is not known, the one with the most tokens first.

    An observation with several unknown parts counts for each of them.
    """
    observations = list(observations)
    known = _known(observations)
    found: dict[tuple[str, str | None, str], list[int]] = {}
    for each in observations:
        if each.unknown and each.call is not None:
            for key in dict.fromkeys(_keys(each.call, table)):
                found.setdefault(key, []).append(each.tokens)
    made = [_suggestion(*key, tokens, known) for key, tokens in found.items()]
    return sorted(made, key=lambda each: (-each.tokens, each.tool, each.command or ""))


def as_yaml(found: Iterable[Suggestion], extends: str, *, file: bool = False) -> str:
    """Write suggestions as a table that extends another, which is a ``file`` or one that has a name."""
    base = _quoted(extends)
    head = "# Save this as FILE and write 'classification: FILE' in the chain; look at each rule before."
    if file:
        head = (
            f"# Add these rules to {base}; or save all this in the working directory as FILE, which must be another "
            f"name than {base}, and write 'classification: FILE' in the chain. Look at each rule before."
        )
    lines = [line for each in found for line in each.lines()]
    return "\n".join([head, f"extends: {base}", "rules:", *lines])


def as_table(found: Iterable[Suggestion], extends: str) -> Mapping[str, Any]:
    """Return the suggestions that have a class as a table that extends another."""
    return {"extends": extends, "rules": [each.rule() for each in found if each.suggested]}


def _known(observations: Iterable[Classified]) -> Mapping[str, Counter[str]]:
    """Return for each tool how often rules know its results, by their classes."""
    found: dict[str, Counter[str]] = {}
    for each in observations:
        if not each.unknown:
            classes = "+".join(sorted(each.classes - {ERROR})) or ERROR
            found.setdefault(each.tool, Counter())[classes] += 1
    return found


def _keys(call: ToolCall, table: Table) -> Iterator[tuple[str, str | None, str]]:
    """Yield what is not known of a call: its tool, or programs that it runs in a shell."""
    action = table.may_act(call)
    conditions = [each.shell for each in table.rules if each.shell and each.matches_tool(call, action=action)]
    given = dict.fromkeys(name for condition in conditions for name in condition.given(call))
    if not given:
        yield call.name, None, ""
    for name in given:
        known = [condition.commands for condition in conditions if name in condition.given(call)]
        for part in parts_of(call, name) or ():
            if not any(index.matches(part) for index in known) and (program := _program(part)):
                yield call.name, program, name


def _program(part: SimpleCommand) -> str:
    words = [word.text for word in part.argv if word.literal]
    if not words or not part.argv[0].literal:
        return ""
    if words[0].startswith(_PROGRAMS) and words[0].count("/") > 1:
        return f"{words[0].rpartition('/')[0]}/*"
    if words[0] in _SUBCOMMANDS and len(words) > 1 and words[1].isidentifier():
        return f"{words[0]} {words[1]}"
    if words[0] in _INTERPRETERS and len(words) > 2 and words[1] == "-m":
        return f"{words[0]} -m {words[2]}"
    return words[0]


def _suggestion(
    tool: str, command: str | None, argument: str, tokens: list[int], known: Mapping[str, Counter[str]]
) -> Suggestion:
    if command is None and tool in known:
        counted = ", ".join(f"{one_line(classes)} {count:,}" for classes, count in known[tool].most_common())
        about = (
            f"rules know other calls of {_quoted(tool)} by their arguments ({counted}), so no class fits all its "
            "calls; add a rule with an 'arguments:' condition"
        )
        return Suggestion(tool, None, argument, None, about, len(tokens), sum(tokens), partly=True)
    suggested, about = _of_tool(tool) if command is None else _of_command(command)
    return Suggestion(tool, command, argument, suggested, about, len(tokens), sum(tokens))


def _of_tool(tool: str) -> tuple[str | None, str]:
    words = [word for spelling in spellings(tool) for word in spelling.replace(".", "_").replace("/", "_").split("_")]
    action = next((word for word in words if word in _ACTIONS), None)
    query = next((word for word in words if word in _QUERIES), None)
    if action is not None:
        return "receipt", f"'{action}' sounds like an action: its result is the record of it"
    if query is not None:
        return "dynamic", f"'{query}' sounds like a query; write static if it gives the same again"
    return None, "static or dynamic if it only reads, receipt if it changes something"


def _of_command(command: str) -> tuple[str | None, str]:
    words = command.split()
    if words[0] in _INTERPRETERS or "/" in words[0]:
        return "dynamic", "it runs a program; write receipt if that changes something outside"
    return None, "static or dynamic if it only reads, receipt if it changes something"


def _as_glob(text: str) -> str:
    return re.sub(r"[*?\[\]{}()\\|!+@]", "?", text)


def _quoted(text: str) -> str:
    plain = text.isascii() and text.replace("_", "").replace("-", "").isalnum() and not text[0].isdigit()
    return (
        text if plain and text.lower() not in {"true", "false", "null", "yes", "no", "on", "off"} else json.dumps(text)
    )
