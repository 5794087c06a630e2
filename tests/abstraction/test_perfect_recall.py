"""Perfect-recall percentile buckets: the definition on small decks, and all of hold'em."""

from __future__ import annotations

from math import prod
from pathlib import Path

import numpy as np
import pytest

from riverboat.abstraction.cards import percentile_buckets as perfect_recall
from riverboat.abstraction.cards.card_abstraction import (
    CardAbstraction,
    StreetBuckets,
    load_abstraction,
    lossless_abstraction,
)
from riverboat.abstraction.cards.percentile_buckets import (
    UNREACHED_CUT,
    cut_street,
    hand_values,
    percentile_abstraction,
    percentile_buckets,
    percentile_cuts,
    quantize_values,
)
from riverboat.cards.deck import Deck
from riverboat.cards.features.small_deck_features import small_deck_features, small_deck_strengths
from riverboat.cards.isomorphism import HandIndexer
from riverboat.cards.notation import parse_cards
from riverboat.core.errors import InputError

DECKS = [
    (Deck.small(5, 2), (3, 1, 1), (3, 3, 3, 3)),
    (Deck.small(4, 3), (2, 1), (3, 4, 2)),
    (Deck("3579K", "cs"), (1, 2, 1), (2, 5, 2, 3)),
    (Deck.small(5, 2, hole=1), (1, 1), (3, 3, 3)),
    (Deck.small(4, 4), (1, 2), (5, 17, 2)),
]


def check_definition(found: CardAbstraction, parts: tuple[int, ...]) -> None:
    """Check every ordered deal against `percentile_buckets` with an index that respects the order of the streets."""
    ordered = HandIndexer.for_deck(found.deck, (found.deck.hole, *found.deals))
    sequence: np.ndarray | None = None
    for r, n in enumerate(parts):
        hands = np.arange(ordered.size(r))
        deals, times = ordered.unindex(hands, r), ordered.count(hands, r)
        parents = None if sequence is None else sequence[ordered.index(deals[:, : ordered.widths[r - 1]])]
        values = found.streets[r].labels[0][found.indexer(r).index(deals)]
        sequence = percentile_buckets(values, times, parents, n)
        np.testing.assert_array_equal(found.buckets(deals)[:, 0, -1], sequence)
        sizes = np.bincount(sequence, times, minlength=found.streets[r].count)
        assert found.streets[r].sizes.tolist() == sizes.tolist()
        assert found.streets[r].metadata["filled"] == len(np.unique(sequence))


@pytest.mark.parametrize(("deck", "deals", "parts"), DECKS)
@pytest.mark.parametrize("value", ["square", "mean"])
def test_definition(deck: Deck, deals: tuple[int, ...], parts: tuple[int, ...], value: str) -> None:
    check_definition(percentile_abstraction(parts, value, deck, deals), parts)


def test_values_with_many_ties() -> None:
    """Few distinct values, so that most sequences lie in one or two parts."""
    deck, deals, parts = Deck.small(5, 2), (3, 1), (3, 4, 4)
    rng = np.random.default_rng(0)
    sizes = [HandIndexer.for_deck(deck, rounds).size() for rounds in ((2,), (2, 3), (2, 4))]
    values = [rng.integers(0, most, size) for most, size in zip((9, 3, 4), sizes, strict=True)]
    found = percentile_abstraction(parts, "mean", deck, deals, values)
    check_definition(found, parts)
    assert (found.streets[-1].cuts == UNREACHED_CUT).any()
    assert found.streets[-1].metadata["filled"] < prod(parts)


def test_buckets_have_perfect_recall() -> None:
    """A bucket determines the bucket of the previous street, for any cards."""
    deck, deals = Deck.small(5, 3), (3, 1, 1)
    found = percentile_abstraction((2, 3, 2, 4), deck=deck, deals=deals)
    rng = np.random.default_rng(1)
    cards = np.array([rng.choice(deck.cards, 9, replace=False) for _ in range(500)], np.uint8)
    buckets = found.buckets(cards, players=2)
    for r, n in enumerate((3, 2, 4), start=1):
        np.testing.assert_array_equal(buckets[:, :, r] // n, buckets[:, :, r - 1])
    # The order of the board matters: the same five cards with another flop.
    turned = cards[:, [0, 1, 2, 3, 6, 7, 8, 4, 5]]
    assert (found.buckets(turned, players=2)[:, :, -1] != buckets[:, :, -1]).any()


def test_values_of_hands() -> None:
    deck, deals = Deck.small(4, 3), (2, 1)
    strength = small_deck_strengths(deck, 3)
    assert hand_values(2, "mean", deck, deals).tolist() == hand_values(2, "square", deck, deals).tolist()
    assert hand_values(2, "mean", deck, deals).tolist() == strength.tolist()
    features = small_deck_features(deck, deals, 1)
    np.testing.assert_allclose(hand_values(1, "mean", deck, deals) / 65534, features.mean, atol=1 / 65534)
    np.testing.assert_allclose(hand_values(1, "square", deck, deals) / 65534, features.square, atol=1 / 65534)


def test_threads_and_stages_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perfect_recall, "CHUNK_BOARDS", 7)
    deck, deals = Deck.small(5, 2), (3, 1, 1)
    one = percentile_abstraction(3, deck=deck, deals=deals)
    seen: dict[str, float] = {}
    two = percentile_abstraction(3, deck=deck, deals=deals, threads=3, progress=lambda s, done: seen.update({s: done}))
    assert one.fingerprint == two.fingerprint
    assert [seen[f"cuts of street {r}"] for r in (1, 2, 3)] == [1.0] * 3
    streets: list[StreetBuckets] = []
    for r in range(4):
        streets.append(cut_street(streets, hand_values(r, "square", deck, deals), 3, deck, deals))
    assert CardAbstraction(tuple(streets), deals, deck).fingerprint == one.fingerprint
    again = load_abstraction(one.save(tmp_path / "found"))
    assert again.fingerprint == one.fingerprint
    rng = np.random.default_rng(2)
    cards = np.array([rng.choice(deck.cards, 7, replace=False) for _ in range(50)], np.uint8)
    assert again.buckets(cards).tolist() == one.buckets(cards).tolist()


def test_cuts() -> None:
    # The second value has 80 % of the weight, its middle lies in the third of five parts; 2 and 4 stay empty.
    counts = np.array([[0, 1, 0, 8, 1], [0, 0, 0, 0, 0], [0, 0, 0, 0, 3]])
    cuts, sizes = percentile_cuts(counts, 5)
    assert cuts.tolist() == [[3, 3, 4, 4], [UNREACHED_CUT] * 4, [4, 4, UNREACHED_CUT, UNREACHED_CUT]]
    assert sizes.reshape(3, 5).tolist() == [[1, 0, 8, 0, 1], [0] * 5, [0, 0, 3, 0, 0]]


def test_all_flops() -> None:
    """Flops of the full deck with random values, where boards have no order yet."""
    rng = np.random.default_rng(3)
    before, after = HandIndexer((2,)), HandIndexer((2, 3))
    hands = np.arange(after.size())
    first, second = rng.random(before.size()), rng.integers(0, 500, after.size())
    streets = [cut_street([], first, 8)]
    streets.append(cut_street(streets, second, 8))
    deals = after.unindex(hands)
    parents = percentile_buckets(quantize_values(first), before.count(np.arange(169)), None, 8)[
        before.index(deals[:, :2])
    ]
    expected = percentile_buckets(second, after.count(hands), parents, 8)
    found = CardAbstraction((*streets, lossless_abstraction().streets[2])).buckets(deals)
    np.testing.assert_array_equal(found[:, 0], np.stack([parents, expected], axis=1))
    assert streets[1].sizes.tolist() == np.bincount(expected, after.count(hands), minlength=64).tolist()


@pytest.mark.slow
def test_holdem() -> None:
    """All of hold'em with five buckets a street: random deals fall into 5, 25, 125 and 625 sequences."""
    found = percentile_abstraction(5, threads=2)
    assert found.counts == (5, 25, 125, 625)
    totals = [1326, 1326 * 19600, 1326 * 19600 * 47, 1326 * 19600 * 47 * 46]
    assert [street.sizes.sum() for street in found.streets] == totals
    for street in found.streets[:3]:  # few hands have equal values before the river
        assert street.metadata["filled"] == street.count
        assert 0.98 < street.metadata["least"] < street.metadata["most"] < 1.02
    rng = np.random.default_rng(4)
    cards = rng.random((200_000, 52)).argsort(axis=1)[:, :7].astype(np.uint8)
    buckets = found.buckets(cards)[:, 0]
    for r, street in enumerate(found.streets):
        if r:
            np.testing.assert_array_equal(buckets[:, r] // 5, buckets[:, r - 1])
        share = street.sizes / street.sizes.sum()
        met = np.bincount(buckets[:, r], minlength=street.count) / len(cards)
        assert (np.abs(met - share) < 5 * np.sqrt(share / len(cards)) + 1e-5).all()
    assert found.bucket(parse_cards("AsAh")) == 4
    assert found.bucket(parse_cards("3s2h")) == 0
    # Quads on the flop stay in the best buckets; the nuts on the river are in the last part of any sequence.
    assert found.bucket(parse_cards("AsAh"), parse_cards("AdAc2s")) == 24
    assert found.bucket(parse_cards("AsKs"), parse_cards("QsJsTs2h3d")) % 5 == 4


def test_errors() -> None:
    deck, deals = Deck.small(5, 2), (3, 1)
    with pytest.raises(InputError, match="n=1"):
        percentile_abstraction(1, deck=deck, deals=deals)
    with pytest.raises(InputError, match=r"2 numbers.* 3 streets"):
        percentile_abstraction((2, 2), deck=deck, deals=deals)
    with pytest.raises(InputError, match=r"'squared'.*'?square"):
        percentile_abstraction(2, "squared", deck=deck, deals=deals)
    with pytest.raises(InputError, match=r"\(3, 0\)"):
        percentile_abstraction(2, deck=deck, deals=(3, 0))
    with pytest.raises(InputError, match="3 values on street 0"):
        cut_street([], np.zeros(3), 2, deck, deals)
    with pytest.raises(InputError, match="0 to 1"):
        quantize_values(np.array([0.5, 1.5]))
    with pytest.raises(InputError, match="0 to 1"):
        quantize_values(np.array([UNREACHED_CUT]))
    with pytest.raises(InputError, match=r"3 previous streets.*\(3, 1\)"):
        cut_street([StreetBuckets(2)] * 3, np.zeros(3), 2, deck, deals)
    with pytest.raises(InputError, match="street 0: 2 buckets"):
        cut_street([StreetBuckets(2)], np.zeros(3), 2, deck, deals)
    with pytest.raises(InputError, match="street 3"):
        hand_values(3, "mean", deck, deals)
