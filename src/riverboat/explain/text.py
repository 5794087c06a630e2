"""Rules as a coach would say them, with examples and exceptions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from riverboat.core.arrays import Array
from riverboat.explain import fidelity
from riverboat.explain.decisions import Decisions
from riverboat.strategies.rule_list import (
    BOARD,
    CALL,
    CHOICE,
    FLAG,
    FOLD,
    HAND,
    LEVEL,
    OTHER,
    SHARE,
    SITUATION,
    Condition,
    Move,
    Rule,
    RuleList,
)

EXAMPLES, EXCEPTIONS = 3, 2
NEAR = 0.05  # of a size: what people call by the same name
WORST = 0.1  # a distance below this is no exception
FRACTIONS = {
    0.25: "a quarter of the pot", 0.33: "a third of the pot", 0.5: "half the pot", 0.67: "two thirds of the pot",
    0.75: "three quarters of the pot", 1.0: "the pot", 1.5: "one and a half pots", 2.0: "twice the pot",
}  # fmt: skip


@dataclass(frozen=True)
class Told:
    """A rule in words, with what it decides and what it misses."""

    rule: str  # as it is written in a list
    sentence: str
    share: float  # of the decisions
    agreement: float  # there
    worth: float | None  # how much is lost without it: EV where known, else distance; None of the last rule
    examples: tuple[str, ...]
    exceptions: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {key: getattr(self, key) for key in self.__dataclass_fields__}


def tell(decisions: Decisions, rules: RuleList) -> tuple[Told, ...]:
    """Every rule in words."""
    which = rules.which(decisions.columns, len(decisions))
    played = rules.decide(decisions.columns, decisions.moves, decisions.possible)
    agree, lost = fidelity.agrees(decisions, played), fidelity.losses(decisions, played)
    far = fidelity.distances(decisions, played)
    out = []
    for number, (rule, worth) in enumerate(zip(rules.rules, [*fidelity.worths(decisions, rules), None], strict=True)):
        rows = np.flatnonzero((which == number) & (decisions.weight > 0))
        weight = decisions.weight[rows]
        share = float(weight.sum())
        out.append(
            Told(
                str(rule),
                sentence(rule, decisions, rows, len(rules) > 1),
                share,
                float(weight @ agree[rows] / share) if share > 0 else 1.0,
                worth,
                _examples(decisions, rows, far),
                _exceptions(decisions, rows, far, lost),
            )
        )
    return tuple(out)


# --- sentences ------------------------------------------------------------------------------------


def sentence(rule: Rule, decisions: Decisions, rows: Array, others: bool = True) -> str:
    """`Facing a bet, call with top pair or better.` Rows are those that it decides."""
    parts = {about: _phrases([t for t in rule.tests if t.feature.about == about]) for about in (SITUATION, BOARD, HAND)}
    moves = mix_words(rule.mix, decisions, rows)
    if not rule.tests:
        return f"{'With everything else' if others else 'Always'}, {moves}."
    opening = ", ".join(parts[SITUATION] + parts[BOARD])
    hands = parts[HAND]
    text = f"{moves} with {_and(hands)}" if hands and "of the time" not in moves else f"{_with(hands)}{moves}"
    text = f"{opening}, {text}" if opening else text
    return f"{text[0].upper()}{text[1:]}."


def _with(hands: list[str]) -> str:
    return f"with {_and(hands)}, " if hands else ""


def mix_words(mix: Sequence[tuple[Move, float]], decisions: Decisions, rows: Array) -> str:
    """`bet half the pot 60 % of the time, else check`."""
    fold = [k for k, move in enumerate(decisions.moves) if move.kind == FOLD]
    faced: Array = np.asarray(decisions.possible[rows][:, fold].any(axis=1))
    ordered = sorted(mix, key=lambda part: -part[1])
    names = [(move_words(move, faced), p) for move, p in ordered if p > 0]
    if len(names) == 1:
        return names[0][0]
    if len(names) == 2:
        return f"{names[0][0]} {_percent(names[0][1])} of the time, else {names[1][0]}"
    return _and([f"{name} {_percent(p)} of the time" for name, p in names])


def move_words(move: Move, faced: Array) -> str:
    """`check`, `call`, or both, by whether a bet is faced at the decisions. bool [n]"""
    every, some = bool(len(faced)) and bool(faced.all()), bool(faced.any())
    if move.kind == OTHER:
        return f"play {move.label}"
    if move.kind == FOLD:
        return "fold" if every else "check or fold" if some else "check"
    if move.kind == CALL:
        return "call" if every else "check or call" if some else "check"
    verb = "raise" if every else "bet or raise" if some else "bet"
    if move.size == inf:
        return "go all-in"
    return verb if move.size == 0 else f"{verb} {size_words(move.size)}"


def size_words(size: float) -> str:
    """A share of the pot as people say it."""
    near = min(FRACTIONS, key=lambda f: abs(f - size))
    if abs(near - size) <= NEAR * near:
        return FRACTIONS[near]
    return f"{100 * size:.0f} % of the pot"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _and(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]])) if parts else ""


def _phrases(tests: Iterable[Condition]) -> list[str]:
    """Tests of one feature are told together: from this up to that."""
    by: dict[str, list[Condition]] = {}
    for test in tests:
        by.setdefault(test.feature.name, []).append(test)
    return [_phrase(same) for same in by.values()]


def _phrase(tests: Sequence[Condition]) -> str:
    feature = tests[0].feature
    if feature.kind == FLAG:
        yes = tests[0].wanted
        return (feature.yes or feature.name) if yes else (feature.no or f"no {feature.yes or feature.name}")
    if feature.kind == CHOICE:
        return _and([f"{feature.name} {'' if t.wanted else 'other than '}{feature.show(t.value)}" for t in tests])
    low = max((t.value for t in tests if t.wanted), default=None)
    high = min((t.value for t in tests if not t.wanted), default=None)
    if feature.kind == LEVEL:
        return _level(feature.levels, feature.yes, low, high)
    unit = feature.yes or feature.name

    def show(value: float) -> str:
        return f"{100 * value:.0f} %" if feature.kind == SHARE else f"{value:.3g}"

    if low is not None and high is not None:
        return f"{show(low)} to {show(high)} {unit}"
    return f"at least {show(low)} {unit}" if low is not None else f"less than {show(high or 0.0)} {unit}"


def _level(levels: Sequence[str], before: str, low: float | None, high: float | None) -> str:
    first = 0 if low is None else int(low)
    last = len(levels) - 1 if high is None else int(high) - 1
    lead = f"{before} " if before else ""
    if first == last:
        return f"{lead}{levels[first]}"
    up, down = ("higher", "lower") if all(len(level) <= 2 for level in levels) else ("better", "worse")
    if high is None:
        return f"{lead}{levels[first]} or {up}"
    return f"{lead}{levels[last]} or {down}" if low is None else f"{lead}{levels[first]} to {levels[last]}"


# --- examples ---------------------------------------------------------------------------------------


def _examples(decisions: Decisions, rows: Array, far: Array) -> tuple[str, ...]:
    """The most frequent decisions that the rule gets right, of different groups."""
    order = rows[np.lexsort((-decisions.weight[rows], np.round(far[rows], 1)))]
    return _different(decisions, order, EXAMPLES)


def _exceptions(decisions: Decisions, rows: Array, far: Array, lost: Array | None) -> tuple[str, ...]:
    """Where the rule is farthest from the strategy, or costs most."""
    cost = far if lost is None else np.maximum(lost, 0.0)
    order = rows[np.lexsort((-far[rows], -(decisions.weight * cost)[rows]))]
    names = _different(decisions, order[far[order] > WORST], EXCEPTIONS)
    place = {name: k for k, name in enumerate(decisions.names)}
    return tuple(f"{name} ({_row_words(decisions, place[name])})" for name in names)


def _different(decisions: Decisions, order: Array, most: int) -> tuple[str, ...]:
    seen: set[int] = set()
    names = []
    for k in order.tolist():
        if int(decisions.group[k]) not in seen:
            seen.add(int(decisions.group[k]))
            names.append(decisions.names[k])
        if len(names) == most:
            break
    return tuple(names)


def _row_words(decisions: Decisions, row: int) -> str:
    mix = [(move, float(p)) for move, p in zip(decisions.moves, decisions.played[row], strict=True) if p >= 0.01]
    return mix_words(mix, decisions, np.array([row]))
