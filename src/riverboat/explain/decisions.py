"""Decision tables: a strategy by information set, next to features that a player can see.

One row for each information set: features by name, legal actions, strategy, frequency, and optionally the value of each
action. Rules are learned from such a table and measured on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.strategies.rule_list import CALL, DecisionFeature, FeatureColumns, FeatureCondition, RuleAction, RuleList

CostFunction: TypeAlias = Callable[[Array], dict[str, float]]  # costs by name of playing a strategy at all decisions


@dataclass(frozen=True, eq=False)
class DecisionTable:
    """Decisions of one player, or of several who follow one rule list; n rows.

    Parameters
    ----------
    title
        Title of reports.
    features
        Features that rules may test.
    columns
        Values of the features by name, float64 [n] each.
    moves
        All actions of the table.
    legal
        Whether an action is legal, bool [n, moves].
    strategy
        Action probabilities, float64 [n, moves]; rows sum to one.
    weight
        Frequency of the decision, float64 [n]; sums to one.
    names
        Decisions as people write them: `AsKs`, `Ks:cr`.
    group
        Number of a group of similar decisions, which are held out together, int64 [n].
    action_values
        EV of each action in `unit`, float64 [n, moves]; None if unknown.
    unit
        Unit of EVs.
    learning_weight
        Sample weights of rule learning, float64 [n]; by default `weight`.

    Raises
    ------
    InputError
        If shapes do not match, or no decision is ever reached.

    Examples
    --------
    >>> from riverboat.explain.small_game_decisions import small_game_decisions
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.solvers.tabular.cfr import CFR
    >>> from riverboat.trees.compile import compile_game
    >>> solver = CFR(compile_game(kuhn()), "cfr+")
    >>> solver.step(200)
    >>> decisions = small_game_decisions(solver.average(), player=0)
    >>> len(decisions), decisions.names[:3]
    (6, ('J:', 'Q:', 'K:'))
    """

    title: str
    features: tuple[DecisionFeature, ...]
    columns: FeatureColumns  # by feature, float64 [n] each
    moves: tuple[RuleAction, ...]
    legal: Array  # bool [n, moves]
    strategy: Array  # float64 [n, moves]: rows sum to one
    weight: Array  # float64 [n]: frequency of the decision; sums to one
    names: tuple[str, ...]  # as people write them: `AsKs`, `Ks:cr`
    group: Array  # int64 [n]: similar decisions, held out together
    action_values: Array | None = None  # float64 [n, moves]: EV of each action, in `unit`
    unit: str = ""
    learning_weight: Array | None = None  # float64 [n]: sample weights of rule learning, by default `weight`

    def __post_init__(self) -> None:
        n, shape = len(self.weight), (len(self.weight), len(self.moves))
        if n == 0 or not self.weight.sum() > 0:
            raise InputError(f"{self.title}: no decision is ever reached")
        if self.legal.shape != shape or self.strategy.shape != shape or len(self.names) != n or len(self.group) != n:
            raise InputError(
                f"{self.title}: the shapes of arrays do not match {n} decisions and {len(self.moves)} moves"
            )

    def __len__(self) -> int:
        return len(self.weight)

    def take(self, rows: Array) -> DecisionTable:
        """Select rows by index or mask, with weights normalized to one.

        Parameters
        ----------
        rows
            Indices or mask.

        Raises
        ------
        InputError
            If none of the rows is ever reached.
        """
        chosen = np.flatnonzero(rows) if rows.dtype == bool else rows
        weight = self.weight[chosen]
        if not weight.sum() > 0:
            raise InputError(f"{self.title}: none of the chosen decisions is ever reached")
        columns = {name: x[chosen] for name, x in self.columns.items()}
        names = tuple(self.names[k] for k in chosen.tolist())
        arrays: dict[str, Any] = {"weight": weight / weight.sum()}
        for name in ("legal", "strategy", "group", "action_values", "learning_weight"):
            array = getattr(self, name)
            arrays[name] = None if array is None else array[chosen]
        return replace(self, columns=columns, names=names, **arrays)

    def drop_constant_features(self) -> DecisionTable:
        """Return the table without the features that are the same at all decisions."""
        return replace(self, features=tuple(f for f in self.features if np.ptp(self.columns[f.name]) > 0))

    def rows_where(self, tests: Iterable[FeatureCondition]) -> Array:
        """Return the decisions where all conditions hold. bool [n]

        Parameters
        ----------
        tests
            Conditions.
        """
        hit = np.ones(len(self), bool)
        for test in tests:
            hit &= test.holds(self.columns)
        return hit

    @property
    def sample_weight(self) -> Array:
        """Sample weights of rule learning. float64 [n]"""
        return self.weight if self.learning_weight is None else self.learning_weight

    @cached_property
    def call_column(self) -> int | None:
        """Column of check or call, the fallback of illegal actions; None for actions outside poker."""
        return next((k for k, move in enumerate(self.moves) if move.kind == CALL), None)

    def rule_strategy(self, rules: RuleList) -> Array:
        """Return the action probabilities of a rule list at these decisions. float64 [n, moves]

        Parameters
        ----------
        rules
            Rule list over these features.
        """
        return rules.action_probabilities(self.columns, self.moves, self.legal)

    def cross_validation_folds(self, parts: int, seed: int = 0) -> Array:
        """Assign a fold from 0 to parts − 1 to each decision, the same for a whole group. int64 [n]

        Parameters
        ----------
        parts
            Number of folds; fewer if there are fewer groups.
        seed
            Seed of the assignment.
        """
        groups, inverse = np.unique(self.group, return_inverse=True)
        numbers = np.arange(len(groups)) % min(parts, len(groups))
        return np.asarray(np.random.default_rng(seed).permutation(numbers)[inverse])


def concatenate_decisions(
    parts: Sequence[DecisionTable], title: str, shares: Sequence[float] | None = None
) -> DecisionTable:
    """Concatenate tables over the same features.

    Parameters
    ----------
    parts
        Tables.
    title
        Title of the result.
    shares
        Weight of each table, equal by default.

    Returns
    -------
    DecisionTable
        All rows, with all actions of the parts.

    Examples
    --------
    >>> from riverboat.explain.small_game_decisions import small_game_decisions
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.solvers.tabular.cfr import CFR
    >>> from riverboat.trees.compile import compile_game
    >>> solver = CFR(compile_game(kuhn()), "cfr+")
    >>> solver.step(200)
    >>> decisions = small_game_decisions(solver.average(), player=0)
    >>> len(concatenate_decisions([decisions, decisions], "twice"))
    12
    """
    first = parts[0]
    weights = np.ones(len(parts)) if shares is None else np.array(shares, float)
    weights = weights / weights.sum()
    moves = tuple(dict.fromkeys(move for part in parts for move in part.moves))

    def widen(part: DecisionTable, array: Array) -> Array:
        out = np.zeros((len(part), len(moves)), array.dtype)
        out[:, [moves.index(move) for move in part.moves]] = array
        return out

    values = [widen(part, part.action_values) for part in parts if part.action_values is not None]
    return DecisionTable(
        title,
        first.features,
        {name: np.concatenate([part.columns[name] for part in parts]) for name in first.columns},
        moves,
        np.concatenate([widen(part, part.legal) for part in parts]),
        np.concatenate([widen(part, part.strategy) for part in parts]),
        np.concatenate([share * part.weight for part, share in zip(parts, weights, strict=True)]),
        tuple(name for part in parts for name in part.names),
        np.concatenate([part.group for part in parts]),
        np.concatenate(values) if len(values) == len(parts) else None,
        first.unit,
    )
