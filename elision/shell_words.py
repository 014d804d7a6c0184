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
_ONE_WORD = frozenset({"ansi_c_string", "arithmetic_expansion", "process_substitution"})


@dataclass(frozen=True, slots=True)
class Word:
    """One word.

    Where it holds an expansion, ``text`` is its source, and ``prefix`` and ``suffix`` are what certainly stands around
    that; ``many`` says that it may become several words, or none.
    """

    text: str
    literal: bool = True
    prefix: str = ""
    suffix: str = ""
    many: bool = False

    @property
    def may_be_none(self) -> bool:
        """Whether it may be no word at all."""
        return self.many and not self.prefix and not self.suffix


OPEN = Word("…", literal=False, many=True)
"""Words that something else adds, such as the input of ``xargs``."""


def filled(word: Word, mark: str, beginning: str = "") -> Word:
    """Return a word with an unknown text, which begins with ``beginning``, in the place of each ``mark``."""
    before, found, _ = word.text.partition(mark)
    if not found:
        return word
    if not word.literal:
        return Word(word.text, literal=False, many=word.many)
    return Word(word.text, literal=False, prefix=before + beginning, suffix=word.text.rpartition(mark)[2])


def read_word(node: Node) -> Word:
    """Read a word of any kind."""
    pieces = [_piece(child) for child in node.children] if node.type in {"concatenation", "command_name"} else []
    pieces = pieces or [_piece(node)]
    source = (node.text or b"").decode("utf-8", "replace")
    if _BRACES.search(source) and any(piece.text == "{" for piece in pieces):
        return Word(source, literal=False, many=True)
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
    many = any(piece.many for piece in pieces)
    return Word("".join(piece.text for piece in pieces), literal=False, prefix=prefix, suffix=suffix, many=many)


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
    prefix = "/dev/fd/" if node.type == "process_substitution" else ""
    many = node.is_named and node.type not in _ONE_WORD
    return Word(source, literal=not node.is_named, prefix=prefix, many=many)


def _quoted(node: Node, inside: str) -> Word:
    expansions = [child for child in node.named_children if child.type != "string_content"]
    if not expansions:
        return Word(_ESCAPED_IN_QUOTES.sub(_unescaped, inside))
    data, start = node.text or b"", node.start_byte
    around = data[1 : expansions[0].start_byte - start], data[expansions[-1].end_byte - start : -1]
    before, after = (_ESCAPED_IN_QUOTES.sub(_unescaped, each.decode("utf-8", "replace")) for each in around)
    many = any(b"@" in (each.text or b"") for each in expansions)  # "$@", "${list[@]}"
    return Word(inside, literal=False, prefix=before, suffix=after, many=many)


def _unescaped(match: re.Match[str]) -> str:
    return "" if match[1] == "\n" else match[1]
