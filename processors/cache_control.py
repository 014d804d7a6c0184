"""``cache_control``: set the provider's cache breakpoints where they pay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from elision import Edit, MessageView, Processor, Stage, Ttl, View

_HOUR = 3600


class CacheControl(Processor):
    """Set the provider's cache breakpoints, on the newest messages or where the plan says, and take away all others.

    Cost: none; breakpoints are not part of the cached prefix.

    ```yaml
    history_processors:
      - type: cache_control
        plan: auto
    ```

    With ``plan: auto`` a mark goes on the newest message, on the last one before the first step (so that system
    prompt, tools and task are one entry), and on the last one that the newest clear has changed, from where the next
    clear begins; on the step of a clear also on the last boundary that survives it, and after a step of more blocks
    than the provider looks back, on the end of the request before.  At most the profile's number, less those in
    ``system`` and ``tools``; as long as nothing has been cut, marks of the host stay where there is room.

    Else the newest ``last_n_messages`` are marked.  The mark goes on the last part that can carry one, never on blank
    text or thinking.  At most four are sent, counted with those in ``system`` and ``tools``; the newest win.

    A model that is known to take no marks gets none, and loses those of the host: some refuse a request that has them.
    With ``compat: sweagent`` it gets them, as SWE-agent leaves that to litellm.  Shape: ``cache_control: {type:
    ephemeral}`` on the part, in tool messages of chat completions beside the content.  Never touches content.  Source:
    SWE-agent's processor of the same name; limit, lookback and ``ttl`` are Anthropic's (prompt caching).
    """

    stage: ClassVar[Stage] = "request"
    last: ClassVar[bool] = True
    order_reason: ClassVar[str] = "it marks what is actually sent"
    cost: ClassVar[str] = "none"

    type: Literal["cache_control"] = "cache_control"
    plan_: Literal["last_n_messages", "auto"] = Field(default="last_n_messages", alias="plan")
    """Which messages are marked: the newest ``last_n_messages``, or with ``auto`` those where it pays."""
    last_n_messages: int = 2
    """Messages to mark, newest first; 0 or less takes all marks away."""
    last_n_messages_offset: int = 0
    """Messages to leave out at the end, whatever their role."""
    tagged_roles: tuple[str, ...] = ("user", "tool")
    """Roles whose messages are marked."""
    ttl: Ttl | None = None
    """How long the provider keeps what a mark ends; as it is, the host's own marks say it, else it is ``5m``."""

    @model_validator(mode="after")
    def _plan_stands_alone(self) -> Self:
        given = sorted(self.model_fields_set & {"last_n_messages", "last_n_messages_offset"})
        if self.plan_ == "auto" and given:
            raise ValueError(f"plan: auto chooses the messages itself; remove {' and '.join(given)}, or remove plan")
        return self

    def plan(self, view: View) -> Iterator[Edit]:
        """Propose breakpoints from the newest message back, or where they pay."""
        chosen = self._newest(view) if self.plan_ == "last_n_messages" else self._paying(view)
        marked: set[int] = set()
        ttl = self._lifetime(view)
        for message in chosen:
            marked.add(message.position)
            yield view.cache_breakpoint(message, ttl=ttl)
        for message in view.marked_messages():
            if message.position not in marked:
                yield view.cache_breakpoint(message, on=False)

    def _lifetime(self, view: View) -> Ttl | None:
        if self.ttl != "1h":
            return "5m" if self.plan_ == "auto" else self.ttl
        kept = view.model is None or any(each.seconds >= _HOUR for each in view.profile.cache.ttl)
        return "1h" if kept else "5m"

    def _newest(self, view: View) -> Iterator[MessageView]:
        if not _takes_marks(view):
            return
        found = 0
        for age, message in enumerate(view.newest_messages()):
            if found >= self.last_n_messages:
                break
            if age >= self.last_n_messages_offset and self._takes(message):
                found += 1
                yield message

    def _paying(self, view: View) -> list[MessageView]:
        """Return the messages where a breakpoint pays, those that pay most where not all may have one."""
        places = view.breakpoints
        tail = view.newest_markable(self.tagged_roles)
        if tail is None or not places.room:
            return []
        if places.broken_at is not None:
            before = self._last(view, places.survives_to)
        else:
            before = self._last(view, places.newest_step_start - 1)
            if before and view.blocks_between(before, tail) < places.lookback_blocks:
                before = None
        # Where nothing was cut, the host may know more: a view of ours that comes back stays as it is.
        known = places.broken_at is not None or places.changed_to is not None
        hosts = () if known else reversed(view.marked_messages())
        wanted = (tail, before, self._last(view, places.changed_to), self._head(view, places.head_stop), *hosts)
        found = {message.position: message for message in wanted if message is not None}
        return list(found.values())[: places.room]

    def _head(self, view: View, stop: int) -> MessageView | None:
        """Return the last message before the first step; a summary there gives way to the next one."""
        found = self._last(view, stop - 1)
        while found is not None and found.ours:
            found = self._last(view, found.position - 1)
        return found

    def _last(self, view: View, upto: int | None) -> MessageView | None:
        return None if upto is None else view.newest_markable(self.tagged_roles, upto=upto)

    def _takes(self, message: MessageView) -> bool:
        return message.role in self.tagged_roles and message.can_be_marked


def _takes_marks(view: View) -> bool:
    """Whether the model takes marks, or nobody knows; some refuse a request that has them."""
    known = view.model is not None and view.profile.name != "default"
    return view.compat is not None or not known or view.profile.cache.marks == "explicit"
