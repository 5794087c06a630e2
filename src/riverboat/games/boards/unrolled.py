"""A board game as a public game: its betting tree unrolled over all cards that can be dealt.

The general walk, LP and the contract suites then see it as any other game. Feasible for few hands, late streets or
small decks; the engine for whole boards is tested against it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from itertools import combinations
from math import comb

import numpy as np

from riverboat.cards.deck import HAND_CARDS, Deck
from riverboat.cards.notation import show_cards, show_hand
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL, Compare, Constant, Deal, Outcome, Payoff
from riverboat.games.boards.board_game import BettingTree, BoardGame


class BoardStates:
    """What a `BoardGame` inherits to be a `PublicGame` as well.

    A deal is written `/8h`; where moves stand side by side (`joiner` is empty), `/8h/`.
    """

    joiner: str
    deck: Deck
    board: tuple[int, ...]
    deals: tuple[int, ...]
    weights: tuple[Array, Array]
    betting: BettingTree

    @cached_property
    def held(self) -> tuple[Array, Array]:
        """Numbers of the hands that each player may hold, ascending. int64 [hands] each"""
        return np.flatnonzero(self.weights[0]), np.flatnonzero(self.weights[1])

    @cached_property
    def hands(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Their names."""
        return tuple(map(show_hand, self.held[0])), tuple(map(show_hand, self.held[1]))

    @cached_property
    def deal(self) -> Deal:
        """The weights; hands that share a card exclude each other."""
        first, second = HAND_CARDS[self.held[0]], HAND_CARDS[self.held[1]]
        shared = (first[:, None, :, None] == second[None, :, None, :]).any(axis=(2, 3))
        pairs = frozenset((int(i), int(j)) for i, j in np.argwhere(shared))
        return Deal((self.weights[0][self.held[0]], self.weights[1][self.held[1]]), pairs)

    def root(self) -> _State:
        """Before the first move."""
        if getattr(self, "gadget", None) is not None:
            raise InputError("a gadget at the root is walked on boards only; unroll the game without it")
        return _State(self, 0, self.board)

    @cached_property
    def _boards(self) -> _Boards:
        return _Boards(self)


@dataclass(frozen=True, eq=False)
class Unrolled(BoardStates):
    """Any board game as a public game, with the parts that it has or with others."""

    name: str
    unit: str
    joiner: str
    deck: Deck
    board: tuple[int, ...]
    deals: tuple[int, ...]
    weights: tuple[Array, Array]
    betting: BettingTree
    scale: tuple[str, float]

    @staticmethod
    def of(game: BoardGame) -> Unrolled:
        """The game as it is."""
        return Unrolled(**{field.name: getattr(game, field.name) for field in fields(Unrolled)})

    @staticmethod
    def zero_sum(game: BoardGame) -> Unrolled:
        """The game with as much taken from each player as makes its pay-offs cancel, which linear programs ask for.

        A spot without rake pays out the pot whatever happens: half of it is taken from each. Pay-offs whose sum is not
        constant stay as they are.
        """
        betting = game.betting
        over = betting.actor == TERMINAL
        sums = betting.pay[over].sum(axis=2)
        half = sums.min() / 2 if np.ptp(sums) <= 1e-9 * max(1.0, abs(sums).max()) else 0.0
        pay = np.where(over[:, None, None], betting.pay - half, 0.0)
        return replace(Unrolled.of(game), betting=replace(betting, pay=pay))


class _Boards:
    """What depends on the board alone, worked out once for each."""

    def __init__(self, game: BoardStates) -> None:
        self.game = game
        self.outcomes = cache(self._outcomes)
        self.strengths = cache(self._strengths)

    def dealt(self, board: tuple[int, ...], count: int) -> list[tuple[int, ...]]:
        return list(combinations([c for c in self.game.deck.cards.tolist() if c not in board], count))

    def _outcomes(self, board: tuple[int, ...], count: int) -> tuple[Outcome, ...]:
        game, closing = self.game, "" if self.game.joiner else "/"
        left = len(game.deck.cards) - len(board) - 4  # two hands are out
        return tuple(
            Outcome(
                f"/{show_cards(cards)}{closing}", 1.0 / comb(left, count), (self._dead(0, cards), self._dead(1, cards))
            )
            for cards in self.dealt(board, count)
        )

    def _dead(self, player: int, cards: tuple[int, ...]) -> tuple[int, ...]:
        """Hands that hold one of the cards."""
        return tuple(np.flatnonzero(np.isin(HAND_CARDS[self.game.held[player]], cards).any(axis=1)).tolist())

    def _strengths(self, board: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        first, second = (self._ranked(HAND_CARDS[held], board) for held in self.game.held)
        return first, second

    def _ranked(self, hands: Array, board: tuple[int, ...]) -> tuple[int, ...]:
        """Classes of hands on a board; zero for those that it blocks."""
        from riverboat.cards.ranking import rank_batch  # compiled loops, which naming a game should not wait for

        live = ~np.isin(hands, board).any(axis=1)
        cards = np.concatenate(
            [hands[live], np.broadcast_to(np.array(board, np.uint8), (live.sum(), len(board)))], axis=1
        )
        out = np.zeros(len(hands), np.int64)
        out[live] = rank_batch(cards, self.game.deck.rules, check=False)
        return tuple(out.tolist())


@dataclass(frozen=True)
class _State:
    game: BoardStates
    node: int
    board: tuple[int, ...]

    @property
    def actor(self) -> int:
        return int(self.game.betting.actor[self.node])

    @property
    def _count(self) -> int:
        """Cards that the next deal brings."""
        return self.game.deals[int(self.game.betting.street[self.node])]

    def actions(self) -> tuple[str, ...]:
        return self.game.betting.moves(self.node)

    def outcomes(self) -> tuple[Outcome, ...]:
        return self.game._boards.outcomes(tuple(sorted(self.board)), self._count)

    def child(self, index: int) -> _State:
        if self.actor == CHANCE:
            cards = self.game._boards.dealt(self.board, self._count)[index]
            return _State(self.game, self.node + 1, (*self.board, *cards))
        return _State(self.game, list(self.game.betting.children(self.node))[index], self.board)

    def payoff(self) -> Payoff:
        betting = self.game.betting
        pay = [(float(first), float(second)) for first, second in betting.pay[self.node]]
        if not betting.showdown[self.node]:
            return Constant(pay[0])
        return Compare(self.game._boards.strengths(tuple(sorted(self.board))), *pay)
