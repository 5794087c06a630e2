"""What hands are worth at a line of a blueprint, on a real board.

    values = blueprint_values(strategy, "cr300c/cc/", "Ks9d5h2c")
    values.self_play[1]                # EV of each of the dealer's hands where both go on as the blueprint says
    values.best_response[1]            # and where the dealer's hand answers the blueprint as well as it can

What follows the line is walked on every board that may come, in the blueprint's menu, with all hands of both players: the
blueprint becomes a `Solution` (`blueprint_solution`), and everything that reads solutions reads it. Where its table would be
too large, as on most flops, the street is walked by itself, and what follows each card apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import TypeAlias

import numpy as np

from riverboat.cards.card_removal import without_shared
from riverboat.cards.deck import HAND_CARDS, HANDS
from riverboat.cards.notation import Cards
from riverboat.cards.ranges import Range
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, check_threads
from riverboat.engines.cpu.board_engine import BoardWalker
from riverboat.games.boards.action_subtree import cut
from riverboat.games.holdem.menus import SEATS
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.strategies.blueprint_game import LineGame, check_game, filled, line_game, spread
from riverboat.strategies.reports.blueprint import at_line
from riverboat.strategies.reports.public_state import hand_numbers
from riverboat.strategies.solution import Solution
from riverboat.trees.deals import cards_of, deals

Ranges: TypeAlias = Sequence[Range | Array]
NOBODY = 1e-6  # of a range: less than that beside a hand drowns in the rounding of float32
MOST_BYTES = 1 << 30  # of a table
NANOSECONDS = 10.0  # for each number of a table, measured: to write it, and to walk it four times


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
        won: Array = values - np.array(self.spent, float)[:, None]
        return won

    def mean(self, values: Array) -> tuple[float, float]:
        """Of each seat, over its range, each hand as often as it is dealt; NaN where a range is empty."""
        weight = self.ranges * self.met
        total = weight.sum(axis=1)
        weighed = np.where(weight > 0, values, 0.0) * weight
        first, second = (weighed.sum(axis=1) / np.where(total > 0, total, np.nan)).tolist()
        return first, second


def blueprint_values(
    strategy: BlueprintStrategy,
    line: str,
    board: Cards = (),
    ranges: Ranges | None = None,
    threads: int = 1,
    most_minutes: float = 10.0,
) -> Values:
    """Values of all hands at a line, on a board of as many cards as its street has.

    `ranges` are weights of both seats' hands there, oop's first; without them, those that the blueprint arrives with. Refused
    where it would take more than `most_minutes`, as it does before the flop. The result does not depend on `threads`.
    """
    check_threads(threads)
    game = _game(strategy, line, board, ranges)
    _check_time(game, line, threads, most_minutes)
    raw = _Walk(strategy, threads).values(strategy.tree.find(line), game)
    weights, met, values = np.stack(game.weights), np.zeros((2, HANDS)), np.full((2, 2, HANDS), np.nan)
    for seat, held in enumerate(game.held):
        met[seat, held] = without_shared(weights[1 - seat])[held]
        met[seat, met[seat] <= NOBODY * weights[1 - seat].sum()] = 0.0
        some = met[seat] > 0
        values[:, seat, some] = raw[:, seat, some] / met[seat, some]
    played, best = values
    return Values(line, game.board, game.spent, weights, met, np.where(weights > 0, played, best), best)


def blueprint_solution(
    strategy: BlueprintStrategy, line: str, board: Cards = (), ranges: Ranges | None = None, threads: int = 1
) -> Solution:
    """What a blueprint does from a line on, as the solution of a spot is read: lines begin there, as in `c-r600/8h-c`."""
    check_threads(threads)
    game = _game(strategy, line, board, ranges)
    return Solution(*filled(strategy, game, threads), {**strategy.provenance, "line": line})


def _game(strategy: BlueprintStrategy, line: str, board: Cards, ranges: Ranges | None) -> LineGame:
    check_game(strategy)
    node = at_line(strategy, line, board)
    weights = np.zeros((2, HANDS))
    weights[:, hand_numbers(node.hands)] = node.reach
    if ranges is not None:
        weights = _weights(ranges, hand_numbers(node.hands))
    return line_game(strategy, node.node, node.board, weights)


def _weights(ranges: Ranges, live: Array) -> Array:
    """Ranges as users give them, without the hands that the board rules out. float64 [2, 1326]"""
    if len(ranges) != len(SEATS):
        raise InputError(f"ranges: {len(ranges)} given; give one for each seat, {' and '.join(SEATS)}")
    both = np.zeros((2, HANDS))
    for seat, given in enumerate(ranges):
        weights = np.asarray(given.weights if isinstance(given, Range) else given, float)
        if weights.shape != (HANDS,):
            raise InputError(f"range of {SEATS[seat]}: {weights.shape} weights: give one for each of {HANDS:,} hands")
        if not np.isfinite(weights).all() or weights.min() < 0:
            raise InputError(f"range of {SEATS[seat]}: a weight of {weights.min():g}: must be finite and not negative")
        both[seat, live] = weights[live]
    return both


def _check_time(game: LineGame, line: str, threads: int, most_minutes: float) -> None:
    minutes = game.numbers * NANOSECONDS * 1e-9 / threads / 60
    if minutes > most_minutes:
        raise InputError(
            f"values at {line or 'root'}: {game.boards[-1]:,} boards with {len(game.betting.actor):,} nodes of betting take "
            f"about {minutes:,.0f} minutes on {threads} threads, more than the {most_minutes:g} allowed: "
            "raise most_minutes, or ask on a later street"
        )


# --- walks ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Walk:
    """Values of hands, times the weight of the other seat's hands, in chips from the pot at the root of a game.

    Arrays are float64 [2, 2, 1326]: in self-play and by best responses, by seat, by hand.
    """

    strategy: BlueprintStrategy
    threads: int

    def values(self, node: int, game: LineGame) -> Array:
        """From the root of a game, which stands at a node of the blueprint's tree."""
        if 4 * game.numbers <= MOST_BYTES or not game.deals:
            return self._at_once(game)
        return self._by_street(node, game)

    def _at_once(self, game: LineGame) -> Array:
        """All streets on all boards."""
        tree, table = filled(self.strategy, game, self.threads)
        out = np.zeros((2, 2, HANDS))

        def work(seat: int) -> None:
            walker = BoardWalker.reader(tree, table, max(1, self.threads // 2))
            held = game.held[seat]
            row = tree.row_of[0, seat][held]
            out[0, seat, held] = walker.evaluate(seat)[0, row]
            out[1, seat, held] = walker.respond(seat)[0, row]

        spread(work, (0, 1), self.threads)
        return out

    def _by_street(self, root: int, game: LineGame) -> Array:
        """One street here, and what follows each card as a game of its own."""
        tree, street = self.strategy.tree, len(game.board_parts)
        reach: dict[int, Array] = {root: np.stack(game.weights)}
        played: dict[int, Array] = {}
        order, exits = [root], []
        bucket = self._buckets(game)
        for node in order:  # grows
            if tree.actor[node] < 0 and not tree.showdown[node]:
                continue
            if tree.showdown[node] or tree.street[node] > street:
                exits.append(node)
                continue
            seat, live = int(tree.actor[node]), game.held[0]
            played[node] = np.zeros((int(tree.count[node]), HANDS))
            played[node][:, live] = self.strategy.probabilities(node, bucket).T
            for chance, child in zip(played[node], tree.children(node), strict=True):
                reach[child] = reach[node].copy()
                reach[child][seat] *= chance
                order.append(child)
        values = self._after_deals(game, exits, reach)
        start = np.array(game.spent, float)
        for node in reversed(order):
            if node in played:
                values[node] = _combined(played[node], [values[c] for c in tree.children(node)], int(tree.actor[node]))
            elif node not in values:  # somebody folded
                won = np.array([1.0, -1.0]) * float(tree.pay[node]) + start
                each = [won[seat] * _beside(game, reach[node][1 - seat]) for seat in (0, 1)]
                values[node] = np.array([each, each])
        return values[root]

    def _buckets(self, game: LineGame) -> Array:
        """Of the hands that a board leaves. int32 [hands]"""
        hands = HAND_CARDS[game.held[0]]
        shown = np.tile(np.array(game.board, np.uint8), (len(hands), 1))
        return self.strategy.cards.buckets(np.concatenate([hands, shown], axis=1), check=False)[:, 0, -1]

    def _after_deals(self, game: LineGame, exits: list[int], reach: dict[int, Array]) -> dict[int, Array]:
        """Values at the exits of a street: the mean over the cards that may come, one of each class that suits make alike."""
        tree, count = self.strategy.tree, game.deals[0]
        dealt = deals(replace(game, deals=(count,)))
        chance = 1.0 / comb(len(game.deck.cards) - len(game.board) - 4, count)
        street, start = len(game.board_parts) + 1, np.array(game.spent, float)
        parts = {node: cut(tree, node, street) for node in exits}
        jobs = [(node, b) for node in exits for b in range(1, len(dealt.masks))]
        below = replace(self, threads=1)

        def work(job: tuple[int, int]) -> Array:
            node, b = job
            board = (*game.board, *cards_of(int(dealt.masks[b] & ~dealt.masks[0])))
            left = ~np.isin(HAND_CARDS, board).any(axis=1)
            next_game = line_game(self.strategy, node, board, reach[node] * left, parts[node])
            values = below.values(node, next_game)
            later = start - np.array(next_game.spent)  # from the pot at the root, not from that at the exit
            for seat in (0, 1):
                values[:, seat] += later[seat] * _beside(next_game, next_game.weights[1 - seat])
            maps = dealt.hand_maps[dealt.member_by[dealt.member[b] : dealt.member[b + 1]]]
            total: Array = values[:, :, maps].sum(
                axis=2
            )  # a hand on a member is its image on the board that stands for it
            return total

        out = {node: np.zeros((2, 2, HANDS)) for node in exits}
        for (node, _), values in zip(jobs, spread(work, jobs, self.threads), strict=True):
            out[node] += chance * values
        return out


def _beside(game: LineGame, weights: Array) -> Array:
    """The weight of the hands that share no card with each hand that the board leaves. float64 [1326]"""
    out = np.zeros(HANDS)
    out[game.held[0]] = without_shared(weights)[game.held[0]]
    return out


def _combined(played: Array, below: list[Array], seat: int) -> Array:
    """Values at a decision from those after its moves."""
    after = np.stack(below)
    out: Array = after.sum(axis=0)
    out[0, seat] = (played * after[:, 0, seat]).sum(axis=0)
    out[1, seat] = after[:, 1, seat].max(axis=0)
    return out
