"""Commands that evaluate agents and strategies."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from random_blueprints import random_blueprint
from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
from riverboat.cli import main
from riverboat.evaluation.best_response.exact import quality
from riverboat.games.holdem.rules import read_game
from riverboat.strategies.blueprint import save_blueprint


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as end:
        main.main([*words])
    return int(end.value.code or 0)


def test_lbr_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("lbr", "always-fold", "--hands", "16", "--actions", "fc", "--from", "flop", "--seed", "3", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["mbb_per_game"] == pytest.approx(250)
    assert found["ci95"] == pytest.approx(0, abs=1e-4)
    assert (found["hands"], found["deals"], found["actions"], found["from"], found["seed"]) == (
        16,
        2,
        "fc",
        "flop",
        3,
    )
    assert (found["is"], found["side"]) == ("bound", "lower")
    assert found["about"]["result"] == "lbr"
    assert (found["agent"], found["game"], found["unit"]) == ("always-fold", "nolimit-200bb", "mbb/g")


def test_lbr_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("lbr", "always-fold", "--game", "leduc", "--from", "flop", "--hands", "40") == 0
    shown = capsys.readouterr().out
    assert "always-fold: exploitability 1,000 ± 0 mbb/g (lower bound, 40 hands, seed 0)" in shown
    assert "fcpa from the flop on" in shown


@pytest.mark.slow
def test_exploitability_of_a_blueprint_is_exact_or_a_bound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both results state their kind and cost, and the bound the cost of the exact value."""
    strategy = random_blueprint("bench-3x20")
    folder = str(save_blueprint(strategy, tmp_path / "blueprint"))
    assert run("exploitability", folder, "--json") == 0
    exact, wanted = json.loads(capsys.readouterr().out), quality(strategy)
    assert (exact["is"], exact["boards"], exact["unit"]) == ("exact", wanted.boards, "mbb/g")
    assert exact["mbb_per_game"] == exact["exploitability"] == pytest.approx(wanted.mbb_per_game)
    assert exact["abstract_is"] == "bound"  # hands are numbered board by board and do not reveal earlier streets
    assert exact["abstract_mbb_per_game"] - exact["abstract_ci95"] < exact["mbb_per_game"]
    assert run("exploitability", folder, "--bound", "--boards", "100", "--seed", "4", "--threads", "2", "--json") == 0
    bound = json.loads(capsys.readouterr().out)
    assert (bound["is"], bound["side"], bound["boards"], bound["seed"]) == ("bound", "lower", 100, 4)
    assert bound["mbb_per_game"] - bound["ci95"] < exact["mbb_per_game"]
    assert bound["exact_boards"] == wanted.boards
    assert bound["exact_seconds"] > 0
    assert run("exploitability", folder, "--time", "0.001s", "--boards", "10") == 0
    assert "--exact" in capsys.readouterr().out
    for wrong in (("--exact", "--bound"), ("--resume",), ("--bound", "--out", "x"), ("--out", folder)):
        assert run("exploitability", folder, *wrong) == 2
        assert capsys.readouterr().err.count("error:") == 1


def test_abstract_and_full_game(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In Leduc without buckets both games are the same. Parts of the traversal are computed once."""
    rules = read_game("leduc")
    folder = save_blueprint(
        random_blueprint("leduc", cards=lossless_abstraction(rules.board[1:], rules.deck)), tmp_path / "leduc"
    )
    assert run("exploitability", str(folder), "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["abstract_mbb_per_game"] == pytest.approx(found["mbb_per_game"], rel=1e-5)
    assert found["abstract_is"] == "exact"
    for more in ("--exact", "--resume"):
        assert run("exploitability", str(folder), "--out", str(tmp_path / "pieces"), more, "--json") == 0
        assert json.loads(capsys.readouterr().out)["mbb_per_game"] == found["mbb_per_game"]
    assert len(list((tmp_path / "pieces").glob("piece-*"))) == 3  # ranks of the public card


def test_results_go_into_a_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The output of commands identifies the agent: one fingerprint per agent, whatever was measured."""
    monkeypatch.chdir(tmp_path)
    save_blueprint(random_blueprint("leduc"), tmp_path / "learnt")
    asked = {
        "match": ("match", "learnt?seed=3", "always-call", "--hands", "400"),
        "lbr": ("lbr", "learnt", "--hands", "40"),
        "exploitability": ("exploitability", "learnt?purify"),
        "cost": ("cost", "learnt?purify", "--hands", "8"),
    }
    for name, words in asked.items():
        assert run(*words, "--json") == 0
        (tmp_path / f"{name}.json").write_text(capsys.readouterr().out)
    adds = [word for name in asked for word in ("--add", f"{name}.json")]
    assert run("ledger", *adds, "--write", "page.md", "--plot", "cost.svg", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert "seconds a decision" in (tmp_path / "cost.svg").read_text()
    timed = [agent["name"] for agent in found["agents"] if agent.get("decision_seconds", 0) > 0]
    assert timed == ["learnt?purify"]  # costs are stored with the agent, not as a result
    assert all(agent["megabytes"] > 0 for agent in found["agents"] if agent["kind"] == "blueprint")
    names = {agent["fingerprint"]: agent["name"] for agent in found["agents"]}
    assert sorted(names.values()) == ["always-call", "learnt", "learnt?purify"]
    told = {result["result"]: [names[mark] for mark in result["agents"]] for result in found["results"]}
    assert told == {"match": ["learnt", "always-call"], "lbr": ["learnt"], "exploitability": ["learnt?purify"]}
    assert {rating["name"] for rating in found["ratings"]} == {"learnt", "always-call"}
    assert found["game"]["name"] == "leduc"
    assert "| learnt?purify | best response (exact) |" in (tmp_path / "page.md").read_text()
    assert run("ledger") == 0
    shown = capsys.readouterr().out
    assert "ratings" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_cost_counts_every_decision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The cost is measured one state at a time, over exactly the requested hands."""
    monkeypatch.chdir(tmp_path)
    save_blueprint(random_blueprint("leduc"), tmp_path / "learnt")
    assert run("cost", "learnt", "--hands", "12", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["decisions"][0] >= 12  # both players act before the public card
    assert 0 < told["median_seconds"] <= told["worst_seconds"] < 60
    assert told["mean_seconds"] == pytest.approx(
        np.average(told["street_seconds"], weights=told["decisions"]), rel=1e-9
    )
    assert run("cost", "learnt", "--hands", "12") == 0
    assert re.search(rf"preflop +{told['decisions'][0]} ", capsys.readouterr().out)


def test_litmus_fails_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("litmus", "always-call", "--game", "leduc", "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["checks"], found["failed"], found["skipped"]) == (6, 1, 5)
    first = found["failures"][0]
    assert first["check"] == "the nuts are bet when the other has checked last"
    assert first["probabilities"] == {"fold": 0.0, "call": 1.0, "raise": 0.0}
    assert first["line"].endswith("c/c")
    assert run("act", "always-call", first["match_state"], "--game", "leduc") == 0
    capsys.readouterr()
    assert run("litmus", "always-call", "--game", "leduc") == 1
    assert "1 of 6 checks failed" in capsys.readouterr().out


def test_custom_litmus_checks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        '[[check]]\nname = "the nuts are bet when the other has checked last"\nkind = "never"\nmove = "call"\n'
        'hands = "nuts"\nlines = ["~ c"]\nboards = 3\ntolerance = 1.0\n'
    )
    assert run("litmus", "always-call", "--game", "leduc", "--checks", str(file)) == 0
    assert "0 of 6 checks failed" in capsys.readouterr().out


@pytest.mark.parametrize("traversal", ["external", pytest.param("cfr-br", marks=pytest.mark.slow)])
def test_training_logs_exploitability_in_both_games(
    traversal: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The traversal of the recipe is used; without buckets both games are the same."""
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(f"game = 'leduc'\n[training]\ntraversal = '{traversal}'\n")
    words = ("--iterations", "20000", "--check", "0s", "--log-exploitability", "--threads", "1", "--json")
    assert run("train", str(recipe), "--out", str(tmp_path / "run"), *words) == 0
    strength = json.loads(capsys.readouterr().out)["strength"]
    lines = [json.loads(line)["strength"] for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    assert lines[-1] == strength
    assert strength["is"] == "exact"
    assert strength["abstract_exploitability"] == pytest.approx(strength["exploitability"], rel=1e-4)
    assert strength["exploitability"] < lines[0]["exploitability"]
    assert run("train", str(recipe), "--out", str(tmp_path / "other"), *words[:2], "--mode", "deterministic") == (
        0 if traversal == "external" else 2
    )
