"""Explanation of a strategy: a rule list, its fidelity on held-out decisions, the fidelity curve, and baselines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.core.tables import COUNT, SHARE, Cell, ReportColumn, ReportTable
from riverboat.core.validation import check_name
from riverboat.explain import fidelity, text
from riverboat.explain.decisions import CostFunction, DecisionTable
from riverboat.explain.fidelity import Fidelity
from riverboat.explain.rule_learning import LIST, METHODS, learn_rules
from riverboat.strategies.rule_list import RuleList

RULE_COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100, 200, 300)
NUM_FOLDS = 5
MAX_HELD_OUT_RULES = 30  # longest list for cross-validation, unless the caller requests longer ones
AUTO = "auto"
MIN_HOLDOUT_GROUPS = 40  # least number of groups for cross-validation
ERROR_SLACK = 0.02  # a shorter list may have this much more held-out error, relative to the best


@dataclass(frozen=True)
class RuleExplanation:
    """A rule list for a table of decisions, with its fidelity, costs and texts.

    Attributes
    ----------
    decisions
        The table.
    rules
        The rule list.
    method
        `list` or `tree`, or `given` for a hand-written list.
    fidelity
        Fidelity on all decisions, from which the rules were learned.
    held_out_fidelity
        Fidelity by cross-validation; None if there are too few groups.
    costs
        Costs of playing the rules by name, such as the exploitability.
    fidelity_curve
        Fidelity for several numbers of rules.
    baselines
        Fidelity of three simpler strategies.
    rule_texts
        Rules in words.

    Examples
    --------
    >>> from riverboat.explain.small_game_decisions import small_game_decisions
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.solvers.tabular.cfr import CFR
    >>> from riverboat.trees.compile import compile_game
    >>> solver = CFR(compile_game(kuhn()), "cfr+")
    >>> solver.step(200)
    >>> decisions = small_game_decisions(solver.average(), player=0)
    >>> explanation = explain(decisions, max_rules=3, method="list", rule_counts=(1, 3))
    >>> explanation.rule_texts[0].sentence
    'With J, check or fold 83 % of the time, else bet or raise.'
    """

    decisions: DecisionTable
    rules: RuleList
    method: str
    fidelity: Fidelity  # on all decisions, from which the rules were learned
    held_out_fidelity: Fidelity | None  # by cross-validation; None if there are too few groups
    costs: dict[str, float]  # by name, such as the exploitability
    fidelity_curve: ReportTable
    baselines: ReportTable
    rule_texts: tuple[text.RuleText, ...]

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary for JSON."""
        return {
            "title": self.decisions.title,
            "method": self.method,
            "rules": [rule_text.to_dict() for rule_text in self.rule_texts],
            "list": str(self.rules),
            "seen": self.fidelity.to_dict(),
            "unseen": None if self.held_out_fidelity is None else self.held_out_fidelity.to_dict(),
            "unit": self.decisions.unit,
            "costs": self.costs,
            "dial": list(self.fidelity_curve),
            "baselines": list(self.baselines),
        }


def explain(
    decisions: DecisionTable,
    max_rules: int = 10,
    method: str = AUTO,
    *,
    cost: CostFunction | None = None,
    cost_is_cheap: bool = True,
    rule_counts: Sequence[int] = RULE_COUNTS,
    use_longest: bool = False,
    seed: int = 0,
) -> RuleExplanation:
    """Explain decisions by at most `max_rules` rules.

    Cross-validation over groups of decisions selects the method and the number of rules. With few groups, or with
    `use_longest`, the longest list is taken.

    Parameters
    ----------
    decisions
        Decisions to explain.
    max_rules
        Largest number of rules.
    method
        `list` (exceptions to rules), `tree` (leaves of a decision tree), or `auto`.
    cost
        Function that computes costs of playing another strategy at these decisions, float64 [n, moves].
    cost_is_cheap
        Whether the fidelity curve has costs too.
    rule_counts
        Numbers of rules of the fidelity curve.
    use_longest
        Take the longest list without cross-validation.
    seed
        Seed of the folds.

    Returns
    -------
    RuleExplanation
        Rules, fidelity, costs and texts.

    Raises
    ------
    InputError
        If the method is unknown, or `max_rules` is below 1.

    Examples
    --------
    >>> from riverboat.explain.small_game_decisions import small_game_decisions
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.solvers.tabular.cfr import CFR
    >>> from riverboat.trees.compile import compile_game
    >>> solver = CFR(compile_game(kuhn()), "cfr+")
    >>> solver.step(200)
    >>> decisions = small_game_decisions(solver.average(), player=0)
    >>> explanation = explain(decisions, max_rules=3, method="list", rule_counts=(1, 3))
    >>> round(explanation.fidelity.agreement, 3), len(explanation.rules)
    (1.0, 3)
    """
    check_name("method", method, (AUTO, *METHODS))
    if max_rules < 1:
        raise InputError(f"{max_rules} rules: must be at least 1")
    methods = METHODS if method == AUTO else (method,)
    sizes = sorted({*rule_counts, max_rules})
    held_out = len(np.unique(decisions.group)) >= MIN_HOLDOUT_GROUPS and not use_longest
    small_sizes = [n for n in sizes if n <= max_rules]
    predictions: dict[tuple[str, int], Array] = {}
    for candidate in methods if held_out else ():
        # A tree is fitted anew for every size, and long lists add detail that is never selected.
        counts = [n for n in sizes if n <= max(max_rules, MAX_HELD_OUT_RULES)] if candidate == LIST else small_sizes
        held_out_strategies = _held_out_predictions(decisions, counts, candidate, seed)
        predictions |= {(candidate, n): strategy for n, strategy in held_out_strategies.items()}
    if held_out:
        chosen, size = _choose_by_holdout(decisions, predictions, small_sizes)
    else:
        chosen, size = _choose_without_holdout(methods, decisions, max_rules), max_rules
    lists = learn_rules(decisions, sizes, chosen)
    held_out_by_size = {n: predictions.get((chosen, n)) for n in sizes}
    curve = _fidelity_curve(decisions, lists, held_out_by_size, cost if cost_is_cheap else None)
    explanation = _make_explanation(decisions, sort_by_value(lists[size], decisions), chosen, curve, cost)
    if not held_out:
        return explanation
    return replace(explanation, held_out_fidelity=fidelity.strategy_fidelity(decisions, predictions[chosen, size]))


def _make_explanation(
    decisions: DecisionTable, rules: RuleList, method: str, curve: ReportTable, cost: CostFunction | None
) -> RuleExplanation:
    """Measure and describe a rule list; the held-out fidelity is left out."""
    measured = fidelity.rule_fidelity(decisions, rules)
    costs = {} if cost is None else cost(decisions.rule_strategy(rules))
    baselines, texts = _baseline_table(decisions, cost), text.describe_rules(decisions, rules)
    return RuleExplanation(decisions, rules, method, measured, None, costs, curve, baselines, texts)


def _choose_without_holdout(methods: Sequence[str], decisions: DecisionTable, rules: int) -> str:
    """Choose the method whose list is nearest to the strategy, without cross-validation; ties by fewer tests."""
    if len(methods) == 1:
        return methods[0]
    fidelities = {m: fidelity.rule_fidelity(decisions, learn_rules(decisions, [rules], m)[rules]) for m in methods}
    return min(methods, key=lambda m: (round(fidelities[m].distance, 6), fidelities[m].tests))


def _held_out_predictions(decisions: DecisionTable, sizes: Sequence[int], method: str, seed: int) -> dict[int, Array]:
    """Return the strategies of rule lists at held-out decisions. float64 [n, moves] for each number of rules"""
    folds = decisions.cross_validation_folds(NUM_FOLDS, seed)
    out = {n: np.zeros_like(decisions.strategy) for n in sizes}
    for fold in range(int(folds.max()) + 1):
        held_out = folds == fold
        for n, rules in learn_rules(decisions.take(~held_out), sizes, method).items():
            columns = {name: x[held_out] for name, x in decisions.columns.items()}
            out[n][held_out] = rules.action_probabilities(columns, decisions.moves, decisions.legal[held_out])
    return out


def _choose_by_holdout(
    decisions: DecisionTable, held_out: dict[tuple[str, int], Array], sizes: Sequence[int]
) -> tuple[str, int]:
    """Choose the method and length with the least squared held-out error, or a shorter list that is nearly as good."""
    w = decisions.weight
    error = {
        key: float(w @ ((prediction - decisions.strategy) ** 2).sum(axis=1))
        for key, prediction in held_out.items()
        if key[1] in sizes
    }
    best = min(error.values())
    acceptable = [key for key, value in error.items() if value <= best * (1 + ERROR_SLACK)]
    return min(acceptable, key=lambda key: (key[1], error[key]))


# --- Fidelity curve and baselines ---

_FIDELITY_COLUMNS = (
    ReportColumn("agreement", SHARE), ReportColumn("unseen", SHARE), ReportColumn("distance", SHARE),
    ReportColumn("tests", COUNT, rank=2),
)  # fmt: skip


def _fidelity_curve(
    decisions: DecisionTable, lists: dict[int, RuleList], held_out: dict[int, Array | None], cost: CostFunction | None
) -> ReportTable:
    rows, names = [], []
    lengths = {len(measured): n for n, measured in sorted(lists.items(), reverse=True)}
    for length, n in sorted(lengths.items()):
        measured = fidelity.rule_fidelity(decisions, lists[n])
        prediction = held_out[n]
        unseen = None if prediction is None else fidelity.strategy_fidelity(decisions, prediction).agreement
        costs = _cost_columns(measured, cost, decisions.rule_strategy(lists[n]))
        names = list(costs)
        rows.append((float(length), measured.agreement, unseen, measured.distance, measured.tests, *costs.values()))
    columns = ReportColumn("rules", COUNT), *_FIDELITY_COLUMNS, *(ReportColumn(name, COUNT) for name in names)
    return ReportTable("", columns, tuple(rows))


def _cost_columns(measured: Fidelity, cost: CostFunction | None, strategy: Array) -> dict[str, Cell]:
    lost: dict[str, Cell] = {} if measured.ev_lost is None else {"ev_lost": measured.ev_lost}
    return lost | ({} if cost is None else cost(strategy))


def _baseline_table(decisions: DecisionTable, cost: CostFunction | None) -> ReportTable:
    """Measure three baselines: one mix everywhere, the best threshold of one feature, and the purified strategy."""
    rows, names = [], []
    strategies = {"the same everywhere": decisions.rule_strategy(learn_rules(decisions, [1])[1])}
    threshold = _best_threshold_rule(decisions)
    if threshold is not None:
        name = threshold.rules[0].tests[0].feature.name
        strategies[f"a threshold of {name}"] = decisions.rule_strategy(threshold)
    strategies["purified"] = fidelity.purify_decisions(decisions)
    for name, strategy in strategies.items():
        measured = fidelity.strategy_fidelity(decisions, strategy)
        costs = _cost_columns(measured, cost, strategy)
        names = list(costs)
        rows.append((name, measured.agreement, measured.distance, *costs.values()))
    columns = ReportColumn("instead"), ReportColumn("agreement", SHARE), ReportColumn("distance", SHARE)
    return ReportTable("", (*columns, *(ReportColumn(name, COUNT) for name in names)), tuple(rows))


THRESHOLD_FEATURES = ("equity", "strength", "card", "hand")  # the first available one


def _best_threshold_rule(decisions: DecisionTable) -> RuleList | None:
    feature = next((f for name in THRESHOLD_FEATURES for f in decisions.features if f.name == name), None)
    if feature is None:
        return None
    rules = learn_rules(replace(decisions, features=(feature,)), [2], max_tests=1)[2]
    return rules if len(rules) == 2 else None


# --- Order of rules ---


def sort_by_value(rules: RuleList, decisions: DecisionTable) -> RuleList:
    """Move the most valuable rules to the front without changing the strategy of the list.

    Parameters
    ----------
    rules
        Rule list.
    decisions
        Decisions that it is measured on.

    Returns
    -------
    RuleList
        The same rules in another order.

    Examples
    --------
    >>> from riverboat.explain.small_game_decisions import small_game_decisions
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.solvers.tabular.cfr import CFR
    >>> from riverboat.trees.compile import compile_game
    >>> solver = CFR(compile_game(kuhn()), "cfr+")
    >>> solver.step(200)
    >>> decisions = small_game_decisions(solver.average(), player=0)
    >>> rules = learn_rules(decisions, [3])[3]
    >>> len(sort_by_value(rules, decisions)) == len(rules)
    True
    """
    order = list(rules.rules[:-1])
    values = {id(rule): value for rule, value in zip(order, fidelity.rule_values(decisions, rules), strict=True)}
    hits = {id(rule): (decisions.weight > 0) & decisions.rows_where(rule.tests) for rule in order}
    swapped = True
    while swapped:
        swapped = False
        for k in range(len(order) - 1):
            first, second = order[k], order[k + 1]
            can_swap = first.mix == second.mix or not (hits[id(first)] & hits[id(second)]).any()
            if can_swap and values[id(second)] > values[id(first)] + 1e-12:
                order[k], order[k + 1], swapped = second, first, True
    return RuleList(rules.features, (*order, rules.rules[-1]))


def evaluate_rules(rules: RuleList, decisions: DecisionTable, cost: CostFunction | None = None) -> RuleExplanation:
    """Evaluate a hand-written rule list on decisions like a learned one.

    Parameters
    ----------
    rules
        Rule list over the features of the table.
    decisions
        Decisions that it is measured on.
    cost
        Function that computes costs of playing a strategy at these decisions.

    Returns
    -------
    RuleExplanation
        Fidelity, costs and texts of the list.

    Examples
    --------
    >>> from riverboat.explain.small_game_decisions import small_game_decisions
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.solvers.tabular.cfr import CFR
    >>> from riverboat.trees.compile import compile_game
    >>> solver = CFR(compile_game(kuhn()), "cfr+")
    >>> solver.step(200)
    >>> decisions = small_game_decisions(solver.average(), player=0)
    >>> evaluate_rules(learn_rules(decisions, [1])[1], decisions).method
    'given'
    """
    curve = _fidelity_curve(decisions, {len(rules): rules}, {len(rules): None}, cost)
    return _make_explanation(decisions, rules, "given", curve, cost)
