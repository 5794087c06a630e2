"""One construction for each proposition, checked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.core.errors import InputError
from riverboat.papers import proposal
from riverboat.papers.proposal import SimultaneousEndgame, endgame_with_one_row_entries
from riverboat.solvers.exact.matrix_games import solve_matrix_games


@pytest.mark.parametrize("gain", [0.25, 3.0, 1e6, -0.25, -3.0, -1e6])
def test_proposition_3(gain: float) -> None:
    """Purification gains exactly what the game was built for, and the equilibria are those of the docstring."""
    game = proposal.purification_game(gain)
    small, full = solve_matrix_games(game[None, :, :2]), solve_matrix_games(game[None])
    assert small.rows[0] == pytest.approx([2 / 5, 3 / 5])
    assert full.columns[0] == pytest.approx([0, 0, 1])
    by_hand = game[1, 2] - (0.4 * game[0, 2] + 0.6 * game[1, 2])
    assert by_hand == pytest.approx(gain)
    assert proposal.purification_gain(game) == pytest.approx(gain)


def test_proposition_5() -> None:
    """Against 1/3 each every response is optimal.

    Always rock loses 1 to paper. An uneven opponent leaves one response.
    """
    game = endgame_with_one_row_entries(np.array(proposal.ROCK_PAPER_SCISSORS), np.full(3, 1 / 3))
    for response in (np.eye(3)[0], np.eye(3)[1], np.array([0.5, 0.5, 0.0])):
        in_endgame, in_game = game.exploitabilities(response)
        assert in_endgame == pytest.approx(0, abs=1e-9)
        assert in_game == pytest.approx((game.payoffs @ response).max())
    assert game.exploitabilities(np.full(3, 1 / 3)) == pytest.approx((0, 0), abs=1e-9)
    uneven = endgame_with_one_row_entries(
        game.payoffs, np.array([0.5, 0.25, 0.25])
    )  # rock too often: paper wins 1/4, rock and scissors less
    assert uneven.exploitabilities(np.eye(3)[1])[0] == pytest.approx(0, abs=1e-9)
    assert uneven.exploitabilities(np.eye(3)[0])[0] == pytest.approx(0.25)


def test_proposition_6() -> None:
    """The smallest ε by linear programs agrees with a fine grid of strategies."""
    game = SimultaneousEndgame(np.array(proposal.TWO_ENTRY_PAYOFFS), ((0, 1), (2, 3)), (0.5, 0.5))
    steps = np.linspace(0, 1, 61)
    grid = [np.array([a, b, 1 - a - b]) for a in steps for b in steps if a + b <= 1 + 1e-12]
    earned = np.array(grid) @ game.payoffs.T
    in_endgame = earned[:, :2].max(axis=1) / 2 + earned[:, 2:].max(axis=1) / 2
    in_game = earned.max(axis=1) - solve_matrix_games(game.payoffs[None]).value[0]
    for delta in (0.05, 0.2):
        epsilon = game.max_exploitability(delta)
        near = in_game[in_endgame - game._endgame_value() <= delta]
        assert near.max() <= epsilon + 1e-9
        assert near.max() > epsilon - 0.1  # the grid is coarse
        assert epsilon > delta  # player 2 cannot distinguish the entries
    assert game.max_exploitability(0.2) > game.max_exploitability(0.05)
    single_entry = SimultaneousEndgame(game.payoffs[:2], ((0, 1),), (1.0,))
    assert single_entry.max_exploitability(0.07) == pytest.approx(0.07)


def test_invalid_entries() -> None:
    with pytest.raises(InputError, match=r"entry_rows \(\(0, 1\),\).*\b3 rows"):
        SimultaneousEndgame(np.eye(3), ((0, 1),), (1.0,))
    with pytest.raises(InputError, match=r"\b1 entry_weights for 2\b"):
        SimultaneousEndgame(np.eye(2), ((0,), (1,)), (1.0,))


def test_experiment() -> None:
    found = proposal.run_propositions(False, 3)
    assert found.passes
    assert found.row("6, rock-paper-scissors, δ = 0: least ε").ours == pytest.approx(1)
