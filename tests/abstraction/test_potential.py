"""Potential-aware distances: against linear programs, the plain greedy algorithm and full searches."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy.stats import spearmanr

from reference import emd as reference
from riverboat.abstraction.clustering import potential_aware
from riverboat.abstraction.clustering.kmeans import KMeansStep, earth_movers_distance
from riverboat.abstraction.clustering.potential_aware import GroundDistances, SparseHistograms
from riverboat.cards.deck import Deck
from riverboat.cards.isomorphism import HandIndexer
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

CLUSTERS, BINS = 40, 12


def histograms_like_hands(rng: np.random.Generator, hands: int, cards: int = 47) -> Array:
    """Return histograms of hands that lead to clusters around a few centers: counts [hands, CLUSTERS]."""
    place = np.arange(CLUSTERS)
    rows = []
    for _ in range(hands):
        centre, width = rng.uniform(0, CLUSTERS, 2), rng.uniform(1, 6, 2)
        shape = sum(np.exp(-np.square((place - c) / w)) for c, w in zip(centre, width, strict=True))
        rows.append(rng.multinomial(cards, shape / shape.sum()))
    return np.array(rows)


def centres(rng: np.random.Generator) -> Array:
    """Return histograms of river strength, some with two modes, in an arbitrary order."""
    at = np.linspace(0, BINS - 1, CLUSTERS)[:, None] + rng.normal(0, 1, (CLUSTERS, 1))
    bins = np.arange(BINS)
    return np.exp(-np.square(bins - at)) + rng.random((CLUSTERS, 1)) * np.exp(-np.square(bins - BINS + 1 + at)) + 0.01


def grounds(rng: np.random.Generator) -> dict[str, GroundDistances]:
    some = centres(rng)
    euclidean = potential_aware.ground_distances(some, "l2")
    rough = np.square(euclidean.distance.astype(float))  # no triangle inequality
    return {
        "emd": potential_aware.ground_distances(some),
        "l2": euclidean,
        "matrix": potential_aware.ground_distances_from_matrix(potential_aware.ground_distances(some).distance, 8),
        "no metric": potential_aware.ground_distances_from_matrix(rough, 8),
        "no anchors": potential_aware.ground_distances_from_matrix(rough, 0),
    }


@pytest.fixture(scope="module")
def some() -> tuple[SparseHistograms, Array, Array, dict[str, GroundDistances]]:
    """Return points, sparse and dense, means over them, and ground distances."""
    rng = np.random.default_rng(3)
    rows = histograms_like_hands(rng, 300) / 47
    means = np.array([rows[rng.choice(300, 10)].mean(axis=0) for _ in range(25)])
    return potential_aware.to_sparse(rows), rows, means, grounds(rng)


def all_pairs(points: SparseHistograms, means: Array, ground: GroundDistances) -> Array:
    hands, k = len(points.start) - 1, len(means)
    rows, which = np.repeat(np.arange(hands), k), np.tile(np.arange(k), hands)
    return potential_aware.greedy_distances(points, rows, means, which, ground).reshape(hands, k)


# --- distances ----------------------------------------------------------------------------------------


def test_example_of_the_paper() -> None:
    """The example of Ganzfried & Sandholm 2014: equal final histograms, but two bins apart."""
    b, d, e = [0.5, 0, 0, 0, 0.5], [1.0, 0, 0, 0, 0], [0, 0, 0, 0, 1.0]
    ground = potential_aware.ground_distances(np.array([b, d, e]))
    np.testing.assert_allclose(ground.distance, [[0, 2, 2], [2, 0, 4], [2, 4, 0]], atol=1e-6)
    first, second = np.array([[1.0, 0, 0]]), np.array([[0, 0.5, 0.5]])
    assert earth_movers_distance(first @ [b, d, e], second @ [b, d, e]) == pytest.approx(0)
    assert reference.exact(first[0], second[0], ground.distance) == pytest.approx(2)
    found = potential_aware.greedy_distances(
        potential_aware.to_sparse(first), np.array([0]), second, np.array([0]), ground
    )
    assert found == pytest.approx(2)


def test_oracle_against_a_library() -> None:
    """Distances of POT 0.9.7, `ot.emd2(p / p.sum(), q / q.sum(), apart)`, a network simplex."""
    answers = [
        0.436065753,
        0.674275667,
        0.641937601,
        0.688301474,
        0.375071352,
        0.524688252,
        0.549300869,
        0.576702029,
        0.686402897,
        1.109299663,
        0.856254468,
        0.666368468,
    ]
    k = np.arange(9)
    plane = np.stack([k * k % 7, k * 3 % 5], axis=1).astype(float)
    apart = np.sqrt(np.square(plane[:, None] - plane).sum(axis=2))
    found = [reference.exact((k * (3 + s) + s) % 11, (k**2 + 5 * s) % 13, apart) for s in range(12)]
    assert found == pytest.approx(answers, abs=2e-9)


def test_oracle_on_ordered_bins() -> None:
    """The linear program gives the known distance on ordered bins."""
    rng = np.random.default_rng(0)
    line = np.abs(np.subtract.outer(np.arange(9), np.arange(9))).astype(float)
    plane = rng.normal(size=(9, 2))
    apart = np.sqrt(np.square(plane[:, None] - plane).sum(axis=2))
    for _ in range(20):
        p, q = rng.dirichlet(np.full(9, 0.5), 2)
        assert reference.exact(p, q, line) == pytest.approx(float(earth_movers_distance(p, q)), abs=1e-9)
        assert reference.exact(p, q, apart) == pytest.approx(reference.exact(q, p, apart), abs=1e-9)


@pytest.mark.parametrize("name", ["emd", "l2", "matrix", "no metric", "no anchors"])
def test_greedy_distance_is_that_of_the_paper(
    some: tuple[SparseHistograms, Array, Array, dict[str, GroundDistances]], name: str
) -> None:
    points, rows, means, by_name = some
    ground = by_name[name]
    found = all_pairs(points, means, ground)[:40]
    expected = [[reference.greedy(p, q, ground.distance.astype(float)) for q in means] for p in rows[:40]]
    # Rounding may break ties of distances, and then the order of transport differs: so most, not all, are equal.
    same = np.isclose(found, expected, rtol=1e-4, atol=1e-4 * ground.distance.max())
    assert same.mean() > 0.995
    own = potential_aware.greedy_distances(points, np.arange(40), rows[:40], np.arange(40), ground)
    np.testing.assert_allclose(own, 0, atol=1e-5)


def test_error_and_rank_agreement(some: tuple[SparseHistograms, Array, Array, dict[str, GroundDistances]]) -> None:
    """The greedy distance is near the exact one, never below it, and in nearly the same order.

    The bound of places is never above it.
    """
    points, rows, means, by_name = some
    for name in ("emd", "l2", "matrix", "no metric"):
        ground = by_name[name]
        found = all_pairs(points, means[:10], ground)[:10]
        exact = np.array(
            [[reference.exact(p, q, ground.distance.astype(float)) for q in means[:10]] for p in rows[:10]]
        )
        assert (found >= exact - 1e-5 * ground.distance.max()).all()
        gap = (rows[:10] @ ground.places)[:, None] - means[:10] @ ground.places
        order = {1: 1, 2: 2, 3: np.inf}[ground.norm]
        assert (np.linalg.norm(gap, order, axis=2) <= exact + 1e-5 * ground.distance.max()).all()
        if name != "no metric":
            # The paper has a mean relative error of 0.15 on hands; these synthetic hands are no harder.
            assert (found / exact - 1).mean() < 0.15
            assert spearmanr(found.ravel(), exact.ravel()).statistic > 0.98


@pytest.mark.parametrize("name", ["emd", "l2", "matrix", "no metric", "no anchors"])
def test_pruning_is_exact(some: tuple[SparseHistograms, Array, Array, dict[str, GroundDistances]], name: str) -> None:
    points, _, means, by_name = some
    ground = by_name[name]
    full = all_pairs(points, means, ground)
    labels, found, taken = potential_aware.assign_to_means(points, means, ground)
    np.testing.assert_array_equal(labels, full.argmin(axis=1))
    np.testing.assert_array_equal(found, full.min(axis=1))
    assert taken == full.size if name == "no anchors" else taken < 0.9 * full.size
    guess = np.random.default_rng(0).integers(0, len(means), len(labels))
    again, _, _ = potential_aware.assign_to_means(points, means, ground, guess, threads=2)
    np.testing.assert_array_equal(again, labels)


def test_ties_go_to_the_lowest_mean(some: tuple[SparseHistograms, Array, Array, dict[str, GroundDistances]]) -> None:
    points, _, means, by_name = some
    once, _, _ = potential_aware.assign_to_means(points, means, by_name["emd"])
    twice, _, _ = potential_aware.assign_to_means(
        points, np.concatenate([means, means]), by_name["emd"], once + len(means)
    )
    np.testing.assert_array_equal(once, twice)


# --- histograms of hands ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("deck", "here", "after"),
    [
        (Deck.small(4, 3), (2, 3), (2, 4)),
        (Deck.small(4, 3), (2, 3), (2, 3, 1)),
        (Deck.small(4, 2), (2,), (2, 3)),
        (Deck.small(3, 2, hole=1), (1,), (1, 1)),  # Leduc
    ],
)
def test_histograms_of_small_decks(deck: Deck, here: tuple[int, ...], after: tuple[int, ...]) -> None:
    first, second = HandIndexer.for_deck(deck, here), HandIndexer.for_deck(deck, after)
    labels = np.random.default_rng(1).integers(0, 7, second.size())
    labels[0] = 7  # the number of clusters is known from the labels
    found = potential_aware.successor_histograms(first, second, labels, threads=2)
    rows = potential_aware.to_dense(found, 8)
    fresh = second.widths[-1] - first.widths[-1]
    for hand in range(first.size()):
        cards = first.unindex(hand).tolist()
        left = [c for c in deck.cards.tolist() if c not in cards]
        counts = Counter(int(labels[second.index(cards + list(more))]) for more in combinations(left, fresh))
        ways = comb(len(left), fresh)
        assert sum(counts.values()) == ways
        np.testing.assert_allclose(rows[hand], [counts[c] / ways for c in range(8)], rtol=1e-6)
    chosen = np.array([first.size() - 1, 0])
    part = potential_aware.successor_histograms(first, second, labels, chosen)
    np.testing.assert_array_equal(potential_aware.to_dense(part, 8), rows[chosen])
    np.testing.assert_array_equal(potential_aware.to_dense(potential_aware.select_rows(found, chosen), 8), rows[chosen])
    np.testing.assert_allclose(potential_aware.to_dense(potential_aware.to_sparse(rows), 8), rows, rtol=1e-6)


@pytest.mark.slow
def test_histograms_of_all_flop_hands() -> None:
    # 1,286,792 flop and 13,960,050 turn hands (Waugh 2013), and 47 cards to come.
    here, after = HandIndexer((2, 3)), HandIndexer((2, 4))
    assert (here.size(), after.size()) == (1_286_792, 13_960_050)
    found = potential_aware.successor_histograms(here, after, np.arange(after.size()) % 1000, threads=2)
    lengths = np.diff(found.start)
    assert (len(lengths), lengths.min() >= 1, lengths.max() <= 47) == (1_286_792, True, True)
    np.testing.assert_allclose(np.add.reduceat(found.mass, found.start[:-1]), 1, atol=1e-5)


# --- clustering ---------------------------------------------------------------------------------------


def planted() -> tuple[Array, Array]:
    """Return 120 hands around four histograms, and the histogram of each."""
    rng = np.random.default_rng(8)
    shapes = np.zeros((4, CLUSTERS))
    for m in range(4):
        shapes[m, 10 * m + 2 : 10 * m + 6] = 0.25
    truth = np.repeat(np.arange(4), 30)
    return np.array([rng.multinomial(47, shapes[m]) for m in truth]), truth


def test_planted_clusters_are_found() -> None:
    rows, truth = planted()
    bins = np.eye(CLUSTERS)  # cluster i of the next street is bin i
    seen: list[KMeansStep] = []
    found = potential_aware.potential_kmeans(
        potential_aware.to_sparse(rows),
        None,
        4,
        potential_aware.ground_distances(bins),
        restarts=3,
        threads=2,
        progress=seen.append,
    )
    pairs = set(zip(truth.tolist(), found.labels.tolist(), strict=True))
    assert len(pairs) == 4
    for m, label in pairs:
        np.testing.assert_allclose(found.centres[label], rows[truth == m].mean(axis=0) / 47, atol=1e-6)
        assert found.sizes[label] == 30
    assert {step.stage for step in seen} == {"seed", "whole"}
    assert {step.restart for step in seen} == {0, 1, 2}
    assert found.evaluated <= 4 * 120 * found.iterations


def test_clusters_do_not_depend_on_threads(
    some: tuple[SparseHistograms, Array, Array, dict[str, GroundDistances]],
) -> None:
    points, rows, _, by_name = some
    ground, weights = by_name["emd"], np.random.default_rng(2).integers(1, 25, len(rows)).astype(float)
    one = potential_aware.potential_kmeans(points, weights, 12, ground, seed=5, sample=100)
    two = potential_aware.potential_kmeans(points, weights, 12, ground, seed=5, sample=100, threads=3)
    np.testing.assert_array_equal(one.labels, two.labels)
    np.testing.assert_array_equal(one.centres, two.centres)
    other = potential_aware.potential_kmeans(points, weights, 12, ground, seed=6, sample=100)
    assert (one.labels != other.labels).any()
    labels, found, _ = potential_aware.assign_to_means(points, one.centres, ground)
    np.testing.assert_array_equal(labels, one.labels)
    assert one.cost == pytest.approx((found * weights).sum() / weights.sum())
    assert one.square == pytest.approx((found.astype(float) ** 2 * weights).sum() / weights.sum())
    assert one.sizes.sum() == pytest.approx(weights.sum())
    longer = potential_aware.potential_kmeans(points, weights, 12, ground, seed=5, sample=100, iterations=1)
    assert one.cost < longer.cost


def test_empty_clusters_are_refilled() -> None:
    """Three equal hands are far away from all others: the empty mean moves there."""
    rows = np.zeros((33, CLUSTERS))
    rows[:30, :3] = np.random.default_rng(0).multinomial(47, [0.4, 0.3, 0.3], 30)
    rows[30:, -1] = 47
    points, ground = potential_aware.to_sparse(rows), potential_aware.ground_distances(np.eye(CLUSTERS))
    for seed in range(5):
        found = potential_aware.potential_kmeans(points, None, 4, ground, seed=seed)
        assert (found.sizes > 0).all()
        assert len(set(found.labels[30:].tolist())) == 1


def test_one_cluster_for_each_hand(some: tuple[SparseHistograms, Array, Array, dict[str, GroundDistances]]) -> None:
    points, _, _, by_name = some
    few = potential_aware.select_rows(points, np.arange(20))
    found = potential_aware.potential_kmeans(few, None, 20, by_name["emd"])
    assert sorted(found.labels.tolist()) == list(range(20))
    assert found.cost == pytest.approx(0, abs=1e-5)


def test_invalid_arguments(some: tuple[SparseHistograms, Array, Array, dict[str, GroundDistances]]) -> None:
    points, rows, means, by_name = some
    ground = by_name["emd"]
    repeated = potential_aware.to_sparse(np.repeat(rows[:2], 5, axis=0))
    with pytest.raises(InputError, match=r"k=3.* 2 .*k=2"):
        potential_aware.potential_kmeans(repeated, None, 3, ground)
    with pytest.raises(InputError, match="k=301"):
        potential_aware.potential_kmeans(points, None, 301, ground)
    with pytest.raises(InputError, match="sample=3"):
        potential_aware.potential_kmeans(points, None, 4, ground, sample=3)
    with pytest.raises(InputError, match="weights"):
        potential_aware.potential_kmeans(points, np.zeros(300), 4, ground)
    with pytest.raises(InputError, match=r"expected \[k, 40\]"):
        potential_aware.assign_to_means(points, means[:, :-1], ground)
    with pytest.raises(InputError, match=r"cluster 39.* 5 "):
        potential_aware.assign_to_means(points, means[:, :5], potential_aware.ground_distances(np.eye(5)))
    with pytest.raises(InputError, match="symmetric"):
        potential_aware.ground_distances_from_matrix(np.triu(np.ones((3, 3)), 1))
    with pytest.raises(InputError, match="'l1'"):
        potential_aware.ground_distances(np.eye(3), "l1")
    with pytest.raises(InputError, match=r"\(1, 3\)"):
        potential_aware.to_sparse(np.zeros((1, 3)))
    small = Deck.small(3, 2)
    first, second = HandIndexer.for_deck(small, (2,)), HandIndexer.for_deck(small, (2, 1))
    with pytest.raises(InputError, match=r"labels.*\(3,\)"):
        potential_aware.successor_histograms(first, second, np.zeros(3, int))
    with pytest.raises(InputError, match="hand 0 "):
        potential_aware.successor_histograms(first, second, np.full(second.size(), -1) + (np.arange(second.size()) > 3))
    for wrong in (
        first,
        HandIndexer.for_deck(small, (1, 2)),
        HandIndexer.for_deck(small, (2, 1, 1)),
        HandIndexer((2, 1)),
    ):
        with pytest.raises(InputError, match=r"HandIndexer|Indexer"):
            potential_aware.successor_histograms(first, wrong, np.zeros(wrong.size(), int))
