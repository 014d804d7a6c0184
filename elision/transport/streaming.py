"""A streamed answer, passed through as it comes; what it used is read at its end."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Self

Done = Callable[[list[Any]], None]

_SAYING = (
    "content",
    "tool_calls",
    "function_call",
    "reasoning_content",
    "thinking_blocks",
    "refusal",
    "audio",
    "images",
)


class Stream:
    """litellm's stream, with everything that it has; ``done`` is given all chunks when it has ended."""

    def __init__(self, inner: Any) -> None:
        self.done: Done | None = None
        self.hides_usage = False
        """Whether the pieces that only say what was used are for us: nobody else has asked for them."""
        self._inner = inner
        self._waiting: deque[Any] = deque()
        self._ended = False
        self._chunks: list[Any] = []

    @property
    def reported(self) -> bool:
        """Whether the provider has said what was used; where it does not, litellm ends with a guess of its own."""
        taken = getattr(self._inner, "chunks", None)
        return taken is None or any(getattr(chunk, "usage", None) for chunk in taken)

    def begun(self) -> Self:
        """Wait for the first chunk that says something: an error before it is one of the request."""
        while not self._ended and not any(map(_says, self._waiting)):
            try:
                self._waiting.append(next(self._inner))
            except StopIteration:
                self._ended = True
        return self

    async def has_begun(self) -> Self:
        """Wait for the same, as a coroutine."""
        while not self._ended and not any(map(_says, self._waiting)):
            try:
                self._waiting.append(await anext(self._inner))
            except StopAsyncIteration:
                self._ended = True
        return self

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        while not self._ended or self._waiting:
            if self._waiting:
                chunk = self._waiting.popleft()
            else:
                try:
                    chunk = next(self._inner)
                except StopIteration:
                    self._ended = True
                    break
            if self._is_passed_on(chunk):
                return chunk
        self._end()
        raise StopIteration

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        while not self._ended or self._waiting:
            if self._waiting:
                chunk = self._waiting.popleft()
            else:
                try:
                    chunk = await anext(self._inner)
                except StopAsyncIteration:
                    self._ended = True
                    break
            if self._is_passed_on(chunk):
                return chunk
        self._end()
        raise StopAsyncIteration

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _is_passed_on(self, chunk: Any) -> bool:
        """Take a chunk in, and say whether it goes to the host too."""
        self._chunks.append(chunk)
        return not (self.hides_usage and _only_reports(chunk))

    def _end(self) -> None:
        chunks, self._chunks = self._chunks, []
        if chunks and self.done is not None:
            self.done(chunks)


def _only_reports(chunk: Any) -> bool:
    """Whether a chunk says what was used, and has no part of the answer."""
    return getattr(chunk, "usage", None) is not None and not getattr(chunk, "choices", None)


def _says(chunk: Any) -> bool:
    """Whether a chunk has a part of the answer, or ends it."""
    choices = getattr(chunk, "choices", None) or ()
    deltas = [getattr(choice, "delta", None) for choice in choices]
    return any(getattr(choice, "finish_reason", None) for choice in choices) or any(
        getattr(delta, name, None) for delta in deltas for name in _SAYING
    )
