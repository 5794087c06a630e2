"""From a game to the tree that solvers walk."""

from __future__ import annotations

from riverboat.errors import InputError
from riverboat.games.base import Game, HistoryGame, PublicGame
from riverboat.trees.history import HistoryTree, unroll
from riverboat.trees.public import PublicTree

# Unrolling a public tree stores every pair of hands apart; past this many histories it is refused.
MAX_HISTORIES = 50_000_000


def compile_game(game: Game) -> PublicTree | HistoryTree:
    """A `PublicTree` where the game has public states and hands, else a `HistoryTree`."""
    if isinstance(game, PublicGame):
        return PublicTree(game)
    if isinstance(game, HistoryGame):
        return HistoryTree.from_game(game)
    raise InputError(f"{type(game).__name__} is no game; see docs/your-own-game.md for what it must answer")


def histories(tree: PublicTree | HistoryTree) -> HistoryTree:
    """The tree history by history, where that is small enough."""
    if isinstance(tree, HistoryTree):
        return tree
    size = len(tree.nodes.actor) * tree.hand_counts[0] * tree.hand_counts[1]
    if size > MAX_HISTORIES:
        raise InputError(
            f"{tree.name}: about {size:,} histories, more than {MAX_HISTORIES:,}: too many for the sequence form; "
            f"use a CFR schedule on the public tree"
        )
    return unroll(tree)
