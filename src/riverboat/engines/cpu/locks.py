"""Locked nodes of a spot, as the walk over boards wants them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from riverboat.games.base import Array
from riverboat.games.boards.board_game import Dealt, every_deal
from riverboat.games.spots.spot import Spot
from riverboat.trees.boards import BoardTree

FREE = -1.0  # a row that is not locked


def lock_arrays(tree: BoardTree, dtype: Any) -> tuple[Array, Array]:
    """Where strategies are fixed, and to what: `lock` and `locked` of `BoardTables`. Later locks go over earlier ones."""
    game = tree.game
    if not isinstance(game, Spot) or not game.locks:
        return np.zeros((0, 3), np.int32), np.zeros(0, dtype)
    place_of = {int(node): n for n, node in enumerate(tree.forest.node)}
    tables: dict[tuple[int, int], Array] = {}
    for lock in game.locks:
        at, pattern = tree.betting.find(lock.line, game.joiner, any_card=True)
        node, moves = place_of[at], tree.betting.moves(at)
        who, chances = int(tree.forest.actor[node]), dict(lock.strategy)
        played = np.array([[chances.get(move, 0.0)] for move in moves])
        # The symmetries of the tree keep a lock's hands and the cards that it names. So one hand speaks for its row,
        # and of the boards that `*` stands for one of each class.
        for board, hands in _boards(tree, every_deal(pattern, game.board, game.deck.cards.tolist(), game.deals)):
            rows = int(tree.boards.rows[board, who])
            held = np.ones(rows, bool) if lock.hands is None else lock.hands.weights[hands[tree.reps(board, who)]] > 0
            table = tables.setdefault((board, node), np.full((len(moves), rows), FREE))
            table[:, held] = played
    index, start = [], 0
    for (board, node), table in sorted(tables.items()):
        index.append((board, node, start))
        start += table.size
    return np.array(index, np.int32), np.concatenate([t.ravel() for _, t in sorted(tables.items())]).astype(dtype)


def _boards(tree: BoardTree, dealt: Iterable[Dealt]) -> Iterator[tuple[int, Array]]:
    """The boards that stand for some deals, each once, and the hand as it was dealt for each hand there. int64 [1326]"""
    seen: set[int] = set()
    for deal in dealt:
        boards, maps = tree.deals.locate(deal)
        if boards[-1] not in seen:
            seen.add(boards[-1])
            back = np.empty(len(maps[-1]), np.int64)
            back[maps[-1]] = np.arange(len(back))
            yield boards[-1], back
