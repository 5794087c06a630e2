"""An agent that searches: what it solves, what it plays, and that it is a function of the view."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from riverboat.abstraction.card_abstraction import lossless
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.searching import SearchingAgent
from riverboat.endgame.table_search import SearchSettings
from riverboat.endgame.table_subgames import METHODS
from riverboat.games.acpc import Rules
from riverboat.games.action_tree import compile_actions
from riverboat.games.menus import parse_menu
from riverboat.games.places import Places
from riverboat.strategy.blueprint import BlueprintStrategy
from riverboat.testing.agents import check_agent

# Twelve cards: hold'em with 66 hands, all streets, stacks of fifteen big blinds.
SMALL = Rules(blinds=(100, 50), stacks=(1_500, 1_500), board=(0, 3, 1, 1), ranks=6, suits=2, name="small")
MENU = parse_menu('preflop = ["2.5x", "a"]\nflop = ["100%, a", "a"]\nmost_raises = [2, 1, 2, 2]')
BOARD = "AsKhQh9s8h"


@cache
def base(seed: int = 3) -> BlueprintAgent:
    tree, cards = compile_actions(SMALL, MENU), lossless(SMALL.board[1:], SMALL.deck)
    rng = np.random.default_rng(seed)
    shapes = [(cards.counts[street], int(tree.width[street])) for street in range(SMALL.rounds)]
    sums = tuple((rng.random(shape) * (rng.random(shape) > 0.2)).astype(np.float32) for shape in shapes)
    return BlueprintAgent(BlueprintStrategy(SMALL, MENU, tree, cards, sums))


def agent(method: str = "unsafe", street: str = "turn", **more) -> SearchingAgent:
    return SearchingAgent(base(), SearchSettings(street, method, **({"iterations": 20} | more)))


def places(*lines: str) -> Places:
    shown = [2 * SMALL.board_sizes[line.count("/")] for line in lines]
    return Places.from_lines(SMALL, lines, [BOARD[:n] for n in shown])


@pytest.mark.parametrize("method", METHODS)
def test_it_keeps_the_contract(method: str) -> None:
    check_agent(agent(method, iterations=5), tables=40)


def test_before_its_street_it_plays_the_blueprint() -> None:
    early = places("cr250", "cc/r200", "cc/cc/")
    found, blueprint = agent(street="river").strategies(early), base().strategies(early)
    for i in range(len(early)):
        k = len(blueprint.labels(i))
        np.testing.assert_array_equal(found.probabilities[i, :, :k], blueprint.probabilities[i, :, :k])
    assert agent().strategies(early).labels(2) != blueprint.labels(2)  # a turn of its own
