"""Programs of a thread block on a board of a street: lists of small operations, computed in advance.

Vectors are stored in slots. At a decision each action gets a slot. It holds the actor's reach; after everything below
the action is done, the player's values replace it. Terminals wait until their values are needed, so that several are
evaluated together; values of the opponent's terminals are summed in one slot. On the last street slots are reused as
soon as they are free. On earlier streets the pass up comes later, so all slots of a board are kept. Roots of the last
street with little betting are grouped, in as many slots as the largest root needs, so that their terminals are
evaluated together.

An operation is eight numbers. The first is its kind (`riverboat.engines.cuda._kernels.node`):

    OP_ROOT_REACH     for two roots: slot of own reach, followed by the opponent's; source slots on the parent board
    OP_OWN_DOWN       slot of the reach, first slot of the children, actions, row of the tables, node
    OP_OPPONENT_DOWN  the same for the opponent
    OP_TERMINALS      first terminal, count, end of each vector's terminals, slots of four opponent's reach vectors
    OP_OWN_UP         slot of the value, first slot of the children, actions, row of the tables, node, first weight
    OP_OPPONENT_UP    slot of the value, number of addends, first in `CudaProgram.addend`, slots of the first four
    OP_ROOT_VALUES    for three roots: slot of the value, index of the root, for the parent board
    OP_REPORT         slot, index in the result
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import NamedTuple

import numpy as np

from riverboat.engines.cpu.workspace import payoff_scale
from riverboat.engines.cuda._kernels.board import CudaProgram
from riverboat.engines.cuda._kernels.node import (
    END_BITS,
    MAX_PAID_TERMINALS,
    OP_OPPONENT_DOWN,
    OP_OPPONENT_UP,
    OP_OWN_DOWN,
    OP_OWN_UP,
    OP_ROOT_REACH,
    OP_ROOT_VALUES,
    OP_TERMINALS,
    OP_WIDTH,
    PAID_VECTORS,
)
from riverboat.games.base import CHANCE, TERMINAL, Array
from riverboat.trees.betting import BettingShape
from riverboat.trees.public import child_nodes

OP_REPORT = OP_ROOT_VALUES + 1


class NodeSlots(NamedTuple):
    """Slots of the vectors at a node: the player's reach, the opponent's reach, and the player's values."""

    own: int
    opp: int
    value: int


class OpSpan(NamedTuple):
    """Operations of a part of a program: the first, the end of the pass down, the end."""

    first: int
    middle: int
    end: int


class PendingTerminal(NamedTuple):
    """Terminal that a program has reached and not evaluated yet."""

    vector: int  # slot of the opponent's reach
    out: int  # slot of the value
    node: int
    owner: int  # decision that needs the value


# Operations of a subtree: yields decisions whose terminals must be evaluated first, and returns the first free slot.
OpGenerator = Generator[int, None, int]


class ProgramBuilder:
    """Collector of the operations for all shapes, streets and players."""

    def __init__(self, work: str, stakes: float = 0.0) -> None:
        self.work, self.stakes = work, stakes
        self.weights: list[float] = []
        self.ops: list[tuple[int, ...]] = []
        self.entries: list[tuple[int, int]] = []
        self.pays: list[Array] = []
        self.addends: list[int] = []

    def arrays(self) -> CudaProgram:
        """Return the arrays for the device."""
        return CudaProgram(
            np.array([*self.ops, [0] * OP_WIDTH], np.int32).ravel(),
            np.array(self.entries, np.int32).ravel(),
            np.array(self.pays, self.work).ravel(),
            np.array([*self.addends, 0], np.int32),
            np.array([*self.weights, 1, 1, 1], self.work),
        )

    def emit(self, *numbers: int) -> None:
        """Append an operation: its kind and arguments, padded with zeros."""
        self.ops.append((*numbers, *[0] * (OP_WIDTH - len(numbers))))


class StreetProgramBuilder:
    """Compiler of the operations of one street of a shape, for one player."""

    def __init__(self, programs: ProgramBuilder, shape: BettingShape, street: int, me: int, offset: int) -> None:
        self.programs, self.shape, self.me, self.offset = programs, shape, me, offset
        self.forest, self.first = shape.forest, street == 0
        self.exits: dict[int, NodeSlots] = {}  # slots of each exit, by its index
        self.top = self.max_slots = 0  # slots in use, and their maximum
        self.scale = payoff_scale(shape.betting)
        self.pending: list[PendingTerminal] = []
        self.written: set[int] = set()

    # --- roots ------------------------------------------------------------------------------

    def compile_inner_root(self, root: int, source: NodeSlots | None) -> tuple[OpSpan, NodeSlots]:
        """Compile a root of a street before the last: the operations of both passes. Return their span and its slots.

        `source`: slots of the exit on the parent board that leads to the root; None on the first street.
        """
        emit, ops = self.programs.emit, self.programs.ops
        first = len(ops)
        (slots,) = self._emit_root_reach([source])
        upward_ops: list[tuple[int, ...]] = []
        self._run_generators([self._compile_subtree(root, slots, self.top, upward_ops)])
        self.top = self.max_slots
        middle = len(ops)
        for op in upward_ops:
            emit(*op)
        if self.first:
            self._emit_report(root, slots)
        return OpSpan(first, middle, len(ops)), slots

    def compile_last_roots(self, roots: list[tuple[int, int]], sources: list[NodeSlots] | None) -> OpSpan:
        """Compile roots (index, node) of the last street: the operations of both passes.

        `sources`: slots of the exits on the parent board, by index; None if there is one street.
        """
        first = len(self.programs.ops)
        for group in self._group_roots(roots):
            self.top = 0
            slots = self._emit_root_reach([None if sources is None else sources[number] for number, _ in group])
            generators = []
            for (_, root), root_slots in zip(group, slots, strict=True):
                generators.append(self._compile_subtree(root, root_slots, self.top, None))
                self.top += self._slots_below(root)
            self._run_generators(generators)
            if sources is None:
                self._emit_report(group[0][1], slots[0])
            else:
                values = [(root_slots.value, number) for (number, _), root_slots in zip(group, slots, strict=True)]
                self._emit_grouped(OP_ROOT_VALUES, 3, values)
        return OpSpan(first, len(self.programs.ops), len(self.programs.ops))

    def _group_roots(self, roots: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
        """Group roots so that each group fits into the slots of the largest root."""
        needs = {root: 2 + self._slots_below(root) for _, root in roots}
        capacity = max(needs.values())
        groups: list[list[tuple[int, int]]] = []
        used: list[int] = []
        for number, root in sorted(roots, key=lambda r: -needs[r[1]]):
            k = next((k for k, slots in enumerate(used) if slots + needs[root] <= capacity), len(used))
            if k == len(used):
                groups.append([(number, root)])
                used.append(needs[root])
            else:
                groups[k].append((number, root))
                used[k] += needs[root]
        return groups

    def _run_generators(self, generators: list[OpGenerator]) -> None:
        """Advance the generators of several roots in turn; evaluate terminals when all of them wait, and at the end."""
        while generators:
            needed = {generator: owner for generator in generators if (owner := next(generator, None)) is not None}
            if needed:
                self._emit_terminals(set(needed.values()))
            generators = list(needed)
        while self.pending:
            self._emit_terminals({self.pending[0].owner})

    def _emit_grouped(self, kind: int, many: int, numbers: Sequence[tuple[int, ...]]) -> None:
        """Emit operations for `many` roots each, which share one memory latency; missing roots repeat the first."""
        for k in range(0, len(numbers), many):
            group = [*numbers[k : k + many], *[numbers[k]] * many][:many]
            self.programs.emit(kind, *(x for each in group for x in each))

    def _emit_root_reach(self, sources: Sequence[NodeSlots | None]) -> list[NodeSlots]:
        """Emit the operations that set the reach at roots, and return their slots."""
        first = self.top
        self.top = self._take_slots(first, 2 * len(sources))
        own = range(first, self.top, 2)
        source_slots = [(0, 0) if source is None else (source.own, source.opp) for source in sources]
        self._emit_grouped(OP_ROOT_REACH, 2, [(slot, *source) for slot, source in zip(own, source_slots, strict=True)])
        return [NodeSlots(slot, slot + 1, slot) for slot in own]

    def _emit_report(self, root: int, here: NodeSlots) -> None:
        """Emit the operations that report the values at the root of a game and after each action."""
        self.programs.emit(OP_REPORT, here.value, 0)
        for k, slot in enumerate(self.move_slots):
            self.programs.emit(OP_REPORT, slot, 1 + k)

    move_slots: tuple[int, ...] = ()  # slots of the values after each action at the root of a game

    def _take_slots(self, top: int, count: int) -> int:
        """Allocate slots from `top` on, and return the first free one after them."""
        self.written.difference_update(range(top, top + count))
        self.max_slots = max(self.max_slots, top + count)
        return top + count

    # --- nodes ------------------------------------------------------------------------------

    def _decision_slots(self, n: int) -> tuple[list[int], bool, int]:
        """Return a decision's children, whether its terminals have separate slots, and the number of extra slots."""
        f, children = self.forest, list(child_nodes(self.forest, n))
        num_terminals = sum(int(f.actor[c]) == TERMINAL for c in children)
        separate = self.first and n == f.root[0]  # values after each action are reported there
        extra = 0 if int(f.actor[n]) == self.me else num_terminals if separate else min(num_terminals, 1)
        return children, separate, extra

    def _slots_below(self, n: int) -> int:
        """Return the number of slots below a node of the last street."""
        if self.forest.actor[n] in (TERMINAL, CHANCE):
            return 0
        children, _, extra = self._decision_slots(n)
        return len(children) + extra + max(map(self._slots_below, children))

    def _compile_subtree(
        self, n: int, here: NodeSlots, top: int, upward_ops: list[tuple[int, ...]] | None
    ) -> OpGenerator:
        """Compile the operations of a subtree, whose slots begin at `top`.

        `upward_ops` collects the operations of the pass up. If it is None, they follow at once and free the slots.
        """
        f, emit = self.forest, self.programs.emit
        if f.actor[n] == TERMINAL:
            self.pending.append(PendingTerminal(here.opp, here.value, n, n))
            return top
        if f.actor[n] == CHANCE:
            self.exits[int(f.slot[n])] = here
            return top
        own, (children, separate, extra) = int(f.actor[n]) == self.me, self._decision_slots(n)
        base, terminal_slot = top, top + len(children)
        free = self._take_slots(top, len(children) + extra)
        common = (len(children), int(f.slot[n]), n + self.offset)
        emit(OP_OWN_DOWN if own else OP_OPPONENT_DOWN, here.own if own else here.opp, base, *common)
        slots = []
        for a, c in enumerate(children):
            child_slots = NodeSlots(base + a, here.opp, base + a) if own else NodeSlots(here.own, base + a, base + a)
            if f.actor[c] == TERMINAL:
                out = base + a if own else terminal_slot
                terminal_slot += int(separate)
                self.pending.append(PendingTerminal(child_slots.opp, out, c, n))
                slots.append(out)
            else:
                free = yield from self._compile_subtree(c, child_slots, free, upward_ops)
                slots.append(base + a)
        if upward_ops is None:
            while any(w.owner == n for w in self.pending):
                yield n
        op: tuple[int, ...]
        if own:
            op = (OP_OWN_UP, here.value, base, *common, len(self.programs.weights))
            self.programs.weights.extend((f.share[children] ** self.programs.stakes).tolist())
        else:
            addends = list(dict.fromkeys(slots))
            op = (OP_OPPONENT_UP, here.value, len(addends), len(self.programs.addends), *addends[:4])
            self.programs.addends.extend(addends)
        if separate:
            self.move_slots = tuple(slots)
        if upward_ops is None:
            emit(*op)
            return top
        upward_ops.append(op)
        return free

    def _emit_terminals(self, owners: set[int]) -> None:
        """Emit the evaluation of pending terminals that some decisions need, and of further ones if there is room."""
        order = sorted(self.pending, key=lambda w: w.owner not in owners)
        vectors = list(dict.fromkeys(w.vector for w in order))[:PAID_VECTORS]
        order = [w for w in order if w.vector in vectors][:MAX_PAID_TERMINALS]
        vectors = [v for v in vectors if any(w.vector == v for w in order)]
        programs, betting = self.programs, self.shape.betting
        first, ends, has_showdown = len(programs.entries), 0, False
        for k in range(PAID_VECTORS):
            for w in [w for w in order if [w.vector] == vectors[k : k + 1]]:
                node = int(self.forest.node[w.node])
                has_showdown |= bool(betting.showdown[node])
                win, tie, lose = (betting.payoffs[node, x, self.me] for x in ((0, 1, 2) if self.me == 0 else (2, 1, 0)))
                programs.entries.append((w.out, int(w.out in self.written)))
                programs.pays.append(np.array([win - tie, tie - lose, lose]) * self.scale)
                self.written.add(w.out)
            ends |= (len(programs.entries) - first) << END_BITS * k
        ends |= int(has_showdown) << END_BITS * PAID_VECTORS
        slots = [*vectors, *vectors[:1] * PAID_VECTORS][:PAID_VECTORS]
        programs.emit(OP_TERMINALS, first, len(programs.entries) - first, ends, *slots)
        self.pending = [w for w in self.pending if w not in order]
