"""What a public state is worth when the players arrive there with given ranges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, Array
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.run_loop import stepped
from riverboat.solvers.tabular.best_response import check_zero_sum, hand_values, quality
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.tabular import Strategy
from riverboat.trees.public import PublicTree
from riverboat.trees.transform import Range, start_at

LP_HISTORIES = 200_000  # above, CFR takes over
ITERATIONS = 100_000


@dataclass(frozen=True)
class StateValues:
    """An equilibrium from a public state on. Values are in the game's unit; by hand, given that it is held."""

    line: str
    value_low: float  # to player 0, certified
    value_high: float
    by_hand: tuple[dict[str, float], dict[str, float]]
    strategy: Strategy

    @property
    def value(self) -> float:
        """The middle of the certified interval."""
        return (self.value_low + self.value_high) / 2


def state_values(
    tree: PublicTree, line: str, ranges: tuple[Range, Range] | None = None, until: float = 1e-6
) -> StateValues:
    """Solve the rest of the game from `line` on: by LP where that is small, else by CFR to `until`."""
    if not isinstance(tree, PublicTree):
        raise InputError(f"{tree.name}: values of a public state need a public game")
    sub = start_at(tree, line, ranges)
    check_zero_sum(sub)
    if len(sub.nodes.actor) * sub.hand_counts[0] * sub.hand_counts[1] <= LP_HISTORIES:
        strategy = solve_lp(sub).strategy
    else:
        solver = CFR(sub, "dcfr")
        while solver.iteration < ITERATIONS and solver.exploitability() > until:
            if not stepped(solver, max(10, solver.iteration // 4)):
                break
        strategy = solver.average()
    low, high = quality(strategy).bracket
    by_hand = []
    for player in (0, 1):
        held = sub.deal.weights[player] > 0
        values = hand_values(strategy, player)
        by_hand.append({sub.hands[player][h]: float(values[h]) for h in np.flatnonzero(held)})
    return StateValues(line, low, high, (by_hand[0], by_hand[1]), strategy)


def ranges_at(strategy: Strategy, line: str) -> tuple[Array, Array]:
    """The ranges with which a strategy's players arrive at a public state: deal weight × own reach."""
    tree = strategy.tree
    if not isinstance(tree, PublicTree):
        raise InputError(f"{tree.name}: ranges need a public game")
    target, here = tree.node(line), 0
    reach = [np.array(w, float) for w in tree.deal.weights]
    views = tree.views(strategy.probabilities)
    while here != target:
        who = int(tree.nodes.actor[here])
        for k, child in enumerate(tree.children(here)):
            if child <= target < tree.nodes.end[child]:
                if who != CHANCE:
                    reach[who] *= views[who][int(tree.nodes.data[here]) + k]
                here = child
                break
    alive = [tree.live[p][tree.boards[target]] for p in (0, 1)]
    return np.where(alive[0], reach[0], 0.0), np.where(alive[1], reach[1], 0.0)
