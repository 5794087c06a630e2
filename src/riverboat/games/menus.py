"""Action menus of no-limit games: which sizes a seat may bet on each street, by the number of raises so far.

    [menu]
    preflop = ["2.5x, a", "3x, a", "a"]   # first raise, re-raise, from the third on; the last list repeats
    flop = ["50%, 100%", "100%, a"]       # first bet, from the first raise on
    turn = "100%, a"                      # one list for all; streets left out repeat the last one given
    most_raises = [4, 3, 2, 2]            # bets and raises of a street, or one number for all; without it, no end
    add_all_in = "150%"                   # thresholds of `sizes`: also force_all_in and merge
    [menu.ip]                             # where one seat differs: oop is seat 0, ip is seat 1, the dealer
    preflop = ["2x, 2.5x, a", "3x, a", "a"]

Sizes are those of `riverboat.games.sizes`, and `*` for every legal size. An empty list has no bet. Folding and calling are
always there. In limit games the menu is what the rules allow, and there is nothing to write.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias

from riverboat.errors import InputError, shown, unknown
from riverboat.games.acpc import STREETS, Rules
from riverboat.games.betting import Betting
from riverboat.games.sizes import (
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
from riverboat.texts import parse_toml, read_toml

SEATS = ("oop", "ip")
THRESHOLDS = tuple(field.name for field in fields(Thresholds))
EVERY = "*"


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

    def level(self, seat: int, street: int, raises: int) -> Level:
        """What a seat may bet after a number of raises."""
        streets = self.levels[seat]
        levels = streets[min(street, len(streets) - 1)]
        return levels[min(raises, len(levels) - 1)]

    def may_raise(self, street: int, raises: int) -> bool:
        """Whether one more raise is in the menu."""
        most = self.most_raises[min(street, len(self.most_raises) - 1)]
        return most is None or raises < most

    def __str__(self) -> str:
        return show_menu(self)


# --- chips ------------------------------------------------------------------------------------


def totals(menu: Menu | None, state: Betting) -> tuple[int, ...]:
    """Totals over the whole hand that a menu lets the actor raise to, ascending. A limit game needs no menu."""
    span = state.raise_range()
    if span is None:
        return ()
    if state.rules.limit:
        return (span.least,)
    if menu is None:
        raise no_menu(state.rules)
    if not menu.may_raise(state.street, state.raises):
        return ()
    level = menu.level(state.turn, state.street, state.raises)
    return resolve_level(level, state.situation, state.before, menu.thresholds)


def no_menu(rules: Rules) -> InputError:
    """What is said where a menu is missing."""
    return InputError(f"game {shown(rules.name)} is no-limit: it needs a menu of sizes, such as menus.one_size('100%')")


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
    _known(table, (*STREETS, *SEATS, "most_raises", *THRESHOLDS), where)
    by_seat = []
    for seat in SEATS:
        own = table.get(seat, {})
        if not isinstance(own, Mapping):
            raise InputError(f"{where}.{seat} = {shown(own)}: must be a table, [{where}.{seat}]")
        _known(own, STREETS, f"{where}.{seat}")
        by_seat.append(_streets(table, own, where, seat))
    shares = {key: parse_share(table[key], f"{where}.{key}") for key in THRESHOLDS if key in table}
    return Menu((by_seat[0], by_seat[1]), _most_raises(table.get("most_raises"), where), Thresholds(**shares))


def _known(table: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in keys:
            raise InputError(f"{where}: {unknown('key', key, keys)}")


def _streets(table: Mapping[str, Any], own: Mapping[str, Any], where: str, seat: str) -> tuple[Levels, ...]:
    """Levels of all streets for one seat; one left out is the last one given, by the seat or by both."""
    found: list[Levels] = []
    value, place, source = None, "", where
    for street, name in enumerate(STREETS):
        if name in own:
            value, place, source = own[name], f"{where}.{seat}.{name}", f"{where}.{seat}"
        elif name in table:
            value, place, source = table[name], f"{where}.{name}", where
        elif value is None:
            raise InputError(f'{where}: no {name} sizes; write {name} = "100%, a", or "" for no bets')
        repeated = "" if place == f"{source}.{name}" else f" (repeated on the {name})"
        found.append(_levels(value, place + repeated, facing=street == 0))
    while len(found) > 1 and found[-1] == found[-2]:  # one way to say it, so that equal menus are equal
        found.pop()
    return tuple(found)


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
        if text.strip() == EVERY:
            levels.append(Level(every=True))
        else:
            levels.append(Level(parse_sizes(text, place, raising=facing or raises > 0)))
    while len(levels) > 1 and levels[-1] == levels[-2]:
        levels.pop()
    return tuple(levels)


def _most_raises(value: Any, where: str) -> tuple[int | None, ...]:
    if value is None:
        return (None,)
    counts = [value] if isinstance(value, int) else value
    right = isinstance(counts, list) and 1 <= len(counts) <= len(STREETS)
    if not right or any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in counts):
        raise InputError(f"{where}.most_raises = {shown(value)}: write a whole number, or a list of them by street")
    while len(counts) > 1 and counts[-1] == counts[-2]:
        counts = counts[:-1]
    return tuple(counts)


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
