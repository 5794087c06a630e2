"""Search at the table: before a street the blueprint plays, from there on what is left of the hand is solved.

    search = Search(played, SearchSettings("turn", "resolve"))
    search.positions(places, seats)                    # where each place lies in a subgame that was solved

What a subgame is depends on the line, the board and the seat that searches, never on anybody's cards: so its solution can be
kept, and worked out again with equal bytes. A line leads through a chain of subgames:

- The first begins with its street. Ranges come by Bayes: the own one from what the seat really plays; the opponent's from
  the blueprint along the line that its bets are read as. Values of the opponent's hands are best responses to the
  blueprint there.
- A move that a subgame does not have, and each new street, begins the next one, with ranges and values of the last solution.
  Behind such a move no values are known: those of the decision before it stand in for them (`nested="inexpensive"`), or the
  subgame begins with that decision, and has the move (`"expensive"`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from riverboat.cards.deck import HANDS
from riverboat.cards.notation import show_cards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, check_threads, unknown
from riverboat.core.resources import available_memory
from riverboat.engines.devices import CPU, choose
from riverboat.games.base import CHANCE
from riverboat.games.holdem.actions import CALL, show_move
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.menus import Menu, totals
from riverboat.games.holdem.public_state import Places
from riverboat.solvers.boards.batches import solve_many
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.strategies.blueprint_values import blueprint_values
from riverboat.strategies.policy import Played
from riverboat.strategies.public_cache import PublicCache
from riverboat.strategies.reports.blueprint import at_line
from riverboat.strategies.reports.public_state import hand_numbers
from riverboat.subgames.depth_limited.leaf_methods import LEAVES
from riverboat.subgames.search.depth_limited import NO_VALUES, Around, Midgame, MidPosition
from riverboat.subgames.search.menus import table_menu, with_total
from riverboat.subgames.search.subgames import METHODS, Entry, Position, Subgame

STREETS = ("preflop", "flop", "turn", "river")
NESTED = ("inexpensive", "expensive")
KEPT, KEPT_SHARE = 1 << 30, 1 / 16  # bytes of solutions that are kept, and of the free memory where that is more
WORK = 5.5e6  # nodes × boards × hands: about a second of one core for a hundred iterations
WORK_A_SECOND = 5e6  # of one core, so that some sixty iterations are made
LEAST_SECONDS = 0.05
ITERATIONS = {"preflop": 100, "flop": 100, "turn": 100, "river": 300}
MOST = 1_000_000  # iterations, where time decides
CHECK_EVERY = 10  # iterations: a look costs half of one on a turn, and three on a river
MOST_SPREAD = 10.0
FORCED = 0.1  # of the opponent's range, where nobody says
MIDGAME = 1  # the last street that is solved alone, with values where it ends: the flop
LEAST = 1e-4  # the least weight of an own hand: one that should not be there is played for what it is


@dataclass(frozen=True)
class SearchSettings:
    """How an agent searches."""

    street: str = "turn"  # the first that is searched
    method: str = "unsafe"
    iterations: int | None = None  # of a solve; None: as many as `ITERATIONS` has for its street
    until: float = 0.4  # % of the pot, at which fewer iterations do
    seconds: float | None = None  # that a solve may take, on however many iterations
    menu: Menu | None = None  # None: by what is left behind and the time there is
    nested: str | None = None  # None: inexpensive where the method is safe
    floor: float = 0.01  # the least weight of a hand of the opponent
    model: float = 0.0  # moves of the blueprint that are less likely are never made by the opponent
    play: float = 0.0  # moves of a solution that are less likely are never made
    leaves: str = "continuations"  # how the exits of a flop, or of the street before it, are valued
    forced: float | None = None  # `resolve`: so much of the opponent's range may not stop; None: `FORCED`
    spread: float = 0.0  # `estimate`: values are drawn around what they are, with so many times their known error
    threads: int = 1
    device: str = CPU

    def __post_init__(self) -> None:
        if self.street not in STREETS:
            raise unknown("street", self.street, STREETS)
        if self.method not in METHODS:
            raise unknown("method", self.method, METHODS)
        if self.leaves not in LEAVES:
            raise unknown("leaves", self.leaves, LEAVES)
        if self.leaves != "continuations" and STREETS.index(self.street) > MIDGAME:
            raise InputError(f"leaves={self.leaves}: a {self.street} is solved to the end; give search=flop or preflop")
        if self.nested not in (None, *NESTED):
            raise unknown("nested", str(self.nested), NESTED)
        if self.nested == "inexpensive" and self.method == "unsafe":
            raise InputError("nested=inexpensive: unsafe search has no values that could stand behind an action")
        if self.iterations is not None and self.iterations < 1:
            raise InputError(f"iterations={self.iterations}: must be at least 1")
        if not self.until > 0:
            raise InputError(f"until={self.until:g}: must be above zero, such as 0.4 (% of the pot)")
        if self.seconds is not None and self.iterations is not None:
            raise InputError("iterations and time: a solve ends by one of them; give one")
        if self.seconds is not None and not self.seconds >= LEAST_SECONDS:
            raise InputError(f"time={self.seconds:g} s: too short to solve anything; give {LEAST_SECONDS:g} s or more")
        for what, share in (
            ("floor", self.floor), ("model", self.model), ("play", self.play), ("forced", self.forced or 0.0),
        ):  # fmt: skip
            if not 0 <= share <= 1:
                raise InputError(f"{what}={share:g}: must be from 0 to 1, such as 0.01")
        if not 0 <= self.spread <= MOST_SPREAD:
            raise InputError(f"spread={self.spread:g}: must be from 0 to {MOST_SPREAD:g}, such as 1")
        if self.spread and self.method != "estimate":
            raise InputError(
                f"spread={self.spread:g}: values of method={self.method} are no estimates; give method=estimate"
            )
        if self.forced is not None and self.method != "resolve":
            raise InputError(f"forced={self.forced:g}: nobody stops in method={self.method}; give method=resolve")
        check_threads(self.threads)
        choose(self.device)

    @property
    def work(self) -> float:
        """Nodes × boards × hands of a subgame, at most: what the usual iterations, or enough in the time, can walk."""
        return WORK if self.seconds is None else self.seconds * self.threads * WORK_A_SECOND


class Outset(NamedTuple):
    """Where a subgame begins, without what must be worked out for it."""

    key: bytes
    menu: Menu
    behind: int | None  # a move that it begins behind, which has no values of its own


@dataclass(frozen=True, eq=False)
class Search:
    """Solves what a blueprint comes to."""

    played: Played
    settings: SearchSettings
    opponent: BlueprintStrategy | None = None  # what the opponent is thought to play; None: the blueprint
    cache: PublicCache[Position | MidPosition] = field(default_factory=lambda: PublicCache(_kept(), _bytes), repr=False)

    def __post_init__(self) -> None:
        rules = self.played.rules
        if rules.limit or rules.board != (0, 3, 1, 1) or rules.hole != 2:
            raise InputError(f"{rules.name}: search is for no-limit hold'em")
        if self.settings.seconds is not None:
            self.warm()

    @cached_property
    def first(self) -> int:
        """The street on which search begins."""
        return self.played.rules.streets.index(self.settings.street)

    @cached_property
    def numbers(self) -> Array:
        """Of the hands of the deck, among the 1,326. int64 [hands]"""
        return hand_numbers(self.played.rules.deck.hands)

    @property
    def nested(self) -> str:
        """How an action that a subgame does not have is met."""
        return self.settings.nested or ("expensive" if self.settings.method == "unsafe" else "inexpensive")

    # --- places -------------------------------------------------------------------------------

    def positions(self, places: Places, seats: Sequence[int] | Array) -> list[Position | MidPosition]:
        """Where places lie in subgames, for the seats that search; what is not solved yet is solved side by side."""
        ways = [_Way(self, places, i, int(seats[i])) for i in range(len(places))]
        while needed := {way.key: way.subgame for way in ways if way.subgame is not None}:
            solved = self._solve(needed)
            for way in ways:
                if way.subgame is not None:
                    way.go_on(solved[way.key])
        return [way.position for way in ways if way.position is not None]

    def _solve(self, needed: dict[bytes, Subgame | Midgame]) -> dict[bytes, Position | MidPosition]:
        positions: dict[bytes, Position | MidPosition] = {}
        for street, usual in ITERATIONS.items():
            s = self.settings
            most = s.iterations or (usual if s.seconds is None else MOST)
            for key, midgame in needed.items():
                if isinstance(midgame, Midgame) and self.played.rules.streets[midgame.entry.state.street] == street:
                    positions[key] = self.cache.keep(key, midgame.solve(most, s.until, s.seconds))
            some = {
                key: subgame
                for key, subgame in needed.items()
                if isinstance(subgame, Subgame) and subgame.spot.streets[0] == street
            }
            spots = [subgame.spot for subgame in some.values()]
            solutions = solve_many(
                spots,
                iterations=most,
                until=s.until,
                seconds=s.seconds,
                check_every=CHECK_EVERY,
                threads=s.threads,
                device=s.device,
            )
            for (key, subgame), solution in zip(some.items(), solutions, strict=True):
                positions[key] = self.cache.keep(key, subgame.solved(solution, s.play))
        return positions

    def warm(self) -> None:
        """Compile now, or load, what the first solve would: a clock then measures solving alone, and nobody waits later."""
        rules, street = self.played.rules, self.first
        board = rules.deck.cards[:: len(rules.deck.cards) // 5][: rules.board_sizes[street]]
        places = Places.from_lines(rules, ["cc/" * street], [tuple(board.tolist())])
        quick = Search(self.played, replace(self.settings, seconds=None, iterations=1))
        for seat in (0, 1):
            quick.positions(places, [seat])[0].entry()

    # --- where subgames begin -------------------------------------------------------------------

    def entered(self, state: Betting, board: tuple[int, ...], seat: int) -> Entry:
        """What the blueprint knows where the first searched street begins."""
        places, other, tree = Places.of([state], [board]), 1 - seat, self.played.strategy.tree
        ranges = np.ones((2, HANDS))
        ranges[seat] = 0.0
        ranges[seat, self.numbers] = self.played.reach(places, seat)[0]
        node = int(self._reader.read_as(places, np.array([seat]))[0])
        if node >= 0 and tree.actor[node] >= 0 and tree.street[node] == state.street:
            line = tree.line(node)
            model = at_line(self._model, line, board)
            ranges[other] = 0.0
            ranges[other, hand_numbers(model.hands)] = model.reach[other]
            if not ranges[seat].any():
                ranges[seat, hand_numbers(model.hands)] = model.reach[seat]
        return self.valued(Entry(state, board, ranges, None, NO_VALUES), seat)

    def valued(self, entry: Entry, seat: int) -> Entry:
        """An entry with what the opponent's hands are worth there against the blueprint, where the method needs that.

        Midgames work that out themselves, with the values of their exits.
        """
        if entry.state.street <= MIDGAME:
            return entry
        if self.settings.method == "unsafe":
            return replace(entry, source="none: unsafe search needs none")
        state, other = entry.state, 1 - seat
        node = int(self._reader.read_as(Places.of([state], [entry.board]), np.array([seat]))[0])
        tree = self.played.strategy.tree
        if node < 0 or tree.actor[node] < 0 or tree.street[node] != state.street:
            return replace(entry, source="none: the blueprint has no such line")
        there = blueprint_values(self._base, tree.line(node), entry.board, [*entry.ranges], self.settings.threads)

        def real(values: Array) -> Array:
            """Of the pot here, which differs where bets were translated: no more than there is to win and to lose."""
            left = min(state.behind)
            return np.clip(values * state.pot / there.pot, -left, state.pot + left)

        best = real(there.best_response[other])
        if self.settings.method != "estimate":
            return replace(entry, values=best, source="the blueprint")
        values = real(there.self_play[other])
        error = np.maximum(best - values, 0.0)  # what the hand gives up to the blueprint, and might not
        return replace(entry, values=values, source="the blueprint in self-play", error=error)

    def begun(self, state: Betting, board: tuple[int, ...], seat: int, move: int | None) -> Outset:
        """Where the subgame begins that a line needs which comes to a state and goes on with a move."""
        menu, behind, added = self._menu(state), None, ""
        if move is not None and move > CALL and move not in totals(menu, state):
            if self.nested == "expensive" and state.turn != seat:
                menu, added = self._menu(state, move), show_move(move, state.rules)
            else:
                behind = move
                state = state.play(show_move(move, state.rules))
                menu = self._menu(state)
        return Outset(f"{seat} {state.line} {added} {show_cards(board)}".encode(), menu, behind)

    def subgame(self, outset: Outset, entry: Entry, seat: int) -> Subgame | Midgame:
        """The subgame of an outset, once it is known who comes there with what."""
        known = entry if outset.behind is None else entry.after(outset.behind, 1 - seat)
        s = self.settings
        forced = FORCED if s.forced is None else s.forced
        if known.state.street <= MIDGAME:
            return Midgame(seat, known, outset.menu, self._around, s.floor, LEAST, s.method, s.leaves)
        return Subgame.make(known, seat, outset.menu, s.method, s.floor, LEAST, spread=s.spread, forced=forced)

    def _menu(self, state: Betting, total: int | None = None) -> Menu:
        menu = self.settings.menu
        if state.street < MIDGAME or (menu is None and state.street == MIDGAME):
            menu = self.played.strategy.menu  # the exits of its own street are what the blueprint knows
        if menu is None:
            return table_menu(state, self.settings.work, total)
        return menu if total is None or total in totals(menu, state) else with_total(menu, state, total)

    @cached_property
    def _around(self) -> Around:
        return Around(self._reader, self._base, self.valued)

    @cached_property
    def _reader(self) -> Played:
        """Reads every line in one way."""
        return self.played if self.played.reads_one_way else replace(self.played, translation="det-pshar")

    @cached_property
    def _model(self) -> BlueprintStrategy:
        """What the opponent is thought to play."""
        if self.opponent is not None:
            return self.opponent
        if not self.settings.model:
            return self.played.strategy
        return replace(self.played, post="threshold", share=self.settings.model, spare_first=False).on_tree()

    @cached_property
    def _base(self) -> BlueprintStrategy:
        """What is really played on the tree."""
        return self.played.on_tree()


def _kept() -> int:
    """Bytes of solutions that are kept: a batch of tables whose turns do not fit solves them once more for every decision."""
    return max(KEPT, int((available_memory() or 0) * KEPT_SHARE))


def _bytes(position: Position | MidPosition) -> int:
    return position.nbytes


class _Way:
    """One place, and the way to it through subgames. It stops where one must be solved, and goes on with its root."""

    def __init__(self, search: Search, places: Places, i: int, seat: int) -> None:
        self.search, self.seat, self.board, self.rules = search, seat, places.shown(i), places.rules
        self.moves: list[int] = places.moves[i, : places.length[i]].tolist()
        self.position: Position | MidPosition | None = None
        self.subgame: Subgame | Midgame | None = None
        self.key = b""
        state = Betting.start(self.rules)
        while state.street < search.first:
            state = (
                state.next_street() if state.actor == CHANCE else state.play(show_move(self.moves.pop(0), self.rules))
            )
        self._begin(state, lambda: search.entered(state, self._shown(state), seat))

    def _shown(self, state: Betting) -> tuple[int, ...]:
        return self.board[: self.rules.board_sizes[state.street]]

    def _begin(self, state: Betting, known: Callable[[], Entry]) -> None:
        outset = self.search.begun(state, self._shown(state), self.seat, self.moves[0] if self.moves else None)
        self.key = outset.key
        if outset.behind is not None:
            self.moves.pop(0)
        root = self.search.cache.get(outset.key)
        if root is None:
            self.subgame = self.search.subgame(outset, known(), self.seat)
        else:
            self.go_on(root)

    def go_on(self, root: Position | MidPosition) -> None:
        """The subgame is solved."""
        self.subgame, self.position = None, root
        while self.moves:
            after = self.position.after(self.moves[0])
            if after is None:
                self._begin(self.position.state, self.position.entry)
                return
            self.position = after
            self.moves.pop(0)
            if after.deals:
                dealt = self._shown(after.state.next_street())[self.rules.board_sizes[after.state.street] :]
                after = after.dealt(dealt)
                self._begin(after.state, after.entry)
                return
