"""Opponents that change, agents that notice, and a choice among prepared strategies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from random_blueprints import blueprint_of
from riverboat.agents.baselines import Yardstick
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.learning import LearningAgent, LearnSettings
from riverboat.agents.nonstationary import HedgeAgent, NoticingLearner, SwitchingAgent
from riverboat.agents.registry import make_agent
from riverboat.agents.spec import is_agent_spec
from riverboat.core.errors import InputError
from riverboat.evaluation.matches.match import play_match
from riverboat.games.holdem.rules import read_game
from riverboat.games.records.hand_records import Hands, join
from riverboat.opponents.models.change_detection import Watch, homogeneity
from riverboat.strategies.blueprint import save_blueprint
from riverboat.testing.agents import check_agent


def base(name: str, seed: int = 0) -> BlueprintAgent:
    return BlueprintAgent(blueprint_of("pot"), name, seed=seed)


def test_who_switches_is_one_and_then_the_other() -> None:
    agent, rules = SwitchingAgent((Yardstick("always-call"), Yardstick("always-fold")), 30), blueprint_of("pot").rules
    kept: list[Hands] = []
    play_match(base("base"), agent, rules, 120, observe=kept.append)
    hands = join(kept)
    folds = np.array(["f" in hands.betting(i).line for i in range(len(hands))])
    raised = np.array(["r" in hands.betting(i).line for i in range(len(hands))])
    assert (hands.number[folds] >= 60).any()
    other = SwitchingAgent((Yardstick("always-call"), Yardstick("always-call")), 30)
    kept.clear()
    play_match(base("base"), other, rules, 120, observe=kept.append)
    np.testing.assert_array_equal(join(kept).moves[:60, :8], hands.moves[:60, :8])
    assert raised.any()
    check_agent(agent, rules, tables=20)
    with pytest.raises(InputError, match="at least two agents"):
        SwitchingAgent((agent,), 3)


def test_homogeneity() -> None:
    """Against a fair table of 2 × 3 by hand: G = 2 Σ O ln(O / E) is 0 for equal shares."""
    assert homogeneity(np.array([[10.0, 20, 30]]), np.array([[20.0, 40, 60]])) == pytest.approx(1.0)
    assert homogeneity(np.array([[10.0, 20, 30]]), np.array([[30.0, 20, 10]])) < 1e-3
    assert homogeneity(np.array([[1.0, 2, 3]]), np.array([[30.0, 20, 10]])) == 1.0  # too few


@pytest.mark.slow
def test_changes_are_noticed_and_noise_is_not() -> None:
    settings = LearnSettings(every=400, work=64)
    steady = NoticingLearner(lambda: LearningAgent(base("learner"), settings), 100)
    play_match(steady, base("other", 7), steady.rules, 800, seed=3)
    assert steady.noticed == []
    assert steady.now.hands == 800
    changed = NoticingLearner(lambda: LearningAgent(base("learner"), settings), 100)
    switch = SwitchingAgent((Yardstick("always-call"), Yardstick("always-raise")), 300)
    play_match(changed, switch, changed.rules, 1000, seed=3)
    assert 600 < changed.noticed[0] <= 700
    assert f"{changed.noticed[0]:,}" in changed.account()
    assert steady.account() == "no change was noticed"
    assert changed.now.hands <= 500  # what was before is forgotten
    with pytest.raises(InputError, match="at least 10 hands"):
        Watch(changed.now.first.strategy.tree, 2)


@pytest.mark.slow
def test_estimates_have_no_bias() -> None:
    """What each part would have won, from hands of the mixture, beside what it wins in matches of its own."""
    rules = read_game("kuhn")
    parts = Yardstick("always-call"), Yardstick("always-raise"), Yardstick("random", 2)
    agent, other = HedgeAgent(parts, every=4000), Yardstick("rule-based")
    kept: list[Hands] = []
    play_match(agent, other, rules, 2000, seed=5, observe=kept.append, pairs_at_once=1000)
    fresh = HedgeAgent(parts, every=4000)
    won = fresh.estimates(join(kept))
    for k, part in enumerate(parts):
        alone = play_match(part, other, rules, 8000, seed=9).chips
        error = won[:, k].std() / np.sqrt(len(won))
        assert abs(won[:, k].mean() - alone.mean) < 5 * error + alone.half_width


def test_the_better_gets_the_weight() -> None:
    """Against who folds, raising is better; the other keeps its share of what is shared."""
    rules = read_game("kuhn")
    parts = Yardstick("always-call"), Yardstick("always-raise")
    agent = HedgeAgent(parts, every=100)
    play_match(agent, Yardstick("always-fold"), rules, 1500, seed=5)
    assert agent.weights[1] > 0.9
    assert agent.weights.sum() == pytest.approx(1.0)
    assert agent.weights.min() >= 0.02
    assert agent.account() == f"weights: always-call {agent.weights[0]:.0%}, always-raise {agent.weights[1]:.0%}"
    check_agent(HedgeAgent(parts), blueprint_of("pot").rules, tables=20)
    with pytest.raises(InputError, match="cannot be asked"):
        HedgeAgent((*parts, SwitchingAgent(parts, 5)))


def test_names(tmp_path: Path) -> None:
    folder = save_blueprint(blueprint_of("pot"), tmp_path / "b")
    switch = make_agent(f"switch:always-call,{folder}?purify,deals=30")
    assert isinstance(switch, SwitchingAgent)
    assert switch.deals == 30
    hedge = make_agent(f"hedge:{folder},always-raise,always-call,every=50")
    assert isinstance(hedge, HedgeAgent)
    assert (len(hedge.parts), hedge.every) == (3, 50)
    notice = make_agent(f"{folder}?exploit=dbbr&notice=300")
    assert isinstance(notice, NoticingLearner)
    assert notice.watch.window == 300
    assert is_agent_spec("switch:always-call,random")
    for text, message in {
        "switch:always-call": "at least two agents",
        "switch:always-call,nobody": "unknown agent",
        "switch:always-call,random,deals=x": "write deals= once",
        "hedge:always-call,random,every=1": "every=1",
        f"{folder}?notice=100": "add exploit=dbbr",
        f"{folder}?exploit=dbbr&notice=x": "write a number of hands",
        f"{folder}?exploit=dbbr&safe=1&notice=100": "without search and safe",
    }.items():
        with pytest.raises(InputError, match=message):
            make_agent(text)
