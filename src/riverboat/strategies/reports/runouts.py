"""What cards do: a row for each deal that a line with `*` stands for, and the mean over all of them.

`x-x/*` is the first decision after both have checked, whatever card comes; `x-x/*-b50` what follows a bet there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from riverboat.cards.notation import show_cards
from riverboat.core.errors import InputError
from riverboat.core.tables import CHIPS, SHARE, Cell, Column, ReportTable
from riverboat.games.base import CHANCE
from riverboat.games.boards.board_game import ANY, Dealt, every_deal
from riverboat.strategies.reports.node import ALL, mean_eqr, names, pot, summary

if TYPE_CHECKING:
    from riverboat.strategies.solution import Solution, Spotlight

STAR = "*"
MOST = 5_000  # deals of one table; two cards of a spot are 49 × 48


def stands_for_many(line: str) -> bool:
    """Whether a line has `*` for a card."""
    return STAR in line


def lines(solution: Solution, line: str) -> list[tuple[Dealt, str]]:
    """The deals that `*` stands for in a line, and the line with each of them."""
    game = solution.tree.game
    pattern = solution.tree.betting.find(line, game.joiner, any_card=True).dealt
    parts = line.split(STAR)
    if len(parts) - 1 != sum(deal == ANY for deal in pattern):
        raise InputError(f"line {line!r}: '*' stands for a deal, right after '/'")
    dealt_lines: list[tuple[Dealt, str]] = []
    for dealt in every_deal(pattern, game.board, game.deck.cards.tolist(), game.deals):
        if len(dealt_lines) == MOST:
            raise InputError(f"line {line!r}: stands for more than {MOST:,} deals; name some of the cards")
        cards = [show_cards(deal) for deal, asked in zip(dealt, pattern, strict=True) if asked == ANY]
        dealt_lines.append((dealt, "".join(a + b for a, b in zip(parts, [*cards, ""], strict=True))))
    if not dealt_lines:
        raise InputError(f"line {line!r}: a card in it is on the board or dealt twice")
    return dealt_lines


def over(solution: Solution, line: str) -> ReportTable:
    """One row for each deal that a line with `*` stands for: how likely it is when the line is played, how often the line
    is played when it comes, frequencies, EV, equity and EQR of both. The last row, `all`, has the means over the deals.
    """
    if not stands_for_many(line):
        raise InputError(f"line {line!r}: no '*' in it; write * in place of a card, such as x-x/*")
    nodes = [solution[one] for _, one in lines(solution, line)]
    table = _table(nodes, _title(nodes[0], line))
    mass, possible = np.sum([n.pairs for n in nodes], axis=0).tolist()
    means = weighted_means(table, table.column("chance")) | {"card": ALL, "chance": 1.0, "played": mass / possible}
    for who in names(solution.tree.game):
        ev, equity = means[f"ev_{who}"], means[f"equity_{who}"]
        known = isinstance(ev, float) and isinstance(equity, float)
        means[f"eqr_{who}"] = mean_eqr(float(ev), float(equity), pot(nodes[0])) if known else None
    return replace(table, rows=(*table.rows, tuple(means[name] for name in table.names)))


def runouts(node: Spotlight) -> ReportTable:
    """The same rows around a node, without the means.

    At a deal these are the cards of the next street; after one, all cards in place of the last one dealt.
    """
    before, after = _around(node)
    line = f"{before}/{STAR}{after}"
    return _table([node.solution[one] for _, one in lines(node.solution, line)], _title(node, line))


def _title(node: Spotlight, line: str) -> str:
    return f"{line} on {show_cards(node.tree.game.board, ' ')}"


def _table(nodes: Sequence[Spotlight], title: str) -> ReportTable:
    game, rows = nodes[0].tree.game, []
    total = max(sum(n.pairs[0] for n in nodes), 1e-300)
    asked = [k for k, deals in enumerate(zip(*(n.dealt for n in nodes), strict=True)) if len(set(deals)) > 1]
    for n in nodes:
        told = summary(n)
        pairs = [figure for p in (0, 1) for figure in (told.ev[p], told.equity[p], told.eqr[p])]
        name = " ".join(show_cards(n.dealt[k]) for k in asked or [len(n.dealt) - 1])
        rows.append((name, n.pairs[0] / total, n.played, *told.frequencies.values(), *pairs))
    columns = [Column("card"), Column("chance", SHARE, rank=1), Column("played", SHARE, rank=2)]
    columns += [Column(name, SHARE) for name in nodes[0].actions]
    for name in names(game):
        columns += [Column(f"ev_{name}", CHIPS, f"EV {name}"), Column(f"equity_{name}", SHARE, f"equity {name}", 2)]
        columns += [Column(f"eqr_{name}", SHARE, f"EQR {name}", 3)]
    return ReportTable(title, tuple(columns), tuple(rows[::-1]))


def weighted_means(table: ReportTable, weights: Sequence[Cell]) -> dict[str, Cell]:
    """The mean of each column of figures by weights, over the rows where it is known; None where it is nowhere."""
    weight = np.array(weights, float)
    means: dict[str, Cell] = {}
    for column in table.columns[1:]:
        values = np.array(table.column(column.name), float)  # None becomes NaN
        held = np.where(np.isnan(values), 0.0, weight)
        means[column.name] = float(np.nan_to_num(values) @ held / held.sum()) if held.sum() > 0 else None
    return means


def _around(node: Spotlight) -> tuple[str, str]:
    """What stands before the card and behind it."""
    if node.player == CHANCE:
        return node.line, ""
    head, slash, tail = node.line.rpartition("/")
    if not slash or not node.tree.game.joiner:
        raise InputError(f"runouts of {node.line!r}: no card is dealt there; name a line that ends a street")
    _, joiner, rest = tail.partition("-")
    return head, joiner + rest
