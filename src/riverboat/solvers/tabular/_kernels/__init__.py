"""Compiled CFR loops: arrays and scalars in, arrays out."""
