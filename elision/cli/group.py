"""The group of all commands: commands are imported when they are used, and failures become exit codes."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from elision.cli.failures import exit_code
from elision.errors import nearest

COMMANDS = {
    "apply": ("elision.cli.apply", "Show the view of recorded histories under a chain."),
    "archive": ("elision.cli.archive", "Check, count, export or prune what was archived."),
    "check": ("elision.cli.check", "Follow canaries through a chain, and run its tests."),
    "classify": ("elision.cli.classify", "Show the class of each tool result in recorded histories."),
    "lint": ("elision.cli.lint", "Name all problems of chain files and classification tables."),
    "list": ("elision.cli.listing", "List what the installed plugins offer."),
    "mcp": ("elision.cli.mcp", "Offer recall to agents as an MCP server."),
    "new": ("elision.cli.new", "Start a plugin of your own."),
    "recall": ("elision.cli.recall", "Print an original that left the view, by its ref."),
    "schema": ("elision.cli.schema", "Print the JSON Schema of chain files."),
    "show": ("elision.cli.show", "Explain a processor, chain, table, profile, dialect, host or template."),
    "sweagent": ("elision.cli.sweagent", "Run SWE-agent with Elision's processors."),
    "trace": ("elision.cli.trace", "Follow a text through a recorded run: where it stops being visible, and why."),
}
"""The module of each command, which has it as ``command``, and its first sentence (a test checks that they agree)."""


class LazyGroup(click.Group):
    """A group that imports a command when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 (click's signature)
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(COMMANDS[cmd_name][0]).command
        assert isinstance(command, click.Command)  # noqa: S101 (our own modules)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the nearest one."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            ctx.fail(f"there is no command {name!r}; {nearest(name, COMMANDS, what='commands')}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 (click's signature)
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, sentence) for name, (_, sentence) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what goes wrong becomes one line and an exit code."""
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.ClickException, click.Abort):
            raise
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 (the outermost frame of the program)
            ctx.exit(exit_code(error))
