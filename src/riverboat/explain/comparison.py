"""Comparison of two strategies: which decisions change, and the EV of the change.

    comparison = compare_decisions(spot_decisions(before[""]), spot_decisions(after[""]))

Actions are compared by kind: folds, checks and calls, bets and raises of all sizes together; so different sizes are
comparable. If both tables have the same hands, as before and after a lock, a rule list describes the change itself.
Then the second strategy's EVs give the loss of still playing the first. Otherwise, as on two boards, groups of hands
are compared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.core.tables import SHARE, ReportColumn, ReportTable, none_if_nan
from riverboat.explain.decisions import DecisionTable
from riverboat.explain.explanation import RuleExplanation, explain
from riverboat.explain.fidelity import ev_losses
from riverboat.explain.text import describe_move
from riverboat.strategies.rule_list import CALL, FLAG, FOLD, LEVEL, OTHER, RAISE, RuleAction

ACTION_KINDS = (FOLD, CALL, RAISE)
CHANGE_THRESHOLD = 0.1  # smaller changes of a probability count as the same


@dataclass(frozen=True)
class DecisionComparison:
    """Two strategies side by side; changes are the second less the first.

    Attributes
    ----------
    titles
        Titles of both tables.
    moves
        Frequency of each kind of action in both.
    groups
        Groups of hands, largest changes first.
    distance
        Total variation over the second's hands; None if hands differ.
    ev_gain
        EV of the second less that of playing the first in its place, in `unit`; None if unknown.
    unit
        Unit of EVs.
    change
        Rules for the change; None if hands differ.

    Examples
    --------
    >>> from riverboat.explain.small_game_decisions import small_game_decisions
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.solvers.tabular.cfr import CFR
    >>> from riverboat.trees.compile import compile_game
    >>> solver = CFR(compile_game(kuhn()), "cfr+")
    >>> solver.step(200)
    >>> decisions = small_game_decisions(solver.average(), player=0)
    >>> compare_decisions(decisions, decisions).distance
    0.0
    """

    titles: tuple[str, str]
    moves: ReportTable  # frequency of each kind of action in both
    groups: ReportTable  # groups of hands, largest changes first
    distance: float | None  # total variation over the second's hands; None if hands differ
    ev_gain: float | None  # EV of the second less that of playing the first in its place, in `unit`
    unit: str
    change: RuleExplanation | None  # rules for the change

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary for JSON."""
        return {
            "titles": list(self.titles),
            "moves": list(self.moves),
            "groups": list(self.groups),
            "distance": self.distance,
            "worth": self.ev_gain,
            "unit": self.unit,
            "change": None if self.change is None else self.change.to_dict(),
        }


def compare_decisions(first: DecisionTable, second: DecisionTable, rules: int = 6) -> DecisionComparison:
    """Compare two tables of decisions over the same features.

    Parameters
    ----------
    first
        Table before the change.
    second
        Table after it.
    rules
        Largest number of rules for the change.

    Returns
    -------
    DecisionComparison
        Frequencies, groups of hands, and rules for the change.

    Raises
    ------
    InputError
        If an action is not one of poker.

    Examples
    --------
    >>> from riverboat.explain.small_game_decisions import small_game_decisions
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.solvers.tabular.cfr import CFR
    >>> from riverboat.trees.compile import compile_game
    >>> solver = CFR(compile_game(kuhn()), "cfr+")
    >>> solver.step(200)
    >>> decisions = small_game_decisions(solver.average(), player=0)
    >>> comparison = compare_decisions(decisions, decisions)
    >>> comparison.titles
    ('kuhn, player 0', 'kuhn, player 0')
    """
    legal_kinds = {m.kind for table in (first, second) for k, m in enumerate(table.moves) if table.legal[:, k].any()}
    kinds = [kind for kind in ACTION_KINDS if kind in legal_kinds]
    if any(move.kind == OTHER for move in (*first.moves, *second.moves)):
        raise InputError(f"{first.title} and {second.title}: only poker actions can be compared")
    first_freq, second_freq = (_frequencies_by_kind(table, kinds) for table in (first, second))
    facing_bet = np.array([FOLD in kinds])
    words = [describe_move(RuleAction(kind), facing_bet) for kind in kinds]
    before, after = (first.weight @ first_freq).tolist(), (second.weight @ second_freq).tolist()
    rows = tuple((word, a, b, b - a) for word, a, b in zip(words, before, after, strict=True))
    moves = ReportTable("", (ReportColumn("move"), *_SHARE_COLUMNS), rows)
    same = first.names == second.names
    distance = ev_gain = change = None
    if same:
        distance = float(second.weight @ (0.5 * np.abs(first_freq - second_freq).sum(axis=1)))
        losses = ev_losses(second, first.strategy) if first.moves == second.moves else None
        ev_gain = None if losses is None else float(second.weight @ losses)
        change = explain(_change_table(second, first_freq, second_freq, words), rules, "list")
    groups = _group_table(first, second, first_freq, second_freq, words)
    return DecisionComparison((first.title, second.title), moves, groups, distance, ev_gain, second.unit, change)


_SHARE_COLUMNS = tuple(ReportColumn(name, SHARE) for name in ("first", "second", "change"))


def _frequencies_by_kind(table: DecisionTable, kinds: list[str]) -> Array:
    """Return frequencies by kind of action, all sizes together. float64 [n, kinds]"""
    out = np.zeros((len(table), len(kinds)))
    for k, move in enumerate(table.moves):
        if move.kind in kinds:
            out[:, kinds.index(move.kind)] += table.strategy[:, k]
    return out


def _change_table(second: DecisionTable, one: Array, two: Array, words: list[str]) -> DecisionTable:
    """Build a decision table whose actions are the changes: `the same`, or the kind of action played more often."""
    largest = (two - one).argmax(axis=1)
    increase = (two - one).max(axis=1)
    labels = ("the same", *(f"{word} more often" for word in words))
    column = np.where(increase >= CHANGE_THRESHOLD, largest + 1, 0)
    strategy = (np.arange(len(labels)) == column[:, None]).astype(float)
    used = strategy.any(axis=0)
    moves = tuple(RuleAction(OTHER, 0.0, label) for label, is_used in zip(labels, used, strict=True) if is_used)
    legal = np.ones((len(second), len(moves)), bool)
    unknown: dict[str, Any] = {"action_values": None, "learning_weight": None}
    return replace(second, title="what changes", moves=moves, legal=legal, strategy=strategy[:, used], **unknown)


def _group_table(first: DecisionTable, second: DecisionTable, one: Array, two: Array, words: list[str]) -> ReportTable:
    """Tabulate groups of hands (by level or flag of a feature): both frequencies of the action that changes most."""
    rows = []
    shared = {f.name for f in first.features} & {f.name for f in second.features}
    for feature in (f for f in second.features if f.name in shared and f.kind in (LEVEL, FLAG)):
        values = range(len(feature.levels)) if feature.kind == LEVEL else (1,)
        for value in values:
            in_first, in_second = (table.columns[feature.name] == value for table in (first, second))
            a, b = float(first.weight[in_first].sum()), float(second.weight[in_second].sum())
            if min(a, b) < 0.005:
                continue
            before, after = first.weight[in_first] @ one[in_first] / a, second.weight[in_second] @ two[in_second] / b
            k = int(np.abs(after - before).argmax())
            name = feature.name if feature.kind == FLAG else f"{feature.name}: {feature.levels[value]}"
            change = float(after[k] - before[k])
            rows.append((name, words[k], none_if_nan(float(before[k])), none_if_nan(float(after[k])), change, b))
    rows.sort(key=lambda row: -abs(row[4]) * row[5])
    columns = ReportColumn("hands"), ReportColumn("move"), *_SHARE_COLUMNS, ReportColumn("share", SHARE)
    return ReportTable("", columns, tuple(rows))
