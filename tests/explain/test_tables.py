"""Agents of whole games: what they were written from comes back."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.agents.baselines import Yardstick
from riverboat.agents.rules import RuleAgent
from riverboat.cards.notation import parse_cards
from riverboat.core.errors import InputError
from riverboat.explain import fidelity
from riverboat.explain.agent_decisions import line_decisions, played_decisions
from riverboat.explain.rule_learning import learn
from riverboat.games.holdem.rules import read_game
from riverboat.strategies.features import HOLDEM
from riverboat.strategies.rule_list import RuleList

NOLIMIT = read_game("nolimit-200bb")
WRITTEN = RuleList.parse(
    "if made >= top pair: raise 0.5 pot\nif street >= flop and facing and not draw: fold\notherwise: call", HOLDEM
)
AGENT = RuleAgent(WRITTEN, "written")


def test_rules_come_back_from_hands_that_they_played() -> None:
    decisions = played_decisions(AGENT, NOLIMIT, hands=150, seed=1)
    assert len(decisions) > 400
    found = fidelity.of_rules(decisions, learn(decisions, [4])[4])
    assert found.agreement > 0.99
    # The list itself, measured on its own hands: half a pot that is all there is left is told as all-in.
    assert fidelity.of_rules(decisions, WRITTEN).distance < 0.01
    again = played_decisions(AGENT, NOLIMIT, hands=150, seed=1)
    assert np.array_equal(decisions.played, again.played)
    # What is held out together is one flop, or one class of starting hands.
    preflop = decisions.columns["street"] == 0
    assert len(np.unique(decisions.group[preflop])) <= 169
    assert (decisions.group[~preflop] >= 0).all()


def test_one_line_with_all_hands() -> None:
    boards = [parse_cards(text) for text in ("8c8d5c", "KsTh2d")]
    decisions = line_decisions(AGENT, NOLIMIT, "cc/", boards)
    assert len(decisions) == 2 * 1176
    assert np.abs(np.bincount(decisions.group, decisions.weight) - 0.5).max() < 1e-9
    assert fidelity.of_rules(decisions, WRITTEN).distance < 1e-9
    one = line_decisions(AGENT, NOLIMIT, "cc/", boards[:1])
    assert {"equity", "percentile", "blocks"} <= {f.name for f in one.features}
    best = int(one.columns["equity"].argmax())
    assert one.names[best][:1] == one.names[best][2:3] == "8"  # quads


def test_what_cannot_be_asked() -> None:
    with pytest.raises(InputError, match="nobody acts at 'f'"):
        line_decisions(AGENT, NOLIMIT, "f", [()])
    folder = Yardstick("always-fold")
    with pytest.raises(InputError, match="never plays so"):
        line_decisions(folder, NOLIMIT, "cr300c/", [parse_cards("8c8d5c")])
