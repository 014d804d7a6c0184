"""The options that processors which summarise share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import import_module
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, JsonValue, NonNegativeInt, PositiveInt, field_validator, model_validator

from elision.edits import Edit, Operation
from elision.processor import Processor, Stage
from elision.summaries.asking import Asked, Summarizer
from elision.summaries.making import summary_edits
from elision.summaries.rendering import PromptTemplate, SummaryTemplate
from elision.summaries.spec import SummarySpec
from elision.summaries.through_litellm import ThroughLitellm, problem_of_arguments
from elision.summaries.triggers import SummaryTriggers
from elision.view import View


class Summarizing(Processor):
    """A processor that puts summaries in the place of steps."""

    stage: ClassVar[Stage] = "history"
    operation: ClassVar[Operation] = "summarize"
    weighs: ClassVar[bool] = True
    usually_after: ClassVar[Mapping[str, str]] = {
        "clear_tool_results": "what it clears may make a summary needless",
        "last_n_observations": "what it elides may make a summary needless",
    }

    summarizer: Literal["extract", "llm", "call"] = "extract"
    """Who writes: ``extract`` needs no model, ``llm`` asks one through litellm, ``call`` asks ``target``."""
    model: str | None = None
    """Model that ``llm`` asks."""
    model_kwargs: dict[str, JsonValue] = Field(default_factory=dict)
    """Arguments of litellm for it, such as ``api_base``; ``os.environ/NAME`` is a key from the environment."""
    target: str | None = None
    """Function that ``call`` asks, ``package.module:name``: ``(prompt, *, model, timeout_seconds, max_tokens)``."""
    timeout_seconds: Annotated[float, Field(gt=0, le=86_400)] = 60.0
    """Seconds after which an answer is not waited for any longer."""
    max_input_tokens: PositiveInt = 30000
    """Tokens that a prompt has at most, about; originals are cut in it so that it fits."""
    max_tokens: PositiveInt = 2000
    """Tokens that one summary should have at most."""
    max_total_tokens: PositiveInt = 8000
    """Tokens of all summaries over which one that is made anew from the originals takes their place."""
    must_keep: tuple[str, ...] = ()
    """Texts that have to stand in a summary, word for word, if they stood in its steps."""
    carry_files: NonNegativeInt = 0
    """Files in use, counted from the newest, whose last reading or writing stays."""
    probe: bool = False
    """Whether the model is asked afterwards which facts the summary lacks; these are added word for word."""
    background: bool = False
    """Whether requests go on while the model is asked, where the host keeps a session; a later one puts it in."""
    template: SummaryTemplate = "summary"
    """Template of the summary, by name or inline."""
    prompt: PromptTemplate = "prompt"
    """Template of the prompt for a model, by name or inline."""

    @field_validator("target")
    @classmethod
    def _well_formed(cls, target: str | None) -> str | None:
        module, _, name = (target or "package.module:name").partition(":")
        if not all(part.isidentifier() for part in [*module.split("."), name]):
            raise ValueError(f"{target!r} is not of the form package.module:name")
        return target

    @field_validator("model_kwargs")
    @classmethod
    def _for_litellm(cls, arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
        problem = problem_of_arguments(arguments)
        if problem:
            raise ValueError(problem)
        return arguments

    @model_validator(mode="after")
    def _has_whom_it_asks(self) -> Self:
        if self.summarizer == "llm" and not self.model:
            raise ValueError("summarizer: llm asks a model; add 'model'")
        if self.summarizer != "llm" and self.model_kwargs:
            raise ValueError("model_kwargs are for the model of summarizer: llm; remove them, or write that")
        if (self.summarizer == "call") != (self.target is not None):
            raise ValueError("summarizer: call and 'target' go together; add the other, or remove it")
        if self.max_total_tokens < self.max_tokens:
            raise ValueError(
                f"max_total_tokens ({self.max_total_tokens}) has to be at least max_tokens ({self.max_tokens}): one "
                "summary is among all of them"
            )
        if self.background and self.summarizer == "extract":
            raise ValueError("background is for a summarizer that asks a model, and extract asks none; remove it")
        if self.probe and self.summarizer == "extract":
            raise ValueError("probe asks the model of the summarizer, and extract has none; remove 'probe'")
        return self

    def prepare(self) -> None:
        """Import the function."""
        _ = self.spec

    @cached_property
    def spec(self) -> SummarySpec:
        """How it summarises."""
        return SummarySpec(
            name=self.type_name,
            triggers=SummaryTriggers(),
            max_tokens=self.max_tokens,
            max_total_tokens=self.max_total_tokens,
            must_keep=self.must_keep,
            carry_files=self.carry_files,
            template=self.template,
            prompt=self.prompt,
            asked=self._asked,
            max_input_tokens=self.max_input_tokens,
            probe=self._asked if self.probe else None,
            background=self.background,
        )

    @property
    def _asked(self) -> Asked | None:
        if self.summarizer == "extract":
            return None
        if self.summarizer == "llm":
            asks = ThroughLitellm(self.model_kwargs)
            model, seconds = self.model or "", self.timeout_seconds
            return Asked(asks, model, seconds, self.max_tokens, "the model", asks.begin, self.model_kwargs)
        target = self.target or ""
        return Asked(_function(target), self.model or "", self.timeout_seconds, self.max_tokens, target)

    def plan(self, view: View) -> list[Edit]:
        """Propose a summary when it is due, and that the steps go for which it stands."""
        return summary_edits(view, self.spec)


def _function(target: str) -> Summarizer:
    module, _, name = target.partition(":")
    try:
        found: Callable[..., Any] = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"{target!r} cannot be imported ({error}); give package.module:name") from None
    if not callable(found):
        raise ValueError(f"{target!r} is a {type(found).__name__}, not a function")  # noqa: TRY004 (an option)
    return found
