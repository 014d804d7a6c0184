"""Asking a model: for a summary, and whether it lacks anything; what came of it is kept in the ledger."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from elision.ledger import Fact, Ledger, key_of
from elision.placeholders.cleaning import shortened
from elision.redaction import redact
from elision.summaries.background import Background, Going, Told
from elision.summaries.rendering import render_summary
from elision.summaries.writing import SummaryError

if TYPE_CHECKING:
    from elision.transport.usage import Purpose, Usage
    from elision.view import View

_TOO_LONG = re.compile(r"(?i)context[ _]?(?:window|length)|too long|too many tokens|maximum (?:context|prompt)|413")

_THOUGHT = re.compile(r"(?is)\s*<(think|thinking|reasoning)>(?:.*?</\1>\s*|.*)")
_ENDED = re.compile(r"(?ism)\A(?:(?!<think).)*?^</think(?:ing)?>[ \t]*$\s*")
"""Thinking that began in the prompt, as some templates of models have it."""


class Answered(NamedTuple):
    """A text, and what it has used."""

    text: str
    usage: Usage | None


Paid: TypeAlias = "Callable[[Usage], object]"
"""Takes note of what an answer has used."""


class Summarizer(Protocol):
    """Answers a prompt with a text: a model, or a function of the user's own."""

    def __call__(self, prompt: str, *, model: str, timeout_seconds: float, max_tokens: int) -> str | Answered:
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
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """What else the chain says of how it is asked."""


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked: prompts, each shorter than the one before, of which the first that is short enough is answered.

    What came of it is known by the content hash of what is summed up, the first prompt and the model.
    """

    asked: Asked
    key: bytes
    prompts: Sequence[Callable[[], str]]
    purpose: Purpose = "summary"

    def told(self, paid: Paid, going: Going = lambda: True) -> Told:
        """Ask, and return what came of it; where a prompt is too long for the model, ask with the next one."""
        failed = ""
        for prompt in self.prompts:
            text, failed, too_long = _in_time(
                self.asked, prompt(), lambda usage: paid(replace(usage, purpose=self.purpose))
            )
            if not failed:
                text = without_thinking(text)
                return {"text": text} if text.strip() else {"failed": f"{self.asked.name} gave nothing"}
            if not too_long or not going():
                break
        return {"failed": failed}

    def ask_in(self, background: Background) -> None:
        """Have a thread ask; what it asks is written out here and now."""
        prompts = [_fixed(prompt()) for prompt in self.prompts]
        fixed = replace(self, prompts=prompts)
        background.ask(self.key, lambda going: fixed.told(background.used.append, going))


def query(asked: Asked, content: str, prompts: Sequence[Callable[[], str]], purpose: Purpose = "summary") -> Query:
    """Return what is asked about some content."""
    first = prompts[0]()
    told = [content, first, asked.name, asked.model]
    told += [json.dumps(asked.arguments, sort_keys=True, default=str)] if asked.arguments else []
    digest = hashlib.sha256("\0".join(told).encode("utf-8", "surrogatepass"))
    return Query(asked, key_of("summary", digest.digest(), asked.model), [lambda: first, *prompts[1:]], purpose)


class PromptTooLongError(Exception):
    """The model does not take a prompt of this length."""


class NotYetError(Exception):
    """What is asked has not been answered yet."""


Asking: TypeAlias = Callable[[Query], str]
"""Answers a query, or raises: :class:`SummaryError` where that failed, :class:`NotYetError` where it goes on."""


def at_once(view: View) -> Asking:
    """Return what waits for each answer; nobody is asked for again what is in the ledger."""
    ledger, background = view.originals.ledger, view.originals.background

    def answer(query: Query) -> str:
        if not known(ledger, query.key):
            keep(ledger, query.key, query.told(background.used.append))
        return answer_in(ledger, query)

    return answer


def meanwhile(view: View) -> Asking:
    """Return what goes on without an answer that is not there yet, and has it asked for."""
    ledger, background = view.originals.ledger, view.originals.background

    def answer(query: Query) -> str:
        if not known(ledger, query.key):
            query.ask_in(background)
        return answer_in(ledger, query)

    return answer


def only_known(view: View) -> Asking:
    """Return what asks nobody."""
    return lambda query: answer_in(view.originals.ledger, query)


def take_in(view: View) -> None:
    """Record what a thread was told meanwhile."""
    taken = view.originals.background.taken()
    if taken is not None:
        keep(view.originals.ledger, *taken)


def answer_in(ledger: Ledger, query: Query) -> str:
    """Return what the ledger has of a query."""
    fact = ledger.look_up([query.key]).get(query.key)
    if fact is None:
        raise NotYetError
    outcome = json.loads(fact.text)
    if "failed" in outcome:
        raise SummaryError(str(outcome["failed"]))
    return str(outcome["text"])


def known(ledger: Ledger, key: bytes) -> bool:
    """Whether there is something under a key."""
    return bool(ledger.look_up([key]))


def keep(ledger: Ledger, key: bytes, told: Told) -> None:
    """Record what came of a query."""
    ledger.record(key, Fact(kind="outcome", text=json.dumps(told, sort_keys=True)))


def without_thinking(text: str) -> str:
    """Return an answer without the thinking that some servers leave in front of it; nothing where that never ended."""
    while found := _THOUGHT.match(text):
        text = text[found.end() :]
    return _ENDED.sub("", text, count=1)


def _fixed(text: str) -> Callable[[], str]:
    return lambda: text


def _in_time(asked: Asked, prompt: str, paid: Paid) -> tuple[str, str, bool]:
    """Return the text, or why there is none, and whether that is because the prompt is too long."""
    try:
        asked.begin()
    except Exception as error:  # noqa: BLE001 (as below)
        return "", f"{asked.name} cannot be asked: {shortened(_words_of(error), 300)}", False
    found: list[str] = []
    failed: list[str] = []
    too_long: list[bool] = []

    def ask() -> None:
        try:
            said = asked.summarizer(
                prompt, model=asked.model, timeout_seconds=asked.timeout_seconds, max_tokens=asked.max_tokens
            )
            if isinstance(said, Answered):
                if said.usage is not None:
                    paid(said.usage)
                said = said.text
            found.append(said)
        except BaseException as error:  # noqa: BLE001 (whatever a client raises, the run goes on)
            told = _words_of(error)
            too_long.append(isinstance(error, PromptTooLongError) or bool(_TOO_LONG.search(told)))
            failed.append(shortened(f"{type(error).__name__}: {told}", 300))

    worker = threading.Thread(target=copy_context().run, args=(ask,), name="elision-summary", daemon=True)
    worker.start()
    worker.join(asked.timeout_seconds)
    if failed:
        return "", f"{asked.name} raised {failed[0]}", any(too_long)
    if not found:
        return "", f"{asked.name} took more than {asked.timeout_seconds:g} seconds", False
    if not isinstance(found[0], str):
        return "", f"{asked.name} gave a {type(found[0]).__name__}, which is no text", False
    return found[0], "", False


def _words_of(error: BaseException) -> str:
    try:
        # Clients quote the header or the address that they could not send, with the key in it.
        return redact(str(error), "secrets").text
    except Exception:  # noqa: BLE001 (an error of a client's own may fail at that, too)
        return "what it says cannot be read"


def probed(asking: Asking, asked: Asked, summary: str, facts: Sequence[str]) -> list[str]:
    """Return the facts that a model says cannot be told from a summary."""
    if not facts:
        return []
    prompt = render_summary("probe", {"summary": summary, "facts": list(facts)})
    said = asking(query(asked, "probe", [lambda: prompt], "probe"))
    numbers = {int(number) for number in re.findall(r"\d{1,4}", said)}
    return [fact for number, fact in enumerate(facts, 1) if number in numbers]
