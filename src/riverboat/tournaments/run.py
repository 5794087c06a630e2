"""A tournament on its way to equilibrium, in memory and in a folder; and what is left: strategies of all states, and ε.

solved = solve(Tournament.small(), "pi-fp", threads=2)
solved.epsilon, solved.values[solved.tournament.place((5, 5, 5), 0)]
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from riverboat.core import artifacts
from riverboat.core.arrays import Array
from riverboat.core.cache import kept
from riverboat.core.errors import InputError
from riverboat.core.schema import Fields
from riverboat.strategies import files
from riverboat.tournaments.fictitious_play import play_hand
from riverboat.tournaments.iteration import ITERATIONS, METHODS, Iteration, Workers
from riverboat.tournaments.stage import Stage
from riverboat.tournaments.tournament import Tournament

KIND, STRATEGY = "tournament", "strategy"
STEPS = 100
UNTIL = 0.5  # % of the fee, as in the paper
_VERSION = 1  # of what is kept
_STAGES = 25  # times smaller than ε is what may be left in a stage: gains of many hands add up


@dataclass(frozen=True, eq=False)
class Progress:
    """How far a run is."""

    step: int
    share: float  # of the step
    epsilon: float | None  # after the step before


@dataclass(frozen=True, eq=False)
class SolvedTournament:
    """Strategies of all states, what places are worth, and what any player gains at most by leaving them."""

    tournament: Tournament
    method: str
    steps: int
    strategies: list[Array]  # float64 [lines, classes] for each state: the probability to go all-in
    values: Array  # float64 [places]
    gains: Array  # float64 [places]: exact
    seconds: float

    @property
    def epsilon(self) -> float:
        """The largest gain of any player in any state, in the money of the payouts."""
        return float(self.gains.max())

    @property
    def percent_of_fee(self) -> float:
        """ε in % of the entry fee."""
        return 100 * self.epsilon / self.tournament.fee

    def strategy(self, state: tuple[int, ...]) -> Array:
        """Of one state. float64 [lines, classes]"""
        self.tournament.place(state, 0)
        return self.strategies[self.tournament.number[state]]

    def pay(self, state: tuple[int, ...]) -> Array:
        """What each outcome of a hand is worth to each seat: prizes, and the values of places where it goes on.
        float64 [seats, outcomes]"""
        asked = self.tournament
        stacks = Stage(asked.spot(state)).stacks().tolist()
        out = np.zeros((len(state), len(stacks)))
        for outcome, chips in enumerate(stacks):
            for chance, results in asked.after(state, tuple(chips)):
                for seat, result in enumerate(results):
                    worth = result if isinstance(result, float) else self.values[asked.place(*result)]
                    out[seat, outcome] += chance * worth
        return out

    def save(self, folder: Path) -> Path:
        """Write the strategies into the folder of a run."""
        arrays = {f"strategies_{n}": some for n, some in _by_players(self.strategies).items()}
        facts = {"method": self.method, "steps": self.steps, "seconds": self.seconds, **self.tournament.to_dict()}
        return artifacts.write(folder / STRATEGY, KIND, {**arrays, "values": self.values, "gains": self.gains}, facts)


def load(folder: Path) -> SolvedTournament:
    """What a run has left."""
    entries, arrays = artifacts.read(files.newest(folder))
    if entries["kind"] != KIND:
        raise InputError(f"{folder}: holds a {entries['kind']}, and a tournament is needed")
    tournament = _described(entries)
    places = sum(map(len, tournament.states))
    values, gains = (arrays.take(name, (np.float64,), (places,)) for name in ("values", "gains"))
    strategies: list[Array] = []
    for players in range(2, tournament.players + 1):
        count = sum(len(state) == players for state in tournament.states)
        lines = 2 if players == 2 else 6
        shape = (count, lines, 169)
        strategies += list(np.array(arrays.take(f"strategies_{players}", (np.float64,), shape, 0.0, 1.0)))
    return SolvedTournament(
        tournament,
        entries.text("method", METHODS),
        entries.whole("steps"),
        strategies,
        np.array(values),
        np.array(gains),
        entries.number("seconds", 0.0),
    )


def kept_solution(tournament: Tournament, method: str = "pi-fp", threads: int = 1) -> SolvedTournament:
    """A tournament solved to the fifth part of the paper's ε, once: then it is in the cache folder."""
    words = ",".join(f"{key}={value}" for key, value in sorted(tournament.to_dict().items()))
    name = f"tournament/{method}-{sha256(words.encode()).hexdigest()[:16]}-{_VERSION}"

    def make() -> dict[str, Array]:
        solved = solve(tournament, method, until=UNTIL / 5, threads=threads)
        numbers = np.array([solved.steps, solved.seconds])
        some = {f"strategies_{n}": strategies for n, strategies in _by_players(solved.strategies).items()}
        return {**some, "values": solved.values, "gains": solved.gains, "numbers": numbers}

    arrays = kept(name, make)
    strategies = [row for n in range(2, tournament.players + 1) for row in arrays[f"strategies_{n}"]]
    steps, seconds = arrays["numbers"]
    return SolvedTournament(
        tournament, method, int(steps), strategies, arrays["values"], arrays["gains"], float(seconds)
    )


def _described(entries: Fields) -> Tournament:
    names = Tournament().to_dict()
    return Tournament.from_dict({name: entries[name] for name in names})


def _by_players(strategies: list[Array]) -> dict[int, Array]:
    """Of states with equally many players. float64 [states, lines, classes]"""
    groups: dict[int, list[Array]] = {}
    for strategy in strategies:
        groups.setdefault(2 if len(strategy) == 2 else 3, []).append(strategy)
    return {players: np.array(some) for players, some in groups.items()}


def solve(
    tournament: Tournament,
    method: str = "pi-fp",
    *,
    steps: int = STEPS,
    until: float = UNTIL,
    seconds: float | None = None,
    iterations: int = ITERATIONS,
    threads: int = 1,
    workers: Workers | None = None,
    folder: Path | None = None,
    resume: bool = False,
    progress: Callable[[Progress], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> SolvedTournament:
    """Step until nobody gains more than `until` % of the fee, or so many steps or seconds have passed, or `stop` says so.

    A folder is written after every step, and with `resume` gone on from.
    """
    if not until >= 0:
        raise InputError(f"until={until}: must not be negative, in % of the fee")
    goal = until / 100 * tournament.fee
    before = None
    if folder is not None and (folder / STRATEGY).exists():
        if not resume:
            raise InputError(f"{folder}: a run is there already; --resume goes on with it, or choose another folder")
        before = load(folder)
        if before.tournament != tournament or before.method != method:
            raise InputError(f"{folder}: holds another tournament or method ({before.method}); choose another folder")
    run = Iteration(
        tournament.game,
        method,
        tournament.chip_model if before is None else before.values,
        None if before is None else before.strategies,
        learner=play_hand,
        iterations=iterations,
        until=goal / _STAGES,
        threads=threads,
        workers=workers,
    )
    spent, begun, epsilon = 0.0, time.monotonic(), None
    if before is not None:
        run.steps, spent, epsilon = before.steps, before.seconds, before.epsilon
        if epsilon <= goal:
            return before
    while True:
        number = run.steps + 1

        def done(share: float, number: int = number, epsilon: float | None = epsilon) -> None:
            if progress is not None:
                progress(Progress(number, share, epsilon))

        run.step(done)
        check = run.check()
        epsilon, passed = check.epsilon, time.monotonic() - begun
        solved = SolvedTournament(
            tournament, method, run.steps, list(run.strategies), check.values, check.gains, spent + passed
        )
        if folder is not None:
            solved.save(folder)
        late = seconds is not None and passed >= seconds
        if epsilon <= goal or run.steps >= steps or late or (stop is not None and stop()):
            return solved
