"""Compiled kernels of runouts and showdowns: arrays and scalars in, arrays out."""
