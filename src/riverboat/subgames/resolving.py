"""Refining a strategy in its endgames: unsafe, re-solve, maxmargin, reach-maxmargin.

Each endgame is solved apart from the base strategy alone, so several can be refined in any order or at once. The safe
methods then never raise the exploitability of either player's half:

- the opponent's value V'(I) in an endgame, for each of its hands I, stays at or below CBV(I) (re-solve, maxmargin), so that
  all its values on the way down stay at or below those against the base strategy;
- reach-maxmargin lets V'(I) rise by the hand's gift. Gifts are split among the endgames behind them, so that again
  CBV'(I') ≤ CBV(I') at every decision of the opponent on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from riverboat.core import validation
from riverboat.core.errors import InputError, shown, unknown
from riverboat.games.base import CHANCE, TERMINAL, Array
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.tabular.best_response import check_zero_sum
from riverboat.solvers.tabular.cfr import CFR
from riverboat.solvers.tabular.state_values import ranges_at
from riverboat.strategies.tabular import Strategy, Tree
from riverboat.subgames.maxmargin import choose_hand
from riverboat.subgames.values import Entry, entries, gifts, history_reach
from riverboat.trees.compile import histories
from riverboat.trees.gadgets import (
    Endgame,
    Gadget,
    check_apart,
    endgame_at,
    locked_gadget,
    maxmargin_gadget,
    resolve_gadget,
    unsafe_gadget,
)
from riverboat.trees.public import PublicTree

METHODS = ("unsafe", "resolve", "maxmargin", "reach_maxmargin", "optimal")
Solver = Callable[[Tree], Strategy]


@dataclass(frozen=True)
class Margins:
    """One endgame of one player: how much less the opponent can get there than before, by its hand."""

    endgame: str
    player: int  # whose strategy was refined
    values: dict[str, float]  # CBV against the base strategy, given the hand
    margins: dict[str, float]  # CBV against the base strategy minus CBV against the refined one
    gifts: dict[str, float]  # what may be added to the margin; zeros but for reach-maxmargin

    @property
    def least(self) -> float:
        """The least margin, gifts added."""
        return min((m + self.gifts[hand] for hand, m in self.margins.items()), default=0.0)


@dataclass(frozen=True, eq=False)
class Refinement:
    """A refined strategy and what it gained where."""

    strategy: Strategy
    method: str
    endgames: tuple[Margins, ...]


def lp_solver(tree: Tree) -> Strategy:
    """An exact equilibrium of a gadget."""
    return solve_lp(tree).strategy


def refine(
    base: Strategy,
    where: str | Iterable[str | Sequence[str]],
    method: str = "maxmargin",
    *,
    players: Sequence[int] = (0, 1),
    solver: Solver | int = lp_solver,
    split: bool = True,
) -> Refinement:
    """A base strategy with its play in some endgames replaced by a solution of the method's gadget.

    `where` names the endgames: lines of a public tree (`after_chance` lists them), or information sets of a history
    tree, where a tuple of several names is one endgame (`endgame_at`). They must not overlap; each is refined as if the
    others did not exist. Each player in `players` is refined by itself against the base strategy, so that the profile
    is two refinements at once.

    The methods are `unsafe` (no guarantee), `resolve`, `maxmargin` and `reach_maxmargin` (never raise the exploitability
    when `solver` is exact), and `optimal`, which needs the whole tree: all endgames at once with the rest fixed, the
    least that any refinement of them can concede. `solver` gives an equilibrium of a gadget; a number means as many
    iterations of DCFR, on vectors of hands where the tree has them. `split=False` gives every endgame whole gifts,
    which is safe for one endgame only.
    """
    _check_arguments(base, method, players, solver)
    tree = base.tree
    check_zero_sum(tree)
    names = _named(tree, where)
    parts = [endgame_at(tree, *name) for name in names]
    check_apart(parts)
    table = np.array(base.probabilities, float)
    entered: list[tuple[int, list[Entry], list[Array]]] = []
    for player in players:
        known = entries(base, player, parts)
        none = [np.zeros_like(entry.values) for entry in known]
        added = gifts(base, player, parts, known, split=split) if method == "reach_maxmargin" else none
        entered.append((player, known, added))
        if method == "optimal":
            _optimal(base, player, parts, solver, table)
            continue
        for part, entry, gift in zip(parts, known, added, strict=True):
            solved = _solve(base, part, player, method, entry, gift, solver)
            if solved is not None:
                _splice(*solved, base, player, entry, table)
    strategy = Strategy(tree, table, {**base.provenance, "refined": method, "endgames": len(parts)})
    reports = [
        _margins(part, player, entry, after, gift)
        for player, known, added in entered
        for part, entry, after, gift in zip(parts, known, entries(strategy, player, parts), added, strict=True)
    ]
    return Refinement(strategy, method, tuple(reports))


def _check_arguments(base: object, method: object, players: object, solver: object) -> None:
    """Raise InputError where an argument is of another kind."""
    if not isinstance(base, Strategy):
        raise InputError(
            f"base={shown(base)}: rb.refine takes strategies of games that are compiled to a tree (Kuhn, Leduc, Bluff, "
            "Gambit files, …), as rb.solve returns them in result.strategy; hold'em is refined by "
            "riverboat.subgames.flop.refinement.refine_flop and by agents that search, such as default?search=river"
        )
    validation.text("method", method)
    if method not in METHODS:
        raise unknown("method", str(method), METHODS)
    if not isinstance(players, Sequence) or not players or any(p not in (0, 1) for p in players):
        raise InputError(f"players={shown(players)}: must be 0, 1 or both, in a tuple")
    if not callable(solver):
        validation.whole("solver", solver, 1)


def _named(tree: Tree, where: object) -> list[tuple[str, ...]]:
    """The names of each endgame; raises InputError where there are none."""
    listed = [where] if isinstance(where, str) else list(where) if isinstance(where, Iterable) else []
    names = [(each,) if isinstance(each, str) else tuple(each) if isinstance(each, Sequence) else () for each in listed]
    if not names or not all(each and all(isinstance(name, str) for name in each) for each in names):
        example = "after_chance(tree)" if isinstance(tree, PublicTree) else "the names of information sets"
        raise InputError(f"{tree.name}: where={shown(where)}: no endgame is named; give {example}")
    return names


def after_chance(tree: PublicTree, event: int = 1) -> list[str]:
    """The lines right after the given public chance event, counted from 1: the starts of a round of betting."""
    if not isinstance(tree, PublicTree):
        raise InputError(f"{tree.name}: lines need a public game; name information sets instead")
    actor, lines = tree.nodes.actor, []
    work = [(0, 0)]
    while work:
        node, seen = work.pop()
        if seen < event:
            step = seen + (actor[node] == CHANCE)
            work += [(child, step) for child in reversed(list(tree.children(node)))]
        elif actor[node] != TERMINAL:
            lines.append(tree.line(node))
    return lines


def _solve(
    base: Strategy, part: Endgame, player: int, method: str, entry: Entry, gift: Array, solver: Solver | int
) -> tuple[Gadget, Strategy] | None:
    """The method's gadget and its solution; None where the base strategy never comes and nothing here matters."""
    if not (entry.weights > 0).any():
        return None
    if method in ("maxmargin", "reach_maxmargin"):
        shifts = entry.values + _tame(part.tree, gift, entry.weights > 0)
        if isinstance(solver, int) and isinstance(part.tree, PublicTree):
            return choose_hand(part, player, entry.reach, shifts, solver)
        gadget = maxmargin_gadget(part, player, entry.reach, shifts)
    elif method == "resolve":
        gadget = resolve_gadget(part, player, entry.reach, entry.values)
    elif isinstance(part.tree, PublicTree):
        ranges = ranges_at(base, part.name)
        meet = (part.tree.deal.joint() > 0) & (ranges[0][:, None] > 0) & (ranges[1] > 0)
        if not meet.any():
            return None
        gadget = unsafe_gadget(part, ranges)
    else:
        reach = history_reach(base, -1)[part.roots]
        if not (reach > 0).any():
            return None
        gadget = unsafe_gadget(part, reach)
    return gadget, _run(solver, gadget.tree)


def _run(solver: Solver | int, tree: Tree) -> Strategy:
    if not isinstance(solver, int):
        return solver(tree)
    cfr = CFR(tree, "dcfr")
    cfr.step(solver)
    return cfr.average()


def _tame(tree: Tree, gift: Array, held: Array) -> Array:
    """Gifts with the same solutions, none of them large.

    A hand that is hardly ever met has a gift beyond all pay-offs. What is common to all hands changes nothing; and nor does
    what exceeds the least gift by twice the range of the pay-offs, since another hand's margin is then always smaller.
    """
    side = tree.sides[0]
    span = 2 * max(float(np.abs(side.pay).max(initial=0.0)), float(np.abs(side.matrix).max(initial=0.0)))
    above: Array = gift - gift[held].min()
    return above.clip(0.0, 2 * span)


def _splice(gadget: Gadget, solved: Strategy, base: Strategy, player: int, entry: Entry, table: Array) -> None:
    """Write the player's half of a gadget's solution into the table of the whole game.

    Hands with which the base strategy never comes here are no part of the gadget, and keep what they had.
    """
    tree, origin = base.tree, gadget.origin
    mine = np.zeros(tree.table, bool)
    if isinstance(tree, PublicTree):
        tree.views(mine)[player][:, entry.reach > 0] = True
    else:
        for infoset in tree.infosets():
            if infoset.player == player:
                mine[infoset.offset : infoset.offset + len(infoset.actions)] = True
    use = (origin >= 0) & mine[origin]
    table[origin[use]] = solved.probabilities[use]


def _optimal(base: Strategy, player: int, parts: Sequence[Endgame], solver: Solver | int, table: Array) -> None:
    """All endgames at once, on the whole tree with the player bound outside."""
    tree = base.tree
    flat = histories(tree)
    place = flat.origin if flat.origin is not None and flat is not tree else np.arange(flat.table)
    inside = np.zeros(tree.table, bool)  # the player's places in the endgames
    for part in parts:
        for node in np.flatnonzero(part.inside & (tree.nodes.actor == player)):
            first, width = int(tree.nodes.data[node]), int(tree.nodes.width[node])
            if isinstance(tree, PublicTree):
                tree.views(inside)[player][first : first + width] = True
            else:
                inside[first : first + width] = True
    own = np.flatnonzero(flat.nodes.actor == player)
    free = np.zeros(len(flat.nodes.actor), bool)
    free[own] = inside[place[flat.nodes.data[own]]]
    gadget = locked_gadget(flat, base.probabilities[place], player, free)
    solved = _run(solver, gadget.tree)
    use = gadget.origin >= 0
    use[use] = inside[place[gadget.origin[use]]]
    table[place[gadget.origin[use]]] = solved.probabilities[use]


def _margins(part: Endgame, player: int, before: Entry, after: Entry, gift: Array) -> Margins:
    names = part.hands(1 - player)
    held = np.flatnonzero(before.weights > 0)
    return Margins(
        part.name,
        player,
        {names[h]: float(before.values[h]) for h in held},
        {names[h]: float(before.values[h] - after.values[h]) for h in held},
        {names[h]: float(gift[h]) for h in held},
    )
