"""Placeholders made from templates: the same facts give the same bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn

from elision.errors import ConfigError, Problem, nearest
from elision.placeholders import wording
from elision.placeholders.calls import arguments, call_text, tool_name
from elision.placeholders.cleaning import clean, clean_name
from elision.placeholders.facts import PlaceholderFacts

if TYPE_CHECKING:
    from elision.placeholders.sandbox import Compiled

HEAD_CHARS = 200
_MOST_HEAD_CHARS = 2000
_CLASS_CHARS = 40
_PATH_ARGUMENTS = ("path", "file_path", "filename")
_UNFIT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def _classes(facts: PlaceholderFacts) -> list[str]:
    return sorted(clean_name(name, _CLASS_CHARS) for name in facts.classes)


def _head(facts: PlaceholderFacts, head_chars: int) -> str:
    return clean(facts.text, min(head_chars, _MOST_HEAD_CHARS))


def _path_argument(facts: PlaceholderFacts) -> str:
    """Return what the call names as its path."""
    given = arguments(facts.arguments)
    found = (given.get(name) for name in _PATH_ARGUMENTS) if isinstance(given, dict) else ()
    return next((value for value in found if isinstance(value, str)), "")


def _fields(facts: PlaceholderFacts, head_chars: int) -> dict[str, Any]:
    """Return what the template ``json`` shows; what is empty is left out."""
    counts = {"chars": facts.chars, "lines": facts.lines, "images": facts.images, "files": facts.files}
    found = {
        "removed": {name: count for name, count in counts.items() if count} or {"chars": 0},
        "tool": tool_name(facts.tool),
        "arguments": arguments(facts.arguments),
        "skill": {"path": wording.path(facts), "version": wording.version(facts)} if "skill" in facts.classes else {},
        "way_back": wording.way_back(facts),
        "ref": wording.ref(facts),
        "head": _head(facts, head_chars),
    }
    return {name: value for name, value in found.items() if value}


VARIABLES: Mapping[str, Callable[[PlaceholderFacts, int], Any]] = {
    "again": lambda facts, _: wording.again(facts),
    "arguments": lambda facts, _: arguments(facts.arguments),
    "call": lambda facts, _: call_text(facts.tool, facts.arguments),
    "chars": lambda facts, _: facts.chars,
    "class": lambda facts, _: ", ".join(_classes(facts)),
    "classes": lambda facts, _: _classes(facts),
    "fields": _fields,
    "head": _head,
    "images": lambda facts, _: facts.images,
    "lines": lambda facts, _: facts.lines,
    "path": lambda facts, _: wording.path(facts) or _path_argument(facts),
    "recall": lambda facts, _: wording.recall(facts),
    "ref": lambda facts, _: wording.ref(facts),
    "size": lambda facts, _: wording.size(facts),
    "skill": lambda facts, _: wording.skill(facts),
    "tool": lambda facts, _: tool_name(facts.tool),
    "version": lambda facts, _: wording.version(facts),
    "way_back": lambda facts, _: wording.way_back(facts),
}
"""What a template can use; only what it names is worked out."""


def render_placeholder(template: str, facts: PlaceholderFacts, *, head_chars: int = HEAD_CHARS) -> str:
    """Render a placeholder: ``template`` is the name of one, or its source, which holds ``{{`` or ``{%``.

    Raises :class:`elision.ConfigError` where the template cannot be used.
    """
    from elision.placeholders.sandbox import Unusable

    try:
        found = _compiled(_source(template))
        text = found.render({name: VARIABLES[name](facts, head_chars) for name in found.names})
    except Unusable as error:
        _refuse(template, str(error))
    if not text.strip():
        _refuse(template, "it gives no text for some results; say something in every case")
    if unfit := _UNFIT.search(text):
        _refuse(template, f"it gives the character U+{ord(unfit[0]):04X}, which cannot be sent; leave it out")
    return text


def check_template(template: str) -> None:
    """Raise :class:`elision.ConfigError` where a template is not known or does not work for every kind of result."""
    for facts in _SAMPLES:
        for head_chars in (HEAD_CHARS, 0):
            render_placeholder(template, facts, head_chars=head_chars)


def _is_inline(template: str) -> bool:
    return "{{" in template or "{%" in template


def _source(template: str) -> str:
    from elision.registry import plugins

    if _is_inline(template):
        return template
    sources = plugins().templates()
    if template not in sources:
        problem = f"there is no placeholder template {template!r}; {nearest(template, sources, what='templates')}"
        raise ConfigError(
            [Problem("templates", 0, 0, "", f"{problem}; give a name, or a text with {{{{ call }}}} in it")]
        )
    return sources[template]


@lru_cache(maxsize=256)
def _compiled(source: str) -> Compiled:
    from elision.placeholders.sandbox import Compiled

    return Compiled(source, VARIABLES)


def _refuse(template: str, problem: str) -> NoReturn:
    where = f"template {clean(template, 48)}" if _is_inline(template) else f"template {template!r}"
    raise ConfigError([Problem(where, 0, 0, "", problem)])


def _sample(tool: str = "read_file", given: Any = None, text: str = "one\ntwo", **changes: Any) -> PlaceholderFacts:
    facts: dict[str, Any] = {"chars": len(text), "lines": 2, "images": 0, "classes": frozenset(), "ref": "3f9a1c0b77de"}
    facts |= {"tool_offered": True, "recall_tool": "recall", **changes}
    return PlaceholderFacts(tool=tool, arguments=given, text=text, **facts)


_SAMPLES = (
    _sample(given={"path": "a.py"}, classes=frozenset({"static"}), recall_tool=""),
    _sample(given={}, classes=frozenset({"dynamic", "error"}), tool_offered=False),
    _sample("", given="ls -la", recall_tool="", tool_offered=False),
    _sample(text="", lines=0, images=1),
    _sample(classes=frozenset({"skill"}), path="pdf/SKILL.md", version="1.2", ref=""),
)
