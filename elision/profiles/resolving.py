"""The profile that holds for a model: layers of profiles, price map and the user's own values; the later ones win."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from elision.classification.patterns import OutOfTimeError, glob
from elision.errors import ConfigError, Problem
from elision.own_values import OwnProfile, in_force
from elision.profiles import price_map as prices_in
from elision.profiles.loading import DEFAULT, load_profile, profiles, read_known
from elision.profiles.names import MAX_CHARS, ModelName, model_name
from elision.profiles.values import (
    Cache,
    Images,
    Native,
    Order,
    Prices,
    Profile,
    Rates,
    Thinking,
    Tier,
    Tokens,
    Ttl,
    Window,
)

if TYPE_CHECKING:
    from elision.profiles.reading import ReadProfile, Sections

Section = TypeVar("Section", Thinking, Order, Window, Images, Tokens)
Overrides = str | Path | Mapping[str, Any]

_ASSUMED = "assumed:"
_WILD = re.compile(r"\*|\?|\[[^\]]*\]|\{[^}]*\}")


@dataclass(frozen=True, slots=True)
class Layer:
    """Sections of one origin."""

    label: str
    sections: Sections


@dataclass(slots=True)
class _Merged:
    """Values of all layers, and the layer and source of each."""

    values: dict[str, dict[str, Any]] = field(default_factory=dict)
    origins: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)

    def add(self, layer: Layer) -> None:
        """Let a layer win over those before it."""
        for section, given in layer.sections.items():
            source = str(given.get("source") or "")
            for key, value in given.items():
                if key != "source":
                    self.values.setdefault(section, {})[key] = value
                    self.origins[section, key] = (layer.label, source)

    def assumptions(self) -> Iterator[str]:
        """Say what is assumed, a line for each section and reason."""
        lines: dict[tuple[str, str], list[str]] = {}
        for (section, key), (_, source) in self.origins.items():
            if source.startswith(_ASSUMED):
                shown = f"{key} {_shown(self.values[section][key])}"
                lines.setdefault((section, source.removeprefix(_ASSUMED).strip()), []).append(shown)
        for (section, reason), keys in lines.items():
            yield f"{section}: {', '.join(keys)}: {reason}"

    def sources(self) -> dict[str, str]:
        """Say where each value is from."""
        return {
            f"{section}.{key}": f"{label}: {source}" if source else label
            for (section, key), (label, source) in self.origins.items()
        }


def profile_for(
    model: str | None, *, overrides: Overrides | None = None, price_map: str | Path | None = None
) -> Profile:
    """Return what holds for a model.

    ``overrides`` is a profile of the user's own: a mapping, the path of a YAML file, or the name of a profile; its
    values win, in place of those of the chain that is at work.  ``price_map`` is another file than the map in litellm's
    wheel.
    """
    if overrides is None:
        return _known(model, None if price_map is None else Path(price_map), in_force())
    return _resolved(model, load_profile(overrides), None if price_map is None else Path(price_map))


@lru_cache(maxsize=256)
def _known(model: str | None, price_map: Path | None, own: OwnProfile | None) -> Profile:
    return _resolved(model, own.read if own else (), price_map)


def chosen_for(model: str | None) -> str:
    """Return the name of the profile whose globs fit a model best; ``default`` where none does."""
    return DEFAULT if model is None else _chosen(model_name(model))


def _chosen(name: ModelName) -> str:
    best = (False, 0, DEFAULT)
    for known, text in profiles().items():
        read = read_known(text, known)
        length = max((_literal(each) for each in read.models if _fits(each, name)), default=-1)
        if length >= 0 and (not read.providers or name.provider in read.providers):
            best = max(best, (bool(read.providers), length, known))
    return best[2]


def _resolved(model: str | None, own: Sequence[ReadProfile], price_map: Path | None) -> Profile:
    name = model_name(model or "")
    base, top = _stack(name, own)
    chosen = base[-1].source
    notes = [] if chosen != DEFAULT else [_unmatched(model)]
    merged = _Merged()
    merged.add(_layers(base[0], name)[0])
    home = next((each.home for each in reversed([*base, *top]) if each.home), "")
    entry = _entry(name, home, price_map, notes)
    if entry is not None:
        merged.add(_priced(entry, merged))
        notes += entry.notes
    for read in (*base[1:], *top):
        for layer in _layers(read, name):
            merged.add(layer)
    prices = _prices(merged, known=merged.origins["prices", "input"][0] != DEFAULT)
    return Profile(
        name=chosen,
        model=model,
        thinking=_section(Thinking, merged.values["thinking"]),
        order=_section(Order, merged.values["order"]),
        cache=_cache(merged),
        window=_section(Window, merged.values["window"]),
        images=_section(Images, merged.values["images"]),
        tokens=_section(Tokens, merged.values["tokens"]),
        prices=prices,
        native=Native(**{key: tuple(dialects) for key, dialects in merged.values.get("native", {}).items()}),
        assumed=(*notes, *merged.assumptions()),
        sources=MappingProxyType(merged.sources()),
    )


def _stack(name: ModelName, own: Sequence[ReadProfile]) -> tuple[Sequence[ReadProfile], Sequence[ReadProfile]]:
    """Return the profiles that hold, and the user's own on top of them.

    One that is named, or that is extended by the user's own, holds whatever the model is called.
    """
    if own and own[-1].source in profiles():
        return own, ()
    if len(own) > 2:
        return own[:-1], own[-1:]
    return load_profile(_chosen(name) if name.given else DEFAULT), own[-1:]


def _unmatched(model: str | None) -> str:
    if model is None:
        return "no model is named: 'default' stands in"
    return f"no profile matches {model[:MAX_CHARS]!r}: 'default' stands in"


def _layers(read: ReadProfile, name: ModelName) -> list[Layer]:
    fits = (
        each
        for each in read.variants
        if (not each.models or any(_fits(pattern, name) for pattern in each.models))
        and (not each.providers or name.provider in each.providers)
    )
    return [Layer(read.source, read.sections), *(Layer(each.label, each.sections) for each in fits)]


def _fits(pattern: str, name: ModelName) -> bool:
    try:
        return any(glob(pattern, fold=True).matches(form) for form in name.forms)
    except OutOfTimeError:
        return False


def _literal(pattern: str) -> int:
    return len(_WILD.sub("", pattern))


def _entry(name: ModelName, home: str, path: Path | None, notes: list[str]) -> prices_in.Entry | None:
    if not name.given:
        return None
    try:
        found = prices_in.entry_for(name.keys(home), path)
    except ConfigError as error:
        if path is not None:
            raise
        notes.append(str(error))
        return None
    if found is None:
        where = path or prices_in.bundled()
        notes.append(f"the price map does not have {name.given!r}" if where else "litellm's price map is not installed")
    elif _is_anothers(name, found):
        notes.append(f"the price map has no {name.given!r}: prices and window are those of {found.key!r}")
    return found


def _is_anothers(name: ModelName, entry: prices_in.Entry) -> bool:
    """Whether the entry is of another provider than the name says, or of a model of another name."""
    key = entry.key.lower()
    provider = not name.provider or entry.provider.startswith(name.provider) or key.startswith(f"{name.provider}/")
    mine = {form.replace(".", "-") for form in name.forms}
    return not provider or mine.isdisjoint(form.replace(".", "-") for form in model_name(key).forms)


def _priced(entry: prices_in.Entry, merged: _Merged) -> Layer:
    """Return the map's values as a layer; relative prices of the default go when there are real ones."""
    if "prices" in entry.sections:
        for key in list(merged.values["prices"]):
            del merged.values["prices"][key], merged.origins["prices", key]
    source = f"litellm {prices_in.version()}, {entry.key}"
    return Layer("price map", {name: {**given, "source": source} for name, given in entry.sections.items()})


def _section(of: type[Section], values: Mapping[str, Any]) -> Section:
    return of(**{each.name: values[each.name] for each in fields(of) if each.name in values})


def _cache(merged: _Merged) -> Cache:
    values = merged.values["cache"]
    if values["marks"] == "explicit" and not values["breakpoints"]:
        told = "marks is 'explicit' with 0 breakpoints, so nothing could be cached; add 'breakpoints: 4'"
        raise ConfigError([Problem(merged.origins["cache", "marks"][0], 0, 0, "cache", told)])
    ttl = tuple(Ttl(each["seconds"], each.get("write_factor", 1.0)) for each in values["ttl"])
    return Cache(**{**values, "ttl": ttl})


def _prices(merged: _Merged, *, known: bool) -> Prices:
    given = merged.values["prices"]
    factor = merged.values["cache"]["ttl"][0].get("write_factor", 1.0)
    base = _rates(given, given, factor)
    stated = [{key: value for key, value in each.items() if value is not None} for each in given.get("tiers") or ()]
    tiers = tuple(Tier(each["above_tokens"], _rates(each, given, factor)) for each in stated)
    if merged.values["cache"]["marks"] == "none":
        return Prices(_uncached(base), tuple(Tier(each.above_tokens, _uncached(each.rates)) for each in tiers), known)
    return Prices(base, tiers, known)


def _uncached(rates: Rates) -> Rates:
    """Return the prices of a model without a cache: all is paid as input."""
    return replace(rates, cache_read=rates.input, cache_write=rates.input, cache_write_1h=None)


def _rates(given: Mapping[str, Any], base: Mapping[str, Any], factor: float) -> Rates:
    """Complete prices: what is not in the cache costs at least the input, and a read never more."""
    paid = given["input"]
    scale = paid / base["input"]
    hour = given.get("cache_write_1h")
    return Rates(
        input=paid,
        cache_read=min(paid, given.get("cache_read", base.get("cache_read", paid) * scale)),
        cache_write=round(max(paid, given.get("cache_write") or paid * factor), 9),
        output=given.get("output", base.get("output", paid) * scale),
        cache_write_1h=None if hour is None else max(paid, hour),
    )


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " and ".join(", ".join(f"{key} {_shown(item)}" for key, item in each.items()) for each in value)
    return f"{value:,}" if isinstance(value, int) else str(value)
