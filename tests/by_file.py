"""How the suite is shared among workers: by file, with those first that take longest."""

from __future__ import annotations

from functools import cache
from pathlib import Path, PurePath
from typing import Any

import pytest

LITELLM = (
    "test_dialect_calls_and_thinking",
    "test_dialect_openai",
    "test_example_agent",
    "test_host_documents",
    "test_host_miniswe",
    "test_native_wire",
    "test_server_litellm",
    "test_shadow_mode",
    "test_summary_prompts",
    "test_transport",
)
"""What the names of files begin with that need litellm, which takes seconds to import: they go to one worker."""
SIGNS = ("from hypothesis", "check_processor", "subprocess", "from forked", "ModelServer", "shipped_chains")
"""What stands in files that take longer than others: these begin, the largest first, and small ones end the run."""


def needs_litellm(nodeid: str) -> bool:
    """Whether a test is in a file that needs litellm."""
    return PurePath(nodeid.partition("::")[0]).stem.startswith(LITELLM)


@cache
def order(path: Path) -> tuple[int, int]:
    """Return where the tests of a file stand in the order of the workers."""
    text = path.read_text(encoding="utf-8")
    if needs_litellm(path.name):
        return 0, 0
    return 1 if any(sign in text for sign in SIGNS) else 2, -len(text)


def scheduler(config: pytest.Config, log: Any) -> Any:
    """Return what gives each file to one worker, and those that need litellm to the same one."""
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "litellm" if needs_litellm(nodeid) else str(super()._split_scope(nodeid))

    config.option.loadscopereorder = False
    return ByFile(config, log)
