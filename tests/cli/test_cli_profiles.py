"""Profiles on the command line: which there are, and what holds for a model."""

from __future__ import annotations

import json

from command_line import Run


def test_profiles_are_listed_with_models_thinking_and_cache(run: Run) -> None:
    entries = {entry["name"]: entry for entry in json.loads(run("list", "profiles", "--json").stdout)}

    assert (entries["bedrock"]["models"], entries["bedrock"]["thinking"]) == (["claude*"], "bound_to_prefix")
    assert entries["openai"]["cache"] == "automatic"
    assert entries["default"]["plugin"] == "builtin"


def test_a_profile_is_shown_as_it_is_written_with_its_sources(run: Run) -> None:
    shown = run("show", "profile", "anthropic")

    assert shown.exit_code == 0
    assert "rule: bound_to_prefix" in shown.stdout
    assert "source: platform.claude.com, prompt-caching, 2026-11" in shown.stdout
    assert json.loads(run("show", "anthropic", "--json").stdout)["profile"]["variants"]


def test_what_holds_for_a_model_is_shown_with_its_sources(run: Run) -> None:
    shown = run("show", "profile", "claude-sonnet-4-5").stdout
    lines = shown.splitlines()

    assert lines[0] == "# model claude-sonnet-4-5: profile anthropic"
    assert "  min_tokens: 1024" in lines
    assert "  write_over_read: 12.5" in lines
    assert lines[-2:] == ["assumed:", "nothing"]
    assert run("show", "claude-sonnet-4-5").stdout == shown


def test_what_holds_for_a_model_is_json_too(run: Run) -> None:
    found = json.loads(run("show", "claude-opus-5-5", "--json").stdout)["model"]

    assert (found["name"], found["thinking"]["rule"], found["prices"]["write_over_read"]) == (
        "anthropic",
        "bound_to_prefix",
        25,
    )
    assert found["assumed"] == []


def test_an_unknown_model_is_shown_with_what_is_assumed_when_the_kind_is_given(run: Run) -> None:
    shown = run("show", "profile", "frobnicator-9")

    assert shown.exit_code == 0
    assert "- no profile matches 'frobnicator-9': 'default' stands in\n" in shown.stdout
    assert run("show", "frobnicator-9").exit_code == 1


def test_a_misspelt_profile_gets_the_nearest_name(run: Run) -> None:
    shown = run("show", "antropic")

    assert (shown.exit_code, "did you mean 'anthropic'?" in shown.output) == (1, True)
