"""Draw 13 × 13 grids of starting hands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

from matplotlib.patches import Patch, Rectangle

from riverboat.plots.colours import LIGHT
from riverboat.plots.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from riverboat.cards.grid import HandGrid

GRIDS_PER_ROW = 3  # grids in one row of a figure
MARGIN, WIDTH = 0.02, 0.96  # margin and width of the colored part of a cell, as shares of the cell


def draw_cells(
    axes: Any,
    layers: Iterable[Sequence[tuple[Any, float]]],
    heights: Iterable[float],
    labels: Iterable[tuple[str, str]],
    **text_options: Any,
) -> None:
    """Draw the cells of a grid.

    Parameters
    ----------
    axes
        Axes to draw into.
    layers
        Colours and widths that fill each cell from the left; the widths of a cell sum to 1. [169]
    heights
        Height of the layers of each cell, from 0 to 1. [169]
    labels
        Text of each cell and its colour. [169]
    **text_options
        Options of the texts.
    """
    axes.set(xlim=(0, 13), ylim=(13, 0), aspect="equal")
    axes.set_axis_off()
    for cell, (shares, height, (label, ink)) in enumerate(zip(layers, heights, labels, strict=True)):
        row, column = divmod(cell, 13)
        left, size = column + MARGIN, WIDTH * height
        axes.add_patch(Rectangle((left, row + MARGIN), WIDTH, WIDTH, color=LIGHT, lw=0))
        for colour, share in shares:
            axes.add_patch(Rectangle((left, row + MARGIN + WIDTH - size), WIDTH * share, size, color=colour, lw=0))
            left += WIDTH * share
        axes.text(column + 0.5, row + 0.5, label, color=ink, ha="center", va="center", **text_options)


def draw_grid(axes: Any, grid: HandGrid) -> None:
    """Draw a grid with its title and legend.

    Parameters
    ----------
    axes
        Axes to draw into.
    grid
        Weights or frequencies of actions.
    """
    cells = [divmod(cell, 13) for cell in range(169)]
    layers = (grid.layers(*cell) if grid.weight[cell] > 0 else [] for cell in cells)
    inks = (grid.text_colour(*cell) for cell in cells)
    draw_cells(axes, layers, grid.weight.ravel().tolist(), zip(grid.labels, inks, strict=True))
    if grid.title:
        axes.set_title(grid.title)
    if grid.frequencies:
        marks = [Patch(color=colour, label=text) for colour, text in grid.legend()]
        below = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "ncols": min(len(marks), 5)}
        axes.legend(handles=marks, frameon=False, **below)


def plot_grid(grid: HandGrid) -> Figure:
    """Return a figure of one grid.

    Parameters
    ----------
    grid
        Weights or frequencies of actions.
    """
    figure, ((axes,),) = new_figure((8, 8.4 if grid.title or grid.frequencies else 8))
    draw_grid(axes, grid)
    return figure


def plot_grids(grids: Sequence[HandGrid]) -> Figure:
    """Return a figure of several grids, row by row.

    Parameters
    ----------
    grids
        At least one grid.
    """
    columns = min(GRIDS_PER_ROW, len(grids))
    rows = ceil(len(grids) / columns)
    figure, axes = new_figure((6.4 * columns, 7.0 * rows), rows, columns)
    for number, panel in enumerate(axes.ravel()):
        if number < len(grids):
            draw_grid(panel, grids[number])
        else:
            panel.set_axis_off()
    return figure
