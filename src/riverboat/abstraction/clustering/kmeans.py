"""Weighted k-means for hands, at the size of all of hold'em, and distances between histograms.

`l2` is Lloyd's algorithm on vectors such as OCHS. `emd` is for histograms over ordered bins: a point belongs to the
centroid at the smallest earth mover's distance, and a centroid is the weighted mean of its histograms, as in Johanson
et al. 2013 and in Ganzfried & Sandholm 2014. That mean does not minimize the distance; a median of the cumulative
histograms does (`medians`). So the cost may rise between iterations, and the best centroids seen are returned.

The result depends on the seed but not on the number of threads: points are summed in fixed blocks, and blocks in order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple, TypeAlias

import numpy as np

from riverboat.abstraction.clustering._kernels import kmeans as kernels
from riverboat.cards.equity.equities import map_chunks
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, check_threads
from riverboat.core.validation import check_name

METRICS = ("emd", "l2")
DTYPES = ("float16", "float32", "uint16", "uint8")
MAX_NEIGHBOURS = 256  # neighbours of a centroid, by distance; a search that needs more compares with all centroids
MAX_BLOCKS = 64  # blocks of points, each with separate sums
_MAX_SUM_BYTES = 1 << 28  # memory of those sums
MEDIAN_PASSES = 12  # most passes from means to medians
MEDIAN_TOLERANCE = 2e-4  # relative decrease of the cost in a pass below which medians have converged
_VECTOR_WIDTH = 8  # rows are padded to whole SIMD vectors


class KMeansStep(NamedTuple):
    """Progress of a clustering.

    Attributes
    ----------
    stage
        `seed`, `sample` or `whole`.
    restart
        Number of the start, from 0.
    iteration
        Number of the iteration, from 1; 0 while seeding.
    done
        Completed share of this iteration.
    cost
        Mean distance after the last complete iteration, NaN before.
    changed
        Share of the weight that changed its centroid in that iteration.

    Examples
    --------
    >>> KMeansStep("whole", 0, 3, 1.0, 0.25, 0.01).cost
    0.25
    """

    stage: str  # "seed", "sample" or "whole"
    restart: int  # from 0
    iteration: int  # from 1; 0 while seeding
    done: float  # share of this iteration
    cost: float  # mean distance after the last complete iteration, NaN before
    changed: float  # share of the weight that changed its centroid in that iteration


KMeansProgress: TypeAlias = Callable[[KMeansStep], None]
# (rows of centroids, labels OUT, lower OUT): finds the nearest centroid of each point, and a lower bound on its
# distances to all others.
NearestAssigner: TypeAlias = Callable[[Array, Array, Array], None]
NearestAssignerFactory: TypeAlias = Callable[[Array, bool], NearestAssigner]  # points, and whether they are histograms


@dataclass(frozen=True, eq=False)
class KMeansClusters:
    """Centroids and labels. Distances are in units of the points; for `emd`, in bins of normalized histograms.

    Attributes
    ----------
    centres
        float32 [k, d]; normalized histograms for `emd`.
    labels
        int32 [n]: nearest centroid, the lowest index in a tie.
    sizes
        float64 [k]: weights.
    cost
        Weighted mean distance.
    square
        Weighted mean squared distance.
    iterations
        Passes over all points; those over a sample are not counted.
    evaluated
        Distances computed in those passes.

    Examples
    --------
    >>> points = np.array([[0.0], [0.1], [5.0], [5.1]], np.float32)
    >>> kmeans(points, None, 2).sizes.tolist()
    [2.0, 2.0]
    """

    centres: Array  # float32 [k, d]; normalized histograms for `emd`
    labels: Array  # int32 [n]: nearest centroid, the lowest index in a tie
    sizes: Array  # float64 [k]: weights
    cost: float  # weighted mean distance
    square: float  # weighted mean squared distance
    iterations: int  # passes over all points; those over a sample are not counted
    evaluated: int  # distances computed in those passes


def kmeans(
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
    initial_centres: Array | None = None,
    prune: bool = True,
    progress: KMeansProgress | None = None,
    device: NearestAssignerFactory | None = None,
) -> KMeansClusters:
    """Cluster points into k clusters by weighted k-means.

    Parameters
    ----------
    points
        [n, d] of float32, float16, uint8 or uint16.
    weights
        Positive weights [n]; equal weights by default.
    k
        Number of clusters.
    metric
        "l2", or "emd" for histograms over ordered bins.
    seed
        Random seed of k-means++.
    restarts
        Number of starts by k-means++. The start with the lowest cost wins (the lowest sum of squares for `l2`).
    threads
        Number of threads. The result does not depend on it.
    sample
        Size of a sample by weight, on which the starts are drawn and improved. Only the best continues on all points.
    iterations
        Most iterations of each start.
    tolerance
        Iterations end when at most this share of the weight changes its centroid.
    passes
        Most iterations on all points after a sample; `iterations` by default.
    medians
        For `emd`: move centroids on to the medians of the cumulative histograms, which minimize the distance. This uses
        means with weights that decrease with the distance.
    initial_centres
        Initial centroids [k, d] instead of k-means++.
    prune
        Skip distances that the triangle inequality rules out. The labels are the same without it.
    progress
        Called with a `KMeansStep`.
    device
        Search of nearest centroids on an accelerator. Its results are verified, so the result is the same bit for bit.

    Returns
    -------
    KMeansClusters
        The best centroids, and the labels of all points.

    Raises
    ------
    InputError
        Points, weights or numbers are invalid, or there are fewer than k distinct points.

    Notes
    -----
    An empty cluster restarts at the farthest point. Starts are drawn by k-means++ [1]_. Distances are skipped by the
    bounds of Hamerly [2]_ and by exponions [3]_.

    References
    ----------
    .. [1] Arthur & Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007.
    .. [2] Hamerly, "Making k-means even faster", SDM 2010.
    .. [3] Newling & Fleuret, "Fast k-means with accurate bounds", ICML 2016.

    Examples
    --------
    >>> points = np.array([[4, 0, 0], [3, 1, 0], [0, 1, 3], [0, 0, 4]], np.uint8)
    >>> clusters = kmeans(points, None, 2, "emd")
    >>> bool(clusters.labels[0] == clusters.labels[1] != clusters.labels[2] == clusters.labels[3])
    True
    """
    n, weight = _check_points(points, weights, metric)
    check_threads(threads)
    check_cluster_options(k, n, "points", restarts, iterations, sample)
    if medians and metric != "emd":
        raise InputError(f"medians with metric={metric!r}: only for emd; means minimize l2")
    problem = _KMeansProblem(points, weight, k, metric == "emd", threads, prune, device=device)
    sampled = problem if sample is None or sample >= n else _sample_points(problem, sample, seed)
    whole = StepReporter(progress, "whole", 0)

    def improve(
        problem: _KMeansProblem, rows: Array, report: StepReporter, labels: Array | None = None
    ) -> KMeansClusters:
        clusters = _lloyd(problem, rows, iterations, tolerance, report, labels)
        if not medians:
            return clusters
        # from converged means, where the weights of medians are well defined
        problem, rows = replace(problem, medians=True), problem.rows_of_centres(clusters.centres)
        return _lloyd(problem, rows, MEDIAN_PASSES, tolerance, report, clusters.labels)

    def start(restart: int, state: int) -> KMeansClusters:
        rows, labels = _seed_centroids(sampled, state, StepReporter(progress, "seed", restart))
        report = StepReporter(progress, "whole" if sampled is problem else "sample", restart)
        return improve(sampled, rows, report, labels)

    if initial_centres is not None:
        return improve(problem, problem.rows_of_centres(initial_centres), whole)
    states = np.random.SeedSequence(seed).generate_state(restarts, np.uint64)
    best = min(
        (start(restart, state) for restart, state in enumerate(states)), key=partial(cluster_rank, metric=metric)
    )
    if sampled is problem:
        return best
    rows = problem.rows_of_centres(best.centres)
    return _lloyd(replace(problem, medians=medians), rows, passes or iterations, tolerance, whole)


def cluster_rank(clusters: KMeansClusters, metric: str = "emd") -> tuple[int, float]:
    """Return a sort key of clusterings, lower is better.

    Parameters
    ----------
    clusters
        The clustering.
    metric
        Its metric, "emd" or "l2".

    Returns
    -------
    tuple of int and float
        Number of empty clusters, and the cost that the metric minimizes.

    Examples
    --------
    >>> cluster_rank(kmeans(np.array([[0.0], [1.0]], np.float32), None, 2), "l2")
    (0, 0.0)
    """
    return int((clusters.sizes == 0).sum()), clusters.cost if metric == "emd" else clusters.square


def check_cluster_options(
    k: int, count: int, kind: str, restarts: int, iterations: int, sample: int | None = None
) -> None:
    """Raise InputError for numbers that do not fit a clustering.

    Parameters
    ----------
    k
        Number of clusters.
    count
        Number of points.
    kind
        What the points are, such as `hands`, for messages.
    restarts
        Number of starts.
    iterations
        Most iterations.
    sample
        Size of the sample; None for none.

    Raises
    ------
    InputError
        k is outside 1 to `count`, the sample is smaller than k, or another number is below 1.

    Examples
    --------
    >>> check_cluster_options(3, 2, "hands", 1, 1)
    Traceback (most recent call last):
    riverboat.core.errors.InputError: k=3 clusters of 2 hands: must be 1 to 2
    """
    if not 1 <= k <= count:
        raise InputError(f"k={k} clusters of {count:,} {kind}: must be 1 to {count:,}")
    if restarts < 1 or iterations < 1:
        raise InputError(f"restarts={restarts}, iterations={iterations}: each must be at least 1")
    if sample is not None and sample < k:
        raise InputError(f"sample={sample}: must be at least k={k}")


def as_weights(weights: Array | None, count: int, kind: str) -> Array:
    """Return positive weights as an array, or raise InputError.

    Parameters
    ----------
    weights
        Weights; None for equal ones.
    count
        Number of points.
    kind
        What the points are, such as `hands`, for messages.

    Returns
    -------
    Array
        float64 [count].

    Raises
    ------
    InputError
        The number of weights is another, or a weight is not finite and positive.

    Examples
    --------
    >>> as_weights(None, 3, "hands").tolist()
    [1.0, 1.0, 1.0]
    """
    weight = np.ones(count) if weights is None else np.ascontiguousarray(weights, float)
    if weight.shape != (count,) or not (np.isfinite(weight).all() and (weight > 0).all()):
        raise InputError(f"weights of shape {weight.shape}: expected one above zero for each of {count:,} {kind}")
    return weight


def _check_points(points: Array, weights: Array | None, metric: str) -> tuple[int, Array]:
    """Check the arguments, and return the number of points and the weights."""
    check_name("metric", metric, METRICS)
    if points.ndim != 2 or points.shape[1] < 1 or points.dtype.name not in DTYPES:
        dtypes = ", ".join(DTYPES)
        raise InputError(f"points of shape {points.shape} and dtype {points.dtype}: expected [n, d] of {dtypes}")
    n = len(points)
    weight = np.broadcast_to(np.float64(1.0), n) if weights is None else np.asarray(weights)
    if weight.shape != (n,):
        raise InputError(f"weights of shape {weight.shape}: expected ({n},), one for each point")
    for part in _slices(n, 1 << 20):
        if not (np.isfinite(weight[part]).all() and (weight[part] > 0).all()):
            raise InputError(f"weights of points {part.start} to {part.stop - 1}: must be finite and above zero")
        if points.dtype.kind == "f":
            block = points[part]
            if not np.isfinite(block).all() or (metric == "emd" and (block < 0).any()):
                requirement = "finite" if metric == "l2" else "finite and not negative"
                raise InputError(f"points {part.start} to {part.stop - 1}: numbers must be {requirement}")
    return n, weight


def _slices(n: int, chunk: int) -> list[slice]:
    return [slice(first, min(first + chunk, n)) for first in range(0, n, chunk)]


@dataclass(frozen=True)
class StepReporter:
    """Callback that reports progress of one start as a `KMeansStep`.

    Parameters
    ----------
    progress
        Function that receives the steps; None for none.
    stage
        `seed`, `sample` or `whole`.
    restart
        Number of the start, from 0.

    Examples
    --------
    >>> StepReporter(print, "whole", 0)(2, 0.5, 0.1, 1.0)
    KMeansStep(stage='whole', restart=0, iteration=2, done=1.0, cost=0.5, changed=0.1)
    """

    progress: KMeansProgress | None
    stage: str
    restart: int

    def __call__(self, iteration: int, cost: float, changed: float, done: float) -> None:
        if self.progress is not None:
            self.progress(KMeansStep(self.stage, self.restart, iteration, done, cost, changed))


@dataclass(frozen=True, eq=False)
class _KMeansProblem:
    """Points, weights and metric of a clustering."""

    points: Array  # [n, d]
    weights: Array  # [n]
    k: int
    emd: bool
    threads: int
    prune: bool
    medians: bool = False
    device: NearestAssignerFactory | None = None

    @cached_property
    def nearest_assigner(self) -> NearestAssigner | None:
        """Function that finds nearest centroids on the device; None without a device."""
        return None if self.device is None else self.device(self.points, self.emd)

    @property
    def row_width(self) -> int:
        """Width of a row: a point, or a cumulative histogram without its last sum, padded to whole SIMD vectors."""
        used = int(self.points.shape[1]) - self.emd
        return max(1, -(-used // _VECTOR_WIDTH)) * _VECTOR_WIDTH

    @property
    def block_size(self) -> int:
        """Number of points that are summed as one block; independent of the number of threads, as are results."""
        blocks = max(2, min(MAX_BLOCKS, _MAX_SUM_BYTES // (8 * self.k * self.row_width)))
        return max(kernels.SEEDING_BLOCK, -(-len(self.points) // blocks))

    def kernel_points(self, part: slice) -> kernels.KMeansPoints:
        """Return points and weights for the kernels; half precision is converted to float32."""
        points = np.ascontiguousarray(self.points[part])
        points = points.astype(np.float32) if points.dtype == np.float16 else points
        return kernels.KMeansPoints(
            points, self.weights[part].astype(np.float64), self.emd, kernels.histogram_zero(points.dtype)
        )

    def rows_of_centres(self, centres: Array) -> Array:
        """Convert centroids to rows, which are cumulative for EMD. float [k, d] -> float32 [k, width]"""
        centres = np.asarray(centres, np.float64)
        expected = self.k, self.points.shape[1]
        if centres.shape != expected or not np.isfinite(centres).all():
            raise InputError(f"initial_centres of shape {centres.shape}: expected {expected}, finite")
        if self.emd:
            total = centres.sum(axis=1, keepdims=True)
            if (centres < 0).any() or not (total > 0).all():
                raise InputError(
                    "initial_centres: each must be a histogram with non-negative entries and positive mass"
                )
            centres = np.cumsum(centres / total, axis=1)[:, :-1]
        out = np.zeros((self.k, self.row_width), np.float32)
        out[:, : centres.shape[1]] = centres
        return out

    def centres_of_rows(self, rows: Array) -> Array:
        """Convert rows to centroids, which are histograms for EMD. float32 [k, width] -> float32 [k, d]"""
        d = self.points.shape[1]
        if not self.emd:
            return rows[:, :d].copy()
        sums = rows[:, : d - 1].astype(np.float64)
        return np.diff(sums, axis=1, prepend=0.0, append=1.0).clip(0.0).astype(np.float32)


def _sample_points(problem: _KMeansProblem, size: int, seed: int) -> _KMeansProblem:
    """Draw a sample of `size` points by weight, at equal steps of the cumulative weight from a random offset.

    The weight of a point in the sample is how often it was drawn.
    """
    parts = _slices(len(problem.points), 1 << 20)
    sums = [float(problem.weights[part].sum(dtype=np.float64)) for part in parts]
    positions = (np.arange(size) + np.random.default_rng(seed).random()) * (sum(sums) / size)
    points, weights = [], []
    before = 0.0
    for part, block_weight in zip(parts, sums, strict=True):
        last = part.stop == len(problem.points)
        block_positions = positions[(positions >= before) & ((positions < before + block_weight) | last)] - before
        cumulative = np.cumsum(problem.weights[part], dtype=np.float64)
        chosen, multiplicity = np.unique(np.searchsorted(cumulative, block_positions, side="right"), return_counts=True)
        chosen = np.minimum(chosen, len(cumulative) - 1)
        points.append(np.asarray(problem.points[part][chosen]))
        weights.append(multiplicity.astype(np.float64))
        before += block_weight
    sampled = np.concatenate(points)
    if len(sampled) < problem.k:
        raise InputError(
            f"sample={size}: the sample has only {len(sampled)} points, fewer than k={problem.k}; use a larger sample"
        )
    return replace(problem, points=sampled, weights=np.concatenate(weights))


def _seed_centroids(problem: _KMeansProblem, state: int, report: StepReporter) -> tuple[Array, Array]:
    """Draw k centroids by k-means++ from a random state; return their rows, and the nearest one of each point.

    float32 [k, width], int32 [n]
    """
    sample = problem.kernel_points(slice(None))
    n, k = len(sample.points), problem.k
    rng = np.array([state], np.uint64)
    row, gap = np.zeros(problem.row_width, np.float32), np.zeros(k, np.float32)
    chance = np.zeros(-(-n // kernels.SEEDING_BLOCK))
    centres = np.zeros((k, problem.row_width), np.float32)
    nearest, labels = np.full(n, np.inf, np.float32), np.zeros(n, np.int32)
    step = max(1, k // 50)
    for first in range(0, k, step):
        last = min(first + step, k)
        reached = kernels.seed_centroids(sample, first, last, rng, row, gap, chance, centres, nearest, labels)
        if reached < last:
            raise InputError(f"k={k} clusters of {reached} distinct points: use at most k={reached} or a larger sample")
        report(0, np.nan, 1.0, last / k)
    return centres, labels


def _lloyd(
    problem: _KMeansProblem,
    rows: Array,
    iterations: int,
    tolerance: float,
    report: StepReporter,
    labels: Array | None = None,
) -> KMeansClusters:
    """Run Lloyd's algorithm from centroids, given as rows, and return the best iteration.

    `labels` has the nearest centroid of each point, if it is known.
    """
    n, k = len(problem.points), problem.k
    labels = np.full(n, -1, np.int32) if labels is None else labels
    lower = np.zeros(n, np.float32)
    shift = np.zeros(k, np.float32)
    cost, changed, evaluated = np.nan, 1.0, 0
    best: tuple[tuple[int, float], Array] | None = None
    iteration = 0
    while True:
        iteration += 1
        going = partial(report, iteration, cost, changed)
        assigned, farthest = _assign_points(problem, rows, shift, labels, lower, going)
        evaluated += int(assigned.counts[kernels.DISTANCES])
        mass, previous_cost = float(assigned.size.sum()), cost
        cost, square, changed = (assigned.cost / mass).tolist()
        if iteration == 1:
            changed = 1.0  # labels of the seeding, no means yet
        empty = np.flatnonzero(assigned.size == 0)
        rank = len(empty), cost if problem.emd else square
        if best is None or rank <= best[0]:
            best = rank, rows
        report(iteration, cost, changed, 1.0)
        improves = problem.medians and not previous_cost - cost < MEDIAN_TOLERANCE * cost
        converged = changed <= tolerance and not improves
        if iteration >= iterations or (converged and not len(empty)):
            if best[1] is rows:
                break
            iterations, tolerance, next_rows = iteration + 1, np.inf, best[1]  # one more pass with the best centroids
        else:
            next_rows = _next_centroids(problem, assigned, rows, empty, farthest)
        shift = _row_distances(problem, rows, next_rows)
        rows = next_rows
    return KMeansClusters(problem.centres_of_rows(rows), labels, assigned.size, cost, square, iteration, evaluated)


def _assign_points(
    problem: _KMeansProblem,
    rows: Array,
    centroid_shift: Array,
    labels: Array,
    lower: Array,
    progress: Callable[[float], None],
) -> tuple[kernels.KMeansSums, list[int]]:
    """Assign all points to their nearest centroids; labels and lower bounds are updated in place.

    `centroid_shift` is the distance that each centroid has moved since the last pass. Returns the sums over all points,
    and the farthest point of each block, farthest first.
    """
    k, width = rows.shape
    sums = rows.sum(axis=1)
    by_sum = np.argsort(sums, kind="stable").astype(np.int32)
    old_labels = None
    if problem.nearest_assigner is None:
        neighbours = _centroid_neighbours(problem, rows, centroid_shift)
    else:  # bounds are current and cover all centroids: no shifts, and no centroids outside of the neighbour lists
        old_labels = labels.copy()
        problem.nearest_assigner(rows, labels, lower)
        none = np.zeros((k, 0), np.int32), np.zeros((k, 0), np.float32)
        neighbours = *none, np.zeros(k, np.float32), np.full(k, np.inf, np.float32)
    centres = kernels.KMeansCentroids(rows, sums[by_sum], by_sum, *neighbours)

    def block(part: slice) -> kernels.KMeansSums:
        norm = np.zeros((k, width) if problem.medians else (0, 0))
        got = kernels.KMeansSums(
            np.zeros((k, width)), norm, np.zeros(k), np.zeros(3), np.zeros(2), np.zeros(4, np.int64)
        )
        row = np.zeros(width, np.float32)
        kernels.assign_points(problem.kernel_points(part), problem.prune, centres, row, labels[part], lower[part], got)
        if got.counts[kernels.EMPTY_ROWS]:
            raise InputError(
                f"points {part.start} to {part.stop - 1}: {got.counts[kernels.EMPTY_ROWS]} histograms without mass"
            )
        got.farthest[1] += part.start
        return got

    blocks = map_chunks(block, len(labels), problem.threads, progress, chunk=problem.block_size)
    first = blocks[0]
    for got in blocks[1:]:
        for total, more in zip(first, got, strict=True):
            if total is not first.farthest:
                total += more
    if old_labels is not None:
        first.cost[2] = problem.weights[labels != old_labels].sum(dtype=np.float64)
    farthest = sorted((-got.farthest[0], int(got.farthest[1])) for got in blocks)
    return first, [point for distance, point in farthest if distance < 0]


def _centroid_neighbours(
    problem: _KMeansProblem, rows: Array, centroid_shift: Array
) -> tuple[Array, Array, Array, Array]:
    """Return the nearest other centroids of each centroid, for the bounds of `assign_points`.

    For each centroid: its nearest others by distance, their distances, their largest shift, and the distance of the
    first centroid that is not listed. int32 [k, m], float32 [k, m], float32 [k], float32 [k]
    """
    k, width = rows.shape
    m = min(k - 1, MAX_NEIGHBOURS) if problem.prune else 0
    order, between = np.zeros((k, m), np.int32), np.zeros((k, m), np.float32)
    near, beyond = np.zeros(k, np.float32), np.full(k, np.inf, np.float32)
    if m == 0:
        return order, between, near, beyond

    def work(part: slice) -> None:
        distance = np.empty((part.stop - part.start, k), np.float32)
        kernels.centroid_distances(rows, part.start, problem.emd, np.zeros(width, np.float32), distance)
        distance[np.arange(len(distance)), np.arange(part.start, part.stop)] = -1.0  # the centroid itself sorts first
        listed = min(m + 2, k)  # the centroid itself, its neighbours, and the first one not listed
        chosen = np.argpartition(distance, listed - 1, axis=1)[:, :listed]
        by_distance = np.argsort(np.take_along_axis(distance, chosen, axis=1), axis=1)
        chosen = np.take_along_axis(chosen, by_distance, axis=1)
        distances = np.take_along_axis(distance, chosen, axis=1)
        order[part], between[part] = chosen[:, 1 : m + 1], distances[:, 1 : m + 1]
        near[part] = centroid_shift[order[part]].max(axis=1)
        if m < k - 1:
            beyond[part] = distances[:, m + 1]

    map_chunks(work, k, problem.threads, chunk=64)
    return order, between, near, beyond


def _next_centroids(
    problem: _KMeansProblem, assigned: kernels.KMeansSums, rows: Array, empty: Array, farthest: list[int]
) -> Array:
    """Return the next centroids: weighted means, and for empty clusters the farthest points, one from each block."""
    out = rows.copy()
    full = assigned.size > 0
    out[full] = assigned.total[full] / (assigned.norm[full] if problem.medians else assigned.size[full, None])
    for c, point in zip(empty.tolist(), farthest, strict=False):
        single = problem.kernel_points(slice(point, point + 1)).points.astype(np.float64)
        if problem.emd:
            single = np.cumsum(single / single.sum(), axis=1)[:, :-1]
        out[c, : single.shape[1]] = single[0]
    return out


def _row_distances(problem: _KMeansProblem, first: Array, second: Array) -> Array:
    """Return the distances between corresponding rows: L1 for EMD, else L2. float32 [k]"""
    gap = first.astype(np.float64) - second
    distance = np.abs(gap).sum(axis=1) if problem.emd else np.sqrt((gap * gap).sum(axis=1))
    return np.asarray(distance, np.float32)


# --- members of clusters ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ClusterMembers:
    """Mean distance, nearest and farthest point of each cluster; zero and -1 for empty clusters.

    Attributes
    ----------
    spread
        float32 [k]: weighted mean distance.
    nearest, farthest
        int64 [k]: indices of the nearest and of the farthest point.

    Examples
    --------
    >>> members_from_distances(np.array([0.5, 0.1]), np.ones(2), np.zeros(2, int), 1).nearest.tolist()
    [1]
    """

    spread: Array  # float32 [k]: weighted mean distance
    nearest: Array  # int64 [k]: index of the nearest point
    farthest: Array  # int64 [k]


def cluster_members(
    points: Array, weights: Array | None, clusters: KMeansClusters, metric: str, threads: int = 1
) -> ClusterMembers:
    """Return the nearest and the farthest point of each cluster, and its mean distance.

    Parameters
    ----------
    points
        [n, d], as for `kmeans`.
    weights
        Positive weights [n]; None for equal ones.
    clusters
        A clustering of these points.
    metric
        Its metric, "emd" or "l2".
    threads
        Number of threads.

    Returns
    -------
    ClusterMembers
        Indices of points, and mean distances.

    Raises
    ------
    InputError
        Points or weights are invalid.

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [5.0]], np.float32)
    >>> cluster_members(points, None, kmeans(points, None, 1), "l2").farthest.tolist()
    [2]
    """
    k = len(clusters.centres)
    n, weight = _check_points(points, weights, metric)
    problem = _KMeansProblem(points, weight, k, metric == "emd", threads, True)
    rows = problem.rows_of_centres(clusters.centres)

    def block(part: slice) -> tuple[Array, ...]:
        ends, who, total = np.tile([np.inf, -np.inf], (k, 1)), np.full((k, 2), -1, np.int64), np.zeros((k, 2))
        scratch = np.zeros(problem.row_width, np.float32)
        kernels.measure_clusters(problem.kernel_points(part), rows, clusters.labels[part], scratch, ends, who, total)
        return ends, np.where(who >= 0, who + part.start, -1), total

    results = map_chunks(block, n, threads, chunk=problem.block_size)
    ends, who, total = (np.stack([a[j] for a in results]) for j in range(3))
    near, far, every = ends[..., 0].argmin(axis=0), ends[..., 1].argmax(axis=0), np.arange(k)
    sums = total.sum(axis=0)
    mean = np.divide(sums[:, 0], sums[:, 1], out=np.zeros(k), where=sums[:, 1] > 0)
    return ClusterMembers(mean.astype(np.float32), who[near, every, 0], who[far, every, 1])


def members_from_distances(distance: Array, weights: Array, labels: Array, k: int) -> ClusterMembers:
    """Return the members of clusters from the distances of all points to their centroids.

    Parameters
    ----------
    distance
        float [n].
    weights
        float [n].
    labels
        int [n]: cluster of each point.
    k
        Number of clusters.

    Returns
    -------
    ClusterMembers
        Indices of points, and mean distances.

    Examples
    --------
    >>> members_from_distances(np.array([0.5, 0.1]), np.ones(2), np.zeros(2, int), 1).farthest.tolist()
    [0]
    """
    size, total = np.bincount(labels, weights, k), np.bincount(labels, weights * distance, k)
    order = np.lexsort((distance, labels))
    ends = np.searchsorted(labels[order], np.arange(k + 1))
    filled = ends[1:] > ends[:-1]
    nearest, farthest = np.full(k, -1), np.full(k, -1)
    nearest[filled], farthest[filled] = order[ends[:-1][filled]], order[ends[1:][filled] - 1]
    mean = np.divide(total, size, out=np.zeros(k), where=size > 0)
    return ClusterMembers(mean.astype(np.float32), nearest, farthest)


# --- distances between histograms ---------------------------------------------------------------------


def earth_movers_distance(first: Array, second: Array) -> Array:
    """Return the earth mover's distance over ordered bins: the L1 distance of the cumulative sums.

    Parameters
    ----------
    first, second
        Histograms, float [..., bins] of equal mass; leading axes are broadcast.

    Returns
    -------
    Array
        float [...], in bins.

    Raises
    ------
    InputError
        The numbers of bins or the masses differ.

    Notes
    -----
    Over ordered bins the transport of least cost moves the surplus of each bin to the next one, so its cost is the sum
    of the absolute differences of cumulative sums (Rubner, Tomasi & Guibas 2000; used for poker hands by Gilpin,
    Sandholm & Sørensen 2007).

    Examples
    --------
    >>> float(earth_movers_distance([1, 0, 0], [0, 0, 1]))
    2.0
    """
    first, second = np.asarray(first, float), np.asarray(second, float)
    if first.shape[-1] != second.shape[-1]:
        raise InputError(f"histograms of {first.shape[-1]} and {second.shape[-1]} bins: must have the same bins")
    carried = np.cumsum(first - second, axis=-1)
    if np.abs(carried[..., -1]).max(initial=0.0) > 1e-9 * max(1.0, float(np.abs(first).sum(axis=-1).max(initial=0.0))):
        raise InputError("histograms of different mass: normalize them first")
    return np.asarray(np.abs(carried[..., :-1]).sum(axis=-1))


def euclidean_distance(first: Array, second: Array) -> Array:
    """Return the L2 distance over the last axis.

    Parameters
    ----------
    first, second
        float [..., d]; leading axes are broadcast.

    Returns
    -------
    Array
        float [...].

    Examples
    --------
    >>> float(euclidean_distance([0, 0], [3, 4]))
    5.0
    """
    return np.asarray(np.sqrt(np.square(np.asarray(first, float) - np.asarray(second, float)).sum(axis=-1)))
