"""One street of a hand as a game of its own: what comes after it is a value at each of its exits.

    tree = street_tree(state, menu)
    solver = StreetSolver(tree, ranges, leaves, seat=0)
    solver.step(200)
    solver.average(node)                # float64 [moves, 1326]

Depth-limited solving (Brown, Sandholm, Amos 2018): the seat that searches goes on as its blueprint after the street, and the
other one chooses at every exit, with each hand, which of several ways to go on it takes. So the searching seat must do well
against all of them. What these are worth comes from `Leaves`, which are asked for all exits at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from riverboat.cards.deck import HAND_CARDS
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.holdem.actions import show_move
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.menus import Choices, Menu
from riverboat.solvers.boards.cfr import STAKES_SCHEDULE
from riverboat.solvers.schedules import Step

DECISION, FOLD, EXIT = 0, 1, 2
Play = Mapping[int, Array]  # float64 [moves, hands] by node: what is played on a street
MOST_NODES = 20_000


@dataclass(frozen=True, eq=False)
class StreetTree:
    """Nodes in preorder: decisions, folds, and exits: where the next card is dealt or nobody can bet any more."""

    states: tuple[Betting, ...]
    kind: tuple[int, ...]
    moves: tuple[tuple[int, ...], ...]  # real moves at decisions, as `games.holdem.actions` numbers them
    children: tuple[tuple[int, ...], ...]

    @property
    def exits(self) -> list[int]:
        """Nodes where the street ends with both in the hand."""
        return [node for node, kind in enumerate(self.kind) if kind == EXIT]

    def child(self, node: int, move: int) -> int | None:
        """Behind a move; None where the tree does not have it."""
        return self.children[node][self.moves[node].index(move)] if move in self.moves[node] else None


def street_tree(root: Betting, menu: Menu) -> StreetTree:
    """The betting that is left of a state's street."""
    if root.actor < 0:
        raise InputError(f"{root.line!r}: nobody acts there, so there is no street to solve")
    choices = Choices(root.rules, menu)
    states: list[Betting] = []
    kind: list[int] = []
    moves: list[tuple[int, ...]] = []
    children: list[list[int]] = []
    work = [(root, -1)]
    while work:
        state, parent = work.pop()
        node = len(states)
        if node > MOST_NODES:
            raise InputError(f"{root.line!r}: more than {MOST_NODES:,} nodes on one street; give fewer sizes")
        if parent >= 0:
            children[parent].append(node)
        acts = state.actor >= 0
        states.append(state)
        kind.append(DECISION if acts else FOLD if state.actor == TERMINAL and not state.showdown else EXIT)
        moves.append(tuple(choices.moves(state.at)) if acts else ())
        children.append([])
        work += [(state.play(show_move(move, root.rules)), node) for move in reversed(moves[node])]
    return StreetTree(tuple(states), tuple(kind), tuple(moves), tuple(tuple(c) for c in children))


def goes_on(state: Betting) -> bool:
    """Whether there is betting behind an exit."""
    return state.actor == CHANCE and state.next_street().actor >= 0


class Leaves(Protocol):
    """What exits are worth to hands, given who comes there. Arrays run over the hands that the board leaves.

    Values are counterfactual: each is a sum over the other's hands that can be held beside, times how often they come. They
    are shares of the pot at the exit, less what is put in later, in chips.
    """

    choices: int  # ways to go on, among which the other seat chooses

    def chooser(self, reach: Array) -> Array:
        """To the other seat, for each way. float64 [2 (the searching seat first), exits, hands] -> [exits, ways, hands]"""
        ...

    def searcher(self, reach: Array, picked: Array) -> Array:
        """To the searching seat; `picked` is how often each hand of the other comes and takes each way.

        float64 [2, exits, hands], [exits, ways, hands] -> [exits, hands]
        """
        ...


class RootChoice(Protocol):
    """What the other seat may do in front of a street, so that what is solved is safe to play (`street_gadgets`)."""

    total: float  # what gains are divided by

    def shares(self) -> Array:
        """What it does now."""
        ...

    def average(self) -> Array:
        """What it has done on average."""
        ...

    def reach(self, shares: Array) -> Array:
        """How often it comes with each hand. float64 [hands]"""
        ...

    def learn(self, entered: Array, now: Step) -> None:
        """From what hands have won on the street, times the weight of the hands beside them. float64 [hands]"""
        ...

    def gain(self, best: Array, entered: Array) -> float:
        """What it could win more than by its average, with the best and with the average behind it."""
        ...


class Beside:
    """Sums over the hands that share no card with each of some hands."""

    def __init__(self, hands: Array) -> None:
        self.cards = HAND_CARDS[hands].astype(np.int64)
        self.holds = np.zeros((len(hands), 52))
        np.put_along_axis(self.holds, self.cards, 1.0, axis=1)

    @cached_property
    def apart(self) -> Array:
        """Pairs that share no card. bool [hands, hands]"""
        apart: Array = np.equal(self.holds @ self.holds.T, 0.0)
        return apart

    def __call__(self, weights: Array) -> Array:
        """The weight of such hands. float64 [..., hands] -> [..., hands]"""
        by_card = weights @ self.holds
        shared = by_card[..., self.cards[:, 0]] + by_card[..., self.cards[:, 1]] - weights
        left: Array = weights.sum(axis=-1, keepdims=True) - shared
        return left


class StreetSolver:
    """CFR on one street with the schedule of subgames, for the strategy of one seat."""

    def __init__(
        self,
        tree: StreetTree,
        hands: Array,
        ranges: Sequence[Array] | Array,
        leaves: Leaves,
        seat: int,
        buckets: Sequence[Array] | None = None,
        choice: RootChoice | None = None,
    ) -> None:
        """`hands`: numbers of those that the board leaves; `ranges`: how often each seat comes with each of them.

        `buckets`: of each seat's hands, where those of one bucket must play alike. Qualities are those of all hands still.
        `choice`: what the other seat may do in front of the street, in place of coming with its range.
        """
        self.buckets, self.choice = buckets, choice
        self.tree, self.hands, self.leaves, self.seat = tree, hands, leaves, seat
        self.ranges = tuple(np.asarray(held, float) for held in ranges)
        self.beside = Beside(hands)
        self.exits = tree.exits
        self.exit_of = {node: e for e, node in enumerate(self.exits)}
        self.nodes = [n for n, kind in enumerate(tree.kind) if kind == DECISION]
        n = len(hands)
        self.actor = {node: tree.states[node].actor for node in self.nodes}
        rows = (n, n) if buckets is None else tuple(int(part.max()) + 1 for part in buckets)
        shape = {node: (len(tree.moves[node]), rows[seat]) for node, seat in self.actor.items()}
        self.regret = {node: np.zeros(shape[node]) for node in self.nodes}
        self.sums = {node: np.zeros(shape[node]) for node in self.nodes}
        self.weight = {node: _stakes(tree, node) ** STAKES_SCHEDULE.stakes for node in self.nodes}
        self.way_regret = np.zeros((len(self.exits), leaves.choices, n))
        self.way_sums = np.zeros_like(self.way_regret)
        self.iterations = 0
        spent = np.array([tree.states[e].spent for e in self.exits], float).reshape(-1, 2)
        self.spent = spent - np.array(tree.states[0].spent, float)  # chips that each has put in since the root

    # --- learning -------------------------------------------------------------------------------

    def step(self, iterations: int) -> None:
        """So many iterations more."""
        for _ in range(iterations):
            self.iterations += 1
            self.now = STAKES_SCHEDULE.step(self.iterations)
            for player in (0, 1):
                self._learn(player)

    def learn(self, player: int, ranges: Array) -> Array:
        """A player's half of an iteration where both come with such ranges; its values at the root. float64 [hands]"""
        self.ranges = (ranges[0], ranges[1])
        self.iterations += player == 0
        self.now = STAKES_SCHEDULE.step(max(self.iterations, 1))
        return self._learn(player)

    def _learn(self, player: int) -> Array:
        if self.choice is not None:
            self._come(self.choice.reach(self.choice.shares()))
        play = {n: self._hands(n, shares(self.weight[n] * np.maximum(self.regret[n], 0.0), 0)) for n in self.nodes}
        value = self._values(player, play, shares(np.maximum(self.way_regret, 0.0), 1), learn=True)
        if self.choice is not None and player != self.seat:
            self.choice.learn(value, self.now)
        return value

    def _come(self, other: Array) -> None:
        """The other seat comes with such weights."""
        own = self.ranges[self.seat]
        self.ranges = (own, other) if self.seat == 0 else (other, own)

    def _hands(self, node: int, rows: Array) -> Array:
        """Rows of a decision's table for hands. float64 [moves, rows] -> [moves, hands]"""
        return rows if self.buckets is None else rows[:, self.buckets[self.actor[node]]]

    @property
    def numbers(self) -> int:
        """Kept: regrets and averages."""
        return sum(2 * table.size for table in self.regret.values())

    def average(self, node: int) -> Array:
        """What is played on average at a decision. float64 [moves, hands]"""
        return self._hands(node, shares(self.sums[node], axis=0))

    def averages(self) -> tuple[dict[int, Array], Array]:
        """At all decisions, and what the other seat chooses at exits."""
        return {node: self.average(node) for node in self.nodes}, shares(self.way_sums, axis=1)

    # --- values ---------------------------------------------------------------------------------

    def reach(self, play: Play) -> dict[int, Array]:
        """How often both come to each node. float64 [2, hands] by node"""
        reach = {0: np.stack(self.ranges)}
        for node in self.nodes:
            for share, child in zip(play[node], self.tree.children[node], strict=True):
                reach[child] = reach[node].copy()
                reach[child][self.actor[node]] *= share
        return reach

    def values(self, player: int, play: Play, ways: Array, *, respond: bool = False) -> Array:
        """What each hand of a player wins from the root on, times the weight of the hands beside it. float64 [hands]"""
        return self._values(player, play, ways, respond=respond)

    def exploitability(self) -> float:
        """Of the averages inside this game: half of what both could gain, in chips a deal."""
        play, ways = self.averages()
        if self.choice is not None:
            self._come(self.choice.reach(self.choice.average()))
        gain = 0.0
        for player in (0, 1):
            best, now = (self.values(player, play, ways, respond=r) for r in (True, False))
            if self.choice is not None and player != self.seat:
                gain += self.choice.gain(best, now)
            else:
                gain += float(self.ranges[player] @ (best - now))
        met = float(self.ranges[0] @ self.beside(self.ranges[1])) if self.choice is None else self.choice.total
        return gain / 2 / max(met, 1e-300)

    def _values(self, player: int, play: Play, ways: Array, *, learn: bool = False, respond: bool = False) -> Array:
        tree, other = self.tree, 1 - player
        reach = self.reach(play)
        at_exits = np.stack([reach[e] for e in self.exits], axis=1)  # [2, exits, hands]
        if self.seat == 1:
            at_exits = at_exits[::-1]
        below = self._at_exits(player, at_exits, ways, learn=learn, respond=respond)
        below = below - self.spent[:, player, None] * self.beside(np.stack([reach[e][other] for e in self.exits]))
        value: dict[int, Array] = {}
        pot, start = tree.states[0].pot, tree.states[0].spent
        for node in range(len(tree.kind) - 1, -1, -1):
            if tree.kind[node] == EXIT:
                value[node] = below[self.exit_of[node]]
            elif tree.kind[node] == FOLD:
                state = tree.states[node]
                lost = state.spent[state.turn] - start[state.turn]  # what was called is all that changes hands
                won = pot + lost if state.turn != player else -lost
                value[node] = won * self.beside(reach[node][other])
            else:
                after = np.stack([value.pop(child) for child in tree.children[node]])
                if self.actor[node] != player:
                    value[node] = after.sum(axis=0)
                elif respond:
                    value[node] = after.max(axis=0)
                else:
                    value[node] = (play[node] * after).sum(axis=0)
                    if learn:
                        more = self._tied(after - value[node], node, self.ranges[player])
                        self.regret[node] = discounted(self.regret[node], self.now) + more
                        played = self._tied(reach[node][player] * play[node], node)
                        self.sums[node] = self.now.decay * self.sums[node] + played
        return value[0]

    def _tied(self, numbers: Array, node: int, weight: Array | float = 1.0) -> Array:
        """Numbers of hands that play alike, added up by the weights of the hands. [moves, hands] -> [moves, rows]"""
        if self.buckets is None:
            return numbers
        bucket, rows = self.buckets[self.actor[node]], self.regret[node].shape[1]
        return np.stack([np.bincount(bucket, weight * row, minlength=rows) for row in numbers])

    def _at_exits(self, player: int, reach: Array, ways: Array, *, learn: bool, respond: bool) -> Array:
        """Values at the exits. float64 [exits, hands]"""
        if player == self.seat:
            return self.leaves.searcher(reach, reach[1][:, None] * ways)
        each = self.leaves.chooser(reach)
        if respond:
            best: Array = each.max(axis=1)
            return best
        value: Array = (each * ways).sum(axis=1)
        if learn:
            self.way_regret = discounted(self.way_regret, self.now) + each - value[:, None]
            self.way_sums = self.now.decay * self.way_sums + reach[1][:, None] * ways
        return value


def _stakes(tree: StreetTree, node: int) -> Array:
    """The least stake of a decision's moves over that of each: the pot if all that is bet is called. float64 [moves, 1]"""
    pots = np.array(
        [
            2.0 * min(s.spent) if s.folded is not None else 2.0 * max(s.spent)
            for s in (tree.states[c] for c in tree.children[node])
        ]
    )
    shares: Array = pots.min() / pots
    return shares[:, None]


def discounted(regret: Array, now: Step) -> Array:
    """Regrets as they count in an iteration."""
    less: Array = regret * np.where(regret > 0, now.positive, now.negative)
    return less


def shares(weights: Array, axis: int) -> Array:
    """Of their sum along an axis; all alike where that is zero."""
    total = weights.sum(axis=axis, keepdims=True)
    return np.where(total > 0, weights / np.where(total > 0, total, 1.0), 1.0 / weights.shape[axis])


class ShownLeaves:
    """`Leaves` of the last street: hands are shown down."""

    choices = 1

    def __init__(self, hands: Array, rank: Array, pots: Array) -> None:
        """`rank`: how strong each hand is; `pots`: in the middle at each exit."""
        self.beside, self.pots = Beside(hands), pots
        won = (1 + np.sign(rank[:, None].astype(np.int64) - rank)) / 2
        self.share: Array = (won * self.beside.apart).astype(np.float32)

    @staticmethod
    def like(other: ShownLeaves, pots: Array) -> ShownLeaves:
        """The same board with other pots."""
        leaves = ShownLeaves.__new__(ShownLeaves)
        leaves.beside, leaves.pots, leaves.share = other.beside, pots, other.share
        return leaves

    def chooser(self, reach: Array) -> Array:
        """To the other seat."""
        return self.won(reach[0])[:, None]

    def searcher(self, reach: Array, picked: Array) -> Array:
        """To the searching seat."""
        return self.won(picked[:, 0])

    def won(self, other: Array) -> Array:
        """Of those who come with such weights. float64 [exits, hands] -> [exits, hands]"""
        won: Array = self.pots[:, None] * (other.astype(np.float32) @ self.share.T)
        return won
