"""What does not fit in messages, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

from elision.errors import closest, nearest
from elision.message import Role

if TYPE_CHECKING:
    from elision.dialect import Dialect

_KEYS = ("role", "content")
_ROLES: tuple[str, ...] = get_args(Role)


def unread(messages: Sequence[Any], known: Sequence[Dialect]) -> str:
    """Say why no dialect fits messages."""
    names = ", ".join(dialect.name for dialect in known)
    position = next((at for at, message in enumerate(messages) if not _is_read(message, known)), None)
    if position is None:
        return (
            "messages: no dialect fits all of them, though each fits one; "
            f"there are {names}; give messages of one dialect"
        )
    message = messages[position]
    place = "the first" if position == 0 else f"message {position}"
    mistake = misspelt(message)
    if mistake:
        return f"messages: no dialect fits ({place} {mistake}); correct it"
    return (
        f"messages: no dialect fits yet ({place} {_seen(message, known)}); there are {names}; "
        "name one with --from (in Python dialect=) if it is one of these"
    )


def misnamed(messages: Sequence[Any], document: Any, name: Dialect, fitting: Dialect) -> str:
    """Say why messages are not of the dialect that was named, and of which they are."""
    position = next((at for at, message in enumerate(messages) if name.recognises([message], document) <= 0), None)
    if position is None:
        what = "the messages do not fit it"
    else:
        what = f"message {position} ({_outline(messages[position])}) does not fit it"
    return (
        f"dialect: {name.name!r} was named, but {what}; {fitting.name!r} fits; "
        f"give --from {fitting.name} (in Python and in chains dialect), or leave it out"
    )


def misspelt(message: Any) -> str:
    """Say which key or role of a message is probably misspelt, if one is."""
    if not isinstance(message, Mapping):
        return ""
    keys = [key for key in message if isinstance(key, str) and key not in _KEYS]
    role = message.get("role")
    for wanted in _KEYS:
        key = closest(wanted, keys) if wanted not in message else None
        if key is not None and (role if wanted == "content" else message[key]) in _ROLES:
            return f"has the key {key!r}; did you mean {wanted!r}?"
    if isinstance(role, str) and role not in _ROLES and (meant := closest(role, _ROLES)) is not None:
        return f"has the role {role!r}; did you mean {meant!r}?"
    return ""


def not_a_message(items: Sequence[Any]) -> str:
    """Say which item of a list is no message, if one of them is none for a reason that can be told."""
    for at, item in enumerate(items):
        if not isinstance(item, Mapping):
            return f"item {at} is {_kind(item)}; a message is an object with the keys role and content"
        role = item.get("role")
        if not isinstance(role, str):
            mistake = misspelt(item)
            if not mistake and "role" in item:
                mistake = f"has a role that is {_kind(role)}; give a string"
            return f"item {at} {mistake}" if mistake else ""
    return ""


def _is_read(message: Any, known: Sequence[Dialect]) -> bool:
    return any(dialect.recognises([message], None) > 0 for dialect in known)


def _seen(message: Any, known: Sequence[Dialect]) -> str:
    if not isinstance(message, Mapping):
        return f"is {_kind(message)}"
    role = message.get("role")
    if isinstance(role, str) and any(_is_read({**message, "role": other}, known) for other in _ROLES):
        return f"has the role {role!r}; {nearest(role, _ROLES, what='roles')}"
    return f"has the keys {_keys(message)}"


def _outline(message: Any) -> str:
    if not isinstance(message, Mapping):
        return _kind(message)
    content = message.get("content")
    types = (
        {str(item.get("type")) for item in content if isinstance(item, Mapping)} if isinstance(content, list) else ()
    )
    parts = f", parts {', '.join(sorted(types))}" if types else ""
    return f"role {message.get('role')!r}, keys {_keys(message)}{parts}"


def _keys(message: Mapping[Any, Any]) -> str:
    return ", ".join(map(str, list(message)[:8])) or "(none)"


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {
        str: "a string",
        bool: "true or false",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "an object",
    }
    return names.get(type(value), f"a {type(value).__name__}")
