"""Recall brings back exactly what was asked for, as the view's policy allows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import elision
from elision.archive import Archive, Entry, open_archive
from elision.archive.excerpt import lines_of, page_of

LOG = "".join(f"line {number}\n" for number in range(1, 101)) + "ERROR at the end"
SECRET = "export DB_PASSWORD=hunter2hunter2\nok\n"


def put(archive: Archive, content: Any, **facts: Any) -> str:
    (ref,) = archive.put_all([Entry(content=content, **facts)])
    return ref.short


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("2:3", "line 2\nline 3\n"),
        ("100:", "line 100\nERROR at the end"),
        (":1", "line 1\n"),
        ("7", "line 7\n"),
        (" 99 : 999 ", "line 99\nline 100\nERROR at the end"),
        (None, LOG),
    ],
)
def test_lines_come_back_as_they_were(archive: Archive, lines: str | None, expected: str) -> None:
    found = elision.recall(put(archive, LOG), lines=lines, archive=archive)

    assert (found.text, found.total_lines) == (expected, 101)


@pytest.mark.parametrize("lines", ["", ":", "a:b", "0:3", "5:2", "102", "1-3", "7 8", "9" * 30, "-5:"])
def test_a_range_that_makes_no_sense_says_what_does(archive: Archive, lines: str) -> None:
    with pytest.raises(elision.ArchiveError, match=r"lines: .*(write 10:20, 10:, :20 or 7|has the lines 1:101)"):
        elision.recall(put(archive, LOG), lines=lines, archive=archive)


def test_grep_gives_matching_lines_with_their_numbers(archive: Archive) -> None:
    ref = put(archive, LOG)

    assert elision.recall(ref, grep="^line 1.$|ERROR", lines="15:", archive=archive).text == (
        "15:line 15\n16:line 16\n17:line 17\n18:line 18\n19:line 19\n101:ERROR at the end\n"
    )


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "x" * 2000])
def test_a_pattern_that_is_none_is_one_error(archive: Archive, pattern: str) -> None:
    with pytest.raises(elision.ArchiveError, match="grep: "):
        elision.recall(put(archive, LOG), grep=pattern, archive=archive)


def test_a_pattern_that_runs_away_is_stopped(archive: Archive) -> None:
    ref = put(archive, "a" * 5000 + "!")

    with pytest.raises(elision.ArchiveError, match="took longer than 2 seconds; use a simpler pattern"):
        elision.recall(ref, grep="(a|a?)+$", archive=archive)


@given(
    text=st.text(st.sampled_from("ab\n\r\u2028é\U0001f468\u200d\U0001f469\ud800"), max_size=120),
    size=st.integers(1, 40),
)
def test_the_pages_one_after_the_other_are_the_text(text: str, size: int) -> None:
    _, pages = page_of(text, 1, size)
    found = [page_of(text, number, size)[0] for number in range(1, pages + 1)]

    assert "".join(found) == text == "".join(line.text for line in lines_of(text))
    assert all(len(page) <= size for page in found)


def test_pages_are_cut_between_lines_and_never_inside_a_character() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"

    assert page_of("one\ntwo\nthree\n", 1, 9) == ("one\ntwo\n", 2)
    assert page_of(f"ab{family}{family}", 1, 9) == (f"ab{family}", 2)


def test_a_page_that_does_not_exist_says_which_do(archive: Archive) -> None:
    with pytest.raises(elision.ArchiveError, match="there is no page 3; there are the pages 1 to 2"):
        elision.recall(put(archive, LOG), page=3, page_chars=500, archive=archive)


def test_the_model_gets_what_the_views_policy_allows_and_the_owner_gets_all(archive: Archive) -> None:
    ref = put(archive, SECRET, view_policy="secrets")
    seen = elision.recall(ref, archive=archive)

    assert seen.text == "export DB_PASSWORD=[removed: credential]\nok\n"
    assert (seen.policy, seen.note) == ("secrets", "redacted (secrets)")
    assert elision.recall(ref, raw=True, archive=archive).text == SECRET


@pytest.mark.parametrize("asked", [{"grep": "hunter2"}, {"grep": "PASSWORD=h"}, {"lines": "1"}])
def test_neither_lines_nor_grep_are_a_way_around_the_policy(archive: Archive, asked: dict[str, str]) -> None:
    found = elision.recall(put(archive, SECRET, view_policy="secrets"), archive=archive, **asked)

    assert "hunter2" not in found.text


def test_under_full_only_the_size_is_told(archive: Archive) -> None:
    found = elision.recall(put(archive, LOG, view_policy="full"), archive=archive)

    assert found.text == f"[withheld by policy: {len(LOG)} characters]"


def test_one_edit_that_redacts_is_enough_for_the_same_bytes_elsewhere(archive: Archive) -> None:
    put(archive, SECRET)
    ref = put(archive, SECRET, view_policy="secrets")
    put(archive, SECRET)

    assert "hunter2" not in elision.recall(ref, archive=archive).text


def test_parts_read_as_their_texts_and_raw_as_their_json(archive: Archive) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBO" * 500}}
    source = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO" * 500}}
    ref = put(archive, [{"type": "text", "text": "One."}, image, source, "Two."])
    shown = elision.recall(ref, archive=archive).text.splitlines()

    assert (shown[0], shown[3]) == ("One.", "Two.")
    assert "[image/png;base64: 2,022 characters]" in shown[1]
    assert '"data": "[2,000 characters]"' in shown[2]
    assert elision.recall(ref, raw=True, page_chars=None, archive=archive).text.count("iVBO") == 1000


def test_the_archive_can_be_named(archive: Archive, folder: Path) -> None:
    ref = put(archive, "x")

    assert elision.recall(ref, archive=str(folder)).text == "x"


def test_the_tool_answers_with_the_exact_text(archive: Archive) -> None:
    text = "\r\n\x1b[31mred\x1b[0m\n\n"

    assert elision.handle_recall({"ref": put(archive, text)}, archive) == text


def test_the_tool_says_how_to_get_the_next_page(archive: Archive) -> None:
    ref = put(archive, "x" * 30_000)
    first, second = (elision.handle_recall({"ref": ref, "page": page}, archive) for page in (1, 2))

    assert first == "x" * 20_000 + f"\n[recall {ref}: page 1 of 2; for more: page=2]"
    assert second == "x" * 10_000 + f"\n[recall {ref}: page 2 of 2]"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "recall: 'ref' is missing; give the one that the placeholder names"),
        ({"ref": None}, "recall: 'ref' is missing"),
        ({"ref": 7}, "recall: 'ref' must be a string, not 7"),
        ({"reff": "x"}, "recall: there is no argument 'reff'; did you mean 'ref'?"),
        ({"ref": "0" * 12}, "there is no original 000000000000; check its spelling"),
        ({"ref": "REF", "page": "2"}, "recall: 'page' must be a whole number, not '2'"),
        ({"ref": "REF", "page": True}, "recall: 'page' must be a whole number"),
        ({"ref": "REF", "page": 9}, "recall: page: there is no page 9"),
        ({"ref": "REF", "lines": "x"}, "recall: lines: 'x' is no range"),
        ({"ref": "REF", "grep": "nowhere"}, "matches; it has 101 lines"),
        ("{", "recall: the arguments are no JSON"),
        ("[]", "recall: the arguments are no object"),
        ([], "recall: the arguments are no object"),
        (None, "recall: the arguments are no object"),
    ],
)
def test_whatever_a_model_sends_is_answered(archive: Archive, arguments: Any, said: str) -> None:
    ref = put(archive, LOG)
    given = {**arguments, "ref": ref} if isinstance(arguments, dict) and arguments.get("ref") == "REF" else arguments

    assert said in elision.handle_recall(given, archive)


@given(arguments=st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.dictionaries(st.text(), inner)))
def test_the_tool_never_raises(arguments: Any) -> None:
    assert elision.handle_recall(arguments, open_archive("none", environ={})).startswith("recall: ")


def test_the_tool_answers_where_the_archive_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "archive.db").write_text("no database at all, " * 100)

    assert elision.handle_recall({"ref": "0" * 12}, str(tmp_path)).startswith("recall: ")
    assert elision.handle_recall({"ref": "0" * 12}, "s3://x").startswith("recall: archive: there is no archive")


def test_the_schema_has_the_shape_of_each_wire() -> None:
    openai, anthropic = elision.recall_tool_schema("openai"), elision.recall_tool_schema("anthropic")

    assert (openai["type"], openai["function"]["name"], anthropic["name"]) == ("function", "recall", "recall")
    assert openai["function"]["parameters"] == anthropic["input_schema"]
    assert anthropic["input_schema"]["required"] == ["ref"]


def test_a_wire_that_is_not_known_names_the_nearest() -> None:
    with pytest.raises(elision.InputError, match="there is no style 'antropic'; did you mean 'anthropic'"):
        elision.recall_tool_schema("antropic")


def test_where_there_is_no_archive_recall_says_so(tmp_path: Path) -> None:
    with pytest.raises(elision.ArchiveError, match="there is no original 000000000000, because there is no archive"):
        elision.recall("0" * 12, archive=str(tmp_path / "mistyped"))
