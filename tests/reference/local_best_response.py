"""Local best response, plainly: one hand, one board and one opponent's hand at a time; every move and every card is tried."""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations
from math import comb, floor

from riverboat.cards.ranking import rank
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.holdem.actions import END, show_move
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.public_state import Places

Hand = tuple[int, ...]
POTS = {"fc": [], "fcpa": [1.0], "56": [0.05 * 1.15**k for k in range(53)]}


class Responder:
    """What a local best response wins of an agent, exactly: for small games."""

    def __init__(self, agent, rules, actions="fcpa", start=0):
        self.rules, self.actions, self.start = rules, actions, start
        self.deck = rules.deck.cards.tolist()
        hands = [tuple(hand) for hand in rules.deck.hands.tolist()]

        @cache
        def asked(line, board):
            found = agent.strategies(Places.from_lines(rules, [line], [board]))
            labels = [show_move(move, rules) for move in found.moves[0].tolist() if move != END]
            rows = found.probabilities[0].tolist()
            return {hand: dict(zip(labels, row, strict=False)) for hand, row in zip(hands, rows, strict=True)}

        self.asked, self.hands = asked, hands
        self.strength = cache(lambda hand, board: rank([*hand, *board]))

    def value(self, seat):
        """What it wins a hand in a seat, in chips."""
        pairs = sum(not set(a) & set(b) for a, b in permutations(self.hands, 2))
        state, total = Betting.start(self.rules), 0.0
        for mine in self.hands:
            others = {hand: 1.0 for hand in self.hands if not set(hand) & set(mine)}
            total += self.walk(state, (), mine, others, seat)
        return total / pairs

    def share(self, mine, board, others):
        """What a hand wins of the others' weight when nobody bets any more, on average over the cards to come."""
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
        return [show_move(total, self.rules) for total in sorted({*totals, span.most})]

    def choice(self, state, board, mine, others, seat):
        """The move that it makes."""
        if state.street < self.start:
            return "c"
        asked, weight = state.to_call, sum(others.values())
        pot = 2 * min(state.spent) + asked  # the other's chips beyond one's stack are not played for
        if not weight:
            return "f" if asked else "c"
        wp = self.share(mine, board, others) / weight
        best, most = "c", wp * pot - (1 - wp) * asked
        for label in self.raises(state):
            after = state.play(label)
            rows = self.asked(after.line, board)
            stay = {hand: w * (1 - rows[hand].get("f", 0.0)) for hand, w in others.items()}
            kept = sum(stay.values())
            fp = 1 - kept / weight
            wp = self.share(mine, board, stay) / kept if kept else 0.0
            a = min(after.spent[seat], (self.rules.stacks or (10**9,) * 2)[1 - seat]) - state.spent[seat] - asked
            utility = fp * pot + (1 - fp) * (wp * (pot + a) - (1 - wp) * (asked + a))
            if utility >= most - 1e-9:
                best, most = label, utility
        return "f" if most <= 1e-9 and asked else best

    def walk(self, state, board, mine, others, seat):
        """What it wins from here on, summed over the other's hands by their weights."""
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
            return self.walk(state.play(label), board, mine, others, seat)
        rows = self.asked(state.line, board)
        total = 0.0
        for label in rows[next(iter(others))]:
            moved = {hand: weight * rows[hand][label] for hand, weight in others.items()}
            if any(moved.values()):
                total += self.walk(state.play(label), board, mine, moved, seat)
        return total

    def _bets(self, state):
        """Whether somebody may still bet when the next cards lie."""
        after = state
        while after.actor == CHANCE:
            after = after.next_street()
        return after.actor != TERMINAL
