"""Potential-aware abstraction: hands are alike that lead to alike clusters on the next street, with alike chances.

A hand is its histogram over the clusters of the next street. The clusters have no order, so the earth mover's distance of
two histograms needs a distance between clusters, the ground distance: that of their centres (Ganzfried & Sandholm 2014,
Algorithm 1). In the loop the distance is the greedy one of their Algorithm 2. It is the cost of a transport that is
possible, so never below the exact distance.

Places make it fast. Give every cluster a place, no two further apart than their ground distance. Then the mean places of
two histograms are no further apart than the exact distance (the norm is convex), so no further than the greedy one, and a
mean whose place is too far away cannot be the nearest. Nothing is lost: the labels are those of the full search. Under the
ground distance of 1-D histograms the place is the cumulative histogram, and this bound is the earth mover's distance of
river strengths.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import comb
from typing import TypeAlias

import numpy as np

from riverboat.abstraction.clustering._kernels import potential as kernels
from riverboat.abstraction.clustering.kmeans import Clusters, Step
from riverboat.cards._kernels.isomorphism import NOWHERE
from riverboat.cards.equity.equities import spread
from riverboat.cards.isomorphism import Indexer
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, check_threads, unknown

Histograms: TypeAlias = kernels.Histograms
Ground: TypeAlias = kernels.Ground
Progress: TypeAlias = Callable[[float], None]

CHUNK = 2048
MOST = 1 << 16  # clusters of the next street
_SLACK = 1e-5  # of the largest distance: rounding in single precision, and mass below `kernels.SPENT`


# --- histograms and ground distances --------------------------------------------------------------


def histograms(
    here: Indexer,
    after: Indexer,
    labels: Array,
    hands: Array | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> Histograms:
    """Where the next cards lead each hand.

    `labels` gives the cluster of every canonical hand of the next street, int [hands of `after`], from 0, or -1 for
    hands that these cannot become. `hands` are canonical indices of this street, all by default. `after` deals the cards of
    `here` and more, as (2, 4) or (2, 3, 1) after (2, 3).
    """
    fresh, width = after.widths[-1] - here.widths[-1], here.widths[-1]
    joined = (*here.rounds[:-1], here.rounds[-1] + fresh)
    cards = _cards(here)
    if fresh < 1 or after.rounds not in (joined, (*here.rounds, fresh)) or not np.array_equal(cards, _cards(after)):
        raise InputError(f"{here} and then {after}: the second must deal the first and more of the same cards")
    labels = np.asarray(labels)
    if labels.shape != (after.size(),) or labels.dtype.kind not in "iu":
        raise InputError(
            f"labels of shape {labels.shape} and type {labels.dtype}: "
            f"expected whole numbers for the {after.size():,} hands of {after}"
        )
    chosen = np.arange(here.size()) if hands is None else np.ascontiguousarray(hands, np.int64)
    if not len(chosen) or chosen.min() < 0 or chosen.max() >= here.size():
        raise InputError(f"{len(chosen)} hands: give some of 0 to {here.size() - 1:,}")
    labels = np.ascontiguousarray(labels, np.int32)
    clusters = int(labels.max()) + 1
    most = min(comb(len(cards) - width, fresh), clusters)  # clusters that one hand can lead to

    def work(part: slice) -> tuple[Array, ...]:
        some = chosen[part]
        start = np.empty(len(some) + 1, np.int64)
        cluster, mass = np.empty(len(some) * most, np.int32), np.empty(len(some) * most, np.float32)
        room = kernels.DealRoom(
            np.empty(width + fresh, np.uint8), np.empty(len(cards), np.uint8), np.empty(fresh, np.int64),
            np.empty(4, np.int64), np.empty((4, len(here.rounds)), np.int64), np.zeros(clusters, np.int64),
        )  # fmt: skip
        out = Histograms(start, cluster, mass)
        wrong = kernels.count_next(here.tables(), after.tables(), some, labels, cards, width, fresh, room, out)
        if wrong >= 0:
            raise InputError(f"hand {some[wrong]:,} can become one that has no label: give one to all that follow")
        return np.diff(start), cluster[: start[-1]].copy(), mass[: start[-1]].copy()

    done = spread(work, len(chosen), threads, progress, chunk=CHUNK)
    lengths, cluster, mass = (np.concatenate([d[k] for d in done]) for k in range(3))
    return Histograms(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), cluster, mass)


def _cards(indexer: Indexer) -> Array:
    """The cards that an indexer knows. uint8 [cards]"""
    return np.flatnonzero(indexer.tables().place != NOWHERE).astype(np.uint8)


def dense(points: Histograms, clusters: int) -> Array:
    """Histograms with all their zeros. float32 [hands, clusters]"""
    out = np.zeros((len(points.start) - 1, clusters), np.float32)
    out[np.repeat(np.arange(len(out)), np.diff(points.start)), points.cluster] = points.mass
    return out


def sparse(rows: Array) -> Histograms:
    """Histograms without their zeros, each scaled to sum one. float [hands, clusters]"""
    rows = np.asarray(rows, np.float32)
    totals = rows.sum(axis=1, keepdims=True) if rows.ndim == 2 else np.zeros(1)
    if rows.ndim != 2 or rows.min(initial=0) < 0 or not totals.min(initial=1) > 0:
        raise InputError(f"histograms of shape {rows.shape}: expected [hands, clusters], none negative, no row empty")
    which, cluster = np.nonzero(rows)
    start = np.concatenate([[0], np.cumsum(np.bincount(which, minlength=len(rows)))]).astype(np.int64)
    return Histograms(start, cluster.astype(np.int32), (rows / totals)[which, cluster])


def select(points: Histograms, rows: Array) -> Histograms:
    """The histograms of some hands, in their order. int64 [rows]"""
    begin, lengths = points.start[rows], points.start[np.asarray(rows) + 1] - points.start[rows]
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    at = np.arange(start[-1]) + np.repeat(begin - start[:-1], lengths)
    return Histograms(start, points.cluster[at], points.mass[at])


def ground(centres: Array, metric: str = "emd") -> Ground:
    """Ground distances of clusters with these centres. float [clusters, dims]

    "emd": centres are histograms over ordered bins; the unit is a bin. "l2": Euclidean distance.
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
        return _ground(distance, places, kernels.L1)
    if metric == "l2":
        distance = np.stack([np.sqrt(np.square(centres - c).sum(axis=1)) for c in centres])
        return _ground(distance, centres, kernels.L2)
    raise unknown("ground distance", metric, ("emd", "l2"))


def ground_from(distance: Array, anchors: int = 32) -> Ground:
    """Ground distances from a matrix, such as that of `distances` between the means of the next street.

    The place of a cluster is its shortest ways to some anchors that lie far apart (so the matrix need not satisfy the
    triangle inequality), and places are compared in their largest difference.
    """
    distance = np.asarray(distance, float)
    square = distance.ndim == 2 and distance.shape[0] == distance.shape[1] > 0
    if not (square and np.isfinite(distance).all() and (distance >= 0).all()):
        raise InputError(f"ground distances of shape {distance.shape}: expected finite [clusters, clusters], from 0")
    if np.diag(distance).any() or not np.allclose(distance, distance.T, rtol=1e-4, atol=1e-6 * distance.max()):
        raise InputError("ground distances: must be symmetric, with zeros on the diagonal")
    distance = np.minimum(distance, distance.T)
    chosen: list[Array] = []
    nearest = distance.sum(axis=1)
    for _ in range(min(anchors, len(distance))):
        chosen.append(_shortest(distance, int(np.argmax(nearest))))
        nearest = np.min(chosen, axis=0)
    places = np.stack(chosen, axis=1) if chosen else np.zeros((len(distance), 0))
    return _ground(distance, places, kernels.MAX)


def _shortest(distance: Array, anchor: int) -> Array:
    """Lengths of the shortest ways to a cluster. float [clusters]"""
    best: Array = distance[anchor]
    while True:
        shorter = (best[:, None] + distance).min(axis=0)
        if np.array_equal(shorter, best):
            return best
        best = shorter


def _ground(distance: Array, places: Array, norm: int) -> Ground:
    if len(distance) > MOST:
        raise InputError(f"{len(distance):,} clusters on the next street: at most {MOST:,}")
    own = distance - np.eye(len(distance))  # a cluster is its own nearest, also among equals
    order = np.argsort(own, axis=1, kind="stable")
    ladder = np.take_along_axis(distance, order, axis=1)
    slack = np.array([_SLACK * distance.max()], np.float32)
    return Ground(
        distance.astype(np.float32), order.astype(np.uint16), ladder.astype(np.float32),
        np.ascontiguousarray(places, np.float32), norm, slack,
    )  # fmt: skip


# --- distances and nearest means --------------------------------------------------------------------


def distances(points: Histograms, rows: Array, means: Array, which: Array, ground: Ground) -> Array:
    """Greedy earth mover's distances of hands `rows` and means `which`. float32 [pairs]"""
    means = _checked(points, means, ground)
    rows, which = np.ascontiguousarray(rows, np.int64), np.ascontiguousarray(which, np.int64)
    out = np.empty(len(rows), np.float32)
    kernels.pairs(points, rows, which, means, ground, _room(ground), out)
    return out


def assign(
    points: Histograms,
    means: Array,
    ground: Ground,
    labels: Array | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> tuple[Array, Array, int]:
    """The nearest mean of each hand under the greedy distance. means float [k, clusters]

    Returns labels, int32 [hands], distances, float32 [hands], and how many distances were computed. `labels` may be
    those of the last iteration: a good guess saves work and changes nothing.
    """
    means = _checked(points, means, ground)
    hands = len(points.start) - 1
    distance = np.empty(hands, np.float32)
    label = np.full(hands, -1, np.int32) if labels is None else np.array(labels, np.int32)
    if label.shape != (hands,) or label.max(initial=-1) >= len(means):
        raise InputError(f"labels of shape {label.shape}: expected one below {len(means)} for each of {hands:,} hands")
    columns = _columns(means, ground)

    def work(part: slice) -> tuple[Array, ...]:
        nearby = kernels.Nearby(
            np.empty(len(columns), np.float32), np.empty(len(means), np.float32), np.empty(len(means), np.int32)
        )
        room, low, high = _room(ground), part.start, part.stop
        taken = kernels.nearest(points, low, high, means, columns, ground, nearby, room, label, distance)
        return (np.array(taken),)

    done = spread(work, hands, threads, progress, chunk=CHUNK)
    return label, distance, sum(int(d[0]) for d in done)


def cluster(
    points: Histograms,
    weights: Array | None,
    k: int,
    ground: Ground,
    seed: int = 0,
    restarts: int = 1,
    threads: int = 1,
    sample: int | None = None,
    iterations: int = 20,
    tolerance: float = 0.001,
    progress: Callable[[Step], None] | None = None,
) -> Clusters:
    """k-means of histograms under the greedy distance, as `kmeans.cluster` does it for points.

    k-means++ starts it, on `sample` hands drawn by weight where that is fewer than there are; of several restarts the
    one with the lowest cost after all iterations wins. Iterations end when at most the share `tolerance` of the weight
    goes to another mean. Means are averages of histograms, which do not minimise this distance, so that the cost may rise:
    the best iteration is kept. An empty cluster restarts at the furthest hand. The result depends on the seed and not on the
    number of threads.
    """
    hands, clusters = len(points.start) - 1, len(ground.distance)
    weight = np.ones(hands) if weights is None else np.ascontiguousarray(weights, float)
    if weight.shape != (hands,) or not (np.isfinite(weight).all() and (weight > 0).all()):
        raise InputError(f"weights of shape {weight.shape}: expected one above zero for each of {hands:,} hands")
    if not 1 <= k <= hands:
        raise InputError(f"k={k} clusters of {hands:,} hands: must be 1 to {hands:,}")
    check_threads(threads)
    if restarts < 1 or iterations < 1:
        raise InputError(f"restarts={restarts}, iterations={iterations}: each must be at least 1")
    if sample is not None and sample < k:
        raise InputError(f"sample={sample}: must be at least k={k}")
    _checked(points, np.zeros((1, clusters)), ground)
    tries = []
    for restart, state in enumerate(np.random.SeedSequence(seed).spawn(restarts)):
        tell = _teller(progress, restart)
        start = _start(points, weight, k, ground, np.random.default_rng(state), sample, tell)
        means = dense(select(points, start), clusters)
        tries.append(_lloyd(points, weight, means, ground, iterations, tolerance, threads, tell))
    return min(tries, key=_rank)


def _rank(clusters: Clusters) -> tuple[int, float]:
    """Less is better: no empty clusters, then a low cost."""
    return int((clusters.sizes == 0).sum()), clusters.cost


Tell: TypeAlias = Callable[[str, int, float, float, float], None]  # stage, iteration, cost, changed, done


def _teller(progress: Callable[[Step], None] | None, restart: int) -> Tell:
    def tell(stage: str, iteration: int, cost: float, changed: float, done: float) -> None:
        if progress is not None:
            progress(Step(stage, restart, iteration, done, cost, changed))

    return tell


def _lloyd(
    points: Histograms,
    weight: Array,
    means: Array,
    ground: Ground,
    iterations: int,
    tolerance: float,
    threads: int,
    tell: Tell,
) -> Clusters:
    """Iterate from these means."""
    k, mass = len(means), weight.sum()
    label: Array | None = None
    best: Clusters | None = None
    cost, changed, evaluated = np.nan, 1.0, 0
    for number in range(1, iterations + 1):
        before = label
        going = partial(tell, "whole", number, cost, changed)
        label, distance, taken = assign(points, means, ground, before, threads, going)
        evaluated += taken
        size = np.bincount(label, weight, k)
        cost, square = (float((weight * np.power(distance, n, dtype=float)).sum() / mass) for n in (1, 2))
        changed = 1.0 if before is None else float(weight[before != label].sum() / mass)
        here = Clusters(means, label, size, cost, square, number, evaluated)
        if best is None or _rank(here) <= _rank(best):
            best = here
        tell("whole", number, cost, changed, 1.0)
        empty = np.flatnonzero(size == 0)
        if changed <= tolerance and not len(empty):
            break
        means = _means(points, weight, label, distance, means, empty)
    assert best is not None
    return replace(best, iterations=number, evaluated=evaluated)


def _means(points: Histograms, weight: Array, label: Array, distance: Array, means: Array, empty: Array) -> Array:
    """The means that follow; empty clusters get the furthest hands. float32 [k, clusters]"""
    total, size = np.zeros(means.shape), np.zeros(len(means))
    kernels.sums(points, weight, label, total, size)
    size[empty] = 1.0
    out = (total / size[:, None]).astype(np.float32)
    if len(empty):
        furthest = np.argsort(-distance, kind="stable")[: len(empty)]
        out[empty] = dense(select(points, furthest), means.shape[1])
    return out


def _start(
    points: Histograms,
    weight: Array,
    k: int,
    ground: Ground,
    rng: np.random.Generator,
    sample: int | None,
    tell: Tell,
) -> Array:
    """Hands to start from: each by weight times the squared distance to those before it (k-means++). int64 [k]"""
    pool = np.arange(len(weight))
    if sample is not None and sample < len(pool):
        pool = np.sort(rng.choice(pool, sample, replace=False, p=weight / weight.sum()))
        weight = np.ones(sample)  # the sample has the weights in it
        points = select(points, pool)
    spot = np.empty((len(pool), ground.places.shape[1]), np.float32)
    kernels.spots(points, ground.places, spot)
    distance = np.full(len(pool), np.inf, np.float32)
    room, bound, chosen = _room(ground), np.empty(1, np.float32), np.empty(k, np.int64)
    chance = weight
    for m in range(k):
        if not chance.sum() > 0:
            raise InputError(f"k={k} clusters of {m} different hands: give at most k={m} or a larger sample")
        chosen[m] = rng.choice(len(pool), p=chance / chance.sum())
        mean = dense(select(points, chosen[m : m + 1]), len(ground.distance))
        kernels.nearer(points, mean[0], _columns(mean, ground), spot, ground, bound, room, distance)
        chance = weight * np.square(distance, dtype=float)
        tell("seed", 0, np.nan, 1.0, (m + 1) / k)
    return pool[chosen]


def _columns(means: Array, ground: Ground) -> Array:
    """The mean places of means. float32 [dims, k]"""
    places = np.asarray(means, float) @ ground.places.astype(float)
    return np.ascontiguousarray(places.T, np.float32)


def _checked(points: Histograms, means: Array, ground: Ground) -> Array:
    clusters = len(ground.distance)
    means = np.ascontiguousarray(means, np.float32)
    if means.ndim != 2 or means.shape[1] != clusters or not len(means):
        raise InputError(
            f"means of shape {means.shape}: expected [k, {clusters}], as many as there are ground distances"
        )
    if points.cluster.max(initial=0) >= clusters:
        raise InputError(f"histograms name cluster {points.cluster.max()}: there are ground distances for {clusters}")
    return means


def _room(ground: Ground) -> kernels.Room:
    clusters = len(ground.distance)
    left, need = np.empty(clusters, np.float32), np.empty(clusters, np.float32)
    return kernels.Room(left, need, np.empty(clusters, np.int32), np.empty(clusters, np.int32))
