"""CFR runs with checkpoints, and the choice of a solver for a tree.

The loop itself is shared by all runs (`run_loop`, `solver_run`).
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.abstraction.cards.named_abstractions import abstraction_by_name
from riverboat.compiled.jit import is_cached
from riverboat.core import artifacts
from riverboat.core.budget import require_memory
from riverboat.core.errors import InputError, NumericalError
from riverboat.core.resources import available_memory
from riverboat.core.schema import ArtifactArrays, FileEntries
from riverboat.engines.devices import CPU, CUDA, check_device
from riverboat.engines.rules import board_kernels
from riverboat.engines.tables import COMPACT, SIXTEEN_BITS, choose_format, parse_table_format
from riverboat.games import registry
from riverboat.games.base import Array, Game
from riverboat.games.boards.board_game import BoardGame
from riverboat.games.boards.holdem import Holdem
from riverboat.solvers import schedules, traversals
from riverboat.solvers.boards import cfr as boards
from riverboat.solvers.boards.cfr import LIMIT_SCHEDULE, UNTIED_AVERAGE, WHOLE_GAME_SCHEDULE, BoardCFR, SampledBoardCFR
from riverboat.solvers.game_values import game as make_game
from riverboat.solvers.result import BEST, LAST, LIMIT, Answer, Callback, Result, SolveProgress, Stopper
from riverboat.solvers.run_loop import check_same_settings
from riverboat.solvers.schedules import AnySchedule, Schedule, ScheduleOrFactory, dcfr
from riverboat.solvers.solver_run import SolveLimits, SolverRun, effective_answer, next_check
from riverboat.solvers.tabular import cfr
from riverboat.solvers.tabular.best_response import Quality
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies import files
from riverboat.trees.boards import BoardTree
from riverboat.trees.compile import AnyTree, solver_tree

# --- best check so far (exploitability may rise by rounding, by sampling, or with some schedules) ---

MAX_MEMORY_BYTES = 16_000_000  # larger tables are stored in an anonymous temporary file
# Such tables are copied only if a check gains less than a fifth: while a run progresses, the next check is better.
SLOW_PROGRESS = 0.8


class BestCheck:
    """Copy of the averages of the check with the lowest exploitability, in memory or, if large, in a temporary file."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder  # for large tables; None: the system's temporary folder
        self.iteration = -1  # iteration of the stored check; -1 if no table is stored
        self.quality: Quality | None = None
        self._last_exploitability = np.inf  # exploitability of the last check that was offered
        self._table: Array | None = None
        self._is_read = False  # then the table belongs to a solution, and is not overwritten
        self._file: IO[bytes] | None = None
        self._dtype: Any = None

    def offer(self, quality: Quality, iteration: int, table: Array) -> None:
        """Store a copy of the averages if no earlier check was as good; large tables only while progress is slow."""
        now, before = quality.exploitability, self._last_exploitability
        self._last_exploitability = now
        if self.quality is not None and now >= self.quality.exploitability:
            return
        if table.nbytes > MAX_MEMORY_BYTES and now <= SLOW_PROGRESS * before:
            return
        self.store(quality, iteration, table)

    def store(self, quality: Quality, iteration: int, table: Array) -> None:
        """Store a copy of the averages in place of the previous one; if writing fails, none is stored."""
        self.quality, self.iteration = None, -1
        self._write_table(table)
        self.quality, self.iteration, self._dtype = quality, iteration, table.dtype

    def _write_table(self, table: Array) -> None:
        if table.nbytes <= MAX_MEMORY_BYTES:
            if self._table is None or self._is_read:
                self._table, self._is_read = np.empty_like(table), False
            np.copyto(self._table, table)
            return
        if self._file is None:
            folder = self.folder if self.folder is not None and self.folder.is_dir() else None
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - it lives as long as the run
        self._file.seek(0)
        self._file.write(table.view(np.uint8).data)
        self._file.truncate()
        self._file.flush()

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()

    def table(self) -> Array:
        """Return the stored averages."""
        if self._table is not None:
            self._is_read = True
            return self._table
        assert self._file is not None
        self._file.seek(0)
        return np.frombuffer(self._file.read(), self._dtype)


# --- choice of solver, schedule and precision ---

FLOAT32_ABOVE = 100_000_000  # table entries above which tables are float32
READ_BYTES = 4  # bytes per entry of the table that checks of sampled runs read


def solver_table_bytes(
    tree: AnyTree, schedule: AnySchedule, dtype: str, traversal: str = "full", *, tied: bool = False
) -> int:
    """Return the memory of a solver's tables, in bytes.

    On boards, sampled runs and runs with buckets (`tied`) have one more table, which best responses read.
    """
    if isinstance(tree, BoardTree):
        read = READ_BYTES * tree.table_size if tied or traversals.parse_traversal(traversal).sampled else 0
        return boards.board_table_bytes(tree, schedule, dtype) + read
    return cfr.tree_table_bytes(tree, schedule, dtype)


def is_compiled(tree: AnyTree) -> bool:
    """Return whether the loops for a tree are compiled, or stored by an earlier process."""
    if isinstance(tree, BoardTree):
        loop = board_kernels(None, parse_table_format("float64")).traverse
    else:
        loop = cfr.kernels_for(schedules.parse("dcfr"), "float64").full_iterations
    return bool(loop.signatures) or is_cached(loop)


def default_dtype(tree: AnyTree, cards: object = None, traversal: str = "full") -> str:
    """Return the default table format of a tree.

    Double precision until the tables grow large. On boards six bytes per infoset-action; eight with buckets, so that
    hands of a bucket play the same strategy to the last bit, and eight for samplers.
    """
    if isinstance(tree, BoardTree):
        return COMPACT if cards is None and not traversals.parse_traversal(traversal).sampled else "float32"
    return "float32" if tree.table_size > FLOAT32_ABOVE else "float64"


def fitting_dtype(
    tree: AnyTree, schedule: AnySchedule, memory: int | None, cards: object = None, traversal: str = "full"
) -> str:
    """Return the default table format; 16-bit instead of compact if only that needs less than `memory` and what is free."""
    kind = default_dtype(tree, cards, traversal)
    if kind != COMPACT:
        return kind
    limit = min((size for size in (memory, available_memory()) if size is not None), default=None)
    sizes = {name: solver_table_bytes(tree, schedule, name, traversal) for name in (COMPACT, SIXTEEN_BITS)}
    return choose_format(sizes, limit, locks=bool(getattr(tree.game, "locks", ())))


def default_schedule(tree: AnyTree, traversal: str = "full") -> AnySchedule:
    """Return the default schedule of a tree: DCFR.

    On boards the exponents are those that were fastest on spots (docs/decisions/0062-weight-regrets-by-stakes-in-spots.md)
    or in whole hold'em games (0043-weight-regrets-by-stakes-in-whole-hold-em.md). Sampled traversals do not support weights
    of stakes.
    """
    if not isinstance(tree, BoardTree):
        return dcfr()
    if traversals.parse_traversal(traversal).sampled:
        return boards.SAMPLED_SCHEDULE
    if not isinstance(tree.game, Holdem):
        return boards.BOARD_SCHEDULE
    return LIMIT_SCHEDULE if tree.game.rules.limit else WHOLE_GAME_SCHEDULE


def convergence_warning(schedule: str | ScheduleOrFactory, traversal: str) -> str | None:
    """Return a warning if convergence of a schedule with a traversal is not proved, else None."""
    how, rule = traversals.parse_traversal(traversal), schedules.parse(schedule)
    if not how.sampled or (isinstance(rule, Schedule) and not rule.floored and not rule.predictive):
        return None
    return f"schedule {rule} with traversal {how.name!r}: convergence is not proved; use vanilla, linear or dcfr"


def card_abstraction_for(tree: AnyTree, cards: str | CardAbstraction | None) -> CardAbstraction | None:
    """Return the card abstraction for a tree, loaded by name if `cards` is one."""
    if cards is None:
        return None
    if not isinstance(tree, BoardTree):
        raise InputError(f"{tree.name}: card abstractions are for whole hold'em games only")
    game: BoardGame = tree.game
    buckets = abstraction_by_name(cards, game.deck, tuple(game.deals)) if isinstance(cards, str) else cards
    if buckets.public is None and len(buckets.streets) > tree.streets:  # made for a longer game: use its first streets
        streets = buckets.streets[: tree.streets]
        buckets = replace(buckets, streets=streets, deals=tuple(game.deals), stored_fingerprint=None)
    return buckets


def make_solver(
    tree: AnyTree,
    schedule: str | ScheduleOrFactory,
    traversal: str,
    seed: int,
    threads: int,
    dtype: str,
    options: dict[str, Any],
    device: str = CPU,
    cards: CardAbstraction | None = None,
) -> CFR | BoardCFR | SampledBoardCFR:
    """Make the CFR solver for a tree."""
    check_device(device)
    if isinstance(tree, BoardTree):
        if (how := traversals.parse_traversal(traversal)).sampled:
            if device == CUDA:
                raise InputError(
                    f"{tree.name}: device 'cuda' supports traversal 'full', not {traversal!r}; use 'cpu' or 'auto'"
                )
            require_memory(tree.name, solver_table_bytes(tree, schedules.parse(schedule), dtype, traversal))
            return SampledBoardCFR(tree, schedule, how.name, seed=seed, threads=threads, dtype=dtype, cards=cards)
        return BoardCFR(tree, schedule, threads=threads, dtype=dtype, device=device, cards=cards, **options)
    if device == CUDA:
        raise InputError(f"{tree.name}: device 'cuda' is for spots and whole hold'em games; use 'cpu' or 'auto'")
    return CFR(tree, schedule, traversal, seed=seed, threads=threads, dtype=dtype, **options)


MAX_CHECKPOINTS = 2  # checkpoints that are not deleted


class CFRRun(SolverRun):
    """A CFR run with its folder, log and clock.

    It returns the strategy of the last iteration or of the best check, as `answer` says; by default the limits of the
    run decide (`solver_run.effective_answer`). Checkpoints store the best check in either case.
    """

    def __init__(
        self,
        game: str | Game,
        schedule: str | ScheduleOrFactory | None = None,
        traversal: str = "full",
        *,
        seed: int = 0,
        threads: int = 1,
        dtype: str | None = None,
        device: str = CPU,
        out: str | Path | None = None,
        resume: bool = False,
        log: str | Path | None = None,
        check_every: int | None = None,
        checkpoint_seconds: float = 60.0,
        tree: AnyTree | None = None,
        cards: str | CardAbstraction | None = None,
        answer: str | None = None,
    ) -> None:
        super().__init__(log, check_every)
        self.answer: Answer = effective_answer(SolveLimits(), answer, cards=cards is not None)
        self._requested_answer = answer
        self.folder = None if out is None else Path(out)
        self.saves_checkpoints, self.checkpoint_seconds = self.folder is not None, checkpoint_seconds
        self.best = BestCheck(self.folder)
        if self.folder is not None:
            files.check_unused(self.folder, resume=resume)
        elif resume:
            raise InputError("resume needs out=…, the folder of the run to resume")
        stored = self._read_checkpoint() if resume else None
        if stored is None:
            self.game = make_game(game)
            self.tree = tree if tree is not None else solver_tree(self.game)
        else:
            requested_game = registry.game_from_spec(game) if isinstance(game, str) else game
            self.game, self.tree = files.rebuild_game(stored.path, stored.entries, requested_game)
        self.unit = self.tree.unit
        if schedule is None and stored is not None:  # the default may be another one since then
            text = stored.entries.table("provenance").text("schedule")
            schedule = schedules.parse(text, imports=False)  # a file must not choose which code runs
        rule = default_schedule(self.tree, traversal) if schedule is None else schedule
        buckets = card_abstraction_for(self.tree, cards)
        options: dict[str, Any] = {}
        if stored is not None:
            names = {"schedule": str(schedules.parse(rule)), "traversal": traversals.parse_traversal(traversal).name}
            options = stored.check_settings({**names, "seed": seed, "dtype": dtype}, buckets)
            dtype = stored.entries.table("provenance").text("dtype")
        elif dtype is None:
            dtype = default_dtype(self.tree, cards, traversal)
        self.solver = make_solver(self.tree, rule, traversal, seed, threads, dtype, options, device, buckets)
        if stored is not None:
            self._restore(stored)

    # --- run loop -----------------------------------------------------------------------------

    def iterate(self, stoppers: Iterable[Stopper], callback: Callback | None = None) -> None:
        """Iterate until a stopper applies. Checks fall on the same iterations in every run."""
        self.solver.warm()
        super().iterate(stoppers, callback)

    def check_if_due(self, seconds: float, iterations: int) -> None:
        """Compute and record the exploitability if a check is due, and store the averages if they are the best so far.

        Nothing is stored where the target is met: the run ends, and the last strategy is the answer. So it is with card
        buckets: an earlier strategy may be better in the full game, but does not solve the abstract game.
        """
        if self.iteration >= self._due_iteration:
            quality = self.check()
            if self.solver.cards is None and quality.exploitability > (self.target or 0.0):
                with suppress(OSError):  # no space to store it: the run continues without
                    self.best.offer(quality, self.iteration, self.solver.averages)

    def _next_check(self, iteration: int) -> int:
        patient = isinstance(self.tree, BoardTree)
        return next_check(iteration, self.checks(), target=self.target, patient=patient)

    def _measure(self) -> Quality:
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            quality: Quality = self.solver.quality()
        if not math.isfinite(quality.nash_conv):
            raise NumericalError(
                f"{self.tree.name}: exploitability is not finite after {self.solver.iteration:,} iterations of "
                f"{self.solver.schedule}: numeric overflow; try smaller payoffs or exponents, or dtype float64"
            )
        return quality

    # --- checkpoints --------------------------------------------------------------------------

    def save(self, folder: str | Path | None = None) -> Path:
        """Write a checkpoint and delete all but the last MAX_CHECKPOINTS."""
        target = Path(folder) if folder is not None else self.folder
        if target is None:
            raise InputError("save needs a folder: give out=… or save(folder)")
        solver = self.solver
        facts, texts = files.game_entries(self.game, self.tree)
        arrays, state = solver.state()
        provenance = solver.average_provenance()
        if self.best.quality is not None:
            state = {**state, "best": {"iteration": self.best.iteration, **asdict(self.best.quality)}}
            if self.best.iteration < solver.iteration:  # otherwise it is the average itself
                arrays = {**arrays, "best": self.best.table()}
        if self._answers_with_best():
            provenance["iterations"] = self.best.iteration
        state = {**state, "answer": self.answer, "answer_asked": self._requested_answer is not None}
        table = "best" if self._answers_with_best() else "average"
        meta = {**facts, "table": table, "unit": self.tree.unit, "provenance": provenance}
        meta |= {"state": {**state, "seconds": self.seconds}, "history": [asdict(p) for p in self.history]}
        name = f"{files.CHECKPOINT_PREFIX}{solver.iteration:012d}"
        written = artifacts.write(target / name, "checkpoint", arrays, meta, texts)
        artifacts.discard_leftovers(target)
        for old in files.checkpoints(target)[:-MAX_CHECKPOINTS]:
            artifacts.remove(old)
        return written

    def set_limits(self, limits: SolveLimits) -> None:
        """Apply the limits: they decide which strategy is returned, unless the caller has chosen it."""
        super().set_limits(limits)
        self.answer = effective_answer(limits, self._requested_answer, cards=self.solver.cards is not None)

    def _answers_with_best(self) -> bool:
        """Return whether the result is an earlier strategy: the best check is requested, and it was not the last."""
        best, checks = self.best.quality, self.checks()
        return self.answer == BEST and best is not None and bool(checks) and best.exploitability < checks[-1][1]

    def _read_checkpoint(self) -> _Checkpoint | None:
        """Read the last checkpoint of the folder, if there is one."""
        if self.folder is None or not files.checkpoints(self.folder):
            return None
        artifacts.discard_leftovers(self.folder)
        path = files.checkpoints(self.folder)[-1]
        entries, arrays = artifacts.read(path)
        entries.text("kind", ("checkpoint",))
        return _Checkpoint(path, entries, arrays)

    def _restore(self, stored: _Checkpoint) -> None:
        """Restore the state of a checkpoint."""
        entries, arrays, state = stored.entries, stored.arrays, stored.entries.table("state")
        tables, example = self.solver.state()
        for name, table in tables.items():
            if name != UNTIED_AVERAGE or name in arrays:  # older checkpoints have none
                arrays.get_checked(name, (table.dtype,), table.shape)
        self.solver.restore(arrays, state.read_like(example))
        self.seconds = state.number("seconds", 0)
        self.history = [row.to_dataclass(SolveProgress) for row in entries.tables("history")]
        if self._requested_answer is None:
            answer = state.text("answer", (LAST, BEST)) if "answer" in state else None
            self._requested_answer = answer if answer is not None and state.boolean("answer_asked") else None
            self.answer = BEST if BEST in (answer, entries["table"]) else LAST
        if "best" in state:
            facts = state.table("best")
            best, values = (tuple(facts.number_row(name, self.tree.players)) for name in ("best", "values"))
            total = None if facts["total"] is None else facts.number("total")
            best_quality = Quality(best, values, total, "recalls" not in facts or facts.boolean("recalls"))
            at, mean = facts.integer("iteration"), self.solver.averages
            table = arrays.get_checked("best", (mean.dtype,), mean.shape) if at < self.solver.iteration else mean
            self.best.store(best_quality, at, np.asarray(table))

    def result(self) -> Result:
        """Return the result so far: the average strategy of the last iteration or of the best check."""
        solver, quality, iteration = self.solver, self.check(), self.solver.iteration
        if self._answers_with_best():
            assert self.best.quality is not None
            quality, iteration = self.best.quality, self.best.iteration
            strategy = solver.average(self.best.table(), iteration)
        else:
            strategy = solver.average()
        tied, layout_bytes = solver.cards is not None, getattr(self.tree, "layout_bytes", 0)
        table_bytes = solver_table_bytes(self.tree, solver.schedule, solver.dtype, str(solver.traversal), tied=tied)
        counts = {"nodes": solver.nodes_touched, "threads": solver.threads}
        counts |= {"table_bytes": table_bytes, "layout_bytes": layout_bytes, "answer_iteration": iteration}
        return self._make_result(strategy, quality, ended=LIMIT, answer=self.answer, **counts)


class _Checkpoint(NamedTuple):
    """A checkpoint as read from its folder: entries of the manifest, and arrays."""

    path: Path
    entries: FileEntries
    arrays: ArtifactArrays

    def check_settings(self, requested: dict[str, Any], buckets: CardAbstraction | None) -> dict[str, Any]:
        """Raise InputError if the run has other settings than requested, and return the options of its solver."""
        provenance, state = self.entries.table("provenance"), self.entries.table("state")
        fingerprint = provenance.get("cards_fingerprint")
        cards = fingerprint and _describe_buckets(provenance["cards"], fingerprint)
        requested = {key: value for key, value in requested.items() if value is not None}
        requested["cards"] = None if buckets is None else _describe_buckets(buckets.name, buckets.fingerprint)
        check_same_settings(self.path, {**provenance, "cards": cards}, requested)
        return {"tick": state.integer("tick", 1), "epsilon": state.number("epsilon", 0, 1)} if "tick" in state else {}


def _describe_buckets(name: str, fingerprint: str) -> str:
    """Return the name of a card abstraction with its fingerprint, to distinguish two of the same name."""
    return f"{name} ({fingerprint[:8]})"
