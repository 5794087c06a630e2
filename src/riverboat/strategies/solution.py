"""`Solution`: the strategy of a spot or a hold'em game on its boards, with queries of its nodes.

Strategies, reach probabilities and EVs are computed from the table on demand; EVs need a traversal below the node.
Memory-mapped tables are not copied. Hands have the standard indices (`riverboat.cards.deck`) and refer to the cards as
dealt, whichever isomorphic board represents them in the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from riverboat.cards.deck import HAND_CARDS, NUM_HANDS, Deck
from riverboat.cards.equity.batch_equities import BatchShowdown
from riverboat.cards.equity.equities import range_wins, runouts
from riverboat.cards.grid import HandGrid
from riverboat.cards.notation import Cards, format_hand
from riverboat.cards.ranges import Range, compatible_weights
from riverboat.core import resources, validation
from riverboat.core.arrays import Array, safe_divide
from riverboat.core.deprecation import RenamedAttributes
from riverboat.core.errors import InputError, UnknownKeyError, short_repr
from riverboat.core.tables import ReportTable, to_dataframe
from riverboat.engines.cpu.board_engine import CpuBoardEngine
from riverboat.engines.protocol import SubtreeStart
from riverboat.games.boards.board_game import DealtCards
from riverboat.strategies.mapping import StrategyMapping
from riverboat.strategies.public_strategy import PublicStateCache
from riverboat.strategies.reports import comparison as comparison_report
from riverboat.strategies.reports import export as node_export
from riverboat.strategies.reports import node as node_report
from riverboat.trees.boards import NO_ROW, BoardTree
from riverboat.trees.public import child_nodes

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

# --- values of one street -----------------------------------------------------------------------


class StreetValues:
    """Values that all nodes of one street on one board share: one traversal for all EVs, and pairwise equities.

    Parameters
    ----------
    engine
        Engine that evaluates the table.
    start
        Root of the street on its board, with the ranges there.

    Examples
    --------
    >>> import riverboat as rb
    >>> spot = rb.Spot.make(board="Qs Jh 2h 8c 3d", pot=100, stack=200, oop="AA,KK", ip="QQ,JJ", bets="50%")
    >>> solution = rb.solve(spot, iterations=10).strategy
    >>> solution.street_values(solution[""]).values(0, 0).shape[0]
    3
    """

    def __init__(self, engine: CpuBoardEngine, start: SubtreeStart) -> None:
        self.engine, self.start = engine, start
        self.pairs: HandPairEquities | None = None  # set by `Solution.prepare`

    @cached_property
    def _values(self) -> list[Array]:
        return self.engine.street_values((0, 1), self.start)

    def values(self, player: int, node: int) -> Array:
        """Return a player's counterfactual values at a forest node, then after each action. float64 [1 + actions, rows]

        Values are sums over the opponent's hands, weighted by reach probability.

        Parameters
        ----------
        player
            0 (oop) or 1 (ip).
        node
            Index of a node of the forest.
        """
        nodes = [node, *child_nodes(self.engine.tree.forest, node)]
        chosen: Array = self._values[player][np.array(nodes) - self.start.node]
        return chosen


class HandPairEquities:
    """Equity of each hand of one player against each hand of the other when both check down.

    Parameters
    ----------
    board
        Board cards.
    hands
        Indices of the unblocked hands of each player. int [n] each.
    deck
        Cards and hand rules.

    Examples
    --------
    >>> from riverboat.cards.notation import parse_cards
    >>> from riverboat.cards.ranges import Range
    >>> hands = (np.flatnonzero(Range.parse("AsAh").weights), np.flatnonzero(Range.parse("KsKh").weights))
    >>> HandPairEquities(parse_cards("Qs Jh 2h 8c 3d"), hands, Deck()).won.tolist()
    [[1.0]]
    """

    def __init__(self, board: tuple[int, ...], hands: tuple[Array, Array], deck: Deck) -> None:
        self.hands = hands  # int [n] each: indices of unblocked hands
        cards = [HAND_CARDS[numbers] for numbers in hands]
        twice = np.zeros((len(hands[0]), len(hands[1])), np.uint16)  # 2 per won runout, 1 per tie
        beats = np.empty(twice.shape, bool)
        above, below = BatchShowdown(deck, 5).rank_hands(runouts(board, deck))
        first, second = (deck.hand_indices(hole) for hole in cards)
        for ours, theirs in zip(below[:, first], above[:, second], strict=True):
            for comparison in (np.greater, np.greater_equal):
                comparison(ours[:, None], theirs[None, :], out=beats)
                np.add(twice, beats, out=twice, casting="unsafe")
        shared = (cards[0][:, None, :, None] == cards[1][None, :, None, :]).any(axis=(2, 3))
        self.possible: Array = np.where(shared, 0.0, 1.0)
        times = comb(len(deck.cards) - len(board) - 4, 5 - len(board))  # runouts that block neither hand
        self.won: Array = twice / (2.0 * times) * self.possible

    def range_equities(self, reach: tuple[Array, Array]) -> tuple[Array, Array]:
        """Return the equity of every hand against the other's range; NaN without a compatible hand. float64 [1326] each

        Parameters
        ----------
        reach
            Range of each player. float64 [1326] each.
        """
        weights = [reach[p][self.hands[p]] for p in (0, 1)]
        lost = self.possible - self.won
        sums = (self.won @ weights[1], self.possible @ weights[1]), (weights[0] @ lost, weights[0] @ self.possible)
        shares = np.full((2, NUM_HANDS), np.nan)
        for p, (won, total) in enumerate(sums):
            shares[p, self.hands[p][total > 0]] = won[total > 0] / total[total > 0]
        return shares[0], shares[1]


MAX_FRAME_ROWS = 5_000_000  # of `Solution.to_frame`
MAX_CACHED_STREETS = 64  # streets whose values stay in memory


class Solution(RenamedAttributes, StrategyMapping["SolutionNode"]):
    """Strategies of both players at every node, on every board, with every hand.

    A mapping from lines to nodes: `solution["b50-c/8h"]` is a `SolutionNode` with ranges, strategy, EVs and equities.
    Its keys are the lines of all decisions, with one board of those that differ only in suits; the lines of the other
    boards, of deals and of ends are found too.

    Parameters
    ----------
    tree
        Betting tree and boards of the game.
    table
        Accumulated average strategy in the layout of the tree, [at least table_size].
    provenance
        Origin of the solution: method, iterations and so on.
    root
        Average strategy of the gadget at the root, if the game has one.

    Raises
    ------
    InputError
        If the table is too small for the tree.

    Examples
    --------
    >>> import riverboat as rb
    >>> spot = rb.Spot.make(board="Qs Jh 2h 8c 3d", pot=100, stack=200, oop="AA,KK", ip="QQ,JJ", bets="50%")
    >>> solution = rb.solve(spot, iterations=10).strategy
    >>> len(solution), solution["b50"].actions
    (4, ('f', 'c'))
    """

    _renamed_attributes: ClassVar[dict[str, str]] = {
        "street": "street_values", "walker": "engine", "earnings": "expected_value", "check_whole": "check_complete",
        "block": "node_strategy",
    }  # fmt: skip

    def __init__(
        self, tree: BoardTree, table: Array, provenance: Mapping[str, Any] | None = None, root: Array | None = None
    ) -> None:
        if table.ndim != 1 or len(table) < tree.table_size:
            raise InputError(f"{tree.name}: {table.shape} numbers for a table of {tree.table_size}")
        super().__init__(tree, provenance)
        self.tree: BoardTree = tree
        self.table, self.root = table, root  # root: average strategy of the gadget, if known
        self._streets = PublicStateCache[StreetValues](MAX_CACHED_STREETS)

    def __reduce__(self) -> tuple[Any, ...]:
        return Solution, (self.tree, np.asarray(self.table), dict(self.provenance), self.root)

    def __repr__(self) -> str:
        return f"<Solution of {self.tree.name}: {self.tree.infoset_count:,} information sets>"

    __hash__, __eq__ = object.__hash__, object.__eq__  # by identity: comparing tables takes long

    # --- mapping ----------------------------------------------------------------------------

    def _find(self, key: str) -> SolutionNode:
        return SolutionNode(self, *self.tree.betting.find(key, self.tree.game.joiner), key)

    def _entries(self) -> Iterator[tuple[str, SolutionNode]]:
        betting, starts = self.tree.betting, self.tree.street_start
        for betting_node in np.flatnonzero(betting.actor >= 0).tolist():
            street = int(betting.street[betting_node])
            for board in range(starts[street], starts[street + 1]):
                node = self.node(betting_node, self.tree.deals.deals_to(board))
                yield node.line, node

    def __iter__(self) -> Iterator[str]:
        return (line for line, _ in self._entries())

    def __len__(self) -> int:
        streets = self.tree.betting.street[self.tree.betting.actor >= 0]
        return int(np.diff(self.tree.street_start)[streets].sum())

    # --- conversion -------------------------------------------------------------------------

    def to_frame(self, line: str | None = None) -> Any:
        """Return a pandas data frame with a row for each action of each hand, at all decisions or at one.

        The columns are those of `Strategy.to_frame`, infoset (`hand:line`), player, action and probability, and line, hand,
        and the reach of the hand: its weight times the probability of the player's own actions.

        Parameters
        ----------
        line
            Line of one decision; by default all decisions, one board for those that differ only in suits.

        Raises
        ------
        InputError
            If there are more than `MAX_FRAME_ROWS` rows: name a line then, or use `export`.
        """
        nodes = (node for _, node in self._entries()) if line is None else iter([self[line]])
        names = ("infoset", "player", "action", "probability", "line", "hand", "reach")
        columns: dict[str, list[Any]] = {name: [] for name in names}
        for node in nodes:
            strategy, reach = node.strategy, node.reach[node.player]
            hands = np.flatnonzero((node.root_weights[node.player] > 0) & ~np.isnan(strategy[0]))
            texts = [format_hand(hand) for hand in hands.tolist()]
            for action, row in zip(node.actions, strategy, strict=True):
                columns["infoset"] += [f"{text}:{node.line}" for text in texts]
                columns["hand"] += texts
                columns["probability"] += row[hands].tolist()
                columns["reach"] += reach[hands].tolist()
                for name, value in (("player", node.player), ("action", action), ("line", node.line)):
                    columns[name] += [value] * len(texts)
            if len(columns["line"]) > MAX_FRAME_ROWS:
                raise InputError(
                    f"{self.tree.name}: more than {MAX_FRAME_ROWS:,} rows: give the line of a decision, or use export"
                )
        return to_dataframe(columns)

    def to_open_spiel(self) -> Any:
        """Raise `InputError`: OpenSpiel has no such game. `riverboat.strategies.profiles.as_strategy` unrolls small spots."""
        raise InputError(
            f"{self.tree.name}: OpenSpiel has no game with betting × boards; convert with to_frame() or export(path)"
        )

    def node(self, betting_node: int, dealt_cards: DealtCards = ()) -> SolutionNode:
        """Return a node by its index in the betting tree and the cards dealt on the path to it.

        Parameters
        ----------
        betting_node
            Index of a node of the betting tree.
        dealt_cards
            Cards of each deal on the path to it.
        """
        line = self.tree.betting.line(betting_node, dealt_cards, self.tree.game.joiner)
        return SolutionNode(self, betting_node, dealt_cards, line)

    @cached_property
    def engine(self) -> CpuBoardEngine:
        """Engine that evaluates the table."""
        return CpuBoardEngine.from_average(self.tree, self.table, resources.available_cores(), root_average=self.root)

    def street_values(self, node: SolutionNode) -> StreetValues:
        """Return the shared values of a node's street; those of recently used streets are cached.

        Parameters
        ----------
        node
            Node of the street.
        """
        streets = self.tree.betting.street
        first = next(betting_node for betting_node in node.path if streets[betting_node] == len(node.dealt_cards))
        key = first, node.dealt_cards
        return self._streets.get_or_compute(key, lambda: StreetValues(self.engine, node.traversal_start(first)))

    def prepare(self, line: str = "") -> None:
        """Compute the values and equities of a line's whole street, so that each of its nodes is read in milliseconds.

        Parameters
        ----------
        line
            Line of any node of the street.
        """
        node = self[line]
        street = self.street_values(node)
        street.values(0, street.start.node)
        if street.pairs is None and node.board and node.has_equity:
            hands = np.flatnonzero(node.root_weights[0]), np.flatnonzero(node.root_weights[1])
            street.pairs = HandPairEquities(node.board, hands, self.tree.game.deck)

    def expected_value(self, player: int, *, respond: bool = False) -> float:
        """Return a player's expected value at the root, in chips.

        Both players follow the solution, which is an average strategy.

        Parameters
        ----------
        player
            0 (oop) or 1 (ip).
        respond
            Return the value of a best response to the other player's strategy instead.
        """
        validation.check_integer("player", player, 0, 1)
        validation.check_boolean("respond", respond)
        self.check_complete()
        return self.engine.expected_value(player, respond=respond)

    def check_complete(self) -> None:
        """Raise `InputError` if the strategy of the game's root gadget is unknown, so that EVs cannot be computed."""
        if self.root is None and getattr(self.tree.game, "gadget", None) is not None:
            raise InputError(
                f"{self.tree.name}: the table lacks the strategy of its gadget, so expected values are unknown"
            )

    def margins(self) -> Array:
        """Return the margin of each hand of the gadget's player: stop payoff or shift, minus the value of entering.

        The gadget's player best-responds to the other player's strategy. float64 [1326], NaN for hands without a choice
        """
        return self.engine.margins()

    def runouts(self, line: str) -> ReportTable:
        """Return a table of all cards at the position of `*` in a line such as `x-x/*-b50`.

        The last row, `all`, has the means.

        Parameters
        ----------
        line
            Line with `*` in place of a card.
        """
        return comparison_report.line_runouts(self, line)

    def export(self, path: str | Path, line: str = "", depth: int | None = None) -> int:
        """Write nodes with EVs to a `.json` or `.csv` file, and return their number.

        Parameters
        ----------
        path
            File to write; its suffix .json or .csv selects the format.
        line
            Line of the first node.
        depth
            Number of streets to write; None: only the node itself.
        """
        return node_export.export(self, path, line, depth)

    def node_strategy(self, board: int, node: int) -> Array:
        """Return the average strategy at a forest node on a board. float64 [actions, rows]

        Parameters
        ----------
        board
            Index of a board of the tree.
        node
            Index of a node of the forest.
        """
        return self.engine.average_strategy(board, node)


@dataclass(frozen=True, eq=False)
class SolutionNode(RenamedAttributes):
    """One node of a solution: ranges, strategy, expected values and equities.

    Arrays have 1,326 hands; an impossible hand has weight 0 and other values NaN.

    Attributes
    ----------
    solution
        The solution.
    betting_node
        Node of the betting tree.
    dealt_cards
        Cards of each deal on the path.
    line
        Line to the node.

    Examples
    --------
    >>> import riverboat as rb
    >>> spot = rb.Spot.make(board="Qs Jh 2h 8c 3d", pot=100, stack=200, oop="AA,KK", ip="QQ,JJ", bets="50%")
    >>> node = rb.solve(spot, iterations=10).strategy["x"]
    >>> node.player, node.actions, node.strategy.shape
    (1, ('x', 'b50'), (2, 1326))
    """

    solution: Solution
    betting_node: int  # node of the betting tree
    dealt_cards: DealtCards  # cards of each deal on the path
    line: str

    _renamed_attributes: ClassVar[dict[str, str]] = {
        "place": "betting_node", "dealt": "dealt_cards", "boards": "tree_boards", "way": "path", "pairs": "pair_weights",
        "played": "reach_probability", "compatible": "compatible_weight", "start_at": "traversal_start",
        "best": "best_response_values", "best_moves": "best_response_action_values", "mean": "range_mean",
    }  # fmt: skip

    def __post_init__(self) -> None:
        _ = self.tree_boards  # raises on invalid lines

    @property
    def tree(self) -> BoardTree:
        """Tree of the solution."""
        return self.solution.tree

    @cached_property
    def board(self) -> tuple[int, ...]:
        """Board cards."""
        return (*self.tree.game.board, *(c for deal in self.dealt_cards for c in deal))

    @cached_property
    def tree_boards(self) -> tuple[list[int], list[Array]]:
        """Indices of the tree's boards along the line, and for each the map from real hands to hands of that board."""
        return self.tree.deals.locate(self.dealt_cards)

    @property
    def player(self) -> int:
        """Player to act; CHANCE or TERMINAL if nobody acts."""
        return int(self.tree.betting.actor[self.betting_node])

    @property
    def actions(self) -> tuple[str, ...]:
        """Labels of the actions."""
        return self.tree.betting.actions(self.betting_node)

    @cached_property
    def path(self) -> list[int]:
        """Nodes of the betting tree from the root to this one."""
        return self.tree.betting.path(self.betting_node)

    def _rows_to_hands(self, rows: Array, street: int, player: int, missing: float) -> Array:
        """Map values of rows of a street's board to hands; hands without a row get `missing`. float64 [..., 1326]"""
        boards, maps = self.tree_boards
        row = self.tree.row_of[boards[street], player][maps[street]]
        out = np.full((*rows.shape[:-1], NUM_HANDS), missing)
        live = row != NO_ROW
        out[..., live] = rows[..., row[live]]
        return out

    def _forest_node(self, node: int) -> int:
        return int(np.flatnonzero(self.tree.forest.node == node)[0])

    @cached_property
    def strategy(self) -> Array:
        """Probability of each action with each hand. float64 [actions, 1326]"""
        if self.player < 0:
            raise InputError(f"{self.tree.name}: nobody acts at {self.line!r}")
        street = len(self.dealt_cards)
        block = self.solution.node_strategy(self.tree_boards[0][street], self._forest_node(self.betting_node))
        return self._rows_to_hands(block, street, self.player, np.nan)

    def __getitem__(self, action: str) -> Array:
        """Return the probability of an action with each hand. float64 [1326]"""
        if not isinstance(action, str) or action not in self.actions:
            raise UnknownKeyError(
                f"{self.tree.name}: no action {short_repr(action)} at {self.line!r}: {', '.join(self.actions)}"
            )
        row: Array = self.strategy[self.actions.index(action)]
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(self.actions)

    def keys(self) -> tuple[str, ...]:
        """Return the labels of the actions, so that `dict(node)` has the probabilities of each."""
        return self.actions

    @cached_property
    def live_hands(self) -> Array:
        """Hands that the board does not block. bool [1326]"""
        return np.logical_not(np.isin(HAND_CARDS, self.board).any(axis=1))

    @cached_property
    def root_weights(self) -> tuple[Array, Array]:
        """Root weights of each player's hands, without those that this node's board blocks. float64 [1326] each"""
        first, second = (np.where(self.live_hands, weights, 0.0) for weights in self.tree.game.weights)
        return first, second

    @property
    def has_equity(self) -> bool:
        """Whether all boards have five cards in the end, as equities need."""
        game = self.tree.game
        return len(game.board) + sum(game.deals) == 5

    @cached_property
    def reach(self) -> tuple[Array, Array]:
        """Reach of each player's hands: root weight times the probability of its own actions. float64 [1326] each"""
        return self._reach_at(self.betting_node)

    def _reach_at(self, place: int) -> tuple[Array, Array]:
        """Return both players' reach at a betting node on the path, for hands that this node's board does not block."""
        betting, weights = self.tree.betting, list(self.root_weights)
        for node, child in pairwise(self.path[: self.path.index(place) + 1]):
            actor = int(betting.actor[node])
            if actor >= 0:
                street = int(betting.street[node])
                action = list(betting.children(node)).index(child)
                block = self.solution.node_strategy(self.tree_boards[0][street], self._forest_node(node))
                weights[actor] = weights[actor] * self._rows_to_hands(block[action], street, actor, 0.0)
        return weights[0], weights[1]

    @cached_property
    def combos(self) -> tuple[float, float]:
        """Weighted number of hands of each player."""
        return float(self.reach[0].sum()), float(self.reach[1].sum())

    @cached_property
    def _compatible_weights(self) -> tuple[Array, Array]:
        return compatible_weights(self.reach[1]), compatible_weights(self.reach[0])

    def compatible_weight(self, player: int) -> Array:
        """Return the reach of the opponent's hands that are compatible with each hand. float64 [1326]

        Parameters
        ----------
        player
            0 (oop) or 1 (ip).
        """
        validation.check_integer("player", player, 0, 1)
        return self._compatible_weights[player]

    @cached_property
    def pair_weights(self) -> tuple[float, float]:
        """Total weight of the pairs of hands that reach this node, and of all pairs that its board does not block."""
        first, second = self.root_weights
        return float(self.reach[0] @ self.compatible_weight(0)), float(first @ compatible_weights(second))

    @property
    def reach_probability(self) -> float:
        """Probability that the players reach this node, given its cards."""
        return self.pair_weights[0] / max(self.pair_weights[1], 1e-300)

    def _values(self, player: int) -> Array:
        """Return a player's EVs by hand: first at this node, then after each action. float64 [1 + actions, 1326]"""
        validation.check_integer("player", player, 0, 1)
        cached: dict[int, Array] = self.__dict__.setdefault("_walks", {})
        if player not in cached:
            cached[player] = self._compute_values(player)
        return cached[player]

    def _compute_values(self, player: int, *, respond: bool = False, opponent_range: Array | None = None) -> Array:
        """Compute a player's EVs by hand: first at this node, then after each action. float64 [1 + actions, 1326]

        With `respond`, the player plays a best response, against `opponent_range` if one is given.
        """
        validation.check_integer("player", player, 0, 1)
        tree, solution = self.tree, self.solution
        if respond:
            reach = None if opponent_range is None else (opponent_range, opponent_range)
            raw = solution.engine.best_response_values(player, self.traversal_start(self.betting_node, reach))
        else:
            raw = solution.street_values(self).values(player, self._forest_node(self.betting_node))
        values = self._rows_to_hands(raw, len(self.dealt_cards), player, np.nan)
        mass = self.compatible_weight(player) if opponent_range is None else compatible_weights(opponent_range)
        values = safe_divide(values, mass, np.nan)
        values += tree.betting.spent[self.betting_node, player] - tree.betting.spent[0, player]
        values[:, ~(tree.game.weights[player] > 0)] = np.nan
        return values

    def traversal_start(self, place: int, reach: tuple[Array, Array] | None = None) -> SubtreeStart:
        """Return the start of a traversal at a node on the path, on this node's board.

        `reach` replaces the reach of both players there.

        Parameters
        ----------
        place
            Node of the betting tree on the path.
        reach
            Reach of each player there, instead of that of the solution. float64 [1326] each.
        """
        street = len(self.dealt_cards)
        boards, maps = self.tree_boards
        original = np.argsort(maps[street])  # the inverse of the map
        reach = self._reach_at(place) if reach is None else reach
        first, second = (reach[p][original[self.tree.representatives(boards[street], p)]] for p in (0, 1))
        return SubtreeStart(boards[street], self._forest_node(place), (first, second))

    def best_response_values(self, player: int) -> Array:
        """Return best-response values of a player's hands from the current pot. float64 [1326]

        Parameters
        ----------
        player
            0 (oop) or 1 (ip).
        """
        return self._compute_values(player, respond=True)[0, :]

    def best_response_action_values(self, player: int, opponent_range: Array | None = None) -> Array:
        """Return best-response values after each action, against `opponent_range` or the range here.

        float64 [actions, 1326]

        Parameters
        ----------
        player
            0 (oop) or 1 (ip).
        opponent_range
            Range of the opponent here; None: that of the solution. float64 [1326]
        """
        return self._compute_values(player, respond=True, opponent_range=opponent_range)[1:]

    def ev(self, player: int) -> Array:
        """Return EVs of a player's hands: chips won from the current pot, minus own later bets. float64 [1326]

        Parameters
        ----------
        player
            0 (oop) or 1 (ip).
        """
        return self._values(player)[0, :]

    def action_ev(self) -> Array:
        """Return EVs of the actor's hands after each action. float64 [actions, 1326]"""
        if self.player < 0:
            raise InputError(f"{self.tree.name}: nobody acts at {self.line!r}")
        return self._values(self.player)[1:]

    @cached_property
    def equity(self) -> tuple[Array, Array]:
        """Share of the pot that each hand wins if both check down. float64 [1326] each"""
        game = self.tree.game
        if not self.has_equity:
            raise InputError(f"{game.name}: equities need boards of five cards")
        pairs = self.solution.street_values(self).pairs
        if pairs is not None:
            return pairs.range_equities(self.reach)
        boards, shares = runouts(self.board, game.deck), np.full((2, NUM_HANDS), np.nan)
        for player in (0, 1):
            won, total = range_wins(self.reach[1 - player], boards, np.ones(len(boards)), rules=game.deck.rules)
            np.divide(won, total, out=shares[player], where=(total > 0) & (game.weights[player] > 0))
        return shares[0], shares[1]

    def range_mean(self, player: int, numbers: Array) -> float:
        """Return the mean over a player's range, each hand weighted by its compatible pairs.

        Parameters
        ----------
        player
            0 (oop) or 1 (ip).
        numbers
            Value of each hand. float64 [1326]
        """
        weight = self.reach[player] * self.compatible_weight(player)
        possible = weight > 0
        if not possible.any():
            return float("nan")
        return float(np.sum(numbers[possible] * weight[possible]) / np.sum(weight[possible]))

    # --- reports ----------------------------------------------------------------------------

    def summary(self) -> node_report.NodeSummary:
        """Return actor, pot, stacks, frequencies, EV, equity and combos of both players."""
        return node_report.node_summary(self)

    def hand(self, cards: Cards, player: int | str | None = None) -> node_report.HandReport:
        """Return a report of one hand: strategy, EV, equity, made hand and draws.

        Parameters
        ----------
        cards
            Two cards, `AsKh`.
        player
            Player who holds them, by number or name; None: the one to act.
        """
        return node_report.hand_report(self, cards, player)

    def table(self, by: str | None = None, player: int | str | None = None) -> ReportTable:
        """Return a table of frequency, EV, equity, EQR and combos.

        Parameters
        ----------
        by
            `combos`, `classes`, `made`, `draws`, `groups` or `equity`; None: `groups` on a board, else `classes`.
        player
            Player by number or name; None: the one to act.
        """
        return node_report.hands_table(self, by, player)

    def hands(self, text: str, player: int | str | None = None) -> ReportTable:
        """Return a table of the hands of a class such as `AKs` or of any range; the last row, `all`, has their means.

        Parameters
        ----------
        text
            Class such as `AKs`, or any range.
        player
            Player by number or name; None: the one to act.
        """
        return node_report.selected_hands_table(self, text, player)

    def range(self, player: int | str | None = None) -> Range:
        """Return a player's range.

        Parameters
        ----------
        player
            Player by number or name; None: the one to act.
        """
        return node_report.player_range(self, player)

    def range_text(self, player: int | str | None = None, digits: int = node_report.WEIGHT_DIGITS) -> str:
        """Return a player's range as text, weights rounded to `digits`.

        Parameters
        ----------
        player
            Player by number or name; None: the one to act.
        digits
            Decimals of the weights.
        """
        return node_report.range_text(self, player, digits)

    def grid(self, player: int | str | None = None) -> HandGrid:
        """Return the 13 × 13 grid of the strategy.

        Parameters
        ----------
        player
            Player by number or name; None: the one to act.
        """
        return node_report.strategy_grid(self, player)

    def runouts(self) -> ReportTable:
        """Return a table of strategy and EV on every possible next card."""
        return comparison_report.node_runouts(self)

    def __str__(self) -> str:
        return str(self.summary())

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[RenderableType]:
        yield self.summary()

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()
