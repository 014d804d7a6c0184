"""YAML that ships; read through importlib.resources only."""
