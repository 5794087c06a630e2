"""Run loop of solvers and trainers: steps, stoppers, checks, checkpoints and interrupts.

A run steps in chunks of a fraction of a second, so that stoppers and progress bars stay responsive. Stoppers decide
when a run ends; any one of several stops it. This module sets no signal handler: an interrupt (Ctrl-C) during a step is
raised after the step, so that a checkpoint written then is consistent.
"""

from __future__ import annotations

import contextvars
import math
import threading
import time as clock
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any, ClassVar, Generic, Protocol, Self, TypeAlias, TypeVar

from riverboat.core import validation
from riverboat.core.errors import DiskError, InputError, short_repr

UNLIMITED_ITERATIONS = 1 << 40  # more iterations than any chunk has
CHUNK_GROWTH = 8  # a chunk has at most this many times the iterations of the one before


class RunProgress(Protocol):
    """Progress of a run, as stoppers read it."""

    @property
    def iteration(self) -> int: ...

    @property
    def seconds(self) -> float: ...

    @property
    def exploitability(self) -> float | None:
        """Exploitability at the last check; None before the first."""

    @property
    def checked(self) -> bool:
        """Whether the exploitability belongs to this iteration."""

    def after(self, iterations: int) -> Self:
        """Return the progress as it would be after more iterations, with unchanged time and no checked figures."""


P = TypeVar("P", bound=RunProgress)
AnyStopper: TypeAlias = Callable[[Any], bool]


# --- stoppers ---------------------------------------------------------------------------------------


def after_iterations(count: int) -> Callable[[RunProgress], bool]:
    """Make a stopper that ends a run at iteration `count`."""
    validation.check_integer("iterations", count)
    return lambda p: p.iteration >= count


def after_seconds(seconds: float) -> Callable[[RunProgress], bool]:
    """Make a stopper that ends a run after this much time, which includes checks and checkpoints."""
    validation.check_number("time", seconds)
    return lambda p: p.seconds >= seconds


def exploitability_below(exploitability: float) -> Callable[[RunProgress], bool]:
    """Make a stopper that ends a run when a check finds at most this exploitability, in the game's unit."""
    validation.check_number("until", exploitability, -math.inf)
    if not 0 < exploitability < math.inf:
        raise InputError(f"until={exploitability:g}: must be a number above zero")
    return lambda p: p.checked and p.exploitability is not None and p.exploitability <= exploitability


@dataclass(frozen=True)
class PollingStopper:
    """Stopper that calls a function without arguments, such as a test whether the user wants to stop.

    It does not depend on the iteration, so `iterations_before_stop` ignores it.
    """

    stop: Callable[[], bool]

    def __call__(self, now: RunProgress) -> bool:
        return self.stop()


def iterations_before_stop(now: RunProgress, stops: Iterable[AnyStopper], most: int = UNLIMITED_ITERATIONS) -> int:
    """Return the smallest number of iterations after which a stopper on the iteration count applies, at most `most`."""
    counting = [stop for stop in stops if not isinstance(stop, PollingStopper)]

    def is_stopped(count: int) -> bool:
        return any(stop(now.after(count)) for stop in counting)

    # Stoppers on iterations are monotone: bisect to the first count that stops.
    return most if not is_stopped(most) else 1 + bisect_left(range(1, most), True, key=is_stopped)


# --- run loop ---------------------------------------------------------------------------------------


class IterativeSolver(Protocol):
    """A solver that a run loop can step."""

    @property
    def iteration(self) -> int: ...

    @property
    def finished(self) -> bool:
        """Whether further steps would change nothing."""

    def step(self, count: int, /) -> None: ...


def step_until(solver: IterativeSolver, is_done: Callable[[], bool], most: int, chunk: int | None = None) -> bool:
    """Step a solver until `is_done` and return whether it is; give up after `most` iterations or if the solver ends.

    A chunk has `chunk` iterations; by default a quarter of those so far, so that checks cost little.
    """
    while not is_done():
        before = solver.iteration
        if before >= most:
            return False
        solver.step(max(10, before // 4) if chunk is None else min(chunk, most - before))
        if solver.finished or solver.iteration == before:
            return is_done()
    return True


class RunLoop(ABC, Generic[P]):
    """Common part of all runs. Subclasses define how to step, when to check, and how to save."""

    solver: Any  # solver or trainer that the run steps
    first_chunk: ClassVar[int] = 1
    min_chunk: ClassVar[int] = 1
    chunk_seconds: ClassVar[float] = 0.25
    saves_checkpoints = False
    seconds: float = 0.0  # time of the run so far, over all sessions
    checkpoint_seconds: float = 60.0
    write_error: DiskError | None = None  # why the last checkpoint or line of the log could not be written

    @property
    @abstractmethod
    def iteration(self) -> int:
        """Number of iterations so far."""

    @property
    def finished(self) -> bool:
        """Whether the solver is finished; the run then ends regardless of its stoppers."""
        return False

    @abstractmethod
    def current_progress(self) -> P:
        """Return the progress of the run."""

    def advance(self, iterations: int) -> None:
        """Run this many iterations."""
        self.solver.step(iterations)

    def iterations_until_check(self) -> int:
        """Return the number of iterations before the next check is due at the latest."""
        return UNLIMITED_ITERATIONS

    @abstractmethod
    def check_if_due(self, seconds: float, iterations: int) -> None:
        """Check after a chunk of `iterations` that took `seconds`, if a check is due."""

    def save(self) -> object:
        """Write a checkpoint; runs without checkpoints do nothing."""

    def iterate(self, stoppers: Iterable[Callable[[P], bool]], callback: Callable[[P], None] | None = None) -> None:
        """Iterate until a stopper applies or the solver is finished.

        `callback` receives the progress after each batch of iterations.
        """
        stops = list(stoppers)
        if not stops:
            raise InputError("no stopping condition: set iterations, time or until")
        with StepThread() as thread:
            self._iterate(thread, stops, callback)

    def _iterate(
        self, thread: StepThread, stops: list[Callable[[P], bool]], callback: Callable[[P], None] | None
    ) -> None:
        """Iterate as `iterate` does; `thread` runs the steps."""
        saved_at, chunk = self.seconds, self.first_chunk
        while True:
            now = self.current_progress()
            if any(stop(now) for stop in stops):
                return
            if callback is not None:
                callback(now)
            most = max(1, min(chunk, self.iterations_until_check()))
            count = iterations_before_stop(now, stops, most)
            before, started = self.iteration, clock.perf_counter()
            thread.run(self.advance, count)
            spent = max(clock.perf_counter() - started, 1e-9)
            self.seconds += spent
            done = self.iteration - before
            chunk = max(self.min_chunk, min(chunk * CHUNK_GROWTH, int(done * self.chunk_seconds / spent)))
            self.check_if_due(spent, done)
            if self.finished or not done:
                return
            if self.saves_checkpoints and self.seconds - saved_at >= self.checkpoint_seconds:
                started = clock.perf_counter()
                self.try_write(self.save)
                self.seconds += clock.perf_counter() - started
                saved_at = self.seconds

    def try_write(self, write: Callable[[], object]) -> None:
        """Write a file during the run, and record a disk error instead of ending the run."""
        try:
            write()
            self.write_error = None
        except DiskError as error:
            self.write_error = error


class StepThread:
    """Thread that runs solver steps, so that Ctrl-C does not interrupt a step halfway; it starts with the first step.

    Python interrupts only the main thread. It waits for the step, and raises KeyboardInterrupt afterwards; a second
    interrupt is raised at once. Steps that another thread requests run on that thread.
    """

    def __enter__(self) -> Self:
        self._steps: SimpleQueue[_Step | None] = SimpleQueue()
        self._started = False
        return self

    def __exit__(self, *error: object) -> None:
        self._steps.put(None)

    def run(self, work: Callable[..., None], *arguments: Any) -> None:
        """Call `work`, and defer an interrupt until it has returned."""
        if threading.current_thread() is not threading.main_thread():
            work(*arguments)
            return
        if not self._started:
            threading.Thread(target=_run_steps, args=(self._steps,), name="riverboat step", daemon=True).start()
            self._started = True
        step = _Step(partial(contextvars.copy_context().run, work, *arguments))
        try:
            self._steps.put(step)
            step.done.wait()  # not join: an interrupted join marks the thread as ended (CPython 3.11, bpo-45274)
        except KeyboardInterrupt:
            self._steps.put(step)  # the interrupt may have come before the first put; a finished step is not repeated
            step.done.wait()
            raise
        if step.error is not None:
            raise step.error


class _Step:
    """Call that another thread executes: the event `done` is set at its end, `error` is the exception it raised."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.work, self.done = work, threading.Event()
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.work()
        except BaseException as error:  # raised again on the waiting thread
            self.error = error
        finally:
            self.done.set()


def _run_steps(steps: SimpleQueue[_Step | None]) -> None:
    while (step := steps.get()) is not None:
        if not step.done.is_set():
            step.run()


# --- resuming ---------------------------------------------------------------------------------------


def check_same_settings(where: object, stored: Mapping[str, Any], requested: Mapping[str, Any]) -> None:
    """Raise InputError if a stored run has other settings than requested, and name every difference.

    Settings that an older run did not store are not compared.
    """
    changed = [key for key, value in requested.items() if key in stored and stored[key] != value]
    if changed:
        differences = "; ".join(f"{key}={short_repr(stored[key])}, not {short_repr(requested[key])}" for key in changed)
        raise InputError(f"{where}: this run has {differences}: resume it with the same, or choose another folder")
