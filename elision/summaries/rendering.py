"""Templates of summaries, notes, reminders and prompts: by name, or texts of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeAlias

from pydantic import AfterValidator

from elision.errors import nearest
from elision.placeholders.cleaning import clean
from elision.summaries.wording import verbatim

if TYPE_CHECKING:
    from elision.placeholders.sandbox import Compiled

MAX_CHARS = 400_000
"""Most characters that come out of a template."""

_MAX_SOURCE = 20_000

_SAMPLES: Mapping[str, Mapping[str, Any]] = {
    "summary": {
        "first": 1,
        "last": 2,
        "kept": ["step 1 (write_file(path='a.py'))"],
        "told": "Done: it is mended.",
        "goal": "Mend it.",
        "said": ["step 2: I look."],
        "digests": ["step 2: ls() -> ok"],
        "files": ["a.py"],
        "must_keep": ["never touch it"],
        "session": "run-42",
        "way_back": "recall REF",
    },
    "prompt": {
        "asked": ["user: Mend it."],
        "first": 1,
        "last": 2,
        "transcript": ["step 1, you: I look."],
        "must_keep": ["never touch it"],
        "max_tokens": 2000,
    },
    "notes": {
        "goal": "Mend it.",
        "asked": ["Go on."],
        "skills": ["pdf/SKILL.md, version 1.2"],
        "rules": ["never touch it"],
        "done": ["step 3: create_issue(): 991"],
        "unverified": ["a.py"],
        "next": "I run the tests.",
        "originals": "recall REF gives one back",
    },
    "reminder": {"what": "results and steps that are not the newest"},
}
"""What each kind of template can use, as it may be."""

_NEVER_EMPTY = frozenset({"transcript", "what", "way_back", "originals"})


def render_summary(template: str, facts: Mapping[str, Any]) -> str:
    """Render a template: its name, or its source, which holds ``{{`` or ``{%``.

    Raises ``ValueError`` where it cannot be used.
    """
    from elision.placeholders.sandbox import Unusable

    try:
        text = _compiled(_source(template), frozenset(facts)).render(facts)
    except Unusable as error:
        _refuse(template, str(error))
    return verbatim(text).strip()


def check_summary(template: str, kind: str) -> str:
    """Return a template that can be used for a kind of text; raise ``ValueError`` where it cannot."""
    sample = _SAMPLES[kind]
    kept = {name for name, value in sample.items() if isinstance(value, int)} | _NEVER_EMPTY
    bare = {name: value if name in kept else type(value)() for name, value in sample.items()}
    if not all(render_summary(template, facts) for facts in (sample, bare)):
        _refuse(template, "it gives no text for some runs; say something in every case")
    return template


def _checks(kind: str) -> Callable[[str], str]:
    return lambda template: check_summary(template, kind)


SummaryTemplate: TypeAlias = Annotated[str, AfterValidator(_checks("summary"))]
"""A template of summaries, by its name or written out; it is checked when the option is read."""
PromptTemplate: TypeAlias = Annotated[str, AfterValidator(_checks("prompt"))]
"""One of the prompts for a model that writes summaries."""
NotesTemplate: TypeAlias = Annotated[str, AfterValidator(_checks("notes"))]
"""One of task notes."""
ReminderTemplate: TypeAlias = Annotated[str, AfterValidator(_checks("reminder"))]
"""One of reminders."""


def _is_inline(template: str) -> bool:
    return "{{" in template or "{%" in template


def _source(template: str) -> str:
    if _is_inline(template):
        return template
    from elision.registry import plugins

    known = plugins().summary_templates()
    if template not in known:
        told = nearest(template, known, what="templates")
        raise ValueError(f"there is no summary template {template!r}; {told}; give a name, or a text with {{{{ in it")
    return known[template]


@lru_cache(maxsize=64)
def _compiled(source: str, known: frozenset[str]) -> Compiled:
    from elision.placeholders.sandbox import Compiled, Kind

    kind = Kind("a summary", _MAX_SOURCE, MAX_CHARS, "shorten it", blocks=True)
    return Compiled(source, sorted(known), kind)


def _refuse(template: str, problem: str) -> NoReturn:
    where = f"template {clean(template, 48)}" if _is_inline(template) else f"template {template!r}"
    raise ValueError(f"{where}: {problem}")
