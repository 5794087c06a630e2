"""Hands of any number of players in PHH (Kim 2024), written and read back.

Dead blinds stand in `antes`, live posts out of turn are negative entries of `blinds_or_straddles`. What PHH has no field
for stands in fields of its own, whose names begin with `_`: further boards, rake, the hero, the ante of the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import Any

from riverboat.cards.notation import format_cards, parse_cards
from riverboat.core.errors import InputError
from riverboat.core.files import parse_toml
from riverboat.formats.phh import UnreadableHandError, parse_plain_table, quoted, split_hands
from riverboat.formats.sites.text import SCALE, SiteHandError
from riverboat.games.holdem.betting_rules import CALL, FOLD
from riverboat.games.holdem.table_hands import BOARD_SIZES, HEADS_UP, Table, TableHand, showdown_shares

_PHH = re.compile(r"^\s*(?:\[\s*\d+\s*\]|variant *=|#)", re.MULTILINE)
_TEXTS = {
    "number": "_number",
    "site": "venue",
    "table": "table",
    "time": "_time",
    "currency": "currency",
    "tournament": "event",
}
_KEYS = {
    "variant", "antes", "blinds_or_straddles", "min_bet", "starting_stacks", "actions", "players", "seats", "hand",
    "winnings", "finishing_stacks", "_boards", "_rake", "_added", "_hero", "_ante", *_TEXTS.values(),
}  # fmt: skip


def looks_like_phh(text: str) -> bool:
    """Tell PHH from other texts by its keys.

    Parameters
    ----------
    text
        Content of a file.

    Examples
    --------
    >>> looks_like_phh("variant = 'NT'"), looks_like_phh("PokerStars Hand #1:")
    (True, False)
    """
    return re.search(r"^\s*variant *= *['\"]", text, re.MULTILINE) is not None and _PHH.search(text) is not None


def split_sections(text: str) -> Iterator[tuple[str, int, str]]:
    """Yield number, line from 0, and text of each hand of a PHH text."""
    at = line = 0
    for number, section in split_hands(text):
        start = text.find(section, at)
        line += text.count("\n", at, start)
        at = start
        yield number, line, section


def format_table_hand(hand: TableHand) -> str:
    """Format a hand as a PHH table.

    Parameters
    ----------
    hand
        The hand.

    Returns
    -------
    str
        TOML that `parse_table_hand` reads back to an equal hand.

    Examples
    --------
    >>> hand = TableHand(
    ...     names=("SB", "BB", "BTN"), stacks=(200, 200, 200), blinds=(1, 2, 0),
    ...     actions=((2, 6), (0, FOLD), (1, FOLD)), big_blind=2, holes=((), (), ()), boards=((),),
    ...     collected=(0, 0, 5), rake=0, antes=(0, 0, 0), seats=(1, 2, 3), number="7",
    ... )
    >>> parse_table_hand(format_table_hand(hand)) == hand
    True
    """

    def money(chips: int) -> str:
        return f"{Decimal(chips) / hand.scale:f}" if chips % hand.scale else str(chips // hand.scale)

    def listed(values: Sequence[int]) -> str:
        return "[" + ", ".join(map(money, values)) + "]"

    antes, blinds = hand.antes or (0,) * hand.players, hand.blinds
    if hand.players == HEADS_UP:  # PHH lists the forced bets of two players from the button on
        antes, blinds = antes[::-1], blinds[::-1]
    lines = [
        "variant = 'NT'",
        f"antes = {listed(antes)}",
        f"blinds_or_straddles = {listed(blinds)}",
        f"min_bet = {money(hand.big_blind)}",
        f"starting_stacks = {listed(hand.stacks)}",
        f"actions = {_format_actions(hand, money)!r}",
        f"players = [{', '.join(map(quoted, hand.names))}]",
        f"winnings = {listed(hand.collected)}",
    ]
    finishing = [stack + won for stack, won in zip(hand.stacks, hand.winnings, strict=True)]
    lines.append(f"finishing_stacks = {listed(finishing)}")
    if hand.seats:
        lines.append(f"seats = {list(hand.seats)}")
    if hand.number.isdecimal() and len(hand.number) < 18 and str(int(hand.number)) == hand.number:
        lines.append(f"hand = {hand.number}")
    lines += [f"{key} = {quoted(getattr(hand, name))}" for name, key in _TEXTS.items() if getattr(hand, name)]
    lines += [
        f"{key} = {money(chips)}"
        for key, chips in (("_rake", hand.rake), ("_added", hand.added), ("_ante", hand.ante))
        if chips
    ]
    if hand.hero >= 0:
        lines.append(f"_hero = {hand.hero + 1}")
    if len(hand.boards) > 1:
        lines.append(f"_boards = {[format_cards(board) for board in hand.boards]!r}")
    return "\n".join(lines)


def _format_actions(hand: TableHand, money: Any) -> list[str]:
    actions = [f"d dh p{k + 1} {format_cards(hole) or '????'}" for k, hole in enumerate(hand.holes)]
    board = hand.boards[0]
    deals = [f"d db {format_cards(board[start:end])}" for start, end in pairwise(BOARD_SIZES) if len(board) >= end]
    table, shown = Table(hand), 0

    def deal_to(street: int) -> None:
        nonlocal shown
        actions.extend(deals[shown:street])
        shown = max(shown, street)

    for player, action in hand.actions:
        while table.actor < 0 and not table.finished:
            table.next_street()
        deal_to(table.street)
        table.play(player, action)
        name = f"p{player + 1}"
        actions.append(
            f"{name} f" if action == FOLD else f"{name} cc" if action == CALL else f"{name} cbr {money(action)}"
        )
    deal_to(len(deals))
    if table.live > 1:
        for k, hole in enumerate(hand.holes):
            if not table.folded[k]:
                actions.append(f"p{k + 1} sm {format_cards(hole)}" if hole else f"p{k + 1} sm")
    return actions


def parse_table_hand(text: str) -> TableHand:
    """Parse a PHH table of no-limit hold'em.

    Parameters
    ----------
    text
        The table.

    Returns
    -------
    TableHand
        The hand.

    Raises
    ------
    SiteHandError
        The hand is invalid, incomplete or of another game.

    Examples
    --------
    >>> parse_table_hand("variant = 'FT'")
    Traceback (most recent call last):
    riverboat.formats.sites.text.SiteHandError: another game: variant 'FT'
    """
    table = parse_plain_table(text, _KEYS)
    try:
        if table is None:
            table = parse_toml(text, parse_float=Decimal)
        if table.get("variant") != "NT":
            raise SiteHandError("another game", f"variant {str(table.get('variant'))[:20]!r}")
        return _from_table(table)
    except SiteHandError:
        raise
    except UnreadableHandError as error:
        raise SiteHandError(error.reason, str(error)[:80]) from None
    except InputError as error:
        raise SiteHandError("illegal betting or cards", str(error)[:120]) from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError) as error:
        raise SiteHandError("a field is missing or of the wrong kind", str(error)[:80]) from None


def _chips(value: Any) -> int:
    chips = Decimal(str(value)) * SCALE
    if chips != chips.to_integral_value() or abs(chips) > 10**15:
        raise SiteHandError("an amount that cannot be read", str(value)[:30])
    return int(chips)


def _from_table(fields: dict[str, Any]) -> TableHand:
    stacks = tuple(map(_chips, fields["starting_stacks"]))
    n = len(stacks)
    if not 2 <= n <= 10 or min(stacks) <= 0:
        raise SiteHandError("a field is missing or of the wrong kind", f"{n} stacks")
    antes = tuple(map(_chips, fields.get("antes", [0] * n)))
    blinds = tuple(map(_chips, fields["blinds_or_straddles"]))
    if len(antes) != n or len(blinds) != n or min(antes) < 0:
        raise SiteHandError("a field is missing or of the wrong kind", "antes and blinds of every player")
    if n == HEADS_UP:
        antes, blinds = antes[::-1], blinds[::-1]
    names = tuple(map(str, fields.get("players", [f"p{k + 1}" for k in range(n)])))
    if len(set(names)) != n:
        raise SiteHandError("a field is missing or of the wrong kind", f"players {names!r}"[:80])
    holes, board, actions = [()] * n, list[int](), list[tuple[int, int]]()  # type: list[tuple[int, ...]], Any, Any
    for entry in fields["actions"]:
        who, verb, *rest = entry.split("#")[0].split()
        if verb == "db":
            board += parse_cards(rest[0])
        elif verb in ("dh", "sm"):
            k = int((rest[0] if verb == "dh" else who)[1:]) - 1
            cards = rest[-1] if rest and (verb == "sm" or len(rest) > 1) else "?"
            if "?" not in cards and cards != "-":
                holes[k] = tuple(parse_cards(cards))
        else:
            action = {"f": FOLD, "cc": CALL}.get(verb) if verb != "cbr" else _chips(rest[0])
            if action is None:
                raise SiteHandError("another game", f"action {verb[:8]!r}")
            actions.append((int(who[1:]) - 1, action))
    boards = [tuple(parse_cards(each)) for each in fields.get("_boards", [])] or [tuple(board)]
    texts = {name: str(fields[key]) for name, key in _TEXTS.items() if key in fields}
    texts.setdefault("number", str(fields.get("hand", "")))
    ante = _chips(fields["_ante"]) if "_ante" in fields else min(antes)
    hand = TableHand(
        names=names, stacks=stacks, blinds=blinds, actions=tuple(actions), holes=tuple(holes), boards=tuple(boards),
        big_blind=_chips(fields.get("min_bet", 0)) or max(blinds), collected=(0,) * n, rake=0, antes=antes, ante=ante,
        added=_chips(fields.get("_added", 0)), hero=int(fields.get("_hero", 0)) - 1,
        seats=tuple(map(int, fields.get("seats", ()))), scale=SCALE, **texts,
    )  # fmt: skip
    return _with_results(hand, fields)


def _with_results(hand: TableHand, fields: dict[str, Any]) -> TableHand:
    """Check the betting, and add the chips collected: those of the file, or the whole pot if one player is left."""
    table = Table(hand)
    for player, action in hand.actions:
        table.play(player, action)
    while table.actor < 0 and not table.finished:
        table.next_street()
    if not table.finished:
        raise SiteHandError("the hand breaks off", f"{hand.names[table.actor]!r} has yet to act")
    cards = [card for hole in hand.holes for card in hole] + list(hand.boards[0])
    if len(set(cards)) < len(cards) or any(len(hole) not in (0, 2) for hole in hand.holes):
        raise SiteHandError("cards that cannot be dealt", "a card is dealt twice, or not two to a player")
    called = table.called()
    pot = sum(called) + hand.added
    if "winnings" in fields:
        collected = tuple(map(_chips, fields["winnings"]))
    elif "finishing_stacks" in fields:
        ends = map(_chips, fields["finishing_stacks"])
        collected = tuple(end - stack + put for end, stack, put in zip(ends, hand.stacks, called, strict=True))
    elif table.live == 1:
        collected = tuple(0 if out else pot for out in table.folded)
    else:
        if any(not hole and not out for hole, out in zip(hand.holes, table.folded, strict=True)):
            raise SiteHandError("an unknown winner", "hidden cards at the showdown, and no winnings")
        collected = showdown_shares(hand, tuple(called), tuple(table.folded))
    rake = pot - sum(collected)
    if len(collected) != hand.players or min(collected) < 0 or rake < 0:
        raise SiteHandError("amounts that do not add up", f"the pot is {pot}, {sum(collected)} are collected")
    if "_rake" in fields and _chips(fields["_rake"]) != rake:
        raise SiteHandError("amounts that do not add up", f"the rake is {rake}, not {fields['_rake']}")
    return replace(hand, collected=collected, rake=rake)
