"""Duplicate matches, duels, AIVAT and sequential tests."""
