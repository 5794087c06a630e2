"""A client of the ACPC protocol, version 2.0.0: connects to a dealer, receives every state, and acts on its turn.

    summary = play_client("127.0.0.1", 20000, read_game("nolimit-200bb"), lambda state: "c")

The decision function gets a `MatchState` and returns `f`, `c` or `r300` (`r` in limit games). Lines that start with `#`
or `;` are comments. The dealer closes the connection when the match is over.
"""

from __future__ import annotations

import socket
import struct
import sys
import time as clock
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, NamedTuple

from riverboat.core.errors import InputError, short_repr
from riverboat.games.holdem.match_state import TAG, BettingNodeCache, MatchState, parse_match_state
from riverboat.games.holdem.rules import PokerRules

VERSION = "VERSION:2.0.0"
MAX_LINE_BYTES = 1 << 16  # longest line; one with 200 raises has 1,200 bytes
COMMENT_PREFIXES = (b"#", b";")
_POLL_SECONDS = 1.0

DecisionFunction = Callable[[MatchState], str]


class ClientSummary(NamedTuple):
    """Counts of a client after the dealer has closed the connection.

    Attributes
    ----------
    hands
        Completed hands.
    decisions
        Actions sent.
    ignored
        Lines that are neither a state nor a comment.
    finished
        False if the dealer left in the middle of a hand.

    Examples
    --------
    >>> ClientSummary(hands=100, decisions=250, ignored=0, finished=True).hands
    100
    """

    hands: int  # completed hands
    decisions: int  # actions sent
    ignored: int  # lines that are neither a state nor a comment
    finished: bool  # False if the dealer left in the middle of a hand


class ConnectionLost(Exception):
    """Exception for a closed connection or a missed deadline: `kind` is `closed` or `timeout`."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


class LineSocket:
    r"""Lines over a socket, with a deadline for each.

    Socket options limit each blocking call to a poll interval, so that a read is one system call; Python's timeouts
    need three.

    Parameters
    ----------
    peer
        Connected TCP socket.

    Examples
    --------
    >>> import socket
    >>> server = socket.create_server(("127.0.0.1", 0))
    >>> one = LineSocket(socket.create_connection(server.getsockname()))
    >>> other = LineSocket(server.accept()[0])
    >>> one.send(b"hello\r\n", seconds=1.0)
    >>> other.read_line(None)
    b'hello'
    >>> one.close(), other.close(), server.close()
    (None, None, None)
    """

    def __init__(self, peer: socket.socket) -> None:
        peer.settimeout(None)
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _pack_timeval(_POLL_SECONDS))
        self.peer = peer
        self.buffer = b""  # bytes after the last complete line
        self.skipping = False  # within a line that is too long
        self._set_receive_timeout(_POLL_SECONDS)

    def _set_receive_timeout(self, seconds: float) -> None:
        self.peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _pack_timeval(seconds))
        self.receive_timeout = seconds

    def send(self, message: bytes, seconds: float | None) -> None:
        """Send a message.

        Parameters
        ----------
        message
            Bytes with the end of the line.
        seconds
            Time for the peer to read; None: no limit.

        Raises
        ------
        ConnectionLost
            If the peer has left or does not read.
        """
        until = None
        while message:
            try:
                message = message[self.peer.send(message) :]
            except (BlockingIOError, TimeoutError):
                now = clock.monotonic()
                until = until or (None if seconds is None else now + seconds)
                if until is not None and now > until:
                    raise ConnectionLost("timeout", f"did not read for {seconds:g} s") from None
            except OSError as error:
                raise _connection_closed(error) from None

    def read_line(self, deadline: float | None) -> bytes:
        """Return the next line without its end.

        Parameters
        ----------
        deadline
            Time limit in `time.monotonic` seconds; None waits forever.

        Raises
        ------
        ConnectionLost
            If the peer has left or the deadline has passed.
        """
        while True:
            line, end, rest = self.buffer.partition(b"\n")
            if end:
                self.buffer = rest
                if not self.skipping:
                    return line.rstrip()
                self.skipping = False  # the end of a line that was too long
                continue
            if len(line) > MAX_LINE_BYTES:
                self.buffer, self.skipping = b"", True
            self.buffer += self._receive(deadline)

    def _receive(self, deadline: float | None) -> bytes:
        while True:
            left = _POLL_SECONDS if deadline is None else min(_POLL_SECONDS, deadline - clock.monotonic())
            if left <= 0:
                raise ConnectionLost("timeout", "did not respond in time")
            if left != self.receive_timeout:
                self._set_receive_timeout(left)
            try:
                chunk = self.peer.recv(MAX_LINE_BYTES)
            except (BlockingIOError, TimeoutError):
                continue
            except OSError as error:
                raise _connection_closed(error) from None
            if not chunk:
                raise ConnectionLost("closed", "closed the connection")
            return chunk

    def close(self, linger: float = 0.0) -> None:
        """Close the connection, giving the peer `linger` seconds to close first.

        Unread bytes would reset the connection, and the peer would lose data that it has not read yet.

        Parameters
        ----------
        linger
            Seconds.
        """
        until = clock.monotonic() + linger
        with suppress(ConnectionLost, OSError):
            self.peer.shutdown(socket.SHUT_WR)
            while self._receive(until):
                pass
        self.peer.close()


def _pack_timeval(seconds: float) -> bytes:
    """Return a positive timeout as a socket option; zero would mean no limit."""
    if sys.platform == "win32":
        return struct.pack("<L", max(1, round(1000 * seconds)))
    return struct.pack("ll", int(seconds), max(1, int(1e6 * (seconds % 1))))


def _connection_closed(error: OSError) -> ConnectionLost:
    return ConnectionLost("closed", f"closed the connection ({error.strerror or error})")


def play_client(
    host: str,
    port: int,
    rules: PokerRules,
    decide: DecisionFunction,
    *,
    observe: Callable[[MatchState], None] | None = None,
    connect_seconds: float = 10.0,
    connect_context: AbstractContextManager[Any] | None = None,
    line_timeout: float | None = None,
) -> ClientSummary:
    """Play a match to its end.

    Parameters
    ----------
    host
        Host of the dealer.
    port
        Port of the player.
    rules
        Game of the match.
    decide
        Function from a state to an action: `f`, `c` or `r300` (`r` in limit games).
    observe
        Function that sees every state, including the opponent's turns and the end of hands.
    connect_seconds
        Time to wait for a dealer.
    connect_context
        Context that is active while waiting for the dealer.
    line_timeout
        Seconds to wait for each line; None: forever.

    Returns
    -------
    ClientSummary
        Counts of hands, decisions and ignored lines.

    Raises
    ------
    InputError
        If there is no dealer, it plays another game, or nothing is received in time.

    Examples
    --------
    Two clients and a dealer in one process:

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from riverboat.acpc.dealer import listening_port, open_listeners, run_match
    >>> from riverboat.games.holdem.rules import read_game
    >>> rules, listeners = read_game("nolimit-200bb"), open_listeners()
    >>> ports = [listening_port(listener) for listener in listeners]
    >>> with ThreadPoolExecutor(2) as pool:
    ...     clients = [pool.submit(play_client, "127.0.0.1", port, rules, lambda state: "c") for port in ports]
    ...     result = run_match(rules, 5, seed=7, listeners=listeners)
    >>> result.complete, clients[0].result().hands
    (True, 5)
    """
    node_cache = BettingNodeCache(rules)
    with connect_context or nullcontext():
        wire = LineSocket(_connect_to_dealer(host, port, connect_seconds))
    hands, decisions, ignored, in_hand = 0, 0, 0, False
    try:
        wire.send(f"{VERSION}\r\n".encode(), line_timeout)
        while True:
            raw = wire.read_line(None if line_timeout is None else clock.monotonic() + line_timeout)
            if not raw.startswith(TAG.encode()):
                ignored += bool(raw) and not raw.startswith(COMMENT_PREFIXES)
                continue
            text = raw.decode("ascii", "replace")
            state = parse_match_state(text, rules, node_cache)  # raises if the dealer plays another game
            in_hand = not state.over
            hands += state.over
            if observe is not None:
                observe(state)
            if state.acting:
                action = decide(state)
                if action not in state.node.children:
                    _ = state.betting.parse_action(action)  # raises with the legal actions
                wire.send(f"{text}:{action}\r\n".encode(), line_timeout)
                decisions += 1
    except ConnectionLost as reason:
        if reason.kind == "timeout":
            raise InputError(f"dealer at {host}:{port}: {reason}: nothing received for {line_timeout:g} s") from None
        return ClientSummary(hands, decisions, ignored, not in_hand)
    finally:
        wire.close()


def _connect_to_dealer(host: str, port: int, seconds: float) -> socket.socket:
    """Try to connect until the dealer listens or the time is over."""
    until = clock.monotonic() + seconds
    while True:
        try:
            return socket.create_connection((host, port), timeout=max(0.1, until - clock.monotonic()))
        except OSError as error:
            if isinstance(error, socket.gaierror):  # waiting does not help with an unknown host name
                raise InputError(f"dealer at {short_repr(host)}: {error.strerror or error}") from None
            if clock.monotonic() > until:
                problem = f"dealer at {host}:{port}: {error.strerror or error}"
                raise InputError(f"{problem}; start it first, or wait longer than {seconds:g} s") from None
            clock.sleep(0.05)
