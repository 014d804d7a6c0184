"""Text reports about the stock and the orders.

Every report is a function that returns the finished text, without a newline
at its end. The tables have a header line, a rule and right-aligned numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from stockroom.inventory import Inventory
from stockroom.models import Order, Product
from stockroom.pricing import ZERO, format_money, round_money


@dataclass(frozen=True)
class CategorySum:
    """The stock of one category."""

    category: str
    products: int
    pieces: int
    value: Decimal


def table(header: Sequence[str], rows: Iterable[Sequence[str]], text_columns: int = 1) -> str:
    """Return a text table.

    The first `text_columns` columns are aligned to the left and the others to
    the right. Each column is as wide as its widest cell.
    """
    body = [list(row) for row in rows]
    widths = [
        max([len(title), *(len(row[index]) for row in body)]) for index, title in enumerate(header)
    ]

    def render(cells: Sequence[str]) -> str:
        parts = [
            cell.ljust(width) if index < text_columns else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "  ".join(parts).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join([render(header), rule, *(render(row) for row in body)])


def stock_value(inventory: Inventory, product: Product) -> Decimal:
    """Return the value of the pieces of a product that are on hand now."""
    return round_money(product.unit_price * inventory.on_hand(product.sku))


def category_sums(inventory: Inventory) -> list[CategorySum]:
    """Return the stock of each category, sorted by its name."""
    sums: list[CategorySum] = []
    for category in inventory.categories():
        members = [product for product in inventory if product.category == category]
        sums.append(
            CategorySum(
                category=category,
                products=len(members),
                pieces=sum(inventory.on_hand(product.sku) for product in members),
                value=sum((stock_value(inventory, product) for product in members), ZERO),
            )
        )
    return sums


def valuation_by_category(inventory: Inventory, currency: str) -> str:
    """Return the value of the stock, one line for each category."""
    sums = category_sums(inventory)
    rows = [
        (entry.category, str(entry.products), f"{entry.pieces:,}", f"{entry.value:,.2f}")
        for entry in sums
    ]
    total = sum((entry.value for entry in sums), ZERO)
    text = table(("category", "products", "pieces", "value"), rows)
    return f"{text}\ntotal: {format_money(total, currency)}"


def valuation_by_product(inventory: Inventory, currency: str) -> str:
    """Return the value of the stock, one line for each product."""
    products = sorted(inventory, key=lambda product: product.sku)
    rows = [
        (
            product.sku,
            product.name,
            f"{inventory.on_hand(product.sku):,}",
            f"{inventory.reserved(product.sku):,}",
            f"{product.unit_price:.2f}",
            f"{stock_value(inventory, product):,.2f}",
        )
        for product in products
    ]
    total = sum((stock_value(inventory, product) for product in products), ZERO)
    text = table(("sku", "name", "on hand", "reserved", "price", "value"), rows, text_columns=2)
    return f"{text}\ntotal: {format_money(total, currency)}"


def order_list(orders: Iterable[Order], currency: str) -> str:
    """Return all orders, one line for each of them."""
    rows = [
        (
            order.number,
            order.customer,
            order.status.value,
            str(sum(line.quantity for line in order.lines)),
            format_money(order.quote.total, currency),
        )
        for order in orders
    ]
    return table(("number", "customer", "status", "pieces", "total"), rows, text_columns=3)
