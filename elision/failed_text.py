"""Whether a result whose host gives no status reads as a failure: then it takes the place of nothing."""

from __future__ import annotations

import re

_LOOKED_AT = 400
"""Characters at the beginning, and at the end, that are looked at."""

_TOOL_FAILED = re.compile(
    r"\s*(?:<(?:tool_use_)?error>|\[(?i:error)\]|(?i:error)(?:[:!]|\s+(?i:while|when|in|reading|opening|fetching|executing|calling)\b)"
    r"|[A-Za-z_.]{0,60}(?:Error|Exception): |(?i:request|fetch|tool call|command) (?i:failed|timed out)\b"
    r"|\{\s*\"(?:error|errors)\"\s*:\s*(?![\s\"]*(?:null|false|\"\"|\[\]|\{\}|\",|\"\}))"
    r"|\{\s*\"(?:is_error|isError)\"\s*:\s*true)"
)
"""The tool itself says that it has failed."""

_NOTHING_READ = re.compile(
    r"\s*(?:Traceback \(most recent call last\):|fatal: "
    r"|(?:[\w./-]{1,60}: ){1,3}[^\n]{0,200}?(?:No such file or directory|Permission denied|[Ii]s a directory"
    r"|Not a directory|command not found|not found\s*$|cannot (?:access|open)))"
)
"""What a program prints in place of what it should have read."""

_EXIT = re.compile(
    r"(?i)(?:^|[\n\[(<])\s*(?:process |command )?(?:exit(?:ed)?(?:[ _-](?:with|code|status))*|return ?code)\b"
    r"[^\w\n-]{0,3}(-?[1-9]\d{0,2})\b"
)


def reads_as_failure(text: str, *, query: bool) -> bool:
    """Whether a text says in its first words that the call has failed; for a ``query`` also by its exit code.

    Of a program that was run (tests, a build) a failure is what is true now, and not for want of an answer.
    """
    head = text[:_LOOKED_AT]
    if _TOOL_FAILED.match(head):
        return True
    return query and bool(_NOTHING_READ.match(head) or _EXIT.search(head) or _EXIT.search(text[-_LOOKED_AT:]))
