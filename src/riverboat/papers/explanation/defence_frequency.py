"""The minimum defence frequency and its correction by range advantage, on rivers that we solve."""

from __future__ import annotations

import numpy as np

from riverboat.papers.explanation.defence import SIZES, Defences, defences
from riverboat.papers.framework import Curve, Experiment, Report
from riverboat.papers.rows import finding, new

RIVERS = 1_000
ITERATIONS = 200


def run(full: bool, seed: int) -> Report:
    """Solve rivers with random ranges, and compare how often bets are called with what is said of it."""
    rivers = defences(RIVERS, seed, 4 * ITERATIONS if full else ITERATIONS)
    error = {name: float(np.abs(said - rivers.defence).mean()) for name, said in rivers.predicted().items()}
    explained = {name: _explained(rivers, said) for name, said in rivers.predicted().items()}
    plain, corrected, turned = error
    fit, spread = rivers.fitted()
    rows = [
        finding("mean error of the correction, less than of MDF", error[plain], error[corrected], "<="),
        finding("mean error of MDF, less than of b / (P + b)", error[turned], error[plain], "<="),
        *(new(f"mean error of {name}", value) for name, value in error.items()),
        *(new(f"share of the variance that {name} explains", value) for name, value in explained.items()),
        *(
            new(f"least squares of ours: {name}", float(x), (float(x - 1.96 * s), float(x + 1.96 * s)))
            for name, x, s in zip(("constant", "MDF", "RA"), fit, spread, strict=True)
        ),
        new("largest exploitability, % of the pot", rivers.exploitability),
    ]
    notes = (
        f"{RIVERS:,} rivers in which the first player bets at least now and then: 120 hands each, drawn by strength with a "
        f"tilt, one bet of {', '.join(map(str, SIZES))} % of the pot, no raise; {ITERATIONS} iterations or more of CFR.",
        "MDF is P / (P + b). A note on the paper writes b / (P + b), which is how often a bluff may fail; it is far off. The "
        "published correction, MDF - RA / 2 + 1 / 4, holds in direction and nearly in size.",
    )
    order = np.argsort(rivers.advantage)
    parts = [p for p in np.array_split(order, 10) if len(p)]
    x = tuple(float(rivers.advantage[p].mean()) for p in parts)
    curves = [Curve("defence in equilibrium", x, tuple(float(rivers.defence[p].mean()) for p in parts))]
    curves += [
        Curve(name, x, tuple(float(said[p].mean()) for p in parts))
        for name, said in rivers.predicted().items()
        if name != turned
    ]
    return Report(tuple(rows), notes, tuple(curves))


def _explained(rivers: Defences, said: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    rest = said - rivers.defence
    return float(1 - rest @ rest / ((rivers.defence - rivers.defence.mean()) ** 2).sum())


EXPERIMENT = Experiment(
    "explain-defence",
    "How often bets are called on 1,000 rivers: minimum defence frequency and its correction",
    "Ganzfried & Chiswick 2019",
    "30 s",
    "1 min",
    run,
)
