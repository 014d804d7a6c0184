"""The provider's cache: what of earlier requests it finds again, what a request costs, and where marks pay."""
