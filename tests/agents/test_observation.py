"""Observations: conversion from and to the protocol, and invalid ones."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.agents.base import act_on_match_state, rules_of_agents
from riverboat.agents.baselines import BaselineAgent
from riverboat.cards.notation import parse_cards
from riverboat.core.errors import InputError
from riverboat.games.holdem.actions import END_OF_LINE, HIDDEN_CARD
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.match_state import parse_match_state
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.rules import read_game
from riverboat.testing.agents import random_views

NOLIMIT, LIMIT, LEDUC = (read_game(name) for name in ("nolimit-200bb", "limit", "leduc"))


def test_observation_from_match_state() -> None:
    views = Observations.from_match_state("MATCHSTATE:0:30:cr300c/:9s8h|/8c8d5c", NOLIMIT)
    assert (len(views), views.hand.tolist(), views.seat.tolist()) == (1, [30], [0])
    assert tuple(views.hole[0]) == parse_cards("9s8h")
    assert tuple(views.board[0]) == (*parse_cards("8c8d5c"), HIDDEN_CARD, HIDDEN_CARD)
    assert (views.moves.tolist(), views.length.tolist()) == ([[0, 300, 0]], [3])
    assert views.betting(0) == BettingState.from_line(NOLIMIT, "cr300c/")
    assert views.line(0) == "cr300c/"


@pytest.mark.parametrize("rules", [NOLIMIT, LIMIT, LEDUC], ids=lambda rules: rules.name)
def test_round_trip(rules) -> None:
    views = random_views(rules, 50, np.random.default_rng(0))
    for i in range(len(views)):
        again = Observations.from_match_state(views.match_state(i), rules)
        for part in ("hand", "seat", "hole", "board", "length"):
            assert np.array_equal(getattr(again, part)[0], getattr(views, part)[i])
        length = int(views.length[i])
        assert again.moves[0, :length].tolist() == views.moves[i, :length].tolist()
        assert (views.moves[i, length:] == END_OF_LINE).all()
        other = again.match_state(0).split(":")[4].split("/")[0].split("|")[1 - views.seat[i]]
        assert other == ""  # the other's cards are hidden


def test_take() -> None:
    views = random_views(NOLIMIT, 20, np.random.default_rng(0))
    some = views.take(np.array([7, 3]))
    assert [some.match_state(0), some.match_state(1)] == [views.match_state(7), views.match_state(3)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("MATCHSTATE:0:30:cr300c/:9s8h|", "cr300c/"),
        ("MATCHSTATE:1:30:cr300c/:|9s8h/8c8d5c", "turn of seat 0"),
        ("MATCHSTATE:0:30:r300f:9s8h|", "over"),
        ("MATCHSTATE:0:30:cr300c/:9s9s|/8c8d5c", "9s"),
        ("MATCHSTATE:0:30:cr150:9s8h|", "200-20000"),
    ],
)
def test_invalid_match_states(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        Observations.from_match_state(text, NOLIMIT)


def test_invalid_arguments() -> None:
    start = BettingState.start(NOLIMIT)
    with pytest.raises(InputError):
        Observations.from_betting([], [], [])
    with pytest.raises(InputError, match="1 hole and 0 board"):
        Observations.from_betting([start], [(1,)], [()])
    with pytest.raises(InputError, match="2d 2d"):
        Observations.from_betting([start], [(1, 1)], [()])
    with pytest.raises(InputError, match="leduc"):
        Observations.from_betting([BettingState.start(LEDUC)], [(0,)], [()])
    with pytest.raises(InputError, match="rules"):
        Observations.from_betting([start, BettingState.start(LIMIT)], [(0, 1), (2, 3)], [(), ()])
    with pytest.raises(InputError, match="act"):
        Observations.from_betting([start.apply_action(-1)], [(0, 1)], [()])


def test_act_on_match_state() -> None:
    raiser = BaselineAgent("always-raise")
    assert act_on_match_state(raiser, parse_match_state("MATCHSTATE:0:30:cr300c/:9s8h|/8c8d5c", NOLIMIT)) == "r400"
    assert act_on_match_state(raiser, parse_match_state("MATCHSTATE:0:3:r:9s8h|", LIMIT)) == "r"
    assert rules_of_agents(raiser) is None
