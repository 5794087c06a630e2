"""Recipes of card abstractions: what is read, what is refused and how it is said."""

from __future__ import annotations

import pytest

from riverboat.abstraction import estimate
from riverboat.abstraction.recipe import Recipe, StreetRecipe, load_recipe, loads, presets
from riverboat.abstraction.small.percentile import limit_information_sets
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


def test_presets_have_the_sizes_that_they_are_named_after():
    assert set(presets()) >= {"tiny", "small", "standard", "tartanian7", "potential", "percentile5", "percentile12"}
    assert load_recipe("standard").counts == (169, 5000, 5000, 5000)
    assert load_recipe("tartanian7").counts == (169, 30_000, 30_000, 30_000)
    for n in (5, 8, 10, 12):  # Johanson et al. 2012: 8 n + 70 n² + 630 n³ + 5,670 n⁴ information sets
        counts = load_recipe(f"percentile{n}").counts
        decisions = (8, 70, 630, 5670)
        assert sum(d * c for d, c in zip(decisions, counts, strict=True)) == limit_information_sets(n)


def test_a_recipe_is_read_and_told():
    recipe = loads("seed = 3\n" + STREETS + "restarts = 2\n", "mine")
    assert recipe.counts == (169, 10, 20, 30)
    assert (recipe.name, recipe.seed, recipe.street("river").restarts) == ("mine", 3, 2)
    assert recipe.to_dict()["turn"]["method"] == "histogram"
    assert loads("[public]\nbuckets = 7\n" + STREETS).counts == (169, 70, 140, 210)


def test_public_buckets_are_made_in_other_ways_where_a_recipe_says_so():
    plain = loads("[public]\nbuckets = 3\n" + STREETS)
    assert "method" not in plain.to_dict()["public"]  # recipes of before are the same recipes
    assert loads("[public]\nbuckets = 3\nmethod = 'sum'\n" + STREETS).fingerprint == plain.fingerprint
    mean = loads("[public]\nbuckets = 3\nmethod = 'mean'\n" + STREETS)
    assert mean.fingerprint != plain.fingerprint
    hand = loads("[public]\ngroups = ['paired', 'monotone']\n" + STREETS)
    assert (hand.counts, hand.to_dict()["public"]["groups"]) == ((169, 30, 60, 90), ["paired", "monotone"])
    names = [stage.name for stage in estimate.plan(hand)]
    assert "base" not in names  # nothing is compared
    assert "public" in names


def test_the_fingerprint_is_of_what_decides_the_result():
    plain = loads(STREETS, "one")
    assert loads("about = 'words'\n" + STREETS, "two").fingerprint == plain.fingerprint
    assert loads("seed = 2\n" + STREETS).fingerprint != plain.fingerprint


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[flop", "not TOML"),
        ('[flop]\nmethod = "histogram"\nbuckets = 5', r"no \[turn\]"),
        (STREETS.replace("ochs", "potential"), r"\[river\] method = 'potential': it is for flop, turn"),
        (STREETS.replace("ochs", "och"), "did you mean 'ochs'"),
        (STREETS.replace("buckets = 30", "buckets = 0"), r"\[river\] buckets = 0"),
        (STREETS.replace("buckets = 30", "buckets = '3'"), "must be a whole number"),
        (STREETS.replace("buckets = 30", "bucket = 3"), "did you mean 'buckets'"),
        (STREETS + "sample = 20", r"fewer than its 30 buckets"),
        ("[public]\nbase = 7\n" + STREETS, "say how many buckets"),
        ("[public]\nbuckets = 2000\n" + STREETS, "1,755"),
        ("[preflop]\nmethod = 'percentile'\nbuckets = 5\n" + STREETS, "all streets or none"),
        ("seed = -1\n" + STREETS, "seed"),
        (
            STREETS.replace('"ochs"', '"strength"').replace('"histogram"\nbuckets = 20', '"potential"\nbuckets = 20'),
            "next",
        ),
        ("[public]\nbuckets = 3\n" + STREETS.replace('"ochs"', '"strength"'), "inside public buckets"),
        ("[public]\nbuckets = 3\nmethod = 'medoid'\n" + STREETS, "did you mean 'medoids'"),
        ("[public]\nbuckets = 3\nmethod = 'groups'\n" + STREETS, "groups go with method"),
        ("[public]\nbuckets = 3\nmethod = 'mean'\ngroups = ['paired']\n" + STREETS, "groups go with method"),
        ("[public]\nbuckets = 3\ngroups = ['paired']\n" + STREETS, "are 2"),
        ("[public]\ngroups = 'paired'\n" + STREETS, "must be a list of texts"),
    ],
)
def test_what_is_wrong_is_said(text, words):
    with pytest.raises(InputError, match=words):
        loads(text)


def test_an_unknown_name_lists_the_presets(tmp_path):
    with pytest.raises(InputError, match=r"presets: .*tartanian7"):
        load_recipe("tartarian")
    (tmp_path / "own.toml").write_text(STREETS)
    assert load_recipe(tmp_path / "own.toml").name == "own"


def test_stages_come_in_an_order_that_works():
    names = [stage.name for stage in estimate.plan(load_recipe("tartanian7"))]
    assert names.index("turn") < names.index("flop")  # the flop's features come from the turn's
    assert names[-6:] == ["base", "public", "river", "turn", "flop", "preflop"]
    more = Recipe((StreetRecipe(), *[StreetRecipe("histogram", 50)] * 2, StreetRecipe("ochs", 50)))
    most = Recipe((StreetRecipe(), *[StreetRecipe("histogram", 500)] * 2, StreetRecipe("ochs", 500)))
    assert sum(s.seconds for s in estimate.plan(more)) < sum(s.seconds for s in estimate.plan(most))
