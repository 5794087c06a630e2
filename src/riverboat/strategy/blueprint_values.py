"""What hands are worth at a line of a blueprint, on a real board.

    found = blueprint_values(strategy, "cr300c/cc/", "Ks9d5h2c")
    found.self_play[1]                # EV of each of the dealer's hands where both go on as the blueprint says
    found.best_response[1]            # and where the dealer's hand answers the blueprint as well as it can

What follows the line is walked on every board that may come, in the blueprint's menu, with all hands of both players: the
blueprint becomes a `Solution` (`blueprint_solution`), and everything that reads solutions reads it. Where its table would
take too much memory, streets are walked one by one, and what follows each card apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from riverboat.arrays import Array
from riverboat.cards.deck import HAND_CARDS, HANDS, Deck
from riverboat.cards.notation import Cards, show_cards
from riverboat.cards.ranges import Range
from riverboat.errors import InputError, check_threads
from riverboat.games.board_game import BettingTree
from riverboat.games.cut import Cut, cut
from riverboat.games.menus import SEATS
from riverboat.growth import require
from riverboat.strategy import _blueprint_kernels as kernels
from riverboat.strategy.blueprint import BlueprintStrategy
from riverboat.strategy.blueprint_report import at_line, hand_numbers
from riverboat.strategy.solution import Solution, without_shared
from riverboat.trees.boards import BoardTree
from riverboat.walks.board_walk import BoardWalker
from riverboat.walks.tables import BEHIND

Ranges: TypeAlias = Sequence[Range | Array]
NOBODY = 1e-6  # of a range: less than that beside a hand drowns in the rounding of float32


@dataclass(frozen=True, eq=False)
class Values:
    """EVs of all hands of both seats: what each wins from the pot as it stands, its own later chips deducted.

    Arrays are float64 [2, 1326], by seat (oop, ip) and hand; EVs are NaN where a hand cannot be held, or no hand of the other
    seat is left beside it.
    """

    line: str
    board: tuple[int, ...]
    spent: tuple[int, int]  # chips that each seat has put in so far; their sum is the pot
    ranges: Array  # how often each seat plays to there, holding each hand
    met: Array  # the weight of the other seat's hands that leave each hand possible
    self_play: Array  # both go on as the blueprint says; a hand that it never brings there by its best response
    best_response: Array  # each hand by its own best response to the blueprint, which sees its cards and the board
    unit: str = "chips"

    @property
    def pot(self) -> int:
        """Chips in the middle."""
        return sum(self.spent)

    @property
    def counterfactual(self) -> Array:
        """Counterfactual best-response values: `best_response` times `met`, zero where nobody is met."""
        return np.where(self.met > 0, self.best_response * self.met, 0.0)

    def net(self, values: Array) -> Array:
        """EVs as chips won over the whole hand, what was put in before the line deducted."""
        found: Array = values - np.array(self.spent, float)[:, None]
        return found

    def mean(self, values: Array) -> tuple[float, float]:
        """Of each seat, over its range, each hand as often as it is dealt; NaN where a range is empty."""
        weight = self.ranges * self.met
        total = weight.sum(axis=1)
        found = np.where(weight > 0, values, 0.0) * weight
        first, second = (found.sum(axis=1) / np.where(total > 0, total, np.nan)).tolist()
        return first, second


def blueprint_values(
    strategy: BlueprintStrategy, line: str, board: Cards = (), ranges: Ranges | None = None, threads: int = 1
) -> Values:
    """Values of all hands at a line, on a board of as many cards as its street has.

    `ranges` are weights of both seats' hands there, oop's first; without them, those that the blueprint arrives with.
    """
    check_threads(threads)
    game = _game(strategy, line, board, ranges)
    tree, table = _filled(strategy, game, threads)
    walker = BoardWalker.reader(tree, table, threads)
    held_with, met, values = np.stack(game.weights), np.zeros((2, HANDS)), np.full((2, 2, HANDS), np.nan)
    for seat, held in enumerate(game.held):
        beside = without_shared(held_with[1 - seat])[held]
        met[seat, held] = np.where(beside > NOBODY * held_with[1 - seat].sum(), beside, 0.0)
        some = held[met[seat, held] > 0]
        row = tree.row_of[0, seat][some]
        for found, walk in zip(values, (walker.evaluate, walker.respond), strict=True):
            found[seat, some] = walk(seat)[0, row] / met[seat, some]
    played, best = values
    return Values(line, game.board, game.spent, held_with, met, np.where(held_with > 0, played, best), best)


def blueprint_solution(
    strategy: BlueprintStrategy, line: str, board: Cards = (), ranges: Ranges | None = None, threads: int = 1
) -> Solution:
    """What a blueprint does from a line on, as the solution of a spot is read: lines begin there, as in `c-r600/8h-c`."""
    check_threads(threads)
    game = _game(strategy, line, board, ranges)
    return Solution(*_filled(strategy, game, threads), {**strategy.provenance, "line": line})


# --- a line as a game -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LineGame:
    """A `BoardGame`: what follows a line of a blueprint on a board, with all hands that the board leaves."""

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


def _game(strategy: BlueprintStrategy, line: str, board: Cards, ranges: Ranges | None) -> LineGame:
    rules, tree = strategy.rules, strategy.tree
    if rules.hole != 2:
        raise InputError(f"{rules.name}: values of blueprints are of hands of two cards, and it deals {rules.hole}")
    if rules.board[0] or 0 in rules.board[1:]:
        raise InputError(
            f"{rules.name}: deals {rules.board} board cards: none before the first round, one or more later"
        )
    node = at_line(strategy, line, board)
    street = int(tree.street[node.node])
    parts = tuple(node.board[a:b] for a, b in pairwise(rules.board_sizes[: street + 1]))
    weights = np.zeros((2, HANDS))
    weights[:, hand_numbers(node.hands)] = node.reach
    if ranges is not None:
        weights = _weights(ranges, weights.shape, hand_numbers(node.hands))
    spent = tree.spent[node.node].tolist()
    name = f"{rules.name}, {line or 'root'}" + (f" on {show_cards(node.board)}" if node.board else "")
    deals = tuple(rules.board[street + 1 :])
    return LineGame(
        name, rules.deck, parts, deals, (weights[0], weights[1]), cut(tree, node.node), (spent[0], spent[1])
    )


def _weights(ranges: Ranges, shape: tuple[int, ...], live: Array) -> Array:
    """Ranges as users give them, without the hands that the board rules out. float64 [2, 1326]"""
    if len(ranges) != len(SEATS):
        raise InputError(f"ranges: {len(ranges)} given; give one for each seat, {' and '.join(SEATS)}")
    found = np.zeros(shape)
    for seat, given in enumerate(ranges):
        weights = np.asarray(given.weights if isinstance(given, Range) else given, float)
        if weights.shape != (HANDS,):
            raise InputError(f"range of {SEATS[seat]}: {weights.shape} weights: give one for each of {HANDS:,} hands")
        if not np.isfinite(weights).all() or weights.min() < 0:
            raise InputError(f"range of {SEATS[seat]}: a weight of {weights.min():g}: must be finite and not negative")
        found[seat, live] = weights[live]
    return found


# --- the table --------------------------------------------------------------------------------


def _filled(strategy: BlueprintStrategy, game: LineGame, threads: int) -> tuple[BoardTree, Array]:
    """The boards and betting of a line, and what the blueprint plays there: sums, of which walks take shares."""
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
    rows = tree.rows[boards.start : boards.stop, 0]  # the hands of both are the same
    hands = np.concatenate([tree.reps(b, 0) for b in boards])
    shown = np.repeat(np.array([_cards(tree, game, b) for b in boards], np.uint8), rows, axis=0)
    deals = np.concatenate([HAND_CARDS[hands], shown], axis=1)
    bucket = np.ascontiguousarray(strategy.cards.buckets(deals, check=False)[:, 0, -1])
    start = np.cumsum(rows, dtype=np.int64) - rows
    low, high = tree.forest.first[street : street + 2].tolist()
    nodes = np.arange(low, high)
    work = []
    for seat in (0, 1):
        mine = nodes[tree.forest.actor[low:high] == seat]
        source = game.part.source[tree.forest.node[mine]]
        width = tree.forest.width[mine]
        ends = np.cumsum(width)
        columns = np.arange(width.sum()) + np.repeat(strategy.tree.slot[source] - ends + width, width)
        base = np.ascontiguousarray(tree.boards.base[boards.start : boards.stop, seat])
        for part in np.array_split(np.arange(len(boards)), threads):
            if len(part) and len(columns):
                work.append((columns.astype(np.int32), int(part[0]), int(part[-1]) + 1, base))

    def spread(job: tuple[Array, int, int, Array]) -> None:
        columns, first, end, base = job
        kernels.spread(played, columns, first, end, start, rows, bucket, base, table)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(spread, work))


def _cards(tree: BoardTree, game: LineGame, board: int) -> tuple[int, ...]:
    """The cards of a board, in the order in which they came."""
    later: tuple[int, ...] = ()
    while board:
        later = (*tree.deals.dealt(board), *later)
        board = int(tree.deals.parents[board])
    return (*game.board, *later)
