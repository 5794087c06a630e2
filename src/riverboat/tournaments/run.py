"""Runs that solve a tournament, in memory and in a folder, and their result: strategies of all states, and ε.

solved = solve_tournament(Tournament.small(), "pi-fp", threads=2)
solved.epsilon, solved.values[solved.tournament.seat_index((5, 5, 5), 0)]
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from pathlib import Path

import numpy as np

from riverboat.core import artifacts
from riverboat.core.arrays import Array
from riverboat.core.cache import cached_arrays
from riverboat.core.errors import InputError
from riverboat.strategies import files
from riverboat.tournaments.fictitious_play import solve_hand
from riverboat.tournaments.stage_game import PushFoldStage
from riverboat.tournaments.stochastic_games import METHODS, STAGE_ITERATIONS, EquilibriumIteration, StageWorkers
from riverboat.tournaments.tournament import Tournament

ARTIFACT_KIND, STRATEGY_FOLDER = "tournament", "strategy"
MAX_STEPS = 100
TARGET_EPSILON = 0.5  # % of the entry fee, as in Ganzfried & Sandholm 2008
_CACHE_VERSION = 1
_STAGE_TOLERANCE_DIVISOR = 25  # a stage must be this much closer to equilibrium than ε: gains of many hands add up


@dataclass(frozen=True, eq=False)
class TournamentProgress:
    """Progress of a run.

    Attributes
    ----------
    step
        Number of the current step.
    share
        Share of the step that is done.
    epsilon
        ε after the previous step, in the money of the payouts; None in the first step.

    Examples
    --------
    >>> TournamentProgress(step=1, share=0.5, epsilon=None).share
    0.5
    """

    step: int
    share: float  # share of the step that is done
    epsilon: float | None  # ε after the previous step


@dataclass(frozen=True, eq=False)
class SolvedTournament:
    """Strategies of all states, their values, and the largest gain of any player by deviating.

    Attributes
    ----------
    tournament
        The tournament.
    method
        `vi-fp`, `pi-fp` or `fp-mdp`.
    steps
        Outer steps.
    strategies
        Probability of going all-in, float64 [lines, classes] for each state.
    values
        Value of each state-seat pair, float64 [pairs], in the money of the payouts.
    gains
        Exact best-response value less value, float64 [pairs].
    seconds
        Time that was used.

    Examples
    --------
    >>> duel = Tournament(players=2, chips=6000, unit=600, payouts=(100.0, 0.0))
    >>> solved = solve_tournament(duel, until=2.0)
    >>> solved.epsilon_percent <= 2.0, solved.strategy((5, 5)).shape
    (True, (2, 169))
    """

    tournament: Tournament
    method: str
    steps: int
    strategies: list[Array]  # float64 [lines, classes] for each state: probability of going all-in
    values: Array  # float64 [state-seat pairs]
    gains: Array  # float64 [state-seat pairs]: exact
    seconds: float

    @property
    def epsilon(self) -> float:
        """The largest gain of any player in any state, in the money of the payouts."""
        return float(self.gains.max())

    @property
    def epsilon_percent(self) -> float:
        """ε in % of the entry fee."""
        return 100 * self.epsilon / self.tournament.fee

    def strategy(self, state: tuple[int, ...]) -> Array:
        """Return the strategy of one state. float64 [lines, classes]

        Parameters
        ----------
        state
            Stacks in units, in the order of action.

        Raises
        ------
        InputError
            If there is no such state.
        """
        self.tournament.seat_index(state, 0)
        return self.strategies[self.tournament.state_index[state]]

    def outcome_payoffs(self, state: tuple[int, ...]) -> Array:
        """Return the payoff of each outcome of a hand to each seat: a prize, or the value of the next state.

        float64 [seats, outcomes]

        Parameters
        ----------
        state
            Stacks in units, in the order of action.
        """
        tournament = self.tournament
        stacks = PushFoldStage(tournament.spot(state)).stacks().tolist()
        out = np.zeros((len(state), len(stacks)))
        for outcome, chips in enumerate(stacks):
            for probability, results in tournament.successors(state, tuple(chips)):
                for seat, result in enumerate(results):
                    value = result if isinstance(result, float) else self.values[tournament.seat_index(*result)]
                    out[seat, outcome] += probability * value
        return out

    def save(self, folder: Path) -> Path:
        """Write the strategies to the folder of a run.

        Parameters
        ----------
        folder
            Folder of the run.
        """
        entries = {"method": self.method, "steps": self.steps, "seconds": self.seconds, **self.tournament.to_dict()}
        return artifacts.write(folder / STRATEGY_FOLDER, ARTIFACT_KIND, self._arrays(), entries)

    def _arrays(self) -> dict[str, Array]:
        """Return the arrays of the artifact: `strategies_2` and `strategies_3` by number of players, values and gains.

        Strategies are float64 [states, lines, classes].
        """
        strategies = {
            f"strategies_{players}": np.array(list(group))
            for players, group in groupby(self.strategies, lambda strategy: 2 if len(strategy) == 2 else 3)
        }
        return {**strategies, "values": self.values, "gains": self.gains}


def load_tournament(folder: Path) -> SolvedTournament:
    """Load the result of a run.

    Parameters
    ----------
    folder
        Folder of the run.

    Returns
    -------
    SolvedTournament
        The result.

    Raises
    ------
    InputError
        If the folder holds something else.

    Examples
    --------
    >>> import tempfile
    >>> duel = Tournament(players=2, chips=6000, unit=600, payouts=(100.0, 0.0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = solve_tournament(duel, until=5.0, folder=Path(folder))
    ...     load_tournament(Path(folder)).method
    'pi-fp'
    """
    entries, arrays = artifacts.read(files.latest_artifact(folder))
    if entries["kind"] != ARTIFACT_KIND:
        raise InputError(f"{folder}: the artifact is a {entries['kind']}; a tournament is needed")
    tournament = Tournament.from_dict({name: entries[name] for name in Tournament().to_dict()})
    num_pairs = sum(map(len, tournament.states))
    values, gains = (arrays.get_checked(name, (np.float64,), (num_pairs,)) for name in ("values", "gains"))
    strategies: list[Array] = []
    for players in range(2, tournament.players + 1):
        shape = (sum(len(state) == players for state in tournament.states), 2 if players == 2 else 6, 169)
        strategies += list(np.array(arrays.get_checked(f"strategies_{players}", (np.float64,), shape, 0.0, 1.0)))
    method, steps, seconds = entries.text("method", METHODS), entries.integer("steps"), entries.number("seconds", 0.0)
    return SolvedTournament(tournament, method, steps, strategies, np.array(values), np.array(gains), seconds)


def cached_solution(tournament: Tournament, method: str = "pi-fp", threads: int = 1) -> SolvedTournament:
    """Return a tournament solved to a fifth of the paper's ε, from the cache folder; solve it the first time.

    Parameters
    ----------
    tournament
        The tournament.
    method
        `vi-fp`, `pi-fp` or `fp-mdp`.
    threads
        Threads of the first computation.

    Returns
    -------
    SolvedTournament
        The result.

    Examples
    --------
    >>> duel = Tournament(players=2, chips=3000, unit=600, payouts=(100.0, 0.0))
    >>> cached_solution(duel).epsilon_percent <= TARGET_EPSILON / 5
    True
    """
    recipe = ",".join(f"{key}={value}" for key, value in sorted(tournament.to_dict().items()))
    name = f"tournament/{method}-{sha256(recipe.encode()).hexdigest()[:16]}-{_CACHE_VERSION}"

    def make() -> dict[str, Array]:
        solved = solve_tournament(tournament, method, until=TARGET_EPSILON / 5, threads=threads)
        return {**solved._arrays(), "numbers": np.array([solved.steps, solved.seconds])}

    arrays = cached_arrays(name, make)
    strategies = [row for n in range(2, tournament.players + 1) for row in arrays[f"strategies_{n}"]]
    steps, seconds = arrays["numbers"]
    values, gains = arrays["values"], arrays["gains"]
    return SolvedTournament(tournament, method, int(steps), strategies, values, gains, float(seconds))


def solve_tournament(
    tournament: Tournament,
    method: str = "pi-fp",
    *,
    steps: int = MAX_STEPS,
    until: float = TARGET_EPSILON,
    seconds: float | None = None,
    iterations: int = STAGE_ITERATIONS,
    threads: int = 1,
    workers: StageWorkers | None = None,
    folder: Path | None = None,
    resume: bool = False,
    progress: Callable[[TournamentProgress], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> SolvedTournament:
    """Solve a tournament until no player gains more than `until` % of the fee.

    Parameters
    ----------
    tournament
        The tournament.
    method
        `vi-fp`, `pi-fp` or `fp-mdp`.
    steps
        Largest number of outer steps.
    until
        Target ε in % of the entry fee; the default is that of the paper.
    seconds
        Time limit, checked after every step.
    iterations
        Iterations of fictitious play in a state, at each step.
    threads
        Threads that solve states.
    workers
        Workers of a cluster instead of threads.
    folder
        Folder that the run writes after every step.
    resume
        Whether to continue the run in `folder`.
    progress
        Function of the progress.
    stop
        Function that returns whether to stop after the current step.

    Returns
    -------
    SolvedTournament
        Strategies, values and exact gains.

    Raises
    ------
    InputError
        If `until` is negative, or the folder holds a run and `resume` is false or the run is of another tournament.

    Notes
    -----
    PI-FP solves each state by fictitious play and evaluates the strategies exactly in between [1]_.

    References
    ----------
    .. [1] Ganzfried and Sandholm, "Computing equilibria in multiplayer stochastic games of imperfect information",
       IJCAI 2009.

    Examples
    --------
    >>> duel = Tournament(players=2, chips=6000, unit=600, payouts=(100.0, 0.0))
    >>> solved = solve_tournament(duel, until=2.0)
    >>> round(float(solved.values[duel.seat_index((5, 5), 0)]))
    50
    """
    if not until >= 0:
        raise InputError(f"until={until}: must not be negative, in % of the fee")
    target = until / 100 * tournament.fee
    previous = None
    if folder is not None and (folder / STRATEGY_FOLDER).exists():
        if not resume:
            raise InputError(
                f"{folder}: the folder holds a run already; continue it with --resume, or choose another folder"
            )
        previous = load_tournament(folder)
        if previous.tournament != tournament or previous.method != method:
            raise InputError(
                f"{folder}: the folder holds another tournament or method ({previous.method}); choose another folder"
            )
    run = EquilibriumIteration(
        tournament.game,
        method,
        tournament.icm_values if previous is None else previous.values,
        None if previous is None else previous.strategies,
        stage_solver=solve_hand,
        iterations=iterations,
        until=target / _STAGE_TOLERANCE_DIVISOR,
        threads=threads,
        workers=workers,
    )
    earlier_seconds, start_time, epsilon = 0.0, time.monotonic(), None
    if previous is not None:
        run.steps, earlier_seconds, epsilon = previous.steps, previous.seconds, previous.epsilon
        if epsilon <= target:
            return previous
    while True:
        number = run.steps + 1

        def report(share: float, number: int = number, epsilon: float | None = epsilon) -> None:
            if progress is not None:
                progress(TournamentProgress(number, share, epsilon))

        run.step(report)
        check = run.check()
        epsilon, elapsed = check.epsilon, time.monotonic() - start_time
        solved = SolvedTournament(
            tournament, method, run.steps, list(run.strategies), check.values, check.gains, earlier_seconds + elapsed
        )
        if folder is not None:
            solved.save(folder)
        out_of_time = seconds is not None and elapsed >= seconds
        if epsilon <= target or run.steps >= steps or out_of_time or (stop is not None and stop()):
            return solved
