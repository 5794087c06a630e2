"""Players at a table over TCP, on loopback: rule-abiding ones, and one whose every message a test chooses."""

from __future__ import annotations

import random
import socket
import threading
from collections.abc import Callable
from typing import Any

from riverboat.acpc.client import ClientSummary, DecisionFunction, play_client
from riverboat.acpc.dealer import LOOPBACK, DealerLimits, DealerMatchResult, listening_port, open_listeners, run_match
from riverboat.games.holdem.match_state import MatchState, parse_match_state
from riverboat.games.holdem.rules import PokerRules, read_game

NOLIMIT, LIMIT = read_game("nolimit-200bb"), read_game("limit")
SHORT = DealerLimits(start=10, answer=10)  # a failing test must not wait ten minutes
NAMES = ("alice", "bob")


def call(state: MatchState) -> str:
    return "c"


def least_raise(state: MatchState) -> str:
    span = state.betting.raise_range()
    return "c" if span is None else "r" if state.rules.limit else f"r{span.least}"


def drawn(seed: int) -> DecisionFunction:
    """A random legal action, the same at the same state."""

    def decide(state: MatchState) -> str:
        source = random.Random(f"{seed}:{state.hand}:{state.betting.line}")
        moves = [label for label in ("f", "c", "c", "c") if state.betting.find_action(label) is not None]
        span = state.betting.raise_range()
        if span is not None:
            moves.append("r" if state.rules.limit else f"r{source.randint(*span)}")
        return source.choice(moves)

    return decide


class Match:
    """A dealer in this thread and two players in others: functions of a port."""

    def __init__(
        self, rules: PokerRules, hands: int, *players: Callable[[int], Any], seed: int = 7, **options: Any
    ) -> None:
        listening = open_listeners()
        self.returned: list[Any] = [None, None]
        self.warnings: list[str] = []
        threads = [
            threading.Thread(target=self._run, args=(k, player, listening_port(listening[k])))
            for k, player in enumerate(players)
        ]
        for thread in threads:
            thread.start()
        options = {"players": NAMES, "limits": SHORT, "warn": self.warnings.append} | options
        self.result: DealerMatchResult = run_match(rules, hands, seed, listening, **options)
        for thread in threads:
            thread.join(20)
            assert not thread.is_alive()
        assert not [error for error in self.returned if isinstance(error, Exception)]

    def _run(self, k: int, player: Callable[[int], Any], port: int) -> None:
        try:
            self.returned[k] = player(port)
        except Exception as error:
            self.returned[k] = error


def client(rules: PokerRules, decide: DecisionFunction, **options: Any) -> Callable[[int], ClientSummary]:
    return lambda port: play_client(LOOPBACK, port, rules, decide, **options)


class Raw:
    """A player controlled by the test: sends its version, then any text."""

    def __init__(self, port: int, version: str | None = "VERSION:2.0.0") -> None:
        self.socket = socket.create_connection((LOOPBACK, port), timeout=20)
        self.file = self.socket.makefile("r", encoding="ascii", newline="\n")
        if version is not None:
            self.say(version)

    def say(self, text: str, end: str = "\r\n") -> None:
        self.socket.sendall((text + end).encode())

    def hear(self) -> str:
        line = self.file.readline()
        assert not line or line.endswith("\r\n")
        return line.removesuffix("\r\n")

    def close(self) -> None:
        self.file.close()
        self.socket.close()


def raw(
    rules: PokerRules, answer: Callable[[Raw, MatchState], None], version: str = "VERSION:2.0.0"
) -> Callable[[int], Any]:
    """A player whose every action is chosen by `answer`; returns all lines that it received."""

    def run(port: int) -> list[str]:
        player, lines = Raw(port, version), []
        try:
            while not player.file.closed and (line := player.hear()):
                lines.append(line)
                state = parse_match_state(line, rules)
                if state.acting:
                    answer(player, state)
        except OSError:
            pass  # the dealer has left
        finally:
            player.close()
        return lines

    return run
