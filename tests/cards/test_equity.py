"""Equities against independent counts, brute force, and symmetry."""

from itertools import combinations

import numpy as np
import pytest

from riverboat.cards import ranking
from riverboat.cards.deck import HAND_CARDS
from riverboat.cards.equity._kernels import showdown
from riverboat.cards.equity.equities import (
    count_class_pairs,
    equity,
    preflop_equities,
    range_wins,
    runouts,
    showdown_workspace,
    starting_hand_classes,
)
from riverboat.cards.isomorphism import canonical_boards
from riverboat.cards.notation import parse_board, parse_cards
from riverboat.cards.ranges import Range
from riverboat.compiled.simd import SIMD_WIDTH
from riverboat.core.errors import InputError

# Win, tie, loss of the first hand over all 1,712,304 boards, counted by an independent program in C.
MATCHUPS = {
    ("AsAh", "KsKh"): (1410336, 9308, 292660),
    ("AsAh", "KsKd"): (1399204, 7923, 305177),
    ("AsAh", "KdKc"): (1388072, 6538, 317694),
    ("AsKs", "QhQd"): (787966, 6732, 917606),
    ("AsKh", "QdQc"): (730541, 5854, 975909),
    ("AsKh", "QsQh"): (743113, 8599, 960592),
    ("2c2d", "AhKs"): (903239, 9946, 799119),
    ("2c2d", "AhKh"): (849322, 10775, 852207),
    ("AsAh", "7d2c"): (1493820, 6236, 212248),
    ("AsAh", "7s2h"): (1519445, 8217, 184642),
    ("JsTs", "2c2d"): (912248, 24087, 775969),
    ("AsKs", "7d2c"): (1182502, 8354, 521448),
}


@pytest.mark.parametrize(("hands", "counts"), MATCHUPS.items())
def test_known_matchups(hands, counts):
    found = equity(*hands)
    assert (found.wins[0], found.ties[0], found.wins[1]) == counts
    assert found.exact
    assert found.showdowns == 1712304


@pytest.mark.slow
def test_ranges_before_the_flop():
    assert equity("AA", "KK").shares[0] == pytest.approx(0.819461, abs=5e-7)


@pytest.mark.slow
def test_all_hands_before_the_flop():
    assert equity("random", "random").shares[0] == pytest.approx(0.5, abs=1e-12)


def test_a_range_is_the_average_of_its_hands():
    board = "2h7h9c"
    pairs = [(a, b) for a in ("AhKh", "AsKs") for b in ("QsQd", "QcQd")]
    single = np.mean([equity(a, b, board=board).shares[0] for a, b in pairs])
    both = equity("AhKh,AsKs", "QsQd,QcQd", board=board)
    assert both.shares[0] == pytest.approx(single, abs=1e-12)
    weighted = equity("AhKh:0.25,AsKs", "QsQd", board=board).shares[0]
    parts = [equity(h, "QsQd", board=board).shares[0] for h in ("AhKh", "AsKs")]
    assert weighted == pytest.approx((0.25 * parts[0] + parts[1]) / 1.25, abs=1e-12)


@pytest.mark.parametrize("board", ["QsJh2h", "QsJh2h8c", "QsJh2h8c3d"])
def test_shares_agree_with_brute_force(board):
    """Twelve hands against twelve, board by board, pair by pair."""
    known = parse_board(board)
    rng = np.random.default_rng(5)
    live = [h for h in range(1326) if not set(HAND_CARDS[h].tolist()) & set(known)]
    chosen = rng.choice(live, 12, replace=False)
    weights = np.zeros(1326)
    weights[chosen] = rng.random(12)
    boards = runouts(known)[::37]
    won, met = range_wins(weights, boards, np.ones(len(boards)))
    for h in chosen[:4]:
        wins = mass = 0.0
        for full in boards:
            if set(full.tolist()) & set(HAND_CARDS[h].tolist()):
                continue
            mine = ranking.rank([*HAND_CARDS[h].tolist(), *full.tolist()])
            for o in chosen:
                cards = set(HAND_CARDS[o].tolist())
                if cards & (set(full.tolist()) | set(HAND_CARDS[h].tolist())):
                    continue
                theirs = ranking.rank([*HAND_CARDS[o].tolist(), *full.tolist()])
                mass += weights[o]
                wins += weights[o] * ((mine > theirs) + (mine == theirs) / 2)
        assert won[h] == pytest.approx(wins, rel=1e-12)
        assert met[h] == pytest.approx(mass, rel=1e-12)


def test_results_do_not_depend_on_threads():
    one = equity("22+,AsKs", "A2s+,KsQs", board="Td9d6h")
    two = equity("22+,AsKs", "A2s+,KsQs", board="Td9d6h", threads=2)
    assert one.shares == two.shares
    np.testing.assert_array_equal(one.by_hand, two.by_hand)


def test_three_hands():
    found = equity("AsAh", "KsKd", "QcQd")
    assert sum(found.shares) == pytest.approx(1, abs=1e-12)
    assert found.exact
    assert found.shares[0] > found.shares[1] > found.shares[2]
    # on a full board the best hand wins the pot, or it is split
    assert equity("AsAh", "KsKd", "QcQd", board="2c3c4d9h9s").shares == (1.0, 0.0, 0.0)
    assert equity("2s3h", "2d3d", "4c4d", board="AsKdQhJcTc").shares == pytest.approx((1 / 3,) * 3)


def test_several_ranges_are_sampled_with_their_error():
    exact = equity("AA", "KsKd", "QcQd", board="2h7h9c")
    assert exact.exact
    sampled = equity("AA,AKs", "random", "random", board="2h7h9c", samples=200_000, seed=1)
    again = equity("AA,AKs", "random", "random", board="2h7h9c", samples=200_000, seed=1)
    other = equity("AA,AKs", "random", "random", board="2h7h9c", samples=200_000, seed=2)
    assert not sampled.exact
    assert sampled.shares == again.shares
    assert all(0 < e < 0.01 for e in sampled.half_width)
    for a, b, e in zip(sampled.shares, other.shares, sampled.half_width, strict=True):
        assert abs(a - b) < 3 * e


def test_sampling_agrees_with_enumeration(monkeypatch):
    from riverboat.cards.equity import equities as module

    exact = equity("AA", "KsKd", "QcQd,7c6c", board="2h7h9c")
    monkeypatch.setattr(module, "MAX_ENUMERATED_SHOWDOWNS", 0)
    sampled = equity("AA", "KsKd", "QcQd,7c6c", board="2h7h9c", samples=400_000)
    for a, b, e in zip(exact.shares, sampled.shares, sampled.half_width, strict=True):
        assert abs(a - b) < 2.5 * e


def test_starting_hands_on_some_boards():
    """The kernel of the table of starting hands against every pair of hands, one board at a time."""
    boards, times = canonical_boards(5)
    boards, times = boards[::50_000], times[::50_000]
    group, found = starting_hand_classes(), np.zeros((169, 176))
    workspace = showdown_workspace(1326, SIMD_WIDTH)
    showdown.class_wins_on_boards(boards, times, group, ranking.rank_tables(7), workspace, found.reshape(-1))
    expected = np.zeros((169, 169), np.int64)
    for board, weight in zip(boards, times, strict=True):
        live = np.flatnonzero(~np.isin(HAND_CARDS, board).any(axis=1))
        cards = HAND_CARDS[live]
        ranks = np.array([ranking.rank([*hand, *board.tolist()]) for hand in cards.tolist()])
        apart = ~(cards[:, None, :, None] == cards[None, :, None, :]).any(axis=(2, 3))
        twice = np.where(apart, 2 * (ranks[:, None] > ranks) + (ranks[:, None] == ranks), 0)
        np.add.at(expected, (group[live][:, None], group[live]), int(weight) * twice)
    np.testing.assert_array_equal(found[:, :169], expected)


@pytest.mark.slow
def test_all_starting_hands_against_each_other(tmp_path, monkeypatch):
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: str(tmp_path))
    table = preflop_equities(threads=2)
    assert table.shape == (169, 169)
    np.testing.assert_allclose(table + table.T, 1.0, atol=1e-12)
    names = starting_hand_classes()
    aces, kings = names[Range.parse("AA").weights > 0][0], names[Range.parse("KK").weights > 0][0]
    assert table[aces, kings] == pytest.approx(0.819461, abs=5e-7)
    np.testing.assert_array_equal(preflop_equities(), table)  # from the cache
    # Against a random hand: AA .8520, 72o .3458, within the error of published simulations.
    pairs = count_class_pairs()
    mean = (table * pairs).sum(axis=1) / pairs.sum(axis=1)
    assert mean[aces] == pytest.approx(0.8521, abs=3e-4)
    assert mean[names[Range.parse("72o").weights > 0][0]] == pytest.approx(0.3457, abs=3e-4)
    assert int(pairs.sum()) == 1326 * 1225


@pytest.mark.parametrize(
    ("sides", "board", "message"),
    [
        (("AsAh", "AsKd"), "", r"card As\b"),
        (("AsAh", "KsKd"), "As2c3c", r"number 1 \('AsAh'\).*'As2c3c'"),
        (("AsAh", "KsKd"), "2c3c", "2 cards"),
        (("AsAh",), "", "^1 hands"),
        (("AsAh", "KsKx"), "", "KsKx"),
        (("AsKs", "AsKd,AsKh"), "2c3c4c", "ranges"),
    ],
)
def test_invalid_input(sides, board, message):
    with pytest.raises(InputError, match=message):
        equity(*sides, board=board)


def test_runouts():
    assert len(runouts(parse_cards("QsJh2h"))) == 1176
    assert len(list(combinations(range(47), 2))) == 1081
