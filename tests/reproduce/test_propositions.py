"""One construction for each proposition, checked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.core.errors import InputError
from riverboat.papers.endgames import propositions
from riverboat.papers.endgames.propositions import Endgame, apart
from riverboat.solvers.exact.matrix_games import equilibria


@pytest.mark.parametrize("gain", [0.25, 3.0, 1e6, -0.25, -3.0, -1e6])
def test_proposition_3(gain: float) -> None:
    """Purification gains whatever the game was made for, and the parts are what the docstring says."""
    game = propositions.swing(gain)
    small, full = equilibria(game[None, :, :2]), equilibria(game[None])
    assert small.rows[0] == pytest.approx([2 / 5, 3 / 5])
    assert full.columns[0] == pytest.approx([0, 0, 1])
    by_hand = game[1, 2] - (0.4 * game[0, 2] + 0.6 * game[1, 2])
    assert by_hand == pytest.approx(gain)
    assert propositions.gain_of_purification(game) == pytest.approx(gain)


def test_proposition_5() -> None:
    """Against 1/3 each any answer is one; rock all the time loses 1 to paper. An uneven opponent leaves one answer."""
    game = apart(np.array(propositions.ROCK_PAPER_SCISSORS), np.full(3, 1 / 3))
    for answer in (np.eye(3)[0], np.eye(3)[1], np.array([0.5, 0.5, 0.0])):
        inside, whole = game.loses(answer)
        assert inside == pytest.approx(0, abs=1e-9)
        assert whole == pytest.approx((game.payoffs @ answer).max())
    assert game.loses(np.full(3, 1 / 3)) == pytest.approx((0, 0), abs=1e-9)
    uneven = apart(game.payoffs, np.array([0.5, 0.25, 0.25]))  # rock too often: paper takes 1/4, rock and scissors less
    assert uneven.loses(np.eye(3)[1])[0] == pytest.approx(0, abs=1e-9)
    assert uneven.loses(np.eye(3)[0])[0] == pytest.approx(0.25)


def test_proposition_6() -> None:
    """The least ε by linear programs is what a fine grid of strategies finds; answers of the solver obey it."""
    game = Endgame(np.array(propositions.TWO_WAYS), ((0, 1), (2, 3)), (0.5, 0.5))
    steps = np.linspace(0, 1, 61)
    grid = [np.array([a, b, 1 - a - b]) for a in steps for b in steps if a + b <= 1 + 1e-12]
    earned = np.array(grid) @ game.payoffs.T
    inside = earned[:, :2].max(axis=1) / 2 + earned[:, 2:].max(axis=1) / 2
    whole = earned.max(axis=1) - equilibria(game.payoffs[None]).value[0]
    for delta in (0.05, 0.2):
        epsilon = game.epsilon(delta)
        near = whole[inside - game._least() <= delta]
        assert near.max() <= epsilon + 1e-9
        assert near.max() > epsilon - 0.1  # the grid is coarse
        assert epsilon > delta  # the ways are not told apart
    assert game.epsilon(0.2) > game.epsilon(0.05)
    one = Endgame(game.payoffs[:2], ((0, 1),), (1.0,))
    assert one.epsilon(0.07) == pytest.approx(0.07)


def test_ways_that_do_not_fit() -> None:
    with pytest.raises(InputError, match="share out the 3 rows"):
        Endgame(np.eye(3), ((0, 1),), (1.0,))
    with pytest.raises(InputError, match="1 weights for 2 ways"):
        Endgame(np.eye(2), ((0,), (1,)), (1.0,))


def test_the_experiment() -> None:
    found = propositions.run(False, 3)
    assert found.fine
    assert found.row("6, rock-paper-scissors, δ = 0: least ε").ours == pytest.approx(1)
