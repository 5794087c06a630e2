"""Push or fold tables as charts, with what each move is worth to each class of hands.

table = push_table("push:10,10,15?payouts=50,30,20")     # solved once
table = push_table("runs/small?state=5,5,5")             # a state of a tournament that was solved into a folder
table.verdict("J", 0)                                    # aces behind an all-in: jam or fold, and the EV of each
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from riverboat.core import artifacts
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, RiverboatError, shown, unknown
from riverboat.practice.verdicts import Option, Verdict
from riverboat.strategies import files
from riverboat.strategies.public_cache import PublicCache
from riverboat.tournaments.equilibrium import game_of, solve
from riverboat.tournaments.push_fold import PushFold
from riverboat.tournaments.run import KIND, SolvedTournament, load
from riverboat.tournaments.stage import Stage
from riverboat.tournaments.tournament import Tournament

PREFIX = "push:"
ITERATIONS = 2000
UNTIL = {2: 1e-6, 3: 1e-4}  # ε as a share of the prizes or of the big blind; more players: MANY
MANY = 1e-3
FOLD, JAM = "fold", "all-in"
_KEYS = ("blinds", "ante", "payouts")
_OPENED = artifacts.Opened[SolvedTournament](4)
_SOLVED: PublicCache[PushTable] = PublicCache(16)  # tables by what names them


@dataclass(frozen=True, eq=False)
class PushTable:
    """A solved table. EVs are what the whole hand wins or loses, in chips or in money."""

    name: str
    spot: PushFold
    strategy: Array  # float64 [lines, classes]: the probability to go all-in
    numbers: Mapping[str, int]  # of lines
    worths: Callable[[], tuple[Array, Array]]  # of both moves, times the chance to be there; and that chance
    prizes: float | None = None  # all of them together, where money is played for
    states: tuple[str, ...] = ()  # of its tournament, as stacks in units: each is such a table
    state: str = ""  # this one

    @property
    def lines(self) -> tuple[str, ...]:
        """Where somebody decides."""
        return tuple(self.numbers)

    def who(self, line: str) -> str:
        """The position that decides at a line."""
        return self.spot.positions[len(line)]

    def jams(self, line: str) -> Array:
        """How often each class goes all-in. float64 [169]"""
        shares: Array = self.strategy[self.number(line)]
        return shares

    def number(self, line: str) -> int:
        """Of a line; unknown ones are refused."""
        if line not in self.numbers:
            some = ", ".join(shown(known) for known in self.lines[:6])
            raise InputError(f"line {shown(line)}: nobody decides there; lines are J and F by player, such as {some}")
        return self.numbers[line]

    @cached_property
    def evs(self) -> Array:
        """What going all-in and folding are worth once a class is there. float64 [lines, 2, classes]; NaN: never there"""
        worth, reach = self.worths()
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(reach[:, None, :] > 1e-15, worth / reach[:, None, :], np.nan)

    def pot(self, line: str) -> float:
        """What lies in the middle at a line."""
        jammed = [self.spot.stacks[i] for i, move in enumerate(line) if move == "J"]
        rest = [self.spot.posted[i] for i in range(self.spot.players) if i >= len(line) or line[i] != "J"]
        return float(sum(jammed) + sum(rest))

    def verdict(self, line: str, group: int) -> Verdict:
        """Of a class of hands at a line."""
        k = self.number(line)
        jam = float(self.strategy[k, group])
        worth = [None if np.isnan(x) else float(x) for x in self.evs[k, :, group]]
        options = (Option(FOLD, 1 - jam, worth[1]), Option(JAM, jam, worth[0]))
        if self.prizes is None:
            return Verdict(options, "the chart", self.pot(line))
        return Verdict(options, "the chart", self.prizes, unit="of the payouts", share_of="the prizes")


def is_push(text: str) -> bool:
    """Whether a text names a push or fold table: stacks, or the folder of a tournament."""
    return text.startswith(PREFIX) or is_tournament(text.partition("?")[0])


def is_tournament(folder: str | Path) -> bool:
    """Whether a folder holds a tournament that was solved; false where it holds nothing that can be read."""
    try:
        return Path(folder).is_dir() and artifacts.manifest(files.newest(folder)).text("kind") == KIND
    except RiverboatError:
        return False


def push_table(text: str) -> PushTable:
    """The table that a text names: `push:10,10,15?ante=0.1&payouts=50,30,20&blinds=0.5,1`, stacks in the order of action, or
    `runs/small?state=5,5,5`, a state of a solved tournament: stacks in units."""
    if not text.startswith(PREFIX):
        return _state(text)
    return _SOLVED.at(text.encode(), lambda: _solved(text))


def is_solved(text: str) -> bool:
    """Return whether `push_table` only reads: a state of a tournament, or a table that is solved already."""
    return not text.startswith(PREFIX) or _SOLVED.get(text.encode()) is not None


def _state(text: str) -> PushTable:
    """A state of a tournament: what places are worth afterwards are the values that were solved, not the chip model's."""
    folder, _, tail = text.partition("?")
    solved = _OPENED.get(files.newest(folder), lambda: load(Path(folder)))
    played = solved.tournament
    key, _, value = tail.partition("=")
    if tail and key != "state":
        raise InputError(f"chart {shown(text)}: {unknown('option', key, ('state',))}")
    state = _stacks(played, value, text) if tail else _middle(played)
    spot = played.spot(state)
    strategy = solved.strategy(state)

    def worths() -> tuple[Array, Array]:
        seen = Stage(spot).seen(strategy)
        pay = solved.pay(state)
        return seen.worth(pay), seen.worth(np.ones_like(pay))[:, 1]

    numbers = {line: k for k, line in enumerate(spot.lines)}
    states = tuple(",".join(map(str, each)) for each in played.states)
    return PushTable(text, spot, strategy, numbers, worths, sum(played.payouts), states, states[played.number[state]])


def _middle(played: Tournament) -> tuple[int, ...]:
    """The state in which all have the same, or nearly."""
    return min(
        (state for state in played.states if len(state) == played.players),
        key=lambda state: (max(state) - min(state), state),
    )


def _stacks(played: Tournament, value: str, text: str) -> tuple[int, ...]:
    state = tuple(int(part) if re.fullmatch(r"\d{1,6}", part, re.ASCII) else 0 for part in value.split(","))
    if state not in played.number:
        raise InputError(
            f"chart {shown(text)}: state {shown(value)}: whole numbers, 2 to {played.players}, that make "
            f"{played.units} units of {played.unit:g} chips"
        )
    return state


def _solved(text: str) -> PushTable:
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
    game = game_of(spot)
    strategy = solve(game, "cfr", ITERATIONS, goal).strategy
    return PushTable(
        text, spot, strategy, game.lines, lambda: (game.counterfactual(strategy), game.reach(strategy)),
        None if payouts is None else scale,
    )  # fmt: skip


def _numbers(text: str, where: str) -> tuple[float, ...]:
    parts = text.split(",")
    if not all(re.fullmatch(r"\s*\d+(\.\d+)?\s*", part, re.ASCII) for part in parts):
        raise InputError(f"chart {shown(where)}: {shown(text)}: write numbers such as 10,10,15")
    return tuple(map(float, parts))
