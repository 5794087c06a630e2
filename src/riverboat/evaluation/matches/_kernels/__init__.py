"""Compiled loops of matches and AIVAT: arrays and scalars in, arrays out."""
