"""The command line: typed options for each command, which call the API.

Heavy modules are imported inside the commands, so that `--help` is quick.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command_name
from typer.models import CommandInfo

from riverboat.cli import termination
from riverboat.cli.command import command, given, options_for
from riverboat.cli.commands import endgames, evaluation, matches, models, study
from riverboat.cli.commands import files as file_commands
from riverboat.cli.options import (
    MAX_COUNT,
    MAX_PORT,
    MAX_SEED,
    THREAD_LIMIT,
    AgentArgument,
    FolderArgument,
    GameOption,
    JsonOption,
    SolvedGameOption,
)
from riverboat.cli.terminal import parse_duration
from riverboat.core import files
from riverboat.core.errors import InputError

app = typer.Typer(
    help="Solve imperfect-information games, with a certificate of the solution's quality.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
)

acpc = typer.Typer(help="Matches over the ACPC protocol.", no_args_is_help=True)
app.add_typer(acpc, name="acpc")
app.add_typer(endgames.app, name="endgames")


SOLVE = "riverboat.api.solve:solve"
SPOT_FROM_TEXTS = "riverboat.api.spots:spot_from_texts"
SPOT_FROM_MATCH_STATE = "riverboat.api.spots:spot_from_match_state"


@app.command()
@command(SOLVE, (SPOT_FROM_TEXTS, "solve spot: "), (SPOT_FROM_MATCH_STATE, "solve MATCHSTATE: "), skip=("state",))
def solve(
    game: Annotated[
        str, typer.Argument(help="Name with options, a .toml, .efg or .nfg file, module:object, spot, or MATCHSTATE:….")
    ],
    schedule: Annotated[
        list[str] | None, typer.Option(help="CFR schedule, dcfr by default; repeat to compare.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Plot the convergence to an image file.")] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Print the sizes of tree and tables only.")] = False,
    boards: Annotated[
        str | None, typer.Option(help="Spots: a file with one board per line, all, or sample:25.")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="With --boards: keep every solution under --out.")] = False,
    line: Annotated[
        str | None, typer.Option(help="With --boards: report this line instead of the root: b50, x-x/*.")
    ] = None,
    json: JsonOption = False,
    **options: Any,
) -> None:
    """Solve a game and certify the solution."""
    from riverboat.cli.solve.solve import SolveCommand, run_solve

    if plot is not None:
        files.check_image_path(plot)
    spot, table = (given(options_for(source, options)) for source in (SPOT_FROM_TEXTS, SPOT_FROM_MATCH_STATE))
    schedules: list[str | None] = [*schedule] if schedule else [None]
    if not run_solve(
        SolveCommand(
            game, schedules, options_for(SOLVE, options), spot, table, boards, keep, line, estimate, plot, json
        )
    ):
        raise typer.Exit(1)


@app.command()
def show(
    folder: Annotated[
        Path, typer.Argument(help="Folder of a run or a strategy; or an agent with its options: demo?purify.")
    ],
    line: Annotated[
        str | None,
        typer.Argument(
            help="Information set hand:line; spots: b94-c/8h, * for any card; blueprints: preflop or cr300c/; root."
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=0, max=MAX_COUNT, help="Rows to print at most.")] = 60,
    hand: Annotated[str | None, typer.Option(help="Spots: one hand, KsJs; a class, AK, AKs, QQ; or a range.")] = None,
    table: Annotated[str | None, typer.Option(help="Spots: combos, classes, made, draws, groups or equity.")] = None,
    player: Annotated[str | None, typer.Option(help="Spots: oop or ip; by default the player to act.")] = None,
    range_text: Annotated[bool, typer.Option("--range", help="Hold'em: print the range of --player as text.")] = False,
    runouts: Annotated[bool, typer.Option("--runouts", help="Spots: EVs and frequencies for each next card.")] = False,
    values: Annotated[bool, typer.Option("--values", help="Blueprints: EVs of hands and of best responses.")] = False,
    picture: Annotated[Path | None, typer.Option(help="Spots: draw the grid.")] = None,
    sort: Annotated[str | None, typer.Option(help="Spots: sort the table by a column, such as ev.")] = None,
    board: Annotated[
        str | None, typer.Option(help="Blueprints, agents and card abstractions: the board, AsKd2c.")
    ] = None,
    abstraction: Annotated[
        Path | None, typer.Option(help="Blueprints: current folder of the card abstraction.")
    ] = None,
    game: SolvedGameOption = None,
    json: JsonOption = False,
) -> None:
    """Show an artifact: its description, its strategy, one information set or one node."""
    from riverboat.cli.show import artifact as artifact_commands
    from riverboat.cli.show.spot import ShowOptions

    view = ShowOptions(hand, table, player, runouts, picture, sort, limit, board, range_text, values)
    artifact_commands.show_artifact(folder, line, view, json, abstraction, game)


@app.command()
def export(
    folder: FolderArgument,
    csv: Annotated[bool, typer.Option("--csv", help="Comma-separated values.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    line: Annotated[str | None, typer.Option(help="The node, such as b94-c/8h; the root by default.")] = None,
    depth: Annotated[int | None, typer.Option(min=1, help="Export all nodes below it, over this many streets.")] = None,
    out: Annotated[Path | None, typer.Option(help="File to write; stdout by default.")] = None,
    game: SolvedGameOption = None,
) -> None:
    """Export strategies, EVs, equities and reach probabilities of every hand."""
    from riverboat.cli.show import artifact as artifact_commands
    from riverboat.cli.show import spot as spot_commands

    spot_commands.export_strategy(artifact_commands.load_strategy(folder, game), line, depth, out, csv=csv, json=json)


@app.command()
def respond(
    folder: FolderArgument,
    player: Annotated[int | None, typer.Option(help="Seat of the responder; all by default.")] = None,
    out: Annotated[Path | None, typer.Option(help="Save the best response as a strategy (needs --player).")] = None,
    limit: Annotated[int, typer.Option(min=0, max=MAX_COUNT, help="Rows to print at most.")] = 30,
    game: SolvedGameOption = None,
    json: JsonOption = False,
) -> None:
    """Compute a best response to a strategy, and its value."""
    from riverboat.cli.show import artifact as artifact_commands

    artifact_commands.show_best_responses(folder, player, out, limit, json, game)


@app.command()
def games(json: JsonOption = False) -> None:
    """List the games with their options."""
    from riverboat.cli.show import artifact as artifact_commands

    artifact_commands.list_games(json)


@app.command()
def trace(
    game: Annotated[str, typer.Argument(help="A small game.")] = "kuhn",
    deal: Annotated[str | None, typer.Option(help="Hands of both players, such as QJ.")] = None,
    schedule: Annotated[str, typer.Option(help="CFR schedule.")] = "vanilla",
    iteration: Annotated[int, typer.Option(min=1, max=MAX_COUNT, help="Which iteration to show, from 1.")] = 1,
    svg: Annotated[Path | None, typer.Option(help="Draw the tree of the deal as SVG.")] = None,
    json: JsonOption = False,
) -> None:
    """Show one iteration of CFR, node by node."""
    from riverboat.cli.show import artifact as artifact_commands

    artifact_commands.show_trace(game, deal, schedule, iteration, svg, json)


@app.command()
def equity(
    hands: Annotated[list[str], typer.Argument(help="Two to ten hands or ranges: AhKh, QQ, '22+,A2s+'.")],
    board: Annotated[str, typer.Option(help="Three to five cards, such as 2h7h9c.")] = "",
    rules: Annotated[str, typer.Option(help="standard; short or short-trips for a deck of 36 cards.")] = "standard",
    threads: Annotated[int, typer.Option(min=1, max=THREAD_LIMIT, help="Threads over boards.")] = 2,
    samples: Annotated[
        int, typer.Option(min=1, max=MAX_COUNT, help="Samples if the ranges are too many to enumerate.")
    ] = 1_000_000,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of the samples.")] = 0,
    json: JsonOption = False,
) -> None:
    """Compute the equity of hands and ranges against each other, exactly where possible."""
    from riverboat.cli import cards as card_commands

    card_commands.compute_equity(hands, board, rules, threads, samples, seed, json)


@app.command("range")
def range_(
    text: Annotated[str, typer.Argument(help="A range such as '22+,A2s+:0.5', or @file.")],
    board: Annotated[str, typer.Option(help="Board cards, which remove hands.")] = "",
    out: Annotated[Path | None, typer.Option(help="Draw the grid to an image file.")] = None,
    json: JsonOption = False,
) -> None:
    """Show a range as a 13 × 13 grid."""
    from riverboat.cli import cards

    cards.show_range(text, board, out, json)


@app.command()
def features(
    street: Annotated[str, typer.Argument(help="preflop, flop, turn or river.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the tables.")] = None,
    bins: Annotated[int | None, typer.Option(min=1, help="Bins of the river strength histogram; default 50.")] = None,
    ochs: Annotated[bool, typer.Option("--ochs", help="Strength against groups of starting hands instead.")] = False,
    threads: Annotated[int, typer.Option(min=1, max=THREAD_LIMIT, help="Threads over boards.")] = 2,
    json: JsonOption = False,
) -> None:
    """Compute the strength features of every canonical hand of a street."""
    from riverboat.cli import cards as card_commands

    if ochs and bins is not None:
        raise InputError(f"--bins {bins} with --ochs: strength against groups has no bins")
    card_commands.compute_features(street, out, 50 if bins is None else bins, ochs, threads, json)


@app.command()
@command("riverboat.api.abstract:abstract")
def abstract(
    recipe: Annotated[str | None, typer.Argument(help="A preset (--list) or a .toml file.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the abstraction.")] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Only print the estimated time and memory.")] = False,
    listing: Annotated[bool, typer.Option("--list", help="List the presets.")] = False,
    json: JsonOption = False,
    **options: Any,
) -> None:
    """Build a card abstraction: group hands into buckets."""
    from riverboat.cli import abstract as abstracting

    if listing + (recipe is not None) != 1:
        raise InputError("abstract: name a recipe, or give --list")
    if recipe is None:
        abstracting.list_abstraction_recipes(json)
        return
    abstracting.build_abstraction(recipe, out, estimate=estimate, json=json, **options)


@app.command()
@command("riverboat.api.train:train")
def train(
    recipe: Annotated[
        str | None, typer.Argument(help="A preset (--list) or a .toml file; by default a size that fits --time.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="At the end, plot the snapshots' results against the last one.")
    ] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Only print the sizes.")] = False,
    listing: Annotated[bool, typer.Option("--list", help="List the presets.")] = False,
    json: JsonOption = False,
    **options: Any,
) -> None:
    """Train a blueprint: Monte Carlo CFR over a betting tree and card buckets."""
    from riverboat.cli import train as train_commands

    if listing and recipe is not None:
        raise InputError("train: name a recipe, or give --list")
    if recipe is None and options["time"] is None and not listing:
        raise InputError("train: name a recipe, give --list, or give --time alone: it then determines the size")
    if listing:
        train_commands.list_recipes(json)
        return
    train_commands.train_blueprint(recipe, out, estimate=estimate, plot=plot, json=json, **options)


@app.command()
def play(
    agent: AgentArgument = "default?search=river",
    hands: Annotated[int | None, typer.Option(min=1, max=MAX_COUNT, help="Stop after this many hands.")] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, max=MAX_SEED, help="Seed of the cards and of the agent; a new one by default.")
    ] = None,
    game: GameOption = None,
    seat: Annotated[str | None, typer.Option(help="oop or ip; by default the seats alternate.")] = None,
    out: Annotated[Path | None, typer.Option(help="Save the session in this file after every action.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the session in that file.")] = False,
    review: Annotated[
        bool, typer.Option("--review", help="At the end, review the EV lost by each decision, and luck.")
    ] = False,
    histories: Annotated[Path | None, typer.Option(help="At the end, write the hands to FILE.phhs (PHH).")] = None,
) -> None:
    """Play hands against an agent in the terminal; a solved spot is an agent for its subgame."""
    from riverboat.cli import play as play_commands

    play_commands.play_session(
        agent, hands=hands, seed=seed, game=game, seat=seat, out=out, resume=resume, review=review, histories=histories
    )


@app.command()
def act(
    agent: AgentArgument,
    state: Annotated[str, typer.Argument(help="Match state: 'MATCHSTATE:0:30:cr300c/:9s8h|/8c8d5c'.")],
    explain: Annotated[
        bool, typer.Option("--explain", help="Print the search result: subgame, ranges, margins.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of the agent's random choices.")] = 0,
    game: GameOption = None,
    json: JsonOption = False,
) -> None:
    """Print an agent's action probabilities in one match state, and the action it samples."""
    from riverboat.cli import play as play_commands

    play_commands.show_action(agent, state, seed, game, json, explain)


@app.command()
def demo(
    time: Annotated[str | None, typer.Option(help="Train for 60s, 5m; a minute by default.")] = None,
    pairs: Annotated[
        int, typer.Option(min=1, max=MAX_COUNT, help="Duplicate pairs against each baseline agent.")
    ] = 10_000,
    threads: Annotated[int, typer.Option(min=1, max=THREAD_LIMIT, help="Threads that build and train.")] = 2,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of the random numbers.")] = 0,
) -> None:
    """Build or load an agent for no-limit hold'em, and play it against baseline agents."""
    from riverboat.cli import demo as demonstration

    demonstration.run_demo(time, pairs, threads, seed)


@acpc.command("dealer")
def acpc_dealer(
    game: Annotated[str, typer.Argument(help="A game or .game file.")] = "nolimit-200bb",
    hands: Annotated[int, typer.Option(min=1, max=MAX_COUNT, help="Hands of the match.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of the cards.")] = 0,
    ports: Annotated[str, typer.Option(help="Ports of the two players; 0 takes a free one.")] = "0,0",
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    log: Annotated[Path | None, typer.Option(help="Write the match log.")] = None,
    players: Annotated[
        list[str] | None, typer.Option(help="Program to start as COMMAND HOST PORT; give it twice.")
    ] = None,
    names: Annotated[str, typer.Option(help="Names of the players.")] = "player1,player2",
    duplicate: Annotated[bool, typer.Option("--duplicate", help="Deal every hand twice with exchanged seats.")] = False,
    forfeit: Annotated[bool, typer.Option("--forfeit", help="If a player disconnects, check or fold for it.")] = False,
    t_response: Annotated[str, typer.Option(help="Time limit per action.")] = "600s",
    t_hand: Annotated[str, typer.Option(help="Time limit per hand.")] = "600s",
    t_per_hand: Annotated[str, typer.Option(help="Limit on the mean time per hand.")] = "7s",
    start_timeout: Annotated[str, typer.Option(help="Time to wait for the players.")] = "60s",
    json: JsonOption = False,
) -> None:
    """Run a match between two programs that speak the ACPC protocol."""
    from riverboat.acpc.dealer import DealerLimits
    from riverboat.cli.matches import remote as remote_commands

    limits = DealerLimits(
        start=parse_duration(start_timeout),
        answer=parse_duration(t_response),
        hand=parse_duration(t_hand),
        average=parse_duration(t_per_hand),
    )
    if not remote_commands.run_dealer(
        game, hands=hands, seed=seed, ports=ports, host=host, log=log, commands=players or [], names=names,
        limits=limits, duplicate=duplicate, forfeit=forfeit, json=json,
    ):  # fmt: skip
        raise typer.Exit(1)


@acpc.command("client")
def acpc_client(
    agent: AgentArgument,
    host: Annotated[str, typer.Argument(help="Where the dealer listens.")],
    port: Annotated[int, typer.Argument(min=1, max=MAX_PORT, help="The player's port.")],
    game: Annotated[str, typer.Option(help="A game or .game file.")] = "nolimit-200bb",
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of the agent's random choices.")] = 0,
    json: JsonOption = False,
) -> None:
    """Connect an agent to an ACPC dealer and play."""
    from riverboat.cli.matches import remote as remote_commands

    if not remote_commands.run_client(agent, game, host, port, seed=seed, json=json):
        raise typer.Exit(1)


@app.command()
def bench(
    full: Annotated[
        bool,
        typer.Option("--full", help="Also Bluff(2,2) (6 GB), feature tables, flops and [2-1] hold'em: ten minutes."),
    ] = False,
    device: Annotated[str, typer.Option(help="cpu, or cuda: GPU throughput next to its memory bandwidth.")] = "cpu",
    json: JsonOption = False,
) -> None:
    """Measure speed on fixed workloads, and against OpenSpiel if it is installed."""
    from riverboat.cli import bench as benchmark

    benchmark.run_benchmarks(full, device, json)


@app.command()
def reproduce(
    experiment: Annotated[str | None, typer.Argument(help="Name of the experiment; --list shows all.")] = None,
    listing: Annotated[bool, typer.Option("--list", help="List all experiments with their cost.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Run all experiments.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Use the paper's size instead of a quick one.")] = False,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of the random numbers.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Draw the result to an image file.")] = None,
    docs: Annotated[Path | None, typer.Option(help="Write the results into this documentation page.")] = None,
    json: JsonOption = False,
) -> None:
    """Reproduce tables and figures of the papers, next to the published values."""
    from riverboat.cli import reproduce as reproduce_commands

    if listing + every + (experiment is not None) != 1:
        raise InputError("reproduce: name one experiment, or give --list or --all")
    if listing:
        reproduce_commands.list_experiments(json)
        return
    names = [experiment] if experiment is not None else list(reproduce_commands.EXPERIMENTS)
    if not reproduce_commands.run_experiments(names, full, seed, json, plot, docs, every=every):
        raise typer.Exit(1)


for _group in (matches, models, evaluation, file_commands, study):
    for _command in _group.COMMANDS:
        app.command()(_command)


@app.command()
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Delete the cached tables.")] = False, json: JsonOption = False
) -> None:
    """Show or clear the tables that are cached between runs."""
    from riverboat.cli.show import artifact as artifact_commands

    artifact_commands.show_cache(clear, json)


def print_version(value: bool) -> None:
    """Print the version and stop."""
    if value:
        from riverboat import __version__

        typer.echo(f"riverboat {__version__}")
        raise typer.Exit


@app.callback()
def _global_options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Solve imperfect-information games, with a certificate of the solution's quality."""


def main(arguments: list[str] | None = None) -> None:
    """Run a command; print errors as one line and exit with their code."""
    termination.run_app(_app_for_call(sys.argv[1:] if arguments is None else arguments), arguments)


def _app_for_call(words: list[str]) -> typer.Typer:
    """Return an app with the full definition of the called command, and only names and descriptions of the others.

    Typer processes the options of every registered command first, which takes a tenth of a second.
    """
    command = next((word for word in words if not word.startswith("-")), "")
    needed = copy(app)
    needed.registered_commands = [
        info
        if command == (info.name or get_command_name(info.callback.__name__))
        else _command_outline(info, info.callback)
        for info in app.registered_commands
        if info.callback is not None
    ]
    return needed


def _command_outline(info: CommandInfo, whole: Callable[..., Any]) -> CommandInfo:
    def command() -> None:
        raise AssertionError(f"{whole.__name__}: only the outline of this command was loaded")

    command.__name__, command.__doc__ = whole.__name__, whole.__doc__
    outline = copy(info)
    outline.callback = command
    return outline


if __name__ == "__main__":
    main()
