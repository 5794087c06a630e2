"""`BoardTree`: a hold'em game as betting × boards, with vectors of hands.

Betting does not depend on the cards, so it is stored once (`riverboat.trees.betting`). Boards form a tree of their own,
with one node for each class of boards that are equal up to a permutation of suits. On a board each player's hands are
numbered. Hands that a remaining suit symmetry exchanges share a row, which is lossless. A table has the layout
[board][player][decision, action][row], so that the traversal of one board reads contiguous memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from riverboat.cards.deck import HAND_CARDS, NUM_HANDS, STANDARD_RULES, card_masks
from riverboat.cards.notation import format_cards, format_hand
from riverboat.cards.ranges import Range
from riverboat.cards.ranking import rank_tables as ranking_tables
from riverboat.core.budget import BuildMonitor, require_memory
from riverboat.core.errors import InputError
from riverboat.games.base import TERMINAL, Array
from riverboat.games.boards.board_game import BoardGame
from riverboat.games.spots.locks import check_locks
from riverboat.games.spots.spot import Spot
from riverboat.trees import betting
from riverboat.trees._kernels import board as kernels
from riverboat.trees._kernels.board import HandKeys, order_hands_by_strength
from riverboat.trees.betting import BettingShape
from riverboat.trees.deals import enumerate_deals, min_tree_bytes

NO_ROW = kernels.NO_ROW


class BoardArrays(NamedTuple):
    """Boards of all streets, street by street; the children of a board are contiguous."""

    rows: Array  # int32 [boards, 2]: number of rows of each player
    base: Array  # int64 [boards, 2]: offset of each player's block in a table
    child: Array  # int32 [boards + 1]: children of board b are child[b] … child[b + 1] - 1
    up_at: Array  # int64 [boards, 2]: offset of player p's rows in up
    up: Array  # uint16 [sum of rows]: row on the parent board
    member: Array  # int32 [boards + 1]: board b represents the boards member[b] … member[b + 1] - 1
    down_at: Array  # int64 [members, 2]: offset of player p's map in down
    down: Array  # uint16 […]: for each row of the parent board, its row here; rows[b] where the hand is blocked
    chance: Array  # float64 [boards]: probability of one member, given two hands that it does not block
    hand_at: Array  # int64 [boards, 2]: offset of player p's hands in hand
    hands: Array  # int32 [boards, 2]: number of player p's hands
    hand: Array  # uint16 [hands, 3]: from weak to strong: row, two cards
    rep_at: Array  # int64 [boards, 2]: offset of player p's rows in rep
    rep: Array  # uint16 [rows, 7]: from weak to strong: row, the opponent's row with the same cards, two cards,
    # group of equal strength, positions of the two cards among the cards of the group
    group_at: Array  # int64 [boards, 2]: offset of the groups of player p's rows
    groups: Array  # int32 [boards, 2]: number of these groups
    group: Array  # uint16 [groups, 2]: ends of the opponent's hands, and of the cards of p's rows, up to this strength
    touched_at: Array  # int64 [boards, 2]: offset of those cards in touched
    touched: Array  # uint8 [cards]: the cards of p's rows, group after group, each once in a group


class BoardTree:
    """A board game compiled to arrays.

    Games with the same betting may share a `BettingShape`, if its vectors are long enough for their hands.
    """

    players = 2

    def __init__(self, game: BoardGame, shape: BettingShape | None = None) -> None:
        self.game = game
        self.name = game.name
        self.unit, self.per_chip = game.scale
        self.betting = game.betting if shape is None else shape.betting
        self.streets = len(game.deals) + 1
        self.held = tuple(np.asarray(hands, np.int32) for hands in game.hand_indices)
        self._check_game()
        require_memory(self.name, min_tree_bytes(game), share=1.0)
        self.deals = enumerate_deals(game)
        self.street_start = self.deals.street_start
        with self._track_growth("numbering the hands of") as grown:
            self._number_rows(grown)
        self.shape = betting.make_shape(self.betting, self.streets, int(self.rows.max())) if shape is None else shape
        self.forest, self.stride, self.seats = self.shape.forest, self.shape.stride, self.shape.seats
        if len(self.forest.first) != self.streets + 1 or int(self.rows.max()) >= self.stride:
            raise InputError(
                f"{self.name}: {self.streets} streets and {self.rows.max()} rows do not fit the given shape"
            )

    @cached_property
    def boards(self) -> BoardArrays:
        """The arrays of all boards, laid out on first use: sizes are known without them."""
        with self._track_growth("ordering the hands of") as grown:
            return self._lay_out_boards(grown)

    def _track_growth(self, doing: str) -> BuildMonitor:
        return BuildMonitor(self.name, doing, "boards", 0, expected=len(self.deals.masks))

    def _check_game(self) -> None:
        if self.betting.street.max(initial=0) >= self.streets:
            raise InputError(
                f"{self.name}: {self.betting.street.max()} deals in the betting, but {self.streets - 1} in the game"
            )
        for player in (0, 1):
            if not len(self.held[player]):
                raise InputError(f"{self.name}: player {player} has no hand")
        if len(set(self.game.board)) < len(self.game.board):
            raise InputError(f"{self.name}: a card appears twice on the board {format_cards(self.game.board)}")
        if isinstance(self.game, Spot):
            check_locks(self.game)

    # --- rows of hands ------------------------------------------------------------------------

    def _number_rows(self, growth: BuildMonitor) -> None:
        """Number each player's rows on each board: set `row_of`, `rows`, `hand_counts` and `representative_hands`."""
        count, seats = len(self.deals.masks), self.distinct_players
        row_of = np.empty((count, seats, NUM_HANDS), np.uint16)  # NO_ROW where a hand is not possible
        rows, hand_counts = np.zeros((count, seats), np.int32), np.zeros((count, seats), np.int32)
        representatives: list[Array] = []
        scratch = np.empty(NUM_HANDS, np.uint16)
        for b in range(count):
            growth(b)
            images = self.deals.hand_maps[self.deals.stabilizers[b]]
            for p in range(seats):
                rows[b, p], hand_counts[b, p] = kernels.number_rows(
                    self.held[p], HAND_CARDS, self.deals.masks[b], images, row_of[b, p], scratch
                )
                representatives.append(scratch[: rows[b, p]].copy())
        self.row_of = _view_for_both_players(row_of)  # uint16 [boards, 2, 1326]
        self.rows, self.hand_counts = _for_both_players(rows), _for_both_players(hand_counts)  # int32 [boards, 2]
        self.representative_start = _for_both_players(_offsets(rows))
        # The representative hand of each row of each board. uint16
        self.representative_hands: Array = np.concatenate(representatives)

    def representatives(self, board: int, player: int) -> Array:
        """Return the representative hands of a player's rows on a board. uint16 [rows]"""
        at = self.representative_start[board, player]
        return self.representative_hands[at : at + self.rows[board, player]]

    def _allocate_boards(self) -> BoardArrays:
        """Allocate the arrays of all boards; those for groups of hands of equal strength are empty."""
        d, rows, seats = self.deals, self.rows, self.distinct_players
        hands, shown = self.hand_counts[:, :seats], rows[:, :seats]
        members = np.repeat(
            shown[d.parents], np.diff(d.member_start), axis=0
        )  # rows of the parent board of each member
        members[0] = 0  # the root has no parent
        return BoardArrays(
            rows=rows,
            base=_offsets(self._table_sizes()),
            child=d.child_start,
            up_at=self.representative_start,
            up=np.zeros(int(shown.sum()), np.uint16),
            member=d.member_start,
            down_at=_for_both_players(_offsets(members)),
            down=np.zeros(int(members.sum()), np.uint16),
            chance=d.chance,
            hand_at=_for_both_players(_offsets(hands)),
            hands=self.hand_counts,
            hand=np.zeros((int(hands.sum()), 3), np.uint16),
            rep_at=self.representative_start,
            rep=np.zeros((int(shown.sum()), 7), np.uint16),
            group_at=np.zeros((0, 2), np.int64),
            groups=np.zeros((0, 2), np.int32),
            group=np.zeros((0, 2), np.uint16),
            touched_at=np.zeros((0, 2), np.int64),
            touched=np.zeros(0, np.uint8),
        )

    def _lay_out_boards(self, growth: BuildMonitor) -> BoardArrays:
        """Make the maps between boards, and the showdown layout of the last street."""
        boards, count = self._allocate_boards(), len(self.deals.masks)
        for b in range(1, count):
            growth(b)
            self._map_rows(b, boards.up, boards.down, boards.down_at)
        groups, touched = [], []
        group, cards = np.empty((NUM_HANDS, 2), np.uint16), np.empty(2 * NUM_HANDS, np.uint8)
        scratch = np.empty(52, np.int32)
        for b, showdown, board_hands, board_rows in self._showdowns(boards.hand_at, boards.hand, boards.rep):
            growth(b)
            num_groups, num_cards = kernels.lay_out_showdown(*showdown, scratch, board_hands, board_rows, group, cards)
            groups.append(group[:num_groups].copy())
            touched.append(cards[:num_cards].copy())
        counts, met = (np.array([len(x) for x in some]).reshape(count, -1) for some in (groups, touched))
        return boards._replace(
            group_at=_for_both_players(_offsets(counts)),
            groups=_for_both_players(counts.astype(np.int32)),
            group=np.concatenate(groups),
            touched_at=_for_both_players(_offsets(met)),
            touched=np.concatenate(touched),
        )

    @cached_property
    def table_size(self) -> int:
        """Size of a table: one entry for each information set and action."""
        return int(self._table_sizes().sum())

    @cached_property
    def distinct_players(self) -> int:
        """Players whose rows, maps and showdowns are stored: one if both hold the same hands, else two."""
        return 1 if np.array_equal(self.held[0], self.held[1]) else 2

    def _table_sizes(self) -> Array:
        """Return the number of table entries of each player on each board. int64 [boards, 2]"""
        street = np.repeat(np.arange(self.streets), np.diff(self.street_start))
        return self.forest.slots[street].astype(np.int64) * self.rows

    def _map_rows(self, b: int, up: Array, down: Array, down_at: Array) -> None:
        """Map the rows of a board to its parent, and the rows of the parent to this board."""
        d, above = self.deals, int(self.deals.parents[b])
        for p in range(self.distinct_players):
            at, n = self.representative_start[b, p], self.rows[b, p]
            up[at : at + n] = self.row_of[above, p][self.representatives(b, p)]
            for m in range(d.member_start[b], d.member_start[b + 1]):
                to = down_at[m, p]
                kernels.map_rows_to_child(
                    self.representatives(above, p), d.hand_maps[d.member_symmetry[m]], HAND_CARDS, d.member_masks[m],
                    self.row_of[b, p], n, down[to : to + self.rows[above, p]],
                )  # fmt: skip

    def _strength_orders(self) -> Iterator[tuple[int, Array, Array]]:
        """Yield every board with its hands from weak to strong and their strengths.

        Before the last street all strengths are equal.
        """
        last, count = self.street_start[-2], len(self.deals.masks)
        for b in range(last):
            yield b, np.arange(NUM_HANDS, dtype=np.int16), np.zeros(NUM_HANDS, np.uint16)
        for low in range(last, count, 256):  # rank 256 boards at a time
            boards = np.array([self.deals.board_cards(b) for b in range(low, min(low + 256, count))], np.uint8)
            strength, order = (np.empty((len(boards), NUM_HANDS), kind) for kind in (np.uint16, np.int16))
            held = _hand_keys(2 + boards.shape[1], self.game.deck.rules)
            order_hands_by_strength(
                held, boards, strength, order, np.empty(NUM_HANDS, np.int16), np.empty(257, np.int64)
            )
            for k in range(len(order)):
                yield low + k, order[k], strength[k]

    def _showdowns(
        self, hand_at: Array, hand: Array, rep: Array
    ) -> Iterator[tuple[int, tuple[Any, ...], Array, Array]]:
        """Yield board, inputs of a layout kernel, and its parts of `hand` and `rep`, for each board and player."""
        for b, order, strength in self._strength_orders():
            for p in range(self.distinct_players):
                at, n = self.representative_start[b, p], self.rows[b, p]
                begin, hands = hand_at[b, 1 - p], self.hand_counts[b, 1 - p]
                own_row, opp_row, representatives = self.row_of[b, p], self.row_of[b, 1 - p], self.representatives(b, p)
                inputs = order, strength, HAND_CARDS, own_row, representatives, opp_row, self.stride
                yield b, inputs, hand[begin : begin + hands], rep[at : at + n]

    def running_sum_layout(self) -> tuple[Array, Array, Array]:
        """Return the showdown layout for engines with running sums over all hands and over the hands of each card.

        - int64 [boards, 2]: offset of player p's hands.
        - uint16 [hands, 3], from weak to strong: row, positions in the sums of its two cards.
        - uint16 [rows, 10], player p's from `rep_at` on: row, the opponent's row with the same cards, then positions in
          the opponent's sums: of all hands and of each card up to the weaker hands, the same up to the hands that are
          not stronger, and the total of each card.
        """
        seats = self.distinct_players
        hand_at = _for_both_players(_offsets(self.hand_counts[:, :seats]))
        hand = np.zeros((int(self.hand_counts[:, :seats].sum()), 3), np.uint16)
        rep = np.zeros((int(self.rows[:, :seats].sum()), 10), np.uint16)
        start, fill = np.zeros(53, np.int32), np.zeros(52, np.int32)
        for _, showdown, board_hands, board_rows in self._showdowns(hand_at, hand, rep):
            kernels.lay_out_running_sums(*showdown, start, fill, board_hands, board_rows)
        return hand_at, hand, rep

    # --- tables -----------------------------------------------------------------------------

    def street_of(self, board: int) -> int:
        """Return the street of a board: the number of deals that lead to it."""
        return int(np.searchsorted(self.street_start, board, "right")) - 1

    @cached_property
    def nodes_by_street(self) -> Array:
        """Number of decision nodes of each player on each street. int64 [streets, 2]"""
        actor, first = self.forest.actor, self.forest.first
        return np.array(
            [[int((actor[first[s] : first[s + 1]] == p).sum()) for p in (0, 1)] for s in range(self.streets)]
        )

    @cached_property
    def infoset_count(self) -> int:
        """Number of information sets; hands that suit symmetries exchange count once."""
        rows = np.add.reduceat(self.rows, self.street_start[:-1], axis=0, dtype=np.int64)
        return int((rows * self.nodes_by_street).sum())

    @property
    def action_count(self) -> int:
        """Sum of the actions over the information sets: the size of a table."""
        return self.table_size

    @cached_property
    def layout_bytes(self) -> int:
        """Memory of the arrays that describe the tree, in bytes."""
        return self._bytes_with(self.boards)

    def estimate_layout_bytes(self) -> int:
        """Return an upper bound on `layout_bytes` without laying out the boards, as if no hands were equally strong."""
        each_row = 4 + 2  # bytes of a group of one row: both ends, and its two cards
        each_board = 2 * (8 + 4 + 8)  # bytes of both players' offsets and number of groups
        groups = each_row * len(self.representative_hands) + each_board * len(self.rows)
        return self._bytes_with(self._allocate_boards()) + groups

    def _bytes_with(self, boards: BoardArrays) -> int:
        rows = 2 * len(self.row_of) * self.distinct_players * NUM_HANDS  # bytes of `row_of`
        return sum(a.nbytes for a in boards) + rows + self.representative_hands.nbytes

    @cached_property
    def weights(self) -> tuple[Array, Array]:
        """Deal weight of one hand of each row at the root. float64 [rows] each"""
        first, second = (np.asarray(self.game.weights[p])[self.representatives(0, p)] for p in (0, 1))
        return first, second

    def with_weights(self, first: Array, second: Array) -> BoardTree:
        """Return this tree with other ranges, float64 [1326] each; all arrays are shared.

        Every hand must have a row here, and hands that share a row must have the same weight.
        """
        if not isinstance(self.game, Spot):
            raise InputError(f"{self.name}: ranges can be changed only for a spot")
        game = replace(self.game, ranges=(Range(first), Range(second)))
        for p, weights in enumerate(game.weights):
            new = np.setdiff1d(np.flatnonzero(weights), self.held[p])
            if len(new):
                raise InputError(
                    f"{self.name}: {format_hand(new[0])} of player {p} has no row: add it to the range and rebuild"
                )
            if any(not np.array_equal(weights[image], weights) for image in self.deals.hand_maps):
                raise InputError(
                    f"{self.name}: the new weights of player {p} differ between hands that share a row (suit symmetry)"
                )
        tree = copy(self)
        tree.game, tree.boards = game, self.boards
        for name in ("weights", "total", "fingerprint"):
            tree.__dict__.pop(name, None)
        return tree

    def with_game(self, game: BoardGame, shape: BettingShape | None = None) -> BoardTree:
        """Return the boards and rows of this tree for a game with the same cards but other betting, ranges or gadget.

        Arrays are shared. Ranges and gadgets must not distinguish hands that share a row here. A subtree of the betting
        (`riverboat.games.boards.subtrees`) may begin with a deal. Games with the same betting may share a
        `BettingShape`.
        """
        mine = self.game
        if (game.deck, game.board, game.deals) != (mine.deck, mine.board, mine.deals):
            raise InputError(f"{game.name}: its cards differ from those of {self.name}: build a separate tree")
        if any(not np.array_equal(held, own) for held, own in zip(game.hand_indices, self.held, strict=True)):
            raise InputError(f"{game.name}: its hands differ from those with rows in {self.name}")
        gadget = getattr(game, "gadget", None)
        vectors = [*game.weights, *(() if gadget is None else gadget.vectors)]
        if any(
            np.abs(v[image] - v).max() > 1e-9 * max(1.0, np.abs(v).max())
            for image in self.deals.hand_maps
            for v in vectors
        ):
            raise InputError(
                f"{game.name}: its ranges or its gadget differ between hands that share a row in {self.name} (suit symmetry)"
            )
        tree = copy(self)
        tree.game, tree.name, tree.betting = game, game.name, game.betting
        tree.unit, tree.per_chip = game.scale
        tree.shape = betting.make_shape(tree.betting, self.streets, int(self.rows.max())) if shape is None else shape
        tree.forest, tree.stride, tree.seats = tree.shape.forest, tree.shape.stride, tree.shape.seats
        tree.boards = self.boards._replace(base=_offsets(tree._table_sizes()))
        for name in ("table_size", "weights", "total", "constant", "fingerprint", "nodes_by_street", "infoset_count"):
            tree.__dict__.pop(name, None)
        return tree

    @cached_property
    def hands_per_row(self) -> tuple[Array, Array]:
        """Number of hands that share each row at the root. int64 [rows] each"""
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
    def constant_sum(self) -> float | None:
        """Sum of both players' payoffs at every terminal, in chips; None if it is not constant, as with rake."""
        sums = self.betting.payoffs.sum(axis=2)[self.betting.actor == TERMINAL]
        return float(sums.flat[0]) if np.abs(sums - sums.flat[0]).max() < 1e-9 else None

    @cached_property
    def fingerprint(self) -> str:
        """Hash of everything that a strategy for this tree depends on."""
        digest = hashlib.sha256()
        b = self.betting
        for array in (b.actor, b.end, b.street, b.showdown, b.payoffs, *self.game.weights):
            digest.update(np.ascontiguousarray(array).data)
        digest.update(repr((b.label, self.game.board, self.game.deals, self.game.deck)).encode())
        digest.update(b"" if self.game.deck.rules == STANDARD_RULES else self.game.deck.rules.encode())
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


def _for_both_players(numbers: Array) -> Array:
    """Return numbers as [boards, 2]: if both players share one column, [boards, 1], it is repeated."""
    return np.repeat(numbers, 3 - numbers.shape[1], axis=1)


def _view_for_both_players(numbers: Array) -> Array:
    """Return vectors as [boards, 2, …]: if both players share [boards, 1, …], as a view without a copy."""
    boards, seats, size = numbers.shape
    apart, between, step = numbers.strides
    return as_strided(numbers, (boards, 2, size), (apart, between if seats == 2 else 0, step))


@cache
def _hand_keys(cards: int, rules: str) -> HandKeys:
    """Return the ranking keys of all 1,326 hands, for hands and boards of `cards` cards in total."""
    ranks = ranking_tables(cards, rules)
    key, suits = (part[HAND_CARDS].sum(axis=1, dtype=np.uint64) for part in (ranks.key, ranks.mask))
    return HandKeys(ranks, card_masks(HAND_CARDS), key, suits)


def _offsets(sizes: Array) -> Array:
    """Return the offsets of consecutive blocks of the given sizes. int64, in the shape of sizes"""
    ends = np.cumsum(sizes, dtype=np.int64)
    return (ends - sizes.ravel()).reshape(sizes.shape)
