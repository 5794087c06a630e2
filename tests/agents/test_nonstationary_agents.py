"""Opponents that change, change detection, and Hedge over prepared strategies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from random_blueprints import blueprint_of
from riverboat.agents.baselines import BaselineAgent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.learning import LearningAgent, LearningSettings
from riverboat.agents.nonstationary import ChangeDetectingAgent, HedgeAgent, SwitchingAgent
from riverboat.agents.registry import make_agent
from riverboat.agents.spec import is_agent_spec
from riverboat.core.errors import InputError
from riverboat.evaluation.matches.match import play_match
from riverboat.games.holdem.hand_records import HandRecords, concatenate_records
from riverboat.games.holdem.rules import read_game
from riverboat.opponents.models.change_detection import ChangeDetector, homogeneity_p_value
from riverboat.strategies.blueprint import save_blueprint
from riverboat.testing.agents import check_agent


def base(name: str, seed: int = 0) -> BlueprintAgent:
    return BlueprintAgent(blueprint_of("pot"), name, seed=seed)


def test_switching_agent() -> None:
    agent, rules = (
        SwitchingAgent((BaselineAgent("always-call"), BaselineAgent("always-fold")), 30),
        blueprint_of("pot").rules,
    )
    kept: list[HandRecords] = []
    play_match(base("base"), agent, rules, 120, observe=kept.append)
    hands = concatenate_records(kept)
    folds = np.array(["f" in hands.betting(i).line for i in range(len(hands))])
    raised = np.array(["r" in hands.betting(i).line for i in range(len(hands))])
    assert (hands.number[folds] >= 60).any()
    other = SwitchingAgent((BaselineAgent("always-call"), BaselineAgent("always-call")), 30)
    kept.clear()
    play_match(base("base"), other, rules, 120, observe=kept.append)
    np.testing.assert_array_equal(concatenate_records(kept).moves[:60, :8], hands.moves[:60, :8])
    assert raised.any()
    check_agent(agent, rules, tables=20)
    with pytest.raises(InputError, match="1 agents, deals=3"):
        SwitchingAgent((agent,), 3)


def test_homogeneity() -> None:
    """G = 2 Σ O ln(O / E) is 0 for equal frequencies, so its p-value is 1."""
    assert homogeneity_p_value(np.array([[10.0, 20, 30]]), np.array([[20.0, 40, 60]])) == pytest.approx(1.0)
    assert homogeneity_p_value(np.array([[10.0, 20, 30]]), np.array([[30.0, 20, 10]])) < 1e-3
    assert homogeneity_p_value(np.array([[1.0, 2, 3]]), np.array([[30.0, 20, 10]])) == 1.0  # too few


@pytest.mark.slow
def test_change_detection() -> None:
    settings = LearningSettings(every=400, work=64)
    steady = ChangeDetectingAgent(lambda: LearningAgent(base("learner"), settings), 100)
    play_match(steady, base("other", 7), steady.rules, 800, seed=3)
    assert steady.noticed == []
    assert steady.current_agent.hands_seen == 800
    changed = ChangeDetectingAgent(lambda: LearningAgent(base("learner"), settings), 100)
    switch = SwitchingAgent((BaselineAgent("always-call"), BaselineAgent("always-raise")), 300)
    play_match(changed, switch, changed.rules, 1000, seed=3)
    assert 600 < changed.noticed[0] <= 700
    assert f"{changed.noticed[0]:,}" in changed.account()
    assert not any(letter.isdigit() for letter in steady.account())
    assert changed.current_agent.hands_seen <= 500  # earlier data was discarded
    with pytest.raises(InputError, match="10"):
        ChangeDetector(changed.current_agent.blueprint_agent.strategy.tree, 2)


@pytest.mark.slow
def test_estimated_winnings_are_unbiased() -> None:
    """Estimates of each part from hands of the mixture agree with matches of the part itself."""
    rules = read_game("kuhn")
    parts = BaselineAgent("always-call"), BaselineAgent("always-raise"), BaselineAgent("random", 2)
    agent, other = HedgeAgent(parts, every=4000), BaselineAgent("rule-based")
    kept: list[HandRecords] = []
    play_match(agent, other, rules, 2000, seed=5, observe=kept.append, batch_pairs=1000)
    fresh = HedgeAgent(parts, every=4000)
    won = fresh.estimate_winnings(concatenate_records(kept))
    for k, part in enumerate(parts):
        alone = play_match(part, other, rules, 8000, seed=9).chips
        error = won[:, k].std() / np.sqrt(len(won))
        assert abs(won[:, k].mean() - alone.mean) < 5 * error + alone.half_width


def test_weights_of_hedge() -> None:
    """Against an agent that folds, raising is better; the other part keeps its minimum share."""
    rules = read_game("kuhn")
    parts = BaselineAgent("always-call"), BaselineAgent("always-raise")
    agent = HedgeAgent(parts, every=100)
    play_match(agent, BaselineAgent("always-fold"), rules, 1500, seed=5)
    assert agent.weights[1] > 0.9
    assert agent.weights.sum() == pytest.approx(1.0)
    assert agent.weights.min() >= 0.02
    assert agent.account() == f"weights: always-call {agent.weights[0]:.0%}, always-raise {agent.weights[1]:.0%}"
    check_agent(HedgeAgent(parts), blueprint_of("pot").rules, tables=20)
    with pytest.raises(InputError, match="agent 'switch'"):
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
    assert isinstance(notice, ChangeDetectingAgent)
    assert notice.change_detector.window == 300
    assert is_agent_spec("switch:always-call,random")
    for text, message in {
        "switch:always-call": "1 agents",
        "switch:always-call,nobody": "'nobody'",
        "switch:always-call,random,deals=x": "deals=",
        "hedge:always-call,random,every=1": "every=1",
        f"{folder}?notice=100": "notice.*exploit=dbbr",
        f"{folder}?exploit=dbbr&notice=x": "notice='x'",
        f"{folder}?exploit=dbbr&safe=1&notice=100": ": notice.*search.*safe",
    }.items():
        with pytest.raises(InputError, match=message):
            make_agent(text)
