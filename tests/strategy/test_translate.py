"""Translated strategies against the plain version that follows every reading."""

from __future__ import annotations

import numpy as np
import pytest

from reference.translation import value
from riverboat.abstraction.actions.translation import MAPPINGS
from riverboat.core.errors import InputError
from riverboat.games.registry import make
from riverboat.games.small.half_street import clairvoyance, grid, half_street_kuhn
from riverboat.games.small.poker import OneCardPoker, kuhn, leduc
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.tabular.best_response import quality
from riverboat.strategies.lifting import pair
from riverboat.strategies.tabular import Strategy
from riverboat.strategies.translated import translate, translate_all
from riverboat.trees.compile import compile_game
from riverboat.trees.public import PublicTree


def random_strategy(tree: PublicTree, seed: int) -> Strategy:
    return Strategy.from_sums(tree, np.random.default_rng(seed).exponential(size=tree.table))


@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize(
    ("small", "full"),
    [
        (kuhn(stack=5, menu="100%/a"), kuhn(stack=5)),
        (kuhn(stack=4, menu="100%"), kuhn(stack=4)),  # all-in is no size of the menu
        (leduc(stack=3, menu="100%/a", ranks=2), leduc(stack=3, ranks=2)),
        pytest.param(leduc(stack=4, menu="a", ranks=2), leduc(stack=4, ranks=2), marks=pytest.mark.slow),
        (leduc(stack=5, menu="50%", cap=1, ranks=2, suits=2), leduc(stack=5, ranks=2)),  # fewer raises too
    ],
    ids=["kuhn", "kuhn without all-in", "leduc", "leduc all-in", "leduc capped"],
)
def test_values_against_the_plain_version(small: OneCardPoker, full: OneCardPoker, mapping: str) -> None:
    abstract = random_strategy(PublicTree(small), 1)
    tree = PublicTree(full)
    opponent = random_strategy(tree, 2)
    found = translate(abstract, tree, mapping)
    for me in (0, 1):
        profile = pair(found, opponent) if me == 0 else pair(opponent, found)
        assert quality(profile).values[me] == pytest.approx(value(abstract, me, mapping, opponent), abs=1e-12)


@pytest.mark.parametrize("tie", ["low", "high"])
def test_half_street_against_the_plain_version(tie: str) -> None:
    abstract = random_strategy(PublicTree(half_street_kuhn((0.4, 2.0))), 1)
    opponent = random_strategy(PublicTree(half_street_kuhn(grid(2))), 2)
    for mapping, found in translate_all(abstract, opponent.tree, tie=tie).items():  # type: ignore[arg-type]
        profile = pair(opponent, found)
        expected = value(abstract, 1, mapping, opponent, tie)  # type: ignore[arg-type]
        assert quality(profile).values[1] == pytest.approx(expected, abs=1e-12)


def test_nothing_is_lost_where_the_menu_has_every_size() -> None:
    tree = PublicTree(leduc(stack=4))
    strategy = solve_lp(tree).strategy
    for found in translate_all(strategy, tree).values():
        assert quality(found).exploitability == pytest.approx(0, abs=1e-9)
        assert quality(pair(found, strategy)).values == pytest.approx(quality(strategy).values, abs=1e-12)


def test_rows_are_probabilities() -> None:
    tree = PublicTree(leduc(stack=4))
    for found in translate_all(random_strategy(PublicTree(leduc(stack=4, menu="100%")), 3), tree).values():
        for row in (found.row(i) for i in tree.infosets()):
            assert row.min() >= 0
            assert row.sum() == pytest.approx(1)


def test_own_bets_are_those_of_the_menu() -> None:
    """At the start player 0 checks, bets the pot or all-in, as in the small game."""
    tree = PublicTree(leduc(stack=6))
    found = translate(random_strategy(PublicTree(leduc(stack=6, menu="100%/a")), 4), tree)
    played = {label for label, p in found["Ks:"].items() if p > 0}
    assert played == {"c", "r3", "r7"}


def test_errors() -> None:
    strategy = Strategy.uniform(PublicTree(clairvoyance((1.0,))))
    with pytest.raises(InputError, match="hands differ"):
        translate(strategy, PublicTree(half_street_kuhn((1.0,))))
    with pytest.raises(InputError, match="rand-pshr"):
        translate(strategy, PublicTree(clairvoyance(grid(1))), "rand-pshr")
    with pytest.raises(InputError, match="public game"):
        translate(Strategy.uniform(compile_game(make("rps"))), PublicTree(clairvoyance((1.0,))))
