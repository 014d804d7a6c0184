"""Tests of the life of an order."""

import unittest
from decimal import Decimal

from stockroom.config import load_settings
from stockroom.inventory import Inventory
from stockroom.loaders import PhoneOrder
from stockroom.models import (
    InsufficientStock,
    OrderLine,
    OrderStateError,
    OrderStatus,
    Product,
    UnknownOrder,
    UnknownSku,
)
from stockroom.orders import OrderBook


class OrderBookTestCase(unittest.TestCase):
    """Base class with an order book over three products."""

    def setUp(self) -> None:
        self.inventory = Inventory(
            [
                Product("BOLT", "Bolt", "bolts", Decimal("0.40"), 100, 10),
                Product("NUT", "Nut", "nuts", Decimal("0.05"), 40, 10),
                Product("VICE", "Vice", "clamps", Decimal("64.00"), 2, 1),
            ]
        )
        self.book = OrderBook(self.inventory, load_settings())


class PlaceTest(OrderBookTestCase):
    def test_numbers_count_up(self) -> None:
        first = self.book.place("Ann", [OrderLine("BOLT", 1)])
        second = self.book.place("Ben", [OrderLine("BOLT", 1)])
        self.assertEqual((first.number, second.number), ("SO-0001", "SO-0002"))

    def test_pieces_are_reserved(self) -> None:
        self.book.place("Ann", [OrderLine("BOLT", 30), OrderLine("NUT", 30)])
        self.assertEqual(self.inventory.available("BOLT"), 70)
        self.assertEqual(self.inventory.available("NUT"), 10)

    def test_quote_has_the_discount(self) -> None:
        order = self.book.place("Ann", [OrderLine("BOLT", 50)])
        self.assertEqual(order.quote.goods, Decimal("18.60"))
        self.assertEqual(order.quote.total, Decimal("30.60"))

    def test_same_sku_twice(self) -> None:
        order = self.book.place("Ann", [OrderLine("NUT", 4), OrderLine("NUT", 5)])
        self.assertEqual(order.lines, [OrderLine("NUT", 9)])

    def test_empty_order(self) -> None:
        with self.assertRaises(ValueError):
            self.book.place("Ann", [])

    def test_unknown_sku_reserves_nothing(self) -> None:
        with self.assertRaises(UnknownSku):
            self.book.place("Ann", [OrderLine("BOLT", 1), OrderLine("ROPE", 1)])
        self.assertEqual(self.inventory.available("BOLT"), 100)

    def test_refused_order_reserves_nothing(self) -> None:
        with self.assertRaises(InsufficientStock):
            self.book.place("Ann", [OrderLine("BOLT", 60), OrderLine("VICE", 3)])
        self.assertEqual(len(self.book), 0)
        self.assertEqual(self.inventory.available("BOLT"), 100)

    def test_refused_order_does_not_leak_into_the_next(self) -> None:
        with self.assertRaises(InsufficientStock):
            self.book.place("Ann", [OrderLine("BOLT", 60), OrderLine("VICE", 3)])
        order = self.book.place("Ben", [OrderLine("NUT", 5)])
        self.book.ship(order.number)
        self.assertEqual(self.inventory.on_hand("BOLT"), 100)
        self.assertEqual(self.inventory.on_hand("NUT"), 35)


class AmendTest(OrderBookTestCase):
    def test_added_line(self) -> None:
        order = self.book.place("Ann", [OrderLine("BOLT", 6)])
        self.book.amend(order.number, [OrderLine("BOLT", 4), OrderLine("NUT", 2)])
        self.assertEqual(order.lines, [OrderLine("BOLT", 10), OrderLine("NUT", 2)])
        self.assertEqual(order.quote.lines[0].discount_percent, 3)
        self.assertEqual(order.notes, ["amended: BOLT +4, NUT +2"])

    def test_refused_amendment_changes_nothing(self) -> None:
        order = self.book.place("Ann", [OrderLine("BOLT", 6)])
        before = order.quote
        with self.assertRaises(InsufficientStock):
            self.book.amend(order.number, [OrderLine("NUT", 5), OrderLine("VICE", 3)])
        self.assertEqual(order.quote, before)
        self.assertEqual(self.inventory.reservations(order.number), {"BOLT": 6})


class CloseTest(OrderBookTestCase):
    def test_ship(self) -> None:
        order = self.book.place("Ann", [OrderLine("VICE", 2)])
        self.book.ship(order.number)
        self.assertIs(order.status, OrderStatus.SHIPPED)
        self.assertEqual(self.inventory.on_hand("VICE"), 0)

    def test_cancel(self) -> None:
        order = self.book.place("Ann", [OrderLine("VICE", 2)])
        self.book.cancel(order.number, "too late")
        self.assertIs(order.status, OrderStatus.CANCELLED)
        self.assertEqual(self.inventory.available("VICE"), 2)
        self.assertEqual(order.notes, ["cancelled: too late"])

    def test_shipped_order_cannot_be_cancelled(self) -> None:
        order = self.book.place("Ann", [OrderLine("VICE", 1)])
        self.book.ship(order.number)
        with self.assertRaises(OrderStateError):
            self.book.cancel(order.number)

    def test_unknown_order(self) -> None:
        with self.assertRaises(UnknownOrder):
            self.book.ship("SO-0404")


class WaitingOrdersTest(OrderBookTestCase):
    def test_problems_are_listed(self) -> None:
        waiting = [
            PhoneOrder("Ann", (OrderLine("NUT", 30), OrderLine("VICE", 3))),
            PhoneOrder("Ben", (OrderLine("NUT", 20),)),
        ]
        problems = self.book.place_waiting(waiting)
        self.assertEqual(problems, ["Ann: VICE: 3 wanted, 2 available"])
        self.assertEqual([order.customer for order in self.book], ["Ben"])


if __name__ == "__main__":
    unittest.main()
