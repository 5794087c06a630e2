"""Compiled replay of hands on record, each with blinds, stacks and an ante of its own."""

from __future__ import annotations

import numpy as np

from riverboat.compiled.jit import kernel
from riverboat.games.holdem._kernels.betting import begin, price, step
from riverboat.games.holdem.betting_rules import GOING, NOBODY, Book

SEAT, STREET, RAISES, OWED, HIGH, LED, COLUMNS = 0, 1, 2, 3, 4, 5, 6


@kernel
def trace(
    book,  # Book: of any hand of the record
    chips,  # int64 [n, 5]: blinds, stacks, ante
    moves,  # int32 [n, most]
    length,  # int32 [n]
    start,  # int64 [10] scratch: the state before the first move
    out,  # int64 [moves of all hands, COLUMNS] OUT
):
    """What stood before every move: who acts on which street, raises so far, the price, the larger total, who led."""
    at = 0
    for i in range(len(length)):
        blind0, blind1, ante = chips[i, 0], chips[i, 1], chips[i, 4]
        least = max(blind0, blind1)
        start[0], start[1], start[2], start[3], start[4] = ante + blind0, ante + blind1, book.first[0], 0, 0
        start[5], start[6], start[7], start[8], start[9] = 0, max(least, 1), ante, GOING, NOBODY
        own = Book(
            book.limit, least, max(least, 1), chips[i, 2:4], book.raise_sizes, book.most_raises, book.first, book.shown, start
        )  # fmt: skip
        s = begin(own)
        for k in range(length[i]):
            out[at, SEAT], out[at, STREET], out[at, RAISES] = s.turn, s.street, s.raises
            out[at, OWED], out[at, HIGH], out[at, LED] = price(own, s), max(s.spent0, s.spent1), s.led
            s = step(own, s, np.int64(moves[i, k]))
            at += 1
