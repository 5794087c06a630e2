"""Matches with importance sampling of pairs."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.agents.baselines import BaselineAgent
from riverboat.core.errors import InputError
from riverboat.evaluation.matches.match import PairSampling, play_match
from riverboat.games.holdem.hand_records import HandRecords
from riverboat.games.holdem.rules import read_game

RULES = read_game("nolimit-200bb")
FIRST, SECOND = BaselineAgent("rule-based"), BaselineAgent("random", seed=4)


def played(thin: PairSampling | None, hands: int = 600, **more):
    kept = []
    match = play_match(FIRST, SECOND, RULES, hands, seed=9, pair_sampling=thin, observe=kept.append, **more)
    numbers = np.concatenate([hands.number for hands in kept])
    won = np.concatenate([hands.won[:, 0] * (1 - 2 * (hands.player[:, 0])) for hands in kept])
    return match, dict(zip(numbers.tolist(), won.tolist(), strict=True))


def test_played_pairs_are_those_of_the_full_match() -> None:
    _, all_hands = played(None)
    match, some = played(PairSampling("turn"))
    assert 0 < len(some) < len(all_hands)
    assert (match.played, match.hands) == (len(some), len(all_hands))
    assert some.items() <= all_hands.items()


def test_importance_weights() -> None:
    """Weights are the inverse of the probability, from the pot of the trial when the turn begins."""
    thin = PairSampling("turn", full_pot=12.0, min_probability=0.2)
    match, some = played(thin)
    trial: list[HandRecords] = []
    play_match(SECOND, SECOND, RULES, 600, seed=9, observe=trial.append)
    (hands,) = trial
    total = 0.0
    for number, won in some.items():
        first = number - number % 2  # of its pair
        states = [hands.betting(first, made) for made in range(int(hands.length[first]))]
        pot = next((state.pot for state in states if state.street == 2 and state.actor >= 0), 0)
        total += won / min(1.0, max(0.2, pot / 1200))
    assert match.chips.mean == pytest.approx(total / 600)


def test_batches_and_certain_pairs() -> None:
    one, other = played(PairSampling("turn"))[0], played(PairSampling("turn"), batch_pairs=17)[0]
    assert (one.chips, one.played) == (other.chips, other.played)
    assert played(PairSampling("flop", min_probability=1.0))[0].chips == played(None)[0].chips


def test_invalid_options() -> None:
    with pytest.raises(InputError, match="'fifth'"):
        play_match(FIRST, SECOND, RULES, 8, pair_sampling=PairSampling("fifth"))
    with pytest.raises(InputError, match="full_pot=0"):
        PairSampling("turn", full_pot=0)
    with pytest.raises(InputError, match="min_probability=0"):
        PairSampling("turn", min_probability=0)
