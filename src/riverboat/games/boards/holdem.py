"""Hold'em from the deal, also with fewer rounds, raises or cards: any rules, with a menu of sizes in no-limit games.

Seats are those of all hold'em: player 0 has the big blind and acts first from the flop on; player 1 is the dealer,
posts the small blind and acts first before the flop. Actions are written as in the ACPC protocol: `f`, `c` (check or
call), `r` (bet or raise; in no-limit games `r300`, with the total over the whole hand), and a flop as `/8h7d2c/`.

[2-1] and [2-4] hold'em (Johanson et al. 2012) are the first two rounds, with at most one or four bets per round. The
big blind counts as the first of four bets, but leaves one raise in [2-1].

No-limit flop hold'em has the first two rounds, with a showdown on the flop: the game of the papers on subgame solving
(Brown & Sandholm 2017).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from riverboat.cards.deck import HAND_CARDS, Deck
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, short_repr, unknown_name_error
from riverboat.games.boards.betting_tree import build_betting_tree
from riverboat.games.boards.board_game import BettingTree, UnrolledStatesMixin
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.menus import ActionMenu, menu_from_table
from riverboat.games.holdem.rules import PokerRules

HOLDEM_BOARD = (0, 3, 1, 1)
HOLDEM_FIRST_TO_ACT = (1, 0, 0, 0)  # the dealer acts first only before the flop


@dataclass(frozen=True)
class Holdem(UnrolledStatesMixin):
    """Hold'em of one to four rounds with any deck.

    Attributes
    ----------
    rules
        Rules of heads-up hold'em.
    menu
        None in limit games.
    name
        Name of the game.

    Raises
    ------
    InputError
        If the rules are not those of hold'em, or the menu does not fit them.

    Examples
    --------
    >>> game = holdem("2-1", ranks=5, suits=2)
    >>> game.deals, len(game.betting.actor)
    ((3,), 37)
    """

    rules: PokerRules
    menu: ActionMenu | None = None  # None in limit games
    name: str = "holdem"
    unit: str = field(default="chips", init=False)
    joiner: str = field(default="", init=False)
    board: tuple[int, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        rules = self.rules
        expected = (2, HOLDEM_BOARD[: rules.rounds], HOLDEM_FIRST_TO_ACT[: rules.rounds])
        if (rules.hole, rules.board, rules.first) != expected:
            raise InputError(
                f"{self.name}: rules of {short_repr(rules.name)}: these are not the rules of heads-up hold'em"
            )
        if rules.limit != (self.menu is None):
            which = "is limit and takes no menu" if rules.limit else "is no-limit and needs a menu of sizes"
            raise InputError(f"{self.name}: rules of {short_repr(rules.name)}: this game {which}")

    @property
    def deck(self) -> Deck:  # type: ignore[override]
        """The deck."""
        return self.rules.deck

    @property
    def big_blind(self) -> int:
        """Big blind in chips; a thousandth of it is one mbb."""
        return self.rules.big_blind

    @property
    def scale(self) -> tuple[str, float]:
        """Unit of exploitability, thousandths of a big blind per game, and the factor from chips to it."""
        return "mbb/g", 1000.0 / self.big_blind

    @cached_property
    def deals(self) -> tuple[int, ...]:  # type: ignore[override]
        """Number of cards of flop, turn and river, as far as there are rounds."""
        return self.rules.board[1:]

    @cached_property
    def weights(self) -> tuple[Array, Array]:  # type: ignore[override]
        """Uniform ranges over the hands of the deck. float64 [1326] each"""
        held = np.where(np.isin(HAND_CARDS, self.deck.cards).all(axis=1), 1.0, 0.0)
        return held, held

    @cached_property
    def betting(self) -> BettingTree:  # type: ignore[override]
        """The betting tree."""
        return build_betting_tree(BettingState.start(self.rules), self.name, self.menu)


def holdem(
    kind: str = "4-4",
    ranks: int = 13,
    suits: int = 4,
    raises: str = "",
    bets: str = "10/10/20/20",
    blinds: str = "5/10",
) -> Holdem:
    """Make limit hold'em: `holdem:2-1` has two rounds with at most one bet in each.

    `raises` gives the raises of each round instead, `3/4/4/4`; `ranks` and `suits` reduce the deck to the highest ones.

    Parameters
    ----------
    kind
        Number of rounds and of bets per round: `4-4`, `2-1`.
    ranks
        Number of ranks of the deck, the highest ones.
    suits
        Number of suits of the deck.
    raises
        Maximum of bets and raises in each round, `3/4/4/4`; the default is that of the kind.
    bets
        Increment of a bet in each round, in chips.
    blinds
        Small and big blind, in chips.

    Returns
    -------
    Holdem
        The game.

    Raises
    ------
    InputError
        If an option is invalid.

    References
    ----------
    .. [1] Johanson, Bard, Burch and Bowling, "Finding optimal abstract strategies in extensive-form games", AAAI
    2012.

    Examples
    --------
    >>> holdem("2-1").rules.most_raises
    (1, 1)
    """
    match = re.fullmatch(r"([1-4])-(\d+)", kind)
    if match is None:
        raise InputError(f"holdem: kind={short_repr(kind)}: write rounds and bets a round, such as 4-4 or 2-1")
    rounds, most = int(match[1]), int(match[2])
    counts = _parse_numbers(raises, "raises") if raises else (max(1, most - 1) if most else 0, *[most] * (rounds - 1))
    if len(counts) != rounds:
        raise InputError(
            f"holdem: raises={short_repr(raises)}: {len(counts)} rounds, and kind={short_repr(kind)} has {rounds}"
        )
    posted = _parse_numbers(blinds, "blinds")
    if len(posted) != 2:
        raise InputError(f"holdem: blinds={short_repr(blinds)}: write the small and the big one, such as 5/10")
    sizes = _parse_numbers(bets, "bets")[:rounds]
    _check_limit_options(counts, sizes, posted, Deck.small(ranks, suits))
    limits: dict[str, Any] = {"limit": True, "raise_sizes": sizes, "most_raises": counts}
    return Holdem(_make_rules("holdem", rounds, (posted[0], posted[1]), ranks, suits, **limits))


def _make_rules(name: str, rounds: int, blinds: tuple[int, int], ranks: int, suits: int, **betting: Any) -> PokerRules:
    """Return the rules of heads-up hold'em with its first `rounds` rounds; `betting` has further fields of PokerRules.

    `blinds` are (small, big), without regard to seats.
    """
    board, first = HOLDEM_BOARD[:rounds], HOLDEM_FIRST_TO_ACT[:rounds]
    return PokerRules(blinds=blinds[::-1], first=first, suits=suits, ranks=ranks, board=board, name=name, **betting)


def _check_limit_options(raises: tuple[int, ...], bets: tuple[int, ...], blinds: tuple[int, ...], deck: Deck) -> None:
    """Validate options of `holdem`, so that messages use the names of options instead of fields of PokerRules."""
    rounds = len(raises)
    if len(bets) != rounds:
        raise InputError(f"holdem: {len(bets)} bet sizes for {rounds} rounds: give one for each")
    if min(raises) < 0:
        raise InputError(f"holdem: {min(raises)} raises in a round: must not be negative")
    if min(bets) <= 0:
        raise InputError(f"holdem: a bet of {min(bets)} chips: must be above zero")
    if not 0 <= blinds[0] <= blinds[1] or blinds[1] == 0:
        raise InputError(f"holdem: blinds {blinds}: the small one must not be above the big one")
    needed = 4 + sum(HOLDEM_BOARD[:rounds])
    if len(deck.cards) < needed:
        raise InputError(f"holdem: a deck of {len(deck.cards)} cards: {needed} are dealt")


def _parse_numbers(text: str, what: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split("/"))
    except ValueError:
        raise InputError(
            f"holdem: {what}={short_repr(text)}: write whole numbers with / between them, such as 10/20"
        ) from None


# --- no-limit flop hold'em ---

UNLIMITED_STACK = 1_000_000  # more than all bets of a game without stacks: nobody is ever all-in
MIN_FLOP_CARDS = 7  # two hands and a flop


class FlopHoldemVariant(NamedTuple):
    """A named variant: its menu as in a menu file, stacks and blinds.

    Attributes
    ----------
    menu
        Menu as in a menu file.
    stack
        Chips of each player.
    blinds
        Small and big blind, in chips.

    Examples
    --------
    >>> FLOP_HOLDEM_VARIANTS["one-bet"].blinds
    (1, 2)
    """

    menu: dict[str, Any]
    stack: int = 20_000
    blinds: tuple[int, int] = (50, 100)


def _nested_variant(sizes: str) -> FlopHoldemVariant:
    return FlopHoldemVariant({"preflop": sizes, "flop": sizes, "most_raises": [1, 3]}, UNLIMITED_STACK)


FLOP_HOLDEM_VARIANTS = {
    "small": FlopHoldemVariant(
        {
            "ip": {"preflop": ["100%, a", "100%, a", ""]},
            "oop": {"preflop": ["100%", "100%, a", ""]},
            "flop": "100%",
        }
    ),
    "large": FlopHoldemVariant({"preflop": "100%, 200%", "flop": "150%", "most_raises": [3, 3]}),
    "nested": _nested_variant("50%, 75%, 100%"),
    "nested-abstract": _nested_variant("50%, 100%"),
    "one-bet": FlopHoldemVariant({"preflop": "100%", "flop": "100%", "most_raises": [1, 1]}, 162, (1, 2)),
}


def flop_holdem(
    kind: str = "small",
    ranks: int = 13,
    suits: int = 4,
    preflop: str = "",
    flop: str = "",
    raises: str = "",
    stack: int = 0,
    blinds: str = "",
) -> Holdem:
    """Make no-limit hold'em of two rounds: `flop_holdem:small`, `large`, `nested`, `nested-abstract` or `one-bet`.

    `preflop` and `flop` replace the sizes of the variant for both seats, separated by /: `flop=50%/100%/a`; `raises`
    limits the bets and raises of each round, `2/3`. `ranks` and `suits` reduce the deck to the highest ones.

    Parameters
    ----------
    kind
        Name of the variant: `small`, `large`, `nested`, `nested-abstract` or `one-bet`.
    ranks
        Number of ranks of the deck, the highest ones.
    suits
        Number of suits of the deck.
    preflop
        Sizes before the flop for both seats, separated by `/`; those of the variant by default.
    flop
        Sizes on the flop, likewise.
    raises
        Maximum of bets and raises in each round, `3/4/4/4`; the default is that of the kind.
    stack
        Chips of each player; 0: those of the variant.
    blinds
        Small and big blind in chips, `50/100`; those of the variant by default.

    Returns
    -------
    Holdem
        The game.

    Raises
    ------
    InputError
        If an option is invalid.

    References
    ----------
    .. [1] Brown and Sandholm, "Safe and nested subgame solving for imperfect-information games", NIPS 2017.

    Examples
    --------
    >>> flop_holdem("one-bet").rules.stacks
    (162, 162)
    """
    if kind not in FLOP_HOLDEM_VARIANTS:
        raise unknown_name_error("kind of flop_holdem", kind, FLOP_HOLDEM_VARIANTS)
    menu, chips, posted = FLOP_HOLDEM_VARIANTS[kind]
    menu = dict(menu)
    for street, sizes in (("preflop", preflop), ("flop", flop)):
        if sizes:
            menu |= {street: sizes.replace("/", ", ")}
            menu |= {
                seat: {k: v for k, v in menu[seat].items() if k != street} for seat in ("ip", "oop") if seat in menu
            }
    if raises:
        menu["most_raises"] = list(_parse_pair(raises, "raises", "2/3"))
    if blinds:
        posted = _parse_pair(blinds, "blinds", "50/100")
    if Deck.small(ranks, suits).cards.size < MIN_FLOP_CARDS:
        raise InputError(f"flop_holdem: a deck of {ranks * suits} cards: {MIN_FLOP_CARDS} are dealt")
    rules = _make_rules("flop_holdem", 2, posted, ranks, suits, stacks=(stack or chips,) * 2)
    return Holdem(rules, menu_from_table(menu), "flop_holdem")


def _parse_pair(text: str, what: str, example: str) -> tuple[int, int]:
    parts = text.split("/")
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        raise InputError(f"flop_holdem: {what}={short_repr(text)}: write two whole numbers, such as {example}")
    return int(parts[0]), int(parts[1])
