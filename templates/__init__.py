"""Jinja2 templates; read through importlib.resources only."""
