"""What is read from an offloaded file is left alone, however a command reaches it."""

from __future__ import annotations

from pathlib import Path

import pytest
from offload_runs import TOOLS, lines, offloading, paths, quietly, results

from elision.testing import call, conversation, result

BASH = {"type": "function", "function": {"name": "bash", "parameters": {}}}


@pytest.fixture(autouse=True)
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def stays(command: str) -> bool:
    """Whether the result of a command that follows an offload stays; ``NAME`` is the name of the file."""
    run = conversation().user("Search.").step(call("search", q="x"), result(lines(400)))
    tools = [*TOOLS, BASH]
    (path,) = paths(quietly(offloading(), run.messages(), tools=tools))
    read = run.step(call("bash", command=command.replace("NAME", Path(path).name)), result(lines(500, "page")))
    return results(quietly(offloading(), read.messages(), tools=tools))[-1] == lines(500, "page")


@pytest.mark.parametrize(
    "command",
    [
        "cat .elision/offloaded/NAME",
        "cat .elision//offloaded/NAME",
        "cat .elision/./offloaded/NAME",
        "cd .elision && cat offloaded/NAME",
        "cat .elision/*/NAME",
        "cat NAME",
        "head -n 900 ./NAME",
        "sed -n '1,900p' 'NAME'",
    ],
)
def test_a_file_is_known_by_its_folder_or_by_its_name_from_inside_it(command: str) -> None:
    assert stays(command)


@pytest.mark.parametrize(
    "command",
    [
        "cat other/NAME",
        "cat NAME.gz",
        "cat xNAME",
        "cat my.elision/offloaded/x",
        "cat .elision/offloaded.md",
        "cat d41d8cd98f00b204e9800998ecf8427e.csv",
    ],
)
def test_another_file_is_not(command: str) -> None:
    assert not stays(command)
