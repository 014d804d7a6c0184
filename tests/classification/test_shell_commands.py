"""Shell commands with their classes, and every command of the recorded histories."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from shared_data import shared

from elision import ToolCall
from elision.classification import load_table
from elision.convert import parsed
from elision.dialect import by_name
from elision.registry import plugins
from elision.shell import MAX_BYTES, SimpleCommand, parse


def listed(name: str) -> list[Any]:
    return list(yaml.safe_load((Path(__file__).parent / name).read_text(encoding="utf-8")))


COMMANDS = [*listed("commands.yaml"), *listed("open_commands.yaml")]
TOOLS = {"bash", "terminal", "execute_bash", "shell", "exec_command", "run_shell_command", "run_commands"}


def argv(command: str) -> list[list[str]] | None:
    parts = parse(command)
    return None if parts is None else [[word.text for word in part.argv] for part in parts]


def test_a_command_has_the_classes_of_all_its_parts() -> None:
    table = load_table("default")
    found = []
    for case in COMMANDS:
        given = table.classify(ToolCall("", "bash", {"command": case["command"]})).classes
        kept = not table.verdict("clear", given).allowed
        found.append({**case, "classes": sorted(given), "kept": kept})

    assert [each for each, case in zip(found, COMMANDS, strict=True) if each != case] == []


def classes(command: str) -> set[str]:
    return set(load_table("default").classify(ToolCall("", "bash", {"command": command})).classes)


@pytest.mark.parametrize("table", ["default", "sandbox"])
def test_a_command_that_writes_is_found_wherever_it_stands(table: str) -> None:
    loaded = load_table(table)
    found = {each: loaded.classify(ToolCall("", "bash", {"command": each})) for each in listed("writing_commands.yaml")}

    assert [each for each, one in found.items() if loaded.verdict("clear", one.classes).allowed] == []


TAKEN_APART = [case["command"] for case in COMMANDS if parse(case["command"])]


def test_a_command_keeps_its_classes_however_it_is_wrapped() -> None:
    for command in TAKEN_APART:
        plain = classes(command)

        assert classes(f"bash -c {shlex.quote(command)}") == plain, command
        assert classes(f"sudo -E timeout 5 sh -c {shlex.quote(command)}") == plain, command
        assert classes(f"( {command}\n)") == plain, command
        assert classes(f"git push\n{command}") == plain | {"receipt"}, command
        assert classes(f'echo "$( {command}\n)"') == plain | {"static"}, command


@given(st.text(max_size=60) | st.text(alphabet="ab \\n'\"$(){}[]<>|&;`\\\\#!=*~-", max_size=40))
def test_any_text_is_taken_apart_or_unknown(text: str) -> None:
    parts = parse(text)

    assert parts is None or (parts and all(isinstance(part, SimpleCommand) for part in parts))
    assert "unknown" in classes(text) or parts is not None


def test_there_are_many_commands_and_half_of_them_are_kept() -> None:
    kept = sum(case["kept"] for case in COMMANDS)

    assert len(COMMANDS) >= 60
    assert kept >= len(COMMANDS) / 2


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("a 'b c' \"d e\" f\\ g", [["a", "b c", "d e", "f g"]]),
        ("a 'b'\"c\"d", [["a", "bcd"]]),
        ("cd x && git commit -m 'a; b'", [["cd", "x"], ["git", "commit", "-m", "a; b"]]),
        ("a | b; c & d || e", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("A=$(x) B=c d", [["x"], ["d"]]),
        ("time -p nice -n 5 stdbuf -oL a -x", [["a", "-x"]]),
        ("xargs", [["xargs"]]),
        ("case $x in a) b;; *) c;; esac", [["b"], ["c"]]),
        ("while read x; do a; done < f", [["read", "x"], ["a"]]),
        ("sh -c 'a' _ b", [["a"]]),
        ("a <<EOF b\nhi\nEOF", [["a", "b"]]),
        ("export A=$(x)", [["x"], ["export"]]),
    ],
)
def test_a_command_line_is_taken_apart(command: str, expected: list[list[str]]) -> None:
    assert argv(command) == expected


@pytest.mark.parametrize(
    ("command", "writes"),
    [
        ("a > f", True),
        ("a >> f", True),
        ("a &> f", True),
        ("a 2> f", True),
        ("a >| f", True),
        ('a > "$f"', True),
        ("> f", True),
        ("{ a; b; } > f", True),
        ("a > /dev/null 2>&1", False),
        ("a &> /dev/null", False),
        ("a >&2", False),
        ("a < f", False),
        ("a <<< 'x > y'", False),
    ],
)
def test_a_redirection_that_writes_a_file_is_a_fact(command: str, writes: bool) -> None:
    parts = parse(command)

    assert parts is not None
    assert any(part.writes for part in parts) is writes


@pytest.mark.parametrize("text", ["$x", "${x}", "$(x)", "`x`", '"a$x"', "$'a\\tb'", "{a,b}", "a$((1+1))"])
def test_a_word_with_an_expansion_is_not_literal(text: str) -> None:
    parts = parse(f"cmd {text}")

    assert parts is not None
    assert not parts[-1].argv[1].literal


def test_the_words_of_one_command_are_not_parsed_again() -> None:
    assert parse(["echo", "a; rm b"]) == (SimpleCommand(tuple(parse(["echo", "a; rm b"])[0].argv)),)  # type: ignore[index]
    assert [str(part) for part in parse(["bash", "-lc", "cd x; git push"]) or ()] == ["cd x", "git push"]


@pytest.mark.parametrize(
    "command",
    [
        "echo " + "x" * MAX_BYTES,
        "<<E " * 4000,
        "${" * 5000,
        "a | " * 4000,
        "x=(" * 6000,
        "(" * 10_000,
        "$(" * 9000,
        "echo " + "$(echo " * 300 + ")" * 300,
        "\0",
        "echo \ud800",
        "bash -c '" + "x" * 15_000 + "'; bash -c '" + "y" * 4_000 + "'",
    ],
    ids=lambda command: command[:8].encode("unicode_escape").decode(),
)
def test_a_hostile_command_is_unknown_or_taken_apart_but_never_fails(command: str) -> None:
    assert parse(command) is None or parse(command)


def documents(path: Path) -> Iterator[Any]:
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    try:
        yield json.loads(text)
    except ValueError:
        for line in text.split("\n"):
            try:
                yield json.loads(line)
            except ValueError:
                continue


def commands_in(value: Any) -> Iterator[Any]:
    """The commands of every call of a shell tool, whatever shape the history has."""
    if isinstance(value, list):
        for item in value:
            yield from commands_in(item)
    elif isinstance(value, dict):
        function = value.get("function") if isinstance(value.get("function"), dict) else value
        name = function.get("name")
        given = next((function[key] for key in ("arguments", "input", "args") if key in function), None)
        if isinstance(name, str) and name.lower() in TOOLS and given is not None:
            yield from commands_of(given)
            return
        for item in value.values():
            yield from commands_in(item)


def commands_of(given: Any) -> Iterator[Any]:
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return
    if isinstance(given, dict):
        yield from (given[key] for key in ("command", "cmd") if isinstance(given.get(key), str | list))
        yield from given.get("commands", [])


def actions_in_text(folder: str, dialect: str) -> Iterator[Any]:
    reader = by_name(plugins().dialects(), dialect)
    for path in sorted(shared("data", folder).iterdir()):
        for document in documents(path):
            runs = document if isinstance(document, dict) else {"messages": document}
            messages = runs.get("history") or runs.get("messages") or []
            history = parsed([raw for raw in messages if raw.get("role") != "exit"], reader)
            for _, call in (pair for step in history.steps for pair in step.calls):
                if isinstance(call.arguments, dict) and isinstance(call.arguments.get("command"), str):
                    yield call.arguments["command"]


def test_every_recorded_command_is_taken_apart_or_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    files = sorted(path for path in shared("data").rglob("*") if path.is_file())
    found = [command for path in files for document in documents(path) for command in commands_in(document)]
    found += [*actions_in_text("miniswe", "miniswe"), *actions_in_text("sweagent", "sweagent")]
    taken = [command for command in found if parse(command)]

    with capsys.disabled():
        print(f"\n{len(taken)} of {len(found)} recorded shell commands are taken apart ({len(taken) / len(found):.1%})")
    assert len(found) > 800
    assert len(taken) / len(found) > 0.95
