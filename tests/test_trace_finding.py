"""A text is found as a user types it, wherever it is sent, and nowhere else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from traced_runs import ID, READ, chain_of, last, long, run

import elision
from elision.testing import call, conversation, result, thinking


def test_texts_calls_and_thinking_are_followed_too() -> None:
    messages = (
        conversation("anthropic")
        .system(f"Rules of {ID}.")
        .user(f"Fix {ID}.")
        .step(thinking(f"Hm, {ID}.", signature="c2ln"), f"I read {ID}.", call("read_file", path=ID), result("ok"))
    )
    trace = elision.trace(chain_of(), messages.request(), ID)

    assert [(place.found_in, place.role) for place in trace.places] == [
        ("system", "system"),
        ("text", "user"),
        ("thinking", "assistant"),
        ("text", "assistant"),
        ("call", "assistant"),
    ]
    assert trace.sent == 5


@pytest.mark.parametrize("find", ['say "hi" to C:\\x', "two\nlines", "naïve/漢字", "\U0001f600 tail", "4711"])
@pytest.mark.parametrize("ensure_ascii", [True, False])
@pytest.mark.parametrize("levels", [0, 1, 2])
def test_a_text_is_found_as_it_is_typed_however_often_json_has_escaped_it(
    find: str, ensure_ascii: bool, levels: int
) -> None:
    written: Any = f"before {find} after"
    for _ in range(levels):
        written = json.dumps({"inner": written}, ensure_ascii=ensure_ascii)
    messages = run([call("post", body=written, number=4711), result(written)], then=0).messages()
    places = elision.trace(chain_of(), messages, find).places

    assert [place.found_in for place in places] == ["call", "result"]


def test_a_number_among_arguments_is_found() -> None:
    messages = run([call("close_issue", number=4711), result("ok")]).messages()

    assert [place.tool for place in elision.trace(chain_of(), messages, "4711").places] == ["close_issue"]


def test_what_a_message_carries_beside_its_content_is_not_taken_for_sent() -> None:
    messages = run([READ, result(long(ID))]).messages()
    messages[3]["extra"] = {"raw_output": long(ID), "returncode": 0}
    trace = elision.trace(last(classification="none"), messages, ID)

    assert (trace.dialect, trace.visible, trace.gone_at) == ("miniswe", False, 3)


def test_data_of_images_is_not_searched() -> None:
    url = "data:image/png;base64,iVBORw0KGgo="
    messages = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]

    with pytest.raises(elision.InputError, match="stands in no text"):
        elision.trace(chain_of(), messages, "iVBOR")


@pytest.mark.parametrize(
    ("find", "said"),
    [
        ("", "there is no text to look for; give the identifier to follow"),
        (
            "order-4711",
            "upper and lower case differ; give it as it stands there",
        ),
        (
            "call_1",
            "message 2 has it under 'tool_calls', in what is carried as it is and never edited",
        ),
    ],
)
def test_a_text_that_stands_nowhere_is_said_in_one_line(find: str, said: str) -> None:
    with pytest.raises(elision.InputError) as raised:
        elision.trace(chain_of(), run([READ, result(long(ID))]).messages(), find)

    assert str(raised.value).startswith("find: ")
    assert said in str(raised.value)


def test_a_trace_is_plain_data_as_well() -> None:
    trace = elision.trace(last(), run([READ, result(long(ID))]).messages(), ID)
    data = json.loads(json.dumps(trace.as_dict()))

    assert (data["gone_at"], data["visible"], data["recallable"]) == (3, False, True)
    assert data["places"][0]["events"][1]["stage"] == "last_n_observations"
