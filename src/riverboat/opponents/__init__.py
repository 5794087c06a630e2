"""Opponent models, responses to them, and safe exploitation."""
