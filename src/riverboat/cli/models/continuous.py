"""`riverboat continuous`: thresholds of a game with continuous signals, as a table, as JSON, as a picture."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from riverboat.cli.progress import ProgressLine
from riverboat.cli.terminal import emit, say
from riverboat.continuous import game_file
from riverboat.continuous.game import ContinuousGame
from riverboat.continuous.solve import Answer, solve, solve_models
from riverboat.core import atomic_io
from riverboat.core.errors import InputError
from riverboat.core.tables import PROSE, Column, ReportTable
from riverboat.core.text_files import parse_toml, read_toml


def continuous(path: Path, models: Path | None, method: str, steps: int, plot: Path | None, json: bool) -> bool:
    """Solve a game by given models, or by proposed ones; true when one of them is an equilibrium."""
    if plot is not None:
        atomic_io.check_picture(plot)
    if "board" in parse_toml(read_toml(path, "continuous game")):
        if models is not None or method != "auto":
            raise InputError(f"{path}: a spot takes no --models and no --method: they are proposed for its ranges")
        _river(path, steps, plot, json)
        return True  # how good it is was measured in the river itself
    game = game_file.load(path)
    if models is None and method != "auto":
        raise InputError(f"--method {method}: needs --models")
    given = None if models is None else game_file.load_models(models, game)
    with ProgressLine(f"{game.name}: {'models are proposed and tried' if given is None else 'models are tried'}"):
        answers = solve(game, steps) if given is None else solve_models(game, given, method, steps)
    best = answers[0]
    if plot is not None and best.profile is not None:
        from riverboat.reports.plots.continuous import bars

        bars(best.profile, plot)
        say(f"picture: {plot}")
    if json:
        emit({"game": game.name, "solved": best.solved, "answers": [answer.to_dict(game) for answer in answers]})
    else:
        _report(game, answers)
    return best.solved


def _river(path: Path, steps: int, plot: Path | None, json: bool) -> None:
    """A river of hold'em: thresholds as hands, what they lose, and the exact solution beside them."""
    from riverboat.continuous.holdem import solve_river
    from riverboat.formats.spot_file import load
    from riverboat.solvers.run import solve as solve_exactly

    spot = load(path)
    with ProgressLine(f"{spot.name}: thresholds, and the exact solution"):
        river = solve_river(spot, steps)
        exact = solve_exactly(spot, until=0.5)
    if plot is not None:
        from riverboat.reports.plots.continuous import bars

        bars(river.profile, plot, spot.name)
        say(f"picture: {plot}")
    shown, hands = river.profile.to_dict(), river.hands()
    if json:
        rows = {name: row | {"hands": hands[name]} for name, row in shown.items()}
        emit({
            "spot": spot.name, "model": river.answer.model.to_dict(river.profile.game), "situations": rows,
            "epsilon_share": river.certificate.share, "solved": river.answer.solved, "loss": river.loss,
            "exact_exploitability": exact.exploitability, "unit": "% of pot",
        })  # fmt: skip
        return
    table = []
    for name, row in shown.items():
        shares = " ".join(f"{share:.3f}" for share in row["shares"])
        table.append((name, ("oop", "ip")[row["player"]], " ".join(row["moves"]), shares, "; ".join(hands[name])))
    columns = (Column("situation"), Column("player"), Column("moves, weak to strong"), Column("shares", rank=1))
    console = Console()
    console.print(ReportTable("", (*columns, Column("hands at the thresholds", PROSE)), tuple(table)))
    console.print(
        f"ranks taken as independent: certified ε {100 * river.certificate.share:.3g} % of pot; in the river as it is: "
        f"exploitability {river.loss:.3g} % of pot; exact solution {exact.exploitability:.3g} % of pot",
        highlight=False,
    )


def _report(game: ContinuousGame, answers: list[Answer]) -> None:
    console = Console()
    for answer in answers:
        verdict = "equilibrium" if answer.solved else "refused"
        share = "" if answer.certificate is None else f", ε {100 * answer.share:.2g} % of the pot"
        console.print(
            f"{answer.model.name}: {verdict}{share}, {answer.method}, {1000 * answer.seconds:.0f} ms",
            highlight=False, markup=False,
        )  # fmt: skip
        if answer.reason:
            console.print(f"  {answer.reason}", highlight=False, markup=False)
    best = answers[0]
    if best.profile is None or best.certificate is None:
        return
    rows = []
    for name, row in best.profile.to_dict().items():
        numbers = [" ".join(f"{x:.9g}" for x in row[key]) for key in ("thresholds", "shares")]
        rows.append((name, str(row["player"]), " ".join(row["moves"]), *numbers))
    columns = (Column("situation"), Column("player"), Column("moves, weak to strong"), Column("thresholds", PROSE))
    console.print(ReportTable("", (*columns, Column("shares", PROSE, rank=1)), tuple(rows)))
    values = ", ".join(f"{value:.9g}" for value in best.certificate.values)
    console.print(
        f"values {values} {game.unit}; certified ε {best.certificate.epsilon:.3g} {game.unit}", highlight=False
    )
