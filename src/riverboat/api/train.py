"""`rb.train`: a blueprint, sampled CFR over a betting tree and buckets of cards, in a folder that agents play from.

trained = train("demo", abstraction="runs/tiny", out="runs/blueprint", time=60)
trained.strategy, trained.claims    # what was learnt, and how strong it was at the last check
match("runs/blueprint", "rule-based")
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, load_abstraction, lossless
from riverboat.core import atomic_io
from riverboat.core import validation as given
from riverboat.core.claims import Claim, to_dicts
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.core.formatting import duration, show_bytes
from riverboat.core.resources import available_memory
from riverboat.engines.devices import CPU, check_device, choose
from riverboat.games.holdem.action_tree import ActionTree, compile_actions, measure
from riverboat.games.holdem.tree_sizes import Counts
from riverboat.solvers.mccfr.recipe import TrainRecipe, load_train_recipe
from riverboat.solvers.mccfr.training import Measure, Progress, Solver, Training
from riverboat.strategies import files
from riverboat.strategies.blueprint import BlueprintStrategy

BYTES = {"float32": 8, "16-bit": 4}  # an infoset-action: regret and average
DUEL_HANDS = 400_000
SMALL = 5.0  # seconds that a best response may take, for it to be the measure of strength
EXACT_SECONDS = 60.0  # the same where exploitability is asked for at every check; else a bound
BOUND_BOARDS = 300  # that it is paid on
LOSSLESS = "lossless"


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """How to train what a recipe says. What decides the answer is written down with it, and compared by `resume`."""

    abstraction: str | Path | None = None  # folder of the cards, or lossless
    time: float | None = None  # seconds; the recipe's where nothing says when to stop
    iterations: int | None = None
    threads: int = 2
    seed: int = 0
    mode: str = "racing"  # or deterministic
    resume: bool = False
    check_seconds: float = 60.0  # between two measures of strength
    checkpoint_seconds: float = 300.0
    cluster: str | None = None  # head and blades: local, auto, a Ray address; none: in one process
    blades: int | None = None  # two by default
    exploitability: bool = False  # measured at every check, however large the game is
    begin: str | Path | None = None  # a run with fewer buckets or bets: what it has learnt is where this one begins
    device: str = CPU  # or cuda: on a GPU; or auto

    def __post_init__(self) -> None:
        given.threads(self.threads)
        given.whole("seed", self.seed)
        given.text("mode", self.mode)
        given.unless_none(given.path, "abstraction", self.abstraction)
        given.unless_none(given.path, "begin", self.begin)
        given.unless_none(given.number, "time", self.time)
        given.unless_none(given.whole, "iterations", self.iterations)
        given.unless_none(given.text, "cluster", self.cluster)
        given.unless_none(given.whole, "blades", self.blades)
        given.number("check_seconds", self.check_seconds)
        given.number("checkpoint_seconds", self.checkpoint_seconds)
        check_device(self.device)
        if self.device != CPU and (self.cluster is not None or self.mode != "racing"):
            raise InputError(f"device {self.device!r}: cluster and mode are for external sampling on processors")
        if self.cluster is not None and self.mode != "racing":
            raise InputError(f"mode {self.mode!r} and cluster={self.cluster}: threads of blades race; take one of them")
        if self.blades is not None and self.cluster is None:
            raise InputError(f"blades={self.blades}: goes with a cluster: local, auto or a Ray address")
        if self.begin is not None and self.cluster is not None:
            raise InputError(f"begin={self.begin} and cluster={self.cluster}: tables in many places begin with nothing")
        if self.blades is not None and self.blades < 1:
            raise InputError(f"blades={self.blades}: at least one must play the later streets")

    def limit(self, recipe: TrainRecipe) -> float | None:
        """Seconds of training; None where time does not limit it."""
        if self.time is None and (recipe.time is None or self.iterations is not None):
            return None
        return self.time if self.time is not None else duration(recipe.time or "")

    def provenance(self, recipe: TrainRecipe) -> dict[str, Any]:
        """The whole recipe, as it is written down; game, menu and cards have entries of their own."""
        weighting, pruning = recipe.weighting, recipe.pruning
        return {
            "recipe": recipe.name,
            "seed": self.seed,
            "threads": self.threads,
            "mode": self.mode,
            "traversal": recipe.traversal,
            "dtype": recipe.dtype,
            "weighting": str(weighting.schedule),
            "period": weighting.period,
            "until": weighting.until,
            "prune": None if pruning is None else -pruning.threshold / recipe.rules.big_blind,
            "prune_after": None if pruning is None else pruning.after,
            "runouts": recipe.runouts,
            "blades": None if self.cluster is None else self.blades or 2,
            **({} if self.device == CPU else {"device": self.device}),
        }


@dataclass(frozen=True)
class Trained:
    """What a training has come to."""

    game: str
    out: Path
    iterations: int
    seconds: float  # of training, over all sittings, and of the run that it has begun with
    updates: int  # decisions visited
    touched: int  # information sets visited
    regret: float  # chips a hand, both seats together, an estimate
    strength: Mapping[str, Any] | None  # what the last check said
    threads: int
    seed: int
    ended: str  # limit, or stopped by a stopper
    strategy: BlueprintStrategy = field(repr=False, compare=False)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """How strong it was at the last check."""
        return () if self.strength is None else tuple(Claim.from_dict(each) for each in self.strength["claims"])

    def to_dict(self) -> dict[str, Any]:
        """For JSON, without the strategy."""
        return {
            "out": str(self.out),
            "iterations": self.iterations,
            "seconds": round(self.seconds, 3),
            "iterations_per_second": self.iterations / self.seconds if self.seconds else 0.0,
            "updates_per_second": self.updates / self.seconds if self.seconds else 0.0,
            "touched": self.touched,
            "regret": self.regret,
            "strength": None if self.strength is None else dict(self.strength),
            "claims": to_dicts(self.claims),
            "threads": self.threads,
            "seed": self.seed,
            "units": {"regret": "chips a hand, an estimate", "updates": "decisions visited"},
            "game": self.game,
        }


LIMIT, STOPPED = "limit", "stopped"


def train(
    recipe: str | Path | TrainRecipe,
    *,
    out: str | Path,
    abstraction: str | Path | None = None,
    time: float | None = None,
    iterations: int | None = None,
    threads: int = 2,
    seed: int = 0,
    mode: str = "racing",
    resume: bool = False,
    check_seconds: float = 60.0,
    checkpoint_seconds: float = 300.0,
    cluster: str | None = None,
    blades: int | None = None,
    exploitability: bool = False,
    begin: str | Path | None = None,
    device: str = CPU,
    callback: Callable[[Progress], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Trained:
    """Train a recipe (a preset, a file, or as it is) in a folder until `time` (seconds), `iterations` or `stop()`.

    On a GPU (`device`) deals are walked by thousands, or with `traversal = "pcs"` all hands of boards.
    `begin` is a run with fewer buckets or bets, whose regrets and averages are carried over (`solvers.mccfr.warm_start`); its
    time and its iterations are part of the result's, but no limit counts them.
    `resume` goes on there, with the same recipe, seed and mode; limits count earlier sittings. An interrupt (Ctrl-C) writes a
    checkpoint, between two steps, and is raised again.
    """
    options = TrainOptions(
        abstraction=abstraction, time=time, iterations=iterations, threads=threads, seed=seed, mode=mode, resume=resume,
        check_seconds=check_seconds, checkpoint_seconds=checkpoint_seconds, cluster=cluster, blades=blades,
        exploitability=exploitability, begin=begin, device=device,
    )  # fmt: skip
    return train_with(recipe, out, options, callback, stop)


def train_with(
    recipe: str | Path | TrainRecipe,
    out: str | Path,
    options: TrainOptions,
    callback: Callable[[Progress], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Trained:
    """The same with the options in one object."""
    given.path("out", out)
    if not isinstance(recipe, TrainRecipe):
        given.path("recipe", recipe)
    made = recipe if isinstance(recipe, TrainRecipe) else load_train_recipe(recipe)
    options = replace(options, device=choose(options.device))
    if options.device != CPU:
        made.check_device()
    cards, path = cards_of(made, options.abstraction)
    check_memory(made, counts_of(made, cards))
    last: list[Progress] = []
    asked: list[bool] = []

    def note(now: Progress) -> None:
        if now.strength:
            last[:] = [now]
        if callback is not None:
            callback(now)

    def stopped() -> bool:
        asked[:] = [stop()]
        return asked[0]

    from riverboat.solvers.mccfr.trainer import Blueprint
    from riverboat.solvers.mccfr.warm_start import blueprint_of, carry

    folder = Path(out)
    with atomic_io.held(folder), solver_of(made, cards, path, options) as solver:
        run = Training(
            solver,
            folder,
            path,
            options.provenance(made),
            checkpoint_seconds=options.checkpoint_seconds,
            check_seconds=options.check_seconds,
            progress=note,
            measure=_exploited(options.threads) if options.exploitability else _measure(options.threads),
        )
        if options.begin is not None and isinstance(solver, Blueprint) and not files.checkpoints(folder):
            coarse, seconds = blueprint_of(
                options.begin, options.threads
            )  # first: what is refused leaves nothing behind
            carry(coarse, solver)
            run.begin_with(solver.iterations, seconds)
        run.open(options.resume)
        strategy = run.run(options.limit(made), options.iterations, stopped)
        return Trained(
            game=made.rules.name,
            out=folder,
            iterations=solver.iterations,
            seconds=run.seconds,
            updates=solver.updates,
            touched=sum(solver.touched()),
            regret=sum(solver.regret()),
            strength=last[0].strength if last else None,
            threads=options.threads,
            seed=options.seed,
            ended=STOPPED if asked and asked[0] else LIMIT,
            strategy=strategy,
        )


# --- cards, sizes, solvers --------------------------------------------------------------------------


def cards_of(recipe: TrainRecipe, given: str | Path | None) -> tuple[CardAbstraction, Path | None]:
    """The card abstraction of a training and its folder."""
    if given is None and recipe.abstraction != LOSSLESS:
        raise InputError(
            f"no --abstraction: {recipe.name} is made for {recipe.abstraction!r} cards; make them with "
            f"riverboat abstract {recipe.abstraction} --out DIR"
        )
    if given is None or str(given) == LOSSLESS:
        return lossless(recipe.rules.board[1:], recipe.rules.deck), None
    return load_abstraction(given), Path(given)


def counts_of(recipe: TrainRecipe, cards: CardAbstraction | None = None) -> Counts:
    """Nodes, information sets and bytes of a training; without cards, with the buckets that its recipe is made for."""
    if cards is None and recipe.abstraction == LOSSLESS:
        cards = lossless(recipe.rules.board[1:], recipe.rules.deck)
    if cards is not None:
        buckets = cards.counts
    else:
        from riverboat.abstraction.recipe import load_recipe

        buckets = load_recipe(recipe.abstraction).counts
    return measure(recipe.rules, recipe.menu).counts(buckets[: recipe.rules.rounds], BYTES[recipe.dtype])


def check_memory(recipe: TrainRecipe, counts: Counts) -> None:
    """Refuse tables that do not fit."""
    free = available_memory()
    if free is not None and sum(counts.bytes) > free:
        raise MemoryLimitError(
            f"{recipe.name}: tables of {show_bytes(sum(counts.bytes))}, {show_bytes(free)} are free; "
            "fewer buckets, a smaller menu or dtype = '16-bit' make it smaller"
        )


def _on_device(recipe: TrainRecipe, tree: ActionTree, cards: CardAbstraction, options: TrainOptions) -> Solver:
    """By deals, or by boards with all hands, which threads of the processor deal."""
    if recipe.traversal == "external":
        from riverboat.solvers.mccfr.cuda_external import DeviceSampling

        return DeviceSampling(tree, cards, seed=options.seed, weighting=recipe.weighting)
    from riverboat.solvers.mccfr.cuda_vectors import VectorSampling

    return VectorSampling(tree, cards, seed=options.seed, threads=options.threads, weighting=recipe.weighting)


@contextmanager
def solver_of(
    recipe: TrainRecipe, cards: CardAbstraction, path: Path | None, options: TrainOptions
) -> Iterator[Solver]:
    """One process, head and blades, or a GPU."""
    from riverboat.solvers.mccfr.samplers import make_blueprint
    from riverboat.solvers.mccfr.trainer import Blueprint

    tree = compile_actions(recipe.rules, recipe.menu)
    if options.device != CPU:
        yield _on_device(recipe, tree, cards, options)
        return
    if recipe.traversal != "external":
        if options.cluster is not None or options.mode != "racing":
            raise InputError(
                f"{recipe.name}: --cluster and --mode are for external sampling, not for {recipe.traversal}"
            )
        chosen: dict[str, Any] = {"seed": options.seed, "threads": options.threads, "weighting": recipe.weighting}
        chosen["runouts"] = recipe.runouts
        yield make_blueprint(tree, cards, recipe.traversal, dtype=recipe.dtype, **chosen)
        return
    common: dict[str, Any] = {"seed": options.seed, "threads": options.threads, "dtype": recipe.dtype}
    common |= {"weighting": recipe.weighting, "prune": recipe.pruning}
    if options.cluster is None:
        yield Blueprint(tree, cards, mode=options.mode, runouts=recipe.runouts, **common)
        return
    if recipe.runouts:
        raise InputError(f"{recipe.name}: runouts = {recipe.runouts} and --cluster: blades pay the board that is dealt")
    from riverboat.solvers.cluster.distributed import Distributed

    blades = options.blades or 2
    alone = options.cluster in ("local", "none")  # blades share this machine
    common["threads"] = max(1, options.threads // blades) if alone else options.threads
    engine = "local" if options.cluster == "none" else f"ray:{options.cluster}"
    with Distributed(tree, cards, blades=blades, engine=engine, cards_path=path, **common) as solver:
        yield solver


# --- strength ---------------------------------------------------------------------------------------


def _strength(claim: Claim, key: str = "exploitability", **more: Any) -> dict[str, Any]:
    """A check as logs have it; the claim says the same."""
    told = {key: claim.value, "unit": claim.unit, "is": claim.to_dict()["is"], **more}
    if claim.half_width is not None:
        told["ci95"] = claim.half_width
    return told | {"claims": [claim.to_dict()]}


def _measure(threads: int) -> Measure:
    """Exact exploitability where the game is small, else a duel with the snapshot before."""
    from riverboat.evaluation.best_response import exact
    from riverboat.evaluation.matches.duel import duel

    def measure_strength(now: BlueprintStrategy, before: BlueprintStrategy | None) -> Mapping[str, Any]:
        if exact.estimate(now.tree).seconds < SMALL:
            return _strength(exact.quality(now, threads).claim)
        if before is None:
            return {}
        won = duel(now, before, DUEL_HANDS, seed=1, threads=threads).claim
        return _strength(replace(won, name="won against the snapshot before"), "against_snapshot")

    return measure_strength


def _exploited(threads: int) -> Measure:
    """Exploitability in the real game, exact or a lower bound, and in the abstract one where it is known."""
    from riverboat.evaluation.best_response import exact
    from riverboat.evaluation.best_response.lower_bound import lower_bound
    from riverboat.solvers.mccfr.abstract_response import abstract_quality

    def measure_both(now: BlueprintStrategy, before: BlueprintStrategy | None) -> Mapping[str, Any]:
        inside = None
        if exact.estimate(now.tree).seconds > EXACT_SECONDS * threads:
            claim = lower_bound(now, BOUND_BOARDS, threads=threads).claim
        else:
            claim = exact.quality(now, threads, self_play=False).claim
            with suppress(InputError):  # many boards, or buckets that forget
                inside = 1000 * abstract_quality(now).exploitability / now.rules.big_blind
        return _strength(claim, abstract_exploitability=inside)

    return measure_both
