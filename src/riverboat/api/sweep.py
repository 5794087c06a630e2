"""`rb.sweep`: many solves, games × schedules × seeds, with one table and one plot of the results.

    swept = sweep(["kuhn", "leduc"], ["dcfr", "cfr+"], iterations=500, workers=4)
    swept.table()                    # a row for each game and schedule: means over seeds
    swept.to_frame()                 # a row for each solve, for pandas
    swept.plot("sweep.png")          # exploitability by iterations, one panel for each game

Solves run serially, in processes on this machine, or on a Ray cluster; results do not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean, stdev
from typing import Annotated, Any, Literal, TypeAlias

from riverboat.api.options import Count, Duration, Flag, Limits, checked, parse_seconds
from riverboat.api.solve import solve
from riverboat.core import validation
from riverboat.core.errors import InputError, short_repr
from riverboat.core.tables import COUNT, ReportColumn, ReportTable, to_dataframe
from riverboat.games import registry
from riverboat.games.base import Game
from riverboat.plots.figures import save_figure
from riverboat.solvers.cluster.backends import connect_ray
from riverboat.solvers.result import LAST
from riverboat.solvers.schedules import ScheduleOrFactory
from riverboat.solvers.schedules import parse as parse_schedule
from riverboat.solvers.solver_run import SolveLimits, effective_answer
from riverboat.solvers.traversals import parse_traversal

MAX_SEEDS = 1_000_000
MAX_WORKERS = 1024
_COLUMN_NAMES = (
    "game", "schedule", "seed", "iterations", "seconds", "exploitability", "nash_conv", "unit", "answer", "answer_iteration"
)  # fmt: skip


@dataclass(frozen=True)
class SweepTrial:
    """One solve of a sweep. Exploitability is exact, in `unit`, of the strategy of `answer_iteration`.

    Attributes
    ----------
    game
        Name of the game.
    schedule
        Name of the schedule.
    seed
        Seed of sampled traversals.
    iterations
        Iterations of the solve.
    seconds
        Seconds of the solve.
    exploitability
        Mean gain of best responses.
    nash_conv
        Sum of the gains of best responses.
    values
        Expected value of each player.
    unit
        Unit of the values.
    reached
        Whether the target was met, if there was one.
    history
        Evaluations: iterations, seconds and exploitability.
    answer
        Which strategy was measured: the last, or the best evaluated one.
    answer_iteration
        Iteration of that strategy.

    Examples
    --------
    >>> sweep("kuhn", "dcfr", iterations=10).trials[0].iterations
    10
    """

    game: str
    schedule: str
    seed: int
    iterations: int
    seconds: float
    exploitability: float
    nash_conv: float
    values: tuple[float, ...]  # expected value of each player
    unit: str
    reached: bool  # whether the target was met, if there was one
    history: tuple[tuple[int, float, float], ...]  # of each evaluation: iterations, seconds, exploitability
    answer: str = LAST  # which strategy was measured: the last, or the best evaluated one
    answer_iteration: int | None = None


_Job: TypeAlias = dict[str, Any]  # options of `solve`
SweepProgress: TypeAlias = Callable[[SweepTrial, int, int], None]  # a completed solve, their number and the total


@dataclass(frozen=True)
class SweepResult:
    """All solves, in the order of games, schedules and seeds.

    Attributes
    ----------
    trials
        The solves.

    Examples
    --------
    >>> result = sweep(["kuhn"], ["dcfr", "cfr+"], iterations=10)
    >>> len(result.table())
    2
    """

    trials: tuple[SweepTrial, ...]

    def groups(self) -> dict[tuple[str, str], list[SweepTrial]]:
        """Group the solves that differ only in the seed, by game and schedule."""
        trials: dict[tuple[str, str], list[SweepTrial]] = {}
        for trial in self.trials:
            trials.setdefault((trial.game, trial.schedule), []).append(trial)
        return trials

    def table(self) -> ReportTable:
        """Return a table of exploitability by game and schedule: means over seeds, with the standard deviation."""
        columns = (
            ReportColumn("game"), ReportColumn("schedule"), ReportColumn("seeds", COUNT, rank=1),
            ReportColumn("iterations", COUNT), ReportColumn("seconds", COUNT, rank=2), ReportColumn("exploitability", COUNT),
            ReportColumn("deviation", COUNT, "±"), ReportColumn("unit"),
        )  # fmt: skip
        rows = []
        for (game, schedule), group in self.groups().items():
            errors = [trial.exploitability for trial in group]
            deviation = stdev(errors) if len(errors) > 1 else None
            means = fmean(t.iterations for t in group), fmean(t.seconds for t in group), fmean(errors)
            rows.append((game, schedule, len(group), *means, deviation, group[0].unit))
        return ReportTable("", columns, tuple(rows))

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each solve."""
        names = (*_COLUMN_NAMES, "reached")
        return to_dataframe({name: [getattr(trial, name) for trial in self.trials] for name in names})

    def to_csv(self) -> str:
        """Return comma-separated values with a row for each solve."""
        rows = tuple(tuple(getattr(trial, name) for name in _COLUMN_NAMES) for trial in self.trials)
        return ReportTable("", tuple(ReportColumn(name) for name in _COLUMN_NAMES), rows).to_csv()

    def to_dict(self) -> dict[str, Any]:
        """Return the table and all solves as a JSON object."""
        trials = [vars(trial) for trial in self.trials]
        return {"rows": list(self.table()), "trials": trials, "exploitability_is": "exact"}

    def plot(self, path: str | Path) -> Path:
        """Plot exploitability by iterations: a panel for each game, a line for each schedule.

        Lines are medians over seeds. With several seeds, a band shows their range.

        Parameters
        ----------
        path
            Image file: .png, .svg or .pdf.
        """
        return save_figure(self.figure(), path)

    def figure(self) -> Any:
        """Return the plot as a matplotlib figure."""
        from riverboat.plots.results import plot_sweep  # loads matplotlib

        return plot_sweep(self)

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def _as_list(name: str, value: Any, attribute: str = "") -> list[Any]:
    """Return one value or several as a list; an object that has `attribute` is one value, even if it is iterable."""
    is_single = isinstance(value, str) or (attribute != "" and hasattr(value, attribute))
    if not is_single and not isinstance(value, Iterable):
        raise InputError(f"{name}={short_repr(value)}: must be one value, or a list of values")
    values = [value] if is_single else list(value)
    for item in values:
        if isinstance(item, str):
            validation.check_text(name, item)
    return values


@checked
def sweep(
    games: str | Game | Iterable[str | Game],
    schedules: Annotated[str | ScheduleOrFactory | Iterable[str | ScheduleOrFactory], Flag("--schedule")] = ("dcfr",),
    seeds: Annotated[int, Limits(1, MAX_SEEDS)] | Iterable[int] = 1,
    *,
    traversal: str = "full",
    iterations: Count | None = None,
    time: Duration | None = None,
    until: float | None = None,
    workers: Annotated[int, Limits(1, MAX_WORKERS)] = 1,
    cluster: str | None = None,
    answer: Literal["last", "best"] = "last",
    progress: SweepProgress | None = None,
) -> SweepResult:
    """Solve every game with every schedule and seed.

    Parameters
    ----------
    games
        Names of games, or games.
    schedules
        A CFR schedule; repeat for several. Or a list of names or schedules.
    seeds
        Number of seeds, from 0; one if nothing is sampled. Or the seeds.
    traversal
        full, chance, external, outcome, pcs, opcs or spcs.
    iterations
        Iterations of each solve.
    time
        Time of each solve: 90s, 5m, 8h.
    until
        Exploitability at which a solve stops.
    workers
        Processes, or CPUs of the cluster.
    cluster
        Ray: local, auto or an address.
    answer
        Strategy to measure: last, or best check. The last one compares schedules, and not the luck of evaluations.
    progress
        Callback with each completed solve, the number of completed solves and the total.

    Returns
    -------
    SweepResult
        All solves.

    Raises
    ------
    InputError
        If a game, schedule or limit is invalid, or several seeds are given for a full traversal.

    Examples
    --------
    >>> sweep("kuhn", ["dcfr", "cfr+"], iterations=10).trials[1].schedule
    'cfr+'
    """
    game_list: list[str | Game] = _as_list("games", games, "unit")
    schedule_list: list[str | ScheduleOrFactory] = _as_list("schedules", schedules, "step")
    if isinstance(seeds, int):
        validation.check_integer("seeds", seeds, 1, MAX_SEEDS)
    seed_list = list(range(seeds)) if isinstance(seeds, int) else _as_list("seeds", seeds)
    for seed in seed_list:
        validation.check_integer("seeds", seed)
    validation.check_integer("workers", workers, 1, MAX_WORKERS)
    validation.check_text("traversal", traversal)
    validation.optional(validation.check_text, "cluster", cluster)
    limits = SolveLimits(iterations, None if time is None else parse_seconds(time), until)
    _ = limits.stoppers  # raises on an invalid limit
    effective_answer(limits, answer)
    if not game_list or not schedule_list or not seed_list:
        raise InputError("a sweep needs at least one game, one schedule and one seed")
    if not parse_traversal(traversal).sampled and len(seed_list) > 1:
        raise InputError(f"{len(seed_list)} seeds: traversal {traversal!r} is not randomized, so use one")
    for game in game_list:  # errors are raised before the first solve
        if isinstance(game, str):
            registry.game_from_spec(game)
    for schedule in schedule_list:
        parse_schedule(schedule)
    options = {"traversal": traversal, **limits._asdict(), "answer": answer}
    cases = product(game_list, schedule_list, seed_list)
    jobs: list[_Job] = [{"game": game, "schedule": rule, "seed": seed, **options} for game, rule, seed in cases]
    run: Iterable[tuple[int, SweepTrial]] = enumerate(map(_run_job, jobs))
    if cluster is not None:
        run = _run_on_ray(jobs, cluster, workers)
    elif workers > 1:
        run = _run_on_processes(jobs, workers)
    trials: dict[int, SweepTrial] = {}
    for number, trial in run:
        trials[number] = trial
        if progress is not None:
            progress(trial, len(trials), len(jobs))
    return SweepResult(tuple(trials[number] for number in range(len(jobs))))


def _run_job(job: _Job) -> SweepTrial:
    result = solve(**job)
    checks = tuple((p.iteration, p.seconds, p.exploitability) for p in result.history if p.exploitability is not None)
    return SweepTrial(
        result.game, result.schedule or "", job["seed"], result.iterations, result.seconds, result.exploitability,
        result.nash_conv, result.values, result.unit, result.reached, checks, result.answer or LAST,
        result.answer_iteration,
    )  # fmt: skip


def _run_on_processes(jobs: Sequence[_Job], workers: int) -> Iterator[tuple[int, SweepTrial]]:
    # Spawned, not forked: threads of this process do not survive a fork.
    with ProcessPoolExecutor(min(workers, len(jobs)), mp_context=get_context("spawn")) as pool:
        futures = {pool.submit(_run_job, job): number for number, job in enumerate(jobs)}
        try:
            for done in as_completed(futures):
                yield futures[done], done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _run_on_ray(jobs: Sequence[_Job], address: str, workers: int) -> Iterator[tuple[int, SweepTrial]]:
    ray, started_here = connect_ray(address, workers)
    try:
        run = ray.remote(num_cpus=1)(_run_job)
        tasks = {run.remote(job): number for number, job in enumerate(jobs)}
        while tasks:
            (done, *_), _ = ray.wait(list(tasks))
            try:
                yield tasks.pop(done), ray.get(done)
            except ray.exceptions.RayTaskError as error:
                raise (error.cause if isinstance(error.cause, Exception) else error) from None
    finally:
        if started_here:
            ray.shutdown()
