"""Who is in a cluster: the members nearest to its centre and farthest from it, and how far they are on average."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riverboat.abstraction.clustering._kernels import kmeans as kernels
from riverboat.abstraction.clustering.kmeans import Clusters, _check, _Work
from riverboat.cards.equity.equities import spread
from riverboat.core.arrays import Array


@dataclass(frozen=True, eq=False)
class Members:
    """How far the points of each cluster are from its centre; -1 and zero for empty clusters."""

    spread: Array  # float32 [k]: weighted mean distance
    nearest: Array  # int64 [k]: points
    farthest: Array  # int64 [k]


def members(points: Array, weights: Array | None, clusters: Clusters, metric: str, threads: int = 1) -> Members:
    """The nearest and the farthest point of each cluster, and the mean distance in it."""
    k = len(clusters.centres)
    n, weight = _check(points, weights, k, metric)
    work = _Work(points, weight, k, metric == "emd", threads, True)
    rows = work.rows(clusters.centres)

    def block(part: slice) -> tuple[Array, ...]:
        ends, who, total = np.tile([np.inf, -np.inf], (k, 1)), np.full((k, 2), -1, np.int64), np.zeros((k, 2))
        scratch = np.zeros(work.width, np.float32)
        kernels.measure(work.sample(part), rows, clusters.labels[part], scratch, ends, who, total)
        return ends, np.where(who >= 0, who + part.start, -1), total

    answers = spread(block, n, threads, chunk=work.chunk)
    ends, who, total = (np.stack([a[j] for a in answers]) for j in range(3))
    near, far, every = ends[..., 0].argmin(axis=0), ends[..., 1].argmax(axis=0), np.arange(k)
    sums = total.sum(axis=0)
    mean = np.divide(sums[:, 0], sums[:, 1], out=np.zeros(k), where=sums[:, 1] > 0)
    return Members(mean.astype(np.float32), who[near, every, 0], who[far, every, 1])


def extremes(distance: Array, weights: Array, labels: Array, k: int) -> Members:
    """The same from the distances of all points to their own centres. float [n], float [n], int [n]"""
    size, total = np.bincount(labels, weights, k), np.bincount(labels, weights * distance, k)
    order = np.lexsort((distance, labels))
    ends = np.searchsorted(labels[order], np.arange(k + 1))
    some = ends[1:] > ends[:-1]
    nearest, farthest = np.full(k, -1), np.full(k, -1)
    nearest[some], farthest[some] = order[ends[:-1][some]], order[ends[1:][some] - 1]
    mean = np.divide(total, size, out=np.zeros(k), where=size > 0)
    return Members(mean.astype(np.float32), nearest, farthest)
