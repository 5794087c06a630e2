"""Opponent models in a blueprint's tree."""
