"""Output of `riverboat continuous`: thresholds as a table."""

from __future__ import annotations

from rich.console import Console

from riverboat.api.continuous import ContinuousResult, RiverThresholds
from riverboat.core.tables import PROSE, ReportColumn, ReportTable

_COLUMNS = ReportColumn("situation"), ReportColumn("player"), ReportColumn("actions, weak to strong")


def print_river(result: RiverThresholds) -> None:
    """Print the thresholds of a river as hands, their exploitability, and that of the exact solution."""
    river, hands, rows = result.river, result.river.threshold_hands(), []
    for name, row in river.profile.to_dict().items():
        shares = " ".join(f"{share:.3f}" for share in row["shares"])
        rows.append((name, ("oop", "ip")[row["player"]], " ".join(row["moves"]), shares, "; ".join(hands[name])))
    columns = *_COLUMNS, ReportColumn("shares", rank=1), ReportColumn("hands at the thresholds", PROSE)
    console = Console()
    console.print(ReportTable("", columns, tuple(rows)))
    console.print(
        f"with independent hand ranks: certified ε {100 * river.certificate.epsilon_share:.3g} % of pot; in the actual "
        f"river: exploitability {river.exploitability:.3g} % of pot; exact solution {result.exact_exploitability:.3g} % "
        f"of pot",
        highlight=False,
    )


def print_solutions(result: ContinuousResult) -> None:
    """Print the verdict of every model, and the thresholds of the best one."""
    console, unit = Console(), result.game.unit
    for solution in result.solutions:
        verdict = "equilibrium" if solution.solved else "rejected"
        share = "" if solution.certificate is None else f", ε {100 * solution.epsilon_share:.2g} % of the pot"
        console.print(
            f"{solution.model.name}: {verdict}{share}, {solution.method}, {1000 * solution.seconds:.0f} ms",
            highlight=False, markup=False,
        )  # fmt: skip
        if solution.reason:
            console.print(f"  {solution.reason}", highlight=False, markup=False)
    best = result.best
    if best.profile is None or best.certificate is None:
        return
    rows = []
    for name, row in best.profile.to_dict().items():
        numbers = [" ".join(f"{x:.9g}" for x in row[key]) for key in ("thresholds", "shares")]
        rows.append((name, str(row["player"]), " ".join(row["moves"]), *numbers))
    columns = *_COLUMNS, ReportColumn("thresholds", PROSE), ReportColumn("shares", PROSE, rank=1)
    console.print(ReportTable("", columns, tuple(rows)))
    values = ", ".join(f"{value:.9g}" for value in best.certificate.values)
    console.print(f"values {values} {unit}; certified ε {best.certificate.epsilon:.3g} {unit}", highlight=False)
