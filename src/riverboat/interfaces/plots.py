"""Pictures of runs."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt

from riverboat import disk
from riverboat.solving.run import Result


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
