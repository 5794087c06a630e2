"""Buckets of whole deals: the compiled look-up against a plain one, and folders on disk."""

from __future__ import annotations

import json

import numpy as np
import pytest

from riverboat.abstraction.cards.card_abstraction import (
    CardAbstraction,
    StreetBuckets,
    load_abstraction,
    lossless_abstraction,
    read_street_buckets,
)
from riverboat.abstraction.clustering.public_clusters import PublicBuckets, cluster_private
from riverboat.cards.deck import FULL_DECK, Deck
from riverboat.cards.isomorphism import HandIndexer, canonical_boards
from riverboat.core.errors import CorruptError, InputError
from riverboat.core.schema import ArtifactArrays, FileEntries

SMALL = Deck.small(5, 4)
rng = np.random.default_rng(8)


def deals_of(deck: Deck, count: int, cards: int):
    return deck.cards[np.argsort(rng.random((count, len(deck.cards))), axis=1)[:, :cards]]


def by_hand(made: CardAbstraction, hole, board, street):
    """Return the label of a hand without the compiled look-up."""
    shown = made.board_sizes[street]
    deal = np.array([*hole, *board[:shown]], np.uint8)
    return int(made.streets[street].labels[0, made.indexer(street).index(deal)])


def random_abstraction(deck: Deck, deals=(3, 1, 1)):
    made = lossless_abstraction(deals, deck)
    streets = [
        StreetBuckets(9, rng.integers(0, 9, (1, made.indexer(r).size())).astype(np.uint16))
        for r in range(len(deals) + 1)
    ]
    return CardAbstraction(tuple(streets), deals, deck)


@pytest.mark.parametrize(("deck", "deals"), [(SMALL, (3, 1, 1)), (SMALL, (3, 1)), (Deck.small(3, 2, 1), (1,))])
def test_buckets_of_both_players_on_all_streets(deck, deals):
    made = random_abstraction(deck, deals)
    cards = deals_of(deck, 300, 2 * deck.hole + sum(deals))
    found = made.buckets(cards, players=2)
    assert found.shape == (300, 2, len(deals) + 1)
    board = cards[:, 2 * deck.hole :]
    for k in range(300):
        for p in (0, 1):
            hole = cards[k, p * deck.hole : (p + 1) * deck.hole]
            for r in range(len(deals) + 1):
                assert found[k, p, r] == by_hand(made, hole, board[k], r)


def test_incomplete_boards():
    made = random_abstraction(SMALL)
    cards = deals_of(SMALL, 50, 7)
    whole = made.buckets(cards)
    for width, streets in ((2, 1), (5, 2), (6, 3)):
        assert (made.buckets(cards[:, :width])[:, 0] == whole[:, 0, :streets]).all()


def test_lossless_without_tables():
    made = lossless_abstraction()
    assert made.counts == (169, 1_286_792, 13_960_050, 123_156_254)
    cards = deals_of(FULL_DECK, 40, 9)
    found = made.buckets(cards, players=2)
    mine = cards[:, [2, 3, 4, 5, 6, 7, 8]]
    assert (found[:, 1, 3] == HandIndexer((2, 5)).index(mine)).all()
    assert (found[:, 1, 1] == HandIndexer((2, 3)).index(mine[:, :5])).all()


def test_cuts_depend_on_the_previous_bucket():
    made = lossless_abstraction((3,), SMALL)
    sizes = [made.indexer(r).size() for r in range(2)]
    values = [rng.integers(0, 100, (1, n)).astype(np.uint16) for n in sizes]
    cuts = [np.array([[40, 70]], np.uint16), np.array([[10, 20], [50, 65535], [65535, 65535]], np.uint16)]
    streets = tuple(StreetBuckets(c, v, cuts=k) for c, v, k in zip((3, 9), values, cuts, strict=True))
    made = CardAbstraction(streets, (3,), SMALL)
    cards = deals_of(SMALL, 200, 5)
    found = made.buckets(cards)[:, 0]
    for deal, (first, second) in zip(cards, found, strict=True):
        v0, v1 = (int(values[r][0, made.indexer(r).index(deal[: (2, 5)[r]])]) for r in (0, 1))
        assert first == (v0 >= 40) + (v0 >= 70)
        assert second == 3 * first + sum(v1 >= int(c) for c in cuts[1][first])


def test_layers_keep_hands_inside_their_public_bucket():
    boards = len(canonical_boards(3, SMALL)[0])
    public = PublicBuckets(rng.integers(0, 4, boards).astype(np.int32), 3, SMALL)
    streets = [
        StreetBuckets(
            len(np.unique(np.arange(10))), np.zeros((1, lossless_abstraction((3,), SMALL).indexer(0).size()), np.uint16)
        )
    ]
    private = [cluster_private(public, cards, lambda c, hands, w: hands % 5) for cards in (3, 4, 5)]
    for found in private:
        streets.append(StreetBuckets(int(found.first[-1]), found.labels, found.layer, first=found.first))
    made = CardAbstraction(tuple(streets), (3, 1, 1), SMALL, public)
    cards = deals_of(SMALL, 500, 9)
    buckets = made.buckets(cards, players=2)
    home = public.buckets(cards[:, 4:7])
    for p in (0, 1):
        mine = np.concatenate([cards[:, 2 * p : 2 * p + 2], cards[:, 4:]], axis=1)
        for r, found in enumerate(private, start=1):
            assert (buckets[:, p, r] == found.buckets(mine[:, : 2 + made.board_sizes[r]])).all()
            assert (found.first[home] <= buckets[:, p, r]).all()
            assert (buckets[:, p, r] < found.first[home + 1]).all()
    assert made.public_bucket(cards[0, 4:]) == home[0]


def test_invalid_deals():
    made = random_abstraction(SMALL)
    with pytest.raises(InputError, match=r"\(1, 3\).*2, 5, 6, 7"):
        made.buckets(np.zeros((1, 3), np.uint8))
    with pytest.raises(InputError, match="As"):
        made.buckets(np.array([[51, 51]]))
    with pytest.raises(InputError, match="2c"):
        made.buckets(np.array([[51, 0]]))
    with pytest.raises(InputError, match="0, 3, 4, 5"):
        made.bucket([51, 50], [49])
    with pytest.raises(InputError, match=r"street 0: 3 .*169"):
        CardAbstraction((StreetBuckets(2, np.zeros((1, 3), np.uint16)),))


def test_saved_folder_has_the_same_buckets(tmp_path):
    made = random_abstraction(SMALL)
    made.save(tmp_path / "here")
    found = load_abstraction(tmp_path / "here")
    assert found.fingerprint == made.fingerprint
    cards = deals_of(SMALL, 100, 9)
    assert (found.buckets(cards, 2) == made.buckets(cards, 2)).all()
    other = random_abstraction(SMALL)
    assert other.fingerprint != made.fingerprint


def test_damaged_folder_is_rejected(tmp_path):
    folder = random_abstraction(SMALL).save(tmp_path / "here")
    table = folder / "2_labels.npy"
    data = bytearray(table.read_bytes())
    data[-5] ^= 1
    table.write_bytes(data)
    with pytest.raises(CorruptError, match="labels"):
        load_abstraction(folder)


def test_folder_of_another_kind(tmp_path):
    from riverboat.core import artifacts

    artifacts.write(tmp_path / "other", "features", {"a": np.zeros(1)}, {})
    with pytest.raises(InputError, match=r"other.*features"):
        load_abstraction(tmp_path / "other")
    assert json.loads((tmp_path / "other" / "manifest.json").read_text())["manifest"]["kind"] == "features"


@pytest.mark.parametrize("dtype", [np.uint16, np.int32])
def test_layers_hold_buckets_or_the_sentinel_of_unreached_entries(dtype: type) -> None:
    """Labels as built inside public buckets, where a board contains flops of some buckets only."""
    mark = np.iinfo(dtype).max
    labels = np.array([[0, 3, 1], [mark, 2, mark]], dtype)
    arrays, facts = ArtifactArrays("here", {"labels": labels}), FileEntries("here", {})
    assert read_street_buckets(arrays, 4, facts).labels is labels
    labels[1, 0] = 4
    with pytest.raises(CorruptError, match=r"labels.*4.*3"):
        read_street_buckets(arrays, 4, facts)
