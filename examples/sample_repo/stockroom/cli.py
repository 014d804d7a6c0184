"""The command line of the store."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from stockroom import api
from stockroom.models import StockroomError
from stockroom.pricing import format_quote


def build_parser() -> argparse.ArgumentParser:
    """Build the parser with one sub-command for each action."""
    parser = argparse.ArgumentParser(prog="stockroom")
    commands = parser.add_subparsers(dest="command", required=True)

    stock = commands.add_parser("stock", help="show the stock of one SKU")
    stock.add_argument("sku")

    quote = commands.add_parser("quote", help="show the prices of an order")
    quote.add_argument("items", nargs="+", metavar="SKU=QUANTITY")

    report = commands.add_parser("report", help="show the value of the stock")
    report.add_argument("--by", choices=("product", "category"), default="product")

    commands.add_parser("orders", help="list all orders")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code."""
    args = build_parser().parse_args(argv)
    try:
        print(run(args))
    except (StockroomError, ValueError) as error:
        print(f"stockroom: {error}", file=sys.stderr)
        return 1
    return 0


def run(args: argparse.Namespace) -> str:
    """Return the output of one command."""
    store = api.open_store()
    if args.command == "stock":
        return show_stock(store, args.sku.upper())
    if args.command == "quote":
        wanted = dict(parse_item(item) for item in args.items)
        return format_quote(api.quote_order(store, wanted), store.settings.currency)
    if args.command == "report":
        return api.stock_report(store, by=args.by)
    return show_orders(store)


def show_stock(store: api.Store, sku: str) -> str:
    """Return the stock of one SKU as text."""
    product = store.inventory.product(sku)
    return (
        f"{product.sku}: {product.name}\n"
        f"  on hand    {store.inventory.on_hand(sku):>6,}\n"
        f"  reserved   {store.inventory.reserved(sku):>6,}\n"
        f"  available  {store.inventory.available(sku):>6,}"
    )


def show_orders(store: api.Store) -> str:
    """Return the orders and the problems of the waiting ones as text."""
    text = api.order_report(store)
    if store.problems:
        text += "\nnot placed:\n" + "\n".join(f"  {problem}" for problem in store.problems)
    return text


def parse_item(item: str) -> tuple[str, int]:
    """Split an item such as BOLT-M6-20=50 into SKU and quantity."""
    sku, separator, quantity = item.partition("=")
    if not separator or not sku or not quantity.isdigit():
        raise ValueError(f"bad item {item!r}, expected SKU=QUANTITY")
    return sku.upper(), int(quantity)


if __name__ == "__main__":
    sys.exit(main())
