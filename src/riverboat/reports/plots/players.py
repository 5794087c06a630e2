"""Pictures of players."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from riverboat.core import atomic_io
from riverboat.opponents.models.evaluation import EQUILIBRIUM, FREQUENCIES, POPULATION, SHOWDOWNS, Judged
from riverboat.opponents.statistics import HABITS, POSITIONS, Habits, Share

_WORDS = {key: key.replace("_", " ") for key in HABITS} | {"vpip": "VPIP", "pfr": "PFR"}
_COLOURS = tuple(f"C{k}" for k in range(10))


def facts(players: list[Habits], path: Path) -> None:
    """Shares with their intervals: what a player does, and how aggressive it is by street and position."""
    atomic_io.check_picture(path)
    figure, axes = plt.subplots(1, 2, figsize=(11, 1.5 + 0.32 * 8 * max(1, len(players) / 3)), layout="constrained")
    places = list(dict.fromkeys(street for street, _ in players[0].aggression))
    rows = [(f"{street}, {position}", (street, position)) for street in places for position in POSITIONS]
    for k, player in enumerate(players):
        shift = (k - (len(players) - 1) / 2) * 0.7 / len(players)
        name = player.name if len(player.name) <= 24 else player.name[:23] + "…"
        _points(axes[0], [player[key] for key in HABITS], shift, k, f"{name} ({player.hands:,})")
        _points(axes[1], [player.aggression[key] for _, key in rows], shift, k, "")
    for axis, labels in zip(axes, (list(_WORDS.values()), [label for label, _ in rows]), strict=True):
        axis.set_yticks(range(len(labels)), labels)
        axis.set(xlim=(0, 100), ylim=(len(labels) - 0.5, -0.5), xlabel="% of chances, with the 95 % interval")
        axis.grid(visible=True, axis="x", alpha=0.3)
    axes[1].set_title("bets and raises, of all moves but checks", fontsize=10)
    figure.legend(loc="outside upper left", fontsize=8, ncols=2)
    atomic_io.save_picture(figure, path)
    plt.close(figure)


def _points(axis: Axes, shares: list[Share], shift: float, k: int, label: str) -> None:
    known = [(row, share) for row, share in enumerate(shares) if share.share is not None]
    middle = [100 * share.count / share.chances for _, share in known]
    low = [m - 100 * share.low for m, (_, share) in zip(middle, known, strict=True)]
    high = [100 * share.high - m for m, (_, share) in zip(middle, known, strict=True)]
    axis.errorbar(
        middle, [row + shift for row, _ in known], xerr=[low, high], fmt="o", markersize=4, capsize=2,
        color=_COLOURS[k % len(_COLOURS)], label=label or None,
    )  # fmt: skip


def calibration(players: list[Judged], path: Path) -> None:
    """How often moves were made, by what was said of them: on the diagonal, shares mean what they say."""
    atomic_io.check_picture(path)
    shown = (EQUILIBRIUM, FREQUENCIES, "l1", f"{POPULATION}, {SHOWDOWNS}")
    figure, axes = plt.subplots(
        1, len(players), figsize=(1 + 3.6 * len(players), 4.4), squeeze=False, sharey=True, layout="constrained"
    )
    for axis, player in zip(axes[0], players, strict=True):
        axis.plot([0, 1], [0, 1], color="#8a8f98", linewidth=1)
        for k, key in enumerate(shown):
            said, made, times = zip(*player.calibration(key), strict=True)
            half = [1.96 * (m * (1 - m) / n) ** 0.5 for m, n in zip(made, times, strict=True)]
            axis.errorbar(said, made, yerr=half, marker="o", markersize=3, capsize=2, linewidth=1, color=_COLOURS[k],
                          label=f"{key}: {player.loss(key)[0]:.3f}")  # fmt: skip
        axis.set(xlim=(0, 1), ylim=(0, 1), xlabel="said", title=player.name[:22])
        axis.title.set_fontsize(9)
        axis.grid(visible=True, alpha=0.3)
        axis.legend(fontsize=7, title="log-loss", title_fontsize=7)
    axes[0][0].set_ylabel("made")
    atomic_io.save_picture(figure, path)
    plt.close(figure)
