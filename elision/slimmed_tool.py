"""A decorator for functions that are tools: what is too long is reduced before any host sees it."""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, overload

from elision.errors import ArchiveError, ElisionError, InputError
from elision.message import Text
from elision.reducing import Slimming, Truncation, slim_content, truncate_content

if TYPE_CHECKING:
    from elision.archive import Archive

P = ParamSpec("P")

_MEDIA = frozenset({"data", "base64", "source", "source_type", "file_id", "mimeType", "mime_type"})
_BLOCKS: Mapping[str, frozenset[str]] = {
    "text": frozenset({"text"}),
    "image": _MEDIA | {"image", "url"},
    "image_url": frozenset({"image_url"}),
    "audio": _MEDIA | {"input_audio", "url"},
    "input_audio": frozenset({"input_audio"}),
    "resource": frozenset({"resource"}),
    "resource_link": frozenset({"uri"}),
    "file": _MEDIA | {"file", "file_data"},
    "document": _MEDIA | {"context"},
}
"""Types of the parts that hosts make a result of, and the keys of which such a part has one; a record may have a type,
too."""


@overload
def slim(function: Callable[P, Any], /) -> Callable[P, Any]: ...


@overload
def slim(
    *,
    threshold_tokens: int = ...,
    records: int = ...,
    fields: tuple[str, ...] | list[str] = ...,
    value_chars: int = ...,
    archive: Archive | str | None = ...,
) -> Callable[[Callable[P, Any]], Callable[P, Any]]: ...


def slim(
    function: Callable[P, Any] | None = None,
    /,
    *,
    threshold_tokens: int = 2000,
    records: int = 5,
    fields: tuple[str, ...] | list[str] = (),
    value_chars: int = 200,
    archive: Archive | str | None = None,
) -> Callable[P, Any] | Callable[[Callable[P, Any]], Callable[P, Any]]:
    """Have a tool function, ``async`` or not, give long results in brief, with the original in the archive first.

    A list of records in JSON is shown as ``slim_json`` shows it, any other text as ``truncate`` cuts it.  What is no
    text becomes JSON for that; what cannot, and parts as hosts have them, are given as they are.  ``archive`` is where
    originals go (:func:`elision.open_archive`; by default ``ELISION_ARCHIVE``, or ``.elision``).  Where it takes
    nothing, nothing is reduced and an :class:`elision.ElisionWarning` says so.
    """
    _check(threshold_tokens, records, value_chars, fields, archive)
    how = Slimming(threshold_tokens=threshold_tokens, records=records, fields=tuple(fields), value_chars=value_chars)

    def decorated(tool: Callable[P, Any]) -> Callable[P, Any]:
        if isinstance(tool, classmethod | staticmethod):
            return type(tool)(decorated(tool.__func__))
        if not callable(tool):
            raise InputError(f"slim: {tool!r:.80} is no function; write @slim above one")
        reducing = _Reducing(getattr(tool, "__name__", type(tool).__name__), how, archive)
        if inspect.iscoroutinefunction(tool) or inspect.iscoroutinefunction(getattr(tool, "__call__", None)):  # noqa: B004

            @wraps(tool)
            async def waited(*args: P.args, **kwargs: P.kwargs) -> Any:
                given: Awaitable[Any] = tool(*args, **kwargs)
                return reducing.reduced(await given)

            return waited

        @wraps(tool)
        def called(*args: P.args, **kwargs: P.kwargs) -> Any:
            result = tool(*args, **kwargs)
            return reducing.awaited(result) if inspect.iscoroutine(result) else reducing.reduced(result)

        return called

    return decorated if function is None else decorated(function)


def _check(threshold_tokens: Any, records: Any, value_chars: Any, fields: Any, archive: Any) -> None:
    from elision.archive import Archive

    for name, given, least in (
        ("threshold_tokens", threshold_tokens, 1),
        ("records", records, 0),
        ("value_chars", value_chars, 1),
    ):
        if isinstance(given, bool) or not isinstance(given, int) or given < least:
            raise InputError(f"slim: {name} is {given!r:.80}; give a whole number from {least} on")
    if not isinstance(fields, tuple | list) or not all(isinstance(each, str) and each for each in fields):
        said = f"{'the text ' if isinstance(fields, str) else ''}{fields!r:.80}"
        raise InputError(f"slim: fields is {said}; give a list of names")
    if archive is not None and not isinstance(archive, str | Archive):
        raise InputError(f"slim: archive is {archive!r:.80}; give one that is open, or where it is")


@dataclass(frozen=True)
class _Reducing:
    """What becomes of the results of one tool."""

    tool: str
    how: Slimming
    where: Archive | str | None

    @cached_property
    def archive(self) -> Archive:
        from elision.archive import Archive, open_archive

        if isinstance(self.where, Archive):
            return self.where
        return open_archive() if self.where is None else open_archive(self.where)

    async def awaited(self, result: Awaitable[Any]) -> Any:
        return self.reduced(await result)

    def reduced(self, result: Any) -> Any:
        text = result if isinstance(result, str) else _as_json(result)
        try:
            new = None if text is None else self._brief(text)
        except ElisionError as error:
            self._warn(str(error))
            return result
        if new is None:
            return result
        return new if isinstance(result, str) else json.loads(new)

    def _brief(self, text: str) -> str | None:
        """Return a text in brief, its original in the archive by then; ``None`` where it stays."""
        from elision.archive import Entry

        tokens = self.how.threshold_tokens or 0
        cut = Truncation(threshold_tokens=tokens, head_chars=2 * tokens, tail_chars=tokens)
        content, ref, operation = (Text(text),), self._ref(text), "slim"
        made = slim_content(content, self.how, way_back=ref)
        if made is None:
            made, operation = truncate_content(content, cut, way_back=ref), "truncate"
        match made:
            case (Text(text=new),):
                entry = Entry(
                    content=text,
                    chars_after=len(new),
                    processor="slim",
                    operation=operation,
                    tool=self.tool,
                    reason="long",
                )
                self.archive.put_all([entry])
                return new
        return None

    def _ref(self, text: str) -> Callable[[], str]:
        def found() -> str:
            if not self.archive.keeps:
                raise ArchiveError(self.archive.refusal)
            return f"ref {self.archive.ref(text)}"

        return found

    def _warn(self, why: str) -> None:
        from elision.session import ElisionWarning

        warnings.warn(f"slim: what {self.tool} gave stays as long as it is: {why}", ElisionWarning, stacklevel=4)


def _as_json(result: Any) -> str | None:
    """Return a result as JSON; ``None`` where it is none, or parts that a host shows to the model as they are."""
    if not isinstance(result, Mapping | list | tuple) or _has_blocks(result):
        return None
    try:
        return json.dumps(result, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return None


def _has_blocks(result: Any) -> bool:
    return isinstance(result, list | tuple) and any(
        isinstance(part, Mapping) and not _BLOCKS.get(str(part.get("type")), frozenset()).isdisjoint(part)
        for part in result
    )
