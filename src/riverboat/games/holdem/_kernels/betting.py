"""The rules of betting, compiled for batches of tables: the functions of `betting_rules`, and what loops need beside them."""

from __future__ import annotations

import numpy as np

from riverboat.compiled.jit import kernel, part
from riverboat.games.holdem import betting_rules as rules
from riverboat.games.holdem.betting_rules import DEAL, FOLDED, GOING, SHOWDOWN, Book, State

__all__ = ["FOLDED", "GOING", "SHOWDOWN", "Book", "State"]

price = part(rules.price)
span = part(rules.span)
allowed = part(rules.allowed)
move_on = part(rules.step)
deal = part(rules.deal)


@part
def begin(book):
    """Blinds are in."""
    a = book.start
    return State(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9])


@part
def legal(book, s, move):
    """Whether a move may be played."""
    least, most = span(book, s)
    return s.over == GOING and allowed(price(book, s), least, most, move)


@part
def step(book, s, move):
    """The state after a legal move, and after the deal that may follow."""
    s = move_on(book, s, move)
    return deal(book, s) if s.over == DEAL else s


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
    states,  # int64 [n, FIELDS] OUT: as `State`
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
    a = states[i]
    return State(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9])


@kernel
def spans(book, states, out):
    """Price of a call, least and most total of a raise. int64 [n, FIELDS] -> int64 [n, 3]"""
    for i in range(len(states)):
        s = read(states, i)
        out[i, 0] = price(book, s)
        out[i, 1], out[i, 2] = span(book, s)
