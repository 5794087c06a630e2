"""What a search has found at a place, for people and for files: the subgame, how it was made safe, and who holds what."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from riverboat.cards.deck import HAND_CARDS, HANDS
from riverboat.cards.grid import CLASS_OF_HAND, Grid
from riverboat.cards.notation import show_cards, show_hand
from riverboat.cards.ranges import Range
from riverboat.core.arrays import Array
from riverboat.games.holdem.actions import show_move
from riverboat.games.holdem.menus import SEATS
from riverboat.subgames.search.depth_limited import MidPosition
from riverboat.subgames.search.subgames import METHODS, Position


@dataclass(frozen=True, eq=False)
class Explanation:
    """A place in a solved subgame, explained."""

    position: Position | MidPosition
    real: tuple[int, ...] | None = None  # its moves as they are made at the table; None: as they are
    held: int | None = None  # the hand that is held, which is told of in any case

    @property
    def moves(self) -> list[str]:
        """What can be played."""
        moves = self.position.moves if self.real is None else self.real
        return [show_move(move, self.position.state.rules) for move in moves]

    @cached_property
    def margins(self) -> Array | None:
        """How much less than before each hand of the opponent can win; None without a gadget. float64 [1326]"""
        if isinstance(self.position, MidPosition):
            return self.position.solution.margins
        values = self.position.subgame.entry.values
        if self.position.subgame.spot.gadget is None or values is None:
            return None
        return np.where(np.isnan(values), np.nan, self.position.solution.margins())

    @property
    def ranges(self) -> tuple[Range, Range]:
        """What each seat may hold here, the likeliest hand weighing one: the opponent's as it is thought to play."""
        entry = self.position.entry()
        first, second = (Range(held / max(float(held.max()), 1e-300)) for held in entry.ranges)
        return first, second

    def grid(self) -> Grid:
        """What is played with each class of hands, as high as they are held."""
        if not isinstance(self.position, MidPosition):
            return self.position.here.grid()
        strategy, held = self.position.strategy, self.ranges[self.position.state.turn].weights
        live = ~np.isin(HAND_CARDS, self.position.board).any(axis=1)
        count, total = (np.bincount(CLASS_OF_HAND, w, minlength=169) for w in (live.astype(float), held))
        sums = [np.bincount(CLASS_OF_HAND, held * share, minlength=169) for share in strategy.T]
        shares = {
            m: (s / np.where(total > 0, total, 1.0)).reshape(13, 13) for m, s in zip(self.moves, sums, strict=True)
        }
        weight = np.where(total > 0, np.minimum(total / np.maximum(count, 1.0), 1.0), 0.0)
        return Grid.actions(shares, weight.reshape(13, 13), count.reshape(13, 13))

    def facts(self) -> dict[str, Any]:
        """The subgame in figures, with their units."""
        position = self.position
        if isinstance(position, MidPosition):
            return self._with_margins(position.facts() | {"moves": self.moves})
        subgame = position.subgame
        entry, spot, provenance = subgame.entry, subgame.spot, position.solution.provenance
        facts: dict[str, Any] = {
            "begins": entry.state.line,
            "board": show_cards(entry.board),
            "pot": spot.pot,
            "behind": list(spot.behind),
            "for": SEATS[subgame.seat],
            "method": subgame.method,
            "guarantee": METHODS[subgame.method],
            "values": entry.source,
            "betting_nodes": len(spot.betting.actor),
            "boards": int(position.solution.tree.street_at[-1]),
            "hands": [int(np.count_nonzero(w)) for w in spot.weights],
            "iterations": provenance["iterations"],
            "exploitability": provenance["exploitability"],
            "unit": provenance["unit"],
        }
        return self._with_margins(facts)

    def _with_margins(self, facts: dict[str, Any]) -> dict[str, Any]:
        if self.margins is not None:
            known = self.margins[~np.isnan(self.margins)]
            facts["margins"] = {"least": float(known.min()), "mean": float(known.mean()), "unit": "chips"}
        return facts

    def hands(self) -> list[dict[str, Any]]:
        """All hands at this place: how often each seat holds them, what is played with them, and their margins."""
        position, (first, second) = self.position, self.ranges
        moves, margins, out = self.moves, self.margins, []
        # Margins are told of hands that nobody would come with, too.
        judged = np.zeros(HANDS, bool) if margins is None else ~np.isnan(margins)
        told = (first.weights > 0) | (second.weights > 0) | judged
        if self.held is not None:
            told[self.held] = True
        for hand in np.flatnonzero(told).tolist():
            row = {
                "hand": show_hand(hand),
                "oop": float(first.weights[hand]),
                "ip": float(second.weights[hand]),
                "plays": dict(zip(moves, position.strategy[hand].tolist(), strict=True)),
            }
            if margins is not None and judged[hand]:
                row["margin"] = float(margins[hand])
            out.append(row)
        return out

    def lines(self) -> list[tuple[str, str]]:
        """The facts in words."""
        facts = self.facts()
        left = max(facts["exploitability"], 0.0)  # rounding may leave it below
        nodes = f"{facts['betting_nodes']:,} nodes of betting on {facts['boards']:,} boards"
        rows = [
            (
                "subgame",
                f"from {facts['begins']!r} on {facts['board']}, pot {facts['pot']:,}, behind {facts['behind'][0]:,}",
            ),
            ("tree", f"{nodes}, {facts['hands'][0]:,} hands of oop, {facts['hands'][1]:,} of ip"),
            ("method", f"{facts['method']}: {facts['guarantee']}"),
            ("values", facts["values"]),
            (
                "solved",
                f"{facts['iterations']:,} iterations, exploitable for {left:.3g} {facts['unit']}",
            ),
        ]
        if "margins" in facts:
            margins = facts["margins"]
            rows.append(("margins", f"least {margins['least']:+.3g}, mean {margins['mean']:+.3g} chips"))
        for seat, held in zip(SEATS, self.ranges, strict=True):
            rows.append((f"range of {seat}", f"{held.combos:,.1f} combos"))
        return rows
