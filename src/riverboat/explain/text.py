"""Rules as sentences, with examples and exceptions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from riverboat.core.arrays import Array
from riverboat.explain import fidelity
from riverboat.explain.decisions import DecisionTable
from riverboat.strategies import rule_list
from riverboat.strategies.rule_list import DecisionRule, FeatureCondition, RuleAction, RuleList

MAX_EXAMPLES, MAX_EXCEPTIONS = 3, 2
SIZE_TOLERANCE = 0.05  # relative tolerance of the names of sizes
MIN_EXCEPTION_DISTANCE = 0.1  # least distance of an exception
POT_FRACTION_NAMES = {
    0.25: "a quarter of the pot", 0.33: "a third of the pot", 0.5: "half the pot", 0.67: "two thirds of the pot",
    0.75: "three quarters of the pot", 1.0: "the pot", 1.5: "one and a half pots", 2.0: "twice the pot",
}  # fmt: skip


@dataclass(frozen=True)
class RuleText:
    """A rule in words, with its share, agreement, value, examples and exceptions.

    Attributes
    ----------
    rule
        The rule in the notation of rule lists.
    sentence
        The rule as a sentence.
    share
        Share of the decisions that it decides.
    agreement
        Agreement on those decisions.
    worth
        Loss without the rule: EV where known, else distance; None for the last rule.
    examples
        Names of typical decisions.
    exceptions
        Names of decisions where the rule is far from the strategy.

    Examples
    --------
    >>> RuleText("otherwise: call", "Always, check.", 1.0, 1.0, None, (), ()).sentence
    'Always, check.'
    """

    rule: str  # in the notation of rule lists
    sentence: str
    share: float  # of the decisions that the rule decides
    agreement: float  # on those decisions
    worth: float | None  # loss without the rule: EV where known, else distance; None for the last rule
    examples: tuple[str, ...]
    exceptions: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary for JSON."""
        return dict(vars(self))


def describe_rules(decisions: DecisionTable, rules: RuleList) -> tuple[RuleText, ...]:
    """Describe every rule in words.

    Parameters
    ----------
    decisions
        Decisions of the rules.
    rules
        Rule list.

    Returns
    -------
    tuple of RuleText
        One for each rule.

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
    >>> describe_rules(decisions, learn_rules(decisions, [3])[3])[0].sentence
    'With J, check or fold 83 % of the time, else bet or raise.'
    """
    which = rules.deciding_rules(decisions.columns, len(decisions))
    strategy = decisions.rule_strategy(rules)
    agree, lost = fidelity.agreement_mask(decisions, strategy), fidelity.ev_losses(decisions, strategy)
    distances = fidelity.total_variation(decisions, strategy)
    values: list[float | None] = [*fidelity.rule_values(decisions, rules), None]
    out = []
    for index, (rule, value) in enumerate(zip(rules.rules, values, strict=True)):
        rows = np.flatnonzero((which == index) & (decisions.weight > 0))
        weight = decisions.weight[rows]
        share = float(weight.sum())
        sentence = rule_sentence(rule, decisions, rows, len(rules) > 1)
        agreement = float(weight @ agree[rows] / share) if share > 0 else 1.0
        examples, exceptions = _examples(decisions, rows, distances), _exceptions(decisions, rows, distances, lost)
        out.append(RuleText(str(rule), sentence, share, agreement, value, examples, exceptions))
    return tuple(out)


# --- Sentences ---


def rule_sentence(rule: DecisionRule, decisions: DecisionTable, rows: Array, others: bool = True) -> str:
    """Describe a rule as a sentence: `Facing a bet, call with top pair or better.`

    Parameters
    ----------
    rule
        The rule.
    decisions
        Decisions of its list.
    rows
        Indices of the decisions that it decides.
    others
        Whether there are other rules.

    Returns
    -------
    str
        A sentence.

    Examples
    --------
    >>> from riverboat.strategies.rule_list import RuleAction
    >>> from riverboat.explain.small_game_decisions import small_game_decisions
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.solvers.tabular.cfr import CFR
    >>> from riverboat.trees.compile import compile_game
    >>> solver = CFR(compile_game(kuhn()), "cfr+")
    >>> solver.step(200)
    >>> decisions = small_game_decisions(solver.average(), player=0)
    >>> rule_sentence(DecisionRule((), ((RuleAction("call"), 1.0),)), decisions, np.arange(3), others=False)
    'Always, check.'
    """
    parts = {
        subject: _describe_tests([t for t in rule.tests if t.feature.subject == subject])
        for subject in (rule_list.SITUATION, rule_list.BOARD, rule_list.HAND)
    }
    moves = _describe_mix(rule.mix, decisions, rows)
    if not rule.tests:
        return f"{'With everything else' if others else 'Always'}, {moves}."
    opening = ", ".join(parts[rule_list.SITUATION] + parts[rule_list.BOARD])
    hands, text = _join_with_and(parts[rule_list.HAND]), moves
    if hands:
        text = f"{moves} with {hands}" if "of the time" not in moves else f"with {hands}, {moves}"
    text = f"{opening}, {text}" if opening else text
    return f"{text[0].upper()}{text[1:]}."


def _describe_mix(mix: Sequence[tuple[RuleAction, float]], decisions: DecisionTable, row_indices: Array) -> str:
    """Describe a mix: `bet half the pot 60 % of the time, else check`."""
    fold = [k for k, move in enumerate(decisions.moves) if move.kind == rule_list.FOLD]
    faced: Array = np.asarray(decisions.legal[row_indices][:, fold].any(axis=1))
    ordered = sorted(mix, key=lambda part: -part[1])
    names = [(describe_move(move, faced), p) for move, p in ordered if p > 0]
    if len(names) == 1:
        return names[0][0]
    if len(names) == 2:
        return f"{names[0][0]} {_percent(names[0][1])} of the time, else {names[1][0]}"
    return _join_with_and([f"{name} {_percent(p)} of the time" for name, p in names])


def describe_move(move: RuleAction, facing_bet: Array) -> str:
    """Describe an action, such as `check`, `call`, or both, by whether the decisions face a bet.

    Parameters
    ----------
    move
        The action.
    facing_bet
        Whether each decision faces a bet, bool [n].

    Returns
    -------
    str
        Words.

    Examples
    --------
    >>> describe_move(RuleAction("call"), np.array([True, False]))
    'check or call'
    """
    all_face, any_faces = bool(len(facing_bet)) and bool(facing_bet.all()), bool(facing_bet.any())
    if move.kind == rule_list.OTHER:
        return f"play {move.label}"
    without = "bet" if move.kind == rule_list.RAISE else "check"  # the kind is the verb when facing a bet
    verb = move.kind if all_face else f"{without} or {move.kind}" if any_faces else without
    if move.size == inf:
        return "go all-in"
    return verb if move.size == 0 else f"{verb} {describe_size(move.size)}"


def describe_size(size: float) -> str:
    """Describe a share of the pot, such as `half the pot`.

    Parameters
    ----------
    size
        Share of the pot.

    Returns
    -------
    str
        Words.

    Examples
    --------
    >>> describe_size(0.5), describe_size(0.4)
    ('half the pot', '40 % of the pot')
    """
    nearest = min(POT_FRACTION_NAMES, key=lambda f: abs(f - size))
    if abs(nearest - size) <= SIZE_TOLERANCE * nearest:
        return POT_FRACTION_NAMES[nearest]
    return f"{100 * size:.0f} % of the pot"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _join_with_and(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]])) if parts else ""


def _describe_tests(tests: Iterable[FeatureCondition]) -> list[str]:
    """Describe tests, those of one feature together."""
    by_feature: dict[str, list[FeatureCondition]] = {}
    for test in tests:
        by_feature.setdefault(test.feature.name, []).append(test)
    return [_describe_feature_tests(same) for same in by_feature.values()]


def _describe_feature_tests(tests: Sequence[FeatureCondition]) -> str:
    feature = tests[0].feature
    if feature.kind == rule_list.FLAG:
        phrase = feature.phrase_if_true or feature.name
        return phrase if tests[0].wanted else feature.phrase_if_false or f"no {phrase}"
    if feature.kind == rule_list.CHOICE:
        values = [("" if t.wanted else "other than ") + feature.format_value(t.value) for t in tests]
        return _join_with_and([f"{feature.name} {value}" for value in values])
    low = max((t.value for t in tests if t.wanted), default=None)
    high = min((t.value for t in tests if not t.wanted), default=None)
    if feature.kind == rule_list.LEVEL:
        return _describe_levels(feature.levels, feature.phrase_if_true, low, high)
    unit = feature.phrase_if_true or feature.name

    def show(value: float) -> str:
        return _percent(value) if feature.kind == rule_list.SHARE else f"{value:.3g}"

    if low is not None and high is not None:
        return f"{show(low)} to {show(high)} {unit}"
    return f"at least {show(low)} {unit}" if low is not None else f"less than {show(high or 0.0)} {unit}"


def _describe_levels(levels: Sequence[str], before: str, low: float | None, high: float | None) -> str:
    first = 0 if low is None else int(low)
    last = len(levels) - 1 if high is None else int(high) - 1
    lead = f"{before} " if before else ""
    if first == last:
        return f"{lead}{levels[first]}"
    up, down = ("higher", "lower") if all(len(level) <= 2 for level in levels) else ("better", "worse")
    if high is None:
        return f"{lead}{levels[first]} or {up}"
    return f"{lead}{levels[last]} or {down}" if low is None else f"{lead}{levels[first]} to {levels[last]}"


# --- Examples ---


def _examples(decisions: DecisionTable, rows: Array, distances: Array) -> tuple[str, ...]:
    """Return names of typical decisions of a rule: nearest to the rule, then most frequent, from different groups."""
    order = rows[np.lexsort((-decisions.weight[rows], np.round(distances[rows], 1)))]
    return tuple(decisions.names[k] for k in _distinct_groups(decisions, order, MAX_EXAMPLES))


def _exceptions(decisions: DecisionTable, rows: Array, distances: Array, ev_losses: Array | None) -> tuple[str, ...]:
    """Return the decisions where the rule costs most EV (or is farthest from the strategy), with the strategy's mix."""
    cost = distances if ev_losses is None else np.maximum(ev_losses, 0.0)
    order = rows[np.lexsort((-distances[rows], -(decisions.weight * cost)[rows]))]
    chosen = _distinct_groups(decisions, order[distances[order] > MIN_EXCEPTION_DISTANCE], MAX_EXCEPTIONS)
    return tuple(f"{decisions.names[k]} ({_describe_row(decisions, k)})" for k in chosen)


def _distinct_groups(decisions: DecisionTable, order: Array, limit: int) -> list[int]:
    """Return the first decision of each group in the given order, at most `limit` of them."""
    _, first = np.unique(decisions.group[order], return_index=True)
    return [int(k) for k in order[np.sort(first)[:limit]]]


def _describe_row(decisions: DecisionTable, row: int) -> str:
    mix = [(move, float(p)) for move, p in zip(decisions.moves, decisions.strategy[row], strict=True) if p >= 0.01]
    return _describe_mix(mix, decisions, np.array([row]))
