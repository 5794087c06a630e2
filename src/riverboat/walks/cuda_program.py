"""What a block of threads does on a board of a street, as a list of small steps, laid out beforehand.

Vectors lie in slots. At a decision each move gets a slot: it holds the reach of who moves, and when everything behind the
move is done, my values there take its place. Terminals wait until their values are needed, so that several are paid at once;
what the opponent's terminals pay is summed in one slot. On the last street slots are used again as soon as they are
free; on the streets before, the way up comes later, so all slots of a board stay.

A step is seven numbers, the first of which says what is done (`_cuda_node_kernels`):

    ARRIVE       slot of my reach, of the opponent's; where they come from on the board before
    DOWN_MINE    slot of the reach, first slot behind, moves, row of the tables, node
    DOWN_THEIRS  the same
    PAY          first vector, how many
    UP_MINE      slot of the value, first slot of the moves, moves, row of the tables, node, first weight of a move
    UP_THEIRS    slot of the value, first addend, how many
    FINISH       slot of a root's value, number of the root: for the board before
    REPORT       slot, place in the result: for who asks
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.games.base import CHANCE, TERMINAL, Array
from riverboat.trees.streets import Shape
from riverboat.walks._cuda_kernels import Program
from riverboat.walks._cuda_node_kernels import (
    ARRIVE,
    DOWN_MINE,
    DOWN_THEIRS,
    ENTRIES,
    FINISH,
    PAY,
    SIDE,
    UP_MINE,
    UP_THEIRS,
    WIDE,
)
from riverboat.walks.rooms import scale_of

REPORT = FINISH + 1


class Place(NamedTuple):
    """Slots at a node: my reach, the opponent's, and where my value goes."""

    own: int
    opp: int
    home: int


class Span(NamedTuple):
    """Steps of a piece: the first, the end of the way down, the end."""

    first: int
    middle: int
    end: int


class Wait(NamedTuple):
    """A terminal that is not paid yet."""

    vector: int  # slot of the opponent's reach
    out: int
    node: int
    owner: int  # the decision that needs it


class Programs:
    """Steps for all shapes, streets and players, as they are added."""

    def __init__(self, work: str, side: int = SIDE, stakes: float = 0.0) -> None:
        self.work, self.side, self.stakes = work, side, stakes
        self.weights: list[float] = []
        self.ops: list[tuple[int, ...]] = []
        self.vectors: list[tuple[int, int, int]] = []
        self.entries: list[tuple[int, int]] = []
        self.pays: list[Array] = []
        self.addends: list[int] = []

    def arrays(self) -> Program:
        """As the device reads them."""
        vectors = [*self.vectors, (0, 0, len(self.entries))]
        return Program(
            np.array([*self.ops, [0] * WIDE], np.int32).ravel(),
            np.array(vectors, np.int32).ravel(),
            np.array(self.entries, np.int32).ravel(),
            np.array(self.pays, self.work).ravel(),
            np.array([*self.addends, 0], np.int32),
            np.array([*self.weights, 1, 1, 1], self.work),
        )

    def emit(self, *numbers: int) -> None:
        """Add a step."""
        self.ops.append((*numbers, *[0] * (WIDE - len(numbers))))


class Street:
    """Steps of one street of a shape, for one player."""

    def __init__(self, programs: Programs, shape: Shape, street: int, me: int, offset: int) -> None:
        self.programs, self.shape, self.me, self.offset = programs, shape, me, offset
        self.forest, self.first = shape.forest, street == 0
        self.exits: dict[int, Place] = {}  # of each exit, by its number
        self.top = self.most = 0  # slots in use, and at most so far
        self.scale = scale_of(shape.betting)
        self.waiting: list[Wait] = []
        self.written: set[int] = set()

    # --- pieces -----------------------------------------------------------------------------

    def stays(self, root: int, source: Place | None) -> tuple[Span, Place]:
        """A root of a street before the last: the steps down, those up, and its slots."""
        emit, ops = self.programs.emit, self.programs.ops
        first = len(ops)
        here = self._arrive(source)
        later: list[tuple[int, ...]] = []
        self._down(root, here, later)
        while self.waiting:
            self._pay(self.waiting[0].owner)
        middle = len(ops)
        for step in later:
            emit(*step)
        if self.first:
            self._report(root, here)
        return Span(first, middle, len(ops)), here

    def passes(self, roots: list[tuple[int, int]], sources: list[Place] | None) -> Span:
        """Roots of the last street, with their numbers: down and up."""
        emit, ops, actor = self.programs.emit, self.programs.ops, self.forest.actor
        first, side = len(ops), self.programs.side
        ends = [r for r in roots if actor[r[1]] == TERMINAL]
        groups = [[r] for r in roots if actor[r[1]] != TERMINAL]
        groups += [ends[k : k + side] for k in range(0, len(ends), side)]
        for group in groups:
            self.top = 0
            here = [self._arrive(None if sources is None else sources[number]) for number, _ in group]
            for (_, root), place in zip(group, here, strict=True):
                self._down(root, place, None)
            while self.waiting:
                self._pay(self.waiting[0].owner)
            for (number, root), place in zip(group, here, strict=True):
                if sources is None:
                    self._report(root, place)
                else:
                    emit(FINISH, place.home, number)
        return Span(first, len(ops), len(ops))

    def _arrive(self, source: Place | None) -> Place:
        own = self._take(2)
        self.programs.emit(ARRIVE, own, own + 1, *((0, 0) if source is None else (source.own, source.opp)))
        return Place(own, own + 1, own)

    def _report(self, root: int, here: Place) -> None:
        self.programs.emit(REPORT, here.home, 0)
        for k, slot in enumerate(self.move_slots):
            self.programs.emit(REPORT, slot, 1 + k)

    move_slots: tuple[int, ...] = ()  # of the values after each move at the root of a game

    def _take(self, count: int) -> int:
        first = self.top
        self.top += count
        self.written.difference_update(range(first, self.top))
        self.most = max(self.most, self.top)
        return first

    # --- nodes ------------------------------------------------------------------------------

    def _down(self, n: int, here: Place, later: list[tuple[int, ...]] | None) -> None:
        """The steps of a subtree. `later`: where steps up are collected; where None they follow at once, slots being
        free afterwards."""
        f, emit = self.forest, self.programs.emit
        if f.actor[n] == TERMINAL:
            self.waiting.append(Wait(here.opp, here.home, n, n))
            return
        if f.actor[n] == CHANCE:
            self.exits[int(f.slot[n])] = here
            return
        mine, width, top = int(f.actor[n]) == self.me, int(f.width[n]), self.top
        base = self._take(width)
        common = (width, int(f.slot[n]), n + self.offset)
        emit(DOWN_MINE if mine else DOWN_THEIRS, here.own if mine else here.opp, base, *common)
        children, child = [], n + 1
        for _ in range(width):
            children.append(child)
            child = int(f.end[child])
        ends = [c for c in children if f.actor[c] == TERMINAL]
        apart = self.first and n == f.root[0]  # there values are asked for after each move
        heap = -1 if mine or apart or not ends else self._take(1)
        slots = []
        for a, c in enumerate(children):
            place = Place(base + a, here.opp, base + a) if mine else Place(here.own, base + a, base + a)
            if f.actor[c] == TERMINAL:
                out = base + a if mine else self._take(1) if apart else heap
                self.waiting.append(Wait(place.opp, out, c, n))
                slots.append(out)
            else:
                self._down(c, place, later)
                slots.append(base + a)
        if later is None:
            while any(w.owner == n for w in self.waiting):
                self._pay(n)
        step: tuple[int, ...]
        if mine:
            step = (UP_MINE, here.home, base, *common, len(self.programs.weights))
            self.programs.weights.extend((f.share[children] ** self.programs.stakes).tolist())
        else:
            addends = list(dict.fromkeys(slots))
            step = (UP_THEIRS, here.home, len(self.programs.addends), len(addends))
            self.programs.addends.extend(addends)
        if later is None:
            emit(*step)
            self.top = top
        else:
            later.append(step)
        if apart:
            self.move_slots = tuple(slots)

    def _pay(self, owner: int) -> None:
        """Pay what an owner needs, and what else there is room for beside it."""
        order = sorted(self.waiting, key=lambda w: w.owner != owner)
        vectors = list(dict.fromkeys(w.vector for w in order))[: self.programs.side]
        order = [w for w in order if w.vector in vectors][:ENTRIES]
        vectors = [v for v in vectors if any(w.vector == v for w in order)]
        programs, betting = self.programs, self.shape.betting
        programs.emit(PAY, len(programs.vectors), len(vectors))
        for vector in vectors:
            some = [w for w in order if w.vector == vector]
            nodes = [int(self.forest.node[w.node]) for w in some]
            programs.vectors.append((vector, int(betting.showdown[nodes].any()), len(programs.entries)))
            for w, node in zip(some, nodes, strict=True):
                above, tie, under = (betting.pay[node, k, self.me] for k in ((0, 1, 2) if self.me == 0 else (2, 1, 0)))
                programs.entries.append((w.out, int(w.out in self.written)))
                programs.pays.append(np.array([above - tie, tie - under, under]) * self.scale)
                self.written.add(w.out)
        self.waiting = [w for w in self.waiting if w not in order]
