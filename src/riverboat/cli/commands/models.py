"""Commands about other models: continuous games, ICM, push/fold, team games and tournaments."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from riverboat.cli.command import command
from riverboat.cli.options import MAX_SEED, JsonOption
from riverboat.cli.progress import DeferredProgressBar, ProgressLine
from riverboat.cli.terminal import emit, parse_duration, say
from riverboat.cli.termination import defer_signals
from riverboat.core import files
from riverboat.core.errors import InputError


@command("riverboat.api.continuous:solve_continuous")
def continuous(
    game: Annotated[Path, typer.Argument(help="A .toml file with signals and actions, or a river spot.")],
    plot: Annotated[Path | None, typer.Option(help="Plot the thresholds as bars.")] = None,
    json: JsonOption = False,
    **options: Any,
) -> None:
    """Solve a game with continuous signals: certified thresholds."""
    from riverboat.api.continuous import RiverThresholds, solve_continuous
    from riverboat.cli.models import continuous as output

    if plot is not None:
        files.check_image_path(plot)
    with ProgressLine(f"{game.stem}: models and thresholds"):
        result = solve_continuous(game, **options)
    profile = result.river.profile if isinstance(result, RiverThresholds) else result.best.profile
    if plot is not None and profile is not None:
        from riverboat.reports.plots.continuous import plot_profile

        plot_profile(profile, plot)
        say(f"picture: {plot}")
    if json:
        emit(result.to_dict())
    elif isinstance(result, RiverThresholds):
        output.print_river(result)
    else:
        output.print_solutions(result)
    if not result.solved:
        raise typer.Exit(1)


def icm(
    stacks: Annotated[str, typer.Option(help="Chips of each player, such as 10,10,15.")],
    payouts: Annotated[str, typer.Option(help="Prizes from the first place down, such as 50,30,20.")],
    json: JsonOption = False,
) -> None:
    """Compute the ICM value of stacks, and the equity that a call needs."""
    from riverboat.api import tournaments
    from riverboat.cli.models.tournament import parse_numbers, print_icm

    result = tournaments.icm(parse_numbers(stacks, "--stacks"), parse_numbers(payouts, "--payouts"))
    emit(result.to_dict()) if json else print_icm(result)


@command("riverboat.api.tournaments:push_fold")
def pushfold(
    stacks: Annotated[str, typer.Option(help="Two to nine stacks in the order of action, blinds last.")],
    blinds: Annotated[str, typer.Option(help="Small and big blind.")] = "0.5,1",
    payouts: Annotated[str | None, typer.Option(help="Prizes; without them chips count as money.")] = None,
    line: Annotated[str | None, typer.Option(help="Show the grid of one decision: '', J, FF, …")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the grid of --line.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write all decisions as a table.")] = None,
    json: JsonOption = False,
    **options: Any,
) -> None:
    """Solve a push/fold game: an equilibrium with its ε."""
    from riverboat.api import tournaments
    from riverboat.cli.models import tournament as output

    output.check_plot(plot, line)
    with DeferredProgressBar("equities, once") as preparing, DeferredProgressBar("push or fold") as progress:
        result = tournaments.push_fold(
            output.parse_numbers(stacks, "--stacks"),
            blinds=output.parse_blinds(blinds),
            payouts=None if payouts is None else output.parse_numbers(payouts, "--payouts"),
            line=line,
            **options,
            preparing=preparing,
            progress=progress,
        )
    output.save_decisions(result.decisions, line, plot, csv)
    emit(result.to_dict()) if json else output.print_push_fold(result, line)
    if not result.reached:
        raise typer.Exit(1)


def team(
    game: Annotated[str, typer.Argument(help="A small game of three players or more, such as kuhn:players=3.")],
    adversary: Annotated[
        int | None, typer.Option(min=0, help="Seat that plays against all others; by default each in turn.")
    ] = None,
    time: Annotated[str, typer.Option(help="Time per team for the bound without correlation: 30s, 5m.")] = "30s",
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of the starting points.")] = 0,
    json: JsonOption = False,
) -> None:
    """Compute team-maxmin values against each player, with and without correlation."""
    from riverboat.cli.solve import multiplayer

    multiplayer.solve_team_maxmin(game, adversary, parse_duration(time), seed, json)


@command("riverboat.api.tournaments:solve_tournament")
def tournament(
    source: Annotated[
        Path | None,
        typer.Argument(help="A .toml file, or the folder of a run to show; by default the paper's tournament."),
    ] = None,
    small: Annotated[
        bool, typer.Option("--small", help="The paper's tournament on a coarser grid, 91 states.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Folder of the run, written after every step.")] = None,
    state: Annotated[str | None, typer.Option(help="Show a state: units of button, small and big blind.")] = None,
    line: Annotated[str | None, typer.Option(help="Show the grid of one decision of that state: '', J, FF, …")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the grid of --line.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write the decisions of --state as a table.")] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Print the number of states, memory and time.")] = False,
    json: JsonOption = False,
    **options: Any,
) -> None:
    """Solve a push/fold tournament as a stochastic game: an equilibrium with its ε."""
    from riverboat.api import tournaments
    from riverboat.cli.models import tournament as output

    output.check_plot(plot, line)
    shown: dict[str, Any] = {"state": None if state is None else output.parse_numbers(state, "--state"), "line": line}
    if source is not None and source.is_dir():
        if small or out is not None:
            raise InputError(f"{source}: contains a run: --small and --out are for new runs")
        result = tournaments.load_tournament(source, **shown)
    elif estimate:
        facts = tournaments.estimate_tournament(source, small=small, threads=options["threads"])
        emit(facts) if json else output.print_estimate(facts, options["threads"])
        return
    else:
        with DeferredProgressBar("equities, once") as bar, ExitStack() as lines, defer_signals() as signal:
            opened: list[ProgressLine] = []  # appears with the first report

            def prepare(share: float) -> None:
                if (received := signal()) is not None:
                    raise received  # nothing to save yet
                bar(share)

            def report(step: int, share: float, epsilon: float | None) -> None:
                if not opened:
                    opened.append(lines.enter_context(ProgressLine("tournament")))
                opened[0].update(share, "" if epsilon is None else f"ε {epsilon:.3g} % of the fee", f"step {step}")

            result = tournaments.solve_tournament(
                source,
                small=small,
                out=out,
                **shown,
                **options,
                preparing=prepare,
                progress=report,
                stop=lambda: signal() is not None,
            )
            if (received := signal()) is not None:
                raise received
    if result.state is not None:
        output.save_decisions(result.state.decisions, line, plot, csv)
    emit(result.to_dict()) if json else output.print_tournament(result, line)
    if not result.solved.epsilon_percent <= options["until"]:
        raise typer.Exit(1)


COMMANDS = (continuous, icm, pushfold, team, tournament)
