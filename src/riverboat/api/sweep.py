"""`rb.sweep`: many solves, games × schedules × traversals × seeds, with one table and one plot of the results.

    swept = sweep(["kuhn", "leduc", spot], ["dcfr", "cfr+"], iterations=500, workers=4, out="runs/sweep")
    swept.table()                    # a row for each game, schedule and traversal: means over seeds
    swept.to_frame()                 # a row for each check of each solve, for pandas
    swept.plot("sweep.png")          # exploitability by iterations, one panel for each game
    swept.save("sweep.parquet")      # all checks, also as .csv

Solves run serially, in processes on this machine, or on a Ray cluster; results do not depend on it. Where nothing is
random, one seed is used. With `out`, completed solves are stored, and `resume` continues a sweep that was killed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from importlib import import_module
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean, stdev
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np

from riverboat.api.options import Count, Duration, Flag, Limits, Target, checked, parse_target
from riverboat.api.solve import compile_for_solving, solve
from riverboat.core import files, validation
from riverboat.core.errors import CorruptError, InputError, short_repr
from riverboat.core.tables import COUNT, ReportColumn, ReportTable, to_dataframe
from riverboat.games import registry
from riverboat.games.base import CHANCE, Game, PublicGame
from riverboat.games.boards.board_game import BoardGame
from riverboat.games.boards.holdem import Holdem
from riverboat.plots.figures import save_figure
from riverboat.solvers.boards.cfr import SAMPLED_TRAVERSALS
from riverboat.solvers.cluster.backends import connect_ray
from riverboat.solvers.result import LAST
from riverboat.solvers.schedules import AnySchedule, ScheduleOrFactory
from riverboat.solvers.schedules import parse as parse_schedule
from riverboat.solvers.solver_run import SolveLimits, effective_answer
from riverboat.solvers.traversals import parse_traversal
from riverboat.trees.compile import as_game

MAX_SEEDS = 1_000_000
MAX_WORKERS = 1024
_SOLVE_COLUMNS = (
    "game", "schedule", "traversal", "seed", "iterations", "seconds", "exploitability", "nash_conv", "unit", "answer",
    "answer_iteration", "reached",
)  # fmt: skip
_CHECK_COLUMNS = "game", "schedule", "traversal", "seed", "iteration", "seconds", "exploitability", "unit"
MANIFEST = "sweep.json"  # the solves of a sweep, in the folder of its results


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
    traversal
        Name of the traversal.

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
    traversal: str = "full"


_Job: TypeAlias = dict[str, Any]  # options of `solve`
SweepProgress: TypeAlias = Callable[[SweepTrial, int, int], None]  # a completed solve, their number and the total


@dataclass(frozen=True)
class SweepResult:
    """All solves, in the order of games, schedules, traversals and seeds.

    Attributes
    ----------
    trials
        The solves.
    left_out
        Traversals that a game does not support, while others of the sweep solve it.

    Examples
    --------
    >>> result = sweep(["kuhn"], ["dcfr", "cfr+"], iterations=10)
    >>> len(result.table())
    2
    """

    trials: tuple[SweepTrial, ...]
    left_out: tuple[str, ...] = ()

    def groups(self) -> dict[tuple[str, str], list[SweepTrial]]:
        """Group the solves that differ only in the seed, by game and method.

        The method is the schedule, with the traversal if there are several.
        """
        several = len({trial.traversal for trial in self.trials}) > 1
        trials: dict[tuple[str, str], list[SweepTrial]] = {}
        for trial in self.trials:
            method = f"{trial.schedule}, {trial.traversal}" if several else trial.schedule
            trials.setdefault((trial.game, method), []).append(trial)
        return trials

    def table(self) -> ReportTable:
        """Return a table of exploitability by game and method: means over seeds, with the standard deviation."""
        columns = (
            ReportColumn("game"), ReportColumn("schedule"), ReportColumn("traversal", rank=2),
            ReportColumn("seeds", COUNT, rank=1), ReportColumn("iterations", COUNT), ReportColumn("seconds", COUNT, rank=2),
            ReportColumn("exploitability", COUNT), ReportColumn("deviation", COUNT, "±"), ReportColumn("unit"),
        )  # fmt: skip
        rows = []
        for group in self.groups().values():
            errors, first = [trial.exploitability for trial in group], group[0]
            deviation = stdev(errors) if len(errors) > 1 else None
            means = fmean(t.iterations for t in group), fmean(t.seconds for t in group), fmean(errors)
            name = first.game, first.schedule, first.traversal
            rows.append((*name, len(group), *means, deviation, first.unit))
        return ReportTable("", columns, tuple(rows))

    def rows(self, *, checks: bool = True) -> ReportTable:
        """Return a table with a row for each check of each solve, or for each solve.

        Parameters
        ----------
        checks
            Whether rows are checks: the curves of exploitability. Otherwise they are solves.
        """
        names = _CHECK_COLUMNS if checks else _SOLVE_COLUMNS
        rows = []
        for trial in self.trials:
            facts = asdict(trial)
            points = trial.history if checks else ((trial.iterations, trial.seconds, trial.exploitability),)
            for iteration, seconds, exploitability in points:
                facts |= {"iteration": iteration, "seconds": seconds, "exploitability": exploitability}
                rows.append(tuple(facts[name] for name in names))
        return ReportTable("", tuple(ReportColumn(name) for name in names), tuple(rows))

    def to_frame(self, *, checks: bool = True) -> Any:
        """Return a pandas data frame with a row for each check of each solve, or for each solve.

        Parameters
        ----------
        checks
            Whether rows are checks: the curves of exploitability. Otherwise they are solves.
        """
        table = self.rows(checks=checks)
        return to_dataframe({name: table.column(name) for name in table.names})

    def to_csv(self, *, checks: bool = False) -> str:
        """Return comma-separated values with a row for each solve, or for each check of each solve.

        Parameters
        ----------
        checks
            Whether rows are checks instead of solves.
        """
        return self.rows(checks=checks).to_csv()

    def save(self, path: str | Path) -> Path:
        """Write a row for each check of each solve to a file.

        Parameters
        ----------
        path
            File whose suffix selects the format: .csv, or .parquet, which needs the package pyarrow.
        """
        validation.check_path("path", path)
        target = Path(path)
        check_table_path(target)
        table = self.rows()
        if target.suffix.lower() == ".csv":
            files.write_text(target, table.to_csv())
        else:
            parquet, arrow = _import_parquet(target)
            columns = arrow.table({name: table.column(name) for name in table.names})
            with files.atomic_write(target) as partial:
                parquet.write_table(columns, partial)
        return target

    def to_dict(self) -> dict[str, Any]:
        """Return the table and all solves as a JSON object."""
        trials = [vars(trial) for trial in self.trials]
        facts = {"rows": list(self.table()), "trials": trials, "exploitability_is": "exact"}
        return facts | ({"left_out": list(self.left_out)} if self.left_out else {})

    def plot(self, path: str | Path) -> Path:
        """Plot exploitability by iterations: a panel for each game, a line for each schedule.

        Lines are geometric means over seeds. With several seeds, a band shows the 95 % confidence interval of the mean.

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


def check_table_path(path: Path) -> None:
    """Raise InputError unless a table can be written to a file: .csv, or .parquet if pyarrow is installed.

    Parameters
    ----------
    path
        The file.

    Examples
    --------
    >>> check_table_path(Path("sweep.csv"))
    """
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"{path}: the name of a table must end in .csv or .parquet")
    if path.is_dir():
        raise InputError(f"{path}: is a folder; give the name of a file")
    if path.suffix.lower() == ".parquet":
        _import_parquet(path)


def _import_parquet(path: Path) -> tuple[Any, Any]:
    try:
        parquet, arrow = import_module("pyarrow.parquet"), import_module("pyarrow")
    except ImportError:
        raise InputError(
            f"{path}: Parquet files need the package pyarrow: pip install pyarrow; or write .csv"
        ) from None
    return parquet, arrow


@checked
def sweep(
    games: str | Game | Iterable[str | Game],
    schedules: Annotated[str | ScheduleOrFactory | Iterable[str | ScheduleOrFactory], Flag("--schedule")] = ("dcfr",),
    seeds: Annotated[int, Limits(1, MAX_SEEDS)] | Iterable[int] = 1,
    *,
    traversal: str | Iterable[str] = ("full",),
    iterations: Count | None = None,
    time: Duration | None = None,
    until: Target | None = None,
    workers: Annotated[int, Limits(1, MAX_WORKERS)] = 1,
    cluster: str | None = None,
    answer: Literal["last", "best"] = "last",
    out: str | Path | None = None,
    resume: bool = False,
    progress: SweepProgress | None = None,
) -> SweepResult:
    """Solve every game with every schedule, traversal and seed.

    Parameters
    ----------
    games
        Names of games, or games: also spots.
    schedules
        A CFR schedule; repeat for several. Or a list of names or schedules.
    seeds
        Number of seeds, from 0; one is used where nothing is sampled. Or the seeds.
    traversal
        full, chance, external, outcome, pcs, opcs or spcs; repeat for several. Or a list of names.
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
    out
        Folder in which completed solves are stored.
    resume
        Continue the sweep in `out`: solves that it has completed are read, not repeated.
    progress
        Callback with each completed solve, the number of completed solves and the total.

    Returns
    -------
    SweepResult
        All solves.

    Raises
    ------
    InputError
        If a game, schedule or limit is invalid, or `out` holds another sweep.

    Examples
    --------
    >>> sweep("kuhn", ["dcfr", "cfr+"], iterations=10).trials[1].schedule
    'cfr+'
    >>> mixed = sweep("kuhn", seeds=3, traversal=["full", "external"], iterations=10)
    >>> [(trial.traversal, trial.seed) for trial in mixed.trials]
    [('full', 0), ('external', 0), ('external', 1), ('external', 2)]
    """
    game_list: list[str | Game] = _as_list("games", games, "unit")
    schedule_list: list[str | ScheduleOrFactory] = _as_list("schedules", schedules, "step")
    traversal_list: list[str] = _as_list("traversal", traversal)
    seed_list = list(range(seeds)) if isinstance(seeds, int) else _as_list("seeds", seeds)
    for seed in seed_list:
        validation.check_integer("seeds", seed)
    if len(set(seed_list)) < len(seed_list):
        raise InputError(f"seeds={short_repr(seed_list)}: each seed once")
    limits = SolveLimits(iterations, None if time is None else float(time))
    _ = limits.stoppers  # raises on an invalid limit
    effective_answer(limits, answer)
    if not (game_list and schedule_list and seed_list and traversal_list):
        raise InputError("a sweep needs at least one game, one schedule, one traversal and one seed")
    if resume and out is None:
        raise InputError("resume needs out=…, the folder of the sweep to continue")
    rules: list[AnySchedule] = [parse_schedule(schedule) for schedule in schedule_list]
    for name in traversal_list:
        parse_traversal(name)
    made = [as_game(game) for game in game_list]  # errors are raised before the first solve
    for each in made:
        if until is not None:
            target = parse_target(until, str(getattr(each, "scale", (each.unit, 1.0))[0]))
            _ = SolveLimits(until=target).stoppers
    options = {**limits._asdict(), "until": until, "answer": answer}
    jobs: list[_Job] = []
    left_out: list[str] = []
    labels = _game_labels(game_list, made)
    for number, rule, name in product(range(len(made)), rules, traversal_list):
        game, label = game_list[number], labels[number]
        problem = _unsupported(made[number], name)
        if problem is not None:
            left_out.append(f"{label}: {problem}")
            continue
        used = seed_list if len(seed_list) > 1 and _is_random(game, name) else seed_list[:1]
        case = {"game": game, "label": label, "schedule": rule, "traversal": name, **options}
        jobs += [{**case, "seed": seed} for seed in used]
    unsolved = set(labels) - {job["label"] for job in jobs}
    if unsolved:
        raise InputError(next(text for text in left_out if text.partition(": ")[0] in unsolved))
    with files.folder_lock(out):
        store = None if out is None else _TrialStore(Path(out), jobs, resume=resume)
        trials = _run_jobs(jobs, store, workers, cluster, progress)
    return SweepResult(trials, tuple(dict.fromkeys(left_out)))


def _run_jobs(
    jobs: Sequence[_Job], store: _TrialStore | None, workers: int, cluster: str | None, progress: SweepProgress | None
) -> tuple[SweepTrial, ...]:
    """Run the solves that the store does not have, and store each as it completes."""
    trials: dict[int, SweepTrial] = {} if store is None else store.read()
    for trial in trials.values():
        if progress is not None:
            progress(trial, len(trials), len(jobs))
    pending = [number for number in range(len(jobs)) if number not in trials]
    left = [jobs[number] for number in pending]
    run: Iterable[tuple[int, SweepTrial]] = enumerate(map(_run_job, left))
    if cluster is not None:
        run = _run_on_ray(left, cluster, workers)
    elif workers > 1 and left:
        run = _run_on_processes(left, workers)
    for position, trial in run if left else ():
        number = pending[position]
        trials[number] = trial
        if store is not None:
            store.write(number, trial)
        if progress is not None:
            progress(trial, len(trials), len(jobs))
    return tuple(trials[number] for number in range(len(jobs)))


def _game_labels(games: Sequence[str | Game], made: Sequence[Game]) -> list[str]:
    """Return a name for each game, all different: its spec or its name, with a number if several have the same."""
    labels = [game if isinstance(game, str) else each.name for game, each in zip(games, made, strict=True)]
    counts, numbers = Counter(labels), Counter[str]()
    for i, label in enumerate(labels):
        numbers[label] += 1
        if counts[label] > 1:
            labels[i] = f"{label} {numbers[label]}"
    return labels


def _unsupported(game: Game, traversal: str) -> str | None:
    """Return why a game does not support a traversal; None if it does."""
    how = parse_traversal(traversal)
    if isinstance(game, BoardGame):
        supported = ("full", *SAMPLED_TRAVERSALS) if isinstance(game, Holdem) else ("full",)
        if how.name not in supported:
            return f"traversal {how.name!r} is not supported: use {', '.join(map(repr, supported))}"
    elif how.public and not isinstance(game, PublicGame):
        return f"traversal {how.name!r} needs a public game"
    return None


def _is_random(game: str | Game, traversal: str) -> bool:
    """Return whether solves depend on the seed. Public chance sampling does not without public chance."""
    how = parse_traversal(traversal)
    if not how.sampled or how.name != "pcs":
        return how.sampled
    tree = compile_for_solving(game).tree
    actor = tree.nodes.actor if hasattr(tree, "nodes") else tree.betting.actor
    return bool(np.any(actor == CHANCE))


class _TrialStore:
    """Folder with the completed solves of a sweep, a JSON file for each, and a manifest of all."""

    def __init__(self, folder: Path, jobs: Sequence[_Job], *, resume: bool) -> None:
        self.folder = folder
        self.cases = [_describe_job(job) for job in jobs]
        manifest = folder / MANIFEST
        if manifest.exists():
            if not resume:
                raise InputError(f"{folder}: holds a sweep already; resume it, or choose another folder")
            stored = _read_json(manifest)
            if stored.get("solves") != self.cases:
                raise InputError(
                    f"{folder}: holds another sweep; give the games, schedules, seeds and limits of that one"
                )
            return
        if folder.exists() and (not folder.is_dir() or any(each.name != files.LOCK_FILE for each in folder.iterdir())):
            raise InputError(f"{folder}: is not empty, and holds no sweep; choose another folder")
        folder.mkdir(parents=True, exist_ok=True)
        files.write_text(manifest, json.dumps({"format_version": 1, "solves": self.cases}, indent=1))

    def _path(self, number: int) -> Path:
        return self.folder / f"solve-{number:06d}.json"

    def read(self) -> dict[int, SweepTrial]:
        """Return the completed solves by number."""
        trials = {}
        for number in range(len(self.cases)):
            path = self._path(number)
            if path.exists():
                facts = _read_json(path)
                try:
                    facts = {**facts, "values": tuple(facts["values"]), "history": tuple(map(tuple, facts["history"]))}
                    trials[number] = SweepTrial(**facts)
                except (KeyError, TypeError) as error:
                    raise CorruptError(
                        f"{path}: is not a solve of a sweep ({error}); delete it to repeat the solve"
                    ) from None
        return trials

    def write(self, number: int, trial: SweepTrial) -> None:
        """Store a completed solve."""
        files.write_text(self._path(number), json.dumps(asdict(trial)))


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise CorruptError(f"{path}: cannot be read ({error}); delete it to repeat the solve") from None
    if not isinstance(found, dict):
        raise CorruptError(f"{path}: holds no JSON object; delete it to repeat the solve")
    return found


def _describe_job(job: _Job) -> dict[str, Any]:
    """Return what determines the result of a solve, for comparison."""
    game = job["game"]
    identity = game if isinstance(game, str) else registry.spec_of(game) or compile_for_solving(game).tree.fingerprint
    facts = {"game": job["label"], "identity": identity, "schedule": str(job["schedule"])}
    return facts | {name: job[name] for name in ("traversal", "seed", "iterations", "time", "until", "answer")}


def _run_job(job: _Job) -> SweepTrial:
    options = dict(job)
    label = options.pop("label")
    result = solve(**options)
    checks = tuple((p.iteration, p.seconds, p.exploitability) for p in result.history if p.exploitability is not None)
    return SweepTrial(
        label, result.schedule or "", job["seed"], result.iterations, result.seconds, result.exploitability,
        result.nash_conv, result.values, result.unit, result.reached, checks, result.answer or LAST,
        result.answer_iteration, result.traversal or job["traversal"],
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
