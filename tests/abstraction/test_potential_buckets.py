"""Potential-aware buckets where the showdown is on the flop: histograms by enumeration, clusters, names."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from riverboat.abstraction.cards.named_abstractions import abstraction_by_name
from riverboat.abstraction.cards.potential_buckets import GROUPS, RESULTS, potential_abstraction, showdown_histograms
from riverboat.cards.deck import Deck
from riverboat.cards.isomorphism import HandIndexer
from riverboat.cards.ranking import rank_batch
from riverboat.core.errors import InputError

DECK = Deck.small(4, 2)


def share_of_wins(cards: tuple[int, ...]) -> np.ndarray:
    """Share of lost, tied and won showdowns of a hand on a board, against all hands."""
    hand, board = cards[:2], cards[2:]
    live = [c for c in DECK.cards.tolist() if c not in cards]
    own = int(rank_batch(np.array([(*hand, *board)], np.uint8))[0])
    others = rank_batch(np.array([(*pair, *board) for pair in combinations(live, 2)], np.uint8)).astype(int)
    return np.bincount(np.sign(own - others) + 1, minlength=RESULTS) / len(others)


def test_histograms_equal_enumeration() -> None:
    histograms, strengths = showdown_histograms(DECK)
    indexer = HandIndexer.for_deck(DECK, (2, 3))
    assert histograms.shape == (indexer.size(), GROUPS * RESULTS)
    np.testing.assert_allclose(histograms.sum(axis=1), 1.0, rtol=1e-5)
    assert (np.diff(strengths) >= 0).all()
    rng = np.random.default_rng(0)
    for _ in range(20):
        cards = tuple(rng.permutation(DECK.cards)[:5].tolist())
        dealt = np.array([(*sorted(cards[:2]), *sorted(cards[2:]))], np.uint8)
        found = histograms[indexer.index(dealt)[0]].reshape(GROUPS, RESULTS).sum(axis=0)
        np.testing.assert_allclose(found, share_of_wins(cards), atol=1e-6)


def test_buckets_have_similar_hands() -> None:
    """Hands of a bucket win about equally often; threads change nothing."""
    found = potential_abstraction(40, DECK)
    labels = found.streets[1].labels[0]
    assert np.array_equal(labels, potential_abstraction(40, DECK, threads=2).streets[1].labels[0])
    assert len(np.unique(labels)) == 40
    histograms = showdown_histograms(DECK)[0].reshape(-1, GROUPS, RESULTS).sum(axis=1)
    equity = histograms @ [0.0, 0.5, 1.0]
    inside = np.array([equity[labels == bucket].std() for bucket in range(40)])
    assert inside.mean() < 0.25 * equity.std()


def test_names() -> None:
    assert abstraction_by_name("potential:40", DECK).name == "potential:40"
    with pytest.raises(InputError, match="potential:9999"):
        abstraction_by_name("potential:9999", DECK)
    with pytest.raises(InputError, match="number of buckets"):
        abstraction_by_name("potential:", DECK)
