"""Menu syntax of spot files and `Spot.make`: bets, raises and donk bets of a street, for both players or for one.

    [bets]                                   # both players; [bets.oop] and [bets.ip] take precedence
    flop = { bet = "33%, 75%", raise = "45%" }
    turn = { bet = "55%", raise = ["45%", "a"], donk = "30%" }   # a list of raises: first, from the second on

Omitted streets repeat the last one given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from riverboat.core.errors import InputError, short_repr
from riverboat.core.schema import check_keys
from riverboat.games.holdem.bet_sizes import MenuThresholds
from riverboat.games.holdem.menus import SEATS, ActionMenu, MenuLevel, MenuLevels, parse_level, trim_repeats
from riverboat.games.holdem.rules import STREETS as ALL_STREETS

OOP, IP = 0, 1
PLAYERS = SEATS
STREETS = ALL_STREETS[1:]
_KEYS = ("bet", "raise", "donk")


@dataclass(frozen=True)
class _StreetSizes:
    """Bet sizes of one player on one street."""

    levels: MenuLevels = (MenuLevel(),)  # by raises so far; the last repeats
    donk: MenuLevel | None = None  # sizes of donk bets; None: no special sizes


def parse_spot_menu(
    bets: Mapping[str, Any],
    street: int,
    most_raises: tuple[int | None, ...],
    thresholds: MenuThresholds,
    donk_bets: bool,
) -> ActionMenu:
    """Parse the menu of a spot that begins on `street` (1 is the flop); `bets` is the table of a spot file."""
    check_keys(bets, (*STREETS, *PLAYERS), "bets")
    for key, table in bets.items():
        if not isinstance(table, Mapping):
            raise InputError(
                f'bets.{key} = {short_repr(table)}: must be a table such as {{ bet = "33%", raise = "45%" }}'
            )
    oop, ip = (_parse_streets(bets, player, street) for player in (OOP, IP))
    levels = [(own[0].levels,) * street + tuple(sizes.levels for sizes in own) for own in (oop, ip)]
    donks = (None,) * street + tuple(sizes.donk for sizes in oop)
    return drop_earlier_streets(
        ActionMenu((levels[OOP], levels[IP]), most_raises, thresholds, donks, donk_bets), street
    )


def drop_earlier_streets(menu: ActionMenu, street: int) -> ActionMenu:
    """Replace the streets of a menu before `street` by that street, so that equal menus compare equal."""
    levels = [trim_repeats([menu.levels_for(seat, max(number, street)) for number in range(4)]) for seat in (OOP, IP)]
    donks = [menu.donks[min(number, len(menu.donks) - 1)] if number >= street else None for number in range(4)]
    return replace(menu, levels=(levels[OOP], levels[IP]), donks=trim_repeats(donks))


def _parse_streets(bets: Mapping[str, Any], player: int, first: int) -> list[_StreetSizes]:
    """Parse the sizes of each street from `first` on: the player's own table, else that of both players."""
    own = bets.get(PLAYERS[player], {})
    check_keys(own, STREETS, f"bets.{PLAYERS[player]}")
    streets: list[_StreetSizes] = []
    last: _StreetSizes | None = None
    for number, street in enumerate(STREETS, 1):
        if street in own:
            last = _parse_street(own[street], f"bets.{PLAYERS[player]}.{street}", player)
        elif street in bets:
            last = _parse_street(bets[street], f"bets.{street}", None)
        if number >= first:
            if last is None and bets:
                raise InputError(
                    f"bets: no sizes for {PLAYERS[player]} on the {street}, where betting begins; "
                    f'give {street} = {{ bet = "50%" }}, or {street} = {{}} for none'
                )
            streets.append(last or _StreetSizes())
    return streets


def _parse_street(table: Any, where: str, player: int | None) -> _StreetSizes:
    if not isinstance(table, Mapping):
        raise InputError(f'{where} = {short_repr(table)}: must be a table such as {{ bet = "33%", raise = "45%" }}')
    check_keys(table, _KEYS, where)
    if "donk" in table and player == IP:
        raise InputError(f"{where}.donk: only oop bets into the aggressor; write it under bets.oop")
    donk = parse_level(table["donk"], f"{where}.donk", facing_bet=False) if "donk" in table else None
    raises = table.get("raise", "")
    texts = raises if isinstance(raises, list) and raises else [raises]
    levels = [parse_level(table.get("bet", ""), f"{where}.bet", facing_bet=False)]
    levels += [
        parse_level(text, f"{where}.raise" + (f"[{n}]" if len(texts) > 1 else ""), facing_bet=True)
        for n, text in enumerate(texts)
    ]
    return _StreetSizes(trim_repeats(levels), donk)


# --- formatting ---


def format_spot_menu(menu: ActionMenu, street: int) -> list[str]:
    """Format a menu as lines of a spot file that parse to the same menu."""
    oop, ip = ([menu.levels_for(player, number) for number in range(street, 4)] for player in (OOP, IP))
    donks = [menu.donks[min(number, len(menu.donks) - 1)] for number in range(street, 4)]
    first, second = _format_streets(oop, donks, street), _format_streets(ip, [None] * len(ip), street)
    return ["[bets]", *first] if oop == ip else ["[bets.oop]", *first, "[bets.ip]", *second]


def _format_streets(streets: list[MenuLevels], donks: list[MenuLevel | None], first: int) -> list[str]:
    lines, last = [], None
    for number, (levels, donk) in enumerate(zip(streets, donks, strict=True), first):
        bet, raises = str(levels[0]), [str(level) for level in levels[1:] or levels]
        parts = [f'bet = "{bet}"'] if bet else []
        if len(raises) > 1:
            parts.append("raise = [{}]".format(", ".join(f'"{text}"' for text in raises)))
        elif raises[0]:
            parts.append(f'raise = "{raises[0]}"')
        parts += [] if donk is None else [f'donk = "{donk}"']
        if parts != last:
            lines.append(
                f"{ALL_STREETS[number]} = {{ {', '.join(parts)} }}" if parts else f"{ALL_STREETS[number]} = {{}}"
            )
        last = parts
    return lines


def describe_longest_list(menu: ActionMenu, street: int) -> str:
    """Describe the decision with most bet sizes, from a street on, for messages about trees that are too large."""
    lists = [
        (len(level.sizes), f"{ALL_STREETS[number]} {'raises' if raised else 'bets'} of {PLAYERS[player]}")
        for player in (OOP, IP)
        for number in range(street, 4)
        for raised, level in enumerate(menu.levels_for(player, number))
    ]
    lists += [(len(donk.sizes), f"{ALL_STREETS[k]} donks of oop") for k, donk in enumerate(menu.donks) if donk]
    count, where = max(lists, key=lambda pair: pair[0])
    return f"the {where} have {count} sizes"
