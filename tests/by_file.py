"""How the suite is shared among workers: by file, with those first that take longest."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import pytest

LITELLM = (
    "test_dialect_calls_and_thinking",
    "test_dialect_openai",
    "test_host_documents",
    "test_host_miniswe",
    "test_native_wire",
    "test_server_litellm",
    "test_shadow_mode",
    "test_summary_prompts",
    "test_transport",
)
"""What the names of files begin with that need litellm, which takes seconds to import: they go to one worker."""
LONG = (
    "test_check_chain",
    "test_guard_properties",
    "test_removed_bytes",
    "test_schedule_properties",
    "test_check_processor",
    "test_strategies",
    "test_scheduled_properties",
    "test_example_agent",
    "test_bound_thinking_properties",
    "test_summarize",
    "test_offload_properties",
    "test_cli_new",
    "test_mcp_server",
    "test_offloaded_files",
    "test_summaries_properties",
    "test_reference_pages",
    "test_summaries_background",
    "test_cli_mcp",
    "test_host_sweagent",
)


def order(nodeid: str) -> int:
    """Return where a test stands in the order of the workers."""
    name = PurePath(nodeid.partition("::")[0]).stem
    if name.startswith(LITELLM):
        return 0
    return LONG.index(name) + 1 if name in LONG else len(LONG) + 1


def scheduler(config: pytest.Config, log: Any) -> Any:
    """Return what gives each file to one worker, and those that need litellm to the same one."""
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "litellm" if order(nodeid) == 0 else str(super()._split_scope(nodeid))

    config.option.loadscopereorder = False
    return ByFile(config, log)
