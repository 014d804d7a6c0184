"""The cache report that ``elision apply --report`` writes."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import Run


def test_the_report_has_the_four_keys_what_the_request_costs_and_what_is_saved(
    run: Run, recorded: Path, chain: Path, tmp_path: Path
) -> None:
    report = tmp_path / "report.json"
    run("apply", recorded, "--chain", chain, "--report", report, "--model", "claude-sonnet-4-5")
    (figures,) = json.loads(report.read_text(encoding="utf-8"))["runs"]
    cache = figures["cache"]

    assert set(cache["keys"]) == {"system", "tools", "task_state", "live_window"}
    assert cache["breaks"] == []
    assert cache["after"]["input_tokens"] == figures["tokens"]["after"]
    assert cache["before"]["input_tokens"] == figures["tokens"]["before"]
    assert cache["saved"]["tokens"] == figures["tokens"]["before"] - figures["tokens"]["after"]
    assert cache["after"]["dollars"] > 0


def test_lint_says_where_the_model_of_a_chain_takes_no_breakpoints(run: Run, tmp_path: Path) -> None:
    chain = tmp_path / "chain.yaml"
    chain.write_text("history_processors:\n  - type: cache_control\n    plan: auto\nmodel: gpt-4.1\n", encoding="utf-8")
    result = run("lint", chain)

    assert result.exit_code == 0
    assert result.stdout == (
        f"{chain}:2:5: history_processors[0]: warning: no breakpoint helps 'gpt-4.1': the cache of openai takes none "
        "(automatic); remove it, or name the model that is asked\n"
    )
