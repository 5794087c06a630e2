"""Endgames of two-round hold'em that begin after the first round of betting and before the flop is dealt.

Every endgame is solved apart with all cards, through the gadget of a method, and the refined player's half of the solution is
written over the base strategy. Brown and Sandholm's experiments (2017) are made so: the base is the solution of an
abstraction, the whole strategy's exploitability is exact.

Reach-maxmargin comes in two forms. In the later one the opponent's gifts on the way are added to what it may get in the
endgame. In the paper's own one the margin sits at the opponent's first decision on the path, where all that it gave up
since is part of the margin: hand I weighs N(I) / N(I') there. With the improvement a hand that is *covered*, since a move
off the path is worth more to it whatever happens there, needs no margin beyond safety: its margin counts `COVER` times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from riverboat.core.errors import InputError, unknown
from riverboat.engines.devices import CPU
from riverboat.engines.tables import copy_play
from riverboat.games.base import Array
from riverboat.games.boards.root_gadgets import Choose, RootGadget, Stop
from riverboat.games.boards.subtrees import BoardPart, Part, cut
from riverboat.solvers.boards.cfr import BOARD_SCHEDULE, BoardCFR
from riverboat.solvers.schedules import AnySchedule
from riverboat.subgames.flop.values import Round
from riverboat.trees.boards import BoardTree

COVER = 20.0  # how often a margin counts that only safety asks for: the larger, the closer to asking for no more


@dataclass(frozen=True)
class Method:
    """A way to solve endgames again."""

    title: str
    gadget: str = "choose"  # what stands at the root: "", "stop" or "choose"
    gifts: str = ""  # "", "split" or "whole"
    earlier: bool = False  # margins sit at the opponent's first decision on the path
    improved: bool = False  # no margin beyond safety for hands that are covered

    @property
    def safe(self) -> bool:
        """Whether exploitability cannot rise, whatever other endgames do."""
        return bool(self.gadget) and self.gifts != "whole"


METHODS = {
    "unsafe": Method("unsafe", gadget=""),
    "resolve": Method("re-solve", gadget="stop"),
    "maxmargin": Method("maxmargin"),
    "reach": Method("reach-maxmargin", gifts="whole", earlier=True, improved=True),
    "reach_split": Method("reach-maxmargin, gifts split", gifts="split", earlier=True, improved=True),
    "reach_plain": Method("reach-maxmargin without the improvement", gifts="whole", earlier=True),
    "gifts_split": Method("reach-maxmargin, later form, split", gifts="split"),
    "gifts_whole": Method("reach-maxmargin, later form, not split", gifts="whole"),
}


@dataclass(frozen=True)
class Solved:
    """One endgame, solved for one player or, without a gadget, for both."""

    line: str
    player: int | None
    exploitability: float  # of the gadget's solution, in the game's unit
    allowance: (
        float  # the most by which that may raise what the opponent's best response earns in the game; 0 if unsafe
    )
    margin: float  # the least margin over hands, gifts included, in the game's unit; NaN without a gadget


@dataclass(frozen=True, eq=False)
class FlopRefinement:
    """A table for the whole game, and how its endgames were solved."""

    tree: BoardTree
    table: Array
    endgames: tuple[Solved, ...]

    def allowance(self, player: int) -> float:
        """The most by which the opponent of `player` may gain, by what the gadgets' solutions lack. In the game's unit."""
        return sum(solved.allowance for solved in self.endgames if solved.player == player)

    @property
    def least_margin(self) -> float:
        """Over all endgames, in the game's unit; NaN without gadgets."""
        return min((solved.margin for solved in self.endgames if solved.player is not None), default=float("nan"))


def refine_flop(
    base: Round,
    method: str | Method,
    *,
    iterations: int = 200,
    players: Sequence[int] = (0, 1),
    lines: Sequence[str] | None = None,
    schedule: str | AnySchedule = BOARD_SCHEDULE,
    dtype: str = "float32",
    threads: int = 1,
    device: str = CPU,
    progress: Callable[[Solved], None] | None = None,
) -> FlopRefinement:
    """The base strategy with its endgames solved again, each by itself, for each of `players` against the base.

    `lines` are those before the flop whose endgames are solved; all of them without it. Hands that the base strategy never
    brings to an endgame get a strategy too. On a GPU (`device`) solutions are the same to rounding.
    """
    chosen = _method(method)
    exits = [n for n in base.exits if lines is None or base.line(n) in lines]
    if lines is not None and len(exits) < len(set(lines)):
        missing = sorted(set(lines) - {base.line(n) for n in base.exits})
        raise unknown("line before the flop", missing[0], [base.line(n) for n in base.exits])
    if len(base.tree.game.deals) != 1:
        raise InputError(f"{base.tree.name}: {len(base.tree.game.deals)} deals; endgames before the flop need one")
    table, solved = base.table.copy(), []
    for node in exits:
        for player in players if chosen.gadget else (None,):
            part, tree, unit = endgame(base, node, chosen, player)
            if tree is None:
                continue
            solver = BoardCFR(tree, schedule, threads=threads, dtype=dtype, device=device)
            solver.step(iterations)
            exploitability, margin = solver.quality().exploitability, float("nan")
            if player is not None:
                margins = solver.walker.margins()
                margin = float(np.nanmin(margins)) * tree.per_chip
            allowance = 2 * exploitability * unit
            solved.append(Solved(base.line(node), player, exploitability, allowance, margin))
            splice(base.tree, table, tree, solver.averages, part, players if player is None else (player,))
            if progress is not None:
                progress(solved[-1])
    return FlopRefinement(base.tree, table, tuple(solved))


def _method(method: str | Method) -> Method:
    if isinstance(method, Method):
        return method
    if method not in METHODS:
        raise unknown("method", method, METHODS)
    return METHODS[method]


def endgame(base: Round, node: int, method: Method, player: int | None) -> tuple[Part, BoardTree | None, float]:
    """The endgame behind an exit as a game of its own: its betting, its tree, and what one unit of it is in the whole game.

    No tree where nobody ever meets there. The unit turns what the opponent gains in the gadget into what it gains at most
    in the game.
    """
    tree = base.tree
    part = cut(tree.betting, int(base.node[node]))
    gadget, unit = None, 0.0
    ranges = [base.hands(base.reach[p][node], p) for p in (0, 1)]
    if player is not None:
        opponent = 1 - player
        ranges[opponent] = np.array(tree.game.weights[opponent])
        if not (base.meets(opponent)[node] > 0).any():
            return part, None, 0.0
        gadget, unit = _gadget(base, node, method, opponent)
    elif not (base.reach[0][node] * base.meets(0)[node]).any():
        return part, None, 0.0
    name = f"{tree.name} after {base.line(node)!r}"
    game = BoardPart(tree.game, name, part.betting, (ranges[0], ranges[1]), gadget, tree.game.board, tree.game.deals)
    return part, tree.with_game(game), unit


def _gadget(base: Round, node: int, method: Method, opponent: int) -> tuple[RootGadget, float]:
    tree = base.tree
    met, value = base.meets(opponent)[node], base.best(opponent)[node]
    dealt = tree.weights[opponent] * tree.row_hands[opponent]
    if method.gadget == "stop":
        return Stop(opponent, base.hands(base.cbv(opponent, node), opponent)), float(dealt @ met) / tree.total
    if method.gifts:
        value = value + base.gifts(opponent, node, split=method.gifts == "split")
    root = base.earliest(opponent, node) if method.earlier else node
    weight = base.meets(opponent)[root]
    times = np.where(base.covered(opponent, node), COVER, 1.0) if method.improved else np.ones_like(met)
    some = met > 0
    per = np.where(some, times / np.where(some, weight, 1.0), 0.0)
    gadget = Choose(opponent, base.hands(value * per, opponent), base.hands(met * per, opponent))
    return gadget, float(dealt @ weight) / tree.total


def splice(
    whole: BoardTree, table: Array, tree: BoardTree, solution: Array, part: Part, players: Sequence[int]
) -> None:
    """Write what some players do in a part into the table of the whole game."""
    place = np.empty(len(whole.forest.node), np.int64)  # of each node of the betting in the forest
    place[whole.forest.node] = np.arange(len(whole.forest.node))
    pairs = [
        (here, int(place[part.origin[tree.forest.node[here]]]))
        for here in range(len(tree.forest.node))
        if tree.forest.actor[here] in players
    ]
    copy_play(tree, solution, whole, table, pairs)
