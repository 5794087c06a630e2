"""Strengths, histograms and OCHS for any small deck, with one or two hole cards and boards of any size.

The same features as in `riverboat.cards.features.hand_features`, by comparing every hand with every other: feasible for
some 100,000 canonical hands, such as Leduc and decks of a few ranks. Tables are indexed by `hand_indexer(deck, board)`.
Streets are numbered: with `deals=(3, 1, 1)` street 0 is before any board, and street 1 has three cards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from math import comb
from typing import TypeAlias

import numpy as np

from riverboat.cards import ranking
from riverboat.cards.deck import Deck, card_masks
from riverboat.cards.features.hand_features import StrengthFeatures, live_deals
from riverboat.cards.isomorphism import HandIndexer, canonical_boards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

RankFunction: TypeAlias = Callable[[Array], Array]  # uint8 [hands, hole + board] -> strengths, comparable on one board

_CHUNK_NUMBERS = 1 << 22  # numbers per step of a computation


def hand_indexer(deck: Deck, board: int) -> HandIndexer:
    """Return the indexer of hole cards with a board of `board` cards."""
    if board < 0 or deck.hole + board > len(deck.cards):
        raise InputError(f"board of {board} cards with {deck.hole} hole cards: the deck has {len(deck.cards)} cards")
    return HandIndexer.for_deck(deck, (deck.hole, board) if board else (deck.hole,))


def max_strength(deck: Deck, board: int) -> int:
    """Return the strength of a hand that beats all others: twice the number of opponent hands."""
    opponent_hands = comb(len(deck.cards) - deck.hole - board, deck.hole)
    if opponent_hands < 1:
        raise InputError(f"board of {board} cards from {len(deck.cards)}: too few cards are left for the opponent")
    return 2 * opponent_hands


def small_deck_strengths(deck: Deck, board: int, rank: RankFunction | None = None) -> Array:
    """Compute 2 wins + ties of every canonical hand on boards of `board` cards, at most `max_strength`. int32 [hands]

    `rank` ranks hands in games with rules of their own; poker hands by default.
    """
    return _wins_against_groups(deck, board, rank, np.zeros(len(deck.hands), np.int64))[0][:, 0]


def board_strengths(deck: Deck, board: Array, rank: RankFunction | None = None) -> Array:
    """Return 2 wins + ties of every hand of the deck on one board; -1 for blocked hands. int32 [hands]"""
    cards = np.asarray(board, np.uint8)
    if cards.ndim != 1 or not np.isin(cards, deck.cards).all() or len(np.unique(cards)) < len(cards):
        raise InputError(f"board {np.asarray(board).tolist()}: give different cards of the deck")
    live, deals = live_deals(cards[None], deck)
    out = np.full(len(deck.hands), -1, np.int32)
    out[live[0]] = _compare_all_pairs(deck, deals, rank)[0].sum(axis=1)
    return out


def small_deck_features(
    deck: Deck,
    deals: tuple[int, ...],
    street: int,
    bins: int = 50,
    rank: RankFunction | None = None,
    strengths: Array | None = None,
) -> StrengthFeatures:
    """Compute E[HS], E[HS²] and the histogram of last-street strength over all runouts: int64 counts [hands, bins].

    `strengths` passes in those of the last street, which all streets share.
    """
    board, last = _board_sizes(deals, street)
    full, last_hands = max_strength(deck, last), hand_indexer(deck, last).size()
    if bins < 1:
        raise InputError(f"bins={bins}: must be at least 1")
    strength = small_deck_strengths(deck, last, rank) if strengths is None else np.asarray(strengths)
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


def small_deck_ochs(
    deck: Deck, deals: tuple[int, ...], street: int, groups: Array, rank: RankFunction | None = None
) -> Array:
    """Compute the strength against each group of starting hands, averaged over the runouts. float64 [hands, groups]

    `groups` has the group 0, 1, … of each canonical starting hand of the deck. If no hand of a group is possible, the
    strength against all hands is used.
    """
    board, last = _board_sizes(deals, street)
    start = hand_indexer(deck, 0)
    chosen = np.asarray(groups)
    if chosen.shape != (start.size(),) or chosen.dtype.kind not in "iu" or chosen.min() < 0:
        raise InputError(
            f"groups of shape {chosen.shape}: give a number from 0 for each of {start.size()} starting hands"
        )
    twice, met = _wins_against_groups(deck, last, rank, chosen[start.index(deck.hands)])
    overall = twice.sum(axis=1, keepdims=True) / (2 * met.sum(axis=1, keepdims=True))
    share = np.where(met > 0, twice / np.maximum(2 * met, 1), overall)
    out = np.zeros((hand_indexer(deck, board).size(), share.shape[1]))
    for hands, after in _runouts(deck, board, last):
        out[hands] = share[after].mean(axis=1)
    return out


def _board_sizes(deals: tuple[int, ...], street: int) -> tuple[int, int]:
    """Return the number of board cards on a street and on the last one."""
    if not deals or min(deals) < 1 or not 0 <= street <= len(deals):
        raise InputError(
            f"street {street} of boards dealt {deals}: one card or more each time, streets 0 to {len(deals)}"
        )
    return sum(deals[:street]), sum(deals)


def _wins_against_groups(deck: Deck, board: int, rank: RankFunction | None, group: Array) -> tuple[Array, Array]:
    """Return 2 wins + ties against each group of hands, and the number of its hands met. int32 [canonical hands,
    groups] each
    """
    max_strength(deck, board)  # rejects boards that leave no cards for an opponent
    indexer = hand_indexer(deck, board)
    one_hot = (group[:, None] == np.arange(group.max() + 1)).astype(np.int32)
    twice, met = np.zeros((2, indexer.size(), one_hot.shape[1]), np.int32)
    for here in canonical_boards(board, deck)[0] if board else np.zeros((1, 0), np.uint8):
        live, deals = live_deals(here[None], deck)
        points, meets = _compare_all_pairs(deck, deals, rank)
        index = indexer.index(deals, check=False)
        twice[index], met[index] = points @ one_hot[live[0]], meets @ one_hot[live[0]]
    return twice, met


def _compare_all_pairs(deck: Deck, deals: Array, rank: RankFunction | None) -> tuple[Array, Array]:
    """Compare all pairs of hands on one board: 2 for a win, 1 for a tie; and which are disjoint. int32 [hands, hands]
    each
    """
    ranks = np.asarray(ranking.rank_batch(deals, deck.rules, check=False) if rank is None else rank(deals))
    if ranks.shape != (len(deals),):
        raise InputError(f"rank gave shape {ranks.shape} for {len(deals)} hands: expected one number for each")
    cards = card_masks(deals[:, : deck.hole])
    meets = ((cards[:, None] & cards) == 0).astype(np.int32)
    points = (ranks[:, None] > ranks).astype(np.int32) + (ranks[:, None] >= ranks)
    return points * meets, meets


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
