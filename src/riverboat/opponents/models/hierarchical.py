"""Hierarchical opponent models, which generalize from observed to unobserved decisions.

    model = fit_tied_model(strategy, counts)

A row of probabilities is a chain of binary questions: this action, or a later one? (Fold or not; call or raise; this
bet or a larger one.) Answers are counted by hand strength, for classes of decisions of increasing similarity: the same
kind of action anywhere, at the same price, on the same street after as many raises, in the same seat, at this very
node. Each level is the prior of the next, with the weight of a few hands, and the blueprint is the prior of the first:
a hierarchy of beta distributions. So ten all-in calls inform all decisions where an all-in may be called.

Cards are seen at showdowns only, never after folds. Hidden hands are distributed over the buckets that could have
played the line, by the model itself, with forward and backward passes along the line; then the model is refitted (EM:
Baum et al. 1970; Dempster, Laird & Rubin 1977).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.core.validation import check_name
from riverboat.games.holdem.action_tree import FOLD, RAISE, ActionTree
from riverboat.opponents.dbbr import FITS
from riverboat.opponents.models.tree import (
    CLUSTERS,
    PRIOR,
    BucketReach,
    MoveCounts,
    bucket_marginals,
    bucket_strength_moments,
    fit_model,
    strategy_tables,
    street_columns,
)
from riverboat.strategies.blueprint import Blueprint

EM_ROUNDS = 4  # iterations of EM
NUM_STRENGTH_BINS = 10
SMOOTHING = 0.01  # uniform share of every row of the base, so that unplayed actions can be fitted
PRICE_BOUNDS = (0.0, 0.18, 0.29, 0.36, 0.43)  # class bounds of the price of a call, as a share of the pot after it
SIZE_BOUNDS = (0.75, 1.5)  # class bounds of raises, in pots
NUM_LEVELS, SIMILARITY_LEVEL = 5, 2  # levels of classes; the level of `similar_counts`


@dataclass(frozen=True, eq=False)
class TiedColumns:
    """Columns of a street's strategy table, all or those of some nodes, with the classes of similar decisions.

    A column is one action of one decision; columns are ordered by node.
    """

    column: Array  # int64 [columns]: index in the table
    node: Array  # int64 [columns]
    begin: Array  # int64 [columns]: first column of the node, as an index here
    end: Array  # int64 [columns]: end of the node's columns
    # int64 [columns] each: class of the column's question "this action, or a later one?", the widest classes first
    levels: tuple[Array, ...]

    def restrict_to(self, nodes: Array) -> TiedColumns:
        """Select the columns of some nodes."""
        selected = np.flatnonzero(np.isin(self.node, nodes))
        counts = (self.end - self.begin)[selected]
        begin = np.arange(len(selected)) - (selected - self.begin[selected])
        levels = tuple(level[selected] for level in self.levels)
        return TiedColumns(self.column[selected], self.node[selected], begin, begin + counts, levels)

    def tail_sums(self, table: Array) -> Array:
        """Return, for each column, the sum of it and the later columns of its node. float64 [rows, columns]"""
        sums = np.concatenate([np.zeros((len(table), 1)), np.cumsum(table, axis=1)], axis=1)
        return np.asarray(np.maximum(sums[:, self.end] - sums[:, np.arange(table.shape[1])], 0.0))

    def action_probabilities(self, first: Array) -> Array:
        """Convert probabilities of each action given that no earlier one is played to action probabilities.

        float64 [rows, columns]
        """
        out, remaining = np.empty_like(first), np.ones_like(first)
        for j in range(int((self.end - self.begin).max(initial=0))):  # the j-th actions of all nodes at once
            columns = np.flatnonzero(np.arange(len(self.node)) - self.begin == j)
            last = self.end[columns] == columns + 1
            out[:, columns] = np.where(last, remaining[:, columns], remaining[:, columns] * first[:, columns])
            remaining[:, columns[~last] + 1] = (remaining[:, columns] - out[:, columns])[:, ~last]
        return out


@lru_cache(maxsize=4)
def tied_columns(tree: ActionTree) -> tuple[TiedColumns, ...]:
    """Return the columns of each street's strategy table with their classes of similar decisions."""
    parents = np.maximum(tree.parent, 0)
    raises = np.zeros(len(tree), np.int64)  # raises of the round before each node
    for k in range(1, len(tree)):
        parent = parents[k]
        raises[k] = (raises[parent] if tree.street[parent] == tree.street[k] else 0) + (tree.kind[k] == RAISE)
    price = np.abs(tree.spent[:, 0] - tree.spent[:, 1])
    cost = np.searchsorted(PRICE_BOUNDS, price / np.maximum(2 * tree.spent.max(axis=1), 1)) * (price > 0)
    out = []
    for street in range(tree.rules.rounds):
        node, child = street_columns(tree, street)
        begin = np.arange(len(node)) - (child - tree.first[node])
        high = tree.spent[node].max(axis=1)
        size = np.searchsorted(SIZE_BOUNDS, (tree.total[child] - high) / (2 * high))
        passive = np.where(tree.kind[child] == FOLD, 0, 1 + (price[node] > 0))
        kind = np.where(tree.kind[child] == RAISE, 3 + size, passive)
        by_price = 8 * kind + cost[node]
        by_street = (16 * by_price + 4 * np.minimum(raises[node], 3)) + street
        by_seat = 2 * by_street + tree.actor[node]
        levels = (kind, by_price, by_street, by_seat, child.astype(np.int64))
        out.append(TiedColumns(np.arange(len(node)), node, begin, begin + tree.count[node], levels))
    return tuple(out)


@lru_cache(maxsize=4)
def bucket_strength_bins(cards: CardAbstraction, rounds: int) -> tuple[Array, ...]:
    """Return, by street, the strength bin of each bucket: its quantile by the mean share of beaten hands.

    int64 [buckets], 0 to NUM_STRENGTH_BINS - 1
    """
    out = []
    for points, marginals in zip(bucket_strength_moments(cards, rounds), bucket_marginals(cards, rounds), strict=True):
        order = np.argsort(points[:, 0], kind="stable")
        quantile = np.cumsum(marginals[order]) - marginals[order] / 2
        bins = np.empty(len(order), np.int64)
        bins[order] = np.minimum(NUM_STRENGTH_BINS * quantile, NUM_STRENGTH_BINS - 1).astype(np.int64)
        out.append(bins)
    return tuple(out)


def fit_tied_model(base: Blueprint, counts: MoveCounts, prior: float = PRIOR) -> Blueprint:
    """Fit a hierarchical model to counts, in both seats; without observations it is the base, up to SMOOTHING.

    `prior` is the weight, in hands, of the base in the first level and of each level in the next.
    """
    if not prior > 0:
        raise InputError(f"prior={prior:g}: must be above 0 hands")
    tree = base.tree
    base_tables, all_columns = smooth_tables(tree, strategy_tables(base)), tied_columns(tree)
    final_decisions, nodes = unseen_final_decisions(tree, counts), np.array(sorted(counts.moves), np.int64)
    observed_columns = tuple(street.restrict_to(nodes) for street in all_columns)
    tables = tuple(table.copy() for table in base_tables)
    for k in range(EM_ROUNDS if counts.decisions else 0):
        levels = _class_counts(base, _expected_counts(base, tables, counts, final_decisions), observed_columns)
        # Until the last iteration, only rows that the next E-step needs.
        columns = all_columns if k == EM_ROUNDS - 1 else observed_columns
        posterior = _posterior_rows(base, base_tables, levels, prior, columns)
        for table, street, rows in zip(tables, columns, posterior, strict=True):
            table[:, street.column] = rows
    provenance = {**base.provenance, "model": "tied", "decisions": counts.decisions}
    return replace(base, average=tuple(table.astype(np.float32) for table in tables), provenance=provenance)


def smooth_tables(tree: ActionTree, tables: tuple[Array, ...]) -> tuple[Array, ...]:
    """Mix the strategy of every decision and bucket with the uniform one, by weight SMOOTHING; tables by street."""
    streets = zip(tables, tied_columns(tree), strict=True)
    return tuple((1 - SMOOTHING) * table + SMOOTHING / (street.end - street.begin) for table, street in streets)


def unseen_final_decisions(tree: ActionTree, counts: MoveCounts) -> dict[tuple[int, int], float]:
    """Return a player's last decisions in hands whose cards were not shown: (node, action) -> number of hands."""
    hidden = {node: observed.copy() for node, observed in counts.moves.items()}
    for (node, _), observed in counts.showdowns.items():
        hidden[node] -= observed
    final = {(node, move): float(observed[move]) for node, observed in hidden.items() for move in range(len(observed))}
    for node, observed in hidden.items():
        for previous in own_decisions(tree, node, 0)[-2:-1]:
            if previous in final:
                final[previous] -= float(observed.sum())
    return {key: n for key, n in final.items() if n > 0}


def own_decisions(tree: ActionTree, node: int, move: int) -> list[tuple[int, int]]:
    """Return the actor's decisions from the root up to and including this one, as (node, action index)."""
    seat, path = tree.actor[node], [(node, move)]
    while node > 0:
        node, child = int(tree.parent[node]), node
        if tree.actor[node] == seat:
            path.append((node, child - int(tree.first[node])))
    return path[::-1]


def _expected_counts(
    base: Blueprint, tables: tuple[Array, ...], counts: MoveCounts, final_decisions: dict[tuple[int, int], float]
) -> tuple[Array, ...]:
    """Return the expected counts of observed actions by bucket, the E-step, as a table for each street.

    Shown hands count in their bucket, hidden ones in proportion to the posterior of the model `tables`.
    float64 [buckets, columns]
    """
    tree, weights = base.tree, BucketReach(base.tree, base.cards, tables)
    out = tuple(np.zeros_like(table) for table in tables)
    for (node, bucket), observed in counts.showdowns.items():
        current = int(tree.slot[node])
        out[int(tree.street[node])][bucket, current : current + len(observed)] += observed
    for (node, move), hands in final_decisions.items():
        street = int(tree.street[node])
        backward = np.ones(len(tables[street]))
        for current, action in reversed(own_decisions(tree, node, move)):
            node_street = int(tree.street[current])
            for s in range(street - 1, node_street - 1, -1):
                backward = weights.transitions[s] @ backward
            street = node_street
            backward = backward * weights.rows(current)[:, action]
            posterior = weights.reach(current, int(tree.actor[current])) * backward
            total = posterior.sum()
            if total > 0:
                out[node_street][:, int(tree.slot[current]) + action] += hands / total * posterior
    return out


def _class_counts(
    base: Blueprint, seen: tuple[Array, ...], columns: tuple[TiedColumns, ...]
) -> list[tuple[Array, Array]]:
    """Return, by level, how often each class's action was played, and how often it or a later one was.

    `seen` are expected counts by street. float64 [classes, strength bins] each
    """
    bins, out = bucket_strength_bins(base.cards, base.rules.rounds), []
    by_street = [
        (np.arange(NUM_STRENGTH_BINS)[:, None] == bin_of) @ table[:, street.column]
        for table, street, bin_of in zip(seen, columns, bins, strict=True)
    ]
    for level in range(NUM_LEVELS):
        classes = 1 + max(int(street.levels[level].max(initial=0)) for street in tied_columns(base.tree))
        played, available = np.zeros((2, classes, NUM_STRENGTH_BINS))
        for by_bin, street in zip(by_street, columns, strict=True):
            np.add.at(played, street.levels[level], by_bin.T)
            np.add.at(available, street.levels[level], street.tail_sums(by_bin).T)
        out.append((played, available))
    return out


def _posterior_rows(
    base: Blueprint,
    base_tables: tuple[Array, ...],
    levels: list[tuple[Array, Array]],
    prior: float,
    columns: tuple[TiedColumns, ...],
) -> list[Array]:
    """Return, by street, the posterior action probabilities in `columns`, with each level as the prior of the next.

    `levels` are the counts of `_class_counts`, `prior` the weight of a prior in hands. float64 [buckets, columns]
    """
    bins, out = bucket_strength_bins(base.cards, base.rules.rounds), []
    for table, street, bin_of in zip(base_tables, columns, bins, strict=True):
        rows = table[:, street.column]
        first = rows / np.maximum(street.tail_sums(rows), 1e-12)
        for (played, available), classes in zip(levels, street.levels, strict=True):
            first = (prior * first + played[classes].T[bin_of]) / (prior + available[classes].T[bin_of])
        out.append(street.action_probabilities(first))
    return out


def similar_counts(tree: ActionTree, counts: MoveCounts) -> dict[int, float]:
    """Return, for each node, the number of observed decisions at all similar nodes, itself included.

    Similar nodes have the same street, price of a call and number of raises, and the same kind of first action.
    """
    out: dict[int, float] = {}
    for street in tied_columns(tree):
        first = np.flatnonzero(street.begin == np.arange(len(street.node)))
        nodes, classes = street.node[first], street.levels[SIMILARITY_LEVEL][first]
        observed = np.array([counts.moves[node].sum() if node in counts.moves else 0.0 for node in nodes.tolist()])
        _, class_index = np.unique(classes, return_inverse=True)
        out.update(zip(nodes.tolist(), np.bincount(class_index, observed)[class_index].tolist(), strict=True))
    return out


def log_likelihood_gain(base: Blueprint, model: Blueprint, counts: MoveCounts) -> float:
    """Return the log-likelihood ratio of a model over the base for the observed actions, in nats.

    Both strategies are smoothed. Hidden cards are summed out, by the probability of each bucket under each strategy.
    """
    tree = base.tree
    tables = (smooth_tables(tree, strategy_tables(strategy)) for strategy in (model, base))
    model_reach, base_reach = (BucketReach(tree, base.cards, each) for each in tables)
    total = 0.0
    for (node, bucket), observed in counts.showdowns.items():
        total += float(observed @ np.log(model_reach.rows(node)[bucket] / base_reach.rows(node)[bucket]))
    for (node, move), hands in unseen_final_decisions(tree, counts).items():
        child, seat = int(tree.first[node]) + move, int(tree.actor[node])
        total += hands * float(np.log(model_reach.reach(child, seat).sum() / base_reach.reach(child, seat).sum()))
    return total


# --- models by name -------------------------------------------------------------------------------

TIED = "tied"
MODEL_FITTERS: Mapping[str, Callable[..., Blueprint]] = {
    TIED: fit_tied_model,
    **{fit: partial(fit_model, fit=fit) for fit in (*FITS, CLUSTERS)},
}


def fit_model_kind(kind: str, base: Blueprint, counts: MoveCounts, prior: float = PRIOR) -> Blueprint:
    """Fit a model of a kind in MODEL_FITTERS to counts, with a prior of `prior` hands of the base strategy."""
    check_name("fit", kind, MODEL_FITTERS)
    return MODEL_FITTERS[kind](base, counts, prior=prior)
