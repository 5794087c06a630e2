"""Blades on several levels: every level learns the same of a deal on average, and machines keep to what is theirs."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.core.errors import InputError
from riverboat.games.holdem.action_tree import compile_actions
from riverboat.games.holdem.rules import Rules, read_game
from riverboat.papers.tartanian7.blade_levels import BladeLevels
from riverboat.papers.tartanian7.levels import compare, three_rounds


def learnt(levels: int, deals: int, weighted: bool = True) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """What one batch of deals adds to regrets and to averages while all play alike, by street, a deal."""
    solver = BladeLevels(three_rounds(), levels, seed=3, batch=deals, weighted=weighted)
    solver.step(deals)
    streets, machines = range(solver.tree.rules.rounds), list(solver.head.all())
    regrets = [sum(m.regrets[s] for m in machines if s in m.streets) / deals for s in streets]
    return regrets, [sum(m.averages[s] for m in machines if s in m.streets) / deals for s in streets]


def test_machines_have_a_street_of_a_bucket_each() -> None:
    solver = BladeLevels(three_rounds(), levels=3, seed=1, batch=4)
    solver.step(8)
    assert solver.machines == 1 + 3 + 9
    assert solver.messages <= 8 * 12
    assert all(len(machine.streets) == 1 for machine in solver.head.all())
    for street in range(3):  # a bucket is learnt by one machine alone
        learnt = [m.averages[street].any(axis=1) for m in solver.head.all() if street in m.streets]
        assert np.sum(learnt, axis=0).max() == 1
    again = BladeLevels(three_rounds(), levels=3, seed=1, batch=4)
    again.step(8)
    for one, other in zip(solver.head.all(), again.head.all(), strict=True):
        assert all((one.regrets[s] == other.regrets[s]).all() for s in one.streets)


@pytest.mark.slow
def test_all_levels_learn_the_same_of_a_deal_on_average() -> None:
    """Against one machine; without the weights the streets below learn of another game."""
    deals = 1_200
    (plain, often), (deep, seen), (_, paper) = learnt(1, deals), learnt(3, deals), learnt(3, deals, weighted=False)
    for street in range(3):
        assert np.corrcoef(plain[street].ravel(), deep[street].ravel())[0, 1] > 0.65
        assert seen[street].sum() == pytest.approx(often[street].sum(), rel=0.1)
        by_bucket = seen[street].sum(axis=1) - often[street].sum(axis=1)
        assert np.abs(by_bucket).max() < 0.35 * often[street].sum(axis=1).max()
    assert paper[2].sum() > 5 * often[2].sum()


@pytest.mark.slow
def test_three_levels_come_to_an_equilibrium() -> None:
    report = compare((200, 1_200), seed=0)
    for levels in ("1 level", "2 levels", "3 levels"):
        assert report.row(f"{levels}: 1,200 deals").ours < 0.7 * report.row(f"{levels}: 200 deals").ours


def test_baselines_change_luck_and_not_the_mean() -> None:
    """While all play alike: what a deal teaches has the same mean, and less noise."""
    tree, batches = compile_actions(read_game("leduc")), 12

    def samples(rate: float | None) -> np.ndarray:
        solver, before, out = BladeLevels(tree, 1, seed=5, batch=10**9, baseline=rate), 0.0, []
        for _ in range(batches):
            solver._deal()
        for _ in range(batches):  # a batch never ends: nobody learns, baselines do
            before = solver.head.gained[0].copy()
            for _ in range(8):
                solver._deal()
            out.append((solver.head.gained[0] - before).ravel())
        return np.array(out)

    plain, calm = samples(None), samples(0.2)
    noise = np.sqrt(plain.var(axis=0).mean() / batches)
    assert np.abs(calm.mean(axis=0) - plain.mean(axis=0)).max() < 6 * noise
    assert calm.var(axis=0).sum() < plain.var(axis=0).sum()
    with pytest.raises(InputError, match="baseline=2: a rate"):
        BladeLevels(tree, baseline=2.0)


def test_what_is_refused() -> None:
    tree = three_rounds()
    for levels in (0, 4):
        with pytest.raises(InputError, match=f"levels={levels}: leduc of three rounds has 3 rounds"):
            BladeLevels(tree, levels)
    with pytest.raises(InputError, match="batch=0"):
        BladeLevels(tree, batch=0)
    flop = compile_actions(Rules(limit=True, raise_sizes=(2, 4), most_raises=(1, 1), blinds=(2, 1), board=(0, 3)))
    with pytest.raises(InputError, match="one public card a round"):
        BladeLevels(flop)
    large = compile_actions(
        Rules(limit=True, raise_sizes=(2, 4), most_raises=(1, 1), blinds=(2, 1), board=(0, 1), hole=1)
    )
    with pytest.raises(InputError, match="up to 20 cards"):
        BladeLevels(large)
