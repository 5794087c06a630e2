"""Decisions of agents in full games: the rules of a rule-based agent are recovered."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.agents.baselines import BaselineAgent
from riverboat.agents.rules import RuleAgent
from riverboat.cards.notation import parse_cards
from riverboat.core.errors import InputError
from riverboat.explain import fidelity
from riverboat.explain.agent_decisions import line_decisions, self_play_decisions
from riverboat.explain.rule_learning import learn_rules
from riverboat.games.holdem.rules import read_game
from riverboat.strategies.features import HOLDEM_FEATURES
from riverboat.strategies.rule_list import RuleList

NOLIMIT = read_game("nolimit-200bb")
WRITTEN = RuleList.parse(
    "if made >= top pair: raise 0.5 pot\nif street >= flop and facing and not draw: fold\notherwise: call",
    HOLDEM_FEATURES,
)
AGENT = RuleAgent(WRITTEN, "written")


def test_rules_are_recovered_from_self_play() -> None:
    decisions = self_play_decisions(AGENT, NOLIMIT, hands=150, seed=1)
    assert len(decisions) > 400
    found = fidelity.rule_fidelity(decisions, learn_rules(decisions, [4])[4])
    assert found.agreement > 0.99
    # The list measured on its own hands: a half-pot bet of the whole stack counts as all-in.
    assert fidelity.rule_fidelity(decisions, WRITTEN).distance < 0.01
    again = self_play_decisions(AGENT, NOLIMIT, hands=150, seed=1)
    assert np.array_equal(decisions.strategy, again.strategy)
    # Groups are flops, or classes of starting hands.
    preflop = decisions.columns["street"] == 0
    assert len(np.unique(decisions.group[preflop])) <= 169
    assert (decisions.group[~preflop] >= 0).all()


def test_one_line_with_all_hands() -> None:
    boards = [parse_cards(text) for text in ("8c8d5c", "KsTh2d")]
    decisions = line_decisions(AGENT, NOLIMIT, "cc/", boards)
    assert len(decisions) == 2 * 1176
    assert np.abs(np.bincount(decisions.group, decisions.weight) - 0.5).max() < 1e-9
    assert fidelity.rule_fidelity(decisions, WRITTEN).distance < 1e-9
    one = line_decisions(AGENT, NOLIMIT, "cc/", boards[:1])
    assert {"equity", "percentile", "blocks"} <= {f.name for f in one.features}
    best = int(one.columns["equity"].argmax())
    assert one.names[best][:1] == one.names[best][2:3] == "8"  # quads


def test_invalid_lines() -> None:
    with pytest.raises(InputError, match="'f'"):
        line_decisions(AGENT, NOLIMIT, "f", [()])
    folder = BaselineAgent("always-fold")
    with pytest.raises(InputError, match="'cr300c/'"):
        line_decisions(folder, NOLIMIT, "cr300c/", [parse_cards("8c8d5c")])
