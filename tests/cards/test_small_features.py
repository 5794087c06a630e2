"""Features of small decks against brute force, and against the tables of the full deck."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from reference.small_deck import small_deck_ochs
from riverboat.cards import ranking
from riverboat.cards.deck import FULL_DECK, HAND_CARDS, Deck
from riverboat.cards.features import hand_features
from riverboat.cards.features.small_deck_features import (
    hand_indexer,
    max_strength,
    small_deck_features,
    small_deck_strengths,
)
from riverboat.cards.isomorphism import HandIndexer
from riverboat.cards.notation import parse_cards
from riverboat.core.errors import InputError

LEDUC = Deck("JQK", "hs", hole=1)
CARDS = np.array(HAND_CARDS)

DECKS = [
    (LEDUC, (1,)),
    (Deck.small(3, 3, hole=1), (1, 1)),
    (Deck.small(4, 2), (1, 1)),
    (Deck("479T", "dc"), (2, 1)),
]


def points(deck: Deck, hand: list[int], board: list[int]) -> list[tuple[tuple[int, ...], int]]:
    """Return every hand that can be met, with 2 for a win and 1 for a tie."""
    left = [c for c in deck.cards.tolist() if c not in hand and c not in board]
    mine = ranking.rank([*hand, *board])
    found = []
    for other in combinations(left, deck.hole):
        theirs = ranking.rank([*other, *board])
        found.append((other, 2 * (mine > theirs) + (mine == theirs)))
    return found


@pytest.mark.parametrize(("deck", "deals"), DECKS)
def test_brute_force(deck: Deck, deals: tuple[int, ...]) -> None:
    last, bins = sum(deals), 7
    full, strength, start = max_strength(deck, last), small_deck_strengths(deck, last), hand_indexer(deck, 0)
    group = np.arange(start.size()) % 3
    for street in range(len(deals) + 1):
        board = sum(deals[:street])
        found = small_deck_features(deck, deals, street, bins)
        shares = small_deck_ochs(deck, deals, street, group)
        for hand, cards in enumerate(hand_indexer(deck, board).unindex(np.arange(len(found.mean))).tolist()):
            held, known = cards[: deck.hole], cards[deck.hole :]
            left = [c for c in deck.cards.tolist() if c not in cards]
            values, histogram, against = [], [0] * bins, []
            for more in combinations(left, last - board):
                met = points(deck, held, [*known, *more])
                total = sum(p for _, p in met)
                assert full == 2 * len(met)
                values.append(total / full)
                histogram[min(total * bins // full, bins - 1)] += 1
                if board == last:
                    assert strength[hand] == total
                rows = [[p / 2 for other, p in met if group[start.index(np.array(other))] == g] for g in range(3)]
                against.append([np.mean(row) if row else total / full for row in rows])
            assert found.mean[hand] == pytest.approx(np.mean(values), abs=1e-6)
            assert found.square[hand] == pytest.approx(np.mean(np.square(values)), abs=1e-6)
            assert found.histogram[hand].tolist() == histogram
            assert shares[hand] == pytest.approx(np.mean(against, axis=0), abs=1e-12)


def test_leduc() -> None:
    """Poker hands of two cards are Leduc's. Of the four remaining hands, a pair beats all."""
    own = small_deck_strengths(LEDUC, 1)
    index = hand_indexer(LEDUC, 1).index
    deals = ["KhKs", "KhJs", "QhJs", "JhKs", "JhQs"]
    # A king over a jack beats two queens and ties with a king; the others only tie with their own rank.
    assert own[index(np.array([parse_cards(d) for d in deals], np.uint8))].tolist() == [8, 5, 1, 1, 1]
    before = small_deck_features(LEDUC, (1,), 0, bins=8)
    assert before.mean.tolist() == pytest.approx([0.3, 0.5, 0.7])
    assert before.histogram.sum(axis=1).tolist() == [5, 5, 5]


def test_real_deck_river() -> None:
    for text in ("QsJh2h8c3d", "AhKhQhJhTh", "7d7c7h2s2c"):
        board = np.array(parse_cards(text), np.uint8)
        found = hand_features.strengths_on_boards(board[None])
        live = found[0] != 65535
        np.testing.assert_array_equal(hand_features.board_wins(board)[live], found[0][live])
    assert max_strength(FULL_DECK, 5) == hand_features.MAX_STRENGTH


def test_real_deck_turn() -> None:
    """Means, squares and histograms of all hands on a turn, over its 48 rivers."""
    turn = parse_cards("7h9hQhAd")
    _, first, second = hand_features.runout_features(np.array([turn], np.uint8), 50)
    rivers = np.array([hand_features.board_wins([*turn, c]) for c in range(52) if c not in turn])
    np.testing.assert_array_equal(rivers.sum(axis=0), first[0])
    np.testing.assert_array_equal((rivers**2).sum(axis=0), second[0])


def test_groups() -> None:
    """One group is plain strength; so is a group that nobody can hold."""
    deck, deals = Deck.small(4, 3), (2, 1)
    starting = hand_indexer(deck, 0).size()
    strength = small_deck_strengths(deck, 3) / max_strength(deck, 3)
    np.testing.assert_allclose(small_deck_ochs(deck, deals, 2, np.zeros(starting, int))[:, 0], strength, atol=1e-12)
    shares = small_deck_ochs(deck, deals, 2, 2 * (np.arange(starting) % 2))
    np.testing.assert_allclose(shares[:, 1], strength, atol=1e-12)
    assert (shares[:, 0] != shares[:, 2]).any()
    known = small_deck_features(deck, deals, 1, strengths=small_deck_strengths(deck, 3))
    np.testing.assert_allclose(small_deck_ochs(deck, deals, 1, np.zeros(starting, int))[:, 0], known.mean, atol=1e-6)


def test_errors() -> None:
    with pytest.raises(InputError, match="board of"):
        max_strength(LEDUC, 5)
    with pytest.raises(InputError, match="street 2"):
        small_deck_features(LEDUC, (1,), 2)
    with pytest.raises(InputError, match="bins=0"):
        small_deck_features(LEDUC, (1,), 1, bins=0)
    with pytest.raises(InputError, match="0 to 8"):
        small_deck_features(LEDUC, (1,), 1, strengths=np.full(15, 9))
    with pytest.raises(InputError, match="board"):
        hand_features.board_wins([50, 50], LEDUC)
    with pytest.raises(InputError, match="6 cards"):
        hand_indexer(LEDUC, 6)
    assert HandIndexer.for_deck(LEDUC, (1, 1)).size() == hand_indexer(LEDUC, 1).size() == 15
