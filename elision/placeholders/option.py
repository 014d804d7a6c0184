"""The type of an option that takes a placeholder template."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import AfterValidator

from elision.errors import ConfigError
from elision.placeholders.templates import check_template


def _checked(template: str) -> str:
    try:
        check_template(template)
    except ConfigError as error:
        raise ValueError(error.problems[0].message) from None
    return template


PlaceholderTemplate: TypeAlias = Annotated[str, AfterValidator(_checked)]
"""A template, by its name or written out; it is checked when the option is read."""
