"""Work on threads or processes, with results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

from riverboat.core.blas import single_threaded_blas

ITEMS_AHEAD = 2  # items in the queue of each worker, so that none is idle
Item = TypeVar("Item")
Result = TypeVar("Result")


def map_in_order(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """Yield the result for each item, in order; with several threads, results are computed ahead.

    There may be infinitely many items. Items that have not begun are cancelled if the caller stops early.
    """
    if threads == 1:
        yield from map(work, items)
        return
    with single_threaded_blas(), ThreadPoolExecutor(threads, thread_name_prefix="riverboat") as pool:
        yield from submit_in_order(pool, work, items, threads)


def submit_in_order(
    pool: Executor, work: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Iterator[Result]:
    """Yield the result for each item, in order, computed by the workers of a pool."""
    futures: deque[Future[Result]] = deque()
    remaining = iter(items)
    try:
        while True:
            ahead = ITEMS_AHEAD * workers - len(futures)
            futures.extend(pool.submit(work, item) for item in islice(remaining, ahead))
            if not futures:
                return
            yield futures.popleft().result()
    finally:
        for future in futures:
            future.cancel()
