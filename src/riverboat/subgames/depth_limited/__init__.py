"""Depth-limited subgames: one street, with leaf values."""
