"""A true lower bound on how much can be won from a blueprint, where boards are too many for the exact figure.

A response that is fixed beforehand is paid on fresh boards, whole ones, each with all hands of both players. Before the last
street it plays by the blueprint's own buckets, the moves that were worth most on *other* boards; on the last street, where no
chance is left, it takes the best move of every hand, knowing the board. That is a strategy like any other, so what it wins is
at most what a best response wins; and its mean over boards drawn at random is unbiased, with an interval over boards.

The fit goes from the last street but one to the first: values of what ends a street are added up by bucket over some boards,
the best moves of the street follow, and are played when the street before is fitted, on other boards again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riverboat.arrays import Array
from riverboat.claims import LOWER, Claim
from riverboat.errors import InputError, check_threads
from riverboat.evaluation import _response_kernels as kernels
from riverboat.evaluation.best_response import check_memory, estimate, number_type
from riverboat.evaluation.intervals import Interval, interval
from riverboat.evaluation.response_layout import Player
from riverboat.evaluation.response_pieces import Progress
from riverboat.evaluation.response_walk import Plan, ResponseWalk
from riverboat.games.acpc import Rules
from riverboat.strategy.blueprint import BlueprintStrategy

BOARDS = 10_000
PLAYERS = Player(0, kernels.FOLLOW, kernels.OWN), Player(1, kernels.FOLLOW, kernels.OWN)
_CHUNK = 32  # boards that one thread walks at a time


@dataclass(frozen=True)
class LowerBound:
    """What a fixed response wins from a strategy: a lower bound on its exploitability, as an estimate with its interval."""

    chips: Interval  # a hand, the mean of both seats; over boards
    seats: tuple[float, float]  # what the response wins in each seat
    boards: int  # that it was paid on
    fitted: int  # other boards, from which its moves were taken
    seed: int
    big_blind: int
    seconds: float

    @property
    def mbb_per_game(self) -> float:
        """Thousandths of a big blind a hand."""
        return 1000 * self.chips.mean / self.big_blind

    @property
    def ci95(self) -> float:
        """Half the width of the 95 % interval of `mbb_per_game`."""
        return 1000 * self.chips.half_width / self.big_blind

    @property
    def claim(self) -> Claim:
        """What is known of the strategy's exploitability."""
        return Claim(
            "exploitability",
            self.mbb_per_game,
            "mbb/g",
            LOWER,
            self.ci95,
            seed=self.seed,
            size=self.boards,
            samples="boards",
        )


def lower_bound(
    strategy: BlueprintStrategy,
    boards: int = BOARDS,
    *,
    fitted: int | None = None,
    seed: int = 0,
    threads: int = 1,
    progress: Progress | None = None,
) -> LowerBound:
    """Fit a response on some boards for each street before the last, and pay it on others; `fitted` is a tenth of `boards`.

    The result does not depend on the number of threads.
    """
    check_threads(threads)
    _check(strategy.rules, boards)
    start, threads = time.perf_counter(), min(threads, os.cpu_count() or 1)
    some = max(1, boards // 10) if fitted is None else fitted
    work = estimate(strategy.tree)
    check_memory(strategy, threads, work)
    dtype = number_type(work)
    streets, done = strategy.rules.rounds - 1, 0

    def told(count: int) -> None:
        nonlocal done
        done += count
        if progress is not None:
            progress(done, streets * some + boards)

    response = fit_response(strategy, some, seed=seed, threads=threads, dtype=dtype, told=told)
    seats = pay_response(strategy, response, boards, seed=seed, threads=threads, dtype=dtype, told=told)
    mean = seats.mean(axis=1)
    return LowerBound(
        interval(boards, float(mean.sum()), float((mean * mean).sum())),
        (float(seats[:, 0].mean()), float(seats[:, 1].mean())),
        boards,
        streets * some,
        seed,
        strategy.rules.big_blind,
        time.perf_counter() - start,
    )


def _check(rules: Rules, boards: int) -> None:
    if boards < 2:
        raise InputError(f"{boards} boards: an interval needs at least two")
    if rules.rounds < 2 or rules.board[0] or not any(rules.board):
        raise InputError(f"{rules.name}: no boards are dealt, so there is nothing to sample; ask for the exact figure")


def draw_boards(rules: Rules, count: int, seed: int, stream: int) -> Array:
    """Whole boards at random, street by street. uint8 [count, cards]"""
    rng = np.random.default_rng([seed, stream])
    size, deck = rules.board_sizes[-1], rules.deck.cards
    keys = rng.random((count, len(deck)))
    boards: Array = deck[np.argsort(keys, axis=1)[:, :size]]
    for low, high in zip((0, *rules.board_sizes[:-1]), rules.board_sizes, strict=True):
        boards[:, low:high] = np.sort(boards[:, low:high], axis=1)
    return np.ascontiguousarray(boards)


class _Boards:
    """Walks of single boards by both seats' responses."""

    def __init__(
        self, strategy: BlueprintStrategy, response: BlueprintStrategy, dtype: type[np.floating[Any]], threads: int
    ) -> None:
        self.walk = ResponseWalk(strategy, Plan.of(strategy.tree, PLAYERS, dtype), response)
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
            high, sums = min(low + _CHUNK, len(boards)), begin()
            for i in range(low, high):
                gained = self.walk.walk_boards(room, boards[i : i + 1], self.times, np.ones(1, np.int64))
                use(sums, i - low, room, gained)
            self.spare.append(room)
            return high - low, sums

        starts = range(0, len(boards), _CHUNK)
        if self.threads == 1:
            yield from map(work, starts)
            return
        with ThreadPoolExecutor(self.threads, thread_name_prefix="riverboat") as pool:
            try:
                yield from pool.map(work, starts)
            finally:
                pool.shutdown(wait=True, cancel_futures=True)


# --- paying -----------------------------------------------------------------------------------


def pay_response(
    strategy: BlueprintStrategy,
    response: BlueprintStrategy,
    boards: int | Array,
    *,
    seed: int = 0,
    threads: int = 1,
    dtype: type[np.floating[Any]] = np.float64,
    told: Callable[[int], None] = lambda count: None,
) -> Array:
    """What a response wins in each seat on each board, in chips a hand. float64 [boards, 2]

    Before the last street it plays its own table, on the last street it takes the best move of every hand. `boards` are
    given, or drawn: each stands for all of them, so that the mean is what the response wins in the game.
    """
    drawn = boards if isinstance(boards, np.ndarray) else draw_boards(strategy.rules, boards, seed, 0)
    work = _Boards(strategy, response, dtype, threads)
    walk, parts = work.walk, []
    without = np.array(
        walk.values(np.zeros((len(walk.exits), len(walk.cards.mask))))
    )  # what folds before any board pay
    half = len(walk.exits) // 2
    own = [_own_reach(walk, response, player.seat) for player in PLAYERS]
    scale = float(walk.cards.chance[1]) / walk.pairs

    def use(won: Array, i: int, room: kernels.Room, gained: Array) -> None:
        for seat in (0, 1):
            won[i, seat] = scale * float((own[seat] * gained[seat * half : (seat + 1) * half]).sum())

    for count, sums in work.each(drawn, lambda: np.zeros((_CHUNK, 2)), use):
        parts.append(sums[:count])
        told(count)
    won: Array = np.concatenate(parts) + without
    return won


def _own_reach(walk: ResponseWalk, response: BlueprintStrategy, seat: int) -> Array:
    """How often a seat's own moves lead each hand to the exits of the first street. float64 [exits, hands]"""
    tree, hands = response.tree, len(walk.cards.mask)
    bucket = walk.root.bucket[0, :hands]
    reach, exits = {0: np.ones(hands)}, []
    for node in range(len(tree)):  # parents come before children
        if node not in reach:
            continue
        if tree.actor[node] < 0 or tree.street[node] > 0:
            if tree.actor[node] >= 0 or tree.showdown[node]:
                exits.append(reach[node])
            continue
        played = response.probabilities(node, bucket) if tree.actor[node] == seat else None
        for a, child in enumerate(tree.children(node)):
            reach[child] = reach[node] if played is None else reach[node] * played[:, a]
    return np.array(exits)


# --- fitting ----------------------------------------------------------------------------------


def fit_response(
    strategy: BlueprintStrategy,
    boards: int,
    *,
    seed: int = 0,
    threads: int = 1,
    dtype: type[np.floating[Any]] = np.float64,
    told: Callable[[int], None] = lambda count: None,
) -> BlueprintStrategy:
    """A response by buckets before the last street: the moves that were worth most on so many boards for each street."""
    response = strategy
    for street in range(strategy.rules.rounds - 2, -1, -1):
        drawn = draw_boards(strategy.rules, boards, seed, street + 1)
        work = _Boards(strategy, response, dtype, threads)
        worth = _Worth(work.walk, street, strategy.cards.counts[street])
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
            if kind >= kernels.FOLD:
                continue
            first, count = int(items.first[item]), int(items.count[item])
            below = np.stack([value[first + a] for a in range(count)])
            if kind == kernels.OTHER:
                value[item] = below.sum(axis=0)
                continue
            value[item] = below.max(axis=0)
            met = (below != 0).any(axis=0)
            at = int(items.slot[item])
            best = np.zeros((table.shape[0], count), table.dtype)
            best[np.arange(len(best)), below.argmax(axis=0)] = 1
            table[met, at : at + count] = best[met]
