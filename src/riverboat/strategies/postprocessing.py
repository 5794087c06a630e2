"""Post-processing of strategies: thresholding, purification, and Tartanian7's rule.

Small probabilities are often artifacts of an abstraction or an unfinished run. *Thresholding* drops those below ε, and
*purification* plays only the most likely action (Ganzfried, Sandholm & Waugh 2012). Tartanian7 first folds if it folds
often enough, else chooses among fold, call and the sum of all bets, and only then among the bets (Brown, Ganzfried &
Sandholm 2015): many small bets together may outweigh a call that is larger than each of them.

A rule is a function from rows to rows, float [..., actions]; rows are nonnegative and sum to one. `apply_rule` applies
it to a whole strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from riverboat.core.errors import InputError
from riverboat.games.base import Array
from riverboat.strategies._kernels import table as kernels
from riverboat.strategies._kernels.table import PostprocessingRule
from riverboat.strategies.tabular import Strategy
from riverboat.trees.history import HistoryTree
from riverboat.trees.public import PublicTree

FOLD_THRESHOLD = 0.2  # as in Tartanian7

RowTransform: TypeAlias = Callable[[Array, tuple[str, ...]], Array]  # (rows [n, actions], labels) -> rows


def purify(rows: Array) -> Array:
    """Play only the most likely action; ties share equally.

    Parameters
    ----------
    rows
        Probabilities, one row for each hand. float64 [n, actions]

    Returns
    -------
    Array
        Probabilities. float64 [n, actions]

    References
    ----------
    .. [1] Ganzfried, Sandholm and Waugh, "Strategy purification and thresholding", AAMAS 2012.

    Examples
    --------
    >>> purify(np.array([[0.2, 0.5, 0.3], [0.5, 0.5, 0.0]])).tolist()
    [[0.0, 1.0, 0.0], [0.5, 0.5, 0.0]]
    """
    return _process_rows(rows, PostprocessingRule(kernels.PURIFY, 0.0, kernels.NO_EPSILON))


def threshold(rows: Array, epsilon: float) -> Array:
    """Drop actions with probability below ε and renormalize; a row without any action left is purified.

    Parameters
    ----------
    rows
        Probabilities, one row for each hand. float64 [n, actions]
    epsilon
        Smallest probability that is kept, 0 to 1.

    Returns
    -------
    Array
        Probabilities. float64 [n, actions]

    References
    ----------
    .. [1] Ganzfried, Sandholm and Waugh, "Strategy purification and thresholding", AAMAS 2012.

    Examples
    --------
    >>> threshold(np.array([[0.1, 0.45, 0.45]]), 0.15).tolist()
    [[0.0, 0.5, 0.5]]
    """
    if not 0 <= epsilon <= 1:
        raise InputError(f"threshold epsilon={epsilon:g}: must be from 0 to 1")
    return _process_rows(rows, PostprocessingRule(kernels.THRESHOLD, 0.0, float(epsilon)))


def tartanian7(
    rows: Array, labels: Sequence[str], fold_threshold: float = FOLD_THRESHOLD, epsilon: float | None = None
) -> Array:
    """Fold above the fold threshold; otherwise purify among fold, call and all bets, then among the bets.

    With `epsilon` both choices are thresholded instead of purified. Labels are as in the ACPC protocol: `f` and `c`;
    every other label is a bet.

    Parameters
    ----------
    rows
        Probabilities, one row for each hand. float64 [n, actions]
    labels
        Labels of the actions.
    fold_threshold
        Probability of a fold above which the hand folds, 0 to 1.
    epsilon
        Threshold of both choices; None: they are purified.

    Returns
    -------
    Array
        Probabilities. float64 [n, actions]

    References
    ----------
    .. [1] Brown, Ganzfried and Sandholm, "Hierarchical abstraction, distributed equilibrium computation, and
    post-processing", AAMAS 2015.

    Examples
    --------
    >>> tartanian7(np.array([[0.3, 0.3, 0.2, 0.2]]), ("f", "c", "r300", "r600")).tolist()
    [[1.0, 0.0, 0.0, 0.0]]
    """
    if np.shape(rows)[-1] != len(labels):
        raise InputError(f"{np.shape(rows)[-1]} probabilities for the actions {', '.join(labels)}")
    if not 0 <= fold_threshold <= 1:
        raise InputError(f"fold_threshold={fold_threshold:g}: must be from 0 to 1")
    cutoff = kernels.NO_EPSILON if epsilon is None else float(epsilon)
    rule = PostprocessingRule(kernels.TARTANIAN7, float(fold_threshold), cutoff)
    return _process_rows(rows, rule, action_kinds(labels))


def action_kinds(labels: Sequence[str]) -> Array:
    """Classify actions as folds, calls or bets. int8 [actions]

    Parameters
    ----------
    labels
        Labels of the actions.

    Returns
    -------
    Array
        Kind of each action. int8 [actions]

    Examples
    --------
    >>> action_kinds(("f", "c", "r300")).tolist()
    [0, 1, 2]
    """
    kinds = {"f": kernels.FOLD_KIND, "c": kernels.CALL_KIND}
    return np.array([kinds.get(label, kernels.BET_KIND) for label in labels], np.int8)


def _process_rows(rows: Array, post: PostprocessingRule, kinds: Array | None = None) -> Array:
    out = np.array(rows, float, order="C")
    if not np.isfinite(out).all() or out.min(initial=0.0) < 0 or np.abs(out.sum(axis=-1) - 1).max(initial=0) > 1e-6:
        raise InputError(f"rows of probabilities must be nonnegative and sum to one: {out.tolist()[:3]}")
    flat = out.reshape(-1, out.shape[-1])
    kernels.process_rows(post, np.zeros(out.shape[-1], np.int8) if kinds is None else kinds, flat)
    return out


# --- whole strategies -------------------------------------------------------------------------


def apply_rule(
    rule: RowTransform, strategy: Strategy, *, spare_first: bool = False, name: str = "post-processed"
) -> Strategy:
    """Apply a rule at every information set; `spare_first` skips a player's first decision of a hand.

    Parameters
    ----------
    rule
        Function of the rows and the labels of an information set.
    strategy
        Strategy of a tree.
    spare_first
        Whether a player's first decision of a hand is left as it is.
    name
        Name of the rule, for the provenance.

    Returns
    -------
    Strategy
        The new strategy.

    Examples
    --------
    >>> import riverboat as rb
    >>> strategy = rb.solve("kuhn", iterations=5).strategy
    >>> max(apply_rule(lambda rows, labels: purify(rows), strategy)["K:c"].values())
    1.0
    """
    tree = strategy.tree
    table = np.array(strategy.probabilities, float)
    spared = _first_decisions(tree) if spare_first else set()
    nodes = tree.first_node if isinstance(tree, HistoryTree) else np.flatnonzero(tree.nodes.actor >= 0)
    for node in nodes.tolist():
        if node not in spared:
            rows = tree.player_tables(table)[int(tree.nodes.actor[node])]
            block = slice(int(tree.nodes.data[node]), int(tree.nodes.data[node] + tree.nodes.width[node]))
            rows[block] = rule(rows[block].T, tree.labels(node)).T
    return Strategy(tree, table, {**strategy.provenance, "post-processing": name})


def _first_decisions(tree: PublicTree | HistoryTree) -> set[int]:
    """Return the decisions on whose path the same player has not acted; in a history tree, one per information set."""
    if isinstance(tree, HistoryTree):
        roots = [tree.treeplex(player) for player in range(tree.players)]
        return {int(node) for plex in roots for node in tree.first_node[plex.infosets[plex.parent == 0]]}
    first: set[int] = set()
    for player in (0, 1):
        nodes = np.flatnonzero(tree.nodes.actor == player)
        covered = np.maximum.accumulate([0, *tree.nodes.end[nodes[:-1]]])  # end of the subtrees of earlier nodes
        first.update(nodes[nodes >= covered].tolist())
    return first


def purify_strategy(strategy: Strategy, *, spare_first: bool = False) -> Strategy:
    """Purify a strategy at every information set.

    Parameters
    ----------
    strategy
        Strategy of a tree.
    spare_first
        Whether a player's first decision of a hand is left as it is.

    Returns
    -------
    Strategy
        The new strategy.

    Examples
    --------
    >>> import riverboat as rb
    >>> max(purify_strategy(rb.solve("kuhn", iterations=5).strategy)["K:c"].values())
    1.0
    """
    return apply_rule(lambda rows, _: purify(rows), strategy, spare_first=spare_first, name="purified")


def threshold_strategy(strategy: Strategy, epsilon: float, *, spare_first: bool = False) -> Strategy:
    """Threshold a strategy at every information set.

    Parameters
    ----------
    strategy
        Strategy of a tree.
    epsilon
        Smallest probability that is kept, 0 to 1.
    spare_first
        Whether a player's first decision of a hand is left as it is.

    Returns
    -------
    Strategy
        The new strategy.

    Examples
    --------
    >>> import riverboat as rb
    >>> max(threshold_strategy(rb.solve("kuhn", iterations=5).strategy, 0.3)["K:c"].values())
    1.0
    """
    name = f"threshold {epsilon:g}"
    return apply_rule(lambda rows, _: threshold(rows, epsilon), strategy, spare_first=spare_first, name=name)


def tartanian7_strategy(
    strategy: Strategy, fold_threshold: float = FOLD_THRESHOLD, *, spare_first: bool = True
) -> Strategy:
    """Apply Tartanian7's rule at every information set, except, as Tartanian7 did, a player's first decision.

    Parameters
    ----------
    strategy
        Strategy of a tree.
    fold_threshold
        Probability of a fold above which the hand folds, 0 to 1.
    spare_first
        Whether a player's first decision of a hand is left as it is.

    Returns
    -------
    Strategy
        The new strategy.

    Examples
    --------
    >>> import riverboat as rb
    >>> len(tartanian7_strategy(rb.solve("kuhn", iterations=5).strategy))
    12
    """
    name = f"tartanian7 {fold_threshold:g}"
    return apply_rule(
        lambda rows, labels: tartanian7(rows, labels, fold_threshold), strategy, spare_first=spare_first, name=name
    )
