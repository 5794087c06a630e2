"""Exact earth mover's distances between histograms over clusters without an order.

The distance is the cost of the cheapest transport of one histogram's mass to the other's. Two methods find it:
successive shortest paths, compiled, and a linear program for HiGHS. `potential_aware.greedy_distances` is the fast
approximation from above that k-means uses by default.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

from riverboat.abstraction.clustering._kernels import transport as kernels
from riverboat.abstraction.clustering.potential_aware import (
    GroundDistances,
    SparseHistograms,
    check_means,
    select_rows,
    transport_scratch,
)
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, unknown_name_error

TransportMethod: TypeAlias = Literal["paths", "lp"]


def exact_distances(
    points: SparseHistograms,
    rows: Array,
    means: Array,
    mean_index: Array,
    ground: GroundDistances,
    method: TransportMethod = "paths",
) -> Array:
    """Compute the exact earth mover's distances between hands and means.

    Parameters
    ----------
    points
        Histograms of the hands.
    rows
        int64 [pairs]: hands.
    means
        float [means, clusters]: histograms; their mass is scaled to that of the hands.
    mean_index
        int64 [pairs]: means.
    ground
        Distances between the clusters.
    method
        `paths`: successive shortest paths, compiled. `lp`: a linear program for each pair.

    Returns
    -------
    Array
        float64 [pairs]: costs of the cheapest transports.

    Raises
    ------
    InputError
        Means or histograms do not fit the ground distances, or the method is unknown.

    References
    ----------
    .. [1] Ahuja, Magnanti & Orlin, "Network flows", 1993, section 9.7.
    .. [2] Jonker & Volgenant, "A shortest augmenting path algorithm for dense and sparse linear assignment problems",
       Computing 1987.

    Examples
    --------
    >>> import numpy as np
    >>> from riverboat.abstraction.clustering.potential_aware import ground_distances, to_sparse
    >>> means = np.array([[0.0, 0.5, 0.5]])
    >>> exact_distances(to_sparse(np.eye(3)[:1]), [0], means, [0], ground_distances(np.eye(3))).tolist()
    [1.5]
    """
    means = check_means(points, means, ground)
    rows, mean_index = np.ascontiguousarray(rows, np.int64), np.ascontiguousarray(mean_index, np.int64)
    if method == "lp":
        pairs = zip(rows, mean_index, strict=True)
        return np.array([_linear_program(points, row, means[m], ground.distance) for row, m in pairs])
    if method != "paths":
        raise unknown_name_error("method", method, ("paths", "lp"))
    out = np.empty(len(rows))
    scratch = transport_scratch(points, means.shape[1])
    kernels.exact_distances(points, rows, mean_index, means, ground.distance, scratch, out)
    return out


def _linear_program(points: SparseHistograms, row: int, mean: Array, distance: Array) -> float:
    """Return the least cost of moving a point to a mean: min Σ f_ij d_ij with row sums, column sums and f >= 0."""
    point = select_rows(points, np.array([row]))
    columns = np.flatnonzero(mean)
    m, n = len(point.cluster), len(columns)
    cell = np.arange(m * n)
    # One equation for each row and column except the last, which follows from the others.
    sums = coo_array(
        (np.ones(2 * m * n), (np.concatenate([cell // n, m + cell % n]), np.concatenate([cell, cell]))),
        shape=(m + n, m * n),
    ).tocsr()[:-1]
    supply, demand = point.mass.astype(float), mean[columns].astype(float)
    mass = np.concatenate([supply, demand * (supply.sum() / demand.sum())])[:-1]
    cost = distance[np.ix_(point.cluster, columns)].astype(float).ravel()
    optimum = linprog(cost, A_eq=sums, b_eq=mass, method="highs")
    if optimum.status != 0:
        raise InputError(f"transport of hand {row}: {optimum.message}")
    return float(optimum.fun)
