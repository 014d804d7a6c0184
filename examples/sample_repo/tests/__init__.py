"""Tests of the stockroom package."""
