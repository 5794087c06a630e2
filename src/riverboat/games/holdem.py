"""Limit hold'em from the deal, also with fewer rounds, raises or cards.

Player 0 is the dealer, posts the small blind and acts first before the flop; player 1 acts first afterwards. Moves are
written as in the ACPC protocol: `f`, `c` (check or call), `r` (bet or raise), and a flop as `/8h7d2c/`.

[2-1] and [2-4] hold'em (Johanson et al. 2012) are the first two rounds, with at most one or four bets in a round. The big
blind counts as the first of four bets, but leaves room for one raise in [2-1].
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from riverboat.arrays import Array
from riverboat.cards.deck import FULL_DECK, HAND_CARDS, Deck
from riverboat.errors import InputError, shown
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.board_game import BettingTree, Pay, make
from riverboat.games.board_states import BoardStates

DEALS = (3, 1, 1)


@dataclass(frozen=True)
class LimitRules:
    """Amounts are chips."""

    raises: tuple[int, ...] = (3, 4, 4, 4)  # at most, in each round; the blinds are none
    bets: tuple[int, ...] = (10, 10, 20, 20)  # what a bet or raise adds, in each round
    blinds: tuple[int, int] = (5, 10)  # small, big


@dataclass(frozen=True)
class LimitBetting:
    """Who has put in what, and whose turn it is."""

    rules: LimitRules
    put: tuple[int, int]
    street: int = 0
    turn: int = 0
    raises: int = 0
    acted: int = 0  # moves in this round
    folded: int | None = None

    @property
    def actor(self) -> int:
        """The player to move, CHANCE or TERMINAL."""
        if self.folded is not None:
            return TERMINAL
        if self.acted >= 2 and self.put[0] == self.put[1]:
            return CHANCE if self.street < len(self.rules.raises) - 1 else TERMINAL
        return self.turn

    @property
    def spent(self) -> tuple[float, float]:
        """Chips in the pot, blinds included."""
        return float(self.put[0]), float(self.put[1])

    @property
    def showdown(self) -> bool:
        """Nobody folded."""
        return self.folded is None

    def moves(self) -> tuple[str, ...]:
        """Fold (facing a bet), call, raise."""
        passive = ("f", "c") if self.put[0] != self.put[1] else ("c",)
        return (*passive, "r") if self.raises < self.rules.raises[self.street] else passive

    def move(self, label: str) -> LimitBetting:
        """The state after a move that `moves()` lists."""
        if label == "f":
            return replace(self, folded=self.turn)
        raised = label == "r"
        total = max(self.put) + self.rules.bets[self.street] * raised
        put = (total, self.put[1]) if self.turn == 0 else (self.put[0], total)
        return replace(self, put=put, turn=1 - self.turn, raises=self.raises + raised, acted=self.acted + 1)

    def next_street(self) -> LimitBetting:
        """The state after a deal."""
        return LimitBetting(self.rules, self.put, self.street + 1, turn=1)

    def pay(self) -> Pay:
        """Chips won."""
        stake = float(min(self.put))
        first, second = (stake, 0.0 - stake), (0.0 - stake, stake)
        if self.folded is not None:
            return (second,) * 3 if self.folded == 0 else (first,) * 3
        return first, (0.0, 0.0), second


@dataclass(frozen=True)
class LimitHoldem(BoardStates):
    """Limit hold'em of one to four rounds with any deck."""

    rules: LimitRules = LimitRules()
    deck: Deck = FULL_DECK
    name: str = "holdem"
    unit: str = field(default="chips", init=False)
    joiner: str = field(default="", init=False)
    board: tuple[int, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        rules, rounds = self.rules, len(self.rules.raises)
        if not 1 <= rounds <= 4:
            raise InputError(f"{self.name}: {rounds} rounds: 1 to 4, the last of them the river")
        if len(rules.bets) != rounds:
            raise InputError(f"{self.name}: {len(rules.bets)} bet sizes for {rounds} rounds: give one for each")
        if min(rules.raises) < 0:
            raise InputError(f"{self.name}: {min(rules.raises)} raises in a round: must not be negative")
        if min(rules.bets) <= 0:
            raise InputError(f"{self.name}: a bet of {min(rules.bets)} chips: must be above zero")
        if not 0 <= rules.blinds[0] <= rules.blinds[1] or rules.blinds[1] == 0:
            raise InputError(f"{self.name}: blinds {rules.blinds}: the small one must not be above the big one")
        need = 4 + sum(self.deals)
        if len(self.deck.cards) < need:
            raise InputError(f"{self.name}: a deck of {len(self.deck.cards)} cards: {need} are dealt")

    @property
    def big_blind(self) -> int:
        """Chips; a thousandth of it is one mbb."""
        return self.rules.blinds[1]

    @property
    def scale(self) -> tuple[str, float]:
        """Exploitability is told in thousandths of a big blind for a game."""
        return "mbb/g", 1000.0 / self.big_blind

    @cached_property
    def deals(self) -> tuple[int, ...]:  # type: ignore[override]
        """Flop, turn, river, as many as there are rounds."""
        return DEALS[: len(self.rules.raises) - 1]

    @cached_property
    def weights(self) -> tuple[Array, Array]:  # type: ignore[override]
        """Every hand of the deck. float64 [1326] each"""
        held = np.where(np.isin(HAND_CARDS, self.deck.cards).all(axis=1), 1.0, 0.0)
        return held, held

    @cached_property
    def betting(self) -> BettingTree:  # type: ignore[override]
        """The tree of betting."""
        return make(LimitBetting(self.rules, self.rules.blinds), self.name)


def holdem(
    kind: str = "4-4",
    ranks: int = 13,
    suits: int = 4,
    raises: str = "",
    bets: str = "10/10/20/20",
    blinds: str = "5/10",
) -> LimitHoldem:
    """Limit hold'em: `holdem:2-1` has two rounds with at most one bet in each.

    `raises` names the raises of each round instead, `3/4/4/4`; `ranks` and `suits` make the deck smaller, from the top.
    """
    found = re.fullmatch(r"([1-4])-(\d+)", kind)
    if found is None:
        raise InputError(f"holdem: kind={shown(kind)}: write rounds and bets a round, such as 4-4 or 2-1")
    rounds, most = int(found[1]), int(found[2])
    counts = _numbers(raises, "raises") if raises else (max(1, most - 1) if most else 0, *[most] * (rounds - 1))
    if len(counts) != rounds:
        raise InputError(f"holdem: raises={shown(raises)}: {len(counts)} rounds, and kind={shown(kind)} has {rounds}")
    small_big = _numbers(blinds, "blinds")
    if len(small_big) != 2:
        raise InputError(f"holdem: blinds={shown(blinds)}: write the small and the big one, such as 5/10")
    rules = LimitRules(counts, _numbers(bets, "bets")[:rounds], (small_big[0], small_big[1]))
    return LimitHoldem(rules, Deck.small(ranks, suits))


def _numbers(text: str, what: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split("/"))
    except ValueError:
        raise InputError(
            f"holdem: {what}={shown(text)}: write whole numbers with / between them, such as 10/20"
        ) from None
