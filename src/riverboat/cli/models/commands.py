"""Commands about models that stand beside hold'em games: continuous signals, prizes, push or fold, teams."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from riverboat.cli.options import SEED, THREADS, Json
from riverboat.cli.terminal import duration


def continuous(
    game: Annotated[Path, typer.Argument(help="A .toml file with signals and moves, or a river spot.")],
    models: Annotated[
        Path | None, typer.Option(help="A .toml file with qualitative models; proposed by default.")
    ] = None,
    method: Annotated[str, typer.Option(help="With --models: auto, linear, lp, milp or newton.")] = "auto",
    steps: Annotated[
        int, typer.Option(min=2, max=1000, help="Steps of the finite game that models are read off.")
    ] = 60,
    plot: Annotated[Path | None, typer.Option(help="Draw the thresholds as bars.")] = None,
    json: Json = False,
) -> None:
    """Thresholds of a game with continuous signals, certified."""
    from riverboat.cli.models import continuous as command

    if not command.continuous(game, models, method, steps, plot, json):
        raise typer.Exit(1)


def icm(
    stacks: Annotated[str, typer.Option(help="Chips of each player, such as 10,10,15.")],
    payouts: Annotated[str, typer.Option(help="Prizes, the first place first, such as 50,30,20.")],
    json: Json = False,
) -> None:
    """What stacks are worth when places are paid, and what a call needs."""
    from riverboat.cli.models import push_fold

    push_fold.icm(stacks, payouts, json)


def pushfold(
    stacks: Annotated[str, typer.Option(help="Two to nine stacks in the order of action; the blinds come last.")],
    blinds: Annotated[str, typer.Option(help="Small and big blind.")] = "0.5,1",
    ante: Annotated[float, typer.Option(min=0, help="Ante of each player.")] = 0.0,
    payouts: Annotated[str | None, typer.Option(help="Prizes; without them chips are money.")] = None,
    method: Annotated[str, typer.Option(help="cfr or fp.")] = "cfr",
    iterations: Annotated[int, typer.Option(min=1, max=1_000_000, help="At most so many.")] = 2000,
    until: Annotated[
        float | None, typer.Option(min=0, help="Stop at this ε, in % of the prizes or of the big blind.")
    ] = None,
    line: Annotated[str | None, typer.Option(help="Show the grid of one decision: '', J, FF, …")] = None,
    threads: Annotated[int, typer.Option(min=1, max=THREADS, help="Threads.")] = 1,
    seed: Annotated[int, typer.Option(min=0, max=SEED, help="Of sampled showdowns, four players all-in.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Draw the grid of --line.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write all decisions as a table.")] = None,
    json: Json = False,
) -> None:
    """Who goes all-in with what, and who calls: an equilibrium with what is left to gain."""
    from riverboat.cli.models import push_fold

    if not push_fold.pushfold(
        stacks, blinds, ante, payouts, method, iterations, until, line, threads, seed, plot, csv, json
    ):
        raise typer.Exit(1)


def team(
    game: Annotated[str, typer.Argument(help="A small game of three players or more, such as kuhn:players=3.")],
    adversary: Annotated[int | None, typer.Option(min=0, help="Who plays against all others; each in turn.")] = None,
    time: Annotated[str, typer.Option(help="For the bound without correlation, of each team: 30s, 5m.")] = "30s",
    seed: Annotated[int, typer.Option(min=0, max=SEED, help="Of starting points.")] = 0,
    json: Json = False,
) -> None:
    """Team-maxmin: what a team of all others can hold a player down to, with and without correlation."""
    from riverboat.cli.solve import multiplayer

    multiplayer.team(game, adversary, duration(time), seed, json)


def tournament(
    source: Annotated[
        Path | None, typer.Argument(help="A .toml file, or the folder of a run to read; the paper's by default.")
    ] = None,
    small: Annotated[bool, typer.Option("--small", help="The paper's on a coarser grid, 91 states.")] = False,
    method: Annotated[str | None, typer.Option(help="vi-fp, pi-fp or fp-mdp.")] = None,
    iterations: Annotated[int, typer.Option(min=1, max=1_000_000, help="Steps outside, at most so many.")] = 100,
    until: Annotated[float, typer.Option(min=0, help="Stop at this ε, in % of the entry fee.")] = 0.5,
    time: Annotated[str | None, typer.Option(help="Stop after a step that ends later, as in 30m.")] = None,
    threads: Annotated[int, typer.Option(min=1, max=THREADS, help="Threads, or workers of --cluster.")] = 2,
    cluster: Annotated[str | None, typer.Option(help="Play states on Ray: local, auto or an address.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run, written after every step.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on in that folder.")] = False,
    state: Annotated[str | None, typer.Option(help="Show a state: units of button, small and big blind.")] = None,
    line: Annotated[str | None, typer.Option(help="Show the grid of one decision there: '', J, FF, …")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the grid of --line.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write the decisions of --state as a table.")] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Tell states, memory and time.")] = False,
    json: Json = False,
) -> None:
    """A push or fold tournament as a stochastic game: who goes all-in at all stacks, and what is left to gain."""
    from riverboat.cli.models import tournament as command

    options = command.Options(
        small, method, iterations, until, time, threads, cluster, out, resume, state, line, plot, csv, estimate, json
    )
    if not command.tournament(source, options):
        raise typer.Exit(1)


COMMANDS = (continuous, icm, pushfold, team, tournament)
