"""Feature tables against published values and brute force."""

import numpy as np
import pytest

from riverboat.cards import ranking
from riverboat.cards.deck import HAND_CARDS, hand_index
from riverboat.cards.equity._kernels import showdown as kernels
from riverboat.cards.equity.equities import equity, hand_classes
from riverboat.cards.features import street_features
from riverboat.cards.isomorphism import Indexer, canonical_boards
from riverboat.cards.notation import parse_cards
from riverboat.core.errors import InputError

CARDS = np.array(HAND_CARDS)


def runout(board, bins=50):
    """The features of every hand on one flop or turn."""
    here = np.array([parse_cards(board)], np.uint8)
    count = np.zeros((1, 1326, bins), np.uint16)
    first, second = np.zeros((1, 1326), np.int64), np.zeros((1, 1326), np.int64)
    kernels.runout_features(
        here, CARDS, ranking.tables(7), kernels.scratch(), np.zeros(52, np.int32), np.zeros(5, np.uint8),
        street_features.bin_numbers(bins), count, first, second,
    )  # fmt: skip
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
    found = np.empty((1, 1326), np.uint16)
    river = np.array([parse_cards("7dQh4h2s3c")], np.uint8)
    kernels.strength_boards(river, CARDS, ranking.tables(7), kernels.scratch(), np.zeros(52, np.int32), found)
    assert found[0, index("KcQc")] / 1980 == pytest.approx(0.855556, abs=5e-7)


def test_river_strengths_are_equities():
    board = "QsJh2h8c3d"
    found = np.empty((1, 1326), np.uint16)
    here = np.array([parse_cards(board)], np.uint8)
    kernels.strength_boards(here, CARDS, ranking.tables(7), kernels.scratch(), np.zeros(52, np.int32), found)
    shares = equity("random", "random", board=board).by_hand
    live = found[0] != 65535
    assert live.sum() == 1081
    np.testing.assert_allclose(found[0][live] / 1980, shares[live], atol=1e-12)


def test_groups_add_up():
    """OCHS against one group is plain strength; against all groups, weighted by what is met, it is too."""
    board = np.array([parse_cards("QsJh2h8c3d")], np.uint8)
    group = street_features.published_groups()[hand_classes()].astype(np.int8)
    assert [int((group == g).sum()) for g in range(8)] == [224, 188, 164, 202, 140, 206, 160, 42]
    out = np.zeros((1, 1326, 8))
    kernels.group_boards(
        board, CARDS, group, ranking.tables(7), kernels.scratch(8), np.zeros(5, np.uint8), np.zeros((1326, 8)), out
    )
    one = np.zeros((1, 1326, 1))
    none = np.zeros(1326, np.int8)
    kernels.group_boards(
        board, CARDS, none, ranking.tables(7), kernels.scratch(), np.zeros(5, np.uint8), np.zeros((1326, 1)), one
    )
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
    found = street_features.features("preflop", bins=50, threads=2)
    at = Indexer((2,)).index(np.array([parse_cards("AsAh"), parse_cards("7s2h")], np.uint8))
    assert found.mean[at] == pytest.approx([0.8520, 0.3458], abs=2e-4)
    assert found.histogram.shape == (169, 50)


def test_threads_change_nothing_and_every_class_is_filled(monkeypatch):
    """On some flops only, so that it is quick."""
    boards, weights = canonical_boards(3)
    some = boards[::300], weights[::300]
    monkeypatch.setattr(street_features, "canonical_boards", lambda cards: some)
    monkeypatch.setattr(street_features.np, "empty", lambda shape, dtype=float: np.zeros(shape, dtype))
    one = street_features.features("flop", bins=10, threads=1)
    two = street_features.features("flop", bins=10, threads=2)
    np.testing.assert_array_equal(one.mean, two.mean)
    np.testing.assert_array_equal(one.histogram, two.histogram)
    assert set(np.unique(one.histogram.sum(axis=1))) == {0, 1081}
    assert np.all(one.square >= one.mean**2 - 1e-6)  # Jensen


@pytest.mark.slow
def test_whole_river_and_turn_tables():
    river = street_features.river_strengths(threads=2)
    assert river.shape == (123_156_254,)
    assert river.max() == 1980
    at = Indexer((2, 5)).index(np.array([parse_cards("KcQc7dQh4h2s3c")], np.uint8))
    assert river[at[0]] / 1980 == pytest.approx(0.855556, abs=5e-7)
    # weighted by how many deals each class stands for, the mean strength is one half
    total = mass = 0.0
    for start in range(0, len(river), 10_000_000):
        some = np.arange(start, min(start + 10_000_000, len(river)))
        count = Indexer((2, 5)).count(some)
        total += float((river[some] * count).sum())
        mass += float(count.sum())
    assert total / mass / 1980 == pytest.approx(0.5, abs=1e-12)
    turn = street_features.features("turn", threads=2)
    assert turn.histogram.shape == (13_960_050, 50)
    assert int(turn.histogram.sum(axis=1).min()) == int(turn.histogram.sum(axis=1).max()) == 46


def test_bad_input():
    with pytest.raises(InputError, match="unknown street 'rivr'"):
        street_features.features("rivr")
    with pytest.raises(InputError, match="bins=0"):
        street_features.features("flop", bins=0)
    with pytest.raises(InputError, match="169 classes"):
        street_features.ochs("river", np.zeros(8))
    with pytest.raises(InputError, match="unknown street 'preflop'"):
        street_features.ochs("preflop")
