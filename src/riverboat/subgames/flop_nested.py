"""Nested subgame solving and action translation in two-round hold'em: replies to off-tree bets.

The opponent may bet sizes that are not in the abstraction. The refined player responds to each off-tree bet by solving
the subgame after it, with the sizes of the abstraction from there on, and again after the next such bet (Brown and
Sandholm 2017, who say *endgame*). Before the flop that is one subgame with all flops in it; on the flop it is one for
each board.

*Inexpensive*: the subgame starts right after the bet. The base strategy has no such bet and so no value for it; the
alternative payoff is CBV(I), the best value of the opponent's hand without the bet. *Expensive*: the subgame starts at
the opponent's decision, with the bet added to its actions; unsafe solving needs this form. If the least margin is
nonnegative, the bet gains nothing with any hand, and the strategy is as good in the larger game as in the abstraction.

A gift here is the value that the opponent gave up on the path, given its hand. It is the same after all boards and all
actions of the refined player, so that they may spend it once together (`reach_maxmargin_split`). With the first paper's
constraint gifts only loosen margins: no hand is worth more than its CBV (`reach_maxmargin`).

`translate_strategy` is the baseline: it maps off-tree bets to bets of the abstraction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from riverboat.abstraction.actions.translation import translation_probabilities
from riverboat.core.arrays import safe_divide
from riverboat.core.errors import InputError
from riverboat.engines.cpu.board_engine import CpuBatchEngine, CpuBoardEngine
from riverboat.engines.protocol import BoardEngine, SubtreeStart
from riverboat.engines.tables import copy_strategy, parse_table_format
from riverboat.games.base import CHANCE, Array
from riverboat.games.boards.board_game import BettingTree
from riverboat.games.boards.root_gadgets import RootGadget
from riverboat.games.boards.subtrees import BettingSubtree, BoardSubgame, extract_betting_subtree
from riverboat.solvers.boards.cfr import BOARD_SCHEDULE, BoardCFR, schedule_rows
from riverboat.solvers.schedules import AnySchedule, ScheduleOrFactory, parse
from riverboat.strategies.blueprint_game import decision_view
from riverboat.subgames.flop_refinement import STOP, BettingRound, FlopMethod, forest_index, make_gadget, parse_method
from riverboat.subgames.gadget_solving import check_times, solve_gadget
from riverboat.trees.betting import make_shape
from riverboat.trees.boards import NO_ROW, BoardTree

NESTED_METHODS = {
    "resolve": FlopMethod("re-solve", STOP),
    "unsafe_expensive": FlopMethod("unsafe, expensive", "", expensive=True),
    "maxmargin": FlopMethod("maxmargin"),
    "reach_maxmargin": FlopMethod("reach-maxmargin", gifts="whole", limited=True),
    "reach_maxmargin_expensive": FlopMethod("reach-maxmargin, expensive", gifts="whole", limited=True, expensive=True),
    "reach_maxmargin_split": FlopMethod("reach-maxmargin, gifts split", gifts="split"),
}


@dataclass(eq=False)
class ExtendedGame:
    """A two-round game, and its abstraction, which lacks some of its actions.

    `added` are the nodes after those actions. All trees share the boards of `tree`, the abstraction.
    """

    tree: BoardTree  # tree of the abstraction, whose betting is `extract_betting_subtree(betting, 0, added)`
    added: tuple[int, ...]
    betting: BettingSubtree  # the abstraction's betting as a part of the larger game's
    whole: BoardSubgame  # the larger game

    @staticmethod
    def from_game(game: BoardSubgame, added: Sequence[int]) -> ExtendedGame:
        """Build the abstraction of a game without its `added` nodes, and its tree."""
        if len(game.deals) != 1:
            raise InputError(f"{game.name}: {len(game.deals)} deals; nested solving needs a game of two rounds")
        part = extract_betting_subtree(game.betting, 0, added)
        return ExtendedGame(BoardTree(_make_part(game, part, game.weights)), tuple(added), part, game)

    def opponent_game(self, opponent: int) -> tuple[BoardTree, BettingSubtree]:
        """Return the tree and the betting of the game in which only the opponent has the added actions."""
        betting = self.whole.betting
        added_for_player = [n for n in self.added if betting.actor[betting.parents[n]] != opponent]
        part = extract_betting_subtree(betting, 0, added_for_player)
        return self.tree.with_game(_make_part(self.whole, part, self.whole.weights)), part

    def board_trees(self) -> dict[int, BoardTree]:
        """Return a separate tree for each flop, by the index of its board, with the same rows as in the other trees."""
        trees, street = {}, self.tree.street_start
        part = extract_betting_subtree(self.whole.betting, int(np.flatnonzero(self.whole.betting.street == 1)[0]))
        shape = make_shape(part.betting, 1, int(self.tree.rows.max()))
        for b in range(street[1], street[2]):
            first_live, second_live = (self.tree.row_of[b] != NO_ROW).astype(float)
            game = _make_part(self.whole, part, (first_live, second_live), board=self.tree.deals.board_cards(b))
            trees[b] = BoardTree(game, shape)
            if not np.array_equal(trees[b].row_of[0], self.tree.row_of[b]):
                raise InputError(f"{self.tree.name}: board {b} has other rows in a tree of its own")
        return trees


def _make_part(
    game: BoardSubgame,
    part: BettingSubtree,
    weights: tuple[Array, Array],
    gadget: RootGadget | None = None,
    board: tuple[int, ...] | None = None,
) -> BoardSubgame:
    """Return a part of the larger game; with `board`, that flop is already dealt at its root."""
    root_board, deals = ((), game.deals) if board is None else (board, ())
    return BoardSubgame(game.full_game, game.name, part.betting, weights, gadget, root_board, deals)


@dataclass(eq=False)
class NestedSolver:
    """Solver that builds one player's strategy for the larger game, subgame by subgame."""

    extended_game: ExtendedGame
    player: int
    method: FlopMethod
    iterations: int
    schedule: AnySchedule
    dtype: str
    threads: int
    boards: dict[int, BoardTree]
    least_margin: float = np.inf  # minimum over all gadgets, in the game's unit
    shortfall: float = 0.0  # upper bound on the opponent's gain from negative margins, in the game's unit
    num_solved: int = 0  # number of subgames

    def __post_init__(self) -> None:
        self.opponent = 1 - self.player
        self.tree, self.part = self.extended_game.opponent_game(self.opponent)
        self.table = np.zeros(self.tree.table_size + 16, parse_table_format(self.dtype).average)
        betting = self.extended_game.whole.betting
        # Node of the larger game -> node in the forest of the opponent's game.
        self.forest_index = np.full(len(betting.actor), -1)
        self.forest_index[self.part.origin] = forest_index(self.tree)
        added = set(self.extended_game.added)
        self.added_child = {n: c for n in range(len(betting.actor)) for c in betting.children(n) if c in added}

    def build(self, base: Array) -> None:
        """Build the strategy in `table`: copy the base strategy, then solve a subgame for each off-tree bet."""
        tree, part = self.extended_game.tree, self.extended_game.betting
        self._copy(tree, base, part)
        self._first_round(tree, base, part, np.zeros(len(tree.weights[self.opponent])), 0)

    def best_response_value(self) -> float:
        """Return the opponent's best-response value in the larger game, in its unit."""
        engine = CpuBoardEngine.from_average(self.tree, self.table, self.threads)
        return engine.expected_value(self.opponent, respond=True) * self.tree.per_chip

    def _copy(self, tree: BoardTree, table: Array, part: BettingSubtree, below: int = 0) -> None:
        """Copy the player's half of a solution, from a node of the larger game on."""
        copy_strategy(tree, table, self.tree, self.table, self._own_decisions(tree, part, below))

    def _own_decisions(self, tree: BoardTree, part: BettingSubtree, below: int) -> list[tuple[int, int]]:
        """List the player's decisions below a node of the larger game, as nodes of both forests."""
        nodes, last = part.origin[tree.forest.node], self.extended_game.whole.betting.end[below]
        own = np.flatnonzero((tree.forest.actor == self.player) & (below <= nodes) & (nodes < last))
        return [(node, int(self.forest_index[nodes[node]])) for node in own.tolist()]

    def _decisions(self, betting_round: BettingRound, part: BettingSubtree, below: int) -> list[tuple[int, int]]:
        """List the opponent's decisions below a node that have an added action, with the node after that action."""
        last = int(self.extended_game.whole.betting.end[below])
        own = np.flatnonzero(betting_round.actor == self.opponent).tolist()
        decisions = [(n, int(part.origin[betting_round.node[n]])) for n in own]
        extended = [(n, self.added_child.get(node, -1)) for n, node in decisions if below <= node < last]
        return [(n, child) for n, child in extended if child >= 0 and child not in part.origin]

    def _gift_at(self, betting_round: BettingRound, node: int, initial_gifts: Array) -> Array:
        """Return the value that the opponent gave up on the path to a node, given its hand. float64 [rows]"""
        gift = initial_gifts.copy()
        for parent, child in betting_round.path(node) if self.method.gifts else ():
            if betting_round.actor[parent] == self.opponent:
                before, after = (betting_round.cbv(self.opponent, n) for n in (parent, child))
                gift += np.maximum(before - after, 0.0)
        return gift

    def _subgame_betting(self, node: int, child: int) -> BettingSubtree:
        """Return the betting of a subgame: after the added action, or from the decision on including that action."""
        betting = self.extended_game.whole.betting
        root = node if self.method.expensive else child
        removed = [n for n in self.extended_game.added if root < n < betting.end[root] and n != child]
        return extract_betting_subtree(betting, root, removed)

    def _subgame(
        self, betting_round: BettingRound, node: int, gift: Array, part: BettingSubtree, board: tuple[int, ...] | None
    ) -> BoardSubgame | None:
        """Return the subgame with its gadget, or None if no pair of hands reaches it."""
        method, opponent = self.method, self.opponent
        ranges = betting_round.root_ranges(node, opponent, gadget=bool(method.gadget))
        if ranges is None:
            return None
        gadget = None
        if method.gadget:
            cbv = betting_round.cbv(opponent, node)
            limits = cbv if method.limited else None
            gadget = make_gadget(betting_round, method, opponent, cbv + gift, limits=limits)
        return _make_part(self.extended_game.whole, part, ranges, gadget, board)

    def _record_margins(self, betting_round: BettingRound, node: int, engine: BoardEngine, share: float) -> None:
        """Record the least margin of a solved subgame and its shortfall; `share` is the probability of its board."""
        self.num_solved += 1
        if not self.method.gadget:
            return
        margin, opponent = float(np.nanmin(engine.margins())), self.opponent
        self.least_margin = min(self.least_margin, margin * self.tree.per_chip)
        opponent_weight = betting_round.rows_to_hands(betting_round.opponent_weights(opponent)[node], opponent)
        weight = float(opponent_weight @ self.extended_game.whole.weights[opponent])
        self.shortfall += max(0.0, -margin) * share * weight / self.tree.total * self.tree.per_chip

    def _first_round(
        self, tree: BoardTree, table: Array, part: BettingSubtree, initial_gifts: Array, below: int
    ) -> None:
        """Solve a subgame for each off-tree bet before the flop below a node, then for those on the flop."""
        betting_round = BettingRound(tree, table, threads=self.threads)
        for node, child in self._decisions(betting_round, part, below):
            gift = self._gift_at(betting_round, node, initial_gifts)
            inner_betting = self._subgame_betting(int(part.origin[betting_round.node[node]]), child)
            game = self._subgame(betting_round, node, gift, inner_betting, None)
            if game is None:
                continue
            subgame_tree = self.extended_game.tree.with_game(game)
            solver = BoardCFR(subgame_tree, self.schedule, threads=self.threads, dtype=self.dtype)
            solve_gadget(solver, self.iterations)
            self._record_margins(betting_round, node, solver.engine, 1.0)
            self._copy(subgame_tree, solver.averages, inner_betting, child)
            gifts = self._root_gifts(betting_round, node, gift, BettingRound(subgame_tree, solver.averages))
            self._first_round(subgame_tree, solver.averages, inner_betting, gifts, child)
        last = int(self.extended_game.whole.betting.end[below])
        forest_indices = forest_index(tree)
        for node in betting_round.leaves:
            if not below <= part.origin[betting_round.node[node]] < last:
                continue
            root = int(forest_indices[int(betting_round.node[node]) + 1])
            gift, rounds, board_gifts = self._gift_at(betting_round, node, initial_gifts), {}, {}
            for b in self.boards:
                first, second = (betting_round.reach[p][node][_rows_on_parent(tree, b, p)] for p in (0, 1))
                start = SubtreeStart(b, root, (first, second))
                rounds[b] = BettingRound(tree, table, start, engine=betting_round.engine)
                board_gifts[b] = gift[_rows_on_parent(tree, b, self.opponent)]
            self._last_round(rounds, part, board_gifts, below)

    def _root_gifts(self, betting_round: BettingRound, node: int, gift: Array, inner: BettingRound) -> Array:
        """Return the gifts at the root of a subgame: after the added action, the value it gave up is added."""
        if self.method.expensive or not self.method.gifts:
            return gift
        added_gift: Array = np.maximum(betting_round.cbv(self.opponent, node) - inner.cbv(self.opponent, 0), 0.0)
        return gift + added_gift

    def _last_round(
        self, rounds: dict[int, BettingRound], part: BettingSubtree, gifts: dict[int, Array], below: int
    ) -> None:
        """Solve a subgame for each off-tree bet on the flop below a node, on all boards in one batch."""
        if not rounds:
            return
        first_round = next(iter(rounds.values()))
        for node, child in self._decisions(first_round, part, below):
            inner_betting = self._subgame_betting(int(part.origin[first_round.node[node]]), child)
            shape = make_shape(inner_betting.betting, 1, int(self.extended_game.tree.rows.max()))
            round_gifts = {b: self._gift_at(betting_round, node, gifts[b]) for b, betting_round in rounds.items()}
            games = {
                b: self._subgame(betting_round, node, round_gifts[b], inner_betting, self.boards[b].game.board)
                for b, betting_round in rounds.items()
            }
            trees = {b: self.boards[b].with_game(game, shape) for b, game in games.items() if game is not None}
            if not trees:
                continue
            batch = CpuBatchEngine(list(trees.values()), parse_table_format(self.dtype), threads=self.threads)
            self._iterate_batch(batch)
            inner_rounds = {}
            deals = self.extended_game.tree.deals
            for (b, tree), engine in zip(trees.items(), batch.engines, strict=True):
                betting_round, table = rounds[b], engine.read("average")
                share = float(deals.chance[b]) * int(deals.member_start[b + 1] - deals.member_start[b])
                self._record_margins(betting_round, node, engine, share)
                for source, target in self._own_decisions(tree, inner_betting, child):
                    decision_view(self.tree, self.table, b, target)[:] = decision_view(tree, table, 0, source)
                inner_rounds[b] = BettingRound(tree, table, engine=engine)
            if self._decisions(next(iter(inner_rounds.values())), inner_betting, child):
                inner_gifts = {
                    b: self._root_gifts(rounds[b], node, round_gifts[b], betting_round)
                    for b, betting_round in inner_rounds.items()
                }
                self._last_round(inner_rounds, inner_betting, inner_gifts, child)

    def _iterate_batch(self, batch: CpuBatchEngine) -> None:
        """Solve a batch of subgames; gadgets with limits are adapted on the way."""
        steps, done = schedule_rows(self.schedule, 0, 0.0, self.iterations)[0], 0
        for time in check_times(self.iterations) if self.method.limited else (self.iterations,):
            batch.iterate(steps[done:time])
            done = time
            for engine in batch.engines if time < self.iterations else ():
                engine.adjust_gadget()


def _rows_on_parent(tree: BoardTree, board: int, player: int) -> Array:
    """Return, for each row (class of hands) of a player on a board, its row on the parent board. int [rows]"""
    start = int(tree.boards.up_at[board, player])
    return tree.boards.up[start : start + int(tree.boards.rows[board, player])]


def solve_nested(
    extended_game: ExtendedGame,
    base: Array,
    method: str | FlopMethod,
    player: int,
    *,
    boards: dict[int, BoardTree] | None = None,
    iterations: int = 100,
    schedule: str | ScheduleOrFactory = BOARD_SCHEDULE,
    dtype: str = "float32",
    threads: int = 1,
) -> NestedSolver:
    """Build a player's strategy for the larger game: the base strategy, and nested subgames after off-tree bets.

    `base` is a table of the abstraction's tree. The solver's `table` is the result, for the game in which only the
    opponent has the added actions.
    """
    nested_method = parse_method(method, NESTED_METHODS, "nested method")
    if base.dtype != np.dtype(parse_table_format(dtype).average):
        raise InputError(
            f"{extended_game.tree.name}: base has dtype {base.dtype}, which differs from the averages of dtype {dtype!r}"
        )
    trees = extended_game.board_trees() if boards is None else boards
    solver = NestedSolver(extended_game, player, nested_method, iterations, parse(schedule), dtype, threads, trees)
    solver.build(base)
    return solver


# --- action translation -------------------------------------------------------------------------


class TranslatedLine(NamedTuple):
    """A line of the abstraction that the real line may be translated to."""

    node: int  # node of the abstraction's betting
    reach: Array  # probability of this translation and of the player's actions, float64 [rows]


def translate_strategy(
    extended_game: ExtendedGame, base: Array, player: int, mapping: str = "rand-pshar"
) -> tuple[BoardTree, Array]:
    """Translate a player's base strategy to the game in which its opponent has all actions; return its tree and table.

    `mapping` is one of `abstraction.actions.translation`.
    """
    tree, part = extended_game.opponent_game(1 - player)
    engine = CpuBoardEngine.from_average(extended_game.tree, base)
    table = np.zeros(tree.table_size + 16, base.dtype)
    forest_indices = [forest_index(t) for t in (tree, extended_game.tree)]
    added = {int(n) for n in np.flatnonzero(np.isin(part.origin, extended_game.added))}  # nodes of the opponent's game

    def visit(node: int, board: int, lines: list[TranslatedLine]) -> None:
        betting, abstract_betting = tree.betting, extended_game.tree.betting
        actor = int(betting.actor[node])
        line_children = [list(abstract_betting.children(line.node)) for line in lines]
        if actor == CHANCE:
            for child_board in range(tree.street_start[1], tree.street_start[2]) if board == 0 else ():
                parent_rows = _rows_on_parent(tree, child_board, player)
                visit(node + 1, child_board, [TranslatedLine(line.node + 1, line.reach[parent_rows]) for line in lines])
        elif actor == player:
            strategies = np.array([engine.average_strategy(board, int(forest_indices[1][line.node])) for line in lines])
            reaches = np.array([line.reach for line in lines])[:, None, :]
            played = (reaches * strategies).sum(axis=0)
            mixture = safe_divide(played, reaches.sum(axis=0), strategies.mean(axis=0))
            decision_view(tree, table, board, int(forest_indices[0][node]))[:] = mixture
            for k, child in enumerate(betting.children(node)):
                reach = [line.reach * strategies[i, k] for i, line in enumerate(lines)]
                visit(child, board, [TranslatedLine(line_children[i][k], reach[i]) for i in range(len(lines))])
        elif actor >= 0:
            children = list(betting.children(node))
            known_children = [child for child in children if child not in added]
            for child in children:
                child_lines = []
                for k, weight in _translation_probabilities(betting, node, child, known_children, mapping).items():
                    pairs = zip(lines, line_children, strict=True)
                    child_lines += [TranslatedLine(below[k], line.reach * weight) for line, below in pairs]
                visit(child, board, child_lines)

    visit(0, 0, [TranslatedLine(0, np.ones(int(tree.rows[0, player])))])
    return tree, table


def _translation_probabilities(
    betting: BettingTree, node: int, child: int, old: list[int], mapping: str
) -> dict[int, float]:
    """Return the probability that the bet to `child` is translated to each known action, by its index in `old`."""
    if child in old:
        return {old.index(child): 1.0}
    highest = float(betting.spent[node].max())
    size = {move: (float(betting.spent[move].max()) - highest) / (2 * highest) for move in (*old, child)}
    bets = [k for k, move in enumerate(old) if size[move] > 0]
    probabilities = translation_probabilities(mapping, [size[old[k]] for k in bets], size[child])
    return {bets[k]: weight for k, weight in probabilities.items()}
