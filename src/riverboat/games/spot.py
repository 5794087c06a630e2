"""A hold'em spot: a flop, turn or river with a pot, stacks, two ranges and menus of bet sizes.

Player 0 is `oop`, who acts first on every street; player 1 is `ip`. What is in the pot at the root belongs to nobody: a
pay-off is the share of the final pot, less the chips put in since. So the values of both sum to the pot, less rake.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, isfinite
from typing import Any, TypeAlias

import numpy as np

from riverboat.arrays import Array
from riverboat.cards.deck import FULL_DECK, HAND_CARDS, Deck, card_name
from riverboat.cards.notation import Cards, parse_cards, show_cards
from riverboat.cards.ranges import Range
from riverboat.errors import InputError, MemoryLimitError, shown, unknown
from riverboat.games.board_game import BettingTree, make
from riverboat.games.board_states import BoardStates
from riverboat.games.sizes import Thresholds, parse_share, parse_sizes
from riverboat.games.spot_betting import IP, OOP, Menu, Rake, SpotBetting, SpotRules
from riverboat.games.spot_locks import Lock, check_locks

STREETS = ("flop", "turn", "river")
PLAYERS = ("oop", "ip")
HELD_BYTES = 6  # that a node takes in the tables for each hand, at the least
MOST_CHIPS = 2**53  # beyond it a float64 skips whole numbers
Menus: TypeAlias = str | Mapping[str, Any]


@dataclass(frozen=True)
class Spot(BoardStates):
    """A spot as a game; `Spot.make` is the way to write one."""

    board: tuple[int, ...]
    rules: SpotRules
    ranges: tuple[Range, Range]  # oop, ip
    locks: tuple[Lock, ...] = ()
    deck: Deck = FULL_DECK
    name: str = "spot"
    unit: str = field(default="chips", init=False)
    joiner: str = field(default="-", init=False)

    @staticmethod
    def make(
        *,
        board: Cards,
        pot: int,
        stack: int,
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
        locks: Iterable[Lock] = (),
        deck: Deck = FULL_DECK,
        name: str = "spot",
    ) -> Spot:
        """A spot from what players write.

        `bets` is a list of sizes such as `"33%, 75%"` for all streets and both players, with `raises` and `donks` beside
        it, or a mapping as in a spot file: `{"flop": {"bet": "33%", "raise": "45%"}, "oop": {"turn": {…}}}`. Without bets
        the hand is checked down.
        """
        cards = _board(board)
        if rake is None and rake_cap != inf and _number(rake_cap) and rake_cap >= 0:
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
        taken = Rake(0.0 if rake is None else rake, rake_cap)
        menus = read_menus(bets, len(cards))
        rules = SpotRules(pot, stack, menus, thresholds, donk_bets, raise_cap, taken)
        return Spot(cards, rules, (_range(oop, "oop"), _range(ip, "ip")), tuple(locks), deck, name)

    def lock(self, line: str, strategy: Mapping[str, float], hands: str | Range | None = None) -> Spot:
        """The same spot with what is played at a line fixed, for all hands or for some; moves left out are never made."""
        held = _range(hands, f"lock at {shown(line)}") if hands is not None else None
        locked = replace(self, locks=(*self.locks, Lock(line, tuple(strategy.items()), held)))
        check_locks(locked)
        return locked

    def __post_init__(self) -> None:
        _check_board(self.board, self.deck)
        _check_rules(self.rules)
        if self.rules.streets != len(self.deals) + 1 or len(self.rules.menus[IP]) != self.rules.streets:
            raise InputError(f"menus for {self.rules.streets} streets: the board leaves {len(self.deals) + 1}")
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

    @property
    def pot(self) -> int:
        """Chips in the middle at the root."""
        return self.rules.pot

    @property
    def stack(self) -> int:
        """Chips that each player has behind at the root."""
        return self.rules.stack

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
            return make(SpotBetting(self.rules), self.name, HELD_BYTES * min(len(held) for held in self.held))
        except MemoryLimitError as error:
            raise MemoryLimitError(f"{error}: {_longest_menu(self)}") from None

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


def read_menus(bets: Mapping[str, Any], board: int) -> tuple[tuple[Menu, ...], tuple[Menu, ...]]:
    """Menus of both players for the streets from a board of so many cards on.

    A player's own table goes before the shared one, street by street; streets left out repeat the last one given.
    """
    for key, table in bets.items():
        if key not in (*STREETS, *PLAYERS):
            raise _wrong("bets", unknown("key", str(key), (*STREETS, *PLAYERS)))
        if not isinstance(table, Mapping):
            raise InputError(f'bets.{key} = {shown(table)}: must be a table such as {{ bet = "33%", raise = "45%" }}')
    shared = {f"bets.{street}": bets[street] for street in STREETS if street in bets}
    return _player_menus(bets, shared, OOP, board), _player_menus(bets, shared, IP, board)


def _player_menus(bets: Mapping[str, Any], shared: dict[str, Any], player: int, board: int) -> tuple[Menu, ...]:
    own = bets.get(PLAYERS[player], {})
    for street in own:
        if street not in STREETS:
            raise _wrong(f"bets.{PLAYERS[player]}", unknown("street", str(street), STREETS))
    menus: list[Menu] = []
    last: Menu | None = None
    for number, street in enumerate(STREETS):
        if street in own:
            last = _menu(own[street], f"bets.{PLAYERS[player]}.{street}", player)
        elif f"bets.{street}" in shared:
            last = _menu(shared[f"bets.{street}"], f"bets.{street}", None)
        if number >= board - 3:
            if last is None and bets:
                raise InputError(
                    f"bets: no sizes for {PLAYERS[player]} on the {street}, where betting begins; "
                    f'give {street} = {{ bet = "50%" }}, or {street} = {{}} for none'
                )
            menu = last or Menu()
            menus.append(menu if player == OOP else Menu(menu.bets, menu.raises))
    return tuple(menus)


def _menu(table: Any, where: str, player: int | None) -> Menu:
    if not isinstance(table, Mapping):
        raise InputError(f'{where} = {shown(table)}: must be a table such as {{ bet = "33%", raise = "45%" }}')
    for key in table:
        if key not in ("bet", "raise", "donk"):
            raise _wrong(where, unknown("key", str(key), ("bet", "raise", "donk")))
    if "donk" in table and player == IP:
        raise InputError(f"{where}.donk: only oop bets into the aggressor; write it under bets.oop")
    donks = parse_sizes(table["donk"], f"{where}.donk", raising=False) if "donk" in table else None
    bets = parse_sizes(table.get("bet", ""), f"{where}.bet", raising=False)
    return Menu(bets, parse_sizes(table.get("raise", ""), f"{where}.raise"), donks)


def _wrong(where: str, error: InputError) -> InputError:
    return InputError(f"{where}: {error}")


def _longest_menu(spot: Spot) -> str:
    """Which list of sizes makes a tree large, and what makes it smaller."""
    lists = [
        (len(sizes or ()), f"{street} {kind} of {player}")
        for player, menus in zip(PLAYERS, spot.rules.menus, strict=True)
        for street, menu in zip(spot.streets, menus, strict=True)
        for kind, sizes in (("bets", menu.bets), ("raises", menu.raises), ("donks", menu.donks))
    ]
    count, where = max(lists, key=lambda found: found[0])
    return f"the {where} are {count} sizes; fewer of them, a raise_cap or merge = '10%' make the tree smaller"


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


def _check_rules(rules: SpotRules) -> None:
    _whole("pot", rules.pot)
    _whole("stack", rules.stack)
    if rules.pot <= 0:
        raise InputError(f"pot={shown(rules.pot)}: must be above zero; a spot is played for what is in the middle")
    if rules.stack <= 0:
        raise InputError(
            f"stack={shown(rules.stack)}: too little to call any bet; give the chips that the shorter player has behind"
        )
    if rules.pot + 2 * rules.stack > MOST_CHIPS:
        raise InputError(
            f"pot={shown(rules.pot)} and stack={shown(rules.stack)}: more than 2^53 chips in all cannot be counted exactly; "
            "divide all amounts by the same number"
        )
    rate, cap = rules.rake.rate, rules.rake.cap
    if not _number(rate) or not 0 <= rate < 1:
        raise InputError(f"rake rate {shown(rate)}: must be a share from 0 to below 1, such as 0.05")
    if not _number(cap) or not cap >= 0:
        raise InputError(f"rake cap {shown(cap)}: must be chips, 0 or more; leave it out for no cap")
    if not isinstance(rules.donk_bets, bool):
        raise InputError(f"donk_bets={shown(rules.donk_bets)}: must be true or false")
    if rules.raise_cap is not None:
        _whole("raise_cap", rules.raise_cap)
        if rules.raise_cap < 0:
            raise InputError(
                f"raise_cap={shown(rules.raise_cap)}: raises a street must not be negative; leave it out for no cap"
            )


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(what: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        way = (
            "multiply all amounts until they are"
            if _number(value) and isfinite(value)
            else "write a number such as 180"
        )
        raise InputError(f"{what}={shown(value)}: must be a whole number; {way}")


def _some_pair(weights: tuple[Array, Array]) -> bool:
    """Whether some hand of one leaves one of the other."""
    first, second = (HAND_CARDS[np.flatnonzero(w)] for w in weights)
    # A hand meets all of the other range only if they share cards one by one: a few tries find a free one.
    return any(not np.isin(second, hand).any(axis=1).all() for hand in first)


def _short(held: Range) -> str:
    text = str(held)
    return text if len(text) <= 40 else text[:39] + "…"
