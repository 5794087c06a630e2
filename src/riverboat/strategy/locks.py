"""Locked nodes of a spot, as the walk over boards wants them."""

from __future__ import annotations

from typing import Any

import numpy as np

from riverboat.games.base import Array
from riverboat.games.spot import Spot, check_locks
from riverboat.trees.boards import BoardTree

FREE = -1.0  # a row that is not locked


def lock_arrays(tree: BoardTree, dtype: Any) -> tuple[Array, Array]:
    """Where strategies are fixed, and to what: `Tables.lock` and `Tables.locked`. Later locks go over earlier ones."""
    game = tree.game
    if not isinstance(game, Spot) or not game.locks:
        return np.zeros((0, 3), np.int32), np.zeros(0, dtype)
    check_locks(game)
    place_of = {int(node): n for n, node in enumerate(tree.forest.node)}
    found: dict[tuple[int, int], Array] = {}
    for lock in game.locks:
        at, dealt = tree.betting.find(lock.line, game.joiner)
        boards, maps = tree.deals.locate(dealt)
        node, board = place_of[at], boards[-1]
        who, moves = int(tree.forest.actor[node]), tree.betting.moves(at)
        rows = int(tree.boards.rows[board, who])
        held = np.ones(rows, bool)
        if lock.hands is not None:
            # the symmetries of the tree keep the lock's hands, so one hand speaks for its row
            back = np.empty(len(maps[-1]), np.int64)
            back[maps[-1]] = np.arange(len(back))
            held = lock.hands.weights[back[tree.reps(board, who)]] > 0
        chances = dict(lock.strategy)
        table = found.setdefault((board, node), np.full((len(moves), rows), FREE))
        table[:, held] = np.array([[chances.get(move, 0.0)] for move in moves])
    index, start = [], 0
    for (board, node), table in sorted(found.items()):
        index.append((board, node, start))
        start += table.size
    return np.array(index, np.int32), np.concatenate([t.ravel() for _, t in sorted(found.items())]).astype(dtype)
