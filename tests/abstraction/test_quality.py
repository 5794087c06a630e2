"""Reports, explanations and plots of card abstractions, against plain counts and distances."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest

from reference import emd as plain_emd
from reference import kmeans as plain
from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless_abstraction
from riverboat.abstraction.clustering.features import board_features, board_ochs
from riverboat.abstraction.clustering.public_clusters import PublicBuckets, cluster_private
from riverboat.abstraction.explanation import draw_bars, explain_buckets, sample_members
from riverboat.abstraction.quality import (
    bucket_sizes,
    centroid_kind,
    mean_strengths,
    public_bucket_of,
    report_quality,
    representative_deal,
    strength_histograms,
    weighted_quantiles,
)
from riverboat.cards import ranking
from riverboat.cards.deck import HAND_CARDS, Deck, hand_index
from riverboat.cards.equity.equities import starting_hand_classes
from riverboat.cards.features.hand_features import published_ochs_groups
from riverboat.cards.grid import CLASS_OF_HAND
from riverboat.cards.isomorphism import HandIndexer, canonical_boards
from riverboat.cards.notation import parse_cards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.reports import card_abstraction

BUCKETS = 12
SMALL = Deck.small(5, 3)


def parsed(text: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Parse the hand and the board of `KsJs on Td9d6h`."""
    hand, _, board = text.partition(" on ")
    return parse_cards(hand), parse_cards(board)


@pytest.fixture(scope="module")
def coarse() -> CardAbstraction:
    """Return hold'em buckets up to the flop: twelfths of the made hand, with statistics from ten flops."""
    indexer = HandIndexer((2, 3))
    strength = ranking.rank_batch(indexer.unindex(np.arange(indexer.size())))
    order = np.empty(indexer.size(), np.int64)
    order[np.argsort(strength, kind="stable")] = np.arange(indexer.size())
    labels = (order * BUCKETS // indexer.size()).astype(np.uint16)
    boards, times = canonical_boards(3)
    shapes, numbers = [], []
    for b in np.random.default_rng(0).choice(len(boards), 10, p=times / times.sum()):
        live = np.flatnonzero(~np.isin(HAND_CARDS, boards[b]).any(axis=1))
        shapes.append(board_features(boards[b].tolist()).histogram[live])
        numbers.append(indexer.index(np.concatenate([HAND_CARDS[live], np.tile(boards[b], (len(live), 1))], axis=1)))
    shape, number = np.concatenate(shapes), np.concatenate(numbers)
    mine = [np.flatnonzero(labels[number] == b) for b in range(BUCKETS)]
    centres = np.array([shape[m].mean(axis=0) for m in mine])
    apart = [np.abs(np.cumsum(shape[m] - c, axis=1)).sum(axis=1) for m, c in zip(mine, centres, strict=True)]
    flop = StreetBuckets(
        BUCKETS,
        labels[None],
        centres=centres.astype(np.float32),
        sizes=np.bincount(labels, indexer.count(np.arange(indexer.size()))).astype(float),
        spread=np.array([a.mean() for a in apart], np.float32),
        nearest=np.array([number[m[a.argmin()]] for m, a in zip(mine, apart, strict=True)]),
        farthest=np.array([number[m[a.argmax()]] for m, a in zip(mine, apart, strict=True)]),
        metadata={"method": "histogram", "unit": "bins"},
    )
    return CardAbstraction((StreetBuckets(169, metadata={"method": "lossless"}), flop), (3,), name="coarse")


@pytest.fixture(scope="module")
def layered() -> CardAbstraction:
    """Return a small deck with boards of two and three cards, three public buckets, and four private buckets in each."""
    boards, _ = canonical_boards(2, SMALL)
    public = PublicBuckets(np.arange(len(boards)) % 3, 2, SMALL)
    rng, streets = np.random.default_rng(1), [StreetBuckets(HandIndexer.for_deck(SMALL, (2,)).size())]
    for cards in (2, 3):
        found = cluster_private(public, cards, lambda _, hands, __: rng.permutation(np.arange(len(hands)) % 4))
        count = int(found.first[-1])
        member = np.array([np.flatnonzero((found.labels == b).any(axis=0))[0] for b in range(count)])
        streets.append(
            StreetBuckets(
                count,
                found.labels,
                found.layer,
                first=found.first,
                centres=rng.dirichlet(np.ones(6), count).astype(np.float32),
                sizes=np.full(count, 10.0),
                spread=rng.random(count).astype(np.float32),
                nearest=member,
                farthest=member,
                metadata={"method": "histogram", "unit": "bins"},
            )
        )
    return CardAbstraction(tuple(streets), (2, 1), SMALL, public, "layered")


@pytest.fixture(scope="module")
def cut() -> CardAbstraction:
    """Return perfect-recall percentiles on the small deck: two parts, then three of each, then two of each of those."""
    rng, streets, parents = np.random.default_rng(2), [], 1
    for shown, parts in ((0, 2), (2, 3), (3, 2)):
        size = HandIndexer.for_deck(SMALL, (2, shown) if shown else (2,)).size()
        cuts = np.sort(rng.integers(1, 1000, (parents, parts - 1)), axis=1).astype(np.uint16)
        values = rng.integers(0, 1000, (1, size)).astype(np.uint16)
        streets.append(StreetBuckets(parents * parts, values, cuts=cuts, metadata={"method": "percentile"}))
        parents *= parts
    return CardAbstraction(tuple(streets), (2, 1), SMALL, name="cut")


# --- features of one board ------------------------------------------------------------------------------


def test_board_features_equal_those_of_the_paper() -> None:
    """Golden values: the examples of Ganzfried & Sandholm 2014, to the three digits printed there."""
    first, second = board_features("7h9hQh"), board_features("3d5d7d")
    one, other = hand_index(*parse_cards("TcQd")), hand_index(*parse_cards("5c9d"))
    assert first.mean[one] == pytest.approx(0.683, abs=5e-4)
    assert second.mean[other] == pytest.approx(0.679, abs=5e-4)
    assert plain.distance(first.histogram[one].tolist(), second.histogram[other].tolist(), "emd") == pytest.approx(
        0.559, abs=5e-4
    )
    river = board_features("7dQh4h2s3c")
    assert river.mean[hand_index(*parse_cards("KcQc"))] == pytest.approx(0.856, abs=5e-4)
    assert first.square[one] > first.mean[one] ** 2
    np.testing.assert_allclose(river.square, river.mean**2)
    assert np.isnan(first.mean).sum() == 1326 - 1176
    with pytest.raises(InputError, match="3 to 5"):
        board_features("")


def test_ochs_of_a_board_counts_opponents() -> None:
    board, hand = parse_cards("Td9d6hQc2s"), parse_cards("KsJs")
    group, wins, meets = published_ochs_groups()[starting_hand_classes()], np.zeros(8), np.zeros(8)
    mine = ranking.rank_batch(np.array([[*hand, *board]], np.uint8))[0]
    for g, (a, b) in zip(group, HAND_CARDS.tolist(), strict=True):
        if not {a, b} & {*hand, *board}:
            theirs = ranking.rank_batch(np.array([[a, b, *board]], np.uint8))[0]
            wins[g] += float(mine > theirs) + 0.5 * float(mine == theirs)
            meets[g] += 1
    np.testing.assert_allclose(board_ochs(board)[hand_index(*hand)], wins / meets)


# --- reports ----------------------------------------------------------------------------------------------


def test_report_counts_deals_and_distances(coarse: CardAbstraction) -> None:
    found = report_quality(coarse)
    preflop, flop = found.streets
    sizes, spread = coarse.streets[1].sizes, coarse.streets[1].spread.astype(float)
    assert (preflop.method, preflop.buckets, preflop.distance, preflop.deals) == ("lossless", 169, 0.0, 1326)
    assert (flop.hands, flop.deals, flop.empty) == (1_286_792, 22_100 * 1176, 0)
    assert flop.distance == pytest.approx(sum(sizes * spread) / sum(sizes))
    assert flop.effective == pytest.approx(sum(sizes) ** 2 / sum(sizes**2))
    assert [flop.smallest, flop.largest] == pytest.approx([min(sizes) / sum(sizes), max(sizes) / sum(sizes)])
    assert flop.quantiles["50 %"] in spread
    assert flop.tightest[0].bucket == spread.argmin()
    assert [b.bucket for b in flop.widest] == np.argsort(-spread)[:5].tolist()
    assert flop.tightest[0].strength == pytest.approx(
        float(coarse.streets[1].centres[spread.argmin()] @ ((np.arange(50) + 0.5) / 50)), abs=1e-6
    )
    for row in (*flop.tightest, *flop.widest):
        for text in (row.nearest, row.farthest):
            assert text is not None
            assert coarse.bucket(*parsed(text)) == row.bucket
    json.dumps(found.to_dict(), allow_nan=False)
    assert "flop: widest buckets" in str(found)
    assert str(flop.widest[0].nearest) in str(found)
    assert "tightest" not in str(found.select("preflop"))
    assert found["flop"] is flop
    with pytest.raises(InputError, match="river"):
        found["river"]


def test_weighted_quantiles_are_those_of_repeated_values() -> None:
    rng = np.random.default_rng(3)
    values, times = rng.random(40), rng.integers(1, 9, 40)
    repeated = np.repeat(values, times)
    for share in (0.1, 0.25, 0.5, 0.9, 1.0):
        expected = np.quantile(repeated, share, method="inverted_cdf")
        assert weighted_quantiles(values, times, [share])[0] == expected


def test_report_of_public_buckets(layered: CardAbstraction) -> None:
    found = report_quality(layered)
    boards, times = canonical_boards(2, SMALL)
    assert sum(row.boards for row in found.public) == len(boards)
    assert sum(row.deals for row in found.public) == times.sum() == 105  # 15 cards, two of them
    assert sum(row.share for row in found.public) == pytest.approx(1)
    for row in found.public:
        assert row.hands == {"flop": 4, "turn": 4}
        assert row.sample
        for text in row.sample:
            assert layered.public_bucket(parse_cards(text)) == row.bucket
    for street in found.streets[1:]:
        for bucket in (*street.tightest, *street.widest):
            assert bucket.nearest is not None
            assert layered.bucket(*parsed(bucket.nearest)) == bucket.bucket  # its board begins in the public bucket
    assert "public buckets" in str(found)
    assert "public buckets" not in str(found.select("flop"))


def test_unknown_values_are_none(cut: CardAbstraction) -> None:
    found = report_quality(cut)
    assert [street.deals for street in found.streets] == [None] * 3
    assert [street.distance for street in found.streets] == [None] * 3
    assert found.streets[1].tightest == ()
    whole = report_quality(lossless_abstraction((3,)))
    assert whole["flop"].deals == 22_100 * 1176
    assert whole["flop"].largest == pytest.approx(24 / (22_100 * 1176))
    with pytest.raises(InputError, match="-1"):
        report_quality(cut, extremes=-1)


def test_missing_sizes_are_counted(layered: CardAbstraction) -> None:
    indexer = HandIndexer.for_deck(SMALL, (2, 2))
    labels = np.random.default_rng(4).integers(0, 5, indexer.size()).astype(np.uint16)
    made = CardAbstraction((StreetBuckets(indexer.size(0)), StreetBuckets(5, labels[None])), (2,), SMALL)
    counted = np.zeros(5)
    for hand in combinations(SMALL.cards.tolist(), 2):
        for board in combinations([c for c in SMALL.cards.tolist() if c not in hand], 2):
            counted[labels[indexer.index([*hand, *board])]] += 1
    np.testing.assert_array_equal(bucket_sizes(made, 1), counted)


# --- explanations -----------------------------------------------------------------------------------------


def test_hand_near_its_centroid(coarse: CardAbstraction) -> None:
    found = explain_buckets(coarse, "KsJs", "Td9d6h", num_neighbours=3, num_members=6)
    flop = found.streets[1]
    features, number = board_features("Td9d6h"), hand_index(*parse_cards("KsJs"))
    assert (found.hand, found.board, found.public) == ("KsJs", "Td9d6h", None)
    assert flop.bucket == coarse.bucket(parse_cards("KsJs"), parse_cards("Td9d6h"))
    assert flop.histogram == tuple(features.histogram[number])
    assert (
        flop.strength
        == features.mean[number]
        == pytest.approx(np.dot(flop.histogram, (np.arange(50) + 0.5) / 50), abs=0.01)
    )
    centres = coarse.streets[1].centres.astype(float).tolist()
    assert flop.distance == pytest.approx(plain.distance(flop.histogram, centres[flop.bucket], "emd"), abs=1e-5)
    order = sorted((plain.distance(centres[flop.bucket], c, "emd"), b) for b, c in enumerate(centres))
    assert [n.bucket for n in flop.neighbours] == [b for _, b in order[1:4]]
    assert [n.distance for n in flop.neighbours] == pytest.approx([d for d, _ in order[1:4]], abs=1e-5)
    assert len(set(flop.members)) == 6
    for text in flop.members:
        assert coarse.bucket(*parsed(text)) == flop.bucket
    assert explain_buckets(coarse, "KsJs", "Td9d6h", num_members=6).streets[1].members == flop.members
    json.dumps(found.to_dict(), allow_nan=False)
    assert f"bucket {flop.bucket} of 12" in str(found)
    assert (found.streets[0].method, found.streets[0].members) == ("lossless", ("KcJc",))  # the class, with any suit
    assert [p.street for p in explain_buckets(coarse, "KsJs").streets] == ["preflop"]


def test_members_are_sampled_by_weight(coarse: CardAbstraction) -> None:
    """Offsuit hands on rainbow flops are sampled as often as they are dealt."""
    drawn = [parsed(t) for t in sample_members(coarse, 1, 6, count=400)]
    rainbow = np.mean([len({c & 3 for c in board}) == 3 for _, board in drawn])
    indexer, labels = HandIndexer((2, 3)), coarse.streets[1].labels[0]
    mine = np.flatnonzero(labels == 6)
    suits = indexer.unindex(mine)[:, 2:] & 3
    three = (suits[:, 0] != suits[:, 1]) & (suits[:, 0] != suits[:, 2]) & (suits[:, 1] != suits[:, 2])
    expected = np.average(three, weights=indexer.count(mine))
    assert abs(rainbow - expected) < 4 * np.sqrt(expected * (1 - expected) / 400)
    with pytest.raises(InputError, match="0 to 11"):
        sample_members(coarse, 1, 12)


def test_members_stay_in_their_public_bucket(layered: CardAbstraction) -> None:
    rng = np.random.default_rng(5)
    for _ in range(10):
        deal = rng.choice(SMALL.cards, 5, replace=False)
        found = explain_buckets(layered, deal[:2], deal[2:], num_neighbours=9)
        for r, place in enumerate(found.streets[1:], start=1):
            assert (
                place.public
                == found.public
                == layered.public_bucket(deal[2:].tolist())
                == public_bucket_of(layered, r, place.bucket)
            )
            assert {n.bucket // 4 for n in place.neighbours} == {place.bucket // 4}  # four in each public bucket
            assert place.members
            for text in place.members:
                assert layered.bucket(*parsed(text)) == place.bucket
    hand, board = representative_deal(layered, 2, int(layered.streets[2].nearest[7]), 7)
    assert layered.public_bucket(board) == 1
    assert layered.bucket(hand, board) == 7


def test_percentiles_are_explained_by_their_cuts(cut: CardAbstraction) -> None:
    rng = np.random.default_rng(6)
    for _ in range(10):
        deal = rng.choice(SMALL.cards, 5, replace=False)
        parent = 0
        for place, parts in zip(explain_buckets(cut, deal[:2], deal[2:]).streets, (2, 3, 2), strict=True):
            assert place.part is not None
            assert place.value is not None
            assert place.bucket == parent * parts + place.part
            assert place.part == sum(c <= place.value for c in place.cuts)
            for text in place.members:
                assert cut.bucket(*parsed(text)) == place.bucket
            parent = place.bucket


def test_a_river_hand_against_eight_groups() -> None:
    first, second = np.full(8, 0.25), np.full(8, 0.75)
    river = StreetBuckets(
        2,
        np.zeros((1, HandIndexer((2, 5)).size()), np.uint16),
        centres=255 * np.array([first, second], np.float32),
        sizes=np.array([3.0, 1.0]),
        metadata={"method": "ochs", "unit": "steps of 1/255"},
    )
    made = CardAbstraction((*lossless_abstraction().streets[:3], river), name="ochs")
    assert centroid_kind(made, 3) == "ochs"
    np.testing.assert_allclose(mean_strengths(made, 3), [0.25, 0.75])
    place = explain_buckets(made, "KsJs", "Td9d6hQc2s", num_members=2).streets[3]
    expected = board_ochs("Td9d6hQc2s")[hand_index(*parse_cards("KsJs"))]
    assert place.ochs == tuple(expected)
    assert place.centre_ochs == pytest.approx([0.25] * 8)
    assert place.distance == pytest.approx(np.sqrt(np.square(np.rint(255 * expected) - 63.75).sum()), rel=1e-5)
    assert [n.bucket for n in place.neighbours] == [1]
    assert place.histogram == ()
    assert len(place.members) == 2
    figure = card_abstraction.plot_hand(explain_buckets(made, "KsJs", "Td9d6hQc2s", num_members=0))
    assert len(figure.axes) >= 3  # flop and turn have histograms, too
    assert len(card_abstraction.plot_centroids(made, "river").axes) == 2


@pytest.mark.parametrize("inside", [False, True])
def test_potential_hands_are_compared_by_successor_clusters(layered: CardAbstraction, inside: bool) -> None:
    rng = np.random.default_rng(7)
    turn, flop, public = layered.streets[2], layered.streets[1], layered.public
    if not inside:
        here, then = (HandIndexer.for_deck(SMALL, (2, cards)).size() for cards in (2, 3))
        flop = StreetBuckets(3, rng.integers(0, 3, (1, here)).astype(np.uint16))
        turn = StreetBuckets(
            7, rng.integers(0, 7, (1, then)).astype(np.uint16), centres=turn.centres[:7], metadata=turn.metadata
        )
        public = None
    width = 4 if inside else 7
    centres = rng.dirichlet(np.ones(width), flop.count).astype(np.float32)
    flop = StreetBuckets(
        flop.count, flop.labels, flop.layer, first=flop.first, centres=centres, metadata={"method": "potential"}
    )
    made = CardAbstraction((layered.streets[0], flop, turn), (2, 1), SMALL, public)
    assert centroid_kind(made, 1) == "potential"
    deal = rng.choice(SMALL.cards, 4, replace=False).tolist()
    place = explain_buckets(made, deal[:2], deal[2:]).streets[1]
    begin = 0 if place.public is None else 4 * place.public
    own = np.zeros(width)
    for card in SMALL.cards.tolist():
        if card not in deal:
            own[made.bucket(deal[:2], [*deal[2:], card]) - begin] += 1 / 11
    after = turn.centres[begin : begin + width].astype(float)
    ground = np.array([[plain.distance(a, b, "emd") for b in after] for a in after])
    assert place.distance == pytest.approx(plain_emd.greedy(own, centres[place.bucket], ground), rel=1e-4)
    shown = strength_histograms(made, 1)
    assert shown is not None
    np.testing.assert_allclose(
        shown[place.bucket], centres[place.bucket].astype(float) @ (after / after.sum(axis=1, keepdims=True))
    )


def test_invalid_hands(coarse: CardAbstraction) -> None:
    with pytest.raises(InputError, match=r"'KsJsTs'.* 3 .* 2 "):
        explain_buckets(coarse, "KsJsTs", "Td9d6h")
    with pytest.raises(InputError, match=r"4 cards.*0, 3"):
        explain_buckets(coarse, "KsJs", "Td9d6h2c")
    with pytest.raises(InputError, match="Td"):
        explain_buckets(coarse, "KsTd", "Td9d6h")


def test_bars_show_every_positive_value() -> None:
    assert draw_bars([0, 0.5, 1]) == " ▄█"
    assert draw_bars([0, 1e-9, 2], top=2) == " ▁█"
    assert draw_bars([]) == ""


# --- plots ------------------------------------------------------------------------------------------------


def test_colors_follow_strength(coarse: CardAbstraction) -> None:
    cards = parse_cards("Td9d6h")
    buckets, place = card_abstraction.bucket_colours(coarse, cards)
    blocked = np.isin(HAND_CARDS, cards).any(axis=1)
    np.testing.assert_array_equal(buckets < 0, blocked)
    strength = mean_strengths(coarse, 1)
    assert strength is not None
    for hand in np.flatnonzero(~blocked)[::97].tolist():
        assert buckets[hand] == coarse.bucket(HAND_CARDS[hand].tolist(), cards)
        same_bucket = (buckets == buckets[hand]) & ~blocked
        assert np.unique(place[same_bucket]).size == 1
        stronger = ~blocked & (strength[buckets] > strength[buckets[hand]])
        assert (place[stronger] > place[hand]).all()


def test_plots_are_saved(coarse: CardAbstraction, layered: CardAbstraction, tmp_path) -> None:
    grid = card_abstraction.plot_bucket_grid(coarse, "Td9d6h")
    assert len(grid.axes[0].texts) == 169
    strips = sum(
        len(np.unique(card_abstraction.bucket_colours(coarse, parse_cards("Td9d6h"))[0][_live(c)])) for c in range(169)
    )
    assert len(grid.axes[0].patches) == 169 + strips
    assert len(card_abstraction.plot_centroids(coarse, "flop").axes) == BUCKETS
    assert len(card_abstraction.plot_centroids(coarse, "flop", panels=4).axes) == 4
    public = card_abstraction.plot_public_buckets(layered, boards=2)
    assert len(public.axes[0].texts) == 3 * (1 + 2 * 2)  # a title and two boards of two cards for each of three
    for name, figure in {
        "a.png": grid,
        "b.svg": public,
        "sub/c.pdf": card_abstraction.plot_hand(explain_buckets(coarse, "KsJs", "Td9d6h")),
    }.items():
        assert card_abstraction.save_figure(figure, tmp_path / name).stat().st_size > 1000
    with pytest.raises(InputError, match=r"\.doc"):
        card_abstraction.save_figure(public, tmp_path / "d.doc")
    with pytest.raises(InputError, match="preflop"):
        card_abstraction.plot_centroids(coarse, "preflop")
    with pytest.raises(InputError, match="public"):
        card_abstraction.plot_public_buckets(coarse)
    with pytest.raises(InputError, match="52"):
        card_abstraction.plot_bucket_grid(layered, "Td9d6h")
    with pytest.raises(InputError, match="turn"):
        card_abstraction.plot_centroids(coarse, "turn")


def _live(cell: int) -> Array:
    blocked = np.isin(HAND_CARDS, parse_cards("Td9d6h")).any(axis=1)
    return np.flatnonzero((cell == CLASS_OF_HAND) & ~blocked)
