"""``offload``: a long result goes to a file that the agent can open; path, size, outline and preview stay."""

from __future__ import annotations

import json
import os
import stat
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from offload_runs import FOLDER, TOOLS, files, lines, offloading, paths, quietly, results, searching
from scheduled_runs import words

import elision
from elision import recall
from elision.testing import call, check_processor, conversation, image, result

LONG = lines(400)
CODE = "import os\n\n\nclass Loader:\n    def load(self):\n        pass\n\n\ndef main():\n    pass\n"


@pytest.fixture(autouse=True)
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def offloaded(text: Any, options: str = "threshold_tokens: 500", **said: Any) -> str:
    """Return the note that stands for a result."""
    (note,) = results(offloading(options).process(searching(text).messages(), **said))
    return str(note)


def test_it_keeps_the_contract_of_processors() -> None:
    check_processor(elision.processor_types()["offload"], max_examples=5, threshold_tokens=40, batch_tokens=100)


def test_the_file_holds_the_result_and_the_note_names_it_by_its_path_from_the_working_directory() -> None:
    view = offloading().process(searching(LONG).messages())
    (path,) = paths(view)

    assert path == f"{FOLDER}/{sha256(LONG.encode()).hexdigest()[:32]}.txt"
    assert Path(path).read_bytes() == LONG.encode()


def test_a_result_up_to_the_threshold_stays() -> None:
    chain = offloading("threshold_tokens: 500, batch_tokens: null")

    assert [len(paths(chain.process(searching(words(count)).messages()))) for count in (500, 501)] == [0, 1]


def test_a_threshold_in_characters_counts_too() -> None:
    assert paths(offloading("threshold_chars: 100").process(searching(LONG).messages()))
    assert not paths(offloading("threshold_chars: 20000").process(searching(LONG).messages()))


def test_the_note_says_how_large_the_result_is_and_what_was_called() -> None:
    first, *_ = offloaded(LONG).splitlines()

    assert first.startswith(f'[search(q="0"): {len(LONG)} chars, 400 lines, ')
    assert " tokens, offloaded to " in first


def test_head_and_tail_lines_stay_in_the_note() -> None:
    _, *shown = offloaded(LONG, "threshold_tokens: 500, head_lines: 2, tail_lines: 1").splitlines()

    assert shown == ["head:", "line 0 of the output", "line 1 of the output", "tail:", "line 399 of the output"]


def test_without_head_and_tail_lines_the_note_is_one_line() -> None:
    assert len(offloaded(LONG, "threshold_tokens: 500, head_lines: 0, tail_lines: 0").splitlines()) == 1


def test_a_preview_of_one_endless_line_is_cut_between_graphemes() -> None:
    family = "\U0001f468‍\U0001f469‍\U0001f467"
    note = offloaded(family * 4000)
    _, _, head, _, tail = note.splitlines()

    assert (len(head) % len(family), len(tail) % len(family)) == (0, 0)
    assert len(note) < 2600


def test_the_note_is_a_placeholder_whatever_the_result_is_like() -> None:
    texts = [
        lines(3000, "x" * 500),
        "\n" * 90_000 + "end",
        "def f():\n    pass\n" * 9000,
        json.dumps({"k" * 999: [1] * 9999}),
    ]

    assert [len(offloaded(text)) <= 4000 for text in texts] == [True] * 4


@pytest.mark.parametrize(
    ("text", "outline"),
    [
        (CODE + "x = 1\n" * 2000,
         ["4: class Loader:", "5:     def load(self):", "9: def main():"]),
        ("# Guide\ntext\n## Install\n" + "a word\n" * 2000, ["1: # Guide", "3: ## Install"]),
        ("=== FAILURES ===\n" + "a word\n" * 2000 + "=== 1 failed in 2 s ===\n",
         ["1: === FAILURES ===", "2002: === 1 failed in 2 s ==="]),
        (json.dumps({"total": 3, "items": [{"id": 1}] * 900, "next": None}),
         ["object of 3:", "total: 3", "items: list of 900", "next: null"]),
        (json.dumps([{"id": 1, "name": "a"}] * 900), ["list of 900; the first has id, name"]),
    ],
    ids=["code", "markdown", "log", "object", "records"],
)  # fmt: skip
def test_the_note_has_an_outline_of_code_headings_and_json(text: str, outline: list[str]) -> None:
    shown = offloaded(text).partition("\noutline:\n")[2].partition("\nhead:\n")[0].splitlines()

    assert shown == outline


def test_json_goes_to_a_json_file() -> None:
    (path,) = paths(offloading().process(searching(json.dumps([{"id": n} for n in range(900)])).messages()))

    assert path.endswith(".json")
    assert len(json.loads(Path(path).read_text())) == 900


def test_binary_and_base64_are_named_in_the_preview_and_whole_in_the_file() -> None:
    binary, base64 = "\x00\x01\x02\ufffd" * 3000, "aB3/" * 3000
    view = offloading().process(searching(binary, base64).messages())

    assert ["binary data" in results(view)[0], "base64" in results(view)[1]] == [True, True]
    assert [Path(path).read_bytes().decode() for path in paths(view)] == [binary, base64]


def test_lone_surrogates_come_back_from_the_file_and_from_the_archive_and_are_not_sent() -> None:
    text = "\ud83d" + LONG
    chain = offloading()
    view = chain.process(searching(text).messages())
    (path,) = paths(view)

    assert Path(path).read_bytes().decode("utf-8", "surrogatepass") == text
    assert recall(view.edits[0].ref, page_chars=None, archive=chain.opened_archive).text == text
    assert results(view)[0].isascii() or "\ufffd" in results(view)[0]


def test_line_ends_and_escapes_are_in_the_file_as_they_came() -> None:
    text = "a\r\nb\r\x1b[31mred\x1b[0m\t\n" * 900
    (path,) = paths(offloading().process(searching(text).messages()))

    assert Path(path).read_bytes() == text.encode()


def test_images_stay_beside_the_note() -> None:
    run = searching((LONG, image(), LONG))
    (content,) = results(offloading().process(run.messages()))

    assert [part["type"] for part in content] == ["text", "image_url"]
    assert Path(paths(offloading().process(run.messages()))[0]).read_text() == f"{LONG}\n{LONG}"


def test_a_user_message_of_868_kb_is_not_its_business() -> None:
    run = conversation().user("word " * 177_000).step("Done.")

    assert offloading().process(run.messages()).edits == ()


def test_the_file_holds_what_redact_left() -> None:
    key = "AKIA" + "QYLPMN5HFIQR7XYA"
    chain = elision.loads("history_processors: [{type: redact}, {type: offload, threshold_tokens: 500}]")
    (path,) = paths(quietly(chain, searching(f"aws_key = {key}\n{LONG}").messages()))

    assert key not in Path(path).read_text()


def test_it_must_stand_after_redact() -> None:
    with pytest.raises(elision.ConfigError, match="offload must stand after redact"):
        elision.loads("history_processors: [{type: offload}, {type: redact}]")


def test_what_truncate_and_clear_find_later_is_a_note_that_stays() -> None:
    chain = elision.loads(
        "{history_processors: [{type: offload, threshold_tokens: 500}, {type: truncate, threshold_tokens: 20}, "
        "{type: slim_json, threshold_tokens: 20}, {type: last_n_observations, n: 1}]}"
    )
    texts = (LONG, lines(500), lines(600))

    assert results(chain.process(searching(*texts).messages())) == results(
        offloading(archive="memory:").process(searching(*texts).messages())
    )


def test_what_the_table_protects_stays() -> None:
    run = conversation().user("Go.").step(call("create_issue", title="x"), result(LONG)).step("Done.")
    view = quietly(offloading(), run.messages())

    assert (view.edits, [each.reason for each in view.refusals]) == ((), ["class receipt: offload never"])
    assert files() == []


@pytest.mark.parametrize(
    ("options", "gone"), [("exclude_tools: [search]", 0), ("include_tools: [other]", 0), ("include_tools: [search]", 1)]
)
def test_tools_are_excluded_and_included(options: str, gone: int) -> None:
    assert len(paths(offloading(f"threshold_tokens: 500, {options}").process(searching(LONG).messages()))) == gone


# The results of one step together.


def batch(*texts: str) -> list[Any]:
    parts: list[Any] = [call("search", q=str(number)) for number in range(len(texts))]
    return conversation().user("Go.").step(*parts, *map(result, texts)).step("Done.").messages()


def test_of_a_step_that_is_too_long_the_longest_results_go_until_it_fits() -> None:
    view = offloading("batch_tokens: 1500, head_lines: 0, tail_lines: 0").process(
        batch(words(400), words(900), words(500), words(700))
    )

    assert ["offloaded to" in text for text in results(view)] == [False, True, False, True]


def test_ten_parallel_results_of_3k_tokens_against_a_20k_budget_are_bounded_and_valid() -> None:
    texts = [lines(500, name) for name in "abcdefghij"]
    messages = batch(*texts)
    chain = offloading("batch_tokens: 20000")
    view = chain.process(messages)
    staying = [text for text in results(view) if "offloaded to" not in text]

    assert [m.get("tool_call_id") for m in view.messages] == [m.get("tool_call_id") for m in messages]
    assert view.tokens.after < 20_500 < view.tokens.before
    assert len(paths(view)) == 10 - len(staying) < 10
    assert chain.process(view.messages).messages == view.messages


def test_of_equal_results_the_earlier_ones_go_first() -> None:
    view = offloading("batch_tokens: 1500, head_lines: 0, tail_lines: 0").process(batch(*[words(700)] * 3))

    assert ["offloaded to" in text for text in results(view)] == [True, False, False]


def test_what_may_not_go_counts_but_stays() -> None:
    messages = (
        conversation().user("Go.")
        .step(call("create_issue", title="x"), call("search", q="x"), result(words(900)), result(words(800)))
        .step("Done.").messages()
    )  # fmt: skip
    view = offloading("batch_tokens: 1000, head_lines: 0, tail_lines: 0").process(messages)

    assert ["offloaded to" in text for text in results(view)] == [False, True]
    assert view.refusals == ()


def test_results_of_different_steps_are_not_counted_together() -> None:
    assert (
        paths(
            offloading("batch_tokens: 1000, head_lines: 0, tail_lines: 0").process(
                searching(words(700), words(700)).messages()
            )
        )
        == []
    )


# The way back.


def tools(*names: str) -> list[Any]:
    return [{"type": "function", "function": {"name": name, "parameters": {}}} for name in names]


@pytest.mark.parametrize(
    ("offered", "way"),
    [
        (("search", "read_file"), "read it in pages with read_file]"),
        (("search", "bash", "read_file"), "read it in pages with read_file]"),
        (("search", "bash"), "read it in pages with bash]"),
        (("search", "Read", "Write"), "read it in pages with Read]"),
        (("search", "str_replace_based_edit_tool"), "read it in pages with str_replace_based_edit_tool]"),
        (("search", "mcp__filesystem__read_text_file"), "read it in pages with mcp__filesystem__read_text_file]"),
        (("search", "recall"), "; recall 4"),
        (("search", "recall", "read_file"), "read it in pages with read_file, or recall 4"),
    ],
)
def test_the_note_names_the_tool_that_reads_it(offered: tuple[str, ...], way: str) -> None:
    first, *_ = offloaded(LONG, tools=tools(*offered)).splitlines()

    assert way in first.replace(sha256(LONG.encode()).hexdigest()[:12], "4")


def test_without_a_tool_that_reads_files_or_recalls_nothing_is_offloaded() -> None:
    view = quietly(offloading(), searching(LONG).messages(), tools=tools("search", "write_file"))

    assert (view.edits, [each.rule for each in view.refusals], files()) == ((), ["way_back"], [])


def test_where_the_tools_are_not_known_the_note_has_the_ref_too() -> None:
    first, *_ = offloaded(LONG).splitlines()

    assert first.endswith(f"; read it in pages; ref {sha256(LONG.encode()).hexdigest()[:12]}]")


def test_when_the_tools_change_the_note_names_the_tool_that_reads_it_now_and_the_path_stays() -> None:
    chain, messages = offloading(), searching(LONG).messages()
    with chain.session() as session:
        notes = [
            results(session.process(messages, tools=tools(*each)))[0]
            for each in (["search", "read_file"], ["search", "bash"])
        ]
        gone = session.process(messages, tools=tools("search"))

    assert [note.partition("pages with ")[2].partition("]")[0] for note in notes] == ["read_file", "bash"]
    assert results(gone) == notes[1:]
    assert [call.call_id for call in gone.unreachable] == ["call_1"]
    assert len(files()) == 1


# What is read back.


@pytest.mark.parametrize("table", ["default", "none"])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_file", {"path": "{}"}),
        ("read_file", {"path": "/repo/{}", "offset": 0, "limit": 900}),
        ("bash", {"command": "sed -n '1,900p' ./{}"}),
        ("bash", {"command": "cd .elision/offloaded && cat *"}),
        ("read_many_files", {"paths": ["a.txt", "{}"]}),
        ("recall", {"ref": "3f9a1c0b77de"}),
    ],
)  # fmt: skip
def test_what_is_read_from_an_offloaded_file_is_never_offloaded_again(
    table: str, tool: str, arguments: dict[str, Any]
) -> None:
    path = f"{FOLDER}/{'0' * 32}.txt"
    given = json.loads(json.dumps(arguments).replace("{}", path))
    run = conversation().user("Go.").step(call(tool, **given), result(LONG)).step("Done.")
    view = offloading("threshold_tokens: 500, batch_tokens: 600", table=table).process(
        run.messages(), tools=tools("recall", "read_file", tool)
    )

    assert (view.edits, view.refusals) == ((), ())


def test_what_is_read_from_an_offloaded_file_is_not_truncated_and_may_go_when_it_is_old() -> None:
    chain = elision.loads(
        "{history_processors: [{type: offload}, {type: truncate, threshold_tokens: 100}, "
        "{type: clear_tool_results, keep: 0, schedule: every_step}]}"
    )
    run = conversation().user("Go.").step(call("read_file", path=f"{FOLDER}/x.txt"), result(LONG))
    for number in range(8):
        run = run.step(call("read_file", path=f"{number}.py"), result("x"))
    early, late = (results(quietly(chain, run.messages()[:stop]))[0] for stop in (7, None))

    assert early == LONG
    assert late.startswith("[read_file(")


def test_another_folder_is_exempt_where_the_chain_says_so() -> None:
    run = conversation().user("Go.").step(call("read_file", path="big/x.txt"), result(LONG)).step("Done.")

    assert offloading("threshold_tokens: 500, folder: big").process(run.messages()).edits == ()
    assert offloading("threshold_tokens: 500, folder: bigger").process(run.messages()).edits != ()


# The same bytes, however it is run.


def test_session_stateless_and_a_restart_at_each_step_give_the_same_bytes() -> None:
    messages = searching(LONG, words(600), "short", json.dumps([{"id": 1}] * 900), lines(700)).messages()
    chain = offloading("threshold_tokens: 500, batch_tokens: 900")
    with chain.session() as session:
        for stop in range(1, len(messages) + 1):
            view = session.process(messages[:stop], tools=TOOLS)
            fresh = offloading("threshold_tokens: 500, batch_tokens: 900").process(messages[:stop], tools=TOOLS)

            assert view.messages == fresh.messages
    assert chain.process(view.messages, tools=TOOLS).messages == view.messages


def test_the_note_is_the_same_in_another_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        notes.append(offloaded(LONG))

    assert notes[0] == notes[1]


def test_the_folder_and_its_files_are_closed_to_others_and_git_is_told() -> None:
    (path,) = paths(offloading().process(searching(LONG).messages()))

    assert [stat.S_IMODE(os.stat(each).st_mode) for each in (".elision", FOLDER, path)] == [0o700, 0o700, 0o600]
    assert [Path(each, ".gitignore").read_text() for each in (".elision", FOLDER)] == ["*\n"] * 2


def test_a_chain_that_is_only_tried_writes_no_file(tmp_path: Path) -> None:
    chain = offloading("threshold_tokens: 20")
    report = elision.check(chain)

    assert report is not None
    assert list(tmp_path.iterdir()) == []
