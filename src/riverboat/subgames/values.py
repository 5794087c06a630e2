"""Counterfactual best-response values and gifts of the opponent against a base strategy.

CBV(I, a) is the value of action a at information set I to a player who best-responds from there on, weighted by the
probability that chance and the *other* player lead to I; CBV(I) = max over a. Unlike a best response, CBVs are needed
at all information sets, also at those that the player itself would never reach.

A *gift* is the value that the opponent gives up on a path: CBV(I') − CBV(I', a') at each of its decisions (Brown &
Sandholm 2017). A refinement may concede that much more below the path before the opponent gains anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from riverboat.core.arrays import safe_divide
from riverboat.games.base import CHANCE, Array
from riverboat.solvers.exact.sequence_form import SequenceForm
from riverboat.solvers.tabular._kernels import traversal
from riverboat.solvers.tabular.tree_engine import TreeEngine
from riverboat.strategies.tabular import Strategy
from riverboat.trees._kernels import tree as tree_kernels
from riverboat.trees.gadgets import TreeSubgame, maxmargin_gadget
from riverboat.trees.public import PublicTree

CANCELLATION_SHARE = 1e-3  # hands with less compatible weight than this share of the range are evaluated separately
_NULL_STEP = np.array([1.0, 1.0, -np.inf, 1.0, 1.0, 0.0])  # schedule step of a traversal without updates


class SubgameRootValues(NamedTuple):
    """Root of a subgame as gadgets need it: the refined player's range, and the opponent's values by hand."""

    reach: Array  # reach of chance and the refined player: float64 [its hands], or [roots] of a history tree
    values: Array  # CBV given the hand: float64 [hands of the opponent]
    weights: Array  # total compatible reach of chance and the refined player: float64 [hands of the opponent]
    gifts: Array | float = 0.0  # values that a refinement may concede on top, float64 [hands of the opponent]


def subgame_root_values(base: Strategy, player: int, endgames: Sequence[TreeSubgame]) -> list[SubgameRootValues]:
    """Compute the opponent's CBV of each hand at each subgame's root, against the refined player's base strategy."""
    if isinstance(base.tree, PublicTree):
        values = _PublicSubgameValues(base, player)
        return [values.root_values(int(subgame.roots[0])) for subgame in endgames]
    reach = history_reach(base, 1 - player)
    return [_history_root_values(base, player, subgame, reach[subgame.roots]) for subgame in endgames]


def subgame_gifts(
    base: Strategy,
    player: int,
    endgames: Sequence[TreeSubgame],
    root_values: Sequence[SubgameRootValues],
    *,
    split: bool = True,
) -> list[Array]:
    """Compute the gifts of each of the opponent's hands on the path to each subgame. float64 [hands], per subgame

    Gifts are per unit of weight, as `SubgameRootValues.values`. A gift above several subgames is split among them
    (evenly by weight), so that together they concede no more than it, however each is refined. With `split=False` each
    subgame gets the whole gift, as if it were the only one.
    """
    if isinstance(base.tree, PublicTree):
        return _public_gifts(_PublicSubgameValues(base, player), endgames, root_values, split)
    return _history_gifts(base, player, endgames, root_values, split)


def history_reach(base: Strategy, without: int) -> Array:
    """Compute the probability that chance and all players except `without` (-1: none) lead to each node.

    float64 [nodes]
    """
    tree = base.tree
    assert not isinstance(tree, PublicTree)
    n = tree.nodes
    reach = np.empty(len(n.actor))
    excluded = -9 if without < 0 else without  # -9: nobody
    tree_kernels.opponents_reach(n.actor, n.end, n.data, tree.chance, base.probabilities, excluded, reach)
    return reach


def best_sequence_values(strategy: Strategy, player: int) -> tuple[Array, SequenceForm]:
    """Compute the value of each of a player's sequences if it best-responds afterwards. float64 [sequences]

    The value is weighted by the reach of chance and the other player; the sequence form is returned as well.
    """
    form = SequenceForm(strategy.tree)
    value = form.payoffs[player] @ form.plan(strategy, 1 - player)
    plex = form.treeplexes[player]
    best_actions = np.empty(len(plex.parent), np.int32)
    tree_kernels.treeplex_best_response(plex.parent, plex.first, plex.width, value, best_actions)
    return value, form


# --- public trees -----------------------------------------------------------------------------


class _PublicSubgameValues:
    """Values of public states to all hands of the opponent of `player`, by one traversal of each subtree."""

    def __init__(self, base: Strategy, player: int) -> None:
        assert isinstance(base.tree, PublicTree)
        self.tree, self.player, self.opponent = base.tree, player, 1 - player
        views = self.tree.player_tables(np.array(base.probabilities, float))
        own, other = views[self.opponent], views[player]
        self.rows = other
        no_rows = np.zeros((0, own.shape[1]))
        self.tables = traversal.RegretTables(own[:0], own, own[:0], no_rows, other[:0], other[:0], other)
        self.engine = TreeEngine(self.tree, np.float64)
        joint = self.tree.deal.joint() > 0
        self.compatible = joint if self.opponent == 0 else joint.T  # bool [hands of the opponent, hands of the player]
        self.cached_values: dict[int, tuple[Array, Array, Array]] = {}

    def values_at(self, node: int) -> tuple[Array, Array, Array]:
        """Return the player's range (with chance), the weights of the opponent's hands, and their CBVs times weight."""
        if node in self.cached_values:
            return self.cached_values[node]
        tree, side = self.tree, self.tree.player_arrays[self.opponent]
        reach = np.array(tree.deal.weights[self.player], float)
        for ancestor, k in self.tree.path(node):
            row = int(tree.nodes.data[ancestor]) + k
            if tree.nodes.actor[ancestor] == self.player:
                reach *= self.rows[row]
            elif tree.nodes.actor[ancestor] == CHANCE:
                reach *= side.chance[row] * side.live_opp[row]
        weight = np.where(tree.possible_hands[self.opponent][tree.board_of_node[node]], self.compatible @ reach, 0.0)
        value = self._traverse(node, reach)
        # Terminal evaluation subtracts incompatible hands from a sum over all hands. If hardly any weight remains,
        # digits cancel; such a hand gets a separate traversal against its compatible hands.
        for hand in np.flatnonzero((weight > 0) & (weight < CANCELLATION_SHARE * reach.sum())):
            value[hand] = self._traverse(node, reach * self.compatible[hand])[hand]
        self.cached_values[node] = reach, weight, np.where(weight > 0, value, 0.0)
        return self.cached_values[node]

    def _traverse(self, node: int, reach: Array) -> Array:
        tree, side, frames = self.tree, self.tree.player_arrays[self.opponent], self.engine.player_frames[self.opponent]
        frames.own[0], frames.opp[0] = 1.0, reach
        task = traversal.TraversalTask(self.opponent, node, traversal.RESPOND, False, False)
        span, engine = traversal.HandSpan(0, len(side.weight), 0, len(reach)), self.engine
        traversal.traverse(tree.nodes, side, self.tables, _NULL_STEP, task, span, engine.rng, engine.no_cuts, frames)
        return np.array(frames.value[0])

    def root_values(self, node: int) -> SubgameRootValues:
        reach, weight, value = self.values_at(node)
        return SubgameRootValues(reach, safe_divide(value, weight), weight)


def _public_gifts(
    values: _PublicSubgameValues, endgames: Sequence[TreeSubgame], root_values: Sequence[SubgameRootValues], split: bool
) -> list[Array]:
    tree, by_subgame = values.tree, []
    starts = np.array([int(subgame.roots[0]) for subgame in endgames])
    weights = np.array([root_value.weights for root_value in root_values])
    for index, start in enumerate(starts):
        gift = np.zeros(weights.shape[1])
        for ancestor, k in tree.path(int(start)):
            if tree.nodes.actor[ancestor] != values.opponent:
                continue
            child = list(tree.children(ancestor))[k]
            gift_here = np.maximum(values.values_at(ancestor)[2] - values.values_at(child)[2], 0.0)
            sharing = (starts >= child) & (starts < tree.nodes.end[child]) if split else np.arange(len(starts)) == index
            share = weights[sharing].sum(axis=0)
            gift += safe_divide(gift_here, share)
        by_subgame.append(gift)
    return by_subgame


# --- history trees ----------------------------------------------------------------------------


def _history_root_values(base: Strategy, player: int, part: TreeSubgame, reach: Array) -> SubgameRootValues:
    hand = part.hand_at_roots(1 - player)
    weights = np.bincount(hand, reach)
    values = np.zeros(len(weights))
    if (reach > 0).any():
        gadget = maxmargin_gadget(part, player, reach, values)
        sums = np.where(gadget.origin >= 0, base.probabilities[gadget.origin], 0.0)
        best, form = best_sequence_values(Strategy.from_sums(gadget.tree, sums), 1 - player)
        first = form.treeplexes[1 - player].first[0]  # sequences of the gadget's choice of a hand
        hands = np.unique(hand[reach > 0])
        values[hands] = best[first : first + len(hands)]
    return SubgameRootValues(reach, values, weights)


def _history_gifts(
    base: Strategy, player: int, endgames: Sequence[TreeSubgame], root_values: Sequence[SubgameRootValues], split: bool
) -> list[Array]:
    opponent = 1 - player
    best, form = best_sequence_values(base, opponent)
    plex = form.treeplexes[opponent]
    infoset = np.zeros(plex.sequences, np.int64)  # information set of each nonempty sequence
    infoset[1:] = np.repeat(np.arange(len(plex.parent)), plex.width)
    top = np.array([best[f : f + w].max() for f, w in zip(plex.first, plex.width, strict=True)])
    last = form.histories.last_sequence[:, opponent]
    root_sequences = [np.unique(last[subgame.roots]) for subgame in endgames]  # by subgame: the sequence of each hand

    def ancestors(sequence: int) -> list[int]:
        """Return a sequence and its ancestors, without the empty sequence."""
        path = []
        while sequence:
            path.append(sequence)
            sequence = int(plex.parent[infoset[sequence]])
        return path

    def weight_below(numbers: Sequence[int]) -> Array:
        """Return the weight of all hands at the roots of given subgames below each sequence. float64 [sequences]"""
        total = np.zeros(plex.sequences)
        for index in numbers:
            for sequence, weight in zip(root_sequences[index], root_values[index].weights, strict=True):
                total[ancestors(int(sequence))] += weight
        return total

    total_weight = weight_below(range(len(endgames)))
    by_subgame = []
    for index, sequences in enumerate(root_sequences):
        share = total_weight if split else weight_below([index])
        hand_gifts = [
            sum((top[infoset[q]] - best[q]) / share[q] for q in ancestors(int(s)) if share[q] > 0) for s in sequences
        ]
        by_subgame.append(np.maximum(np.array(hand_gifts, float), 0.0))
    return by_subgame
