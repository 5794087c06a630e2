"""Fidelity of rules to a strategy, and the EV lost by following them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from riverboat.core.arrays import Array
from riverboat.explain.decisions import DecisionTable
from riverboat.strategies.rule_list import RuleList

PROBABILITY_FLOOR = 1e-3  # smaller probabilities are raised to this one in the Kullback-Leibler divergence
TIE_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Fidelity:
    """Fidelity of a strategy to a table of decisions; shares are 0 to 1, weighted by frequency.

    Attributes
    ----------
    agreement
        Share of decisions with the same most likely action.
    distance
        Mean total variation distance.
    divergence
        Kullback-Leibler divergence, with a floor of probabilities.
    ev_lost
        EV lost per decision against the same opponent, in the unit of the decisions; None if unknown.
    rules
        Number of rules, for a rule list.
    tests
        Average number of tests read for a decision.
    coverage
        Share decided by a rule with tests.

    Examples
    --------
    >>> Fidelity(0.9, 0.1, 0.02).to_dict()["agreement"]
    0.9
    """

    agreement: float  # share of decisions with the same most likely action
    distance: float  # total variation distance
    divergence: float  # Kullback-Leibler divergence, with a floor
    ev_lost: float | None = None  # per decision, against the same opponent, in the unit of the decisions
    rules: int = 0
    tests: float = 0.0  # average number of tests read for a decision
    coverage: float = 0.0  # share decided by a rule with tests

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary for JSON."""
        return asdict(self)


def agreement_mask(decisions: DecisionTable, strategy: Array) -> Array:
    """Whether the most likely action is one of the strategy's most likely actions, by decision. bool [n]

    Parameters
    ----------
    decisions
        Reference strategy.
    strategy
        Strategy to compare, float64 [n, moves].

    Returns
    -------
    Array
        Mask of decisions that agree, bool [n].

    Examples
    --------
    >>> from riverboat.explain.small_game_decisions import small_game_decisions
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.solvers.tabular.cfr import CFR
    >>> from riverboat.trees.compile import compile_game
    >>> solver = CFR(compile_game(kuhn()), "cfr+")
    >>> solver.step(200)
    >>> decisions = small_game_decisions(solver.average(), player=0)
    >>> bool(agreement_mask(decisions, decisions.strategy).all())
    True
    """
    choice = np.where(decisions.legal, strategy, -1.0).argmax(axis=1)
    reference = decisions.strategy
    return np.asarray(reference[np.arange(len(reference)), choice] >= reference.max(axis=1) - TIE_TOLERANCE)


def total_variation(decisions: DecisionTable, strategy: Array) -> Array:
    """Return the total variation distance of each decision. float64 [n]

    Parameters
    ----------
    decisions
        Reference strategy.
    strategy
        Strategy to compare, float64 [n, moves].

    Returns
    -------
    Array
        Distances from 0 to 1.

    Examples
    --------
    >>> from riverboat.explain.small_game_decisions import small_game_decisions
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.solvers.tabular.cfr import CFR
    >>> from riverboat.trees.compile import compile_game
    >>> solver = CFR(compile_game(kuhn()), "cfr+")
    >>> solver.step(200)
    >>> decisions = small_game_decisions(solver.average(), player=0)
    >>> float(total_variation(decisions, decisions.strategy).max())
    0.0
    """
    return np.asarray(0.5 * np.abs(decisions.strategy - strategy).sum(axis=1))


def ev_losses(decisions: DecisionTable, strategy: Array) -> Array | None:
    """Return the EV lost at each decision, or None if EVs are unknown. float64 [n]

    Parameters
    ----------
    decisions
        Reference strategy, with the EVs of its actions.
    strategy
        Strategy to compare, float64 [n, moves].

    Returns
    -------
    Array or None
        EV lost in the unit of the decisions.

    Examples
    --------
    >>> from riverboat.explain.small_game_decisions import small_game_decisions
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.solvers.tabular.cfr import CFR
    >>> from riverboat.trees.compile import compile_game
    >>> solver = CFR(compile_game(kuhn()), "cfr+")
    >>> solver.step(200)
    >>> decisions = small_game_decisions(solver.average(), player=0)
    >>> ev_losses(decisions, decisions.strategy) is None
    True
    """
    if decisions.action_values is None:
        return None
    values = np.where(decisions.legal, decisions.action_values, 0.0)
    return np.asarray(((decisions.strategy - strategy) * values).sum(axis=1))


def strategy_fidelity(decisions: DecisionTable, strategy: Array) -> Fidelity:
    """Measure the fidelity of any strategy.

    Parameters
    ----------
    decisions
        Reference strategy.
    strategy
        Strategy to compare, float64 [n, moves].

    Returns
    -------
    Fidelity
        Agreement, distances and EV lost.

    Examples
    --------
    >>> from riverboat.explain.small_game_decisions import small_game_decisions
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.solvers.tabular.cfr import CFR
    >>> from riverboat.trees.compile import compile_game
    >>> solver = CFR(compile_game(kuhn()), "cfr+")
    >>> solver.step(200)
    >>> decisions = small_game_decisions(solver.average(), player=0)
    >>> strategy_fidelity(decisions, decisions.strategy).distance
    0.0
    """
    w, lost = decisions.weight, ev_losses(decisions, strategy)
    floored = (np.maximum(x, PROBABILITY_FLOOR) * decisions.legal for x in (decisions.strategy, strategy))
    p, q = (x / x.sum(axis=1, keepdims=True) for x in floored)
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = np.where(p > 0, p * np.log(p / q), 0.0).sum(axis=1)
    return Fidelity(
        float(w @ agreement_mask(decisions, strategy)),
        float(w @ total_variation(decisions, strategy)),
        float(w @ divergence),
        None if lost is None else float(w @ lost),
    )


def rule_fidelity(decisions: DecisionTable, rules: RuleList) -> Fidelity:
    """Measure the fidelity of a rule list.

    Parameters
    ----------
    decisions
        Reference strategy.
    rules
        Rule list over the features of the table.

    Returns
    -------
    Fidelity
        With the number of rules and tests, and the share that rules with tests decide.

    Examples
    --------
    >>> from riverboat.explain.small_game_decisions import small_game_decisions
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.solvers.tabular.cfr import CFR
    >>> from riverboat.trees.compile import compile_game
    >>> solver = CFR(compile_game(kuhn()), "cfr+")
    >>> solver.step(200)
    >>> decisions = small_game_decisions(solver.average(), player=0)
    >>> from riverboat.explain.rule_learning import learn_rules
    >>> rule_fidelity(decisions, learn_rules(decisions, [3])[3]).rules
    3
    """
    measured = strategy_fidelity(decisions, decisions.rule_strategy(rules))
    which = rules.deciding_rules(decisions.columns, len(decisions))
    return replace(
        measured,
        rules=len(rules),
        tests=float(decisions.weight @ rules.num_tests_evaluated(decisions.columns, len(decisions))),
        coverage=float(decisions.weight @ (which < len(rules) - 1)),
    )


def purify_decisions(decisions: DecisionTable) -> Array:
    """Return the purified strategy: the most likely action only, the first on ties. float64 [n, moves]

    Parameters
    ----------
    decisions
        Reference strategy.

    Returns
    -------
    Array
        Probabilities 0 and 1.

    Examples
    --------
    >>> from riverboat.explain.small_game_decisions import small_game_decisions
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.solvers.tabular.cfr import CFR
    >>> from riverboat.trees.compile import compile_game
    >>> solver = CFR(compile_game(kuhn()), "cfr+")
    >>> solver.step(200)
    >>> decisions = small_game_decisions(solver.average(), player=0)
    >>> purify_decisions(decisions)[0]
    array([1., 0., 0.])
    """
    best = decisions.strategy.argmax(axis=1)
    return np.asarray((np.arange(len(decisions.moves)) == best[:, None]).astype(float))


def rule_values(decisions: DecisionTable, rules: RuleList) -> list[float]:
    """Return the value of each rule but the last: the increase of the cost without it.

    The cost is EV lost, or the distance to the strategy where EVs are unknown.

    Parameters
    ----------
    decisions
        Reference strategy.
    rules
        Rule list over the features of the table.

    Returns
    -------
    list of float
        Value of each rule but the last.

    Examples
    --------
    >>> from riverboat.explain.small_game_decisions import small_game_decisions
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.solvers.tabular.cfr import CFR
    >>> from riverboat.trees.compile import compile_game
    >>> solver = CFR(compile_game(kuhn()), "cfr+")
    >>> solver.step(200)
    >>> decisions = small_game_decisions(solver.average(), player=0)
    >>> from riverboat.explain.rule_learning import learn_rules
    >>> len(rule_values(decisions, learn_rules(decisions, [3])[3]))
    2
    """

    def cost(candidate: RuleList) -> float:
        faithful = rule_fidelity(decisions, candidate)
        return faithful.distance if faithful.ev_lost is None else faithful.ev_lost

    base = cost(rules)
    lists = [RuleList(rules.features, rules.rules[:k] + rules.rules[k + 1 :]) for k in range(len(rules) - 1)]
    return [cost(shorter) - base for shorter in lists]
