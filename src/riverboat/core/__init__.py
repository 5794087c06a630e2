"""Errors, validation, files, caches and formatting: the ground that every package builds on."""
