"""Compilation and caching of loops, and their building blocks: SIMD vectors, atomics, random numbers."""
