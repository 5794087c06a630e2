"""`HistoryTree`: every history a node; nodes of one information set share a block of the table.

What Gambit files, OpenSpiel games and matrix games compile to, and what a small `PublicTree` unrolls to.
Information sets are numbered by their first visit in preorder, so parents come before children.
"""

from __future__ import annotations

import hashlib
import math
from array import array as column
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from riverboat.core.budget import Growth
from riverboat.core.errors import InputError, RecallError, ZeroSumError
from riverboat.games import tree_size
from riverboat.games.base import CHANCE, TERMINAL, Array, HistoryGame, State
from riverboat.trees._kernels import tree as _kernels
from riverboat.trees.arrays import CONSTANT, MATRIX, ROUNDING, Nodes, Side, constant
from riverboat.trees.public import MAX_WIDTH, Infoset, PublicTree

BYTES = 60  # of a history while its tree is built, at the least: five numbers, and the name of one set in ten


@dataclass(frozen=True, eq=False)
class Treeplex:
    """One player's sequences: 0 is the empty one; information set i has first[i] … first[i] + width[i] - 1."""

    infosets: Array  # int32 [i]: number in the tree
    parent: Array  # int32 [i]: the sequence that leads to it
    first: Array  # int32 [i]
    width: Array  # int32 [i]
    table: Array  # int64 [sequences]: place in the tree's table, -1 for the empty sequence

    @property
    def sequences(self) -> int:
        """How many, the empty one included."""
        return len(self.table)


class HistoryTree:
    """A game compiled history by history."""

    def __init__(
        self,
        name: str,
        unit: str,
        nodes: Nodes,
        infoset: Array,  # int32 [nodes], -1 where nobody decides
        owner: Array,  # int8 [infosets]
        payoffs: Array,  # float64 [pay-offs, players]
        chance: Array,  # float64 [outcomes]
        infoset_info: Callable[[], list[tuple[str, tuple[str, ...]]]],
        outcome_labels: tuple[str, ...] | None = None,
        origin: Array | None = None,
    ) -> None:
        self.name, self.unit, self.nodes = name, unit, nodes
        self.game: HistoryGame | None = None  # that it was made from, where it was one
        self.node_infoset, self.owner = infoset, owner
        self.payoffs, self.chance = payoffs, chance
        self.players = payoffs.shape[1]
        self.outcome_labels = outcome_labels
        self.origin = origin  # int64 [table]: place in the table of the public tree this was unrolled from
        self._infoset_info = infoset_info
        decisions = np.flatnonzero(infoset >= 0)
        visited, at = np.unique(infoset[decisions], return_index=True)
        self.first_node = decisions[at]  # [infosets]
        self.widths = nodes.width[self.first_node].astype(np.int32)
        self.offsets = nodes.data[self.first_node]
        self.table = int(self.widths.sum(dtype=np.int64))
        self.infoset_count = len(visited)
        self.action_count = self.table
        self.depth = _kernels.tree_depth(nodes.end)
        self.max_width = int(self.widths.max(initial=1))  # of a decision
        self.shared = bool(len(decisions) > len(visited))
        self.hand_counts = (1, 1)
        self.total = 1.0
        self.sides = tuple(self._side(p) for p in range(self.players))

    @staticmethod
    def from_game(game: HistoryGame, *, constant_sum: bool = False) -> HistoryTree:
        """Walk the game's states once; with `constant_sum`, no further than it takes to see that it is not."""
        if constant_sum:
            check_players(game.name, game.players)
        root = game.root()
        with Growth(game.name, "building the tree of", "histories", BYTES, partial(tree_size.size, root)) as grown:
            tree = _compile(game, root, grown, constant_sum=constant_sum)
        tree.game = game
        return tree

    def _side(self, me: int) -> Side:
        rows = len(self.payoffs)
        outcomes = len(self.chance)
        return Side(
            weight=np.ones(1),
            weight_opp=np.ones(1),
            share=np.ones(1),
            exclude=np.zeros((1, 0), np.int32),
            kind=np.full(rows, CONSTANT, np.int8),
            pay=np.ascontiguousarray(np.repeat(self.payoffs[:, me : me + 1], 3, axis=1)),
            row=np.zeros(rows, np.int32),
            order=np.zeros((0, 1), np.int32),
            place=np.zeros((0, 1), np.int32),
            below=np.zeros((0, 1), np.int32),
            upto=np.zeros((0, 1), np.int32),
            matrix=np.zeros((0, 1, 1)),
            chance=self.chance,
            live=np.ones((outcomes, 1)),
            live_opp=np.ones((outcomes, 1)),
        )

    def views(self, table: Array) -> tuple[Array, ...]:
        """A flat table as rows of one hand: every player sees all of it. float [rows, 1]"""
        rows: tuple[Array, ...] = (table.reshape(-1, 1),) * self.players
        return rows

    def __getstate__(self) -> dict[str, Any]:
        """For pickle: the names themselves in place of the function that makes them, and no game, which may be anything."""
        return {**self.__dict__, "_info": self._info, "_infoset_info": None, "game": None}

    # --- names ------------------------------------------------------------------------------

    @cached_property
    def _info(self) -> list[tuple[str, tuple[str, ...]]]:
        return self._infoset_info()

    @cached_property
    def _by_name(self) -> dict[str, int]:
        return {name: i for i, (name, _) in enumerate(self._info)}

    def infosets(self) -> Iterator[Infoset]:
        """All information sets by number."""
        for i in range(self.infoset_count):
            yield self._infoset(i)

    def _infoset(self, i: int) -> Infoset:
        name, actions = self._info[i]
        return Infoset(name, int(self.owner[i]), actions, int(self.offsets[i]), 1)

    def infoset(self, name: str) -> Infoset:
        """An information set by its name."""
        if name not in self._by_name:
            some = ", ".join(repr(n) for n in list(self._by_name)[:6])
            raise InputError(f"{self.name}: no information set {name!r} (there are {some}, …)")
        return self._infoset(self._by_name[name])

    def labels(self, node: int) -> tuple[str, ...]:
        """Moves or outcomes at a node."""
        if self.nodes.actor[node] == CHANCE:
            first, width = int(self.nodes.data[node]), int(self.nodes.width[node])
            if self.outcome_labels is None:
                return tuple(f"{k}" for k in range(width))
            return self.outcome_labels[first : first + width]
        i = int(self.node_infoset[node])
        return self._info[i][1] if i >= 0 else ()

    def children(self, node: int) -> Iterator[int]:
        """Child nodes, in the order of the labels."""
        child = node + 1
        for _ in range(int(self.nodes.width[node])):
            yield child
            child = int(self.nodes.end[child])

    # --- sequences --------------------------------------------------------------------------

    @cached_property
    def _sequence_numbers(self) -> tuple[Array, Array, Array]:
        """First sequence of each information set; chance's reach; last sequences at every node."""
        first = np.zeros(self.infoset_count, np.int64)
        for player in range(self.players):
            mine = np.flatnonzero(self.owner == player)
            first[mine] = 1 + np.concatenate([[0], np.cumsum(self.widths[mine])[:-1]]) if len(mine) else 0
        n = self.nodes
        reach, last = _kernels.trace(n.actor, n.end, n.data, self.node_infoset, first, self.chance, self.players)
        return first, reach, last

    @property
    def chance_reach(self) -> Array:
        """Chance's probability of each node. float64 [nodes]"""
        return self._sequence_numbers[1]

    @property
    def last_sequence(self) -> Array:
        """The last sequence of each player on the way to each node. int32 [nodes, players]"""
        return self._sequence_numbers[2]

    def treeplex(self, player: int) -> Treeplex:
        """A player's sequences; refused where the player forgets (`check_recall`)."""
        self.check_recall(player)
        first, _, last = self._sequence_numbers
        mine = np.flatnonzero(self.owner == player).astype(np.int32)
        table = np.full(1 + int(self.widths[mine].sum()), -1, np.int64)
        for i in mine:
            table[first[i] : first[i] + self.widths[i]] = self.offsets[i] + np.arange(self.widths[i])
        return Treeplex(
            mine,
            last[self.first_node[mine], player].astype(np.int32),
            first[mine].astype(np.int32),
            self.widths[mine],
            table,
        )

    def remembered(self, player: int) -> tuple[Treeplex, Array]:
        """A player's sequences if it never forgot its own moves, and the last one at each node. int32 [nodes]

        A player who does not forget has its own treeplex. One who does has its information sets split by what it has done:
        whoever can tell more apart can do no worse, so what is best here bounds what is best in the game from above.
        """
        if player not in self._remembered:
            self._remembered[player] = (
                _split(self, player) if self.forgets(player) is not None else
                (self.treeplex(player), self.last_sequence[:, player])
            )  # fmt: skip
        return self._remembered[player]

    @cached_property
    def _remembered(self) -> dict[int, tuple[Treeplex, Array]]:
        return {}

    def forgets(self, player: int) -> str | None:
        """An information set that a player reaches by different moves of its own; None where there is none."""
        last = self.last_sequence[:, player]
        nodes = np.flatnonzero((self.node_infoset >= 0) & (self.nodes.actor == player))
        infoset = self.node_infoset[nodes]
        wrong = np.flatnonzero(last[nodes] != last[self.first_node[infoset]])
        return self._info[int(infoset[wrong[0]])][0] if len(wrong) else None

    @cached_property
    def perfect_recall(self) -> bool:
        """Whether no player forgets."""
        return all(self.forgets(player) is None for player in range(self.players))

    def check_recall(self, player: int) -> None:
        """Raise unless all nodes of each information set follow the same own moves."""
        name = self.forgets(player)
        if name is not None:
            raise RecallError(
                f"{self.name}: imperfect recall: player {player} reaches information set {name!r} by different "
                f"moves of its own; split it, or use CFR, which gives an answer without a certificate"
            )

    @cached_property
    def constant_sum(self) -> float | None:
        """What the pay-offs of two players sum to at every end; None where that differs, or with other players."""
        return constant(self.payoffs.sum(axis=1)) if self.players == 2 else None

    def check_zero_sum(self) -> None:
        """Raise unless there are two players whose pay-offs cancel."""
        check_players(self.name, self.players)
        for pay in self.payoffs:
            check_sum(self.name, pay)

    def check_constant_sum(self) -> None:
        """Raise unless there are two players whose pay-offs sum to the same everywhere."""
        check_players(self.name, self.players)
        for pay in self.payoffs:
            check_sums(self.name, self.payoffs[0], pay)

    def _repr_svg_(self) -> str | None:
        from riverboat.trees.drawing import small_svg  # draws both kinds of tree, so it imports them

        return small_svg(self)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything that a strategy for this tree depends on."""
        digest = hashlib.sha256()
        for array in (*self.nodes, self.node_infoset, self.payoffs, self.chance):
            digest.update(np.ascontiguousarray(array).data)
        digest.update(repr(self._info).encode())
        return digest.hexdigest()


def check_players(name: str, players: int) -> None:
    """Raise unless there are two."""
    if players != 2:
        raise ZeroSumError(f"{name}: {players} players; this needs a two-player zero-sum game")


def check_sum(name: str, pay: Sequence[float]) -> None:
    """Raise unless two pay-offs cancel."""
    if abs(pay[0] + pay[1]) > ROUNDING:
        raise ZeroSumError(f"{name}: not zero-sum: one history pays {pay[0]:g} and {pay[1]:g}")


def check_sums(name: str, first: Sequence[float], pay: Sequence[float]) -> None:
    """Raise unless the pay-offs of two players sum to what they do elsewhere."""
    if constant(np.array([sum(first), sum(pay)])) is None:
        raise ZeroSumError(
            f"{name}: not zero-sum: one history pays {first[0]:g} and {first[1]:g}, another {pay[0]:g} and {pay[1]:g}, "
            f"which sum to something else; this needs a constant sum, CFR does not"
        )


def _compile(game: HistoryGame, root: State, grown: Growth, *, constant_sum: bool) -> HistoryTree:
    actor, end, width, infoset, data = (column(kind) for kind in "bihiq")
    numbers: dict[str, int] = {}
    info: list[tuple[str, tuple[str, ...]]] = []
    owner: list[int] = []
    chances: dict[tuple[tuple[str, ...], tuple[float, ...]], int] = {}
    chance: list[float] = []
    outcome_labels: list[str] = []
    payoffs: dict[tuple[float, ...], int] = {}

    def at_chance(state: State, node: int, labels: tuple[str, ...]) -> int:
        probabilities = tuple(float(p) for p in state.probabilities())
        fits = len(probabilities) == len(labels) and min(probabilities) >= 0 and abs(sum(probabilities) - 1) <= 1e-6
        if not fits:  # also where one of them is NaN
            raise InputError(f"{game.name}: chance at node {node} has probabilities {probabilities} for {labels}")
        key = labels, probabilities
        if key not in chances:
            chances[key] = len(chance)
            chance.extend(probabilities)
            outcome_labels.extend(labels)
        return chances[key]

    def at_decision(state: State, who: int, labels: tuple[str, ...]) -> int:
        name = state.infoset()
        if name not in numbers:
            numbers[name] = len(info)
            info.append((name, labels))
            owner.append(who)
        number = numbers[name]
        if owner[number] != who or info[number][1] != labels:
            raise InputError(
                f"{game.name}: information set {name!r} belongs to player {owner[number]} with moves "
                f"{info[number][1]} at one node and to player {who} with {labels} at another"
            )
        return number

    # An explicit stack: imported trees may be deeper than Python's recursion allows.
    work: list[tuple[State | None, int]] = [(root, -1)]
    while work:
        state, closing = work.pop()
        if state is None:
            end[closing] = len(actor)
            continue
        node, who = len(actor), state.actor
        grown(node)
        labels = tuple(state.actions()) if who != TERMINAL else ()
        if len(labels) > MAX_WIDTH:
            raise InputError(f"{game.name}: {len(labels):,} moves at node {node}, more than {MAX_WIDTH:,}")
        if not TERMINAL <= who < game.players:
            raise InputError(f"{game.name}: actor {who!r} at node {node}: there are players 0 to {game.players - 1}")
        actor.append(who)
        end.append(0)
        width.append(len(labels))
        infoset.append(-1)
        data.append(0)
        if who == TERMINAL:
            pay = tuple(float(x) for x in state.payoffs())
            if len(pay) != game.players:
                raise InputError(f"{game.name}: {len(pay)} pay-offs for {game.players} players")
            if not all(math.isfinite(x) for x in pay):
                raise InputError(f"{game.name}: node {node} pays {pay}: must be finite")
            data[node] = payoffs.setdefault(pay, len(payoffs))
            if constant_sum and data[node]:
                check_sums(game.name, next(iter(payoffs)), pay)
            end[node] = node + 1
            continue
        if not labels:
            raise InputError(f"{game.name}: no moves at node {node}, which is not terminal")
        if len(set(labels)) != len(labels):
            raise InputError(f"{game.name}: two moves have one label at node {node}: {labels}")
        if who == CHANCE:
            data[node] = at_chance(state, node, labels)
        else:
            infoset[node] = at_decision(state, who, labels)
        work.append((None, node))
        work.extend((state.child(k), -1) for k in reversed(range(len(labels))))

    offsets = np.concatenate([[0], np.cumsum([len(actions) for _, actions in info])]).astype(np.int64)
    infosets = np.asarray(infoset, np.int32)
    place = np.asarray(data, np.int64)
    place[infosets >= 0] = offsets[infosets[infosets >= 0]]
    nodes = Nodes(np.asarray(actor, np.int8), np.asarray(end, np.int32), np.asarray(width, np.int16), place)
    return HistoryTree(
        game.name,
        game.unit,
        nodes,
        infosets,
        np.asarray(owner, np.int8),
        np.array(list(payoffs), float).reshape(-1, game.players),
        np.asarray(chance, float),
        lambda: info,
        tuple(outcome_labels),
    )


def _split(tree: HistoryTree, player: int) -> tuple[Treeplex, Array]:
    """The treeplex of a player who remembers all its moves, and its last sequence at every node."""
    n = tree.nodes
    last = np.zeros(len(n.actor), np.int32)
    seen: dict[tuple[int, int], int] = {}  # information set and own last sequence: the first of its sequences
    parent: list[int] = []
    sets: list[int] = []
    first: list[int] = []
    sequences = 1
    for node in range(len(n.actor)):
        who = int(n.actor[node])
        if who == TERMINAL:
            continue
        here, number = int(last[node]), int(tree.node_infoset[node])
        if who == player and (number, here) not in seen:
            seen[number, here] = sequences
            sets.append(number)
            parent.append(here)
            first.append(sequences)
            sequences += int(tree.widths[number])
        for k, child in enumerate(tree.children(node)):
            last[child] = seen[number, here] + k if who == player else here
    infosets = np.array(sets, np.int32)
    widths = tree.widths[infosets]
    within = np.arange(sequences - 1) - np.repeat(np.array(first, np.int64) - 1, widths)
    table = np.concatenate([[-1], np.repeat(tree.offsets[infosets], widths) + within]).astype(np.int64)
    return Treeplex(infosets, np.array(parent, np.int32), np.array(first, np.int32), widths, table), last


def unroll(tree: PublicTree) -> HistoryTree:
    """Every history of a public tree: chance deals player 0's hand, then player 1's, then play begins."""
    joint = tree.deal.joint()
    marginal = joint.sum(axis=1)
    boards, (live0, live1) = tree.boards, tree.live
    actor0, end0 = tree.nodes.actor, tree.nodes.end
    pairs = [(h0, h1) for h0 in range(joint.shape[0]) for h1 in range(joint.shape[1]) if joint[h0, h1] > 0]
    side = tree.sides[0]
    parts: dict[str, list[Array]] = {k: [] for k in ("actor", "end", "width", "data", "key")}
    payoffs: list[Array] = []
    chance: list[Array] = []
    labels: list[str] = []
    used = {h0 for h0, _ in pairs}

    def add(actor: Array, end: Array, width: Array, data: Array, key: Array) -> None:
        for name, array in zip(parts, (actor, end, width, data, key), strict=True):
            parts[name].append(array)

    one = np.ones(1, np.int64)
    add(one * CHANCE, one * 0, one * len(used), one * 0, one * -1)
    chance.append(marginal[marginal > 0])
    labels += [tree.hands[0][h0] for h0 in sorted(used)]
    position, outcomes, previous = 1, len(used), -1
    openings: list[int] = []  # where the second deal of each of player 0's hands stands
    for h0, h1 in pairs:
        if h0 != previous:
            row = joint[h0] > 0
            add(one * CHANCE, one * 0, one * int(row.sum()), one * outcomes, one * -1)
            chance.append(joint[h0][row] / marginal[h0])
            labels += [tree.hands[1][k] for k in np.flatnonzero(row)]
            outcomes += int(row.sum())
            openings.append(position)
            position += 1
            previous = h0
        keep = live0[boards, h0] & live1[boards, h1]
        new_index = np.concatenate([[0], np.cumsum(keep)])
        end = new_index[end0[keep]] + position
        who = actor0[keep].astype(np.int64)
        data = tree.nodes.data[keep].copy()
        width = tree.nodes.width[keep].astype(np.int64)
        key = np.select(
            [who == 0, who == 1],
            [data * tree.hand_counts[0] + h0, tree.bases[1] + data * tree.hand_counts[1] + h1],
            default=-1,
        )
        terminal = who == TERMINAL
        data[terminal] += len(payoffs) * len(side.kind)
        payoffs.append(_pair_payoffs(tree, h0, h1))
        for node in np.flatnonzero(who == CHANCE):
            first = int(tree.nodes.data[np.flatnonzero(keep)[node]])
            span = slice(first, first + int(width[node]))
            possible = (tree.sides[0].live[span, h0] * tree.sides[1].live[span, h1]) > 0
            chance.append(side.chance[span][possible])
            names = tree.labels(int(np.flatnonzero(keep)[node]))
            labels += [names[k] for k in np.flatnonzero(possible)]
            data[node], width[node] = outcomes, int(possible.sum())
            outcomes += int(possible.sum())
        add(who, end, width, data, key)
        position += int(keep.sum())
    joined = {name: np.concatenate(arrays) for name, arrays in parts.items()}
    joined["end"][0] = position
    for here, following in zip(openings, [*openings[1:], position], strict=True):
        joined["end"][here] = following
    return _from_keys(tree, joined, np.concatenate(payoffs), np.concatenate(chance), tuple(labels))


def _pair_payoffs(tree: PublicTree, h0: int, h1: int) -> Array:
    """What each terminal pays when these hands meet. float64 [pay-offs, 2]"""
    columns = []
    for player, (mine, theirs) in enumerate(((h0, h1), (h1, h0))):
        side = tree.sides[player]
        column = side.pay[:, 0].copy()
        for e in range(len(column)):
            row = side.row[e]
            if side.kind[e] == MATRIX:
                column[e] = side.matrix[row, mine, theirs]
            elif side.kind[e] != CONSTANT:
                place = side.place[row, theirs]
                column[e] = side.pay[
                    e, 0 if place < side.below[row, mine] else 1 if place < side.upto[row, mine] else 2
                ]
        columns.append(column)
    return np.stack(columns, axis=1)


def by_first_visit(key: Array) -> tuple[Array, Array, Array]:
    """Number keys in the order of their first visit; nodes without one have a key below zero.

    The keys by number, the number of each node (-1 without a key), the first node of each number. int64, int32, int64
    """
    nodes = np.flatnonzero(key >= 0)
    keys, first, inverse = np.unique(key[nodes], return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    number = np.empty(len(keys), np.int32)
    number[order] = np.arange(len(keys))
    numbers = np.full(len(key), -1, np.int32)
    numbers[nodes] = number[inverse]
    return keys[order], numbers, nodes[first[order]]


def _from_keys(
    tree: PublicTree, parts: dict[str, Array], payoffs: Array, chance: Array, labels: tuple[str, ...]
) -> HistoryTree:
    """Number the information sets (keys: first place in the public table) by their first visit."""
    key, width = parts["key"], parts["width"]
    decisions = np.flatnonzero(key >= 0)
    keys, infoset, first_nodes = by_first_visit(key)
    widths = width[first_nodes]
    offsets = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    data = parts["data"]
    data[decisions] = offsets[infoset[decisions]]
    owner = parts["actor"][first_nodes]
    strides = np.where(owner == 0, tree.hand_counts[0], tree.hand_counts[1])
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], widths)
    origin = np.repeat(keys, widths) + within * np.repeat(strides, widths)
    nodes = Nodes(
        parts["actor"].astype(np.int8), parts["end"].astype(np.int32), width.astype(np.int16), data.astype(np.int64)
    )

    def info() -> list[tuple[str, tuple[str, ...]]]:
        by_offset = {i.offset: i for i in tree.infosets()}
        infosets = (by_offset[int(origin[offsets[k]])] for k in range(len(keys)))
        return [(i.name, i.actions) for i in infosets]

    return HistoryTree(
        tree.name, tree.unit, nodes, infoset, owner.astype(np.int8), payoffs, chance, info, labels, origin
    )
