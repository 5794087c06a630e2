"""Showdown orders of two and three hands against all deals of small decks."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from reference.all_in import classes_of, deals
from riverboat.cards.deck import Deck
from riverboat.core.errors import InputError
from riverboat.tournaments.hand_tables import TRIPLE_ORDERS, count_three_way, count_two_way, triple_index

pytestmark = pytest.mark.smoke

DECKS = [(4, 2, 2), (3, 3, 3), pytest.param(5, 2, 1, marks=pytest.mark.slow)]


@pytest.mark.parametrize(("ranks", "suits", "board"), DECKS)
def test_three_hands(ranks: int, suits: int, board: int) -> None:
    deck = Deck.small(ranks, suits)
    group = classes_of(deck)
    n = int(group.max()) + 1
    expected = np.zeros((n, n, n, len(TRIPLE_ORDERS)))
    for hands, order in deals(deck, 3, board):
        expected[(*group[list(hands)], TRIPLE_ORDERS.index(order))] += 1
    table = count_three_way(deck, group, threads=2, board=board)
    for a, b, c in product(range(n), repeat=3):
        total = expected[a, b, c].sum()
        assert table.orders(a, b, c) == pytest.approx(expected[a, b, c] / max(total, 1), abs=1e-6)
    counts = [expected[a, b, c].sum() for c in range(n) for b in range(c + 1) for a in range(b + 1)]
    assert np.array(counts) / max(counts) == pytest.approx(table.hands / table.hands.max())


@pytest.mark.parametrize(("ranks", "suits", "board"), DECKS)
def test_two_hands(ranks: int, suits: int, board: int) -> None:
    deck = Deck.small(ranks, suits)
    group = classes_of(deck)
    n = int(group.max()) + 1
    expected = np.zeros((n, n, 3))
    for hands, order in deals(deck, 2, board):
        expected[(*group[list(hands)], ((0, 1), (1, 0), (0, 0)).index(order))] += 1
    table = count_two_way(deck, group, board=board)
    total = np.maximum(expected.sum(axis=2), 1)
    assert table.wins == pytest.approx(expected[:, :, 0] / total)
    assert table.ties == pytest.approx(expected[:, :, 2] / total)
    assert table.hands.sum() == len(deck.hands) * (len(deck.cards) - 2) * (len(deck.cards) - 3) // 2


def test_triple_indices_have_no_gaps() -> None:
    numbers = [triple_index(a, b, c) for c in range(9) for b in range(c + 1) for a in range(b + 1)]
    assert numbers == list(range(9 * 10 * 11 // 6))


def test_invalid_classes() -> None:
    deck = Deck.small(5, 2)
    table = count_three_way(deck, classes_of(deck), board=1)
    with pytest.raises(InputError, match=r"\(0, 1, 25\)"):
        table.orders(0, 1, 25)
