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
[street]                                 # where the spot begins in the middle of a street, or the street before counts
played = "x-b60"                         # pot and stack are those before these moves
led = "ip"                               # who bet or raised last on the street before
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

from riverboat.cards.deck import FULL_DECK, Deck
from riverboat.cards.notation import show_cards
from riverboat.cards.ranges import Range
from riverboat.cards.ranking_rules import hand_rules
from riverboat.core import atomic_io
from riverboat.core.errors import InputError, shown, unknown
from riverboat.core.text_files import parse_toml, read_toml
from riverboat.games.holdem.bet_sizes import Thresholds, show_share
from riverboat.games.holdem.menus import Menu
from riverboat.games.holdem.rules import NO_RAKE
from riverboat.games.spots.locks import Lock
from riverboat.games.spots.menus import write_menu
from riverboat.games.spots.spot import PLAYERS, Spot

KEYS = (
    *(
        "board",
        "pot",
        "stack",
        "least_bet",
        "name",
        "rake",
        "deck",
        "ranges",
        "bets",
        "limit",
        "tree",
        "street",
        "lock",
    ),
)
NEEDED = ("board", "pot", "stack", "ranges", "bets")
DECK_KEYS = ("ranks", "suits", "rules")
THRESHOLDS = tuple(field.name for field in fields(Thresholds))
TREE_KEYS = (*THRESHOLDS, "donk_bets", "raise_cap", "most_raises")
STREET_KEYS = ("played", "led")
LIMIT_KEYS = ("raise_sizes", "most_raises")


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
    return from_table(parse_toml(text), folder, name)


def to_table(spot: Spot) -> dict[str, Any]:
    """A spot as the entries of its file, for programs that write it as JSON."""
    return dict(parse_toml(dumps(spot)))


def from_table(table: Mapping[str, Any], folder: str | Path | None = ".", name: str = "spot") -> Spot:
    """A spot from the entries of a file, however they came: what is read from TOML, and from JSON alike."""
    _known(table, KEYS, "")
    limit = _table(table, "limit")
    missing = [key for key in NEEDED if key not in table and not (limit and key == "bets")]
    if missing == ["bets"]:
        raise InputError(
            'no bets are given; write [bets] and flop = { bet = "50%" }, or flop = {} for a hand that is checked down'
        )
    if missing:
        raise InputError(f"no {missing[0]} is given; a spot needs {', '.join(NEEDED[:-1])} and {NEEDED[-1]}")
    if limit and ("bets" in table or "tree" in table):
        raise InputError("limit: its sizes are all that can be bet; leave out bets and tree")
    ranges, rake, tree, street = (_table(table, key) for key in ("ranges", "rake", "tree", "street"))
    _known(ranges, PLAYERS, "ranges")
    _known(rake, ("rate", "cap"), "rake")
    _known(tree, TREE_KEYS, "tree")
    _known(street, STREET_KEYS, "street")
    _known(limit, LIMIT_KEYS, "limit")
    for player in PLAYERS:
        if player not in ranges:
            raise InputError(f'ranges: no range for {player}; write {player} = "QQ+,AKs"')
    return Spot.make(
        board=_text(table["board"], "board"),
        pot=table["pot"],
        stack=table["stack"],
        least_bet=table.get("least_bet", 1),
        oop=_beside(_text(ranges["oop"], "ranges.oop"), folder),
        ip=_beside(_text(ranges["ip"], "ranges.ip"), folder),
        bets="" if limit else _table(table, "bets"),
        rake=rake.get("rate"),
        rake_cap=rake.get("cap", inf),
        locks=_locks(table.get("lock", []), folder),
        deck=_deck(table),
        name=_text(table.get("name", name), "name"),
        **tree,
        **limit,
        **street,
    )


def _known(table: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in keys:
            raise InputError(f"{where}: {unknown('key', key, keys)}" if where else str(unknown("key", key, keys)))


def _table(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    entries = table.get(key, {})
    if not isinstance(entries, Mapping):
        raise InputError(f"{key} = {shown(entries)}: must be a table, [{key}] or {key} = {{ … }}")
    return entries


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
    atomic_io.write_text(path, dumps(spot))


def dumps(spot: Spot) -> str:
    """The text of a file that holds a spot. Ranges from files are written out."""
    rules, menu, street = spot.rules, spot.menu, len(spot.board) - 2
    assert rules.stacks is not None
    stack = rules.stack if rules.stacks == (rules.stack,) * 2 else list(rules.stacks)
    lines = [f'board = "{show_cards(spot.board)}"', f"pot = {rules.pot}", f"stack = {stack}"]
    lines += [] if rules.least_bet == 1 else [f"least_bet = {rules.least_bet}"]
    lines.append(f"name = {_quote(spot.name)}")
    if rules.rake != NO_RAKE:
        cap = "" if rules.rake.cap == inf else f", cap = {rules.rake.cap!r}"
        lines.append(f"rake = {{ rate = {rules.rake.rate!r}{cap} }}")
    if spot.deck != FULL_DECK:
        lines.append("deck = {{ {} }}".format(", ".join(f'{key} = "{getattr(spot.deck, key)}"' for key in DECK_KEYS)))
    lines += ["[ranges]", *(f'{name} = "{held}"' for name, held in zip(PLAYERS, spot.ranges, strict=True))]
    if menu is None:
        lines += ["[limit]", *(f"{key} = {list(getattr(rules, key))}" for key in LIMIT_KEYS)]
    else:
        lines += [*write_menu(menu, street), *_write_tree(menu)]
    if spot.played or spot.led is not None:
        lines += ["[street]"] + ([f'played = "{spot.played}"'] if spot.played else [])
        lines += [f'led = "{PLAYERS[spot.led]}"'] if spot.led is not None else []
    for lock in spot.locks:
        lines += ["[[lock]]", f"line = {_quote(lock.line)}"]
        lines += [f'hands = "{lock.hands}"'] if lock.hands is not None else []
        lines.append(f"strategy = {{ {', '.join(f'{_quote(move)} = {chance!r}' for move, chance in lock.strategy)} }}")
    return "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace(
        "\x7f", "\\u007f"
    )  # a TOML string escapes as JSON does, and the delete character too


def _write_tree(menu: Menu) -> list[str]:
    lines = ["[tree]", *(f'{key} = "{show_share(getattr(menu.thresholds, key))}"' for key in THRESHOLDS)]
    lines.append(f"donk_bets = {str(menu.donk_bets).lower()}")
    most = menu.most_raises
    if most == (None,):
        return lines
    return [*lines, f"raise_cap = {most[0] - 1}" if len(most) == 1 and most[0] else f"most_raises = {list(most)}"]
