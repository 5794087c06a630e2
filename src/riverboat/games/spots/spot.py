"""A hold'em spot: a place in a hand from the flop on, with a pot, stacks, two ranges and menus of bet sizes.

Player 0 is `oop`, who acts first on every street; player 1 is `ip`. What is in the pot at the root belongs to nobody: a
pay-off is the share of the final pot, less the chips put in since. So the values of both sum to the pot, less rake.

`Spot.make` writes one as players do, `Spot.at` opens one at any state of a table: in the middle of a street, with a bet on
the table and stacks that differ. Both are kept from the start of the street on, with the moves that were made on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import Any, TypeAlias

import numpy as np

from riverboat.cards.deck import FULL_DECK, HAND_CARDS, Deck, card_name
from riverboat.cards.notation import Cards, parse_cards, show_cards
from riverboat.cards.ranges import Range
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, MemoryLimitError, shown, unknown
from riverboat.games.base import CHANCE
from riverboat.games.boards.betting_tree import make
from riverboat.games.boards.board_game import BettingTree
from riverboat.games.boards.root_gadgets import RootGadget
from riverboat.games.boards.unrolled import BoardStates
from riverboat.games.holdem.action_labels import STREET
from riverboat.games.holdem.bet_sizes import Thresholds, parse_share
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.betting_rules import NOBODY, allowed, price, span, step
from riverboat.games.holdem.menus import Menu
from riverboat.games.holdem.rules import Rake, Rules
from riverboat.games.spots.locks import Lock, check_locks
from riverboat.games.spots.menus import PLAYERS as PLAYERS
from riverboat.games.spots.menus import STREETS as STREETS
from riverboat.games.spots.menus import from_street, longest, read_menu
from riverboat.games.spots.rules import capped, played_moves, table_rules, written_most_raises, written_rules

HELD_BYTES = 6  # that a node takes in the tables for each hand, at the least
Menus: TypeAlias = str | Mapping[str, Any]


@dataclass(frozen=True)
class Spot(BoardStates):
    """A spot as a game; `Spot.make` and `Spot.at` are the ways to make one."""

    board: tuple[int, ...]
    rules: Rules  # as if the hand began with this street: the pot belongs to nobody, the stacks are those behind it
    menu: Menu | None  # None in limit games
    ranges: tuple[Range, Range]  # oop, ip
    locks: tuple[Lock, ...] = ()
    deck: Deck = FULL_DECK
    name: str = "spot"
    played: str = ""  # moves of this street before the root, `x-b120`
    led: int | None = None  # who bet or raised last on the street before
    gadget: RootGadget | None = None  # what stands at the root of a subgame
    unit: str = field(default="chips", init=False)
    joiner: str = field(default="-", init=False)

    @staticmethod
    def make(
        *,
        board: Cards,
        pot: int,
        stack: int | Sequence[int],
        oop: str | Range,
        ip: str | Range,
        bets: Menus = "",
        raises: str | None = None,
        donks: str | None = None,
        rake: float | None = None,
        rake_cap: float = inf,
        add_all_in: str = "0%",
        force_all_in: str = "0%",
        merge: str = "0%",
        donk_bets: bool = True,
        raise_cap: int | None = None,
        most_raises: int | list[int] | None = None,
        raise_sizes: Sequence[int] | None = None,
        least_bet: int = 1,
        played: str = "",
        led: str | None = None,
        locks: Iterable[Lock] = (),
        deck: Deck = FULL_DECK,
        name: str = "spot",
    ) -> Spot:
        """A spot from what players write.

        `bets` is a list of sizes such as `"33%, 75%"` for all streets and both players, with `raises` and `donks` beside
        it, or a mapping as in a spot file: `{"flop": {"bet": "33%", "raise": "45%"}, "oop": {"turn": {…}}}`. Without bets
        the hand is checked down. `played` are moves of this street that come before the root, `x-b120`; pot and stacks
        (one number, or those of oop and ip) are those before them. In a limit game `raise_sizes` say what a bet adds and
        `most_raises` how many there are, both by round from the deal on, and there is nothing else to bet.
        """
        cards = _board(board)
        taken = Rake(0.0 if rake is None else rake, rake_cap)
        if rake is None and rake_cap != inf:
            raise InputError(
                f"rake cap {shown(rake_cap)} without a rate: nothing would be taken; give a rate such as 0.05"
            )
        if isinstance(bets, str):
            menu = {"bet": bets} | {k: v for k, v in (("raise", raises), ("donk", donks)) if v is not None}
            bets = {STREETS[len(cards) - 3]: menu}
        elif raises is not None or donks is not None:
            raise InputError(
                "raises and donks go with a list of bets; in a mapping, write them as raise and donk of a street"
            )
        thresholds = Thresholds(
            parse_share(add_all_in, "add_all_in"),
            parse_share(force_all_in, "force_all_in"),
            parse_share(merge, "merge"),
        )
        if not isinstance(donk_bets, bool):
            raise InputError(f"donk_bets={shown(donk_bets)}: must be true or false")
        rules = written_rules(pot, stack, least_bet, taken, raise_sizes, most_raises)
        sizes = None
        if not rules.limit:
            most = written_most_raises(raise_cap, most_raises)
            sizes = read_menu(bets, len(cards) - 2, most, thresholds, donk_bets)
        return Spot(
            cards,
            rules,
            sizes,
            (_range(oop, "oop"), _range(ip, "ip")),
            tuple(locks),
            deck,
            name,
            played,
            _player(led),
        )

    @staticmethod
    def at(
        state: Betting,
        board: Cards,
        ranges: tuple[Range | str, Range | str],
        menu: Menu | None = None,
        *,
        locks: Iterable[Lock] = (),
        name: str = "spot",
    ) -> Spot:
        """The spot of a table state, from the flop on: its pot, stacks and bets. Ranges are those of seat 0 and seat 1.

        Where a round is over and the board has the cards of the next one, the spot begins with that. A limit game needs
        no menu.
        """
        cards = _board(board)
        rules = state.rules
        if rules.board != (0, 3, 1, 1) or rules.hole != 2 or any(rules.first[1:]):
            raise InputError(
                f"game {shown(rules.name)}: a spot is hold'em, with seat 0 first to speak from the flop on"
            )
        while state.actor == CHANCE and rules.board_sizes[state.street] < len(cards):
            state = state.next_street()
        where = f"the {rules.streets[state.street]} at {shown(state.line)}"
        if state.actor < 0:
            raise InputError(f"{where}: nobody is to act there, so there is nothing to solve")
        if state.street == 0:
            raise InputError(
                f"{where}: spots begin on the flop or later; from the deal on there are blueprints and holdem"
            )
        if len(cards) != rules.board_sizes[state.street]:
            raise InputError(f"{where}: a board of {rules.board_sizes[state.street]} cards is needed, not {len(cards)}")
        if menu is None and not rules.limit:
            raise InputError(f"{where}: a no-limit game needs a menu of sizes, such as menus.one_size('100%')")
        spot = Spot(
            cards,
            table_rules(rules, state.before),
            None if menu is None or rules.limit else from_street(capped(menu, rules), state.street),
            (_range(ranges[0], "oop"), _range(ranges[1], "ip")),
            tuple(locks),
            rules.deck,
            name,
            played_moves(state),
            state.led,
        )
        if (spot.start.pot, spot.start.turn) != (state.pot, state.turn):
            raise InputError(f"{where}: its line does not say how the street was played")
        return spot

    def lock(self, line: str, strategy: Mapping[str, float], hands: str | Range | None = None) -> Spot:
        """The same spot with what is played at a line fixed, for all hands or for some; moves left out are never made."""
        held = _range(hands, f"lock at {shown(line)}") if hands is not None else None
        locked = replace(self, locks=(*self.locks, Lock(line, tuple(strategy.items()), held)))
        check_locks(locked)
        return locked

    def __post_init__(self) -> None:
        _check_board(self.board, self.deck)
        if self.rules.pot <= 0:
            raise InputError(f"pot={self.rules.pot}: must be above zero; a spot is played for what is in the middle")
        if not isinstance(self.played, str):
            raise InputError(f"played={shown(self.played)}: must be a text of moves, such as 'x-b120'")
        _ = self.start  # refuses moves that cannot have been played
        for player, name in enumerate(PLAYERS):
            if not self.ranges[player].weights.any():
                raise InputError(f"range of {name}: no hands in it; write hands such as QQ+, AKs or AsKs:0.5")
            if not self.weights[player].any():
                by = f"the board {show_cards(self.board)}" if self.deck == FULL_DECK else "the board and the deck"
                raise InputError(f"range of {name}, {_short(self.ranges[player])!r}: {by} blocks every hand in it")
        if not _some_pair(self.weights):
            raise InputError(
                f"ranges oop {_short(self.ranges[0])!r} and ip {_short(self.ranges[1])!r}: "
                "every hand of one shares a card with every hand of the other; no deal is possible"
            )

    @cached_property
    def start(self) -> Betting:
        """The betting at the root."""
        street, book = len(self.board) - 2, self.rules.book
        state = Betting.on(self.rules, street)
        s = state.at._replace(led=NOBODY if self.led is None else self.led)
        for label in self.played.split(STREET.joiner) if self.played else ():
            where = f"played {shown(self.played)}: {shown(label)}"
            move, (least, most) = STREET.read(book, s, label), span(book, s)
            # To put the shorter stack all-in is a move, also where the deeper one would have to raise by more.
            least = min(least, self.rules.stack)
            if move is None or not allowed(price(book, s), least, most, move):
                raise InputError(
                    f"{where} cannot be played there; write moves of the {STREETS[street - 1]}, such as x-b120"
                )
            s = step(book, s, move)
            if s.over:
                raise InputError(f"{where} ends the street; begin the spot with the next one")
        return Betting(self.rules, s)

    @property
    def pot(self) -> int:
        """Chips in the middle at the root."""
        return self.start.pot

    @property
    def behind(self) -> tuple[int, int]:
        """Chips that each player has behind at the root."""
        return self.start.behind

    @property
    def stack(self) -> int:
        """Chips behind at the root, of the player who has fewer."""
        return min(self.behind)

    @property
    def scale(self) -> tuple[str, float]:
        """Exploitability is told in % of the pot at the root."""
        return "% of pot", 100.0 / self.pot

    @cached_property
    def deals(self) -> tuple[int, ...]:  # type: ignore[override]
        """One card for each street that is left."""
        return (1,) * (5 - len(self.board))

    @cached_property
    def weights(self) -> tuple[Array, Array]:  # type: ignore[override]
        """The ranges without what the board or the deck rules out. float64 [1326] each"""
        cards = np.setdiff1d(self.deck.cards, self.board)
        live = np.isin(HAND_CARDS, cards).all(axis=1)
        first, second = (np.where(live, held.weights, 0.0) for held in self.ranges)
        return first, second

    @cached_property
    def betting(self) -> BettingTree:  # type: ignore[override]
        """The tree of betting."""
        try:
            table_bytes = HELD_BYTES * min(len(held) for held in self.held)
            return make(self.start, self.name, self.menu, notation=STREET, since_root=True, table_bytes=table_bytes)
        except MemoryLimitError as error:
            if self.menu is None:
                raise
            smaller = "fewer of them, a raise_cap or merge = '10%' make the tree smaller"
            raise MemoryLimitError(f"{error}: {longest(self.menu, len(self.board) - 2)}; {smaller}") from None

    @property
    def streets(self) -> tuple[str, ...]:
        """Names of the streets that are bet on."""
        return STREETS[len(self.board) - 3 :]


# --- what users write -------------------------------------------------------------------------


def _board(board: Cards) -> tuple[int, ...]:
    cards = parse_cards(board, "board") if isinstance(board, str) else tuple(int(c) for c in board)
    if len(cards) not in (3, 4, 5):
        written = board if isinstance(board, str) else show_cards(cards)
        raise InputError(f"board {shown(written)}: {len(cards)} cards; a flop has 3, a turn 4, a river 5")
    return cards


def _range(given: str | Range, name: str) -> Range:
    if isinstance(given, Range):
        return given
    try:
        return Range.parse(given)
    except InputError as error:
        raise InputError(f"range of {name}: {error}") from None


def _player(name: str | None) -> int | None:
    if name is not None and name not in PLAYERS:
        raise InputError(f"led={shown(name)}: {unknown('player', str(name), PLAYERS)}")
    return None if name is None else PLAYERS.index(name)


# --- what a spot must be ----------------------------------------------------------------------


def _check_board(board: tuple[int, ...], deck: Deck) -> None:
    if len(board) not in (3, 4, 5):
        raise InputError(f"board of {len(board)} cards: a flop has 3, a turn 4, a river 5")
    for place, card in enumerate(board):
        name = card_name(card)
        if card in board[:place]:
            raise InputError(f"board {shown(show_cards(board))}: {name} is there twice; each card stands once")
        if card not in deck.cards:
            raise InputError(f"board {shown(show_cards(board))}: {name} is not in this deck")
    if len(deck.cards) < 9:
        raise InputError(f"deck of {len(deck.cards)} cards: two hands and a board of five need 9")


def _some_pair(weights: tuple[Array, Array]) -> bool:
    """Whether some hand of one leaves one of the other."""
    first, second = (HAND_CARDS[np.flatnonzero(w)] for w in weights)
    # A hand meets all of the other range only if they share cards one by one: a few tries find a free one.
    return any(not np.isin(second, hand).any(axis=1).all() for hand in first)


def _short(held: Range) -> str:
    text = str(held)
    return text if len(text) <= 40 else text[:39] + "…"
