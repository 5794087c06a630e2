"""Compiled search for what the moves at places lead to: in the real game, and in the tree that values are of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import kernel, part
from riverboat.core.arrays import Array
from riverboat.games.holdem._kernels.betting import FOLDED, GOING, SHOWDOWN, begin, step
from riverboat.games.holdem.actions import END
from riverboat.strategies._kernels.line import IN_STEP, OFF_TREE, dealt, onward

NOTHING, FOLDS, SHOWS, GOES_ON = 0, 1, 2, 3  # what a move leads to; SHOWS: hands are compared on a board that lies


class Rows(NamedTuple):
    """Where the values of the nodes of a tree lie."""

    after: Array  # int32 [nodes]: by the buckets of the street of the move that leads there; -1: none
    begin: Array  # int32 [nodes]: by the buckets of the street that it begins; -1: none


class Moves(NamedTuple):
    """The moves at n places and what follows them."""

    move: Array  # int32 [n, columns]; END behind the last
    kind: Array  # int8 [n, columns]: NOTHING …
    stake: Array  # int64 [n, columns]: after a fold, what seat 0 wins; else what a showdown wins
    spent: Array  # int64 [n, columns, 2]
    after: Array  # int64 [n, columns]: row of values before cards come; -1: half the pot each
    begin: Array  # int64 [n, columns]: row of values once the next round is dealt; -1


@part
def row_after(tree, rows, node, street):
    """The row of a node, if its buckets are those of this street."""
    if node == OFF_TREE or tree.parent[node] < 0 or tree.street[tree.parent[node]] != street:
        return np.int64(-1)
    return np.int64(rows.after[node])


@kernel
def locate(
    book,  # Book
    tree,  # Tree of `_follow_kernels`
    reader,  # Reader, of a mapping that draws nothing
    rows,  # Rows
    root,  # the node of the first decision; OFF_TREE (-1) where there are no values
    moves,  # int32 [n, most]: lines
    length,  # int32 [n]
    out,  # Moves INOUT: `move` is given
):
    """What the moves at places lead to, in the real game and in the tree of values."""
    for i in range(len(length)):
        s, node, off = begin(book), np.int64(root), np.int64(IN_STEP)
        for k in range(length[i]):
            move, street = np.int64(moves[i, k]), s.street
            ways = onward(book, tree, reader, node, off, s, move, False)
            node, off = (ways.node, ways.off) if ways.chance >= 0.5 else (ways.other_node, ways.other_off)
            s = step(book, s, move)
            node, off = dealt(tree, node, off, street, s.street)
        for c in range(out.move.shape[1]):
            move = np.int64(out.move[i, c])
            out.kind[i, c], out.after[i, c], out.begin[i, c] = NOTHING, -1, -1
            if move == END:
                continue
            ways = onward(book, tree, reader, node, off, s, move, False)
            child, way = (ways.node, ways.off) if ways.chance >= 0.5 else (ways.other_node, ways.other_off)
            t = step(book, s, move)
            stake = min(t.spent0, t.spent1)
            out.spent[i, c, 0], out.spent[i, c, 1], out.stake[i, c] = t.spent0, t.spent1, stake
            if t.over == FOLDED:
                out.kind[i, c], out.stake[i, c] = FOLDS, -stake if t.turn == 0 else stake
                continue
            if t.over == SHOWDOWN and s.street == len(book.first) - 1:
                out.kind[i, c] = SHOWS
                continue
            out.kind[i, c], out.after[i, c] = GOES_ON, row_after(tree, rows, child, s.street)
            if t.over == GOING and t.street != s.street:
                fresh, _ = dealt(tree, child, way, s.street, t.street)
                if fresh != OFF_TREE and tree.street[fresh] == t.street:
                    out.begin[i, c] = rows.begin[fresh]
