"""``cache_control``: set the provider's cache breakpoints on the newest messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from elision import Edit, Processor, Role, Stage, View


class CacheControl(Processor):
    """Set cache breakpoints on the last ``last_n_messages`` messages and take away all others.

    Cost: none; breakpoints are not part of the cached prefix.

    ```yaml
    history_processors:
      - type: cache_control
        last_n_messages: 2
    ```

    The mark goes on the last part that can carry one, never on blank text or thinking.  At most four are sent, counted
    with those in ``system`` and ``tools``; the newest win.  Shape: ``cache_control: {type: ephemeral}`` on the part, in
    tool messages of chat completions beside the content.  Never touches content.  Source: SWE-agent's processor of the
    same name; the limit is Anthropic's (prompt caching).
    """

    stage: ClassVar[Stage] = "request"
    last: ClassVar[bool] = True
    order_reason: ClassVar[str] = "it marks what is actually sent"
    cost: ClassVar[str] = "none"

    type: Literal["cache_control"] = "cache_control"
    last_n_messages: int = 2
    """Messages to mark, newest first; 0 or less takes all marks away."""
    last_n_messages_offset: int = 0
    """Messages to leave out at the end, whatever their role."""
    tagged_roles: tuple[str, ...] = ("user", "tool")
    """Roles whose messages are marked."""

    def plan(self, view: View) -> Iterator[Edit]:
        """Propose breakpoints from the newest message back."""
        marked: set[int] = set()
        for age, message in enumerate(view.newest_messages()):
            if len(marked) >= self.last_n_messages:
                break
            if age >= self.last_n_messages_offset and self._takes(message.role) and message.can_be_marked:
                marked.add(message.position)
                yield view.cache_breakpoint(message)
        for message in view.marked_messages():
            if message.position not in marked:
                yield view.cache_breakpoint(message, on=False)

    def _takes(self, role: Role) -> bool:
        return role in self.tagged_roles
