"""Four samplers on [2-4] hold'em: two rounds, four bets in each. Johanson et al. 2012, Figure 2b."""

from __future__ import annotations

from riverboat.papers.framework import Experiment, Report
from riverboat.papers.public_chance_sampling.two_rounds import figure

MILLION = 94  # information sets, as the paper says


def run(full: bool, seed: int) -> Report:
    """Three minutes; with `full` twenty of three seeds."""
    if full:
        return figure("[2-4]", MILLION, 64.0, 6, range(seed, seed + 3))
    return figure("[2-4]", MILLION, 16.0, 4, range(seed, seed + 1))


EXPERIMENT = Experiment(
    "pcs-figure-2b",
    "CS, OPCS, SPCS and PCS on [2-4] hold'em: exploitability against time",
    "Johanson, Bard, Lanctot, Gibson & Bowling 2012, Figure 2b",
    "3 min",
    "20 min",
    run,
)
