"""Subgames of a blueprint as board games with explicit hands.

`BlueprintSubgame` is the game: the betting tree from a node on, the board, and all hands that the board does not block.
`compile_blueprint` compiles it and expands the strategy of buckets to hands, so that every engine and report for board
games works on blueprints.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, pairwise
from math import comb

import numpy as np

from riverboat.cards.deck import HAND_CARDS, Deck
from riverboat.cards.notation import format_cards
from riverboat.core.arrays import Array
from riverboat.core.budget import require_memory
from riverboat.core.errors import InputError
from riverboat.core.parallel import map_in_order
from riverboat.engines.tables import TABLE_PADDING, table_block
from riverboat.games.boards.board_game import BettingTree
from riverboat.games.boards.subtrees import BettingSubtree, extract_action_subtree
from riverboat.strategies._kernels import table as kernels
from riverboat.strategies.blueprint import Blueprint
from riverboat.trees.boards import BoardTree


@dataclass(frozen=True, eq=False)
class BlueprintSubgame:
    """A `BoardGame`: the continuation of a blueprint's line on a board, with all hands that the board does not block.

    Payoffs are those of spots: the pot at the line is dead money that the winner gets.
    """

    name: str
    deck: Deck
    board_parts: tuple[tuple[int, ...], ...]  # cards of each street: buckets may depend on the street a card was dealt
    deals: tuple[int, ...]
    weights: tuple[Array, Array]
    part: BettingSubtree  # betting after the line, with the blueprint's node of each of its nodes
    spent: tuple[int, int]  # chips that each seat put in before the root
    unit: str = field(default="chips", init=False)
    joiner: str = field(default="-", init=False)

    @property
    def board(self) -> tuple[int, ...]:
        """Board cards in the order of the deal."""
        return tuple(card for part in self.board_parts for card in part)

    @property
    def betting(self) -> BettingTree:
        """Betting tree of the subgame."""
        return self.part.betting

    @cached_property
    def hand_indices(self) -> tuple[Array, Array]:
        """Indices of the hands that the board does not block, for both seats."""
        live = np.flatnonzero(np.isin(HAND_CARDS, np.setdiff1d(self.deck.cards, self.board)).all(axis=1))
        return live, live

    @property
    def scale(self) -> tuple[str, float]:
        """Unit of reported values, % of the pot, and its number per chip."""
        return "% of pot", 100.0 / sum(self.spent)

    @cached_property
    def boards(self) -> tuple[int, ...]:
        """Number of boards of each street of the subgame, by order of the deals."""
        counts, cards_left = [1], len(self.deck.cards) - len(self.board)
        for count in self.deals:
            counts.append(counts[-1] * comb(cards_left, count))
            cards_left -= count
        return tuple(counts)

    @cached_property
    def max_table_size(self) -> int:
        """Upper bound of the table size: actions × hands over all boards. Suit isomorphism makes the table smaller."""
        betting, cards_left, total = self.betting, len(self.deck.cards) - len(self.board), 0
        is_decision = np.append(betting.actor >= 0, False)
        parents = betting.parents[1:]
        actions_by_street = np.bincount(betting.street[parents][is_decision[parents]], minlength=len(self.boards))
        for actions, boards, dealt in zip(actions_by_street.tolist(), self.boards, (0, *self.deals), strict=True):
            cards_left -= dealt
            total += actions * boards * comb(cards_left, 2)
        return int(total)


def blueprint_subgame(
    strategy: Blueprint, node: int, board: tuple[int, ...], weights: Array, betting_cut: BettingSubtree | None = None
) -> BlueprintSubgame:
    """Return the subgame below a node of a blueprint's tree, on a board of the node's street or a later one.

    `weights` are reach probabilities of each seat's hands, float64 [2, 1326]. `betting_cut` is the result of
    `extract_action_subtree` for the node, if the caller has it already.
    """
    rules, tree = strategy.rules, strategy.tree
    check_two_card_game(strategy)
    street = rules.board_sizes.index(len(board))
    spent = tree.spent[node].tolist()
    name = f"{rules.name}, {tree.line(node) or 'root'}" + (f" on {format_cards(board)}" if board else "")
    parts, deals = tuple(board[a:b] for a, b in pairwise(rules.board_sizes[: street + 1])), rules.board[street + 1 :]
    betting = extract_action_subtree(tree, node, street) if betting_cut is None else betting_cut
    weights_by_seat, spent_by_seat = (weights[0], weights[1]), (spent[0], spent[1])
    return BlueprintSubgame(name, rules.deck, parts, deals, weights_by_seat, betting, spent_by_seat)


def check_two_card_game(strategy: Blueprint) -> None:
    """Check that a game has two hole cards and deals board cards on every street after the first."""
    rules = strategy.rules
    if rules.hole != 2:
        raise InputError(f"{rules.name}: values of blueprints need hands of two cards; it deals {rules.hole}")
    if rules.board[0] or 0 in rules.board[1:]:
        raise InputError(
            f"{rules.name}: deals {rules.board} board cards: must be none in the first round and one or more later"
        )


# --- table --------------------------------------------------------------------------------------


def compile_blueprint(strategy: Blueprint, game: BlueprintSubgame, threads: int) -> tuple[BoardTree, Array]:
    """Compile a subgame, and expand the blueprint's weights from buckets to a table over hands. float32 [table]"""
    tree = BoardTree(game)
    require_memory(game.name, 4 * tree.table_size)
    table = np.empty(tree.table_size + TABLE_PADDING, np.float32)
    table[tree.table_size :] = 0.0
    for street, bucket_strategy in enumerate(strategy.average[len(game.board_parts) :]):
        bucket = _buckets(strategy, game, tree, street, threads)
        # On each board, the block of seat 1 follows that of seat 0.
        columns = np.concatenate([_table_columns(strategy, game, tree, street, seat) for seat in (0, 1)])
        write_bucket_strategy(tree, street, bucket_strategy, columns, bucket, table, threads)
    return tree, table


def write_bucket_strategy(
    tree: BoardTree, street: int, strategy_table: Array, columns: Array, bucket: Array, table: Array, threads: int = 1
) -> None:
    """Expand the strategy of buckets on a street to the hands of its boards; both seats must have the same hands.

    `strategy_table` has a row for each bucket. `columns` gives the column of each action of a board. `bucket` has the
    bucket of each row of the boards, board after board.
    """
    first, end = tree.street_start[street : street + 2]
    sums, width = np.require(strategy_table, requirements=["C", "W"]).reshape(-1), strategy_table.shape[1]
    rows = tree.rows[first:end, 0]
    start = np.cumsum(rows, dtype=np.int64) - rows
    boards = kernels.BoardRows(start, rows, bucket, np.ascontiguousarray(tree.boards.base[first:end, 0]))

    def write(part: Array) -> None:
        at = np.empty(kernels.BLOCK_ROWS, np.uint64)
        kernels.expand_buckets(sums, width, columns, int(part[0]), int(part[-1]) + 1, boards, at, table)

    parts = [part for part in np.array_split(np.arange(end - first), threads) if len(part)]
    list(map_in_order(write, parts, threads))


def decision_view(tree: BoardTree, table: Array, board: int, node: int) -> Array:
    """Return the entries of a decision on a board as a view of a table. [actions, rows]"""
    offset, width, rows = table_block(tree, board, node)
    return table[offset : offset + width * rows].reshape(width, rows)


def _buckets(strategy: Blueprint, game: BlueprintSubgame, tree: BoardTree, street: int, threads: int) -> Array:
    """Return the buckets of the representative hands of the boards of one street, board after board. int32 [rows]"""
    boards = range(tree.street_start[street], tree.street_start[street + 1])
    hands = np.concatenate([tree.representatives(b, 0) for b in boards])
    dealt = [[*game.board, *chain.from_iterable(tree.deals.deals_to(b))] for b in boards]
    board_cards = np.repeat(np.array(dealt, np.uint8), tree.rows[boards.start : boards.stop, 0], axis=0)
    parts = np.array_split(np.concatenate([HAND_CARDS[hands], board_cards], axis=1), threads)
    buckets = map_in_order(lambda part: strategy.cards.buckets(part, check=False)[:, 0, -1], parts, threads)
    return np.concatenate(list(buckets))


def _table_columns(strategy: Blueprint, game: BlueprintSubgame, tree: BoardTree, street: int, seat: int) -> Array:
    """Return the blueprint's column of each action of a seat on a street, in the board tree's order. int32 [actions]"""
    forest = tree.forest
    low, high = forest.first[street : street + 2].tolist()
    decisions = low + np.flatnonzero(forest.actor[low:high] == seat)
    width = forest.width[decisions].astype(np.int64)
    offset = np.cumsum(width) - width
    slot = strategy.tree.slot[game.part.origin[forest.node[decisions]]]
    columns: Array = (np.arange(width.sum()) + np.repeat(slot - offset, width)).astype(np.int32)
    return columns
