"""Building recipes: stored stages, resumed builds, and errors. Features are synthetic: real ones take minutes."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.abstraction import build as builder
from riverboat.abstraction.build import build_abstraction
from riverboat.abstraction.cards.card_abstraction import StreetBuckets, load_abstraction
from riverboat.abstraction.clustering import features
from riverboat.abstraction.clustering.potential_aware import ground_distances
from riverboat.abstraction.recipe import CANONICAL_HANDS, load_recipe, parse_recipe
from riverboat.cards.features.hand_features import live_deals
from riverboat.cards.isomorphism import HandIndexer, canonical_boards
from riverboat.core.errors import InputError

FLOP_ONLY = """
seed = 5
[flop]
method = "histogram"
buckets = 12
passes = 2
sample = 4000
[turn]
method = "lossless"
[river]
method = "lossless"
"""


@pytest.fixture
def made_up(monkeypatch):
    """Replace the feature tables by a flop table with three bins."""
    rng = np.random.default_rng(2)
    table = rng.integers(1, 60, (CANONICAL_HANDS["flop"], 3)).astype(np.uint16)
    requested = []

    def give(name, threads=1, progress=None):
        requested.append(name)
        assert name in ("flop", "turn")
        return {"histogram": table}

    monkeypatch.setattr(features, "load_feature_table", give)
    monkeypatch.setattr(features, "has_feature_table", lambda name: True)
    return requested


def test_result_does_not_depend_on_threads(made_up, tmp_path):
    recipe = parse_recipe(FLOP_ONLY)
    reports = []
    one = build_abstraction(
        recipe, tmp_path / "one", threads=1, progress=lambda stage, share: reports.append((stage.name, share))
    )
    two = build_abstraction(recipe, tmp_path / "two", threads=2)
    assert one.fingerprint == two.fingerprint
    assert one.counts == (169, 12, 13_960_050, 123_156_254)
    flop = one.streets[1]
    assert flop.sizes.sum() == 25_989_600  # pairs of a hand and a flop
    assert (flop.labels[0, flop.nearest] == np.arange(12)).all()
    assert (flop.labels[0, flop.farthest] == np.arange(12)).all()
    assert [name for name, share in reports if share == 1.0][-4:] == ["river", "turn", "flop", "preflop"]
    assert all(0 <= share <= 1 for _, share in reports)
    assert not (tmp_path / "one.stages").exists()


def test_stopped_build_is_resumed(made_up, tmp_path, monkeypatch):
    recipe = parse_recipe(FLOP_ONLY)
    whole = build_abstraction(recipe, tmp_path / "whole")
    done = []

    def stop(work):
        raise KeyboardInterrupt

    with monkeypatch.context() as m:
        m.setitem(builder.STAGE_BUILDERS, "preflop", stop)
        with pytest.raises(KeyboardInterrupt):
            build_abstraction(recipe, tmp_path / "part")
    assert (tmp_path / "part.stages" / "flop").is_dir()
    assert not (tmp_path / "part").exists()
    with pytest.raises(InputError, match="--resume"):
        build_abstraction(recipe, tmp_path / "part")
    with pytest.raises(InputError, match=r"part\.stages"):
        build_abstraction(parse_recipe(FLOP_ONLY.replace("seed = 5", "seed = 6")), tmp_path / "part", resume=True)
    with monkeypatch.context() as m:
        m.setitem(builder.STAGE_BUILDERS, "flop", lambda work: done.append("flop"))
        found = build_abstraction(recipe, tmp_path / "part", resume=True)
    assert not done  # the flop was not clustered again
    assert found.fingerprint == whole.fingerprint
    assert build_abstraction(recipe, tmp_path / "part", resume=True).fingerprint == whole.fingerprint


def test_damaged_stage_is_built_again(made_up, tmp_path, monkeypatch):
    recipe = parse_recipe(FLOP_ONLY)
    whole = build_abstraction(recipe, tmp_path / "whole")
    with monkeypatch.context() as m:
        m.setitem(builder.STAGE_BUILDERS, "preflop", lambda work: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            build_abstraction(recipe, tmp_path / "part")
    table = tmp_path / "part.stages" / "flop" / "labels.npy"
    table.write_bytes(table.read_bytes()[:-10])
    assert build_abstraction(recipe, tmp_path / "part", resume=True).fingerprint == whole.fingerprint


def test_folders_in_use(made_up, tmp_path):
    recipe = parse_recipe(FLOP_ONLY)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("mine")
    with pytest.raises(InputError, match=r"full: .*empty folder"):
        build_abstraction(recipe, tmp_path / "full")
    build_abstraction(recipe, tmp_path / "there")
    with pytest.raises(InputError, match=r"there: .*delete"):
        build_abstraction(recipe, tmp_path / "there")
    with pytest.raises(InputError, match=r"there: .*recipe"):
        build_abstraction(parse_recipe(FLOP_ONLY.replace("seed = 5", "seed = 6")), tmp_path / "there", resume=True)
    with pytest.raises(InputError, match="threads=0"):
        build_abstraction(recipe, tmp_path / "new", threads=0)


@pytest.mark.slow
def test_hands_stay_in_their_public_bucket(made_up, tmp_path):
    text = FLOP_ONLY.replace('"lossless"', '"histogram"\nbuckets = 3', 1)
    recipe = parse_recipe(text.replace('"lossless"', '"ochs"\nbuckets = 3') + "[public]\nbuckets = 4\nbase = 20\n")
    work = builder._AbstractionBuild(recipe, tmp_path / "stages", 1, None)
    work.prepare_folder(tmp_path / "out", resume=False)
    for stage in ("base", "public", "flop"):
        work.run_stage(stage)
    flop, public = work.finished_stages["flop"], work.public
    assert public is not None
    assert flop.count == 4 * 12
    assert flop.layer.shape == (1755, 4)
    assert (np.bincount(public.labels) > 0).all()
    assert flop.sizes.sum() == 25_989_600
    for c in range(4):  # the range of a public bucket contains exactly its hands
        inside = (flop.labels[0] >= flop.first[c]) & (flop.labels[0] < flop.first[c + 1])
        assert flop.sizes[flop.first[c] : flop.first[c + 1]].sum() > 0
        assert inside.any()


def test_flops_are_clustered_by_transition_tables(tmp_path, monkeypatch):
    """Flops whose hands are all strong are told from those whose hands are all weak."""
    boards, _ = canonical_boards(3)
    _, deals = live_deals(boards)
    strong = np.repeat(np.arange(len(boards)) % 2, 1176)
    values = np.zeros(CANONICAL_HANDS["flop"], np.float32)
    values[HandIndexer((2, 3)).index(deals, check=False)] = strong
    tables = {"preflop": {"square": np.linspace(0, 1, 169, dtype=np.float32)}, "flop": {"square": values}}
    monkeypatch.setattr(features, "load_feature_table", lambda name, *_: tables[name])
    text = FLOP_ONLY.replace('"lossless"', '"histogram"\nbuckets = 3', 1).replace('"lossless"', '"ochs"\nbuckets = 3')
    recipe = parse_recipe(text + "[public]\nbuckets = 2\nmethod = 'transitions'\n")
    work = builder._AbstractionBuild(recipe, tmp_path / "stages", 1, None)
    work.prepare_folder(tmp_path / "out", resume=False)
    work.run_stage("public")
    assert work.public is not None
    assert (work.public.labels == work.public.labels[0]).tolist() == [k % 2 == 0 for k in range(1755)]


def test_potential_uses_clusters_of_the_next_street(tmp_path):
    recipe = parse_recipe(
        FLOP_ONLY.replace('"histogram"', '"potential"').replace('"lossless"', '"histogram"\nbuckets = 6', 1)
    )
    work = builder._AbstractionBuild(recipe, tmp_path / "stages", 1, None)
    rng = np.random.default_rng(9)
    hands = np.sort(rng.choice(CANONICAL_HANDS["flop"], 300, replace=False))
    labels, centres = (
        rng.integers(0, 6, CANONICAL_HANDS["turn"]).astype(np.uint16),
        rng.random((6, 5)).astype(np.float32),
    )
    found = builder._cluster_hands(
        work,
        "flop",
        recipe.street("flop"),
        hands,
        np.ones(300),
        12,
        1,
        lambda share: None,
        (labels, ground_distances(centres)),
    )
    assert found.centres.shape == (12, 6)  # shares of the turn's clusters
    assert np.allclose(found.centres.sum(axis=1), 1, atol=1e-5)
    for c in np.flatnonzero(found.sizes):
        mine = hands[found.labels[0] == c]
        assert found.nearest[c] in mine
        assert found.farthest[c] in mine
    assert found.metadata["cost"] == pytest.approx(np.average(found.spread, weights=found.sizes), rel=1e-4)


@pytest.mark.slow
def test_the_tiny_preset_on_real_features(tmp_path):
    made = build_abstraction(load_recipe("tiny"), tmp_path / "tiny", threads=2)
    found = load_abstraction(tmp_path / "tiny")
    assert found.fingerprint == made.fingerprint
    assert found.counts == (169, 100, 100, 100)
    # Deals of all hands: C(52,2) · C(50,3), C(50,4), C(50,5).
    assert [s.sizes.sum() for s in found.streets[1:]] == [25_989_600, 305_377_800, 2_809_475_760]
    assert 0.5 < found.streets[1].metadata["cost"] < 2
    strong, weak = ([51, 50], [49, 48, 0, 5, 10]), ([20, 5], [51, 46, 38, 33, 0])  # quad aces; seven high
    assert found.bucket(*strong) == 99
    assert found.bucket(*weak) < 20


def test_metric_of_histograms(made_up, tmp_path):
    """The default metric is not part of the recipe, so older recipes keep their fingerprint."""
    usual, named, other = (parse_recipe(FLOP_ONLY.replace("passes = 2", f"passes = 2{more}")) for more in
                           ("", '\nmetric = "emd"', '\nmetric = "l2"'))  # fmt: skip
    assert "metric" not in usual.to_dict()["flop"]
    emd, same, l2 = (build_abstraction(recipe, tmp_path / str(k)) for k, recipe in enumerate((usual, named, other)))
    assert same.fingerprint == emd.fingerprint != l2.fingerprint
    assert l2.streets[1].metadata["metric"] == "l2"
    with pytest.raises(InputError, match=r"\[flop\] metric = 'l1'.*emd.*l2"):
        parse_recipe(FLOP_ONLY.replace("passes = 2", 'passes = 2\nmetric = "l1"'))


TWICE = """
[flop]
method = "potential"
buckets = 4
[turn]
method = "potential"
buckets = 3
[river]
method = "ochs"
buckets = 2
"""


def test_potential_over_potential_compares_successor_clusters(tmp_path):
    """With two clusters on the river, the distance of turn clusters is the mass that must move from one to the other."""
    recipe, rng = parse_recipe(TWICE), np.random.default_rng(4)
    river, turn = np.zeros((2, 8), np.float32), np.array([[1, 0], [0.5, 0.5], [0.25, 0.75]], np.float32)
    river[1] = 10.0
    work = builder._AbstractionBuild(recipe, tmp_path, 1, None)
    labels = rng.integers(0, 3, (1, CANONICAL_HANDS["turn"])).astype(np.uint16)
    work.finished_stages = {"river": StreetBuckets(2, centres=river), "turn": StreetBuckets(3, labels, centres=turn)}
    far = float(np.sqrt(8 * 100))
    apart = builder._ground_distances(work, "turn")
    assert apart.distance == pytest.approx(far * np.abs(turn[:, :1] - turn[:, 0]), rel=1e-5)
    some = np.arange(0, CANONICAL_HANDS["flop"], 5000)
    clusters = builder._cluster_hands(
        work, "flop", recipe.street("flop"), some, np.ones(len(some)), 4, 1, lambda share: None, (labels[0], apart)
    )
    assert sorted(set(clusters.labels[0].tolist())) == [0, 1, 2, 3]
    assert clusters.centres.shape == (4, 3)
    assert clusters.centres.sum(axis=1) == pytest.approx(1.0, rel=1e-4)


def test_potential_over_potential_inside_a_public_bucket(tmp_path):
    """Each public bucket is compared by its own clusters of the next street, which may be fewer than in others."""
    recipe = parse_recipe(TWICE + "[public]\nbuckets = 2\n")
    river = np.zeros((3, 8), np.float32)  # two clusters in the first public bucket, one in the second
    river[1:] = 10.0
    turn = np.array([[1, 0], [0.5, 0.5], [1, 0], [1, 0]], np.float32)
    work = builder._AbstractionBuild(recipe, tmp_path, 1, None)
    work.finished_stages = {
        "river": StreetBuckets(3, centres=river, first=np.array([0, 2, 3])),
        "turn": StreetBuckets(4, centres=turn, first=np.array([0, 2, 4])),
    }
    half = float(np.sqrt(8 * 100)) / 2
    assert builder._ground_distances(work, "turn", 0).distance == pytest.approx(
        np.array([[0, half], [half, 0]]), rel=1e-5
    )
    assert not builder._ground_distances(work, "turn", 1).distance.any()  # both lead to its only cluster
