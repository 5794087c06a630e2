"""Reference for blueprint training: external sampling by recursion over betting states, with dictionaries.

Lanctot et al. 2009, in the form of Brown, Ganzfried & Sandholm 2015 (Algorithm 4): the traverser tries all actions and
adds u(a) - Σ σ u to its regrets; the opponent's action is sampled, and its strategy is added to its average. The order
of random numbers is documented in `riverboat.engines.sampling._kernels.external`: number k of a key is splitmix64 at
position k.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.cards.ranking import rank
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.games.holdem.betting import BettingState

Key = tuple[str, int]  # line and bucket
MASK = 2**64 - 1


def number(key: int, k: int) -> int:
    """Number k of splitmix64 that starts at a key (Steele, Lea & Flood 2014)."""
    z = (key + (k + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
    return z ^ z >> 31


@dataclass
class ExternalSampling:
    """Regrets and averages by line and bucket."""

    tree: ActionTree
    cards: CardAbstraction
    seed: int
    group: int  # deals that are traversed with the strategy at the start of the group
    threshold: float | None = None  # pruning
    odds: float = 0.0
    floor: float = float("-inf")
    runouts: int = 0  # sampled boards over which an all-in is averaged
    regret: dict[Key, list[float]] = field(default_factory=dict)
    average: dict[Key, list[float]] = field(default_factory=dict)
    visits: int = 0

    def run(self, deals: int) -> None:
        """Run deals 0, 1, …"""
        for begin in range(0, deals, self.group):
            waiting: list[tuple[dict[Key, list[float]], Key, list[float]]] = []
            for i in range(begin, min(begin + self.group, deals)):
                key = number(self.seed, i)
                hands, board = self._deal(key)
                skip = self.threshold is not None and (number(key, 63) >> 40) / 2**24 < self.odds
                for me in (0, 1):
                    self._walk(BettingState.start(self.tree.rules), me, key, hands, board, skip, waiting)
            for table, where, amounts in waiting:
                row = table.setdefault(where, [0.0] * len(amounts))
                for a, amount in enumerate(amounts):
                    row[a] = max(row[a] + amount, self.floor) if table is self.regret else row[a] + amount

    def _deal(self, key: int) -> tuple[list[list[int]], list[int]]:
        """Deal cards one after the other from 32 bits each; a card that is taken is drawn again."""
        rules, deck = self.tree.rules, self.tree.rules.deck.cards.tolist()
        drawn: list[int] = []
        tries = 0
        while len(drawn) < 2 * rules.hole + sum(rules.board):
            bits = number(key, tries // 2)
            card = deck[(bits >> 32 if tries % 2 else bits % 2**32) * len(deck) >> 32]
            tries += 1
            if card not in drawn:
                drawn.append(card)
        return [drawn[: rules.hole], drawn[rules.hole : 2 * rules.hole]], drawn[2 * rules.hole :]

    def _outcome(self, hands: list[list[int]], board: list[int]) -> int:
        strength = [rank(hand + board) for hand in hands]
        return 0 if strength[0] > strength[1] else 1 if strength[0] == strength[1] else 2

    def _boards(self, key: int, hands: list[list[int]], board: list[int], street: int) -> list[list[int]]:
        """The dealt board, or new boards after the known cards: those of earlier streets are drawn first."""
        sizes, deck = self.tree.rules.board_sizes, self.tree.rules.deck.cards.tolist()
        if self.runouts == 0 or street == len(sizes) - 1:
            return [board]
        own, tries, boards = number(key, 1 << 41), 0, []
        for expected in sizes[: street + 1]:
            boards = []
            for _ in range(self.runouts):
                drawn = board[:expected]
                while len(drawn) < len(board):
                    bits = number(own, tries // 2)
                    card = deck[(bits >> 32 if tries % 2 else bits % 2**32) * len(deck) >> 32]
                    tries += 1
                    if card not in drawn and card not in [*hands[0], *hands[1]]:
                        drawn.append(card)
                boards.append(drawn)
        return boards

    def sigma(self, where: Key, moves: int) -> list[float]:
        """Regret matching."""
        positive = [max(r, 0.0) for r in self.regret.get(where, [0.0] * moves)]
        total = sum(positive)
        return [r / total if total > 0 else 1 / moves for r in positive]

    def _walk(self, state, me, key, hands, board, skip, waiting):  # type: ignore[no-untyped-def]
        street = state.street  # of the last action
        while state.actor == CHANCE:
            state = state.next_street()
        if state.actor == TERMINAL:
            pays = [state.payoffs()[self._outcome(hands, full)][me] for full in self._boards(key, hands, board, street)]
            return sum(pays) / len(pays)
        self.visits += 1
        node = self.tree.find(state.line)
        moves = self.tree.actions(node)
        num_board_cards = self.tree.rules.board_sizes[state.street]
        where = (state.line, self.cards.bucket(hands[state.actor], board[:num_board_cards]))
        sigma = self.sigma(where, len(moves))
        following = [state.apply_action(state.parse_action(move)) for move in moves]
        if state.actor != me:
            waiting.append((self.average, where, sigma))
            x = (number(key, 64 + 2 * node + me) >> 40) / 2**24
            a = 0
            while a < len(moves) - 1 and x >= sum(sigma[: a + 1]):
                a += 1
            return self._walk(following[a], me, key, hands, board, skip, waiting)
        live = [True] * len(moves)
        if skip and state.street < self.tree.rules.rounds - 1:
            regrets = self.regret.get(where, [0.0] * len(moves))
            live = [r >= self.threshold or self._ends(after) for r, after in zip(regrets, following, strict=True)]
            if not any(live):
                live = [True] * len(moves)
            if all(r <= 0 for r in regrets):
                sigma = [x / sum(live) for x in live]
        values = [
            self._walk(after, me, key, hands, board, skip, waiting) if there else 0.0
            for after, there in zip(following, live, strict=True)
        ]
        value = sum(p * v for p, v in zip(sigma, values, strict=True))
        waiting.append(
            (self.regret, where, [v - value if there else 0.0 for v, there in zip(values, live, strict=True)])
        )
        return value

    def _ends(self, state: BettingState) -> bool:
        while state.actor == CHANCE:
            state = state.next_street()
        return state.actor == TERMINAL
