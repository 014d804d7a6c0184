"""``closed_window``: only the last window of a file stays open, and nothing else is lost."""

from __future__ import annotations

from typing import Any

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
