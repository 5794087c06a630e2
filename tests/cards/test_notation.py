"""Cards, boards and hands as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riverboat.cards.deck import NUM_HANDS, hand_index
from riverboat.cards.notation import as_board, as_hand, format_cards, format_hand, parse_board, parse_cards, parse_hand
from riverboat.core.errors import InputError

FLOP = (43, 38, 2)  # 4 × rank + suit: Q is 10, J is 9, 2 is 0


@pytest.mark.parametrize(
    "text", ["QsJh2h", "Qs Jh 2h", "Qs,Jh,2h", "qsjh2h", "QSJH2H", " Qs, Jh,\t2h ", "QsJh 2h", "qS,jH 2h"]
)
def test_spellings(text: str) -> None:
    assert parse_board(text) == FLOP


def test_show() -> None:
    assert format_cards(FLOP) == "QsJh2h"
    assert format_cards(FLOP, " ") == "Qs Jh 2h"
    assert format_cards(FLOP, ",") == "Qs,Jh,2h"
    assert format_cards(()) == ""
    assert parse_hand("AsKs") == (51, 47)
    assert parse_hand("ks AS") == (47, 51)
    assert format_hand(0) == "2d2c"
    assert format_hand(NUM_HANDS - 1) == "AsAh"
    assert format_hand(hand_index(*parse_hand("KsAs"))) == "AsKs"


@given(st.lists(st.integers(0, 51), unique=True, max_size=10), st.sampled_from(["", " ", ",", ", ", "\n"]))
def test_cards_round_trip(cards: list[int], sep: str) -> None:
    assert parse_cards(format_cards(cards, sep)) == tuple(cards)


@given(st.integers(0, NUM_HANDS - 1))
def test_hands_round_trip(hand: int) -> None:
    assert hand_index(*parse_hand(format_hand(hand))) == hand


@pytest.mark.parametrize(
    ("text", "token", "position"),
    [
        ("QsJh2", "2", 5),
        ("QsJ2h", "J2", 3),
        ("Qs Jx 2h", "Jx", 4),
        ("Qs Jh2hQS", "QS", 8),
        ("Qs,Jh,Q", "Q", 7),
        ("10h9h8h", "10", 1),
        ("Qs;Jh;2h", ";J", 3),
        ("Qs J h2h", "J", 4),
        ("Q♠JhTh", "Q♠", 1),
    ],
)
def test_invalid_cards(text: str, token: str, position: int) -> None:
    with pytest.raises(InputError) as caught:
        parse_board(text)
    assert str(caught.value).startswith(f"board {text!r}: token {token!r} at position {position}: ")


@pytest.mark.parametrize(("text", "count"), [("As", "1 card"), ("AsKs", "2 cards"), ("2c3c4c5c6c7c", "6 cards")])
def test_invalid_boards(text: str, count: str) -> None:
    with pytest.raises(InputError, match=rf"board '{text}': {count}\b"):
        parse_board(text)


@pytest.mark.parametrize("text", ["", "As", "AsKsQs"])
def test_invalid_hands(text: str) -> None:
    with pytest.raises(InputError, match=f"hand '{text}'"):
        parse_hand(text)


def test_text_or_numbers() -> None:
    assert as_board("") == as_board(()) == ()
    assert as_board(FLOP) == as_board("QsJh2h") == FLOP
    assert as_hand((51, 47)) == as_hand("AsKs")
    with pytest.raises(InputError, match="token '2d' at position 3"):
        as_board((1, 1, 2))
    with pytest.raises(InputError, match="card number 52"):
        as_board((1, 2, 52))
    with pytest.raises(InputError, match="hand number 1326"):
        format_hand(1326)
