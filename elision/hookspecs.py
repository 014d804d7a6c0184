"""Hook specifications: what a plugin can offer, when it is asked, and what happens on two answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from elision.archive import Store
    from elision.dialect import Dialect
    from elision.guard import Rule
    from elision.message import ToolCall
    from elision.processor import Processor
    from elision.report import AppliedEdit, Refusal

PROJECT = "elision"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def elision_processors() -> list[type[Processor]]:  # type: ignore[empty-body]
    """Processors this plugin offers, found by their ``type``.

    Called once, when the first chain is built.  A ``type`` that two plugins offer is an error naming both; it is never
    silently overridden.
    """


@hookspec
def elision_dialects() -> list[Dialect]:  # type: ignore[empty-body]
    """Dialects this plugin offers, found by their ``name``.

    Called once, when the first history is read.  Where two fit a history equally well, the one registered first wins;
    two of one name are an error naming both plugins.
    """


@hookspec
def elision_hosts() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Hosts this plugin offers: a name, and the ``module`` that says in its docstring how it is plugged in.

    Called by ``elision list hosts``; nothing is imported until a host is used.  Two of one name are an error.
    """


@hookspec
def elision_templates() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Placeholder templates this plugin offers: a name, and its Jinja2 source.

    Called once, when the first placeholder is rendered.  Two of one name are an error naming both plugins.
    """


@hookspec
def elision_summary_templates() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Templates this plugin offers of summaries, of prompts for them, of task notes and reminders: by name, as Jinja2.

    Called once, when the first of them is rendered.  Two of one name are an error naming both plugins.
    """


@hookspec
def elision_archives() -> Mapping[str, Callable[[str], Store]]:  # type: ignore[empty-body]
    """Kinds of archive this plugin offers: the scheme of a URL, and what opens the store that such a URL names.

    Called once, when the first archive with a scheme is opened.  Two of one scheme are an error naming both plugins.
    """


@hookspec
def elision_tables() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Classification tables this plugin offers: a name, and its YAML.

    Called once, when the first table is loaded.  Two of one name are an error naming both plugins.
    """


@hookspec
def elision_profiles() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Model and provider profiles this plugin offers: a name, and its YAML.

    Called once, when the profile of a model is first needed.  Two of one name are an error naming both plugins.
    """


@hookspec
def elision_token_counters() -> Mapping[str, Callable[[str], int]]:  # type: ignore[empty-body]
    """Token counters this plugin offers: a glob over the names of models, and what counts the tokens of a text.

    Called once, when a text is first counted for a named model.  A model takes the counter with the most exact glob;
    two of one glob are an error naming both plugins.
    """


@hookspec(firstresult=True)
def elision_classify(call: ToolCall, meta: Mapping[str, Any]) -> Iterable[str] | None:
    """Say which classes the result of a call has, or nothing.

    ``meta`` has the ``status`` that the host set and the tool's ``annotations``; the text of the result is not there.
    Called for each result, when it is classified; the first plugin with an answer wins.  Its classes hold beside those
    of the rules that match, and take the place of ``unknown``.
    """


@hookspec
def elision_edit_applied(edit: AppliedEdit, ref: str) -> None:
    """An edit has been taken into the view; ``ref`` names its original in the archive, empty where there is none.

    Called for each edit, once, when its original is safe; in a session not again on later steps.  All plugins are told.
    In shadow mode, where nothing is sent of it, none is.
    """


@hookspec
def elision_edit_refused(refusal: Refusal, rule: Rule) -> None:
    """The guard has refused an edit; ``rule`` is the rule that did.

    Called for each refusal, once.  All plugins are told; none can overrule it.
    """
