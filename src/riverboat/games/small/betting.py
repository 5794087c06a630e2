"""Betting and cards of Kuhn- and Leduc-like poker: rules, the state of the betting of two or more players, the deck."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property

from riverboat.core.errors import InputError, short_repr
from riverboat.games.base import CHANCE, TERMINAL

_SIZE = re.compile(r"(?P<percent>\d+(\.\d+)?)%|(?P<chips>\d+(\.\d+)?)c|(?P<all>a)|(?P<every>\*)")


MAX_MENU_SIZES = 10_000


@dataclass(frozen=True)
class SmallPokerRules:
    """Betting rules: limit if `sizes` is given (increment of a raise in each round), else no-limit.

    Attributes
    ----------
    ante
        Chips that each player posts.
    sizes
        Increment of a raise in each round, for limit games; None in no-limit games.
    cap
        Maximum of raises per round; None: unlimited.
    stack
        Chips besides the ante.
    menu
        Bet sizes of a no-limit game; `*` is every size.
    chip
        Smallest chip, of which all amounts are multiples.

    Examples
    --------
    >>> SmallPokerRules(stack=20.0, menu="1c", cap=1).units(2.0, "bet")
    2
    """

    ante: float = 1.0
    sizes: tuple[float, ...] | None = None
    cap: int | None = None  # maximum of raises per round
    stack: float | None = None  # chips besides the ante
    menu: str = "*"
    chip: float = 1.0

    def __post_init__(self) -> None:
        for what, amount in (("chip", self.chip), ("ante", self.ante), ("stack", self.stack)):
            if amount is not None and not math.isfinite(amount):
                raise InputError(f"{what}={amount:g}: must be a finite number of chips")
        if self.chip <= 0:
            raise InputError(f"chip={self.chip:g}: the smallest chip must be above zero")
        if self.cap is not None and self.cap < 0:
            raise InputError(f"cap={self.cap}: raises a round must not be negative")
        if self.ante < 0 or self.units(self.ante, "ante") < 0:
            raise InputError(f"ante={self.ante:g}: must not be negative")
        if self.sizes is None:
            if self.stack is None or self.units(self.stack, "stack") <= 0:
                raise InputError(f"stack={self.stack}: a no-limit game needs a stack above zero")
            if not self.menu_tokens:
                raise InputError("menu is empty: give sizes such as '100%/a', or '*' for every size")
            for token in self.menu_tokens:
                if token["every"] and self.units(self.stack, "stack") > MAX_MENU_SIZES:
                    raise InputError(
                        f"stack={self.stack:g} with menu '*': more than {MAX_MENU_SIZES:,} sizes; name sizes, or raise chip"
                    )
                if token["chips"]:
                    self.units(float(token["chips"]), f"menu size {token[0]}")
        else:
            for size in self.sizes:
                if self.units(size, "bet size") <= 0:
                    raise InputError(f"bet size {size:g}: must be above zero")
            if self.cap is None:
                raise InputError("a limit game needs a cap on the raises of a round")

    def units(self, amount: float, what: str) -> int:
        """Convert chips to whole units of the smallest chip.

        Parameters
        ----------
        amount
            Chips.
        what
            Name of the amount, for the message.
        """
        if not math.isfinite(amount):
            raise InputError(f"{what}={amount:g}: must be a finite number of chips")
        units = round(amount / self.chip)
        if abs(units * self.chip - amount) > 1e-9:
            raise InputError(f"{what}={amount:g} is not a multiple of the smallest chip {self.chip:g}")
        return units

    @cached_property
    def menu_tokens(self) -> tuple[re.Match[str], ...]:
        """The parsed menu."""
        matches = []
        for position, token in enumerate(self.menu.split("/"), start=1):
            match = _SIZE.fullmatch(token.strip())
            if match is None:
                raise InputError(
                    f"size {short_repr(token)} (number {position} of menu {short_repr(self.menu)}): use 50%, 3c, a or *"
                )
            matches.append(match)
        return tuple(matches)

    def format_units(self, units: int) -> str:
        """Format units as chips.

        Parameters
        ----------
        units
            Amount in smallest chips.
        """
        return f"{units * self.chip:.10g}"


@dataclass(frozen=True)
class SmallBettingState:
    """Immutable betting state of two or more players. The first player who has not folded opens every round.

    Attributes
    ----------
    rules
        Betting rules.
    spent
        Units put in by each player.
    live
        Whether each player is still in the hand.
    waiting
        Players who have yet to respond to the last raise, or to open.
    round
        Betting round, from 0.
    actor
        Player to act.
    raises
        Raises of this round.
    last_raise
        Increment of the last raise of this round, in units; 0 before the first.

    Examples
    --------
    >>> state = SmallBettingState.start(SmallPokerRules(stack=20.0, menu="1c"))
    >>> state.legal_actions(), state.apply_action("r2").legal_actions()[:2]
    (('c', 'r2'), ('f', 'c'))
    """

    rules: SmallPokerRules
    spent: tuple[int, ...]
    live: tuple[bool, ...]
    waiting: int
    round: int = 0
    actor: int = 0
    raises: int = 0
    last_raise: int = 0  # increment of the last raise of this round, in units; 0 before the first

    @staticmethod
    def start(rules: SmallPokerRules, players: int = 2) -> SmallBettingState:
        """Return the state after the antes.

        Parameters
        ----------
        rules
            Betting rules.
        players
            Number of players.
        """
        return SmallBettingState(rules, (rules.units(rules.ante, "ante"),) * players, (True,) * players, players)

    @property
    def to_call(self) -> int:
        """Units that the actor must add to call."""
        return max(self.spent) - self.spent[self.actor]

    @property
    def round_over(self) -> bool:
        """Whether all players have responded to the last raise, or have checked."""
        return self.waiting == 0

    @property
    def all_in(self) -> bool:
        """Whether all players are all-in."""
        return self._stack_limit is not None and min(self.spent) >= self._stack_limit

    @property
    def _stack_limit(self) -> int | None:
        # Largest total of a player in units, ante included; None in limit games.
        if self.rules.stack is None:
            return None
        return self.rules.units(self.rules.ante, "ante") + self.rules.units(self.rules.stack, "stack")

    def actor_of(self, rounds: int) -> int:
        """Return the player to act, CHANCE between the rounds of a hand, or TERMINAL at its end.

        Parameters
        ----------
        rounds
            Number of betting rounds.
        """
        if sum(self.live) > 1 and not (self.round_over or self.all_in):
            return self.actor
        return TERMINAL if sum(self.live) == 1 or self.round == rounds - 1 else CHANCE

    def next_round(self) -> SmallBettingState:
        """Return the start of the next round."""
        opener = self.live.index(True)
        return SmallBettingState(self.rules, self.spent, self.live, sum(self.live), self.round + 1, opener)

    def legal_actions(self) -> tuple[str, ...]:
        """Return the labels of the legal actions: fold (facing a bet), call, raises upwards."""
        actions = ["f", "c"] if self.to_call else ["c"]
        if self.rules.sizes is not None:
            if self.raises < (self.rules.cap or 0):
                actions.append("r")
        else:
            actions += [f"r{self.rules.format_units(total)}" for total in self._raise_totals()]
        return tuple(actions)

    def _raise_totals(self) -> list[int]:
        """Return the totals, in units, to which the menu lets the actor raise in a no-limit game; ascending."""
        limit = self._stack_limit
        assert limit is not None
        high = max(self.spent)
        if high >= limit or (self.rules.cap is not None and self.raises >= self.rules.cap):
            return []
        low = min(high + max(1, self.last_raise), limit)
        totals: set[int] = set()
        for token in self.rules.menu_tokens:
            if token["every"]:
                totals.update(range(low, limit + 1))
            elif token["all"]:
                totals.add(limit)
            else:
                if token["percent"]:
                    by = int(float(token["percent"]) / 100 * 2 * high + 0.5)  # pot after the call
                else:
                    by = self.rules.units(float(token["chips"]), "size")
                totals.add(min(max(high + by, low), limit))
        return sorted(totals)

    def apply_action(self, label: str) -> SmallBettingState:
        """Return the state after a legal action.

        Parameters
        ----------
        label
            `f`, `c`, `r` in limit games, or `r2` with the total of the player.
        """
        me, high, raised = self.actor, max(self.spent), 0
        if label.startswith("r"):
            units, sizes = self.rules.units, self.rules.sizes
            raised = units(float(label[1:]), "raise") - high if sizes is None else units(sizes[self.round], "bet size")
        total, live = (self.spent[me], False) if label == "f" else (high + raised, True)
        remaining = (*self.live[:me], live, *self.live[me + 1 :])
        order = (*range(me + 1, len(remaining)), *range(me + 1))
        spent, actor = (*self.spent[:me], total, *self.spent[me + 1 :]), next(p for p in order if remaining[p])
        waiting, raises = sum(remaining) - 1 if raised else self.waiting - 1, self.raises + (raised > 0)
        last_raise = raised or self.last_raise
        return SmallBettingState(self.rules, spent, remaining, waiting, self.round, actor, raises, last_raise)

    def stakes(self) -> float:
        """Return the chips that the loser of the hand loses: the smaller total of both players."""
        return min(self.spent) * self.rules.chip


_RANKS = "23456789TJQKA"
_SUITS = "cdhs"
MAX_CARDS = 5_000  # tables have an entry for every pair of hands


def card_names(ranks: int, suits: int) -> tuple[str, ...]:
    """Return the names of cards from low to high. Up to twelve ranks end with the king: three are J, Q, K.

    Parameters
    ----------
    ranks
        Number of ranks.
    suits
        Number of suits.

    Returns
    -------
    tuple[str, ...]
        The names of cards from low to high.

    Examples
    --------
    >>> card_names(3, 1), card_names(3, 2)
    (('J', 'Q', 'K'), ('Jh', 'Js', 'Qh', 'Qs', 'Kh', 'Ks'))
    """
    if ranks <= 12:
        names = list(_RANKS[12 - ranks : 12])
    elif ranks == 13:
        names = list(_RANKS)
    else:
        names = [f"{rank}." for rank in range(1, ranks + 1)]
    if suits == 1:
        return tuple(names)
    return tuple(n + s for n in names for s in _SUITS[-suits:])


def check_small_deck(name: str, ranks: int, suits: int, rounds: int, players: int = 2) -> None:
    """Raise `InputError` unless a deck of a game has 1 to 4 suits and the cards that are dealt.

    Parameters
    ----------
    name
        Name of the game, for the message.
    ranks
        Number of ranks.
    suits
        Number of suits.
    rounds
        Number of betting rounds; a public card is dealt before each but the first.
    players
        Number of players.

    Examples
    --------
    >>> check_small_deck("kuhn", 3, 1, 1)
    """
    if not 1 <= suits <= 4:
        raise InputError(f"{name}: suits={suits}: must be 1 to 4")
    dealt = players + rounds - 1
    if ranks < 1 or ranks * suits < dealt:
        raise InputError(
            f"{name}: {ranks} ranks x {suits} suits: too few cards, {dealt} are dealt to {players} players"
        )
