"""Compile a game to the tree that solvers traverse."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

from riverboat.core import plugins
from riverboat.core.arguments import ByteSize, checked
from riverboat.core.budget import ProgressListener, build_context
from riverboat.core.errors import InputError, RiverboatError, short_repr
from riverboat.games import tree_layout
from riverboat.games.base import Game, HistoryGame, PublicGame
from riverboat.games.boards.board_game import BoardGame
from riverboat.trees.boards import BoardTree
from riverboat.trees.history import HistoryTree, unroll
from riverboat.trees.public import PublicTree

AnyTree: TypeAlias = PublicTree | HistoryTree | BoardTree

# Unrolling a public tree stores every pair of hands separately; larger trees raise an InputError.
MAX_HISTORIES = 50_000_000
ESTIMATE_SECONDS, ESTIMATE_FACTOR = 0.4, 10.0  # time for an estimate of their number; how much too high it may be


def as_game(game: str | Game) -> Game:
    """Return a game, or the game that a name stands for, with the values of the smaller games that it needs.

    Parameters
    ----------
    game
        Game, or its name with options, such as `leduc`.

    Returns
    -------
    Game
        The game.

    Raises
    ------
    InputError
        If there is no such game, or the object is no game.

    Examples
    --------
    >>> as_game("leduc").name
    'leduc'
    """
    from riverboat.solvers.game_values import game as make_game  # see `UPWARD` in tests/test_layers.py

    return make_game(game)


def as_tree(game: str | Game | PublicTree | HistoryTree) -> PublicTree | HistoryTree:
    """Return the tree of a game, of a game by its name, or the tree itself.

    Parameters
    ----------
    game
        Game, its name with options, or a compiled tree.

    Returns
    -------
    PublicTree | HistoryTree
        The tree.

    Raises
    ------
    InputError
        If it is none of these.

    Examples
    --------
    >>> as_tree("leduc").infoset_count
    936
    """
    if isinstance(game, PublicTree | HistoryTree):
        return game
    return compile_game(as_game(game))


@checked
def compile_game(
    game: str | Game,
    *,
    constant_sum: bool = False,
    memory: ByteSize | None = None,
    progress: ProgressListener | None = None,
) -> PublicTree | HistoryTree:
    """Compile a game to a `PublicTree` if it has public states and hands, else to a `HistoryTree`.

    Parameters
    ----------
    game
        The game to compile, or its name with options.
    constant_sum
        Raise an error unless there are two players whose payoffs have a constant sum, as soon as this is known.
    memory
        Most bytes that the tree may take, such as 2GB; half of the free memory by default.
    progress
        Listener that receives progress reports while the tree is built.

    Returns
    -------
    PublicTree | HistoryTree
        The tree.

    Raises
    ------
    MemoryLimitError
        If the tree does not fit in memory.
    ZeroSumError
        If `constant_sum` is set and the payoffs have no constant sum.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.games.small.normal_form import rock_paper_scissors
    >>> type(compile_game(kuhn())).__name__, type(compile_game(rock_paper_scissors())).__name__
    ('PublicTree', 'HistoryTree')
    """
    made = as_game(game)
    if not isinstance(made, PublicGame | HistoryGame):
        raise InputError(f"{made.name}: has betting × boards instead of one tree: solve it with rb.solve")
    with build_context(progress, memory), _located_errors(made):
        if isinstance(made, PublicGame):
            return PublicTree(made)
        return HistoryTree.from_game(made, constant_sum=constant_sum)


@contextmanager
def _located_errors(game: Game) -> Iterator[None]:
    """Turn errors of a game's methods, and of what they return, into an InputError with file and line."""
    try:
        yield
    except (RiverboatError, MemoryError, RecursionError):
        raise
    except (ArithmeticError, AttributeError, LookupError, NotImplementedError, TypeError, ValueError) as error:
        root = game.root()
        if not hasattr(root, "actor"):
            raise InputError(
                f"game {game.name!r}: root() returns {short_repr(root)}: must be a state; see docs/your-own-game.md"
            ) from error
        raise InputError(
            f"game {game.name!r}: {type(error).__name__}: {error}{plugins.error_location(error)}; "
            "riverboat.testing.check_game finds mistakes of a game"
        ) from error


def solver_tree(game: Game, *, constant_sum: bool = False) -> AnyTree:
    """Compile a game to the tree that solves it fastest: betting × boards for hold'em, else `compile_game`.

    Parameters
    ----------
    game
        Game to compile.
    constant_sum
        Raise ZeroSumError unless there are two players whose payoffs have a constant sum.

    Returns
    -------
    AnyTree
        A `BoardTree` for hold'em, else a `PublicTree` or a `HistoryTree`.

    Raises
    ------
    MemoryLimitError
        If the tree does not fit in memory.

    Examples
    --------
    >>> from riverboat.games.small.poker import leduc
    >>> solver_tree(leduc()).infoset_count
    936
    """
    return BoardTree(game) if isinstance(game, BoardGame) else compile_game(game, constant_sum=constant_sum)


def to_history_tree(tree: PublicTree | HistoryTree) -> HistoryTree:
    """Unroll a tree into histories, if it is small enough.

    Parameters
    ----------
    tree
        Compiled game.

    Returns
    -------
    HistoryTree
        The tree of histories; the same object if it is one already.

    Raises
    ------
    MemoryLimitError
        If there are too many histories.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> to_history_tree(compile_game(kuhn())).infoset_count
    12
    """
    if isinstance(tree, HistoryTree):
        return tree
    _check_histories(tree.name, float(len(tree.nodes.actor)), tree.hand_counts)
    return unroll(tree)


def check_history_count(game: Game) -> None:
    """Raise an error for a public game with far too many histories, before its tree is built.

    The number is estimated from random lines through the game.

    Parameters
    ----------
    game
        Game to compile.

    Raises
    ------
    MemoryLimitError
        If the estimate is far above what fits in memory.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> check_history_count(kuhn())
    """
    if isinstance(game, PublicGame):
        nodes = tree_layout.estimate_num_nodes(game.root(), ESTIMATE_SECONDS)
        _check_histories(game.name, nodes / ESTIMATE_FACTOR, (len(game.hands[0]), len(game.hands[1])))


def _check_histories(name: str, nodes: float, hands: tuple[int, int]) -> None:
    """Raise InputError if a tree of `nodes` public nodes has more than MAX_HISTORIES histories when it is unrolled."""
    size = nodes * hands[0] * hands[1]
    if size > MAX_HISTORIES:
        raise InputError(
            f"{name}: {size:.2g} histories or more, at most {MAX_HISTORIES:,} are supported: too many for the sequence form; "
            f"use a CFR schedule on the public tree"
        )
