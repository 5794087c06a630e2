"""Random numbers for compiled loops: from a state that the caller keeps, so that runs can be repeated and resumed, or from
a key, so that number k is the same whenever and wherever it is asked for.
"""

from __future__ import annotations

import numpy as np

from riverboat.compiled.jit import part

_MATCHES = 0x6D61746368657331  # tells matches of a seed from training with it


@part
def random(state):  # type: ignore[no-untyped-def]  # uint64 [1] INOUT
    """Uniform in [0, 1): splitmix64 (Steele, Lea & Flood 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@part
def draw(key, k):  # type: ignore[no-untyped-def]  # uint64
    """Random number k of a key, 64 bits: splitmix64 from any place."""
    z = key + (np.uint64(k) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def match_key(seed: int) -> np.uint64:
    """The key of a match of a seed: its deals are not those that training with the same seed has learnt from."""
    return np.uint64((seed ^ _MATCHES) % 2**64)
