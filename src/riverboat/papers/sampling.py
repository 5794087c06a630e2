"""Training over buckets: convergence of sampling schemes, overfitting, CFR-BR, baselines, and snapshots of a run.

`blueprint-convergence` follows Johanson et al. (2012), Figure 3. Theirs is limit hold'em of four rounds with percentile
buckets of E[HS²], measured by a best response in the abstract game (`pcs-figure-3` is that game). Here there are 20
cards and three streets, and best responses are exact in both games: the abstract game, where training converges to
zero, and the real game, where coarse buckets leave a positive limit. `baselines` compares external sampling with and
without baselines (Schmid et al. 2019) on Leduc.

`proposal-figure-6` and `cfr-br` are Figure 6 of Ganzfried's thesis proposal, and CFR-BR (Johanson et al. 2012). The
game is two-round hold'em with four bets ([2-4], `holdem:2-4`) with five percentile buckets of E[HS²] on each street and
perfect recall, where best responses are exact in both games. Abstract exploitability falls to zero while real
exploitability rises again: an equilibrium among strategies that see buckets relies on what the opponent cannot see. The
longer the training, the better the response to an opponent restricted to buckets.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import fmean, stdev

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless_abstraction
from riverboat.abstraction.cards.percentile_buckets import hand_values, percentile_abstraction
from riverboat.core.cache import cached_arrays
from riverboat.core.errors import InputError
from riverboat.evaluation.best_response.exact import quality
from riverboat.evaluation.matches.duel import duel
from riverboat.games.boards.holdem import holdem
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.menus import one_size_menu
from riverboat.games.holdem.rules import read_game
from riverboat.papers import training
from riverboat.papers.framework import Curve, ExperimentReport, format_notes
from riverboat.papers.public_chance_sampling.curves import doubling_times, iterate_target_times
from riverboat.papers.rows import ComparisonRow, finding_row, new_row, student_half_width
from riverboat.papers.tartanian7 import LevelTrainer
from riverboat.papers.training import AbstractGame, TrainingPoint
from riverboat.solvers.mccfr.tables import Weighting
from riverboat.solvers.mccfr.trainer import BlueprintTrainer
from riverboat.strategies.blueprint import load_blueprint

SAMPLER_NAMES = {"external": "ES", "chance": "CS", "pcs": "PCS"}

EQUAL_TIME_NOTE = "in the abstract game, at equal time: not compared, as clocks decide it"


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
    return training.percentile_game(read_game("bench-3x20"), num_buckets, one_size_menu("100%"))


GAMES: dict[str, Callable[[], AbstractGame]] = {
    "Leduc, JQ.K": leduc_with_merged_ranks,
    "20 cards, percentile 5": lambda: twenty_card_holdem(5),
    "20 cards, percentile 12": lambda: twenty_card_holdem(12),
}


# --- Convergence curves ---


def measure_convergence(
    game: AbstractGame,
    traversal: str,
    seconds: float,
    seed: int,
    checks: int,
    clock: Callable[[BlueprintTrainer], float] = lambda _: time.process_time(),
) -> list[TrainingPoint]:
    """Train with a sampling scheme for `seconds` of CPU time (or of `clock`); measure at `checks` doubling times."""
    solver = training.make_compiled_trainer(game, traversal, seed)
    targets = doubling_times(seconds, checks)
    times = iterate_target_times(solver.step, lambda: solver.iterations, targets, lambda: clock(solver))
    return [training.measure_training(solver, elapsed) for elapsed in times]


def run_convergence(full: bool, seed: int) -> ExperimentReport:
    """Compare the exploitability that `SAMPLER_NAMES` reach in equal CPU time, in the abstract and the real game."""
    seconds, checks = (20.0, 8) if full else (1.0, 5)
    rows, curves = [], []
    for name, make in GAMES.items():
        game, last = make(), {}
        for traversal, label in SAMPLER_NAMES.items():
            points = measure_convergence(game, traversal, seconds, seed, checks)
            last[label] = points[-1]
            for p in points:
                work = f"{p.iterations:,} iterations, {p.infosets_visited:,} visits"
                note = f"{p.abstract_exploitability:.4g} in the abstract game; {work}"
                rows.append(new_row(f"{name}: {label}, {p.seconds:.2g} s", p.real_exploitability, note=note))
            for axis, x in (("seconds", [p.seconds for p in points]), ("visits", [p.infosets_visited for p in points])):
                curves += training.exploitability_curves(label, x, points, f"{name}: exploitability against {axis}")
        share = last["PCS"].abstract_exploitability / last["CS"].abstract_exploitability
        rows.append(new_row(f"{name}: exploitability of PCS at the end, shares of CS", share, note=EQUAL_TIME_NOTE))
    return ExperimentReport(rows, format_notes("blueprint-convergence"), curves, log=True)


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
    curve = Curve(f"{final.rules.name}: snapshots", x, [row.ours for row in rows], panel)
    return ExperimentReport(rows, notes, (curve,))


# --- Baselines of external sampling on Leduc ---

BASELINE_RATES: dict[str, float | None] = {"without": None, "rate 0.1": 0.1, "rate 0.5": 0.5}


def run_baselines(full: bool, seed: int) -> ExperimentReport:
    """Compare external sampling on Leduc without baselines and with two learning rates of them, at equal deals."""
    deals, runs = ((1_000, 4_000), 12) if full else ((500, 1_500), 4)
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


# --- Overfitting to an abstraction ---

BUCKETS = 5
BUCKET_FEATURE = "square"  # E[HS²]
FIRST_CHECK = 128  # iterations before the first check; each later check doubles them
QUICK_CHECKS, FULL_CHECKS = 7, 12
OVERFITTING_RUNS = 4  # with consecutive seeds
RISING_CHECKS = 3  # last checks, over which real exploitability must not fall
WEIGHTING = Weighting("linear", FIRST_CHECK // 2)  # later iterations count more


@cache
def two_round_holdem() -> AbstractGame:
    """Return [2-4] hold'em with percentile buckets; E[HS²] of all flop hands takes a minute and is cached."""
    rules = holdem("2-4").rules
    deals = rules.board[1:]
    values = cached_arrays(
        "values-two-rounds-1", lambda: {"flop": hand_values(1, BUCKET_FEATURE, rules.deck, deals, threads=2)}
    )
    cards = percentile_abstraction(BUCKETS, BUCKET_FEATURE, rules.deck, deals, values=(None, values["flop"]))
    return compile_action_tree(rules), cards


def train_with_checks(game: AbstractGame, traversal: str, checks: int, seed: int) -> list[TrainingPoint]:
    """Train, and measure exploitability after `FIRST_CHECK` iterations and at each doubling, `checks` times in all."""
    solver, points = BlueprintTrainer(*game, traversal, seed=seed, weighting=WEIGHTING), []
    for k in range(checks):
        solver.step(FIRST_CHECK * 2**k - solver.iterations)
        points.append(training.measure_training(solver))
    return points


def run_results(name: str, points: list[TrainingPoint]) -> tuple[list[ComparisonRow], list[Curve]]:
    """Return rows and curves of a training run: exploitability by iterations, in the real and the abstract game."""
    rows = []
    for p in points:
        note = f"{p.abstract_exploitability:.4g} in the abstract game"
        rows.append(new_row(f"{name}, {p.iterations:,} iterations: real game", p.real_exploitability, note=note))
    panel = f"[2-4] hold'em, percentile {BUCKETS}: exploitability in mbb a hand against iterations"
    return rows, training.exploitability_curves(name, [p.iterations for p in points], points, panel)


def run_overfitting(full: bool, seed: int) -> ExperimentReport:
    """Train by PCS; check that abstract exploitability falls while real exploitability rises again (Figure 6).

    Curves are means over `OVERFITTING_RUNS` runs, since the last checks of single runs differ by a seventh.
    """
    checks = FULL_CHECKS if full else QUICK_CHECKS
    runs = [train_with_checks(two_round_holdem(), "pcs", checks, seed + k) for k in range(OVERFITTING_RUNS)]
    points = [
        of_runs[0]._replace(
            real_exploitability=fmean(p.real_exploitability for p in of_runs),
            abstract_exploitability=fmean(p.abstract_exploitability for p in of_runs),
        )
        for of_runs in zip(*runs, strict=True)
    ]
    falls = max(after.abstract_exploitability / before.abstract_exploitability for before, after in pairwise(points))
    rows, curves = run_results("CFR", points)
    before, end = points[-1 - RISING_CHECKS], points[-1]
    ratios = [p[-1].real_exploitability / p[-1 - RISING_CHECKS].real_exploitability for p in runs]
    note = f"{len(runs)} runs; abstract: {end.abstract_exploitability / before.abstract_exploitability:.2f}"
    name = f"real game: at the end, shares of that after {before.iterations:,} iterations"
    half = student_half_width(ratios)
    rows += [
        finding_row("abstract game: the largest step from check to check, shares of the one before", 1.0, falls, "<="),
        finding_row(name, 1.0, fmean(ratios), ">=", half_width=half, note=note),
    ]
    notes = format_notes("proposal-figure-6", buckets=BUCKETS, runs=OVERFITTING_RUNS)
    return ExperimentReport(rows, notes, curves, log=True)


# --- CFR-BR against CFR ---


def run_cfr_br(full: bool, seed: int) -> ExperimentReport:
    """Compare CFR (PCS) and CFR-BR with the same buckets by exploitability in the real and the abstract game."""
    game, checks = two_round_holdem(), FULL_CHECKS if full else QUICK_CHECKS
    cfr_points, br_points = (train_with_checks(game, traversal, checks, seed) for traversal in ("pcs", "cfr-br"))
    rows, curves = run_results("CFR", cfr_points)
    br_rows, br_curves = run_results("CFR-BR", br_points)
    rows += br_rows
    cfr, cfr_br = cfr_points[-1], br_points[-1]
    share, published = cfr_br.real_exploitability / cfr.real_exploitability, "published: 25 of 103 = 0.24"
    abstract_share = cfr.abstract_exploitability / cfr_br.abstract_exploitability
    note = "the equilibrium of the abstract game is another strategy"
    rows += [
        finding_row("real game: CFR-BR at the end, shares of CFR", 1.0, share, "<=", note=published),
        new_row("abstract game: CFR at the end, shares of CFR-BR", abstract_share, note=note),
        new_row("real game: least of CFR on the way", min(p.real_exploitability for p in cfr_points)),
        new_row("real game: least of CFR-BR on the way", min(p.real_exploitability for p in br_points)),
    ]
    return ExperimentReport(rows, format_notes("cfr-br"), curves + br_curves, log=True)
