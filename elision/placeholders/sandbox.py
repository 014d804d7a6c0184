"""The sandbox in which templates run: texts, conditions and loops, and nothing that can grow."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any

from jinja2 import StrictUndefined, TemplateError, nodes
from jinja2.filters import do_default
from jinja2.meta import find_undeclared_variables
from jinja2.runtime import LoopContext, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.tests import TESTS

from elision.errors import nearest
from elision.placeholders.cleaning import shortened

MAX_CHARS = 4000
"""Of a placeholder's template, and of what comes out of it."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What templates are for: how it is called, how long they and what comes out of them may be, and how to mend that.

    With ``blocks`` a line that has nothing but a tag leaves no line behind.
    """

    name: str
    max_source: int
    max_chars: int
    shorter: str
    blocks: bool = False


PLACEHOLDER = Kind("a placeholder", MAX_CHARS, MAX_CHARS, "a placeholder must be shorter than what it stands for")

_SHOWN = (str, int, float, list, tuple, dict, type(None), Undefined)
_NODES = frozenset(
    kind.__name__
    for kind in (
        *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Const, nodes.List, nodes.Tuple),
        *(nodes.Dict, nodes.Pair, nodes.Getattr, nodes.Getitem, nodes.If, nodes.For, nodes.CondExpr, nodes.Filter),
        *(nodes.Keyword, nodes.Test, nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.Concat),
        *(nodes.Add, nodes.Sub, nodes.Div, nodes.FloorDiv, nodes.Neg),
    )
)
"""What a template may be made of; without ``set``, calls and ``*`` no text can be doubled over and over."""

_SPOKEN = {
    "Assign": "'set'",
    "AssignBlock": "'set'",
    "Block": "'block'",
    "Call": "a call like f()",
    "Extends": "'extends'",
    "FilterBlock": "'filter'",
    "Include": "'include'",
    "Import": "'import'",
    "FromImport": "'import'",
    "Macro": "'macro'",
    "Mod": "'%'",
    "Mul": "'*'",
    "Pow": "'**'",
    "Slice": "a slice like [:9]",
    "With": "'with'",
}


class Unusable(Exception):  # noqa: N818 (caught where the template's name is known)
    """A template cannot be used; the message says why."""


class _Sandbox(ImmutableSandboxedEnvironment):
    """An environment in which a dot finds items of mappings, and no attributes of anything."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, LoopContext):
            return super().getattr(obj, attribute)
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        try:
            return obj[argument]
        except (KeyError, IndexError, TypeError):
            hint = f"{argument!r} is not there for every result; add | default('')"
            return self.undefined(hint, obj=obj, name=argument)


def _bounded(function: Callable[..., Any], kind: Kind) -> Callable[..., Any]:
    @wraps(function)
    def checked(*args: Any, **options: Any) -> Any:
        made = function(*args, **options)
        if isinstance(made, str) and len(made) > kind.max_chars:
            raise Unusable(_too_long(kind))
        return made

    return checked


def _too_long(kind: Kind) -> str:
    return f"it gives more than {kind.max_chars:,} characters; {kind.shorter}"


_FILTERS: dict[str, Callable[..., Any]] = {
    "capitalize": lambda value: str(value).capitalize(),
    "d": do_default,
    "default": do_default,
    "join": lambda value, between="": str(between).join(map(str, value)),
    "json": lambda value: json.dumps(value, ensure_ascii=False),
    "length": len,
    "lower": lambda value: str(value).lower(),
    "replace": lambda value, old, new: str(value).replace(str(old), str(new)),
    "trim": lambda value: str(value).strip(),
    "truncate": lambda value, chars: shortened(str(value), int(chars)),
    "upper": lambda value: str(value).upper(),
}
_TESTS = ("defined", "undefined", "none", "string", "mapping", "number", "eq", "ne", "in")


def _shown(value: Any) -> Any:
    if not isinstance(value, _SHOWN):
        raise Unusable(f"it shows a {type(value).__name__}, which is no text")
    return value


@cache
def _environment(kind: Kind) -> _Sandbox:
    # Plain text for a model: HTML escaping would change what was said.
    environment = _Sandbox(
        undefined=StrictUndefined,
        autoescape=False,
        finalize=_shown,
        trim_blocks=kind.blocks,
        lstrip_blocks=kind.blocks,
    )
    environment.globals.clear()
    environment.filters = {name: _bounded(function, kind) for name, function in _FILTERS.items()}
    environment.tests = {name: TESTS[name] for name in _TESTS}
    return environment


class Compiled:
    """A template that has been looked through, and the names that it uses."""

    def __init__(self, source: str, known: Iterable[str], kind: Kind = PLACEHOLDER) -> None:
        """Raise :class:`Unusable` where ``source`` uses what a template may not, or a name that is not ``known``."""
        if len(source) > kind.max_source:
            raise Unusable(f"it has {len(source):,} characters; at most {kind.max_source:,} are allowed")
        environment, known = _environment(kind), list(known)
        try:
            parsed = environment.parse(source)
            _look_through(parsed, kind)
            names = find_undeclared_variables(parsed)
            self._template = environment.from_string(source)
            self._kind = kind
        except Unusable:
            raise
        except TemplateError as error:
            line = getattr(error, "lineno", None)
            where = f" (line {line})" if line and line > 1 else ""
            raise Unusable(f"it cannot be read: {error.message}{where}; mend the Jinja syntax") from error
        except Exception as error:
            raise Unusable("it cannot be read: it is nested too deeply; make it simpler") from error
        for name in sorted(names - set(known)):
            raise Unusable(f"there is no variable {name!r}; {nearest(name, known, what='variables')}")
        self.names = frozenset(names)

    def render(self, values: Mapping[str, Any]) -> str:
        """Return the text for some values."""
        try:
            return "".join(_at_most(self._kind, self._template.generate(values)))
        except Unusable:
            raise
        except Exception as error:
            raise Unusable(f"it cannot be rendered: {str(error) or type(error).__name__}") from error


def _at_most(kind: Kind, pieces: Iterable[str]) -> Iterator[str]:
    chars = kind.max_chars
    for piece in pieces:
        chars -= len(piece)
        if chars < 0:
            raise Unusable(_too_long(kind))
        yield piece


def _look_through(parsed: nodes.Template, kind: Kind) -> None:
    """Raise :class:`Unusable` at the first thing that a template may not use."""
    for node in parsed.find_all(nodes.Node):
        name = type(node).__name__
        if name not in _NODES:
            raise Unusable(
                f"{_SPOKEN.get(name, name)} is not allowed in {kind.name}; use variables, filters, 'if' and 'for'"
            )
        if isinstance(node, nodes.For) and node.find(nodes.For):
            raise Unusable(f"a 'for' inside a 'for' is not allowed in {kind.name}; use one")
        if isinstance(node, nodes.Filter) and node.name not in _FILTERS:
            raise Unusable(f"there is no filter {node.name!r}; {nearest(node.name, _FILTERS, what='filters')}")
        if isinstance(node, nodes.Test) and node.name not in _TESTS:
            raise Unusable(f"there is no test {node.name!r}; {nearest(node.name, _TESTS, what='tests')}")
