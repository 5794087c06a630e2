"""Table 1 of the paper on endgame solving, the small game."""

from __future__ import annotations

from riverboat.papers.endgames.flop import OPTIONS, Size, report
from riverboat.papers.framework import Experiment, Report
from riverboat.papers.rows import Explained

PAPER = {"base": 9.128, "unsafe": 0.5514, "resolve": 8.120, "maxmargin": 0.9362, "reach": 0.8262}
QUICK = Size("flop_holdem:small,ranks=5,suits=4", buckets=600, base=300, iterations=150)
FULL = Size("flop_holdem:small,ranks=13,suits=4", buckets=30_000, base=200, iterations=500, threads=2)
ROUGH = Explained(0.4391, "the base had 200 iterations, endgames 500: it was no equilibrium yet", within=0.01)


def run(full: bool, seed: int, **chosen: int) -> Report:
    """A deck of twenty cards; with `full` all 52 and 30,000 buckets."""
    return report(QUICK, FULL, full, PAPER, chosen, ROUGH)


EXPERIMENT = Experiment(
    "endgame-table-1-small",
    "Endgame solving in small flop hold'em, from a base with buckets",
    "Brown & Sandholm 2017, Safe and nested endgame solving, table 1",
    "40 s",
    "10 min; 3 h without a GPU",
    run,
    OPTIONS,
)
