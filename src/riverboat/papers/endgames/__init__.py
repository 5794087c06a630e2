"""Endgame (subgame) solving: safe and nested methods, databases, refinements, search at the table."""
