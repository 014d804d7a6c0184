"""``elision new plugin``: a package with a processor, its test and its entry point."""

from __future__ import annotations

import keyword
import re
import shutil
import sys
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import click

from elision.cli.output import OutputError, printable, show
from elision.errors import InputError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*([_-][A-Za-z0-9]+)*")
_LONGEST_NAME = 60

IMPORTED = frozenset(
    {
        "ClassVar",
        "Edit",
        "Iterator",
        "Literal",
        "NonNegativeInt",
        "Operation",
        "PositiveInt",
        "Processor",
        "Stage",
        "View",
    }
)
"""What the module of a plugin imports, which its class must not hide."""

FILES = {
    "pyproject.toml.j2": "pyproject.toml",
    "README.md.j2": "README.md",
    "chain.yaml.j2": "chain.yaml",
    "module.py.j2": "src/{module}/__init__.py",
    "test_module.py.j2": "tests/test_{module}.py",
}
"""The templates in ``templates/plugin``, and the files that they become."""


@click.group("new")
def command() -> None:
    """Start a plugin of your own."""


@command.command("plugin")
@click.argument("name", metavar="NAME")
@click.option(
    "--into",
    metavar="DIR",
    default=".",
    type=click.Path(path_type=Path),
    help="Folder to make it in; the current one if not given.",
)
def plugin(name: str, into: Path) -> None:
    """Make a package with a processor.

    The folder NAME gets a processor of about ten lines, its test, a README and an example chain.  It installs with pip
    and passes its test as it is.
    """
    folder = make_plugin(name, into)
    show(printable(f"made {folder}; next: pip install -e '{folder}[test]' && pytest {folder}"))


def make_plugin(name: str, into: Path) -> Path:
    """Write the package ``name`` into a new folder, and return it."""
    texts = rendered(name)
    folder = into / name
    try:
        into.mkdir(parents=True, exist_ok=True)
        folder.mkdir()
    except FileExistsError:
        raise OutputError(f"{folder}: it exists already, and is not overwritten; choose another name") from None
    except OSError as error:
        raise OutputError(f"{folder}: {error.strerror or error}; choose another folder with --into") from error
    try:
        for path, text in texts.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise OutputError(f"{folder}: {error.strerror or error}; choose another folder with --into") from error
    return folder


def rendered(name: str) -> dict[str, str]:
    """Return the files of the package ``name`` by their paths in it."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    from elision import __version__

    module, type_ = _checked(name)
    facts = {
        "name": name.lower(),
        "module": module,
        "type": type_,
        "class_name": _class_name(type_),
        "version": __version__,
    }
    # Source code, not HTML; the names in it are checked.
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True)
    folder = files("elision.templates").joinpath("plugin")
    return {
        path.format(module=module): environment.from_string(folder.joinpath(template).read_text("utf-8")).render(facts)
        for template, path in FILES.items()
    }


def _class_name(type_: str) -> str:
    return "".join(word.capitalize() for word in type_.split("_"))


def _checked(name: str) -> tuple[str, str]:
    """Return the module and the processor's ``type`` for a plugin's name, or say why it cannot be one."""
    import yaml

    where = f"plugin name {name!r}"
    if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        raise InputError(
            f"{where}: not a name for a package; up to {_LONGEST_NAME} letters, digits and single hyphens or "
            "underscores, a letter first; choose such a one"
        )
    module = name.lower().replace("-", "_")
    type_ = module.removeprefix("elision_")
    class_name = _class_name(type_)
    reserved = any(map(keyword.iskeyword, (type_, module, class_name))) or keyword.issoftkeyword(module)
    if reserved or class_name in IMPORTED or type_[0].isdigit():
        raise InputError(f"{where}: {type_!r} is not a name that Python takes for a class; choose another one")
    if yaml.safe_load(type_) != type_:
        raise InputError(f"{where}: {type_!r} is a value of its own in YAML, not a name; choose another one")
    if module in sys.stdlib_module_names or find_spec(module) is not None:
        raise InputError(f"{where}: a module {module!r} is installed already; choose another name, or uninstall it")
    from elision.registry import plugins

    if type_ in plugins().processors():
        raise InputError(f"{where}: there is a processor {type_!r} already; names are unique; choose another one")
    return module, type_
