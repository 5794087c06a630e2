"""Subgames of a hand that is being played: a spot with the real pot, what stands at its root, and its solution.

`Subgame` is what will be solved, `Position` a place in one that was solved: what is played there, which hands come there, and
what the opponent could win from there on. Arrays run over the 1,326 hands of `cards.deck`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from riverboat.cards.deck import HAND_CARDS, HANDS
from riverboat.cards.notation import show_cards
from riverboat.cards.ranges import Range
from riverboat.compiled.simd import decode
from riverboat.core.arrays import Array
from riverboat.engines.tables import block
from riverboat.games.base import CHANCE
from riverboat.games.boards.root_gadgets import Choose, RootGadget, Stop
from riverboat.games.holdem.action_labels import STREET
from riverboat.games.holdem.actions import show_move
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.menus import Menu
from riverboat.games.spots.spot import Spot
from riverboat.strategies.solution import Solution, Spotlight

METHODS = {
    "unsafe": "both ranges as they are thought to be: no guarantee",
    "resolve": "the opponent may stop and take what it could have had: no hand gains, but by what a forced share loses",
    "maxmargin": "the hand that gains most is made to gain least: no hand of it gains",
    "reach_maxmargin": "the same, where hands that gave something away on the last street may gain as much",
    "estimate": "values of self-play, by maxmargin or drawn with their error: as safe as these are right",
}

LEARNT = 1e-3  # the least probability of own moves with a hand: what comes more seldom was learnt in the beginning


@dataclass(frozen=True, eq=False)
class Entry:
    """What is known of both players where a subgame may begin."""

    state: Betting
    board: tuple[int, ...]
    ranges: Array  # float64 [2, 1326]: how often each seat comes there with each hand
    values: (
        Array | None
    )  # float64 [1326]: what the opponent's hands could win from the pot as it stands; NaN: nobody met
    source: str  # where the values come from, or why there are none
    gifts: Array | None = None  # float64 [1326]: what they gave away on the way
    error: Array | float = 0.0  # float64 [1326]: by how much the values may be wrong, where they are estimates

    def after(self, move: int, other: int) -> Entry:
        """Behind a move for which there are no values: those before it stand in for them, with what the opponent put in."""
        state = self.state.play(show_move(move, self.state.rules))
        added = state.spent[other] - self.state.spent[other]
        if self.values is None:
            return replace(self, state=state)
        source = f"{self.source}, before an action that it does not have"
        return replace(self, state=state, values=self.values + added, source=source)


@dataclass(frozen=True, eq=False)
class Subgame:
    """One that will be solved, for the strategy of one seat."""

    seat: int
    entry: Entry
    spot: Spot
    method: str  # what is really used: without values nothing can be made safe

    @staticmethod
    def make(
        entry: Entry, seat: int, menu: Menu, method: str, floor: float, least: float, *, spread: float = 0.0,
        forced: float = 0.0,
    ) -> Subgame:  # fmt: skip
        """The spot of an entry with a method's gadget. `floor`: the least weight of the opponent's hands in an unsafe one;
        `least`: that of own hands, so that one which should not be there is played too; `spread`: estimates are drawn with so
        many times their error; `forced`: so much of the opponent's range may not stop.
        """
        live: Array = np.logical_not(np.isin(HAND_CARDS, entry.board).any(axis=1))
        used = method if entry.values is not None else "unsafe"
        own, other = (scaled(entry.ranges[who], live) for who in (seat, 1 - seat))
        own, met = np.maximum(own, least) * live, np.maximum(other, floor) * live
        other = met if used == "unsafe" else live.astype(float)
        weights = (own, other) if seat == 0 else (other, own)
        spot = Spot.at(entry.state, entry.board, (Range(weights[0]), Range(weights[1])), menu, name="table")
        return Subgame(seat, entry, replace(spot, gadget=_gadget(used, 1 - seat, entry, spread, forced * met)), used)

    def solved(self, solution: Solution, least: float = 0.0) -> Position:
        """Its root. The seat never makes moves that are less likely than `least`."""
        if least:
            _drop(solution, self.seat, least)
        return Position(self, solution, "", self.entry.state, self.spot.start)


def _drop(solution: Solution, seat: int, least: float) -> None:
    """Take unlikely moves out of what a seat plays; the likeliest stay."""
    tree, table = solution.tree, solution.table
    nodes = np.flatnonzero(tree.forest.actor == seat).tolist()
    for node in nodes:
        street = int(np.searchsorted(tree.forest.first, node, side="right")) - 1
        for board in range(tree.street_at[street], tree.street_at[street + 1]):
            at, width, rows = block(tree, board, node)
            sums = table[at : at + width * rows].reshape(width, rows)
            weights = np.asarray(decode(sums.ravel()), float).reshape(width, rows)
            sums[(weights < least * weights.sum(axis=0)) & (weights < weights.max(axis=0))] = 0


def scaled(reach: Array, live: Array) -> Array:
    """A range whose likeliest hand weighs one; all hands where nobody would come."""
    most = float(reach.max(initial=0.0))
    return np.where(live, reach / most, 0.0) if most > 0 else live.astype(float)


def unfloored(reach: Array, true: Array, used: Array) -> Array:
    """A reach that began with the weights `used`, had it begun with the true ones."""
    return reach * true / np.where(used > 0, used, 1.0)


def _gadget(method: str, player: int, entry: Entry, spread: float, forced: Array) -> RootGadget | None:
    if method == "unsafe" or entry.values is None:
        return None
    most = entry.state.pot + min(entry.state.behind)  # with a hand that meets nobody the player never comes in
    values = np.where(np.isnan(entry.values), most, entry.values)
    if method == "resolve":
        return Stop(player, values, forced=forced)
    if method == "estimate" and spread:
        return Stop(player, values, spread * np.nan_to_num(entry.error))
    if method == "reach_maxmargin" and entry.gifts is not None:
        values = values + entry.gifts
    return Choose(player, values)


@dataclass(frozen=True, eq=False)
class Position:
    """A place in a solved subgame."""

    subgame: Subgame
    solution: Solution
    line: str  # as its spot writes it
    state: Betting  # the real one
    inside: Betting  # the spot's own

    @property
    def nbytes(self) -> int:
        """Memory that the solution takes."""
        return int(self.solution.table.nbytes)

    # --- where to -----------------------------------------------------------------------------

    @property
    def before(self) -> int:
        """What each seat had put in before the street of the root: totals of the spot count from there."""
        return self.subgame.entry.state.before

    def after(self, move: int) -> Position | None:
        """Behind a move; None where the subgame does not have it."""
        book, s = self.inside.rules.book, self.inside.at
        label = STREET.write(book, s, move - self.before if move > 0 else move)
        if label not in self.here.actions:
            return None
        inner = STREET.read(book, s, label)
        assert inner is not None
        inside = self.inside.play(show_move(inner, self.inside.rules))
        state = self.state.play(show_move(move, self.state.rules))
        return replace(self, line=f"{self.line}-{label}".removeprefix("-"), state=state, inside=inside)

    def dealt(self, cards: tuple[int, ...]) -> Position:
        """Behind the deal of the next street."""
        line = f"{self.line}/{show_cards(cards)}"
        return replace(self, line=line, state=self.state.next_street(), inside=self.inside.next_street())

    @property
    def deals(self) -> bool:
        """Whether the next street is dealt here."""
        return self.state.actor == CHANCE

    # --- what is there ------------------------------------------------------------------------

    @cached_property
    def here(self) -> Spotlight:
        """The solution there."""
        return self.solution[self.line.replace("-/", "/")]

    @property
    def moves(self) -> tuple[int, ...]:
        """Real moves, upwards."""
        book, s = self.inside.rules.book, self.inside.at
        inner = [STREET.read(book, s, label) for label in self.here.actions]
        return tuple(m + self.before if m > 0 else m for m in inner if m is not None)

    @cached_property
    def strategy(self) -> Array:
        """Probability of each move with each hand. float64 [1326, moves]

        A hand that the solution hardly ever brings here has learnt next to nothing, and nothing at all one that hardly
        ever meets anybody: what it could win was lost in the rounding, and all its moves are equal. It makes its best
        move against the range that comes, or where nobody does against the range of the root. Hands of no range, and
        those that no hand of the other leaves, play as the own range does.
        """
        player, played = self.here.player, self.here.strategy.T.copy()
        reach, held = self.here.reach[player], self.subgame.spot.weights[player]
        there: Array = np.logical_not(np.isnan(played).any(axis=1))
        known = there & (reach >= LEARNT * held)
        if played.shape[1] > 1 and self.solution.provenance["iterations"] > 1:  # the first one makes all moves alike
            known &= np.ptp(played, axis=1) > 0
        weight = np.where(known, reach, 0.0)
        weight = weight if weight.any() else there.astype(float)
        lost = ~known & (held > 0)
        played[~known] = weight @ np.nan_to_num(played) / weight.sum()
        for met in (None, self.subgame.spot.weights[1 - player] * self._live):
            if not lost.any():
                break
            worth = self.here.best_moves(player, met)
            some = np.flatnonzero(lost & np.logical_not(np.isnan(worth).any(axis=0)))
            played[some] = np.eye(len(worth))[worth[:, some].argmax(axis=0)]
            lost[some] = False
        return played

    @property
    def _live(self) -> Array:
        """Hands that the board leaves. bool [1326]"""
        return np.logical_not(np.isin(HAND_CARDS, self.here.board).any(axis=1))

    def entry(self) -> Entry:
        """What is known here, for a subgame that begins here."""
        other, ranges, values, gifts = 1 - self.subgame.seat, np.stack(self.here.reach), None, None
        facts, spot, source = self.solution.provenance, self.subgame.spot, self.subgame.entry.source
        own, used = self.subgame.seat, spot.weights[self.subgame.seat]
        ranges[own] = unfloored(ranges[own], scaled(self.subgame.entry.ranges[own], used > 0), used)
        if self.subgame.method != "unsafe":
            ranges[other] *= self.subgame.entry.ranges[other]  # with a gadget every hand is dealt alike
            values, source = self.here.best(other), "the last solution"
        if self.subgame.method == "reach_maxmargin":
            gifts = self.gifts()
        error = (
            facts["exploitability"] * spot.pot / 100
        )  # of a solution: no hand of a range may be further off on average
        return Entry(self.state, self.here.board, ranges, values, source, gifts, error)

    def gifts(self) -> Array:
        """What the opponent's hands have given away on the way here by not making their best moves. float64 [1326]

        Each counts whole: what a hand may win from here on can rise by so much, on every card that may have come, before
        any of its decisions on the way is worth more than it was.
        """
        other, given = 1 - self.subgame.seat, self.subgame.entry.gifts
        total = np.zeros(HANDS) if given is None else given.copy()
        before = ""
        for label, after in self._moves_made():
            here = self.solution[before]
            if here.player == other:
                values = here.best_moves(other)
                made = here.actions.index(label)
                total += np.nan_to_num(values.max(axis=0) - values[made])
            before = after
        return total

    def _moves_made(self) -> Iterator[tuple[str, str]]:
        """Labels of the moves since the root, and the lines behind them."""
        line = ""
        for number, part in enumerate(self.line.split("/")):
            labels = part.split("-") if part else []
            if number:
                line += f"/{labels.pop(0)}"
            for label in labels:
                line = f"{line}-{label}".removeprefix("-")
                yield label, line
