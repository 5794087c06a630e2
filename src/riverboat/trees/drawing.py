"""SVG drawings of small game trees.

Players have colors, chance is grey, payoffs are at the leaves, information sets are dashed lines. The tree grows from
left to right. Every leaf has a row of its own, so labels, nodes and payoffs of different rows never overlap, and only
dashed lines cross edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from xml.sax.saxutils import escape

import numpy as np

from riverboat.core import files
from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL, Array, Game, PrivateDeal
from riverboat.trees.compile import as_tree, to_history_tree
from riverboat.trees.gadgets import PublicSubgame
from riverboat.trees.history import HistoryTree
from riverboat.trees.public import Infoset, PublicTree

if TYPE_CHECKING:
    from riverboat.strategies.tabular import Strategy

DrawableTree: TypeAlias = PublicTree | HistoryTree
HandPair: TypeAlias = str | Sequence[str]

MAX_NOTEBOOK_NODES = 120  # largest tree that a notebook draws automatically
COLOURS = ("#2563b0", "#c2571a", "#2e7d4f", "#7a4fb5", "#a8326e", "#5f6b1f")  # players; repeated cyclically
GREY, INK = "#8a8f98", "#24292f"
ROW_HEIGHT, LANE_WIDTH, NODE_HEIGHT, TOP, MARGIN = 26.0, 7.0, 18.0, 62.0, 16.0
FONT = 11.0
MAX_NAME_LENGTH = 14  # if a name of an information set is longer, nodes show the player's number instead


# --- deals ----------------------------------------------------------------------------------


def find_deal(tree: DrawableTree, deal: HandPair) -> tuple[int, int]:
    """Return the hand index of each player for a deal such as `"QJ"`, `"heads|guesser"` or `("Q", "J")`."""
    if not isinstance(tree, PublicTree):
        raise InputError(f"{tree.name}: deal {deal!r}: this game has no private hands; leave deal out")
    first, second = ({name: h for h, name in enumerate(hands)} for hands in tree.hands)
    if isinstance(deal, str):
        cuts = [(deal[:k], deal[k:]) for k in range(1, len(deal))]
        cuts += [(left, right[1:]) for left, right in cuts if right[0] in "|,"]
    else:
        cuts = [(deal[0], deal[1])] if len(deal) == 2 else []
    pairs = {(first[a.strip()], second[b.strip()]) for a, b in cuts if a.strip() in first and b.strip() in second}
    if len(pairs) == 1:
        (pair,) = pairs
        if tree.deal.weights[0][pair[0]] * tree.deal.weights[1][pair[1]] > 0 and pair not in tree.deal.excludes:
            return pair
        problem = "these hands are never dealt together"
    elif pairs:
        problem = "this is ambiguous; put | between the hands"
    else:
        problem = "give a hand of each player"
    h0, h1 = np.argwhere(tree.deal.joint() > 0)[0]
    example = f"{tree.hands[0][h0]}|{tree.hands[1][h1]}"
    raise InputError(
        f"{tree.name}: deal {deal!r}: {problem}, such as {example!r} "
        f"(player 0: {_abbreviate(tree.hands[0])}; player 1: {_abbreviate(tree.hands[1])})"
    )


def _abbreviate(names: Sequence[str]) -> str:
    return ", ".join(names[:16]) + (f", … ({len(names):,} in all)" if len(names) > 16 else "")


def count_nodes(tree: DrawableTree, deal: tuple[int, int] | None = None) -> int:
    """Count the nodes of the unrolled tree: for all deals, or for one deal."""
    if isinstance(tree, HistoryTree):
        return len(tree.nodes.actor)
    live0, live1 = tree.possible_hands
    if deal is not None:
        on_board = live0[:, deal[0]] & live1[:, deal[1]]
        return int(on_board[tree.board_of_node].sum())
    joint = tree.deal.joint() > 0
    pairs = ((live0.astype(float) @ joint) * live1).sum(axis=1)  # [boards]
    opening = 1 + int(joint.any(axis=1).sum())  # player 0's hand is dealt, then player 1's
    return opening + int((np.bincount(tree.board_of_node, minlength=len(pairs)) * pairs).sum())


def _single_deal_tree(tree: PublicTree, pair: tuple[int, int]) -> PublicTree:
    first, second = ((np.arange(n) == h).astype(float) for n, h in zip(tree.hand_counts, pair, strict=True))
    game = PublicSubgame(tree.name, tree.unit, tree.joiner, tree.hands, PrivateDeal((first, second)), tree.game.root)
    return PublicTree(game, tree.layout)


# --- drawing --------------------------------------------------------------------------------


@dataclass(frozen=True)
class TreeDrawing:
    """A picture of a tree, which notebooks display."""

    name: str
    nodes: int
    svg: str

    def save(self, path: str | Path) -> Path:
        """Write the picture to a file that ends in .svg."""
        path = Path(path)
        if path.suffix.lower() != ".svg":
            raise InputError(f"{path}: drawings are saved as SVG; call the file {path.stem or 'drawing'}.svg")
        files.write_text(path, self.svg)
        return path

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Drawing of {self.name}: {self.nodes} nodes>"


def draw_tree(
    tree_or_game: Game | DrawableTree,
    deal: HandPair | None = None,
    strategy: Strategy | None = None,
    max_nodes: int = 400,
) -> TreeDrawing:
    """Draw a tree, for all deals or for one deal of the hands.

    Parameters
    ----------
    tree_or_game
        What to draw.
    deal
        Draw only what follows this deal, such as `"QJ"`, `"heads|guesser"` or `("Q", "J")`.
    strategy
        Strategy for this tree; edges of likely actions become thick.
    max_nodes
        Largest tree that is drawn; a larger one raises an `InputError`.

    Returns
    -------
    TreeDrawing
        The picture; notebooks show it, and it can be saved.
    """
    tree = as_tree(tree_or_game)
    pair = None if deal is None else find_deal(tree, deal)
    size = count_nodes(tree, pair)
    if size > max_nodes:
        advice = "draw one deal with deal=, or " if pair is None and isinstance(tree, PublicTree) else ""
        raise InputError(f"{tree.name}: {size:,} nodes, more than max_nodes={max_nodes:,}: {advice}raise max_nodes")
    title, drawn = tree.name, tree
    if pair is not None:
        assert isinstance(tree, PublicTree)
        drawn = _single_deal_tree(tree, pair)
        title += f": player 0 holds {tree.hands[0][pair[0]]}, player 1 holds {tree.hands[1][pair[1]]}"
    whole = to_history_tree(drawn)
    probabilities = None if strategy is None else _drawn_probabilities(tree, whole, strategy)
    return TreeDrawing(tree.name, size, _SvgPicture(whole, title, probabilities).svg())


def small_svg(tree: DrawableTree) -> str | None:
    """Return the picture of a tree for a notebook if the tree is small, else None."""
    return draw_tree(tree).svg if count_nodes(tree) <= MAX_NOTEBOOK_NODES else None


def _drawn_probabilities(tree: DrawableTree, whole: HistoryTree, strategy: Strategy) -> Array:
    """Return the strategy in the order of the drawn tree's table. float [table]"""
    if strategy.tree is not tree and strategy.tree.fingerprint != tree.fingerprint:
        raise InputError(f"{tree.name}: the strategy is for another tree, of {strategy.tree.name}; draw strategy.tree")
    return strategy.probabilities if isinstance(tree, HistoryTree) else strategy.probabilities[whole.origin]


class _SvgPicture:
    """Layout of a tree, and its SVG text. Chance nodes with one outcome are left out.

    `likely`: probability of each action in the order of the tree's table, or None. float64 [table]
    """

    def __init__(self, tree: HistoryTree, title: str, likely: Array | None) -> None:
        self.tree, self.title, self.probabilities = tree, title, likely
        self.actor = tree.nodes.actor.tolist()
        self.infosets: list[Infoset] = list(tree.infosets())
        self.nodes = [n for n in range(len(self.actor)) if not self._forced(n)]
        self.children = {n: [self._past_forced(child) for child in tree.children(n)] for n in self.nodes}
        self.parent = {child: n for n, kids in self.children.items() for child in kids}
        self.depth = {self.nodes[0]: 0}
        self.label: dict[int, str] = {}  # on the edge to a node
        self.edge_probability: dict[int, float | None] = {}  # probability of that edge, where it is known
        for n in self.nodes:
            for child, (label, share) in zip(self.children[n], self._edge_labels(n), strict=True):
                self.depth[child] = self.depth[n] + 1
                self.label[child], self.edge_probability[child] = label, share
        self.members: dict[int, list[int]] = {}  # nodes of each information set
        for n in self.nodes:
            if self.actor[n] >= 0:
                self.members.setdefault(int(tree.node_infoset[n]), []).append(n)
        self.shows_names = all(len(self.infosets[i].name) <= MAX_NAME_LENGTH for i in self.members)
        self._place_rows()
        self._place_columns()

    def _forced(self, node: int) -> bool:
        return bool(self.actor[node] == CHANCE and self.tree.nodes.width[node] == 1)

    def _past_forced(self, node: int) -> int:
        return next(n for n in range(node, len(self.actor)) if not self._forced(n))

    def _edge_labels(self, node: int) -> list[tuple[str, float | None]]:
        """Return the text and the probability (None if unknown) of each edge out of a node."""
        labels, first = self.tree.labels(node), int(self.tree.nodes.data[node])
        if self.actor[node] == CHANCE:
            shares = self.tree.chance[first : first + len(labels)].tolist()
            return [(f"{label} {_fraction(p)}", p) for label, p in zip(labels, shares, strict=True)]
        if self.probabilities is None:
            return [(label, None) for label in labels]
        shares = self.probabilities[first : first + len(labels)].tolist()
        return [(f"{label} {_number(p)}", p) for label, p in zip(labels, shares, strict=True)]

    # --- layout

    def _place_rows(self) -> None:
        """Place leaves one below the other, and parents in the middle of their children."""
        self.y: dict[int, float] = {}
        leaves = [n for n in self.nodes if not self.children[n]]
        for row, n in enumerate(leaves):
            self.y[n] = TOP + ROW_HEIGHT * row
        for n in reversed(self.nodes):
            if self.children[n]:
                self.y[n] = (self.y[self.children[n][0]] + self.y[self.children[n][-1]]) / 2
        self.bottom = TOP + ROW_HEIGHT * (len(leaves) - 1)

    def _place_columns(self) -> None:
        """Place one column for each action, wide enough for its nodes, labels and dashed lines."""
        depths = range(1 + max(self.depth.values()))
        columns: list[list[int]] = [[n for n in self.nodes if self.depth[n] == d] for d in depths]
        self.lane: dict[tuple[int, int], int] = {}  # (infoset, depth) whose dashed line passes other nodes: its lane
        lanes = [self._assign_lanes(column) for column in columns]
        self.box = [max((self._width(n) for n in column), default=0.0) for column in columns]
        self.left = [MARGIN + lanes[0] * LANE_WIDTH]
        self.bend = []  # x coordinate at which the edges out of a column have reached their rows
        for d in depths[1:]:
            drop = max(abs(self.y[n] - self.y[self.parent[n]]) for n in columns[d])
            label = max(_text_width(self.label[n]) for n in columns[d])
            self.bend.append(self.left[-1] + self.box[d - 1] + min(22 + 0.12 * drop, 70))
            self.left.append(self.bend[-1] + label + lanes[d] * LANE_WIDTH + (14 if lanes[d] else 8))
        self.right = max(
            self.left[self.depth[n]] + self._width(n) + _text_width("  ".join(self._payoff_texts(n)))
            for n in self.nodes
        )

    def _assign_lanes(self, column: list[int]) -> int:
        """Assign a lane left of the column to every information set whose line passes other nodes.

        Returns the number of lanes.
        """
        place = {n: k for k, n in enumerate(sorted(column, key=lambda n: self.y[n]))}
        spans = []
        for i, nodes in self.members.items():
            here = [n for n in nodes if n in place]
            if any(place[b] - place[a] > 1 for a, b in pairwise(here)):
                spans.append((place[here[-1]] - place[here[0]], self.y[here[0]], self.y[here[-1]], i))
        taken: list[list[tuple[float, float]]] = []
        for _, top, end, i in sorted(spans):  # short lines are placed next to the nodes
            free = (k for k, lane in enumerate(taken) if all(end < a or b < top for a, b in lane))
            k = next(free, len(taken))
            taken.extend([[]] if k == len(taken) else [])
            taken[k].append((top, end))
            self.lane[i, self.depth[column[0]]] = k
        return len(taken)

    def _width(self, node: int) -> float:
        if self.actor[node] == TERMINAL:
            return 0.0
        return max(NODE_HEIGHT, _text_width(self._node_text(node)) + 10) if self.actor[node] >= 0 else NODE_HEIGHT * 0.7

    def _node_text(self, node: int) -> str:
        """Return the text on a decision node."""
        return self.infosets[self.tree.node_infoset[node]].name if self.shows_names else f"{self.actor[node]}"

    def _node_x(self, node: int) -> float:
        d = self.depth[node]
        return self.left[d] + self.box[d] / 2

    def _payoff_texts(self, node: int) -> list[str]:
        if self.actor[node] != TERMINAL:
            return []
        return [_number(x) for x in self.tree.payoffs[self.tree.nodes.data[node]]]

    # --- SVG elements

    def svg(self) -> str:
        """Return the drawing of the tree as SVG text."""
        legend, legend_end = self._legend()
        width, height = max(self.right, legend_end) + MARGIN, self.bottom + ROW_HEIGHT / 2 + MARGIN
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" font-family="DejaVu Sans, Verdana, sans-serif" '
            f'font-size="{FONT:g}" fill="{INK}"><title>{_escape(self.title)}</title>'
            f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>'
        )
        edges = [self._edge_svg(n) for n in self.nodes[1:]]
        dashes = [self._infoset_path(i) for i, nodes in self.members.items() if len(nodes) > 1]
        return "\n".join([head, *legend, *edges, *dashes, *(self._node_svg(n) for n in self.nodes), "</svg>"])

    def _legend(self) -> tuple[list[str], float]:
        actors = {self.actor[n] for n in self.nodes}
        parts = [f'<text x="{MARGIN}" y="20" font-size="13" font-weight="bold">{_escape(self.title)}</text>']
        x = MARGIN
        entries = [(f"player {p}", _colour(p)) for p in range(self.tree.players)]
        for text, colour in [*entries, *([("chance", GREY)] if CHANCE in actors else [])]:
            parts.append(f'<circle cx="{x + 5:.1f}" cy="35" r="5" fill="{colour}"/>')
            parts.append(f'<text x="{x + 14:.1f}" y="39">{text}</text>')
            x += 28 + _text_width(text)
        if any(len(nodes) > 1 for nodes in self.members.values()):
            parts.append(f'<path d="M{x:.1f} 35h26" stroke="{INK}" stroke-width="1.4" stroke-dasharray="4 3"/>')
            parts.append(f'<text x="{x + 32:.1f}" y="39">one information set</text>')
            x += 32 + _text_width("one information set")
        return parts, max(x, MARGIN + _text_width(self.title) * 1.3)

    def _edge_svg(self, node: int) -> str:
        parent, share = self.parent[node], self.edge_probability[node]
        x0, y0, y1, bend = self._node_x(parent), self.y[parent], self.y[node], self.bend[self.depth[parent]]
        out = self.left[self.depth[parent]] + self.box[self.depth[parent]]
        half = (out + bend) / 2
        x1 = self._node_x(node) if self.actor[node] != TERMINAL else self.left[self.depth[node]] - 5
        thick, strong = 1.3, 1.0
        if share is not None and self.actor[parent] >= 0:
            thick, strong = 0.8 + 4.2 * share, 0.35 + 0.65 * share
        colour = GREY if self.actor[parent] == CHANCE else _colour(self.actor[parent])
        return (
            f'<path d="M{x0:.1f} {y0:.1f}H{out:.1f}C{half:.1f} {y0:.1f} {half:.1f} {y1:.1f} {bend:.1f} {y1:.1f}'
            f'H{x1:.1f}" fill="none" stroke="{colour}" stroke-width="{thick:.2f}" stroke-opacity="{strong:.2f}"/>'
            f'<text x="{bend + 2:.1f}" y="{y1 - 2 - thick:.1f}">{_escape(self.label[node])}</text>'
        )

    def _infoset_path(self, infoset: int) -> str:
        """Connect the nodes of an information set: straight, around other nodes of the column, or across columns."""
        path = []
        for a, b in pairwise(self.members[infoset]):
            xa, ya, xb, yb = self._node_x(a), self.y[a], self._node_x(b), self.y[b]
            lane = self.lane.get((infoset, self.depth[a]))
            if self.depth[a] != self.depth[b]:
                path.append(f"M{xa:.1f} {ya:.1f}C{xa:.1f} {yb:.1f} {xb:.1f} {ya:.1f} {xb:.1f} {yb:.1f}")
            elif lane is None:
                path.append(f"M{xa:.1f} {ya:.1f}V{yb:.1f}")
            else:
                x = self.left[self.depth[a]] - LANE_WIDTH * lane - 11
                ends = ya + 5, yb - 5
                path.append(
                    f"M{xa:.1f} {ends[0]:.1f}H{x + 6:.1f}Q{x:.1f} {ends[0]:.1f} {x:.1f} {ends[0] + 6:.1f}"
                    f"V{ends[1] - 6:.1f}Q{x:.1f} {ends[1]:.1f} {x + 6:.1f} {ends[1]:.1f}H{xb:.1f}"
                )
        colour = _colour(self.infosets[infoset].player)
        name = _escape(self.infosets[infoset].name)
        return (
            f'<path d="{"".join(path)}" fill="none" stroke="{colour}" stroke-width="1.4" stroke-dasharray="4 3">'
            f"<title>{name}</title></path>"
        )

    def _node_svg(self, node: int) -> str:
        x, y, actor = self._node_x(node), self.y[node], self.actor[node]
        if actor == TERMINAL:
            pays = "  ".join(
                f'<tspan fill="{_colour(p)}">{text}</tspan>' for p, text in enumerate(self._payoff_texts(node))
            )
            return f'<text x="{self.left[self.depth[node]]:.1f}" y="{y + 4:.1f}" xml:space="preserve">{pays}</text>'
        if actor == CHANCE:
            circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{NODE_HEIGHT * 0.35:.1f}" fill="{GREY}"/>'
            return f"<g><title>chance</title>{circle}</g>"
        width = self._width(node)
        infoset = self.infosets[self.tree.node_infoset[node]]
        moves = "" if self.probabilities is None else " — " + ", ".join(self.label[kid] for kid in self.children[node])
        return (
            f"<g><title>{_escape(f'{infoset.name} (player {actor}){moves}')}</title>"
            f'<rect x="{x - width / 2:.1f}" y="{y - NODE_HEIGHT / 2:.1f}" width="{width:.1f}" height="{NODE_HEIGHT:g}" '
            f'rx="{NODE_HEIGHT / 2:g}" fill="{_colour(actor)}"/>'
            f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle" fill="white">{_escape(self._node_text(node))}</text></g>'
        )


def _escape(text: str) -> str:
    return escape("".join(c for c in text if c.isprintable()))  # SVG allows no control characters


def _colour(player: int) -> str:
    return COLOURS[player % len(COLOURS)]


def _text_width(text: str) -> float:
    """Return an upper estimate of the width of a text, in pixels."""
    return 0.64 * FONT * len(text)


def _number(value: float) -> str:
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text.replace("-", "−")


def _fraction(value: float) -> str:
    near = Fraction(value).limit_denominator(1000)
    return str(near) if abs(float(near) - value) < 1e-9 else _number(value)
