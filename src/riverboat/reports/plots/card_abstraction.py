"""Pictures of card abstractions: centres, public buckets, a board's grid by bucket, and one hand beside its centre.

Every function returns a matplotlib figure; `save` writes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from riverboat.abstraction.cards.bucket_statistics import (
    kind_of,
    mean_strength,
    ochs_shares,
    sizes_of,
    strength_histograms,
)
from riverboat.abstraction.cards.card_abstraction import STREETS, CardAbstraction
from riverboat.abstraction.quality import sample_boards
from riverboat.cards.deck import FULL_DECK, HAND_CARDS, RANKS
from riverboat.cards.grid import CALL, CHALK, CLASS_NAMES, CLASS_OF_HAND, FOLD, INK, LIGHT, PALE, RAISES, WEIGHT
from riverboat.cards.isomorphism import canonical_boards
from riverboat.cards.notation import Cards, as_board, show_cards
from riverboat.core import atomic_io
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, unknown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from riverboat.abstraction.explanation import Explanation, Place

PANELS = 60  # centres in one picture
BOARDS = 5  # boards of a public bucket
HAND, CENTRE = WEIGHT, FOLD
_SUITS = (("♣", CALL), ("♦", FOLD), ("♥", RAISES[1]), ("♠", INK))  # in the order of the cards


def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure as .png, .svg or .pdf."""
    return atomic_io.save_picture(figure, path)


# --- centres ------------------------------------------------------------------------------------------


def centres(abstraction: CardAbstraction, street: str, panels: int = PANELS) -> Figure:
    """The centres of a street, weak ones first, with their shares of the deals; of many some at equal steps of these."""
    from matplotlib.figure import Figure

    r = _street(abstraction, street)
    kind, strength = kind_of(abstraction, r), mean_strength(abstraction, r)
    if strength is None or kind == "strength":
        raise InputError(f"{street} of {abstraction.name}: its buckets have no centres to draw")
    if panels < 1:
        raise InputError(f"panels={panels}: must be at least 1")
    shapes = ochs_shares(abstraction.streets[r].centres) if kind == "ochs" else strength_histograms(abstraction, r)
    assert shapes is not None
    sizes = sizes_of(abstraction, r)
    weight = np.ones(len(strength)) if sizes is None else sizes
    chosen = _steps(strength, weight, panels)
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
        _frame(axis)
    shown = f", {len(chosen)} of them" if len(chosen) < len(strength) else ""
    what = "strength against eight groups" if kind == "ochs" else "river strength, from 0 to 1; the line is its mean"
    figure.suptitle(f"{abstraction.name}, {street}: {len(strength):,} buckets{shown}\n{what}", fontsize=10)
    return figure


def _steps(strength: Array, weight: Array, count: int) -> list[int]:
    """Buckets with hands in order of strength; at most `count`, at equal steps of the weight."""
    order = np.argsort(strength, kind="stable")
    order = order[weight[order] > 0]
    if len(order) <= count:
        return [int(b) for b in order]
    reached = np.cumsum(weight[order])
    at = np.searchsorted(reached, (np.arange(count) + 0.5) / count * reached[-1])
    return [int(b) for b in order[np.unique(at)]]


def _street(abstraction: CardAbstraction, street: str) -> int:
    names = STREETS[: len(abstraction.streets)]
    if street not in names:
        raise unknown("street", street, names)
    return names.index(street)


def _frame(axis: Axes) -> None:
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
    axis.spines["bottom"].set_color(PALE)


# --- public buckets -----------------------------------------------------------------------------------


def public_buckets(abstraction: CardAbstraction, boards: int = BOARDS) -> Figure:
    """Every public bucket with some of its boards drawn as cards, and its share of all boards."""
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyBboxPatch

    public = abstraction.public
    if public is None:
        raise InputError(f"{abstraction.name}: has no public buckets; the recipe needs a [public] section")
    every, times = canonical_boards(public.cards, abstraction.deck)
    labels = np.asarray(public.labels)
    columns = min(10, public.count)
    rows = ceil(public.count / columns)
    wide, high = public.cards + 0.9, boards + 1.3  # of a panel, in cards
    figure = Figure(figsize=(0.34 * wide * columns + 0.3, 0.34 * high * rows + 0.7), layout="constrained")
    axes = figure.add_subplot()
    axes.set(xlim=(0, wide * columns), ylim=(high * rows, 0), aspect="equal")
    axes.set_axis_off()
    for c in range(public.count):
        left, top = wide * (c % columns), high * (c // columns)
        mine = labels == c
        share = 100 * times[mine].sum() / times.sum()
        axes.text(left + 0.1, top + 0.55, f"{c}: {mine.sum()} boards, {share:.2g} %", fontsize=6.5, color=INK)
        for k, b in enumerate(sample_boards(labels, times, c, boards)):
            for j, card in enumerate(sorted(every[b].tolist(), reverse=True)):
                x, y = left + 0.1 + j, top + 0.75 + k
                axes.add_patch(
                    FancyBboxPatch(
                        (x + 0.06, y + 0.06), 0.84, 0.84, boxstyle="round,pad=0,rounding_size=0.14", fc=LIGHT, ec=PALE, lw=0.4
                    )
                )  # fmt: skip
                mark, colour = _SUITS[card & 3]
                axes.text(
                    x + 0.48, y + 0.5, RANKS[card >> 2] + mark, color=colour, fontsize=7.5, ha="center", va="center"
                )
    total = f"{public.count} public buckets of {len(every):,} boards"
    figure.suptitle(f"{abstraction.name}: {total}; shares are of all {int(times.sum()):,}", fontsize=10)
    return figure


# --- a board by bucket --------------------------------------------------------------------------------


def grid(abstraction: CardAbstraction, board: Cards) -> Figure:
    """The 13 × 13 grid of one board: hands of one bucket have one colour, and buckets alike in strength have like colours.

    A cell is divided by its buckets, as wide as they have hands of it; it is grey where the board blocks all its hands.
    """
    from matplotlib import colormaps
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    cards = as_board(board)
    if abstraction.deck != FULL_DECK:
        raise InputError(f"{abstraction.name}: grids are for hold'em with 52 cards")
    buckets, place = colour_places(abstraction, cards)
    shades = colormaps["turbo"]
    figure = Figure(figsize=(8, 8.6), layout="constrained")
    axes = figure.add_subplot()
    axes.set(xlim=(0, 13), ylim=(13, 0), aspect="equal")
    axes.set_axis_off()
    for cell in range(169):
        row, column = divmod(cell, 13)
        axes.add_patch(Rectangle((column + 0.02, row + 0.02), 0.96, 0.96, color=LIGHT, lw=0))
        live = np.flatnonzero((cell == CLASS_OF_HAND) & (buckets >= 0))
        values, count = np.unique(place[live], return_counts=True)
        left, middle = column + 0.02, (1.0, 1.0, 1.0, 1.0)
        for value, hands in zip(values.tolist(), count.tolist(), strict=True):
            width = 0.96 * hands / len(live)
            shade = shades(0.06 + 0.88 * value)
            axes.add_patch(Rectangle((left, row + 0.02), width, 0.96, color=shade, lw=0))
            middle = shade if left <= column + 0.5 else middle
            left += width
        ink = PALE if not len(live) else _ink(middle)
        axes.text(column + 0.5, row + 0.5, CLASS_NAMES[cell], color=ink, ha="center", va="center", fontsize=9)
    used = len(np.unique(buckets[buckets >= 0]))
    total = abstraction.counts[abstraction.street_of(cards)]
    axes.set_title(
        f"{abstraction.name} on {show_cards(cards, ' ')}: {used:,} of {total:,} buckets\nblue is weak, red is strong",
        fontsize=11,
    )
    return figure


def colour_places(abstraction: CardAbstraction, cards: tuple[int, ...]) -> tuple[Array, Array]:
    """The bucket of every hand on a board, -1 where it is blocked, and its colour from 0, the weakest bucket there, to 1.

    int32 [1326], float64 [1326]; buckets without centres are ordered by their number, colours are at equal steps.
    """
    live = np.flatnonzero(~np.isin(HAND_CARDS, cards).any(axis=1))
    r = abstraction.street_of(cards)
    dealt = np.array([cards] * len(live), np.uint8).reshape(len(live), len(cards))
    buckets = np.full(len(HAND_CARDS), -1, np.int32)
    buckets[live] = abstraction.buckets(np.concatenate([HAND_CARDS[live], dealt], axis=1), check=False)[:, 0, r]
    here = np.unique(buckets[live])
    strength = mean_strength(abstraction, r)
    if strength is not None:
        here = here[np.argsort(strength[here], kind="stable")]
    turn = np.empty(abstraction.counts[r])
    turn[here] = np.arange(len(here)) / max(1, len(here) - 1)
    place = np.zeros(len(HAND_CARDS))
    place[live] = turn[buckets[live]]
    return buckets, place


def _ink(colour: Sequence[float]) -> str:
    """Dark or light text, whichever is legible on a colour of red, green and blue from 0 to 1."""
    return INK if float(np.dot((0.299, 0.587, 0.114), colour[:3])) > 0.43 else CHALK


# --- one hand -----------------------------------------------------------------------------------------


def hand(explanation: Explanation) -> Figure:
    """A hand's histogram beside the centre of its bucket, street by street; on the river its strength against each group."""
    from matplotlib.figure import Figure

    places = [place for place in explanation.streets if place.histogram or place.ochs]
    if not places:
        raise InputError(f"{explanation.hand}: nothing to draw; give a board, such as Td9d6h, of hold'em")
    figure = Figure(figsize=(max(5.0, 4.2 * len(places)), 3.6), layout="constrained")
    for axis, place in zip(figure.subplots(1, len(places), squeeze=False)[0], places, strict=True):
        _draw_place(axis, place)
    on = f" on {explanation.board}" if explanation.board else ""
    figure.suptitle(f"{explanation.hand}{on} in {explanation.name}", fontsize=11)
    return figure


def _draw_place(axis: Any, place: Place) -> None:
    if place.ochs:
        at = np.arange(len(place.ochs))
        axis.bar(at - 0.2, place.ochs, width=0.4, color=HAND, label="hand")
        axis.bar(at + 0.2, place.centre_ochs, width=0.4, color=CENTRE, label="centre")
        axis.set(xlabel="group of starting hands", ylabel="strength", ylim=(0, 1), xticks=at, xticklabels=at + 1)
    else:
        edges = np.linspace(0, 1, len(place.histogram) + 1)
        axis.stairs(place.histogram, edges, fill=True, color=HAND, label="hand")
        if place.centre_histogram:
            axis.stairs(place.centre_histogram, edges, color=CENTRE, lw=1.4, label="centre")
        axis.set(xlabel="river strength", ylabel="share of the runouts", xlim=(0, 1))
    axis.spines[["top", "right"]].set_visible(False)
    away = f", {place.distance:.3g} {place.unit} away" if place.distance is not None else ""
    where = f"{place.street}: bucket {place.bucket:,} of {place.buckets:,}{away}"
    facts = f"\nE[HS] {place.strength:.3f}, E[HS²] {place.square:.3f}" if place.strength is not None else ""
    axis.set_title(where + facts, fontsize=9)
    axis.legend(frameon=False, fontsize=8)
