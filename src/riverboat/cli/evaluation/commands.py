"""Commands that say how good agents are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from riverboat.cli.options import MANY, SEED, THREADS, Agent, Game, Json, SolvedGame
from riverboat.cli.terminal import duration


def lbr(
    agent: Agent,
    actions: Annotated[str, typer.Option(help="Moves it looks at: fc, fcpa (pot and all-in), or 56 sizes.")] = "fcpa",
    start: Annotated[str, typer.Option("--from", help="Only calls before preflop, flop, turn or river.")] = "preflop",
    hands: Annotated[int | None, typer.Option(min=1, max=MANY, help="Hands to walk, 4,000 by default.")] = None,
    time: Annotated[str | None, typer.Option(help="Walk hands for 90s, 10m instead.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=SEED, help="Seed of the cards and of agents that draw.")] = 0,
    walkers: Annotated[
        int,
        typer.Option(min=1, max=10_000, help="Hands of a deal in each seat; fewer for agents that are slow to ask."),
    ] = 32,
    threads: Annotated[int, typer.Option(min=1, max=THREADS, help="Threads over deals, which all ask the agent.")] = 1,
    game: Game = None,
    json: Json = False,
) -> None:
    """Local best response to an agent: a lower bound on its exploitability."""
    from riverboat.cli.evaluation import local_best_response

    seconds = None if time is None else duration(time)
    options = local_best_response.Options(
        actions=actions, start=start, hands=hands, seconds=seconds, seed=seed, walkers=walkers, threads=threads,
        game=game, json=json,
    )  # fmt: skip
    local_best_response.lbr(agent, options)


def litmus(
    agent: Agent,
    checks: Annotated[Path | None, typer.Option(help="A .toml file with more checks.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=SEED, help="Seed of agents that draw.")] = 0,
    game: Game = None,
    json: Json = False,
) -> None:
    """Checks of poker sense: aces, the nuts, prices, sizes."""
    from riverboat.cli.evaluation import litmus as command

    if not command.litmus(agent, game, checks, seed, json):
        raise typer.Exit(1)


def exploitability(
    folder: Annotated[Path, typer.Argument(help="Folder of a run or a strategy, or an agent.")],
    exact: Annotated[
        bool, typer.Option("--exact", help="Blueprints: the exact figure, however long it takes.")
    ] = False,
    bound: Annotated[bool, typer.Option("--bound", help="Blueprints: a lower bound on sampled boards.")] = False,
    time: Annotated[str, typer.Option(help="Blueprints: the exact figure where it takes no longer than this.")] = "10m",
    boards: Annotated[int, typer.Option(min=2, max=MANY, help="Of a bound: fresh boards that it is paid on.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, max=SEED, help="Of a bound: seed of the boards.")] = 0,
    threads: Annotated[int, typer.Option(min=1, max=THREADS, help="Threads of the walk.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Blueprints: keep pieces of the exact walk in this folder.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the pieces in --out.")] = False,
    cluster: Annotated[str | None, typer.Option(help="Walk pieces on a Ray cluster: local, auto, an address.")] = None,
    device: Annotated[str, typer.Option(help="Hold'em, blueprints: cpu, cuda, or auto for what there is.")] = "cpu",
    game: SolvedGame = None,
    json: Json = False,
) -> None:
    """Exploitability of a strategy: exact, or a bound with what the exact figure would cost."""
    from riverboat.cli.evaluation import exploitability as exploiting

    options = exploiting.Options(
        exact=exact, bound=bound, seconds=duration(time), boards=boards, seed=seed, threads=threads, out=out,
        resume=resume, cluster=cluster, device=device, json=json,
    )  # fmt: skip
    exploiting.exploitability(folder, options, game)


def cost(
    agent: Agent,
    hands: Annotated[int, typer.Option(min=4, max=MANY, help="Hands that it plays, an even number.")] = 400,
    seed: Annotated[int, typer.Option(min=0, max=SEED, help="Seed of the cards and of agents that draw.")] = 0,
    game: Game = None,
    json: Json = False,
) -> None:
    """What an agent costs: core-hours, megabytes, seconds to load and a decision."""
    from riverboat.cli.evaluation import cost as costs

    costs.cost(agent, hands, seed, game, json)


COMMANDS = (exploitability, lbr, litmus, cost)
