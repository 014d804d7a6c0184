"""The names that other programs import.

The web shop and the label printer call these functions. Each of them works on
a `Store`, which `open_store` builds from the settings file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stockroom import reports
from stockroom.config import DEFAULT_FILE, Settings, load_settings
from stockroom.inventory import Inventory
from stockroom.loaders import load_catalog, load_orders
from stockroom.models import Order, OrderLine, Quote
from stockroom.orders import OrderBook
from stockroom.pricing import make_quote

__all__ = [
    "Store",
    "cancel_order",
    "open_store",
    "order_report",
    "place_order",
    "quote_order",
    "ship_order",
    "stock_report",
]


@dataclass
class Store:
    """The settings, the stock and the orders of one store."""

    settings: Settings
    inventory: Inventory
    orders: OrderBook
    problems: list[str]


def open_store(config: Path = DEFAULT_FILE) -> Store:
    """Read the settings, the catalog and the waiting orders.

    Waiting orders that cannot be filled are listed in `Store.problems`.
    """
    settings = load_settings(config)
    inventory = Inventory(load_catalog(settings.catalog_file))
    orders = OrderBook(inventory, settings)
    problems = orders.place_waiting(load_orders(settings.orders_file))
    return Store(settings, inventory, orders, problems)


def quote_order(store: Store, wanted: Mapping[str, int]) -> Quote:
    """Return the prices for an order without placing it."""
    return make_quote(_lines(wanted), store.inventory.product, store.settings)


def place_order(store: Store, customer: str, wanted: Mapping[str, int]) -> Order:
    """Place an order."""
    return store.orders.place(customer, _lines(wanted))


def ship_order(store: Store, number: str) -> Order:
    """Ship an open order."""
    return store.orders.ship(number)


def cancel_order(store: Store, number: str, reason: str = "") -> Order:
    """Cancel an open order."""
    return store.orders.cancel(number, reason)


def stock_report(store: Store, by: str = "product") -> str:
    """Return the value of the stock as text, by product or by category."""
    if by == "category":
        return reports.valuation_by_category(store.inventory, store.settings.currency)
    if by == "product":
        return reports.valuation_by_product(store.inventory, store.settings.currency)
    raise ValueError(f"by must be 'product' or 'category', got {by!r}")


def order_report(store: Store) -> str:
    """Return the list of all orders as text."""
    return reports.order_list(store.orders, store.settings.currency)


def _lines(wanted: Mapping[str, int]) -> list[OrderLine]:
    """Build order lines from a mapping of SKUs to quantities."""
    return [OrderLine(sku, quantity) for sku, quantity in wanted.items()]
