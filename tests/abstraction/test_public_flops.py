"""Public clustering: the counts of the paper, its algorithms in plain code, and hands that stay in their public bucket."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
import pytest

from riverboat.abstraction.clustering import potential_aware, public_clusters
from riverboat.abstraction.clustering.public_clusters import PublicBuckets, flop_groups
from riverboat.cards import ranking
from riverboat.cards.deck import FULL_DECK, Deck, parse_card
from riverboat.cards.isomorphism import HandIndexer, board_index, canonical_boards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

LEDUC = Deck.small(3, 2, hole=1)


@pytest.fixture(scope="module")
def flop_base() -> Array:
    """Return a base abstraction of all flop hands: 300 percentiles of the made hand."""
    indexer = HandIndexer((2, 3))
    strength = ranking.rank_batch(indexer.unindex(np.arange(indexer.size())))
    order = np.empty(indexer.size(), np.int64)
    order[np.argsort(strength, kind="stable")] = np.arange(indexer.size())
    return order * 300 // indexer.size()


def cards(text: str) -> Array:
    return np.array([parse_card(c) for c in text.split()], np.uint8)


# --- transition table and distances -------------------------------------------------------------------


def test_counts_of_the_paper(flop_base: Array) -> None:
    # Brown, Ganzfried & Sandholm 2015: 22,100 flops, 1,755 without suits; 1,755 × 1,176 = 2,063,880 look-ups.
    boards, times = canonical_boards(3)
    assert (len(boards), times.sum()) == (1755, 22_100)
    buckets = public_clusters.bucket_lookups(flop_base)
    assert (buckets.shape, buckets.size) == ((1755, 1176), 2_063_880)
    table = public_clusters.transition_counts(buckets, 300)
    assert table.shape == (1755, 300)
    assert (table.sum(axis=1) == 1176).all()
    # The paper's example: a public bucket with the flops AsKhQd and AsKhJd has 2,352 hands.
    two = board_index(np.array([cards("As Kh Qd"), cards("As Kh Jd")]))
    assert table[two].sum() == 2352


@pytest.mark.parametrize(("deck", "size"), [(Deck.small(4, 3), 3), (Deck.small(5, 2), 2), (LEDUC, 1)])
def test_transitions_of_small_decks(deck: Deck, size: int) -> None:
    indexer = HandIndexer.for_deck(deck, (deck.hole, size))
    labels = np.random.default_rng(0).integers(0, 6, indexer.size())
    labels[-1] = 5
    table = public_clusters.transition_counts(public_clusters.bucket_lookups(labels, size, deck), 6)
    distance = public_clusters.public_distances(table, threads=2)
    rows = []
    for board in canonical_boards(size, deck)[0].tolist():
        left = [c for c in deck.cards.tolist() if c not in board]
        rows.append(Counter(int(labels[indexer.index([*hand, *board])]) for hand in combinations(left, deck.hole)))
    assert [[row[b] for b in range(6)] for row in rows] == table.tolist()
    v = comb(len(deck.cards) - size, deck.hole)
    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            assert distance[i, j] == pytest.approx((v - sum((one & other).values())) / v)  # Algorithm 2


def test_distance_is_a_metric() -> None:
    """Half the L1 distance of rows with equal sums satisfies the triangle inequality, which the paper doubts."""
    rng = np.random.default_rng(1)
    table = rng.multinomial(1176, rng.dirichlet(np.full(50, 0.1), 60)).astype(np.uint16)
    distance = public_clusters.public_distances(table)
    np.testing.assert_allclose(distance, np.abs(table[:, None].astype(int) - table).sum(axis=2) / 2 / 1176)
    assert (distance[:, None, :] <= distance[:, :, None] + distance[None, :, :] + 1e-12).all()
    wide = public_clusters.public_distances(table.astype(np.int32))
    np.testing.assert_array_equal(wide, distance)


def test_swapped_hands_do_not_matter() -> None:
    """Two states that swap the buckets of two hands are equal; tables by starting hand would separate them."""
    table = public_clusters.transition_counts(np.array([[0, 1, 2, 2], [1, 0, 2, 2], [3, 3, 3, 3]]))
    assert public_clusters.public_distances(table).tolist() == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]


def test_transition_tables_separate_swapped_hands() -> None:
    """Tables by starting hand (Waugh et al. 2009) do: the paper's objection to them, with two starting hands."""
    before, after = np.array([[0, 1], [0, 1]]), np.array([[0, 1], [1, 0]])
    table = public_clusters.transition_probabilities(before, after, (2, 2))
    assert np.abs(table[0] - table[1]).tolist() == [1, 1, 1, 1]  # as far apart as rows can be
    assert public_clusters.public_distances(public_clusters.transition_counts(after))[0, 1] == 0


def test_transition_tables_are_conditional_probabilities() -> None:
    rng = np.random.default_rng(4)
    before, after = rng.integers(0, 3, (20, 50)), rng.integers(0, 4, (20, 50))
    table = public_clusters.transition_probabilities(before, after, (4, 4)).reshape(20, 4, 4)
    for state, i, j in ((0, 0, 0), (7, 2, 3), (19, 1, 2)):
        of_bucket = before[state] == i
        assert table[state, i, j] == pytest.approx((after[state][of_bucket] == j).mean())
    assert not table[:, 3].any()  # no hand has starting bucket 3
    np.testing.assert_allclose(table[:, :3].sum(axis=2), 1, rtol=1e-6)


# --- clustering ---------------------------------------------------------------------------------------


def scattered(states: int, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    return public_clusters.public_distances(
        rng.multinomial(500, rng.dirichlet(np.full(8, 0.3), states)).astype(np.uint16)
    )


def pair_cost(distance: Array, labels: Array, weight: Array) -> float:
    pairs = combinations(range(len(labels)), 2)
    return sum(weight[i] * weight[j] * distance[i, j] for i, j in pairs if labels[i] == labels[j])


def test_planted_groups_are_found() -> None:
    truth = np.repeat(np.arange(5), 7)
    distance = np.where(truth[:, None] == truth, 0.1, 1.0) * (1 - np.eye(35))
    for together in (False, True):
        found = public_clusters.cluster_public(distance, 5, restarts=5, simultaneous=together)
        assert len(set(zip(truth.tolist(), found.labels.tolist(), strict=True))) == 5
        assert found.converged
        assert found.cost == pytest.approx(5 * 21 * 0.1)


def test_single_moves_end_in_a_local_optimum() -> None:
    distance = scattered(60)
    weight = np.random.default_rng(3).integers(1, 25, 60).astype(float)
    for given in (None, weight):
        w = np.ones(60) if given is None else given
        found = public_clusters.cluster_public(distance, 7, given, seed=2)
        assert found.converged
        assert (found.sizes > 0).all()
        np.testing.assert_array_equal(found.sizes, np.bincount(found.labels, w, 7))
        assert found.cost == pytest.approx(pair_cost(distance, found.labels, w))
        for i in range(60):
            sums = np.bincount(found.labels, w * distance[i], 7)
            alone = (found.labels == found.labels[i]).sum() == 1
            assert alone or sums[found.labels[i]] <= sums.min() * (1 + 1e-9)
        start = public_clusters.cluster_public(distance, 7, given, seed=2, iterations=1)
        assert found.cost <= start.cost
    again = public_clusters.cluster_public(distance, 7, seed=2)
    np.testing.assert_array_equal(again.labels, public_clusters.cluster_public(distance, 7, seed=2).labels)
    assert public_clusters.cluster_public(distance, 7, seed=2, restarts=8).cost <= again.cost


def objective_of(name: str, distance: Array, labels: Array, weight: Array) -> float:
    """Return an objective from its definition, cluster by cluster."""
    total = 0.0
    for c in set(labels.tolist()):
        here = np.flatnonzero(labels == c)
        apart = distance[np.ix_(here, here)]
        if name == "medoids":
            total += float((weight[here] @ apart).min())
        else:
            total += float(weight[here] @ apart @ weight[here]) / 2 / weight[here].sum()
    return total


@pytest.mark.parametrize("name", ["mean", "medoids"])
def test_other_objectives_end_in_a_local_optimum(name: str) -> None:
    distance = scattered(50, seed=6)
    weight = np.random.default_rng(3).integers(1, 25, 50).astype(float)
    clusters = public_clusters.cluster_public(distance, 6, weight, seed=2, objective=name)
    assert clusters.converged
    assert (np.bincount(clusters.labels, minlength=6) > 0).all()
    assert clusters.cost == pytest.approx(objective_of(name, distance, clusters.labels, weight))
    if name == "mean":
        for i, c in np.ndindex(50, 6):
            moved = clusters.labels.copy()
            moved[i] = c
            assert len(set(moved.tolist())) < 6 or objective_of(name, distance, moved, weight) >= clusters.cost - 1e-9
    else:  # medoids move with their clusters: every state is nearest to its own
        here = [np.flatnonzero(clusters.labels == c) for c in range(6)]
        medoid = np.array([h[(weight[h] @ distance[np.ix_(h, h)]).argmin()] for h in here])
        mine = distance[np.arange(50), medoid[clusters.labels]]
        np.testing.assert_array_equal(distance[:, medoid].min(axis=1), mine)
    again = public_clusters.cluster_public(distance, 6, weight, seed=2, restarts=6, objective=name)
    assert again.cost <= clusters.cost


def test_invalid_objectives() -> None:
    with pytest.raises(InputError, match=r"'medoid'.*'medoids'"):
        public_clusters.cluster_public(np.zeros((3, 3)), 2, objective="medoid")
    with pytest.raises(InputError, match=r"simultaneous.*'mean'"):
        public_clusters.cluster_public(np.zeros((3, 3)), 2, objective="mean", simultaneous=True)


# --- groups by texture --------------------------------------------------------------------------------


def test_groups_by_texture() -> None:
    """Counts of canonical flops: 13 trips, 312 pairs (156 with two suits, 156 with three), 286 ranks × 5 suit patterns."""
    labels = flop_groups(["trips", "paired", "monotone", "two-tone", "rainbow"])
    assert np.bincount(labels).tolist() == [13, 312, 286, 286 * 3, 286]
    flops = {"AsKsQs": "connected", "Ah2c3d": "connected", "KhAc2d": "", "9h8c2d": "low", "Ts9c8d": "connected"}
    named = flop_groups(["connected unpaired", "low"])
    for text, word in flops.items():
        at = int(board_index(np.array([cards(" ".join(text[i : i + 2] for i in (0, 2, 4)))]))[0])
        assert named[at] == {"connected": 0, "low": 1, "": 2}[word]
    high = flop_groups([f"{rank}-high" for rank in "AKQJT9876543"])
    assert np.bincount(high)[-1] == 1  # only 222 remains


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["pared"], "'pared'.*'paired'"),
        (["paired", "trips"], "'trips'"),
        ([" "], "' '"),
    ],
)
def test_invalid_groups(texts: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        flop_groups(texts)


def plain_algorithm_3(distance: Array, labels: list[int], k: int) -> list[int]:
    """Run one iteration as printed: all states move by the previous labels; empty clusters are left out."""
    new = []
    for i in range(len(labels)):
        sums = {c: 0.0 for c in range(k) if c in labels}
        for j, c in enumerate(labels):
            if j != i:
                sums[c] += distance[i, j]
        new.append(min(sums, key=lambda c: (sums[c], c)))
    return new


def test_simultaneous_moves_are_algorithm_3() -> None:
    distance = scattered(40, seed=4)
    k = 4
    for seed in range(6):
        labels = public_clusters._initial_labels(
            distance, np.ones(40), k, np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
        )
        seen = [labels.tolist()]
        while len(seen) <= 30 and (len(seen) < 2 or seen[-1] != seen[-2]):
            seen.append(plain_algorithm_3(distance, seen[-1], k))
        best = min((k - len(set(one)), round(pair_cost(distance, np.array(one), np.ones(40)), 9)) for one in seen)
        found = public_clusters.cluster_public(distance, k, seed=seed, simultaneous=True, iterations=len(seen) - 1)
        assert ((found.sizes == 0).sum(), round(found.cost, 9)) == best
        assert found.labels.tolist() == seen[found.iterations]


def test_equal_states() -> None:
    found = public_clusters.cluster_public(np.zeros((6, 6)), 4)
    assert (found.sizes > 0).all()
    assert found.cost == 0


def test_sixty_buckets_of_flops(flop_base: Array) -> None:
    table = public_clusters.transition_counts(public_clusters.bucket_lookups(flop_base))
    found = public_clusters.cluster_public(public_clusters.public_distances(table), 60)
    assert found.converged
    assert (found.sizes > 0).all()
    assert found.sizes.sum() == 1755
    # The sum of distances keeps sizes near 1,755 / 60.
    assert found.sizes.max() < 3 * 1755 / 60


# --- hands inside public buckets ----------------------------------------------------------------------


def every_deal(deck: Deck, rounds: tuple[int, ...]) -> Array:
    """Return all deals, with the cards of a round ascending. uint8 [deals, cards]"""
    deals: list[tuple[int, ...]] = [()]
    for count in rounds:
        deals = [
            (*deal, *more)
            for deal in deals
            for more in combinations([c for c in deck.cards.tolist() if c not in deal], count)
        ]
    return np.array(deals, np.uint8)


@pytest.mark.parametrize(
    ("deck", "opening", "rounds", "buckets"),
    [
        (Deck.small(3, 3), 3, (3,), 4),
        (Deck.small(3, 3), 3, (3, 1), 4),
        (Deck.small(4, 2), 3, (3, 1, 1), 3),
        (LEDUC, 1, (1,), 2),
        (LEDUC, 1, (1, 1), 2),
    ],
)
def test_no_hand_leaves_its_public_bucket(deck: Deck, opening: int, rounds: tuple[int, ...], buckets: int) -> None:
    boards, _ = canonical_boards(opening, deck)
    labels = np.random.default_rng(0).integers(0, buckets, len(boards))
    labels[-buckets:] = np.arange(buckets)
    flops = PublicBuckets(labels, opening, deck)
    size = sum(rounds)
    indexer = HandIndexer.for_deck(deck, (deck.hole, size))
    feature = np.random.default_rng(1).random(indexer.size())
    weighed = np.zeros(buckets)

    def halves(bucket: int, hands: Array, weights: Array) -> Array:
        weighed[bucket] = weights.sum()
        return (feature[hands] > 0.5).astype(np.int64)

    private = public_clusters.cluster_private(flops, size, halves, threads=2)
    deals = every_deal(deck, (deck.hole, *rounds))
    found, opened = private.buckets(deals), flops.buckets(deals[:, deck.hole : deck.hole + opening])
    assert (found >= private.first[opened]).all()
    assert (found < private.first[opened + 1]).all()
    np.testing.assert_array_equal(found - private.first[opened], feature[indexer.index(deals)] > 0.5)
    # Weights are deals by (hole, flop, later cards): the order of turn and river does not matter.
    orders = np.prod([comb(size - opening - k, n) for k, n in enumerate(rounds[1:])])
    np.testing.assert_allclose(weighed * orders, np.bincount(opened, minlength=buckets))
    within = np.stack([private.labels_in_public_bucket(c) for c in range(buckets)])
    np.testing.assert_array_equal(within[opened, indexer.index(deals)], found - private.first[opened])
    assert (within[:, indexer.index(deals)] >= 0).sum() >= len(deals)
    if size > opening:  # the same cards with another flop can be in another public bucket
        assert private.labels.shape[0] > 1


def test_potential_inside_a_public_bucket() -> None:
    """Flop hands of a public bucket lead only to turn buckets of that public bucket."""
    deck = Deck.small(4, 2)
    boards, _ = canonical_boards(3, deck)
    flops = PublicBuckets(np.arange(len(boards)) % 3, 3, deck)
    here, after = HandIndexer.for_deck(deck, (2, 3)), HandIndexer.for_deck(deck, (2, 4))
    turn = public_clusters.cluster_private(flops, 4, lambda bucket, hands, weights: hands % 5)
    seen = 0

    def by_potential(bucket: int, hands: Array, weights: Array) -> Array:
        nonlocal seen
        points = potential_aware.successor_histograms(here, after, turn.labels_in_public_bucket(bucket), hands)
        seen += len(hands)
        for hand, row in zip(hands[:5], potential_aware.to_dense(points, 5), strict=False):
            deal = here.unindex(int(hand)).tolist()
            nexts = [after.index([*deal, c]) % 5 for c in deck.cards.tolist() if c not in deal]
            np.testing.assert_allclose(row, np.bincount(nexts, minlength=5) / len(nexts), rtol=1e-6)
        return potential_aware.potential_kmeans(points, weights, 2, potential_aware.ground_distances(np.eye(5))).labels

    found = public_clusters.cluster_private(flops, 3, by_potential)
    assert seen == here.size()
    assert found.first.tolist() == [0, 2, 4, 6]
    outside = np.flatnonzero(turn.labels_in_public_bucket(0) < 0)
    assert len(outside)
    with pytest.raises(InputError, match="hand "):  # a flop hand of another public bucket
        potential_aware.successor_histograms(here, after, turn.labels_in_public_bucket(0))


def test_flop_counts() -> None:
    """A river board contains ten flops: at most ten public buckets."""
    flops = PublicBuckets(np.arange(1755) % 60)
    for size in (3, 4, 5):
        openings = flops.flop_counts(size)
        assert (openings.sum(axis=1) == comb(size, 3)).all()
    board = cards("2c 7d 9h Js As")
    expected = np.bincount(
        [int(flops.buckets(board[list(three)])) for three in combinations(range(5), 3)], minlength=60
    )
    assert openings[board_index(board)].tolist() == expected.tolist()


def test_boards_of_hands() -> None:
    deck = Deck.small(4, 2)
    indexer = HandIndexer.for_deck(deck, (2, 3))
    found = public_clusters.boards_of_hands(3, deck)
    deals = every_deal(deck, (2, 3))
    np.testing.assert_array_equal(found[indexer.index(deals)], board_index(deals[:, 2:], deck))


def test_invalid_arguments() -> None:
    with pytest.raises(InputError, match=r"labels.*\(10,\)"):
        public_clusters.bucket_lookups(np.zeros(10, int))
    with pytest.raises(InputError, match=r"count=2.*3"):
        public_clusters.transition_counts(np.array([[1, 3]]), 2)
    with pytest.raises(InputError, match="3 to 4"):
        public_clusters.public_distances(np.array([[1, 2], [2, 2]], np.uint16))
    with pytest.raises(InputError, match=r"\(2, 2\).*float64"):
        public_clusters.public_distances(np.eye(2))
    with pytest.raises(InputError, match="k=4"):
        public_clusters.cluster_public(np.zeros((3, 3)), 4)
    with pytest.raises(InputError, match=r"\(3, 3\)"):
        public_clusters.cluster_public(np.triu(np.ones((3, 3))), 2)
    with pytest.raises(InputError, match=r"\(10,\).*1,755"):
        PublicBuckets(np.zeros(10, int), 3, FULL_DECK)
    flops = PublicBuckets(np.zeros(len(canonical_boards(1, LEDUC)[0]), int), 1, LEDUC)
    with pytest.raises(InputError, match="public bucket 0"):
        public_clusters.cluster_private(flops, 1, lambda bucket, hands, weights: weights)
    with pytest.raises(InputError, match=r"\(1, 1\)"):
        public_clusters.cluster_private(flops, 1, lambda bucket, hands, weights: hands, np.zeros((1, 1), np.uint16))
    with pytest.raises(InputError, match="uint16"):
        public_clusters.cluster_private(flops, 1, lambda bucket, hands, weights: hands + 70_000)
