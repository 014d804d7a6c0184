"""``clear_tool_results``: old tool results become placeholders when that pays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import AliasChoices, Field, NonNegativeInt, PositiveInt, ValidationInfo, field_validator

from elision import (
    CallView,
    Candidate,
    Edit,
    Observation,
    Operation,
    PlaceholderTemplate,
    Processor,
    Replace,
    Role,
    Schedule,
    Stage,
    ToolCall,
    ToolNames,
    Trigger,
    View,
    may_touch,
    names_tool,
    require_a_tool,
)

_SHORTEST_WORD = 4
"""Characters of an argument from which on it is taken for a name."""


class ClearToolResults(Processor):
    """Put placeholders where old tool results stand, the oldest first, when its schedule comes due.

    Cost: rewrites the cached prefix from the oldest newly cleared result, each time the schedule comes due.

    ```yaml
    history_processors:
      - type: clear_tool_results
        keep: 3
        schedule: break_even
    ```

    With ``trigger_tokens`` or ``trigger_share`` it acts when the request is that long, and only if
    ``clear_at_least_tokens`` can be saved; else by ``schedule``, or by that of the chain.  Where
    ``clear_at_most_tokens`` stops it, ``order`` says which go first: ``oldest``, ``newest``, ``largest`` (most tokens
    saved), or ``score``: tokens saved times the steps since an argument of the call was last used, doubled for each of
    superseded, ``static``, failed but resolved since, halved for each of failed, and an argument that the user named.
    With ``clear_tool_inputs`` the calls of those results lose the texts in their arguments that have more than 500
    characters, at the same time; of calls whose results stay, such as receipts, the processor `clear_tool_inputs` takes
    them out.  Never touches the results and calls of the newest step, the newest ``keep`` results, those of
    ``keep_steps`` steps, anybody's text, and what the classification table protects.  Source: Anthropic's context
    editing (``clear_tool_uses_20250919``) for the meaning of trigger, keep and clear_at_least.
    """

    stage: ClassVar[Stage] = "history"
    operation: ClassVar[Operation] = "clear"
    touches: ClassVar[frozenset[Role]] = frozenset({"assistant"})
    scheduled: ClassVar[bool] = True
    cost: ClassVar[str] = "rewrites the cached prefix when its schedule comes due"

    type: Literal["clear_tool_results"] = "clear_tool_results"
    keep: NonNegativeInt = 3
    """Newest results that stay, of those that the options let go."""
    keep_steps: NonNegativeInt = 0
    """Newest steps whose results stay."""
    trigger_tokens: Annotated[PositiveInt | None, Field(validation_alias=AliasChoices("trigger_tokens", "trigger"))] = (
        None
    )
    """Tokens of the request from which on it acts; ``trigger`` for short."""
    trigger_share: Annotated[float, Field(gt=0, le=1)] | None = None
    """The same, as a share of the model's window."""
    clear_at_least_tokens: Annotated[
        NonNegativeInt, Field(validation_alias=AliasChoices("clear_at_least_tokens", "clear_at_least"))
    ] = 0
    """With a trigger: nothing is cleared unless so many tokens can be saved; ``clear_at_least`` for short."""
    clear_at_most_tokens: PositiveInt | None = None
    """Tokens at which a round stops; the rest waits for the next one."""
    exclude_tools: ToolNames = frozenset()
    """Tools whose results are never cleared; they do not count for ``keep``."""
    include_tools: ToolNames | None = None
    """The only tools whose results are cleared; all if not given."""
    clear_tool_inputs: bool | ToolNames = False
    """Whether the arguments of their calls are cleared, too, or a list of tools for which they are; never a receipt's,
    whose result stays: the processor ``clear_tool_inputs`` clears these."""
    order: Literal["oldest", "newest", "largest", "score"] = "oldest"
    """Which results go first where not all do."""
    placeholder: PlaceholderTemplate = "compact"
    """Template of the placeholder, by name or inline."""
    head_chars: NonNegativeInt = 200
    """Characters of the result that a template with a head shows."""
    schedule: Schedule | None = None
    """When results are cleared; as the chain says if not given."""

    @field_validator("clear_at_least_tokens")
    @classmethod
    def _has_a_trigger(cls, least: int, info: ValidationInfo) -> int:
        if least and not _has_trigger(info):
            raise ValueError("clear_at_least_tokens needs a trigger; add 'trigger_tokens' or 'trigger_share'")
        if (trigger := info.data.get("trigger_tokens")) is not None and least > trigger:
            raise ValueError(f"clear_at_least_tokens is {least}, more than trigger_tokens ({trigger}); make it smaller")
        return least

    @field_validator("clear_at_most_tokens")
    @classmethod
    def _is_enough(cls, most: int | None, info: ValidationInfo) -> int | None:
        least = info.data.get("clear_at_least_tokens") or 0
        if most is not None and most < least:
            raise ValueError(
                f"clear_at_most_tokens is {most}, less than clear_at_least_tokens ({least}); nothing would go; "
                "make it larger"
            )
        return most

    @field_validator("include_tools")
    @classmethod
    def _leaves_a_tool(cls, include: frozenset[str] | None, info: ValidationInfo) -> frozenset[str] | None:
        if include:
            require_a_tool(include, info.data.get("exclude_tools", frozenset()))
        return include

    @field_validator("schedule")
    @classmethod
    def _is_the_only_one(cls, schedule: Schedule | None, info: ValidationInfo) -> Schedule | None:
        if schedule is not None and _has_trigger(info):
            raise ValueError("it has a trigger, which says when it acts; remove 'schedule' or the trigger")
        return schedule

    @property
    def own_schedule(self) -> Schedule | None:
        """What its trigger says, or ``schedule``."""
        if self.trigger_tokens is None and self.trigger_share is None:
            return self.schedule
        return Trigger(
            trigger_tokens=self.trigger_tokens,
            trigger_share=self.trigger_share,
            clear_at_least_tokens=self.clear_at_least_tokens,
        )

    def plan(self, view: View) -> Iterator[Edit]:
        """Propose placeholders for the results that have become old."""
        only = self._may_go if self.exclude_tools or self.include_tools is not None else None
        for observation in view.older_observations(self.keep, keep_steps=self.keep_steps, only=only):
            yield observation.elide(self.placeholder, head_chars=self.head_chars, reason="old")
            call = observation.call_part if self._clears_inputs(observation) else None
            if call is not None:
                yield call.elide(reason="old")

    def chosen(self, waiting: Sequence[Candidate], view: View) -> Sequence[Candidate]:
        """Return those that go this time: all, or the first in order until enough is saved."""
        if self.clear_at_most_tokens is None:
            return waiting
        together: dict[tuple[int, int], list[Candidate]] = {}
        for each in waiting:
            observation = _observation(view, each)
            together.setdefault((observation.step, observation.ordinal), []).append(each)
        found, saved = list[Candidate](), 0
        for group in sorted(together.values(), key=self._key(view)):
            if saved >= self.clear_at_most_tokens:
                break
            found += group
            saved += _tokens(group)
        return found

    def _key(self, view: View) -> Callable[[Sequence[Candidate]], float]:
        match self.order:
            case "oldest":
                return lambda group: _observation(view, group[0]).ordinal
            case "newest":
                return lambda group: -_observation(view, group[0]).ordinal
            case "largest":
                return lambda group: -_tokens(group)
            case "score":
                return _Scores(view).key

    def _clears_inputs(self, observation: Observation) -> bool:
        if isinstance(self.clear_tool_inputs, bool):
            return self.clear_tool_inputs
        return observation.call is not None and names_tool(self.clear_tool_inputs, observation.call.name)

    def _may_go(self, observation: Observation) -> bool:
        return may_touch(observation.call, self.include_tools, self.exclude_tools)


class _Scores:
    """How well results can be done without, as ``order: score`` has it."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._used = {word: step.index for step in view.steps for call in step.calls for word in _words(call)}
        said = [part for message in view.messages if message.role == "user" for part in message.parts]
        self._asked = "\n".join(part.text for part in said if not part.is_result)
        self._newest = max((step.index for step in view.steps), default=0)

    def key(self, group: Sequence[Candidate]) -> float:
        """Return a number that is the smaller, the sooner a result goes, with its call."""
        found = _observation(self._view, group[0])
        words = _words(found.call) if found.call else ()
        last_used = max([found.step, *(self._used.get(word, 0) for word in words)])
        failed = found.status == "error"
        sooner = [found.superseded, "static" in found.classes, failed and found.resolved]
        later = [failed and not found.resolved, any(word in self._asked for word in words)]
        return -_tokens(group) * (self._newest - last_used + 1) * 2.0 ** (sum(sooner) - sum(later))


def _observation(view: View, candidate: Candidate) -> Observation:
    """Return the result that an edit is about: it replaces that, or the call that it answers."""
    assert isinstance(candidate.edit, Replace)  # noqa: S101 (plan)
    found = view.part(candidate.edit.address)
    about = found.result if isinstance(found, CallView) else found
    assert isinstance(about, Observation)  # noqa: S101 (plan)
    return about


def _tokens(group: Sequence[Candidate]) -> int:
    return sum(each.tokens for each in group)


def _words(call: ToolCall) -> list[str]:
    """Return the texts among a call's arguments that are long enough to be told apart."""
    given = call.arguments.values() if isinstance(call.arguments, Mapping) else ()
    return [value for value in given if isinstance(value, str) and len(value) >= _SHORTEST_WORD]


def _has_trigger(info: ValidationInfo) -> bool:
    """Whether a trigger is given, be it a wrong one."""
    return any(info.data.get(name, "wrong") is not None for name in ("trigger_tokens", "trigger_share"))
