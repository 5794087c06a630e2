"""What a local best response does with all of its hands at a public place, and what it asks the agent for that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor
from typing import Any, NamedTuple

import numpy as np

from riverboat.arrays import Array
from riverboat.cards.many_ranges import Showdowns
from riverboat.errors import InputError, MemoryLimitError, shown
from riverboat.games import betting_rules as core
from riverboat.games.acpc import Rules
from riverboat.games.betting_rules import CALL, FOLD, State
from riverboat.games.moves import END, HIDDEN, show_move
from riverboat.games.places import Places
from riverboat.strategy.public_answers import Answering

POTS = (*(0.05 * 1.15**k for k in range(53)),)
ACTIONS: dict[str, tuple[float, ...] | None] = {"fc": None, "fcpa": (1.0,), "56": POTS}  # raises in pots; all-in beside
_AT_ONCE = 64  # places that the agent is asked about together
_ZERO = 1e-9  # of the pot: rounding


def name_of(agent: Any) -> str:
    """What messages call an agent."""
    return str(getattr(agent, "name", type(agent).__name__))


class Answer(NamedTuple):
    """What the agent does at a place."""

    moves: Array  # int32 [moves]
    chances: Array  # float64 [hands, moves]


@dataclass
class Node:
    """Some walkers at a public place."""

    moves: tuple[int, ...]
    board: tuple[int, ...]
    at: State
    own: Array  # float64 [hands]: of the responder
    other: Array  # float64 [hands]: of the agent
    walkers: int = 1
    weight: float = 1.0  # of each walker: the inverse of how often one comes here
    answer: Answer | None = None  # of the agent, where it was asked already

    def after(self, move: int, at: State, own: Array, other: Array, answer: Answer | None = None) -> Node:
        return Node((*self.moves, move), self.board, at, own, other, answer=answer)


class Responder:
    """One agent and one set of actions."""

    def __init__(self, agent: Answering, rules: Rules, actions: str, start: int) -> None:
        self.agent, self.rules, self.book = agent, rules, rules.book
        self.raises, self.start = ACTIONS[actions], start
        self.showdowns = Showdowns(rules.deck, rules.board_sizes[-1])

    # --- the agent ------------------------------------------------------------------------------

    def ask(self, nodes: Sequence[Node]) -> None:
        """Ask the agent what it does at places, all of them its turn, and leave the answers there."""
        for begin in range(0, len(nodes), _AT_ONCE):
            some = nodes[begin : begin + _AT_ONCE]
            for node, answer in zip(some, self._asked(some), strict=True):
                node.answer = answer

    def _asked(self, nodes: Sequence[Node]) -> list[Answer]:
        most = max(1, *(len(node.moves) for node in nodes))
        moves = np.full((len(nodes), most), END, np.int32)
        board = np.full((len(nodes), self.rules.board_sizes[-1]), HIDDEN, np.uint8)
        for i, node in enumerate(nodes):
            moves[i, : len(node.moves)] = node.moves
            board[i, : len(node.board)] = node.board
        places = Places(self.rules, moves, np.array([len(node.moves) for node in nodes], np.int32), board)
        try:
            found = self.agent.strategies(places)
        except MemoryLimitError:  # some answer with a column for every chip
            if len(nodes) == 1:
                raise
            half = len(nodes) // 2
            return [*self._asked(nodes[:half]), *self._asked(nodes[half:])]
        answers = []
        for i, node in enumerate(nodes):
            columns = np.flatnonzero(found.moves[i] != END)
            answer = Answer(found.moves[i, columns], found.probabilities[i][:, columns])
            self._check(answer, node)
            answers.append(answer)
        return answers

    def _check(self, answer: Answer, node: Node) -> None:
        price, span = core.price(self.book, node.at), core.span(self.book, node.at)
        wrong = [move for move in answer.moves.tolist() if not core.allowed(price, *span, move)]
        where = f"agent {name_of(self.agent)!r} after {' '.join(show_move(m, self.rules) for m in node.moves) or 'the deal'}"
        if wrong:
            raise InputError(f"{where}: its move {show_move(wrong[0], self.rules)!r} is illegal there")
        sums = answer.chances.sum(axis=1)[node.other > 0]
        if not np.abs(sums - 1).max(initial=0.0) < 1e-6:
            raise InputError(f"{where}: probabilities of a hand sum to {shown(float(sums[np.abs(sums - 1).argmax()]))}")

    # --- the responder --------------------------------------------------------------------------

    def totals(self, at: State) -> list[int]:
        """Totals of the raises that it looks at, upwards."""
        least, most = core.span(self.book, at)
        if self.raises is None or least > most:
            return []
        high = max(at.spent0, at.spent1)
        wanted = [high + floor(2 * high * pots + 0.5) for pots in self.raises]
        return sorted({most, *(min(max(total, least), most) for total in wanted)})

    def after_raises(self, node: Node) -> list[Node]:
        """The places behind the raises that it looks at; the agent is to act there."""
        totals = [] if node.at.street < self.start else self.totals(node.at)
        return [node.after(total, core.step(self.book, node.at, total), node.own, node.other) for total in totals]

    def choose(self, node: Node, raised: Sequence[Node], won: Callable[[Array], Array]) -> list[tuple[int, Array]]:
        """Its moves, and for which hands it takes each. `raised` are the places behind its raises, with the answers there."""
        at, seat = node.at, node.at.turn
        mine, theirs = (at.spent0, at.spent1) if seat == 0 else (at.spent1, at.spent0)
        asked, faced = core.price(self.book, at), min(theirs, self.book.stacks[seat])
        pot = mine + faced
        stays = [node.other * (1.0 - _chance(place.answer, FOLD)) for place in raised]
        ranges = np.stack([node.other, *stays])
        met, beaten = self.showdowns.met(ranges), won(ranges)
        adds = [0, *(min(place.at[seat], self.book.stacks[1 - seat]) - faced for place in raised)]
        added = np.array(adds, float)[:, None]
        utility = (met[0] - met) * pot + beaten * (pot + added) - (met - beaten) * (asked + added)
        most, close = utility.max(axis=0), _ZERO * pot * float(node.other.sum())
        best = len(raised) - (utility >= most - close)[::-1].argmax(axis=0)  # of equal ones the largest
        folds = most <= close
        moves = [CALL, *(place.moves[-1] for place in raised)]
        chosen = [(move, (best == k) & ~(folds & (asked > 0))) for k, move in enumerate(moves)]
        return [(FOLD, folds), *chosen] if asked > 0 else chosen


def _chance(answer: Answer | None, move: int) -> Array:
    """Of one move with every hand. float64 [hands]"""
    assert answer is not None
    found: Array = answer.chances[:, answer.moves == move].sum(axis=1)
    return found
