"""A strategy explained: the rules, how faithful they are on what was not seen, the whole dial, and baselines beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, unknown
from riverboat.core.tables import COUNT, SHARE, Cell, Column, ReportTable
from riverboat.explain import fidelity, text
from riverboat.explain.decisions import Cost, Decisions
from riverboat.explain.fidelity import Fidelity
from riverboat.explain.rule_learning import LIST, METHODS, learn
from riverboat.strategies.rule_list import RuleList

DIAL = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100, 200, 300)
FOLDS = 5
HELD_OUT = 30  # rules of the longest list that is learned without what is held out, unless longer ones are asked for
AUTO = "auto"
SPLIT = 40  # groups from which on some are held out
SLACK = 0.02  # of the error on what was not seen: a shorter list may have so much more


@dataclass(frozen=True)
class Explanation:
    """Rules for some decisions, and all that is known of them."""

    decisions: Decisions
    rules: RuleList
    method: str
    seen: Fidelity  # on all decisions, which the rules were learned from
    unseen: (
        Fidelity | None
    )  # of lists learned in the same way without them; None where there are too few to hold some out
    costs: dict[str, float]  # figures by name, such as the exploitability
    dial: ReportTable
    baselines: ReportTable
    told: tuple[text.Told, ...]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "title": self.decisions.title,
            "method": self.method,
            "rules": [one.to_dict() for one in self.told],
            "list": str(self.rules),
            "seen": self.seen.to_dict(),
            "unseen": None if self.unseen is None else self.unseen.to_dict(),
            "unit": self.decisions.unit,
            "costs": self.costs,
            "dial": list(self.dial),
            "baselines": list(self.baselines),
        }


def explain(
    decisions: Decisions,
    rules: int = 10,
    method: str = AUTO,
    *,
    cost: Cost | None = None,
    quick: bool = True,
    dial: Sequence[int] = DIAL,
    exact: bool = False,
    seed: int = 0,
) -> Explanation:
    """At most so many rules for some decisions.

    How many of them there are, and by which method they are learned, is decided by what is not seen: groups of decisions are
    held out in turn. Where there are few groups, or with `exact`, the longest list is taken. `cost` says what playing
    something instead costs; where it is not `quick`, the dial does without.
    """
    if method not in (AUTO, *METHODS):
        raise unknown("method", method, (AUTO, *METHODS))
    if rules < 1:
        raise InputError(f"{rules} rules: at least 1 is needed")
    methods = METHODS if method == AUTO else (method,)
    sizes = sorted({n for n in dial if n <= max(rules, max(dial))} | {rules})
    held_out = len(np.unique(decisions.group)) >= SPLIT and not exact
    short = [n for n in sizes if n <= rules]
    unseen: dict[tuple[str, int], Array] = {}
    for one in methods if held_out else ():
        # A tree is grown anew for every size, and long lists go into detail that nobody chooses.
        wanted = [n for n in sizes if n <= max(rules, HELD_OUT)] if one == LIST else short
        unseen |= {(one, n): played for n, played in _unseen(decisions, wanted, one, seed).items()}
    chosen, size = _choose(decisions, unseen, short) if held_out else (_first(methods, decisions, rules), rules)
    lists = learn(decisions, sizes, chosen)
    rule_list = by_worth(lists[size], decisions)
    after = fidelity.of_play(decisions, unseen[chosen, size]) if held_out else None
    played = rule_list.decide(decisions.columns, decisions.moves, decisions.possible)
    return Explanation(
        decisions,
        rule_list,
        chosen,
        fidelity.of_rules(decisions, rule_list),
        after,
        cost(played) if cost is not None else {},
        _dial(decisions, lists, {n: unseen.get((chosen, n)) for n in sizes}, cost if quick else None),
        baselines(decisions, cost),
        text.tell(decisions, rule_list),
    )


def _first(methods: Sequence[str], decisions: Decisions, rules: int) -> str:
    """Without anything held out: the method whose list is nearest, the list of fewer tests where they are as near."""
    if len(methods) == 1:
        return methods[0]
    near = {m: fidelity.of_rules(decisions, learn(decisions, [rules], m)[rules]) for m in methods}
    return min(methods, key=lambda m: (round(near[m].distance, 6), near[m].tests))


def _unseen(decisions: Decisions, sizes: Sequence[int], method: str, seed: int) -> dict[int, Array]:
    """What lists play at decisions that they were not learned from. float64 [n, moves] for each number of rules"""
    folds = decisions.folds(FOLDS, seed)
    out = {n: np.zeros_like(decisions.played) for n in sizes}
    for part in range(int(folds.max()) + 1):
        rest = folds == part
        for n, rules in learn(decisions.take(~rest), sizes, method).items():
            columns = {name: x[rest] for name, x in decisions.columns.items()}
            out[n][rest] = rules.decide(columns, decisions.moves, decisions.possible[rest])
    return out


def _choose(decisions: Decisions, unseen: dict[tuple[str, int], Array], sizes: Sequence[int]) -> tuple[str, int]:
    """Method and length with the least squared error on what was not seen; a shorter list that is nearly as good."""
    w = decisions.weight
    error = {
        key: float(w @ ((played - decisions.played) ** 2).sum(axis=1))
        for key, played in unseen.items()
        if key[1] in sizes
    }
    best = min(error.values())
    fine = [key for key, value in error.items() if value <= best * (1 + SLACK)]
    return min(fine, key=lambda key: (key[1], error[key]))


# --- the dial and baselines -----------------------------------------------------------------------

_COLUMNS = (
    Column("agreement", SHARE), Column("unseen", SHARE), Column("distance", SHARE), Column("tests", COUNT, rank=2),
)  # fmt: skip


def _dial(
    decisions: Decisions, lists: dict[int, RuleList], unseen: dict[int, Array | None], cost: Cost | None
) -> ReportTable:
    rows, names = [], []
    lengths = {len(faithful): n for n, faithful in sorted(lists.items(), reverse=True)}
    for length, n in sorted(lengths.items()):
        faithful = fidelity.of_rules(decisions, lists[n])
        held = unseen[n]
        after = None if held is None else fidelity.of_play(decisions, held).agreement
        played = lists[n].decide(decisions.columns, decisions.moves, decisions.possible)
        more = _figures(faithful, cost(played) if cost is not None else {})
        names = list(more)
        rows.append((float(length), faithful.agreement, after, faithful.distance, faithful.tests, *more.values()))
    return ReportTable("", (Column("rules", COUNT), *_COLUMNS, *(Column(name, COUNT) for name in names)), tuple(rows))


def _figures(faithful: Fidelity, costs: dict[str, float]) -> dict[str, Cell]:
    lost: dict[str, Cell] = {} if faithful.ev_lost is None else {"ev_lost": faithful.ev_lost}
    return lost | costs


def baselines(decisions: Decisions, cost: Cost | None = None) -> ReportTable:
    """What is lost by playing one mix everywhere, the best threshold of one number, or only the most likely moves."""
    rows, names = [], []
    plays = {
        "the same everywhere": learn(decisions, [1])[1].decide(decisions.columns, decisions.moves, decisions.possible)
    }
    threshold = _threshold(decisions)
    if threshold is not None:
        name = threshold.rules[0].tests[0].feature.name
        plays[f"a threshold of {name}"] = threshold.decide(decisions.columns, decisions.moves, decisions.possible)
    plays["purified"] = fidelity.purified(decisions)
    for name, played in plays.items():
        faithful = fidelity.of_play(decisions, played)
        more = _figures(faithful, cost(played) if cost is not None else {})
        names = list(more)
        rows.append((name, faithful.agreement, faithful.distance, *more.values()))
    columns = Column("instead"), Column("agreement", SHARE), Column("distance", SHARE)
    return ReportTable("", (*columns, *(Column(name, COUNT) for name in names)), tuple(rows))


THRESHOLDS = ("equity", "strength", "card", "hand")  # the first of these features that there is


def _threshold(decisions: Decisions) -> RuleList | None:
    feature = next((f for name in THRESHOLDS for f in decisions.features if f.name == name), None)
    if feature is None:
        return None
    alone = replace(decisions, features=(feature,))
    rules = learn(alone, [2], most_tests=1)[2]
    return rules if len(rules) == 2 else None


# --- order ----------------------------------------------------------------------------------------


def by_worth(rules: RuleList, decisions: Decisions) -> RuleList:
    """The same list with the rules that are worth most in front, as far as that changes nothing that is played."""
    order = list(rules.rules[:-1])
    worth = {id(rule): value for rule, value in zip(order, fidelity.worths(decisions, rules), strict=True)}
    w, n = decisions.weight > 0, len(decisions)
    hits = {}
    for rule in order:
        hit = np.ones(n, bool)
        for test in rule.tests:
            hit &= test.holds(decisions.columns)
        hits[id(rule)] = hit & w
    moved = True
    while moved:
        moved = False
        for k in range(len(order) - 1):
            one, two = order[k], order[k + 1]
            free = one.mix == two.mix or not (hits[id(one)] & hits[id(two)]).any()
            if free and worth[id(two)] > worth[id(one)] + 1e-12:
                order[k], order[k + 1], moved = two, one, True
    return RuleList(rules.features, (*order, rules.rules[-1]))


def edited(rules: RuleList, decisions: Decisions, cost: Cost | None = None) -> Explanation:
    """A list that somebody wrote, measured on decisions as one that was learned."""
    faithful = fidelity.of_rules(decisions, rules)
    played = rules.decide(decisions.columns, decisions.moves, decisions.possible)
    costs = cost(played) if cost is not None else {}
    dial = _dial(decisions, {len(rules): rules}, {len(rules): None}, cost)
    return Explanation(
        decisions, rules, "given", faithful, None, costs, dial, baselines(decisions, cost), text.tell(decisions, rules)
    )
