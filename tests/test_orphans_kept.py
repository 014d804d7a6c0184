"""A result that answers no call does not go out, and what it said can be had again."""

from __future__ import annotations

import re
from typing import Any

import pytest

import elision

ORPHAN = "the deployment id is 4711-0815"


def history() -> list[Any]:
    call = {"id": "k1", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}
    return [
        {"role": "user", "content": "Go on."},
        {"role": "tool", "tool_call_id": "gone-1", "content": ORPHAN},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "k1", "content": "text"},
    ]


def test_what_is_left_out_is_archived_and_named_in_the_repair() -> None:
    chain = elision.loads("history_processors: []", archive="memory:")
    with chain.session() as session:
        views = [session.process(history()[:stop]) for stop in (2, 4)]
    (repair,) = views[-1].repairs
    ref = re.findall(r"ref (\w+)", repair.detail)

    assert ORPHAN not in str(views[-1].messages)
    assert len(ref) == 1
    assert elision.recall(ref[0], archive=chain.opened_archive).text == ORPHAN
    assert chain.process(history()).messages == views[-1].messages


def test_without_an_archive_it_is_left_out_all_the_same() -> None:
    view = elision.loads("history_processors: []", archive="none").process(history())

    assert ORPHAN not in str(view.messages)
    assert "ref" not in view.repairs[0].detail


@pytest.mark.parametrize("policy", ["secrets", "full"])
def test_a_chain_that_redacts_gives_back_no_secret(policy: str) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    messages = history()
    messages[1]["content"] = f"token {secret}"
    chain = elision.loads(f"history_processors: [{{type: redact, policy: {policy}}}]", archive="memory:")
    ref = re.findall(r"ref (\w+)", chain.process(messages).repairs[0].detail)[0]

    assert secret not in elision.recall(ref, archive=chain.opened_archive).text
