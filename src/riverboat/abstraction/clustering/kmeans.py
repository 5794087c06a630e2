"""Weighted k-means of hands, at the size of all of hold'em.

`l2` is Lloyd's algorithm on vectors such as OCHS. `emd` is for histograms over ordered bins: points go to the centre at the
smallest earth mover's distance, and a centre is the weighted mean of its histograms, as in Johanson et al. 2013 and in
Ganzfried & Sandholm 2014. That mean does not minimise the distance (a median of the cumulative histograms does, `medians`),
so the cost may rise between iterations: the best centres that were seen are kept.

The result depends on the seed and not on the number of threads: points are summed in fixed blocks, and blocks in order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple, TypeAlias

import numpy as np

from riverboat.abstraction.clustering._kernels import kmeans as kernels
from riverboat.cards.equity.equities import spread
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, check_threads, unknown

METRICS = ("emd", "l2")
DTYPES = ("float16", "float32", "uint16", "uint8")
NEIGHBOURS = 256  # of each centre, by distance; a search that needs more compares with all
BLOCKS = 64  # of points, each with sums of its own
_ROOM = 1 << 28  # bytes for those sums
REFINE = 12  # passes from means to medians
SETTLED = 2e-4  # of the cost: medians move on while it falls by more in a pass, also where no point changes centres
_LANES = 8  # rows are filled up to whole vectors


class Step(NamedTuple):
    """Where the work is."""

    stage: str  # "seed", "sample" or "whole"
    restart: int  # from 0
    iteration: int  # from 1; 0 while seeding
    done: float  # share of this iteration
    cost: float  # mean distance after the last whole iteration, NaN before
    changed: float  # share of the weight that went to another centre in it


Progress: TypeAlias = Callable[[Step], None]
# Of rows: writes the number of the nearest for each point, and a bound for how far all others are.
Nearest: TypeAlias = Callable[[Array, Array, Array], None]
Device: TypeAlias = Callable[[Array, bool], Nearest]  # points, and whether they are histograms


@dataclass(frozen=True, eq=False)
class Clusters:
    """Centres and what belongs to them. Distances are in units of the points; for `emd`, in bins at mass one."""

    centres: Array  # float32 [k, d]; histograms of mass one for `emd`
    labels: Array  # int32 [n]: the nearest centre, the lowest of equals
    sizes: Array  # float64 [k]: weights
    cost: float  # weighted mean distance
    square: float  # weighted mean squared distance
    iterations: int  # on all points; those on a sample are not counted
    evaluated: int  # distances between points and centres that were computed in them


def cluster(
    points: Array,
    weights: Array | None,
    k: int,
    metric: str = "l2",
    seed: int = 0,
    restarts: int = 1,
    threads: int = 1,
    sample: int | None = None,
    iterations: int = 50,
    tolerance: float = 0.001,
    passes: int | None = None,
    medians: bool = False,
    start: Array | None = None,
    prune: bool = True,
    progress: Progress | None = None,
    device: Device | None = None,
) -> Clusters:
    """k clusters of points, [n, d] float32, float16, uint8 or uint16; [n] weights above zero, all equal for None.

    Starts are drawn by k-means++, once for each restart, and the one with the lowest cost wins (of squares for `l2`). With
    `sample`, starts are drawn and improved on that many points taken by weight, and only the best of them is continued on
    the whole, for at most `passes` iterations if that is given. `start` gives the centres, [k, d], instead. Iterations end
    when at most the share `tolerance` of the weight goes to another centre. An empty cluster restarts at the farthest
    point. `prune=False` compares all with all, which gives the same labels. With `medians`, for `emd`, centres go on to
    the medians of the cumulative histograms, which minimise the distance, by means whose weights fall with it. A `device`
    finds the nearest centres in its stead; what it finds is looked at again, so the result is the same to the bit.
    """
    n, weight = _check(points, weights, k, metric)
    check_threads(threads)
    if restarts < 1 or iterations < 1:
        raise InputError(f"restarts={restarts}, iterations={iterations}: each must be at least 1")
    if sample is not None and sample < k:
        raise InputError(f"sample={sample}: must be at least k={k}")
    if medians and metric != "emd":
        raise InputError(f"medians with metric={metric!r}: they are for emd; means minimise l2")
    work = _Work(points, weight, k, metric == "emd", threads, prune, device=device)
    limits = iterations, tolerance
    if start is not None:
        clusters = _lloyd(work, work.rows(start), *limits, _Report(progress, "whole", 0))
        return _refine(work, clusters, tolerance, _Report(progress, "whole", 0)) if medians else clusters
    small = work if sample is None or sample >= n else _sampled(work, sample, seed)
    best: Clusters | None = None
    for restart, state in enumerate(np.random.SeedSequence(seed).generate_state(restarts, np.uint64)):
        first, labels = _seeds(small, state, _Report(progress, "seed", restart))
        report = _Report(progress, "whole" if small is work else "sample", restart)
        clusters = _lloyd(small, first, *limits, report, labels)
        clusters = _refine(small, clusters, tolerance, report) if medians else clusters
        if best is None or _rank(clusters, metric) < _rank(best, metric):
            best = clusters
    assert best is not None
    if small is work:
        return best
    work = replace(work, medians=medians)
    return _lloyd(work, work.rows(best.centres), passes or iterations, tolerance, _Report(progress, "whole", 0))


def _refine(work: _Work, clusters: Clusters, tolerance: float, report: _Report) -> Clusters:
    """From means to medians: a means' cluster is where their weights are safe to begin with."""
    work = replace(work, medians=True)
    return _lloyd(work, work.rows(clusters.centres), REFINE, tolerance, report, clusters.labels)


def _rank(clusters: Clusters, metric: str) -> tuple[int, float]:
    """Less is better: no empty clusters, then what the metric asks for."""
    return int((clusters.sizes == 0).sum()), clusters.cost if metric == "emd" else clusters.square


def _check(points: Array, weights: Array | None, k: int, metric: str) -> tuple[int, Array]:
    """The number of points, and weights where there are none."""
    if metric not in METRICS:
        raise unknown("metric", metric, METRICS)
    if points.ndim != 2 or points.shape[1] < 1 or points.dtype.name not in DTYPES:
        kinds = ", ".join(DTYPES)
        raise InputError(f"points of shape {points.shape} and dtype {points.dtype}: expected [n, d] of {kinds}")
    n = len(points)
    if not 1 <= k <= n:
        raise InputError(f"k={k} clusters of {n} points: must be 1 to {n}")
    weight = np.broadcast_to(np.float64(1.0), n) if weights is None else np.asarray(weights)
    if weight.shape != (n,):
        raise InputError(f"weights of shape {weight.shape}: expected ({n},), one for each point")
    for part in _slices(n, 1 << 20):
        if not (np.isfinite(weight[part]).all() and (weight[part] > 0).all()):
            raise InputError(f"weights of points {part.start} to {part.stop - 1}: must be finite and above zero")
        if points.dtype.kind == "f":
            here = points[part]
            if not np.isfinite(here).all() or (metric == "emd" and (here < 0).any()):
                needed = "finite" if metric == "l2" else "finite and not negative"
                raise InputError(f"points {part.start} to {part.stop - 1}: numbers must be {needed}")
    return n, weight


def _slices(n: int, chunk: int) -> list[slice]:
    return [slice(first, min(first + chunk, n)) for first in range(0, n, chunk)]


@dataclass(frozen=True)
class _Report:
    progress: Progress | None
    stage: str
    restart: int

    def __call__(self, iteration: int, cost: float, changed: float, done: float) -> None:
        if self.progress is not None:
            self.progress(Step(self.stage, self.restart, iteration, done, cost, changed))


@dataclass(frozen=True, eq=False)
class _Work:
    """Points and how they are compared."""

    points: Array  # [n, d]
    weights: Array  # [n]
    k: int
    emd: bool
    threads: int
    prune: bool
    medians: bool = False
    device: Device | None = None

    @cached_property
    def nearest(self) -> Nearest | None:
        """What finds the nearest centres, where a device does."""
        return None if self.device is None else self.device(self.points, self.emd)

    @property
    def width(self) -> int:
        """Of a row: a point, or a cumulative histogram without the last sum, which is one; filled up to whole vectors."""
        used = int(self.points.shape[1]) - self.emd
        return max(1, -(-used // _LANES)) * _LANES

    @property
    def chunk(self) -> int:
        """Points in a block; fixed by the sizes alone."""
        blocks = max(2, min(BLOCKS, _ROOM // (8 * self.k * self.width)))
        return max(kernels.BLOCK, -(-len(self.points) // blocks))

    def sample(self, part: slice) -> kernels.Sample:
        """Points and weights as the kernels read them: half precision, which they cannot, as float32."""
        points = np.ascontiguousarray(self.points[part])
        points = points.astype(np.float32) if points.dtype == np.float16 else points
        return kernels.Sample(points, self.weights[part].astype(np.float64), self.emd, kernels.zero(points.dtype))

    def rows(self, centres: Array) -> Array:
        """Centres as rows. float32 [k, width]"""
        centres = np.asarray(centres, np.float64)
        expected = self.k, self.points.shape[1]
        if centres.shape != expected or not np.isfinite(centres).all():
            raise InputError(f"start of shape {centres.shape}: expected {expected}, finite")
        if self.emd:
            total = centres.sum(axis=1, keepdims=True)
            if (centres < 0).any() or not (total > 0).all():
                raise InputError("start: a centre must be a histogram, not negative and with some mass")
            centres = np.cumsum(centres / total, axis=1)[:, :-1]
        out = np.zeros((self.k, self.width), np.float32)
        out[:, : centres.shape[1]] = centres
        return out

    def centres(self, rows: Array) -> Array:
        """Rows as centres. float32 [k, d]"""
        d = self.points.shape[1]
        if not self.emd:
            return rows[:, :d].copy()
        sums = rows[:, : d - 1].astype(np.float64)
        return np.diff(sums, axis=1, prepend=0.0, append=1.0).clip(0.0).astype(np.float32)


def _sampled(work: _Work, size: int, seed: int) -> _Work:
    """Points taken at equal steps of the weight: heavy ones may be taken several times, which is their weight then."""
    parts = _slices(len(work.points), 1 << 20)
    sums = [float(work.weights[part].sum(dtype=np.float64)) for part in parts]
    places = (np.arange(size) + np.random.default_rng(seed).random()) * (sum(sums) / size)
    points, weights = [], []
    before = 0.0
    for part, here in zip(parts, sums, strict=True):
        last = part.stop == len(work.points)
        mine = places[(places >= before) & ((places < before + here) | last)] - before
        reached = np.cumsum(work.weights[part], dtype=np.float64)
        chosen, times = np.unique(np.searchsorted(reached, mine, side="right"), return_counts=True)
        chosen = np.minimum(chosen, len(reached) - 1)
        points.append(np.asarray(work.points[part][chosen]))
        weights.append(times.astype(np.float64))
        before += here
    taken = np.concatenate(points)
    if len(taken) < work.k:
        raise InputError(f"sample={size}: it has only {len(taken)} points, fewer than k={work.k}; take a larger one")
    return replace(work, points=taken, weights=np.concatenate(weights))


def _seeds(work: _Work, state: int, report: _Report) -> tuple[Array, Array]:
    """Rows of k centres by k-means++, and the nearest of them for each point. float32 [k, width], int32 [n]"""
    sample = work.sample(slice(None))
    n, k = len(sample.points), work.k
    rng = np.array([state], np.uint64)
    row, gap = np.zeros(work.width, np.float32), np.zeros(k, np.float32)
    chance = np.zeros(-(-n // kernels.BLOCK))
    centres = np.zeros((k, work.width), np.float32)
    nearest, labels = np.full(n, np.inf, np.float32), np.zeros(n, np.int32)
    step = max(1, k // 50)
    for first in range(0, k, step):
        last = min(first + step, k)
        reached = kernels.seed(sample, first, last, rng, row, gap, chance, centres, nearest, labels)
        if reached < last:
            raise InputError(
                f"k={k} clusters of {reached} different points: give at most k={reached} or a larger sample"
            )
        report(0, np.nan, 1.0, last / k)
    return centres, labels


class _Pass(NamedTuple):
    """What one pass over the points found."""

    total: Array  # float64 [k, width]
    norm: Array  # float64 [k, width]: what to divide by; empty: the sizes
    size: Array  # float64 [k]
    cost: Array  # float64 [3]: sums of weight × distance, weight × distance², and the weight that changed centres
    farthest: list[int]  # points, the farthest of each block, farthest first
    counted: Array  # int64 [4]


def _lloyd(
    work: _Work, rows: Array, iterations: int, tolerance: float, report: _Report, labels: Array | None = None
) -> Clusters:
    """Iterate from these centres."""
    n, k = len(work.points), work.k
    labels = np.full(n, -1, np.int32) if labels is None else labels
    lower = np.zeros(n, np.float32)
    moved = np.zeros(k, np.float32)
    cost, changed, evaluated = np.nan, 1.0, 0
    best: tuple[tuple[int, float], Array] | None = None
    number = 0
    while True:
        number += 1
        assigned = _assign(work, rows, moved, labels, lower, partial(report, number, cost, changed))
        evaluated += int(assigned.counted[kernels.EVALUATED])
        mass, before = float(assigned.size.sum()), cost
        cost, square, changed = (assigned.cost / mass).tolist()
        if number == 1:
            changed = 1.0  # seeding leaves labels, but no means yet
        empty = np.flatnonzero(assigned.size == 0)
        rank = len(empty), cost if work.emd else square
        if best is None or rank <= best[0]:
            best = rank, rows
        report(number, cost, changed, 1.0)
        settled = changed <= tolerance and not (work.medians and not before - cost < SETTLED * cost)
        if number >= iterations or (settled and not len(empty)):
            if best[1] is rows:
                break
            iterations, tolerance, following = number + 1, np.inf, best[1]  # one more pass, back with the best
        else:
            following = _means(work, assigned, rows, empty)
        moved = _apart(work, rows, following)
        rows = following
    return Clusters(work.centres(rows), labels, assigned.size, cost, square, number, evaluated)


def _assign(
    work: _Work, rows: Array, moved: Array, labels: Array, lower: Array, progress: Callable[[float], None]
) -> _Pass:
    """One pass: labels and lower bounds are changed in place."""
    k, width = rows.shape
    sums = rows.sum(axis=1)
    by_sum = np.argsort(sums, kind="stable").astype(np.int32)
    before = None
    if work.nearest is None:
        between = _neighbours(work, rows, moved)
    else:  # bounds are of now, and of all centres: nothing has moved since, and nothing lies beyond
        before = labels.copy()
        work.nearest(rows, labels, lower)
        none = np.zeros((k, 0), np.int32), np.zeros((k, 0), np.float32)
        between = *none, np.zeros(k, np.float32), np.full(k, np.inf, np.float32)
    centres = kernels.Centres(rows, sums[by_sum], by_sum, *between)

    def block(part: slice) -> kernels.Gathered:
        norm = np.zeros((k, width) if work.medians else (0, 0))
        got = kernels.Gathered(np.zeros((k, width)), norm, np.zeros(k), np.zeros(3), np.zeros(2), np.zeros(4, np.int64))
        row = np.zeros(width, np.float32)
        kernels.assign(work.sample(part), work.prune, centres, row, labels[part], lower[part], got)
        if got.counts[kernels.EMPTY_ROWS]:
            raise InputError(
                f"points {part.start} to {part.stop - 1}: {got.counts[kernels.EMPTY_ROWS]} histograms without mass"
            )
        got.farthest[1] += part.start
        return got

    blocks = [kernels.Gathered(*got) for got in spread(block, len(labels), work.threads, progress, chunk=work.chunk)]
    first = blocks[0]
    for got in blocks[1:]:
        for total, more in zip(first, got, strict=True):
            if total is not first.farthest:
                total += more
    if before is not None:
        first.cost[2] = work.weights[labels != before].sum(dtype=np.float64)
    far = sorted((-got.farthest[0], int(got.farthest[1])) for got in blocks)
    far_points = [point for distance, point in far if distance < 0]
    return _Pass(first.total, first.norm, first.size, first.cost, far_points, first.counts)


def _neighbours(work: _Work, rows: Array, moved: Array) -> tuple[Array, Array, Array, Array]:
    """For each centre: the others by distance (the nearest of them), their distances, how far they moved at most, and the
    distance of the first that is not listed. int32 [k, m], float32 [k, m], float32 [k], float32 [k]"""
    k, width = rows.shape
    m = min(k - 1, NEIGHBOURS) if work.prune else 0
    order, between = np.zeros((k, m), np.int32), np.zeros((k, m), np.float32)
    near, beyond = np.zeros(k, np.float32), np.full(k, np.inf, np.float32)
    if m == 0:
        return order, between, near, beyond

    def some(part: slice) -> tuple[Array, ...]:
        apart = np.empty((part.stop - part.start, k), np.float32)
        kernels.centre_distances(rows, part.start, work.emd, np.zeros(width, np.float32), apart)
        apart[np.arange(len(apart)), np.arange(part.start, part.stop)] = -1.0  # itself comes first
        listed = min(m + 2, k)  # itself, the neighbours, and the first beyond
        chosen = np.argpartition(apart, listed - 1, axis=1)[:, :listed]
        distances = np.take_along_axis(apart, chosen, axis=1)
        turn = np.argsort(distances, axis=1)
        chosen, distances = np.take_along_axis(chosen, turn, axis=1), np.take_along_axis(distances, turn, axis=1)
        order[part], between[part] = chosen[:, 1 : m + 1], distances[:, 1 : m + 1]
        near[part] = moved[order[part]].max(axis=1)
        if m < k - 1:
            beyond[part] = distances[:, m + 1]
        return ()

    spread(some, k, work.threads, chunk=64)
    return order, between, near, beyond


def _means(work: _Work, assigned: _Pass, rows: Array, empty: Array) -> Array:
    """The centres that follow: weighted means, and for empty clusters the farthest points, one from each block."""
    out = rows.copy()
    full = assigned.size > 0
    out[full] = assigned.total[full] / (assigned.norm[full] if work.medians else assigned.size[full, None])
    for c, point in zip(empty.tolist(), assigned.farthest, strict=False):
        single = work.sample(slice(point, point + 1)).points.astype(np.float64)
        if work.emd:
            single = np.cumsum(single / single.sum(), axis=1)[:, :-1]
        out[c, : single.shape[1]] = single[0]
    return out


def _apart(work: _Work, first: Array, second: Array) -> Array:
    """Distances of rows, pair by pair. float32 [k]"""
    gap = first.astype(np.float64) - second
    apart = np.abs(gap).sum(axis=1) if work.emd else np.sqrt((gap * gap).sum(axis=1))
    return np.asarray(apart, np.float32)
