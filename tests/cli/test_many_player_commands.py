"""Commands for games with more than two players."""

from __future__ import annotations

import json

import pytest


def test_solving_and_reading_three_player_kuhn(run, tmp_path):
    folder = tmp_path / "run"
    code, out, _ = run("solve", "kuhn:players=3", "--iterations", "60", "--out", folder)
    assert code == 0
    assert "3 players, 48 information sets" in out
    assert "guarantee none" in out
    code, out, _ = run("exploitability", folder, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["exploitability"] == max(found["gains"]) > 0
    assert found["nash_conv"] == pytest.approx(sum(found["gains"]), abs=1e-15)
    assert [b - v for b, v in zip(found["best_responses"], found["values"], strict=True)] == found["gains"]
    code, told, _ = run("exploitability", folder)
    assert code == 0
    assert told.count("\n") == 5  # a line, the table header, and three players
    code, out, _ = run("respond", folder, "--player", "2", "--json")
    assert json.loads(out)["responses"][0]["gain"] == pytest.approx(found["gains"][2], abs=1e-12)


def test_a_target_is_about_the_largest_gain(run):
    code, out, err = run("solve", "kuhn:players=3", "--until", "1e-9", "--iterations", "40", "--json")
    found = json.loads(out)
    assert code == 1
    assert "--until 1e-9" in err
    assert found["exploitability"] == max(found["gains"])
    assert "converge" in found["guarantee"]


def test_teams(run):
    code, out, _ = run("team", "kuhn:players=3,cards=3", "--adversary", "1", "--time", "0s", "--json")
    (found,) = json.loads(out)["teams"]
    assert code == 0
    assert found["correlated_low"] <= found["correlated_high"] <= found["alone_high"] + 1e-6
    assert found["alone_low"] <= found["alone_high"]
    code, told, _ = run("team", "kuhn:players=3,cards=3", "--adversary", "1", "--time", "0s")
    assert code == 0
    assert "with correlation" in told


def test_correlated_prints_the_gains_of_each_player(run):
    code, out, _ = run("correlated", "kuhn:players=3,cards=4", "--until", "1e-2")
    assert code == 0
    assert "the largest gain by ignoring the mediator" in out
    assert [line.split()[0] for line in out.splitlines()[3:6]] == ["0", "1", "2"]


def test_correlated_as_json(run):
    code, out, err = run("correlated", "kuhn:players=3,cards=4", "--until", "1e-9", "--iterations", "12", "--json")
    found = json.loads(out)
    assert code == 1
    assert "the target was not reached" in err
    assert found["iterations"] == 12
    assert found["epsilon"] == max(found["gains"])
    assert found["joint"] is None
    assert not found["reached"]
    best = json.loads(run("correlated", "rps", "--method", "lp", "--json")[1])
    assert sum(map(sum, best["joint"])) == pytest.approx(1)
    assert max(best["swap_gains"]) < 1e-7


def test_methods_are_listed(run):
    _, out, _ = run("games", "--methods", "--json")
    methods = json.loads(out)["methods"]
    assert {"solve GAME", "correlated GAME", "team GAME"} <= {method["command"] for method in methods}
    assert "riverboat games --methods" in run("solve", "kuhn:players=3", "--iterations", "2")[1]
