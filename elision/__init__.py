"""Elision: history processors for LLM agents, declared in YAML, extended by plugins, behind one guard.

``import elision`` loads nothing heavy; names are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elision.applied import ProviderEdit
    from elision.archive import Archive, Store, open_archive
    from elision.archive.recall import recall
    from elision.archive.recall_tool import handle_recall, recall_tool_schema
    from elision.batch import Candidate
    from elision.chain import Chain
    from elision.checking import CheckReport, check
    from elision.config import load, loads
    from elision.dialect import Dialect, Patch
    from elision.edits import CacheBreakpoint, Drop, Edit, Insert, Operation, Replace, Tag, Ttl
    from elision.errors import (
        ArchiveError,
        ConfigError,
        ElisionError,
        InputError,
        OverBudgetError,
        PluginError,
        Problem,
        ProcessorError,
    )
    from elision.expressions import compile_regex
    from elision.fitting import fitting_edits
    from elision.handover import Handover, Target
    from elision.history import History
    from elision.hookspecs import hookimpl
    from elision.ledger import first_found
    from elision.message import (
        Address,
        Content,
        Image,
        Kind,
        Message,
        Opaque,
        Part,
        Role,
        Text,
        Thinking,
        ToolCall,
        ToolResult,
    )
    from elision.moment import KeyIndex, Moment, OnBoundThinking
    from elision.offloading import OffloadFolder, offload_folder_problem
    from elision.parts import Observation, PartView
    from elision.placeholders import check_template
    from elision.placeholders.option import PlaceholderTemplate
    from elision.processor import Processor, Stage
    from elision.redaction import Policy, redact
    from elision.reducing import Slimming, Truncation, slim_content, truncate_content
    from elision.registry import processor_types
    from elision.report import AppliedEdit, Failure, Pending, Refusal, SentView, Tokens, Waiting
    from elision.said import CallView, ThinkingView
    from elision.schedule import Polling, Schedule, Trigger
    from elision.session import ElisionWarning, Session
    from elision.sizes import RequestSize
    from elision.slimmed_tool import slim
    from elision.summaries.notes import NotesSpec, note_edits
    from elision.summaries.options import Summarizing
    from elision.summaries.reminding import ReminderSpec, reminder_edits
    from elision.summaries.rendering import NotesTemplate, ReminderTemplate, render_summary
    from elision.summaries.spec import SummarySpec
    from elision.summaries.triggers import SummaryCondition, SummaryTriggers
    from elision.tokens.media import image_size
    from elision.tool_names import ToolNames, may_touch, names_tool, require_a_tool, written_out
    from elision.traced import Trace, TracedPlace, TraceEvent
    from elision.tracing import trace
    from elision.transport import Usage, acompletion, completion
    from elision.view import View
    from elision.wholes import MessageView, StepView
    from elision.wire import Wire

__version__ = "0.1.0"

_HOMES = {
    "elision.applied": ("ProviderEdit",),
    "elision.archive": ("Archive", "Store", "open_archive"),
    "elision.archive.recall": ("recall",),
    "elision.archive.recall_tool": ("handle_recall", "recall_tool_schema"),
    "elision.batch": ("Candidate",),
    "elision.chain": ("Chain",),
    "elision.checking": ("CheckReport", "check"),
    "elision.config": ("load", "loads"),
    "elision.dialect": ("Dialect", "Patch"),
    "elision.edits": ("CacheBreakpoint", "Drop", "Edit", "Insert", "Operation", "Replace", "Tag", "Ttl"),
    "elision.errors": (
        "ArchiveError",
        "ConfigError",
        "ElisionError",
        "InputError",
        "OverBudgetError",
        "PluginError",
        "Problem",
        "ProcessorError",
    ),
    "elision.expressions": ("compile_regex",),
    "elision.history": ("History",),
    "elision.message": (
        "Address",
        "Content",
        "Image",
        "Kind",
        "Message",
        "Opaque",
        "Part",
        "Role",
        "Text",
        "Thinking",
        "ToolCall",
        "ToolResult",
    ),
    "elision.fitting": ("fitting_edits",),
    "elision.handover": ("Handover", "Target"),
    "elision.hookspecs": ("hookimpl",),
    "elision.ledger": ("first_found",),
    "elision.offloading": ("OffloadFolder", "offload_folder_problem"),
    "elision.placeholders": ("check_template",),
    "elision.placeholders.option": ("PlaceholderTemplate",),
    "elision.processor": ("Processor", "Stage"),
    "elision.redaction": ("Policy", "redact"),
    "elision.reducing": ("Slimming", "Truncation", "slim_content", "truncate_content"),
    "elision.registry": ("processor_types",),
    "elision.report": ("AppliedEdit", "Failure", "Pending", "Refusal", "SentView", "Tokens", "Waiting"),
    "elision.session": ("ElisionWarning", "Session"),
    "elision.moment": ("KeyIndex", "Moment", "OnBoundThinking"),
    "elision.parts": ("Observation", "PartView"),
    "elision.said": ("CallView", "ThinkingView"),
    "elision.slimmed_tool": ("slim",),
    "elision.summaries.spec": ("SummarySpec",),
    "elision.summaries.notes": ("NotesSpec", "note_edits"),
    "elision.summaries.options": ("Summarizing",),
    "elision.summaries.reminding": ("ReminderSpec", "reminder_edits"),
    "elision.summaries.rendering": ("NotesTemplate", "ReminderTemplate", "render_summary"),
    "elision.summaries.triggers": ("SummaryCondition", "SummaryTriggers"),
    "elision.tokens.media": ("image_size",),
    "elision.tool_names": ("ToolNames", "may_touch", "names_tool", "require_a_tool", "written_out"),
    "elision.traced": ("Trace", "TracedPlace", "TraceEvent"),
    "elision.tracing": ("trace",),
    "elision.schedule": ("Polling", "Schedule", "Trigger"),
    "elision.sizes": ("RequestSize",),
    "elision.transport": ("Usage", "acompletion", "completion"),
    "elision.view": ("View",),
    "elision.wholes": ("MessageView", "StepView"),
    "elision.wire": ("Wire",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'elision' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})


__all__ = [
    "Address",
    "AppliedEdit",
    "Archive",
    "ArchiveError",
    "CacheBreakpoint",
    "CallView",
    "Candidate",
    "Chain",
    "CheckReport",
    "ConfigError",
    "Content",
    "Dialect",
    "Drop",
    "Edit",
    "ElisionError",
    "ElisionWarning",
    "Failure",
    "Handover",
    "History",
    "Image",
    "InputError",
    "Insert",
    "KeyIndex",
    "Kind",
    "Message",
    "MessageView",
    "Moment",
    "NotesSpec",
    "NotesTemplate",
    "Observation",
    "OffloadFolder",
    "OnBoundThinking",
    "Opaque",
    "Operation",
    "OverBudgetError",
    "Part",
    "PartView",
    "Patch",
    "Pending",
    "PlaceholderTemplate",
    "PluginError",
    "Policy",
    "Polling",
    "Problem",
    "Processor",
    "ProcessorError",
    "ProviderEdit",
    "Refusal",
    "ReminderSpec",
    "ReminderTemplate",
    "Replace",
    "RequestSize",
    "Role",
    "Schedule",
    "SentView",
    "Session",
    "Slimming",
    "Stage",
    "StepView",
    "Store",
    "Summarizing",
    "SummaryCondition",
    "SummarySpec",
    "SummaryTriggers",
    "Tag",
    "Target",
    "Text",
    "Thinking",
    "ThinkingView",
    "Tokens",
    "ToolCall",
    "ToolNames",
    "ToolResult",
    "Trace",
    "TraceEvent",
    "TracedPlace",
    "Trigger",
    "Truncation",
    "Ttl",
    "Usage",
    "View",
    "Waiting",
    "Wire",
    "__version__",
    "acompletion",
    "check",
    "check_template",
    "compile_regex",
    "completion",
    "first_found",
    "fitting_edits",
    "handle_recall",
    "hookimpl",
    "image_size",
    "load",
    "loads",
    "may_touch",
    "names_tool",
    "note_edits",
    "offload_folder_problem",
    "open_archive",
    "processor_types",
    "recall",
    "recall_tool_schema",
    "redact",
    "reminder_edits",
    "render_summary",
    "require_a_tool",
    "slim",
    "slim_content",
    "trace",
    "truncate_content",
    "written_out",
]
