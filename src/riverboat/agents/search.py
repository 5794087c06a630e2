"""An agent that solves the end of a hand at the table.

    agent = SearchingAgent(BlueprintAgent(load_blueprint("runs/mine")), SearchSettings("turn", "resolve"))
    agent.act(views)

Before its street it plays as its blueprint; from there on as solutions say (`subgames.search.search`). What is solved
depends on what everybody sees alone, so the agent answers for all hands, and is a function of the view as any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from riverboat.agents.base import Choice
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.engines.devices import CPU, choose
from riverboat.games.holdem.actions import END, real_moves
from riverboat.games.holdem.observation import Views
from riverboat.games.holdem.public_state import Places
from riverboat.games.holdem.rules import Rules
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.strategies.policy import drawn
from riverboat.strategies.public_strategy import Strategies
from riverboat.strategies.reports.public_state import hand_numbers
from riverboat.subgames.database.database import Library
from riverboat.subgames.database.policy import LibraryPlay
from riverboat.subgames.search.depth_limited import MidPosition
from riverboat.subgames.search.report import Explanation
from riverboat.subgames.search.search import Search, SearchSettings
from riverboat.subgames.search.stacks import even_places, even_play, even_strategy
from riverboat.subgames.search.subgames import Position

TABLES, DEVICE_TABLES = 128, 16_384  # asked about together: a GPU solves a thousand subgames in the time of ten


class Played(Protocol):
    """What is played at a place with all hands."""

    @property
    def moves(self) -> tuple[int, ...]:
        """Real moves."""
        ...

    @property
    def strategy(self) -> Array:
        """Probability of each with each hand. float64 [1326, moves]"""
        ...


class Searching(Protocol):
    """What knows what to play from a street on."""

    @property
    def first(self) -> int:
        """The street on which it begins."""
        ...

    @property
    def numbers(self) -> Array:
        """Of the hands of the deck, among the 1,326. int64 [hands]"""
        ...

    def positions(self, places: Places, seats: Sequence[int] | Array, /) -> Sequence[Played]:
        """What is played at places, by the seats that ask."""
        ...


class Solved(NamedTuple):
    """A place of a real table."""

    position: Played
    moves: tuple[int, ...]  # of the position, as they are made at the table


@dataclass(frozen=True, eq=False)
class SearchingAgent:
    """A blueprint with search."""

    base: BlueprintAgent
    settings: SearchSettings
    opponent: BlueprintStrategy | None = None  # a model of who sits opposite, whose range is met; None: the blueprint

    def __post_init__(self) -> None:
        _ = self.search  # refuses games that it cannot search

    def __repr__(self) -> str:
        return f"<SearchingAgent {self.name}: {self.settings.method} from the {self.settings.street} on>"

    @cached_property
    def search(self) -> Searching:
        """What solves."""
        try:
            opponent = None if self.opponent is None else even_strategy(self.opponent)
            return Search(even_play(self.base.played), self.settings, opponent)
        except InputError as error:
            raise InputError(f"agent {self.name!r}: {error}") from None

    @property
    def name(self) -> str:
        """What tables and messages call it."""
        return self.base.name

    @property
    def made_of(self) -> tuple[BlueprintAgent]:
        """The blueprint by which it is known."""
        return (self.base,)

    @property
    def rules(self) -> Rules:
        """The game that it plays."""
        return self.base.rules

    def check_rules(self, rules: Rules) -> None:
        """Only its own rules."""
        self.base.check_rules(rules)

    @property
    def tables_at_once(self) -> int:
        """That it likes to be asked about: solutions of all of them are kept while their hands go on."""
        return TABLES if choose(self.settings.device) == CPU else DEVICE_TABLES

    # --- tables -------------------------------------------------------------------------------

    def act(self, views: Views) -> Array:
        """Moves. int32 [n]"""
        rows, moves = self._rows(views)
        return drawn(self.base.seed, views, rows, moves)

    def probabilities(self, views: Views) -> list[Choice]:
        """Moves and their probabilities."""
        rows, moves = self._rows(views)
        out = []
        for row, labels in zip(rows.tolist(), moves.tolist(), strict=True):
            sums: dict[int, float] = {}
            for p, move in zip(row, labels, strict=True):
                if p > 0:
                    sums[move] = sums.get(move, 0.0) + p
            out.append(sorted(sums.items()))
        return out

    def explain(self, views: Views) -> Explanation | None:
        """What was found at the first table; None before the street from which on it searches."""
        self.check_rules(views.rules)
        if views.places.street[0] < self.search.first:
            return None
        position, moves = self._solved(views.places, np.zeros(1, np.int64), views.seat)[0]
        if not isinstance(position, Position | MidPosition):
            return None
        return Explanation(position, moves, int(hand_numbers(views.hole)[0]))

    def _rows(self, views: Views) -> tuple[Array, Array]:
        """Probabilities of the hands that are held, and the moves that they are of. float64, int32 [n, columns]"""
        self.check_rules(views.rules)
        late = views.places.street >= self.search.first
        early, searched = np.flatnonzero(~late), np.flatnonzero(late)
        base = self.base.decide(views.take(early)) if len(early) else None
        solved = self._solved(views.places, searched, views.seat)
        columns = max([len(made) for _, made in solved], default=0)
        columns = max(columns, 0 if base is None else base.rows.shape[1])
        rows, moves = np.zeros((len(views), columns)), np.zeros((len(views), columns), np.int32)
        if base is not None:
            rows[early, : base.rows.shape[1]], moves[early, : base.rows.shape[1]] = base.rows, base.moves
        hands = hand_numbers(views.hole)
        for i, (position, made) in zip(searched.tolist(), solved, strict=True):
            rows[i, : len(made)], moves[i, : len(made)] = position.strategy[hands[i]], made
        return rows, moves

    # --- public places --------------------------------------------------------------------------

    def strategies(self, places: Places, draw: Array | None = None) -> Strategies:
        """What it plays with all hands at public places."""
        self.check_rules(places.rules)
        actor = places.actor
        late = (places.street >= self.search.first) & (actor >= 0)
        early, searched = np.flatnonzero(~late), np.flatnonzero(late)
        base = self.base.strategies(places.take(early), None if draw is None else draw[early]) if len(early) else None
        solved = self._solved(places, searched, actor)
        columns = max([len(made) for _, made in solved], default=0)
        columns = max(columns, 0 if base is None else base.moves.shape[1])
        moves = np.full((len(places), columns), END, np.int32)
        chances = np.zeros((len(places), places.rules.deck.hand_count, columns))
        if base is not None:
            moves[early, : base.moves.shape[1]] = base.moves
            chances[early, :, : base.moves.shape[1]] = base.probabilities
        for i, (position, made) in zip(searched.tolist(), solved, strict=True):
            moves[i, : len(made)] = made
            chances[i, :, : len(made)] = position.strategy[self.search.numbers] * places.live[i, :, None]
        return Strategies(places, actor, moves, chances)

    def _solved(self, places: Places, chosen: Array, seats: Array) -> list[Solved]:
        some = places.take(chosen)
        even = even_places(some)
        positions = self.search.positions(even, seats[chosen]) if len(chosen) else []
        if even is some:
            return [Solved(position, position.moves) for position in positions]
        return [Solved(p, real_moves(p.moves, some.betting(i))) for i, p in enumerate(positions)]


@dataclass(frozen=True, eq=False)
class LibraryAgent(SearchingAgent):
    """A blueprint that plays rivers by the nearest endgame of a library."""

    library: Library = field(default_factory=lambda: Library({}))

    def __repr__(self) -> str:
        return f"<LibraryAgent {self.name}: {len(self.library):,} endgames>"

    def explain(self, views: Views) -> Explanation | None:
        """Nothing is solved here."""
        raise InputError(
            f"agent {self.name!r} solves nothing: --explain is for search; `riverboat endgames query` has what is nearest"
        )

    @cached_property
    def search(self) -> Searching:
        """What looks up."""
        try:
            return LibraryPlay(self.library, Search(even_play(self.base.played), self.settings))
        except InputError as error:
            raise InputError(f"agent {self.name!r}: {error}") from None
