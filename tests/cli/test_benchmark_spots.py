"""The hold'em benchmarks: what they count and compare; no test depends on timings."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from riverboat.benchmarks import scaling, spots
from riverboat.cards.deck import HAND_CARDS
from riverboat.cli.bench import bench
from riverboat.core.errors import InputError
from riverboat.games.base import TERMINAL
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.trees.boards import BoardTree


@pytest.fixture(scope="module")
def river() -> BoardTree:
    return BoardTree(spots.read_example_spot("river"))


@pytest.fixture(scope="module")
def calibration() -> BoardTree:
    return BoardTree(spots.read_example_spot("calibration_river"))


def test_the_spots_have_the_hands_of_the_published_ones() -> None:
    hands = {
        name: [len(np.flatnonzero(w)) for w in spots.read_example_spot(name).weights] for name in spots.RUST_TIMINGS
    }
    assert hands["flop"] == [225, 310]
    assert hands["turn"] == [216, 299]
    assert hands["river"] == [213, 292]


def test_a_row_for_each_hand() -> None:
    """Count rows board by board and decision by decision; the published turn takes 24 MB."""
    tree = BoardTree(spots.read_example_spot("turn"))
    betting, count = tree.betting, 0
    for mask in tree.deals.masks:
        board = [c for c in range(52) if int(mask) >> c & 1]
        live = ~np.isin(HAND_CARDS, board).any(axis=1)
        for node in np.flatnonzero((betting.actor >= 0) & (betting.street == len(board) - 4)):
            held = (tree.game.weights[betting.actor[node]] > 0) & live
            count += len(betting.actions(int(node))) * int(held.sum())
    assert spots.count_unmerged_actions(tree) == count
    assert 8 * count / 1e6 == pytest.approx(24, rel=0.005)
    assert tree.table_size < count  # two suits are isomorphic on boards without either


def test_rows_of_a_spot(river: BoardTree) -> None:
    found = spots.tree_sizes("river", river)
    assert found["infoset_actions"] == found["a_row_for_each_hand"] == 19 * (213 + 292)
    assert [row["bytes"] for row in spots.table_formats("river", river)] == [6, 4]
    rows, run = spots.times_to_targets("river", river, (2.0, 0.5), threads=1)
    assert [row["target"] for row in rows] == [2.0, 0.5]
    assert all(row["exploitability"] <= row["target"] for row in rows)
    assert rows[0]["iterations"] < rows[1]["iterations"] == run.solver.iteration
    assert rows[0]["rust_seconds"] is None
    assert rows[1]["rust_seconds"] == 0.005
    assert run.solver.exploitability() == pytest.approx(rows[1]["exploitability"], rel=1e-3)


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_the_plain_program_solves_the_same_spot(calibration: BoardTree) -> None:
    """The plain C++ program agrees in double precision, to the last printed digits."""
    assert calibration.table_size == 122 * 1081
    solver = BoardCFR(calibration, "dcfr", dtype="float64")
    solver.step(30)
    found = spots.run_cpp_river(spots.cpp_input(calibration, 30, 10), print, real_type="double")
    assert found is not None
    assert found["exploitability"] == pytest.approx(solver.exploitability(), abs=2e-6)
    assert found["ev_oop"] == pytest.approx(solver.average().expected_value(0), abs=2e-6)
    assert found["ev_oop"] + found["ev_ip"] == pytest.approx(calibration.constant_sum, abs=2e-6)
    assert found["milliseconds"] > 0


def test_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    notes: list[str] = []
    assert spots.run_cpp_river("", notes.append) is None
    assert "no g++" in notes[0]


def test_the_plain_program_takes_whole_ranges_only(river: BoardTree) -> None:
    with pytest.raises(InputError, match=river.game.name):
        spots.cpp_input(river, 1, 1)


def test_the_input_of_the_plain_program(calibration: BoardTree) -> None:
    lines = spots.cpp_input(calibration, 30, 10).splitlines()
    assert lines[:2] == ["30 10 100", "1081"]
    strengths = [int(line.split()[2]) for line in lines[2:1083]]
    assert strengths == sorted(strengths)
    assert len(lines) == 1084 + int(lines[1083])
    ends = [line for line in lines[1084:] if line.startswith("-1 ")]
    assert len(ends) == np.count_nonzero(calibration.betting.actor == TERMINAL)


def test_subgames_with_all_hands() -> None:
    row = spots.subgame_speed("Ks7d5h2c9s", 5, spots.TWO_SIZES, 5.0, 0.5, threads=1)
    assert 0 < row["exploitability"] <= 5
    assert row["infoset_actions"] == 1081 * 56  # 28 rows of actions for each player
    assert row["share_of_it"] == pytest.approx(row["seconds"] / 0.5, rel=1e-3)


def test_scaling_compares_with_the_first_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    work = {"half": lambda threads: 2.0 / threads, "serial": lambda threads: 3.0}
    monkeypatch.setattr(scaling, "_workloads", lambda full, most: iter(work.items()))
    said: list[str] = []
    rows = scaling.scaling_rows(scaling.parse_thread_counts("4, 1"), full=False, progress=said.append)
    assert said[:2] == ["bench: half, threads 1: 2 s", "bench: half, threads 4: 0.5 s"]
    assert [(row["work"], row["threads"], row["speedup"], row["efficiency"]) for row in rows] == [
        ("half", 1, 1.0, 1.0), ("half", 4, 4.0, 1.0), ("serial", 1, 1.0, 1.0), ("serial", 4, 1.0, 0.25),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "0", "1,", "two", "1,1e9", "-1", "257", "9" * 5000])
def test_thread_counts_that_are_none(text: str) -> None:
    with pytest.raises(InputError, match="threads="):
        scaling.parse_thread_counts(text)


@pytest.mark.parametrize(
    ("options", "problem"), [({"threads": "1", "device": "cuda"}, "cuda"), ({"threads": "2,4"}, "3 cores")]
)
def test_threads_that_cannot_be_measured(
    options: dict[str, str], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("riverboat.cli.bench.available_cores", lambda: 3)
    with pytest.raises(InputError, match=problem):
        bench(**options)
