"""Blades on several levels: equal expected updates on every level, and disjoint tables on machines."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.core.errors import InputError
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.rules import PokerRules, read_game
from riverboat.papers.tartanian7 import LevelTrainer, compare_levels, three_round_leduc


def mean_updates(levels: int, deals: int, weighted: bool = True) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Mean update of regrets and averages per deal in one batch of uniform play, by street."""
    solver = LevelTrainer(three_round_leduc(), levels, seed=3, batch=deals, weighted=weighted)
    solver.step(deals)
    streets, machines = range(solver.tree.rules.rounds), list(solver.head.subtree())
    regrets = [sum(m.regrets[s] for m in machines if s in m.streets) / deals for s in streets]
    return regrets, [sum(m.averages[s] for m in machines if s in m.streets) / deals for s in streets]


def test_each_machine_owns_a_street_of_a_bucket() -> None:
    solver = LevelTrainer(three_round_leduc(), levels=3, seed=1, batch=4)
    solver.step(8)
    assert solver.machines == 1 + 3 + 9
    assert solver.messages <= 8 * 12
    assert all(len(machine.streets) == 1 for machine in solver.head.subtree())
    for street in range(3):  # one machine alone updates a bucket
        updated = [m.averages[street].any(axis=1) for m in solver.head.subtree() if street in m.streets]
        assert np.sum(updated, axis=0).max() == 1
    again = LevelTrainer(three_round_leduc(), levels=3, seed=1, batch=4)
    again.step(8)
    for one, other in zip(solver.head.subtree(), again.head.subtree(), strict=True):
        assert all((one.regrets[s] == other.regrets[s]).all() for s in one.streets)


@pytest.mark.slow
def test_levels_have_equal_expected_updates() -> None:
    """Compared with one machine; without weights the later streets solve another game."""
    deals = 1_200
    (plain, often), (deep, seen), (_, paper) = (
        mean_updates(1, deals),
        mean_updates(3, deals),
        mean_updates(3, deals, weighted=False),
    )
    for street in range(3):
        assert np.corrcoef(plain[street].ravel(), deep[street].ravel())[0, 1] > 0.65
        assert seen[street].sum() == pytest.approx(often[street].sum(), rel=0.1)
        by_bucket = seen[street].sum(axis=1) - often[street].sum(axis=1)
        assert np.abs(by_bucket).max() < 0.35 * often[street].sum(axis=1).max()
    assert paper[2].sum() > 5 * often[2].sum()


@pytest.mark.slow
def test_three_levels_converge() -> None:
    report = compare_levels((200, 1_200), seed=0)
    for levels in ("1 level", "2 levels", "3 levels"):
        assert report.row(f"{levels}: 1,200 deals").ours < 0.7 * report.row(f"{levels}: 200 deals").ours


def test_baselines_reduce_variance_and_not_the_mean() -> None:
    """With uniform play, updates have the same mean and less variance."""
    tree, batches = compile_action_tree(read_game("leduc")), 12

    def samples(rate: float | None) -> np.ndarray:
        solver, before, out = LevelTrainer(tree, 1, seed=5, batch=10**9, baseline=rate), 0.0, []
        for _ in range(batches):
            solver._deal()
        for _ in range(batches):  # a batch never ends: only baselines are updated
            before = solver.head.regret_increments[0].copy()
            for _ in range(8):
                solver._deal()
            out.append((solver.head.regret_increments[0] - before).ravel())
        return np.array(out)

    plain, calm = samples(None), samples(0.2)
    noise = np.sqrt(plain.var(axis=0).mean() / batches)
    assert np.abs(calm.mean(axis=0) - plain.mean(axis=0)).max() < 6 * noise
    assert calm.var(axis=0).sum() < plain.var(axis=0).sum()
    with pytest.raises(InputError, match="baseline=2"):
        LevelTrainer(tree, baseline=2.0)


def test_invalid_input() -> None:
    tree = three_round_leduc()
    for levels in (0, 4):
        with pytest.raises(InputError, match=f"levels={levels}: .*1 to 3"):
            LevelTrainer(tree, levels)
    with pytest.raises(InputError, match="batch=0"):
        LevelTrainer(tree, batch=0)
    flop = compile_action_tree(
        PokerRules(limit=True, raise_sizes=(2, 4), most_raises=(1, 1), blinds=(2, 1), board=(0, 3))
    )
    with pytest.raises(InputError, match="public card"):
        LevelTrainer(flop)
    large = compile_action_tree(
        PokerRules(limit=True, raise_sizes=(2, 4), most_raises=(1, 1), blinds=(2, 1), board=(0, 1), hole=1)
    )
    with pytest.raises(InputError, match="20 cards"):
        LevelTrainer(large)
