"""Trained blueprints of experiments: trainers, average strategies, exploitability in the abstract and the real game."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, load_abstraction
from riverboat.abstraction.cards.percentile_buckets import percentile_abstraction
from riverboat.core.cache import cache_folder
from riverboat.core.errors import RiverboatError
from riverboat.evaluation.best_response.exact import quality
from riverboat.games.holdem.action_tree import ActionTree, compile_action_tree
from riverboat.games.holdem.menus import ActionMenu
from riverboat.games.holdem.rules import PokerRules
from riverboat.papers.framework import Curve
from riverboat.solvers.mccfr.abstract_response import abstract_quality
from riverboat.solvers.mccfr.trainer import BlueprintTrainer
from riverboat.strategies.blueprint import Blueprint

AbstractGame: TypeAlias = tuple[ActionTree, CardAbstraction]


def percentile_game(rules: PokerRules, num_buckets: int, menu: ActionMenu | None = None) -> AbstractGame:
    """Return a game with `num_buckets` percentiles of E[HS²] in each bucket of the street before (perfect recall)."""
    cards = percentile_abstraction(num_buckets, "square", rules.deck, rules.board[1:])
    return compile_action_tree(rules, menu), cards


def cached_abstraction(name: str, build: Callable[[Path], CardAbstraction]) -> CardAbstraction:
    """Load a card abstraction from the cache; `build` makes it the first time and saves it in the folder."""
    folder = cache_folder() / "reproduce" / name
    try:
        return load_abstraction(folder)
    except (OSError, RiverboatError):
        folder.parent.mkdir(parents=True, exist_ok=True)
        return build(folder)


def average_strategy(trainer: BlueprintTrainer) -> Blueprint:
    """Return the current average strategy of a trainer as a blueprint."""
    tree = trainer.tree
    average = tuple(trainer.averages(street) for street in range(tree.rules.rounds))
    return Blueprint(tree.rules, tree.menu, tree, trainer.cards, average, {"iterations": trainer.iterations})


def train_blueprint(game: AbstractGame, traversal: str, iterations: int, **options: Any) -> Blueprint:
    """Train a blueprint for a number of iterations; options are those of the trainer."""
    trainer = BlueprintTrainer(*game, traversal, **options)
    trainer.step(iterations)
    return average_strategy(trainer)


def make_compiled_trainer(game: AbstractGame, traversal: str, seed: int) -> BlueprintTrainer:
    """Make a trainer whose kernels are compiled already, so that its first step can be timed."""
    BlueprintTrainer(*game, traversal).step(1)
    return BlueprintTrainer(*game, traversal, seed=seed)


def real_exploitability(trainer: BlueprintTrainer) -> float:
    """Return the exact exploitability of the average strategy in the real game, in mbb/g."""
    return quality(average_strategy(trainer), threads=2, self_play=False).mbb_per_game


def abstract_exploitability(trainer: BlueprintTrainer) -> float:
    """Return the exact exploitability of the average strategy in the abstract game, in mbb/g."""
    return 1000 * abstract_quality(trainer).exploitability / trainer.tree.rules.big_blind


class TrainingPoint(NamedTuple):
    """A measurement during training; exploitability is exact, in mbb/g."""

    seconds: float  # CPU time
    iterations: int
    infosets_visited: int  # counted once for each visit
    real_exploitability: float
    abstract_exploitability: float


def measure_training(trainer: BlueprintTrainer, seconds: float = 0.0) -> TrainingPoint:
    """Measure the average strategy of a trainer in the real and in the abstract game."""
    exploitability = real_exploitability(trainer), abstract_exploitability(trainer)
    return TrainingPoint(seconds, trainer.iterations, trainer.updates, *exploitability)


def exploitability_curves(name: str, x: Sequence[float], points: Sequence[TrainingPoint], panel: str) -> list[Curve]:
    """Return curves of the exploitability of a training run in the real and the abstract game, over `x`."""
    return [
        Curve(f"{name}, real game", x, [p.real_exploitability for p in points], panel),
        Curve(f"{name}, abstract game", x, [p.abstract_exploitability for p in points], panel),
    ]
