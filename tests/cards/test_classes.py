"""Hand classes on boards: examples, counts by hand, and a slow reference over all five-card hands."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riverboat.cards.deck import HAND_CARDS, NUM_HANDS
from riverboat.cards.hand_classes import DRAWS, MADE_HANDS, HandClass, classify, classify_all
from riverboat.cards.notation import as_board, as_hand, format_cards, parse_cards
from riverboat.core.errors import InputError

# --- slow reference ---

STRAIGHTS = [{12, 0, 1, 2, 3}] + [set(range(low, low + 5)) for low in range(9)]  # of ranks, the ace is 12
ORDER = ("high", "pair", "two pair", "three", "straight", "flush", "full house", "quads", "straight flush")


def five(cards: tuple[int, ...]) -> tuple[int, list[tuple[int, int]]]:
    """Return the category of a five-card hand, and its ranks with their counts in comparison order."""
    ranks = Counter(card >> 2 for card in cards)
    grouped = sorted(((count, rank) for rank, count in ranks.items()), reverse=True)
    shape = tuple(count for count, _ in grouped)
    shapes = {(4, 1): "quads", (3, 2): "full house", (3, 1, 1): "three", (2, 2, 1): "two pair", (2, 1, 1, 1): "pair"}
    straight, flush = set(ranks) in STRAIGHTS, len({card & 3 for card in cards}) == 1
    other = "straight" if straight else "high"
    kind = "straight flush" if straight and flush else "flush" if flush else shapes.get(shape, other)
    return ORDER.index(kind), grouped


def slow_made(hand: tuple[int, int], board: tuple[int, ...]) -> str:
    kind, grouped = max(five(cards) for cards in combinations(hand + board, 5))
    ranks, public = [card >> 2 for card in hand], Counter(card >> 2 for card in board)
    pocket = ranks[0] == ranks[1]
    if kind >= ORDER.index("straight"):
        return ORDER[kind]
    if ORDER[kind] == "three":
        three = grouped[0][1]
        return "board pair" if three not in ranks else "set" if pocket else "trips"
    own = [rank for count, rank in grouped if count == 2 and rank in ranks]
    if len(own) == 2:
        return "two pair"
    if len(own) == 1:
        above = sum(rank > own[0] for rank in public)
        if pocket:
            return ("overpair", "pair below top", "underpair")[min(above, 2)]
        return ("top pair", "second pair", "third pair", "low pair")[min(above, 3)]
    if ORDER[kind] != "high":
        return "board pair"
    return {12: "ace high", 11: "king high"}.get(max(ranks), "high card")


def slow_draws(hand: tuple[int, int], board: tuple[int, ...]) -> set[str]:
    if len(board) == 5:
        return set()
    made = MADE_HANDS.index(slow_made(hand, board))
    found = set()
    if made > MADE_HANDS.index("flush"):
        for suit in range(4):
            mine = [card >> 2 for card in hand if card & 3 == suit]
            taken = [card >> 2 for card in board if card & 3 == suit]
            if mine and len(mine) + len(taken) == 4:
                nut = max(set(range(13)) - set(taken))
                found.add("nut flush draw" if nut in mine else "flush draw")
            if len(mine) == 2 and len(taken) == 1 and len(board) == 3:
                found.add("backdoor flush draw")
    if made > MADE_HANDS.index("straight"):
        public = {card >> 2 for card in board}
        mine_only = {card >> 2 for card in hand} - public
        held = public | mine_only
        outs = {r for r in range(13) for s in STRAIGHTS if r not in held and r in s <= held | {r} and s & mine_only}
        fours = [s - {low} for low, s in zip((12, *range(9)), STRAIGHTS, strict=True)]  # 2345, 3456, …
        closed = {9, 10, 11, 12}
        ends = {tuple(sorted(four)): {(min(four) - 1) % 13, max(four) + 1} for four in fours if four != closed}
        # 2345 are the upper four of the wheel; every four in a row but JQKA and A234 has two open ends.
        run = any(set(four) <= held and set(four) & mine_only and both <= outs for four, both in ends.items())
        if run:
            found.add("open-ended")
        elif outs:
            found.add("gutshot" if len(outs) == 1 else "double gutshot")
        if min(card >> 2 for card in hand) > max(public) and hand[0] >> 2 != hand[1] >> 2:
            found.add("overcards")
    if found & {"flush draw", "nut flush draw"} and found & {"open-ended", "double gutshot", "gutshot"}:
        found.add("combo draw")
    return found or {"no draw"}


def some_boards(cards: int, count: int, ranks: int = 13) -> list[tuple[int, ...]]:
    rng = np.random.default_rng(7 * cards + ranks)
    return [tuple(rng.permutation(4 * ranks)[:cards].tolist()) for _ in range(count)]


@pytest.mark.parametrize(
    "board",
    some_boards(3, 6) + some_boards(4, 5) + some_boards(5, 3) + some_boards(4, 2, 5) + some_boards(5, 3, 4),
    ids=format_cards,
)
def test_reference(board: tuple[int, ...]) -> None:
    made, draws = classify_all(board)
    for hand in np.random.default_rng(1).permutation(NUM_HANDS)[:350]:
        cards = (int(HAND_CARDS[hand][0]), int(HAND_CARDS[hand][1]))
        if set(cards) & set(board):
            assert made[hand] == -1
            assert not draws[hand].any()
            continue
        where = format_cards(cards) + " on " + format_cards(board)
        assert MADE_HANDS[made[hand]] == slow_made(cards, board), where
        assert {DRAWS[d] for d in np.flatnonzero(draws[hand])} == slow_draws(cards, board), where


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(0, 51), min_size=5, max_size=7, unique=True))
def test_reference_on_random_boards(cards: list[int]) -> None:
    hand, board = (cards[0], cards[1]), tuple(cards[2:])
    found = classify(hand, board)
    assert found.made == slow_made(hand, board)
    assert set(found.draws) == slow_draws(hand, board)
    assert list(found.draws) == sorted(found.draws, key=DRAWS.index)
    every = classify_all(board)
    at = max(hand) * (max(hand) - 1) // 2 + min(hand)
    assert found.made == MADE_HANDS[every.made[at]]
    assert found.draws == tuple(DRAWS[d] for d in np.flatnonzero(every.draws[at]))


# --- examples ---


@pytest.mark.parametrize(
    ("hand", "board", "made"),
    [
        ("JsTs", "AsKsQs", "straight flush"),
        ("2h3h", "AsKsQsJsTs", "straight flush"),  # the board plays
        ("5h2h", "Ah4h3h", "straight flush"),
        ("7h7s", "7c7d2h", "quads"),
        ("7h2s", "7c7d2h", "full house"),
        ("KhKd", "7c7d7h", "full house"),
        ("AhAd", "KsKd7c7hAc", "full house"),
        ("As2s", "Ks9s4s", "flush"),
        ("AsTh", "KdQdJs", "straight"),
        ("Ah4d", "2c3s5h", "straight"),
        ("7h7s", "7c5d2h", "set"),
        ("7h3s", "7c7d2h", "trips"),
        ("AhKh", "7c7d7s", "board pair"),
        ("7h2s", "7c5d2h", "two pair"),
        ("KhKs", "7c5d2h", "overpair"),
        ("AhAd", "KsKd7c", "overpair"),  # the kings are everyone's
        ("AhKd", "KsTd7c", "top pair"),
        ("QhQd", "KsTd7c", "pair below top"),
        ("AhTh", "KsTd7c", "second pair"),
        ("9h9d", "KsTd7c", "underpair"),
        ("2h2d", "KsTd7c", "underpair"),
        ("Ah7h", "KsTd7c", "third pair"),
        ("Ah2h", "KsTd7c2c", "low pair"),
        ("AhQd", "KsKd7c", "board pair"),
        ("Ah7d", "KsKd7c", "second pair"),
        ("7h2h", "7d2cKsKdAc", "third pair"),  # KK77: the deuces do not play
        ("2h2d", "KsKd7c7h", "board pair"),  # neither do these
        ("8h8d", "KsKd7c7h", "pair below top"),
        ("AhQd", "KsTd7c", "ace high"),
        ("KhQd", "Ts8d7c", "king high"),
        ("KhQd", "As8d7c", "king high"),
        ("Qh5d", "As8d7c", "high card"),
    ],
)
def test_made(hand: str, board: str, made: str) -> None:
    assert classify(hand, board).made == made
    assert slow_made(as_hand(hand), as_board(board)) == made


@pytest.mark.parametrize(
    ("hand", "board", "draws"),
    [
        ("AsKs", "Kd7s2s", ["nut flush draw"]),
        ("KsQs", "Ad7s2s", ["flush draw"]),
        ("KsQs", "As7s2d", ["nut flush draw"]),
        ("Ks8d", "As7s2s", ["nut flush draw"]),
        ("9h8h", "7hTh2c", ["combo draw", "flush draw", "open-ended"]),
        ("5h4h", "3d2cKs", ["open-ended"]),  # an ace or a six
        ("Ah5h", "3d2cKh", ["gutshot", "backdoor flush draw"]),
        ("AhKd", "QsJc2h", ["gutshot", "overcards"]),
        ("JhTd", "9s8c2h", ["open-ended", "overcards"]),
        ("8h6d", "5s4cTh", ["gutshot"]),
        ("9h5d", "7s6c3h", ["double gutshot"]),
        ("JcTd", "9s8d7h", ["no draw"]),  # it is made
        ("2c3d", "6s7s8d9h", ["no draw"]),  # the board's draw is everyone's
        ("Jc4d", "6s7s8d9h", ["double gutshot"]),
        ("QhJh", "Th9h2c", ["combo draw", "flush draw", "open-ended", "overcards"]),
        ("AhKh", "9h5c2d", ["backdoor flush draw", "overcards"]),
        ("AhKh", "9h5c2d3s", ["gutshot", "overcards"]),  # a four; and no backdoor draws on the turn
        ("AhAd", "9h5c2d", ["no draw"]),
        ("2h2d", "9h5c2c", ["no draw"]),
        ("7c2d", "AsKhTd", ["no draw"]),
        ("AsKs", "QsJs2d3h9c", []),
    ],
)
def test_draws(hand: str, board: str, draws: list[str]) -> None:
    assert classify(hand, board).draws == tuple(draws)
    assert slow_draws(as_hand(hand), as_board(board)) == set(draws)


def counts(board: str) -> tuple[dict[str, int], dict[str, int]]:
    made, draws = classify_all(board)
    return (
        {MADE_HANDS[k]: count for k, count in sorted(Counter(made[made >= 0].tolist()).items())},
        {name: int(count) for name, count in zip(DRAWS, draws.sum(axis=0), strict=True) if count},
    )


def test_counts_on_a_dry_paired_flop() -> None:
    made, _ = counts("7c7d2h")
    assert made == {
        "quads": 1,
        "full house": 2 * 3 + 3,
        "trips": 2 * 44,
        "overpair": 7 * 6,
        "pair below top": 4 * 6,
        "second pair": 3 * 44,
        "board pair": 1176 - 1 - 9 - 88 - 42 - 24 - 132,
    }


def test_counts_on_a_two_tone_flop() -> None:
    made, draws = counts("QsJh2h")
    assert made == {
        "set": 3 * 3,
        "two pair": 3 * 9,
        "overpair": 2 * 6,
        "top pair": 3 * 40,
        "second pair": 3 * 40,
        "third pair": 3 * 40,
        "underpair": 8 * 6,
        "ace high": 4 * 36,  # with K, T … 3
        "king high": 4 * 32,
        "high card": 8 * 7 // 2 * 16,
    }
    assert draws == {
        "combo draw": 7,  # KT T9 and AK AT K9 T8 98 of hearts
        "nut flush draw": 10,
        "flush draw": 10 * 9 // 2,
        "open-ended": 2 * 16,
        "gutshot": 5 * 16,
        "backdoor flush draw": 12 * 11 // 2,
        "overcards": 16,
        "no draw": 957,
    }


def test_counts_on_one_suit() -> None:
    made, draws = counts("AsKsQs")
    assert made["straight flush"] == 1
    assert made["flush"] == 10 * 9 // 2 - 1
    assert made["straight"] == 15
    assert draws["nut flush draw"] == 39  # the jack
    assert draws["flush draw"] == 9 * 39


@pytest.mark.parametrize("board", ["QsJh2h", "QsJh2h2c", "AsKsQsJsTs", "7c7d7h", "2c2d2h2s3c"])
def test_every_hand_has_one_class(board: str) -> None:
    made, draws = classify_all(board)
    cards = as_board(board)
    live = np.array([not set(hand) & set(cards) for hand in HAND_CARDS.tolist()])
    assert made.shape == (NUM_HANDS,)
    assert draws.shape == (NUM_HANDS, len(DRAWS))
    assert ((made >= 0) == live).all()
    assert made.max() < len(MADE_HANDS)
    assert not draws[~live].any()
    assert (draws[live].any(axis=1) == (len(cards) < 5)).all()
    none = draws[:, DRAWS.index("no draw")]
    assert not draws[none, :-1].any()


def test_suits_do_not_matter() -> None:
    board, hand = parse_cards("QsJh2h"), parse_cards("KhTh")
    turned = [[4 * (card >> 2) + (card + 1) % 4 for card in cards] for cards in (hand, board)]
    assert (
        classify(*turned) == classify(hand, board) == HandClass("king high", ("combo draw", "flush draw", "open-ended"))
    )


def test_invalid_input() -> None:
    with pytest.raises(InputError, match=r"AsKs.*KsQs2d.*Ks"):
        classify("AsKs", "KsQs2d")
    with pytest.raises(InputError, match="board of 3 to 5"):
        classify_all("")
    with pytest.raises(InputError, match="board 'AsKs': 2 cards"):
        classify_all("AsKs")
    with pytest.raises(InputError, match="hand 'AsKsQs': 3 cards"):
        classify("AsKsQs", "2c3c4c")
