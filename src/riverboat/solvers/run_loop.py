"""The loop of every run, of a solver and of a training: steps, stoppers, checks, checkpoints, and what an interrupt does.

A run steps in chunks of a fraction of a second, so that stoppers and progress bars are heard. Stoppers decide when it ends;
they compose, any of them stops it. No signal handler is set here: an interrupt (Ctrl-C) that comes in the middle of a step is
raised when the step is done, so that what a run then saves is whole.
"""

from __future__ import annotations

import contextvars
import math
import threading
import time as clock
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, Self, TypeAlias, TypeVar

from riverboat.core import validation
from riverboat.core.errors import DiskError, InputError, shown

FAR = 1 << 40  # iterations that no chunk has


class Standing(Protocol):
    """Where a run stands, as far as stoppers ask."""

    @property
    def iteration(self) -> int: ...

    @property
    def seconds(self) -> float: ...

    @property
    def exploitability(self) -> float | None:
        """Of the last check; None before the first."""
        ...

    @property
    def checked(self) -> bool:
        """Whether the figures are of this iteration."""
        ...

    def after(self, iterations: int) -> Self:
        """Where it will stand so many iterations later, as far as that is known now."""
        ...


P = TypeVar("P", bound=Standing)
AnyStopper: TypeAlias = Callable[[Any], bool]


# --- stoppers ---------------------------------------------------------------------------------------


def after_iterations(count: int) -> Callable[[Standing], bool]:
    """Stop at iteration `count`."""
    validation.whole("iterations", count)
    return lambda p: p.iteration >= count


def after_seconds(seconds: float) -> Callable[[Standing], bool]:
    """Stop when this much time has been spent, checks and the writing of checkpoints included."""
    validation.number("time", seconds)
    return lambda p: p.seconds >= seconds


def below(exploitability: float) -> Callable[[Standing], bool]:
    """Stop when a check finds at most this exploitability, in the game's unit."""
    validation.number("until", exploitability, -math.inf)
    if not 0 < exploitability < math.inf:
        raise InputError(f"until={exploitability:g}: must be a number above zero")
    return lambda p: p.checked and p.exploitability is not None and p.exploitability <= exploitability


@dataclass(frozen=True)
class Asked:
    """A stopper that asks somebody, whatever the count: it is not asked about iterations to come."""

    stop: Callable[[], bool]

    def __call__(self, now: Standing) -> bool:
        return self.stop()


def room(now: Standing, stops: Iterable[AnyStopper]) -> int:
    """Iterations that no stopper on the count would cut short."""
    counting = [stop for stop in stops if not isinstance(stop, Asked)]
    low, high = 1, FAR
    while low < high:  # stoppers on iterations are monotone: bisect to the first that stops
        middle = (low + high) // 2
        if any(stop(now.after(middle)) for stop in counting):
            high = middle
        else:
            low = middle + 1
    return low


# --- the loop ---------------------------------------------------------------------------------------


class Counting(Protocol):
    """A solver or a run that counts its iterations."""

    @property
    def iteration(self) -> int: ...

    @property
    def finished(self) -> bool:
        """Whether nothing more is to gain: further steps would do nothing."""
        ...


class Stepping(Counting, Protocol):
    """A solver that a loop steps."""

    def step(self, count: int, /) -> None: ...


def goes_on(solver: Counting, before: int) -> bool:
    """Whether a loop goes on after a step from iteration `before`: not if the solver is finished or made no iteration."""
    return solver.iteration > before and not solver.finished


def stepped(solver: Stepping, count: int) -> bool:
    """Step a solver, and return whether the loop that does so goes on."""
    before = solver.iteration
    solver.step(count)
    return goes_on(solver, before)


class RunLoop(ABC, Generic[P]):
    """What runs share. A run says how to step, when to check, and how to save."""

    first_chunk: ClassVar[int] = 1
    least_chunk: ClassVar[int] = 1
    chunk_seconds: ClassVar[float] = 0.25
    seconds: float = 0.0  # of the run so far, over all sittings
    checkpoint_seconds: float = 60.0
    trouble: DiskError | None = None  # why the last checkpoint or line of the log could not be written

    @property
    @abstractmethod
    def iteration(self) -> int:
        """Iterations so far."""

    @property
    @abstractmethod
    def saves(self) -> bool:
        """Whether checkpoints are written on the way."""

    @property
    def finished(self) -> bool:
        """Whether the solver has nothing more to gain: the run then ends, whatever its stoppers say."""
        return False

    @abstractmethod
    def standing(self) -> P:
        """Where the run stands."""

    @abstractmethod
    def advance(self, iterations: int) -> None:
        """Do so many iterations."""

    @abstractmethod
    def until_check(self) -> int:
        """Iterations until the next check is due at the latest."""

    @abstractmethod
    def look(self, seconds: float, iterations: int) -> None:
        """After a chunk, which took so long: check where that is due."""

    @abstractmethod
    def save(self) -> object:
        """Write a checkpoint."""

    def go(self, stoppers: Iterable[Callable[[P], bool]], callback: Callable[[P], None] | None = None) -> None:
        """Iterate until a stopper says so or the solver is finished; `callback` gets the progress between two chunks.

        `goes_on` decides when a solver is finished.
        """
        stops = list(stoppers)
        if not stops:
            raise InputError("nothing says when to stop: give iterations, time or until")
        saved_at, chunk = self.seconds, self.first_chunk
        while True:
            now = self.standing()
            if any(stop(now) for stop in stops):
                return
            if callback is not None:
                callback(now)
            some, before = max(1, min(chunk, self.until_check(), room(now, stops))), self.iteration
            started = clock.perf_counter()
            unbroken(lambda some=some: self.advance(some))  # type: ignore[misc]
            spent = max(clock.perf_counter() - started, 1e-9)
            self.seconds += spent
            done = self.iteration - before
            chunk = max(self.least_chunk, min(chunk * 2, int(done * self.chunk_seconds / spent)))
            self.look(spent, done)
            if not goes_on(self, before):
                return
            if self.saves and self.seconds - saved_at >= self.checkpoint_seconds:
                started = clock.perf_counter()
                self.attempt(self.save)
                self.seconds += clock.perf_counter() - started
                saved_at = self.seconds

    def attempt(self, write: Callable[[], object]) -> None:
        """Write something on the way. A full disk does not end the work: it is noted, and the next time may be better."""
        try:
            write()
            self.trouble = None
        except DiskError as error:
            self.trouble = error


def unbroken(work: Callable[[], None]) -> None:
    """Do some work that must not be torn: an interrupt that comes meanwhile is raised when it is done, a second one at once.

    Only the main thread of a program is ever interrupted, so the work is done on another one.
    """
    if threading.current_thread() is not threading.main_thread():
        work()
        return
    failed: list[BaseException] = []
    context, begun, done = contextvars.copy_context(), threading.Event(), threading.Event()

    def do() -> None:
        begun.wait()  # an interrupt while the thread is being started finds nothing begun
        try:
            context.run(work)
        except BaseException as error:  # raised below, on the thread that waits
            failed.append(error)
        finally:
            done.set()

    threading.Thread(target=do, name="riverboat step", daemon=True).start()
    try:
        begun.set()
        done.wait()  # not join: one that is interrupted takes the thread for ended (CPython 3.11, bpo-45274)
    except KeyboardInterrupt:
        begun.set()
        done.wait()
        raise
    if failed:
        raise failed[0]


# --- going on ---------------------------------------------------------------------------------------


def check_recipe(where: object, past: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """Refuse to go on with a run that was begun otherwise, and name all that differs. What an older one did not write down
    may be anything.
    """
    missing = object()
    other = [
        f"{key}={shown(past[key])}, not {shown(value)}"
        for key, value in asked.items()
        if past.get(key, missing) is not missing and past[key] != value
    ]
    if other:
        raise InputError(f"{where}: this run has {'; '.join(other)}: resume it with the same, or choose another folder")
