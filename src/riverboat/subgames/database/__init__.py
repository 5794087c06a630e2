"""Databases of solved endgames."""
