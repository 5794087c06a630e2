"""Reference for head and blades: Algorithm 4 of Brown, Ganzfried & Sandholm (2015) by recursion, with dictionaries.

The head traverses the first street twice with the same random numbers: the first pass collects the continuations, the
second has their values. Each blade samples a flop of its own for every deal. `Expectation` enumerates all deals for the
exact mean of the increments of one iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, permutations
from typing import Any

from reference.external_sampling import Key, number
from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.cards.ranking import rank
from riverboat.games.holdem.action_tree import ActionTree

BLOCK = 64
Flop = tuple[int, ...]
Table = dict[Key, list[float]]
Waiting = list[tuple[Table, Key, list[float]]]


def flops_of(cards: CardAbstraction, parts: list[range]) -> list[list[Flop]]:
    """Flops of the public buckets of each blade."""
    assert cards.public is not None
    everything = list(combinations(cards.deck.cards.tolist(), cards.public.cards))
    return [[f for f in everything if cards.public_bucket(f) in part] for part in parts]


def strength(tree: ActionTree, hands: list[list[int]], board: list[int]) -> int:
    """1, 0 or -1 for seat 0."""
    first, second = (rank([*hand, *board]) for hand in hands)
    return (first > second) - (first < second)


@dataclass
class Algorithm4:
    """Regrets and averages of head and blades by line and bucket."""

    tree: ActionTree
    cards: CardAbstraction
    seed: int
    blades: list[list[Flop]]
    batch: int
    group: int
    weighted: bool = True
    regret: Table = field(default_factory=dict)
    average: Table = field(default_factory=dict)
    visits: int = 0

    def run(self, deals: int) -> None:
        """Run deals 0, 1, … in batches."""
        for begin in range(0, deals, self.batch):
            self._batch(range(begin, min(begin + self.batch, deals)))

    def _batch(self, numbers: range) -> None:
        dealt = []
        for i in numbers:
            key = number(self.seed, i)
            cards = self._draw(key, [], 2 * self.tree.rules.hole + sum(self.tree.rules.board))
            hole = self.tree.rules.hole
            hands, board = [cards[:hole], cards[hole : 2 * hole]], cards[2 * hole :]
            roots: list[tuple[int, int]] = []
            for me in (0, 1):
                visits = self.visits
                self._walk(0, me, key, hands, board, 1.0, [], lambda node, me=me, roots=roots: roots.append((node, me)))
                self.visits = visits
            dealt.append((key, hands, board, roots))
        values: list[dict[tuple[int, int], float]] = [{} for _ in dealt]
        for n, flops in enumerate(self.blades):
            for low in range(0, len(dealt), BLOCK):
                self._blade(n, flops, dealt[low : low + BLOCK], values[low : low + BLOCK])
        waiting: Waiting = []
        for (key, hands, board, roots), expected in zip(dealt, values, strict=True):
            total = sum(len(self._possible(flops, hands)) for flops in self.blades)
            for me in (0, 1):
                self._walk(
                    0, me, key, hands, board, 1.0, waiting,
                    lambda node, me=me, expected=expected, total=total: expected[node, me] / total,
                )  # fmt: skip
            assert len(roots) == len(expected)
        self._add(waiting)

    def _possible(self, flops: list[Flop], hands: list[list[int]]) -> list[Flop]:
        return [f for f in flops if not {*f} & {*hands[0], *hands[1]}]

    def _blade(self, n: int, flops: list[Flop], dealt: list[Any], values: list[dict[tuple[int, int], float]]) -> None:
        mean = self._mean(flops)
        played = [k for k, (_, hands, _, roots) in enumerate(dealt) if roots and self._possible(flops, hands)]
        for low in range(0, len(played), self.group):
            waiting: Waiting = []
            for k in played[low : low + self.group]:
                key, hands, _, roots = dealt[k]
                key = number(key, 2**40 + n)
                possible, tries = self._possible(flops, hands), 0
                while True:
                    flop = flops[(number(key, 2**39 + tries) >> 32) * len(flops) >> 32]
                    tries += 1
                    if flop in possible:
                        break
                taken = [*hands[0], *hands[1], *flop]
                rest = self._draw(key, taken, sum(self.tree.rules.board) - len(flop))
                weight = len(possible) / mean if self.weighted else 1.0
                for node, me in roots:
                    result = self._walk(node, me, key, hands, [*flop, *rest], weight, waiting, None)
                    values[k][node, me] = values[k].get((node, me), 0.0) + len(possible) * result
            self._add(waiting)

    def _mean(self, flops: list[Flop]) -> float:
        """Mean of |F|, by enumeration of all dealt cards."""
        deck, num_cards = self.tree.rules.deck.cards.tolist(), 2 * self.tree.rules.hole
        counts = [len(self._possible(flops, [list(c), []])) for c in combinations(deck, num_cards)]
        return sum(counts) / len(counts)

    def _draw(self, key: int, taken: list[int], count: int) -> list[int]:
        deck, drawn, tries = self.tree.rules.deck.cards.tolist(), [], 0
        while len(drawn) < count:
            bits = number(key, tries // 2)
            card = deck[(bits >> 32 if tries % 2 else bits % 2**32) * len(deck) >> 32]
            tries += 1
            if card not in drawn and card not in taken:
                drawn.append(card)
        return drawn

    def _add(self, waiting: Waiting) -> None:
        for table, where, amounts in waiting:
            row = table.setdefault(where, [0.0] * len(amounts))
            for a, amount in enumerate(amounts):
                row[a] += amount

    def _walk(
        self,
        node: int,
        me: int,
        key: int,
        hands: list[list[int]],
        board: list[int],
        weight: float,
        waiting: Waiting,
        leave: Callable[[int], Any] | None,
    ) -> float:
        tree = self.tree
        if tree.actor[node] < 0:
            return pay(tree, node, me, strength(tree, hands, board))
        if leave is not None and tree.street[node] > 0:
            return float(leave(node) or 0.0)
        self.visits += 1
        where = place(tree, self.cards, node, hands, board)
        positive = [max(r, 0.0) for r in self.regret.get(where, [0.0] * int(tree.count[node]))]
        total, moves = sum(positive), len(positive)
        sigma = [r / total if total > 0 else 1 / moves for r in positive]
        if tree.actor[node] != me:
            waiting.append((self.average, where, [weight * p for p in sigma]))
            x, a = (number(key, 64 + 2 * node + me) >> 40) / 2**24, 0
            while a < moves - 1 and x >= sum(sigma[: a + 1]):
                a += 1
            return self._walk(int(tree.first[node]) + a, me, key, hands, board, weight, waiting, leave)
        values = [self._walk(child, me, key, hands, board, weight, waiting, leave) for child in tree.children(node)]
        value = sum(p * v for p, v in zip(sigma, values, strict=True))
        waiting.append((self.regret, where, [weight * (v - value) for v in values]))
        return value


def pay(tree: ActionTree, node: int, me: int, result: int) -> float:
    """Payoff of a seat at the end of a hand."""
    return float(tree.payoff[node]) * (result if tree.showdown[node] else 1) * (1 - 2 * me)


def place(tree: ActionTree, cards: CardAbstraction, node: int, hands: list[list[int]], board: list[int]) -> Key:
    """Line and bucket of the player to act."""
    num_board_cards = tree.rules.board_sizes[tree.street[node]]
    return tree.line(node), cards.bucket(hands[tree.actor[node]], board[:num_board_cards])


# --- expectations -----------------------------------------------------------------------------


@dataclass
class Expectation:
    """Exact means for a fixed strategy, by enumeration."""

    tree: ActionTree
    cards: CardAbstraction
    strategy: Callable[[int, Key], list[float]]

    def deals(self) -> Iterator[tuple[float, list[list[int]]]]:
        """All hands of both players, with their probability."""
        hole = self.tree.rules.hole
        everything = list(permutations(self.tree.rules.deck.cards.tolist(), 2 * hole))
        for cards in everything:
            yield 1 / len(everything), [list(cards[:hole]), list(cards[hole:])]

    def boards(self, hands: list[list[int]], flops: list[Flop]) -> Iterator[tuple[float, list[int]]]:
        """Boards that begin with one of some flops, each flop with equal probability."""
        possible = [f for f in flops if not {*f} & {*hands[0], *hands[1]}]
        for flop in possible:
            left = [c for c in self.tree.rules.deck.cards.tolist() if c not in (*hands[0], *hands[1], *flop)]
            rest = list(permutations(left, sum(self.tree.rules.board) - len(flop)))
            for cards in rest:
                yield 1 / len(possible) / len(rest), [*flop, *cards]

    def value(self, node: int, me: int, hands: list[list[int]], board: list[int], reach: float, out: Table) -> float:
        """Value to a seat when both play the strategy.

        Regret increments, times `reach` and the opponent's probability, go to `out`.
        """
        tree = self.tree
        if tree.actor[node] < 0:
            return pay(tree, node, me, strength(tree, hands, board))
        where = place(tree, self.cards, node, hands, board)
        sigma = self.strategy(node, where)
        own = tree.actor[node] == me
        values = [
            self.value(child, me, hands, board, reach if own else reach * p, out)
            for child, p in zip(tree.children(node), sigma, strict=True)
        ]
        value = sum(p * v for p, v in zip(sigma, values, strict=True))
        if own and reach > 0:
            row = out.setdefault(where, [0.0] * len(sigma))
            for a, v in enumerate(values):
                row[a] += reach * (v - value)
        return value
