"""Tests of stock levels, reservations and the movement log."""

import unittest
from decimal import Decimal

from stockroom.inventory import Inventory
from stockroom.models import DuplicateSku, InsufficientStock, Movement, Product, UnknownSku


def product(sku: str, on_hand: int, category: str = "bolts") -> Product:
    return Product(sku, f"product {sku}", category, Decimal("1.00"), on_hand, 10)


class InventoryTestCase(unittest.TestCase):
    """Base class with an inventory of three products."""

    def setUp(self) -> None:
        self.inventory = Inventory(
            [product("A", 100), product("B", 20), product("C", 5, category="nuts")]
        )


class LookupTest(InventoryTestCase):
    def test_length(self) -> None:
        self.assertEqual(len(self.inventory), 3)

    def test_contains(self) -> None:
        self.assertIn("A", self.inventory)
        self.assertNotIn("Z", self.inventory)

    def test_unknown_sku(self) -> None:
        with self.assertRaises(UnknownSku):
            self.inventory.available("Z")

    def test_duplicate_sku(self) -> None:
        with self.assertRaises(DuplicateSku):
            Inventory([product("A", 1), product("A", 2)])

    def test_categories_are_sorted(self) -> None:
        self.assertEqual(self.inventory.categories(), ["bolts", "nuts"])


class GoodsInTest(InventoryTestCase):
    def test_receive(self) -> None:
        self.inventory.receive("C", 45)
        self.assertEqual(self.inventory.on_hand("C"), 50)

    def test_receive_needs_a_positive_quantity(self) -> None:
        with self.assertRaises(ValueError):
            self.inventory.receive("C", 0)

    def test_adjust_returns_the_difference(self) -> None:
        self.assertEqual(self.inventory.adjust("B", 17), -3)
        self.assertEqual(self.inventory.on_hand("B"), 17)

    def test_adjust_below_the_reserved_pieces_is_refused(self) -> None:
        self.inventory.reserve("SO-1", "B", 10)
        with self.assertRaises(InsufficientStock):
            self.inventory.adjust("B", 9)

    def test_adjust_without_difference_is_not_logged(self) -> None:
        self.inventory.adjust("B", 20)
        self.assertEqual(self.inventory.movements(), [])


class ReserveTest(InventoryTestCase):
    def test_reserve(self) -> None:
        self.inventory.reserve("SO-1", "A", 30)
        self.assertEqual(self.inventory.on_hand("A"), 100)
        self.assertEqual(self.inventory.reserved("A"), 30)
        self.assertEqual(self.inventory.available("A"), 70)

    def test_reserve_everything(self) -> None:
        self.inventory.reserve("SO-1", "C", 5)
        self.assertEqual(self.inventory.available("C"), 0)

    def test_reserve_too_much(self) -> None:
        with self.assertRaises(InsufficientStock) as caught:
            self.inventory.reserve("SO-1", "C", 6)
        self.assertEqual(caught.exception.available, 5)

    def test_two_orders_share_the_stock(self) -> None:
        self.inventory.reserve("SO-1", "B", 12)
        with self.assertRaises(InsufficientStock):
            self.inventory.reserve("SO-2", "B", 9)
        self.inventory.reserve("SO-2", "B", 8)
        self.assertEqual(self.inventory.available("B"), 0)

    def test_release_all(self) -> None:
        self.inventory.reserve("SO-1", "A", 30)
        self.inventory.reserve("SO-1", "B", 2)
        self.inventory.release_all("SO-1")
        self.assertEqual(self.inventory.reservations("SO-1"), {})
        self.assertEqual(self.inventory.available("A"), 100)

    def test_release_more_than_reserved(self) -> None:
        self.inventory.reserve("SO-1", "A", 3)
        with self.assertRaises(InsufficientStock):
            self.inventory.release("SO-1", "A", 4)

    def test_ship(self) -> None:
        self.inventory.reserve("SO-1", "A", 30)
        self.assertEqual(self.inventory.ship("SO-1"), {"A": 30})
        self.assertEqual(self.inventory.on_hand("A"), 70)
        self.assertEqual(self.inventory.reserved("A"), 0)


class ReserveManyTest(InventoryTestCase):
    def test_all_lines(self) -> None:
        self.inventory.reserve_many("SO-1", {"A": 10, "B": 20})
        self.assertEqual(self.inventory.reservations("SO-1"), {"A": 10, "B": 20})

    def test_no_line_when_one_cannot_be_filled(self) -> None:
        with self.assertRaises(InsufficientStock):
            self.inventory.reserve_many("SO-1", {"A": 10, "C": 6})
        self.assertEqual(self.inventory.reservations("SO-1"), {})

    def test_no_line_when_one_is_unknown(self) -> None:
        with self.assertRaises(UnknownSku):
            self.inventory.reserve_many("SO-1", {"A": 10, "Z": 1})
        self.assertEqual(self.inventory.available("A"), 100)

    def test_earlier_reservations_stay(self) -> None:
        self.inventory.reserve("SO-1", "A", 7)
        with self.assertRaises(InsufficientStock):
            self.inventory.reserve_many("SO-1", {"C": 6})
        self.assertEqual(self.inventory.reservations("SO-1"), {"A": 7})

    def test_a_refused_order_leaves_no_movement(self) -> None:
        with self.assertRaises(InsufficientStock):
            self.inventory.reserve_many("SO-1", {"A": 10, "C": 6})
        self.assertEqual(self.inventory.movements(), [])


class MovementTest(InventoryTestCase):
    def test_log_of_an_order(self) -> None:
        self.inventory.reserve("SO-1", "A", 30)
        self.inventory.ship("SO-1")
        self.assertEqual(
            self.inventory.movements("A"),
            [Movement("reserve", "A", 30, "SO-1"), Movement("ship", "A", 30, "SO-1")],
        )

    def test_log_of_one_sku(self) -> None:
        self.inventory.receive("A", 1)
        self.inventory.receive("B", 2)
        self.assertEqual(self.inventory.movements("B"), [Movement("receive", "B", 2, "delivery")])


if __name__ == "__main__":
    unittest.main()
