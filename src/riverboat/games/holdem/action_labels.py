"""How moves are written. Inside, a move is a number (`betting_rules`); a game chooses the notation of its lines.

ACPC: `f`, `c` (check or call), and `r300` with the total over the whole hand, in limit games `r`.
STREET, the notation of spots: `f`, `x` check, `c` call, `b120` bet and `r300` raise with the total of this street, `a`
all-in: as much as the shorter stack can call.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from riverboat.games.holdem.betting_rules import CALL, FOLD, Book, State, price, span

_TOTAL = re.compile(r"[br]([1-9]\d{0,15})", re.ASCII)


class Notation(NamedTuple):
    """A way to write moves. What is written is read back as the same move."""

    joiner: str  # stands between the moves of a line
    write: Callable[[Book, State, int], str]
    read: Callable[[Book, State, str], int | None]  # None: no move is written so here; legal moves are


def acpc_label(limit: bool, move: int) -> str:
    """A move as the protocol writes it: f, c, r300, in limit games r."""
    return "f" if move == FOLD else "c" if move == CALL else "r" if limit else f"r{move}"


def _write_acpc(book: Book, s: State, move: int) -> str:
    return acpc_label(book.limit, move)


def _read_acpc(book: Book, s: State, label: str) -> int | None:
    if label in ("f", "c"):
        return FOLD if label == "f" else CALL
    if book.limit:
        return span(book, s)[0] or None if label == "r" else None
    match = _TOTAL.fullmatch(label)
    return int(match[1]) if match and label[0] == "r" else None


def _write_street(book: Book, s: State, move: int) -> str:
    if move <= CALL:
        return "f" if move == FOLD else "c" if price(book, s) else "x"
    if move == min(book.stacks):
        return "a"
    return f"{'r' if max(s.spent0, s.spent1) > s.before else 'b'}{move - s.before}"


def _read_street(book: Book, s: State, label: str) -> int | None:
    if label == "a":
        return int(min(book.stacks))
    match = _TOTAL.fullmatch(label)
    move = s.before + int(match[1]) if match else {"f": FOLD, "c": CALL, "x": CALL}.get(label)
    return move if move is not None and _write_street(book, s, move) == label else None


ACPC = Notation("", _write_acpc, _read_acpc)
STREET = Notation("-", _write_street, _read_street)
