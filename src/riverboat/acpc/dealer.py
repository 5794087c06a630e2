"""A dealer of the ACPC protocol, version 2.0.0: two programs connect by TCP and play a match.

    rules = read_game("nolimit-200bb")
    result = run_match(rules, 1000, seed=7, listeners=open_listeners((0, 0)), log=Path("match.log"))

Player k connects to port k and sends `VERSION:2.0.0`. Both receive the state, as they may see it, before every action
and at the end of every hand; the player to act sends the state back, followed by `:` and the action. Seats change after
every hand: hand 0 has player 0 in seat 0. Cards only depend on the seed and the number of the hand.

Errors are handled as by the competition's dealer:

- comments (`#`, `;`), lines that are not a state, and responses to another state are ignored; the clock keeps running;
- a raise below the minimum or above the maximum is clipped; an illegal raise, a fold with nothing to call, and an
  unreadable action become a call;
- a version with another major number, or a larger minor one, ends the match before it begins;
- a player who runs out of time or closes the connection ends the match. Finished hands are in the log, the unfinished
  one is in a comment, and there is no SCORE. With `forfeit`, that player checks or folds from then on instead, and the
  match is played to its end.
"""

from __future__ import annotations

import re
import socket
import time as clock
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from riverboat.acpc.client import COMMENT_PREFIXES, ConnectionLost, LineSocket
from riverboat.cards.deck import card_name
from riverboat.cards.ranking import rank_batch
from riverboat.core import files
from riverboat.core.errors import InputError
from riverboat.formats import acpc_log
from riverboat.formats.acpc_log import ChipPair, PlayerNames
from riverboat.games.holdem import match_state
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.match_state import BettingNode, BettingNodeCache, format_match_state
from riverboat.games.holdem.rules import PokerRules

LOOPBACK = "127.0.0.1"
_VERSION_PATTERN = re.compile(rb"VERSION:(\d{1,9})\.(\d{1,9})\.(\d{1,9})")
_MOVE_PATTERN = re.compile(r"f|c|r[0-9]{0,15}")
_DEAL_BLOCK = 1024  # hands dealt per block
_LINGER_SECONDS = 0.5  # seconds for a player to read the last message
_BySeat = tuple[str, str]
PlayerCheck = Callable[[int], bool]  # whether the program of a player still runs


@dataclass(frozen=True, kw_only=True)
class DealerLimits:
    """Time limits of a player in seconds; all defaults except `start` are those of the competition's dealer.

    Parameters
    ----------
    start
        Time for both to connect and send their version; None: no limit.
    answer
        Time for one response.
    hand
        Time for all responses in a hand.
    average
        Mean time per hand: this times the number of hands is the time for all responses in the match.
    invalid
        Largest number of corrected actions; None: no limit.

    Raises
    ------
    InputError
        If a limit is not positive.

    Examples
    --------
    >>> DealerLimits(answer=5.0).hand
    600.0
    """

    start: float | None = 60.0  # time for both to connect and send their version; None: no limit
    answer: float = 600.0  # time for one response
    hand: float = 600.0  # time for all responses in a hand
    average: float = 7.0  # mean time per hand, over all responses in the match
    invalid: int | None = None  # largest number of corrected actions; None: no limit

    def __post_init__(self) -> None:
        for name in ("start", "answer", "hand", "average"):
            seconds = getattr(self, name)
            if seconds is not None and not 0 < seconds < 1e9:
                raise InputError(f"time limit {name}={seconds:g} s: must be positive")


class PlayerFault(NamedTuple):
    """Fault because of which a player could not continue.

    Attributes
    ----------
    player
        Player 0 or 1.
    kind
        `timeout`, `closed`, `version`, `absent` or `invalid`.
    reason
        Words for the log.

    Examples
    --------
    >>> PlayerFault(0, "closed", "closed the connection").kind
    'closed'
    """

    player: int
    kind: str  # timeout, closed, version, absent, invalid
    reason: str


@dataclass
class DealerMatchResult:
    """Result of a match; pairs are by player.

    Attributes
    ----------
    players
        Names.
    won
        Chips of the first player, by hand.
    replaced
        Illegal actions of each player that were corrected.
    ignored
        Unexpected lines of each player.
    seconds_used
        Time that each player used.
    faults
        Faults that ended or changed the match.
    seconds
        Time from the first hand.
    complete
        Whether all hands were played.
    stopped
        Whether `stop` of `run_match` ended the match.

    Examples
    --------
    >>> DealerMatchResult(("Ann", "Bob"), array("q", [100, -50])).score
    (50, -50)
    """

    players: PlayerNames
    won: array[int] = field(default_factory=lambda: array("q"))  # chips of the first player, by hand
    replaced: list[int] = field(default_factory=lambda: [0, 0])  # illegal actions of each player that were corrected
    ignored: list[int] = field(default_factory=lambda: [0, 0])  # unexpected lines of each player
    seconds_used: list[float] = field(default_factory=lambda: [0.0, 0.0])
    faults: list[PlayerFault] = field(default_factory=list)
    seconds: float = 0.0  # from the first hand
    complete: bool = False
    stopped: bool = False

    @property
    def score(self) -> ChipPair:
        """Chips won by each player."""
        return sum(self.won), -sum(self.won)


# --- Cards ---


class DealtHand(NamedTuple):
    """Cards of a hand as texts, and the winner of a showdown.

    Attributes
    ----------
    hole_cards
        Cards of seats 0 and 1.
    boards
        The board so far, by round.
    showdown_sign
        1 if seat 0 wins, 0 for a tie, -1 if seat 1 wins.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> len(next(deal_hands(read_game("nolimit-200bb"), seed=7)).boards)
    4
    """

    hole_cards: tuple[str, str]
    boards: list[str]  # by round: the board so far
    showdown_sign: int


def deal_hands(
    rules: PokerRules, seed: int, *, duplicate: bool = False, table: tuple[int, int] = (0, 1)
) -> Iterator[DealtHand]:
    """Yield the cards of hands 0, 1, …

    Parameters
    ----------
    rules
        Game.
    seed
        Seed of the cards; they depend on nothing else.
    duplicate
        Whether each deal comes twice.
    table
        Number of a table, and number of tables that share the deals: each gets every n-th of them.

    Yields
    ------
    DealtHand
        The cards of a hand, without end.

    Examples
    --------
    >>> from itertools import islice
    >>> from riverboat.games.holdem.rules import read_game
    >>> first, second = islice(deal_hands(read_game("nolimit-200bb"), seed=7, duplicate=True), 2)
    >>> first == second
    True
    """
    names = [card_name(card) for card in range(52)]
    hole = rules.hole
    for block in count():
        packs = np.tile(rules.deck.cards, (_DEAL_BLOCK, 1))
        cards = np.random.default_rng((seed, block)).permuted(packs, axis=1)[:, : 2 * hole + sum(rules.board)]
        board = cards[:, 2 * hole :]
        holes = cards[:, :hole], cards[:, hole : 2 * hole]
        first, second = (rank_batch(np.hstack([x, board]), check=False).astype(np.int64) for x in holes)
        own = slice((table[0] - block * _DEAL_BLOCK) % table[1], None, table[1])
        for row, better in zip(cards[own].tolist(), np.sign(first - second)[own].tolist(), strict=True):
            texts = [names[card] for card in row]
            boards = [match_state.format_board(row[2 * hole :], rules, street) for street in range(rules.rounds)]
            deal = DealtHand(("".join(texts[:hole]), "".join(texts[hole : 2 * hole])), boards, better)
            yield from (deal, deal) if duplicate else (deal,)


# --- Actions ---


def correct_move(betting: BettingState, text: str) -> tuple[str, str | None]:
    """Return the legal action that a response counts as, and a description of the error, if any.

    Parameters
    ----------
    betting
        State at which the player acts.
    text
        Response of the player after the state.

    Returns
    -------
    tuple
        Legal action, and None or a description of the error.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> start = BettingState.start(read_game("nolimit-200bb"))
    >>> correct_move(start, "r300")
    ('r300', None)
    >>> correct_move(start, "r120")[0]
    'r200'
    """
    if not _MOVE_PATTERN.fullmatch(text):
        return "c", f"move {text[:40]!r} is invalid, changed to a call"
    if text[0] != "r":
        if betting.find_action(text) is not None:
            return text, None
        return "c", "there is nothing to call, so the fold is changed to a call"
    span = betting.raise_range()
    if span is None:
        return "c", f"move {text!r}: no raise is legal, changed to a call"
    if betting.rules.limit:
        return "r", None  # a size is ignored
    if text == "r":
        return "c", "move 'r' has no size, changed to a call"
    total = min(max(int(text[1:]), span.least), span.most)
    problem = f"move {text!r}: legal raises are {span.least} to {span.most}, changed to r{total}"
    return f"r{total}", None if total == int(text[1:]) else problem


# --- Sockets ---


def open_listeners(ports: Sequence[int] = (0, 0), host: str = LOOPBACK) -> tuple[socket.socket, socket.socket]:
    """Open two listening sockets.

    Parameters
    ----------
    ports
        Two ports; 0 takes a free one, which `listening_port` returns.
    host
        Address to listen on.

    Returns
    -------
    tuple of socket
        One socket for each player.

    Raises
    ------
    InputError
        If a port is invalid or in use.

    Examples
    --------
    >>> listeners = open_listeners()
    >>> all(listening_port(listener) > 0 for listener in listeners)
    True
    >>> for listener in listeners:
    ...     listener.close()
    """
    if len(ports) != 2 or any(not 0 <= port < 1 << 16 for port in ports):
        raise InputError(f"ports {tuple(ports)}: give two from 1 to 65535, or 0 for free ones")
    listeners: list[socket.socket] = []
    try:
        for port in ports:
            listeners.append(socket.create_server((host, port), backlog=1))
    except OSError as error:
        for listener in listeners:
            listener.close()
        raise InputError(f"port {port} of {host}: {error.strerror or error}; give others, or 0 for free ones") from None
    return listeners[0], listeners[1]


def listening_port(listener: socket.socket) -> int:
    """Return the port of a listening socket.

    Parameters
    ----------
    listener
        Listening socket.

    Returns
    -------
    int
        The port.

    Examples
    --------
    >>> first, second = open_listeners()
    >>> listening_port(first) != listening_port(second)
    True
    >>> first.close(), second.close()
    (None, None)
    """
    return int(listener.getsockname()[1])


class _MatchAborted(Exception):
    """Signal that the match cannot continue because of a player's fault."""

    def __init__(self, player: int, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.fault = PlayerFault(player, kind, reason)


def _connect_players(
    sockets: list[LineSocket], listeners: Sequence[socket.socket], limits: DealerLimits, is_alive: PlayerCheck
) -> None:
    """Wait until both players connect and send a supported version, and append their connections to `sockets`."""
    until = None if limits.start is None else clock.monotonic() + limits.start
    for player, listener in enumerate(listeners):
        sockets.append(_accept_player(player, listener, until, is_alive))
    for player, peer in enumerate(sockets):
        _check_version(player, peer, until)


def _accept_player(player: int, listener: socket.socket, until: float | None, is_alive: PlayerCheck) -> LineSocket:
    while True:
        listener.settimeout(0.1 if until is None else min(0.1, max(1e-3, until - clock.monotonic())))
        try:
            peer, _ = listener.accept()
        except TimeoutError:
            if until is not None and clock.monotonic() > until:
                reason = f"did not connect to port {listening_port(listener)}"
                raise _MatchAborted(player, "absent", reason) from None
            if not is_alive(player):
                raise _MatchAborted(player, "absent", "ended before it connected") from None
            continue
        listener.close()  # one player per port
        return LineSocket(peer)


def _check_version(player: int, wire: LineSocket, until: float | None) -> None:
    try:
        line = wire.read_line(until)
        while line.startswith(COMMENT_PREFIXES):
            line = wire.read_line(until)
    except ConnectionLost as reason:
        raise _MatchAborted(player, reason.kind, f"{reason} (before its version)") from None
    match = _VERSION_PATTERN.fullmatch(line)
    if match is None or int(match[1]) != 2 or int(match[2]) > 0:
        version = line[:40].decode("ascii", "replace")
        raise _MatchAborted(player, "version", f"said {version!r}: this dealer speaks VERSION:2.0.0")


# --- Match ---


def run_match(
    rules: PokerRules,
    hands: int,
    seed: int,
    listeners: Sequence[socket.socket],
    *,
    players: PlayerNames = ("player1", "player2"),
    limits: DealerLimits | None = None,
    log: Path | None = None,
    name: str = "match",
    duplicate: bool = False,
    forfeit: bool = False,
    warn: Callable[[str], None] = lambda _: None,
    stop: Callable[[DealerMatchResult], bool] = lambda _: False,
    table: tuple[int, int] = (0, 1),
    is_alive: PlayerCheck = lambda _: True,
) -> DealerMatchResult:
    """Play a match and close the sockets; faults of players are part of the result.

    Parameters
    ----------
    rules
        Game.
    hands
        Number of hands.
    seed
        Seed of the cards, not negative.
    listeners
        Listening sockets of both players, from `open_listeners`.
    players
        Names in the log.
    limits
        Time limits; those of the competition by default.
    log
        File of the log; None writes none.
    name
        Name of the match in the log.
    duplicate
        Deal the cards of hand 2k again in hand 2k + 1 with exchanged seats: fair to players without memory. For others,
        run two matches with one seed and exchange the players.
    forfeit
        A player with a fault checks or folds from then on, and the match is played to its end.
    warn
        Function of messages about faults and corrected actions.
    stop
        Function of the result, called before every hand, or every pair of hands if `duplicate`; the match ends if it is True.
    table
        Number of this table, and number of tables that share the deals of a seed: each plays every n-th of them.
    is_alive
        Function that returns whether the program of a player that should connect still runs.

    Returns
    -------
    DealerMatchResult
        Chips by hand, faults and times.

    Raises
    ------
    InputError
        If a number or name is invalid, or the log cannot be written.

    Examples
    --------
    A match without players ends with a fault:

    >>> from riverboat.games.holdem.rules import read_game
    >>> rules = read_game("nolimit-200bb")
    >>> result = run_match(rules, 5, seed=7, listeners=open_listeners(), limits=DealerLimits(start=0.2))
    >>> result.complete, result.faults[0].kind
    (False, 'absent')
    """
    acpc_log.check_names(players)
    rules.require_zero_sum("matches are played")
    if not 1 <= hands <= match_state.MAX_HAND_NUMBER:
        raise InputError(f"{hands} hands: must be 1 to {match_state.MAX_HAND_NUMBER}")
    if seed < 0:
        raise InputError(f"seed {seed}: must not be negative")
    result = DealerMatchResult(players)
    limits = limits or DealerLimits()
    sockets: list[LineSocket] = []
    start = clock.monotonic()
    with _open_log(log) as file:
        dealer = _DealerTable(BettingNodeCache(rules), limits, limits.average * hands, file, result, warn, forfeit)
        milliseconds = round(1000 * limits.answer), round(1000 * limits.hand), round(1000 * limits.average)
        dealer.write_log(acpc_log.format_header(name, rules.name, hands, seed, milliseconds))
        try:
            _connect_players(sockets, listeners, limits, is_alive)
            start = clock.monotonic()
            dealer.sockets = [*sockets]
            copies = 2 if duplicate else 1
            deals = deal_hands(rules, seed, duplicate=duplicate, table=table)
            for hand, deal in zip(range(hands), deals, strict=False):
                if hand % copies == 0 and stop(result):
                    result.stopped = True
                    break
                dealer.play_hand(hand, deal)
        except _MatchAborted as aborted:
            dealer.record_fault(aborted.fault)
        finally:
            result.seconds = clock.monotonic() - start
            for peer in sockets:
                peer.close(_LINGER_SECONDS)
            for listener in listeners:
                listener.close()
        result.complete = len(result.won) == hands  # leaving after the last hand does not matter
        if result.complete:
            dealer.write_log(f"{acpc_log.format_score_line(result.score, players)}\n")
    return result


def _open_log(path: Path | None) -> AbstractContextManager[IO[str] | None]:
    if path is None:
        return nullcontext()
    with files.disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("w", encoding="utf-8", newline="\n")  # not atomic: the log can be read during the match


@dataclass
class _DealerTable:
    """A table with two players, clocks and a log."""

    lines: BettingNodeCache
    limits: DealerLimits
    match_seconds: float  # time of each player for all responses of the match
    log: IO[str] | None
    result: DealerMatchResult
    warn: Callable[[str], None]
    forfeit: bool
    sockets: list[LineSocket | None] = field(default_factory=list)  # None: the player has left
    hand_seconds_used: list[float] = field(default_factory=lambda: [0.0, 0.0])  # by player

    def play_hand(self, hand: int, deal: DealtHand) -> None:
        """Play one hand and record it in the log and in the result."""
        order = (hand % 2, 1 - hand % 2)  # the players in seats 0 and 1
        self.hand_seconds_used = [0.0, 0.0]
        seen = (f"{deal.hole_cards[0]}|", f"|{deal.hole_cards[1]}")  # hole cards as each seat sees them
        node = self.lines.start
        try:
            while node.actor >= 0:
                actor, line, board = node.actor, node.betting.line, deal.boards[node.betting.street]
                messages = [format_match_state(seat, hand, line, seen[seat] + board).encode() for seat in (0, 1)]
                for seat in (actor, 1 - actor):
                    self._send(order[seat], messages[seat] + b"\r\n")
                node = self._read_move(order[actor], node, messages[actor], clock.monotonic())
        except _MatchAborted:
            open_cards = f"{deal.hole_cards[0]}|{deal.hole_cards[1]}{deal.boards[node.betting.street]}"
            self.write_log(f"# not finished: {hand}:{node.betting.line}:{open_cards}\n")
            raise
        self._finish_hand(hand, node, deal, seen, order)

    def _finish_hand(self, hand: int, point: BettingNode, deal: DealtHand, seen: _BySeat, order: ChipPair) -> None:
        betting = point.betting
        board, shown = deal.boards[betting.street], "|".join(deal.hole_cards)
        if betting.folded is None:
            won, seen = match_state.payoffs_of_result(betting, deal.showdown_sign), (shown, shown)
        else:
            won = match_state.payoffs_of_result(betting, 2 * betting.folded - 1)
        self.result.won.append(won[order[0]])
        if self.log is not None:
            names = self.result.players[order[0]], self.result.players[order[1]]
            self.write_log(f"{acpc_log.format_state_line(hand, betting.line, shown + board, won, names)}\n")
        left: _MatchAborted | None = None
        for seat, player in enumerate(order):
            try:
                self._send(player, format_match_state(seat, hand, betting.line, seen[seat] + board).encode() + b"\r\n")
            except _MatchAborted as broken:  # the other player still gets the result
                left = broken
        if left is not None:
            raise left

    def write_log(self, text: str) -> None:
        """Write to the log and flush it, so that played hands are never lost."""
        if self.log is not None:
            with files.disk_errors(self.log.name):
                self.log.write(text)
                self.log.flush()

    def record_fault(self, fault: PlayerFault) -> None:
        """Record a player's fault in the result and the log."""
        self.result.faults.append(fault)
        self.write_log(f"# player {fault.player + 1} ({self.result.players[fault.player]}) {fault.reason}\n")
        self.warn(f"{self.result.players[fault.player]} {fault.reason}")

    def _drop_player(self, player: int, kind: str, reason: str) -> None:
        # Ends the match; with `forfeit`, only closes the connection, and the player checks or folds from now on.
        if not self.forfeit:
            raise _MatchAborted(player, kind, reason)
        self.record_fault(PlayerFault(player, kind, reason))
        wire, self.sockets[player] = self.sockets[player], None
        if wire is not None:
            wire.close()

    def _send(self, player: int, message: bytes) -> None:
        wire = self.sockets[player]
        if wire is not None:
            try:
                wire.send(message, self.limits.answer)
            except ConnectionLost as reason:
                self._drop_player(player, reason.kind, str(reason))

    def _read_move(self, player: int, point: BettingNode, state_message: bytes, sent: float) -> BettingNode:
        """Return the node after the player's action; lines that do not respond to this state are ignored."""
        limits, used, result = self.limits, self.hand_seconds_used, self.result
        time = min(limits.answer, limits.hand - used[player], self.match_seconds - result.seconds_used[player])
        wire, start = self.sockets[player], len(state_message)
        while wire is not None:
            try:
                line = wire.read_line(sent + time)
            except ConnectionLost as reason:
                late = f"did not respond in the remaining {time:g} s" if reason.kind == "timeout" else str(reason)
                self._drop_player(player, reason.kind, late)
                break
            if line.startswith(state_message) and line[start : start + 1] in (b":", b""):
                answer = line[start + 1 :].decode("ascii", "replace")
            elif line.startswith(COMMENT_PREFIXES) or not line:
                continue
            else:
                result.ignored[player] += 1
                continue
            spent = clock.monotonic() - sent
            used[player] += spent
            result.seconds_used[player] += spent
            after = point.children.get(answer)
            return after if after is not None else self._validate_move(player, point, answer)
        return self.lines.node_after(point, "f" if point.betting.to_call else "c")

    def _validate_move(self, player: int, point: BettingNode, answer: str) -> BettingNode:
        """Return the node after an action that is new at this node, corrected if necessary."""
        move, problem = correct_move(point.betting, answer)
        if problem is not None:
            self.result.replaced[player] += 1
            self.warn(f"{self.result.players[player]} at {point.betting.line!r}: {problem}")
            if self.limits.invalid is not None and self.result.replaced[player] > self.limits.invalid:
                self._drop_player(player, "invalid", f"made more than {self.limits.invalid} illegal moves")
        return self.lines.node_after(point, move)
