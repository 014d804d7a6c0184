"""Chains in YAML: loading, linting, and the schema for editors."""

from elision.config.json_schema import schema
from elision.config.loading import lint, lint_file, load, loads
from elision.config.sources import shipped_chains

__all__ = ["lint", "lint_file", "load", "loads", "schema", "shipped_chains"]
