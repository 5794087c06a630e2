"""Solutions: rake, folds, lines, locks and files. tests/solvers has the tests of the engine."""

import json
import subprocess
import sys

import numpy as np
import pytest

import riverboat as rb
from reference.boards import Slow
from riverboat.cards.deck import hand_index
from riverboat.cards.notation import parse_hand
from riverboat.cards.ranges import Range
from riverboat.core.errors import InputError
from riverboat.games.spots.locks import NodeLock
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.strategies.solution import Solution
from riverboat.trees.boards import BoardTree

TURN = {
    "board": "Td9d6hQc", "pot": 100, "stack": 200, "oop": "AsAh,KsKd,JTs:0.5,8h7h,AdKd:0.25",
    "ip": "QsQh,T9s,5d4d:0.7,AsJs", "bets": "50%", "raises": "a",
}  # fmt: skip


def number(hand: str) -> int:
    return hand_index(*parse_hand(hand))


def solved(spot: Spot, iterations: int = 60, **options: object) -> Solution:
    solver = BoardCFR(BoardTree(spot), "dcfr", **options)
    solver.step(iterations)
    return solver.average()


def test_values_with_rake_equal_enumeration():
    """Fifty-two cards, fractional weights, rake with a cap, against recursion over pairs of hands and cards."""
    solution = solved(Spot.make(**TURN, rake=0.05, rake_cap=6.0))
    strategies = {}

    def profile(line, hand):
        if line not in strategies:
            strategies[line] = solution[line].strategy
        return strategies[line][:, hand].tolist()

    slow = Slow(solution.tree.game, profile)
    for line in ("x-x", "x-x/2s-x", "b50"):
        node = solution[line]
        for player in (0, 1):
            for hand, value in slow.ev(line, player).items():
                assert node.ev(player)[hand] == pytest.approx(value, abs=2e-3), (line, player, hand)
            for hand, share in slow.equity(line, player).items():
                assert node.equity[player][hand] == pytest.approx(share, abs=1e-9)
        chips = [node.range_mean(p, node.ev(p)) for p in (0, 1)]
        pot = 100 + solution.tree.betting.spent[node.betting_node].sum()
        assert pot - 6.001 <= sum(chips) < pot - 2  # a share of every final pot, at most the cap


def test_street_values_equal_traversals_from_each_node():
    """Includes nodes with little reach, where values are small."""
    solution = solved(Spot.make(**TURN), 30)
    for line in ("", "x", "x-b50", "b50", "b50-c/2s", "b50-c/2s-x", "x-x/Ac-b50", "x-x/Ac-b50-a"):
        node = solution[line]
        for player in (0, 1):
            start = node.traversal_start(node.betting_node)
            alone = solution.engine.strategy_values(player, start)
            shared = solution.street_values(node).values(player, start.node)
            assert shared == pytest.approx(alone, rel=1e-4, abs=1e-4 * np.abs(alone).max()), (line, player)


def test_prepared_equities_equal_runouts():
    for cards in ({}, {"board": "Td9d6h"}, {"board": "Td9d6hQc2s"}):
        spot = Spot.make(**TURN | cards)
        plain, prepared = (solved(spot, 3) for _ in range(2))
        prepared.prepare()
        for player in (0, 1):
            assert prepared["x"].equity[player] == pytest.approx(plain["x"].equity[player], abs=1e-6, nan_ok=True)
        assert np.isfinite(plain["x"].equity[0]).any()


def test_fold_values():
    solution = solved(Spot.make(**TURN))
    facing = solution["b50"]
    held = facing.reach[1] > 0
    assert facing.actions[0] == "f"
    assert facing.action_ev()[0][held] == pytest.approx(0, abs=1e-4)
    folded = solution["b50-f"]
    held = folded.reach[0] > 0
    assert folded.ev(0)[held] == pytest.approx(150, abs=1e-3)


@pytest.mark.parametrize("line", ["b51", "x-x/Td", "x-x/2c3c", "x/2c", "x-x-x", "b50-f-x", "x-x/Zz"])
def test_invalid_lines(line):
    solution = solved(Spot.make(**TURN), 1)
    with pytest.raises(InputError, match=r"line|dealt|Zz"):
        solution[line]


def test_chance_nodes_have_no_strategy():
    solution = solved(Spot.make(**TURN), 1)
    assert solution["x-x"].actions == ()
    with pytest.raises(InputError, match="'x-x'"):
        _ = solution["x-x"].strategy
    with pytest.raises(InputError, match="'x-x'"):
        solution["x-x"].action_ev()


# --- locks ------------------------------------------------------------------------------------


def test_locked_node_and_response():
    lock = NodeLock("b50", (("f", 1.0),))
    free, locked = solved(Spot.make(**TURN)), solved(Spot.make(**TURN, locks=[lock]), 300)
    node = locked["b50"]
    held = node.reach[1] > 0
    assert node.strategy[0][held] == pytest.approx(1, abs=1e-6)
    root = locked[""]
    assert root.range_mean(0, root.strategy[1]) > 0.99  # against a certain fold, always bet
    assert root.range_mean(0, root.ev(0)) == pytest.approx(100, abs=0.5)
    assert free[""].range_mean(0, free[""].strategy[1]) < 0.5


def test_locks_of_some_hands():
    lock = NodeLock("x-x/2c", (("x", 0.25), ("b50", 0.75)), Range.parse("AsAh"))
    solution = solved(Spot.make(**TURN, locks=[lock]), 100)
    node = solution["x-x/2c"]
    assert node.strategy[:, number("AsAh")] == pytest.approx([0.25, 0.75], abs=1e-4)
    assert node.strategy[:, number("KsKd")] != pytest.approx([0.25, 0.75], abs=1e-2)
    assert solution["x-x/2h"].strategy[:, number("AsAd")] != pytest.approx([0.25, 0.75], abs=1e-4)


# --- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["compact", "16-bit", "float64"])
def test_save_and_load(tmp_path, dtype):
    solution = solved(Spot.make(**TURN), dtype=dtype)
    again = rb.load(rb.save(solution, tmp_path / "s"))
    assert isinstance(again, Solution)
    assert isinstance(again.table, np.memmap)
    for line in ("", "x-x/2c", "b50"):
        assert np.array_equal(again[line].strategy, solution[line].strategy, equal_nan=True)
        assert again[line].ev(0) == pytest.approx(solution[line].ev(0), abs=1e-6, nan_ok=True)


def test_resume(tmp_path):
    spot = Spot.make(**TURN)
    rb.solve(spot, iterations=20, out=tmp_path / "a")
    rb.solve(spot, iterations=50, out=tmp_path / "a", resume=True)
    whole = rb.solve(spot, iterations=50)
    assert isinstance(whole.strategy, Solution)
    assert np.array_equal(np.asarray(rb.load(tmp_path / "a").table), whole.strategy.table)


def test_loading_imports_no_solver(tmp_path):
    rb.save(solved(Spot.make(**TURN)), tmp_path / "s")
    code = (
        "import sys, json; from riverboat.strategies import files\n"
        "from riverboat.strategies.reports import node as node_report\n"
        f"node = files.load({str(tmp_path / 's')!r})['x']\n"
        "frequencies = node_report.node_summary(node).frequencies\n"
        "print(json.dumps([frequencies, [m for m in sys.modules if m.startswith('riverboat.solvers')]]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    frequencies, loaded = json.loads(done.stdout)
    assert sum(frequencies.values()) == pytest.approx(1)
    assert loaded == []
