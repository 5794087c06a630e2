"""Duplicate matches, blueprint duels, AIVAT and sequential tests."""
