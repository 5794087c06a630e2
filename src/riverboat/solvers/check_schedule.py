"""When a run is checked, when its target should be met, and when it has stopped to improve.

Where a run is when it is asked depends on the clock; where it is checked must not: all of this is a function of the checks
so far.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from riverboat.core.errors import InputError

GROWTH = 1.25  # between the iterations of two checks
FIRST = 16  # iteration of the first check on boards, where a target was given
NEAR, NEARLY = 3.0, 1.08  # on boards: so near to a target, in shares of it, checks come at this factor of iterations
CLOSER = 1.03  # the least factor between the iterations of two checks before a target
FAR = 1 << 62  # an iteration that no run reaches
STALL_FACTOR, STALL_GAIN, STALL_FIRST = 4, 0.99, 1_000

Check = tuple[int, float]  # iteration, exploitability


def next_check(
    iteration: int, checks: Sequence[Check], *, target: float | None, every: int | None = None, patient: bool = False
) -> int:
    """The iteration of the next check: 1 to 8, 10, 12, 15, 18, … growing by a quarter, or every `every`.

    Where a target is near, the check comes when the last two, on a line in logarithms, say that it is met. A `patient` run
    (on boards, where a check costs half an iteration) also waits while it is far, and looks often when it is near: the line
    is not straight there, and iterations that nobody needed cost more than checks.
    """
    if every is not None:
        if every < 1:
            raise InputError(f"check_every={every}: must be at least one iteration")
        return (iteration // every + 1) * every
    patient = patient and target is not None
    # Patient checks leave the ladder, so it is climbed from the last of them.
    last = (checks[-1][0] if checks else 0) if patient else iteration
    due = FIRST if patient else 1
    while due <= last:
        due = max(due + 1, int(due * GROWTH))
    expected = expected_at(checks, target)
    if patient and target is not None and checks and checks[-1][1] <= NEAR * target:
        return max(iteration + 1, math.ceil(last * NEARLY))
    if expected is not None and patient:
        due = max(due, min(int(1.5 * last), int(0.85 * expected)))
    if expected is not None:
        due = min(due, expected)
    return max(iteration + 1, due)


def hopeful_check(iteration: int, exploitability: float, target: float, every: int) -> int:
    """The iteration of the next check, a multiple of `every`: none before exploitability could be down to the target.

    It falls about with the square of the iterations; here with their cube, so that the target is not run past.
    """
    soonest = iteration + every - iteration % every
    if not 0 < target < exploitability < math.inf:
        return soonest
    return max(soonest, int(iteration * (exploitability / target) ** (1 / 3)) // every * every)


def expected_at(checks: Sequence[Check], target: float | None) -> int | None:
    """The iteration at which the target should be met, if the last two checks go on as a line in logarithms."""
    if target is None or len(checks) < 2:
        return None
    (t0, e0), (t1, e1) = checks[-2:]
    if not e0 > e1 > target or t1 <= t0:
        return None
    slope = math.log(e1 / e0) / math.log(t1 / t0)
    power = (math.log(target) - math.log(e1)) / slope if slope < 0 else math.inf  # a slope may round to nothing
    if power >= math.log(FAR / t1):
        return FAR
    return math.ceil(t1 * max(CLOSER, math.exp(power)))


def stalls(checks: Sequence[Check]) -> bool:
    """Whether four times the iterations have not gained one per cent: rounding, or the nature of the schedule."""
    if not checks or checks[-1][0] < STALL_FIRST:
        return False
    bound = checks[-1][0] / STALL_FACTOR
    early, late = [e for t, e in checks if t <= bound], [e for t, e in checks if t > bound]
    return bool(early) and min(late) > STALL_GAIN * min(early)
