"""Strategies as rules."""
