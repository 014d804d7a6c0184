from __future__ import annotations

import warnings
from typing import Any

import pytest

import elision
from elision import Chain

TEXT = "# How we deploy\nNever on Fridays.\n" * 20


def loading(*contents: str, path: str = "skills/deploy/SKILL.md") -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Deploy."}]
    for number, content in enumerate(contents):
        function = {"name": "read_file", "arguments": f'{{"path": "{path}"}}'}
        messages.append(
            {"role": "assistant", "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}]}
        )
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": content})
    return messages


def test_a_reloaded_skill_has_the_version_of_the_tasks_start_or_the_change_is_announced() -> None:
    view = Chain([]).process(loading(TEXT, TEXT, TEXT + "Except at night.\n"))
    (change,) = view.skill_changes

    assert (change.call_id, change.path) == ("c2", "skills/deploy/SKILL.md")
    assert change.pinned != change.loaded
    assert view.as_dict()["skill_changes"] == [change._asdict()]


def test_the_change_of_a_skill_is_announced_once_in_a_session() -> None:
    chain = elision.loads("history_processors: [{type: last_n_observations, n: 2}]")
    messages = loading("first", "second", "third", "third")
    with chain.session() as session:
        with pytest.warns(elision.ElisionWarning, match=r"skill 'skills/deploy/SKILL\.md' has changed: version"):
            session.process(messages[:7])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            session.process(messages)


def test_a_skill_that_is_loaded_again_unchanged_is_no_change() -> None:
    assert not Chain([]).process(loading(TEXT, TEXT)).skill_changes


def test_a_file_that_is_no_skill_may_change() -> None:
    assert not Chain([]).process(loading("one", "two", path="src/app.py")).skill_changes


def test_skills_over_the_budget_of_their_class_become_placeholders_with_version_and_path_and_the_newest_stays() -> None:
    table = {"extends": "default", "classes": {"skill": {"cells": {"clear": {"max_tokens": 400}}}}}
    chain = Chain(
        elision.loads("history_processors: [{type: last_n_observations, n: 1}]").processors, classification=table
    )
    contents = [f"{TEXT}{number}" for number in range(4)]
    loaded = [loading(content, path=f"skills/s{number}/SKILL.md")[1:] for number, content in enumerate(contents)]
    view = chain.process([{"role": "user", "content": "Go."}, *(message for each in loaded for message in each)])
    results = [message["content"] for message in view.messages if message["role"] == "tool"]
    refs = {edit.position: edit.ref for edit in view.edits}

    assert results[-2:] == contents[-2:]
    assert results[0].startswith('[read_file(path="skills/s0/SKILL.md")')
    assert f'skill, version "{refs[2]}"; call it again to reload it' in results[0]
