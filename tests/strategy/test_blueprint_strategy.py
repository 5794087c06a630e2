"""Blueprints as tables over buckets: shares, folders, and what is refused."""

import shutil

import numpy as np
import pytest

from random_blueprints import random_blueprint
from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless
from riverboat.core import artifacts
from riverboat.core.errors import CorruptError, InputError
from riverboat.strategies import blueprint
from riverboat.strategies.blueprint import BlueprintStrategy, load_blueprint, save_blueprint, to_steps
from riverboat.strategies.postprocessing import purify, tartanian7


@pytest.fixture(scope="module")
def leduc():
    return random_blueprint("leduc")


@pytest.fixture(scope="module")
def bench():
    return random_blueprint("bench-2x52", dtype=np.uint8)


def halves(rules):
    """A card abstraction of Leduc in which hands share buckets."""
    fine = lossless(rules.board[1:], rules.deck)
    coarse = [np.arange(count)[None] // 2 for count in fine.counts]
    streets = tuple(StreetBuckets(int(c.max()) + 1, labels=c.astype(np.uint16)) for c in coarse)
    return CardAbstraction(streets, fine.deals, fine.deck, name="halves")


def plain(strategy, node, bucket):
    """One row, from the definition: weights over their sum."""
    tree = strategy.tree
    at = int(tree.slot[node])
    weights = [float(strategy.average[tree.street[node]][bucket][at + a]) for a in range(tree.count[node])]
    total = sum(weights)
    return [w / total for w in weights] if total > 0 else [1 / len(weights)] * len(weights)


# --- shares -----------------------------------------------------------------------------------


@pytest.mark.parametrize("game", ["kuhn", "leduc", "bench-3x20"])
def test_all_ways_of_reading_agree_with_the_definition(game):
    strategy = random_blueprint(game)
    tree, rng = strategy.tree, np.random.default_rng(1)
    nodes = rng.permutation(np.repeat(np.flatnonzero(tree.actor >= 0), 3))
    buckets = np.array([rng.integers(strategy.buckets[tree.street[node]]) for node in nodes])
    many = strategy.decisions(nodes, buckets)
    assert many.shape == (len(nodes), tree.count.max())
    for node, bucket, found in zip(nodes.tolist(), buckets.tolist(), many, strict=True):
        right = plain(strategy, node, bucket)
        one = strategy.probabilities(node, np.array([bucket]))[0]
        at, count = int(tree.slot[node]), len(right)
        np.testing.assert_allclose(one, right, rtol=1e-12)
        np.testing.assert_allclose(found[:count], right, rtol=1e-12)
        assert not found[count:].any()
        row = strategy.row(int(tree.street[node]), bucket)
        np.testing.assert_allclose(row[at : at + count], right, rtol=1e-12)


def test_a_decision_without_any_weight_is_uniform():
    strategy = random_blueprint("leduc")
    node = strategy.tree.find("cr")
    at, count = strategy.tree.slot[node], int(strategy.tree.count[node])
    strategy.average[0][1, at : at + count] = 0
    assert strategy.probabilities(node, np.array([1])).tolist() == [[1 / count] * count]
    assert strategy.decisions(np.array([0, node]), np.array([0, 1]))[1].tolist() == [1 / count] * count
    assert strategy.row(0, 1)[at : at + count].tolist() == [1 / count] * count
    assert strategy.probabilities(node, np.array([0]))[0].tolist() != [1 / count] * count


def test_hands_are_looked_up_in_their_bucket(bench):
    node = bench.tree.find("cc/r6")
    found = bench.at("cc/r6", "QhJh", "AsKd2c")
    bucket = bench.cards.bucket((42, 38), (51, 45, 0))  # Qh Jh, As Kd 2c
    assert list(found) == ["f", "c"]
    assert list(found.values()) == plain(bench, node, bucket)
    assert bench.at("cc/r6", "JdQd", "2c As Kh") == pytest.approx(found)  # the same but for the suits and the order
    assert bench.at("cc/r6", "QhJs", "AsKd2c") != found


def test_rules_of_post_processing_take_the_rows(leduc):
    node = leduc.tree.find("cr")
    rows = leduc.probabilities(node, np.arange(3))
    np.testing.assert_array_equal(purify(rows), rows == rows.max(axis=1, keepdims=True))
    assert tartanian7(rows, leduc.moves(node)).sum(axis=1) == pytest.approx([1, 1, 1])
    padded = leduc.decisions(np.array([0, node, node]), np.arange(3))
    assert purify(padded).sum(axis=1) == pytest.approx([1, 1, 1])


# --- compact tables ---------------------------------------------------------------------------


def largest_remainders(weights, whole):
    """Hamilton's way to give out seats, in whole numbers."""
    total = sum(weights)
    if total == 0:
        return [0] * len(weights)
    seats = [w * whole // total for w in weights]
    order = sorted(range(len(weights)), key=lambda a: (-(weights[a] * whole % total), a))
    for a in order[: whole - sum(seats)]:
        seats[a] += 1
    return seats


def test_steps_are_those_of_largest_remainders():
    rng = np.random.default_rng(3)
    count = rng.integers(2, 9, 40).astype(np.int8)
    slot = (np.cumsum(count) - count).astype(np.int32)
    weights = np.where(rng.random((30, count.sum())) < 0.4, 0, rng.integers(1, 3000, (30, count.sum())))
    weights[4] = 0
    found = to_steps(weights.astype(np.float32), slot, count)
    for bucket in range(30):
        for at, moves in zip(slot.tolist(), count.tolist(), strict=True):
            right = largest_remainders(weights[bucket, at : at + moves].tolist(), 255)
            assert found[bucket, at : at + moves].tolist() == right


# --- folders ----------------------------------------------------------------------------------


@pytest.mark.parametrize("game", ["kuhn", "leduc", "bench-3x20"])
@pytest.mark.parametrize("compact", [False, True])
def test_round_trip(game, compact, tmp_path):
    strategy = random_blueprint(game)
    back = load_blueprint(save_blueprint(strategy, tmp_path / "b", compact))
    assert (back.rules, back.menu, back.tree.fingerprint) == (strategy.rules, strategy.menu, strategy.tree.fingerprint)
    assert back.rules.name == game
    assert back.cards.fingerprint == strategy.cards.fingerprint
    assert back.provenance == {"method": "random", "seed": 0, "folder": "b"}
    for street, (before, after) in enumerate(zip(strategy.average, back.average, strict=True)):
        if not compact:
            assert after.dtype == np.float32
            np.testing.assert_array_equal(before, after)
            continue
        assert after.dtype == np.uint8
        slot, _ = strategy.slots(street)
        assert set(np.add.reduceat(after.astype(int), slot, axis=1).ravel()) <= {0, 255}
        for bucket in (0, strategy.buckets[street] - 1):
            np.testing.assert_allclose(back.row(street, bucket), strategy.row(street, bucket), atol=1 / 255)


def test_an_abstraction_of_ones_own_is_found_by_its_folder(leduc, tmp_path):
    cards = halves(leduc.rules)
    home = cards.save(tmp_path / "cards")
    strategy = random_blueprint("leduc", cards=cards, cards_path=home)
    folder = save_blueprint(strategy, tmp_path / "b")
    back = load_blueprint(folder)
    assert back.cards_path == (folder / "cards").resolve()  # with it, so that the folder is whole
    shutil.rmtree(home)
    assert load_blueprint(folder).cards.fingerprint == cards.fingerprint
    assert back.at("cc/", "Ks", "Kh") == strategy.at("cc/", "Ks", "Kh")
    moved = shutil.move(folder / "cards", tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"'halves'.*is not with it.*cards.*--abstraction DIR"):
        load_blueprint(folder)
    assert load_blueprint(folder, moved).cards_path == (tmp_path / "elsewhere").resolve()
    assert load_blueprint(folder, cards).cards is cards
    streets = (cards.streets[0], StreetBuckets(8, labels=cards.streets[1].labels[:, ::-1].copy()))
    CardAbstraction(streets, cards.deals, cards.deck, name="halves").save(folder / "cards")
    with pytest.raises(InputError, match="other buckets"):
        load_blueprint(folder)


def test_an_abstraction_without_a_folder_is_not_saved(leduc, tmp_path):
    with pytest.raises(InputError, match="cards_path"):
        save_blueprint(random_blueprint("leduc", cards=halves(leduc.rules)), tmp_path / "b")


def test_checkpoints_are_read_like_blueprints(leduc, tmp_path):
    for iteration, scale in ((10, 1), (20, 3)):
        arrays = {f"average_{street}": scale * table for street, table in enumerate(leduc.average)}
        arrays |= {f"regret_{street}": np.ones_like(table) for street, table in enumerate(leduc.average)}
        facts = blueprint.describe(leduc.tree, leduc.cards) | {"provenance": {"iterations": iteration}}
        artifacts.write(tmp_path / f"checkpoint-{iteration:012d}", blueprint.CHECKPOINT, arrays, facts)
    back = load_blueprint(tmp_path)
    assert back.provenance == {"iterations": 20, "folder": "checkpoint-000000000020"}
    np.testing.assert_allclose(back.row(1, 7), leduc.row(1, 7), rtol=1e-6)


def test_a_checkpoint_that_vanishes_while_it_is_read_gives_way_to_the_next(leduc, tmp_path, monkeypatch):
    old = save_blueprint(leduc, tmp_path / "checkpoint-1")
    read = artifacts.manifest

    def pulled(place):
        if place == old and old.exists():  # the run saves again, just now
            save_blueprint(leduc, tmp_path / "checkpoint-2")
            shutil.rmtree(old)
        return read(place)

    monkeypatch.setattr(artifacts, "manifest", pulled)
    assert load_blueprint(tmp_path).provenance["folder"] == "checkpoint-2"


def test_folders_that_are_torn_or_hold_something_else_are_refused(leduc, tmp_path):
    folder = save_blueprint(leduc, tmp_path / "b")
    path = folder / "average_1.npy"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(CorruptError, match=r"average_1\.npy.*truncated"):
        load_blueprint(folder)
    with pytest.raises(InputError, match="holds a test, not a blueprint"):
        load_blueprint(artifacts.write(tmp_path / "other", "test", {}, {}))
    facts = blueprint.describe(leduc.tree, leduc.cards)
    with pytest.raises(CorruptError, match=r"no average_1\.npy"):
        load_blueprint(artifacts.write(tmp_path / "half", blueprint.KIND, {"average_0": leduc.average[0]}, facts))
    wrong = {f"average_{street}": table[:, :-1] for street, table in enumerate(leduc.average)}
    with pytest.raises(CorruptError, match=r"average_0\.npy: an array of shape"):
        load_blueprint(artifacts.write(tmp_path / "small", blueprint.KIND, wrong, facts))
    with pytest.raises(InputError, match="another tree"):
        load_blueprint(artifacts.write(tmp_path / "tree", blueprint.KIND, {
            f"average_{street}": table for street, table in enumerate(leduc.average)
        }, facts | {"fingerprint": "0"}))  # fmt: skip


# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda s: s.at("cx", "Ks"), "'x'"),
        (lambda s: s.at("crrr", "Ks"), r"no move 'r' at 'crr' in this tree: f, c"),
        (lambda s: s.at("rf", "Ks"), "the hand is over there"),
        (lambda s: s.at("cc/", "Ks"), r"board '': 0 cards; the flop has 1, such as As"),
        (lambda s: s.at("c", "Ks", "As"), "board 'As': 1 card; preflop has none"),
        (lambda s: s.at("c", "KsAs"), "hand 'KsAs': 2 cards; a hand of leduc has 1"),
        (lambda s: s.at("c", "2c"), "2c is not in the deck of leduc"),
        (lambda s: s.at("cc/", "Ks", "Ks"), "shares a card"),
        (lambda s: s.probabilities(0, np.array([3])), "bucket 3 on the preflop: there are 0 to 2"),
        (lambda s: s.probabilities(0, np.array([-1])), "bucket -1"),
        (lambda s: s.probabilities(0, np.array([0.5])), "whole numbers"),
        (lambda s: s.probabilities(85, np.array([0])), "nodes 0 to 84"),
        (lambda s: s.decisions(np.array([0, s.tree.find("rf")]), np.array([0, 0])), "'rf': the hand is over"),
        (lambda s: s.decisions(np.array([0, 1]), np.array([0])), "one bucket for each node"),
        (lambda s: s.row(2, 0), "street 2"),
    ],
)
def test_questions_that_make_no_sense(leduc, ask, message):
    with pytest.raises(InputError, match=message):
        ask(leduc)


def test_parts_that_do_not_fit(leduc, bench):
    with pytest.raises(InputError, match="its deck has 52 cards"):
        BlueprintStrategy(leduc.rules, None, leduc.tree, bench.cards, leduc.average)
    with pytest.raises(InputError, match=r"boards of \(0, 2\); leduc has \(0, 1\)"):
        BlueprintStrategy(leduc.rules, None, leduc.tree, lossless((2,), leduc.rules.deck), leduc.average)
    with pytest.raises(InputError, match="other rules"):
        BlueprintStrategy(bench.rules, bench.menu, leduc.tree, leduc.cards, leduc.average)
    with pytest.raises(InputError, match="sums or steps"):
        BlueprintStrategy(leduc.rules, None, leduc.tree, leduc.cards, tuple(t.astype(int) for t in leduc.average))
