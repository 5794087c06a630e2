"""Post-processing: what is played instead of the probabilities that a solver left.

Small probabilities are often what an abstraction or an unfinished run put there. *Thresholding* drops those below ε and
*purification* plays the most likely move alone (Ganzfried, Sandholm & Waugh 2012). Tartanian7 first folds where it folds
often enough, else chooses among fold, call and the sum of all bets, and only then among the bets (Brown, Ganzfried &
Sandholm 2015): many small bets together may outweigh a call that is larger than each of them.

A rule is a function from rows to rows, float [..., moves], rows of non-negative numbers of sum one; `apply` brings it to
a whole strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from riverboat.core.errors import InputError
from riverboat.games.base import Array
from riverboat.strategies._kernels import postprocessing as kernels
from riverboat.strategies._kernels.postprocessing import Post
from riverboat.strategies.tabular import Strategy
from riverboat.trees.history import HistoryTree
from riverboat.trees.public import PublicTree

FOLD_THRESHOLD = 0.2  # Tartanian7's

Rule: TypeAlias = Callable[[Array, tuple[str, ...]], Array]  # (rows [n, moves], labels) -> rows


def purify(rows: Array) -> Array:
    """Only the most likely move; several that tie share equally."""
    return _processed(rows, Post(kernels.PURIFY, 0.0, kernels.WITHOUT))


def threshold(rows: Array, epsilon: float) -> Array:
    """Drop moves with less than ε and scale the others up; a row in which nothing is left is purified."""
    if not 0 <= epsilon <= 1:
        raise InputError(f"threshold epsilon={epsilon:g}: must be from 0 to 1")
    return _processed(rows, Post(kernels.THRESHOLD, 0.0, float(epsilon)))


def tartanian7(
    rows: Array, labels: Sequence[str], fold_threshold: float = FOLD_THRESHOLD, epsilon: float | None = None
) -> Array:
    """Fold surely above the fold threshold; else purify among fold, call and all bets; then among the bets.

    With `epsilon` both choices are thresholded instead of purified. Labels are as in the ACPC protocol: `f`, `c`,
    everything else is a bet.
    """
    if np.shape(rows)[-1] != len(labels):
        raise InputError(f"{np.shape(rows)[-1]} probabilities for the moves {', '.join(labels)}")
    if not 0 <= fold_threshold <= 1:
        raise InputError(f"fold_threshold={fold_threshold:g}: must be from 0 to 1")
    least = kernels.WITHOUT if epsilon is None else float(epsilon)
    return _processed(rows, Post(kernels.TARTANIAN7, float(fold_threshold), least), kinds_of(labels))


def kinds_of(labels: Sequence[str]) -> Array:
    """Whether moves are folds, calls or bets. int8 [moves]"""
    kinds = {"f": kernels.FOLD_KIND, "c": kernels.CALL_KIND}
    return np.array([kinds.get(label, kernels.BET_KIND) for label in labels], np.int8)


def _processed(rows: Array, post: Post, kinds: Array | None = None) -> Array:
    out = np.array(_rows(rows), float, order="C")
    flat = out.reshape(-1, out.shape[-1])
    kernels.process_all(post, np.zeros(out.shape[-1], np.int8) if kinds is None else kinds, flat)
    return out


def _rows(rows: Array) -> Array:
    rows = np.asarray(rows, float)
    if (
        not np.all(np.isfinite(rows))
        or rows.min(initial=0.0) < 0
        or np.abs(rows.sum(axis=-1) - 1).max(initial=0) > 1e-6
    ):
        raise InputError(f"rows of probabilities must not be negative and sum to one: {rows.tolist()[:3]}")
    return rows


# --- whole strategies -------------------------------------------------------------------------


def apply(rule: Rule, strategy: Strategy, *, spare_first: bool = False, name: str = "post-processed") -> Strategy:
    """Apply a rule at every information set; with `spare_first` not at a player's first move of a hand."""
    tree = strategy.tree
    table = np.array(strategy.probabilities, float)
    spared = _first_decisions(tree) if spare_first else set()
    if isinstance(tree, PublicTree):
        for player, rows in enumerate(tree.views(table)):
            for node in np.flatnonzero(tree.nodes.actor == player):
                if int(node) not in spared:
                    at, width = int(tree.nodes.data[node]), int(tree.nodes.width[node])
                    rows[at : at + width] = rule(rows[at : at + width].T, tree.labels(int(node))).T
    else:
        for number, infoset in enumerate(tree.infosets()):
            if number not in spared:
                part = slice(infoset.offset, infoset.offset + len(infoset.actions) * infoset.stride, infoset.stride)
                table[part] = rule(table[part][None, :], infoset.actions)[0]
    return Strategy(tree, table, {**strategy.provenance, "post-processing": name})


def _first_decisions(tree: PublicTree | HistoryTree) -> set[int]:
    """Nodes (of a public tree) or information sets at which their player has not moved before."""
    if isinstance(tree, HistoryTree):
        numbers: set[int] = set()
        for player in range(tree.players):
            sets = np.flatnonzero(tree.owner == player)
            numbers.update(int(s) for s in sets[tree.treeplex(player).parent == 0])
        return numbers
    first: set[int] = set()
    for player in (0, 1):
        node = 0
        while node < len(tree.nodes.actor):
            if tree.nodes.actor[node] == player:
                first.add(node)
                node = int(tree.nodes.end[node])  # everything below comes later
            else:
                node += 1
    return first


def purified(strategy: Strategy, *, spare_first: bool = False) -> Strategy:
    """A strategy with every row purified."""
    return apply(lambda rows, _: purify(rows), strategy, spare_first=spare_first, name="purified")


def thresholded(strategy: Strategy, epsilon: float, *, spare_first: bool = False) -> Strategy:
    """A strategy with every row thresholded."""
    name = f"threshold {epsilon:g}"
    return apply(lambda rows, _: threshold(rows, epsilon), strategy, spare_first=spare_first, name=name)


def as_tartanian7(strategy: Strategy, fold_threshold: float = FOLD_THRESHOLD, *, spare_first: bool = True) -> Strategy:
    """A strategy with Tartanian7's rule in every row but, as it did, that of the first move."""
    name = f"tartanian7 {fold_threshold:g}"
    return apply(
        lambda rows, labels: tartanian7(rows, labels, fold_threshold), strategy, spare_first=spare_first, name=name
    )
