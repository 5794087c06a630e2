"""Report progress and enforce memory limits while a tree is built.

The size of a tree is known only after it was built. Builders count its nodes through a `BuildMonitor`. Callers may
install a listener and a memory limit by `build_context`; without a limit, half of the free memory may be used.

    with build_context(print, memory=2_000_000_000):
        compile_game(game)
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Protocol, TypeAlias

from riverboat.core.arguments import parse_byte_size
from riverboat.core.cancellation import check_cancellation
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.core.formatting import format_bytes
from riverboat.core.resources import available_memory, resident_memory

MEMORY_SHARE = 0.5  # share of the free memory that is the limit if the caller sets none
DEFAULT_MEMORY_BUDGET = 4_000_000_000  # bytes, if the system does not report its free memory
CHECK_INTERVAL = 0.25  # seconds between two checks
ESTIMATE_DELAY = 1.0  # seconds before the size is estimated
ESTIMATE_SECONDS = 0.4  # seconds that the estimate may take
ESTIMATE_PAUSE = 2.0  # factor between the times of two estimates
SAFE_SHARE = 0.1  # share of the limit below which all estimates end further ones
# Estimates are unbiased and never negative. So each exceeds k times the true size with probability at most 1 / k (Markov's
# inequality), and all of n independent ones with probability at most k to the power -n.
REFUSAL_FACTOR = 50.0  # of the mean of all estimates
NUM_ESTIMATES, SMALLEST_FACTOR = 7, 1.9  # of the smallest estimate: wrong with probability 1/89
MIN_COUNT_TO_EXTRAPOLATE = 200_000  # nodes before the memory per node is measured from the process
MAX_COUNT = 2**31 - 2**24  # nodes are numbered in 32 bits


@dataclass(frozen=True)
class BuildProgress:
    """Progress of building a tree: nodes so far, expected number, time and state."""

    task: str  # `building the tree of leduc`
    unit: str  # `histories`
    count: int
    expected: float | None  # estimated final count, if there is an estimate
    seconds: float
    state: Literal["growing", "done", "interrupted"] = "growing"


ProgressListener: TypeAlias = Callable[[BuildProgress], None]


@dataclass(frozen=True)
class _BuildLimits:
    listener: ProgressListener | None = None
    memory: int | None = None


_BUILD_LIMITS: ContextVar[_BuildLimits] = ContextVar("terms", default=_BuildLimits())  # noqa: B039  # frozen


@contextmanager
def build_context(listener: ProgressListener | None = None, memory: int | str | None = None) -> Iterator[None]:
    """Report builds inside the block to `listener`, and limit them to `memory` bytes.

    Bytes may be a text such as 2GB. An argument that is None leaves the current setting unchanged.
    """
    size = None if memory is None else parse_byte_size(memory)
    if size is not None and size <= 0:
        raise InputError(f"memory={memory}: must be above zero bytes")
    before = _BUILD_LIMITS.get()
    token = _BUILD_LIMITS.set(_BuildLimits(listener or before.listener, before.memory if size is None else size))
    try:
        yield
    finally:
        _BUILD_LIMITS.reset(token)


def memory_budget(share: float = MEMORY_SHARE) -> int:
    """Return the bytes that may be used: the limit of `build_context`, or a share of the free memory."""
    limit = _BUILD_LIMITS.get().memory
    if limit is not None:
        return limit
    free = available_memory()
    return DEFAULT_MEMORY_BUDGET if free is None else int(share * free)


def _describe_budget(most: int, share: float = MEMORY_SHARE) -> str:
    """Describe the memory limit and the way out, for error messages."""
    if _BUILD_LIMITS.get().memory is not None:
        return f"{format_bytes(most)} are allowed; take a smaller game, or allow more"
    if share == 1.0:
        return f"{format_bytes(most)} are free; take a smaller game"
    return f"{format_bytes(most)}, half of what is free, are allowed; take a smaller game, or allow more by memory (--memory)"


def format_estimate(count: float) -> str:
    """Format an estimated count by its order of magnitude."""
    return f"about {count:.2g}" if math.isfinite(count) else "more than 1e+300"


def require_memory(task: str, needed_bytes: float, share: float = MEMORY_SHARE) -> None:
    """Raise MemoryLimitError if a task of known size does not fit in the memory budget."""
    budget = memory_budget(share)
    if needed_bytes > budget:
        raise MemoryLimitError(f"{task}: needs {format_bytes(needed_bytes)}, and {_describe_budget(budget, share)}")


class SizeEstimate(Protocol):
    """Estimated size of a tree from random lines."""

    nodes: float
    longest: int  # actions of the longest line
    endless: bool  # whether no line came to an end


class BuildMonitor:
    """Context manager that counts built nodes, and at intervals reports progress and checks the memory limit.

    The builder calls it with the current count. `name` is what is built, `activity` a verb phrase for messages, `unit`
    what is counted, and `bytes_each` the least memory of one node.
    """

    def __init__(
        self,
        name: str,
        activity: str,
        unit: str,
        bytes_each: int,
        estimate: Callable[[float, int], SizeEstimate] | None = None,  # time limit in seconds, seed -> size
        expected: float | None = None,
    ) -> None:
        self.name, self.unit = name, unit
        self.task = f"{activity} {name}"
        self.count = 0
        self.expected = expected  # known or estimated final count
        self._bytes_each = bytes_each  # minimum size of one node
        self._estimate = estimate
        self._estimates: list[list[SizeEstimate]] = [[] for _ in range(NUM_ESTIMATES)]  # independent groups
        self._next_estimate = ESTIMATE_DELAY  # seconds since the start
        self._budget = memory_budget()
        self._resident = resident_memory()
        self._started = clock.monotonic()
        self._next = self._started + CHECK_INTERVAL

    def __enter__(self) -> BuildMonitor:
        return self

    def __call__(self, count: int) -> None:
        """Set the current count, and check the limits if it is time."""
        self.count = count
        if clock.monotonic() >= self._next:
            self._check()

    def _check(self) -> None:
        resident = resident_memory()
        grown = 0 if resident is None or self._resident is None else resident - self._resident
        used = max(self.count * self._bytes_each, grown)
        if used > self._budget or self.count > MAX_COUNT:
            of = f" of about {self.expected:.2g}" if self.expected else ""
            raise MemoryLimitError(
                f"{self.name}: {self.count:,}{of} {self.unit} take {format_bytes(used)}, and "
                f"{_describe_budget(self._budget)}"
            )
        if self._estimate is not None and clock.monotonic() - self._started >= self._next_estimate:
            self._check_estimate(self._estimate, used)
        self._report()
        check_cancellation()
        self._next = clock.monotonic() + CHECK_INTERVAL

    def _check_estimate(self, estimate: Callable[[float, int], SizeEstimate], used: int) -> None:
        """Estimate the final count, and raise MemoryLimitError if it is very probably too large."""
        first_seed = NUM_ESTIMATES * len(self._estimates[0])
        for k, group in enumerate(self._estimates):
            group.append(estimate(ESTIMATE_SECONDS / NUM_ESTIMATES, first_seed + k))
        self._next_estimate = ESTIMATE_PAUSE * (clock.monotonic() - self._started)
        means = [sum(each.nodes for each in group) / len(group) for group in self._estimates]
        mean = sum(means) / len(means)
        self.expected = max(float(self.count), mean)
        each = used / self.count if self.count >= MIN_COUNT_TO_EXTRAPOLATE else self._bytes_each
        if max(mean / REFUSAL_FACTOR, min(means) / SMALLEST_FACTOR) * each > self._budget:
            lines = [line for group in self._estimates for line in group]
            depth, endless = max(line.longest for line in lines), all(line.endless for line in lines)
            length = (
                f"no random line ends within {depth:,} actions: the game is unbounded, or far too long"
                if endless
                else f"random lines have up to {depth:,} actions"
            )
            raise MemoryLimitError(
                f"{self.name}: {format_estimate(self.expected)} {self.unit}, which need "
                f"{format_bytes(self.expected * each)}, and {_describe_budget(self._budget)}; {length}"
            )
        if max(means) * each < SAFE_SHARE * self._budget:
            self._estimate = None

    def _report(self, state: Literal["growing", "done", "interrupted"] = "growing") -> None:
        listener = _BUILD_LIMITS.get().listener
        if listener is not None:
            seconds = clock.monotonic() - self._started
            listener(BuildProgress(self.task, self.unit, self.count, self.expected, seconds, state))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._report("interrupted" if isinstance(error, KeyboardInterrupt) else "done")
        if isinstance(error, MemoryError) and not isinstance(error, MemoryLimitError):
            raise MemoryLimitError(
                f"{self.name}: memory ran out after {self.count:,} {self.unit}; take a smaller game"
            ) from None
