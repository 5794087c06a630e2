"""Pictures of runs."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.patches import Rectangle

from riverboat import disk
from riverboat.evaluation.matches import RoundRobin
from riverboat.solving.run import Result

UP, DOWN, EVEN = "#63b871", "#ef826f", "#8a8f98"  # won, lost, neither


def convergence(results: list[Result], path: Path) -> None:
    """Exploitability against iterations and against seconds, one line for each run."""
    disk.check_picture(path)
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), sharey=True, layout="constrained")
    for result in results:
        points = [
            p for p in result.history if p.exploitability is not None and p.exploitability > 0 and p.iteration > 0
        ]
        errors = [p.exploitability for p in points]
        label = result.schedule if result.method == "cfr" else result.method
        axes[0].plot([p.iteration for p in points], errors, marker=".", markersize=3, label=label)
        axes[1].plot([p.seconds for p in points], errors, marker=".", markersize=3, label=label)
    for axis, name in zip(axes, ("iterations", "seconds of solving"), strict=True):
        axis.set(xscale="log", yscale="log", xlabel=name)
        axis.grid(visible=True, which="major", alpha=0.3)
    axes[0].set_ylabel(f"exploitability ({results[0].unit})")
    axes[0].legend()
    figure.suptitle(f"{results[0].game}: {results[0].infosets:,} information sets")
    disk.save_picture(figure, path)
    plt.close(figure)


def crossed(matches: RoundRobin, path: Path) -> None:
    """What the agent of the row won of the one of the column, the best first; paler where that is not settled."""
    disk.check_picture(path)
    order, count = matches.ranking, len(matches.names)
    figure, axis = plt.subplots(figsize=(2.5 + 1.3 * count, 1.2 + 0.7 * count), layout="constrained")
    for row, i in enumerate(order):
        for column, j in enumerate(order):
            if i == j:
                continue
            won, half = matches.mbb(i, j)
            colour = (UP if won > 0 else DOWN if won < 0 else EVEN, 0.75 if abs(won) > half else 0.2)
            axis.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=colour, edgecolor="white"))
            axis.text(column, row, f"{won:+,.0f}\n± {half:,.0f}", ha="center", va="center", fontsize=9)
    names = [matches.names[i] for i in order]
    axis.set(xlim=(-0.5, count - 0.5), ylim=(count - 0.5, -0.5))
    axis.set_xticks(range(count), names, fontsize=9)
    axis.set_yticks(range(count), names, fontsize=9)
    axis.xaxis.tick_top()
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    figure.supxlabel("won by the row of the column, mbb/g ± 95 %", fontsize=9)
    disk.save_picture(figure, path)
    plt.close(figure)
