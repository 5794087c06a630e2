"""`BoardTree`: a hold'em game as betting × boards, for hands as vectors.

Betting does not look at the cards, so it is stored once (`riverboat.trees.streets`). Boards form a tree of their own:
one node for each class of boards that suits cannot tell apart. On a board, each player's hands are numbered; hands that a
remaining symmetry of suits exchanges share a row, which loses nothing. A table is [board][player][betting row, action][row],
so that whoever walks a board reads one piece of memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from riverboat.cards.deck import HAND_CARDS, HANDS
from riverboat.cards.notation import show_cards, show_hand
from riverboat.cards.ranges import Range
from riverboat.cards.ranking import tables as ranking_tables
from riverboat.cards.ranking_rules import STANDARD
from riverboat.core.budget import Growth, require
from riverboat.core.errors import InputError
from riverboat.games.base import TERMINAL, Array
from riverboat.games.boards.board_game import BoardGame
from riverboat.games.spots.locks import check_locks
from riverboat.games.spots.spot import Spot
from riverboat.trees import streets
from riverboat.trees._kernels import board as kernels
from riverboat.trees._kernels.order import Held, order_hands_of
from riverboat.trees.deals import deals, least_bytes
from riverboat.trees.streets import Shape

NOWHERE = kernels.NOWHERE


class Boards(NamedTuple):
    """The boards of all streets, street after street; the children of a board stand together."""

    rows: Array  # int32 [boards, 2]: of each player
    base: Array  # int64 [boards, 2]: first number of each player in a table
    child: Array  # int32 [boards + 1]: children of board b are child[b] … child[b + 1] - 1
    up_at: Array  # int64 [boards, 2]
    up: Array  # uint16 [sum of rows]: the row of the board before that a row comes from
    member: Array  # int32 [boards + 1]: boards that b stands for, members member[b] … member[b + 1] - 1
    down_at: Array  # int64 [members, 2]
    down: Array  # uint16 […]: for each row of the board before, the row it goes on in; rows[b] where it cannot
    chance: Array  # float64 [boards]: probability of one member, given two hands that it leaves
    hand_at: Array  # int64 [boards, 2]: where player p's hands begin in hand
    hands: Array  # int32 [boards, 2]: how many there are
    hand: Array  # uint16 [hands, 3]: from weak to strong: row, its two cards
    rep_at: Array  # int64 [boards, 2]: where player p's rows begin in rep
    rep: Array  # uint16 [rows, 7]: from weak to strong: row, the opponent's row with the same cards, its two cards, its
    # group of strength, the places of its cards among the group's
    group_at: Array  # int64 [boards, 2]: where the groups begin that player p's rows are in
    groups: Array  # int32 [boards, 2]: how many there are
    group: Array  # uint16 [groups, 2]: ends of the opponent's hands, and of the cards of p's rows, up to this strength
    touched_at: Array  # int64 [boards, 2]: where those cards begin in touched
    touched: Array  # uint8 [cards]: the cards of p's rows, group after group, each once in a group


class BoardTree:
    """A board game compiled. Games of the same betting may share a `Shape`, which must have room for their hands."""

    players = 2

    def __init__(self, game: BoardGame, shape: Shape | None = None) -> None:
        self.game = game
        self.name = game.name
        self.unit, self.per_chip = game.scale
        self.betting = game.betting if shape is None else shape.betting
        self.streets = len(game.deals) + 1
        self.held = tuple(np.asarray(hands, np.int32) for hands in game.held)
        self._check()
        require(self.name, least_bytes(game), share=1.0)
        self.deals = deals(game)
        self.street_at = self.deals.street_at
        with self._growth("numbering the hands of") as grown:
            self._place_rows(grown)
        self.shape = streets.shape(self.betting, self.streets, int(self.rows.max())) if shape is None else shape
        self.forest, self.stride, self.seats = self.shape.forest, self.shape.stride, self.shape.seats
        if len(self.forest.first) != self.streets + 1 or int(self.rows.max()) >= self.stride:
            raise InputError(
                f"{self.name}: {self.streets} streets and {self.rows.max()} rows do not fit the shape given"
            )
        with self._growth("ordering the hands of") as grown:
            self.boards = self._boards(grown)

    def _growth(self, doing: str) -> Growth:
        return Growth(self.name, doing, "boards", 0, about=len(self.deals.masks))

    def _check(self) -> None:
        if self.betting.street.max(initial=0) >= self.streets:
            raise InputError(f"{self.name}: {self.betting.street.max()} deals in the betting, {self.streets - 1} given")
        for player in (0, 1):
            if not len(self.held[player]):
                raise InputError(f"{self.name}: player {player} has no hand")
        if len(set(self.game.board)) < len(self.game.board):
            raise InputError(f"{self.name}: a card is twice on the board {show_cards(self.game.board)}")
        if isinstance(self.game, Spot):
            check_locks(self.game)

    # --- rows ---------------------------------------------------------------------------------

    def _place_rows(self, grown: Growth) -> None:
        """Number each player's hands on each board."""
        count, seats = len(self.deals.masks), self.seats_apart
        row_of = np.empty((count, seats, HANDS), np.uint16)  # NOWHERE where a hand cannot be held
        rows, hand_counts = np.zeros((count, seats), np.int32), np.zeros((count, seats), np.int32)
        reps: list[Array] = []
        room = np.empty(HANDS, np.uint16)
        for b in range(count):
            grown(b)
            images = self.deals.hand_maps[self.deals.groups[b]]
            for p in range(seats):
                rows[b, p], hand_counts[b, p] = kernels.place_rows(
                    self.held[p], HAND_CARDS, self.deals.masks[b], images, row_of[b, p], room
                )
                reps.append(room[: rows[b, p]].copy())
        self.row_of = _seen_twice(row_of)  # uint16 [boards, 2, 1326]
        self.rows, self.hand_counts = _both(rows), _both(hand_counts)  # int32 [boards, 2]
        self.rep_at = _both(_starts(rows))
        self.rep_hand: Array = np.concatenate(reps)  # uint16: the hand that stands for each row of each board

    def reps(self, board: int, player: int) -> Array:
        """The hands that stand for a player's rows on a board. uint16 [rows]"""
        at = self.rep_at[board, player]
        return self.rep_hand[at : at + self.rows[board, player]]

    def _boards(self, grown: Growth) -> Boards:
        """Tables, maps between boards, and hands by strength on the boards of the last street."""
        d, rows, count = self.deals, self.rows, len(self.deals.masks)
        table = self._table_sizes()
        self.table = int(table.sum())  # numbers in a table: one for each information set and action
        seats = self.seats_apart
        hands, shown = self.hand_counts[:, :seats], rows[:, :seats]
        members = np.repeat(shown[d.parents], np.diff(d.member), axis=0)  # rows of the board before, for each member
        members[0] = 0  # the root has none
        boards = Boards(
            rows=rows,
            base=_starts(table),
            child=d.child,
            up_at=self.rep_at,
            up=np.zeros(int(shown.sum()), np.uint16),
            member=d.member,
            down_at=_both(_starts(members)),
            down=np.zeros(int(members.sum()), np.uint16),
            chance=d.chance,
            hand_at=_both(_starts(hands)),
            hands=self.hand_counts,
            hand=np.zeros((int(hands.sum()), 3), np.uint16),
            rep_at=self.rep_at,
            rep=np.zeros((int(shown.sum()), 7), np.uint16),
            group_at=np.zeros((0, 2), np.int64),
            groups=np.zeros((0, 2), np.int32),
            group=np.zeros((0, 2), np.uint16),
            touched_at=np.zeros((0, 2), np.int64),
            touched=np.zeros(0, np.uint8),
        )
        for b in range(1, count):
            grown(b)
            self._map(boards, b)
        groups, touched = [], []
        for b, order, strength in self._orders():
            grown(b)
            for p in range(seats):
                group, cards = self._show(boards, b, p, order, strength)
                groups.append(group)
                touched.append(cards)
        counts, met = (np.array([len(x) for x in some]).reshape(count, seats) for some in (groups, touched))
        return boards._replace(
            group_at=_both(_starts(counts)),
            groups=_both(counts.astype(np.int32)),
            group=np.concatenate(groups),
            touched_at=_both(_starts(met)),
            touched=np.concatenate(touched),
        )

    @cached_property
    def seats_apart(self) -> int:
        """Whose rows, maps and showdowns are laid out: players who hold the same hands have them in common."""
        return 1 if np.array_equal(self.held[0], self.held[1]) else 2

    def _table_sizes(self) -> Array:
        """Numbers of each player on each board in a table. int64 [boards, 2]"""
        street = np.repeat(np.arange(self.streets), np.diff(self.street_at))
        sizes: Array = self.forest.slots[street].astype(np.int64) * self.rows
        return sizes

    def _map(self, boards: Boards, b: int) -> None:
        """Where the rows of a board come from, and where those of the board before go."""
        d, above = self.deals, int(self.deals.parents[b])
        for p in range(self.seats_apart):
            at, n = self.rep_at[b, p], self.rows[b, p]
            kernels.map_up(self.reps(b, p), self.row_of[above, p], boards.up[at : at + n])
            for m in range(d.member[b], d.member[b + 1]):
                to = boards.down_at[m, p]
                kernels.map_down(
                    self.reps(above, p), d.hand_maps[d.member_by[m]], HAND_CARDS, d.member_masks[m],
                    self.row_of[b, p], n, boards.down[to : to + self.rows[above, p]],
                )  # fmt: skip

    def _orders(self) -> Iterator[tuple[int, Array, Array]]:
        """All boards, each with the hands from weak to strong and their strengths: before the last street all are alike."""
        last, count = self.street_at[-2], len(self.deals.masks)
        for b in range(last):
            yield b, np.arange(HANDS, dtype=np.int16), np.zeros(HANDS, np.uint16)
        for low in range(last, count, 256):  # strengths of some boards at a time
            strength, order = self._strengths(low, min(low + 256, count))
            for k in range(len(order)):
                yield low + k, order[k], strength[k]

    def _show(self, boards: Boards, b: int, p: int, order: Array, strength: Array) -> tuple[Array, Array]:
        """Lay out the showdowns of a board, as a player sees them. The groups, and the cards of each."""
        at, n = boards.rep_at[b, p], self.rows[b, p]
        begin, hands = boards.hand_at[b, 1 - p], self.hand_counts[b, 1 - p]
        group, touched = np.empty((HANDS, 2), np.uint16), np.empty(2 * HANDS, np.uint8)
        groups, met = kernels.lay_showdown(
            order, strength, HAND_CARDS, self.row_of[b, p], self.reps(b, p), self.row_of[b, 1 - p], self.stride,
            np.empty(52, np.int32), boards.hand[begin : begin + hands], boards.rep[at : at + n], group, touched,
        )  # fmt: skip
        return group[:groups].copy(), touched[:met].copy()

    def running_lists(self) -> tuple[Array, Array, Array]:
        """Showdowns for engines that keep running sums of all hands and of the hands of each card.

        int64 [boards, 2]: where player p's hands begin. uint16 [hands, 3]: from weak to strong: row, places in the sums of
        its two cards. uint16 [rows, 10], player p's from `rep_at` on: row, the opponent's row with the same cards; then
        places in the opponent's sums: of all hands and of each card up to those that lose to mine, up to those that do not
        beat mine, and of each card in all.
        """
        seats = self.seats_apart
        hand_at = _both(_starts(self.hand_counts[:, :seats]))
        hand = np.zeros((int(self.hand_counts[:, :seats].sum()), 3), np.uint16)
        rep = np.zeros((int(self.rows[:, :seats].sum()), 10), np.uint16)
        start, fill = np.zeros(53, np.int32), np.zeros(52, np.int32)
        for b, order, strength in self._orders():
            for p in range(seats):
                at, n = self.rep_at[b, p], self.rows[b, p]
                begin, hands = hand_at[b, 1 - p], self.hand_counts[b, 1 - p]
                kernels.order_hands(
                    order, strength, HAND_CARDS, self.row_of[b, p], self.reps(b, p), self.row_of[b, 1 - p], self.stride,
                    start, fill, hand[begin : begin + hands], rep[at : at + n],
                )  # fmt: skip
        return hand_at, hand, rep

    def _strengths(self, low: int, high: int) -> tuple[Array, Array]:
        """Strength of every hand on some boards of the last street, and the hands from weak to strong."""
        boards = np.array([self.deals.cards(b) for b in range(low, high)], np.uint8)
        strength, order = np.empty((len(boards), HANDS), np.uint16), np.empty((len(boards), HANDS), np.int16)
        spare, digits = np.empty(HANDS, np.int16), np.empty(257, np.int64)
        held = _held(2 + boards.shape[1], self.game.deck.rules)
        order_hands_of(held, boards, strength, order, spare, digits)
        return strength, order

    # --- the table --------------------------------------------------------------------------

    def street_of(self, board: int) -> int:
        """Deals behind a board."""
        return int(np.searchsorted(self.street_at, board, "right")) - 1

    @cached_property
    def nodes_by_street(self) -> Array:
        """Decisions of each player on each street. int64 [streets, 2]"""
        actor, first = self.forest.actor, self.forest.first
        return np.array(
            [[int((actor[first[s] : first[s + 1]] == p).sum()) for p in (0, 1)] for s in range(self.streets)]
        )

    @cached_property
    def infoset_count(self) -> int:
        """Information sets, where hands that suits cannot tell apart count once."""
        rows = np.add.reduceat(self.rows, self.street_at[:-1], axis=0, dtype=np.int64)
        return int((rows * self.nodes_by_street).sum())

    @property
    def action_count(self) -> int:
        """Moves summed over the information sets: the size of a table."""
        return self.table

    @cached_property
    def layout_bytes(self) -> int:
        """Memory of the arrays that describe the tree."""
        rows = 2 * len(self.row_of) * self.seats_apart * HANDS  # bytes of `row_of`
        return sum(a.nbytes for a in self.boards) + rows + self.rep_hand.nbytes

    @cached_property
    def weights(self) -> tuple[Array, Array]:
        """Deal weight of each row at the root, one hand of it. float64 [rows] each"""
        first, second = (np.asarray(self.game.weights[p])[self.reps(0, p)] for p in (0, 1))
        return first, second

    def with_weights(self, first: Array, second: Array) -> BoardTree:
        """The same tree for other ranges of its spot, float64 [1326] each; all arrays are shared.

        Hands must have a row here, and hands that share one the same weight.
        """
        if not isinstance(self.game, Spot):
            raise InputError(f"{self.name}: only a spot's ranges can be changed")
        game = replace(self.game, ranges=(Range(first), Range(second)))
        for p, weights in enumerate(game.weights):
            new = np.setdiff1d(np.flatnonzero(weights), self.held[p])
            if len(new):
                raise InputError(f"{self.name}: {show_hand(new[0])} of player {p} has no row; build the tree with it")
            if any(not np.array_equal(weights[image], weights) for image in self.deals.hand_maps):
                raise InputError(f"{self.name}: the new weights of player {p} tell suits apart that share rows here")
        tree = copy(self)
        tree.game = game
        for name in ("weights", "total", "fingerprint"):
            tree.__dict__.pop(name, None)
        return tree

    def with_game(self, game: BoardGame, shape: Shape | None = None) -> BoardTree:
        """The boards and rows of this tree for a game of the same cards with other betting, ranges or gadget; shared arrays.

        Ranges and gadgets must not tell hands apart that share a row here. A part of the betting cut out of this tree
        (`riverboat.games.boards.subtrees`) may begin with a deal. Games of the same betting may share a `Shape`.
        """
        mine = self.game
        if (game.deck, game.board, game.deals) != (mine.deck, mine.board, mine.deals):
            raise InputError(f"{game.name}: other cards than {self.name}; build a tree of its own")
        if any(not np.array_equal(held, own) for held, own in zip(game.held, self.held, strict=True)):
            raise InputError(f"{game.name}: other hands have places in its tables than in those of {self.name}")
        gadget = getattr(game, "gadget", None)
        vectors = [*game.weights, *(() if gadget is None else gadget.vectors)]
        if any(
            np.abs(v[image] - v).max() > 1e-9 * max(1.0, np.abs(v).max())
            for image in self.deals.hand_maps
            for v in vectors
        ):
            raise InputError(f"{game.name}: its ranges or its gadget tell suits apart that share rows in {self.name}")
        tree = copy(self)
        tree.game, tree.name, tree.betting = game, game.name, game.betting
        tree.unit, tree.per_chip = game.scale
        tree.shape = streets.shape(tree.betting, self.streets, int(self.rows.max())) if shape is None else shape
        tree.forest, tree.stride, tree.seats = tree.shape.forest, tree.shape.stride, tree.shape.seats
        table = tree._table_sizes()
        tree.table, tree.boards = int(table.sum()), self.boards._replace(base=_starts(table))
        for name in ("weights", "total", "constant", "fingerprint", "nodes_by_street", "infoset_count"):
            tree.__dict__.pop(name, None)
        return tree

    @cached_property
    def row_hands(self) -> tuple[Array, Array]:
        """How many hands share each row at the root. int64 [rows] each"""
        first, second = (np.bincount(self.row_of[0, p][self.held[p]], minlength=self.rows[0, p]) for p in (0, 1))
        return first, second

    @cached_property
    def total(self) -> float:
        """Sum of the products of the weights over all pairs of hands that can be dealt together."""
        w = [np.asarray(self.game.weights[p]) for p in (0, 1)]
        by_card = [np.bincount(HAND_CARDS.ravel(), np.repeat(x, 2), minlength=52) for x in w]
        total = w[0].sum() * w[1].sum() - float(by_card[0] @ by_card[1]) + float(w[0] @ w[1])
        if not total > 1e-12 * w[0].sum() * w[1].sum():
            raise InputError(f"{self.name}: no pair of hands can be dealt")
        return float(total)

    @cached_property
    def constant(self) -> float | None:
        """What the pay-offs of a terminal sum to, in chips; None where they differ, as with rake."""
        sums = self.betting.pay.sum(axis=2)[self.betting.actor == TERMINAL]
        return float(sums.flat[0]) if np.abs(sums - sums.flat[0]).max() < 1e-9 else None

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything that a strategy for this tree depends on."""
        digest = hashlib.sha256()
        b = self.betting
        for array in (b.actor, b.end, b.street, b.showdown, b.pay, *self.game.weights):
            digest.update(np.ascontiguousarray(array).data)
        digest.update(repr((b.label, self.game.board, self.game.deals, self.game.deck)).encode())
        digest.update(b"" if self.game.deck.rules == STANDARD else self.game.deck.rules.encode())
        for lock in getattr(self.game, "locks", ()):
            digest.update(repr((lock.line, lock.strategy)).encode())
            digest.update(b"" if lock.hands is None else np.ascontiguousarray(lock.hands.weights).data)
        gadget = getattr(self.game, "gadget", None)
        if gadget is not None:
            digest.update(repr((type(gadget).__name__, gadget.player)).encode())
            for vector in gadget.vectors:
                digest.update(np.ascontiguousarray(vector).data)
        if any((w[held] == 0).any() for w, held in zip(self.game.weights, self.held, strict=True)):  # `with_weights`
            digest.update(b"".join(np.ascontiguousarray(held).tobytes() for held in self.held))
        return digest.hexdigest()


def _both(numbers: Array) -> Array:
    """Numbers of both seats, where those of one may stand for both. [boards, 2]"""
    return np.repeat(numbers, 3 - numbers.shape[1], axis=1)


def _seen_twice(numbers: Array) -> Array:
    """The same for vectors, without a copy. [boards, 2, …]"""
    boards, seats, size = numbers.shape
    apart, between, step = numbers.strides
    return as_strided(numbers, (boards, 2, size), (apart, between if seats == 2 else 0, step))


@cache
def _held(cards: int, rules: str) -> Held:
    """All hands, for so many cards with a board."""
    ranks = ranking_tables(cards, rules)
    mask = np.bitwise_or.reduce(np.uint64(1) << HAND_CARDS.astype(np.uint64), axis=1)
    key, suits = (part[HAND_CARDS].sum(axis=1, dtype=np.uint64) for part in (ranks.key, ranks.mask))
    return Held(ranks, mask, key, suits)


def _starts(sizes: Array) -> Array:
    """Where pieces of some sizes begin when they stand one after the other. int64, in the shape of sizes"""
    ends = np.cumsum(sizes, dtype=np.int64)
    return (ends - sizes.ravel()).reshape(sizes.shape)
