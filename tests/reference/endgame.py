"""Counterfactual best-response values, one hand at a time, from the definition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from riverboat.games.base import CHANCE, TERMINAL, ComparisonPayoff, ConstantPayoff, MatrixPayoff, Payoff, PublicGame

Rows = Mapping[str, Mapping[str, float]]


def paid(payoff: Payoff, player: int, h0: int, h1: int) -> float:
    """Payoff of a terminal to a player for two hands."""
    if isinstance(payoff, ConstantPayoff):
        return payoff.payoffs[player]
    if isinstance(payoff, MatrixPayoff):
        return payoff.payoffs[player][h0][h1]
    assert isinstance(payoff, ComparisonPayoff)
    first, second = payoff.strengths[0][h0], payoff.strengths[1][h1]
    return (payoff.win if first > second else payoff.tie if first == second else payoff.lose)[player]


class Opponent:
    """A player who best-responds everywhere, also at unreached states.

    `reach` holds the weight of each of the other player's hands: dealt with the opponent's hand, times that player's
    and chance's probabilities so far.
    """

    def __init__(self, game: PublicGame, rows: Rows, opponent: int) -> None:
        self.game, self.rows, self.opponent = game, rows, opponent

    def start(self, hand: int) -> dict[int, float]:
        result = {}
        for other, weight in enumerate(self.game.deal.weights[1 - self.opponent]):
            pair = (hand, other) if self.opponent == 0 else (other, hand)
            if pair not in self.game.deal.excludes:
                result[other] = float(weight)
        return result

    def after(self, state: Any, line: tuple[str, ...], hand: int, reach: dict[int, float], k: int) -> dict[int, float]:
        """The reach after child k."""
        if state.actor == self.opponent:
            return reach
        if state.actor == CHANCE:
            outcome = state.outcomes()[k]
            dead = outcome.dead[1 - self.opponent]
            gone = hand in outcome.dead[self.opponent]
            return {} if gone else {o: w * outcome.weight for o, w in reach.items() if o not in dead}
        names, label = self.game.hands[state.actor], state.actions()[k]
        return {o: w * self.rows[f"{names[o]}:{self.game.joiner.join(line)}"][label] for o, w in reach.items()}

    def value(self, state: Any, line: tuple[str, ...], hand: int, reach: dict[int, float]) -> float:
        """Value weighted by reach."""
        if not reach:
            return 0.0
        if state.actor == TERMINAL:
            pairs = [((hand, o) if self.opponent == 0 else (o, hand), w) for o, w in reach.items()]
            return sum(w * paid(state.payoff(), self.opponent, *pair) for pair, w in pairs)
        labels = [o.label for o in state.outcomes()] if state.actor == CHANCE else list(state.actions())
        values = [
            self.value(state.child(k), (*line, label), hand, self.after(state, line, hand, reach, k))
            for k, label in enumerate(labels)
        ]
        return max(values) if state.actor == self.opponent else sum(values)

    def down(self, labels: tuple[str, ...], hand: int) -> list[tuple[int, float, float]]:
        """Actor, reach and value of every state on a line, with one hand."""
        state, reach, result = self.game.root(), self.start(hand), []
        for depth in range(len(labels) + 1):
            value = self.value(state, labels[:depth], hand, reach)
            result.append((state.actor, sum(reach.values()), value))
            if depth < len(labels):
                moves = [o.label for o in state.outcomes()] if state.actor == CHANCE else list(state.actions())
                k = moves.index(labels[depth])
                reach = self.after(state, labels[:depth], hand, reach, k)
                state = state.child(k)
        return result
