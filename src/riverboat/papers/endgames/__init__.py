"""Endgame solving: safe, nested, databases, refinements."""
