"""Values of a blueprint as people read them: the means of both seats, one hand, and tables of hands.

EVs are chips from the pot as it stands (`blueprint_values.Values`). `best` is the EV of the best response to the blueprint,
`gain` how much more that is than what the blueprint itself makes of the hand.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from riverboat.cards.deck import hand_index
from riverboat.cards.grid import CLASS_NAMES, CLASS_OF_HAND
from riverboat.cards.notation import Cards, as_hand, show_cards, show_hand
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, unknown
from riverboat.core.tables import CHIPS, COUNT, SHARE, Cell, Column, ReportTable, known
from riverboat.games.holdem.menus import SEATS
from riverboat.strategies.blueprint_values import Values

BY = ("combos", "classes")
_FIGURES = (Column("ev", CHIPS, "EV"), Column("best", CHIPS, "EV of the best response"), Column("gain", CHIPS, rank=1))


def sides(values: Values) -> ReportTable:
    """What both seats may expect, over their ranges."""
    rows: list[tuple[Cell, ...]] = []
    for seat, (ev, best) in enumerate(
        zip(values.mean(values.self_play), values.mean(values.best_response), strict=True)
    ):
        rows.append((SEATS[seat], float(values.ranges[seat].sum()), known(ev), known(best), known(best - ev)))
    return ReportTable("", (Column("player"), Column("combos", COUNT), *_FIGURES), tuple(rows))


def hand(at: Values, cards: Cards, seat: int) -> dict[str, Any]:
    """One hand of a seat, also one that the blueprint never brings there."""
    number = hand_index(*as_hand(cards))
    ev, best = (known(values[seat, number]) for values in (at.self_play, at.best_response))
    if best is None:
        raise InputError(
            f"hand {show_hand(number)} at {at.line!r}: it cannot be held on {show_cards(at.board) or 'this board'}, "
            f"or {SEATS[1 - seat]} holds nothing beside it"
        )
    return {
        "hand": show_hand(number),
        "player": SEATS[seat],
        "line": at.line,
        "board": show_cards(at.board),
        "weight": float(at.ranges[seat, number]),
        "ev": ev,
        "best": best,
    }


def table(values: Values, seat: int, by: str | None = None) -> ReportTable:
    """EVs of a seat's hands by the 169 `classes`, or of all `combos`, also those that are never brought there."""
    by = "classes" if by is None else by
    if by not in BY:
        raise unknown("table of values", by, BY)
    ev, best, weight = values.self_play[seat], values.best_response[seat], values.ranges[seat]
    rows: list[tuple[Cell, ...]] = []
    there = ~np.isnan(best)
    if by == "combos":
        for h in np.flatnonzero(there)[::-1].tolist():
            rows.append((show_hand(h), float(weight[h]), *_told(ev[h], best[h])))
    else:
        deals = weight * values.met[seat]
        for cell, name in enumerate(CLASS_NAMES):
            members = there & (cell == CLASS_OF_HAND) & (deals > 0)
            if members.any():
                share = deals[members] / deals[members].sum()
                rows.append((name, float(weight[members].sum()), *_told(ev[members] @ share, best[members] @ share)))
    second = Column("weight", SHARE) if by == "combos" else Column("combos", COUNT)
    columns = (Column("hand" if by == "combos" else "class"), second, *_FIGURES)
    return ReportTable(f"{values.line or 'root'}: {SEATS[seat]}", columns, tuple(rows))


def _told(ev: Array, best: Array) -> tuple[Cell, Cell, Cell]:
    return known(float(ev)), known(float(best)), known(float(best - ev))
