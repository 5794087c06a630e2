"""Action menus of no-limit games: the bet sizes of each seat on each street, by the number of raises so far.

    [menu]
    preflop = ["2.5x, a", "3x, a", "a"]   # first raise, re-raise, from the third on; the last list repeats
    flop = ["50%, 100%", "100%, a"]       # first bet, from the first raise on
    turn = "100%, a"                      # one list for all; omitted streets repeat the last one given
    most_raises = [4, 3, 2, 2]            # bets and raises per street, or one number for all; default: no limit
    add_all_in = "150%"                   # thresholds of `bet_sizes`: also force_all_in and merge
    donk_bets = false                     # the first to act never bets into the last street's aggressor; default: true
    [menu.donk]                           # sizes of such bets if they differ; omitted streets repeat the last one given
    turn = "33%"
    [menu.ip]                             # where one seat differs: oop is seat 0, ip is seat 1, the dealer
    preflop = ["2x, 2.5x, a", "3x, a", "a"]

Sizes are those of `riverboat.games.holdem.bet_sizes`, and `*` for every legal size. An empty list has no bet. Folding
and calling are always allowed. Limit games need no menu: the rules determine the sizes. Spot files have their own
syntax for the same menus (`riverboat.games.spots.menus`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from riverboat.core.errors import InputError, located_errors, short_repr
from riverboat.core.files import parse_toml, read_toml_text
from riverboat.core.schema import check_keys
from riverboat.games.holdem.bet_sizes import (
    NO_THRESHOLDS,
    BetSizes,
    MenuThresholds,
    SizingContext,
    format_share,
    format_sizes,
    min_raise_total,
    parse_share,
    parse_sizes,
    resolve_sizes,
)
from riverboat.games.holdem.betting import BettingState, sizing_context
from riverboat.games.holdem.betting_rules import CALL, FOLD, CompactBettingState, call_amount, raise_bounds
from riverboat.games.holdem.rules import STREETS, PokerRules

SEATS = ("oop", "ip")
THRESHOLDS = tuple(field.name for field in fields(MenuThresholds))
EVERY_SIZE = "*"
T = TypeVar("T")


@dataclass(frozen=True)
class MenuLevel:
    """Bet sizes that are allowed after a given number of raises on a street.

    Attributes
    ----------
    sizes
        Bet sizes.
    every_size
        `*`: all legal sizes.

    Examples
    --------
    >>> parse_level("50%, a", "menu", facing_bet=False).every_size
    False
    """

    sizes: BetSizes = ()
    every_size: bool = False  # `*`: all legal sizes

    def __str__(self) -> str:
        return EVERY_SIZE if self.every_size else format_sizes(self.sizes)


MenuLevels: TypeAlias = tuple[MenuLevel, ...]  # by raises so far on the street; the last repeats


@dataclass(frozen=True)
class ActionMenu:
    """Bet sizes by seat, street and raises so far. The last street given repeats.

    Attributes
    ----------
    levels
        By seat, then by street.
    most_raises
        By street: bets and raises, not counting blinds; the last repeats.
    thresholds
        Thresholds that add all-in or merge similar sizes.
    donks
        By street: sizes of bets into the last street's aggressor; None: no special sizes.
    donk_bets
        Whether such bets without special sizes are allowed like others.

    Examples
    --------
    >>> menu = menu_from_table({"preflop": ["2.5x", "a"], "flop": "50%, 100%"})
    >>> len(menu.levels_for(0, 1))
    1
    """

    levels: tuple[tuple[MenuLevels, ...], tuple[MenuLevels, ...]]  # by seat, then by street
    most_raises: tuple[int | None, ...] = (None,)  # by street: bets and raises, not counting blinds; the last repeats
    thresholds: MenuThresholds = NO_THRESHOLDS
    # by street: sizes of bets into the last street's aggressor; None: no special sizes
    donks: tuple[MenuLevel | None, ...] = (None,)
    donk_bets: bool = True  # whether such bets without special sizes are allowed like others

    def level_for(self, seat: int, street: int, raises: int, donk: bool = False) -> MenuLevel:
        """Return the sizes of a seat after `raises` raises.

        `donk`: the seat acts first, and the opponent was the aggressor on the previous street.

        Parameters
        ----------
        seat
            Seat: 0 has the big blind, 1 is the dealer.
        street
            Betting round, from 0.
        raises
            Bets and raises of the street so far.
        donk
            Whether the seat acts first and the opponent was the aggressor on the previous street.
        """
        if donk:
            donk_level = self.donks[min(street, len(self.donks) - 1)]
            if donk_level is not None:
                return donk_level
            if not self.donk_bets:
                return MenuLevel()
        levels = self.levels_for(seat, street)
        return levels[min(raises, len(levels) - 1)]

    def levels_for(self, seat: int, street: int) -> MenuLevels:
        """Return the sizes of a seat on a street, by raises so far.

        Parameters
        ----------
        seat
            Seat: 0 has the big blind, 1 is the dealer.
        street
            Betting round, from 0.
        """
        streets = self.levels[seat]
        return streets[min(street, len(streets) - 1)]

    def allows_raise(self, street: int, raises: int) -> bool:
        """Return whether the menu allows one more raise.

        Parameters
        ----------
        street
            Betting round, from 0.
        raises
            Bets and raises of the street so far.
        """
        most = self.most_raises[min(street, len(self.most_raises) - 1)]
        return most is None or raises < most

    @property
    def depends_on_aggressor(self) -> bool:
        """Whether bets into the last street's aggressor differ from others."""
        return not self.donk_bets or self.donks != (None,)

    def __str__(self) -> str:
        return format_menu(self)


# --- actions ---


class MenuActions:
    """Actions that rules and a menu allow in each state, cached for equivalent states.

    Parameters
    ----------
    rules
        Rules of the game.
    menu
        Bet sizes; None in a limit game.

    Raises
    ------
    InputError
        If a no-limit game has no menu. That of a limit game is ignored.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> rules = read_game("nolimit-200bb")
    >>> MenuActions(rules, one_size_menu("100%")).actions(BettingState.from_line(rules, "cr300c/").compact)
    (0, 900)
    """

    def __init__(self, rules: PokerRules, menu: ActionMenu | None) -> None:
        if menu is None and not rules.limit:
            raise InputError(
                f"game {short_repr(rules.name)} is no-limit: it needs a menu of sizes, such as one_size_menu('100%')"
            )
        self.rules, self.menu = rules, None if rules.limit else menu
        self.depends_on_aggressor = self.menu is not None and self.menu.depends_on_aggressor
        self._cache: dict[tuple[int, ...], tuple[int, ...]] = {}

    def actions(self, s: CompactBettingState) -> tuple[int, ...]:
        """Return fold, call, then totals over the whole hand, ascending.

        Parameters
        ----------
        s
            Betting state, `state.compact`.
        """
        totals = self.raise_totals(s)
        return (FOLD, CALL, *totals) if call_amount(self.rules.compact, s) else (CALL, *totals)

    def raise_totals(self, s: CompactBettingState) -> tuple[int, ...]:
        """Return the totals over the whole hand that the actor may raise to, ascending.

        Parameters
        ----------
        s
            Betting state, `state.compact`.
        """
        spent0, spent1, turn, street, raises, acted, last, before, _, led = s
        donk = self.depends_on_aggressor and acted == 0 and led == 1 - turn
        key = (spent0 if spent0 > spent1 else spent1, turn, street, raises, last, before, donk)
        totals = self._cache.get(key)
        if totals is None:
            totals = self._cache[key] = self._compute_raise_totals(s, donk)
        return totals

    def _compute_raise_totals(self, s: CompactBettingState, donk: bool) -> tuple[int, ...]:
        rules, menu = self.rules, self.menu
        least, most = raise_bounds(rules.compact, s)
        if most < least:
            return ()
        if menu is None:
            return (least if rules.stacks is None else min(least, rules.stack),)
        if not menu.allows_raise(s.street, s.raises):
            return ()
        level = menu.level_for(s.turn, s.street, s.raises, donk)
        return resolve_level(level, sizing_context(rules, s), s.before, menu.thresholds)


def menu_raise_totals(menu: ActionMenu | None, state: BettingState) -> tuple[int, ...]:
    """Return the totals over the whole hand that a menu lets the actor raise to, ascending. A limit game needs no menu.

    Parameters
    ----------
    menu
        Bet sizes; None in a limit game.
    state
        Betting state.

    Returns
    -------
    tuple[int, ...]
        The totals over the whole hand that a menu lets the actor raise to, ascending.

    Raises
    ------
    InputError
        If a no-limit game has no menu.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> menu_raise_totals(one_size_menu("50%"), BettingState.from_line(read_game("nolimit-200bb"), "cr300c/"))
    (600,)
    """
    return MenuActions(state.rules, menu).raise_totals(state.compact) if state.actor >= 0 else ()


def resolve_level(
    level: MenuLevel, at: SizingContext, before: int, thresholds: MenuThresholds = NO_THRESHOLDS
) -> tuple[int, ...]:
    """Return the totals over the whole hand for the sizes of a level.

    Parameters
    ----------
    level
        Bet sizes.
    at
        Amounts that the sizes refer to.
    before
        Chips that each seat put in before the street.
    thresholds
        Thresholds that add all-in or merge similar sizes.

    Returns
    -------
    tuple[int, ...]
        The totals over the whole hand for the sizes of a level.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> state = BettingState.from_line(read_game("nolimit-200bb"), "cr300c/")
    >>> resolve_level(parse_level("50%, 100%", "menu", facing_bet=False), state.sizing_context, 300)
    (600, 900)
    """
    if not level.every_size:
        return tuple(before + total for total in resolve_sizes(level.sizes, at, thresholds))
    return tuple(range(before + min_raise_total(at), before + at.stack + 1)) if at.bet_faced < at.stack else ()


# --- parsing ---


def load_menu(path: str | Path) -> ActionMenu:
    """Read a menu from a TOML file, under [menu] or at the top level.

    Parameters
    ----------
    path
        TOML file.

    Returns
    -------
    ActionMenu
        The menu.

    Raises
    ------
    InputError
        If the file cannot be read or is invalid.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "menu.toml")
    >>> _ = path.write_text('preflop = "100%, a"')
    >>> load_menu(path) == parse_menu('preflop = "100%, a"')
    True
    """
    path = Path(path)
    text = read_toml_text(path, "menu file")
    with located_errors(path):
        return parse_menu(text)


def parse_menu(text: str) -> ActionMenu:
    """Parse a menu from TOML, under [menu] or at the top level.

    Parameters
    ----------
    text
        Text of a menu in TOML.

    Returns
    -------
    ActionMenu
        The menu.

    Raises
    ------
    InputError
        If the text is invalid.

    Examples
    --------
    >>> parse_menu('preflop = "100%, a"').donk_bets
    True
    """
    table = parse_toml(text)
    return menu_from_table(table.get("menu", table))


def menu_from_table(table: Any, where: str = "menu") -> ActionMenu:
    """Make a menu from a table as in the TOML above.

    Parameters
    ----------
    table
        Entries of a menu, as in its TOML file.
    where
        Name of the value in messages.

    Returns
    -------
    ActionMenu
        The menu.

    Raises
    ------
    InputError
        If an entry is unknown or invalid.

    Examples
    --------
    >>> menu_from_table({"preflop": "100%", "most_raises": 2}).most_raises
    (2,)
    """
    if not isinstance(table, Mapping):
        raise InputError(f"{where} = {short_repr(table)}: must be a table, [{where}]")
    check_keys(table, (*STREETS, *SEATS, "most_raises", "donk", "donk_bets", *THRESHOLDS), where)
    by_seat = []
    for seat in SEATS:
        own = table.get(seat, {})
        if not isinstance(own, Mapping):
            raise InputError(f"{where}.{seat} = {short_repr(own)}: must be a table, [{where}.{seat}]")
        check_keys(own, STREETS, f"{where}.{seat}")
        by_seat.append(_parse_streets(table, own, where, seat))
    shares = {key: parse_share(table[key], f"{where}.{key}") for key in THRESHOLDS if key in table}
    most, donk_bets = parse_most_raises(table.get("most_raises"), where), table.get("donk_bets", True)
    if not isinstance(donk_bets, bool):
        raise InputError(f"{where}.donk_bets = {short_repr(donk_bets)}: must be true or false")
    return ActionMenu(
        (by_seat[0], by_seat[1]), most, MenuThresholds(**shares), _parse_donks(table.get("donk", {}), where), donk_bets
    )


def _parse_donks(table: Any, where: str) -> tuple[MenuLevel | None, ...]:
    """Parse the sizes of bets into the last street's aggressor, from the flop on."""
    if not isinstance(table, Mapping):
        raise InputError(f"{where}.donk = {short_repr(table)}: must be a table, [{where}.donk]")
    check_keys(table, STREETS[1:], f"{where}.donk")
    levels: list[MenuLevel | None] = [None]
    for name in STREETS[1:]:
        key = f"{where}.donk.{name}"
        levels.append(parse_level(table[name], key, facing_bet=False) if name in table else levels[-1])
    return trim_repeats(levels)


def parse_level(text: Any, where: str, *, facing_bet: bool) -> MenuLevel:
    """Parse sizes, or `*`. `facing_bet`: whether a bet is faced.

    Parameters
    ----------
    text
        Sizes separated by commas, or `*`.
    where
        Name of the value in messages.
    facing_bet
        Whether a bet is faced, so that multiples such as `2.5x` are allowed.

    Returns
    -------
    MenuLevel
        The sizes.

    Raises
    ------
    InputError
        If a size is invalid.

    Examples
    --------
    >>> parse_level("*", "menu", facing_bet=False).every_size
    True
    """
    if isinstance(text, str) and text.strip() == EVERY_SIZE:
        return MenuLevel(every_size=True)
    return MenuLevel(parse_sizes(text, where, facing_bet=facing_bet))


def trim_repeats(entries: Sequence[T]) -> tuple[T, ...]:
    """Remove repetitions of the last entry, so that equal menus compare equal.

    Parameters
    ----------
    entries
        Entries, at least one.

    Returns
    -------
    tuple[T, ...]
        The entries up to the first from which on all are equal.

    Examples
    --------
    >>> trim_repeats([1, 2, 3, 3, 3])
    (1, 2, 3)
    """
    end = len(entries)
    while end > 1 and entries[end - 1] == entries[end - 2]:
        end -= 1
    return tuple(entries[:end])


def _parse_streets(table: Mapping[str, Any], own: Mapping[str, Any], where: str, seat: str) -> tuple[MenuLevels, ...]:
    """Parse the levels of all streets for one seat; `own` has its entries, `table` those of both seats.

    The seat's entries take precedence. An omitted street repeats the last one given.
    """
    streets: list[MenuLevels] = []
    value, key, source = None, "", where
    for street, name in enumerate(STREETS):
        if name in own:
            value, key, source = own[name], f"{where}.{seat}.{name}", f"{where}.{seat}"
        elif name in table:
            value, key, source = table[name], f"{where}.{name}", where
        elif value is None:
            raise InputError(f'{where}: no {name} sizes; write {name} = "100%, a", or "" for no bets')
        repeated = "" if key == f"{source}.{name}" else f" (repeated on the {name})"
        streets.append(_parse_levels(value, key + repeated, facing_bet=street == 0))
    return trim_repeats(streets)


def _parse_levels(value: Any, where: str, facing_bet: bool) -> MenuLevels:
    """Parse the levels of one street: a text of sizes, or a list of texts by raises so far.

    `facing_bet`: whether there is a bet before the first raise, such as the big blind.
    """
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise InputError(
            f'{where} = {short_repr(value)}: write sizes as a text, "50%, a", or a list of them by raises so far'
        )
    levels = []
    for raises, text in enumerate(texts):
        key = f"{where}[{raises}]" if len(texts) > 1 else where
        levels.append(parse_level(text, key, facing_bet=facing_bet or raises > 0))
    return trim_repeats(levels)


def parse_most_raises(value: Any, where: str) -> tuple[int | None, ...]:
    """Parse the maximum of bets and raises by street: an integer, or a list of them.

    Parameters
    ----------
    value
        An integer, or a list by street.
    where
        Name of the value in messages.

    Returns
    -------
    tuple[int | None, ...]
        Maximum by street; None: unlimited.

    Raises
    ------
    InputError
        If the value is invalid.

    Examples
    --------
    >>> parse_most_raises([1, 3], "most_raises")
    (1, 3)
    """
    if value is None:
        return (None,)
    counts = [value] if isinstance(value, int) else value
    is_list = isinstance(counts, list) and 1 <= len(counts) <= len(STREETS)
    if not is_list or any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in counts):
        raise InputError(
            f"{where}.most_raises = {short_repr(value)}: write a whole number, or a list of them by street"
        )
    return trim_repeats(counts)


# --- formatting ---


def format_menu(menu: ActionMenu) -> str:
    """Format a menu as TOML that parses to the same menu.

    Parameters
    ----------
    menu
        Bet sizes; None in a limit game.

    Returns
    -------
    str
        The menu as TOML.

    Examples
    --------
    >>> parse_menu(format_menu(one_size_menu("75%"))) == one_size_menu("75%")
    True
    """
    oop, ip = menu.levels
    lines = ["[menu]", *(f"{STREETS[street]} = {_format_levels(levels)}" for street, levels in enumerate(oop))]
    if menu.most_raises != (None,):
        most = menu.most_raises
        lines.append(f"most_raises = {most[0] if len(most) == 1 else json.dumps(most)}")
    shares = {key: getattr(menu.thresholds, key) for key in THRESHOLDS}
    lines += [f'{key} = "{format_share(share)}"' for key, share in shares.items() if share]
    lines += [] if menu.donk_bets else ["donk_bets = false"]
    if menu.donks != (None,):
        lines += ["[menu.donk]", *(f'{STREETS[k]} = "{own}"' for k, own in enumerate(menu.donks) if own is not None)]
    if ip != oop:
        # The last street repeats up to those that the other seat names, which would override a repeated street.
        extended = ip + (ip[-1],) * (len(oop) - len(ip))
        lines += ["[menu.ip]", *(f"{STREETS[k]} = {_format_levels(levels)}" for k, levels in enumerate(extended))]
    return "\n".join([*lines, ""])


def _format_levels(levels: MenuLevels) -> str:
    """Format levels as a TOML list by raises so far, or as one text if there is only one level."""
    quoted = [f'"{level}"' for level in levels]
    return quoted[0] if len(quoted) == 1 else f"[{', '.join(quoted)}]"


# --- presets ---


def one_size_menu(size: str = "100%", most_raises: int | None = None) -> ActionMenu:
    """Make a menu with one bet size on all streets, and at most `most_raises` raises per street.

    Parameters
    ----------
    size
        Bet size such as `100%`, `2.5x` or `a`.
    most_raises
        Maximum of bets and raises per street; None: unlimited.

    Returns
    -------
    ActionMenu
        The menu.

    Examples
    --------
    >>> one_size_menu("100%", 2).most_raises
    (2,)
    """
    table: dict[str, Any] = {"preflop": size}
    return menu_from_table(table if most_raises is None else {**table, "most_raises": most_raises})


def every_size_menu() -> ActionMenu:
    """Make a menu of all legal sizes, for games with few chips.

    Returns
    -------
    ActionMenu
        The menu.

    Examples
    --------
    >>> every_size_menu().level_for(0, 0, 0).every_size
    True
    """
    return menu_from_table({"preflop": EVERY_SIZE})
