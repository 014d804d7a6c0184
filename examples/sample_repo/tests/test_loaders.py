"""Tests of the readers for the catalog, the orders and the settings."""

import unittest
from decimal import Decimal

from stockroom.config import load_settings, parse_settings
from stockroom.loaders import dump_catalog, load_catalog, load_orders, parse_catalog, parse_orders
from stockroom.models import BadRecord, DuplicateSku, OrderLine

HEADER = "sku,name,category,unit_price,on_hand,reorder_point\n"
TWO_ROWS = HEADER + 'bolt-1, Bolt one ,Bolts,0.40,"1,200",50\nnut-1,Nut one,nuts,0.05,300,80\n'


class ParseCatalogTest(unittest.TestCase):
    def test_every_row_is_read(self) -> None:
        products = parse_catalog(TWO_ROWS)
        self.assertEqual([product.sku for product in products], ["BOLT-1", "NUT-1"])

    def test_total_row_of_an_old_export_is_skipped(self) -> None:
        products = parse_catalog(TWO_ROWS + 'TOTAL,all products,all,0.00,"1,500",0\n')
        self.assertEqual([product.sku for product in products], ["BOLT-1", "NUT-1"])

    def test_fields_are_cleaned(self) -> None:
        first = parse_catalog(TWO_ROWS)[0]
        self.assertEqual(first.name, "Bolt one")
        self.assertEqual(first.category, "bolts")
        self.assertEqual(first.on_hand, 1200)
        self.assertEqual(first.unit_price, Decimal("0.40"))

    def test_no_rows(self) -> None:
        self.assertEqual(parse_catalog(HEADER), [])

    def test_missing_column(self) -> None:
        with self.assertRaises(BadRecord) as caught:
            parse_catalog("sku,name,category,unit_price,on_hand\n")
        self.assertEqual(caught.exception.reason, "missing column reorder_point")

    def test_bad_number_in_the_last_row(self) -> None:
        with self.assertRaises(BadRecord) as caught:
            parse_catalog(TWO_ROWS + "nut-2,Nut two,nuts,0.05,many,80\n")
        self.assertEqual(caught.exception.where, "catalog line 4")

    def test_duplicate(self) -> None:
        with self.assertRaises(DuplicateSku):
            parse_catalog(TWO_ROWS + "bolt-1,Bolt again,bolts,0.40,1,1\n")

    def test_dump_and_parse_give_the_same_products(self) -> None:
        products = parse_catalog(TWO_ROWS)
        self.assertEqual(parse_catalog(dump_catalog(products)), products)
        self.assertEqual(len(products), 2)


class ParseOrdersTest(unittest.TestCase):
    def test_order(self) -> None:
        text = '[{"customer": " Ann ", "lines": [{"sku": "bolt-1", "quantity": 4}]}]'
        (order,) = parse_orders(text)
        self.assertEqual(order.customer, "Ann")
        self.assertEqual(order.lines, (OrderLine("BOLT-1", 4),))

    def test_not_a_list(self) -> None:
        with self.assertRaises(BadRecord):
            parse_orders("{}")

    def test_bad_lines(self) -> None:
        for line in ('{"sku": "A"}', '{"sku": "A", "quantity": 0}', '"A"'):
            with self.assertRaises(BadRecord):
                parse_orders('[{"customer": "Ann", "lines": [' + line + "]}]")

    def test_no_lines(self) -> None:
        with self.assertRaises(BadRecord):
            parse_orders('[{"customer": "Ann", "lines": []}]')


class FilesTest(unittest.TestCase):
    """The files in data/ and config/."""

    def setUp(self) -> None:
        self.settings = load_settings()

    def test_catalog_has_all_products(self) -> None:
        products = load_catalog(self.settings.catalog_file)
        self.assertEqual(len(products), 57)
        self.assertEqual(products[-1].sku, "WRENCH-SET")

    def test_every_ordered_sku_is_in_the_catalog(self) -> None:
        known = {product.sku for product in load_catalog(self.settings.catalog_file)}
        orders = load_orders(self.settings.orders_file)
        unknown = {line.sku for order in orders for line in order.lines} - known
        self.assertEqual(unknown, set())

    def test_settings(self) -> None:
        self.assertEqual(self.settings.tax_rate, Decimal("0.20"))
        self.assertEqual([tier.min_quantity for tier in self.settings.tiers], [10, 50, 200])

    def test_settings_without_a_table(self) -> None:
        with self.assertRaises(BadRecord):
            parse_settings('[store]\nname = "x"\ncurrency = "EUR"\n')


if __name__ == "__main__":
    unittest.main()
