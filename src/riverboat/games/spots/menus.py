"""How spot files and `Spot.make` write a menu: bets, raises and donk bets of a street, for both players or for one.

    [bets]                                   # both players; [bets.oop] and [bets.ip] go before it
    flop = { bet = "33%, 75%", raise = "45%" }
    turn = { bet = "55%", raise = ["45%", "a"], donk = "30%" }   # a list of raises: first, from the second on

Streets left out repeat the last one given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from riverboat.core.errors import InputError, shown, unknown
from riverboat.games.holdem.bet_sizes import Thresholds
from riverboat.games.holdem.menus import SEATS, Level, Levels, Menu, parse_level, trimmed
from riverboat.games.holdem.rules import STREETS as ALL_STREETS

OOP, IP = 0, 1
PLAYERS = SEATS
STREETS = ALL_STREETS[1:]
_KEYS = ("bet", "raise", "donk")


@dataclass(frozen=True)
class _Street:
    """Sizes of one player on one street."""

    levels: Levels = (Level(),)
    donk: Level | None = None


def read_menu(
    bets: Mapping[str, Any],
    street: int,
    most_raises: tuple[int | None, ...],
    thresholds: Thresholds,
    donk_bets: bool,
) -> Menu:
    """The menu of a spot that begins on a street, 1 being the flop."""
    for key, table in bets.items():
        if key not in (*STREETS, *PLAYERS):
            raise _wrong("bets", unknown("key", str(key), (*STREETS, *PLAYERS)))
        if not isinstance(table, Mapping):
            raise InputError(f'bets.{key} = {shown(table)}: must be a table such as {{ bet = "33%", raise = "45%" }}')
    oop, ip = (_streets(bets, player, street) for player in (OOP, IP))
    levels = [(own[0].levels,) * street + tuple(one.levels for one in own) for own in (oop, ip)]
    donks = (None,) * street + tuple(one.donk for one in oop)
    return from_street(Menu((levels[OOP], levels[IP]), most_raises, thresholds, donks, donk_bets), street)


def from_street(menu: Menu, street: int) -> Menu:
    """A menu without what it says of streets before one: they repeat that one, so that equal menus are equal."""
    levels = [trimmed([menu.of(seat, max(number, street)) for number in range(4)]) for seat in (OOP, IP)]
    donks = [menu.donks[min(number, len(menu.donks) - 1)] if number >= street else None for number in range(4)]
    return replace(menu, levels=(levels[OOP], levels[IP]), donks=trimmed(donks))


def _streets(bets: Mapping[str, Any], player: int, first: int) -> list[_Street]:
    """What a player's own table says, else the shared one, for each street that is bet on."""
    own = bets.get(PLAYERS[player], {})
    for street in own:
        if street not in STREETS:
            raise _wrong(f"bets.{PLAYERS[player]}", unknown("street", str(street), STREETS))
    streets: list[_Street] = []
    last: _Street | None = None
    for number, street in enumerate(STREETS, 1):
        if street in own:
            last = _street(own[street], f"bets.{PLAYERS[player]}.{street}", player)
        elif street in bets:
            last = _street(bets[street], f"bets.{street}", None)
        if number >= first:
            if last is None and bets:
                raise InputError(
                    f"bets: no sizes for {PLAYERS[player]} on the {street}, where betting begins; "
                    f'give {street} = {{ bet = "50%" }}, or {street} = {{}} for none'
                )
            streets.append(last or _Street())
    return streets


def _street(table: Any, where: str, player: int | None) -> _Street:
    if not isinstance(table, Mapping):
        raise InputError(f'{where} = {shown(table)}: must be a table such as {{ bet = "33%", raise = "45%" }}')
    for key in table:
        if key not in _KEYS:
            raise _wrong(where, unknown("key", str(key), _KEYS))
    if "donk" in table and player == IP:
        raise InputError(f"{where}.donk: only oop bets into the aggressor; write it under bets.oop")
    donk = parse_level(table["donk"], f"{where}.donk", raising=False) if "donk" in table else None
    raises = table.get("raise", "")
    texts = raises if isinstance(raises, list) and raises else [raises]
    levels = [parse_level(table.get("bet", ""), f"{where}.bet", raising=False)]
    levels += [
        parse_level(text, f"{where}.raise" + (f"[{n}]" if len(texts) > 1 else ""), raising=True)
        for n, text in enumerate(texts)
    ]
    return _Street(trimmed(levels), donk)


def _wrong(where: str, error: InputError) -> InputError:
    return InputError(f"{where}: {error}")


# --- writing ----------------------------------------------------------------------------------


def write_menu(menu: Menu, street: int) -> list[str]:
    """Lines of a file that read as the same menu."""
    oop, ip = ([menu.of(player, number) for number in range(street, 4)] for player in (OOP, IP))
    donks = [menu.donks[min(number, len(menu.donks) - 1)] for number in range(street, 4)]
    first, second = _write(oop, donks, street), _write(ip, [None] * len(ip), street)
    return ["[bets]", *first] if oop == ip else ["[bets.oop]", *first, "[bets.ip]", *second]


def _write(streets: list[Levels], donks: list[Level | None], first: int) -> list[str]:
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


def longest(menu: Menu, street: int) -> str:
    """Which list of sizes makes a tree large, in words."""
    lists = [
        (len(level.sizes), f"{ALL_STREETS[number]} {'raises' if raised else 'bets'} of {PLAYERS[player]}")
        for player in (OOP, IP)
        for number in range(street, 4)
        for raised, level in enumerate(menu.of(player, number))
    ]
    lists += [(len(donk.sizes), f"{ALL_STREETS[k]} donks of oop") for k, donk in enumerate(menu.donks) if donk]
    count, where = max(lists, key=lambda pair: pair[0])
    return f"the {where} are {count} sizes"
