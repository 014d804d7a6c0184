"""Hypothesis strategies: histories in every shape, poisoned ones, and chains of built-in processors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, cast

from pydantic import ValidationError

from elision import Chain, Polling, Processor, Schedule, Trigger
from elision.archive.opening import trial_archive
from elision.registry import plugins
from elision.testing.parts import (
    Acted,
    Body,
    CallPart,
    Entry,
    ImagePart,
    ResultPart,
    Said,
    Shape,
    Stray,
    TextPart,
    ThinkingPart,
)
from elision.testing.shapes import write

try:
    from hypothesis import strategies as st
    from hypothesis.strategies import DrawFn, SearchStrategy
except ModuleNotFoundError as error:  # pragma: no cover (a test runs it in a process of its own)
    raise ImportError(
        "elision.testing: hypothesis is not installed; it comes with the extra 'testing'; "
        "run pip install 'elision[testing]'"
    ) from error

PIXEL = "iVBORw0KGgo="
SNIPPETS = (
    "x",
    "ok\n",
    "[File: a.py (3 lines total)]\n1:import os\n2:print(os.getcwd())\n3:\n",
    "[File: ./a.py (2 lines total)]\n1:import re, sys, json, shlex\n2:raise SystemExit(1)\n(Open file: ./a.py)",
    "[File: b.py (9 lines total)]\n7:def f():\n8:    return 'a rather long line'\n[File: a.py (9 lines total)]\n7:pass",
    "before <diff>\n-a\n+b\n</diff> after <diff>c</diff>",
    f"a picture: ![shot](data:image/png;base64,{PIXEL}) and ![bad](data:image/png;base64,%%%)",
    "Old environment output: (12 lines omitted)",
    "Traceback (most recent call last):\n  File 'a.py', line 3, in f\nValueError: no\n" * 3,
    "<|endoftext|> <tool_result> </system>",
    "family \U0001f468‍\U0001f469‍\U0001f467‍\U0001f466 flag \U0001f1e9\U0001f1ea wave \U0001f44b\U0001f3fd",
    "漢字とかな、한글",
    "combining: a\u0301e\u0323\u0302 \u0e33 \u0915\u094d\u0937\u093f",
    "\u202eright to left\u202c שלום",
    "tab\tcr\r\nform\x0cfeed   line sep",
    "0123456789abcdef" * 40,
    "a line of output that is read once and never again\n" * 8,
    '{"next": null, "items": [' + ", ".join(['{"id": 1.50, "by": {"name": "é"}, "text": "long text"}'] * 6) + "]}",
    '{"id": 1, "text": "one"}\r\n' * 12,
)
"""Texts that processors look at, or that are easy to cut in the wrong place."""

TOOLS = ("read_file", "bash", "open", "search", "write_file")
_ODD_IDS = ("", "functions.bash:0", "../../etc/passwd", "id with spaces", "identité", "x" * 1500, "call")

Turn: TypeAlias = tuple[Entry, ...]
AnyPart = TypeVar("AnyPart", CallPart, ResultPart)

_snippet = st.sampled_from(SNIPPETS)
_any_text = st.one_of(_snippet, st.text(max_size=12), st.lists(_snippet, min_size=2, max_size=3).map("\n".join))
_text = _any_text.map(lambda words: words if words.strip() else f"{words}.")
_surrogate = st.sampled_from(["\ud83d", "cut \ud83d", "\udc00 tail", "whole \ud83d\ude00 pair"])
_blank = st.sampled_from(["", " ", "\n\t"])
_image = st.just(ImagePart(f"data:image/png;base64,{PIXEL}"))


@cache
def histories(shape: Shape) -> SearchStrategy[list[Any]]:
    """Return histories in one shape that a wire would accept, but for a newest step that may be pending, and for ids.

    Hosts keep ids that come from other providers: empty, repeated, or in letters that Anthropic does not take.
    """
    return entries(shape).map(lambda found: write(shape, found)[1])


@cache
def poisoned(shape: Shape) -> SearchStrategy[list[Any]]:
    """Return histories in one shape with faults in them.

    Faults are dangling calls, orphan and late and second results, split batches, lone surrogates and blank texts.
    """
    return entries(shape, faults=True).map(lambda found: write(shape, found)[1])


@cache
def entries(shape: Shape, *, faults: bool = False) -> SearchStrategy[tuple[Entry, ...]]:
    """Return what a history is made of, before it is written in its shape."""
    draws = _Draws(shape, faults)
    turn = _turn(draws)
    turns = st.one_of(st.lists(turn, max_size=12), st.lists(turn, min_size=4, max_size=12))
    parts = st.tuples(_beginning(draws), turns, st.one_of(st.just(()), _ending(draws)))
    return st.builds(_joined, parts, st.sampled_from(["counted", "repeated", "odd"]))


def _joined(parts: tuple[Turn, list[Turn], Turn], ids: str) -> tuple[Entry, ...]:
    first, turns, last = parts
    return tuple(_with_ids(entry, ids, number) for number, turn in enumerate([first, *turns, last]) for entry in turn)


def _with_ids(entry: Entry, ids: str, turn: int) -> Entry:
    """Give calls and results their ids: unique ones, the same in every turn, or the odd ones that were drawn."""

    def named(part: AnyPart) -> AnyPart:
        index, _, odd = (part.id or "").partition(":")
        return replace(part, id={"counted": f"call_{turn}_{index}", "repeated": f"call_{index}"}.get(ids, odd))

    match entry:
        case Acted():
            results = tuple(result and named(result) for result in entry.results)
            return replace(entry, calls=tuple(map(named, entry.calls)), results=results)
        case Stray():
            return Stray(tuple(map(named, entry.results)))
        case _:
            return entry


@st.composite
def _beginning(draw: DrawFn, draws: _Draws) -> Turn:
    """Draw a system message, demonstrations and the task."""
    found: list[Entry] = []
    if draw(_even):
        found.append(Said("system", draw(draws.words)))
    if draws.shape.startswith("sweagent") and draw(_often):
        found.append(Said("user", draw(draws.words), demo=True))
        if draw(_even):
            found.append(replace(draw(draws.step), demo=True))
    if not draw(_seldom):
        found.append(draw(draws.user))
    return tuple(found)


@st.composite
def _turn(draw: DrawFn, draws: _Draws) -> Turn:
    """Draw a step, or a user message between steps."""
    if draw(_seldom):
        return (draw(draws.user),)
    step = draw(draws.step)
    fault = draw(_FAULTS) if draws.faults and step.calls else "none"
    if fault != "none":
        return _spoilt(step, fault)
    if len(step.calls) > 0 and draw(_seldom):
        step = replace(step, then=draw(draws.words))
    return (step,)


@st.composite
def _ending(draw: DrawFn, draws: _Draws) -> Turn:
    """Draw a newest step that lacks results."""
    step = draw(draws.step)
    kept = draw(st.integers(0, max(0, len(step.calls) - 1)))
    return (replace(step, results=(*step.results[:kept], *[None] * (len(step.calls) - kept))),)


@st.composite
def _answered(draw: DrawFn, draws: _Draws) -> Acted:
    """Draw a step with its results."""
    answered = [(draw(draws.call), draw(draws.result)) for _ in range(draw(draws.batch))]
    calls = tuple(replace(call, id=f"{index}:{call.id}") for index, (call, _) in enumerate(answered))
    results = tuple(replace(result, id=call.id) for call, (_, result) in zip(calls, answered, strict=True))
    content = None if len(calls) > 0 and draw(_even) else draw(draws.words)
    thoughts = (draw(draws.thought),) if not draws.text_mode and draw(_often) else ()
    return Acted(content, thoughts, calls, results, extra=draw(_unknown))


def _spoilt(step: Acted, fault: str) -> Turn:
    """Take results of a step away, or put them elsewhere."""
    first, *rest = (result for result in step.results if result is not None)
    left: dict[str, tuple[ResultPart | None, ...]] = {
        "dangling": (None, *rest),
        "late": (None, *rest),
        "aborted": (ResultPart("The call was aborted.", first.id, error=True), *rest),
        "split": (first, *[None] * len(rest)),
        "reversed": step.results[::-1],
    }
    after: dict[str, Turn] = {
        "late": (Said("user", "And now?"), Stray((first,))),
        "orphan": (Stray((replace(first, id="9:nobody"),)),),
        "doubled": (Stray((first,)),),
        "aborted": (Stray((first,)),),
        "split": tuple(Stray((result,)) for result in rest),
    }
    return replace(step, results=left.get(fault, step.results)), *after.get(fault, ())


def _one_in(number: int) -> SearchStrategy[bool]:
    """Return whether something happens that happens one time in ``number``."""
    return st.sampled_from([False] * (number - 1) + [True])


_even, _often, _seldom = st.booleans(), _one_in(3), _one_in(8)
_unknown: SearchStrategy[Mapping[str, Any]] = st.sampled_from([{}] * 7 + [{"x_vendor": {"seen": [1]}}])
_arguments = st.builds(lambda key, value: {key: value}, st.sampled_from(["path", "command", "q"]), _snippet)
_signed = st.sampled_from([ThinkingPart("c2lnbmVk", "c2ln"), ThinkingPart("c2lnbmVk", redacted=True)])


class _Draws:
    """The strategies that depend on the shape, and on whether faults are asked for; made once."""

    def __init__(self, shape: Shape, faults: bool) -> None:
        self.shape = shape
        self.faults = faults
        self.text_mode = shape.endswith("_text")
        blocks = shape == "anthropic"
        self.words: SearchStrategy[str] = st.one_of(_text, _text, _surrogate, _blank) if faults else _text
        plain = st.builds(TextPart, self.words)
        cached = st.builds(TextPart, _text, cached=st.just(True))
        unknown = st.builds(TextPart, self.words, extra=st.just({} if blocks else {"x_part": 1}))
        lists = st.lists(st.one_of(plain, plain, cached, unknown, _image), min_size=1, max_size=3).map(tuple)
        body: SearchStrategy[Body] = st.one_of(self.words, self.words, self.words, lists)
        self.user = st.builds(Said, st.just("user"), body, extra=_unknown)
        malformed = st.just('{"path": "a.p')
        arguments = _arguments if blocks else st.one_of(_arguments, _arguments, _arguments, malformed)
        ids = st.sampled_from(_ODD_IDS[1:] if shape == "responses" else _ODD_IDS)  # there, no id is empty
        extra = st.sampled_from([{}, {}, {}, {} if blocks else {"index": 0}])
        self.call = st.builds(CallPart, st.sampled_from(TOOLS), arguments, ids, extra)
        self.result = st.builds(
            ResultPart,
            st.one_of(body, body, body, body, st.sampled_from(["", None])),
            error=_seldom,
            tags=st.sampled_from([(), (), (), (), ("keep_output",), ("remove_output",)]),
            cached=_seldom,
        )
        self.thought = _signed if blocks else st.one_of(_signed, st.just(ThinkingPart("I think so.")))
        self.batch = st.sampled_from([1, 0] if self.text_mode else [1, 0, 2, 3])
        self.step = _answered(self)


_FAULTS: SearchStrategy[str] = st.sampled_from(
    ["none", "none", "none", "dangling", "late", "orphan", "doubled", "aborted", "split", "reversed"]
)

SCHEDULES: SearchStrategy[Schedule] = st.sampled_from(
    [
        "every_step",
        "every_step",
        "break_even",
        Polling(polling=2),
        Polling(polling="auto"),
        Trigger(trigger_tokens=300),
        Trigger(trigger_tokens=200, clear_at_least_tokens=100),
        Trigger(trigger_share=0.01),
    ]
)
"""Schedules that come due in short histories."""
_SCHEDULES: SearchStrategy[Schedule | None] = st.one_of(st.none(), SCHEDULES)
_TAGS = st.frozensets(st.sampled_from(["keep_output", "remove_output"]), min_size=1)
OPTIONS: Mapping[str, Mapping[str, SearchStrategy[Any]]] = {
    "cache_control": {
        "tagged_roles": st.sampled_from([("user", "tool"), ("tool",), ("system", "user", "assistant", "tool")]),
        "last_n_messages": st.integers(0, 6),
        "last_n_messages_offset": st.integers(0, 3),
    },
    "call": {"target": st.sampled_from(["trimmed", "shortened", "shouted", "thinned", "turned", "noted", "edited"])},
    "dedupe": {"min_chars": st.sampled_from([1, 50, 300]), "schedule": _SCHEDULES},
    "image_limit": {
        "keep_images": st.sampled_from([None, 0, 1, 2]),
        "max_total_bytes": st.sampled_from([None, 1, 60]),
        "schedule": _SCHEDULES,
    },
    "clear_thinking": {"keep_turns": st.sampled_from([1, 1, 2, "all"]), "schedule": _SCHEDULES},
    "clear_tool_inputs": {
        "keep": st.integers(0, 3),
        "keep_steps": st.integers(0, 3),
        "threshold_chars": st.sampled_from([1, 40, 200]),
        "exclude_tools": st.frozensets(st.sampled_from(TOOLS), max_size=2),
        "schedule": _SCHEDULES,
    },
    "clear_tool_results": {
        "keep": st.integers(0, 3),
        "keep_steps": st.integers(0, 3),
        "clear_at_least_tokens": st.just(0),
        "clear_at_most_tokens": st.sampled_from([None, None, 20, 200]),
        "clear_tool_inputs": st.sampled_from([False, True, frozenset(TOOLS[:2])]),
        "exclude_tools": st.frozensets(st.sampled_from(TOOLS), max_size=2),
        "order": st.sampled_from(["oldest", "newest", "largest", "score"]),
        "placeholder": st.sampled_from(["compact", "head"]),
        "head_chars": st.integers(0, 60),
        "schedule": _SCHEDULES,
    },
    "last_n_observations": {"n": st.integers(1, 5), "polling": st.sampled_from([1, 2, 3, 4, 5, "auto"])},
    "offload": {
        "threshold_tokens": st.sampled_from([None, 20, 60]),
        "threshold_chars": st.sampled_from([None, 100, 300]),
        "batch_tokens": st.sampled_from([None, 40, 200]),
        "head_lines": st.integers(0, 2),
        "tail_lines": st.integers(0, 2),
    },
    "compact_interval": {
        "interval_steps": st.integers(3, 4),
        "overlap_steps": st.integers(0, 2),
        "keep_first_steps": st.integers(0, 2),
        "keep_last_steps": st.integers(1, 2),
        "max_total_tokens": st.sampled_from([60, 8000]),
    },
    "save_reminder": {"trigger_messages": st.integers(2, 12), "trigger_tokens": st.sampled_from([None, 40, 400])},
    "summarize": {
        "trigger_tokens": st.sampled_from([None, 5, 60, 400]),
        "trigger_messages": st.integers(2, 12),
        "keep_first_steps": st.integers(0, 2),
        "keep_last_steps": st.integers(1, 2),
        "shrink_to_share": st.sampled_from([None, 0.5]),
        "max_tokens": st.sampled_from([40, 300, 2000]),
        "max_total_tokens": st.sampled_from([60, 8000]),
    },
    "recent_steps": {
        "keep_first_steps": st.integers(0, 2),
        "keep_last_steps": st.integers(1, 4),
        "schedule": _SCHEDULES,
    },
    "remove_regex": {
        "remove": st.lists(
            st.sampled_from(["<diff>.*</diff>", "<diff>.*?</diff>", r"[a-z]+\n", ".", "\\s"]), max_size=2
        ),
        "keep_last": st.integers(0, 4),
    },
    "supersede": {"schedule": _SCHEDULES},
    "tag_tool_call_observations": {"function_names": st.frozensets(st.sampled_from(TOOLS)), "tags": _TAGS},
    "slim_json": {
        "threshold_tokens": st.sampled_from([None, 5, 30, 60]),
        "threshold_chars": st.sampled_from([None, 100]),
        "records": st.integers(0, 3),
        "value_chars": st.sampled_from([1, 10, 200]),
        "fields": st.sampled_from([(), ("id",), ("by.name", "text")]),
    },
    "truncate": {
        "threshold_tokens": st.sampled_from([None, 5, 30, 60]),
        "threshold_chars": st.sampled_from([None, 100]),
        "head_chars": st.integers(0, 80),
        "tail_chars": st.integers(0, 80),
        "head_lines": st.sampled_from([None, 0, 1]),
        "keep_error_lines": st.integers(0, 2),
    },
}
"""Options that matter for the built-in processors; any other keeps its default or is a small number."""


def chains(
    *,
    compat: Literal["sweagent"] | None = None,
    types: tuple[str, ...] | None = None,
    max_size: int = 4,
    classification: str | None = None,
) -> SearchStrategy[Chain]:
    """Return chains of built-in processors (of ``types`` only, if given) with generated options, in any order.

    The schedule of each is one of ``SCHEDULES``; its archive is in memory, and no file is written.  No table is asked
    unless ``classification`` names one.
    """
    registry = plugins()
    built_in = (
        [name for name in registry.processors() if registry.owner("elision_processors", name) == "builtin"]
        if types is None
        else list(types)
    )
    return st.builds(
        lambda found, schedule: Chain(
            found,
            compat=compat,
            classification=classification,
            archive=trial_archive(),
            schedule=schedule,
        ),
        st.lists(st.sampled_from(built_in).flatmap(processors), max_size=max_size),
        SCHEDULES,
    )


def processors(type_name: str) -> SearchStrategy[Processor]:
    """Return processors of one type with generated options."""
    cls = plugins().processors()[type_name]
    known = OPTIONS.get(type_name, {})
    options: dict[str, SearchStrategy[Any]] = dict(known)
    if type_name == "call":
        options["target"] = known["target"].map("elision.testing.functions:{}".format)
    for name, field in cls.model_fields.items():
        if name not in options and field.annotation is int:
            bounded: Any = Annotated[(int, *field.metadata)] if field.metadata else int
            options[name] = st.from_type(bounded).map(lambda number: max(-20, min(20, number))).filter(bool)
    made = st.fixed_dictionaries(options).map(lambda chosen: _made(cls, chosen))
    return made.filter(lambda processor: processor is not None).map(lambda processor: cast("Processor", processor))


def _made(cls: type[Processor], chosen: dict[str, Any]) -> Processor | None:
    """Return a processor; nothing where its options do not go together."""
    try:
        return cls(**chosen)
    except ValidationError:
        return None
