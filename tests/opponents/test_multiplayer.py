"""Exploitation with three players and general sums: guarantees against all others, and models of several players."""

from __future__ import annotations

import numpy as np
import pytest

import riverboat as rb
from riverboat.core.errors import InputError
from riverboat.opponents.multiplayer import MaximinAdversary, count_public_actions, fit_opponent_model, public_line
from riverboat.opponents.safe_responses import guaranteed_earnings, unroll, value_of_game
from riverboat.solvers.exact.sequence_form import SequenceForm
from riverboat.solvers.tabular.best_response import best_response, quality
from riverboat.strategies.tabular import Strategy
from riverboat.trees.history import HistoryTree


@pytest.fixture(scope="module")
def three() -> HistoryTree:
    return rb.compile_game(rb.game("kuhn:players=3"))


@pytest.fixture(scope="module")
def equilibrium(three: HistoryTree) -> Strategy:
    return rb.solve("kuhn:players=3", until=1e-4).strategy


def random_profile(tree: HistoryTree, seed: int) -> Strategy:
    return Strategy.from_sums(tree, np.random.default_rng(seed).exponential(size=tree.table_size) ** 3)


# Team-maxmin with correlation (docs/algorithms/many-players.md has bounds from both sides): a communicating team is stronger.
@pytest.mark.parametrize(("player", "correlated"), [(0, -0.037879), (1, -0.026515), (2, 0.041667)])
def test_maximin_value(player: int, correlated: float, three: HistoryTree, equilibrium: Strategy) -> None:
    adversary = MaximinAdversary(three, player)
    assert adversary.value <= correlated + 1e-6
    response = adversary.respond(equilibrium, 0.0)
    assert response.guaranteed_value == pytest.approx(adversary.value, abs=1e-8)
    for seed in range(30):
        assert adversary.expected_value(response.plan, random_profile(three, seed)) >= adversary.value - 1e-8


def test_equilibrium_of_three_players_guarantees_less(three: HistoryTree, equilibrium: Strategy) -> None:
    values = quality(equilibrium).values
    differences = [MaximinAdversary(three, p).guaranteed_value(equilibrium) - values[p] for p in range(3)]
    assert min(differences) < -0.05
    assert max(differences) <= 1e-9
    below_maximin = [
        MaximinAdversary(three, p).guaranteed_value(equilibrium) < MaximinAdversary(three, p).value - 0.01
        for p in range(3)
    ]
    assert any(below_maximin)


def test_safe_responses_to_models_of_two_others(three: HistoryTree) -> None:
    """From the maximin plan to the best response, which the traversal for many players finds too."""
    others, adversary = random_profile(three, 5), MaximinAdversary(three, 1)
    best, _ = best_response(others, 1)
    gains = [adversary.respond(others, epsilon).gain for epsilon in (0.0, 0.05, 0.2, 100.0)]
    assert np.all(np.diff(gains) > 0)
    assert gains[-1] == pytest.approx(best, abs=1e-8)
    for epsilon in (0.05, 0.2):
        response = adversary.respond(others, epsilon)
        assert response.guaranteed_value >= adversary.value - epsilon - 1e-8
        assert adversary.expected_value(response.plan, others) == pytest.approx(response.gain)


def test_mean_guaranteed_earnings_are_bounded(three: HistoryTree) -> None:
    """The mean of guaranteed earnings along paths is at most the expected value: RWYWE stays safe."""
    adversary, others = MaximinAdversary(three, 0), random_profile(three, 7)
    plan = adversary.respond(others, 0.1).plan
    form, tree = adversary.form, adversary.tree
    other_plan = form.plan(adversary.convert_profile(others), 1)
    expected = adversary.expected_value(plan, others)
    last, terminals = tree.last_sequence, np.flatnonzero(tree.nodes.width == 0)
    reach = tree.chance_reach[terminals] * plan[last[terminals, 0]] * other_plan[last[terminals, 1]]
    assert reach.sum() == pytest.approx(1.0)
    plex, mean = form.treeplexes[1], 0.0
    parent = np.zeros(plex.sequences, int)
    for parent_sequence, first, width in zip(plex.parent, plex.first, plex.width, strict=True):
        parent[first : first + width] = parent_sequence
    for end, share in zip(terminals.tolist(), reach.tolist(), strict=True):
        if share > 1e-4:
            path, sequence = [], int(last[end, 1])
            while sequence:
                path.append(sequence)
                sequence = int(parent[sequence])
            earnings = guaranteed_earnings(form, 0, plan, path)
            assert earnings >= -form.best_response(1, plan)[0] - 1e-9
            mean += share * earnings
    assert mean <= expected + 1e-9


def test_general_sums() -> None:
    """Chicken: its equilibria promise more than the maximin value, which by hand is -1, by swerving."""
    game = rb.matrix([[[0, -1], [1, -10]], [[0, 1], [-1, -10]]])
    tree = rb.compile_game(game)
    for player in (0, 1):
        adversary = MaximinAdversary(tree, player)
        assert adversary.value == pytest.approx(-1.0)
        dare = Strategy.from_sums(tree, np.array([0.0, 1.0, 1.0, 0.0]))  # player 0 dares, player 1 swerves
        best, _ = best_response(dare, player)
        assert adversary.respond(dare, 100.0).gain == pytest.approx(best)
    assert MaximinAdversary(tree, 0).respond(dare, 0.0).gain == pytest.approx(0.0)
    assert MaximinAdversary(tree, 0).guaranteed_value(dare) == pytest.approx(-10.0)


def test_two_player_zero_sum() -> None:
    form = SequenceForm(rb.compile_game(rb.game("kuhn")))
    for player in (0, 1):
        assert MaximinAdversary(form.tree, player).value == pytest.approx(value_of_game(form, player), abs=1e-9)
    with pytest.raises(InputError, match="player 2"):
        MaximinAdversary(form.tree, 2)


# --- models -------------------------------------------------------------------------------------


@pytest.mark.parametrize("fit", ["l1", "l2", "em"])
def test_models_match_counts(fit: str, three: HistoryTree, equilibrium: Strategy) -> None:
    counts = {"c": np.array([300.0, 700.0]), "r": np.array([0.0, 1000.0])}
    model = fit_opponent_model(equilibrium, 1, counts, fit, prior=1e-9)
    rows = {}
    for infoset in three.infosets():
        row = model.probabilities[infoset.offset : infoset.offset + 2]
        if infoset.player == 1 and public_line(infoset.name) in counts:
            rows.setdefault(public_line(infoset.name), []).append(row)
        elif infoset.player != 1:
            np.testing.assert_array_equal(row, equilibrium.probabilities[infoset.offset : infoset.offset + 2])
    np.testing.assert_allclose(np.mean(rows["c"], axis=0), [0.3, 0.7], atol=1e-6)  # four cards with equal probability
    np.testing.assert_allclose(np.mean(rows["r"], axis=0), [0.0, 1.0], atol=1e-6)


def test_counts_in_a_public_tree() -> None:
    """Counts are the same for a strategy of a public tree and for its copy on the unrolled tree."""
    tree = rb.compile_game(rb.game("kuhn"))
    profile = Strategy.from_sums(tree, np.random.default_rng(1).exponential(size=tree.table_size) ** 3)
    found, expected = (
        count_public_actions(strategy, 1, 500, np.random.default_rng(2))
        for strategy in (profile, Strategy(*unroll(profile)))
    )
    assert list(found) == list(expected)
    np.testing.assert_array_equal(list(found.values()), list(expected.values()))


def test_dbbr_against_two_callers(three: HistoryTree, equilibrium: Strategy) -> None:
    """After 3,000 observed hands the response is nearly as good as with full knowledge; the equilibrium wins less."""
    table = np.zeros(three.table_size)
    for infoset in three.infosets():
        table[infoset.offset + infoset.actions.index("c")] = 1.0
    callers = Strategy.from_sums(three, table)
    player, rng, models = 0, np.random.default_rng(3), equilibrium
    profile = np.where(_owned(three, player), equilibrium.probabilities, callers.probabilities)
    for other in (1, 2):
        models = fit_opponent_model(models, other, count_public_actions(Strategy(three, profile), other, 3000, rng))
    _, response = best_response(models, player)
    gain = quality(
        Strategy(three, np.where(_owned(three, player), response.probabilities, callers.probabilities))
    ).values[player]
    base_gain = quality(Strategy(three, profile)).values[player]
    best, _ = best_response(callers, player)
    assert gain > base_gain + 0.05
    assert gain > 0.9 * best
    with pytest.raises(InputError, match="3 counts"):
        fit_opponent_model(equilibrium, 1, {"c": np.zeros(3)})
    with pytest.raises(InputError, match="'l3'"):
        fit_opponent_model(equilibrium, 1, {}, "l3")


def _owned(tree: HistoryTree, player: int) -> np.ndarray:
    return np.repeat(tree.owner == player, tree.action_counts)
