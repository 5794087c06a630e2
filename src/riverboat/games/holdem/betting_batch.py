"""Betting of many tables at once, in compiled loops: what the rules are there, and what can be asked of lines and states."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from riverboat.core.arrays import Array
from riverboat.games.holdem._kernels import betting as kernels
from riverboat.games.holdem._kernels.betting import FOLDED as FOLDED
from riverboat.games.holdem._kernels.betting import Book as Book
from riverboat.games.holdem.betting_rules import NO_END as NO_END
from riverboat.games.holdem.betting_rules import State
from riverboat.games.holdem.rules import Rules

FIELDS = len(State._fields)  # numbers of a state in a row


@lru_cache(maxsize=64)
def book_of(rules: Rules) -> Book:
    """Rules as compiled loops read them. What one seat wins the other loses there: rake and dead money are refused."""
    rules.need_zero_sum("agents play")
    fields: list[Any] = [np.array(field, np.int64) if isinstance(field, tuple) else field for field in rules.book]
    return Book(*fields)


def states_after(rules: Rules, moves: Array, length: Array) -> tuple[Array, tuple[int, int] | None]:
    """States after lines, and line and place of the first illegal move. int32 [n, most], int32 [n] -> int64 [n, FIELDS]"""
    out = np.empty((len(length), FIELDS), np.int64)
    line, place = kernels.first_illegal(book_of(rules), moves, length, out)
    return out, None if line < 0 else (line, place)


def spans(rules: Rules, states: Array) -> Array:
    """Price of a call, least and most total of a raise. int64 [n, FIELDS] -> int64 [n, 3]"""
    out = np.empty((len(states), 3), np.int64)
    kernels.spans(book_of(rules), states, out)
    return out
