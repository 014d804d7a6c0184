"""Vocabularies of tiktoken, offline: litellm's wheel carries them."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from elision.tokens.runs import UNCUT, pieces

if TYPE_CHECKING:
    import tiktoken

CHECKED = (
    "",
    "def count(self, *, n: int = 3) -> None:\n\treturn self._x['a'] if n != 0 else None  # don't\r\n\r\n",
    "I'm sure they'LL say it's WE'RE done; HTTPServerError, camelCaseName, snake_case_name, x²½Ⅷ٣",
    "<|endoftext|><|fim_prefix|><|im_start|>user<|im_end|>",
    '{"id": 1234567890, "ok": true, "text": "a\\u00e9\\n", "list": [1.5e-10, null]}///\n\n\n//\n',
    "今日は東京で会議があります。请检查昨天的日志，找出所有失败的支付请求！한국어 텍스트입니다",
    "สวัสดีครับ ผมชื่อ नमस्ते दुनिया مرحبا بالعالم שלום Привет, мир! Ünïcödé e\u0301a\u0300",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466\U0001f1f3\U0001f1f4\U0001f44d\U0001f3fd",
    "  \t \n   \n\n x \u00a0\u2003\u3000y\x00\x1c\x85\ufeff\u2028z   ",
    "YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXo0MTIzNDU2Nzg5MA==+/" * 8,
    " " * 3000 + "=" * 700 + "a" * 900 + "\n" * 500 + "9" * 400 + "中" * 300,
)
"""Texts on which another tokenizer must agree with tiktoken before it is used."""

_loading = Lock()


@cache
def counter_of(encoding: str) -> Callable[[str], int]:
    """Return what counts a text by a vocabulary; text that looks like a special token is text.

    quicktok (the extra ``fast``) counts in place of tiktoken where it is installed and agrees on ``CHECKED``.
    """
    exact = _exact(encoding)
    fast = _fast(encoding)
    if fast is None or not agrees(fast, exact):
        return exact
    return fast


def agrees(other: Callable[[str], int], exact: Callable[[str], int]) -> bool:
    """Whether another counter gives the same on each text of ``CHECKED``."""
    try:
        return all(other(text) == exact(text) for text in CHECKED)
    except Exception:  # noqa: BLE001 (a foreign tokenizer may raise anything; it is then not used)
        return False


def offline_vocabularies() -> Path | None:
    """Return the folder with vocabularies in litellm's wheel, found without importing litellm (seconds)."""
    spec = find_spec("litellm")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
    return folder if folder.is_dir() else None


def _exact(encoding: str) -> Callable[[str], int]:
    encode = _loaded(encoding).encode_ordinary
    return _by_pieces(encode, len)


def _fast(encoding: str) -> Callable[[str], int] | None:
    try:
        import quicktok

        count = quicktok.get_encoding(encoding).count
    except Exception:  # noqa: BLE001 (not installed, without this vocabulary, or broken: tiktoken counts)
        return None
    return _by_pieces(count, int)


def _by_pieces(read: Callable[[str], Any], count: Callable[[Any], int]) -> Callable[[str], int]:
    """Return what reads a text, cut where it is too long for a tokenizer, and counts what was read."""
    return lambda text: count(read(text)) if len(text) <= UNCUT else sum(count(read(each)) for each in pieces(text))


def _loaded(encoding: str) -> tiktoken.Encoding:
    import tiktoken

    folder = None if os.environ.get("TIKTOKEN_CACHE_DIR") else offline_vocabularies()
    if folder is None:
        return tiktoken.get_encoding(encoding)
    with _loading:
        os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
        try:
            return tiktoken.get_encoding(encoding)
        finally:
            del os.environ["TIKTOKEN_CACHE_DIR"]
