"""Prices: quantity discounts, shipping, tax and rounding.

The order of the steps matters and is the same for every quote:

1. each line is priced at its list price, less the discount of its tier;
2. the amount of each line is rounded to cents;
3. the goods value is the sum of the rounded lines;
4. shipping is added when the goods value is below the limit for free shipping;
5. tax is computed on goods and shipping together and rounded once.

Rounding each line before the sum keeps the printed quote consistent: the
amounts that the customer sees add up to the goods value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal

from stockroom.config import Settings
from stockroom.models import OrderLine, PricedLine, Product, Quote, Tier

CENT = Decimal("0.01")
ZERO = Decimal("0.00")
HUNDRED = Decimal(100)

ProductLookup = Callable[[str], Product]


def round_money(value: Decimal) -> Decimal:
    """Round an amount to cents, half up."""
    return value.quantize(CENT, rounding=ROUND_HALF_UP)


def discount_percent(quantity: int, tiers: Sequence[Tier]) -> Decimal:
    """Return the discount for a quantity, in percent.

    The best tier that the quantity reaches counts. Without any tier the
    discount is zero.
    """
    best = Decimal(0)
    for tier in tiers:
        if quantity > tier.min_quantity:
            best = max(best, tier.percent)
    return best


def price_line(line: OrderLine, product: Product, tiers: Sequence[Tier]) -> PricedLine:
    """Price one order line."""
    if line.quantity <= 0:
        raise ValueError(f"quantity of {line.sku} must be positive, got {line.quantity}")
    percent = discount_percent(line.quantity, tiers)
    factor = (HUNDRED - percent) / HUNDRED
    amount = round_money(product.unit_price * line.quantity * factor)
    return PricedLine(
        sku=line.sku,
        quantity=line.quantity,
        unit_price=product.unit_price,
        discount_percent=percent,
        amount=amount,
    )


def shipping_cost(goods: Decimal, settings: Settings) -> Decimal:
    """Return the shipping cost for a goods value.

    An empty order ships for nothing, and so does an order whose goods value
    reaches `free_shipping_from`.
    """
    if goods == 0 or goods >= settings.free_shipping_from:
        return ZERO
    return round_money(settings.shipping_flat)


def make_quote(lines: Iterable[OrderLine], lookup: ProductLookup, settings: Settings) -> Quote:
    """Price a whole order.

    `lookup` returns the product for a SKU and raises `UnknownSku` when there
    is none. Lines with the same SKU are added up first, because the discount
    depends on the quantity of the whole order and not on how it was typed in.
    """
    merged = merge_lines(lines)
    priced = tuple(price_line(line, lookup(line.sku), settings.tiers) for line in merged)
    goods = sum((line.amount for line in priced), ZERO)
    shipping = shipping_cost(goods, settings)
    tax = round_money((goods + shipping) * settings.tax_rate)
    return Quote(
        lines=priced,
        goods=goods,
        shipping=shipping,
        tax=tax,
        total=goods + shipping + tax,
    )


def merge_lines(lines: Iterable[OrderLine]) -> list[OrderLine]:
    """Add up the lines that have the same SKU; the first position counts."""
    quantities: dict[str, int] = {}
    for line in lines:
        quantities[line.sku] = quantities.get(line.sku, 0) + line.quantity
    return [OrderLine(sku, quantity) for sku, quantity in quantities.items()]


def format_money(amount: Decimal, currency: str) -> str:
    """Return an amount with two decimals and its currency."""
    return f"{round_money(amount):,.2f} {currency}"


def format_quote(quote: Quote, currency: str) -> str:
    """Return a quote as text, one line for each order line and the sums."""
    rows = [
        f"{line.sku:<16}{line.quantity:>6} x {line.unit_price:>8.2f}"
        f"  -{line.discount_percent:>2}%{line.amount:>12,.2f}"
        for line in quote.lines
    ]
    rows.append("-" * 49)
    for label, amount in (
        ("goods", quote.goods),
        ("shipping", quote.shipping),
        ("tax", quote.tax),
        ("total", quote.total),
    ):
        rows.append(f"{label:<37}{amount:>12,.2f} {currency}")
    return "\n".join(rows)
