"""`riverboat show` for card abstractions."""

import json

import numpy as np
import pytest

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, load_abstraction
from riverboat.abstraction.clustering.public_clusters import PublicBuckets, cluster_private
from riverboat.abstraction.explanation import explain_buckets
from riverboat.abstraction.quality import report_quality
from riverboat.cards.isomorphism import HandIndexer, canonical_boards


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Hold'em up to the flop with three public buckets and random buckets of hands, four in each."""
    public = PublicBuckets(np.arange(len(canonical_boards(3)[0])) % 3)
    rng = np.random.default_rng(0)
    found = cluster_private(public, 3, lambda _, hands, __: rng.integers(0, 4, len(hands)))
    member = np.array([np.flatnonzero((found.labels == b).any(axis=0))[0] for b in range(12)])
    flop = StreetBuckets(
        12,
        found.labels,
        found.layer,
        first=found.first,
        centres=rng.dirichlet(np.ones(50), 12).astype(np.float32),
        sizes=np.arange(1.0, 13.0),
        spread=rng.random(12).astype(np.float32),
        nearest=member,
        farthest=member,
        metadata={"method": "histogram", "unit": "bins", "seconds": 1.5},
    )
    preflop = StreetBuckets(HandIndexer((2,)).size(), metadata={"method": "lossless", "seconds": 0.5})
    made = CardAbstraction(
        (preflop, flop), (3,), public=public, name="random", recipe={"about": "for tests", "seed": 0}
    )
    return made.save(tmp_path_factory.mktemp("abstractions") / "random")


def test_summary_and_quality(run, folder):
    code, out, _ = run("show", folder)
    assert code == 0
    for text in ("card abstraction", "random", "169 – 12", "for tests", "flop: widest buckets", "public buckets"):
        assert text in out
    found = json.loads(run("show", folder, "--json")[1])
    expected = json.loads(json.dumps(report_quality(load_abstraction(folder), 3).to_dict()))
    assert (found["kind"], found["buckets"], found["public_buckets"]) == ("card abstraction", [169, 12], 3)
    assert found["seconds"] == 2.0
    assert list(found["streets"].values()) == expected["streets"]
    assert found["public"] == expected["public"]
    assert found["recipe"] == {"about": "for tests", "seed": 0}


def test_one_street_and_public_buckets(run, folder):
    street = json.loads(run("show", folder, "flop", "--limit", 2, "--json")[1])["streets"]
    assert list(street) == ["flop"]
    assert len(street["flop"]["widest"]) == 2
    _, out, err = run("show", folder, "public", "--limit", 2)
    assert "public buckets" in out
    assert "flop: widest" not in out
    assert "1 more public buckets" in err
    code, _, err = run("show", folder, "river")
    assert code == 2
    assert "flop, preflop, public" in err


def test_one_hand(run, folder, tmp_path):
    code, out, err = run("show", folder, "--hand", "KsJs", "--board", "Td9d6h", "--picture", tmp_path / "hand.svg")
    assert code == 0
    assert "KsJs on Td9d6h in random, public bucket" in out
    assert "hand.svg" in err
    assert (tmp_path / "hand.svg").stat().st_size > 1000
    found = json.loads(run("show", folder, "--hand", "KsJs", "--board", "Td9d6h", "--json")[1])
    assert found == json.loads(json.dumps(explain_buckets(load_abstraction(folder), "KsJs", "Td9d6h").to_dict()))
    assert found["streets"][1]["bucket"] // 4 == found["public"]
    assert len(json.loads(run("show", folder, "--hand", "KsJs", "--json")[1])["streets"]) == 1


@pytest.mark.parametrize("arguments", [["--board", "Td9d6h"], [], ["flop"], ["public"]])
def test_pictures(run, folder, tmp_path, arguments):
    code, _, err = run("show", folder, *arguments, "--picture", tmp_path / "picture.png")
    assert code == 0
    assert "picture.png" in err
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--board", "Td9d6h"], "--hand"),
        (["--runouts"], "--runouts"),
        (["--table", "made"], "--table"),
        (["--sort", "ev"], "--sort"),
        (["flop", "--hand", "KsJs"], "--hand KsJs"),
        (["--hand", "KsJs", "--board", "Td9d"], "0, 3"),
        (["--hand", "KsTd", "--board", "Td9d6h"], "Td"),
        (["--picture", "x.doc"], "x.doc"),
    ],
)
def test_invalid_options(run, folder, arguments, reason):
    code, _, err = run("show", folder, *arguments)
    assert code == 2
    assert reason in err
