"""Runs that are summed up: sent step by step, each view compared with a stateless one and held to the wire's rules."""

from __future__ import annotations

import json
import warnings
from typing import Any

from wire_rules import bytes_of, role_of, wire_faults

import elision
from elision import Chain, SentView
from elision.testing import Conversation, Shape, call, conversation, result

CONSTRAINT = "Never touch the release branch."
BODY = "a line of source that is read once\n" * 40


def chain(options: str, more: str = "", **said: Any) -> Chain:
    """Return a chain of one ``summarize`` that keeps originals in memory."""
    return loaded(f"[{{type: summarize, {options}}}]", more, **said)


def loaded(processors: str, more: str = "", **said: Any) -> Chain:
    return elision.loads(f"history_processors: {processors}\n{more}", archive=said.pop("archive", "memory:"), **said)


def begun(shape: Shape = "openai", task: str = f"Mend the loader. {CONSTRAINT}") -> Conversation:
    return conversation(shape).system("You are careful.").user(task)


def reads(run: Conversation, first: int, last: int, body: str = BODY) -> Conversation:
    """Add steps that read a file each."""
    for number in range(first, last + 1):
        run = run.step(f"I read {number}.py.", call("read_file", path=f"src/{number}.py"), result(f"{number}\n{body}"))
    return run


def sent(made: Chain, run: Conversation, **said: Any) -> list[SentView]:
    """Send a run step by step; each view is that of a stateless chain and one that the wire takes."""
    messages, views = run.messages(), []
    with made.session("run") as session, warnings.catch_warnings():
        warnings.simplefilter("ignore", elision.ElisionWarning)
        for stop in range(1, len(messages) + 1):
            if stop == len(messages) or role_of(messages[stop]) == "assistant":
                view = session.process(messages[:stop], dialect=run.dialect, **said)
                fresh = made.process(messages[:stop], dialect=run.dialect, **said)
                assert bytes_of(view.messages) == bytes_of(fresh.messages)
                if run.shape in ("openai", "anthropic", "responses", "gemini"):
                    assert wire_faults(run.shape, view.messages) == []
                views.append(view)
    return views


def last(made: Chain, run: Conversation, **said: Any) -> SentView:
    return sent(made, run, **said)[-1]


def summaries(view: SentView) -> list[str]:
    """Return the summaries in a view, in order."""
    return [text for text in texts(view) if text.startswith("[Summary of step")]


def texts(view: SentView) -> list[str]:
    return [text for message in view.messages for text in _texts(message)]


def _texts(message: Any) -> list[str]:
    content = message.get("content", message.get("parts"))
    if isinstance(content, str):
        return [content]
    return [str(part.get("text", "")) for part in content or ()]


def seen(view: SentView) -> str:
    """Return all that the model sees."""
    return "\n".join([*texts(view), json.dumps(view.messages, ensure_ascii=False)])
