"""Poker over classes of hands with perfect recall: best responses, CFR+, and linear programs without boards.

If every class determines its class on the street before, a card game is a betting tree and, on each street, the joint
distribution of both players' classes. Then reach probabilities at all terminals of a street are one matrix, and one
product with the joint distribution gives their values. Percentile buckets are such classes, and so are those of
GameShrink for Rhode Island hold'em. Seats are symmetric: a pair of classes is equally likely in both orders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.core.arrays import Array, normalize
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.core.formatting import format_bytes
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.papers.public_chance_sampling import _kernels as kernels
from riverboat.solvers.exact.lp import SequenceFormLP
from riverboat.solvers.mccfr.tables import BucketTables, make_sampling_game
from riverboat.solvers.mccfr.traversers import board_workspace, deck_hands
from riverboat.solvers.tabular.best_response import Quality

MAX_DENSE_FACTOR = 4  # largest size of dense blocks, relative to the number of pairs
ROOTS_PER_BATCH = 96  # subtrees of the next street in one batch: memory is their terminals × classes


@dataclass(frozen=True, eq=False)
class ClassGame:
    """A betting tree, and the transitions and joint distribution of classes."""

    tree: ActionTree
    parents: tuple[Array, ...]  # int64 [classes of a street]: class on the street before; zeros on the first
    joint_probability: Any  # float [classes, classes] on the last street: joint probability; an array, or csr
    win_margin: Any  # same shape: joint probability that the first class wins, less that it loses

    def __post_init__(self) -> None:
        if len(self.parents) != self.tree.rules.rounds:
            raise InputError(f"parents for {len(self.parents)} streets: the game has {self.tree.rules.rounds}")
        last = len(self.parents[-1])
        if self.joint_probability.shape != (last, last) or self.win_margin.shape != (last, last):
            raise InputError(
                f"tables of shape {self.joint_probability.shape} and {self.win_margin.shape}: must be {last} × {last} classes"
            )

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Number of classes on each street."""
        return tuple(len(above) for above in self.parents)

    def strategy_tables(self, strategies: Mapping[int, Array], dtype: Any = float) -> list[Array]:
        """Arrange strategies by node, [classes, actions], in one table for each street. float [classes, width] each"""
        tree = self.tree
        tables = [np.zeros((n, int(w)), dtype) for n, w in zip(self.counts, tree.width, strict=True)]
        for node, strategy in strategies.items():
            at = int(tree.slot[node])
            tables[int(tree.street[node])][:, at : at + strategy.shape[1]] = strategy
        return tables

    @cached_property
    def parent_sums(self) -> tuple[Array, ...]:
        """Matrices that sum classes into those of the street before. csr [classes before, classes] each"""
        matrices = []
        for street, parent in enumerate(self.parents):
            num_parents = self.counts[street - 1] if street else 1
            ones = np.ones(len(parent), self.joint_probability.dtype)
            matrices.append(csr_array((ones, (parent, np.arange(len(parent)))), shape=(num_parents, len(parent))))
        return tuple(matrices)

    @cached_property
    def joint_by_street(self) -> tuple[Any, ...]:
        """Joint probability of two classes of each street: sums over their successors."""
        tables = [self.joint_probability]
        for sums in reversed(self.parent_sums[1:]):
            tables.append(sums @ tables[-1] @ sums.T)
        return tuple(reversed(tables))

    @cached_property
    def opponent_products(self) -> tuple[Callable[[Array], Array], ...]:
        """Functions that multiply the opponent's reach by each street's joint probability; the last, by the win margin.

        Arguments and results are float [nodes, classes].
        """
        return tuple(pair_product(table) for table in (*self.joint_by_street, self.win_margin))


def pair_product(table: Any) -> Callable[[Array], Array]:
    """Return a function that multiplies rows [n, classes] by a table of pairs [classes, classes].

    It multiplies board by board, in dense blocks, if classes of different boards never meet.
    """
    if not isinstance(table, csr_array):
        return lambda rows: rows @ table.T
    count, board = connected_components(table, directed=False)
    size = np.bincount(board, minlength=count)
    if count * int(size.max()) ** 2 > MAX_DENSE_FACTOR * table.nnz:
        return lambda rows: np.asarray(rows @ table.T)
    order = np.argsort(board, kind="stable")
    local_index = np.empty(len(board), np.int64)  # index of a class among those of its board
    local_index[order] = np.arange(len(board)) - np.repeat(np.cumsum(size) - size, size)
    pairs = table.tocoo()
    blocks = np.zeros((count, size.max(), size.max()), table.dtype)
    blocks[board[pairs.row], local_index[pairs.row], local_index[pairs.col]] = pairs.data
    padded_index = board * size.max() + local_index

    def multiply(rows: Array) -> Array:
        padded = np.zeros((count * size.max(), len(rows)), rows.dtype)
        padded[padded_index] = rows.T
        products = blocks @ padded.reshape(count, size.max(), len(rows))
        shares: Array = products.reshape(padded.shape)[padded_index].T
        return shares

    return multiply


def traverse_classes(game: ClassGame, seat: int, player: ClassPolicy) -> Array:
    """Traverse the game for a seat, and return the values of its first-street classes. float [classes]

    Values are weighted by the probability of the class. `player` gives the opponent's strategy and the values of the
    seat's decisions.
    """
    reach = np.ones((1, game.counts[0]), game.joint_probability.dtype)
    values: Array = _traverse_street(game, seat, player, 0, [0], reach)[0]
    return values


def _traverse_street(
    game: ClassGame, seat: int, player: ClassPolicy, street: int, roots: Sequence[int], reach: Array
) -> Array:
    """Return values at the root nodes of a street, given the opponent's reach there. float [roots, classes] both"""
    tree = game.tree
    arrived: dict[int, Array] = {}  # the opponent's reach at nodes that end the street
    order: list[int] = []  # decision nodes, parents first
    stack = [(node, reach[k]) for k, node in enumerate(roots)]
    while stack:
        node, node_reach = stack.pop()
        if tree.actor[node] < 0 or tree.street[node] != street:
            arrived[node] = node_reach
            continue
        order.append(node)
        if tree.actor[node] == seat:
            stack += [(child, node_reach) for child in tree.children(node)]
        else:
            shares = player.opponent_strategy(node, street, node_reach)
            stack += [(child, node_reach * share) for child, share in zip(tree.children(node), shares, strict=True)]
    value = _end_values(game, seat, player, street, arrived)
    for node in reversed(order):
        moves = np.stack([value.pop(child) for child in tree.children(node)])
        value[node] = player.decision_value(node, street, moves) if tree.actor[node] == seat else moves.sum(axis=0)
    return np.stack([value[node] for node in roots])


def _end_values(
    game: ClassGame, seat: int, player: ClassPolicy, street: int, arrived: dict[int, Array]
) -> dict[int, Array]:
    """Return values, by node, of the terminals and next-street roots in `arrived`, given the opponent's reach there."""
    tree = game.tree
    value: dict[int, Array] = {}
    terminals = [node for node in arrived if tree.actor[node] < 0]
    showdowns = [node for node in terminals if tree.showdown[node]]
    folded = [node for node in terminals if not tree.showdown[node]]
    if showdowns and street != len(game.counts) - 1:
        raise InputError("showdowns before the last street are not supported")
    for nodes, table, sign in (
        (showdowns, game.opponent_products[-1], 1.0),
        (folded, game.opponent_products[street], 1.0 - 2.0 * seat),
    ):
        if nodes:
            payoff = (sign * tree.payoff[nodes]).astype(game.joint_probability.dtype)
            shares = table(np.stack([arrived[node] for node in nodes], dtype=payoff.dtype))
            value |= dict(zip(nodes, payoff[:, None] * shares, strict=True))
    next_roots = [node for node in arrived if tree.actor[node] >= 0]
    for first in range(0, len(next_roots), ROOTS_PER_BATCH):
        nodes = next_roots[first : first + ROOTS_PER_BATCH]
        reach = np.stack([arrived[node] for node in nodes])[:, game.parents[street + 1]]
        child_values = _traverse_street(game, seat, player, street + 1, nodes, reach)
        value |= dict(zip(nodes, np.asarray(game.parent_sums[street + 1] @ child_values.T).T, strict=True))
    return value


# --- Strategies and best responses ---


class FixedClassPolicy:
    """Traversal policy of fixed strategy tables; with `respond` the traversing seat takes its best actions instead."""

    def __init__(self, game: ClassGame, tables: Sequence[Array], *, respond: bool) -> None:
        for street, (table, count) in enumerate(zip(tables, game.counts, strict=True)):
            if table.shape != (count, game.tree.width[street]):
                raise InputError(f"table of shape {table.shape} on street {street}: must have {count} classes")
        self.tree, self.tables, self.respond = game.tree, tables, respond

    def opponent_strategy(self, node: int, street: int, reach: Array) -> Array:
        """Return the opponent's strategy at a node. float [actions, classes]"""
        at = int(self.tree.slot[node])
        return self.tables[street][:, at : at + int(self.tree.count[node])].T

    def decision_value(self, node: int, street: int, moves: Array) -> Array:
        """Return the value of the best action, or of the tables' strategy. moves: action values [actions, classes]"""
        if not self.respond:
            moves = self.opponent_strategy(node, street, moves) * moves
        value: Array = moves.max(axis=0) if self.respond else moves.sum(axis=0)
        return value


def class_quality(game: ClassGame, tables: Sequence[Array], *, self_play: bool = True) -> Quality:
    """Compute best responses over classes and the value of strategy tables, in chips per hand.

    tables: float [classes, width] by street. Without `self_play` the value is omitted: exploitability does not need it.
    """

    def value(seat: int, respond: bool) -> float:
        policy = FixedClassPolicy(game, tables, respond=respond)
        return float(traverse_classes(game, seat, policy).sum(dtype=np.float64))

    own = value(0, False) if self_play else nan
    return Quality((value(0, True), value(1, True)), (own, -own))


# --- CFR+ ---


class ClassCFR:
    """CFR+ over classes: regrets floored at zero, linear averaging, alternating updates."""

    def __init__(self, game: ClassGame) -> None:
        self.game, self.iterations = game, 0
        tree, dtype = game.tree, game.joint_probability.dtype
        decisions = np.flatnonzero(tree.actor >= 0).tolist()
        self.regret = {n: np.zeros((int(tree.count[n]), game.counts[int(tree.street[n])]), dtype) for n in decisions}
        self.sums = {node: np.zeros_like(regret) for node, regret in self.regret.items()}

    def step(self, iterations: int = 1) -> None:
        """Run iterations, updating both seats in each."""
        for _ in range(iterations):
            self.iterations += 1
            for seat in (0, 1):
                traverse_classes(self.game, seat, self)

    def opponent_strategy(self, node: int, street: int, reach: Array) -> Array:
        """Return the opponent's current strategy, and add it to the average."""
        strategy = normalize(self.regret[node], axis=0)
        self.sums[node] += self.iterations * reach * strategy
        return strategy

    def decision_value(self, node: int, street: int, moves: Array) -> Array:
        """Return the value of the current strategy, and update regrets. moves: action values [actions, classes]"""
        regret = self.regret[node]
        value: Array = (normalize(regret, axis=0) * moves).sum(axis=0)
        regret += moves - value
        np.maximum(regret, 0.0, out=regret)
        return value

    def averages(self) -> list[Array]:
        """Return the average strategy by street. float [classes, width] each"""
        strategies = {node: normalize(sums, axis=0).T for node, sums in self.sums.items()}
        return self.game.strategy_tables(strategies, self.game.joint_probability.dtype)

    def quality(self) -> Quality:
        """Return the exact quality of the average strategy."""
        return class_quality(self.game, self.averages())


# Callbacks of a traversal: the opponent's strategy, and the value of the traverser's decisions.
ClassPolicy: TypeAlias = FixedClassPolicy | ClassCFR


# --- Sequence form ---

MAX_ENTRIES = 20_000_000  # largest payoff matrix of a linear program


class ClassProgramSize(NamedTuple):
    """The size of a linear program."""

    sequences: int
    infosets: int
    payoffs: int  # nonzero entries

    @property
    def rows(self) -> int:
        """Number of rows, and of columns."""
        return self.sequences + self.infosets + 1

    @property
    def entries(self) -> int:
        """Nonzero entries of both players' constraints and of payoffs."""
        return self.payoffs + 2 * (self.sequences + self.infosets)


def class_program_size(game: ClassGame) -> ClassProgramSize:
    """Count the size of the program of seat 0 without building it."""
    shape = game.tree.shape
    infosets = sum(n * decisions[0] for n, decisions in zip(game.counts, shape.decisions, strict=True))
    sequences = 1 + sum(n * actions[0] for n, actions in zip(game.counts, shape.actions, strict=True))
    payoffs = sum(shape.showdowns) * _count_nonzero(game.win_margin)
    payoffs += sum(n * _count_nonzero(joint) for n, joint in zip(shape.folds, game.joint_by_street, strict=True))
    return ClassProgramSize(sequences, infosets, payoffs)


def _count_nonzero(table: Any) -> int:
    """Count nonzero entries."""
    return int(np.count_nonzero(table.data if hasattr(table, "indptr") else table))


class ClassSequenceForm:
    """Sequence form of a class game: sequences, constraints and payoff matrices of both seats, and an LP solution."""

    def __init__(self, game: ClassGame) -> None:
        if (payoffs := class_program_size(game).payoffs) > MAX_ENTRIES:
            raise InputError(
                f"{game.tree.rules.name}: a linear program with {payoffs:,} payoffs: more than {MAX_ENTRIES:,}; use CFR"
            )
        self.game = game
        self.name: str = game.tree.rules.name
        self.first: dict[int, int] = {}  # first sequence of a decision; ordered by class, then action
        self.sequences = [1, 1]
        for node in np.flatnonzero(game.tree.actor >= 0):
            seat = int(game.tree.actor[node])
            self.first[int(node)] = self.sequences[seat]
            self.sequences[seat] += game.counts[int(game.tree.street[node])] * int(game.tree.count[node])
        self.payoffs = self._payoffs()

    def _last_sequences(self, node: int, seat: int) -> Array:
        """Return the last sequence of a seat before a node, for each class there. int64 [classes]"""
        tree, street = self.game.tree, int(self.game.tree.street[node])
        label = np.arange(self.game.counts[street])
        while node:
            above = int(tree.parent[node])
            for s in range(street, int(tree.street[above]), -1):
                label = self.game.parents[s][label]
            street = int(tree.street[above])
            if tree.actor[above] == seat:
                return self.first[above] + label * int(tree.count[above]) + (node - int(tree.first[above]))
            node = above
        return np.zeros(len(label), np.int64)

    def _payoffs(self) -> tuple[Any, Any]:
        """Return the payoff matrix of each seat, with its own sequences as rows. csr"""
        tree, rows, columns, values = self.game.tree, [], [], []
        for node in np.flatnonzero(tree.actor < 0).tolist():
            street = int(tree.street[node])
            table = coo_array(self.game.win_margin if tree.showdown[node] else self.game.joint_by_street[street])
            rows.append(self._last_sequences(node, 0)[table.coords[0]])
            columns.append(self._last_sequences(node, 1)[table.coords[1]])
            values.append(float(tree.payoff[node]) * table.data)
        where = np.concatenate(rows), np.concatenate(columns)
        first = csr_array((np.concatenate(values).astype(float), where), shape=tuple(self.sequences))
        first.eliminate_zeros()
        return first, csr_array(-first.T)

    def constraints(self, seat: int) -> tuple[Any, Array]:
        """Return E and e: plans are the x >= 0 with E x = e. csr [1 + infosets, sequences], float64 [1 + infosets]"""
        tree = self.game.tree
        rows, columns, values, num_rows = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)], [np.ones(1)], 1
        for node, first in self.first.items():
            if tree.actor[node] != seat:
                continue
            classes, moves = self.game.counts[int(tree.street[node])], int(tree.count[node])
            infosets = num_rows + np.arange(classes)
            rows += [infosets, np.repeat(infosets, moves)]
            columns += [self._last_sequences(node, seat), first + np.arange(classes * moves)]
            values += [-np.ones(classes), np.ones(classes * moves)]
            num_rows += classes
        right = np.zeros(num_rows)
        right[0] = 1.0
        where = np.concatenate(rows), np.concatenate(columns)
        return csr_array((np.concatenate(values), where), shape=(num_rows, self.sequences[seat])), right

    @cached_property
    def plans(self) -> tuple[Array, Array]:
        """Optimal realization plans of both seats, by HiGHS."""
        return SequenceFormLP(self, 0).solve()

    def quality(self) -> Quality:
        """Return the quality of the program's equilibrium by exact best responses."""
        tree = self.game.tree
        strategies = {}
        for node, first in self.first.items():
            classes, moves = self.game.counts[int(tree.street[node])], int(tree.count[node])
            plan = self.plans[int(tree.actor[node])][first : first + classes * moves].reshape(classes, moves)
            plan = np.maximum(plan, 0.0)
            total = plan.sum(axis=1, keepdims=True)
            strategies[node] = np.where(total > 1e-12, plan / np.where(total > 1e-12, total, 1.0), 1.0 / moves)
        return class_quality(self.game, self.game.strategy_tables(strategies))


# --- Class games of card abstractions, from joint counts on boards ---

MAX_BYTES = 8 << 30


def bucket_parents(cards: CardAbstraction) -> tuple[Array, ...]:
    """Return the parent of each bucket, for buckets that subdivide those of the street before."""
    parents = [np.zeros(cards.counts[0], np.int64)]
    for street in range(1, len(cards.streets)):
        before, count = cards.counts[street - 1], cards.counts[street]
        cuts = cards.streets[street].cuts
        if len(cuts) != before or count % before:
            raise InputError(
                f"{cards.name}, street {street}: buckets do not have perfect recall; use percentile buckets"
            )
        parents.append(np.arange(count) // (count // before))
    return tuple(parents)


def sample_boards(tree: ActionTree, count: int, seed: int) -> Array:
    """Sample whole boards in dealing order, uniformly. uint8 [boards, cards]"""
    rng, deck = np.random.default_rng(seed), tree.rules.deck.cards
    return np.array([rng.choice(deck, sum(tree.rules.board), replace=False) for _ in range(count)], np.uint8)


def class_game_from_boards(tree: ActionTree, cards: CardAbstraction, boards: Array) -> ClassGame:
    """Build the class game of a card abstraction; joint bucket probabilities are counted over all hands on `boards`."""
    parents, classes = bucket_parents(cards), cards.counts[tree.rules.rounds - 1]
    needed_bytes = 2 * 4 * classes**2
    if needed_bytes > MAX_BYTES:
        raise MemoryLimitError(
            f"{cards.name}: joint counts of {classes:,} buckets need {format_bytes(needed_bytes)}: use fewer buckets"
        )
    pairs, wins = (np.zeros((classes, classes), np.float32) for _ in range(2))
    most = min(classes, tree.rules.deck.num_hands)
    scratch = [np.zeros((most, most), np.float32) for _ in range(2)]
    game = make_sampling_game(tree, cards, BucketTables(tree, (1,) * tree.rules.rounds))
    kernels.count_bucket_pairs(
        game, cards.lookup, deck_hands(tree), board_workspace(tree), boards, *scratch, pairs, wins
    )
    total = float(pairs.sum(dtype=np.float64))
    pairs /= total
    wins /= total
    return ClassGame(tree, parents, pairs, wins)
