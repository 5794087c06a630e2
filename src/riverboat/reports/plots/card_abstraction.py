"""Plots of card abstractions: centroids, public buckets, a board's grid by bucket, and one hand next to its centroid.

Every function returns a matplotlib figure; `save_figure` writes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from riverboat.abstraction.cards.card_abstraction import STREETS, CardAbstraction
from riverboat.abstraction.quality import (
    bucket_sizes,
    centroid_kind,
    mean_strengths,
    ochs_equities,
    sample_boards,
    strength_histograms,
)
from riverboat.cards.deck import FULL_DECK, HAND_CARDS, RANKS
from riverboat.cards.grid import (
    CALL_COLOUR,
    CHALK,
    CLASS_NAMES,
    CLASS_OF_HAND,
    FOLD_COLOUR,
    INK,
    LIGHT,
    PALE,
    RAISE_COLOURS,
    WEIGHT_COLOUR,
)
from riverboat.cards.isomorphism import canonical_boards
from riverboat.cards.notation import Cards, as_board, format_cards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, unknown_name_error
from riverboat.core.files import save_figure as save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from riverboat.abstraction.explanation import BucketExplanation, BucketPlacement

MAX_PANELS = 60  # centroids in one figure
SAMPLE_BOARDS = 5  # boards shown of a public bucket
HAND, CENTRE = WEIGHT_COLOUR, FOLD_COLOUR
_SUITS = (("♣", CALL_COLOUR), ("♦", FOLD_COLOUR), ("♥", RAISE_COLOURS[1]), ("♠", INK))  # in the order of the cards


# --- Centroids ---


def plot_centroids(abstraction: CardAbstraction, street: str, panels: int = MAX_PANELS) -> Figure:
    """Plot the centroids of a street from weak to strong, with their shares of the deals.

    Parameters
    ----------
    abstraction
        Card abstraction whose buckets have centroids, as those of k-means do.
    street
        `preflop`, `flop`, `turn` or `river`.
    panels
        Largest number of centroids. Of more, a sample at equal steps of the shares is shown.

    Returns
    -------
    Figure
        A matplotlib figure; `save_figure` writes it.

    Raises
    ------
    InputError
        If the street is unknown, its buckets have no centroids, or `panels` is below 1.
    """
    from matplotlib.figure import Figure

    r = _street_index(abstraction, street)
    kind, strength = centroid_kind(abstraction, r), mean_strengths(abstraction, r)
    if strength is None or kind == "strength":
        raise InputError(f"{street} of {abstraction.name}: its buckets have no centroids to plot")
    if panels < 1:
        raise InputError(f"panels={panels}: must be at least 1")
    shapes = ochs_equities(abstraction.streets[r].centres) if kind == "ochs" else strength_histograms(abstraction, r)
    assert shapes is not None
    sizes = bucket_sizes(abstraction, r)
    weight = np.ones(len(strength)) if sizes is None else sizes
    chosen = _sample_by_weight(strength, weight, panels)
    columns = min(10, len(chosen))
    rows = ceil(len(chosen) / columns)
    figure = Figure(figsize=(1.25 * columns + 0.5, 1.05 * rows + 0.9), layout="constrained")
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for axis in axes[len(chosen) :]:
        axis.remove()
    width = shapes.shape[1]
    for axis, b in zip(axes, chosen, strict=False):
        axis.bar(np.arange(width) + 0.5, shapes[b], width=1.0 if kind != "ochs" else 0.8, color=HAND)
        axis.set(xticks=[], yticks=[], xlim=(0, width))
        axis.set_title(f"{b}: {100 * weight[b] / weight.sum():.2g} %", fontsize=7, pad=2)
        if kind != "ochs":
            axis.axvline(width * strength[b], color=PALE, lw=0.8, zorder=0)
        axis.spines[["top", "right", "left"]].set_visible(False)
        axis.spines["bottom"].set_color(PALE)
    shown = f", {len(chosen)} of them" if len(chosen) < len(strength) else ""
    description = (
        "strength against eight groups" if kind == "ochs" else "river strength, from 0 to 1; the line is its mean"
    )
    figure.suptitle(f"{abstraction.name}, {street}: {len(strength):,} buckets{shown}\n{description}", fontsize=10)
    return figure


def _sample_by_weight(strength: Array, weight: Array, count: int) -> list[int]:
    """Return non-empty buckets in order of strength; at most `count`, at equal steps of the weight."""
    order = np.argsort(strength, kind="stable")
    order = order[weight[order] > 0]
    if len(order) <= count:
        return [int(b) for b in order]
    reached = np.cumsum(weight[order])
    at = np.searchsorted(reached, (np.arange(count) + 0.5) / count * reached[-1])
    return [int(b) for b in order[np.unique(at)]]


def _street_index(abstraction: CardAbstraction, street: str) -> int:
    names = STREETS[: len(abstraction.streets)]
    if street not in names:
        raise unknown_name_error("street", street, names)
    return names.index(street)


# --- Public buckets ---


def plot_public_buckets(abstraction: CardAbstraction, boards: int = SAMPLE_BOARDS) -> Figure:
    """Plot every public bucket with a sample of its boards, and its share of all boards.

    Parameters
    ----------
    abstraction
        Card abstraction with public buckets.
    boards
        Boards shown of each bucket.

    Returns
    -------
    Figure
        A matplotlib figure; `save_figure` writes it.

    Raises
    ------
    InputError
        If the abstraction has no public buckets.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> from riverboat.abstraction.clustering.public_clusters import PublicBuckets
    >>> from riverboat.games.holdem.rules import read_game
    >>> deck = read_game("leduc").deck
    >>> ranks = PublicBuckets(np.arange(3), 1, deck)  # one public bucket for each rank of the public card
    >>> figure = plot_public_buckets(replace(lossless_abstraction((1,), deck), public=ranks), boards=1)
    >>> len(figure.axes[0].texts)
    6
    """
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyBboxPatch

    public = abstraction.public
    if public is None:
        raise InputError(
            f"{abstraction.name}: the abstraction has no public buckets; the recipe needs a [public] section"
        )
    all_boards, times = canonical_boards(public.cards, abstraction.deck)
    labels = np.asarray(public.labels)
    columns = min(10, public.count)
    rows = ceil(public.count / columns)
    wide, high = public.cards + 0.9, boards + 1.3  # size of a panel, in cards
    figure = Figure(figsize=(0.34 * wide * columns + 0.3, 0.34 * high * rows + 0.7), layout="constrained")
    axes = figure.add_subplot()
    axes.set(xlim=(0, wide * columns), ylim=(high * rows, 0), aspect="equal")
    axes.set_axis_off()
    for c in range(public.count):
        left, top = wide * (c % columns), high * (c // columns)
        in_bucket = labels == c
        share = 100 * times[in_bucket].sum() / times.sum()
        axes.text(left + 0.1, top + 0.55, f"{c}: {in_bucket.sum()} boards, {share:.2g} %", fontsize=6.5, color=INK)
        for k, b in enumerate(sample_boards(labels, times, c, boards)):
            for j, card in enumerate(sorted(all_boards[b].tolist(), reverse=True)):
                x, y = left + 0.1 + j, top + 0.75 + k
                corner, shape = (x + 0.06, y + 0.06), "round,pad=0,rounding_size=0.14"
                axes.add_patch(FancyBboxPatch(corner, 0.84, 0.84, boxstyle=shape, fc=LIGHT, ec=PALE, lw=0.4))
                mark, colour = _SUITS[card & 3]
                text = RANKS[card >> 2] + mark
                axes.text(x + 0.48, y + 0.5, text, color=colour, fontsize=7.5, ha="center", va="center")
    total = f"{public.count} public buckets of {len(all_boards):,} boards"
    figure.suptitle(f"{abstraction.name}: {total}; shares are of all {int(times.sum()):,}", fontsize=10)
    return figure


# --- Grid of a board by bucket ---


def plot_bucket_grid(abstraction: CardAbstraction, board: Cards) -> Figure:
    """Plot the 13 × 13 grid of one board with a color for each bucket; buckets of similar strength have similar colors.

    A cell is divided among its buckets in proportion to their hands; it is grey if the board blocks all its hands.

    Parameters
    ----------
    abstraction
        Card abstraction of hold'em with 52 cards.
    board
        Public cards, such as `Td9d6h`; empty before the flop.

    Returns
    -------
    Figure
        A matplotlib figure; `save_figure` writes it.

    Raises
    ------
    InputError
        If the abstraction has another deck, or the board is no board of it.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> figure = plot_bucket_grid(lossless_abstraction(()), "")
    >>> len(figure.axes[0].texts)
    169
    """
    from matplotlib import colormaps
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    cards = as_board(board)
    if abstraction.deck != FULL_DECK:
        raise InputError(f"{abstraction.name}: grids need hold'em with 52 cards")
    buckets, colours = bucket_colours(abstraction, cards)
    shades = colormaps["turbo"]
    figure = Figure(figsize=(8, 8.6), layout="constrained")
    axes = figure.add_subplot()
    axes.set(xlim=(0, 13), ylim=(13, 0), aspect="equal")
    axes.set_axis_off()
    for cell in range(169):
        row, column = divmod(cell, 13)
        axes.add_patch(Rectangle((column + 0.02, row + 0.02), 0.96, 0.96, color=LIGHT, lw=0))
        live = np.flatnonzero((cell == CLASS_OF_HAND) & (buckets >= 0))
        values, count = np.unique(colours[live], return_counts=True)
        left, middle = column + 0.02, (1.0, 1.0, 1.0, 1.0)
        for value, hands in zip(values.tolist(), count.tolist(), strict=True):
            width = 0.96 * hands / len(live)
            shade = shades(0.06 + 0.88 * value)
            axes.add_patch(Rectangle((left, row + 0.02), width, 0.96, color=shade, lw=0))
            middle = shade if left <= column + 0.5 else middle
            left += width
        ink = PALE if not len(live) else _text_colour(middle)
        axes.text(column + 0.5, row + 0.5, CLASS_NAMES[cell], color=ink, ha="center", va="center", fontsize=9)
    used = len(np.unique(buckets[buckets >= 0]))
    total = abstraction.counts[abstraction.street_of(cards)]
    axes.set_title(
        f"{abstraction.name} on {format_cards(cards, ' ')}: {used:,} of {total:,} buckets\nblue is weak, red is strong",
        fontsize=11,
    )
    return figure


def bucket_colours(abstraction: CardAbstraction, cards: tuple[int, ...]) -> tuple[Array, Array]:
    """Return the bucket of every hand on a board and its color value.

    Parameters
    ----------
    abstraction
        Card abstraction of hold'em with 52 cards.
    cards
        Public cards by index.

    Returns
    -------
    tuple
        Buckets, -1 if the board blocks a hand. int32 [1326]. Color values from 0 (weakest) to 1 at equal steps;
        buckets without centroids are ordered by index. float64 [1326]

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> buckets, colours = bucket_colours(lossless_abstraction(()), ())
    >>> int(buckets.max()), float(colours.max())
    (168, 1.0)
    """
    live = np.flatnonzero(~np.isin(HAND_CARDS, cards).any(axis=1))
    r = abstraction.street_of(cards)
    dealt = np.array([cards] * len(live), np.uint8).reshape(len(live), len(cards))
    buckets = np.full(len(HAND_CARDS), -1, np.int32)
    buckets[live] = abstraction.buckets(np.concatenate([HAND_CARDS[live], dealt], axis=1), check=False)[:, 0, r]
    used = np.unique(buckets[live])
    strength = mean_strengths(abstraction, r)
    if strength is not None:
        used = used[np.argsort(strength[used], kind="stable")]
    rank = np.empty(abstraction.counts[r])
    rank[used] = np.arange(len(used)) / max(1, len(used) - 1)
    colour = np.zeros(len(HAND_CARDS))
    colour[live] = rank[buckets[live]]
    return buckets, colour


def _text_colour(colour: Sequence[float]) -> str:
    """Return the text color that is legible on a background of red, green and blue from 0 to 1."""
    return INK if float(np.dot((0.299, 0.587, 0.114), colour[:3])) > 0.43 else CHALK


# --- One hand ---


def plot_hand(explanation: BucketExplanation) -> Figure:
    """Plot a hand's histogram next to the centroid of its bucket, street by street; on the river its equity by group.

    Parameters
    ----------
    explanation
        Buckets of one hand, from `riverboat.abstraction.explanation.explain_buckets`.

    Returns
    -------
    Figure
        A matplotlib figure; `save_figure` writes it.

    Raises
    ------
    InputError
        If no street of the explanation has a histogram or equities by group.
    """
    from matplotlib.figure import Figure

    placements = [placement for placement in explanation.streets if placement.histogram or placement.ochs]
    if not placements:
        raise InputError(f"{explanation.hand}: nothing to plot; give a hold'em board, such as Td9d6h")
    figure = Figure(figsize=(max(5.0, 4.2 * len(placements)), 3.6), layout="constrained")
    for axis, placement in zip(figure.subplots(1, len(placements), squeeze=False)[0], placements, strict=True):
        _draw_placement(axis, placement)
    on = f" on {explanation.board}" if explanation.board else ""
    figure.suptitle(f"{explanation.hand}{on} in {explanation.name}", fontsize=11)
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
