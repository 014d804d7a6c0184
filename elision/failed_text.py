"""Whether a result says itself that it has nothing to say, by its failure or otherwise: it takes the place of none."""

from __future__ import annotations

import re

_LOOKED_AT = 400
"""Characters at the beginning, and at the end, that are looked at."""

_SHORT = 300
"""Characters of a text that says nothing besides what it says of the failure."""

_FIRST_LINES, _LAST_LINES = 5, 2
"""Lines in which a host tells the exit code of what it has run."""

_VERBS = (
    r"(?:read|open|load|find|fetch|access|execut\w*|invok\w*|call|run|parse|connect|locate|list|resolve|download|stat)"
)

_TOOL_FAILED = re.compile(
    r"\s*(?:<(?:tool_use_)?error>|\[(?i:(?:tool )?error)\]|(?i:(?:tool|execution) (?:error|failed)):"
    r"|(?i:error)(?:[:!]|\s+(?i:while|when|in|reading|opening|fetching|executing|calling|invoking)\b"
    r"| \[?[A-Z]{1,9}\d*\]?:)"
    r"|[\w.]{0,60}(?:Error|Exception): |(?i:request|fetch|tool call|command) (?i:failed|timed out)\b"
    r"|(?i:the )?(?i:tool execution) (?i:failed|aborted|was (?:aborted|interrupted))|MCP error -?\d"
    r"|E(?:ACCES|BUSY|CONNREFUSED|CONNRESET|ISDIR|NOENT|NOTDIR|NOTFOUND|PERM|TIMEDOUT): |\[Errno \d+\]"
    r"|\[Request interrupted by user"
    r"|The user (?:doesn't want to|does not want to|rejected|denied|declined)\b"
    r"|\{\s*\"(?:error|errors)\"\s*:\s*(?![\s\"]*(?:null|false|0\b|\"\"|\[\s*\]|\{\s*\}|\",|\"\}))"
    r"|\{\s*\"(?:is_error|isError)\"\s*:\s*true)"
)
"""The tool itself says that it has failed."""

_NOTHING_READ = re.compile(
    r"\s*(?:Traceback \(most recent call last\):|fatal: "
    rf"|(?i:(?:failed|unable) to|could ?n[o']t|can ?n[o']t|can't) (?i:{_VERBS})\b"
    r"|\{\s*\"(?:ok|success)\"\s*:\s*false|\{\s*\"status\"\s*:\s*\"(?:error|failed)\""
    r"|\{\s*\"(?:code|status|status_?[cC]ode)\"\s*:\s*[45]\d\d\b"
    r"|(?:HTTP(?:/[\d.]+)?(?: error)?:? )?(?:40[0-9]|429|50[0-4])(?::| (?:[A-Z]|\n|$))|HTTP error [45]\d\d"
    r"|(?:[\w./-]{1,60}: ){1,3}(?:command not found(?=:|[ \t]*(?:\n|$))"
    r"|[^\n]{0,200}?(?:No such file or directory|Permission denied"
    r"|[Ii]s a directory|Not a directory|command not found|not found)(?=[.'’]?[ \t]*(?:\n|$))"
    r"|cannot (?:access|open)\b))"
)
"""What a program prints in place of what it should have read."""

_SAYS_WHY = re.compile(
    r"(?i)\b(?:(?:file|path|directory|folder|page|resource|tool|command) (?:was |is )?not found|404 not found"
    r"|does not exist|no such (?:file|directory|path|tool|table)"
    r"|(?:permission|access)(?: to [^\n]{1,100})?(?: is| was)? denied"
    r"|invalid path|connection (?:refused|reset|timed out)|(?:could not|unable to) resolve host|timed out"
    r"|too many requests|rate limit exceeded"
    r"|(?:execution|call|command|request) (?:was )?(?:aborted|cancelled|interrupted))"
)
"""What a short text says where nothing was read."""

_STANDS_ABOVE = re.compile(
    r"(?i)^\W{0,3}(?:(?:the |this )?(?:file|content|page|resource|result|output)s?(?: [\w./\\-]{1,100})?"
    r"(?: (?:is|has|was|were|are|have)(?: been)?)? ?(?:unchanged|not (?:been )?(?:changed|modified))\b"
    r"|(?:unchanged|not modified|no changes?) since\b|(?:HTTP(?:/[\d.]+)? )?304\b"
    r"|\{\s*\"(?:unchanged|not_modified|notModified)\"\s*:\s*true)"
)
"""What a short text says where the tool has given the same before, and gives it no second time."""

_HOST = r"(?:(?:the |process |command )*(?:(?:completed|finished|failed|ended) )?(?:with )?)"
_BRACKETED = re.compile(
    rf"(?i)[\[(<][^\S\n]*{_HOST}(?:exit(?:ed)?(?:[ _-](?:with|code|status))*|return ?code)"
    r"[^\w\n=(-]{0,3}-?[1-9]\d{0,2}(?=\.?[^\S\n]*[\])>]|</)"
)
_ON_A_LINE = re.compile(
    rf"(?im)\n{_HOST}(?:exited(?: with)?(?: code| status)?|exit[ -](?:code|status)|return ?code)"
    r"[^\w\n=(-]{1,3}-?[1-9]\d{0,2}(?=[.:,]?[ \t]*$|[:,] )"
)


def reads_as_failure(text: str, *, query: bool) -> bool:
    """Whether a text says in its first words that the call has failed; for a ``query`` also by its exit code.

    Of a program that was run (tests, a build) a failure is what is true now, and not for want of an answer.
    """
    head = text[:_LOOKED_AT]
    if _TOOL_FAILED.match(head):
        return True
    if not query:
        return False
    return bool(_NOTHING_READ.match(head)) or _is_short_failure(text) or _tells_exit_code(text)


def points_back(text: str) -> bool:
    """Whether a short text says that what was read before still holds: then that must stand."""
    return len(text) <= _SHORT and bool(_STANDS_ABOVE.search(text))


def _is_short_failure(text: str) -> bool:
    return len(text) <= _SHORT and bool(_SAYS_WHY.search(text))


def _tells_exit_code(text: str) -> bool:
    """Whether one of the lines around what a program printed says that it has failed."""
    first = text[:_LOOKED_AT].split("\n", _FIRST_LINES)[:_FIRST_LINES]
    last = text[-_LOOKED_AT:].rstrip().rsplit("\n", _LAST_LINES)[-_LAST_LINES:]
    lines = "\n".join(("", *first, *last))
    return bool(_BRACKETED.search(lines) or _ON_A_LINE.search(lines))
