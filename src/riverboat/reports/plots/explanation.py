"""The dial of an explanation as a picture."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt

from riverboat.core import atomic_io
from riverboat.explain.explanation import Explanation

SHARES = ("agreement", "unseen", "distance")


def draw(explanations: list[Explanation], path: Path) -> None:
    """Fidelity by the number of rules, and what following them costs, one row for each explanation."""
    figure, grid = plt.subplots(
        len(explanations), 2, figsize=(11, 4 * len(explanations)), squeeze=False, layout="constrained"
    )
    for (left, right), one in zip(grid, explanations, strict=True):
        rules = one.dial.column("rules")
        for name in SHARES:
            points = [(x, y) for x, y in zip(rules, one.dial.column(name), strict=True) if y is not None]
            if points:
                left.plot([x for x, _ in points], [100 * float(y) for _, y in points], marker=".", label=name)
        left.set(xscale="log", xlabel="rules", ylabel="%", title=one.decisions.title)
        costs = [name for name in one.dial.names if name in ("ev_lost", *one.costs)]
        for name in costs:
            right.plot(rules, one.dial.column(name), marker=".", label=name)
        for style, row in zip((":", "--", "-."), one.baselines, strict=False):
            if costs and row.get(costs[-1]) is not None:
                right.axhline(row[costs[-1]], linestyle=style, color="grey", label=f"{row['instead']} ({costs[-1]})")
        right.set(xscale="log", xlabel="rules", ylabel=one.decisions.unit, title="what following them costs")
        for axis in (left, right):
            axis.grid(visible=True, alpha=0.3)
            if axis.get_legend_handles_labels()[0]:
                axis.legend(fontsize=8)
    atomic_io.save_picture(figure, path)
    plt.close(figure)
