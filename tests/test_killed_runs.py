"""Kill during offload, during a summary, during an archive write: after restart the view is valid, nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

WHOLE = {
    "requests": 25,
    "rule": True,
    "unlike": [],
    "failures": [],
    "lost": [],
    "torn": [],
    "faults": [],
    "problems": [],
}


def killed(*arguments: Any) -> Any:
    command = [sys.executable, str(Path(__file__).parent / "killed_runs.py"), *map(str, arguments)]
    environ = {name: value for name, value in os.environ.items() if name != "ELISION_ARCHIVE"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environ, timeout=300)

    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_kill_during_offload_during_a_summary_during_an_archive_write_after_restart_the_view_is_valid_nothing_is_lost(
    tmp_path: Path,
) -> None:
    found = killed(tmp_path)

    for point, left in found.items():
        assert left.pop("died"), point
        assert left.pop("first") < 25, point
        assert left.pop("dropped") > 10, point
        assert left.pop("files") == 5, point
        assert left == WHOLE, point


def test_killed_at_random_points_a_run_goes_on_to_send_what_it_would_have_sent(tmp_path: Path) -> None:
    found = killed(tmp_path, 8, 3)

    # A run that has ended before its time has come was not killed.
    assert found.pop("died") >= 4
    assert found.pop("exit") == 0
    assert found.pop("dropped") > 10
    assert found.pop("files") == 5
    assert found == WHOLE
