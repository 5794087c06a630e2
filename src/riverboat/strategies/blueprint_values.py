"""Expected values of hands at a line of a blueprint, on a real board, and tables of them.

    values = blueprint_values(strategy, "cr300c/cc/", "Ks9d5h2c")
    values.self_play[1]                # EV of each of the dealer's hands if both players follow the blueprint
    values.best_response[1]            # EV of each of the dealer's hands by a best response to the blueprint

The subgame is evaluated on every runout, in the blueprint's menu, with all hands of both players. The blueprint becomes
a `Solution` (`blueprint_solution`), which all reports on solutions accept. Where the table would be too large, as on
most flops, one street is traversed at a time, with a separate subgame for each card.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any, TypeAlias

import numpy as np

from riverboat.cards.deck import FULL_DECK, HAND_CARDS, NUM_HANDS, hand_index
from riverboat.cards.grid import CLASS_NAMES, CLASS_OF_HAND
from riverboat.cards.notation import Cards, as_hand, format_cards, format_hand
from riverboat.cards.ranges import Range, compatible_weights
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, check_threads
from riverboat.core.parallel import map_in_order
from riverboat.core.tables import CHIPS, COUNT, SHARE, Cell, ReportColumn, ReportTable, none_if_nan
from riverboat.core.validation import check_name
from riverboat.engines.cpu.board_engine import CpuBoardEngine
from riverboat.games.boards.subtrees import extract_action_subtree
from riverboat.games.holdem.menus import SEATS
from riverboat.strategies.blueprint import Blueprint, hand_buckets
from riverboat.strategies.blueprint_game import (
    BlueprintSubgame,
    blueprint_subgame,
    check_two_card_game,
    compile_blueprint,
)
from riverboat.strategies.reports.blueprint import BlueprintNode, node_at_line
from riverboat.strategies.reports.node import columns_table
from riverboat.strategies.solution import Solution
from riverboat.trees.deals import cards_of, enumerate_deals

Ranges: TypeAlias = Sequence[Range | Array]
MIN_RANGE_SHARE = 1e-6  # smaller shares of the opponent's range are lost in float32 rounding: EVs are NaN
MAX_TABLE_BYTES = 1 << 30  # largest table that is evaluated at once
NANOSECONDS_PER_ENTRY = 10.0  # measured time to write a table entry and traverse it four times


@dataclass(frozen=True, eq=False)
class BlueprintValues:
    """Expected values of all hands of both seats: chips won from the current pot, minus own later bets.

    Arrays are float64 [2, 1326], by seat (oop, ip) and hand. EVs are NaN for hands that the board blocks, or that are
    incompatible with all hands of the other seat.
    """

    line: str
    board: tuple[int, ...]
    spent: tuple[int, int]  # chips that each seat has put in so far; their sum is the pot
    ranges: Array  # reach probability of each hand
    opponent_weight: Array  # total reach of the opponent's hands that are compatible with each hand
    self_play: Array  # both follow the blueprint; hands with reach 0: their best-response values
    best_response: Array  # best response of each hand to the blueprint, with full knowledge of hand and board
    unit: str = "chips"

    @property
    def pot(self) -> int:
        """Chips in the pot."""
        return sum(self.spent)

    @property
    def counterfactual(self) -> Array:
        """Counterfactual best-response values: `best_response` times `opponent_weight`, 0 where that weight is 0."""
        return np.where(self.opponent_weight > 0, self.best_response * self.opponent_weight, 0.0)

    def net_values(self, values: Array) -> Array:
        """Convert EVs to chips won over the whole hand: subtract the chips that each seat put in before the line."""
        net: Array = values - np.array(self.spent, float)[:, None]
        return net

    def range_means(self, values: Array) -> tuple[float, float]:
        """Return the mean of values over each seat's range, weighted by deals; NaN for an empty range."""
        weight = self.ranges * self.opponent_weight
        total = weight.sum(axis=1)
        weighted = np.where(weight > 0, values, 0.0) * weight
        first, second = (weighted.sum(axis=1) / np.where(total > 0, total, np.nan)).tolist()
        return first, second


def blueprint_values(
    strategy: Blueprint,
    line: str | int,
    board: Cards = (),
    ranges: Ranges | None = None,
    threads: int = 1,
    max_minutes: float = 10.0,
) -> BlueprintValues:
    """Compute the values of all hands at a line, on a board of the line's street.

    Parameters
    ----------
    strategy
        The blueprint.
    line
        Line on the blueprint's tree, or its node.
    board
        Board cards, as many as the line's street has.
    ranges
        Weights of both seats' hands, oop first. The default is the blueprint's own ranges.
    threads
        Number of threads. The result does not depend on it.
    max_minutes
        Raise `InputError` if the estimated time is longer, as it is before the flop.

    Returns
    -------
    BlueprintValues
        EVs in self-play and by best responses.
    """
    check_threads(threads)
    node, game = _subgame_at_line(strategy, line, board, ranges)
    _check_time(game, node.line, threads, max_minutes)
    raw = _ValueTraversal(strategy, threads).values(node.node, game)
    weights, opponent_weight = np.stack(game.weights), np.zeros((2, NUM_HANDS))
    values = np.full((2, 2, NUM_HANDS), np.nan)
    for seat, hands in enumerate(game.hand_indices):
        opponent_weight[seat, hands] = compatible_weights(weights[1 - seat])[hands]
        opponent_weight[seat, opponent_weight[seat] <= MIN_RANGE_SHARE * weights[1 - seat].sum()] = 0.0
        valid = opponent_weight[seat] > 0
        values[:, seat, valid] = raw[:, seat, valid] / opponent_weight[seat, valid]
    self_play, best = np.where(weights > 0, values[0], values[1]), values[1]
    return BlueprintValues(node.line, game.board, game.spent, weights, opponent_weight, self_play, best)


def blueprint_solution(
    strategy: Blueprint, line: str, board: Cards = (), ranges: Ranges | None = None, threads: int = 1
) -> Solution:
    """Expand a blueprint's strategy from a line on to all hands and later boards, as a `Solution`.

    Lines of the solution start at that line, such as `c-r600/8h-c`. `ranges` (oop first) replace the blueprint's own.
    """
    check_threads(threads)
    _, game = _subgame_at_line(strategy, line, board, ranges)
    return Solution(*compile_blueprint(strategy, game, threads), {**strategy.provenance, "line": line})


def _subgame_at_line(
    strategy: Blueprint, line: str | int, board: Cards, ranges: Ranges | None
) -> tuple[BlueprintNode, BlueprintSubgame]:
    check_two_card_game(strategy)
    node = node_at_line(strategy, line, board)
    weights = node.full_reach if ranges is None else _range_weights(ranges, FULL_DECK.hand_indices(node.hands))
    return node, blueprint_subgame(strategy, node.node, node.board, weights)


def _range_weights(ranges: Ranges, live: Array) -> Array:
    """Convert the user's ranges to weights without blocked hands. float64 [2, 1326]"""
    if len(ranges) != len(SEATS):
        raise InputError(f"ranges: {len(ranges)} given; give one for each seat, {' and '.join(SEATS)}")
    both = np.zeros((2, NUM_HANDS))
    for seat, entry in enumerate(ranges):
        weights = np.asarray(entry.weights if isinstance(entry, Range) else entry, float)
        if weights.shape != (NUM_HANDS,):
            raise InputError(
                f"range of {SEATS[seat]}: {weights.shape} weights: must be one for each of {NUM_HANDS:,} hands"
            )
        if not np.isfinite(weights).all() or weights.min() < 0:
            raise InputError(f"range of {SEATS[seat]}: a weight of {weights.min():g}: must be finite and not negative")
        both[seat, live] = weights[live]
    return both


def _check_time(game: BlueprintSubgame, line: str, threads: int, max_minutes: float) -> None:
    minutes = game.max_table_size * NANOSECONDS_PER_ENTRY * 1e-9 / threads / 60
    if minutes > max_minutes:
        raise InputError(
            f"values at {line or 'root'}: {game.boards[-1]:,} boards with {len(game.betting.actor):,} betting nodes take "
            f"about {minutes:,.0f} minutes on {threads} threads, more than the {max_minutes:g} allowed: "
            "raise max_minutes, or use a line of a later street"
        )


# --- traversal ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _ValueTraversal:
    """Counterfactual values of hands in chips, relative to the pot at the root of a subgame.

    Arrays are float64 [2, 2, 1326]: self-play and best response, seat, hand.
    """

    strategy: Blueprint
    threads: int

    def values(self, node: int, game: BlueprintSubgame) -> Array:
        """Return the values at the root of a subgame that starts at a node of the blueprint's tree."""
        if 4 * game.max_table_size <= MAX_TABLE_BYTES or not game.deals:
            return self._whole_game_values(game)
        return self._street_values(node, game)

    def _whole_game_values(self, game: BlueprintSubgame) -> Array:
        """Evaluate the subgame with one table of all its streets and boards."""
        tree, table = compile_blueprint(self.strategy, game, self.threads)
        out = np.zeros((2, 2, NUM_HANDS))

        def work(seat: int) -> None:
            engine = CpuBoardEngine.from_average(tree, table, max(1, self.threads // 2))
            hands = game.hand_indices[seat]
            row = tree.row_of[0, seat][hands]
            out[0, seat, hands] = engine.strategy_values(seat)[0, row]
            out[1, seat, hands] = engine.best_response_values(seat)[0, row]

        list(map_in_order(work, (0, 1), self.threads))
        return out

    def _street_values(self, root: int, game: BlueprintSubgame) -> Array:
        """Evaluate the first street only, with values at its leaves from a separate subgame for each next card."""
        tree, street = self.strategy.tree, len(game.board_parts)
        reach: dict[int, Array] = {root: np.stack(game.weights)}
        strategy: dict[int, Array] = {}
        order, leaves = [root], []
        bucket = hand_buckets(self.strategy.cards, HAND_CARDS[game.hand_indices[0]], game.board)[:, -1]
        for node in order:  # grows in the loop
            if tree.actor[node] < 0 and not tree.showdown[node]:
                continue
            if tree.showdown[node] or tree.street[node] > street:
                leaves.append(node)
                continue
            seat, live = int(tree.actor[node]), game.hand_indices[0]
            strategy[node] = np.zeros((int(tree.count[node]), NUM_HANDS))
            strategy[node][:, live] = self.strategy.probabilities(node, bucket).T
            for probability, child in zip(strategy[node], tree.children(node), strict=True):
                reach[child] = reach[node].copy()
                reach[child][seat] *= probability
                order.append(child)
        values = self._leaf_values(game, leaves, reach)
        start = np.array(game.spent, float)
        for node in reversed(order):
            if node in strategy:
                seat, below = int(tree.actor[node]), np.stack([values[child] for child in tree.children(node)])
                values[node] = below.sum(axis=0)
                values[node][0, seat] = (strategy[node] * below[:, 0, seat]).sum(axis=0)
                values[node][1, seat] = below[:, 1, seat].max(axis=0)
            elif node not in values:  # a fold
                payoff = np.array([1.0, -1.0]) * float(tree.payoff[node]) + start
                by_seat = [payoff[seat] * _compatible_weight(game, reach[node][1 - seat]) for seat in (0, 1)]
                values[node] = np.array([by_seat, by_seat])
        return values[root]

    def _leaf_values(self, game: BlueprintSubgame, leaves: list[int], reach: dict[int, Array]) -> dict[int, Array]:
        """Return values at the leaves of a street, by node: the mean over the next cards.

        Of cards that are equal by suit isomorphism, only one is evaluated.
        """
        tree, count = self.strategy.tree, game.deals[0]
        deals = enumerate_deals(replace(game, deals=(count,)))
        chance = 1.0 / comb(len(game.deck.cards) - len(game.board) - 4, count)
        street, start = len(game.board_parts) + 1, np.array(game.spent, float)
        parts = {node: extract_action_subtree(tree, node, street) for node in leaves}
        jobs = [(node, b) for node in leaves for b in range(1, len(deals.masks))]
        traversal = replace(self, threads=1)

        def work(job: tuple[int, int]) -> Array:
            node, b = job
            board = (*game.board, *cards_of(int(deals.masks[b] & ~deals.masks[0])))
            compatible = ~np.isin(HAND_CARDS, board).any(axis=1)
            next_game = blueprint_subgame(self.strategy, node, board, reach[node] * compatible, parts[node])
            values = traversal.values(node, next_game)
            shift = start - np.array(next_game.spent)  # values are relative to the pot at the root, not at the leaf
            for seat in (0, 1):
                values[:, seat] += shift[seat] * _compatible_weight(next_game, next_game.weights[1 - seat])
            maps = deals.hand_maps[deals.member_symmetry[deals.member_start[b] : deals.member_start[b + 1]]]
            # A hand on a member board has the value of its image on the representative board.
            total: Array = values[:, :, maps].sum(axis=2)
            return total

        out = {node: np.zeros((2, 2, NUM_HANDS)) for node in leaves}
        for (node, _), values in zip(jobs, map_in_order(work, jobs, self.threads), strict=True):
            out[node] += chance * values
        return out


def _compatible_weight(game: BlueprintSubgame, weights: Array) -> Array:
    """Return the total weight of hands that share no card with each unblocked hand. float64 [1326]"""
    out = np.zeros(NUM_HANDS)
    out[game.hand_indices[0]] = compatible_weights(weights)[game.hand_indices[0]]
    return out


# --- reports ------------------------------------------------------------------------------------

VALUE_TABLES = ("combos", "classes")
_VALUE_COLUMNS = (
    ReportColumn("ev", CHIPS, "EV"),
    ReportColumn("best", CHIPS, "EV of the best response"),
    ReportColumn("gain", CHIPS, rank=1),
)


def seat_values_table(values: BlueprintValues) -> ReportTable:
    """Return a table of both seats' mean EVs over their ranges."""
    ev, best = (np.array(values.range_means(each)) for each in (values.self_play, values.best_response))
    columns = ReportColumn("player"), ReportColumn("combos", COUNT), *_VALUE_COLUMNS
    return columns_table("", columns, [SEATS, values.ranges.sum(axis=1), ev, best, best - ev])


def hand_values(node_values: BlueprintValues, cards: Cards, seat: int) -> dict[str, Any]:
    """Return the weight and the EVs of one hand of a seat as a dictionary for JSON.

    Keys: hand, player, line, board, weight (its reach, which may be zero), ev (self-play) and best (best response).
    Raises `InputError` for a hand that is blocked or has no compatible hand of the opponent.
    """
    index = hand_index(*as_hand(cards))
    ev, best = (none_if_nan(values[seat, index]) for values in (node_values.self_play, node_values.best_response))
    if best is None:
        raise InputError(
            f"hand {format_hand(index)} at {node_values.line!r}: {format_cards(node_values.board) or 'the board'} blocks it, "
            f"or it blocks all hands of {SEATS[1 - seat]}"
        )
    return {
        "hand": format_hand(index),
        "player": SEATS[seat],
        "line": node_values.line,
        "board": format_cards(node_values.board),
        "weight": float(node_values.ranges[seat, index]),
        "ev": ev,
        "best": best,
    }


def hand_values_table(values: BlueprintValues, seat: int, by: str | None = None) -> ReportTable:
    """Return a table of a seat's EVs by the 169 `classes`, or of all `combos` including those with reach zero."""
    by = "classes" if by is None else by
    check_name("table of values", by, VALUE_TABLES)
    ev, best, weight = values.self_play[seat], values.best_response[seat], values.ranges[seat]
    title, valid = f"{values.line or 'root'}: {SEATS[seat]}", ~np.isnan(best)
    if by == "combos":
        hands = np.flatnonzero(valid)[::-1]
        cells = map(format_hand, hands), weight[hands], ev[hands], best[hands], (best - ev)[hands]
        return columns_table(title, [ReportColumn("hand"), ReportColumn("weight", SHARE), *_VALUE_COLUMNS], cells)
    rows: list[tuple[Cell, ...]] = []
    deals = weight * values.opponent_weight[seat]
    for index, name in enumerate(CLASS_NAMES):
        members = valid & (index == CLASS_OF_HAND) & (deals > 0)
        if members.any():
            share = deals[members] / deals[members].sum()
            means = ev[members] @ share, best[members] @ share
            rows.append((name, float(weight[members].sum()), *map(none_if_nan, (*means, means[1] - means[0]))))
    return ReportTable(title, (ReportColumn("class"), ReportColumn("combos", COUNT), *_VALUE_COLUMNS), tuple(rows))
