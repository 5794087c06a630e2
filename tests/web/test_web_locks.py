"""Locks from the page: successive locks are all in the solved spot, and nodes list locked hands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import riverboat as rb
from riverboat.cards.ranges import Range
from riverboat.formats import spot_file
from riverboat.strategies import files
from riverboat.web.models import JobRequest
from riverboat.web.routes.jobs import make_job
from riverboat.web.server import Server
from riverboat.web.views.node import solution_node_to_dict

SPOT = rb.Spot.make(board="Td9d6hQc2s", pot=200, stack=900, oop="66+,AK", ip="QQ-22,AQ", bets="60%, a")


@pytest.fixture
def server(tmp_path: Path) -> Server:
    rb.solve(SPOT, until=2.0, out=tmp_path / "river")
    return Server(tmp_path, memory=1 << 30)


def solve_as_job(server: Server, name: str, **asked: object) -> rb.Solution:
    """Solve the spot of a job request in this process."""
    text, job = make_job(JobRequest(name=name, **asked), server)  # type: ignore[arg-type]
    rb.solve(spot_file.loads(text), until=2.0, out=server.data.path(job.name))
    solution = files.load(server.data.path(name))
    assert isinstance(solution, rb.Solution)
    return solution


def test_two_locks_in_sequence_are_both_in_the_solved_run(server: Server) -> None:
    first = {"line": "b120", "hands": "QQ", "strategy": {"f": 1.0}}
    second = {"line": "b120", "hands": "JJ,TT", "strategy": {"c": 1.0}}
    third = {"line": "", "strategy": {"x": 0.5, "b120": 0.5}}
    solve_as_job(server, "one", run="river", add_locks=[first])
    solve_as_job(server, "two", run="one", add_locks=[second])
    three = solve_as_job(server, "three", run="two", add_locks=[third])
    node = three["b120"]
    fold, call = (list(node.actions).index(move) for move in "fc")
    for hands, move in (("QQ", fold), ("JJ,TT", call)):
        held = np.flatnonzero((Range.parse(hands).weights > 0) & (SPOT.weights[1] > 0))
        assert node.strategy[move][held] == pytest.approx(1)
    assert three[""].summary().frequencies["x"] == pytest.approx(0.5, abs=1e-4)
    told = solution_node_to_dict(three, "b120")
    locked = (Range.parse("QQ,JJ,TT").weights > 0) & (SPOT.weights[1] > 0)
    assert told["locked"] == np.flatnonzero(locked).tolist()
    assert [step["locked"] for step in told["path"]] == [True, True]
    assert [step["locked"] for step in solution_node_to_dict(three, "x")["path"]] == [True, False]
    without = solve_as_job(server, "four", run="three", locks=[second])  # two are removed
    assert [lock.line for lock in without.tree.game.locks] == ["b120"]
    assert [step["locked"] for step in solution_node_to_dict(without, "b120")["path"]] == [False, True]
