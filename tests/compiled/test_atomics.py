"""Atomic counters and barriers, on real threads."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numba import njit

from riverboat.compiled.atomics import abandon_team, barrier, call_team, fetch_add, team_state_size, wait_for_call
from riverboat.compiled.jit import kernel
from riverboat.engines.threads import KernelTeam

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
    table, state = np.zeros((rounds + 1, threads), np.int64), np.zeros(team_state_size(threads), np.int64)
    take_turns(state, 0, threads, 0, table)  # compiled before the race
    with ThreadPoolExecutor(threads) as pool:
        runs = [pool.submit(take_turns, state, thread, threads, rounds, table) for thread in range(threads)]
        assert [run.result(timeout=60) for run in runs] == [rounds] * threads
    expected = 0
    for row in table[1:]:  # wraps around as int64 does
        expected = (expected * threads + 1 + 2**63) % 2**64 - 2**63
        assert (row == expected).all()


def test_an_abandoned_team_waits_no_longer() -> None:
    table, state = np.zeros((5, 2), np.int64), np.zeros(team_state_size(2), np.int64)
    take_turns(state, 0, 2, 0, table)
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(take_turns, state, 0, 2, 4, table)
        assert not run.done()
        abandon_team(state)
        assert run.result(timeout=60) == 0


@kernel
def add_calls(state, thread, threads, numbers, total):  # numbers: int64 [1]; total: int64 [threads] INOUT
    """Add the number of each call to the thread's total; thread 0 runs one call, the others all that they get."""
    call = np.int64(0)
    while True:
        if thread > 0:
            call = wait_for_call(state, thread, call)
            if call == 0:
                return
        total[thread] += numbers[0]
        if not barrier(state, threads) or thread == 0:
            return


@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize("pause", [0.0, 0.005])
def test_every_thread_runs_every_call_once(threads: int, pause: float) -> None:
    """Calls follow at once, or after the threads have left the loop; both happen by chance with neither."""
    numbers, total = np.zeros(1, np.int64), np.zeros(threads, np.int64)
    state = np.zeros(team_state_size(threads), np.int64)
    team = KernelTeam(threads, state)
    rng, calls = random.Random(1), 60 if pause else 3000
    for call in range(1, calls + 1):
        numbers[0] = call
        team.run(lambda thread: add_calls(state, thread, threads, numbers, total))
        if pause:
            time.sleep(rng.random() * pause)
        elif call % 100 == 0:
            time.sleep(rng.random() * 0.002)
        assert total.tolist() == [call * (call + 1) // 2] * threads


def test_threads_leave_the_loop_when_no_call_comes() -> None:
    state, numbers, total = np.zeros(team_state_size(2), np.int64), np.ones(1, np.int64), np.zeros(2, np.int64)
    away = np.zeros(2, bool)
    call_team(state, 2, 1, away)
    assert away.tolist() == [False, True]
    with ThreadPoolExecutor(1) as pool:
        follower = pool.submit(add_calls, state, 1, 2, numbers, total)
        add_calls(state, 0, 2, numbers, total)
        follower.result(timeout=60)
    call_team(state, 2, 2, away)
    assert away.tolist() == [False, True]


def test_an_error_of_a_thread_ends_the_call() -> None:
    state, numbers, total = np.zeros(team_state_size(3), np.int64), np.ones(1, np.int64), np.zeros(3, np.int64)

    def enter(thread: int) -> None:
        if thread == 2:
            raise MemoryError("thread 2")
        add_calls(state, thread, 3, numbers, total)

    with pytest.raises(MemoryError, match="thread 2"):
        KernelTeam(3, state).run(enter)
    with pytest.raises(ZeroDivisionError):
        KernelTeam(2, np.zeros(team_state_size(2), np.int64)).run(lambda thread: 1 // thread)
