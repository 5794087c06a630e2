"""The ways to value the exits of a street, by name: what a search at the table and an experiment ask for.

    leaves = exit_values("continuations", street, seat=0)

All take about the same time: where the opponent has one continuation, four times as many runouts are played out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import unknown
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.subgames.depth_limited.leaf_baselines import FixedLeaves, Learnt, LearntLeaves, PairEquities
from riverboat.subgames.depth_limited.leaf_regression import learnt
from riverboat.subgames.depth_limited.rollouts import CONTINUATIONS, RUNOUTS, SHOWN, Exit, Rollouts
from riverboat.subgames.depth_limited.street_game import Leaves, StreetSolver, StreetTree, goes_on

LEAVES = {
    "continuations": f"the blueprint played out; the opponent may {', '.join(list(CONTINUATIONS)[1:])} more",
    "simulation": "the blueprint played out",
    "table": "what the blueprint's hands are worth there when it plays itself, whoever comes",
    "learnt": "learnt from turns that were solved",
}


class Street(NamedTuple):
    """A street whose exits are to be valued."""

    strategy: BlueprintStrategy
    tree: StreetTree
    exits: list[Exit]
    board: tuple[int, ...]
    hands: Array  # numbers of those that the board leaves
    ranges: tuple[Array, Array]  # float64 [hands]: how often each seat comes there
    play: Callable[[], dict[int, Array]]  # what the blueprint plays there. float64 [moves, hands] by node


def exit_values(
    kind: str,
    street: Street,
    seat: int,
    *,
    runouts: int | None = RUNOUTS,
    groups: Array | None = None,
    model: Learnt | None = None,
    seed: int = 0,
) -> Leaves:
    """Values for the search of a seat. `runouts` of None takes all; `model`: what was learnt, else of the blueprint."""
    if kind not in LEAVES:
        raise unknown("way to value exits", kind, LEAVES)

    def rollouts(exits: list[Exit], ways: tuple[str, ...]) -> Rollouts:
        count = None if runouts is None else runouts * len(CONTINUATIONS) // len(ways)
        return Rollouts.draw(
            street.strategy, exits, street.board, street.hands, seat, groups=groups, runouts=count, ways=ways, seed=seed
        )

    if kind == "continuations":
        return rollouts(street.exits, tuple(CONTINUATIONS))
    if kind == "learnt":
        pots = np.array([end.pot for end in street.exits])
        states = [street.tree.states[node] for node in street.tree.exits]
        stacks = np.array([min(s.behind) / s.pot if goes_on(s) else 0.0 for s in states])
        pairs = PairEquities.of(rollouts([Exit(SHOWN, 1.0)], ("blueprint",)), 0)
        return LearntLeaves(model or learnt(street.strategy), pairs, street.hands, pots, stacks, seat)
    simulated = rollouts(street.exits, ("blueprint",))
    if kind == "simulation":
        return simulated
    reach = StreetSolver(street.tree, street.hands, street.ranges, simulated, seat).reach(street.play())
    both = np.stack([reach[node] for node in street.tree.exits], axis=1)
    return FixedLeaves.of(simulated, street.hands, both if seat == 0 else both[::-1])
