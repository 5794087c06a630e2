"""Compiled passes over strategy tables."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def normalise(
    actor,  # int8 [nodes]
    width,  # int16 [nodes]
    data,  # int64 [nodes]
    hands,  # int64 [players]
    sums,  # float [table], not negative
    out,  # float64 [table] OUT: each information set sums to one, uniform where all is zero
):
    """Turn accumulated weights into probabilities."""
    for n in range(len(actor)):
        if actor[n] < 0:
            continue
        count = hands[actor[n]]
        for h in range(count):
            total = 0.0
            for a in range(width[n]):
                total += sums[data[n] + a * count + h]
            for a in range(width[n]):
                at = data[n] + a * count + h
                if total > 0:
                    out[at] = sums[at] / total
                else:
                    out[at] = 1.0 / width[n]
