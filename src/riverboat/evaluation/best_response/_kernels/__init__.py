"""Compiled loops of best responses: arrays and scalars in, arrays out."""
