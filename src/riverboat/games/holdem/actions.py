"""Moves of hold'em as numbers, as tables and files of hands hold them.

FOLD = -1, CALL = 0 for a check or call, and for a raise the TOTAL that the player has then put in over the whole hand, in
limit games too. `cr300c/` is 0, 300, 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from riverboat.games.holdem.action_labels import ACPC, acpc_label
from riverboat.games.holdem.betting import Betting, steps
from riverboat.games.holdem.betting_rules import CALL as CALL
from riverboat.games.holdem.betting_rules import FOLD as FOLD
from riverboat.games.holdem.match_state import settled
from riverboat.games.holdem.rules import Rules

END = -2  # behind the last move of a line
HIDDEN = 255  # a card that nobody saw, or that is not dealt


def show_move(move: int, rules: Rules) -> str:
    """A move as the protocol writes it: f, c, r300, in limit games r."""
    return acpc_label(rules.limit, move)


def read_move(label: str, state: Betting) -> int:
    """The number of a legal move that is written as in the protocol."""
    if not state.legal(label):
        state.play(label)  # says what is wrong
    move = ACPC.read(state.rules.book, state.at, label)
    assert move is not None
    return move


def play_move(state: Betting, move: int) -> Betting:
    """The state after a move given as a number, and after the deal that may follow."""
    return settled(state.play(show_move(move, state.rules)))


def real_moves(moves: Iterable[int], state: Betting) -> tuple[int, ...]:
    """Moves of a menu or a tree as a table takes them.

    All-in is as much as the shorter stack there; the least raise of the deeper one, where it is more, is all-in too.
    """
    raises = state.raise_range()
    return tuple(move if move <= CALL or raises is None else max(move, raises.least) for move in moves)


@lru_cache(maxsize=1 << 14)
def moves_of(rules: Rules, line: str) -> tuple[int, ...]:
    """A line as numbers."""
    now, moves = Betting.start(rules), []
    for label in steps(line):
        if label == "/":
            now = now.next_street()
        else:
            moves.append(read_move(label, now))
            now = now.move(label)
    return tuple(moves)
