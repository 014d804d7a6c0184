"""The page on profiles says what the profiles say, and its examples work."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest
from doc_blocks import ROOT, blocks
from forked import Python

from elision.profiles import Cache, lint_profile, profile_for
from elision.profiles.loading import read
from elision.profiles.values import ThinkingRule
from elision.registry import plugins

PAGE = (ROOT / "docs" / "profiles.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    section = PAGE.split(f"\n{heading}\n")[1].split("\n#")[0]
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("| `")
    ]


def test_the_program_on_the_page_prints_what_is_shown(python: Python) -> None:
    (program,) = blocks(PAGE, "python")
    shown = blocks(PAGE, "")[0].text
    done = python("-c", program.text)

    assert (done.returncode, done.stdout) == (0, shown), done.stderr


def test_the_profile_on_the_page_has_no_problem_and_does_what_it_says(tmp_path: Path) -> None:
    (example,) = blocks(PAGE, "yaml")
    path = tmp_path / "profile.yaml"
    path.write_text(example.text, encoding="utf-8")
    found = profile_for("azure/our-mini-2", overrides=path)

    assert lint_profile(path) == []
    assert (found.name, found.window.input_tokens, found.images.max_images) == ("openai", 400_000, 50)
    assert (found.prices.base.input, found.prices.base.cache_write) == (0.4, 0.4)


def test_every_profile_that_ships_is_listed() -> None:
    assert {row[0].strip("`") for row in rows("## Profiles that ship")} == set(plugins().profiles())


@pytest.mark.parametrize("row", rows("## Profiles that ship"), ids=lambda row: row[0])
def test_a_row_names_every_rule_of_the_profile_and_its_variants(row: list[str]) -> None:
    chain = read(row[0].strip("`"))
    layers = [
        sections for each in chain[1:] or chain for sections in (each.sections, *(v.sections for v in each.variants))
    ]
    said = {
        key: {str(layer[section][key]) for layer in layers if key in layer.get(section, {})}
        for section, key in (("thinking", "rule"), ("cache", "marks"), ("cache", "match"))
    }
    if row[0] != "`bedrock`":
        assert [rule for rule in said["rule"] if f"`{rule}`" not in row[2] and rule != "none"] == []
    assert [marks for marks in said["marks"] if f"`{marks}`" not in row[3]] == []
    assert [match for match in said["match"] if f"`{match}`" not in row[4]] == []


def test_every_rule_and_every_key_of_the_cache_is_explained() -> None:
    keys = {name.strip(" `") for row in rows("### Cache") for name in row[0].split(",")}

    assert [row[0].strip("`") for row in rows("### Thinking")] == list(get_args(ThinkingRule))
    assert keys == {each.name for each in fields(Cache)}
