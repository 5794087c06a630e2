"""Commands that say how good agents are."""

from __future__ import annotations

from typing import Annotated

import typer

from riverboat.interfaces.options import MANY, SEED, THREADS, Agent, Game, Json
from riverboat.interfaces.terminal import duration


def lbr(
    agent: Agent,
    actions: Annotated[str, typer.Option(help="Moves it looks at: fc, fcpa (pot and all-in), or 56 sizes.")] = "fcpa",
    start: Annotated[str, typer.Option("--from", help="Only calls before preflop, flop, turn or river.")] = "preflop",
    hands: Annotated[int | None, typer.Option(min=1, max=MANY, help="Hands to walk, 2,000 by default.")] = None,
    time: Annotated[str | None, typer.Option(help="Walk hands for 90s, 10m instead.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=SEED, help="Seed of the cards and of agents that draw.")] = 0,
    threads: Annotated[int, typer.Option(min=1, max=THREADS, help="Threads over deals, which all ask the agent.")] = 1,
    game: Game = None,
    json: Json = False,
) -> None:
    """Local best response to an agent: a lower bound on its exploitability."""
    from riverboat.interfaces import local_response

    seconds = None if time is None else duration(time)
    options = local_response.Options(
        actions=actions, start=start, hands=hands, seconds=seconds, seed=seed, threads=threads, game=game, json=json
    )
    local_response.lbr(agent, options)


COMMANDS = (lbr,)
