"""Push-or-fold tournaments of two or three players as stochastic games (Ganzfried & Sandholm 2008).

A state is the stacks in units, in the order of action: button, small blind, big blind. The button moves after each
hand, so seats of a state are positions, and a tournament with identical players has every state once. Eliminated
players have their prizes; heads-up states are ordinary states. The defaults are the parameters of the paper: 13,500
chips, blinds 300 and 600, prizes 50, 30 and 20, with 946 states of three players and 44 of two.

    tournament = Tournament()
    run = EquilibriumIteration(tournament.game, "pi-fp", tournament.icm_values, stage_solver=solve_hand)
    run.step()
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from math import comb, isfinite
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from riverboat.core import files
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, located_errors, short_repr
from riverboat.core.validation import check_name
from riverboat.tournaments.hand_tables import starting_hands
from riverboat.tournaments.icm import ICM
from riverboat.tournaments.push_fold import PushFold, elimination_prize
from riverboat.tournaments.stage_game import PLAYERS, PushFoldStage
from riverboat.tournaments.stochastic_games import StochasticGame

MAX_STATES = 20_000
NUM_ENTRANTS = 10  # entrants of a sit-and-go that pays three places: the entry fee is a tenth of the prizes
SMALL_UNIT = 900  # chips per unit of the small version: 91 states of three players
State: TypeAlias = tuple[int, ...]  # stacks in units, in the order of action
SeatResult: TypeAlias = float | tuple[State, int]  # a prize, or the next state and seat


@dataclass(frozen=True)
class Tournament:
    """The parameters of a tournament.

    Parameters
    ----------
    players
        2 or 3.
    chips
        Total of all players.
    unit
        Chips per unit: stacks are multiples of it; other stacks are rounded at random with the same mean.
    blinds
        Small and big blind.
    ante
        Chips that each player pays.
    payouts
        Prizes, first place first.

    Raises
    ------
    InputError
        If a number is out of range, or there are too many states.

    References
    ----------
    .. [1] Ganzfried and Sandholm, "Computing an approximate jam/fold equilibrium for 3-player no-limit Texas hold'em
       tournaments", AAMAS 2008.

    Examples
    --------
    >>> tournament = Tournament.small()
    >>> len(tournament.states), tournament.units, tournament.fee
    (105, 15, 10.0)
    >>> tournament.spot((5, 5, 5)).stacks
    (4500.0, 4500.0, 4500.0)
    """

    players: int = 3
    chips: float = 13_500.0  # total chips of all players
    unit: float = 300.0  # stacks are multiples of it; other stacks are rounded at random with the same mean
    blinds: tuple[float, float] = (300.0, 600.0)
    ante: float = 0.0
    payouts: tuple[float, ...] = (50.0, 30.0, 20.0)  # first place first

    def __post_init__(self) -> None:
        if self.players not in PLAYERS:
            raise InputError(f"{self.players} players: must be 2 or 3")
        for name, number in (("chips", self.chips), ("unit", self.unit)):
            if not isfinite(number) or number <= 0:
                raise InputError(f"{name} = {short_repr(number)}: must be above zero")
        if abs(self.chips / self.unit - self.units) > 1e-9 * self.units or self.units < self.players:
            raise InputError(
                f"{self.chips:g} chips, unit {self.unit:g}: must be a multiple, at least {self.players} units"
            )
        if (count := comb(self.units - 1, self.players - 1)) > MAX_STATES:
            raise InputError(f"{self.units:,} units: {count:,} states, more than {MAX_STATES:,}; use a larger unit")
        PushFold((self.chips / self.players,) * self.players, self.blinds, self.ante, self.payouts)  # checks the others
        if sum(self.payouts) <= 0:
            raise InputError(f"payouts {self.payouts}: at least one must be above zero")

    @staticmethod
    def small() -> Tournament:
        """Return the same tournament on a coarser grid: 91 states of three players."""
        return replace(Tournament(), unit=float(SMALL_UNIT))

    @property
    def units(self) -> int:
        """Total chips in units."""
        return round(self.chips / self.unit)

    @property
    def fee(self) -> float:
        """Entry fee of one of ten entrants."""
        return sum(self.payouts) / NUM_ENTRANTS

    @property
    def prizes(self) -> tuple[float, ...]:
        """Prize of each place."""
        return (*self.payouts, *[0.0] * (self.players - len(self.payouts)))

    @cached_property
    def states(self) -> tuple[State, ...]:
        """Stacks in units, in the order of action; heads-up states first."""
        return tuple(state for players in range(2, self.players + 1) for state in _stack_splits(self.units, players))

    @cached_property
    def state_index(self) -> dict[State, int]:
        """Index of each state."""
        return {state: n for n, state in enumerate(self.states)}

    @cached_property
    def first_seat_index(self) -> Array:
        """Index of the first state-seat pair of each state, and the number of pairs. int64 [states + 1]"""
        return np.cumsum([0, *map(len, self.states)])

    def seat_index(self, state: State, seat: int) -> int:
        """Return the index of a state-seat pair.

        Parameters
        ----------
        state
            Stacks in units, in the order of action.
        seat
            Position in that order, from 0.

        Raises
        ------
        InputError
            If there is no such state.
        """
        if state not in self.state_index:
            raise InputError(f"stacks {state}: must be {len(state)} positive whole numbers with sum {self.units}")
        return int(self.first_seat_index[self.state_index[state]]) + seat

    def spot(self, state: State) -> PushFold:
        """Return the hand of a state, with payoffs in chips.

        Parameters
        ----------
        state
            Stacks in units, in the order of action.
        """
        return PushFold(tuple(stack * self.unit for stack in state), self.blinds, self.ante)

    @cached_property
    def icm_values(self) -> Array:
        """Expected prizes in the independent chip model. float64 [state-seat pairs]"""
        return np.concatenate([ICM(tuple(map(float, s)), self.prizes[: len(s)]).values for s in self.states])

    @cached_property
    def game(self) -> StochasticGame:
        """The stochastic game whose stages are the push-or-fold hands of all states."""
        return self.make_game([PushFoldStage(self.spot(state), starting_hands(self.players)) for state in self.states])

    def make_game(self, stages: list[PushFoldStage]) -> StochasticGame:
        """Build the stochastic game from stages, one for each state.

        Parameters
        ----------
        stages
            Stage of each state.
        """
        rewards: list[float] = []
        probabilities: list[float] = []
        columns: list[int] = []
        ends = [0]
        for state, stage in zip(self.states, stages, strict=True):
            successors_by_outcome = [list(self.successors(state, tuple(stacks))) for stacks in stage.stacks().tolist()]
            for seat in range(len(state)):
                for branches in successors_by_outcome:
                    reward = 0.0
                    for probability, results in branches:
                        result = results[seat]
                        if isinstance(result, float):
                            reward += probability * result
                        else:
                            probabilities.append(probability)
                            columns.append(self.seat_index(*result))
                    rewards.append(reward)
                    ends.append(len(columns))
        shape = len(rewards), int(self.first_seat_index[-1])
        transitions = sparse.csr_array((np.array(probabilities), np.array(columns, np.int64), np.array(ends)), shape)
        transitions.sum_duplicates()
        return StochasticGame(stages, np.array(rewards), transitions)

    def successors(self, state: State, stacks: tuple[float, ...]) -> Iterator[tuple[float, list[SeatResult]]]:
        """Iterate over the successors of a hand of a state that ends with these chips.

        Yields a probability, and for each seat a prize or its next state and seat.

        Parameters
        ----------
        state
            Stacks in units before the hand.
        stacks
            Chips of each seat after it.
        """
        for probability, units in round_stacks([chips / self.unit for chips in stacks]):
            remaining = [seat for seat in range(len(state)) if units[seat] > 0]
            order = remaining[1:] + remaining[:1]  # the button moves to the next remaining seat
            next_state = tuple(units[seat] for seat in order)
            eliminated = [seat for seat in range(len(state)) if units[seat] == 0]
            results: list[SeatResult] = []
            for seat in range(len(state)):
                if seat in eliminated:
                    results.append(elimination_prize(self.prizes, state, eliminated, seat))
                else:
                    results.append((next_state, order.index(seat)) if len(remaining) > 1 else self.prizes[0])
            yield probability, results

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary for files and JSON."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @staticmethod
    def load(path: Path) -> Tournament:
        """Load a TOML file with any of players, chips, unit, blinds, ante, payouts.

        Parameters
        ----------
        path
            The file.

        Raises
        ------
        InputError
            If the file cannot be read, or an entry is unknown or invalid.
        """
        table = files.parse_toml(files.read_toml_text(path, "tournament"))
        with located_errors(path):
            return Tournament.from_dict(table)

    @staticmethod
    def from_dict(table: dict[str, Any]) -> Tournament:
        """Build a tournament from entries; missing entries are as in the paper.

        Parameters
        ----------
        table
            Entries by name of the parameter.

        Raises
        ------
        InputError
            If an entry is unknown or invalid.
        """
        parameters: dict[str, Any] = {}
        for key, value in table.items():
            check_name("entry", key, [field.name for field in fields(Tournament)])
            if key in ("blinds", "payouts"):
                if not isinstance(value, list) or not value or not all(_is_number(number) for number in value):
                    raise InputError(f"{key} = {short_repr(value)}: give a list of numbers")
                parameters[key] = tuple(float(number) for number in value)
            elif key == "players" and (not isinstance(value, int) or isinstance(value, bool)):
                raise InputError(f"players = {short_repr(value)}: give 2 or 3")
            elif not _is_number(value):
                raise InputError(f"{key} = {short_repr(value)}: give a number")
            else:
                parameters[key] = value if key == "players" else float(value)
        if parameters.get("players") == 2 and "payouts" not in parameters:
            raise InputError("players = 2: give payouts too, such as [100, 0]")
        return Tournament(**parameters)


def round_stacks(stacks: list[float]) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Iterate over random roundings of up to three stacks to integers with the same sum and the same means.

    Parameters
    ----------
    stacks
        Stacks in units, whose sum is an integer.

    Yields
    ------
    tuple
        Probability, and the rounded stacks.

    Examples
    --------
    >>> list(round_stacks([1.5, 1.5, 2.0]))
    [(0.5, (2, 1, 2)), (0.5, (1, 2, 2))]
    """
    low = np.floor(np.array(stacks) + 1e-9).astype(int)
    fractions = np.maximum(np.array(stacks) - low, 0.0)
    extra = round(float(fractions.sum()))  # units to distribute
    if extra == 0:
        yield 1.0, tuple(low.tolist())
        return
    for seat, fraction in enumerate(fractions.tolist()):
        if fraction > 1e-9:
            units = low + (0 if extra == 1 else fractions > 1e-9)  # one player gets it, or all players but one get one
            units[seat] += 1 if extra == 1 else -1
            yield fraction if extra == 1 else 1 - fraction, tuple(units.tolist())


def _stack_splits(units: int, players: int) -> Iterator[tuple[int, ...]]:
    """Iterate over all splits of units among players, at least one unit each."""
    if players == 1:
        yield (units,)
        return
    for first in range(1, units - players + 2):
        for others in _stack_splits(units - first, players - 1):
            yield (first, *others)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
