"""Betting of many tables at once, in compiled loops: what the rules are there, and what can be asked of lines and states."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from riverboat.arrays import Array
from riverboat.games import _betting_kernels as kernels
from riverboat.games._betting_kernels import Book as Book
from riverboat.games.acpc import Rules

NO_END = 2**40  # stacks and raises without a limit
FIELDS = 9  # of a state: `_betting_kernels.State`


@lru_cache(maxsize=64)
def book_of(rules: Rules) -> Book:
    """Rules as compiled loops read them."""
    none = (NO_END,) * rules.rounds
    return Book(
        rules.limit,
        rules.big_blind,
        np.array(rules.blinds, np.int64),
        np.array(rules.stacks or none[:1] * 2, np.int64),
        np.array(rules.raise_sizes or (0,) * rules.rounds, np.int64),
        np.array(rules.most_raises or none, np.int64),
        np.array(rules.first, np.int64),
        np.array(rules.board_sizes, np.int64),
    )


def states_after(rules: Rules, moves: Array, length: Array) -> tuple[Array, tuple[int, int] | None]:
    """States after lines, and line and place of the first illegal move. int32 [n, most], int32 [n] -> int64 [n, 9]"""
    out = np.empty((len(length), FIELDS), np.int64)
    line, place = kernels.first_illegal(book_of(rules), moves, length, out)
    return out, None if line < 0 else (line, place)


def spans(rules: Rules, states: Array) -> Array:
    """Price of a call, least and most total of a raise. int64 [n, 9] -> int64 [n, 3]"""
    out = np.empty((len(states), 3), np.int64)
    kernels.spans(book_of(rules), states, out)
    return out
