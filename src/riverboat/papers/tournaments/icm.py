"""The independent chip model beside what stacks are worth in equilibrium."""

from __future__ import annotations

import numpy as np

from riverboat.core.arrays import Array
from riverboat.papers.framework import Experiment, Report
from riverboat.papers.rows import Row, finding, new, printed
from riverboat.papers.tournaments.epsilon import COSTS, GRID, SOURCE, solved

MEAN, MOST = 0.37, 2.99  # dollars


def run(full: bool, seed: int) -> Report:
    """Nothing is random."""
    solution = solved(full)
    tournament = solution.tournament
    three = np.concatenate([np.full(len(state), len(state) == 3) for state in tournament.states])
    away = (solution.values - tournament.chip_model)[three]
    position = np.tile(np.arange(3), len(away) // 3)
    worst = int(np.abs(away).argmax())
    state = [s for s in tournament.states if len(s) == 3][worst // 3]
    rows: list[Row] = []
    if full:
        rows += [
            printed("error of the chip model, mean", MEAN, float(np.abs(away).mean()), digits=2),
            printed("error of the chip model, largest", MOST, float(np.abs(away).max()), digits=2),
        ]
    else:
        rows += [
            new("error of the chip model, mean", float(np.abs(away).mean()), note=f"the paper's states: {MEAN}"),
            new("error of the chip model, largest", float(np.abs(away).max()), note=f"the paper's states: {MOST}"),
        ]
    rows += [
        finding("mean error above the largest gain of any player", solution.epsilon, float(np.abs(away).mean()), ">="),
        finding("large errors are rare: share above half of the largest", 0.1, _share(away), "<="),
        *(
            new(f"equilibrium less chip model, mean: {name}", float(away[position == k].mean()))
            for k, name in enumerate(("button", "small blind", "big blind"))
        ),
    ]
    units = ", ".join(str(round(x * tournament.unit)) for x in state)
    seat = ("button", "small blind", "big blind")[worst % 3]
    notes = (
        GRID,
        f"The largest error is that of the {seat} at stacks {units} (button, small blind, big blind).",
        "The model knows nothing of positions and blinds: that is most of its error.",
        "Why the paper's figures are a few per cent larger is not known. Heads-up states that are worth their chips in "
        "proportion, instead of solved, would give 0.3576 and 2.889 at full size.",
    )
    return Report(tuple(rows), notes)


def _share(away: Array) -> float:
    return float((np.abs(away) > np.abs(away).max() / 2).mean())


EXPERIMENT = Experiment(
    "tournament-icm", "The three-player tournament: errors of the independent chip model", SOURCE, *COSTS, run
)
