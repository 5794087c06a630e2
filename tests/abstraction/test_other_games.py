"""Leduc and hold'em with eight cards, abstracted by the functions for hold'em and solved: the loss of each abstraction.

The abstract game is solved exactly and its strategy is lifted to the full game, where best responses measure the loss. More
buckets need not lose less (Waugh et al. 2009): in these instances the steps are large, and they do.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from reference.small_deck import small_deck_ochs
from riverboat.abstraction.bucketed_game import BucketedGame, BucketMap
from riverboat.abstraction.cards.card_abstraction import (
    CardAbstraction,
    StreetBuckets,
    load_abstraction,
    lossless_abstraction,
)
from riverboat.abstraction.cards.percentile_buckets import percentile_abstraction
from riverboat.abstraction.clustering import kmeans, potential_aware
from riverboat.abstraction.clustering.public_clusters import (
    PrivateBuckets,
    PublicBuckets,
    bucket_lookups,
    cluster_private,
    cluster_public,
    public_distances,
    transition_counts,
)
from riverboat.cards.deck import Deck
from riverboat.cards.features.small_deck_features import hand_indexer, small_deck_features
from riverboat.cards.isomorphism import canonical_boards
from riverboat.cards.notation import parse_cards
from riverboat.games.base import PublicGame
from riverboat.games.registry import game_from_spec
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.tabular.best_response import quality
from riverboat.strategies.lifting import lift_cards
from riverboat.trees.compile import compile_game
from riverboat.trees.public import PublicTree

# Specs, decks, and the board cards of each street; the second deals three of eight cards, so one remains.
LEDUC = ("leduc", Deck("JQK", "hs", hole=1), (1,))
EIGHT = ("holdem:2-1,ranks=4,suits=2", Deck.small(4, 2), (3,))


@cache
def full(spec: str) -> tuple[PublicGame, PublicTree]:
    game = game_from_spec(spec)
    assert isinstance(game, PublicGame)
    return game, PublicTree(game)


def seen(abstraction: CardAbstraction) -> BucketMap:
    """Return an abstraction as the bucket map of a small game."""

    @cache
    def bucket(player: int, hand: str, board: tuple[str, ...]) -> str:
        cards = [card for dealt in board for card in parse_cards(dealt.strip("/"))]
        return str(abstraction.bucket(parse_cards(hand), cards))

    return bucket


def loss(spec: str, abstraction: CardAbstraction) -> float:
    """Return the exploitability in the full game of an equilibrium of the abstract game."""
    game, tree = full(spec)
    bucketed = BucketedGame(game, seen(abstraction))
    found = solve_lp(compile_game(bucketed))
    assert found.gap < 1e-7
    return quality(lift_cards(found.strategy, bucketed, tree)).exploitability


def falls(losses: list[float], to_nothing: bool) -> bool:
    """Return whether losses decrease in every step by more than rounding; to zero with `to_nothing`."""
    least = losses[-1] < 1e-7 if to_nothing else losses[-1] > 0.01
    return bool((np.diff(losses) < -1e-6).all()) and least and losses[0] > 0.01


def weights(deck: Deck, board: int) -> np.ndarray:
    indexer = hand_indexer(deck, board)
    return indexer.count(np.arange(indexer.size())).astype(float)


def street(labels: np.ndarray) -> StreetBuckets:
    return StreetBuckets(int(labels.max()) + 1, labels.astype(np.uint16)[None])


def whole(deck: Deck, board: int) -> StreetBuckets:
    """Return a lossless street."""
    return StreetBuckets(hand_indexer(deck, board).size())


@cache
def vectors(deck: Deck, deals: tuple[int, ...]) -> np.ndarray:
    """Return the strength on the last street against each starting hand."""
    return small_deck_ochs(deck, deals, len(deals), np.arange(hand_indexer(deck, 0).size())).astype(np.float32)


def cluster(points: np.ndarray, weight: np.ndarray, k: int) -> kmeans.KMeansClusters:
    """Return k clusters, or fewer if there are fewer distinct points."""
    return kmeans.kmeans(points, weight, min(k, len(np.unique(points, axis=0))), "l2", restarts=5)


def by_vectors(deck: Deck, deals: tuple[int, ...], k: int) -> CardAbstraction:
    found = cluster(vectors(deck, deals), weights(deck, sum(deals)), k)
    return CardAbstraction((whole(deck, 0), street(found.labels)), deals, deck)


def by_potential(deck: Deck, deals: tuple[int, ...], k: int) -> CardAbstraction:
    """Cluster starting hands by potential; the last street is lossless."""
    after = cluster(vectors(deck, deals), weights(deck, sum(deals)), 64)
    points = potential_aware.successor_histograms(hand_indexer(deck, 0), hand_indexer(deck, sum(deals)), after.labels)
    found = potential_aware.potential_kmeans(
        points, weights(deck, 0), k, potential_aware.ground_distances(after.centres, "l2"), restarts=5
    )
    return CardAbstraction((street(found.labels), whole(deck, sum(deals))), deals, deck)


def by_strength(deck: Deck, deals: tuple[int, ...], k: int) -> CardAbstraction:
    """Cluster starting hands by histograms of strength; the last street is lossless."""
    points = small_deck_features(deck, deals, 0, bins=10).histogram.astype(np.float32)
    found = kmeans.kmeans(points, weights(deck, 0), k, "emd", restarts=5)
    return CardAbstraction((street(found.labels), whole(deck, sum(deals))), deals, deck)


def by_public(deck: Deck, deals: tuple[int, ...], publics: int, k: int) -> tuple[CardAbstraction, list[PrivateBuckets]]:
    """Return public buckets of the first boards, with k private buckets inside each on every later street."""
    cards = deals[0]
    base = np.arange(hand_indexer(deck, cards).size())
    if sum(deals) == cards:
        base = cluster(vectors(deck, deals), weights(deck, cards), 64).labels
    apart = public_distances(transition_counts(bucket_lookups(base, cards, deck)))
    times = canonical_boards(cards, deck)[1].astype(float)
    public = PublicBuckets(cluster_public(apart, publics, times, restarts=5).labels, cards, deck)
    inside, streets = [], [whole(deck, 0)]
    for r in range(1, len(deals) + 1):
        points = small_deck_ochs(deck, deals, r, np.arange(hand_indexer(deck, 0).size())).astype(np.float32)
        found = cluster_private(public, sum(deals[:r]), lambda _, hands, w, p=points: cluster(p[hands], w, k).labels)
        inside.append(found)
        streets.append(StreetBuckets(int(found.first[-1]), found.labels, found.layer, first=found.first))
    return CardAbstraction(tuple(streets), deals, deck, public), inside


@pytest.mark.parametrize(("spec", "deck", "deals"), [LEDUC, pytest.param(*EIGHT, marks=pytest.mark.slow)])
def test_lossless(spec: str, deck: Deck, deals: tuple[int, ...]) -> None:
    """The abstraction drops suits and the order of the board, without loss."""
    game, tree = full(spec)
    bucketed = BucketedGame(game, seen(lossless_abstraction(deals, deck)))
    small = compile_game(bucketed)
    found = solve_lp(small)
    assert small.infoset_count < tree.infoset_count
    assert found.value == pytest.approx(solve_lp(tree).value, abs=1e-8)
    assert quality(lift_cards(found.strategy, bucketed, tree)).exploitability < 1e-8


def test_leduc_by_vectors() -> None:
    """There are six distinct vectors for nine kinds of hands: a jack is equal on queens and kings, which costs value."""
    spec, *game = LEDUC
    assert len(np.unique(vectors(*game), axis=0)) == 6
    assert falls([loss(spec, by_vectors(*game, k)) for k in (1, 2, 6)], to_nothing=False)


def test_leduc_before_the_public_card() -> None:
    spec, *game = LEDUC
    for method in (by_potential, by_strength):
        assert falls([loss(spec, method(*game, k)) for k in (1, 2, 3)], to_nothing=True)


def test_leduc_by_public_cards() -> None:
    """One public bucket for each rank, with two or three hands inside, is lossless in Leduc."""
    spec, *game = LEDUC
    losses = [loss(spec, by_public(*game, *sizes)[0]) for sizes in ((1, 1), (1, 2), (2, 2), (3, 2))]
    assert falls(losses, to_nothing=True)


def test_leduc_by_percentiles() -> None:
    spec, *game = LEDUC
    assert falls([loss(spec, percentile_abstraction(n, "mean", *game)) for n in (2, 3)], to_nothing=False)


@pytest.mark.slow
def test_eight_cards_by_percentiles() -> None:
    spec, *game = EIGHT
    assert falls([loss(spec, percentile_abstraction(n, "square", *game)) for n in (2, 3, 4, 6)], to_nothing=False)


@pytest.mark.slow
def test_eight_cards_by_vectors() -> None:
    spec, *game = EIGHT
    assert falls([loss(spec, by_vectors(*game, k)) for k in (2, 4, 8, 64, 300)], to_nothing=False)


@pytest.mark.slow
def test_eight_cards_by_potential() -> None:
    spec, *game = EIGHT
    assert falls([loss(spec, by_potential(*game, k)) for k in (1, 4, 8, 16)], to_nothing=True)


@pytest.mark.slow
def test_eight_cards_by_public_flops() -> None:
    spec, *game = EIGHT
    assert falls([loss(spec, by_public(*game, *sizes)[0]) for sizes in ((2, 2), (28, 10))], to_nothing=True)


# --- artifacts --------------------------------------------------------------------------------------


def every_deal(deck: Deck, deals: tuple[int, ...]) -> np.ndarray:
    """Return every hand with every board in every order."""
    return np.array(list(permutations(deck.cards.tolist(), deck.hole + sum(deals))), np.uint8)


@pytest.mark.parametrize(("deck", "deals"), [LEDUC[1:], (Deck.small(4, 2), (2, 1)), (Deck("259", "cds"), (1, 2))])
def test_saved_folders_have_the_same_labels(tmp_path: Path, deck: Deck, deals: tuple[int, ...]) -> None:
    """The look-up in a saved folder gives each deal the label of its hand."""
    last = sum(deals)
    by_hand = by_vectors(deck, (last,), 4)
    again = load_abstraction(by_hand.save(tmp_path / "hands"))
    assert again.fingerprint == by_hand.fingerprint
    cards = every_deal(deck, (last,))
    expected = by_hand.streets[-1].labels[0][hand_indexer(deck, last).index(cards)]
    np.testing.assert_array_equal(again.buckets(cards)[:, 0, -1], expected)

    inside, private = by_public(deck, deals, 2, 3)
    again = load_abstraction(inside.save(tmp_path / "public"))
    assert again.fingerprint == inside.fingerprint
    found = again.buckets(every_deal(deck, deals))[:, 0]
    for r, street_buckets in enumerate(private, start=1):
        width = deck.hole + sum(deals[:r])
        np.testing.assert_array_equal(found[:, r], street_buckets.buckets(every_deal(deck, deals)[:, :width]))
