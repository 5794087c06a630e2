"""The pieces of a walk over all boards: on threads or over Ray, and kept on disk, so that a walk can be gone on with.

What pieces find is added up in their order, whoever walked them.
"""

from __future__ import annotations

import hashlib
import pickle
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any, TypeAlias

import numpy as np

from riverboat.core import artifacts, atomic_io
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.engines.devices import CPU
from riverboat.evaluation.best_response._kernels import traversal as kernels
from riverboat.evaluation.best_response.layout import Player
from riverboat.evaluation.best_response.traversal import Plan, ResponseWalk
from riverboat.solvers.cluster.backends import connect
from riverboat.strategies.blueprint import BlueprintStrategy

KIND = "piece of a best response"
Progress: TypeAlias = Callable[[int, int], None]  # pieces that are done, and how many there are
_Piece: TypeAlias = tuple[
    int, Array, Array
]  # a piece, what it adds to the exits of the first street, its boards by street


@dataclass(frozen=True)
class Means:
    """How a walk is done; none of it changes the result."""

    threads: int = 1
    folder: Path | None = None  # where pieces are kept
    resume: bool = False  # whether some may be there already
    cluster: str | None = None  # local, or the address of a Ray cluster: its processors instead of threads
    device: str = CPU  # or CUDA: where boards are walked
    progress: Progress | None = None


def walk_all(
    strategy: BlueprintStrategy, players: tuple[Player, ...], dtype: type[np.floating[Any]], means: Means
) -> tuple[tuple[float, ...], int]:
    """What each player wins a hand, in chips, over all boards; and how many boards were walked."""
    walk = _walker(strategy, Plan.of(strategy.tree, players, dtype), means.device)
    pieces: dict[int, tuple[Array, Array]] = {}
    kept = None if means.folder is None else _Kept(means, walk, strategy, dtype)
    if kept is not None:
        pieces = kept.read()
    left = [number for number in range(walk.pieces) if number not in pieces]
    made = _on_ray(strategy, players, dtype, left, means) if means.cluster else _on_threads(walk, left, means.threads)
    for number, gained, walked in made:
        if kept is not None:
            kept.write(number, gained, walked)
        pieces[number] = gained, walked
        if means.progress is not None:
            means.progress(len(pieces), walk.pieces)
    boards = int(walk.root.walked.sum() + sum(int(walked.sum()) for _, walked in pieces.values()))
    total = None
    for number in range(walk.pieces):
        total = pieces[number][0] if total is None else total + pieces[number][0]
    return walk.values(total), boards


def _walker(strategy: BlueprintStrategy, plan: Plan, device: str) -> ResponseWalk:
    if device == CPU:
        return ResponseWalk(strategy, plan)
    from riverboat.evaluation.best_response.cuda import DeviceWalk

    return DeviceWalk(strategy, plan)


# --- who walks --------------------------------------------------------------------------------


def _on_threads(walk: ResponseWalk, numbers: Sequence[int], threads: int) -> Iterator[_Piece]:
    spare: list[kernels.Room] = []  # rooms that no thread uses now
    over = Event()  # nobody waits any more: who interrupts a walk does not want to wait for pieces of minutes

    def work(number: int) -> _Piece:
        room = spare.pop() if spare else walk.room()
        piece = walk.piece(number, room, over.is_set)
        spare.append(room)
        return number, *piece

    if threads == 1:
        yield from map(work, numbers)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="riverboat") as pool:
        try:
            for future in as_completed([pool.submit(work, number) for number in numbers]):
                yield future.result()
        finally:
            over.set()
            pool.shutdown(wait=True, cancel_futures=True)


class _Walker:
    """A process that walks pieces."""

    def __init__(self, shipped: bytes) -> None:
        # Pickled by hand: arrays that Ray unpacks are read-only, and kernels would be compiled for them once more.
        strategy, players, dtype = pickle.loads(shipped)
        self.walk = ResponseWalk(strategy, Plan.of(strategy.tree, players, dtype))
        self.room = self.walk.room()

    def piece(self, number: int) -> _Piece:
        return number, *self.walk.piece(number, self.room)


def _on_ray(
    strategy: BlueprintStrategy,
    players: tuple[Player, ...],
    dtype: type[np.floating[Any]],
    numbers: Sequence[int],
    means: Means,
) -> Iterator[_Piece]:
    """Walkers on all processors of a cluster; each gets its next piece when it has done one."""
    ray, mine = connect(str(means.cluster), means.threads)
    walkers: list[Any] = []
    try:
        shipped = ray.put(pickle.dumps((strategy, players, dtype)))
        make = ray.remote(num_cpus=1)(_Walker)
        count = min(len(numbers), int(ray.cluster_resources().get("CPU", 1)))
        walkers = [make.remote(shipped) for _ in range(count)]
        waiting = deque(numbers)
        running = {walker.piece.remote(waiting.popleft()): walker for walker in walkers}
        while running:
            done, _ = ray.wait(list(running))
            walker = running.pop(done[0])
            piece = ray.get(done[0])
            if waiting:
                running[walker.piece.remote(waiting.popleft())] = walker
            yield piece
    finally:
        for walker in walkers:
            ray.kill(walker)
        if mine:
            ray.shutdown()


# --- on disk ----------------------------------------------------------------------------------


class _Kept:
    """Pieces in a folder, each an artefact with the fingerprint of what it is a piece of."""

    def __init__(
        self, means: Means, walk: ResponseWalk, strategy: BlueprintStrategy, dtype: type[np.floating[Any]]
    ) -> None:
        assert means.folder is not None
        self.folder, self.walk = means.folder, walk
        self.print = _fingerprint(strategy, walk, dtype)
        with atomic_io.told(self.folder):
            there = self.folder.is_dir() and any(path.name != atomic_io.LOCK for path in self.folder.iterdir())
        if there and not means.resume:
            raise InputError(f"{self.folder}: holds files already; go on with --resume, or choose another folder")
        artifacts.discard_leftovers(self.folder)

    def _place(self, number: int) -> Path:
        return self.folder / f"piece-{number:03d}"

    def read(self) -> dict[int, tuple[Array, Array]]:
        """What is there."""
        pieces = {}
        for number in range(self.walk.pieces):
            place = self._place(number)
            if not place.is_dir():
                continue
            facts, arrays = artifacts.read(place)
            facts.text("kind", (KIND,))
            if facts.text("fingerprint") != self.print:
                raise InputError(f"{place}: is of another strategy; choose another folder")
            shape = len(self.walk.exits), len(self.walk.cards.mask)
            gained = arrays.take("gained", ("float64",), shape)
            pieces[number] = np.array(gained), np.array(arrays.take("walked", ("int64",), self.walk.root.walked.shape))
        return pieces

    def write(self, number: int, gained: Array, walked: Array) -> None:
        """Keep one more."""
        arrays = {"gained": gained, "walked": walked}
        artifacts.write(self._place(number), KIND, arrays, {"fingerprint": self.print, "pieces": self.walk.pieces})


def _fingerprint(strategy: BlueprintStrategy, walk: ResponseWalk, dtype: type[np.floating[Any]]) -> str:
    """Tells walks apart: the strategy, who meets it, and how numbers are kept."""
    known = strategy.fingerprint, walk.plan.players, np.dtype(dtype).name, walk.pieces
    return hashlib.sha256(repr(known).encode()).hexdigest()
