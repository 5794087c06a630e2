"""How strong a hand is: classes 1 … 7,462 of five cards out of five, six or seven; larger is better.

1 is 7-5-4-3-2 of mixed suits, 7,462 a royal flush; hands of one class tie. One to four cards can be ranked too, by pairs and
kickers alone: their classes compare among hands of the same number of cards. Short deck has rules and classes of its own,
1 … 1,404; what differs is data (`HandRules`), the tables and loops are the same.

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

from riverboat.cards._kernels import ranking
from riverboat.cards.deck import FULL_DECK, RANKS, Deck, card_name, parse_card
from riverboat.cards.ranking_rules import CATEGORIES, RULES, STANDARD, HandRules, hand_rules
from riverboat.core.arrays import Array
from riverboat.core.cache import kept
from riverboat.core.errors import InputError

# The smallest numbers, found one after the other, for which sums of up to seven cards (at most four of a rank) of equal
# count are all different. A test proves it again.
RANK_KEYS = (0, 1, 5, 22, 98, 453, 2031, 8698, 22854, 83661, 262349, 636345, 1479181)

_SHIFT = 13  # a code is the category's place · 13^5 + five ranks in base 13
_VERSION = 1  # of the tables on disk


class RankTables(NamedTuple):
    """What a kernel needs to rank hands of one size."""

    key: Array  # uint64 [52]: rank key, and one for the suit's counter above
    mask: Array  # uint64 [52]: a bit for the rank, 16 bits a suit
    offset: Array  # int32 [rows]: where the row of a sum begins
    value: Array  # uint16 [places]: class of a hand without a flush
    flush: Array  # uint16 [8192]: class of the ranks of one suit


def _code(counts: Sequence[int], cards: int, rules: HandRules) -> int:
    """Category and ranks of the best five (or fewer) cards, without flushes, as one number that sorts."""
    by_count = sorted(((n, r) for r, n in enumerate(counts) if n), reverse=True)
    most, first = by_count[0]
    next_most, second = by_count[1] if len(by_count) > 1 else (0, 0)
    makes: list[tuple[str, list[int]]] = [("high card", [])]  # categories, and the ranks that make them
    if most >= 2:
        makes.append(("pair", [first]))
    if most >= 2 and next_most >= 2:
        makes.append(("two pair", sorted((first, second), reverse=True)))
    if most >= 3:
        makes.append(("three of a kind", [first]))
    if most >= 3 and next_most >= 2 and cards >= 5:
        makes.append(("full house", [first, second]))
    if most == 4:
        makes.append(("four of a kind", [first]))
    straight = _straight(sum(1 << r for _, r in by_count), rules) if cards >= 5 else -1
    if straight >= 0:
        makes.append(("straight", [straight]))
    category, made = max(makes, key=lambda pair: rules.order.index(pair[0]))
    kickers = [r for r in range(12, -1, -1) if counts[r] and r not in made]
    return _pack(category, made + kickers[: max(0, min(5, cards) - _USED[category])], rules)


# How many of five cards make the category; the others are kickers.
_USED = {
    "high card": 0, "pair": 2, "two pair": 4, "three of a kind": 3, "straight": 5, "full house": 5, "four of a kind": 4,
}  # fmt: skip


def _straight(mask: int, rules: HandRules) -> int:
    """Rank of the highest card of a straight, or -1; in the lowest the ace stands below the lowest rank of the deck."""
    for high in range(12, rules.lowest + 3, -1):
        if mask >> (high - 4) & 0b11111 == 0b11111:
            return high
    low = 1 << 12 | 0b1111 << rules.lowest
    return rules.lowest + 3 if mask & low == low else -1


def _pack(category: str, ranks: Sequence[int], rules: HandRules) -> int:
    code = rules.order.index(category)
    for k in range(5):
        code = code * _SHIFT + (ranks[k] if k < len(ranks) else 0)
    return code


def _multisets(cards: int) -> list[tuple[int, ...]]:
    """Ranks of every hand of `cards` cards, suits apart."""
    return [m for m in combinations_with_replacement(range(13), cards) if all(m.count(r) <= 4 for r in set(m))]


def _flush_codes(rules: HandRules) -> dict[int, int]:
    """Code of every set of five or more ranks in one suit."""
    codes = {}
    for mask in range(1 << 13):
        ranks = [r for r in range(12, -1, -1) if mask >> r & 1]
        if len(ranks) >= 5:
            high = _straight(mask, rules)
            codes[mask] = _pack("straight flush", [high], rules) if high >= 0 else _pack("flush", ranks[:5], rules)
    return codes


@cache
def _classes(rules: HandRules) -> tuple[Array, dict[int, int]]:
    """All codes of five cards of the deck in order, and the flush codes."""
    flushes = _flush_codes(rules)
    plain = {_code(_counts(m), 5, rules) for m in _multisets(5) if min(m) >= rules.lowest}
    suited = {code for mask, code in flushes.items() if not mask & ((1 << rules.lowest) - 1)}
    return np.array(sorted(plain | suited), np.int64), flushes


def _counts(ranks: Sequence[int]) -> list[int]:
    counts = [0] * 13
    for r in ranks:
        counts[r] += 1
    return counts


@cache
def tables(cards: int, rules: str = STANDARD) -> RankTables:
    """Tables for hands of one to seven cards; built once in about two seconds for seven, and kept on disk."""
    if not 1 <= cards <= 7:
        raise InputError(f"hands of {cards} cards: one to seven can be ranked")
    chosen = hand_rules(rules)
    name = f"{cards}-{_VERSION}" if chosen == RULES[STANDARD] else f"{rules}-{cards}-{_VERSION}"
    return RankTables(**kept(f"ranking/{name}", lambda: _tables(cards, chosen)._asdict()))


def _tables(cards: int, rules: HandRules) -> RankTables:
    """Cards that are not in the deck have places too, with values that mean nothing: loops need not look for them."""
    sets = _multisets(cards)
    sums = np.array([sum(RANK_KEYS[r] for r in m) for m in sets], np.int64)
    codes = np.array([_code(_counts(m), cards, rules) for m in sets], np.int64)
    classes, flushes = _classes(rules)
    order = classes if cards >= 5 else np.unique(codes)
    values = (np.searchsorted(order, codes) + 1).astype(np.uint16)
    offset, value = _displace(sums, values)
    flush = np.zeros(1 << 13, np.uint16)
    for mask, code in flushes.items():
        flush[mask] = np.searchsorted(classes, code) + 1
    numbers = np.arange(52)
    key = np.array(RANK_KEYS, np.uint64)[numbers >> 2] + (np.uint64(1) << (32 + 4 * (numbers & 3)).astype(np.uint64))
    mask_bits = np.uint64(1) << (16 * (numbers & 3) + (numbers >> 2)).astype(np.uint64)
    return RankTables(key, mask_bits, offset, value, flush)


def _displace(sums: Array, values: Array) -> tuple[Array, Array]:
    """Slide the rows of a sparse table over one another, the fullest first, until nothing collides."""
    width = 1 << ranking.ROW_BITS
    rows = sums >> ranking.ROW_BITS
    filled, sizes = np.unique(rows, return_counts=True)
    rank_of = np.zeros(int(rows.max()) + 1, np.int64)  # fullest first
    rank_of[filled[np.argsort(-sizes, kind="stable")]] = np.arange(len(filled))
    order = np.lexsort((sums, rank_of[rows]))
    offset = np.zeros(len(rank_of), np.int32)
    packed = np.zeros(4 * len(sums) + width, np.uint16)
    used = ranking.displace(sums[order], values[order], offset, packed)
    # Kernels only look up sums of real hands, all of which are in the table: no bounds are needed.
    return offset, packed[:used].copy()


def rank(cards: str | Sequence[int], rules: str = STANDARD) -> int:
    """The class of one hand of one to seven cards, `rank("AsKsQsJsTs") == 7462`."""
    numbers = _numbers(cards)
    return int(rank_batch(np.array([numbers], np.uint8), rules)[0])


def _numbers(cards: str | Sequence[int]) -> list[int]:
    if isinstance(cards, str):
        text = cards.replace(" ", "").replace(",", "")
        return [parse_card(text[k : k + 2]) for k in range(0, len(text), 2)]
    return [int(c) for c in cards]


def rank_batch(cards: Array, rules: str = STANDARD, *, check: bool = True) -> Array:
    """Classes of many hands of one to seven cards. uint8 [hands, cards] -> uint16 [hands]"""
    if cards.ndim != 2 or not 1 <= cards.shape[1] <= 7:
        raise InputError(f"cards of shape {cards.shape}: expected [hands, 1 to 7 cards]")
    hands = np.ascontiguousarray(cards, np.uint8)
    out = np.empty(len(hands), np.uint16)
    if check:
        wrong = ranking.first_wrong(hands)
        if wrong >= 0:
            shown = [card_name(c) if 0 <= c < 52 else str(c) for c in cards[wrong].tolist()]
            raise InputError(f"hand {wrong} is {' '.join(shown)}: cards must differ and be numbered 0 to 51")
        foreign = hands[hands >> 2 < hand_rules(rules).lowest]
        if len(foreign):
            raise InputError(f"card {card_name(int(foreign[0]))}: rules {rules} are for a deck without it")
    t = tables(hands.shape[1], rules)
    ranking.rank_batch(hands, t.key, t.mask, t.offset, t.value, t.flush, hands.shape[1] >= 5, out)
    return out


def category(value: int, rules: str = STANDARD) -> str:
    """`full house` and the like, for a class of five or more cards."""
    return hand_rules(rules).order[_code_of(value, rules) // _SHIFT**5]


def _code_of(value: int, rules: str) -> int:
    order = _classes(hand_rules(rules))[0]
    if not 1 <= value <= len(order):
        raise InputError(f"hand class {value}: classes are 1 to {len(order):,}")
    return int(order[value - 1])


def categories(rules: str = STANDARD) -> Array:
    """The category of every class, as a place in CATEGORIES; entry 0 is unused. int8 [classes + 1]"""
    chosen = hand_rules(rules)
    place = np.array([CATEGORIES.index(name) for name in chosen.order])
    numbers: Array = np.concatenate([[-1], place[_classes(chosen)[0] // _SHIFT**5]]).astype(np.int8)
    return numbers


def describe(value: int, rules: str = STANDARD) -> str:
    """The class in words: `full house, K over 7`."""
    code, ranks = _code_of(value, rules), []
    for _ in range(5):
        code, r = divmod(code, _SHIFT)
        ranks.append(RANKS[r])
    ranks.reverse()
    name = category(value, rules)
    if name in ("straight", "straight flush"):
        return "royal flush" if (name, ranks[0]) == ("straight flush", "A") else f"{name}, {ranks[0]} high"
    if name == "full house":
        return f"{name}, {ranks[0]} over {ranks[1]}"
    shown = {"four of a kind": 2, "three of a kind": 3, "two pair": 3, "pair": 4}.get(name, 5)
    return f"{name}, {' '.join(ranks[:shown])}"


def count_categories(cards: int) -> Array:
    """How many of all hands of five to seven cards fall into each class. int64 [7463]"""
    if cards not in (5, 6, 7):
        raise InputError(f"hands of {cards} cards: 5, 6 or 7 have categories")
    t = tables(cards)
    counts = np.zeros(len(_classes(RULES[STANDARD])[0]) + 1, np.int64)
    ranking.count_all(cards, t.key, t.mask, t.offset, t.value, t.flush, np.zeros(8, np.int64), counts)
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
    out[~blocked] = rank_batch(cards, deck.rules, check=False)
    return out
