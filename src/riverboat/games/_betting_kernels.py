"""Betting by the rules of the ACPC protocol for compiled loops.

`riverboat.games.betting.Betting` says the rules; here they are once more for batches, and tests hold the two together. A
move is a number: FOLD, CALL (or check), or the total that a raise reaches over the whole hand.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.arrays import Array
from riverboat.games.moves import CALL, FOLD
from riverboat.jit import kernel, part

GOING, FOLDED, SHOWDOWN = 0, 1, 2


class Book(NamedTuple):
    """Rules as loops read them."""

    limit: bool
    big_blind: int
    blinds: Array  # int64 [2]
    stacks: Array  # int64 [2]; NO_END where there are none
    raise_sizes: Array  # int64 [rounds]; zeros in no-limit games
    most_raises: Array  # int64 [rounds]; NO_END where there is no limit
    first: Array  # int64 [rounds]
    shown: Array  # int64 [rounds]: cards on the board


class State(NamedTuple):
    """The betting of one hand, as `Betting` has it. When it is over after a fold, `turn` is the seat that folded."""

    spent0: int
    spent1: int
    turn: int
    street: int
    raises: int
    acted: int
    last_raise: int
    before: int
    over: int  # GOING, FOLDED or SHOWDOWN


# --- betting ----------------------------------------------------------------------------------


@part
def begin(book):
    """Blinds are in."""
    zero = np.int64(0)
    return State(
        np.int64(book.blinds[0]),
        np.int64(book.blinds[1]),
        np.int64(book.first[0]),
        zero,
        zero,
        zero,
        np.int64(book.big_blind),
        zero,
        zero,
    )


@part
def price(book, s):
    """Chips that a call adds."""
    mine, theirs = (s.spent0, s.spent1) if s.turn == 0 else (s.spent1, s.spent0)
    return min(max(mine, theirs), book.stacks[s.turn]) - mine


@part
def span(book, s):
    """The least and the most total of a raise; (0, -1) where none is legal."""
    mine, theirs = (s.spent0, s.spent1) if s.turn == 0 else (s.spent1, s.spent0)
    high, stack = max(mine, theirs), np.int64(book.stacks[s.turn])
    if theirs == book.stacks[1 - s.turn] or stack <= high or s.raises >= book.most_raises[s.street]:
        return np.int64(0), np.int64(-1)
    by = np.int64(book.raise_sizes[s.street]) if book.limit else s.last_raise
    least = min(high + by, stack)
    return least, least if book.limit else stack


@part
def legal(book, s, move):
    """Whether a move may be played."""
    if s.over != GOING:
        return False
    if move == FOLD:
        return price(book, s) > 0
    if move == CALL:
        return True
    least, most = span(book, s)
    return least <= move and move <= most


@part
def step(book, s, move):
    """The state after a legal move, and after the deal that may follow."""
    if move == FOLD:
        over = np.int64(FOLDED)
        return State(s.spent0, s.spent1, s.turn, s.street, s.raises, s.acted, s.last_raise, s.before, over)
    me, zero = s.turn, np.int64(0)
    other = 1 - me
    mine, theirs = (s.spent0, s.spent1) if me == 0 else (s.spent1, s.spent0)
    high = max(mine, theirs)
    total = min(high, np.int64(book.stacks[me])) if move == CALL else np.int64(move)
    raises, last = s.raises, s.last_raise
    if total > high:
        raises, last = raises + 1, max(last, total - high)
    spent0, spent1 = (total, theirs) if me == 0 else (theirs, total)
    acted, street, over = s.acted + 1, s.street, zero
    turn, before = other, s.before
    all_in = total == book.stacks[me] or theirs == book.stacks[other]
    owed = min(max(total, theirs), np.int64(book.stacks[other])) - theirs
    if owed == 0 and (acted >= 2 or all_in):
        if all_in or street == len(book.first) - 1:
            over = np.int64(SHOWDOWN)
        else:
            street = street + 1
            turn, before = np.int64(book.first[street]), min(spent0, spent1)
            raises, acted, last = zero, zero, np.int64(book.big_blind)
    return State(spent0, spent1, turn, street, raises, acted, last, before, over)


@part
def replay(book, moves, i, length):
    """The state after the moves of line i."""
    s = begin(book)
    for k in range(length):
        s = step(book, s, np.int64(moves[i, k]))
    return s


@kernel
def first_illegal(
    book,  # Book
    moves,  # int32 [n, most]
    length,  # int32 [n]
    states,  # int64 [n, 9] OUT: as `State`
):
    """Line and place of the first move that is illegal, or -1: states after all lines."""
    for i in range(len(length)):
        s = begin(book)
        for k in range(length[i]):
            move = np.int64(moves[i, k])
            if not legal(book, s, move):
                return i, k
            s = step(book, s, move)
        write(s, states, i)
    return -1, -1


@part
def write(s, states, i):
    """Keep a state in a row."""
    for k, x in enumerate(s):
        states[i, k] = x


@part
def read(states, i):
    """A state that was kept."""
    return State(
        np.int64(states[i, 0]),
        np.int64(states[i, 1]),
        np.int64(states[i, 2]),
        np.int64(states[i, 3]),
        np.int64(states[i, 4]),
        np.int64(states[i, 5]),
        np.int64(states[i, 6]),
        np.int64(states[i, 7]),
        np.int64(states[i, 8]),
    )


@kernel
def spans(book, states, out):
    """Price of a call, least and most total of a raise. int64 [n, 9] -> int64 [n, 3]"""
    for i in range(len(states)):
        s = read(states, i)
        out[i, 0] = price(book, s)
        out[i, 1], out[i, 2] = span(book, s)
