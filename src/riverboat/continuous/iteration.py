"""Iteration for games without a linear program: more than two players, hidden moves, pay-offs that do not cancel.

Every player's signal is one of some steps of the axis, and all play CFR+ against each other: in turn, each improves while
the others are as they are. With more than two players nothing says that this ends in an equilibrium; so it only proposes,
and what is left of ε after polishing is certified like everything else.
"""

from __future__ import annotations

import numpy as np

from riverboat.continuous.game import ContinuousGame
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError


def steps_of(game: ContinuousGame, steps: int) -> tuple[Array, Array]:
    """Edges of steps that are equally likely on average, and each player's probability of each.

    Where signals are discrete and there are as many steps as values, each value is a step: then nothing is lost.
    float64 [steps + 1], float64 [players, steps]
    """
    signals = game.signals
    if signals.tied.all() and steps == signals.mass.shape[1]:
        return signals.edges, signals.mass
    if steps < 2:
        raise InputError(f"{game.name}: {steps} steps: must be 2 or more")
    edges = np.interp(np.linspace(0.0, 1.0, steps + 1), signals.below.mean(axis=0), signals.edges)
    edges[0], edges[-1] = signals.low, signals.high
    edges = np.maximum.accumulate(edges)
    weights = np.stack([np.diff(signals.cdf(p, edges)) for p in range(game.players)])
    return edges, weights


def iterate(game: ContinuousGame, steps: int = 60, rounds: int = 500) -> tuple[Array, Array, dict[int, Array]]:
    """Edges and probabilities of steps, and how often each move is played. {situation: float64 [moves, steps]}"""
    if game.signals.joint is not None:
        raise InputError(f"{game.name}: the iteration is for independent signals")
    edges, weights = steps_of(game, steps)
    middle = (edges[:-1] + edges[1:]) / 2
    value = np.array([game.signals.value(float(x)) for x in middle])
    regret = [np.zeros((len(s.moves), steps)) for s in game.situations]
    sums = [np.zeros((len(s.moves), steps)) for s in game.situations]
    for turn in range(1, rounds + 1):
        for me in range(game.players):
            strategy = [_matched(r) for r in regret]
            worth = _worth(game, me, weights, value, strategy)
            own = [s for s, situation in enumerate(game.situations) if situation.player == me]
            for s in reversed(own):
                mean = (strategy[s] * worth[s]).sum(axis=0)
                regret[s] = np.maximum(regret[s] + worth[s] - mean, 0.0)
                parent = game.situations[s].parent
                if parent is not None:
                    worth[parent[0]][parent[1]] += mean
            reach: dict[int, Array] = {}
            for s in own:
                parent = game.situations[s].parent
                reach[s] = (
                    np.full(steps, float(turn)) if parent is None else reach[parent[0]] * strategy[parent[0]][parent[1]]
                )
                sums[s] += reach[s] * strategy[s]
    return edges, weights, {s: _matched(table) for s, table in enumerate(sums)}


def _worth(game: ContinuousGame, me: int, weights: Array, value: Array, strategy: list[Array]) -> dict[int, Array]:
    """What the leaves after each own choice are worth. {situation: float64 [moves, steps]}"""
    worth = {s: np.zeros_like(strategy[s]) for s, situation in enumerate(game.situations) if situation.player == me}
    for ending in game.endings:
        if not ending.choices[me]:
            continue
        leaf = ending.leaf
        met, won = np.ones(weights.shape[1]), np.full(weights.shape[1], leaf.prize if me in leaf.contenders else 0.0)
        for p in range(game.players):
            if p == me:
                continue
            reach = weights[p].copy()
            for s, move in ending.choices[p]:
                reach *= strategy[s][move]
            total = reach.sum()
            met *= total
            won *= np.cumsum(reach) - reach / 2 if p in leaf.contenders else total
        s, move = ending.choices[me][-1]
        worth[s][move] += (leaf.base[me] + leaf.worth[me] * value) * met + won
    return worth


def _matched(regret: Array) -> Array:
    """Regret matching; also what sums are to frequencies."""
    total = regret.sum(axis=0)
    return np.where(total > 0, regret / np.where(total > 0, total, 1.0), 1.0 / len(regret))
