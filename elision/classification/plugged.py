"""What plugins say of a call, through the hook ``elision_classify``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from elision.classification.classes import UNKNOWN
from elision.classification.rules import Reason, Status
from elision.errors import nearest
from elision.message import ToolCall


def plugged_reasons(
    call: ToolCall, status: Status, annotations: Mapping[str, Any], known: Collection[str]
) -> tuple[Reason, ...]:
    """Return the answer of the first plugin that has one; one that cannot be used makes the result ``unknown``."""
    from elision.registry import plugins

    hook = plugins().hook.elision_classify
    if not hook.get_hookimpls():
        return ()
    try:
        answer = hook(call=call, meta={"status": status, "annotations": annotations})
    except Exception as error:  # noqa: BLE001 (a plugin may raise anything; the result is kept)
        return (Reason((UNKNOWN,), "elision_classify", f"it raised {type(error).__name__}: {error}"),)
    if answer is None:
        return ()
    names = [answer] if isinstance(answer, str) else list(answer) if isinstance(answer, Collection) else [answer]
    wrong = next((name for name in names if name not in known), None)
    if wrong is not None:
        told = f"there is no class {wrong!r}; {nearest(str(wrong), known, what='classes')}"
        return (Reason((UNKNOWN,), "elision_classify", told),)
    return (Reason(tuple(names), "elision_classify"),) if names else ()
