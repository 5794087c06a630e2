"""Responses to a blueprint by its own buckets, fitted on boards drawn at random, each with all hands of both players.

The fit goes from the last street to the first: what ends a street is added up by bucket over some boards, the best moves of
the street follow, and are played when the street before is fitted, on other boards again. A response may take the last street
as it comes, the best move of every hand on its board, and is then fitted before it alone; or it is fitted there too, and is
a strategy of the abstract game. It forgets what the buckets forget, and a bucket is weighed by the opponent's moves alone:
so it is a good response of the abstract game and need not be the best.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from riverboat.core.arrays import Array
from riverboat.evaluation.best_response._kernels import traversal as kernels
from riverboat.evaluation.best_response._kernels.fit import add_ends
from riverboat.evaluation.best_response.layout import Player
from riverboat.evaluation.best_response.traversal import Plan, ResponseWalk
from riverboat.games.holdem.rules import Rules
from riverboat.strategies.blueprint import BlueprintStrategy

PLAYERS = Player(0, kernels.FOLLOW, kernels.OWN), Player(1, kernels.FOLLOW, kernels.OWN)
WITHIN = Player(0, kernels.FOLLOW, kernels.FOLLOW), Player(1, kernels.FOLLOW, kernels.FOLLOW)
CHUNK = 32  # boards that one thread walks at a time


def draw_boards(rules: Rules, count: int, seed: int, stream: int) -> Array:
    """Whole boards at random, street by street. uint8 [count, cards]"""
    rng = np.random.default_rng([seed, stream])
    size, deck = rules.board_sizes[-1], rules.deck.cards
    keys = rng.random((count, len(deck)))
    boards: Array = deck[np.argsort(keys, axis=1)[:, :size]]
    for low, high in zip((0, *rules.board_sizes[:-1]), rules.board_sizes, strict=True):
        boards[:, low:high] = np.sort(boards[:, low:high], axis=1)
    return np.ascontiguousarray(boards)


class BoardWalks:
    """Walks of single boards by both seats' responses."""

    def __init__(
        self,
        strategy: BlueprintStrategy,
        response: BlueprintStrategy,
        dtype: type[np.floating[Any]],
        threads: int,
        players: tuple[Player, ...] = PLAYERS,
    ) -> None:
        self.walk = ResponseWalk(strategy, Plan.of(strategy.tree, players, dtype), response)
        self.threads = threads
        self.times = np.array([self.walk.cards.deals[1]])
        self.spare: list[kernels.Room] = []

    def each(
        self, boards: Array, begin: Callable[[], Array], use: Callable[[Array, int, kernels.Room, Array], None]
    ) -> Iterator[tuple[int, Array]]:
        """Walk boards, some at a time: how many, and what `use` made of the rooms that they leave and of what they gained.

        It gets an array from `begin` for the boards that go together. They come in their order, whoever walked them.
        """

        def work(low: int) -> tuple[int, Array]:
            room = self.spare.pop() if self.spare else self.walk.room()
            high, sums = min(low + CHUNK, len(boards)), begin()
            for i in range(low, high):
                gained = self.walk.walk_boards(room, boards[i : i + 1], self.times, np.ones(1, np.int64))
                use(sums, i - low, room, gained)
            self.spare.append(room)
            return high - low, sums

        starts = range(0, len(boards), CHUNK)
        if self.threads == 1:
            yield from map(work, starts)
            return
        with ThreadPoolExecutor(self.threads, thread_name_prefix="riverboat") as pool:
            try:
                yield from pool.map(work, starts)
            finally:
                pool.shutdown(wait=True, cancel_futures=True)


def fit_response(
    strategy: BlueprintStrategy,
    boards: int | Array,
    *,
    within: bool = False,
    seed: int = 0,
    threads: int = 1,
    dtype: type[np.floating[Any]] = np.float64,
    told: Callable[[int], None] = lambda count: None,
) -> BlueprintStrategy:
    """A response by buckets: the moves that were worth most on so many boards for each street.

    `within`: of the abstract game, the last street by buckets too; otherwise its table there is the strategy's, and who plays
    it takes the best move of every hand. Boards may be given, the same ones for all streets.
    """
    response, last = strategy, strategy.rules.rounds - 1
    for street in range(last if within else last - 1, -1, -1):
        drawn = boards if isinstance(boards, np.ndarray) else draw_boards(strategy.rules, boards, seed, street + 1)
        work = BoardWalks(strategy, response, dtype, threads, WITHIN if within else PLAYERS)
        worth = (_LastWorth if street == last else _Worth)(work.walk, street, strategy.buckets[street])
        for count, sums in work.each(drawn, worth.begin, worth.add):
            worth.sums += sums
            told(count)
        table = np.array(strategy.average[street])
        for seat in (0, 1):
            worth.write_best(seat, table)
        response = replace(response, average=(*response.average[:street], table, *response.average[street + 1 :]))
    return response


class _Worth:
    """What ends a street, by bucket, added up over boards."""

    def __init__(self, walk: ResponseWalk, street: int, buckets: int) -> None:
        self.walk, self.street, items = walk, street, walk.items
        self.items = np.arange(items.at[street], items.at[street + 1])
        self.ends = self.items[items.kind[self.items] >= kernels.FOLD]
        self.exits = self.ends[items.kind[self.ends] == kernels.EXIT]
        self.sums = np.zeros((len(self.ends), buckets))

    def begin(self) -> Array:
        """Room for some boards."""
        return np.zeros_like(self.sums)

    def add(self, sums: Array, _: int, room: kernels.Room, gained: Array) -> None:
        """Values on one board."""
        items, s = self.walk.items, self.street
        if s == 0:  # not yet weighed by the chance of a board, as folds are
            room.value[self.exits] *= self.walk.cards.chance[1]
        kernels.add_by_bucket(self.ends, items.reach, room, s, sums)

    def write_best(self, seat: int, table: Array) -> None:
        """Put the best moves of a seat into a table; buckets that were not met keep theirs."""
        items = self.walk.items
        half = len(self.items) // 2
        mine = self.items[seat * half : (seat + 1) * half]
        value = {int(item): self.sums[k] for k, item in enumerate(self.ends.tolist())}
        for item in reversed(mine.tolist()):  # children come after parents
            kind = int(items.kind[item])
            if kind < kernels.FOLD:
                first, count = int(items.first[item]), int(items.count[item])
                below = np.stack([value[first + a] for a in range(count)])
                value[item] = _up(below, int(items.slot[item]), table, other=kind == kernels.OTHER)


class _LastWorth:
    """The same on the last street, whose ends stand side by side in lanes."""

    def __init__(self, walk: ResponseWalk, street: int, buckets: int) -> None:
        self.walk, self.street = walk, street
        self.shape = (len(walk.plan.ends.seat), buckets, walk.last.entry.shape[1])
        self.sums = np.zeros(self.shape)

    def begin(self) -> Array:
        """Room for some boards."""
        return np.zeros(self.shape, self.walk.last.pay.dtype)

    def add(self, sums: Array, _: int, room: kernels.Room, gained: Array) -> None:
        """Values on one board."""
        add_ends(self.walk.cards, self.walk.last, room, sums.reshape(-1))

    def write_best(self, seat: int, table: Array) -> None:
        """As above."""
        tree, ends = self.walk.plan.tree, self.walk.plan.ends
        value: dict[int, Array] = {}
        for row in np.flatnonzero(ends.seat == seat).tolist():
            for lane, node in enumerate(ends.node[row].tolist()):
                if node >= 0:
                    value[node] = self.sums[row, :, lane]
        decisions = np.flatnonzero((tree.actor >= 0) & (tree.street == self.street))
        for node in reversed(decisions.tolist()):  # children come after parents
            below = np.stack([value[child] for child in tree.children(node)])
            value[node] = _up(below, int(tree.slot[node]), table, other=tree.actor[node] != seat)


def _up(below: Array, at: int, table: Array, *, other: bool) -> Array:
    """What a decision is worth to each bucket. Best moves go into the table; buckets that were not met keep theirs."""
    if other:
        total: Array = below.sum(axis=0)
        return total
    count, met = len(below), (below != 0).any(axis=0)
    best = np.zeros((len(table), count), table.dtype)
    best[np.arange(len(best)), below.argmax(axis=0)] = 1
    table[met, at : at + count] = best[met]
    most: Array = below.max(axis=0)
    return most
