"""`riverboat continuous`: games with continuous signals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console

from riverboat.api.continuous import ContinuousResult, RiverThresholdsResult, solve_continuous
from riverboat.cli.progress import ProgressLine
from riverboat.cli.terminal import emit, make_table, prose, save_picture
from riverboat.core.tables import ReportColumn


def continuous(game: Path, *, plot: Path | None = None, json: bool = False, **options: Any) -> bool:
    """Solve a game with continuous signals: certified thresholds.

    Parameters
    ----------
    game
        A .toml file with signals and actions, or a river spot.
    plot
        Plot the thresholds as bars.
    """
    with ProgressLine(f"{game.stem}: models and thresholds"):
        result = solve_continuous(game, **options)
    profile = result.river.profile if isinstance(result, RiverThresholdsResult) else result.best.profile
    if plot is not None:
        from riverboat.plots.thresholds import plot_profile  # loads matplotlib

        save_picture(plot_profile(profile), plot)
    if json:
        emit(result.to_dict())
    elif isinstance(result, RiverThresholdsResult):
        _print_river(result)
    else:
        _print_solutions(result)
    return result.solved


_COLUMNS = "situation", "player", "actions, weak to strong"


def _print_river(result: RiverThresholdsResult) -> None:
    """Print the thresholds of a river as hands, their exploitability, and that of the exact solution."""
    river, hands, rows = result.river, result.river.threshold_hands(), []
    for name, row in river.profile.to_dict().items():
        shares = " ".join(f"{share:.3f}" for share in row["shares"])
        rows.append((name, ("oop", "ip")[row["player"]], " ".join(row["moves"]), shares, "; ".join(hands[name])))
    console = Console()
    console.print(make_table([*_COLUMNS, ReportColumn("shares", rank=1), prose("hands at the thresholds")], rows))
    console.print(
        f"with independent hand ranks: certified ε {100 * river.certificate.epsilon_share:.3g} % of pot; in the actual "
        f"river: exploitability {river.exploitability:.3g} % of pot; exact solution {result.exact_exploitability:.3g} % "
        f"of pot",
        highlight=False,
    )


def _print_solutions(result: ContinuousResult) -> None:
    """Print the verdict of every model, and the thresholds of the best one."""
    console, unit = Console(), result.game.unit
    for solution in result.solutions:
        verdict = "equilibrium" if solution.solved else "rejected"
        share = f"ε {100 * solution.epsilon_share:.2g} % of the pot"
        console.print(
            f"{solution.model.name}: {verdict}, {share}, {solution.method}, {1000 * solution.seconds:.0f} ms",
            highlight=False, markup=False,
        )  # fmt: skip
        if solution.reason:
            console.print(f"  {solution.reason}", highlight=False, markup=False)
    best, rows = result.best, []
    for name, row in best.profile.to_dict().items():
        numbers = [" ".join(f"{x:.9g}" for x in row[key]) for key in ("thresholds", "shares")]
        rows.append((name, str(row["player"]), " ".join(row["moves"]), *numbers))
    console.print(make_table([*_COLUMNS, prose("thresholds"), prose("shares", 1)], rows))
    values = ", ".join(f"{value:.9g}" for value in best.certificate.values)
    console.print(f"values {values} {unit}; certified ε {best.certificate.epsilon:.3g} {unit}", highlight=False)
