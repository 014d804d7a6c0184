"""What a chain file should know that has sessions in shadow mode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from elision.config.options import ChainOptions
from elision.processor import Processor
from elision.shadow import live_share


def shadow_warnings(options: ChainOptions, processors: Sequence[Processor]) -> Iterator[str]:
    """Yield what is probably not meant: shares that undo the mode, redaction that does not happen."""
    live = live_share(options.mode, options.share)
    if options.share == 1 and options.mode == "shadow":
        yield "with share: 1 every session is live, and mode: shadow says nothing; remove one"
    redacting = dict.fromkeys(each.type_name for each in processors if each.operation == "redact")
    if redacting and live < 1:
        where = "no session is live, so" if live == 0 else "sessions that are not live send the original, so there"
        yield (
            f"{where} {' and '.join(redacting)} takes nothing out of what is sent; where secrets must not leave, write "
            "mode: live"
        )
