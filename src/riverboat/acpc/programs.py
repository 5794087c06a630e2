"""Matches in which players are programs that speak the ACPC protocol, and agents as players at a dealer's table.

A program is started as `COMMAND HOST PORT`, as the competition does, and stopped at the end of the match.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from riverboat.acpc.client import ClientSummary, play_client
from riverboat.acpc.dealer import LOOPBACK, DealerLimits, DealerMatchResult, listening_port, open_listeners, run_match
from riverboat.agents.base import act_on_match_state
from riverboat.agents.registry import make_agent
from riverboat.api.agent import rules_for
from riverboat.core.errors import InputError, short_repr
from riverboat.core.formatting import split_command
from riverboat.evaluation.confidence_intervals import SampleSums
from riverboat.formats.acpc_log import check_names
from riverboat.games.holdem.rules import read_game

PROGRAM_PREFIX = "acpc:"  # prefix of the command of a player that speaks the protocol
_EXIT_SECONDS = 5.0  # seconds that a program has to exit by itself after the match


def host_match(
    game: str,
    *,
    hands: int = 1000,
    seed: int = 0,
    ports: Sequence[int] = (0, 0),
    host: str = LOOPBACK,
    log: Path | None = None,
    commands: Sequence[str] = (),
    names: Sequence[str] = ("player1", "player2"),
    limits: DealerLimits | None = None,
    duplicate: bool = False,
    forfeit: bool = False,
    warn: Callable[[str], None] = lambda text: None,
    on_listening: Callable[[list[int]], None] = lambda ports: None,
) -> tuple[DealerMatchResult, dict[str, Any]]:
    """Deal a match to two players, which connect by themselves or are started by `commands`.

    `on_listening` gets the ports before the players connect. Returns the match, and its report for JSON.
    """
    rules = read_game(game)
    if len(commands) not in (0, 2):
        raise InputError(f"players: {len(commands)} programs: give two, or none and start them yourself")
    if len(names) != 2:
        raise InputError(f"names {short_repr(','.join(names))}: give two names, such as alice,bob")
    check_names(list(names))
    for command in commands:
        _parse_command(command)
    listeners = open_listeners(list(ports), host)
    used = [listening_port(listener) for listener in listeners]
    on_listening(used)
    with listeners[0], listeners[1], _start_programs(zip(commands, used, strict=False), host) as programs:
        result = run_match(
            rules,
            hands,
            seed,
            listeners,
            players=(names[0], names[1]),
            limits=limits,
            log=log,
            duplicate=duplicate,
            forfeit=forfeit,
            warn=warn,
            is_alive=lambda player: not programs or programs[player].poll() is None,
        )
    return result, dealer_match_report(result, rules.big_blind, hands, seed, duplicate=duplicate)


def play_at_dealer(
    agent: str,
    game: str,
    host: str,
    port: int,
    *,
    seed: int = 0,
    connect_seconds: float = 10.0,
    connect_context: AbstractContextManager[object] | None = None,
) -> ClientSummary:
    """Play a match for an agent at a dealer's table; `connect_context` is open while it waits for the dealer."""
    rules, player = read_game(game), make_agent(agent, seed)
    player.check_rules(rules)
    decide = partial(act_on_match_state, player)
    return play_client(host, port, rules, decide, connect_seconds=connect_seconds, connect_context=connect_context)


def match_programs(
    names: Sequence[str], game: str | None, hands: int, seed: int, warn: Callable[[str], None]
) -> dict[str, Any]:
    """Play a duplicate match in which one player or both are programs, `acpc:COMMAND`; return its report for JSON."""
    agents = [None if name.startswith(PROGRAM_PREFIX) else make_agent(name, seed) for name in names]
    commands = [name.removeprefix(PROGRAM_PREFIX) if name.startswith(PROGRAM_PREFIX) else None for name in names]
    rules = rules_for([agent for agent in agents if agent is not None], game)
    if hands % 2:
        raise InputError(f"hands {hands}: a duplicate match needs an even number")
    listeners = open_listeners()
    ports = [listening_port(listener) for listener in listeners]
    started = [(command, port) for command, port in zip(commands, ports, strict=True) if command is not None]
    with listeners[0], listeners[1], ThreadPoolExecutor(2) as seats, _start_programs(started, LOOPBACK) as programs:
        for agent, port in zip(agents, ports, strict=True):
            if agent is not None:
                seats.submit(play_client, LOOPBACK, port, rules, partial(act_on_match_state, agent))
        result = run_match(
            rules, hands, seed, listeners, players=("first", "second"), duplicate=True, warn=warn,
            is_alive=lambda _: all(program.poll() is None for program in programs),
        )  # fmt: skip
    facts = dealer_match_report(result, rules.big_blind, hands, seed, duplicate=True)
    if not result.complete:
        raise InputError(
            f"{names[0]} against {names[1]}: the match ended after {facts['hands']} hands: {result.faults}"
        )
    return facts | {"players": list(names), "pairs": hands // 2, "bb_per_100": facts["mbb_per_game"] / 10}


def dealer_match_report(
    result: DealerMatchResult, big_blind: int, hands: int, seed: int, *, duplicate: bool = False
) -> dict[str, Any]:
    """Return the report of a match for JSON: the first player's winnings in mbb/g, hands, faults and times.

    The interval needs two samples: hands, or pairs of hands in a duplicate match.
    """
    played, mean, half_width = len(result.won), None, None
    size = 2 if duplicate else 1  # hands per sample: hands that share their cards are not independent
    samples = [sum(result.won[k : k + size]) / size for k in range(0, played - size + 1, size)]
    if len(samples) >= 2:
        scale = 1000 / big_blind
        chips = SampleSums(len(samples), sum(samples), sum(won * won for won in samples)).confidence_interval()
        mean, half_width = scale * chips.mean, scale * chips.half_width
    return {
        "players": list(result.players),
        "score": list(result.score),
        "mbb_per_game": mean,
        "ci95": half_width,
        "hands": played,
        "asked": hands,
        "duplicate": duplicate,
        "seed": seed,
        "complete": result.complete,
        "replaced": result.replaced,
        "ignored": result.ignored,
        "faults": [fault._asdict() for fault in result.faults],
        "seconds": result.seconds,
        "hands_per_second": played / result.seconds if result.seconds > 0 else None,
    }


def _parse_command(command: str) -> list[str]:
    """Split a command as a shell does, and check that its program exists."""
    try:
        words = split_command(command)
    except ValueError as error:
        raise InputError(f"program {short_repr(command)}: {str(error).lower()}") from None
    if not words or shutil.which(words[0]) is None:
        raise InputError(
            f"program {short_repr(command)}: No such file or directory; write COMMAND, which gets HOST PORT"
        )
    return words


@contextmanager
def _start_programs(commands: Iterable[tuple[str, int]], host: str) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Start the players, each with its port, and stop all of them on exit."""
    started: list[subprocess.Popen[bytes]] = []
    try:
        for command, port in commands:
            words = [*_parse_command(command), host, str(port)]
            try:
                started.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
            except OSError as error:
                raise InputError(f"program {short_repr(command)}: {error.strerror or error}") from None
        yield started
    finally:
        for program in started:
            _stop_program(program)


def _stop_program(program: subprocess.Popen[bytes]) -> None:
    """Stop a program: wait, then terminate, then kill."""
    for stop in (program.poll, program.terminate, program.kill):
        stop()
        with suppress(subprocess.TimeoutExpired):
            program.wait(_EXIT_SECONDS)
            return
