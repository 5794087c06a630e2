"""A dealer of the ACPC protocol, version 2.0.0: two programs connect by TCP and play a match.

    result = run_match(read_game("nolimit-200bb"), 1000, seed=7, listening=listen((0, 0)), log=Path("match.log"))

Player k connects to port k and says `VERSION:2.0.0`. Both are sent the state, as they may see it, before every move and at
the end of every hand; whoever is to move sends the state back with `:` and the move behind it. Seats change after every
hand, so that hand 0 has player 0 in seat 0. Cards depend on the seed and the number of the hand alone.

What can go wrong is treated as the competition's dealer treats it:

- comments (`#`, `;`), lines that are no state, and answers to another state are passed over; the clock goes on;
- a raise below the least or above the most becomes that; a raise where none is legal, a fold where there is nothing to call,
  and a move that cannot be read become a call;
- a version with another major number, or a larger minor one, ends the match before it begins;
- a player who is out of time or closes the connection ends the match. The hands that were finished are in the log, the
  one that was not is in a comment, and there is no SCORE. With `forfeit`, that player checks or folds from there on
  instead, and the match is played to its end.
"""

from __future__ import annotations

import re
import socket
import time as clock
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from riverboat.acpc.client import COMMENTS, Dropped, Wire
from riverboat.cards.deck import card_name
from riverboat.cards.ranking import rank_batch
from riverboat.core import atomic_io
from riverboat.core.errors import InputError
from riverboat.formats.acpc_log import Names, Pair, check_names, show_hand, show_header, show_score
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.match_state import LAST_HAND, Lines, Point, settle, show_board, show_match_state
from riverboat.games.holdem.rules import Rules

LOOPBACK = "127.0.0.1"
_VERSION = re.compile(rb"VERSION:(\d{1,9})\.(\d{1,9})\.(\d{1,9})")
_MOVE = re.compile(r"f|c|r[0-9]{0,15}")
_BLOCK = 1024  # hands dealt at a time
_LINGER = 0.5  # seconds that a player has to read what it was sent last
_BySeat = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Seconds that a player may take; the defaults but the first are those of the competition's dealer."""

    start: float | None = 60.0  # for both to connect and say their version; None: no end
    answer: float = 600.0
    hand: float = 600.0  # all answers of a hand
    average: float = 7.0  # times the hands of the match: all answers of the match
    invalid: int | None = None  # moves that had to be replaced; None: no end

    def __post_init__(self) -> None:
        for name in ("start", "answer", "hand", "average"):
            seconds = getattr(self, name)
            if seconds is not None and not 0 < seconds < 1e9:
                raise InputError(f"time limit {name}={seconds:g} s: must be above zero")


class Fault(NamedTuple):
    """Why a player could not go on."""

    player: int
    kind: str  # timeout, closed, version, absent, invalid
    reason: str


@dataclass
class MatchResult:
    """How a match went; pairs are by player."""

    players: Names
    won: array[int] = field(default_factory=lambda: array("q"))  # chips of the first player, by hand
    replaced: list[int] = field(default_factory=lambda: [0, 0])  # moves that were not legal
    ignored: list[int] = field(default_factory=lambda: [0, 0])  # lines that were not asked for
    used: list[float] = field(default_factory=lambda: [0.0, 0.0])  # seconds
    faults: list[Fault] = field(default_factory=list)
    seconds: float = 0.0  # from the first hand on
    complete: bool = False

    @property
    def score(self) -> Pair:
        """Chips of both players."""
        total = sum(self.won)
        return total, -total


# --- cards ------------------------------------------------------------------------------------


class Deal(NamedTuple):
    """The cards of a hand as texts, and who wins a showdown: 1 seat 0, 0 nobody, -1 seat 1."""

    holes: tuple[str, str]
    boards: list[str]  # by round: the board so far
    better: int


def deals(rules: Rules, seed: int, *, duplicate: bool = False) -> Iterator[Deal]:
    """The cards of hand 0, 1, … of a match; in a duplicate match, each deal twice."""
    names = [card_name(card) for card in range(52)]
    count, hole = 2 * rules.hole + sum(rules.board), rules.hole
    block = 0
    while True:
        packs = np.tile(rules.deck.cards, (_BLOCK, 1))
        cards = np.random.default_rng((seed, block)).permuted(packs, axis=1)[:, :count]
        board = cards[:, 2 * hole :]
        first, second = (
            rank_batch(np.hstack([cards[:, k * hole : (k + 1) * hole], board]), check=False).astype(np.int64)
            for k in (0, 1)
        )
        for row, better in zip(cards.tolist(), np.sign(first - second).tolist(), strict=True):
            texts = [names[card] for card in row]
            boards = [show_board(row[2 * hole :], rules, street) for street in range(rules.rounds)]
            deal = Deal(("".join(texts[:hole]), "".join(texts[hole : 2 * hole])), boards, better)
            yield deal
            if duplicate:
                yield deal
        block += 1


# --- moves ------------------------------------------------------------------------------------


def correct(betting: Betting, text: str) -> tuple[str, str | None]:
    """The move that an answer counts as, and what was wrong with it, if anything was."""
    if not _MOVE.fullmatch(text):
        return "c", f"move {text[:40]!r} cannot be read, changed to a call"
    if text[0] != "r":
        return (
            (text, None) if betting.legal(text) else ("c", "there is nothing to call, so the fold is changed to a call")
        )
    span = betting.raise_range()
    if span is None:
        return "c", f"move {text!r}: no raise is legal, changed to a call"
    if betting.rules.limit:
        return "r", None  # a size is passed over
    if text == "r":
        return "c", "move 'r' has no size, changed to a call"
    total = min(max(int(text[1:]), span.least), span.most)
    wrong = f"move {text!r}: raises reach {span.least} to {span.most}, changed to r{total}"
    return f"r{total}", None if total == int(text[1:]) else wrong


# --- sockets ----------------------------------------------------------------------------------


def listen(ports: Sequence[int] = (0, 0), host: str = LOOPBACK) -> tuple[socket.socket, socket.socket]:
    """Two listening sockets; port 0 is any free one. `port_of` tells which."""
    if len(ports) != 2 or any(not 0 <= port < 1 << 16 for port in ports):
        raise InputError(f"ports {tuple(ports)}: two from 1 to 65535 are needed, or 0 for free ones")
    made: list[socket.socket] = []
    try:
        for port in ports:
            made.append(socket.create_server((host, port), backlog=1))
    except OSError as error:
        for other in made:
            other.close()
        raise InputError(f"port {port} of {host}: {error.strerror or error}; give others, or 0 for free ones") from None
    return made[0], made[1]


def port_of(listener: socket.socket) -> int:
    """Where a player connects."""
    return int(listener.getsockname()[1])


class _Broken(Exception):
    """The match cannot go on."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.reason)
        self.fault = fault


def _seat(listening: Sequence[socket.socket], limits: Limits, alive: Callable[[int], bool]) -> list[Wire]:
    """Wait until both players are there and have said a version that this dealer speaks."""
    until = None if limits.start is None else clock.monotonic() + limits.start
    wires: list[Wire] = []
    try:
        for player, listener in enumerate(listening):
            wires.append(_accepted(player, listener, until, alive))
        for player, wire in enumerate(wires):
            _check_version(player, wire, until)
    except _Broken:
        for wire in wires:
            wire.close()
        raise
    return wires


def _accepted(player: int, listener: socket.socket, until: float | None, alive: Callable[[int], bool]) -> Wire:
    while True:
        listener.settimeout(0.1 if until is None else min(0.1, max(1e-3, until - clock.monotonic())))
        try:
            peer, _ = listener.accept()
        except TimeoutError:
            if until is not None and clock.monotonic() > until:
                raise _Broken(Fault(player, "absent", f"did not connect to port {port_of(listener)}")) from None
            if not alive(player):
                raise _Broken(Fault(player, "absent", "ended before it connected")) from None
            continue
        listener.close()  # one player each
        return Wire(peer)


def _check_version(player: int, wire: Wire, until: float | None) -> None:
    try:
        line = wire.line(until)
        while line.startswith(COMMENTS):
            line = wire.line(until)
    except Dropped as reason:
        raise _Broken(Fault(player, reason.kind, f"{reason} (before its version)")) from None
    match = _VERSION.fullmatch(line)
    if match is None or int(match[1]) != 2 or int(match[2]) > 0:
        said = line[:40].decode("ascii", "replace")
        raise _Broken(Fault(player, "version", f"said {said!r}: this dealer speaks VERSION:2.0.0"))


# --- the match --------------------------------------------------------------------------------


def run_match(
    rules: Rules,
    hands: int,
    seed: int,
    listening: Sequence[socket.socket],
    *,
    players: Names = ("player1", "player2"),
    limits: Limits | None = None,
    log: Path | None = None,
    name: str = "match",
    duplicate: bool = False,
    forfeit: bool = False,
    warn: Callable[[str], None] = lambda _: None,
    progress: Callable[[MatchResult], None] | None = None,
    alive: Callable[[int], bool] = lambda _: True,
) -> MatchResult:
    """Play a match; faults of players are in the result. Closes the sockets.

    `duplicate` deals the cards of hand 2k again in hand 2k + 1, where the players have changed seats: fair to players
    without memory. For others, run two matches of one seed and exchange the players. `alive` says whether a program that
    should connect still runs.
    """
    check_names(players)
    rules.need_zero_sum("matches are played")
    if not 1 <= hands <= LAST_HAND:
        raise InputError(f"{hands} hands: 1 to {LAST_HAND} can be played")
    if seed < 0:
        raise InputError(f"seed {seed}: must not be negative")
    result = MatchResult(players)
    limits = limits or Limits()
    wires: list[Wire] = []
    began = clock.monotonic()
    with _opened(log) as file:
        table = Table(rules, hands, players, limits, file, result, warn, forfeit)
        times = limits.answer, limits.hand, limits.average
        milliseconds = (round(1000 * times[0]), round(1000 * times[1]), round(1000 * times[2]))
        table.note(show_header(name, rules.name, hands, seed, milliseconds))
        try:
            wires = _seat(listening, limits, alive)
            began = clock.monotonic()
            table.wires = [*wires]
            for hand, deal in zip(range(hands), deals(rules, seed, duplicate=duplicate), strict=False):
                table.play(hand, deal)
                if progress is not None:
                    progress(result)
        except _Broken as stop:
            table.fault(stop.fault)
        finally:
            result.seconds = clock.monotonic() - began
            for wire in wires:
                wire.close(_LINGER)
            for listener in listening:
                listener.close()
        result.complete = len(result.won) == hands  # whoever leaves after the last hand has missed nothing
        if result.complete:
            table.note(f"{show_score(result.score, players)}\n")
    return result


@contextmanager
def _opened(path: Path | None) -> Iterator[IO[str] | None]:
    if path is None:
        yield None
        return
    with atomic_io.told(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w", encoding="utf-8", newline="\n")  # while it is played: others read along
    with file:
        yield file


class Table:
    """Two players, a clock and a log."""

    def __init__(
        self,
        rules: Rules,
        hands: int,
        players: Names,
        limits: Limits,
        log: IO[str] | None,
        result: MatchResult,
        warn: Callable[[str], None],
        forfeit: bool,
    ) -> None:
        self.lines = Lines(rules)
        self.players, self.limits, self.log, self.result = players, limits, log, result
        self.warn, self.forfeit = warn, forfeit
        self.wires: list[Wire | None] = [None, None]  # None: this player has left
        self.match_time = limits.average * hands
        self.hand_used = [0.0, 0.0]  # seconds, by player

    def play(self, hand: int, deal: Deal) -> None:
        """One hand to its end, in the log and in the result."""
        first = hand % 2  # the player in seat 0
        order = (first, 1 - first)
        self.hand_used = [0.0, 0.0]
        seen = (f"{deal.holes[0]}|", f"|{deal.holes[1]}")  # as each seat sees it
        point = self.lines.start
        try:
            while point.actor >= 0:
                point = self._turn(hand, point, seen, deal.boards[point.betting.street], order)
        except _Broken:
            open_cards = f"{deal.holes[0]}|{deal.holes[1]}{deal.boards[point.betting.street]}"
            self.note(f"# not finished: {hand}:{point.betting.line}:{open_cards}\n")
            raise
        self._end(hand, point, deal, seen, order)

    def _turn(self, hand: int, point: Point, seen: _BySeat, board: str, order: Pair) -> Point:
        """Tell both, hear one."""
        actor, line = point.actor, point.betting.line
        asked = show_match_state(actor, hand, line, seen[actor] + board).encode()
        player = order[actor]
        self._send(player, asked + b"\r\n")
        other = 1 - actor
        self._send(order[other], show_match_state(other, hand, line, seen[other] + board).encode() + b"\r\n")
        return self._hear(player, point, asked, clock.monotonic())

    def _end(self, hand: int, point: Point, deal: Deal, seen: _BySeat, order: Pair) -> None:
        betting = point.betting
        board, shown = deal.boards[betting.street], "|".join(deal.holes)
        if betting.folded is None:
            won, seen = settle(betting, deal.better), (shown, shown)
        else:
            won = settle(betting, 2 * betting.folded - 1)
        self.result.won.append(won[order[0]])
        if self.log is not None:
            names = self.players[order[0]], self.players[order[1]]
            self.note(f"{show_hand(hand, betting.line, shown + board, won, names)}\n")
        left: _Broken | None = None
        for seat, player in enumerate(order):
            try:
                self._send(player, show_match_state(seat, hand, betting.line, seen[seat] + board).encode() + b"\r\n")
            except _Broken as broken:  # the other one is told all the same
                left = broken
        if left is not None:
            raise left

    def note(self, text: str) -> None:
        """Into the log, at once: a hand that was played is there whatever comes after it."""
        if self.log is not None:
            with atomic_io.told(self.log.name):
                self.log.write(text)
                self.log.flush()

    def fault(self, fault: Fault) -> None:
        """A player has left: into the result and the log."""
        self.result.faults.append(fault)
        self.note(f"# player {fault.player + 1} ({self.players[fault.player]}) {fault.reason}\n")
        self.warn(f"{self.players[fault.player]} {fault.reason}")

    def _gone(self, player: int, kind: str, reason: str) -> None:
        fault = Fault(player, kind, reason)
        if not self.forfeit:
            raise _Broken(fault)
        self.fault(fault)
        wire = self.wires[player]
        assert wire is not None
        wire.close()
        self.wires[player] = None

    def _send(self, player: int, message: bytes) -> None:
        wire = self.wires[player]
        if wire is not None:
            try:
                wire.send(message, self.limits.answer)
            except Dropped as reason:
                self._gone(player, reason.kind, str(reason))

    def _hear(self, player: int, point: Point, asked: bytes, sent: float) -> Point:
        """The point after the move of a player; what is no answer to this state is passed over."""
        limits, used, result = self.limits, self.hand_used, self.result
        time = min(limits.answer, limits.hand - used[player], self.match_time - result.used[player])
        wire, start = self.wires[player], len(asked)
        while wire is not None:
            try:
                line = wire.line(sent + time)
            except Dropped as reason:
                late = f"did not answer in the {time:g} s that were left" if reason.kind == "timeout" else str(reason)
                self._gone(player, reason.kind, late)
                break
            if line.startswith(asked) and line[start : start + 1] in (b":", b""):
                answer = line[start + 1 :].decode("ascii", "replace")
            elif line.startswith(COMMENTS) or not line:
                continue
            else:
                result.ignored[player] += 1
                continue
            spent = clock.monotonic() - sent
            used[player] += spent
            result.used[player] += spent
            after = point.next.get(answer)
            return after if after is not None else self._judge(player, point, answer)
        betting = point.betting
        return self.lines.after(point, "f" if betting.legal("f") else "c")

    def _judge(self, player: int, point: Point, answer: str) -> Point:
        """A move that was not seen here before."""
        move, wrong = correct(point.betting, answer)
        if wrong is not None:
            self.result.replaced[player] += 1
            self.warn(f"{self.players[player]} at {point.betting.line!r}: {wrong}")
            if self.limits.invalid is not None and self.result.replaced[player] > self.limits.invalid:
                self._gone(player, "invalid", f"made more than {self.limits.invalid} moves that are not legal")
        return self.lines.after(point, move)
