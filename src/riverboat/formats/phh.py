"""The poker hand history format PHH (Kim 2024): heads-up hold'em hands, read and written.

A `.phh` file is one TOML table, a `.phhs` file has one for each hand under `[1]`, `[2]`, …. Heads-up, the first player
has the big blind, like seat 0 here, and blinds are listed from the small one. Real collections have `????` for unknown
cards, cents, and occasional invalid hands: each hand is parsed by itself, and an invalid one does not affect the
others.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any

from riverboat.cards.notation import format_cards, parse_cards
from riverboat.core.errors import InputError
from riverboat.core.files import parse_toml
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.holdem.actions import CALL, FOLD
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.hand_records import UNKNOWN_RESULT, HandRecords, RecordedHand, with_chips
from riverboat.games.holdem.rules import PokerRules

# --- fast parser for tables with one plain `key = value` per line, as nearly all are ---

_STRING = r"""(?:'[^'\n]*'|"[^"\\\n]*")"""
_NUMBER = r"[+-]?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,9})?"
_SCALAR = rf"(?:{_STRING}|{_NUMBER})"
_TIME = r"[0-2][0-9]:[0-5][0-9]:[0-5][0-9]"
_LIST = rf"\[ *(?:{_SCALAR}(?: *, *{_SCALAR})* *,? *)?\]"
_PLAIN_LINE = re.compile(rf" *([A-Za-z0-9_-]+) *= *({_STRING}|true|false|{_TIME}|{_NUMBER}|{_LIST}) *")
_SCALAR_PATTERN = re.compile(_SCALAR)


def parse_plain_table(text: str, wanted: Container[str]) -> dict[str, Any] | None:
    r"""Parse the wanted entries of a text, with numbers as int or Decimal.

    Parameters
    ----------
    text
        A TOML table without sections.
    wanted
        Keys whose values are parsed; the values of others are None.

    Returns
    -------
    dict or None
        None if any line is not plain, so that a TOML parser is needed.

    Examples
    --------
    >>> parse_plain_table("variant = 'NT'\nantes = [0, 0]\n", {"antes"})
    {'variant': None, 'antes': [0, 0]}
    """
    if not text.replace("\n", "").isprintable():
        return None
    table: dict[str, Any] = {}
    for line in text.split("\n"):
        if not line or line.isspace():
            continue
        entry = _PLAIN_LINE.fullmatch(line)
        if entry is None or entry[1] in table:
            return None
        key, value = entry.groups()
        table[key] = None
        if key in wanted:
            values = [_parse_scalar(part) for part in _SCALAR_PATTERN.findall(value)] if value[0] == "[" else None
            table[key] = _parse_scalar(value) if values is None else values
    return table


def _parse_scalar(value: str) -> Any:
    if value[0] in "'\"":
        return value[1:-1]
    if value in ("true", "false"):
        return value == "true"
    if ":" in value:  # a time of day, which is not used
        return value
    return Decimal(value) if "." in value else int(value)


NOT_HEADS_UP = "not for two players"
FRACTIONAL_CHIPS = "an amount that is no whole number of chips"
CHIPS_PER_UNIT = 100  # chips per unit of money: real games are played in cents
DEFAULT_STACK_BLINDS = 1000  # stacks, in big blinds, to write if the rules have none
NO_LIMIT = PokerRules(blinds=(2, 1), stacks=(400, 400), name="hold'em")
FIRST_TO_ACT_WITH_ANTES = (0, 0, 0, 0)  # the seat that acts first in each round if there are no blinds
VARIANTS = {"NT": False, "FT": True}  # no-limit and fixed-limit hold'em: whether it is a limit game
_SECTION = re.compile(r"^\s*\[\s*(\d+)\s*\]\s*$", re.MULTILINE)
_REQUIRED_KEYS = ("variant", "blinds_or_straddles", "starting_stacks", "actions")
_KNOWN_KEYS = {*_REQUIRED_KEYS, "antes", "min_bet", "small_bet", "big_bet", "players", "hand"}


class UnreadableHandError(InputError):
    """A hand is invalid or not supported.

    Parameters
    ----------
    reason
        One of a few reasons, for counting.
    detail
        What is wrong in this hand.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


def split_hands(text: str) -> Iterator[tuple[str, str]]:
    r"""Split the text of a file into hands, so that an invalid one does not affect the others.

    Parameters
    ----------
    text
        Text of a `.phh` or `.phhs` file.

    Yields
    ------
    tuple of str
        Number and text of each hand.

    Examples
    --------
    >>> list(split_hands("[1]\na = 1\n[2]\na = 2"))
    [('1', '\na = 1\n'), ('2', '\na = 2')]
    """
    heads = list(_SECTION.finditer(text))
    if not heads:
        yield "1", text
        return
    for head, next_head in pairwise([*heads, None]):
        assert head is not None
        yield head[1], text[head.end() : next_head.start() if next_head is not None else len(text)]


def parse_hand(text: str, scale: int = CHIPS_PER_UNIT) -> RecordedHand:
    """Parse one hand.

    Parameters
    ----------
    text
        Its table.
    scale
        Chips per unit of money.

    Returns
    -------
    RecordedHand
        Betting, cards and names.

    Raises
    ------
    UnreadableHandError
        The hand is invalid or of another game.

    Examples
    --------
    >>> hand = parse_hand('''
    ... variant = 'NT'
    ... antes = [0, 0]
    ... blinds_or_straddles = [1, 2]
    ... min_bet = 2
    ... starting_stacks = [200, 200]
    ... actions = ['d dh p1 AsKs', 'd dh p2 QdQc', 'p2 cbr 6', 'p1 f']
    ... ''')
    >>> hand.betting.line
    'r600f'
    """
    table = parse_plain_table(text, _KNOWN_KEYS)
    if table is None:
        try:
            table = parse_toml(text, parse_float=Decimal)
        except InputError as error:
            raise UnreadableHandError("no TOML", str(error)[:80]) from None
    missing = [key for key in _REQUIRED_KEYS if key not in table]
    if missing:
        raise UnreadableHandError("a field is missing", missing[0])
    if table["variant"] not in VARIANTS:
        raise UnreadableHandError("another game", f"variant {str(table['variant'])[:20]!r}")
    try:
        return _parse_table(table, scale)
    except UnreadableHandError:
        raise
    except InputError as error:
        raise UnreadableHandError("illegal betting or cards", str(error)) from None
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        raise UnreadableHandError("a field of the wrong kind", str(error)[:80]) from None


def _parse_table(table: dict[str, Any], scale: int) -> RecordedHand:
    """Make a record of a parsed table; raise InputError if betting or cards are illegal.

    Other problems raise UnreadableHandError. `scale` is chips per unit of money.
    """
    stacks, blinds = (_parse_amounts(table[key], scale, key) for key in ("starting_stacks", "blinds_or_straddles"))
    if len(stacks) != 2 or len(blinds) != 2:
        raise UnreadableHandError(NOT_HEADS_UP, f"{len(stacks)} stacks")
    antes = _parse_amounts(table.get("antes", [0, 0]), scale, "antes")
    if len(set(antes)) > 1:
        raise UnreadableHandError("antes that differ", f"{antes} of {scale} to the unit")
    rules = _parse_rules(table, (max(blinds), min(blinds)), (stacks[0], stacks[1]), antes[0] if antes else 0, scale)
    state = BettingState.start(rules)
    shown, board = rules.board_sizes, list[int]()
    holes: list[tuple[int, ...]] = [(), ()]
    mucked: list[int] = []  # seats that did not show at the end
    for entry in table["actions"]:
        player, verb, *rest = entry.split("#")[0].split()
        if player == "d":
            cards = rest[-1] if rest else ""
            if verb == "db":
                board += parse_cards(cards)
            elif "?" not in cards:
                holes[_parse_seat(rest[0])] = tuple(parse_cards(cards))
            continue
        if verb == "sm":
            if rest and "?" not in rest[0] and rest[0] != "-":
                holes[_parse_seat(player)] = tuple(parse_cards(rest[0]))
            else:
                mucked.append(_parse_seat(player))
            continue
        if state.actor != _parse_seat(player):
            raise InputError(f"{entry!r} at {state.line!r}: it is not the turn of {player}")
        if len(board) != shown[state.street]:
            raise InputError(f"{len(board)} board cards at {state.line!r}")
        state = state.play(_parse_action(verb, rest, state, scale))
    return _finish_hand(table, state, board, holes, mucked)


def _finish_hand(
    table: dict[str, Any],
    state: BettingState,
    board: list[int],
    holes: list[tuple[int, ...]],
    mucked: list[int],
) -> RecordedHand:
    if state.actor != TERMINAL:
        raise UnreadableHandError("the hand breaks off", f"at {state.line!r}")
    if len(board) != state.rules.board_sizes[state.street]:
        raise InputError(f"{len(board)} board cards at {state.line!r}")
    known_cards = [*holes[0], *holes[1], *board]
    if len(set(known_cards)) < len(known_cards):
        raise InputError(f"a card is dealt twice: {format_cards(known_cards, ' ')}")
    names = [str(name) for name in table.get("players", ("p1", "p2"))]
    if len(names) != 2 or names[0] == names[1]:
        raise UnreadableHandError("a field of the wrong kind", f"players {names}")
    number = table.get("hand", 0)
    if not isinstance(number, int):
        number = int(str(number)) if str(number).isdecimal() else 0
    loser = mucked[0] if len(mucked) == 1 else None
    return RecordedHand(number, (names[0], names[1]), state, (holes[0], holes[1], tuple(board)), loser)


def _parse_rules(
    table: dict[str, Any], blinds: tuple[int, int], stacks: tuple[int, int], ante: int, scale: int
) -> PokerRules:
    if min(stacks) <= max(blinds) + ante:
        raise UnreadableHandError("a stack within the big blind", f"stacks {stacks} of {scale} to the unit")
    antes_alone = max(blinds) == 0  # then the first player acts first in every round, and min_bet is the minimum bet
    if not VARIANTS[table["variant"]]:
        if not antes_alone:
            return with_chips(NO_LIMIT, blinds, stacks, ante)
        least = max(1, _parse_amounts([table.get("min_bet", 1)], scale, "min_bet")[0])
        return PokerRules(
            blinds=blinds, stacks=stacks, ante=ante, least_bet=least, first=FIRST_TO_ACT_WITH_ANTES, name="hold'em"
        )
    small, big = (_parse_amounts([table[key]], scale, key)[0] for key in ("small_bet", "big_bet"))
    return PokerRules(
        limit=True, blinds=blinds, stacks=stacks, raise_sizes=(small, small, big, big), most_raises=(3, 4, 4, 4), ante=ante,
        first=FIRST_TO_ACT_WITH_ANTES if antes_alone else (), name="limit hold'em",
    )  # fmt: skip


def _parse_seat(name: str) -> int:
    if name not in ("p1", "p2"):
        raise UnreadableHandError(NOT_HEADS_UP, f"player {name[:8]!r}")
    return int(name[1]) - 1


def _parse_action(verb: str, rest: list[str], state: BettingState, scale: int) -> int:
    if verb == "f":
        return FOLD
    if verb == "cc":
        return CALL
    if verb != "cbr":
        raise UnreadableHandError("another game", f"action {verb[:8]!r}")
    total = _parse_amounts([rest[0]], scale, "cbr")[0] + state.committed_before_street
    return min(total, state.rules.stacks[state.turn]) if state.rules.stacks is not None else total


def _parse_amounts(given: Any, scale: int, what: str) -> list[int]:
    """Convert amounts of money to chips (`scale` per unit); fractions of a chip raise UnreadableHandError."""
    amounts = []
    for amount in given:
        if type(amount) is int and amount >= 0:
            amounts.append(amount * scale)
            continue
        try:
            chips = Decimal(str(amount)) * scale
            if not chips.is_finite() or chips < 0 or chips != chips.to_integral_value():
                raise UnreadableHandError(FRACTIONAL_CHIPS, f"{what} {str(amount)[:20]}")
        except InvalidOperation:
            raise UnreadableHandError(FRACTIONAL_CHIPS, f"{what} {str(amount)[:20]!r}") from None
        amounts.append(int(chips))
    return amounts


# --- formatting ---


def format_hand(hands: HandRecords, i: int) -> str:
    r"""Format a hand as the text of a table.

    Parameters
    ----------
    hands
        The record.
    i
        Row of the hand.

    Returns
    -------
    str
        TOML that `parse_hand` reads back.

    Raises
    ------
    InputError
        The rules are not those of heads-up hold'em.

    Examples
    --------
    >>> from riverboat.formats.acpc_log import parse_log
    >>> log = "# name/game/hands/seed match nolimit-200bb 1 7\nSTATE:0:r300f:9s8h|KdKc:-100|100:alice|bob\n"
    >>> print(format_hand(parse_log(log).to_records(), 0).splitlines()[0])
    variant = 'NT'
    """
    rules = hands.rules_of(i)
    _check_writable(rules)
    stacks = list(rules.stacks or [DEFAULT_STACK_BLINDS * rules.big_blind] * 2)
    sizes = {"min_bet": rules.compact.least_bet}
    if rules.limit:
        sizes = {"small_bet": rules.raise_sizes[0], "big_bet": rules.raise_sizes[-1]}

    def money(chips: int) -> str:
        whole, rest = divmod(chips, hands.scale)
        return str(whole) if not rest else f"{Decimal(chips) / hands.scale:f}"

    def listed(values: list[int]) -> str:
        return "[" + ", ".join(money(v) for v in values) + "]"

    lines = [
        f"variant = {'FT' if rules.limit else 'NT'!r}",
        f"antes = {listed([rules.ante] * 2)}",
        f"blinds_or_straddles = {listed(sorted(rules.blinds))}",  # heads-up, blinds are listed from the last player on
        *(f"{key} = {money(value)}" for key, value in sizes.items()),
        f"starting_stacks = {listed(stacks)}",
        f"actions = {_format_actions(hands, i, money)!r}",
        f"hand = {int(hands.number[i])}",
        f"players = [{', '.join(quoted(name) for name in hands.players(i))}]",
    ]
    if hands.won[i, 0] != UNKNOWN_RESULT:
        ends = [stack + int(chips) for stack, chips in zip(stacks, hands.won[i], strict=True)]
        lines.append(f"finishing_stacks = {listed(ends)}")
    return "\n".join(lines)


def quoted(name: str) -> str:
    """Format a text as a TOML string.

    Parameters
    ----------
    name
        The text.

    Returns
    -------
    str
        The text in quotes, with escapes.

    Examples
    --------
    >>> quoted('a "b"')
    '"a \\\\"b\\\\""'
    """
    body = name.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04X}" for c in body) + '"'


def _format_actions(hands: HandRecords, i: int, money: Any) -> list[str]:
    """Format the entries `actions` of a hand: deals, actions, and cards shown; `money` formats chips.

    A bet or raise is written as the player's total of the round.
    """
    rules, board = hands.rules_of(i), hands.board(i)
    held = [format_cards(hands.hole(i, seat)) or "?" * 2 * rules.hole for seat in (0, 1)]
    dealt = [
        f"d db {format_cards(board[start:end])}" for start, end in pairwise((0, *rules.board_sizes)) if end > start
    ]
    actions = [f"d dh p{seat + 1} {hand}" for seat, hand in enumerate(held)]
    state, shown = BettingState.start(rules), 0
    for action in hands.moves[i, : hands.length[i]].tolist():
        verb = {FOLD: "f", CALL: "cc"}.get(action) or f"cbr {money(action - state.committed_before_street)}"
        actions.append(f"p{state.turn + 1} {verb}")
        state = state.play(action)
        if state.folded is None:
            actions += dealt[shown : state.street]
            shown = max(shown, state.street)
    if state.actor not in (CHANCE, TERMINAL) or state.folded is not None:
        return actions
    won = int(hands.won[i, 0])
    if won != UNKNOWN_RESULT or all("?" not in hand for hand in held):
        actions += [f"p{seat + 1} sm {hand}" for seat, hand in enumerate(held)]
    return actions


def is_holdem(rules: PokerRules) -> bool:
    """Return whether a game has the cards of hold'em.

    Parameters
    ----------
    rules
        Rules of the game.

    Returns
    -------
    bool
        True for 52 cards, two hole cards and boards of 3, 1 and 1 cards.

    Examples
    --------
    >>> is_holdem(NO_LIMIT)
    True
    """
    return (rules.ranks, rules.suits, rules.hole, rules.board) == (13, 4, 2, (0, 3, 1, 1))


def _check_writable(rules: PokerRules) -> None:
    """Raise InputError for rules that the format's variants of hold'em do not cover."""
    small, big = sorted(rules.blinds)
    blinds = rules.blinds == (big, small) and rules.first == (1, 0, 0, 0) and 0 < small < big
    seats = blinds or (big == 0 < rules.ante and rules.first == FIRST_TO_ACT_WITH_ANTES)
    sizes = rules.raise_sizes
    streets = not rules.limit or (sizes[0] == sizes[1] and sizes[2] == sizes[3])
    if not (is_holdem(rules) and seats and streets):
        raise InputError(
            f"game {rules.name!r}: PHH supports only heads-up hold'em with 52 cards and the dealer in seat 1"
        )
