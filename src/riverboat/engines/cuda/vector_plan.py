"""Layout of a betting tree for public chance sampling on a GPU: sequence form, street by street.

An *entry* is the first decision of a street. Its subtree on the street is small, and many entries have the same betting
with other payoffs: they form a group. The data of a group are interleaved, entry by entry (*lanes*), so that
neighbouring threads read neighbouring memory.

A *unit* is an entry for one seat. It has sequences of that seat's own actions on the street, the first of them empty,
and decisions, each after a sequence. A *column* is a sequence that leads to some terminal of the street: the opponent's
reach there depends on it alone. An *end* multiplies a column of the other seat by a payoff, or takes the value of an
entry of the next street.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from riverboat.core.arrays import Array
from riverboat.games.holdem.action_tree import ActionTree

NONE = -1


class StreetPlan(NamedTuple):
    """Layout of one street. A *kind* is the common structure of all units of a group and seat."""

    kind: Array  # int32 [units]
    lanes: Array  # int32 [kinds]
    unit: Array  # int32 [kinds]: first unit
    sequence: Array  # int32 [kinds + 1]: first sequence, of lane 0
    decision: Array  # int32 [kinds + 1]: first decision, in the order of the betting
    above: Array  # int32 [decisions]: parent sequence
    move: Array  # int32 [decisions]: sequence of the first action
    moves: Array  # int32 [decisions]: number of actions
    cells: Array  # int32 [kinds]: offset of the decisions in `cell`
    cell: Array  # int32 [decisions · lanes]: offset of the decision in a row of the table
    turn: Array  # int32 [kinds]: offset of the sequences in `end`
    end: Array  # int32 [sequences of all kinds + 1]: first end of each sequence
    live: Array  # int32 [ends]: number of possible hands: the first ones in the order of a board
    lane_end: Array  # int32 [kinds]: offset of the ends in `at` and `pay`
    at: Array  # int32 [ends · lanes]: slot of a column; or -1 minus the unit of the next street
    pay: Array  # float32 [ends · lanes]: factor on it
    came: Array  # int32 [units]: unit of the previous street; NONE on the first
    played: Array  # int32 [units]: sequence of that unit that leads here


class PlanColumns(NamedTuple):
    """Columns of all streets."""

    street: Array  # int32 [columns]
    unit: Array  # int32 [columns]
    sequence: Array  # int32 [columns]
    folded: Array  # int32 [columns]: slot of the compatible reach, for folds; or NONE
    shown: Array  # int32 [columns]: slot of the reach of weaker minus stronger hands, for showdowns; or NONE


class VectorPlan(NamedTuple):
    """Layout of all streets."""

    streets: tuple[StreetPlan, ...]
    columns: PlanColumns
    slots: tuple[int, ...]  # slots of the columns of each street
    sequences: tuple[int, ...]


class _StreetBetting(NamedTuple):
    """Betting after an entry on its street, by positions in preorder."""

    # By seat: position, parent sequence, sequence of the first action, number of actions.
    decisions: tuple[list[tuple[int, int, int, int]], ...]
    ends: list[tuple[int, int, int]]  # position, sequences of both seats
    sequences: tuple[int, int]


def vector_plan(tree: ActionTree, pair: Array, live: Array) -> VectorPlan:
    """Lay out a betting tree for public chance sampling on a GPU.

    `pair`: probability of a pair of hands on each street, `live`: hands that its boards do not block.
    """
    shapes, entries = _shapes(tree), _entries(tree)
    unit_of = np.full((len(tree), 2), NONE, np.int64)  # unit of each entry and seat
    groups: list[list[tuple[_StreetBetting, Array]]] = []
    for nodes in entries:
        same_shape = defaultdict(list)
        for node in nodes.tolist():
            same_shape[shapes[node]].append(node)
        street_groups, units = [], 0
        for group_nodes in same_shape.values():
            for seat in range(2):
                unit_of[group_nodes, seat] = units + seat * len(group_nodes) + np.arange(len(group_nodes))
            units += 2 * len(group_nodes)
            street_groups.append(
                (_street_betting(tree, group_nodes[0]), np.array([_preorder(tree, node) for node in group_nodes]))
            )
        groups.append(street_groups)
    streets, columns, slots = [], [], []
    # Unit and sequence of the previous street, by entry and seat.
    arrivals = np.full((*unit_of.shape, 2), NONE, np.int64)
    for s, street_groups in enumerate(groups):
        builder = _StreetPlanBuilder(tree, s, pair, live, unit_of)
        for betting, nodes in street_groups:
            builder.add(betting, nodes)
        streets.append(builder.street(arrivals))
        columns += builder.columns
        slots.append(builder.slots)
    table = np.array(columns, np.int32).reshape(-1, 5).T
    plan = PlanColumns(*(np.ascontiguousarray(part) for part in table))
    return VectorPlan(tuple(streets), plan, tuple(slots), tuple(int(street.sequence[-1]) for street in streets))


def _entries(tree: ActionTree) -> list[Array]:
    """Return the entries of each street: the nodes of the first decisions on it."""
    parent_street = np.where(tree.parent >= 0, tree.street[np.maximum(tree.parent, 0)], NONE)
    is_entry = (tree.actor >= 0) & (parent_street < tree.street)
    return [np.flatnonzero(is_entry & (tree.street == s)) for s in range(tree.rules.rounds)]


def _shapes(tree: ActionTree) -> list[int]:
    """Return a number for each node, equal for nodes with the same betting on the rest of the street."""
    numbers: dict[tuple[int, ...], int] = {}
    shapes = [0] * len(tree)
    for node in range(len(tree) - 1, -1, -1):  # children come after parents
        if tree.actor[node] < 0:
            key: tuple[int, ...] = (-1, int(tree.showdown[node]))
        else:
            children = tree.children(node)
            street = tree.street[node]
            child_shapes = (-2 if tree.actor[c] >= 0 and tree.street[c] > street else shapes[c] for c in children)
            key = (int(tree.actor[node]), *child_shapes)
        shapes[node] = numbers.setdefault(key, len(numbers))
    return shapes


def _preorder(tree: ActionTree, entry: int) -> list[int]:
    """Return the nodes below an entry, up to terminals and entries of the next street."""
    nodes, work = [], [entry]
    while work:
        node = work.pop()
        nodes.append(node)
        if tree.actor[node] >= 0 and tree.street[node] == tree.street[entry]:
            work += reversed(tree.children(node))
    return nodes


def _street_betting(tree: ActionTree, entry: int) -> _StreetBetting:
    """Return both seats' decisions and sequences, and the ends, in the betting after an entry on its street."""
    position = {node: k for k, node in enumerate(_preorder(tree, entry))}
    decisions: tuple[list[tuple[int, int, int, int]], ...] = ([], [])
    ends, count, sequences_of = [], [1, 1], {entry: (0, 0)}
    for node, k in position.items():
        sequences = sequences_of[node]
        if tree.actor[node] < 0 or tree.street[node] > tree.street[entry]:
            ends.append((k, *sequences))
            continue
        seat, moves = int(tree.actor[node]), int(tree.count[node])
        decisions[seat].append((k, sequences[seat], count[seat], moves))
        for a, child in enumerate(tree.children(node)):
            sequence = count[seat] + a
            sequences_of[child] = (sequence, sequences[1]) if seat == 0 else (sequences[0], sequence)
        count[seat] += moves
    return _StreetBetting(decisions, ends, (count[0], count[1]))


class _StreetPlanBuilder:
    """Builder of the layout of a street, group by group."""

    def __init__(self, tree: ActionTree, street: int, pair: Array, live: Array, unit_of: Array) -> None:
        self.tree, self.street_index, self.pair, self.hands, self.unit_of = tree, street, pair, live, unit_of
        self.parts: dict[str, list[Array]] = defaultdict(list)
        self.first = dict.fromkeys(("unit", "sequence", "decision", "cells", "turn", "end", "lane_end"), 0)
        self.columns: list[tuple[int, ...]] = []  # see `PlanColumns`
        self.slots = 0
        self.continuations: list[tuple[Array, int, Array, Array]] = []  # entries, seat, units, sequences

    def _append(self, name: str, numbers: Array | list[int], kind: type = np.int32) -> None:
        self.parts[name].append(np.asarray(numbers).astype(kind).ravel())

    def add(self, betting: _StreetBetting, nodes: Array) -> None:
        """Add a group of entries with the same betting. `nodes`: tree nodes, int64 [lanes, positions]"""
        lanes, width = np.arange(len(nodes)), len(nodes)
        unit = [self.first["unit"] + seat * width for seat in range(2)]
        sequence = [self.first["sequence"], self.first["sequence"] + betting.sequences[0] * width]
        slot = [self._columns(betting, nodes, seat, unit[seat], sequence[seat]) for seat in range(2)]
        for seat in range(2):
            self._append("kind", np.full(width, len(self.parts["lanes"])))
            self._append("lanes", [width])
            self._append("unit", [unit[seat]])
            self._append("sequence", [sequence[seat]])
            self._decisions(betting, nodes, seat)
            self._ends(betting, nodes, seat, slot[1 - seat])
            for k, *sequences in betting.ends:
                if self.tree.actor[nodes[0, k]] >= 0:
                    self.continuations.append(
                        (nodes[:, k], seat, unit[seat] + lanes, sequence[seat] + sequences[seat] * width + lanes)
                    )
        self.first["unit"] += 2 * width
        self.first["sequence"] += sum(betting.sequences) * width

    def _columns(
        self, betting: _StreetBetting, nodes: Array, seat: int, unit: int, sequence: int
    ) -> dict[tuple[int, bool], int]:
        """Add the columns of a seat; return the slots of lane 0 by sequence and whether it is a showdown."""
        tree, width, slot = self.tree, len(nodes), dict[tuple[int, bool], int]()
        for j in range(betting.sequences[seat]):
            ends = [nodes[0, k] for k, *both in betting.ends if both[seat] == j]
            terminal_kinds = {bool(tree.showdown[node]) for node in ends if tree.actor[node] < 0}
            for shown in sorted(terminal_kinds):
                slot[j, shown] = self.slots
                self.slots += width
            for lane in range(width) if terminal_kinds else ():
                slots = (slot[j, shown] + lane if shown in terminal_kinds else NONE for shown in (False, True))
                self.columns.append((self.street_index, unit + lane, sequence + j * width + lane, *slots))
        return slot

    def _decisions(self, betting: _StreetBetting, nodes: Array, seat: int) -> None:
        """Add the decisions of a seat in a group."""
        decisions = betting.decisions[seat]
        self._append("decision", [self.first["decision"]])
        self._append("cells", [self.first["cells"]])
        for k, parent, first_sequence, num_actions in decisions:
            self._append("above", [parent])
            self._append("move", [first_sequence])
            self._append("moves", [num_actions])
            self._append("cell", 2 * self.tree.slot[nodes[:, k]])
        self.first["decision"] += len(decisions)
        self.first["cells"] += len(decisions) * len(nodes)

    def _ends(self, betting: _StreetBetting, nodes: Array, seat: int, slot: dict[tuple[int, bool], int]) -> None:
        """Add the ends of a seat's sequences in a group. `slot`: slots of the other seat's columns, from `_columns`"""
        tree, lanes, last = self.tree, np.arange(len(nodes)), len(self.hands) - 1
        self._append("turn", [self.first["turn"]])
        self._append("lane_end", [self.first["lane_end"]])
        for j in range(betting.sequences[seat]):
            self._append("end", [self.first["end"]])
            for k, *sequences in betting.ends:
                if sequences[seat] != j:
                    continue
                end_nodes, at = nodes[:, k], int(nodes[0, k])
                if tree.actor[at] >= 0:
                    live, pay = self.hands[self.street_index + 1], np.ones(len(nodes))
                    to = -1 - self.unit_of[end_nodes, seat]
                else:
                    is_showdown = bool(tree.showdown[at])
                    street = last if is_showdown else self.street_index
                    live, to = self.hands[street], slot[sequences[1 - seat], is_showdown] + lanes
                    pay = tree.payoff[end_nodes] * self.pair[street] * (1 if is_showdown or seat == 0 else -1)
                self._append("live", [live])
                self._append("at", to)
                self._append("pay", pay, np.float32)
                self.first["end"] += 1
                self.first["lane_end"] += len(nodes)
        self.first["turn"] += betting.sequences[seat]

    def street(self, arrivals: Array) -> StreetPlan:
        """Return the layout of the street, and write the arrivals at the next street to `arrivals`."""
        entries = np.flatnonzero((self.unit_of[:, 0] >= 0) & (self.tree.street == self.street_index))
        came = np.full((self.first["unit"], 2), NONE)
        came[self.unit_of[entries]] = arrivals[entries]
        for nodes, seat, unit, sequence in self.continuations:
            arrivals[nodes, seat, 0], arrivals[nodes, seat, 1] = unit, sequence
        self._append("came", came[:, 0])
        self._append("played", came[:, 1])
        for name in ("sequence", "decision", "end"):
            self._append(name, [self.first[name]])
        empty = np.zeros(0, np.int32)
        return StreetPlan(
            *(np.concatenate(self.parts[name]) if self.parts[name] else empty for name in StreetPlan._fields)
        )
