"""Profiles that ship: what a model or provider demands and charges."""
