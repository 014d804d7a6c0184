"""``native``: the provider's own context editing or compaction, where there is one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AliasChoices, Field, NonNegativeInt, PositiveInt, ValidationInfo, field_validator

from elision import (
    Candidate,
    Edit,
    Handover,
    Operation,
    Processor,
    Role,
    Schedule,
    Stage,
    Target,
    ToolNames,
    View,
    names_tool,
    processor_types,
    written_out,
)

_CONTEXT_EDITING = "context-management-2025-06-27"
_COMPACTION = "compact-2026-01-12"
_FEWEST_COMPACTED = 50_000
"""Tokens from which on Anthropic summarises at the earliest."""


class Native(Processor):
    """Leave old tool results to the provider's own context editing, and clear them here where there is none.

    Cost: the provider rewrites the cached prefix when its trigger fires; elsewhere as ``clear_tool_results``.

    ```yaml
    history_processors:
      - type: native
        trigger_tokens: 100000
        keep: 3
    ```

    Where the profile of the model says that the provider clears tool results itself (``native``, docs/profiles.md), it
    edits nothing: ``view.params`` has what the request needs, and no other processor removes anything from it.  Tools
    of which the classification table protects any result go into ``exclude_tools`` whole; where that is every tool that
    is offered, results are cleared here.  A summary of the provider's
    own is asked for with ``compact_trigger_tokens`` only, and only if the table protects nothing: no table sees what
    is left out of it.  Everywhere else, and with ``prefer: elision``, it does what ``clear_tool_results`` does with the
    same options.  Never touches calls (without ``clear_tool_inputs``), anybody's text, and what the table protects.
    Source: Anthropic's context editing (``clear_tool_uses_20250919``) and compaction (``compact_20260112``), OpenAI's
    compaction of the Responses API.
    """

    stage: ClassVar[Stage] = "history"
    operation: ClassVar[Operation] = "clear"
    touches: ClassVar[frozenset[Role]] = frozenset({"assistant"})
    scheduled: ClassVar[bool] = True
    cost: ClassVar[str] = "rewrites the cached prefix when its trigger fires, at the provider or here"

    type: Literal["native"] = "native"
    prefer: Literal["provider", "elision"] = "provider"
    """Who clears where both can."""
    trigger_tokens: Annotated[PositiveInt, Field(validation_alias=AliasChoices("trigger_tokens", "trigger"))] = 100_000
    """Tokens of the request from which on results are cleared; ``trigger`` for short."""
    keep: NonNegativeInt = 3
    """Newest results that stay, of those that may go."""
    clear_at_least_tokens: Annotated[
        NonNegativeInt, Field(validation_alias=AliasChoices("clear_at_least_tokens", "clear_at_least"))
    ] = 0
    """Nothing is cleared unless so many tokens can be saved; ``clear_at_least`` for short."""
    exclude_tools: ToolNames = frozenset()
    """Tools whose results are never cleared, besides those that the table protects; they do not count for ``keep``."""
    clear_tool_inputs: bool | ToolNames = False
    """Whether the arguments of the calls go too: of all cleared calls, of those of some tools, or not."""
    compact_trigger_tokens: PositiveInt | None = None
    """Tokens from which on the provider summarises (Anthropic takes 50,000 or more); no summary if not given."""

    @field_validator("clear_at_least_tokens")
    @classmethod
    def _can_be_saved(cls, least: int, info: ValidationInfo) -> int:
        if (trigger := info.data.get("trigger_tokens")) is not None and least > trigger:
            raise ValueError(f"clear_at_least_tokens is {least}, more than trigger_tokens ({trigger}); make it smaller")
        return least

    @property
    def own_schedule(self) -> Schedule | None:
        """Its trigger."""
        return self._here.own_schedule

    def handover(self, target: Target) -> Handover:
        """Leave it to a provider that clears results, or that summarises where the table protects nothing."""
        if self.prefer == "elision":
            return Handover()
        clears, compacts = target.offers("clear_tool_uses"), target.offers("compact")
        at_risk = target.protected("summarize")
        if clears and target.offered and all(map(self._excludes, target.unprotected_tools("clear"))):
            return Handover(problem=_NOTHING_LEFT)
        if clears:
            summarises = compacts and self.compact_trigger_tokens is not None
            return Handover(active=True, problem=self._compaction_problem(at_risk) if summarises else "")
        if compacts and at_risk:
            return Handover(problem=_preference_problem(at_risk))
        return Handover(active=compacts and self.compact_trigger_tokens is not None)

    def params(self, view: View) -> Mapping[str, Any]:
        """Return what asks the provider to do it."""
        if not view.handed_over:
            return {}
        target = view.target
        at_risk, clears = target.protected("summarize"), target.offers("clear_tool_uses")
        may_be_asked = target.offers("compact") and not at_risk and not (clears and self._compaction_problem(at_risk))
        summary = self.compact_trigger_tokens if may_be_asked else None
        if view.dialect == "responses":
            return {"context_management": [{"type": "compaction", "compact_threshold": summary}]}
        edits: dict[str, dict[str, Any]] = {}
        if clears:
            edits[_CONTEXT_EDITING] = self._clearing(view)
        if summary is not None:
            trigger = {"type": "input_tokens", "value": summary}
            edits[_COMPACTION] = {"type": "compact_20260112", "trigger": trigger}
        return {
            "context_management": {"edits": [*edits.values()]},
            "extra_headers": {"anthropic-beta": ",".join(edits)},
        }

    def plan(self, view: View) -> Iterable[Edit]:
        """Propose placeholders where the provider does not clear."""
        return () if view.handed_over else self._here.plan(view)

    def chosen(self, waiting: Sequence[Candidate], view: View) -> Sequence[Candidate]:
        """Return those that go this time."""
        return self._here.chosen(waiting, view)

    def _clearing(self, view: View) -> dict[str, Any]:
        edit: dict[str, Any] = {
            "type": "clear_tool_uses_20250919",
            "trigger": {"type": "input_tokens", "value": self.trigger_tokens},
            "keep": {"type": "tool_uses", "value": self.keep},
        }
        if self.clear_at_least_tokens:
            edit["clear_at_least"] = {"type": "input_tokens", "value": self.clear_at_least_tokens}
        excluded = _written_out(self.exclude_tools, view) | view.protected_tools("clear")
        if self.clear_tool_inputs:
            excluded |= view.protected_tools("clear_inputs")
        if excluded:
            edit["exclude_tools"] = sorted(excluded)
        inputs = self.clear_tool_inputs
        if found := sorted(_written_out(inputs, view)) if isinstance(inputs, frozenset) else inputs:
            edit["clear_tool_inputs"] = found
        return edit

    def _excludes(self, tool: str) -> bool:
        return names_tool(self.exclude_tools, tool)

    def _compaction_problem(self, at_risk: Sequence[str]) -> str:
        """Say why a provider that clears results is not asked for its own summary, too."""
        if at_risk:
            return (
                "cannot leave compaction to the provider: its summary may lose what the table protects "
                f"({', '.join(at_risk)}); remove compact_trigger_tokens, or write classification: none"
            )
        if (self.compact_trigger_tokens or _FEWEST_COMPACTED) < _FEWEST_COMPACTED:
            return (
                f"cannot leave compaction to the provider: compact_trigger_tokens is {self.compact_trigger_tokens}, "
                f"and it takes {_FEWEST_COMPACTED} or more; make it larger, or remove it"
            )
        return ""

    @cached_property
    def _here(self) -> Processor:
        """What does the same without the provider."""
        options = {
            "keep": self.keep,
            "trigger_tokens": self.trigger_tokens,
            "clear_at_least_tokens": self.clear_at_least_tokens,
            "exclude_tools": self.exclude_tools,
            "clear_tool_inputs": self.clear_tool_inputs,
        }
        return processor_types()["clear_tool_results"](**options)


def _written_out(tools: frozenset[str], view: View) -> frozenset[str]:
    """Return a list of tools as the provider takes it: of its globs, the tools that are offered or have been called."""
    called = (call.name for step in view.steps for call in step.calls)
    return written_out(tools, lambda: {*(view.request.offered or ()), *called})


_NOTHING_LEFT = (
    "leaves nothing to the provider: it clears by tools, and of each tool that is offered the table protects some "
    "result; results are cleared here, one by one; write prefer: elision to have it so"
)


def _preference_problem(at_risk: Sequence[str]) -> str:
    return (
        "cannot prefer the provider: it offers nothing but its own summary, which may lose what the table protects "
        f"({', '.join(at_risk)}); write prefer: elision, or classification: none"
    )
