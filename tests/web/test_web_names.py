"""Names of runs and agents in the API: a node has the frequencies of that agent, and actions to click."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from random_blueprints import flop_blueprint
from riverboat.agents.registry import make_agent
from riverboat.api.agent import rules_for
from riverboat.strategies.blueprint import save_blueprint
from riverboat.strategies.reports.public_state import policy_node
from riverboat.web.data_folder import DataFolder
from riverboat.web.solutions import SolutionStore

DEFAULT_LINES = [("", ""), ("r250", ""), ("r250c/", "Kh7c2s"), ("r250c/r415c/c", "Kh7c2s9d"), ("r260", "")]
SMALL_LINES = [("", ""), ("c", ""), ("cc/", "8c8d5c"), ("cr300", "")]  # blueprints that end on the flop


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SolutionStore:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    save_blueprint(flop_blueprint(), tmp_path / "runs" / "trained" / "strategy")
    return SolutionStore(DataFolder(tmp_path / "runs"))


def check_node(shelf: SolutionStore, name: str, line: str, board: str) -> dict[str, Any]:
    """Compare a node with the agent's strategy for all hands."""
    told = json.loads(shelf.node(name, line, board))
    agent = make_agent(name if name.startswith(("default", "demo")) else str(shelf.data.root / name))
    node = policy_node(agent, rules_for([agent], None), line, board)  # type: ignore[arg-type]
    frequencies = {move["name"]: move["frequency"] for move in told["moves"]}
    assert {move: share for move, share in frequencies.items() if share} == pytest.approx(
        {move: share for move, share in node.frequencies.items() if share >= 5e-6}, abs=1e-4
    )
    side = told["players"][told["player"]]
    assert side["combos"] == pytest.approx(float(node.reach[node.seat].sum()), abs=1e-3)
    assert np.array(side["hands"]["strategy"]).sum(axis=0) == pytest.approx(1, abs=1e-3)
    *way, here = told["path"]
    assert here["moves"] == list(frequencies)
    assert all(step["chosen"] in step["moves"] and len(step["moves"]) > 1 for step in way)
    return told


@pytest.mark.parametrize("demo", [False, True])
def test_a_node_has_the_frequencies_of_the_agent_of_its_name(shelf: SolutionStore, tmp_path: Path, demo: bool) -> None:
    names = {"default": DEFAULT_LINES, "default?purify": DEFAULT_LINES, "trained": SMALL_LINES}
    if demo:
        save_blueprint(flop_blueprint(), tmp_path / "home" / "riverboat" / "demo" / "strategy")
        names |= {"demo": SMALL_LINES, "demo?purify": SMALL_LINES}
    for name, lines in names.items():
        for line, board in lines:
            told = check_node(shelf, name, line, board)
            if line in ("", "r250"):
                assert len(told["moves"]) >= 3, "also what is never played can be clicked"


def test_default_is_not_the_demo(shelf: SolutionStore, tmp_path: Path) -> None:
    before = json.loads(shelf.node("default", ""))
    save_blueprint(flop_blueprint(), tmp_path / "home" / "riverboat" / "demo" / "strategy")
    assert json.loads(shelf.node("default", "")) == before
    assert [move["name"] for move in before["moves"]] != [
        move["name"] for move in json.loads(shelf.node("demo", ""))["moves"]
    ]


def test_path_of_deals_and_terminals(shelf: SolutionStore) -> None:
    for line, kind, steps in (("r250c/", "deal", 3), ("r250f", "end", 2), ("r260r700f", "end", 3)):
        told = json.loads(shelf.node("default", line))
        assert told["kind"] == kind
        assert [step["line"] for step in told["path"]][:2] == ["", line[:4]]
        assert len(told["path"]) == steps
