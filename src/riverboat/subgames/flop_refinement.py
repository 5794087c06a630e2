"""Subgame refinement in two-round hold'em: ranges, counterfactual best-response values, gifts, refined strategies.

The opponent of the refined player best-responds. V(n) is the value of each of its hands from node n on, summed over the
compatible hands of the refined player by their reach; N(n) is the total weight of those hands. So V / N is the
counterfactual best-response value given the hand (CBV). One traversal gives V at all nodes of a round on a board.

Subgames start after the first round of betting, before the flop is dealt (Brown and Sandholm 2017, *endgames* there).

A safe method is a bound on the opponent's values in the subgame, given its hand, and a gadget that enforces it:
`opponent_bounds` computes the bound of re-solving, maxmargin and all forms of reach-maxmargin, and `make_gadget` makes
the gadget. A new constraint on the opponent's counterfactual best-response values is a new bound. Both ranges at the
root are those of `BettingRound.root_ranges`; nested solving (`flop_nested`) has the same root and gadgets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from riverboat.cards.deck import HAND_CARDS, NUM_HANDS
from riverboat.core.arrays import safe_divide
from riverboat.core.errors import InputError, unknown_name_error
from riverboat.core.validation import check_name
from riverboat.engines.cpu.board_engine import CpuBoardEngine
from riverboat.engines.devices import CPU
from riverboat.engines.protocol import SubtreeStart
from riverboat.engines.tables import copy_strategy
from riverboat.games.base import CHANCE, TERMINAL, Array
from riverboat.games.boards.board_game import BettingTree
from riverboat.games.boards.root_gadgets import MaxmarginGadget, ResolvingGadget, RootGadget
from riverboat.games.boards.subtrees import BettingSubtree, BoardSubgame, extract_betting_subtree
from riverboat.solvers.boards.cfr import BOARD_SCHEDULE, BoardCFR
from riverboat.solvers.schedules import ScheduleOrFactory
from riverboat.trees.boards import NO_ROW, BoardTree
from riverboat.trees.public import child_nodes

CANCELLATION_TOLERANCE = 1e-12  # weights below this share of the total are cancellation errors
HAND_CARD_MATRIX = np.zeros((NUM_HANDS, 52))  # 1 where a hand contains a card
np.put_along_axis(HAND_CARD_MATRIX, HAND_CARDS.astype(np.int64), 1.0, axis=1)


class BettingRound:
    """A round of betting on one board under a strategy: the first round of a game, or one that starts at `start`.

    Nodes are numbered from the start in the order of the forest; arrays are by the rows of the board.
    """

    def __init__(
        self,
        tree: BoardTree,
        table: Array,
        start: SubtreeStart | None = None,
        *,
        engine: CpuBoardEngine | None = None,
        threads: int = 1,
    ) -> None:
        """Set up the round for the strategy in `table`; `engine`, if it is given, must already have that table."""
        self.tree, self.table = tree, table
        self.engine = CpuBoardEngine.from_average(tree, table, threads) if engine is None else engine
        self.start = start
        self._opponent_weights: dict[int, Array] = {}
        self._best_response_values: dict[int, Array] = {}
        self.board, self.root_node = (0, 0) if start is None else (start.board, start.node)
        last = int(tree.forest.end[self.root_node])
        self.count = last - self.root_node
        self.actor = tree.forest.actor[self.root_node : last]
        self.end = tree.forest.end[self.root_node : last] - self.root_node
        self.node = tree.forest.node[self.root_node : last]  # betting node of each node
        self.leaves = [n for n in range(self.count) if self.actor[n] == CHANCE]
        self.parent = np.full(self.count, -1)
        for node in range(self.count):
            self.parent[self.children(node)] = node

    def children(self, node: int) -> list[int]:
        """Return the nodes after each action of a node; none where the next round is dealt or the hand is over."""
        return [child - self.root_node for child in child_nodes(self.tree.forest, self.root_node + node)]

    def path(self, node: int) -> list[tuple[int, int]]:
        """Return the pairs (node, child) on the path to a node, from the root on."""
        steps = []
        while self.parent[node] >= 0:
            steps.append((int(self.parent[node]), node))
            node = int(self.parent[node])
        return steps[::-1]

    def line(self, node: int) -> str:
        """Return the labels of the actions on the path to a node, as a line."""
        label, joiner = self.tree.betting.label, self.tree.game.joiner
        return joiner.join(label[self.node[child]] for _, child in self.path(node))

    def rows_to_hands(self, rows: Array, player: int) -> Array:
        """Map values of a player's rows to hands; zero for impossible hands. float64 [..., rows] -> [..., 1326]"""
        row = self.tree.row_of[self.board, player]
        out, live = np.zeros((*rows.shape[:-1], NUM_HANDS)), row != NO_ROW
        out[..., live] = rows[..., row[live]]
        return out

    @cached_property
    def reach(self) -> tuple[Array, Array]:
        """Reach of one hand of each row at each node, including its root weight. float64 [nodes, rows] each"""
        root_reach = self.tree.weights if self.start is None else self.start.reach
        weights = [np.tile(np.asarray(w, float), (self.count, 1)) for w in root_reach]
        for node in range(self.count):
            children, actor = self.children(node), int(self.actor[node])
            for player in (0, 1):
                weights[player][children] = weights[player][node]
            if actor >= 0:
                weights[actor][children] *= self.engine.average_strategy(self.board, self.root_node + node)
        return weights[0], weights[1]

    def opponent_weights(self, player: int) -> Array:
        """Return N: the reach of the opponent's compatible hands, for each row at each node. float64 [nodes, rows]"""
        if player not in self._opponent_weights:
            opponent_reach = self.rows_to_hands(self.reach[1 - player], 1 - player)  # [nodes, 1326]
            possible, reps = np.flatnonzero(opponent_reach.any(axis=0)), self.tree.representatives(self.board, player)
            by_card = opponent_reach[:, possible] @ HAND_CARD_MATRIX[possible]
            first, second = HAND_CARDS[reps].T
            total = opponent_reach.sum(axis=1, keepdims=True)
            weights = total - by_card[:, first] - by_card[:, second] + opponent_reach[:, reps]
            self._opponent_weights[player] = np.where(weights > CANCELLATION_TOLERANCE * total, weights, 0.0)
        return self._opponent_weights[player]

    def root_ranges(self, node: int, opponent: int, *, gadget: bool) -> tuple[Array, Array] | None:
        """Return both ranges at the root of a subgame; None if no pair of hands reaches it. float64 [1326] each

        With a gadget, the opponent of the refined player has all hands of the deal.
        """
        ranges = [self.rows_to_hands(self.reach[player][node], player) for player in (0, 1)]
        pair_weights = self.opponent_weights(opponent)[node]
        if gadget:
            possible = self.tree.row_of[self.board, opponent] != NO_ROW
            ranges[opponent] = np.where(possible, self.tree.game.weights[opponent], 0.0)
        else:
            pair_weights = pair_weights * self.reach[opponent][node]
        return (ranges[0], ranges[1]) if (pair_weights > 0).any() else None

    def best_response_values(self, player: int) -> Array:
        """Return V: a player's counterfactual best-response values times N, at each node. float64 [nodes, rows]"""
        if player not in self._best_response_values:
            self._best_response_values[player] = self.engine.street_values((player,), self.start, best_response=True)[0]
        return self._best_response_values[player]

    def cbv(self, opponent: int, node: int) -> Array:
        """Return the CBV of the opponent's rows at a node, V / N; zero where N is zero. float64 [rows]"""
        return safe_divide(self.best_response_values(opponent)[node], self.opponent_weights(opponent)[node])

    def gifts(self, opponent: int, node: int, *, split: bool) -> Array:
        """Return the gifts of the opponent's rows on the path to a subgame: V(I') − V(I', a') at each of its decisions.

        Like V, gifts are multiplied by N. With `split`, a gift is divided among all subgames below it in proportion to
        N, so that together they spend it once.
        """
        best, weights = self.best_response_values(opponent), self.opponent_weights(opponent)
        total = np.zeros(best.shape[1])
        for parent, child in self.path(node):
            if self.actor[parent] != opponent:
                continue
            gift = np.maximum(best[parent] - best[child], 0.0)
            if split:
                shared = weights[[e for e in self.leaves if child <= e < self.end[child]]].sum(axis=0)
                gift = gift * safe_divide(weights[node], shared)
            total += gift
        return total

    def first_decision(self, opponent: int, node: int) -> int:
        """Return the opponent's first decision on the path to a node, or the node itself.

        It is the earliest information set from which a hand can reach only one information set at the root of the
        subgame.
        """
        decisions = [parent for parent, _ in self.path(node) if self.actor[parent] == opponent]
        return decisions[0] if decisions else node

    def covered_rows(self, opponent: int, node: int) -> Array:
        """Return the rows for which leaving the path is at least as good as the path, whatever is refined. bool [rows]

        An off-path action counts with its guaranteed value (`guaranteed_values`), compared with the value of staying on
        the path.
        """
        best, weights = self.best_response_values(opponent), self.opponent_weights(opponent)
        floor = guaranteed_values(self.tree.betting, opponent)
        covered = np.zeros(best.shape[1], bool)
        path_value = best[node].copy()  # value of staying on the path, at the current node
        for parent, child in reversed(self.path(node)):
            others = [other for other in self.children(parent) if other != child]
            if self.actor[parent] != opponent:
                path_value = path_value + best[others].sum(axis=0)  # the refined player's other actions
                continue
            guaranteed = max(float(floor[self.node[other]]) for other in others) if others else -np.inf
            weight = weights[parent]
            covered |= (weight > 0) & (guaranteed * np.where(weight > 0, weight, 1.0) >= path_value)
        return covered


def guaranteed_values(betting: BettingTree, player: int) -> Array:
    """Return the minimum payoff that a player can secure from each node on, ignoring cards. float64 [nodes]

    The opponent and the cards minimize it; the player may fold.
    """
    values = np.zeros(len(betting.actor))
    for node in range(len(betting.actor) - 1, -1, -1):
        if betting.actor[node] == TERMINAL:
            values[node] = betting.payoffs[node, :, player].min()
        else:
            child_values = [values[child] for child in betting.children(node)]
            values[node] = max(child_values) if betting.actor[node] == player else min(child_values)
    return values


# --- refinement ---------------------------------------------------------------------------------

# Weight of margins that need only be nonnegative: larger values enforce no more than safety.
COVERED_MARGIN_FACTOR = 20.0
STOP, CHOOSE = "stop", "choose"  # gadgets: re-solving and maxmargin


@dataclass(frozen=True)
class FlopMethod:
    """Options of a method of subgame solving: the gadget, the use of gifts, and where margins are measured."""

    title: str
    gadget: str = CHOOSE  # gadget at the root; "": none
    gifts: str = ""  # "": no gifts; "split" among the subgames below them, or "whole" in each
    at_first_decision: bool = False  # margins are those at the opponent's first decision on the path
    improved: bool = False  # covered hands get no margin beyond safety
    expensive: bool = False  # nested solving: from the decision on, not only after the off-tree bet

    @property
    def safe(self) -> bool:
        """Whether exploitability cannot rise, however other subgames are refined."""
        return bool(self.gadget) and self.gifts != "whole"


FLOP_METHODS = {
    "unsafe": FlopMethod("unsafe", gadget=""),
    "resolve": FlopMethod("re-solve", gadget=STOP),
    "maxmargin": FlopMethod("maxmargin"),
    "reach": FlopMethod("reach-maxmargin", gifts="whole", at_first_decision=True, improved=True),
    "reach_split": FlopMethod("reach-maxmargin, gifts split", gifts="split", at_first_decision=True, improved=True),
    "reach_plain": FlopMethod("reach-maxmargin without the improvement", gifts="whole", at_first_decision=True),
    "gifts_split": FlopMethod("reach-maxmargin, later form, split", gifts="split"),
    "gifts_whole": FlopMethod("reach-maxmargin, later form, not split", gifts="whole"),
}


@dataclass(frozen=True)
class SolvedFlopSubgame:
    """One subgame, solved for one player or, without a gadget, for both."""

    line: str
    player: int | None
    exploitability: float  # exploitability of the gadget game's solution, in the game's unit
    allowance: float  # upper bound on the resulting gain of the opponent's best response in the game; 0 if unsafe
    margin: float  # the least margin over hands, gifts included, in the game's unit; NaN without a gadget


@dataclass(frozen=True, eq=False)
class FlopRefinement:
    """A refined table for the whole game, and reports of its subgames."""

    tree: BoardTree
    table: Array
    endgames: tuple[SolvedFlopSubgame, ...]

    def allowance(self, player: int) -> float:
        """Return an upper bound on the opponent's gain from inexact gadget solutions, in the game's unit."""
        return sum(solved.allowance for solved in self.endgames if solved.player == player)

    @property
    def least_margin(self) -> float:
        """Least margin over all subgames, in the game's unit; NaN without gadgets."""
        return min((solved.margin for solved in self.endgames if solved.player is not None), default=float("nan"))


def refine_flop(
    base: BettingRound,
    method: str | FlopMethod,
    *,
    iterations: int = 200,
    lines: Sequence[str] | None = None,
    schedule: str | ScheduleOrFactory = BOARD_SCHEDULE,
    dtype: str = "float32",
    threads: int = 1,
    device: str = CPU,
) -> FlopRefinement:
    """Refine the subgames of a base strategy, each by itself, for each player against the base.

    Hands with reach zero in the base strategy get a strategy too.

    Parameters
    ----------
    base
        First betting round with the base strategy.
    method
        Name in `FLOP_METHODS`, or a method.
    iterations
        Iterations of CFR per subgame.
    lines
        Preflop lines whose subgames are solved. The default is all.
    schedule
        CFR schedule.
    dtype
        Table format.
    threads
        Number of threads.
    device
        CPU or a GPU; results are the same up to rounding.

    Returns
    -------
    FlopRefinement
        The refined table, and reports of its subgames.
    """
    flop_method = parse_method(method, FLOP_METHODS, "method")
    leaves = [n for n in base.leaves if lines is None or base.line(n) in lines]
    if lines is not None and len(leaves) < len(set(lines)):
        missing = sorted(set(lines) - {base.line(n) for n in base.leaves})
        raise unknown_name_error("line before the flop", missing[0], [base.line(n) for n in base.leaves])
    if len(base.tree.game.deals) != 1:
        raise InputError(f"{base.tree.name}: {len(base.tree.game.deals)} deals; refining flops needs one")
    table, solved = base.table.copy(), []
    for node in leaves:
        for player in (0, 1) if flop_method.gadget else (None,):
            part, tree, unit = make_subgame(base, node, flop_method, player)
            if tree is None:
                continue
            solver = BoardCFR(tree, schedule, threads=threads, dtype=dtype, device=device)
            solver.step(iterations)
            exploitability, margin = solver.quality().exploitability, float("nan")
            if player is not None:
                margin = float(np.nanmin(solver.engine.margins())) * tree.per_chip
            allowance = 2 * exploitability * unit
            solved.append(SolvedFlopSubgame(base.line(node), player, exploitability, allowance, margin))
            # Copy the strategies of the solved players to the table of the whole game.
            target = forest_index(base.tree)[part.origin[tree.forest.node]]
            solved_nodes = np.flatnonzero(np.isin(tree.forest.actor, (0, 1) if player is None else player))
            pairs = [(node, int(target[node])) for node in solved_nodes.tolist()]
            copy_strategy(tree, solver.averages, base.tree, table, pairs)
    return FlopRefinement(base.tree, table, tuple(solved))


def parse_method(method: str | FlopMethod, methods: Mapping[str, FlopMethod], what: str) -> FlopMethod:
    """Return the method with a name, or the argument if it is a method; `what` names the kind in error messages."""
    if isinstance(method, FlopMethod):
        return method
    check_name(what, method, methods)
    return methods[method]


def make_subgame(
    base: BettingRound, node: int, method: FlopMethod, player: int | None
) -> tuple[BettingSubtree, BoardTree | None, float]:
    """Return the subgame after a leaf as a game of its own: its betting, its tree, and its unit in the whole game.

    The tree is None if no pair of hands reaches the subgame. The unit converts a gain of the opponent in the gadget
    game to an upper bound on its gain in the whole game.
    """
    tree, opponent = base.tree, 0 if player is None else 1 - player
    part = extract_betting_subtree(tree.betting, int(base.node[node]))
    ranges = base.root_ranges(node, opponent, gadget=player is not None)
    if ranges is None:
        return part, None, 0.0
    gadget, unit = None, 0.0
    if player is not None:
        bounds = opponent_bounds(base, node, method, opponent)
        gadget, unit = make_gadget(base, method, opponent, bounds.values, bounds.weights), bounds.unit
    name = f"{tree.name} after {base.line(node)!r}"
    game = BoardSubgame(tree.game, name, part.betting, ranges, gadget, tree.game.board, tree.game.deals)
    return part, tree.with_game(game), unit


class OpponentBounds(NamedTuple):
    """Bounds on the opponent's values in a subgame: a row may earn at most values / weights, given its hand."""

    values: Array  # float64 [rows]
    weights: Array  # float64 [rows]: N here / N at the decision of the margin, times a factor; 0 if impossible
    unit: float  # converts a gain in the gadget game to an upper bound on the gain in the whole game


def opponent_bounds(base: BettingRound, node: int, method: FlopMethod, opponent: int) -> OpponentBounds:
    """Compute the bounds of a safe method: CBV plus gifts, for margins here or at the opponent's first decision."""
    opponent_weight, value = base.opponent_weights(opponent)[node], base.best_response_values(opponent)[node]
    deal_weight = base.tree.weights[opponent] * base.tree.hands_per_row[opponent]
    possible = opponent_weight > 0
    if method.gadget == STOP:
        unit = float(deal_weight @ opponent_weight) / base.tree.total
        return OpponentBounds(base.cbv(opponent, node), possible.astype(float), unit)
    if method.gifts:
        value = value + base.gifts(opponent, node, split=method.gifts == "split")
    root = base.first_decision(opponent, node) if method.at_first_decision else node
    weight = base.opponent_weights(opponent)[root]
    factor = np.where(base.covered_rows(opponent, node), COVERED_MARGIN_FACTOR, 1.0) if method.improved else 1.0
    scale = np.where(possible, factor / np.where(possible, weight, 1.0), 0.0)
    return OpponentBounds(value * scale, opponent_weight * scale, float(deal_weight @ weight) / base.tree.total)


def make_gadget(
    base: BettingRound, method: FlopMethod, opponent: int, values: Array, weights: Array | None = None
) -> RootGadget:
    """Make the gadget that bounds the values of the opponent's rows by `values` / `weights`, or by `values` alone."""
    bounds = base.rows_to_hands(values, opponent)
    if method.gadget == STOP:
        return ResolvingGadget(opponent, bounds)
    return MaxmarginGadget(opponent, bounds, 1.0 if weights is None else base.rows_to_hands(weights, opponent))


def forest_index(tree: BoardTree) -> Array:
    """Return the forest node of each betting node. int64 [betting nodes]"""
    indices = np.empty(len(tree.forest.node), np.int64)
    indices[tree.forest.node] = np.arange(len(indices))
    return indices
