"""`rb.train`: train a blueprint by sampled CFR over a betting tree and card buckets, in a folder that agents play from.

trained = train("demo", abstraction="runs/tiny", out="runs/blueprint", time=60)
trained.strategy, trained.claims    # the blueprint, and its strength at the last evaluation
match("runs/blueprint", "rule-based")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from riverboat.api.options import Duration, Flag, Limits, PositiveCount, Seed, Threads, parse_seconds
from riverboat.core import validation
from riverboat.core.claims import Claim, to_dicts
from riverboat.core.errors import MAX_THREADS, InputError
from riverboat.core.formatting import parse_duration
from riverboat.core.observer import SILENT, Observer

if TYPE_CHECKING:
    from riverboat.games.holdem.action_tree import StrategyTableSize
    from riverboat.solvers.mccfr.recipe import TrainRecipe
    from riverboat.solvers.mccfr.training import TrainingProgress
    from riverboat.strategies.blueprint import Blueprint

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
        Folder of a card abstraction, or lossless.
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
        If an option is invalid, or the card abstraction is missing.
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
    from riverboat.api import training

    seconds = None if time is None else parse_seconds(time)
    settings: dict[str, Any] = {
        "seed": seed, "threads": threads, "mode": mode, "device": device, "cluster": cluster, "blades": blades,
    }  # fmt: skip
    training.check_settings(begin=begin, abstraction=abstraction, time=seconds, iterations=iterations, **settings)
    validation.check_path("out", out)
    run: dict[str, Any] = {
        "iterations": iterations, "resume": resume, "check_seconds": parse_seconds(check_seconds, "check_seconds"),
        "checkpoint_seconds": parse_seconds(checkpoint_seconds, "checkpoint_seconds"), "exploitability": exploitability,
        "callback": callback, "stop": stop, "observer": observer,
    }  # fmt: skip
    if recipe is None:
        if seconds is None or abstraction is not None:
            raise InputError("train: name a recipe, or give time=… alone: it then determines the number of buckets")
        return training.train_for_time(Path(out), seconds, begin, settings, run)
    return training.train_recipe(training.load_recipe(recipe), Path(out), abstraction, seconds, begin, settings, run)


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
    from riverboat.api import training

    seconds = None if time is None else parse_seconds(time)
    if recipe is None and seconds is None:
        raise InputError("train: name a recipe, or give time=… alone: it then determines the number of buckets")
    return training.plan(recipe, abstraction, seconds, iterations, threads, device)


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
    from riverboat.api.training import load_recipe
    from riverboat.solvers.mccfr.recipe import presets

    return {name: load_recipe(name) for name in presets()}
