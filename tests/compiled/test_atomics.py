"""Atomic counters and barriers, on real threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numba import njit

from riverboat.compiled.atomics import TEAM_STATE_SIZE, abandon_team, barrier, fetch_add
from riverboat.compiled.jit import kernel

pytestmark = pytest.mark.smoke


@njit(nogil=True)
def take_many(counter, limit, out):
    count = 0
    while True:
        k = fetch_add(counter)
        if k >= limit:
            return count
        out[k] += 1
        count += 1


def test_threads_get_distinct_numbers() -> None:
    counter, taken = np.zeros(1, np.int64), np.zeros(200_000, np.int8)
    take_many(np.zeros(1, np.int64), 1, np.zeros(1, np.int8))  # compiled before the race
    with ThreadPoolExecutor(3) as pool:
        counts = [pool.submit(take_many, counter, len(taken), taken) for _ in range(3)]
    assert sum(f.result() for f in counts) == len(taken)
    assert (taken == 1).all()
    assert counter[0] == len(taken) + 3


@kernel
def take_turns(state, thread, threads, rounds, table):  # table: int64 [rounds + 1, threads]
    """In each round write the sum of what all threads wrote in the round before, plus one."""
    for k in range(rounds):
        total = 1
        for other in range(threads):
            total += table[k, other]
        table[k + 1, thread] = total
        if not barrier(state, threads):
            return k
    return rounds


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
def test_no_thread_passes_a_barrier_alone(threads: int) -> None:
    """Five threads are more than many machines have cores: those that wait let others run."""
    rounds = 300
    table, state = np.zeros((rounds + 1, threads), np.int64), np.zeros(TEAM_STATE_SIZE, np.int64)
    take_turns(state, 0, threads, 0, table)  # compiled before the race
    with ThreadPoolExecutor(threads) as pool:
        runs = [pool.submit(take_turns, state, thread, threads, rounds, table) for thread in range(threads)]
        assert [run.result(timeout=60) for run in runs] == [rounds] * threads
    expected = 0
    for row in table[1:]:  # wraps around as int64 does
        expected = (expected * threads + 1 + 2**63) % 2**64 - 2**63
        assert (row == expected).all()


def test_an_abandoned_team_waits_no_longer() -> None:
    table, state = np.zeros((5, 2), np.int64), np.zeros(TEAM_STATE_SIZE, np.int64)
    take_turns(state, 0, 2, 0, table)
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(take_turns, state, 0, 2, 4, table)
        assert not run.done()
        abandon_team(state)
        assert run.result(timeout=60) == 0
