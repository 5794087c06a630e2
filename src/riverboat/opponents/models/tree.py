"""Models of opponents in a blueprint's tree: DBBR (Ganzfried & Sandholm 2011) for hold'em.

    counts = count_moves(read_in(strategy.tree, hands), strategy.tree, player)
    model = fit_model(strategy, counts, fit="em")

A public history is a node of the tree of betting, a bucket one of the blueprint's. Top-down, at every node that was seen: the
posterior frequencies of its moves, the weights of the buckets that the player comes there with by the rows made so far, and
the rows nearest to the blueprint's that show these frequencies. A model is a `BlueprintStrategy`, so all that reads, plays
or measures a blueprint takes a model too; one of many players makes a prior for one of them.

Weights of buckets move from street to street by how often one bucket follows another over all deals. Our own cards and
actions are left out, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypeVar

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, unknown
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.games.holdem.actions import HIDDEN
from riverboat.games.records.hand_records import Hands
from riverboat.opponents.dbbr import FITS
from riverboat.opponents.models.bucket_statistics import bucket_chances as bucket_chances
from riverboat.opponents.models.bucket_statistics import bucket_points
from riverboat.opponents.models.clusters import cluster
from riverboat.opponents.models.hand_lines import Reading
from riverboat.strategies.blueprint import BlueprintStrategy

PRIOR = 5.0  # hands of the base at every public history, as in the paper
SHOWN_PRIOR = 2.0  # hands of the base at every bucket that a showdown tells of

CLUSTERS = "clusters"  # a fit: hands clustered by their moves, as showdowns proved

K = TypeVar("K")  # a place: a node, or a node and a bucket
Nodes: TypeAlias = Mapping[int, Array]  # node: how often each of its moves was made, float64 [moves]


@dataclass(frozen=True, eq=False)
class Counts:
    """What was seen of a player."""

    moves: Nodes
    shown: Mapping[tuple[int, int], Array] = field(default_factory=dict)  # the same by node and bucket, of hands shown

    def __add__(self, other: Counts) -> Counts:
        """Both together."""
        return Counts(_add(self.moves, other.moves), _add(self.shown, other.shown))

    @property
    def decisions(self) -> int:
        """How many were seen."""
        return int(sum(count.sum() for count in self.moves.values()))

    def on(self, tree: ActionTree, street: int) -> Counts:
        """Those of one street."""
        moves = {node: seen for node, seen in self.moves.items() if tree.street[node] == street}
        return Counts(moves, {place: seen for place, seen in self.shown.items() if place[0] in moves})


def _add(one: Mapping[K, Array], two: Mapping[K, Array]) -> dict[K, Array]:
    out = dict(one)
    for place, seen in two.items():
        out[place] = out[place] + seen if place in out else seen
    return out


def count_moves(
    reading: Reading, tree: ActionTree, chosen: Array, hands: Hands | None = None, cards: CardAbstraction | None = None
) -> Counts:
    """Moves of some of the decisions, by number or mask; with `hands` and `cards` also those of hands that were shown."""
    some = reading.take(chosen)
    moves: dict[int, Array] = {}
    for node, move in zip(some.node.tolist(), some.move.tolist(), strict=True):
        if node not in moves:
            moves[node] = np.zeros(int(tree.count[node]))
        moves[node][move] += 1
    shown: dict[tuple[int, int], Array] = {}
    if hands is not None and cards is not None:
        buckets = buckets_held(some, tree, hands, cards)
        known = np.flatnonzero(buckets >= 0)
        given = (some.node[known], buckets[known], some.move[known])
        for node, bucket, move in zip(*(x.tolist() for x in given), strict=True):
            if (node, bucket) not in shown:
                shown[node, bucket] = np.zeros(int(tree.count[node]))
            shown[node, bucket][move] += 1
    return Counts(moves, shown)


def buckets_held(reading: Reading, tree: ActionTree, hands: Hands, cards: CardAbstraction) -> Array:
    """The bucket that the player held at each decision; -1 where nobody saw its cards. int32 [n]"""
    hole, out = hands.rules.hole, np.full(len(reading), -1, np.int32)
    seat, street = tree.actor[reading.node], tree.street[reading.node]
    own = np.where(seat[:, None] == 0, hands.cards[reading.hand, :hole], hands.cards[reading.hand, hole : 2 * hole])
    seen = (own != HIDDEN).all(axis=1)
    for s, dealt in enumerate(hands.rules.board_sizes):
        here = np.flatnonzero(seen & (street == s))
        if len(here):
            deals = np.concatenate([own[here], hands.cards[reading.hand[here], 2 * hole : 2 * hole + dealt]], axis=1)
            out[here] = cards.buckets(deals, check=False)[:, 0, -1]
    return out


# --- buckets ----------------------------------------------------------------------------------


class Weights:
    """With which buckets a player comes to nodes of a tree, by tables of rows; kept once worked out."""

    def __init__(self, tree: ActionTree, cards: CardAbstraction, tables: tuple[Array, ...]) -> None:
        self.tree, self.tables = tree, tables
        self.first, self.steps = bucket_chances(cards, tree.rules.rounds)
        self._weights: dict[tuple[int, int], Array] = {}

    def rows(self, node: int) -> Array:
        """The rows of a decision. float64 [buckets, moves], a view of the tables"""
        at = int(self.tree.slot[node])
        return self.tables[int(self.tree.street[node])][:, at : at + int(self.tree.count[node])]

    def at(self, node: int, seat: int) -> Array:
        """Sums to the chance that the player makes its moves of the line. float64 [buckets of the node's street]"""
        weights = self._weights.get((node, seat))
        if weights is not None:
            return weights
        tree, way, at = self.tree, [], node
        while at > 0 and (at, seat) not in self._weights:
            way.append(at)
            at = int(tree.parent[at])
        weights = self._weights.setdefault((at, seat), self.first)
        for child in reversed(way):
            parent = int(tree.parent[child])
            if tree.actor[parent] == seat:
                weights = weights * self.rows(parent)[:, child - int(tree.first[parent])]
            for s in range(int(tree.street[parent]), int(tree.street[child])):
                weights = weights @ self.steps[s]
            self._weights[child, seat] = weights
        return weights

    def shares(self, node: int) -> Array:
        """The same of who acts there, summing to one; all buckets as dealt where it never comes there. float64 [buckets]"""
        weights = self.at(node, int(self.tree.actor[node]))
        if weights.sum() > 1e-12:
            there: Array = weights / weights.sum()
            return there
        dealt = self.first
        for s in range(int(self.tree.street[node])):
            dealt = dealt @ self.steps[s]
        return dealt


def shares_of(strategy: BlueprintStrategy) -> tuple[Array, ...]:
    """What is played, by street. float64 [buckets, moves of the street]"""
    shares = []
    for street, table in enumerate(strategy.average):
        slot, count = strategy.slots(street)
        sums = table.astype(np.float64)
        total = np.repeat(np.add.reduceat(sums, slot, axis=1), count, axis=1)
        uniform = 1.0 / np.repeat(count, count)
        shares.append(np.where(total > 0, sums / np.where(total > 0, total, 1.0), uniform))
    return tuple(shares)


# --- the model --------------------------------------------------------------------------------


def fit_model(
    base: BlueprintStrategy, counts: Counts, fit: str = "em", prior: float = PRIOR, shown_prior: float = SHOWN_PRIOR
) -> BlueprintStrategy:
    """The strategy nearest to `base` that shows what was counted, in both seats.

    Rows of buckets that showdowns tell of are moved first, to the posterior of what was shown; then all rows are moved
    to the frequencies of all hands. Nodes that were never seen keep their rows.
    """
    if fit not in (*FITS, CLUSTERS):
        raise unknown("fit", fit, (*FITS, CLUSTERS))
    if not (prior > 0 and shown_prior > 0):
        raise InputError(f"prior={prior:g}, shown_prior={shown_prior:g}: must be above 0 hands")
    tree, plain = base.tree, shares_of(base)
    points = bucket_points(base.cards, tree.rules.rounds) if fit == CLUSTERS else ()
    tables = tuple(table.copy() for table in plain)
    before, now = Weights(tree, base.cards, plain), Weights(tree, base.cards, tables)
    told: dict[int, list[tuple[int, Array]]] = {}
    for (node, bucket), seen in counts.shown.items():
        told.setdefault(node, []).append((bucket, seen))
    for node in sorted(counts.moves):  # parents come before children
        seen = counts.moves[node]
        expected = before.shares(node) @ before.rows(node)
        wanted = (prior * expected + seen) / (prior + seen.sum())
        weights, rows = now.shares(node), now.rows(node)
        for bucket, shown in told.get(node, ()):
            rows[bucket] = (shown_prior * rows[bucket] + shown) / (shown_prior + shown.sum())
        if fit == CLUSTERS:
            proved = np.isin(np.arange(len(rows)), [bucket for bucket, _ in told.get(node, ())])
            made = cluster(weights, rows, wanted, points[int(tree.street[node])], proved)
        else:
            made = np.maximum(FITS[fit](weights, rows, wanted), 0.0)
        rows[:] = made / made.sum(axis=1, keepdims=True)
    facts = {**base.provenance, "model": fit, "decisions": counts.decisions}
    return replace(base, average=tuple(table.astype(np.float32) for table in tables), provenance=facts)
