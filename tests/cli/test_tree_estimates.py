"""`riverboat solve --estimate` for games other than hold'em."""

import json

import pytest

import riverboat as rb
from riverboat.api import estimate as estimates
from riverboat.papers.rhode_island import full_game_size


def facts(run, *words):
    code, out, _ = run("solve", *words, "--estimate", "--json")
    assert code == 0
    return json.loads(out)


@pytest.mark.parametrize(
    ("game", "nodes", "infosets"), [("kuhn", 9, 12), ("leduc", 465, 936), ("bluff:1,1", 8191, 24_576)]
)
def test_small_trees_are_counted(run, game, nodes, infosets):
    """Information sets are counted as in OpenSpiel."""
    told = facts(run, game)
    assert (told["nodes"], told["infosets"], told["figures_are"]) == (nodes, infosets, "exact")
    assert told["bytes"]["float64"] == 2 * told["bytes"]["float32"]


@pytest.mark.parametrize(
    "words", [("--dtype", "float16"), ("--device", "nonsense"), ("--traversal", "bogus"), ("--method", "guess")]
)
def test_invalid_options_are_rejected(run, words):
    code, _, said = run("solve", "flop_holdem:one-bet,ranks=4,suits=2", "--estimate", *words)
    assert code == 2
    assert words[1] in said


def test_smaller_games_are_not_solved_first(run, monkeypatch):
    """The size of Bluff(2,1) does not depend on the value of the smaller games."""
    monkeypatch.setattr("riverboat.api.solve.make_game", lambda *_: pytest.fail("solved"))
    told = facts(run, "bluff:2,1")
    assert (told["nodes"], told["infosets"], told["figures_are"]) == (2**19 - 1, 3_538_944, "exact")


def test_large_trees_are_estimated_and_not_built(run, monkeypatch):
    """Rhode Island hold'em has 21 public nodes per round after each line and board."""
    monkeypatch.setattr(estimates, "compile_game", lambda *_: pytest.fail("built"))
    monkeypatch.setattr(estimates, "PROBE_SECONDS", 0.5)
    told = facts(run, "rhode_island")
    cards = 52
    nodes = 21 * (1 + 7 * cards + 49 * cards * (cards - 1))
    assert told["nodes"] == pytest.approx(nodes, rel=0.4)
    assert told["figures_are"].startswith("estimates")
    # rows of the linear program: information sets and sequences of possible hands
    assert told["infosets"] + told["infoset_actions"] == pytest.approx(2 * full_game_size(cards)[0], rel=0.6)


def test_too_large_linear_programs_are_rejected_before_building(run, monkeypatch):
    monkeypatch.setattr("riverboat.solvers.exact.solve.compile_game", lambda *_, **__: pytest.fail("built"))
    code, out, err = run("solve", "rhode_island", "--method", "lp")
    assert (code, out) == (2, "")
    assert "sequence form" in err


def test_linear_program_uses_the_unit_of_cfr():
    """The value of the linear program, in mbb/g for hold'em, lies in the interval that CFR certifies."""
    game = "flop_holdem:one-bet,ranks=7,suits=1"
    exact, learnt = rb.solve(game, method="lp"), rb.solve(game, iterations=200)
    assert (exact.unit, learnt.unit) == ("mbb/g", "mbb/g")
    assert learnt.value_low <= exact.value <= learnt.value_high
    assert abs(exact.values[0] - exact.value) < 1e-3
