"""Tournaments: ICM values, push/fold equilibria, and whole push/fold tournaments.

result = push_fold([10, 10], until=0.1)
result.values                 # expected value of each player
result.grid("")               # hands that the first player goes all-in with
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from riverboat.api.options import Duration, Limits, Seed, Threads, parse_seconds
from riverboat.cards.grid import CLASS_NAMES, HandGrid
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, short_repr, unknown_name_error
from riverboat.core.files import folder_lock
from riverboat.tournaments import hand_tables, run
from riverboat.tournaments.equilibrium import PushFoldSolution, make_push_fold_game, share_of_hands, solve
from riverboat.tournaments.icm import ICM
from riverboat.tournaments.many_players import MAX_ALL_IN, ManyPlayerPushFold
from riverboat.tournaments.push_fold import PushFold
from riverboat.tournaments.ray_workers import RayStageWorkers
from riverboat.tournaments.stochastic_games import METHODS
from riverboat.tournaments.tournament import Tournament

MAX_PAIRED_PLAYERS = 9  # most players whose pairs are compared
MAX_EXACT_PLAYERS = 3  # most players with exact deals, from the table of three hands
DEFAULT_EPSILONS = {2: 1e-4, 3: 0.01}  # % of the prizes or of the big blind, by number of players
MANY_PLAYER_EPSILON = 0.1
MAX_STEPS = 1_000_000  # more are typing errors
SECONDS_PER_STATE = 0.25  # core-seconds per state and step, measured on one machine
TYPICAL_STEPS = 8  # steps of a run on it


# --- ICM ---


@dataclass(frozen=True, eq=False)
class IcmResult:
    """Values of stacks in the independent chip model.

    Attributes
    ----------
    stacks
        Chips of each player.
    payouts
        Prizes from the first place down.
    values
        Expected prize of each player. float64 [players]
    finish_probabilities
        Probability of each place for each player. float64 [players, places]
    bubble_factors
        Loss over gain of an all-in between two players; None where nothing can be won. Empty for many players.
    call_off_equities
        Equity that a call of an all-in needs, for each pair. Empty for many players.

    Examples
    --------
    >>> icm([2, 1, 1], [50, 30, 20]).bubble_factors[0][0] is None
    True
    """

    stacks: tuple[float, ...]
    payouts: tuple[float, ...]
    values: Array
    finish_probabilities: Array
    bubble_factors: list[list[float | None]]
    call_off_equities: list[list[float | None]]

    def to_dict(self) -> dict[str, Any]:
        """Return the values as a JSON object."""
        return {
            "stacks": list(self.stacks),
            "payouts": list(self.payouts),
            "values": self.values.tolist(),
            "unit": "of the payouts",
            "values_are": "exact in the model of Malmuth and Harville",
            "places": self.finish_probabilities.tolist(),
            "bubble_factors": self.bubble_factors,
            "call_off_equities": self.call_off_equities,
        }


def icm(stacks: Sequence[float], payouts: Sequence[float]) -> IcmResult:
    """Compute the value of stacks in the independent chip model.

    Parameters
    ----------
    stacks
        Chips of each player.
    payouts
        Prizes from the first place down.

    Returns
    -------
    IcmResult
        Values, finish probabilities, and for up to nine players bubble factors and call-off equities.

    Raises
    ------
    InputError
        If a stack is not positive, or there are more payouts than players.

    Notes
    -----
    The model of Malmuth (1987) and Harville (1973): chances of the first place are proportional to the stacks.

    Examples
    --------
    >>> icm([2, 1, 1], [50, 30, 20]).values.round(2).tolist()
    [38.33, 30.83, 30.83]
    """

    model = ICM(tuple(map(float, stacks)), tuple(map(float, payouts)))
    players = range(len(model.stacks)) if len(model.stacks) <= MAX_PAIRED_PLAYERS else ()

    def compare_pairs(figure: Callable[[int, int], float]) -> list[list[float | None]]:
        return [[None if i == j or not isfinite(x := figure(i, j)) else x for j in players] for i in players]

    pairs = compare_pairs(model.bubble_factor), compare_pairs(model.call_off_equity)
    return IcmResult(model.stacks, model.payouts, model.values, model.finish_probabilities, *pairs)


# --- Push or fold ---


@dataclass(frozen=True)
class PushFoldDecision:
    """A decision of a push/fold game.

    Attributes
    ----------
    line
        Actions before it: J for all-in and F for a fold, one letter for each player.
    position
        Position of the player who decides.
    share
        Share of all hands that go all-in.
    all_in
        Probability of going all-in with each class of hands: AA, AKs, ...

    Examples
    --------
    >>> PushFoldDecision("J", "bb", 0.5, {"AA": 1.0}).move
    'call'
    """

    line: str
    position: str
    share: float
    all_in: Mapping[str, float]

    @property
    def move(self) -> str:
        """Word for going all-in: call after an all-in, else jam."""
        return "call" if "J" in self.line else "jam"

    def grid(self) -> HandGrid:
        """Return the decision as a grid of hands."""

        jams = self.line.count("J")
        where = "first in" if not jams else f"behind {jams} all-in{'s' * (jams > 1)}"
        square = np.reshape(list(self.all_in.values()), (13, 13))
        return HandGrid.actions({"fold": 1.0 - square, "all-in": square}, title=f"{self.position} {where}")

    def to_dict(self) -> dict[str, Any]:
        """Return the decision as a JSON object."""
        shares = {"hands_percent": 100 * self.share, "all_in": dict(self.all_in)}
        return {"line": self.line, "position": self.position, **shares}


def _decisions(strategy: Array, lines: Sequence[str], spot: PushFold) -> tuple[PushFoldDecision, ...]:

    decisions = []
    for line, share, row in zip(lines, share_of_hands(strategy), strategy, strict=True):
        all_in = dict(zip(CLASS_NAMES, row.tolist(), strict=True))
        decisions.append(PushFoldDecision(line, spot.positions[len(line)], float(share), all_in))
    return tuple(decisions)


def _find(decisions: Sequence[PushFoldDecision], line: str) -> PushFoldDecision:
    for decision in decisions:
        if decision.line == line:
            return decision
    examples = ", ".join(short_repr(decision.line) for decision in decisions[:8])
    raise InputError(f"line {short_repr(line)}: no decision there; lines are {examples}")


def decisions_to_csv(decisions: Sequence[PushFoldDecision]) -> str:
    """Return decisions as comma-separated values, one row each.

    Parameters
    ----------
    decisions
        Decisions of one push/fold game.

    Returns
    -------
    str
        A header with the classes of hands, and a row of probabilities for each decision.

    Examples
    --------
    >>> decisions_to_csv([PushFoldDecision("J", "bb", 1.0, {"AA": 1.0})])
    'line,AA\\nJ,1\\n'
    """
    rows = [",".join(("line", *decisions[0].all_in))]
    rows += [",".join((d.line, *(f"{x:.6g}" for x in d.all_in.values()))) for d in decisions]
    return "\n".join(rows) + "\n"


@dataclass(frozen=True, eq=False)
class PushFoldResult:
    """Equilibrium of a push/fold game with its ε.

    Attributes
    ----------
    spot
        Stacks, blinds, ante and payouts.
    solution
        Strategy, values and gains by best responses.
    target
        ε at which the solve stops, in the unit of the game.
    seed
        Seed of sampled showdowns; None if the deals are exact.

    Examples
    --------
    >>> push_fold([5, 5]).epsilon < 1e-6  # doctest: +SKIP
    True
    """

    spot: PushFold
    solution: PushFoldSolution
    target: float
    seed: int | None

    @property
    def epsilon(self) -> float:
        """Largest gain of a player by deviating."""
        return self.solution.epsilon

    @property
    def reached(self) -> bool:
        """Whether ε is at most the target."""
        return self.epsilon <= self.target

    @property
    def epsilon_is(self) -> str:
        """How ε is known: exactly, or exactly in a model with sampled showdowns."""
        return "exact" if self.seed is None else "exact in the model: showdowns of four are sampled"

    @property
    def decisions(self) -> tuple[PushFoldDecision, ...]:
        """All decisions, in the order of the lines."""
        return _decisions(self.solution.strategy, list(self.solution.game.lines), self.spot)

    def grid(self, line: str) -> HandGrid:
        """Return the grid of one decision.

        Parameters
        ----------
        line
            Actions before the decision: J for all-in, F for a fold.
        """
        return _find(self.decisions, line).grid()

    def to_dict(self) -> dict[str, Any]:
        """Return the equilibrium as a JSON object."""
        spot, solution = self.spot, self.solution
        return {
            "stacks": list(spot.stacks), "blinds": list(spot.blinds), "ante": spot.ante, "payouts": spot.payouts,
            "positions": list(spot.positions), "unit": spot.unit, "method": solution.method,
            "iterations": solution.iterations, "values": solution.values.tolist(), "gains": solution.gains.tolist(),
            "epsilon": self.epsilon, "epsilon_is": self.epsilon_is, "seed": self.seed,
            "decisions": [decision.to_dict() for decision in self.decisions],
        }  # fmt: skip


def push_fold(
    stacks: Sequence[float],
    *,
    blinds: Sequence[float] = (0.5, 1.0),
    ante: Annotated[float, Limits(0)] = 0.0,
    payouts: Sequence[float] | None = None,
    method: str = "cfr",
    iterations: Annotated[int, Limits(1, MAX_STEPS)] = 2000,
    until: Annotated[float, Limits(0)] | None = None,
    line: str | None = None,
    threads: Threads = 1,
    seed: Seed = 0,
    preparing: Callable[[float], None] | None = None,
    progress: Callable[[float], None] | None = None,
) -> PushFoldResult:
    """Solve a push/fold game.

    Parameters
    ----------
    stacks
        Two to nine stacks in the order of action, blinds last.
    blinds
        Small and big blind.
    ante
        Ante of each player.
    payouts
        Prizes; without them chips count as money.
    method
        cfr or fp (fictitious play).
    iterations
        Maximum number of iterations.
    until
        Stop at this ε, in % of the prizes or of the big blind.
        By default 0.0001 for two players, 0.01 for three and 0.1 for more.
    line
        Decision that will be read from the result; it is checked before the solve.
    threads
        Threads.
    seed
        Seed of sampled showdowns (four players all-in).
    preparing
        Callback with the completed fraction of the equity tables, which are computed once.
    progress
        Callback with the completed fraction of the solve.

    Returns
    -------
    PushFoldResult
        Strategy, values and ε.

    Raises
    ------
    InputError
        If a number is out of range, or no decision has this line.

    Examples
    --------
    >>> push_fold([10, 10], line="JJ")
    Traceback (most recent call last):
    riverboat.core.errors.InputError: line 'JJ': no decision there; lines have J or F for each player, such as '', 'J'
    """

    if len(blinds) != 2:
        raise InputError(f"blinds {short_repr(tuple(blinds))}: give the small and the big blind, such as 0.5,1")
    prizes = None if payouts is None else tuple(map(float, payouts))
    spot = PushFold(tuple(map(float, stacks)), (float(blinds[0]), float(blinds[1])), ante, prizes)
    if line is not None and (
        line not in spot.lines or (spot.players > MAX_EXACT_PLAYERS and line.count("J") >= MAX_ALL_IN)
    ):
        examples = ", ".join(short_repr(history) for history in spot.lines[:6])
        raise InputError(
            f"line {short_repr(line)}: no decision there; lines have J or F for each player, such as {examples}"
        )
    if until is None:
        until = DEFAULT_EPSILONS.get(spot.players, MANY_PLAYER_EPSILON)
    if not until >= 0:
        raise InputError(f"until {until}: give % of the prizes or of the big blind, such as 0.1")
    target = until * (sum(prizes) / 100 if prizes is not None else spot.blinds[1] / 100)
    _load_equities(spot.players, threads, preparing)
    game = make_push_fold_game(spot, seed, threads)

    def report(iteration: int, epsilon: float) -> None:
        if progress is not None:
            progress(min(1.0, target / max(epsilon, 1e-300)))

    solution = solve(game, method, iterations, target, report)
    return PushFoldResult(spot, solution, target, seed if isinstance(game, ManyPlayerPushFold) else None)


def _load_equities(players: int, threads: int, progress: Callable[[float], None] | None) -> None:

    (hand_tables.load_two_way if players == 2 else hand_tables.load_three_way)(threads, progress)


# --- Tournaments ---


@dataclass(frozen=True, eq=False)
class TournamentState:
    """Decisions and values of one state of a tournament.

    Attributes
    ----------
    stacks
        Units of button, small and big blind, or of the two players left.
    positions
        Names of the positions.
    values
        Expected prize of each player. float64 [players]
    icm_values
        The same in the independent chip model. float64 [players]
    decisions
        All decisions of the state.

    Examples
    --------
    >>> TournamentState((1, 2), ("sb", "bb"), None, None, ()).stacks
    (1, 2)
    """

    stacks: tuple[int, ...]
    positions: tuple[str, ...]
    values: Array
    icm_values: Array
    decisions: tuple[PushFoldDecision, ...]

    def grid(self, line: str) -> HandGrid:
        """Return the grid of one decision.

        Parameters
        ----------
        line
            Actions before the decision: J for all-in, F for a fold.
        """
        return _find(self.decisions, line).grid()

    def to_dict(self) -> dict[str, Any]:
        """Return the state as a JSON object."""
        return {
            "stacks": list(self.stacks), "positions": list(self.positions), "values": self.values.tolist(),
            "chip_model": self.icm_values.tolist(), "decisions": [decision.to_dict() for decision in self.decisions],
        }  # fmt: skip


@dataclass(frozen=True, eq=False)
class TournamentResult:
    """Equilibrium of a push/fold tournament with its ε.

    Attributes
    ----------
    solved
        Strategies, values and gains of all states.
    state
        The requested state; None if none was requested.

    Examples
    --------
    >>> from riverboat.tournaments.tournament import Tournament
    >>> len(Tournament.small().states)
    105
    """

    solved: run.SolvedTournament
    state: TournamentState | None = None

    @property
    def icm_errors(self) -> tuple[float, float]:
        """Mean and largest error of ICM values in states with all players."""

        tournament = self.solved.tournament
        first = sum(len(s) for s in tournament.states if len(s) < tournament.players)
        errors = np.abs(self.solved.values - tournament.icm_values)[first:]
        return float(errors.mean()), float(errors.max())

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object."""
        solved, tournament, errors = self.solved, self.solved.tournament, self.icm_errors
        facts: dict[str, Any] = {
            "tournament": tournament.to_dict(), "states": len(tournament.states), "method": solved.method,
            "steps": solved.steps, "seconds": solved.seconds, "unit": "of the payouts", "fee": tournament.fee,
            "epsilon": solved.epsilon, "epsilon_percent_of_fee": solved.epsilon_percent,
            "epsilon_is": "exact: best responses of one player as Markov decision problems",
            "chip_model_error_mean": errors[0], "chip_model_error_most": errors[1],
        }  # fmt: skip
        return facts | ({} if self.state is None else {"state": self.state.to_dict()})


def load_tournament(
    folder: str | Path, *, state: Sequence[float] | None = None, line: str | None = None
) -> TournamentResult:
    """Load a solved tournament.

    Parameters
    ----------
    folder
        Folder of the run.
    state
        Stacks of a state to read, in units: button, small and big blind.
    line
        Decision that will be read from the state; by default of equal stacks.

    Returns
    -------
    TournamentResult
        Strategies, values and ε.

    Raises
    ------
    InputError
        If the folder holds no tournament, or has no such state or decision.

    Examples
    --------
    >>> load_tournament("no-such-folder")
    Traceback (most recent call last):
    riverboat.core.errors.InputError: ...
    """

    solved = run.load_tournament(Path(folder))
    return _with_state(solved, find_state(solved.tournament, state, line))


def _with_state(solved: run.SolvedTournament, state: tuple[int, ...] | None) -> TournamentResult:
    if state is None:
        return TournamentResult(solved)
    tournament, spot = solved.tournament, solved.tournament.spot(state)
    seats = slice(first := tournament.seat_index(state, 0), first + len(state))
    decisions = _decisions(solved.strategy(state), spot.lines, spot)
    values = solved.values[seats], tournament.icm_values[seats]
    return TournamentResult(solved, TournamentState(state, spot.positions, *values, decisions))


def find_state(
    tournament: Tournament, stacks: Sequence[float] | None = None, line: str | None = None
) -> tuple[int, ...] | None:
    """Check that a tournament has a state and a decision.

    Parameters
    ----------
    tournament
        The tournament.
    stacks
        Stacks of the state in units; equal stacks if only a line is given.
    line
        Actions before the decision.

    Returns
    -------
    tuple of int or None
        The state; None if neither stacks nor a line are given.

    Raises
    ------
    InputError
        If there is no such state or decision.

    Examples
    --------
    >>> from riverboat.tournaments.tournament import Tournament
    >>> find_state(Tournament.small(), line="J")
    (5, 5, 5)
    """
    if stacks is None:
        if line is None:
            return None
        if tournament.units % tournament.players:
            raise InputError("line: name the state too, such as 5,5,5")
        state = (tournament.units // tournament.players,) * tournament.players
    else:
        state = tuple(round(x) for x in stacks)
        if state not in tournament.state_index or any(x != round(x) for x in stacks):
            units = f"{tournament.units} units of {tournament.unit:g} chips"
            raise InputError(
                f"state {short_repr(','.join(f'{x:g}' for x in stacks))}: give 2 to {tournament.players} whole numbers "
                f"that add up to {units}"
            )
    lines = tournament.spot(state).lines
    if line is not None and line not in lines:
        examples = ", ".join(map(short_repr, lines))
        raise InputError(f"line {short_repr(line)}: no decision there; lines of {len(state)} players are {examples}")
    return state


def solve_tournament(
    source: str | Path | None = None,
    *,
    small: bool = False,
    method: str | None = None,
    iterations: Annotated[int, Limits(1, MAX_STEPS)] = 100,
    until: Annotated[float, Limits(0)] = 0.5,
    time: Duration | None = None,
    threads: Threads = 2,
    cluster: str | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    state: Sequence[float] | None = None,
    line: str | None = None,
    preparing: Callable[[float], None] | None = None,
    progress: Callable[[int, float, float | None], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> TournamentResult:
    """Solve a push/fold tournament as a stochastic game.

    Parameters
    ----------
    source
        A .toml file; by default the paper's tournament.
    small
        The paper's tournament on a coarser grid, 91 states.
    method
        vi-fp, pi-fp (default) or fp-mdp.
    iterations
        Maximum number of outer steps.
    until
        Stop at this ε, in % of the entry fee.
    time
        Stop after the first step that ends later than this: 30m, or seconds.
    threads
        Threads, or workers of the cluster.
    cluster
        Solve states on Ray: local, auto or an address.
    out
        Folder of the run, written after every step.
    resume
        Continue the run in that folder.
    state
        Stacks of a state to read, in units: button, small and big blind.
    line
        Decision that will be read from the state; it is checked before the solve.
    preparing
        Callback with the completed fraction of the equity tables, which are computed once.
    progress
        Callback with the step, its completed fraction, and ε after the previous step in % of the fee.
    stop
        Function that returns whether to stop after the current step.

    Returns
    -------
    TournamentResult
        Strategies, values and ε.

    Raises
    ------
    InputError
        If an option is invalid, or the folder holds another run.

    Notes
    -----
    Fictitious play combined with value or policy iteration [1]_.

    References
    ----------
    .. [1] Ganzfried and Sandholm, "Computing equilibria in multiplayer stochastic games of imperfect information",
       IJCAI 2009.

    Examples
    --------
    >>> solve_tournament(method="fp")
    Traceback (most recent call last):
    riverboat.core.errors.InputError: ...
    """

    if resume and out is None:
        raise InputError("resume: name the folder of the run with out=…")
    tournament, seconds, chosen = _check_tournament(source, small, method, until, time, state, line)

    def report(now: run.TournamentProgress) -> None:
        if progress is not None:
            progress(now.step, now.share, None if now.epsilon is None else 100 * now.epsilon / tournament.fee)

    _load_equities(tournament.players, threads, preparing)
    with (
        folder_lock(out),
        nullcontext() if cluster is None else RayStageWorkers(tournament, cluster, threads) as workers,
    ):
        solved = run.solve_tournament(
            tournament,
            method or METHODS[1],
            steps=iterations,
            until=until,
            seconds=seconds,
            threads=threads,
            workers=workers,
            folder=None if out is None else Path(out),
            resume=resume,
            progress=report,
            stop=stop,
        )
    return _with_state(solved, chosen)


def _check_tournament(
    source: str | Path | None,
    small: bool,
    method: str | None,
    until: float,
    time: Duration | None,
    state: Sequence[float] | None,
    line: str | None,
) -> tuple[Tournament, float | None, tuple[int, ...] | None]:
    """Check options of `solve_tournament`; return the tournament, its time limit in seconds, and the state to show."""
    if method is not None and method not in METHODS:
        raise unknown_name_error("method", method, METHODS)
    if not until >= 0:
        raise InputError(f"until {until}: give % of the fee, such as 0.5")
    seconds = None if time is None else parse_seconds(time)
    if source is not None and small:
        raise InputError(f"small and {source}: give only one of them")
    tournament = Tournament.small() if small else Tournament() if source is None else Tournament.load(Path(source))
    return tournament, seconds, find_state(tournament, state, line)


def estimate_tournament(
    source: str | Path | None = None,
    *,
    small: bool = False,
    threads: Threads = 2,
    method: str | None = None,
    until: float = 0.5,
    time: Duration | None = None,
    state: Sequence[float] | None = None,
    line: str | None = None,
) -> dict[str, Any]:
    """Estimate the size of a tournament and the time to solve it.

    Parameters
    ----------
    source
        A .toml file; by default the paper's tournament.
    small
        The paper's tournament on a coarser grid, 91 states.
    threads
        Threads of the solve.
    method, until, time, state, line
        Options of `solve_tournament`, which are only checked.

    Returns
    -------
    dict
        Number of states with two and three players, bytes on disk and in memory, and seconds, as a JSON object.

    Examples
    --------
    >>> estimate_tournament(small=True)["states_of_three"]
    91
    """
    tournament, _, _ = _check_tournament(source, small, method, until, time, state, line)
    two, three = (sum(len(state) == n for state in tournament.states) for n in (2, 3))
    size = two * 2 * 169 * 8 + three * 6 * 169 * 8
    working = two * 2 * 5 * 169 * 8 + three * 3 * 25 * 169 * 8
    return {
        "states_of_two": two, "states_of_three": three, "places": sum(map(len, tournament.states)),
        "bytes_on_disk": size, "bytes_in_memory": size + working + 150_000_000,
        "seconds": TYPICAL_STEPS * SECONDS_PER_STATE * three / threads, "seconds_are": "a guess, from another machine",
    }  # fmt: skip
