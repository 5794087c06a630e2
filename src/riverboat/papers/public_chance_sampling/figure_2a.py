"""Four samplers on [2-1] hold'em: two rounds, one bet in each. Johanson et al. 2012, Figure 2a."""

from __future__ import annotations

from riverboat.papers.framework import Experiment, Report
from riverboat.papers.public_chance_sampling.two_rounds import figure

MILLION = 16  # information sets, as the paper says


def run(full: bool, seed: int) -> Report:
    """A minute; with `full` eight of three seeds."""
    if full:
        return figure("[2-1]", MILLION, 32.0, 6, range(seed, seed + 3))
    return figure("[2-1]", MILLION, 6.0, 4, range(seed, seed + 1))


EXPERIMENT = Experiment(
    "pcs-figure-2a",
    "CS, OPCS, SPCS and PCS on [2-1] hold'em: exploitability against time",
    "Johanson, Bard, Lanctot, Gibson & Bowling 2012, Figure 2a",
    "1 min",
    "8 min",
    run,
)
