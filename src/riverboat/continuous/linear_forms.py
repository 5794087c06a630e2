"""Linear forms of a model whose thresholds have an order.

N thresholds cut the axis into N + 1 cells; in each cell every situation has one move. What a player of two expects from a
plan, with a signal at the border of a cell, is then linear in the opponent's probabilities of the cells. `Forms` has these
rows: one for each threshold, which must be zero (the player is indifferent there), and for each cell, each of its ends
and each other plan one that must not be negative (nothing else is better). Between the ends of a cell a difference is
linear in the opponent's distribution function, so the rows are all that an equilibrium needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from riverboat.continuous.game import Choice, ContinuousGame
from riverboat.continuous.qualitative_model import Model, Order
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError


@dataclass(frozen=True)
class Label:
    """What a row compares: in a cell, at one of its ends, the model's plan with another."""

    player: int
    situation: int
    cell: int
    plan: str  # the moves of the other plan


@dataclass(frozen=True, eq=False)
class Forms:
    """Rows over the opponent's probabilities of the cells."""

    order: Order
    players: Array  # int [N]: whose each threshold is, in the order
    indifference: Array  # float64 [N, N + 1]: over the cells of the other player
    optimality: tuple[Array, Array]  # float64 [rows, N + 1]: of player 0 over cells of player 1; of player 1 over 0's
    labels: tuple[tuple[Label, ...], tuple[Label, ...]]
    place: Array  # int [N]: for each threshold of the model, its number in the order

    @staticmethod
    def make(game: ContinuousGame, model: Model, order: Order, *, rows: bool = True) -> Forms:
        """Without `rows` only those of the thresholds."""
        if game.players != 2 or not game.signals.linear or any(any(e.leaf.worth) for e in game.endings):
            raise InputError(
                f"{game.name}: programs need two players, independent signals with piecewise linear distributions, and "
                "pay-offs by who is higher; use the method newton"
            )
        return _make(game, model, order, rows)


@dataclass(frozen=True, eq=False)
class _Rows:
    """What a player's choices are worth, by end of the own cell, own cell, cell of the other: float64 [2, N + 1, N + 1]."""

    worth: dict[Choice, Array]  # going on as the model does
    alone: dict[Choice, Array]  # the leaves right after the choice
    chosen: dict[int, Array]  # by situation, what the model chooses there


def _make(game: ContinuousGame, model: Model, order: Order, rows: bool) -> Forms:
    count = len(order)
    at = {threshold: j for j, threshold in enumerate(order)}
    cells = np.arange(count + 1)
    acts = []
    for s, moves in enumerate(model.bands):
        passed = np.zeros(count + 1, int)
        for k in range(len(moves) - 1):
            passed[at[s, k] + 1 :] += 1  # cell j + 1 is above threshold j
        acts.append(np.asarray(moves)[passed])
    lower = cells[None, :] < cells[:, None] + np.array([0, 1])[:, None, None]  # [end, own cell, cell]
    rows_of: list[_Rows] = []
    for me in (0, 1):
        worth = {
            (s, move): np.zeros((2, count + 1, count + 1))
            for s, situation in enumerate(game.situations)
            for move in range(len(situation.moves))
            if situation.player == me
        }
        for ending in game.endings:
            if not ending.choices[me]:
                continue
            reach = np.ones(count + 1)
            for s, move in ending.choices[1 - me]:
                reach = reach * (acts[s] == move)
            pay = ending.leaf.base[me] + (ending.leaf.prize * lower if me in ending.leaf.contenders else 0.0)
            worth[ending.choices[me][-1]] += np.broadcast_to(pay * reach, lower.shape)
        own = [s for s, situation in enumerate(game.situations) if situation.player == me]
        chosen: dict[int, Array] = {}
        alone = {choice: row.copy() for choice, row in worth.items()}  # without later situations
        for s in reversed(own):
            each = np.stack([worth[s, move] for move in range(len(game.situations[s].moves))])
            chosen[s] = np.take_along_axis(each, acts[s][None, None, :, None], axis=0)[0]
            parent = game.situations[s].parent
            if parent is not None:
                worth[parent] += chosen[s]
        rows_of.append(_Rows(worth, alone, chosen))
    whose = np.array([game.situations[s].player for s, _ in order], int)
    equal = np.zeros((count, count + 1))
    for j, (s, k) in enumerate(order):
        worth = rows_of[whose[j]].worth
        low, high = model.bands[s][k], model.bands[s][k + 1]
        equal[j] = worth[s, high][0, j + 1] - worth[s, low][0, j + 1]
    tables: list[Array] = []
    labels: list[tuple[Label, ...]] = []
    for me in (0, 1):
        table, names = _optimality(game, me, rows_of[me]) if rows else (np.zeros((0, count + 1)), [])
        tables.append(table)
        labels.append(tuple(names))
    place = np.array([at[t] for t in model.thresholds], int)
    return Forms(order, whose, equal, (tables[0], tables[1]), (labels[0], labels[1]), place)


def _optimality(game: ContinuousGame, me: int, mine: _Rows) -> tuple[Array, list[Label]]:
    """In every first situation, cell and end: the model's plan less every other plan."""
    children: dict[tuple[int, int], list[int]] = {}
    first = []
    for s, situation in enumerate(game.situations):
        if situation.player == me:
            if situation.parent is None:
                first.append(s)
            else:
                children.setdefault(situation.parent, []).append(s)

    def plans(s: int) -> list[tuple[str, Array]]:
        out = []
        for move, label in enumerate(game.situations[s].moves):
            below = [plans(child) for child in children.get((s, move), [])]
            for rest in product(*below):
                words = " then ".join([label, *(words for words, _ in rest)])
                out.append((words, mine.alone[s, move] + sum(row for _, row in rest)))
        return out

    rows, labels = [], []
    for s in first:
        for words, row in plans(s):
            gap = mine.chosen[s] - row
            for end, cell in zip(*np.nonzero(np.abs(gap).max(axis=2) > 0), strict=True):
                rows.append(gap[end, cell])
                labels.append(Label(me, s, int(cell), words))
    width = next(iter(mine.chosen.values())).shape[-1] if mine.chosen else 1
    return np.array(rows).reshape(-1, width), labels
