"""Feature tables against published values and brute force."""

import numpy as np
import pytest

from riverboat.cards import ranking
from riverboat.cards.deck import HAND_CARDS, hand_index
from riverboat.cards.equity.equities import equity, starting_hand_classes
from riverboat.cards.features import hand_features
from riverboat.cards.isomorphism import HandIndexer, canonical_boards
from riverboat.cards.notation import parse_cards
from riverboat.core.errors import InputError

CARDS = np.array(HAND_CARDS)


def runout(board, bins=50):
    """Return the features of every hand on one flop or turn."""
    count, first, second = hand_features.runout_features(np.array([parse_cards(board)], np.uint8), bins)
    return first[0], second[0], count[0]


def index(hand):
    return hand_index(*parse_cards(hand))


# Ganzfried & Sandholm 2014 print 0.683 and 0.679 for these and 0.559 for their distance in bins of 0.02; six digits were
# counted independently.
def test_two_published_flop_hands():
    one, squares_one, bins_one = runout("7h9hQh")
    two, squares_two, bins_two = runout("3d5d7d")
    a, b = index("TcQd"), index("5c9d")
    assert one[a] / 1081 / 1980 == pytest.approx(0.682621, abs=5e-7)
    assert two[b] / 1081 / 1980 == pytest.approx(0.679172, abs=5e-7)
    assert squares_one[a] / 1081 / 1980**2 == pytest.approx(0.492201, abs=5e-7)
    assert squares_two[b] / 1081 / 1980**2 == pytest.approx(0.487215, abs=5e-7)
    distance = np.abs(np.cumsum(bins_one[a] / 1081 - bins_two[b] / 1081)).sum()
    assert distance == pytest.approx(0.5587, abs=5e-5)


def test_a_published_turn_and_river():
    turn, _, bins = runout("7h9hQhAd")
    assert turn[index("TcQd")] / 46 / 1980 == pytest.approx(0.694993, abs=5e-7)
    assert bins[index("TcQd")].sum() == 46
    found = hand_features.strengths_on_boards(np.array([parse_cards("7dQh4h2s3c")], np.uint8))
    assert found[0, index("KcQc")] / 1980 == pytest.approx(0.855556, abs=5e-7)


def test_river_strengths_are_equities():
    board = "QsJh2h8c3d"
    found = hand_features.strengths_on_boards(np.array([parse_cards(board)], np.uint8))
    shares = equity("random", "random", board=board).by_hand
    live = found[0] != 65535
    assert live.sum() == 1081
    np.testing.assert_allclose(found[0][live] / 1980, shares[live], atol=1e-12)


def test_groups_add_up():
    """OCHS against one group is plain strength, and so is the average over all groups, weighted by hands met."""
    board = np.array([parse_cards("QsJh2h8c3d")], np.uint8)
    group = hand_features.published_ochs_groups()[starting_hand_classes()].astype(np.int8)
    assert [int((group == g).sum()) for g in range(8)] == [224, 188, 164, 202, 140, 206, 160, 42]
    out = hand_features.ochs_on_boards(board, group)
    one = hand_features.ochs_on_boards(board, np.zeros(1326, np.int8))
    shares = equity("random", "random", board="QsJh2h8c3d").by_hand
    live = np.isfinite(shares)
    np.testing.assert_allclose(one[0, live, 0], shares[live], atol=1e-12)
    h = index("AcKd")
    mine = ranking.rank([*HAND_CARDS[h].tolist(), *board[0].tolist()])
    for g in range(8):
        others = [o for o in np.flatnonzero(group == g) if live[o] and not set(CARDS[o]) & set(CARDS[h])]
        values = [ranking.rank([*CARDS[o].tolist(), *board[0].tolist()]) for o in others]
        brute = np.mean([(mine > v) + (mine == v) / 2 for v in values])
        assert out[0, h, g] == pytest.approx(brute, abs=1e-12)


@pytest.mark.slow
def test_preflop_table():
    found = hand_features.street_features("preflop", bins=50, threads=2)
    at = HandIndexer((2,)).index(np.array([parse_cards("AsAh"), parse_cards("7s2h")], np.uint8))
    assert found.mean[at] == pytest.approx([0.8520, 0.3458], abs=2e-4)
    assert found.histogram.shape == (169, 50)


def test_results_do_not_depend_on_threads_and_every_class_is_filled(monkeypatch):
    """On a few flops, to be quick."""
    boards, weights = canonical_boards(3)
    some = boards[::300], weights[::300]
    monkeypatch.setattr(hand_features, "canonical_boards", lambda cards: some)
    monkeypatch.setattr(hand_features.np, "empty", lambda shape, dtype=float: np.zeros(shape, dtype))
    one = hand_features.street_features("flop", bins=10, threads=1)
    two = hand_features.street_features("flop", bins=10, threads=2)
    np.testing.assert_array_equal(one.mean, two.mean)
    np.testing.assert_array_equal(one.histogram, two.histogram)
    assert set(np.unique(one.histogram.sum(axis=1))) == {0, 1081}
    assert np.all(one.square >= one.mean**2 - 1e-6)  # Jensen


@pytest.mark.slow
def test_whole_river_and_turn_tables():
    river = hand_features.river_strengths(threads=2)
    assert river.shape == (123_156_254,)
    assert river.max() == 1980
    at = HandIndexer((2, 5)).index(np.array([parse_cards("KcQc7dQh4h2s3c")], np.uint8))
    assert river[at[0]] / 1980 == pytest.approx(0.855556, abs=5e-7)
    # weighted by the number of deals of each class, the mean strength is one half
    total = mass = 0.0
    for start in range(0, len(river), 10_000_000):
        some = np.arange(start, min(start + 10_000_000, len(river)))
        count = HandIndexer((2, 5)).count(some)
        total += float((river[some] * count).sum())
        mass += float(count.sum())
    assert total / mass / 1980 == pytest.approx(0.5, abs=1e-12)
    turn = hand_features.street_features("turn", threads=2)
    assert turn.histogram.shape == (13_960_050, 50)
    assert int(turn.histogram.sum(axis=1).min()) == int(turn.histogram.sum(axis=1).max()) == 46


def test_invalid_input():
    with pytest.raises(InputError, match="unknown street 'rivr'"):
        hand_features.street_features("rivr")
    with pytest.raises(InputError, match="bins=0"):
        hand_features.street_features("flop", bins=0)
    with pytest.raises(InputError, match="169"):
        hand_features.ochs_features("river", np.zeros(8))
    with pytest.raises(InputError, match="unknown street 'preflop'"):
        hand_features.ochs_features("preflop")
