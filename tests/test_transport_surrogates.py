"""What leaves has bytes: a lone surrogate in the arguments of a call, escaped or not, is replaced on its way."""

from __future__ import annotations

import json

import pytest

from elision.transport.fit_calls import with_fit_calls


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ('{"path": "\ud83d"}', {"path": "\ufffd"}),
        ('{"path": "\\ud83d"}', {"path": "\ufffd"}),
        ('{"path": ["\\ud83d\\ude00"]}', {"path": ["\U0001f600"]}),
        ('{"path": "\ud83d', {"arguments": '{"path": "\ufffd'}),
    ],
    ids=["as it is", "escaped", "a pair", "cut off"],
)
def test_arguments_leave_without_lone_surrogates(given: str, left: object) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "read_file", "arguments": given}}
    (message,) = with_fit_calls([{"role": "assistant", "tool_calls": [call]}], keeps_ids=False)
    arguments = message["tool_calls"][0]["function"]["arguments"]

    assert json.loads(arguments) == left
    assert arguments.encode()


def test_arguments_without_any_leave_as_they_are() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "read_file", "arguments": '{ "path" :"\\u00e9"}'}}
    (message,) = with_fit_calls([{"role": "assistant", "tool_calls": [call]}], keeps_ids=False)

    assert message["tool_calls"] == [call]
