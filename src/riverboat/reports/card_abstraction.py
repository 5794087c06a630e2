"""Plots of card abstractions: centroids, public buckets, a board's grid by bucket, and one hand next to its centroid.

Every function returns a matplotlib figure, drawn by `riverboat.plots`; `save_figure` writes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from riverboat.abstraction import quality
from riverboat.abstraction.cards.card_abstraction import STREETS, CardAbstraction
from riverboat.cards.deck import FULL_DECK, HAND_CARDS, card_name
from riverboat.cards.grid import CLASS_NAMES, CLASS_OF_HAND
from riverboat.cards.isomorphism import canonical_boards
from riverboat.cards.notation import Cards, as_board, format_cards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.core.validation import check_name
from riverboat.plots import card_abstraction as plots
from riverboat.plots.figures import save_figure as save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from riverboat.abstraction.explanation import BucketExplanation

MAX_PANELS = 60  # centroids in one figure
SAMPLE_BOARDS = 5  # boards shown of a public bucket


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
    check_name("street", street, STREETS[: len(abstraction.streets)])
    r = STREETS.index(street)
    kind, strength = quality.centroid_kind(abstraction, r), quality.mean_strengths(abstraction, r)
    if strength is None or kind == "strength":
        raise InputError(f"{street} of {abstraction.name}: its buckets have no centroids to plot")
    if panels < 1:
        raise InputError(f"panels={panels}: must be at least 1")
    if kind == "ochs":
        description, means = "strength against eight groups", None
        shapes = quality.ochs_equities(abstraction.streets[r].centres)
    else:
        description, means = "river strength, from 0 to 1; the line is its mean", strength
        histograms = quality.strength_histograms(abstraction, r)
        assert histograms is not None
        shapes = histograms
    sizes = quality.bucket_sizes(abstraction, r)
    weight = np.ones(len(strength)) if sizes is None else sizes
    chosen = _sample_by_weight(strength, weight, panels)
    shown = f", {len(chosen)} of them" if len(chosen) < len(strength) else ""
    return plots.plot_centroids(
        f"{abstraction.name}, {street}: {len(strength):,} buckets{shown}\n{description}",
        shapes[chosen],
        [f"{b}: {100 * weight[b] / weight.sum():.2g} %" for b in chosen],
        None if means is None else means[chosen].tolist(),
    )


def _sample_by_weight(strength: Array, weight: Array, count: int) -> list[int]:
    """Return non-empty buckets in order of strength; at most `count`, at equal steps of the weight."""
    order = np.argsort(strength, kind="stable")
    order = order[weight[order] > 0]
    if len(order) > count:
        reached = np.cumsum(weight[order])
        order = order[np.unique(np.searchsorted(reached, (np.arange(count) + 0.5) / count * reached[-1]))]
    return [int(b) for b in order]


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
    public = abstraction.public
    if public is None:
        raise InputError(
            f"{abstraction.name}: the abstraction has no public buckets; the recipe needs a [public] section"
        )
    all_boards, times = canonical_boards(public.cards, abstraction.deck)
    labels = np.asarray(public.labels)
    groups = []
    for c in range(public.count):
        in_bucket = labels == c
        share = 100 * times[in_bucket].sum() / times.sum()
        sample = (sorted(all_boards[b].tolist(), reverse=True) for b in quality.sample_boards(labels, times, c, boards))
        cards = [[card_name(card) for card in board] for board in sample]
        groups.append((f"{c}: {in_bucket.sum()} boards, {share:.2g} %", cards))
    total = f"{public.count} public buckets of {len(all_boards):,} boards"
    title = f"{abstraction.name}: {total}; shares are of all {int(times.sum()):,}"
    return plots.plot_boards(title, groups, public.cards, boards)


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
    cards = as_board(board)
    if abstraction.deck != FULL_DECK:
        raise InputError(f"{abstraction.name}: grids need hold'em with 52 cards")
    buckets, colours = bucket_colours(abstraction, cards)
    used = len(np.unique(buckets[buckets >= 0]))
    total = abstraction.counts[abstraction.street_of(cards)]
    title = f"{abstraction.name} on {format_cards(cards, ' ')}: {used:,} of {total:,} buckets"
    cells = [colours[(cell == CLASS_OF_HAND) & (buckets >= 0)] for cell in range(169)]
    return plots.plot_buckets(f"{title}\nblue is weak, red is strong", cells, CLASS_NAMES)


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
    strength = quality.mean_strengths(abstraction, r)
    if strength is not None:
        used = used[np.argsort(strength[used], kind="stable")]
    rank = np.empty(abstraction.counts[r])
    rank[used] = np.arange(len(used)) / max(1, len(used) - 1)
    colour = np.zeros(len(HAND_CARDS))
    colour[live] = rank[buckets[live]]
    return buckets, colour


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
    placements = [placement for placement in explanation.streets if placement.histogram or placement.ochs]
    if not placements:
        raise InputError(f"{explanation.hand}: nothing to plot; give a hold'em board, such as Td9d6h")
    on = f" on {explanation.board}" if explanation.board else ""
    return plots.plot_hand(f"{explanation.hand}{on} in {explanation.name}", placements)
