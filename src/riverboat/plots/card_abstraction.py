"""Plots of card abstractions: centroids, public buckets, a board's grid by bucket, a hand next to its centroid."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.patches import FancyBboxPatch

from riverboat.core.arrays import Array
from riverboat.plots.colours import CALL_COLOUR, CHALK, FOLD_COLOUR, INK, LIGHT, PALE, RAISE_COLOURS, WEIGHT_COLOUR
from riverboat.plots.figures import new_figure
from riverboat.plots.hand_grids import draw_cells

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from riverboat.abstraction.explanation import BucketPlacement

MAX_COLUMNS = 10  # panels in one row
HAND, CENTRE = WEIGHT_COLOUR, FOLD_COLOUR
_SUITS = {"c": ("♣", CALL_COLOUR), "d": ("♦", FOLD_COLOUR), "h": ("♥", RAISE_COLOURS[1]), "s": ("♠", INK)}


def plot_centroids(title: str, shapes: Array, titles: Sequence[str], means: Sequence[float] | None = None) -> Figure:
    """Plot centroids as bars, a panel for each.

    Parameters
    ----------
    title
        Title of the figure.
    shapes
        Histograms, or strengths against groups of hands. float [panels, bins]
    titles
        Title of each panel.
    means
        Means of the histograms, from 0 to 1, drawn as lines. Without them, the bars are apart.
    """
    count, width = shapes.shape
    columns = min(MAX_COLUMNS, count)
    rows = ceil(count / columns)
    figure, grid = new_figure((1.25 * columns + 0.5, 1.05 * rows + 0.9), rows, columns, sharex=True, sharey=True)
    axes = grid.ravel()
    for axis in axes[count:]:
        axis.remove()
    for k, (axis, name) in enumerate(zip(axes, titles, strict=False)):
        axis.bar(np.arange(width) + 0.5, shapes[k], width=0.8 if means is None else 1.0, color=HAND)
        axis.set(xticks=[], yticks=[], xlim=(0, width))
        axis.set_title(name, fontsize=7, pad=2)
        if means is not None:
            axis.axvline(width * means[k], color=PALE, lw=0.8, zorder=0)
        axis.spines[["top", "right", "left"]].set_visible(False)
        axis.spines["bottom"].set_color(PALE)
    figure.suptitle(title, fontsize=10)
    return figure


def plot_boards(title: str, groups: Sequence[tuple[str, Sequence[Sequence[str]]]], cards: int, boards: int) -> Figure:
    """Plot groups of boards as cards.

    Parameters
    ----------
    title
        Title of the figure.
    groups
        Title of each group, and its boards: cards such as `Ts`.
    cards
        Cards of a board.
    boards
        Most boards of a group.
    """
    columns = min(MAX_COLUMNS, len(groups))
    rows = ceil(len(groups) / columns)
    wide, high = cards + 0.9, boards + 1.3  # size of a panel, in cards
    figure, ((axes,),) = new_figure((0.34 * wide * columns + 0.3, 0.34 * high * rows + 0.7))
    axes.set(xlim=(0, wide * columns), ylim=(high * rows, 0), aspect="equal")
    axes.set_axis_off()
    for number, (name, group) in enumerate(groups):
        left, top = wide * (number % columns), high * (number // columns)
        axes.text(left + 0.1, top + 0.55, name, fontsize=6.5, color=INK)
        for k, board in enumerate(group):
            for j, card in enumerate(board):
                x, y = left + 0.1 + j, top + 0.75 + k
                corner, shape = (x + 0.06, y + 0.06), "round,pad=0,rounding_size=0.14"
                axes.add_patch(FancyBboxPatch(corner, 0.84, 0.84, boxstyle=shape, fc=LIGHT, ec=PALE, lw=0.4))
                mark, colour = _SUITS[card[1]]
                axes.text(x + 0.48, y + 0.5, card[0] + mark, color=colour, fontsize=7.5, ha="center", va="center")
    figure.suptitle(title, fontsize=10)
    return figure


def plot_buckets(title: str, cells: Sequence[Array], labels: Sequence[str]) -> Figure:
    """Plot a 13 × 13 grid whose cells are divided among buckets.

    Parameters
    ----------
    title
        Title of the figure.
    cells
        Color value from 0 (weakest) to 1 of each hand of each cell. float [169][hands]
    labels
        Texts of the cells. [169]
    """
    figure, ((axes,),) = new_figure((8, 8.6))
    layers = [_color_shares(values) for values in cells]
    inks = [_text_colour(shares) for shares in layers]
    draw_cells(axes, layers, [1.0] * len(layers), zip(labels, inks, strict=True), fontsize=9)
    axes.set_title(title, fontsize=11)
    return figure


def _color_shares(values: Array) -> list[tuple[tuple[float, ...], float]]:
    """Return the colors of a cell from weak to strong and their shares, from the color value of each of its hands."""
    shades = colormaps["turbo"]
    pairs = zip(*np.unique(values, return_counts=True), strict=True)
    return [(shades(0.06 + 0.88 * float(value)), int(hands) / len(values)) for value, hands in pairs]


def _text_colour(shares: Sequence[tuple[Sequence[float], float]]) -> str:
    """Return the color of a text that is legible in the middle of a cell with these colors and their shares."""
    if not shares:
        return PALE
    ends = np.cumsum([0.0, *(share for _, share in shares)])
    middle = [colour for (colour, _), start in zip(shares, ends, strict=False) if start <= 0.5][-1]
    return INK if float(np.dot((0.299, 0.587, 0.114), middle[:3])) > 0.43 else CHALK


def plot_hand(title: str, placements: Sequence[BucketPlacement]) -> Figure:
    """Plot a hand's histogram next to the centroid of its bucket, a panel for each street.

    Parameters
    ----------
    title
        Title of the figure.
    placements
        Buckets of the hand by street, with histograms or equities by group.
    """
    count = len(placements)
    figure, (axes,) = new_figure((max(5.0, 4.2 * count), 3.6), columns=count)
    for axis, placement in zip(axes, placements, strict=True):
        _draw_placement(axis, placement)
    figure.suptitle(title, fontsize=11)
    return figure


def _draw_placement(axis: Any, placement: BucketPlacement) -> None:
    if placement.ochs:
        at = np.arange(len(placement.ochs))
        axis.bar(at - 0.2, placement.ochs, width=0.4, color=HAND, label="hand")
        axis.bar(at + 0.2, placement.centre_ochs, width=0.4, color=CENTRE, label="centre")
        axis.set(xlabel="group of starting hands", ylabel="strength", ylim=(0, 1), xticks=at, xticklabels=at + 1)
    else:
        edges = np.linspace(0, 1, len(placement.histogram) + 1)
        axis.stairs(placement.histogram, edges, fill=True, color=HAND, label="hand")
        if placement.centre_histogram:
            axis.stairs(placement.centre_histogram, edges, color=CENTRE, lw=1.4, label="centre")
        axis.set(xlabel="river strength", ylabel="share of the runouts", xlim=(0, 1))
    axis.spines[["top", "right"]].set_visible(False)
    title = f"{placement.street}: bucket {placement.bucket:,} of {placement.buckets:,}"
    if placement.distance is not None:
        title += f", {placement.distance:.3g} {placement.unit} away"
    if placement.strength is not None:
        title += f"\nE[HS] {placement.strength:.3f}, E[HS²] {placement.square:.3f}"
    axis.set_title(title, fontsize=9)
    axis.legend(frameon=False, fontsize=8)
