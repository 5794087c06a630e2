"""Reports of a solved subgame at a public state: method, guarantee, margins, ranges and strategies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from riverboat.cards.deck import HAND_CARDS, NUM_HANDS
from riverboat.cards.grid import CLASS_OF_HAND, HandGrid
from riverboat.cards.notation import format_cards, format_hand
from riverboat.cards.ranges import Range
from riverboat.core.arrays import Array
from riverboat.games.holdem.actions import format_action
from riverboat.games.holdem.menus import SEATS
from riverboat.strategies.reports.node import class_grid
from riverboat.subgames.search.depth_limited import DepthLimitedPosition
from riverboat.subgames.search.subgames import SubgamePosition


@dataclass(frozen=True, eq=False)
class SubgameReport:
    """Report of a position in a solved subgame: figures, ranges, strategies and margins of all hands."""

    position: SubgamePosition | DepthLimitedPosition
    real_moves: tuple[int, ...] | None = None  # actions at the real table; None: those of the subgame
    own_hand: int | None = None  # the player's hand, which is always listed

    @property
    def moves(self) -> list[str]:
        """Labels of the actions."""
        moves = self.position.moves if self.real_moves is None else self.real_moves
        return [format_action(move, self.position.state.rules) for move in moves]

    @cached_property
    def margins(self) -> Array | None:
        """Decrease of the opponent's value by hand; None without a gadget. float64 [1326]"""
        if isinstance(self.position, DepthLimitedPosition):
            return self.position.solution.margins
        values = self.position.subgame.root.values
        if self.position.subgame.spot.gadget is None or values is None:
            return None
        return np.where(np.isnan(values), np.nan, self.position.solution.margins())

    @property
    def ranges(self) -> tuple[Range, Range]:
        """Ranges of both seats here, scaled to a maximum of one; the opponent plays its strategy of the solution."""
        root = self.position.subgame_root()
        first, second = (Range(weights / max(float(weights.max()), 1e-300)) for weights in root.ranges)
        return first, second

    def grid(self) -> HandGrid:
        """Return the strategy grid, with heights by range weight."""
        if not isinstance(self.position, DepthLimitedPosition):
            return self.position.solution_node.grid()
        live = ~np.isin(HAND_CARDS, self.position.board).any(axis=1)
        weights = self.ranges[self.position.state.turn].weights[live]
        probabilities = dict(zip(self.moves, self.position.strategy[live].T, strict=True))
        return class_grid(CLASS_OF_HAND[live], weights, weights, probabilities)

    def summary(self) -> dict[str, Any]:
        """Return the subgame's figures as a dictionary: root, chips, method, solution and margins, with their units."""
        subgame, state = self.position.subgame, self.position.subgame.root.state
        figures: dict[str, Any] = {
            "begins": state.line,
            "board": format_cards(subgame.root.board),
            "pot": state.pot,
            "behind": list(state.behind),
            "for": SEATS[subgame.seat],
            **self.position.figures(),
        }
        if isinstance(self.position, DepthLimitedPosition):
            figures["moves"] = self.moves
        if self.margins is not None:
            margins = self.margins[~np.isnan(self.margins)]
            figures["margins"] = {"least": float(margins.min()), "mean": float(margins.mean()), "unit": "chips"}
        return figures

    def hands(self) -> list[dict[str, Any]]:
        """Return a dictionary for each hand that has a weight or a margin, or is the player's own.

        Keys: hand, oop and ip (weights), plays (probability of each action) and, with a gadget, margin (chips).
        """
        position, (first, second) = self.position, self.ranges
        moves, margins, out = self.moves, self.margins, []
        # Hands with reach zero are listed too if they have a margin.
        has_margin = np.zeros(NUM_HANDS, bool) if margins is None else ~np.isnan(margins)
        listed = (first.weights > 0) | (second.weights > 0) | has_margin
        if self.own_hand is not None:
            listed[self.own_hand] = True
        for hand in np.flatnonzero(listed).tolist():
            row = {
                "hand": format_hand(hand),
                "oop": float(first.weights[hand]),
                "ip": float(second.weights[hand]),
                "plays": dict(zip(moves, position.strategy[hand].tolist(), strict=True)),
            }
            if margins is not None and has_margin[hand]:
                row["margin"] = float(margins[hand])
            out.append(row)
        return out

    def summary_lines(self) -> list[tuple[str, str]]:
        """Return the summary as pairs of label and text, for printing."""
        figures = self.summary()
        exploitability = max(figures["exploitability"], 0.0)  # rounding may make it negative
        nodes = f"{figures['betting_nodes']:,} nodes of betting on {figures['boards']:,} boards"
        chips = f"pot {figures['pot']:,}, behind {figures['behind'][0]:,}"
        solved = f"{figures['iterations']:,} iterations, exploitable for {exploitability:.3g} {figures['unit']}"
        rows = [
            ("subgame", f"from {figures['begins']!r} on {figures['board']}, {chips}"),
            ("tree", f"{nodes}, {figures['hands'][0]:,} hands of oop, {figures['hands'][1]:,} of ip"),
            ("method", f"{figures['method']}: {figures['guarantee']}"),
            ("values", figures["values"]),
            ("solved", solved),
        ]
        if "margins" in figures:
            margins = figures["margins"]
            rows.append(("margins", f"least {margins['least']:+.3g}, mean {margins['mean']:+.3g} chips"))
        for seat, weights in zip(SEATS, self.ranges, strict=True):
            rows.append((f"range of {seat}", f"{weights.combos:,.1f} combos"))
        return rows
