"""Matches that several processes play parts of: the same hands in the same order, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import riverboat as rb
from riverboat.agents.baselines import Yardstick
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.evaluation.matches.match import _even, play_match
from riverboat.evaluation.matches.thinning import Thinning
from riverboat.evaluation.matches.workers import Workers
from riverboat.games.holdem.rules import read_game
from riverboat.games.records.hand_records import Hands

LEDUC = read_game("leduc")


@pytest.mark.slow
def test_the_same_hands_in_the_same_order() -> None:
    kept: list[list[Hands]] = []
    for workers in (1, 3):
        kept.append([])
        rb.match("random", "rule-based", game="leduc", hands=10_002, workers=workers, observe=kept[-1].append)
    alone, apart = (
        [np.concatenate([getattr(h, f) for h in each]) for f in ("number", "won", "cards")] for each in kept
    )
    assert len(kept[1]) % 3 == 0
    assert all((x == y).all() for x, y in zip(alone, apart, strict=True))


@pytest.mark.slow
def test_a_process_that_dies_is_told_of() -> None:
    with Workers(_dies, 2) as workers, pytest.raises(MemoryLimitError, match="ended by itself"):
        play_match(Yardstick("random"), Yardstick("rule-based"), LEDUC, 100, workers=workers)


def _dies() -> tuple[Yardstick, Yardstick]:
    raise SystemExit(1)


@pytest.mark.parametrize(("pairs", "most", "workers"), [(50_000, 2048, 4), (7, 4096, 3), (2, 1, 8), (4097, 4096, 1)])
def test_all_workers_get_as_many_batches(pairs: int, most: int, workers: int) -> None:
    at_once = _even(pairs, most, workers)
    assert at_once <= most
    batches = -(-pairs // at_once)
    assert batches <= -(-pairs // (most * workers)) * workers
    assert at_once * batches >= pairs


def test_what_only_one_process_can_play() -> None:
    first, second = Yardstick("random"), Yardstick("rule-based")
    with Workers(_dies, 2) as workers:
        with pytest.raises(InputError, match="thinned"):
            play_match(first, second, LEDUC, 100, workers=workers, thin=Thinning("flop"))
        with pytest.raises(InputError, match="remembers"):
            play_match(_Learning("random"), second, LEDUC, 100, workers=workers)
    with pytest.raises(InputError, match="by name"):
        rb.match(first, second, game="leduc", workers=2)
    with pytest.raises(InputError, match="workers: of matches between two"):
        rb.match("random", "rule-based", "always-call", game="leduc", workers=2)


class _Learning(Yardstick):
    def observe(self, hands: Hands) -> None:
        raise AssertionError("nobody plays")
