"""``python -m elision``: the command line."""

from __future__ import annotations

from elision.cli import main

if __name__ == "__main__":
    main()
