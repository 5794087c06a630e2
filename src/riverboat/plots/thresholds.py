"""Plots of threshold profiles: bars from weak to strong hands, one for each player and situation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from riverboat.plots.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from riverboat.continuous.strategies import ThresholdProfile

# One color for each kind of action; further sizes get colors of their own.
COLOURS = {"f": "#7a869a", "x": "#b8c4d6", "c": "#6fbf8b", "b": "#e2a33b", "r": "#c8553d"}
EXTRA_COLOURS = ("#5b8ff9", "#9270ca", "#ff9d4d", "#269a99", "#ff99c3", "#6dc8ec")
ACTION_NAMES = {"f": "fold", "x": "check", "c": "call", "b": "bet", "r": "raise"}


def plot_profile(profile: ThresholdProfile, title: str | None = None) -> Figure:
    """Plot a threshold profile as bars from weak to strong hands; the axis is the probability of a lower signal.

    Parameters
    ----------
    profile
        Thresholds of all players and situations.
    title
        Title of the plot; by default the name of the game.

    Examples
    --------
    >>> from riverboat.continuous.examples import river
    >>> from riverboat.continuous.solver import solve
    >>> figure = plot_profile(solve(river(street="half"))[0].profile)
    >>> figure.axes[0].get_title() == river(street="half").name
    True
    """
    return plot_profiles([(title or profile.game.name, profile)])


def plot_profiles(profiles: Sequence[tuple[str, ThresholdProfile]]) -> Figure:
    """Plot threshold profiles with their titles, one below the other.

    Parameters
    ----------
    profiles
        Titles and profiles.

    Examples
    --------
    >>> from riverboat.continuous.examples import river
    >>> from riverboat.continuous.solver import solve
    >>> half_streets = {f"pot {pot:g}": solve(river(pot=pot, street="half"))[0].profile for pot in (1.0, 2.0)}
    >>> len(plot_profiles(list(half_streets.items())).axes)
    2
    """
    from matplotlib.patches import Patch  # slow to load

    sizes = [len(profile.bands) for _, profile in profiles]
    height = sum(0.8 + 0.62 * size for size in sizes) + 0.4
    figure, grid = new_figure((9.0, height), len(profiles), height_ratios=[size + 1 for size in sizes])
    colours: dict[str, str] = {}
    for axis, (title, profile) in zip(grid[:, 0], profiles, strict=True):
        _draw(axis, profile, colours)
        axis.set_title(title, fontsize=11)
    grid[-1, 0].set_xlabel("share of the player's signals, weak to strong")
    handles = [Patch(color=colour, label=ACTION_NAMES.get(label, label)) for label, colour in colours.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 8), fontsize=8, frameon=False)
    return figure


def _draw(axis: Any, profile: ThresholdProfile, colours: dict[str, str]) -> None:
    """Draw a bar for each player and situation. New actions get colours, which are added to `colours`."""
    game = profile.game
    rows = sorted(range(len(game.situations)), key=lambda s: game.situations[s].player)
    for height, s in enumerate(reversed(rows)):
        situation, bands = game.situations[s], profile.bands[s]
        ends = [game.signals.low, *bands.cuts, game.signals.high]
        shares = [float(game.signals.cdf(situation.player, np.asarray(x))) for x in ends]
        for left, right, move in zip(shares, shares[1:], bands.moves, strict=False):
            label = situation.moves[move]
            colour = colours.setdefault(label, _colour(label, colours))
            axis.barh(height, right - left, left=left, height=0.72, color=colour, edgecolor="white", linewidth=1.2)
            if right - left > 0.035:
                text = ACTION_NAMES.get(label, label)
                axis.text((left + right) / 2, height, text, ha="center", va="center", fontsize=8)
        last = -1.0
        for share in shares[1:-1]:
            above, last = height + (0.49 if share - last < 0.045 else 0.38), share
            axis.text(share, above, f"{share:.3f}", ha="center", va="bottom", fontsize=6, color="#444")
    names = [f"player {game.situations[s].player}: {_situation_label(game.situations[s].name)}" for s in reversed(rows)]
    axis.set_yticks(range(len(rows)), names, fontsize=9)
    axis.set(xlim=(0, 1), ylim=(-0.6, len(rows) - 0.3))
    axis.spines[["top", "right", "left"]].set_visible(False)


def _colour(label: str, colours: dict[str, str]) -> str:
    extra = sum(colour in EXTRA_COLOURS for colour in colours.values())
    return COLOURS.get(label, EXTRA_COLOURS[extra % len(EXTRA_COLOURS)])


def _situation_label(name: str) -> str:
    return " ".join(ACTION_NAMES.get(word, word) for word in name.split("-"))
