"""Rules of boards: what is done on which boards, from a spot that was solved on many of them.

One row for each board, with the frequencies of a decision over the whole range, and features of the board: its top card,
pairs, suits, straights, and the bettor's equity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from riverboat.cards.notation import parse_cards
from riverboat.core.errors import InputError
from riverboat.explain.decisions import Decisions
from riverboat.strategies.features import BOARDS, hand_columns
from riverboat.strategies.rule_list import BOARD, SHARE, Feature, Move

EQUITY = Feature("equity", SHARE, BOARD, (), "equity of your range", effort=2.0)


@dataclass(frozen=True)
class BoardRow:
    """A board that was solved."""

    board: str
    weight: float
    frequencies: Mapping[str, float]  # of the moves, over the range
    equity: float  # of who acts


def board_decisions(rows: Sequence[BoardRow], moves: Sequence[Move], title: str) -> Decisions:
    """What is done on boards, as decisions whose hands are whole ranges."""
    if not rows:
        raise InputError(f"{title}: no boards")
    cards = [parse_cards(row.board, "board") for row in rows]
    if len({len(board) for board in cards}) > 1:
        raise InputError(f"{title}: boards of different streets")
    played = np.array([list(row.frequencies.values()) for row in rows], float)
    if played.shape != (len(rows), len(moves)):
        raise InputError(f"{title}: {len(moves)} moves for {played.shape[1]} frequencies")
    boards = np.array(cards, np.uint8)
    # Any two cards that the boards leave: board features do not look at them.
    free = np.array([[c for c in range(52) if c not in board][:2] for board in cards], np.uint8)
    columns = hand_columns(free, boards, {f.name for f in BOARDS}) | {"equity": np.array([row.equity for row in rows])}
    features = tuple(f for f in (*BOARDS, EQUITY) if np.ptp(columns[f.name]) > 0)
    weight = np.array([row.weight for row in rows], float)
    total = played.sum(axis=1, keepdims=True)
    return Decisions(
        title, features, columns, tuple(moves), np.ones(played.shape, bool), played / np.where(total > 0, total, 1.0),
        weight / weight.sum(), tuple(row.board for row in rows), np.arange(len(rows)),
    )  # fmt: skip
