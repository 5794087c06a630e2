"""Push or fold tournaments of two or three players as stochastic games.

A state is the stacks in units, in the order of action: button, small blind, big blind. After a hand the button goes on, so
that the seats of a state are positions, and a tournament in which all players are alike has every state once. Players who
are out have their prizes; heads-up states are states like the others. The parameters of Ganzfried and Sandholm (2008) are
the defaults: 13,500 chips, blinds 300 and 600, prizes 50, 30 and 20: 946 states of three players and 44 of two.

    tournament = Tournament()
    run = Iteration(tournament.game, "pi-fp", tournament.chip_model, learner=play_hand)
    run.step()
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import comb, isfinite
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from riverboat.core import text_files
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, shown, unknown
from riverboat.tournaments.hand_tables import starting_hands
from riverboat.tournaments.icm import ICM
from riverboat.tournaments.push_fold import PushFold
from riverboat.tournaments.stage import PLAYERS, Stage
from riverboat.tournaments.stochastic import StochasticGame

MOST_STATES = 20_000
ENTRANTS = 10  # of a sit-and-go whose last three are paid: a fee is a tenth of the prizes
SMALL_UNIT = 900  # of the small version: 91 states of three players


@dataclass(frozen=True)
class Tournament:
    """Who plays, for what, and with how many chips."""

    players: int = 3
    chips: float = 13_500.0  # of all players together
    unit: float = 300.0  # stacks are multiples of it; between two of them chance rounds, keeping everybody's mean
    blinds: tuple[float, float] = (300.0, 600.0)
    ante: float = 0.0
    payouts: tuple[float, ...] = (50.0, 30.0, 20.0)  # the first place first

    def __post_init__(self) -> None:
        if self.players not in PLAYERS:
            raise InputError(f"{self.players} players: tournaments of two or three can be solved")
        for what in ("chips", "unit"):
            number = getattr(self, what)
            if not isfinite(number) or number <= 0:
                raise InputError(f"{what} = {shown(number)}: must be above zero")
        if abs(self.chips / self.unit - self.units) > 1e-9 * self.units or self.units < self.players:
            raise InputError(
                f"{self.chips:g} chips, unit {self.unit:g}: give a multiple, at least {self.players} units"
            )
        if (count := comb(self.units - 1, self.players - 1)) > MOST_STATES:
            raise InputError(
                f"{self.units:,} units: {count:,} states; at most {MOST_STATES:,} can be solved: a larger unit"
            )
        stacks = (self.chips / self.players,) * self.players
        PushFold(stacks, self.blinds, self.ante, self.payouts)  # checks the others
        if sum(self.payouts) <= 0:
            raise InputError(f"payouts {self.payouts}: at least one must be above zero")

    @staticmethod
    def small() -> Tournament:
        """The same on a coarser grid: 91 states of three players."""
        return replace(Tournament(), unit=float(SMALL_UNIT))

    @property
    def units(self) -> int:
        """All chips, in units."""
        return round(self.chips / self.unit)

    @property
    def fee(self) -> float:
        """What ten entrants have paid each."""
        return sum(self.payouts) / ENTRANTS

    @property
    def prizes(self) -> tuple[float, ...]:
        """One for each place."""
        return (*self.payouts, *[0.0] * (self.players - len(self.payouts)))

    @cached_property
    def states(self) -> tuple[tuple[int, ...], ...]:
        """Stacks in units, in the order of action; heads-up states first."""
        return tuple(state for players in range(2, self.players + 1) for state in _splits(self.units, players))

    @cached_property
    def number(self) -> dict[tuple[int, ...], int]:
        """The number of each state."""
        return {state: n for n, state in enumerate(self.states)}

    @cached_property
    def place_of(self) -> Array:
        """The first place of each state. int64 [states + 1]"""
        return np.cumsum([0, *map(len, self.states)])

    def place(self, state: tuple[int, ...], seat: int) -> int:
        """The number of a seat of a state among all places."""
        if state not in self.number:
            raise InputError(f"stacks {state}: {len(state)} whole numbers that make {self.units} are needed")
        return int(self.place_of[self.number[state]]) + seat

    def spot(self, state: tuple[int, ...]) -> PushFold:
        """The hand that is played in a state, for chips."""
        return PushFold(tuple(stack * self.unit for stack in state), self.blinds, self.ante)

    @cached_property
    def chip_model(self) -> Array:
        """What places are worth by the independent chip model. float64 [places]"""
        values = [ICM(tuple(map(float, s)), self.prizes[: len(s)]).values for s in self.states]
        return np.concatenate(values)

    @cached_property
    def game(self) -> StochasticGame:
        """The stochastic game."""
        tables = starting_hands(self.players)
        return self.game_of([Stage(self.spot(state), tables) for state in self.states])

    def game_of(self, stages: list[Stage]) -> StochasticGame:
        """The game of stages, one for each state."""
        rewards: list[float] = []
        chances: list[float] = []
        columns: list[int] = []
        ends = [0]
        for state, stage in zip(self.states, stages, strict=True):
            after = [list(self.after(state, tuple(stacks))) for stacks in stage.stacks().tolist()]
            for seat in range(len(state)):
                for branches in after:
                    reward = 0.0
                    for chance, results in branches:
                        result = results[seat]
                        if isinstance(result, float):
                            reward += chance * result
                        else:
                            chances.append(chance)
                            columns.append(self.place(*result))
                    rewards.append(reward)
                    ends.append(len(columns))
        shape = len(rewards), int(self.place_of[-1])
        moves = sparse.csr_array((np.array(chances), np.array(columns, np.int64), np.array(ends)), shape)
        moves.sum_duplicates()
        return StochasticGame(stages, np.array(rewards), moves)

    def after(
        self, state: tuple[int, ...], stacks: tuple[float, ...]
    ) -> Iterator[tuple[float, list[float | tuple[tuple[int, ...], int]]]]:
        """What follows on a hand that was begun in a state and leaves these chips: chances, and for each seat a prize, or
        the state and the seat where it goes on."""
        for chance, units in rounded([chips / self.unit for chips in stacks]):
            there = [seat for seat in range(len(state)) if units[seat] > 0]
            order = there[1:] + there[:1]  # the first seat that is there after the big blind has it next
            following = tuple(units[seat] for seat in order)
            results: list[float | tuple[tuple[int, ...], int]] = []
            gone = [seat for seat in range(len(state)) if units[seat] == 0]
            for seat in range(len(state)):
                if seat in gone:  # by the stacks that the hand was begun with; equal ones share their places
                    above = len(there) + sum(state[other] > state[seat] for other in gone)
                    level = sum(state[other] == state[seat] for other in gone)
                    results.append(sum(self.prizes[above : above + level]) / level)
                elif len(there) == 1:
                    results.append(self.prizes[0])
                else:
                    results.append((following, order.index(seat)))
            yield chance, results

    # --- files ------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """For files and JSON."""
        return {
            field.name: list(value) if isinstance(value := getattr(self, field.name), tuple) else value
            for field in fields(self)
        }

    @staticmethod
    def read(path: Path) -> Tournament:
        """From a TOML file: any of players, chips, unit, blinds, ante, payouts."""
        table = text_files.parse_toml(text_files.read_toml(path, "tournament"))
        try:
            return Tournament.from_dict(table)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None

    @staticmethod
    def from_dict(table: dict[str, Any]) -> Tournament:
        """From entries; those that are missing are as in the paper."""
        given: dict[str, Any] = {}
        for key, value in table.items():
            if key not in (names := [field.name for field in fields(Tournament)]):
                raise unknown("entry", key, names)
            if key in ("blinds", "payouts"):
                if not isinstance(value, list) or not value or not all(_is_number(number) for number in value):
                    raise InputError(f"{key} = {shown(value)}: give a list of numbers")
                given[key] = tuple(float(number) for number in value)
            elif key == "players" and (not isinstance(value, int) or isinstance(value, bool)):
                raise InputError(f"players = {shown(value)}: give 2 or 3")
            elif not _is_number(value):
                raise InputError(f"{key} = {shown(value)}: give a number")
            else:
                given[key] = value if key == "players" else float(value)
        if given.get("players") == 2 and "payouts" not in given:
            raise InputError("two players: payouts must be given too, such as [100, 0]")
        return Tournament(**given)


def rounded(stacks: list[float]) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Whole numbers near stacks, with chances such that everybody's mean is kept, and the sum always. For up to three."""
    low = np.floor(np.array(stacks) + 1e-9).astype(int)
    left = np.maximum(np.array(stacks) - low, 0.0)
    more = round(float(left.sum()))  # units to be given out
    if more == 0:
        yield 1.0, tuple(low.tolist())
        return
    for seat, part in enumerate(left.tolist()):
        units = low.copy()
        if more == 1:  # one gets it,
            units[seat] += 1
        else:  # or all but one
            units += left > 1e-9
            units[seat] -= 1
        chance = part if more == 1 else 1 - part
        if chance > 1e-9 and (more == 1 or part > 1e-9):
            yield chance, tuple(units.tolist())


def _splits(units: int, players: int) -> Iterator[tuple[int, ...]]:
    """All ways to split units, everybody having one or more."""
    if players == 1:
        yield (units,)
        return
    for first in range(1, units - players + 2):
        for others in _splits(units - first, players - 1):
            yield (first, *others)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
