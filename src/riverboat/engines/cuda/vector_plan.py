"""A betting tree laid out for training by vectors on a GPU: in sequence form, street by street.

An *entry* is a decision that a street begins with. What follows it on the street is small, and many entries are followed by
the same betting with other pay-offs: they form a group, and numbers of a group lie side by side, entry by entry (*lanes*), so
that neighbouring threads read neighbouring memory.

A *unit* is an entry seen by one seat. It has sequences of that seat's own moves on the street, the first of them empty; and
decisions, each behind a sequence. A *column* is a sequence that some terminal of the street is reached by: what all hands
meet there depends on it alone. An *end* pays a sequence of mine what I meet in a column of the other seat, or what an entry
of the next street is worth.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from riverboat.core.arrays import Array
from riverboat.games.holdem.action_tree import ActionTree

NONE = -1


class Street(NamedTuple):
    """One street. Arrays by *kind* say what all units of a group and seat have in common."""

    kind: Array  # int32 [units]
    lanes: Array  # int32 [kinds]
    unit: Array  # int32 [kinds]: its first unit
    sequence: Array  # int32 [kinds + 1]: the number of its first sequence, that of lane 0
    decision: Array  # int32 [kinds + 1]: its first decision, in the order of the betting
    above: Array  # int32 [decisions]: sequence of the kind that leads there
    move: Array  # int32 [decisions]: sequence of its first move
    moves: Array  # int32 [decisions]
    cells: Array  # int32 [kinds]: where its decisions begin in `cell`
    cell: Array  # int32 [decisions · lanes]: cells of a row before those of the decision
    turn: Array  # int32 [kinds]: where its sequences begin in `end`
    end: Array  # int32 [sequences of all kinds + 1]: the first end of each
    live: Array  # int32 [ends]: hands that may get there: those before this one in the order of a board
    lane_end: Array  # int32 [kinds]: where its ends begin in `at` and `pay`
    at: Array  # int32 [ends · lanes]: slot of a column; -1 less the unit of the next street
    pay: Array  # float32 [ends · lanes]: to be multiplied with it
    came: Array  # int32 [units]: unit of the street before; NONE on the first
    played: Array  # int32 [units]: its sequence that leads here


class Columns(NamedTuple):
    """Columns of all streets."""

    street: Array  # int32 [columns]
    unit: Array  # int32 [columns]
    sequence: Array  # int32 [columns]
    folded: Array  # int32 [columns]: slot of what is met where somebody folds; NONE
    shown: Array  # int32 [columns]: slot of what is weaker less what is stronger; NONE


class VectorPlan(NamedTuple):
    """All streets."""

    streets: tuple[Street, ...]
    columns: Columns
    slots: tuple[int, ...]  # of the columns of each street
    sequences: tuple[int, ...]


class _Betting(NamedTuple):
    """What follows an entry on its street, by places in preorder."""

    decisions: tuple[list[tuple[int, int, int, int]], ...]  # by seat: place, sequence above, of its first move, moves
    ends: list[tuple[int, int, int]]  # place, sequences of both seats
    sequences: tuple[int, int]


def vector_plan(tree: ActionTree, pair: Array, live: Array) -> VectorPlan:
    """The layout of a tree. `pair`: probability of a pair of hands on each street, `live`: hands that its boards leave."""
    shapes, entries = _shapes(tree), _entries(tree)
    unit_of = np.full((len(tree), 2), NONE, np.int64)  # by entry and seat
    groups: list[list[tuple[_Betting, Array]]] = []
    for nodes in entries:
        alike = defaultdict(list)
        for node in nodes.tolist():
            alike[shapes[node]].append(node)
        here, units = [], 0
        for some in alike.values():
            for seat in range(2):
                unit_of[some, seat] = units + seat * len(some) + np.arange(len(some))
            units += 2 * len(some)
            here.append((_betting(tree, some[0]), np.array([_preorder(tree, node) for node in some])))
        groups.append(here)
    streets, columns, slots, before = [], [], [], _Arrivals(tree, unit_of)
    for s, here in enumerate(groups):
        maker = _Maker(tree, s, pair, live, unit_of)
        for betting, nodes in here:
            maker.add(betting, nodes)
        streets.append(maker.street(before))
        columns += maker.columns
        slots.append(maker.slots)
    table = np.array(columns, np.int32).reshape(-1, 5).T
    plan = Columns(*(np.ascontiguousarray(part) for part in table))
    return VectorPlan(tuple(streets), plan, tuple(slots), tuple(int(street.sequence[-1]) for street in streets))


def _entries(tree: ActionTree) -> list[Array]:
    """By street: decisions that it begins with."""
    above = np.where(tree.parent >= 0, tree.street[np.maximum(tree.parent, 0)], NONE)
    begins = (tree.actor >= 0) & (above < tree.street)
    return [np.flatnonzero(begins & (tree.street == s)) for s in range(tree.rules.rounds)]


def _shapes(tree: ActionTree) -> list[int]:
    """A number for each node: the same where the betting of its street goes on alike."""
    known: dict[tuple[int, ...], int] = {}
    shapes = [0] * len(tree)
    for node in range(len(tree) - 1, -1, -1):  # children come after parents
        if tree.actor[node] < 0:
            key: tuple[int, ...] = (-1, int(tree.showdown[node]))
        else:
            children = tree.children(node)
            street = tree.street[node]
            later = ((tree.actor[c] >= 0) & (tree.street[c] > street) for c in children)
            below = (-2 if there else shapes[c] for c, there in zip(children, later, strict=True))
            key = (int(tree.actor[node]), *below)
        shapes[node] = known.setdefault(key, len(known))
    return shapes


def _preorder(tree: ActionTree, entry: int) -> list[int]:
    """The nodes that follow an entry, up to terminals and entries of the next street."""
    nodes, work = [], [entry]
    while work:
        node = work.pop()
        nodes.append(node)
        if tree.actor[node] >= 0 and tree.street[node] == tree.street[entry]:
            work += reversed(tree.children(node))
    return nodes


def _betting(tree: ActionTree, entry: int) -> _Betting:
    place = {node: k for k, node in enumerate(_preorder(tree, entry))}
    decisions: tuple[list[tuple[int, int, int, int]], ...] = ([], [])
    ends, count, came = [], [1, 1], {entry: (0, 0)}
    for node, k in place.items():
        both = came[node]
        if tree.actor[node] < 0 or tree.street[node] > tree.street[entry]:
            ends.append((k, *both))
            continue
        seat, moves = int(tree.actor[node]), int(tree.count[node])
        decisions[seat].append((k, both[seat], count[seat], moves))
        for a, child in enumerate(tree.children(node)):
            mine = count[seat] + a
            came[child] = (mine, both[1]) if seat == 0 else (both[0], mine)
        count[seat] += moves
    return _Betting(decisions, ends, (count[0], count[1]))


class _Arrivals:
    """Where units of a street come from; filled by the street before."""

    def __init__(self, tree: ActionTree, unit_of: Array) -> None:
        self.unit = np.full(unit_of.shape, NONE, np.int64)  # by entry and seat
        self.sequence = np.full(unit_of.shape, NONE, np.int64)
        self.tree, self.unit_of = tree, unit_of


class _Maker:
    """A street while it is laid out, group by group."""

    def __init__(self, tree: ActionTree, street: int, pair: Array, live: Array, unit_of: Array) -> None:
        self.tree, self.s, self.pair, self.hands, self.unit_of = tree, street, pair, live, unit_of
        self.parts: dict[str, list[Array]] = defaultdict(list)
        self.first = dict.fromkeys(("unit", "sequence", "decision", "cells", "turn", "end", "lane_end"), 0)
        self.columns: list[tuple[int, int, int, int, int]] = []
        self.slots = 0
        self.exits: list[tuple[Array, int, Array, Array]] = []  # entries, seat, units, sequences

    def _put(self, name: str, numbers: Array | list[int], kind: type = np.int32) -> None:
        self.parts[name].append(np.asarray(numbers).astype(kind).ravel())

    def add(self, betting: _Betting, nodes: Array) -> None:
        """A group: nodes [lanes, places]."""
        lanes, width = np.arange(len(nodes)), len(nodes)
        unit = [self.first["unit"] + seat * width for seat in range(2)]
        sequence = [self.first["sequence"], self.first["sequence"] + betting.sequences[0] * width]
        slot = [self._columns(betting, nodes, seat, unit[seat], sequence[seat]) for seat in range(2)]
        for seat in range(2):
            self._put("kind", np.full(width, len(self.parts["lanes"])))
            self._put("lanes", [width])
            self._put("unit", [unit[seat]])
            self._put("sequence", [sequence[seat]])
            self._decisions(betting, nodes, seat)
            self._ends(betting, nodes, seat, slot[1 - seat])
            for k, *both in betting.ends:
                if self.tree.actor[nodes[0, k]] >= 0:
                    self.exits.append(
                        (nodes[:, k], seat, unit[seat] + lanes, sequence[seat] + both[seat] * width + lanes)
                    )
        self.first["unit"] += 2 * width
        self.first["sequence"] += sum(betting.sequences) * width

    def _columns(
        self, betting: _Betting, nodes: Array, seat: int, unit: int, sequence: int
    ) -> dict[tuple[int, bool], int]:
        """Columns of a seat; slots of lane 0 by sequence and whether hands are shown."""
        tree, width, slot = self.tree, len(nodes), dict[tuple[int, bool], int]()
        for j in range(betting.sequences[seat]):
            ends = [nodes[0, k] for k, *both in betting.ends if both[seat] == j]
            met = {bool(tree.showdown[node]) for node in ends if tree.actor[node] < 0}
            for shown in sorted(met):
                slot[j, shown] = self.slots
                self.slots += width
            for lane in range(width) if met else ():
                folded, shown_at = (slot[j, what] + lane if what in met else NONE for what in (False, True))
                self.columns.append((self.s, unit + lane, sequence + j * width + lane, folded, shown_at))
        return slot

    def _decisions(self, betting: _Betting, nodes: Array, seat: int) -> None:
        mine = betting.decisions[seat]
        self._put("decision", [self.first["decision"]])
        self._put("cells", [self.first["cells"]])
        for k, above, move, moves in mine:
            self._put("above", [above])
            self._put("move", [move])
            self._put("moves", [moves])
            self._put("cell", 2 * self.tree.slot[nodes[:, k]])
        self.first["decision"] += len(mine)
        self.first["cells"] += len(mine) * len(nodes)

    def _ends(self, betting: _Betting, nodes: Array, seat: int, slot: dict[tuple[int, bool], int]) -> None:
        tree, lanes, last = self.tree, np.arange(len(nodes)), len(self.hands) - 1
        self._put("turn", [self.first["turn"]])
        self._put("lane_end", [self.first["lane_end"]])
        for j in range(betting.sequences[seat]):
            self._put("end", [self.first["end"]])
            for k, *both in betting.ends:
                if both[seat] != j:
                    continue
                here, at = nodes[:, k], int(nodes[0, k])
                if tree.actor[at] >= 0:
                    live, to, pay = self.hands[self.s + 1], -1 - self.unit_of[here, seat], np.ones(len(nodes))
                else:
                    shown = bool(tree.showdown[at])
                    street = last if shown else self.s
                    live, to = self.hands[street], slot[both[1 - seat], shown] + lanes
                    pay = tree.pay[here] * self.pair[street] * (1 if shown or seat == 0 else -1)
                self._put("live", [live])
                self._put("at", to)
                self._put("pay", pay, np.float32)
                self.first["end"] += 1
                self.first["lane_end"] += len(nodes)
        self.first["turn"] += betting.sequences[seat]

    def street(self, before: _Arrivals) -> Street:
        """All of it; and where the next street comes from goes to `before`."""
        units = self.first["unit"]
        came, played = np.full(units, NONE), np.full(units, NONE)
        entries = np.flatnonzero((self.unit_of[:, 0] >= 0) & (self.tree.street == self.s))
        for seat in range(2):
            at = self.unit_of[entries, seat]
            came[at], played[at] = before.unit[entries, seat], before.sequence[entries, seat]
        for nodes, seat, unit, sequence in self.exits:
            before.unit[nodes, seat], before.sequence[nodes, seat] = unit, sequence
        self._put("came", came)
        self._put("played", played)
        for name in ("sequence", "decision", "end"):
            self._put(name, [self.first[name]])
        empty = np.zeros(0, np.int32)
        return Street(*(np.concatenate(self.parts[name]) if self.parts[name] else empty for name in Street._fields))
