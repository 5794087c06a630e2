"""Reference for local best response: one hand, one board and one opponent hand at a time.

Every action and every card is tried.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations
from math import comb, floor

from riverboat.cards.ranking import rank
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.holdem.actions import END_OF_LINE, format_action
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.public_states import PublicStates

Hand = tuple[int, ...]
POTS = {"fc": [], "fcpa": [1.0], "56": [0.05 * 1.15**k for k in range(53)]}


class Responder:
    """Exact winnings of a local best response against an agent, for small games."""

    def __init__(self, agent, rules, actions="fcpa", start=0):
        self.rules, self.actions, self.start = rules, actions, start
        self.deck = rules.deck.cards.tolist()
        hands = [tuple(hand) for hand in rules.deck.hands.tolist()]

        @cache
        def asked(line, board):
            result = agent.strategies(PublicStates.from_lines(rules, [line], [board]))
            labels = [format_action(move, rules) for move in result.moves[0].tolist() if move != END_OF_LINE]
            rows = result.probabilities[0].tolist()
            return {hand: dict(zip(labels, row, strict=False)) for hand, row in zip(hands, rows, strict=True)}

        self.asked, self.hands = asked, hands
        self.strength = cache(lambda hand, board: rank([*hand, *board]))

    def value(self, seat):
        """Winnings per hand in a seat, in chips."""
        pairs = sum(not set(a) & set(b) for a, b in permutations(self.hands, 2))
        state, total = BettingState.start(self.rules), 0.0
        for own in self.hands:
            others = {hand: 1.0 for hand in self.hands if not set(hand) & set(own)}
            total += self.walk(state, (), own, others, seat)
        return total / pairs

    def share(self, mine, board, others):
        """A hand's share of the opponent's weight without further bets, averaged over the cards to come."""
        missing = self.rules.board_sizes[-1] - len(board)
        total = 0.0
        for other, weight in others.items():
            left = [card for card in self.deck if card not in (*mine, *other, *board)]
            boards = [(*board, *cards) for cards in combinations(left, missing)]
            won = 0.0
            for full in boards:
                a, b = self.strength(mine, full), self.strength(other, full)
                won += (a > b) + (a == b) / 2
            total += weight * won / len(boards)
        return total

    def raises(self, state):
        span = state.raise_range()
        if self.actions == "fc" or span is None:
            return []
        high = max(state.spent)
        totals = {min(max(high + floor(2 * high * pots + 0.5), span.least), span.most) for pots in POTS[self.actions]}
        return [format_action(total, self.rules) for total in sorted({*totals, span.most})]

    def choice(self, state, board, mine, others, seat):
        """The action that it takes."""
        if state.street < self.start:
            return "c"
        requested, weight = state.to_call, sum(others.values())
        pot = 2 * min(state.spent) + requested  # the opponent's chips beyond the own stack are not at stake
        if not weight:
            return "f" if requested else "c"
        wp = self.share(mine, board, others) / weight
        best, most = "c", wp * pot - (1 - wp) * requested
        for label in self.raises(state):
            after = state.apply_action(state.parse_action(label))
            rows = self.asked(after.line, board)
            stay = {hand: w * (1 - rows[hand].get("f", 0.0)) for hand, w in others.items()}
            stored = sum(stay.values())
            fp = 1 - stored / weight
            wp = self.share(mine, board, stay) / stored if stored else 0.0
            a = min(after.spent[seat], (self.rules.stacks or (10**9,) * 2)[1 - seat]) - state.spent[seat] - requested
            utility = fp * pot + (1 - fp) * (wp * (pot + a) - (1 - wp) * (requested + a))
            if utility >= most - 1e-9:
                best, most = label, utility
        return "f" if most <= 1e-9 and requested else best

    def walk(self, state, board, mine, others, seat):
        """Winnings from here, summed over the opponent's hands by their weights."""
        others = {hand: weight for hand, weight in others.items() if weight > 0}
        if not others:
            return 0.0
        if state.folded is not None:
            return (-1 if state.folded == seat else 1) * state.stake * sum(others.values())
        if state.actor == TERMINAL or (state.actor == CHANCE and not self._bets(state)):
            won = self.share(mine, board, others)
            return state.stake * (2 * won - sum(others.values()))
        if state.actor == CHANCE:
            after = state.next_street()
            count = self.rules.board_sizes[after.street] - len(board)
            left = [card for card in self.deck if card not in (*board, *mine)]
            chance, total = 1 / comb(len(left) - self.rules.hole, count), 0.0
            for dealt in combinations(left, count):
                rest = {hand: weight for hand, weight in others.items() if not set(hand) & set(dealt)}
                total += chance * self.walk(after, (*board, *dealt), mine, rest, seat)
            return total
        if state.turn == seat:
            label = self.choice(state, board, mine, others, seat)
            return self.walk(state.apply_action(state.parse_action(label)), board, mine, others, seat)
        rows = self.asked(state.line, board)
        total = 0.0
        for label in rows[next(iter(others))]:
            moved = {hand: weight * rows[hand][label] for hand, weight in others.items()}
            if any(moved.values()):
                total += self.walk(state.apply_action(state.parse_action(label)), board, mine, moved, seat)
        return total

    def _bets(self, state):
        """Whether a player may still bet on the next street."""
        after = state
        while after.actor == CHANCE:
            after = after.next_street()
        return after.actor != TERMINAL
