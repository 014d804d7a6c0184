"""Templates of summaries, notes, reminders and prompts: shipped ones by name, or texts of the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from elision.errors import nearest
from elision.summaries.wording import verbatim

MAX_CHARS = 400_000
"""Most characters that come out of a template."""

_MAX_SOURCE = 20_000

_ENVIRONMENT = ImmutableSandboxedEnvironment(
    undefined=StrictUndefined,
    autoescape=False,  # plain text for a model
    trim_blocks=True,
    lstrip_blocks=True,
)


def shipped_templates() -> dict[str, str]:
    """Return the templates in ``templates/summaries``, by name."""
    folder = files("elision.templates").joinpath("summaries")
    return {
        entry.name.removesuffix(".j2"): entry.read_text(encoding="utf-8")
        for entry in folder.iterdir()
        if entry.name.endswith(".j2")
    }


def render_summary(template: str, facts: Mapping[str, Any]) -> str:
    """Render a template: the name of a shipped one, or its source, which holds ``{{`` or ``{%``.

    Raises ``ValueError`` where it cannot be used.
    """
    pieces, room = [], MAX_CHARS
    try:
        for piece in _compiled(_source(template)).generate(facts):
            room -= len(piece)
            if room < 0:
                raise ValueError(f"template {template[:48]!r}: it gives more than {MAX_CHARS:,} characters; shorten it")
            pieces.append(piece)
    except TemplateError as error:
        raise ValueError(f"template {template[:48]!r}: {error.message}; mend it") from error
    return verbatim("".join(pieces)).strip()


def _source(template: str) -> str:
    if "{{" in template or "{%" in template:
        return template
    known = shipped_templates()
    if template not in known:
        told = nearest(template, known, what="templates")
        raise ValueError(f"there is no summary template {template!r}; {told}; give a name, or a text with {{{{ in it")
    return known[template]


@lru_cache(maxsize=64)
def _compiled(source: str) -> Any:
    if len(source) > _MAX_SOURCE:
        raise ValueError(f"a template has {len(source):,} characters; at most {_MAX_SOURCE:,} are allowed; shorten it")
    try:
        return _ENVIRONMENT.from_string(source)
    except TemplateError as error:
        raise ValueError(f"template {source[:48]!r}: {error.message}; mend the Jinja syntax") from error
