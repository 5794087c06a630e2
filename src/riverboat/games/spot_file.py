"""Spots as TOML files: read strictly, written so that reading gives the same spot.

board = "QsJh2h"
pot = 180
stack = 910
rake = { rate = 0.05, cap = 30 }         # optional; without cap there is none
[ranges]
oop = "88+,A8s+,A5s-A2s:0.5"
ip = "@ip.txt"                           # a file beside this one
[bets]                                   # both players; [bets.oop] and [bets.ip] go before it
flop = { bet = "33%, 75%", raise = "45%" }
turn = { bet = "55%", donk = "30%" }     # streets left out repeat the last one given
[tree]
add_all_in = "100%"
raise_cap = 3
[[lock]]                                 # a fixed strategy, as many as wanted
line = "b94-c/8h"                        # * for any card
hands = "AA,KK"                          # optional: all hands
strategy = { x = 0.25, b202 = 0.75 }
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from math import inf
from pathlib import Path
from typing import Any

from riverboat import disk
from riverboat.cards.deck import FULL_DECK, Deck
from riverboat.cards.hand_rules import hand_rules
from riverboat.cards.notation import show_cards
from riverboat.cards.ranges import Range
from riverboat.errors import InputError, shown, unknown
from riverboat.games.sizes import Sizes, Thresholds, show_share, show_sizes
from riverboat.games.spot import PLAYERS, Spot
from riverboat.games.spot_betting import IP, OOP, Menu
from riverboat.games.spot_locks import Lock
from riverboat.texts import parse_toml, read_toml

KEYS = ("board", "pot", "stack", "name", "rake", "deck", "ranges", "bets", "tree", "lock")
NEEDED = ("board", "pot", "stack", "ranges", "bets")
DECK_KEYS = ("ranks", "suits", "rules")
THRESHOLDS = tuple(field.name for field in fields(Thresholds))
TREE_KEYS = (*THRESHOLDS, "donk_bets", "raise_cap")


# --- reading ----------------------------------------------------------------------------------


def load(path: str | Path) -> Spot:
    """The spot in a file; it is named after the file unless it says otherwise."""
    path = Path(path)
    text = read_toml(path, "spot file")
    try:
        return loads(text, path.parent, path.stem)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def loads(text: str, folder: str | Path | None = ".", name: str = "spot") -> Spot:
    """A spot from the text of a file; `folder` is where files with ranges are looked for, None: nowhere."""
    table = parse_toml(text)
    _known(table, KEYS, "")
    missing = [key for key in NEEDED if key not in table]
    if missing == ["bets"]:
        raise InputError(
            'no bets are given; write [bets] and flop = { bet = "50%" }, or flop = {} for a hand that is checked down'
        )
    if missing:
        raise InputError(f"no {missing[0]} is given; a spot needs {', '.join(NEEDED[:-1])} and {NEEDED[-1]}")
    ranges, rake, tree = (_table(table, key) for key in ("ranges", "rake", "tree"))
    _known(ranges, PLAYERS, "ranges")
    _known(rake, ("rate", "cap"), "rake")
    _known(tree, TREE_KEYS, "tree")
    for player in PLAYERS:
        if player not in ranges:
            raise InputError(f'ranges: no range for {player}; write {player} = "QQ+,AKs"')
    return Spot.make(
        board=_text(table["board"], "board"),
        pot=table["pot"],
        stack=table["stack"],
        oop=_beside(_text(ranges["oop"], "ranges.oop"), folder),
        ip=_beside(_text(ranges["ip"], "ranges.ip"), folder),
        bets=_table(table, "bets"),
        rake=rake.get("rate"),
        rake_cap=rake.get("cap", inf),
        locks=_locks(table.get("lock", []), folder),
        deck=_deck(table),
        name=_text(table.get("name", name), "name"),
        **tree,
    )


def _known(table: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in keys:
            raise InputError(f"{where}: {unknown('key', key, keys)}" if where else str(unknown("key", key, keys)))


def _table(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = table.get(key, {})
    if not isinstance(found, Mapping):
        raise InputError(f"{key} = {shown(found)}: must be a table, [{key}] or {key} = {{ … }}")
    return found


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{where} = {shown(value)}: must be a text in quotes")
    return value


def _beside(text: str, folder: str | Path | None) -> str:
    """`@name` as a path from the spot file's folder."""
    if not text.lstrip().startswith("@"):
        return text
    if folder is None:
        raise InputError(f"range {shown(text)}: no file is read here; write the range itself")
    return f"@{Path(folder) / Path(text.strip()[1:]).expanduser()}"


def _deck(table: Mapping[str, Any]) -> Deck:
    deck = _table(table, "deck")
    _known(deck, DECK_KEYS, "deck")
    rules = _text(deck.get("rules", ""), "deck.rules")
    if "rules" in deck and not rules:
        hand_rules(rules)  # an empty name is none
    whole = Deck.of_rules(rules) if rules else FULL_DECK
    ranks, suits = (_text(deck.get(key, getattr(whole, key)), f"deck.{key}") for key in ("ranks", "suits"))
    return Deck(ranks, suits, rules=rules)


def _locks(tables: Any, folder: str | Path | None) -> list[Lock]:
    if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
        raise InputError("lock: write each lock as a section [[lock]]")
    return [_lock(table, f"lock {number}", folder) for number, table in enumerate(tables, 1)]


def _lock(table: Mapping[str, Any], where: str, folder: str | Path | None) -> Lock:
    _known(table, ("line", "hands", "strategy"), where)
    strategy = table.get("strategy")
    if not isinstance(strategy, Mapping) or not strategy:
        raise InputError(f"{where}: no strategy; write strategy = {{ x = 0.25, b94 = 0.75 }}")
    for move, chance in strategy.items():
        if isinstance(chance, bool) or not isinstance(chance, int | float) or not 0 <= chance <= 1:
            raise InputError(f"{where}: {shown(move)} = {shown(chance)}: must be a probability from 0 to 1")
    if "line" not in table:
        raise InputError(f'{where}: no line; write line = "b94-c/8h", or "" for the root')
    hands = Range.parse(_beside(_text(table["hands"], f"{where}: hands"), folder)) if "hands" in table else None
    return Lock(_text(table["line"], f"{where}: line"), tuple((m, float(p)) for m, p in strategy.items()), hands)


# --- writing ----------------------------------------------------------------------------------


def save(spot: Spot, path: str | Path) -> None:
    """Write a spot to a file."""
    disk.write_text(path, dumps(spot))


def dumps(spot: Spot) -> str:
    """The text of a file that holds a spot. Ranges from files are written out."""
    rules = spot.rules
    lines = [f'board = "{show_cards(spot.board)}"', f"pot = {rules.pot}", f"stack = {rules.stack}"]
    lines.append(f"name = {_quote(spot.name)}")
    if rules.rake.rate or rules.rake.cap != inf:
        cap = "" if rules.rake.cap == inf else f", cap = {rules.rake.cap!r}"
        lines.append(f"rake = {{ rate = {rules.rake.rate!r}{cap} }}")
    if spot.deck != FULL_DECK:
        lines.append("deck = {{ {} }}".format(", ".join(f'{key} = "{getattr(spot.deck, key)}"' for key in DECK_KEYS)))
    lines += ["[ranges]", *(f'{name} = "{held}"' for name, held in zip(PLAYERS, spot.ranges, strict=True))]
    if [_same(menu) for menu in rules.menus[OOP]] == [_same(menu) for menu in rules.menus[IP]]:
        lines += ["[bets]", *_write_menus(spot, OOP)]
    else:
        lines += ["[bets.oop]", *_write_menus(spot, OOP), "[bets.ip]", *_write_menus(spot, IP)]
    lines.append("[tree]")
    lines += [f'{key} = "{show_share(getattr(rules.thresholds, key))}"' for key in THRESHOLDS]
    lines.append(f"donk_bets = {str(rules.donk_bets).lower()}")
    if rules.raise_cap is not None:
        lines.append(f"raise_cap = {rules.raise_cap}")
    for lock in spot.locks:
        lines += ["[[lock]]", f"line = {_quote(lock.line)}"]
        lines += [f'hands = "{lock.hands}"'] if lock.hands is not None else []
        lines.append(f"strategy = {{ {', '.join(f'{_quote(move)} = {chance!r}' for move, chance in lock.strategy)} }}")
    return "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace(
        "\x7f", "\\u007f"
    )  # a TOML string escapes as JSON does, and the delete character too


def _same(menu: Menu) -> tuple[Sizes, Sizes]:
    """What a menu may share with the other player's."""
    return menu.bets, menu.raises


def _write_menus(spot: Spot, player: int) -> list[str]:
    lines, last = [], None
    for street, menu in zip(spot.streets, spot.rules.menus[player], strict=True):
        if menu != last:
            parts = [("bet", menu.bets or None), ("raise", menu.raises or None), ("donk", menu.donks)]
            inner = ", ".join(f'{key} = "{show_sizes(sizes)}"' for key, sizes in parts if sizes is not None)
            lines.append(f"{street} = {{ {inner} }}" if inner else f"{street} = {{}}")
        last = menu
    return lines
