"""Elision: history processors for LLM agents, declared in YAML, extended by plugins, behind one guard.

``import elision`` loads nothing heavy; names are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elision.archive import Archive, Store, open_archive
    from elision.archive.recall import recall
    from elision.archive.recall_tool import handle_recall, recall_tool_schema
    from elision.batch import Candidate
    from elision.chain import Chain
    from elision.checking import CheckReport, check
    from elision.config import load, loads
    from elision.dialect import Dialect, Patch
    from elision.edits import CacheBreakpoint, Drop, Edit, Insert, Operation, Replace, Tag
    from elision.errors import ArchiveError, ConfigError, ElisionError, InputError, PluginError, Problem, ProcessorError
    from elision.expressions import compile_regex
    from elision.history import (
        Address,
        Content,
        History,
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
        Wire,
    )
    from elision.hookspecs import hookimpl
    from elision.moment import KeyIndex, Moment
    from elision.parts import MessageView, Observation, PartView, StepView
    from elision.placeholders import check_template
    from elision.placeholders.option import PlaceholderTemplate
    from elision.processor import Processor, Stage
    from elision.redaction import Policy, redact
    from elision.registry import processor_types
    from elision.report import AppliedEdit, Failure, Pending, Refusal, SentView, Tokens
    from elision.schedule import Polling, Schedule, Trigger
    from elision.session import ElisionWarning, Session
    from elision.traced import Trace, TracedPlace, TraceEvent
    from elision.tracing import trace
    from elision.view import View

__version__ = "0.1.0"

_HOMES = {
    "elision.archive": ("Archive", "Store", "open_archive"),
    "elision.archive.recall": ("recall",),
    "elision.archive.recall_tool": ("handle_recall", "recall_tool_schema"),
    "elision.batch": ("Candidate",),
    "elision.chain": ("Chain",),
    "elision.checking": ("CheckReport", "check"),
    "elision.config": ("load", "loads"),
    "elision.dialect": ("Dialect", "Patch"),
    "elision.edits": ("CacheBreakpoint", "Drop", "Edit", "Insert", "Operation", "Replace", "Tag"),
    "elision.errors": (
        "ArchiveError",
        "ConfigError",
        "ElisionError",
        "InputError",
        "PluginError",
        "Problem",
        "ProcessorError",
    ),
    "elision.expressions": ("compile_regex",),
    "elision.history": (
        "Address",
        "Content",
        "History",
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
        "Wire",
    ),
    "elision.hookspecs": ("hookimpl",),
    "elision.placeholders": ("check_template",),
    "elision.placeholders.option": ("PlaceholderTemplate",),
    "elision.processor": ("Processor", "Stage"),
    "elision.redaction": ("Policy", "redact"),
    "elision.registry": ("processor_types",),
    "elision.report": ("AppliedEdit", "Failure", "Pending", "Refusal", "SentView", "Tokens"),
    "elision.session": ("ElisionWarning", "Session"),
    "elision.moment": ("KeyIndex", "Moment"),
    "elision.parts": ("MessageView", "Observation", "PartView", "StepView"),
    "elision.traced": ("Trace", "TracedPlace", "TraceEvent"),
    "elision.tracing": ("trace",),
    "elision.schedule": ("Polling", "Schedule", "Trigger"),
    "elision.view": ("View",),
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
    "History",
    "Image",
    "InputError",
    "Insert",
    "KeyIndex",
    "Kind",
    "Message",
    "MessageView",
    "Moment",
    "Observation",
    "Opaque",
    "Operation",
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
    "Refusal",
    "Replace",
    "Role",
    "Schedule",
    "SentView",
    "Session",
    "Stage",
    "StepView",
    "Store",
    "Tag",
    "Text",
    "Thinking",
    "Tokens",
    "ToolCall",
    "ToolResult",
    "Trace",
    "TraceEvent",
    "TracedPlace",
    "Trigger",
    "View",
    "Wire",
    "__version__",
    "check",
    "check_template",
    "compile_regex",
    "handle_recall",
    "hookimpl",
    "load",
    "loads",
    "open_archive",
    "processor_types",
    "recall",
    "recall_tool_schema",
    "redact",
    "trace",
]
