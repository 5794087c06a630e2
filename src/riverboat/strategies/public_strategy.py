"""What a player does at public places with all hands, and which hands it gets there with.

    answers = agent.strategies(places)                   # moves and probabilities for all hands
    ranges(places, agent)                              # float64 [n, 2, hands]: both players' hands, by Bayes

Everything here is public knowledge about a strategy: what a player drew in secret for a hand is averaged over, given its
moves so far. With `draw` the numbers of hands are given, and the answer is what it draws from in those hands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.games.holdem.actions import END, show_move
from riverboat.games.holdem.public_state import Places


@dataclass(frozen=True, eq=False)
class Strategies:
    """What is played at n places. Hands are numbered as `deck.hands`.

    Rows of hands that the board leaves sum to one. Rows of hands that it blocks are zeros, and so is everything where nobody
    acts, so that products with ranges need no care.
    """

    places: Places
    actor: Array  # int8 [n]: who acts; -1 where nobody does
    moves: Array  # int32 [n, columns]: real moves, upwards: FOLD, CALL, totals of raises; END behind the last
    probabilities: Array  # float64 [n, hands, columns]

    def __len__(self) -> int:
        return len(self.places)

    def labels(self, i: int) -> tuple[str, ...]:
        """The moves at a place as the protocol writes them."""
        return tuple(show_move(move, self.places.rules) for move in self.moves[i].tolist() if move != END)

    def chance_of(self, moves: Array) -> Array:
        """Probability of one move at each place; zero where it is never played. int32 [n] -> float64 [n, hands]"""
        match = (self.moves == np.asarray(moves)[:, None]) & (self.moves != END)
        chances: Array = np.matmul(self.probabilities, match[:, :, None].astype(float))[:, :, 0]
        return chances


@runtime_checkable
class Answering(Protocol):
    """Whoever can be asked what is played at public places."""

    def strategies(self, places: Places, draw: Array | None = None) -> Strategies:
        """What is played with all hands; `draw` gives the numbers of the hands whose secrets are drawn. int64 [n]"""
        ...


class Row(NamedTuple):
    """What is played at one place."""

    moves: Array  # int32 [moves]: upwards
    chances: Array  # float64 [hands, moves]

    def of(self, move: int) -> Array:
        """Probability of one move with every hand; zeros where it is never played. float64 [hands]"""
        chances: Array = self.chances[:, self.moves == move].sum(axis=1)
        return chances


def rows(player: Answering, places: Places, at_once: int = 64) -> Iterator[Row]:
    """What is played at one place after the other; some are asked about together, or each alone where answers are large."""
    for begin in range(0, len(places), at_once):
        some = places.take(slice(begin, begin + at_once))
        try:
            answers = player.strategies(some)
        except MemoryLimitError:  # some answer with a column for every chip
            if len(some) == 1:
                raise
            yield from rows(player, some, 1)
            continue
        for i in range(len(some)):
            used = int((answers.moves[i] != END).sum())
            # Copied: sums over a view would round by the width of what is asked beside it.
            yield Row(answers.moves[i, :used], answers.probabilities[i, :, :used].copy())


def reach(player: Answering, places: Places, seat: int) -> Array:
    """Probability that a player in a seat makes its moves of the line with each hand; zero where the board blocks it.

    By the chain rule, unless the player has a quicker `reach`. float64 [n, hands]
    """
    if seat not in (0, 1):
        raise InputError(f"seat {seat}: seats are 0 and 1")
    reached: Array = getattr(player, "reach", partial(by_chain_rule, player))(places, seat)
    return reached


def by_chain_rule(player: Answering, places: Places, seat: int) -> Array:
    """The same from what a player plays at each of its decisions on the way. float64 [n, hands]"""
    out = places.live.astype(float)
    way, owner, made = places.decisions()
    mine = np.flatnonzero(way.actor == seat)
    for i, row in zip(mine.tolist(), rows(player, way.take(mine)), strict=True):
        out[owner[i]] *= row.of(int(made[i]))
    return out


def ranges(places: Places, player: Answering, other: Answering | None = None) -> Array:
    """Both ranges at places: seat 0 plays as `player`, seat 1 as `other`, or both as the first. float64 [n, 2, hands]

    Each is the probability that a player with that hand makes its moves of the line; zero for hands that the board blocks.
    """
    seats: Sequence[Answering] = (player, player if other is None else other)
    return np.stack([reach(each, places, seat) for seat, each in enumerate(seats)], axis=1)


def no_strategies(places: Places, columns: int = 0) -> Strategies:
    """Answers to be filled in."""
    n, hands = len(places), places.rules.deck.hand_count
    return Strategies(places, places.actor, np.full((n, columns), END, np.int32), np.zeros((n, hands, columns)))
