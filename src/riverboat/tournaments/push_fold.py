"""Push or fold: every player in turn goes all-in or folds, with any stacks, blinds, antes and prizes.

Players are listed in the order in which they act: the last two have the small and the big blind. What is won and lost is
chips, or what the stacks are worth by the independent chip model. A line has a letter for each player who has acted, J for
jammed (or called an all-in) and F for folded: `JF` is where the third player acts behind a jam and a fold.

    spot = PushFold((10, 10, 15), blinds=(0.5, 1), payouts=(50, 30, 20))
    spot.after("JFJ", (0, None, 1))        # stacks when the first player wins against the third
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, shown
from riverboat.tournaments.icm import ICM, many_values

JAM, FOLD = "J", "F"
FEWEST, MOST = 2, 9
POSITIONS = ("UTG", "UTG+1", "UTG+2", "LJ", "HJ", "CO", "BTN", "SB", "BB")


@dataclass(frozen=True)
class PushFold:
    """A hand of a tournament, or of a cash game where there are no payouts."""

    stacks: tuple[float, ...]  # in the order of action, before blinds and antes
    blinds: tuple[float, float] = (0.5, 1.0)  # small, big
    ante: float = 0.0  # of each player
    payouts: tuple[float, ...] | None = None  # the first place first; None: chips are money

    def __post_init__(self) -> None:
        if not FEWEST <= len(self.stacks) <= MOST:
            raise InputError(f"{len(self.stacks)} stacks: {FEWEST} to {MOST} players can be at the table")
        if self.payouts is not None:
            ICM(self.stacks, self.payouts)  # checks both
        for what, numbers in (("stacks", self.stacks), ("blinds", self.blinds), ("ante", (self.ante,))):
            for place, number in enumerate(numbers, 1):
                if not np.isfinite(number) or number < 0 or (number == 0 and what == "stacks"):
                    least = "above zero" if what == "stacks" else "zero or more"
                    raise InputError(f"{what}: number {place} is {shown(number)}: must be {least}")
        if len(self.blinds) != 2 or not self.blinds[0] <= self.blinds[1] or not self.blinds[1] + self.ante > 0:
            raise InputError(f"blinds {self.blinds}: give the small and the big one, such as (0.5, 1)")

    @property
    def players(self) -> int:
        """How many there are."""
        return len(self.stacks)

    @property
    def positions(self) -> tuple[str, ...]:
        """Their names."""
        return POSITIONS[-self.players :]

    @cached_property
    def posted(self) -> tuple[float, ...]:
        """What each has put in before the cards: antes first, then blinds, as far as the stack goes."""
        blinds = (*[0.0] * (self.players - 2), *self.blinds)
        return tuple(min(stack, self.ante + blind) for stack, blind in zip(self.stacks, blinds, strict=True))

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Where somebody decides, in the order of action. Who is alone in the end has won without a decision."""
        decisions = []
        for player in range(self.players):
            for moves in product((JAM, FOLD), repeat=player):
                line = "".join(moves)
                if JAM in line or player < self.players - 1:
                    decisions.append(line)
        return tuple(decisions)

    @cached_property
    def ends(self) -> tuple[str, ...]:
        """Lines at which the hand is over."""
        return tuple(
            "".join(moves)
            for moves in product((JAM, FOLD), repeat=self.players)
            if JAM in moves[:-1] or moves[-1] == FOLD
        )

    def after(self, line: str, order: Sequence[int | None]) -> tuple[float, ...]:
        """Stacks at the end of a line, where `order` says for those all-in how many of them have better hands."""
        inside = [i for i, move in enumerate(line) if move == JAM]
        if not inside:
            inside = [self.players - 1]  # a walk
        put = [self.stacks[i] if line[i] == JAM else self.posted[i] for i in range(self.players)]
        if len(inside) == 1:
            won = [sum(put) * (i == inside[0]) for i in range(self.players)]
        else:
            won = share_pots(put, [order[i] if i in inside else None for i in range(self.players)])
        return tuple(stack - chips + back for stack, chips, back in zip(self.stacks, put, won, strict=True))

    def worth(self, stacks: Array) -> Array:
        """What stacks at the ends of hands are worth to each player: chips won, or money. float64 [n, players] -> the same"""
        if self.payouts is None:
            return np.asarray(stacks - np.array(self.stacks))
        return _money(stacks, self.stacks, self.payouts)

    @property
    def unit(self) -> str:
        """What values are told in."""
        return "chips" if self.payouts is None else "of the payouts"


def share_pots(put: Sequence[float], ranks: Sequence[int | None]) -> list[float]:
    """Chips that each player gets back from the main pot and the side pots.

    `put`: what each has put in; `ranks`: for those at the showdown, how many have better hands; None for the others. A level
    of chips is shared by the best of those who have put in so much; what nobody at the showdown has matched goes back.
    """
    back = [0.0] * len(put)
    low = 0.0
    for high in sorted({chips for chips in put if chips > 0}):
        payers = [i for i, chips in enumerate(put) if chips >= high]
        able = [i for i in payers if ranks[i] is not None]
        if not able:  # only folded chips reach so high: those at the showdown with the most take them
            most = max(put[i] for i in range(len(put)) if ranks[i] is not None)
            able = [i for i in range(len(put)) if ranks[i] is not None and put[i] == most]
        best = min(ranks[i] for i in able)  # type: ignore[type-var]
        winners = [i for i in able if ranks[i] == best]
        for i in winners:
            back[i] += (high - low) * len(payers) / len(winners)
        low = high
    return back


def _money(stacks: Array, before: tuple[float, ...], payouts: tuple[float, ...]) -> Array:
    """Prizes of those who are out, by the stacks that they began with; the others by the independent chip model."""
    players = len(before)
    prizes = np.array((*payouts, *[0.0] * (players - len(payouts))))
    out = np.zeros(stacks.shape)
    alive = stacks > 1e-9
    for pattern in np.unique(alive, axis=0):
        rows = np.flatnonzero((alive == pattern).all(axis=1))
        there = np.flatnonzero(pattern)
        out[np.ix_(rows, there)] = many_values(stacks[np.ix_(rows, there)], prizes[: len(there)])
        gone = [i for i in range(players) if not pattern[i]]
        for i in gone:  # those with equal stacks share their places
            above = len(there) + sum(before[j] > before[i] for j in gone)
            level = sum(before[j] == before[i] for j in gone)
            out[rows, i] = prizes[above : above + level].mean()
    return out
