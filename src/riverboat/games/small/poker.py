"""Kuhn and Leduc poker: one private card each, with a public card in Leduc; limit and no-limit.

Kuhn (1950): one round, ante 1, one bet of 1. Leduc (Southey et al. 2005): two rounds, bets of 2 and 4, at
most two raises a round, one public card between them; a pair with the public card wins, else the
higher card. Both take any number of ranks and suits. With `stack` they are no-limit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from riverboat.core.errors import InputError, shown
from riverboat.games.base import CHANCE, TERMINAL, Compare, Constant, Deal, Outcome, Payoff
from riverboat.games.small.betting import SmallBetting, SmallRules

_RANKS = "23456789TJQKA"
_SUITS = "cdhs"
MAX_CARDS = 5_000  # every pair of hands is a number in a table


def card_names(ranks: int, suits: int) -> tuple[str, ...]:
    """Cards from low to high. Up to twelve ranks end with the king: three are J, Q, K."""
    if ranks <= 12:
        names = list(_RANKS[12 - ranks : 12])
    elif ranks == 13:
        names = list(_RANKS)
    else:
        names = [f"{rank}." for rank in range(1, ranks + 1)]
    if suits == 1:
        return tuple(names)
    return tuple(n + s for n in names for s in _SUITS[-suits:])


@dataclass(frozen=True)
class OneCardPoker:
    """One hole card each and `rounds` betting rounds with a public card before each but the first."""

    name: str
    ranks: int
    suits: int
    rounds: int
    rules: SmallRules
    unit: str = field(default="chips", init=False)
    joiner: str = field(default="", init=False)

    def __post_init__(self) -> None:
        if not 1 <= self.suits <= 4:
            raise InputError(f"{self.name}: suits={self.suits}: must be 1 to 4")
        if self.ranks * self.suits > MAX_CARDS:
            raise InputError(
                f"{self.name}: {self.ranks:,} ranks x {self.suits} suits: at most {MAX_CARDS:,} cards, "
                f"since every pair of them is a deal"
            )
        if self.ranks < 1 or self.ranks * self.suits < self.rounds + 1:
            raise InputError(
                f"{self.name}: {self.ranks} ranks x {self.suits} suits: too few cards, {self.rounds + 1} are dealt"
            )

    @cached_property
    def hands(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The cards, for each player."""
        cards = card_names(self.ranks, self.suits)
        return cards, cards

    @cached_property
    def deal(self) -> Deal:
        """Two different cards."""
        return Deal.one_card(self.ranks * self.suits)

    def root(self) -> _State:
        """Before the first move."""
        return _State(self, SmallBetting.start(self.rules), ())

    def strengths(self, board: tuple[int, ...]) -> tuple[int, ...]:
        """How strong each card is with a whole board: a pair with it beats what has none, else the higher card."""
        paired = {c // self.suits for c in board}
        return tuple(r + self.ranks * (r in paired) for r in range(self.ranks) for _ in range(self.suits))


@dataclass(frozen=True)
class _State:
    game: OneCardPoker
    betting: SmallBetting
    board: tuple[int, ...]

    @property
    def actor(self) -> int:
        b = self.betting
        if b.folded is not None:
            return TERMINAL
        if b.round_over or b.all_in:
            return TERMINAL if b.round == self.game.rounds - 1 else CHANCE
        return b.actor

    @cached_property
    def _moves(self) -> tuple[str, ...]:  # asked for again by every child
        return self.betting.moves()

    def actions(self) -> tuple[str, ...]:
        return self._moves

    def outcomes(self) -> tuple[Outcome, ...]:
        cards = self.game.hands[0]
        left = [c for c in range(len(cards)) if c not in self.board]
        weight = 1.0 / (len(left) - 2)  # two of them are in the players' hands
        return tuple(Outcome(f"/{cards[c]}/", weight, ((c,), (c,))) for c in left)

    def child(self, index: int) -> _State:
        if self.actor == CHANCE:
            card = index
            for gone in sorted(self.board):  # the cards that are left are counted
                card += card >= gone
            return _State(self.game, self.betting.next_round(), (*self.board, card))
        return _State(self.game, self.betting.move(self._moves[index]), self.board)

    def payoff(self) -> Payoff:
        stakes = self.betting.stakes()
        if self.betting.folded is not None:
            sign = 1.0 if self.betting.folded == 1 else -1.0
            return Constant((sign * stakes, -sign * stakes))
        strength = self.game.strengths(self.board)
        return Compare((strength, strength), (stakes, -stakes), (0.0, 0.0), (-stakes, stakes))


def _limit_takes_no_menu(name: str, menu: str) -> None:
    if menu != "*":
        raise InputError(f"{name}: menu={shown(menu)} belongs to the no-limit game: give a stack too")


def kuhn(
    cards: int = 3,
    suits: int = 1,
    ante: float = 1.0,
    bet: float = 1.0,
    cap: int | None = None,
    stack: float | None = None,
    menu: str = "*",
    chip: float = 1.0,
) -> OneCardPoker:
    """Kuhn poker with `cards` ranks; no-limit when `stack` (chips behind the ante) is given."""
    if stack is None:
        _limit_takes_no_menu("kuhn", menu)
        rules = SmallRules(ante, (bet,), 1 if cap is None else cap, None, menu, chip)
    else:
        if bet != 1.0:
            raise InputError(f"kuhn: bet={bet:g} belongs to the limit game; with a stack, sizes come from menu")
        rules = SmallRules(ante, None, cap, stack, menu, chip)
    return OneCardPoker("kuhn", cards, suits, 1, rules)


def leduc(
    ranks: int = 3,
    suits: int = 2,
    ante: float = 1.0,
    cap: int | None = None,
    stack: float | None = None,
    menu: str = "*",
    chip: float = 1.0,
) -> OneCardPoker:
    """Leduc poker; no-limit when `stack` (chips behind the ante) is given."""
    if stack is None:
        _limit_takes_no_menu("leduc", menu)
        rules = SmallRules(ante, (2.0, 4.0), 2 if cap is None else cap, None, menu, chip)
    else:
        rules = SmallRules(ante, None, cap, stack, menu, chip)
    return OneCardPoker("leduc", ranks, suits, 2, rules)
