"""Hands clustered by the move that is made with them, under what showdowns have proved and frequencies allow.

Section 4.3 of the thesis proposal: at a public history every move has a cluster of hands. A hand that was shown belongs to
the moves that were made with it, for certain; the clusters are as large as the moves are frequent; all other hands go to the
cluster that they are nearest to. This is k-means with constraints (Wagstaff & al. 2001; sizes as in Bradley, Bennett &
Demiriz 2000): centres and members are found in turn, members by a transport problem. A hand is a point: the share of
hands that it beats in the end, on the mean, and how far that spreads.
"""

from __future__ import annotations

import numpy as np

from riverboat.core.arrays import Array
from riverboat.opponents.dbbr import fit_l1

TURNS = 2  # of centres and members
SOFT = 0.05  # of a squared distance, in spreads of all hands: so far a hand may be from its cluster for little
STEPS = 100


def cluster(weights: Array, rows: Array, target: Array, points: Array, proved: Array) -> Array:
    """Shares of the moves for every bucket: Σ_b weights_b rows_b = target as far as what was proved allows.

    `rows` says where the clusters begin, and of the `proved` buckets what was shown, which stays. float64 [buckets, moves]
    """
    made = rows.copy()
    free = np.flatnonzero(~proved & (weights > 0))
    left = np.maximum(target - weights[proved] @ rows[proved], 0.0)
    if not len(free) or left.sum() <= 0:
        return made
    left *= weights[free].sum() / left.sum()
    spread = np.maximum(points.std(axis=0), 1e-9)
    places = points / spread
    for _ in range(TURNS):
        held = weights[:, None] * made
        centres = (held.T @ places) / np.maximum(held.sum(axis=0), 1e-12)[:, None]
        far = ((places[free, None, :] - centres[None]) ** 2).sum(axis=2)
        made[free] = transport(weights[free], left, far)
    return made


def transport(supply: Array, demand: Array, cost: Array) -> Array:
    """Shares of every supply that go to each demand at the least cost, a little softened; both sum to the same.

    Sinkhorn's iteration (Cuturi 2013). What it has not reached in the end is shared by all. float64 [supplies, demands]
    """
    near = np.exp(-(cost - cost.min(axis=1, keepdims=True)) / SOFT)
    scale = (demand > 0).astype(float)
    near[near @ scale < 1e-250] = 1.0  # whose only near cluster is empty
    for _ in range(STEPS):
        shares = near * scale
        shares /= shares.sum(axis=1, keepdims=True)
        sent = supply @ shares
        if np.abs(sent - demand).max() < 1e-9 * supply.sum():
            break
        scale = np.clip(scale * demand / np.maximum(sent, 1e-300), 0.0, 1e200)
        scale /= scale.max()
    return fit_l1(supply / supply.sum(), shares, demand / supply.sum())
