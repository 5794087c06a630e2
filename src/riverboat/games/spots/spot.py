"""Hold'em spots: a public state from the flop on, with a pot, stacks, two ranges and menus of bet sizes.

Player 0 is `oop`, who acts first on every street; player 1 is `ip`. The pot at the root belongs to nobody: a payoff is
the share of the final pot, less the chips put in since. So the values of both players sum to the pot, less rake.

`Spot.make` makes a spot from players' notation, `Spot.at` from any betting state: in the middle of a street, facing a
bet, with unequal stacks. Both store the start of the street and the actions on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, isfinite
from typing import Annotated, Any, TypeAlias

import numpy as np

from riverboat.cards.deck import FULL_DECK, HAND_CARDS, Deck, card_name
from riverboat.cards.notation import Cards, as_cards, format_cards
from riverboat.cards.ranges import Range, compatible_weights
from riverboat.core.arguments import CheckedLater, Limits, checked
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, MemoryLimitError, located_errors, short_repr, unknown_name_error
from riverboat.games.base import CHANCE
from riverboat.games.boards.betting_tree import build_betting_tree
from riverboat.games.boards.board_game import BettingTree, UnrolledStatesMixin
from riverboat.games.boards.root_gadgets import RootGadget
from riverboat.games.holdem.bet_sizes import MenuThresholds, parse_share
from riverboat.games.holdem.betting import STREET_NOTATION, BettingState
from riverboat.games.holdem.betting_rules import (
    CALL,
    NOBODY,
    apply_action,
    call_amount,
    is_action_allowed,
    raise_bounds,
)
from riverboat.games.holdem.menus import ActionMenu, parse_most_raises, trim_repeats
from riverboat.games.holdem.rules import MAX_SPOT_CHIPS, PokerRules, Rake, is_number
from riverboat.games.spots.locks import NodeLock, abbreviate_range, check_locks
from riverboat.games.spots.menus import PLAYERS as PLAYERS
from riverboat.games.spots.menus import STREETS as STREETS
from riverboat.games.spots.menus import describe_longest_list, drop_earlier_streets, parse_spot_menu

# --- rules from players' notation ---


def parse_spot_rules(
    pot: Any, stack: Any, least_bet: Any, rake: Rake, raise_sizes: Any, most_raises: Any
) -> PokerRules:
    """Make the rules of a spot; of a limit game if there are `raise_sizes`.

    Parameters
    ----------
    pot
        Chips in the pot.
    stack
        Chips behind: one number, or two.
    least_bet
        Minimum bet in chips.
    rake
        Rake.
    raise_sizes
        Increments of bets by round, for a limit game; else None.
    most_raises
        Maximum of bets and raises by round, for a limit game.

    Returns
    -------
    PokerRules
        The rules of a spot.

    Raises
    ------
    InputError
        If a value is invalid.

    Examples
    --------
    >>> parse_spot_rules(100, 200, 1, Rake(), None, None).stacks
    (200, 200)
    """
    both = isinstance(stack, Sequence) and not isinstance(stack, str) and len(stack) == 2
    stacks = (stack[0], stack[1]) if both else (stack, stack)
    for what, amount in (("pot", pot), ("stack", stacks[0]), ("stack", stacks[1]), ("least_bet", least_bet)):
        _check_whole(what, amount)
    if pot <= 0:
        raise InputError(f"pot={short_repr(pot)}: must be above zero, since a spot is played for the pot")
    if min(stacks) <= 0:
        raise InputError(
            f"stack={short_repr(min(stacks))}: must be above zero; give the chips that the shorter player has behind"
        )
    if pot + 2 * max(stacks) > MAX_SPOT_CHIPS:
        raise InputError(
            f"pot={short_repr(pot)} and stack={short_repr(max(stacks))}: more than 2^53 chips in all cannot be "
            "counted exactly; divide all amounts by the same number"
        )
    limit: dict[str, Any] = {}
    if raise_sizes is not None:
        sizes, most = _parse_by_round(raise_sizes), _parse_by_round(most_raises)
        limit = {"limit": True, "raise_sizes": sizes, "most_raises": most}
    return PokerRules(
        blinds=(0, 0), pot=pot, stacks=stacks, least_bet=least_bet, rake=rake, first=(1, 0, 0, 0), name="spot", **limit
    )


def _parse_by_round(counts: Any) -> tuple[int, ...]:
    if not isinstance(counts, Sequence) or len(counts) != 4 or not all(type(n) is int for n in counts):
        raise InputError(
            f"limit: {short_repr(counts)}: write a whole number for each round from the deal: [10, 10, 20, 20]"
        )
    return tuple(counts)


def parse_raise_limits(raise_cap: Any, most_raises: Any) -> tuple[int | None, ...]:
    """Parse the maximum of bets and raises by street; `raise_cap` does not count the first bet.

    Parameters
    ----------
    raise_cap
        Maximum of raises per street, not counting the first bet; None: unlimited.
    most_raises
        Maximum of bets and raises, a number or a list by street; None: unlimited.

    Returns
    -------
    tuple[int | None, ...]
        Maximum of bets and raises by street.

    Raises
    ------
    InputError
        If both are given, or a value is invalid.

    Examples
    --------
    >>> parse_raise_limits(2, None)
    (3,)
    """
    if raise_cap is None:
        return parse_most_raises(most_raises, "tree")
    if most_raises is not None:
        raise InputError("raise_cap and most_raises have the same meaning; give only one of them")
    _check_whole("raise_cap", raise_cap)
    if raise_cap < 0:
        raise InputError(
            f"raise_cap={short_repr(raise_cap)}: raises per street must not be negative; omit it for no cap"
        )
    return (raise_cap + 1,)


def _check_whole(what: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        is_fraction = is_number(value) and isfinite(value)
        remedy = "multiply all amounts by the same number" if is_fraction else "write a number such as 180"
        raise InputError(f"{what}={short_repr(value)}: must be a whole number; {remedy}")


# --- rules from betting states ---


def rules_from_street(rules: PokerRules, before: int) -> PokerRules:
    """Return the rules from a street on, with the chips put in before as a pot that belongs to nobody.

    Parameters
    ----------
    rules
        Rules of the game.
    before
        Chips that each seat put in before the street.

    Returns
    -------
    PokerRules
        The rules from a street on, with the chips put in before as a pot that belongs to nobody.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> rules = rules_from_street(read_game("nolimit-200bb"), 300)
    >>> rules.pot, rules.stacks
    (600, (19700, 19700))
    """
    stacks = rules.stacks
    if stacks is None:  # a limit game: one chip more than all possible bets
        most_bets = zip(rules.raise_sizes, rules.most_raises or (), strict=True)
        stacks = (before + sum(size * most for size, most in most_bets) + 1,) * 2
    return replace(
        rules,
        blinds=(0, 0),
        ante=0,
        pot=rules.pot + 2 * before,
        stacks=(stacks[0] - before, stacks[1] - before),
        least_bet=rules.compact.least_bet,
        most_raises=rules.most_raises if rules.limit else None,
        first=(1, 0, 0, 0),
    )


def cap_menu_raises(menu: ActionMenu, rules: PokerRules) -> ActionMenu:
    """Return a menu with at most the raises that the rules allow.

    Parameters
    ----------
    menu
        Bet sizes; None in a limit game.
    rules
        Rules of the game.

    Returns
    -------
    ActionMenu
        A menu with at most the raises that the rules allow.

    Examples
    --------
    >>> from riverboat.games.holdem.menus import one_size_menu
    >>> from riverboat.games.holdem.rules import read_game
    >>> cap_menu_raises(one_size_menu("100%"), read_game("nolimit-200bb")).most_raises
    (None,)
    """
    if rules.most_raises is None:
        return menu
    menu_limits = [menu.most_raises[min(street, len(menu.most_raises) - 1)] for street in range(rules.rounds)]
    limits = zip(rules.most_raises, menu_limits, strict=True)
    return replace(menu, most_raises=trim_repeats([own if other is None else min(own, other) for own, other in limits]))


def street_actions(state: BettingState) -> str:
    """Return the actions of this street in the notation of spots.

    Parameters
    ----------
    state
        Betting state.

    Returns
    -------
    str
        The actions of this street in the notation of spots.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> street_actions(BettingState.from_line(read_game("nolimit-200bb"), "cr300c/cr600"))
    'x-b300'
    """
    earlier, labels = state.committed_before_street, []
    rules = rules_from_street(state.rules, earlier)
    spot_state = BettingState.at_street(rules, state.street).compact
    for action in state.actions[len(state.actions) - state.num_actions :]:
        spot_action = action - earlier if action > CALL else action
        labels.append(STREET_NOTATION.format(rules.compact, spot_state, spot_action))
        spot_state = apply_action(rules.compact, spot_state, spot_action)
    return STREET_NOTATION.joiner.join(labels)


BYTES_PER_HAND = 6  # minimum table memory per node and hand
MenuInput: TypeAlias = str | Mapping[str, Any]
RangeText: TypeAlias = Annotated[str, Limits(0, 1_000_000)]  # 1,326 hands with weights of 17 digits have 40,000


@dataclass(frozen=True)
class Spot(UnrolledStatesMixin):
    """A hold'em spot as a game, made by `Spot.make` or `Spot.at`.

    Attributes
    ----------
    board
        Cards on the board at the root.
    rules
        As if the hand began with this street: the pot belongs to nobody, stacks are the chips behind.
    menu
        None in limit games.
    ranges
        Ranges of oop and ip.
    locks
        Strategies that are fixed at some decisions.
    deck
        Cards and hand rules.
    name
        Name for messages and progress.
    played
        Actions of this street before the root, `x-b120`
    led
        Player who bet or raised last on the previous street.
    gadget
        Gadget at the root of a subgame.

    Examples
    --------
    >>> spot = Spot.make(board="Qs Jh 2h 8c 3d", pot=100, stack=200, oop="AA,KK", ip="QQ,JJ", bets="50%, a")
    >>> spot.betting.actions(0), spot.deals
    (('x', 'b50', 'a'), ())
    """

    board: tuple[int, ...]
    rules: PokerRules  # as if the hand began with this street: the pot belongs to nobody, stacks are the chips behind
    menu: ActionMenu | None  # None in limit games
    ranges: tuple[Range, Range]  # oop, ip
    locks: tuple[NodeLock, ...] = ()
    deck: Deck = FULL_DECK
    name: str = "spot"
    played: str = ""  # actions of this street before the root, `x-b120`
    led: int | None = None  # player who bet or raised last on the previous street
    gadget: RootGadget | None = None  # gadget at the root of a subgame
    unit: str = field(default="chips", init=False)
    joiner: str = field(default="-", init=False)

    @staticmethod
    @checked
    def make(
        *,
        board: Cards,
        pot: Annotated[int, CheckedLater],
        stack: int | Sequence[int],
        oop: RangeText | Range,
        ip: RangeText | Range,
        bets: MenuInput | None = None,
        raises: str | None = None,
        donks: str | None = None,
        rake: Annotated[float | None, CheckedLater] = None,
        rake_cap: Annotated[float, CheckedLater] = inf,
        add_all_in: Annotated[str, CheckedLater] = "0%",
        force_all_in: Annotated[str, CheckedLater] = "0%",
        merge: Annotated[str, CheckedLater] = "0%",
        donk_bets: bool = True,
        raise_cap: Annotated[int | None, CheckedLater] = None,
        most_raises: Annotated[int | list[int] | None, CheckedLater] = None,
        raise_sizes: Sequence[int] | None = None,
        least_bet: int = 1,
        played: str = "",
        led: str | None = None,
        locks: Iterable[NodeLock] = (),
        deck: Deck = FULL_DECK,
        name: Annotated[str, Limits(0, 4096)] = "spot",
    ) -> Spot:
        """Make a spot from players' notation.

        Parameters
        ----------
        board
            Three to five cards, `Qs Jh 2h`.
        pot
            Chips in the pot, before the actions in `played`.
        stack
            Chips behind, before the actions in `played`: one number, or those of oop and ip.
        oop, ip
            Ranges of the player who acts first on every street, and of the other.
        bets
            List of sizes such as `"33%, 75%"` for all streets and both players, or a mapping as in a spot file:
            `{"flop": {"bet": "33%", "raise": "45%"}, "oop": {"turn": {…}}}`. Required in no-limit games; `bets=""` is a hand
            that is checked down.
        raises, donks
            Lists of sizes for raises and donk bets, if `bets` is a list.
        rake, rake_cap
            Share of the final pot that the house takes, and at most how many chips.
        add_all_in, force_all_in, merge
            Thresholds of the menu in percent of the pot; see `riverboat.games.holdem.bet_sizes.resolve_sizes`.
        donk_bets
            Whether oop may bet into the aggressor of the previous street.
        raise_cap, most_raises
            Maximum of raises per street, or of bets and raises.
        raise_sizes
            Increments of bets by round from the deal, for limit games, together with `most_raises`.
        least_bet
            Minimum bet in chips.
        played
            Actions of this street before the root, `x-b120`.
        led
            Player (`oop` or `ip`) who bet or raised last on the previous street.
        locks
            Strategies that are fixed at some decisions.
        deck
            Cards and hand rules.
        name
            Name for messages and progress.

        Returns
        -------
        Spot
            The spot.
        """
        if bets is None and raise_sizes is None:
            raise InputError(
                'bets are missing: give sizes such as bets="33%, 75%", or bets="" for a hand that is checked down'
            )
        cards = _parse_board(board)
        rake_rules = Rake(0.0 if rake is None else rake, rake_cap)
        if rake is None and rake_cap != inf:
            raise InputError(f"rake cap {short_repr(rake_cap)} without a rate has no effect; give a rate such as 0.05")
        if bets is None or isinstance(bets, str):
            menu = {"bet": bets or ""} | {k: v for k, v in (("raise", raises), ("donk", donks)) if v is not None}
            bets = {STREETS[len(cards) - 3]: menu}
        elif raises is not None or donks is not None:
            raise InputError(
                "raises and donks go with a list of bets; in a mapping, write them as raise and donk of a street"
            )
        shares = {"add_all_in": add_all_in, "force_all_in": force_all_in, "merge": merge}
        thresholds = MenuThresholds(**{key: parse_share(share, key) for key, share in shares.items()})
        if not isinstance(donk_bets, bool):
            raise InputError(f"donk_bets={short_repr(donk_bets)}: must be true or false")
        rules = parse_spot_rules(pot, stack, least_bet, rake_rules, raise_sizes, most_raises)
        sizes = None
        if not rules.limit:
            raise_limits = parse_raise_limits(raise_cap, most_raises)
            sizes = parse_spot_menu(bets, len(cards) - 2, raise_limits, thresholds, donk_bets)
        ranges = _parse_range(oop, "oop"), _parse_range(ip, "ip")
        return Spot(cards, rules, sizes, ranges, tuple(locks), deck, name, played, _parse_player(led))

    @staticmethod
    def at(
        state: BettingState,
        board: Cards,
        ranges: tuple[Range | str, Range | str],
        menu: ActionMenu | None = None,
        *,
        locks: Iterable[NodeLock] = (),
        name: str = "spot",
    ) -> Spot:
        """Make the spot of a betting state, from the flop on: its pot, stacks and bets.

        Ranges are those of seat 0 and seat 1. If a round is over and the board has the cards of the next one, the spot
        begins with that. A limit game needs no menu.

        Parameters
        ----------
        state
            Betting state from the flop on.
        board
            Cards on the board.
        ranges
            Ranges of seat 0 and seat 1, as ranges or as text.
        menu
            Bet sizes; None in a limit game.
        locks
            Strategies that are fixed at some decisions.
        name
            Name for messages and progress.
        """
        cards = _parse_board(board)
        rules = state.rules
        if rules.board != (0, 3, 1, 1) or rules.hole != 2 or any(rules.first[1:]):
            raise InputError(
                f"game {short_repr(rules.name)}: a spot must be hold'em in which seat 0 acts first from the flop on"
            )
        while state.actor == CHANCE and rules.board_sizes[state.street] < len(cards):
            state = state.next_street()
        where = f"the {rules.streets[state.street]} at {short_repr(state.line)}"
        if state.actor < 0:
            raise InputError(f"{where}: nobody is to act, so there is nothing to solve")
        if state.street == 0:
            raise InputError(
                f"{where}: spots begin on the flop or later; from the deal, train a blueprint or solve the game holdem"
            )
        if len(cards) != rules.board_sizes[state.street]:
            raise InputError(f"{where}: a board of {rules.board_sizes[state.street]} cards is needed, not {len(cards)}")
        if menu is None and not rules.limit:
            raise InputError(f"{where}: a no-limit game needs a menu of sizes, such as one_size_menu('100%')")
        spot_rules = rules_from_street(rules, state.committed_before_street)
        sizes = None
        if menu is not None and not rules.limit:
            sizes = drop_earlier_streets(cap_menu_raises(menu, rules), state.street)
        both = _parse_range(ranges[0], "oop"), _parse_range(ranges[1], "ip")
        played, led = street_actions(state), state.previous_aggressor
        spot = Spot(cards, spot_rules, sizes, both, tuple(locks), rules.deck, name, played, led)
        if (spot.start.pot, spot.start.turn) != (state.pot, state.turn):
            raise InputError(f"{where}: its line does not contain the actions of the street")
        return spot

    def lock(self, line: str, strategy: Mapping[str, float], hands: str | Range | None = None) -> Spot:
        """Return the spot with a fixed strategy at a line, for all hands or for some; omitted actions have probability
        0.

        Parameters
        ----------
        line
            Line to the decision, in which `*` is any card.
        strategy
            Probability of each action; those left out have probability 0.
        hands
            Hands that play it; None: all.
        """
        hand_range = _parse_range(hands, f"lock at {short_repr(line)}") if hands is not None else None
        locked = replace(self, locks=(*self.locks, NodeLock(line, tuple(strategy.items()), hand_range)))
        check_locks(locked)
        return locked

    def __post_init__(self) -> None:
        _check_board(self.board, self.deck)
        if self.rules.pot <= 0:
            raise InputError(f"pot={self.rules.pot}: must be above zero, since a spot is played for the pot")
        if not isinstance(self.played, str):
            raise InputError(f"played={short_repr(self.played)}: must be a text of moves, such as 'x-b120'")
        _ = self.start  # rejects illegal actions
        for player, name in enumerate(PLAYERS):
            if not self.ranges[player].weights.any():
                raise InputError(f"range of {name}: it has no hands; write hands such as QQ+, AKs or AsKs:0.5")
            if not self.weights[player].any():
                by = f"the board {format_cards(self.board)}" if self.deck == FULL_DECK else "the board and the deck"
                raise InputError(
                    f"range of {name}, {abbreviate_range(self.ranges[player])!r}: {by} blocks every hand in it"
                )
        unblocked = compatible_weights((self.weights[1] > 0).astype(float))  # number of hands that each hand can meet
        if not unblocked[self.weights[0] > 0].any():
            raise InputError(
                f"ranges oop {abbreviate_range(self.ranges[0])!r} and ip {abbreviate_range(self.ranges[1])!r}: "
                "every hand of one shares a card with every hand of the other; no deal is possible"
            )

    @cached_property
    def start(self) -> BettingState:
        """Betting state at the root."""
        street, book = len(self.board) - 2, self.rules.compact
        state = BettingState.at_street(self.rules, street)
        s = state.compact._replace(led=NOBODY if self.led is None else self.led)
        for label in self.played.split(STREET_NOTATION.joiner) if self.played else ():
            where = f"played {short_repr(self.played)}: {short_repr(label)}"
            move, (least, most) = STREET_NOTATION.parse(book, s, label), raise_bounds(book, s)
            # Putting the shorter stack all-in is legal even if the minimum raise is larger.
            least = min(least, self.rules.stack)
            if move is None or not is_action_allowed(call_amount(book, s), least, most, move):
                raise InputError(
                    f"{where} cannot be played there; write moves of the {STREETS[street - 1]}, such as x-b120"
                )
            s = apply_action(book, s, move)
            if s.over:
                raise InputError(f"{where} ends the street; begin the spot on the next one")
        return BettingState(self.rules, s)

    @property
    def pot(self) -> int:
        """Chips in the pot at the root."""
        return self.start.pot

    @property
    def behind(self) -> tuple[int, int]:
        """Chips that each player has behind at the root."""
        return self.start.behind

    @property
    def stack(self) -> int:
        """Chips that the player with the shorter stack has behind at the root."""
        return min(self.behind)

    @property
    def scale(self) -> tuple[str, float]:
        """Unit of exploitability, % of the pot at the root, and the factor from chips to it."""
        return "% of pot", 100.0 / self.pot

    @cached_property
    def deals(self) -> tuple[int, ...]:  # type: ignore[override]
        """Number of cards of each deal after the root: one for each remaining street."""
        return (1,) * (5 - len(self.board))

    @cached_property
    def weights(self) -> tuple[Array, Array]:  # type: ignore[override]
        """Weights of both ranges, zero for hands that the board or the deck rules out. float64 [1326] each"""
        cards = np.setdiff1d(self.deck.cards, self.board)
        live = np.isin(HAND_CARDS, cards).all(axis=1)
        first, second = (np.where(live, held.weights, 0.0) for held in self.ranges)
        return first, second

    @cached_property
    def betting(self) -> BettingTree:  # type: ignore[override]
        """The betting tree."""
        try:
            table_bytes = BYTES_PER_HAND * min(len(held) for held in self.hand_indices)
            return build_betting_tree(
                self.start, self.name, self.menu, notation=STREET_NOTATION, since_root=True, table_bytes=table_bytes
            )
        except MemoryLimitError as error:
            if self.menu is None:
                raise
            smaller = "fewer of them, a raise_cap or merge = '10%' make the tree smaller"
            raise MemoryLimitError(
                f"{error}: {describe_longest_list(self.menu, len(self.board) - 2)}; {smaller}"
            ) from None

    @property
    def streets(self) -> tuple[str, ...]:
        """Names of the streets with betting."""
        return STREETS[len(self.board) - 3 :]


# --- parsing ---


def _parse_board(board: Cards) -> tuple[int, ...]:
    cards = as_cards(board, "board")
    if len(cards) not in (3, 4, 5):
        written = board if isinstance(board, str) else format_cards(cards)
        raise InputError(f"board {short_repr(written)}: {len(cards)} cards; a flop has 3, a turn 4, a river 5")
    return cards


def _parse_range(given: str | Range, name: str) -> Range:
    if isinstance(given, Range):
        return given
    with located_errors(f"range of {name}"):
        return Range.parse(given)


def _parse_player(name: str | None) -> int | None:
    if name is not None and name not in PLAYERS:
        raise InputError(f"led={short_repr(name)}: {unknown_name_error('player', str(name), PLAYERS)}")
    return None if name is None else PLAYERS.index(name)


# --- validation ---


def _check_board(board: tuple[int, ...], deck: Deck) -> None:
    if len(board) not in (3, 4, 5):
        raise InputError(f"board of {len(board)} cards: a flop has 3, a turn 4, a river 5")
    for position, card in enumerate(board):
        name = card_name(card)
        if card in board[:position]:
            raise InputError(f"board {short_repr(format_cards(board))}: duplicate card {name}")
        if card not in deck.cards:
            raise InputError(f"board {short_repr(format_cards(board))}: {name} is not in this deck")
    if len(deck.cards) < 9:
        raise InputError(f"deck of {len(deck.cards)} cards: two hands and a board of five need 9")
