"""``elision mcp``: recall as a tool of an MCP server."""

from __future__ import annotations

import click


@click.command("mcp")
@click.option("--archive", metavar="URI", help="The archive: a folder or URL.  [default: $ELISION_ARCHIVE, .elision]")
def command(*, archive: str | None) -> None:
    """Offer recall to agents as an MCP server.

    An MCP client starts this command and speaks with it on the standard input and output.  Its one tool, recall, gives
    what the view's redaction policy allows.
    """
    import os
    import signal
    import sys
    from contextlib import redirect_stdout

    from elision.archive.mcp_server import serve
    from elision.cli.archive import opened

    # A thread that waits for the standard input would hold up an ordinary end; nothing is written that could be torn.
    signal.signal(signal.SIGINT, lambda *_: os._exit(0))
    with redirect_stdout(sys.stderr):  # opening can load plugins, which may print
        source = opened(archive)
    with source:
        serve(source)
