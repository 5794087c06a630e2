"""Endgames solved again, better than the base strategy plays them."""
