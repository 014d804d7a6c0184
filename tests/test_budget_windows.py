"""``budget`` in windows of any size: what is left for the answer, and when it acts."""

from __future__ import annotations

import pytest

import elision
from elision.testing import call, conversation, result

READ = [{"type": "function", "function": {"name": "read_file"}}]


def fits(tokens: int, window: int, reserve: str) -> bool:
    """Whether a request goes out as it is that has about so many tokens."""
    said = f", reserve_tokens: {reserve}" if reserve else ""
    profile = f"{{extends: openai, window: {{input_tokens: {window}}}}}"
    chain = elision.loads(
        f"{{history_processors: [{{type: budget, margin_share: 0{said}}}], profile: {profile}}}", archive="memory:"
    )
    run = conversation().user("Read it.")
    for number in range(4):
        run = run.step(call("read_file", path=f"{number}.py"), result("word " * (tokens // 4)))
    messages = run.messages()
    return chain.process(messages, model="gpt-5.6", tools=READ).messages == messages


@pytest.mark.parametrize(
    ("window", "reserve", "allowed"),
    [
        (8_000, "", 7_200),
        (32_000, "", 28_800),
        (200_000, "", 192_000),
        (32_000, "8000", 24_000),
        (6_000, "8000", 3_000),
        (8_000, "0", 8_000),
    ],
)
def test_what_is_left_for_the_answer_leaves_at_least_half_of_the_window(
    window: int, reserve: str, allowed: int
) -> None:
    assert fits(int(allowed * 0.9), window, reserve)
    assert not fits(int(allowed * 1.05), window, reserve)
