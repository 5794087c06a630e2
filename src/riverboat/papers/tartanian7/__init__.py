"""Tartanian7: hierarchical abstraction and distributed equilibrium finding."""
