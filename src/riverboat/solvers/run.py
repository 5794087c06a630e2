"""CFR runs with checkpoints, and `rb.solve`. The loop itself is that of all runs (`run_loop`, `solver_run`)."""

from __future__ import annotations

import math
import time as clock
import warnings
from collections.abc import Iterable
from contextlib import nullcontext, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.core import artifacts, atomic_io
from riverboat.core.errors import InputError, NumericalError
from riverboat.engines.devices import CPU
from riverboat.games import registry
from riverboat.games.base import Game
from riverboat.solvers import check_schedule
from riverboat.solvers.best_strategy import Best
from riverboat.solvers.boards.cfr import UNTIED
from riverboat.solvers.boards.sampled import SampledBoards
from riverboat.solvers.game_values import game as make_game
from riverboat.solvers.limits import Limits, answer_for, limits_for
from riverboat.solvers.result import BEST, EXACT_METHODS, LAST, LIMIT, Answer, Callback, Stopper, figures
from riverboat.solvers.result import Progress as Progress
from riverboat.solvers.result import Result as Result
from riverboat.solvers.run_loop import check_recipe
from riverboat.solvers.schedules import AnySchedule
from riverboat.solvers.selection import BOARD_SCHEDULE as BOARD_SCHEDULE
from riverboat.solvers.selection import buckets_for, bytes_of_tables, caution, make_solver
from riverboat.solvers.selection import default_dtype as default_dtype
from riverboat.solvers.selection import default_schedule as default_schedule
from riverboat.solvers.solver_run import SolverRun, finish
from riverboat.solvers.tabular.best_response import Quality
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies import files
from riverboat.trees.boards import BoardTree
from riverboat.trees.compile import AnyTree, solver_tree

KEEP = 2  # checkpoints


class Run(SolverRun):
    """A CFR run with its folder, log and clock.

    Its answer is the strategy of the last iteration or of the best check, as `answer` says; without it the limits of
    the run decide (`limits.answer_for`). The best check is stored in checkpoints either way.
    """

    def __init__(
        self,
        game: str | Game,
        schedule: str | AnySchedule | None = None,
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
        solver_options: dict[str, Any] | None = None,
        cards: str | CardAbstraction | None = None,
        answer: str | None = None,
    ) -> None:
        super().__init__(log, check_every)
        answer_for(Limits(), answer, cards=cards is not None)  # raises where it is invalid
        self.answer: Answer = BEST if answer == BEST else LAST
        self._asked_answer = answer
        self.folder = None if out is None else Path(out)
        self.checkpoint_seconds = checkpoint_seconds
        self.quality: Quality | None = None
        self._checked_at = -1
        self.best = Best(self.folder)
        if self.folder is not None:
            files.check_free(self.folder, resume=resume)
        if resume:
            if self.folder is None:
                raise InputError("resume needs out=…, the folder of the run to go on with")
            if files.checkpoints(self.folder):
                self._resume(game, schedule, traversal, seed, threads, dtype, device, cards)
                return
        self.game = make_game(game)
        self.tree = tree if tree is not None else solver_tree(self.game)
        kind = default_dtype(self.tree, cards, traversal) if dtype is None else dtype
        rule = default_schedule(self.tree, traversal) if schedule is None else schedule
        buckets = buckets_for(self.tree, cards)
        self.solver = make_solver(
            self.tree, rule, traversal, seed, threads, kind, solver_options or {}, device, buckets
        )

    # --- the loop -----------------------------------------------------------------------------

    @property
    def saves(self) -> bool:
        """Whether there is a folder for checkpoints."""
        return self.folder is not None

    def go(self, stoppers: Iterable[Stopper], callback: Callback | None = None) -> None:
        """Iterate until a stopper says so; checks fall on the same iterations in every run."""
        self.solver.warm()
        super().go(stoppers, callback)

    @property
    def _tied(self) -> bool:
        """Whether hands that share a bucket are played alike."""
        return getattr(self.solver, "cards", None) is not None

    @property
    def _traversal(self) -> str:
        return self.solver.traversal if isinstance(self.solver, SampledBoards) else "full"

    def look(self, seconds: float, iterations: int) -> None:
        """Check where that is due, and keep the averages if they are the best so far.

        With buckets the last is the answer: an earlier one may be better in the full game, and is no solution of the
        abstract one.
        """
        if self.iteration >= self._due:
            quality = self.check()
            if self._tied:
                return
            with suppress(OSError):  # no room to keep it: the run goes on without
                self.best.offer(quality, self.iteration, self.solver.averages)

    def _next_check(self, iteration: int) -> int:
        patient = isinstance(self.tree, BoardTree)
        return check_schedule.next_check(
            iteration, self.checks(), target=self.target, every=self.check_every, patient=patient
        )

    def check(self) -> Quality:
        """Compute the exploitability now, and note it."""
        if self.quality is None or self._checked_at != self.solver.iteration:
            started = clock.perf_counter()
            with np.errstate(over="ignore", invalid="ignore"):  # looked at just below
                self.quality = self.solver.quality()
            self.seconds += clock.perf_counter() - started
            if not math.isfinite(self.quality.nash_conv):
                raise NumericalError(
                    f"{self.tree.name}: exploitability is not finite after {self.solver.iteration:,} iterations of "
                    f"{self.solver.schedule}: its numbers overflow; smaller pay-offs or exponents, or dtype float64, may do"
                )
            self._checked_at = self.solver.iteration
            self.record(self.standing(), self.tree.unit)
        return self.quality

    def standing(self) -> Progress:
        """Where the run stands."""
        solver, checked = self.solver, self._checked_at == self.solver.iteration
        return Progress.of(solver.iteration, self.seconds, solver.nodes_touched, self.quality, checked=checked)

    # --- checkpoints --------------------------------------------------------------------------

    def save(self, folder: str | Path | None = None) -> Path:
        """Write a checkpoint; the last KEEP are kept."""
        place = Path(folder) if folder is not None else self.folder
        if place is None:
            raise InputError("save needs a folder: give out=… or save(folder)")
        solver = self.solver
        facts, texts = files.describe(self.game, self.tree)
        arrays, state = solver.state()
        provenance = solver.average_provenance()
        if self.best.quality is not None:
            state = {**state, "best": self._best_facts()}
            if self.best.iteration < solver.iteration:  # else it is the average itself
                arrays = {**arrays, "best": self.best.table()}
        if self._takes_best():
            provenance["iterations"] = self.best.iteration
        state = {**state, "answer": self.answer, "answer_asked": self._asked_answer is not None}
        meta = {
            **facts,
            "table": "best" if self._takes_best() else "average",
            "unit": self.tree.unit,
            "provenance": provenance,
            "state": {**state, "seconds": self.seconds},
            "history": [asdict(p) for p in self.history],
        }
        name = f"{files.CHECKPOINT}{solver.iteration:012d}"
        written = artifacts.write(place / name, "checkpoint", arrays, meta, texts)
        artifacts.discard_leftovers(place)
        for old in files.checkpoints(place)[:-KEEP]:
            artifacts.remove(old)
        return written

    def aim(self, limits: Limits) -> None:
        """Take the limits into account: they decide which strategy is the answer, unless the caller has said it."""
        super().aim(limits)
        self.answer = answer_for(limits, self._asked_answer, cards=self._tied)

    def _takes_best(self) -> bool:
        """Whether the answer is an earlier strategy: the best check is asked for, and it was not the last one."""
        best, checks = self.best.quality, self.checks()
        return self.answer == BEST and best is not None and bool(checks) and best.exploitability < checks[-1][1]

    def _best_facts(self) -> dict[str, Any]:
        assert self.best.quality is not None
        return {"iteration": self.best.iteration, **asdict(self.best.quality)}

    def _resume(
        self,
        game: str | Game,
        schedule: str | AnySchedule | None,
        traversal: str,
        seed: int,
        threads: int,
        dtype: str | None,
        device: str,
        cards: str | CardAbstraction | None,
    ) -> None:
        assert self.folder is not None
        artifacts.discard_leftovers(self.folder)
        place = files.checkpoints(self.folder)[-1]
        entries, arrays = artifacts.read(place)
        entries.text("kind", ("checkpoint",))
        asked_game = registry.make(game) if isinstance(game, str) else game
        self.game, self.tree = files.rebuild(place, entries, asked_game)
        schedule = default_schedule(self.tree, traversal) if schedule is None else schedule
        asked, past, state = self._asked(schedule, traversal, seed), entries.table("provenance"), entries.table("state")
        buckets = buckets_for(self.tree, cards)
        asked |= {} if dtype is None else {"dtype": dtype}
        asked["cards"] = None if buckets is None else _shown_cards(buckets.name, buckets.fingerprint)
        known = past.get("cards_fingerprint")
        check_recipe(place, {**past, "cards": known and _shown_cards(past["cards"], known)}, asked)
        options: dict[str, Any] = {}
        if "tick" in state:
            options = {"tick": state.whole("tick", 1), "epsilon": state.number("epsilon", 0, 1)}
        kind = past.text("dtype")
        self.solver = make_solver(self.tree, schedule, traversal, seed, threads, kind, options, device, buckets)
        mine, example = self.solver.state()
        for name, table in mine.items():
            if name != UNTIED or name in arrays:  # older checkpoints have none
                arrays.take(name, (table.dtype,), table.shape)
        self.solver.restore(arrays, state.like(example))
        self.seconds = state.number("seconds", 0)
        self.history = [row.make(Progress) for row in entries.tables("history")]
        if self._asked_answer is None:
            stored = state.text("answer", (LAST, BEST)) if "answer" in state else None
            self._asked_answer = stored if stored is not None and state.flag("answer_asked") else None
            self.answer = BEST if BEST in (stored, entries["table"]) else LAST
        if "best" in state:
            facts = state.table("best")
            best, values = (tuple(facts.row(name, self.tree.players)) for name in ("best", "values"))
            total = None if facts["total"] is None else facts.number("total")
            kept = Quality(best, values, total, "recalls" not in facts or facts.flag("recalls"))
            at, mean = facts.whole("iteration"), self.solver.averages
            older = at < self.solver.iteration
            table = arrays.take("best", (mean.dtype,), mean.shape) if older else mean
            self.best.keep(kept, at, np.asarray(table))

    def _asked(self, schedule: str | AnySchedule, traversal: str, seed: int) -> dict[str, Any]:
        schedule_name, traversal_name = CFR.describe(schedule, traversal)
        return {"schedule": schedule_name, "traversal": traversal_name, "seed": seed}

    def result(self) -> Result:
        """The answer of the run so far: the average strategy of the last iteration, or of the best check."""
        quality, strategy, iteration = self.check(), None, self.solver.iteration
        if self._takes_best():
            assert self.best.quality is not None
            quality, iteration = self.best.quality, self.best.iteration
            strategy = self.solver.average(self.best.table(), iteration)
        provenance = self.solver.average_provenance()
        return Result(
            game=provenance["game"],
            method="cfr",
            schedule=provenance["schedule"],
            traversal=provenance["traversal"],
            iterations=self.solver.iteration,
            seconds=self.seconds,
            unit=self.tree.unit,
            infosets=self.tree.infoset_count,
            seed=self.solver.seed,
            nodes=self.solver.nodes_touched,
            reached=True,
            strategy=strategy if strategy is not None else self.solver.average(),
            history=tuple(self.history),
            ended=LIMIT,
            answer=self.answer,
            answer_iteration=iteration,
            threads=self.solver.threads,
            table_bytes=bytes_of_tables(
                self.tree, self.solver.schedule, self.solver.dtype, self._traversal, tied=self._tied
            ),
            layout_bytes=getattr(self.tree, "layout_bytes", 0),
            **figures(quality),
        )


def _shown_cards(name: str, fingerprint: str) -> str:
    """Buckets by name, and told apart where two have the same."""
    return f"{name} ({fingerprint[:8]})"


def solve(
    game: str | Game,
    *,
    schedule: str | AnySchedule | None = None,
    traversal: str = "full",
    method: Literal["cfr", "lp", "egt", "undominated"] = "cfr",
    iterations: int | None = None,
    time: float | None = None,
    until: float | None = None,
    seed: int = 0,
    threads: int = 1,
    dtype: str | None = None,
    device: str = CPU,
    cards: str | CardAbstraction | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    log: str | Path | None = None,
    check_every: int | None = None,
    checkpoint_seconds: float = 60.0,
    answer: Answer | None = None,
    callback: Callback | None = None,
    stop: Iterable[Stopper] = (),
) -> Result:
    """Solve a two-player zero-sum or constant-sum game and certify the answer; or look for an equilibrium of any other.

    Stops at the first of `iterations`, `time` (seconds) and `until` (exploitability in the game's unit); with none of
    them at 0.5 % of the pot for spots, and after 1,000 iterations for other games (`solvers.limits`). `answer` is the
    strategy that is returned: `last`, that of the last iteration, by default where `iterations` are given; or `best`,
    that of the check with the lowest exploitability, by default with `until` or `time`.

    Games of more players, whose pay-offs have no constant sum, or in which a player forgets are solved by CFR alone, and
    `result.guarantee` says what is missing: gains of players who deviate alone are known, but nothing makes them fall.
    `value_low` and `value_high` are then None. With more than two players exploitability is ε, the largest gain.
    `device`: cpu, cuda (hold'em on boards), or auto for what there is.
    `cards`: a card abstraction for whole games of hold'em, or its name (`flops:30000`, `strength:200`, a folder): the
    abstract game is solved, and every figure is that of the full game.

    With `out`, checkpoints go there and `resume` goes on from the last. An interrupt (Ctrl-C) writes a checkpoint to `out`
    and is raised again. Where the answer cannot be written, `UnsavedError` has it as `result`.
    """
    given = Limits(iterations, time, until)
    if method in EXACT_METHODS:
        from riverboat.solvers.exact.solve import solve_exact

        if cards is not None:
            raise InputError(f"cards are put into buckets by method 'cfr', not {method!r}")
        if device != CPU:
            raise InputError(f"device {device!r} is for method 'cfr'; {method!r} runs on processors")
        if resume:
            raise InputError(f"resume goes on with a CFR run; method {method!r} starts anew")
        if answer is not None:
            raise InputError(f"answer={answer!r} is for method 'cfr'; {method!r} has one answer")

        with nullcontext() if out is None else atomic_io.held(out):
            return solve_exact(
                game, method, given, out=out, seed=seed, log=log, check_every=check_every, callback=callback, stop=stop
            )
    if method != "cfr":
        raise InputError(f"method {method!r}: one of cfr, {', '.join(EXACT_METHODS)}")
    with nullcontext() if out is None else atomic_io.held(out):
        run = Run(
            game, schedule, traversal, seed=seed, threads=threads, dtype=dtype, device=device, out=out, resume=resume,
            log=log, check_every=check_every, checkpoint_seconds=checkpoint_seconds, cards=cards, answer=answer,
        )  # fmt: skip
        doubt = caution(run.solver.schedule, traversal)
        if doubt is not None:
            warnings.warn(doubt, stacklevel=2)
        own = list(stop)
        return finish(run, given if own else limits_for(run.game, method, given), callback, own)
