"""Commands that play agents against each other and keep what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from riverboat.cli.options import MANY, SEED, THREADS, Agent, Game, Json
from riverboat.cli.terminal import duration


def match(
    agents: Annotated[
        list[str], typer.Argument(help="Two agents, or more for a round robin; also acpc:COMMAND, a program.")
    ],
    hands: Annotated[
        int, typer.Option(min=1, max=MANY, help="Hands of a match; every deal is played twice, seats exchanged.")
    ] = 20_000,
    seed: Annotated[int, typer.Option(min=0, max=SEED, help="Seed of the cards and of agents that draw.")] = 0,
    game: Game = None,
    aivat: Annotated[bool, typer.Option("--aivat", help="Take out the luck of cards and of known moves.")] = False,
    until_settled: Annotated[
        str | None, typer.Option(metavar="LOW,HIGH", help="Stop when it is settled, in mbb/g; --hands at most.")
    ] = None,
    thin: Annotated[
        str | None, typer.Option(metavar="STREET", help="Play pairs with small pots there less often; they count more.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, max=THREADS, help="Threads of --aivat.")] = 2,
    workers: Annotated[
        int, typer.Option(min=1, max=THREADS, help="Processes that play parts of a match of two, with the same result.")
    ] = 1,
    device: Annotated[
        str | None, typer.Option(help="Where agents that search solve: cpu, cuda, or auto for what there is.")
    ] = None,
    worst: Annotated[
        int, typer.Option(min=0, max=1000, help="With --aivat: replay so many hands that cost the first most.")
    ] = 0,
    histories: Annotated[Path | None, typer.Option(help="Write the hands: FILE.phhs (PHH) or FILE.log (ACPC).")] = None,
    plot: Annotated[Path | None, typer.Option(help="Of three agents or more: draw the table.")] = None,
    json: Json = False,
) -> None:
    """Play agents against each other in duplicate hands."""
    from riverboat.cli.matches import match as matching

    options = matching.Options(
        hands=hands,
        seed=seed,
        game=game,
        aivat=aivat,
        until=until_settled,
        thin=thin,
        threads=threads,
        workers=workers,
        device=device,
        worst=worst,
        histories=histories,
        plot=plot,
        json=json,
    )
    matching.match(agents, options)


def review(
    log: Annotated[Path, typer.Argument(help="A match on record with all cards: FILE.log (ACPC) or FILE.phhs.")],
    agent: Annotated[
        list[str] | None, typer.Option(help="NAME=AGENT: who a player of the record was, so that its moves are known.")
    ] = None,
    player: Annotated[
        str | None, typer.Option(help="Judge the decisions of this player, by EV lost; no match is needed then.")
    ] = None,
    judge: Annotated[
        str, typer.Option(help="With --player: the agent whose values and solves decisions are judged by.")
    ] = "default",
    worst: Annotated[int, typer.Option(min=0, max=1000, help="Replay so many hands that cost the first most.")] = 5,
    game: Game = None,
    threads: Annotated[int, typer.Option(min=1, max=THREADS, help="Threads.")] = 2,
    json: Json = False,
) -> None:
    """A match on record without its luck (AIVAT), and its most expensive hands; or what a player's decisions cost."""
    if player is not None:
        from riverboat.cli.hands import decision_reviews

        decision_reviews.review(log, player, judge, worst, game, json)
        return
    from riverboat.cli.matches import log_reviews

    log_reviews.review(log, agent or [], worst, game, threads, json)


def online(
    agent: Agent,
    url: Annotated[str | None, typer.Option(help="Of the bot's web API, such as https://bot.example/api.")] = None,
    hands: Annotated[int, typer.Option(min=1, max=MANY, help="How many.")] = 100,
    record: Annotated[Path | None, typer.Option(help="Keep every question and reply in this file.")] = None,
    replay: Annotated[Path | None, typer.Option(help="Play hands from such a file again, without a network.")] = None,
    pause: Annotated[str, typer.Option(help="Before each question: 1s.")] = "0s",
    json: Json = False,
) -> None:
    """Play an agent against a bot behind a web API."""
    from riverboat.cli.matches import online as command

    command.online(agent, hands, url, record, replay, 0.0 if pause == "0s" else duration(pause), json)


def ledger(
    file: Annotated[Path, typer.Argument(help="The ledger: a text file, one result in a line.")] = Path("ledger.jsonl"),
    add: Annotated[
        list[Path] | None,
        typer.Option(help="Take a result: what match, lbr, exploitability or cost print with --json."),
    ] = None,
    write: Annotated[Path | None, typer.Option(help="Write it as a page in Markdown.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw strength against hours, megabytes and seconds.")] = None,
    json: Json = False,
) -> None:
    """Results that are kept: ratings over all matches, bounds, who was measured."""
    from riverboat.cli.matches import ledger as ledgers

    ledgers.ledger(file, add or [], write, plot, json)


COMMANDS = (match, review, ledger, online)
