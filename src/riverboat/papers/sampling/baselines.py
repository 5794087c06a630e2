"""Baselines on Leduc: external sampling with and without, at equal deals.

Schmid et al. (2019) take luck out of sampled values by remembering what moves were worth. With outcome sampling that is worth
orders of magnitude. External sampling walks all moves of the traverser, and draws those of the opponent alone: this is what
is left to gain there, exact exploitability over several seeds.
"""

from __future__ import annotations

from statistics import fmean, stdev

from riverboat.evaluation.best_response.exact import quality
from riverboat.games.holdem.action_tree import compile_actions
from riverboat.games.holdem.rules import read_game
from riverboat.papers.framework import Curve, Experiment, Report
from riverboat.papers.rows import Row, new
from riverboat.papers.tartanian7.blade_levels import BladeLevels

RATES: dict[str, float | None] = {"without": None, "rate 0.1": 0.1, "rate 0.5": 0.5}


def run(full: bool, seed: int) -> Report:
    """All rates, with equal deals."""
    return compare((1_000, 4_000), 12, seed) if full else compare((500, 1_500), 4, seed)


def compare(deals: tuple[int, ...], runs: int, seed: int) -> Report:
    """Exploitability after so many deals, the mean of so many runs."""
    tree = compile_actions(read_game("leduc"))
    rows: list[Row] = []
    curves = []
    for name, rate in RATES.items():
        left: list[list[float]] = [[] for _ in deals]
        for number in range(runs):
            solver = BladeLevels(tree, levels=1, seed=seed + number, baseline=rate)
            for k, count in enumerate(deals):
                solver.step(count - solver.iterations)
                left[k].append(quality(solver.strategy()).mbb_per_game)
        for count, figures in zip(deals, left, strict=True):
            mean, wide = fmean(figures), 2 * stdev(figures) / runs**0.5
            rows.append(new(f"{name}: {count:,} deals", mean, (mean - wide, mean + wide), note=f"{runs} runs"))
        panel = "exploitability against deals"
        curves.append(Curve(name, tuple(map(float, deals)), tuple(fmean(figures) for figures in left), panel))
    notes = ("Exact exploitability in thousandths of an ante a hand; intervals are two standard errors over the runs.",)
    return Report(tuple(rows), notes, tuple(curves), log=True)


EXPERIMENT = Experiment(
    id="baselines",
    title="Baselines for external sampling on Leduc",
    source="Schmid, Burch, Lanctot, Moravcik, Kadlec & Bowling 2019, in kind",
    cost="1 min",
    full_cost="8 min",
    run=run,
)
