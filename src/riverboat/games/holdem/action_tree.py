"""The betting tree of a game and a menu as flat arrays, for solvers that sample the cards.

`measure_action_tree` counts a tree without building it; `compile_action_tree` builds it. Lines with the same chips and
the same turn have equal subtrees. So the rules are evaluated once per state, and a compiled loop unrolls the graph of
states into the tree, without Python work per node.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, MemoryLimitError, join_names, short_repr
from riverboat.core.formatting import format_bytes
from riverboat.core.tables import FIGURE, ReportColumn, ReportTable
from riverboat.games.holdem import _kernels
from riverboat.games.holdem.betting import BettingState, acpc_label, split_line
from riverboat.games.holdem.betting_rules import (
    DEAL_DUE,
    FOLDED,
    IN_PROGRESS,
    NOBODY,
    SHOWDOWN,
    CompactBettingState,
    apply_action,
    deal_street,
)
from riverboat.games.holdem.menus import ActionMenu, MenuActions
from riverboat.games.holdem.rules import MAX_CHIPS, PokerRules

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

# --- sizes ---

CountsByStreet: TypeAlias = tuple[int, ...]
_COLUMNS = (
    ReportColumn("street"), ReportColumn("decisions", FIGURE, rank=2), ReportColumn("actions", FIGURE, rank=2),
    ReportColumn("buckets", FIGURE, rank=1), ReportColumn("information sets", FIGURE),
    ReportColumn("infoset-actions", FIGURE, rank=1),
    ReportColumn("memory", FIGURE),
)  # fmt: skip


@dataclass(frozen=True)
class BettingTreeSize:
    """Numbers of decisions, actions and terminals of a betting tree, by street.

    A terminal belongs to the street of the action that ends the hand.
    """

    name: str
    streets: tuple[str, ...]
    decisions: tuple[tuple[int, int], ...]  # by street, then by seat
    actions: tuple[tuple[int, int], ...]  # actions of these decisions
    folds: CountsByStreet  # terminals after a fold
    showdowns: CountsByStreet  # terminals with a showdown, including called all-ins before the last street

    @property
    def nodes(self) -> int:
        """Number of decisions and terminals."""
        return sum(map(sum, self.decisions)) + self.terminals

    @property
    def terminals(self) -> int:
        """Number of terminals."""
        return sum(self.folds) + sum(self.showdowns)

    def table_size(self, buckets: Sequence[int], entry_bytes: float = 8) -> StrategyTableSize:
        """Return the size of tables with `buckets[street]` buckets and `entry_bytes` bytes per infoset-action."""
        if len(buckets) != len(self.streets) or min(buckets) < 1:
            raise InputError(
                f"buckets={tuple(buckets)}: give a number above zero for each of {', '.join(self.streets)}"
            )
        return StrategyTableSize(self, tuple(int(b) for b in buckets), entry_bytes)


@dataclass(frozen=True)
class StrategyTableSize:
    """Memory that a solver needs for a betting tree times buckets. `str` formats it as a table."""

    tree_size: BettingTreeSize
    buckets: CountsByStreet
    entry_bytes: float

    @property
    def infosets(self) -> CountsByStreet:
        """Number of information sets of both players, by street."""
        return tuple(sum(d) * b for d, b in zip(self.tree_size.decisions, self.buckets, strict=True))

    @property
    def infoset_actions(self) -> CountsByStreet:
        """Number of actions of these information sets, by street."""
        return tuple(sum(a) * b for a, b in zip(self.tree_size.actions, self.buckets, strict=True))

    @property
    def bytes(self) -> CountsByStreet:
        """Memory of the tables, by street."""
        return tuple(int(n * self.entry_bytes) for n in self.infoset_actions)

    @property
    def table(self) -> ReportTable:
        """Report table with a row for each street, and one for the total."""
        shape, rows = self.tree_size, []
        for street, name in enumerate(shape.streets):
            counts = (sum(shape.decisions[street]), sum(shape.actions[street]), self.buckets[street])
            entries = (self.infosets[street], self.infoset_actions[street])
            rows.append((name, *(f"{n:,}" for n in counts + entries), format_bytes(self.bytes[street])))
        totals = (sum(map(sum, shape.decisions)), sum(map(sum, shape.actions)))
        sums = (f"{sum(self.infosets):,}", f"{sum(self.infoset_actions):,}", format_bytes(sum(self.bytes)))
        rows.append(("all", *(f"{n:,}" for n in totals), "", *sums))
        return ReportTable("", _COLUMNS, tuple(rows))

    def _report_parts(self) -> tuple[str, ReportTable, str]:
        shape = self.tree_size
        head = (
            f"{shape.name}: {shape.nodes:,} nodes, {sum(map(sum, shape.decisions)):,} decisions and "
            f"{shape.terminals:,} terminals ({sum(shape.folds):,} folds, {sum(shape.showdowns):,} showdowns)"
        )
        return head, self.table, f"at {self.entry_bytes:g} bytes an infoset-action"

    def __str__(self) -> str:
        return "\n".join(map(str, self._report_parts()))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[RenderableType]:
        yield from self._report_parts()


TERMINAL_ACTOR = -1  # `actor` of a terminal
FOLD, CALL, RAISE = 0, 1, 2
MAX_NODES = 100_000_000
MAX_STATES = 20_000_000
MAX_ACTIONS = 127
# Larger trees are unrolled by a compiled loop, which a process that only loads an agent need not load.
MAX_INTERPRETED_NODES = 50_000
_NODE_BYTES = 33 + 4  # bytes per node: the arrays of ActionTree, and a state number while they are built


@dataclass(frozen=True, eq=False)
class ActionTree:
    """A betting tree with parents before children; children are adjacent, action a leads to first[node] + a.

    There are no chance nodes: after the last action of a round the child has a later street. After a called all-in the
    child is a showdown on the full board.

    Tables with the same number of buckets for every decision of a street are laid out bucket by bucket: the entry of
    action a is base[street] + bucket * width[street] + slot[node] + a.
    """

    rules: PokerRules
    menu: ActionMenu | None
    shape: BettingTreeSize
    actor: Array  # int8 [nodes]: the seat to act, TERMINAL_ACTOR (-1) at a terminal
    street: Array  # int8 [nodes]: betting round; at a terminal, the street of the action that leads to it
    first: Array  # int32 [nodes]: first child; -1 at a terminal
    count: Array  # int8 [nodes]: number of actions; 0 at a terminal
    parent: Array  # int32 [nodes]: -1 at the root
    kind: Array  # int8 [nodes]: FOLD, CALL or RAISE, the action that leads here; -1 at the root
    total: Array  # int32 [nodes]: total of the player of that action over the whole hand; 0 at the root
    spent: Array  # int32 [nodes, 2]: chips put in by each seat, blinds included
    showdown: Array  # bool [nodes]: terminals where hands are compared
    payoff: Array  # int32 [nodes]: after a fold, the payoff of seat 0; at a showdown, the payoff of the winner
    slot: Array  # int32 [nodes]: number of actions of earlier decisions of the street; -1 at a terminal
    width: Array  # int64 [streets]: number of actions of all decisions of a street
    root: BettingState  # root state: the deal, or any other state

    def __len__(self) -> int:
        return len(self.actor)

    def children(self, node: int) -> range:
        """Return the child nodes, in the order of the actions."""
        first = int(self.first[node])
        return range(first, first + int(self.count[node]))

    def label(self, node: int) -> str:
        """Return the action that leads to a node: f, c, r or r300; empty at the root."""
        return acpc_label(self.rules.limit, self.move(node)) if node else ""

    def move(self, node: int) -> int:
        """Return the action that leads to a node as a number: -1 fold, 0 call, or the total of a raise."""
        kind = int(self.kind[node])
        return kind - 1 if kind < RAISE else int(self.total[node])

    def path(self, node: int) -> list[int]:
        """Return the nodes from the root to a node."""
        path = [node]
        while node:
            node = int(self.parent[node])
            path.append(node)
        return path[::-1]

    def state(self, node: int) -> BettingState:
        """Return the betting state at a node."""
        state = self.root
        for child in self.path(node)[1:]:
            state = state.play(self.move(child))
        return state

    def actions(self, node: int) -> tuple[str, ...]:
        """Return the labels of the actions at a decision."""
        return tuple(self.label(child) for child in self.children(node))

    def line(self, node: int) -> str:
        """Return the line that leads to a node, as in the ACPC protocol: `cr300c/`."""
        if not 0 <= node < len(self):
            raise InputError(f"node {node}: the tree has nodes 0 to {len(self) - 1:,}")
        last = self.rules.rounds - 1
        # Deals follow an action: up to the child's street, or to the river after a called all-in.
        street = last if self.showdown[node] else int(self.street[node])
        parts: list[str] = []
        while node:
            above = int(self.parent[node])
            parts.append(self.label(node) + "/" * (street - int(self.street[above])))
            node, street = above, int(self.street[above])
        return self.root.line + "".join(reversed(parts))

    def find(self, line: str) -> int:
        """Find the node of a line; each raise must be in the tree. A final `/` may be omitted."""
        if not line.startswith(self.root.line):
            raise InputError(
                f"line {short_repr(line)}: this tree begins at {short_repr(self.root.line)}, "
                "so its lines must begin with that"
            )
        node = 0
        for label in split_line(line[len(self.root.line) :]):
            if label == "/":
                continue
            matches = [child for child in self.children(node) if self.label(child) == label]
            if not matches:
                options = join_names(self.actions(node)) or "the hand is over"
                position = short_repr(self.line(node))
                raise InputError(
                    f"line {short_repr(line)}: no move {short_repr(label)} at {position} in this tree: {options}"
                )
            node = matches[0]
        expected = self.line(node)
        if not expected.startswith(line) or expected.rstrip("/") != line.rstrip("/"):
            raise InputError(f"line {short_repr(line)}: '/' must be where rounds end; write {short_repr(expected)}")
        return node

    def table_size(self, buckets: Sequence[int], entry_bytes: float = 8) -> StrategyTableSize:
        """Return the size of tables with `buckets[street]` buckets and `entry_bytes` bytes per infoset-action."""
        return self.shape.table_size(buckets, entry_bytes)

    @cached_property
    def fingerprint(self) -> str:
        """Digest of rules, actions and payoffs that identifies the tree."""
        digest = hashlib.sha256(str(self.rules).encode())
        if self.root.compact != self.rules.compact.start:
            digest.update(repr(tuple(self.root.compact)).encode())
        for part in (self.actor, self.street, self.first, self.kind, self.total, self.showdown, self.payoff):
            digest.update(np.ascontiguousarray(part).data)
        return digest.hexdigest()


# --- graph of betting states ---


class _BettingGraph:
    """Betting states and the actions between them. The tree has a node for each path from the first state."""

    def __init__(self, root: BettingState, menu: ActionMenu | None) -> None:
        """Build the graph street by street and action by action, so that every state comes after its predecessors."""
        self.rules, self.choices = root.rules, MenuActions(root.rules, menu)
        self.states = array("i")  # five numbers per state: chips of both seats, turn, street, over
        self.start, self.moves = array("q"), array("B")  # first edge of each state, and their number
        self.target, self.kind, self.total = array("i"), array("b"), array("i")  # the fields of the edges
        self.paths: list[int] = []  # number of lines that lead to each state, as exact integers
        streets = range(self.rules.rounds)
        self.num_decisions, self.num_actions = [[0, 0] for _ in streets], [[0, 0] for _ in streets]
        self.num_folds, self.num_showdowns = [0 for _ in streets], [0 for _ in streets]
        self.ends: dict[tuple[int, ...], int] = {}  # terminals by chips of both seats, loser, street, over
        first = self._forget_aggressor(root.compact)
        level, self.depth = {first: self._add(first, IN_PROGRESS)}, 0
        self.paths[0] = 1
        while level:
            self.roots: dict[CompactBettingState, int] = {}
            while level:
                self.below: dict[CompactBettingState, int] = {}
                for s, index in level.items():
                    self._add_actions(s, index)
                level = self.below
                self.depth += 1
            level = self.roots

    # Add a state without actions and return its index; `key` begins with chips of both seats, turn and street.
    def _add(self, key: tuple[int, ...], over: int) -> int:
        if len(self.paths) >= MAX_STATES:
            raise MemoryLimitError(
                f"more than {MAX_STATES:,} different betting states: use fewer sizes, or set most_raises"
            )
        self.states.extend((*key[:4], over))
        self.start.append(0)
        self.moves.append(0)
        self.paths.append(0)
        return len(self.paths) - 1

    def _add_actions(self, s: CompactBettingState, index: int) -> None:
        """Add the actions of a state, and the states that they lead to."""
        rules, book, num_lines = self.rules, self.rules.compact, self.paths[index]
        actions = self.choices.actions(s)
        if len(actions) > MAX_ACTIONS:
            raise InputError(
                f"{len(actions)} actions at one decision on the {rules.streets[s.street]}: at most {MAX_ACTIONS}; "
                "use fewer sizes"
            )
        self.start[index], self.moves[index] = len(self.target), len(actions)
        self.num_decisions[s.street][s.turn] += num_lines
        self.num_actions[s.street][s.turn] += num_lines * len(actions)
        for action in actions:
            after = apply_action(book, s, action)
            known: dict[Any, int] = self.below
            key: tuple[int, ...] = after
            over = after.over
            if over == DEAL_DUE:
                over, known, key = IN_PROGRESS, self.roots, self._forget_aggressor(deal_street(book, after))
            elif over != IN_PROGRESS:
                (self.num_folds if over == FOLDED else self.num_showdowns)[after.street] += num_lines
                loser = after.turn if over == FOLDED else NOBODY
                known, key = self.ends, (after.spent0, after.spent1, loser, after.street, over)
            number = known.get(key)
            if number is None:
                number = known[key] = self._add(key, over)
            self.target.append(number)
            self.kind.append(action + 1 if action <= 0 else RAISE)  # as numbers of actions FOLD and CALL are -1 and 0
            self.total.append(after[s.turn])
            self.paths[number] += num_lines

    def _forget_aggressor(self, s: CompactBettingState) -> CompactBettingState:
        """Clear the previous street's aggressor if the menu ignores it, so that states with equal subtrees merge."""
        return s if self.choices.depends_on_aggressor else s._replace(led=NOBODY)

    @property
    def size(self) -> BettingTreeSize:
        """Size of the unrolled tree."""
        decisions, actions = (tuple((a, b) for a, b in each) for each in (self.num_decisions, self.num_actions))
        ends = tuple(self.num_folds), tuple(self.num_showdowns)
        return BettingTreeSize(self.rules.name, self.rules.streets, decisions, actions, *ends)


# --- tree ---


def measure_action_tree(root: PokerRules | BettingState, menu: ActionMenu | None = None) -> BettingTreeSize:
    """Return the exact size of the tree of a game and a menu without building it. A limit game needs no menu."""
    return _BettingGraph(_check_root(root), menu).size


def _check_root(root: PokerRules | BettingState) -> BettingState:
    """Return the betting state at the root; raise InputError if no tree can be built from it."""
    state = BettingState.start(root) if isinstance(root, PokerRules) else root
    rules = state.rules
    rules.require_zero_sum("blueprints are trained")
    if state.actor < 0:
        raise InputError(f"nobody acts at {short_repr(state.line)}: a betting tree must begin at a decision")
    if rules.stacks is not None and max(rules.stacks) > MAX_CHIPS:
        raise InputError(f"stacks={rules.stacks}: at most {MAX_CHIPS:,} chips; divide all amounts by the same number")
    return state


def compile_action_tree(
    root: PokerRules | BettingState, menu: ActionMenu | None = None, max_nodes: int = MAX_NODES
) -> ActionTree:
    """Build the tree of a game and a menu of sizes, from the deal or from any state. A limit game needs no menu.

    More than `max_nodes` nodes raise MemoryLimitError.
    """
    root_state = _check_root(root)
    rules, graph = root_state.rules, _BettingGraph(root_state, menu)
    shape = graph.size
    if shape.nodes > max_nodes:
        raise MemoryLimitError(
            f"the betting tree has {shape.nodes:,} nodes ({format_bytes(shape.nodes * _NODE_BYTES)}), more than the "
            f"{max_nodes:,} allowed: use fewer sizes, set most_raises, or pass a larger max_nodes"
        )
    columns = graph.start, graph.target, graph.kind, graph.total, graph.states
    start, target, kinds, totals, states = (np.frombuffer(column, column.typecode) for column in columns)
    nodes, moves = shape.nodes, np.frombuffer(graph.moves, np.uint8).astype(np.int8)
    state, first, parent, total = (np.empty(nodes, np.int32) for _ in range(4))
    kind, stack = np.empty(nodes, np.int8), np.empty(graph.depth * int(moves.max()) + 1, np.int32)
    edges = _kernels.BettingGraph(start, moves, target, kinds, totals)
    end = _unroll(edges, stack, _kernels.UnrolledBetting(state, first, parent, kind, total))
    assert end == nodes
    spent0, spent1, turn, street, over = states.reshape(-1, 5).T
    stake, folded = np.minimum(spent0, spent1), over == FOLDED
    by_state = {
        "actor": np.where(over == IN_PROGRESS, turn, TERMINAL_ACTOR).astype(np.int8),
        "street": street.astype(np.int8),
        "count": moves,
        "spent": np.stack([spent0, spent1], axis=1),
        "payoff": np.where(over == IN_PROGRESS, 0, np.where(folded & (turn == 0), -stake, stake)),
        "showdown": over == SHOWDOWN,
    }
    of_nodes = {name: values[state] for name, values in by_state.items()}
    slot, width = _slots(of_nodes["actor"], of_nodes["street"], of_nodes["count"], rules.rounds)
    of_nodes |= {"first": first, "parent": parent, "kind": kind, "total": total}
    return ActionTree(rules=rules, menu=menu, shape=shape, root=root_state, slot=slot, width=width, **of_nodes)


def _unroll(graph: _kernels.BettingGraph, stack: Array, out: _kernels.UnrolledBetting) -> int:
    """Unroll the graph into `out` by a compiled loop, or in Python for small trees; return the number of nodes.

    Python takes 10 ms for 15,000 nodes; to load the compiled loop takes 200 ms.
    """
    if len(out.state) > MAX_INTERPRETED_NODES:
        return int(_kernels.unroll_graph(graph, stack, out))
    views: list[Any] = [array.data for array in (*graph, stack, *out)]  # faster than arrays in Python
    size = len(graph)
    return int(
        _kernels.unroll_graph.py_func(
            _kernels.BettingGraph(*views[:size]), views[size], _kernels.UnrolledBetting(*views[size + 1 :])
        )
    )


def _slots(actor: Array, street: Array, count: Array, rounds: int) -> tuple[Array, Array]:
    """Return the offset of each decision's actions within its street, and the number of actions of each street."""
    slot = np.full(len(actor), -1, np.int32)
    width = np.zeros(rounds, np.int64)
    for number in range(rounds):
        decisions = np.flatnonzero((actor >= 0) & (street == number))
        ends = np.cumsum(count[decisions], dtype=np.int64)
        slot[decisions] = ends - count[decisions]
        width[number] = ends[-1] if len(ends) else 0
    return slot, width
