"""Reference for action translation: the state includes the position in the abstract tree, and every mapping is
followed.

Nothing is mixed into a behavior strategy: the value of a translated strategy against another is summed over all real
lines, all mappings and all deals.
"""

from __future__ import annotations

from typing import Any

from riverboat.abstraction.actions import translation
from riverboat.games.base import CHANCE, TERMINAL, ComparisonPayoff, ConstantPayoff
from riverboat.strategies.tabular import Strategy
from riverboat.trees.public import PublicTree


def value(small: Strategy, me: int, mapping: str, opponent: Strategy, tie: translation.TieRule = "high") -> float:
    """Expected value of player `me` with a translated strategy against an opponent's strategy for the full tree."""
    full = opponent.tree
    assert isinstance(full, PublicTree)
    joint = full.deal.joint()
    total = 0.0
    for h0 in range(joint.shape[0]):
        for h1 in range(joint.shape[1]):
            if joint[h0, h1] > 0:
                play = _Play(small, me, mapping, tie, opponent, (h0, h1))
                total += joint[h0, h1] * play.go(full.game.root(), "", small.tree.game.root(), "")  # type: ignore[union-attr]
    return total


class _Play:
    def __init__(
        self,
        small: Strategy,
        me: int,
        mapping: str,
        tie: translation.TieRule,
        opponent: Strategy,
        hands: tuple[int, int],
    ) -> None:
        self.small, self.me, self.mapping, self.tie, self.opponent, self.hands = (
            small,
            me,
            mapping,
            tie,
            opponent,
            hands,
        )
        self.names = [opponent.tree.hands[p][hands[p]] for p in (0, 1)]  # type: ignore[union-attr]

    def go(self, state: Any, line: str, place: Any, seen: str) -> float:
        if state.actor == TERMINAL:
            return self.pay(state.payoff())
        if state.actor == CHANCE:
            while place.actor >= 0:  # open betting there is closed by calls
                place, seen = place.child(place.actions().index("c")), seen + "c"
            total = 0.0
            for k, outcome in enumerate(state.outcomes()):
                if self.hands[0] in outcome.dead[0] or self.hands[1] in outcome.dead[1]:
                    continue
                there = (place, seen) if place.actor == TERMINAL else (place.child(k), seen + outcome.label)
                total += outcome.weight * self.go(state.child(k), line + outcome.label, *there)
            return total
        if state.actor == self.me:
            return self.own(state, line, place, seen)
        return self.other(state, line, place, seen)

    def own(self, state: Any, line: str, place: Any, seen: str) -> float:
        moves = list(state.actions())
        if place.actor != self.me:
            return self.go(state.child(moves.index("c")), line + "c", place, seen)
        total = 0.0
        row = self.small[f"{self.names[self.me]}:{seen}"]
        for k, (label, probability) in enumerate(row.items()):
            if probability > 0:
                intended = translation.action_sizes(place)[k]
                real = translation.nearest_action(translation.action_sizes(state), intended)
                total += probability * self.go(state.child(real), line + moves[real], place.child(k), seen + label)
        return total

    def other(self, state: Any, line: str, place: Any, seen: str) -> float:
        total = 0.0
        row = self.opponent[f"{self.names[1 - self.me]}:{line}"]
        for k, (label, probability) in enumerate(row.items()):
            if probability == 0:
                continue
            bet = translation.action_sizes(state)[k]
            if bet is None:
                total += probability * self.pay(state.child(k).payoff())
            elif place.actor != 1 - self.me:
                total += probability * self.go(state.child(k), line + label, place, seen)
            else:
                for j, read in translation.translate_bet(
                    self.mapping, translation.action_sizes(place), bet, self.tie
                ).items():
                    there = place.child(j), seen + place.actions()[j]
                    total += probability * read * self.go(state.child(k), line + label, *there)
        return total

    def pay(self, payoff: Any) -> float:
        if isinstance(payoff, ConstantPayoff):
            return payoff.payoffs[self.me]
        assert isinstance(payoff, ComparisonPayoff)
        own, other = payoff.strengths[0][self.hands[0]], payoff.strengths[1][self.hands[1]]
        return (payoff.win if own > other else payoff.lose if own < other else payoff.tie)[self.me]
