"""Output of `riverboat icm`, `pushfold` and `tournament`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from riverboat.api import tournaments
from riverboat.api.tournaments import IcmResult, PushFoldDecision, PushFoldResult, TournamentResult
from riverboat.cli.terminal import plain_console, say
from riverboat.core import files
from riverboat.core.errors import InputError, short_repr
from riverboat.core.formatting import format_bytes, format_seconds
from riverboat.core.tables import FIGURE, ReportColumn, ReportTable

MAX_LINES_SHOWN = 64  # more decisions are shown only behind at most one all-in


def parse_numbers(text: str, what: str) -> tuple[float, ...]:
    """Parse numbers such as `10,10,15`."""
    values = []
    for position, part in enumerate(text.split(","), 1):
        if not re.fullmatch(r"\s*\d+(\.\d+)?\s*", part, re.ASCII):
            raise InputError(
                f"{what} {short_repr(text)}: number {position}, {short_repr(part)}: write numbers such as 10,10,15"
            )
        values.append(float(part))
    return tuple(values)


def parse_blinds(text: str) -> tuple[float, float]:
    """Parse the small and the big blind."""
    pair = parse_numbers(text, "--blinds")
    if len(pair) != 2:
        raise InputError(f"--blinds {short_repr(text)}: give the small and the big blind, such as 0.5,1")
    return pair[0], pair[1]


def check_plot(plot: Path | None, line: str | None) -> None:
    """Raise an error for a picture without a decision, or with an unknown suffix."""
    if plot is not None:
        files.check_image_path(plot)
        if line is None:
            raise InputError("--plot: name the decision with --line, such as --line F")


def print_icm(result: IcmResult) -> None:
    """Print values, finish probabilities, bubble factors and call-off equities."""
    paid, total = range(len(result.payouts)), sum(result.payouts)
    columns = (ReportColumn("player"), *(ReportColumn(n, FIGURE) for n in ("stack", "chips", "value", "prizes")))
    columns += tuple(ReportColumn(f"place {k + 1}", FIGURE, rank=1) for k in paid)
    rows = []
    for i, (stack, value) in enumerate(zip(result.stacks, result.values, strict=True)):
        share, prizes = stack / sum(result.stacks), value / total if total else 0.0
        figures = f"{stack:g}", f"{share:.2%}", f"{value:.4g}", f"{prizes:.2%}"
        rows.append((str(i + 1), *figures, *(f"{result.finish_probabilities[i, k]:.2%}" for k in paid)))
    console = plain_console()
    console.print(ReportTable("", columns, tuple(rows)))
    if len(result.bubble_factors) > 1:
        players = range(len(result.stacks))
        heads = (ReportColumn("all-in"), *(ReportColumn(f"against {j + 1}", FIGURE) for j in players))
        for title, table, form in (
            ("bubble factors", result.bubble_factors, "{:.3f}"),
            ("equity needed to call", result.call_off_equities, "{:.1%}"),
        ):
            lines = tuple(
                (str(i + 1), *("–" if x is None else form.format(x) for x in row)) for i, row in enumerate(table)
            )
            console.print(ReportTable(title, heads, lines))


def save_decisions(
    decisions: Sequence[PushFoldDecision], line: str | None, plot: Path | None, csv: Path | None
) -> None:
    """Write a table of all decisions, and draw the grid of one of them."""
    if csv is not None:
        files.write_text(csv, tournaments.decisions_to_csv(decisions))
        say(f"table: {csv}")
    if plot is not None:
        next(decision for decision in decisions if decision.line == line).grid().save(plot)
        say(f"picture: {plot}")


def decision_table(decisions: Sequence[PushFoldDecision], title: str = "") -> ReportTable:
    """Return a table with one row per decision."""
    columns = (ReportColumn("line"), ReportColumn("player"), ReportColumn("move"), ReportColumn("% of hands", FIGURE))
    rows = tuple((d.line or "–", d.position, d.move, f"{100 * d.share:.1f}") for d in decisions)
    return ReportTable(title, columns, rows)


def print_push_fold(result: PushFoldResult, line: str | None) -> None:
    """Print the decisions, the grid of one line, values and ε."""
    console, decisions, unit = plain_console(), result.decisions, result.spot.unit
    console.print(decision_table([d for d in decisions if len(decisions) <= MAX_LINES_SHOWN or d.line.count("J") <= 1]))
    if line is not None:
        console.print(result.grid(line))
    pairs = zip(result.spot.positions, result.solution.values, strict=True)
    console.print(f"values {', '.join(f'{who} {value:.4g}' for who, value in pairs)} {unit}", highlight=False)
    kind = result.epsilon_is.replace(": ", "; ")
    console.print(
        f"ε {result.epsilon:.3g} {unit} ({kind}), {result.solution.method}, {result.solution.iterations} iterations",
        highlight=False,
    )


def print_estimate(facts: dict[str, Any], threads: int) -> None:
    """Print the size of a tournament and the estimated time."""
    console = plain_console()
    size, memory = format_bytes(facts["bytes_on_disk"]), format_bytes(facts["bytes_in_memory"])
    console.print(
        f"{facts['states_of_three']:,} states of three players, {facts['states_of_two']:,} of two; {size} on disk"
    )
    console.print(f"about {memory} of memory, {format_seconds(facts['seconds'])} on {threads} threads")


def print_tournament(result: TournamentResult, line: str | None = None) -> None:
    """Print ε and the error of ICM, and the requested state with the grid of one line."""
    solved, console, errors = result.solved, plain_console(), result.icm_errors
    console.print(
        f"{len(solved.tournament.states):,} states, {solved.method}: {solved.steps} steps in "
        f"{format_seconds(solved.seconds)}\n"
        f"ε {solved.epsilon:.3g}, {solved.epsilon_percent:.3g} % of the fee of {solved.tournament.fee:g} (exact)\n"
        f"error of ICM values: {errors[0]:.3g} on average, {errors[1]:.3g} at most",
        highlight=False,
    )
    state = result.state
    if state is None:
        return
    console.print(decision_table(state.decisions, f"stacks {', '.join(map(str, state.stacks))} units"))
    columns = (ReportColumn("player"), *(ReportColumn(name, FIGURE) for name in ("units", "value", "ICM")))
    rows = [
        (position, str(units), f"{value:.3f}", f"{model:.3f}")
        for position, units, value, model in zip(
            state.positions, state.stacks, state.values, state.icm_values, strict=True
        )
    ]
    console.print(ReportTable("", columns, tuple(rows)))
    if line is not None:
        console.print(state.grid(line))
