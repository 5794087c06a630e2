"""Earth mover's distances: exact, as a linear program, and the greedy approximation of the paper."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

from riverboat.core.arrays import Array


def exact(p: Array, q: Array, distance: Array) -> float:
    """The least cost of moving p to q: min Σ f_ij d_ij with row sums p, column sums q and f >= 0."""
    rows, columns = np.flatnonzero(p), np.flatnonzero(q)
    m, n = len(rows), len(columns)
    cell = np.arange(m * n)
    # One equation for each row and column except the last, which follows from the others.
    sums = coo_array(
        (np.ones(2 * m * n), (np.concatenate([cell // n, m + cell % n]), np.concatenate([cell, cell]))),
        shape=(m + n, m * n),
    ).tocsr()[:-1]
    mass = np.concatenate([p[rows] / p.sum(), q[columns] / q.sum()])[:-1]
    result = linprog(distance[np.ix_(rows, columns)].ravel(), A_eq=sums, b_eq=mass, method="highs")
    assert result.success, result.message
    return float(result.fun)


def greedy(p: Array, mean: Array, distance: Array) -> float:
    """Ganzfried & Sandholm 2014, Algorithm 2: rank by rank, every entry takes from its next nearest cluster of the
    mean.

    Mass leaves the mean before the entry's target is set to zero; the printed lines have the opposite order.
    """
    entries = np.flatnonzero(p)
    targets = {j: float(p[j]) for j in entries}
    left = {c: float(mean[c]) for c in np.flatnonzero(mean)}
    by_distance = {j: sorted(left, key=lambda c: (distance[j, c], c != j, c)) for j in entries}
    cost = 0.0
    for rank in range(len(left)):
        for j in entries:
            if targets[j] > 0:
                c = by_distance[j][rank]
                amount = min(left[c], targets[j])
                cost += amount * distance[j, c]
                left[c] -= amount
                targets[j] -= amount
    return cost
