"""Data classes of the package and the errors that it raises."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum


class StockroomError(Exception):
    """Base class of every error that this package raises on purpose."""


class UnknownSku(StockroomError):
    """A SKU that is not in the catalog."""

    def __init__(self, sku: str) -> None:
        super().__init__(f"unknown SKU {sku!r}")
        self.sku = sku


class DuplicateSku(StockroomError):
    """A SKU that occurs twice in one catalog."""

    def __init__(self, sku: str) -> None:
        super().__init__(f"SKU {sku!r} occurs more than once")
        self.sku = sku


class InsufficientStock(StockroomError):
    """More pieces were asked for than are available."""

    def __init__(self, sku: str, wanted: int, available: int) -> None:
        super().__init__(f"{sku}: {wanted} wanted, {available} available")
        self.sku = sku
        self.wanted = wanted
        self.available = available


class BadRecord(StockroomError):
    """A row or an entry of an input file that cannot be read."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}")
        self.where = where
        self.reason = reason


class OrderStateError(StockroomError):
    """An action that the state of the order does not allow."""

    def __init__(self, number: str, action: str, status: OrderStatus) -> None:
        super().__init__(f"cannot {action} order {number}: it is {status.value}")
        self.number = number
        self.action = action
        self.status = status


class UnknownOrder(StockroomError):
    """An order number that is not in the order book."""

    def __init__(self, number: str) -> None:
        super().__init__(f"unknown order {number!r}")
        self.number = number


class OrderStatus(Enum):
    """The states of an order."""

    OPEN = "open"
    SHIPPED = "shipped"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Product:
    """One row of the catalog."""

    sku: str
    name: str
    category: str
    unit_price: Decimal
    on_hand: int
    reorder_point: int

    @property
    def value(self) -> Decimal:
        """Value of the pieces on hand at the list price."""
        return self.unit_price * self.on_hand


@dataclass(frozen=True)
class Tier:
    """A quantity discount: `percent` off from `min_quantity` pieces on."""

    min_quantity: int
    percent: Decimal


@dataclass(frozen=True)
class OrderLine:
    """A SKU and how many pieces of it are ordered."""

    sku: str
    quantity: int


@dataclass(frozen=True)
class PricedLine:
    """An order line with its prices."""

    sku: str
    quantity: int
    unit_price: Decimal
    discount_percent: Decimal
    amount: Decimal


@dataclass(frozen=True)
class Quote:
    """The prices of a whole order."""

    lines: tuple[PricedLine, ...]
    goods: Decimal
    shipping: Decimal
    tax: Decimal
    total: Decimal


@dataclass(frozen=True)
class Movement:
    """One entry of the movement log of the inventory."""

    kind: str
    sku: str
    quantity: int
    reference: str


@dataclass
class Order:
    """An order of a customer."""

    number: str
    customer: str
    lines: list[OrderLine]
    quote: Quote
    status: OrderStatus = OrderStatus.OPEN
    notes: list[str] = field(default_factory=list)

    def quantity_of(self, sku: str) -> int:
        """Return how many pieces of a SKU the order holds."""
        return sum(line.quantity for line in self.lines if line.sku == sku)
