"""How many processors this process may use."""

from __future__ import annotations

import math
import os
from functools import cache

from riverboat.core import cgroups


def available_cores() -> int:
    """Return the number of processors that this process can keep busy, at least 1.

    Affinity (`taskset`, batch systems) and the quotas of containers count; `os.cpu_count` knows neither.
    """
    quota = _quota()
    limit = math.inf if quota is None else math.ceil(quota)
    return max(1, int(min(_scheduled(), limit)))


def _scheduled() -> int:
    """Processors that the system may run this process on."""
    if hasattr(os, "process_cpu_count"):  # Python 3.13
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):  # Linux
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _quota() -> float | None:
    return cgroups.cpu_quota()
