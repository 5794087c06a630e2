"""Training runs of blueprints: the run loop with a clock, checkpoints and a measure of strength.

A checkpoint is an artifact with the complete state and the average strategy in one byte per action: during training the
last one can be loaded and played like a finished strategy (`strategies.blueprint.load_blueprint`). At the end the
strategy gets a folder of its own. Snapshots of the strategy remain, so that later ones can be measured against them.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np

from riverboat.core import artifacts
from riverboat.core import files as core_files
from riverboat.core.arrays import Array
from riverboat.core.errors import DiskError, InputError
from riverboat.solvers import run_loop
from riverboat.strategies import files
from riverboat.strategies.blueprint import (
    ABSTRACTION_FOLDER,
    CHECKPOINT_KIND,
    SNAPSHOTS_FOLDER,
    Blueprint,
    decision_slots,
    manifest_entries,
    quantize_table,
    save_blueprint,
)

if TYPE_CHECKING:
    from riverboat.solvers.cluster.distributed import DistributedTrainer
    from riverboat.solvers.mccfr.trainer import BlueprintTrainer

MAX_CHECKPOINTS = 2  # checkpoints that are not deleted
CHANGEABLE_KEYS = ("recipe", "threads", "device")  # settings that may change between two sessions
PARTS_PREFIX = "parts-"  # prefix of folders with the blades' parts, next to checkpoints of a cluster
_CHUNK_ACTIONS = 1 << 22  # table entries that are quantized at once


TrainableSolver: TypeAlias = "BlueprintTrainer | DistributedTrainer"


def is_partitioned(solver: TrainableSolver) -> TypeGuard[DistributedTrainer]:
    """Return whether the tables are distributed over blades, each of which writes its own part of a checkpoint."""
    return hasattr(solver, "save")


@dataclass(frozen=True)
class TrainingProgress:
    """Progress of a training run."""

    iterations: int
    seconds: float  # seconds of training, over all sessions
    rate: float  # iterations per second in the last chunk
    updates: float  # decisions visited per second in the last chunk
    share: float  # completed share of the nearest limit
    left: float | None  # seconds to that limit
    touched: int | None = None  # information sets visited; at checks
    regret: float | None = None  # estimate in chips per hand, both seats together; at checks
    strength: Mapping[str, Any] | None = None  # result of `measure`; at checks
    trouble: str | None = None  # why the last checkpoint, snapshot or line of the log could not be written

    @property
    def iteration(self) -> int:
        """Number of iterations, as stoppers read it."""
        return self.iterations

    @property
    def checked(self) -> bool:
        """Whether the strength was measured at this iteration."""
        return self.strength is not None

    @property
    def exploitability(self) -> float | None:
        """Exploitability in mbb/g, if measured."""
        value = None if self.strength is None else self.strength.get("exploitability")
        return None if value is None else float(value)

    def after(self, iterations: int) -> TrainingProgress:
        """Return the progress as it would be after more iterations, with unchanged time and without a strength."""
        return replace(self, iterations=self.iterations + iterations, strength=None)


Measure: TypeAlias = Callable[[Blueprint, Blueprint | None], Mapping[str, Any]]


def has_no_checkpoint(folder: Path) -> bool:
    """Return whether a folder holds only what a training leaves if killed before its first complete checkpoint."""
    unfinished = (f".{ABSTRACTION_FOLDER}.*.tmp", f".{files.CHECKPOINT_PREFIX}*.tmp")
    return all(
        path.name in (core_files.LOCK_FILE, ABSTRACTION_FOLDER) or any(path.match(pattern) for pattern in unfinished)
        for path in folder.iterdir()
    )


@dataclass
class Training(run_loop.RunLoop[TrainingProgress]):
    """A training run in a folder.

    `provenance` holds all settings that affect the strategy, apart from game, menu and cards; `start_or_resume`
    compares it.
    """

    first_chunk = 1 << 12
    min_chunk = 64
    chunk_seconds = 0.5
    saves_checkpoints = True

    solver: TrainableSolver
    out: Path
    cards_path: Path | None
    provenance: Mapping[str, Any]
    checkpoint_seconds: float = 300.0
    check_seconds: float = 60.0
    progress: Callable[[TrainingProgress], None] | None = None
    measure: Measure | None = None  # called with the current strategy and the previous snapshot
    seconds: float = 0.0
    prior_iterations: int = 0  # iterations of the run of a warm start: reported, but not counted towards limits
    prior_seconds: float = 0.0  # seconds of that run, likewise
    snapshots: int = 20  # at most; beyond it every other one is deleted
    _limits: tuple[float | None, float | None] = (None, None)  # seconds and iterations of the session
    _last_progress: TrainingProgress | None = None
    _checked_at: float = 0.0  # `seconds` at the last check
    _decisions_before: int = 0  # decisions visited before the chunk

    def start_or_resume(self, resume: bool) -> None:
        """Start in an empty folder, or resume from its last checkpoint."""
        checkpoints = files.checkpoints(self.out) if self.out.is_dir() else []
        if checkpoints and not resume:
            raise InputError(f"{self.out}: already holds a run; continue it with --resume, or choose another folder")
        if not checkpoints:
            if self.out.exists() and not has_no_checkpoint(self.out):
                raise InputError(f"{self.out}: holds other files; choose an empty folder")
            with core_files.disk_errors(self.out):
                self.out.mkdir(parents=True, exist_ok=True)
            artifacts.discard_leftovers(self.out)
            artifacts.remove(self.out / ABSTRACTION_FOLDER)  # left by a run that was killed before its first checkpoint
            self._link_cards()
            return
        for folder in (self.out, self.out / SNAPSHOTS_FOLDER):
            artifacts.discard_leftovers(folder)
        meta, arrays = artifacts.read(checkpoints[-1])
        meta.text("kind", (CHECKPOINT_KIND,))
        own_entries = manifest_entries(self.solver.tree, self.solver.cards, self.cards_path)
        if any(meta[key] != own_entries[key] for key in ("rules", "menu", "fingerprint")):
            raise InputError(f"{checkpoints[-1]}: trained with another game or menu; choose another folder")
        if meta.table("abstraction").text("fingerprint") != own_entries["abstraction"]["fingerprint"]:
            raise InputError(f"{checkpoints[-1]}: trained with another card abstraction; choose another folder")
        provenance = meta.table("provenance")
        fixed = {key: value for key, value in self.provenance.items() if key not in CHANGEABLE_KEYS}
        run_loop.check_same_settings(checkpoints[-1], provenance, fixed)
        parts = _parts_folder(checkpoints[-1])
        if parts.is_dir() != is_partitioned(self.solver):
            raise InputError(
                f"{checkpoints[-1]}: trained {'by' if parts.is_dir() else 'without'} a cluster; resume it the same way"
            )
        for stray in {*self.out.glob(PARTS_PREFIX + "*")} - {_parts_folder(checkpoint) for checkpoint in checkpoints}:
            shutil.rmtree(stray)  # parts of an incomplete checkpoint
        if is_partitioned(self.solver):
            self.solver.load(parts)
        else:
            arrays.check_state(self.solver.state())
            self.solver.restore(arrays)
        self.seconds = provenance.number("seconds", 0)
        if "begun_seconds" in provenance:
            self.prior_seconds = provenance.number("begun_seconds", 0)
            self.prior_iterations = int(provenance.number("begun_iterations", 0))
        self._link_cards()
        artifacts.remove(self.out / "strategy")  # written by the session before this one

    def _link_cards(self) -> None:
        """Link the card abstraction into the run's folder, so that the folder is self-contained."""
        if self.cards_path is not None and not (self.out / ABSTRACTION_FOLDER).exists():
            artifacts.link(self.cards_path, self.out / ABSTRACTION_FOLDER)

    def start_from(self, iterations: int, seconds: float) -> None:
        """Record that the solver starts from another run with this many iterations and seconds."""
        self.seconds = self.prior_seconds = seconds
        self.prior_iterations = iterations

    def run(
        self, seconds: float | None = None, iterations: int | None = None, stop: Callable[[], bool] = lambda: False
    ) -> Blueprint:
        """Train until a limit or until `stop()`, then write a checkpoint and the strategy.

        Limits count earlier sessions, but not the run of a warm start.
        """
        if seconds is None and iterations is None:
            raise InputError("no limit: set seconds or iterations")
        for name, limit in (("seconds", seconds), ("iterations", iterations)):
            if limit is not None and not 0 < limit < math.inf:
                raise InputError(f"{name}={limit:g}: must be above zero")
        self._limits = seconds, iterations
        self._last_progress, self._checked_at = None, self.seconds
        if self._completed_share() < 1:
            self.solver.step(1)  # compiles the kernels outside the training time
        stops: list[run_loop.AnyStopper] = [run_loop.PollingStopper(stop)]
        stops += [] if seconds is None else [run_loop.after_seconds(self.prior_seconds + seconds)]
        stops += [] if iterations is None else [run_loop.after_iterations(self.prior_iterations + iterations)]
        try:
            self.iterate(stops, self.progress)
        except KeyboardInterrupt:
            self.save()
            raise
        if self.progress is not None:
            self.progress(self.current_progress())
        self.save()
        strategy = self.strategy()
        save_blueprint(strategy, self.out / "strategy")
        return strategy

    @property
    def iteration(self) -> int:
        """Number of iterations so far, over all sessions."""
        return self.solver.iterations

    def advance(self, iterations: int) -> None:
        """Step the solver, and store the decisions visited before, from which the rate is computed."""
        self._decisions_before = self.solver.updates
        super().advance(iterations)

    def check_if_due(self, seconds: float, iterations: int) -> None:
        """Update the progress after a chunk, and compute the expensive figures if a check is due."""
        visited = self.solver.updates - self._decisions_before
        self._last_progress = self._make_progress(iterations / seconds, visited / seconds)
        if self.seconds - self._checked_at >= self.check_seconds:
            self._last_progress, self._checked_at = self._check(self._last_progress), self.seconds

    # --- progress ------------------------------------------------------------------------------

    def current_progress(self) -> TrainingProgress:
        """Return the progress of the run."""
        now = self._last_progress if self._last_progress is not None else self._make_progress(0.0, 0.0)
        return now if self.write_error is None else replace(now, trouble=str(self.write_error))

    def _completed_share(self) -> float:
        done = self.seconds - self.prior_seconds, self.solver.iterations - self.prior_iterations
        limits = zip(done, self._limits, strict=True)
        return max((spent / limit if limit else 1.0) for spent, limit in limits if limit is not None)

    def _make_progress(self, rate: float, updates: float) -> TrainingProgress:
        share = min(1.0, self._completed_share())
        left = (self.seconds - self.prior_seconds) * (1 / share - 1) if share > 0 else None
        return TrainingProgress(self.solver.iterations, self.seconds, rate, updates, share, left)

    def _check(self, now: TrainingProgress) -> TrainingProgress:
        """Measure the strength, save a snapshot, and estimate the regret; log and return the progress with these."""
        strength = None
        if self.measure is not None:
            strategy = self.strategy()
            strength = self.measure(strategy, self._last_snapshot(strategy))
            self.try_write(lambda: self._save_snapshot(strategy))
        touched, regret = sum(self.solver.visited_infosets()), sum(self.solver.regret_bound())
        checked = replace(now, touched=touched, regret=regret, strength=strength)
        facts = {name: fact for name, fact in asdict(checked).items() if name != "trouble"}
        self.try_write(lambda: core_files.append_line(self.out / "log.jsonl", json.dumps(facts)))
        return checked

    # --- strategy, checkpoints and snapshots --------------------------------------------------------------------------

    def _full_provenance(self) -> dict[str, Any]:
        provenance = {**self.provenance, "iterations": self.solver.iterations, "seconds": round(self.seconds, 3)}
        if self.prior_iterations:
            provenance |= {"begun_iterations": self.prior_iterations, "begun_seconds": round(self.prior_seconds, 3)}
        return provenance

    def strategy(self) -> Blueprint:
        """Return the current average strategy, quantized to one byte per action."""
        tree, cards, tables = self.solver.tree, self.solver.cards, tuple(quantized_averages(self.solver))
        return Blueprint(tree.rules, tree.menu, tree, cards, tables, self._full_provenance(), self.cards_path)

    def save(self) -> Path:
        """Write a checkpoint and delete all but the last MAX_CHECKPOINTS."""
        averages = {f"average_{street}": table for street, table in enumerate(quantized_averages(self.solver))}
        facts = manifest_entries(self.solver.tree, self.solver.cards, self.cards_path)
        meta = {**facts, "provenance": self._full_provenance()}
        target = self.out / f"{files.CHECKPOINT_PREFIX}{self.solver.iterations:015d}"
        state: dict[str, Array] = {}
        try:
            if is_partitioned(self.solver):
                self.solver.save(_parts_folder(target))  # first, so that an existing checkpoint has all its parts
            else:
                state = self.solver.state()
            written = artifacts.write(target, CHECKPOINT_KIND, {**state, **averages}, meta)
        except DiskError:
            if not target.exists():  # parts without a checkpoint are useless
                shutil.rmtree(_parts_folder(target), ignore_errors=True)
            raise
        for old in files.checkpoints(self.out)[:-MAX_CHECKPOINTS]:
            artifacts.remove(old)
            shutil.rmtree(_parts_folder(old), ignore_errors=True)
        return written

    def _snapshots(self) -> list[Path]:
        return sorted((self.out / SNAPSHOTS_FOLDER).glob("[0-9]*"))

    def _last_snapshot(self, now: Blueprint) -> Blueprint | None:
        folders = self._snapshots()
        if not folders:
            return None
        _, arrays = artifacts.read(folders[-1])
        tables = tuple(
            arrays.get_checked(f"average_{street}", (table.dtype,), table.shape)
            for street, table in enumerate(now.average)
        )
        return replace(now, average=tables, provenance={"folder": folders[-1].name})

    def _save_snapshot(self, strategy: Blueprint) -> None:
        save_blueprint(strategy, self.out / SNAPSHOTS_FOLDER / f"{self.solver.iterations:015d}")
        folders = self._snapshots()
        if len(folders) > self.snapshots:
            for old in folders[1:-1:2]:  # every other one, but neither the first nor the last
                artifacts.remove(old)


def _parts_folder(checkpoint: Path) -> Path:
    """Return the folder of the blades' parts of a checkpoint."""
    return checkpoint.with_name(PARTS_PREFIX + checkpoint.name.removeprefix(files.CHECKPOINT_PREFIX))


def quantized_averages(solver: TrainableSolver) -> Iterator[Array]:
    """Yield the average strategy of each street, quantized to 255 steps per decision. uint8 [buckets, width]"""
    tree = solver.tree
    for street, (slot, count) in enumerate(decision_slots(tree)):
        buckets, width = solver.cards.counts[street], int(tree.width[street])
        out = np.empty((buckets, width), np.uint8)
        rows = max(1, _CHUNK_ACTIONS // max(1, width))
        for first in range(0, buckets, rows):
            chunk = np.arange(first, min(first + rows, buckets))
            out[chunk] = quantize_table(solver.tables.strategies(street, chunk), slot, count)
        yield out
