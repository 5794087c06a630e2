"""`rb.train`: train a blueprint by sampled CFR over a betting tree and card buckets, in a folder that agents play from.

trained = train("demo", abstraction="runs/tiny", out="runs/blueprint", time=60)
trained.strategy, trained.claims    # the blueprint, and its strength at the last evaluation
match("runs/blueprint", "rule-based")
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, load_abstraction, lossless_abstraction
from riverboat.abstraction.recipe import load_recipe as load_abstraction_recipe
from riverboat.abstraction.recipe import preset_names as abstraction_names
from riverboat.api.abstract import abstract
from riverboat.api.devices import note_cpu_fallback
from riverboat.api.options import Duration, Flag, Limits, PositiveCount, Seed, Threads, checked, parse_seconds
from riverboat.core import files as core_files
from riverboat.core import validation
from riverboat.core.cache import user_folder
from riverboat.core.claims import Claim, to_dicts
from riverboat.core.errors import MAX_THREADS, InputError, MemoryLimitError
from riverboat.core.formatting import format_bytes, parse_duration
from riverboat.core.observer import SILENT, Observer
from riverboat.core.resources import available_memory
from riverboat.engines.devices import CPU, CUDA, check_device, resolve_device
from riverboat.games.holdem.action_tree import StrategyTableSize, compile_action_tree, measure_action_tree
from riverboat.solvers.mccfr import recipe as recipes
from riverboat.solvers.mccfr.recipe import TrainRecipe
from riverboat.solvers.mccfr.trainer import BlueprintTrainer
from riverboat.solvers.mccfr.training import TrainableSolver, Training, TrainingProgress
from riverboat.strategies import files
from riverboat.strategies.blueprint import ABSTRACTION_FOLDER, Blueprint, load_blueprint

BYTES_PER_ACTION = {"float32": 8, "16-bit": 4}  # per infoset and action: regret and average
DUEL_HANDS = 400_000
SMALL_SECONDS = 5.0  # longest best response that is used as the measure of strength
EXACT_SECONDS = 60.0  # the same with `exploitability`, per thread; beyond it, a lower bound is computed
BOUND_BOARDS = 300  # boards of that lower bound
LOSSLESS = "lossless"
SIZED_RECIPE = "default"  # recipe whose number of buckets follows from the training time
NO_RECIPE = "train: name a recipe, or give time=… alone: it then determines the number of buckets"
VISITS_PER_SECOND = 1e7  # visits per second and thread; 1.2e7 were measured with tables of 6.6 GB on 16 cores


@dataclass(frozen=True)
class TrainingResult:
    """Result of training.

    Attributes
    ----------
    game
        Name of the game.
    out
        Folder of the run.
    iterations
        Iterations so far.
    seconds
        Seconds of training over all sessions, and of the run of the warm start.
    updates
        Decisions visited.
    touched
        Information sets visited.
    regret
        Estimate in chips per hand, both seats together.
    strength
        Last evaluation; None if there was none.
    threads, seed
        Threads and seed of the run.
    ended
        `limit` or `stopped`.
    strategy
        The blueprint.

    Examples
    --------
    >>> import riverboat as rb
    >>> trained = rb.train("demo", abstraction="runs/tiny", out="runs/blueprint", time="60s")  # doctest: +SKIP
    >>> trained.claims  # doctest: +SKIP
    """

    game: str
    out: Path
    iterations: int
    seconds: float
    updates: int
    touched: int
    regret: float
    strength: Mapping[str, Any] | None
    threads: int
    seed: int
    ended: str
    strategy: Blueprint = field(repr=False, compare=False)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Figures of the last measurement of strength, each with its kind and unit; empty if there was none."""
        return () if self.strength is None else tuple(Claim.from_dict(each) for each in self.strength["claims"])

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object, without the strategy."""
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


@dataclass(frozen=True)
class TrainPlan:
    """What a training is about to do.

    Attributes
    ----------
    recipe
        The recipe.
    counts
        Nodes, information sets and bytes of the tables.
    seconds
        Time limit in seconds; None without one.
    threads, device
        Threads and device of the training.

    Examples
    --------
    >>> plan_training("demo").to_dict()["recipe"]
    'demo'
    """

    recipe: TrainRecipe
    counts: StrategyTableSize
    seconds: float | None
    threads: int
    device: str

    @property
    def visits_per_infoset(self) -> float | None:
        """Expected visits of each information set at the measured rate; None without a time limit, or on a GPU."""
        if self.seconds is None or self.device != "cpu":
            return None
        return VISITS_PER_SECOND * self.seconds * self.threads / sum(self.counts.infosets)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as the JSON object of `riverboat train --estimate`."""
        counts = self.counts
        facts = {
            "recipe": self.recipe.name,
            "about": self.recipe.about,
            "nodes": counts.tree_size.nodes,
            "buckets": list(counts.buckets),
            "information_sets": sum(counts.infosets),
            "infoset_actions": sum(counts.infoset_actions),
            "memory_mb": round(sum(counts.bytes) / 1e6, 3),
            "bytes_per_infoset_action": counts.entry_bytes,
        }
        if self.visits_per_infoset is None:
            return facts | {"time": None}
        own = self.recipe.time is not None and self.seconds == parse_duration(self.recipe.time)
        return facts | {
            "time": self.recipe.time if own else f"{self.seconds:g}s",
            "threads": self.threads,
            "visits_per_information_set": self.visits_per_infoset,
        }


@checked
def train(
    recipe: str | Path | TrainRecipe | None = None,
    *,
    out: str | Path,
    abstraction: str | Path | None = None,
    time: Duration | None = None,
    iterations: PositiveCount | None = None,
    threads: Threads = 2,
    seed: Seed = 0,
    mode: Literal["racing", "deterministic"] = "racing",
    resume: bool = False,
    check_seconds: Annotated[Duration, Flag("--check")] = 60.0,
    checkpoint_seconds: Annotated[Duration, Flag("--checkpoint")] = 300.0,
    cluster: str | None = None,
    blades: Annotated[int, Limits(1, MAX_THREADS)] | None = None,
    begin: str | Path | None = None,
    device: str = "cpu",
    exploitability: Annotated[bool, Flag("--log-exploitability")] = False,
    callback: Callable[[TrainingProgress], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
    observer: Observer = SILENT,
) -> TrainingResult:
    """Train a blueprint in a folder: Monte Carlo CFR over a betting tree and card buckets.

    An interrupt (Ctrl-C) writes a checkpoint between two steps and is raised again.

    Parameters
    ----------
    recipe
        A preset (`riverboat train --list`), a .toml file, or a recipe; by default a size that fits `time`.
    out
        Folder of the run.
    abstraction
        Folder of a card abstraction, or lossless; by default that of the recipe, which is built if it is missing.
    time
        Stop after 90s, 5m, 8h of training. By default the recipe's time, unless `iterations` is given.
    iterations
        Stop after this many deals (on a GPU: boards).
    threads
        Threads that train.
    seed
        Seed of the random numbers.
    mode
        racing, or deterministic (same result on any number of threads).
    resume
        Continue from the last checkpoint. Recipe, seed and mode must be the same; limits include earlier sessions.
    check_seconds
        Time between two strength measurements.
    checkpoint_seconds
        Time between two checkpoints.
    cluster
        Train on a cluster: local, auto, or a Ray address; by default in one process. With none, head and blades run in one
        process.
    blades
        With a cluster: number of blades, 2 by default.
    begin
        Warm start: a run with fewer buckets or bets; not counted in time and iterations. The result includes its time and
        iterations (`solvers.mccfr.warm_start`).
    device
        cpu, cuda (all hands of many boards in parallel), or auto.
    exploitability
        At every check, log exploitability (exact or a bound), also in the abstract game.
    callback
        Called with the progress.
    stop
        Called between steps; training stops if it returns True.
    observer
        Receives the size of the training, its progress and notes.

    Returns
    -------
    TrainingResult
        The blueprint, its folder and its last evaluation.

    Raises
    ------
    InputError
        If an option is invalid, or `abstraction` is none.
    MemoryLimitError
        If the tables do not fit.

    Examples
    --------
    >>> import tempfile
    >>> text = "game = 'leduc'\\n[training]\\nweighting = 'linear'\\nperiod = 640\\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "leduc.toml"
    ...     _ = path.write_text(text)
    ...     train(path, out=Path(folder) / "run", abstraction="lossless", iterations=640).iterations
    640
    """
    seconds = None if time is None else parse_seconds(time)
    validation.check_thread_count(threads)
    validation.check_integer("seed", seed)
    validation.check_text("mode", mode)
    validation.optional(validation.check_path, "abstraction", abstraction)
    validation.optional(validation.check_path, "begin", begin)
    validation.optional(validation.check_integer, "iterations", iterations)
    validation.optional(validation.check_text, "cluster", cluster)
    validation.optional(validation.check_integer, "blades", blades, 1)
    check_device(device)
    if device != CPU and (cluster is not None or mode != "racing"):
        raise InputError(f"device {device!r}: cluster and mode need external sampling on the CPU")
    if cluster is not None and mode != "racing":
        raise InputError(f"mode {mode!r} and cluster={cluster}: threads of blades always race; use one of the two")
    if blades is not None and cluster is None:
        raise InputError(f"blades={blades}: needs cluster: local, auto or a Ray address")
    if begin is not None and cluster is not None:
        raise InputError(f"begin={begin} and cluster={cluster}: a distributed run cannot have a warm start")
    validation.check_path("out", out)
    options: dict[str, Any] = {
        "seed": seed, "threads": threads, "mode": mode, "device": device, "cluster": cluster, "blades": blades,
        "iterations": iterations, "resume": resume, "check_seconds": parse_seconds(check_seconds, "check_seconds"),
        "checkpoint_seconds": parse_seconds(checkpoint_seconds, "checkpoint_seconds"), "exploitability": exploitability,
        "callback": callback, "stop": stop, "observer": observer,
    }  # fmt: skip
    if recipe is None:
        if seconds is None or abstraction is not None:
            raise InputError(NO_RECIPE)
        return _train_for_time(Path(out), seconds, begin, options)
    return _train_recipe(load_recipe(recipe), Path(out), abstraction, seconds, begin, options)


def plan_training(
    recipe: str | Path | TrainRecipe | None = None,
    *,
    abstraction: str | Path | None = None,
    time: Duration | None = None,
    iterations: int | None = None,
    threads: int = 2,
    device: str = "cpu",
) -> TrainPlan:
    """Return the size of a training, without training.

    Parameters
    ----------
    recipe
        A preset, a .toml file, or a recipe; by default a size that fits `time`.
    abstraction
        Folder of a card abstraction, or lossless; by default the numbers of buckets that the recipe names.
    time
        Time of training: 90s, 5m, 8h, or seconds.
    iterations
        Number of deals.
    threads
        Threads that train.
    device
        cpu, cuda or auto.

    Returns
    -------
    TrainPlan
        Nodes, information sets, bytes, and visits of each information set.

    Examples
    --------
    >>> plan_training("demo").counts.tree_size.nodes > 1000
    True
    """
    seconds = None if time is None else parse_seconds(time)
    if recipe is None and seconds is None:
        raise InputError(NO_RECIPE)
    resolved = resolve_device(device)
    loaded = load_recipe(SIZED_RECIPE if recipe is None else recipe)
    if recipe is None:
        size = recipes.training_size_for(seconds or 0.0, threads, device=resolved != CPU)
        loaded = replace(loaded, abstraction=size.cards)
    if resolved != CPU:
        loaded.check_device()
    if abstraction is None and loaded.abstraction == LOSSLESS:
        abstraction = LOSSLESS
    cards = None if abstraction is None else _load_cards(loaded, abstraction)[0]
    counts, limit = _training_counts(loaded, cards), _time_limit(loaded, seconds, iterations)
    return TrainPlan(loaded, counts, limit, threads, resolved)


def training_presets() -> dict[str, TrainRecipe]:
    """Return the training recipes that come with Riverboat.

    Returns
    -------
    dict
        Recipes by name.

    Examples
    --------
    >>> {"demo", "default"} <= set(training_presets())
    True
    """
    return {name: load_recipe(name) for name in recipes.presets()}


# --- Running ---


def load_recipe(recipe: str | Path | TrainRecipe) -> TrainRecipe:
    """Return a recipe, loaded by the name of a preset or the path of a file.

    Parameters
    ----------
    recipe
        A preset, a .toml file, or a recipe.

    Returns
    -------
    TrainRecipe
        The recipe.

    Examples
    --------
    >>> load_recipe("demo").name
    'demo'
    """
    if isinstance(recipe, TrainRecipe):
        return recipe
    validation.check_path("recipe", recipe)
    return recipes.load_train_recipe(recipe)


def _time_limit(recipe: TrainRecipe, time: float | None, iterations: int | None) -> float | None:
    """Return the seconds of training: those given, else the recipe's unless iterations are given; None: no limit."""
    if time is None and (recipe.time is None or iterations is not None):
        return None
    return time if time is not None else parse_duration(recipe.time or "")


def _provenance(recipe: TrainRecipe, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the recipe and options that determine the result; game, menu and cards are stored separately."""
    weighting, pruning = recipe.weighting, recipe.pruning
    blades = None if options["cluster"] is None else options["blades"] or 2
    return {
        "recipe": recipe.name,
        **{name: options[name] for name in ("seed", "threads", "mode")},
        "traversal": recipe.traversal,
        "dtype": recipe.dtype,
        "weighting": str(weighting.schedule),
        "period": weighting.period,
        "until": weighting.until,
        "prune": None if pruning is None else -pruning.threshold / recipe.rules.big_blind,
        "prune_after": None if pruning is None else pruning.after,
        "runouts": recipe.runouts,
        "blades": blades,
        **({} if options["device"] == CPU else {"device": options["device"]}),
    }


def _train_recipe(
    recipe: TrainRecipe,
    folder: Path,
    abstraction: str | Path | None,
    time: float | None,
    begin: str | Path | None,
    options: Mapping[str, Any],
) -> TrainingResult:
    """Train by a recipe in a folder, with a time limit in seconds; `begin` is the run of a warm start.

    `options` are the settings of the trainer, limits, checks and callbacks.
    """
    from riverboat.solvers.mccfr.warm_start import trainer_from_checkpoint, warm_start

    observer: Observer = options["observer"]
    note_cpu_fallback(observer, options["device"])
    options = {**options, "device": resolve_device(options["device"])}
    threads = options["threads"]
    if options["device"] != CPU:
        recipe.check_device()
    if abstraction is None:
        abstraction = _default_cards(recipe, folder, options)
    cards, path = _load_cards(recipe, abstraction)
    counts, limit = _training_counts(recipe, cards), _time_limit(recipe, time, options["iterations"])
    observer.plan(TrainPlan(recipe, counts, limit, threads, options["device"]))
    _check_memory(recipe, counts)
    last: list[TrainingProgress] = []
    stop_requested: list[bool] = []

    def report(current: TrainingProgress) -> None:
        if current.strength:
            last[:] = [current]
        observer.progress(current)
        if options["callback"] is not None:
            options["callback"](current)

    def stopped() -> bool:
        stop_requested[:] = [options["stop"]()]
        return stop_requested[0]

    measure = partial(_measure_exploitability if options["exploitability"] else _measure_strength, threads)
    times = {name: options[name] for name in ("checkpoint_seconds", "check_seconds")}
    with core_files.folder_lock(folder), _make_trainer(recipe, cards, path, options) as solver:
        training = Training(
            solver, folder, path, _provenance(recipe, options), progress=report, measure=measure, **times
        )
        if begin is not None and isinstance(solver, BlueprintTrainer) and not files.checkpoints(folder):
            # first: an error must not leave a started run
            coarse, seconds = trainer_from_checkpoint(begin, threads)
            warm_start(coarse, solver)
            training.start_from(solver.iterations, seconds)
        training.start_or_resume(options["resume"])
        strategy = training.run(limit, options["iterations"], stopped)
        return TrainingResult(
            game=recipe.rules.name,
            out=folder,
            iterations=solver.iterations,
            seconds=training.seconds,
            updates=solver.updates,
            touched=sum(solver.visited_infosets()),
            regret=sum(solver.regret_bound()),
            strength=last[0].strength if last else None,
            threads=threads,
            seed=options["seed"],
            ended=STOPPED if stop_requested and stop_requested[0] else LIMIT,
            strategy=strategy,
        )


# --- A size that fits the time ---


def _train_for_time(out: Path, time: float, begin: str | Path | None, options: Mapping[str, Any]) -> TrainingResult:
    """Train with as many buckets as the time can fill, and build the card abstraction if it is missing.

    A run that can start from a coarser abstraction spends part of its time there. A resumed run keeps its own
    abstraction, even if a new run of that time would use a finer one; `time` is the total over all sessions.
    """
    observer, recipe = options["observer"], load_recipe(SIZED_RECIPE)
    coarse_folder = out.with_name(f"{out.name}.begin")
    if options["resume"] and files.checkpoints(out):
        seconds_before = load_blueprint(out).provenance.get("begun_seconds", 0.0)
        time = max(time - seconds_before, 1e-3)  # a limit must be positive
        begin, cards = None, out / ABSTRACTION_FOLDER
    else:
        size = recipes.training_size_for(time, options["threads"], device=resolve_device(options["device"]) != CPU)
        observer.note(f"{size.cards} cards: {size.measured}")
        if size.starts_from is not None and begin is None:
            coarse_options = {**options, "check_seconds": time, "resume": coarse_folder.is_dir()}
            coarse_time = recipes.PREVIOUS_SIZE_SHARE * time
            cards = _build_cards(size.starts_from, options)
            first = _train_recipe(recipe, coarse_folder, cards, coarse_time, None, coarse_options)
            if first.ended == STOPPED:
                return first
            begin, time = coarse_folder, (1 - recipes.PREVIOUS_SIZE_SHARE) * time
        cards = _build_cards(size.cards, options)
    result = _train_recipe(recipe, out, cards, time, begin, options)
    shutil.rmtree(coarse_folder, ignore_errors=True)
    return result


# --- Cards, sizes, trainers ---


def _default_cards(recipe: TrainRecipe, run: Path, options: Mapping[str, Any]) -> str | Path:
    """Return the card abstraction of a training that names none, and build that of the recipe if it is missing.

    A resumed run keeps its own.
    """
    if options["resume"] and files.checkpoints(run) and (run / ABSTRACTION_FOLDER).is_dir():
        return run / ABSTRACTION_FOLDER
    if recipe.abstraction == LOSSLESS:
        return LOSSLESS
    _check_memory(recipe, _training_counts(recipe, None))  # before a build that may take half an hour
    return _build_cards(recipe.abstraction, options)


def _build_cards(cards: str, options: Mapping[str, Any]) -> Path:
    """Build the card abstraction of a recipe in the user's data folder, next to that of the demo, and return its folder.

    Recipes of the user may have equal names, so that their folders have a fingerprint.
    """
    recipe = load_abstraction_recipe(cards)
    name = cards if cards in abstraction_names() else f"{recipe.name}-{recipe.fingerprint[:12]}"
    folder = user_folder("data") / name

    def stop_between_reports(*_: object) -> None:
        if options["stop"]():
            raise KeyboardInterrupt(f"{name}: finished stages of the card abstraction are saved")

    shared: dict[str, Any] = {name: options[name] for name in ("threads", "device", "observer")}
    abstract(recipe, folder, resume=True, progress=stop_between_reports, **shared)
    return folder


def _load_cards(recipe: TrainRecipe, abstraction: str | Path) -> tuple[CardAbstraction, Path | None]:
    """Load the card abstraction of a training, and return it with its folder; that of lossless cards is None."""
    if str(abstraction) == LOSSLESS:
        return lossless_abstraction(recipe.rules.board[1:], recipe.rules.deck), None
    return load_abstraction(abstraction), Path(abstraction)


def _training_counts(recipe: TrainRecipe, cards: CardAbstraction | None) -> StrategyTableSize:
    """Return nodes, information sets and bytes of a training; without `cards`, with the bucket counts of the recipe."""
    buckets = load_abstraction_recipe(recipe.abstraction).counts if cards is None else cards.counts
    tree = measure_action_tree(recipe.rules, recipe.menu)
    return tree.table_size(buckets[: recipe.rules.rounds], BYTES_PER_ACTION[recipe.dtype])


def _check_memory(recipe: TrainRecipe, counts: StrategyTableSize) -> None:
    """Raise MemoryLimitError if the tables do not fit."""
    free = available_memory()
    if free is not None and sum(counts.bytes) > free:
        raise MemoryLimitError(
            f"{recipe.name}: tables need {format_bytes(sum(counts.bytes))}, {format_bytes(free)} are free; "
            "use fewer buckets, a smaller menu or dtype = '16-bit'"
        )


def _make_trainer(
    recipe: TrainRecipe, cards: CardAbstraction, path: Path | None, options: Mapping[str, Any]
) -> AbstractContextManager[TrainableSolver]:
    """Create the trainer: one process, head and blades, or a GPU."""
    tree = compile_action_tree(recipe.rules, recipe.menu)
    mode, cluster = options["mode"], options["cluster"]
    common: dict[str, Any] = {"seed": options["seed"], "weighting": recipe.weighting}
    if options["device"] == CPU or recipe.traversal == "pcs":  # PCS deals the boards on the CPU
        common["threads"] = options["threads"]
    if options["device"] != CPU:
        return nullcontext(BlueprintTrainer(tree, cards, recipe.traversal, device=CUDA, **common))
    common["dtype"] = recipe.dtype
    if recipe.traversal != "external":
        if cluster is not None or mode != "racing":
            raise InputError(f"{recipe.name}: --cluster and --mode need external sampling, not {recipe.traversal}")
        return nullcontext(BlueprintTrainer(tree, cards, recipe.traversal, runouts=recipe.runouts, **common))
    common["prune"] = recipe.pruning
    if cluster is None:
        return nullcontext(BlueprintTrainer(tree, cards, mode=mode, runouts=recipe.runouts, **common))
    if recipe.runouts:
        raise InputError(
            f"{recipe.name}: runouts = {recipe.runouts} and --cluster: blades evaluate only the dealt board"
        )
    from riverboat.solvers.cluster.distributed import DistributedTrainer

    number = options["blades"] or 2
    if cluster in ("local", "none"):  # blades share this machine
        common["threads"] = max(1, options["threads"] // number)
    engine = "local" if cluster == "none" else f"ray:{cluster}"
    return DistributedTrainer(tree, cards, blades=number, engine=engine, cards_path=path, **common)


# --- Strength ---


def _strength_record(claim: Claim, key: str = "exploitability", **more: Any) -> dict[str, Any]:
    """Return the log entry of a measured strength: value, unit, half-width, and whether it is exact or an estimate."""
    record = {key: claim.value, "unit": claim.unit, "is": claim.to_dict()["is"], **more}
    if claim.half_width is not None:
        record["ci95"] = claim.half_width
    return record | {"claims": [claim.to_dict()]}


def _measure_strength(threads: int, current: Blueprint, previous: Blueprint | None) -> Mapping[str, Any]:
    """Measure the exact exploitability in small games, else play a duel with the previous snapshot."""
    from riverboat.evaluation.best_response import exact
    from riverboat.evaluation.matches.duel import duel

    if exact.estimate_cost(current.tree).seconds < SMALL_SECONDS:
        return _strength_record(exact.quality(current, threads).claim)
    if previous is None:
        return {}
    claim = duel(current, previous, DUEL_HANDS, seed=1, threads=threads).claim
    return _strength_record(replace(claim, name="won against the snapshot before"), "against_snapshot")


def _measure_exploitability(threads: int, current: Blueprint, _: Blueprint | None) -> Mapping[str, Any]:
    """Measure exploitability in the full game, exactly or as a lower bound, and in the abstract game."""
    from riverboat.evaluation.best_response import exact
    from riverboat.evaluation.best_response.lower_bound import lower_bound
    from riverboat.solvers.mccfr.abstract_response import abstract_quality

    abstract_value = None
    if exact.estimate_cost(current.tree).seconds > EXACT_SECONDS * threads:
        claim = lower_bound(current, BOUND_BOARDS, threads=threads).claim
    else:
        claim = exact.quality(current, threads, self_play=False).claim
        with suppress(InputError):  # too many boards, or imperfect recall
            abstract_value = 1000 * abstract_quality(current).exploitability / current.rules.big_blind
    return _strength_record(claim, abstract_exploitability=abstract_value)
