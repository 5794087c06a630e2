"""Hands on record, decision by decision, as arrays.

    decisions = trace(hands)

`decisions.seat`, `.street`, `.move` and the others have one entry for every move of every hand, in their order.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from riverboat.core.arrays import Array
from riverboat.games.holdem.betting_batch import book_of
from riverboat.games.holdem.betting_rules import NO_END
from riverboat.games.records import _kernels as kernels
from riverboat.games.records.hand_records import Hands


@dataclass(frozen=True, eq=False)
class Decisions:
    """All moves of a record and what stood before each. int64 [moves]"""

    hand: Array  # place in the record
    player: Array  # who acts, by place in `hands.names`
    seat: Array
    street: Array
    raises: Array  # of this round so far; blinds are none
    owed: Array  # chips that a call adds
    high: Array  # the larger of both totals, over the whole hand
    led: Array  # the seat that bet or raised last on the round before; -1: nobody
    move: Array  # FOLD, CALL or the total of a raise

    def __len__(self) -> int:
        return len(self.hand)

    def take(self, chosen: Array) -> Decisions:
        """Some of them, by number or by mask."""
        return Decisions(*(getattr(self, f.name)[chosen] for f in fields(self)))


def trace(hands: Hands) -> Decisions:
    """Every decision of a record. Its hands are legal: whoever made the record has seen to that."""
    chips = hands.chips
    if hands.rules.stacks is None:
        chips[:, 2:4] = NO_END
    moves, length = np.ascontiguousarray(hands.moves), np.ascontiguousarray(hands.length)
    out = np.empty((int(length.sum()), kernels.COLUMNS), np.int64)
    kernels.trace(book_of(hands.rules), chips, moves, length, np.zeros(10, np.int64), out)
    hand = np.repeat(np.arange(len(hands)), length)
    made = moves[np.arange(moves.shape[1]) < length[:, None]].astype(np.int64)
    seat, street, raises, owed, high, led = (column.copy() for column in out.T)
    player = hands.player[hand, seat].astype(np.int64)
    return Decisions(hand, player, seat, street, raises, owed, high, led, made)
