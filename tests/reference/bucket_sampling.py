"""Reference for the other traversals of blueprint trainers, by recursion over betting states, with dictionaries.

Chance sampling: Zinkevich et al. 2007, one deal and all actions. Pure CFR: Gibson 2014, one deal and a sampled action
for each player. Public chance sampling: Johanson et al. 2012, one board and all pairs of hands, one pair at a time at
terminals. Random numbers are those of `external_sampling`.
"""

from __future__ import annotations

from functools import cached_property
from itertools import combinations

from reference.external_sampling import ExternalSampling, Key, number
from riverboat.abstraction.cards.card_abstraction import CardAbstraction, lossless_abstraction
from riverboat.cards.ranking import rank
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.holdem.betting import BettingState

Hand = tuple[int, ...]
Waiting = list[tuple[dict[Key, list[float]], Key, list[float]]]


class BucketSampling(ExternalSampling):
    """Regrets and averages by line and bucket, for one of the traversals below."""

    def run(self, begin: int, end: int) -> None:  # type: ignore[override]
        """Run iterations begin … end - 1."""
        for i in range(begin, end):
            for waiting in self.walks(number(self.seed, i)):
                self.add(waiting)

    def run_together(self, begin: int, end: int) -> None:
        """Run iterations begin … end - 1, all with the strategy at the start."""
        pending = [waiting for i in range(begin, end) for waiting in self.walks(number(self.seed, i))]
        for waiting in pending:
            self.add(waiting)

    def add(self, waiting: Waiting) -> None:
        for table, where, amounts in waiting:
            row = table.setdefault(where, [0.0] * len(amounts))
            row[:] = [old + amount for old, amount in zip(row, amounts, strict=True)]

    def walks(self, key: int):  # type: ignore[no-untyped-def]
        """Increments of each traversal of an iteration, one after the other."""
        raise NotImplementedError

    def start(self) -> BettingState:
        return BettingState.start(self.tree.rules)

    def bucket(self, state: BettingState, hand: Hand, board: list[int]) -> Key:
        return state.line, self.cards.bucket(hand, board[: self.tree.rules.board_sizes[state.street]])

    def won(self, state: BettingState, hands: list[Hand], board: list[int], me: int) -> float:
        strength = [self.strength(hand, board) for hand in hands]
        outcome = 0 if strength[0] > strength[1] else 1 if strength[0] == strength[1] else 2
        return float(state.payoffs()[outcome][me])

    def strength(self, hand: Hand, board: list[int]) -> int:
        return int(rank([*hand, *board]))

    def children(self, state: BettingState) -> list[BettingState]:
        return [state.apply_action(state.parse_action(move)) for move in self.tree.actions(self.tree.find(state.line))]


def dealt(state: BettingState) -> BettingState:
    """A state after all pending deals."""
    while state.actor == CHANCE:
        state = state.next_street()
    return state


class ChanceSampling(BucketSampling):
    """Chance sampling: one deal, all actions."""

    def walks(self, key):  # type: ignore[no-untyped-def]
        hands, board = self._deal(key)
        yield self.increments([tuple(hand) for hand in hands], board)

    def increments(self, hands: list[Hand], board: list[int]) -> Waiting:
        """Increments of one deal."""
        waiting: Waiting = []
        self._visit(self.start(), (1.0, 1.0), hands, board, waiting)
        return waiting

    def _visit(self, state, reach, hands, board, waiting):  # type: ignore[no-untyped-def]
        state = dealt(state)
        if state.actor == TERMINAL:
            return self.won(state, hands, board, 0)
        self.visits += max(reach) > 0
        me = state.actor
        where, following = self.bucket(state, hands[me], board), self.children(state)
        sigma = self.sigma(where, len(following))
        values = []
        for p, after in zip(sigma, following, strict=True):
            onward = [x * (p if seat == me else 1.0) for seat, x in enumerate(reach)]
            values.append(self._visit(after, onward, hands, board, waiting))
        value = sum(p * v for p, v in zip(sigma, values, strict=True))
        sign = 1 - 2 * me
        waiting.append((self.average, where, [reach[me] * p for p in sigma]))
        waiting.append((self.regret, where, [reach[1 - me] * sign * (v - value) for v in values]))
        return value


class PureCFR(BucketSampling):
    """Pure CFR: one deal, two traversals, a sampled action at every decision."""

    def walks(self, key):  # type: ignore[no-untyped-def]
        hands, board = self._deal(key)
        for me in (0, 1):
            waiting: Waiting = []
            self._visit(self.start(), me, key, [tuple(hand) for hand in hands], board, waiting)
            yield waiting

    def _visit(self, state, me, key, hands, board, waiting):  # type: ignore[no-untyped-def]
        state = dealt(state)
        if state.actor == TERMINAL:
            return self.won(state, hands, board, me)
        self.visits += 1
        where, following = self.bucket(state, hands[state.actor], board), self.children(state)
        sigma = self.sigma(where, len(following))
        x = (number(key, 64 + 2 * self.tree.find(state.line) + me) >> 40) / 2**24
        chosen = 0
        while chosen < len(sigma) - 1 and x >= sum(sigma[: chosen + 1]):
            chosen += 1
        if state.actor != me:
            waiting.append((self.average, where, [float(a == chosen) for a in range(len(sigma))]))
            return self._visit(following[chosen], me, key, hands, board, waiting)
        values = [self._visit(after, me, key, hands, board, waiting) for after in following]
        waiting.append((self.regret, where, [v - values[chosen] for v in values]))
        return values[chosen]


class PublicChanceSampling(BucketSampling):
    """Public chance sampling: one board, all hands."""

    def walks(self, key):  # type: ignore[no-untyped-def]
        yield self.increments(self.board(key))

    def board(self, key: int) -> list[int]:
        deck, size = self.tree.rules.deck.cards.tolist(), sum(self.tree.rules.board)
        board: list[int] = []
        tries = 0
        while len(board) < size:
            bits = number(key, tries // 2)
            card = deck[(bits >> 32 if tries % 2 else bits % 2**32) * len(deck) >> 32]
            tries += 1
            if card not in board:
                board.append(card)
        return board

    def hands(self, shown: list[int]) -> list[Hand]:
        rules = self.tree.rules
        return [h for h in combinations(rules.deck.cards.tolist(), rules.hole) if not {*h} & {*shown}]

    def increments(self, board: list[int]) -> Waiting:
        """Increments of one board."""
        waiting: Waiting = []
        ones = dict.fromkeys(self.hands([]), 1.0)
        self._visit(self.start(), (ones, ones), board, waiting)
        return waiting

    def _visit(self, state, reach, board, waiting):  # type: ignore[no-untyped-def]
        """Values to both seats by hand, times the probability of the opponent's hands and its reach."""
        state = dealt(state)
        rules = self.tree.rules
        if state.actor == TERMINAL:
            folded = state.payoffs()[0] == state.payoffs()[2]
            visible = board[: rules.board_sizes[state.street]] if folded else board
            hands = self.hands(visible)
            pairs = [(x, y) for x in hands for y in hands if not {*x} & {*y}]
            value = ({}, {})
            expected = {h: 0 if folded else self.strength(h, board) for h in hands}
            for x, y in pairs:
                outcome = 0 if expected[x] > expected[y] else 1 if expected[x] == expected[y] else 2
                pay = state.payoffs()[outcome]
                value[0][x] = value[0].get(x, 0.0) + reach[1][y] * pay[0] / len(pairs)
                value[1][y] = value[1].get(y, 0.0) + reach[0][x] * pay[1] / len(pairs)
            return value
        me, following = state.actor, self.children(state)
        live = self.hands(board[: rules.board_sizes[state.street]])
        wheres = {h: self.bucket(state, h, board) for h in live}
        sigma = {h: self.sigma(wheres[h], len(following)) for h in live}
        self.visits += len(live) * any(max(r[h] for h in live) > 0 for r in reach)
        value, moves = ({}, {}), []
        for a, after in enumerate(following):
            own = {h: reach[me][h] * sigma[h][a] for h in live}
            moves.append(self._visit(after, (own, reach[1]) if me == 0 else (reach[0], own), board, waiting))
        for h in live:
            result = [v[me].get(h, 0.0) for v in moves]
            value[me][h] = sum(p * x for p, x in zip(sigma[h], result, strict=True))
            value[1 - me][h] = sum(v[1 - me].get(h, 0.0) for v in moves)
            waiting.append((self.regret, wheres[h], [x - value[me][h] for x in result]))
            waiting.append((self.average, wheres[h], [reach[me][h] / len(live) * p for p in sigma[h]]))
        return value


class OpponentPublicSampling(PublicChanceSampling):
    """OPCS: one board; each seat in turn with all its hands against one hand of the opponent."""

    own_all = True

    def walks(self, key):  # type: ignore[no-untyped-def]
        rules = self.tree.rules
        deck, drawn, tries = rules.deck.cards.tolist(), [], 0
        board: list[int] = []
        for size, into in ((sum(rules.board), board), (rules.hole, []), (rules.hole, [])):
            while len(into) < size:
                bits = number(key, tries // 2)
                card = deck[(bits >> 32 if tries % 2 else bits % 2**32) * len(deck) >> 32]
                tries += 1
                if card not in board and card not in into:
                    into.append(card)
            drawn.append(tuple(sorted(into)))
        for me, one in enumerate(drawn[1:]):
            yield self.half(me, one, board)

    def half(self, me: int, one: Hand, board: list[int]) -> Waiting:
        """Increments of one traverser from a board and the sampled hand."""
        waiting: Waiting = []
        many = me if self.own_all else 1 - me
        ones = {h: float(not {*h} & {*one}) for h in self.hands([])}
        self._half(self.start(), me, many, ones, one, 1.0, board, waiting)
        return waiting

    def _half(self, state, me, many, reach, one, single, board, waiting):  # type: ignore[no-untyped-def]
        """Values to seat `me`, for the vector of hands or the sampled one, times the opponent's probability."""
        state, rules = dealt(state), self.tree.rules
        if state.actor == TERMINAL:
            folded = state.payoffs()[0] == state.payoffs()[2]
            visible = board[: rules.board_sizes[state.street]] if folded else board
            hands = [h for h in self.hands(visible) if not {*h} & {*one}]
            value = {}
            for h in hands:
                pair = [h, one] if many == 0 else [one, h]
                pay = state.payoffs()[0][me] if folded else self.won(state, pair, board, me)
                if me == many:
                    value[h] = single * pay / len(hands)
                else:
                    value[one] = value.get(one, 0.0) + reach[h] * pay / len(hands)
            return value
        following = self.children(state)
        every = self.hands(board[: rules.board_sizes[state.street]])
        live = every if state.actor == many else [one]
        wheres = {h: self.bucket(state, h, board) for h in live}
        sigma = {h: self.sigma(wheres[h], len(following)) for h in live}
        if single + sum(reach[h] for h in every) > 0:
            self.visits += len(live)
        free = sum(not {*h} & {*one} for h in every)
        moves = []
        for a, after in enumerate(following):
            onward = {h: reach[h] * (sigma[h][a] if state.actor == many else 1.0) for h in every}
            next_single = single * (sigma[one][a] if state.actor != many else 1.0)
            moves.append(self._half(after, me, many, onward, one, next_single, board, waiting))
        if state.actor != me:
            return {h: sum(v.get(h, 0.0) for v in moves) for h in {h for v in moves for h in v}}
        value = {}
        for h in live:
            result = [v.get(h, 0.0) for v in moves]
            value[h] = sum(p * x for p, x in zip(sigma[h], result, strict=True))
            own = reach[h] / free if me == many else single
            waiting.append((self.regret, wheres[h], [x - value[h] for x in result]))
            waiting.append((self.average, wheres[h], [own * p for p in sigma[h]]))
        return value


class SelfPublicSampling(OpponentPublicSampling):
    """SPCS: one board; each seat in turn with one hand against all hands of the opponent."""

    own_all = False


class CfrBr(PublicChanceSampling):
    """CFR-BR: each seat with its buckets against an unabstracted opponent, which best-responds on the last street."""

    @cached_property
    def whole(self) -> CardAbstraction:
        return lossless_abstraction(self.tree.rules.board[1:], self.tree.rules.deck)

    @cached_property
    def hybrid(self) -> dict[Key, list[float]]:
        return {}

    def walks(self, key):  # type: ignore[no-untyped-def]
        board = self.board(key)
        ones = dict.fromkeys(self.hands([]), 1.0)
        for me in (0, 1):
            self.best: dict[tuple[str, Hand], int] = {}
            for walks, sees in ((1 - me, True), (me, False)):
                waiting: Waiting = []
                self._one(self.start(), walks, sees, ones, ones, board, waiting)
                yield waiting

    def played(self, state: BettingState, hand: Hand, board: list[int], sees: bool, moves: int):  # type: ignore[no-untyped-def]
        """Key of the strategy, and the strategy."""
        if not sees:
            where = self.bucket(state, hand, board)
            return self.regret, where, self.sigma(where, moves)
        where = state.line, self.whole.bucket(hand, board[: self.tree.rules.board_sizes[state.street]])
        positive = [max(r, 0.0) for r in self.hybrid.get(where, [0.0] * moves)]
        total = sum(positive)
        return self.hybrid, where, [r / total if total > 0 else 1 / moves for r in positive]

    def _one(self, state, me, sees, mine, others, board, waiting):  # type: ignore[no-untyped-def]
        """Values of one player's hands, times the probability of the opponent's hands and its reach."""
        state, rules = dealt(state), self.tree.rules
        if state.actor == TERMINAL:
            folded = state.payoffs()[0] == state.payoffs()[2]
            hands = self.hands(board[: rules.board_sizes[state.street]] if folded else board)
            pairs = [(x, y) for x in hands for y in hands if not {*x} & {*y}]
            expected = {h: 0 if folded else self.strength(h, board) for h in hands}
            value = dict.fromkeys(hands, 0.0)
            for x, y in pairs:
                outcome = 1 if expected[x] == expected[y] else 0 if (expected[x] > expected[y]) == (me == 0) else 2
                value[x] += others[y] * state.payoffs()[outcome][me] / len(pairs)
            return value
        last, following = state.street == rules.rounds - 1, self.children(state)
        live = self.hands(board[: rules.board_sizes[state.street]])
        self.visits += len(live)
        own = state.actor == me
        expected = {h: self.played(state, h, board, sees == own, len(following)) for h in live}
        whole = self.hands(board)
        margin = 1e-4 / sum(not {*x} & {*y} for x in whole for y in whole)
        moves = []
        for a, after in enumerate(following):
            x, y = dict(mine), dict(others)
            for h in live:
                if own and not (sees and last):
                    x[h] *= expected[h][2][a]
                elif not own and not sees and last:
                    y[h] *= self.best[state.line, h] == a
                elif not own:
                    y[h] *= expected[h][2][a]
            there = dealt(after)
            ends = there.actor == TERMINAL and there.payoffs()[0] != there.payoffs()[2]
            left = self.hands(board if ends else board[: rules.board_sizes[there.street]])
            reached = sum(y[h] for h in left) > 0
            moves.append(self._one(after, me, sees, x, y, board, waiting) if reached or sees else {})
        value = {}
        for h in live:
            result = [v.get(h, 0.0) for v in moves]
            if not own:
                value[h] = sum(result)
                continue
            table, where, sigma = expected[h]
            if sees and last:
                chosen = 0
                for a, v in enumerate(result):
                    if v > result[chosen] + margin:
                        chosen = a
                self.best[state.line, h] = chosen
                value[h] = result[chosen]
                continue
            value[h] = sum(p * v for p, v in zip(sigma, result, strict=True))
            waiting.append((table, where, [v - value[h] for v in result]))
            if not sees:
                waiting.append((self.average, where, [mine[h] / len(live) * p for p in sigma]))
        return value
