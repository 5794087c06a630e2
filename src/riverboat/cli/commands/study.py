"""Commands about recorded hands, practice and the web page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from riverboat.cli.command import command
from riverboat.cli.options import MAX_COUNT, MAX_PORT, MAX_SEED, AgentArgument, GameOption, JsonOption
from riverboat.cli.terminal import emit, say
from riverboat.core.files import check_image_path


def hands(
    files: Annotated[
        list[Path], typer.Argument(help="Hand histories: .phh, .phhs (PHH) or .log (ACPC), also with .gz.")
    ],
    player: Annotated[
        list[str] | None, typer.Option(help="Player to show; by default those with the most hands.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Plot the statistics with their intervals.")] = None,
    game: GameOption = None,
    json: JsonOption = False,
) -> None:
    """Read hand histories: number of hands, rejected hands, and statistics of the players."""
    from riverboat.api.players import hand_statistics
    from riverboat.cli.players import print_statistics

    if plot is not None:
        check_image_path(plot)
    report = hand_statistics(files, players=player or (), game=game)
    if plot is not None and report.players:
        from riverboat.reports.plots.results import plot_player_statistics

        plot_player_statistics(list(report.players), plot)
    emit(report.to_dict()) if json else print_statistics(report, show_all=bool(player))


@command("riverboat.api.players:model_players")
def model(
    agent: AgentArgument,
    files: Annotated[list[Path], typer.Argument(help="Hand histories, as for `riverboat hands`.")],
    player: Annotated[
        list[str] | None, typer.Option(help="Player to model; by default those with the most hands.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Plot predicted against observed frequencies.")] = None,
    json: JsonOption = False,
    **options: Any,
) -> None:
    """Fit models of players in a blueprint's tree, and evaluate them on held-out hands."""
    from riverboat.api.players import model_players
    from riverboat.cli.players import print_models

    if plot is not None:
        check_image_path(plot)
    models = model_players(agent, files, players=player or (), **options)
    if options.get("out") is not None:
        say(f"saved the model of {models.evaluations[0].name} in {options['out']}")
    if plot is not None:
        from riverboat.reports.plots.results import plot_calibration

        plot_calibration(list(models.evaluations), plot)
    emit(models.to_dict()) if json else print_models(models)


# --- Practice: drills and charts ---

SourceArgument = Annotated[
    str,
    typer.Argument(help="Folder of a solved spot or tournament, an agent with a blueprint (demo), or push:10,10."),
]


def drill(
    source: SourceArgument = "default",
    questions: Annotated[int | None, typer.Option(min=1, max=MAX_COUNT, help="Stop after this many questions.")] = None,
    line: Annotated[str | None, typer.Option(help="Only ask questions at this line.")] = None,
    seat: Annotated[str | None, typer.Option(help="oop or ip; both by default.")] = None,
    only: Annotated[str, typer.Option(help="all, close (actions with nearly equal EV) or mixed decisions.")] = "all",
    scope: Annotated[
        str, typer.Option(help="one decision per hand, or on to the end of the street or of the hand.")
    ] = "one",
    no_focus: Annotated[
        bool, typer.Option("--no-focus", help="Deal at random, not more often where you lost EV.")
    ] = False,
    record: Annotated[Path | None, typer.Option(help="File of answers; in the data folder by default.")] = None,
    show: Annotated[bool, typer.Option("--show", help="Show the record: EV lost by group and over time.")] = False,
    seed: Annotated[int | None, typer.Option(min=0, max=MAX_SEED, help="Seed of the cards; random by default.")] = None,
    json: JsonOption = False,
) -> None:
    """Practice decisions, graded by EV lost, with a record of your answers."""
    from riverboat.cli import practice as practice_commands
    from riverboat.practice.drills import DrillOptions

    drill_options = DrillOptions(line, seat, only, scope, not no_focus)
    practice_commands.run_drill(
        source, practice_commands.DrillCommandOptions(questions, drill_options, record, seed, show, json)
    )


def charts(
    source: SourceArgument = "default",
    line: Annotated[list[str] | None, typer.Option(help="A decision, such as cr300 or J; repeat for several.")] = None,
    against: Annotated[str | None, typer.Option(help="Compare with the charts of another source.")] = None,
    out: Annotated[Path | None, typer.Option(help="Draw the charts into one image: .png, .svg or .pdf.")] = None,
    list_only: Annotated[bool, typer.Option("--list", help="List the decisions without grids.")] = False,
    json: JsonOption = False,
) -> None:
    """Show charts of starting hands: blueprints, solved spots, push/fold tables, tournaments."""
    from riverboat.cli import practice as practice_commands

    practice_commands.show_charts(source, line or [], against, out, list_only, json)


# --- Web page ---


def serve(
    port: Annotated[int, typer.Option(min=0, max=MAX_PORT, help="Port of the page; 0 takes a free one.")] = 8765,
    host: Annotated[str, typer.Option(help="Address to listen at; prints a warning unless it is local.")] = "127.0.0.1",
    data: Annotated[Path, typer.Option(help="Folder of the runs; nothing else is read or written.")] = Path("runs"),
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Solves in parallel; others wait.")] = 1,
    memory: Annotated[str | None, typer.Option(help="Memory limit of all solves together, such as 8GB.")] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Only print the link.")] = False,
) -> None:
    """Serve a web page: build spots, solve them, study the solutions, and watch runs."""
    from riverboat.web import serve as web_serve

    web_serve.serve(port, host, data, jobs, memory, open_browser=not no_open)


COMMANDS = (hands, model, drill, charts, serve)
