"""Kuhn, Leduc and Rhode Island poker: one private card each, with public cards; limit and no-limit.

Kuhn (1950): one round, ante 1, one bet of 1. Leduc (Southey et al. 2005): two rounds, bets of 2 and 4, at most two
raises per round, one public card between them; a pair with the public card wins, else the higher card. Rhode Island
hold'em (Shi & Littman 2001): two public cards, three rounds, hands of three cards. All take any number of ranks and
suits. With `stack` Kuhn and Leduc are no-limit; with fixed bets they have up to ten players.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from riverboat.core.errors import InputError, short_repr
from riverboat.games.base import CHANCE, ComparisonPayoff, ConstantPayoff, Outcome, Payoff, PrivateDeal
from riverboat.games.small.betting import MAX_CARDS, SmallBettingState, SmallPokerRules, card_names, check_small_deck
from riverboat.games.small.multiplayer_poker import MultiplayerPoker


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


def _make_game(
    name: str, players: int, ranks: int | None, suits: int, rounds: int, rules: SmallPokerRules
) -> OneCardPoker | MultiplayerPoker:
    """Make a game of two or more players; `ranks` of None is one more than players."""
    if players != 2 and (rules.stack is not None or rules.menu != "*"):
        raise InputError(
            f"{name}: players={players}: bets are fixed with more than two players; leave out stack and menu"
        )
    if rules.stack is None and rules.menu != "*":
        raise InputError(f"{name}: menu={short_repr(rules.menu)} belongs to the no-limit game: give a stack too")
    deck = players + 1 if ranks is None else ranks, suits, rounds, rules
    return OneCardPoker(name, *deck) if players == 2 else MultiplayerPoker(name, players, *deck)


def kuhn(
    cards: int | None = None,
    suits: int = 1,
    ante: float = 1.0,
    bet: float = 1.0,
    cap: int | None = None,
    stack: float | None = None,
    menu: str = "*",
    chip: float = 1.0,
    players: int = 2,
) -> OneCardPoker | MultiplayerPoker:
    """Make Kuhn poker: limit, no-limit with a `stack`, or limit with up to ten players.

    Parameters
    ----------
    cards
        Number of ranks; by default one more than players.
    suits
        Number of suits.
    ante
        Chips that each player posts.
    bet
        Size of the bet of the limit game, in chips.
    cap
        Maximum of raises per round; None: unlimited, except by the stack.
    stack
        Chips besides the ante, for a no-limit game of two players; None in limit games.
    menu
        Bet sizes of a no-limit game; `*` is every size.
    chip
        Smallest chip, of which all amounts are multiples.
    players
        Number of players, 2 to 10.

    Returns
    -------
    OneCardPoker or MultiplayerPoker
        The game; `MultiplayerPoker` with three players or more.

    References
    ----------
    .. [1] Kuhn, "A simplified two-person poker", Contributions to the Theory of Games 1, 1950.

    Examples
    --------
    >>> kuhn().name, kuhn(cards=6).hands[0]
    ('kuhn', ('8', '9', 'T', 'J', 'Q', 'K'))
    """
    if stack is not None and bet != 1.0:
        raise InputError(f"kuhn: bet={bet:g} belongs to the limit game; with a stack, sizes come from menu")
    limit = stack is None
    rules = SmallPokerRules(ante, (bet,) if limit else None, 1 if limit and cap is None else cap, stack, menu, chip)
    return _make_game("kuhn", players, cards, suits, 1, rules)


def leduc(
    ranks: int | None = None,
    suits: int = 2,
    ante: float = 1.0,
    cap: int | None = None,
    stack: float | None = None,
    menu: str = "*",
    chip: float = 1.0,
    players: int = 2,
) -> OneCardPoker | MultiplayerPoker:
    """Make Leduc poker: limit, no-limit with a `stack`, or limit with up to ten players.

    Parameters
    ----------
    ranks
        Number of ranks; by default one more than players.
    suits
        Number of suits.
    ante
        Chips that each player posts.
    cap
        Maximum of raises per round; None: unlimited, except by the stack.
    stack
        Chips besides the ante, for a no-limit game of two players; None in limit games.
    menu
        Bet sizes of a no-limit game; `*` is every size.
    chip
        Smallest chip, of which all amounts are multiples.
    players
        Number of players, 2 to 10.

    Returns
    -------
    OneCardPoker or MultiplayerPoker
        The game; `MultiplayerPoker` with three players or more.

    References
    ----------
    .. [1] Southey et al., "Bayes' bluff: Opponent modelling in poker", UAI 2005.

    Examples
    --------
    >>> leduc().hands[0]
    ('Jh', 'Js', 'Qh', 'Qs', 'Kh', 'Ks')
    """
    limit = stack is None
    rules = SmallPokerRules(ante, (2.0, 4.0) if limit else None, 2 if limit and cap is None else cap, stack, menu, chip)
    return _make_game("leduc", players, ranks, suits, 2, rules)


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
