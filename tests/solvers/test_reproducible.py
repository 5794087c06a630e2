"""Reproducible runs are bitwise equal for any steps, checkpoints and resumes.

Steps of a run end by the clock, so their lengths are random. Here they are drawn at random: a run of random steps that
is saved and restored into a new solver at random ends with the state of a run of one step.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import riverboat as rb
from riverboat.abstraction.cards.card_abstraction import CardAbstraction, lossless_abstraction
from riverboat.core import artifacts
from riverboat.core.arrays import Array
from riverboat.games.holdem.action_tree import ActionTree, compile_action_tree
from riverboat.games.holdem.rules import read_game
from riverboat.games.registry import game_from_spec
from riverboat.solvers import run_loop
from riverboat.solvers.mccfr.tables import Pruning, Weighting
from riverboat.solvers.mccfr.trainer import TRAVERSALS, BlueprintTrainer
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies import files
from riverboat.trees.compile import compile_game


class Trainer(Protocol):
    """Common interface of the solvers under test."""

    @property
    def iterations(self) -> int: ...

    def step(self, iterations: int) -> None: ...

    def state(self) -> dict[str, Array]: ...

    def restore(self, state: Mapping[str, Array]) -> None: ...


class OnTree:
    """CFR on a tree with the interface of blueprint trainers."""

    def __init__(self, traversal: str, threads: int = 1) -> None:
        self.solver = CFR(compile_game(game_from_spec("leduc")), "dcfr", traversal, seed=7, threads=threads, tick=96)

    @property
    def iterations(self) -> int:
        return self.solver.iteration

    def step(self, iterations: int) -> None:
        self.solver.step(iterations)

    def state(self) -> dict[str, Array]:
        arrays, facts = self.solver.state()
        return {**arrays, **{name: np.array(fact) for name, fact in facts.items()}}

    def restore(self, state: Mapping[str, Array]) -> None:
        self.solver.restore(state, {name: value.item() for name, value in state.items() if value.ndim == 0})


@cache
def leduc() -> tuple[ActionTree, CardAbstraction]:
    """The action tree of Leduc and a lossless card abstraction."""
    rules = read_game("leduc")
    return compile_action_tree(rules), lossless_abstraction(rules.board[1:], rules.deck)


WEIGHTS = "dcfr:alpha=1.5,beta=0,gamma=2"  # with fractional sums


def late(solver: BlueprintTrainer) -> BlueprintTrainer:
    """Give a solver the payoffs of a long run: sums so large that increments are rounded."""
    solver.payoff = np.full(2, 2.0**40)
    return solver


def deterministic(threads: int = 1, **options: Any) -> Trainer:
    """The deterministic mode, on any number of threads."""
    return late(BlueprintTrainer(*leduc(), seed=5, mode="deterministic", threads=threads, **options))


def alone(traversal: str, threads: int = 1) -> Trainer:
    """Other samplers on one thread, with discounts."""
    return late(BlueprintTrainer(*leduc(), traversal, seed=5, weighting=Weighting(WEIGHTS, 320)))


WEIGHTED = Weighting(WEIGHTS, period=1_600)  # not a multiple of the batch
DETERMINISTIC: dict[str, Callable[..., Trainer]] = {
    "plain": deterministic,
    "weighted": partial(deterministic, weighting=WEIGHTED),
    "small batch": partial(deterministic, batch=40, weighting=WEIGHTED),
    "one group": partial(deterministic, batch=1),
    "16-bit": partial(deterministic, dtype="16-bit", weighting=WEIGHTED),
    "pruned": partial(deterministic, prune=Pruning(-20.0, after=1_000)),
}
ALONE: dict[str, Callable[..., Trainer]] = {
    **{name: partial(alone, name) for name in TRAVERSALS if name != "cfr-br"},
    **{f"tree, {name}": partial(OnTree, name) for name in ("full", "chance", "external", "outcome")},
}

moments = st.lists(st.tuples(st.integers(1, 1_500), st.booleans(), st.integers(1, 3)), min_size=1, max_size=6)
few = settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def check_equal_runs(make_trainer: Callable[..., Trainer], steps: list[tuple[int, bool, int]], most: int) -> None:
    """Compare a run of random steps and restores with a run of one step."""
    parts = make_trainer()
    for count, restored, threads in steps:
        parts.step(min(count, most))
        if restored:
            state = {name: np.array(values) for name, values in parts.state().items()}
            parts = make_trainer(threads=threads)
            parts.restore(state)
    full = make_trainer()
    full.step(parts.iterations)
    assert full.iterations == parts.iterations
    own, other = full.state(), parts.state()
    assert list(own) == list(other)
    for name, values in own.items():
        assert np.asarray(values).tobytes() == np.asarray(other[name]).tobytes(), name


@pytest.mark.parametrize("name", DETERMINISTIC)
@given(steps=moments)
@few
def test_deterministic_mode_depends_only_on_seed_and_end(name: str, steps: list[tuple[int, bool, int]]) -> None:
    check_equal_runs(DETERMINISTIC[name], steps, 5_000)


@pytest.mark.parametrize("name", ALONE)
@given(steps=moments)
@few
def test_one_thread_depends_only_on_seed_and_end(name: str, steps: list[tuple[int, bool, int]]) -> None:
    one_thread = [(count, restored, 1) for count, restored, _ in steps]
    check_equal_runs(ALONE[name], one_thread, 200)


# --- with random step lengths ---------------------------------------------------------------------------------


@pytest.mark.parametrize("period", [None, 5_000])
def test_deterministic_training_does_not_depend_on_the_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, period: int | None
) -> None:
    """Trainings with random clocks, stopped and resumed at random on other numbers of threads: equal tables."""
    recipe = tmp_path / "kuhn.toml"
    recipe.write_text("game = 'kuhn'\n[training]\n" + (f"weighting = 'linear'\nperiod = {period}\n" if period else ""))
    full = rb.train(recipe, out=tmp_path / "whole", iterations=60_000, threads=1, mode="deterministic")
    result = {full.iterations: [tables_of(full.out)]}
    draws = random.Random(1)
    for k in range(3):
        wild = SimpleNamespace(perf_counter=lambda now=[0.0]: now.append(now[-1] + draws.random() ** 6) or now[-1])
        monkeypatch.setattr(run_loop, "clock", wild)
        out, ended = tmp_path / str(k), "stopped"
        while ended == "stopped":
            stop = lambda: draws.random() < 0.2  # noqa: E731
            done = rb.train(
                recipe, out=out, iterations=60_000, threads=draws.randint(1, 3), mode="deterministic", resume=True,
                checkpoint_seconds=draws.random(), stop=stop,
            )  # fmt: skip
            ended = done.ended
        result.setdefault(done.iterations, []).append(tables_of(out))
    assert [len(tables) for tables in result.values()] == [4]  # all end at the same iteration
    assert len(set(result[full.iterations])) == 1


def tables_of(run: Path) -> tuple[bytes, ...]:
    """Read the tables and sums of a run's last checkpoint."""
    _, arrays = artifacts.read(files.checkpoints(run)[-1])
    return tuple(arrays[name].tobytes() for name in ("cells", "numbers", "sums", "average_0"))
