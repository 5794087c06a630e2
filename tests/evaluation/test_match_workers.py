"""Matches on several processes: the same hands in the same order, and invalid input."""

from __future__ import annotations

import numpy as np
import pytest

import riverboat as rb
from riverboat.agents.baselines import BaselineAgent
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.evaluation.matches.match import PairSampling, _balanced_batch_size, play_match
from riverboat.evaluation.matches.pairs import MatchWorkers
from riverboat.games.holdem.hand_records import HandRecords
from riverboat.games.holdem.rules import read_game

LEDUC = read_game("leduc")


@pytest.mark.slow
def test_same_hands_in_the_same_order() -> None:
    kept: list[list[HandRecords]] = []
    for workers in (1, 3):
        kept.append([])
        rb.match("random", "rule-based", game="leduc", hands=10_002, workers=workers, observe=kept[-1].append)
    alone, apart = (
        [np.concatenate([getattr(h, f) for h in each]) for f in ("number", "won", "cards")] for each in kept
    )
    assert len(kept[1]) % 3 == 0
    assert all((x == y).all() for x, y in zip(alone, apart, strict=True))


@pytest.mark.slow
def test_a_process_that_dies() -> None:
    with MatchWorkers(_dies, 2) as workers, pytest.raises(MemoryLimitError, match="2 processes"):
        play_match(BaselineAgent("random"), BaselineAgent("rule-based"), LEDUC, 100, workers=workers)


def _dies() -> tuple[BaselineAgent, BaselineAgent]:
    raise SystemExit(1)


@pytest.mark.parametrize(("pairs", "most", "workers"), [(50_000, 2048, 4), (7, 4096, 3), (2, 1, 8), (4097, 4096, 1)])
def test_batches_are_balanced(pairs: int, most: int, workers: int) -> None:
    at_once = _balanced_batch_size(pairs, most, workers)
    assert at_once <= most
    batches = -(-pairs // at_once)
    assert batches <= -(-pairs // (most * workers)) * workers
    assert at_once * batches >= pairs


def test_matches_that_need_one_process() -> None:
    first, second = BaselineAgent("random"), BaselineAgent("rule-based")
    with MatchWorkers(_dies, 2) as workers:
        with pytest.raises(InputError, match="thinned"):
            play_match(first, second, LEDUC, 100, workers=workers, pair_sampling=PairSampling("flop"))
        with pytest.raises(InputError, match="workers: 'random'"):
            play_match(_Learning("random"), second, LEDUC, 100, workers=workers)
    with pytest.raises(InputError, match="workers=2"):
        rb.match(first, second, game="leduc", workers=2)
    with pytest.raises(InputError, match=r"workers:.* 3"):
        rb.match("random", "rule-based", "always-call", game="leduc", workers=2)


class _Learning(BaselineAgent):
    def observe(self, hands: HandRecords) -> None:
        raise AssertionError("nobody plays")
