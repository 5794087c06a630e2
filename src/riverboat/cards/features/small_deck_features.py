"""Strengths, histograms and OCHS of any small deck, with one or two hole cards and boards of any cards.

The same as `riverboat.cards.features.street_features`, by plain comparison of every hand with every other: good for some 100,000 canonical
hands. Leduc and decks of a few ranks are abstracted with these. Tables are indexed by `hands_of(deck, board)`. Streets have
numbers: with `deals=(3, 1, 1)` street 0 is before any board, and street 1 has three cards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from math import comb
from typing import TypeAlias

import numpy as np

from riverboat.cards import ranking
from riverboat.cards.deck import Deck
from riverboat.cards.features.street_features import Features
from riverboat.cards.isomorphism import Indexer, canonical_boards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

Rank: TypeAlias = Callable[[Array], Array]  # uint8 [hands, hole + board] -> numbers that compare on one board

_ROOM = 1 << 22  # numbers in one step of a computation


def hands_of(deck: Deck, board: int) -> Indexer:
    """Numbers of hole cards and a board of so many cards."""
    if board < 0 or deck.hole + board > len(deck.cards):
        raise InputError(f"board of {board} cards with {deck.hole} hole cards: the deck has {len(deck.cards)} cards")
    return Indexer.for_deck(deck, (deck.hole, board) if board else (deck.hole,))


def full_strength(deck: Deck, board: int) -> int:
    """The strength of a hand that beats everything: twice the hands that the other player may hold."""
    meets = comb(len(deck.cards) - deck.hole - board, deck.hole)
    if meets < 1:
        raise InputError(f"board of {board} cards from {len(deck.cards)}: none are left for the other player")
    return 2 * meets


def small_strengths(deck: Deck, board: int, rank: Rank | None = None) -> Array:
    """2 wins + ties of `full_strength`, of every canonical hand on boards of so many cards. int32 [hands]

    `rank` says how strong hands are, for games with rules of their own; poker hands by default.
    """
    return _against(deck, board, rank, np.zeros(len(deck.hands), np.int64))[0][:, 0]


def board_strengths(deck: Deck, board: Array, rank: Rank | None = None) -> Array:
    """2 wins + ties of every hand of the deck on one board; -1 where the board holds one of its cards. int32 [hands]"""
    here = np.asarray(board, np.uint8)
    if here.ndim != 1 or not np.isin(here, deck.cards).all() or len(np.unique(here)) < len(here):
        raise InputError(f"board {np.asarray(board).tolist()}: give different cards of the deck")
    live, deals = _live(deck, here)
    out = np.full(len(deck.hands), -1, np.int32)
    out[live] = _compare(deck, live, deals, rank)[0].sum(axis=1)
    return out


def small_histograms(
    deck: Deck,
    deals: tuple[int, ...],
    street: int,
    bins: int = 50,
    rank: Rank | None = None,
    strengths: Array | None = None,
) -> Features:
    """E[HS], E[HS²] and the histogram of last-street strength over all runouts: int64 counts [hands, bins].

    `strengths` may bring those of the last street, which all streets share.
    """
    board, last = _boards(deals, street)
    full, known = full_strength(deck, last), hands_of(deck, last).size()
    if bins < 1:
        raise InputError(f"bins={bins}: must be at least 1")
    strength = small_strengths(deck, last, rank) if strengths is None else np.asarray(strengths)
    if strength.shape != (known,) or not 0 <= strength.min() <= strength.max() <= full:
        raise InputError(f"strengths of shape {strength.shape}: expected 0 to {full} for each of {known:,} hands")
    bin_of = np.minimum(np.arange(full + 1) * bins // full, bins - 1)
    size = hands_of(deck, board).size()
    first, second = np.zeros(size), np.zeros(size)
    histogram = np.zeros((size, bins), np.int64)
    for hands, after in _runouts(deck, board, last):
        points = strength[after].astype(np.int64)
        runouts = points.shape[1]
        first[hands] = points.sum(axis=1) / (full * runouts)
        second[hands] = (points * points).sum(axis=1) / (full * full * runouts)
        places = np.arange(len(points))[:, None] * bins + bin_of[points]
        histogram[hands] = np.bincount(places.ravel(), minlength=len(points) * bins).reshape(-1, bins)
    return Features(f"street {street}", first.astype(np.float32), second.astype(np.float32), histogram)


def small_ochs(deck: Deck, deals: tuple[int, ...], street: int, groups: Array, rank: Rank | None = None) -> Array:
    """Strength against each group of starting hands, averaged over the runouts. float64 [hands, groups]

    `groups` gives the group 0, 1, … of each canonical starting hand of the deck. Where no hand of a group can be met,
    the strength against all hands stands for it.
    """
    board, last = _boards(deals, street)
    start = hands_of(deck, 0)
    chosen = np.asarray(groups)
    if chosen.shape != (start.size(),) or chosen.dtype.kind not in "iu" or chosen.min() < 0:
        raise InputError(
            f"groups of shape {chosen.shape}: give a number from 0 for each of {start.size()} starting hands"
        )
    twice, met = _against(deck, last, rank, chosen[start.index(deck.hands)])
    all_of_them = twice.sum(axis=1, keepdims=True) / (2 * met.sum(axis=1, keepdims=True))
    share = np.where(met > 0, twice / np.maximum(2 * met, 1), all_of_them)
    out = np.zeros((hands_of(deck, board).size(), share.shape[1]))
    for hands, after in _runouts(deck, board, last):
        out[hands] = share[after].mean(axis=1)
    return out


def _boards(deals: tuple[int, ...], street: int) -> tuple[int, int]:
    """Cards of the board on a street and on the last one."""
    if not deals or min(deals) < 1 or not 0 <= street <= len(deals):
        raise InputError(
            f"street {street} of boards dealt {deals}: one card or more each time, streets 0 to {len(deals)}"
        )
    return sum(deals[:street]), sum(deals)


def _against(deck: Deck, board: int, rank: Rank | None, group: Array) -> tuple[Array, Array]:
    """2 wins + ties against each group of hands, and how many hands of it are met. int32 [canonical hands, groups], both"""
    full_strength(deck, board)  # refuses boards that leave no opponent
    indexer = hands_of(deck, board)
    one = (group[:, None] == np.arange(group.max() + 1)).astype(np.int32)
    twice, met = np.zeros((indexer.size(), one.shape[1]), np.int32), np.zeros((indexer.size(), one.shape[1]), np.int32)
    for here in canonical_boards(board, deck)[0] if board else np.zeros((1, 0), np.uint8):
        live, deals = _live(deck, here)
        points, meets = _compare(deck, live, deals, rank)
        index = indexer.index(deals, check=False)
        twice[index], met[index] = points @ one[live], meets @ one[live]
    return twice, met


def _live(deck: Deck, board: Array) -> tuple[Array, Array]:
    """Which hands a board leaves possible, and their cards with the board's. bool [hands], uint8 [live, hole + board]"""
    live = ~(deck.hands[:, :, None] == board).any(axis=(1, 2))
    hands = deck.hands[live]
    return live, np.concatenate([hands, np.broadcast_to(board, (len(hands), len(board)))], axis=1)


def _compare(deck: Deck, live: Array, deals: Array, rank: Rank | None) -> tuple[Array, Array]:
    """Every hand against every other on one board: 2 for a win, 1 for a tie; and who can meet. int32 [hands, hands], both"""
    hands = deck.hands[live]
    ranks = np.asarray(ranking.rank_batch(deals, deck.rules, check=False) if rank is None else rank(deals))
    if ranks.shape != (len(deals),):
        raise InputError(f"rank gave shape {ranks.shape} for {len(deals)} hands: expected one number for each")
    cards = np.bitwise_or.reduce(np.uint64(1) << hands.astype(np.uint64), axis=1)
    meets = ((cards[:, None] & cards) == 0).astype(np.int32)
    points = (ranks[:, None] > ranks).astype(np.int32) + (ranks[:, None] >= ranks)
    return points * meets, meets


def _runouts(deck: Deck, board: int, last: int) -> Iterator[tuple[slice, Array]]:
    """Some canonical hands of a street and the numbers of what they become on the last. int64 [hands, runouts]"""
    indexer, after = hands_of(deck, board), hands_of(deck, last)
    held, fresh = indexer.widths[-1], last - board
    left = len(deck.cards) - held
    choices = np.array(list(combinations(range(left), fresh)), np.int64).reshape(comb(left, fresh), fresh)
    chunk = max(1, _ROOM // (len(choices) * (held + fresh)))
    for begin in range(0, indexer.size(), chunk):
        hands = slice(begin, min(begin + chunk, indexer.size()))
        deals = indexer.unindex(np.arange(hands.start, hands.stop))
        free = ~(deck.cards[None, :, None] == deals[:, None, :]).any(axis=2)
        rest = np.broadcast_to(deck.cards, free.shape)[free].reshape(len(deals), left)
        known = np.broadcast_to(deals[:, None, :], (len(deals), len(choices), held))
        yield hands, after.index(np.concatenate([known, rest[:, choices]], axis=2), check=False)
