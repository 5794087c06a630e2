"""`riverboat solve`: call `rb.solve`, and print its results."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from riverboat.api.boards import solve_boards
from riverboat.api.estimate import estimate
from riverboat.api.solve import (
    CompiledGame,
    SolveInterrupted,
    check_choices,
    compile_for_solving,
    missed_target_reason,
)
from riverboat.api.solve import solve as solve_game
from riverboat.api.spots import spot_from_match_state, spot_from_texts
from riverboat.cli.display import StageDisplay
from riverboat.cli.solve import estimates, multiplayer
from riverboat.cli.solve.display import SolveDisplay
from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core import files
from riverboat.core.errors import InputError, UnsavedError
from riverboat.core.formatting import format_bytes, shell_quote
from riverboat.core.tables import FIGURE, ReportColumn, ReportTable
from riverboat.games.base import Game
from riverboat.games.holdem.match_state import TAG
from riverboat.games.registry import SPOT, game_from_spec
from riverboat.games.spots.spot import Spot
from riverboat.strategies.reports.node import node_summary

if TYPE_CHECKING:
    from riverboat.solvers.result import Result


def is_match_state(name: str) -> bool:
    """Return whether a name is a match state."""
    return name.lstrip().startswith(TAG)


def is_spot(name: str) -> bool:
    """Return whether a name is a spot: `spot` with flags, a file, or a match state."""
    return name == SPOT or Path(name).suffix.lower() == ".toml" or is_match_state(name)


class SolveCommand(NamedTuple):
    """A call of `riverboat solve`, with its options in groups."""

    name: str
    schedules: list[str | None]
    options: dict[str, Any]  # of `rb.solve`
    spot_options: dict[str, Any]  # of `spot_from_texts`, those given
    state_options: dict[str, Any]  # of `spot_from_match_state`, those given
    boards: str | None
    keep: bool
    line: str | None
    estimate: bool
    plot: Path | None
    json: bool


def run_solve(call: SolveCommand) -> bool:
    """Solve, print and plot; return False if a target was missed."""
    _check_boards_options(call)
    is_about_spots = is_spot(call.name) or bool(call.spot_options or call.state_options or call.boards)
    if call.estimate:
        check_choices(*(call.options[name] for name in ("method", "traversal", "device", "dtype")))
        game = read_spot(call) if is_about_spots else call.name
        with StageDisplay() as display:
            facts = estimate(
                game, schedule=call.schedules[0], threads=call.options["threads"],
                traversal=call.options["traversal"], observer=display,
            )  # fmt: skip
        estimates.print_estimate(facts, call.json)
        return True
    if not is_about_spots:
        return _solve_and_print(call, call.name)
    spot = read_spot(call)
    if call.options["method"] == "cfr" and len(call.schedules) > 1:
        raise InputError("--schedule: give only one for spots")
    return _solve_and_print(call, spot) if call.boards is None else _solve_boards(call, spot, call.boards)


def _check_boards_options(call: SolveCommand) -> None:
    for flag, given in (("--keep", call.keep), ("--line", call.line is not None)):
        if given and call.boards is None:
            raise InputError(f"{flag} needs --boards")
    if call.keep and call.options["out"] is None:
        raise InputError("--keep needs --out, the folder of the solutions")
    if call.boards is not None and is_match_state(call.name):
        raise InputError("--boards is for spots; a match state has its own board, and its ranges depend on it")
    if call.plot is not None and call.boards is not None:
        raise InputError("--plot draws one run, but --boards makes many; leave one out")


def read_spot(call: SolveCommand) -> Spot:
    """Return the spot of a file, of flags, or of a match state."""
    given, of_state = [_flag(name) for name in call.spot_options], [_flag(name) for name in call.state_options]
    if is_match_state(call.name):
        if given:
            raise InputError(f"{given[0]} is for 'riverboat solve spot'; give bet sizes for a match state with --menu")
        with StageDisplay() as display:
            return spot_from_match_state(call.name, observer=display, **call.state_options)
    if of_state:
        raise InputError(f"{of_state[0]} is for match states: riverboat solve 'MATCHSTATE:…' --ranges AGENT")
    if call.name == SPOT:
        return spot_from_texts(**call.spot_options)
    if not is_spot(call.name):
        raise InputError(f"{call.name}: board, ranges and sizes are for spots: a .toml file, or 'riverboat solve spot'")
    if given:
        raise InputError(f"{given[0]} is for 'riverboat solve spot'; {call.name} defines it already")
    spot = game_from_spec(call.name)
    assert isinstance(spot, Spot)
    return spot


def _flag(name: str) -> str:
    return "--game" if name == "table_game" else f"--{name.replace('_', '-')}"


# --- solving ---


class Solved(NamedTuple):
    """A result, and why it missed its target."""

    result: Result
    reason: str | None
    unsaved: UnsavedError | None  # raised after the result is printed


def _solve_and_print(call: SolveCommand, game: str | Game) -> bool:
    solved = _solve_all(game, call.schedules, call.options)
    results = [each.result for each in solved]
    facts = [each.result.to_dict() | {"reason": each.reason} for each in solved]
    best = min(facts, key=lambda entry: float(entry["exploitability"]))
    if is_match_state(call.name):
        assert isinstance(game, Spot)
        best |= {
            "match_state": call.name.strip(), "ranges": call.state_options.get("ranges"),
            "behind": list(game.behind), "played": game.played,
        }  # fmt: skip
    if call.json:
        emit(best | ({"runs": facts} if len(facts) > 1 else {}))
    elif isinstance(game, Spot) and results[0].method == "cfr":
        _print_spot_result(results[0], best)
    else:
        _print_results(results)
    if call.plot is not None:
        from riverboat.reports.plots.results import plot_convergence

        plot_convergence(results, call.plot)
        say(f"picture: {call.plot}")
    for each in solved:
        if each.unsaved is not None:
            raise each.unsaved
    missed = [each.reason for each in solved if each.reason is not None]
    for reason in missed:
        say(reason)
    return not missed


def _solve_all(game: str | Game, schedules: Sequence[str | None], options: dict[str, Any]) -> list[Solved]:
    """Solve with each schedule in turn; the tree is compiled once."""
    if len(schedules) == 1:
        return [_solve_one(game, schedules[0], options)]
    if options["resume"]:
        raise InputError("--resume continues one schedule at a time")
    with StageDisplay() as display:
        compiled = compile_for_solving(game, display)
    folders = [
        None if options["out"] is None else Path(options["out"]) / str(name).replace(":", "-").replace(",", "-")
        for name in schedules
    ]
    return [_solve_one(compiled, name, options | {"out": out}) for name, out in zip(schedules, folders, strict=True)]


def _solve_one(game: str | Game | CompiledGame, schedule: str | None, options: Mapping[str, Any]) -> Solved:
    """Solve, with progress; an interrupt saves the run between two steps."""
    unsaved: UnsavedError | None = None
    with SolveDisplay() as display:
        try:
            result = solve_game(game, schedule=schedule, observer=display, **options)
        except UnsavedError as error:
            unsaved, result = error, error.result
        except SolveInterrupted as stopped:
            display.close()
            run, folder = stopped.run, stopped.run.folder
            if folder is None:
                folder = Path("runs") / f"{files.safe_file_name(run.tree.name)}-{clock.strftime('%Y%m%d-%H%M%S')}"
                run.save(folder)
            say(f"saved under {folder} (continue with --out {shell_quote(folder)} --resume)")
            raise
        assert display.current is not None
        return Solved(result, missed_target_reason(result, display.current.limits, options["until"]), unsaved)


def _solve_boards(call: SolveCommand, spot: Spot, boards: str) -> bool:
    with SolveDisplay() as display:
        solved = solve_boards(
            spot, boards, schedule=call.schedules[0], keep=call.keep, line=call.line or "", observer=display,
            **call.options,
        )  # fmt: skip
    if call.json:
        emit(solved.to_dict())
    else:
        plain_console().print(solved.table)
        if call.options["out"] is not None:
            say(f"written to {Path(call.options['out']) / 'aggregate.csv'} and aggregate.json")
    return solved.reached


# --- printing ---

_RESULT_COLUMNS = (
    ReportColumn("method"), ReportColumn("iterations", FIGURE, rank=2), ReportColumn("seconds", FIGURE, rank=3),
    ReportColumn("value (certified)", FIGURE), ReportColumn("exploitability", FIGURE),
    ReportColumn("NashConv", FIGURE, rank=4),
)  # fmt: skip


def _print_results(results: list[Result]) -> None:
    """Print the results as a table."""
    first = results[0]
    if not first.certified:
        multiplayer.print_multiplayer_results(results)
        return
    rows = []
    for r in results:
        method = r.schedule if r.method == "cfr" else r.method
        assert r.value_low is not None
        assert r.value_high is not None
        half = (r.value_high - r.value_low) / 2
        name = f"{method}" + (f" {r.traversal}" if r.traversal not in (None, "full") else "")
        figures = f"{r.value:.9f} ± {half:.1e}", f"{r.exploitability:.3e}", f"{r.nash_conv:.3e}"
        rows.append((name, f"{r.iterations:,}", f"{r.seconds:.2f}", *figures))
    console = plain_console()
    console.print(f"{first.game}: {first.infosets:,} information sets; values in {first.unit}")
    console.print(ReportTable("", _RESULT_COLUMNS, tuple(rows)))


def _print_spot_result(result: Result, facts: Mapping[str, Any]) -> None:
    console = plain_console()
    console.print(
        f"{facts['game']}: exploitability {facts['exploitability_pct']:.4g} % of the pot after {facts['iterations']:,} "
        f"iterations, {facts['seconds']:.2f} s; {format_bytes(facts['memory_mb'] * 1e6)}, threads: {facts['threads']}"
    )
    console.print(node_summary(result.strategy[""]))  # type: ignore[arg-type]  # the solution of a spot
