"""What the archive loses when its writers are killed: nothing may be lost, torn, repeated or unlinked.

Four processes write to one archive; one after the other is killed with SIGKILL at a random point, and replaced.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
ROWS = {
    "lost": "acknowledged, but not there or not equal",
    "torn": "transactions of which a part is there",
    "repeated": "edits recorded more than once",
    "problems": "problems that `verify` finds",
    "errors": "puts that failed",
}


def main() -> int:
    """Print the figures; return 1 when anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures to a JSON file too")
    parser.add_argument("--quick", action="store_true", help="30 kills instead of 300")
    parser.add_argument("--seed", type=int, default=11, help="of the random points")
    parser.add_argument(
        "--in", dest="place", metavar="DIR", type=Path, help="folder to write in, on the disk in question"
    )
    options = parser.parse_args()
    kills = 30 if options.quick else 300
    with tempfile.TemporaryDirectory(dir=options.place) as folder:
        found = killed(folder, kills, options.seed)
    wrong = {name: len(found[name]) for name in ROWS}
    print(f"{'kills':<52}{kills:10,}")
    print(f"{'records committed and acknowledged':<52}{found['acknowledged']:10,}")
    print(f"{'records there':<52}{found['records']:10,}")
    for name, what in ROWS.items():
        print(f"{name + ': ' + what:<52}{wrong[name]:10,}  budget 0  {'MISSED' if wrong[name] else 'ok'}")
    print(f"{'hash chains':<52}{'broken' if wrong['problems'] else 'whole':>10}")
    if options.json:
        figures = {"kills": kills, "acknowledged": found["acknowledged"], "records": found["records"], **wrong}
        options.json.write_text(json.dumps({"figures": figures, "seed": options.seed}, indent=1))
    return 1 if any(wrong.values()) or found["records"] < found["acknowledged"] else 0


def killed(folder: str, kills: int, seed: int) -> dict[str, Any]:
    """Kill writers at random points, and return what the check afterwards found."""
    command = [sys.executable, str(ROOT / "tests" / "killed_writers.py"), folder, str(kills), str(seed)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603 (our own)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    sys.exit(main())
