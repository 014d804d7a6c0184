"""What loading a chain does, and what linting it leaves alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import elision
from elision.registry import plugins

Lines = Callable[[str], list[str]]


def test_a_loaded_config_raises_all_errors_at_once_and_no_warnings() -> None:
    text = "history_processors: [{type: default, a: 1}, {type: cache_control}, {type: cache_control}]\nmodel: 5"

    with pytest.raises(elision.ConfigError) as caught:
        elision.loads(text, source="chain.yaml")

    assert [(problem.line, problem.path) for problem in caught.value.problems] == [
        (1, "history_processors[0].a"),
        (2, "model"),
    ]


def test_a_target_that_cannot_be_imported_is_located_when_the_chain_is_loaded() -> None:
    text = "history_processors:\n- type: call\n  target: no_such_package:f\n- type: call\n  target: os:nothing\n"

    with pytest.raises(elision.ConfigError) as caught:
        elision.loads(text, source="chain.yaml")

    assert str(caught.value).splitlines() == [
        (
            "chain.yaml:2:3: history_processors[0]: 'no_such_package:f' cannot be imported "
            "(No module named 'no_such_package'); install it or correct the name"
        ),
        (
            "chain.yaml:4:3: history_processors[1]: 'os:nothing' cannot be imported "
            "(module 'os' has no attribute 'nothing'); install it or correct the name"
        ),
    ]


@pytest.mark.parametrize("file", ["acme_logs.py", "acme_logs/__init__.py", "acme_logs/processors.py"])
def test_a_target_in_the_working_directory_names_pythonpath(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry not in {"", "."}])
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).touch()

    with pytest.raises(elision.ConfigError) as caught:
        elision.loads("history_processors: [{type: call, target: 'acme_logs:f'}]", source="chain.yaml")

    assert str(caught.value) == (
        "chain.yaml:1:22: history_processors[0]: 'acme_logs:f' cannot be imported (No module named 'acme_logs'); "
        "it is in the working directory, which is not searched: install it, or set PYTHONPATH=."
    )


def test_an_uncaught_error_of_a_config_shows_one_traceback() -> None:
    text = "history_processors: [{type: call, target: 'no_such_package:f'}]"
    code = f"import elision; elision.loads({text!r})"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.stderr.count("Traceback (most recent call last)") == 1
    assert done.stderr.splitlines()[-1].startswith("elision.errors.ConfigError: <string>:1:22: history_processors[0]: ")


def test_lint_runs_no_code_of_the_user(problems: Lines) -> None:
    assert problems("history_processors: [{type: call, target: no_such_package:f}]") == []


def test_a_target_that_fails_when_imported_gives_no_traceback(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("code")
    (folder / "falls_over.py").write_text("raise RuntimeError('no licence')\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))

    with pytest.raises(elision.ConfigError) as caught:
        elision.loads("history_processors: [{type: call, target: 'falls_over:f'}]", source="chain.yaml")

    assert str(caught.value) == (
        "chain.yaml:1:22: history_processors[0]: call cannot be prepared (RuntimeError: no licence); mend what it needs"
    )


def test_a_chain_built_in_python_names_the_processor_that_cannot_be_prepared() -> None:
    call = plugins().processors()["call"]

    with pytest.raises(elision.ConfigError) as caught:
        elision.Chain([call.model_validate({"type": "call", "target": "os:nothing"})])

    assert str(caught.value) == (
        "chain: processors[0]: 'os:nothing' cannot be imported (module 'os' has no attribute 'nothing'); "
        "install it or correct the name"
    )


def test_linting_loads_neither_litellm_nor_tiktoken() -> None:
    code = (
        "import sys; from elision.config import lint\n"
        "lint('agent: {history_processors: [{type: last_n_observations, n: 5}, {type: cache_control}]}', 'x')\n"
        "print(sorted({'litellm', 'tiktoken'} & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
