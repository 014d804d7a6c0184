"""Recall as a tool of an MCP server, on the standard streams of this process."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from elision.archive.archive import Archive
from elision.archive.recall_tool import NAME, answer, recall_tool_schema
from elision.errors import ElisionError

if TYPE_CHECKING:
    from mcp.server import Server
    from mcp.types import CallToolResult, Tool

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def serve(archive: Archive) -> None:
    """Answer a client's calls until it closes the standard input, or stops to read."""
    try:
        server = _server(archive)
    except ImportError as error:
        raise ElisionError(
            f"mcp: the MCP SDK cannot be imported ({error}); install it with: pip install 'elision[mcp]'"
        ) from error

    import anyio
    from mcp.server.stdio import stdio_server

    async def run() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    if sys.stdin is None or sys.stdout is None:  # a shell's `<&-`
        return
    try:
        anyio.run(run)
    except* BrokenPipeError:
        pass


def _server(archive: Archive) -> Server[Any]:
    from mcp import MCPError
    from mcp.server import Server, ServerRequestContext
    from mcp.types import (
        INVALID_PARAMS,
        CallToolRequestParams,
        ListToolsResult,
        PaginatedRequestParams,
    )

    from elision import __version__

    async def list_tools(_: ServerRequestContext[Any], __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[_tool()])

    async def call_tool(_: ServerRequestContext[Any], call: CallToolRequestParams) -> CallToolResult:
        if call.name != NAME:
            raise MCPError(INVALID_PARAMS, f"there is no tool {call.name!r}; the one that there is: {NAME!r}")
        from anyio.to_thread import run_sync

        return await run_sync(_result, call.arguments or {}, archive)

    return Server("elision", version=__version__, on_list_tools=list_tools, on_call_tool=call_tool)


def _tool() -> Tool:
    from mcp.types import Tool, ToolAnnotations

    schema = recall_tool_schema("anthropic")
    hints = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    return Tool(
        name=schema["name"], description=schema["description"], input_schema=schema["input_schema"], annotations=hints
    )


def _result(arguments: Mapping[str, Any], archive: Archive) -> CallToolResult:
    from mcp.types import CallToolResult, TextContent

    given = answer(arguments, archive)
    return CallToolResult(content=[TextContent(text=_sendable(given.text))], is_error=given.failed)


def _sendable(text: str) -> str:
    """Return a text that UTF-8 has bytes for: lone surrogates, which hosts can hold, are replaced, with a note."""
    sent, replaced = _LONE_SURROGATE.subn("\ufffd", text)
    return f"{sent}\n[recall: lone surrogates, sent as U+FFFD: {replaced:,}]" if replaced else text
