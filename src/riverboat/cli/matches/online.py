"""`riverboat online`: a match against a bot behind a web API."""

from __future__ import annotations

from pathlib import Path

from riverboat.acpc import web_bot
from riverboat.agents.registry import make_agent
from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core.errors import InputError


def online(
    name: str, hands: int, url: str | None, record: Path | None, replay: Path | None, pause: float, json: bool
) -> None:
    """Play the hands, or hands on record again, and say what was won."""
    if (url is None) == (replay is None):
        raise InputError("online: give --url URL of the bot, or --replay FILE with exchanges on record")
    if record is not None and record.exists():
        raise InputError(f"--record {record}: exists already; choose another name")
    agent = make_agent(name)
    exchange = web_bot.from_record(replay) if replay is not None else web_bot.over_http(url or "", pause=pause)
    exchange = exchange if record is None else web_bot.recorded(exchange, record)

    def watch(done: int, chips: int) -> None:
        if done % 10 == 0 and not json:
            say(f"{done:,} hands, {chips:+,} chips")

    played = web_bot.play_online(agent, exchange, hands, watch)
    if json:
        emit(played.to_dict())
        return
    plain_console().print(str(played))
