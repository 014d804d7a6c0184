"""What SWE-agent's own code made of recorded inputs, against ours: equal to the byte, or a fault of the peer's.

Each fault is listed with what we give instead; docs/compatibility.md says why.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from shared_data import shared, shared_files

import elision
from elision import ConfigError

Messages = list[dict[str, Any]]


Expectation = Callable[[dict[str, Any]], Messages]
MARK = {"cache_control": {"type": "ephemeral"}}


def ours(base: str = "expected", **changes: dict[str, Any]) -> Expectation:
    """Return the vector's ``base`` list (of several, the last) with some keys changed: ``at_3={"content": …}``."""

    def expected(vector: dict[str, Any]) -> Messages:
        found = vector[base][-1] if base == "expected" and "cuts" in vector else vector[base]
        messages = copy.deepcopy(found)
        for place, keys in changes.items():
            message = messages[int(place.removeprefix("at_"))]
            message.update(keys)
            for key in [key for key, value in keys.items() if value is GONE]:
                del message[key]
        return list(messages)

    return expected


GONE: Any = object()
AS_GIVEN = ours("history")


def elided(lines: int) -> dict[str, Any]:
    return {"content": f"Old environment output: ({lines} lines omitted)"}


def given(*indices: int, base: str = "expected") -> Expectation:
    """Return ``base`` with the content that the history has at some places."""

    def expected(vector: dict[str, Any]) -> Messages:
        content = {f"at_{i}": {"content": vector["history"][i]["content"]} for i in indices}
        return ours(base, **content)(vector)

    return expected


def tagged(*indices: int, tags: tuple[str, ...] = ("keep_output",)) -> Expectation:
    return ours("history", **{f"at_{i}": {"tags": list(tags)} for i in indices})


def text(value: str, *, mark: bool = False) -> dict[str, Any]:
    return {"type": "text", "text": value, **(MARK if mark else {})}


def image() -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


def open_file_kept(vector: dict[str, Any]) -> Messages:
    """The results of ``open`` and ``edit`` are tagged and kept; the rest are elided as SWE-agent elides them."""
    messages = ours()(vector)
    for index, item in enumerate(vector["history"]):
        names = {call["function"]["name"] for call in item.get("tool_calls") or ()}
        if names & {"open", "edit"}:
            messages[index] = item
            messages[index + 1] = {**vector["history"][index + 1], "tags": ["keep_output"]}
    return messages


def old_format_elided(vector: dict[str, Any]) -> Messages:
    """Items without message_type are observations too: with n = 2, all but the last two go."""
    messages: Messages = copy.deepcopy(vector["history"])
    users = [message for message in messages if message["role"] == "user"]
    for message in users[1:-2]:
        message.update(elided(len(message["content"].splitlines())))
    return messages


WINDOW = (
    "(0 more lines above)\nOutdated window with 1 lines omitted...\n(90 more lines below)\n(Open file: /a.py)\nbash-$"
)
IMAGE = [text("![shot](data:"), image(), text(")")]
TASK_IMAGE = [text("TASK ![shot](data:"), image(), text(")", mark=True)]

RIGHT: dict[str, Expectation] = {
    # cache_control: stored items are not mutated, blank text is not marked, marks come last and on the last part.
    "cc-before-lastn": ours(
        at_5={"content": [text(elided(2)["content"])]}, at_7={"content": [text(elided(2)["content"])]}
    ),
    "cc-empty-list-raises": ours("history", at_1={"content": [text("TASK\nfix it", mark=True)]}),
    "cc-empty-string": ours("history", at_1={"content": [text("TASK\nfix it", mark=True)]}),
    "cc-steps-mutates-history": given(1, 3, 5),
    "cc-then-ip": ours(at_1={"content": TASK_IMAGE}),
    "lastn-poll-cc-steps": given(1, 9, 11),
    # A type that SWE-agent does not know, and we do: it loads, and leaves a short history as it is.
    "cfg-unknown-type": AS_GIVEN,
    # closed_window: no message is dropped, tool results and lists work, only the file's own lines go.
    "cw-clock-line-drops-entry": AS_GIVEN,
    "cw-list-content-raises": AS_GIVEN,
    "cw-missing-role-raises": AS_GIVEN,
    "cw-numbered-issue-drops-instance-template": AS_GIVEN,
    "cw-numbered-lines-without-header-drop-entry": AS_GIVEN,
    "cw-tool-role-ignored": ours(at_3={"content": f"[File: /a.py (100 lines total)]\n{WINDOW}"}),
    "cw-two-windows-one-message": ours(
        at_3={
            "content": "[File: /a.py (9 lines total)]\nOutdated window with 1 lines omitted...\nERROR between\n"
            "[File: /b.py (9 lines total)]\n7:y\nend"
        }
    ),
    # image_parsing: several parts, images alone and null are carried; twice is once; the mark is on the last part.
    "ip-image-part-only-raises": AS_GIVEN,
    "ip-multi-part-raises": AS_GIVEN,
    "ip-null-content-raises": AS_GIVEN,
    "ip-then-cc": ours(at_1={"content": TASK_IMAGE}),
    "ip-twice-raises": ours("history", at_1={"content": IMAGE}),
    # last_n_observations: keeping wins, the task stays, tags elsewhere are ignored, a placeholder keeps its count.
    "lastn-both-tags-remove-wins": given(3),
    "lastn-null-content-raises": ours("history", at_3=elided(0), at_5=elided(2)),
    "lastn-remove-tag-on-action-raises": ours("history", at_3=elided(2)),
    "lastn-remove-tag-on-instance-template": given(1),
    "lastn-remove-tag-on-system-raises": ours("history", at_3=elided(2)),
    "lastn-two-chained-different-n": ours(at_3=elided(3), at_5=elided(3), at_7=elided(3)),
    "real-oldformat-last-n-no-message-type": old_format_elided,
    # tag_tool_call_observations: the observation is tagged through its call, in text mode too.
    "real-fcall-tag-open-then-last-n": open_file_kept,
    "tag-custom-tags": tagged(5, 7, tags=("x", "y")),
    "tag-malformed-tool-call-raises": tagged(5),
    "tag-missing-message-type": tagged(3, 5),
    "tag-parallel-any-matches": AS_GIVEN,
    "tag-steps-mutation-persists": tagged(5),
    "tag-text-mode-never-matches": tagged(3, 5, 7),
    "tag-then-lastn-remove-raises": ours(
        "history", **{f"at_{i}": {"tags": ["remove_output"], **elided(2)} for i in (3, 5, 7)}
    ),
    # remove_regex: no message is left empty.
    "rr-can-empty-a-message": ours(
        at_0={"content": "(removed)"},
        at_1={"content": "(removed)"},
        at_2={"content": "."},
        at_3={"content": "(removed)"},
    ),
    "rr-keep-last--1": ours(at_0={"content": "(removed)"}),
    "rr-keep-last-0": ours(at_0={"content": "(removed)"}),
    "rr-keep-last-1": ours(at_0={"content": "(removed)"}),
    "rr-list-content": ours(at_1={"content": [{"type": "image_url", "image_url": {"url": "abba"}}]}),
    "rr-null-content-raises": AS_GIVEN,
    "rr-order-of-patterns": ours(at_1={"content": "."}),
    "rr-part-without-type-raises": AS_GIVEN,
    "rr-tool-args-untouched": ours(at_1={"content": "."}, at_2={"content": "."}),
}
"""By vector: what is right where SWE-agent is at fault."""

NOT_LOADED = {"lastn-polling-zero", "lastn-n2-poll-3-obs4", "lastn-n2-poll-3-obs9"}
"""SWE-agent takes these options and fails, or elides the newest observation, at run time; we do not load them."""


def chain_of(vector: dict[str, Any]) -> elision.Chain:
    return elision.loads(yaml.safe_dump({"agent": {"history_processors": vector["chain"]}}))


@pytest.mark.parametrize("path", shared_files("vectors", "sweagent", pattern="*.json"), ids=lambda path: path.stem)
def test_same_history_same_options_same_view_as_sweagent_except_where_it_is_at_fault(path: Path) -> None:
    vector = json.loads(path.read_text(encoding="utf-8"))
    expected = vector["expected"]
    refused = isinstance(expected, dict) and expected["phase"] == "config" and path.stem not in RIGHT
    if refused or path.stem in NOT_LOADED:
        with pytest.raises(ConfigError):
            chain_of(vector)
        return
    history = vector["history"]
    before = copy.deepcopy(history)
    right = RIGHT.get(path.stem, ours())(vector)
    session = chain_of(vector).session()
    *earlier, last = vector.get("cuts", [len(history)])
    for cut in earlier:
        session.process(history[:cut], dialect="sweagent")
    view = session.process(history[:last], dialect="sweagent")

    assert view.messages == right
    assert view.messages == chain_of(vector).process(history[:last], dialect="sweagent").messages
    assert history == before


def test_every_fault_is_a_vector_that_is_there() -> None:
    names = {path.stem for path in shared("vectors", "sweagent").glob("*.json")}

    assert set(RIGHT) | NOT_LOADED <= names
