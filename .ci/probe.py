"""Try an installed wheel: run outside the checkout, with its environment first on PATH and ``run.json`` beside."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path

SUBPACKAGES = {
    str(path.parent).replace("/", ".")
    for path in distribution("elision").files or ()
    if path.name == "__init__.py" and path.parts[0] == "elision"
}


def output(*command: str) -> str:
    """Run a command; its failure is this script's failure."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603


for name in sorted(SUBPACKAGES):
    module = import_module(name)
    assert Path(module.__file__ or "").is_relative_to(sys.prefix), f"{name} is {module.__file__}, not the wheel's"
assert "history_processors" in files("elision.configs.chains").joinpath("default.yaml").read_text(encoding="utf-8")
assert files("elision.templates").joinpath("placeholders", "sweagent.j2").read_text(encoding="utf-8").strip()

version = distribution("elision").version
assert version in output("elision", "--version")
assert "last_n_observations" in output("elision", "list")
sent = json.loads(output("elision", "apply", "run.json", "--chain", "default"))
recorded = json.loads(Path("run.json").read_text(encoding="utf-8"))
messages = recorded if isinstance(recorded, list) else recorded["messages"]
assert len(sent) == len(messages)
assert len(json.dumps(sent)) < len(json.dumps(messages))
print(f"elision {version}: {len(SUBPACKAGES)} packages, resources, --version, list and apply")
