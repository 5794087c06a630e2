"""Notation of cards: `QsJh2h`, `Qs Jh 2h` and `Qs,Jh,2h` are the same board. Case does not matter."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

from riverboat.cards.deck import HAND_CARDS, RANKS, SUITS, card_name, parse_card
from riverboat.core.errors import InputError, short_repr

Cards: TypeAlias = str | Iterable[int]  # text, or card numbers

_BOARD_SIZES = (0, 3, 4, 5)


def parse_cards(text: str, kind: str = "cards") -> tuple[int, ...]:
    """Parse distinct cards in the order written.

    Parameters
    ----------
    text
        Cards such as `QsJh2h`, `Qs Jh 2h` or `Qs,Jh,2h`; case does not matter.
    kind
        What the cards are, for messages.

    Returns
    -------
    tuple of int
        Numbers of the cards.

    Raises
    ------
    InputError
        A token is no card, or a card is named twice.

    Examples
    --------
    >>> parse_cards("Qs, Jh 2h")
    (43, 38, 2)
    """
    cards: list[int] = []
    for chunk in re.finditer(r"[^\s,]+", text):
        for start in range(chunk.start(), chunk.end(), 2):
            token = text[start : min(start + 2, chunk.end())]
            try:
                card = parse_card(token)
            except InputError:
                allowed = f"write a rank of {RANKS} and a suit of {SUITS}, such as As"
                raise token_error(f"{kind} {short_repr(text)}", token, start, allowed) from None
            if card in cards:
                raise token_error(f"{kind} {short_repr(text)}", token, start, "duplicate card")
            cards.append(card)
    return tuple(cards)


def parse_board(text: str) -> tuple[int, ...]:
    """Parse the cards of a flop, a turn or a river; an empty text is the board before the flop.

    Parameters
    ----------
    text
        None, three, four or five cards.

    Returns
    -------
    tuple of int
        Numbers of the cards, in the order written.

    Raises
    ------
    InputError
        A token is no card, a card is named twice, or the number of cards is another.

    Examples
    --------
    >>> parse_board("QsJh2h")
    (43, 38, 2)
    """
    cards = parse_cards(text, "board")
    if len(cards) not in _BOARD_SIZES:
        raise InputError(f"board {short_repr(text)}: {_count_cards(cards)}; a flop has 3, a turn 4, a river 5")
    return cards


def parse_hand(text: str) -> tuple[int, int]:
    """Parse the two cards of a hand such as `AsKs`, in the order written.

    Parameters
    ----------
    text
        Two cards.

    Returns
    -------
    tuple of int
        Numbers of the two cards.

    Raises
    ------
    InputError
        The text has another number of cards, or a token is no card.

    Examples
    --------
    >>> parse_hand("AsKs")
    (51, 47)
    """
    cards = parse_cards(text, "hand")
    if len(cards) != 2:
        raise InputError(f"hand {short_repr(text)}: {_count_cards(cards)}; a hand has 2, such as AsKs")
    return cards[0], cards[1]


def as_cards(cards: Cards, kind: str = "cards") -> tuple[int, ...]:
    """Return cards given as text, which is checked, or as card numbers.

    Parameters
    ----------
    cards
        Text such as `Qs Jh`, or card numbers.
    kind
        Kind of cards, for messages.

    Returns
    -------
    tuple of int
        Card numbers.

    Raises
    ------
    InputError
        If a token is not a card, or a card is repeated.

    Examples
    --------
    >>> as_cards("AsKs")
    (51, 47)
    """
    return parse_cards(cards, kind) if isinstance(cards, str) else tuple(int(c) for c in cards)


def as_postflop_board(board: Cards, purpose: str) -> tuple[int, ...]:
    """Return a board of three to five cards, checked.

    Parameters
    ----------
    board
        Text such as `Qs Jh 2h`, or card numbers.
    purpose
        What needs the board, for messages.

    Returns
    -------
    tuple of int
        Card numbers.

    Raises
    ------
    InputError
        If it is not a flop, a turn or a river.

    Examples
    --------
    >>> len(as_postflop_board("QsJh2h", "hand classes"))
    3
    """
    cards = as_board(board)
    if not cards:
        raise InputError(f"{purpose} need a board of 3 to 5 cards, such as QsJh2h")
    return cards


def as_board(board: Cards) -> tuple[int, ...]:
    """Return a board given as text or as card numbers, checked.

    Parameters
    ----------
    board
        Text for `parse_board`, or card numbers.

    Returns
    -------
    tuple of int
        Numbers of the cards.

    Raises
    ------
    InputError
        The board is invalid, as for `parse_board`.

    Examples
    --------
    >>> as_board("QsJh2h") == as_board([43, 38, 2])
    True
    """
    return parse_board(board if isinstance(board, str) else format_cards(board))


def as_hand(hand: Cards) -> tuple[int, int]:
    """Return a hand given as text or as card numbers, checked.

    Parameters
    ----------
    hand
        Text for `parse_hand`, or two card numbers.

    Returns
    -------
    tuple of int
        Numbers of the two cards.

    Raises
    ------
    InputError
        The hand is invalid, as for `parse_hand`.

    Examples
    --------
    >>> as_hand([51, 47])
    (51, 47)
    """
    return parse_hand(hand if isinstance(hand, str) else format_cards(hand))


def format_cards(cards: Iterable[int], sep: str = "") -> str:
    """Format cards as `QsJh2h`.

    Parameters
    ----------
    cards
        Card numbers.
    sep
        Text between two cards.

    Returns
    -------
    str
        Names of the cards, in the given order.

    Examples
    --------
    >>> format_cards([43, 38, 2]), format_cards([51, 47], " ")
    ('QsJh2h', 'As Ks')
    """
    return sep.join(card_name(int(card)) for card in cards)


def format_hand(hand: int) -> str:
    """Format a hand index as `AsKs`, the higher card first.

    Parameters
    ----------
    hand
        Index of the hand, 0 to 1325.

    Returns
    -------
    str
        Names of its two cards.

    Raises
    ------
    InputError
        The index is outside that range.

    Examples
    --------
    >>> format_hand(1325)
    'AsAh'
    """
    if not 0 <= hand < len(HAND_CARDS):
        raise InputError(f"hand number {hand}: must be 0 to {len(HAND_CARDS) - 1}")
    return format_cards(HAND_CARDS[hand][::-1])


def token_error(where: str, token: str, start: int, reason: str) -> InputError:
    """Return an error that points at a token.

    Parameters
    ----------
    where
        What was parsed, such as `board 'QsJh2'`.
    token
        The token.
    start
        Position of the token, from 0; the message counts from 1.
    reason
        What is wrong with it.

    Returns
    -------
    InputError
        The error, for the caller to raise.

    Examples
    --------
    >>> print(token_error("board 'QsJh2'", "2", 4, "no suit"))
    board 'QsJh2': token '2' at position 5: no suit
    """
    return InputError(f"{where}: token {short_repr(token)} at position {start + 1}: {reason}")


def _count_cards(cards: tuple[int, ...]) -> str:
    return f"{len(cards)} card{'s' * (len(cards) != 1)}"
