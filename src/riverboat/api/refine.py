"""`rb.refine`: refine a strategy in some subgames by a method of subgame solving.

refinement = refine(result, lines_after_chance("leduc"), "maxmargin")
refinement.strategy, refinement.endgames[0].margins
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from riverboat.core import validation
from riverboat.core.arguments import parse_count
from riverboat.core.errors import InputError, short_repr
from riverboat.games.base import Game
from riverboat.solvers.tabular.best_response import check_zero_sum
from riverboat.strategies.profiles import StrategyLike, as_strategy
from riverboat.strategies.tabular import Strategy, Tree
from riverboat.subgames.resolving import METHODS, GadgetSolver, lp_solver, refine_jointly, solve_gadget, splice_gadget
from riverboat.subgames.values import SubgameRootValues, subgame_gifts, subgame_root_values
from riverboat.trees.gadgets import TreeSubgame, check_disjoint, find_subgame
from riverboat.trees.public import PublicTree


@dataclass(frozen=True)
class SubgameMargins:
    """Margins of one subgame: the decrease of the opponent's value, by its hand.

    Attributes
    ----------
    endgame
        Line of the subgame, or names of its information sets.
    player
        The refined player.
    values
        CBV against the base strategy, given the hand.
    margins
        CBV against the base strategy minus CBV against the refined one.
    gifts
        Added to the margins by reach-maxmargin; otherwise zero.

    Examples
    --------
    >>> import riverboat as rb
    >>> strategy = rb.solve("leduc", iterations=20).strategy
    >>> margins = refine(strategy, "cc/Kh/", players=(0,)).endgames[0]
    >>> margins.player, len(margins.margins)
    (0, 5)
    """

    endgame: str
    player: int  # the refined player
    values: dict[str, float]  # CBV against the base strategy, given the hand
    margins: dict[str, float]  # CBV against the base strategy minus CBV against the refined one
    gifts: dict[str, float]  # added to the margins by reach-maxmargin; otherwise zero

    @property
    def least_margin(self) -> float:
        """Least margin over hands, gifts included."""
        return min((m + self.gifts[hand] for hand, m in self.margins.items()), default=0.0)


@dataclass(frozen=True, eq=False)
class Refinement:
    """A refined strategy, with the margins of its subgames.

    Attributes
    ----------
    strategy
        The refined strategy.
    method
        Name of the method.
    endgames
        Margins of each subgame, for each refined player.

    Examples
    --------
    >>> import riverboat as rb
    >>> refine(rb.solve("leduc", iterations=20).strategy, "cc/Kh/").method
    'maxmargin'
    """

    strategy: Strategy
    method: str
    endgames: tuple[SubgameMargins, ...]


def refine(
    base: StrategyLike,
    where: str | Iterable[str | Sequence[str]],
    method: str = "maxmargin",
    *,
    players: Sequence[int] = (0, 1),
    solver: GadgetSolver | int = lp_solver,
    game: str | Game | Tree | None = None,
) -> Refinement:
    """Refine a base strategy in some subgames by solving the gadget game of a method.

    Each subgame is refined as if the others did not exist. Each player is refined separately against the base strategy,
    so that the resulting profile is two refinements at once.

    Parameters
    ----------
    base
        Strategy to refine: a `Strategy`, a result that has one, the `Solution` of a small spot, a folder, or with `game` a
        mapping or a function (`Strategy.from_function`).
    where
        Subgames, which must not overlap: lines of a public tree (`lines_after_chance` lists them), or information
        sets of a history tree, where a tuple of several names is one subgame.
    method
        `unsafe` (no guarantee); `resolve`, `maxmargin` or `reach_maxmargin` [1]_ (never raise the exploitability if
        `solver` is exact); its later form with gifts split among subgames, `reach_maxmargin_split` [4]_ (the same
        guarantee); `reach_maxmargin_whole`, where each subgame spends whole gifts (safe for one subgame only); or
        `optimal`, all subgames at once with the rest fixed: the least that any refinement of them can concede.
    players
        Players whose strategies are refined.
    solver
        Function that solves a gadget game, or a number of iterations of DCFR, on vectors of hands if the tree has
        them.
    game
        Game of a mapping, of a function, or of a folder that cannot name it.

    Returns
    -------
    Refinement
        The refined strategy, and the margins of each subgame.

    Raises
    ------
    InputError
        If a subgame does not exist, two overlap, or the method is unknown.

    References
    ----------
    .. [1] Brown and Sandholm, "Safe and nested endgame solving for imperfect-information games", AAAI workshop 2017.
    .. [2] Burch, Johanson and Bowling, "Solving imperfect information games using decomposition", AAAI 2014.
    .. [3] Moravcik et al., "Refining subgames in large imperfect information games", AAAI 2016.
    .. [4] Brown and Sandholm, "Safe and nested subgame solving for imperfect-information games", NIPS 2017.

    Examples
    --------
    >>> import riverboat as rb
    >>> refinement = refine(rb.solve("leduc", iterations=20), "cc/Kh/")
    >>> bool(min(refinement.endgames[0].margins.values()) >= -1e-9)
    True
    """
    solver = _check_arguments(method, players, solver)
    base = as_strategy(base, game, "base")
    tree = base.tree
    check_zero_sum(tree)
    subgames = [find_subgame(tree, *names) for names in _parse_subgames(tree, where)]
    check_disjoint(subgames)
    table = np.array(base.probabilities, float)
    roots_of_players = []
    for player in players:
        roots = subgame_root_values(base, player, subgames)
        if method.startswith("reach_maxmargin"):
            gifts = subgame_gifts(base, player, subgames, roots, split=method == "reach_maxmargin_split")
            roots = [root._replace(gifts=gift) for root, gift in zip(roots, gifts, strict=True)]
        roots_of_players.append(roots)
        if method == "optimal":
            refine_jointly(base, player, subgames, solver, table)
            continue
        limited = method == "reach_maxmargin" and len(subgames) > 1
        for subgame, root in zip(subgames, roots, strict=True):
            solved = solve_gadget(base, subgame, player, method, root, solver, limited=limited)
            if solved is not None:
                splice_gadget(*solved, base, player, root, table)
    strategy = Strategy(tree, table, {**base.provenance, "refined": method, "endgames": len(subgames)})
    reports: list[SubgameMargins] = []
    for player, roots in zip(players, roots_of_players, strict=True):
        rows = zip(subgames, roots, subgame_root_values(strategy, player, subgames), strict=True)
        reports += [_measure_margins(subgame, player, before, after) for subgame, before, after in rows]
    return Refinement(strategy, method, tuple(reports))


def _check_arguments(method: object, players: object, solver: Any) -> GadgetSolver | int:
    """Raise `InputError` for an invalid argument; return the solver."""
    validation.check_text("method", method)
    validation.check_name("method", str(method), METHODS)
    if not isinstance(players, Sequence) or not players or any(p not in (0, 1) or isinstance(p, str) for p in players):
        raise InputError(f"players={short_repr(players)}: must be 0, 1 or both, in a tuple")
    if len(set(players)) < len(players):
        raise InputError(f"players={short_repr(players)}: each player at most once")
    if callable(solver) and not isinstance(solver, type):
        return cast("GadgetSolver", solver)
    return parse_count(solver, "solver", 1)


def _parse_subgames(tree: Tree, where: object) -> list[tuple[str, ...]]:
    """Return the names of each subgame; raise `InputError` if there are none."""
    entries = [where] if isinstance(where, str) else list(where) if isinstance(where, Iterable) else []
    names = [(e,) if isinstance(e, str) else tuple(e) if isinstance(e, Sequence) else () for e in entries]
    if not names or not all(entry and all(isinstance(name, str) for name in entry) for entry in names):
        example = "lines_after_chance(tree)" if isinstance(tree, PublicTree) else "the names of information sets"
        raise InputError(f"{tree.name}: where={short_repr(where)}: names no subgame; give {example}")
    return names


def _measure_margins(
    subgame: TreeSubgame, player: int, before: SubgameRootValues, after: SubgameRootValues
) -> SubgameMargins:
    names, hands = subgame.hands(1 - player), np.flatnonzero(before.weights > 0)
    by_hand = before.values, before.values - after.values, np.broadcast_to(before.gifts, before.values.shape)
    return SubgameMargins(subgame.name, player, *({names[h]: float(row[h]) for h in hands} for row in by_hand))
