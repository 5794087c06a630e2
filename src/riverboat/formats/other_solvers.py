"""Spots from the files of other solvers, as far as their formats are known.

- PioSOLVER's text of a tree: lines `#Pot#180`, `#Range0#AA,KK:0.5`, `#FlopConfigIP.BetSize#33 75`, …
- TexasSolver's script: `set_pot 50`, `set_bet_sizes oop,flop,bet,50`, …
- The JSON configuration of WASM Postflop and Desktop Postflop: `startingPot`, `oopFlopBet`, …; it has no board and no
  ranges, which must be passed as well.

Bare numbers among sizes are per cent of the pot in all three. Entries without a counterpart are not guessed but listed
in `notes`. PioSOLVER and TexasSolver go all-in if a bet would put in more than a share r of the stack. That is our
`force_all_in` at s (1 - r) / (1 + 2 s r), with s the stack as a share of the pot: the chips left behind, as a share of
the pot, once the bet is called.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from riverboat.cards.deck import NUM_HANDS
from riverboat.cards.ranges import Range
from riverboat.core.errors import InputError, located_errors, short_repr
from riverboat.core.files import read_text
from riverboat.games.spots.spot import Spot

_NUMBER = re.compile(r"\d+\.?\d*|\.\d+")
_PLAYERS, _STREETS, _KINDS = ("oop", "ip"), ("flop", "turn", "river"), ("bet", "raise", "donk")


@dataclass(frozen=True)
class ImportedSpot:
    r"""A spot from another solver's file, and the entries of the file without a counterpart here.

    Attributes
    ----------
    spot
        The spot.
    source
        Name of the solver.
    notes
        Entries without a counterpart.

    Examples
    --------
    >>> text = "set_pot 50\nset_effective_stack 200\nset_board Qs,Jh,2h,8c,3d\nset_range_oop AA\nset_range_ip KK\nset_x 1\n"
    >>> parse_other_solver_file(text).notes
    ('set_x 1',)
    """

    spot: Spot
    source: str  # name of the solver
    notes: tuple[str, ...] = ()


@dataclass
class _SpotDraft:
    """Entries of another solver's file, collected while it is read, as arguments of `Spot.make`."""

    where: str  # name of the file in messages
    spot_arguments: dict[str, Any] = field(default_factory=dict)  # arguments of Spot.make
    sizes: dict[tuple[str, str, str], list[str]] = field(default_factory=dict)  # by player, street and kind
    all_in_threshold: Decimal | None = None  # share of the stack above which a bet becomes all-in
    notes: list[str] = field(default_factory=list)

    def number(self, key: str, text: object) -> Decimal:
        """Parse a finite number that is not negative."""
        try:
            value = Decimal(str(text).strip())
        except InvalidOperation:
            value = Decimal(-1)
        if not value.is_finite() or value < 0:
            raise InputError(f"{self.where}: {key} {short_repr(text)}: must be a number")
        return value

    def set_argument(self, name: str, key: str, value: object) -> None:
        """Set an argument of Spot.make from an entry of the file; pot and stack must be whole chips."""
        if name in ("pot", "stack"):
            chips = self.number(key, value)
            if chips != int(chips):
                raise InputError(
                    f"{self.where}: {key} {short_repr(value)}: must be whole chips; multiply all amounts in the file"
                )
            value = int(chips)
        self.spot_arguments[name] = value


def is_other_solver_file(text: str) -> bool:
    r"""Return whether a text looks like a file of a supported solver.

    Parameters
    ----------
    text
        Text of a file.

    Returns
    -------
    bool
        True for PioSOLVER's trees, TexasSolver's scripts and the configuration of WASM Postflop.

    Examples
    --------
    >>> is_other_solver_file("set_pot 50\n"), is_other_solver_file("pot = 50\n")
    (True, False)
    """
    return _find_reader(text) is not None


def load_other_solver_file(
    path: str | Path,
    *,
    board: str | None = None,
    oop: str | Range | None = None,
    ip: str | Range | None = None,
) -> ImportedSpot:
    """Read the spot of another solver's file.

    Parameters
    ----------
    path
        The file.
    board
        Board, which takes precedence over that of the file.
    oop, ip
        Ranges, which take precedence over those of the file.

    Returns
    -------
    ImportedSpot
        The spot, and entries without a counterpart.

    Raises
    ------
    InputError
        The file cannot be read, is of no supported solver, or lacks an entry that is not given.

    Examples
    --------
    >>> load_other_solver_file("missing.txt")
    Traceback (most recent call last):
    riverboat.core.errors.InputError: file of another solver 'missing.txt': No such file or directory
    """
    return parse_other_solver_file(read_text(path, "file of another solver"), str(path), board=board, oop=oop, ip=ip)


def parse_other_solver_file(
    text: str,
    where: str = "<text>",
    *,
    board: str | None = None,
    oop: str | Range | None = None,
    ip: str | Range | None = None,
) -> ImportedSpot:
    r"""Parse the spot of the text of another solver's file.

    Parameters
    ----------
    text
        The text.
    where
        What the text is, for messages; the spot is named after it.
    board
        Board, which takes precedence over that of the text.
    oop, ip
        Ranges, which take precedence over those of the text.

    Returns
    -------
    ImportedSpot
        The spot, and entries without a counterpart.

    Raises
    ------
    InputError
        The text is of no supported solver, has an invalid entry, or lacks one that is not given.

    Examples
    --------
    >>> text = "set_pot 50\nset_effective_stack 200\nset_board Qs,Jh,2h,8c,3d\n"
    >>> imported = parse_other_solver_file(text, oop="AA", ip="KK")
    >>> imported.source, imported.spot.rules.pot
    ('TexasSolver', 50)
    """
    reader = _find_reader(text)
    if reader is None:
        raise InputError(
            f"{where}: not a PioSOLVER tree (#Pot#…), a TexasSolver script (set_pot …), or a configuration "
            "of WASM Postflop (startingPot)"
        )
    source, read = reader
    draft = _SpotDraft(where)
    read(text, draft)
    given = {"board": board, "oop": oop, "ip": ip}
    draft.spot_arguments |= {key: value for key, value in given.items() if value is not None}
    missing = [key for key in ("board", "pot", "stack", "oop", "ip") if not draft.spot_arguments.get(key)]
    if missing:
        raise InputError(f"{where}: {', '.join(missing)} not in the file of {source}: pass board, oop and ip as well")
    for player in _PLAYERS:
        draft.spot_arguments[player] = _parse_range(draft.spot_arguments[player], f"{where}: range of {player}")
    with located_errors(where):
        arguments = draft.spot_arguments | _thresholds(draft)
        spot = Spot.make(**arguments, bets=_bets_by_street(draft), name=Path(where).stem)
    return ImportedSpot(spot, source, tuple(draft.notes))


# Return the name of the solver whose format a text has, and the function that reads it into a draft.
def _find_reader(text: str) -> tuple[str, Callable[[str, _SpotDraft], None]] | None:
    if re.search(r"^\s*#Pot#", text, re.MULTILINE):
        return "PioSOLVER", _read_pio
    if re.search(r"^\s*set_pot\s+\S+\s*$", text, re.MULTILINE):
        return "TexasSolver", _read_texas
    if text.lstrip().startswith("{") and '"startingPot"' in text:
        return "WASM Postflop", _read_wasm
    return None


def _parse_range(given: str | Range, where: str) -> Range:
    """Parse a range in hand notation, or 1,326 weights in PioSOLVER's order, which is ours too."""
    if isinstance(given, Range):
        return given
    words = given.split()
    try:
        return Range(np.array([float(word) for word in words])) if len(words) == NUM_HANDS else Range.parse(given)
    except ValueError as error:  # InputError is one
        raise InputError(f"{where}: {error}") from None


def _parse_sizes(text: str) -> list[str]:
    """Parse sizes separated by commas or spaces; bare numbers are per cent of the pot."""
    return [f"{word}%" if _NUMBER.fullmatch(word) else word for word in re.split(r"[\s,]+", text.strip()) if word]


def _bets_by_street(draft: _SpotDraft) -> dict[str, Any]:
    """Return the bet sizes of a draft as the mapping `bets` of `Spot.make`: by player, street and kind."""
    bets: dict[str, Any] = {player: {street: {"bet": ""} for street in _STREETS} for player in _PLAYERS}
    for player, street, kind in product(_PLAYERS, _STREETS, _KINDS):
        if (player, street, kind) in draft.sizes:
            bets[player][street][kind] = ", ".join(draft.sizes[player, street, kind])
    return bets


# Convert the all-in threshold, a share of the stack, to `force_all_in` (see the top of this module).
def _thresholds(draft: _SpotDraft) -> dict[str, Any]:
    if draft.all_in_threshold is None:
        return {}
    spr = Decimal(draft.spot_arguments["stack"]) / Decimal(draft.spot_arguments["pot"])
    share = 100 * spr * (1 - draft.all_in_threshold) / (1 + 2 * spr * draft.all_in_threshold)
    rounded = max(share, Decimal(0)).quantize(Decimal("0.01"), ROUND_HALF_UP)
    return {"force_all_in": f"{rounded}%"}


# --- PioSOLVER ---

_PIO_ARGUMENTS = {"Pot": "pot", "EffectiveStacks": "stack", "Board": "board", "Range0": "oop", "Range1": "ip"}
_PIO_SIZES = {"BetSize": "bet", "RaiseSize": "raise", "DonkBetSize": "donk"}


def _read_pio(text: str, draft: _SpotDraft) -> None:
    entries = dict(re.findall(r"^[^\S\n]*#([\w.]+)#(.*?)\s*$", text, re.MULTILINE))
    adds = {key: value for key, value in entries.items() if key.endswith(".AddAllin")}
    for key, value in entries.items():
        name, _, last = key.partition(".")
        street = re.fullmatch(r"(Flop|Turn|River)Config(IP)?", name)
        if key in _PIO_ARGUMENTS:
            draft.set_argument(_PIO_ARGUMENTS[key], key, value)
        elif key == "AllinThreshold":
            draft.all_in_threshold = draft.number(key, value) / 100
        elif key == "MergeSimilarBetsThreshold" and entries.get("MergeSimilarBets", "True") == "True":
            draft.spot_arguments["merge"] = f"{draft.number(key, value)}%"
        elif street is not None and last in _PIO_SIZES:
            player = "ip" if street[2] else "oop"
            draft.sizes[player, street[1].lower(), _PIO_SIZES[last]] = _parse_sizes(value)
        elif key not in adds and key not in ("Type", "MergeSimilarBets", "AddAllinOnlyIfLessThanThisTimesThePot"):
            draft.notes.append(f"#{key}#{value}")
    added = {value == "True" for value in adds.values()}
    limit = entries.get("AddAllinOnlyIfLessThanThisTimesThePot")
    if added == {True, False}:
        draft.notes.append("#….AddAllin#True on some streets only: no all-in is added")
    elif added == {True} and limit is not None:
        draft.spot_arguments["add_all_in"] = f"{draft.number('AddAllinOnlyIfLessThanThisTimesThePot', limit)}%"


# --- TexasSolver ---

_TEXAS_ARGUMENTS = {
    "set_pot": "pot", "set_effective_stack": "stack", "set_board": "board", "set_range_oop": "oop", "set_range_ip": "ip",
}  # fmt: skip
_TEXAS_RUN = (
    "build_tree", "start_solve", "dump_result", "set_thread_num", "set_accuracy", "set_max_iteration",
    "set_print_interval", "set_use_isomorphism", "set_dump_rounds",
)  # fmt: skip


def _read_texas(text: str, draft: _SpotDraft) -> None:
    for line in filter(None, (line.strip() for line in text.splitlines())):
        command, _, value = line.partition(" ")
        if command in _TEXAS_ARGUMENTS:
            draft.set_argument(_TEXAS_ARGUMENTS[command], command, value)
        elif command == "set_allin_threshold":
            draft.all_in_threshold = draft.number(command, value)
        elif command == "set_bet_sizes":
            _texas_sizes(value, draft)
        elif command not in _TEXAS_RUN:
            draft.notes.append(line)


def _texas_sizes(value: str, draft: _SpotDraft) -> None:
    words = [word.strip() for word in value.split(",")]
    player, street, kind = (*words, "", "", "")[:3]
    if player not in _PLAYERS or street not in _STREETS or kind not in (*_KINDS, "allin"):
        raise InputError(
            f"{draft.where}: set_bet_sizes {short_repr(value)}: write player, street and kind, as in oop,flop,bet,50"
        )
    if kind == "allin":
        for each in ("bet", "raise"):
            draft.sizes.setdefault((player, street, each), []).append("a")
        return
    own = draft.sizes.setdefault((player, street, kind), [])
    own[:] = _parse_sizes(",".join(words[3:])) + [size for size in own if size == "a"]


# --- WASM Postflop ---


def _read_wasm(text: str, draft: _SpotDraft) -> None:
    try:
        table = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{draft.where}: not JSON: {error}") from None
    config = table.get("value", table) if isinstance(table.get("value", table), Mapping) else table
    draft.set_argument("pot", "startingPot", config.get("startingPot"))
    draft.set_argument("stack", "effectiveStack", config.get("effectiveStack"))
    rake = draft.number("rakePercent", config.get("rakePercent", 0))
    if rake:
        draft.spot_arguments["rake"] = float(rake / 100)
        cap = draft.number("rakeCap", config.get("rakeCap", 0))
        if cap:
            draft.spot_arguments["rake_cap"] = float(cap)
    for option, wasm_key in _WASM_SHARES.items():
        draft.spot_arguments[option] = f"{draft.number(wasm_key, config.get(wasm_key, 0))}%"
    for player, street, kind in product(_PLAYERS, _STREETS, _KINDS):
        sizes = config.get(f"{player}{street.capitalize()}{kind.capitalize()}")
        if isinstance(sizes, str) and (kind != "donk" or config.get("donkOption")):
            draft.sizes[player, street, kind] = _parse_sizes(sizes)
    draft.notes += [f"{key}: {config[key]}" for key in ("addedLines", "removedLines") if config.get(key)]


_WASM_SHARES = {
    "add_all_in": "addAllInThreshold", "force_all_in": "forceAllInThreshold", "merge": "mergingThreshold",
}  # fmt: skip
