"""What follows a line of a blueprint, as a game on boards with a table of what the blueprint plays there.

`LineGame` is the game: the betting that the tree has from a node on, the board that lies, and all hands that it leaves.
`filled` compiles it and writes what buckets play as what hands play, so that whatever walks or reads boards does so here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import comb
from typing import TypeVar

import numpy as np

from riverboat.cards.deck import HAND_CARDS, Deck
from riverboat.cards.notation import show_cards
from riverboat.core.arrays import Array
from riverboat.core.budget import require
from riverboat.core.errors import InputError
from riverboat.engines.tables import BEHIND
from riverboat.games.boards.action_subtree import Cut, cut
from riverboat.games.boards.board_game import BettingTree
from riverboat.strategies._kernels import blueprint as kernels
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.trees.boards import BoardTree

Job = TypeVar("Job")
Done = TypeVar("Done")


@dataclass(frozen=True, eq=False)
class LineGame:
    """A `BoardGame`: what follows a line of a blueprint on a board, with all hands that the board leaves.

    Pay-offs are those of spots: the pot at the line belongs to nobody.
    """

    name: str
    deck: Deck
    board_parts: tuple[tuple[int, ...], ...]  # the cards of each street: buckets may tell which came when
    deals: tuple[int, ...]
    weights: tuple[Array, Array]
    part: Cut
    spent: tuple[int, int]  # chips that each seat has put in before
    unit: str = field(default="chips", init=False)
    joiner: str = field(default="-", init=False)

    @property
    def board(self) -> tuple[int, ...]:
        """The cards that lie, in the order in which they came."""
        return tuple(card for part in self.board_parts for card in part)

    @property
    def betting(self) -> BettingTree:
        """What may be bet from here on."""
        return self.part.betting

    @cached_property
    def held(self) -> tuple[Array, Array]:
        """All hands that the board leaves, of both."""
        left = np.setdiff1d(self.deck.cards, self.board)
        live = np.flatnonzero(np.isin(HAND_CARDS, left).all(axis=1))
        return live, live

    @property
    def scale(self) -> tuple[str, float]:
        """As in spots."""
        return "% of pot", 100.0 / sum(self.spent)

    @cached_property
    def boards(self) -> tuple[int, ...]:
        """Boards of each street from here on, each way to deal them."""
        counts, left = [1], len(self.deck.cards) - len(self.board)
        for count in self.deals:
            counts.append(counts[-1] * comb(left, count))
            left -= count
        return tuple(counts)

    @cached_property
    def numbers(self) -> int:
        """Of a table, at most: moves × hands, over all boards. Where suits are alike it is smaller."""
        betting, left, total = self.betting, len(self.deck.cards) - len(self.board), 0
        acts = np.append(betting.actor >= 0, False)
        above = _parents(betting)
        moves = np.bincount(betting.street[above[1:]][acts[above[1:]]], minlength=len(self.boards))
        for count, boards, dealt in zip(moves.tolist(), self.boards, (0, *self.deals), strict=True):
            left -= dealt
            total += count * boards * comb(left, 2)
        return int(total)


def _parents(betting: BettingTree) -> Array:
    """Of each node; -1 at the root. int64 [nodes]"""
    parents, begun = np.full(len(betting.end), -1), [0]
    for node in range(1, len(parents)):
        while betting.end[begun[-1]] <= node:
            begun.pop()
        parents[node] = begun[-1]
        begun.append(node)
    return parents


def line_game(
    strategy: BlueprintStrategy, node: int, board: tuple[int, ...], weights: Array, part: Cut | None = None
) -> LineGame:
    """The game that follows a node of a blueprint's tree on a board, which may be one of a later street than the node's.

    `weights` are how often each seat comes there with each hand: float64 [2, 1326]. `part` is what `cut` makes of the node.
    """
    rules, tree = strategy.rules, strategy.tree
    check_game(strategy)
    street = rules.board_sizes.index(len(board))
    spent = tree.spent[node].tolist()
    name = f"{rules.name}, {tree.line(node) or 'root'}" + (f" on {show_cards(board)}" if board else "")
    return LineGame(
        name,
        rules.deck,
        tuple(board[a:b] for a, b in pairwise(rules.board_sizes[: street + 1])),
        tuple(rules.board[street + 1 :]),
        (weights[0], weights[1]),
        cut(tree, node, street) if part is None else part,
        (spent[0], spent[1]),
    )


def check_game(strategy: BlueprintStrategy) -> None:
    """Refuse games that are not played with two hole cards and a board."""
    rules = strategy.rules
    if rules.hole != 2:
        raise InputError(f"{rules.name}: values of blueprints are of hands of two cards, and it deals {rules.hole}")
    if rules.board[0] or 0 in rules.board[1:]:
        raise InputError(
            f"{rules.name}: deals {rules.board} board cards: none before the first round, one or more later"
        )


# --- the table --------------------------------------------------------------------------------


def filled(strategy: BlueprintStrategy, game: LineGame, threads: int) -> tuple[BoardTree, Array]:
    """A game compiled, and what the blueprint plays in it: sums, of which walks take shares. float32 [table]"""
    tree = BoardTree(game)
    require(game.name, 4 * tree.table)
    table = np.empty(tree.table + BEHIND, np.float32)
    table[tree.table :] = 0.0
    for street in range(tree.streets):
        _fill(strategy, game, tree, street, table, threads)
    return tree, table


def _fill(
    strategy: BlueprintStrategy, game: LineGame, tree: BoardTree, street: int, table: Array, threads: int
) -> None:
    """Write the part of a street."""
    boards = range(tree.street_at[street], tree.street_at[street + 1])
    played = strategy.average[len(game.board_parts) + street]
    bucket = _buckets(strategy, game, tree, boards, threads)
    # On a board the numbers of one seat follow those of the other.
    columns = np.concatenate([_columns(strategy, game, tree, street, seat) for seat in (0, 1)])
    write_street(tree, street, played, columns, bucket, table, threads)


def write_street(
    tree: BoardTree, street: int, played: Array, columns: Array, bucket: Array, table: Array, threads: int = 1
) -> None:
    """Write what buckets play on a street as what hands play on its boards; both seats must hold the same hands.

    `played` has a row for each bucket, `columns` says where the moves of a board stand in it, and `bucket` has the bucket of
    each row of the boards, board after board.
    """
    first, end = tree.street_at[street : street + 2]
    sums, width = np.require(played, requirements=["C", "W"]).reshape(-1), played.shape[1]
    rows = tree.rows[first:end, 0]
    start = np.cumsum(rows, dtype=np.int64) - rows
    boards = kernels.BoardRows(start, rows, bucket, np.ascontiguousarray(tree.boards.base[first:end, 0]))

    def write(part: Array) -> None:
        at = np.empty(kernels.ROWS, np.uint64)
        kernels.spread(sums, width, columns, int(part[0]), int(part[-1]) + 1, boards, at, table)

    spread(write, [part for part in np.array_split(np.arange(end - first), threads) if len(part)], threads)


def spread(work: Callable[[Job], Done], jobs: Sequence[Job], threads: int) -> list[Done]:
    """Do jobs on threads; answers come in the order of the jobs."""
    if threads == 1:
        return [work(job) for job in jobs]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, jobs))


def _buckets(strategy: BlueprintStrategy, game: LineGame, tree: BoardTree, boards: range, threads: int) -> Array:
    """Of the hands that stand for the rows of some boards of one street, board after board. int32 [rows]"""
    hands = np.concatenate([tree.reps(b, 0) for b in boards])
    shown = np.array([_cards(tree, game, b) for b in boards], np.uint8)
    deals = np.concatenate(
        [HAND_CARDS[hands], np.repeat(shown, tree.rows[boards.start : boards.stop, 0], axis=0)], axis=1
    )
    parts = np.array_split(deals, threads)
    return np.concatenate(spread(lambda part: strategy.cards.buckets(part, check=False)[:, 0, -1], parts, threads))


def _cards(tree: BoardTree, game: LineGame, board: int) -> tuple[int, ...]:
    """The cards of a board, in the order in which they came."""
    later: tuple[int, ...] = ()
    while board:
        later = (*tree.deals.dealt(board), *later)
        board = int(tree.deals.parents[board])
    return (*game.board, *later)


def _columns(strategy: BlueprintStrategy, game: LineGame, tree: BoardTree, street: int, seat: int) -> Array:
    """Where a seat's moves on a street stand in the blueprint's tables, in the order of ours. int32 [moves]"""
    forest = tree.forest
    low, high = forest.first[street : street + 2].tolist()
    mine = low + np.flatnonzero(forest.actor[low:high] == seat)
    width = forest.width[mine].astype(np.int64)
    before = np.cumsum(width) - width
    slot = strategy.tree.slot[game.part.source[forest.node[mine]]]
    columns: Array = (np.arange(width.sum()) + np.repeat(slot - before, width)).astype(np.int32)
    return columns
