"""Training of blueprints: a loop over `step` with a clock, checkpoints and a measure of strength.

A checkpoint is an artefact with the whole state and, beside it, the average strategy in one byte a move: while training
goes on, the last one can be read and played like a finished strategy (`strategies.blueprint.load_blueprint`). At the end the
strategy gets a folder of its own. Snapshots of the strategy stay, so that a later one can be measured against them.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.core import artifacts, atomic_io
from riverboat.core.arrays import Array
from riverboat.core.errors import DiskError, InputError
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.solvers.run_loop import FAR, Asked, RunLoop, Standing, after_iterations, after_seconds, check_recipe
from riverboat.strategies import files
from riverboat.strategies.blueprint import (
    CARDS,
    CHECKPOINT,
    SNAPSHOTS,
    BlueprintStrategy,
    describe,
    save_blueprint,
    slots,
    to_steps,
)

KEEP = 2  # checkpoints
FREE = ("recipe", "threads", "device")  # what may change between two sittings: the name, how many work, and where
PARTS = "parts-"  # of checkpoints that a cluster writes, beside them
_ROWS = 1 << 22  # moves of a table that are turned into steps at once


class StreetTables(Protocol):
    """What is learnt, street by street."""

    def strategies(self, street: int, rows: Array | None = None, *, averages: bool = True) -> Array:
        """The average strategy of some buckets. float32 [rows, width]"""
        ...


class Solver(Protocol):
    """What the loop trains: `Blueprint`, or the head and blades of a cluster."""

    tree: ActionTree
    cards: CardAbstraction

    @property
    def iterations(self) -> int: ...

    @property
    def updates(self) -> int: ...

    @property
    def tables(self) -> StreetTables: ...

    def step(self, iterations: int) -> None: ...

    def touched(self) -> tuple[int, ...]: ...

    def regret(self) -> tuple[float, float]: ...

    def state(self) -> dict[str, Array]: ...

    def restore(self, state: Mapping[str, Array]) -> None: ...


@runtime_checkable
class Parted(Protocol):
    """A solver whose tables are in many places, which write their own parts of a checkpoint."""

    def save(self, folder: Path) -> Path: ...

    def load(self, folder: Path) -> None: ...


@dataclass(frozen=True)
class Progress:
    """Where a run stands."""

    iterations: int
    seconds: float  # of training, over all sittings
    rate: float  # iterations a second, lately
    updates: float  # decisions visited a second, lately
    share: float  # of the limit that is nearest
    left: float | None  # seconds to it
    touched: int | None = None  # information sets visited; at checks
    regret: float | None = None  # chips a hand, both seats together, an estimate; at checks
    strength: Mapping[str, Any] | None = None  # what `measure` said; at checks
    trouble: str | None = None  # why the last checkpoint, snapshot or line of the log could not be written

    @property
    def iteration(self) -> int:
        """As stoppers ask for it."""
        return self.iterations

    @property
    def checked(self) -> bool:
        """Whether the strength was measured just now."""
        return self.strength is not None

    @property
    def exploitability(self) -> float | None:
        """Where it was measured, in mbb/g."""
        value = None if self.strength is None else self.strength.get("exploitability")
        return None if value is None else float(value)

    def after(self, iterations: int) -> Progress:
        """So many iterations later, as far as that is known now."""
        return replace(self, iterations=self.iterations + iterations, strength=None)


Measure: TypeAlias = Callable[[BlueprintStrategy, BlueprintStrategy | None], Mapping[str, Any]]


def saved_nothing(folder: Path) -> bool:
    """Whether a folder holds no more than a training leaves that was killed before its first checkpoint was whole."""
    torn = (f".{CARDS}.*.tmp", f".{files.CHECKPOINT}*.tmp")
    return all(
        path.name in (atomic_io.LOCK, CARDS) or any(path.match(pattern) for pattern in torn)
        for path in folder.iterdir()
    )


@dataclass
class Training(RunLoop[Progress]):
    """A run in a folder. `provenance` has all that decides what is learnt beside game, menu and cards; `open` compares it."""

    first_chunk = 1 << 12
    least_chunk = 64
    chunk_seconds = 0.5
    saves = True

    solver: Solver
    out: Path
    cards_path: Path | None
    provenance: Mapping[str, Any]
    checkpoint_seconds: float = 300.0
    check_seconds: float = 60.0
    progress: Callable[[Progress], None] | None = None
    measure: Measure | None = None  # the strategy now, and the snapshot before it
    seconds: float = 0.0
    begun_iterations: int = 0  # that were carried over from another run, with the seconds that they took:
    begun_seconds: float = 0.0  # they are part of what is known, and no limit counts them
    snapshots: int = 20  # kept at most; every other one goes when there are more
    _limits: tuple[tuple[str, float | None], ...] = ()  # of the sitting
    _now: Progress | None = None
    _checked_at: float = 0.0  # seconds
    _visited: int = 0  # decisions, before the chunk

    def open(self, resume: bool) -> None:
        """Begin in an empty folder, or go on from its last checkpoint."""
        checkpoints = files.checkpoints(self.out) if self.out.is_dir() else []
        if checkpoints and not resume:
            raise InputError(f"{self.out}: a run is there already; go on with --resume, or choose another folder")
        if not checkpoints:
            if self.out.exists() and not saved_nothing(self.out):
                raise InputError(f"{self.out}: holds other files; choose an empty folder")
            with atomic_io.told(self.out):
                self.out.mkdir(parents=True, exist_ok=True)
            artifacts.discard_leftovers(self.out)
            artifacts.remove(self.out / CARDS)  # of a run that was killed before it saved anything
            self._keep_cards()
            return
        for folder in (self.out, self.out / SNAPSHOTS):
            artifacts.discard_leftovers(folder)
        meta, arrays = artifacts.read(checkpoints[-1])
        meta.text("kind", (CHECKPOINT,))
        mine = describe(self.solver.tree, self.solver.cards, self.cards_path)
        for key in ("rules", "menu", "fingerprint"):
            if meta[key] != mine[key]:
                raise InputError(f"{checkpoints[-1]}: trained with another game or menu; choose another folder")
        if meta.table("abstraction").text("fingerprint") != mine["abstraction"]["fingerprint"]:
            raise InputError(f"{checkpoints[-1]}: trained with another card abstraction; choose another folder")
        past = meta.table("provenance")
        check_recipe(checkpoints[-1], past, {key: self.provenance[key] for key in self.provenance if key not in FREE})
        parts = _parts(checkpoints[-1])
        if parts.is_dir() != isinstance(self.solver, Parted):
            raise InputError(
                f"{checkpoints[-1]}: trained {'by' if parts.is_dir() else 'without'} a cluster; go on the same way"
            )
        for stray in {*self.out.glob(PARTS + "*")} - {_parts(whole) for whole in checkpoints}:
            shutil.rmtree(stray)  # of a checkpoint that was not finished
        if isinstance(self.solver, Parted):
            self.solver.load(parts)
        else:
            arrays.check_state(self.solver.state())
            self.solver.restore(arrays)
        self.seconds = past.number("seconds", 0)
        if "begun_seconds" in past:
            self.begun_seconds = past.number("begun_seconds", 0)
            self.begun_iterations = int(past.number("begun_iterations", 0))
        self._keep_cards()
        artifacts.remove(self.out / "strategy")  # of the run that was over before this one

    def _keep_cards(self) -> None:
        """Put the card abstraction into the run's folder: what is trained there is read without any other."""
        if self.cards_path is not None and not (self.out / CARDS).exists():
            artifacts.link(self.cards_path, self.out / CARDS)

    def begin_with(self, iterations: int, seconds: float) -> None:
        """The solver stands where another run has come in so many iterations and seconds."""
        self.seconds = self.begun_seconds = seconds
        self.begun_iterations = iterations

    def run(
        self,
        seconds: float | None = None,
        iterations: int | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> BlueprintStrategy:
        """Train until a limit or until `stop()`, then write a checkpoint and the strategy.

        Limits count earlier sittings, and not the run that this one has begun with.
        """
        if seconds is None and iterations is None:
            raise InputError("no limit: say for how many seconds or iterations to train")
        for what, limit in (("seconds", seconds), ("iterations", iterations)):
            if limit is not None and not 0 < limit < math.inf:
                raise InputError(f"{what}={limit:g}: must be above zero")
        self._limits = (("seconds", seconds), ("iterations", iterations))
        self._now, self._checked_at = None, self.seconds
        if self._share() < 1:
            self.solver.step(1)  # compiles the loops where that has not been done: no training time
        stops: list[Callable[[Standing], bool]] = (
            [] if seconds is None else [after_seconds(self.begun_seconds + seconds)]
        )
        stops += [] if iterations is None else [after_iterations(self.begun_iterations + iterations)]
        try:
            self.go([Asked(stop), *stops], self.progress)
        except KeyboardInterrupt:
            self.save()
            raise
        if self.progress is not None:
            self.progress(self.standing())
        self.save()
        strategy = self.strategy()
        save_blueprint(strategy, self.out / "strategy")
        return strategy

    @property
    def iteration(self) -> int:
        """Iterations so far, over all sittings."""
        return self.solver.iterations

    def advance(self, iterations: int) -> None:
        """Step the solver."""
        self._visited = self.solver.updates
        self.solver.step(iterations)

    def until_check(self) -> int:
        """Checks go by the clock."""
        return FAR

    def look(self, seconds: float, iterations: int) -> None:
        """What is known after a chunk; where it is due, the figures that cost time."""
        visited = self.solver.updates - self._visited
        self._now = self._told(iterations / seconds, visited / seconds)
        if self.seconds - self._checked_at >= self.check_seconds:
            self._now, self._checked_at = self._check(self._now), self.seconds

    # --- what is told ------------------------------------------------------------------------------

    def standing(self) -> Progress:
        """Where the run stands."""
        now = self._now if self._now is not None else self._told(0.0, 0.0)
        return now if self.trouble is None else replace(now, trouble=str(self.trouble))

    def _share(self) -> float:
        done = {
            "seconds": self.seconds - self.begun_seconds,
            "iterations": self.solver.iterations - self.begun_iterations,
        }
        return max((done[name] / most if most else 1.0) for name, most in self._limits if most is not None)

    def _told(self, rate: float, updates: float) -> Progress:
        share = min(1.0, self._share())
        left = (self.seconds - self.begun_seconds) * (1 / share - 1) if share > 0 else None
        return Progress(self.solver.iterations, self.seconds, rate, updates, share, left)

    def _check(self, now: Progress) -> Progress:
        """The figures that cost time, into the log as well."""
        strength = None
        if self.measure is not None:
            strategy = self.strategy()
            strength = self.measure(strategy, self._last_snapshot(strategy))
            self.attempt(lambda: self._keep_snapshot(strategy))
        checked = replace(now, touched=sum(self.solver.touched()), regret=sum(self.solver.regret()), strength=strength)
        facts = {name: fact for name, fact in asdict(checked).items() if name != "trouble"}
        self.attempt(lambda: atomic_io.append(self.out / "log.jsonl", json.dumps(facts)))
        return checked

    # --- what is kept ------------------------------------------------------------------------------

    def _known(self) -> dict[str, Any]:
        known = {**self.provenance, "iterations": self.solver.iterations, "seconds": round(self.seconds, 3)}
        if self.begun_iterations:
            known |= {"begun_iterations": self.begun_iterations, "begun_seconds": round(self.begun_seconds, 3)}
        return known

    def strategy(self) -> BlueprintStrategy:
        """The average strategy as it is now, one byte a move."""
        tree = self.solver.tree
        tables = tuple(steps_of(self.solver))
        return BlueprintStrategy(tree.rules, tree.menu, tree, self.solver.cards, tables, self._known(), self.cards_path)

    def save(self) -> Path:
        """Write a checkpoint; the last KEEP are kept."""
        averages = {f"average_{street}": table for street, table in enumerate(steps_of(self.solver))}
        facts = describe(self.solver.tree, self.solver.cards, self.cards_path)
        meta = {**facts, "provenance": self._known()}
        place = self.out / f"{files.CHECKPOINT}{self.solver.iterations:015d}"
        state: dict[str, Array] = {}
        try:
            if isinstance(self.solver, Parted):
                self.solver.save(_parts(place))  # first: a checkpoint that is there has all its parts
            else:
                state = self.solver.state()
            written = artifacts.write(place, CHECKPOINT, {**state, **averages}, meta)
        except DiskError:
            if not place.exists():  # parts without a checkpoint only take room
                shutil.rmtree(_parts(place), ignore_errors=True)
            raise
        for old in files.checkpoints(self.out)[:-KEEP]:
            artifacts.remove(old)
            shutil.rmtree(_parts(old), ignore_errors=True)
        return written

    def _snapshots(self) -> list[Path]:
        return sorted((self.out / SNAPSHOTS).glob("[0-9]*"))

    def _last_snapshot(self, now: BlueprintStrategy) -> BlueprintStrategy | None:
        folders = self._snapshots()
        if not folders:
            return None
        _, arrays = artifacts.read(folders[-1])
        tables = tuple(
            arrays.take(f"average_{street}", (table.dtype,), table.shape) for street, table in enumerate(now.average)
        )
        return replace(now, average=tables, provenance={"folder": folders[-1].name})

    def _keep_snapshot(self, strategy: BlueprintStrategy) -> None:
        save_blueprint(strategy, self.out / SNAPSHOTS / f"{self.solver.iterations:015d}")
        folders = self._snapshots()
        if len(folders) > self.snapshots:
            for old in folders[1:-1:2]:
                artifacts.remove(old)


def _parts(checkpoint: Path) -> Path:
    """Where the parts of a checkpoint lie."""
    return checkpoint.with_name(PARTS + checkpoint.name.removeprefix(files.CHECKPOINT))


def steps_of(solver: Solver) -> Iterator[Array]:
    """The average strategy of each street, 255 steps for each decision. uint8 [buckets, width]"""
    tree = solver.tree
    for street, (slot, count) in enumerate(slots(tree)):
        buckets, width = solver.cards.counts[street], int(tree.width[street])
        out = np.empty((buckets, width), np.uint8)
        rows = max(1, _ROWS // max(1, width))
        for first in range(0, buckets, rows):
            some = np.arange(first, min(first + rows, buckets))
            out[some] = to_steps(solver.tables.strategies(street, some), slot, count)
        yield out
