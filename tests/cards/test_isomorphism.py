"""Isomorphism classes: their number, that each is hit once, and that only suit names and order are ignored."""

from __future__ import annotations

import time
from itertools import combinations, permutations
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from reference.burnside import count_classes, count_deals
from riverboat.cards._kernels import isomorphism as kernels
from riverboat.cards.deck import Deck
from riverboat.cards.isomorphism import HandIndexer, board_index, canonical_boards
from riverboat.compiled.jit import KERNEL_OPTIONS
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

SIZES = {
    (2,): 169,
    (2, 3): 1_286_792,
    (2, 4): 13_960_050,
    (2, 3, 1): 55_190_538,
    (2, 5): 123_156_254,
    (2, 3, 1, 1): 2_428_287_420,
    (3,): 1_755,
    (4,): 16_432,
    (5,): 134_459,
    (3, 1): 63_193,
    (3, 1, 1): 2_554_656,
    (7,): 6_009_159,
    (2, 2): 93_769,
    (1,): 13,
    (1, 1): 325,
    (1, 1, 1): 9_997,
}
SMALL = [  # rounds, ranks, suits
    ((2,), 5, 4), ((2, 3), 5, 4), ((3,), 5, 4), ((1, 1), 3, 2), ((2, 2), 4, 3), ((1, 1, 1), 3, 4), ((4,), 2, 4),
    ((2, 2, 1), 3, 3), ((3, 2), 4, 2), ((1, 2, 1), 6, 1), ((6,), 3, 3), ((2, 3, 1), 3, 4), ((8,), 2, 4),
]  # fmt: skip


def random_deals(rng: np.random.Generator, count: int, width: int, cards: Array | None = None) -> Array:
    """Different cards, uniform. uint8 [count, width]"""
    deck = np.arange(52, dtype=np.uint8) if cards is None else cards
    return np.ascontiguousarray(rng.permuted(np.broadcast_to(deck, (count, len(deck))), axis=1)[:, :width])


def all_deals(rounds: tuple[int, ...], cards: list[int]) -> list[tuple[int, ...]]:
    """Every deal, cards of a round ascending."""
    if not rounds:
        return [()]
    deals = []
    for now in combinations(cards, rounds[0]):
        left = [c for c in cards if c not in now]
        deals += [now + later for later in all_deals(rounds[1:], left)]
    return deals


def canonical_keys(deals: Array, rounds: tuple[int, ...], suits: int) -> Array:
    """Return the smallest of all suit relabellings of each deal, as a number: the slow reference. int64 [deals]"""
    keys = []
    for permutation in permutations(range(suits)):
        relabelled = (deals & ~np.int64(3)) + np.array(permutation)[deals & 3]
        key, at = np.zeros(len(deals), np.int64), 0
        for n in rounds:
            key = key << 20 | (1 << relabelled[:, at : at + n]).sum(1)  # a set of the 20 cards of five ranks
            at += n
        keys.append(key)
    return np.min(keys, axis=0)


@pytest.mark.parametrize(("rounds", "size"), SIZES.items(), ids=str)
def test_number_of_classes(rounds: tuple[int, ...], size: int) -> None:
    indexer = HandIndexer(rounds)
    assert indexer.size() == size == count_classes(rounds)
    assert [indexer.size(r) for r in range(len(rounds))] == [SIZES[rounds[: r + 1]] for r in range(len(rounds))]


@pytest.mark.parametrize(("rounds", "ranks", "suits"), SMALL, ids=str)
def test_number_of_classes_in_small_decks(rounds: tuple[int, ...], ranks: int, suits: int) -> None:
    assert HandIndexer(rounds, ranks, suits).size() == count_classes(rounds, ranks, suits)


def test_royal_and_rhode_island() -> None:
    royal = Deck.small(5)
    assert [HandIndexer.for_deck(royal, rounds).size() for rounds in ((2,), (2, 3), (3,))] == [25, 7_760, 95]
    rhode_island = HandIndexer((1, 1, 1))
    assert [rhode_island.size(r) for r in range(3)] == [13, 325, 9_997]


@pytest.mark.parametrize(("rounds", "ranks", "suits"), [s for s in SMALL if s[1] <= 5], ids=str)
def test_classes_are_disjoint(rounds: tuple[int, ...], ranks: int, suits: int) -> None:
    indexer = HandIndexer(rounds, ranks, suits)
    deals = np.array(all_deals(rounds, [4 * r + s for r in range(ranks) for s in range(suits)]), np.int64)
    indices = indexer.index(deals)
    keys = canonical_keys(deals, rounds, suits)
    assert len(deals) == count_deals(rounds, ranks * suits)
    size = indexer.size()
    assert np.array_equal(np.unique(indices), np.arange(size))
    assert len(np.unique(keys)) == len(np.unique(np.stack([keys, indices]), axis=1).T) == size
    assert np.array_equal(np.bincount(indices), indexer.count(np.arange(size)))
    assert np.array_equal(indexer.index(indexer.unindex(np.arange(size))), np.arange(size))


@pytest.mark.parametrize("rounds", [(2,), (2, 3), (3,), (4,), (5,), (3, 1), (2, 2), (1, 1, 1)], ids=str)
def test_indices_round_trip_and_counts_sum_to_all_deals(rounds: tuple[int, ...]) -> None:
    indexer = HandIndexer(rounds)
    every = np.arange(indexer.size())
    deals = indexer.unindex(every)
    assert deals.dtype == np.uint8
    assert deals.shape == (len(every), sum(rounds))
    assert np.array_equal(indexer.index(deals), every)
    assert indexer.count(every).sum() == count_deals(rounds)
    at = 0
    for n in rounds:
        assert (np.diff(deals[:, at : at + n].astype(int), axis=1) > 0).all()  # a round's cards ascend
        at += n


def test_raw_counts() -> None:
    assert HandIndexer((2,)).count(np.arange(169)).tolist().count(4) == 78
    assert count_deals((2,)) == 1_326
    assert count_deals((2, 3)) == 25_989_600


@pytest.mark.parametrize("rounds", [(2, 4), (2, 5), (2, 3, 1), (2, 3, 1, 1), (3, 1, 1), (7,), (2, 3, 2)], ids=str)
def test_random_indices_round_trip(rounds: tuple[int, ...]) -> None:
    indexer = HandIndexer(rounds)
    some = np.random.default_rng(1).integers(indexer.size(), size=50_000)
    some[:2] = 0, indexer.size() - 1
    assert np.array_equal(indexer.index(indexer.unindex(some)), some)


@pytest.mark.parametrize("rounds", [(2, 3, 1, 1), (2, 5), (7,)], ids=str)
def test_count_is_the_number_of_relabellings(rounds: tuple[int, ...]) -> None:
    indexer = HandIndexer(rounds)
    rng = np.random.default_rng(2)
    few = rng.integers(0, 3, (300, 7)) * 4 + rng.integers(0, 4, (300, 7))  # of few ranks, so that some suits look alike
    few = few[[len(set(deal)) == 7 for deal in few.tolist()]]
    deals = np.concatenate([few, random_deals(rng, 300, 7)]).astype(int)
    found = []
    for deal in deals:
        images = set()
        for permutation in permutations(range(4)):
            image = (deal & ~3) + np.array(permutation)[deal & 3]
            images.add(tuple(frozenset(cards) for cards in np.split(image, np.cumsum(rounds))))
        found.append(len(images))
    assert indexer.count(indexer.index(deals)).tolist() == found
    assert len(set(found)) > 1


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [(2, 4), (2, 3, 1), (2, 5)], ids=str)
def test_all_large_deals_are_counted(rounds: tuple[int, ...]) -> None:
    indexer, step = HandIndexer(rounds), 1 << 20
    total = 0
    for first in range(0, indexer.size(), step):
        part = np.arange(first, min(first + step, indexer.size()))
        total += int(indexer.count(part).sum())
        assert np.array_equal(indexer.index(indexer.unindex(part)), part)
    assert total == count_deals(rounds)


@st.composite
def deals_and_images(draw: st.DrawFn) -> tuple[HandIndexer, list[int], list[int]]:
    """Draw a deal, and its image under a renaming of suits and a shuffle of each round."""
    rounds = draw(st.sampled_from([*SIZES, (2, 2, 2), (1, 2, 1), (10, 3), (13,)]))
    ranks, suits = draw(st.sampled_from([(13, 4), (9, 4), (13, 3), (8, 2), (13, 1)]))
    cards = [4 * rank + suit for rank in range(ranks) for suit in range(suits)]
    deal = draw(st.permutations(cards))[: sum(rounds)]
    rename = draw(st.permutations(range(suits)))
    image, at = [], 0
    for n in rounds:
        image += draw(st.permutations([card - card % 4 + rename[card % 4] for card in deal[at : at + n]]))
        at += n
    return HandIndexer(rounds, ranks, suits), deal, image


@settings(max_examples=150, deadline=None)
@given(deals_and_images())
def test_suit_names_and_order_do_not_matter(case: tuple[HandIndexer, list[int], list[int]]) -> None:
    indexer, deal, image = case
    index = indexer.index(deal)
    assert index == indexer.index(image)
    assert 0 <= index < indexer.size()
    again = indexer.unindex(index)
    assert sorted(c >> 2 for c in again.tolist()) == sorted(c >> 2 for c in deal)
    assert indexer.index(again) == index


def test_all_relabellings_of_rivers() -> None:
    indexer = HandIndexer((2, 3, 1, 1))
    deals = random_deals(np.random.default_rng(3), 5_000, 7)
    expected = indexer.index(deals)
    for permutation in permutations(range(4)):
        image = (deals & 0xFC) + np.array(permutation, np.uint8)[deals & 3]
        image[:, :2] = image[:, 1::-1]
        image[:, 2:5] = image[:, [4, 2, 3]]
        assert np.array_equal(indexer.index(image), expected)


def test_earlier_rounds_agree() -> None:
    turn, flop, hole = HandIndexer((2, 3, 1)), HandIndexer((2, 3)), HandIndexer((2,))
    deals = random_deals(np.random.default_rng(4), 20_000, 6)
    again = turn.unindex(turn.index(deals))
    for cards in (deals, again):
        assert np.array_equal(turn.index(cards[:, :5]), flop.index(deals[:, :5]))
        assert np.array_equal(turn.index(cards[:, :2]), hole.index(deals[:, :2]))
    assert np.array_equal(turn.unindex(np.arange(169), round=0), hole.unindex(np.arange(169)))
    assert np.array_equal(turn.count(np.arange(100), 1), flop.count(np.arange(100)))


def test_order_of_starting_hands() -> None:
    hands = HandIndexer((2,)).unindex(np.arange(169))
    high, low, suited = hands[:, 1] >> 2, hands[:, 0] >> 2, hands[:, 0] & 3 == hands[:, 1] & 3
    assert np.array_equal(suited, np.arange(169) >= 91)
    for index in range(169):
        h, lo = int(high[index]), int(low[index])
        assert index == (91 + comb(h, 2) + lo if suited[index] else comb(h + 1, 2) + lo)


def test_shapes_and_types() -> None:
    indexer = HandIndexer((2, 3))
    deals = random_deals(np.random.default_rng(5), 24, 5)
    flat = indexer.index(deals)
    assert flat.dtype == np.int64
    assert np.array_equal(indexer.index(deals.reshape(2, 3, 4, 5)), flat.reshape(2, 3, 4))
    assert np.array_equal(indexer.index(deals.astype(np.int64)), flat)
    assert np.array_equal(indexer.index(np.asfortranarray(deals)), flat)
    assert np.array_equal(indexer.index(deals, check=False), flat)
    assert int(indexer.index(deals[0])) == indexer.index(deals[0].tolist()) == flat[0]
    assert indexer.unindex(int(flat[0])).shape == (5,)
    assert indexer.unindex(flat.reshape(4, 6)).shape == (4, 6, 5)
    assert int(indexer.count(int(flat[0]))) in (4, 12, 24)
    assert indexer.index(deals[:0]).shape == indexer.count([]).shape == (0,)
    assert indexer.unindex([]).shape == (0, 5)
    assert "1,286,792" in repr(indexer)


def test_decks_keep_card_numbers() -> None:
    deck = Deck("A9K", "sh")
    indexer, plain = HandIndexer.for_deck(deck, (2, 1)), HandIndexer((2, 1), 3, 2)
    deals = np.array(all_deals((2, 1), deck.cards.tolist()))
    own = np.searchsorted(deck.cards, deals)
    assert np.array_equal(indexer.index(deals), plain.index(4 * (own // 2) + own % 2))
    assert set(indexer.unindex(np.arange(indexer.size())).ravel().tolist()) <= set(deck.cards.tolist())
    with pytest.raises(InputError, match=r"card 0 .*9h 9s Kh Ks Ah As"):
        indexer.index([0, 50, 51])


@pytest.mark.parametrize(("cards", "size"), [(3, 1_755), (4, 16_432), (5, 134_459)])
def test_canonical_boards(cards: int, size: int) -> None:
    boards, weights = canonical_boards(cards)
    assert boards.shape == (size, cards)
    assert weights.sum() == comb(52, cards)
    assert np.array_equal(board_index(boards), np.arange(size))
    assert canonical_boards(cards)[0] is boards
    assert not boards.flags.writeable
    assert not weights.flags.writeable


def test_weights_of_boards() -> None:
    flops = np.array(list(combinations(range(52), 3)), np.uint8)
    assert np.array_equal(np.bincount(board_index(flops)), canonical_boards(3)[1])
    royal = Deck.small(5)
    assert len(canonical_boards(3, royal)[0]) == 95
    assert np.array_equal(board_index(canonical_boards(3, royal)[0], royal), np.arange(95))


INVALID: list[tuple[Any, str]] = [
    (lambda: HandIndexer((2, 3)).index([0, 1, 2, 3, 0]), "deal 0 is 2c 2d 2h 2s 2c: .*2c"),
    (lambda: HandIndexer((2,)).index([[0, 1], [52, 1]]), "deal 1 is 52 2d: card 52"),
    (lambda: HandIndexer((2,)).index(np.array([[0, 255]], np.uint8)), "card 255"),
    (lambda: HandIndexer((2,)).index([0, -1]), "card -1"),
    (lambda: HandIndexer((2,)).index([0, 256]), "card 256"),
    (lambda: HandIndexer((2, 3)).index([0, 1, 2]), r"shape \(3,\).* 2, 5"),
    (lambda: HandIndexer((2,)).index(np.zeros((2, 0), np.uint8)), r"shape \(2, 0\)"),
    (lambda: HandIndexer((2,)).index(np.uint8(3)), r"shape \(\)"),
    (lambda: HandIndexer((2,)).index([0.0, 1.0]), "type float64"),
    (lambda: HandIndexer((2,)).unindex(169), r"index 169: .* 0 to 168"),
    (lambda: HandIndexer((2,)).unindex([3, -1]), "index -1"),
    (lambda: HandIndexer((2,)).count(0.5), "type float64"),
    (lambda: HandIndexer((2, 3)).size(2), r"round 2 of rounds \(2, 3\)"),
    (lambda: HandIndexer(()), "rounds"),
    (lambda: HandIndexer((2, 0)), r"rounds \(2, 0\)"),
    (lambda: HandIndexer((5,), 2, 2), r"rounds \(5,\)"),
    (lambda: HandIndexer((2,), 14), "deck of 14 ranks"),
    (lambda: HandIndexer((2,), 13, 5), "5 suits"),
    (lambda: HandIndexer((1,) * 10), "1,048,576"),
    (lambda: HandIndexer((12, 12)), r"rounds \(12, 12\)"),
    (lambda: canonical_boards(6), "boards of 6 cards"),
    (lambda: board_index(np.zeros((1, 0), np.uint8)), "boards of 0 cards"),
]


@pytest.mark.parametrize(("call", "message"), INVALID)
def test_invalid_input(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


@njit(**KERNEL_OPTIONS)
def look_up(river, flop, cards, out):  # int64 [deals, 3] OUT
    """Use the index inside another kernel: whole deals, part of one, and round by round."""
    for i in range(len(out)):
        out[i, 0] = kernels.index_deal(river, cards, 7 * i)
        out[i, 1] = kernels.index_deal(flop, cards, 7 * i)
        state = kernels.deal_round(river, kernels.empty_deal(), cards, 7 * i, 2)
        state = kernels.deal_round(river, state, cards, 7 * i + 2, 3)
        out[i, 2] = kernels.deal_index_in_joined_tables(flop, state, 0, 0)


def test_inside_other_loops() -> None:
    indexer = HandIndexer((2, 3, 1, 1))
    deals = random_deals(np.random.default_rng(6), 100_000, 7)
    out = np.empty((len(deals), 3), np.int64)
    look_up(indexer.tables(), indexer.tables(1), deals[:10].reshape(-1), out[:10])
    start = time.thread_time()
    look_up(indexer.tables(), indexer.tables(1), deals.reshape(-1), out)
    assert len(deals) / (time.thread_time() - start) > 1.5e6  # about ten times that on a machine at rest
    assert np.array_equal(out[:, 0], indexer.index(deals))
    assert np.array_equal(out[:, 1], indexer.index(deals[:, :5]))
    assert np.array_equal(out[:, 2], out[:, 1])
