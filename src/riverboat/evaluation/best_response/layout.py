"""What walks of best responses need laid out: the betting as each player sees it, cards, and room for one walk."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import permutations
from math import comb
from typing import Any, NamedTuple

import numpy as np

from riverboat.cards.deck import SUITS, Deck
from riverboat.cards.ranking import tables as ranking_tables
from riverboat.compiled.simd import LANES, fitting
from riverboat.core.arrays import Array
from riverboat.evaluation.best_response._kernels import last_street as ends
from riverboat.evaluation.best_response._kernels import traversal as kernels
from riverboat.evaluation.matches._kernels.duel import Side
from riverboat.evaluation.matches.duel import side
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.games.holdem.rules import Rules
from riverboat.strategies.blueprint import BlueprintStrategy


class Player(NamedTuple):
    """Somebody who meets the strategy: how it plays its own decisions before the last street, and on it."""

    seat: int
    before: int  # kernels.OWN: the best move of each hand; kernels.FOLLOW: those of a table
    last: int


RESPONDERS = Player(0, kernels.OWN, kernels.OWN), Player(1, kernels.OWN, kernels.OWN)
ITSELF = Player(0, kernels.FOLLOW, kernels.FOLLOW)  # the strategy as seat 0


# --- betting before the last street -----------------------------------------------------------


def items_of(tree: ActionTree, players: tuple[Player, ...]) -> tuple[kernels.Items, list[Array]]:
    """The streets before the last: on each its own nodes, the first ones of the next street (exits), and showdowns of all-ins
    before, which wait for the full board. And for each player where the nodes of the last of them are.

    A game of one street has its roots alone, as exits.
    """
    rounds, nodes, count = tree.rules.rounds, np.arange(len(tree)), 0
    above = np.where(tree.parent >= 0, tree.street[np.maximum(tree.parent, 0)], -1)
    decision = tree.actor >= 0
    at, root, parts, vectors = [0], [], [], 0
    before = [np.full(len(tree), -1)] * len(players)  # items of the nodes on the street before
    for s in range(max(1, rounds - 1)):
        here = nodes[
            (tree.street == s)
            | (decision & (tree.street == s + 1) & (above == s))
            | (tree.showdown & (tree.street < s))
        ]
        if rounds == 1:
            here = nodes[:1]
        plays = decision[here] & (tree.street[here] == s) & (rounds > 1)
        enters = above[here] < s
        for p, player in enumerate(players):
            place = np.full(len(tree), -1)
            place[here] = count + np.arange(len(here))
            kind = np.full(len(here), kernels.EXIT, np.int8)
            kind[plays] = np.where(tree.actor[here[plays]] == player.seat, player.before, kernels.OTHER)
            kind[~decision[here] & ~tree.showdown[here]] = kernels.FOLD
            up = np.where(enters, 0, place[np.maximum(tree.parent[here], 0)] - count)
            fresh = enters | (kind[up] == kernels.OTHER)
            reach = np.empty(len(here), np.int64)
            reach[fresh] = vectors + np.arange(fresh.sum())
            vectors += int(fresh.sum())
            for i in np.flatnonzero(~fresh):  # parents come first
                reach[i] = reach[up[i]]
            pay = tree.pay[here] * (1.0 if player.seat == 0 else -1.0)
            first = np.where(plays, place[np.maximum(tree.first[here], 0)], -1)
            parts.append(
                (kind, first, tree.count[here], tree.slot[here], reach, np.where(enters, before[p][here], -1), pay)
            )
            if s == 0:
                root.append(count)
            count += len(here)
            before[p] = place
        at.append(count)
    kind, *numbers, pay = (np.concatenate(column) for column in zip(*parts, strict=True))
    first, moves, slot, reach, entry = (np.asarray(column, np.int64) for column in numbers)
    items = kernels.Items(np.array(at, np.int64), np.array(root, np.int64), kind, first, moves, slot, reach, entry, pay)
    return items, before


# --- the last street --------------------------------------------------------------------------


class Ends(NamedTuple):
    """Where the betting of the last street ends, in the rows of its pay."""

    node: Array  # int64 [rows, lanes]; -1 in lanes that are not used
    seat: Array  # int64 [rows]: the player who sees it so


@dataclass
class _Program:
    """Batches of the last street as they are written."""

    tree: ActionTree
    lanes: int
    batch: list[tuple[int, ...]] = field(default_factory=list)
    entry: list[Array] = field(default_factory=list)
    op: list[tuple[int, ...]] = field(default_factory=list)
    pay: list[Array] = field(default_factory=list)
    source: list[Array] = field(default_factory=list)  # a place of a weight for each lane
    ends: list[Array] = field(default_factory=list)  # the nodes of each row of pay
    seat: list[int] = field(default_factory=list)

    def add(self, player: Player, nodes: Array, entry: Array) -> None:
        """A batch: up to as many nodes as lanes from which the betting goes on alike."""
        sequences: list[Array] = []  # of the opponent; a move of the table for each lane
        shows: list[bool] = []  # whether some showdown is met by them
        own: list[tuple[int, Array]] = []
        begin, first = len(self.op), len(self.source)
        wide = np.concatenate([nodes, np.repeat(nodes[:1], self.lanes - len(nodes))])
        used = np.arange(self.lanes) < len(nodes)
        start = np.where(used, ends.ALL, ends.NOTHING)

        def end(node: Array, other: Array, mine: Array, level: int, how: int) -> None:
            shown = bool(self.tree.showdown[node[0]])
            number = next((k for k, known in enumerate(sequences) if (known == other).all()), len(sequences))
            if number == len(sequences):
                sequences.append(other)
                shows.append(False)
            shows[number] |= shown
            sign = 1.0 if shown or player.seat == 0 else -1.0
            self.pay.append(np.where(used, sign * self.tree.pay[node], 0.0))
            self.ends.append(np.where(used, node, -1))
            self.seat.append(player.seat)
            if player.last == kernels.FOLLOW:
                own.append((len(self.op), mine))
            self.op.append((ends.SHOWN if shown else ends.FOLDED, number, level, how, len(self.pay) - 1, -1))

        def visit(node: Array, other: Array, mine: Array, level: int) -> None:
            acts = self.tree.actor[node[0]] == player.seat
            joins = ends.BEST if acts and player.last == kernels.OWN else ends.SUM
            for a in range(int(self.tree.count[node[0]])):
                child, move = (
                    self.tree.first[node] + a,
                    np.where(used, ends.MOVES + self.tree.slot[node] + a, ends.NOTHING),
                )
                others, mines = (other, move) if acts else (move, mine)
                how = joins if a else ends.SET
                if self.tree.actor[child[0]] < 0:
                    end(child, others, mines, level, how)
                else:
                    visit(child, others, mines, level + 1)
                    self.op.append((ends.MOVE, level + 1, level, how, 0, -1))

        if self.tree.actor[nodes[0]] < 0:
            end(wide, start, start, 0, ends.SET)
        else:
            visit(wide, start, start, 0)
        order = sorted(range(len(sequences)), key=lambda k: not shows[k])  # those that meet no showdown come last
        for i in range(begin, len(self.op)):
            kind, number, *rest = self.op[i]
            if kind != ends.MOVE:
                self.op[i] = (kind, order.index(number), *rest)
        self.source += [sequences[k] for k in order]
        for i, weights in own:
            self.op[i] = (*self.op[i][:-1], len(self.source) * self.lanes)
            self.source.append(weights)
        self.entry.append(np.concatenate([entry, np.full(self.lanes - len(entry), -1)]))
        self.batch.append((first * self.lanes, sum(shows), len(sequences), begin, len(self.op)))


def last_street(
    tree: ActionTree, players: tuple[Player, ...], places: list[Array], dtype: type[np.floating[Any]]
) -> tuple[ends.LastStreet, Ends]:
    """The last street in batches, without the weights; `places` says which items of the street before lead there."""
    last, program = tree.rules.rounds - 1, _Program(tree, fitting(np.dtype(dtype).itemsize))
    above = np.where(tree.parent >= 0, tree.street[np.maximum(tree.parent, 0)], -1)
    entries = np.flatnonzero(
        ((tree.actor >= 0) & (tree.street == last) & (above < last)) | (tree.showdown & (tree.street < last))
    )
    for player, place in zip(players, places, strict=True):
        shapes = _shapes(tree, player.seat)
        alike = defaultdict(list)
        for node in entries.tolist():
            alike[shapes[node]].append(node)
        for some in alike.values():
            for k in range(0, len(some), program.lanes):
                nodes = np.array(some[k : k + program.lanes])
                program.add(player, nodes, place[nodes])
    decisions = np.flatnonzero((tree.actor >= 0) & (tree.street == last))
    street = ends.LastStreet(
        np.array(program.batch, np.int64),
        np.array(program.entry, np.int64),
        np.array(program.op, np.int64),
        np.concatenate(program.pay).astype(dtype),
        tree.slot[decisions].astype(np.int64),
        tree.count[decisions].astype(np.int64),
        _own_move_above(tree, decisions),
        np.concatenate(program.source).astype(np.uint64),
        np.zeros(0, np.uint8),
        np.zeros(0, np.float32),
        0,
        np.zeros(0, dtype),
    )
    return street, Ends(np.array(program.ends, np.int64), np.array(program.seat, np.int64))


def _shapes(tree: ActionTree, seat: int) -> list[int]:
    """A number for each node: the same where the betting goes on alike for this seat."""
    known: dict[tuple[int, ...], int] = {}
    shapes = [0] * len(tree)
    actor, first, count, showdown = (part.tolist() for part in (tree.actor, tree.first, tree.count, tree.showdown))
    for node in range(len(tree) - 1, -1, -1):  # children come after parents
        if actor[node] < 0:
            key: tuple[int, ...] = (-1, int(showdown[node]))
        else:
            key = (int(actor[node] == seat), *shapes[first[node] : first[node] + count[node]])
        shapes[node] = known.setdefault(key, len(known))
    return shapes


def _own_move_above(tree: ActionTree, decisions: Array) -> Array:
    """For each decision the place of the same seat's move on its street that leads there, ALL where it has made none."""
    above = np.full(len(decisions), ends.ALL, np.int64)
    for i, node in enumerate(decisions.tolist()):
        seat, street, child = tree.actor[node], tree.street[node], node
        while tree.parent[child] >= 0 and tree.street[tree.parent[child]] == street:
            parent = int(tree.parent[child])
            if tree.actor[parent] == seat:
                above[i] = ends.MOVES + int(tree.slot[parent]) + child - int(tree.first[parent])
                break
            child = parent
    return above


def with_table(last: ends.LastStreet, strategy: BlueprintStrategy) -> ends.LastStreet:
    """With the table of a strategy, as it is where it holds bytes or float32: loops are compiled once for both."""
    known, street = side(strategy), strategy.rules.rounds - 1
    table, none = known.tables[street], np.zeros(0, np.float32)
    stride = int(known.stride[street])
    if table.dtype == np.uint8:
        return last._replace(steps=table, sums=none, stride=stride)
    sums = table.astype(np.float32) if table.dtype.kind == "u" else table
    return last._replace(steps=np.zeros(0, np.uint8), sums=sums, stride=stride)


def filled(last: ends.LastStreet, buckets: int) -> ends.LastStreet:
    """With rows of weights for all buckets."""
    weight = np.zeros(buckets * len(last.source), last.pay.dtype)
    ends.fill_rows(last, _shares(last), weight)
    return last._replace(steps=last.steps[:0], sums=last.sums[:0], weight=weight)


def following(last: ends.LastStreet, theirs: ends.LastStreet, buckets: int) -> ends.LastStreet:
    """With rows whose weights of own moves are those of another table: one of a player who follows it."""
    weight, mine = (filled(table, buckets).weight.reshape(buckets, -1) for table in (theirs, last))
    lanes, own = last.entry.shape[1], last.op[last.op[:, 5] >= 0, 5]
    columns = (own[:, None] + np.arange(lanes)).ravel()
    weight[:, columns] = mine[:, columns]
    return last._replace(steps=last.steps[:0], sums=last.sums[:0], weight=weight.ravel())


def side_of(strategy: BlueprintStrategy) -> Side:
    """The tables of a strategy before the last street, all of one type, so that loops are compiled once."""
    known, last = side(strategy), strategy.rules.rounds - 1
    tables = [table.astype(np.float64) if s < last else np.zeros(0) for s, table in enumerate(known.tables)]
    return Side(tuple(tables), known.stride)


# --- cards ------------------------------------------------------------------------------------


def cards_of(rules: Rules) -> kernels.Cards:
    """Hands, deals and suits of a game."""
    deck, ranks = rules.deck, ranking_tables(rules.hole + rules.board_sizes[-1])
    hands = np.full((deck.hand_count, 2), 52, np.uint8)
    hands[:, : deck.hole] = deck.hands
    card_maps, hand_maps = _permutations(deck)
    count, shown = len(deck.cards), np.array(rules.board_sizes, np.int64)
    left = [count - int(shown[s]) + n for s, n in enumerate(rules.board)]
    return kernels.Cards(
        hands,
        np.ascontiguousarray(deck.hands).reshape(-1),
        np.bitwise_or.reduce(np.uint64(1) << deck.hands.astype(np.uint64), axis=1),
        ranks.key[deck.hands].sum(axis=1, dtype=np.uint64),
        ranks.mask[deck.hands].sum(axis=1, dtype=np.uint64),
        deck.cards,
        card_maps,
        hand_maps,
        np.array(rules.board, np.int64),
        shown,
        np.array([1.0 / comb(some - 2 * deck.hole, n) for some, n in zip(left, rules.board, strict=True)]),
        np.array([float(comb(some, n)) for some, n in zip(left, rules.board, strict=True)]),
        ranks,
        deck.hole,
    )


def _permutations(deck: Deck) -> tuple[Array, Array]:
    """Where each permutation of the deck's suits takes cards and hands. uint8 [n, 52], int32 [n, hands]"""
    suits = sorted(SUITS.index(suit) for suit in deck.suits)
    number = {frozenset(hand): h for h, hand in enumerate(deck.hands.tolist())}
    card_maps, hand_maps = [], []
    for to in permutations(suits):
        suit = np.arange(4)
        suit[suits] = to
        cards = np.array([4 * (c // 4) + suit[c % 4] for c in range(52)], np.uint8)
        card_maps.append(cards)
        hand_maps.append([number[frozenset(hand)] for hand in cards[deck.hands].tolist()])
    return np.array(card_maps), np.array(hand_maps, np.int32)


# --- room -------------------------------------------------------------------------------------


def room_bytes(items: kernels.Items, last: ends.LastStreet, hands: int, *, lazy: bool) -> int:
    """What one walk needs."""
    batches, lanes = last.entry.shape
    numbers = 2 * batches * lanes + (len(last.source) if lazy else 0) + 2 * _most_sequences(last) * lanes
    return int(hands * (8 * (len(items.kind) + int(items.reach.max()) + 3) + last.pay.dtype.itemsize * numbers))


def make_room(items: kernels.Items, last: ends.LastStreet, cards: kernels.Cards, *, lazy: bool) -> kernels.Room:
    """Room for one walk; `lazy`: with rows of weights made board by board."""
    hands, streets, lanes = len(cards.mask), len(cards.shown), LANES
    vectors, stride = int(items.reach.max()) + 1, -(-hands // lanes) * lanes
    by_street = (streets, hands)
    return kernels.Room(
        reach=np.zeros((vectors, stride)),
        dead=np.zeros(vectors, np.bool_),
        value=np.zeros((len(items.kind) + 1, stride)),
        spare=np.zeros(hands),
        hand=np.zeros(by_street, np.int32),
        place=np.zeros(by_street, np.int32),
        source=np.zeros(by_street, np.int32),
        live=np.zeros(streets, np.int64),
        bucket=np.zeros(by_street, np.int64),
        strength=np.zeros(hands, np.uint16),
        rank=np.zeros(hands, np.uint16),
        first=np.zeros(by_street, np.uint8),
        second=np.zeros(by_street, np.uint8),
        digits=np.zeros(257, np.int64),
        lanes=np.zeros(stride * lanes),
        worth=np.zeros(stride * lanes),
        sums=np.zeros(ends.CARDS * lanes),
        lane_reach=np.zeros(lanes, np.uint64),
        lane_value=np.zeros(lanes, np.uint64),
        lane_pay=np.zeros(lanes),
        board=np.zeros(8, np.uint8),
        chosen=np.zeros((streets, kernels.MOST_DEALT), np.int64),
        taken=np.zeros(streets, np.uint64),
        group=np.zeros(streets, np.int64),
        times=np.zeros(streets),
        public=np.zeros(streets, np.int64),
        walked=np.zeros(streets, np.int64),
        last=_last_room(last, hands, lazy=lazy),
    )


def _last_room(last: ends.LastStreet, hands: int, *, lazy: bool) -> ends.LastRoom:
    dtype, wide = last.pay.dtype, _most_sequences(last) * last.entry.shape[1]  # numbers of a hand, or card
    entries = np.zeros(last.entry.size * hands, dtype)
    return ends.LastRoom(
        entry=entries,
        gained=entries.copy(),
        alive=np.zeros(len(last.batch), np.bool_),
        share=_shares(last),
        weight=np.zeros(hands * len(last.source) if lazy else 0, dtype),
        at=np.zeros(hands, np.uint64),
        reach=np.zeros(wide * hands, dtype),
        beats=np.zeros(wide * hands, dtype),
        sums=np.zeros(wide * ends.CARDS, dtype),
        total=np.zeros(wide, dtype),
        value=np.zeros((int(last.op[:, 2].max()) + 1) * ends.HANDS * last.entry.shape[1], dtype),
    )


def _shares(last: ends.LastStreet) -> Array:
    """Room for the weights of one bucket's sequences."""
    return np.zeros(ends.MOVES + int((last.first + last.moves).max(initial=0)))


def _most_sequences(last: ends.LastStreet) -> int:
    return int(last.batch[:, 2].max())


def copied(room: kernels.Room) -> kernels.Room:
    """Room for another thread."""
    parts = {name: np.copy(part) for name, part in room._asdict().items() if name != "last"}
    return kernels.Room(**parts, last=ends.LastRoom(*(np.copy(part) for part in room.last)))
