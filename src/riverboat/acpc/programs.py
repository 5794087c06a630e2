"""Matches in which players are programs that speak the ACPC protocol, and agents as players at a dealer's table.

A program is started as `COMMAND HOST PORT`, as the competition does, and stopped at the end of the match.
"""

from __future__ import annotations

import math
import shutil
import subprocess
import time as clock
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from riverboat.acpc.client import ClientSummary, play_client
from riverboat.acpc.dealer import LOOPBACK, DealerLimits, DealerMatchResult, listening_port, open_listeners, run_match
from riverboat.agents.base import Agent, act_on_match_state
from riverboat.agents.registry import make_agent
from riverboat.api.agent import rules_for
from riverboat.core.errors import InputError, short_repr
from riverboat.core.formatting import split_command
from riverboat.core.validation import check_thread_count
from riverboat.evaluation.confidence_intervals import OPEN, ConfidenceInterval, SampleSums, SequentialTest
from riverboat.formats.acpc_log import check_names
from riverboat.games.holdem.rules import PokerRules, read_game

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
    names: Sequence[str],
    game: str | None,
    hands: int,
    seed: int,
    warn: Callable[[str], None],
    *,
    start_seconds: float = 60.0,
    seconds: float | None = None,
    bounds: tuple[float, float] | None = None,
    tables: int = 1,
) -> dict[str, Any]:
    """Play a duplicate match in which one player or both are programs, `acpc:COMMAND`; return its report for JSON.

    The players have `start_seconds` to connect. The match ends after `seconds`, or when a sequential test decides on which
    side of `bounds` (mbb/g) the first player is. With several tables, each has processes of its own and every n-th deal. A
    fault of a player ends its table; the hands that were played count.
    """
    check_thread_count(tables, "workers")
    if hands % 2 or hands < 2 * tables:
        raise InputError(
            f"hands {hands}: a duplicate match needs an even number, two or more at each of {tables} tables"
        )
    agents = [_make_agent(names, seed) for _ in range(tables)]
    rules = rules_for([agent for agent in agents[0] if agent is not None], game)
    watch = _MatchWatch(
        seconds, None if bounds is None else SequentialTest(*bounds, max_pairs=hands // 2), rules.big_blind
    )
    limits = DealerLimits(start=start_seconds)
    started = clock.monotonic()
    with ThreadPoolExecutor(tables) as pool:
        shares = [hands // 2 // tables + (k < hands // 2 % tables) for k in range(tables)]
        playing = [
            pool.submit(
                _play_table, names, agents[k], rules, 2 * shares[k], seed, warn, limits, (k, tables), partial(watch.stop, k)
            )
            for k in range(tables)
        ]  # fmt: skip
        results = [table.result() for table in playing]
    for k, result in enumerate(results):
        watch.stop(k, result)  # counts the last pairs
    whole = _join_tables(results)
    whole.seconds = clock.monotonic() - started if tables > 1 else whole.seconds
    facts = dealer_match_report(whole, rules.big_blind, hands, seed, duplicate=True)
    if facts["ci95"] is None:
        raise InputError(
            f"{names[0]} against {names[1]}: ended after {facts['hands']} hands: {_describe_faults(whole)}"
        )
    facts |= {"players": list(names), "pairs": facts["hands"] // 2, "bb_per_100": facts["mbb_per_game"] / 10}
    if watch.test is None:
        return facts
    return facts | {"ci95": watch.interval.half_width, "verdict": watch.verdict, "bounds": list(bounds or ())}


def _make_agent(names: Sequence[str], seed: int) -> list[Agent | None]:
    """Make the agents of a table; None for a program."""
    return [None if name.startswith(PROGRAM_PREFIX) else make_agent(name, seed) for name in names]


def _play_table(
    names: Sequence[str],
    agents: Sequence[Agent | None],
    rules: PokerRules,
    hands: int,
    seed: int,
    warn: Callable[[str], None],
    limits: DealerLimits,
    table: tuple[int, int],
    stop: Callable[[DealerMatchResult], bool],
) -> DealerMatchResult:
    """Play the hands of one table."""
    listeners = open_listeners()
    ports = [listening_port(listener) for listener in listeners]
    commands = [(n.removeprefix(PROGRAM_PREFIX), p) for n, p, a in zip(names, ports, agents, strict=True) if a is None]
    with listeners[0], listeners[1], ThreadPoolExecutor(2) as seats, _start_programs(commands, LOOPBACK) as programs:
        for agent, port in zip(agents, ports, strict=True):
            if agent is not None:
                decide = partial(act_on_match_state, agent)
                seats.submit(play_client, LOOPBACK, port, rules, decide)
        return run_match(
            rules, hands, seed, listeners, players=("first", "second"), duplicate=True, warn=warn, limits=limits,
            table=table, stop=stop, is_alive=lambda _: all(program.poll() is None for program in programs),
        )  # fmt: skip


class _MatchWatch:
    """Decides when the tables of a match stop: by the clock, or by a sequential test of the pairs of all tables."""

    def __init__(self, seconds: float | None, test: SequentialTest | None, big_blind: int) -> None:
        self.seconds, self.until = seconds, math.inf  # the clock starts when the first table does
        self.test, self.verdict = test, OPEN
        self._scale = 500 / big_blind  # from chips per pair to mbb/g
        self._pairs = SampleSums()
        self._counted: dict[int, int] = {}  # hands of each table that are in the sums
        self._lock = Lock()

    def stop(self, table: int, result: DealerMatchResult) -> bool:
        """Return whether a table should stop, after counting its new pairs."""
        if self.seconds is not None and self.until == math.inf:
            self.until = clock.monotonic() + self.seconds
        if self.test is not None:
            with self._lock:
                counted, played = self._counted.get(table, 0), len(result.won) // 2 * 2
                if played > counted:
                    pairs = np.array(result.won[counted:played]).reshape(-1, 2).sum(axis=1)
                    self._pairs = self._pairs.add_samples(pairs)
                    self._counted[table] = played
                if self.verdict == OPEN:
                    self.verdict = self.test.verdict(self._pairs.scale(self._scale))
        return self.verdict != OPEN or clock.monotonic() >= self.until

    @property
    def interval(self) -> ConfidenceInterval:
        """Interval of the sequential test, in mbb/g."""
        assert self.test is not None
        return self.test.interval(self._pairs.scale(self._scale))


def _join_tables(results: Sequence[DealerMatchResult]) -> DealerMatchResult:
    """Join the results of all tables; a hand without its pair is left out."""
    whole = DealerMatchResult(results[0].players)
    for result in results:
        whole.won.extend(result.won[: len(result.won) // 2 * 2])
        whole.faults.extend(result.faults)
        for player in range(2):
            whole.replaced[player] += result.replaced[player]
            whole.ignored[player] += result.ignored[player]
            whole.seconds_used[player] += result.seconds_used[player]
    whole.seconds = max(result.seconds for result in results)
    whole.complete, whole.stopped = (all(getattr(r, name) for r in results) for name in ("complete", "stopped"))
    return whole


def _describe_faults(result: DealerMatchResult) -> str:
    """Describe the faults of a match by player and reason."""
    return "; ".join(f"{result.players[fault.player]}: {fault.reason}" for fault in result.faults)


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
        "stopped": result.stopped,
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
