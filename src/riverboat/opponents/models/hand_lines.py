"""Hands on record, read as lines of a blueprint's tree: any stacks, any blinds, any sizes of bets.

    reading = read_in(tree, hands)
    reading.node, reading.move                         # where each decision stands, and which of its moves was made

Both players' bets are read alike, by the deterministic pseudo-harmonic mapping (`abstraction.actions.translation`): sizes are shares
of the pot, so that blinds and stacks of other tables need no units, and a bet of all chips is read by its size, as any other.
Where the two games part, it is as for players at the table (`strategies._kernels.line`): what the tree has no place for is
left out until the next round is dealt, and counted.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from riverboat.abstraction.actions.translation import MAPPINGS, readings
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, unknown
from riverboat.games.holdem.action_tree import CALL, FOLD, RAISE, ActionTree
from riverboat.games.holdem.actions import CALL as CALLS
from riverboat.games.holdem.actions import FOLD as FOLDS
from riverboat.games.records.decisions import trace
from riverboat.games.records.hand_records import Hands

MAPPING = "det-pshar"
OFF = -1  # no node


@dataclass(frozen=True, eq=False)
class Reading:
    """Decisions of a record that stand in a tree, in their order."""

    hand: Array  # int64 [n]: place in the record
    player: Array  # int64 [n]: who acts, by place in `hands.names`
    node: Array  # int64 [n]: the decision in the tree
    move: Array  # int64 [n]: which of its moves
    missed: int  # decisions that the tree has no place for

    def __len__(self) -> int:
        return len(self.node)

    def take(self, chosen: Array) -> Reading:
        """Some of them, by number or by mask."""
        return Reading(self.hand[chosen], self.player[chosen], self.node[chosen], self.move[chosen], self.missed)


def read_in(tree: ActionTree, hands: Hands, mapping: str = MAPPING, seed: int = 0) -> Reading:
    """Every decision of a record that the tree has a place for; a randomised mapping draws by the seed."""
    if mapping not in MAPPINGS:
        raise unknown("action translation", mapping, MAPPINGS)
    mine, theirs = tree.rules, hands.rules
    if (mine.limit, mine.board, mine.hole, mine.deck) != (theirs.limit, theirs.board, theirs.hole, theirs.deck):
        raise InputError(f"hands of {theirs.name!r}: the tree is one of {mine.name!r}, with other cards or betting")
    walk, decisions = _Walk(tree, mapping, seed), trace(hands)
    given = (decisions.hand, decisions.seat, decisions.street, decisions.high, decisions.move)
    kept, last = [], -1
    for k, (hand, seat, street, high, move) in enumerate(zip(*(x.tolist() for x in given), strict=True)):
        if hand != last:
            walk.begin()
            last = hand
        place = walk.step(seat, street, high, move)
        if place is not None:
            kept.append((k, *place))
    at, node, made = np.array(kept, np.int64).reshape(-1, 3).T
    return Reading(decisions.hand[at], decisions.player[at], node, made, len(decisions) - len(kept))


class _Walk:
    """A place in the tree that follows the moves of a hand."""

    def __init__(self, tree: ActionTree, mapping: str, seed: int) -> None:
        self.mapping, self.draw = mapping, random.Random(seed)
        # Lists: numbers of an array are slow to read one by one.
        self.actor: list[int] = tree.actor.tolist()
        self.street: list[int] = tree.street.tolist()
        self.kind: list[int] = tree.kind.tolist()
        self.first: list[int] = tree.first.tolist()
        self.count: list[int] = tree.count.tolist()
        self.parent: list[int] = tree.parent.tolist()
        self.total: list[int] = tree.total.tolist()
        self.high: list[int] = tree.spent.max(axis=1).tolist()
        self.sizes: dict[int, list[float]] = {}
        self.node, self.waits, self.waited = 0, False, 0  # until the round after `waited` is dealt

    def begin(self) -> None:
        """A new hand."""
        self.node, self.waits = 0, False

    def step(self, seat: int, street: int, high: int, move: int) -> tuple[int, int] | None:
        """The decision and its move that a real move is read as; None where the tree has no place for it."""
        node = self.node
        if node != OFF and self.street[node] < street:
            node = self.node = self._catch_up(node, street)
            self.waits = False
        elif street != self.waited:
            self.waits = False  # a raise was read as a call that ends the round, and now it is dealt
        if node == OFF or self.waits or self.actor[node] != seat or self.street[node] != street:
            return None
        call = self._call(node)
        if move == FOLDS:
            return (node, 0) if self.kind[self.first[node]] == FOLD else None
        child = call if move == CALLS else self._raise(node, call, high, move)
        if child == OFF:
            self.waits, self.waited = True, street
            return None
        ends = self.actor[child] < 0 or self.street[child] != street
        if move != CALLS and child == call and ends:
            self.waits, self.waited = True, street
        self.node = child
        return node, child - self.first[node]

    def _call(self, node: int) -> int:
        first = self.first[node]
        return first if self.kind[first] == CALL else first + 1

    def _raise(self, node: int, call: int, high: int, total: int) -> int:
        """The child that a raise is read as; a check or call is one of size 0."""
        sizes = self.sizes.get(node)
        if sizes is None:
            abstract = self.high[node]
            raises = range(call + 1, self.first[node] + self.count[node])
            sizes = self.sizes[node] = [0.0, *((self.total[c] - abstract) / (2 * abstract) for c in raises)]
        if len(sizes) == 1:
            return OFF
        chances = readings(self.mapping, sizes, (total - high) / (2 * high))
        places = list(chances)  # one or two, the smaller first
        chosen = places[0] if len(places) == 1 or self.draw.random() < chances[places[0]] else places[1]
        return call + chosen

    def _catch_up(self, node: int, street: int) -> int:
        """Behind calls, on the street that is played; behind a smaller bet where all chips were called in the tree."""
        while self.actor[node] >= 0 and self.street[node] < street:
            node = self._call(node)
        if self.actor[node] >= 0:
            return node
        bet = self.parent[node]
        if self.kind[node] != CALL or self.kind[bet] != RAISE:
            return OFF
        smaller = bet - 1
        while self.kind[smaller] == RAISE and self.parent[smaller] == self.parent[bet]:
            after = self._call(smaller)
            if self.actor[after] >= 0:
                return after if self.street[after] >= street else self._catch_up(after, street)
            smaller -= 1
        return OFF
