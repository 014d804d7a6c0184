from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest
import regex

import elision
from elision import Chain, ConfigError, Text, Truncation, open_archive, registry, truncate_content
from elision.testing import SHAPES, Shape, call, check_processor, conversation, image, result

LOG = "".join(f"line {number} of the log\n" for number in range(1, 5001))
RECALL = [elision.recall_tool_schema()]
SMALL = "history_processors: [{type: truncate, threshold_tokens: 300, head_chars: 200, tail_chars: 100}]"
DATA = b"".join(hashlib.sha256(bytes([n % 256, n // 256])).digest() for n in range(3000))


def strings(value: Any) -> Iterator[str]:
    """Every text in a message, wherever its shape has it."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)
    elif isinstance(value, str):
        yield value


def history(content: Any, *, shape: Shape = "openai", tool: str = "read_file", error: bool = False) -> list[Any]:
    parts = content if isinstance(content, tuple) else (content,)
    return conversation(shape).user("Go.").step(call(tool, path="a"), result(*parts, error=error)).messages()


def sent(chain: Chain, content: Any, **options: Any) -> str:
    """The result as it is sent."""
    text = chain.process(history(content), dialect="openai", **options).messages[-1]["content"]
    assert isinstance(text, str)
    return text


@pytest.fixture
def cutting(chain: Callable[[str], Chain]) -> Chain:
    return chain(SMALL)


def cut(text: str, **options: Any) -> str:
    """What is left of one text, or the text."""
    made = truncate_content((Text(text),), Truncation(**options), way_back=lambda: "recall 3f9a1c0b77de")
    if made is None:
        return text
    (piece,) = made
    assert isinstance(piece, Text)
    return piece.text


def test_it_keeps_the_contract_of_processors() -> None:
    check_processor(registry.plugins().processors()["truncate"], max_examples=5, threshold_tokens=5)
    check_processor(
        registry.plugins().processors()["truncate"],
        max_examples=5,
        threshold_tokens=None,
        threshold_chars=60,
        head_chars=20,
        tail_chars=10,
    )


def test_head_and_tail_stay_with_the_count_of_what_is_between(cutting: Chain) -> None:
    text = sent(cutting, LOG, tools=RECALL)
    (note,) = re.findall(r"^\[(\d+) chars, (\d+) lines, left out here; recall [0-9a-f]{12}\]$", text, re.M)
    head, tail = re.split(r"^\[.*\n", text, maxsplit=1, flags=re.M)

    assert LOG.startswith(head)
    assert LOG.endswith(tail)
    assert (int(note[0]), int(note[1])) == (len(LOG) - len(head) - len(tail), LOG.count("\n") - text.count("\n") + 1)


def test_a_result_under_the_threshold_is_sent_as_the_hosts_own_object(cutting: Chain) -> None:
    messages = history("short")

    assert cutting.process(messages).messages[-1] is messages[-1]


@pytest.mark.parametrize(
    ("tools", "said"),
    [(RECALL, "recall "), (None, "ref "), ([{"type": "function", "function": {"name": "read_file"}}], "")],
    ids=["recall is offered", "tools are not known", "no recall"],
)
def test_the_text_names_a_way_back_only_where_something_can_read_it_back(cutting: Chain, tools: Any, said: str) -> None:
    (edit,) = cutting.process(history(LOG), tools=tools).edits
    note = re.findall(r"^\[.*\]$", sent(cutting, LOG, tools=tools), re.M)

    assert [edit.ref in line for line in note] == [bool(said)]
    assert f"{said}{edit.ref}" in note[0] or not said


def test_the_original_comes_back_whole_by_the_ref_in_the_text(cutting: Chain) -> None:
    (ref,) = re.findall(r"recall ([0-9a-f]{12})", sent(cutting, LOG, tools=RECALL))

    assert elision.recall(ref, archive=cutting.opened_archive, page_chars=None).text == LOG


def test_a_cut_result_can_be_cleared_later_and_its_placeholder_leads_to_the_original(
    chain: Callable[[str], Chain],
) -> None:
    clearing = chain(SMALL[:-1] + ", {type: clear_tool_results, keep: 0, schedule: every_step}]")
    messages = [*history(LOG), *history("short")[1:]]
    placeholder = clearing.process(messages, tools=RECALL).messages[2]["content"]
    (ref,) = re.findall(r"recall ([0-9a-f]{12})", placeholder)

    assert "left out" not in placeholder
    assert elision.recall(ref, archive=clearing.opened_archive, page_chars=None).text == LOG


@pytest.mark.parametrize("shape", SHAPES)
def test_in_every_dialect_parallel_results_are_cut_one_by_one_and_stay_with_their_calls(
    chain: Callable[[str], Chain], shape: Shape
) -> None:
    cutting, run = chain(f"classification: none\n{SMALL}"), conversation(shape).user("Go.")
    if shape.endswith("_text"):
        run = run.step(call("read_file", path="a"), result("A" + LOG)).step(call("read_file", path="b"), result("b"))
    else:
        calls = [call("read_file", path=name) for name in "abc"]
        run = run.step(*calls, result("A" + LOG), result("b"), result("C" + LOG))
    view = cutting.process(run.messages(), dialect=run.dialect)
    found = [text for message in view.messages for text in strings(message) if "left out here" in text]

    letters = [text.partition("line")[0].strip()[-1] for text in found]

    assert letters == (["A"] if shape.endswith("_text") else ["A", "C"])
    assert len(view.edits) == len(found)
    assert len(view.messages) == len(run.messages())
    assert cutting.process(view.messages, dialect=run.dialect).messages == view.messages


def test_a_template_in_a_result_is_text(cutting: Chain) -> None:
    text = sent(cutting, "{{ 7 * 7 }}{% for x in y %}\n" + LOG, tools=RECALL)

    assert text.startswith("{{ 7 * 7 }}{% for x in y %}\nline 1 of")


def test_images_beside_the_text_stay_where_they_are(cutting: Chain) -> None:
    messages = history((LOG, image(), LOG))
    content = cutting.process(messages).messages[-1]["content"]

    assert [part["type"] for part in content] == ["text", "image_url", "text"]
    assert content[1] is messages[-1]["content"][1]
    assert all("left out here" in part["text"] for part in content if part["type"] == "text")


def test_many_small_texts_of_one_result_are_cut_together(cutting: Chain) -> None:
    content = cutting.process(history(tuple(f"block {number}: {'words ' * 20}" for number in range(100)))).messages[-1]
    text = "\n".join(strings(content["content"]))

    assert len(text) < 700
    assert "block 0:" in text
    assert "block 99" in text or "words" in text[-20:]


def test_a_failed_result_stays_whole(chain: Callable[[str], Chain]) -> None:
    cutting = chain(SMALL)
    messages = history(LOG, shape="anthropic", error=True)
    view = cutting.process(messages, dialect="anthropic")

    assert view.messages[-1] is messages[-1]
    assert [refusal.rule for refusal in view.refusals] == ["class_allows"]


@pytest.mark.parametrize("tool", ["git_commit_and_send", "load_skill", "recall"])
def test_receipts_skills_unknown_and_recalled_results_stay_whole(cutting: Chain, tool: str) -> None:
    messages = history(LOG, tool=tool)
    view = cutting.process(messages)

    assert view.messages[-1] is messages[-1]
    assert [refusal.rule for refusal in view.refusals] == ["class_allows"]


def test_the_prefix_is_never_rewritten_and_a_session_sends_what_a_fresh_chain_sends(
    chain: Callable[[str], Chain],
) -> None:
    run = conversation().user("Go.")
    for number in range(6):
        run = run.step(call("read_file", path=f"{number}"), result(f"{number}\n{LOG}" if number % 2 else "short"))
    messages, views = run.messages(), []
    with chain(SMALL).session() as session:
        for stop in range(1, len(messages) + 1, 2):
            views.append(session.process(messages[:stop], tools=RECALL).messages)
            assert views[-1] == chain(SMALL).process(messages[:stop], tools=RECALL).messages

    assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(views))


def test_a_restart_after_the_tools_changed_sends_what_the_session_sends(chain: Callable[[str], Chain]) -> None:
    cutting, messages = chain(SMALL), [*history(LOG), *history(LOG + "more\n")[1:]]
    other = [{"type": "function", "function": {"name": "read_file"}}]
    with cutting.session() as session:
        session.process(messages[:3], tools=other)
        view = session.process(messages, tools=RECALL)

    assert cutting.process(messages, tools=RECALL).messages == view.messages


def test_lines_that_look_like_errors_are_kept_up_to_a_bound() -> None:
    lines = [f"step {number}" for number in range(3000)]
    for number in range(500, 2500, 100):
        lines[number] = f"FATAL: broke at {number}"
    text = cut("\n".join(lines), threshold_tokens=1000, head_chars=300, tail_chars=300, keep_error_lines=4)
    kept = re.findall(r"^(\d+): FATAL: broke at (\d+)$", text, re.M)

    assert [int(place) for _, place in kept] == [500, 600, 2300, 2400]
    assert [int(number) - 1 for number, _ in kept] == [500, 600, 2300, 2400]


def test_the_only_fatal_line_of_1400_lines_is_not_lost() -> None:
    lines = [f"compiling module number {number} of many" for number in range(1400)]
    lines[700] = "FATAL: linker ran out of memory"

    assert "701: FATAL: linker ran out of memory" in cut("\n".join(lines))


def test_a_pattern_of_ones_own_says_what_an_error_is(chain: Callable[[str], Chain]) -> None:
    text = LOG.replace("line 2500 of the log", "E2500 bang")
    own = chain(SMALL.replace("tail_chars: 100", "tail_chars: 100, error_pattern: '^E[0-9]+ '"))

    assert "E2500 bang" not in sent(own, text)
    assert "2500: E2500 bang" in sent(chain(SMALL.replace("100}", "100, error_pattern: '\\bE[0-9]+ '}")), text)


def test_a_pattern_that_takes_too_long_keeps_no_lines_and_the_cut_is_made() -> None:
    hostile = "a" * 40 + "!\n"

    assert "left out here" in cut(hostile * 3000, error_pattern=r"(a|aa)+$", threshold_tokens=500)


@pytest.mark.parametrize("pattern", ["(", "a{1,5000}" * 9])
def test_a_pattern_that_cannot_be_used_does_not_load(chain: Callable[[str], Chain], pattern: str) -> None:
    with pytest.raises(ConfigError, match="error_pattern"):
        chain(f"history_processors: [{{type: truncate, error_pattern: {json.dumps(pattern)}}}]")


DOCUMENTS = [
    json.dumps([{"id": number, "name": "x" * 30} for number in range(2000)]),
    json.dumps([{"id": number, "name": "x" * 30} for number in range(2000)], indent=2),
    json.dumps("a long text in quotes " * 3000),
    "9" * 60_000,
    "[" * 90_000 + "]" * 90_000,
    '{"a": NaN, "a": 1e400, "b": "' + "é " * 30_000 + '"}',
]


@pytest.mark.parametrize("document", DOCUMENTS, ids=range(len(DOCUMENTS)))
def test_json_becomes_an_object_with_head_and_tail(document: str) -> None:
    found = json.loads(cut(document))

    assert found["truncated"] is True
    assert document.startswith(found["head"])
    assert document.endswith(found["tail"])
    assert found["left_out_chars"] == len(document) - len(found["head"]) - len(found["tail"])
    assert found["way_back"] == "recall 3f9a1c0b77de"


def test_lines_of_json_stay_lines_of_json() -> None:
    text = "".join(json.dumps({"id": number, "name": "x" * 30, "level": "ERROR"}) + "\n" for number in range(2000))
    lines = [json.loads(line) for line in cut(text).splitlines()]
    (note,) = [line for line in lines if line.get("truncated")]

    assert lines[0]["id"] == 0
    assert lines[-1]["id"] == 1999
    assert note["left_out_lines"] == 2000 - (len(lines) - 1)


def test_base64_is_named_with_kind_and_size_instead_of_cut() -> None:
    data = base64.b64encode(b"\x89PNG" + DATA).decode()

    assert cut(data) == f"[base64 image/png, {len(data)} chars left out; recall 3f9a1c0b77de]"
    assert cut(f"see ![x](data:image/jpeg;base64,{data}) there").endswith(") there")
    assert json.loads(cut(json.dumps({"id": 7, "image": data})))["id"] == 7


def test_a_list_of_long_paths_is_not_taken_for_base64() -> None:
    paths = "\n".join(
        f"src/components/dashboard/widgets/AnalyticsPanel{n}/ContainerView{'x' * (n % 9)}" for n in range(4000)
    )

    assert "base64" not in cut(paths)
    assert cut(paths).startswith(paths[:500])


def test_binary_data_is_named_with_its_size_instead_of_cut() -> None:
    data = "\x7fELF" + DATA.decode("latin-1")

    assert cut(data) == f"[binary data application/x-elf, {len(data)} chars left out; recall 3f9a1c0b77de]"


def test_lone_surrogates_in_what_stays_are_replaced() -> None:
    text = cut("\ud83d one line with half a character\n" * 3000)

    assert text.encode()
    assert text.startswith("\ufffd one line")


@pytest.mark.parametrize(
    "text",
    ["\U0001f469\u200d\U0001f4bb" * 30_000, "e\u0301" * 60_000, "one\r\n" * 30_000, "\U0001f1e9\U0001f1ea" * 900],
    ids=["emoji", "accents", "line ends", "flags"],
)
def test_cuts_fall_between_characters_as_a_reader_sees_them(cutting: Chain, text: str) -> None:
    seen = set(regex.findall(r"\X", text))
    left = re.sub(r"\[[^\]]*\](\r?\n)?", "", sent(cutting, text))

    assert "left out" in sent(cutting, text)
    assert set(regex.findall(r"\X", left)) - {"\n"} <= seen


def test_without_an_archive_nothing_is_cut(chain: Callable[[str], Chain], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ELISION_ARCHIVE")
    messages = history(LOG)
    view = chain(f"archive: none\n{SMALL}").process(messages)

    assert view.messages[-1] is messages[-1]
    assert [refusal.rule for refusal in view.refusals] == ["archived_first"]


def test_only_the_tools_that_are_meant_are_cut(chain: Callable[[str], Chain]) -> None:
    without = chain(SMALL.replace("tail_chars: 100", "tail_chars: 100, exclude_tools: [read_file]"))
    only = chain(SMALL.replace("tail_chars: 100", "tail_chars: 100, include_tools: [search]"))

    assert sent(without, LOG) == LOG
    assert sent(only, LOG) == LOG
    assert only.process(history(LOG, tool="search")).edits


def test_what_is_cut_is_in_the_archive_of_the_chain_once(chain: Callable[[str], Chain]) -> None:
    with open_archive("memory:", environ={}) as archive:
        cutting = Chain(chain(SMALL).processors, archive=archive)
        for _ in range(2):
            cutting.process(history(LOG))

        assert archive.stats().originals == 1
