"""Short deck: rankings against the written rules, pokerkit and counting; equities and classes."""

from __future__ import annotations

from itertools import chain, combinations, pairwise
from math import comb

import numpy as np
import pokerkit
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference import short_deck

from riverboat.cards import ranking
from riverboat.cards.deck import FULL_DECK, HAND_CARDS, HAND_RULES, SHORT_RANKS, STANDARD_RULES, Deck, card_name
from riverboat.cards.equity.equities import equity
from riverboat.cards.features.hand_features import board_wins
from riverboat.cards.hand_classes import MADE_HANDS, classify, classify_all
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

SHORT = [name for name in HAND_RULES if name != STANDARD_RULES]
DECKS = {name: Deck.for_rules(name) for name in HAND_RULES}
CARDS = DECKS["short"].cards


def names(cards: Array | tuple[int, ...]) -> list[str]:
    return [card_name(int(c)) for c in cards]


def draw(count: int, size: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    return CARDS[np.argsort(rng.random((count, len(CARDS))), axis=1)[:, :size]]


# --- ranking ---


@pytest.mark.parametrize("rules", SHORT)
def test_hands_of_five_cards_by_counting(rules: str) -> None:
    """All hands. The counts follow from combinatorics: nine ranks in four suits."""
    hands = np.array(list(combinations(CARDS.tolist(), 5)), np.uint8)
    values = ranking.rank_batch(hands, rules, check=False)
    names_of = np.array(["", *(ranking.category(value, rules) for value in range(1, int(values.max()) + 1))])
    straights = 6  # A-6-7-8-9 to T-J-Q-K-A
    expected = {
        "straight flush": straights * 4,
        "four of a kind": 9 * 8 * 4,
        "flush": (comb(9, 5) - straights) * 4,
        "full house": 9 * comb(4, 3) * 8 * comb(4, 2),
        "straight": straights * (4**5 - 4),
        "three of a kind": 9 * comb(4, 3) * comb(8, 2) * 4**2,
        "two pair": comb(9, 2) * comb(4, 2) ** 2 * 7 * 4,
        "pair": 9 * comb(4, 2) * comb(8, 3) * 4**3,
        "high card": (comb(9, 5) - straights) * (4**5 - 4),
    }
    assert sum(expected.values()) == comb(36, 5) == len(hands)
    for name, count in expected.items():
        assert (names_of[values] == name).sum() == count
    # Number of classes of each category. Classes are numbered without gaps.
    classes = (
        6 + 9 * 8 + (comb(9, 5) - 6) + 9 * 8 + 6 + 9 * comb(8, 2) + comb(9, 2) * 7 + 9 * comb(8, 3) + (comb(9, 5) - 6)
    )
    assert classes == 1404
    assert np.array_equal(np.unique(values), np.arange(1, classes + 1))


@pytest.mark.parametrize("rules", SHORT)
@pytest.mark.parametrize("size", [5, 6, 7])
def test_hands_compare_by_the_rules(rules: str, size: int) -> None:
    hands = draw({5: 8000, 6: 2000, 7: 600}[size], size, seed=size)
    ours = ranking.rank_batch(hands, rules)
    theirs = [short_deck.strength(names(hand), trips=rules == "short-trips") for hand in hands]
    both = sorted(set(zip(theirs, ours.tolist(), strict=True)))
    for (worse, low), (better, high) in pairwise(both):  # each strength has one class, and classes rise with it
        assert worse < better
        assert low < high
    assert {ranking.category(int(v), rules) for v in ours} >= {"straight", "flush", "full house", "three of a kind"}


@pytest.mark.parametrize("size", [5, 7])
def test_pokerkit_agrees(size: int) -> None:
    """Pokerkit's short-deck hands follow the rules called short here."""
    hands = draw(600, size, seed=10 + size)
    ours = ranking.rank_batch(hands, "short").astype(int)
    theirs = [pokerkit.ShortDeckHoldemHand.from_game("".join(names(hand))) for hand in hands]
    for a, b in zip(range(598), range(2, 600), strict=True):
        assert (ours[a] > ours[b]) == (theirs[a] > theirs[b])
        assert (ours[a] == ours[b]) == (theirs[a] == theirs[b])


@given(st.lists(st.sampled_from(CARDS.tolist()), min_size=7, max_size=7, unique=True), st.sampled_from(SHORT))
def test_seven_cards_rank_as_their_best_five(cards: list[int], rules: str) -> None:
    best = max(ranking.rank(five, rules) for five in combinations(cards, 5))
    assert ranking.rank(cards, rules) == best == max(ranking.rank(six, rules) for six in combinations(cards, 6))


def test_descriptions() -> None:
    for rules in SHORT:
        assert ranking.describe(ranking.rank("As6c7d8h9s", rules), rules) == "straight, 9 high"
        assert ranking.describe(ranking.rank("As6s7s8s9s", rules), rules) == "straight flush, 9 high"
        assert ranking.describe(ranking.rank("AsKsQsJsTs", rules), rules) == "royal flush"
        assert ranking.describe(ranking.rank("KsKdKh7s7d6cAc", rules), rules) == "full house, K over 7"
        assert ranking.rank("6s7s8s9sJs", rules) > ranking.rank("AsAdAhKsKd", rules)
    trips, straight = "AsAdAhKsQd7c6c", "6s7d8h9cTc"
    assert ranking.rank(trips, "short") < ranking.rank(straight, "short")
    assert ranking.rank(trips, "short-trips") > ranking.rank(straight, "short-trips")
    assert ranking.category(ranking.rank("As6c7d8h9s")) == "high card"  # standard rules know no such straight


# --- decks ---


def test_decks_of_36_cards_need_rules() -> None:
    with pytest.raises(InputError, match=r"deck of 36 cards, 6789TJQKA: .* short .* short-trips .* standard"):
        Deck(SHORT_RANKS)
    with pytest.raises(InputError, match=r"'shorts'.*'short'"):
        Deck(SHORT_RANKS, rules="shorts")
    with pytest.raises(InputError, match=r"ranks='789TJQKA': .*6789TJQKA"):
        Deck("789TJQKA", rules="short")
    assert [Deck(SHORT_RANKS, rules=name).rules for name in HAND_RULES] == list(HAND_RULES)
    assert len({Deck(SHORT_RANKS, rules=name) for name in HAND_RULES}) == 3
    assert Deck.small(9).rules == Deck("789TJQKA").rules == FULL_DECK.rules == STANDARD_RULES
    with pytest.raises(InputError, match=r"card 2c: .*short"):
        ranking.rank("2c7d8h9sTs", "short")


def test_a_smaller_deck_keeps_the_standard_rules() -> None:
    """The ace counts as one only below the deuce: without deuces there is no lowest straight with an ace."""
    deck = Deck("789TJQKA")
    board = [card for card in deck.cards.tolist() if card_name(card) in ("7s", "8d", "9h", "Tc", "Ks")]
    values = ranking.hand_strengths(board, deck)
    aces = [k for k, hand in enumerate(deck.hands.tolist()) if all(c >= 48 for c in hand)]
    assert {ranking.category(int(values[k])) for k in aces} == {"pair"}


@pytest.mark.parametrize("rules", SHORT)
def test_strengths_on_a_board(rules: str) -> None:
    deck = DECKS[rules]
    board = draw(1, 5, seed=3)[0]
    twice = board_wins(board, deck)
    held = [tuple(hand) for hand in deck.hands.tolist() if not set(hand) & set(board.tolist())]
    strengths = {h: short_deck.strength(names((*h, *board.tolist())), trips=rules == "short-trips") for h in held}
    for number in (0, 100, 300, 500):
        hand = tuple(deck.hands[number].tolist())
        if hand in strengths:
            met = [strengths[o] for o in held if not set(o) & set(hand)]
            assert twice[number] == sum(2 * (strengths[hand] > w) + (strengths[hand] == w) for w in met)


# --- equities ---


@pytest.mark.parametrize("rules", HAND_RULES)
@pytest.mark.parametrize(("sides", "board"), [(("AhKh", "7c7d"), "6h7h9c"), (("AhKh", "7c7d", "TsJs"), "6h7h9c8d")])
def test_equities_of_hands_by_enumeration(rules: str, sides: tuple[str, ...], board: str) -> None:
    deck = Deck(SHORT_RANKS, rules=rules)
    known = [board[k : k + 2] for k in range(0, len(board), 2)]
    holes = [[side[:2], side[2:]] for side in sides]
    left = [c for c in names(deck.cards) if c not in {*known, *chain(*holes)}]
    shares, total = np.zeros(len(sides)), 0
    for rest in combinations(left, 5 - len(known)):
        if rules == STANDARD_RULES:
            strengths = [(ranking.rank("".join(hole + known + list(rest))), ()) for hole in holes]
        else:
            strengths = [short_deck.strength(hole + known + list(rest), trips=rules == "short-trips") for hole in holes]
        best = [w == max(strengths) for w in strengths]
        shares += np.array(best) / sum(best)
        total += 1
    found = equity(*sides, board=board, deck=deck)
    assert found.exact
    assert found.showdowns == total
    np.testing.assert_allclose(found.shares, shares / total, rtol=1e-12)


@pytest.mark.parametrize("rules", SHORT)
def test_equities_of_ranges_are_means_over_their_hands(rules: str) -> None:
    deck = DECKS[rules]
    found = equity("AKs,66", "JTs,99", board="7s8s9d", deck=deck)
    mass = won = 0.0
    for first in ("AcKc", "AdKd", "AhKh", "AsKs", "6c6d", "6c6h", "6c6s", "6d6h", "6d6s", "6h6s"):
        for second in ("JcTc", "JdTd", "JhTh", "JsTs", "9c9h", "9c9s", "9h9s"):
            if {first[:2], first[2:]} & {second[:2], second[2:]}:
                continue
            won += equity(first, second, board="7s8s9d", deck=deck).shares[0]
            mass += 1
    assert found.shares[0] == pytest.approx(won / mass, rel=1e-12)


def test_equities_before_the_flop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Canonical boards are enough; samples agree with enumeration."""
    deck = DECKS["short"]
    pairs = [("AsAh", "KdKc"), ("AsAh", "KsKc"), ("AsAh", "KsKh")]  # no suit shared, one, both: 6, 24 and 6 of 36 pairs
    alone = [equity(*pair, deck=deck) for pair in pairs]
    assert [found.showdowns for found in alone] == [comb(32, 5)] * 3
    mean = sum(count * found.shares[0] for count, found in zip((6, 24, 6), alone, strict=True)) / 36
    assert equity("AA", "KK", deck=deck).shares[0] == pytest.approx(mean, rel=1e-12)
    assert alone[0].shares[0] != equity(*pairs[0]).shares[0]  # of 52 cards
    exact = equity("AsAh", "KdKc", "QdQc", deck=deck)
    monkeypatch.setattr("riverboat.cards.equity.equities.MAX_ENUMERATED_SHOWDOWNS", 0)
    sampled = equity("AsAh,AsAd:1e-9", "KdKc", "QdQc", deck=deck, samples=40_000)
    assert exact.exact
    assert not sampled.exact
    assert sampled.shares == pytest.approx(exact.shares, abs=0.02)


def test_cards_outside_the_deck() -> None:
    deck = DECKS["short"]
    with pytest.raises(InputError, match=r"number 1 \('22'\)"):
        equity("22", "AA", deck=deck)
    with pytest.raises(InputError, match="2h"):
        equity("AA", "KK", board="2h7h9c", deck=deck)
    with pytest.raises(InputError, match=r"deck of 20 cards: 10 hands .* 25"):
        equity(*["AA"] * 10, deck=Deck.small(5))


# --- classes ---

OF_CATEGORY = {name: name for name in ("straight flush", "full house", "flush", "straight")} | {
    "four of a kind": "quads"
}


@pytest.mark.parametrize("rules", HAND_RULES)
def test_made_hands_agree_with_the_ranking(rules: str) -> None:
    """On every kind of board: straights and better are classified as they rank, and nothing else is."""
    deck = Deck(SHORT_RANKS, rules=rules)
    boards = [*draw(40, 5, seed=1), *draw(20, 4, seed=2), *draw(20, 3, seed=3)]
    boards.append(np.array([c for c in CARDS if card_name(int(c)) in ("8s", "8d", "8h", "9c", "Tc")], np.uint8))
    for board in boards:
        made = classify_all(board.tolist(), deck).made
        held = np.flatnonzero(made >= 0)
        assert len(held) == comb(36 - len(board), 2)
        cards = np.concatenate([HAND_CARDS[held], np.broadcast_to(board, (len(held), len(board)))], axis=1)
        values = ranking.rank_batch(cards, rules)
        for place, value in zip(made[held], values, strict=True):
            category = ranking.category(int(value), rules)
            assert (MADE_HANDS[place] if MADE_HANDS[place] in OF_CATEGORY.values() else None) == OF_CATEGORY.get(
                category
            )
            if MADE_HANDS[place] in ("set", "trips"):
                assert category == "three of a kind"


def test_draws_depend_on_the_deck() -> None:
    short, trips = DECKS["short"], DECKS["short-trips"]
    assert classify("As6c", "7d8hKs", short).draws == ("gutshot",)  # a nine makes A-6-7-8-9
    assert "gutshot" not in classify("As6c", "7d8hKs").draws
    assert classify("6s7c", "8d9hKs", short).draws == ("open-ended",)  # a ten, or an ace below
    assert classify("JsQc", "KdAh9s", short).draws == ("gutshot",)
    trips_and_draw = "9s8c", "9d9hTsJs"
    assert "open-ended" in classify(*trips_and_draw, short).draws
    assert classify(*trips_and_draw, trips).draws == ("no draw",)  # a straight would be worse
    with pytest.raises(InputError, match="2c"):
        classify("2c2d", "7d8hKs", short)
    # without an ace in the deck the king is the nut flush draw, and broadway is no draw
    low = Deck("23456789TJQK")
    assert "nut flush draw" in classify("KsQs", "2s7s9d", low).draws
    assert classify("KsQd", "JcTh2s", low).draws == ("gutshot", "overcards")
