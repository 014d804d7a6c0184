"""The note of an offloaded log shows the lines between head and tail that look like errors."""

from __future__ import annotations

from pathlib import Path

import pytest

import elision
from elision.testing import call, conversation, result

TOOLS = [{"name": name, "input_schema": {}} for name in ("bash", "read_file")]


@pytest.mark.parametrize("lines", [1400, 60_000])
def test_the_only_fatal_line_of_a_log_is_in_the_note(tmp_path: Path, lines: int) -> None:
    log = [f"{number} compiling unit {number}" for number in range(lines)]
    log[lines // 2 if lines < 9000 else 5000] = "FATAL: the linker died"
    run = conversation("anthropic").user("Build it.").step(call("bash", command="make"), result("\n".join(log)))
    chain = elision.loads(
        f"history_processors: [{{type: offload, threshold_tokens: 2000, folder: {tmp_path / 'out'}}}]",
        archive="memory:",
    )
    (edit,), sent = (view := chain.process(run.messages(), tools=TOOLS)).edits, str(view.messages[2])

    assert edit.processor == "offload"
    assert "lines between that look like errors:" in sent
    assert "FATAL: the linker died" in sent
    assert len(sent) < 4200
