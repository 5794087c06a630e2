"""`rb.sweep`: many solves at once, games × schedules × seeds, with one table and one picture at the end.

swept = sweep(["kuhn", "leduc"], ["dcfr", "cfr+"], iterations=500, workers=4)
swept.table()                    # a row for each game and schedule: means over seeds
swept.to_frame()                 # a row for each solve, for pandas
swept.plot("sweep.png")          # exploitability by iterations, one panel for each game

Solves run one after the other here, on processes of this machine, or on a Ray cluster. Where they run changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any, TypeAlias

from riverboat.core import atomic_io, validation
from riverboat.core.dataframes import frame
from riverboat.core.errors import InputError, shown
from riverboat.core.tables import COUNT, Column, ReportTable
from riverboat.games import registry
from riverboat.games.base import Game
from riverboat.solvers.cluster.backends import connect
from riverboat.solvers.limits import Limits, answer_for
from riverboat.solvers.result import LAST, Answer
from riverboat.solvers.run import solve
from riverboat.solvers.schedules import AnySchedule
from riverboat.solvers.schedules import parse as parse_schedule
from riverboat.solvers.traversals import parse as parse_traversal

MOST_SEEDS = 1_000_000
MOST_WORKERS = 1024
_NAMES = (
    "game", "schedule", "seed", "iterations", "seconds", "exploitability", "nash_conv", "unit", "answer", "answer_iteration"
)  # fmt: skip


@dataclass(frozen=True)
class Trial:
    """One solve of a sweep. Exploitability is exact, in `unit`, and that of the strategy of `answer_iteration`."""

    game: str
    schedule: str
    seed: int
    iterations: int
    seconds: float
    exploitability: float
    nash_conv: float
    values: tuple[float, ...]  # what each player earns
    unit: str
    reached: bool  # whether the target was met, where there was one
    history: tuple[tuple[int, float, float], ...]  # of the checks: iterations, seconds, exploitability
    answer: str = LAST  # which strategy was measured: the last, or the best check
    answer_iteration: int | None = None


@dataclass(frozen=True)
class _Job:
    """What a worker is told."""

    game: str | Game
    schedule: str | AnySchedule
    seed: int
    options: tuple[tuple[str, Any], ...]


Progress: TypeAlias = Callable[[Trial, int, int], None]  # a solve that is done, how many are, of how many


@dataclass(frozen=True)
class Sweep:
    """All solves, in the order of games, schedules and seeds."""

    trials: tuple[Trial, ...]

    def groups(self) -> dict[tuple[str, str], list[Trial]]:
        """Solves that differ in the seed alone, by game and schedule."""
        trials: dict[tuple[str, str], list[Trial]] = {}
        for trial in self.trials:
            trials.setdefault((trial.game, trial.schedule), []).append(trial)
        return trials

    def table(self) -> ReportTable:
        """A row for each game and schedule: the mean over seeds, with its standard deviation."""
        columns = (
            Column("game"), Column("schedule"), Column("seeds", COUNT, rank=1), Column("iterations", COUNT),
            Column("seconds", COUNT, rank=2), Column("exploitability", COUNT), Column("deviation", COUNT, "±"),
            Column("unit"),
        )  # fmt: skip
        rows = []
        for (game, schedule), some in self.groups().items():
            errors = [trial.exploitability for trial in some]
            spread = stdev(errors) if len(errors) > 1 else None
            means = fmean(t.iterations for t in some), fmean(t.seconds for t in some), fmean(errors)
            rows.append((game, schedule, len(some), *means, spread, some[0].unit))
        return ReportTable("", columns, tuple(rows))

    def to_frame(self) -> Any:
        """For pandas: a row for each solve."""
        names = (*_NAMES, "reached")
        return frame({name: [getattr(trial, name) for trial in self.trials] for name in names})

    def to_csv(self) -> str:
        """A row for each solve, comma-separated."""
        rows = tuple(tuple(getattr(trial, name) for name in _NAMES) for trial in self.trials)
        return ReportTable("", tuple(Column(name) for name in _NAMES), rows).to_csv()

    def plot(self, path: str | Path) -> Path:
        """Draw exploitability by iterations: a panel for each game, a line for each schedule, the median over seeds.

        Where there are several seeds, a band shows the least and the most of them.
        """
        place = Path(path)
        atomic_io.check_picture(place)
        atomic_io.save_picture(self.figure(), place)
        return place

    def figure(self) -> Any:
        """The same as a matplotlib figure."""
        from matplotlib.figure import Figure

        groups = self.groups()
        games = list(dict.fromkeys(game for game, _ in groups))
        figure = Figure(figsize=(max(4.5 * len(games), 5), 4), layout="constrained")
        for axis, game in zip(figure.subplots(1, len(games), squeeze=False)[0], games, strict=True):
            for schedule, some in ((s, trials) for (g, s), trials in groups.items() if g == game):
                at, low, middle, high = _band(some)
                (line,) = axis.plot(at, middle, marker=".", markersize=3, label=schedule)
                if len(some) > 1:
                    axis.fill_between(at, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
            axis.set(xscale="log", yscale="log", xlabel="iterations", title=game)
            axis.set_ylabel(f"exploitability ({some[0].unit})")
            axis.grid(visible=True, which="major", alpha=0.3)
            axis.legend()
        return figure

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def _band(trials: Sequence[Trial]) -> tuple[list[int], list[float], list[float], list[float]]:
    """Least, median and most exploitability where all seeds were checked and none was zero, by iterations."""
    checks = [{at: error for at, _, error in trial.history if at > 0 and error > 0} for trial in trials]
    common = sorted(set.intersection(*(set(some) for some in checks)))
    columns = [[some[at] for some in checks] for at in common]
    return common, [min(c) for c in columns], [median(c) for c in columns], [max(c) for c in columns]


def _several(name: str, value: Any) -> list[Any]:
    """A list of what was given as one or as several."""
    if isinstance(value, str):
        validation.text(name, value)
        return [value]
    if not isinstance(value, Iterable):
        raise InputError(f"{name}={shown(value)}: must be one, or several in a list")
    several = list(value)
    for each in several:
        if isinstance(each, str):
            validation.text(name, each)
    return several


def sweep(
    games: str | Game | Iterable[str | Game],
    schedules: str | AnySchedule | Iterable[str | AnySchedule] = ("dcfr",),
    seeds: int | Iterable[int] = 1,
    *,
    traversal: str = "full",
    iterations: int | None = None,
    time: float | None = None,
    until: float | None = None,
    workers: int = 1,
    cluster: str | None = None,
    answer: Answer = LAST,
    progress: Progress | None = None,
) -> Sweep:
    """Solve every game with every schedule and seed.

    `seeds` is how many, from 0 on, or which ones; a full traversal draws nothing and has one. Every solve stops as `rb.solve`
    does, by `iterations`, `time` or `until`. Figures are those of the last iteration, whatever the limit, so that they
    compare schedules and not the luck of checks; `answer="best"` measures the best check instead. With `workers` above
    one they run on as many processes; `cluster` is `local` (Ray on this machine), `auto`, or the address of a Ray
    cluster. `progress` hears of each that is done.
    """
    some_games: list[str | Game] = [games] if hasattr(games, "unit") else _several("games", games)  # type: ignore[list-item]
    rules: list[str | AnySchedule] = [schedules] if hasattr(schedules, "step") else _several("schedules", schedules)  # type: ignore[list-item]
    if isinstance(seeds, int):
        validation.whole("seeds", seeds, 1, MOST_SEEDS)
    drawn = list(range(seeds)) if isinstance(seeds, int) else _several("seeds", seeds)
    for seed in drawn:
        validation.whole("seeds", seed)
    validation.whole("workers", workers, 1, MOST_WORKERS)
    validation.text("traversal", traversal)
    validation.unless_none(validation.text, "cluster", cluster)
    limits = Limits(iterations, time, until)
    _ = limits.stoppers  # raises where a limit is invalid
    answer_for(limits, answer)
    if not some_games or not rules or not drawn:
        raise InputError("a sweep needs at least one game, one schedule and one seed")
    if not parse_traversal(traversal).sampled and len(drawn) > 1:
        raise InputError(f"{len(drawn)} seeds: traversal {traversal!r} draws nothing, so one is enough")
    for game in some_games:  # what is wrong is told before the first solve
        if isinstance(game, str):
            registry.make(game)
    for schedule in rules:
        parse_schedule(schedule)
    options = (("traversal", traversal), *limits._asdict().items(), ("answer", answer))
    jobs = [_Job(*each, options) for each in product(some_games, rules, drawn)]
    run = _here(jobs) if cluster is None and workers == 1 else (
        _on_processes(jobs, workers) if cluster is None else _on_ray(jobs, cluster, workers)
    )  # fmt: skip
    trials: dict[int, Trial] = {}
    for number, trial in run:
        trials[number] = trial
        if progress is not None:
            progress(trial, len(trials), len(jobs))
    return Sweep(tuple(trials[number] for number in range(len(jobs))))


def _one(job: _Job) -> Trial:
    result = solve(job.game, schedule=job.schedule, seed=job.seed, **dict(job.options))
    checks = tuple((p.iteration, p.seconds, p.exploitability) for p in result.history if p.exploitability is not None)
    return Trial(
        result.game, result.schedule or "", job.seed, result.iterations, result.seconds, result.exploitability,
        result.nash_conv, result.values, result.unit, result.reached, checks, result.answer or LAST,
        result.answer_iteration,
    )  # fmt: skip


def _here(jobs: Sequence[_Job]) -> Iterator[tuple[int, Trial]]:
    return ((number, _one(job)) for number, job in enumerate(jobs))


def _on_processes(jobs: Sequence[_Job], workers: int) -> Iterator[tuple[int, Trial]]:
    # Started afresh and not forked: threads of this process would be cut off in a copy.
    with ProcessPoolExecutor(min(workers, len(jobs)), mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(_one, job): number for number, job in enumerate(jobs)}
        try:
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _on_ray(jobs: Sequence[_Job], address: str, workers: int) -> Iterator[tuple[int, Trial]]:
    ray, mine = connect(address, workers)
    try:
        run = ray.remote(num_cpus=1)(_one)
        waiting = {run.remote(job): number for number, job in enumerate(jobs)}
        while waiting:
            (done, *_), _ = ray.wait(list(waiting))
            try:
                yield waiting.pop(done), ray.get(done)
            except ray.exceptions.RayTaskError as error:
                raise (error.cause if isinstance(error.cause, Exception) else error) from None
    finally:
        if mine:
            ray.shutdown()
