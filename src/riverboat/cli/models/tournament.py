"""`riverboat tournament`: a whole tournament of push or fold, solved in a folder or read from it."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from riverboat.cards.grid import CLASS_NAMES
from riverboat.cli import signals
from riverboat.cli.models.push_fold import grid_of, numbers, said, write_csv
from riverboat.cli.progress import Bar, ProgressLine
from riverboat.cli.terminal import duration, emit, plain_console, say
from riverboat.core import atomic_io
from riverboat.core.errors import InputError, shown, unknown
from riverboat.core.formatting import show_bytes, show_seconds
from riverboat.core.tables import FIGURE, Column, ReportTable
from riverboat.tournaments.equilibrium import share_of_hands
from riverboat.tournaments.iteration import METHODS, Workers
from riverboat.tournaments.ray_stages import RayStages
from riverboat.tournaments.run import Progress, SolvedTournament, load, solve
from riverboat.tournaments.showdown_orders import three_way, two_way
from riverboat.tournaments.tournament import Tournament

RATE = 0.25  # seconds of one core for a state and a step, on the machine it was tried on
STEPS = 8  # that a run took there


@dataclass(frozen=True)
class Options:
    """What the command line says."""

    small: bool = False
    method: str | None = None  # None: pi-fp, or what a folder was solved by
    iterations: int = 100
    until: float = 0.5
    time: str | None = None
    threads: int = 2
    cluster: str | None = None
    out: Path | None = None
    resume: bool = False
    state: str | None = None
    line: str | None = None
    plot: Path | None = None
    csv: Path | None = None
    estimate: bool = False
    json: bool = False

    def __post_init__(self) -> None:
        if self.method is not None and self.method not in METHODS:
            raise unknown("method", self.method, METHODS)
        if not self.until >= 0:
            raise InputError(f"--until {self.until}: give % of the fee, such as 0.5")
        if self.resume and self.out is None:
            raise InputError("--resume: say where the run lives with --out DIR")
        if self.time is not None:
            duration(self.time)  # refused before anything is read
        if self.plot is not None:
            atomic_io.check_picture(self.plot)
        if self.plot is not None and self.line is None:
            raise InputError("--plot: say which decision with --line, such as --line F")


def tournament(source: Path | None, options: Options) -> bool:
    """Solve, or read what was solved; true when ε is small enough."""
    if source is not None and source.is_dir():
        if options.small or options.out is not None:
            raise InputError(f"{source}: holds a run: --small and --out are for new ones")
        solved = load(source)
        return _report(solved, options)
    if source is not None and options.small:
        raise InputError(f"--small and {source}: give one of them")
    asked = Tournament.small() if options.small else Tournament() if source is None else Tournament.read(source)
    _asked(asked, options)
    if options.estimate:
        _estimate(asked, options)
        return True
    solved, stopped = _solve(asked, options)
    if stopped is not None:
        raise stopped
    return _report(solved, options)


def _solve(asked: Tournament, options: Options) -> tuple[SolvedTournament, signals.Interrupted | None]:
    with Bar("equities, once") as bar:
        (two_way if asked.players == 2 else three_way)(options.threads, bar)
    with ProgressLine(f"tournament, {len(asked.states):,} states") as line, signals.noted() as interrupted:

        def told(now: Progress) -> None:
            known = "" if now.epsilon is None else f"ε {100 * now.epsilon / asked.fee:.3g} % of the fee"
            line.update(now.share, known, f"step {now.step}")

        def run(workers: Workers | None) -> SolvedTournament:
            return solve(
                asked,
                options.method or METHODS[1],
                steps=options.iterations,
                until=options.until,
                seconds=None if options.time is None else duration(options.time),
                threads=options.threads,
                workers=workers,
                folder=options.out,
                resume=options.resume,
                progress=told,
                stop=lambda: interrupted() is not None,
            )

        with ExitStack() as held:
            if options.out is not None:
                held.enter_context(atomic_io.held(options.out))
            workers = None
            if options.cluster is not None:
                workers = held.enter_context(RayStages(asked, options.cluster, options.threads))
            return run(workers), interrupted()


def _asked(asked: Tournament, options: Options) -> tuple[int, ...] | None:
    """The state that is to be shown; everybody's equal share where none is named."""
    if options.state is None:
        if options.line is None:
            return None
        if asked.units % asked.players:
            raise InputError("--line: say where with --state, such as --state 5,5,5")
        state = (asked.units // asked.players,) * asked.players
    else:
        stacks = numbers(options.state, "--state")
        state = tuple(round(x) for x in stacks)
        if state not in asked.number or any(x != round(x) for x in stacks):
            units = f"{asked.units} units of {asked.unit:g} chips"
            raise InputError(
                f"--state {shown(options.state)}: give whole numbers, 2 to {asked.players}, that make {units}"
            )
    lines = asked.spot(state).lines
    if options.line is not None and options.line not in lines:
        some = ", ".join(map(shown, lines))
        raise InputError(
            f"--line {shown(options.line)}: nobody decides there; lines of {len(state)} players are {some}"
        )
    return state


def _estimate(asked: Tournament, options: Options) -> None:
    states = [sum(len(state) == n for state in asked.states) for n in (2, 3)]
    size = states[0] * 2 * 169 * 8 + states[1] * 6 * 169 * 8
    seen = states[0] * 2 * 5 * 169 * 8 + states[1] * 3 * 25 * 169 * 8
    seconds = STEPS * RATE * states[1] / options.threads
    facts: dict[str, Any] = {
        "states_of_two": states[0], "states_of_three": states[1], "places": sum(map(len, asked.states)),
        "bytes_on_disk": size, "bytes_in_memory": size + seen + 150_000_000, "seconds": seconds,
        "seconds_are": "a guess, from another machine",
    }  # fmt: skip
    if options.json:
        emit(facts)
        return
    console = plain_console()
    console.print(f"{states[1]:,} states of three players, {states[0]:,} of two; {show_bytes(size)} on disk")
    memory, spent = show_bytes(facts["bytes_in_memory"]), show_seconds(seconds)
    console.print(f"about {memory} of memory, {spent} on {options.threads} threads")


# --- what was found ---------------------------------------------------------------------------


def _report(solved: SolvedTournament, options: Options) -> bool:
    asked, state = solved.tournament, _asked(solved.tournament, options)
    fine = solved.percent_of_fee <= options.until
    away = np.abs(solved.values - asked.chip_model)[sum(len(s) for s in asked.states if len(s) < asked.players) :]
    facts: dict[str, Any] = {
        "tournament": asked.to_dict(), "states": len(asked.states), "method": solved.method, "steps": solved.steps,
        "seconds": solved.seconds, "unit": "of the payouts", "fee": asked.fee,
        "epsilon": solved.epsilon, "epsilon_percent_of_fee": solved.percent_of_fee,
        "epsilon_is": "exact: best responses of one player as Markov decision problems",
        "chip_model_error_mean": float(away.mean()), "chip_model_error_most": float(away.max()),
    }  # fmt: skip
    console = plain_console()
    if not options.json:
        console.print(
            f"{len(asked.states):,} states, {solved.method}: {solved.steps} steps in {show_seconds(solved.seconds)}\n"
            f"ε {solved.epsilon:.3g}, {solved.percent_of_fee:.3g} % of the fee of {asked.fee:g} (exact)\n"
            f"the chip model is off by {facts['chip_model_error_mean']:.3g} on average, "
            f"{facts['chip_model_error_most']:.3g} at most",
            highlight=False,
        )
    if state is not None:
        facts["state"] = _show(solved, state, options)
    if options.json:
        emit(facts)
    return fine


def _show(solved: SolvedTournament, state: tuple[int, ...], options: Options) -> dict[str, Any]:
    """The decisions of a state."""
    asked, spot, strategy = solved.tournament, solved.tournament.spot(state), solved.strategy(state)
    shares = share_of_hands(strategy)
    first = asked.place(state, 0)
    worth = solved.values[first : first + len(state)], asked.chip_model[first : first + len(state)]
    if options.csv is not None:
        write_csv(options.csv, strategy, list(spot.lines))
        say(f"table: {options.csv}")
    if not options.json:
        console = plain_console()
        columns = Column("line"), Column("player"), Column("move"), Column("% of hands", FIGURE)
        rows = [
            (line or "–", spot.positions[len(line)], "call" if "J" in line else "jam", f"{100 * shares[k]:.1f}")
            for k, line in enumerate(spot.lines)
        ]
        console.print(ReportTable(f"stacks {', '.join(map(str, state))} units", columns, tuple(rows)))
        heads = Column("player"), Column("units", FIGURE), Column("worth", FIGURE), Column("chip model", FIGURE)
        body = [
            (who, str(units), f"{value:.3f}", f"{model:.3f}")
            for who, units, value, model in zip(spot.positions, state, *worth, strict=True)
        ]
        console.print(ReportTable("", heads, tuple(body)))
    if options.line is not None:
        grid = grid_of(
            strategy[spot.lines.index(options.line)], f"{spot.positions[len(options.line)]} {said(options.line)}"
        )
        if options.plot is not None:
            grid.save(options.plot)
            say(f"picture: {options.plot}")
        if not options.json:
            plain_console().print(grid)
    return {
        "stacks": list(state), "positions": list(spot.positions), "values": worth[0].tolist(),
        "chip_model": worth[1].tolist(),
        "decisions": [
            {"line": line, "position": spot.positions[len(line)], "hands_percent": 100 * float(shares[k]),
             "all_in": dict(zip(CLASS_NAMES, strategy[k].tolist(), strict=True))}
            for k, line in enumerate(spot.lines)
        ],
    }  # fmt: skip
