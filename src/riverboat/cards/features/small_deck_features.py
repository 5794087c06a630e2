"""Strengths and histograms for any small deck, with one or two hole cards and boards of any size.

The same features as in `riverboat.cards.features.hand_features`, on every board and runout: feasible for some 100,000
canonical hands, such as Leduc and decks of a few ranks. Tables are indexed by `hand_indexer(deck, board)`. Streets are
numbered: with `deals=(3, 1, 1)` street 0 is before any board, and street 1 has three cards.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb

import numpy as np

from riverboat.cards.deck import Deck
from riverboat.cards.features.hand_features import StrengthFeatures, board_wins, live_deals
from riverboat.cards.isomorphism import HandIndexer, canonical_boards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

_CHUNK_NUMBERS = 1 << 22  # array entries per step, which limits the memory


def hand_indexer(deck: Deck, board: int) -> HandIndexer:
    """Return the indexer of hole cards with a board of `board` cards."""
    if board < 0 or deck.hole + board > len(deck.cards):
        raise InputError(f"board of {board} cards with {deck.hole} hole cards: the deck has {len(deck.cards)} cards")
    return HandIndexer.for_deck(deck, (deck.hole, board) if board else (deck.hole,))


def max_strength(deck: Deck, board: int) -> int:
    """Return the strength, as 2 wins + ties, of a hand that beats all others: twice the number of opponent hands."""
    opponent_hands = comb(len(deck.cards) - deck.hole - board, deck.hole)
    if opponent_hands < 1:
        raise InputError(f"board of {board} cards from {len(deck.cards)}: too few cards are left for the opponent")
    return 2 * opponent_hands


def small_deck_strengths(deck: Deck, board: int) -> Array:
    """Compute 2 wins + ties (up to `max_strength`) of every canonical hand with `board` board cards. int32 [hands]"""
    max_strength(deck, board)  # rejects boards that leave no cards for an opponent
    indexer = hand_indexer(deck, board)
    out = np.empty(indexer.size(), np.int32)
    for cards in canonical_boards(board, deck)[0] if board else np.zeros((1, 0), np.uint8):
        live, deals = live_deals(cards[None], deck)
        out[indexer.index(deals, check=False)] = board_wins(cards, deck)[live[0]]
    return out


def small_deck_features(
    deck: Deck,
    deals: tuple[int, ...],
    street: int,
    bins: int = 50,
    strengths: Array | None = None,
) -> StrengthFeatures:
    """Compute E[HS], E[HS²] and the histogram of last-street strength over all runouts: int64 counts [hands, bins].

    `strengths` may have the result of `small_deck_strengths` for the last street, which all streets share.
    """
    board, last = _board_sizes(deals, street)
    full, last_hands = max_strength(deck, last), hand_indexer(deck, last).size()
    if bins < 1:
        raise InputError(f"bins={bins}: must be at least 1")
    strength = small_deck_strengths(deck, last) if strengths is None else np.asarray(strengths)
    if strength.shape != (last_hands,) or not 0 <= strength.min() <= strength.max() <= full:
        raise InputError(f"strengths of shape {strength.shape}: expected 0 to {full} for each of {last_hands:,} hands")
    bin_of = np.minimum(np.arange(full + 1) * bins // full, bins - 1)
    size = hand_indexer(deck, board).size()
    first, second = np.zeros(size), np.zeros(size)
    histogram = np.zeros((size, bins), np.int64)
    for hands, after in _runouts(deck, board, last):
        points = strength[after].astype(np.int64)
        runouts = points.shape[1]
        first[hands] = points.sum(axis=1) / (full * runouts)
        second[hands] = (points * points).sum(axis=1) / (full * full * runouts)
        flat_bins = np.arange(len(points))[:, None] * bins + bin_of[points]
        histogram[hands] = np.bincount(flat_bins.ravel(), minlength=len(points) * bins).reshape(-1, bins)
    return StrengthFeatures(first.astype(np.float32), second.astype(np.float32), histogram)


def _board_sizes(deals: tuple[int, ...], street: int) -> tuple[int, int]:
    """Return the number of board cards on a street and on the last one."""
    if not deals or min(deals) < 1 or not 0 <= street <= len(deals):
        raise InputError(
            f"street {street} of boards dealt {deals}: one card or more each time, streets 0 to {len(deals)}"
        )
    return sum(deals[:street]), sum(deals)


def _runouts(deck: Deck, board: int, last: int) -> Iterator[tuple[slice, Array]]:
    """Yield canonical hands of a street, and the indices of all their last-street hands. int64 [hands, runouts]"""
    indexer, after = hand_indexer(deck, board), hand_indexer(deck, last)
    held, fresh = indexer.widths[-1], last - board
    left = len(deck.cards) - held
    choices = np.array(list(combinations(range(left), fresh)), np.int64).reshape(comb(left, fresh), fresh)
    chunk = max(1, _CHUNK_NUMBERS // (len(choices) * (held + fresh)))
    for begin in range(0, indexer.size(), chunk):
        hands = slice(begin, min(begin + chunk, indexer.size()))
        deals = indexer.unindex(np.arange(hands.start, hands.stop))
        free = ~(deck.cards[None, :, None] == deals[:, None, :]).any(axis=2)
        rest = np.broadcast_to(deck.cards, free.shape)[free].reshape(len(deals), left)
        known = np.broadcast_to(deals[:, None, :], (len(deals), len(choices), held))
        yield hands, after.index(np.concatenate([known, rest[:, choices]], axis=2), check=False)
