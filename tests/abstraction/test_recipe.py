"""Recipes of card abstractions: parsing and errors."""

from __future__ import annotations

import pytest

from riverboat.abstraction import recipe
from riverboat.abstraction.recipe import AbstractionRecipe, StreetRecipe, load_recipe, parse_recipe, preset_names
from riverboat.core.errors import InputError

STREETS = """
[flop]
method = "histogram"
buckets = 10
[turn]
method = "histogram"
buckets = 20
[river]
method = "ochs"
buckets = 30
"""


def test_sizes_of_presets():
    assert set(preset_names()) >= {
        "tiny",
        "small",
        "standard",
        "tartanian7",
        "potential",
        "percentile5",
        "percentile12",
    }
    assert load_recipe("standard").counts == (169, 5000, 5000, 5000)
    assert load_recipe("tartanian7").counts == (169, 30_000, 30_000, 30_000)
    for n in (5, 8, 10, 12):  # Johanson et al. 2012: 8 n + 70 n² + 630 n³ + 5,670 n⁴ information sets
        counts = load_recipe(f"percentile{n}").counts
        assert counts == (n, n**2, n**3, n**4)


def test_recipe_round_trip():
    recipe = parse_recipe("seed = 3\n" + STREETS + "restarts = 2\n", "mine")
    assert recipe.counts == (169, 10, 20, 30)
    assert (recipe.name, recipe.seed, recipe.street("river").restarts) == ("mine", 3, 2)
    assert recipe.to_dict()["turn"]["method"] == "histogram"
    assert parse_recipe("[public]\nbuckets = 7\n" + STREETS).counts == (169, 70, 140, 210)


def test_methods_of_public_buckets():
    plain = parse_recipe("[public]\nbuckets = 3\n" + STREETS)
    assert "method" not in plain.to_dict()["public"]  # older recipes keep their fingerprint
    assert parse_recipe("[public]\nbuckets = 3\nmethod = 'sum'\n" + STREETS).fingerprint == plain.fingerprint
    mean = parse_recipe("[public]\nbuckets = 3\nmethod = 'mean'\n" + STREETS)
    assert mean.fingerprint != plain.fingerprint
    hand = parse_recipe("[public]\ngroups = ['paired', 'monotone']\n" + STREETS)
    assert (hand.counts, hand.to_dict()["public"]["groups"]) == ((169, 30, 60, 90), ["paired", "monotone"])
    names = [stage.name for stage in recipe.plan_stages(hand)]
    assert "base" not in names  # manual groups need no base abstraction
    assert "public" in names
    waugh = parse_recipe("[public]\nbuckets = 3\nmethod = 'transitions'\n" + STREETS)
    stages = [(stage.kind, stage.name) for stage in recipe.plan_stages(waugh)]
    assert ("table", "preflop") in stages  # percentiles of both streets
    assert ("buckets", "base") not in stages


def test_fingerprint_covers_everything_but_names():
    plain = parse_recipe(STREETS, "one")
    assert parse_recipe("about = 'words'\n" + STREETS, "two").fingerprint == plain.fingerprint
    assert parse_recipe("seed = 2\n" + STREETS).fingerprint != plain.fingerprint


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[flop", "TOML"),
        ('[flop]\nmethod = "histogram"\nbuckets = 5', r"\[turn\]"),
        (STREETS.replace("ochs", "potential"), r"\[river\] method = 'potential'.*flop, turn"),
        (STREETS.replace("ochs", "och"), "'och'.*'ochs'"),
        (STREETS.replace("buckets = 30", "buckets = 0"), r"\[river\] buckets = 0"),
        (STREETS.replace("buckets = 30", "buckets = '3'"), r"\[river\] buckets = '3'"),
        (STREETS.replace("buckets = 30", "bucket = 3"), "'bucket'.*'buckets'"),
        (STREETS + "sample = 20", r"\[river\] sample = 20.*30"),
        ("[public]\nbase = 7\n" + STREETS, r"\[public\].*buckets"),
        ("[public]\nbuckets = 2000\n" + STREETS, "1,755"),
        ("[preflop]\nmethod = 'percentile'\nbuckets = 5\n" + STREETS, r"\[preflop\].*\[flop\]"),
        ("seed = -1\n" + STREETS, "seed = -1"),
        (
            STREETS.replace('"ochs"', '"strength"').replace('"histogram"\nbuckets = 20', '"potential"\nbuckets = 20'),
            r"\[turn\] method = 'potential'.*'strength'",
        ),
        ("[public]\nbuckets = 3\n" + STREETS.replace('"ochs"', '"strength"'), r"\[river\].*public"),
        ("[public]\nbuckets = 3\nmethod = 'medoid'\n" + STREETS, "'medoid'.*'medoids'"),
        ("[public]\nbuckets = 3\nmethod = 'groups'\n" + STREETS, "method = 'groups'"),
        ("[public]\nbuckets = 3\nmethod = 'mean'\ngroups = ['paired']\n" + STREETS, "method = 'mean'"),
        ("[public]\nbuckets = 3\ngroups = ['paired']\n" + STREETS, "buckets = 3.* 2"),
        ("[public]\ngroups = 'paired'\n" + STREETS, r"\[public\] groups = 'paired'"),
    ],
)
def test_invalid_recipes(text, words):
    with pytest.raises(InputError, match=words):
        parse_recipe(text)


def test_unknown_preset_lists_all_presets(tmp_path):
    with pytest.raises(InputError, match=r"'tartarian'.*tartanian7"):
        load_recipe("tartarian")
    (tmp_path / "own.toml").write_text(STREETS)
    assert load_recipe(tmp_path / "own.toml").name == "own"


def test_order_of_stages():
    names = [stage.name for stage in recipe.plan_stages(load_recipe("tartanian7"))]
    assert names.index("turn") < names.index("flop")  # the flop's features are computed from the turn's
    assert names[-6:] == ["base", "public", "river", "turn", "flop", "preflop"]
    more = AbstractionRecipe((StreetRecipe(), *[StreetRecipe("histogram", 50)] * 2, StreetRecipe("ochs", 50)))
    most = AbstractionRecipe((StreetRecipe(), *[StreetRecipe("histogram", 500)] * 2, StreetRecipe("ochs", 500)))
    assert sum(s.seconds for s in recipe.plan_stages(more)) < sum(s.seconds for s in recipe.plan_stages(most))
