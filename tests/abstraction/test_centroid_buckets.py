"""Turn and river buckets computed from centroids, against clustering and plain enumeration."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from riverboat.abstraction.cards import centroid_buckets
from riverboat.abstraction.cards.card_abstraction import (
    MIN_TABLE_DEALS,
    CardAbstraction,
    StreetBuckets,
    load_abstraction,
    lossless_abstraction,
)
from riverboat.abstraction.cards.centroid_buckets import BOARD_CARDS_OF_METHOD, CentroidBuckets
from riverboat.abstraction.clustering import kmeans
from riverboat.agents.registry import SHIPPED
from riverboat.cards.equity.equities import starting_hand_classes
from riverboat.cards.features.hand_features import published_ochs_groups, runout_features
from riverboat.cards.isomorphism import HandIndexer, canonical_boards
from riverboat.cards.ranking import rank
from riverboat.core.arrays import Array
from riverboat.core.errors import CorruptError

RNG = np.random.default_rng(5)


def deals_of(count: int, board: int) -> Array:
    return np.array([RNG.permutation(52)[: 2 + board] for _ in range(count)], np.uint8)


def beaten(hole: list[int], board: list[int]) -> tuple[Array, Array]:
    """Return points (2 for a win, 1 for a tie) against each other hand, and the number of each hand."""
    mine, left = rank(hole + board), [c for c in range(52) if c not in hole + board]
    others = [(high * (high - 1) // 2 + low, rank([low, high, *board])) for low, high in combinations(left, 2)]
    return np.array([(mine > s) + (mine >= s) for _, s in others]), np.array([number for number, _ in others])


def described(method: str, deal: list[int]) -> Array:
    """Return the features of a hand, from the definitions."""
    hole, board = deal[:2], deal[2:]
    if method == "histogram":
        out = np.zeros(50)
        for river in range(52):
            if river not in deal:
                out[min(int(beaten(hole, [*board, river])[0].sum()) * 50 // 1980, 49)] += 1
        return out
    points, number = beaten(hole, board)
    if method == "strength":
        return np.array([points.sum()])
    group = published_ochs_groups()[starting_hand_classes()][number]
    return np.rint([255 * points[group == g].mean() / 2 if (group == g).any() else 0 for g in range(8)])


def nearest(method: str, features: Array, centres: Array) -> int:
    if method == "ochs":
        return int(np.argmin(((features - centres) ** 2).sum(axis=1)))
    own = np.cumsum(features / features.sum())
    return int(np.argmin(np.abs(own - np.cumsum(centres / centres.sum(axis=1, keepdims=True), axis=1)).sum(axis=1)))


def computed(method: str) -> CentroidBuckets:
    if method == "strength":
        return CentroidBuckets(method, np.zeros((40, 1), np.float32), np.arange(50, 2000, 50).astype(np.uint16))
    centres = RNG.dirichlet(np.full(50, 0.2), 60) if method == "histogram" else RNG.uniform(0, 255, (60, 8))
    return CentroidBuckets(method, centres.astype(np.float32), np.zeros(0, np.uint16))


@pytest.mark.parametrize(("method", "board", "count"), [("histogram", 4, 2), ("ochs", 5, 8), ("strength", 5, 8)])
def test_bucket_is_the_nearest_centroid(method: str, board: int, count: int) -> None:
    made, deals = computed(method), deals_of(count, board)
    for deal, bucket in zip(deals.tolist(), made.buckets(deals).tolist(), strict=True):
        features = described(method, deal)
        if method == "strength":
            assert bucket == (features[0] >= made.cuts).sum()
        else:
            assert bucket == nearest(method, features, made.centres.astype(float))


@pytest.mark.parametrize(("method", "board"), [("histogram", 4), ("ochs", 5), ("strength", 5)])
def test_batch_of_a_board_equals_single_hands(method: str, board: int) -> None:
    made, shown = computed(method), RNG.permutation(52)[:board].tolist()
    left = [c for c in range(52) if c not in shown]
    deals = np.array([[*hand, *RNG.permutation(shown)] for hand in combinations(left, 2)], np.uint8)
    some = RNG.permutation(len(deals))[:40]
    apart = np.concatenate([made.buckets(deals[i : i + 1]) for i in some])
    assert len(set(apart.tolist())) > 3
    assert np.array_equal(made.buckets(deals)[some], apart)
    assert np.array_equal(made.buckets(deals[some[:3]]), apart[:3])  # a cached board


def test_computed_buckets_equal_those_of_clustering() -> None:
    boards = [RNG.permutation(52)[:4] for _ in range(3)]
    deals = np.array(
        [[*h, *b] for b in boards for h in combinations([c for c in range(52) if c not in b], 2)], np.uint8
    )
    points = np.concatenate(
        [runout_features(b[None], 50)[0][0, numbers(deals[(deals[:, 2:] == b).all(axis=1)])] for b in boards]
    )
    clusters = kmeans.kmeans(points, None, 40, "emd", seed=1, medians=True)
    again = CentroidBuckets("histogram", clusters.centres, np.zeros(0, np.uint16)).buckets(deals)
    assert np.array_equal(again, clusters.labels)


def numbers(deals: Array) -> Array:
    low, high = np.sort(deals[:, :2].astype(int), axis=1).T
    return high * (high - 1) // 2 + low


def light() -> CardAbstraction:
    """Return hold'em buckets with flop labels, and turn and river from centroids."""
    flop = RNG.integers(0, 7, (1, 1_286_792)).astype(np.uint16)
    turn, river = computed("histogram"), computed("ochs")
    return CardAbstraction(
        (
            StreetBuckets(169),
            StreetBuckets(7, flop),
            StreetBuckets(60, centres=turn.centres, computed=True, metadata={"method": "histogram"}),
            StreetBuckets(60, centres=river.centres, computed=True, metadata={"method": "ochs"}),
        ),
        name="light",
    )


def test_abstraction_with_computed_streets_is_saved_and_loaded(tmp_path: Path) -> None:
    cards = light()
    again = load_abstraction(cards.save(tmp_path / "light"))
    assert again.fingerprint == cards.fingerprint
    deals = np.array([RNG.permutation(52)[:9] for _ in range(20)], np.uint8)
    both = again.buckets(deals, players=2)
    assert np.array_equal(both, cards.buckets(deals, players=2))
    assert np.array_equal(both[:, 1], cards.buckets(deals[:, 2:])[:, 0])
    assert np.array_equal(both[:, :, :2], light_first_streets(cards).buckets(deals, players=2)[:, :, :2])


def test_many_hands_use_cached_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few hands are computed in any case, because opening tables takes longer. A look-up never makes missing tables."""
    deals = np.array([RNG.permutation(52)[:7] for _ in range(MIN_TABLE_DEALS)], np.uint8)
    computed_ones = light().buckets(deals)
    sizes = {"histogram": 13_960_050, "ochs": 123_156_254}

    def labels(buckets: CentroidBuckets, threads: int | None, progress: object) -> Array:
        return np.full((1, sizes[buckets.method]), 59, np.uint16)  # a value that differs from computed buckets

    monkeypatch.setattr(centroid_buckets, "has_cached_labels", lambda buckets: True)
    monkeypatch.setattr(centroid_buckets, "load_labels", labels)
    cards = light()
    assert np.array_equal(cards.buckets(deals[:-1])[:, :, 2:], light_streets(cards, deals[:-1]))
    found = cards.buckets(deals)
    assert (found[:, :, 2:] == 59).all()
    assert np.array_equal(found[:, :, :1], computed_ones[:, :, :1])


def light_streets(cards: CardAbstraction, deals: Array) -> Array:
    """Return the turn and river buckets of deals of one hand, one by one."""
    one_by_one = [cards.buckets(deals[k : k + 1])[0, :, 2:] for k in range(len(deals))]
    return np.array(one_by_one)


@pytest.mark.parametrize("method", ["histogram", "ochs", "strength"])
def test_labels_of_all_hands_equal_computed_buckets(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels agree on some boards, for any suits and any order of the cards."""
    made, count = computed(method), BOARD_CARDS_OF_METHOD[method]
    boards, times = canonical_boards(count)
    some = RNG.permutation(len(boards))[:3]
    monkeypatch.setattr(centroid_buckets, "canonical_boards", lambda cards: (boards[some], times[some]))
    (labels,) = centroid_buckets.compute_labels(made, threads=2)
    for board in boards[some].tolist():
        suits = RNG.permutation(4)
        other = RNG.permutation([4 * (c // 4) + suits[c % 4] for c in board])
        left = [c for c in range(52) if c not in other]
        deals = np.array([[*hand, *other] for hand in combinations(left, 2)], np.uint8)
        assert np.array_equal(labels[HandIndexer((2, count)).index(deals)], made.buckets(deals))


def test_labels_are_computed_once_and_cached(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Labels are cached, damaged ones are computed again, and other centroids have other labels."""
    monkeypatch.setattr(centroid_buckets, "cache_folder", lambda: tmp_path)
    computed_methods: list[str] = []

    def compute(buckets: CentroidBuckets, threads: int, progress: object) -> Array:
        computed_methods.append(buckets.method)
        return np.full((1, HandIndexer((2, 4)).size()), len(buckets.centres) - 1, np.uint16)

    monkeypatch.setattr(centroid_buckets, "compute_labels", compute)
    whole, turn = lossless_abstraction().streets, light().streets[2]
    cards = CardAbstraction((*whole[:2], turn, whole[3]))
    labelled = cards.with_labels(1)
    assert labelled.fingerprint == cards.fingerprint  # the same buckets
    assert labelled.buckets(deals_of(5, 5))[:, 0, 2].tolist() == [59] * 5
    assert cards.lookup.shown.tolist() == [0, 3, 4, 5]  # reads the cache
    assert computed_methods == ["histogram"]
    (folder,) = tmp_path.iterdir()
    (folder / "labels.npy").write_bytes(b"nothing")
    assert cards.with_labels(1).streets[2].labels.max() == 59
    assert computed_methods == ["histogram"] * 2
    CardAbstraction((*whole[:2], replace(turn, centres=turn.centres[::-1]), whole[3])).with_labels(1)
    assert computed_methods == ["histogram"] * 3
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.slow
def test_default_agent_with_labels_has_the_computed_buckets() -> None:
    """All turns and rivers of the default agent: a minute if the labels are not cached."""
    cards = load_abstraction(SHIPPED / "cards")
    deals = deals_of(3000, 5)
    assert np.array_equal(cards.with_labels(2).buckets(deals), cards.buckets(deals))


def light_first_streets(cards: CardAbstraction) -> CardAbstraction:
    return CardAbstraction((*cards.streets[:2], *lossless_abstraction().streets[2:]))


@pytest.mark.parametrize("wrong", ["method", "centres"])
def test_centroids_that_do_not_fit_are_rejected(wrong: str, tmp_path: Path) -> None:
    cards = light()
    turn = cards.streets[2]
    bad = (
        StreetBuckets(60, centres=turn.centres, computed=True, metadata={"method": "ochs"})
        if wrong == "method"
        else StreetBuckets(60, centres=turn.centres[:, :9], computed=True, metadata=turn.metadata)
    )
    folder = CardAbstraction((*cards.streets[:2], bad, cards.streets[3])).save(tmp_path / "bad")
    with pytest.raises(CorruptError, match="street 2"):
        load_abstraction(folder)
