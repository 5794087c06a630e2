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
from math import inf, isfinite
from typing import Any, TypeAlias

import numpy as np

from riverboat.arrays import Array
from riverboat.cards.deck import FULL_DECK, HAND_CARDS, Deck, card_name
from riverboat.cards.notation import Cards, parse_cards, show_cards
from riverboat.cards.ranges import Range
from riverboat.errors import InputError, MemoryLimitError, shown, unknown
from riverboat.games.acpc import MOST_OF_SPOTS, NO_RAKE, Rake, Rules
from riverboat.games.base import CHANCE
from riverboat.games.betting import Betting, steps
from riverboat.games.betting_rules import NOBODY, allowed, price, span, step
from riverboat.games.betting_tree import make
from riverboat.games.board_game import BettingTree
from riverboat.games.board_states import BoardStates
from riverboat.games.labels import ACPC, STREET
from riverboat.games.menus import Menu, trimmed
from riverboat.games.menus import most_raises as read_most_raises
from riverboat.games.root_gadgets import RootGadget
from riverboat.games.sizes import Thresholds, parse_share
from riverboat.games.spot_locks import Lock, check_locks
from riverboat.games.spot_menus import PLAYERS as PLAYERS
from riverboat.games.spot_menus import STREETS as STREETS
from riverboat.games.spot_menus import from_street, longest, read_menu

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
        if not isinstance(donk_bets, bool):
            raise InputError(f"donk_bets={shown(donk_bets)}: must be true or false")
        rules = spot_rules(pot, stack, least_bet, Rake(0.0 if rake is None else rake, rake_cap))
        menu_read = None
        if raise_sizes is None:
            most = _most_raises(raise_cap, most_raises)
            menu_read = read_menu(bets, len(cards) - 2, most, thresholds, donk_bets)
        else:
            rules = replace(rules, limit=True, raise_sizes=_by_round(raise_sizes), most_raises=_by_round(most_raises))
        return Spot(
            cards,
            rules,
            menu_read,
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
            _from_street(rules, state.before),
            None if menu is None or rules.limit else from_street(_capped(menu, rules), state.street),
            (_range(ranges[0], "oop"), _range(ranges[1], "ip")),
            tuple(locks),
            rules.deck,
            name,
            _played(state),
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


def _by_round(counts: Any) -> tuple[int, ...]:
    if not isinstance(counts, Sequence) or len(counts) != 4 or not all(type(n) is int for n in counts):
        raise InputError(
            f"limit: {shown(counts)}: write a whole number for each round from the deal on: [10, 10, 20, 20]"
        )
    return tuple(counts)


def _player(name: str | None) -> int | None:
    if name is not None and name not in PLAYERS:
        raise InputError(f"led={shown(name)}: {unknown('player', str(name), PLAYERS)}")
    return None if name is None else PLAYERS.index(name)


def _most_raises(raise_cap: Any, most_raises: Any) -> tuple[int | None, ...]:
    """Bets and raises of a street; a cap on raises does not count the first bet."""
    if raise_cap is None:
        return read_most_raises(most_raises, "tree")
    if most_raises is not None:
        raise InputError("raise_cap and most_raises say the same in two ways; give one of them")
    _whole("raise_cap", raise_cap)
    if raise_cap < 0:
        raise InputError(f"raise_cap={shown(raise_cap)}: raises a street must not be negative; leave it out for no cap")
    return (raise_cap + 1,)


# --- table states -----------------------------------------------------------------------------


def _from_street(rules: Rules, before: int) -> Rules:
    """The rules of a street and what follows, with what was put in before as a pot that belongs to nobody."""
    stacks = rules.stacks
    if stacks is None:  # a limit game: as much as all bets come to, and a chip
        stacks = (before + _most_bet(rules) + 1,) * 2
    return replace(
        rules,
        blinds=(0, 0),
        ante=0,
        pot=rules.pot + 2 * before,
        stacks=(stacks[0] - before, stacks[1] - before),
        least_bet=rules.book.least_bet,
        most_raises=rules.most_raises if rules.limit else None,
        first=(1, 0, 0, 0),
    )


def _most_bet(rules: Rules) -> int:
    assert rules.most_raises is not None
    return sum(size * most for size, most in zip(rules.raise_sizes, rules.most_raises, strict=True))


def _capped(menu: Menu, rules: Rules) -> Menu:
    """A menu with the most raises that the rules allow."""
    if rules.most_raises is None:
        return menu
    own = [menu.most_raises[min(street, len(menu.most_raises) - 1)] for street in range(rules.rounds)]
    most = [ours if theirs is None else min(ours, theirs) for ours, theirs in zip(rules.most_raises, own, strict=True)]
    return replace(menu, most_raises=trimmed(most))


def _played(state: Betting) -> str:
    """The moves of this street as spots write them."""
    before, _, line = state.line.rpartition("/")
    rules = _from_street(state.rules, state.before)
    theirs = Betting.on(state.rules, state.street, state.before).at
    ours = Betting.on(rules, state.street).at
    written = []
    for label in steps(line):
        move = ACPC.read(state.rules.book, theirs, label)
        assert move is not None, before
        here = move - state.before if move > 0 else move
        written.append(STREET.write(rules.book, ours, here))
        theirs, ours = step(state.rules.book, theirs, move), step(rules.book, ours, here)
    return STREET.joiner.join(written)


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


def spot_rules(pot: int, stack: int | Sequence[int], least_bet: int = 1, rake: Rake = NO_RAKE) -> Rules:
    """The rules of a no-limit spot."""
    both = isinstance(stack, Sequence) and not isinstance(stack, str) and len(stack) == 2
    stacks: tuple[Any, Any] = (stack[0], stack[1]) if both else (stack, stack)  # type: ignore[index]
    for what, amount in (("pot", pot), ("stack", stacks[0]), ("stack", stacks[1]), ("least_bet", least_bet)):
        _whole(what, amount)
    if pot <= 0:
        raise InputError(f"pot={shown(pot)}: must be above zero; a spot is played for what is in the middle")
    if min(stacks) <= 0:
        raise InputError(
            f"stack={shown(min(stacks))}: too little to call any bet; give the chips that the shorter player has behind"
        )
    if pot + 2 * max(stacks) > MOST_OF_SPOTS:
        raise InputError(
            f"pot={shown(pot)} and stack={shown(max(stacks))}: more than 2^53 chips in all cannot be counted exactly; "
            "divide all amounts by the same number"
        )
    return Rules(blinds=(0, 0), pot=pot, stacks=stacks, least_bet=least_bet, rake=rake, first=(1, 0, 0, 0), name="spot")


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
