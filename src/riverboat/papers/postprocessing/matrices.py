"""Random matrix games played with the equilibrium of a part of them, purified and not.

Pay-offs are uniform on [-1, 1]. The abstraction has all rows and columns but the last. Player 1 plays its equilibrium of
that against player 2's equilibrium of the full game. The paper has 4 × 4 games; other sizes are
`purification-matrices:rows=5,columns=3`, or `by_supports`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from riverboat.core.errors import InputError
from riverboat.games.base import Array
from riverboat.papers.framework import Experiment, Report
from riverboat.papers.rows import Row, new, printed, theorem
from riverboat.solvers.exact.matrix_games import LARGEST, equilibria
from riverboat.strategies.postprocessing import purify

FULL = 1_500_000  # games, as in the paper
DEFAULT = 300_000
BATCH = 50_000
SAME = 1e-9  # pay-offs this close are equal
USED = 1e-9  # a move with more than this is in the support
PAPER_SIZE = (4, 4)
INSIDE = ("out", "in")


@dataclass(frozen=True, eq=False)
class Sample:
    """Random games, solved. All arrays are [games]."""

    plain: Array  # float64: pay-off of the abstract equilibrium
    purified: Array  # float64
    size: Array  # int: support of player 1's full equilibrium; player 2's has as many moves
    row: Array  # bool: player 1's has the row that the abstraction lacks
    column: Array  # bool: player 2's has the column that it lacks
    safe: Array  # bool: purification cannot matter, by proposition 4

    @property
    def gain(self) -> Array:
        """What purification earns more."""
        difference: Array = self.purified - self.plain
        return difference


def play(count: int, seed: int, rows: int = 4, columns: int = 4) -> Sample:
    """Draw and solve games of so many rows and columns."""
    for what, size in (("rows", rows), ("columns", columns)):
        if not 2 <= size <= LARGEST:
            raise InputError(f"{what}={size}: from 2 to {LARGEST}, as one is taken away")
    if count < 2:
        raise InputError(f"{count} games: at least 2, for a spread")
    rng = np.random.default_rng(seed)
    parts = []
    for start in range(0, count, BATCH):
        games = rng.uniform(-1.0, 1.0, (min(BATCH, count - start), rows, columns))
        full, small = equilibria(games), equilibria(games[:, :-1, :-1])
        worth = np.einsum("gij,gj->gi", games[:, :-1], full.columns)
        support, abstract = full.rows > USED, small.rows > USED
        pure = abstract.sum(axis=1) == 1
        inside = (support[:, :-1] | ~abstract).all(axis=1)
        plain, purified = (small.rows * worth).sum(axis=1), (purify(small.rows) * worth).sum(axis=1)
        parts.append((plain, purified, support.sum(axis=1), support[:, -1], full.columns[:, -1] > USED, pure | inside))
    return Sample(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _interval(sample: Array, confidence: float = 0.95) -> tuple[float, float]:
    """Of the mean."""
    mean, error = float(sample.mean()), float(sample.std(ddof=1)) / len(sample) ** 0.5
    half = float(ndtri(0.5 + confidence / 2)) * error
    return mean - half, mean + half


def by_supports(sample: Sample, rows: int, columns: int) -> list[Row]:
    """The gain by both supports of the full equilibrium, tested against zero.

    Intervals hold together: with 95 % none of them misses its mean, so that a table of fifteen has not one
    significant row by luck.
    """
    groups = [
        (size, row, column)
        for size in range(1, min(rows, columns) + 1)
        for row in (False, True)
        for column in (False, True)
    ]
    chosen = {g: (sample.size == g[0]) & (sample.row == g[1]) & (sample.column == g[2]) for g in groups}
    chosen = {g: hit for g, hit in chosen.items() if hit.sum() > 1}
    out = []
    for (size, row, column), hit in chosen.items():
        name = f"gain, supports of {size}: row {rows} {INSIDE[row]}, column {columns} {INSIDE[column]}"
        gain = sample.gain[hit]
        note = f"{100 * hit.mean():.1f} % of the games"
        if sample.safe[hit].all():
            out.append(theorem(name, 0.0, float(np.abs(gain).max()), rounding=SAME, note=f"{note}; by proposition 4"))
        else:
            interval = _interval(gain, 1 - 0.05 / len(chosen))
            out.append(new(name, float(gain.mean()), interval, null=0.0, note=note))
    return out


def _paper(sample: Sample) -> list[Row]:
    """Table 1. What must be told apart: purified from not, better from worse."""

    def row(name: str, values: Array, paper: float, error: float, rival: float) -> Row:
        return printed(
            name, paper, float(values.mean()), digits=6, interval=_interval(values), error=error, rivals=(rival,)
        )

    gain = sample.gain
    better, worse = gain > SAME, gain < -SAME
    rows = [
        row("mean pay-off, purified", sample.purified, -0.050987, 0.00042, -0.054905),
        row("mean pay-off, unpurified", sample.plain, -0.054905, 0.00044, -0.050987),
        # The paper has the same games for both and gives no error of the difference.
        row("gain of purification", gain, 0.003918, 0.0, 0.0),
    ]
    shares = (
        ("better", better, 261_569, 172_164),
        ("worse", worse, 172_164, 261_569),
        ("same", ~better & ~worse, 1_066_267, 261_569),
    )
    for name, hit, count, other in shares:
        share = count / FULL
        error = 1.959964 * (share * (1 - share) / FULL) ** 0.5
        rows.append(row(f"share {name}", hit.astype(float), round(share, 6), error, other / FULL))
    return rows


def run(full: bool, seed: int, rows: int = 4, columns: int = 4) -> Report:
    """Pay-offs, shares, and the gain by both supports of the full equilibrium."""
    sample = play(FULL if full else DEFAULT, seed, rows, columns)
    lines = _paper(sample) if (rows, columns) == PAPER_SIZE else []
    if not lines:
        lines.append(new("gain of purification", float(sample.gain.mean()), _interval(sample.gain), null=0.0))
    lines.append(
        theorem(
            "largest change where proposition 4 allows none",
            0.0,
            float(np.abs(sample.gain[sample.safe]).max(initial=0.0)),
            rounding=SAME,
        )
    )
    table = by_supports(sample, rows, columns)
    tested = [row for row in table if row.kind == "new"]
    signs = [row.verdict == "significant" and (row.ours > 0) - (row.ours < 0) for row in tested]
    notes = (
        f"{len(sample.gain):,} games; shares count pay-offs within {SAME:g} as the same.",
        "Proposition 4: purification changes nothing where the abstract equilibrium is pure or its support lies in that of "
        "the full equilibrium.",
        "Observation 2 is that purification gains by support of the full equilibrium, with exceptions, and prints no "
        f"figures. Here, by both supports: {signs.count(1)} of {len(tested)} groups in which it can matter gain "
        f"significantly, {signs.count(-1)} lose, {signs.count(0)} show neither. Intervals of the groups are 95 % for all "
        "together.",
    )
    return Report((*lines, *table), notes)


EXPERIMENT = Experiment(
    "purification-matrices",
    "Purification in random 4 × 4 games with 3 × 3 abstractions",
    "Ganzfried, Sandholm & Waugh 2012, table 1",
    "10 s",
    "1 min",
    run,
    options=("rows", "columns"),
)
