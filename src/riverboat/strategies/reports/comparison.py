"""Comparison tables: a line over all cards (`*`), and two solutions at the same line.

`x-x/*` is the first decision after two checks, over all cards; `x-x/*-b50` is the node after a bet there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from riverboat.cards.grid import CLASS_NAMES, CLASS_OF_HAND
from riverboat.cards.notation import format_cards
from riverboat.core.arrays import safe_divide
from riverboat.core.errors import InputError
from riverboat.core.tables import CHIPS, SHARE, Cell, ReportColumn, ReportTable
from riverboat.games.base import CHANCE, Array
from riverboat.games.boards.board_game import ANY_CARD, expand_deals
from riverboat.strategies.reports.node import (
    MEANS_ROW,
    NodeSummary,
    columns_table,
    hand_figures,
    mean_eqr,
    node_summary,
    node_title,
    player_names,
    pot,
)

if TYPE_CHECKING:
    from riverboat.strategies.solution import Solution, SolutionNode

WILDCARD = "*"
MAX_DEALS = 5_000  # deals per table; two cards of a spot are 49 × 48


def has_wildcard(line: str) -> bool:
    """Return whether a line has `*` in place of a dealt card, which stands for every card."""
    return WILDCARD in line


def expand_line(solution: Solution, line: str) -> list[SolutionNode]:
    """Return the nodes of all deals that match `*` in a line."""
    game = solution.tree.game
    node, pattern = solution.tree.betting.find(line, game.joiner, any_card=True)
    if line.count(WILDCARD) != pattern.count(ANY_CARD):
        raise InputError(f"line {line!r}: '*' must stand for a deal, right after '/'")
    nodes: list[SolutionNode] = []
    for dealt in expand_deals(pattern, game.board, game.deck.cards.tolist(), game.deals):
        if len(nodes) == MAX_DEALS:
            raise InputError(f"line {line!r}: matches more than {MAX_DEALS:,} deals; name some of the cards")
        nodes.append(solution.node(node, dealt))
    if not nodes:
        raise InputError(f"line {line!r}: a card in it is on the board or dealt twice")
    return nodes


def line_runouts(solution: Solution, line: str) -> ReportTable:
    """Return a table with one row for each deal that matches `*` in a line; the last row, `all`, has the means.

    Columns: probability of the deal given the line, probability of the line given the deal, frequencies, and EV, equity
    and EQR of both players.
    """
    if not has_wildcard(line):
        raise InputError(f"line {line!r}: no '*' in it; write * in place of a card, such as x-x/*")
    nodes = expand_line(solution, line)
    table = _runouts_table(nodes, _runouts_title(nodes[0], line))
    mass, possible = np.sum([n.pair_weights for n in nodes], axis=0).tolist()
    means = weighted_means(table, table.column("chance"))
    means |= {"card": MEANS_ROW, "chance": 1.0, "played": mass / possible}
    for player in player_names(solution.tree.game):
        ev, equity = means[f"ev_{player}"], means[f"equity_{player}"]
        means[f"eqr_{player}"] = None
        if isinstance(ev, float) and isinstance(equity, float):
            means[f"eqr_{player}"] = mean_eqr(ev, equity, pot(nodes[0]))
    return replace(table, rows=(*table.rows, tuple(means[name] for name in table.names)))


def node_runouts(node: SolutionNode) -> ReportTable:
    """Return a table with one row for each card at a node, without a row of means.

    At a chance node these are the cards of the next street; otherwise, all alternatives to the last card dealt.
    """
    before, after = _split_at_card(node)
    line = f"{before}/{WILDCARD}{after}"
    return _runouts_table(expand_line(node.solution, line), _runouts_title(node, line))


def _runouts_title(node: SolutionNode, line: str) -> str:
    return f"{line} on {format_cards(node.tree.game.board, ' ')}"


def _runouts_table(nodes: Sequence[SolutionNode], title: str) -> ReportTable:
    game, rows = nodes[0].tree.game, []
    total = max(sum(n.pair_weights[0] for n in nodes), 1e-300)
    varying = [k for k, deals in enumerate(zip(*(n.dealt_cards for n in nodes), strict=True)) if len(set(deals)) > 1]
    for n in nodes:
        summary = node_summary(n)
        pairs = [value for p in (0, 1) for value in (summary.ev[p], summary.equity[p], summary.eqr[p])]
        name = " ".join(format_cards(n.dealt_cards[k]) for k in varying or [len(n.dealt_cards) - 1])
        rows.append((name, n.pair_weights[0] / total, n.reach_probability, *summary.frequencies.values(), *pairs))
    columns = [ReportColumn("card"), ReportColumn("chance", SHARE, rank=1), ReportColumn("played", SHARE, rank=2)]
    columns += [ReportColumn(name, SHARE) for name in nodes[0].actions]
    for name in player_names(game):
        columns.append(ReportColumn(f"ev_{name}", CHIPS, f"EV {name}"))
        columns.append(ReportColumn(f"equity_{name}", SHARE, f"equity {name}", 2))
        columns.append(ReportColumn(f"eqr_{name}", SHARE, f"EQR {name}", 3))
    return ReportTable(title, tuple(columns), tuple(rows[::-1]))


def weighted_means(table: ReportTable, weights: Sequence[Cell]) -> dict[str, Cell]:
    """Return the weighted mean of each column but the first, by name, over rows with a value; None without values."""
    weight = np.array(weights, float)
    means: dict[str, Cell] = {}
    for column in table.columns[1:]:
        values = np.array(table.column(column.name), float)  # None becomes NaN
        valid = np.where(np.isnan(values), 0.0, weight)
        means[column.name] = float(np.nan_to_num(values) @ valid / valid.sum()) if valid.sum() > 0 else None
    return means


def _split_at_card(node: SolutionNode) -> tuple[str, str]:
    """Return the parts of a node's line before and after its last card; at a chance node, the card is the next one."""
    if node.player == CHANCE:
        return node.line, ""
    head, slash, tail = node.line.rpartition("/")
    if not slash or not node.tree.game.joiner:
        raise InputError(f"runouts of {node.line!r}: no card is dealt there; name a line that ends a street")
    _, joiner, rest = tail.partition("-")
    return head, joiner + rest


# --- two solutions ------------------------------------------------------------------------------


class NodeComparison(NamedTuple):
    """Differences between two nodes; changes are second minus first."""

    moves: ReportTable  # frequency of each action in both
    sides: ReportTable  # EV and equity of both players in both
    cells: ReportTable  # hand classes of the actor: share played differently, and EVs; largest change first


def compare_nodes(first: SolutionNode, second: SolutionNode) -> NodeComparison:
    """Compare two nodes where the same player acts; their actions may differ."""
    if first.player != second.player:
        raise InputError(f"{first.line!r}: different players act in the two solutions")
    first_summary, second_summary = node_summary(first), node_summary(second)
    head = f"{node_title(first)}: {first.tree.name} and {second.tree.name}"
    moves = list(dict.fromkeys([*first_summary.frequencies, *second_summary.frequencies]))
    shares = [np.array([summary.frequencies.get(m, 0.0) for m in moves]) for summary in (first_summary, second_summary)]
    columns = ReportColumn("move"), *(ReportColumn(name, SHARE) for name in ("first", "second", "change"))
    table = columns_table(head, columns, [moves, *shares, shares[1] - shares[0]])
    sides = _player_table(first_summary, second_summary, head)
    return NodeComparison(table, sides, _class_table(first, second, moves, head))


def _player_table(first: NodeSummary, second: NodeSummary, head: str) -> ReportTable:
    change = np.array(second.ev, float) - np.array(first.ev, float)  # None becomes NaN
    columns = [ReportColumn("player"), *(ReportColumn(n, CHIPS) for n in ("ev_first", "ev_second", "change"))]
    columns += [ReportColumn(n, SHARE) for n in ("equity_first", "equity_second")]
    return columns_table(head, columns, [first.names, first.ev, second.ev, change, first.equity, second.equity])


def _class_table(first: SolutionNode, second: SolutionNode, moves: list[str], head: str) -> ReportTable:
    """Compare strategies by hand class: half the L1 distance, the share of hands that is played differently."""
    evs_of = (ReportColumn(name, CHIPS) for name in ("ev_first", "ev_second", "change"))
    columns = ReportColumn("class"), ReportColumn("moved", SHARE), *evs_of
    player = first.player
    if player < 0:
        return ReportTable(head, columns, ())
    shares, evs = zip(*(_class_means(node, player, moves) for node in (first, second)), strict=True)
    moved = np.abs(shares[0] - shares[1]).sum(axis=0) / 2
    order = [k for k in np.argsort(-np.nan_to_num(moved), kind="stable").tolist() if not np.isnan(moved[k])]
    values = moved, evs[0], evs[1], evs[1] - evs[0]
    return columns_table(head, columns, [[CLASS_NAMES[k] for k in order], *(numbers[order] for numbers in values)])


def _class_means(node: SolutionNode, who: int, moves: list[str]) -> tuple[Array, Array]:
    """Return frequencies [actions, 169] and EVs [169] of the hand classes; NaN for classes without hands."""
    figures = hand_figures(node, who)
    weight = np.where(figures.in_range & ~np.isnan(figures.ev), figures.deals, 0.0)
    total = np.bincount(CLASS_OF_HAND, weight, 169)
    probabilities = dict(zip(node.actions, np.nan_to_num(node.strategy), strict=True))
    values = [*(probabilities.get(move, np.zeros(len(weight))) for move in moves), np.nan_to_num(figures.ev)]
    means = safe_divide(np.array([np.bincount(CLASS_OF_HAND, weight * each, 169) for each in values]), total, np.nan)
    return means[:-1], means[-1]
