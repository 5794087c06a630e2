"""Compiled kernels of strategies: arrays and scalars in, arrays out."""
