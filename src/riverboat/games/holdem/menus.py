"""Action menus of no-limit games: which sizes a seat may bet on each street, by the number of raises so far.

    [menu]
    preflop = ["2.5x, a", "3x, a", "a"]   # first raise, re-raise, from the third on; the last list repeats
    flop = ["50%, 100%", "100%, a"]       # first bet, from the first raise on
    turn = "100%, a"                      # one list for all; streets left out repeat the last one given
    most_raises = [4, 3, 2, 2]            # bets and raises of a street, or one number for all; without it, no end
    add_all_in = "150%"                   # thresholds of `sizes`: also force_all_in and merge
    donk_bets = false                     # the first to speak does not bet into the last street's aggressor; else as usual
    [menu.donk]                           # unless it has sizes for that; streets left out repeat the last one given
    turn = "33%"
    [menu.ip]                             # where one seat differs: oop is seat 0, ip is seat 1, the dealer
    preflop = ["2x, 2.5x, a", "3x, a", "a"]

Sizes are those of `riverboat.games.holdem.bet_sizes`, and `*` for every legal size. An empty list has no bet. Folding and calling are
always there. In limit games the menu is what the rules allow, and there is nothing to write. Spot files write the same
menus in their own way (`spot_menus`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from riverboat.core.errors import InputError, shown, unknown
from riverboat.core.text_files import parse_toml, read_toml
from riverboat.games.holdem.bet_sizes import (
    NO_THRESHOLDS,
    Situation,
    Sizes,
    Thresholds,
    least_total,
    parse_share,
    parse_sizes,
    resolve,
    show_share,
    show_sizes,
)
from riverboat.games.holdem.betting import Betting, situation_of
from riverboat.games.holdem.betting_rules import CALL, FOLD, State, price, span
from riverboat.games.holdem.rules import STREETS, Rules

SEATS = ("oop", "ip")
THRESHOLDS = tuple(field.name for field in fields(Thresholds))
EVERY = "*"
Entry = TypeVar("Entry")


@dataclass(frozen=True)
class Level:
    """Sizes of one number of raises."""

    sizes: Sizes = ()
    every: bool = False  # *: all legal sizes

    def __str__(self) -> str:
        return EVERY if self.every else show_sizes(self.sizes)


Levels: TypeAlias = tuple[Level, ...]  # by raises so far on the street; the last repeats


@dataclass(frozen=True)
class Menu:
    """Sizes by seat, street and raises so far. Streets beyond the last one given repeat it."""

    levels: tuple[tuple[Levels, ...], tuple[Levels, ...]]  # by seat, then by street
    most_raises: tuple[int | None, ...] = (None,)  # by street: bets and raises, blinds are none; the last repeats
    thresholds: Thresholds = NO_THRESHOLDS
    donks: tuple[Level | None, ...] = (
        None,
    )  # by street: bets into the last street's aggressor; None: none of their own
    donk_bets: bool = True  # without sizes of their own, whether such bets are as usual

    def level(self, seat: int, street: int, raises: int, donk: bool = False) -> Level:
        """What a seat may bet after a number of raises. `donk`: it speaks first, and the other led on the street before."""
        if donk:
            own = self.donks[min(street, len(self.donks) - 1)]
            if own is not None:
                return own
            if not self.donk_bets:
                return Level()
        levels = self.of(seat, street)
        return levels[min(raises, len(levels) - 1)]

    def of(self, seat: int, street: int) -> Levels:
        """What a seat may bet on a street, by raises so far."""
        streets = self.levels[seat]
        return streets[min(street, len(streets) - 1)]

    def may_raise(self, street: int, raises: int) -> bool:
        """Whether one more raise is in the menu."""
        most = self.most_raises[min(street, len(self.most_raises) - 1)]
        return most is None or raises < most

    @property
    def asks_who_led(self) -> bool:
        """Whether bets into the last street's aggressor differ from others."""
        return not self.donk_bets or self.donks != (None,)

    def __str__(self) -> str:
        return show_menu(self)


# --- chips ------------------------------------------------------------------------------------


class Choices:
    """The moves that rules and a menu allow in each state, worked out once for all states that are alike."""

    def __init__(self, rules: Rules, menu: Menu | None) -> None:
        if menu is None and not rules.limit:
            raise InputError(
                f"game {shown(rules.name)} is no-limit: it needs a menu of sizes, such as menus.one_size('100%')"
            )
        self.rules, self.menu = rules, None if rules.limit else menu
        self.asks_who_led = self.menu is not None and self.menu.asks_who_led
        self._known: dict[tuple[int, ...], tuple[int, ...]] = {}

    def moves(self, s: State) -> tuple[int, ...]:
        """Fold, call, then totals over the whole hand, ascending."""
        return (FOLD, CALL, *self.totals(s)) if price(self.rules.book, s) else (CALL, *self.totals(s))

    def totals(self, s: State) -> tuple[int, ...]:
        """Totals over the whole hand that the actor may raise to, ascending."""
        spent0, spent1, turn, street, raises, acted, last, before, _, led = s
        donk = self.asks_who_led and acted == 0 and led == 1 - turn
        key = (spent0 if spent0 > spent1 else spent1, turn, street, raises, last, before, donk)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._totals(s, donk)
        return known

    def _totals(self, s: State, donk: bool) -> tuple[int, ...]:
        rules, menu = self.rules, self.menu
        least, most = span(rules.book, s)
        if most < least:
            return ()
        if menu is None:
            return (least if rules.stacks is None else min(least, rules.stack),)
        if not menu.may_raise(s.street, s.raises):
            return ()
        level = menu.level(s.turn, s.street, s.raises, donk)
        return resolve_level(level, situation_of(rules, s), s.before, menu.thresholds)


def totals(menu: Menu | None, state: Betting) -> tuple[int, ...]:
    """Totals over the whole hand that a menu lets the actor raise to, ascending. A limit game needs no menu."""
    return Choices(state.rules, menu).totals(state.at) if state.actor >= 0 else ()


def resolve_level(level: Level, at: Situation, before: int, thresholds: Thresholds = NO_THRESHOLDS) -> tuple[int, ...]:
    """Totals over the whole hand for the sizes of a level."""
    if not level.every:
        return tuple(before + total for total in resolve(level.sizes, at, thresholds))
    return tuple(range(before + least_total(at), before + at.stack + 1)) if at.faced < at.stack else ()


# --- reading ----------------------------------------------------------------------------------


def load_menu(path: str | Path) -> Menu:
    """The menu in a TOML file, under [menu] or alone."""
    path = Path(path)
    text = read_toml(path, "menu file")
    try:
        return parse_menu(text)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def parse_menu(text: str) -> Menu:
    """A menu from TOML, under [menu] or alone."""
    table = parse_toml(text)
    return menu_from(table.get("menu", table))


def menu_from(table: Any, where: str = "menu") -> Menu:
    """A menu from a table, as the TOML above reads."""
    if not isinstance(table, Mapping):
        raise InputError(f"{where} = {shown(table)}: must be a table, [{where}]")
    _known(table, (*STREETS, *SEATS, "most_raises", "donk", "donk_bets", *THRESHOLDS), where)
    by_seat = []
    for seat in SEATS:
        own = table.get(seat, {})
        if not isinstance(own, Mapping):
            raise InputError(f"{where}.{seat} = {shown(own)}: must be a table, [{where}.{seat}]")
        _known(own, STREETS, f"{where}.{seat}")
        by_seat.append(_streets(table, own, where, seat))
    shares = {key: parse_share(table[key], f"{where}.{key}") for key in THRESHOLDS if key in table}
    most, donk_bets = most_raises(table.get("most_raises"), where), table.get("donk_bets", True)
    if not isinstance(donk_bets, bool):
        raise InputError(f"{where}.donk_bets = {shown(donk_bets)}: must be true or false")
    return Menu((by_seat[0], by_seat[1]), most, Thresholds(**shares), _donks(table.get("donk", {}), where), donk_bets)


def _donks(table: Any, where: str) -> tuple[Level | None, ...]:
    """Sizes of bets into the last street's aggressor, from the flop on."""
    if not isinstance(table, Mapping):
        raise InputError(f"{where}.donk = {shown(table)}: must be a table, [{where}.donk]")
    _known(table, STREETS[1:], f"{where}.donk")
    levels: list[Level | None] = [None]
    for name in STREETS[1:]:
        place = f"{where}.donk.{name}"
        levels.append(parse_level(table[name], place, raising=False) if name in table else levels[-1])
    return trimmed(levels)


def parse_level(text: Any, where: str, *, raising: bool) -> Level:
    """Sizes, or `*`. `raising`: whether a bet is faced."""
    if isinstance(text, str) and text.strip() == EVERY:
        return Level(every=True)
    return Level(parse_sizes(text, where, raising=raising))


def trimmed(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Without repetitions of the last entry: one way to say it, so that equal menus are equal."""
    end = len(entries)
    while end > 1 and entries[end - 1] == entries[end - 2]:
        end -= 1
    return tuple(entries[:end])


def _known(table: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in keys:
            raise InputError(f"{where}: {unknown('key', key, keys)}")


def _streets(table: Mapping[str, Any], own: Mapping[str, Any], where: str, seat: str) -> tuple[Levels, ...]:
    """Levels of all streets for one seat; one left out is the last one given, by the seat or by both."""
    streets: list[Levels] = []
    value, place, source = None, "", where
    for street, name in enumerate(STREETS):
        if name in own:
            value, place, source = own[name], f"{where}.{seat}.{name}", f"{where}.{seat}"
        elif name in table:
            value, place, source = table[name], f"{where}.{name}", where
        elif value is None:
            raise InputError(f'{where}: no {name} sizes; write {name} = "100%, a", or "" for no bets')
        repeated = "" if place == f"{source}.{name}" else f" (repeated on the {name})"
        streets.append(_levels(value, place + repeated, facing=street == 0))
    return trimmed(streets)


def _levels(value: Any, where: str, facing: bool) -> Levels:
    """Levels of one street. `facing`: whether there is a bet to multiply before the first raise: the big blind."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise InputError(
            f'{where} = {shown(value)}: write sizes as a text, "50%, a", or a list of them by raises so far'
        )
    levels = []
    for raises, text in enumerate(texts):
        place = f"{where}[{raises}]" if len(texts) > 1 else where
        levels.append(parse_level(text, place, raising=facing or raises > 0))
    return trimmed(levels)


def most_raises(value: Any, where: str) -> tuple[int | None, ...]:
    """Bets and raises of a street, by street: a whole number, or a list of them."""
    if value is None:
        return (None,)
    counts = [value] if isinstance(value, int) else value
    right = isinstance(counts, list) and 1 <= len(counts) <= len(STREETS)
    if not right or any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in counts):
        raise InputError(f"{where}.most_raises = {shown(value)}: write a whole number, or a list of them by street")
    return trimmed(counts)


# --- writing ----------------------------------------------------------------------------------


def show_menu(menu: Menu) -> str:
    """The TOML that reads as the same menu."""
    oop, ip = menu.levels
    lines = ["[menu]", *(f"{STREETS[street]} = {_show(levels)}" for street, levels in enumerate(oop))]
    if menu.most_raises != (None,):
        most = menu.most_raises
        lines.append(f"most_raises = {most[0] if len(most) == 1 else json.dumps(most)}")
    lines += [
        f'{key} = "{show_share(getattr(menu.thresholds, key))}"' for key in THRESHOLDS if getattr(menu.thresholds, key)
    ]
    lines += [] if menu.donk_bets else ["donk_bets = false"]
    if menu.donks != (None,):
        lines += ["[menu.donk]", *(f'{STREETS[k]} = "{own}"' for k, own in enumerate(menu.donks) if own is not None)]
    if ip != oop:
        lines += [
            "[menu.ip]",
            *(f"{STREETS[street]} = {_show(levels)}" for street, levels in enumerate(_spread(ip, oop))),
        ]
    return "\n".join([*lines, ""])


def _spread(own: tuple[Levels, ...], other: tuple[Levels, ...]) -> tuple[Levels, ...]:
    """As many streets as the other seat names, since a street that it names would go before a repeated one."""
    return own + (own[-1],) * (len(other) - len(own))


def _show(levels: Levels) -> str:
    """A list by raises, or one text where it is the same for all."""
    quoted = [f'"{level}"' for level in levels]
    return quoted[0] if len(quoted) == 1 else f"[{', '.join(quoted)}]"


# --- presets ----------------------------------------------------------------------------------


def one_size(size: str = "100%", most_raises: int | None = None) -> Menu:
    """One bet size on all streets, and as many raises a street as wanted."""
    table: dict[str, Any] = {"preflop": size}
    return menu_from(table if most_raises is None else {**table, "most_raises": most_raises})


def every_size() -> Menu:
    """All legal sizes: for games with few chips."""
    return menu_from({"preflop": EVERY})
