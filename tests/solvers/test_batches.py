"""Many spots at once: each solution equals the one that the spot gets alone."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from riverboat.cards.deck import NUM_HANDS
from riverboat.cards.ranges import Range
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.engines.cpu.board_engine import CpuBatchEngine, trees_of_one_shape
from riverboat.engines.tables import TABLE_FORMATS
from riverboat.games.boards.root_gadgets import MaxmarginGadget, ResolvingGadget
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.batches import solve_many
from riverboat.solvers.boards.cfr import (
    BOARD_SCHEDULE,
    LAST_STREET_SCHEDULE,
    SEVERAL_STREETS_SCHEDULE,
    BoardCFR,
    batch_qualities,
)  # fmt: skip
from riverboat.trees.boards import BoardTree


@cache
def spots() -> tuple[Spot, ...]:
    """Rivers with many or few hands, with and without symmetries, locks and gadgets; two turns; two betting structures."""
    rng = np.random.default_rng(5)
    result = []
    for board, hands in (("Td9d6hQc2s", 1.0), ("AsKsTs4s2s", 1.0), ("7c7d7h2s3d", 0.3), ("QhJh9c4d2c", 0.02)):
        ranges = [Range(np.where(rng.random(NUM_HANDS) < hands, rng.uniform(0.1, 1, NUM_HANDS), 0.0)) for _ in range(2)]
        result.append(
            Spot.make(board=board, pot=20, stack=60, bets="50%,a", raises="a", oop=ranges[0], ip=ranges[1], name=board)
        )
    result.append(Spot.make(board="AsKsTs4s2s", pot=20, stack=60, bets="50%,a", raises="a", oop="QQ+,AKs", ip="random"))
    result.append(result[0].lock("x", {"x": 0.5, "a": 0.5}, "AA,KK"))
    result.append(replace(result[2], gadget=ResolvingGadget(0, rng.uniform(5, 15, NUM_HANDS))))
    result.append(replace(result[3], gadget=MaxmarginGadget(1, rng.uniform(5, 15, NUM_HANDS))))
    for board in ("Ts9s6s2s", "AdKd7h2c"):
        result.append(Spot.make(board=board, pot=20, stack=40, bets="75%", oop="AA,KJs:0.7,T9o", ip="QQ,AKs:0.8,87o"))
    return tuple(result)


@pytest.mark.parametrize(
    ("dtype", "schedule"),
    [("compact", SEVERAL_STREETS_SCHEDULE), ("16-bit", BOARD_SCHEDULE), ("float64", "pcfr+:alternating=0")],
)
def test_batch_equals_single_solves(dtype: str, schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bitwise, on any number of threads, in any batch and order."""
    monkeypatch.setattr("riverboat.core.resources.available_cores", lambda: 4)
    subset = [spot for spot in spots() if dtype != "16-bit" or not spot.locks]
    alone = []
    for spot in subset:
        solver = BoardCFR(BoardTree(spot), schedule, dtype=dtype)
        solver.step(12)
        alone.append(solver)
    for threads, order in ((1, 1), (2, -1), (3, 1)):
        result = solve_many(subset[::order], iterations=12, schedule=schedule, dtype=dtype, threads=threads)[::order]
        assert [solution.tree.game for solution in result] == subset
        for solution, solver in zip(result, alone, strict=True):
            size = solver.tree.table_size
            assert solution.tree.fingerprint == solver.tree.fingerprint
            np.testing.assert_array_equal(solution.table[:size], solver.averages[:size])
            assert solution.provenance["exploitability"] == solver.exploitability()
            assert (solution.root is None) == (solver.tree.game.gadget is None)  # type: ignore[attr-defined]
            if solution.root is not None:
                np.testing.assert_array_equal(solution.root, solver.engine.read("root_average"))
            lines = ["", "x"]
            for line in lines:
                np.testing.assert_array_equal(solution[line].ev(0), solver.average()[line].ev(0))


def test_solving_until_a_target() -> None:
    result = solve_many(spots()[:4], iterations=400, until=0.2, check_every=10)
    counts = [solution.provenance["iterations"] for solution in result]
    assert all(solution.provenance["exploitability"] <= 0.2 for solution in result)
    assert len(set(counts)) > 1
    assert max(counts) < 400
    for solution, count in zip(result, counts, strict=True):
        solver = BoardCFR(solution.tree, LAST_STREET_SCHEDULE)
        solver.step(count - 10)
        assert solver.exploitability() > 0.2  # no check later than needed
        solver.step(10)
        np.testing.assert_array_equal(solution.table, solver.averages)


def test_bad_input() -> None:
    assert solve_many([]) == []
    for wrong in (
        {"iterations": -1}, {"iterations": None}, {"iterations": 1.5}, {"check_every": 0}, {"dtype": "float16"},
        {"threads": 0}, {"until": -1}, {"until": 0.0}, {"until": math.nan}, {"until": "1"}, {"seconds": 0}, {"memory": -1},
    ):  # fmt: skip
        ((name, value),) = wrong.items()
        with pytest.raises(InputError, match=rf"^{name}[= ]{value!r}: "):
            solve_many(spots()[:1], **wrong)  # type: ignore[arg-type]
    for value, pattern in (
        (["abc"], r"spots\[0\]='abc'"),
        ("abc", "spots='abc'"),
        (spots()[0], "spots=Spot"),
        (None, "None"),
    ):
        with pytest.raises(InputError, match=pattern):
            solve_many(value)  # type: ignore[arg-type]
    with pytest.raises(MemoryLimitError, match=r"\bkB\b"):
        solve_many(spots()[:3], memory=1000)
    with pytest.raises(InputError, match="shape"):
        CpuBatchEngine([BoardTree(spot) for spot in spots()[:2]], TABLE_FORMATS["compact"])
    small = trees_of_one_shape([spots()[3]])[0].shape
    with pytest.raises(InputError, match="shape"):
        BoardTree(spots()[0], small)


def test_turns_use_sixteen_bits_without_locks() -> None:
    turn = spots()[-1]
    locked = turn.lock("", {"x": 1.0}, "AA")
    both = solve_many([turn, locked], iterations=20)
    assert [solution.provenance["dtype"] for solution in both] == ["16-bit", "compact"]
    for solution, spot in zip(both, (turn, locked), strict=True):
        alone = solve_many([spot], iterations=20)[0]
        assert np.array_equal(solution.table, alone.table)
        assert solution.provenance["exploitability"] == alone.provenance["exploitability"]
    wide = solve_many([turn], iterations=20, dtype="float64")[0]
    assert wide.provenance["dtype"] == "float64"
    assert wide.provenance["exploitability"] == pytest.approx(both[0].provenance["exploitability"], rel=0.1)


@pytest.mark.parametrize("name", ["trees", "constant_sums"])
def test_checks_of_a_batch_make_lists_of_all_games_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check of thousands of games must not take time with their square."""
    made = getattr(CpuBatchEngine, name)
    calls = []
    monkeypatch.setattr(CpuBatchEngine, name, property(lambda batch: calls.append(name) or made.fget(batch)))
    trees = trees_of_one_shape([Spot.make(board="Ks7d5h2c9s", pot=100, stack=100, oop="AA,QQ", ip="KK", bets="a")] * 5)
    batch = CpuBatchEngine(trees, TABLE_FORMATS["float64"])
    assert len(batch_qualities(batch, range(5))) == 5
    assert len(calls) == 1
