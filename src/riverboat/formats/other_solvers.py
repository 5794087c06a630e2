"""Spots from the files of other solvers, as far as their formats are known.

- PioSOLVER's text of a tree: lines `#Pot#180`, `#Range0#AA,KK:0.5`, `#FlopConfigIP.BetSize#33 75`, …
- TexasSolver's script: `set_pot 50`, `set_bet_sizes oop,flop,bet,50`, …
- The JSON configuration of WASM Postflop and Desktop Postflop: `startingPot`, `oopFlopBet`, …; it has no board and no ranges,
  which are given beside it.

Bare numbers among sizes are per cent of the pot in all three. What has no counterpart is not guessed but listed in `notes`.
PioSOLVER and TexasSolver go all-in where a bet would put in more than a share r of the stack; that is our `force_all_in` at
s (1 - r) / (1 + 2 s r) with s the stack as a share of the pot: what is left behind, as a share of the pot, once it is called.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import numpy as np

from riverboat.cards.deck import HANDS
from riverboat.cards.ranges import Range
from riverboat.core.errors import InputError, shown
from riverboat.core.text_files import read_text
from riverboat.games.spots.spot import Spot

_NUMBER = re.compile(r"\d+\.?\d*|\.\d+")
_PLAYERS, _STREETS, _KINDS = ("oop", "ip"), ("flop", "turn", "river"), ("bet", "raise", "donk")


@dataclass(frozen=True)
class Imported:
    """A spot, and what of the file it came from has no counterpart here."""

    spot: Spot
    source: str  # whose file it was
    notes: tuple[str, ...] = ()


@dataclass
class _Draft:
    """What has been read so far."""

    where: str
    facts: dict[str, Any] = field(default_factory=dict)  # arguments of Spot.make
    sizes: dict[tuple[str, str, str], list[str]] = field(default_factory=dict)  # by player, street and kind
    committed: Decimal | None = None  # share of the stack from which on a bet is all-in
    notes: list[str] = field(default_factory=list)

    def number(self, key: str, text: object) -> Decimal:
        """A finite number that is not negative."""
        try:
            value = Decimal(str(text).strip())
        except InvalidOperation:
            value = Decimal(-1)
        if not value.is_finite() or value < 0:
            raise InputError(f"{self.where}: {key} {shown(text)}: must be a number")
        return value

    def whole(self, key: str, text: object) -> int:
        """Whole chips."""
        value = self.number(key, text)
        if value != int(value):
            raise InputError(
                f"{self.where}: {key} {shown(text)}: must be whole chips; multiply all amounts in the file"
            )
        return int(value)


def is_other(text: str) -> bool:
    """Whether a text looks like a file that can be read here."""
    return _reader(text) is not None


def load_other(
    path: str | Path,
    *,
    board: str | None = None,
    oop: str | Range | None = None,
    ip: str | Range | None = None,
) -> Imported:
    """The spot in another solver's file; a board and ranges that are given go before those of the file."""
    return loads_other(read_text(path, "file of another solver"), str(path), board=board, oop=oop, ip=ip)


def loads_other(
    text: str,
    where: str = "<text>",
    *,
    board: str | None = None,
    oop: str | Range | None = None,
    ip: str | Range | None = None,
) -> Imported:
    """The same from the text of such a file."""
    reader = _reader(text)
    if reader is None:
        raise InputError(
            f"{where}: neither a tree of PioSOLVER (#Pot#…), nor a script of TexasSolver (set_pot …), nor a configuration "
            "of WASM Postflop (startingPot)"
        )
    source, read = reader
    draft = _Draft(where)
    read(text, draft)
    given = {"board": board, "oop": oop, "ip": ip}
    draft.facts |= {key: value for key, value in given.items() if value is not None}
    missing = [key for key in ("board", "pot", "stack", "oop", "ip") if not draft.facts.get(key)]
    if missing:
        raise InputError(f"{where}: {', '.join(missing)} not in the file of {source}: give board, oop and ip beside it")
    for player in _PLAYERS:
        draft.facts[player] = _range(draft.facts[player], f"{where}: range of {player}")
    try:
        spot = Spot.make(**draft.facts, bets=_bets(draft), **_thresholds(draft), name=Path(where).stem)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    return Imported(spot, source, tuple(draft.notes))


def _reader(text: str) -> tuple[str, Callable[[str, _Draft], None]] | None:
    if re.search(r"^\s*#Pot#", text, re.MULTILINE):
        return "PioSOLVER", _pio
    if re.search(r"^\s*set_pot\s+\S+\s*$", text, re.MULTILINE):
        return "TexasSolver", _texas
    if text.lstrip().startswith("{") and '"startingPot"' in text:
        return "WASM Postflop", _wasm
    return None


def _range(given: str | Range, where: str) -> Range:
    """A range in words, or 1,326 weights in PioSOLVER's order, which is ours."""
    if isinstance(given, Range):
        return given
    words = given.split()
    if len(words) == HANDS:
        try:
            return Range.from_weights(np.array([float(word) for word in words]))
        except ValueError as error:
            raise InputError(f"{where}: {error}") from None
    try:
        return Range.parse(given)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _sizes(text: str) -> list[str]:
    """Sizes between commas or spaces; bare numbers are per cent of the pot."""
    return [f"{word}%" if _NUMBER.fullmatch(word) else word for word in re.split(r"[\s,]+", text.strip()) if word]


def _bets(draft: _Draft) -> dict[str, Any]:
    """As `Spot.make` takes them."""
    bets: dict[str, Any] = {}
    for player in _PLAYERS:
        for street in _STREETS:
            menu = {
                kind: ", ".join(draft.sizes[player, street, kind])
                for kind in _KINDS
                if (player, street, kind) in draft.sizes
            }
            bets.setdefault(player, {})[street] = {"bet": "", **menu}
    return bets


def _thresholds(draft: _Draft) -> dict[str, Any]:
    if draft.committed is None:
        return {}
    spr = Decimal(draft.facts["stack"]) / Decimal(draft.facts["pot"])
    share = 100 * spr * (1 - draft.committed) / (1 + 2 * spr * draft.committed)
    rounded = max(share, Decimal(0)).quantize(Decimal("0.01"), ROUND_HALF_UP)
    return {"force_all_in": f"{rounded}%"}


# --- PioSOLVER ----------------------------------------------------------------------------------

_PIO_SIZES = {"BetSize": "bet", "RaiseSize": "raise", "DonkBetSize": "donk"}


def _pio(text: str, draft: _Draft) -> None:
    entries = dict(_pio_lines(text))
    adds = {key: value for key, value in entries.items() if key.endswith(".AddAllin")}
    for key, value in entries.items():
        name, _, last = key.partition(".")
        street = re.fullmatch(r"(Flop|Turn|River)Config(IP)?", name)
        if key == "Pot":
            draft.facts["pot"] = draft.whole("Pot", value)
        elif key == "EffectiveStacks":
            draft.facts["stack"] = draft.whole("EffectiveStacks", value)
        elif key == "Board":
            draft.facts["board"] = value
        elif key in ("Range0", "Range1"):
            draft.facts["oop" if key == "Range0" else "ip"] = value
        elif key == "AllinThreshold":
            draft.committed = draft.number(key, value) / 100
        elif key == "MergeSimilarBetsThreshold" and entries.get("MergeSimilarBets", "True") == "True":
            draft.facts["merge"] = f"{draft.number(key, value)}%"
        elif street is not None and last in _PIO_SIZES:
            player = "ip" if street[2] else "oop"
            draft.sizes[player, street[1].lower(), _PIO_SIZES[last]] = _sizes(value)
        elif key not in adds and key not in ("Type", "MergeSimilarBets", "AddAllinOnlyIfLessThanThisTimesThePot"):
            draft.notes.append(f"#{key}#{value}")
    added = {value == "True" for value in adds.values()}
    limit = entries.get("AddAllinOnlyIfLessThanThisTimesThePot")
    if added == {True, False}:
        draft.notes.append("#….AddAllin#True on some streets only: no all-in is added")
    elif added == {True} and limit is not None:
        draft.facts["add_all_in"] = f"{draft.number('AddAllinOnlyIfLessThanThisTimesThePot', limit)}%"


def _pio_lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        match = re.fullmatch(r"\s*#([\w.]+)#(.*?)\s*", line)
        if match is not None:
            yield match[1], match[2]


# --- TexasSolver --------------------------------------------------------------------------------

_TEXAS_RUN = (
    "build_tree", "start_solve", "dump_result", "set_thread_num", "set_accuracy", "set_max_iteration",
    "set_print_interval", "set_use_isomorphism", "set_dump_rounds",
)  # fmt: skip


def _texas(text: str, draft: _Draft) -> None:
    for line in filter(None, (line.strip() for line in text.splitlines())):
        command, _, value = line.partition(" ")
        if command == "set_pot":
            draft.facts["pot"] = draft.whole(command, value)
        elif command == "set_effective_stack":
            draft.facts["stack"] = draft.whole(command, value)
        elif command == "set_board":
            draft.facts["board"] = value
        elif command in ("set_range_oop", "set_range_ip"):
            draft.facts[command.removeprefix("set_range_")] = value
        elif command == "set_allin_threshold":
            draft.committed = draft.number(command, value)
        elif command == "set_bet_sizes":
            _texas_sizes(value, draft)
        elif command not in _TEXAS_RUN:
            draft.notes.append(line)


def _texas_sizes(value: str, draft: _Draft) -> None:
    words = [word.strip() for word in value.split(",")]
    player, street, kind = (*words, "", "", "")[:3]
    if player not in _PLAYERS or street not in _STREETS or kind not in (*_KINDS, "allin"):
        raise InputError(
            f"{draft.where}: set_bet_sizes {shown(value)}: write player, street and kind, as in oop,flop,bet,50"
        )
    if kind == "allin":
        for each in ("bet", "raise"):
            draft.sizes.setdefault((player, street, each), []).append("a")
        return
    own = draft.sizes.setdefault((player, street, kind), [])
    own[:] = _sizes(",".join(words[3:])) + [size for size in own if size == "a"]


# --- WASM Postflop ------------------------------------------------------------------------------


def _wasm(text: str, draft: _Draft) -> None:
    try:
        table = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{draft.where}: no JSON: {error}") from None
    config = table.get("value", table) if isinstance(table.get("value", table), Mapping) else table
    draft.facts["pot"] = draft.whole("startingPot", config.get("startingPot"))
    draft.facts["stack"] = draft.whole("effectiveStack", config.get("effectiveStack"))
    rake = draft.number("rakePercent", config.get("rakePercent", 0))
    if rake:
        draft.facts["rake"] = float(rake / 100)
        cap = draft.number("rakeCap", config.get("rakeCap", 0))
        if cap:
            draft.facts["rake_cap"] = float(cap)
    for ours, theirs in _WASM_SHARES:
        draft.facts[ours] = f"{draft.number(theirs, config.get(theirs, 0))}%"
    for player, street, kind in _wasm_keys():
        text_of = config.get(f"{player}{street.capitalize()}{kind.capitalize()}")
        if isinstance(text_of, str) and (kind != "donk" or config.get("donkOption")):
            draft.sizes[player, street, kind] = _sizes(text_of)
    draft.notes += [f"{key}: {config[key]}" for key in ("addedLines", "removedLines") if config.get(key)]


_WASM_SHARES = (
    ("add_all_in", "addAllInThreshold"),
    ("force_all_in", "forceAllInThreshold"),
    ("merge", "mergingThreshold"),
)


def _wasm_keys() -> Iterable[tuple[str, str, str]]:
    return ((player, street, kind) for player in _PLAYERS for street in _STREETS for kind in _KINDS)
