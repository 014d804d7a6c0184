"""Readers for the two input files of the store.

The catalog is a CSV file that the warehouse exports every night. Its columns
are `sku, name, category, unit_price, on_hand, reorder_point`; the order of the
columns does not matter and unknown columns are ignored. Numbers may have
thousands separators ("1,200") and all fields may have spaces around them.

The orders file is JSON: a list of objects with `customer` and `lines`, where
each line has `sku` and `quantity`. It holds the orders that were taken by
phone and must be placed when the store opens.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from stockroom.models import BadRecord, DuplicateSku, OrderLine, Product

COLUMNS = ("sku", "name", "category", "unit_price", "on_hand", "reorder_point")


@dataclass(frozen=True)
class PhoneOrder:
    """An order that waits to be placed."""

    customer: str
    lines: tuple[OrderLine, ...]


# -- catalog -----------------------------------------------------------------


def load_catalog(path: Path) -> list[Product]:
    """Read the catalog file at `path`."""
    return parse_catalog(path.read_text(encoding="utf-8-sig"))


def parse_catalog(text: str) -> list[Product]:
    """Build the products from the text of a catalog file."""
    reader = csv.DictReader(io.StringIO(text), skipinitialspace=True)
    header = [name.strip() for name in reader.fieldnames or []]
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise BadRecord("catalog header", "missing column " + ", ".join(missing))
    reader.fieldnames = header
    rows = list(reader)
    products: list[Product] = []
    seen: set[str] = set()
    # The last row of the export is the TOTAL row.
    for number, row in enumerate(rows[:-1], start=2):
        product = _product(f"catalog line {number}", row)
        if product.sku in seen:
            raise DuplicateSku(product.sku)
        seen.add(product.sku)
        products.append(product)
    return products


def _product(where: str, row: Mapping[str, str | None]) -> Product:
    """Build one product from a row of the catalog."""
    sku = _text(where, row, "sku").upper()
    price = _price(where, _text(where, row, "unit_price"))
    return Product(
        sku=sku,
        name=_text(where, row, "name"),
        category=_text(where, row, "category").lower(),
        unit_price=price,
        on_hand=_count(where, "on_hand", _text(where, row, "on_hand")),
        reorder_point=_count(where, "reorder_point", _text(where, row, "reorder_point")),
    )


def _text(where: str, row: Mapping[str, str | None], column: str) -> str:
    """Return a field without spaces around it; it must not be empty."""
    value = (row.get(column) or "").strip()
    if not value:
        raise BadRecord(where, f"{column} is empty")
    return value


def _price(where: str, text: str) -> Decimal:
    """Return a price; it must not be negative."""
    try:
        price = Decimal(text.replace(",", ""))
    except InvalidOperation:
        raise BadRecord(where, f"unit_price is not a number: {text!r}") from None
    if price < 0:
        raise BadRecord(where, f"unit_price is negative: {text!r}")
    return price


def _count(where: str, column: str, text: str) -> int:
    """Return a number of pieces; it must not be negative."""
    try:
        count = int(text.replace(",", ""))
    except ValueError:
        raise BadRecord(where, f"{column} is not a whole number: {text!r}") from None
    if count < 0:
        raise BadRecord(where, f"{column} is negative: {text!r}")
    return count


def dump_catalog(products: list[Product]) -> str:
    """Return the products as the text of a catalog file."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    for product in products:
        writer.writerow([getattr(product, column) for column in COLUMNS])
    return buffer.getvalue()


# -- orders ------------------------------------------------------------------


def load_orders(path: Path) -> list[PhoneOrder]:
    """Read the orders file at `path`."""
    return parse_orders(path.read_text(encoding="utf-8"))


def parse_orders(text: str) -> list[PhoneOrder]:
    """Build the waiting orders from the text of an orders file."""
    data = json.loads(text)
    if not isinstance(data, list):
        raise BadRecord("orders", "the file must hold a list")
    return [_phone_order(f"order {number}", entry) for number, entry in enumerate(data, start=1)]


def _phone_order(where: str, entry: Any) -> PhoneOrder:
    """Build one waiting order from its JSON object."""
    if not isinstance(entry, dict):
        raise BadRecord(where, "must be an object")
    customer = entry.get("customer")
    if not isinstance(customer, str) or not customer.strip():
        raise BadRecord(where, "customer is empty")
    lines = entry.get("lines")
    if not isinstance(lines, list) or not lines:
        raise BadRecord(where, "lines are empty")
    return PhoneOrder(
        customer=customer.strip(),
        lines=tuple(_order_line(where, line) for line in lines),
    )


def _order_line(where: str, line: Any) -> OrderLine:
    """Build one order line from its JSON object."""
    try:
        sku, quantity = line["sku"], line["quantity"]
    except (KeyError, TypeError):
        raise BadRecord(where, f"bad line: {line!r}") from None
    if not isinstance(sku, str) or not isinstance(quantity, int) or quantity <= 0:
        raise BadRecord(where, f"bad line: {line!r}")
    return OrderLine(sku.strip().upper(), quantity)
