"""Deals that differ only in the names of the suits, or in the order of cards dealt together, get one number.

The numbers have no gaps, so that they index arrays: 169 starting hands, 1,286,792 hands with a flop. The method is
Waugh's (A Fast and Optimal Hand Isomorphism Algorithm, 2013). Each suit of a deal has a shape, which is the number of
its cards in each round, and an index among all suits of that shape. Suits of one shape are interchangeable: a deal is
the family of its shapes and, for each shape, a multiset of indices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate, groupby, product
from math import comb, prod
from typing import TypeAlias

import numpy as np

from riverboat.cards._kernels import isomorphism as kernels
from riverboat.cards.deck import FULL_DECK, RANKS, SUITS, Deck, card_name
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

IndexTables: TypeAlias = kernels.IndexTables
Shape: TypeAlias = tuple[int, ...]  # cards of one suit in each round

MOST_SPREADS = 1 << 18  # ways to spread the rounds over the suits: the one table that grows fast with them
MOST_CLASSES = 1 << 60


class Indexer:
    """Numbers for all deals of some rounds: `Indexer((2, 3))` for two hole cards and a flop.

    Cards of a round may come in any order, and the last rounds may be left out. Cards are 4 · rank + suit, with ranks
    and suits from 0; `for_deck` takes the cards of a deck instead.
    """

    def __init__(self, rounds: tuple[int, ...], ranks: int = len(RANKS), suits: int = len(SUITS)) -> None:
        self.rounds = tuple(rounds)
        self.widths = tuple(accumulate(self.rounds))  # cards dealt up to each round
        if not (1 <= ranks <= len(RANKS) and 1 <= suits <= len(SUITS)):
            raise InputError(f"deck of {ranks} ranks and {suits} suits: at most {len(RANKS)} and {len(SUITS)}")
        if not self.rounds or min(self.rounds) < 1 or self.widths[-1] > ranks * suits:
            raise InputError(f"rounds {self.rounds}: one card or more in each, and {ranks * suits} at most in all")
        ways = prod(comb(n + 3, 3) for n in self.rounds)
        if ways > MOST_SPREADS:
            raise InputError(f"rounds {rounds}: {ways:,} splits into suits, {MOST_SPREADS:,} at most: join rounds")
        self._tables = [_tables(self.rounds[: r + 1], ranks, suits) for r in range(len(self.rounds))]
        self._use([4 * rank + suit for rank in range(ranks) for suit in range(suits)])

    @classmethod
    def for_deck(cls, deck: Deck, rounds: tuple[int, ...]) -> Indexer:
        """An indexer for the cards of a deck, which keep their numbers."""
        indexer = cls(rounds, len(deck.ranks), len(deck.suits))
        indexer._use(deck.cards.tolist())
        return indexer

    def _use(self, cards: list[int]) -> None:
        """Take these cards, in the order of their ranks, then suits."""
        place, card, suits = np.full(256, kernels.NOWHERE, np.uint8), np.zeros(64, np.uint8), self._tables[0].suits
        for k, c in enumerate(cards):
            place[c] = 16 * (k % suits) + k // suits
            card[place[c]] = c
        self._tables = [t._replace(place=place, card=card) for t in self._tables]

    def __repr__(self) -> str:
        return f"Indexer({self.rounds}, {self.size():,} classes)"

    def tables(self, round: int = -1) -> IndexTables:
        """What `_isomorphism_kernels.index_one` needs to number deals up to a round."""
        count = len(self.rounds)
        if not -count <= round < count:
            raise InputError(f"round {round} of rounds {self.rounds}: must be 0 to {count - 1}, or -1 for the last")
        return self._tables[round]

    def size(self, round: int = -1) -> int:
        """How many different deals there are up to a round."""
        return int(self.tables(round).offset[-1])

    def index(self, cards: Array | Sequence[int], *, check: bool = True) -> Array:
        """The numbers of deals up to any round. uint8 [..., cards] -> int64 [...]

        Without `check`, wrong cards give wrong numbers or worse.
        """
        given = np.asarray(cards)
        width = given.shape[-1] if given.ndim else 0
        if width not in self.widths:
            choice = ", ".join(map(str, self.widths))
            raise InputError(f"deals of shape {given.shape}: expected [deals, cards] with {choice} cards")
        if given.dtype.kind not in "iu":
            raise InputError(f"cards of type {given.dtype}: give whole numbers, uint8 for speed")
        tables = self._tables[self.widths.index(width)]
        if check and given.dtype != np.uint8:
            given = np.where((given >= 0) & (given < kernels.NOWHERE), given, kernels.NOWHERE)
        flat = np.ascontiguousarray(given, np.uint8).reshape(-1)
        if check:
            wrong = kernels.first_wrong(tables, flat, width)
            if wrong >= 0:
                raise self._wrong_deal(np.asarray(cards).reshape(-1, width)[wrong].tolist(), wrong)
        out = np.empty(len(flat) // width, np.int64)
        kernels.index_batch(tables, flat, width, out)
        return out.reshape(given.shape[:-1])[()]

    def unindex(self, indices: Array | Sequence[int] | int, round: int = -1) -> Array:
        """A deal for each number, cards of a round ascending. int64 [...] -> uint8 [..., cards]"""
        tables, given = self.tables(round), self._indices(indices, round)
        width = self.widths[round]
        out = np.empty((given.size, width), np.uint8)
        scratch = np.empty((4, len(tables.rounds)), np.int64)
        kernels.unindex_batch(tables, given.reshape(-1), width, np.empty(4, np.int64), scratch, out.reshape(-1))
        return out.reshape(*given.shape, width)

    def count(self, indices: Array | Sequence[int] | int, round: int = -1) -> Array:
        """How many deals have each number, cards of a round without order. int64 [...] -> int64 [...]"""
        tables, given = self.tables(round), self._indices(indices, round)
        out = np.empty(given.size, np.int64)
        kernels.count_batch(tables, given.reshape(-1), np.empty(4, np.int64), out)
        return out.reshape(given.shape)[()]

    def _indices(self, indices: Array | Sequence[int] | int, round: int) -> Array:
        given = np.asarray(indices)
        if given.dtype.kind not in "iu" and given.size:
            raise InputError(f"indices of type {given.dtype}: give whole numbers")
        size = self.size(round)
        outside = (given < 0) | (given >= size)
        if outside.any():
            worst = given[outside].flat[0]
            raise InputError(f"index {worst}: deals of rounds {self._tables[round].rounds} have 0 to {size - 1:,}")
        return np.asarray(given, np.int64, order="C")

    def _wrong_deal(self, cards: list[int], row: int) -> InputError:
        """Why a deal is refused."""
        shown = " ".join(card_name(c) if 0 <= c < 52 else str(c) for c in cards)
        known = np.flatnonzero(self._tables[0].place != kernels.NOWHERE).tolist()
        foreign = [c for c in cards if c not in known]
        if foreign:
            names = " ".join(map(card_name, known)) if len(known) < 52 else "0 to 51"
            return InputError(f"deal {row} is {shown}: card {foreign[0]} is none of {names}")
        twice = next(c for c in cards if cards.count(c) > 1)
        return InputError(f"deal {row} is {shown}: {card_name(twice)} is there twice, cards must differ")


def joined(tables: Sequence[IndexTables]) -> tuple[IndexTables, Array]:
    """Tables of one deck as one, for `_isomorphism_kernels.number_at`, and where each begins: spreads and families.

    int64 [tables, 2]
    """
    spreads, families = ([0, *accumulate(len(getattr(t, name)) for t in tables)] for name in ("family", "kind"))
    first = np.array([spreads[:-1], families[:-1]], np.int64).T.copy()
    offset = np.concatenate([t.offset[:-1] for t in tables])
    family, kind, scale = (np.concatenate([getattr(t, name) for t in tables]) for name in ("family", "kind", "scale"))
    return tables[0]._replace(family=family, offset=offset, kind=kind, scale=scale), first


@cache
def canonical_boards(cards: int, deck: Deck = FULL_DECK) -> tuple[Array, Array]:
    """One board of each class, and how many boards it stands for. uint8 [classes, cards], int64 [classes]"""
    indexer = _board_indexer(cards, deck)
    every = np.arange(indexer.size())
    boards, weights = indexer.unindex(every), indexer.count(every)
    boards.flags.writeable = weights.flags.writeable = False
    return boards, weights


def board_index(boards: Array, deck: Deck = FULL_DECK, *, check: bool = True) -> Array:
    """Rows of `canonical_boards` with the classes of some boards. uint8 [..., cards] -> int64 [...]"""
    return _board_indexer(np.asarray(boards).shape[-1], deck).index(boards, check=check)


@cache
def _board_indexer(cards: int, deck: Deck) -> Indexer:
    if not 1 <= cards <= 5:
        raise InputError(f"boards of {cards} cards: a board has one to five")
    return Indexer.for_deck(deck, (cards,))


@cache
def _rank_sets() -> tuple[Array, Array, Array]:
    """Sets of ranks numbered within their size: `sets`, `ranked` and `first` of the tables."""
    sizes = np.array([mask.bit_count() for mask in range(1 << 13)])
    ranked = np.argsort(sizes, kind="stable")  # among sets of one size, colexicographic order is numeric order
    first = np.searchsorted(sizes[ranked], np.arange(14))
    sets = np.empty(1 << 13, np.uint16)
    sets[ranked] = 16 * (np.arange(1 << 13) - first[sizes[ranked]]) + sizes[ranked]
    return sets, ranked.astype(np.uint16), first.astype(np.int64)


@cache
def _tables(rounds: tuple[int, ...], ranks: int, suits: int) -> IndexTables:
    """Tables for all rounds given, without the cards."""
    spread = list(_families(rounds, ranks, suits))
    families = sorted({family for family in spread if family})
    groups = [[(shape, len(list(alike))) for shape, alike in groupby(family)] for family in families]
    sizes = [[comb(_suit_size(shape, ranks) + m - 1, m) for shape, m in group] for group in groups]
    offset = [0, *accumulate(map(prod, sizes))]
    if offset[-1] > MOST_CLASSES:
        raise InputError(f"rounds {rounds}: {offset[-1]:,} classes, {MOST_CLASSES:,} at most: deal fewer cards")
    kind = [[m - j for _, m in group for j in range(m)] for group in groups]
    scale = [
        [prod(size[g + 1 :]) for g, (_, m) in enumerate(group) for _ in range(m)]
        for group, size in zip(groups, sizes, strict=True)
    ]
    where = {family: f for f, family in enumerate(families)}
    sets, ranked, first = _rank_sets()
    return IndexTables(
        place=np.empty(0, np.uint8),
        card=np.empty(0, np.uint8),
        rounds=np.array(rounds, np.int64),
        room=np.array([comb(max(ranks - a, 0), b) for a in range(16) for b in range(16)], np.int64),
        sets=sets,
        ranked=ranked,
        first=first,
        ways=np.array([comb(n + 3, 3) for n in range(53)], np.int64),
        spread=_spread_numbers(),
        family=np.array([where[family] if family else -1 for family in spread], np.int16),
        offset=np.array(offset, np.int64),
        kind=np.array(kind, np.int8),
        scale=np.array(scale, np.int64),
        shape=np.array(families, np.int8),
        suits=suits,
    )


def _families(rounds: tuple[int, ...], ranks: int, suits: int) -> Iterator[tuple[Shape, ...] | None]:
    """Shapes of the suits, largest first, for every spread of the rounds; None where the deck has too few cards."""
    most = [ranks if suit < suits else 0 for suit in range(4)]
    for counts in product(*map(_spreads, rounds)):
        shapes = list(zip(*counts, strict=True))
        possible = all(sum(shape) <= n for shape, n in zip(shapes, most, strict=True))
        yield tuple(sorted(shapes, reverse=True)) if possible else None


def _spreads(cards: int) -> list[tuple[int, int, int, int]]:
    """How many of some cards each suit gets; the first three suits come in one order, however many cards there are."""
    return [
        (total - second, second - third, third, cards - total)
        for total in range(cards + 1)
        for second in range(total + 1)
        for third in range(second + 1)
    ]


@cache
def _spread_numbers() -> Array:
    """The place of every spread in `_spreads`. uint16 [4096]"""
    numbers = np.zeros(1 << 12, np.uint16)
    for k, (a, b, c, _) in enumerate(_spreads(3 * len(RANKS))):
        if max(a, b, c) <= len(RANKS):
            numbers[a | b << 4 | c << 8] = k
    return numbers


def _suit_size(shape: Shape, ranks: int) -> int:
    """In how many ways one suit can be dealt with this shape."""
    return prod(comb(ranks - gone, n) for gone, n in zip(accumulate(shape, initial=0), shape, strict=False))
