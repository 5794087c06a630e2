"""Output for games without a certified value: values of all players, gains of unilateral deviations, and team-maxmin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from riverboat.api.solve import team_values
from riverboat.cli.display import StageDisplay
from riverboat.cli.terminal import emit, plain_console
from riverboat.core.claims import to_dicts
from riverboat.core.tables import FIGURE, ReportColumn, ReportTable

if TYPE_CHECKING:
    from riverboat.evaluation.quality import StrategyQuality
    from riverboat.solvers.result import Result

_PLAYER_COLUMNS = (
    ReportColumn("player"), ReportColumn("value", FIGURE), ReportColumn("best response", FIGURE, rank=2),
    ReportColumn("gain", FIGURE),
)  # fmt: skip


def _player_table(values: tuple[float, ...], gains: tuple[float, ...]) -> ReportTable:
    players = enumerate(zip(values, gains, strict=True))
    rows = [(str(p), f"{value:.9f}", f"{value + gain:.9f}", f"{gain:.3e}") for p, (value, gain) in players]
    return ReportTable("", _PLAYER_COLUMNS, tuple(rows))


def print_multiplayer_results(results: list[Result]) -> None:
    """Print results as tables."""
    console, first = plain_console(), results[0]
    players = len(first.values)
    console.print(f"{first.game}: {players} players, {first.infosets:,} information sets; values in {first.unit}")
    for r in results:
        method = f"{r.schedule}" + (f" {r.traversal}" if r.traversal != "full" else "")
        gain = f"{r.exploitability:.3e}"
        measure = f"ε {gain}, the largest gain by deviating alone" if players > 2 else f"exploitability {gain}"
        console.print(
            f"{method}, {r.iterations:,} iterations, {r.seconds:.2f} s: {measure}; NashConv {r.nash_conv:.3e}"
        )
        console.print(_player_table(r.values, r.gains))
    console.print(f"guarantee {first.guarantee}")


def print_multiplayer_exploitability(name: str, quality: StrategyQuality, json: bool) -> None:
    """Print the gain of each player who deviates alone."""
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
    measure = (
        f"ε {figure}, the largest gain of a player who deviates alone" if players > 2 else f"exploitability {figure}"
    )
    console.print(f"{name}: {players} players; {measure}; NashConv {quality.nash_conv:.9g}")
    console.print(_player_table(quality.values, quality.gains))


_TEAM_COLUMNS = (
    ReportColumn("against player"), ReportColumn("with correlation", FIGURE), ReportColumn("plans", FIGURE, rank=2),
    ReportColumn("without, lower bound", FIGURE), ReportColumn("upper bound", FIGURE),
    ReportColumn("seconds", FIGURE, rank=3),
)  # fmt: skip


def solve_team_maxmin(spec: str, adversary: int | None, seconds: float, seed: int, json: bool) -> None:
    """Compute team-maxmin values: what one player, or each in turn, gets against a team of all others."""
    with StageDisplay() as display:
        solved = team_values(spec, adversary, seconds=seconds, seed=seed, observer=display)
    if json:
        teams = [
            {
                "adversary": result.adversary, "correlated_low": result.correlated[0],
                "correlated_high": result.correlated[1],
                "plans": result.plans, "alone_low": result.uncorrelated[0], "alone_high": result.uncorrelated[1],
                "boxes": result.boxes,
                "seconds": result.seconds,
            }
            for result in solved.teams
        ]  # fmt: skip
        emit({"game": solved.game, "unit": solved.unit, "values_are": "what the adversary earns", "teams": teams})
        return
    rows = [
        (
            str(result.adversary), f"{sum(result.correlated) / 2:.9f}", str(result.plans), f"{result.uncorrelated[0]:.9f}",
            f"{result.uncorrelated[1]:.9f}", f"{result.seconds:.1f}",
        )
        for result in solved.teams
    ]  # fmt: skip
    console = plain_console()
    console.print(f"{solved.game}: value of each player against a team of all others, in {solved.unit}")
    console.print(ReportTable("", _TEAM_COLUMNS, tuple(rows)))
    console.print(
        "with correlation: the team samples a joint plan in secret; without: members randomize independently, and the "
        "value is "
        "between the proved bound and the value of the best profile found"
    )
