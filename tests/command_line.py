"""What the fixtures ``run``, ``process`` and ``plugin`` of the command line's tests are."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import TypeAlias

from click.testing import Result

Run: TypeAlias = Callable[..., Result]
Process: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]
Plugin: TypeAlias = Callable[[str], dict[str, str]]
