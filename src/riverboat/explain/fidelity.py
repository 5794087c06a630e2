"""How faithful rules are to a strategy, and what following them costs at the decisions themselves."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from riverboat.core.arrays import Array
from riverboat.explain.decisions import Decisions
from riverboat.strategies.rule_list import RuleList

FLOOR = 1e-3  # of a probability, in the divergence
TIE = 1e-6


@dataclass(frozen=True)
class Fidelity:
    """Shares are 0 to 1, weighted by how often decisions come up."""

    agreement: float  # the rules' most likely move is the strategy's
    distance: float  # total variation: half the sum of differences
    divergence: float  # Kullback and Leibler, with a floor
    ev_lost: float | None = None  # a decision, against the opponent as before, in the unit of the decisions
    rules: int = 0
    tests: float = 0.0  # read for a decision, on average
    coverage: float = 0.0  # decided by a rule that has tests

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def agrees(decisions: Decisions, played: Array) -> Array:
    """Where the most likely move is one of the strategy's most likely. bool [n]"""
    ours = np.where(decisions.possible, played, -1.0).argmax(axis=1)
    theirs = decisions.played
    agree: Array = theirs[np.arange(len(theirs)), ours] >= theirs.max(axis=1) - TIE
    return agree


def distances(decisions: Decisions, played: Array) -> Array:
    """Total variation of each decision. float64 [n]"""
    distance: Array = 0.5 * np.abs(decisions.played - played).sum(axis=1)
    return distance


def losses(decisions: Decisions, played: Array) -> Array | None:
    """What is earned less by each decision, where that is known. float64 [n]"""
    if decisions.worth is None:
        return None
    worth = np.where(decisions.possible, decisions.worth, 0.0)
    lost: Array = ((decisions.played - played) * worth).sum(axis=1)
    return lost


def of_play(decisions: Decisions, played: Array) -> Fidelity:
    """Of anything that is played instead. float64 [n, moves]"""
    w, lost = decisions.weight, losses(decisions, played)
    p, q = np.maximum(decisions.played, FLOOR), np.maximum(played, FLOOR)
    p, q = (np.where(decisions.possible, x, 0.0) for x in (p, q))
    p, q = (x / x.sum(axis=1, keepdims=True) for x in (p, q))
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = np.where(p > 0, p * np.log(p / q), 0.0).sum(axis=1)
    return Fidelity(
        float(w @ agrees(decisions, played)),
        float(w @ distances(decisions, played)),
        float(w @ divergence),
        None if lost is None else float(w @ lost),
    )


def of_rules(decisions: Decisions, rules: RuleList) -> Fidelity:
    """Of a rule list."""
    faithful = of_play(decisions, rules.decide(decisions.columns, decisions.moves, decisions.possible))
    which = rules.which(decisions.columns, len(decisions))
    return replace(
        faithful,
        rules=len(rules),
        tests=float(decisions.weight @ rules.tests_read(decisions.columns, len(decisions))),
        coverage=float(decisions.weight @ (which < len(rules) - 1)),
    )


def purified(decisions: Decisions) -> Array:
    """The strategy with its most likely move alone; the first of several. float64 [n, moves]"""
    best = decisions.played.argmax(axis=1)
    pure: Array = (np.arange(len(decisions.moves)) == best[:, None]).astype(float)
    return pure


def worths(decisions: Decisions, rules: RuleList) -> list[float]:
    """What each rule but the last is worth: how much less is earned without it, or, where that is not known, how much
    farther from the strategy the list is.
    """

    def cost(some: RuleList) -> float:
        faithful = of_rules(decisions, some)
        return faithful.distance if faithful.ev_lost is None else faithful.ev_lost

    base = cost(rules)
    lists = [RuleList(rules.features, rules.rules[:k] + rules.rules[k + 1 :]) for k in range(len(rules) - 1)]
    return [cost(one) - base for one in lists]
