"""`riverboat acpc dealer` and `riverboat acpc client`: matches over TCP.

The dealer waits for two players or starts them, as `COMMAND HOST PORT`: the way the competition starts its players. What
is started here is ended here. The client seats one of our agents at any dealer's table.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from riverboat.acpc.client import Decide, play
from riverboat.acpc.dealer import LOOPBACK, Limits, MatchResult, listen, port_of, run_match
from riverboat.agents.base import Agent, answer
from riverboat.agents.registry import make_agent
from riverboat.cli.progress import ProgressLine
from riverboat.cli.terminal import emit, say
from riverboat.core.errors import InputError, shown
from riverboat.core.formatting import split_command
from riverboat.evaluation.intervals import interval
from riverboat.formats.acpc_log import check_names, show_score
from riverboat.games.holdem.rules import Rules, read_game

_MOST_WARNINGS = 20
_LEAVE = 5.0  # seconds that a program has to end by itself when the match is over


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the command was asked for."""

    hands: int = 1000
    seed: int = 0
    ports: str = "0,0"
    host: str = LOOPBACK
    log: Path | None = None
    commands: Sequence[str] = ()  # two, or none
    names: str = "player1,player2"
    limits: Limits = field(default_factory=Limits)
    duplicate: bool = False
    forfeit: bool = False
    json: bool = False


def dealer(game: str, options: Options) -> bool:
    """Run a match and report; False where it was not played to its end."""
    rules = read_game(game)
    if len(options.commands) not in (0, 2):
        raise InputError(f"{len(options.commands)} programs: give two, or none and start them yourself")
    names = options.names.split(",")
    if len(names) != 2:
        raise InputError(f"names {shown(options.names)}: two are needed, such as alice,bob")
    check_names(names)
    for command in options.commands:
        _words(command)
    listening = listen(_ports(options.ports), options.host)
    ports = [port_of(listener) for listener in listening]
    if options.json:
        say(f"ports {ports[0]} {ports[1]}")
    else:
        print(f"{ports[0]} {ports[1]}", flush=True)  # as the competition's dealer says them
    warnings = _Warnings()
    with closing(listening[0]), closing(listening[1]), _programs(options.commands, options.host, ports) as programs:
        result = run_match(
            rules,
            options.hands,
            options.seed,
            listening,
            players=(names[0], names[1]),
            limits=options.limits,
            log=options.log,
            duplicate=options.duplicate,
            forfeit=options.forfeit,
            warn=warnings,
            alive=lambda player: not programs or programs[player].poll() is None,
        )
    warnings.close()
    facts = report(result, rules.big_blind, options.hands, options.seed, duplicate=options.duplicate)
    if options.json:
        emit(facts)
    else:
        print(show_score(result.score, result.players))
        say(_summary(facts))
    return result.complete


def client(
    name: str, game: str, host: str, port: int, *, seed: int = 0, connect: float = 10.0, json: bool = False
) -> bool:
    """Play a match for an agent at a dealer's table and report; False where the dealer left in the middle of a hand."""
    rules, agent = read_game(game), make_agent(name, seed)
    agent.check_rules(rules)
    waiting = ProgressLine(f"waiting for a dealer at {host}:{port}, {connect:g} s at most")
    played = play(host, port, rules, decider(agent), connect=connect, waiting=waiting)
    if json:
        emit({"agent": name, "game": game, **played._asdict()})
    else:
        left = "" if played.finished else "; the dealer left in the middle of a hand"
        print(f"{name}: {played.hands:,} hands, {played.decisions:,} decisions{left}")
    return played.finished


PROGRAM = "acpc:"  # before the command of a player that speaks the protocol


def against_programs(names: Sequence[str], rules: Rules, hands: int, seed: int) -> dict[str, object]:
    """A duplicate match over the protocol in which one player or both are programs, `acpc:COMMAND`."""
    agents = [None if name.startswith(PROGRAM) else make_agent(name, seed) for name in names]
    commands = [name.removeprefix(PROGRAM) if name.startswith(PROGRAM) else None for name in names]
    for agent in agents:
        if agent is not None:
            agent.check_rules(rules)
    if hands % 2:
        raise InputError(f"{hands} hands: a duplicate match has an even number")
    listening = listen([0, 0], LOOPBACK)
    ports = [port_of(listener) for listener in listening]
    started = [(command, port) for command, port in zip(commands, ports, strict=True) if command is not None]
    warnings = _Warnings()
    with (
        closing(listening[0]),
        closing(listening[1]),
        ThreadPoolExecutor(2) as seats,
        _programs([command for command, _ in started], LOOPBACK, [port for _, port in started]) as programs,
    ):
        for agent, port in zip(agents, ports, strict=True):
            if agent is not None:
                seats.submit(play, LOOPBACK, port, rules, decider(agent))
        result = run_match(
            rules, hands, seed, listening, players=("first", "second"), duplicate=True, warn=warnings,
            alive=lambda _: all(program.poll() is None for program in programs),
        )  # fmt: skip
    warnings.close()
    facts = report(result, rules.big_blind, hands, seed, duplicate=True)
    if not result.complete:
        raise InputError(
            f"{names[0]} against {names[1]}: the match ended after {facts['hands']} hands: {result.faults}"
        )
    mean = facts["mbb_per_game"]
    assert isinstance(mean, float)
    return facts | {"players": list(names), "pairs": hands // 2, "bb_per_100": mean / 10}


def decider(agent: Agent) -> Decide:
    """An agent as the protocol asks for it: one table at a time."""

    return partial(answer, agent)


def report(result: MatchResult, big_blind: int, hands: int, seed: int, *, duplicate: bool = False) -> dict[str, object]:
    """The result of the first player in thousandths of a big blind, and how the match went."""
    played = len(result.won)
    mean = half_width = None
    size = 2 if duplicate else 1  # of a sample: hands that share their cards are not independent
    samples = [sum(result.won[k : k + size]) / size for k in range(0, played - size + 1, size)]
    if len(samples) >= 2:
        scale = 1000 / big_blind
        chips = interval(len(samples), sum(samples), sum(won * won for won in samples))
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


def _summary(facts: dict[str, object]) -> str:
    parts = [f"{facts['hands']:,} of {facts['asked']:,} hands in {facts['seconds']:.1f} s"]
    if facts["mbb_per_game"] is not None:
        parts.append(f"first player {facts['mbb_per_game']:+.1f} ± {facts['ci95']:.1f} mbb/g")
    return ", ".join(parts)


def _ports(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"ports {shown(text)}: write two numbers, such as 20000,20001, or 0,0 for free ones") from None


class _Warnings:
    """The first few, and how many more there were."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, text: str) -> None:
        self.count += 1
        if self.count <= _MOST_WARNINGS:
            say(f"warning: {text}")

    def close(self) -> None:
        if self.count > _MOST_WARNINGS:
            say(f"warning: {self.count - _MOST_WARNINGS:,} more")


def _words(command: str) -> list[str]:
    """A command as a shell reads it, of a program that is there."""
    try:
        words = split_command(command)
    except ValueError as error:
        raise InputError(f"program {shown(command)}: {str(error).lower()}") from None
    if not words or shutil.which(words[0]) is None:
        raise InputError(f"program {shown(command)}: No such file or directory; write COMMAND, which gets HOST PORT")
    return words


@contextmanager
def _programs(commands: Sequence[str], host: str, ports: Sequence[int]) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Start the players; whatever happens, none of them is left behind."""
    started: list[subprocess.Popen[bytes]] = []
    try:
        for command, port in zip(commands, ports, strict=False):
            words = [*_words(command), host, str(port)]
            try:
                started.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
            except OSError as error:
                raise InputError(f"program {shown(command)}: {error.strerror or error}") from None
        yield started
    finally:
        for program in started:
            _ended(program)


def _ended(program: subprocess.Popen[bytes]) -> None:
    """Wait, ask, force."""
    for stop in (None, program.terminate, program.kill):
        if stop is not None:
            stop()
        try:
            program.wait(_LEAVE)
            return
        except subprocess.TimeoutExpired:
            continue
