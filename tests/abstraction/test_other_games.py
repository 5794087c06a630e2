"""Leduc and hold'em of eight cards abstracted by the functions that abstract hold'em, then solved: what the buckets cost.

The abstract game is solved exactly, its strategy is lifted to the full game, and best responses there say what was lost. More
buckets need not lose less (Waugh et al. 2009): in these instances the steps are large and they do.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, load_abstraction, lossless
from riverboat.abstraction.cards.perfect_recall import percentile_abstraction
from riverboat.abstraction.clustering import kmeans, potential_aware
from riverboat.abstraction.clustering.public_clusters import (
    PrivateBuckets,
    PublicBuckets,
    cluster_private,
    cluster_public,
    look_ups,
    public_distances,
    transitions,
)
from riverboat.abstraction.small.public_buckets import BucketedGame, Buckets
from riverboat.cards.deck import Deck
from riverboat.cards.features.small_deck_features import hands_of, small_histograms, small_ochs
from riverboat.cards.isomorphism import canonical_boards
from riverboat.cards.notation import parse_cards
from riverboat.games.base import PublicGame
from riverboat.games.registry import make
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.tabular.best_response import quality
from riverboat.strategies.lifting import lift
from riverboat.trees.compile import compile_game
from riverboat.trees.public import PublicTree

# Names, decks, and the cards of each board; the second deals three of eight cards, so that two players leave one.
LEDUC = ("leduc", Deck("JQK", "hs", hole=1), (1,))
EIGHT = ("holdem:2-1,ranks=4,suits=2", Deck.small(4, 2), (3,))


@cache
def full(spec: str) -> tuple[PublicGame, PublicTree]:
    game = make(spec)
    assert isinstance(game, PublicGame)
    return game, PublicTree(game)


def seen(abstraction: CardAbstraction) -> Buckets:
    """An abstraction as the bucket map of a small game."""

    @cache
    def bucket(player: int, hand: str, board: tuple[str, ...]) -> str:
        cards = [card for dealt in board for card in parse_cards(dealt.strip("/"))]
        return str(abstraction.bucket(parse_cards(hand), cards))

    return bucket


def loss(spec: str, abstraction: CardAbstraction) -> float:
    """Exploitability in the full game of an equilibrium of the abstract one."""
    game, tree = full(spec)
    bucketed = BucketedGame(game, seen(abstraction))
    found = solve_lp(compile_game(bucketed))
    assert found.gap < 1e-7
    return quality(lift(found.strategy, bucketed, tree)).exploitability


def falls(losses: list[float], to_nothing: bool) -> bool:
    """From step to step, by more than rounding; to zero if nothing is left to lose."""
    least = losses[-1] < 1e-7 if to_nothing else losses[-1] > 0.01
    return bool((np.diff(losses) < -1e-6).all()) and least and losses[0] > 0.01


def weights(deck: Deck, board: int) -> np.ndarray:
    indexer = hands_of(deck, board)
    return indexer.count(np.arange(indexer.size())).astype(float)


def street(labels: np.ndarray) -> StreetBuckets:
    return StreetBuckets(int(labels.max()) + 1, labels.astype(np.uint16)[None])


def whole(deck: Deck, board: int) -> StreetBuckets:
    """A street on which nothing is lost."""
    return StreetBuckets(hands_of(deck, board).size())


@cache
def vectors(deck: Deck, deals: tuple[int, ...]) -> np.ndarray:
    """Last-street strength against each starting hand."""
    return small_ochs(deck, deals, len(deals), np.arange(hands_of(deck, 0).size())).astype(np.float32)


def alike(points: np.ndarray, weight: np.ndarray, k: int) -> kmeans.Clusters:
    """k clusters, or fewer where there are not so many different points."""
    return kmeans.cluster(points, weight, min(k, len(np.unique(points, axis=0))), "l2", restarts=5)


def by_vectors(deck: Deck, deals: tuple[int, ...], k: int) -> CardAbstraction:
    found = alike(vectors(deck, deals), weights(deck, sum(deals)), k)
    return CardAbstraction((whole(deck, 0), street(found.labels)), deals, deck)


def by_potential(deck: Deck, deals: tuple[int, ...], k: int) -> CardAbstraction:
    """Starting hands by where they lead to; the last street is whole."""
    after = alike(vectors(deck, deals), weights(deck, sum(deals)), 64)
    points = potential_aware.histograms(hands_of(deck, 0), hands_of(deck, sum(deals)), after.labels)
    found = potential_aware.cluster(
        points, weights(deck, 0), k, potential_aware.ground(after.centres, "l2"), restarts=5
    )
    return CardAbstraction((street(found.labels), whole(deck, sum(deals))), deals, deck)


def by_strength(deck: Deck, deals: tuple[int, ...], k: int) -> CardAbstraction:
    """Starting hands by their histograms of strength; the last street is whole."""
    points = small_histograms(deck, deals, 0, bins=10).histogram.astype(np.float32)
    found = kmeans.cluster(points, weights(deck, 0), k, "emd", restarts=5)
    return CardAbstraction((street(found.labels), whole(deck, sum(deals))), deals, deck)


def by_public(deck: Deck, deals: tuple[int, ...], publics: int, k: int) -> tuple[CardAbstraction, list[PrivateBuckets]]:
    """Public buckets of the first boards, and k private ones inside each on every street from there."""
    cards = deals[0]
    base = np.arange(hands_of(deck, cards).size())
    if sum(deals) == cards:
        base = alike(vectors(deck, deals), weights(deck, cards), 64).labels
    apart = public_distances(transitions(look_ups(base, cards, deck)))
    times = canonical_boards(cards, deck)[1].astype(float)
    public = PublicBuckets(cluster_public(apart, publics, times, restarts=5).labels, cards, deck)
    inside, streets = [], [whole(deck, 0)]
    for r in range(1, len(deals) + 1):
        points = small_ochs(deck, deals, r, np.arange(hands_of(deck, 0).size())).astype(np.float32)
        found = cluster_private(public, sum(deals[:r]), lambda _, hands, w, p=points: alike(p[hands], w, k).labels)
        inside.append(found)
        streets.append(StreetBuckets(int(found.first[-1]), found.labels, found.layer, first=found.first))
    return CardAbstraction(tuple(streets), deals, deck, public), inside


@pytest.mark.parametrize(("spec", "deck", "deals"), [LEDUC, pytest.param(*EIGHT, marks=pytest.mark.slow)])
def test_nothing_lost(spec: str, deck: Deck, deals: tuple[int, ...]) -> None:
    """Suits and the order of the board are forgotten, and cost nothing."""
    game, tree = full(spec)
    bucketed = BucketedGame(game, seen(lossless(deals, deck)))
    small = compile_game(bucketed)
    found = solve_lp(small)
    assert small.infoset_count < tree.infoset_count
    assert found.value == pytest.approx(solve_lp(tree).value, abs=1e-8)
    assert quality(lift(found.strategy, bucketed, tree)).exploitability < 1e-8


def test_leduc_by_vectors() -> None:
    """There are six different vectors for nine kinds of hands: a jack looks alike on queens and kings. That costs."""
    spec, *game = LEDUC
    assert len(np.unique(vectors(*game), axis=0)) == 6
    assert falls([loss(spec, by_vectors(*game, k)) for k in (1, 2, 6)], to_nothing=False)


def test_leduc_before_the_public_card() -> None:
    spec, *game = LEDUC
    for method in (by_potential, by_strength):
        assert falls([loss(spec, method(*game, k)) for k in (1, 2, 3)], to_nothing=True)


def test_leduc_by_public_cards() -> None:
    """One public bucket for each rank, with two or three hands inside: everything that matters in Leduc is seen."""
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


# --- the artefact -----------------------------------------------------------------------------------


def every_deal(deck: Deck, deals: tuple[int, ...]) -> np.ndarray:
    """Every hand with every board in every order."""
    return np.array(list(permutations(deck.cards.tolist(), deck.hole + sum(deals))), np.uint8)


@pytest.mark.parametrize(("deck", "deals"), [LEDUC[1:], (Deck.small(4, 2), (2, 1)), (Deck("259", "cds"), (1, 2))])
def test_folders_keep_the_labels(tmp_path: Path, deck: Deck, deals: tuple[int, ...]) -> None:
    """The look-up in a saved folder gives each deal the label of its hand."""
    last = sum(deals)
    by_hand = by_vectors(deck, (last,), 4)
    again = load_abstraction(by_hand.save(tmp_path / "hands"))
    assert again.fingerprint == by_hand.fingerprint
    cards = every_deal(deck, (last,))
    expected = by_hand.streets[-1].labels[0][hands_of(deck, last).index(cards)]
    np.testing.assert_array_equal(again.buckets(cards)[:, 0, -1], expected)

    inside, private = by_public(deck, deals, 2, 3)
    again = load_abstraction(inside.save(tmp_path / "public"))
    assert again.fingerprint == inside.fingerprint
    found = again.buckets(every_deal(deck, deals))[:, 0]
    for r, street_buckets in enumerate(private, start=1):
        width = deck.hole + sum(deals[:r])
        np.testing.assert_array_equal(found[:, r], street_buckets.of(every_deal(deck, deals)[:, :width]))
