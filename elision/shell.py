"""Shell commands taken apart: which programs a command line runs, with which words, and what it writes.

Nothing is run or expanded.  What does not parse, or is beyond the bounds, is unknown (``None``), never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from time import monotonic
from typing import TYPE_CHECKING

from elision.shell_hidden import hidden, is_quoted
from elision.shell_words import Word, read_word
from elision.shell_wrappers import SHELLS, script_of, taken_apart

if TYPE_CHECKING:
    from tree_sitter import Language, Node

MAX_BYTES = 20_000
"""Longest command that is parsed."""

MAX_DEPTH = 120
"""Deepest nesting of constructs; ``bash -c`` within ``bash -c`` counts on."""

MAX_ROUNDS = 400
"""How often the parser may report progress: twice what 20 KB of ordinary commands take."""

MAX_SECONDS = 0.25
"""For what is quadratic in the parser."""

_NO_FILE = re.compile("/dev/(null|stdout|stderr|tty|fd/[0-9]+)")
_INPUTS = frozenset({"<", "<<", "<<<"})
_LIVE = re.compile(r"[$`\\]")


class _UnknownError(Exception):
    """A command that cannot be taken apart."""


@dataclass(frozen=True, slots=True)
class Redirect:
    """A redirection: its operator and its target; a heredoc's target is its text."""

    operator: str
    target: Word

    @property
    def writes(self) -> bool:
        """Whether it writes a file."""
        if not self.operator.startswith((">", "&>")) and self.operator != "<>":
            return False
        if self.operator == ">&" and (self.target.text.isdigit() or self.target.text == "-"):
            return False
        return not (self.target.literal and _NO_FILE.fullmatch(self.target.text))


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One program with its words; what wraps it (``sudo``, ``env A=b``, ``timeout 5``) is taken away."""

    argv: tuple[Word, ...]
    redirects: tuple[Redirect, ...] = ()

    @property
    def writes(self) -> bool:
        """Whether a redirection of it writes a file."""
        return any(redirect.writes for redirect in self.redirects)

    def __str__(self) -> str:
        return " ".join(word.text for word in self.argv)


def parse(command: str | Sequence[str]) -> tuple[SimpleCommand, ...] | None:
    """Return the simple commands of a command line, or of the words of one command; ``None`` where they are unknown."""
    try:
        if not isinstance(command, str):
            words = tuple(Word(word) for word in command)
            return tuple(_Parts().emit(SimpleCommand(words), 0)) if words else None
        return _Parts().of_script(command, 0) or None
    except _UnknownError:
        return None


class _Parts:
    """The parts of one command line, found one by one."""

    def __init__(self) -> None:
        self._left = MAX_BYTES

    def of_script(self, script: str, depth: int) -> tuple[SimpleCommand, ...]:
        data = script.encode("utf-8", "replace")
        self._left -= len(data)
        if self._left < 0 or b"\0" in data:
            raise _UnknownError
        root = _tree(data)
        if root.has_error:
            raise _UnknownError
        unread = (SimpleCommand((Word(text, literal=False),)) for text in hidden(root))
        return (*self._walk(root, depth), *unread)

    def emit(self, command: SimpleCommand, depth: int) -> Iterator[SimpleCommand]:
        """Yield a command, or what it wraps in its place."""
        if depth > MAX_DEPTH:
            raise _UnknownError
        script = script_of(command.argv)
        if script is None and command.argv and command.argv[0].text in SHELLS and len(command.argv) == 1:
            inputs = [each for each in command.redirects if each.operator in _INPUTS]
            script = inputs[0].target if len(inputs) == 1 and inputs[0].operator != "<" else None
        if script is not None and script.literal:
            parts = self.of_script(script.text, depth + 1)
            yield from parts
            yield from _with_redirects(parts, command.redirects)
            return
        own, inner = taken_apart(command.argv)
        if own is not None:
            yield replace(command, argv=own)
        for argv in inner:
            yield from self.emit(replace(command, argv=argv), depth + 1)

    def _walk(self, node: Node, depth: int) -> Iterator[SimpleCommand]:
        if depth > MAX_DEPTH:
            raise _UnknownError
        kind = node.type
        if kind == "redirected_statement":
            yield from self._redirected(node, depth)
            return
        for child in node.named_children if node.named_child_count else ():
            yield from self._walk(child, depth + 1)
        if kind == "command":
            yield from self.emit(_command(node), depth)
        elif kind == "function_definition":
            yield from _with_redirects((), [each for child in node.named_children for each in _redirects(child)])
        elif kind in {"declaration_command", "unset_command", "test_command"}:
            yield SimpleCommand((Word(_text(node.children[0])),))

    def _redirected(self, node: Node, depth: int) -> Iterator[SimpleCommand]:
        body = node.child_by_field_name("body")
        own = [child for child in node.named_children if child != body]
        redirects = [redirect for child in own for redirect in _redirects(child)]
        inner = [part for child in own for part in self._walk(child, depth + 1)]
        if body is not None and body.type == "command":
            yield from inner
            for child in body.named_children:
                yield from self._walk(child, depth + 1)
            command = _command(body, [word for child in own for word in child.children_by_field_name("argument")])
            yield from self.emit(replace(command, redirects=(*command.redirects, *redirects)), depth)
            return
        found = list(self._walk(body, depth + 1)) if body is not None else []
        last = found.pop() if found else SimpleCommand(())
        yield from inner
        yield from found
        yield replace(last, redirects=(*last.redirects, *redirects))


def _with_redirects(parts: Sequence[SimpleCommand], redirects: Sequence[Redirect]) -> Iterator[SimpleCommand]:
    if any(redirect.writes for redirect in redirects):
        yield SimpleCommand(parts[-1].argv if parts else (), tuple(redirects))


def _command(node: Node, after: Sequence[Node] = ()) -> SimpleCommand:
    """Read a command; ``after`` are the words that stand behind its heredoc."""
    words = [*node.children_by_field_name("name"), *node.children_by_field_name("argument"), *after]
    argv = tuple(read_word(child) for child in words)
    return SimpleCommand(argv, tuple(each for child in node.named_children for each in _redirects(child)))


def _redirects(node: Node) -> Iterator[Redirect]:
    if node.type == "file_redirect":
        operator = next((_text(child) for child in node.children if not child.is_named), ">")
        for target in node.children_by_field_name("destination"):
            yield Redirect(operator, read_word(target))
    elif node.type == "herestring_redirect":
        for child in node.named_children[:1]:
            yield Redirect("<<<", read_word(child))
    elif node.type == "heredoc_redirect":
        for child in node.named_children:
            if child.type == "heredoc_body":
                literal = is_quoted(node) or not _LIVE.search(_text(child))
                yield Redirect("<<", Word(_text(child), literal=literal))
            elif child.type == "file_redirect":
                yield from _redirects(child)


def _tree(data: bytes) -> Node:
    from tree_sitter import Parser

    rounds, deadline = 0, monotonic() + MAX_SECONDS

    def stop(*_: object) -> bool:
        nonlocal rounds
        rounds += 1
        return rounds > MAX_ROUNDS or monotonic() > deadline

    read: Callable[[int, object], bytes] = lambda offset, _: data[offset:]  # noqa: E731 (the parser's own signature)
    try:
        return Parser(_language()).parse(read, progress_callback=stop).root_node
    except ValueError:
        raise _UnknownError from None


@cache
def _language() -> Language:
    import tree_sitter_bash
    from tree_sitter import Language

    return Language(tree_sitter_bash.language())


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
