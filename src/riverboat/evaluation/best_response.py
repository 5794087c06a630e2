"""How much a best response wins against a blueprint, in the real game.

The responder sees its cards and the board and remembers everything; the blueprint sees buckets. This is the figure that
counts at a table. It is also an upper bound on exploitability inside the abstract game: whoever sees buckets alone, even with
a memory for all of them, has fewer responses to choose from. That smaller figure is not given here: a responder who sees
buckets must make one choice for hands on many boards, so values would have to be summed over boards before a move is chosen,
while the walk here chooses on each board.

The walk is that of Johanson, Waugh, Bowling & Zinkevich (2011): the betting once for each board, with vectors of hands, and
boards that suits cannot tell apart only once. It needs no memory for boards, but time for all of them.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import permutations
from math import comb

import numpy as np

from riverboat.arrays import Array
from riverboat.cards.deck import SUITS, Deck
from riverboat.cards.isomorphism import Indexer
from riverboat.cards.ranking import tables as ranking_tables
from riverboat.errors import InputError, MemoryLimitError, check_threads
from riverboat.evaluation import _response_kernels as kernels
from riverboat.evaluation.duel import side
from riverboat.games.acpc import Rules
from riverboat.games.action_tree import ActionTree
from riverboat.lanes import LANES
from riverboat.solving.response import Quality
from riverboat.strategy.blueprint import BlueprintStrategy
from riverboat.words import show_bytes

BLOCKS = 64  # boards of the second street are summed in so many groups, whoever walks them
MOST_BYTES = 4 << 30
# Walked side by side: a response of each seat, and what the strategy itself earns.
PLAYERS = ((0, kernels.OWN), (1, kernels.OWN), (0, kernels.FOLLOW))
# Measured nanoseconds for one hand on one board, on one core: to find its bucket and to rank it; for each move of the
# opponent's decisions and of one's own; for each fold, showdown and exit.
_HAND, _OTHER, _OWN, _FOLD, _SHOWDOWN, _EXIT = 80.0, 2.0, 0.7, 2.0, 3.5, 1.5


@dataclass(frozen=True)
class RealQuality(Quality):
    """How good a blueprint is in the real game, in chips a hand; `mbb_per_game` in thousandths of a big blind."""

    big_blind: int = 1
    boards: int = 0  # walked, of all streets
    seconds: float = 0.0

    @property
    def mbb_per_game(self) -> float:
        """Exploitability: what best responses win, the mean of both seats."""
        return 1000 * self.exploitability / self.big_blind


@dataclass(frozen=True)
class Work:
    """What a best response needs."""

    boards: tuple[int, ...]  # by street, up to the names of suits
    bytes: int  # of vectors, for each thread
    seconds: float  # roughly, on one thread


def quality(strategy: BlueprintStrategy, threads: int = 1, most_minutes: float = 10.0) -> RealQuality:
    """Best-response values of both seats and the value of the strategy against itself.

    Refused where it would take more than `most_minutes`, by `estimate`. The result does not depend on the number of threads.
    """
    check_threads(threads)
    threads = min(threads, os.cpu_count() or 1)
    _check(strategy, threads, most_minutes)
    start = time.perf_counter()
    walk = _Walk(strategy, threads)
    first, second, own = walk.values()
    return RealQuality(
        (first, second),
        (own, -own),
        big_blind=strategy.rules.big_blind,
        boards=walk.boards,
        seconds=time.perf_counter() - start,
    )


def estimate(tree: ActionTree) -> Work:
    """How many boards a best response walks, and what that takes."""
    rules = tree.rules
    hands = rules.deck.hand_count
    boards, seconds = [], 0.0
    items = _items(tree)
    costs = {kernels.OTHER: _OTHER, kernels.OWN: _OWN, kernels.FOLLOW: _OTHER}
    ends = {kernels.FOLD: _FOLD, kernels.SHOWDOWN: _SHOWDOWN, kernels.EXIT: _EXIT}
    for street in range(rules.rounds):
        rounds = tuple(n for n in rules.board[1 : street + 1] if n)
        boards.append(Indexer.for_deck(rules.deck, rounds).size() if rounds else 1)
        here = slice(int(items.at[street]), int(items.at[street + 1]))
        kind, moves = items.kind[here], items.count[here]
        cost = _HAND + sum(each * moves[kind == what].sum() for what, each in costs.items())
        cost += sum(each * (kind == what).sum() for what, each in ends.items())
        seconds += boards[-1] * hands * cost * 1e-9
    vectors = len(items.kind) + int(items.reach.max()) + 1
    return Work(tuple(boards), 8 * hands * vectors, float(seconds))


def _check(strategy: BlueprintStrategy, threads: int, most_minutes: float) -> None:
    rules, work = strategy.rules, estimate(strategy.tree)
    if rules.board[0]:
        raise InputError(f"{rules.name}: {rules.board[0]} board cards before the first round: none can be there")
    if work.bytes * (threads + 1) > MOST_BYTES:
        raise MemoryLimitError(
            f"best response in {rules.name}: vectors of hands for {len(strategy.tree):,} nodes take "
            f"{show_bytes(work.bytes)} for each of {threads} threads, {show_bytes(MOST_BYTES)} are allowed: "
            "take fewer threads, or measure by duels"
        )
    minutes = work.seconds / threads / 60
    if minutes > most_minutes:
        raise InputError(
            f"best response in {rules.name}: {work.boards[-1]:,} boards with {len(strategy.tree):,} nodes of betting take "
            f"about {minutes:,.0f} minutes on {threads} threads, more than the {most_minutes:g} allowed: "
            "raise most_minutes, or measure by duels"
        )


# --- walks ------------------------------------------------------------------------------------


class _Walk:
    """The walks of one strategy."""

    def __init__(self, strategy: BlueprintStrategy, threads: int) -> None:
        self.rules, self.threads = strategy.rules, threads
        self.items = _items(strategy.tree)
        self.cards, self.look, self.side = _cards(strategy.rules), strategy.cards.look, side(strategy)
        hole, count = self.rules.hole, len(self.rules.deck.cards)
        self.pairs = comb(count, hole) * comb(count - hole, hole)
        self.boards = 0

    def values(self) -> tuple[float, ...]:
        """What each of `PLAYERS` wins a hand, in chips."""
        items, cards = self.items, self.cards
        room = _room(items, cards)
        nothing = np.zeros((0, 0), np.uint8), np.zeros(0), np.zeros(0, np.int64)
        fixed = items, cards, self.look, self.side
        kernels.walk(*fixed, kernels.DOWN, *nothing, room)
        if self.rules.rounds > 1 and room.chosen[1, 0] != kernels.SPENT:
            self._walk_boards(room)
        kernels.walk(*fixed, kernels.UP, *nothing, room)
        self.boards = int(room.walked.sum())
        hands = len(cards.mask)
        return tuple(float(room.value[root, :hands].sum()) / self.pairs for root in items.root)

    def _walk_boards(self, root: kernels.Room) -> None:
        items, (boards, times, groups) = self.items, self._second_street(root)
        exits = np.flatnonzero(items.kind[: items.at[1]] == kernels.EXIT)
        blocks = min(BLOCKS, len(boards))
        gained = np.zeros((blocks, len(exits), root.value.shape[1]))
        before = root.walked.copy()
        spare: list[kernels.Room] = []  # rooms that no thread uses now

        def work(block: int) -> None:
            room = spare.pop() if spare else kernels.Room(*(np.copy(part) for part in root))
            some = [np.ascontiguousarray(part[block::blocks]) for part in (boards, times, groups)]
            kernels.walk(items, self.cards, self.look, self.side, kernels.BOARDS, *some, room)
            gained[block] = room.value[exits]
            spare.append(room)

        if self.threads == 1:
            for block in range(blocks):
                work(block)
        else:
            with ThreadPoolExecutor(self.threads, thread_name_prefix="riverboat") as pool:
                list(pool.map(work, range(blocks)))
        root.value[exits] = gained.sum(axis=0)
        root.walked[:] += sum(room.walked - before for room in spare)

    def _second_street(self, root: kernels.Room) -> tuple[Array, Array, Array]:
        """Its boards up to suits, how many each stands for, and the permutations that keep it."""
        dealt, count = int(self.cards.dealt[1]), 0
        while True:  # count, then write
            boards = np.zeros((count, dealt), np.uint8)
            times, groups = np.zeros(count), np.zeros(count, np.int64)
            found = kernels.list_deals(self.cards, root, boards, times, groups)
            if found == count:
                return boards, times, groups
            count = found


def _items(tree: ActionTree) -> kernels.Items:
    """The betting as walks need it: on each street its own nodes, the first ones of the next street (exits), and showdowns of
    all-ins before, which wait for the full board.
    """
    rounds, nodes, count = tree.rules.rounds, np.arange(len(tree)), 0
    above = np.where(tree.parent >= 0, tree.street[np.maximum(tree.parent, 0)], -1)
    decision = tree.actor >= 0
    at, root, parts, vectors = [0], [], [], 0
    before = [np.full(len(tree), -1)] * len(PLAYERS)  # items of the nodes on the street before
    for s in range(rounds):
        here = nodes[
            (tree.street == s)
            | (decision & (tree.street == s + 1) & (above == s))
            | (tree.showdown & (tree.street < s))
        ]
        plays = decision[here] & (tree.street[here] == s)
        enters = above[here] < s
        for p, (seat, own) in enumerate(PLAYERS):
            place = np.full(len(tree), -1)
            place[here] = count + np.arange(len(here))
            kind = np.full(len(here), kernels.EXIT, np.int8)
            kind[plays] = np.where(tree.actor[here[plays]] == seat, own, kernels.OTHER)
            kind[~decision[here] & ~tree.showdown[here]] = kernels.FOLD
            if s == rounds - 1:
                kind[tree.showdown[here]] = kernels.SHOWDOWN
            up = np.where(enters, 0, place[np.maximum(tree.parent[here], 0)] - count)
            fresh = enters | (kind[up] == kernels.OTHER)
            reach = np.empty(len(here), np.int64)
            reach[fresh] = vectors + np.arange(fresh.sum())
            vectors += int(fresh.sum())
            for i in np.flatnonzero(~fresh):  # parents come first
                reach[i] = reach[up[i]]
            pay = tree.pay[here] * np.where(tree.showdown[here] | (seat == 0), 1.0, -1.0)
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
    return kernels.Items(np.array(at, np.int64), np.array(root, np.int64), kind, first, moves, slot, reach, entry, pay)


def _cards(rules: Rules) -> kernels.Cards:
    deck, ranks = rules.deck, ranking_tables(rules.hole + rules.board_sizes[-1])
    hands = np.full((deck.hand_count, 2), 52, np.uint8)
    hands[:, : deck.hole] = deck.hands
    card_maps, hand_maps = _permutations(deck)
    left = len(deck.cards) - 2 * deck.hole
    shown = np.array(rules.board_sizes, np.int64)
    chance = [1.0 / comb(left - int(shown[s]) + n, n) for s, n in enumerate(rules.board)]
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
        np.array(chance),
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


def _room(items: kernels.Items, cards: kernels.Cards) -> kernels.Room:
    hands, streets, lanes = len(cards.mask), len(items.at) - 1, LANES
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
        less=np.zeros(stride * lanes),
        worth=np.zeros(stride * lanes),
        sums=np.zeros(kernels.CARDS * lanes),
        lane_reach=np.zeros(lanes, np.uint64),
        lane_value=np.zeros(lanes, np.uint64),
        lane_pay=np.zeros(2 * lanes),
        board=np.zeros(8, np.uint8),
        chosen=np.zeros((streets, kernels.MOST_DEALT), np.int64),
        taken=np.zeros(streets, np.uint64),
        group=np.zeros(streets, np.int64),
        times=np.zeros(streets),
        public=np.zeros(streets, np.int64),
        walked=np.zeros(streets, np.int64),
    )
