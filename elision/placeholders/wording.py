"""The phrases of a placeholder: how much is gone, and how the model gets it back."""

from __future__ import annotations

from elision.placeholders.calls import call_text, tool_name
from elision.placeholders.cleaning import clean, clean_name
from elision.placeholders.facts import PlaceholderFacts

_QUERIES = frozenset({"static", "dynamic", "state", "error", "skill", "input", "recalled"})
"""Classes of calls that can be made again: what they did is not done twice."""
_REF_CHARS = 64
_VERSION_CHARS = 40
_PATH_CHARS = 100


def ref(facts: PlaceholderFacts) -> str:
    """Return the ref."""
    return clean_name(facts.ref, _REF_CHARS)


def version(facts: PlaceholderFacts) -> str:
    """Return the version of a skill."""
    return clean(facts.version, _VERSION_CHARS)


def path(facts: PlaceholderFacts) -> str:
    """Return the path of a skill."""
    return clean(facts.path, _PATH_CHARS)


def size(facts: PlaceholderFacts) -> str:
    """Say how much is gone: ``12345 chars, 300 lines``."""
    parts = [(facts.chars, "char"), (facts.lines if facts.lines > 1 else 0, "line"), (facts.images, "image")]
    parts.append((facts.files, "file"))
    said = [f"{count} {noun}" if count == 1 else f"{count} {noun}s" for count, noun in parts if count]
    return ", ".join(said) or "0 chars"


def skill(facts: PlaceholderFacts) -> str:
    """Name a skill with its version, and its path unless the call names it; nothing for other classes."""
    if "skill" not in facts.classes:
        return ""
    shown, pinned = path(facts), version(facts)
    place = f' "{shown}"' if shown and f'"{shown}"' not in call_text(facts.tool, facts.arguments) else ""
    return f'skill{place}, version "{pinned}"' if pinned else f"skill{place}"


def again(facts: PlaceholderFacts) -> str:
    """Say what calling the tool again gives; nothing where that is not possible, or might repeat a write."""
    if (
        not facts.tool_offered
        or not tool_name(facts.tool)
        or not 0 < len(facts.classes & _QUERIES) == len(facts.classes)
    ):
        return ""
    if facts.classes <= {"static", "recalled"}:
        return "call it again to fetch it"
    if "skill" in facts.classes:
        return "call it again to reload it"
    return "calling it again may give something else"


def recall(facts: PlaceholderFacts) -> str:
    """Say how the exact original comes back; nothing where no tool is offered for it."""
    name, known = tool_name(facts.recall_tool), ref(facts)
    return f"{name} {known}" if name and known else ""


def way_back(facts: PlaceholderFacts) -> str:
    """Say the best way back; the ref is always in it."""
    repeated, recalled = again(facts), recall(facts)
    if not recalled:
        return "; ".join(part for part in (repeated, f"ref {ref(facts)}" if ref(facts) else "") if part)
    if not repeated.startswith("call it again"):
        return recalled
    return f"{repeated}, or {recalled} for this version" if "skill" in facts.classes else f"{repeated}, or {recalled}"


def handle(recall_tool: str, name: str, *, tools_known: bool) -> str:
    """Say how an original comes back that is not all gone: by the tool that recalls it, or by its ref alone.

    Nothing where the request is known to offer no such tool.
    """
    tool = tool_name(recall_tool)
    return f"{tool} {name}" if tool and name else f"ref {name}" if name and not tools_known else ""
