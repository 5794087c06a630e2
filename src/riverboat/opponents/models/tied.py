"""Models that generalise: what an opponent does where it was never seen, from what it did in places that are like it.

    model = fit_tied(strategy, counts)

A row of moves is told as a chain of questions: this move, or one of those behind it? (Fold or not; call or raise; this bet or
a larger one.) An answer is counted by how strong the hand is, at places that are more and more alike: the same kind of
move anywhere, at the same price, on the same street after as many raises, in the same seat, at this very node. Each level is
the prior of the next, with a few hands of it, and the blueprint is the prior of the first: a hierarchy of beta
distributions. So ten hands in which somebody calls all-in tell of all places where all-in may be called.

Cards are seen at showdowns alone, and who folds shows none. Hands that were not shown are spread over the buckets that could
have played so, by the model itself, forwards and backwards along the line; then the model is made anew from them (Baum &
al. 1970; Dempster, Laird & Rubin 1977).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.action_tree import FOLD, RAISE, ActionTree
from riverboat.opponents.models.bucket_statistics import bucket_dealt, bucket_points
from riverboat.opponents.models.tree import PRIOR, Counts, Weights, shares_of
from riverboat.strategies.blueprint import BlueprintStrategy

ROUNDS = 4  # of spreading hidden hands and fitting again
BINS = 10  # of strength
DOUBT = 0.01  # of every row of the base is uniform: what it never does must be possible to be learnt
PRICES = (0.0, 0.18, 0.29, 0.36, 0.43)  # of a call, as a share of the pot with it: bounds of classes
SIZES = (0.75, 1.5)  # of raises, in pots
LEVELS, ALIKE = 5, 2  # of classes; the level at which places are alike enough to be sure of a model


@dataclass(frozen=True, eq=False)
class Street:
    """Columns of a street's table, all or those of some nodes: the moves of its decisions, side by side."""

    column: Array  # int64 [columns]: where they are in the table
    node: Array  # int64 [columns]
    begin: Array  # int64 [columns]: the first of the node, by its place here
    end: Array  # int64 [columns]: one behind its last
    levels: tuple[Array, ...]  # int64 [columns] each: the class of the column's question, the widest classes first

    def only(self, nodes: Array) -> Street:
        """Those of some nodes."""
        kept = np.flatnonzero(np.isin(self.node, nodes))
        moves = (self.end - self.begin)[kept]
        begin = np.arange(len(kept)) - (kept - self.begin[kept])
        levels = tuple(level[kept] for level in self.levels)
        return Street(self.column[kept], self.node[kept], begin, begin + moves, levels)

    def tails(self, table: Array) -> Array:
        """Of every column the sum of it and those behind it at the node. float64 [rows, columns]"""
        sums = np.concatenate([np.zeros((len(table), 1)), np.cumsum(table, axis=1)], axis=1)
        behind: Array = np.maximum(sums[:, self.end] - sums[:, np.arange(table.shape[1])], 0.0)
        return behind

    def rows(self, first: Array) -> Array:
        """Shares of the moves from the chance of each, given that none before it is made. float64 [rows, columns]"""
        out, left = np.empty_like(first), np.ones_like(first)
        for j in range(int((self.end - self.begin).max(initial=0))):  # the j-th moves of all nodes at once
            at = np.flatnonzero(np.arange(len(self.node)) - self.begin == j)
            last = self.end[at] == at + 1
            out[:, at] = np.where(last, left[:, at], left[:, at] * first[:, at])
            left[:, at[~last] + 1] = (left[:, at] - out[:, at])[:, ~last]
        return out


@lru_cache(maxsize=4)
def streets(tree: ActionTree) -> tuple[Street, ...]:
    """What is alike in a tree."""
    order = np.arange(len(tree))
    above = np.maximum(tree.parent, 0)
    raises = np.zeros(len(tree), np.int64)  # of the round, before each node
    for node in order[1:].tolist():
        up = above[node]
        raises[node] = (raises[up] if tree.street[up] == tree.street[node] else 0) + (tree.kind[node] == RAISE)
    price = np.abs(tree.spent[:, 0] - tree.spent[:, 1])
    share = price / np.maximum(2 * tree.spent.max(axis=1), 1)
    cost = np.searchsorted(PRICES, share, side="left") * (price > 0)
    out = []
    for street in range(tree.rules.rounds):
        nodes = np.flatnonzero((tree.actor >= 0) & (tree.street == street))
        count = tree.count[nodes].astype(np.int64)
        node = np.repeat(nodes, count)
        begin = np.repeat(np.cumsum(count) - count, count)
        child = tree.first[node] + np.arange(len(node)) - begin
        high = tree.spent[node].max(axis=1)
        size = np.searchsorted(SIZES, (tree.total[child] - high) / (2 * high))
        kind = np.where(
            tree.kind[child] == RAISE, 3 + size, np.where(tree.kind[child] == FOLD, 0, 1 + (price[node] > 0))
        )
        dearer = 8 * kind + cost[node]
        later = (16 * dearer + 4 * np.minimum(raises[node], 3)) + street
        seated = 2 * later + tree.actor[node]
        out.append(
            Street(
                np.arange(len(node)),
                node,
                begin,
                begin + np.repeat(count, count),
                (kind, dearer, later, seated, child.astype(np.int64)),
            )
        )
    return tuple(out)


@lru_cache(maxsize=4)
def bucket_strengths(cards: CardAbstraction, rounds: int) -> tuple[Array, ...]:
    """Where the buckets of each street stand, of BINS equally large classes: by the share of hands that they beat in the end,
    on the mean. int64 [buckets]"""
    out = []
    for points, dealt in zip(bucket_points(cards, rounds), bucket_dealt(cards, rounds), strict=True):
        order = np.argsort(points[:, 0], kind="stable")
        before = np.cumsum(dealt[order]) - dealt[order] / 2
        place = np.empty(len(order), np.int64)
        place[order] = np.minimum(BINS * before, BINS - 1).astype(np.int64)
        out.append(place)
    return tuple(out)


def fit_tied(base: BlueprintStrategy, counts: Counts, prior: float = PRIOR) -> BlueprintStrategy:
    """What generalises from what was counted, in both seats; with nothing seen it is the base, up to DOUBT."""
    if not prior > 0:
        raise InputError(f"prior={prior:g}: must be above 0 hands")
    tree = base.tree
    plain, whole = doubted(tree, shares_of(base)), streets(tree)
    ends, nodes = hidden_ends(tree, counts), np.array(sorted(counts.moves), np.int64)
    some, tables = tuple(street.only(nodes) for street in whole), tuple(table.copy() for table in plain)
    for k in range(ROUNDS if counts.decisions else 0):
        levels = _sums(base, _spread(base, tables, counts, ends), some)
        # Until the last round only rows that the next one spreads by.
        for table, street, rows in zip(
            tables, *_rows(base, plain, levels, prior, whole if k == ROUNDS - 1 else some), strict=True
        ):
            table[:, street.column] = rows
    facts = {**base.provenance, "model": "tied", "decisions": counts.decisions}
    return replace(base, average=tuple(table.astype(np.float32) for table in tables), provenance=facts)


def doubted(tree: ActionTree, tables: tuple[Array, ...]) -> tuple[Array, ...]:
    """Rows with a little of every move."""
    return tuple(
        (1 - DOUBT) * table + DOUBT / (street.end - street.begin)
        for table, street in zip(tables, streets(tree), strict=True)
    )


def hidden_ends(tree: ActionTree, counts: Counts) -> dict[tuple[int, int], float]:
    """The last decisions of hands whose cards nobody saw: node and move, and how many hands."""
    hidden = {node: seen.copy() for node, seen in counts.moves.items()}
    for (node, _), seen in counts.shown.items():
        hidden[node] -= seen
    ends = {(node, move): float(seen[move]) for node, seen in hidden.items() for move in range(len(seen))}
    for node, seen in hidden.items():
        seat, at = tree.actor[node], node
        while at > 0:  # back to the decision of the same player before it
            up = int(tree.parent[at])
            if tree.actor[up] == seat:
                if up in hidden:
                    ends[up, at - int(tree.first[up])] -= float(seen.sum())
                break
            at = up
    return {place: n for place, n in ends.items() if n > 0}


def own_decisions(tree: ActionTree, node: int, move: int) -> list[tuple[int, int]]:
    """A player's decisions up to this one, first to last: nodes and moves."""
    seat, way = tree.actor[node], [(node, move)]
    while node > 0:
        up = int(tree.parent[node])
        if tree.actor[up] == seat:
            way.append((up, node - int(tree.first[up])))
        node = up
    return way[::-1]


def _spread(
    base: BlueprintStrategy, tables: tuple[Array, ...], counts: Counts, ends: dict[tuple[int, int], float]
) -> tuple[Array, ...]:
    """Every decision that was seen, by bucket: as shown, or as likely as a model has it. float64 [buckets, columns]"""
    tree, weights = base.tree, Weights(base.tree, base.cards, tables)
    out = tuple(np.zeros_like(table) for table in tables)
    for (node, bucket), seen in counts.shown.items():
        at = int(tree.slot[node])
        out[int(tree.street[node])][bucket, at : at + len(seen)] += seen
    for (node, move), hands in ends.items():
        later, street = np.ones(0), -1
        for at, made in reversed(own_decisions(tree, node, move)):
            here = int(tree.street[at])
            if street < 0:
                later = np.ones(len(tables[here]))
            for s in range(street - 1, here - 1, -1):
                later = weights.steps[s] @ later
            street = here
            later = later * weights.rows(at)[:, made]
            likely = weights.at(at, int(tree.actor[at])) * later
            total = likely.sum()
            if total > 0:
                out[here][:, int(tree.slot[at]) + made] += hands / total * likely
    return out


def _sums(base: BlueprintStrategy, seen: tuple[Array, ...], some: tuple[Street, ...]) -> list[tuple[Array, Array]]:
    """By level: how often each class's question was answered by this move, and asked at all. float64 [classes, BINS]"""
    bins, out = bucket_strengths(base.cards, base.rules.rounds), []
    made = [
        (np.arange(BINS)[:, None] == place) @ table[:, street.column]
        for table, street, place in zip(seen, some, bins, strict=True)
    ]
    for level in range(LEVELS):
        classes = 1 + max(int(street.levels[level].max(initial=0)) for street in streets(base.tree))
        yes, asked = np.zeros((2, classes, BINS))
        for by_bin, street in zip(made, some, strict=True):
            np.add.at(yes, street.levels[level], by_bin.T)
            np.add.at(asked, street.levels[level], street.tails(by_bin).T)
        out.append((yes, asked))
    return out


def _rows(
    base: BlueprintStrategy,
    plain: tuple[Array, ...],
    levels: list[tuple[Array, Array]],
    prior: float,
    some: tuple[Street, ...],
) -> tuple[tuple[Street, ...], tuple[Array, ...]]:
    """Rows of some columns, each level the prior of the next. The columns, and float64 [buckets, columns]"""
    out = []
    for table, street, place in zip(plain, some, bucket_strengths(base.cards, base.rules.rounds), strict=True):
        rows = table[:, street.column]
        first = rows / np.maximum(street.tails(rows), 1e-12)
        for (yes, asked), classes in zip(levels, street.levels, strict=True):
            first = (prior * first + yes[classes].T[place]) / (prior + asked[classes].T[place])
        out.append(street.rows(first))
    return some, tuple(out)


def alike(tree: ActionTree, counts: Counts) -> dict[int, float]:
    """How many decisions were seen at each node and at those like it: on the street, at the price, after as many raises."""
    out: dict[int, float] = {}
    for street in streets(tree):
        first = np.flatnonzero(street.begin == np.arange(len(street.node)))
        nodes, classes = street.node[first], street.levels[ALIKE][first]
        seen = np.array([counts.moves[node].sum() if node in counts.moves else 0.0 for node in nodes.tolist()])
        _, place = np.unique(classes, return_inverse=True)
        out.update(zip(nodes.tolist(), np.bincount(place, seen)[place].tolist(), strict=True))
    return out


def evidence(base: BlueprintStrategy, model: BlueprintStrategy, counts: Counts) -> float:
    """By how much a model tells better than the base what was seen: the logarithm of the ratio of likelihoods, in nats."""
    tree = base.tree
    ours, theirs = (Weights(tree, base.cards, doubted(tree, shares_of(strategy))) for strategy in (model, base))
    total = 0.0
    for (node, bucket), seen in counts.shown.items():
        total += float(seen @ np.log(ours.rows(node)[bucket] / theirs.rows(node)[bucket]))
    for (node, move), hands in hidden_ends(tree, counts).items():
        child, seat = int(tree.first[node]) + move, int(tree.actor[node])
        total += hands * float(np.log(ours.at(child, seat).sum() / theirs.at(child, seat).sum()))
    return total
