"""`riverboat solve`: call `rb.solve`, and print its results."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from riverboat.api import estimate as estimates
from riverboat.api import solve as solve_api
from riverboat.api.boards import solve_boards
from riverboat.api.spots import spot_from_match_state, spot_from_texts
from riverboat.cli.command import given, options_for
from riverboat.cli.progress import SolveProgressLine, StageDisplay
from riverboat.cli.solve.multiplayer import multiplayer_parts
from riverboat.cli.terminal import COMPILING_MESSAGE, figure, make_table, print_result, save_picture, say
from riverboat.cli.termination import Interrupted, defer_signals
from riverboat.core import files
from riverboat.core.errors import InputError, UnsavedError
from riverboat.core.formatting import format_bytes, format_seconds, shell_quote
from riverboat.core.tables import FIGURE, ReportColumn, ReportTable
from riverboat.games.base import Game
from riverboat.games.holdem.match_state import TAG
from riverboat.games.registry import SPOT, game_from_spec
from riverboat.games.spots.spot import Spot
from riverboat.strategies.reports.node import node_summary

if TYPE_CHECKING:
    from riverboat.solvers.result import Result, SolveProgress

SPOT_FROM_TEXTS = "riverboat.api.spots:spot_from_texts"
SPOT_FROM_MATCH_STATE = "riverboat.api.spots:spot_from_match_state"


def is_match_state(name: str) -> bool:
    """Return whether a name is a match state."""
    return name.lstrip().startswith(TAG)


def is_spot(name: str) -> bool:
    """Return whether a name is a spot: `spot` with flags, a file, or a match state."""
    return name == SPOT or Path(name).suffix.lower() == ".toml" or is_match_state(name)


def solve(
    game: str,
    *,
    schedule: list[str] | None = None,
    plot: Path | None = None,
    estimate: bool = False,
    boards: str | None = None,
    keep: bool = False,
    line: str | None = None,
    json: bool = False,
    **options: Any,
) -> bool:
    """Solve a game and certify the solution.

    Parameters
    ----------
    game
        Name with options, a .toml, .efg or .nfg file, module:object, spot, or MATCHSTATE:….
    schedule
        CFR schedule, dcfr by default; repeat to compare.
    plot
        Plot the convergence to an image file.
    estimate
        Print the sizes of tree and tables only.
    boards
        Spots: a file with one board per line, all, or sample:25.
    keep
        With --boards: keep every solution under --out.
    line
        With --boards: report this line instead of the root: b50, x-x/*.
    """
    of_spot, of_state = (given(options_for(source, options)) for source in (SPOT_FROM_TEXTS, SPOT_FROM_MATCH_STATE))
    options = options_for("riverboat.api.solve:solve", options)
    schedules: list[str | None] = [*schedule] if schedule else [None]
    if boards is None and (keep or line is not None):
        raise InputError(f"{'--keep' if keep else '--line'} needs --boards")
    if keep and options["out"] is None:
        raise InputError("--keep needs --out, the folder of the solutions")
    if boards is not None and is_match_state(game):
        raise InputError("--boards is for spots; a match state has its own board, and its ranges depend on it")
    if plot is not None and boards is not None:
        raise InputError("--plot draws one run, but --boards makes many; leave one out")
    if estimate:
        solve_api.check_choices(*(options[name] for name in ("method", "traversal", "device", "dtype")))
    solved: str | Spot = game
    if is_spot(game) or of_spot or of_state or boards:
        solved = read_spot(game, of_spot, of_state)
    if estimate:
        settings = {name: options[name] for name in ("threads", "traversal", "memory")}
        with StageDisplay() as display:
            facts = estimates.estimate(solved, schedule=schedules[0], observer=display, **settings)
        print_estimate(facts, json)
        return True
    if isinstance(solved, Spot) and options["method"] == "cfr" and len(schedules) > 1:
        raise InputError("--schedule: give only one for spots")
    if isinstance(solved, Spot) and boards is not None:
        return _solve_boards(solved, boards, schedules[0], keep, line, json, options)
    results = _solve_all(solved, schedules, options)
    state = {}
    if is_match_state(game):
        assert isinstance(solved, Spot)
        state = {"match_state": game.strip(), "ranges": of_state.get("ranges"), "behind": list(solved.behind)}
        state["played"] = solved.played
    return _print_solved(results, isinstance(solved, Spot), state, plot, json)


def read_spot(name: str, of_spot: Mapping[str, Any], of_state: Mapping[str, Any]) -> Spot:
    """Return the spot of a file, of flags, or of a match state. Errors begin with an option, which becomes its flag."""
    if is_match_state(name):
        if of_spot:
            raise InputError(
                f"{next(iter(of_spot))} is for 'riverboat solve spot'; give bet sizes for a match state with --menu"
            )
        with StageDisplay() as display:
            return spot_from_match_state(name, observer=display, **of_state)
    if of_state:
        raise InputError(f"{next(iter(of_state))} is for match states: riverboat solve 'MATCHSTATE:…' --ranges AGENT")
    if name == SPOT:
        return spot_from_texts(**of_spot)
    if not is_spot(name):
        raise InputError(f"{name}: board, ranges and sizes are for spots: a .toml file, or 'riverboat solve spot'")
    if of_spot:
        raise InputError(f"{next(iter(of_spot))} is for 'riverboat solve spot'; {name} defines it already")
    spot = game_from_spec(name)
    assert isinstance(spot, Spot)
    return spot


# --- solving ---


class SolveDisplay(StageDisplay):
    """Shows a solve. From the plan on, a signal is raised between two steps, so that the run can be saved."""

    def __init__(self) -> None:
        self.current: solve_api.SolvePlan | None = None
        self._signals = ExitStack()
        self._interrupted: Callable[[], Interrupted | None] = lambda: None

    def plan(self, plan: solve_api.SolvePlan) -> None:
        self.close()
        self.current = plan
        if plan.large and plan.table_bytes is not None:
            say(f"{plan.game}: {plan.infosets:,} information sets, tables of {format_bytes(plan.table_bytes)}")
        iterations, seconds, until = plan.limits
        self.line = SolveProgressLine(
            f"{plan.game} {plan.method}", plan.unit, iterations=iterations, seconds=seconds, until=until
        )
        if not plan.compiled:
            self.line.update(None, COMPILING_MESSAGE)
        if plan.resumable:
            self._interrupted = self._signals.enter_context(defer_signals())

    def progress(self, now: SolveProgress) -> None:
        if isinstance(self.line, SolveProgressLine):
            self.line(now)
        if (signal := self._interrupted()) is not None:
            raise signal

    def close(self) -> None:
        self._signals.close()
        self._interrupted = lambda: None
        self.close_line()

    def __exit__(self, *_: object) -> None:
        self.close()


class Solved(NamedTuple):
    """A result, and why it missed its target."""

    result: Result
    reason: str | None
    unsaved: UnsavedError | None  # raised after the result is printed


def _print_solved(
    solved: Sequence[Solved], is_spot: bool, state: Mapping[str, Any], plot: Path | None, json: bool
) -> bool:
    results = [each.result for each in solved]
    facts = [each.result.to_dict() | {"reason": each.reason} for each in solved]
    best = min(facts, key=lambda entry: float(entry["exploitability"]))
    best |= state
    is_spot_result = is_spot and results[0].method == "cfr"
    parts = _spot_result_parts(results[0], best) if is_spot_result else _result_parts(results)
    print_result(best | ({"runs": facts} if len(facts) > 1 else {}), parts, json)
    if plot is not None:
        from riverboat.plots.results import plot_convergence  # loads matplotlib

        save_picture(plot_convergence(results), plot)
    for each in solved:
        if each.unsaved is not None:
            raise each.unsaved
    missed = [each.reason for each in solved if each.reason is not None]
    for reason in missed:
        say(reason)
    return not missed


def _solve_all(game: str | Game, schedules: Sequence[str | None], options: dict[str, Any]) -> list[Solved]:
    """Solve with each schedule in turn, into subfolders of `out`; the tree is compiled once."""
    if len(schedules) == 1:
        return [_solve_one(game, schedules[0], options)]
    if options["resume"]:
        raise InputError("--resume continues one schedule at a time")
    with StageDisplay() as display:
        compiled = solve_api.compile_for_solving(game, display)
    base = options["out"]
    folders = [
        None if base is None else Path(base) / str(name).replace(":", "-").replace(",", "-") for name in schedules
    ]
    return [_solve_one(compiled, name, options | {"out": out}) for name, out in zip(schedules, folders, strict=True)]


def _solve_one(game: str | Game | solve_api.CompiledGame, schedule: str | None, options: Mapping[str, Any]) -> Solved:
    """Solve with one schedule and show progress; an interrupt saves the run and tells how to continue it."""
    unsaved: UnsavedError | None = None
    with SolveDisplay() as display:
        try:
            result = solve_api.solve(game, schedule=schedule, observer=display, **options)
        except UnsavedError as error:
            unsaved, result = error, error.result
        except solve_api.SolveInterrupted as stopped:
            display.close()
            run, folder = stopped.run, stopped.run.folder
            if folder is None:
                folder = Path("runs") / f"{files.safe_file_name(run.tree.name)}-{clock.strftime('%Y%m%d-%H%M%S')}"
                run.save(folder)
            say(f"saved under {folder} (continue with --out {shell_quote(folder)} --resume)")
            raise
        assert display.current is not None
        return Solved(result, solve_api.missed_target_reason(result, display.current.limits, options["until"]), unsaved)


def _solve_boards(
    spot: Spot, boards: str, schedule: str | None, keep: bool, line: str | None, json: bool, options: Mapping[str, Any]
) -> bool:
    with SolveDisplay() as display:
        solved = solve_boards(spot, boards, schedule=schedule, keep=keep, line=line or "", observer=display, **options)
    print_result(solved, [solved.table], json)
    if options["out"] is not None and not json:
        say(f"written to {Path(options['out']) / 'aggregate.csv'} and aggregate.json")
    return solved.reached


# --- printing ---


def _result_parts(results: list[Result]) -> Iterator[Any]:
    """Yield the results as a table."""
    first = results[0]
    if not first.certified:
        yield from multiplayer_parts(results)
        return
    rows = []
    for r in results:
        method = r.schedule if r.method == "cfr" else r.method
        assert r.value_low is not None
        assert r.value_high is not None
        half = (r.value_high - r.value_low) / 2
        name = method if r.traversal in (None, "full") else f"{method} {r.traversal}"
        figures = f"{r.value:.9f} ± {half:.1e}", f"{r.exploitability:.3e}", f"{r.nash_conv:.3e}"
        rows.append((name, f"{r.iterations:,}", f"{r.seconds:.2f}", *figures))
    yield f"{first.game}: {first.infosets:,} information sets; values in {first.unit}"
    columns = "method", figure("iterations", 2), figure("seconds", 3), figure("value (certified)")
    yield make_table([*columns, figure("exploitability"), figure("NashConv", 4)], rows)


def _spot_result_parts(result: Result, facts: Mapping[str, Any]) -> Iterator[Any]:
    yield (
        f"{facts['game']}: exploitability {facts['exploitability_pct']:.4g} % of the pot after {facts['iterations']:,} "
        f"iterations, {facts['seconds']:.2f} s; {format_bytes(facts['memory_mb'] * 1e6)}, threads: {facts['threads']}"
    )
    yield node_summary(result.strategy[""])  # type: ignore[arg-type]  # the solution of a spot


# --- estimates ---

MAX_LINES_SHOWN = 40  # lines printed per street


def print_estimate(facts: Mapping[str, Any], json: bool) -> None:
    """Print sizes in chips, nodes and boards of each street, memory and time."""
    lines = _spot_estimate_parts(facts) if "streets" in facts else _tree_estimate_lines(facts)
    print_result(dict(facts), lines, json)


def _tree_estimate_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the estimate of a game other than hold'em."""
    exact = facts["figures_are"] == estimates.EXACT
    about = "" if exact else "about "

    def number(x: int) -> str:
        return f"{x:,}" if exact else f"{x:.2g}"

    yield f"{facts['game']}: {about}{number(facts['nodes'])} nodes in the tree"
    if "infosets" in facts:
        yield f"{about}{number(facts['infosets'])} information sets, {number(facts['infoset_actions'])} infoset-actions"
        tables = ", ".join(f"{name} {format_bytes(size)}" for name, size in facts["bytes"].items())
        yield f"tables ({facts['schedule']}): {about}{tables}"
    if not exact:
        yield f"{estimates.ESTIMATED}; the solver counts nodes while it builds, and stops if memory runs out"


def _spot_estimate_parts(facts: Mapping[str, Any]) -> Iterator[Any]:
    yield f"{facts['game']}: {facts['infosets']:,} information sets, {facts['infoset_actions']:,} infoset-actions"
    first, *others = facts["streets"][0]
    columns = ReportColumn(first), *(ReportColumn(name, FIGURE, name.replace("_", " ")) for name in others)
    rows = [(str(row[first]), *(f"{row[name]:,}" for name in others)) for row in facts["streets"]]
    yield ReportTable("", columns, tuple(rows))
    tables = ", ".join(f"{name} {format_bytes(size)}" for name, size in facts["bytes"].items())
    yield f"tables ({facts['schedule']}): {tables}; the tree itself {format_bytes(facts['bytes_tree'])}"
    yield f"{facts['dtype']} tables are used, unless --dtype says otherwise"
    text = f"about {format_seconds(facts['seconds_per_iteration'])} per iteration on {facts['threads']} thread"
    text += "s" if facts["threads"] > 1 else ""
    if facts["seconds_to_target"] is not None:
        duration = format_seconds(facts["seconds_to_target"])
        target, iterations = facts["target_pct"], facts["iterations_to_target"]
        text += f", {duration} to {target:g} % of the pot if that takes {iterations} iterations"
    yield f"{text} (an estimate; your machine may be up to three times faster or slower)"
    yield "sizes in chips, as totals on the street; * is any card"
    for number, row in enumerate(facts["streets"]):
        lines = [line for line in facts["menus"] if line["street"] == number]
        yield f"{row['street']}:"
        for line in lines[:MAX_LINES_SHOWN]:
            where = f"{line['line'] or 'root'}: {line['player']}, pot {line['pot']:g}"
            yield f"  {where}: {' '.join(line['moves'])}"
        if len(lines) > MAX_LINES_SHOWN:
            yield f"  … {len(lines) - MAX_LINES_SHOWN:,} more; --json prints all"
