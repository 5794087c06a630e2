"""Action translation in two-round hold'em: bets that the base strategy does not know are read as bets that it knows.

The baseline that nested endgame solving is compared with. A bet between two known sizes is read as one of them at random, and
the hand goes on from there; what the player has read is its secret. Seen from outside, it mixes its answers to all that
it may have read, each as often as it would have come so far: that mixture is written into the table, so that its
exploitability is exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.abstraction.actions.translation import readings
from riverboat.engines.cpu.board_engine import BoardWalker
from riverboat.engines.tables import block
from riverboat.games.base import CHANCE, Array
from riverboat.games.boards.board_game import BettingTree
from riverboat.subgames.flop.nested import Larger
from riverboat.trees.boards import BoardTree


class Read(NamedTuple):
    """A line of the abstraction that the player may take the real one for."""

    node: int  # of the abstraction's betting
    reach: Array  # how often it has read so and come so far, float64 [rows]


def translate(larger: Larger, base: Array, player: int, mapping: str = "rand-pshar") -> tuple[BoardTree, Array]:
    """A player's strategy for the game in which its opponent has all moves, by a mapping of `abstraction.actions.translation`."""
    tree, part = larger.for_opponent(1 - player)
    walker = BoardWalker.reader(larger.tree, base)
    table = np.zeros(tree.table + 16, base.dtype)
    places = [_places(t) for t in (tree, larger.tree)]
    added = {int(n) for n in np.flatnonzero(np.isin(part.origin, larger.added))}  # in the opponent's game

    def visit(node: int, board: int, reads: list[Read]) -> None:
        betting, known = tree.betting, larger.tree.betting
        who = int(betting.actor[node])
        if who == CHANCE:
            for below in range(tree.street_at[1], tree.street_at[2]) if board == 0 else ():
                up = tree.boards.up[tree.boards.up_at[below, player] :][: tree.boards.rows[below, player]]
                visit(node + 1, below, [Read(read.node + 1, read.reach[up]) for read in reads])
        elif who == player:
            plays = np.array([walker.play(board, int(places[1][read.node])) for read in reads])
            came = np.array([read.reach for read in reads])[:, None, :]
            total = came.sum(axis=0)
            mixed = np.where(
                total > 0, (came * plays).sum(axis=0) / np.where(total > 0, total, 1.0), plays.mean(axis=0)
            )
            at, width, rows = block(tree, board, int(places[0][node]))
            table[at : at + width * rows] = mixed.ravel()
            for k, child in enumerate(betting.children(node)):
                after = [
                    Read(list(known.children(read.node))[k], read.reach * plays[i, k]) for i, read in enumerate(reads)
                ]
                visit(child, board, after)
        elif who >= 0:
            children = list(betting.children(node))
            old = [child for child in children if child not in added]
            for child in children:
                after = []
                for k, weight in _read_as(betting, node, child, old, mapping).items():
                    after += [Read(list(known.children(read.node))[k], read.reach * weight) for read in reads]
                visit(child, board, after)

    visit(0, 0, [Read(0, np.ones(int(tree.rows[0, player])))])
    return tree, table


def _places(tree: BoardTree) -> Array:
    """Where each node of the betting stands in the forest."""
    places = np.empty(len(tree.forest.node), np.int64)
    places[tree.forest.node] = np.arange(len(places))
    return places


def _read_as(betting: BettingTree, node: int, child: int, old: list[int], mapping: str) -> dict[int, float]:
    """Which of the known moves a move is read as, and how often."""
    if child in old:
        return {old.index(child): 1.0}
    before = float(betting.spent[node].max())
    size = {move: (float(betting.spent[move].max()) - before) / (2 * before) for move in (*old, child)}
    bets = [k for k, move in enumerate(old) if size[move] > 0]
    chances = readings(mapping, [size[old[k]] for k in bets], size[child])
    return {bets[k]: weight for k, weight in chances.items()}
