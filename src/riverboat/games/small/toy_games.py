"""Toy games with known solutions: half-street games, a negotiation, Coin Toss.

In a half-street game player 0 checks or bets any size of a menu, player 1 calls or folds; the pot is 1. After a check
there is a showdown; player 1 may not bet. The clairvoyance game (Ankenman & Chen 2006) and the no-limit Kuhn poker of
Ganzfried & Sandholm (2013) are of this kind, with the hands and the menu as data.

In the negotiation a seller and a buyer, each with a secret limit, name prices in turn. Coin Toss (Brown & Sandholm
2017) is the smallest example of subgame solving.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

from riverboat.core.errors import InputError
from riverboat.games.base import TERMINAL, ComparisonPayoff, ConstantPayoff, NoPublicChance, Payoff, PrivateDeal
from riverboat.games.small.betting import MAX_MENU_SIZES

HALF_STREET_ANTE = 0.5  # each: the pot is 1


def bet_grid(stack: float, chip: float = 0.1) -> tuple[float, ...]:
    """Return every bet from one chip to the whole stack, which is always included.

    Parameters
    ----------
    stack
        Largest bet, in pots.
    chip
        Smallest bet, in pots.

    Returns
    -------
    tuple[float, ...]
        Increasing bets.

    Examples
    --------
    >>> bet_grid(0.35)
    (0.1, 0.2, 0.3, 0.35)
    """
    if not (math.isfinite(chip) and math.isfinite(stack)):
        raise InputError(f"stack={stack:g}, chip={chip:g}: must be finite")
    if chip <= 0:
        raise InputError(f"chip={chip:g}: must be above zero")
    if stack < chip:
        raise InputError(f"stack={stack:g}: must be at least one chip of {chip:g}")
    if stack / chip > MAX_MENU_SIZES:
        raise InputError(
            f"stack={stack:g} with chip={chip:g}: more than {MAX_MENU_SIZES:,} bets; raise chip, or lower stack"
        )
    bets = [round(k * chip, 10) for k in range(1, int(stack / chip + 1e-9) + 1)]
    return tuple(bets) if abs(bets[-1] - stack) < 1e-9 else (*bets, stack)


@dataclass(frozen=True)
class HalfStreet:
    """A half-street game. Bets are increasing fractions of the pot of 1; the last one is all-in.

    Attributes
    ----------
    name
        Name of the game.
    bets
        Increasing bets as fractions of the pot of 1; the last is all-in.
    hands
        Names of the hands of each player.
    strengths
        Strength of each hand of each player.
    shared_deck
        Hand k of one player excludes hand k of the other.

    Examples
    --------
    >>> clairvoyance((1.0,)).hands
    (('winner', 'loser'), ('caller',))
    """

    name: str
    bets: tuple[float, ...]
    hands: tuple[tuple[str, ...], tuple[str, ...]]
    strengths: tuple[tuple[int, ...], tuple[int, ...]]
    shared_deck: bool  # hand k of one player excludes hand k of the other
    unit: str = field(default="pots", init=False)
    joiner: str = field(default="", init=False)

    def __post_init__(self) -> None:
        rising = all(a < b for a, b in zip(self.bets, self.bets[1:], strict=False))
        if not self.bets or not rising or self.bets[0] <= 0 or not math.isfinite(self.bets[-1]):
            raise InputError(f"{self.name}: bets {self.bets}: must be rising fractions of the pot above zero")

    @cached_property
    def deal(self) -> PrivateDeal:
        """Distribution of the hands: different cards of one deck, or independent hands, all equally likely."""
        if self.shared_deck:
            return PrivateDeal.one_card(len(self.hands[0]))
        return PrivateDeal.independent([1.0] * len(self.hands[0]), [1.0] * len(self.hands[1]))

    def root(self) -> _HalfStreetState:
        """Return the state before player 0's action."""
        return _HalfStreetState(self, None, None)


@dataclass(frozen=True)
class _HalfStreetState(NoPublicChance):
    game: HalfStreet
    bet: float | None  # player 0's bet in pots: 0 for a check; None before its action
    called: bool | None  # whether player 1 called; None before its action

    @property
    def actor(self) -> int:
        if self.bet is None:
            return 0
        return 1 if self.called is None and self.bet > 0 else TERMINAL

    def actions(self) -> tuple[str, ...]:
        if self.bet is None:
            return ("c", *(f"r{bet:.10g}" for bet in self.game.bets))
        return ("f", "c")

    def sizes(self) -> tuple[tuple[float, bool] | None, ...]:
        """Return the size of each action beyond a call, in pots, and whether it is all-in; None for a fold."""
        if self.bet is None:
            return ((0.0, False), *((bet, bet == self.game.bets[-1]) for bet in self.game.bets))
        return (None, (0.0, False))

    def child(self, index: int) -> _HalfStreetState:
        if self.bet is None:
            return _HalfStreetState(self.game, 0.0 if index == 0 else self.game.bets[index - 1], None)
        return _HalfStreetState(self.game, self.bet, index == 1)

    def payoff(self) -> Payoff:
        if self.called is False:
            return ConstantPayoff((HALF_STREET_ANTE, -HALF_STREET_ANTE))
        stakes = HALF_STREET_ANTE + (self.bet or 0.0)
        return ComparisonPayoff(self.game.strengths, (stakes, -stakes), (0.0, 0.0), (-stakes, stakes))


def clairvoyance(bets: tuple[float, ...]) -> HalfStreet:
    """Make the clairvoyance game: player 0 knows whether it holds the winner.

    The value to player 0 is n / (2 (n + 1)) if it may bet at most n.

    Parameters
    ----------
    bets
        Increasing bets, as fractions of the pot.

    Returns
    -------
    HalfStreet
        The game.

    Examples
    --------
    >>> clairvoyance((0.5, 1.0)).bets
    (0.5, 1.0)
    """
    return HalfStreet("clairvoyance", bets, (("winner", "loser"), ("caller",)), ((2, 0), (1,)), shared_deck=False)


def clairvoyance_with_chips(stack: float = 1.0, chip: float = 0.1) -> HalfStreet:
    """Make the clairvoyance game where bets are the multiples of `chip` up to `stack`.

    Parameters
    ----------
    stack
        Largest bet, in pots.
    chip
        Smallest bet, in pots.

    Returns
    -------
    HalfStreet
        The game.

    Examples
    --------
    >>> len(clairvoyance_with_chips(1.0, 0.25).bets)
    4
    """
    return clairvoyance(bet_grid(stack, chip))


def half_street_kuhn(bets: tuple[float, ...]) -> HalfStreet:
    """Make half-street Kuhn poker: both players hold one of J, Q, K.

    Parameters
    ----------
    bets
        Increasing bets, as fractions of the pot.

    Returns
    -------
    HalfStreet
        The game.

    Examples
    --------
    >>> half_street_kuhn((1.0,)).hands[0]
    ('J', 'Q', 'K')
    """
    cards, ranks = ("J", "Q", "K"), (0, 1, 2)
    return HalfStreet("half-street kuhn", bets, (cards, cards), (ranks, ranks), shared_deck=True)


# --- negotiation ---

MAX_NEGOTIATION_INFOSETS = 4_000_000  # takes seconds and some 700 MB to build
ACCEPT, WALK_AWAY = "a", "w"


@dataclass(frozen=True)
class Negotiation:
    """A negotiation with limits and prices 0 … limits - 1, and at most `offers` offers.

    Attributes
    ----------
    limits
        Number of secret limits and of prices.
    offers
        Maximum of offers.

    Examples
    --------
    >>> Negotiation(5, 3).name
    'negotiation:limits=5,offers=3'
    """

    limits: int
    offers: int
    unit: str = field(default="points", init=False)
    joiner: str = field(default="-", init=False)

    def __post_init__(self) -> None:
        if self.limits < 1 or self.offers < 1:
            raise InputError(f"{self.name}: limits and offers must be at least 1")
        lines, longest = 1, 1  # lines of offers; each is one information set for each limit
        for _ in range(min(self.offers, MAX_NEGOTIATION_INFOSETS // self.limits + 1)):
            longest *= self.limits
            lines += longest
            if lines * self.limits > MAX_NEGOTIATION_INFOSETS:
                raise InputError(
                    f"{self.name}: {lines:,} lines of offers or more, each with {self.limits:,} limits: at most "
                    f"{MAX_NEGOTIATION_INFOSETS:,} information sets are allowed; use fewer limits or offers"
                )

    @property
    def name(self) -> str:
        """Name of the game on the command line."""
        return f"negotiation:limits={self.limits},offers={self.offers}"

    @cached_property
    def hands(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Costs of the seller and values of the buyer."""
        return tuple(f"cost{k}" for k in range(self.limits)), tuple(f"value{k}" for k in range(self.limits))

    @cached_property
    def deal(self) -> PrivateDeal:
        """Distribution of the seller's cost and the buyer's value: independent, all equally likely."""
        return PrivateDeal.independent([1.0] * self.limits, [1.0] * self.limits)

    def root(self) -> _NegotiationState:
        """Return the state before the seller's first offer."""
        return _NegotiationState(self, 0, None, "")

    def agreement_payoff(self, price: int) -> ComparisonPayoff:
        """Return the payoff of an agreement: the player who gains more at the price wins.

        Parameters
        ----------
        price
            Agreed price.
        """
        gains = tuple(price - k for k in range(self.limits)), tuple(k - price for k in range(self.limits))
        return ComparisonPayoff(gains, (1.0, -1.0), (0.0, 0.0), (-1.0, 1.0))

    def breakdown_payoff(self, player: int) -> ComparisonPayoff:
        """Return the payoff after `player` rejects the last offer: the opponent wins if value is at least cost.

        Parameters
        ----------
        player
            Player who rejects the last offer.
        """
        loss = (-1.0, 1.0) if player == 0 else (1.0, -1.0)
        limits = tuple(range(self.limits))
        return ComparisonPayoff((limits, limits), (0.0, 0.0), loss, loss)


@dataclass(frozen=True)
class _NegotiationState(NoPublicChance):
    game: Negotiation
    made: int  # number of offers so far
    price: int | None  # the last offer; None before the first
    end: str  # the final action (ACCEPT or WALK_AWAY); empty during the negotiation

    @property
    def actor(self) -> int:
        return TERMINAL if self.end else self.made % 2

    def actions(self) -> tuple[str, ...]:
        prices = tuple(str(k) for k in range(self.game.limits))
        if self.price is None:
            return prices
        return (ACCEPT, *prices) if self.made < self.game.offers else (ACCEPT, WALK_AWAY)

    def child(self, index: int) -> _NegotiationState:
        move = self.actions()[index]
        if move in (ACCEPT, WALK_AWAY):
            return _NegotiationState(self.game, self.made, self.price, move)
        return _NegotiationState(self.game, self.made + 1, int(move), "")

    def payoff(self) -> Payoff:
        assert self.price is not None
        return (
            self.game.agreement_payoff(self.price) if self.end == ACCEPT else self.game.breakdown_payoff(self.made % 2)
        )


def negotiation(limits: int = 5, offers: int = 3) -> Negotiation:
    """Make a negotiation by name: `negotiation:limits=5,offers=3`.

    Parameters
    ----------
    limits
        Number of secret limits and of prices.
    offers
        Maximum of offers.

    Returns
    -------
    Negotiation
        The game.

    Examples
    --------
    >>> negotiation(limits=3).limits
    3
    """
    return Negotiation(limits, offers)


# --- Coin Toss ---

_HEADS_WINS = ((2, 0), (1,))  # strengths: heads beats, tails loses


def _payoff_by_first_hand(high: float, low: float) -> ComparisonPayoff:
    """Return a terminal that pays player 0 `high` with its first hand and `low` with its second."""
    return ComparisonPayoff(_HEADS_WINS, (high, -high), (0.0, 0.0), (low, -low))


@dataclass(frozen=True)
class CoinToss:
    """Coin Toss (Brown & Sandholm 2017); `left` is the payoff of Left on heads.

    Attributes
    ----------
    left
        Payoff of player 0 for Left on heads, in points.

    References
    ----------
    .. [1] Brown and Sandholm, "Safe and nested subgame solving for imperfect-information games", NIPS 2017.

    Examples
    --------
    >>> CoinToss().hands
    (('heads', 'tails'), ('guesser',))
    """

    left: float = 0.5
    name: str = field(default="coin_toss", init=False)
    unit: str = field(default="points", init=False)
    joiner: str = field(default="-", init=False)
    hands: tuple[tuple[str, ...], tuple[str, ...]] = field(default=(("heads", "tails"), ("guesser",)), init=False)

    def __post_init__(self) -> None:
        if not math.isfinite(self.left):
            raise InputError(f"coin_toss: left={self.left:g}: must be finite")

    @cached_property
    def deal(self) -> PrivateDeal:
        """Distribution of a fair coin."""
        return PrivateDeal.independent([1.0, 1.0], [1.0])

    def root(self) -> _CoinTossState:
        """Return the state after player 0 has seen the coin."""
        return _CoinTossState(self, ())


@dataclass(frozen=True)
class _CoinTossState(NoPublicChance):
    game: CoinToss
    line: tuple[str, ...]

    @property
    def actor(self) -> int:
        if not self.line:
            return 0
        return 1 if self.line == ("right",) else TERMINAL

    def actions(self) -> tuple[str, ...]:
        return ("left", "right") if not self.line else ("heads", "tails", "forfeit")

    def child(self, index: int) -> _CoinTossState:
        return _CoinTossState(self.game, (*self.line, self.actions()[index]))

    def payoff(self) -> Payoff:
        last = self.line[-1]
        if last == "left":
            return _payoff_by_first_hand(self.game.left, -self.game.left)
        if last == "forfeit":
            return ConstantPayoff((1.0, -1.0))
        return _payoff_by_first_hand(-1.0, 1.0) if last == "heads" else _payoff_by_first_hand(1.0, -1.0)
