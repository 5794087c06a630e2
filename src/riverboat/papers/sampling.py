"""Convergence of sampling schemes for blueprints, and of a blueprint against its own snapshots.

`blueprint-convergence` follows Johanson et al. (2012), Figure 3. Theirs is limit hold'em of four rounds with percentile
buckets of E[HS²], measured by a best response in the abstract game (`pcs-figure-3` is that game). Here there are 20
cards and three streets, and best responses are exact in both games: the abstract game, where training converges to
zero, and the real game, where coarse buckets leave a positive limit. `baselines` compares external sampling with and
without baselines (Schmid et al. 2019) on Leduc.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless_abstraction
from riverboat.abstraction.cards.percentile_buckets import percentile_abstraction
from riverboat.core.errors import InputError
from riverboat.evaluation.best_response.exact import quality
from riverboat.evaluation.matches.duel import duel
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.menus import one_size_menu
from riverboat.games.holdem.rules import read_game
from riverboat.papers.framework import Curve, ExperimentReport, format_notes
from riverboat.papers.public_chance_sampling.curves import iterate_doubling_times
from riverboat.papers.rows import ComparisonRow, new_row
from riverboat.papers.tartanian7.blade_levels import LevelTrainer
from riverboat.papers.training import (
    AbstractGame,
    abstract_exploitability,
    exploitability_curves,
    make_compiled_trainer,
    real_exploitability,
)
from riverboat.solvers.mccfr.trainer import BlueprintTrainer
from riverboat.strategies.blueprint import load_blueprint

SAMPLER_NAMES = {"external": "ES", "chance": "CS", "pcs": "PCS"}
COARSE_GAME, FINE_GAME = "20 cards, percentile 5", "20 cards, percentile 12"
EQUAL_TIME_NOTE = "in the abstract game, at equal time: not compared, as clocks decide it"


@dataclass(frozen=True)
class ConvergencePoint:
    """A measurement of a training run."""

    seconds: float  # CPU time
    iterations: int
    infosets_visited: int  # counted once for each visit
    real_exploitability: float  # mbb/g
    abstract_exploitability: float  # mbb/g in the abstract game


# --- Games ---


def leduc_with_merged_ranks() -> AbstractGame:
    """Return Leduc with jack and queen in one bucket before the public card, and lossless buckets after it."""
    rules = read_game("leduc")
    whole = lossless_abstraction(rules.board[1:], rules.deck)
    rank = whole.indexer(0).unindex(np.arange(whole.counts[0]))[:, 0] // 4
    before = StreetBuckets(2, (rank == rank.max()).astype(np.uint16)[None])
    cards = CardAbstraction((before, whole.streets[1]), whole.deals, rules.deck, name="JQ.K")
    return compile_action_tree(rules), cards


def twenty_card_holdem(num_buckets: int) -> AbstractGame:
    """Return hold'em of three streets with 20 cards and percentile buckets of E[HS²] with perfect recall."""
    rules = read_game("bench-3x20")
    cards = percentile_abstraction(num_buckets, "square", rules.deck, rules.board[1:])
    return compile_action_tree(rules, one_size_menu("100%")), cards


GAMES: dict[str, Callable[[], AbstractGame]] = {
    "Leduc, JQ.K": leduc_with_merged_ranks,
    COARSE_GAME: lambda: twenty_card_holdem(5),
    FINE_GAME: lambda: twenty_card_holdem(12),
}


# --- Convergence curves ---


def measure_convergence(
    game: AbstractGame,
    traversal: str,
    seconds: float,
    seed: int,
    checks: int,
    clock: Callable[[BlueprintTrainer], float] = lambda _: time.process_time(),
) -> list[ConvergencePoint]:
    """Train for a CPU time, or a time by another clock, and measure at doubling times."""
    solver = make_compiled_trainer(game, traversal, seed)
    times = iterate_doubling_times(solver.step, lambda: solver.iterations, seconds, checks, lambda: clock(solver))
    return [
        ConvergencePoint(
            elapsed, solver.iterations, solver.updates, real_exploitability(solver), abstract_exploitability(solver)
        )
        for elapsed in times
    ]


def run_convergence(full: bool, seed: int) -> ExperimentReport:
    """Compare all sampling schemes on all games."""
    return compare_samplers(20.0, 8, seed) if full else compare_samplers(1.0, 5, seed)


def compare_samplers(seconds: float, checks: int, seed: int) -> ExperimentReport:
    """Compare sampling schemes on all games, with runs of `seconds` and `checks` measurements."""
    rows, curves = [], []
    for name, make in GAMES.items():
        game, last = make(), {}
        for traversal, label in SAMPLER_NAMES.items():
            points = measure_convergence(game, traversal, seconds, seed, checks)
            last[label] = points[-1]
            rows += [
                new_row(f"{name}: {label}, {p.seconds:.2g} s", p.real_exploitability, note=_point_note(p))
                for p in points
            ]
            for axis, x in (("seconds", [p.seconds for p in points]), ("visits", [p.infosets_visited for p in points])):
                curves += exploitability_curves(label, x, points, f"{name}: exploitability against {axis}")
        share = last["PCS"].abstract_exploitability / last["CS"].abstract_exploitability
        rows.append(new_row(f"{name}: exploitability of PCS at the end, shares of CS", share, note=EQUAL_TIME_NOTE))
    return ExperimentReport(rows, format_notes("blueprint-convergence"), curves, log=True)


def _point_note(p: ConvergencePoint) -> str:
    return f"{p.abstract_exploitability:.4g} in the abstract game; {p.iterations:,} iterations, {p.infosets_visited:,} visits"


# --- A blueprint against its snapshots ---


def compare_snapshots(run: Path, hands: int = 400_000, seed: int = 0) -> ExperimentReport:
    """Play every snapshot of a run of `riverboat train` against its final strategy, in duplicate pairs."""
    snapshots = sorted((run / "snapshots").glob("[0-9]*")) if (run / "snapshots").is_dir() else []
    if not snapshots:
        raise InputError(f"{run}: no snapshots; give the folder of a run of `riverboat train` with at least one check")
    final = load_blueprint(run / "strategy" if (run / "strategy").is_dir() else run)
    rows, x = [], []
    for snapshot in snapshots:
        past = load_blueprint(snapshot, final.cards)
        match = duel(past, final, hands, seed)
        x.append(float(past.provenance["seconds"]))
        note = f"{past.provenance['iterations']:,} iterations; mbb a hand"
        name = f"after {x[-1]:.0f} s against the end"
        rows.append(new_row(name, match.mbb_per_game, half_width=match.ci95, note=note))
    notes = (
        f"{hands:,} hands each, in duplicate pairs; the last strategy has {final.provenance['iterations']:,} "
        f"iterations in {float(final.provenance['seconds']):.0f} s.",
    )
    panel = "mbb a hand against the last strategy, by seconds of training"
    return ExperimentReport(
        rows, notes, (Curve(f"{final.rules.name}: snapshots", x, [row.ours for row in rows], panel),)
    )


# --- Baselines of external sampling on Leduc ---

BASELINE_RATES: dict[str, float | None] = {"without": None, "rate 0.1": 0.1, "rate 0.5": 0.5}


def run_baselines(full: bool, seed: int) -> ExperimentReport:
    """Compare all learning rates of baselines at equal numbers of deals."""
    return compare_baselines((1_000, 4_000), 12, seed) if full else compare_baselines((500, 1_500), 4, seed)


def compare_baselines(deals: tuple[int, ...], runs: int, seed: int) -> ExperimentReport:
    """Measure the mean exploitability over runs after numbers of deals."""
    tree = compile_action_tree(read_game("leduc"))
    rows: list[ComparisonRow] = []
    curves = []
    for name, rate in BASELINE_RATES.items():
        exploitability: list[list[float]] = [[] for _ in deals]
        for number in range(runs):
            solver = LevelTrainer(tree, levels=1, seed=seed + number, baseline=rate)
            for k, count in enumerate(deals):
                solver.step(count - solver.iterations)
                exploitability[k].append(quality(solver.strategy()).mbb_per_game)
        for count, values in zip(deals, exploitability, strict=True):
            half_width, label = 2 * stdev(values) / runs**0.5, f"{name}: {count:,} deals"
            rows.append(new_row(label, fmean(values), half_width=half_width, note=f"{runs} runs"))
        panel = "exploitability against deals"
        curves.append(Curve(name, deals, [fmean(values) for values in exploitability], panel))
    return ExperimentReport(rows, format_notes("baselines"), curves, log=True)
