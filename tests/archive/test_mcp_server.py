"""The MCP server, asked by the SDK's own client over the standard streams of a process."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import elision
from elision.archive import Archive, Entry, open_archive

mcp = pytest.importorskip("mcp", reason="mcp is not installed; pip install 'elision[mcp]'")

import anyio  # noqa: E402 (comes with mcp)
from anyio.from_thread import start_blocking_portal  # noqa: E402
from mcp import Client, MCPError, StdioServerParameters, stdio_client  # noqa: E402
from mcp.types import CallToolResult, TextContent  # noqa: E402

TEXT = "one\r\ntwo\x1b[0m\x00\n\u2028\x85 \U0001f600 [cleared: 0123456789ab]\n\n"
SECRET = "export DB_PASSWORD=hunter2hunter2\nok\n"
Talk: TypeAlias = Callable[..., Any]


@contextmanager
def served(where: Path, *arguments: object, mode: str = "auto", env: dict[str, str] | None = None) -> Iterator[Talk]:
    """Start a server; what is given lets a client talk with it.  The server says nothing beside."""
    command = ["-m", "elision", "mcp", *map(str, arguments)]
    server = StdioServerParameters(command=sys.executable, args=command, env=env, cwd=where)
    log = where / "stderr.txt"
    with (
        log.open("a", encoding="utf-8") as errors,
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(stdio_client(server, errlog=errors), mode=mode)) as client,
    ):
        yield lambda about: portal.call(about, client)
    assert log.read_text(encoding="utf-8") == ""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the archive that the tests of this file share, as they share its server."""
    return tmp_path_factory.mktemp("run") / ".elision"


@pytest.fixture(scope="module")
def talk(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    with served(tmp_path_factory.mktemp("server"), "--archive", folder) as talking:
        yield talking


def put(archive: Archive, content: Any, **more: Any) -> str:
    (ref,) = archive.put_all([Entry(content=content, **more)])
    return ref.short


def calls(*wanted: Any) -> Callable[[Client], Awaitable[list[CallToolResult]]]:
    """Call the tool several times."""

    async def about(client: Client) -> list[CallToolResult]:
        return [await client.call_tool("recall", arguments) for arguments in wanted]

    return about


def text(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def test_a_ref_gives_the_exact_bytes_with_a_client_of_either_protocol(
    archive: Archive, folder: Path, tmp_path: Path, talk: Talk
) -> None:
    asking = calls({"ref": put(archive, TEXT, placeholder="[cleared]")})
    with served(tmp_path, "--archive", folder, mode="legacy") as with_the_old_protocol:
        results = [*talk(asking), *with_the_old_protocol(asking)]

    assert [(text(result).encode(), result.is_error) for result in results] == [(TEXT.encode(), False)] * 2


def test_the_one_tool_is_recall_which_only_reads_and_has_no_raw(talk: Talk) -> None:
    async def about(client: Client) -> Any:
        return await client.list_tools()

    (tool,) = talk(about).tools
    schema = elision.recall_tool_schema("anthropic")
    hints = tool.annotations.model_dump(by_alias=True, exclude_none=True)

    assert (tool.name, tool.description, tool.input_schema) == (
        schema["name"],
        schema["description"],
        schema["input_schema"],
    )
    assert hints == {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}
    assert "raw" not in json.dumps(tool.input_schema["properties"])


def test_only_what_is_longer_than_a_page_is_cut_and_gets_a_note(archive: Archive, talk: Talk) -> None:
    just, longer = "x" * 20_000, "y" * 20_001
    whole, first, second = talk(
        calls({"ref": put(archive, just)}, *({"ref": put(archive, longer), "page": page} for page in (1, 2)))
    )

    assert text(whole) == just
    assert text(first) == "y" * 20_000 + f"\n[recall {put(archive, longer)}: page 1 of 2; for more: page=2]"
    assert text(second) == f"y\n[recall {put(archive, longer)}: page 2 of 2]"


def test_the_model_gets_what_the_views_policy_allows(archive: Archive, talk: Talk) -> None:
    ref = put(archive, SECRET, view_policy="secrets")
    withheld = put(archive, "all of it", view_policy="full")
    seen, line, asked, size = talk(
        calls({"ref": ref}, {"ref": ref, "grep": "hunter2|PASS"}, {"ref": ref, "raw": True}, {"ref": withheld})
    )

    assert text(seen) == f"export DB_PASSWORD=[removed: credential]\nok\n\n[recall {ref}: redacted (secrets)]"
    assert text(line).startswith("1:export DB_PASSWORD=[removed: credential]\n")
    assert (asked.is_error, "there is no argument 'raw'" in text(asked)) == (True, True)
    assert text(size).startswith("[withheld by policy: 9 characters]")


def test_what_is_wrong_with_a_call_is_its_answer_and_the_server_goes_on(archive: Archive, talk: Talk) -> None:
    ref = put(archive, "one\ntwo\n")
    wrong = {
        "there is no original 000000000000": {"ref": "0" * 12},
        "'nonsense' is no ref": {"ref": "nonsense"},
        "'ref' is missing": None,
        "'ref' must be a string, not ['x']": {"ref": ["x"]},
        "there is no argument 'reff'; did you mean 'ref'?": {"reff": ref},
        "'page' must be a whole number, not 1.5": {"ref": ref, "page": 1.5},
        "page: there is no page 9": {"ref": ref, "page": 9},
        "lines: there is no 3:; the original has the lines 1:2": {"ref": ref, "lines": "3:"},
        "grep: '(' is not a regular expression": {"ref": ref, "grep": "("},
        "has 5,000 characters; give one of at most": {"ref": ref, "grep": "(" * 5000},
    }
    *failed, nothing, good = talk(calls(*wrong.values(), {"ref": ref, "grep": "three"}, {"ref": ref}))

    assert [said for said, result in zip(wrong, failed, strict=True) if said not in text(result)] == []
    assert {result.is_error for result in failed} == {True}
    assert (nothing.is_error, text(nothing)) == (False, f"recall: no line of {ref} matches; it has 2 lines")
    assert (good.is_error, text(good)) == (False, "one\ntwo\n")


def test_a_tool_that_is_not_there_is_an_error_of_the_protocol(talk: Talk) -> None:
    async def about(client: Client) -> str:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("recal", {})
        return caught.value.message

    assert talk(about) == "there is no tool 'recal'; the one that there is: 'recall'"


def test_an_archive_that_is_not_there_yet_is_an_answer_and_is_read_as_soon_as_it_is(tmp_path: Path) -> None:
    made, folder = list[bool](), tmp_path / "later"

    async def about(client: Client) -> list[CallToolResult]:
        before = await client.call_tool("recall", {"ref": "0" * 12})
        made.append(folder.exists())
        with open_archive(folder, environ={}) as archive:
            return [before, await client.call_tool("recall", {"ref": put(archive, TEXT)})]

    with served(tmp_path, "--archive", folder) as talk:
        before, after = talk(about)

    assert made == [False]
    assert (before.is_error, "there is no original" in text(before)) == (True, True)
    assert text(after) == TEXT


def test_an_archive_that_is_no_archive_is_an_answer(tmp_path: Path) -> None:
    (tmp_path / "archive.db").write_text("no database at all, " * 100)
    with served(tmp_path, "--archive", tmp_path) as talk:
        (result,) = talk(calls({"ref": "0" * 12}))

    assert (result.is_error, "it is no database" in text(result)) == (True, True)


def test_the_archive_is_that_of_the_environment_else_the_default_one(
    archive: Archive, folder: Path, tmp_path: Path
) -> None:
    with open_archive(tmp_path / ".elision", environ={}) as near:
        here, there = put(near, "near"), put(archive, "far")
    with served(tmp_path, env={"ELISION_ARCHIVE": str(folder)}) as talk:
        (far,) = talk(calls({"ref": there}))
    with served(tmp_path) as talk:
        (default,) = talk(calls({"ref": here}))

    assert (text(far), text(default)) == ("far", "near")


def test_a_lone_surrogate_which_no_wire_carries_is_replaced_with_a_note(archive: Archive, talk: Talk) -> None:
    broken, whole = talk(calls({"ref": put(archive, "a\ud800b\udfff")}, {"ref": put(archive, TEXT)}))

    assert text(broken) == "a\ufffdb\ufffd\n[recall: lone surrogates, sent as U+FFFD: 2]"
    assert text(whole) == TEXT


def test_calls_at_the_same_time_each_get_their_own_original(archive: Archive, talk: Talk) -> None:
    texts = [f"original {number}\n" * 200 for number in range(20)]
    refs = [put(archive, each) for each in texts]
    found: dict[str, str] = {}

    async def about(client: Client) -> None:
        async def ask(ref: str) -> None:
            found[ref] = text(await client.call_tool("recall", {"ref": ref}))

        async with anyio.create_task_group() as group:
            for ref in refs:
                group.start_soon(ask, ref)

    talk(about)

    assert found == dict(zip(refs, texts, strict=True))
