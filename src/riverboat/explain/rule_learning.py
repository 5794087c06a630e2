"""Rule lists learned from decisions: by exceptions to rules, or from the leaves of a decision tree.

*Exceptions*: start with one mix (action probabilities) for all decisions. In each step find the rule and the
conjunction of a few tests for which an exception before that rule reduces the error most; its rows get a mix of their
own. Every step adds one rule, so one run gives lists of all lengths. Such lists are decision lists (Rivest 1987).

*Trees*: scikit-learn grows a tree of n leaves for all actions at once; its leaves become rules, without redundant
tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.core.validation import check_name
from riverboat.explain.decisions import DecisionTable
from riverboat.strategies import rule_list
from riverboat.strategies.rule_list import DecisionFeature, DecisionRule, FeatureCondition, RuleAction, RuleList

# --- Candidate tests and best mixes ---

QUANTILES = 20  # candidate thresholds of a feature with many values
MAX_LEVELS = 60  # candidate values of a categorical or ordinal feature
MIN_ACTION_SHARE = 0.005  # a rule leaves out less frequent actions
MISMATCH_PENALTY = 0.3  # weight of a different most likely action, relative to the squared distance


def _candidate_conditions(decisions: DecisionTable) -> list[FeatureCondition]:
    """List all single tests that split the decisions, each with its negation."""
    tests = []
    for feature in decisions.features:
        x = decisions.columns[feature.name]
        for value in _threshold_values(feature, x, decisions.weight):
            test = FeatureCondition(feature, value)
            hit = test.holds(decisions.columns)
            if hit.any() and not hit.all():
                tests += [test, test._replace(wanted=False)]
    return tests


def _threshold_values(feature: DecisionFeature, x: Array, weight: Array) -> list[float]:
    if feature.kind == rule_list.FLAG:
        return [0.5]
    values, inverse = np.unique(x, return_inverse=True)
    if feature.kind in (rule_list.LEVEL, rule_list.CHOICE):
        # Of many values, use the most frequent ones.
        most_frequent = np.argsort(-np.bincount(inverse, weight), kind="stable")[:MAX_LEVELS]
        # Other features separate the lowest level from a missing one: the street for the made hand before the flop.
        lowest = 0 if feature.kind == rule_list.CHOICE else 1
        return sorted(v for v in values[most_frequent].tolist() if v >= lowest)
    if len(values) <= QUANTILES:
        thresholds = values[1:].tolist()
    else:
        order = np.argsort(x, kind="stable")
        at = np.searchsorted(np.cumsum(weight[order]), np.arange(1, QUANTILES) / QUANTILES * weight.sum())
        thresholds = x[order][np.minimum(at, len(x) - 1)].tolist()
    step = 0.01 if feature.kind == rule_list.SHARE else _rounding_step(float(np.ptp(x)))
    return sorted({round(round(v / step) * step, 10) for v in thresholds})


def _rounding_step(spread: float) -> float:
    """Return the rounding step of thresholds: 1, 2 or 5 times a power of ten, about a hundredth of the spread."""
    if not spread > 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(spread / 100))
    return float(min((1, 2, 5, 10), key=lambda k: abs(k * power - spread / 100)) * power)


class _MixStatistics:
    """Sufficient statistics of decisions for fitting a mix: sums over a rule's rows give its best mix and the error.

    The error is the squared distance, plus a penalty where the most likely action differs. An action counts only where
    it is legal. The call is left out: it takes the remaining probability and that of illegal actions, so its distance
    follows from the others.
    """

    def __init__(self, decisions: DecisionTable) -> None:
        n, sample_weight, self.moves = len(decisions), decisions.sample_weight, decisions.moves
        self.call_column = decisions.call_column
        self.columns = np.array([k for k in range(len(self.moves)) if k != self.call_column])  # all actions but call
        # distinct sets of legal actions: bool [patterns, moves]
        self.legal_patterns, pattern = np.unique(decisions.legal, axis=0, return_inverse=True)
        legal_weight = decisions.legal[:, self.columns] * sample_weight[:, None]
        y = decisions.strategy[:, self.columns]
        likely = np.zeros((n, len(self.legal_patterns), len(self.moves)))
        likely[np.arange(n), pattern.ravel(), decisions.strategy.argmax(axis=1)] = sample_weight
        # float64 [n, numbers]: weight × (1, probability, probability²) of each column where it is legal,
        # then for each legal pattern and each action the weight where it is the most likely one
        parts = [legal_weight, legal_weight * y, legal_weight * y * y, likely.reshape(n, -1)]
        self.row_statistics = np.concatenate(parts, axis=1)

    def best_mix(self, sums: Array) -> Array:
        """Return the mix of a rule: mean probabilities over rows where an action is legal, scaled to sum to one.

        float64 [..., moves]
        """
        k = len(self.columns)
        legal_weight, played_weight = sums[..., :k], sums[..., k : 2 * k]
        mean = np.where(legal_weight > 1e-15, played_weight / np.maximum(legal_weight, 1e-15), 0.0)
        total = mean.sum(axis=-1, keepdims=True)
        out = np.zeros((*sums.shape[:-1], len(self.moves)))
        out[..., self.columns] = mean / np.maximum(total, 1e-15 if self.call_column is None else 1.0)
        if self.call_column is not None:
            out[..., self.call_column] = np.maximum(1.0 - out.sum(axis=-1), 0.0)
        return out

    def loss(self, sums: Array) -> Array:
        """Return the error of the best mix. sums: sums of `row_statistics` [..., numbers]; returns float64 [...]"""
        k = len(self.columns)
        mix = self.best_mix(sums)
        m = mix[..., self.columns]
        error = (sums[..., 2 * k : 3 * k] - 2 * m * sums[..., k : 2 * k] + m * m * sums[..., :k]).sum(axis=-1)
        flat = mix.reshape(-1, len(self.moves))
        likely = sums[..., 3 * k :].reshape(-1, len(self.legal_patterns), len(self.moves))
        mismatch = likely.sum(axis=(1, 2))
        for pattern, legal in enumerate(self.legal_patterns):
            strategy = rule_list.replace_illegal_moves(flat, self.moves, np.broadcast_to(legal, flat.shape))
            mismatch = mismatch - likely[np.arange(len(flat)), pattern, strategy.argmax(axis=1)]
        return np.asarray(np.maximum(error, 0.0) + MISMATCH_PENALTY * np.maximum(mismatch, 0.0).reshape(error.shape))

    def labeled_mix(self, sums: Array) -> tuple[tuple[RuleAction, float], ...]:
        """Return the mix as pairs of action and probability, without rare actions."""
        shares = self.best_mix(sums)
        shares = np.where(shares < MIN_ACTION_SHARE, 0.0, shares)
        shares = shares / shares.sum() if shares.sum() > 0 else np.full(len(shares), 1 / len(shares))
        return tuple((move, float(p)) for move, p in zip(self.moves, shares, strict=True) if p > 0)


LIST, TREE = "list", "tree"
METHODS = (LIST, TREE)
MAX_TESTS = 3  # most tests that one exception adds
MAX_TESTS_PER_RULE = 5
BEAM_WIDTH = 6
MIN_RULE_SHARE = 0.01  # least share of the weight that a rule decides, with many decisions
LONG_LIST_LENGTH = 20  # longer lists may have rules for small shares
DETAIL_RULE_SHARE = 0.0005
MANY_DECISIONS = 50
TEST_PENALTY = 0.003  # least gain of one more test, relative to the initial error


def learn_rules(
    decisions: DecisionTable, sizes: Sequence[int], method: str = LIST, *, max_tests: int = MAX_TESTS
) -> dict[int, RuleList]:
    """Learn rule lists: for each number of rules, a list of at most that length.

    Parameters
    ----------
    decisions
        Decisions to learn from.
    sizes
        Numbers of rules, at least 1.
    method
        `list`: exceptions to rules, one at a time; `tree`: leaves of a decision tree (needs scikit-learn).
    max_tests
        Largest number of tests that one exception adds.

    Returns
    -------
    dict of RuleList
        By number of rules.

    Raises
    ------
    InputError
        If a number is below 1, the method is unknown, or scikit-learn is missing.

    References
    ----------
    .. [1] Rivest, "Learning decision lists", Machine Learning 1987.

    Examples
    --------
    >>> from riverboat.explain.small_game_decisions import small_game_decisions
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.solvers.tabular.cfr import CFR
    >>> from riverboat.trees.compile import compile_game
    >>> solver = CFR(compile_game(kuhn()), "cfr+")
    >>> solver.step(200)
    >>> decisions = small_game_decisions(solver.average(), player=0)
    >>> {n: len(rules) for n, rules in learn_rules(decisions, [1, 3]).items()}
    {1: 1, 3: 3}
    """
    if not sizes or min(sizes) < 1:
        raise InputError(f"{min(sizes, default=0)} rules: must be at least 1")
    check_name("method", method, METHODS)
    if method == TREE:
        return {n: _learn_tree(decisions, n) for n in sizes}
    grown = _learn_exceptions(decisions, max(sizes), max_tests)
    lists = {n: grown[min(n, len(grown)) - 1] for n in sizes}
    return {
        n: rules if len(rules) > LONG_LIST_LENGTH else _simplify_rules(rules, decisions) for n, rules in lists.items()
    }


# --- Exceptions ---


class _PartialRule(NamedTuple):
    """A rule under construction: its tests, and the rows that it decides."""

    tests: tuple[int, ...]
    rows: Array  # int64


class _RuleSplit(NamedTuple):
    """An exception to a rule: a conjunction of tests, with the rows of the rule that it takes."""

    gain: float  # decrease of the error
    score: float  # gain less the penalty of its tests
    tests: tuple[int, ...]
    rows: Array  # bool, by row of the rule


def _learn_exceptions(decisions: DecisionTable, max_rules: int, max_tests: int) -> list[RuleList]:
    search = _ExceptionSearch(decisions, max_tests)

    def make_list(parts: Sequence[_PartialRule]) -> RuleList:
        rules = []
        for part in parts:
            mix = search.sums.labeled_mix(search.sums.row_statistics[part.rows].sum(axis=0))
            rules.append(DecisionRule(remove_implied_tests([search.tests[k] for k in part.tests]), mix))
        return RuleList(decisions.features, tuple(rules))

    parts = [_PartialRule((), np.arange(len(decisions)))]
    splits = [search.best_split(parts[0])]
    lists = [make_list(parts)]
    while len(lists) < max_rules:
        best = max(range(len(parts)), key=lambda k: splits[k].gain)
        split, part = splits[best], parts[best]
        if not search.allows_small_rules and (len(parts) == LONG_LIST_LENGTH or not split.gain > search.min_gain):
            search.min_weight = DETAIL_RULE_SHARE * search.min_weight / MIN_RULE_SHARE
            search.allows_small_rules = True
            splits = [search.best_split(part) for part in parts]
            continue
        if not split.gain > search.min_gain:
            break
        parts[best : best + 1] = [
            _PartialRule((*part.tests, *split.tests), part.rows[split.rows]),
            _PartialRule(part.tests, part.rows[~split.rows]),
        ]
        splits[best : best + 1] = [search.best_split(parts[best]), search.best_split(parts[best + 1])]
        lists.append(make_list(parts))
    return lists


class _ExceptionSearch:
    """Beam search for the conjunction of tests with the largest gain as an exception."""

    def __init__(self, decisions: DecisionTable, max_tests: int) -> None:
        self.weight, self.max_tests, self.tests = decisions.sample_weight, max_tests, _candidate_conditions(decisions)
        hits = [test.holds(decisions.columns) for test in self.tests]
        self.hits = np.array(hits, np.float64).reshape(len(hits), len(decisions))
        self.efforts = np.array([test.feature.effort for test in self.tests])
        self.allows_small_rules = len(decisions) <= MANY_DECISIONS
        self.min_weight = 1e-15 if self.allows_small_rules else max(MIN_RULE_SHARE * self.weight.sum(), 1e-15)
        self.sums = sums = _MixStatistics(decisions)
        first = float(sums.loss(sums.row_statistics.sum(axis=0)))
        self.test_penalty, self.min_gain = TEST_PENALTY * first, 1e-9 * first

    def best_split(self, part: _PartialRule) -> _RuleSplit:
        """Return the best exception to a rule; its gain is zero if there is none."""
        table = np.concatenate([self.sums.row_statistics[part.rows], self.weight[part.rows, None]], axis=1)
        hits, total = self.hits[:, part.rows], table.sum(axis=0)
        loss_before = float(self.sums.loss(total[:-1]))
        split = _RuleSplit(0.0, -np.inf, (), np.zeros(len(part.rows), bool))
        beam = [_RuleSplit(0.0, 0.0, (), np.ones(len(part.rows), bool))]
        for _ in range(min(self.max_tests, MAX_TESTS_PER_RULE - len(part.tests)) if loss_before > 1e-12 else 0):
            extended: dict[frozenset[int], _RuleSplit] = {}
            for candidate in beam:
                inside = hits[:, candidate.rows] @ table[candidate.rows]
                gain = loss_before - self.sums.loss(inside[:, :-1]) - self.sums.loss((total - inside)[:, :-1])
                large_enough = (inside[:, -1] >= self.min_weight) & (total[-1] - inside[:, -1] >= self.min_weight)
                score = gain - self.test_penalty * (self.efforts + self.efforts[list(candidate.tests)].sum())
                score = np.where(large_enough & (gain > self.min_gain), score, -np.inf)
                for k in np.argsort(-score, kind="stable")[:BEAM_WIDTH].tolist():
                    if score[k] > -np.inf and k not in candidate.tests:
                        rows = candidate.rows & (hits[k] > 0)
                        new = _RuleSplit(float(gain[k]), float(score[k]), (*candidate.tests, k), rows)
                        extended.setdefault(frozenset(new.tests), new)
            beam = sorted(extended.values(), key=lambda new: -new.score)[:BEAM_WIDTH]
            if beam and beam[0].score > split.score:
                split = beam[0]
        return split


# --- Trees ---


def _learn_tree(decisions: DecisionTable, leaves: int) -> RuleList:
    """Learn a decision tree and convert its leaves to rules, the heaviest leaf last as the default."""
    if leaves == 1:
        return _fit_mixes((), decisions)
    try:
        from sklearn.tree import DecisionTreeRegressor
    except ImportError:
        problem = "the method tree needs scikit-learn: pip install riverboat[explain]; or use the method list"
        raise InputError(problem) from None
    weight = decisions.sample_weight
    x, conditions = _feature_matrix(decisions)
    min_share = MIN_RULE_SHARE if len(decisions) > MANY_DECISIONS else 0.0
    targets = np.where(decisions.legal, decisions.strategy, 0.0)
    tree = DecisionTreeRegressor(max_leaf_nodes=leaves, min_weight_fraction_leaf=min_share, random_state=0)
    tree.fit(x, targets, sample_weight=weight)
    grown, leaf_of_row = tree.tree_, tree.apply(x)
    paths: dict[int, tuple[FeatureCondition, ...]] = {}

    def descend(node: int, path: tuple[FeatureCondition, ...]) -> None:
        if grown.children_left[node] < 0:
            paths[node] = path
            return
        test = _round_threshold(conditions[int(grown.feature[node])], float(grown.threshold[node]), decisions)
        descend(int(grown.children_left[node]), (*path, test._replace(wanted=not test.wanted)))
        descend(int(grown.children_right[node]), (*path, test))

    descend(0, ())
    sizes = {leaf: float(weight[leaf_of_row == leaf].sum()) for leaf in paths}
    order = sorted(paths, key=sizes.__getitem__)
    return _fit_mixes([_prune_tests(paths[leaf], decisions, leaf_of_row == leaf) for leaf in order[:-1]], decisions)


def _feature_matrix(decisions: DecisionTable) -> tuple[Array, list[FeatureCondition]]:
    """Encode features for scikit-learn, with the condition of each column; a choice has one column for each value."""
    columns, conditions = [], []
    for feature in decisions.features:
        x = decisions.columns[feature.name]
        values = np.unique(x).tolist() if feature.kind == rule_list.CHOICE else [0.0]
        for value in values:
            columns.append((x == value).astype(float) if feature.kind == rule_list.CHOICE else x)
            conditions.append(FeatureCondition(feature, value))
    return np.stack(columns, axis=1), conditions


def _round_threshold(test: FeatureCondition, threshold: float, decisions: DecisionTable) -> FeatureCondition:
    """Convert a split to a condition with a round threshold."""
    if test.feature.kind == rule_list.CHOICE:
        return test
    x = decisions.columns[test.feature.name]
    lowest_above, highest_below = float(x[x > threshold].min()), float(x[x <= threshold].max())
    if test.feature.kind == rule_list.LEVEL or lowest_above.is_integer():
        return test._replace(value=lowest_above)
    rounded = (round(0.5 * (lowest_above + highest_below), digits) for digits in range(8))
    # The roundest number that splits the same rows.
    return test._replace(value=next((v for v in rounded if highest_below < v <= lowest_above), lowest_above))


def _prune_tests(
    tests: tuple[FeatureCondition, ...], decisions: DecisionTable, rows: Array
) -> tuple[FeatureCondition, ...]:
    """Drop tests without which the others still select exactly these rows. rows: bool [n]"""
    remaining = list(dict.fromkeys(tests))
    for test in tuple(remaining):
        rest = [other for other in remaining if other != test]
        if rest and np.array_equal(decisions.rows_where(rest), rows):
            remaining = rest
    return remove_implied_tests(remaining)


# --- Simplification ---


def remove_implied_tests(tests: Sequence[FeatureCondition]) -> tuple[FeatureCondition, ...]:
    """Drop tests that another test of the same feature implies.

    Parameters
    ----------
    tests
        Conditions that must all hold.

    Returns
    -------
    tuple of FeatureCondition
        Conditions without redundant ones.

    Examples
    --------
    >>> feature = DecisionFeature("equity", "share", "hand")
    >>> low, high = FeatureCondition(feature, 0.5), FeatureCondition(feature, 0.7)
    >>> [test.value for test in remove_implied_tests([low, high])]
    [0.7]
    """
    strictest: dict[tuple[str, bool, float], FeatureCondition] = {}
    for test in tests:
        equal = test.feature.kind == rule_list.CHOICE
        key = test.feature.name, test.wanted, test.value if equal else 0.0
        old = strictest.get(key)
        if old is None or (not equal and (test.value > old.value) == test.wanted):
            strictest[key] = test
    decided = {t.feature.name for t in strictest.values() if t.feature.kind == rule_list.CHOICE and t.wanted}
    return tuple(t for t in strictest.values() if t.feature.name not in decided or t.wanted)


def _simplify_rules(rules: RuleList, decisions: DecisionTable) -> RuleList:
    """Drop tests and rules that change almost nothing, and refit the mixes."""
    sums = _MixStatistics(decisions)

    def loss(tests: Sequence[tuple[FeatureCondition, ...]]) -> float:
        return float(sums.loss(np.array(_decided_rows(tests, decisions), float) @ sums.row_statistics).sum())

    tests = [rule.tests for rule in rules.rules[:-1]]
    current, tolerance = loss(tests), TEST_PENALTY * float(sums.loss(sums.row_statistics.sum(axis=0)))
    for number in range(len(tests) - 1, -1, -1):
        for test in reversed(tests[number]):
            shorter = [*tests]
            shorter[number] = tuple(other for other in tests[number] if other is not test)
            new_loss = loss(shorter) if shorter[number] else np.inf
            if new_loss <= current + tolerance * test.feature.effort:
                tests, current = shorter, new_loss
    return _fit_mixes(tests, decisions)


def _fit_mixes(tests: Sequence[tuple[FeatureCondition, ...]], decisions: DecisionTable) -> RuleList:
    """Fit the mixes of rules with given tests to decisions, and of a last rule without tests.

    A rule with tests that decides no row is dropped.
    """
    sums, rules = _MixStatistics(decisions), []
    for conditions, rows in zip((*tests, ()), _decided_rows(tests, decisions), strict=True):
        if rows.any() or not conditions:
            statistics = sums.row_statistics[rows] if rows.any() else sums.row_statistics
            rules.append(DecisionRule(conditions, sums.labeled_mix(statistics.sum(axis=0))))
    return RuleList(decisions.features, tuple(rules))


def _decided_rows(tests: Sequence[tuple[FeatureCondition, ...]], decisions: DecisionTable) -> list[Array]:
    """Return the decisions of each rule with given tests, and of a last rule without tests. bool [n] each"""
    undecided, decided = np.ones(len(decisions), bool), []
    for conditions in (*tests, ()):
        decided.append(undecided & decisions.rows_where(conditions))
        undecided &= ~decided[-1]
    return decided
