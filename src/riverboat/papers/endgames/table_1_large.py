"""Table 1 of the paper on endgame solving, the large game."""

from __future__ import annotations

from riverboat.papers.endgames.flop import OPTIONS, Size, report
from riverboat.papers.framework import Experiment, Report
from riverboat.papers.rows import Explained

PAPER = {"base": 4.141, "unsafe": 39.68, "resolve": 3.626, "maxmargin": 0.6121, "reach": 0.5496}
QUICK = Size("flop_holdem:large,ranks=5,suits=3", buckets=400, base=300, iterations=150)
FULL = Size("flop_holdem:large,ranks=13,suits=4", buckets=30_000, base=150, iterations=300, threads=2)
ROUGH = Explained(0.6478, "the base had 150 iterations, endgames 300: it was no equilibrium yet", within=0.01)


def run(full: bool, seed: int, **chosen: int) -> Report:
    """A deck of fifteen cards; with `full` all 52 and 30,000 buckets."""
    return report(QUICK, FULL, full, PAPER, chosen, ROUGH)


EXPERIMENT = Experiment(
    "endgame-table-1-large",
    "Endgame solving in large flop hold'em, from a base with buckets",
    "Brown & Sandholm 2017, Safe and nested endgame solving, table 1",
    "60 s",
    "20 min; 6 h without a GPU",
    run,
    OPTIONS,
)
