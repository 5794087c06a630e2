"""Hands on record, as arrays."""
