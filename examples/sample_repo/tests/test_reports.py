"""Tests of the reports, the public functions and the command line."""

import contextlib
import io
import unittest
from decimal import Decimal

from stockroom import api, cli
from stockroom.inventory import Inventory
from stockroom.models import Product
from stockroom.reports import category_sums, table, valuation_by_category, valuation_by_product


def small_inventory() -> Inventory:
    return Inventory(
        [
            Product("NUT", "Nut", "nuts", Decimal("0.05"), 400, 100),
            Product("BOLT", "Bolt", "bolts", Decimal("0.40"), 1000, 100),
            Product("STUD", "Stud", "bolts", Decimal("1.25"), 10, 5),
        ]
    )


class TableTest(unittest.TestCase):
    def test_alignment(self) -> None:
        text = table(("name", "n"), [("a", "1"), ("longer", "100")])
        self.assertEqual(text, "name      n\n------  ---\na         1\nlonger  100")

    def test_no_rows(self) -> None:
        self.assertEqual(table(("name", "n"), []), "name  n\n----  -")


class ValuationTest(unittest.TestCase):
    def test_sums(self) -> None:
        bolts, nuts = category_sums(small_inventory())
        self.assertEqual((bolts.products, bolts.pieces), (2, 1010))
        self.assertEqual(bolts.value, Decimal("412.50"))
        self.assertEqual(nuts.value, Decimal("20.00"))

    def test_by_category(self) -> None:
        text = valuation_by_category(small_inventory(), "EUR")
        self.assertTrue(text.endswith("total: 432.50 EUR"))

    def test_by_product_is_sorted(self) -> None:
        lines = valuation_by_product(small_inventory(), "EUR").splitlines()
        self.assertEqual([line.split()[0] for line in lines[2:5]], ["BOLT", "NUT", "STUD"])


class ApiTest(unittest.TestCase):
    """The public functions, on the files in data/."""

    def setUp(self) -> None:
        self.store = api.open_store()

    def test_public_names(self) -> None:
        for name in api.__all__:
            self.assertTrue(hasattr(api, name), name)

    def test_waiting_orders(self) -> None:
        self.assertEqual(len(self.store.orders), 10)
        self.assertEqual(
            self.store.problems,
            [
                "Petra Novak: NUT-M6: 120 wanted, 96 available",
                "Umbra Stage Hire: CLAMP-600: 8 wanted, 5 available",
            ],
        )

    def test_refused_waiting_order_blocks_nothing(self) -> None:
        self.assertEqual(self.store.inventory.available("DRILL-8"), 6)

    def test_quote(self) -> None:
        quote = api.quote_order(self.store, {"WRENCH-SET": 1, "CLAMP-150": 10})
        self.assertEqual(quote.goods, Decimal("165.33"))
        self.assertEqual(quote.shipping, 0)

    def test_place_and_cancel(self) -> None:
        before = self.store.inventory.available("TAPE-50")
        order = api.place_order(self.store, "Ann", {"TAPE-50": 5})
        api.cancel_order(self.store, order.number)
        self.assertEqual(self.store.inventory.available("TAPE-50"), before)

    def test_report_by_something_else(self) -> None:
        with self.assertRaises(ValueError):
            api.stock_report(self.store, by="colour")


class CommandLineTest(unittest.TestCase):
    def call(self, *argv: str) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = cli.main(argv)
        return code, out.getvalue(), err.getvalue()

    def test_stock(self) -> None:
        code, out, err = self.call("stock", "vice-100")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("available       4", out)

    def test_stock_of_the_last_product(self) -> None:
        code, out, err = self.call("stock", "WRENCH-SET")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("reserved        2", out)

    def test_unknown_sku(self) -> None:
        code, _, err = self.call("stock", "ROPE")
        self.assertEqual((code, err), (1, "stockroom: unknown SKU 'ROPE'\n"))

    def test_quote(self) -> None:
        code, out, err = self.call("quote", "DRILL-10=10")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("- 3%       72.27", out)

    def test_bad_item(self) -> None:
        code, _, err = self.call("quote", "DRILL-10")
        self.assertEqual(code, 1)
        self.assertIn("expected SKU=QUANTITY", err)

    def test_orders(self) -> None:
        code, out, _ = self.call("orders")
        self.assertEqual(code, 0)
        self.assertIn("not placed:", out)


if __name__ == "__main__":
    unittest.main()
