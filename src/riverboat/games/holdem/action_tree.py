"""The tree of betting as flat arrays, for solvers that sample the cards.

`measure` counts a tree without building it; `compile_actions` builds it. Lines that lead to the same chips and the same
turn go on alike, so the rules are asked once for each such state, and the tree is unrolled from the graph of states in a
compiled loop: Python never sees a node.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, MemoryLimitError, listed, shown
from riverboat.core.formatting import show_bytes
from riverboat.games.holdem._kernels import action_tree
from riverboat.games.holdem.action_labels import acpc_label
from riverboat.games.holdem.betting import Betting, steps
from riverboat.games.holdem.betting_rules import DEAL, FOLDED, GOING, NOBODY, State, deal, step
from riverboat.games.holdem.menus import Choices, Menu
from riverboat.games.holdem.rules import MOST_CHIPS, Rules
from riverboat.games.holdem.tree_sizes import Counts as Counts
from riverboat.games.holdem.tree_sizes import Shape as Shape

OVER = -1  # `actor` at the end of a hand
FOLD, CALL, RAISE = 0, 1, 2
MOST_NODES = 100_000_000
MOST_STATES = 20_000_000
MOST_MOVES = 127
FEW_NODES = 50_000  # that are unrolled without compiled loops: a process that only reads an agent need not load them
_NODE_BYTES = 33 + 4  # of the arrays below, and of the state of each node while they are built


@dataclass(frozen=True, eq=False)
class ActionTree:
    """Nodes with parents before children; the children of a node lie side by side, move a leads to first[node] + a.

    Chance is no node: after the last move of a round the child has a later street. Where somebody is all-in and called, the
    child is a showdown on the full board.

    Tables that give every decision of a street the same number of buckets are laid out bucket by bucket: the entry of move
    a is base[street] + bucket * width[street] + slot[node] + a.
    """

    rules: Rules
    menu: Menu | None
    shape: Shape
    actor: Array  # int8 [nodes]: the seat to move, OVER (-1) at a terminal
    street: Array  # int8 [nodes]: of a terminal, the street of the move that leads there
    first: Array  # int32 [nodes]: the first child; -1 at a terminal
    count: Array  # int8 [nodes]: moves; 0 at a terminal
    parent: Array  # int32 [nodes]: -1 at the root
    kind: Array  # int8 [nodes]: FOLD, CALL or RAISE, the move that leads here; -1 at the root
    total: Array  # int32 [nodes]: what the player who made that move has then put in over the whole hand; 0 at the root
    spent: Array  # int32 [nodes, 2]: what each seat has put in, blinds included
    showdown: Array  # bool [nodes]: terminals where hands are compared
    pay: Array  # int32 [nodes]: after a fold, what seat 0 wins (its loss is negative); at a showdown, what the winner wins
    slot: Array  # int32 [nodes]: moves of the decisions of the same street that come before; -1 at a terminal
    width: Array  # int64 [streets]: moves of all decisions of a street
    root: Betting  # where the tree begins: the deal, or any state

    def __len__(self) -> int:
        return len(self.actor)

    def children(self, node: int) -> range:
        """Child nodes, in the order of the moves."""
        first = int(self.first[node])
        return range(first, first + int(self.count[node]))

    def label(self, node: int) -> str:
        """The move that leads to a node: f, c, r or r300; nothing at the root."""
        kind = int(self.kind[node])
        return "" if kind < 0 else acpc_label(self.rules.limit, kind - 1 if kind < RAISE else int(self.total[node]))

    def moves(self, node: int) -> tuple[str, ...]:
        """Labels of the moves at a decision."""
        return tuple(self.label(child) for child in self.children(node))

    def line(self, node: int) -> str:
        """The line that leads to a node, as in the ACPC protocol: `cr300c/`."""
        if not 0 <= node < len(self):
            raise InputError(f"node {node}: the tree has nodes 0 to {len(self) - 1:,}")
        last = self.rules.rounds - 1
        # A deal follows a move: to the child's street, or to the river where all-in was called.
        at = last if self.showdown[node] else int(self.street[node])
        parts: list[str] = []
        while node:
            above = int(self.parent[node])
            parts.append(self.label(node) + "/" * (at - int(self.street[above])))
            node, at = above, int(self.street[above])
        return self.root.line + "".join(reversed(parts))

    def find(self, line: str) -> int:
        """The node that a line leads to; each raise must be one of the tree. A `/` at the end may be left out."""
        if not line.startswith(self.root.line):
            raise InputError(f"line {shown(line)}: this tree begins at {shown(self.root.line)}, and so do its lines")
        node = 0
        for label in steps(line[len(self.root.line) :]):
            if label == "/":
                continue
            below = [child for child in self.children(node) if self.label(child) == label]
            if not below:
                there = listed(self.moves(node)) or "the hand is over"
                here = shown(self.line(node))
                raise InputError(f"line {shown(line)}: no move {shown(label)} at {here} in this tree: {there}")
            node = below[0]
        right = self.line(node)
        if not right.startswith(line) or right.rstrip("/") != line.rstrip("/"):
            raise InputError(f"line {shown(line)}: deals are not where rounds end; write {shown(right)}")
        return node

    def counts(self, buckets: Sequence[int], entry_bytes: float = 8) -> Counts:
        """Sizes of tables with so many buckets on each street."""
        return self.shape.counts(buckets, entry_bytes)

    @cached_property
    def fingerprint(self) -> str:
        """Tells trees apart: rules, moves and pay-offs."""
        digest = hashlib.sha256(str(self.rules).encode())
        if self.root.at != self.rules.book.start:
            digest.update(repr(tuple(self.root.at)).encode())
        for part in (self.actor, self.street, self.first, self.kind, self.total, self.showdown, self.pay):
            digest.update(np.ascontiguousarray(part).data)
        return digest.hexdigest()


# --- the graph of states ----------------------------------------------------------------------


@dataclass
class _Graph:
    """States of the betting and moves between them. A tree has as many nodes as there are paths from the first state."""

    actor: array[int] = field(default_factory=lambda: array("b"))
    street: array[int] = field(default_factory=lambda: array("b"))
    spent: array[int] = field(default_factory=lambda: array("i"))  # two a state
    folded: array[int] = field(default_factory=lambda: array("b"))
    start: array[int] = field(default_factory=lambda: array("q"))
    moves: array[int] = field(default_factory=lambda: array("B"))
    target: array[int] = field(default_factory=lambda: array("i"))
    kind: array[int] = field(default_factory=lambda: array("b"))
    total: array[int] = field(default_factory=lambda: array("i"))
    paths: list[int] = field(default_factory=list)  # lines that lead to each state; exact, whatever their number
    depth: int = 0

    def add(self, s: State) -> int:
        if len(self.actor) >= MOST_STATES:
            raise MemoryLimitError(
                f"more than {MOST_STATES:,} different states of betting: leave out sizes, or most_raises"
            )
        self.actor.append(s.turn if s.over == GOING else OVER)
        self.street.append(s.street)
        self.spent.extend(s[:2])
        self.folded.append(s.turn if s.over == FOLDED else -1)
        self.start.append(0)
        self.moves.append(0)
        self.paths.append(0)
        return len(self.actor) - 1


def _graph(root: Betting, menu: Menu | None) -> _Graph:
    """All states, street by street and move by move, so that every state comes after all that lead to it."""
    rules, choices, graph = root.rules, Choices(root.rules, menu), _Graph()
    level = {_forget(root.at, choices): graph.add(root.at)}
    graph.paths[0] = 1
    ends: dict[tuple[int, ...], int] = {}
    for _ in range(root.street, rules.rounds):
        dealt: dict[tuple[int, int], int] = {}
        roots: dict[State, int] = {}
        while level:
            below: dict[State, int] = {}
            for s, index in level.items():
                _moves(graph, choices, s, index, below, dealt, roots, ends)
            level = below
            graph.depth += 1
        level = roots
    return graph


def _forget(s: State, choices: Choices) -> State:
    """Who led is no part of a state where no move depends on it."""
    return s if choices.asks_who_led else s._replace(led=NOBODY)


def _moves(
    graph: _Graph,
    choices: Choices,
    s: State,
    index: int,
    below: dict[State, int],
    dealt: dict[tuple[int, int], int],
    roots: dict[State, int],
    ends: dict[tuple[int, ...], int],
) -> None:
    """Write the moves of a state, and the states that they lead to."""
    rules, paths, me = choices.rules, graph.paths, s.turn
    book, lines = rules.book, paths[index]
    moves = choices.moves(s)
    if len(moves) > MOST_MOVES:
        raise InputError(
            f"{len(moves)} moves for one decision on the {rules.streets[s.street]}: at most {MOST_MOVES}; name fewer sizes"
        )
    graph.start[index], graph.moves[index] = len(graph.target), len(moves)
    for move in moves:
        after = step(book, s, move)
        if after.over == GOING:
            number = below.get(after)
            if number is None:
                number = below[after] = graph.add(after)
        elif after.over == DEAL:  # both have put in the same
            told = after.spent0, after.turn if after.raises and choices.asks_who_led else NOBODY
            number = dealt.get(told)
            if number is None:
                begun = _forget(deal(book, after), choices)
                number = dealt[told] = roots[begun] = graph.add(begun)
        else:
            how = after.spent0, after.spent1, after.street, after.turn if after.over == FOLDED else NOBODY
            number = ends.get(how)
            if number is None:
                number = ends[how] = graph.add(after)
        graph.target.append(number)
        graph.kind.append(move + 1 if move <= 0 else RAISE)  # FOLD and CALL as numbers of moves are -1 and 0
        graph.total.append(after[me])
        paths[number] += lines


def _shape(rules: Rules, graph: _Graph) -> Shape:
    rounds = range(rules.rounds)
    decisions, actions = [[0, 0] for _ in rounds], [[0, 0] for _ in rounds]
    folds, showdowns = [0 for _ in rounds], [0 for _ in rounds]
    for actor, street, folded, moves, paths in zip(
        graph.actor, graph.street, graph.folded, graph.moves, graph.paths, strict=True
    ):
        if actor >= 0:
            decisions[street][actor] += paths
            actions[street][actor] += paths * moves
        elif folded >= 0:
            folds[street] += paths
        else:
            showdowns[street] += paths
    pairs = [tuple((both[0], both[1]) for both in table) for table in (decisions, actions)]
    return Shape(rules.name, rules.streets, pairs[0], pairs[1], tuple(folds), tuple(showdowns))


# --- the tree ---------------------------------------------------------------------------------


def measure(root: Rules | Betting, menu: Menu | None = None) -> Shape:
    """How large the tree of a game and a menu is, exactly and without building it. A limit game needs no menu."""
    state = _rooted(root)
    return _shape(state.rules, _graph(state, menu))


def _rooted(root: Rules | Betting) -> Betting:
    """The state that a tree begins with; refused where it can have none."""
    state = Betting.start(root) if isinstance(root, Rules) else root
    rules = state.rules
    rules.need_zero_sum("blueprints are trained")
    if state.actor < 0:
        raise InputError(f"nobody acts at {shown(state.line)}: a tree of betting begins where somebody does")
    if rules.stacks is not None and max(rules.stacks) > MOST_CHIPS:
        raise InputError(f"stacks={rules.stacks}: at most {MOST_CHIPS:,} chips; divide all amounts by the same number")
    return state


def compile_actions(root: Rules | Betting, menu: Menu | None = None, most_nodes: int = MOST_NODES) -> ActionTree:
    """The tree of a game and a menu of sizes, from the deal or from any state on. A limit game needs no menu."""
    begun = _rooted(root)
    rules, graph = begun.rules, _graph(begun, menu)
    shape = _shape(rules, graph)
    if shape.nodes > most_nodes:
        raise MemoryLimitError(
            f"the tree of betting has {shape.nodes:,} nodes ({show_bytes(shape.nodes * _NODE_BYTES)}), more than the "
            f"{most_nodes:,} allowed: leave out sizes, set most_raises, or pass most_nodes"
        )
    nodes = shape.nodes
    state, first, parent, total = (np.empty(nodes, np.int32) for _ in range(4))
    kind = np.empty(nodes, np.int8)
    moves = np.frombuffer(graph.moves, np.uint8).astype(np.int8)
    room = graph.depth * int(moves.max()) + 1
    states = action_tree.Graph(
        np.frombuffer(graph.start, np.int64),
        moves,
        np.frombuffer(graph.target, np.int32),
        np.frombuffer(graph.kind, np.int8),
        np.frombuffer(graph.total, np.int32),
    )
    out = action_tree.Unrolled(state, first, parent, kind, total)
    end = _unroll(states, np.empty(room, np.int32), out)
    assert end == nodes
    of_state = {
        name: np.frombuffer(getattr(graph, name), np.int8).astype(np.int8) for name in ("actor", "street", "folded")
    }
    spent = np.frombuffer(graph.spent, np.int32).reshape(-1, 2)
    over, stake = of_state["actor"] < 0, spent.min(axis=1)
    pay = np.where(over, np.where(of_state["folded"] == 0, -stake, stake), 0).astype(np.int32)
    actor, street, count = of_state["actor"][state], of_state["street"][state], moves[state]
    slot, width = _slots(actor, street, count, rules.rounds)
    return ActionTree(
        rules=rules,
        menu=menu,
        shape=shape,
        actor=actor,
        street=street,
        first=first,
        count=count,
        parent=parent,
        kind=kind,
        total=total,
        spent=spent[state],
        showdown=(over & (of_state["folded"] < 0))[state],
        pay=pay[state],
        slot=slot,
        width=width,
        root=begun,
    )


def _unroll(graph: action_tree.Graph, stack: Array, out: action_tree.Unrolled) -> int:
    """The compiled loop, or the same one as Python runs it: 10 ms for 15,000 nodes, where loading loops takes 200."""
    if len(out.state) > FEW_NODES:
        return int(action_tree.unroll(graph, stack, out))
    views: list[Any] = [array.data for array in (*graph, stack, *out)]  # read and written faster than arrays
    size = len(graph)
    return int(
        action_tree.unroll.py_func(
            action_tree.Graph(*views[:size]), views[size], action_tree.Unrolled(*views[size + 1 :])
        )
    )


def _slots(actor: Array, street: Array, count: Array, rounds: int) -> tuple[Array, Array]:
    """Where the moves of each decision stand among those of its street, and how many a street has."""
    slot = np.full(len(actor), -1, np.int32)
    width = np.zeros(rounds, np.int64)
    for here in range(rounds):
        decisions = np.flatnonzero((actor >= 0) & (street == here))
        ends = np.cumsum(count[decisions], dtype=np.int64)
        slot[decisions] = ends - count[decisions]
        width[here] = ends[-1] if len(ends) else 0
    return slot, width
