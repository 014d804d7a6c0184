"""``elision sweagent``: an unmodified SWE-agent with Elision's processors in its configs."""

from __future__ import annotations

from importlib import import_module

import click

from elision.errors import PluginError

HOST = "sweagent"


@click.command(
    "sweagent",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False, "help_option_names": []},
)
@click.argument("arguments", metavar="...", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def command(ctx: click.Context, arguments: tuple[str, ...]) -> None:
    """Run SWE-agent with Elision's processors.

    All arguments are SWE-agent's own; its processors and Elision's can both stand under agent.history_processors.
    """
    from elision.registry import plugins

    hosts = plugins().hosts()
    if HOST not in hosts:
        raise PluginError(f"hosts: no plugin offers {HOST!r}; install one that does")
    module = import_module(hosts[HOST])
    ctx.exit(module.main(list(arguments)) or 0)
