"""Counting texts, parts, messages, and what a request carries beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from elision.message import Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from elision.own_values import OwnProfile, in_force
from elision.tokens.counters import counter_for
from elision.tokens.media import image_size
from elision.tokens.opaque import Weighing, as_json, sealed_tokens

if TYPE_CHECKING:
    from elision.profiles import Images

IMAGE_TOKENS = 765
"""An image where no model is named: 1024 x 1024 at high detail (OpenAI, vision guide: 85 + 4 tiles x 170)."""


def count_text(text: str, model: str | None = None) -> int:
    """Count the tokens of a text; text that looks like a special token is text, lone surrogates count as U+FFFD."""
    return counter_for(model).count(text)


def count_part(part: Part, model: str | None = None) -> int:
    """Count the tokens of a part: its text, its call, its thinking, or what an image or a file costs."""
    return count_parts((part,), model)


def count_parts(parts: Iterable[Part], model: str | None = None) -> int:
    """Count the tokens of some parts."""
    count, total = counter_for(model).count, 0
    open_ = list(parts)
    for part in open_:
        match part:
            case Text(text=text):
                total += count(text)
            case ToolResult(content=content):
                open_ += content
            case ToolCall(name=name, arguments=arguments):
                total += count(name) + count(_arguments(arguments))
            case Thinking(text=text, raw=raw):
                total += max(count(text), sealed_tokens(raw))
            case Image(url=url, raw=raw):
                total += _count_image(image_size(url), model, low=_has_low_detail(raw))
            case Opaque(raw=raw):
                total += _count_opaque(raw, model)
    return total


def count_messages(lists: Sequence[Sequence[Any]], dialect: str, model: str | None = None) -> list[int]:
    """Count the tokens of lists of host messages; a message that several of them hold is counted once."""
    from elision.dialect import by_name
    from elision.history import History
    from elision.registry import plugins

    reader = by_name(plugins().dialects(), dialect)
    known: dict[int, int] = {}
    totals = []
    for messages in lists:
        history = History(reader.wire)
        for raw in messages:
            history.append(reader.parse(raw, history))
        totals.append(sum(_counted(message, known, model) for message in history.messages))
    return totals


def count_tools(tools: Any, model: str | None = None) -> int:
    """Count the tokens of tool schemas, as the JSON in which they are sent."""
    return _count_opaque(tools, model) if tools else 0


def count_system(system: Any, model: str | None = None) -> int:
    """Count the tokens of a system prompt: a text, or blocks of text."""
    return sum(
        count_text(piece, model) if isinstance(piece, str) else _count_opaque(piece, model)
        for piece in _system_pieces(system)
    )


def count_beside(system: Any, tools: Any, model: str | None = None) -> int:
    """Count the tokens of what a request carries beside its messages."""
    return count_system(system, model) + count_tools(tools, model)


def _counted(message: Message, known: dict[int, int], model: str | None) -> int:
    key = id(message.raw)
    if key not in known:
        known[key] = count_parts(message.parts, model)
    return known[key]


def _arguments(arguments: Mapping[str, Any] | str) -> str:
    if isinstance(arguments, str):
        return arguments
    try:
        return as_json(dict(arguments))
    except (TypeError, ValueError, RecursionError):
        return as_json(Weighing(lambda _: 0).rest(arguments))


def _count_opaque(raw: Any, model: str | None) -> int:
    weighing = Weighing(lambda size: _count_image(size, model))
    rest = weighing.rest(raw)
    texts = [rest if isinstance(rest, str) else as_json(rest), *weighing.texts] if rest is not None else weighing.texts
    return weighing.fixed + sum(count_text(text, model) for text in texts)


def _system_pieces(system: Any) -> Iterable[Any]:
    if isinstance(system, list | tuple):
        return [piece for each in system for piece in _system_pieces(each)]
    if isinstance(system, Mapping):
        inner = next((system[key] for key in ("text", "parts", "content") if system.get(key)), None)
        return [system] if inner is None else _system_pieces(inner)
    return [] if system is None else [system]


def _count_image(size: tuple[int, int] | None, model: str | None, *, low: bool = False) -> int:
    images = _images_of(model, in_force())
    if low and images.rule == "tiles" and images.base_tokens:
        return images.base_tokens
    return images.cost(*size) if size else images.cost()


@lru_cache(maxsize=256)
def _images_of(model: str | None, own: OwnProfile | None) -> Images:
    from elision.profiles import Images, profile_for

    return Images("fixed", IMAGE_TOKENS) if model is None and own is None else profile_for(model).images


def _has_low_detail(raw: Any) -> bool:
    """Whether the host asks for the cheap form of an image (OpenAI)."""
    if not isinstance(raw, Mapping):
        return False
    inner = raw.get("image_url")
    return "low" in (raw.get("detail"), inner.get("detail") if isinstance(inner, Mapping) else None)
