"""The texts that stand where content was: rendered from sandboxed templates, the same bytes every time."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from elision.errors import ConfigError, Problem, nearest

if TYPE_CHECKING:
    from jinja2 import Template

    from elision.parts import Observation

_SWEAGENT = re.compile(r"Old environment output: \(\d+ lines omitted\)(?: \(\d+ images omitted\))?")


def is_placeholder(text: str) -> bool:
    """Whether ``text`` is SWE-agent's own sentence for an elided observation."""
    return text.startswith("Old environment output: (") and _SWEAGENT.fullmatch(text) is not None


def render_placeholder(template: str, observation: Observation) -> str:
    """Render the placeholder ``template`` for an observation."""
    facts: dict[str, Any] = {
        "tool": observation.call.name if observation.call else "",
        "lines": observation.lines,
        "images": observation.images,
        "chars": len(observation.text),
    }
    return _template(template).render(facts)


@cache
def _environment() -> Any:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    # Placeholders are plain text for a model: HTML escaping would change what was said.
    return ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=False)


@cache
def _template(name: str) -> Template:
    from elision.registry import plugins

    sources = plugins().templates()
    if name not in sources:
        problem = f"there is no placeholder template {name!r}; {nearest(name, sources, what='templates')}"
        raise ConfigError([Problem("templates", 0, 0, "", problem)])
    template: Template = _environment().from_string(sources[name])
    return template
