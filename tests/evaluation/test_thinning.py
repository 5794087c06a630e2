"""Matches of which only some pairs are played."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.agents.baselines import Yardstick
from riverboat.core.errors import InputError
from riverboat.evaluation.matches.match import play_match
from riverboat.evaluation.matches.thinning import Thinning
from riverboat.games.holdem.rules import read_game
from riverboat.games.records.hand_records import Hands

RULES = read_game("nolimit-200bb")
FIRST, SECOND = Yardstick("rule-based"), Yardstick("random", seed=4)


def played(thin: Thinning | None, hands: int = 600, **more):
    kept = []
    match = play_match(FIRST, SECOND, RULES, hands, seed=9, thin=thin, observe=kept.append, **more)
    numbers = np.concatenate([hands.number for hands in kept])
    won = np.concatenate([hands.won[:, 0] * (1 - 2 * (hands.player[:, 0])) for hands in kept])
    return match, dict(zip(numbers.tolist(), won.tolist(), strict=True))


def test_pairs_that_are_played_are_those_of_the_whole_match() -> None:
    _, all_hands = played(None)
    match, some = played(Thinning("turn"))
    assert 0 < len(some) < len(all_hands)
    assert (match.played, match.hands) == (len(some), len(all_hands))
    assert some.items() <= all_hands.items()


def test_each_counts_by_the_inverse_of_its_chance() -> None:
    """Chances again, one pair at a time: the pot that both hands of a trial have when the turn begins."""
    thin = Thinning("turn", whole=12.0, least=0.2)
    match, some = played(thin)
    trial: list[Hands] = []
    play_match(SECOND, SECOND, RULES, 600, seed=9, observe=trial.append)
    (hands,) = trial
    total = 0.0
    for number, won in some.items():
        first = number - number % 2  # of its pair
        states = [hands.betting(first, made) for made in range(int(hands.length[first]))]
        pot = next((state.pot for state in states if state.street == 2 and state.actor >= 0), 0)
        total += won / min(1.0, max(0.2, pot / 1200))
    assert match.chips.mean == pytest.approx(total / 600)


def test_batches_do_not_matter_and_certain_pairs_are_the_whole_match() -> None:
    one, other = played(Thinning("turn"))[0], played(Thinning("turn"), pairs_at_once=17)[0]
    assert (one.chips, one.played) == (other.chips, other.played)
    assert played(Thinning("flop", least=1.0))[0].chips == played(None)[0].chips


def test_what_is_no_thinning() -> None:
    with pytest.raises(InputError, match="street"):
        play_match(FIRST, SECOND, RULES, 8, thin=Thinning("fifth"))
    with pytest.raises(InputError, match="whole=0"):
        Thinning("turn", whole=0)
    with pytest.raises(InputError, match="least=0"):
        Thinning("turn", least=0)
