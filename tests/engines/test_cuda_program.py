"""Programs for a GPU: grouped roots of the last street do the same as separate ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np

from riverboat.engines.cuda._kernels.node import (
    OP_OPPONENT_DOWN,
    OP_OPPONENT_UP,
    OP_OWN_DOWN,
    OP_OWN_UP,
    OP_ROOT_REACH,
    OP_ROOT_VALUES,
    OP_TERMINALS,
)
from riverboat.engines.cuda.layout import _street_roots
from riverboat.engines.cuda.program import NodeSlots, ProgramBuilder, StreetProgramBuilder
from riverboat.games.spots.spot import Spot
from riverboat.trees.boards import BoardTree

SPOT = Spot.make(board="AsKd7c4h", pot=100, stack=450, bets="50%", raises="3x,a", oop="AA,KK", ip="QQ,JJ")
WRITTEN: dict[int, Callable[[tuple[int, ...]], Iterable[int]]] = {  # positions of the slots that an operation writes
    OP_ROOT_REACH: lambda op: (op[1], op[1] + 1, op[4], op[4] + 1),
    OP_OWN_DOWN: lambda op: range(op[2], op[2] + op[3]),
    OP_OPPONENT_DOWN: lambda op: range(op[2], op[2] + op[3]),
    OP_OWN_UP: lambda op: (op[1],),
    OP_OPPONENT_UP: lambda op: (op[1],),
}


def steps(together: bool, me: int) -> tuple[ProgramBuilder, StreetProgramBuilder]:
    """Return a player's program on a river for all roots in one group, or for each root separately."""
    shape = BoardTree(SPOT).shape
    roots, programs = list(enumerate(_street_roots(shape, 1))), ProgramBuilder("float64")
    street, sources = (
        StreetProgramBuilder(programs, shape, 1, me, 0),
        [NodeSlots(3 * k, 3 * k + 1, 3 * k) for k, _ in roots],
    )
    for some in [roots] if together else [[root] for root in roots]:
        street.compile_last_roots(some, sources)
    return programs, street


def test_grouped_roots() -> None:
    for me in (0, 1):
        (whole, side_by_side), (parts, alone) = steps(True, me), steps(False, me)
        assert side_by_side.max_slots == alone.max_slots  # no more slots than the largest root needs
        assert Counter(map(tuple, np.array(whole.pays).tolist())) == Counter(map(tuple, np.array(parts.pays).tolist()))
        kinds, before = (Counter(op[0] for op in programs.ops) for programs in (whole, parts))
        for kind in (OP_OWN_DOWN, OP_OPPONENT_DOWN, OP_OWN_UP, OP_OPPONENT_UP):
            assert kinds[kind] == before[kind] > 0
        for kind in (OP_TERMINALS, OP_ROOT_REACH, OP_ROOT_VALUES):
            assert kinds[kind] < before[kind]
        ends = {op[1 + 2 * k + 1] for op in whole.ops if op[0] == OP_ROOT_VALUES for k in range(3)}
        assert ends == set(range(len(_street_roots(side_by_side.shape, 1))))


def test_slots_are_read_after_they_are_written() -> None:
    programs, street = steps(True, 0)
    filled: set[int] = set()
    for op in programs.ops:
        if op[0] == OP_TERMINALS:
            assert filled.issuperset(op[4:8])
            filled.update(out for out, _ in programs.entries[op[1] : op[1] + op[2]])
        elif op[0] in (OP_OWN_DOWN, OP_OPPONENT_DOWN):
            assert op[1] in filled
        elif op[0] == OP_OWN_UP:
            assert filled.issuperset(range(op[2], op[2] + op[3]))
        elif op[0] == OP_OPPONENT_UP:
            assert filled.issuperset(programs.addends[op[3] : op[3] + op[2]])
        if op[0] in WRITTEN:
            filled.update(WRITTEN[op[0]](op))
        assert max(filled) < street.max_slots
