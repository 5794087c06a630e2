"""Push or fold tables as charts: solved once, with what each move is worth to each class of hands.

table = push_table("push:10,10,15?payouts=50,30,20")
table.verdict("J", 0)                  # aces behind an all-in: jam or fold, and the EV of each
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from riverboat.arrays import Array
from riverboat.errors import InputError, shown, unknown
from riverboat.practice.verdicts import Option, Verdict
from riverboat.tournaments.equilibrium import Solved, game_of, solve
from riverboat.tournaments.push_fold import PushFold

PREFIX = "push:"
ITERATIONS = 2000
UNTIL = {2: 1e-6, 3: 1e-4}  # ε as a share of the prizes or of the big blind; more players: MANY
MANY = 1e-3
FOLD, JAM = "fold", "all-in"
_KEYS = ("blinds", "ante", "payouts")


@dataclass(frozen=True, eq=False)
class PushTable:
    """A solved table. EVs are what the whole hand wins or loses, in chips or in money."""

    name: str
    spot: PushFold
    solved: Solved

    @property
    def lines(self) -> tuple[str, ...]:
        """Where somebody decides."""
        return tuple(self.solved.game.lines)

    def who(self, line: str) -> str:
        """The position that decides at a line."""
        return self.spot.positions[len(line)]

    def jams(self, line: str) -> Array:
        """How often each class goes all-in. float64 [169]"""
        shares: Array = self.solved.strategy[self.number(line)]
        return shares

    def number(self, line: str) -> int:
        """Of a line; unknown ones are refused."""
        if line not in self.solved.game.lines:
            some = ", ".join(shown(known) for known in self.lines[:6])
            raise InputError(f"line {shown(line)}: nobody decides there; lines are J and F by player, such as {some}")
        return self.solved.game.lines[line]

    @cached_property
    def evs(self) -> Array:
        """What going all-in and folding are worth once a class is there. float64 [lines, 2, classes]; NaN: never there"""
        worth = self.solved.game.counterfactual(self.solved.strategy)
        reach = self.solved.game.reach(self.solved.strategy)[:, None, :]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(reach > 1e-15, worth / reach, np.nan)

    def pot(self, line: str) -> float:
        """What lies in the middle at a line."""
        jammed = [self.spot.stacks[i] for i, move in enumerate(line) if move == "J"]
        rest = [self.spot.posted[i] for i in range(self.spot.players) if i >= len(line) or line[i] != "J"]
        return float(sum(jammed) + sum(rest))

    def verdict(self, line: str, group: int) -> Verdict:
        """Of a class of hands at a line."""
        k = self.number(line)
        jam = float(self.solved.strategy[k, group])
        worth = [None if np.isnan(x) else float(x) for x in self.evs[k, :, group]]
        options = (Option(FOLD, 1 - jam, worth[1]), Option(JAM, jam, worth[0]))
        if self.spot.payouts is None:
            return Verdict(options, "the chart", self.pot(line))
        return Verdict(options, "the chart", sum(self.spot.payouts), unit="of the payouts", share_of="the prizes")


def is_push(text: str) -> bool:
    """Whether a text names a push or fold table."""
    return text.startswith(PREFIX)


@lru_cache(maxsize=16)
def push_table(text: str, progress: Callable[[int, float], None] | None = None) -> PushTable:
    """The table that a text names: `push:10,10,15?ante=0.1&payouts=50,30,20&blinds=0.5,1`, stacks in the order of action."""
    stacks, _, tail = text.removeprefix(PREFIX).partition("?")
    options: dict[str, str] = {}
    for part in filter(None, tail.split("&")):
        key, _, value = part.partition("=")
        if key not in _KEYS or key in options:
            raise InputError(f"chart {shown(text)}: {unknown('option', key, _KEYS)}")
        options[key] = value
    blinds = _numbers(options.get("blinds", "0.5,1"), text)
    if len(blinds) != 2:
        raise InputError(f"chart {shown(text)}: blinds: give the small and the big one, such as 0.5,1")
    (ante,) = _numbers(options.get("ante", "0"), text)[:1]
    payouts = _numbers(options["payouts"], text) if "payouts" in options else None
    spot = PushFold(_numbers(stacks, text), (blinds[0], blinds[1]), ante, payouts)
    scale = sum(payouts) if payouts is not None else blinds[1]
    goal = UNTIL.get(spot.players, MANY) * scale
    return PushTable(text, spot, solve(game_of(spot), "cfr", ITERATIONS, goal, progress))


def _numbers(text: str, where: str) -> tuple[float, ...]:
    parts = text.split(",")
    if not all(re.fullmatch(r"\s*\d+(\.\d+)?\s*", part, re.ASCII) for part in parts):
        raise InputError(f"chart {shown(where)}: {shown(text)}: write numbers such as 10,10,15")
    return tuple(map(float, parts))
