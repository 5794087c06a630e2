"""Subgame solving in two-round hold'em."""
