"""`riverboat acpc dealer`, `acpc client` and `online`: matches over TCP and HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from riverboat.acpc import programs, web_bot
from riverboat.acpc.dealer import DealerLimits
from riverboat.api.agent import agent as make_agent
from riverboat.api.options import MAX_PORT, Limits, PositiveCount, Seed
from riverboat.cli.progress import ProgressLine
from riverboat.cli.terminal import emit, print_result, say
from riverboat.core.errors import InputError, short_repr
from riverboat.core.formatting import parse_duration
from riverboat.formats.acpc_log import format_score_line

_MAX_WARNINGS = 20
CONNECT_SECONDS = 10.0


class WarningPrinter:
    """Prints the first warnings, and at the end the number of further ones."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, text: str) -> None:
        self.count += 1
        if self.count <= _MAX_WARNINGS:
            say(f"warning: {text}")

    def close(self) -> None:
        if self.count > _MAX_WARNINGS:
            say(f"warning: {self.count - _MAX_WARNINGS:,} more")


def dealer(
    game: str = "nolimit-200bb",
    *,
    hands: PositiveCount = 1000,
    seed: Seed = 0,
    ports: str = "0,0",
    host: str = "127.0.0.1",
    log: Path | None = None,
    players: list[str] | None = None,
    names: str = "player1,player2",
    duplicate: bool = False,
    forfeit: bool = False,
    t_response: str = "600s",
    t_hand: str = "600s",
    t_per_hand: str = "7s",
    start_timeout: str = "60s",
    json: bool = False,
) -> bool:
    """Run a match between two programs that speak the ACPC protocol.

    Parameters
    ----------
    game
        A game or .game file.
    hands
        Hands of the match.
    seed
        Seed of the cards.
    ports
        Ports of the two players; 0 takes a free one.
    host
        Address to listen at.
    log
        Write the match log.
    players
        Program to start as COMMAND HOST PORT; give it twice.
    names
        Names of the players.
    duplicate
        Deal every hand twice with exchanged seats.
    forfeit
        If a player disconnects, check or fold for it.
    t_response
        Time limit per action.
    t_hand
        Time limit per hand.
    t_per_hand
        Limit on the mean time per hand.
    start_timeout
        Time to wait for the players.
    """

    def print_ports(used: list[int]) -> None:
        if json:
            say(f"ports {used[0]} {used[1]}")
        else:
            print(f"{used[0]} {used[1]}", flush=True)  # in the format of the competition's dealer

    warnings = WarningPrinter()
    limits = DealerLimits(
        start=parse_duration(start_timeout),
        answer=parse_duration(t_response),
        hand=parse_duration(t_hand),
        average=parse_duration(t_per_hand),
    )
    result, facts = programs.host_match(
        game,
        hands=hands,
        seed=seed,
        ports=_parse_ports(ports),
        host=host,
        log=log,
        commands=players or (),
        names=names.split(","),
        limits=limits,
        duplicate=duplicate,
        forfeit=forfeit,
        warn=warnings,
        on_listening=print_ports,
    )
    warnings.close()
    if json:
        emit(facts)
    else:
        print(format_score_line(result.score, result.players))
        parts = [f"{facts['hands']:,} of {facts['asked']:,} hands in {facts['seconds']:.1f} s"]
        if facts["mbb_per_game"] is not None:
            parts.append(f"first player {facts['mbb_per_game']:+.1f} ± {facts['ci95']:.1f} mbb/g")
        say(", ".join(parts))
    return result.complete


def _parse_ports(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            f"ports {short_repr(text)}: write two numbers, such as 20000,20001, or 0,0 for free ones"
        ) from None


def client(
    agent: str,
    host: str,
    port: Annotated[int, Limits(1, MAX_PORT)],
    *,
    game: str = "nolimit-200bb",
    seed: Seed = 0,
    json: bool = False,
) -> bool:
    """Connect an agent to an ACPC dealer and play.

    Parameters
    ----------
    host
        Where the dealer listens.
    port
        The player's port.
    game
        A game or .game file.
    seed
        Seed of the agent's random choices.
    """
    waiting = ProgressLine(f"waiting for a dealer at {host}:{port}, {CONNECT_SECONDS:g} s at most")
    played = programs.play_at_dealer(
        agent, game, host, port, seed=seed, connect_seconds=CONNECT_SECONDS, connect_context=waiting
    )
    if json:
        emit({"agent": agent, "game": game, **played._asdict()})
    else:
        left = "" if played.finished else "; the dealer left in the middle of a hand"
        print(f"{agent}: {played.hands:,} hands, {played.decisions:,} decisions{left}")
    return played.finished


def online(
    agent: str,
    *,
    url: str | None = None,
    hands: PositiveCount = 100,
    record: Path | None = None,
    replay: Path | None = None,
    pause: str = "0s",
    json: bool = False,
) -> None:
    """Play an agent against a bot behind a web API.

    Parameters
    ----------
    url
        URL of the bot's web API, such as https://bot.example/api.
    hands
        Number of hands.
    record
        Record every request and reply in this file.
    replay
        Replay hands from such a file, without a network.
    pause
        Pause before each request: 1s.
    """
    if (url is None) == (replay is None):
        raise InputError("online: give --url URL of the bot, or --replay FILE with recorded exchanges")
    if record is not None and record.exists():
        raise InputError(f"--record {record}: exists already; choose another name")
    player = make_agent(agent)
    if replay is not None:
        exchange = web_bot.replay_exchange(replay)
    else:
        exchange = web_bot.http_exchange(url or "", pause=0.0 if pause == "0s" else parse_duration(pause))
    exchange = exchange if record is None else web_bot.recording_exchange(exchange, record)

    def report(done: int, chips: int) -> None:
        if done % 10 == 0 and not json:
            say(f"{done:,} hands, {chips:+,} chips")

    played = web_bot.play_online(player, exchange, hands, report)
    print_result(played, map(str, [played]), json)
