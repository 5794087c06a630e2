"""Batch showdowns against pairwise comparison and against `equities`."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from riverboat.cards.deck import FULL_DECK, Deck
from riverboat.cards.equity.batch_equities import BatchShowdown
from riverboat.cards.equity.equities import equity, range_wins
from riverboat.cards.notation import parse_cards
from riverboat.cards.ranking import rank
from riverboat.core.errors import InputError

SMALL = [(Deck.small(4, 2, 1), 2, (51,)), (Deck.small(3, 3, 2), 3, (50, 47)), (Deck.small(3, 4, 2), 5, (48, 51, 44))]


def plainly(deck: Deck, cards: int, board: tuple[int, ...], weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the compatible weight and the wins of each hand against a range, pair by pair and board by board."""
    hands = [tuple(hand) for hand in deck.hands.tolist()]
    met, won = np.zeros(len(hands)), np.zeros(len(hands))
    for h, mine in enumerate(hands):
        for o, other in enumerate(hands):
            known = {*mine, *other, *board}
            if len(known) < len(mine) + len(other) + len(board) or not weights[o]:
                continue
            left = [card for card in deck.cards.tolist() if card not in known]
            full = [(*board, *rest) for rest in combinations(left, cards - len(board))]
            scores = [(rank([*mine, *b]), rank([*other, *b])) for b in full]
            met[h] += weights[o]
            won[h] += weights[o] * np.mean([(a > b) + (a == b) / 2 for a, b in scores])
    return met, won


@pytest.mark.parametrize(("deck", "cards", "board"), SMALL, ids=["one card", "two cards", "five on the board"])
def test_small_decks_pair_by_pair(deck: Deck, cards: int, board: tuple[int, ...]) -> None:
    table = BatchShowdown(deck, cards)
    live = table.live_hands(board)
    ranges = np.random.default_rng(1).random((19, deck.num_hands)) * live  # more than one group of lanes
    met, won = table.compatible_weights(ranges), table.wins(board, ranges)
    by_pairs = table.wins_from_margins(table.pair_margins(board), ranges)
    for k in (0, 17):
        wanted = plainly(deck, cards, board, ranges[k])
        assert met[k][live] == pytest.approx(wanted[0][live])
        assert won[k][live] == pytest.approx(wanted[1][live])
        assert by_pairs[k][live] == pytest.approx(wanted[1][live], rel=1e-5)
    hands = deck.hands[live].tolist()
    assert table.count_hand_pairs(len(board)) == sum(not set(a) & set(b) for a in hands for b in hands)


@pytest.mark.parametrize("board", ["QsJh2h7c", "QsJh2h7c2d"])
def test_all_hands_agree_with_equities(board: str) -> None:
    table, cards = BatchShowdown(FULL_DECK, 5), parse_cards(board)
    live = table.live_hands(cards)
    weights = np.random.default_rng(2).random(1326) * live
    boards = table.runouts(cards)
    won, met = range_wins(weights, boards, np.ones(len(boards)))
    found = table.wins(cards, weights[None])[0] / np.maximum(table.compatible_weights(weights[None])[0], 1e-300)
    assert found[live] == pytest.approx(won[live] / met[live])


NUMBER = {frozenset(hand): h for h, hand in enumerate(FULL_DECK.hands.tolist())}


def number(text: str) -> int:
    return NUMBER[frozenset(parse_cards(text))]


def test_all_pairs_on_a_flop() -> None:
    table, flop = BatchShowdown(FULL_DECK, 5), parse_cards("QsJh2h")
    ahkh, qcqd = number("AhKh"), number("QcQd")
    margins = table.pair_margins(flop)
    assert (1 + margins[ahkh, qcqd]) / 2 == pytest.approx(equity("AhKh", "QcQd", board="QsJh2h").shares[0], abs=1e-6)
    assert np.array_equal(margins, -margins.T)
    assert not margins[ahkh, number("Ah2c")]  # they share the ace
    live = table.live_hands(flop)
    some = np.random.default_rng(3).random((2, 1326)) * live
    drawn = table.wins(flop, some, table.sample_runouts(flop, 3000, np.random.default_rng(4)))
    exact = table.wins_from_margins(margins, some)
    assert drawn[:, live] == pytest.approx(exact[:, live], rel=0.1)


@pytest.mark.slow
def test_starting_hands_are_exact_for_suit_symmetric_ranges() -> None:
    table = BatchShowdown(FULL_DECK, 5)
    queens, pairs = np.zeros(1326), ("QcQd", "QcQh", "QcQs", "QdQh", "QdQs", "QhQs")
    queens[[number(text) for text in pairs]] = 1
    won = table.wins_from_margins(table.pair_margins(()), queens[None])[0, number("AhKh")]
    assert won == pytest.approx(sum(equity("AhKh", text).shares[0] for text in pairs), abs=1e-5)


def test_too_many_cards_are_rejected() -> None:
    with pytest.raises(InputError, match="2 hole and 6 board"):
        BatchShowdown(FULL_DECK, 6)
