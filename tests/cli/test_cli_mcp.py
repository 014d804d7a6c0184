"""``elision mcp`` as a process: how it starts, what it prints, how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from command_line import Plugin, Process

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "by hand", "version": "1"},
    },
}
CALL = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "recall", "arguments": {"ref": "0" * 12}},
}
Start: TypeAlias = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start the command with pipes."""
    pytest.importorskip("mcp", reason="mcp is not installed; pip install 'elision[mcp]'")
    started: list[subprocess.Popen[str]] = []

    def begin(*arguments: str, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "elision", "mcp", *arguments]
        pipe = subprocess.PIPE
        environment = {**os.environ, **(env or {})}
        server = subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True, encoding="utf-8"
        )
        started.append(server)
        return server

    yield begin
    for server in started:
        server.kill()
        server.communicate()


def ask(server: subprocess.Popen[str], message: dict[str, Any] | str) -> Any:
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(f"{message if isinstance(message, str) else json.dumps(message)}\n")
    server.stdin.flush()
    return json.loads(server.stdout.readline())


def end(server: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Close the standard input, and return the exit code with all that is left in the pipes."""
    printed, said = server.communicate(timeout=60)
    return server.returncode, printed, said


def test_without_the_sdk_one_line_says_what_to_install(process: Process, tmp_path: Path) -> None:
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "mcp.py").write_text("raise ModuleNotFoundError(\"No module named 'mcp'\")\n")
    done = process("mcp", env={"PYTHONPATH": str(tmp_path / "hidden")})

    assert (done.returncode, done.stdout, done.stderr) == (
        1,
        "",
        "mcp: the MCP SDK cannot be imported (No module named 'mcp'); install it with: pip install 'elision[mcp]'\n",
    )


def test_an_archive_that_no_plugin_offers_is_one_line(process: Process) -> None:
    done = process("mcp", "--archive", "s3://x")

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "archive: there is no archive of the kind 's3'" in done.stderr


def test_the_end_of_the_standard_input_ends_it_quietly(start: Start) -> None:
    """Before anything is asked; afterwards, see the other tests."""
    assert end(start()) == (0, "", "")


def test_an_interrupt_ends_it_quietly_while_the_standard_input_is_open(start: Start) -> None:
    server = start()
    ask(server, HELLO)
    server.send_signal(signal.SIGINT)

    assert server.wait(timeout=60) == 0
    assert end(server) == (0, "", "")


def test_a_client_that_stops_to_read_ends_it_quietly(start: Start) -> None:
    server = start()
    ask(server, HELLO)
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdout.close()
    server.stdin.write(f"{json.dumps(CALL)}\n")
    server.stdin.close()
    server.stdin = None

    assert server.wait(timeout=60) == 0
    assert server.stderr is not None
    assert server.stderr.read() == ""


NO_REQUESTS = ("", "no JSON", "[" * 5000, '"\\ud800"', "{}", '{"jsonrpc":"2.0","method":"notifications/none"}')


def test_a_line_that_is_no_request_is_passed_over_and_arguments_that_are_no_object_are_an_error(start: Start) -> None:
    server, answered = start(), {}
    ask(server, HELLO)
    for number, line in enumerate(NO_REQUESTS, 2):
        answer = ask(server, f"{line}\n{json.dumps({**CALL, 'id': number})}")
        answered[line] = (answer["id"], answer["result"]["isError"])

    wrong = ask(server, {**CALL, "params": {"name": "recall", "arguments": ["ref"]}})

    assert answered == {line: (number, True) for number, line in enumerate(NO_REQUESTS, 2)}
    assert (wrong["id"], wrong["error"]["code"]) == (2, -32602)
    assert end(server) == (0, "", "")


LOUD = """
import elision
from elision.archive.sqlite import SqliteStore

print("loaded")

class Loud(SqliteStore):
    def resolve(self, name):
        print("asked")
        return super().resolve(name)

@elision.hookimpl
def elision_archives():
    return {"loud": lambda where: Loud(None)}
"""


def test_what_a_plugin_prints_does_not_reach_the_wire(start: Start, plugin: Plugin) -> None:
    server = start("--archive", "loud://x", env=plugin(LOUD))
    hello, answer = ask(server, HELLO), ask(server, CALL)

    assert (hello["id"], answer["id"], answer["result"]["isError"]) == (1, 2, True)
    assert end(server) == (0, "", "loaded\nasked\n")


@pytest.mark.parametrize("arguments", [["-c", "import elision"], ["-m", "elision", "--help"]])
def test_neither_importing_elision_nor_its_help_loads_the_sdk(arguments: list[str]) -> None:
    done = subprocess.run([sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}

    assert "elision" in loaded
    assert {"mcp", "anyio", "elision.archive.mcp_server"} & loaded == set()
