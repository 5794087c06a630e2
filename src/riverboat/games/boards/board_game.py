"""Board games: hold'em as a betting tree, and cards that are dealt independently of it.

In hold'em the legal actions do not depend on the cards. So the betting tree is built once for all deals
(`build_betting_tree`). The cards are described apart from it (`BoardGame`): the board, the number of cards of each
deal, and each player's range. `UnrolledBoardGame` makes a public game of the two, with the tree unrolled over all
deals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from itertools import combinations
from math import comb
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np

from riverboat.cards.deck import HAND_CARDS, Deck
from riverboat.cards.notation import format_cards, format_hand, parse_cards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, join_names, short_repr
from riverboat.games.base import (
    CHANCE,
    TERMINAL,
    ComparisonPayoff,
    ConstantPayoff,
    Outcome,
    Payoff,
    PrivateDeal,
    append_label,
)
from riverboat.games.holdem.betting_rules import CALL, FOLD

# Payoffs of (player 0, player 1) if player 0's hand is stronger, equal, weaker.
ShowdownPayoffs: TypeAlias = tuple[tuple[float, float], tuple[float, float], tuple[float, float]]
DealtCards: TypeAlias = tuple[tuple[int, ...], ...]  # the cards of each deal on the path to a node

_ACTION_TOKEN = re.compile(r"\D\d*|\d+")
ANY_CARD: tuple[int, ...] = ()  # stands for a deal that a line writes as `*`: any cards


class BettingTreePosition(NamedTuple):
    """A node of the betting tree and the cards dealt before it."""

    node: int
    dealt: DealtCards  # ANY_CARD where the line says `*`


@dataclass(frozen=True, eq=False)
class BettingTree:
    """A betting tree in preorder: the first child of n is n + 1, the subtree of n is n … end[n] - 1.

    A CHANCE node deals one street and has one child. After a called all-in before the last street there is one for each
    remaining street, then a showdown.
    """

    actor: Array  # int8 [nodes]: player, CHANCE or TERMINAL
    end: Array  # int32 [nodes]: one past the last node of the subtree
    street: Array  # int8 [nodes]: deals since the root; a CHANCE node belongs to the street that it ends
    label: tuple[str, ...]  # label of the action that leads to each node; "" at the root and after a deal
    showdown: Array  # bool [nodes]: terminals where hands are compared
    payoffs: Array  # float64 [nodes, 3, 2]: if player 0's hand is stronger, equal, weaker; by player. Folds: all equal
    spent: Array  # float64 [nodes, 2]: chips that each player has put in, blinds included; in a spot, since the root

    def children(self, node: int) -> Iterator[int]:
        """Yield the child nodes, in the order of the actions."""
        child = node + 1
        while child < self.end[node]:
            yield child
            child = int(self.end[child])

    def actions(self, node: int) -> tuple[str, ...]:
        """Return the labels of the actions at a decision."""
        return tuple(self.label[child] for child in self.children(node)) if self.actor[node] >= 0 else ()

    def moves(self, node: int, spent_before: tuple[int, int] = (0, 0)) -> tuple[int, ...]:
        """Return the actions at a decision as numbers (`betting_rules`): FOLD, CALL, or the total of a raise.

        `spent_before`: chips that each player put in before the root, if `spent` leaves them out.
        """
        player = int(self.actor[node])
        high, moves = max(self.spent[node] + spent_before), []
        for child in self.children(node):
            total = self.spent[child, player] + spent_before[player]
            folds = self.actor[child] == TERMINAL and not self.showdown[child]
            moves.append(FOLD if folds else int(total) if total > high else CALL)
        return tuple(moves)

    def child(self, node: int, move: int, spent_before: tuple[int, int] = (0, 0)) -> int | None:
        """Return the child after an action (FOLD, CALL or the total of a raise); None if the tree does not have it.

        `spent_before`: as for `moves`.
        """
        children = zip(self.moves(node, spent_before), self.children(node), strict=True)
        return next((child for action, child in children if action == move), None)

    @cached_property
    def parents(self) -> Array:
        """Parent of each node; -1 at the root. int64 [nodes]"""
        parents = np.full(len(self.end), -1)
        parent = np.flatnonzero(self.actor != TERMINAL)
        child = parent + 1
        while len(child):  # the first children, then the second ones, …
            parents[child] = parent
            following = self.end[child] < self.end[parent]
            child, parent = self.end[child[following]], parent[following]
        return parents

    def path(self, node: int) -> list[int]:
        """Return the nodes from the root to a node."""
        path = [0]
        while path[-1] != node:
            path.append(next(child for child in self.children(path[-1]) if node < self.end[child]))
        return path

    def line(self, node: int, dealt: DealtCards, joiner: str = "-") -> str:
        """Format the path to a node, with the cards dealt on it, as a line; `find` inverts it."""
        line, deals, closing = "", iter(dealt), "" if joiner else "/"
        for step in self.path(node)[1:]:
            label = self.label[step]
            line = append_label(line, joiner, label or f"/{format_cards(next(deals))}{closing}")
        return line

    def find(self, line: str, joiner: str = "-", *, any_card: bool = False) -> BettingTreePosition:
        """Find the node of a line and the cards dealt on the path: `b120-c/8h-x`, or `crc/8h7d2c/cr` without joiner.

        With `any_card` a deal may be written `*`; `expand_deals` lists the deals that the line then stands for.
        """
        node, dealt, prefix, where = 0, [], "", f"line {short_repr(line)}"
        for deal, label in _split_line(line, joiner):
            position = f"after {short_repr(prefix)}" if prefix else "at the root"
            if deal:
                if self.actor[node] != CHANCE:
                    raise InputError(f"{where}: no card is dealt {position}; {self._describe_options(node)}")
                if not label:
                    raise InputError(f"{where}: no card after '/'; write the card dealt, such as /8h")
                if label == "*" and not any_card:
                    raise InputError(f"{where}: '*' is any card, but a single node is needed here; name the card")
                dealt.append(ANY_CARD if label == "*" else parse_cards(label, f"{where}: deal"))
                node, prefix = node + 1, f"{prefix}/{label}"
                continue
            matches = [child for child in self.children(node) if self.actor[node] >= 0 and self.label[child] == label]
            if not matches:
                options = self._describe_options(node)
                raise InputError(f"{where}: no move {short_repr(label)} {position}; {options}")
            node, prefix = matches[0], f"{prefix}{joiner}{label}" if prefix else label
        return BettingTreePosition(node, tuple(dealt))

    def _describe_options(self, node: int) -> str:
        """Describe the actions or the deal at a node, for error messages."""
        if self.actor[node] == TERMINAL:
            return "the hand is over"
        if self.actor[node] == CHANCE:
            return "the next street is dealt here: write / and the card"
        return f"there are {join_names(self.actions(node))}"


def _split_line(line: str, joiner: str) -> Iterator[tuple[bool, str]]:
    """Yield deals (True) and actions (False) of a line.

    Without a joiner an action is a letter that a total may follow, and a deal stands between slashes.
    """
    for position, part in enumerate(line.split("/")):
        if not joiner:
            yield from [(True, part)] if position % 2 else [(False, move) for move in _ACTION_TOKEN.findall(part)]
            continue
        steps = part.split(joiner) if part else []
        if position:
            yield True, steps.pop(0) if steps else ""
        yield from ((False, move) for move in steps)


def expand_deals(
    dealt: DealtCards, board: Sequence[int], cards: Sequence[int], counts: Sequence[int]
) -> Iterator[DealtCards]:
    """Yield all sequences of dealt cards that a line with `*` stands for, in the order of `cards`.

    A `*` is replaced by each deal of `cards` that are not yet on the board. `counts` has the number of cards of each
    deal, as the `deals` of a game.
    """
    prefixes: list[DealtCards] = [()]
    for deal, count in zip(dealt, counts, strict=False):
        extended: list[DealtCards] = []
        for prefix in prefixes:
            used = {*board, *(card for cards_dealt in prefix for card in cards_dealt)}
            if deal != ANY_CARD:
                extended += [] if used & set(deal) else [(*prefix, deal)]
            else:
                left = [int(card) for card in cards if card not in used]
                extended += [(*prefix, drawn) for drawn in combinations(left, count)]
        prefixes = extended
    yield from prefixes


@runtime_checkable
class BoardGame(Protocol):
    """A game of two hole cards each and a shared board. Showdowns compare hole cards and board together."""

    @property
    def name(self) -> str: ...

    @property
    def unit(self) -> str: ...

    @property
    def joiner(self) -> str:
        """Text between the actions of a line."""

    @property
    def deck(self) -> Deck: ...

    @property
    def board(self) -> tuple[int, ...]:
        """Cards on the board at the root."""

    @property
    def deals(self) -> tuple[int, ...]:
        """Number of cards dealt at the first, second, … CHANCE node of a line."""

    @property
    def weights(self) -> tuple[Array, Array]:
        """Range of each player, zero for hands that the deck or the board rules out. float64 [1326] each"""

    @property
    def hand_indices(self) -> tuple[Array, Array]:
        """Indices of the hands that have rows in tables, ascending: at least those of positive weight. int [n] each"""

    @property
    def betting(self) -> BettingTree: ...

    @property
    def scale(self) -> tuple[str, float]:
        """Unit in which exploitability is reported (`% of pot`, `mbb/g`), and the factor from chips to it."""


# --- board games as public games ---


class UnrolledStatesMixin:
    """Mixin that makes a `BoardGame` a `PublicGame` as well.

    A deal is written `/8h`, or `/8h/` if `joiner` is empty.
    """

    joiner: str
    deck: Deck
    board: tuple[int, ...]
    deals: tuple[int, ...]
    weights: tuple[Array, Array]
    betting: BettingTree

    @cached_property
    def hand_indices(self) -> tuple[Array, Array]:
        """Indices of the hands that each player may hold, ascending. int64 [hands] each"""
        return np.flatnonzero(self.weights[0]), np.flatnonzero(self.weights[1])

    @cached_property
    def hands(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of the hands that each player may hold."""
        return tuple(map(format_hand, self.hand_indices[0])), tuple(map(format_hand, self.hand_indices[1]))

    @cached_property
    def deal(self) -> PrivateDeal:
        """Distribution of the hands; hands that share a card exclude each other."""
        first, second = HAND_CARDS[self.hand_indices[0]], HAND_CARDS[self.hand_indices[1]]
        shared = (first[:, None, :, None] == second[None, :, None, :]).any(axis=(2, 3))
        pairs = frozenset((int(i), int(j)) for i, j in np.argwhere(shared))
        return PrivateDeal((self.weights[0][self.hand_indices[0]], self.weights[1][self.hand_indices[1]]), pairs)

    def root(self) -> _UnrolledBoardState:
        """Return the state before the first action."""
        if getattr(self, "gadget", None) is not None:
            raise InputError("games with a root gadget can only be solved on boards; unroll the game without it")
        return _UnrolledBoardState(self, 0, self.board)

    @cached_property
    def _boards(self) -> _BoardCache:
        return _BoardCache(self)


@dataclass(frozen=True, eq=False)
class UnrolledBoardGame(UnrolledStatesMixin):
    """Any board game as a public game, possibly with some parts replaced."""

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
    def from_game(game: BoardGame) -> UnrolledBoardGame:
        """Copy the parts of a board game."""
        return UnrolledBoardGame(**{field.name: getattr(game, field.name) for field in fields(UnrolledBoardGame)})

    @staticmethod
    def zero_sum(game: BoardGame) -> UnrolledBoardGame:
        """Shift the payoffs of a constant-sum game by half the sum, so that they are zero-sum, as linear programs need.

        A spot without rake pays out the pot in any case: half of it is subtracted for each player. Payoffs whose sum is
        not constant stay as they are.
        """
        betting = game.betting
        over = betting.actor == TERMINAL
        sums = betting.payoffs[over].sum(axis=2)
        half = sums.min() / 2 if np.ptp(sums) <= 1e-9 * max(1.0, abs(sums).max()) else 0.0
        pay = np.where(over[:, None, None], betting.payoffs - half, 0.0)
        return replace(UnrolledBoardGame.from_game(game), betting=replace(betting, payoffs=pay))


class _BoardCache:
    """Cache, by board, of the outcomes of the next deal and the strengths of all hands."""

    def __init__(self, game: UnrolledStatesMixin) -> None:
        self.game = game
        self.outcomes = cache(self._outcomes)
        self.strengths = cache(self._strengths)

    def possible_deals(self, board: tuple[int, ...], count: int) -> list[tuple[int, ...]]:
        return list(combinations([c for c in self.game.deck.cards.tolist() if c not in board], count))

    def _outcomes(self, board: tuple[int, ...], count: int) -> tuple[Outcome, ...]:
        game, closing = self.game, "" if self.game.joiner else "/"
        left = len(game.deck.cards) - len(board) - 4  # two hands are dealt
        outcomes = []
        for cards in self.possible_deals(board, count):
            blocked = self._blocked_hands(0, cards), self._blocked_hands(1, cards)
            outcomes.append(Outcome(f"/{format_cards(cards)}{closing}", 1.0 / comb(left, count), blocked))
        return tuple(outcomes)

    def _blocked_hands(self, player: int, cards: tuple[int, ...]) -> tuple[int, ...]:
        """Return the rows of a player's hands that hold one of the cards."""
        return tuple(np.flatnonzero(np.isin(HAND_CARDS[self.game.hand_indices[player]], cards).any(axis=1)).tolist())

    def _strengths(self, board: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the strengths of both players' hands on a board, for comparison; zero for blocked hands."""
        from riverboat.cards.ranking import hand_strengths  # loads compiled loops, which are not needed to name a game

        deck = self.game.deck
        strength = hand_strengths(board, deck)
        first, second = (strength[deck.hand_indices(HAND_CARDS[held])].tolist() for held in self.game.hand_indices)
        return tuple(first), tuple(second)


@dataclass(frozen=True)
class _UnrolledBoardState:
    game: UnrolledStatesMixin
    node: int
    board: tuple[int, ...]

    @property
    def actor(self) -> int:
        return int(self.game.betting.actor[self.node])

    @property
    def _num_dealt_cards(self) -> int:
        """Number of cards of the next deal."""
        return self.game.deals[int(self.game.betting.street[self.node])]

    def actions(self) -> tuple[str, ...]:
        return self.game.betting.actions(self.node)

    def outcomes(self) -> tuple[Outcome, ...]:
        return self.game._boards.outcomes(tuple(sorted(self.board)), self._num_dealt_cards)

    def child(self, index: int) -> _UnrolledBoardState:
        if self.actor == CHANCE:
            cards = self.game._boards.possible_deals(self.board, self._num_dealt_cards)[index]
            return _UnrolledBoardState(self.game, self.node + 1, (*self.board, *cards))
        return _UnrolledBoardState(self.game, list(self.game.betting.children(self.node))[index], self.board)

    def payoff(self) -> Payoff:
        betting = self.game.betting
        pay = [(float(first), float(second)) for first, second in betting.payoffs[self.node]]
        if not betting.showdown[self.node]:
            return ConstantPayoff(pay[0])
        return ComparisonPayoff(self.game._boards.strengths(tuple(sorted(self.board))), *pay)
