"""Spots as TOML files: parsed strictly, and written so that parsing gives the same spot.

    board = "QsJh2h"
    pot = 180
    stack = 910
    rake = { rate = 0.05, cap = 30 }         # optional; cap is optional too
    [ranges]
    oop = "88+,A8s+,A5s-A2s:0.5"
    ip = "@ip.txt"                           # a file in the same folder
    [bets]                                   # both players; [bets.oop] and [bets.ip] take precedence
    flop = { bet = "33%, 75%", raise = "45%" }
    turn = { bet = "55%", donk = "30%" }     # omitted streets repeat the last one given
    [tree]
    add_all_in = "100%"
    raise_cap = 3
    [street]                                 # for spots in the middle of a street, or if the previous street matters
    played = "x-b60"                         # pot and stack are those before these actions
    led = "ip"                               # player who bet or raised last on the previous street
    [[lock]]                                 # a fixed strategy; there may be several
    line = "b94-c/8h"                        # * for any card
    hands = "AA,KK"                          # optional; default: all hands
    strategy = { x = 0.25, b202 = 0.75 }

Unknown keys and values of the wrong type are rejected by name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from math import inf
from pathlib import Path
from typing import Any

from riverboat.cards.deck import FULL_DECK, Deck, get_hand_rules
from riverboat.cards.notation import format_cards
from riverboat.cards.ranges import Range
from riverboat.core import files
from riverboat.core.errors import InputError, located_errors, short_repr
from riverboat.core.files import parse_toml, read_toml_text
from riverboat.core.schema import check_keys
from riverboat.games.holdem.bet_sizes import MenuThresholds, format_share
from riverboat.games.holdem.menus import ActionMenu
from riverboat.games.holdem.rules import NO_RAKE
from riverboat.games.spots.locks import NodeLock
from riverboat.games.spots.menus import format_spot_menu
from riverboat.games.spots.spot import PLAYERS, Spot

REQUIRED_KEYS = ("board", "pot", "stack", "ranges", "bets")
KEYS = (*REQUIRED_KEYS, "least_bet", "name", "rake", "deck", "limit", "tree", "street", "lock")
DECK_KEYS = ("ranks", "suits", "rules")
THRESHOLDS = tuple(field.name for field in fields(MenuThresholds))
TREE_KEYS = (*THRESHOLDS, "donk_bets", "raise_cap", "most_raises")
STREET_KEYS = ("played", "led")
LIMIT_KEYS = ("raise_sizes", "most_raises")
SECTION_KEYS = {
    "ranges": PLAYERS, "rake": ("rate", "cap"), "tree": TREE_KEYS, "street": STREET_KEYS, "limit": LIMIT_KEYS,
}  # fmt: skip


# --- parsing ---


def load(path: str | Path) -> Spot:
    r"""Read the spot of a file; it is named like the file unless the file has a name.

    Parameters
    ----------
    path
        A TOML file; files of ranges are looked up in its folder.

    Returns
    -------
    Spot
        The spot.

    Raises
    ------
    InputError
        The file cannot be read, or an entry is unknown, missing or invalid.

    Examples
    --------
    >>> import tempfile
    >>> text = 'board = "QsJh2h8c3d"\npot = 180\nstack = 910\n[ranges]\noop = "AA"\nip = "KK"\n[bets]\nriver = {}\n'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(loads(text), f"{folder}/river.toml")
    ...     load(f"{folder}/river.toml").rules.pot
    180
    """
    path = Path(path)
    text = read_toml_text(path, "spot file")
    with located_errors(path):
        return loads(text, path.parent, path.stem)


def loads(text: str, folder: str | Path | None = ".", name: str = "spot") -> Spot:
    r"""Parse the text of a spot file.

    Parameters
    ----------
    text
        TOML as described at the top of this module.
    folder
        Folder of range files; None forbids them.
    name
        Name of the spot, if the text has none.

    Returns
    -------
    Spot
        The spot.

    Raises
    ------
    InputError
        The text is no TOML, or an entry is unknown, missing or invalid.

    Examples
    --------
    >>> spot = loads('board = "QsJh2h8c3d"\npot = 180\nstack = 910\n[ranges]\noop = "AA"\nip = "KK"\n[bets]\nriver = {}\n')
    >>> spot.rules.stack
    910
    """
    return from_table(parse_toml(text), folder, name)


def to_table(spot: Spot) -> dict[str, Any]:
    r"""Return a spot as the table of its file, for JSON.

    Parameters
    ----------
    spot
        The spot.

    Returns
    -------
    dict
        The table, which `from_table` reads back.

    Examples
    --------
    >>> spot = loads('board = "QsJh2h8c3d"\npot = 180\nstack = 910\n[ranges]\noop = "AA"\nip = "KK"\n[bets]\nriver = {}\n')
    >>> to_table(spot)["ranges"]
    {'oop': 'AA', 'ip': 'KK'}
    """
    return dict(parse_toml(dumps(spot)))


def from_table(table: Mapping[str, Any], folder: str | Path | None = ".", name: str = "spot") -> Spot:
    """Make a spot from the table of a file, parsed from TOML or JSON.

    Parameters
    ----------
    table
        The table.
    folder
        Folder of range files; None forbids them.
    name
        Name of the spot, if the table has none.

    Returns
    -------
    Spot
        The spot.

    Raises
    ------
    InputError
        An entry is unknown, missing or invalid.

    Examples
    --------
    >>> table = {"board": "QsJh2h8c3d", "pot": 180, "stack": 910, "ranges": {"oop": "AA", "ip": "KK"}, "bets": {"river": {}}}
    >>> from_table(table).name
    'spot'
    """
    check_keys(table, KEYS, "")
    limit = _get_table(table, "limit")
    missing = [key for key in REQUIRED_KEYS if key not in table and not (limit and key == "bets")]
    if missing == ["bets"]:
        raise InputError(
            'bets are missing; write [bets] and flop = { bet = "50%" }, or flop = {} to check the hand down'
        )
    if missing:
        raise InputError(
            f"{missing[0]} is missing; a spot needs {', '.join(REQUIRED_KEYS[:-1])} and {REQUIRED_KEYS[-1]}"
        )
    if limit and ("bets" in table or "tree" in table):
        raise InputError("limit: a limit game has fixed sizes; omit bets and tree")
    for key, keys in SECTION_KEYS.items():
        check_keys(_get_table(table, key), keys, key)
    ranges, rake, tree, street = (_get_table(table, key) for key in ("ranges", "rake", "tree", "street"))
    for player in PLAYERS:
        if player not in ranges:
            raise InputError(f'ranges: no range for {player}; write {player} = "QQ+,AKs"')
    return Spot.make(
        board=_check_text(table["board"], "board"),
        pot=table["pot"],
        stack=table["stack"],
        least_bet=table.get("least_bet", 1),
        oop=_resolve_range_file(_check_text(ranges["oop"], "ranges.oop"), folder),
        ip=_resolve_range_file(_check_text(ranges["ip"], "ranges.ip"), folder),
        bets="" if limit else _get_table(table, "bets"),
        rake=rake.get("rate"),
        rake_cap=rake.get("cap", inf),
        locks=_parse_locks(table.get("lock", []), folder),
        deck=_parse_deck(table),
        name=_check_text(table.get("name", name), "name"),
        **tree,
        **limit,
        **street,
    )


def _get_table(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    entries = table.get(key, {})
    if not isinstance(entries, Mapping):
        raise InputError(f"{key} = {short_repr(entries)}: must be a table, [{key}] or {key} = {{ … }}")
    return entries


def _check_text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{where} = {short_repr(value)}: must be a text in quotes")
    return value


def _resolve_range_file(text: str, folder: str | Path | None) -> str:
    """Resolve `@name` to a path relative to the spot file's folder."""
    if not text.lstrip().startswith("@"):
        return text
    if folder is None:
        raise InputError(f"range {short_repr(text)}: files are not allowed here; write the range itself")
    return f"@{Path(folder) / Path(text.strip()[1:]).expanduser()}"


def _parse_deck(table: Mapping[str, Any]) -> Deck:
    deck = _get_table(table, "deck")
    check_keys(deck, DECK_KEYS, "deck")
    rules = _check_text(deck.get("rules", ""), "deck.rules")
    if "rules" in deck and not rules:
        get_hand_rules(rules)  # rejects an empty name
    whole = Deck.for_rules(rules) if rules else FULL_DECK
    ranks, suits = (_check_text(deck.get(key, getattr(whole, key)), f"deck.{key}") for key in ("ranks", "suits"))
    return Deck(ranks, suits, rules=rules)


def _parse_locks(tables: Any, folder: str | Path | None) -> list[NodeLock]:
    if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
        raise InputError("lock: write each lock as a section [[lock]]")
    return [_parse_lock(table, f"lock {number}", folder) for number, table in enumerate(tables, 1)]


def _parse_lock(table: Mapping[str, Any], where: str, folder: str | Path | None) -> NodeLock:
    check_keys(table, ("line", "hands", "strategy"), where)
    strategy = table.get("strategy")
    if not isinstance(strategy, Mapping) or not strategy:
        raise InputError(f"{where}: no strategy; write strategy = {{ x = 0.25, b94 = 0.75 }}")
    for action, probability in strategy.items():
        if isinstance(probability, bool) or not isinstance(probability, int | float) or not 0 <= probability <= 1:
            raise InputError(
                f"{where}: {short_repr(action)} = {short_repr(probability)}: must be a probability from 0 to 1"
            )
    if "line" not in table:
        raise InputError(f'{where}: no line; write line = "b94-c/8h", or "" for the root')
    hands = None
    if "hands" in table:
        hands = Range.parse(_resolve_range_file(_check_text(table["hands"], f"{where}: hands"), folder))
    line, chances = _check_text(table["line"], f"{where}: line"), tuple((m, float(p)) for m, p in strategy.items())
    return NodeLock(line, chances, hands)


# --- formatting ---


def save(spot: Spot, path: str | Path) -> None:
    """Write a spot to a file.

    Parameters
    ----------
    spot
        The spot.
    path
        The file, which is replaced atomically.

    Raises
    ------
    DiskError
        The operating system rejects a file access.

    Examples
    --------
    >>> save(loads("pot = 180"), "spot.toml")
    Traceback (most recent call last):
    riverboat.core.errors.InputError: board is missing; a spot needs board, pot, stack, ranges and bets
    """
    files.write_text(path, dumps(spot))


def dumps(spot: Spot) -> str:
    r"""Return the text of a spot file. Ranges from files are written out.

    Parameters
    ----------
    spot
        The spot.

    Returns
    -------
    str
        TOML that `loads` reads back as the same spot.

    Examples
    --------
    >>> spot = loads('board = "QsJh2h8c3d"\npot = 180\nstack = 910\n[ranges]\noop = "AA"\nip = "KK"\n[bets]\nriver = {}\n')
    >>> print(dumps(spot).splitlines()[0])
    board = "QsJh2h8c3d"
    """
    rules, menu, street = spot.rules, spot.menu, len(spot.board) - 2
    assert rules.stacks is not None
    stack = rules.stack if rules.stacks == (rules.stack,) * 2 else list(rules.stacks)
    lines = [f'board = "{format_cards(spot.board)}"', f"pot = {rules.pot}", f"stack = {stack}"]
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
        lines += [*format_spot_menu(menu, street), *_write_tree(menu)]
    if spot.played or spot.led is not None:
        lines += ["[street]"] + ([f'played = "{spot.played}"'] if spot.played else [])
        lines += [f'led = "{PLAYERS[spot.led]}"'] if spot.led is not None else []
    for lock in spot.locks:
        lines += ["[[lock]]", f"line = {_quote(lock.line)}"]
        lines += [f'hands = "{lock.hands}"'] if lock.hands is not None else []
        lines.append(f"strategy = {{ {', '.join(f'{_quote(move)} = {chance!r}' for move, chance in lock.strategy)} }}")
    return "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    # Strings of TOML are escaped like those of JSON, except that the delete character must be escaped as well.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _write_tree(menu: ActionMenu) -> list[str]:
    lines = ["[tree]", *(f'{key} = "{format_share(getattr(menu.thresholds, key))}"' for key in THRESHOLDS)]
    lines.append(f"donk_bets = {str(menu.donk_bets).lower()}")
    most = menu.most_raises
    if most == (None,):
        return lines
    return [*lines, f"raise_cap = {most[0] - 1}" if len(most) == 1 and most[0] else f"most_raises = {list(most)}"]
