"""Settings of the store, read from a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from stockroom.models import BadRecord, Tier

PROJECT_DIR = Path(__file__).resolve().parent.parent
DEFAULT_FILE = PROJECT_DIR / "config" / "stockroom.toml"


@dataclass(frozen=True)
class Settings:
    """All settings of the store."""

    store_name: str
    currency: str
    catalog_file: Path
    orders_file: Path
    tax_rate: Decimal
    shipping_flat: Decimal
    free_shipping_from: Decimal
    tiers: tuple[Tier, ...]
    number_prefix: str
    number_width: int


def load_settings(path: Path = DEFAULT_FILE) -> Settings:
    """Read the settings file at `path`."""
    return parse_settings(path.read_text(encoding="utf-8"))


def parse_settings(text: str) -> Settings:
    """Build the settings from the text of a TOML file."""
    data = tomllib.loads(text)
    store = _section(data, "store")
    files = _section(data, "files")
    pricing = _section(data, "pricing")
    orders = _section(data, "orders")
    return Settings(
        store_name=store["name"],
        currency=store["currency"],
        catalog_file=PROJECT_DIR / files["catalog"],
        orders_file=PROJECT_DIR / files["orders"],
        tax_rate=_decimal(pricing, "tax_rate"),
        shipping_flat=_decimal(pricing, "shipping_flat"),
        free_shipping_from=_decimal(pricing, "free_shipping_from"),
        tiers=_tiers(pricing),
        number_prefix=orders["number_prefix"],
        number_width=orders["number_width"],
    )


def _section(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return one table of the file; it must be there."""
    section = data.get(name)
    if not isinstance(section, dict):
        raise BadRecord("settings", f"table [{name}] is missing")
    return section


def _decimal(section: Mapping[str, Any], key: str) -> Decimal:
    """Return an exact amount; it must be written as a string."""
    value = section.get(key)
    if not isinstance(value, str):
        raise BadRecord("settings", f"{key} must be a string, got {value!r}")
    try:
        return Decimal(value)
    except InvalidOperation:
        raise BadRecord("settings", f"{key} is not a number: {value!r}") from None


def _tiers(pricing: Mapping[str, Any]) -> tuple[Tier, ...]:
    """Return the discount tiers, the smallest quantity first."""
    tiers = [
        Tier(min_quantity=int(entry["min_quantity"]), percent=_decimal(entry, "percent"))
        for entry in pricing.get("tiers", [])
    ]
    return tuple(sorted(tiers, key=lambda tier: tier.min_quantity))
