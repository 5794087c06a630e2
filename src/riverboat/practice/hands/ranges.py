"""Library of preflop ranges by position and action, editable as a TOML file.

library = RangeLibrary.load()                 # or a file that replaces some entries
library.range_of(hand, player).name           # 'BB calls BTN'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from riverboat.cards.ranges import Range
from riverboat.core.errors import InputError, located_errors, short_repr, unknown_name_error
from riverboat.core.files import parse_toml, read_toml_text
from riverboat.games.holdem.betting_rules import CALL, FOLD
from riverboat.games.holdem.table_hands import EARLY_POSITIONS, HEADS_UP, TableHand, replay

DEFAULT_FILE = Path(__file__).parent / "preflop_ranges.toml"
HEADS_UP_SECTION = "heads-up "
WORDS = {
    "open": "opens", "raise_limpers": "raises limpers", "limp": "limps", "check": "checks", "call": "calls",
    "three_bet": "3-bets", "call_three_bet": "calls the 3-bet of", "four_bet": "4-bets",
    "call_four_bet": "calls the 4-bet of",
}  # fmt: skip
WITHOUT_OPPONENT = ("open", "raise_limpers", "limp", "check")


@dataclass(frozen=True)
class PreflopAction:
    """The action with which a player came to the flop.

    Attributes
    ----------
    action
        Name of the action: a key of `WORDS`.
    position
        Position of the player.
    opponent
        Position of the raiser that it responded to; "" if there is none.
    in_position
        Whether the player acts after that raiser from the flop on.
    heads_up
        Whether the table has two players.
    """

    action: str
    position: str
    opponent: str = ""
    in_position: bool = False
    heads_up: bool = False

    @property
    def name(self) -> str:
        """The action in words."""
        opponent = f" {self.opponent}" if self.opponent and self.action not in WITHOUT_OPPONENT else ""
        return f"{self.position} {WORDS[self.action]}{opponent}"


@dataclass(frozen=True)
class ChosenRange:
    """A range of the library, and why it was chosen.

    Attributes
    ----------
    name
        The player's action in words.
    entry
        Section and key of the library.
    text
        The range.
    """

    name: str
    entry: str
    text: str

    @property
    def range(self) -> Range:
        """The range with its weights."""
        return _parsed(self.text)

    def to_dict(self) -> dict[str, Any]:
        """Return the range as a JSON object."""
        return {"name": self.name, "entry": self.entry, "range": self.text, "percent": self.range.percent}


@cache
def _parsed(text: str) -> Range:
    return Range.parse(text)


def preflop_action(hand: TableHand, player: int) -> PreflopAction:
    """Return the last action of a player before the flop.

    Parameters
    ----------
    hand
        The hand.
    player
        Number of the player.

    Returns
    -------
    PreflopAction
        The action, and whom it responded to.

    Raises
    ------
    InputError
        The player did not act, or folded.

    Examples
    --------
    >>> hand = TableHand(
    ...     names=("SB", "BB", "BTN"), stacks=(200, 200, 200), blinds=(1, 2, 0),
    ...     actions=((2, 6), (0, -1), (1, 0)), big_blind=2, holes=((), (), ()), boards=((),),
    ...     collected=(0, 0, 5), rake=0,
    ... )
    >>> preflop_action(hand, 1).name
    'BB calls BTN'
    """
    names = [_six_max(name) for name in hand.positions]
    last: PreflopAction | None = None
    raiser, level, limpers, raised = -1, 0, 0, set[int]()
    for step in replay(hand):
        if step.street > 0:
            break
        if step.player == player:
            opponent = names[raiser] if raiser >= 0 else ""
            if step.action == FOLD:
                raise InputError(f"{hand.names[player]}: folded before the flop")
            if step.action > CALL:
                action = ("raise_limpers" if limpers else "open", "three_bet", "four_bet")[min(level, 2)]
            elif level == 0:
                action = "limp" if step.to_call else "check"
            else:
                action = ("call", "call_three_bet", "call_four_bet")[min(level, 3) - 1]
            last = PreflopAction(action, names[player], opponent, player > raiser >= 0, hand.players == HEADS_UP)
        if step.action > CALL:
            raiser, level = step.player, level + 1
            raised.add(step.player)
        elif step.action == CALL and level == 0 and step.to_call:
            limpers += 1
    if last is None:
        raise InputError(f"{hand.names[player]}: did not act before the flop")
    return last


def _six_max(position: str) -> str:
    return "UTG" if position in EARLY_POSITIONS or position == "LJ" else position


class RangeLibrary:
    """Preflop ranges by action and position."""

    def __init__(self, sections: Mapping[str, Mapping[str, str]], source: str) -> None:
        self.sections, self.source = sections, source

    @staticmethod
    def load(path: str | Path | None = None) -> RangeLibrary:
        """Load the library of the package; the entries of a file replace its entries.

        Parameters
        ----------
        path
            A TOML file with some of the sections of the package's file.

        Returns
        -------
        RangeLibrary
            The library.

        Raises
        ------
        InputError
            The file cannot be read, or an entry is unknown or no range.

        Examples
        --------
        >>> RangeLibrary.load().sections["four_bet"]["any"]
        'QQ+,AKs,AKo,A5s-A4s:0.5'
        """
        default = _read(DEFAULT_FILE, None)
        if path is None:
            return RangeLibrary(default, "the package")
        own = _read(Path(path), default)
        merged = {name: {**entries, **own.get(name, {})} for name, entries in default.items()}
        return RangeLibrary(merged, str(path))

    def find(self, action: PreflopAction) -> ChosenRange:
        """Return the range of an action.

        Parameters
        ----------
        action
            How a player came to the flop.

        Examples
        --------
        >>> RangeLibrary.load().find(PreflopAction("call", "BB", "BTN")).entry
        'call, BB vs BTN'
        """
        section = f"{HEADS_UP_SECTION}{action.action}"
        if not action.heads_up or section not in self.sections:
            section = action.action
        entries = self.sections[section]
        keys = (
            f"{action.position} vs {action.opponent}",
            action.position,
            "IP" if action.in_position else "OOP",
            "any",
        )
        key = next(key for key in keys if key in entries)
        return ChosenRange(action.name, f"{section}, {key}", entries[key])

    def range_of(self, hand: TableHand, player: int) -> ChosenRange:
        """Return the range with which a player came to the flop.

        Parameters
        ----------
        hand
            The hand.
        player
            Number of the player.
        """
        return self.find(preflop_action(hand, player))


def _read(path: Path, known: Mapping[str, Mapping[str, str]] | None) -> dict[str, dict[str, str]]:
    """Read a file of ranges; sections must be `known` ones, if given."""
    with located_errors(path):
        table = parse_toml(read_toml_text(path, "ranges"))
    positions = {"UTG", "HJ", "CO", "BTN", "SB", "BB"}
    for section, entries in table.items():
        if known is not None and section not in known:
            raise unknown_name_error(f"{path}: section", section, known)
        if not isinstance(entries, dict):
            raise InputError(f"{path}: {section}={short_repr(entries)}: must be a section with ranges by position")
        for key, text in entries.items():
            parts = key.split(" vs ")
            if key not in ("any", "IP", "OOP") and not (len(parts) <= 2 and set(parts) <= positions):
                raise InputError(f"{path}: [{section}] {key!r}: write a position, 'BB vs BTN', IP, OOP or any")
            with located_errors(f"{path}: [{section}] {key}"):
                if not isinstance(text, str):
                    raise InputError(f"{short_repr(text)} must be a text such as 'QQ+,AKs'")
                _parsed(text)
    return table
