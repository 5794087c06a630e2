"""`riverboat train`: a blueprint from a recipe, its sizes told before anything is allocated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from riverboat import disk
from riverboat.abstraction.card_abstraction import CardAbstraction, load_abstraction, lossless
from riverboat.errors import InputError, MemoryLimitError
from riverboat.games.action_counts import Counts
from riverboat.games.action_tree import compile_actions, measure
from riverboat.interfaces import signals
from riverboat.interfaces.progress import ProgressLine
from riverboat.interfaces.terminal import duration, emit, plain_console, say
from riverboat.memory import available_memory
from riverboat.report_table import PROSE, Column, ReportTable
from riverboat.solving.train_recipe import TrainRecipe, load_train_recipe, presets
from riverboat.solving.training import Measure, Progress, Solver, Training
from riverboat.strategy.blueprint import BlueprintStrategy
from riverboat.words import quote, show_bytes, show_seconds

BYTES = {"float32": 8, "16-bit": 4}  # an infoset-action: regret and average
DUEL_HANDS = 400_000
RATE = 1e7  # visits a second and thread; tables of 6.6 GB on 16 cores had 1.2e7 on each
SMALL = 5.0  # seconds that a best response may take, for it to be the measure of strength
EXACT = 60.0  # the same where exploitability is asked for at every check; else a bound
BOUND_BOARDS = 300  # that it is paid on


@dataclass(frozen=True)
class Options:
    """What the command line says."""

    abstraction: str | None = None
    out: Path | None = None
    time: str | None = None
    iterations: int | None = None
    threads: int = 2
    seed: int = 0
    mode: str = "racing"
    resume: bool = False
    estimate: bool = False
    check: float = 60.0  # seconds
    checkpoint: float = 300.0
    cluster: str | None = None
    blades: int | None = None  # None: two
    plot: Path | None = None
    exploitability: bool = False  # measured at every check, however large the game is
    json: bool = False

    def __post_init__(self) -> None:
        if self.time is not None:
            duration(self.time)  # refused before anything is read
        if self.blades is not None and self.cluster is None:
            raise InputError(f"--blades {self.blades} goes with --cluster: local, auto or a Ray address")

    def seconds(self, recipe: TrainRecipe) -> float | None:
        """How long to train; None where it is not limited by time."""
        if self.time is None and (recipe.time is None or self.iterations is not None):
            return None
        return duration(self.time if self.time is not None else recipe.time or "")


def listing(json: bool) -> None:
    """The recipes that come with Riverboat."""
    found = {name: load_train_recipe(name) for name in presets()}
    if json:
        facts = {name: {"about": r.about, "cards": r.abstraction, "time": r.time} for name, r in found.items()}
        emit({"presets": facts})
        return
    columns = Column("recipe"), Column("cards"), Column("time"), Column("what it is", PROSE)
    rows = [(name, recipe.abstraction, recipe.time or "", recipe.about) for name, recipe in found.items()]
    plain_console().print(ReportTable("", columns, tuple(rows)))
    say("riverboat train RECIPE --estimate tells nodes, information sets and memory")


def train(source: str, options: Options) -> None:
    """Train a blueprint in a folder."""
    recipe = load_train_recipe(source)
    cards, path = None, None
    if options.abstraction is not None or recipe.abstraction == "lossless":
        cards, path = _cards(recipe, options.abstraction)
    counts = _counts(recipe, cards.counts[: recipe.rules.rounds] if cards is not None else _buckets(recipe))
    planned = {"recipe": recipe.name, "about": recipe.about, **_sizes(counts), **_hours(recipe, counts, options)}
    if options.estimate:
        _tell(planned, counts, options.json, plain_console())
        return
    if cards is None:
        raise InputError(
            f"no --abstraction: {recipe.name} is made for {recipe.abstraction!r} cards; make them with "
            f"riverboat abstract {recipe.abstraction} --out DIR"
        )
    if options.out is None:
        raise InputError("no --out: say in which folder the run shall live, or give --estimate")
    if not options.json:
        _tell(planned, counts, False, plain_console(stderr=True))
    free = available_memory()
    if free is not None and sum(counts.bytes) > free:
        raise MemoryLimitError(
            f"{recipe.name}: tables of {show_bytes(sum(counts.bytes))}, {show_bytes(free)} are free; "
            "fewer buckets, a smaller menu or dtype = '16-bit' make it smaller"
        )
    _run(recipe, cards, path, options)


def _run(recipe: TrainRecipe, cards: CardAbstraction, path: Path | None, options: Options) -> None:
    seconds = options.seconds(recipe)
    assert options.out is not None
    provenance = {"recipe": recipe.name, "seed": options.seed, "threads": options.threads, "mode": options.mode}
    display = _Display(recipe.name)
    with disk.held(options.out), _solver(recipe, cards, path, options) as solver:
        run = Training(
            solver,
            options.out,
            path,
            provenance,
            checkpoint_seconds=options.checkpoint,
            check_seconds=options.check,
            progress=display,
            measure=_exploited(options.threads) if options.exploitability else _measure(options.threads),
        )
        run.open(options.resume)
        with signals.noted() as interrupted:
            try:
                strategy = run.run(seconds, options.iterations, lambda: interrupted() is not None)
            finally:
                display.done()
        facts = _facts(run, strategy, display.last, options)
        stopped = interrupted()
    if options.plot is not None and stopped is None:
        _plot(options.out, options.plot)
    if options.json:
        emit(facts)
    else:
        console = plain_console()
        console.print(
            f"{recipe.name}: {facts['iterations']:,} iterations in {facts['seconds']:,.1f} s, "
            f"{facts['iterations_per_second']:,.3g} a second; {facts['touched']:,} information sets visited",
        )
        console.print(f"written to {options.out}; riverboat show {quote(options.out)} preflop draws it")
    if stopped is not None:
        say(f"interrupted; go on with --out {quote(options.out)} --resume")
        raise stopped


@contextmanager
def _solver(recipe: TrainRecipe, cards: CardAbstraction, path: Path | None, options: Options) -> Iterator[Solver]:
    """One process, or head and blades."""
    from riverboat.solving.blueprint import Blueprint
    from riverboat.solving.bucket_sampling import make_blueprint

    tree = compile_actions(recipe.rules, recipe.menu)
    if recipe.traversal != "external":
        if options.cluster is not None or options.mode != "racing":
            raise InputError(
                f"{recipe.name}: --cluster and --mode are for external sampling, not for {recipe.traversal}"
            )
        chosen: dict[str, Any] = {"seed": options.seed, "threads": options.threads, "weighting": recipe.weighting}
        yield make_blueprint(tree, cards, recipe.traversal, dtype=recipe.dtype, **chosen)
        return
    common: dict[str, Any] = {"seed": options.seed, "threads": options.threads, "dtype": recipe.dtype}
    common |= {"weighting": recipe.weighting, "prune": recipe.pruning}
    if options.cluster is None:
        yield Blueprint(tree, cards, mode=options.mode, **common)
        return
    from riverboat.solving.cluster import Distributed

    blades = 2 if options.blades is None else options.blades
    if blades < 1:
        raise InputError(f"--blades {blades}: at least one must play the later streets")
    alone = options.cluster in ("local", "none")  # blades share this machine
    common["threads"] = max(1, options.threads // blades) if alone else options.threads
    engine = "local" if options.cluster == "none" else f"ray:{options.cluster}"
    with Distributed(tree, cards, blades=blades, engine=engine, cards_path=path, **common) as solver:
        yield solver


def _measure(threads: int) -> Measure:
    """Exact exploitability where the game is small, else a duel with the snapshot before."""
    from riverboat.evaluation import best_response
    from riverboat.evaluation.duel import duel

    def measure_strength(now: BlueprintStrategy, before: BlueprintStrategy | None) -> Mapping[str, Any]:
        if best_response.estimate(now.tree).seconds < SMALL:
            found = best_response.quality(now, threads)
            return {"exploitability": found.mbb_per_game, "unit": "mbb/g", "is": "exact"}
        if before is None:
            return {}
        match = duel(now, before, DUEL_HANDS, seed=1, threads=threads)
        return {"against_snapshot": match.mbb_per_game, "ci95": match.ci95, "unit": "mbb/g", "is": "estimate"}

    return measure_strength


def _exploited(threads: int) -> Measure:
    """Exploitability in the real game, exact or a lower bound, and in the abstract one where it is known."""
    from riverboat.evaluation import best_response
    from riverboat.evaluation.lower_bound import lower_bound
    from riverboat.solving.abstract_response import abstract_quality

    def measure_both(now: BlueprintStrategy, before: BlueprintStrategy | None) -> Mapping[str, Any]:
        inside = None
        if best_response.estimate(now.tree).seconds > EXACT * threads:
            bound = lower_bound(now, BOUND_BOARDS, threads=threads)
            found = {"exploitability": bound.mbb_per_game, "ci95": bound.ci95, "unit": "mbb/g", "is": "bound"}
        else:
            real = best_response.quality(now, threads, self_play=False)
            found = {"exploitability": real.mbb_per_game, "unit": "mbb/g", "is": "exact"}
            with suppress(InputError):  # many boards, or buckets that forget
                inside = 1000 * abstract_quality(now).exploitability / now.rules.big_blind
        return {**found, "abstract_exploitability": inside}

    return measure_both


def _plot(run: Path, picture: Path) -> None:
    """How the snapshots of a run do against its end."""
    from riverboat.interfaces import reproducing
    from riverboat.reproduce.blueprint_convergence import head_to_head

    report = head_to_head(run)
    reproducing.picture(report, "snapshots against the last strategy", picture)
    for row in report.rows:
        say(f"{row.name}: {row.ours:+,.0f} mbb/g  {row.note}")
    say(f"picture: {picture}")


# --- sizes ------------------------------------------------------------------------------------------


def _cards(recipe: TrainRecipe, given: str | None) -> tuple[CardAbstraction, Path | None]:
    """The card abstraction and its folder."""
    if given is None or given == "lossless":
        return lossless(recipe.rules.board[1:], recipe.rules.deck), None
    return load_abstraction(given), Path(given)


def _buckets(recipe: TrainRecipe) -> tuple[int, ...]:
    """Buckets of the cards that a recipe is made for."""
    if recipe.abstraction == "lossless":
        return lossless(recipe.rules.board[1:], recipe.rules.deck).counts
    from riverboat.abstraction.recipe import load_recipe

    return load_recipe(recipe.abstraction).counts[: recipe.rules.rounds]


def _counts(recipe: TrainRecipe, buckets: tuple[int, ...]) -> Counts:
    return measure(recipe.rules, recipe.menu).counts(buckets, BYTES[recipe.dtype])


def _sizes(counts: Counts) -> dict[str, Any]:
    return {
        "nodes": counts.shape.nodes,
        "buckets": list(counts.buckets),
        "information_sets": sum(counts.infosets),
        "infoset_actions": sum(counts.infoset_actions),
        "memory_mb": round(sum(counts.bytes) / 1e6, 3),
        "bytes_per_infoset_action": counts.entry_bytes,
    }


def _hours(recipe: TrainRecipe, counts: Counts, options: Options) -> dict[str, Any]:
    """How often a run visits what it has to learn, at the rate that was measured."""
    time = recipe.time if options.time is None else options.time
    if time is None:
        return {"time": None}
    visits = RATE * duration(time) * options.threads
    return {"time": time, "threads": options.threads, "visits_per_information_set": visits / sum(counts.infosets)}


def _tell(planned: dict[str, Any], counts: Counts, json: bool, console: Console) -> None:
    if json:
        emit(planned)
        return
    console.print(counts)
    if planned["time"] is not None:
        each = planned["visits_per_information_set"]
        console.print(
            f"{planned['time']} on {planned['threads']} threads: about {each:,.3g} visits of each information set, "
            f"at {RATE:,.0f} visits a second and thread",
        )


# --- while it runs ------------------------------------------------------------------------------------


class _Display(ProgressLine):
    """Strength first, where it is measured, then how long it takes and what was visited."""

    last: Progress | None = None
    known: tuple[str, ...] = ("", "", "")

    def __call__(self, now: Progress) -> None:
        if now.touched is not None:
            self.known = _strength(now.strength), f"regret {now.regret:.3g}", f"{now.touched:,} touched"
        self.last = now
        strength, *visited = self.known
        left = f"{show_seconds(now.left)} left" if now.left is not None else ""
        self.update(now.share, strength, left, f"{now.iterations:,} iterations", f"{now.rate:,.3g}/s", *visited)


def _strength(found: Mapping[str, Any] | None) -> str:
    if not found:
        return ""
    if "exploitability" in found:
        inside = found.get("abstract_exploitability")
        real = f"exploitability {found['exploitability']:.4g} {found['unit']} ({found['is']})"
        return real if inside is None else f"{real}, {inside:.4g} in the abstract game"
    return f"{found['against_snapshot']:+.0f} ± {found['ci95']:.0f} mbb/g against the last snapshot"


def _facts(run: Training, strategy: BlueprintStrategy, last: Progress | None, options: Options) -> dict[str, Any]:
    solver = run.solver
    return {
        "out": str(options.out),
        "iterations": solver.iterations,
        "seconds": round(run.seconds, 3),
        "iterations_per_second": solver.iterations / run.seconds if run.seconds else 0.0,
        "updates_per_second": solver.updates / run.seconds if run.seconds else 0.0,
        "touched": sum(solver.touched()),
        "regret": sum(solver.regret()),
        "strength": dict(last.strength) if last is not None and last.strength else None,
        "threads": options.threads,
        "seed": options.seed,
        "units": {"regret": "chips a hand, an estimate", "updates": "decisions visited"},
        "game": strategy.rules.name,
    }
