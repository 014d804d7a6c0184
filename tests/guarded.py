"""A history with a bit of everything, and processors made of one function, for tests of the guard."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Literal

from elision import Chain, Edit, Operation, Processor, Role, SentView, Stage, View

Plan = Callable[[View], Iterable[Edit]]


def planned(plan: Plan, **traits: Any) -> Processor:
    """Return a processor with this plan and these class traits."""

    class Planned(Processor):
        stage: ClassVar[Stage] = traits.get("stage", "request")
        operation: ClassVar[Operation] = traits.get("operation", "clear")
        touches: ClassVar[frozenset[Role]] = traits.get("touches", frozenset())
        type: Literal["planned"] = "planned"

        def plan(self, view: View) -> Iterable[Edit]:
            return plan(view)

    return Planned()


def call(call_id: str, name: str = "read_file", arguments: str = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def assistant(*calls: dict[str, Any], text: str | None = None) -> dict[str, Any]:
    return {"role": "assistant", "content": text, "tool_calls": list(calls)}


def tool(call_id: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


HISTORY: list[dict[str, Any]] = [
    {"role": "system", "content": "You are careful."},
    {"role": "user", "content": "Fix the bug."},
    assistant(call("a"), text="Look."),
    tool("a", "the first result, long enough to be worth clearing"),
    assistant(call("b"), call("c")),
    tool("b", "the second result, long enough to be worth clearing"),
    tool("c", "the third result, long enough to be worth clearing"),
    assistant(call("d")),
    tool("d", "the newest result, long enough to be worth clearing"),
]


def process(plan: Plan, history: list[Any] = HISTORY, **traits: Any) -> SentView:
    before = copy.deepcopy(history)
    view = Chain([planned(plan, **traits)]).process(history)
    assert history == before
    return view


def reasons(view: SentView) -> list[tuple[str, str]]:
    return [(refusal.rule, refusal.reason) for refusal in view.refusals]
