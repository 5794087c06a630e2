"""A player of the ACPC protocol, version 2.0.0: connects to a dealer, is told every state, answers where it is its turn.

    played = play("127.0.0.1", 20000, read_game("nolimit-200bb"), lambda state: "c")

Whoever decides gets a `MatchState` and returns `f`, `c` or `r300` (`r` in limit games). Lines that begin with `#` or `;`
are comments. The dealer closes the connection when the match is over.
"""

from __future__ import annotations

import socket
import struct
import sys
import time as clock
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from riverboat.core.errors import InputError, shown
from riverboat.games.holdem.match_state import TAG, Lines, MatchState, parse_match_state
from riverboat.games.holdem.rules import Rules

VERSION = "VERSION:2.0.0"
LONGEST = 1 << 16  # bytes of a line; one of 200 raises has 1,200
COMMENTS = (b"#", b";")
_TICK = 1.0  # seconds

Decide = Callable[[MatchState], str]


class Played(NamedTuple):
    """What a client has done when the dealer hangs up."""

    hands: int  # seen to their end
    decisions: int
    ignored: int  # lines that were neither a state nor a comment
    finished: bool  # False: the dealer left in the middle of a hand


class Dropped(Exception):
    """The peer has closed, or the time is over; the reason is for people."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


class Wire:
    """Lines over a socket, with a deadline for each.

    The system wakes a waiting call after a tick at most, so that a call is one call of the system: Python's own timeouts
    take three.
    """

    def __init__(self, peer: socket.socket) -> None:
        peer.settimeout(None)
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _time(_TICK))
        self.peer = peer
        self.kept = b""  # bytes behind the last line
        self.skipping = False  # within a line that is too long
        self._wait(_TICK)

    def _wait(self, seconds: float) -> None:
        self.peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _time(seconds))
        self.tick = seconds

    def send(self, message: bytes, seconds: float | None) -> None:
        """One write; `Dropped` where the peer has left or does not read."""
        until = None
        while message:
            try:
                message = message[self.peer.send(message) :]
            except (BlockingIOError, TimeoutError):
                now = clock.monotonic()
                until = until or (None if seconds is None else now + seconds)
                if until is not None and now > until:
                    raise Dropped("timeout", f"did not read for {seconds:g} s") from None
            except OSError as error:
                raise _closed(error) from None

    def line(self, deadline: float | None) -> bytes:
        """The next line without its end. `deadline` is of `time.monotonic`; None waits for ever."""
        while True:
            line, end, rest = self.kept.partition(b"\n")
            if end:
                self.kept = rest
                if not self.skipping:
                    return line.rstrip()
                self.skipping = False  # the end of a line that was too long
                continue
            if len(line) > LONGEST:
                self.kept, self.skipping = b"", True
            self.kept += self._receive(deadline)

    def _receive(self, deadline: float | None) -> bytes:
        while True:
            left = _TICK if deadline is None else min(_TICK, deadline - clock.monotonic())
            if left <= 0:
                raise Dropped("timeout", "did not answer in time")
            if left != self.tick:
                self._wait(left)
            try:
                chunk = self.peer.recv(LONGEST)
            except (BlockingIOError, TimeoutError):
                continue
            except OSError as error:
                raise _closed(error) from None
            if not chunk:
                raise Dropped("closed", "closed the connection")
            return chunk

    def close(self, linger: float = 0.0) -> None:
        """Hang up. Bytes that nobody has read would reset the connection and with it what the peer has still to read:
        so the peer gets `linger` seconds to do the same.
        """
        until = clock.monotonic() + linger
        try:
            self.peer.shutdown(socket.SHUT_WR)
            while self._receive(until):
                pass
        except (Dropped, OSError):
            pass
        self.peer.close()


def _time(seconds: float) -> bytes:
    """A time as the system takes it, above zero: that is no limit there."""
    if sys.platform == "win32":
        return struct.pack("<L", max(1, round(1000 * seconds)))
    return struct.pack("ll", int(seconds), max(1, int(1e6 * (seconds % 1))))


def _closed(error: OSError) -> Dropped:
    return Dropped("closed", f"closed the connection ({error.strerror or error})")


def play(
    host: str,
    port: int,
    rules: Rules,
    decide: Decide,
    *,
    watch: Callable[[MatchState], None] | None = None,
    connect: float = 10.0,
    waiting: AbstractContextManager[Any] | None = None,
    patience: float | None = None,
) -> Played:
    """Play a match to its end. `watch` sees every state, also those of the other player's turn and the end of hands.

    Waits `connect` seconds for a dealer that is not there yet, inside the context `waiting`, and
    `patience` seconds (None: for ever) for each line.
    """
    lines = Lines(rules)
    with waiting or nullcontext():
        wire = Wire(_connected(host, port, connect))
    hands = decisions = ignored = 0
    middle = False
    try:
        wire.send(f"{VERSION}\r\n".encode(), patience)
        while True:
            raw = wire.line(None if patience is None else clock.monotonic() + patience)
            if not raw.startswith(TAG.encode()):
                ignored += bool(raw) and not raw.startswith(COMMENTS)
                continue
            text = raw.decode("ascii", "replace")
            state = parse_match_state(text, rules, lines)  # a dealer of another game is told apart here
            middle = not state.over
            hands += state.over
            if watch is not None:
                watch(state)
            if state.acting:
                wire.send(f"{text}:{_decided(decide, state)}\r\n".encode(), patience)
                decisions += 1
    except Dropped as reason:
        if reason.kind == "timeout":
            raise InputError(f"dealer at {host}:{port}: {reason}: nothing came for {patience:g} s") from None
        return Played(hands, decisions, ignored, not middle)
    finally:
        wire.close()


def _decided(decide: Decide, state: MatchState) -> str:
    action = decide(state)
    if action not in state.point.next and not state.betting.legal(action):
        _ = state.betting.play(action)  # says what is legal
    return action


def _connected(host: str, port: int, seconds: float) -> socket.socket:
    """Tries until the dealer listens, or the time is over."""
    until = clock.monotonic() + seconds
    while True:
        try:
            return socket.create_connection((host, port), timeout=max(0.1, until - clock.monotonic()))
        except OSError as error:
            if isinstance(error, socket.gaierror):  # waiting does not help a name that nobody has
                raise InputError(f"dealer at {shown(host)}: {error.strerror or error}") from None
            if clock.monotonic() > until:
                problem = f"dealer at {host}:{port}: {error.strerror or error}"
                raise InputError(f"{problem}; start it first, or wait longer than {seconds:g} s") from None
            clock.sleep(0.05)
