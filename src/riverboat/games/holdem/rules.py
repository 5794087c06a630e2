"""Two-player poker as the game files of the Annual Computer Poker Competition (ACPC) define it.

    GAMEDEF
    nolimit
    numPlayers = 2
    numRounds = 4
    stack = 20000 20000        # by seat
    blind = 100 50
    firstPlayer = 2 1 1 1      # by round, counted from 1
    numSuits = 4
    numRanks = 13
    numHoleCards = 2
    numBoardCards = 0 3 1 1    # by round
    END GAMEDEF

A limit game has `raiseSize` and `maxRaises`, both by round, and needs no stacks. Seats are those of the file: heads-up,
seat 0 has the big blind and speaks first from the flop on; seat 1 is the dealer, has the small blind and speaks first
before it. A deck with fewer cards has the highest ranks and suits.

Entries of our own, written only where they are not what the ACPC plays: `ante` (chips of each seat, beside the blinds),
`pot` (chips in the middle that belong to nobody), `leastBet` (else the big blind), `begins` (the round that hands begin with,
counted from 0) and `rake` (a rate, and a cap in chips).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from math import inf
from pathlib import Path
from typing import Any

from riverboat.cards.deck import Deck
from riverboat.core.errors import GameFileError, InputError, shown, unknown
from riverboat.core.text_files import read_text
from riverboat.games.holdem.betting_rules import GOING, NO_END, NOBODY, Book, State

STREETS = ("preflop", "flop", "turn", "river")
_FOLDER = "game_files"
_KEYS = {
    name.lower(): name
    for name in (
        *("numPlayers", "numRounds", "stack", "blind", "raiseSize", "firstPlayer", "maxRaises"),
        *("numSuits", "numRanks", "numHoleCards", "numBoardCards", "ante", "pot", "leastBet", "begins", "rake"),
    )
}
MOST_CHIPS = 2**30  # totals of whole hands are kept as int32
MOST_OF_SPOTS = 2**53  # beyond it a float64 skips whole numbers


@dataclass(frozen=True)
class Rake:
    """What the house takes of the final pot."""

    rate: float = 0.0
    cap: float = inf  # chips

    def __post_init__(self) -> None:
        if not _number(self.rate) or not 0 <= self.rate < 1:
            raise InputError(f"rake rate {shown(self.rate)}: must be a share from 0 to below 1, such as 0.05")
        if not _number(self.cap) or not self.cap >= 0:
            raise InputError(f"rake cap {shown(self.cap)}: must be chips, 0 or more; leave it out for no cap")

    def of(self, pot: float) -> float:
        """Chips taken from a pot."""
        return min(self.rate * pot, self.cap)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


NO_RAKE = Rake()


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Rules of a two-player game of poker. Amounts are whole chips; by seat or by round where a tuple stands."""

    limit: bool = False
    blinds: tuple[int, int] = (100, 50)  # by seat; none where there is an ante or a pot
    stacks: tuple[int, int] | None = None  # by seat, blinds included; None: no end, in limit games alone
    raise_sizes: tuple[int, ...] = ()  # by round: what a bet or raise adds; limit games alone
    most_raises: tuple[int, ...] | None = None  # by round: bets and raises, blinds are none; None: no end
    first: tuple[int, ...] = ()  # by round: the seat that speaks first; (): the smaller blind, then seat 0
    suits: int = 4
    ranks: int = 13
    hole: int = 2
    board: tuple[int, ...] = (0, 3, 1, 1)  # by round: cards dealt to the board before its betting
    ante: int = 0  # of each seat, beside its blind
    pot: int = 0  # chips in the middle that belong to nobody
    least_bet: int | None = None  # of a round; None: the big blind
    rake: Rake = NO_RAKE
    begins: int = 0  # the round that hands begin with; a later one in a subgame
    name: str = field(default="game", compare=False)

    def __post_init__(self) -> None:
        if not self.first:
            opener = 1 if self.blinds[1] < self.blinds[0] else 0
            object.__setattr__(self, "first", (opener, *[0] * (self.rounds - 1)))
        self._check_chips()
        self._check_cards()

    def _check_chips(self) -> None:
        rounds, where = self.rounds, f"game {shown(self.name)}"
        if not 1 <= rounds <= len(STREETS):
            raise InputError(f"{where}: {rounds} rounds: 1 to {len(STREETS)} can be played")
        if not 0 <= self.begins < rounds:
            raise InputError(f"{where}: begins={self.begins}: hands begin with one of the rounds 0 to {rounds - 1}")
        for what, by_round in (
            ("raise_sizes", self.raise_sizes),
            ("most_raises", self.most_raises),
            ("first", self.first),
        ):
            if by_round and len(by_round) != rounds:
                raise InputError(f"{where}: {what}={by_round}: give one for each of the {rounds} rounds")
        for what, amounts in (("blinds", self.blinds), ("stacks", self.stacks)):
            if amounts is not None and len(amounts) != 2:
                raise InputError(f"{where}: {what}={amounts}: give one for each of the 2 seats")
        for what, amount in (("ante", self.ante), ("pot", self.pot)):
            if not 0 <= amount <= MOST_OF_SPOTS:
                raise InputError(f"{where}: {what}={amount}: must be chips, 0 or more")
        if min(self.blinds) < 0 or max(*self.blinds, self.ante, self.pot) == 0:
            raise InputError(f"{where}: blinds={self.blinds}: none may be negative, and one must be above zero")
        if self.least_bet is not None and not 0 < self.least_bet <= MOST_CHIPS:
            raise InputError(f"{where}: least_bet={self.least_bet}: must be above zero, or left out for the big blind")
        posted, most = self.ante + self.big_blind, MOST_CHIPS if self.big_blind else MOST_OF_SPOTS
        if self.stacks is not None and not posted < min(self.stacks) <= max(self.stacks) <= most:
            blind = f"the big blind of {self.big_blind}" + (f" and the ante of {self.ante}" if self.ante else "")
            raise InputError(f"{where}: stacks={self.stacks}: must be above {blind}, at most {most:,}")
        if any(seat not in (0, 1) for seat in self.first):
            raise InputError(f"{where}: first={self.first}: seats are 0 and 1")
        if self.most_raises is not None and min(self.most_raises) < 0:
            raise InputError(f"{where}: most_raises={self.most_raises}: must not be negative")
        if self.limit and (not self.raise_sizes or self.most_raises is None):
            raise InputError(f"{where}: a limit game needs raise_sizes (raiseSize) and most_raises (maxRaises)")
        if self.limit and min(self.raise_sizes) <= 0:
            raise InputError(f"{where}: raise_sizes={self.raise_sizes}: must be above zero")
        if not self.limit and self.raise_sizes:
            raise InputError(
                f"{where}: raise_sizes={self.raise_sizes}: a no-limit game has none; sizes belong in a menu"
            )
        if not self.limit and self.stacks is None:
            raise InputError(f"{where}: a no-limit game needs stacks, such as stacks=(20000, 20000)")

    def _check_cards(self) -> None:
        where = f"game {shown(self.name)}"
        if min(self.board) < 0:
            raise InputError(f"{where}: board={self.board}: must not be negative")
        if self.hole + sum(self.board) > 7:
            raise InputError(f"{where}: {self.hole} hole and {sum(self.board)} board cards: at most 7 together")
        need, have = 2 * self.hole + sum(self.board), self.suits * self.ranks
        if have < need:
            raise InputError(f"{where}: {self.suits} suits of {self.ranks} ranks: {need} cards are dealt")
        _ = self.deck  # refuses what no deck can be

    @property
    def rounds(self) -> int:
        """Rounds of betting."""
        return len(self.board)

    @property
    def streets(self) -> tuple[str, ...]:
        """Names of the rounds: preflop, flop, …"""
        return STREETS[: self.rounds]

    @property
    def big_blind(self) -> int:
        """Chips; also the least bet of a no-limit game that names none."""
        return max(self.blinds)

    @property
    def stack(self) -> int:
        """Chips of the shorter seat: more could never be called."""
        if self.stacks is None:
            raise InputError(f"game {shown(self.name)} has no stacks")
        return min(self.stacks)

    @property
    def zero_sum(self) -> bool:
        """Whether one seat wins what the other loses."""
        return not self.pot and not self.rake.rate

    def need_zero_sum(self, what: str) -> None:
        """Raise unless one seat wins what the other loses; `what` is in need of that."""
        if not self.zero_sum:
            raise InputError(
                f"game {shown(self.name)} has rake or a pot that belongs to nobody: {what} where one seat wins what the "
                "other loses"
            )

    @cached_property
    def book(self) -> Book:
        """The rules as `betting_rules` reads them."""
        none, least = (NO_END,) * self.rounds, self.least_bet or max(self.big_blind, 1)
        (first, second), ante = self.blinds, self.ante
        opener, street = self.first[self.begins], self.begins
        start = State(ante + first, ante + second, opener, street, 0, 0, least, ante, GOING, NOBODY)
        return Book(
            self.limit,
            self.big_blind,
            least,
            self.stacks or (NO_END, NO_END),
            self.raise_sizes or (0,) * self.rounds,
            self.most_raises or none,
            self.first,
            self.board_sizes,
            start,
        )

    @cached_property
    def deck(self) -> Deck:
        """The cards, the highest ranks and suits."""
        return Deck.small(self.ranks, self.suits, self.hole)

    @property
    def board_sizes(self) -> tuple[int, ...]:
        """Cards on the board in each round: (0, 3, 4, 5)."""
        return tuple(sum(self.board[: street + 1]) for street in range(self.rounds))

    def __str__(self) -> str:
        return show_game(self)


# --- reading ----------------------------------------------------------------------------------


def shipped() -> tuple[str, ...]:
    """Names of the games that come with the package."""
    folder = resources.files("riverboat.games").joinpath(_FOLDER)
    return tuple(sorted(entry.name.removesuffix(".game") for entry in folder.iterdir() if entry.name.endswith(".game")))


def read_game(source: str | Path) -> Rules:
    """Rules from a game file, or from the name of one that comes with the package: `nolimit-200bb`."""
    path = Path(source)
    if path.suffix.lower() == ".game":
        return parse_game(read_text(path, "game file"), path.stem, str(path))
    if str(source) not in shipped():
        raise InputError(f"{unknown('game', str(source), shipped())}; a file is named FILE.game")
    entry = resources.files("riverboat.games").joinpath(_FOLDER, f"{source}.game")
    return parse_game(entry.read_text(encoding="utf-8"), str(source), f"{source}.game")


def parse_game(text: str, name: str = "game", where: str = "game file") -> Rules:
    """Rules from the text of a game file. Letters count in either case, `#` begins a comment."""
    entries: dict[str, tuple[int, tuple[Any, ...]]] = {}  # line and numbers
    kind: str | None = None
    begun = ended = False
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.partition("#")[0].strip()
        low = line.lower()
        if not line or ended:
            continue
        if not begun:
            if low != "gamedef":
                raise GameFileError(where, number, f"{shown(line)}: a game begins with GAMEDEF")
            begun = True
        elif low == "end gamedef":
            ended = True
        elif low in ("limit", "nolimit"):
            if kind not in (None, low):
                raise GameFileError(where, number, f"{shown(line)}: the game is already {kind}")
            kind = low
        else:
            key, numbers = _entry(line, where, number)
            if key in entries:
                raise GameFileError(where, number, f"{key} is given twice, first in line {entries[key][0]}")
            entries[key] = number, numbers
    if not ended:
        raise GameFileError(where, len(text.splitlines()), f"no {'END GAMEDEF' if begun else 'GAMEDEF'}")
    return _rules(entries, kind, name, where)


def _entry(line: str, where: str, number: int) -> tuple[str, tuple[Any, ...]]:
    key, equals, values = (part.strip() for part in line.partition("="))
    if not equals or key.lower() not in _KEYS:
        known = unknown("entry", key, ["limit", "nolimit", *_KEYS.values()])
        raise GameFileError(where, number, f"{known}; write KEY = NUMBERS")
    name = _KEYS[key.lower()]
    kind, of_what = (float, "numbers") if name == "rake" else (int, "whole numbers")
    try:
        numbers = tuple(kind(value) for value in values.split())
    except ValueError:
        numbers = ()
    if not numbers:
        raise GameFileError(where, number, f"{name} = {shown(values)}: write {of_what}")
    return name, numbers


def _rules(entries: dict[str, tuple[int, tuple[Any, ...]]], kind: str | None, name: str, where: str) -> Rules:
    if kind is None:
        raise InputError(f"{where}: neither limit nor nolimit is said")
    missing = [key for key in _needed(kind) if key not in entries]
    if missing:
        raise InputError(f"{where}: no {missing[0]}; a {kind} game needs {', '.join(_needed(kind))}")

    def numbers(key: str, count: int, default: int | None = None) -> tuple[Any, ...]:
        if key not in entries and default is not None:
            return (default,) * count
        line, values = entries[key]
        if len(values) < count:
            raise GameFileError(where, line, f"{key} has {len(values)} numbers: {count} are needed")
        return values[:count]  # files may say more rounds than are played

    (players,) = numbers("numPlayers", 1)
    if players != 2:
        line = entries["numPlayers"][0]
        raise GameFileError(where, line, f"numPlayers = {players}: games of 2 players alone can be played here")
    (rounds,) = numbers("numRounds", 1)
    if rounds < 1:
        line = entries["numRounds"][0]
        raise GameFileError(where, line, f"numRounds = {rounds}: 1 to {len(STREETS)} can be played")
    first = tuple(seat - 1 for seat in numbers("firstPlayer", rounds, 1))
    blinds, limit = numbers("blind", 2), kind == "limit"
    given: dict[str, Any] = {"raise_sizes": numbers("raiseSize", rounds)} if limit else {}
    if "stack" in entries:
        given["stacks"] = numbers("stack", 2)
    if "maxRaises" in entries:
        given["most_raises"] = numbers("maxRaises", rounds)
    given |= {key: numbers(entry, 1)[0] for key, entry in _OWN.items() if entry in entries}
    try:
        if "rake" in entries:
            given["rake"] = Rake(*entries["rake"][1][:2])
        return Rules(
            limit=limit,
            blinds=(blinds[0], blinds[1]),
            first=first,
            suits=numbers("numSuits", 1)[0],
            ranks=numbers("numRanks", 1)[0],
            hole=numbers("numHoleCards", 1)[0],
            board=numbers("numBoardCards", rounds, 0),
            name=name,
            **given,
        )
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


_OWN = {"ante": "ante", "pot": "pot", "least_bet": "leastBet", "begins": "begins"}


def _needed(kind: str) -> tuple[str, ...]:
    more = ("raiseSize", "maxRaises") if kind == "limit" else ("stack",)
    return ("numPlayers", "numRounds", "blind", *more, "numSuits", "numRanks", "numHoleCards")


# --- writing ----------------------------------------------------------------------------------


def show_game(rules: Rules) -> str:
    """The text of a game file that reads as the same rules."""
    rake = rules.rake
    entries: list[tuple[str, tuple[Any, ...] | None]] = [
        ("numPlayers", (2,)),
        ("numRounds", (rules.rounds,)),
        ("stack", rules.stacks),
        ("blind", rules.blinds),
        ("raiseSize", rules.raise_sizes or None),
        ("firstPlayer", tuple(seat + 1 for seat in rules.first)),
        ("maxRaises", rules.most_raises),
        ("numSuits", (rules.suits,)),
        ("numRanks", (rules.ranks,)),
        ("numHoleCards", (rules.hole,)),
        ("numBoardCards", rules.board),
        *((entry, (getattr(rules, key),) if getattr(rules, key) else None) for key, entry in _OWN.items()),
        ("rake", None if rake == NO_RAKE else (rake.rate,) if rake.cap == inf else (rake.rate, rake.cap)),
    ]
    lines = [f"{key} = {' '.join(map(str, numbers))}" for key, numbers in entries if numbers is not None]
    return "\n".join(["GAMEDEF", "limit" if rules.limit else "nolimit", *lines, "END GAMEDEF", ""])
