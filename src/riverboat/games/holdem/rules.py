"""Rules of two-player poker, as in game files of the Annual Computer Poker Competition (ACPC).

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
seat 0 has the big blind and acts first from the flop on; seat 1 is the dealer, has the small blind and acts first
before the flop. A deck with fewer cards has the highest ranks and suits.

Riverboat adds some entries, and writes them only if they differ from the ACPC's rules: `ante` (chips of each seat, in
addition to the blinds), `pot` (chips that belong to nobody), `leastBet` (default: the big blind), `begins` (the first
round of hands, counted from 0) and `rake` (a rate, and a cap in chips).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from math import inf
from pathlib import Path
from typing import Any

from riverboat.cards.deck import Deck
from riverboat.core.errors import GameFileError, InputError, located_errors, short_repr, unknown_name_error
from riverboat.core.files import read_text
from riverboat.games.holdem.betting_rules import (
    IN_PROGRESS,
    NOBODY,
    UNLIMITED,
    CompactBettingRules,
    CompactBettingState,
)

STREETS = ("preflop", "flop", "turn", "river")
_GAME_FOLDER = "game_files"
_KEYS = {
    name.lower(): name
    for name in (
        *("numPlayers", "numRounds", "stack", "blind", "raiseSize", "firstPlayer", "maxRaises"),
        *("numSuits", "numRanks", "numHoleCards", "numBoardCards", "ante", "pot", "leastBet", "begins", "rake"),
    )
}
MAX_CHIPS = 2**30  # totals of whole hands are stored as int32
MAX_SPOT_CHIPS = 2**53  # beyond it float64 cannot represent all integers


@dataclass(frozen=True)
class Rake:
    """Rake: the share of the final pot that the house takes.

    Attributes
    ----------
    rate
        Share of the final pot, 0 to 1.
    cap
        Largest rake, in chips.

    Examples
    --------
    >>> Rake(0.05, 3).amount(100)
    3
    """

    rate: float = 0.0
    cap: float = inf  # chips

    def __post_init__(self) -> None:
        if not is_number(self.rate) or not 0 <= self.rate < 1:
            raise InputError(f"rake rate {short_repr(self.rate)}: must be a share from 0 to below 1, such as 0.05")
        if not is_number(self.cap) or not self.cap >= 0:
            raise InputError(f"rake cap {short_repr(self.cap)}: must be chips, 0 or more; omit it for no cap")

    def amount(self, pot: float) -> float:
        """Return the chips taken from a pot.

        Parameters
        ----------
        pot
            Chips in the pot.
        """
        return min(self.rate * pot, self.cap)


def is_number(value: Any) -> bool:
    """Return whether a value is an integer or a float, and not a bool.

    Parameters
    ----------
    value
        Entry of a file.

    Returns
    -------
    bool
        True for numbers.

    Examples
    --------
    >>> is_number(2.5), is_number(True)
    (True, False)
    """
    return isinstance(value, int | float) and not isinstance(value, bool)


NO_RAKE = Rake()


@dataclass(frozen=True, kw_only=True)
class PokerRules:
    """Rules of a two-player poker game. Amounts are whole chips; tuples are by seat or by round.

    Attributes
    ----------
    limit
        Whether raises have fixed sizes.
    blinds
        By seat; zeros are allowed if there is an ante or a pot.
    stacks
        By seat, including blinds; None: unlimited, in limit games only.
    raise_sizes
        By round: increment of a bet or raise; limit games only.
    most_raises
        By round: bets and raises, not counting blinds; None: unlimited.
    first
        By round: the seat that acts first; (): the smaller blind, then seat 0.
    suits
        Number of suits.
    ranks
        Number of ranks, the highest ones.
    hole
        Number of hole cards of each player.
    board
        By round: cards dealt to the board before its betting.
    ante
        Chips that each seat posts in addition to its blind.
    pot
        Chips in the pot that belong to nobody.
    least_bet
        Minimum bet of a round; None: the big blind.
    rake
        Rake.
    begins
        First round of hands; a later one in a subgame.
    name
        Name of the game.

    Raises
    ------
    InputError
        If values are invalid or contradict each other.

    Examples
    --------
    >>> rules = PokerRules(blinds=(2, 1), stacks=(200, 200))
    >>> rules.big_blind, rules.rounds, rules.streets[1]
    (2, 4, 'flop')
    """

    limit: bool = False
    blinds: tuple[int, int] = (100, 50)  # by seat; zeros are allowed if there is an ante or a pot
    stacks: tuple[int, int] | None = None  # by seat, including blinds; None: unlimited, in limit games only
    raise_sizes: tuple[int, ...] = ()  # by round: increment of a bet or raise; limit games only
    most_raises: tuple[int, ...] | None = None  # by round: bets and raises, not counting blinds; None: unlimited
    first: tuple[int, ...] = ()  # by round: the seat that acts first; (): the smaller blind, then seat 0
    suits: int = 4
    ranks: int = 13
    hole: int = 2
    board: tuple[int, ...] = (0, 3, 1, 1)  # by round: cards dealt to the board before its betting
    ante: int = 0  # chips that each seat posts in addition to its blind
    pot: int = 0  # chips in the pot that belong to nobody
    least_bet: int | None = None  # minimum bet of a round; None: the big blind
    rake: Rake = NO_RAKE
    begins: int = 0  # first round of hands; a later one in a subgame
    name: str = field(default="game", compare=False)

    def __post_init__(self) -> None:
        if not self.first:
            opener = 1 if self.blinds[1] < self.blinds[0] else 0
            object.__setattr__(self, "first", (opener, *[0] * (self.rounds - 1)))
        self._check_chips()
        self._check_cards()

    def _check_chips(self) -> None:
        rounds, where = self.rounds, f"game {short_repr(self.name)}"
        if not 1 <= rounds <= len(STREETS):
            raise InputError(f"{where}: {rounds} rounds: 1 to {len(STREETS)} can be played")
        if not 0 <= self.begins < rounds:
            raise InputError(f"{where}: begins={self.begins}: hands begin with one of the rounds 0 to {rounds - 1}")
        for what in ("raise_sizes", "most_raises", "first"):
            by_round = getattr(self, what)
            if by_round and len(by_round) != rounds:
                raise InputError(f"{where}: {what}={by_round}: give one for each of the {rounds} rounds")
        for what, amounts in (("blinds", self.blinds), ("stacks", self.stacks)):
            if amounts is not None and len(amounts) != 2:
                raise InputError(f"{where}: {what}={amounts}: give one for each of the 2 seats")
        for what, amount in (("ante", self.ante), ("pot", self.pot)):
            if not 0 <= amount <= MAX_SPOT_CHIPS:
                raise InputError(f"{where}: {what}={amount}: must be chips, 0 or more")
        if min(self.blinds) < 0 or max(*self.blinds, self.ante, self.pot) == 0:
            raise InputError(f"{where}: blinds={self.blinds}: none may be negative, and one must be above zero")
        if self.least_bet is not None and not 0 < self.least_bet <= MAX_CHIPS:
            raise InputError(f"{where}: least_bet={self.least_bet}: must be above zero, or left out for the big blind")
        posted, most = self.ante + self.big_blind, MAX_CHIPS if self.big_blind else MAX_SPOT_CHIPS
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
        where = f"game {short_repr(self.name)}"
        if min(self.board) < 0:
            raise InputError(f"{where}: board={self.board}: must not be negative")
        if self.hole + sum(self.board) > 7:
            raise InputError(f"{where}: {self.hole} hole and {sum(self.board)} board cards: at most 7 together")
        need, have = 2 * self.hole + sum(self.board), self.suits * self.ranks
        if have < need:
            raise InputError(f"{where}: {self.suits} suits of {self.ranks} ranks: {need} cards are dealt")
        _ = self.deck  # validates the deck

    @property
    def rounds(self) -> int:
        """Number of betting rounds."""
        return len(self.board)

    @property
    def streets(self) -> tuple[str, ...]:
        """Names of the rounds: preflop, flop, …"""
        return STREETS[: self.rounds]

    @property
    def big_blind(self) -> int:
        """Big blind in chips; also the default minimum bet of a no-limit game."""
        return max(self.blinds)

    @property
    def stack(self) -> int:
        """The smaller stack in chips, since more can never be called."""
        if self.stacks is None:
            raise InputError(f"game {short_repr(self.name)} has no stacks")
        return min(self.stacks)

    @property
    def zero_sum(self) -> bool:
        """Whether one seat wins what the other loses."""
        return not self.pot and not self.rake.rate

    def require_zero_sum(self, purpose: str) -> None:
        """Raise InputError unless the game is zero-sum; `purpose` says in the message what needs it.

        Parameters
        ----------
        purpose
            What needs a zero-sum game, for the message.
        """
        if not self.zero_sum:
            raise InputError(
                f"game {short_repr(self.name)} has rake or a pot that belongs to nobody: {purpose} "
                "in zero-sum games only"
            )

    @cached_property
    def compact(self) -> CompactBettingRules:
        """The rules as CompactBettingRules, the argument of the functions of `betting_rules`."""
        least, stacks = self.least_bet or max(self.big_blind, 1), self.stacks or (UNLIMITED, UNLIMITED)
        sizes, most = self.raise_sizes or (0,) * self.rounds, self.most_raises or (UNLIMITED,) * self.rounds
        (first, second), ante = self.blinds, self.ante
        opener, street = self.first[self.begins], self.begins
        start = CompactBettingState(ante + first, ante + second, opener, street, 0, 0, least, ante, IN_PROGRESS, NOBODY)
        amounts = self.big_blind, least, stacks, sizes, most
        return CompactBettingRules(self.limit, *amounts, self.first, self.board_sizes, start)

    @cached_property
    def deck(self) -> Deck:
        """The deck, with the highest ranks and suits."""
        return Deck.small(self.ranks, self.suits, self.hole)

    @property
    def board_sizes(self) -> tuple[int, ...]:
        """Number of cards on the board in each round: (0, 3, 4, 5)."""
        return tuple(sum(self.board[: street + 1]) for street in range(self.rounds))

    def __str__(self) -> str:
        return format_game(self)


# --- parsing ---


def shipped_games() -> tuple[str, ...]:
    """Return the names of the games that come with the package.

    Returns
    -------
    tuple[str, ...]
        The names of the games that come with the package.

    Examples
    --------
    >>> "nolimit-200bb" in shipped_games()
    True
    """
    folder = resources.files("riverboat.games.holdem").joinpath(_GAME_FOLDER)
    return tuple(sorted(entry.name.removesuffix(".game") for entry in folder.iterdir() if entry.name.endswith(".game")))


def read_game(source: str | Path) -> PokerRules:
    """Read rules from a game file, or by the name of a game that comes with the package: `nolimit-200bb`.

    Parameters
    ----------
    source
        Path of a game file, or name of a game that comes with the package.

    Returns
    -------
    PokerRules
        The rules.

    Raises
    ------
    InputError
        If there is no such game.
    GameFileError
        If the file is malformed.

    Examples
    --------
    >>> read_game("nolimit-200bb").stacks
    (20000, 20000)
    """
    path = Path(source)
    if path.suffix.lower() == ".game":
        return parse_game(read_text(path, "game file"), path.stem, str(path))
    if str(source) not in shipped_games():
        raise InputError(f"{unknown_name_error('game', str(source), shipped_games())}; a file is named FILE.game")
    entry = resources.files("riverboat.games.holdem").joinpath(_GAME_FOLDER, f"{source}.game")
    return parse_game(entry.read_text(encoding="utf-8"), str(source), f"{source}.game")


def parse_game(text: str, name: str = "game", where: str = "game file") -> PokerRules:
    """Parse the text of a game file. Case does not matter, `#` begins a comment.

    Parameters
    ----------
    text
        Text of a game file.
    name
        Name of the game.
    where
        Name of the text in messages.

    Returns
    -------
    PokerRules
        The rules.

    Raises
    ------
    GameFileError
        If the text is malformed.

    Examples
    --------
    >>> parse_game(format_game(read_game("kuhn"))) == read_game("kuhn")
    True
    """
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
                raise GameFileError(where, number, f"{short_repr(line)}: a game begins with GAMEDEF")
            begun = True
        elif low == "end gamedef":
            ended = True
        elif low in ("limit", "nolimit"):
            if kind not in (None, low):
                raise GameFileError(where, number, f"{short_repr(line)}: the game is already {kind}")
            kind = low
        else:
            key, numbers = _parse_entry(line, where, number)
            if key in entries:
                raise GameFileError(where, number, f"{key} is given twice, first in line {entries[key][0]}")
            entries[key] = number, numbers
    if not ended:
        raise GameFileError(where, len(text.splitlines()), f"no {'END GAMEDEF' if begun else 'GAMEDEF'}")
    return _rules_from_entries(entries, kind, name, where)


def _parse_entry(line: str, where: str, number: int) -> tuple[str, tuple[Any, ...]]:
    key, equals, values = (part.strip() for part in line.partition("="))
    if not equals or key.lower() not in _KEYS:
        known = unknown_name_error("entry", key, ["limit", "nolimit", *_KEYS.values()])
        raise GameFileError(where, number, f"{known}; write KEY = NUMBERS")
    name = _KEYS[key.lower()]
    kind, of_what = (float, "numbers") if name == "rake" else (int, "whole numbers")
    try:
        numbers = tuple(kind(value) for value in values.split())
    except ValueError:
        numbers = ()
    if not numbers:
        raise GameFileError(where, number, f"{name} = {short_repr(values)}: write {of_what}")
    return name, numbers


def _rules_from_entries(
    entries: dict[str, tuple[int, tuple[Any, ...]]], kind: str | None, name: str, where: str
) -> PokerRules:
    if kind is None:
        raise InputError(f"{where}: the game must say limit or nolimit")
    missing = [key for key in _required_keys(kind) if key not in entries]
    if missing:
        raise InputError(f"{where}: no {missing[0]}; a {kind} game needs {', '.join(_required_keys(kind))}")

    def numbers(key: str, count: int, default: int | None = None) -> tuple[Any, ...]:
        if key not in entries and default is not None:
            return (default,) * count
        line, values = entries[key]
        if len(values) < count:
            raise GameFileError(where, line, f"{key} has {len(values)} numbers: {count} are needed")
        return values[:count]  # files may have entries for more rounds than are played

    (players,) = numbers("numPlayers", 1)
    if players != 2:
        line = entries["numPlayers"][0]
        raise GameFileError(where, line, f"numPlayers = {players}: only games of 2 players are supported")
    (rounds,) = numbers("numRounds", 1)
    if rounds < 1:
        line = entries["numRounds"][0]
        raise GameFileError(where, line, f"numRounds = {rounds}: 1 to {len(STREETS)} can be played")
    first = tuple(seat - 1 for seat in numbers("firstPlayer", rounds, 1))
    blinds, limit = numbers("blind", 2), kind == "limit"
    options: dict[str, Any] = {"raise_sizes": numbers("raiseSize", rounds)} if limit else {}
    if "stack" in entries:
        options["stacks"] = numbers("stack", 2)
    if "maxRaises" in entries:
        options["most_raises"] = numbers("maxRaises", rounds)
    options |= {key: numbers(entry, 1)[0] for key, entry in _EXTENSION_KEYS.items() if entry in entries}
    with located_errors(where):
        if "rake" in entries:
            options["rake"] = Rake(*entries["rake"][1][:2])
        suits, ranks, hole = (numbers(key, 1)[0] for key in ("numSuits", "numRanks", "numHoleCards"))
        options |= {"suits": suits, "ranks": ranks, "hole": hole, "board": numbers("numBoardCards", rounds, 0)}
        return PokerRules(limit=limit, blinds=(blinds[0], blinds[1]), first=first, name=name, **options)


_EXTENSION_KEYS = {"ante": "ante", "pot": "pot", "least_bet": "leastBet", "begins": "begins"}


def _required_keys(kind: str) -> tuple[str, ...]:
    more = ("raiseSize", "maxRaises") if kind == "limit" else ("stack",)
    return ("numPlayers", "numRounds", "blind", *more, "numSuits", "numRanks", "numHoleCards")


# --- formatting ---


def format_game(rules: PokerRules) -> str:
    """Format rules as the text of a game file that parses to the same rules.

    Parameters
    ----------
    rules
        Rules of the game.

    Returns
    -------
    str
        Text of a game file.

    Examples
    --------
    >>> format_game(read_game("kuhn")).splitlines()[0]
    'GAMEDEF'
    """
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
        *((entry, (getattr(rules, key),) if getattr(rules, key) else None) for key, entry in _EXTENSION_KEYS.items()),
        ("rake", None if rake == NO_RAKE else (rake.rate,) if rake.cap == inf else (rake.rate, rake.cap)),
    ]
    lines = [f"{key} = {' '.join(map(str, numbers))}" for key, numbers in entries if numbers is not None]
    return "\n".join(["GAMEDEF", "limit" if rules.limit else "nolimit", *lines, "END GAMEDEF", ""])
