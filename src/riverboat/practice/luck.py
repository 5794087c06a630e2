"""What was won in a sitting, and what of it was luck.

found = results(sitting)
found.raw, found.all_in, found.aivat       # intervals of chips a hand: as played, all-ins by equity, without most luck
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from riverboat.agents.base import Agent
from riverboat.cards.equity.equities import equity
from riverboat.cards.notation import show_cards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.evaluation.intervals import Interval, Tally
from riverboat.evaluation.matches.aivat import Aivat, answers
from riverboat.games.holdem.betting import Betting, steps
from riverboat.games.holdem.observation import Views
from riverboat.games.holdem.rules import Rules
from riverboat.practice.session import YOU, FinishedHands, Kept, Sitting


@dataclass(frozen=True)
class Person:
    """Whoever sits there, and says nothing."""

    name: str = YOU

    def check_rules(self, rules: Rules) -> None:
        """Whatever is played."""

    def act(self, views: Views) -> Array:
        """Nobody asks."""
        raise InputError("a person has played, and cannot be asked")


@dataclass(frozen=True)
class Results:
    """Chips a hand of the person; None where there is nothing to say yet."""

    hands: int
    won: float  # chips
    unit_chips: float  # a big blind, or the pot of a spot
    unit: str
    raw: Interval | None
    all_in: Interval | None  # hands that were all-in before the last card, by what they win on average
    aivat: Interval | None  # without the luck of cards and of the agent's moves, as far as its values know it
    why: str = ""  # there is no AIVAT

    def to_dict(self) -> dict[str, Any]:
        """For JSON: chips, and each mean in the unit with half the width of its 95 % interval."""
        told: dict[str, Any] = {"hands": self.hands, "won": self.won, "unit": self.unit, "won_unit": "chips"}
        for name in ("raw", "all_in", "aivat"):
            interval: Interval | None = getattr(self, name)
            scale = 1.0 / self.unit_chips
            told[name] = (
                None if interval is None else {"mean": interval.mean * scale, "ci95": interval.half_width * scale}
            )
        return {**told, "why_no_aivat": self.why or None}


def results(sitting: Sitting, progress: Callable[[float], None] | None = None, aivat: bool = True) -> Results:
    """Of all hands that are over. The first use of an agent's values makes its tables: `progress` is told the share done."""
    return results_of(sitting.finished, sitting.table.agent if aivat else None, progress)


def results_of(
    finished: FinishedHands, agent: Agent | None, progress: Callable[[float], None] | None = None
) -> Results:
    """The same of finished hands alone; AIVAT where the agent that they were played with is given."""
    played, start = finished.played(), finished.start
    won = np.array([hand.won or 0.0 for hand in played])
    luckless = np.array([_all_in(start, kept, w) for kept, w in zip(finished.hands, won.tolist(), strict=True)])
    scale, unit = (start.pot / 100, "% of the pot") if start.rules.pot else (start.rules.big_blind / 1000, "mbb/g")
    estimate, why = None, "it was not asked for"
    if agent is not None:
        estimate, why = _aivat(finished, agent, progress)
    return Results(len(played), float(won.sum()), scale, unit, _interval(won), _interval(luckless), estimate, why)


def _interval(samples: Array) -> Interval | None:
    return Tally().plus(samples).interval() if len(samples) > 1 else None


def _all_in(start: Betting, kept: Kept, won: float) -> float:
    """What a hand won, or where it was all-in with cards to come, what it wins on average over them."""
    rules, end = start.rules, Betting.from_line(start.rules, kept.line)
    street = _last_street(end)
    shown = rules.board_sizes[street]
    if end.folded is not None or shown == rules.board_sizes[-1] or rules.hole != 2:
        return won
    if rules.board_sizes[-1] != 5:
        return won
    mine, theirs = kept.holes[kept.seat], kept.holes[1 - kept.seat]
    (share, _) = equity(show_cards(mine), show_cards(theirs), board=kept.board[:shown]).shares
    paid = end.pay(start.spent if rules.pot else (0, 0))
    win, lose = (paid[k][kept.seat] for k in ((0, 2) if kept.seat == 0 else (2, 0)))
    return float(win * share + lose * (1 - share))


def _last_street(end: Betting) -> int:
    """The street of the last move: deals behind it are those of an all-in."""
    now, street = Betting.start(end.rules), end.rules.begins
    for label in steps(end.line):
        if label == "/":
            now = now.next_street()
        else:
            street = now.street
            now = now.play(label)
    return street


def _aivat(
    finished: FinishedHands, agent: Agent, progress: Callable[[float], None] | None
) -> tuple[Interval | None, str]:
    rules = finished.start.rules
    if rules.begins or not answers(agent, rules):
        return None, "AIVAT needs whole hands against an agent that answers for all hands"
    if len(finished) < 2:
        return None, "two hands or more are needed"
    hands = finished.record()
    mine = hands.names[0] == YOU  # estimates are of the first player of the record
    players: tuple[Agent, Agent] = (Person(), agent) if mine else (agent, Person())
    told = Aivat(*players, rules, progress=progress).estimate(hands)
    return _interval(told.total if mine else -told.total), ""
