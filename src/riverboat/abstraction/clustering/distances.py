"""Distances between histograms over ordered bins.

Earth mover's distance counts how far mass has to travel, in bins, so that it knows that bin 5 is further from bin 1 than
bin 2 is; the Euclidean distance does not. Johanson et al. 2013 cluster hands by it.
"""

from __future__ import annotations

import numpy as np

from riverboat.core.errors import InputError
from riverboat.games.base import Array


def emd(first: Array, second: Array) -> Array:
    """Earth mover's distance over the last axis: the L1 distance of the cumulative sums, in widths of a bin.

    Histograms are float [..., bins] of equal mass; leading axes are broadcast.
    """
    first, second = np.asarray(first, float), np.asarray(second, float)
    if first.shape[-1] != second.shape[-1]:
        raise InputError(f"histograms of {first.shape[-1]} and {second.shape[-1]} bins: must have the same bins")
    carried = np.cumsum(first - second, axis=-1)
    if np.abs(carried[..., -1]).max(initial=0.0) > 1e-9 * max(1.0, float(np.abs(first).sum(axis=-1).max(initial=0.0))):
        raise InputError("histograms of different mass: normalise them first")
    distance: Array = np.abs(carried[..., :-1]).sum(axis=-1)
    return distance


def euclidean(first: Array, second: Array) -> Array:
    """L2 distance over the last axis. float [...]"""
    distance: Array = np.sqrt(np.square(np.asarray(first, float) - np.asarray(second, float)).sum(axis=-1))
    return distance
