"""The command line: a thin translator. Heavy modules load inside the commands, so that `--help` is quick."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from riverboat.errors import RiverboatError
from riverboat.interfaces.terminal import Live, duration, emit, say

app = typer.Typer(
    help="Solve imperfect-information games, with a proof of how good the answer is.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
)

Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else there.")]
Folder = Annotated[Path, typer.Argument(help="Folder of a run or a strategy.")]


@app.command()
def solve(
    game: Annotated[str, typer.Argument(help="Name with options, a .efg or .nfg file, or module:object.")],
    schedule: Annotated[list[str] | None, typer.Option(help="CFR schedule; repeat to compare.")] = None,
    traversal: Annotated[str, typer.Option(help="full, chance, external, outcome, pcs, opcs or spcs.")] = "full",
    method: Annotated[str, typer.Option(help="cfr, lp or egt.")] = "cfr",
    iterations: Annotated[int | None, typer.Option(help="Stop after this many.")] = None,
    time: Annotated[str | None, typer.Option(help="Stop after 90s, 5m, 8h.")] = None,
    until: Annotated[float | None, typer.Option(help="Stop at this exploitability, in the game's unit.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run: checkpoints and strategy.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    log: Annotated[Path | None, typer.Option(help="Append a JSON line for each check.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the convergence as a picture.")] = None,
    threads: Annotated[int, typer.Option(help="Threads of full walks.")] = 1,
    seed: Annotated[int, typer.Option(help="Seed of sampled traversals.")] = 0,
    dtype: Annotated[str | None, typer.Option(help="float64 or float32 tables.")] = None,
    check_every: Annotated[int | None, typer.Option(help="Iterations between exploitability checks.")] = None,
    checkpoint: Annotated[str, typer.Option(help="Time between checkpoints.")] = "60s",
    json: Json = False,
) -> None:
    """Solve a game and certify the answer."""
    from riverboat.interfaces import solving

    schedules = schedule or ["dcfr"]
    options = {
        "traversal": traversal,
        "method": method,
        "iterations": iterations,
        "time": None if time is None else duration(time),
        "until": until,
        "out": out,
        "resume": resume,
        "log": log,
        "threads": threads,
        "seed": seed,
        "dtype": dtype,
        "check_every": check_every,
        "checkpoint_seconds": duration(checkpoint),
    }
    results = solving.solve_all(game, schedules, options, quiet=json)
    if plot is not None:
        from riverboat.interfaces.plots import convergence

        convergence(results, plot)
        say(f"picture: {plot}")
    if json:
        best = min(results, key=lambda r: r.exploitability)
        emit(best.to_dict() | ({"runs": [r.to_dict() for r in results]} if len(results) > 1 else {}))
    else:
        solving.report(results)
    if not all(r.reached for r in results):
        raise typer.Exit(1)


@app.command()
def show(
    folder: Folder,
    infoset: Annotated[str | None, typer.Argument(help="An information set, hand:line.")] = None,
    limit: Annotated[int, typer.Option(help="Rows to print at most.")] = 60,
    json: Json = False,
) -> None:
    """Read an artefact: what it is, and the strategy or one information set of it."""
    from riverboat.interfaces import reading

    reading.show(folder, infoset, limit, json)


@app.command()
def exploitability(
    folder: Folder, threads: Annotated[int, typer.Option(help="Threads of the walk.")] = 1, json: Json = False
) -> None:
    """Exact exploitability and certified value interval of a strategy."""
    from riverboat.interfaces import reading

    reading.exploitability(folder, threads, json)


@app.command()
def respond(
    folder: Folder,
    player: Annotated[int | None, typer.Option(help="Who responds, 0 or 1; both by default.")] = None,
    out: Annotated[Path | None, typer.Option(help="Save the best response as a strategy (needs --player).")] = None,
    limit: Annotated[int, typer.Option(help="Rows to print at most.")] = 30,
    json: Json = False,
) -> None:
    """Best response to a strategy, and its value."""
    from riverboat.interfaces import reading

    reading.respond(folder, player, out, limit, json)


@app.command()
def games(json: Json = False) -> None:
    """List the games with their options."""
    from riverboat.interfaces import reading

    reading.games(json)


@app.command()
def trace(
    game: Annotated[str, typer.Argument(help="A small game.")] = "kuhn",
    deal: Annotated[str | None, typer.Option(help="Hands of both players, such as QJ.")] = None,
    schedule: Annotated[str, typer.Option(help="CFR schedule.")] = "vanilla",
    iteration: Annotated[int, typer.Option(help="Which iteration to show, from 1.")] = 1,
    svg: Annotated[Path | None, typer.Option(help="Draw the tree of the deal as SVG.")] = None,
    json: Json = False,
) -> None:
    """Show one iteration of CFR, node by node."""
    from riverboat.interfaces import reading

    reading.trace(game, deal, schedule, iteration, svg, json)


@app.command()
def equity(
    hands: Annotated[list[str], typer.Argument(help="Two to ten hands or ranges: AhKh, QQ, '22+,A2s+'.")],
    board: Annotated[str, typer.Option(help="Three to five cards, such as 2h7h9c.")] = "",
    threads: Annotated[int, typer.Option(help="Threads over boards.")] = 2,
    samples: Annotated[int, typer.Option(help="Samples where several ranges cannot be enumerated.")] = 1_000_000,
    seed: Annotated[int, typer.Option(help="Seed of the samples.")] = 0,
    json: Json = False,
) -> None:
    """Equity of hands and ranges against each other, exact where it can be."""
    from riverboat.interfaces import equities

    equities.equity(hands, board, threads, samples, seed, json)


@app.command("range")
def range_(
    text: Annotated[str, typer.Argument(help="A range such as '22+,A2s+:0.5', or @file.")],
    board: Annotated[str, typer.Option(help="Cards that block hands of it.")] = "",
    out: Annotated[Path | None, typer.Option(help="Draw it as a picture.")] = None,
    json: Json = False,
) -> None:
    """Show a range as a 13 × 13 grid."""
    from riverboat.interfaces import cards

    cards.show_range(text, board, out, json)


@app.command()
def features(
    street: Annotated[str, typer.Argument(help="preflop, flop, turn or river.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the tables.")] = None,
    bins: Annotated[int, typer.Option(help="Bins of the histogram of river strength.")] = 50,
    ochs: Annotated[bool, typer.Option("--ochs", help="Strength against groups of starting hands instead.")] = False,
    threads: Annotated[int, typer.Option(help="Threads over boards.")] = 2,
    json: Json = False,
) -> None:
    """Strength tables of every canonical hand of a street."""
    from riverboat.interfaces import equities

    equities.features(street, out, bins, ochs, threads, json)


@app.command()
def demo(out: Annotated[Path, typer.Option(help="Where the picture goes.")] = Path("runs/demo")) -> None:
    """Solve Leduc with five schedules, draw their convergence, and certify the value."""
    from riverboat.interfaces import solving

    solving.demo(out)


@app.command()
def bench(
    full: Annotated[
        bool, typer.Option("--full", help="Also Bluff(2,2) (6 GB) and feature tables: ten minutes.")
    ] = False,
    json: Json = False,
) -> None:
    """Measure speed on fixed work, against OpenSpiel where it is installed."""
    from riverboat.interfaces import benchmark

    benchmark.main(full, json)


@app.command()
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Delete what is kept.")] = False, json: Json = False
) -> None:
    """Show or clear the tables kept between runs."""
    from riverboat.interfaces import reading

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
    try:
        code: Any = app(arguments, standalone_mode=False)
    except RiverboatError as error:
        Live.stop()
        say(f"error: {error}")
        sys.exit(error.exit_code)
    except MemoryError as error:
        say(f"error: not enough memory: {error}")
        sys.exit(3)
    except (KeyboardInterrupt, typer.Abort):
        Live.stop()
        say("interrupted")
        sys.exit(130)
    except Exception as error:  # usage errors of the command line itself
        if hasattr(error, "exit_code") and hasattr(error, "format_message"):
            say(f"error: {error.format_message()}")
            sys.exit(2)
        raise
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
