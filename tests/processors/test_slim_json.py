from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import elision
from elision import Chain, Slimming, Text, open_archive, registry, slim_content
from elision.archive import Entry
from elision.testing import SHAPES, Shape, call, check_processor, conversation, image, result

RECALL = [elision.recall_tool_schema()]
ISSUES = [
    {
        "id": 10**20 + number,
        "title": f"Issue {number}: " + "long title " * 10,
        "user": {"login": f"user{number}", "url": f"https://example.org/{number}"},
        "labels": [{"name": f"label{label}", "color": "ff0000"} for label in range(6)],
        "body": "A long body.\n" * 40,
    }
    for number in range(1, 201)
]
DOCUMENT = json.dumps(ISSUES)
SMALL = (
    "history_processors: [{type: slim_json, threshold_tokens: 600, records: 3, "
    "fields: [id, title, user.login], value_chars: 40}]"
)


def history(*parts: Any, shape: Shape = "openai", tool: str = "search", error: bool = False) -> list[Any]:
    return conversation(shape).user("Go.").step(call(tool, q="a"), result(*parts, error=error)).messages()


def slimmed(text: str, **options: Any) -> str:
    """What is left of one text, or the text."""
    made = slim_content((Text(text),), Slimming(**options), way_back=lambda: "recall 3f9a1c0b77de")
    if made is None:
        return text
    (piece,) = made
    assert isinstance(piece, Text)
    return piece.text


@pytest.fixture
def slimming(chain: Callable[[str], Chain]) -> Chain:
    return chain(SMALL)


def test_it_keeps_the_contract_of_processors() -> None:
    cls = registry.plugins().processors()["slim_json"]

    check_processor(cls, max_examples=5, threshold_tokens=5, records=1, value_chars=5)


def test_summary_plus_handle_total_first_k_briefs_with_chosen_fields_and_cut_text_and_the_record_is_fetched_exactly(
    slimming: Chain,
) -> None:
    sent = json.loads(slimming.process(history(DOCUMENT), tools=RECALL).messages[-1]["content"])
    (ref,) = re.findall(r"recall ([0-9a-f]{12}) with record=N, N from 1 to 200", sent["slim"]["way_back"])
    fetched = [elision.recall(ref, record=number, archive=slimming.opened_archive).text for number in (1, 77, 200)]

    assert (sent["slim"]["total"], sent["slim"]["shown"]) == (200, 3)
    assert sent["records"][0]["id"] == 10**20 + 1
    assert sent["records"][2]["user.login"] == "user3"
    assert sent["records"][0]["title"].startswith("Issue 1: long title")
    assert len(sent["records"][0]["title"]) < 70
    assert fetched == [json.dumps(ISSUES[index]) for index in (0, 76, 199)]


def test_the_records_are_paged(slimming: Chain) -> None:
    (edit,) = slimming.process(history(DOCUMENT), tools=RECALL).edits
    page = elision.recall(edit.ref, records="4:6", archive=slimming.opened_archive)

    assert page.text.splitlines() == [json.dumps(issue) for issue in ISSUES[3:6]]
    assert page.note.startswith("record 4:6 of 200")


def test_a_list_under_names_is_found_and_what_stands_beside_it_stays() -> None:
    document = {"count": 200, "next": "https://example.org/?page=2", "data": {"items": ISSUES, "took": 1.50}}
    found = json.loads(slimmed(json.dumps(document), fields=("id",)))

    assert found["slim"]["at"] == "data.items"
    assert found["beside"] == {"count": 200, "next": "https://example.org/?page=2", "data": {"took": 1.5}}
    assert found["records"][:2] == [{"id": 10**20 + 1}, {"id": 10**20 + 2}]


def test_lines_of_json_stay_lines_of_json() -> None:
    text = "\n".join(map(json.dumps, ISSUES)) + "\n"
    first, *records = [json.loads(line) for line in slimmed(text, fields=("id",)).splitlines()]

    assert first["slim"]["total"] == 200
    assert records == [{"id": 10**20 + number} for number in range(1, 6)]


def test_fields_reach_into_lists_and_records_without_any_are_shown_with_theirs() -> None:
    documents = [{"labels": [{"name": "a"}, {"name": "b"}]}, {"other": 1}, *[{"x": "long " * 50}] * 100]
    found = json.loads(slimmed(json.dumps(documents), fields=("labels.name",)))

    assert found["records"][:2] == [{"labels.name": ["a", "b"]}, {"other": 1}]


NUMBERS = '{"a":1e400,"b":12345678901234567890123,"c":1.50,"d":-0.0,"e":1E5}'


def test_lines_that_a_shell_shows_around_the_list_stay(chain: Callable[[str], Chain]) -> None:
    text = f"<returncode>0</returncode>\n<output>\n{DOCUMENT}\n</output>"
    slimming = chain(SMALL)
    (edit,) = slimming.process(history(text)).edits
    before, shown, behind = slimming.process(history(text)).messages[-1]["content"].rpartition("\n</output>")

    assert (shown, behind) == ("\n</output>", "")
    assert json.loads(before.removeprefix("<returncode>0</returncode>\n<output>\n"))["slim"]["total"] == 200
    assert elision.recall(edit.ref, record=9, archive=slimming.opened_archive).text == json.dumps(ISSUES[8])


@pytest.mark.parametrize(
    ("before", "behind"),
    [("", "[exit code 0]"), ("[INFO] starting\n[debug] {}\n", "\n[INFO] done\n"), ("$ gh issue list\n", "\n{2 more}")],
)
def test_brackets_in_the_lines_around_the_list_are_no_part_of_it(
    chain: Callable[[str], Chain], before: str, behind: str
) -> None:
    slimming = chain(SMALL)
    view = slimming.process(history(f"{before}{DOCUMENT}{behind}"))
    (edit,) = view.edits
    shown = view.messages[-1]["content"]

    assert json.loads(shown.removeprefix(before).removesuffix(behind))["slim"]["total"] == 200
    assert elision.recall(edit.ref, record=200, archive=slimming.opened_archive).text == json.dumps(ISSUES[199])


def test_documents_in_a_row_are_records_however_they_are_written(chain: Callable[[str], Chain]) -> None:
    slimming = chain(SMALL)
    for between, indent in (("\n", 2), ("", None), ("\r\n\r\n", None)):
        text = between.join(json.dumps(each, indent=indent) for each in ISSUES)
        view = slimming.process(history(text))
        (edit,) = view.edits
        said, *shown = view.messages[-1]["content"].splitlines()

        assert json.loads(said)["slim"]["total"] == 200
        assert [json.loads(each)["id"] for each in shown] == [each["id"] for each in ISSUES[: len(shown)]]
        assert elision.recall(edit.ref, record=3, archive=slimming.opened_archive).text == json.dumps(
            ISSUES[2], indent=indent
        )


@pytest.mark.parametrize("levels", [100, 450, 900])
def test_of_records_that_are_very_deep_the_first_levels_are_shown(levels: int) -> None:
    deep = '{"a":' * levels + '"x"' + "}" * levels
    shown = slimmed(f"[{','.join([deep] * 90)}]", fields=("b",))

    assert json.loads(shown)["slim"]["total"] == 90
    assert "…" in shown
    assert slimmed(f"[{','.join(['[' * levels + ']' * levels] * 90)}]", fields=("b.c",)).startswith('{"slim":')


def test_numbers_stay_as_they_are_written() -> None:
    assert NUMBERS in slimmed(f"[{NUMBERS},{','.join(['0'] * 9000)}]", records=1)


@pytest.mark.parametrize(
    "text",
    [
        "[NaN," + "1," * 9000 + "1]",
        '[{"a":1,"a":2},' + "1," * 9000 + "1]",
        "[" * 50_000 + "]" * 50_000,
        "[1," * 3000,
        "plain text " * 3000,
        json.dumps({"text": "long " * 5000}),
        "[]" + " " * 90_000,
        "\ufeff" + DOCUMENT,
    ],
    ids=["nan", "twice", "deep", "broken", "text", "no list", "empty", "mark"],
)
def test_what_could_not_be_written_again_or_has_no_records_is_left_alone(text: str) -> None:
    assert slimmed(text) == text


def test_half_a_character_in_a_value_stays_an_escape() -> None:
    text = slimmed(json.dumps([{"a": "\ud83d", "b": "x" * 100} for _ in range(300)]))

    assert text.encode()
    assert json.loads(text)["records"][0]["a"] == "\ud83d"


@pytest.mark.parametrize("shape", SHAPES)
def test_in_every_dialect_the_list_is_slimmed_once(chain: Callable[[str], Chain], shape: Shape) -> None:
    slimming = chain(f"classification: none\n{SMALL}")
    messages = history(DOCUMENT, shape=shape)
    dialect = conversation(shape).dialect
    view = slimming.process(messages, dialect=dialect)

    assert [edit.operation for edit in view.edits] == ["slim"]
    assert slimming.process(view.messages, dialect=dialect).messages == view.messages


def test_parallel_results_are_slimmed_one_by_one_and_images_stay(slimming: Chain) -> None:
    run = (
        conversation()
        .user("Go.")
        .step(call("search", q="a"), call("search", q="b"), result(DOCUMENT, image()), result("[]"))
    )
    messages = run.messages()
    view = slimming.process(messages)

    assert view.messages[-2]["content"][1] is messages[-2]["content"][1]
    assert json.loads(view.messages[-2]["content"][0]["text"])["slim"]["total"] == 200
    assert view.messages[-1] is messages[-1]


def test_a_record_of_a_result_with_an_image_beside_it_is_fetched_too(slimming: Chain) -> None:
    (edit,) = slimming.process(history("see:", DOCUMENT, image())).edits

    assert elision.recall(edit.ref, record=5, archive=slimming.opened_archive).text == json.dumps(ISSUES[4])


@pytest.mark.parametrize("tool", ["create_issue", "load_skill", "recall"])
def test_receipts_skills_and_recalled_results_stay_whole(slimming: Chain, tool: str) -> None:
    messages = history(DOCUMENT, tool=tool)

    assert slimming.process(messages).messages[-1] is messages[-1]


def test_a_failed_result_stays_whole(slimming: Chain) -> None:
    messages = history(DOCUMENT, shape="anthropic", error=True)

    assert slimming.process(messages, dialect="anthropic").messages[-1] is messages[-1]


def test_where_nothing_can_read_it_back_no_handle_is_named(slimming: Chain) -> None:
    tools = [{"type": "function", "function": {"name": "search"}}]
    sent = json.loads(slimming.process(history(DOCUMENT), tools=tools).messages[-1]["content"])

    assert sent["slim"] == {"total": 200, "shown": 3}


def test_the_prefix_is_never_rewritten_and_a_session_sends_what_a_fresh_chain_sends(
    chain: Callable[[str], Chain],
) -> None:
    run = conversation().user("Go.")
    for number in range(6):
        run = run.step(call("search", q=f"{number}"), result(DOCUMENT if number % 2 else "short"))
    messages, views = run.messages(), []
    with chain(SMALL).session() as session:
        for stop in range(1, len(messages) + 1, 2):
            views.append(session.process(messages[:stop], tools=RECALL).messages)
            assert views[-1] == chain(SMALL).process(messages[:stop], tools=RECALL).messages

    assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(views))


def test_slimmed_before_it_is_cut_a_list_is_not_cut_any_more(chain: Callable[[str], Chain]) -> None:
    both = chain(SMALL[:-1] + ", {type: truncate, threshold_tokens: 1000}]")
    view = both.process(history(DOCUMENT))

    assert [edit.operation for edit in view.edits] == ["slim"]


NAMES = st.sampled_from(["a", "b", "id", "a.b", ""])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=60),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=40,
)


@given(VALUES, st.integers(1, 80), st.integers(0, 4), st.lists(NAMES.filter(bool), max_size=2), st.integers(1, 30))
def test_json_in_json_out_shorter_or_as_it_is_and_each_record_comes_back(
    value: Any, tokens: int, records: int, fields: list[str], chars: int
) -> None:
    text = json.dumps(value, ensure_ascii=False)
    how = {"threshold_tokens": tokens, "records": records, "fields": tuple(fields), "value_chars": chars}
    once = slimmed(text, **how)
    if once == text:
        return
    facts = json.loads(once)["slim"]
    found = value
    for name in facts.get("at", "").split(".") if "at" in facts and isinstance(value, dict) else ():
        found = found.get(name, found) if isinstance(found, dict) else found
    with open_archive("memory:", environ={}) as archive:
        (ref,) = archive.put_all([Entry(content=text)])
        last = elision.recall(ref, record=facts["total"], archive=archive)

    assert len(once) < len(text)
    assert slimmed(once, **how) == once
    assert last.records == f"{facts['total']} of {facts['total']:,}"
    json.loads(last.text)
