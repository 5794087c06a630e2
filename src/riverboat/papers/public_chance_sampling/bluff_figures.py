"""Chance sampling and public chance sampling on Bluff (Johanson et al. 2012, Figures 5 and 6).

Bluff has no public chance, so PCS is a full traversal with vectors of rolls, and CS a traversal with one roll for each
player. The default game is Bluff(2,1), with 3.5 million information sets; the paper's is Bluff(2,2), with 352 million.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from riverboat.papers.framework import ExperimentParts, ExperimentReport, format_notes
from riverboat.papers.public_chance_sampling import curves as shared
from riverboat.papers.rows import new_row, printed_row
from riverboat.solvers.game_values import game
from riverboat.solvers.tabular.best_response import expected_value
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.tabular import Tree
from riverboat.trees.compile import compile_game
from riverboat.trees.public import PublicTree

RUN_SECONDS = {False: 8, True: 128}  # by `full`
FIRST_CHECK_SECONDS = {False: 0.25, True: 32.0}  # of a run, by `full`
CACHE_VERSION = 1
MIN_PLOTTED_VALUE = 1e-7  # on logarithmic axes


def make_tree(full: bool) -> Tree:
    """Return the game as a tree; values of the smaller games are solved first and cached."""
    return compile_game(game("bluff:2,2" if full else "bluff:2,1"))


def train_with_checks(
    tree: Tree, seconds: float, checks: int, seed: int, measure: Callable[[CFR], float], traversal: str
) -> list[shared.TrainingCheck]:
    """Train one run with its checks."""
    solver = CFR(tree, "vanilla", traversal, seed=seed, dtype="float32")  # tables of Bluff(2,2) take 5.6 GB
    solver.warm()
    return [
        shared.TrainingCheck(elapsed, solver.iteration, solver.nodes_touched, max(measure(solver), MIN_PLOTTED_VALUE))
        for elapsed in shared.iterate_target_times(
            solver.step, lambda: solver.iteration, shared.doubling_times(seconds, checks)
        )
    ]


def loss_against(equilibrium: CFR, solver: CFR) -> float:
    """Return the exact loss of a solver's average strategy against an equilibrium, in matches: the mean over seats."""
    tree = equilibrium.tree
    assert isinstance(tree, PublicTree)
    return -sum(expected_value(tree, seat, solver.averages, equilibrium.averages) for seat in (0, 1)) / 2


# --- Figure 6: head to head against an ε-equilibrium ---


def run_figure_6(
    full: bool, seed: int, seconds: int = 0, iterations: int = 0, threads: int = 1, part: int = 0
) -> ExperimentReport:
    """Train both samplers for `seconds` each, and measure them against an opponent trained by DCFR for `iterations`."""
    tree, total_seconds = make_tree(full), float(seconds or RUN_SECONDS[full])
    checks = shared.num_checks(total_seconds, FIRST_CHECK_SECONDS[full])
    opponent_iterations = iterations or (20 if full else 200)
    cache_key = f"{CACHE_VERSION} {total_seconds:g} {checks} {opponent_iterations} {seed}"
    parts = ExperimentParts("pcs-figure-6", cache_key, use_cache=full, part=part)

    @cache
    def opponent() -> CFR:
        solver = CFR(tree, "dcfr", dtype="float32", threads=threads)
        solver.step(opponent_iterations)
        return solver

    def measure(solver: CFR) -> float:
        return loss_against(opponent(), solver)

    quality = parts.get_or_compute("opponent", lambda: {"epsilon": opponent().exploitability()})
    runs = shared.cached_runs(parts, partial(train_with_checks, tree, total_seconds, checks, seed, measure))
    rows = shared.sampler_rows(runs, "matches lost")
    if quality is not None:
        note = f"DCFR, {opponent_iterations} iterations"
        rows.insert(0, new_row("exploitability of the opponent", quality["epsilon"], note=note))
    if not parts.missing:
        rows += shared.claim_rows(runs, "loss to the equilibrium")
    panel = f"{tree.name}: matches lost to an ε-equilibrium against seconds"
    notes = format_notes("pcs-figure-6", name=tree.name, total_seconds=total_seconds, parts=parts)
    return ExperimentReport(rows, notes, shared.sampler_curves(runs, panel), log=True)


# --- Figure 5: exploitability against time ---


def run_figure_5(full: bool, seed: int, seconds: int = 0, part: int = 0) -> ExperimentReport:
    """Train both samplers for `seconds` each."""
    tree, total_seconds = make_tree(full), float(seconds or RUN_SECONDS[full])
    checks = shared.num_checks(total_seconds, FIRST_CHECK_SECONDS[full])
    cache_key = f"{CACHE_VERSION} {total_seconds:g} {checks} {seed}"
    parts = ExperimentParts("pcs-figure-5", cache_key, use_cache=full, part=part)
    runs = shared.cached_runs(parts, partial(train_with_checks, tree, total_seconds, checks, seed, CFR.exploitability))
    rolls = tree.hand_counts[0] * tree.hand_counts[1]
    rows = shared.sampler_rows(runs, "matches")
    if full:
        rows[:0] = [
            printed_row("information sets of Bluff(2,2), millions", 352, tree.infoset_count / 1e6, digits=0),
            printed_row("pairs of rolls in Bluff(2,2)", 441, rolls),
        ]
    if not parts.missing:
        rows += shared.claim_rows(runs, "exploitability")
    notes = format_notes("pcs-figure-5", name=tree.name, tree=tree, rolls=rolls, seconds=total_seconds, parts=parts)
    curves = shared.sampler_curves(runs, f"{tree.name}: exploitability against seconds")
    return ExperimentReport(rows, notes if full else notes[:-1], curves, log=True)
