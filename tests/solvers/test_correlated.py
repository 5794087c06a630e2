"""Correlated equilibria: certificates against all pure deviations, linear programs, and known values."""

from __future__ import annotations

import importlib
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import riverboat as rb
from riverboat.api.general_sum import OFFERED, correlated
from riverboat.core.errors import InputError, RecallError
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.small.normal_form import NormalForm
from riverboat.solvers.exact.correlated import JointDistribution, correlated_equilibrium, normal_form_of
from riverboat.solvers.tabular.correlated import CorrelatedCFR, EmpiricalPlay
from riverboat.trees.compile import compile_game, to_history_tree
from riverboat.trees.history import HistoryTree

CHICKEN = [[[0, 7], [2, 6]], [[0, 2], [7, 6]]]
# Shapley (1964), "Some topics in two-person games": fictitious play cycles. The payoffs differ here by a little, so that
# uniform play, where every rule would begin and stay, is no equilibrium.
SHAPLEY = [[[1.1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1.2, 0], [0, 0, 1], [1, 0, 0]]]
BATTLE = [[[3, 0], [0, 2]], [[2, 0], [0, 3]]]
DILEMMA = [[[3, 0], [5, 1]], [[3, 5], [0, 1]]]


def random_game(seed: int, *shape: int) -> NormalForm:
    table = np.random.default_rng(seed).integers(-5, 6, (*shape, len(shape))).astype(float)
    return NormalForm(table, tuple(tuple(f"a{k}" for k in range(size)) for size in shape), "random")


# --- the certificate against all pure deviations ---


def deviation_value(
    tree: HistoryTree, table: np.ndarray, player: int, pure: dict[int, int], trigger: int | None
) -> float:
    """Return a player's value if it plays `pure` from an information set on (None: from the root), by recursion."""

    def below(node: int, deviating: bool) -> float:
        data, who = int(tree.nodes.data[node]), int(tree.nodes.actor[node])
        if who == TERMINAL:
            return float(tree.payoffs[data, player])
        infoset = int(tree.node_infoset[node])
        deviating = deviating or (who == player and infoset == trigger)
        children = list(tree.children(node))
        if who == player and deviating:
            return below(children[pure[infoset]], deviating)
        source = tree.chance if who == CHANCE else table
        row = source[data : data + len(children)]
        return sum(p * below(child, deviating) for p, child in zip(row, children, strict=True))

    return below(0, trigger is None)


def brute_force_gains(
    tree: HistoryTree, tables: list[np.ndarray], weights: np.ndarray, player: int
) -> tuple[float, float]:
    """Return the coarse and the trigger gain of a player over all pure deviations."""
    own = [i for i in range(tree.infoset_count) if tree.owner[i] == player]
    share = weights / weights.sum()

    def mean(pure: dict[int, int], trigger: int | None) -> float:
        return sum(
            w * deviation_value(tree, table, player, pure, trigger) for w, table in zip(share, tables, strict=True)
        )

    # No information set has this index, so that nobody deviates.
    follow = mean({}, -5)
    plans = [dict(zip(own, actions, strict=True)) for actions in product(*(range(tree.action_counts[i]) for i in own))]
    coarse = max(mean(pure, None) for pure in plans) - follow
    return coarse, max(mean(pure, trigger) for pure in plans for trigger in own) - follow


@pytest.mark.parametrize("seed", [1, 2])
def test_gains_equal_those_over_all_pure_deviations(seed: int) -> None:
    """Kuhn with three cards and random payoffs, whose sums differ; three random profiles with random weights."""
    random = np.random.default_rng(seed)
    tree = to_history_tree(compile_game(rb.game("kuhn")))
    tree.payoffs = random.normal(size=tree.payoffs.shape)
    tables = [
        rb.Strategy.from_sums(tree, random.exponential(size=tree.table_size) * (random.random(tree.table_size) < 0.8))
        for _ in range(2)
    ]
    weights = random.exponential(size=2)
    play = EmpiricalPlay(tree)
    for strategy, weight in zip(tables, weights, strict=True):
        play.add(strategy.probabilities, weight)
    gains = play.gains()
    assert play.outcome_probabilities.sum() == pytest.approx(1, abs=1e-12)
    for player in (0, 1):
        coarse, trigger = brute_force_gains(tree, [t.probabilities for t in tables], weights, player)
        assert gains.coarse[player] == pytest.approx(coarse, abs=1e-12)
        assert gains.trigger[player] == pytest.approx(trigger, abs=1e-12)


def test_decay_weights_later_profiles() -> None:
    tree = to_history_tree(compile_game(rb.game("kuhn")))
    random = np.random.default_rng(3)
    tables = [rb.Strategy.from_sums(tree, random.random(tree.table_size)).probabilities for _ in range(3)]
    decayed, weighted = EmpiricalPlay(tree), EmpiricalPlay(tree)
    for t, table in enumerate(tables, 1):
        decayed.add(table, 1.0, (t - 1) / t)
        weighted.add(table, float(t))
    assert decayed.gains().coarse == pytest.approx(weighted.gains().coarse, abs=1e-12)
    assert decayed.gains().trigger == pytest.approx(weighted.gains().trigger, abs=1e-12)


def test_gains_of_a_single_profile_are_those_of_best_responses() -> None:
    for name in ("leduc", "kuhn:players=3"):
        tree = to_history_tree(compile_game(rb.game(name)))
        strategy = rb.Strategy.from_sums(tree, np.random.default_rng(4).random(tree.table_size))
        play = EmpiricalPlay(tree)
        play.add(strategy.probabilities)
        quality = rb.quality(strategy)
        assert play.gains().coarse == pytest.approx(quality.gains, abs=1e-12)
        assert play.gains().values == pytest.approx(quality.values, abs=1e-12)


# --- linear programs ---


@pytest.mark.parametrize("shape", [(2, 2), (3, 4), (2, 3, 2)])
@pytest.mark.parametrize("coarse", [False, True])
def test_programs_find_the_best_equilibrium(shape: tuple[int, ...], coarse: bool) -> None:
    for seed in range(5):
        game = random_game(seed, *shape)
        found = correlated_equilibrium(game, coarse=coarse)
        gains = found.coarse_gains if coarse else found.swap_gains
        assert max(gains) <= 1e-7
        assert found.coarse_gains == pytest.approx([brute_coarse(found, p) for p in range(game.players)], abs=1e-9)
        assert found.swap_gains == pytest.approx([brute_swap(found, p) for p in range(game.players)], abs=1e-9)
        # Every pure equilibrium is a correlated one, and every correlated one is coarse.
        assert sum(found.values) >= best_pure_welfare(game) - 1e-7
        if coarse:
            assert sum(found.values) >= sum(correlated_equilibrium(game).values) - 1e-7


def brute_coarse(found: JointDistribution, player: int) -> float:
    """Return the gain by one action against all profiles, from the definition."""
    table = found.game.table

    def value(action: int | None) -> float:
        total = 0.0
        for profile in np.ndindex(found.probabilities.shape):
            played = list(profile)
            played[player] = profile[player] if action is None else action
            total += found.probabilities[profile] * table[(*played, player)]
        return total

    return max(value(action) for action in range(table.shape[player])) - value(None)


def brute_swap(found: JointDistribution, player: int) -> float:
    table, gain = found.game.table, 0.0
    for recommended in range(table.shape[player]):
        best = -np.inf
        for action in range(table.shape[player]):
            total = 0.0
            for profile in np.ndindex(found.probabilities.shape):
                if profile[player] == recommended:
                    played = (*profile[:player], action, *profile[player + 1 :])
                    total += found.probabilities[profile] * (table[(*played, player)] - table[(*profile, player)])
            best = max(best, total)
        gain += best
    return gain


def best_pure_welfare(game: NormalForm) -> float:
    best = -np.inf
    for profile in np.ndindex(game.table.shape[:-1]):
        stable = all(
            game.table[(*profile[:p], b, *profile[p + 1 :], p)] <= game.table[(*profile, p)]
            for p in range(game.players)
            for b in range(game.table.shape[p])
        )
        if stable:
            best = max(best, float(game.table[profile].sum()))
    return best


def test_known_correlated_equilibria() -> None:
    # Aumann (1987), "Correlated equilibrium as an expression of Bayesian rationality": chicken pays 5.25 at best.
    chicken = correlated_equilibrium(rb.matrix(CHICKEN))
    assert chicken.values == pytest.approx((5.25, 5.25), abs=1e-7)
    assert chicken.probabilities == pytest.approx(np.array([[0, 0.25], [0.25, 0.5]]), abs=1e-7)
    # Strictly dominated actions are in no correlated equilibrium.
    assert correlated_equilibrium(rb.matrix(DILEMMA)).probabilities[1, 1] == pytest.approx(1)
    # Each player has a favourite among the two pure equilibria of the battle of the sexes.
    assert correlated_equilibrium(rb.matrix(BATTLE), objective=(1, 0)).values == pytest.approx((3, 2))
    assert correlated_equilibrium(rb.matrix(BATTLE), objective=(0, 1)).values == pytest.approx((2, 3))


def test_programs_reject_wrong_input() -> None:
    with pytest.raises(InputError, match=r"objective=\(1,\): must be 2 finite numbers"):
        correlated_equilibrium(rb.matrix(CHICKEN), objective=(1,))
    with pytest.raises(InputError, match=r"random: 250,000 joint profiles"):
        correlated_equilibrium(random_game(1, 500, 500))


# --- empirical play ---


def test_normal_form_of_a_tree() -> None:
    for game in (random_game(1, 2, 3), random_game(2, 3, 2, 2)):
        found = normal_form_of(compile_game(game))
        assert found is not None
        np.testing.assert_array_equal(found.table, game.table)
        assert found.labels == game.labels
    assert normal_form_of(to_history_tree(compile_game(rb.game("kuhn")))) is None


@pytest.mark.parametrize("payoffs", [SHAPLEY, CHICKEN, BATTLE])
def test_empirical_play_is_within_the_polytope(payoffs: list[list[list[float]]]) -> None:
    """Its gains are those of the joint distribution, and its values are between the extremes of coarse equilibria."""
    game = rb.matrix(payoffs)
    result = correlated(game, iterations=2_000)
    assert result.joint is not None
    assert result.epsilon < 2e-3
    assert result.joint.values == pytest.approx(result.values, abs=1e-12)
    assert result.joint.coarse_gains == pytest.approx(result.gains, abs=1e-12)
    assert result.trigger_gains == pytest.approx(result.gains, abs=1e-12)  # there is one information set
    for player in (0, 1):
        weights = np.eye(2)[player]
        most = correlated_equilibrium(game, coarse=True, objective=weights).values[player]
        least = correlated_equilibrium(game, coarse=True, objective=-weights).values[player]
        assert least - 0.02 <= result.values[player] <= most + 0.02


def test_play_correlates_where_averages_do_not_converge() -> None:
    """On Shapley's game vanilla CFR cycles: the average profile keeps a large gain, the empirical play does not."""
    tree = compile_game(rb.matrix(SHAPLEY))
    assert isinstance(tree, HistoryTree)
    solver = CorrelatedCFR(tree, "vanilla")
    solver.step(4_000)
    assert solver.play.gains().epsilon < 0.02
    assert max(solver.solver.quality().gains) > 0.1


@pytest.mark.parametrize("schedule", ["vanilla", "cfr+:alternating=0", "pcfr+:alternating=0", "dcfr"])
def test_gains_vanish_with_three_players(schedule: str) -> None:
    solver = CorrelatedCFR(to_history_tree(compile_game(rb.game("kuhn:players=3"))), schedule)
    solver.step(20)
    first = solver.play.gains().epsilon
    solver.step(380)
    assert solver.play.gains().epsilon < 0.2 * first
    assert solver.iteration == 400


def test_targets_and_errors() -> None:
    reached = correlated("kuhn:players=3,cards=4", until=2e-3)
    assert reached.reached
    assert reached.epsilon <= 2e-3
    assert reached.iterations is not None
    missed = correlated("kuhn:players=3,cards=4", until=1e-12, iterations=5)
    assert (missed.reached, missed.iterations) == (False, 5)
    assert correlated("kuhn:players=3,cards=4", time=0).iterations == 1
    assert correlated("kuhn", iterations=100, until=0.5).joint is None
    with pytest.raises(InputError, match=r"unknown method 'cf'"):
        correlated("kuhn", method="cf")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"needs a normal-form game"):
        correlated("kuhn", method="lp")
    with pytest.raises(InputError, match=r"maximize='2': must be welfare or a player: 0, 1"):
        correlated(rb.matrix(CHICKEN), method="lp", maximize="2")
    with pytest.raises(InputError, match=r"until=0: must be above 0, in points"):
        correlated(rb.matrix(CHICKEN), until=0)
    with pytest.raises(InputError, match=r"no profile"):
        EmpiricalPlay(compile_game(rb.matrix(CHICKEN))).gains()


def test_imperfect_recall_is_rejected(tmp_path: object) -> None:
    text = (
        'EFG 2 R "forgets" { "one" "two" }\n""\n'
        'p "" 1 1 "" { "l" "r" } 0\np "" 1 2 "" { "a" "b" } 0\nt "" 1 "" { 1 0 }\nt "" 2 "" { 0 1 }\n'
        'p "" 1 2 "" { "a" "b" } 0\nt "" 3 "" { 2 0 }\nt "" 4 "" { 0 2 }\n'
    )
    path = tmp_path / "forgets.efg"  # type: ignore[operator]
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RecallError, match="imperfect recall"):
        correlated(str(path))


def test_the_documented_table_is_that_of_the_command() -> None:
    page = (Path(__file__).parents[2] / "docs" / "algorithms" / "many-players.md").read_text(encoding="utf-8")
    for method in OFFERED:
        command = f"`riverboat {method.command}`" if method.command else ""
        cells = method.name, command, f"`{method.function}`", method.games, method.guarantee, method.limit
        assert f"| {' | '.join(cells)} |" in page, method.name
        module, _, function = method.function.rpartition(".")
        found = rb if module == "rb" else importlib.import_module(f"riverboat.{module}")
        assert callable(getattr(found, function))
