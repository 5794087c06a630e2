"""`riverboat acpc dealer`, `acpc client` and `online`: matches over TCP and HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from riverboat.acpc import programs, web_bot
from riverboat.api.agent import agent as make_agent
from riverboat.cli.progress import ProgressLine
from riverboat.cli.terminal import emit, plain_console, say
from riverboat.cli.termination import flag_errors
from riverboat.core.errors import InputError, short_repr
from riverboat.formats.acpc_log import format_score_line

_MAX_WARNINGS = 20


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


def run_dealer(
    game: str, *, ports: str = "0,0", names: str = "player1,player2", json: bool = False, **options: Any
) -> bool:
    """Run a match (`acpc.programs.host_match` has the options) and report it; return False if it was not completed."""

    def print_ports(used: list[int]) -> None:
        if json:
            say(f"ports {used[0]} {used[1]}")
        else:
            print(f"{used[0]} {used[1]}", flush=True)  # in the format of the competition's dealer

    warnings = WarningPrinter()
    with flag_errors("names", "players"):
        result, facts = programs.host_match(
            game, ports=_parse_ports(ports), names=names.split(","), warn=warnings, on_listening=print_ports, **options
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


def run_client(
    name: str, game: str, host: str, port: int, *, seed: int = 0, connect_seconds: float = 10.0, json: bool = False
) -> bool:
    """Play a match for an agent at a dealer's table and report it; return False if the dealer left in the middle of a
    hand.
    """
    waiting = ProgressLine(f"waiting for a dealer at {host}:{port}, {connect_seconds:g} s at most")
    played = programs.play_at_dealer(
        name, game, host, port, seed=seed, connect_seconds=connect_seconds, connect_context=waiting
    )
    if json:
        emit({"agent": name, "game": game, **played._asdict()})
    else:
        left = "" if played.finished else "; the dealer left in the middle of a hand"
        print(f"{name}: {played.hands:,} hands, {played.decisions:,} decisions{left}")
    return played.finished


def run_online(
    name: str, hands: int, url: str | None, record: Path | None, replay: Path | None, pause: float, json: bool
) -> None:
    """Play hands against a web bot, or replay recorded ones, and print the result."""
    if (url is None) == (replay is None):
        raise InputError("online: give --url URL of the bot, or --replay FILE with recorded exchanges")
    if record is not None and record.exists():
        raise InputError(f"--record {record}: exists already; choose another name")
    agent = make_agent(name)
    exchange = web_bot.replay_exchange(replay) if replay is not None else web_bot.http_exchange(url or "", pause=pause)
    exchange = exchange if record is None else web_bot.recording_exchange(exchange, record)

    def report(done: int, chips: int) -> None:
        if done % 10 == 0 and not json:
            say(f"{done:,} hands, {chips:+,} chips")

    played = web_bot.play_online(agent, exchange, hands, report)
    if json:
        emit(played.to_dict())
        return
    plain_console().print(str(played))
