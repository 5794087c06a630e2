"""Hold'em from the deal, also with fewer rounds, raises or cards: any rules, and a menu of sizes where there is no limit.

Seats are those of all hold'em: player 0 has the big blind and acts first from the flop on; player 1 is the dealer, posts the
small blind and acts first before it. Moves are written as in the ACPC protocol: `f`, `c` (check or call), `r` (bet or raise;
without a limit `r300`, with the total over the whole hand), and a flop as `/8h7d2c/`.

[2-1] and [2-4] hold'em (Johanson et al. 2012) are the first two rounds, with at most one or four bets in a round. The big
blind counts as the first of four bets, but leaves room for one raise in [2-1].
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from riverboat.cards.deck import HAND_CARDS, Deck
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, shown
from riverboat.games.boards.betting_tree import make
from riverboat.games.boards.board_game import BettingTree
from riverboat.games.boards.unrolled import BoardStates
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.menus import Menu
from riverboat.games.holdem.rules import Rules

BOARD = (0, 3, 1, 1)
OPENERS = (1, 0, 0, 0)  # the dealer speaks first before the flop alone


@dataclass(frozen=True)
class Holdem(BoardStates):
    """Hold'em of one to four rounds with any deck."""

    rules: Rules
    menu: Menu | None = None  # None in limit games
    name: str = "holdem"
    unit: str = field(default="chips", init=False)
    joiner: str = field(default="", init=False)
    board: tuple[int, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        rules = self.rules
        if rules.hole != 2 or rules.board != BOARD[: rules.rounds] or rules.first != OPENERS[: rules.rounds]:
            raise InputError(f"{self.name}: rules of {shown(rules.name)}: they are not those of hold'em for two")
        if rules.limit != (self.menu is None):
            which = "has no menu" if rules.limit else "needs a menu of sizes"
            raise InputError(f"{self.name}: rules of {shown(rules.name)}: this game {which}")

    @property
    def deck(self) -> Deck:  # type: ignore[override]
        """The cards."""
        return self.rules.deck

    @property
    def big_blind(self) -> int:
        """Chips; a thousandth of it is one mbb."""
        return self.rules.big_blind

    @property
    def scale(self) -> tuple[str, float]:
        """Exploitability is told in thousandths of a big blind for a game."""
        return "mbb/g", 1000.0 / self.big_blind

    @cached_property
    def deals(self) -> tuple[int, ...]:  # type: ignore[override]
        """Flop, turn, river, as many as there are rounds."""
        return self.rules.board[1:]

    @cached_property
    def weights(self) -> tuple[Array, Array]:  # type: ignore[override]
        """Every hand of the deck. float64 [1326] each"""
        held = np.where(np.isin(HAND_CARDS, self.deck.cards).all(axis=1), 1.0, 0.0)
        return held, held

    @cached_property
    def betting(self) -> BettingTree:  # type: ignore[override]
        """The tree of betting."""
        return make(Betting.start(self.rules), self.name, self.menu)


def holdem(
    kind: str = "4-4",
    ranks: int = 13,
    suits: int = 4,
    raises: str = "",
    bets: str = "10/10/20/20",
    blinds: str = "5/10",
) -> Holdem:
    """Limit hold'em: `holdem:2-1` has two rounds with at most one bet in each.

    `raises` names the raises of each round instead, `3/4/4/4`; `ranks` and `suits` make the deck smaller, from the top.
    """
    match = re.fullmatch(r"([1-4])-(\d+)", kind)
    if match is None:
        raise InputError(f"holdem: kind={shown(kind)}: write rounds and bets a round, such as 4-4 or 2-1")
    rounds, most = int(match[1]), int(match[2])
    counts = _numbers(raises, "raises") if raises else (max(1, most - 1) if most else 0, *[most] * (rounds - 1))
    if len(counts) != rounds:
        raise InputError(f"holdem: raises={shown(raises)}: {len(counts)} rounds, and kind={shown(kind)} has {rounds}")
    posted = _numbers(blinds, "blinds")
    if len(posted) != 2:
        raise InputError(f"holdem: blinds={shown(blinds)}: write the small and the big one, such as 5/10")
    sizes = _numbers(bets, "bets")[:rounds]
    _check(counts, sizes, posted, Deck.small(ranks, suits))
    return Holdem(
        Rules(
            limit=True,
            blinds=(posted[1], posted[0]),
            raise_sizes=sizes,
            most_raises=counts,
            first=OPENERS[:rounds],
            suits=suits,
            ranks=ranks,
            board=BOARD[:rounds],
            name="holdem",
        )
    )


def _check(raises: tuple[int, ...], bets: tuple[int, ...], blinds: tuple[int, ...], deck: Deck) -> None:
    """Refuse in the words of this game what its rules would refuse in theirs."""
    rounds = len(raises)
    if len(bets) != rounds:
        raise InputError(f"holdem: {len(bets)} bet sizes for {rounds} rounds: give one for each")
    if min(raises) < 0:
        raise InputError(f"holdem: {min(raises)} raises in a round: must not be negative")
    if min(bets) <= 0:
        raise InputError(f"holdem: a bet of {min(bets)} chips: must be above zero")
    if not 0 <= blinds[0] <= blinds[1] or blinds[1] == 0:
        raise InputError(f"holdem: blinds {blinds}: the small one must not be above the big one")
    need = 4 + sum(BOARD[:rounds])
    if len(deck.cards) < need:
        raise InputError(f"holdem: a deck of {len(deck.cards)} cards: {need} are dealt")


def _numbers(text: str, what: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split("/"))
    except ValueError:
        raise InputError(
            f"holdem: {what}={shown(text)}: write whole numbers with / between them, such as 10/20"
        ) from None
