"""Rule lists learned from decisions: by exceptions to rules, or from the leaves of a tree.

*Exceptions*: begin with one mix for everything. Again and again find the rule, and the conjunction of a few tests, for which
an exception before that rule is worth most: its rows get a mix of their own, and the error falls. Every step is the list with
one rule more, so one run gives the whole dial.

*Trees*: scikit-learn grows the tree of n leaves that fits best, all moves at once; its leaves are rules, in which tests that
change nothing are dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, unknown
from riverboat.explain.atoms import Sums, tests_of
from riverboat.explain.decisions import Decisions
from riverboat.strategies.rule_list import CHOICE, LEVEL, Condition, Rule, RuleList

LIST, TREE = "list", "tree"
METHODS = (LIST, TREE)
MOST_TESTS = 3  # of one exception
MOST_IN_RULE = 5
BEAM = 6
LEAST_SHARE = 0.01  # of the weight that a rule decides, where there are many decisions
LONG = 20  # rules from which on a list may go into detail
DETAIL = 0.0005
MANY = 50
PER_TEST = 0.003  # of the first error: what one more test must be worth


def learn(
    decisions: Decisions,
    sizes: Sequence[int],
    method: str = LIST,
    *,
    most_tests: int = MOST_TESTS,
) -> dict[int, RuleList]:
    """For each number of rules, a list of at most so many."""
    if not sizes or min(sizes) < 1:
        raise InputError(f"{min(sizes, default=0)} rules: at least 1 is needed")
    weight = decisions.matters
    if method == TREE:
        return {n: _tree(decisions, n, weight) for n in sizes}
    if method != LIST:
        raise unknown("method", method, METHODS)
    grown = _exceptions(decisions, max(sizes), weight, most_tests)
    lists = {n: grown[min(n, len(grown)) - 1] for n in sizes}
    return {n: simplified(rules, decisions) if len(rules) <= LONG else rules for n, rules in lists.items()}


# --- exceptions -----------------------------------------------------------------------------------


class _Part(NamedTuple):
    """A rule in the making: its tests, and the rows that it decides."""

    tests: tuple[int, ...]
    rows: Array  # int64


class _Split(NamedTuple):
    """The best exception to a rule."""

    gain: float  # of error
    score: float  # less what its tests cost
    tests: tuple[int, ...]
    rows: Array  # bool, over the rows of the rule


def _exceptions(decisions: Decisions, most: int, weight: Array, most_tests: int) -> list[RuleList]:
    tests = tests_of(decisions)
    hits = np.array([test.holds(decisions.columns) for test in tests], np.float64).reshape(len(tests), len(decisions))
    efforts = np.array([test.feature.effort for test in tests])
    search = _Search(hits, efforts, Sums.of(decisions, weight), weight, len(decisions) > MANY, most_tests)

    def written(parts: Sequence[_Part]) -> RuleList:
        mixes = [search.sums.named(decisions, search.sums.parts[part.rows].sum(axis=0)) for part in parts]
        rules = (Rule(shortest([tests[k] for k in part.tests]), mix) for part, mix in zip(parts, mixes, strict=True))
        return RuleList(decisions.features, tuple(rules))

    parts = [_Part((), np.arange(len(decisions)))]
    splits = [search.best(parts[0])]
    lists = [written(parts)]
    while len(lists) < most:
        place = max(range(len(parts)), key=lambda k: splits[k].gain)
        split, part = splits[place], parts[place]
        if search.detailed is False and (len(parts) == LONG or not split.gain > search.nothing):
            search.detail()
            splits = [search.best(part) for part in parts]
            continue
        if not split.gain > search.nothing:
            break
        parts[place : place + 1] = [
            _Part((*part.tests, *split.tests), part.rows[split.rows]),
            _Part(part.tests, part.rows[~split.rows]),
        ]
        splits[place : place + 1] = [search.best(parts[place]), search.best(parts[place + 1])]
        lists.append(written(parts))
    return lists


class _Search:
    """Finds the conjunction of tests that is worth most as an exception, by a beam."""

    def __init__(self, hits: Array, efforts: Array, sums: Sums, weight: Array, many: bool, most_tests: int) -> None:
        self.hits, self.efforts, self.sums, self.weight, self.most_tests = hits, efforts, sums, weight, most_tests
        self.least = max(LEAST_SHARE * weight.sum(), 1e-15) if many else 1e-15
        self.detailed = not many
        first = float(sums.loss(sums.parts.sum(axis=0)))
        self.per_test, self.nothing = PER_TEST * first, 1e-9 * first

    def detail(self) -> None:
        """From now on rules may decide little."""
        self.least, self.detailed = DETAIL * self.least / LEAST_SHARE, True

    def best(self, part: _Part) -> _Split:
        """The best exception to a rule; its gain is zero where there is none."""
        table = np.concatenate([self.sums.parts[part.rows], self.weight[part.rows, None]], axis=1)
        hits, whole = self.hits[:, part.rows], table.sum(axis=0)
        before = float(self.sums.loss(whole[:-1]))
        split = _Split(0.0, -np.inf, (), np.zeros(len(part.rows), bool))
        beam = [_Split(0.0, 0.0, (), np.ones(len(part.rows), bool))]
        for _ in range(min(self.most_tests, MOST_IN_RULE - len(part.tests)) if before > 1e-12 else 0):
            grown: dict[frozenset[int], tuple[float, float, tuple[int, ...], int]] = {}
            for place, one in enumerate(beam):
                inside = hits[:, one.rows] @ table[one.rows]
                gain = before - self.sums.loss(inside[:, :-1]) - self.sums.loss((whole - inside)[:, :-1])
                fine = (inside[:, -1] >= self.least) & (whole[-1] - inside[:, -1] >= self.least)
                score = gain - self.per_test * (self.efforts + self.efforts[list(one.tests)].sum())
                score = np.where(fine & (gain > self.nothing), score, -np.inf)
                for k in np.argsort(-score, kind="stable")[:BEAM].tolist():
                    if score[k] > -np.inf and k not in one.tests:
                        new = float(gain[k]), float(score[k]), (*one.tests, k), place
                        grown.setdefault(frozenset(new[2]), new)
            beam = [
                _Split(gain, score, tests, beam[place].rows & (hits[tests[-1]] > 0))
                for gain, score, tests, place in sorted(grown.values(), key=lambda new: -new[1])[:BEAM]
            ]
            if beam and beam[0].score > split.score:
                split = beam[0]
        return split


# --- trees --------------------------------------------------------------------------------------


def _tree(decisions: Decisions, leaves: int, weight: Array) -> RuleList:
    """The leaves of one tree, the heaviest last as the default, with the fewest tests that do."""
    sums = Sums.of(decisions, weight)
    whole = sums.parts.sum(axis=0)
    if leaves == 1:
        return RuleList(decisions.features, (Rule((), sums.named(decisions, whole)),))
    try:
        from sklearn.tree import DecisionTreeRegressor
    except ImportError:
        raise InputError("trees need scikit-learn: pip install riverboat[explain]; the method list does not") from None
    x, back = _matrix(decisions)
    least = LEAST_SHARE if len(decisions) > MANY else 0.0
    able = np.where(decisions.possible, decisions.played, 0.0)
    tree = DecisionTreeRegressor(max_leaf_nodes=leaves, min_weight_fraction_leaf=least, random_state=0)
    tree.fit(x, able, sample_weight=weight)
    grown, home = tree.tree_, tree.apply(x)
    paths: dict[int, tuple[Condition, ...]] = {}

    def descend(node: int, path: tuple[Condition, ...]) -> None:
        if grown.children_left[node] < 0:
            paths[node] = path
            return
        test = _rounded(back[int(grown.feature[node])], float(grown.threshold[node]), decisions)
        descend(int(grown.children_left[node]), (*path, test._replace(wanted=not test.wanted)))
        descend(int(grown.children_right[node]), (*path, test))

    descend(0, ())
    sizes = {leaf: float(weight[home == leaf].sum()) for leaf in paths}
    order = sorted(paths, key=lambda leaf: sizes[leaf])
    rules = [Rule(_pruned(paths[leaf], decisions, home == leaf), ()) for leaf in order[:-1]]
    return refitted(RuleList(decisions.features, (*rules, Rule((), ()))), decisions)


def _matrix(decisions: Decisions) -> tuple[Array, list[Condition]]:
    """Features as scikit-learn wants them: a choice is one column for each of its values."""
    columns, back = [], []
    for feature in decisions.features:
        x = decisions.columns[feature.name]
        values = np.unique(x).tolist() if feature.kind == CHOICE else [0.0]
        for value in values:
            columns.append((x == value).astype(float) if feature.kind == CHOICE else x)
            back.append(Condition(feature, value))
    return np.stack(columns, axis=1), back


def _rounded(test: Condition, threshold: float, decisions: Decisions) -> Condition:
    """What a split means: above its threshold."""
    if test.feature.kind == CHOICE:
        return test
    x = decisions.columns[test.feature.name]
    above, below = x[x > threshold], x[x <= threshold]
    least, most = float(above.min()), float(below.max())
    if test.feature.kind == LEVEL or float(least).is_integer():
        return test._replace(value=least)
    for digits in range(8):  # the roundest number that parts the same rows
        value = round(0.5 * (least + most), digits)
        if most < value <= least:
            return test._replace(value=value)
    return test._replace(value=least)


def _pruned(tests: tuple[Condition, ...], decisions: Decisions, rows: Array) -> tuple[Condition, ...]:
    """Without tests that others imply for the rows at hand."""
    kept = list(dict.fromkeys(tests))
    for test in tuple(kept):
        rest = [other for other in kept if other != test]
        hit = np.ones(len(decisions), bool)
        for other in rest:
            hit &= other.holds(decisions.columns)
        if rest and np.array_equal(hit, rows):
            kept = rest
    return shortest(kept)


# --- lists as such --------------------------------------------------------------------------------


def shortest(tests: Sequence[Condition]) -> tuple[Condition, ...]:
    """The same without tests that another one of the same feature implies."""
    kept: dict[tuple[str, bool, float], Condition] = {}
    for test in tests:
        equal = test.feature.kind == CHOICE
        key = test.feature.name, test.wanted, test.value if equal else 0.0
        old = kept.get(key)
        if old is None or (not equal and (test.value > old.value) == test.wanted):
            kept[key] = test
    sure = {test.feature.name for test in kept.values() if test.feature.kind == CHOICE and test.wanted}
    return tuple(t for t in kept.values() if t.feature.name not in sure or t.wanted)


def simplified(rules: RuleList, decisions: Decisions) -> RuleList:
    """The same list without tests, and without rules, that change next to nothing; mixes are fitted again."""
    sums = Sums.of(decisions, decisions.matters)
    hits = {test: test.holds(decisions.columns) for rule in rules.rules for test in rule.tests}
    every = np.ones(len(decisions), bool)

    def loss(tests: Sequence[tuple[Condition, ...]]) -> float:
        left, decided = every, []
        for some in (*tests, ()):
            hit = left
            for test in some:
                hit = hit & hits[test]
            decided.append(hit)
            left = left & ~hit
        return float(sums.loss(np.array(decided, float) @ sums.parts).sum())

    tests = [rule.tests for rule in rules.rules[:-1]]
    now, allowed = loss(tests), PER_TEST * float(sums.loss(sums.parts.sum(axis=0)))
    for number in range(len(tests) - 1, -1, -1):
        for test in reversed(tests[number]):
            shorter = [*tests]
            shorter[number] = tuple(other for other in tests[number] if other is not test)
            after = loss(shorter) if shorter[number] else np.inf
            if after <= now + allowed * test.feature.effort:
                tests, now = shorter, after
    kept = RuleList(rules.features, (*(Rule(some, ()) for some in tests), Rule((), ())))
    return refitted(kept, decisions)


def refitted(rules: RuleList, decisions: Decisions) -> RuleList:
    """The same tests with the mixes that fit these decisions best. A rule that none of them meets keeps its own, or goes."""
    sums = Sums.of(decisions, decisions.matters)
    which, out = rules.which(decisions.columns, len(decisions)), []
    for number, rule in enumerate(rules.rules):
        met = which == number
        if met.any():
            out.append(Rule(rule.tests, sums.named(decisions, sums.parts[met].sum(axis=0))))
        elif rule.mix or not rule.tests:
            mix = rule.mix or sums.named(decisions, sums.parts.sum(axis=0))
            out.append(Rule(rule.tests, mix))
    return RuleList(rules.features, tuple(out))
