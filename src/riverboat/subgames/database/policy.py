"""What a library of endgames plays at a table: the river by the nearest endgame that was solved before.

    found = reading(library, entry)                     # the nearest endgame, for both ranges
    found.at(state, moves)                              # what is played there with all hands, as moves of the real table

Bets of the opponent that the library does not have are read as one that it has (deterministic pseudo-harmonic); its own are
shares of the real pot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from riverboat.abstraction.actions.translation import readings
from riverboat.cards.deck import HAND_CARDS, HANDS
from riverboat.core.arrays import Array
from riverboat.games.boards.board_game import BettingTree
from riverboat.games.holdem.actions import CALL, END, FOLD, show_move
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.match_state import settled
from riverboat.games.holdem.public_state import Places
from riverboat.strategies.public_cache import PublicCache
from riverboat.subgames.database.database import POT, RUNGS, Key, Library, Match, rung_betting
from riverboat.subgames.search.search import Search
from riverboat.subgames.search.subgames import Entry, scaled

READS = "det-pshar"  # how bets are read that the library does not have
FLOOR = 0.01  # the least weight of a hand of the opponent
KEPT = 4096  # rivers whose nearest endgame is remembered


class Answer(NamedTuple):
    """What is played at a place."""

    moves: tuple[int, ...]  # real ones
    strategy: Array  # float64 [1326, moves]


@dataclass(frozen=True, eq=False)
class Reading:
    """A river as a library knows it."""

    library: Library
    key: Key
    match: Match
    root: Betting  # where the river begins

    def at(self, moves: Sequence[int]) -> Answer | None:
        """Behind some real moves of the river; None where the library's betting is over before that."""
        betting, node, state = self.betting, 0, self.root
        for move in moves:
            read = self._read(node, state, move)
            if read is None:
                return None
            node, state = read, state.play(show_move(move, state.rules))
        if betting.actor[node] != state.turn:
            return None
        shares = self.library.play(self.match, node, self.key.equity[state.turn])
        real = [self._real(node, child, state) for child in betting.children(node)]
        kinds = tuple(sorted(set(real)))
        out = np.zeros((shares.shape[1], len(kinds)))
        for move, share in zip(real, shares, strict=True):
            out[:, kinds.index(move)] += share
        return Answer(kinds, out)

    @cached_property
    def betting(self) -> BettingTree:
        """The library's betting."""
        return rung_betting(self.match.rung)

    def _read(self, node: int, state: Betting, move: int) -> int | None:
        """The child that a real move is taken for."""
        betting = self.betting
        if betting.actor[node] != state.turn:
            return None
        children = list(betting.children(node))
        calls = len(children) - len(self._raises(node))
        if move == FOLD:
            return children[0]
        if move == CALL:
            return children[calls - 1]
        raises = self._raises(node)
        if not raises:
            return None
        size = (move - max(state.spent)) / (state.pot + state.to_call)
        return raises[next(iter(readings(READS, [self._size(node, child) for child in raises], size)))]

    def _raises(self, node: int) -> list[int]:
        """Children behind a bet or a raise, the smallest first."""
        betting = self.betting
        high = betting.spent[node].max()
        seat = int(betting.actor[node])
        return [child for child in betting.children(node) if betting.spent[child, seat] > high]

    def _size(self, node: int, child: int) -> float:
        """What a raise adds, in pots as they are after a call."""
        spent, seat = self.betting.spent, int(self.betting.actor[node])
        high = float(spent[node].max())
        return (float(spent[child, seat]) - high) / (POT + 2 * high)

    def _real(self, node: int, child: int, state: Betting) -> int:
        """The move of the real table that a move of the library is played as."""
        betting, seat = self.betting, int(self.betting.actor[node])
        if child not in self._raises(node):
            folds = betting.spent[child, seat] < betting.spent[node].max()
            return FOLD if folds and state.to_call else CALL
        least, most = state.raise_range() or (0, -1)
        if most < least:
            return CALL
        if betting.spent[child, seat] >= POT * RUNGS[self.match.rung]:
            return most
        total = max(state.spent) + round(self._size(node, child) * (state.pot + state.to_call))
        return min(max(total, least), most)


@dataclass(frozen=True, eq=False)
class LibraryPlay:
    """Rivers by a library; where its betting ends before the table's, by the blueprint."""

    library: Library
    search: Search  # knows who comes to a river with what
    cache: PublicCache[Reading] = field(default_factory=lambda: PublicCache(KEPT), repr=False)

    @property
    def first(self) -> int:
        """The street on which it begins."""
        return self.search.first

    @property
    def numbers(self) -> Array:
        """Of the hands of the deck, among the 1,326. int64 [hands]"""
        return self.search.numbers

    def positions(self, places: Places, seats: Sequence[int] | Array) -> list[Answer]:
        """What is played at places."""
        return [self._answer(places.take(np.array([i])), int(seats[i])) for i in range(len(places))]

    def _answer(self, place: Places, seat: int) -> Answer:
        moves = place.moves[0, : place.length[0]].tolist()
        state = Betting.start(place.rules)
        while state.street < self.first:
            state = settled(state.play(show_move(moves.pop(0), place.rules)))
        key = f"{seat} {state.line} {place.shown(0)}".encode()
        river = self.cache.at(
            key, lambda: reading(self.library, self.search.entered(state, place.shown(0), seat), seat)
        )
        answer = river.at(moves)
        if answer is not None:
            return answer
        own = self.search.played.strategies(place)
        shares = np.zeros((HANDS, own.moves.shape[1]))
        shares[self.numbers] = own.probabilities[0]
        used = own.moves[0] != END
        return Answer(tuple(own.moves[0][used].tolist()), shares[:, used])


def reading(library: Library, entry: Entry, seat: int) -> Reading:
    """What a library knows of the river that an entry begins, for a seat: all hands of the other weigh a little."""
    state = entry.state
    left = np.setdiff1d(state.rules.deck.cards, entry.board)
    live: Array = np.asarray(np.isin(HAND_CARDS, left).all(axis=1))
    ranges = [scaled(weights, live) for weights in entry.ranges]
    ranges[1 - seat] = np.maximum(ranges[1 - seat], FLOOR * live)
    key = Key.of(entry.board, state.pot, max(min(state.behind), 1), ranges, state.rules.deck)
    return Reading(library, key, library.nearest(key), state)
