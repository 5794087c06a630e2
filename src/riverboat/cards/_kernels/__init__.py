"""Compiled kernels of card isomorphism and hand ranking: arrays and scalars in, arrays out."""
