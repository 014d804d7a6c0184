"""Substitutions in a shell command that the parser leaves within a text: in heredocs, in ``${x:-…}``, in backticks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

_ESCAPED = re.compile(r"\\.", re.DOTALL)
_SUBSTITUTION = re.compile(r"`|\$\(")
_IN_WORD = re.compile(r"`|[$<>]\(")
_WITHIN_BACKTICKS = re.compile(r"\\`|\\\$[({]")  # one more round of escapes is taken away there
_DEAD = frozenset({"raw_string", "ansi_c_string", "comment"})
_OPENING = frozenset({"command_substitution", "process_substitution", "arithmetic_expansion"})
_TEXTS = frozenset({"string", "string_content", "heredoc_body", "heredoc_content"})


def hidden(root: Node) -> Iterator[str]:
    """Yield the texts that hold a substitution which is no node of the tree."""
    open_ = [root]
    while open_:
        node = open_.pop()
        if node.type in _DEAD:
            continue
        if node.type == "command_substitution" and (node.text or b"").startswith(b"`"):
            yield from _found(_WITHIN_BACKTICKS, _text(node))
        children = node.children
        wanted = _SUBSTITUTION if node.type in _TEXTS else _IN_WORD
        for text in _own(node):
            yield from _found(wanted, _ESCAPED.sub("", text))
        if node.type == "heredoc_redirect" and is_quoted(node):
            children = [child for child in children if child.type != "heredoc_body"]
        open_ += [child for child in children if child.is_named or node.type not in _OPENING]


def is_quoted(heredoc: Node) -> bool:
    """Whether the word that ends a heredoc is quoted, so that nothing in its text is expanded."""
    start = next((child for child in heredoc.named_children if child.type == "heredoc_start"), None)
    return start is not None and any(quote in _text(start) for quote in "'\"\\")


def _own(node: Node) -> Iterator[str]:
    """Yield the text of a node that belongs to none of its children."""
    data, start, place = node.text or b"", node.start_byte, 0
    for child in node.children:
        if child.start_byte - start > place:
            yield data[place : child.start_byte - start].decode("utf-8", "replace")
        place = max(place, child.end_byte - start)
    if place < len(data):
        yield data[place:].decode("utf-8", "replace")


def _found(wanted: re.Pattern[str], text: str) -> Iterator[str]:
    if (match := wanted.search(text)) is not None:
        yield text[match.start() :].strip()


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
