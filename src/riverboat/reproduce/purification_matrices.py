"""Random 4 × 4 games played with the equilibrium of their first three rows and columns, purified and not.

Pay-offs are uniform on [-1, 1]. Player 1 plays its equilibrium of the 3 × 3 game against player 2's equilibrium of the
full game.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riverboat.games.base import Array
from riverboat.reproduce.framework import Experiment, Report, Row
from riverboat.solving.matrices import equilibria
from riverboat.strategy.postprocess import purify

FULL = 1_500_000  # games, as in the paper
DEFAULT = 300_000
BATCH = 50_000
SAME = 1e-9  # pay-offs this close are equal
USED = 1e-9  # a move with more than this is in the support
NORMAL = 1.959964  # 95 %


@dataclass(frozen=True, eq=False)
class Sample:
    """Random games, solved. All arrays are [games]."""

    plain: Array  # float64: pay-off of the abstract equilibrium
    purified: Array  # float64
    size: Array  # int: support of player 1's full equilibrium
    missing: Array  # bool: that support has the row that the abstraction lacks
    safe: Array  # bool: purification cannot matter, by proposition 4


def play(count: int, seed: int) -> Sample:
    """Draw and solve games."""
    rng = np.random.default_rng(seed)
    parts = []
    for start in range(0, count, BATCH):
        games = rng.uniform(-1.0, 1.0, (min(BATCH, count - start), 4, 4))
        full, small = equilibria(games), equilibria(games[:, :3, :3])
        worth = np.einsum("gij,gj->gi", games[:, :3], full.columns)
        support, abstract = full.rows > USED, small.rows > USED
        pure = abstract.sum(axis=1) == 1
        inside = (support[:, :3] | ~abstract).all(axis=1)
        plain, purified = (small.rows * worth).sum(axis=1), (purify(small.rows) * worth).sum(axis=1)
        parts.append((plain, purified, support.sum(axis=1), support[:, 3], pure | inside))
    return Sample(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _mean(name: str, sample: Array, paper: float | None = None, error: float = 0.0, note: str = "") -> Row:
    """A mean with its interval; the paper's own error counts too."""
    ours, half = float(sample.mean()), NORMAL * float(sample.std(ddof=1)) / len(sample) ** 0.5
    return Row(name, paper, ours, ours - half, ours + half, (half**2 + error**2) ** 0.5, note)


def _share_error(share: float, count: int = FULL) -> float:
    return float(NORMAL * (share * (1 - share) / count) ** 0.5)


def run(full: bool, seed: int) -> Report:
    """Pay-offs, shares, and the same by support of the full equilibrium."""
    sample = play(FULL if full else DEFAULT, seed)
    gain = sample.purified - sample.plain
    better, worse = gain > SAME, gain < -SAME
    rows = [
        _mean("mean pay-off, purified", sample.purified, -0.050987, 0.00042),
        _mean("mean pay-off, unpurified", sample.plain, -0.054905, 0.00044),
        _mean("gain of purification", gain, 0.003918, note="paper: difference of its means"),
    ]
    shares = (("better", better, 0.174379), ("worse", worse, 0.114776), ("same", ~better & ~worse, 0.710845))
    rows += [_mean(f"share {name}", hit.astype(float), paper, _share_error(paper)) for name, hit, paper in shares]
    rows.append(
        Row(
            "largest change where proposition 4 allows none",
            0.0,
            float(np.abs(gain[sample.safe]).max()),
            tolerance=SAME,
        )
    )
    for missing in (False, True):
        for size in range(1, 5):
            chosen = (sample.size == size) & (sample.missing == missing)
            if chosen.sum() > 1:
                place = "with row 4" if missing else "within rows 1 to 3"
                what = f"gain, full support of {size} {place}"
                rows.append(_mean(what, gain[chosen], note=f"{100 * chosen.mean():.1f} % of the games"))
    notes = (
        f"{len(gain):,} games; a paper's figure matches within both 95 % errors. Shares count pay-offs within {SAME:g} "
        "as the same.",
        "Proposition 4: purification changes nothing where the abstract equilibrium is pure or its support lies in that of "
        "the full equilibrium. Observation 2 compares by support of the full equilibrium, without figures. "
        "Here purification gains on average for every support, except where proposition 4 rules a change out.",
    )
    return Report(tuple(rows), notes)


EXPERIMENT = Experiment(
    "purification-matrices",
    "Purification in random 4 × 4 games with 3 × 3 abstractions",
    "Ganzfried, Sandholm & Waugh 2012, table 1",
    "10 s",
    "1 min",
    run,
)
