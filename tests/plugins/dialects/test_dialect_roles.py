"""Roles that are members of an enumeration, are read as the strings they are."""

from __future__ import annotations

import enum
from typing import Any

import pytest

import elision
from elision.testing import Shape, call, conversation, result


class Role(str, enum.Enum):  # noqa: UP042 (such as pydantic models have had them since before there was StrEnum)
    SAYS_SYSTEM = "system"
    SAYS_USER = "user"
    SAYS_ASSISTANT = "assistant"
    SAYS_MODEL = "model"
    SAYS_TOOL = "tool"


def with_members(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: Role(each) if key == "role" else with_members(each) for key, each in value.items()}
    return [with_members(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("shape", ["openai", "anthropic", "responses", "gemini", "sweagent"])
def test_a_run_whose_roles_are_members_of_an_enumeration_has_the_view_of_one_with_strings(shape: Shape) -> None:
    run = conversation(shape).system("You are careful.").user("Mend it.")
    for number in range(6):
        run = run.step("I read.", call("read_file", path=f"{number}.py"), result(f"{number} line\n" * 60))
    yaml = "history_processors: [{type: last_n_observations, n: 2}]"
    plain = elision.loads(yaml, archive="memory:").process(run.messages())
    given = with_members(run.messages())

    view = elision.loads(yaml, archive="memory:").process(given)

    assert view.messages == plain.messages
    assert (view.dialect, len(view.edits)) == (plain.dialect, len(plain.edits))
    assert len(plain.edits) > 2
    assert not view.repairs
