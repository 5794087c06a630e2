"""Many spots at once: each answer is the one that the spot gets alone."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from riverboat.cards.deck import HANDS
from riverboat.cards.ranges import Range
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.engines.cpu.batch_engine import BatchWalker, alike_trees
from riverboat.engines.tables import FORMATS
from riverboat.games.boards.root_gadgets import Choose, Stop
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.batches import solve_many
from riverboat.solvers.boards.cfr import BOARD_SCHEDULE, LAST_STREET_SCHEDULE, STAKES_SCHEDULE, BoardCFR
from riverboat.trees.boards import BoardTree


@cache
def spots() -> tuple[Spot, ...]:
    """Rivers with all hands, some or few, with and without symmetries, locks and gadgets; two turns; two kinds of betting."""
    rng = np.random.default_rng(5)
    found = []
    for board, hands in (("Td9d6hQc2s", 1.0), ("AsKsTs4s2s", 1.0), ("7c7d7h2s3d", 0.3), ("QhJh9c4d2c", 0.02)):
        ranges = [Range(np.where(rng.random(HANDS) < hands, rng.uniform(0.1, 1, HANDS), 0.0)) for _ in range(2)]
        found.append(
            Spot.make(board=board, pot=20, stack=60, bets="50%,a", raises="a", oop=ranges[0], ip=ranges[1], name=board)
        )
    found.append(Spot.make(board="AsKsTs4s2s", pot=20, stack=60, bets="50%,a", raises="a", oop="QQ+,AKs", ip="random"))
    found.append(found[0].lock("x", {"x": 0.5, "a": 0.5}, "AA,KK"))
    found.append(replace(found[2], gadget=Stop(0, rng.uniform(5, 15, HANDS))))
    found.append(replace(found[3], gadget=Choose(1, rng.uniform(5, 15, HANDS))))
    for board in ("Ts9s6s2s", "AdKd7h2c"):
        found.append(Spot.make(board=board, pot=20, stack=40, bets="75%", oop="AA,KJs:0.7,T9o", ip="QQ,AKs:0.8,87o"))
    return tuple(found)


@pytest.mark.parametrize(
    ("dtype", "schedule"),
    [("compact", STAKES_SCHEDULE), ("16-bit", BOARD_SCHEDULE), ("float64", "pcfr+:alternating=0")],
)
def test_every_spot_as_if_alone(dtype: str, schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the bit, on any number of threads, in any company and order."""
    monkeypatch.setattr("riverboat.core.cores.available_cores", lambda: 4)
    some = [spot for spot in spots() if dtype != "16-bit" or not spot.locks]
    alone = []
    for spot in some:
        solver = BoardCFR(BoardTree(spot), schedule, dtype=dtype)
        solver.step(12)
        alone.append(solver)
    for threads, order in ((1, 1), (2, -1), (3, 1)):
        found = solve_many(some[::order], iterations=12, schedule=schedule, dtype=dtype, threads=threads)[::order]
        assert [solution.tree.game for solution in found] == some
        for solution, solver in zip(found, alone, strict=True):
            size = solver.tree.table
            assert solution.tree.fingerprint == solver.tree.fingerprint
            np.testing.assert_array_equal(solution.table[:size], solver.averages[:size])
            assert solution.provenance["exploitability"] == solver.exploitability()
            assert (solution.root is None) == (solver.tree.game.gadget is None)  # type: ignore[attr-defined]
            if solution.root is not None:
                np.testing.assert_array_equal(solution.root, solver.walker.read("root_average"))
            lines = ["", "x"]
            for line in lines:
                np.testing.assert_array_equal(solution[line].ev(0), solver.average()[line].ev(0))


def test_solving_until_all_are_good() -> None:
    found = solve_many(spots()[:4], iterations=400, until=0.2, check_every=10)
    counts = [solution.provenance["iterations"] for solution in found]
    assert all(solution.provenance["exploitability"] <= 0.2 for solution in found)
    assert len(set(counts)) > 1
    assert max(counts) < 400
    for solution, count in zip(found, counts, strict=True):
        solver = BoardCFR(solution.tree, LAST_STREET_SCHEDULE)
        solver.step(count - 10)
        assert solver.exploitability() > 0.2  # not one check later than needed
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
    for some, told in (
        (["abc"], r"spots\[0\]='abc'"),
        ("abc", "spots='abc'"),
        (spots()[0], "give a list"),
        (None, "None"),
    ):
        with pytest.raises(InputError, match=told):
            solve_many(some)  # type: ignore[arg-type]
    with pytest.raises(MemoryLimitError, match="solve fewer at once"):
        solve_many(spots()[:3], memory=1000)
    with pytest.raises(InputError, match="trees of one shape"):
        BatchWalker([BoardTree(spot) for spot in spots()[:2]], FORMATS["compact"])
    small = alike_trees([spots()[3]])[0].shape
    with pytest.raises(InputError, match="do not fit the shape"):
        BoardTree(spots()[0], small)


def test_turns_learn_in_sixteen_bits_but_for_locks() -> None:
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
