"""A strategy for a no-limit game with few bet sizes, played in the game with all of them.

The player keeps a place in the small tree. The opponent's bets are read by a mapping of `riverboat.abstraction.actions.translation`,
its own moves are carried out in the real pot, and both move the place. A randomised mapping leads to several places:
the player's belief, a weight for each place and hand, is the probability of its own readings and moves so far. Mixing
the small strategy by belief gives the real behaviour, exact and not sampled, so that best responses to it are exact.

Where the small game knows no answer the player calls: a bet that was read as a check has ended the round there, and a bet
that was read as all-in has ended all betting. When a public card comes, betting that is open in the small tree is
closed by calls. Information sets that the player's own moves exclude are uniform.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from riverboat.abstraction.actions import translation
from riverboat.abstraction.actions.translation import MAPPINGS, Size, Tie
from riverboat.core.errors import InputError, unknown
from riverboat.games.base import CHANCE, TERMINAL, Array, PublicState
from riverboat.strategies.tabular import Strategy
from riverboat.trees.public import PublicTree

Belief: TypeAlias = dict[int, Array]  # float64 [mappings, hands] by node of the small tree


def translate(strategy: Strategy, tree: PublicTree, mapping: str = "rand-pshar", tie: Tie = "high") -> Strategy:
    """Both players' parts of a strategy for a small tree, as behaviour in the full tree."""
    return translate_all(strategy, tree, [mapping], tie)[mapping]


def translate_all(
    strategy: Strategy, tree: PublicTree, mappings: Sequence[str] = tuple(MAPPINGS), tie: Tie = "high"
) -> dict[str, Strategy]:
    """The same for several mappings in one walk."""
    for mapping in mappings:
        if mapping not in MAPPINGS:
            raise unknown("mapping", mapping, MAPPINGS)
    small = strategy.tree
    if not isinstance(small, PublicTree):
        raise InputError(f"{small.name}: action translation needs a public game")
    if small.hands != tree.hands:
        raise InputError(f"{small.name} and {tree.name}: the hands differ: {small.hands[0]} and {tree.hands[0]}")
    sums = np.zeros((len(mappings), tree.table))
    for player in (0, 1):
        _Walk(strategy, small, tree, player, mappings, tie, sums).go()
    names = {**strategy.provenance, "translated from": small.name}
    return {m: Strategy.from_sums(tree, s, {**names, "mapping": m}) for m, s in zip(mappings, sums, strict=True)}


@dataclass(frozen=True)
class _Place:
    """A node of the small tree."""

    actor: int
    sizes: tuple[Size | None, ...]  # of a decision
    children: tuple[int, ...]

    @property
    def call(self) -> int:
        """The child after a check or a call."""
        return self.children[self.sizes.index(translation.CALL)]


def _places(tree: PublicTree) -> list[_Place]:
    """All nodes of a small tree; found through its states, which know the pot."""
    places: dict[int, _Place] = {}
    work: list[tuple[int, PublicState]] = [(0, tree.game.root())]
    while work:
        node, state = work.pop()
        actor, children = int(tree.nodes.actor[node]), tuple(tree.children(node))
        places[node] = _Place(actor, translation.move_sizes(state) if actor >= 0 else (), children)
        work += [(child, state.child(k)) for k, child in enumerate(children)]
    return [places[node] for node in range(len(places))]


class _Walk:
    """Down the full tree, with one player's belief about where it is in the small tree."""

    def __init__(
        self,
        strategy: Strategy,
        small: PublicTree,
        tree: PublicTree,
        me: int,
        mappings: Sequence[str],
        tie: Tie,
        sums: Array,  # float64 [mappings, table] OUT
    ) -> None:
        self.tree, self.small, self.me, self.mappings, self.tie = tree, small, me, mappings, tie
        self.places = _places(small)
        self.rows = small.views(strategy.probabilities)[me]  # float64 [rows, hands]
        base, hands = tree.bases[me], tree.hand_counts[me]
        size = tree.bases[1] if me == 0 else tree.table - base
        self.out = sums[:, base : base + size].reshape(len(mappings), -1, hands)
        self.reads: dict[tuple[tuple[Size | None, ...], Size], list[tuple[int, Array]]] = {}

    def go(self) -> None:
        """Fill the player's rows with its reach times its behaviour."""
        everything = np.ones((len(self.mappings), self.tree.hand_counts[self.me]))
        work: list[tuple[int, PublicState, Belief]] = [(0, self.tree.game.root(), {0: everything})]
        while work:
            node, state, belief = work.pop()
            actor = int(self.tree.nodes.actor[node])
            if actor == TERMINAL:
                continue
            if actor == CHANCE:
                after = self._deal(node, belief)
            elif actor == self.me:
                after = self._move(node, state, belief)
            else:
                after = self._read(state, belief)
            children = zip(self.tree.children(node), after, strict=True)
            work += [(child, state.child(k), then) for k, (child, then) in enumerate(children) if then]

    def _deal(self, node: int, belief: Belief) -> list[Belief]:
        """A public card: every place goes to the same card."""
        after: list[Belief] = [{} for _ in self.tree.labels(node)]
        for at, weight in belief.items():
            while self.places[at].actor >= 0:
                at = self.places[at].call
            if self.places[at].actor == TERMINAL:
                for then in after:
                    _add(then, at, weight)
                continue
            known = dict(zip(self.small.labels(at), self.places[at].children, strict=True))
            for then, label in zip(after, self.tree.labels(node), strict=True):
                if label not in known:
                    raise InputError(f"{self.small.name}: no card {label!r} at {self.small.line(at)!r}")
                _add(then, known[label], weight)
        return after

    def _move(self, node: int, state: PublicState, belief: Belief) -> list[Belief]:
        """The player's own move: the small strategy, carried out here."""
        menu = translation.move_sizes(state)
        call = menu.index(translation.CALL)
        after: list[Belief] = [{} for _ in menu]
        first = int(self.tree.nodes.data[node])
        for at, weight in belief.items():
            place = self.places[at]
            if place.actor != self.me:
                self.out[:, first + call] += weight
                _add(after[call], at, weight)
                continue
            row = int(self.small.nodes.data[at])
            for k, (size, child) in enumerate(zip(place.sizes, place.children, strict=True)):
                part = weight * self.rows[row + k]
                if part.any():
                    move = translation.carry_out(menu, size)
                    self.out[:, first + move] += part
                    _add(after[move], child, part)
        return after

    def _read(self, state: PublicState, belief: Belief) -> list[Belief]:
        """The opponent's move, read by the mapping. A fold ends the hand, so nothing is read into it."""
        after: list[Belief] = []
        for size in translation.move_sizes(state):
            then: Belief = {}
            after.append(then)
            if size is None:
                continue
            for at, weight in belief.items():
                place = self.places[at]
                if place.actor != 1 - self.me:
                    _add(then, at, weight)
                else:
                    for k, probability in self._readings(place.sizes, size):
                        part = weight * probability
                        if part.any():
                            _add(then, place.children[k], part)
        return after

    def _readings(self, menu: tuple[Size | None, ...], bet: Size) -> list[tuple[int, Array]]:
        """Probability of each move of the menu that a bet may be read as. float64 [mappings, 1] by move"""
        if (menu, bet) not in self.reads:
            table = np.zeros((len(menu), len(self.mappings), 1))
            for m, mapping in enumerate(self.mappings):
                for k, probability in translation.read(mapping, menu, bet, self.tie).items():
                    table[k, m] = probability
            self.reads[menu, bet] = [(k, table[k]) for k in range(len(menu)) if table[k].any()]
        return self.reads[menu, bet]


def _add(belief: Belief, at: int, weight: Array) -> None:
    belief[at] = belief[at] + weight if at in belief else weight
