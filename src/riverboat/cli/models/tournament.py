"""Output of `riverboat icm`, `pushfold` and `tournament`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from riverboat.api import tournaments
from riverboat.cli.progress import DeferredProgressBar, LineSlot
from riverboat.cli.terminal import figure, make_table, print_result, save_picture, say
from riverboat.cli.termination import defer_signals
from riverboat.core import files
from riverboat.core.errors import InputError, short_repr
from riverboat.core.formatting import format_bytes, format_seconds
from riverboat.core.tables import ReportColumn, ReportTable

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


def _check_line(plot: Path | None, line: str | None) -> None:
    if plot is not None and line is None:
        raise InputError("--plot: name the decision with --line, such as --line F")


def icm(*, stacks: str, payouts: str, json: bool = False) -> None:
    """Compute the ICM value of stacks, and the equity that a call needs.

    Parameters
    ----------
    stacks
        Chips of each player, such as 10,10,15.
    payouts
        Prizes from the first place down, such as 50,30,20.
    """
    result = tournaments.icm(parse_numbers(stacks, "--stacks"), parse_numbers(payouts, "--payouts"))
    print_result(result, _icm_parts(result), json)


def pushfold(
    *,
    stacks: str,
    blinds: str = "0.5,1",
    payouts: str | None = None,
    line: str | None = None,
    plot: Path | None = None,
    csv: Path | None = None,
    json: bool = False,
    **options: Any,
) -> bool:
    """Solve a push/fold game: an equilibrium with its ε.

    Parameters
    ----------
    stacks
        Two to nine stacks in the order of action, blinds last.
    blinds
        Small and big blind.
    payouts
        Prizes; without them chips count as money.
    line
        Show the grid of one decision: '', J, FF, …
    plot
        Draw the grid of --line.
    csv
        Write all decisions as a table.
    """
    _check_line(plot, line)
    chips, pair = parse_numbers(stacks, "--stacks"), parse_numbers(blinds, "--blinds")
    if len(pair) != 2:
        raise InputError(f"--blinds {short_repr(blinds)}: give the small and the big blind, such as 0.5,1")
    prizes = None if payouts is None else parse_numbers(payouts, "--payouts")
    with DeferredProgressBar("equities, once") as preparing, DeferredProgressBar("push or fold") as progress:
        result = tournaments.push_fold(
            chips, blinds=pair, payouts=prizes, line=line, preparing=preparing, progress=progress, **options
        )
    _save_decisions(result.decisions, line, plot, csv)
    print_result(result, _push_fold_parts(result, line), json)
    return result.reached


def tournament(
    source: Path | None = None,
    *,
    state: str | None = None,
    line: str | None = None,
    plot: Path | None = None,
    csv: Path | None = None,
    estimate: bool = False,
    json: bool = False,
    **options: Any,
) -> bool:
    """Solve a push/fold tournament as a stochastic game: an equilibrium with its ε.

    Parameters
    ----------
    source
        A .toml file, or the folder of a run to show; by default the paper's tournament.
    state
        Show a state: units of button, small and big blind.
    line
        Show the grid of one decision of that state: '', J, FF, …
    plot
        Draw the grid of --line.
    csv
        Write the decisions of --state as a table.
    estimate
        Print the number of states, memory and time.
    """
    _check_line(plot, line)
    shown: dict[str, Any] = {"state": None if state is None else parse_numbers(state, "--state"), "line": line}
    if source is not None and source.is_dir():
        if options["small"] or options["out"] is not None:
            raise InputError(f"{source}: contains a run: --small and --out are for new runs")
        result = tournaments.load_tournament(source, **shown)
    elif estimate:
        checked = {name: options[name] for name in ("small", "threads", "method", "until", "time")}
        facts = tournaments.estimate_tournament(source, **checked, **shown)
        print_result(facts, _estimate_lines(facts, options["threads"]), json)
        return True
    else:
        with DeferredProgressBar("equities, once") as bar, LineSlot() as slot, defer_signals() as signal:

            def prepare(share: float) -> None:
                if (received := signal()) is not None:
                    raise received  # nothing to save yet
                bar(share)

            def report(step: int, share: float, epsilon: float | None) -> None:
                fee_share = "" if epsilon is None else f"ε {epsilon:.3g} % of the fee"
                slot.open("tournament").update(share, fee_share, f"step {step}")

            options |= {"preparing": prepare, "progress": report, "stop": lambda: signal() is not None}
            result = tournaments.solve_tournament(source, **shown, **options)
            if (received := signal()) is not None:
                raise received
    if result.state is not None:
        _save_decisions(result.state.decisions, line, plot, csv)
    print_result(result, tournament_parts(result, line), json)
    return result.solved.epsilon_percent <= float(options["until"])


def _icm_parts(result: tournaments.IcmResult) -> Iterator[ReportTable]:
    """Yield values, finish probabilities, bubble factors and call-off equities."""
    paid, total = range(len(result.payouts)), sum(result.payouts)
    columns: list[str | ReportColumn] = ["player", *map(figure, ("stack", "chips", "value", "prizes"))]
    columns += [figure(f"place {k + 1}", 1) for k in paid]
    rows = []
    for i, (stack, value) in enumerate(zip(result.stacks, result.values, strict=True)):
        share, prizes = stack / sum(result.stacks), value / total if total else 0.0
        figures = f"{stack:g}", f"{share:.2%}", f"{value:.4g}", f"{prizes:.2%}"
        rows.append((str(i + 1), *figures, *(f"{result.finish_probabilities[i, k]:.2%}" for k in paid)))
    yield make_table(columns, rows)
    if len(result.bubble_factors) > 1:
        players = range(len(result.stacks))
        heads: list[str | ReportColumn] = ["all-in", *(figure(f"against {j + 1}") for j in players)]
        for title, table, form in (
            ("bubble factors", result.bubble_factors, "{:.3f}"),
            ("equity needed to call", result.call_off_equities, "{:.1%}"),
        ):
            lines = ((str(i + 1), *("–" if x is None else form.format(x) for x in row)) for i, row in enumerate(table))
            yield make_table(heads, lines, title)


def _save_decisions(
    decisions: Sequence[tournaments.PushFoldDecision], line: str | None, plot: Path | None, csv: Path | None
) -> None:
    """Write a table of all decisions to `csv`, and the grid of the decision at `line` to `plot`, where given."""
    if csv is not None:
        files.write_text(csv, tournaments.decisions_to_csv(decisions))
        say(f"table: {csv}")
    if plot is not None:
        grid = next(decision for decision in decisions if decision.line == line).grid()
        save_picture(grid.figure(), plot)


def _decision_table(decisions: Sequence[tournaments.PushFoldDecision], title: str = "") -> ReportTable:
    """Return a table with one row per decision."""
    rows = ((d.line or "–", d.position, d.move, f"{100 * d.share:.1f}") for d in decisions)
    return make_table(["line", "player", "move", figure("% of hands")], rows, title)


def _push_fold_parts(result: tournaments.PushFoldResult, line: str | None) -> Iterator[Any]:
    """Yield the decisions, the grid of one line, values and ε."""
    decisions, unit = result.decisions, result.spot.unit
    yield _decision_table([d for d in decisions if len(decisions) <= MAX_LINES_SHOWN or d.line.count("J") <= 1])
    if line is not None:
        yield result.grid(line)
    pairs = zip(result.spot.positions, result.solution.values, strict=True)
    yield f"values {', '.join(f'{who} {value:.4g}' for who, value in pairs)} {unit}"
    kind = result.epsilon_is.replace(": ", "; ")
    yield f"ε {result.epsilon:.3g} {unit} ({kind}), {result.solution.method}, {result.solution.iterations} iterations"


def _estimate_lines(facts: dict[str, Any], threads: int) -> Iterator[str]:
    """Yield the size of a tournament and the estimated time as lines of text."""
    size, memory = format_bytes(facts["bytes_on_disk"]), format_bytes(facts["bytes_in_memory"])
    yield f"{facts['states_of_three']:,} states of three players, {facts['states_of_two']:,} of two; {size} on disk"
    yield f"about {memory} of memory, {format_seconds(facts['seconds'])} on {threads} threads"


def tournament_parts(result: tournaments.TournamentResult, line: str | None = None) -> Iterator[Any]:
    """Yield ε and the error of ICM, and the requested state with the grid of one line."""
    solved, errors = result.solved, result.icm_errors
    yield (
        f"{len(solved.tournament.states):,} states, {solved.method}: {solved.steps} steps in "
        f"{format_seconds(solved.seconds)}\n"
        f"ε {solved.epsilon:.3g}, {solved.epsilon_percent:.3g} % of the fee of {solved.tournament.fee:g} (exact)\n"
        f"error of ICM values: {errors[0]:.3g} on average, {errors[1]:.3g} at most"
    )
    state = result.state
    if state is None:
        return
    yield _decision_table(state.decisions, f"stacks {', '.join(map(str, state.stacks))} units")
    figures = zip(state.positions, state.stacks, state.values, state.icm_values, strict=True)
    rows = ((position, str(units), f"{value:.3f}", f"{model:.3f}") for position, units, value, model in figures)
    yield make_table(["player", *map(figure, ("units", "value", "ICM"))], rows)
    if line is not None:
        yield state.grid(line)
