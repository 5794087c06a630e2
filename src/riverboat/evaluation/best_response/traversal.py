"""Layout and traversal of best responses: betting, cards, scratch memory, and the evaluation of all boards in pieces.

Johanson, Waugh, Bowling and Zinkevich (2011) traverse public states with vectors of hands. Here the streets before
the last are lists of items (`build_items`), and the last street is a program over batches of equal subtrees
(`build_last_street`). `ResponseTraversal` evaluates the boards in pieces, which can run in any order on any machine.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from math import comb, prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from riverboat.cards.equity.batch_equities import BatchShowdown
from riverboat.cards.isomorphism import suit_permutations
from riverboat.compiled.simd import SIMD_WIDTH, native_width
from riverboat.core.arrays import Array, zeros
from riverboat.core.errors import RiverboatError
from riverboat.evaluation.best_response._kernels import last_street
from riverboat.evaluation.best_response._kernels import traversal as kernels
from riverboat.evaluation.matches._kernels.match import StrategyTables
from riverboat.evaluation.matches.duel import strategy_tables
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.games.holdem.rules import PokerRules
from riverboat.strategies.blueprint import Blueprint

Precision: TypeAlias = type[np.floating[Any]]  # precision of the last street: float32 or float64


class ResponsePlayer(NamedTuple):
    """Player to evaluate against the strategy: its seat, and how it decides before the last street and on it."""

    seat: int
    before: int  # MAXIMIZE: the best action of each hand; FOLLOW_STRATEGY: the probabilities of a table
    last: int  # the same on the last street


RESPONDERS = tuple(ResponsePlayer(seat, kernels.MAXIMIZE, kernels.MAXIMIZE) for seat in (0, 1))
SELF_PLAYER = ResponsePlayer(0, kernels.FOLLOW_STRATEGY, kernels.FOLLOW_STRATEGY)  # the strategy as seat 0


# --- Betting before the last street ---


def nodes_of_street(tree: ActionTree, street: int) -> Array:
    """Return the tree nodes that the traversal evaluates on a street before the last. int64 [nodes]

    They are its own nodes, the first nodes of the next street (street ends), and showdowns of earlier all-ins, which
    wait for the complete board. A game of one street has only its root, as a street end.
    """
    if tree.rules.rounds == 1:
        return np.zeros(1, np.int64)
    decision, parent_street = tree.actor >= 0, tree.street[np.maximum(tree.parent, 0)]
    is_end = decision & (tree.street == street + 1) & (parent_street == street)
    return np.flatnonzero((tree.street == street) | is_end | (tree.showdown & (tree.street < street)))


def build_items(tree: ActionTree, players: tuple[ResponsePlayer, ...]) -> tuple[kernels.BettingItems, list[Array]]:
    """Lay out the betting before the last street as items: the nodes of each street, once for each player.

    Also returns, for each player, the item of every tree node on the street before the last; -1: none. int64 [nodes]
    """
    rounds, count = tree.rules.rounds, 0
    parent_street = np.where(tree.parent >= 0, tree.street[np.maximum(tree.parent, 0)], -1)
    decision = tree.actor >= 0
    at, root, parts, vectors = [0], [], [], 0
    before = [np.full(len(tree), -1)] * len(players)  # items of the nodes on the previous street
    for s in range(max(1, rounds - 1)):
        street_nodes = nodes_of_street(tree, s)
        is_decision = decision[street_nodes] & (tree.street[street_nodes] == s) & (rounds > 1)
        is_entry = parent_street[street_nodes] < s
        for p, player in enumerate(players):
            item_of = np.full(len(tree), -1)
            item_of[street_nodes] = count + np.arange(len(street_nodes))
            kind = np.full(len(street_nodes), kernels.STREET_END, np.int8)
            acts = tree.actor[street_nodes[is_decision]] == player.seat
            kind[is_decision] = np.where(acts, player.before, kernels.OPPONENT)
            kind[~decision[street_nodes] & ~tree.showdown[street_nodes]] = kernels.FOLD
            parent_item = np.where(is_entry, 0, item_of[np.maximum(tree.parent[street_nodes], 0)] - count)
            has_own_reach = is_entry | (kind[parent_item] == kernels.OPPONENT)
            reach = np.empty(len(street_nodes), np.int64)
            reach[has_own_reach] = vectors + np.arange(has_own_reach.sum())
            vectors += int(has_own_reach.sum())
            for i in np.flatnonzero(~has_own_reach):  # parents precede children
                reach[i] = reach[parent_item[i]]
            payoffs = tree.payoff[street_nodes] * (1.0 if player.seat == 0 else -1.0)
            first = np.where(is_decision, item_of[np.maximum(tree.first[street_nodes], 0)], -1)
            entry = np.where(is_entry, before[p][street_nodes], -1)
            parts.append((kind, first, tree.count[street_nodes], tree.slot[street_nodes], reach, entry, payoffs))
            if s == 0:
                root.append(count)
            count += len(street_nodes)
            before[p] = item_of
        at.append(count)
    kind, *numbers, payoffs = (np.concatenate(column) for column in zip(*parts, strict=True))
    first, moves, slot, reach, entry = (np.asarray(column, np.int64) for column in numbers)
    starts, roots = np.array(at, np.int64), np.array(root, np.int64)
    return kernels.BettingItems(starts, roots, kind, first, moves, slot, reach, entry, payoffs), before


# --- Last street ---


class LastStreetTerminals(NamedTuple):
    """Tree nodes of the terminals of the last street, by row of `LastStreet.pay`."""

    node: Array  # int64 [rows, lanes]; -1 in unused lanes
    seat: Array  # int64 [rows]: of the responding player


@dataclass
class _LastStreetBuilder:
    """Builder of the batches of the last street: of the arrays of `LastStreet` and `LastStreetTerminals`, as lists."""

    tree: ActionTree
    lanes: int
    batch: list[tuple[int, ...]] = field(default_factory=list)
    entry: list[Array] = field(default_factory=list)
    op: list[list[int]] = field(default_factory=list)
    pay: list[Array] = field(default_factory=list)
    source: list[Array] = field(default_factory=list)  # weight index for each lane
    ends: list[Array] = field(default_factory=list)  # terminal nodes of each row of `pay`
    seat: list[int] = field(default_factory=list)

    def add(self, player: ResponsePlayer, nodes: Array, entry: Array) -> None:
        """Add a batch: up to `lanes` nodes with subtrees of one shape, and the items that lead to them (`entry`)."""
        sequences: list[Array] = []  # sequences of the opponent: weight index for each lane
        shows: list[bool] = []  # whether each sequence leads to a showdown
        terminals: list[list[int]] = []  # operations of the terminals
        own: list[tuple[list[int], Array]] = []  # these with the weight indices of own actions, to follow a strategy
        begin, first = len(self.op), len(self.source)
        wide = np.concatenate([nodes, np.repeat(nodes[:1], self.lanes - len(nodes))])
        used = np.arange(self.lanes) < len(nodes)
        start = np.where(used, last_street.WEIGHT_ONE, last_street.WEIGHT_ZERO)

        # Both functions take one node per lane, and weight indices of the last action of the opponent (`other`) and of
        # the player (`mine`). `end` adds a terminal, whose value joins that of its parent at `level` as `how` says.
        def end(node: Array, other: Array, mine: Array, level: int, how: int) -> None:
            shown = bool(self.tree.showdown[node[0]])
            number = next((k for k, sequence in enumerate(sequences) if (sequence == other).all()), len(sequences))
            if number == len(sequences):
                sequences.append(other)
                shows.append(False)
            shows[number] |= shown
            kind = last_street.OP_SHOWDOWN if shown else last_street.OP_FOLD
            terminals.append([kind, number, level, how, len(self.pay), -1])
            self.op.append(terminals[-1])
            sign = 1.0 if shown or player.seat == 0 else -1.0
            self.pay.append(np.where(used, sign * self.tree.payoff[node], 0.0))
            self.ends.append(np.where(used, node, -1))
            self.seat.append(player.seat)
            if player.last == kernels.FOLLOW_STRATEGY:
                own.append((terminals[-1], mine))

        def visit(node: Array, other: Array, mine: Array, level: int) -> None:
            acts = self.tree.actor[node[0]] == player.seat
            joins = last_street.REDUCE_MAX if acts and player.last == kernels.MAXIMIZE else last_street.REDUCE_SUM
            for a in range(int(self.tree.count[node[0]])):
                child, slot = self.tree.first[node] + a, self.tree.slot[node] + a
                move = np.where(used, last_street.FIRST_ACTION_WEIGHT + slot, last_street.WEIGHT_ZERO)
                others, mines = (other, move) if acts else (move, mine)
                how = joins if a else last_street.REDUCE_SET
                if self.tree.actor[child[0]] < 0:
                    end(child, others, mines, level, how)
                else:
                    visit(child, others, mines, level + 1)
                    self.op.append([last_street.OP_CHILD, level + 1, level, how, 0, -1])

        if self.tree.actor[nodes[0]] < 0:
            end(wide, start, start, 0, last_street.REDUCE_SET)
        else:
            visit(wide, start, start, 0)
        order = sorted(range(len(sequences)), key=lambda k: not shows[k])  # sequences without a showdown come last
        for op in terminals:
            op[1] = order.index(op[1])
        self.source += [sequences[k] for k in order]
        for op, weights in own:
            op[5] = len(self.source) * self.lanes
            self.source.append(weights)
        self.entry.append(np.concatenate([entry, np.full(self.lanes - len(entry), -1)]))
        self.batch.append((first * self.lanes, sum(shows), len(sequences), begin, len(self.op)))


def build_last_street(
    tree: ActionTree, players: tuple[ResponsePlayer, ...], items: list[Array], dtype: Precision
) -> tuple[last_street.LastStreet, LastStreetTerminals]:
    """Lay out the last street in batches, without strategies.

    `items` maps the nodes to items of the previous street for each player, as `build_items` returns it.
    """
    last, builder = tree.rules.rounds - 1, _LastStreetBuilder(tree, native_width(np.dtype(dtype).itemsize))
    parent_street = np.where(tree.parent >= 0, tree.street[np.maximum(tree.parent, 0)], -1)
    entries = np.flatnonzero(
        ((tree.actor >= 0) & (tree.street == last) & (parent_street < last)) | (tree.showdown & (tree.street < last))
    )
    for player, item_of in zip(players, items, strict=True):
        shapes = _subtree_shapes(tree, player.seat)
        by_shape = defaultdict(list)
        for node in entries.tolist():
            by_shape[shapes[node]].append(node)
        for same_shape in by_shape.values():
            for k in range(0, len(same_shape), builder.lanes):
                nodes = np.array(same_shape[k : k + builder.lanes])
                builder.add(player, nodes, item_of[nodes])
    decisions = np.flatnonzero((tree.actor >= 0) & (tree.street == last))
    batch, entry, op = (np.array(part, np.int64) for part in (builder.batch, builder.entry, builder.op))
    slot, count = tree.slot[decisions].astype(np.int64), tree.count[decisions].astype(np.int64)
    own = slot, count, _previous_own_action(tree, decisions), np.concatenate(builder.source).astype(np.uint64)
    no_strategy = np.zeros(0, np.uint8), np.zeros(0, np.float32), 0, np.zeros(0, dtype)
    street = last_street.LastStreet(batch, entry, op, np.concatenate(builder.pay).astype(dtype), *own, *no_strategy)
    return street, LastStreetTerminals(np.array(builder.ends, np.int64), np.array(builder.seat, np.int64))


def _subtree_shapes(tree: ActionTree, seat: int) -> list[int]:
    """Return a number for each node, equal for nodes whose betting subtrees have the same shape for this seat."""
    numbers: dict[tuple[int, ...], int] = {}
    shapes = [0] * len(tree)
    actor, first, count, showdown = (part.tolist() for part in (tree.actor, tree.first, tree.count, tree.showdown))
    for node in range(len(tree) - 1, -1, -1):  # children follow parents
        if actor[node] < 0:
            key: tuple[int, ...] = (-1, int(showdown[node]))
        else:
            key = (int(actor[node] == seat), *shapes[first[node] : first[node] + count[node]])
        shapes[node] = numbers.setdefault(key, len(numbers))
    return shapes


def _previous_own_action(tree: ActionTree, decisions: Array) -> Array:
    """Return for each decision the weight index of the actor's previous action on the street; WEIGHT_ONE: none."""
    previous = np.full(len(decisions), last_street.WEIGHT_ONE, np.int64)
    for i, node in enumerate(decisions.tolist()):
        seat, street, child = tree.actor[node], tree.street[node], node
        while tree.parent[child] >= 0 and tree.street[tree.parent[child]] == street:
            parent = int(tree.parent[child])
            if tree.actor[parent] == seat:
                previous[i] = last_street.FIRST_ACTION_WEIGHT + int(tree.slot[parent]) + child - int(tree.first[parent])
                break
            child = parent
    return previous


def with_table(last: last_street.LastStreet, strategy: Blueprint) -> last_street.LastStreet:
    """Return the last street with the table of a strategy: uint8 in `steps`, other types in `sums` as floats."""
    all_tables, street = strategy_tables(strategy), strategy.rules.rounds - 1
    table, empty = all_tables.tables[street], np.zeros(0, np.float32)
    stride = int(all_tables.stride[street])
    if table.dtype == np.uint8:
        return last._replace(steps=table, sums=empty, stride=stride)
    sums = table.astype(np.float32) if table.dtype.kind == "u" else table
    return last._replace(steps=np.zeros(0, np.uint8), sums=sums, stride=stride)


def with_all_weights(last: last_street.LastStreet, buckets: int) -> last_street.LastStreet:
    """Return the last street with precomputed sequence weights of all buckets, in place of the table."""
    weight = np.zeros(buckets * len(last.source), last.pay.dtype)
    last_street.fill_all_sequence_weights(last, _sequence_weight_buffer(last), weight)
    return last._replace(steps=last.steps[:0], sums=last.sums[:0], weight=weight)


def with_followed_strategy(
    last: last_street.LastStreet, opponent: last_street.LastStreet, buckets: int
) -> last_street.LastStreet:
    """Return the last street with precomputed weights of all buckets, for players that follow a strategy of their own.

    Weights of the opponent's sequences are from the table of `opponent`, those of own actions from that of `last`.
    """
    weight, own_weight = (with_all_weights(table, buckets).weight.reshape(buckets, -1) for table in (opponent, last))
    lanes, own_offsets = last.entry.shape[1], last.op[last.op[:, 5] >= 0, 5]
    columns = (own_offsets[:, None] + np.arange(lanes)).ravel()
    weight[:, columns] = own_weight[:, columns]
    return last._replace(steps=last.steps[:0], sums=last.sums[:0], weight=weight.ravel())


def float_strategy_tables(strategy: Blueprint) -> StrategyTables:
    """Return the tables of a strategy before the last street as float64, so that loops are compiled for one type."""
    all_tables, last = strategy_tables(strategy), strategy.rules.rounds - 1
    tables = [table.astype(np.float64) if s < last else np.zeros(0) for s, table in enumerate(all_tables.tables)]
    return StrategyTables(tuple(tables), all_tables.stride)


# --- Cards ---


def build_cards(rules: PokerRules) -> kernels.ResponseCards:
    """Return the hands, deals and suit permutations of a game."""
    deck, count, hole = rules.deck, len(rules.deck.cards), rules.deck.hole
    remaining = [count - shown + dealt for shown, dealt in zip(rules.board_sizes, rules.board, strict=True)]
    deals = list(zip(remaining, rules.board, strict=True))
    chance = np.array([1.0 / comb(cards_left - 2 * hole, n) for cards_left, n in deals])
    counts = np.array([float(comb(cards_left, n)) for cards_left, n in deals])
    held, hands = BatchShowdown(deck, rules.board_sizes[-1]).kernel_hands, np.ascontiguousarray(deck.hands).reshape(-1)
    boards = np.array(rules.board, np.int64), np.array(rules.board_sizes, np.int64)
    return kernels.ResponseCards(held, hands, *suit_permutations(deck), *boards, chance, counts, hole)


# --- Workspaces ---


def make_workspace(
    items: kernels.BettingItems, last: last_street.LastStreet, cards: kernels.ResponseCards, *, lazy: bool
) -> kernels.ResponseWorkspace:
    """Create the scratch memory of one thread; `lazy` adds room for sequence weights computed board by board."""
    hands, streets, lanes = len(cards.held.mask), len(cards.shown), SIMD_WIDTH
    vectors, stride = int(items.reach.max()) + 1, -(-hands // lanes) * lanes
    dtype, wide = last.pay.dtype, _max_sequences(last) * last.entry.shape[1]  # numbers per hand or card
    return kernels.ResponseWorkspace(
        reach=np.zeros((vectors, stride)),
        dead=np.zeros(vectors, np.bool_),
        value=np.zeros((len(items.kind) + 1, stride)),
        digits=np.zeros(257, np.int64),
        sums=np.zeros(last_street.NUM_CARDS * lanes),
        board=np.zeros(8, np.uint8),
        chosen=np.zeros((streets, kernels.MAX_DEALT), np.int64),
        **zeros(hands, scratch=np.float64, strength=np.uint16, rank=np.uint16),
        **zeros((streets, hands), hand=np.int32, place=np.int32, source=np.int32, bucket=np.int64),
        **zeros((streets, hands), first=np.uint8, second=np.uint8),
        **zeros(streets, live=np.int64, public=np.int64, boards_visited=np.int64),
        **zeros(streets, board_mask=np.uint64, group=np.int64, multiplicity=np.float64),
        **zeros(stride * lanes, fold_reach=np.float64, fold_values=np.float64),
        **zeros(lanes, fold_reach_offset=np.uint64, fold_value_offset=np.uint64, fold_payoff=np.float64),
        last=last_street.LastStreetWorkspace(
            alive=np.zeros(len(last.batch), np.bool_),
            sequence_weight=_sequence_weight_buffer(last),
            weight=np.zeros(hands * len(last.source) if lazy else 0, dtype),
            at=np.zeros(hands, np.uint64),
            sums=np.zeros(wide * last_street.NUM_CARDS, dtype),
            total=np.zeros(wide, dtype),
            value=np.zeros((int(last.op[:, 2].max()) + 1) * last_street.HANDS_PER_BLOCK * last.entry.shape[1], dtype),
            **zeros(last.entry.size * hands, entry=dtype, gained=dtype),
            **zeros(wide * hands, reach=dtype, beats=dtype),
        ),
    )


def _sequence_weight_buffer(last: last_street.LastStreet) -> Array:
    """Return a buffer for the weights of one bucket by weight index: one, zero, then the actions of the street."""
    return np.zeros(last_street.FIRST_ACTION_WEIGHT + int((last.first + last.moves).max(initial=0)))


def _max_sequences(last: last_street.LastStreet) -> int:
    return int(last.batch[:, 2].max())


# --- Traversal of all boards in pieces ---

MAX_PIECES = 195  # nine flops each in hold'em
# Limits for precomputed weights of all buckets; larger ones are computed board by board. Short rows are computed faster
# than they are read from memory, so those of small trees are stored only if they fit in a near cache.
MAX_WEIGHT_BYTES, MAX_SHORT_WEIGHT_BYTES = 1 << 30, 1 << 22
GROUP_WORK = 2e7  # numbers, of which a core computes some billion in a second
_NO_BOARDS = kernels.ResponseBoards(np.zeros((0, 0), np.uint8), np.zeros(0), np.zeros(0, np.int64))


@dataclass(frozen=True)
class ResponsePlan:
    """Betting of a game in the layout of the kernels, for some players."""

    tree: ActionTree
    players: tuple[ResponsePlayer, ...]
    items: kernels.BettingItems
    last: last_street.LastStreet
    ends: LastStreetTerminals

    @classmethod
    def build(
        cls, tree: ActionTree, players: tuple[ResponsePlayer, ...], dtype: Precision = np.float64
    ) -> ResponsePlan:
        """Lay out the betting; `dtype` is the precision of the last street."""
        items, items_of_nodes = build_items(tree, players)
        return cls(tree, players, items, *build_last_street(tree, players, items_of_nodes, dtype))

    def weight_bytes(self, buckets: int) -> int:
        """Return the bytes of the sequence weights of the last street for `buckets` buckets."""
        return buckets * len(self.last.source) * self.last.pay.dtype.itemsize

    def makes_weights_per_board(self, buckets: int) -> bool:
        """Return whether sequence weights are computed board by board, as those of all buckets take too much memory."""
        limit = MAX_WEIGHT_BYTES if self.last.pay.dtype == np.float32 else MAX_SHORT_WEIGHT_BYTES
        return self.weight_bytes(buckets) > limit

    def workspace_bytes(self, buckets: int) -> int:
        """Return the bytes of the workspace of one thread, if the last street has `buckets` buckets."""
        items, last, (batches, lanes) = self.items, self.last, self.last.entry.shape
        numbers = 2 * batches * lanes + 2 * _max_sequences(last) * lanes
        if self.makes_weights_per_board(buckets):
            numbers += len(last.source)
        hand_bytes = 8 * (len(items.kind) + int(items.reach.max()) + 3) + last.pay.dtype.itemsize * numbers
        return int(self.tree.rules.deck.num_hands * hand_bytes)


class PieceStoppedError(RiverboatError):
    """Signal that a piece was stopped because its result is no longer needed."""


class ResponseTraversal:
    """Evaluation of the players of a plan against a strategy over all boards, in pieces that are independent.

    Piece k has boards k, k + num_pieces and so on of the second street, with all boards below. Players with
    FOLLOW_STRATEGY play `own_strategy`; by default, the strategy itself.
    """

    def __init__(self, strategy: Blueprint, plan: ResponsePlan, own_strategy: Blueprint | None = None) -> None:
        rules = strategy.rules
        self.rules, self.plan, self.items = rules, plan, plan.items
        self.cards, self.lookup = build_cards(rules), strategy.cards.lookup
        self.lazy = plan.makes_weights_per_board(strategy.buckets[-1])
        self.opponent_tables = float_strategy_tables(strategy)
        self.own_tables = self.opponent_tables if own_strategy is None else float_strategy_tables(own_strategy)
        last = with_table(plan.last, strategy)
        if own_strategy is not None and any(player.last == kernels.FOLLOW_STRATEGY for player in plan.players):
            self.lazy = False
            self.last = with_followed_strategy(with_table(plan.last, own_strategy), last, strategy.buckets[-1])
        else:
            self.last = last if self.lazy else with_all_weights(last, strategy.buckets[-1])
        hole, count = rules.hole, len(rules.deck.cards)
        self.num_hand_pairs = comb(count, hole) * comb(count - hole, hole)
        self.street_ends = np.flatnonzero(self.items.kind[: self.items.at[1]] == kernels.STREET_END)
        self.root = make_workspace(self.items, self.last, self.cards, lazy=self.lazy)
        self.free_workspaces: list[Any] = []  # workspaces that no thread uses now
        self._run_phase(kernels.PHASE_DOWN, self.root, _NO_BOARDS)
        has_boards = rules.rounds > 1 and self.root.chosen[1, 0] != kernels.EXHAUSTED
        self.boards = self._list_second_street_boards() if has_boards else _NO_BOARDS
        self.num_pieces = min(MAX_PIECES, len(self.boards.cards))

    def _run_phase(self, phase: int, workspace: kernels.ResponseWorkspace, boards: kernels.ResponseBoards) -> None:
        tables = self.lookup, self.opponent_tables, self.own_tables
        kernels.run_phase(self.items, self.last, self.cards, *tables, phase, boards, workspace)

    def _list_second_street_boards(self) -> kernels.ResponseBoards:
        """List the boards of the second street up to suit isomorphism, with multiplicities and stabilizers."""
        count = kernels.list_deals(self.cards, self.root, *_NO_BOARDS)
        cards = np.zeros((count, int(self.cards.dealt[1])), np.uint8)
        boards = kernels.ResponseBoards(cards, np.zeros(count), np.zeros(count, np.int64))
        kernels.list_deals(self.cards, self.root, *boards)
        return boards

    def make_workspace(self) -> Any:
        """Create a workspace for a thread that evaluates pieces."""
        return deepcopy(self.root)

    @contextmanager
    def borrow_workspace(self) -> Iterator[Any]:
        """Lend a workspace that no other thread uses."""
        workspace = self.free_workspaces.pop() if self.free_workspaces else self.make_workspace()
        yield workspace
        self.free_workspaces.append(workspace)

    @cached_property
    def group_size(self) -> int:
        """Number of boards of one call: threads enter calls one by one, so short ones would wait for each other."""
        cards, board = len(self.rules.deck.cards), self.rules.board
        below = prod(comb(cards - sum(board[:street]), board[street]) for street in range(2, self.rules.rounds))
        return max(1, int(GROUP_WORK / (len(self.items.kind) * len(self.cards.held.mask) * below)))

    def evaluate_piece(
        self, number: int, workspace: kernels.ResponseWorkspace, stop: Callable[[], bool] = lambda: False
    ) -> tuple[Array, Array]:
        """Return the values that a piece adds at the ends of the first street, and its number of boards by street.

        float64 [ends, hands], int64 [streets]. `stop` is called before each group of boards of the second street, of
        which one may take seconds; if it returns True, PieceStoppedError is raised.
        """
        before, values = workspace.boards_visited.copy(), np.zeros((len(self.street_ends), len(self.cards.held.mask)))
        numbers = np.arange(number, len(self.boards.cards), self.num_pieces)
        while len(numbers):
            if stop():
                raise PieceStoppedError(f"piece {number} of a best response was stopped")
            group, numbers = np.split(numbers, [self.group_size])
            values += self.evaluate_boards(workspace, *(part[group] for part in self.boards))
        return values, workspace.boards_visited - before

    def evaluate_boards(
        self, workspace: kernels.ResponseWorkspace, boards: Array, multiplicity: Array, groups: Array
    ) -> Array:
        """Return the values that boards add at the ends of the first street. float64 [ends, hands]

        Arguments are the members of `ResponseBoards`.
        """
        self._run_phase(kernels.PHASE_BOARDS, workspace, kernels.ResponseBoards(boards, multiplicity, groups))
        return np.array(workspace.value[self.street_ends, : len(self.cards.held.mask)])

    def player_values(self, street_end_values: Array | None) -> tuple[float, ...]:
        """Return the value of each player in chips per hand, from the sum of `evaluate_piece` over all pieces.

        `street_end_values` is None if the game deals no boards. float64 [ends, hands]
        """
        hands = len(self.cards.held.mask)
        if street_end_values is not None:
            self.root.value[self.street_ends, :hands] = street_end_values
        self._run_phase(kernels.PHASE_UP, self.root, _NO_BOARDS)
        return tuple(float(self.root.value[root, :hands].sum()) / self.num_hand_pairs for root in self.items.root)
