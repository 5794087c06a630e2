"""Processes that play the pairs of a match, each with agents of its own.

    with Workers(seat, 4) as workers:
        play_match(first, second, rules, hands=100_000, workers=workers)

Cards and draws are keyed by the number of the pair, so a match comes out the same whoever played which part of it. For agents
that search this is what keeps a GPU busy: while one process lays out subgames, those of another are solved.
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context
from types import TracebackType

from riverboat.agents.base import Agent
from riverboat.core.arrays import Array
from riverboat.core.errors import MemoryLimitError
from riverboat.evaluation.matches.pairs import Pairs
from riverboat.games.holdem.rules import Rules
from riverboat.games.records.hand_records import Hands

Seat = Callable[[], tuple[Agent, Agent]]
_AHEAD = 2  # batches that wait for each process, so that none is idle


class Workers:
    """So many processes. `seat` makes the agents of one, and can be pickled."""

    def __init__(self, seat: Seat, count: int) -> None:
        self.count, self._seat = count, seat
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=kind is None, cancel_futures=True)

    def play(self, names: tuple[str, str], rules: Rules, seed: int, batches: Iterable[Array]) -> Iterator[Hands]:
        """Both hands of the pairs of each batch, in their order."""
        # Started afresh and not forked: a device cannot be used in a copy of a process that has used it.
        self._pool = ProcessPoolExecutor(
            self.count, get_context("spawn"), initializer=_sit_down, initargs=(self._seat, names, rules, seed)
        )
        waiting: deque[Future[Hands]] = deque()
        rest = iter(batches)
        try:
            while True:
                waiting.extend(
                    self._pool.submit(_play, some) for some in islice(rest, _AHEAD * self.count - len(waiting))
                )
                if not waiting:
                    return
                yield waiting.popleft().result()
        except BrokenProcessPool:
            raise MemoryLimitError(
                f"match: one of {self.count} processes has ended by itself, perhaps for want of memory; take fewer workers"
            ) from None


_TABLE: list[Pairs] = []  # of this process


def _sit_down(seat: Seat, names: tuple[str, str], rules: Rules, seed: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # who stops the match tells of it, not its processes
    _TABLE[:] = [Pairs(seat(), names, rules, seed)]


def _play(numbers: Array) -> Hands:
    return _TABLE[0].play(numbers)
