"""The life of an order: open, then shipped or cancelled.

    place  ->  OPEN  ->  ship    ->  SHIPPED
                |
                +----->  cancel  ->  CANCELLED

An open order holds reservations in the inventory. It can be amended; the
quote is then made again for all of its lines. Shipped and cancelled orders
never change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stockroom.config import Settings
from stockroom.inventory import Inventory
from stockroom.loaders import PhoneOrder
from stockroom.models import (
    InsufficientStock,
    Order,
    OrderLine,
    OrderStateError,
    OrderStatus,
    UnknownOrder,
)
from stockroom.pricing import make_quote, merge_lines


class OrderBook:
    """All orders of the store, with the inventory that they draw on."""

    def __init__(self, inventory: Inventory, settings: Settings) -> None:
        self._inventory = inventory
        self._settings = settings
        self._orders: dict[str, Order] = {}
        self._last_number = 0

    def __len__(self) -> int:
        return len(self._orders)

    def __iter__(self) -> Iterator[Order]:
        return iter(self._orders.values())

    @property
    def inventory(self) -> Inventory:
        """The inventory that the orders draw on."""
        return self._inventory

    def get(self, number: str) -> Order:
        """Return an order by its number."""
        try:
            return self._orders[number]
        except KeyError:
            raise UnknownOrder(number) from None

    def with_status(self, status: OrderStatus) -> list[Order]:
        """Return the orders in one state, the oldest first."""
        return [order for order in self if order.status is status]

    def place(self, customer: str, lines: Iterable[OrderLine]) -> Order:
        """Place an order and reserve its pieces.

        Nothing is reserved and no number is used up when a line has an
        unknown SKU or cannot be filled.
        """
        merged = merge_lines(lines)
        if not merged:
            raise ValueError("an order needs at least one line")
        quote = make_quote(merged, self._inventory.product, self._settings)
        number = self._format_number(self._last_number + 1)
        self._inventory.reserve_many(number, {line.sku: line.quantity for line in merged})
        self._last_number += 1
        order = Order(number=number, customer=customer, lines=merged, quote=quote)
        self._orders[number] = order
        return order

    def amend(self, number: str, extra: Iterable[OrderLine]) -> Order:
        """Add lines to an open order.

        The order stays as it was when an added line cannot be filled.
        """
        order = self._open_order(number, "amend")
        added = merge_lines(extra)
        lines = merge_lines([*order.lines, *added])
        quote = make_quote(lines, self._inventory.product, self._settings)
        self._inventory.reserve_many(number, {line.sku: line.quantity for line in added})
        order.lines = lines
        order.quote = quote
        order.notes.append("amended: " + ", ".join(f"{x.sku} +{x.quantity}" for x in added))
        return order

    def ship(self, number: str) -> Order:
        """Ship an open order."""
        order = self._open_order(number, "ship")
        self._inventory.ship(number)
        order.status = OrderStatus.SHIPPED
        return order

    def cancel(self, number: str, reason: str = "") -> Order:
        """Cancel an open order and give its pieces back."""
        order = self._open_order(number, "cancel")
        self._inventory.release_all(number)
        order.status = OrderStatus.CANCELLED
        if reason:
            order.notes.append(f"cancelled: {reason}")
        return order

    def place_waiting(self, waiting: Iterable[PhoneOrder]) -> list[str]:
        """Place the orders that were taken by phone.

        Returns one message for each order that could not be filled. Such an
        order is left out; the next one is tried all the same.
        """
        problems: list[str] = []
        for entry in waiting:
            try:
                self.place(entry.customer, entry.lines)
            except InsufficientStock as error:
                problems.append(f"{entry.customer}: {error}")
        return problems

    def _open_order(self, number: str, action: str) -> Order:
        """Return an order that must be open for an action."""
        order = self.get(number)
        if order.status is not OrderStatus.OPEN:
            raise OrderStateError(number, action, order.status)
        return order

    def _format_number(self, value: int) -> str:
        """Return an order number such as SO-0012."""
        return f"{self._settings.number_prefix}{value:0{self._settings.number_width}d}"
