"""The walk of a local best response through the public tree of one deal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from riverboat.core.arrays import Array
from riverboat.evaluation.local_best_response.choice import Node, Responder
from riverboat.games.holdem import betting_rules as core
from riverboat.games.holdem.betting_rules import CALL, FOLDED, GOING, SHOWDOWN, State

RUNOUTS = 48  # over which an all-in before the turn is paid
SWEPT = 50  # runouts that are swept one by one; with more, all pairs of hands are played out once


@dataclass
class Branches:
    """What follows a decision."""

    paid: float = 0.0  # to the responder where somebody folds, summed over pairs of hands
    shown: list[Node] = field(default_factory=list)  # hands are shown
    onward: list[Callable[[], Node]] = field(default_factory=list)  # made when a walker goes there
    stake: list[float] = field(default_factory=list)  # of those: pairs of hands times chips in the middle


Line: TypeAlias = tuple[int, ...]
Cards: TypeAlias = tuple[int, ...]


class Walk:
    """Deals of one responder. What follows lines before the first cards is the same in all of them, and kept."""

    def __init__(self, responder: Responder, walkers: int, seed: int) -> None:
        self.responder, self.walkers, self.seed = responder, walkers, seed
        self.first: dict[tuple[int, Line], Branches] = {}

    def deal(self, number: int) -> tuple[float, float]:
        """What the responder wins a hand in each seat, in chips, in deal `number`: the same cards in both."""
        rng = np.random.default_rng((self.seed, number))
        cards, margins = rng.permutation(self.responder.rules.deck.cards).tolist(), dict[Cards, Array]()
        return _Deal(self, 0, cards, margins, rng).value(), _Deal(self, 1, cards, margins, rng).value()


class _Deal:
    """One deal from one seat: from street to street, all places of a depth together."""

    def __init__(
        self, walk: Walk, seat: int, cards: list[int], margins: dict[Cards, Array], rng: np.random.Generator
    ) -> None:
        self.walk, self.seat, self.cards, self.margins, self.rng = walk, seat, cards, margins, rng
        self.responder, self.showdowns = walk.responder, walk.responder.showdowns
        self.rules, self.book = walk.responder.rules, walk.responder.book

    def value(self) -> float:
        """What the responder wins a hand."""
        walkers, board = self.walk.walkers, tuple(self.cards[: self.rules.board_sizes[0]])
        live, start = self.showdowns.live(board).astype(float), State(*self.book.start)
        front = [Node((), board, start, live, live, walkers)]
        total = 0.0
        while front:
            following: list[Node] = []
            for node, branches in zip(front, self._branches(front), strict=True):
                value = branches.paid + sum(self._shown(end) for end in branches.shown)
                total += node.walkers * node.weight * value / self.showdowns.pairs(len(node.board))
                following += self._onward(node, branches)
            front = following
        return total / walkers

    # --- decisions ------------------------------------------------------------------------------

    def _branches(self, front: list[Node]) -> list[Branches]:
        """What follows each place, the agent being asked about many at a time."""
        known = self.walk.first
        branches_of = {i: None if node.board else known.get((self.seat, node.moves)) for i, node in enumerate(front)}
        new = [i for i, branches in branches_of.items() if branches is None]
        raised = {i: self.responder.after_raises(front[i]) for i in new if front[i].at.turn == self.seat}
        asked = [front[i] for i in new if i not in raised and front[i].answer is None]
        asked += [place for places in raised.values() for place in places]
        self.responder.ask(asked)
        for i in new:
            made = self._own(front[i], raised[i]) if i in raised else self._agents(front[i])
            branches_of[i] = made
            if not front[i].board:
                known[self.seat, front[i].moves] = made
        return [branches for branches in branches_of.values() if branches is not None]

    def _own(self, node: Node, raised: list[Node]) -> Branches:
        """The responder's turn."""
        if node.at.street < self.responder.start:
            chosen = [(CALL, np.ones(len(node.own), bool))]
        else:
            chosen = self.responder.choose(node, raised, lambda ranges: self._won(node.board, ranges))
        met = self.showdowns.met(node.other[None])[0]
        answers = {place.moves[-1]: place.answer for place in raised}
        out = Branches()
        for move, hands in chosen:
            own = node.own * hands
            mass = float(own @ met)
            if mass > 0:
                at = core.step(self.book, node.at, move)
                self._add(out, at, mass, partial(node.after, move, at, own, node.other, answers.get(move)))
        return out

    def _agents(self, node: Node) -> Branches:
        """The agent's turn."""
        assert node.answer is not None
        met = self.showdowns.met(node.own[None])[0]
        masses = (node.other * met) @ node.answer.chances
        out = Branches()
        for k, move in enumerate(node.answer.moves.tolist()):
            if masses[k] > 0:
                at = core.step(self.book, node.at, move)
                self._add(out, at, float(masses[k]), partial(_moved, node, k, move, at))
        return out

    def _add(self, out: Branches, at: State, mass: float, make: Callable[[], Node]) -> None:
        """A place that somebody's move leads to, for so many pairs of hands."""
        if at.over == FOLDED:
            stake = min(at.spent0, at.spent1)
            out.paid += mass * (-stake if at.turn == self.seat else stake)
        elif at.over == SHOWDOWN:
            out.shown.append(make())
        else:
            out.onward.append(make)
            out.stake.append(mass * max(at.spent0, at.spent1))

    # --- hands are shown --------------------------------------------------------------------------

    def _won(self, board: Cards, ranges: Array) -> Array:
        """What all hands win of ranges over all runouts."""
        if self.showdowns.count(len(board)) <= SWEPT:
            return self.showdowns.won(board, ranges)
        if board not in self.margins:
            self.margins[board] = self.showdowns.margins(board)
        return self.showdowns.won_by(self.margins[board], ranges)

    def _shown(self, node: Node) -> float:
        """What the responder wins when hands are shown, summed over pairs of them; unbiased over the runouts."""
        ranges = node.other[None]
        if self.showdowns.count(len(node.board)) <= SWEPT:
            won = self.showdowns.won(node.board, ranges)
        else:
            won = self.showdowns.won(node.board, ranges, self.showdowns.drawn(node.board, RUNOUTS, self.rng))
        edge = 2.0 * won[0] - self.showdowns.met(ranges)[0]
        return min(node.at.spent0, node.at.spent1) * float(node.own @ edge)

    # --- the sample -------------------------------------------------------------------------------

    def _onward(self, node: Node, branches: Branches) -> list[Node]:
        """Divide the walkers of a place among what goes on: none is left out that is worth one, others are drawn."""
        if not branches.onward:
            return []
        expected = node.walkers * np.array(branches.stake) / sum(branches.stake)
        rare = np.cumsum(np.where(expected < 1, expected, 0.0)) + self.rng.random()
        drawn = np.diff(np.floor(rare), prepend=0.0) > 0  # each with the chance that is expected
        counts = np.where(expected < 1, drawn, np.floor(expected))
        weights = node.walkers * node.weight / np.where(expected < 1, expected, counts)
        out: list[Node] = []
        for make, walkers, weight in zip(branches.onward, counts.tolist(), weights.tolist(), strict=True):
            if walkers:
                out += self._dealt(replace(make(), walkers=int(walkers), weight=weight))
        return out

    def _dealt(self, node: Node) -> list[Node]:
        """The same place, or the places after the next street is dealt to each walker."""
        if node.at.over == GOING:
            return [node]
        at = core.deal(self.book, node.at)
        size = self.rules.board_sizes[at.street]
        more = size - len(node.board)
        boards: dict[Cards, int] = {}
        if not node.board:  # all walkers of a deal see its first cards
            boards[tuple(self.cards[:size])] = node.walkers
        else:
            left = [card for card in self.cards if card not in node.board]
            deck: list[int] = []
            for _ in range(node.walkers):
                if len(deck) < more:
                    deck = self.rng.permutation(left).tolist()
                board = (*node.board, *(deck.pop() for _ in range(more)))
                boards[board] = boards.get(board, 0) + 1
        out = []
        for board, walkers in boards.items():
            live = self.showdowns.live(board)
            out.append(Node(node.moves, board, at, node.own * live, node.other * live, walkers, node.weight))
        return out


def _moved(node: Node, k: int, move: int, at: State) -> Node:
    """The place behind move k of the agent's answer."""
    assert node.answer is not None
    return node.after(move, at, node.own, node.other * node.answer.chances[:, k])
