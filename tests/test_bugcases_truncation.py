"""Faults that users met in other systems where long results are cut: lost tails, split characters, broken JSON."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from shared_data import shared

from elision import Chain, loads

RECALL = [{"type": "function", "function": {"name": "recall"}}]


def case(number: str) -> dict[str, Any]:
    (path,) = shared("bugcases").glob(f"{number}-*.json")
    return dict(json.loads(path.read_text(encoding="utf-8")))


def cutting(**options: int) -> Chain:
    given = {"type": "truncate", **options}
    return loads(json.dumps({"classification": "none", "history_processors": [given]}))


def of_tool(messages: list[Any]) -> str:
    (text,) = (message["content"] for message in messages if message["role"] == "tool")
    return str(text)


def test_case_46_cut_at_an_emoji() -> None:
    messages = case("46")["messages"]
    original = of_tool(messages)
    for limit in range(1, 201):
        chain = cutting(threshold_chars=300, head_chars=limit, tail_chars=limit, keep_error_lines=0)
        text = of_tool(chain.process(messages, tools=RECALL).messages)
        head, left_out, tail = re.split(r"\n?\[(\d+) chars[^\]]*left out[^\]]*\]\n", text)

        assert json.loads(json.dumps(text)) == text.encode().decode()
        assert "\ufffd" not in text
        assert (original.startswith(head), original.endswith(tail)) == (True, True)
        assert len(head) + int(left_out) + len(tail) == len(original)


@pytest.mark.parametrize("threshold", [2000, 4000, 8000])
def test_case_54_keep_the_tail_of_a_failing_log(threshold: int) -> None:
    messages = case("54")["messages"]
    lines = of_tool(messages).splitlines()
    chain = cutting(threshold_chars=threshold, head_chars=threshold // 2, tail_chars=threshold // 4)
    shown = of_tool(chain.process(messages, tools=RECALL).messages).splitlines()
    (left_out,) = re.findall(r"^\[\d+ chars, (\d+) lines, left out here", "\n".join(shown), re.M)
    kept = [line.partition(": ") for line in shown if re.match(r"\d+: ", line)]
    beside = len([line for line in shown if line.startswith(("[", "end of what")) and line not in lines])

    assert shown[0] == lines[0]
    assert shown[-2:] == lines[-2:]
    assert int(left_out) == len(lines) - (len(shown) - len(kept) - beside)
    assert all(lines[int(number) - 1] == line for number, _, line in kept if line in lines)


@pytest.mark.parametrize("kind", ["one line", "indented"])
def test_a_mark_never_stands_inside_a_json_string(kind: str) -> None:
    document = json.dumps({"rows": ["long text " * 9] * 300}, indent=None if kind == "one line" else 1)
    call = {"id": "c", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": document},
    ]
    found = json.loads(of_tool(cutting(threshold_chars=4000).process(messages).messages))

    assert document == found["head"] + document[len(found["head"]) : -len(found["tail"])] + found["tail"]
    assert "left out" not in found["head"] + found["tail"]
