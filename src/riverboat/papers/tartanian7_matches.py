"""Hierarchical against flat card abstractions over training time, and post-processing in matches (Tartanian7).

Figure 1 of Brown, Ganzfried & Sandholm (2015) compares two agents over training time, by their win rates against the two
strongest agents of the competition before: one with 60 public buckets of flops and 500 private buckets in each, one with
5,000 buckets. Table 2 compares four ways to post-process the first of them against the same opponents.

Here agents are trained on one betting tree, in equal wall-clock time on the same machine, and play duplicate matches
within it. Opponents are fixed: trained once, with other cards and another sampling scheme. A further flat abstraction has
as many rows as the hierarchical one, so that its tables need the same memory.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from riverboat.abstraction.build import build_abstraction
from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.abstraction.recipe import AbstractionRecipe, load_recipe
from riverboat.core import resources
from riverboat.core.cache import cache_folder
from riverboat.core.errors import RiverboatError
from riverboat.engines.devices import CPU, CUDA, nearest_centroid_finder, resolve_device
from riverboat.evaluation.matches.duel import DuelResult, duel
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.papers.framework import Curve, ExperimentParts, ExperimentReport, PartArrays, format_notes
from riverboat.papers.public_chance_sampling.curves import iterate_target_times
from riverboat.papers.rows import ComparisonRow, finding_row, new_row
from riverboat.solvers.mccfr.recipe import TrainRecipe, load_train_recipe
from riverboat.solvers.mccfr.trainer import BlueprintTrainer
from riverboat.solvers.mccfr.training import quantized_averages
from riverboat.strategies.blueprint import Blueprint, load_blueprint, save_blueprint
from riverboat.strategies.policy import BlueprintPolicy

# --- Sizes ---


class TrainedAgent(NamedTuple):
    """An agent of the comparison, or an opponent: its cards, and how it is trained."""

    name: str
    cards: str  # recipe of the card abstraction, or one of `FLAT_BUCKETS` with that many buckets a street
    seconds: tuple[float, ...]  # training times at which the agent is stored
    traversal: str = "external"


class Comparison(NamedTuple):
    """A size of the experiments: the betting tree, agents, fixed opponents, and hands of a match."""

    recipe: str  # training recipe: game, bet sizes, weighting
    agents: tuple[TrainedAgent, ...]  # the first has public buckets
    opponents: tuple[TrainedAgent, ...]
    hands: int


FLAT_BUCKETS = {"flat-100": 100, "flat-30000": 30_000}
QUICK_SECONDS, FULL_SECONDS = (0.5, 2.0, 8.0, 32.0), (2.5, 10.0, 40.0, 160.0)  # a factor of 64
QUICK = Comparison(
    "demo",
    (
        TrainedAgent("hierarchical, 4 × 25", "tiny-public", QUICK_SECONDS),
        TrainedAgent("flat 100", "tiny", QUICK_SECONDS),
    ),
    (
        TrainedAgent("O1, 8 percentiles, PCS", "percentile8", (10.0,), "pcs"),
        TrainedAgent("O2, 5 percentiles", "percentile5", (10.0,)),
    ),
    400_000,
)
FULL = Comparison(
    "default",
    (
        TrainedAgent("hierarchical, 60 × 500", "tartanian7", FULL_SECONDS),
        TrainedAgent("flat 5,000", "standard", FULL_SECONDS),
        TrainedAgent("flat 30,000", "flat-30000", FULL_SECONDS),
    ),
    (
        TrainedAgent("O1, 12 percentiles, PCS", "percentile12", (60.0,), "pcs"),
        TrainedAgent("O2, 500 buckets", "small", (60.0,)),
    ),
    3_000_000,
)


def flat_recipe(buckets: int) -> AbstractionRecipe:
    """Return the recipe of `standard` with another number of buckets on each street after the first."""
    recipe = load_recipe("standard")
    preflop, *later = recipe.streets
    flop, turn, river = (replace(street, buckets=buckets) for street in later)
    return replace(recipe, name=f"flat-{buckets}", about="", streets=(preflop, flop, turn, river))


def load_cards(name: str) -> tuple[CardAbstraction, Path]:
    """Load the card abstraction of an agent, built on the first use, and return it with its folder."""
    recipe = flat_recipe(FLAT_BUCKETS[name]) if name in FLAT_BUCKETS else load_recipe(name)
    folder, finder = cache_folder() / "reproduce" / f"{name}-{recipe.fingerprint[:12]}", nearest_centroid_finder("auto")
    return build_abstraction(recipe, folder, resources.available_cores(), resume=True, device=finder), folder


# --- Training ---


def make_trainer(recipe: TrainRecipe, agent: TrainedAgent, seed: int) -> BlueprintTrainer:
    """Make the trainer of an agent: on a GPU if there is one, else on all cores."""
    tree, (cards, _) = compile_action_tree(recipe.rules, recipe.menu), load_cards(agent.cards)
    on_cpu = resolve_device("auto") == CPU
    where = {"threads": resources.available_cores()} if on_cpu else {"device": CUDA}
    make = partial(BlueprintTrainer, tree, cards, agent.traversal, weighting=recipe.weighting, **where)
    make(seed=seed).step(1)  # compiles
    return make(seed=seed)


def snapshot_folder(agent: TrainedAgent, recipe: str, seed: int, seconds: float) -> Path:
    """Return the folder of an agent after some training, in the cache."""
    text = repr((agent, recipe, seed, resolve_device("auto"), resources.available_cores()))
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    return cache_folder() / "reproduce" / f"tartanian7-{digest}-{seconds:g}s"


def train_agent(agent: TrainedAgent, recipe_name: str, seed: int) -> dict[str, list[float]]:
    """Train an agent, store it at each of its times, and return seconds and iterations at these times."""
    recipe = load_train_recipe(recipe_name)
    cards_path = load_cards(agent.cards)[1]
    trainer = make_trainer(recipe, agent, seed)
    counts: dict[str, list[float]] = {"elapsed": [], "iterations": []}
    times = iterate_target_times(trainer.step, lambda: trainer.iterations, agent.seconds, time.perf_counter)
    for target, elapsed in zip(agent.seconds, times, strict=True):
        tables = tuple(quantized_averages(trainer))
        facts = {"method": agent.name, "seconds": elapsed, "iterations": trainer.iterations}
        strategy = Blueprint(recipe.rules, recipe.menu, trainer.tree, trainer.cards, tables, facts, cards_path)
        folder = snapshot_folder(agent, recipe_name, seed, target)
        save_blueprint(strategy, folder)
        counts["elapsed"].append(elapsed)
        counts["iterations"].append(trainer.iterations)
    return counts


def load_snapshot(agent: TrainedAgent, recipe: str, seed: int, seconds: float) -> Blueprint | None:
    """Load an agent after some training; None if it is not stored."""
    try:
        return load_blueprint(snapshot_folder(agent, recipe, seed, seconds), load_cards(agent.cards)[0])
    except (OSError, RiverboatError):
        return None


# --- Matches ---

PURIFIED = {"post": "purify", "spare_first": True}  # as the paper plays: the first action is not purified
Options = Mapping[str, object]


def post_process(strategy: Blueprint, options: Options) -> Blueprint:
    """Return a blueprint with its probabilities post-processed by the options of a policy."""
    return BlueprintPolicy(strategy, **options).tree_strategy(resources.available_cores())  # type: ignore[arg-type]


class Contestants:
    """Agents and opponents of a comparison, trained on the first use and stored in the cache."""

    def __init__(self, size: Comparison, seed: int, parts: ExperimentParts) -> None:
        self.size, self.seed = size, seed
        self.trained: dict[str, PartArrays] = {}
        for agent in (*size.opponents, *size.agents):
            counts = parts.get_or_compute(agent.name, partial(train_agent, agent, size.recipe, seed))
            if counts is not None:
                self.trained[agent.name] = counts

    @property
    def complete(self) -> bool:
        """Whether all of them are trained."""
        return len(self.trained) == len(self.size.opponents) + len(self.size.agents)

    def load(self, agent: TrainedAgent, seconds: float | None = None) -> Blueprint:
        """Load an agent after some training, by default at the end; it is trained again if the cache was cleared."""
        chosen = agent.seconds[-1] if seconds is None else seconds
        strategy = load_snapshot(agent, self.size.recipe, self.seed, chosen)
        if strategy is None:
            train_agent(agent, self.size.recipe, self.seed)
            strategy = load_snapshot(agent, self.size.recipe, self.seed, chosen)
        assert strategy is not None
        return strategy


def play(first: Blueprint, second: Blueprint, size: Comparison, seed: int) -> tuple[float, float]:
    """Play a duplicate match, and return the winnings of the first in mbb/g with their 95 % half-width."""
    result: DuelResult = duel(first, second, size.hands, seed, resources.available_cores())
    return result.mbb_per_game, result.ci95


def match_over_time(contestants: Contestants) -> dict[str, list[float]]:
    """Play each agent at each time against each opponent, and against the first agent at the same time."""
    size, seed = contestants.size, contestants.seed
    opponents = [contestants.load(opponent) for opponent in size.opponents]
    results: dict[str, list[float]] = {"won": [], "error": []}
    for seconds in size.agents[0].seconds:
        first = None
        for agent in size.agents:
            strategy = post_process(contestants.load(agent, seconds), PURIFIED)
            for opponent in (*opponents, strategy if first is None else first):
                won, error = play(strategy, opponent, size, seed)
                results["won"].append(won)
                results["error"].append(error)
            first = strategy if first is None else first
    return results


def run_figure_1(full: bool, seed: int, part: int = 0) -> ExperimentReport:
    """Compare win rates of hierarchical and flat card abstractions over training time."""
    return figure_1(FULL if full else QUICK, seed, use_cache=full, part=part)


def figure_1(size: Comparison, seed: int, *, use_cache: bool, part: int = 0) -> ExperimentReport:
    """Return the report of Figure 1 at some size; with the cache, an interrupted run continues after its last part."""
    cores = f"{resolve_device('auto')}, {resources.available_cores()} cores"
    parts = ExperimentParts("tartanian7-figure-1", repr((size, seed, cores)), use_cache=use_cache, part=part)
    contestants = Contestants(size, seed, parts)
    won = parts.get_or_compute("matches", partial(match_over_time, contestants)) if contestants.complete else None
    if won is None:
        return ExperimentReport([], (parts.note,))
    times = size.agents[0].seconds
    shape = len(times), len(size.agents), len(size.opponents) + 1
    win_rates, errors = won["won"].reshape(shape), won["error"].reshape(shape)
    rows: list[ComparisonRow] = []
    curves = []
    for o, opponent in enumerate(size.opponents):
        for a, agent in enumerate(size.agents):
            counts = contestants.trained[agent.name]
            for t, seconds in enumerate(times):
                name = f"{agent.name} after {seconds:g} s against {opponent.name}"
                note = f"{int(counts['iterations'][t]):,} deals in {counts['elapsed'][t]:.1f} s"
                rows.append(new_row(name, win_rates[t, a, o], half_width=errors[t, a, o], note=note))
            curves.append(
                Curve(agent.name, times, win_rates[:, a, o], f"mbb a hand against {opponent.name}, by seconds")
            )
    for a, agent in enumerate(size.agents[1:], 1):
        for t, seconds in enumerate(times):
            rows.append(_direct_row(size, agent, seconds, -win_rates[t, a, -1], errors[t, a, -1]))
        for o, opponent in enumerate(size.opponents):
            lead = win_rates[:, 0, o] - win_rates[:, a, o]
            worst = int(lead.argmin())
            error = float(np.hypot(errors[worst, 0, o], errors[worst, a, o]))
            note = f"after {times[worst]:g} s; the interval is that of independent matches, but they share their cards"
            name = f"least lead of {size.agents[0].name} over {agent.name} against {opponent.name}"
            rows.append(finding_row(name, 0.0, float(lead[worst]), ">=", half_width=error, note=note))
    notes = format_notes("tartanian7-figure-1", hands=f"{size.hands:,}", cores=cores, recipe=size.recipe)
    return ExperimentReport(rows, (*notes, parts.note), curves)


def _direct_row(size: Comparison, agent: TrainedAgent, seconds: float, won: float, error: float) -> ComparisonRow:
    """Make the row of a match of the first agent against another one at equal training time."""
    return new_row(
        f"{size.agents[0].name} against {agent.name}, both after {seconds:g} s", won, half_width=error, null=0.0
    )


# --- Post-processing ---

FOLD_THRESHOLDS = (0.1, 0.2, 0.3, 0.5)
POST_PROCESSING: dict[str, Options] = {
    "none": {"post": "none"},
    "purification": {"post": "purify"},
    "purification but the first action": PURIFIED,
    "threshold 0.15": {"post": "threshold", "share": 0.15},
    **{f"new {share:g}": {"post": "new", "share": share} for share in FOLD_THRESHOLDS},
}
PRINTED_RULES = {
    "No Threshold": "none",
    "Purification": "purification",
    "Thresholding-0.15": "threshold 0.15",
    "New-0.2": "new 0.2",
}


def match_rules(contestants: Contestants) -> dict[str, list[float]]:
    """Play the trained agent with each rule against each opponent, all with the same cards."""
    size = contestants.size
    opponents = [contestants.load(opponent) for opponent in size.opponents]
    strategy = contestants.load(size.agents[0])
    results: dict[str, list[float]] = {"won": [], "error": []}
    for options in POST_PROCESSING.values():
        processed = post_process(strategy, options)
        for opponent in opponents:
            won, error = play(processed, opponent, size, contestants.seed)
            results["won"].append(won)
            results["error"].append(error)
    return results


def run_table_2(full: bool, seed: int, part: int = 0) -> ExperimentReport:
    """Compare rules of post-processing against two opponents."""
    size = FULL if full else QUICK
    return table_2(size._replace(agents=size.agents[:1]), seed, use_cache=full, part=part)


def table_2(size: Comparison, seed: int, *, use_cache: bool, part: int = 0) -> ExperimentReport:
    """Return the report of Table 2 at some size: win rates of each rule, their mean and the worse of the two."""
    cores = f"{resolve_device('auto')}, {resources.available_cores()} cores"
    parts = ExperimentParts("tartanian7-table-2", repr((size, seed, cores)), use_cache=use_cache, part=part)
    contestants = Contestants(size, seed, parts)
    won = parts.get_or_compute("matches", partial(match_rules, contestants)) if contestants.complete else None
    if won is None:
        return ExperimentReport([], (parts.note,))
    shape = len(POST_PROCESSING), len(size.opponents)
    win_rates, errors = won["won"].reshape(shape), won["error"].reshape(shape)
    rows = []
    for k, rule in enumerate(POST_PROCESSING):
        for o, opponent in enumerate(size.opponents):
            rows.append(new_row(f"{rule} against {opponent.name}", win_rates[k, o], half_width=errors[k, o]))
        mean_error = float(np.sqrt((errors[k] ** 2).sum())) / len(size.opponents)
        rows.append(new_row(f"{rule}: mean", win_rates[k].mean(), half_width=mean_error))
        worst = int(win_rates[k].argmin())
        rows.append(new_row(f"{rule}: worst", win_rates[k, worst], half_width=errors[k, worst]))
    number = {rule: k for k, rule in enumerate(POST_PROCESSING)}
    new, others = number["new 0.2"], [number[rule] for rule in PRINTED_RULES.values() if rule != "new 0.2"]
    for name, measure in ("mean", win_rates.mean(axis=1)), ("worst", win_rates.min(axis=1)):
        best = others[int(measure[others].argmax())]
        error = float(np.hypot(errors[new], errors[best]).max())
        note = f"the best of the others is {list(POST_PROCESSING)[best]}; the matches share their cards"
        lead = measure[new] - measure[best]
        rows.append(finding_row(f"lead of the new rule in the {name}", 0.0, lead, ">=", half_width=error, note=note))
    notes = format_notes("tartanian7-table-2", hands=f"{size.hands:,}", agent=size.agents[0].name, cores=cores)
    return ExperimentReport(rows, (*notes, parts.note))
