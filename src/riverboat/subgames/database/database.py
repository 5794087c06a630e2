"""A library of solved river endgames, looked up by what matters about them (Ganzfried & Sandholm 2015, section 3.3).

    key = Key.of(board, pot, stack, ranges)
    found = library.nearest(key)                       # Match: which, and how far
    library.values(found, key)                         # what each hand is worth, as shares of the pot

A *key* is the stack in pots and, for each player, the distribution of its hands' equity against the other's range. Two keys
of the same rung of stacks are as far apart as the players' distributions are, by the earth mover's distance: the larger
of the two. Entries keep what is played and what it is worth by equity, so they serve any board: a hand plays as those of its
equity do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from riverboat.cards.deck import FULL_DECK, HAND_CARDS, HANDS, Deck
from riverboat.cards.equity.equities import range_shares
from riverboat.cards.notation import show_cards
from riverboat.cards.ranges import Range
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.boards.board_game import BettingTree
from riverboat.games.spots.spot import Spot
from riverboat.strategies.solution import Solution
from riverboat.subgames.database import _kernels as kernels

GRID = 100  # steps of equity in which distributions are kept
STEPS = 25  # of equity in which what is played is kept
RUNGS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)  # stacks in pots
POT = 1000  # chips of an endgame that is solved for a library
SIZES = {"bet": "50%, 100%, a", "raise": "100%, a"}
MOST_RAISES = 2  # raises after a bet
WHOLE = 255  # of a probability that is kept in a byte
_CELLS, _SAMPLE, _ROUNDS = 128, 8192, 4  # of the index


@dataclass(frozen=True, eq=False)
class Key:
    """What an endgame is looked up by."""

    rung: int
    cdf: Array  # float32 [2, GRID]: the share of each player's range with an equity of at most so many steps
    equity: Array  # float64 [2, 1326]: NaN where a hand meets nobody
    weight: Array  # float64 [2, 1326]: how often each hand is held, cards removed

    @staticmethod
    def of(board: Sequence[int], pot: float, stack: float, ranges: Sequence[Array], deck: Deck = FULL_DECK) -> Key:
        """Of a river, with a stack behind for each and two ranges. float64 [1326] each"""
        if len(board) != 5:
            raise InputError(f"a board of {len(board)} cards: endgames of a library are rivers")
        if not (pot > 0 and stack > 0):
            raise InputError(f"pot {pot:g}, stack {stack:g}: both must be above zero")
        for name, held in zip(("oop", "ip"), ranges, strict=True):
            if not np.any(np.asarray(held)[~np.isin(HAND_CARDS, board).any(axis=1)] > 0):
                raise InputError(f"the range of {name} has no hand that the board {show_cards(board)} leaves")
        equity, weight = equities(board, ranges, deck)
        cdf = np.empty((2, GRID), np.float32)
        for seat in (0, 1):
            if not weight[seat].any():
                raise InputError("two ranges that cannot be held together: every pair of hands shares a card")
            step = np.minimum((equity[seat][weight[seat] > 0] * GRID).astype(np.int64), GRID - 1)
            shares = np.bincount(step, weight[seat][weight[seat] > 0], minlength=GRID)
            cdf[seat] = np.cumsum(shares) / shares.sum()
        return Key(rung_of(stack / pot), cdf, equity, weight)


def equities(board: Sequence[int], ranges: Sequence[Array], deck: Deck = FULL_DECK) -> tuple[Array, Array]:
    """What share of the other's range each hand beats, ties half; and how often the hand is held. float64 [2, 1326] each

    Cards are removed jointly: a hand weighs as often as it is held, times the weight of the hands beside it.
    """
    shown = np.array([board], np.uint8)
    equity, weight = np.full((2, HANDS), np.nan), np.zeros((2, HANDS))
    for seat in (0, 1):
        won, met = range_shares(np.asarray(ranges[1 - seat], float), shown, np.ones(1), rules=deck.rules)
        some = met > 1e-9 * max(float(np.sum(ranges[1 - seat])), 1e-300)
        equity[seat, some] = np.clip(won[some] / met[some], 0.0, 1.0)
        weight[seat, some] = np.asarray(ranges[seat])[some] * met[some]
    return equity, weight


def rung_of(stacks: float) -> int:
    """The rung that is nearest to a stack in pots, by ratio."""
    return int(np.argmin(np.abs(np.log(np.array(RUNGS)) - np.log(stacks))))


def distance(one: Array, other: Array) -> float:
    """Between two keys' distributions: the larger of the players' earth mover's distances. float32 [2, GRID] each"""
    return float(np.abs(one.astype(np.float64) - other).sum(axis=1).max() / GRID)


# --- the betting that entries share -------------------------------------------------------------


def rung_spot(
    rung: int, board: Sequence[int], ranges: Sequence[Array], deck: Deck = FULL_DECK, pots: float | None = None
) -> Spot:
    """An endgame as it is solved for a library; with `pots` behind, where they are not those of the rung."""
    behind = RUNGS[rung] if pots is None else pots
    held = [Range(np.asarray(weights) / max(float(np.max(weights)), 1e-300)) for weights in ranges]
    return Spot.make(
        board=tuple(int(c) for c in board), pot=POT, stack=round(POT * behind), oop=held[0], ip=held[1],
        bets={"river": SIZES}, raise_cap=MOST_RAISES, deck=deck, name="endgame",
    )  # fmt: skip


@cache
def rung_betting(rung: int) -> BettingTree:
    """The betting that all entries of a rung have: it does not depend on cards."""
    everything = np.ones(HANDS)
    return rung_spot(rung, (0, 5, 10, 15, 20), (everything, everything)).betting


@cache
def columns(rung: int) -> dict[int, slice]:
    """Where the moves of each decision stand among all moves of a rung."""
    betting, start, out = rung_betting(rung), 0, {}
    for node in np.flatnonzero(betting.actor >= 0).tolist():
        width = len(betting.moves(node))
        out[node] = slice(start, start + width)
        start += width
    return out


class Kept(NamedTuple):
    """What a library keeps of one endgame."""

    cdf: Array  # float32 [2, GRID]
    value: Array  # float32 [2, STEPS]: what hands of each equity win, in pots
    play: Array  # uint8 [moves of the rung, STEPS]


def kept_of(key: Key, solution: Solution) -> Kept:
    """A solved endgame by equity. Steps without hands take what the nearest one has."""
    root = solution[""]
    value, play = np.zeros((2, STEPS), np.float32), np.zeros((columns_count(key.rung), STEPS), np.uint8)
    step = _steps(key.equity)
    for seat in (0, 1):
        worth, weight = root.ev(seat) / POT, root.reach[seat] * root.compatible(seat)
        known = (step[seat] >= 0) & (weight > 0) & ~np.isnan(worth)
        value[seat] = _spread(step[seat][known], weight[known], worth[known])
    betting = rung_betting(key.rung)
    for node, place in columns(key.rung).items():
        seat, here = int(betting.actor[node]), solution[lines(key.rung)[node]]
        moves, weight = here.strategy, here.reach[seat] * root.compatible(seat)
        known = (step[seat] >= 0) & ~np.isnan(moves).any(axis=0)
        if not weight[known].any():
            weight = known.astype(float)
        shares = np.stack([_spread(step[seat][known], weight[known], move[known]) for move in moves])
        shares = shares / np.maximum(shares.sum(axis=0), 1e-12)
        play[place] = np.round(shares * WHOLE)
    return Kept(key.cdf, value, play)


def columns_count(rung: int) -> int:
    """Moves of all decisions of a rung."""
    return sum(place.stop - place.start for place in columns(rung).values())


@cache
def lines(rung: int) -> dict[int, str]:
    """The line that leads to each decision of a rung."""
    return {node: _line(rung_betting(rung), node) for node in columns(rung)}


def _line(betting: BettingTree, node: int) -> str:
    labels, here = [], 0
    while here != node:
        here = next(child for child in betting.children(here) if child <= node < betting.end[child])
        labels.append(betting.label[here])
    return "-".join(labels)


def _steps(equity: Array) -> Array:
    """The step of each equity; -1 where there is none. int64 [..., 1326]"""
    known = ~np.isnan(equity)
    return np.where(known, np.minimum(np.nan_to_num(equity) * STEPS, STEPS - 1).astype(np.int64), -1)


def _spread(step: Array, weight: Array, numbers: Array) -> Array:
    """Weighted means by step; where nothing is, what the nearest step has. float64 [STEPS]"""
    total = np.bincount(step, weight, minlength=STEPS)
    sums = np.bincount(step, weight * numbers, minlength=STEPS)
    there = np.flatnonzero(total > 0)
    if not len(there):
        return np.zeros(STEPS)
    nearest = there[np.argmin(np.abs(np.arange(STEPS)[:, None] - there), axis=1)]
    means: Array = sums[nearest] / total[nearest]
    return means


# --- a library ------------------------------------------------------------------------------------


class Match(NamedTuple):
    """The entry that is nearest to a key."""

    rung: int
    number: int
    distance: float


class Index(NamedTuple):
    """Entries in cells around centres: the triangle inequality bounds a distance by those to the centre of the cell.

    Entries stand cell by cell, those of a cell by their distance to its centre; distances are times GRID.
    """

    centres: Array  # float32 [cells, 2, GRID]
    reach: Array  # float32 [cells]: the largest radius; below zero where nobody lives
    first: Array  # int64 [cells + 1]: where entries of a cell begin
    order: Array  # int64 [n]: their numbers on the shelf
    radius: Array  # float32 [n]
    coarse: Array  # float32 [n, 2, 10]: sums over tenths of the grid: their differences bound a distance too
    cdf: Array  # float32 [n, 2, GRID]

    @staticmethod
    def of(cdf: Array) -> Index:
        """Cells are those of k-means on a sample, by tenths. float32 [n, 2, GRID]"""
        n = len(cdf)
        coarse = cdf.reshape(n, 2, 10, GRID // 10).sum(axis=3)
        flat = coarse.reshape(n, 20)
        sample = flat[np.linspace(0, n - 1, min(_SAMPLE, n)).astype(np.int64)]
        middle = sample[np.linspace(0, len(sample) - 1, min(_CELLS, len(sample))).astype(np.int64)]
        for _ in range(_ROUNDS):
            home = _home(sample, middle)
            sums = np.stack([np.bincount(home, column, minlength=len(middle)) for column in sample.T], axis=1)
            count = np.bincount(home, minlength=len(middle))[:, None]
            middle = np.where(count > 0, sums / np.maximum(count, 1), middle).astype(np.float32)
        home = _home(flat, middle)
        centres = np.zeros((len(middle), 2, GRID), np.float32)
        radius, reach = np.zeros(n, np.float32), np.full(len(middle), -np.inf, np.float32)
        for cell in np.unique(home).tolist():
            some = cdf[home == cell]
            centres[cell] = some.mean(axis=0)
            far = np.abs(some - centres[cell]).sum(axis=2).max(axis=1)
            radius[home == cell], reach[cell] = far, far.max()
        order = np.lexsort((radius, home))
        first = np.searchsorted(home[order], np.arange(len(middle) + 1))
        return Index(centres, reach, first, order, radius[order], coarse[order], cdf[order])


def _home(rows: Array, centres: Array) -> Array:
    """The centre that is nearest to each row, by squares. int64 [n]"""
    nearest: Array = (rows @ centres.T - (centres**2).sum(axis=1) / 2).argmax(axis=1)
    return nearest


@dataclass(frozen=True, eq=False)
class Shelf:
    """All entries of a rung."""

    cdf: Array  # float32 [n, 2, GRID]
    value: Array  # float32 [n, 2, STEPS]
    play: Array  # uint8 [n, moves, STEPS]

    def __len__(self) -> int:
        return len(self.cdf)

    @cached_property
    def index(self) -> Index:
        """What rules out entries that are too far."""
        return Index.of(self.cdf)

    def nearest(self, cdf: Array) -> tuple[int, float]:
        """The entry at the least distance, and that distance. Exact: bounds rule out what cannot be nearer."""
        index, best = self.index, np.array([0.0, np.inf])
        cdf = np.ascontiguousarray(cdf, np.float32)
        tenths = cdf.reshape(2, 10, GRID // 10).sum(axis=2)
        far = np.abs(index.centres - cdf).sum(axis=2).max(axis=1)
        kernels.nearest(
            np.argsort(far), far, index.reach, index.first, index.radius, index.coarse, index.cdf, cdf, tenths, best
        )
        return int(index.order[int(best[0])]), float(best[1]) / GRID


@dataclass(frozen=True, eq=False)
class Library:
    """Solved endgames by rung."""

    shelves: dict[int, Shelf]
    facts: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(len(shelf) for shelf in self.shelves.values())

    @staticmethod
    def of(entries: Sequence[tuple[int, Kept]]) -> Library:
        """A library of entries with their rungs."""
        shelves = {}
        for rung in sorted({rung for rung, _ in entries}):
            some = [kept for r, kept in entries if r == rung]
            shelves[rung] = Shelf(*(np.stack(part) for part in zip(*some, strict=True)))
        return Library(shelves)

    def nearest(self, key: Key) -> Match:
        """The entry nearest to a key: of its rung, or of the nearest that there is."""
        if not self.shelves:
            raise InputError("an empty library: `riverboat endgames build` fills it")
        rung = min(self.shelves, key=lambda r: (abs(r - key.rung), r))
        return Match(rung, *self.shelves[rung].nearest(key.cdf))

    def values(self, match: Match, key: Key) -> Array:
        """What hands win by the entry, in pots; NaN where a hand has no equity. float64 [2, 1326]

        The entry's ranges were others: what both win is shifted alike, so that together they win the pot.
        """
        step, worth = _steps(key.equity), self.shelves[match.rung].value[match.number]
        values = np.stack([np.where(step[seat] >= 0, worth[seat][step[seat]], np.nan) for seat in (0, 1)])
        both = np.nansum(values * key.weight) / max(float(key.weight[0].sum()), 1e-300)
        shifted: Array = values + (1.0 - both) / 2
        return shifted

    def play(self, match: Match, node: int, equity: Array) -> Array:
        """What an entry plays at a decision of its rung with hands of some equities. float64 [moves, hands]"""
        place = columns(match.rung)[node]
        shares = self.shelves[match.rung].play[match.number][place][:, np.maximum(_steps(equity), 0)].astype(float)
        whole: Array = shares / np.maximum(shares.sum(axis=0), 1e-12)
        return whole
