"""The hierarchical abstraction of Tartanian7: public states in clusters, and hands only ever with hands of their cluster.

The public states of one round (the 1,755 canonical flops) are clustered by what they do to a base abstraction: two flops
are alike when they send equal numbers of hands to each of its buckets (Brown, Ganzfried & Sandholm 2015, Algorithm 2). In
that round and all later ones, hands are then clustered for each public bucket alone (Algorithm 1), so that a machine that
plays one bucket never reads what belongs to another.

The paper's distance (V - Σ min) / V is half the L1 distance of the two rows over V, since all rows sum to V: the total
variation, and a metric up to states with equal rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np

from riverboat.abstraction.clustering._kernels import public as kernels
from riverboat.cards.deck import FULL_DECK, Deck
from riverboat.cards.equity.equities import spread
from riverboat.cards.isomorphism import Indexer, board_index, canonical_boards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, unknown

Progress: TypeAlias = Callable[[float], None]
Cluster: TypeAlias = Callable[
    [int, Array, Array], Array
]  # public bucket, hands, weights -> a label from 0 for each hand

_CHUNK = 1 << 18
_LEAST_GAIN = 1e-12  # of a move: rounding does not go round in circles


# --- distances between public states ----------------------------------------------------------------


def look_ups(labels: Array, cards: int = 3, deck: Deck = FULL_DECK) -> Array:
    """Buckets of every hand on every canonical board of some cards: 1,755 × 1,176 on the flop. int32 [boards, hands]

    `labels` is the base abstraction: a bucket for each canonical hand of `Indexer.for_deck(deck, (deck.hole, cards))`.
    """
    indexer = Indexer.for_deck(deck, (deck.hole, cards))
    labels = np.asarray(labels)
    if labels.shape != (indexer.size(),) or labels.dtype.kind not in "iu" or labels.min() < 0:
        raise InputError(
            f"labels of shape {labels.shape} and type {labels.dtype}: "
            f"expected whole numbers from 0 for the {indexer.size():,} hands of {indexer}"
        )
    boards, _ = canonical_boards(cards, deck)
    live = ~(deck.hands[None, :, :, None] == boards[:, None, None, :]).any(axis=(2, 3))
    which, hand = np.nonzero(live)
    deals = np.concatenate([deck.hands[hand], boards[which]], axis=1)
    return labels[indexer.index(deals, check=False)].astype(np.int32).reshape(len(boards), -1)


def transitions(buckets: Array, count: int | None = None) -> Array:
    """How many private states each public state sends to each bucket. int [states, private] -> int [states, count]"""
    buckets = np.asarray(buckets)
    if buckets.ndim != 2 or buckets.dtype.kind not in "iu" or not buckets.size or buckets.min() < 0:
        raise InputError(
            f"buckets of shape {buckets.shape}: expected whole numbers from 0, [public states, private states]"
        )
    states, private = buckets.shape
    most = int(buckets.max()) + 1
    count = most if count is None else count
    if count < most:
        raise InputError(f"count={count}: the buckets go up to {most - 1}")
    rows = np.arange(states)[:, None] * count + buckets
    table = np.bincount(rows.ravel(), minlength=states * count).reshape(states, count)
    return table.astype(np.uint16 if private < 1 << 16 else np.int32)


def public_distances(table: Array, threads: int = 1, progress: Progress | None = None) -> Array:
    """Distances between public states: the share of private states that go to other buckets. float64 [states, states]"""
    table = np.ascontiguousarray(table)
    if table.ndim != 2 or table.dtype not in (np.uint16, np.int32) or not table.size:
        raise InputError(f"table of shape {table.shape} and type {table.dtype}: give what `transitions` returns")
    totals = table.sum(axis=1, dtype=np.int64)
    if totals.min() != totals.max() or totals[0] < 1:
        raise InputError(
            f"table with rows that sum to {totals.min()} to {totals.max()}: all need the same sum, above zero"
        )
    common = np.zeros((len(table), len(table)), np.int32)

    def work(part: slice) -> tuple[Array, ...]:
        kernels.overlaps(table, part.start, part.stop, common)
        return ()

    spread(work, len(table), threads, progress, chunk=4 * kernels.BLOCK)
    common = np.triu(common) + np.triu(common, 1).T
    distance: Array = (totals[0] - common) / totals[0]
    return distance


# --- clustering public states -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PublicClusters:
    """Public states in clusters."""

    labels: Array  # int32 [states]
    sizes: Array  # float64 [clusters]: weights
    cost: float  # that of the objective; of `sum`: distances over pairs that share a cluster, times both weights
    iterations: int
    settled: bool  # whether nothing moved in the last iteration


def cluster_public(
    distance: Array,
    k: int,
    weights: Array | None = None,
    seed: int = 0,
    restarts: int = 1,
    iterations: int = 100,
    together: bool = False,
    objective: str = "sum",
) -> PublicClusters:
    """Clusters of public states by the sum of distances to their members (Algorithm 3), from a k-means++ start.

    The sum makes small clusters attractive, so that sizes stay balanced; the paper wants that, since each is work for one
    machine. By default states move one by one: each move lowers the cost, no cluster empties, and it ends by itself.
    `together` moves all states at once by the labels of the iteration before, as the paper prints it. Then all run to
    the smallest clusters (the 1,755 flops end in one within three steps), and clusters that empty must stay so, or their
    sum of zero would draw everything; the best iteration is kept, which may be the start.
    The paper gives all flops the same weight, which is the default here.

    Other objectives, for comparison: `mean`, sums over pairs divided by the weight of their cluster, one by one, too; and
    `medoids`, the distance to one state that stands for its cluster. Both leave clusters as unlike in size as flops are.
    """
    distance = np.ascontiguousarray(distance, float)
    states = len(distance)
    if distance.shape != (states, states) or not (distance >= 0).all() or not np.allclose(distance, distance.T):
        raise InputError(f"distances of shape {distance.shape}: expected a symmetric [states, states] from 0 up")
    weight = np.ones(states) if weights is None else np.ascontiguousarray(weights, float)
    if weight.shape != (states,) or not (np.isfinite(weight).all() and (weight > 0).all()):
        raise InputError(f"weights of shape {weight.shape}: expected one above zero for each of {states} states")
    if not 1 <= k <= states:
        raise InputError(f"k={k} clusters of {states} public states: must be 1 to {states}")
    if restarts < 1 or iterations < 1:
        raise InputError(f"restarts={restarts}, iterations={iterations}: each must be at least 1")
    if objective not in OBJECTIVES:
        raise unknown("objective", objective, OBJECTIVES)
    if together and objective != "sum":
        raise InputError(f"together with objective={objective!r}: all at once is how the paper prints the sum")
    move = _together if together else OBJECTIVES[objective]
    tries = [
        move(distance, weight, _start(distance, weight, k, np.random.default_rng(state)), k, iterations)
        for state in np.random.SeedSequence(seed).spawn(restarts)
    ]
    return min(tries, key=lambda c: (int((c.sizes == 0).sum()), c.cost))


def _start(distance: Array, weight: Array, k: int, rng: np.random.Generator) -> Array:
    """Labels by the nearest of k states that k-means++ takes. int32 [states]"""
    nearest = np.full(len(weight), np.inf)
    chance = weight
    chosen: list[int] = []
    for _ in range(k):
        if not chance.sum() > 0:  # all that is left equals a chosen one
            chance = np.where(np.isin(np.arange(len(weight)), chosen), 0.0, weight)
        chosen.append(int(rng.choice(len(weight), p=chance / chance.sum())))
        nearest = np.minimum(nearest, distance[chosen[-1]])
        chance = weight * nearest**2
    label: Array = distance[:, chosen].argmin(axis=1).astype(np.int32)
    label[chosen] = np.arange(k)  # also where two of them are alike
    return label


def _result(sums: Array, weight: Array, label: Array, k: int, iterations: int, settled: bool) -> PublicClusters:
    cost = float((weight * sums[np.arange(len(label)), label]).sum()) / 2
    return PublicClusters(label.copy(), np.bincount(label, weight, k), cost, iterations, settled)


def _together(distance: Array, weight: Array, label: Array, k: int, iterations: int) -> PublicClusters:
    sums, best = np.empty((len(label), k)), None
    for t in range(iterations + 1):
        kernels.distance_sums(distance, weight, label, sums)
        empty = np.bincount(label, minlength=k) == 0
        following = np.where(empty, np.inf, sums).argmin(axis=1).astype(np.int32)
        here = _result(sums, weight, label, k, t, bool((following == label).all()))
        if best is None or ((here.sizes == 0).sum(), here.cost) < ((best.sizes == 0).sum(), best.cost):
            best = here
        if here.settled:
            return here if here is best else best
        label = following
    assert best is not None
    return best


def _one_by_one(distance: Array, weight: Array, label: Array, k: int, iterations: int) -> PublicClusters:
    sums, size = np.empty((len(label), k)), np.bincount(label, minlength=k)
    moves, t = 1, 0
    while moves and t < iterations:
        t += 1
        kernels.distance_sums(distance, weight, label, sums)  # afresh: rounding does not add up
        moves = kernels.sweep(distance, weight, sums, size, label)
    kernels.distance_sums(distance, weight, label, sums)
    return _result(sums, weight, label, k, t, moves == 0)


def _by_means(distance: Array, weight: Array, label: Array, k: int, iterations: int) -> PublicClusters:
    """Each state to where Σ (sum over pairs) / (weight) over clusters becomes least."""
    sums, size = np.empty((len(label), k)), np.bincount(label, minlength=k)
    kernels.distance_sums(distance, weight, label, sums)
    mass = np.bincount(label, weight, k)
    pairs = np.bincount(label, weight * sums[np.arange(len(label)), label], k) / 2
    moves, t = 1, 0
    while moves and t < iterations:
        moves, t = 0, t + 1
        for i, w in enumerate(weight.tolist()):
            here = int(label[i])
            if size[here] == 1:
                continue
            left = (pairs[here] - w * sums[i, here]) / (mass[here] - w) - pairs[here] / mass[here]
            gain = (pairs + w * sums[i]) / (mass + w) - pairs / mass
            gain[here] = -left
            there = int(gain.argmin())
            if gain[there] + left > -_LEAST_GAIN:
                continue
            for cluster, sign in ((here, -1), (there, 1)):
                pairs[cluster] += sign * w * sums[i, cluster]
                mass[cluster] += sign * w
                size[cluster] += sign
                sums[:, cluster] += sign * w * distance[:, i]
            label[i], moves = there, moves + 1
    return PublicClusters(label.copy(), mass, float((pairs / mass).sum()), t, moves == 0)


def _by_medoids(distance: Array, weight: Array, label: Array, k: int, iterations: int) -> PublicClusters:
    """The state of each cluster that is nearest to all of it, then all states to the nearest of these, in turn."""
    t, settled = 0, False
    while not settled and t < iterations:
        t += 1
        member = (label[:, None] == np.arange(k)) * weight[:, None]
        spans = np.where(member > 0, distance @ member, np.inf)
        medoid = spans.argmin(axis=0)
        following = distance[:, medoid].argmin(axis=1).astype(np.int32)
        following[medoid] = np.arange(k)  # also where two of them are alike
        settled = bool((following == label).all())
        label = following
    cost = float((weight * distance[np.arange(len(label)), medoid[label]]).sum())
    return PublicClusters(label, np.bincount(label, weight, k), cost, t, settled)


OBJECTIVES: dict[str, Callable[[Array, Array, Array, int, int], PublicClusters]] = {
    "sum": _one_by_one,
    "mean": _by_means,
    "medoids": _by_medoids,
}


# --- private clustering inside the public buckets -----------------------------------------------------


@dataclass(frozen=True, eq=False)
class PublicBuckets:
    """A bucket for each canonical board of some cards, such as the flops, of a deck."""

    labels: Array  # int [boards]: from 0
    cards: int = 3
    deck: Deck = FULL_DECK

    def __post_init__(self) -> None:
        boards = len(canonical_boards(self.cards, self.deck)[0])
        given = np.asarray(self.labels)
        if given.shape != (boards,) or given.dtype.kind not in "iu" or given.min() < 0:
            raise InputError(f"labels of shape {given.shape}: expected whole numbers from 0 for the {boards:,} boards")

    @property
    def count(self) -> int:
        """How many public buckets there are."""
        return int(self.labels.max()) + 1

    def of(self, boards: Array) -> Array:
        """The buckets of boards. uint8 [..., cards] -> int [...]"""
        buckets: Array = np.asarray(self.labels)[board_index(boards, self.deck)]
        return buckets

    def openings(self, cards: int) -> Array:
        """How many of the flops inside each canonical board of `cards` lie in each public bucket. uint8 [boards, count]"""
        boards, _ = canonical_boards(cards, self.deck)
        if cards < self.cards:
            raise InputError(f"boards of {cards} cards: the public buckets are of {self.cards}")
        out = np.zeros((len(boards), self.count), np.uint8)
        for choice in combinations(range(cards), self.cards):
            np.add.at(out, (np.arange(len(boards)), self.of(boards[:, list(choice)])), 1)
        return out


@dataclass(frozen=True, eq=False)
class PrivateBuckets:
    """Buckets of hands on one street, each inside one public bucket.

    A later board belongs to the public buckets of all flops that it may have begun with, up to ten on the river, so a hand
    has as many buckets. They are kept in layers: layer s has a hand's bucket for the s-th of its board's public buckets,
    in their order. Features do not depend on the order of the board and are kept once, whatever the flop was.
    """

    public: PublicBuckets
    cards: int  # of the board
    layer: Array  # uint8 [boards, public buckets]: the layer, 255 where the board cannot have begun there
    labels: Array  # uint16 or int32 [layers, canonical hands]; the largest number where there is no such layer
    first: Array  # int64 [public buckets + 1]: the first bucket of each, and the end

    def of(self, deals: Array) -> Array:
        """The buckets of deals, uint8 [n, hole + board], the cards of the public state before the rest. int64 [n]"""
        deck, deals = self.public.deck, np.asarray(deals)
        hand = Indexer.for_deck(deck, (deck.hole, self.cards)).index(deals)
        board = board_index(deals[..., deck.hole :], deck)
        public = self.public.of(deals[..., deck.hole : deck.hole + self.public.cards])
        return self.labels[self.layer[board, public], hand].astype(np.int64)

    def within(self, bucket: int) -> Array:
        """Buckets of all canonical hands inside one public bucket, from 0; -1 for hands outside it. int32 [hands]

        What `potential.histograms` needs for the street before.
        """
        first, end = self.first[bucket : bucket + 2]
        out = np.full(self.labels.shape[1], -1, np.int32)
        for row in self.labels:
            here = (row >= first) & (row < end)  # buckets are of one public bucket alone
            out[here] = row[here] - first
        return out


def boards_of(cards: int, deck: Deck = FULL_DECK, threads: int = 1) -> Array:
    """The canonical board of every canonical hand. int32 [hands]"""
    indexer = Indexer.for_deck(deck, (deck.hole, cards))
    out = np.empty(indexer.size(), np.int32)

    def work(part: slice) -> tuple[Array, ...]:
        deals = indexer.unindex(np.arange(part.start, part.stop))
        out[part] = board_index(deals[:, deck.hole :], deck, check=False)
        return ()

    spread(work, len(out), threads, chunk=_CHUNK)
    return out


def cluster_private(
    public: PublicBuckets,
    cards: int,
    cluster: Cluster,
    out: Array | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> PrivateBuckets:
    """Cluster the hands on boards of `cards` inside each public bucket (Algorithm 1).

    `cluster(bucket, hands, weights)` gets the canonical hands whose board may have begun in that public bucket, int64 [n]
    ascending, and how many deals each stands for, float64 [n] (one five-card board counts for each of its flops there);
    it answers with labels from 0, int [n]. `out` may be a memory-mapped array for the labels.
    """
    deck = public.deck
    indexer = Indexer.for_deck(deck, (deck.hole, cards))
    openings = public.openings(cards)
    layers = int((openings > 0).sum(axis=1).max())
    layer = np.where(openings > 0, np.cumsum(openings > 0, axis=1) - 1, 255).astype(np.uint8)
    shape = layers, indexer.size()
    labels = np.empty(shape, np.uint16) if out is None else out
    if labels.shape != shape or labels.dtype not in (np.uint16, np.int32):
        raise InputError(f"out of shape {labels.shape} and type {labels.dtype}: expected uint16 or int32 {shape}")
    nothing = np.iinfo(labels.dtype).max
    labels[:] = nothing
    board, times = boards_of(cards, deck, threads), _times(indexer, threads)
    first = np.zeros(public.count + 1, np.int64)
    for c in range(public.count):
        hands = np.flatnonzero((openings[:, c] > 0)[board])
        first[c + 1] = first[c]
        if not len(hands):
            continue
        where = board[hands]
        inside = np.asarray(cluster(c, hands, times[hands].astype(float) * openings[where, c]))
        if inside.shape != hands.shape or inside.dtype.kind not in "iu" or inside.min() < 0:
            raise InputError(
                f"public bucket {c}: labels of shape {inside.shape}: expected whole numbers for {len(hands):,} hands"
            )
        first[c + 1] += int(inside.max()) + 1
        if first[c + 1] > nothing:
            raise InputError(
                f"public bucket {c}: {first[c + 1]:,} buckets do not fit {labels.dtype}: give `out` as int32"
            )
        labels[layer[where, c], hands] = inside + first[c]
        if progress is not None:
            progress((c + 1) / public.count)
    return PrivateBuckets(public, cards, layer, labels, first)


def _times(indexer: Indexer, threads: int) -> Array:
    """How many deals each canonical hand stands for. uint8 [hands]"""
    out = np.empty(indexer.size(), np.uint8)

    def work(part: slice) -> tuple[Array, ...]:
        out[part] = indexer.count(np.arange(part.start, part.stop))
        return ()

    spread(work, len(out), threads, chunk=_CHUNK)
    return out
