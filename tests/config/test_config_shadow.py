"""``mode`` and ``share`` in chain files, and what is said of mistakes in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import elision
from elision import Chain, ConfigError
from elision.config import lint

Lines = Callable[[str], list[str]]

CHAIN = "history_processors: [{type: clear_tool_results}]\n"


@pytest.mark.parametrize(
    ("rest", "live"),
    [
        ("", 1),
        ("mode: live", 1),
        ("mode: shadow", 0),
        ("mode: shadow\nshare: 0.1", 0.1),
        ("mode: live\nshare: 0.1", 0.1),
        ("share: 0.1", 0.1),
        ("share: 1", 1),
        ("mode: live\nshare: 0", 0),
    ],
)
def test_mode_and_share_together_say_how_many_sessions_are_live(rest: str, live: float) -> None:
    assert elision.loads(f"{CHAIN}{rest}", archive="memory:").live_share == live


def test_in_python_they_are_arguments() -> None:
    made = Chain(archive="memory:", mode="shadow", share=0.25)

    assert (made.mode, made.share, made.live_share) == ("shadow", 0.25, 0.25)


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("mode", "shadwo", "mode is 'shadwo'; it must be 'live' or 'shadow'; correct it, or leave it out for 'live'"),
        ("share", 2, "share is 2; it must be at most 1.0; correct it or leave it out"),
        ("share", -0.1, "share is -0.1; it must be at least 0.0; correct it or leave it out"),
        ("share", "10%", "share is '10%'; it must be a number; correct it or leave it out"),
        ("share", True, "share is true; it must be a number; correct it or leave it out"),
    ],
)
def test_what_is_neither_is_named_in_files_and_in_python(problems: Lines, option: str, value: Any, told: str) -> None:
    written = str(value).lower() if isinstance(value, bool) else value

    assert problems(f"{CHAIN}{option}: {written}") == [f"chain.yaml:2:{len(option) + 3}: {option}: {told}"]
    with pytest.raises(ConfigError) as error:
        Chain(archive="memory:", **{option: value})
    assert [problem.message for problem in error.value.problems] == [told]


def warned(text: str) -> list[str]:
    return [str(found) for found in lint(text, "chain.yaml") if found.severity == "warning"]


def test_redaction_that_does_not_happen_is_warned_of() -> None:
    redacting = "history_processors: [{type: redact}]\n"

    assert warned(f"{redacting}mode: shadow") == [
        (
            "chain.yaml:2:1: mode: warning: no session is live, so redact takes nothing out of what is sent; where "
            "secrets must not leave, write mode: live"
        )
    ]
    assert "sessions that are not live send the original, so there redact" in warned(f"{redacting}share: 0.5")[0]
    assert warned(f"{redacting}mode: live") == warned(f"{CHAIN}mode: shadow") == []


def test_a_share_that_undoes_the_mode_is_warned_of() -> None:
    (told,) = warned(f"{CHAIN}mode: shadow\nshare: 1")

    assert told.endswith("with share: 1 every session is live, and mode: shadow says nothing; remove one")


def test_where_a_chain_names_another_file_its_mode_counts(tmp_path: Any) -> None:
    (tmp_path / "inner.yaml").write_text(f"{CHAIN}mode: shadow\nshare: 0.5\n", encoding="utf-8")
    outer = f"agent: {{history_processors: [{{type: chain, chain: {tmp_path / 'inner.yaml'}}}]}}"

    assert elision.loads(outer, archive="memory:").live_share == 0.5
