"""The commands that solve."""

from __future__ import annotations

import time as clock
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from riverboat.cli import device_notes, signals
from riverboat.cli.progress import Live, ProgressLine
from riverboat.cli.solve import multiplayer
from riverboat.cli.solve.options import SolveOptions
from riverboat.cli.terminal import COMPILING, emit, plain_console, say
from riverboat.compiled.jit import on_disk
from riverboat.core import atomic_io
from riverboat.core.errors import InputError, MemoryLimitError, UnsavedError, shown
from riverboat.core.formatting import quote, show_bytes, show_seconds
from riverboat.core.tables import FIGURE, Column, ReportTable
from riverboat.engines.devices import CUDA, check_device
from riverboat.engines.rules import board_loops
from riverboat.engines.tables import table_format
from riverboat.games.base import Game
from riverboat.games.holdem.match_state import TAG
from riverboat.games.registry import SPOT
from riverboat.solvers import schedules, traversals
from riverboat.solvers.game_values import game as make_game
from riverboat.solvers.limits import answer_for
from riverboat.solvers.result import DONE, EXACT_METHODS, STALLED, Progress, Result
from riverboat.solvers.run import Run
from riverboat.solvers.selection import bytes_of_tables, caution, default_dtype, default_schedule
from riverboat.solvers.solver_run import finish
from riverboat.solvers.tabular import rules
from riverboat.trees.boards import BoardTree
from riverboat.trees.compile import AnyTree, solver_tree


def is_spot(name: str) -> bool:
    """Whether `riverboat.cli.solve.spots` solves it: a spot by flags, one in a file, or a match state."""
    return name == SPOT or Path(name).suffix.lower() == ".toml" or name.lstrip().startswith(TAG)


Unsaved: TypeAlias = list[UnsavedError]  # told after the answer


def command(spec: str | Game, names: list[str | None], options: SolveOptions, plot: Path | None, json: bool) -> bool:
    """Solve, print the answer, draw it, and say what is missing; true unless a target was missed."""
    unsaved = Unsaved()
    results = solve_all(spec, names, options, unsaved)
    if json:
        emit(to_dict(results, options))
    else:
        report(results)
    return finished(results, [missed(r, options) for r in results], plot, unsaved)


def finished(results: list[Result], reasons: Iterable[str | None], plot: Path | None, unsaved: Unsaved) -> bool:
    """Once the answer is told: its picture, what could not be written, and why targets were missed; true if none was."""
    if plot is not None:
        from riverboat.reports.plots.runs import convergence

        convergence(results, plot)
        say(f"picture: {plot}")
    if unsaved:
        raise unsaved[0]
    told = [reason for reason in reasons if reason is not None]
    for reason in told:
        say(reason)
    return not told


def check_words(options: SolveOptions) -> None:
    """Refuse names that no solve takes, before anything is built."""
    if options.method not in ("cfr", *EXACT_METHODS):
        raise InputError(f"method {shown(options.method)}: one of cfr, {', '.join(EXACT_METHODS)}")
    traversals.parse(options.traversal)
    answer_for(options.limits, options.answer, cards=options.cards is not None)
    check_device(options.device)
    if options.dtype is not None:
        table_format(options.dtype)


def solve_all(spec: str | Game, names: list[str | None], options: SolveOptions, unsaved: Unsaved) -> list[Result]:
    """Solve with each schedule in turn; the tree is compiled once."""
    check_words(options)
    method = options.method
    if options.resume and options.out is None:
        raise InputError("--resume needs --out, the folder of the run to go on with")
    if options.resume and method != "cfr":
        raise InputError(f"--resume goes on with a CFR run; method {method} starts anew")
    others = (names != [None], options.traversal != "full", options.cards is not None, options.device == CUDA)
    if method != "cfr" and (any(others) or options.answer is not None):
        raise InputError(f"--schedule, --traversal, --cards, --answer and --device belong to method cfr, not {method}")
    if len(names) > 1 and options.resume:
        raise InputError("--resume goes on with one schedule at a time")
    made = _prepared(spec)
    options = options.for_game(made)
    if method != "cfr":
        device_notes.tell(options.device, f"method {method} runs on processors")
        with held(options.out):
            return [_exact(made, method, options, unsaved)]
    tree = None if options.resume else solver_tree(made)
    results = []
    for schedule in names:
        out = options.out
        if out is not None and schedule is not None and len(names) > 1:
            out = out / schedule.replace(":", "-").replace(",", "-")
        source = spec if options.resume else made
        results.append(_one(source, tree, schedule, replace(options, out=out), unsaved))
    return results


def need(tree: AnyTree, schedule: str | None, dtype: str | None, cards: object = None, traversal: str = "full") -> int:
    """Bytes that the tables of a solver will take."""
    parsed = schedules.parse(default_schedule(tree, traversal) if schedule is None else schedule)
    kind = default_dtype(tree, cards, traversal) if dtype is None else dtype
    return bytes_of_tables(tree, parsed, kind, traversal, tied=cards is not None)


def _announce(tree: AnyTree, size: int) -> None:
    """Say what will be allocated before it is."""
    say(f"{tree.name}: {tree.infoset_count:,} information sets, tables of {show_bytes(size)}")


def already_compiled(tree: AnyTree) -> bool:
    """Whether an earlier process has left the loops on disk."""
    plain, dtype = schedules.parse("dcfr"), "float64"
    on_boards = isinstance(tree, BoardTree)
    return on_disk(
        board_loops(None, table_format(dtype)).work if on_boards else rules.kernels(plain, dtype).full_iterations
    )


def _prepared(spec: str | Game) -> Game:
    """A game with the values of the smaller ones that it needs, while a line tells of their solving."""
    lines: list[ProgressLine] = []

    def note(name: str, width: float, wanted: float) -> None:
        if not lines:
            lines.append(ProgressLine("solving smaller games first"))
        lines[0].update(None, f"{name}: value known to {width:.2g}, wanted {wanted:.2g}")

    try:
        return make_game(spec, note)
    finally:
        for line in lines:
            line.done()


def start(game: Any, tree: AnyTree | None, schedule: str | None, options: SolveOptions) -> Run:
    """A run, with its tables allocated; their size is told before, and refused above `--memory`."""
    if tree is not None:
        size = need(tree, schedule, options.dtype, options.cards, options.traversal)
        limit = options.memory
        if isinstance(tree, BoardTree) or tree.table > 1_000_000:
            _announce(tree, size)
        if limit is not None and size > limit:
            raise MemoryLimitError(
                f"{tree.name}: the tables need {show_bytes(size)}, and --memory allows {show_bytes(limit)}"
                + ("; --dtype 16-bit needs the least" if isinstance(tree, BoardTree) else "")
            )
    if tree is not None:
        device_notes.tell(options.device, _unfit(tree, options))
    return Run(
        game, schedule, options.traversal, seed=options.seed, threads=options.threads, dtype=options.dtype,
        device=options.device, out=options.out, resume=options.resume, log=options.log,
        check_every=options.check_every, checkpoint_seconds=options.checkpoint_seconds, tree=tree,
        cards=options.cards, answer=options.answer,
    )  # fmt: skip


def _unfit(tree: AnyTree, options: SolveOptions) -> str | None:
    """Why a GPU would not do, or None."""
    if not isinstance(tree, BoardTree):
        return "GPUs solve spots and whole games of hold'em"
    if options.traversal != "full":
        return f"traversal {options.traversal!r} runs on processors"
    return "buckets are tied on processors" if options.cards is not None else None


def held(out: Path | None) -> AbstractContextManager[None]:
    """No other process writes to the folder of a run."""
    return nullcontext() if out is None else atomic_io.held(out)


def go(run: Run, options: SolveOptions, unsaved: Unsaved) -> Result:
    """Let a run go on until it is done; an interrupt saves it, between two steps."""
    live = _live(f"{run.tree.name} {run.solver.schedule}", run.tree.unit, options)
    if not already_compiled(run.tree):
        live.update(None, COMPILING)
    told: list[str] = []

    def watch(now: Progress) -> None:
        live(now)
        if run.trouble is not None and not told:
            told.append(str(run.trouble))
            say(f"warning: {run.trouble}; the run goes on and tries again")

    try:
        with signals.noted() as interrupted:

            def stop(now: Progress) -> bool:
                came = interrupted()
                if came is not None:
                    raise came
                return False

            result = finish(run, options.limits, watch, interrupt=[stop])
            say_where_it_rose(result)
            return result
    except UnsavedError as error:
        unsaved.append(error)
        last: Result = error.result
        return last
    except KeyboardInterrupt:
        live.done()
        if run.folder is None:
            folder = Path("runs") / f"{atomic_io.file_name(run.tree.name)}-{clock.strftime('%Y%m%d-%H%M%S')}"
            run.save(folder)
            say(f"saved under {folder} (go on with --out {quote(folder)} --resume)")
        else:
            say(f"saved under {run.folder} (go on with --out {quote(run.folder)} --resume)")
        raise
    finally:
        live.done()


def _one(game: Any, tree: AnyTree | None, schedule: str | None, options: SolveOptions, unsaved: Unsaved) -> Result:
    with held(options.out):
        run = start(game, tree, schedule, options)
        doubt = caution(run.solver.schedule, options.traversal)
        if doubt is not None:
            say(f"warning: {doubt}")
        return go(run, options, unsaved)


def _live(title: str, unit: str, options: SolveOptions) -> Live:
    return Live(title, unit, iterations=options.iterations, seconds=options.time, until=options.target)


def _exact(made: Any, method: str, options: SolveOptions, unsaved: Unsaved) -> Result:
    live = _live(f"{made.name} {method}", made.unit, options)
    from riverboat.solvers.exact.solve import solve_exact  # brings SciPy and HiGHS along

    try:
        return solve_exact(
            made, method, options.limits, out=options.out, seed=options.seed, log=options.log,
            check_every=options.check_every, callback=live,
        )  # fmt: skip
    except UnsavedError as error:
        unsaved.append(error)
        result: Result = error.result
        return result
    finally:
        live.done()


_COLUMNS = (
    Column("method"), Column("iterations", FIGURE, rank=2), Column("seconds", FIGURE, rank=3),
    Column("value (certified)", FIGURE), Column("exploitability", FIGURE), Column("NashConv", FIGURE, rank=4),
)  # fmt: skip


def say_where_it_rose(result: Result) -> None:
    """Say where the answer is not that of the last iteration."""
    best, last = result.answer_iteration, result.history[-1].exploitability if result.history else None
    if best is not None and best < result.iterations and last is not None:
        say(
            f"exploitability rose to {last:.4g} {result.unit} after iteration {best:,}: the answer is that of iteration "
            f"{best:,}, the best check, {result.exploitability:.4g} {result.unit}; --answer last takes the last one"
        )


def missed(result: Result, options: SolveOptions) -> str | None:
    """Why the target was not reached, and what was; None where it was."""
    if result.reached:
        return None
    iterations, time = options.iterations, options.time
    if iterations is not None and result.iterations >= iterations:
        why = f"--iterations {iterations} came first"
    elif time is not None and result.seconds >= time:
        why = f"--time {show_seconds(time)} came first"
    else:
        why = "more iterations no longer help" if result.ended in (STALLED, DONE) else "it was stopped"
    reached = f"exploitability {result.exploitability:.4g} {result.unit}"
    work = f"after {result.iterations:,} iterations and {show_seconds(result.seconds)}"
    asked = options.until if options.until is not None else f"{options.target:g}"
    return f"--until {asked} was not reached: {reached} {work}; {why}"


def to_dict(results: Sequence[Result], options: SolveOptions) -> dict[str, Any]:
    """What `--json` prints: the best, and all where there are several."""
    told = [r.to_dict() | {"reason": missed(r, options)} for r in results]
    best = min(told, key=lambda one: float(one["exploitability"]))
    return best | ({"runs": told} if len(told) > 1 else {})


def report(results: list[Result]) -> None:
    """The answer as a table."""
    first = results[0]
    if not first.certified:
        multiplayer.report(results)
        return
    rows = []
    for r in results:
        how = r.schedule if r.method == "cfr" else r.method
        assert r.value_low is not None
        assert r.value_high is not None
        half = (r.value_high - r.value_low) / 2
        name = f"{how}" + (f" {r.traversal}" if r.traversal not in (None, "full") else "")
        figures = f"{r.value:.9f} ± {half:.1e}", f"{r.exploitability:.3e}", f"{r.nash_conv:.3e}"
        rows.append((name, f"{r.iterations:,}", f"{r.seconds:.2f}", *figures))
    console = plain_console()
    console.print(f"{first.game}: {first.infosets:,} information sets; figures in {first.unit}")
    console.print(ReportTable("", _COLUMNS, tuple(rows)))
