"""Prices and windows from litellm's price map, read as a file: importing litellm takes seconds.

What the map has is not always what is charged.  A cache write of 0 is no free write but one at the price of input, as
is a missing one; a missing cache read means that no cache is known; some entries have both in one another's place;
prices rise above a number of tokens; some are by the character.  Whatever was put right is said in a note.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

FILE = "model_prices_and_context_window_backup.json"
_MODES = ("chat", "responses", "completion", None)
_RATES = {
    "input": "input_cost_per_token",
    "cache_read": "cache_read_input_token_cost",
    "cache_write": "cache_creation_input_token_cost",
    "cache_write_1h": "cache_creation_input_token_cost_above_1hr",
    "output": "output_cost_per_token",
}
_TIERED = re.compile(r"^input_cost_per_token_above_(\d+)k_tokens$")
_MILLION = 1_000_000
_LARGEST = 10**12


@dataclass(frozen=True, slots=True)
class Entry:
    """What the map says of a model: sections as in a profile, and what was put right."""

    key: str
    provider: str
    sections: Mapping[str, Mapping[str, Any]]
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Found:
    """Prices as they are being put right."""

    rates: dict[str, float]
    notes: list[str] = field(default_factory=list)


def entry_for(keys: Iterable[str], path: Path | None = None) -> Entry | None:
    """Return the entry of the first of the keys that the map has with a price or a window."""
    where = path or bundled()
    known = entries(where) if where is not None else {}
    return next((read_entry(*known[key]) for key in keys if key in known), None)


@cache
def bundled() -> Path | None:
    """Return the map in litellm's wheel, found without importing litellm."""
    spec = find_spec("litellm")
    if spec is None or spec.origin is None:
        return None
    found = Path(spec.origin).parent / FILE
    return found if found.is_file() else None


@cache
def version() -> str:
    """Return the version of the installed litellm."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as of

    try:
        return of("litellm")
    except PackageNotFoundError:
        return "?"


@lru_cache(maxsize=2)
def entries(path: Path) -> Mapping[str, tuple[str, Mapping[str, Any]]]:
    """Return the key as it is written and what the map has there, by the key in small letters."""
    from elision.errors import ConfigError, Problem

    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        told = f"the price map cannot be read ({type(error).__name__}: {error}); name another, or install litellm anew"
        raise ConfigError([Problem(str(path), 0, 0, "", told)]) from None
    if not isinstance(data, dict):
        told = "the price map must be a JSON object of models; name another file"
        raise ConfigError([Problem(str(path), 0, 0, "", told)])
    return {
        key.lower(): (key, entry)
        for key, entry in data.items()
        if key != "sample_spec" and isinstance(entry, dict) and entry.get("mode") in _MODES
    }


def read_entry(key: str, raw: Mapping[str, Any]) -> Entry:
    """Read one entry of the map."""
    found = _prices(raw)
    sections: dict[str, dict[str, Any]] = {}
    if found.rates:
        sections["prices"] = {**found.rates, "tiers": _tiers(raw, found.rates)}
        if raw.get("off_peak_pricing"):
            found.notes.append("prices are those of peak hours; off-peak ones are lower")
    window = {
        name: int(value)
        for name, given in (("input_tokens", "max_input_tokens"), ("output_tokens", "max_output_tokens"))
        if (value := _number(raw.get(given)))
    }
    if window:
        sections["window"] = window
    least = _number(raw.get("prompt_cache_min_tokens"))
    if least:
        sections["cache"] = {"min_tokens": int(least)}
    return Entry(key, str(raw.get("litellm_provider") or ""), sections, tuple(found.notes))


def _prices(raw: Mapping[str, Any]) -> _Found:
    rates = {name: value for name, key in _RATES.items() if (value := _price(raw.get(key))) is not None}
    if not rates.get("input"):
        first = _ranges(raw)
        if first and first[0][1].get("input"):
            return _righted(first[0][1])
        return _Found({}, [_no_price(raw)])
    return _righted(rates)


def _no_price(raw: Mapping[str, Any]) -> str:
    if _price(raw.get("input_cost_per_character")):
        return "the price map has prices by the character only, which say nothing of tokens"
    if raw.get("input_cost_per_token") == 0:
        return "the price map has a price of 0: a free model, or one whose price is not known"
    return "the price map has no price by the token"


def _righted(given: Mapping[str, float]) -> _Found:
    """Put right what cannot be: a write below the input, a read above it, both in one another's place."""
    rates, notes = dict(given), list[str]()
    paid, read, write = rates["input"], rates.get("cache_read"), rates.get("cache_write") or None
    if rates.get("cache_write") == 0:
        notes.append("cache_write is 0 in the price map, which is no free write: taken as the price of a miss")
    if write is not None and write < paid and (read is None or read > paid):
        notes.append("cache_write is below input in the price map, cache_read is not: taken as one another's")
        read, write = write, read if read is not None and read >= paid else None
    if write is not None and write < paid:
        notes.append("cache_write is below input in the price map: taken as input")
        write = None
    if read is not None and read > paid:
        notes.append("cache_read is above input in the price map: taken as input")
        read = paid
    if read is None:
        notes.append("cache_read is not in the price map: no cache is counted on, a read costs what input does")
        read = paid
    if rates.get("cache_write_1h", paid) < paid:
        del rates["cache_write_1h"]
    rates.pop("cache_write", None)
    found = {**rates, "cache_read": read} | ({"cache_write": write} if write is not None else {})
    if "output" not in found:
        notes.append("output is not in the price map: taken as input")
        found["output"] = paid
    return _Found(found, notes)


def _tiers(raw: Mapping[str, Any], base: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return the prices above numbers of tokens; what a tier does not have rises as its input does."""
    tiers = {start: rates for start, rates in _ranges(raw)[1:] if start} or _above(raw)
    found = []
    for start in sorted(tiers):
        rates = tiers[start]
        paid = rates.get("input")
        if not paid:
            continue
        for name in base.keys() - rates.keys():
            rates[name] = round(base[name] * paid / base["input"], 9)
        found.append({"above_tokens": start, **_righted(rates).rates})
    return found


def _above(raw: Mapping[str, Any]) -> dict[int, dict[str, float]]:
    tiers = {}
    for key in raw:
        match = _TIERED.match(key)
        if match is None:
            continue
        suffix = f"_above_{match[1]}k_tokens"
        tiers[int(match[1]) * 1000] = {
            name: value for name, of in _RATES.items() if (value := _price(raw.get(of + suffix))) is not None
        }
    return tiers


def _ranges(raw: Mapping[str, Any]) -> list[tuple[int, dict[str, float]]]:
    """Return the prices of ``tiered_pricing`` by where each range begins."""
    given = raw.get("tiered_pricing")
    found = []
    for each in given if isinstance(given, list) else ():
        if not isinstance(each, dict) or not isinstance(each.get("range"), list) or not each["range"]:
            continue
        start = _number(each["range"][0])
        if start is not None:
            rates = {name: value for name, of in _RATES.items() if (value := _price(each.get(of))) is not None}
            found.append((int(start), rates))
    return sorted(found, key=lambda each: each[0])


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LARGEST:
        return None
    return value


def _price(value: Any) -> float | None:
    """Return dollars for a million tokens."""
    number = _number(value)
    return None if number is None else round(number * _MILLION, 9)
