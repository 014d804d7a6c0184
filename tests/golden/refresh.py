"""Golden views: what each shipped chain makes of the recorded run.  Run this file to write them anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import elision
from elision.config import shipped_chains

FOLDER = Path(__file__).parent
RUN = FOLDER.parents[1] / "examples" / "sample_run.json"


def golden(name: str) -> dict[str, Any]:
    """Return what a chain changes in the recorded run: the new content of each changed message, and the report."""
    messages = json.loads(RUN.read_text(encoding="utf-8"))["messages"]
    view = elision.load(name, archive="memory:").process(messages)
    given = set(map(id, messages))
    changed = {i: sent for i, sent in enumerate(view.messages) if id(sent) not in given}
    # Where messages come in or go, what is changed stands elsewhere than what it was, and is shown whole.
    moved = any(edit.action in {"drop", "insert"} for edit in view.edits)
    before = [{}] * len(view.messages) if moved else messages
    return {
        "messages": len(view.messages),
        "changed": {str(i): {k: v for k, v in sent.items() if v != before[i].get(k)} for i, sent in changed.items()},
        "refusals": [[refusal.position, refusal.rule] for refusal in view.refusals],
        "repairs": len(view.repairs),
        "pending": len(view.pending),
    }


def text(name: str) -> str:
    """Return a golden view as it stands in its file."""
    return json.dumps(golden(name), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for chain in shipped_chains():
        (FOLDER / f"{chain}.json").write_text(text(chain), encoding="utf-8")
