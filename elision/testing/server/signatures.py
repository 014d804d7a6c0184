"""Signatures of thinking: what this server has issued, and what it was bound to."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from elision.testing.server.content import exactly
from elision.testing.server.refused import Body, Refused

THINKING = ("thinking", "redacted_thinking")
_TURNED = "thinking` or `redacted_thinking"
_UNBOUND = (
    "messages.{at}: Invalid `{key}` in `{kind}` block. The block is bound to a different conversation. Remove the "
    'block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)
_CHANGED = (
    f"messages.{{at}}: `{_TURNED}` blocks in the latest assistant message cannot be modified. "
    "These blocks must remain as they were in the original response."
)
_MISSING = (
    f"messages.{{at}}.type: Expected `{_TURNED}`, but found `{{kind}}`. When `thinking` is enabled, a final "
    "`assistant` message must start with a thinking block (preceding the lastmost set of `tool_use` and "
    "`tool_result` blocks)."
)


@dataclass(frozen=True, slots=True)
class Issued:
    """Thinking that the model gave: its text, the model, all that stood before, and the thinking among it."""

    text: str
    model: str
    prefix: str
    before: tuple[str, ...]


@dataclass(slots=True)
class Signatures:
    """All thinking that was issued, by its signature; and which of it came with a call."""

    issued: dict[str, Issued] = field(default_factory=dict)
    of_call: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def sign(self, thought: Issued, given: str = "") -> str:
        """Keep thinking, and return its signature; one that the script gives is taken as it is."""
        seed = f"{len(self.issued)}{thought.prefix}{thought.text}".encode()
        signature = given or b64encode(sha256(seed).digest()).decode()
        self.issued[signature] = thought
        return signature


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of the thinking of a request: the first fault, blocks that are left out, and what stays."""

    fault: Refused | None = None
    dropped: Mapping[tuple[int, int], str] = field(default_factory=dict)
    standing: tuple[str, ...] = ()
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Stood:
    """A thinking block of a request, where it stands, and the prefix before it."""

    message: int
    index: int
    block: Mapping[str, Any]
    prefix: str

    @property
    def key(self) -> str:
        """The key that holds the signature."""
        return "data" if self.block["type"] == "redacted_thinking" else "signature"


def judge(body: Body, signatures: Signatures, rule: str) -> Judged:
    """Compare the thinking of a request with what was issued."""
    dropped: dict[tuple[int, int], str] = {}
    standing: list[str] = []
    *thoughts, end = _walk(body)
    newest = _awaiting(body["messages"])
    for each in thoughts:
        signature = str(each.block.get(each.key))
        issued = signatures.issued.get(signature)
        if issued is None or not _is_same(each, issued):
            return Judged(_forged(each, modified=issued is not None and each.message == newest))
        reason = _mismatch(each, issued, standing, str(body["model"])) if rule == "bound_to_prefix" else None
        if reason == "prefix_binding_mismatch" and not drops(body):
            told = _UNBOUND.format(at=f"{each.message}.content.{each.index}", key=each.key, kind=each.block["type"])
            return Judged(Refused("bound_thinking", told))
        if reason is None:
            standing.append(signature)
        else:
            dropped[each.message, each.index] = reason
    fault = None if rule == "none" or newest is None else _missing(body, newest, signatures)
    return Judged(fault, dropped, tuple(standing), end.prefix)


def drops(body: Body) -> bool:
    """Whether a request asks to leave out thinking that is bound to something else."""
    thinking = body.get("thinking")
    binding = thinking.get("block_binding") if isinstance(thinking, Mapping) else None
    return isinstance(binding, Mapping) and binding.get("prefix_mismatch_behavior") == "drop_block"


def bound(prefix: str, *pieces: Any) -> str:
    """Return a prefix that goes on with some pieces."""
    for piece in pieces:
        prefix = sha256(f"{prefix}{exactly(piece)}".encode()).hexdigest()
    return prefix


def blocks_of(content: Any) -> Sequence[Any]:
    """Return content as blocks; a bare text is one."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _walk(body: Body) -> Iterator[Stood]:
    """Yield each thinking block, and at the end an empty one, behind all messages."""
    prefix = bound("", blocks_of(body.get("system") or []), body.get("tools") or [])
    for number, message in enumerate(body["messages"]):
        prefix = bound(prefix, message["role"])
        for index, block in enumerate(blocks_of(message["content"])):
            if block["type"] in THINKING:
                yield Stood(number, index, block, prefix)
            else:
                prefix = bound(prefix, block)
    yield Stood(len(body["messages"]), 0, {"type": ""}, bound(prefix, "assistant"))


def _is_same(each: Stood, issued: Issued) -> bool:
    return each.key == "data" or each.block.get("thinking") == issued.text


def _forged(each: Stood, *, modified: bool) -> Refused:
    at = f"{each.message}.content.{each.index}"
    if modified:
        return Refused("thinking", _CHANGED.format(at=at))
    return Refused("thinking", f"messages.{at}: Invalid `{each.key}` in `{each.block['type']}` block")


def _mismatch(each: Stood, issued: Issued, standing: Sequence[str], model: str) -> str | None:
    """Say what thinking is bound to that is not there: its model, or all that stood before it.

    Thinking before it may go from the beginning on, but not out of the middle.
    """
    if issued.model != model:
        return "model_binding_mismatch"
    kept = issued.before[len(issued.before) - len(standing) :] if standing else ()
    same = issued.prefix == each.prefix and tuple(standing) == kept
    return None if same else "prefix_binding_mismatch"


def _awaiting(messages: Sequence[Body]) -> int | None:
    """Return which assistant message has the calls that the last messages answer."""
    place = len(messages) - 1
    while place >= 0 and messages[place]["role"] != "assistant":
        place -= 1
    if place < 0 or place == len(messages) - 1:
        return None
    return place if any(block["type"] == "tool_use" for block in blocks_of(messages[place]["content"])) else None


def _missing(body: Body, newest: int, signatures: Signatures) -> Refused | None:
    """Refuse a newest step without the thinking that came with its calls."""
    thinking = body.get("thinking")
    mode = thinking.get("type") if isinstance(thinking, Mapping) else None
    blocks = blocks_of(body["messages"][newest]["content"])
    present = [block.get("signature") or block.get("data") for block in blocks if block["type"] in THINKING]
    calls = [block for block in blocks if block["type"] == "tool_use"]
    came = dict.fromkeys(each for block in calls for each in signatures.of_call.get(block.get("id"), ()))
    begins = blocks[0]["type"] in THINKING
    if mode == "disabled" or (list(came) == present if came else begins or mode != "enabled"):
        return None
    at = next((index for index, block in enumerate(blocks) if block["type"] not in THINKING), 0)
    return Refused("thinking", _MISSING.format(at=f"{newest}.content.{at}", kind=blocks[at]["type"]))
