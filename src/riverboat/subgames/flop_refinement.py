"""Subgame refinement in two-round hold'em: ranges, counterfactual best-response values, gifts, refined strategies.

The opponent of the refined player best-responds. V(n) is the value of each of its hands from node n on, summed over the
compatible hands of the refined player by their reach; N(n) is the total weight of those hands. So V / N is the
counterfactual best-response value given the hand (CBV). One traversal gives V at all nodes of a round on a board.

Subgames start after the first round of betting, before the flop is dealt (Brown and Sandholm 2017, *endgames* there).

A safe method is a bound on the opponent's values in the subgame, given its hand, and a gadget that enforces it:
`opponent_bounds` computes the bound of re-solving, maxmargin and all forms of reach-maxmargin, and `make_gadget` makes
the gadget. Reach-maxmargin of several subgames also limits each hand to its CBV. Both ranges at the root are those of
`BettingRound.root_ranges`; nested solving (`flop_nested`) has the same root and gadgets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from riverboat.subgames.gadget_solving import solve_gadget
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
        self._lower_bounds: dict[int, Array] = {}
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

    def lower_bounds(self, opponent: int) -> Array:
        """Return lower bounds of V at each node, whatever strategy subgames get for the refined player. float64 [nodes, rows]

        Before the subgames the refined player keeps its strategy. In a subgame the opponent can secure a payoff without
        regard to cards (`guaranteed_values`); a subgame in which the refined player has no decision keeps its value.
        """
        if opponent not in self._lower_bounds:
            betting, weights = self.tree.betting, self.opponent_weights(opponent)
            bounds, floor = self.best_response_values(opponent).copy(), guaranteed_values(betting, opponent)
            for n in reversed(range(self.count)):
                actor, children = int(self.actor[n]), self.children(n)
                if n in self.leaves and has_decisions(betting, int(self.node[n]), 1 - opponent):
                    bounds[n] = floor[self.node[n]] * weights[n]
                elif actor >= 0:
                    bounds[n] = bounds[children].max(axis=0) if actor == opponent else bounds[children].sum(axis=0)
            self._lower_bounds[opponent] = bounds
        return self._lower_bounds[opponent]

    def reach_probability(self, node: int) -> float:
        """Return the probability that both players reach a node."""
        weights = self.reach[0][node] * self.tree.hands_per_row[0] * self.opponent_weights(0)[node]
        return float(weights.sum()) / self.tree.total

    def possible_gain(self, opponent: int, excess: Array) -> float:
        """Return the most that the opponent's best response gains if its values in subgames rise by `excess`.

        `excess` is float64 [nodes, rows], times N like V; only entries at leaves are read. In the game's unit.
        """
        gain = np.zeros_like(excess)
        gain[self.leaves] = excess[self.leaves]
        for n in reversed(range(self.count)):
            if self.actor[n] >= 0:
                below = gain[self.children(n)]
                gain[n] = below.max(axis=0) if self.actor[n] == opponent else below.sum(axis=0)
        deal_weight = self.tree.weights[opponent] * self.tree.hands_per_row[opponent]
        return float(deal_weight @ gain[0]) / self.tree.total

    def value_off_path(self, opponent: int, node: int, *, alone: bool) -> Array:
        """Return the value V of a subgame from which on leaving the path to it is better, for each row. float64 [rows]

        At each decision of the opponent on the path, the lower bound of its other actions is compared with going on. If
        the subgame is refined `alone`, their values are those against the base strategy.
        """
        best = self.best_response_values(opponent)
        bounds = best if alone else self.lower_bounds(opponent)
        value, others_value = np.full(best.shape[1], -np.inf), np.zeros(best.shape[1])
        for parent, child in reversed(self.path(node)):
            others = [other for other in self.children(parent) if other != child]
            if self.actor[parent] != opponent:
                others_value += best[others].sum(axis=0)  # the refined player's other actions
            elif others:
                value = np.maximum(value, bounds[others].max(axis=0) - others_value)
        return value


def has_decisions(betting: BettingTree, node: int, player: int) -> bool:
    """Return whether a player has a decision from a node on."""
    return bool((betting.actor[node : betting.end[node]] == player).any())


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

STOP, CHOOSE = "stop", "choose"  # gadgets: re-solving and maxmargin
MAX_CAP = 1e12  # of margins without a cap, in chips


@dataclass(frozen=True)
class FlopMethod:
    """Options of a method of subgame solving: the gadget, the use of gifts, and where margins are measured."""

    title: str
    gadget: str = CHOOSE  # gadget at the root; "": none
    gifts: str = ""  # "": no gifts; "split" among the subgames below them, or "whole" in each
    limited: bool = False  # gifts loosen margins only: no hand exceeds its CBV if several subgames are refined
    at_first_decision: bool = False  # margins are those at the opponent's first decision on the path
    improved: bool = False  # no margin grows beyond the point where leaving the path is better
    expensive: bool = False  # nested solving: from the decision on, not only after the off-tree bet

    @property
    def safe(self) -> bool:
        """Whether exploitability cannot rise, however other subgames are refined."""
        return bool(self.gadget) and (self.gifts != "whole" or self.limited)


REACH_MAXMARGIN = FlopMethod("reach-maxmargin", gifts="whole", limited=True, at_first_decision=True, improved=True)
FLOP_METHODS = {
    "unsafe": FlopMethod("unsafe", gadget=""),
    "resolve": FlopMethod("re-solve", gadget=STOP),
    "maxmargin": FlopMethod("maxmargin"),
    "reach_maxmargin": REACH_MAXMARGIN,
    "reach_maxmargin_plain": replace(REACH_MAXMARGIN, title="reach-maxmargin without the improvement", improved=False),
    "reach_maxmargin_split": FlopMethod("reach-maxmargin, gifts split", gifts="split"),
    "reach_maxmargin_whole": FlopMethod("reach-maxmargin, whole gifts", gifts="whole"),
}


@dataclass(frozen=True)
class SolvedFlopSubgame:
    """One subgame, solved for one player or, without a gadget, for both."""

    line: str
    player: int | None
    exploitability: float  # exploitability of the gadget game's solution, in the game's unit
    own: float  # the same, times the probability that the opponent can reach the gadget in the game; 0 if unsafe
    margin: float  # the least margin over hands, gifts included, in the game's unit; NaN without a gadget
    iterations: int


@dataclass(frozen=True, eq=False)
class FlopRefinement:
    """A refined table for the whole game, and reports of its subgames."""

    tree: BoardTree
    table: Array
    endgames: tuple[SolvedFlopSubgame, ...]
    slacks: tuple[float, float]  # upper bounds on the gain of each player's opponent, in the game's unit

    def own_exploitability(self, player: int) -> float:
        """Return what the gadgets' solutions of a player lack to equilibria, weighted by reach, in the game's unit."""
        return sum(solved.own for solved in self.endgames if solved.player == player)

    @property
    def iterations(self) -> int:
        """Iterations of all subgames together."""
        return sum(solved.iterations for solved in self.endgames)

    @property
    def least_margin(self) -> float:
        """Least margin over all subgames, in the game's unit; NaN without gadgets."""
        margins = [solved.margin for solved in self.endgames if solved.player is not None]
        return float(np.nanmin(margins)) if margins else float("nan")


def refine_flop(
    base: BettingRound,
    method: str | FlopMethod,
    *,
    iterations: int = 200,
    until: float | None = None,
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
        Iterations of CFR per subgame; with `until` the most.
    until
        Target for the own exploitability of each player's gadgets together, weighted by reach
        (`FlopRefinement.own_exploitability`), in the game's unit. Each subgame gets an equal share.
    lines
        Preflop lines whose subgames are solved. The default is all. Reach-maxmargin of a single one spends its gifts.
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
    table, solved, alone = base.table.copy(), [], len(leaves) == 1
    excesses = [np.zeros_like(base.opponent_weights(opponent)) for opponent in (0, 1)]
    for node in leaves:
        for player in (0, 1) if flop_method.gadget else (None,):
            part, tree, bounds = make_subgame(base, node, flop_method, player, alone=alone)
            if tree is None or (player is not None and not has_decisions(part.betting, 0, player)):
                continue
            solver = BoardCFR(tree, schedule, threads=threads, dtype=dtype, device=device)
            unit = base.reach_probability(node) if bounds is None else bounds.unit
            share = -np.inf if until is None else until / (2 * max(unit, 1e-300) * len(leaves))
            if player is None or bounds is None:
                found, own = solve_gadget(solver, iterations, until=share), 0.0
            else:
                caps = None if bounds.caps is None else base.rows_to_hands(bounds.caps, 1 - player)
                found = solve_gadget(solver, iterations, until=share, caps=caps)
                own = 2 * found.exploitability * bounds.unit
                excess = found.excess[tree.representatives(0, 1 - player)]
                excesses[1 - player][node] = excess * bounds.decision_weights
            report = (base.line(node), player, found.exploitability, own, found.margin, found.iterations)
            solved.append(SolvedFlopSubgame(*report))
            # Copy the strategies of the solved players to the table of the whole game.
            target = forest_index(base.tree)[part.origin[tree.forest.node]]
            solved_nodes = np.flatnonzero(np.isin(tree.forest.actor, (0, 1) if player is None else player))
            pairs = [(node, int(target[node])) for node in solved_nodes.tolist()]
            copy_strategy(tree, solver.averages, base.tree, table, pairs)
    slacks = base.possible_gain(1, excesses[1]), base.possible_gain(0, excesses[0])
    return FlopRefinement(base.tree, table, tuple(solved), slacks)


def parse_method(method: str | FlopMethod, methods: Mapping[str, FlopMethod], what: str) -> FlopMethod:
    """Return the method with a name, or the argument if it is a method; `what` names the kind in error messages."""
    if isinstance(method, FlopMethod):
        return method
    check_name(what, method, methods)
    return methods[method]


def make_subgame(
    base: BettingRound, node: int, method: FlopMethod, player: int | None, *, alone: bool = False
) -> tuple[BettingSubtree, BoardTree | None, OpponentBounds | None]:
    """Return the subgame after a leaf as a game of its own: its betting, its tree, and the bounds of its gadget.

    The tree is None if no pair of hands reaches the subgame. `alone`: it is the only subgame that is refined.
    """
    tree, opponent = base.tree, 0 if player is None else 1 - player
    part = extract_betting_subtree(tree.betting, int(base.node[node]))
    ranges = base.root_ranges(node, opponent, gadget=player is not None)
    if ranges is None:
        return part, None, None
    gadget, bounds = None, None
    if player is not None:
        bounds = opponent_bounds(base, node, method, opponent, alone=alone)
        gadget = make_gadget(base, method, opponent, bounds.values, bounds.weights, bounds.limits)
    name = f"{tree.name} after {base.line(node)!r}"
    game = BoardSubgame(tree.game, name, part.betting, ranges, gadget, tree.game.board, tree.game.deals)
    return part, tree.with_game(game), bounds


class OpponentBounds(NamedTuple):
    """Bounds on the opponent's values in a subgame: a row may earn at most values / weights, given its hand."""

    values: Array  # float64 [rows]
    weights: Array  # float64 [rows]: N here / N at the decision of the margin; 0 if impossible
    unit: float  # converts a gain in the gadget game to an upper bound on the gain in the whole game
    decision_weights: Array  # float64 [rows]: N at the decision of the margin
    limits: Array | None = None  # float64 [rows]: most that a row may earn, whatever its gifts; None: no limits
    caps: Array | None = None  # float64 [rows]: most that the margin of a row needs to be; None: no caps


def opponent_bounds(
    base: BettingRound, node: int, method: FlopMethod, opponent: int, *, alone: bool = False
) -> OpponentBounds:
    """Compute the bounds of a safe method: CBV plus gifts, for margins here or at the opponent's first decision."""
    opponent_weight, value = base.opponent_weights(opponent)[node], base.best_response_values(opponent)[node]
    deal_weight = base.tree.weights[opponent] * base.tree.hands_per_row[opponent]
    possible, cbv = opponent_weight > 0, base.cbv(opponent, node)
    if method.gadget == STOP:
        unit = float(deal_weight @ opponent_weight) / base.tree.total
        return OpponentBounds(cbv, possible.astype(float), unit, opponent_weight)
    if method.gifts:
        value = value + base.gifts(opponent, node, split=method.gifts == "split")
    weight = base.opponent_weights(opponent)[base.first_decision(opponent, node) if method.at_first_decision else node]
    scale = np.where(possible, 1.0 / np.where(possible, weight, 1.0), 0.0)
    limits, caps = None, None
    if method.limited:  # a single subgame spends its gifts
        limits = safe_divide(value, opponent_weight) if alone else cbv
    if method.improved:
        caps = (value - base.value_off_path(opponent, node, alone=alone)) * scale
        caps = np.where(possible, caps, 0.0).clip(-MAX_CAP, MAX_CAP)
    unit = float(deal_weight @ weight) / base.tree.total
    return OpponentBounds(value * scale, opponent_weight * scale, unit, weight, limits, caps)


def make_gadget(
    base: BettingRound,
    method: FlopMethod,
    opponent: int,
    values: Array,
    weights: Array | None = None,
    limits: Array | None = None,
) -> RootGadget:
    """Make the gadget that bounds the values of the opponent's rows by `values` / `weights`, or by `values` alone."""
    bounds = base.rows_to_hands(values, opponent)
    if method.gadget == STOP:
        return ResolvingGadget(opponent, bounds)
    gadget_weights = 1.0 if weights is None else base.rows_to_hands(weights, opponent)
    return MaxmarginGadget(
        opponent, bounds, gadget_weights, None if limits is None else base.rows_to_hands(limits, opponent)
    )


def forest_index(tree: BoardTree) -> Array:
    """Return the forest node of each betting node. int64 [betting nodes]"""
    indices = np.empty(len(tree.forest.node), np.int64)
    indices[tree.forest.node] = np.arange(len(indices))
    return indices
