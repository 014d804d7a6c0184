"""Profiles: what a model or provider demands and charges.

Rules for thinking, order and cache come from ``configs/profiles``, prices and windows from litellm's price map, read as
a file.  A user's own values win over both, and what is assumed is said.
"""

from elision.profiles.lint import lint_profile
from elision.profiles.loading import load_profile
from elision.profiles.resolving import profile_for
from elision.profiles.values import (
    Cache,
    Images,
    Native,
    Order,
    Prices,
    Profile,
    Rates,
    Thinking,
    Tier,
    Tokens,
    Ttl,
    Window,
)

__all__ = [
    "Cache",
    "Images",
    "Native",
    "Order",
    "Prices",
    "Profile",
    "Rates",
    "Thinking",
    "Tier",
    "Tokens",
    "Ttl",
    "Window",
    "lint_profile",
    "load_profile",
    "profile_for",
]
