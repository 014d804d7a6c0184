"""Frameworks that Elision is plugged into, one a file."""
