"""Thresholds as bars from weak to strong hands, one bar for each player and situation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from riverboat.continuous.profile import Profile
from riverboat.core import atomic_io

# One colour for each kind of move, from giving up to raising; further sizes get darker ones of their own.
COLOURS = {"f": "#7a869a", "x": "#b8c4d6", "c": "#6fbf8b", "b": "#e2a33b", "r": "#c8553d"}
OTHERS = ("#5b8ff9", "#9270ca", "#ff9d4d", "#269a99", "#ff99c3", "#6dc8ec")
WORDS = {"f": "fold", "x": "check", "c": "call", "b": "bet", "r": "raise"}


def bars(profile: Profile, path: Path, title: str | None = None) -> None:
    """Draw a profile: the axis is the share of the player's own signals below a place."""
    panels([(title or profile.game.name, profile)], path)


def panels(named: Sequence[tuple[str, Profile]], path: Path) -> None:
    """Profiles with their titles, one below the other."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.patches import Patch

    sizes = [len(profile.bands) for _, profile in named]
    height = sum(0.8 + 0.62 * size for size in sizes) + 0.4
    figure, grid = plt.subplots(
        len(named), 1, figsize=(9.0, height), squeeze=False, layout="constrained", height_ratios=[s + 1 for s in sizes]
    )
    seen: dict[str, str] = {}
    for axis, (title, profile) in zip(grid[:, 0], named, strict=True):
        _draw(axis, profile, seen)
        axis.set_title(title, fontsize=11)
    grid[-1, 0].set_xlabel("share of the player's signals, weak to strong")
    handles: list[Any] = [Patch(color=colour, label=WORDS.get(label, label)) for label, colour in seen.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 8), fontsize=8, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_io.save_picture(figure, path)
    plt.close(figure)


def _draw(axis: Any, profile: Profile, seen: dict[str, str]) -> None:
    """A bar for each player and situation. seen: colours by move, more are added"""
    game = profile.game
    rows = sorted(range(len(game.situations)), key=lambda s: game.situations[s].player)
    for height, s in enumerate(reversed(rows)):
        situation, bands = game.situations[s], profile.bands[s]
        ends = [game.signals.low, *bands.cuts, game.signals.high]
        shares = [float(game.signals.cdf(situation.player, np.asarray(x))) for x in ends]
        for left, right, move in zip(shares, shares[1:], bands.moves, strict=False):
            label = situation.moves[move]
            colour = seen.setdefault(label, _colour(label, seen))
            axis.barh(height, right - left, left=left, height=0.72, color=colour, edgecolor="white", linewidth=1.2)
            if right - left > 0.035:
                axis.text((left + right) / 2, height, WORDS.get(label, label), ha="center", va="center", fontsize=8)
        last = -1.0
        for share in shares[1:-1]:
            near, last = share - last < 0.045, share
            axis.text(
                share, height + 0.38 + 0.11 * near, f"{share:.3f}", ha="center", va="bottom", fontsize=6, color="#444"
            )
    names = [f"player {game.situations[s].player}: {_said(game.situations[s].name)}" for s in reversed(rows)]
    axis.set_yticks(range(len(rows)), names, fontsize=9)
    axis.set(xlim=(0, 1), ylim=(-0.6, len(rows) - 0.3))
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)


def _colour(label: str, seen: dict[str, str]) -> str:
    plain = COLOURS.get(label)
    if plain is not None:
        return plain
    return OTHERS[sum(colour in OTHERS for colour in seen.values()) % len(OTHERS)]


def _said(name: str) -> str:
    return " ".join(WORDS.get(word, word) for word in name.split("-"))
