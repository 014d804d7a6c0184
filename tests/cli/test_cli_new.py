from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
import venv
from importlib.util import find_spec
from pathlib import Path

import pytest
from command_line import Run

from elision.cli.new import IMPORTED, rendered


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_plugin_is_a_package_with_a_processor_its_test_and_an_example(run: Run, tmp_path: Path) -> None:
    result = run("new", "plugin", "elision-last-lines", "--into", tmp_path)

    assert result.exit_code == 0
    assert files(tmp_path / "elision-last-lines") == [
        "README.md",
        "chain.yaml",
        "pyproject.toml",
        "src/elision_last_lines/__init__.py",
        "tests/test_elision_last_lines.py",
    ]


def test_the_readme_has_no_links_to_places_where_nothing_may_be(run: Run, tmp_path: Path) -> None:
    run("new", "plugin", "elision-last-lines", "--into", tmp_path)

    assert "://" not in (tmp_path / "elision-last-lines" / "README.md").read_text(encoding="utf-8")


def test_the_entry_point_names_the_module(run: Run, tmp_path: Path) -> None:
    run("new", "plugin", "Last_Lines", "--into", tmp_path)
    project = tomllib.loads((tmp_path / "Last_Lines" / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert project["entry-points"]["elision"] == {"last_lines": "last_lines"}
    assert (tmp_path / "Last_Lines" / "src" / "last_lines" / "__init__.py").is_file()


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "/x",
        "x/y",
        "..",
        "",
        " ",
        "a b",
        "1x",
        "x.y",
        "x-",
        "x--y",
        "é",
        "x\ny",
        "{{ 7 * 7 }}",
        "a" * 61,
        "class",
        "elision-class",
        "elision-1x",
        "json",
        "click",
        "elision",
        "elision_true",
        "true",
        "none",
        "elision-none",
        "elision-false",
        "elision-null",
        "elision-off",
        "literal",
        "class-var",
        "elision-processor",
        "elision-positive_int",
        "match",
    ],
)
def test_a_name_that_is_none_for_a_package_is_refused_in_one_line(run: Run, tmp_path: Path, name: str) -> None:
    result = run("new", "plugin", "--into", tmp_path / "in", "--", name)

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("plugin name ")
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_processor_that_is_there_already_is_not_offered_twice(run: Run, tmp_path: Path) -> None:
    result = run("new", "plugin", "elision-cache-control", "--into", tmp_path)

    assert result.exit_code == 1
    assert "there is a processor 'cache_control' already" in result.stderr


@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_what_is_there_already_is_not_overwritten(run: Run, tmp_path: Path, kind: str) -> None:
    place = tmp_path / "last-lines"
    if kind == "folder":
        place.mkdir()
    elif kind == "file":
        place.write_text("mine", encoding="utf-8")
    else:
        place.symlink_to(tmp_path / "nowhere")
    result = run("new", "plugin", "last-lines", "--into", tmp_path)

    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "exists already" in result.stderr
    assert files(tmp_path) == (["last-lines"] if kind == "file" else [])


def test_a_folder_that_cannot_be_made_is_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    result = run("new", "plugin", "last-lines", "--into", tmp_path / "file" / "in")

    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)


def installed(project: Path, folder: Path) -> Path:
    """Install a project in a new virtual environment that sees what is installed here; return its Python."""
    venv.create(folder, system_site_packages=True, with_pip=False)
    python = folder / "bin" / "python"
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = folder / "lib" / version / "site-packages"
    # A virtual environment made from another one sees the packages of the interpreter below, not of that one.
    (site / "outer.pth").write_text("\n".join(f"import site; site.addsitedir({path!r})" for path in sys.path if path))
    if find_spec("setuptools") is not None and find_spec("wheel") is not None and find_spec("pip") is not None:
        command = ["-m", "pip", "install", "--no-deps", "--no-build-isolation", "--no-index", "-e", str(project)]
        subprocess.run([python, *command], check=True, capture_output=True)
        return python
    print("setuptools, wheel or pip is missing: the entry point is written by hand")
    declared = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = site / "plugin-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {declared['name']}\nVersion: 0.1.0\n")
    points = "\n".join(f"{name} = {module}" for name, module in declared["entry-points"]["elision"].items())
    (info / "entry_points.txt").write_text(f"[elision]\n{points}\n")
    (site / "plugin.pth").write_text(f"{project / 'src'}\n")
    return python


def test_a_new_plugin_installs_passes_its_test_and_is_usable_from_yaml(
    run: Run, tmp_path: Path, recorded: Path
) -> None:
    run("new", "plugin", "elision-last-lines", "--into", tmp_path)
    project = tmp_path / "elision-last-lines"
    python = installed(project, tmp_path / "env")
    unwanted = ("PYTEST", "ELISION_ARCHIVE")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}

    def call(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [str(python), "-m", *map(str, arguments)]
        return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)

    tested = call("pytest", "-q", "-p", "no:cacheprovider")
    archives = list(project.glob(".elision"))
    applied = call("elision", "apply", recorded, "--chain", "chain.yaml")
    listed = call("elision", "list", "processors", "--json")

    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert archives == []
    assert applied.returncode == 0, applied.stderr
    assert re.match(r"\[\d+ lines left out; ref [0-9a-f]{12}\]\n", json.loads(applied.stdout)[2]["content"])
    assert {entry["name"]: entry["plugin"] for entry in json.loads(listed.stdout)}["last_lines"] == "elision_last_lines"


def test_the_names_that_the_template_imports_are_the_ones_that_a_class_may_not_have() -> None:
    module = ast.parse(rendered("last-lines")["src/last_lines/__init__.py"])
    imports = [node for node in ast.walk(module) if isinstance(node, ast.ImportFrom) and node.module != "__future__"]
    names = {alias.name for node in imports for alias in node.names}

    assert {name for name in names if name[0].isupper()} == IMPORTED
