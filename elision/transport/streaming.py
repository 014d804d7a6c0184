"""A streamed answer, passed through as it comes; what it used is read at its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

Done = Callable[[list[Any]], None]


class Stream:
    """litellm's stream, with everything that it has; ``done`` is given all chunks when it has ended."""

    def __init__(self, inner: Any, done: Done) -> None:
        self._inner = inner
        self._done = done
        self._chunks: list[Any] = []

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        try:
            chunk = next(self._inner)
        except StopIteration:
            self._end()
            raise
        self._chunks.append(chunk)
        return chunk

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            chunk = await anext(self._inner)
        except StopAsyncIteration:
            self._end()
            raise
        self._chunks.append(chunk)
        return chunk

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _end(self) -> None:
        chunks, self._chunks = self._chunks, []
        if chunks:
            self._done(chunks)
