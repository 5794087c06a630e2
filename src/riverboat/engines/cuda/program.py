"""What a block of threads does on a board of a street, as a list of small steps, laid out beforehand.

Vectors lie in slots. At a decision each move gets a slot: it holds the reach of who moves, and when everything behind the
move is done, my values there take its place. Terminals wait until their values are needed, so that several are paid at once;
what the opponent's terminals pay is summed in one slot. On the last street slots are used again as soon as they are
free; on the streets before, the way up comes later, so all slots of a board stay. Roots of the last street whose betting is
short go together, in as many slots as the longest one needs alone, so that terminals of several are paid at once.

A step is eight numbers, the first of which says what is done (`_cuda_node_kernels`):

    ARRIVE       for two roots: slot of my reach, behind which is the opponent's; where they come from on the board before
    DOWN_MINE    slot of the reach, first slot behind, moves, row of the tables, node
    DOWN_THEIRS  the same
    PAY          first terminal, how many, ends of those of each vector, slots of four vectors of the opponent's reach
    UP_MINE      slot of the value, first slot of the moves, moves, row of the tables, node, first weight of a move
    UP_THEIRS    slot of the value, how many are added, first in `Program.addend`, and the slots of the first four
    FINISH       for three roots: slot of the value, number of the root: for the board before
    REPORT       slot, place in the result: for who asks
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import NamedTuple

import numpy as np

from riverboat.engines.cpu.workspace import scale_of
from riverboat.engines.cuda._kernels.board import Program
from riverboat.engines.cuda._kernels.node import (
    ARRIVE,
    DOWN_MINE,
    DOWN_THEIRS,
    ENDS,
    ENTRIES,
    FINISH,
    PAY,
    SIDE,
    UP_MINE,
    UP_THEIRS,
    WIDE,
)
from riverboat.games.base import CHANCE, TERMINAL, Array
from riverboat.trees.streets import Shape

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


# The steps of a subtree: decisions whose terminals must be paid before it goes on, and in the end where free slots begin.
Walk = Generator[int, None, int]


class Programs:
    """Steps for all shapes, streets and players, as they are added."""

    def __init__(self, work: str, stakes: float = 0.0) -> None:
        self.work, self.stakes = work, stakes
        self.weights: list[float] = []
        self.ops: list[tuple[int, ...]] = []
        self.entries: list[tuple[int, int]] = []
        self.pays: list[Array] = []
        self.addends: list[int] = []

    def arrays(self) -> Program:
        """As the device reads them."""
        return Program(
            np.array([*self.ops, [0] * WIDE], np.int32).ravel(),
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
        (here,) = self._arrive([source])
        later: list[tuple[int, ...]] = []
        self._walk([self._down(root, here, self.top, later)])
        self.top = self.most
        middle = len(ops)
        for step in later:
            emit(*step)
        if self.first:
            self._report(root, here)
        return Span(first, middle, len(ops)), here

    def passes(self, roots: list[tuple[int, int]], sources: list[Place] | None) -> Span:
        """Roots of the last street, with their numbers: down and up."""
        first = len(self.programs.ops)
        for team in self._teams(roots):
            self.top = 0
            here = self._arrive([None if sources is None else sources[number] for number, _ in team])
            walks = []
            for (_, root), place in zip(team, here, strict=True):
                walks.append(self._down(root, place, self.top, None))
                self.top += self._need(root)
            self._walk(walks)
            if sources is None:
                self._report(team[0][1], here[0])
            else:
                self._several(FINISH, 3, [(place.home, number) for (number, _), place in zip(team, here, strict=True)])
        return Span(first, len(self.programs.ops), len(self.programs.ops))

    def _teams(self, roots: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
        """Roots that go together: as many as have room where the longest is alone."""
        needs = {root: 2 + self._need(root) for _, root in roots}
        most = max(needs.values())
        teams: list[list[tuple[int, int]]] = []
        used: list[int] = []
        for number, root in sorted(roots, key=lambda r: -needs[r[1]]):
            k = next((k for k, slots in enumerate(used) if slots + needs[root] <= most), len(used))
            if k == len(used):
                teams.append([(number, root)])
                used.append(needs[root])
            else:
                teams[k].append((number, root))
                used[k] += needs[root]
        return teams

    def _walk(self, walks: list[Walk]) -> None:
        """Follow walks side by side. Terminals are paid where all of them wait for some, and in the end."""
        while walks:
            needed = {walk: owner for walk in walks if (owner := next(walk, None)) is not None}
            if needed:
                self._pay(set(needed.values()))
            walks = list(needed)
        while self.waiting:
            self._pay({self.waiting[0].owner})

    def _several(self, kind: int, many: int, numbers: Sequence[tuple[int, ...]]) -> None:
        """Steps for so many roots at a time, to wait for memory once; where there are fewer, one of them again."""
        for k in range(0, len(numbers), many):
            some = [*numbers[k : k + many], *[numbers[k]] * many][:many]
            self.programs.emit(kind, *(x for each in some for x in each))

    def _arrive(self, sources: Sequence[Place | None]) -> list[Place]:
        first = self.top
        self.top = self._take(first, 2 * len(sources))
        own = range(first, self.top, 2)
        froms = [(0, 0) if source is None else (source.own, source.opp) for source in sources]
        self._several(ARRIVE, 2, [(slot, *source) for slot, source in zip(own, froms, strict=True)])
        return [Place(slot, slot + 1, slot) for slot in own]

    def _report(self, root: int, here: Place) -> None:
        self.programs.emit(REPORT, here.home, 0)
        for k, slot in enumerate(self.move_slots):
            self.programs.emit(REPORT, slot, 1 + k)

    move_slots: tuple[int, ...] = ()  # of the values after each move at the root of a game

    def _take(self, top: int, count: int) -> int:
        """Take slots from one on, and say which is free after them."""
        self.written.difference_update(range(top, top + count))
        self.most = max(self.most, top + count)
        return top + count

    # --- nodes ------------------------------------------------------------------------------

    def _children(self, n: int) -> list[int]:
        children, child = [], n + 1
        for _ in range(int(self.forest.width[n])):
            children.append(child)
            child = int(self.forest.end[child])
        return children

    def _own(self, n: int) -> tuple[list[int], bool, int]:
        """At a decision: the nodes behind its moves, whether terminals are valued apart, slots for their values besides."""
        f, children = self.forest, self._children(n)
        ends = sum(int(f.actor[c]) == TERMINAL for c in children)
        apart = self.first and n == f.root[0]  # there values are asked for after each move
        return children, apart, 0 if int(f.actor[n]) == self.me else ends if apart else min(ends, 1)

    def _need(self, n: int) -> int:
        """Slots below a node of the last street."""
        if self.forest.actor[n] in (TERMINAL, CHANCE):
            return 0
        children, _, more = self._own(n)
        return len(children) + more + max(map(self._need, children))

    def _down(self, n: int, here: Place, top: int, later: list[tuple[int, ...]] | None) -> Walk:
        """The steps of a subtree, whose slots begin at `top`. `later`: where steps up are collected; where None they follow
        at once, slots being free afterwards."""
        f, emit = self.forest, self.programs.emit
        if f.actor[n] == TERMINAL:
            self.waiting.append(Wait(here.opp, here.home, n, n))
            return top
        if f.actor[n] == CHANCE:
            self.exits[int(f.slot[n])] = here
            return top
        mine, (children, apart, more) = int(f.actor[n]) == self.me, self._own(n)
        base, heap = top, top + len(children)
        free = self._take(top, len(children) + more)
        common = (len(children), int(f.slot[n]), n + self.offset)
        emit(DOWN_MINE if mine else DOWN_THEIRS, here.own if mine else here.opp, base, *common)
        slots = []
        for a, c in enumerate(children):
            place = Place(base + a, here.opp, base + a) if mine else Place(here.own, base + a, base + a)
            if f.actor[c] == TERMINAL:
                out = base + a if mine else heap
                heap += int(apart)
                self.waiting.append(Wait(place.opp, out, c, n))
                slots.append(out)
            else:
                free = yield from self._down(c, place, free, later)
                slots.append(base + a)
        if later is None:
            while any(w.owner == n for w in self.waiting):
                yield n
        step: tuple[int, ...]
        if mine:
            step = (UP_MINE, here.home, base, *common, len(self.programs.weights))
            self.programs.weights.extend((f.share[children] ** self.programs.stakes).tolist())
        else:
            addends = list(dict.fromkeys(slots))
            step = (UP_THEIRS, here.home, len(addends), len(self.programs.addends), *addends[:4])
            self.programs.addends.extend(addends)
        if apart:
            self.move_slots = tuple(slots)
        if later is None:
            emit(*step)
            return top
        later.append(step)
        return free

    def _pay(self, owners: set[int]) -> None:
        """Pay what some decisions need, and what else there is room for beside."""
        order = sorted(self.waiting, key=lambda w: w.owner not in owners)
        vectors = list(dict.fromkeys(w.vector for w in order))[:SIDE]
        order = [w for w in order if w.vector in vectors][:ENTRIES]
        vectors = [v for v in vectors if any(w.vector == v for w in order)]
        programs, betting = self.programs, self.shape.betting
        first, ends, shown = len(programs.entries), 0, False
        for k in range(SIDE):
            for w in [w for w in order if [w.vector] == vectors[k : k + 1]]:
                node = int(self.forest.node[w.node])
                shown |= bool(betting.showdown[node])
                above, tie, under = (betting.pay[node, x, self.me] for x in ((0, 1, 2) if self.me == 0 else (2, 1, 0)))
                programs.entries.append((w.out, int(w.out in self.written)))
                programs.pays.append(np.array([above - tie, tie - under, under]) * self.scale)
                self.written.add(w.out)
            ends |= (len(programs.entries) - first) << ENDS * k
        ends |= int(shown) << ENDS * SIDE
        slots = [*vectors, *vectors[:1] * SIDE][:SIDE]
        programs.emit(PAY, first, len(programs.entries) - first, ends, *slots)
        self.waiting = [w for w in self.waiting if w not in order]
