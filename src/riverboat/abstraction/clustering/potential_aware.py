"""Potential-aware abstraction: hands are similar if they lead to similar clusters of the next street.

A hand is represented by its histogram over the clusters of the next street. These clusters have no order, so the earth
mover's distance needs a distance between clusters, the ground distance: that of their centroids (Ganzfried & Sandholm
2014, Algorithm 1). K-means uses the greedy approximation of their Algorithm 2. It is the cost of a feasible transport,
so it is never below the exact distance.

An embedding makes it fast. Every cluster is embedded as a point (its *place*), no two further apart than their ground
distance. Then the mean places of two histograms are no further apart than the exact distance, because the norm is
convex, and so no further than the greedy distance. A mean whose place is too far away cannot be the nearest. The
pruning is exact: the labels are those of the full search. Under the ground distance of 1-D histograms the place is the
cumulative histogram, and this bound is the earth mover's distance of river strengths.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import comb
from typing import TypeAlias

import numpy as np

from riverboat.abstraction.clustering._kernels import potential as kernels
from riverboat.abstraction.clustering._kernels.transport import TransportScratch
from riverboat.abstraction.clustering.kmeans import (
    KMeansClusters,
    KMeansProgress,
    StepReporter,
    as_weights,
    check_cluster_options,
    cluster_rank,
)
from riverboat.cards._kernels.isomorphism import NOT_IN_DECK
from riverboat.cards.equity._kernels.runout import next_card_workspace
from riverboat.cards.equity.equities import ProgressCallback, map_chunks
from riverboat.cards.isomorphism import HandIndexer
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, check_threads, unknown_name_error

SparseHistograms: TypeAlias = kernels.SparseHistograms
GroundDistances: TypeAlias = kernels.GroundDistances

CHUNK_HANDS = 2048
MAX_NEXT_CLUSTERS = 1 << 16
_SLACK = 1e-5  # tolerance, as a share of the largest distance: rounding, and mass below `kernels.MIN_MASS`


# --- histograms and ground distances --------------------------------------------------------------


def successor_histograms(
    here: HandIndexer,
    after: HandIndexer,
    labels: Array,
    hands: Array | None = None,
    threads: int = 1,
    progress: ProgressCallback | None = None,
) -> SparseHistograms:
    """Compute the histogram of each hand over the clusters of the next street.

    Parameters
    ----------
    here
        Indexer of the hands of this street.
    after
        Indexer of the next street. It deals the cards of `here` and more, as (2, 4) or (2, 3, 1) after (2, 3).
    labels
        int [hands of `after`]: cluster of every canonical hand of the next street, from 0; -1 for hands that cannot follow.
    hands
        Canonical indices of this street; all by default.
    threads
        Number of threads.
    progress
        Called with the completed share.

    Returns
    -------
    SparseHistograms
        A histogram of mass one for each hand.

    Raises
    ------
    InputError
        The indexers do not follow each other, labels or hands are invalid, or a hand leads to one without a label.

    Examples
    --------
    >>> here, after = HandIndexer((1,), 3, 2), HandIndexer((1, 1), 3, 2)
    >>> points = successor_histograms(here, after, np.arange(after.size()) % 2)
    >>> to_dense(points, 2).sum(axis=1).round(6).tolist()
    [1.0, 1.0, 1.0]
    """
    num_new_cards, width = after.widths[-1] - here.widths[-1], here.widths[-1]
    joined = (*here.rounds[:-1], here.rounds[-1] + num_new_cards)
    cards = _indexer_cards(here)
    follows = num_new_cards >= 1 and after.rounds in (joined, (*here.rounds, num_new_cards))
    if not follows or not np.array_equal(cards, _indexer_cards(after)):
        raise InputError(
            f"{here}, then {after}: the second must deal the cards of the first and more, from the same deck"
        )
    labels = np.asarray(labels)
    if labels.shape != (after.size(),) or labels.dtype.kind not in "iu":
        raise InputError(
            f"labels of shape {labels.shape} and type {labels.dtype}: "
            f"expected whole numbers for the {after.size():,} hands of {after}"
        )
    chosen = np.arange(here.size()) if hands is None else np.ascontiguousarray(hands, np.int64)
    if not len(chosen) or chosen.min() < 0 or chosen.max() >= here.size():
        raise InputError(f"{len(chosen)} hands: must be indices from 0 to {here.size() - 1:,}, at least one")
    labels = np.ascontiguousarray(labels, np.int32)
    clusters = int(labels.max()) + 1
    max_clusters = min(comb(len(cards) - width, num_new_cards), clusters)  # most clusters that one hand can reach

    def work(part: slice) -> tuple[Array, ...]:
        chunk_hands = chosen[part]
        start, size = np.empty(len(chunk_hands) + 1, np.int64), len(chunk_hands) * max_clusters
        cluster, mass = np.empty(size, np.int32), np.empty(size, np.float32)
        scratch = next_card_workspace(width + num_new_cards, num_new_cards, len(here.rounds), len(cards), clusters)
        out = SparseHistograms(start, cluster, mass)
        unlabeled = kernels.successor_histograms(
            here.tables(), after.tables(), chunk_hands, labels, cards, width, num_new_cards, scratch, out
        )
        if unlabeled >= 0:
            raise InputError(
                f"hand {chunk_hands[unlabeled]:,} leads to a hand without a label: label all hands that can follow"
            )
        return np.diff(start), cluster[: start[-1]].copy(), mass[: start[-1]].copy()

    done = map_chunks(work, len(chosen), threads, progress, chunk=CHUNK_HANDS)
    lengths, cluster, mass = (np.concatenate([d[k] for d in done]) for k in range(3))
    return SparseHistograms(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), cluster, mass)


def _indexer_cards(indexer: HandIndexer) -> Array:
    """Return the cards of an indexer's deck. uint8 [cards]"""
    return np.flatnonzero(indexer.tables().place != NOT_IN_DECK).astype(np.uint8)


def to_dense(points: SparseHistograms, clusters: int) -> Array:
    """Convert sparse histograms to dense ones.

    Parameters
    ----------
    points
        Sparse histograms.
    clusters
        Number of clusters of the next street.

    Returns
    -------
    Array
        float32 [hands, clusters].

    Examples
    --------
    >>> to_dense(to_sparse(np.array([[1, 3]])), 2).tolist()
    [[0.25, 0.75]]
    """
    out = np.zeros((len(points.start) - 1, clusters), np.float32)
    out[np.repeat(np.arange(len(out)), np.diff(points.start)), points.cluster] = points.mass
    return out


def to_sparse(rows: Array) -> SparseHistograms:
    """Convert dense histograms to normalized sparse ones.

    Parameters
    ----------
    rows
        float [hands, clusters], not negative, no row empty.

    Returns
    -------
    SparseHistograms
        Histograms of mass one.

    Raises
    ------
    InputError
        The array has another shape, a negative entry or an empty row.

    Examples
    --------
    >>> to_sparse(np.array([[1, 0, 3]])).cluster.tolist()
    [0, 2]
    """
    rows = np.asarray(rows, np.float32)
    totals = rows.sum(axis=1, keepdims=True) if rows.ndim == 2 else np.zeros(1)
    if rows.ndim != 2 or rows.min(initial=0) < 0 or not totals.min(initial=1) > 0:
        raise InputError(f"histograms of shape {rows.shape}: expected [hands, clusters], none negative, no row empty")
    row, cluster = np.nonzero(rows)
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(rows)))]).astype(np.int64)
    return SparseHistograms(start, cluster.astype(np.int32), (rows / totals)[row, cluster])


def select_rows(points: SparseHistograms, rows: Array) -> SparseHistograms:
    """Return the histograms of some hands.

    Parameters
    ----------
    points
        Sparse histograms.
    rows
        int64 [rows]: hands, in the order of the result.

    Returns
    -------
    SparseHistograms
        Their histograms.

    Examples
    --------
    >>> select_rows(to_sparse(np.eye(3)), np.array([2, 0])).cluster.tolist()
    [2, 0]
    """
    begin, lengths = points.start[rows], points.start[np.asarray(rows) + 1] - points.start[rows]
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    at = np.arange(start[-1]) + np.repeat(begin - start[:-1], lengths)
    return SparseHistograms(start, points.cluster[at], points.mass[at])


def ground_distances(centres: Array, metric: str = "emd") -> GroundDistances:
    """Compute the ground distances of clusters with these centroids.

    Parameters
    ----------
    centres
        float [clusters, dims].
    metric
        "emd": centroids are histograms over ordered bins, and the unit is a bin. "l2": Euclidean distance.

    Returns
    -------
    GroundDistances
        Distances between all clusters, and an embedding of the clusters that bounds them from below.

    Raises
    ------
    InputError
        The centroids are not finite, no histograms under "emd", or too many; or the metric is unknown.

    Examples
    --------
    >>> ground_distances(np.eye(3)).distance[0].tolist()
    [0.0, 1.0, 2.0]
    """
    centres = np.asarray(centres, float)
    if centres.ndim != 2 or not len(centres) or not np.isfinite(centres).all():
        raise InputError(f"centres of shape {centres.shape}: expected finite numbers [clusters, dims]")
    if metric == "emd":
        totals = centres.sum(axis=1, keepdims=True)
        if centres.min() < 0 or not totals.min() > 0:
            raise InputError("centres under emd: must be histograms, none negative or empty")
        places = np.cumsum(centres / totals, axis=1)[:, :-1]
        distance = np.stack([np.abs(places - p).sum(axis=1) for p in places])
        return _make_ground(distance, places, kernels.L1)
    if metric == "l2":
        distance = np.stack([np.sqrt(np.square(centres - c).sum(axis=1)) for c in centres])
        return _make_ground(distance, centres, kernels.L2)
    raise unknown_name_error("ground distance", metric, ("emd", "l2"))


def ground_distances_from_matrix(distance: Array, anchors: int = 32) -> GroundDistances:
    """Return ground distances for the earth mover's distance from a matrix of distances between clusters.

    Parameters
    ----------
    distance
        float [clusters, clusters], symmetric, with zeros on the diagonal.
    anchors
        Number of clusters, far apart, whose shortest path lengths form the embedding.

    Returns
    -------
    GroundDistances
        The distances, with an embedding under the maximum norm. The matrix need not satisfy the triangle inequality.

    Raises
    ------
    InputError
        The matrix is not square, symmetric, finite and non-negative.

    Examples
    --------
    >>> ground_distances_from_matrix([[0, 2], [2, 0]]).places.tolist()
    [[0.0, 2.0], [2.0, 0.0]]
    """
    distance = np.asarray(distance, float)
    square = distance.ndim == 2 and distance.shape[0] == distance.shape[1] > 0
    if not (square and np.isfinite(distance).all() and (distance >= 0).all()):
        raise InputError(f"ground distances of shape {distance.shape}: expected finite [clusters, clusters], 0 or more")
    if np.diag(distance).any() or not np.allclose(distance, distance.T, rtol=1e-4, atol=1e-6 * distance.max()):
        raise InputError("ground distances: must be symmetric, with zeros on the diagonal")
    distance = np.minimum(distance, distance.T)
    chosen: list[Array] = []
    nearest = distance.sum(axis=1)
    for _ in range(min(anchors, len(distance))):
        chosen.append(_shortest_paths(distance, int(np.argmax(nearest))))
        nearest = np.min(chosen, axis=0)
    places = np.stack(chosen, axis=1) if chosen else np.zeros((len(distance), 0))
    return _make_ground(distance, places, kernels.MAX)


def _shortest_paths(distance: Array, anchor: int) -> Array:
    """Return the lengths of the shortest paths from all clusters to cluster `anchor`. float [clusters]"""
    best: Array = distance[anchor]
    while True:
        shorter = (best[:, None] + distance).min(axis=0)
        if np.array_equal(shorter, best):
            return best
        best = shorter


def _make_ground(distance: Array, places: Array, norm: int) -> GroundDistances:
    """Make the ground distances from a matrix and an embedding `places`, whose `norm` bounds them from below.

    For every cluster all clusters are sorted by distance.
    """
    if len(distance) > MAX_NEXT_CLUSTERS:
        raise InputError(f"{len(distance):,} clusters on the next street: at most {MAX_NEXT_CLUSTERS:,}")
    sort_key = distance - np.eye(len(distance))  # a cluster is its own nearest, also in a tie
    order = np.argsort(sort_key, axis=1, kind="stable")
    ladder = np.take_along_axis(distance, order, axis=1)
    slack = np.array([_SLACK * distance.max()], np.float32)
    return GroundDistances(
        distance.astype(np.float32), order.astype(np.uint16), ladder.astype(np.float32),
        np.ascontiguousarray(places, np.float32), norm, slack,
    )  # fmt: skip


# --- distances and nearest means --------------------------------------------------------------------


def greedy_distances(
    points: SparseHistograms, rows: Array, means: Array, mean_index: Array, ground: GroundDistances
) -> Array:
    """Compute the greedy earth mover's distances between hands and means.

    Parameters
    ----------
    points
        Histograms of the hands.
    rows
        int64 [pairs]: hands.
    means
        float [means, clusters]: histograms.
    mean_index
        int64 [pairs]: means.
    ground
        Distances between the clusters.

    Returns
    -------
    Array
        float32 [pairs]: costs of feasible transports, so never below the exact distance.

    Raises
    ------
    InputError
        Means or histograms do not fit the ground distances.

    References
    ----------
    .. [1] Ganzfried & Sandholm, "Potential-aware imperfect-recall abstraction with earth mover's distance in
       imperfect-information games", AAAI 2014 (Algorithm 2).

    Examples
    --------
    >>> means = np.array([[0.0, 0.0, 1.0]])
    >>> greedy_distances(to_sparse(np.eye(3)[:1]), [0], means, [0], ground_distances(np.eye(3))).tolist()
    [2.0]
    """
    means = check_means(points, means, ground)
    rows, mean_index = np.ascontiguousarray(rows, np.int64), np.ascontiguousarray(mean_index, np.int64)
    out = np.empty(len(rows), np.float32)
    kernels.greedy_distances(points, rows, mean_index, means, ground, _scratch(points, ground), out)
    return out


def assign_to_means(
    points: SparseHistograms,
    means: Array,
    ground: GroundDistances,
    labels: Array | None = None,
    threads: int = 1,
    progress: ProgressCallback | None = None,
    exact: bool = False,
) -> tuple[Array, Array, int]:
    """Find the nearest mean of each hand under the greedy or the exact distance.

    Parameters
    ----------
    points
        Histograms of the hands.
    means
        float [k, clusters]: histograms.
    ground
        Distances between the clusters.
    labels
        Labels of the last iteration, int [hands]: a good initial guess saves work and does not change the result.
    threads
        Number of threads.
    progress
        Called with the completed share.
    exact
        Use exact earth mover's distances, by successive shortest paths, instead of greedy ones.

    Returns
    -------
    tuple of Array, Array and int
        Labels, int32 [hands], distances, float32 [hands], and the number of computed distances.

    Raises
    ------
    InputError
        Means, histograms or labels do not fit.

    Examples
    --------
    >>> ground = ground_distances(np.eye(3))
    >>> labels, distances, _ = assign_to_means(to_sparse(np.eye(3)), np.eye(3)[[2, 0]], ground)
    >>> labels.tolist(), distances.tolist()
    ([1, 0, 0], [0.0, 1.0, 0.0])
    """
    means = check_means(points, means, ground)
    hands = len(points.start) - 1
    distance = np.empty(hands, np.float32)
    label = np.full(hands, -1, np.int32) if labels is None else np.array(labels, np.int32)
    if label.shape != (hands,) or label.max(initial=-1) >= len(means):
        raise InputError(f"labels of shape {label.shape}: expected one below {len(means)} for each of {hands:,} hands")
    columns = _mean_embeddings(means, ground)

    def work(part: slice) -> int:
        scratch, low, high = _scratch(points, ground, len(means), exact), part.start, part.stop
        return int(kernels.nearest_means(points, low, high, means, columns, ground, scratch, label, distance))

    return label, distance, sum(map_chunks(work, hands, threads, progress, chunk=CHUNK_HANDS))


def potential_kmeans(
    points: SparseHistograms,
    weights: Array | None,
    k: int,
    ground: GroundDistances,
    seed: int = 0,
    restarts: int = 1,
    threads: int = 1,
    sample: int | None = None,
    iterations: int = 20,
    tolerance: float = 0.001,
    progress: KMeansProgress | None = None,
    exact: bool = False,
) -> KMeansClusters:
    """Cluster histograms by k-means under the greedy or the exact distance, like `kmeans` for points.

    Parameters
    ----------
    points
        Histograms of the hands.
    weights
        Positive weights [hands]; equal weights by default.
    k
        Number of clusters.
    ground
        Distances between the clusters of the next street.
    seed
        Random seed of k-means++.
    restarts
        Number of starts. The start with the lowest final cost wins.
    threads
        Number of threads. The result does not depend on it.
    sample
        Hands, drawn by weight, from which the starts are drawn; all by default.
    iterations
        Most iterations of each start.
    tolerance
        Iterations end when at most this share of the weight changes its mean.
    progress
        Called with a `KMeansStep`.
    exact
        Use exact earth mover's distances instead of greedy ones: some hundred times as long.

    Returns
    -------
    KMeansClusters
        The best iteration; its centroids are histograms over the clusters of the next street.

    Raises
    ------
    InputError
        Histograms, weights or numbers are invalid, or there are fewer than k distinct hands.

    Notes
    -----
    Means are averages of histograms, which do not minimize this distance, so the cost may rise: the best iteration is
    returned. An empty cluster restarts at the farthest hand.

    References
    ----------
    .. [1] Ganzfried & Sandholm, "Potential-aware imperfect-recall abstraction with earth mover's distance in
       imperfect-information games", AAAI 2014 (Algorithms 1 and 2).

    Examples
    --------
    >>> points = to_sparse(np.array([[4, 0, 0], [3, 1, 0], [0, 1, 3], [0, 0, 4]]))
    >>> potential_kmeans(points, None, 2, ground_distances(np.eye(3))).sizes.tolist()
    [2.0, 2.0]
    """
    hands, clusters = len(points.start) - 1, len(ground.distance)
    weight = as_weights(weights, hands, "hands")
    check_threads(threads)
    check_cluster_options(k, hands, "hands", restarts, iterations, sample)
    check_means(points, np.zeros((1, clusters)), ground)
    results = []
    for restart, state in enumerate(np.random.SeedSequence(seed).spawn(restarts)):
        seeding, whole = (StepReporter(progress, stage, restart) for stage in ("seed", "whole"))
        start = _kmeans_plus_plus(points, weight, k, ground, np.random.default_rng(state), sample, seeding, exact)
        means = to_dense(select_rows(points, start), clusters)
        results.append(_lloyd(points, weight, means, ground, iterations, tolerance, threads, whole, exact))
    return min(results, key=cluster_rank)


def _lloyd(
    points: SparseHistograms,
    weight: Array,
    means: Array,
    ground: GroundDistances,
    iterations: int,
    tolerance: float,
    threads: int,
    report: StepReporter,
    exact: bool,
) -> KMeansClusters:
    """Run Lloyd's algorithm from these means, and return the best iteration."""
    k, mass = len(means), weight.sum()
    label: Array | None = None
    best: KMeansClusters | None = None
    cost, changed, evaluated = np.nan, 1.0, 0
    for number in range(1, iterations + 1):
        before = label
        going = partial(report, number, cost, changed)
        label, distance, taken = assign_to_means(points, means, ground, before, threads, going, exact)
        evaluated += taken
        size = np.bincount(label, weight, k)
        cost, square = (float((weight * np.power(distance, n, dtype=float)).sum() / mass) for n in (1, 2))
        changed = 1.0 if before is None else float(weight[before != label].sum() / mass)
        clusters = KMeansClusters(means, label, size, cost, square, number, evaluated)
        if best is None or cluster_rank(clusters) <= cluster_rank(best):
            best = clusters
        report(number, cost, changed, 1.0)
        empty = np.flatnonzero(size == 0)
        if changed <= tolerance and not len(empty):
            break
        means = _next_means(points, weight, label, distance, means, empty)
    assert best is not None
    return replace(best, iterations=number, evaluated=evaluated)


def _next_means(
    points: SparseHistograms, weight: Array, label: Array, distance: Array, means: Array, empty: Array
) -> Array:
    """Return the mean histogram of each cluster; empty ones restart at the farthest hands. float32 [k, clusters]"""
    total, size = np.zeros(means.shape), np.zeros(len(means))
    kernels.sum_by_cluster(points, weight, label, total, size)
    size[empty] = 1.0
    out = (total / size[:, None]).astype(np.float32)
    if len(empty):
        furthest = np.argsort(-distance, kind="stable")[: len(empty)]
        out[empty] = to_dense(select_rows(points, furthest), means.shape[1])
    return out


def _kmeans_plus_plus(
    points: SparseHistograms,
    weight: Array,
    k: int,
    ground: GroundDistances,
    rng: np.random.Generator,
    sample: int | None,
    report: StepReporter,
    exact: bool,
) -> Array:
    """Draw initial hands by k-means++: by weight times squared distance to the hands drawn before. int64 [k]"""
    pool = np.arange(len(weight))
    if sample is not None and sample < len(pool):
        pool = np.sort(rng.choice(pool, sample, replace=False, p=weight / weight.sum()))
        weight = np.ones(sample)  # the sample is drawn by weight
        points = select_rows(points, pool)
    embedding = np.empty((len(pool), ground.places.shape[1]), np.float32)
    kernels.mean_embeddings(points, ground.places, embedding)
    distance = np.full(len(pool), np.inf, np.float32)
    scratch, chosen = _scratch(points, ground, 1, exact), np.empty(k, np.int64)
    chance = weight
    for m in range(k):
        if not chance.sum() > 0:
            raise InputError(f"k={k} clusters of {m} distinct hands: use at most k={m} or a larger sample")
        chosen[m] = rng.choice(len(pool), p=chance / chance.sum())
        mean = to_dense(select_rows(points, chosen[m : m + 1]), len(ground.distance))
        kernels.update_nearest_distance(
            points, mean[0], _mean_embeddings(mean, ground), embedding, ground, scratch, distance
        )
        chance = weight * np.square(distance, dtype=float)
        report(0, np.nan, 1.0, (m + 1) / k)
    return pool[chosen]


def _mean_embeddings(means: Array, ground: GroundDistances) -> Array:
    """Return the embeddings of means as columns. float32 [dims, k]"""
    places = np.asarray(means, float) @ ground.places.astype(float)
    return np.ascontiguousarray(places.T, np.float32)


def check_means(points: SparseHistograms, means: Array, ground: GroundDistances) -> Array:
    """Return means as float32, after a check that they and the histograms fit the ground distances.

    Parameters
    ----------
    points
        Histograms of the hands.
    means
        float [k, clusters]: histograms.
    ground
        Distances between the clusters.

    Returns
    -------
    Array
        float32 [k, clusters].

    Raises
    ------
    InputError
        Means or histograms do not fit the ground distances.

    Examples
    --------
    >>> check_means(to_sparse(np.eye(3)), np.eye(3)[:1], ground_distances(np.eye(3))).tolist()
    [[1.0, 0.0, 0.0]]
    """
    clusters = len(ground.distance)
    means = np.ascontiguousarray(means, np.float32)
    if means.ndim != 2 or means.shape[1] != clusters or not len(means):
        raise InputError(f"means of shape {means.shape}: expected [k, {clusters}], one column for each ground distance")
    if points.cluster.max(initial=0) >= clusters:
        raise InputError(
            f"histograms contain cluster {points.cluster.max()}, but there are ground distances for {clusters} clusters"
        )
    return means


def _scratch(
    points: SparseHistograms, ground: GroundDistances, means: int = 0, exact: bool = False
) -> kernels.GreedyEmdScratch:
    clusters, dims = ground.places.shape
    left, need, place, bound = (np.empty(n, np.float32) for n in (clusters, clusters, dims, means))
    rank, live, queue = (np.empty(n, np.int32) for n in (clusters, clusters, means))
    transport = transport_scratch(points, clusters) if exact else transport_scratch(None, 0)
    return kernels.GreedyEmdScratch(left, need, rank, live, place, bound, queue, transport)


def transport_scratch(points: SparseHistograms | None, clusters: int) -> TransportScratch:
    """Return scratch memory for exact distances.

    Parameters
    ----------
    points
        Histograms of the hands; None for empty arrays, which stand for greedy distances.
    clusters
        Number of clusters of the next street.

    Returns
    -------
    TransportScratch
        Arrays for the largest point.

    Examples
    --------
    >>> transport_scratch(to_sparse(np.array([[1, 0, 3]])), 3).flow.shape
    (2, 3)
    """
    rows = 0 if points is None else int(np.diff(points.start).max(initial=0))
    supply, row_price, row_distance = (np.empty(rows) for _ in range(3))
    demand, column_price, column_distance = (np.empty(clusters) for _ in range(3))
    row_parent, column, column_parent, num_senders = (np.empty(n, np.int32) for n in (rows, *(clusters,) * 3))
    return TransportScratch(
        np.empty((rows, clusters)), supply, row_price, row_distance, row_parent, np.empty(rows, bool),
        column, demand, column_price, column_distance, column_parent, np.empty((clusters, rows), np.int32), num_senders,
    )  # fmt: skip
