"""``offload``: results that are too long go to files that the agent can open; a note with a preview stays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import ClassVar, Literal, Self

from pydantic import NonNegativeInt, PositiveInt, model_validator

from elision import (
    Edit,
    Observation,
    OffloadFolder,
    Operation,
    Processor,
    Replace,
    Stage,
    ToolNames,
    View,
    may_touch,
    offload_folder_problem,
    require_a_tool,
)

_TOKENS_A_CHAR = 4
"""Most tokens that one character can be."""


class Offload(Processor):
    """Put long results into files as they come in, and leave a note with the path, an outline, the head and the tail.

    Cost: none; a result is changed before it is first sent.

    ```yaml
    history_processors:
      - type: offload
        threshold_tokens: 20000
        batch_tokens: 40000
        folder: .elision/offloaded
    ```

    Shape: ``[search(q="x"): 81234 chars, 1203 lines, 20311 tokens, offloaded to .elision/offloaded/3f9a….txt; read it
    in pages with read_file, or recall 3f9a1c0b77de]``, then names or headings of what is in it, the first lines and the
    last.  Where the results of one step are too long together, the longest go until they are not.  A file is named by
    the hash of what is in it, is closed to others, and is never written over; where it cannot be written, the result
    stays.  The original is in the archive all the same.  Never touches what was read from an offloaded file or
    recalled, what nothing in the request could read back, images, calls, anybody's text, and what the classification
    table protects.  Source: deepagents' eviction of large results, and Claude Code's persisted tool output.
    """

    stage: ClassVar[Stage] = "entry"
    operation: ClassVar[Operation] = "offload"
    after: ClassVar[tuple[str, ...]] = ("redact",)
    order_reason: ClassVar[str] = "what redact has not seen would stand in a file as it came"
    cost: ClassVar[str] = "none; results are changed when they come in"

    type: Literal["offload"] = "offload"
    threshold_tokens: PositiveInt | None = 20000
    """Tokens of a result over which it is offloaded."""
    threshold_chars: PositiveInt | None = None
    """The same in characters; where both are given, either will do."""
    batch_tokens: PositiveInt | None = 40000
    """Tokens of all results of a step over which the longest of them are offloaded, until the rest fits."""
    folder: OffloadFolder = ".elision/offloaded"
    """Where the files go, from the working directory; it is made, closed to others, when the first one is written."""
    head_lines: NonNegativeInt = 10
    """Lines of the beginning that the note shows, at most, and at most 1000 characters."""
    tail_lines: NonNegativeInt = 10
    """Lines of the end that the note shows, at most, and at most 1000 characters."""
    exclude_tools: ToolNames = frozenset()
    """Tools whose results are never offloaded."""
    include_tools: ToolNames | None = None
    """The only tools whose results are offloaded; all if not given."""

    @model_validator(mode="after")
    def _may_act(self) -> Self:
        if self.threshold_tokens is None and self.threshold_chars is None and self.batch_tokens is None:
            raise ValueError("threshold_tokens, threshold_chars, batch_tokens: none is given, so none goes; give one")
        require_a_tool(self.include_tools, self.exclude_tools)
        return self

    @property
    def files_in(self) -> str:
        """What ``folder`` says."""
        return self.folder

    def prepare(self) -> None:
        """See whether the folder can be used."""
        problem = offload_folder_problem(self.folder)
        if problem:
            raise ValueError(problem)

    def plan(self, view: View) -> Iterator[Edit]:
        """Propose notes for long results, and for the longest of a step that is too long."""
        found = [each for each in view.observations if each.is_result]
        for _, step in groupby(found, key=lambda each: each.step):
            yield from self._of_step(list(step))

    def _of_step(self, step: Sequence[Observation]) -> Iterator[Edit]:
        staying = []
        for observation in step:
            long = self._may_go(observation) and observation.longer_than(self.threshold_tokens, self.threshold_chars)
            edit = self._edit(observation, "long") if long else None
            if edit is not None:
                yield edit
            if edit is None or not observation.allows("offload"):
                staying.append(observation)
        if self.batch_tokens is not None:
            yield from self._of_batch(staying, self.batch_tokens)

    def _of_batch(self, step: Sequence[Observation], most: int) -> Iterator[Edit]:
        """Propose notes for the longest results until what stays is within ``most`` tokens."""
        if sum(len(each.text) for each in step) * _TOKENS_A_CHAR <= most:
            return
        sizes = {each.address: each.tokens for each in step}
        total = sum(sizes.values())
        candidates = [each for each in step if self._may_go(each) and each.allows("offload")]
        for observation in sorted(candidates, key=lambda each: (-sizes[each.address], each.address)):
            if total <= most:
                return
            edit = self._edit(observation, "long together")
            if edit is not None and (saved := observation.saved(edit)) > 0:
                total -= saved
                yield edit

    def _may_go(self, observation: Observation) -> bool:
        named = may_touch(observation.call, self.include_tools, self.exclude_tools)
        return named and not observation.elided and not observation.brought_back

    def _edit(self, observation: Observation, reason: str) -> Replace | None:
        """Return the edit that offloads a result; nothing where its note would be no shorter."""
        edit = observation.offload(self.folder, head_lines=self.head_lines, tail_lines=self.tail_lines, reason=reason)
        (note, *_) = edit.content
        return edit if len(getattr(note, "text", "")) < len(observation.text) else None
