"""Kuhn, Leduc and Rhode Island poker: one private card each, with public cards; limit and no-limit.

Kuhn (1950): one round, ante 1, one bet of 1. Leduc (Southey et al. 2005): two rounds, bets of 2 and 4, at most two
raises per round, one public card between them; a pair with the public card wins, else the higher card. Rhode Island
hold'em (Shi & Littman 2001): two public cards, three rounds, hands of three cards. All take any number of ranks and
suits. With `stack` Kuhn and Leduc are no-limit.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from riverboat.core.errors import InputError, short_repr
from riverboat.games.base import CHANCE, TERMINAL, ComparisonPayoff, ConstantPayoff, Outcome, Payoff, PrivateDeal

# --- betting ---

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


@dataclass(frozen=True)
class OneCardPoker:
    """Poker with one hole card each and `rounds` betting rounds, with a public card before each round but the first.

    Attributes
    ----------
    name
        Name of the game.
    ranks
        Number of ranks.
    suits
        Number of suits.
    rounds
        Number of betting rounds.
    rules
        Betting rules.

    Examples
    --------
    >>> game = leduc()
    >>> game.hands[0], game.strengths((4,))
    (('Jh', 'Js', 'Qh', 'Qs', 'Kh', 'Ks'), (0, 0, 1, 1, 5, 5))
    """

    name: str
    ranks: int
    suits: int
    rounds: int
    rules: SmallPokerRules
    unit: str = field(default="chips", init=False)
    joiner: str = field(default="", init=False)

    def __post_init__(self) -> None:
        if self.ranks * self.suits > MAX_CARDS:
            raise InputError(
                f"{self.name}: {self.ranks:,} ranks x {self.suits} suits: at most {MAX_CARDS:,} cards, "
                f"since every pair of them is a deal"
            )
        check_small_deck(self.name, self.ranks, self.suits, self.rounds)

    @cached_property
    def hands(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Cards, for each player."""
        cards = card_names(self.ranks, self.suits)
        return cards, cards

    @cached_property
    def deal(self) -> PrivateDeal:
        """Distribution of two different cards."""
        return PrivateDeal.one_card(self.ranks * self.suits)

    def root(self) -> _OneCardPokerState:
        """Return the state before the first action."""
        return _OneCardPokerState(self, SmallBettingState.start(self.rules), ())

    def strengths(self, board: tuple[int, ...]) -> tuple[int, ...]:
        """Return the strength of each card with a complete board: pairs beat other hands, then the higher card wins.

        Parameters
        ----------
        board
            Public cards; as many as there are rounds but one.
        """
        paired = {c // self.suits for c in board}
        return tuple(r + self.ranks * (r in paired) for r in range(self.ranks) for _ in range(self.suits))


@dataclass(frozen=True)
class _OneCardPokerState:
    game: OneCardPoker
    betting: SmallBettingState
    board: tuple[int, ...]

    @property
    def actor(self) -> int:
        return self.betting.actor_of(self.game.rounds)

    @cached_property
    def _moves(self) -> tuple[str, ...]:  # cached, since every call of `child` needs it
        return self.betting.legal_actions()

    def actions(self) -> tuple[str, ...]:
        return self._moves

    def outcomes(self) -> tuple[Outcome, ...]:
        cards = self.game.hands[0]
        left = [c for c in range(len(cards)) if c not in self.board]
        weight = 1.0 / (len(left) - 2)  # the players hold two of them
        return tuple(Outcome(f"/{cards[c]}/", weight, ((c,), (c,))) for c in left)

    def child(self, index: int) -> _OneCardPokerState:
        if self.actor == CHANCE:
            card = index
            for dealt in sorted(self.board):  # the index counts the remaining cards
                card += card >= dealt
            return _OneCardPokerState(self.game, self.betting.next_round(), (*self.board, card))
        return _OneCardPokerState(self.game, self.betting.apply_action(self._moves[index]), self.board)

    def payoff(self) -> Payoff:
        stakes = self.betting.stakes()
        if not all(self.betting.live):
            sign = 1.0 if self.betting.live[0] else -1.0
            return ConstantPayoff((sign * stakes, -sign * stakes))
        strength = self.game.strengths(self.board)
        return ComparisonPayoff((strength, strength), (stakes, -stakes), (0.0, 0.0), (-stakes, stakes))


def _reject_menu(name: str, menu: str) -> None:
    if menu != "*":
        raise InputError(f"{name}: menu={short_repr(menu)} belongs to the no-limit game: give a stack too")


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
    """Make Kuhn poker with `cards` ranks; no-limit if `stack` (chips besides the ante) is given.

    Parameters
    ----------
    cards
        Number of ranks.
    suits
        Number of suits.
    ante
        Chips that each player posts.
    bet
        Size of the bet of the limit game, in chips.
    cap
        Maximum of raises per round; None: unlimited, except by the stack.
    stack
        Chips besides the ante, for a no-limit game; None in limit games.
    menu
        Bet sizes of a no-limit game; `*` is every size.
    chip
        Smallest chip, of which all amounts are multiples.

    Returns
    -------
    OneCardPoker
        The game.

    References
    ----------
    .. [1] Kuhn, "A simplified two-person poker", Contributions to the Theory of Games 1, 1950.

    Examples
    --------
    >>> kuhn().name, kuhn(cards=6).hands[0]
    ('kuhn', ('8', '9', 'T', 'J', 'Q', 'K'))
    """
    if stack is None:
        _reject_menu("kuhn", menu)
        rules = SmallPokerRules(ante, (bet,), 1 if cap is None else cap, None, menu, chip)
    else:
        if bet != 1.0:
            raise InputError(f"kuhn: bet={bet:g} belongs to the limit game; with a stack, sizes come from menu")
        rules = SmallPokerRules(ante, None, cap, stack, menu, chip)
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
    """Make Leduc poker; no-limit if `stack` (chips besides the ante) is given.

    Parameters
    ----------
    ranks
        Number of ranks.
    suits
        Number of suits.
    ante
        Chips that each player posts.
    cap
        Maximum of raises per round; None: unlimited, except by the stack.
    stack
        Chips besides the ante, for a no-limit game; None in limit games.
    menu
        Bet sizes of a no-limit game; `*` is every size.
    chip
        Smallest chip, of which all amounts are multiples.

    Returns
    -------
    OneCardPoker
        The game.

    References
    ----------
    .. [1] Southey et al., "Bayes' bluff: Opponent modelling in poker", UAI 2005.

    Examples
    --------
    >>> leduc().hands[0]
    ('Jh', 'Js', 'Qh', 'Qs', 'Kh', 'Ks')
    """
    if stack is None:
        _reject_menu("leduc", menu)
        rules = SmallPokerRules(ante, (2.0, 4.0), 2 if cap is None else cap, None, menu, chip)
    else:
        rules = SmallPokerRules(ante, None, cap, stack, menu, chip)
    return OneCardPoker("leduc", ranks, suits, 2, rules)


# --- Rhode Island hold'em (Shi & Littman 2001) ---

RHODE_ISLAND_ANTE, RHODE_ISLAND_BETS, RHODE_ISLAND_RAISES = 5.0, (10.0, 20.0, 20.0), 3
RHODE_ISLAND_ROUNDS = 3
HIGH_CARD, PAIR, FLUSH, STRAIGHT, TRIPS, STRAIGHT_FLUSH = range(6)


def rank_three_cards(ranks: tuple[int, ...], suits: tuple[int, ...], num_ranks: int) -> int:
    """Return the strength of three cards.

    The larger number wins: straight flush, three of a kind, straight, flush, pair, high card. Ranks are 0 to
    num_ranks - 1; in a straight the highest also counts as one below the lowest.

    Parameters
    ----------
    ranks
        Ranks of the cards, from 0.
    suits
        Suits of the cards, from 0.
    num_ranks
        Number of ranks of the deck.

    Returns
    -------
    int
        The strength of three cards.

    Examples
    --------
    >>> rank_three_cards((0, 0, 0), (0, 1, 2), 13) > rank_three_cards((12, 12, 3), (0, 1, 2), 13)
    True
    """
    high, middle, low = sorted(ranks, reverse=True)
    flush = len(set(suits)) == 1
    top = middle if (high, middle, low) == (num_ranks - 1, 1, 0) else high
    straight = (high - middle, middle - low) == (1, 1) or (top != high and num_ranks > RHODE_ISLAND_ROUNDS)
    if high == low:
        kind, order = TRIPS, (high, 0, 0)
    elif straight:
        kind, order = STRAIGHT_FLUSH if flush else STRAIGHT, (top, 0, 0)
    elif flush:
        kind, order = FLUSH, (high, middle, low)
    elif high == middle or middle == low:
        kind, order = PAIR, (middle, low if high == middle else high, 0)
    else:
        kind, order = HIGH_CARD, (high, middle, low)
    return ((kind * num_ranks + order[0]) * num_ranks + order[1]) * num_ranks + order[2]


@dataclass(frozen=True)
class RhodeIsland(OneCardPoker):
    """Rhode Island hold'em with any number of ranks and suits.

    Attributes
    ----------
    name
        Name of the game.
    ranks, suits
        Number of ranks, and of suits.
    rounds
        Number of betting rounds.
    rules
        Betting rules.

    Examples
    --------
    >>> rhode_island(ranks=3, suits=2).rounds
    3
    """

    def strengths(self, board: tuple[int, ...]) -> tuple[int, ...]:
        """Return the strength of each card with both public cards; zero for the public cards.

        Parameters
        ----------
        board
            Both public cards.
        """
        return _three_card_strengths(self.ranks, self.suits, frozenset(board))


@lru_cache(maxsize=4096)
def _three_card_strengths(ranks: int, suits: int, board: frozenset[int]) -> tuple[int, ...]:
    # Strength of each hole card of the deck with both public cards; zero for the public cards.
    strengths = []
    for card in range(ranks * suits):
        cards = (card, *sorted(board))
        strength = rank_three_cards(tuple(c // suits for c in cards), tuple(c % suits for c in cards), ranks)
        strengths.append(0 if card in board else strength)
    return tuple(strengths)


def rhode_island(ranks: int = 13, suits: int = 4, cap: int = RHODE_ISLAND_RAISES) -> RhodeIsland:
    """Make Rhode Island hold'em, smaller with fewer ranks and suits.

    Parameters
    ----------
    ranks
        Number of ranks.
    suits
        Number of suits.
    cap
        Maximum of raises per round.

    Returns
    -------
    RhodeIsland
        The game.

    References
    ----------
    .. [1] Shi and Littman, "Abstraction methods for game theoretic poker", CG 2000.

    Examples
    --------
    >>> rhode_island(ranks=4, suits=2).name
    'rhode_island'
    """
    if not 2 <= ranks <= 13:
        raise InputError(f"rhode_island: ranks={ranks}: must be 2 to 13")
    return RhodeIsland(
        "rhode_island", ranks, suits, RHODE_ISLAND_ROUNDS, SmallPokerRules(RHODE_ISLAND_ANTE, RHODE_ISLAND_BETS, cap)
    )
