"""Hand ranking: all hands, and other evaluators."""

from itertools import combinations, combinations_with_replacement

import numpy as np
import phevaluator
import pokerkit
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riverboat.cards import ranking
from riverboat.cards.deck import HAND_CATEGORIES, Deck, card_name, parse_card
from riverboat.core.errors import InputError

# Known counts of the categories, high card first, and of the classes that appear; checked by enumeration in the
# literature many times over (5 cards: 2,598,960 hands; 7 cards: 133,784,560).
COUNTS = {
    5: ([1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 40], 7462),
    6: ([6612900, 9730740, 2532816, 732160, 361620, 205792, 165984, 14664, 1844], 6075),
    7: ([23294460, 58627800, 31433400, 6461620, 6180020, 4047644, 3473184, 224848, 41584], 4824),
}


@pytest.mark.parametrize("cards", [5, 6, 7])
def test_counts_of_all_hands(cards):
    counts = ranking.count_rank_classes(cards)
    category = np.array(["", *(ranking.category(value) for value in range(1, len(counts)))])
    found = [int(counts[category == name].sum()) for name in HAND_CATEGORIES]
    assert (found, int((counts > 0).sum())) == COUNTS[cards]


def test_rank_keys_are_unique():
    for cards in range(1, 8):
        sums = [
            sum(ranking.RANK_KEYS[r] for r in ranks)
            for ranks in combinations_with_replacement(range(13), cards)
            if all(ranks.count(r) <= 4 for r in ranks)
        ]
        assert len(set(sums)) == len(sums)


def random_hands(count, cards, seed=0):
    rng = np.random.default_rng(seed)
    return np.argsort(rng.random((count, 52)), axis=1)[:, :cards].astype(np.uint8)


@pytest.mark.parametrize("cards", [5, 6, 7])
def test_phevaluator_agrees(cards):
    hands = random_hands(3000, cards)
    theirs = [phevaluator.evaluate_cards(*(card_name(c) for c in hand)) for hand in hands.tolist()]
    np.testing.assert_array_equal(ranking.rank_batch(hands), 7463 - np.array(theirs))  # theirs runs the other way


def test_pokerkit_agrees_on_real_hands():
    """The last hands of the 2003 and 2023 main events, and others as they were shown down."""
    boards = [("5s4d", "Jh9h", "Td8s5h5c2d"), ("KcJc", "8h2h", "9c8c2d7d3s"), ("AhKh", "QdQc", "2h7h9c4hQs")]
    for first, second, board in boards:
        ours = ranking.rank(first + board) - ranking.rank(second + board)
        theirs = [pokerkit.StandardHighHand.from_game(hand, board) for hand in (first, second)]
        assert (ours > 0) == (theirs[0] > theirs[1])
        assert (ours == 0) == (theirs[0] == theirs[1])


@given(st.lists(st.integers(0, 51), min_size=7, max_size=7, unique=True))
def test_seven_cards_rank_as_their_best_five(cards):
    best = max(ranking.rank(five) for five in combinations(cards, 5))
    assert ranking.rank(cards) == best == max(ranking.rank(six) for six in combinations(cards, 6))


def test_order_and_descriptions():
    ladder = ["7c5d4h3s2c", "AcKdQhJs9c", "2c2d3h4s5c", "AcAd3h4s5c", "2c2d3h3s4c", "2c2d2h3s4c", "Ac2d3h4s5c",
              "2c3d4h5s6c", "2c3c4c5c7c", "2c2d2h3s3c", "2c2d2h2s3c", "Ac2c3c4c5c", "AcKcQcJcTc"]  # fmt: skip
    values = [ranking.rank(hand) for hand in ladder]
    assert values == sorted(values)
    assert (values[0], values[-1]) == (1, 7462)
    assert ranking.describe(7462) == "royal flush"
    assert ranking.describe(ranking.rank("Ac2d3h4s5c")) == "straight, 5 high"
    assert ranking.describe(ranking.rank("AcAd2h2s9c")) == "two pair, A 2 9"


def test_small_hands_and_decks():
    assert ranking.rank("AsAd") > ranking.rank("AsKd") > ranking.rank("3s2s")  # no flushes of two cards
    assert ranking.rank("2s2d2c") > ranking.rank("AsAdKc") > ranking.rank("AsKdQc")
    leduc = Deck.small(3, 2, hole=1)  # Qh Qs Kh Ks Ah As
    strengths = ranking.hand_strengths([parse_card("Qs")], leduc)
    assert strengths.tolist()[1] == 0  # the board's own card
    assert strengths[0] > strengths[4] == strengths[5] > strengths[2] == strengths[3]  # the pair, aces, kings
    royal = Deck.small(5)
    board = [parse_card(c) for c in ("Ts", "Js", "Qs")]
    values = ranking.hand_strengths(board, royal)
    assert len(values) == royal.num_hands == 190
    best = royal.hands[int(values.argmax())].tolist()
    assert [card_name(c) for c in best] == ["Ks", "As"]
    assert (values == 0).sum() == 190 - 136  # 17 cards are left


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ranking.rank("AsAs2c3c4c"), "'As' at position 3: duplicate"),
        (lambda: ranking.rank([51, 52, 1, 2, 3]), "hand 0 is As 52"),
        (lambda: ranking.rank("AsKx"), "token 'Kx'"),
        (lambda: ranking.rank_batch(np.zeros((2, 8), np.uint8)), r"\(2, 8\)"),
        (lambda: ranking.category(0), "class 0.* 7,462"),
        (lambda: ranking.hand_strengths([parse_card("2c")], Deck.small(3)), "2c"),
        (lambda: ranking.count_rank_classes(4), "hands of 4 cards"),
    ],
)
def test_invalid_input(call, message):
    with pytest.raises(InputError, match=message):
        call()
