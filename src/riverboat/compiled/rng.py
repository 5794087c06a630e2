"""Random numbers for compiled loops.

Sequential numbers come from a state that the caller owns, so that runs can be repeated and resumed. Counter-based
numbers come from a key: number k is the same whenever and wherever it is computed.
"""

from __future__ import annotations

import numpy as np

from riverboat.compiled.jit import inline

_MATCH_SALT = 0x6D61746368657331  # separates matches from training with the same seed


@inline
def random(state):  # type: ignore[no-untyped-def]  # uint64 [1] INOUT
    """Return a uniform number in [0, 1) by splitmix64 (Steele, Lea & Flood 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@inline
def random_bits(key, k):  # type: ignore[no-untyped-def]  # uint64
    """Return random number k of a key, 64 bits: splitmix64 with random access."""
    z = key + (np.uint64(k) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def match_key(seed: int) -> np.uint64:
    """Return the key of a match with a seed, whose deals differ from those of training with the same seed."""
    return np.uint64((seed ^ _MATCH_SALT) % 2**64)
