"""Compiled passes over strategy tables."""

from __future__ import annotations

from riverboat.compiled.jit import kernel

FADED = 1e-290  # weights that sum to less count as none: one over them would overflow


@kernel
def normalise(
    actor,  # int8 [nodes]
    width,  # int16 [nodes]
    data,  # int64 [nodes]
    me,
    sums,  # float [rows, hands], not negative
    out,  # float64 [rows, hands] OUT: each information set sums to one, uniform where all is zero
):
    """Turn a player's accumulated weights into probabilities."""
    for n in range(len(actor)):
        if actor[n] != me:
            continue
        at = data[n]
        for h in range(sums.shape[1]):
            total = 0.0
            for a in range(width[n]):
                total += sums[at + a, h]
            for a in range(width[n]):
                if total > FADED:
                    out[at + a, h] = sums[at + a, h] / total
                else:
                    out[at + a, h] = 1.0 / width[n]
