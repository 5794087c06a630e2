"""Errors, validation, files, caches, formatting: what every package uses."""
