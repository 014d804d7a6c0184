"""``tag_tool_call_observations``: tag the results of chosen tools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from elision import Edit, Processor, Stage, ToolNames, View, names_tool


class TagToolCallObservations(Processor):
    """Tag the observations that answer calls of the named tools, for later processors to read.

    Cost: none.

    ```yaml
    history_processors:
      - type: tag_tool_call_observations
        function_names: [read_skill]
        tags: [keep_output]
      - type: last_n_observations
        n: 5
    ```

    Where the model writes commands as text, the first word of the command is the tool's name.  Shape: tags are
    Elision's own notes; only the ``sweagent`` dialect writes them into the item.  Never touches content.  Source:
    SWE-agent's processor of the same name, which tags the action instead (docs/compatibility.md).
    """

    stage: ClassVar[Stage] = "entry"
    cost: ClassVar[str] = "none"

    type: Literal["tag_tool_call_observations"] = "tag_tool_call_observations"
    tags: frozenset[str] = frozenset({"keep_output"})
    """Tags to add."""
    function_names: ToolNames = frozenset()
    """Tools whose results are tagged."""

    def plan(self, view: View) -> Iterator[Edit]:
        """Propose tags for the results that have come in."""
        for observation in view.observations:
            if self.tags and observation.call and names_tool(self.function_names, observation.call.name):
                yield view.tag(observation, *self.tags)
