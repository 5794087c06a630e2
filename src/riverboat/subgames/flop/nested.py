"""Nested endgame solving in two-round hold'em: an answer of its own to every bet that the base strategy does not know.

The opponent may bet sizes that are not in the abstraction, the refined player answers each by solving what is left behind
it, with the sizes of the abstraction from there on; behind another such bet, again (Brown and Sandholm 2017). Before the
flop that is one endgame with all flops in it, on the flop one for each board.

*Inexpensive*: the endgame begins right behind the bet. What the bet may be worth at most is not known from the base, which
has no such bet; so the alternative is CBV(I), the best that the opponent's hand has without it. *Expensive*: the endgame
begins at the opponent's decision, the bet added to its moves; unsafe solving needs that. With a least margin that is not
negative the bet gains nothing with any hand, and the strategy stays as good in the larger game as it was in the abstraction.

A gift here is what the opponent gave up on the way, given its hand; it is the same behind all boards and all answers
of the refined player, so that they spend it once together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riverboat.core.errors import InputError, unknown
from riverboat.engines.cpu.batch_engine import BatchWalker
from riverboat.engines.cpu.board_engine import BoardWalker
from riverboat.engines.protocol import Start, Walker
from riverboat.engines.tables import block, copy_play, table_format
from riverboat.games.base import Array
from riverboat.games.boards.root_gadgets import Choose, RootGadget, Stop
from riverboat.games.boards.subtrees import BoardPart, Part, cut
from riverboat.solvers.boards.cfr import BOARD_SCHEDULE, BoardCFR, step_rows
from riverboat.solvers.schedules import AnySchedule, parse
from riverboat.subgames.flop.values import Round
from riverboat.trees.boards import NOWHERE, BoardTree
from riverboat.trees.streets import shape


@dataclass(frozen=True)
class NestedMethod:
    """A way to answer bets that are not in the abstraction."""

    title: str
    gadget: str = "choose"  # "", "stop" or "choose"
    gifts: bool = False
    expensive: bool = False


METHODS = {
    "resolve": NestedMethod("re-solve", "stop"),
    "unsafe_expensive": NestedMethod("unsafe, expensive", "", expensive=True),
    "maxmargin": NestedMethod("maxmargin"),
    "reach": NestedMethod("reach-maxmargin", gifts=True),
    "reach_expensive": NestedMethod("reach-maxmargin, expensive", gifts=True, expensive=True),
}


@dataclass(eq=False)
class Larger:
    """A game whose betting has moves that an abstraction does not have, and the trees that are needed of it.

    `added` are the nodes that those moves lead to. All trees share the boards of `tree`, that of the abstraction.
    """

    tree: BoardTree  # of the abstraction: its betting is `cut(betting, 0, added)`
    added: tuple[int, ...]
    betting: Part  # the abstraction's, out of the larger game's
    whole: BoardPart  # the larger game

    @staticmethod
    def of(game: BoardPart, added: Sequence[int]) -> Larger:
        """Build the tree of the abstraction."""
        if len(game.deals) != 1:
            raise InputError(f"{game.name}: {len(game.deals)} deals; nested endgames are those of two rounds")
        part = cut(game.betting, 0, added)
        tree = BoardTree(_part(game, part, game.weights))
        return Larger(tree, tuple(added), part, game)

    def for_opponent(self, opponent: int) -> tuple[BoardTree, Part]:
        """The game in which that player alone has the added moves."""
        betting = self.whole.betting
        above = np.full(len(betting.actor), -1)
        for node in range(len(betting.actor)):
            above[list(betting.children(node))] = node
        part = cut(betting, 0, [n for n in self.added if betting.actor[above[n]] != opponent])
        return self.tree.with_game(_part(self.whole, part, self.whole.weights)), part

    def board_trees(self) -> dict[int, BoardTree]:
        """A tree for each flop by itself, with the rows that it has in the others."""
        trees, street = {}, self.tree.street_at
        first = int(np.flatnonzero(self.whole.betting.street == 1)[0])
        part = cut(self.whole.betting, first)
        common = shape(part.betting, 1, int(self.tree.rows.max()))
        for b in range(street[1], street[2]):
            live = [np.zeros(len(w)) for w in self.whole.weights]
            for p in (0, 1):
                live[p][self.tree.row_of[b, p] != NOWHERE] = 1.0
            game = _part(self.whole, part, (live[0], live[1]), board=self.tree.deals.cards(b))
            trees[b] = BoardTree(game, common)
            if not np.array_equal(trees[b].row_of[0], self.tree.row_of[b]):
                raise InputError(f"{self.tree.name}: board {b} has other rows by itself")
        return trees


def _part(
    game: BoardPart,
    part: Part,
    weights: tuple[Array, Array],
    gadget: RootGadget | None = None,
    board: tuple[int, ...] | None = None,
) -> BoardPart:
    """A part of the larger game; with `board` that flop lies at its root, else it is dealt."""
    lies, deals = ((), game.deals) if board is None else (board, ())
    return BoardPart(game.whole, game.name, part.betting, weights, gadget, lies, deals)


@dataclass(eq=False)
class Nest:
    """One player's strategy for the larger game, put together answer by answer."""

    larger: Larger
    player: int
    method: NestedMethod
    iterations: int
    schedule: AnySchedule
    dtype: str
    threads: int
    boards: dict[int, BoardTree]
    least: float = np.inf  # margin of all gadgets, in the game's unit
    shortfall: float = (
        0.0  # the most that the opponent's best response may gain by margins below zero, in the game's unit
    )
    solved: int = 0  # endgames

    def __post_init__(self) -> None:
        self.opponent = 1 - self.player
        self.tree, self.part = self.larger.for_opponent(self.opponent)
        self.table = np.zeros(self.tree.table + 16, table_format(self.dtype).average)
        betting = self.larger.whole.betting
        self.place = np.full(len(betting.actor), -1)  # of the larger game's nodes in the forest of the opponent's
        self.place[self.part.origin[self.tree.forest.node]] = np.arange(len(self.tree.forest.node))
        added = set(self.larger.added)
        self.off = {n: c for n in range(len(betting.actor)) for c in betting.children(n) if c in added}

    def build(self, base: Array) -> None:
        """From the abstraction's strategy on."""
        tree, part = self.larger.tree, self.larger.betting
        self._copy(tree, base, part)
        begin = np.zeros(len(tree.weights[self.opponent]))
        self._first_round(tree, base, part, begin, 0)

    def earnings(self) -> float:
        """What the opponent's best response earns in the larger game, in its unit."""
        walker = BoardWalker.reader(self.tree, self.table, self.threads)
        return walker.earnings(self.opponent, respond=True) * self.tree.per_chip

    def _copy(self, tree: BoardTree, table: Array, part: Part, below: int = 0) -> None:
        """The player's half of a solution, from a node of the larger game on."""
        last = int(self.larger.whole.betting.end[below])
        pairs = [
            (here, int(self.place[node]))
            for here, node in enumerate(part.origin[tree.forest.node])
            if tree.forest.actor[here] == self.player and below <= node < last
        ]
        copy_play(tree, table, self.tree, self.table, pairs)

    def _decisions(self, at: Round, part: Part, below: int) -> list[tuple[int, int]]:
        """The opponent's decisions of a round behind a node where it has a move more, with the node that it leads to."""
        last = int(self.larger.whole.betting.end[below])
        decisions = [(n, int(part.origin[at.node[n]])) for n in range(at.count) if at.actor[n] == self.opponent]
        behind = [(n, self.off[node]) for n, node in decisions if below <= node < last and node in self.off]
        return [(n, child) for n, child in behind if child not in part.origin]

    def _gift(self, at: Round, node: int, begin: Array) -> Array:
        """What the opponent gave up until a node, given its hand. float64 [rows]"""
        gift = begin.copy()
        for above, child in at.path(node) if self.method.gifts else ():
            if at.actor[above] == self.opponent:
                gift += np.maximum(at.cbv(self.opponent, above) - at.cbv(self.opponent, child), 0.0)
        return gift

    def _root(self, node: int, child: int) -> Part:
        """The betting of an endgame: behind the added move, or from the decision on with that move."""
        betting = self.larger.whole.betting
        root = node if self.method.expensive else child
        last = int(betting.end[root])
        return cut(betting, root, [n for n in self.larger.added if root < n < last and n != child])

    def _game(self, at: Round, node: int, gift: Array, part: Part, board: tuple[int, ...] | None) -> BoardPart | None:
        """The endgame with its gadget, or None where nobody meets."""
        who, met = self.opponent, at.meets(self.opponent)[node]
        ranges = [at.hands(at.reach[p][node], p) for p in (0, 1)]
        if not (met * (at.reach[who][node] if not self.method.gadget else 1.0) > 0).any():
            return None
        gadget: RootGadget | None = None
        if self.method.gadget:
            ranges[who] = np.where(at.hands(np.ones(len(met)), who) > 0, self.larger.whole.weights[who], 0.0)
            worth = at.cbv(who, node)
            if self.method.gadget == "stop":
                gadget = Stop(who, at.hands(worth, who))
            else:
                gadget = Choose(who, at.hands(worth + gift, who))
        return _part(self.larger.whole, part, (ranges[0], ranges[1]), gadget, board)

    def _note(self, at: Round, node: int, walker: Walker, share: float) -> None:
        """Keep the margins of an endgame; `share` is how often its board is dealt."""
        self.solved += 1
        if not self.method.gadget:
            return
        margin, who = float(np.nanmin(walker.margins())), self.opponent
        self.least = min(self.least, margin * self.tree.per_chip)
        weight = float(at.hands(at.meets(who)[node], who) @ self.larger.whole.weights[who])
        self.shortfall += max(0.0, -margin) * share * weight / self.tree.total * self.tree.per_chip

    def _first_round(self, tree: BoardTree, table: Array, part: Part, begin: Array, below: int) -> None:
        """Bets before the flop behind a node, then those on the flop."""
        at = Round(tree, table, threads=self.threads)
        for node, child in self._decisions(at, part, below):
            gift = self._gift(at, node, begin)
            inner = self._root(int(part.origin[at.node[node]]), child)
            game = self._game(at, node, gift, inner, None)
            if game is None:
                continue
            endgame = self.larger.tree.with_game(game)
            solver = BoardCFR(endgame, self.schedule, threads=self.threads, dtype=self.dtype)
            solver.step(self.iterations)
            self._note(at, node, solver.walker, 1.0)
            self._copy(endgame, solver.averages, inner, child)
            self._first_round(
                endgame, solver.averages, inner, self._onwards(at, node, gift, Round(endgame, solver.averages)), child
            )
        last = int(self.larger.whole.betting.end[below])
        place = {int(node): k for k, node in enumerate(tree.forest.node)}
        for node in at.exits:
            if not below <= part.origin[at.node[node]] < last:
                continue
            root, gift, rounds, gifts = place[int(at.node[node]) + 1], self._gift(at, node, begin), {}, {}
            for b in self.boards:
                up = [tree.boards.up[tree.boards.up_at[b, p] :][: tree.boards.rows[b, p]] for p in (0, 1)]
                reach = at.reach[0][node][up[0]], at.reach[1][node][up[1]]
                rounds[b], gifts[b] = (
                    Round(tree, table, Start(b, root, reach), walker=at.walker),
                    gift[up[self.opponent]],
                )
            self._last_round(rounds, part, gifts, below)

    def _onwards(self, at: Round, node: int, gift: Array, inner: Round) -> Array:
        """Gifts at the root of an endgame: behind the added move, what that move gave up is one more."""
        if self.method.expensive or not self.method.gifts:
            return gift
        more: Array = np.maximum(at.cbv(self.opponent, node) - inner.cbv(self.opponent, 0), 0.0)
        return gift + more

    def _last_round(self, rounds: dict[int, Round], part: Part, gifts: dict[int, Array], below: int) -> None:
        """Bets on the flop behind a node, on all boards side by side."""
        if not rounds:
            return
        like = next(iter(rounds.values()))
        for node, child in self._decisions(like, part, below):
            inner = self._root(int(part.origin[like.node[node]]), child)
            common = shape(inner.betting, 1, int(self.larger.tree.rows.max()))
            given = {b: self._gift(at, node, gifts[b]) for b, at in rounds.items()}
            games = {b: self._game(at, node, given[b], inner, self.boards[b].game.board) for b, at in rounds.items()}
            trees = {b: self.boards[b].with_game(game, common) for b, game in games.items() if game is not None}
            if not trees:
                continue
            batch = BatchWalker(list(trees.values()), table_format(self.dtype), threads=self.threads)
            batch.learn(step_rows(self.schedule, 0, 0.0, self.iterations)[0])
            deeper = {}
            deals = self.larger.tree.deals
            for (b, tree), walker in zip(trees.items(), batch.walkers, strict=True):
                at, table = rounds[b], walker.read("average")
                share = float(deals.chance[b]) * int(deals.member[b + 1] - deals.member[b])
                self._note(at, node, walker, share)
                self._copy_board(b, tree, table, inner, child)
                deeper[b] = Round(tree, table, walker=walker)
            if self._decisions(next(iter(deeper.values())), inner, child):
                further = {b: self._onwards(rounds[b], node, given[b], at) for b, at in deeper.items()}
                self._last_round(deeper, inner, further, child)

    def _copy_board(self, board: int, tree: BoardTree, table: Array, part: Part, below: int) -> None:
        last = int(self.larger.whole.betting.end[below])
        for here, node in enumerate(part.origin[tree.forest.node]):
            if tree.forest.actor[here] == self.player and below <= node < last:
                at, width, rows = block(tree, 0, here)
                to, _, _ = block(self.tree, board, int(self.place[node]))
                self.table[to : to + width * rows] = table[at : at + width * rows]


def nest(
    larger: Larger,
    base: Array,
    method: str | NestedMethod,
    player: int,
    *,
    boards: dict[int, BoardTree] | None = None,
    iterations: int = 100,
    schedule: str | AnySchedule = BOARD_SCHEDULE,
    dtype: str = "float32",
    threads: int = 1,
) -> Nest:
    """A player's strategy for the larger game: the base where it has an answer, nested endgames where it has none."""
    if isinstance(method, str) and method not in METHODS:
        raise unknown("nested method", method, METHODS)
    if base.dtype != np.dtype(table_format(dtype).average):
        raise InputError(f"{larger.tree.name}: a base of {base.dtype}, and dtype {dtype!r} has other averages")
    chosen = METHODS[method] if isinstance(method, str) else method
    known = larger.board_trees() if boards is None else boards
    built = Nest(larger, player, chosen, iterations, parse(schedule), dtype, threads, known)
    built.build(base)
    return built
