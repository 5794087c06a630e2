"""Profit and win rate of deviation-based best response in limit hold'em as a match goes on.

Figure 8 of the thesis proposal: against an opponent who can be exploited the win rate grows once answers are played. The
matches are those of `dbbr-table-3`, longer and against fewer opponents.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from riverboat.games.acpc import read_game
from riverboat.reproduce.dbbr_table_3 import BASE, FULL, Played, Size, cards, matches, notes
from riverboat.reproduce.framework import Curve, Experiment, Report
from riverboat.reproduce.rows import Row, finding, new

POINTS = 40  # of a curve


def report(played: dict[str, dict[str, Played]], size: Size) -> Report:
    """Curves of all matches, and how the win rate of the second half compares with that of the hands before an answer."""
    rows: list[Row] = []
    curves: list[Curve] = []
    grown = 0
    begin = size.every  # pairs before the first answer can be played: 2 · every hands
    for name, by_fit in played.items():
        for fit, one in by_fit.items():
            curves += _curves(name, fit, one)
            if fit == BASE:
                continue
            before, after = one.pairs[:begin], one.pairs[len(one.pairs) // 2 :]
            gain = float(after.mean() - before.mean())
            half = 1.96 * float(np.sqrt(before.var(ddof=1) / len(before) + after.var(ddof=1) / len(after)))
            note = f"{before.mean():.3f} before the first answer, {after.mean():.3f} in the second half"
            rows.append(
                new(
                    f"{name}: {fit}, how much the win rate grows", gain, (gain - half, gain + half), null=0.0, note=note
                )
            )
            grown += gain > 0
    rows.append(finding("win rates that grow", float(len(rows)), float(grown), note="Figure 8: all"))
    return Report(tuple(rows), notes(size), tuple(curves))


def _curves(name: str, fit: str, one: Played) -> list[Curve]:
    ends = np.unique(np.linspace(1, len(one.pairs), POINTS).astype(int))
    profit = 2 * np.cumsum(one.pairs)[ends - 1]
    x = tuple((2.0 * ends).tolist())
    return [
        Curve(fit, x, tuple(profit.tolist()), f"{name}: profit in small bets, by hands"),
        Curve(fit, x, tuple((profit / (2 * ends)).tolist()), f"{name}: small bets a hand, by hands"),
    ]


def run(full: bool, seed: int) -> Report:
    """Both pictures of every opponent."""
    size = FULL if full else replace(Size(), hands=4000, opponents=("always-raise", "random"), after=4)
    return report(matches(read_game("limit"), cards(), size, seed), size)


EXPERIMENT = Experiment(
    id="dbbr-figure-8",
    title="Profit and win rate of deviation-based best response as a match goes on",
    source="Ganzfried & Sandholm 2011, Figure 8 of the thesis proposal",
    cost="2 min",
    full_cost="40 min",
    run=run,
)
