"""A true lower bound on how much can be won from a blueprint, where boards are too many for the exact figure.

A response that is fixed beforehand is paid on fresh boards, whole ones, each with all hands of both players. Before the last
street it plays by the blueprint's own buckets, the moves that were worth most on *other* boards; on the last street, where no
chance is left, it takes the best move of every hand, knowing the board. That is a strategy like any other, so what it wins is
at most what a best response wins; and its mean over boards drawn at random is unbiased, with an interval over boards.

Beside it stands what a response of the abstract game wins, one that sees buckets on the last street too: the distance between
the two is what the buckets hide.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from riverboat.core import cores
from riverboat.core.arrays import Array
from riverboat.core.claims import LOWER, Claim
from riverboat.core.errors import InputError, check_threads
from riverboat.evaluation.best_response._kernels import traversal as kernels
from riverboat.evaluation.best_response.exact import check_memory, estimate, number_type
from riverboat.evaluation.best_response.fitted import CHUNK, PLAYERS, BoardWalks, draw_boards, fit_response
from riverboat.evaluation.best_response.pieces import Progress
from riverboat.evaluation.best_response.traversal import ResponseWalk
from riverboat.evaluation.intervals import Interval, interval
from riverboat.evaluation.matches.duel import Duel, duel
from riverboat.games.holdem.rules import Rules
from riverboat.strategies.blueprint import BlueprintStrategy

BOARDS = 10_000
HANDS = 4_000_000  # that a response of the abstract game is paid on


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
    start, threads = time.perf_counter(), min(threads, cores.available_cores())
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


def abstract_bound(
    strategy: BlueprintStrategy,
    boards: int = BOARDS // 20,
    *,
    hands: int = HANDS,
    seed: int = 0,
    threads: int = 1,
    progress: Progress | None = None,
) -> Duel:
    """What a response of the abstract game wins, fitted on so many boards for each street and paid hand by hand.

    A lower bound on exploitability in the abstract game, also where its buckets forget, which leaves no exact figure.
    """
    check_threads(threads)
    _check(strategy.rules, boards)
    work, rounds, done = estimate(strategy.tree), strategy.rules.rounds, 0
    check_memory(strategy, threads, work)

    def told(count: int) -> None:
        nonlocal done
        done += count
        if progress is not None:
            progress(done, rounds * boards)

    response = fit_response(
        strategy, boards, within=True, seed=seed, threads=threads, dtype=number_type(work), told=told
    )
    return duel(response, strategy, hands, seed, threads)


def _check(rules: Rules, boards: int) -> None:
    if boards < 2:
        raise InputError(f"{boards} boards: an interval needs at least two")
    if rules.rounds < 2 or rules.board[0] or not any(rules.board):
        raise InputError(f"{rules.name}: no boards are dealt, so there is nothing to sample; ask for the exact figure")


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
    work = BoardWalks(strategy, response, dtype, threads)
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

    for count, sums in work.each(drawn, lambda: np.zeros((CHUNK, 2)), use):
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
