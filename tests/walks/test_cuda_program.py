"""Programs for a GPU: roots of the last street that go together do what each would do alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np

from riverboat.engines.cuda._kernels.node import ARRIVE, DOWN_MINE, DOWN_THEIRS, FINISH, PAY, UP_MINE, UP_THEIRS
from riverboat.engines.cuda.layout import _roots
from riverboat.engines.cuda.program import Place, Programs, Street
from riverboat.games.spots.spot import Spot
from riverboat.trees.boards import BoardTree

SPOT = Spot.make(board="AsKd7c4h", pot=100, stack=450, bets="50%", raises="3x,a", oop="AA,KK", ip="QQ,JJ")
WRITTEN: dict[
    int, Callable[[tuple[int, ...]], Iterable[int]]
] = {  # slots that a step writes: where they are among its numbers
    ARRIVE: lambda op: (op[1], op[1] + 1, op[4], op[4] + 1),
    DOWN_MINE: lambda op: range(op[2], op[2] + op[3]),
    DOWN_THEIRS: lambda op: range(op[2], op[2] + op[3]),
    UP_MINE: lambda op: (op[1],),
    UP_THEIRS: lambda op: (op[1],),
}


def steps(together: bool, me: int) -> tuple[Programs, Street]:
    """What a player does on a river behind all roots, and behind one after the other."""
    shape = BoardTree(SPOT).shape
    roots, programs = list(enumerate(_roots(shape, 1))), Programs("float64")
    street, sources = Street(programs, shape, 1, me, 0), [Place(3 * k, 3 * k + 1, 3 * k) for k, _ in roots]
    for some in [roots] if together else [[root] for root in roots]:
        street.passes(some, sources)
    return programs, street


def test_roots_that_go_together() -> None:
    for me in (0, 1):
        (whole, side_by_side), (parts, alone) = steps(True, me), steps(False, me)
        assert side_by_side.most == alone.most  # no more slots than the longest needs
        assert Counter(map(tuple, np.array(whole.pays).tolist())) == Counter(map(tuple, np.array(parts.pays).tolist()))
        kinds, before = (Counter(op[0] for op in programs.ops) for programs in (whole, parts))
        for kind in (DOWN_MINE, DOWN_THEIRS, UP_MINE, UP_THEIRS):
            assert kinds[kind] == before[kind] > 0
        for kind in (PAY, ARRIVE, FINISH):
            assert kinds[kind] < before[kind]
        ends = {op[1 + 2 * k + 1] for op in whole.ops if op[0] == FINISH for k in range(3)}
        assert ends == set(range(len(_roots(side_by_side.shape, 1))))


def test_slots_are_read_after_they_are_written() -> None:
    programs, street = steps(True, 0)
    filled: set[int] = set()
    for op in programs.ops:
        if op[0] == PAY:
            assert filled.issuperset(op[4:8])
            filled.update(out for out, _ in programs.entries[op[1] : op[1] + op[2]])
        elif op[0] in (DOWN_MINE, DOWN_THEIRS):
            assert op[1] in filled
        elif op[0] == UP_MINE:
            assert filled.issuperset(range(op[2], op[2] + op[3]))
        elif op[0] == UP_THEIRS:
            assert filled.issuperset(programs.addends[op[3] : op[3] + op[2]])
        if op[0] in WRITTEN:
            filled.update(WRITTEN[op[0]](op))
        assert max(filled) < street.most
