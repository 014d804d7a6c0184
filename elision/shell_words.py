"""The words of shell commands: quotes taken away, expansions left as they are written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

_BRACES = re.compile(r"\{[^{}]*(,|\.\.)")  # several words in one
_ESCAPED = re.compile(r"\\(\n|.)", re.DOTALL)
_ESCAPED_IN_QUOTES = re.compile(r'\\([\n"\\$`])')


@dataclass(frozen=True, slots=True)
class Word:
    """One word.

    Where it holds an expansion, ``text`` is its source, and ``prefix`` and ``suffix`` are what certainly stands around
    that.
    """

    text: str
    literal: bool = True
    prefix: str = ""
    suffix: str = ""


def read_word(node: Node) -> Word:
    """Read a word of any kind."""
    pieces = [_piece(child) for child in node.children] if node.type in {"concatenation", "command_name"} else []
    pieces = pieces or [_piece(node)]
    source = (node.text or b"").decode("utf-8", "replace")
    if _BRACES.search(source) and any(piece.text == "{" for piece in pieces):
        return Word(source, literal=False)
    if all(piece.literal for piece in pieces):
        return Word("".join(piece.text for piece in pieces))
    prefix, suffix = "", ""
    for piece in pieces:
        prefix += piece.text if piece.literal else piece.prefix
        if not piece.literal:
            break
    for piece in reversed(pieces):
        suffix = (piece.text if piece.literal else piece.suffix) + suffix
        if not piece.literal:
            break
    return Word("".join(piece.text for piece in pieces), literal=False, prefix=prefix, suffix=suffix)


def _piece(node: Node) -> Word:
    source = (node.text or b"").decode("utf-8", "replace")
    match node.type:
        case "word" | "number" | "extglob_pattern" | "test_operator" | "regex":
            return Word(_ESCAPED.sub(_unescaped, source))
        case "raw_string":
            return Word(source[1:-1])
        case "string":
            return _quoted(node, source[1:-1])
        case "concatenation" | "command_name":
            return read_word(node)
    return Word(source, literal=not node.is_named)


def _quoted(node: Node, inside: str) -> Word:
    expansions = [child for child in node.named_children if child.type != "string_content"]
    if not expansions:
        return Word(_ESCAPED_IN_QUOTES.sub(_unescaped, inside))
    data, start = node.text or b"", node.start_byte
    around = data[1 : expansions[0].start_byte - start], data[expansions[-1].end_byte - start : -1]
    before, after = (_ESCAPED_IN_QUOTES.sub(_unescaped, each.decode("utf-8", "replace")) for each in around)
    return Word(inside, literal=False, prefix=before, suffix=after)


def _unescaped(match: re.Match[str]) -> str:
    return "" if match[1] == "\n" else match[1]
