"""Agents that play by a rule list in a text file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from riverboat.agents.registry import make_agent
from riverboat.agents.rules import RuleAgent
from riverboat.agents.spec import is_agent_spec
from riverboat.core.errors import InputError
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.holdem.rules import read_game
from riverboat.strategies.queries import ask
from riverboat.testing.agents import check_agent

NOLIMIT = read_game("nolimit-200bb")
TEXT = """
if facing and made >= two pair: 50% raise 1 pot, 50% call
if made >= top pair: raise 0.5 pot
if facing and price >= 30% and not draw: fold
if street < flop and strength >= 80%: 90% raise 1 pot, 10% all-in
otherwise: 20% raise, 30% fold, 50% check
"""


@pytest.fixture
def agent(tmp_path: Path) -> RuleAgent:
    path = tmp_path / "mine.rules"
    path.write_text(TEXT)
    found = make_agent(f"{path}?seed=3")
    assert isinstance(found, RuleAgent)
    assert is_agent_spec(str(path))
    return found


@pytest.mark.parametrize("game", ["nolimit-200bb", "limit"])
def test_contract(agent: RuleAgent, game: str) -> None:
    check_agent(agent, read_game(game), tables=60)


def test_rules_are_applied(agent: RuleAgent) -> None:
    # Top pair bets half of 600; the minimum raise of the last rule is to 400.
    found = ask(agent, "cr300c/", "8c5d2h", rules=NOLIMIT)
    assert found.row("Ac8d") == pytest.approx({"c": 0, "r400": 0, "r600": 1})
    assert found.row("KcQd") == pytest.approx({"c": 0.8, "r400": 0.2, "r600": 0})
    # After a pot-sized bet two pair raises the pot, and a draw does not fold.
    facing = ask(agent, "cr300c/cr900", "8c5d2h", rules=NOLIMIT)
    assert facing.row("8d5c") == pytest.approx({"f": 0, "c": 0.5, "r1500": 0, "r2700": 0.5, "r1800": 0}, abs=1e-12)
    assert facing.row("KcQd")["f"] == 1
    assert facing.row("7c6d")["c"] == pytest.approx(0.5)


def test_observations_and_public_states_agree(agent: RuleAgent) -> None:
    rng = np.random.default_rng(0)
    lines = ["", "cr300c/", "cr300c/cr900", "cr300c/cc/", "cc/cc/cr200"]
    shown = [0, 3, 3, 4, 4]
    cards = [rng.choice(52, 7, replace=False) for _ in lines]
    boards = [row[2 : 2 + n].tolist() for row, n in zip(cards, shown, strict=True)]
    places = PublicStates.from_lines(NOLIMIT, lines, [tuple(b) for b in boards])
    states = [places.betting(i) for i in range(len(lines))]
    views = Observations.from_betting(states, [row[:2].tolist() for row in cards], boards)
    answers = agent.strategies(places)
    hands = NOLIMIT.deck.hands
    for i, choice in enumerate(agent.probabilities(views)):
        hand = int(np.flatnonzero((hands == np.sort(cards[i][:2])).all(axis=1))[0])
        told = {
            int(m): float(p) for m, p in zip(answers.moves[i], answers.probabilities[i, hand], strict=True) if p > 0
        }
        assert told == pytest.approx(dict(choice))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("if equity >= 55%: call\notherwise: fold", "'equity'"),
        ("otherwise: bet big", "bet big"),
        ("otherwise: left", "'left'"),
    ],
)
def test_invalid_files(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.rules"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        make_agent(str(path))
    assert words in str(error.value)
    assert "bad.rules" in str(error.value)


def test_only_holdem(agent: RuleAgent) -> None:
    with pytest.raises(InputError, match="'leduc'"):
        agent.check_rules(read_game("leduc"))
