"""Agents are built from their specs, and invalid specs are rejected."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from random_blueprints import random_blueprint
from riverboat.agents import registry
from riverboat.agents.base import rules_of_agents
from riverboat.agents.baselines import BASELINES, BaselineAgent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.registry import make_agent
from riverboat.core.errors import InputError
from riverboat.evaluation.identity import agent_identity
from riverboat.evaluation.ledger import read_ledger
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.rules import read_game
from riverboat.strategies.blueprint import save_blueprint
from riverboat.strategies.shipping import zipped_size

OWN = '''
import numpy as np

class Checker:
    """Always checks and calls."""

    name = "checker"

    def __init__(self, mood="calm"):
        self.mood = mood

    def check_rules(self, rules):
        pass

    def act(self, views):
        return np.zeros(len(views), np.int32)

class Broken:
    pass
'''


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_blueprint(random_blueprint("leduc"), tmp_path_factory.mktemp("runs") / "small")


def blueprint(text: str) -> BlueprintAgent:
    found = make_agent(text, seed=4)
    assert isinstance(found, BlueprintAgent)
    assert found.name == text
    return found


@pytest.mark.parametrize("name", BASELINES)
def test_baselines(name: str) -> None:
    assert make_agent(name, seed=3) == BaselineAgent(name, 3)
    assert make_agent(f"{name}?seed=8", seed=3) == BaselineAgent(name, 8)


def test_blueprints_and_their_options(run: Path) -> None:
    plain = blueprint(str(run))
    assert (plain.translation, plain.tie, plain.post, plain.share, plain.seed) == (
        "rand-pshar",
        "high",
        "none",
        None,
        4,
    )
    assert rules_of_agents(make_agent("random"), plain) == read_game("leduc")
    assert blueprint(f"{run}?purify").post == "purify"
    assert (blueprint(f"{run}?new=0.3").post, blueprint(f"{run}?new=0.3").share) == ("new", 0.3)
    assert blueprint(f"{run}?new").share is None
    some = blueprint(f"{run}?threshold=0.15&spare-first&translation=det-arith&tie=low&seed=11")
    assert (some.post, some.share, some.spare_first) == ("threshold", 0.15, True)
    assert (some.translation, some.tie, some.seed) == ("det-arith", "low", 11)
    assert blueprint(f"{run}?new&spare-first=no").spare_first is False


def test_demo(run: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(registry, "demo_folder", lambda: tmp_path / "nothing")
    with pytest.raises(InputError, match=r"nothing.*riverboat demo"):
        make_agent("demo")
    monkeypatch.setattr(registry, "demo_folder", lambda: run)
    assert blueprint("demo?purify").post == "purify"
    monkeypatch.setattr(registry, "SHIPPED", tmp_path / "none")  # a build without an agent
    assert blueprint("default?purify").strategy.tree.fingerprint == blueprint("demo").strategy.tree.fingerprint


def test_default_comes_with_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The agent plays on every street right after installation, without files in the user's folders and without a
    build.
    """
    monkeypatch.setattr(registry, "user_folder", lambda kind: tmp_path)
    agent = blueprint("default?seed=3")
    assert sum(zipped_size(path) for path in registry.SHIPPED.rglob("*") if path.is_file()) <= 20_000_000  # in a wheel
    assert {"recipe", "seed", "seconds", "threads"} <= agent.strategy.provenance.keys()
    states = ("1:0::|AsAd", "0:0:cc/:AsAd|/2c7d9h", "0:0:cc/cc/:AsAd|/2c7d9h/Ks", "0:0:cc/cc/cc/:AsAd|/2c7d9h/Ks/3s")
    for state in states:
        views = Observations.from_match_state(f"MATCHSTATE:{state}", agent.rules)
        ((*moves,),) = agent.probabilities(views)
        assert sum(p for _, p in moves) == pytest.approx(1.0)
    assert not list(tmp_path.iterdir())


def test_shipped_ledger_is_about_the_shipped_agent() -> None:
    ledger = read_ledger(registry.SHIPPED_LEDGER)
    mark = agent_identity(make_agent("default"))["fingerprint"]
    matches = [entry for entry in ledger.entries if entry.agents[0] == mark]
    assert matches
    assert ledger.agents[mark]["name"] == "default"
    assert all(
        entry.mbb_per_game > entry.ci95 for entry in matches if ledger.agents[entry.agents[-1]]["name"] == "demo"
    )


def test_the_folder_of_earlier_demos_is_still_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(registry, "user_folder", lambda kind: tmp_path if kind == "data" else None)
    assert registry.demo_folder() == tmp_path / "demo"
    (tmp_path / "default").mkdir()
    assert registry.demo_folder() == tmp_path / "default"
    (tmp_path / "demo").mkdir()
    assert registry.demo_folder() == tmp_path / "demo"


def test_user_classes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_players.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    path = list(sys.path)
    agent = make_agent("my_players:Checker?mood=grim")
    assert (agent.name, agent.mood) == ("checker", "grim")  # type: ignore[attr-defined]
    assert np.zeros(0).size == len(agent.act([]))  # type: ignore[arg-type]
    assert sys.path == path
    for text, reason in (
        ("my_players:Chequer", "'Checker'"),
        ("my_players:Broken", "has no name; an agent needs name, check_rules and act"),
        ("my_players:Checker?colour=red", "colour"),
        ("no_such_players:Checker", "'no_such_players'"),
    ):
        with pytest.raises(InputError, match=reason):
            make_agent(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("allways-call", "'allways-call'.*'always-call'"),
        ("always-call?purify", "'purify'.*seed"),
        ("random?seed=x", "seed='x'"),
        ("no/such/run", "'no/such/run'.*always-fold"),
        ("acpc:./player 1 2", "riverboat acpc dealer"),
        ("{run}?purify&new=0.2", "purify and new"),
        ("{run}?purfy", "'purfy'.*'purify'"),
        ("{run}?new=much", "new='much'"),
        ("{run}?new=2", "new.*2.*from 0 to 1|2.*must be from 0 to 1"),
        ("{run}?purify=0.2", ": purify"),
        ("{run}?spare-first=perhaps", "spare-first='perhaps'"),
        ("{run}?seed=1&seed=2", ": .*seed .*twice"),
        ("{run}?translation=arith", "'arith'"),
        ("", "agent '':.*always-fold"),
        ("?purify", "'[?]purify'.*always-fold"),
        ("switch:random,", "agent '':"),
        ("{run}?fit=l1", ": fit.*exploit=dbbr"),
        ("{run}?abstraction=", "abstraction=DIR"),
        ("{run}?endgames", "endgames=DIR"),
        ("{run}?exploit=dbbr&memory=", "memory=DIR"),
        ("{run}?exploit=dbbr&memory={run}/manifest.json", "manifest.json is a file"),
        ("{run}?exploit=dbbr&memory={run}/manifest.json/x", "manifest.json is a file"),
        ("{run}?exploit=dbbr&notice=3", "notice='3'.* 10 "),
        ("os:nothing", "'nothing'.* in os"),
    ],
)
def test_invalid_specs(text: str, reason: str, run: Path) -> None:
    with pytest.raises(InputError, match=reason):
        make_agent(text.replace("{run}", str(run)))
