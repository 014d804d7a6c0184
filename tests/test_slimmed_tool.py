"""``@elision.slim``: a tool function gives long results in brief, and the whole is in the archive by then."""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

import elision
from elision import Archive, ElisionWarning, InputError, open_archive, recall, slim

RECORDS = [{"id": number, "text": f"{number} " * 30} for number in range(500)]


@pytest.fixture
def archive() -> Iterator[Archive]:
    with open_archive("memory:", environ={}) as opened:
        yield opened


def ref_in(shown: Any) -> str:
    (found,) = re.findall(r"ref ([0-9a-f]{12})", shown if isinstance(shown, str) else json.dumps(shown))
    return str(found)


def test_a_long_list_is_given_in_brief_and_each_record_comes_back(archive: Archive) -> None:
    @slim(archive=archive, records=2, fields=["id"])
    def find(word: str) -> list[dict[str, Any]]:
        """Find records."""
        return [{**record, "word": word} for record in RECORDS]

    shown = find("x")

    assert shown["records"] == [{"id": 0}, {"id": 1}]
    assert shown["slim"]["total"] == 500
    assert json.loads(recall(ref_in(shown), record=8, archive=archive).text) == {**RECORDS[7], "word": "x"}


def test_a_long_text_keeps_its_head_and_tail_and_all_of_it_comes_back(archive: Archive) -> None:
    text = "".join(f"line {number}\n" for number in range(5000))
    shown = slim(archive=archive)(lambda: text)()

    assert shown.startswith("line 0\nline 1\n")
    assert shown.endswith("line 4999\n")
    assert recall(ref_in(shown), archive=archive, page_chars=None).text == text


def test_json_that_is_no_list_becomes_an_object_with_its_head(archive: Archive) -> None:
    shown = slim(archive=archive)(lambda: {"text": "long " * 9000})()

    assert shown["truncated"] is True
    assert shown["head"].startswith('{"text": "long long')


def test_an_async_tool_is_awaited_and_stays_one(archive: Archive) -> None:
    @slim(archive=archive)
    async def find() -> str:
        await asyncio.sleep(0)
        return json.dumps(RECORDS)

    assert inspect.iscoroutinefunction(find)
    assert json.loads(asyncio.run(find()))["slim"]["total"] == 500


def test_what_gives_a_coroutine_is_awaited_whatever_kind_of_callable_it_is(archive: Archive) -> None:
    async def find() -> list[dict[str, Any]]:
        await asyncio.sleep(0)
        return RECORDS

    class Finder:
        async def __call__(self) -> list[dict[str, Any]]:
            return RECORDS

    for tool in (lambda *_: find(), Finder(), functools.partial(find)):
        assert asyncio.run(slim(archive=archive)(tool)())["slim"]["total"] == 500


def test_methods_may_be_decorated_in_either_order(archive: Archive) -> None:
    class Issues:
        @slim(archive=archive)
        def mine(self) -> list[dict[str, Any]]:
            return RECORDS

        @slim(archive=archive)
        @classmethod
        def of_class(cls) -> list[dict[str, Any]]:
            return RECORDS

        @staticmethod
        @slim(archive=archive)
        def static() -> list[dict[str, Any]]:
            return RECORDS

        @slim(archive=archive)
        @staticmethod
        def other() -> list[dict[str, Any]]:
            return RECORDS

    found = [Issues().mine(), Issues.of_class(), Issues().of_class(), Issues.static(), Issues.other()]  # type: ignore[call-overload]

    assert [each["slim"]["total"] for each in found] == [500] * 5


@pytest.mark.parametrize("kind", ["file", "document", "image", "resource"])
def test_records_that_have_a_type_are_no_parts(archive: Archive, kind: str) -> None:
    listing = [{"type": kind, "name": f"file{number}", "path": "src/" * 9} for number in range(500)]

    assert slim(archive=archive)(lambda: listing)()["slim"]["total"] == 500


def test_where_the_archive_cannot_be_opened_the_tools_result_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELISION_ARCHIVE", "s3://nowhere")

    with pytest.warns(ElisionWarning, match="stays as long as it is: archive: there is no archive"):
        assert slim(lambda: RECORDS)() is RECORDS


def test_what_is_no_function_is_an_error_at_once() -> None:
    with pytest.raises(InputError, match="slim: 'search' is no function"):
        slim("search")  # type: ignore[call-overload]


SHORT: list[Any] = [
    "short",
    {"a": 1},
    None,
    7,
    b"x" * 99_999,
    {1, 2},
    [object()],
    [{"type": "text", "text": "long " * 9000}],
    [float("nan")],
]


@pytest.mark.parametrize("given", SHORT, ids=range(len(SHORT)))
def test_what_is_short_no_json_or_a_hosts_own_parts_is_given_as_it_is(archive: Archive, given: Any) -> None:
    assert slim(archive=archive)(lambda: given)() is given
    assert archive.stats().originals == 0


def test_name_signature_and_docstring_stay_without_parentheses_too() -> None:
    @slim
    def find(word: str, most: int = 3) -> str:
        """Find records."""
        return word * most

    assert (find.__name__, find.__doc__) == ("find", "Find records.")
    assert list(inspect.signature(find).parameters) == ["word", "most"]
    assert find("a", most=2) == "aa"


def test_what_the_tool_raises_is_raised(archive: Archive) -> None:
    @slim(archive=archive)
    def fail() -> str:
        raise LookupError("not there")

    with pytest.raises(LookupError, match="not there"):
        fail()


def test_where_nothing_can_be_archived_the_result_stays_whole_and_a_warning_says_so() -> None:
    tool = slim(archive=open_archive("none", environ={}))(lambda: json.dumps(RECORDS))

    with pytest.warns(ElisionWarning, match="slim: what <lambda> gave stays as long as it is: "):
        assert tool() == json.dumps(RECORDS)


def test_what_is_given_in_brief_is_left_alone_by_a_chain(archive: Archive) -> None:
    shown = slim(archive=archive)(lambda: json.dumps(RECORDS))()
    call = {"id": "c", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": shown},
    ]
    view = elision.loads("history_processors: [{type: slim_json}, {type: truncate}]").process(messages)

    assert view.messages == messages
    assert not view.edits


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold_tokens": 0}, "slim: threshold_tokens is 0; give a whole number from 1 on"),
        ({"records": True}, "slim: records is True; give a whole number from 0 on"),
        ({"fields": "id"}, "slim: fields is the text 'id'; give a list of names"),
        ({"fields": [1]}, "slim: fields is [1]; give a list of names"),
        ({"fields": None}, "slim: fields is None; give a list of names"),
        ({"archive": 5}, "slim: archive is 5; give one that is open, or where it is"),
    ],
)
def test_an_option_that_cannot_be_used_is_an_error_at_once(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as raised:
        slim(**options)
    assert str(raised.value) == message
