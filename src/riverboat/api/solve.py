"""`rb.solve`: solve a game and certify the solution.

    result = solve("leduc", schedule="dcfr", until=1e-3)
    result.strategy, result.exploitability

Commands, the web server and notebooks solve by this function. An `Observer` sees sizes, progress and notes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.api.devices import note_cpu_fallback
from riverboat.api.options import (
    ByteSize,
    Count,
    Duration,
    Flag,
    Limits,
    PositiveCount,
    Seed,
    Target,
    Threads,
    checked,
    parse_byte_size,
    parse_seconds,
    parse_target,
)
from riverboat.core.budget import build_context
from riverboat.core.errors import InputError, MemoryLimitError, short_repr
from riverboat.core.files import folder_lock
from riverboat.core.formatting import format_bytes, format_seconds
from riverboat.core.observer import SILENT, Observer
from riverboat.engines.devices import check_device
from riverboat.engines.tables import SIXTEEN_BITS, parse_table_format
from riverboat.games.base import Game
from riverboat.games.spots.locks import unreachable_locks
from riverboat.games.spots.spot import Spot
from riverboat.solvers import run as cfr_run
from riverboat.solvers import schedules, traversals
from riverboat.solvers.game_values import game as make_game
from riverboat.solvers.result import DONE, STALLED, Callback, Result, SolveProgress, Stopper
from riverboat.solvers.schedules import ScheduleOrFactory
from riverboat.solvers.solver_run import SolveLimits, effective_answer, effective_limits, run_to_end
from riverboat.strategies.files import checkpoints
from riverboat.trees.boards import BoardTree
from riverboat.trees.compile import AnyTree, compile_game, solver_tree, to_history_tree

if TYPE_CHECKING:
    from riverboat.solvers.exact.team_maxmin import TeamMaxmin

METHODS = ("cfr", "lp", "egt", "undominated")


class CompiledGame(NamedTuple):
    """A game and the tree that solves it fastest, to be solved several times.

    Attributes
    ----------
    game
        The game, with the values of the smaller games that it needs.
    tree
        Its tree.

    Examples
    --------
    >>> compile_for_solving("kuhn").tree.infoset_count
    12
    """

    game: Game
    tree: AnyTree


@dataclass(frozen=True)
class SolvePlan:
    """What a solve is about to do.

    Attributes
    ----------
    game, method, unit
        Name of the game, method with its schedule, and unit of all figures.
    limits
        Limits of the solve, defaults included.
    infosets, table_bytes
        Information sets, and bytes of the regret and average tables; None if the method has no tables.
    large
        Whether the tables are worth a word before they are allocated.
    compiled
        Whether the loops were compiled by an earlier process.
    resumable
        Whether an interrupt must wait for the end of a step, after which the run can be saved.
    dtype
        Format of the tables; None if the method has none.

    Examples
    --------
    >>> class Sizes(Observer):
    ...     def plan(self, plan: SolvePlan) -> None:
    ...         print(plan.game, plan.infosets)
    >>> _ = solve("kuhn", iterations=1, observer=Sizes())
    kuhn 12
    """

    game: str
    method: str
    unit: str
    limits: SolveLimits
    infosets: int | None = None
    table_bytes: int | None = None
    large: bool = False
    compiled: bool = True
    resumable: bool = True
    dtype: str | None = None


class SolveInterrupted(KeyboardInterrupt):
    """An interrupt (Ctrl-C) during a solve. `run` can be saved, and has a result so far."""

    def __init__(self, run: cfr_run.CFRRun) -> None:
        super().__init__(f"interrupted at iteration {run.iteration:,}")
        self.run = run


@checked
def solve(
    game: str | Game | CompiledGame,
    *,
    schedule: str | ScheduleOrFactory | None = None,
    traversal: str = "full",
    method: Literal["cfr", "lp", "egt", "undominated"] = "cfr",
    iterations: Count | None = None,
    time: Duration | None = None,
    until: Target | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    log: str | Path | None = None,
    threads: Threads = 1,
    seed: Seed = 0,
    dtype: str | None = None,
    device: str = "cpu",
    cards: str | CardAbstraction | None = None,
    check_every: PositiveCount | None = None,
    checkpoint_seconds: Annotated[Duration, Flag("--checkpoint")] = 60.0,
    answer: Literal["last", "best"] | None = None,
    memory: ByteSize | None = None,
    callback: Callback | None = None,
    stop: Iterable[Stopper] = (),
    observer: Observer = SILENT,
) -> Result:
    """Solve a two-player constant-sum game with a certified result, or search for an equilibrium of any other game.

    A solve stops at the first of `iterations`, `time` and `until`. With none of them it stops at 0.5 % of the pot for spots,
    and after 1,000 iterations for other games.

    Parameters
    ----------
    game
        Game, or its name with options, such as `leduc`. A `CompiledGame` is not compiled again.
    schedule
        CFR schedule, dcfr by default.
    traversal
        full, chance, external, outcome, pcs, opcs or spcs.
    method
        cfr, lp, egt or undominated (lp without weakly dominated strategies).
    iterations
        Stop after this many iterations.
    time
        Stop after 90s, 5m, 8h. A number is in seconds.
    until
        Stop at this exploitability, in the game's unit; 0.5% of pot.
    out
        Folder of the run: checkpoints and strategy.
    resume
        Continue the run in `out`.
    log
        Append a JSON line for each check.
    threads
        Threads of full traversals.
    seed
        Seed of sampled traversals.
    dtype
        Tables: float64 or float32; hold'em also compact or 16-bit.
    device
        Hold'em: cpu, cuda, or auto (a GPU if there is one).
    cards
        Full hold'em games: buckets: flops:30000, strength:200, potential:2000, a folder. The abstract game is solved; every
        figure is that of the full game.
    check_every
        Iterations between exploitability checks.
    checkpoint_seconds
        Time between checkpoints.
    answer
        Strategy to return: last (with iterations) or best check (with until or time).
    memory
        Memory limit of a tree and its tables, such as 2GB. A number is in bytes.
    callback
        Called with the progress between chunks of iterations.
    stop
        Further stoppers, functions of the progress; with them there are no default limits.
    observer
        Receives the size of the solve, its stages, progress and notes.

    Returns
    -------
    Result
        The strategy and its exact exploitability.

    Raises
    ------
    InputError
        If an option is invalid, or not supported by the method.
    MemoryLimitError
        If the tables need more than `memory`, or than is free.
    UnsavedError
        If the result cannot be written; its `result` holds the result.
    SolveInterrupted
        A KeyboardInterrupt, after a checkpoint in `out`; its `run` can be saved elsewhere.

    Notes
    -----
    Games with more than two players, without a constant sum, or with imperfect recall are solved by CFR only.
    `result.guarantee` then names what is missing, and `value_low` and `value_high` are None: the gains of unilateral
    deviations are known, but nothing makes them fall. With more than two players exploitability is ε, the largest gain.

    Examples
    --------
    >>> import riverboat as rb
    >>> result = rb.solve("kuhn", until=1e-3)
    >>> result.exploitability <= 1e-3
    True
    >>> round(result.value, 2)  # -1/18 to player 0
    -0.06
    """

    check_choices(method, traversal, device, dtype)
    if method != "cfr":
        options = {
            "schedule": schedule, "traversal": traversal != "full" and traversal, "cards": cards,
            "device": device == "cuda" and device, "resume": resume, "answer": answer,
        }  # fmt: skip
        for name, value in options.items():
            if value is not None and value is not False:
                raise InputError(f"{name}={short_repr(value)}: for method 'cfr', not {method!r}")
    if resume and out is None:
        raise InputError("resume needs out=…, the folder of the run to continue")
    seconds = None if time is None else parse_seconds(time)
    effective_answer(SolveLimits(iterations, seconds), answer, cards=cards is not None)
    max_bytes = None if memory is None else parse_byte_size(memory)
    watched = _Watch(observer, callback)
    with build_context(memory=max_bytes), folder_lock(out):
        if method != "cfr":
            made = game.game if isinstance(game, CompiledGame) else _make_game(game, observer)
            limits = _limits(made, method, iterations, seconds, until, stop)
            from riverboat.solvers.exact.solve import solve_exact  # imports SciPy and HiGHS

            observer.plan(SolvePlan(made.name, method, _unit(made), limits, resumable=False))
            more: dict[str, Any] = {"out": out, "seed": seed, "log": log, "check_every": check_every}
            return solve_exact(made, method, limits, callback=watched, stop=stop, **more)
        save_seconds = parse_seconds(checkpoint_seconds, "checkpoint_seconds")
        compiled, source = _compile_unless_saved(game, out if resume else None, observer)
        if compiled is not None:
            for remark in unreachable_locks(compiled.game) if isinstance(compiled.game, Spot) else ():
                observer.note(remark)
            limits = _limits(compiled.game, method, iterations, seconds, until, stop)
            plan = _plan_cfr(compiled, limits, schedule, traversal, dtype, cards, max_bytes)
            if dtype is None and plan.dtype == SIXTEEN_BITS:
                observer.note("16-bit tables, since compact ones do not fit into memory")
            dtype = plan.dtype
            observer.plan(plan)
            if max_bytes is not None and plan.table_bytes is not None and plan.table_bytes > max_bytes:
                raise MemoryLimitError(
                    f"{plan.game}: the tables need {format_bytes(plan.table_bytes)}, but --memory allows "
                    f"{format_bytes(max_bytes)}" + "; --dtype 16-bit needs least" * isinstance(compiled.tree, BoardTree)
                )
            _note_device(observer, device, compiled, traversal, cards)
        run = cfr_run.CFRRun(
            source, schedule, traversal, seed=seed, threads=threads, dtype=dtype, device=device, out=out, resume=resume,
            log=log, check_every=check_every, checkpoint_seconds=save_seconds, cards=cards, answer=answer,
            tree=None if compiled is None else compiled.tree,
        )  # fmt: skip
        if compiled is None:
            limits = _limits(run.game, method, iterations, seconds, until, stop)
            observer.plan(SolvePlan(run.tree.name, str(run.solver.schedule), run.tree.unit, limits))
        warning = cfr_run.convergence_warning(run.solver.schedule, traversal)
        if warning is not None:
            if observer is SILENT:
                warnings.warn(warning, stacklevel=3)
            observer.note(f"warning: {warning}")
        return _run(run, limits, watched, stop)


@checked
def compile_for_solving(game: str | Game, observer: Observer = SILENT) -> CompiledGame:
    """Compile a game to the tree that solves it fastest, to solve it several times.

    Parameters
    ----------
    game
        Game, or its name with options.
    observer
        Receives stages and progress.

    Returns
    -------
    CompiledGame
        The game, with the values of the smaller games that it needs, and its tree.

    Examples
    --------
    >>> compiled = compile_for_solving("kuhn")
    >>> [solve(compiled, schedule=name, iterations=10).iterations for name in ("cfr+", "dcfr")]
    [10, 10]
    """

    made = _make_game(game, observer)
    with observer.during(f"building the tree of {made.name}"):
        return CompiledGame(made, solver_tree(made))


# --- options ---


def check_choices(method: str, traversal: str, device: str, dtype: str | None) -> None:
    """Raise InputError unless names of options are valid, before anything is built.

    Parameters
    ----------
    method
        Method of the solve.
    traversal
        Traversal of CFR.
    device
        Device of the solve.
    dtype
        Format of the tables; None for the default.

    Examples
    --------
    >>> check_choices("cfr", "full", "cpu", None)
    """

    if method not in METHODS:
        raise InputError(f"method {short_repr(method)}: must be one of {', '.join(METHODS)}")
    traversals.parse_traversal(traversal)
    check_device(device)
    if dtype is not None:
        parse_table_format(dtype)


def _limits(
    game: Any, method: str, iterations: int | None, time: float | None, until: Any, stop: Iterable[Stopper]
) -> SolveLimits:
    """Return the limits of a solve: those given; without any and without `stop`, the default of game and method."""

    requested = SolveLimits(iterations, time, None if until is None else parse_target(until, _unit(game)))
    _ = requested.stoppers  # raises if a limit is invalid
    return requested if list(stop) else effective_limits(game, method, requested)


def _unit(game: Any) -> str:
    return str(getattr(game, "scale", (game.unit, 1.0))[0])


# --- runs ---


class _Watch:
    """Callback of a run: passes progress to the observer and the user's callback, and notes the first write error."""

    def __init__(self, observer: Observer, callback: Callback | None) -> None:
        self.observer, self.callback = observer, callback
        self.run: cfr_run.CFRRun | None = None
        self._warned = False

    def __call__(self, now: SolveProgress) -> None:
        self.observer.progress(now)
        if self.callback is not None:
            self.callback(now)
        if self.run is not None and self.run.write_error is not None and not self._warned:
            self._warned = True
            self.observer.note(f"warning: {self.run.write_error}; the run continues and tries again")


def _make_game(game: str | Game, observer: Observer) -> Game:
    """Make a game from its name; if it needs values of smaller games, solve those and show it as a stage."""

    title = "solving smaller games first"

    def report(name: str, width: float, wanted: float) -> None:
        observer.stage(title, f"{name}: value known to ± {width:.2g}, target {wanted:.2g}")

    try:
        return make_game(game, report)
    finally:
        observer.stage("")


def _compile_unless_saved(
    game: str | Game | CompiledGame, run: str | Path | None, observer: Observer
) -> tuple[CompiledGame | None, str | Game]:
    """Compile a game unless folder `run` has a checkpoint, which contains it; return the result or None, and game."""
    if not isinstance(game, CompiledGame):
        if run is not None and Path(run).is_dir() and checkpoints(Path(run)):
            return None, game
        game = compile_for_solving(game, observer)
    return game, game.game


def _plan_cfr(
    compiled: CompiledGame,
    limits: SolveLimits,
    schedule: str | ScheduleOrFactory | None,
    traversal: str,
    dtype: str | None,
    cards: str | CardAbstraction | None,
    max_bytes: int | None,
) -> SolvePlan:
    """Return the plan of a CFR run, with the size of its tables."""
    tree = compiled.tree
    rule = schedules.parse(cfr_run.default_schedule(tree, traversal) if schedule is None else schedule)
    kind = cfr_run.fitting_dtype(tree, rule, max_bytes, cards, traversal) if dtype is None else dtype
    size = cfr_run.solver_table_bytes(tree, rule, kind, traversal, tied=cards is not None)
    large = isinstance(tree, BoardTree) or tree.table_size > LARGE_TABLE
    return SolvePlan(
        tree.name,
        str(rule),
        tree.unit,
        limits,
        tree.infoset_count,
        size,
        large,
        compiled=cfr_run.is_compiled(tree),
        dtype=kind,
    )


def _run(run: cfr_run.CFRRun, limits: SolveLimits, watch: _Watch, stop: Iterable[Stopper]) -> Result:
    """Run CFR to its limits; note if the result is that of an earlier, better check. Ctrl-C raises SolveInterrupted."""

    watch.run = run
    try:
        result = run_to_end(run, limits, watch, stop)
    except KeyboardInterrupt as error:
        raise SolveInterrupted(run) from error
    best, last = result.answer_iteration, result.history[-1].exploitability if result.history else None
    if best is not None and best < result.iterations and last is not None:
        watch.observer.note(
            f"exploitability rose to {last:.4g} {result.unit} after iteration {best:,}: the result is that of iteration "
            f"{best:,}, the best check, {result.exploitability:.4g} {result.unit}; answer 'last' returns the last one"
        )
    return result


LARGE_TABLE = 1_000_000  # entries


def _note_device(observer: Observer, device: str, compiled: CompiledGame, traversal: str, cards: object) -> None:
    """Report why `auto` uses the CPU: no GPU is available, or it cannot solve this."""

    obstacle = None
    if not isinstance(compiled.tree, BoardTree):
        obstacle = "GPUs only solve hold'em spots and games"
    elif traversal != "full":
        obstacle = f"traversal {traversal!r} runs on CPUs only"
    elif cards is not None:
        obstacle = "solving with buckets runs on CPUs only"
    note_cpu_fallback(observer, device, obstacle)


def missed_target_reason(result: Result, limits: SolveLimits, until: Target | None = None) -> str | None:
    """Return why a target was not reached, and what was reached; None if it was.

    Parameters
    ----------
    result
        Result of a solve.
    limits
        Limits of that solve, defaults included (`SolvePlan.limits`).
    until
        The target as it was written; by default as a number.

    Returns
    -------
    str or None
        One sentence.

    Examples
    --------
    >>> from riverboat.solvers.solver_run import SolveLimits
    >>> missed_target_reason(solve("kuhn", iterations=1), SolveLimits(iterations=1)) is None  # it had no target
    True
    """

    if result.reached:
        return None
    if limits.iterations is not None and result.iterations >= limits.iterations:
        reason = f"stopped by --iterations {limits.iterations}"
    elif limits.time is not None and result.seconds >= limits.time:
        reason = f"stopped by --time {format_seconds(limits.time)}"
    else:
        reason = "more iterations do not improve it" if result.ended in (STALLED, DONE) else "the run was stopped"
    reached = f"exploitability {result.exploitability:.4g} {result.unit}"
    work = f"after {result.iterations:,} iterations and {format_seconds(result.seconds)}"
    target = f"{limits.until:g}" if until is None or not isinstance(until, str) else until
    return f"--until {target} was not reached: {reached} {work}; {reason}"


def check_schedule(schedule: str) -> None:
    """Raise InputError unless a text names a built-in CFR schedule; code of a user is not imported.

    Parameters
    ----------
    schedule
        Schedule with its options, such as `dcfr:alpha=1.5`.

    Examples
    --------
    >>> check_schedule("dcfr:alpha=1.5")
    """

    schedules.parse(schedule, imports=False)


class TeamValues(NamedTuple):
    """Values of players against teams of all others.

    Attributes
    ----------
    game, unit
        Name of the game, and the unit of the values.
    teams
        One result for each player against the team.

    Examples
    --------
    >>> team_values("kuhn:players=3", 1, time=1).unit
    'chips'
    """

    game: str
    unit: str
    teams: tuple[TeamMaxmin, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all values as a dictionary for JSON."""
        teams = [
            {
                "adversary": each.adversary, "correlated_low": each.correlated[0], "correlated_high": each.correlated[1],
                "plans": each.plans, "alone_low": each.uncorrelated[0], "alone_high": each.uncorrelated[1],
                "boxes": each.boxes, "seconds": each.seconds,
            }
            for each in self.teams
        ]  # fmt: skip
        return {"game": self.game, "unit": self.unit, "values_are": "what the adversary earns", "teams": teams}


@checked
def team_values(
    game: str | Game,
    adversary: Annotated[int, Limits(0)] | None = None,
    *,
    time: Duration = 30.0,
    seed: Seed = 0,
    observer: Observer = SILENT,
) -> TeamValues:
    """Compute team-maxmin values: what one player, or each in turn, gets against a team of all others.

    Parameters
    ----------
    game
        Game of any number of players, or its name with options.
    adversary
        Seat that plays against all others; by default each in turn.
    time
        Time per team for the bound without correlation: 30s, 5m.
    seed
        Seed of the starting points.
    observer
        Receives the stage of the work.

    Returns
    -------
    TeamValues
        The value with correlation, and bounds without it, for each adversary.

    Examples
    --------
    >>> team = team_values("kuhn:players=3", 0, time=1).teams[0]
    >>> team.uncorrelated[0] <= team.uncorrelated[1]
    True
    """
    from riverboat.solvers.exact.team_maxmin import team_maxmin

    tree = to_history_tree(compile_game(_make_game(game, observer)))
    results = []
    for player in [adversary] if adversary is not None else range(tree.players):
        observer.stage(f"{tree.name}: teams against one player", f"player {player}")
        results.append(team_maxmin(tree, player, seconds=parse_seconds(time), seed=seed))
    observer.stage("")
    return TeamValues(tree.name, tree.unit, tuple(results))
