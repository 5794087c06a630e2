"""ε-equilibria of finite games with three players by mixed integer programs.

In the sequence form each player's plan x is linear, but what a sequence is worth to a player is a sum of products of the
other two players' plans. A product u v with u and v in boxes lies in McCormick's envelope, four linear inequalities that are
off by at most a quarter of the product of the boxes' widths, and exact at their corners. A binary for each sequence says
whether it may be played, as in the programs of Sandholm, Gilpin & Conitzer (2005): then it must be worth what the best move
of its information set is worth, up to the slack s, which is minimised. The first program has the whole unit interval for
boxes, or boxes around a given strategy; the next ones narrow boxes around the last answer. That is a search and no
proof of what there is; the answer's gains are exact, from best responses.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, vstack

from riverboat.core.errors import InputError, RiverboatError
from riverboat.games.base import TERMINAL, Array
from riverboat.solvers.tabular.best_response import quality
from riverboat.strategies.tabular import Strategy
from riverboat.trees.history import HistoryTree, Treeplex

PLAYERS = 3


@dataclass(frozen=True)
class MIPStep:
    """One program of the search."""

    width: float  # of the boxes
    slack: float  # of the program
    gains: tuple[float, ...]  # of the strategy, exact: what each player could gain by deviating
    seconds: float


@dataclass(frozen=True, eq=False)
class MIPSolution:
    """The best strategy of the search, and its way."""

    strategy: Strategy
    values: tuple[float, ...]
    gains: tuple[float, ...]
    steps: tuple[MIPStep, ...]

    @property
    def epsilon(self) -> float:
        """The most that a player could gain by deviating alone; exact."""
        return max(self.gains)


def solve_mip(
    tree: HistoryTree,
    *,
    around: Strategy | None = None,
    width: float = 1.0,
    narrower: float = 0.5,
    rounds: int = 12,
    until: float = 1e-6,
    seconds: float = 30.0,
    callback: Callable[[MIPStep], None] | None = None,
) -> MIPSolution:
    """An ε-equilibrium of a three-player game with perfect recall; `seconds` is for each program."""
    if tree.players != PLAYERS:
        raise InputError(f"{tree.name}: {tree.players} players; these programs are for {PLAYERS}, two have method='lp'")
    if not (0 < width <= 1 and 0 < narrower < 1 and rounds >= 1):
        raise InputError(f"width={width:g}, narrower={narrower:g}, rounds={rounds}: shares of 1, and one round or more")
    program = _Program(tree)
    centre = None if around is None else program.plans(around)
    best: tuple[float, Strategy] | None = None
    steps = []
    for _ in range(rounds):
        began = time.perf_counter()
        plans, slack = program.solve(centre, width, seconds)
        strategy = program.strategy(plans)
        judged = quality(strategy)
        gains = judged.gains
        step = MIPStep(width, slack, gains, time.perf_counter() - began)
        steps.append(step)
        if callback is not None:
            callback(step)
        if best is None or max(gains) < best[0]:
            best = max(gains), strategy
        if max(gains) <= until:
            break
        centre, width = plans, width * narrower
    assert best is not None
    judged = quality(best[1])
    return MIPSolution(best[1], judged.values, judged.gains, tuple(steps))


class _Program:
    """Columns: plans of all players, their binaries, values of information sets, products, and the slack."""

    def __init__(self, tree: HistoryTree) -> None:
        self.tree = tree
        self.plexes: list[Treeplex] = [tree.treeplex(p) for p in range(PLAYERS)]
        sizes = [plex.sequences for plex in self.plexes]
        self.plan_at = np.concatenate([[0], np.cumsum(sizes)])
        count = int(self.plan_at[-1])
        self.binary_at = count
        self.value_at = 2 * count + np.concatenate([[0], np.cumsum([len(p.infosets) for p in self.plexes])])
        ends = np.flatnonzero(tree.nodes.actor == TERMINAL)
        chance = tree.chance_reach[ends]
        pay = tree.payoffs[tree.nodes.data[ends]]
        last = tree.last_sequence[ends]
        self.scale = float(np.abs(pay).max()) or 1.0
        # a product for each pair of sequences of two players that meet at a leaf
        self.pairs: dict[tuple[int, int], int] = {}
        self.worth: list[list[tuple[int, int, float]]] = [[] for _ in range(PLAYERS)]  # own sequence, product, pay
        for z in range(len(ends)):
            for me in range(PLAYERS):
                a, b = (p for p in range(PLAYERS) if p != me)
                key = int(self.plan_at[a] + last[z, a]), int(self.plan_at[b] + last[z, b])
                product = self.pairs.setdefault(key, len(self.pairs))
                self.worth[me].append((int(last[z, me]), product, float(chance[z] * pay[z, me]) / self.scale))
        self.product_at = int(self.value_at[-1])
        self.slack_at = self.product_at + len(self.pairs)
        self.columns = self.slack_at + 1
        self._fixed = [self._plans(), self._best_moves()]

    # --- rows that no box changes -----------------------------------------------------------------

    def _plans(self) -> LinearConstraint:
        """Moves share what arrives at their information set; the empty sequence is one; no play without its binary."""
        rows, columns, values, right = list[int](), list[int](), list[float](), list[float]()
        upper = list[float]()

        def add(entries: list[tuple[int, float]], low: float, high: float) -> None:
            row = len(right)
            for column, value in entries:
                rows.append(row)
                columns.append(column)
                values.append(value)
            right.append(low)
            upper.append(high)

        for p, plex in enumerate(self.plexes):
            at = int(self.plan_at[p])
            add([(at, 1.0)], 1.0, 1.0)
            for i in range(len(plex.infosets)):
                moves = range(int(plex.first[i]), int(plex.first[i] + plex.width[i]))
                add([(at + int(plex.parent[i]), -1.0), *((at + m, 1.0) for m in moves)], 0.0, 0.0)
                for m in moves:
                    add([(at + m, 1.0), (self.binary_at + at + m, -1.0)], -np.inf, 0.0)
        table = csr_array((values, (rows, columns)), shape=(len(right), self.columns))
        return LinearConstraint(table, np.array(right), np.array(upper))

    def _best_moves(self) -> LinearConstraint:
        """0 <= V(I) - Q(σ) for every move σ of I, and <= s + M (1 - binary)."""
        blocks, lows, highs = [], list[float](), list[float]()
        for p, plex in enumerate(self.plexes):
            at, below = int(self.plan_at[p]), int(self.value_at[p])
            worth: dict[int, list[tuple[int, float]]] = {}
            for sequence, product, pay in self.worth[p]:
                worth.setdefault(sequence, []).append((self.product_at + product, pay))
            for i, parent in enumerate(plex.parent):
                worth.setdefault(int(parent), []).append((below + i, 1.0))
            for i in range(len(plex.infosets)):
                for m in range(int(plex.first[i]), int(plex.first[i] + plex.width[i])):
                    row = np.zeros(self.columns)
                    row[below + i] = 1.0
                    for column, value in worth.get(m, []):
                        row[column] -= value
                    blocks.append(row)
                    lows.append(0.0)
                    highs.append(np.inf)
                    most = 2.0  # no two moves differ by more, as pay-offs are divided by the largest
                    other = row.copy()
                    other[self.slack_at] = -1.0
                    other[self.binary_at + at + m] += most
                    blocks.append(other)
                    lows.append(-np.inf)
                    highs.append(most)
        return LinearConstraint(csr_array(np.array(blocks)), np.array(lows), np.array(highs))

    def _products(self, low: Array, high: Array) -> LinearConstraint:
        """McCormick's envelope of every product in the boxes."""
        keys = np.array(list(self.pairs), int)
        u, v = keys[:, 0], keys[:, 1]
        count = len(keys)
        row = np.arange(count)
        y = self.product_at + row
        parts, bounds = [], []
        for sign, a, b in ((1.0, low, low), (1.0, high, high), (-1.0, high, low), (-1.0, low, high)):
            # y >= a_u v + b_v u - a_u b_v, or y <= the same with one bound from each side
            table = csr_array(
                (
                    np.concatenate([np.full(count, sign), -sign * a[u], -sign * b[v]]),
                    (np.tile(row, 3), np.concatenate([y, v, u])),
                ),
                shape=(count, self.columns),
            )
            parts.append(table)
            bounds.append(-sign * a[u] * b[v])
        return LinearConstraint(vstack(parts), np.concatenate(bounds), np.inf)

    # --- solving ----------------------------------------------------------------------------------

    def solve(self, centre: Array | None, width: float, seconds: float) -> tuple[Array, float]:
        """Plans of all players, one behind the other, and the slack in the game's unit."""
        count = int(self.plan_at[-1])
        low, high = np.zeros(count), np.ones(count)
        if centre is not None:
            low, high = np.clip(centre - width / 2, 0.0, 1.0), np.clip(centre + width / 2, 0.0, 1.0)
        bottom = np.concatenate([low, np.zeros(count), np.full(self.product_at - 2 * count, -np.inf)])
        top = np.concatenate([high, np.ones(count), np.full(self.product_at - 2 * count, np.inf)])
        pairs = len(self.pairs)
        bottom = np.concatenate([bottom, np.zeros(pairs + 1)])
        top = np.concatenate([top, np.ones(pairs), [np.inf]])
        cost = np.zeros(self.columns)
        cost[self.slack_at] = 1.0
        kind = np.zeros(self.columns)
        kind[self.binary_at : self.binary_at + count] = 1
        optimum = milp(
            cost,
            integrality=kind,
            constraints=[*self._fixed, self._products(low, high)],
            bounds=Bounds(bottom, top),
            options={"time_limit": seconds},
        )
        if optimum.x is None:
            raise RiverboatError(f"{self.tree.name}: HiGHS found no plans: {optimum.message}")
        return np.clip(optimum.x[:count], 0.0, 1.0), float(optimum.x[self.slack_at]) * self.scale

    # --- plans and strategies ---------------------------------------------------------------------

    def plans(self, strategy: Strategy) -> Array:
        """The plans of a strategy, one behind the other."""
        out = np.ones(int(self.plan_at[-1]))
        for p, plex in enumerate(self.plexes):
            plan = out[self.plan_at[p] : self.plan_at[p + 1]]
            for i in range(len(plex.infosets)):
                moves = slice(int(plex.first[i]), int(plex.first[i] + plex.width[i]))
                plan[moves] = plan[plex.parent[i]] * strategy.probabilities[plex.table[moves]]
        return out

    def strategy(self, plans: Array) -> Strategy:
        """The behaviour of plans; uniform where they never get to."""
        sums = np.zeros(self.tree.table)
        for p, plex in enumerate(self.plexes):
            sums[plex.table[1:]] = plans[self.plan_at[p] + 1 : self.plan_at[p + 1]]
        return Strategy.from_sums(self.tree, sums, {"game": self.tree.name, "method": "mip"})
