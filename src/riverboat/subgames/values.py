"""What the opponent can get against a base strategy: counterfactual best-response values, and gifts.

CBV(I, a) is the value of action a at information set I to a player who best-responds from there on, weighted by the
probability that chance and the *other* player lead to I; CBV(I) = max over a. Unlike a best response they are
wanted everywhere, also where the player itself would never go.

A *gift* is what the opponent gives up by taking a path: CBV(I') − CBV(I', a') at each of its decisions on the way
(Brown & Sandholm 2017). So much more may be conceded behind that path before the opponent gains anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from riverboat.games.base import CHANCE, Array
from riverboat.solvers.exact.sequence_form import SequenceForm
from riverboat.solvers.tabular._kernels import traversal
from riverboat.solvers.tabular.threads import Walker
from riverboat.strategies.tabular import Strategy
from riverboat.trees._kernels import tree as tree_kernels
from riverboat.trees.gadgets import Endgame, maxmargin_gadget
from riverboat.trees.public import PublicTree

CANCELS = 1e-3  # share of the other's range below which a hand is valued apart
_STEP = np.array([1.0, 1.0, -np.inf, 1.0, 1.0, 0.0])  # of a walk that learns nothing


class Entry(NamedTuple):
    """An endgame as the opponent of the refined player meets it."""

    reach: Array  # of chance and the refined player: float64 [its hands], or [roots] of a history tree
    values: Array  # CBV given the hand: float64 [hands of the opponent]
    weights: (
        Array  # how likely chance and the refined player are to meet that hand there: float64 [hands of the opponent]
    )


def entries(base: Strategy, player: int, endgames: Sequence[Endgame]) -> list[Entry]:
    """What the opponent of `player` can get in each endgame with each hand, against the base strategy."""
    if isinstance(base.tree, PublicTree):
        values = _PublicValues(base, player)
        return [values.entry(int(part.roots[0])) for part in endgames]
    reach = history_reach(base, 1 - player)
    return [_history_entry(base, player, part, reach[part.roots]) for part in endgames]


def gifts(
    base: Strategy, player: int, endgames: Sequence[Endgame], known: Sequence[Entry], *, split: bool = True
) -> list[Array]:
    """How much each hand of the opponent has given up on the way into each endgame. float64 [hands], per endgame

    Per unit of weight, as `Entry.values`. A gift behind which several endgames lie is split among them (and among their
    weights evenly), so that together they can give away no more than it, however each is refined. With `split=False`
    each endgame takes the whole gift, as if it were the only one.
    """
    if isinstance(base.tree, PublicTree):
        return _public_gifts(_PublicValues(base, player), endgames, known, split)
    return _history_gifts(base, player, endgames, known, split)


def history_reach(base: Strategy, without: int) -> Array:
    """Probability that chance and everybody but one player lead to each node (-1: everybody). float64 [nodes]"""
    tree = base.tree
    assert not isinstance(tree, PublicTree)
    n = tree.nodes
    reach = np.empty(len(n.actor))
    nobody = -9
    me = nobody if without < 0 else without
    tree_kernels.others_reach(n.actor, n.end, n.data, tree.chance, base.probabilities, me, reach)
    return reach


def sequence_values(strategy: Strategy, player: int) -> tuple[Array, SequenceForm]:
    """The best that a player can get from each of its sequences on. float64 [sequences]"""
    form = SequenceForm(strategy.tree)
    value = form.payoffs[player] @ form.plan(strategy, 1 - player)
    plex = form.treeplexes[player]
    tree_kernels.respond(plex.parent, plex.first, plex.width, value, np.empty(len(plex.parent), np.int32))
    return value, form


# --- public trees -----------------------------------------------------------------------------


class _PublicValues:
    """Values of public states to all hands of the opponent of `player`, each by one walk of its subtree."""

    def __init__(self, base: Strategy, player: int) -> None:
        assert isinstance(base.tree, PublicTree)
        self.tree, self.player, self.opponent = base.tree, player, 1 - player
        views = self.tree.views(np.array(base.probabilities, float))
        own, other = views[self.opponent], views[player]
        self.rows = other
        self.tables = traversal.RegretTables(
            own[:0], own, own[:0], np.zeros((0, own.shape[1])), other[:0], other[:0], other
        )
        self.walker = Walker(self.tree, np.float64)
        joint = self.tree.deal.joint() > 0
        self.meets = joint if self.opponent == 0 else joint.T  # bool [hands of the opponent, hands of the player]
        self.seen: dict[int, tuple[Array, Array, Array]] = {}

    def path(self, node: int) -> list[tuple[int, int]]:
        """The nodes above and the number of the child that is taken at each."""
        tree, here, path = self.tree, 0, []
        while here != node:
            for k, child in enumerate(tree.children(here)):
                if child <= node < tree.nodes.end[child]:
                    path.append((here, k))
                    here = child
                    break
        return path

    def at(self, node: int) -> tuple[Array, Array, Array]:
        """Range of the player (with chance), weight of the opponent's hands, and their value times that weight."""
        if node in self.seen:
            return self.seen[node]
        tree, side = self.tree, self.tree.sides[self.opponent]
        reach = np.array(tree.deal.weights[self.player], float)
        for above, k in self.path(node):
            row = int(tree.nodes.data[above]) + k
            if tree.nodes.actor[above] == self.player:
                reach *= self.rows[row]
            elif tree.nodes.actor[above] == CHANCE:
                reach *= side.chance[row] * side.live_opp[row]
        weight = np.where(tree.live[self.opponent][tree.boards[node]], self.meets @ reach, 0.0)
        value = self._walk(node, reach)
        # A walk values a terminal against all hands and takes off those that cannot be met. Where hardly any is
        # left, that cancels; such a hand gets a walk of its own against the hands that it meets.
        for hand in np.flatnonzero((weight > 0) & (weight < CANCELS * reach.sum())):
            value[hand] = self._walk(node, reach * self.meets[hand])[hand]
        self.seen[node] = reach, weight, np.where(weight > 0, value, 0.0)
        return self.seen[node]

    def _walk(self, node: int, reach: Array) -> Array:
        tree, side, frames = self.tree, self.tree.sides[self.opponent], self.walker.room[self.opponent]
        frames.own[0], frames.opp[0] = 1.0, reach
        task = traversal.Task(self.opponent, node, traversal.RESPOND, False, False)
        span, walker = traversal.Span(0, len(side.weight), 0, len(reach)), self.walker
        traversal.walk(tree.nodes, side, self.tables, _STEP, task, span, walker.rng, walker.no_cuts, frames)
        return np.array(frames.value[0])

    def entry(self, node: int) -> Entry:
        reach, weight, value = self.at(node)
        return Entry(reach, np.divide(value, weight, out=np.zeros_like(value), where=weight > 0), weight)


def _public_gifts(
    values: _PublicValues, endgames: Sequence[Endgame], known: Sequence[Entry], split: bool
) -> list[Array]:
    tree, by_entry = values.tree, []
    starts = np.array([int(part.roots[0]) for part in endgames])
    weights = np.array([entry.weights for entry in known])
    for number, start in enumerate(starts):
        gift = np.zeros(weights.shape[1])
        for above, k in values.path(int(start)):
            if tree.nodes.actor[above] != values.opponent:
                continue
            child = list(tree.children(above))[k]
            given = np.maximum(values.at(above)[2] - values.at(child)[2], 0.0)
            behind = (starts >= child) & (starts < tree.nodes.end[child]) if split else np.arange(len(starts)) == number
            share = weights[behind].sum(axis=0)
            gift += np.divide(given, share, out=np.zeros_like(given), where=share > 0)
        by_entry.append(gift)
    return by_entry


# --- history trees ----------------------------------------------------------------------------


def _history_entry(base: Strategy, player: int, part: Endgame, reach: Array) -> Entry:
    hand = part.held(1 - player)
    weights = np.bincount(hand, reach)
    values = np.zeros(len(weights))
    if (reach > 0).any():
        gadget = maxmargin_gadget(part, player, reach, values)
        sums = np.where(gadget.origin >= 0, base.probabilities[gadget.origin], 0.0)
        best, form = sequence_values(Strategy.from_sums(gadget.tree, sums), 1 - player)
        first = form.treeplexes[1 - player].first[0]  # of the choice of a hand
        held = np.unique(hand[reach > 0])
        values[held] = best[first : first + len(held)]
    return Entry(reach, values, weights)


def _history_gifts(
    base: Strategy, player: int, endgames: Sequence[Endgame], known: Sequence[Entry], split: bool
) -> list[Array]:
    opponent = 1 - player
    best, form = sequence_values(base, opponent)
    plex = form.treeplexes[opponent]
    infoset = np.zeros(plex.sequences, np.int64)  # of each sequence but the empty one
    infoset[1:] = np.repeat(np.arange(len(plex.parent)), plex.width)
    top = np.array([best[f : f + w].max() for f, w in zip(plex.first, plex.width, strict=True)])
    last = form.histories.last_sequence[:, opponent]
    entrances = [np.unique(last[part.roots]) for part in endgames]  # the sequence of each hand

    def way(sequence: int) -> list[int]:
        """The sequence and those before it, without the empty one."""
        path = []
        while sequence:
            path.append(sequence)
            sequence = int(plex.parent[infoset[sequence]])
        return path

    def behind(numbers: Sequence[int]) -> Array:
        """Weight of the endgames that lie behind each sequence."""
        total = np.zeros(plex.sequences)
        for number in numbers:
            for sequence, weight in zip(entrances[number], known[number].weights, strict=True):
                total[way(int(sequence))] += weight
        return total

    everything = behind(range(len(endgames)))
    by_entry = []
    for number, sequences in enumerate(entrances):
        share = everything if split else behind([number])
        given = [sum((top[infoset[q]] - best[q]) / share[q] for q in way(int(s)) if share[q] > 0) for s in sequences]
        by_entry.append(np.maximum(np.array(given, float), 0.0))
    return by_entry
