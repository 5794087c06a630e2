"""The poker hand history format (Kim 2024): hands of hold'em for two, read and written.

A file `.phh` is one TOML table, `.phhs` has one for each hand under `[1]`, `[2]`, …. Heads-up, the first player has the big
blind, as seat 0 has here, and blinds are listed from the small one. Real collections have `????` for cards that nobody saw,
cents, and now and then a hand that cannot be: each hand is read by itself, and what is wrong with one is said, not raised.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any

from riverboat.cards.notation import parse_cards, show_cards
from riverboat.core.errors import InputError
from riverboat.core.text_files import parse_toml
from riverboat.formats.phh_text import plain_table
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.holdem import betting_rules as core
from riverboat.games.holdem.action_labels import acpc_label
from riverboat.games.holdem.actions import CALL, FOLD, play_move
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.betting_rules import DEAL, GOING, SHOWDOWN
from riverboat.games.holdem.rules import Rules
from riverboat.games.records.hand_records import UNKNOWN, Hands, Played, with_chips

BROKEN_CHIP = "an amount that is no whole number of chips"
SCALE = 100  # chips of one unit of money: histories of real games count in cents
DEEP = 1000  # big blinds that are written as stacks where the rules have none
NO_LIMIT = Rules(blinds=(2, 1), stacks=(400, 400), name="hold'em")
ANTES_FIRST = (0, 0, 0, 0)  # who speaks first in each round where there are no blinds
VARIANTS = {"NT": False, "FT": True}  # no-limit and fixed-limit hold'em; whether it is a limit game
_SECTION = re.compile(r"^\s*\[\s*(\d+)\s*\]\s*$", re.MULTILINE)
_LEAST = ("variant", "blinds_or_straddles", "starting_stacks", "actions")
_READ = {*_LEAST, "antes", "min_bet", "small_bet", "big_bet", "players", "hand"}


class Unreadable(InputError):
    """A hand that is not taken; `reason` is one of a few, for counting."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


def sections(text: str) -> Iterator[tuple[str, str]]:
    """The hands of a file, each with its number and as a text of its own, so that a broken one spoils no other."""
    heads = list(_SECTION.finditer(text))
    if not heads:
        yield "1", text
        return
    for here, after in pairwise([*heads, None]):
        assert here is not None
        yield here[1], text[here.end() : after.start() if after is not None else len(text)]


def read_hand(text: str, scale: int = SCALE) -> Played:
    """One hand; `Unreadable` where it is broken or of another game."""
    table = plain_table(text, _READ)
    if table is None:
        try:
            table = parse_toml(text, parse_float=Decimal)
        except InputError as error:
            raise Unreadable("no TOML", str(error)[:80]) from None
    missing = [key for key in _LEAST if key not in table]
    if missing:
        raise Unreadable("a field is missing", missing[0])
    if table["variant"] not in VARIANTS:
        raise Unreadable("another game", f"variant {str(table['variant'])[:20]!r}")
    try:
        return _played(table, scale)
    except Unreadable:
        raise
    except InputError as error:
        raise Unreadable("illegal betting or cards", str(error)) from None
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        raise Unreadable("a field of the wrong kind", str(error)[:80]) from None


def _played(table: dict[str, Any], scale: int) -> Played:
    stacks, blinds = (_amounts(table[key], scale, key) for key in ("starting_stacks", "blinds_or_straddles"))
    if len(stacks) != 2 or len(blinds) != 2:
        raise Unreadable("not for two players", f"{len(stacks)} stacks")
    antes = _amounts(table.get("antes", [0, 0]), scale, "antes")
    if len(set(antes)) > 1:
        raise Unreadable("antes that differ", f"{antes} of {scale} to the unit")
    rules = _rules(table, (max(blinds), min(blinds)), (stacks[0], stacks[1]), antes[0] if antes else 0, scale)
    state, moves = Betting.start(rules), []
    shown, board = rules.board_sizes, list[int]()
    holes: list[tuple[int, ...]] = [(), ()]
    mucked: list[int] = []  # seats that showed nothing at the end
    for action in table["actions"]:
        who, verb, *rest = action.split("#")[0].split()
        if who == "d":
            cards = rest[-1] if rest else ""
            if verb == "db":
                board += parse_cards(cards)
            elif "?" not in cards:
                holes[_seat(rest[0])] = tuple(parse_cards(cards))
            continue
        if verb == "sm":
            if rest and "?" not in rest[0] and rest[0] != "-":
                holes[_seat(who)] = tuple(parse_cards(rest[0]))
            else:
                mucked.append(_seat(who))
            continue
        if state.actor != _seat(who):
            raise Unreadable("illegal betting or cards", f"{action!r} at {state.line!r}: it is not the turn of {who}")
        if len(board) != shown[state.street]:
            raise Unreadable("illegal betting or cards", f"{len(board)} board cards at {state.line!r}")
        moves.append(_move(verb, rest, state, scale))
        state = _after(state, moves[-1])
    return _ended(table, state, moves, board, holes, mucked)


def _after(state: Betting, move: int) -> Betting:
    """The state after a move and the deals that are due, by the rules themselves: labels would have to be read again."""
    book, s = state.rules.book, state.at
    if s.over != GOING or not core.allowed(core.price(book, s), *core.span(book, s), move):
        return play_move(state, move)  # says what is wrong
    s, line = core.step(book, s, move), state.line + acpc_label(book.limit, move)
    while s.over in (DEAL, SHOWDOWN) and s.street < len(book.first) - 1:
        s, line = core.deal(book, s), line + "/"
    return Betting(state.rules, s, line)


def _ended(
    table: dict[str, Any],
    state: Betting,
    moves: list[int],
    board: list[int],
    holes: list[tuple[int, ...]],
    mucked: list[int],
) -> Played:
    if state.actor != TERMINAL:
        raise Unreadable("the hand breaks off", f"at {state.line!r}")
    if len(board) != state.rules.board_sizes[state.street]:
        raise Unreadable("illegal betting or cards", f"{len(board)} board cards at {state.line!r}")
    seen = [*holes[0], *holes[1], *board]
    if len(set(seen)) < len(seen):
        raise Unreadable("illegal betting or cards", f"a card is dealt twice: {show_cards(seen, ' ')}")
    names = [str(name) for name in table.get("players", ("p1", "p2"))]
    if len(names) != 2 or names[0] == names[1]:
        raise Unreadable("a field of the wrong kind", f"players {names}")
    number = table.get("hand", 0)
    if not isinstance(number, int):
        number = int(str(number)) if str(number).isdecimal() else 0
    loser = mucked[0] if len(mucked) == 1 else None
    return Played(number, (names[0], names[1]), state, (holes[0], holes[1], tuple(board)), loser, tuple(moves))


def _rules(table: dict[str, Any], blinds: tuple[int, int], stacks: tuple[int, int], ante: int, scale: int) -> Rules:
    if min(stacks) <= max(blinds) + ante:
        raise Unreadable("a stack within the big blind", f"stacks {stacks} of {scale} to the unit")
    antes_alone = (
        max(blinds) == 0
    )  # then the first player speaks first from the beginning, and a bet has a size of its own
    if not VARIANTS[table["variant"]]:
        if not antes_alone:
            return with_chips(NO_LIMIT, blinds, stacks, ante)
        least = max(1, _amounts([table.get("min_bet", 1)], scale, "min_bet")[0])
        return Rules(blinds=blinds, stacks=stacks, ante=ante, least_bet=least, first=ANTES_FIRST, name="hold'em")
    small, big = (_amounts([table[key]], scale, key)[0] for key in ("small_bet", "big_bet"))
    return Rules(
        limit=True, blinds=blinds, stacks=stacks, raise_sizes=(small, small, big, big), most_raises=(3, 4, 4, 4), ante=ante,
        first=ANTES_FIRST if antes_alone else (), name="limit hold'em",
    )  # fmt: skip


def _seat(name: str) -> int:
    if name not in ("p1", "p2"):
        raise Unreadable("not for two players", f"player {name[:8]!r}")
    return int(name[1]) - 1


def _move(verb: str, rest: list[str], state: Betting, scale: int) -> int:
    if verb == "f":
        return FOLD
    if verb == "cc":
        return CALL
    if verb != "cbr":
        raise Unreadable("another game", f"action {verb[:8]!r}")
    total = _amounts([rest[0]], scale, "cbr")[0] + state.before
    return min(total, state.rules.stacks[state.turn]) if state.rules.stacks is not None else total


def _amounts(given: Any, scale: int, what: str) -> list[int]:
    """Amounts of money as chips."""
    amounts = []
    for amount in given:
        if type(amount) is int and amount >= 0:
            amounts.append(amount * scale)
            continue
        try:
            chips = Decimal(str(amount)) * scale
            if not chips.is_finite() or chips < 0 or chips != chips.to_integral_value():
                raise Unreadable(BROKEN_CHIP, f"{what} {str(amount)[:20]}")
        except InvalidOperation:
            raise Unreadable(BROKEN_CHIP, f"{what} {str(amount)[:20]!r}") from None
        amounts.append(int(chips))
    return amounts


# --- writing ----------------------------------------------------------------------------------


def show_hand(hands: Hands, i: int) -> str:
    """Hand i as the text of a table."""
    rules = hands.rules_of(i)
    _check(rules)
    stacks = list(rules.stacks or [DEEP * rules.big_blind] * 2)
    sizes = {"min_bet": rules.book.least_bet}
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
        f"blinds_or_straddles = {listed(sorted(rules.blinds))}",  # heads-up they are posted from the last player on
        *(f"{key} = {money(value)}" for key, value in sizes.items()),
        f"starting_stacks = {listed(stacks)}",
        f"actions = {_actions(hands, i, money)!r}",
        f"hand = {int(hands.number[i])}",
        f"players = [{', '.join(_quoted(name) for name in hands.players(i))}]",
    ]
    if hands.won[i, 0] != UNKNOWN:
        ends = [stack + int(chips) for stack, chips in zip(stacks, hands.won[i], strict=True)]
        lines.append(f"finishing_stacks = {listed(ends)}")
    return "\n".join(lines)


def _quoted(name: str) -> str:
    body = name.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04X}" for c in body) + '"'


def _actions(hands: Hands, i: int, money: Any) -> list[str]:
    """Deals, moves and what is shown. A bet or raise is written as the player's total of the round."""
    rules, board = hands.rules_of(i), hands.board(i)
    held = [show_cards(hands.hole(i, seat)) or "?" * 2 * rules.hole for seat in (0, 1)]
    dealt = [f"d db {show_cards(board[start:end])}" for start, end in pairwise((0, *rules.board_sizes)) if end > start]
    actions = [f"d dh p{seat + 1} {hand}" for seat, hand in enumerate(held)]
    state, shown = Betting.start(rules), 0
    for move in hands.moves[i, : hands.length[i]].tolist():
        player = f"p{state.turn + 1}"
        if move == FOLD:
            actions.append(f"{player} f")
        else:
            actions.append(f"{player} cc" if move == CALL else f"{player} cbr {money(move - state.before)}")
        state = play_move(state, move)
        if state.folded is None:
            actions += dealt[shown : state.street]
            shown = max(shown, state.street)
    if state.actor not in (CHANCE, TERMINAL) or state.folded is not None:
        return actions
    won = int(hands.won[i, 0])
    if won != UNKNOWN or all("?" not in hand for hand in held):
        actions += [f"p{seat + 1} sm {hand}" for seat, hand in enumerate(held)]
    return actions


def is_holdem(rules: Rules) -> bool:
    """Whether a game has the cards of hold'em."""
    return (rules.ranks, rules.suits, rules.hole, rules.board) == (13, 4, 2, (0, 3, 1, 1))


def _check(rules: Rules) -> None:
    """Refuse what the format's variants of hold'em are not."""
    small, big = sorted(rules.blinds)
    blinds = rules.blinds == (big, small) and rules.first == (1, 0, 0, 0) and 0 < small < big
    seats = blinds or (big == 0 < rules.ante and rules.first == ANTES_FIRST)
    sizes = rules.raise_sizes
    streets = not rules.limit or (sizes[0] == sizes[1] and sizes[2] == sizes[3])
    if not (is_holdem(rules) and seats and streets):
        raise InputError(
            f"game {rules.name!r}: PHH is written for heads-up hold'em with 52 cards and the dealer in seat 1"
        )
