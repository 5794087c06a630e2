"""Opponent models, exploitative responses, and safe exploitation."""
