"""Discretized games: finite approximations of continuous games, where a signal is one of a number of steps of the axis.

A step is an interval of the axis; all steps are equally likely on average over the players. Two signals in one step are
equal. The finite game is a public game with one hand for each step, so every solver of the package applies. CFR+
handles games without a linear program: more than two players, hidden actions, payoffs with no constant sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from riverboat.continuous.game import JOINER, ContinuousGame, DecisionNode, Leaf, nodes_with_lines
from riverboat.core.arrays import Array, normalize, safe_divide
from riverboat.core.errors import InputError
from riverboat.games.base import TERMINAL, ComparisonPayoff, ConstantPayoff, MatrixPayoff, Outcome, Payoff, PrivateDeal
from riverboat.strategies.tabular import Strategy

# --- CFR+ on steps ---

CFR_ITERATIONS = 500


def _partition_signals(game: ContinuousGame, steps: int) -> tuple[Array, Array]:
    """Return the edges of steps that are equally likely on average, and each player's probability of each step.

    Where signals are discrete and there are as many steps as values, each value is a step and the partition is
    lossless. float64 [steps + 1], float64 [players, steps]
    """
    signals = game.signals
    if signals.tied.all() and steps == signals.mass.shape[1]:
        return signals.edges, signals.mass
    if steps < 2:
        raise InputError(f"{game.name}: {steps} steps: must be 2 or more")
    edges = np.interp(np.linspace(0.0, 1.0, steps + 1), signals.cdf_at_edges.mean(axis=0), signals.edges)
    edges[0], edges[-1] = signals.low, signals.high
    edges = np.maximum.accumulate(edges)
    return edges, np.stack([np.diff(signals.cdf(p, edges)) for p in range(game.players)])


def run_cfr_plus(game: ContinuousGame, steps: int) -> tuple[Array, Array, dict[int, Array]]:
    """Run CFR+ on the steps; return edges, probabilities of steps and average strategies.

    {situation: float64 [moves, steps]}
    """
    if game.signals.joint is not None:
        raise InputError(f"{game.name}: CFR+ on steps needs independent signals")
    edges, weights = _partition_signals(game, steps)
    value = np.array([game.signals.value(float(x)) for x in (edges[:-1] + edges[1:]) / 2])
    regret, sums = ([np.zeros((len(s.moves), steps)) for s in game.situations] for _ in range(2))
    for iteration in range(1, CFR_ITERATIONS + 1):
        for me in range(game.players):
            strategy = [normalize(r) for r in regret]
            values = _action_values(game, me, weights, value, strategy)
            own = game.own_situations(me)
            for s in reversed(own):
                mean = (strategy[s] * values[s]).sum(axis=0)
                regret[s] = np.maximum(regret[s] + values[s] - mean, 0.0)
                parent = game.situations[s].parent
                if parent is not None:
                    values[parent[0]][parent[1]] += mean
            reach: dict[int, Array] = {}
            for s in own:
                reach[s] = np.full(steps, float(iteration))
                if (parent := game.situations[s].parent) is not None:
                    reach[s] = reach[parent[0]] * strategy[parent[0]][parent[1]]
                sums[s] += reach[s] * strategy[s]
    return edges, weights, {s: normalize(table) for s, table in enumerate(sums)}


def _action_values(
    game: ContinuousGame, me: int, weights: Array, value: Array, strategy: list[Array]
) -> dict[int, Array]:
    """Return the counterfactual values of the leaves right after each action of a player, by situation.

    {situation: float64 [moves, steps]}; weights: probability of each step, float64 [players, steps]
    """
    values = {s: np.zeros_like(strategy[s]) for s in game.own_situations(me)}
    for path in game.leaf_paths:
        if not path.choices[me]:
            continue
        leaf = path.leaf
        opponents_reach = np.ones(weights.shape[1])
        prize = np.full(weights.shape[1], leaf.prize if me in leaf.contenders else 0.0)
        for p in range(game.players):
            if p == me:
                continue
            reach = weights[p].copy()
            for s, move in path.choices[p]:
                reach *= strategy[s][move]
            total = reach.sum()
            opponents_reach *= total
            prize *= np.cumsum(reach) - reach / 2 if p in leaf.contenders else total
        s, move = path.choices[me][-1]
        values[s][move] += (leaf.base[me] + leaf.signal_weights[me] * value) * opponents_reach + prize
    return values


class DiscretizedGame:
    """A two-player continuous game with signals grouped into steps; a public game of `riverboat.games.base`."""

    joiner = JOINER

    def __init__(self, game: ContinuousGame, steps: int) -> None:
        self.edges, self.weights = _partition_signals(game, steps)  # float64 [steps + 1], float64 [2, steps]
        if not has_linear_program(game):
            raise InputError(
                f"{game.name}: a discretized game has a linear program only for two players with public actions and "
                "constant-sum payoffs; use CFR+ on steps instead"
            )
        self.game, self.steps = game, steps
        self.name, self.unit = f"{game.name} in {steps} steps", game.unit
        names = tuple(map(str, range(steps)))
        self.hands = names, names
        # steps are dealt independently; the payoffs carry any correlation as a likelihood ratio
        self.deal = PrivateDeal.independent(*map(list, self.weights))
        # line of each situation in the notation of the finite game, by the name of the situation
        self.lines = dict(zip((s.name for s in game.situations), _decision_lines(game), strict=True))

    @cached_property
    def _likelihood_ratio(self) -> Array | None:
        """Probability of each pair of steps over that of independent steps; None if independent.

        float64 [steps, steps]
        """
        signals = self.game.signals
        if signals.joint is None:
            return None
        starts = np.maximum.outer(self.edges[:-1], signals.edges[:-1])
        ends = np.minimum.outer(self.edges[1:], signals.edges[1:])
        part = np.maximum(ends - starts, 0.0) / np.diff(signals.edges)  # share of each segment that lies in each step
        joint = part @ signals.joint @ part.T
        return safe_divide(joint, np.outer(*self.weights))

    def root(self) -> _DiscretizedState:
        """Return the public state after both players have seen their signals."""
        return _DiscretizedState(self, self.game.tree)

    def payoff(self, leaf: Leaf) -> Payoff:
        """Return the payoff of a leaf, less half of the constant sum for each player."""
        base = tuple(b - (self.game.constant_sum or 0.0) / 2 for b in leaf.base)
        if leaf.prize and len(leaf.contenders) == 1:
            raise InputError(f"{self.game.name}: a prize with a single contender")
        ratio = self._likelihood_ratio
        if ratio is not None:
            order = np.arange(self.steps)
            won = (1 + np.sign(order[:, None] - order)) / 2  # share of the prize
            first = (base[0] + leaf.prize * won) * ratio
            second = (base[1] + leaf.prize * (1 - won)) * ratio
            return MatrixPayoff((tuple(map(tuple, first.tolist())), tuple(map(tuple, second.tolist()))))
        if not leaf.prize:
            return ConstantPayoff((base[0], base[1]))
        strengths = tuple(range(self.steps))
        win = (base[0] + leaf.prize, base[1])
        tie = (base[0] + leaf.prize / 2, base[1] + leaf.prize / 2)
        return ComparisonPayoff((strengths, strengths), win, tie, (base[0], base[1] + leaf.prize))

    def frequencies(self, strategy: Strategy) -> dict[int, Array]:
        """Return the probability of each action at each step, by situation. float64 [moves, steps] each

        Actions are uniform where a step is never dealt.
        """
        probabilities = {}
        for s, situation in enumerate(self.game.situations):
            probabilities[s] = np.full((len(situation.moves), self.steps), 1.0 / len(situation.moves))
            for k in np.flatnonzero(self.weights[situation.player] > 0):
                row = strategy[f"{k}:{self.lines[situation.name]}"]
                probabilities[s][:, k] = [row[move] for move in situation.moves]
        return probabilities


def has_linear_program(game: ContinuousGame) -> bool:
    """Whether the discretized game has a linear program: two players, constant sum, and no hidden actions."""
    public = len(game.situations) == len(_decision_lines(game))
    return game.players == 2 and game.constant_sum is not None and public


def _decision_lines(game: ContinuousGame) -> list[str]:
    """Return the lines of all decisions, which are situations of their own if actions are public."""
    return [line for node, line in nodes_with_lines(game.tree) if isinstance(node, DecisionNode)]


@dataclass(frozen=True, eq=False)
class _DiscretizedState:
    game: DiscretizedGame
    tree: Any  # ContinuousTree

    @property
    def actor(self) -> int:
        return TERMINAL if isinstance(self.tree, Leaf) else self.tree.player

    def actions(self) -> tuple[str, ...]:
        return tuple(label for label, _ in self.tree.moves)

    def outcomes(self) -> tuple[Outcome, ...]:
        return ()

    def child(self, index: int) -> _DiscretizedState:
        return _DiscretizedState(self.game, self.tree.moves[index][1])

    def payoff(self) -> Payoff:
        return self.game.payoff(self.tree)
