"""Asking a model: for a summary, and whether it lacks anything; what came of it is kept in the ledger."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from elision.ledger import Fact, key_of
from elision.placeholders.cleaning import shortened
from elision.summaries.rendering import render_summary
from elision.summaries.writing import SummaryError

if TYPE_CHECKING:
    from elision.view import View

_TOO_LONG = re.compile(r"(?i)context[ _]?(?:window|length)|too long|too many tokens|maximum (?:context|prompt)|413")


class Summarizer(Protocol):
    """Answers a prompt with a text: a model, or a function of the user's own."""

    def __call__(self, prompt: str, *, model: str, timeout_seconds: float, max_tokens: int) -> str:
        """Return the text; raise where there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """Who is asked, with what, and how long that may take; ``begin`` is done first, in its own time."""

    summarizer: Summarizer
    model: str
    timeout_seconds: float
    max_tokens: int
    name: str
    begin: Callable[[], object] = bool


def answer(view: View, asked: Asked, content: str, prompts: Sequence[Callable[[], str]]) -> str:
    """Return what a model answers to the first of some prompts that is short enough for it.

    What came of it is recorded by the content hash of what is summed up, the first prompt and the model: nobody is
    asked again for the same.
    """
    first = prompts[0]()
    digest = hashlib.sha256("\0".join((content, first, asked.name, asked.model)).encode("utf-8", "surrogatepass"))
    key = key_of("summary", digest.digest(), asked.model)
    ledger = view.originals.ledger
    known = ledger.look_up([key]).get(key)
    if known is None:
        told = _told(asked, [lambda: first, *prompts[1:]])
        known = Fact(kind="outcome", text=json.dumps(told, sort_keys=True))
        ledger.record(key, known)
    outcome = json.loads(known.text)
    if "failed" in outcome:
        raise SummaryError(str(outcome["failed"]))
    return str(outcome["text"])


def _told(asked: Asked, prompts: Sequence[Callable[[], str]]) -> dict[str, str]:
    """Ask; where a prompt is too long for the model, ask with the next one, which is shorter."""
    failed = ""
    for prompt in prompts:
        text, failed, too_long = _in_time(asked, prompt())
        if not failed:
            return {"text": text} if text.strip() else {"failed": f"{asked.name} gave nothing"}
        if not too_long:
            break
    return {"failed": failed}


def _in_time(asked: Asked, prompt: str) -> tuple[str, str, bool]:
    """Return the text, or why there is none, and whether that is because the prompt is too long."""
    try:
        asked.begin()
    except Exception as error:  # noqa: BLE001 (as below)
        return "", f"{asked.name} cannot be asked: {shortened(str(error), 300)}", False
    found: list[str] = []
    failed: list[str] = []
    too_long: list[bool] = []

    def ask() -> None:
        try:
            found.append(
                asked.summarizer(
                    prompt, model=asked.model, timeout_seconds=asked.timeout_seconds, max_tokens=asked.max_tokens
                )
            )
        except BaseException as error:  # noqa: BLE001 (whatever a client raises, the run goes on)
            failed.append(shortened(f"{type(error).__name__}: {error}", 300))
            too_long.append(isinstance(error, PromptTooLongError) or bool(_TOO_LONG.search(str(error))))

    worker = threading.Thread(target=ask, name="elision-summary", daemon=True)
    worker.start()
    worker.join(asked.timeout_seconds)
    if failed:
        return "", f"{asked.name} raised {failed[0]}", any(too_long)
    if not found:
        return "", f"{asked.name} took more than {asked.timeout_seconds:g} seconds", False
    if not isinstance(found[0], str):
        return "", f"{asked.name} gave a {type(found[0]).__name__}, which is no text", False
    return found[0], "", False


def probed(view: View, asked: Asked, summary: str, facts: Sequence[str]) -> list[str]:
    """Return the facts that a model says cannot be told from a summary."""
    if not facts:
        return []
    prompt = render_summary("probe", {"summary": summary, "facts": list(facts)})
    said = answer(view, asked, "probe", [lambda: prompt])
    numbers = {int(number) for number in re.findall(r"\d{1,4}", said)}
    return [fact for number, fact in enumerate(facts, 1) if number in numbers]


def import_litellm() -> None:
    """Import litellm, which takes longer than many an answer."""
    from elision.transport.library import litellm

    litellm()


class PromptTooLongError(Exception):
    """The model does not take a prompt of this length."""


def through_litellm(prompt: str, *, model: str, timeout_seconds: float, max_tokens: int) -> str:
    """Ask a model through litellm."""
    from elision.transport.library import litellm
    from elision.transport.overflow import overflow_of

    library = litellm()
    try:
        response = library.completion(
            model=model,
            messages=[{"role": "user", "content": prompt}],
            timeout=timeout_seconds,
            max_tokens=max_tokens,
            num_retries=0,
            max_retries=0,
        )
    except Exception as error:
        if overflow_of(error, library) is not None:
            raise PromptTooLongError(str(error)) from error
        raise
    return str(response.choices[0].message.content or "")
