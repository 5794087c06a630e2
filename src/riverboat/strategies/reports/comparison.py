"""Two solutions at the same line: how often each move is made in both, what it is worth, and where strategies differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from riverboat.cards.grid import CLASS_NAMES, CLASS_OF_HAND
from riverboat.core.errors import InputError
from riverboat.core.tables import CHIPS, SHARE, Cell, Column, ReportTable, known
from riverboat.games.base import Array
from riverboat.strategies.reports.node import figures, names, summary, title

if TYPE_CHECKING:
    from riverboat.strategies.solution import Spotlight


class Comparison(NamedTuple):
    """What differs between two nodes; changes are the second less the first."""

    moves: ReportTable  # frequency of each move in both
    sides: ReportTable  # EV and equity of both players in both
    cells: ReportTable  # of who acts: the share of the strategy that moved, and EVs, the largest change first


def compare_nodes(first: Spotlight, second: Spotlight) -> Comparison:
    """Two nodes at which the same player acts; moves may differ."""
    if first.player != second.player:
        raise InputError(f"{first.line!r}: not the same player acts there in both solutions")
    one, two = summary(first), summary(second)
    head = f"{title(first)}: {first.tree.name} and {second.tree.name}"
    moves = list(dict.fromkeys([*one.frequencies, *two.frequencies]))
    rows = [(m, one.frequencies.get(m, 0.0), two.frequencies.get(m, 0.0)) for m in moves]
    columns = Column("move"), Column("first", SHARE), Column("second", SHARE), Column("change", SHARE)
    table = ReportTable(head, columns, tuple((*row, row[2] - row[1]) for row in rows))
    return Comparison(table, _sides(first, second, head), _cells(first, second, moves, head))


def _sides(first: Spotlight, second: Spotlight, head: str) -> ReportTable:
    one, two = summary(first), summary(second)
    rows: list[tuple[Cell, ...]] = []
    for who, name in enumerate(names(first.tree.game)):
        ev, equity = (one.ev[who], two.ev[who]), (one.equity[who], two.equity[who])
        change = None if None in ev else float(ev[1] or 0) - float(ev[0] or 0)
        rows.append((name, *ev, change, *equity))
    columns = [Column("player"), *(Column(n, CHIPS) for n in ("ev_first", "ev_second", "change"))]
    columns += [Column(n, SHARE) for n in ("equity_first", "equity_second")]
    return ReportTable(head, tuple(columns), tuple(rows))


def _cells(first: Spotlight, second: Spotlight, moves: list[str], head: str) -> ReportTable:
    """Half the distance between the two strategies of each cell: the share of its hands that is played differently."""
    columns = Column("class"), Column("moved", SHARE), *(Column(n, CHIPS) for n in ("ev_first", "ev_second", "change"))
    who = first.player
    if who < 0:
        return ReportTable(head, columns, ())
    shares, evs = zip(*(_of_cells(node, who, moves) for node in (first, second)), strict=True)
    moved = np.abs(shares[0] - shares[1]).sum(axis=0) / 2
    order = [k for k in np.argsort(-np.nan_to_num(moved), kind="stable").tolist() if not np.isnan(moved[k])]
    rows = [
        (CLASS_NAMES[k], float(moved[k]), *(known(x) for x in (evs[0][k], evs[1][k], evs[1][k] - evs[0][k])))
        for k in order
    ]
    return ReportTable(head, columns, tuple(rows))


def _of_cells(node: Spotlight, who: int, moves: list[str]) -> tuple[Array, Array]:
    """Frequencies [moves, 169] and EVs [169] of the cells; NaN where nothing is held."""
    mine = figures(node, who)
    held = np.where(mine.here & ~np.isnan(mine.ev), mine.deals, 0.0)
    total = np.bincount(CLASS_OF_HAND, held, 169)
    chances = dict(zip(node.actions, np.nan_to_num(node.strategy), strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        means = [np.bincount(CLASS_OF_HAND, held * chances.get(m, np.zeros(len(held))), 169) / total for m in moves]
        return np.array(means), np.bincount(CLASS_OF_HAND, held * np.nan_to_num(mine.ev), 169) / total
