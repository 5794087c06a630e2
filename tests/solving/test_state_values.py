"""Values of public states: endgames cut out of a tree, with ranges."""

import numpy as np
import pytest

from riverboat.core.errors import InputError
from riverboat.games.layout import from_states
from riverboat.games.registry import make
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.tabular.best_response import hand_values, quality
from riverboat.solvers.tabular.state_values import ranges_at, state_values
from riverboat.strategies.tabular import Strategy
from riverboat.trees.compile import compile_game
from riverboat.trees.transform import Subgame, start_at


def test_the_root_is_worth_the_game():
    tree = compile_game(make("leduc"))
    found = state_values(tree, "")
    assert found.value == pytest.approx(-0.085606424078, abs=1e-9)
    assert found.value_low <= found.value_high + 1e-12


def test_a_subtree_is_a_slice_of_the_arrays():
    tree = compile_game(make("leduc"))
    sub = start_at(tree, "crc/Qs/")
    assert isinstance(sub.game, Subgame)
    walked = from_states(sub.game)  # from the states themselves
    np.testing.assert_array_equal(walked.actor, sub.layout.actor)
    np.testing.assert_array_equal(walked.end, sub.layout.end)
    assert sub.labels(0) == ("c", "r")
    assert sub.deal.weights[0][sub.hands[0].index("Qs")] == 0


def test_coin_toss_after_right_depends_on_the_range():
    tree = compile_game(make("coin_toss"))
    # Player 1 guesses heads whenever heads is likelier: player 0 gets -1 on heads, +1 on tails.
    found = state_values(tree, "right", ({"heads": 3, "tails": 2}, {"guesser": 1}))
    assert found.value == pytest.approx(-1 / 5, abs=1e-9)
    assert found.by_hand[0] == pytest.approx({"heads": -1.0, "tails": 1.0}, abs=1e-9)
    assert state_values(tree, "right", ([1, 1], [1])).value == pytest.approx(0.0, abs=1e-9)


def test_an_equilibrium_is_worth_as_much_in_each_endgame_as_the_endgame_itself():
    """With the equilibrium's own ranges an endgame is worth what the equilibrium earns there."""
    tree = compile_game(make("kuhn"))
    whole = solve_lp(tree).strategy
    ranges = ranges_at(whole, "c")
    sub = start_at(tree, "c", ranges)
    kept = Strategy.from_mapping(sub, {})
    table = kept.probabilities.copy()
    for infoset in sub.infosets():  # the whole game's strategy, restricted
        hand, _, line = infoset.name.partition(":")
        row = list(whole[f"{hand}:c{line}"].values())
        for k, p in enumerate(row):
            table[infoset.offset + k * infoset.stride] = p
    restricted = Strategy(sub, table)
    found = state_values(tree, "c", ranges)
    assert quality(restricted).exploitability == pytest.approx(0, abs=1e-9)
    assert quality(restricted).values[0] == pytest.approx(found.value, abs=1e-9)
    weights = sub.deal.joint().sum(axis=1)
    assert float(weights @ hand_values(restricted, 0)) == pytest.approx(found.value, abs=1e-9)


@pytest.mark.parametrize(
    ("line", "ranges", "message"),
    [
        ("left", None, "the game is over"),
        ("right", ({"edge": 1.0}, {"guesser": 1.0}), "no hand 'edge'"),
        ("right", ([1.0], [1.0]), "2 hands"),
        ("right", ([-1.0, 2.0], [1.0]), "must be 0 or more"),
        ("right", ([0.0, 0.0], [1.0]), "no hand of player 0's range"),
        ("up", None, "no move 'up'"),
    ],
)
def test_bad_input(line, ranges, message):
    with pytest.raises(InputError, match=message):
        state_values(compile_game(make("coin_toss")), line, ranges)
