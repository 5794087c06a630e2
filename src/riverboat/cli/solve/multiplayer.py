"""What is told where no value is certified: what each player earns, and what each could gain by deviating alone."""

from __future__ import annotations

from typing import Any

from riverboat.cli.progress import ProgressLine
from riverboat.cli.terminal import emit, plain_console
from riverboat.core.claims import to_dicts
from riverboat.core.tables import FIGURE, Column, ReportTable
from riverboat.evaluation.quality import Measured
from riverboat.solvers.game_values import game as make_game
from riverboat.solvers.result import Result
from riverboat.trees.compile import compile_game, histories

_COLUMNS = (
    Column("player"), Column("value", FIGURE), Column("best response", FIGURE, rank=2), Column("gain", FIGURE),
)  # fmt: skip


def _players(values: tuple[float, ...], gains: tuple[float, ...]) -> ReportTable:
    told = enumerate(zip(values, gains, strict=True))
    rows = [(str(p), f"{value:.9f}", f"{value + gain:.9f}", f"{gain:.3e}") for p, (value, gain) in told]
    return ReportTable("", _COLUMNS, tuple(rows))


def report(results: list[Result]) -> None:
    """Answers as tables."""
    console, first = plain_console(), results[0]
    players = len(first.values)
    console.print(f"{first.game}: {players} players, {first.infosets:,} information sets; figures in {first.unit}")
    for r in results:
        how = f"{r.schedule}" + (f" {r.traversal}" if r.traversal != "full" else "")
        gain = f"{r.exploitability:.3e}"
        told = f"ε {gain}, the largest gain of a player" if players > 2 else f"exploitability {gain}"
        console.print(f"{how}, {r.iterations:,} iterations, {r.seconds:.2f} s: {told}; NashConv {r.nash_conv:.3e}")
        console.print(_players(r.values, r.gains))
    console.print(f"guarantee {first.guarantee}")


def exploitability(name: str, quality: Measured, json: bool) -> None:
    """Gains of all players who deviate alone."""
    players = len(quality.values)
    facts: dict[str, Any] = {
        "game": name, "players": players, "exploitability": quality.exploitability,
        "nash_conv": quality.nash_conv, "values": quality.values, "best_responses": quality.best, "gains": quality.gains,
        "unit": quality.unit, "exploitability_is": quality.kind + (": the largest gain of a player" if players > 2 else ""),
        "claims": to_dicts(quality.claims),
    }  # fmt: skip
    if json:
        emit(facts)
        return
    console = plain_console()
    figure = f"{quality.exploitability:.9g} {quality.unit} ({quality.kind})"
    told = f"ε {figure}, the largest gain of a player who deviates alone" if players > 2 else f"exploitability {figure}"
    console.print(f"{name}: {players} players; {told}; NashConv {quality.nash_conv:.9g}")
    console.print(_players(quality.values, quality.gains))


_TEAM = (
    Column("against player"), Column("with correlation", FIGURE), Column("plans", FIGURE, rank=2),
    Column("without, at least", FIGURE), Column("at most", FIGURE), Column("seconds", FIGURE, rank=3),
)  # fmt: skip


def team(spec: str, adversary: int | None, seconds: float, seed: int, json: bool) -> None:
    """What a team of all others can hold each player down to, or one of them."""
    from riverboat.solvers.exact.team_maxmin import team_maxmin  # brings SciPy and HiGHS along

    tree = histories(compile_game(make_game(spec)))
    chosen = [adversary] if adversary is not None else list(range(tree.players))
    results = []
    with ProgressLine(f"{tree.name}: teams against one player") as line:
        for p in chosen:
            line.update(None, f"player {p}")
            results.append(team_maxmin(tree, p, seconds=seconds, seed=seed))
    if json:
        told = [
            {
                "adversary": one.adversary, "correlated_low": one.correlated[0], "correlated_high": one.correlated[1],
                "plans": one.plans, "alone_low": one.alone[0], "alone_high": one.alone[1], "boxes": one.boxes,
                "seconds": one.seconds,
            }
            for one in results
        ]  # fmt: skip
        emit({"game": tree.name, "unit": tree.unit, "values_are": "what the adversary earns", "teams": told})
        return
    rows = [
        (
            str(one.adversary), f"{sum(one.correlated) / 2:.9f}", str(one.plans), f"{one.alone[0]:.9f}",
            f"{one.alone[1]:.9f}", f"{one.seconds:.1f}",
        )
        for one in results
    ]  # fmt: skip
    console = plain_console()
    console.print(f"{tree.name}: what a player earns against a team of all others; figures in {tree.unit}")
    console.print(ReportTable("", _TEAM, tuple(rows)))
    console.print(
        "with correlation: the team draws a joint plan in secret; without: members mix on their own, and the value is "
        "between the proved bound and what the best profile found allows"
    )
