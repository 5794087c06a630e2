"""Values of public states: subgames of a tree, with ranges."""

import numpy as np
import pytest

from riverboat.core.errors import InputError
from riverboat.games.registry import game_from_spec
from riverboat.games.tree_layout import layout_from_states
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.tabular.best_response import hand_values, quality
from riverboat.strategies.tabular import Strategy
from riverboat.subgames.resolving import ranges_at, state_values
from riverboat.trees.compile import compile_game
from riverboat.trees.gadgets import PublicSubgame, subgame_tree


def test_value_of_the_root_is_that_of_the_game():
    tree = compile_game(game_from_spec("leduc"))
    result = state_values(tree, "")
    assert result.value == pytest.approx(-0.085606424078, abs=1e-9)
    assert result.value_low <= result.value_high + 1e-12


def test_a_subtree_is_a_slice_of_the_arrays():
    tree = compile_game(game_from_spec("leduc"))
    sub = subgame_tree(tree, "crc/Qs/")
    assert isinstance(sub.game, PublicSubgame)
    walked = layout_from_states(sub.game)  # from the states themselves
    np.testing.assert_array_equal(walked.actor, sub.layout.actor)
    np.testing.assert_array_equal(walked.end, sub.layout.end)
    assert sub.labels(0) == ("c", "r")
    assert sub.deal.weights[0][sub.hands[0].index("Qs")] == 0


def test_coin_toss_after_right_depends_on_the_range():
    tree = compile_game(game_from_spec("coin_toss"))
    # Player 1 guesses heads whenever heads is likelier: player 0 gets -1 on heads, +1 on tails.
    result = state_values(tree, "right", ({"heads": 3, "tails": 2}, {"guesser": 1}))
    assert result.value == pytest.approx(-1 / 5, abs=1e-9)
    assert result.by_hand[0] == pytest.approx({"heads": -1.0, "tails": 1.0}, abs=1e-9)
    assert state_values(tree, "right", ([1, 1], [1])).value == pytest.approx(0.0, abs=1e-9)


def test_equilibrium_values_equal_subgame_values():
    """With the equilibrium's own ranges, a subgame has the value that the equilibrium attains there."""
    tree = compile_game(game_from_spec("kuhn"))
    full = solve_lp(tree).strategy
    ranges = ranges_at(full, "c")
    sub = subgame_tree(tree, "c", ranges)
    stored = Strategy.from_mapping(sub, {})
    table = stored.probabilities.copy()
    for infoset in sub.infosets():  # the whole game's strategy, restricted
        hand, _, line = infoset.name.partition(":")
        row = list(full[f"{hand}:c{line}"].values())
        for k, p in enumerate(row):
            table[infoset.offset + k * infoset.stride] = p
    restricted = Strategy(sub, table)
    result = state_values(tree, "c", ranges)
    assert quality(restricted).exploitability == pytest.approx(0, abs=1e-9)
    assert quality(restricted).values[0] == pytest.approx(result.value, abs=1e-9)
    weights = sub.deal.joint().sum(axis=1)
    assert float(weights @ hand_values(restricted, 0)) == pytest.approx(result.value, abs=1e-9)


@pytest.mark.parametrize(
    ("line", "ranges", "message"),
    [
        ("left", None, "left"),
        ("right", ({"edge": 1.0}, {"guesser": 1.0}), "'edge'"),
        ("right", ([1.0], [1.0]), "2 hands"),
        ("right", ([-1.0, 2.0], [1.0]), "-1"),
        ("right", ([0.0, 0.0], [1.0]), "player 0's range"),
        ("up", None, "'up'"),
    ],
)
def test_bad_input(line, ranges, message):
    with pytest.raises(InputError, match=message):
        state_values(compile_game(game_from_spec("coin_toss")), line, ranges)
