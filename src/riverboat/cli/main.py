"""The command line: a thin translator. Heavy modules load inside the commands, so that `--help` is quick."""

from __future__ import annotations

import sys
from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command_name
from typer.models import CommandInfo

from riverboat.cli import exit_codes, serve
from riverboat.cli.endgames import commands
from riverboat.cli.evaluation import commands as evaluation_cli
from riverboat.cli.explain import commands as explain_cli
from riverboat.cli.files import commands as files_cli
from riverboat.cli.hands import commands as hands_cli
from riverboat.cli.matches import commands as match_cli
from riverboat.cli.models import commands as models_cli
from riverboat.cli.options import MANY, PORT, SEED, THREADS, Agent, Folder, Game, Json, SolvedGame
from riverboat.cli.practice import commands as practice_cli
from riverboat.cli.terminal import duration, size_of_memory
from riverboat.core import atomic_io
from riverboat.core.budget import heard
from riverboat.core.errors import InputError

app = typer.Typer(
    help="Solve imperfect-information games, with a proof of how good the answer is.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
)

acpc = typer.Typer(help="Matches over the ACPC protocol.", no_args_is_help=True)
app.add_typer(acpc, name="acpc")
app.add_typer(commands.app, name="endgames")


@app.command()
def solve(
    game: Annotated[
        str, typer.Argument(help="Name with options, a .toml, .efg or .nfg file, module:object, spot, or MATCHSTATE:….")
    ],
    schedule: Annotated[
        list[str] | None, typer.Option(help="CFR schedule, dcfr by default; repeat to compare.")
    ] = None,
    traversal: Annotated[str, typer.Option(help="full, chance, external, outcome, pcs, opcs or spcs.")] = "full",
    method: Annotated[
        str, typer.Option(help="cfr, lp, egt or undominated (lp without weakly dominated moves).")
    ] = "cfr",
    iterations: Annotated[int | None, typer.Option(min=0, max=MANY, help="Stop after this many.")] = None,
    time: Annotated[str | None, typer.Option(help="Stop after 90s, 5m, 8h.")] = None,
    until: Annotated[
        str | None, typer.Option(help="Stop at this exploitability, in the game's unit; 0.5% of pot.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run: checkpoints and strategy.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    log: Annotated[Path | None, typer.Option(help="Append a JSON line for each check.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the convergence as a picture.")] = None,
    threads: Annotated[int, typer.Option(min=1, max=THREADS, help="Threads of full walks.")] = 1,
    seed: Annotated[int, typer.Option(min=0, max=SEED, help="Seed of sampled traversals.")] = 0,
    dtype: Annotated[
        str | None, typer.Option(help="Tables: float64 or float32; hold'em also compact or 16-bit.")
    ] = None,
    device: Annotated[str, typer.Option(help="Hold'em: cpu, cuda, or auto for what there is.")] = "cpu",
    cards: Annotated[
        str | None, typer.Option(help="Whole games of hold'em: buckets: flops:30000, strength:200, a folder.")
    ] = None,
    check_every: Annotated[
        int | None, typer.Option(min=1, max=MANY, help="Iterations between exploitability checks.")
    ] = None,
    checkpoint: Annotated[str, typer.Option(help="Time between checkpoints.")] = "60s",
    answer: Annotated[
        str | None, typer.Option(help="Strategy to return: last (with --iterations) or best check (--until, --time).")
    ] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Print the sizes of tree and tables only.")] = False,
    memory: Annotated[str | None, typer.Option(help="What a tree or its tables may take, such as 2GB.")] = None,
    boards: Annotated[str | None, typer.Option(help="Spots: a file with a board a line, all, or sample:25.")] = None,
    keep: Annotated[bool, typer.Option("--keep", help="With --boards: keep every solution under --out.")] = False,
    line: Annotated[
        str | None, typer.Option(help="With --boards: report this line instead of the root: b50, x-x/*.")
    ] = None,
    board: Annotated[str | None, typer.Option(help="solve spot: three to five cards, QsJh2h.")] = None,
    pot: Annotated[int | None, typer.Option(help="solve spot: chips in the middle.")] = None,
    stack: Annotated[int | None, typer.Option(help="solve spot: chips behind.")] = None,
    oop: Annotated[str | None, typer.Option(help="solve spot: range of who acts first.")] = None,
    ip: Annotated[str | None, typer.Option(help="solve spot: range of who acts last.")] = None,
    bets: Annotated[str | None, typer.Option(help="solve spot: bet sizes, '33%, 75%'; / between streets.")] = None,
    raises: Annotated[str | None, typer.Option(help="solve spot: raise sizes.")] = None,
    donks: Annotated[str | None, typer.Option(help="solve spot: sizes of donk bets.")] = None,
    rake: Annotated[str | None, typer.Option(help="solve spot: share of the pot, 5%.")] = None,
    rake_cap: Annotated[float | None, typer.Option(help="solve spot: most chips of rake.")] = None,
    add_all_in: Annotated[
        str | None, typer.Option(help="solve spot: all-in joins up to this share of the pot.")
    ] = None,
    force_all_in: Annotated[str | None, typer.Option(help="solve spot: all-in if less would be left.")] = None,
    merge: Annotated[str | None, typer.Option(help="solve spot: drop sizes as close as this.")] = None,
    no_donk: Annotated[bool, typer.Option("--no-donk", help="solve spot: no bets into the aggressor.")] = False,
    raise_cap: Annotated[int | None, typer.Option(help="solve spot: most raises a street.")] = None,
    rules: Annotated[str | None, typer.Option(help="solve spot: short or short-trips for 36 cards.")] = None,
    ranges: Annotated[
        str | None, typer.Option(help="solve MATCHSTATE: the agent whose strategy gives both ranges.")
    ] = None,
    menu: Annotated[
        Path | None, typer.Option(help="solve MATCHSTATE: a file of sizes; the agent's by default.")
    ] = None,
    floor: Annotated[
        float | None, typer.Option(min=0, max=1, help="solve MATCHSTATE: the least weight of a hand, such as 0.01.")
    ] = None,
    table_game: Annotated[
        str | None, typer.Option("--game", help="solve MATCHSTATE: its game; what the agent plays by default.")
    ] = None,
    spot_file: Annotated[
        Path | None, typer.Option(help="solve MATCHSTATE: also write it as a spot file, to edit or to lock.")
    ] = None,
    json: Json = False,
) -> None:
    """Solve a game and certify the answer."""
    from riverboat.cli.solve import solve as solving
    from riverboat.cli.solve.options import SolveOptions, SpotFlags, TableFlags

    spot = SpotFlags(
        board=board, pot=pot, stack=stack, oop=oop, ip=ip, bets=bets, raises=raises, donks=donks, rake=rake,
        rake_cap=rake_cap, add_all_in=add_all_in, force_all_in=force_all_in, merge=merge,
        donk_bets=False if no_donk else None, raise_cap=raise_cap, rules=rules,
    )  # fmt: skip
    table = TableFlags(ranges=ranges, menu=menu, floor=floor, game=table_game, spot_file=spot_file)
    if plot is not None:
        atomic_io.check_picture(plot)
    schedules: list[str | None] = [*schedule] if schedule else [None]
    options = SolveOptions(
        traversal=traversal, method=method, iterations=iterations, time=None if time is None else duration(time),
        until=until, memory=None if memory is None else size_of_memory(memory), out=out, resume=resume, log=log,
        threads=threads, seed=seed, dtype=dtype, device=device, cards=cards, check_every=check_every,
        checkpoint_seconds=duration(checkpoint), answer=answer,
    )  # fmt: skip
    with heard(memory=options.memory):
        given = estimate or keep or boards is not None or line is not None or spot.given() or table.given()
        if given or solving.is_spot(game):
            from riverboat.cli.solve import spots

            reached = spots.command(
                game, schedules, options, spot, table, boards, keep=keep, line=line, estimate=estimate, plot=plot,
                json=json,
            )  # fmt: skip
        else:
            reached = solving.command(game, schedules, options, plot, json)
    if not reached:
        raise typer.Exit(1)


@app.command()
def show(
    folder: Annotated[
        Path, typer.Argument(help="Folder of a run or a strategy; or an agent, as it really plays: demo?purify.")
    ],
    line: Annotated[
        str | None,
        typer.Argument(
            help="hand:line, an information set; of a spot b94-c/8h, * for any card; of a blueprint preflop or cr300c/; root."
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=0, max=MANY, help="Rows to print at most.")] = 60,
    hand: Annotated[str | None, typer.Option(help="Spots: one hand, KsJs; a class, AK, AKs, QQ; or a range.")] = None,
    table: Annotated[str | None, typer.Option(help="Spots: combos, classes, made, draws, groups or equity.")] = None,
    player: Annotated[str | None, typer.Option(help="Spots: oop or ip; who acts by default.")] = None,
    range_text: Annotated[
        bool, typer.Option("--range", help="Hold'em: the range of --player as text to paste elsewhere.")
    ] = False,
    runouts: Annotated[bool, typer.Option("--runouts", help="Spots: what each next card does.")] = False,
    values: Annotated[bool, typer.Option("--values", help="Blueprints: EVs of hands, and of best responses.")] = False,
    picture: Annotated[Path | None, typer.Option(help="Spots: draw the grid.")] = None,
    sort: Annotated[str | None, typer.Option(help="Spots: sort the table by a column, such as ev.")] = None,
    board: Annotated[
        str | None, typer.Option(help="Blueprints, agents and card abstractions: the board, AsKd2c.")
    ] = None,
    abstraction: Annotated[Path | None, typer.Option(help="Blueprints: where their card abstraction is now.")] = None,
    game: SolvedGame = None,
    json: Json = False,
) -> None:
    """Read an artefact: what it is, and the strategy, one information set or one node of it."""
    from riverboat.cli.show import commands as reading
    from riverboat.cli.show.spot import View

    view = View(hand, table, player, runouts, picture, sort, limit, board, range_text, values)
    reading.show(folder, line, view, json, abstraction, game)


@app.command()
def export(
    folder: Folder,
    csv: Annotated[bool, typer.Option("--csv", help="Comma-separated values.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    line: Annotated[str | None, typer.Option(help="The node, such as b94-c/8h; the root by default.")] = None,
    depth: Annotated[int | None, typer.Option(min=1, help="All nodes from there on, over so many streets.")] = None,
    out: Annotated[Path | None, typer.Option(help="File to write; stdout by default.")] = None,
    game: SolvedGame = None,
) -> None:
    """Write strategies, EVs, equities and reach of every hand."""
    from riverboat.cli.show import commands as reading
    from riverboat.cli.show import spot as spot_reading

    spot_reading.export(reading.load(folder, game), line, depth, out, csv=csv, json=json)


@app.command()
def respond(
    folder: Folder,
    player: Annotated[int | None, typer.Option(help="Who responds; all by default.")] = None,
    out: Annotated[Path | None, typer.Option(help="Save the best response as a strategy (needs --player).")] = None,
    limit: Annotated[int, typer.Option(min=0, max=MANY, help="Rows to print at most.")] = 30,
    game: SolvedGame = None,
    json: Json = False,
) -> None:
    """Best response to a strategy, and its value."""
    from riverboat.cli.show import commands as reading

    reading.respond(folder, player, out, limit, json, game)


@app.command()
def games(json: Json = False) -> None:
    """List the games with their options."""
    from riverboat.cli.show import commands as reading

    reading.games(json)


@app.command()
def trace(
    game: Annotated[str, typer.Argument(help="A small game.")] = "kuhn",
    deal: Annotated[str | None, typer.Option(help="Hands of both players, such as QJ.")] = None,
    schedule: Annotated[str, typer.Option(help="CFR schedule.")] = "vanilla",
    iteration: Annotated[int, typer.Option(min=1, max=MANY, help="Which iteration to show, from 1.")] = 1,
    svg: Annotated[Path | None, typer.Option(help="Draw the tree of the deal as SVG.")] = None,
    json: Json = False,
) -> None:
    """Show one iteration of CFR, node by node."""
    from riverboat.cli.show import commands as reading

    reading.trace(game, deal, schedule, iteration, svg, json)


@app.command()
def equity(
    hands: Annotated[list[str], typer.Argument(help="Two to ten hands or ranges: AhKh, QQ, '22+,A2s+'.")],
    board: Annotated[str, typer.Option(help="Three to five cards, such as 2h7h9c.")] = "",
    rules: Annotated[str, typer.Option(help="standard; short or short-trips for a deck of 36 cards.")] = "standard",
    threads: Annotated[int, typer.Option(min=1, max=THREADS, help="Threads over boards.")] = 2,
    samples: Annotated[
        int, typer.Option(min=1, max=MANY, help="Samples where several ranges cannot be enumerated.")
    ] = 1_000_000,
    seed: Annotated[int, typer.Option(min=0, max=SEED, help="Seed of the samples.")] = 0,
    json: Json = False,
) -> None:
    """Equity of hands and ranges against each other, exact where it can be."""
    from riverboat.cli.cards import equity as equities

    equities.equity(hands, board, rules, threads, samples, seed, json)


@app.command("range")
def range_(
    text: Annotated[str, typer.Argument(help="A range such as '22+,A2s+:0.5', or @file.")],
    board: Annotated[str, typer.Option(help="Cards that block hands of it.")] = "",
    out: Annotated[Path | None, typer.Option(help="Draw it as a picture.")] = None,
    json: Json = False,
) -> None:
    """Show a range as a 13 × 13 grid."""
    from riverboat.cli.cards import ranges as cards

    cards.show_range(text, board, out, json)


@app.command()
def features(
    street: Annotated[str, typer.Argument(help="preflop, flop, turn or river.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the tables.")] = None,
    bins: Annotated[int | None, typer.Option(min=1, help="Bins of the histogram of river strength; 50.")] = None,
    ochs: Annotated[bool, typer.Option("--ochs", help="Strength against groups of starting hands instead.")] = False,
    threads: Annotated[int, typer.Option(min=1, max=THREADS, help="Threads over boards.")] = 2,
    json: Json = False,
) -> None:
    """Strength tables of every canonical hand of a street."""
    from riverboat.cli.cards import equity as equities

    if ochs and bins is not None:
        raise InputError(f"--bins {bins} with --ochs: strength against groups has no bins")
    equities.features(street, out, 50 if bins is None else bins, ochs, threads, json)


@app.command()
def abstract(
    recipe: Annotated[str | None, typer.Argument(help="A preset (--list) or a .toml file.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the abstraction.")] = None,
    threads: Annotated[int, typer.Option(min=1, max=THREADS, help="Threads; the result does not depend on them.")] = 2,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the stages that are left.")] = False,
    device: Annotated[str, typer.Option(help="For k-means: cpu, cuda, or auto for what there is.")] = "cpu",
    estimate: Annotated[bool, typer.Option("--estimate", help="Only tell the time and memory it would take.")] = False,
    listing: Annotated[bool, typer.Option("--list", help="The presets.")] = False,
    json: Json = False,
) -> None:
    """Put the hands of hold'em into buckets."""
    from riverboat.cli import abstract as abstracting

    if listing + (recipe is not None) != 1:
        raise InputError("abstract: name a recipe, or give --list")
    if recipe is None:
        abstracting.listing(json)
        return
    abstracting.abstract(recipe, out, threads, resume, estimate, device, json)


@app.command()
def train(
    recipe: Annotated[
        str | None, typer.Argument(help="A preset (--list) or a .toml file; none: the size that --time can fill.")
    ] = None,
    abstraction: Annotated[str | None, typer.Option(help="Folder of a card abstraction, or lossless.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder where the run lives.")] = None,
    time: Annotated[str | None, typer.Option(help="Stop after 90s, 5m, 8h of training.")] = None,
    iterations: Annotated[
        int | None, typer.Option(min=1, max=MANY, help="Stop after so many deals; on a GPU, boards.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, max=THREADS, help="Threads that train.")] = 2,
    seed: Annotated[int, typer.Option(min=0, max=SEED, help="Seed of the random numbers.")] = 0,
    mode: Annotated[str, typer.Option(help="racing, or deterministic: the same on any number of threads.")] = "racing",
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the last checkpoint.")] = False,
    check: Annotated[str, typer.Option(help="Time between two measures of strength.")] = "60s",
    checkpoint: Annotated[str, typer.Option(help="Time between two checkpoints.")] = "5m",
    cluster: Annotated[
        str | None, typer.Option(help="Head and blades: local, auto, a Ray address; none: in one process.")
    ] = None,
    blades: Annotated[
        int | None, typer.Option(min=1, max=THREADS, help="With --cluster: how many blades, 2 by default.")
    ] = None,
    begin: Annotated[
        Path | None, typer.Option(help="A run with fewer buckets or bets to begin with; limits leave it out.")
    ] = None,
    device: Annotated[str, typer.Option(help="cpu; cuda: all hands of many boards at once on a GPU; auto.")] = "cpu",
    plot: Annotated[Path | None, typer.Option(help="At the end, draw how snapshots do against the last one.")] = None,
    log_exploitability: Annotated[
        bool, typer.Option("--log-exploitability", help="At every check: exact or a bound, and in the abstract game.")
    ] = False,
    estimate: Annotated[bool, typer.Option("--estimate", help="Only tell the sizes.")] = False,
    listing: Annotated[bool, typer.Option("--list", help="The presets.")] = False,
    json: Json = False,
) -> None:
    """Train a blueprint: sampled CFR over a betting tree and buckets of cards."""
    from riverboat.api.train import TrainOptions
    from riverboat.cli import train as training

    if listing and recipe is not None:
        raise InputError("train: name a recipe, or give --list")
    if recipe is None and time is None and not listing:
        raise InputError("train: name a recipe, give --list, or --time alone: the size is then taken from it")
    if listing:
        training.listing(json)
        return
    how = TrainOptions(
        abstraction=abstraction,
        time=None if time is None else duration(time),
        iterations=iterations,
        threads=threads,
        seed=seed,
        mode=mode,
        resume=resume,
        check_seconds=duration(check),
        checkpoint_seconds=duration(checkpoint),
        cluster=cluster,
        blades=blades,
        exploitability=log_exploitability,
        begin=begin,
        device=device,
    )
    options = training.Options(out=out, estimate=estimate, plot=plot, json=json)
    if recipe is None:
        training.train_sized(how, options)
    else:
        training.train(recipe, how, options)


@app.command()
def play(
    agent: Agent = "default?search=river",
    hands: Annotated[int | None, typer.Option(min=1, max=MANY, help="Leave after so many.")] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, max=SEED, help="Seed of the cards and of the agent; a new one by default.")
    ] = None,
    game: Game = None,
    seat: Annotated[str | None, typer.Option(help="oop or ip; the seats are exchanged by default.")] = None,
    out: Annotated[Path | None, typer.Option(help="Keep the sitting in this file, after every move.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the sitting in that file.")] = False,
    review: Annotated[bool, typer.Option("--review", help="In the end: what each decision cost, and luck.")] = False,
    histories: Annotated[Path | None, typer.Option(help="In the end: write the hands, FILE.phhs (PHH).")] = None,
) -> None:
    """Play hands against an agent in the terminal; a solved spot is one for its subgame."""
    from riverboat.cli import play as playing

    playing.play(agent, playing.Options(hands, seed, game, seat, out, resume, review, histories))


@app.command()
def act(
    agent: Agent,
    state: Annotated[str, typer.Argument(help="A table: 'MATCHSTATE:0:30:cr300c/:9s8h|/8c8d5c'.")],
    explain: Annotated[
        bool, typer.Option("--explain", help="What an agent that searches has found: subgame, ranges, margins.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, max=SEED, help="Seed of agents that draw.")] = 0,
    game: Game = None,
    json: Json = False,
) -> None:
    """What an agent does at one table: probabilities, and the move it draws."""
    from riverboat.cli import play as playing

    playing.act(agent, state, seed, game, json, explain)


@app.command()
def demo(
    time: Annotated[str | None, typer.Option(help="Train for 60s, 5m; a minute by default.")] = None,
    pairs: Annotated[int, typer.Option(min=1, max=MANY, help="Duplicate pairs against each yardstick.")] = 10_000,
    threads: Annotated[int, typer.Option(min=1, max=THREADS, help="Threads that build and train.")] = 2,
    seed: Annotated[int, typer.Option(min=0, max=SEED, help="Seed of the random numbers.")] = 0,
) -> None:
    """Build an agent for no-limit hold'em, or load it, and play it against simple ones."""
    from riverboat.cli import demo as demonstration

    demonstration.demo(time, pairs, threads, seed)


@acpc.command("dealer")
def acpc_dealer(
    game: Annotated[str, typer.Argument(help="A game or .game file.")] = "nolimit-200bb",
    hands: Annotated[int, typer.Option(min=1, max=MANY, help="Hands of the match.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, max=SEED, help="Seed of the cards.")] = 0,
    ports: Annotated[str, typer.Option(help="Ports of the two players; 0 takes a free one.")] = "0,0",
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    log: Annotated[Path | None, typer.Option(help="Write the match log.")] = None,
    players: Annotated[list[str] | None, typer.Option(help="A program to start as COMMAND HOST PORT; twice.")] = None,
    names: Annotated[str, typer.Option(help="Names of the players.")] = "player1,player2",
    duplicate: Annotated[bool, typer.Option("--duplicate", help="Deal every hand twice, seats exchanged.")] = False,
    forfeit: Annotated[
        bool, typer.Option("--forfeit", help="Play on for a player that is lost: check or fold.")
    ] = False,
    t_response: Annotated[str, typer.Option(help="Time for an answer.")] = "600s",
    t_hand: Annotated[str, typer.Option(help="Time for a hand.")] = "600s",
    t_per_hand: Annotated[str, typer.Option(help="Mean time for a hand.")] = "7s",
    start_timeout: Annotated[str, typer.Option(help="Time to wait for the players.")] = "60s",
    json: Json = False,
) -> None:
    """Run a match between two programs that speak the ACPC protocol."""
    from riverboat.acpc.dealer import Limits
    from riverboat.cli import acpc as acpc_match

    limits = Limits(
        start=duration(start_timeout), answer=duration(t_response), hand=duration(t_hand), average=duration(t_per_hand)
    )
    options = acpc_match.Options(
        hands=hands, seed=seed, ports=ports, host=host, log=log, commands=players or [], names=names, limits=limits,
        duplicate=duplicate, forfeit=forfeit, json=json,
    )  # fmt: skip
    if not acpc_match.dealer(game, options):
        raise typer.Exit(1)


@acpc.command("client")
def acpc_client(
    agent: Agent,
    host: Annotated[str, typer.Argument(help="Where the dealer listens.")],
    port: Annotated[int, typer.Argument(min=1, max=PORT, help="The player's port.")],
    game: Annotated[str, typer.Option(help="A game or .game file.")] = "nolimit-200bb",
    seed: Annotated[int, typer.Option(min=0, max=SEED, help="Seed of agents that draw.")] = 0,
    json: Json = False,
) -> None:
    """Play an agent at an ACPC dealer's table."""
    from riverboat.cli import acpc as acpc_match

    if not acpc_match.client(agent, game, host, port, seed=seed, json=json):
        raise typer.Exit(1)


@app.command()
def bench(
    full: Annotated[
        bool,
        typer.Option("--full", help="Also Bluff(2,2) (6 GB), feature tables, flops and [2-1] hold'em: ten minutes."),
    ] = False,
    device: Annotated[str, typer.Option(help="cpu; or cuda: what a GPU does, beside the speed of its memory.")] = "cpu",
    json: Json = False,
) -> None:
    """Measure speed on fixed work, against OpenSpiel where it is installed."""
    from riverboat.cli.bench import bench as benchmark

    benchmark.main(full, device, json)


@app.command()
def reproduce(
    experiment: Annotated[str | None, typer.Argument(help="Which one; --list shows all.")] = None,
    listing: Annotated[bool, typer.Option("--list", help="All experiments with their cost.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Run all of them.")] = False,
    full: Annotated[bool, typer.Option("--full", help="The paper's size instead of a quick one.")] = False,
    seed: Annotated[int, typer.Option(min=0, max=SEED, help="Seed of the random numbers.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Draw it as a picture.")] = None,
    docs: Annotated[Path | None, typer.Option(help="Write the results into this page.")] = None,
    json: Json = False,
) -> None:
    """Compute figures of the papers again: theirs beside ours."""
    from riverboat.cli import reproduce as reproducing

    if listing + every + (experiment is not None) != 1:
        raise InputError("reproduce: name one experiment, or give --list or --all")
    if listing:
        reproducing.listing(json)
        return
    names = [experiment] if experiment is not None else list(reproducing.MODULES)
    if not reproducing.reproduce(names, full, seed, json, plot, docs, every=every):
        raise typer.Exit(1)


for _some in (match_cli, models_cli, evaluation_cli, explain_cli, files_cli, hands_cli, practice_cli, serve):
    for _command in _some.COMMANDS:
        app.command()(_command)


@app.command()
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Delete what is kept.")] = False, json: Json = False
) -> None:
    """Show or clear the tables kept between runs."""
    from riverboat.cli.show import commands as reading

    reading.cache(clear, json)


def version(value: bool) -> None:
    """Print the version and stop."""
    if value:
        from riverboat import __version__

        typer.echo(f"riverboat {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Solve imperfect-information games, with a proof of how good the answer is."""


def main(arguments: list[str] | None = None) -> None:
    """Run a command; errors become one line and an exit code."""
    exit_codes.run(_needed(sys.argv[1:] if arguments is None else arguments), arguments)


def _needed(words: list[str]) -> typer.Typer:
    """The commands as far as this call needs them: whole the one that is called, of the others names and what they do.

    Typer works out every option of every command before it looks at what is called: a tenth of a second.
    """
    called = next((word for word in words if not word.startswith("-")), "")
    needed = copy(app)
    needed.registered_commands = [
        info if called == (info.name or get_command_name(info.callback.__name__)) else _outline(info, info.callback)
        for info in app.registered_commands
        if info.callback is not None
    ]
    return needed


def _outline(info: CommandInfo, whole: Callable[..., Any]) -> CommandInfo:
    def command() -> None:
        raise AssertionError(f"{whole.__name__}: only its outline was asked for")

    command.__name__, command.__doc__ = whole.__name__, whole.__doc__
    outline = copy(info)
    outline.callback = command
    return outline


if __name__ == "__main__":
    main()
