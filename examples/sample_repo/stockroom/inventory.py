"""Stock levels, reservations and the movement log.

For each SKU the inventory keeps two numbers:

- `on_hand`: pieces on the shelf;
- `reserved`: pieces on the shelf that belong to an open order.

The difference is what can still be sold. Reservations are kept by order
number, so that an order can be shipped or cancelled as a whole:

    reserve  ->  ship     on_hand and reserved go down
    reserve  ->  release  only reserved goes down

Every change is written to the movement log. The log is append-only; a
correction is a new entry, never a change of an old one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stockroom.models import (
    DuplicateSku,
    InsufficientStock,
    Movement,
    Product,
    UnknownSku,
)


class Inventory:
    """The stock of all products of one catalog."""

    def __init__(self, products: Iterable[Product]) -> None:
        self._products: dict[str, Product] = {}
        self._on_hand: dict[str, int] = {}
        self._reserved: dict[str, dict[str, int]] = {}
        self._movements: list[Movement] = []
        for product in products:
            if product.sku in self._products:
                raise DuplicateSku(product.sku)
            self._products[product.sku] = product
            self._on_hand[product.sku] = product.on_hand

    def __len__(self) -> int:
        return len(self._products)

    def __contains__(self, sku: object) -> bool:
        return sku in self._products

    def __iter__(self) -> Iterator[Product]:
        return iter(self._products.values())

    # -- looking things up -------------------------------------------------

    def product(self, sku: str) -> Product:
        """Return the catalog row of a SKU."""
        try:
            return self._products[sku]
        except KeyError:
            raise UnknownSku(sku) from None

    def on_hand(self, sku: str) -> int:
        """Return how many pieces are on the shelf, reserved ones included."""
        self.product(sku)
        return self._on_hand[sku]

    def reserved(self, sku: str) -> int:
        """Return how many pieces belong to open orders."""
        self.product(sku)
        return sum(lines.get(sku, 0) for lines in self._reserved.values())

    def available(self, sku: str) -> int:
        """Return how many pieces can still be sold."""
        return self.on_hand(sku) - self.reserved(sku)

    def reservations(self, reference: str) -> dict[str, int]:
        """Return what an order has reserved, by SKU."""
        return dict(self._reserved.get(reference, {}))

    def movements(self, sku: str | None = None) -> list[Movement]:
        """Return the movement log, of one SKU or of all of them."""
        if sku is None:
            return list(self._movements)
        return [entry for entry in self._movements if entry.sku == sku]

    def categories(self) -> list[str]:
        """Return the categories of the catalog, sorted."""
        return sorted({product.category for product in self})

    # -- goods in and corrections ------------------------------------------

    def receive(self, sku: str, quantity: int, reference: str = "delivery") -> None:
        """Book a delivery."""
        self._check_quantity(quantity)
        self.product(sku)
        self._on_hand[sku] += quantity
        self._log("receive", sku, quantity, reference)

    def adjust(self, sku: str, counted: int, reference: str = "count") -> int:
        """Set the pieces on hand to a counted number; return the difference.

        A count below the reserved pieces is refused, because an open order
        could then not be shipped.
        """
        if counted < self.reserved(sku):
            raise InsufficientStock(sku, self.reserved(sku), counted)
        difference = counted - self._on_hand[sku]
        if difference:
            self._on_hand[sku] = counted
            self._log("adjust", sku, difference, reference)
        return difference

    # -- reservations ------------------------------------------------------

    def reserve(self, reference: str, sku: str, quantity: int) -> None:
        """Reserve pieces of one SKU for an order.

        Reserving the same SKU twice for one order adds up.
        """
        self._check_quantity(quantity)
        free = self.available(sku)
        if quantity > free:
            raise InsufficientStock(sku, quantity, free)
        lines = self._reserved.setdefault(reference, {})
        lines[sku] = lines.get(sku, 0) + quantity
        self._log("reserve", sku, quantity, reference)

    def reserve_many(self, reference: str, wanted: Mapping[str, int]) -> None:
        """Reserve several SKUs for an order.

        Either every line is reserved or none is. What the order had reserved
        before the call stays as it was when a line cannot be filled.
        """
        for sku, quantity in wanted.items():
            self.reserve(reference, sku, quantity)

    def release(self, reference: str, sku: str, quantity: int) -> None:
        """Give reserved pieces of one SKU back."""
        self._check_quantity(quantity)
        self.product(sku)
        lines = self._reserved.get(reference, {})
        held = lines.get(sku, 0)
        if quantity > held:
            raise InsufficientStock(sku, quantity, held)
        lines[sku] = held - quantity
        if not lines[sku]:
            del lines[sku]
        if not lines:
            self._reserved.pop(reference, None)
        self._log("release", sku, quantity, reference)

    def release_all(self, reference: str) -> None:
        """Give back everything that an order has reserved."""
        for sku, quantity in self.reservations(reference).items():
            self.release(reference, sku, quantity)

    def ship(self, reference: str) -> dict[str, int]:
        """Take the reserved pieces of an order off the shelf.

        Returns what was shipped, by SKU. An order without reservations ships
        nothing.
        """
        lines = self._reserved.pop(reference, {})
        for sku, quantity in lines.items():
            self._on_hand[sku] -= quantity
            self._log("ship", sku, quantity, reference)
        return lines

    # -- helpers -----------------------------------------------------------

    @staticmethod
    def _check_quantity(quantity: int) -> None:
        """Refuse quantities that are not positive."""
        if quantity <= 0:
            raise ValueError(f"quantity must be positive, got {quantity}")

    def _log(self, kind: str, sku: str, quantity: int, reference: str) -> None:
        """Append one entry to the movement log."""
        self._movements.append(Movement(kind, sku, quantity, reference))
