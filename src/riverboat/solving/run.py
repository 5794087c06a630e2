"""A CFR run with its folder, log and clock; the loop itself is that of all runs (`run_loop`)."""

from __future__ import annotations

import json
import math
import shutil
import time as clock
import warnings
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from riverboat import artefact, disk
from riverboat.abstraction.card_abstraction import CardAbstraction
from riverboat.claims import EXACT, LOWER, UPPER, Claim, to_dicts
from riverboat.errors import InputError, NumericalError, UnsavedError
from riverboat.frames import frame
from riverboat.games import registry
from riverboat.games.base import Game
from riverboat.games.spot import Spot
from riverboat.report_table import PROSE, Column, ReportTable
from riverboat.solving import ladder
from riverboat.solving.best import Best
from riverboat.solving.cfr import CFR
from riverboat.solving.response import Quality
from riverboat.solving.run_loop import RunLoop, after_iterations, after_seconds, below, check_recipe
from riverboat.solving.sampled_boards import SampledBoards
from riverboat.solving.schedules import AnySchedule
from riverboat.solving.solvers import BOARD_SCHEDULE as BOARD_SCHEDULE
from riverboat.solving.solvers import buckets_for, bytes_of_tables, caution, make_solver
from riverboat.solving.solvers import default_dtype as default_dtype
from riverboat.solving.solvers import default_schedule as default_schedule
from riverboat.solving.spot_facts import facts_of_spot
from riverboat.solving.values import game as make_game
from riverboat.strategy import files
from riverboat.strategy.solution import Solution
from riverboat.strategy.table import Strategy
from riverboat.trees.boards import BoardTree
from riverboat.trees.compile import AnyTree, solver_tree
from riverboat.walks.devices import CPU

KEEP = 2  # checkpoints


@dataclass(frozen=True)
class Progress:
    """Where a run stands. `exploitability` is that of the last check, None before the first."""

    iteration: int
    seconds: float
    nodes: int
    exploitability: float | None
    nash_conv: float | None
    value_low: float | None
    value_high: float | None
    checked: bool  # whether the figures are of this iteration

    def after(self, iterations: int) -> Progress:
        """So many iterations later, as far as that is known now."""
        return Progress(self.iteration + iterations, self.seconds, self.nodes, None, None, None, None, checked=False)


Stopper: TypeAlias = Callable[[Progress], bool]
Callback: TypeAlias = Callable[[Progress], None]


EXACT_METHODS = ("lp", "egt", "undominated")  # on the sequence form
DONE, TARGET, LIMIT, STALLED = "done", "target", "limit", "stalled"
NO_GUARANTEE = "none: with more than two players CFR need not converge; gains are exact for this strategy"
GENERAL_SUM = "none: pay-offs have no constant sum, so CFR need not converge; gains are exact for this strategy"
FORGETFUL = (
    "none: a player forgets its own moves, so CFR need not converge; gains are upper bounds: of one who remembers"
)


@dataclass(frozen=True)
class Result:
    """What a solve gives: a strategy, and how good it is. Figures are exact best-response values."""

    game: str
    method: str
    schedule: str | None
    traversal: str | None
    iterations: int
    seconds: float
    value: float  # middle of the certified interval, to player 0
    value_low: float
    value_high: float
    exploitability: float
    nash_conv: float
    unit: str
    infosets: int
    seed: int
    nodes: int
    reached: bool  # whether the target of `until` was met (true where there was none)
    strategy: Strategy | Solution = field(repr=False, compare=False)
    history: tuple[Progress, ...] = field(default=(), repr=False, compare=False)
    certified: bool = True  # whether the game has a value, which lies between value_low and value_high
    ended: str = DONE  # what ended the run
    answer_iteration: int | None = None  # whose average is the answer: an earlier one where exploitability rose since
    values: tuple[float, ...] = ()  # what the profile earns, per player
    gains: tuple[float, ...] = ()  # what each player could gain by deviating alone, exact
    recalls: bool = True  # whether no player forgets its own moves; of one who does, gains are upper bounds
    threads: int = 1  # that were used
    table_bytes: int = 0  # memory of the tables that were learnt in
    layout_bytes: int = 0  # and of what lies beside them: boards and their hands

    @property
    def guarantee(self) -> str | None:
        """Why there is none; None where the value is certified."""
        if self.certified:
            return None
        return FORGETFUL if not self.recalls else NO_GUARANTEE if len(self.values) > 2 else GENERAL_SUM

    @property
    def claims(self) -> tuple[Claim, ...]:
        """All that is said of the answer, the exploitability first; a certified value is bounded from both sides."""
        kind = EXACT if self.recalls else UPPER
        claimed = [
            Claim("exploitability", self.exploitability, self.unit, kind),
            Claim("NashConv", self.nash_conv, self.unit, kind),
        ]
        if self.certified:
            claimed.append(Claim("value to player 0", self.value_low, self.unit, LOWER))
            claimed.append(Claim("value to player 0", self.value_high, self.unit, UPPER))
            return tuple(claimed)
        earned = enumerate(self.values)
        return (*claimed, *(Claim(f"earned by player {p}", value, self.unit, EXACT) for p, value in earned))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, without the strategy. Those of a spot begin with the EVs and equities of its root."""
        facts = {k: v for k, v in self.__dict__.items() if k not in ("strategy", "history")}
        certified = "between value_low and value_high"
        value = certified if self.certified else "what the profile earns to player 0; no value of the game is claimed"
        facts |= {"exploitability_is": "exact", "value_is": value, "claims": to_dicts(self.claims)}
        if not self.recalls:
            facts["exploitability_is"] = "upper bound: what players who remember their own moves would gain"
        elif len(self.values) > 2:
            facts["exploitability_is"] = "exact: the largest gain of a player"
        if self.guarantee is not None:
            facts["guarantee"] = self.guarantee
        if isinstance(self.strategy, Solution) and isinstance(self.strategy.tree.game, Spot):
            return facts_of_spot(self.strategy, facts)
        return facts

    def report(self) -> ReportTable:
        """What it is and how good, line by line."""
        how = " ".join(filter(None, (self.method, self.schedule, self.traversal)))
        value = f"between {self.value_low:.6g} and {self.value_high:.6g}" if self.certified else "none is claimed"
        lines = [
            ("method", f"{how}, {self.iterations:,} iterations, {self.seconds:.3g} s"),
            ("exploitability", f"{self.exploitability:.6g} {self.unit}"),
            ("value to player 0", value),
            *((f"player {p} earns", f"{earned:.6g} {self.unit}") for p, earned in enumerate(self.values)),
            ("information sets", f"{self.infosets:,}"),
        ]
        return ReportTable(self.game, (Column("figure", title=" "), Column("is", PROSE, " ")), tuple(lines))

    def to_frame(self) -> Any:
        """The checks on the way, for pandas: iterations, seconds, nodes and figures of each."""
        names = [each.name for each in fields(Progress) if each.name != "checked"]
        return frame({name: [getattr(check, name) for check in self.history] for name in names})

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()


class Run(RunLoop[Progress]):
    """A CFR run with its folder, log and clock."""

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
    ) -> None:
        if check_every is not None and check_every < 1:
            raise InputError(f"check_every={check_every}: must be at least one iteration")
        self.folder = None if out is None else Path(out)
        self.log = None if log is None else Path(log)
        self.check_every, self.checkpoint_seconds = check_every, checkpoint_seconds
        self.history: list[Progress] = []
        self.quality: Quality | None = None
        self._checked_at, self._due = -1, 0
        self.target: float | None = None  # exploitability that the run is to reach, where one was given
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
    def iteration(self) -> int:
        """Iterations so far."""
        return self.solver.iteration

    @property
    def saves(self) -> bool:
        """Whether there is a folder for checkpoints."""
        return self.folder is not None

    def go(self, stoppers: Iterable[Stopper], callback: Callback | None = None) -> None:
        """Iterate until a stopper says so; checks fall on the same iterations in every run."""
        self.solver.warm()
        if self.log is not None:
            with disk.told(self.log):  # a log that cannot be written is told before the work, not after it
                self.log.parent.mkdir(parents=True, exist_ok=True)
                self.log.open("ab").close()
        super().go(stoppers, callback)

    def advance(self, iterations: int) -> None:
        """Step the solver."""
        self.solver.step(iterations)

    def until_check(self) -> int:
        """Iterations until the next check."""
        self._due = self._next_check(self.iteration)
        return self._due - self.iteration

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
            if getattr(self.solver, "cards", None) is not None:
                return
            with suppress(OSError):  # no room to keep it: the run goes on without
                self.best.offer(quality, self.iteration, self.solver.averages)

    def _next_check(self, iteration: int) -> int:
        patient = isinstance(self.tree, BoardTree)
        return ladder.next_check(iteration, self._checks(), target=self.target, every=self.check_every, patient=patient)

    def _checks(self) -> list[ladder.Check]:
        return [(p.iteration, p.exploitability) for p in self.history if p.exploitability is not None]

    def stalls(self) -> bool:
        """Whether more iterations have stopped to help."""
        return ladder.stalls(self._checks())

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
            progress = self.standing()
            self.history.append(progress)
            if self.log is not None:
                row = {k: v for k, v in asdict(progress).items() if k != "checked"} | {"unit": self.tree.unit}
                line, log = json.dumps(row), self.log
                self.attempt(lambda: disk.append(log, line))
        return self.quality

    def standing(self) -> Progress:
        """Where the run stands."""
        q = self.quality
        low, high = q.bracket if q is not None else (None, None)
        return Progress(
            self.solver.iteration,
            self.seconds,
            self.solver.nodes_touched,
            q.exploitability if q is not None else None,
            q.nash_conv if q is not None else None,
            low,
            high,
            checked=self._checked_at == self.solver.iteration,
        )

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
        if self._risen():
            provenance["iterations"] = self.best.iteration
        meta = {
            **facts,
            "table": "best" if self._risen() else "average",
            "unit": self.tree.unit,
            "provenance": provenance,
            "state": {**state, "seconds": self.seconds},
            "history": [asdict(p) for p in self.history],
        }
        name = f"{files.CHECKPOINT}{solver.iteration:012d}"
        written = artefact.write(place / name, "checkpoint", arrays, meta, texts)
        artefact.discard_leftovers(place)
        for old in files.checkpoints(place)[:-KEEP]:
            shutil.rmtree(old)
        return written

    def _risen(self) -> bool:
        """Whether an earlier check was better than the last one."""
        best, checks = self.best.quality, self._checks()
        return best is not None and bool(checks) and best.exploitability < checks[-1][1]

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
        artefact.discard_leftovers(self.folder)
        place = files.checkpoints(self.folder)[-1]
        entries, arrays = artefact.read(place)
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
            arrays.take(name, (table.dtype,), table.shape)
        self.solver.restore(arrays, state.like(example))
        self.seconds = state.number("seconds", 0)
        self.history = [row.make(Progress) for row in entries.tables("history")]
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
        """The frozen answer of the run so far: the average of the last iteration, or of an earlier one that was better."""
        quality, strategy, iteration = self.check(), None, self.solver.iteration
        if self._risen():
            assert self.best.quality is not None
            quality, iteration = self.best.quality, self.best.iteration
            strategy = self.solver.average(self.best.table(), iteration)
        low, high = sorted(quality.bracket)  # rounding may cross them at an exact equilibrium
        provenance = self.solver.average_provenance()
        return Result(
            game=provenance["game"],
            method="cfr",
            schedule=provenance["schedule"],
            traversal=provenance["traversal"],
            iterations=self.solver.iteration,
            seconds=self.seconds,
            value=(low + high) / 2,
            value_low=low,
            value_high=high,
            exploitability=quality.exploitability,
            nash_conv=quality.nash_conv,
            unit=self.tree.unit,
            infosets=self.tree.infoset_count,
            seed=self.solver.seed,
            nodes=self.solver.nodes_touched,
            reached=True,
            strategy=strategy if strategy is not None else self.solver.average(),
            history=tuple(self.history),
            certified=quality.total is not None,
            ended=LIMIT,
            answer_iteration=iteration,
            values=quality.values,
            gains=quality.gains,
            recalls=quality.recalls,
            threads=self.solver.threads,
            table_bytes=bytes_of_tables(self.tree, self.solver.schedule, self.solver.dtype, self._traversal),
            layout_bytes=getattr(self.tree, "layout_bytes", 0),
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
    callback: Callback | None = None,
    stop: Iterable[Stopper] = (),
) -> Result:
    """Solve a two-player zero-sum or constant-sum game and certify the answer; or look for an equilibrium of any other.

    Stops at the first of `iterations`, `time` (seconds) and `until` (exploitability in the game's unit); with none of
    them after 1,000 iterations. Games of more players, whose pay-offs have no constant sum, or in which a player forgets are
    solved by CFR alone, and `result.guarantee` says what is missing: gains of players who deviate alone are known, but
    nothing makes them fall. With more than two players exploitability is ε, the largest gain. `device`: cpu, cuda (hold'em
    on boards), or auto for what there is.
    `cards`: a card abstraction for whole games of hold'em, or its name (`flops:30000`, `strength:200`, a folder): the
    abstract game is solved, and every figure is that of the full game.

    With `out`, checkpoints go there and `resume` goes on from the last. An interrupt (Ctrl-C) writes a checkpoint to `out`
    and is raised again. Where the answer cannot be written, `UnsavedError` has it as `result`.
    """
    if method in EXACT_METHODS:
        from riverboat.solving.exact import solve_exact

        if cards is not None:
            raise InputError(f"cards are put into buckets by method 'cfr', not {method!r}")
        if device != CPU:
            raise InputError(f"device {device!r} is for method 'cfr'; {method!r} runs on processors")
        if resume:
            raise InputError(f"resume goes on with a CFR run; method {method!r} starts anew")

        with nullcontext() if out is None else disk.held(out):
            return solve_exact(
                game, method, until=until, iterations=iterations, time=time, out=out, seed=seed, callback=callback
            )
    if method != "cfr":
        raise InputError(f"method {method!r}: one of cfr, {', '.join(EXACT_METHODS)}")
    with nullcontext() if out is None else disk.held(out):
        run = Run(
            game, schedule, traversal, seed=seed, threads=threads, dtype=dtype, device=device, out=out, resume=resume,
            log=log, check_every=check_every, checkpoint_seconds=checkpoint_seconds, cards=cards,
        )  # fmt: skip
        doubt = caution(run.solver.schedule, traversal)
        if doubt is not None:
            warnings.warn(doubt, stacklevel=2)
        stops = stoppers(iterations, time, until, stop)
        return finish(run, stops, until, callback, limited=len(stops) > 1)


def stoppers(
    iterations: int | None, time: float | None, until: float | None, more: Iterable[Stopper] = ()
) -> list[Stopper]:
    """The stoppers that a caller's options stand for."""
    stops = list(more)
    if iterations is not None:
        stops.append(after_iterations(iterations))
    if time is not None:
        stops.append(after_seconds(time))
    if until is not None:
        stops.append(below(until))
    return stops or [after_iterations(1000)]


def finish(
    run: Run, stops: list[Stopper], until: float | None, callback: Callback | None, *, limited: bool = True
) -> Result:
    """Run to the end, save, and say whether the target was met. Where the target alone limits it, it ends by stalling."""
    run.target = until
    alone = until is not None and not limited
    try:
        run.go([*stops, lambda _: run.stalls()] if alone else stops, callback)
        run.check()
    except KeyboardInterrupt:
        if run.folder is not None:
            run.save()
        raise
    if callback is not None:
        callback(run.standing())
    last = run.result()
    reached = until is None or last.exploitability <= until
    ended = TARGET if until is not None and reached else STALLED if alone else LIMIT
    result = replace(last, reached=reached, ended=ended)
    if run.folder is not None:
        run.attempt(run.save)
    if run.trouble is not None:
        raise UnsavedError(str(run.trouble), result)
    return result
