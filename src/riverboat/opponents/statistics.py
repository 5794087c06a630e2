"""What a player is known by: how often it plays, raises, bets again, gives up.

    facts = habits(hands, trace(hands), "somebody")
    facts["vpip"].share, facts["vpip"].low, facts["vpip"].high

Each is a share of chances that were there, with Wilson's 95 % interval (Wilson 1927), which holds for few chances too.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.actions import CALL, FOLD
from riverboat.games.holdem.rules import STREETS
from riverboat.games.records.decisions import Decisions
from riverboat.games.records.hand_records import UNKNOWN, Hands

NORMAL_95 = 1.959963984540054
POSITIONS = ("big blind", "dealer")  # by seat
HABITS = {
    "vpip": "puts chips in before the flop, of hands in which it acts there",
    "pfr": "raises before the flop, of the same hands",
    "three_bet": "raises again, of the times that it faces the first raise before the flop",
    "continuation_bet": "bets the flop, of the times that it raised last before and nobody has bet yet",
    "fold_to_continuation_bet": "folds, of the times that it faces such a bet",
    "went_to_showdown": "shows down, of hands in which it sees a flop",
}


@dataclass(frozen=True)
class Share:
    """How often something was done, of the times that it could be."""

    count: int
    chances: int

    @property
    def share(self) -> float | None:
        """None where there never was a chance."""
        return self.count / self.chances if self.chances else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval; from 0 to 1 where there never was a chance."""
        n = self.chances
        if not n:
            return 0.0, 1.0
        z, p = NORMAL_95, self.count / n
        middle, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return max((middle - half) / (1 + z * z / n), 0.0), min((middle + half) / (1 + z * z / n), 1.0)

    @property
    def low(self) -> float:
        """The lower end."""
        return self.interval[0]

    @property
    def high(self) -> float:
        """The upper end."""
        return self.interval[1]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"share": self.share, "ci95": list(self.interval), "count": self.count, "chances": self.chances}


def _share(done: Array, of: Array) -> Share:
    return Share(int((done & of).sum()), int(of.sum()))


@dataclass(frozen=True)
class Habits:
    """The facts of one player."""

    name: str
    hands: int
    shares: dict[str, Share]  # by name in HABITS
    aggression: dict[tuple[str, str], Share]  # by street and position: bets and raises, of all moves but checks
    won: tuple[float, float, int] | None  # big blinds in 100 hands ± 95 %, over so many hands; None: nobody can tell

    def __getitem__(self, name: str) -> Share:
        return self.shares[name]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        streets: dict[str, dict[str, Any]] = {}
        for (street, position), share in self.aggression.items():
            streets.setdefault(street, {})[position] = share.to_dict()
        won = None
        if self.won is not None:
            won = {"bb_per_100": self.won[0], "ci95": self.won[1], "hands": self.won[2]}
        shares = {key: share.to_dict() for key, share in self.shares.items()}
        return {"player": self.name, "hands": self.hands, **shares, "aggression": streets, "won": won}


def habits(hands: Hands, decisions: Decisions, name: str) -> Habits:
    """The facts of a player; `decisions` are all of the record."""
    if name not in hands.names:
        raise InputError(f"player {name!r}: plays in none of these {len(hands):,} hands")
    who, n = hands.names.index(name), len(hands)
    seat = hands.seat_of(name)
    here = seat >= 0
    mine = decisions.take(decisions.player == who)
    raised, called, before = mine.move > CALL, (mine.move == CALL) & (mine.owed > 0), mine.street == 0

    def any_of(chosen: Array) -> Array:
        marked = np.zeros(n, bool)
        marked[mine.hand[chosen]] = True
        return marked

    acted = any_of(before)
    opened = before & (mine.raises == 1) & (mine.owed > 0)
    flop = mine.street == 1
    may_bet = flop & (mine.led == mine.seat) & (mine.raises == 0)
    other = decisions.take((decisions.street == 1) & (decisions.player != who))
    bet_again = np.zeros(n, bool)
    bet_again[other.hand[(other.led == other.seat) & (other.raises == 0) & (other.move > CALL)]] = True
    facing = flop & (mine.raises == 1) & (mine.owed > 0) & bet_again[mine.hand]
    folded, last_street = _ends(hands, decisions)
    saw = here & ((last_street > 0) | ~folded)
    shares = {
        "vpip": _share(any_of(before & (raised | called)), acted),
        "pfr": _share(any_of(before & raised), acted),
        "three_bet": _share(raised, opened),
        "continuation_bet": _share(raised, may_bet),
        "fold_to_continuation_bet": _share(mine.move == FOLD, facing),
        "went_to_showdown": _share(~folded, saw),
    }
    counted = raised | called | (mine.move == FOLD)
    aggression = {
        (street, position): _share(raised, counted & (mine.street == s) & (mine.seat == p))
        for s, street in enumerate(STREETS[: hands.rules.rounds])
        for p, position in enumerate(POSITIONS)
    }
    return Habits(name, int(here.sum()), shares, aggression, _won(hands, seat))


def _ends(hands: Hands, decisions: Decisions) -> tuple[Array, Array]:
    """Whether somebody folded, and the street of the last move. bool [n], int64 [n]"""
    last = np.cumsum(hands.length) - 1
    return decisions.move[last] == FOLD, decisions.street[last]


def _won(hands: Hands, seat: Array) -> tuple[float, float, int] | None:
    """Big blinds in 100 hands, over hands whose end is known."""
    here = np.flatnonzero((seat >= 0) & (hands.won[:, 0] != UNKNOWN))
    if len(here) < 2:
        return None
    blinds = 100 * hands.won[here, seat[here]] / hands.blinds[here].max(axis=1)
    return float(blinds.mean()), float(NORMAL_95 * blinds.std(ddof=1) / sqrt(len(here))), len(here)
