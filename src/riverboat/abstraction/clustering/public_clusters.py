"""Hierarchical abstraction of Tartanian7: public states are clustered, then hands inside each public cluster.

The public states of one round (the 1,755 canonical flops) are clustered by their transitions to a base abstraction: two
flops are similar if they map equal numbers of hands to each of its buckets (Brown, Ganzfried & Sandholm 2015, Algorithm
2). In that round and all later ones, hands are clustered separately for each public bucket (Algorithm 1). So a machine
that plays one public bucket never reads data of another.

The paper's distance (V - Σ min) / V is half the L1 distance of the two rows divided by V, because all rows sum to V. It
is the total variation distance, and a metric up to states with equal rows. Earlier ways to cluster flops are baselines:
k-means over tables of transitions from each preflop bucket (Waugh et al. 2009), and groups by texture, defined by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np

from riverboat.abstraction.clustering._kernels import kmeans as kernels
from riverboat.abstraction.clustering.features import deal_counts
from riverboat.abstraction.clustering.kmeans import as_weights, check_cluster_options
from riverboat.cards.deck import FULL_DECK, RANKS, Deck
from riverboat.cards.equity.equities import ProgressCallback, map_chunks
from riverboat.cards.features.hand_features import live_deals
from riverboat.cards.isomorphism import HandIndexer, board_index, canonical_boards
from riverboat.core.arrays import Array, safe_divide
from riverboat.core.errors import InputError, short_repr, unknown_name_error
from riverboat.core.validation import check_name

# (public bucket, canonical hands, weights) -> a label from 0 for each hand
PrivateClusterer: TypeAlias = Callable[[int, Array, Array], Array]

_CHUNK = 1 << 18
_MIN_GAIN = 1e-12  # smallest improvement of a move, so that rounding causes no cycles


# --- distances between public states ----------------------------------------------------------------


def bucket_lookups(labels: Array, cards: int = 3, deck: Deck = FULL_DECK) -> Array:
    """Return the buckets of every hand on every canonical board: 1,755 × 1,176 on the flop.

    Parameters
    ----------
    labels
        The base abstraction: a bucket for each canonical hand of `HandIndexer.for_deck(deck, (deck.hole, cards))`.
    cards
        Number of board cards.
    deck
        The deck.

    Returns
    -------
    Array
        int32 [boards, hands that a board does not block].

    Raises
    ------
    InputError
        The labels are not whole numbers from 0, one for each canonical hand.

    Examples
    --------
    >>> deck = Deck("JQK", "hs", hole=1)
    >>> bucket_lookups(np.arange(15), 1, deck).shape
    (3, 5)
    """
    indexer = HandIndexer.for_deck(deck, (deck.hole, cards))
    labels = np.asarray(labels)
    if labels.shape != (indexer.size(),) or labels.dtype.kind not in "iu" or labels.min() < 0:
        raise InputError(
            f"labels of shape {labels.shape} and type {labels.dtype}: "
            f"expected whole numbers, 0 or more, for the {indexer.size():,} hands of {indexer}"
        )
    boards, _ = canonical_boards(cards, deck)
    _, deals = live_deals(boards, deck)
    return labels[indexer.index(deals, check=False)].astype(np.int32).reshape(len(boards), -1)


def transition_counts(buckets: Array, count: int | None = None) -> Array:
    """Count the private states of each public state in each bucket.

    Parameters
    ----------
    buckets
        int [public states, private states]: bucket of each private state, from 0.
    count
        Number of buckets; one more than the largest by default.

    Returns
    -------
    Array
        uint16 or int32 [public states, count].

    Raises
    ------
    InputError
        The buckets are not whole numbers from 0 to `count` - 1.

    Examples
    --------
    >>> transition_counts(np.array([[0, 1, 1], [0, 0, 1]])).tolist()
    [[1, 2], [2, 1]]
    """
    buckets = np.asarray(buckets)
    if buckets.ndim != 2 or buckets.dtype.kind not in "iu" or not buckets.size or buckets.min() < 0:
        raise InputError(
            f"buckets of shape {buckets.shape}: expected whole numbers, 0 or more, [public states, private states]"
        )
    states, private = buckets.shape
    num_buckets = int(buckets.max()) + 1
    count = num_buckets if count is None else count
    if count < num_buckets:
        raise InputError(f"count={count}: the buckets go up to {num_buckets - 1}")
    rows = np.arange(states)[:, None] * count + buckets
    table = np.bincount(rows.ravel(), minlength=states * count).reshape(states, count)
    return table.astype(np.uint16 if private < 1 << 16 else np.int32)


def transition_probabilities(before: Array, after: Array, counts: tuple[int, int]) -> Array:
    """Return the probabilities of transitions from buckets of the round before to buckets of this round.

    Parameters
    ----------
    before, after
        int [public states, private states]: buckets of each private state in both rounds, from 0.
    counts
        Number of buckets of both rounds.

    Returns
    -------
    Array
        float32 [public states, counts[0] · counts[1]]: probability of bucket j given bucket i, at i · counts[1] + j; zeros
        where the public state leaves no private state in bucket i.

    References
    ----------
    .. [1] Waugh et al., "A practical use of imperfect recall", SARA 2009.

    Examples
    --------
    >>> transition_probabilities(np.array([[0, 0, 1]]), np.array([[0, 1, 1]]), (2, 2)).tolist()
    [[0.5, 0.5, 0.0, 1.0]]
    """
    pairs = transition_counts(np.asarray(before) * counts[1] + after, counts[0] * counts[1])
    table = pairs.reshape(len(pairs), *counts).astype(np.float32)
    return safe_divide(table, table.sum(axis=2, keepdims=True)).astype(np.float32).reshape(len(pairs), -1)


def public_distances(table: Array, threads: int = 1, progress: ProgressCallback | None = None) -> Array:
    """Return the distances between public states: the share of private states in different buckets.

    Parameters
    ----------
    table
        Result of `transition_counts`.
    threads
        Number of threads.
    progress
        Called with the completed share.

    Returns
    -------
    Array
        float64 [states, states], from 0 to 1.

    Raises
    ------
    InputError
        The table has another type, or rows of different sums.

    References
    ----------
    .. [1] Brown, Ganzfried & Sandholm, "Hierarchical abstraction, distributed equilibrium computation, and
       post-processing, with application to a champion no-limit Texas hold'em agent", AAMAS 2015 (Algorithm 2).

    Examples
    --------
    >>> public_distances(transition_counts(np.array([[0, 1], [0, 0]]))).tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    table = np.ascontiguousarray(table)
    if table.ndim != 2 or table.dtype not in (np.uint16, np.int32) or not table.size:
        raise InputError(f"table of shape {table.shape} and type {table.dtype}: use the result of `transition_counts`")
    totals = table.sum(axis=1, dtype=np.int64)
    if totals.min() != totals.max() or totals[0] < 1:
        raise InputError(
            f"table with rows that sum to {totals.min()} to {totals.max()}: all rows need the same positive sum"
        )
    common = np.zeros((len(table), len(table)), np.int32)

    def work(part: slice) -> None:
        kernels.overlaps(table, part.start, part.stop, common)

    map_chunks(work, len(table), threads, progress, chunk=4 * kernels.OVERLAP_BLOCK)
    common = np.triu(common) + np.triu(common, 1).T
    return np.asarray((totals[0] - common) / totals[0])


# --- clustering public states -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PublicClusters:
    """Clusters of public states.

    Attributes
    ----------
    labels
        int32 [states].
    sizes
        float64 [clusters]: weights.
    cost
        Value of the objective; for `sum`: distances of pairs in one cluster, times both weights.
    iterations
        Number of iterations.
    converged
        Whether nothing moved in the last iteration.

    Examples
    --------
    >>> cluster_public(np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]]), 2).cost
    0.0
    """

    labels: Array  # int32 [states]
    sizes: Array  # float64 [clusters]: weights
    cost: float  # value of the objective; for `sum`: distances of pairs in one cluster, times both weights
    iterations: int
    converged: bool  # whether nothing moved in the last iteration


def cluster_public(
    distance: Array,
    k: int,
    weights: Array | None = None,
    seed: int = 0,
    restarts: int = 1,
    iterations: int = 100,
    simultaneous: bool = False,
    objective: str = "sum",
) -> PublicClusters:
    """Cluster public states by the sum of distances to the members of a cluster, from a k-means++ start.

    Parameters
    ----------
    distance
        float [states, states], symmetric, not negative.
    k
        Number of clusters.
    weights
        Positive weights [states]; equal ones by default, as in the paper.
    seed
        Random seed of the starts.
    restarts
        Number of starts; the one with the lowest cost wins.
    iterations
        Most iterations of each start.
    simultaneous
        Move all states at once by the labels of the previous iteration, as printed in the paper; for `sum` only.
    objective
        `sum`; or `mean`, sums over pairs divided by the weight of their cluster; or `medoids`, the distance to one
        representative state of the cluster. The last two leave very uneven cluster sizes.

    Returns
    -------
    PublicClusters
        The best start.

    Raises
    ------
    InputError
        Distances, weights or numbers are invalid, or the objective is unknown.

    Notes
    -----
    The sum favors small clusters, so sizes stay balanced. The paper wants this, because each cluster is work for one
    machine. By default states move one by one: each move decreases the cost, no cluster becomes empty, and the
    algorithm terminates. With `simultaneous` all states move to the smallest clusters: the 1,755 flops end in one
    within three steps. Empty clusters must stay empty, or their sum of zero would attract all states. The best
    iteration is returned, which may be the start.

    References
    ----------
    .. [1] Brown, Ganzfried & Sandholm, "Hierarchical abstraction, distributed equilibrium computation, and
       post-processing, with application to a champion no-limit Texas hold'em agent", AAMAS 2015 (Algorithm 3).

    Examples
    --------
    >>> clusters = cluster_public(np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]]), 2)
    >>> sorted(clusters.sizes.tolist()), clusters.converged
    ([1.0, 2.0], True)
    """
    distance = np.ascontiguousarray(distance, float)
    states = len(distance)
    if distance.shape != (states, states) or not (distance >= 0).all() or not np.allclose(distance, distance.T):
        raise InputError(
            f"distances of shape {distance.shape}: expected a symmetric matrix [states, states] of numbers 0 or more"
        )
    weight = as_weights(weights, states, "public states")
    check_cluster_options(k, states, "public states", restarts, iterations)
    check_name("objective", objective, OBJECTIVES)
    if simultaneous and objective != "sum":
        raise InputError(f"simultaneous with objective={objective!r}: only objective='sum' supports it")
    move = _move_simultaneously if simultaneous else OBJECTIVES[objective]
    results = [
        move(distance, weight, _initial_labels(distance, weight, k, np.random.default_rng(state)), k, iterations)
        for state in np.random.SeedSequence(seed).spawn(restarts)
    ]
    return min(results, key=lambda c: (int((c.sizes == 0).sum()), c.cost))


def _initial_labels(distance: Array, weight: Array, k: int, rng: np.random.Generator) -> Array:
    """Draw k states by k-means++ and label each state by the nearest of them. int32 [states]"""
    nearest = np.full(len(weight), np.inf)
    chance = weight
    chosen: list[int] = []
    for _ in range(k):
        if not chance.sum() > 0:  # all other states equal a chosen one
            chance = np.where(np.isin(np.arange(len(weight)), chosen), 0.0, weight)
        chosen.append(int(rng.choice(len(weight), p=chance / chance.sum())))
        nearest = np.minimum(nearest, distance[chosen[-1]])
        chance = weight * nearest**2
    label: Array = distance[:, chosen].argmin(axis=1).astype(np.int32)
    label[chosen] = np.arange(k)  # also where two chosen states are equal
    return label


def _public_clusters(
    sums: Array, weight: Array, label: Array, k: int, iterations: int, settled: bool
) -> PublicClusters:
    """Make the result for the `sum` objective from distance sums; `settled`: no state moved in the last iteration."""
    cost = float((weight * sums[np.arange(len(label)), label]).sum()) / 2
    return PublicClusters(label.copy(), np.bincount(label, weight, k), cost, iterations, settled)


def _move_simultaneously(distance: Array, weight: Array, label: Array, k: int, iterations: int) -> PublicClusters:
    """Minimize the `sum` objective by moving all states at once (Brown et al. 2015, Algorithm 3 as printed)."""
    sums, best = np.empty((len(label), k)), None
    for t in range(iterations + 1):
        kernels.distance_sums(distance, weight, label, sums)
        empty = np.bincount(label, minlength=k) == 0
        next_label = np.where(empty, np.inf, sums).argmin(axis=1).astype(np.int32)
        clusters = _public_clusters(sums, weight, label, k, t, bool((next_label == label).all()))
        if best is None or ((clusters.sizes == 0).sum(), clusters.cost) < ((best.sizes == 0).sum(), best.cost):
            best = clusters
        if clusters.converged:
            return clusters if clusters is best else best
        label = next_label
    assert best is not None
    return best


def _minimize_sum(distance: Array, weight: Array, label: Array, k: int, iterations: int) -> PublicClusters:
    """Minimize the `sum` objective, distances over pairs in one cluster, by moving one public state at a time."""
    sums, size = np.empty((len(label), k)), np.bincount(label, minlength=k)
    moves, t = 1, 0
    while moves and t < iterations:
        t += 1
        kernels.distance_sums(distance, weight, label, sums)  # recomputed, so that rounding errors do not accumulate
        moves = kernels.move_states(distance, weight, sums, size, label)
    kernels.distance_sums(distance, weight, label, sums)
    return _public_clusters(sums, weight, label, k, t, moves == 0)


def _minimize_mean(distance: Array, weight: Array, label: Array, k: int, iterations: int) -> PublicClusters:
    """Minimize the sum over clusters of mean distances between members, by moving one public state at a time.

    The mean of a cluster is the sum of distances over pairs divided by the cluster's weight. The result is a local
    minimum.
    """
    sums, size = np.empty((len(label), k)), np.bincount(label, minlength=k)
    kernels.distance_sums(distance, weight, label, sums)
    mass = np.bincount(label, weight, k)
    pairs = np.bincount(label, weight * sums[np.arange(len(label)), label], k) / 2
    moves, t = 1, 0
    while moves and t < iterations:
        moves, t = 0, t + 1
        for i, w in enumerate(weight.tolist()):
            old = int(label[i])
            if size[old] == 1:
                continue
            loss = (pairs[old] - w * sums[i, old]) / (mass[old] - w) - pairs[old] / mass[old]
            gain = (pairs + w * sums[i]) / (mass + w) - pairs / mass
            gain[old] = -loss
            new = int(gain.argmin())
            if gain[new] + loss > -_MIN_GAIN:
                continue
            for cluster, sign in ((old, -1), (new, 1)):
                pairs[cluster] += sign * w * sums[i, cluster]
                mass[cluster] += sign * w
                size[cluster] += sign
                sums[:, cluster] += sign * w * distance[:, i]
            label[i], moves = new, moves + 1
    return PublicClusters(label.copy(), mass, float((pairs / mass).sum()), t, moves == 0)


def _k_medoids(distance: Array, weight: Array, label: Array, k: int, iterations: int) -> PublicClusters:
    """Run k-medoids: alternately compute the medoid of each cluster and assign each state to the nearest medoid."""
    t, converged = 0, False
    while not converged and t < iterations:
        t += 1
        member = (label[:, None] == np.arange(k)) * weight[:, None]
        distances = np.where(member > 0, distance @ member, np.inf)
        medoid = distances.argmin(axis=0)
        next_label = distance[:, medoid].argmin(axis=1).astype(np.int32)
        next_label[medoid] = np.arange(k)  # also where two medoids are equal
        converged = bool((next_label == label).all())
        label = next_label
    cost = float((weight * distance[np.arange(len(label)), medoid[label]]).sum())
    return PublicClusters(label, np.bincount(label, weight, k), cost, t, converged)


OBJECTIVES: dict[str, Callable[[Array, Array, Array, int, int], PublicClusters]] = {
    "sum": _minimize_sum,
    "mean": _minimize_mean,
    "medoids": _k_medoids,
}


# --- private clustering inside public buckets ---------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PublicBuckets:
    """A public bucket for each canonical board with a number of cards, such as the flops.

    Parameters
    ----------
    labels
        int [boards]: public bucket of each canonical board, from 0.
    cards
        Number of board cards.
    deck
        The deck.

    Raises
    ------
    InputError
        The labels are not whole numbers from 0, one for each board.

    Examples
    --------
    >>> PublicBuckets(flop_groups(["paired", "monotone"])).count
    3
    """

    labels: Array  # int [boards]: from 0
    cards: int = 3
    deck: Deck = FULL_DECK

    def __post_init__(self) -> None:
        boards = len(canonical_boards(self.cards, self.deck)[0])
        labels = np.asarray(self.labels)
        if labels.shape != (boards,) or labels.dtype.kind not in "iu" or labels.min() < 0:
            raise InputError(
                f"labels of shape {labels.shape}: expected whole numbers, 0 or more, for the {boards:,} boards"
            )

    @property
    def count(self) -> int:
        """Number of public buckets."""
        return int(self.labels.max()) + 1

    def buckets(self, boards: Array) -> Array:
        """Return the public buckets of boards. uint8 [..., cards] -> int [...]

        Parameters
        ----------
        boards
            Boards of the number of cards that the public buckets have.
        """
        return np.asarray(self.labels)[board_index(boards, self.deck)]

    def flop_counts(self, cards: int) -> Array:
        """Count the flops inside each canonical board in each public bucket. uint8 [boards, count]

        Parameters
        ----------
        cards
            Number of cards of the boards.
        """
        boards, _ = canonical_boards(cards, self.deck)
        if cards < self.cards:
            raise InputError(f"boards of {cards} cards: the public buckets need at least {self.cards}")
        out = np.zeros((len(boards), self.count), np.uint8)
        for choice in combinations(range(cards), self.cards):
            np.add.at(out, (np.arange(len(boards)), self.buckets(boards[:, list(choice)])), 1)
        return out


@dataclass(frozen=True, eq=False)
class PrivateBuckets:
    """Buckets of hands on one street, each inside one public bucket.

    A later board belongs to the public buckets of all flops that it contains, up to ten on the river, so a hand has as
    many buckets. They are stored in layers: layer s has a hand's bucket for the s-th of its board's public buckets, in
    ascending order. Features do not depend on the order of the board and are stored once for all flops.

    Attributes
    ----------
    public
        The public buckets.
    cards
        Number of cards of the board.
    layer
        uint8 [boards, public buckets]: the layer, 255 if the board contains no flop of the public bucket.
    labels
        uint16 or int32 [layers, canonical hands]; the largest value if the layer does not exist.
    first
        int64 [public buckets + 1]: first bucket of each public bucket, and the end.

    Examples
    --------
    >>> deck = Deck("JQK", "hs", hole=1)
    >>> public = PublicBuckets(np.array([0, 1, 1]), 1, deck)
    >>> cluster_private(public, 1, lambda bucket, hands, weights: np.arange(len(hands))).first.tolist()
    [0, 5, 15]
    """

    public: PublicBuckets
    cards: int  # number of board cards
    layer: Array  # uint8 [boards, public buckets]: the layer, 255 if the board contains no flop of the public bucket
    labels: Array  # uint16 or int32 [layers, canonical hands]; the largest value if the layer does not exist
    first: Array  # int64 [public buckets + 1]: first bucket of each public bucket, and the end

    def buckets(self, deals: Array) -> Array:
        """Return the buckets of deals. int64 [n]

        Parameters
        ----------
        deals
            uint8 [n, hole + board], with the cards of the public state first on the board.
        """
        deck, deals = self.public.deck, np.asarray(deals)
        hand = HandIndexer.for_deck(deck, (deck.hole, self.cards)).index(deals)
        board = board_index(deals[..., deck.hole :], deck)
        public = self.public.buckets(deals[..., deck.hole : deck.hole + self.public.cards])
        return self.labels[self.layer[board, public], hand].astype(np.int64)

    def labels_in_public_bucket(self, bucket: int) -> Array:
        """Return the buckets of all canonical hands inside one public bucket, from 0; -1 for other hands. int32 [hands]

        `potential_aware.successor_histograms` needs these labels for the previous street.

        Parameters
        ----------
        bucket
            The public bucket.
        """
        first, end = self.first[bucket : bucket + 2]
        out = np.full(self.labels.shape[1], -1, np.int32)
        for row in self.labels:
            inside = (row >= first) & (row < end)  # a bucket belongs to one public bucket only
            out[inside] = row[inside] - first
        return out


def boards_of_hands(cards: int, deck: Deck = FULL_DECK, threads: int = 1) -> Array:
    """Return the canonical board of every canonical hand.

    Parameters
    ----------
    cards
        Number of board cards.
    deck
        The deck.
    threads
        Number of threads.

    Returns
    -------
    Array
        int32 [hands].

    Examples
    --------
    >>> len(boards_of_hands(1, Deck("JQK", "hs", hole=1)))
    15
    """
    indexer = HandIndexer.for_deck(deck, (deck.hole, cards))
    out = np.empty(indexer.size(), np.int32)

    def work(part: slice) -> None:
        deals = indexer.unindex(np.arange(part.start, part.stop))
        out[part] = board_index(deals[:, deck.hole :], deck, check=False)

    map_chunks(work, len(out), threads, chunk=_CHUNK)
    return out


def cluster_private(
    public: PublicBuckets,
    cards: int,
    cluster: PrivateClusterer,
    out: Array | None = None,
    threads: int = 1,
) -> PrivateBuckets:
    """Cluster the hands on boards of `cards` cards inside each public bucket.

    Parameters
    ----------
    public
        The public buckets.
    cards
        Number of board cards.
    cluster
        `cluster(bucket, hands, weights)` receives the canonical hands whose board contains a flop of that public bucket,
        int64 [n] ascending, and the number of deals that each represents, float64 [n]. One five-card board counts for each of
        its flops there. It returns labels from 0, int [n].
    out
        Array for the labels, uint16 or int32 [layers, hands], which may be memory-mapped.
    threads
        Number of threads.

    Returns
    -------
    PrivateBuckets
        Buckets that are numbered through all public buckets.

    Raises
    ------
    InputError
        `out` or labels have another shape or type, or the buckets do not fit the type.

    References
    ----------
    .. [1] Brown, Ganzfried & Sandholm, "Hierarchical abstraction, distributed equilibrium computation, and
       post-processing, with application to a champion no-limit Texas hold'em agent", AAMAS 2015 (Algorithm 1).

    Examples
    --------
    >>> public = PublicBuckets(np.array([0, 0, 1]), 1, Deck("JQK", "hs", hole=1))
    >>> cluster_private(public, 1, lambda bucket, hands, weights: np.zeros(len(hands), int)).first.tolist()
    [0, 1, 2]
    """
    deck = public.deck
    indexer = HandIndexer.for_deck(deck, (deck.hole, cards))
    flop_counts = public.flop_counts(cards)
    layers = int((flop_counts > 0).sum(axis=1).max())
    layer = np.where(flop_counts > 0, np.cumsum(flop_counts > 0, axis=1) - 1, 255).astype(np.uint8)
    shape = layers, indexer.size()
    labels = np.empty(shape, np.uint16) if out is None else out
    if labels.shape != shape or labels.dtype not in (np.uint16, np.int32):
        raise InputError(f"out of shape {labels.shape} and type {labels.dtype}: expected uint16 or int32 {shape}")
    sentinel = np.iinfo(labels.dtype).max
    labels[:] = sentinel
    board, times = boards_of_hands(cards, deck, threads), deal_counts(indexer, threads)
    first = np.zeros(public.count + 1, np.int64)
    for c in range(public.count):
        hands = np.flatnonzero((flop_counts[:, c] > 0)[board])
        first[c + 1] = first[c]
        if not len(hands):
            continue
        hand_boards = board[hands]
        hand_labels = np.asarray(cluster(c, hands, times[hands].astype(float) * flop_counts[hand_boards, c]))
        if hand_labels.shape != hands.shape or hand_labels.dtype.kind not in "iu" or hand_labels.min() < 0:
            raise InputError(
                f"public bucket {c}: labels of shape {hand_labels.shape}: expected whole numbers for {len(hands):,} hands"
            )
        first[c + 1] += int(hand_labels.max()) + 1
        if first[c + 1] > sentinel:
            raise InputError(
                f"public bucket {c}: {first[c + 1]:,} buckets do not fit {labels.dtype}: pass `out` as int32"
            )
        labels[layer[hand_boards, c], hands] = hand_labels + first[c]
    return PrivateBuckets(public, cards, layer, labels, first)


# --- groups of flops by texture -----------------------------------------------------------------------

FLOP_CARDS = 3
_NINE = RANKS.index("9")


def _texture_predicates(flops: Array) -> dict[str, Callable[[], Array]]:
    """Return by texture word a function that finds the flops with this texture. uint8 [n, 3] -> () -> bool [n]"""
    rank, suit = np.sort(flops // 4, axis=1).astype(int), np.sort(flops % 4, axis=1)
    ranks, suits = (1 + (np.diff(kind, axis=1) != 0).sum(axis=1) for kind in (rank, suit))
    wheel = np.sort(np.where(rank == len(RANKS) - 1, -1, rank), axis=1)  # with the ace below the deuce
    straight = [(order[:, -1] - order[:, 0] <= 4) for order in (rank, wheel)]
    predicates: dict[str, Callable[[], Array]] = {
        "trips": lambda: ranks == 1,
        "paired": lambda: ranks <= 2,
        "unpaired": lambda: ranks == 3,
        "monotone": lambda: suits == 1,
        "two-tone": lambda: suits == 2,
        "rainbow": lambda: suits == 3,
        "connected": lambda: (ranks == 3) & (straight[0] | straight[1]),
        "low": lambda: rank[:, -1] <= _NINE,
    }
    return predicates | {f"{name}-high": lambda r=r: rank[:, -1] == r for r, name in enumerate(RANKS)}


def flop_groups(descriptions: Sequence[str]) -> Array:
    """Return the group of each canonical flop by its texture.

    Parameters
    ----------
    descriptions
        Textures of each group, such as `paired` or `two-tone A-high`; a flop belongs to the first group that fits. Words:
        trips, paired, unpaired, monotone, two-tone, rainbow, connected, low, and `A-high` to `2-high`.

    Returns
    -------
    Array
        int32 [1755]: group, from 0. Flops without a matching description form one more group.

    Raises
    ------
    InputError
        A description is empty, has an unknown word, or fits no flop that is left.

    Examples
    --------
    >>> np.bincount(flop_groups(["paired", "monotone"])).tolist()
    [325, 286, 1144]
    """
    flops = canonical_boards(FLOP_CARDS)[0]
    words = _texture_predicates(flops)
    out = np.full(len(flops), len(descriptions), np.int32)
    for number, text in enumerate(descriptions):
        fits = out == len(descriptions)
        if not text.split():
            raise InputError(
                f"group {short_repr(text)}: name the textures of its flops, such as 'paired' or 'two-tone A-high'"
            )
        for word in text.split():
            if word not in words:
                raise unknown_name_error(f"word of group {short_repr(text)}", word, tuple(words))
            fits &= words[word]()
        if not fits.any():
            raise InputError(f"group {short_repr(text)}: the groups before it contain all of its flops; leave it out")
        out[fits] = number
    return out
