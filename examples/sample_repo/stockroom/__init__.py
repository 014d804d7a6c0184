"""Stock levels, orders and prices for a small workshop supplier."""

__version__ = "0.3.1"
