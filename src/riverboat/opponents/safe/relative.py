"""Safe relative to a blueprint: what an answer may cost, and how much of it a budget allows.

A blueprint is no minimax strategy, and the value of its game is not known. What is known is what it guarantees, g(b). An
answer x is ε-safe relative to it where g(x) ≥ g(b) − ε; its *risk* is g(b) − g(x). Guarantees are concave, so who plays x in
a share λ of all hands, drawn in secret before each, and b in the others guarantees g(b) − λ · risk(x) or more: any budget
makes an answer ε-safe by λ = min(1, ε / risk).

Guarantees are exact in the abstract game (`solvers.mccfr.abstract_response`), where buckets have perfect recall and boards are few
enough to walk. Elsewhere a risk is not known: sampling finds best responses that are far from best, and a risk that is
estimated too low promises what it cannot keep. There the endgames alone can be answered safely (`agents.safe_search`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.opponents.models.tree import bucket_chances, shares_of
from riverboat.solvers.mccfr.abstract_response import abstract_quality
from riverboat.strategies.blueprint import BlueprintStrategy


@dataclass(frozen=True)
class Risk:
    """What a strategy guarantees less than the blueprint: chips a hand, the mean of both seats, in the abstract game."""

    chips: float

    def share(self, budget: float) -> float:
        """Of hands in which the strategy may be played, the blueprint in the others, so that at most `budget` is at risk."""
        if not budget >= 0:
            raise InputError(f"budget={budget:g}: chips a hand, 0 or more")
        return 1.0 if self.chips <= budget else budget / self.chips


def seated(first: BlueprintStrategy, second: BlueprintStrategy) -> BlueprintStrategy:
    """Seat 0 of one strategy with seat 1 of another, in one tree."""
    tree, tables = first.tree, []
    if second.tree.fingerprint != tree.fingerprint or second.buckets != first.buckets:
        raise InputError(f"{second.rules.name!r}: both strategies must stand in one tree and its buckets")
    for street, (mine, theirs) in enumerate(zip(shares_of(first), shares_of(second), strict=True)):
        nodes = np.flatnonzero((tree.actor >= 0) & (tree.street == street))
        seat = np.repeat(tree.actor[nodes], tree.count[nodes])
        tables.append(np.where(seat == 0, mine, theirs).astype(np.float32))
    return replace(first, average=tuple(tables))


def gain(answer: BlueprintStrategy, opponent: BlueprintStrategy) -> float:
    """What an answer wins from an opponent in the abstract game, exactly: chips a hand, the mean of both seats."""
    first = abstract_quality(seated(answer, opponent)).values[0]
    second = abstract_quality(seated(opponent, answer)).values[1]
    return (first + second) / 2


def exact_risk(answer: BlueprintStrategy, base: BlueprintStrategy) -> Risk:
    """By best responses to both in the abstract game. Refused where buckets forget, or boards are too many."""
    return Risk(_conceded(answer) - _conceded(base))


def _conceded(strategy: BlueprintStrategy) -> float:
    """What best responses win from both seats of a strategy, the mean: minus what it guarantees."""
    return sum(abstract_quality(strategy).best) / 2


def mixed(answer: BlueprintStrategy, base: BlueprintStrategy, share: float) -> BlueprintStrategy:
    """One strategy that plays as who draws between two before each hand. Needs buckets that tell the ones before them.

    At every node the shares of the two are weighed by how likely each was to come there with the bucket's own past.
    """
    if not 0 <= share <= 1:
        raise InputError(f"share={share:g}: of hands with the answer, 0 to 1")
    tree, cards = base.tree, base.cards
    tables = shares_of(answer), shares_of(base)
    parents = bucket_parents(base)
    made = [np.zeros_like(table) for table in tables[0]]
    reach: dict[tuple[int, int], tuple[Array, Array]] = {}
    for seat in (0, 1):
        ones = np.ones(cards.counts[0])
        reach[0, seat] = share * ones, (1 - share) * ones
    for node in range(len(tree)):  # parents come before children
        if tree.actor[node] < 0:
            continue
        street, at, count = int(tree.street[node]), int(tree.slot[node]), int(tree.count[node])
        actor = int(tree.actor[node])
        rows = [table[street][:, at : at + count] for table in tables]
        both = [weight[:, None] * row for weight, row in zip(reach[node, actor], rows, strict=True)]
        total = (reach[node, actor][0] + reach[node, actor][1])[:, None]
        made[street][:, at : at + count] = np.where(
            total > 0, (both[0] + both[1]) / np.where(total > 0, total, 1), rows[1]
        )
        for k, child in enumerate(tree.children(node)):
            for seat in (0, 1):
                weights = tuple(b[:, k] for b in both) if seat == actor else reach[node, seat]
                for later in range(street, int(tree.street[child])):
                    weights = tuple(w[parents[later]] for w in weights)
                reach[child, seat] = weights[0], weights[1]
    return replace(base, average=tuple(table.astype(np.float32) for table in made))


def bucket_parents(strategy: BlueprintStrategy) -> tuple[Array, ...]:
    """Which bucket of the street before each bucket follows, from the second street on. int64 [buckets]"""
    _, steps = bucket_chances(strategy.cards, strategy.rules.rounds)
    for street, step in enumerate(steps):
        if (np.count_nonzero(step, axis=0) > 1).any():
            raise InputError(
                f"{strategy.cards.name}: buckets of street {street + 2} follow several of the street before; "
                "a mixture is one strategy only with perfect recall"
            )
    return tuple(np.argmax(step, axis=0) for step in steps)
