"""From a game to the tree that solvers walk."""

from __future__ import annotations

from typing import TypeAlias

from riverboat.core.budget import Listener, heard
from riverboat.core.errors import InputError
from riverboat.games import tree_size
from riverboat.games.base import Game, HistoryGame, PublicGame
from riverboat.games.boards.board_game import BoardGame
from riverboat.trees.boards import BoardTree
from riverboat.trees.history import HistoryTree, unroll
from riverboat.trees.public import PublicTree

AnyTree: TypeAlias = PublicTree | HistoryTree | BoardTree

# Unrolling a public tree stores every pair of hands apart; past this many histories it is refused.
MAX_HISTORIES = 50_000_000
GUESSING, SURE = 0.4, 10.0  # seconds for a guess of their number; by what factor it may be too high


def compile_game(
    game: Game, *, constant_sum: bool = False, memory: int | None = None, progress: Listener | None = None
) -> PublicTree | HistoryTree:
    """A `PublicTree` where the game has public states and hands, else a `HistoryTree`.

    `constant_sum` refuses all but two players whose pay-offs have a constant sum, as soon as that is seen. It may take
    `memory` bytes, by default half of what is free; `progress` is told how it grows.
    """
    with heard(progress, memory):
        if isinstance(game, PublicGame):
            return PublicTree(game)
        if isinstance(game, HistoryGame):
            return HistoryTree.from_game(game, constant_sum=constant_sum)
    raise InputError(f"{type(game).__name__} is no game; see docs/your-own-game.md for what it must answer")


def solver_tree(game: Game, *, constant_sum: bool = False) -> AnyTree:
    """The tree that solves a game fastest: betting × boards for hold'em, else what `compile_game` gives."""
    return BoardTree(game) if isinstance(game, BoardGame) else compile_game(game, constant_sum=constant_sum)


def histories(tree: PublicTree | HistoryTree) -> HistoryTree:
    """The tree history by history, where that is small enough."""
    if isinstance(tree, HistoryTree):
        return tree
    _check_histories(tree.name, float(len(tree.nodes.actor)), tree.hand_counts)
    return unroll(tree)


def check_unrolled(game: Game) -> None:
    """Refuse a public game whose histories are far too many, before its tree is built: by random lines through it."""
    if isinstance(game, PublicGame):
        nodes = tree_size.size(game.root(), GUESSING)
        _check_histories(game.name, nodes / SURE, (len(game.hands[0]), len(game.hands[1])))


def _check_histories(name: str, nodes: float, hands: tuple[int, int]) -> None:
    size = nodes * hands[0] * hands[1]
    if size > MAX_HISTORIES:
        raise InputError(
            f"{name}: {size:.2g} histories or more, {MAX_HISTORIES:,} at most: too many for the sequence form; "
            f"use a CFR schedule on the public tree"
        )
