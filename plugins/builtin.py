"""Registers what ships with Elision, through the same hooks as a stranger's plugin."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from elision import Dialect, Processor, hookimpl


@hookimpl
def elision_processors() -> list[type[Processor]]:
    """Offer the built-in processors."""
    from elision.processors.budget import Budget
    from elision.processors.cache_control import CacheControl
    from elision.processors.call import Call
    from elision.processors.clear_thinking import ClearThinking
    from elision.processors.clear_tool_inputs import ClearToolInputs
    from elision.processors.clear_tool_results import ClearToolResults
    from elision.processors.closed_window import ClosedWindow
    from elision.processors.compact_interval import CompactInterval
    from elision.processors.dedupe import Dedupe
    from elision.processors.default import Default
    from elision.processors.image_limit import ImageLimit
    from elision.processors.image_parsing import ImageParsing
    from elision.processors.last_n_observations import LastNObservations
    from elision.processors.native import Native
    from elision.processors.offload import Offload
    from elision.processors.recent_steps import RecentSteps
    from elision.processors.redact import Redact
    from elision.processors.remove_regex import RemoveRegex
    from elision.processors.save_reminder import SaveReminder
    from elision.processors.slim_json import SlimJson
    from elision.processors.summarize import Summarize
    from elision.processors.supersede import Supersede
    from elision.processors.tag_tool_call_observations import TagToolCallObservations
    from elision.processors.task_notes import TaskNotes
    from elision.processors.truncate import Truncate

    return [
        Budget,
        CacheControl,
        Call,
        ClearThinking,
        ClearToolInputs,
        ClearToolResults,
        ClosedWindow,
        CompactInterval,
        Dedupe,
        Default,
        ImageLimit,
        ImageParsing,
        LastNObservations,
        Native,
        Offload,
        RecentSteps,
        Redact,
        RemoveRegex,
        SaveReminder,
        SlimJson,
        Summarize,
        Supersede,
        TagToolCallObservations,
        TaskNotes,
        Truncate,
    ]


@hookimpl
def elision_dialects() -> list[Dialect]:
    """Offer the built-in dialects; the first wins where two fit equally well."""
    from elision.plugins.dialects.anthropic import Anthropic
    from elision.plugins.dialects.gemini import Gemini
    from elision.plugins.dialects.miniswe import MiniSWE
    from elision.plugins.dialects.openai import OpenAI
    from elision.plugins.dialects.responses import Responses
    from elision.plugins.dialects.sweagent import SWEAgent

    return [OpenAI(), Anthropic(), Responses(), Gemini(), SWEAgent(), MiniSWE()]


@hookimpl
def elision_templates() -> Mapping[str, str]:
    """Offer the placeholder templates in ``templates/placeholders``."""
    folder = files("elision.templates").joinpath("placeholders")
    return {
        entry.name.removesuffix(".j2"): entry.read_text(encoding="utf-8")
        for entry in folder.iterdir()
        if entry.name.endswith(".j2")
    }


@hookimpl
def elision_summary_templates() -> Mapping[str, str]:
    """Offer the templates in ``templates/summaries``."""
    folder = files("elision.templates").joinpath("summaries")
    return {
        entry.name.removesuffix(".j2"): entry.read_text(encoding="utf-8")
        for entry in folder.iterdir()
        if entry.name.endswith(".j2")
    }


@hookimpl
def elision_tables() -> Mapping[str, str]:
    """Offer the tables in ``configs/tables``."""
    folder = files("elision.configs").joinpath("tables")
    return {
        entry.name.removesuffix(".yaml"): entry.read_text(encoding="utf-8")
        for entry in folder.iterdir()
        if entry.name.endswith(".yaml")
    }


@hookimpl
def elision_profiles() -> Mapping[str, str]:
    """Offer the profiles in ``configs/profiles``."""
    folder = files("elision.configs").joinpath("profiles")
    return {
        entry.name.removesuffix(".yaml"): entry.read_text(encoding="utf-8")
        for entry in folder.iterdir()
        if entry.name.endswith(".yaml")
    }


@hookimpl
def elision_hosts() -> Mapping[str, str]:
    """Offer the built-in hosts."""
    return {"sweagent": "elision.plugins.hosts.sweagent", "miniswe": "elision.plugins.hosts.miniswe"}
