"""The page on the command line names every command and every option."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from elision.cli import cli

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")


def commands(group: click.Group, path: str = "elision") -> list[tuple[str, click.Command]]:
    context = click.Context(group)
    found: list[tuple[str, click.Command]] = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = commands(command, f"{path} {name}") if isinstance(command, click.Group) else []
        found += inner or [(f"{path} {name}", command)]
    return found


@pytest.mark.parametrize(("path", "command"), commands(cli), ids=lambda value: value if isinstance(value, str) else "")
def test_every_command_is_a_section_that_names_all_its_options(path: str, command: click.Command) -> None:
    sections = [section for section in PAGE.split("\n## ") if section.startswith(f"`{path}")]
    options = [name for parameter in command.params for name in parameter.opts if name.startswith("--")]

    assert len(sections) == 1
    assert [option for option in options if f"`{option}" not in sections[0]] == []
