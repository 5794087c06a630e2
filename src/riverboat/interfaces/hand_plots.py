"""Pictures of players."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from riverboat import disk
from riverboat.exploit.habits import HABITS, POSITIONS, Habits, Share

_WORDS = {key: key.replace("_", " ") for key in HABITS} | {"vpip": "VPIP", "pfr": "PFR"}
_COLOURS = tuple(f"C{k}" for k in range(10))


def facts(players: list[Habits], path: Path) -> None:
    """Shares with their intervals: what a player does, and how aggressive it is by street and position."""
    disk.check_picture(path)
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
    disk.save_picture(figure, path)
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
