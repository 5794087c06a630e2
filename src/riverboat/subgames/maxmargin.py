"""Maxmargin on large public trees: CFR over vectors of hands, with the choice of a hand in front.

`maxmargin_gadget` writes the choice into the tree, which needs every pair of hands apart. Here the endgame stays a public
tree: one regret matcher over the opponent's hands gives the range with which the opponent enters, and learns from the
values of its hands, less their shifts.
"""

from __future__ import annotations

import numpy as np

from riverboat.core.errors import InputError
from riverboat.games.base import Array
from riverboat.solvers.schedules import AnySchedule
from riverboat.solvers.tabular._kernels import traversal
from riverboat.solvers.tabular.cfr import CFR
from riverboat.solvers.tabular.threads import Walker
from riverboat.strategies.tabular import Strategy
from riverboat.trees.gadgets import Endgame, Gadget, unsafe_gadget
from riverboat.trees.public import PublicTree


def choose_hand(
    part: Endgame,
    player: int,
    reach: Array,
    shifts: Array,
    iterations: int = 1000,
    schedule: str | AnySchedule = "dcfr",
) -> tuple[Gadget, Strategy]:
    """The game of `maxmargin_gadget` by CFR: the endgame, and a strategy in which only `player`'s half has a meaning.

    `reach`: the player's range, float64 [its hands]; `shifts`: float64 [hands of the opponent]. With w[I] the weight
    that hand I meets, v[I] its value in a walk of the endgame, and ρ the probabilities of the choice, the opponent enters
    with the range ρ[I] / w[I], and hand I earns v[I] / w[I] − shift[I].
    """
    tree, opponent = part.tree, 1 - player
    if not isinstance(tree, PublicTree):
        raise InputError(f"{tree.name} has no vectors of hands: solve maxmargin_gadget instead")
    alive = np.where(tree.live[opponent][tree.boards[part.roots[0]]], tree.deal.weights[opponent], 0.0)
    gadget = unsafe_gadget(part, (reach, alive) if player == 0 else (alive, reach))
    sub = gadget.tree
    assert isinstance(sub, PublicTree)
    meets = sub.deal.joint() > 0
    weight = (meets if opponent == 0 else meets.T) @ sub.deal.weights[player]
    held = weight > 0
    entering = np.zeros(len(weight))  # read by every walk of the player
    sides = [side._replace(weight_opp=entering) if p == player else side for p, side in enumerate(sub.sides)]
    sub.sides = sides[0], sides[1]

    solver, walker = CFR(sub, schedule), Walker(sub, np.float64)
    if not solver.schedule.alternating:
        raise InputError(f"{tree.name}: schedule {solver.schedule}: the choice of a hand needs an alternating one")
    regret = np.zeros(len(weight))
    choice = held / held.sum()
    for t in range(1, iterations + 1):
        step = solver.schedule.step(t)
        row = np.array([*step, solver.noise])
        entering[held] = choice[held] / weight[held]
        walker.walk(player, solver.tables[player], traversal.LEARN, row)
        values = walker.walk(opponent, solver.tables[opponent], traversal.LEARN, row)
        earned = np.where(held, values / np.where(held, weight, 1.0) - shifts, 0.0)
        regret *= np.where(regret > 0, step.positive, step.negative)
        regret = np.maximum(regret + np.where(held, earned - choice @ earned, 0.0), step.floor)
        positive = np.maximum(regret, 0.0)
        choice = positive / positive.sum() if positive.sum() > 0 else held / held.sum()
    solver.iteration = iterations
    return gadget, solver.average()
