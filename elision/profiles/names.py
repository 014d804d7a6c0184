"""The name of a model: its provider, and the forms in which profiles and the price map may have it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_CHARS = 400
"""Longest name that is looked up."""

_REGION = re.compile(r"^(?:us-gov|us|eu|apac|au|jp|in|ca|sa|global)\.(?=[a-z])")
_VENDOR = re.compile(
    r"^(?:anthropic|amazon|cohere|deepseek|google|meta|minimax|mistral|moonshot|moonshotai|nvidia|openai|qwen|xai|zai)\.(?=[a-z])"
)
_RESELLER = re.compile(
    r"^(?:system\.ai\.|(?:databricks|anthropic|openai|google|alibaba|moonshotai|xai|zai|fw|spot|coding|cc)-+)(?=[a-z])"
)
_VERSION_FIRST = re.compile(r"^claude-([4-9](?:[.-]\d)?)-(opus|sonnet|haiku|fable|mythos)\b")
_ROUTE = re.compile(r"(?::[a-z][a-z-]*|@default)$")
_DATED = re.compile(r"(?:[-@]20\d{2}-?\d{2}-?\d{2}|-latest)(?:-v\d+(?::\d+)?)?$|:[a-z]+$")


@dataclass(frozen=True, slots=True)
class ModelName:
    """A name as it was given, its provider or nothing, and what it is without one; all in small letters."""

    given: str
    provider: str
    forms: tuple[str, ...]

    def keys(self, home: str) -> Iterator[str]:
        """Yield the keys under which the price map may have it, the most exact first."""
        parts = self.given.split("/")
        yield from ("/".join(parts[start:]) for start in range(len(parts)))
        bare = dict.fromkeys([*self.forms, *(_DATED.sub("", form) for form in self.forms)])
        for form in [*bare, *(each.replace(".", "-") for each in bare)]:
            if parts[-1].startswith("ft:"):
                yield f"ft:{form}"
            yield from (form, f"{home}/{form}") if home else (form,)


def model_name(given: str) -> ModelName:
    """Take a name apart: ``bedrock/us.anthropic.claude-opus-5-v1:0`` is ``claude-opus-5-v1:0`` of ``bedrock``.

    The last form is the one of the model's maker: ``databricks-claude-opus-5``, ``claude-5-opus`` and
    ``claude-opus-5:thinking`` are ``claude-opus-5``.
    """
    name = given.strip().lower()[:MAX_CHARS]
    *before, last = name.split("/")
    provider = before[0] if before else ""
    if last.startswith("ft:"):
        last = last.split(":")[1]
    without_region = _REGION.sub("", last)
    bare = _VENDOR.sub("", without_region)
    if bare != last and not provider:
        provider = "bedrock"
    own = _VERSION_FIRST.sub(r"claude-\2-\1", _RESELLER.sub("", _ROUTE.sub("", bare)))
    if _RESELLER.match(bare) and not provider:
        provider = "reseller"
    return ModelName(name, provider, tuple(dict.fromkeys([bare, without_region, last, own])))
