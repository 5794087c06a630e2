"""`Solution`: the strategy of a spot or a hold'em game on its boards, and what can be asked of it.

Everything is computed from the table when it is asked for: strategies, reach, and by a walk below a node the EV of each
hand there. A table that was memory-mapped is read where it lies. Hands are numbered as everywhere (`riverboat.cards.deck`),
and are those of the cards as they were dealt, whatever board stands for them in the table.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from riverboat.cards.card_removal import without_shared
from riverboat.cards.deck import HAND_CARDS, HANDS
from riverboat.cards.equity.equities import range_shares, runouts
from riverboat.cards.grid import Grid
from riverboat.cards.notation import Cards
from riverboat.cards.ranges import Range
from riverboat.core.errors import InputError
from riverboat.core.tables import ReportTable
from riverboat.engines.cpu.board_engine import BoardWalker
from riverboat.engines.protocol import Start
from riverboat.games.base import Array
from riverboat.games.boards.board_game import Place
from riverboat.strategies.reports import export as node_export
from riverboat.strategies.reports import node as node_report
from riverboat.strategies.reports import runouts as card_report
from riverboat.strategies.street_values import PairEquities, StreetFigures
from riverboat.trees.boards import NOWHERE, BoardTree

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

MOST_STREETS = 64  # whose walks are kept


class Solution:
    """What both players do at every node, on every board, with every hand."""

    def __init__(
        self, tree: BoardTree, table: Array, provenance: Mapping[str, Any] | None = None, root: Array | None = None
    ) -> None:
        if table.ndim != 1 or len(table) < tree.table:
            raise InputError(f"{tree.name}: {table.shape} numbers for a table of {tree.table}")
        self.tree, self.table, self.root = tree, table, root  # root: averages of what stands there, if known
        self.provenance: Mapping[str, Any] = MappingProxyType(dict(provenance or {}))
        self._streets: OrderedDict[tuple[Any, ...], StreetFigures] = OrderedDict()

    def __reduce__(self) -> tuple[Any, ...]:
        return Solution, (self.tree, np.asarray(self.table), dict(self.provenance), self.root)

    def __repr__(self) -> str:
        return f"<Solution of {self.tree.name}: {self.tree.infoset_count:,} information sets>"

    def __getitem__(self, line: str) -> Spotlight:
        return Spotlight(self, line)

    @cached_property
    def walker(self) -> BoardWalker:
        """Walks that evaluate the table."""
        return BoardWalker.reader(self.tree, self.table, root=self.root)

    def street(self, node: Spotlight) -> StreetFigures:
        """What the nodes of a node's street share; kept for the streets that were read last."""
        first = next(place for place in node.way if self.tree.betting.street[place] == len(node.dealt))
        key = first, node.dealt
        if key not in self._streets:
            self._streets[key] = StreetFigures(self.walker, node.start_at(first))
            while len(self._streets) > MOST_STREETS:
                self._streets.popitem(last=False)
        self._streets.move_to_end(key)
        return self._streets[key]

    def prepare(self, line: str = "") -> None:
        """Compute what takes time for all nodes of a line's street at once, so that each is read in milliseconds."""
        node = self[line]
        street, game = self.street(node), self.tree.game
        street.walk()
        if street.pairs is None and node.board and len(game.board) + sum(game.deals) == 5:
            live = ~np.isin(HAND_CARDS, node.board).any(axis=1)
            held = np.flatnonzero(live & (game.weights[0] > 0)), np.flatnonzero(live & (game.weights[1] > 0))
            street.pairs = PairEquities(node.board, held, game.deck)

    def earnings(self, player: int, *, respond: bool = False) -> float:
        """What a player wins on average from the root, in chips; with `respond`, by the best response."""
        self.check_whole()
        return self.walker.earnings(player, respond=respond)

    def check_whole(self) -> None:
        """Refuse a table that came without what its gadget plays."""
        if self.root is None and getattr(self.tree.game, "gadget", None) is not None:
            raise InputError(
                f"{self.tree.name}: this table came without what its gadget plays, so nothing can be earned"
            )

    def margins(self) -> Array:
        """Where a gadget stands at the root: how much less than its stop pay-off or shift each hand gets by entering.

        Against the other player's strategy, the gadget's player doing its best. float64 [1326], NaN where it is no choice
        """
        return self.walker.margins()

    def runouts(self, line: str) -> ReportTable:
        """What each card does where `*` stands for it: `x-x/*-b50`; the last row, `all`, has the means."""
        return card_report.over(self, line)

    def export(self, path: str | Path, line: str = "", depth: int | None = None) -> int:
        """Write nodes to a `.json` or `.csv` file, with EVs; how many were written."""
        return node_export.export(self, path, line, depth)

    def block(self, board: int, node: int) -> Array:
        """Probabilities at a node of the forest on a board. float64 [moves, rows]"""
        return self.walker.play(board, node)


@dataclass(frozen=True, eq=False)
class Spotlight:
    """One node of a solution: who holds what there, what is played, and what it is worth.

    Arrays run over all 1,326 hands; a hand that cannot be there has weight 0 and NaN elsewhere.
    """

    solution: Solution
    line: str

    def __post_init__(self) -> None:
        _ = self.boards  # lines that lead nowhere are refused at once

    @property
    def tree(self) -> BoardTree:
        """The tree that it is a node of."""
        return self.solution.tree

    @cached_property
    def place(self) -> int:
        """The node of the betting tree."""
        return self._located.node

    @cached_property
    def dealt(self) -> tuple[tuple[int, ...], ...]:
        """The cards of each deal on the way."""
        return self._located.dealt

    @cached_property
    def _located(self) -> Place:
        return self.tree.betting.find(self.line, self.tree.game.joiner)

    @cached_property
    def board(self) -> tuple[int, ...]:
        """The cards that lie there."""
        return (*self.tree.game.board, *(c for deal in self.dealt for c in deal))

    @cached_property
    def boards(self) -> tuple[list[int], list[Array]]:
        """The boards of the tree on the way, and the maps of hands to them."""
        return self.tree.deals.locate(self.dealt)

    @property
    def player(self) -> int:
        """Who acts there; CHANCE or TERMINAL where nobody does."""
        return int(self.tree.betting.actor[self.place])

    @property
    def actions(self) -> tuple[str, ...]:
        """The moves."""
        return self.tree.betting.moves(self.place)

    @cached_property
    def way(self) -> list[int]:
        """Nodes of the betting tree from the root to this one."""
        betting, path = self.tree.betting, [0]
        while path[-1] != self.place:
            below = [c for c in betting.children(path[-1]) if c <= self.place < betting.end[c]]
            path.append(below[0])
        return path

    def _hands(self, rows: Array, street: int, player: int, missing: float) -> Array:
        """Numbers of the rows of the board on a street, as numbers of hands. float64 [..., 1326]"""
        boards, maps = self.boards
        row = self.tree.row_of[boards[street], player][maps[street]]
        out = np.full((*rows.shape[:-1], HANDS), missing)
        live = row != NOWHERE
        out[..., live] = rows[..., row[live]]
        return out

    def _forest_node(self, node: int) -> int:
        return int(np.flatnonzero(self.tree.forest.node == node)[0])

    @cached_property
    def strategy(self) -> Array:
        """Probability of each move with each hand. float64 [moves, 1326]"""
        if self.player < 0:
            raise InputError(f"{self.tree.name}: nobody acts at {self.line!r}")
        street = len(self.dealt)
        block = self.solution.block(self.boards[0][street], self._forest_node(self.place))
        return self._hands(block, street, self.player, np.nan)

    @cached_property
    def reach(self) -> tuple[Array, Array]:
        """How often each player holds each hand there: its weight times the chance that it played so. float64 [1326] each"""
        return self._reach_at(self.place)

    def _reach_at(self, place: int) -> tuple[Array, Array]:
        """The same at a node on the way, of hands that the cards dealt up to here leave."""
        betting = self.tree.betting
        live = ~np.isin(HAND_CARDS, self.board).any(axis=1)
        weights = [np.where(live, w, 0.0) for w in self.tree.game.weights]
        for node, after in pairwise(self.way[: self.way.index(place) + 1]):
            who = int(betting.actor[node])
            if who >= 0:
                street = int(betting.street[node])
                move = list(betting.children(node)).index(after)
                block = self.solution.block(self.boards[0][street], self._forest_node(node))
                weights[who] = weights[who] * self._hands(block[move], street, who, 0.0)
        return weights[0], weights[1]

    @cached_property
    def combos(self) -> tuple[float, float]:
        """How many hands each player holds there, weighted."""
        return float(self.reach[0].sum()), float(self.reach[1].sum())

    @cached_property
    def _compatible(self) -> tuple[Array, Array]:
        return without_shared(self.reach[1]), without_shared(self.reach[0])

    def compatible(self, player: int) -> Array:
        """Weight of the opponent's hands that leave each hand possible. float64 [1326]"""
        return self._compatible[player]

    @cached_property
    def pairs(self) -> tuple[float, float]:
        """Weight of the pairs of hands that play to there, and of all pairs that its cards leave."""
        live = ~np.isin(HAND_CARDS, self.board).any(axis=1)
        first, second = (np.where(live, w, 0.0) for w in self.tree.game.weights)
        return float(self.reach[0] @ self.compatible(0)), float(first @ without_shared(second))

    @property
    def played(self) -> float:
        """How often the players get there when its cards are dealt."""
        return self.pairs[0] / max(self.pairs[1], 1e-300)

    def _values(self, player: int) -> Array:
        """EV of each hand of a player, then of each move; walked once. float64 [1 + moves, 1326]"""
        kept: dict[int, Array] = self.__dict__.setdefault("_walks", {})
        if player not in kept:
            kept[player] = self._walked(player)
        return kept[player]

    def _walked(self, me: int, *, respond: bool = False, met: Array | None = None) -> Array:
        """EV of each hand of a player, then of each move; with `respond`, by its best response, to the range `met`
        where one is given. float64 [1 + moves, 1326]
        """
        tree, solution = self.tree, self.solution
        if respond:
            raw = solution.walker.respond(me, self.start_at(self.place, None if met is None else (met, met)))
        else:
            raw = solution.street(self).values(me, self._forest_node(self.place))
        values = self._hands(raw, len(self.dealt), me, np.nan)
        mass = self.compatible(me) if met is None else without_shared(met)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.where(mass > 0, values / mass, np.nan)
        values += tree.betting.spent[self.place, me] - tree.betting.spent[0, me]
        values[:, ~(tree.game.weights[me] > 0)] = np.nan
        return values

    def start_at(self, place: int, reach: tuple[Array, Array] | None = None) -> Start:
        """Where a walk begins at a node on the way that has the cards of this one: its board, and the reach of both
        there, unless another is given.
        """
        street = len(self.dealt)
        boards, maps = self.boards
        back = np.empty(HANDS, np.int64)
        back[maps[street]] = np.arange(HANDS)
        reach = self._reach_at(place) if reach is None else reach
        first, second = (reach[p][back[self.tree.reps(boards[street], p)]] for p in (0, 1))
        return Start(boards[street], self._forest_node(place), (first, second))

    def best(self, player: int) -> Array:
        """What each hand of a player could win at best from the pot as it stands, the other playing on. float64 [1326]"""
        values: Array = self._walked(player, respond=True)[0]
        return values

    def best_moves(self, player: int, met: Array | None = None) -> Array:
        """The same after each move there; `met`: what the other holds, where not what comes. float64 [moves, 1326]"""
        return self._walked(player, respond=True, met=met)[1:]

    def ev(self, player: int) -> Array:
        """What each hand wins from the pot as it stands there, its own later chips deducted. float64 [1326]"""
        values: Array = self._values(player)[0]
        return values

    def action_ev(self) -> Array:
        """The same after each move of the player who acts. float64 [moves, 1326]"""
        if self.player < 0:
            raise InputError(f"{self.tree.name}: nobody acts at {self.line!r}")
        return self._values(self.player)[1:]

    @cached_property
    def equity(self) -> tuple[Array, Array]:
        """Share of the pot that each hand would win by checking to the end. float64 [1326] each"""
        game = self.tree.game
        if len(game.board) + sum(game.deals) != 5:
            raise InputError(f"{game.name}: equities are of boards of five cards")
        pairs = self.solution.street(self).pairs
        if pairs is not None:
            return pairs.of(self.reach)
        boards = runouts(self.board, game.deck)
        shares = []
        for me in (0, 1):
            won, met = range_shares(self.reach[1 - me], boards, np.ones(len(boards)), rules=game.deck.rules)
            with np.errstate(divide="ignore", invalid="ignore"):
                shares.append(np.where((met > 0) & (self.tree.game.weights[me] > 0), won / met, np.nan))
        return shares[0], shares[1]

    def mean(self, player: int, numbers: Array) -> float:
        """The mean over a player's range there, each hand as often as it meets the other's range."""
        weight = self.reach[player] * self.compatible(player)
        held = weight > 0
        return float(np.sum(numbers[held] * weight[held]) / np.sum(weight[held])) if held.any() else float("nan")

    # --- as people read it ------------------------------------------------------------------

    def summary(self) -> node_report.Summary:
        """Who acts, pot and stacks, frequencies, EV, equity and combos of both."""
        return node_report.summary(self)

    def hand(self, cards: Cards, player: int | str | None = None) -> node_report.HandReport:
        """One hand: what it plays, its EV and equity, and what it is made of."""
        return node_report.hand(self, cards, player)

    def table(self, by: str | None = None, player: int | str | None = None) -> ReportTable:
        """Hands by combo, class, made hand or draw, with frequency, EV, equity, EQR and combos."""
        return node_report.table(self, by, player)

    def hands(self, text: str, player: int | str | None = None) -> ReportTable:
        """The hands of a class, `AK`, `AKs` or `QQ`, or of any range; the last row, `all`, has their means."""
        return node_report.hands(self, text, player)

    def range(self, player: int | str | None = None) -> Range:
        """What a player holds there."""
        return node_report.held(self, player)

    def range_text(self, player: int | str | None = None, digits: int = node_report.DIGITS) -> str:
        """The same as text to paste elsewhere, weights to so many digits."""
        return node_report.range_text(self, player, digits)

    def grid(self, player: int | str | None = None) -> Grid:
        """The 13 × 13 grid of what is played."""
        return node_report.grid(self, player)

    def runouts(self) -> ReportTable:
        """Strategy and EV on every card that may come next."""
        return card_report.runouts(self)

    def __str__(self) -> str:
        return str(self.summary())

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[RenderableType]:
        yield self.summary()

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()
