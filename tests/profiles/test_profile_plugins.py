"""Profiles of plugins stand beside those that ship."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PLUGIN = """
import elision

@elision.hookimpl
def elision_profiles():
    return {name: '''description: Ours
extends: anthropic
models: ["claude-house-*", "house-*"]
cache: {breakpoints: 2, source: our contract}
'''}
"""
PROGRAM = """
from elision.profiles import profile_for, lint_profile
found = profile_for("house-1"), profile_for("claude-house-1"), profile_for("claude-opus-4-5")
print([(each.name, each.cache.breakpoints) for each in found], lint_profile("house"))
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Return the folder of a plugin that is installed."""
    info = tmp_path / "house-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: house\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[elision]\nhouse = house_profiles\n", encoding="utf-8")
    return tmp_path


def run(installed: Path, name: str, program: str) -> subprocess.CompletedProcess[str]:
    plugin = PLUGIN.replace("{name:", "{" + repr(name) + ":")
    (installed / "house_profiles.py").write_text(plugin, encoding="utf-8")
    code = f"import sys; sys.path.insert(0, {str(installed)!r})\n{program}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_a_profile_of_a_plugin_is_found_by_its_models_the_more_exact_glob_first(installed: Path) -> None:
    done = run(installed, "house", PROGRAM)

    assert done.stdout == "[('house', 2), ('house', 2), ('anthropic', 4)] []\n", done.stderr


def test_a_profile_cannot_take_the_name_of_one_that_ships(installed: Path) -> None:
    done = run(installed, "openai", "from elision.registry import plugins; plugins().profiles()")

    assert "both offer 'openai' through elision_profiles; names are unique" in done.stderr
