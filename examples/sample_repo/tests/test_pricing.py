"""Tests of discounts, shipping, tax and rounding."""

import unittest
from decimal import Decimal

from stockroom.config import load_settings
from stockroom.models import OrderLine, Product, Tier, UnknownSku
from stockroom.pricing import (
    discount_percent,
    format_money,
    format_quote,
    make_quote,
    merge_lines,
    price_line,
    round_money,
    shipping_cost,
)

TIERS = (
    Tier(10, Decimal(3)),
    Tier(50, Decimal(7)),
    Tier(200, Decimal(12)),
)


def product(sku: str = "BOLT", price: str = "0.40") -> Product:
    return Product(sku, "a product", "bolts", Decimal(price), 100, 10)


class RoundMoneyTest(unittest.TestCase):
    def test_half_cents_go_up(self) -> None:
        self.assertEqual(round_money(Decimal("2.125")), Decimal("2.13"))

    def test_less_than_half_goes_down(self) -> None:
        self.assertEqual(round_money(Decimal("2.1249")), Decimal("2.12"))

    def test_whole_amounts_get_two_decimals(self) -> None:
        self.assertEqual(str(round_money(Decimal(7))), "7.00")


class DiscountPercentTest(unittest.TestCase):
    def test_no_tiers(self) -> None:
        self.assertEqual(discount_percent(1000, ()), 0)

    def test_below_the_first_tier(self) -> None:
        self.assertEqual(discount_percent(9, TIERS), 0)

    def test_exactly_the_first_tier(self) -> None:
        self.assertEqual(discount_percent(10, TIERS), 3)

    def test_just_below_the_second_tier(self) -> None:
        self.assertEqual(discount_percent(49, TIERS), 3)

    def test_exactly_the_second_tier(self) -> None:
        self.assertEqual(discount_percent(50, TIERS), 7)

    def test_exactly_the_last_tier(self) -> None:
        self.assertEqual(discount_percent(200, TIERS), 12)

    def test_far_above_the_last_tier(self) -> None:
        self.assertEqual(discount_percent(5000, TIERS), 12)

    def test_order_of_the_tiers_does_not_matter(self) -> None:
        self.assertEqual(discount_percent(60, TIERS[::-1]), 7)


class PriceLineTest(unittest.TestCase):
    def test_without_discount(self) -> None:
        line = price_line(OrderLine("BOLT", 5), product(), TIERS)
        self.assertEqual(line.amount, Decimal("2.00"))

    def test_with_discount(self) -> None:
        line = price_line(OrderLine("BOLT", 50), product(), TIERS)
        self.assertEqual(line.amount, Decimal("18.60"))

    def test_quantity_must_be_positive(self) -> None:
        with self.assertRaises(ValueError):
            price_line(OrderLine("BOLT", 0), product(), TIERS)


class ShippingTest(unittest.TestCase):
    def setUp(self) -> None:
        self.settings = load_settings()

    def test_small_order_pays(self) -> None:
        self.assertEqual(shipping_cost(Decimal("149.99"), self.settings), Decimal("6.90"))

    def test_limit_is_free(self) -> None:
        self.assertEqual(shipping_cost(Decimal("150.00"), self.settings), 0)

    def test_empty_order_is_free(self) -> None:
        self.assertEqual(shipping_cost(Decimal("0.00"), self.settings), 0)


class QuoteTest(unittest.TestCase):
    def setUp(self) -> None:
        self.settings = load_settings()
        self.products = {"BOLT": product(), "VICE": product("VICE", "64.00")}

    def lookup(self, sku: str) -> Product:
        try:
            return self.products[sku]
        except KeyError:
            raise UnknownSku(sku) from None

    def test_small_quote(self) -> None:
        quote = make_quote([OrderLine("BOLT", 5)], self.lookup, self.settings)
        self.assertEqual(quote.goods, Decimal("2.00"))
        self.assertEqual(quote.shipping, Decimal("6.90"))
        self.assertEqual(quote.tax, Decimal("1.78"))
        self.assertEqual(quote.total, Decimal("10.68"))

    def test_free_shipping(self) -> None:
        quote = make_quote([OrderLine("VICE", 3)], self.lookup, self.settings)
        self.assertEqual(quote.shipping, 0)
        self.assertEqual(quote.total, Decimal("230.40"))

    def test_split_lines_get_the_discount_of_their_sum(self) -> None:
        lines = [OrderLine("BOLT", 4), OrderLine("VICE", 1), OrderLine("BOLT", 6)]
        quote = make_quote(lines, self.lookup, self.settings)
        self.assertEqual(quote.lines[0].discount_percent, 3)
        self.assertEqual(quote.lines[0].amount, Decimal("3.88"))

    def test_unknown_sku(self) -> None:
        with self.assertRaises(UnknownSku):
            make_quote([OrderLine("ROPE", 1)], self.lookup, self.settings)

    def test_text_of_a_quote(self) -> None:
        quote = make_quote([OrderLine("VICE", 3)], self.lookup, self.settings)
        text = format_quote(quote, "EUR")
        self.assertIn("VICE                 3 x    64.00  - 0%      192.00", text)
        self.assertTrue(text.endswith("230.40 EUR"))


class HelperTest(unittest.TestCase):
    def test_merge_keeps_the_first_position(self) -> None:
        lines = [OrderLine("A", 1), OrderLine("B", 2), OrderLine("A", 3)]
        self.assertEqual(merge_lines(lines), [OrderLine("A", 4), OrderLine("B", 2)])

    def test_format_money(self) -> None:
        self.assertEqual(format_money(Decimal("1234.5"), "EUR"), "1,234.50 EUR")


if __name__ == "__main__":
    unittest.main()
