"""EVs of the actions of one hand in a solved spot, by recursion over all opponent hands and all cards.

Written from the definition: the hand's winnings of the current pot minus its own later chips, with both players
following the solution. One deal at a time, no vectors; only the strategy is read from the solution.
"""

from __future__ import annotations

from itertools import product

from riverboat.cards.deck import HAND_CARDS, card_name
from riverboat.cards.ranking import rank
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.holdem.betting import STREET_NOTATION, BettingState


class SlowSpot:
    """A solution read node by node, with cached strategies."""

    def __init__(self, solution):
        self.solution, self.spot = solution, solution.tree.game
        self.nodes = {}

    def node(self, line):
        if line not in self.nodes:
            node = self.solution[line]
            self.nodes[line] = node.actions, node.strategy if node.player >= 0 else None
        return self.nodes[line]

    def moves(self, line, hand):
        """Actions and probabilities of a hand."""
        actions, played = self.node(line)
        return list(zip(actions, played[:, hand].tolist(), strict=True))

    def after(self, state, label):
        move = STREET_NOTATION.parse(state.rules.compact, state.compact, label)
        return state.apply_action(move)

    def won(self, state, line, board, hands, seat):
        """Chips of a seat from a state on, since the root of the spot."""
        if state.actor == TERMINAL:
            better = 0
            if state.folded is None:
                first, second = (rank((*HAND_CARDS[h].tolist(), *board)) for h in hands)
                better = (first > second) - (first < second)
            return state.payoffs(self.spot.start.spent)[1 - better][seat]
        if state.actor == CHANCE:
            gone = {*board, *(int(c) for h in hands for c in HAND_CARDS[h])}
            left = [c for c in range(52) if c not in gone]
            total = 0.0
            for card in left:
                total += self.won(state.next_street(), f"{line}/{card_name(card)}", (*board, card), hands, seat)
            return total / len(left)
        return sum(
            p * self.won(self.after(state, label), f"{line}-{label}".removeprefix("-"), board, hands, seat)
            for label, p in self.moves(line, hands[state.actor])
            if p > 0
        )

    def move_evs(self, line, hand, seat):
        """EV of each action of a hand at a line of the first street."""
        state, path = self.spot.start, []
        for label in line.split("-") if line else ():
            path.append(("-".join(part for part, _, _ in path), label, state.actor))
            path[-1] = (label, path[-1][0], state.actor)
            state = self.after(state, label)
        sums, mass = {}, 0.0
        cards = set(HAND_CARDS[hand].tolist())
        for other in self.spot.weights[1 - seat].nonzero()[0].tolist():
            if cards & set(HAND_CARDS[other].tolist()):
                continue
            weight = float(self.spot.weights[1 - seat][other])
            for label, before, actor in path:
                if actor != seat:
                    weight *= dict(self.moves(before, other))[label]
            if weight == 0:
                continue
            mass += weight
            hands = (hand, other) if seat == 0 else (other, hand)
            for (label, _), _ in product(self.moves(line, hand), (0,)):
                below = f"{line}-{label}".removeprefix("-")
                value = self.won(self.after(state, label), below, self.spot.board, hands, seat)
                sums[label] = sums.get(label, 0.0) + weight * value
        spent = state.spent[seat] - self.spot.start.spent[seat]
        return {label: total / mass + spent for label, total in sums.items()}


def start_of(spot):
    """The betting at the root."""
    return BettingState(spot.rules, spot.start.at)
