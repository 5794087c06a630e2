"""Translated strategies, against a reference that follows every translation."""

from __future__ import annotations

import numpy as np
import pytest

from reference.translation import value
from riverboat.abstraction.actions.translation import TRANSLATION_MAPPINGS
from riverboat.core.errors import InputError
from riverboat.games.registry import game_from_spec
from riverboat.games.small.poker import OneCardPoker, kuhn, leduc
from riverboat.games.small.toy_games import bet_grid, clairvoyance, half_street_kuhn
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.tabular.best_response import quality
from riverboat.strategies.lifting import combine_players, translate, translate_many
from riverboat.strategies.tabular import Strategy
from riverboat.trees.compile import compile_game
from riverboat.trees.public import PublicTree


def random_strategy(tree: PublicTree, seed: int) -> Strategy:
    return Strategy.from_sums(tree, np.random.default_rng(seed).exponential(size=tree.table_size))


@pytest.mark.parametrize("mapping", TRANSLATION_MAPPINGS)
@pytest.mark.parametrize(
    ("small", "full"),
    [
        (kuhn(stack=5, menu="100%/a"), kuhn(stack=5)),
        (kuhn(stack=4, menu="100%"), kuhn(stack=4)),  # all-in is not in the menu
        (leduc(stack=3, menu="100%/a", ranks=2), leduc(stack=3, ranks=2)),
        pytest.param(leduc(stack=4, menu="a", ranks=2), leduc(stack=4, ranks=2), marks=pytest.mark.slow),
        (leduc(stack=5, menu="50%", cap=1, ranks=2, suits=2), leduc(stack=5, ranks=2)),  # fewer raises, too
    ],
    ids=["kuhn", "kuhn without all-in", "leduc", "leduc all-in", "leduc capped"],
)
def test_values_equal_the_reference(small: OneCardPoker, full: OneCardPoker, mapping: str) -> None:
    abstract = random_strategy(PublicTree(small), 1)
    tree = PublicTree(full)
    opponent = random_strategy(tree, 2)
    found = translate(abstract, tree, mapping)
    for player in (0, 1):
        profile = combine_players(found, opponent) if player == 0 else combine_players(opponent, found)
        assert quality(profile).values[player] == pytest.approx(value(abstract, player, mapping, opponent), abs=1e-12)


@pytest.mark.parametrize("tie", ["low", "high"])
def test_half_street_equals_the_reference(tie: str) -> None:
    abstract = random_strategy(PublicTree(half_street_kuhn((0.4, 2.0))), 1)
    opponent = random_strategy(PublicTree(half_street_kuhn(bet_grid(2))), 2)
    for mapping, found in translate_many(abstract, opponent.tree, tie=tie).items():  # type: ignore[arg-type]
        profile = combine_players(opponent, found)
        expected = value(abstract, 1, mapping, opponent, tie)  # type: ignore[arg-type]
        assert quality(profile).values[1] == pytest.approx(expected, abs=1e-12)


def test_full_menu_is_lossless() -> None:
    tree = PublicTree(leduc(stack=4))
    strategy = solve_lp(tree).strategy
    for found in translate_many(strategy, tree).values():
        assert quality(found).exploitability == pytest.approx(0, abs=1e-9)
        assert quality(combine_players(found, strategy)).values == pytest.approx(quality(strategy).values, abs=1e-12)


def test_rows_are_probabilities() -> None:
    tree = PublicTree(leduc(stack=4))
    for found in translate_many(random_strategy(PublicTree(leduc(stack=4, menu="100%")), 3), tree).values():
        for row in (found.row(i) for i in tree.infosets()):
            assert row.min() >= 0
            assert row.sum() == pytest.approx(1)


def test_own_bets_are_those_of_the_menu() -> None:
    """At the root player 0 checks, bets the pot or goes all-in, as in the small game."""
    tree = PublicTree(leduc(stack=6))
    found = translate(random_strategy(PublicTree(leduc(stack=6, menu="100%/a")), 4), tree)
    played = {label for label, p in found["Ks:"].items() if p > 0}
    assert played == {"c", "r3", "r7"}


def test_errors() -> None:
    strategy = Strategy.uniform(PublicTree(clairvoyance((1.0,))))
    with pytest.raises(InputError, match="clairvoyance"):
        translate(strategy, PublicTree(half_street_kuhn((1.0,))))
    with pytest.raises(InputError, match="rand-pshr"):
        translate(strategy, PublicTree(clairvoyance(bet_grid(1))), "rand-pshr")
    with pytest.raises(InputError, match="rps"):
        translate(Strategy.uniform(compile_game(game_from_spec("rps"))), PublicTree(clairvoyance((1.0,))))
