"""Work that grows: counted while it does, told to whoever listens, refused where memory would not hold it.

A tree is as large as it turns out to be. Whoever builds one counts its nodes through a `Growth`; whoever asked for it may
listen, and may say how much memory it may take (`heard`). Where nobody says, that is half of what is free.

    with heard(print, memory=2_000_000_000):
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
from typing import Literal, TypeAlias

from riverboat.core.cancellation import poll
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.core.formatting import show_bytes
from riverboat.core.resources import available_memory, resident_memory

SHARE = 0.5  # of the free memory, where nobody says how much may be taken
UNKNOWN = 4_000_000_000  # bytes, where the system does not say how much is free
BEAT = 0.25  # seconds between two looks
PATIENCE = 1.0  # seconds before the size is guessed
GUESSING = 0.4  # seconds that the guess may take
# A guess is unbiased and never negative, so one of SURE times the truth or more has a chance of at most 1 / SURE.
SURE = 50.0
ENOUGH = 200_000  # counted before the memory of each is taken from what the process holds
MOST = 2**31 - 2**24  # nodes are numbered in 32 bits


@dataclass(frozen=True)
class Grown:
    """How far something has grown."""

    what: str  # `building the tree of leduc`
    unit: str  # `histories`
    count: int
    about: float | None  # how many there may be in the end, where that was guessed
    seconds: float
    state: Literal["growing", "done", "interrupted"] = "growing"


Listener: TypeAlias = Callable[[Grown], None]
Guess: TypeAlias = Callable[[float], float]  # seconds it may take; how many there may be


@dataclass(frozen=True)
class _Terms:
    listener: Listener | None = None
    memory: int | None = None


_TERMS: ContextVar[_Terms] = ContextVar("terms", default=_Terms())  # noqa: B039  # frozen


@contextmanager
def heard(listener: Listener | None = None, memory: int | None = None) -> Iterator[None]:
    """Inside, tell `listener` of whatever grows, and let it take `memory` bytes; what is None stays as it was."""
    if memory is not None and memory <= 0:
        raise InputError(f"memory={memory}: must be above zero bytes")
    before = _TERMS.get()
    token = _TERMS.set(_Terms(listener or before.listener, before.memory if memory is None else memory))
    try:
        yield
    finally:
        _TERMS.reset(token)


def allowed(share: float = SHARE) -> int:
    """Bytes that may be taken: those that were said, or a share of what is free."""
    said = _TERMS.get().memory
    if said is not None:
        return said
    free = available_memory()
    return UNKNOWN if free is None else int(share * free)


def _terms(most: int, share: float = SHARE) -> str:
    """What is allowed, and the way out."""
    if _TERMS.get().memory is not None:
        return f"{show_bytes(most)} are allowed; take a smaller game, or allow more"
    if share == 1.0:
        return f"{show_bytes(most)} are free; take a smaller game"
    return f"{show_bytes(most)}, half of what is free, are allowed; take a smaller game, or allow more by memory (--memory)"


def guessed(about: float) -> str:
    """A guess for a person: its order of magnitude."""
    return f"about {about:.2g}" if math.isfinite(about) else "more than 1e+300"


def require(what: str, need: float, share: float = SHARE) -> None:
    """Refuse work whose memory is known before it begins, where that is not there."""
    most = allowed(share)
    if need > most:
        raise MemoryLimitError(f"{what}: needs {show_bytes(need)}, and {_terms(most, share)}")


class Growth:
    """Counts what is made, and looks around now and then."""

    def __init__(
        self, name: str, doing: str, unit: str, each: int, guess: Guess | None = None, about: float | None = None
    ) -> None:
        self.name, self.unit = name, unit
        self.what = f"{doing} {name}"
        self.count = 0
        self.about = about  # how many there will be, or may be
        self._each = each  # bytes of one, at the least
        self._guess = guess
        self._most = allowed()
        self._resident = resident_memory()
        self._started = clock.monotonic()
        self._next = self._started + BEAT

    def __enter__(self) -> Growth:
        return self

    def __call__(self, count: int) -> None:
        """There are `count` now."""
        self.count = count
        if clock.monotonic() >= self._next:
            self._look()

    def _look(self) -> None:
        taken = self._taken()
        if taken > self._most or self.count > MOST:
            of = f" of about {self.about:.2g}" if self.about else ""
            raise MemoryLimitError(
                f"{self.name}: {self.count:,}{of} {self.unit} take {show_bytes(taken)}, and {_terms(self._most)}"
            )
        if self._guess is not None and clock.monotonic() - self._started >= PATIENCE:
            self.about = max(float(self.count), self._guess(GUESSING))
            self._guess = None
            need = self.about * (taken / self.count if self.count >= ENOUGH else self._each)
            if need > SURE * self._most:
                raise MemoryLimitError(
                    f"{self.name}: {guessed(self.about)} {self.unit}, which need {show_bytes(need)}, and {_terms(self._most)}"
                )
        self._tell()
        poll()
        self._next = clock.monotonic() + BEAT

    def _taken(self) -> float:
        """Bytes so far: what the process has grown by, where the system tells."""
        now = resident_memory()
        grown = 0 if now is None or self._resident is None else now - self._resident
        return max(self.count * self._each, grown)

    def _tell(self, state: Literal["growing", "done", "interrupted"] = "growing") -> None:
        listener = _TERMS.get().listener
        if listener is not None:
            seconds = clock.monotonic() - self._started
            listener(Grown(self.what, self.unit, self.count, self.about, seconds, state))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._tell("interrupted" if isinstance(error, KeyboardInterrupt) else "done")
        if isinstance(error, MemoryError) and not isinstance(error, MemoryLimitError):
            raise MemoryLimitError(
                f"{self.name}: memory ran out after {self.count:,} {self.unit}; take a smaller game"
            ) from None
