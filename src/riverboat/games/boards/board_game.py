"""Hold'em games as the compiler of trees wants them: a tree of betting, and cards that lie beside it.

In hold'em the legal moves do not depend on the cards. So the betting is walked once, whatever is dealt (`betting_tree.make`),
and the cards are given apart: what lies on the board, how many cards each deal brings, and how often each player holds
each hand (`BoardGame`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

from riverboat.cards.deck import Deck
from riverboat.cards.notation import parse_cards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, listed, shown
from riverboat.games.base import CHANCE, TERMINAL

Pay: TypeAlias = tuple[tuple[float, float], tuple[float, float], tuple[float, float]]
Dealt: TypeAlias = tuple[tuple[int, ...], ...]  # the cards of each deal on the way to a node

_MOVE = re.compile(r"\D\d*|\d+")
ANY: tuple[int, ...] = ()  # a deal that a line writes as `*`: whatever comes


class Place(NamedTuple):
    """Where a line leads."""

    node: int
    dealt: Dealt  # ANY where the line says `*`


@dataclass(frozen=True, eq=False)
class BettingTree:
    """Nodes in preorder: the first child of n is n + 1, the subtree of n is n … end[n] - 1.

    A CHANCE node deals one more street and has one child. All-in and call before the last street: as many of them as
    streets are left, then a showdown.
    """

    actor: Array  # int8 [nodes]: player, CHANCE or TERMINAL
    end: Array  # int32 [nodes]: one past the last node of the subtree
    street: Array  # int8 [nodes]: deals since the root; a CHANCE node belongs to the street that it ends
    label: tuple[str, ...]  # of the move that leads to each node; "" at the root and after a deal
    showdown: Array  # bool [nodes]: terminals where hands are compared
    pay: Array  # float64 [nodes, 3, 2]: by player 0's hand stronger, equal, weaker; then by player. Folds: all three equal
    spent: Array  # float64 [nodes, 2]: chips that each player has put in: blinds included, or in a spot since the root

    def children(self, node: int) -> Iterator[int]:
        """Child nodes, in the order of the moves."""
        child = node + 1
        while child < self.end[node]:
            yield child
            child = int(self.end[child])

    def moves(self, node: int) -> tuple[str, ...]:
        """Labels of the moves at a decision."""
        return tuple(self.label[child] for child in self.children(node)) if self.actor[node] >= 0 else ()

    def find(self, line: str, joiner: str = "-", *, any_card: bool = False) -> Place:
        """The node that a line leads to, and the cards dealt on the way: `b120-c/8h-x`, or `crc/8h7d2c/cr` without joiner.

        With `any_card` a deal may be written `*`; `every_deal` gives what the line then stands for.
        """
        here, dealt, done = 0, [], ""
        for deal, step in _steps(line, joiner):
            if deal:
                if self.actor[here] != CHANCE:
                    raise InputError(f"line {shown(line)}: no card is dealt {_after(done)}; {self._say(here)}")
                if not step:
                    raise InputError(f"line {shown(line)}: no card after '/'; write the card dealt, such as /8h")
                if step == "*" and not any_card:
                    raise InputError(
                        f"line {shown(line)}: '*' is any card, and one node is asked for here; name the card"
                    )
                dealt.append(ANY if step == "*" else parse_cards(step, f"line {shown(line)}: deal"))
                here, done = here + 1, f"{done}/{step}"
                continue
            below = [child for child in self.children(here) if self.actor[here] >= 0 and self.label[child] == step]
            if not below:
                raise InputError(f"line {shown(line)}: no move {shown(step)} {_after(done)}; {self._say(here)}")
            here, done = below[0], f"{done}{joiner}{step}" if done else step
        return Place(here, tuple(dealt))

    def _say(self, node: int) -> str:
        """What can follow a node."""
        if self.actor[node] == TERMINAL:
            return "the hand is over there"
        if self.actor[node] == CHANCE:
            return "the next street is dealt there: write / and the card"
        return f"there are {listed(self.moves(node))}"


def _steps(line: str, joiner: str) -> Iterator[tuple[bool, str]]:
    """Deals (true) and moves of a line. Without a joiner a move is a letter that a total may follow, a deal is in slashes."""
    for place, part in enumerate(line.split("/")):
        if not joiner:
            yield from [(True, part)] if place % 2 else [(False, move) for move in _MOVE.findall(part)]
            continue
        steps = part.split(joiner) if part else []
        if place:
            yield True, steps.pop(0) if steps else ""
        yield from ((False, move) for move in steps)


def _after(done: str) -> str:
    return f"after {shown(done)}" if done else "at the root"


def every_deal(dealt: Dealt, board: Sequence[int], cards: Sequence[int], counts: Sequence[int]) -> Iterator[Dealt]:
    """All ways to deal that a line stands for, in order: `*` is each deal of `cards` that the board before it leaves.

    `counts` says how many cards each deal brings: the `deals` of a game.
    """
    work: list[Dealt] = [()]
    for deal, count in zip(dealt, counts, strict=False):
        grown: list[Dealt] = []
        for before in work:
            gone = {*board, *(card for cards_dealt in before for card in cards_dealt)}
            if deal != ANY:
                grown += [] if gone & set(deal) else [(*before, deal)]
            else:
                left = [int(card) for card in cards if card not in gone]
                grown += [(*before, few) for few in combinations(left, count)]
        work = grown
    yield from work


@runtime_checkable
class BoardGame(Protocol):
    """A game of two hole cards each and a shared board. Showdowns compare hole cards and board together."""

    @property
    def name(self) -> str: ...

    @property
    def unit(self) -> str: ...

    @property
    def joiner(self) -> str:
        """Stands between the moves of a line."""
        ...

    @property
    def deck(self) -> Deck: ...

    @property
    def board(self) -> tuple[int, ...]:
        """Cards that lie at the root."""
        ...

    @property
    def deals(self) -> tuple[int, ...]:
        """Cards dealt at the first, second, … CHANCE of a line."""
        ...

    @property
    def weights(self) -> tuple[Array, Array]:
        """How often each player holds each hand, zero for those that the deck or the board rules out. float64 [1326] each"""
        ...

    @property
    def held(self) -> tuple[Array, Array]:
        """Numbers of the hands that have a place in tables, ascending: those that weigh something, at least. int [n] each"""
        ...

    @property
    def betting(self) -> BettingTree: ...

    @property
    def scale(self) -> tuple[str, float]:
        """The unit in which exploitability is told, and how many of it one chip is: `% of pot`, `mbb/g`."""
        ...
