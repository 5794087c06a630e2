"""Cards as people write them: `QsJh2h`, `Qs Jh 2h` and `Qs,Jh,2h` are the same board. Case does not matter."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

from riverboat.cards.deck import HAND_CARDS, RANKS, SUITS, card_name, parse_card
from riverboat.core.errors import InputError, shown

Cards: TypeAlias = str | Iterable[int]  # as written, or as numbers

_BOARDS = (0, 3, 4, 5)


def parse_cards(text: str, what: str = "cards") -> tuple[int, ...]:
    """The numbers of different cards, in the order written; `what` they are is for errors."""
    cards: list[int] = []
    for chunk in re.finditer(r"[^\s,]+", text):
        for start in range(chunk.start(), chunk.end(), 2):
            token = text[start : min(start + 2, chunk.end())]
            try:
                card = parse_card(token)
            except InputError:
                allowed = f"write a rank of {RANKS} and a suit of {SUITS}, such as As"
                raise bad_token(f"{what} {shown(text)}", token, start, allowed) from None
            if card in cards:
                raise bad_token(f"{what} {shown(text)}", token, start, "this card is there already; each stands once")
            cards.append(card)
    return tuple(cards)


def parse_board(text: str) -> tuple[int, ...]:
    """The cards of a flop, a turn or a river; none before the flop."""
    cards = parse_cards(text, "board")
    if len(cards) not in _BOARDS:
        raise InputError(f"board {shown(text)}: {_count(cards)}; a flop has 3, a turn 4, a river 5")
    return cards


def parse_hand(text: str) -> tuple[int, int]:
    """The two cards of a hand such as `AsKs`, in the order written."""
    cards = parse_cards(text, "hand")
    if len(cards) != 2:
        raise InputError(f"hand {shown(text)}: {_count(cards)}; a hand has 2, such as AsKs")
    return cards[0], cards[1]


def as_board(board: Cards) -> tuple[int, ...]:
    """A board given as text or as card numbers, checked."""
    return parse_board(board if isinstance(board, str) else show_cards(board))


def as_hand(hand: Cards) -> tuple[int, int]:
    """A hand given as text or as card numbers, checked."""
    return parse_hand(hand if isinstance(hand, str) else show_cards(hand))


def show_cards(cards: Iterable[int], sep: str = "") -> str:
    """`QsJh2h` for the three cards; with `sep` between them."""
    return sep.join(card_name(int(card)) for card in cards)


def show_hand(hand: int) -> str:
    """`AsKs` for the number of a hand, the higher card first."""
    if not 0 <= hand < len(HAND_CARDS):
        raise InputError(f"hand number {hand}: must be 0 to {len(HAND_CARDS) - 1}")
    return show_cards(HAND_CARDS[hand][::-1])


def bad_token(where: str, token: str, start: int, reason: str) -> InputError:
    """An error that points at a token; positions count from 1."""
    return InputError(f"{where}: token {shown(token)} at position {start + 1}: {reason}")


def _count(cards: tuple[int, ...]) -> str:
    return f"{len(cards)} card{'s' * (len(cards) != 1)}"
