"""What counting tokens costs, for a megabyte of text, beside the floor: tiktoken and one hash.

Fresh text is what a session sees once; repeated text is what a stateless host sends again on every request; endless
runs are where a tokenizer by itself takes more than linear time, or fails.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from elision import Image
from elision.tokens import count_part, count_text

WORDS = (
    "def",
    "return",
    "import",
    "self",
    "value",
    "for",
    "index",
    "in",
    "range",
    "error",
    "line",
    "if",
    "not",
    "None",
)
RESULT_CHARS = 5_000


def main() -> int:
    """Print the figures; return 1 when a budget is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures to a JSON file too")
    parser.add_argument("--quick", action="store_true", help="1 MB in place of 4, and fewer repeats")
    options = parser.parse_args()
    megabytes, repeats = (1, 2) if options.quick else (4, 5)
    count_text("vocabulary"), floor_of(["vocabulary"])
    shown = "quicktok" if find_spec("quicktok") else "tiktoken"
    print(f"{megabytes} MB in results of {RESULT_CHARS:,} characters, o200k_base, counted by {shown}; CPU time")
    rows = text_rows(megabytes, repeats) + run_rows(megabytes) + [image_row(repeats)]
    if options.json:
        options.json.write_text(json.dumps({"figures": rows, "repeats": repeats}, indent=1), encoding="utf-8")
    return 0 if all(figure["fits"] for figure in rows) else 1


def text_rows(megabytes: int, repeats: int) -> list[dict[str, Any]]:
    """Measure results as an agent has them."""
    made = [results(megabytes, seed) for seed in range(repeats)]
    floor = min(timed(lambda texts=texts: floor_of(texts)) for texts in made) / megabytes  # type: ignore[misc]
    fresh = min(timed(lambda texts=texts: counted(texts)) for texts in made) / megabytes  # type: ignore[misc]
    again = min(timed(lambda texts=texts: counted(texts)) for texts in made) / megabytes  # type: ignore[misc]
    return [
        row("floor: tiktoken and sha256, fresh text", floor, None, None),
        row("count_text, fresh text", fresh, fresh / floor, 1.2),
        row("count_text, the same text again", again, again / floor, 0.1),
    ]


def run_rows(megabytes: int) -> list[dict[str, Any]]:
    """Measure endless runs; the time for a megabyte must not grow with their length."""
    rows = []
    for name, unit in (("spaces", " "), ("one letter", "a"), ("signs", "="), ("ideographs", "中")):
        few, many = 250_000, 1_000_000 * megabytes
        short = timed(lambda text=unit * few: count_text(text)) / few * 1e6  # type: ignore[misc]
        long = timed(lambda text=unit * many: count_text(text)) / many * 1e6  # type: ignore[misc]
        rows.append(row(f"{name}, {many:,} characters", long, long / short, 1.5, of=f"{few:,}"))
    return rows


def image_row(repeats: int) -> dict[str, Any]:
    """Measure an image of 600 KB, by the megabyte."""
    data = base64.b64encode(b"\x89PNG\r\n\x1a\n" + random.Random(1).randbytes(450_000)).decode()  # noqa: S311 (made up)
    image = Image(f"data:image/png;base64,{data}")
    seconds = min(timed(lambda: count_part(image)) for _ in range(repeats)) / len(data) * 1e6
    return row("an image of 600 KB in base64", seconds, None, None)


def row(what: str, seconds: float, ratio: float | None, budget: float | None, *, of: str = "floor") -> dict[str, Any]:
    """Print one figure beside its budget, and return it."""
    fits = ratio is None or budget is None or ratio <= budget
    shown = "" if ratio is None else f"{ratio:8.2f}x {of}"
    limit = "" if budget is None else f"budget <= {budget:g}x  {'ok' if fits else 'MISSED'}"
    print(f"{what:<42}{1000 * seconds:9.3f} ms/MB{shown:<22}{limit}")
    return {"what": what, "ms_per_mb": round(1000 * seconds, 4), "ratio": ratio, "budget": budget, "fits": fits}


def results(megabytes: int, seed: int) -> list[str]:
    """Return texts that no other seed has."""
    source = random.Random(seed)  # noqa: S311 (made-up text)
    lines = [f"{seed} " + " ".join(source.choices(WORDS, k=12)) for _ in range(megabytes * 20_000)]
    text = "\n".join(lines)[: megabytes * 1_000_000]
    return [text[start : start + RESULT_CHARS] for start in range(0, len(text), RESULT_CHARS)]


def counted(texts: Sequence[str]) -> None:
    """Count texts."""
    for text in texts:
        count_text(text)


def floor_of(texts: Sequence[str]) -> None:
    """Tokenise and hash texts, which nobody can do without."""
    import tiktoken

    encode = tiktoken.get_encoding("o200k_base").encode_ordinary
    for text in texts:
        len(encode(text))
        hashlib.sha256(text.encode()).digest()


def timed(work: Callable[[], object]) -> float:
    """Return how long a piece of work takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    sys.exit(main())
