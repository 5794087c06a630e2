"""Blueprint strategies: probabilities, files, and invalid input."""

import shutil

import numpy as np
import pytest

from random_blueprints import random_blueprint
from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless_abstraction
from riverboat.core import artifacts
from riverboat.core.errors import CorruptError, InputError
from riverboat.strategies import blueprint
from riverboat.strategies.blueprint import Blueprint, load_blueprint, quantize_table, save_blueprint
from riverboat.strategies.postprocessing import purify, tartanian7


@pytest.fixture(scope="module")
def leduc():
    return random_blueprint("leduc")


@pytest.fixture(scope="module")
def bench():
    return random_blueprint("bench-2x52", dtype=np.uint8)


def halves(rules):
    """A card abstraction of Leduc in which hands share buckets."""
    fine = lossless_abstraction(rules.board[1:], rules.deck)
    coarse = [np.arange(count)[None] // 2 for count in fine.counts]
    streets = tuple(StreetBuckets(int(c.max()) + 1, labels=c.astype(np.uint16)) for c in coarse)
    return CardAbstraction(streets, fine.deals, fine.deck, name="halves")


def plain(strategy, node, bucket):
    """One row by definition: weights over their sum."""
    tree = strategy.tree
    at = int(tree.slot[node])
    weights = [float(strategy.average[tree.street[node]][bucket][at + a]) for a in range(tree.count[node])]
    total = sum(weights)
    return [w / total for w in weights] if total > 0 else [1 / len(weights)] * len(weights)


# --- probabilities ----------------------------------------------------------------------------


@pytest.mark.parametrize("game", ["kuhn", "leduc", "bench-3x20"])
def test_all_queries_agree_with_the_definition(game):
    strategy = random_blueprint(game)
    tree, rng = strategy.tree, np.random.default_rng(1)
    nodes = rng.permutation(np.repeat(np.flatnonzero(tree.actor >= 0), 3))
    buckets = np.array([rng.integers(strategy.buckets[tree.street[node]]) for node in nodes])
    batch = strategy.batch_probabilities(nodes, buckets)
    assert batch.shape == (len(nodes), tree.count.max())
    for node, bucket, row_of_batch in zip(nodes.tolist(), buckets.tolist(), batch, strict=True):
        expected = plain(strategy, node, bucket)
        single = strategy.probabilities(node, np.array([bucket]))[0]
        at, count = int(tree.slot[node]), len(expected)
        np.testing.assert_allclose(single, expected, rtol=1e-12)
        np.testing.assert_allclose(row_of_batch[:count], expected, rtol=1e-12)
        assert not row_of_batch[count:].any()
        row = strategy.street_probabilities(int(tree.street[node]), bucket)
        np.testing.assert_allclose(row[at : at + count], expected, rtol=1e-12)


def test_decision_without_weight_is_uniform():
    strategy = random_blueprint("leduc")
    node = strategy.tree.find("cr")
    at, count = strategy.tree.slot[node], int(strategy.tree.count[node])
    strategy.average[0][1, at : at + count] = 0
    assert strategy.probabilities(node, np.array([1])).tolist() == [[1 / count] * count]
    assert strategy.batch_probabilities(np.array([0, node]), np.array([0, 1]))[1].tolist() == [1 / count] * count
    assert strategy.street_probabilities(0, 1)[at : at + count].tolist() == [1 / count] * count
    assert strategy.probabilities(node, np.array([0]))[0].tolist() != [1 / count] * count


def test_hands_play_the_strategy_of_their_bucket(bench):
    node = bench.tree.find("cc/r6")
    found = bench.hand_probabilities("cc/r6", "QhJh", "AsKd2c")
    bucket = bench.cards.bucket((42, 38), (51, 45, 0))  # Qh Jh, As Kd 2c
    assert list(found) == ["f", "c"]
    assert list(found.values()) == plain(bench, node, bucket)
    assert bench.hand_probabilities("cc/r6", "JdQd", "2c As Kh") == pytest.approx(found)  # isomorphic
    assert bench.hand_probabilities("cc/r6", "QhJs", "AsKd2c") != found


def test_post_processing_of_rows(leduc):
    node = leduc.tree.find("cr")
    rows = leduc.probabilities(node, np.arange(3))
    np.testing.assert_array_equal(purify(rows), rows == rows.max(axis=1, keepdims=True))
    assert tartanian7(rows, leduc.moves(node)).sum(axis=1) == pytest.approx([1, 1, 1])
    padded = leduc.batch_probabilities(np.array([0, node, node]), np.arange(3))
    assert purify(padded).sum(axis=1) == pytest.approx([1, 1, 1])


# --- compact tables ---------------------------------------------------------------------------


def largest_remainders(weights, whole):
    """Largest-remainder (Hamilton) apportionment in integers."""
    total = sum(weights)
    if total == 0:
        return [0] * len(weights)
    seats = [w * whole // total for w in weights]
    order = sorted(range(len(weights)), key=lambda a: (-(weights[a] * whole % total), a))
    for a in order[: whole - sum(seats)]:
        seats[a] += 1
    return seats


def test_quantization_uses_largest_remainders():
    rng = np.random.default_rng(3)
    count = rng.integers(2, 9, 40).astype(np.int8)
    slot = (np.cumsum(count) - count).astype(np.int32)
    weights = np.where(rng.random((30, count.sum())) < 0.4, 0, rng.integers(1, 3000, (30, count.sum())))
    weights[4] = 0
    found = quantize_table(weights.astype(np.float32), slot, count)
    for bucket in range(30):
        for at, moves in zip(slot.tolist(), count.tolist(), strict=True):
            expected = largest_remainders(weights[bucket, at : at + moves].tolist(), 255)
            assert found[bucket, at : at + moves].tolist() == expected


# --- files ------------------------------------------------------------------------------------


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
            np.testing.assert_allclose(
                back.street_probabilities(street, bucket), strategy.street_probabilities(street, bucket), atol=1 / 255
            )


def test_card_abstraction_is_found_in_its_folder(leduc, tmp_path):
    cards = halves(leduc.rules)
    home = cards.save(tmp_path / "cards")
    strategy = random_blueprint("leduc", cards=cards, cards_path=home)
    folder = save_blueprint(strategy, tmp_path / "b")
    back = load_blueprint(folder)
    assert back.cards_path == (folder / "cards").resolve()  # copied, so that the folder is complete
    shutil.rmtree(home)
    assert load_blueprint(folder).cards.fingerprint == cards.fingerprint
    assert back.hand_probabilities("cc/", "Ks", "Kh") == strategy.hand_probabilities("cc/", "Ks", "Kh")
    moved = shutil.move(folder / "cards", tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"'halves'.*cards.*--abstraction DIR"):
        load_blueprint(folder)
    assert load_blueprint(folder, moved).cards_path == (tmp_path / "elsewhere").resolve()
    assert load_blueprint(folder, cards).cards is cards
    streets = (cards.streets[0], StreetBuckets(8, labels=cards.streets[1].labels[:, ::-1].copy()))
    CardAbstraction(streets, cards.deals, cards.deck, name="halves").save(folder / "cards")
    with pytest.raises(InputError, match=r"'halves'.*--abstraction DIR"):
        load_blueprint(folder)


def test_saving_needs_the_folder_of_the_abstraction(leduc, tmp_path):
    with pytest.raises(InputError, match="cards_path"):
        save_blueprint(random_blueprint("leduc", cards=halves(leduc.rules)), tmp_path / "b")


def test_checkpoints_load_like_blueprints(leduc, tmp_path):
    for iteration, scale in ((10, 1), (20, 3)):
        arrays = {f"average_{street}": scale * table for street, table in enumerate(leduc.average)}
        arrays |= {f"regret_{street}": np.ones_like(table) for street, table in enumerate(leduc.average)}
        facts = blueprint.manifest_entries(leduc.tree, leduc.cards) | {"provenance": {"iterations": iteration}}
        artifacts.write(tmp_path / f"checkpoint-{iteration:012d}", blueprint.CHECKPOINT_KIND, arrays, facts)
    back = load_blueprint(tmp_path)
    assert back.provenance == {"iterations": 20, "folder": "checkpoint-000000000020"}
    np.testing.assert_allclose(back.street_probabilities(1, 7), leduc.street_probabilities(1, 7), rtol=1e-6)


def test_checkpoint_replaced_during_reading(leduc, tmp_path, monkeypatch):
    old = save_blueprint(leduc, tmp_path / "checkpoint-1")
    read = artifacts.read_manifest

    def read_and_replace(path):
        if path == old and old.exists():  # the trainer saves a new checkpoint now
            save_blueprint(leduc, tmp_path / "checkpoint-2")
            shutil.rmtree(old)
        return read(path)

    monkeypatch.setattr(artifacts, "read_manifest", read_and_replace)
    assert load_blueprint(tmp_path).provenance["folder"] == "checkpoint-2"


def test_corrupt_folders_and_other_artifacts(leduc, tmp_path):
    folder = save_blueprint(leduc, tmp_path / "b")
    path = folder / "average_1.npy"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(CorruptError, match=r"average_1\.npy"):
        load_blueprint(folder)
    with pytest.raises(InputError, match=r"other: .*test.*blueprint"):
        load_blueprint(artifacts.write(tmp_path / "other", "test", {}, {}))
    facts = blueprint.manifest_entries(leduc.tree, leduc.cards)
    with pytest.raises(CorruptError, match=r"average_1\.npy"):
        load_blueprint(
            artifacts.write(tmp_path / "half", blueprint.ARTIFACT_KIND, {"average_0": leduc.average[0]}, facts)
        )
    wrong = {f"average_{street}": table[:, :-1] for street, table in enumerate(leduc.average)}
    with pytest.raises(CorruptError, match=r"average_0\.npy"):
        load_blueprint(artifacts.write(tmp_path / "small", blueprint.ARTIFACT_KIND, wrong, facts))
    with pytest.raises(InputError, match=r"tree: .*'leduc'"):
        load_blueprint(artifacts.write(tmp_path / "tree", blueprint.ARTIFACT_KIND, {
            f"average_{street}": table for street, table in enumerate(leduc.average)
        }, facts | {"fingerprint": "0"}))  # fmt: skip


# --- invalid input ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "place"),
    [
        (lambda s: s.hand_probabilities("cx", "Ks"), "'x'"),
        (lambda s: s.hand_probabilities("crrr", "Ks"), r"'r' at 'crr'.*f, c"),
        (lambda s: s.hand_probabilities("rf", "Ks"), "'rf'"),
        (lambda s: s.hand_probabilities("cc/", "Ks"), r"board ''.*flop.*1"),
        (lambda s: s.hand_probabilities("c", "Ks", "As"), "board 'As'.*preflop"),
        (lambda s: s.hand_probabilities("c", "KsAs"), "hand 'KsAs'.*leduc"),
        (lambda s: s.hand_probabilities("c", "2c"), "2c.*leduc"),
        (lambda s: s.hand_probabilities("cc/", "Ks", "Ks"), "hand Ks.*Ks"),
        (lambda s: s.probabilities(0, np.array([3])), "bucket 3.*preflop.*0 to 2"),
        (lambda s: s.probabilities(0, np.array([-1])), "bucket -1"),
        (lambda s: s.probabilities(0, np.array([0.5])), "float64"),
        (lambda s: s.probabilities(85, np.array([0])), "node 85.*84"),
        (lambda s: s.batch_probabilities(np.array([0, s.tree.find("rf")]), np.array([0, 0])), "'rf'"),
        (lambda s: s.batch_probabilities(np.array([0, 1]), np.array([0])), r"\(2,\).*\(1,\)"),
        (lambda s: s.street_probabilities(2, 0), "street 2"),
    ],
)
def test_invalid_queries(leduc, query, place):
    with pytest.raises(InputError, match=place):
        query(leduc)


def test_inconsistent_parts(leduc, bench):
    with pytest.raises(InputError, match=r"52 cards.*leduc"):
        Blueprint(leduc.rules, None, leduc.tree, bench.cards, leduc.average)
    with pytest.raises(InputError, match=r"\(0, 2\).*leduc.*\(0, 1\)"):
        Blueprint(leduc.rules, None, leduc.tree, lossless_abstraction((2,), leduc.rules.deck), leduc.average)
    with pytest.raises(InputError, match=r"strategy for 'bench-2x52'"):
        Blueprint(bench.rules, bench.menu, leduc.tree, leduc.cards, leduc.average)
    with pytest.raises(InputError, match="street 0: int64"):
        Blueprint(leduc.rules, None, leduc.tree, leduc.cards, tuple(t.astype(int) for t in leduc.average))
