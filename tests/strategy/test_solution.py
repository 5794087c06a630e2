"""Solutions as users hold them: rake, folds, lines, locks and files. The engine below has tests/solving/test_boards.py."""

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
from riverboat.games.spots.locks import Lock
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


def test_with_rake_nodes_tell_what_enumeration_gives():
    """Fifty-two cards, fractional weights, rake with a cap, against plain recursion over pairs of hands and cards."""
    solution = solved(Spot.make(**TURN, rake=0.05, rake_cap=6.0))
    seen = {}

    def profile(line, hand):
        if line not in seen:
            seen[line] = solution[line].strategy
        return seen[line][:, hand].tolist()

    slow = Slow(solution.tree.game, profile)
    for line in ("x-x", "x-x/2s-x", "b50"):
        node = solution[line]
        for player in (0, 1):
            for hand, value in slow.ev(line, player).items():
                assert node.ev(player)[hand] == pytest.approx(value, abs=2e-3), (line, player, hand)
            for hand, share in slow.equity(line, player).items():
                assert node.equity[player][hand] == pytest.approx(share, abs=1e-9)
        chips = [node.mean(p, node.ev(p)) for p in (0, 1)]
        pot = 100 + solution.tree.betting.spent[node.place].sum()
        assert pot - 6.001 <= sum(chips) < pot - 2  # a share of every final pot, and never more than the cap


def test_one_walk_of_a_street_tells_what_a_walk_from_each_node_would():
    """Nodes that hardly anybody gets to as well: there numbers are small, and the walk from the node scales them."""
    solution = solved(Spot.make(**TURN), 30)
    for line in ("", "x", "x-b50", "b50", "b50-c/2s", "b50-c/2s-x", "x-x/Ac-b50", "x-x/Ac-b50-a"):
        node = solution[line]
        for player in (0, 1):
            start = node.start_at(node.place)
            alone = solution.walker.evaluate(player, start)
            shared = solution.street(node).values(player, start.node)
            assert shared == pytest.approx(alone, rel=1e-4, abs=1e-4 * np.abs(alone).max()), (line, player)


def test_prepared_equities_are_those_of_the_runouts():
    for cards in ({}, {"board": "Td9d6h"}, {"board": "Td9d6hQc2s"}):
        spot = Spot.make(**TURN | cards)
        plain, prepared = (solved(spot, 3) for _ in range(2))
        prepared.prepare()
        for player in (0, 1):
            assert prepared["x"].equity[player] == pytest.approx(plain["x"].equity[player], abs=1e-6, nan_ok=True)
        assert np.isfinite(plain["x"].equity[0]).any()


def test_folding_is_worth_nothing_and_wins_the_pot():
    solution = solved(Spot.make(**TURN))
    facing = solution["b50"]
    held = facing.reach[1] > 0
    assert facing.actions[0] == "f"
    assert facing.action_ev()[0][held] == pytest.approx(0, abs=1e-4)
    folded = solution["b50-f"]
    held = folded.reach[0] > 0
    assert folded.ev(0)[held] == pytest.approx(150, abs=1e-3)


@pytest.mark.parametrize("line", ["b51", "x-x/Td", "x-x/2c3c", "x/2c", "x-x-x", "b50-f-x", "x-x/Zz"])
def test_lines_that_lead_nowhere(line):
    solution = solved(Spot.make(**TURN), 1)
    with pytest.raises(InputError, match=r"line|dealt"):
        solution[line]


def test_nobody_acts_at_a_deal():
    solution = solved(Spot.make(**TURN), 1)
    assert solution["x-x"].actions == ()
    with pytest.raises(InputError, match="nobody acts"):
        _ = solution["x-x"].strategy
    with pytest.raises(InputError, match="nobody acts"):
        solution["x-x"].action_ev()


# --- locks ------------------------------------------------------------------------------------


def test_a_locked_node_plays_what_it_must_and_the_other_answers():
    lock = Lock("b50", (("f", 1.0),))
    free, locked = solved(Spot.make(**TURN)), solved(Spot.make(**TURN, locks=[lock]), 300)
    node = locked["b50"]
    held = node.reach[1] > 0
    assert node.strategy[0][held] == pytest.approx(1, abs=1e-6)
    root = locked[""]
    assert root.mean(0, root.strategy[1]) > 0.99  # who always folds is always bet at
    assert root.mean(0, root.ev(0)) == pytest.approx(100, abs=0.5)
    assert free[""].mean(0, free[""].strategy[1]) < 0.5


def test_some_hands_may_be_locked():
    lock = Lock("x-x/2c", (("x", 0.25), ("b50", 0.75)), Range.parse("AsAh"))
    solution = solved(Spot.make(**TURN, locks=[lock]), 100)
    node = solution["x-x/2c"]
    assert node.strategy[:, number("AsAh")] == pytest.approx([0.25, 0.75], abs=1e-4)
    assert node.strategy[:, number("KsKd")] != pytest.approx([0.25, 0.75], abs=1e-2)
    assert solution["x-x/2h"].strategy[:, number("AsAd")] != pytest.approx([0.25, 0.75], abs=1e-4)


# --- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["compact", "16-bit", "float64"])
def test_saved_and_read_again(tmp_path, dtype):
    solution = solved(Spot.make(**TURN), dtype=dtype)
    again = rb.load(rb.save(solution, tmp_path / "s"))
    assert isinstance(again, Solution)
    assert isinstance(again.table, np.memmap)
    for line in ("", "x-x/2c", "b50"):
        assert np.array_equal(again[line].strategy, solution[line].strategy, equal_nan=True)
        assert again[line].ev(0) == pytest.approx(solution[line].ev(0), abs=1e-6, nan_ok=True)


def test_a_run_resumes_where_it_was(tmp_path):
    spot = Spot.make(**TURN)
    rb.solve(spot, iterations=20, out=tmp_path / "a")
    rb.solve(spot, iterations=50, out=tmp_path / "a", resume=True)
    whole = rb.solve(spot, iterations=50)
    assert isinstance(whole.strategy, Solution)
    assert np.array_equal(np.asarray(rb.load(tmp_path / "a").table), whole.strategy.table)


def test_reading_needs_no_solver(tmp_path):
    rb.save(solved(Spot.make(**TURN)), tmp_path / "s")
    code = (
        "import sys, json; from riverboat.strategies import files, node_report\n"
        f"node = files.load({str(tmp_path / 's')!r})['x']\n"
        "told = node_report.summary(node).frequencies\n"
        "print(json.dumps([told, [m for m in sys.modules if m.startswith('riverboat.solvers')]]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    told, loaded = json.loads(done.stdout)
    assert sum(told.values()) == pytest.approx(1)
    assert loaded == []
