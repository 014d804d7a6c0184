"""Runs whose results have classes, and what a chain that clears all that is old makes of them."""

from __future__ import annotations

from typing import Any

from guarded import Plan, planned

from elision import Chain, Operation, SentView, Stage
from elision.testing import Conversation, Shape, call, conversation, result

LONG = "a line of some length that is worth clearing\n" * 9
RECEIPT = "Issue 991 was created: https://example.org/991\n" * 9
SKILL = "# How we deploy\nNever on Fridays.\n" * 20
TOO_FAR: Plan = lambda view: [  # noqa: E731
    *(part.replace("gone") for message in view.messages for part in message.parts),
    *(step.drop() for step in view.steps),
]
CLEAR_OLD: Plan = lambda view: [o.elide() for o in view.older_observations(keep_last=0)]  # noqa: E731
SHRINKING: tuple[Operation, ...] = ("clear", "truncate", "slim", "drop", "summarize", "budget", "offload", "supersede")
STAGES: tuple[Stage, ...] = ("entry", "history", "request")
WIRES: tuple[Shape, ...] = ("openai", "anthropic", "miniswe", "sweagent")


def begun(shape: Shape = "openai") -> Conversation:
    return conversation(shape).system("You are careful.").user("Do it.")


def read(path: str, content: str = LONG, **arguments: Any) -> tuple[Any, Any]:
    return call("read_file", path=path, **arguments), result(content)


def write(path: str, *, error: bool = False) -> tuple[Any, Any]:
    return call("write_file", path=path), result("written", error=error)


def clearing(**options: Any) -> Chain:
    return Chain([planned(CLEAR_OLD, stage="history")], **options)


def cleared(view: SentView) -> list[str]:
    return [edit.call_id for edit in view.edits]


def refused(view: SentView) -> dict[str, str]:
    """Return why the table keeps what it keeps."""
    kept = [each for each in view.refusals if each.rule == "class_allows" and each.call_id not in cleared(view)]
    return {each.call_id: each.reason for each in kept}


def step_by_step(chain: Chain, run: Conversation) -> list[SentView]:
    """Return the views of a session that grows by one message, after comparing each with a stateless one."""
    messages, views = run.messages(), []
    with chain.session("run") as session:
        for stop in range(1, len(messages) + 1):
            view = session.process(messages[:stop], dialect=run.dialect)
            fresh = chain.process(messages[:stop], dialect=run.dialect)
            assert (view.messages, cleared(view)) == (fresh.messages, cleared(fresh))
            views.append(view)
    return views
