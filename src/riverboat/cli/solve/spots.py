"""`riverboat solve` for hold'em spots: from a file or from flags, with its memory told before it is taken."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Any

from riverboat.cards.deck import Deck
from riverboat.cards.notation import parse_board
from riverboat.cards.ranking_rules import STANDARD
from riverboat.cli.progress import ProgressLine
from riverboat.cli.solve import solve as solving
from riverboat.cli.solve import spot_estimate, table_states
from riverboat.cli.solve.options import SolveOptions, SpotFlags, TableFlags
from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core.errors import InputError
from riverboat.core.formatting import show_bytes
from riverboat.games import registry
from riverboat.games.registry import make as make_game
from riverboat.games.spots.locks import unreachable
from riverboat.games.spots.spot import STREETS, Spot
from riverboat.solvers.result import Result
from riverboat.strategies import files
from riverboat.strategies.reports.node import summary
from riverboat.strategies.solution import Solution
from riverboat.trees.compile import solver_tree

BY_FLAGS = registry.SPOT  # the name that goes with flags instead of a file
NEEDED = ("board", "pot", "stack", "oop", "ip", "bets")


# --- what users write -------------------------------------------------------------------------


def read(name: str, flags: SpotFlags, table: TableFlags) -> Spot:
    """A spot from a file, from flags, or from a match state."""
    given, of_states = flags.given(), list(table.given())
    if table_states.is_state(name):
        wrong = next(iter(given), None)
        if wrong is not None:
            raise InputError(
                f"{_flag(wrong)} goes with 'riverboat solve spot'; sizes for a match state stand in --menu"
            )
        return table_states.read(name, table)
    if of_states:
        raise InputError(
            f"{_flag(of_states[0])} goes with a match state: riverboat solve 'MATCHSTATE:…' --ranges AGENT"
        )
    if name != BY_FLAGS:
        if not solving.is_spot(name):
            raise InputError(f"{name}: board, ranges and sizes are for spots: a .toml file, or 'riverboat solve spot'")
        if given:
            raise InputError(f"{_flag(next(iter(given)))} goes with 'riverboat solve spot'; {name} says it itself")
        spot = registry.make(name)
        assert isinstance(spot, Spot)
        return spot
    for key in NEEDED:
        if key not in given:
            needed = ", ".join(map(_flag, NEEDED))
            more = ", or --bets '' for a hand that is checked down" if key == "bets" else ""
            raise InputError(f"solve spot: {_flag(key)} is missing; a spot by flags needs {needed}{more}")
    sizes: dict[str, str] = {key: given.pop(key) for key in ("bets", "raises", "donks") if key in given}
    given["rake"] = _share(given["rake"]) if "rake" in given else None
    given.setdefault("rake_cap", inf)
    given["deck"] = Deck.of_rules(given.pop("rules", STANDARD))
    return Spot.make(bets=_menus(sizes, len(parse_board(given["board"]))), **given)


def _flag(key: str) -> str:
    return "--no-donk" if key == "donk_bets" else f"--{key.replace('_', '-')}"


def _menus(sizes: Mapping[str, str], cards: int) -> dict[str, dict[str, str]]:
    """Menus of the streets from `33% / 75%`: one list for each street, the last one for those that are left."""
    streets = STREETS[max(cards, 3) - 3 :]
    menus: dict[str, dict[str, str]] = {street: {} for street in streets}
    for key, text in sizes.items():
        parts = text.split("/")
        if len(parts) > len(streets):
            raise InputError(f"--{key} {text!r}: {len(parts)} lists of sizes for {len(streets)} streets")
        for k, street in enumerate(streets):
            menus[street][key.removesuffix("s")] = parts[min(k, len(parts) - 1)].strip()
    return menus


def _share(text: str) -> float:
    """0.05 from `5%` or `0.05`."""
    match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*(%?)\s*", text)
    if match is None:
        raise InputError(f"--rake {text!r}: write a share such as 5% or 0.05")
    return float(match[1]) / (100 if match[2] else 1)


def command(
    name: str,
    schedules_given: list[str | None],
    options: SolveOptions,
    flags: SpotFlags,
    table: TableFlags,
    boards: str | None,
    *,
    keep: bool,
    line: str | None = None,
    estimate: bool,
    plot: Path | None,
    json: bool,
) -> bool:
    """What `riverboat solve` does with a spot; true unless a target was missed."""
    schedule = schedules_given[0]
    for flag, given in (("--keep", keep), ("--line", line is not None)):
        if given and boards is None:
            raise InputError(f"{flag} goes with --boards")
    if keep and options.out is None:
        raise InputError("--keep needs --out, the folder where the solutions are kept")
    if boards is not None and table_states.is_state(name):
        raise InputError(
            "--boards goes with spots; a match state has its board, and its ranges are those of that board"
        )
    if plot is not None and boards is not None:
        raise InputError("--plot draws one run, and --boards makes many; leave one out")
    if estimate:
        spot_words = solving.is_spot(name) or flags.given() or table.given()
        game = read(name, flags, table) if spot_words else make_game(name)
        solving.check_words(options)
        spot_estimate.print_estimate(game, schedule, options.threads, json, options.traversal)
        return True
    spot = read(name, flags, table)
    if options.method != "cfr":  # small ones, as a check
        return solving.command(spot, schedules_given, options, plot, json)
    if len(schedules_given) > 1:
        raise InputError("--schedule: one at a time for spots")
    if options.resume and options.out is None:
        raise InputError("--resume needs --out, the folder of the run to go on with")
    options = options.aimed(spot.scale[0])
    if boards is not None:
        from riverboat.cli.solve import many_boards

        return many_boards.command(spot, boards, schedule, options, keep=keep, line=line, json=json)
    unsaved = solving.Unsaved()
    result, told = solve(spot, schedule, options, unsaved)
    if table_states.is_state(name):
        told |= table_states.facts(name, spot, table)
    if json:
        emit(told)
    else:
        report(result, told)
    return solving.finished([result], [told["reason"]], plot, unsaved)


# --- solving ----------------------------------------------------------------------------------


def solve(
    spot: Spot, schedule: str | None, options: SolveOptions, unsaved: solving.Unsaved
) -> tuple[Result, dict[str, Any]]:
    """Solve one spot; the result, and what `--json` says of it."""
    options = options.for_game(spot)
    for remark in unreachable(spot):
        say(remark)
    with solving.held(options.out):
        with ProgressLine(f"building the tree of {spot.name}"):
            tree = None if options.resume and _begun(options.out) else solver_tree(spot)
        run = solving.start(spot, tree, schedule, options)
        result = solving.go(run, options, unsaved)
        with ProgressLine("EVs and equities of the root"):
            return result, result.to_dict() | {"reason": solving.missed(result, options)}


def _begun(out: Path | None) -> bool:
    return out is not None and out.is_dir() and bool(files.checkpoints(out))


def report(result: Result, told: Mapping[str, Any]) -> None:
    """The answer for people."""
    console = plain_console()
    console.print(
        f"{told['game']}: exploitability {told['exploitability_pct']:.4g} % of the pot after {told['iterations']:,} "
        f"iterations, {told['seconds']:.2f} s; {show_bytes(told['memory_mb'] * 1e6)}, threads: {told['threads']}"
    )
    assert isinstance(result.strategy, Solution)
    console.print(summary(result.strategy[""]))
