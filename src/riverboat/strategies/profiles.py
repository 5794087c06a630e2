"""Strategy profiles of games on trees, from every form in which a user may hold one.

Functions that compute on a tree take a `Strategy`, a result that has one, the `Solution` of a small spot, a mapping or a
function with its game, or a folder. `as_strategy` makes one `Strategy` of all of these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import comb
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from riverboat.core import validation
from riverboat.core.errors import InputError, short_repr
from riverboat.games.base import Game
from riverboat.games.boards.board_game import UnrolledBoardGame
from riverboat.strategies import files
from riverboat.strategies.blueprint import Blueprint
from riverboat.strategies.mapping import StrategyMapping, unwrap
from riverboat.strategies.solution import Solution
from riverboat.strategies.tabular import Probabilities, Strategy, Tree
from riverboat.trees.compile import as_game, compile_game
from riverboat.trees.history import HistoryTree
from riverboat.trees.public import Infoset, PublicTree

MAX_PUBLIC_NODES = 20_000  # of a spot whose solution becomes a strategy on a tree

# A strategy, a result with one, a mapping from information sets, a function of the information set, or a folder.
StrategyLike: TypeAlias = (
    StrategyMapping[Any] | Mapping[str, Mapping[str, float]] | Callable[[Infoset], Probabilities] | str | Path | Any
)


def as_strategy(strategy: StrategyLike, game: str | Game | Tree | None = None, name: str = "strategy") -> Strategy:
    """Return a strategy of a game on a tree.

    Parameters
    ----------
    strategy
        A `Strategy`; a result that has one; the `Solution` of a spot that is small enough for a tree; the folder of a
        strategy; or, with `game`, a mapping `{information set: {action: probability}}` or a function of the `Infoset`
        (`Strategy.from_function`).
    game
        Game of a mapping, of a function, or of a folder that cannot name it.
    name
        Name of the argument, for messages.

    Returns
    -------
    Strategy
        The strategy.

    Raises
    ------
    InputError
        If it is none of these, or its game is not known.

    Examples
    --------
    >>> as_strategy({"K:": {"r": 1.0}}, "kuhn")["K:"]
    {'c': 0.0, 'r': 1.0}
    """
    validation.check_text("name", name)
    found = unwrap(strategy)
    if game is not None and isinstance(found, StrategyMapping):
        game_of(game)  # raises if there is no such game
    if isinstance(found, Strategy):
        return found
    if isinstance(found, Solution):
        return _unroll_solution(found)
    if isinstance(found, Blueprint) or isinstance(getattr(found, "strategy", None), Blueprint):
        raise InputError(
            f"{name}={short_repr(strategy)}: is a blueprint, whose game is too large for a tree; agents that search "
            "refine it (default?search=river), and riverboat.opponents responds to it"
        )
    if isinstance(found, str | Path):
        validation.check_path(name, found)
        return files.load_strategy(found, game_of(game))
    if isinstance(found, Mapping) or (callable(found) and not isinstance(found, type)):
        if game is None:
            raise InputError(f"{name}={short_repr(strategy)}: a mapping or a function needs game=…, its game")
        return Strategy.from_mapping(game, found) if isinstance(found, Mapping) else Strategy.from_function(game, found)
    raise InputError(
        f"{name}={short_repr(strategy)}: must be a strategy, a result, the folder of one, or with game=… a mapping from "
        "information sets to probabilities, or a function of the information set"
    )


def game_of(game: str | Game | Tree | None) -> Game | None:
    """Return a game, also by its name or from its tree.

    Parameters
    ----------
    game
        Game, its name, its tree, or None.

    Returns
    -------
    Game or None
        The game; None if there is none, or the tree does not know it.

    Examples
    --------
    >>> game_of("leduc").name
    'leduc'
    """
    if game is None or isinstance(game, PublicTree | HistoryTree):
        return getattr(game, "game", None)
    return as_game(game)


def _unroll_solution(solution: Solution) -> Strategy:
    """Return the solution of a spot as a strategy on the tree of all its boards; payoffs are shifted to sum to zero."""
    solution.check_complete()
    source = solution.tree.game
    left, boards = len(source.deck.cards) - len(source.board), [1]
    for cards in source.deals:
        boards.append(boards[-1] * comb(left, cards))
        left -= cards
    nodes = sum(boards[street] for street in source.betting.street.tolist())
    if nodes > MAX_PUBLIC_NODES:
        raise InputError(
            f"{source.name}: {nodes:,} public nodes on all boards, at most {MAX_PUBLIC_NODES:,} become a tree; agents that "
            "search refine hold'em (default?search=river), and riverboat.subgames.flop_refinement.refine_flop its flops"
        )
    game = UnrolledBoardGame.zero_sum(source)
    tree = compile_game(game)
    assert isinstance(tree, PublicTree)
    table = Strategy.uniform(tree).probabilities.copy()
    for node in np.flatnonzero(tree.nodes.actor >= 0).tolist():
        player, first = int(tree.nodes.actor[node]), int(tree.nodes.data[node])
        rows = solution[tree.line(node)].strategy[:, game.hand_indices[player]]
        rows = np.where(np.isnan(rows), 1.0 / len(rows), rows)
        tree.player_tables(table)[player][first : first + len(rows)] = rows
    return Strategy(tree, table, solution.provenance)
