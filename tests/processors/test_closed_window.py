"""``closed_window``: only the last window of a file stays open, and nothing else is lost."""

from __future__ import annotations

from typing import Any

import pytest

import elision

LINES = ("1:the first line of the file", "2:the second line of the file")


def window(path: str, *lines: str, total: int = 100, after: str = "(90 more lines below)") -> str:
    return "\n".join([f"[File: {path} ({total} lines total)]", "(0 more lines above)", *lines, after])


def history(*results: Any) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "1: do x\n2: do y"}]
    for number, result in enumerate(results):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "open", "arguments": "{}"}}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": result},
        ]
    return messages


def results(messages: list[Any]) -> list[Any]:
    chain = elision.loads("history_processors: [{type: closed_window}]")
    return [m["content"] for m in chain.process(messages).messages if m["role"] == "tool"]


OLD = (
    "[File: /a.py (100 lines total)]\n(0 more lines above)\nOutdated window with 2 lines omitted...\n"
    "(90 more lines below)"
)


def test_an_older_window_of_the_same_file_is_outdated() -> None:
    shown = [window("/a.py", *LINES), window("/a.py", "9:n")]

    assert results(history(*shown)) == [OLD, shown[1]]


def test_windows_of_different_files_stay_open() -> None:
    shown = [window("/a.py", "1:x"), window("/b.py", "1:y")]

    assert results(history(*shown)) == shown


def test_paths_that_mean_the_same_file_are_the_same_file() -> None:
    shown = [window("/x/../a.py", *LINES), window("/a.py", "9:n")]

    assert results(history(*shown))[0].startswith(
        "[File: /x/../a.py (100 lines total)]\n(0 more lines above)\nOutdated"
    )


def test_numbered_lines_without_a_window_are_left_alone() -> None:
    shown = ["10:30 build started", "12:match\n13:match", "[File: /a.py (0 lines total)]\n"]

    assert results(history(*shown)) == shown


def test_only_the_window_of_the_file_goes_when_a_message_shows_two() -> None:
    both = (
        "[File: /a.py (9 lines total)]\n1:a line that is certainly long enough to be worth it\nERROR between\n"
        "[File: /b.py (9 lines total)]\n7:y\nend"
    )
    again = window("/a.py", "1:x")

    assert results(history(both, again)) == [
        (
            "[File: /a.py (9 lines total)]\nOutdated window with 1 lines omitted...\nERROR between\n"
            "[File: /b.py (9 lines total)]\n7:y\nend"
        ),
        again,
    ]


def test_lines_after_the_window_stay() -> None:
    first = window("/a.py", *LINES, after="10:30 the clock struck")

    assert results(history(first, window("/a.py", "1:x")))[0].endswith("omitted...\n10:30 the clock struck")


def test_list_content_is_outdated_part_by_part() -> None:
    shown = window("/a.py", *LINES)
    first = [{"type": "text", "text": "note"}, {"type": "text", "text": shown, "extra": 1}]

    assert results(history(first, window("/a.py", "9:n")))[0] == [
        {"type": "text", "text": "note"},
        {"type": "text", "text": OLD, "extra": 1},
    ]


def test_windows_that_the_user_pasted_count_too() -> None:
    pasted = window("/a.py", *LINES)
    messages = [{"role": "user", "content": pasted}, *history(window("/a.py", "9:n"))[1:]]
    chain = elision.loads("history_processors: [{type: closed_window}]")

    assert chain.process(messages).messages[0]["content"] == OLD


def test_of_three_windows_of_a_file_only_the_last_stays_in_a_session_too() -> None:
    shown = [window("/a.py", f"{n}:a line that is certainly long enough to be worth it") for n in range(1, 4)]
    messages = history(*shown, "done")
    chain = elision.loads("history_processors: [{type: closed_window}]")
    session = chain.session()
    for length in (3, 5, 7):
        session.process(messages[:length])

    assert session.process(messages).messages == chain.process(messages).messages
    assert ["Outdated" in content for content in results(messages)] == [True, True, False, False]


def test_a_window_with_thousands_of_lines_takes_no_time_to_speak_of() -> None:
    shown = window("/a.py", *(f"{n}:line" for n in range(50_000)))

    assert "Outdated window with 50000 lines" in results(history(shown, window("/a.py", "1:x")))[0]


@pytest.mark.parametrize(
    "text",
    [
        "[File:" + " " * 200_000 + "x",
        "[File: a " * 25_000,
        "[File: a (1 " * 20_000,
        "(1 lines total)] " * 12_000,
        "[File: (1 lines total)]\n1:a line that is certainly long enough to be worth it",
    ],
    ids=lambda text: text[:20],
)
def test_what_only_begins_like_a_header_is_none(text: str) -> None:
    shown = [text, text]

    assert results(history(*shown)) == shown


@pytest.mark.parametrize("path", ["/my dir/a (1).py", "/a (2 lines total)] b.py", "/[File: x"])
def test_a_path_may_hold_what_a_header_is_made_of(path: str) -> None:
    first, second = results(history(window(path, *LINES), window(path, "9:n")))

    assert first == OLD.replace("/a.py", path)
    assert second == window(path, "9:n")


def test_a_message_is_closed_once_and_numbered_lines_after_the_note_stay() -> None:
    first = window("/a.py", *LINES, after="(90 more lines below)\n40:a match that a search printed after the window")
    shown = [first, window("/a.py", "8:m"), window("/a.py", "9:n")]
    closed = OLD + "\n40:a match that a search printed after the window"

    assert results(history(*shown))[0] == closed
    assert results(history(closed, *shown[1:]))[0] == closed


def test_windows_too_short_for_the_note_stay_open_however_many() -> None:
    shown = [window("/a.py", "1:x")] * 1_500

    assert results(history(*shown)) == shown


def test_all_windows_of_one_step_are_outdated_when_a_later_step_shows_the_file() -> None:
    calls = [
        {"id": f"b{number}", "type": "function", "function": {"name": "open", "arguments": "{}"}} for number in range(3)
    ]
    batch = [
        {"role": "assistant", "content": None, "tool_calls": calls},
        *({"role": "tool", "tool_call_id": call["id"], "content": window("/a.py", *LINES)} for call in calls),
    ]
    later = history(window("/a.py", "9:n"))

    assert results([later[0], *batch, *later[1:]]) == [OLD, OLD, OLD, window("/a.py", "9:n")]
