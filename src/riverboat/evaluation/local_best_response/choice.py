"""What a local best response does with all of its hands at a public place, and what it asks the agent for that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor
from typing import Any

import numpy as np

from riverboat.cards.equity.batch_equities import Showdowns
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem import betting_rules as core
from riverboat.games.holdem.actions import END, HIDDEN, show_move
from riverboat.games.holdem.betting_rules import CALL, FOLD, State
from riverboat.games.holdem.public_state import Places
from riverboat.games.holdem.rules import Rules
from riverboat.strategies.public_strategy import Answering, Row, rows

POTS = (*(0.05 * 1.15**k for k in range(53)),)
ACTIONS: dict[str, tuple[float, ...] | None] = {"fc": None, "fcpa": (1.0,), "56": POTS}  # raises in pots; all-in beside
_WIDE = 256  # moves of an answer that is large: of who bets every number of chips
_ZERO = 1e-9  # of the pot: rounding


def name_of(agent: Any) -> str:
    """What messages call an agent."""
    return str(getattr(agent, "name", type(agent).__name__))


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
    answer: Row | None = None  # of the agent, where it was asked already

    def after(self, move: int, at: State, own: Array, other: Array, answer: Row | None = None) -> Node:
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
        most = max([1, *(len(node.moves) for node in nodes)])
        moves = np.full((len(nodes), most), END, np.int32)
        board = np.full((len(nodes), self.rules.board_sizes[-1]), HIDDEN, np.uint8)
        for i, node in enumerate(nodes):
            moves[i, : len(node.moves)] = node.moves
            board[i, : len(node.board)] = node.board
        places = Places(self.rules, moves, np.array([len(node.moves) for node in nodes], np.int32), board)
        for node, answer in zip(nodes, rows(self.agent, places), strict=True):
            self._check(answer, node)
            node.answer = _compact(answer, node) if len(answer.moves) > _WIDE else answer

    def _check(self, answer: Row, node: Node) -> None:
        """Refuse what no agent may answer."""
        price, span = core.price(self.book, node.at), core.span(self.book, node.at)
        wrong = [move for move in answer.moves.tolist() if not core.allowed(price, *span, move)]
        sums = answer.chances.sum(axis=1)[node.other > 0]
        if wrong or not np.abs(sums - 1).max(initial=0.0) < 1e-6:
            line = " ".join(show_move(move, self.rules) for move in node.moves) or "the deal"
            problem = f"its move {show_move(wrong[0], self.rules)!r} is illegal there" if wrong else ""
            problem = problem or f"probabilities of a hand sum to {float(sums[np.abs(sums - 1).argmax()]):.9g}"
            raise InputError(f"agent {name_of(self.agent)!r} after {line}: {problem}")

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
        stays = [node.other * (1.0 - _answer(place).of(FOLD)) for place in raised]
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


def _compact(answer: Row, node: Node) -> Row:
    """A large answer that is the same with all hands, as one row of it."""
    held = np.flatnonzero(node.other > 0)
    if len(held) and (answer.chances[held] == answer.chances[held[0]]).all():
        return Row(answer.moves, np.broadcast_to(answer.chances[held[0]].copy(), answer.chances.shape))
    return answer


def _answer(place: Node) -> Row:
    assert place.answer is not None
    return place.answer
