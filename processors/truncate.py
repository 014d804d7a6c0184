"""``truncate``: long results are cut to their head and tail as they come in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, NonNegativeInt, PositiveInt, model_validator

from elision import (
    Edit,
    Observation,
    Operation,
    Processor,
    Stage,
    ToolNames,
    Truncation,
    View,
    compile_regex,
    first_found,
    may_touch,
    require_a_tool,
    truncate_content,
)


def _checked(pattern: str) -> str:
    compile_regex(pattern)
    return pattern


class Truncate(Processor):
    """Cut long results to their head and tail as they come in, and say how much is between.

    Cost: none; a result is changed before it is first sent.

    ```yaml
    history_processors:
      - type: truncate
        threshold_tokens: 8000
        head_chars: 6000
        tail_chars: 3000
    ```

    Shape: the head, ``[51000 chars, 900 lines, left out here; recall 3f9a1c0b77de]``, the tail.  Lines in the middle
    that look like errors stay, with their numbers: the first and the last ``keep_error_lines`` of them, cut to 300
    characters.  Cuts are between lines, else between graphemes.  A result in JSON becomes an object with ``truncated``,
    ``left_out_chars``, ``head`` and ``tail``, and JSON lines stay JSON lines.  Binary data, and base64 of more than
    512 characters, is named with its kind and size instead.  Where head and tail are over the threshold still, they
    are halved until they are not.  The text says how the original comes back where a tool of the request recalls it.
    Never touches images, calls, anybody's text, and what the classification table protects.  Source: ``head`` and
    ``tail``, as the tools of SWE-agent and mini-swe-agent do it.
    """

    stage: ClassVar[Stage] = "entry"
    operation: ClassVar[Operation] = "truncate"
    usually_after: ClassVar[Mapping[str, str]] = {
        "image_parsing": "an image in base64 that was cut is none any more",
        "redact": "what is left of a secret that was cut in two is not found any more",
        "offload": "what was cut does not go to a file whole",
        "slim_json": "what was cut is no list in JSON any more",
    }
    cost: ClassVar[str] = "none; results are changed when they come in"

    type: Literal["truncate"] = "truncate"
    threshold_tokens: PositiveInt | None = 8000
    """Tokens of a result over which it is cut."""
    threshold_chars: PositiveInt | None = None
    """The same in characters; where both are given, either will do."""
    head_chars: NonNegativeInt = 6000
    """Characters that stay of the beginning."""
    tail_chars: NonNegativeInt = 3000
    """Characters that stay of the end."""
    head_lines: NonNegativeInt | None = None
    """Lines that stay of the beginning, at most; as many as fit if not given."""
    tail_lines: NonNegativeInt | None = None
    """Lines that stay of the end, at most; as many as fit if not given."""
    keep_error_lines: NonNegativeInt = 10
    """Lines between them that stay because they look like errors, at most."""
    error_pattern: Annotated[str, AfterValidator(_checked)] | None = None
    """What makes a line look like an error: a regular expression; words such as error and failed if not given."""
    exclude_tools: ToolNames = frozenset()
    """Tools whose results are never cut."""
    include_tools: ToolNames | None = None
    """The only tools whose results are cut; all if not given."""

    @model_validator(mode="after")
    def _may_act(self) -> Self:
        if self.threshold_tokens is None and self.threshold_chars is None:
            raise ValueError("threshold_tokens and threshold_chars: neither is given, so nothing is ever cut; give one")
        require_a_tool(self.include_tools, self.exclude_tools)
        return self

    def plan(self, view: View) -> Iterator[Edit]:
        """Propose what is left of each long result."""
        for observation in view.observations:
            if observation.is_result and not observation.elided and self._may_be_cut(observation):
                content = truncate_content(
                    observation.content,
                    self._how,
                    way_back=lambda found=observation: found.way_back,  # type: ignore[misc]
                    model=view.model,
                    first_found=partial(first_found, view),
                )
                if content is not None:
                    yield observation.replace(content, reason="long")

    @property
    def _how(self) -> Truncation:
        return Truncation(
            threshold_tokens=self.threshold_tokens,
            threshold_chars=self.threshold_chars,
            head_chars=self.head_chars,
            tail_chars=self.tail_chars,
            head_lines=self.head_lines,
            tail_lines=self.tail_lines,
            keep_error_lines=self.keep_error_lines,
            error_pattern=self.error_pattern,
        )

    def _may_be_cut(self, observation: Observation) -> bool:
        return may_touch(observation.call, self.include_tools, self.exclude_tools)
