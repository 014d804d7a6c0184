"""The rooms stand at the top of the repository; the wheel, the type checker and the tests see one package."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from glob import glob
from pathlib import Path
from typing import Any

import pytest
from by_file import LITELLM
from doc_blocks import ROOMS, ROOT

SETUPTOOLS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]


def shipped() -> list[Path]:
    """Every file of the package, each under its one path that leads over no link."""
    return [
        Path(folder, name)
        for top in ("elision", *ROOMS)
        for folder, _, names in os.walk(ROOT / top)
        if "__pycache__" not in folder
        for name in names
    ]


def dotted(folder: Path) -> str:
    parts = folder.relative_to(ROOT).parts
    return ".".join(parts if parts[0] == "elision" else ("elision", *parts))


def modules() -> list[str]:
    sources = (path for path in shipped() if path.suffix == ".py")
    return sorted(dotted(path.parent if path.stem == "__init__" else path.with_suffix("")) for path in sources)


def need_links() -> None:
    for room in ROOMS:
        link = ROOT / "elision" / room
        if not link.is_symlink() and (link.is_file() or not (ROOT / ".git").exists()):
            pytest.skip(f"elision/{room} is no link here: a checkout without symbolic links, or an unpacked sdist")


@pytest.mark.parametrize("room", ROOMS)
def test_the_engine_links_to_each_room_beside_it(room: str) -> None:
    need_links()

    assert os.readlink(ROOT / "elision" / room) == f"../{room}"


def test_every_folder_with_an_init_is_a_package_of_the_wheel() -> None:
    folders = {
        dotted(path.parent): path.parent.relative_to(ROOT).as_posix()
        for path in shipped()
        if path.name == "__init__.py"
    }

    assert SETUPTOOLS["package-dir"] == folders
    assert sorted(SETUPTOOLS["packages"]) == sorted(folders)


def test_every_python_file_lies_in_a_package() -> None:
    astray = [path for path in shipped() if path.suffix == ".py" and not (path.parent / "__init__.py").is_file()]

    assert astray == []


def test_every_data_file_is_matched_by_package_data() -> None:
    data = {str(path) for path in shipped() if path.suffix not in {".py", ".pyc", ".pyo"} and not path.is_symlink()}
    matched = {
        found
        for package, patterns in SETUPTOOLS["package-data"].items()
        for pattern in patterns
        for found in glob(str(ROOT / SETUPTOOLS["package-dir"][package] / pattern), recursive=True)
    }

    assert data - matched == set()


def test_importing_all_but_the_hosts_loads_no_room_under_its_bare_name() -> None:
    names = [name for name in modules() if not name.startswith("elision.plugins.hosts.")]
    code = (
        "import importlib, sys\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
        f"sys.exit(str(sorted(name for name in sys.modules if name.split('.')[0] in {ROOMS!r})))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.stderr.strip() == "[]"


def test_mypy_sees_every_module_of_the_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    need_links()
    options = pytest.importorskip("mypy.main", reason="mypy is not installed")
    monkeypatch.chdir(ROOT)
    sources, _ = options.process_options([])

    assert {source.module for source in sources} >= set(modules())


def test_the_files_of_tests_that_one_worker_takes_are_there() -> None:
    names = {path.stem for path in (ROOT / "tests").rglob("test_*.py")}

    assert [start for start in LITELLM if not any(name.startswith(start) for name in names)] == []
