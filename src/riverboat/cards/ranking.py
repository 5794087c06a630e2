"""How strong a hand is: classes 1 … 7,462 of five cards out of five, six or seven; larger is better.

1 is 7-5-4-3-2 of mixed suits, 7,462 a royal flush; hands of one class tie. One to four cards can be ranked too, by pairs and
kickers alone: their classes compare among hands of the same number of cards.

Every card has a key; the low half of the sum of a hand's keys tells its ranks apart whatever their order, the high half
counts suits. Sums are packed into a small table by displacing rows until they fit (Tarjan & Yao 1979).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations_with_replacement
from math import comb
from typing import NamedTuple

import numpy as np

from riverboat.arrays import Array
from riverboat.cards import _kernels
from riverboat.cards.deck import FULL_DECK, RANKS, Deck, card_name, parse_card
from riverboat.errors import InputError
from riverboat.kept import kept

# The smallest numbers, found one after the other, for which sums of up to seven cards (at most four of a rank) of equal
# count are all different. A test proves it again.
RANK_KEYS = (0, 1, 5, 22, 98, 453, 2031, 8698, 22854, 83661, 262349, 636345, 1479181)

CATEGORIES = (
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)
_SHIFT = 13  # a code is category · 13^5 + five ranks in base 13


_VERSION = 1  # of the tables on disk


class Tables(NamedTuple):
    """What a kernel needs to rank hands of one size."""

    key: Array  # uint64 [52]: rank key, and one for the suit's counter above
    mask: Array  # uint64 [52]: a bit for the rank, 16 bits a suit
    offset: Array  # int32 [rows]: where the row of a sum begins
    value: Array  # uint16 [places]: class of a hand without a flush
    flush: Array  # uint16 [8192]: class of the ranks of one suit


def _code(counts: Sequence[int], cards: int) -> int:
    """Category and ranks of the best five (or fewer) cards, without flushes, as one number that sorts."""
    by_count = sorted(((n, r) for r, n in enumerate(counts) if n), reverse=True)
    shape = [n for n, _ in by_count]
    have = [r for r, n in enumerate(counts) if n]
    straight = _straight(sum(1 << r for r in have)) if cards >= 5 else -1
    if shape[0] == 4:
        category, fixed = 7, [by_count[0][1]]
    elif shape[0] == 3 and len(shape) > 1 and shape[1] >= 2 and cards >= 5:
        category, fixed = 6, [by_count[0][1], by_count[1][1]]
    elif straight >= 0:
        return _pack(4, [straight])
    elif shape[0] == 3:
        category, fixed = 3, [by_count[0][1]]
    elif shape[0] == 2 and len(shape) > 1 and shape[1] == 2:
        category, fixed = 2, [by_count[0][1], by_count[1][1]]
    elif shape[0] == 2:
        category, fixed = 1, [by_count[0][1]]
    else:
        category, fixed = 0, []
    used = {7: 4, 6: 5, 3: 3, 2: 4, 1: 2, 0: 0}[category]
    kickers = [r for r in sorted(have, reverse=True) if r not in fixed][: max(0, min(5, cards) - used)]
    return _pack(category, fixed + kickers)


def _straight(mask: int) -> int:
    """Rank of the highest card of a straight, or -1; the wheel's is the five."""
    run = mask << 1 | mask >> 12 & 1  # the ace also below the deuce
    run &= run << 1
    run &= run << 1
    run &= run << 1
    run &= run << 1
    return run.bit_length() - 2 if run else -1


def _pack(category: int, ranks: Sequence[int]) -> int:
    code = category
    for k in range(5):
        code = code * _SHIFT + (ranks[k] if k < len(ranks) else 0)
    return code


def _multisets(cards: int) -> list[tuple[int, ...]]:
    """Ranks of every hand of `cards` cards, suits apart."""
    return [m for m in combinations_with_replacement(range(13), cards) if all(m.count(r) <= 4 for r in set(m))]


def _flush_codes() -> dict[int, int]:
    """Code of every set of five to seven ranks in one suit."""
    codes = {}
    for mask in range(1 << 13):
        ranks = [r for r in range(12, -1, -1) if mask >> r & 1]
        if len(ranks) >= 5:
            high = _straight(mask)
            codes[mask] = _pack(8, [high]) if high >= 0 else _pack(5, ranks[:5])
    return codes


@cache
def _classes() -> tuple[Array, dict[int, int]]:
    """All codes of five cards in order, and the flush codes."""
    flushes = _flush_codes()
    plain = {_code(_counts(m), 5) for m in _multisets(5)}
    return np.array(sorted(plain | set(flushes.values())), np.int64), flushes


def _counts(ranks: Sequence[int]) -> list[int]:
    counts = [0] * 13
    for r in ranks:
        counts[r] += 1
    return counts


@cache
def tables(cards: int) -> Tables:
    """Tables for hands of one to seven cards; built once in about two seconds for seven, and kept on disk."""
    if not 1 <= cards <= 7:
        raise InputError(f"hands of {cards} cards: one to seven can be ranked")
    return Tables(**kept(f"ranking/{cards}-{_VERSION}", lambda: _tables(cards)._asdict()))


def _tables(cards: int) -> Tables:
    sets = _multisets(cards)
    sums = np.array([sum(RANK_KEYS[r] for r in m) for m in sets], np.int64)
    codes = np.array([_code(_counts(m), cards) for m in sets], np.int64)
    order = _classes()[0] if cards >= 5 else np.unique(codes)
    values = (np.searchsorted(order, codes) + 1).astype(np.uint16)
    offset, value = _displace(sums, values)
    flush = np.zeros(1 << 13, np.uint16)
    for mask, code in _classes()[1].items():
        flush[mask] = np.searchsorted(_classes()[0], code) + 1
    numbers = np.arange(52)
    key = np.array(RANK_KEYS, np.uint64)[numbers >> 2] + (np.uint64(1) << (32 + 4 * (numbers & 3)).astype(np.uint64))
    mask_bits = np.uint64(1) << (16 * (numbers & 3) + (numbers >> 2)).astype(np.uint64)
    return Tables(key, mask_bits, offset, value, flush)


def _displace(sums: Array, values: Array) -> tuple[Array, Array]:
    """Slide the rows of a sparse table over one another, the fullest first, until nothing collides."""
    width = 1 << _kernels.ROW_BITS
    rows = sums >> _kernels.ROW_BITS
    filled, sizes = np.unique(rows, return_counts=True)
    rank_of = np.zeros(int(rows.max()) + 1, np.int64)  # fullest first
    rank_of[filled[np.argsort(-sizes, kind="stable")]] = np.arange(len(filled))
    order = np.lexsort((sums, rank_of[rows]))
    offset = np.zeros(len(rank_of), np.int32)
    packed = np.zeros(4 * len(sums) + width, np.uint16)
    used = _kernels.displace(sums[order], values[order], offset, packed)
    # Kernels only look up sums of real hands, all of which are in the table: no bounds are needed.
    return offset, packed[:used].copy()


def rank(cards: str | Sequence[int]) -> int:
    """The class of one hand of one to seven cards, `rank("AsKsQsJsTs") == 7462`."""
    numbers = _numbers(cards)
    return int(rank_batch(np.array([numbers], np.uint8))[0])


def _numbers(cards: str | Sequence[int]) -> list[int]:
    if isinstance(cards, str):
        text = cards.replace(" ", "").replace(",", "")
        return [parse_card(text[k : k + 2]) for k in range(0, len(text), 2)]
    return [int(c) for c in cards]


def rank_batch(cards: Array, *, check: bool = True) -> Array:
    """Classes of many hands of one to seven cards. uint8 [hands, cards] -> uint16 [hands]"""
    if cards.ndim != 2 or not 1 <= cards.shape[1] <= 7:
        raise InputError(f"cards of shape {cards.shape}: expected [hands, 1 to 7 cards]")
    hands = np.ascontiguousarray(cards, np.uint8)
    out = np.empty(len(hands), np.uint16)
    if check:
        wrong = _kernels.first_wrong(hands)
        if wrong >= 0:
            shown = [card_name(c) if 0 <= c < 52 else str(c) for c in cards[wrong].tolist()]
            raise InputError(f"hand {wrong} is {' '.join(shown)}: cards must differ and be numbered 0 to 51")
    t = tables(hands.shape[1])
    _kernels.rank_batch(hands, t.key, t.mask, t.offset, t.value, t.flush, hands.shape[1] >= 5, out)
    return out


def category(value: int) -> str:
    """`full house` and the like, for a class of five or more cards."""
    order = _classes()[0]
    if not 1 <= value <= len(order):
        raise InputError(f"hand class {value}: classes are 1 to {len(order):,}")
    return CATEGORIES[int(order[value - 1]) // _SHIFT**5]


def categories() -> Array:
    """The category, 0 … 8, of every class; entry 0 is unused. int8 [7463]"""
    found: Array = np.concatenate([[-1], _classes()[0] // _SHIFT**5]).astype(np.int8)
    return found


def describe(value: int) -> str:
    """The class in words: `full house, K over 7`."""
    code, ranks = int(_classes()[0][value - 1]), []
    for _ in range(5):
        code, r = divmod(code, _SHIFT)
        ranks.append(RANKS[r])
    ranks.reverse()
    name = category(value)
    if name in ("straight", "straight flush"):
        return "royal flush" if value == len(_classes()[0]) else f"{name}, {ranks[0]} high"
    if name == "full house":
        return f"{name}, {ranks[0]} over {ranks[1]}"
    shown = {"four of a kind": 2, "three of a kind": 3, "two pair": 3, "pair": 4}.get(name, 5)
    return f"{name}, {' '.join(ranks[:shown])}"


def count_categories(cards: int) -> Array:
    """How many of all hands of five to seven cards fall into each class. int64 [7463]"""
    if cards not in (5, 6, 7):
        raise InputError(f"hands of {cards} cards: 5, 6 or 7 have categories")
    t = tables(cards)
    counts = np.zeros(len(_classes()[0]) + 1, np.int64)
    _kernels.count_all(cards, t.key, t.mask, t.offset, t.value, t.flush, np.zeros(8, np.int64), counts)
    assert counts.sum() == comb(52, cards)
    return counts


def hand_strengths(board: Sequence[int], deck: Deck = FULL_DECK) -> Array:
    """The class of every hand of a deck on a board; zero where the board holds one of its cards. uint16 [hands]

    Any deck with one or two hole cards and any board of up to seven cards in all: classes compare on one board.
    """
    known = np.array(board, np.uint8)
    foreign = [card_name(int(c)) for c in known if c not in deck.cards]
    if foreign:
        raise InputError(f"board card {foreign[0]} is not in this deck")
    if len(set(known.tolist())) < len(known) or not 1 <= deck.hole + len(known) <= 7:
        raise InputError(f"board of {len(known)} cards: they must differ, and make up to seven with the hole cards")
    blocked = (deck.hands[:, :, None] == known).any(axis=(1, 2))
    out = np.zeros(len(deck.hands), np.uint16)
    live = deck.hands[~blocked]
    cards = np.concatenate([live, np.broadcast_to(known, (len(live), len(known)))], axis=1)
    out[~blocked] = rank_batch(cards, check=False)
    return out
