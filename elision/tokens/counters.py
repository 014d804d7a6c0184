"""What counts the texts of a model: the counter of a plugin, or a vocabulary and the factor of the model's profile."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from elision.own_values import OwnProfile, in_force
from elision.tokens.memory import SHORT, Memory, counted_once, mended
from elision.tokens.vocabularies import counter_of

if TYPE_CHECKING:
    from elision.registry import Plugins

ENCODING = "o200k_base"
"""The vocabulary where no model is named; its count is given as it is."""

SHORT_TEXTS = 8192
"""Most short texts whose count is kept: names of tools, and what models and placeholders say again and again."""

_WILD = re.compile(r"\*|\?|\[[^\]]*\]|\{[^}]*\}")

_memory = Memory()
_warned: set[tuple[str, str]] = set()


class Counter(Protocol):
    """Counts the tokens of a text."""

    def count(self, text: str) -> int:
        """Return the tokens of a text."""


@dataclass(frozen=True, slots=True)
class ByVocabulary:
    """Counts by a vocabulary of tiktoken, times a factor."""

    encoding: str
    factor: float = 1.0

    def count(self, text: str) -> int:
        """Return the tokens of a text, to the nearest."""
        if len(text) <= SHORT:
            tokens = _count_short(self.encoding, text)
        else:
            tokens = counted_once(self.encoding, text, counter_of(self.encoding), _memory)
        return tokens if self.factor == 1 else int(tokens * self.factor + 0.5)


@dataclass(frozen=True, slots=True)
class Plugged:
    """Counts by a plugin's counter; another stands in for a text on which that fails."""

    pattern: str
    plugin: str
    function: Callable[[str], int]
    stand_in: Counter

    def count(self, text: str) -> int:
        """Return the tokens of a text."""
        try:
            if len(text) <= SHORT:
                return self._asked(mended(text)[0])
            return counted_once(f"{self.plugin}:{self.pattern}", text, self._asked, _memory)
        except Exception as error:  # noqa: BLE001 (a plugin may raise anything; the text is counted all the same)
            self._warn(error)
        return self.stand_in.count(text)

    def _asked(self, text: str) -> int:
        tokens = self.function(text)
        if not isinstance(tokens, int) or tokens < 0:
            raise TypeError(f"it returned {tokens!r:.80}, which is no count")
        return tokens

    def _warn(self, error: Exception) -> None:
        if (self.plugin, self.pattern) in _warned:
            return
        _warned.add((self.plugin, self.pattern))
        from elision.session import ElisionWarning

        told = f"{type(error).__name__}: {error}"
        warnings.warn(
            f"plugin {self.plugin!r}: its token counter {self.pattern!r} failed ({told[:300]}); "
            "tiktoken counts in its place; mend it",
            ElisionWarning,
            stacklevel=5,
        )


_PLAIN = ByVocabulary(ENCODING)


@lru_cache(maxsize=SHORT_TEXTS)
def _count_short(encoding: str, text: str) -> int:
    return counter_of(encoding)(mended(text)[0])


def counter_for(model: str | None) -> Counter:
    """Return what counts the texts of a model; where none is named, the plain vocabulary."""
    own = in_force()
    if model is None and own is None:
        return _PLAIN
    from elision.registry import plugins

    return _counter_for(model, plugins(), own)


def counting_of(model: str | None) -> str:
    """Return the name of what counts the texts of a model: two of one name count alike."""
    counter = counter_for(model)
    if isinstance(counter, ByVocabulary):
        return f"{counter.encoding} {counter.factor:g}"
    return f"{counter.plugin}:{counter.pattern}" if isinstance(counter, Plugged) else type(counter).__name__


def plugged_counter(model: str | None) -> tuple[str, str] | None:
    """Return the glob and the plugin of the counter that a plugin has for a model, if one has."""
    counter = counter_for(model)
    return (counter.pattern, counter.plugin) if isinstance(counter, Plugged) else None


@lru_cache(maxsize=256)
def _counter_for(model: str | None, loaded: Plugins, own: OwnProfile | None) -> Counter:  # noqa: ARG001 (of the key)
    from elision.profiles import profile_for
    from elision.profiles.loading import DEFAULT

    profile = profile_for(model)
    # A profile of the user's own that says nothing of tokens is no reason to count otherwise than without one.
    assumed = model is None and profile.sources["tokens.factor"].startswith(DEFAULT)
    plain = ByVocabulary(profile.tokens.encoding, 1.0 if assumed else profile.tokens.factor)
    counters = loaded.token_counters()
    pattern = _most_exact(model, counters)
    if pattern is None:
        return plain
    return Plugged(pattern, loaded.owner("elision_token_counters", pattern), counters[pattern], plain)


def _most_exact(model: str | None, patterns: Iterable[str]) -> str | None:
    """Return the pattern that fits a model and has the most literal characters; the first of two that have as many."""
    from elision.profiles.names import model_name

    name = model_name(model or "")
    fitting = [pattern for pattern in patterns if any(_fits(pattern, form) for form in (name.given, *name.forms))]
    return max(fitting, key=lambda pattern: len(_WILD.sub("", pattern)), default=None)


def _fits(pattern: str, name: str) -> bool:
    from elision.classification.patterns import OutOfTimeError, glob

    try:
        return glob(pattern, fold=True).matches(name)
    except OutOfTimeError:
        return False
